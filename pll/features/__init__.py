"""Feature extraction from texts, images and categorical columns. docs/features.md describes each featuriser.

>>> from pll.dataset import PartialLabelDataset
>>> import numpy as np
>>> data = PartialLabelDataset(
...     np.array([[1.0], [np.nan]]),
...     feature_names=("width",),
...     kind="table",
...     categories={"colour": np.array(["red", "blue"], dtype=object)},
... )
>>> made = fitted(suggested(data), data)
>>> made.feature_names, featurised(data, made).X.tolist()
(('width', 'colour = blue', 'colour = red'), [[1.0, 0.0, 1.0], [1.0, 1.0, 0.0]])
"""

from pll.features.backbones import BACKBONES
from pll.features.base import Featuriser
from pll.features.selection import (
    CHOICES,
    FEATURISERS,
    featurised,
    featuriser,
    fitted,
    fitting_choices,
    suggested,
    without_folders,
)
from pll.features.serialization import load_features, save_features
from pll.io import Progress

__all__ = [
    "BACKBONES",
    "CHOICES",
    "FEATURISERS",
    "Featuriser",
    "Progress",
    "featuriser",
    "featurised",
    "fitted",
    "fitting_choices",
    "load_features",
    "save_features",
    "suggested",
    "without_folders",
]

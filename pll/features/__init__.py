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

from pll.features.selection import featurised, fitted, suggested
from pll.features.serialization import load_features, save_features

__all__ = ["featurised", "fitted", "load_features", "save_features", "suggested"]

"""What training offers by name, with what people call it. Light: nothing is imported for it."""

from __future__ import annotations

from typing import NamedTuple


class ModelName(NamedTuple):
    """A model for people who choose one.

    Attributes
    ----------
    title
        Its name as people write it.
    summary
        Two lines: what it is, which data it fits.
    """

    title: str
    summary: str


MODELS = {
    "linear": ModelName(
        "Linear",
        "One weight for every feature and class: the quickest, and hard to overfit. "
        "For tables, embeddings and small data; also a fair first try on small grey images.",
    ),
    "shallow-mlp": ModelName(
        "Perceptron, 1 hidden layer",
        "One hidden layer of 500 units that finds combinations of features. For tables; Adam and a learning rate "
        "of 0.001 suit it (or let Recipe: auto choose).",
    ),
    "mlp": ModelName(
        "Perceptron, 5 layers",
        "Four hidden layers of 300 units that find combinations of features. "
        "For tables and small images, hundreds of examples or more.",
    ),
    "convnet": ModelName(
        "ConvNet, 12 layers",
        "The paper's convolutional network after Laine & Aila: wide, and slow without a GPU (some 50 ms for an "
        "image and an epoch on one core). For images of 28 to 64 pixels, thousands of them.",
    ),
    "resnet": ModelName(
        "ResNet, 32 layers",
        "The paper's residual network after He et al.: deep and narrow, five times quicker than ConvNet "
        "(some 10 ms for an image and an epoch on one core). For images of 28 to 64 pixels, thousands of them.",
    ),
}
"""Each is a function of `pll.training.models` of that name, with `_` for `-`."""
OPTIMISERS = {"sgd": "SGD with momentum", "adam": "Adam"}
AUGMENTATIONS = ("none", "crop", "crop-flip")
PRECISIONS = ("auto", "float32", "bf16")
SCALES = (
    *("auto", "zscore", "quantile", "minmax", "unit", "zscore-unit", "none"),
    *("zscore+rbf", "quantile+rbf", "minmax+rbf"),
)
"""`+rbf`: radial basis features are added to the scaled ones; `fit_scaling` explains the others."""

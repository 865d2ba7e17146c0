"""The classifiers g(x; Θ): any of these by name, any `nn.Module`, or any function (input shape, c) → module.

A name is one of `MODELS`, or `torchvision:` and the name of any of torchvision's classifiers.
"""

from __future__ import annotations

import copy
import difflib
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from math import prod

import torch
from torch import nn

from pll.errors import UserError
from pll.networks import convnet, resnet, torchvision_factory

ModelFactory = Callable[[tuple[int, ...], int], nn.Module]
ModelSpec = str | nn.Module | ModelFactory

TORCHVISION = "torchvision:"


def linear(input_shape: tuple[int, ...], n_classes: int) -> nn.Module:
    """One affine map, d → c (paper, §4)."""
    return nn.Sequential(nn.Flatten(), nn.Linear(prod(input_shape), n_classes))


def mlp(input_shape: tuple[int, ...], n_classes: int, width: int = 300) -> nn.Module:
    """Five-layer perceptron d-300-300-300-300-c with batch normalisation and ReLU (paper, supplement)."""
    widths = [prod(input_shape), width, width, width, width]
    layers: list[nn.Module] = [nn.Flatten()]
    for fan_in, fan_out in pairwise(widths):
        layers += [nn.Linear(fan_in, fan_out), nn.BatchNorm1d(fan_out), nn.ReLU()]
    return nn.Sequential(*layers, nn.Linear(width, n_classes))


MODELS: dict[str, ModelFactory] = {"linear": linear, "mlp": mlp, "convnet": convnet, "resnet": resnet}


@dataclass(frozen=True)
class ModelInfo:
    """What a person who has to choose should know of a model.

    Attributes:
        name: its key in `MODELS`.
        title: its name as people write it.
        summary: two lines: what it is, which data it fits.
    """

    name: str
    title: str
    summary: str

    def parameters(self, input_shape: tuple[int, ...], n_classes: int) -> int:
        """How many numbers it learns for examples of this shape and c classes.

        >>> MODEL_INFO["linear"].parameters((64,), 10)
        650
        """
        return count_parameters(self.name, input_shape, n_classes)

    def obstacle(self, input_shape: tuple[int, ...]) -> str | None:
        """Why it cannot be used on examples of this shape, in words; None where it can."""
        try:
            count_parameters(self.name, input_shape, 2)
        except UserError as error:
            return str(error)
        return None


MODEL_INFO: dict[str, ModelInfo] = {
    info.name: info
    for info in (
        ModelInfo(
            "linear",
            "Linear",
            "One weight for every feature and class: the quickest, and hard to overfit. "
            "For tables, embeddings and small data; also a fair first try on small grey images.",
        ),
        ModelInfo(
            "mlp",
            "Perceptron, 5 layers",
            "Four hidden layers of 300 units that find combinations of features. "
            "For tables and small images, hundreds of examples or more.",
        ),
        ModelInfo(
            "convnet",
            "ConvNet, 12 layers",
            "The paper's convolutional network after Laine & Aila: wide, and slow without a GPU (some 50 ms for an "
            "image and an epoch on one core). For images of 28 to 64 pixels, thousands of them.",
        ),
        ModelInfo(
            "resnet",
            "ResNet, 32 layers",
            "The paper's residual network after He et al.: deep and narrow, five times quicker than ConvNet "
            "(some 10 ms for an image and an epoch on one core). For images of 28 to 64 pixels, thousands of them.",
        ),
    )
}


def count_parameters(model: ModelSpec, input_shape: tuple[int, ...], n_classes: int) -> int:
    """How many numbers a model learns; nothing is allocated for it.

    Raises:
        UserError: as `build_model`.
    """
    with torch.device("meta"):
        network = build_model(model, input_shape, n_classes)
    return sum(parameter.numel() for parameter in network.parameters())


def build_model(model: ModelSpec, input_shape: tuple[int, ...], n_classes: int) -> nn.Module:
    """A fresh network for examples of this shape.

    Args:
        model: a name of `MODELS`; `"torchvision:…"`; an `nn.Module`, which is copied; or a function (input shape, c) →
            module.
        input_shape: shape of one example, (d,) or (C, H, W).
        n_classes: c, the number of logits.

    Raises:
        UserError: no model has that name, or the model does not take examples of this shape.
    """
    if isinstance(model, nn.Module):
        return copy.deepcopy(model)  # fit must not train the caller's own
    if callable(model):
        return model(input_shape, n_classes)
    if model.startswith(TORCHVISION):
        return torchvision_factory(model.removeprefix(TORCHVISION))(input_shape, n_classes)
    if model not in MODELS:
        close = difflib.get_close_matches(model, MODELS, n=1)
        hint = f" Did you mean {close[0]!r}?" if close else ""
        raise UserError(
            f"There is no model called {model!r}; use one of {', '.join(MODELS)}, or torchvision:NAME.{hint}"
        )
    return MODELS[model](input_shape, n_classes)


def has_batch_norm(network: nn.Module) -> bool:
    """Whether a batch of one example would break the network in training."""
    return any(isinstance(layer, nn.modules.batchnorm._BatchNorm) for layer in network.modules())

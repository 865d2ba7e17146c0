"""The classifiers g(x; Θ): any of these by name, any `nn.Module`, or any function (input shape, c) → module.

A name is one of `MODEL_FACTORIES`, or `torchvision:` and the name of any of torchvision's classifiers.
"""

from __future__ import annotations

import copy
import difflib
import math
from collections.abc import Callable, Iterable
from functools import lru_cache
from itertools import pairwise
from math import prod

import torch
from torch import Tensor, nn
from torch.nn.functional import pad
from torch.utils.flop_counter import FlopCounterMode

from pll.errors import UserError, unknown
from pll.training import names
from pll.training.rng import Draws

ModelFactory = Callable[[tuple[int, ...], int], nn.Module]
ModelSpec = str | nn.Module | ModelFactory

TORCHVISION = "torchvision:"


def linear(input_shape: tuple[int, ...], n_classes: int) -> nn.Module:
    """One affine map, d → c (paper, §4).

    Parameters
    ----------
    input_shape
        Of one example, (d,) or (C, H, W).
    n_classes
        c.
    """
    return nn.Sequential(nn.Flatten(), nn.Linear(prod(input_shape), n_classes))


def mlp(input_shape: tuple[int, ...], n_classes: int, width: int = 300) -> nn.Module:
    """Five-layer perceptron d-300-300-300-300-c with batch normalisation and ReLU (paper, supplement).

    Parameters
    ----------
    input_shape
        Of one example, (d,) or (C, H, W).
    n_classes
        c.
    width
        Units of a hidden layer.
    """
    widths = [prod(input_shape), width, width, width, width]
    layers: list[nn.Module] = [nn.Flatten()]
    for fan_in, fan_out in pairwise(widths):
        layers += [nn.Linear(fan_in, fan_out), nn.BatchNorm1d(fan_out), nn.ReLU()]
    return nn.Sequential(*layers, nn.Linear(width, n_classes))


def shallow_mlp(input_shape: tuple[int, ...], n_classes: int) -> nn.Module:
    """Perceptron of one hidden layer of `SHALLOW_WIDTH` units with ReLU, without batch normalisation, d-500-c.

    Parameters
    ----------
    input_shape
        Of one example, (d,) or (C, H, W).
    n_classes
        c.
    """
    width = SHALLOW_WIDTH
    return nn.Sequential(nn.Flatten(), nn.Linear(prod(input_shape), width), nn.ReLU(), nn.Linear(width, n_classes))


SHALLOW_WIDTH = 500
"""Hidden units of `shallow-mlp`."""


UNPADDED_FROM = 28
"""Smallest side on which the last convolutions of the convnet can shrink the image, as in the paper's code."""


def convnet(input_shape: tuple[int, ...], n_classes: int) -> nn.Module:
    """The paper's 12-layer ConvNet (supplement, after Laine & Aila 2017).

        [C(3×3, 128)]×3 – max-pool – [C(3×3, 256)]×3 – max-pool – C(3×3, 512) – C(3×3, 256) – C(3×3, 128)
        – global average pool, linear → c

    As in the paper's published code, each convolution is followed by batch normalisation and leaky ReLU (slope 0.01),
    each max-pool by dropout of whole channels (p = 0.25), and the last three convolutions are not padded. (Laine & Aila
    themselves have 1×1 for the last two, slope 0.1, dropout 0.5 and Gaussian noise on the input.) Unlike in that code,
    dropout is off when the network is evaluated. Images of a side below 28 would shrink to nothing: for them the last
    three convolutions are padded, with weights of the same shapes.

    Parameters
    ----------
    input_shape
        (C, H, W), sides of at least 4.
    n_classes
        c.

    Raises
    ------
    UserError
        Examples that are not images, or too small.

    References
    ----------
    Laine & Aila, Temporal ensembling for semi-supervised learning, ICLR 2017.
    """
    channels, height, width = image_shape(input_shape, "convnet", least=4)
    padding = 0 if min(height, width) >= UNPADDED_FROM else 1
    return nn.Sequential(
        *_convolution(channels, 128),
        *_convolution(128, 128),
        *_convolution(128, 128),
        nn.MaxPool2d(2),
        nn.Dropout2d(0.25),
        *_convolution(128, 256),
        *_convolution(256, 256),
        *_convolution(256, 256),
        nn.MaxPool2d(2),
        nn.Dropout2d(0.25),
        *_convolution(256, 512, padding),
        *_convolution(512, 256, padding),
        *_convolution(256, 128, padding),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(128, n_classes),
    )


def resnet(input_shape: tuple[int, ...], n_classes: int) -> nn.Module:
    """The paper's 32-layer ResNet (supplement, after He et al. 2016 for CIFAR-10).

        C(3×3, 16) – [C(3×3, 16), C(3×3, 16)]×5 – [C(3×3, 32), C(3×3, 32)]×5 – [C(3×3, 64), C(3×3, 64)]×5
        – global average pool, linear → c

    The first block of the second and of the third stage halves the image. Shortcuts have no parameters, as in He et al.
    (the added channels are 0), so that the layers with weights are exactly 32; the paper's published code has two 1×1
    convolutions more, on the two shortcuts that change shape.

    Parameters
    ----------
    input_shape
        (C, H, W), sides of at least 4.
    n_classes
        c.

    Raises
    ------
    UserError
        Examples that are not images, or too small.

    References
    ----------
    He, Zhang, Ren & Sun, Deep residual learning for image recognition, CVPR 2016.
    """
    channels, _, _ = image_shape(input_shape, "resnet", least=4)
    layers: list[nn.Module] = [_plain_convolution(channels, 16), nn.BatchNorm2d(16), nn.ReLU()]
    fan_in = 16
    for stage, width in enumerate((16, 32, 64)):
        for block in range(5):
            layers.append(_ResidualBlock(fan_in, width, stride=2 if stage and not block else 1))
            fan_in = width
    network = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, n_classes))
    for layer in network.modules():
        if isinstance(layer, nn.Conv2d):
            nn.init.kaiming_normal_(layer.weight, mode="fan_out", nonlinearity="relu")
    return network


def torchvision_factory(name: str) -> Callable[[tuple[int, ...], int], nn.Module]:
    """One of torchvision's classifiers, with random initial weights and a last layer of c outputs.

    Parameters
    ----------
    name
        As torchvision writes it: `"resnet18"`, `"mobilenet_v3_small"`, …

    Returns
    -------
    Callable[[tuple[int, ...], int], nn.Module]
        A function (input shape, c) → module. Images of one channel are repeated to three.

    Raises
    ------
    UserError
        Torchvision is missing, or has no such classifier; the function also raises it for examples that are not images
        of one or three channels.
    """
    from pll.images import torchvision  # takes seconds to import

    try:
        models = torchvision().models
    except ImportError as error:
        raise UserError(f"The model 'torchvision:{name}' needs the package torchvision: {error}") from error
    available = models.list_models(module=models)
    if name not in available:
        close = difflib.get_close_matches(name, available, n=3)
        hint = f" Did you mean {' or '.join(close)}?" if close else " Examples: resnet18, mobilenet_v3_small."
        raise UserError(f"torchvision has no classifier called {name!r}.{hint}")
    # Two have a second output in training by default.
    extra = {"aux_logits": False, "init_weights": False} if name in ("googlenet", "inception_v3") else {}

    def factory(input_shape: tuple[int, ...], n_classes: int) -> nn.Module:
        channels, _, _ = image_shape(input_shape, f"torchvision:{name}", least=1)
        if channels not in (1, 3):
            raise UserError(f"torchvision:{name} takes images of 1 or 3 channels; these have {channels}.")
        network: nn.Module = models.get_model(name, weights=None, num_classes=n_classes, **extra)
        return network if channels == 3 else nn.Sequential(_GreyToColour(), network)

    return factory


def image_shape(input_shape: tuple[int, ...], model: str, *, least: int) -> tuple[int, int, int]:
    """Return (C, H, W) of one example.

    Parameters
    ----------
    input_shape
        Of one example, (d,) or (C, H, W).
    model
        Its name, for the message.
    least
        Pixels that height and width need.

    Raises
    ------
    UserError
        Examples that are not images, or smaller than `least` pixels a side.
    """
    if len(input_shape) != 3:
        raise UserError(
            f"The model {model!r} looks at images (channels × height × width); these examples are rows of "
            f"{input_shape[0]} features. Use 'linear' or 'mlp'."
        )
    channels, height, width = input_shape
    if min(height, width) < least:
        raise UserError(
            f"The model {model!r} needs images of at least {least} × {least} pixels; these have {height} × {width}. "
            "Use 'linear' or 'mlp'."
        )
    return channels, height, width


def _convolution(fan_in: int, fan_out: int, padding: int = 1) -> tuple[nn.Module, ...]:
    return nn.Conv2d(fan_in, fan_out, 3, padding=padding), nn.BatchNorm2d(fan_out), nn.LeakyReLU(0.01)


def _plain_convolution(fan_in: int, fan_out: int, stride: int = 1) -> nn.Conv2d:
    return nn.Conv2d(fan_in, fan_out, 3, stride=stride, padding=1, bias=False)


class _ResidualBlock(nn.Module):
    """Two convolutions and a shortcut around them (He et al. 2016, option A)."""

    def __init__(self, fan_in: int, fan_out: int, stride: int) -> None:
        super().__init__()
        self.stride = stride
        self.added_channels = fan_out - fan_in
        self.body = nn.Sequential(
            _plain_convolution(fan_in, fan_out, stride),
            nn.BatchNorm2d(fan_out),
            nn.ReLU(),
            _plain_convolution(fan_out, fan_out),
            nn.BatchNorm2d(fan_out),
        )

    def forward(self, x: Tensor) -> Tensor:
        shortcut = x[:, :, :: self.stride, :: self.stride] if self.stride > 1 else x
        if self.added_channels:
            before = self.added_channels // 2
            shortcut = pad(shortcut, (0, 0, 0, 0, before, self.added_channels - before))
        return torch.relu(self.body(x) + shortcut)


class _GreyToColour(nn.Module):
    """(B, 1, H, W) → (B, 3, H, W)."""

    def forward(self, x: Tensor) -> Tensor:
        return x.expand(-1, 3, -1, -1)


MODEL_FACTORIES: dict[str, ModelFactory] = {name: globals()[name.replace("-", "_")] for name in names.MODELS}


def why_unfit(name: str, input_shape: tuple[int, ...]) -> str | None:
    """Return why a model cannot be used on examples of this shape, in words; None where it can.

    Parameters
    ----------
    name
        Of the model.
    input_shape
        Of one example, (d,) or (C, H, W).
    """
    try:
        count_parameters(name, input_shape, 2)
    except UserError as error:
        return str(error)
    return None


def count_parameters(model: ModelSpec, input_shape: tuple[int, ...], n_classes: int) -> int:
    """Return how many numbers a model learns; nothing is allocated for it.

    Parameters
    ----------
    model
        A name, a module or a function.
    input_shape
        Of one example, (d,) or (C, H, W).
    n_classes
        c.

    Raises
    ------
    UserError
        As `build_model`.
    """
    with torch.device("meta"):
        network = build_model(model, input_shape, n_classes)
    return sum(parameter.numel() for parameter in network.parameters())


@lru_cache(maxsize=64)
def count_tensors(model: str, input_shape: tuple[int, ...], n_classes: int) -> int:
    """Return how many tensors of parameters a model has; nothing is allocated for them.

    Parameters
    ----------
    model
        Its name.
    input_shape
        Of one example, (d,) or (C, H, W).
    n_classes
        c.
    """
    with torch.device("meta"):
        return len(list(build_model(model, input_shape, n_classes).parameters()))


def step_work(parameters: Iterable[Tensor], batch_size: int) -> float:
    """Return the floating-point operations of a training step, for `pll.training.devices.computing_threads`.

    Infinite with convolutions, whose parameters are used many times for an example.

    Parameters
    ----------
    parameters
        Of the network.
    batch_size
        Examples.

    Examples
    --------
    >>> step_work(nn.Linear(784, 10).parameters(), 256)
    12057600.0
    """
    sizes = [math.inf if parameter.dim() > 2 else float(parameter.numel()) for parameter in parameters]
    return 6 * batch_size * sum(sizes)  # a product and a sum in each of the three products of a layer


@lru_cache(maxsize=64)
def forward_flops(model: str, input_shape: tuple[int, ...], n_classes: int) -> float:
    """Return the floating-point operations of one example's forward pass, counted on the meta device.

    Parameters
    ----------
    model
        Its name.
    input_shape
        Of one example, (d,) or (C, H, W).
    n_classes
        c.
    """
    with torch.device("meta"):
        network = build_model(model, input_shape, n_classes).eval()
        counter = FlopCounterMode(display=False)
        with counter, torch.no_grad():
            network(torch.empty((2, *input_shape)))
    return counter.get_total_flops() / 2


def build_model(model: ModelSpec, input_shape: tuple[int, ...], n_classes: int) -> nn.Module:
    """Return a new network for examples of this shape.

    Parameters
    ----------
    model
        A name of `MODEL_FACTORIES`; `"torchvision:…"`; an `nn.Module`, which is copied; or a function
        (input shape, c) → module.
    input_shape
        Shape of one example, (d,) or (C, H, W).
    n_classes
        c, the number of logits.

    Raises
    ------
    UserError
        No model has that name, or the model does not take examples of this shape.
    """
    if isinstance(model, nn.Module):
        return copy.deepcopy(model)  # fit must not train the caller's own
    if callable(model):
        return model(input_shape, n_classes)
    if model.startswith(TORCHVISION):
        return torchvision_factory(model.removeprefix(TORCHVISION))(input_shape, n_classes)
    if model not in MODEL_FACTORIES:
        raise unknown("model", model, (*MODEL_FACTORIES, "torchvision:NAME"))
    return MODEL_FACTORIES[model](input_shape, n_classes)


def has_batch_norm(network: nn.Module) -> bool:
    """Return whether a batch of one example would break the network in training."""
    return any(isinstance(layer, nn.modules.batchnorm._BatchNorm) for layer in network.modules())


_DROPOUT = (nn.Dropout, nn.Dropout1d, nn.Dropout2d, nn.Dropout3d)
_DRAWING_INSIDE = (
    nn.modules.dropout._DropoutNd,
    nn.RReLU,
    nn.FractionalMaxPool2d,
    nn.FractionalMaxPool3d,
    nn.RNNBase,
    nn.MultiheadAttention,
)


def draws_of(network: nn.Module) -> Draws:
    """Return what may draw random numbers in a training pass: dropout layers do, and foreign code might.

    Examples
    --------
    >>> draws_of(nn.Sequential(nn.Linear(2, 2), nn.ReLU())), draws_of(nn.Dropout()), draws_of(nn.RReLU())
    ('nothing', 'layers', 'anything')
    """
    kinds = {_draws(part) for part in network.modules()}
    return "anything" if "anything" in kinds else "layers" if "layers" in kinds else "nothing"


def _draws(part: nn.Module) -> Draws:
    source = type(part).__module__
    if part._forward_hooks or part._forward_pre_hooks:
        return "anything"
    if isinstance(part, _DROPOUT) or source.startswith("torchvision."):  # stochastic depth calls `Tensor.bernoulli_`
        return "layers"
    if isinstance(part, _DRAWING_INSIDE):
        return "anything" if getattr(part, "dropout", 1.0) else "nothing"
    known = isinstance(part, _ResidualBlock | _GreyToColour) or source.startswith("torch.nn.modules.")
    return "nothing" if known else "anything"

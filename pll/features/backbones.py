"""Image features from networks pretrained on ImageNet: the input of their last layer.

Networks and weights are torchvision's. Weights are searched in the folder `weights` of `$PLL_DATA` and the folders of
`$PLL_DATA_PATH`, else downloaded into the first. A saved model contains only their file name.
"""

from __future__ import annotations

import pickle
from functools import partial
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from torch import Tensor, nn

from pll.catalog.download import obtain
from pll.catalog.entry import Checksum, File, Needed, files
from pll.dataset import PartialLabelDataset
from pll.errors import UserError, unknown
from pll.features.base import Features, Featuriser
from pll.features.images import as_planes, pixel_range, range_of, reader
from pll.images import torchvision
from pll.io import Arrays, Progress
from pll.training.devices import choose_device, visited

BACKBONES = (
    *("resnet18", "resnet34", "resnet50", "mobilenet_v3_small", "mobilenet_v3_large"),
    *("efficientnet_b0", "convnext_tiny", "regnet_y_400mf", "swin_t", "vit_b_16"),
)
"""Available networks, by their torchvision names."""

WEIGHTS_FOLDER = "weights"
PAGE = "https://docs.pytorch.org/vision/stable/models.html"
INPUT_SIDE = 224
"""Side in pixels of the images the networks were trained on; images are resized to it."""
PICTURES_AT_ONCE = 32

MEAN, SPREAD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
"""Mean and standard deviation of ImageNet's colours, by which all these networks scale their input."""


def weights_of(backbone: str) -> File:
    """Return the file of the published weights of a network, one of `BACKBONES`."""
    published = torchvision().models.get_model_weights(backbone).DEFAULT
    name, size = published.url.rpartition("/")[2], float(published.meta["_file_size"])
    checksum = Checksum("sha256", Path(name).stem.rpartition("-")[2])  # its first digits end torchvision's file name
    return File(name, WEIGHTS_FOLDER, PAGE, urls=(published.url,), megabytes=size, checksum=checksum)


class BackboneFeatures(Featuriser):
    """Features of images from a pretrained network, a few hundred per image.

    Parameters
    ----------
    backbone
        One of `BACKBONES`.
    device
        As for `choose_device`; `"auto"` uses a GPU if available.
    """

    name = "backbone"
    title = "What a trained network sees in a picture"
    reads = ("pictures",)
    dimensions: int

    def __init__(self, backbone: str = "resnet18", device: str = "auto") -> None:
        if backbone not in BACKBONES:  # torchvision, which takes seconds to import, is not asked before it is needed
            raise unknown("network", backbone, BACKBONES)
        self.backbone = backbone
        self.device = device
        self.range: tuple[float, float] | None = None
        self._network: nn.Module | None = None

    @classmethod
    def from_argument(cls, argument: str) -> Self:
        return cls(argument or "resnet18")

    def fit(self, data: PartialLabelDataset, progress: Progress | None = None) -> Self:
        """Obtain the weights and store the pixel range; nothing is trained.

        Parameters
        ----------
        data
            The training part.
        progress
            As for every featuriser.
        """
        reader(data, None)  # raises its errors before a download
        self.range = pixel_range(data)
        self.dimensions = self._load(progress)[1]
        return self

    def transform(self, data: PartialLabelDataset, progress: Progress | None = None) -> Features:
        read = reader(data, self.range)
        network, dimensions = self._load(progress)
        device = choose_device(self.device)
        features = np.empty((len(data), dimensions), dtype=np.float32)
        with visited(device, network), torch.inference_mode():
            for start in range(0, len(data), PICTURES_AT_ONCE):
                rows = range(start, min(start + PICTURES_AT_ONCE, len(data)))
                batch = torch.from_numpy(np.stack([as_planes(read(i), (3, INPUT_SIDE, INPUT_SIDE)) for i in rows]))
                features[start : rows.stop] = network(batch.to(device)).float().cpu().numpy()
                if progress is not None:
                    progress("pictures", rows.stop, len(data))
        return features

    def _load(self, progress: Progress | None) -> tuple[nn.Module, int]:
        if self._network is None:
            self._network, self._size = _network(self.backbone, progress)
        return self._network, self._size

    @property
    def feature_names(self) -> tuple[str, ...]:
        return tuple(f"{self.backbone} {k + 1}" for k in range(self.dimensions))

    def state(self) -> tuple[dict[str, Any], Arrays]:
        return {
            "backbone": self.backbone,
            "weights": weights_of(self.backbone).name,
            "dimensions": self.dimensions,
            "range": None if self.range is None else list(self.range),
        }, {}

    @classmethod
    def from_state(cls, settings: dict[str, Any], arrays: Arrays) -> Self:
        made = cls(str(settings["backbone"]))
        if weights_of(made.backbone).name != settings["weights"]:
            raise ValueError(
                f"it was fitted with the weights {settings['weights']}, which this torchvision does not have"
            )
        made.dimensions, made.range = int(settings["dimensions"]), range_of(settings)
        return made


class _Pretrained(nn.Module):
    """Normalise images (B, 3, H, W) in [0, 1] and return the network's features (B, d)."""

    mean: Tensor
    spread: Tensor

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network = network
        self.register_buffer("mean", torch.tensor(MEAN)[:, None, None])
        self.register_buffer("spread", torch.tensor(SPREAD)[:, None, None])

    def forward(self, x: Tensor) -> Tensor:
        features: Tensor = self.network((x - self.mean) / self.spread)
        return features.flatten(1)


def _network(backbone: str, progress: Progress | None) -> tuple[nn.Module, int]:
    """Return the network without its last layer, and its number of features."""
    weights = weights_of(backbone)
    report = None if progress is None else partial(progress, "bytes of the network")
    path = obtain(Needed(title=f"The network {backbone}", needs=files(weights)), report).paths[weights.name]
    network = torchvision().models.get_model(backbone, weights=None)
    try:
        network.load_state_dict(torch.load(path, map_location="cpu", weights_only=True))
    except (RuntimeError, pickle.UnpicklingError, EOFError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise UserError(f"{path} does not hold the weights of {backbone}; replace it by {weights.urls[0]}.") from error
    last = [name for name, layer in network.named_modules() if isinstance(layer, nn.Linear)][-1]
    dimensions = network.get_submodule(last).in_features
    network.set_submodule(last, nn.Identity())
    return _Pretrained(network).eval().requires_grad_(False), dimensions

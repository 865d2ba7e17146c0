"""Pixel features of images, resized to a common size."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from PIL import Image

from pll.dataset import PartialLabelDataset
from pll.errors import UserError
from pll.features.base import Features, Featuriser, whole_argument
from pll.io import FEATURES_IN_MEMORY_UP_TO, Arrays, Progress, large_array

LARGEST_AS_IS = 64
"""Largest side in pixels of equally sized images that are not resized."""
SMALL_SIDE = 32
"""Default side in pixels of resized images."""

GREY = 128
"""Value for the pixels of a damaged picture."""

IMAGES_LOOKED_AT = 200
"""Number of images examined for size and colour."""

Pixels = npt.NDArray[np.uint8]


class PixelFeatures(Featuriser):
    """Pixels in [0, 1] of images resized to a common size; grey if all training images are grey.

    Parameters
    ----------
    side
        Side in pixels of the resized (square) images; None keeps small images of equal size and resizes others to 32 ×
        32.
    """

    name = "pixels"
    title = "Pixels of a picture"
    reads = ("pictures",)
    flat = False
    shape: tuple[int, int, int]

    def __init__(self, side: int | None = None) -> None:
        self.side = side
        self.range: tuple[float, float] | None = None

    @classmethod
    def from_argument(cls, argument: str) -> Self:
        return cls(whole_argument(argument, "The side of a picture", 1024) if argument else None)

    def fit(self, data: PartialLabelDataset, progress: Progress | None = None) -> Self:
        self.range = pixel_range(data)
        read = reader(data, self.range)
        step = max(1, len(data) // IMAGES_LOOKED_AT)
        unseen = frozenset() if data.pictures is None else data.pictures.damaged
        names = None if data.pictures is None else data.pictures.names
        training_rows = [i for i in range(0, len(data), step) if names is None or str(names[i]) not in unseen]
        sizes = {read(i).shape for i in training_rows}
        if not sizes:
            raise UserError(f"{data.name} has no pictures; features are learnt from at least one.")
        channels = 3 if any(len(size) == 3 for size in sizes) else 1
        height, width = next(iter(sizes))[:2]
        is_one_size = len({size[:2] for size in sizes}) == 1
        if self.side is not None:
            height = width = self.side
        elif not is_one_size or max(height, width) > LARGEST_AS_IS:
            height = width = SMALL_SIDE
        self.shape = (channels, height, width)
        return self

    def transform(self, data: PartialLabelDataset, progress: Progress | None = None) -> Features:
        read = reader(data, self.range)
        features = large_array((len(data), *self.shape), np.float32, in_memory_up_to=FEATURES_IN_MEMORY_UP_TO)
        for i in range(len(data)):
            features[i] = as_planes(read(i), self.shape)
            if progress is not None:
                progress("pictures", i + 1, len(data))
        return features

    @property
    def feature_names(self) -> tuple[str, ...]:
        return ()

    def notes(self, data: PartialLabelDataset) -> tuple[str, ...]:
        channels, height, width = self.shape
        colour = "in colour" if channels == 3 else "in shades of grey"
        return (f"Every picture is brought to {width} × {height} pixels {colour}.",)

    def state(self) -> tuple[dict[str, Any], Arrays]:
        return {"shape": list(self.shape), "range": None if self.range is None else list(self.range)}, {}

    @classmethod
    def from_state(cls, settings: dict[str, Any], arrays: Arrays) -> Self:
        channels, height, width = (int(size) for size in settings["shape"])
        if channels not in (1, 3) or min(height, width) < 1:
            raise ValueError(f"pictures of shape {settings['shape']}")
        made = cls(side=height if height == width else None)
        made.shape, made.range = (channels, height, width), range_of(settings)
        return made


def range_of(settings: dict[str, Any]) -> tuple[float, float] | None:
    """Return the pixel range saved in a state."""
    result = settings["range"]
    return None if result is None else (float(result[0]), float(result[1]))


def as_planes(picture: Pixels, shape: tuple[int, int, int]) -> Features:
    """Convert an image (H, W) or (H, W, 3) uint8 to float32 in [0, 1] of the given shape (C, H', W').

    Parameters
    ----------
    picture
        The image.
    shape
        (C, H', W').

    Examples
    --------
    >>> as_planes(np.full((2, 4), 255, dtype=np.uint8), (3, 1, 1)).ravel().tolist()
    [1.0, 1.0, 1.0]
    """
    channels, height, width = shape
    if picture.shape[:2] != (height, width) or (picture.ndim == 3) != (channels == 3):
        converted = Image.fromarray(picture).convert("RGB" if channels == 3 else "L")
        picture = np.asarray(converted.resize((width, height), Image.Resampling.BILINEAR))  # antialiased when shrinking
    planes = picture[None] if channels == 1 else picture.transpose(2, 0, 1)
    return planes.astype(np.float32) / np.float32(255)


def pixel_range(data: PartialLabelDataset) -> tuple[float, float] | None:
    """Return the values of black and white in image arrays: (0, 1), (0, 255), or the minimum and maximum.

    None if the images are uint8 already.
    """
    if data.pictures is not None or data.images is not None or not data.is_image:
        return None
    least, most = float(data.X.min(initial=0.0)), float(data.X.max(initial=0.0))
    if least >= 0:
        return (0.0, 1.0) if most <= 1 else (0.0, 255.0) if 1 < most <= 255 else (least, most)
    return least, max(most, least + 1e-6)


def reader(data: PartialLabelDataset, black_and_white: tuple[float, float] | None) -> Callable[[int], Pixels]:
    """Return a function that reads image i as (H, W) or (H, W, 3) uint8.

    Parameters
    ----------
    data
        Images or paths of pictures.
    black_and_white
        Without colours.

    Raises
    ------
    UserError
        The data has no images. The returned function raises it for a missing or damaged image.
    """
    if "pictures" not in data.contents:
        where = "only the addresses of pictures" if data.pictures is not None else "no pictures"
        raise UserError(f"{data.name} has {where}; bring them in a ZIP archive or a folder, beside the table.")
    if data.pictures is not None and data.pictures.where is not None:
        pictures = data.pictures

        def read(i: int) -> Pixels:
            result = pictures[i]  # None where it is damaged, since all are in an archive or a folder
            return np.full((SMALL_SIDE, SMALL_SIDE), GREY, dtype=np.uint8) if result is None else result

        return read
    if data.images is not None:
        images = data.images
        return lambda i: images[i]
    low, high = black_and_white or pixel_range(data) or (0.0, 1.0)

    def scaled(i: int) -> Pixels:
        planes: Pixels = np.clip((data.X[i] - low) / (high - low) * 255, 0, 255).round().astype(np.uint8)  # (C, H, W)
        if len(planes) not in (1, 3):
            raise UserError(f"{data.name} has pictures of {len(planes)} channels; 1 (grey) or 3 (colours) are read.")
        return planes[0] if len(planes) == 1 else planes.transpose(1, 2, 0)

    return scaled

"""Augmentation of images in training: the standard shift (pad, then crop) and horizontal flip.

Works on a batch of *scaled* images, on their device, without a loop over examples: every image gets its own shift and
flip. What is padded is 0, the mean colour where images are z-scored. It is drawn from a given generator, which in
training is the trainer's, so that a resumed run draws the same.

The label weights of an epoch then come from augmented images; those of the final evaluation from images as they are.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor
from torch.nn.functional import pad

from pll.errors import UserError

Augmentation = Callable[[Tensor, torch.Generator | None], Tensor]
"""(B, C, H, W) scaled images, and what to draw from (None: torch's global stream) → the same shape, changed."""

AUGMENTATIONS = ("none", "crop", "crop-flip")

LARGEST_SHIFT = 4
"""Pixels, as is standard for 32 × 32 and 28 × 28; small images shift by an eighth of their side at most."""


def get_augmentation(name: str, input_shape: tuple[int, ...]) -> Augmentation | None:
    """The augmentation of that name, None for `"none"`.

    Args:
        name: `"none"`, `"crop"` (shifts of up to 4 pixels either way) or `"crop-flip"` (and mirrored, one time in two).
        input_shape: of one example; must be (C, H, W), unless the name is `"none"`.

    Raises:
        UserError: no such augmentation, or examples that are not images.
    """
    if name not in AUGMENTATIONS:
        raise UserError(f"There is no augmentation called {name!r}; use one of {', '.join(AUGMENTATIONS)}.")
    if name == "none":
        return None
    if len(input_shape) != 3:
        raise UserError(
            f"Augmentation {name!r} shifts the pixels of images (channels × height × width); these examples are rows "
            f"of {input_shape[0]} features. Use 'none'."
        )
    return partial(shift, flip=name == "crop-flip")


def shift(images: Tensor, generator: torch.Generator | None = None, *, flip: bool = False) -> Tensor:
    """Each image shifted by whole pixels, 0 where nothing was; with `flip` also mirrored, one time in two.

    Args:
        images: (B, C, H, W).
        generator: what to draw from; None takes torch's global stream.

    >>> shift(torch.ones(2, 1, 28, 28)).shape
    torch.Size([2, 1, 28, 28])
    """
    count, channels, height, width = images.shape
    down, across = largest_shift(height), largest_shift(width)
    padded = pad(images, (across, across, down, down))
    rows = _starts(count, down, generator, images.device) + torch.arange(height, device=images.device)  # (B, H)
    columns = _starts(count, across, generator, images.device) + torch.arange(width, device=images.device)  # (B, W)
    if flip:
        mirrored = torch.rand((count, 1), generator=generator, device=images.device) < 0.5
        columns = torch.where(mirrored, columns.flip(1), columns)
    example = torch.arange(count, device=images.device)
    channel = torch.arange(channels, device=images.device)
    return padded[
        example[:, None, None, None], channel[None, :, None, None], rows[:, None, :, None], columns[:, None, None, :]
    ]


def largest_shift(side: int) -> int:
    """How many pixels an image of this side shifts at most: 4, or an eighth of a side below 32, rounded up.

    >>> [largest_shift(side) for side in (32, 28, 224, 8)]
    [4, 4, 4, 1]
    """
    return min(LARGEST_SHIFT, -(-side // 8))


def _starts(count: int, most: int, generator: torch.Generator | None, device: torch.device) -> Tensor:
    """(B, 1) first row or column of each crop."""
    return torch.randint(0, 2 * most + 1, (count, 1), generator=generator, device=device)

"""Augmentation of images in training: the standard shift (pad, then crop) and horizontal flip.

It works on a batch of *scaled* images, on their device, without a loop over examples: every image gets its own shift
and flip. Padding is 0, the mean colour where images are z-scored. Random numbers come from a given generator, in
training the trainer's, so that a resumed run draws the same.

The label weights of an epoch come from augmented images; those of the final evaluation from the original images.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor
from torch.nn.functional import pad

from pll.errors import UserError, unknown
from pll.training.names import AUGMENTATIONS

Augmentation = Callable[[Tensor, torch.Generator | None], Tensor]
"""(B, C, H, W) scaled images, random generator (None: torch's global stream) → augmented images of that shape."""

LARGEST_SHIFT = 4
"""Pixels, as is standard for 32 × 32 and 28 × 28; small images shift by an eighth of their side at most."""


def get_augmentation(name: str, input_shape: tuple[int, ...]) -> Augmentation | None:
    """Return the augmentation of that name, None for `"none"`.

    Parameters
    ----------
    name
        `"none"`, `"crop"` (shifts of up to 4 pixels either way) or `"crop-flip"` (also mirrored with p = 1/2).
    input_shape
        Of one example; must be (C, H, W), unless the name is `"none"`.

    Raises
    ------
    UserError
        No such augmentation, or examples that are not images.
    """
    if name not in AUGMENTATIONS:
        raise unknown("augmentation", name, AUGMENTATIONS)
    if name == "none":
        return None
    if len(input_shape) != 3:
        raise UserError(
            f"Augmentation {name!r} shifts the pixels of images (channels × height × width); these examples are rows "
            f"of {input_shape[0]} features. Use 'none'."
        )
    return partial(shift, flip=name == "crop-flip")


def shift(images: Tensor, generator: torch.Generator | None = None, *, flip: bool = False) -> Tensor:
    """Shift each image by a random number of pixels, filling with 0; with `flip`, mirror it with probability 1/2.

    Parameters
    ----------
    images
        (B, C, H, W).
    generator
        Source of random numbers; None takes torch's global stream.
    flip
        Whether to mirror them.

    Examples
    --------
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
    """Return the largest shift of an image of this side, in pixels: 4, or an eighth of a side below 32, rounded up.

    Examples
    --------
    >>> [largest_shift(side) for side in (32, 28, 224, 8)]
    [4, 4, 4, 1]
    """
    return min(LARGEST_SHIFT, -(-side // 8))


def _starts(count: int, most: int, generator: torch.Generator | None, device: torch.device) -> Tensor:
    """Draw the (B, 1) first row or column of each crop."""
    return torch.randint(0, 2 * most + 1, (count, 1), generator=generator, device=device)

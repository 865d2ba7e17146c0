from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn

from pll.methods.base import Start, Task
from pll.methods.decomp import PNDecomp
from pll.methods.proden import PRODEN
from pll.synthesis import flip_binomial
from pll.training.augment import largest_shift, shift
from pll.training.metrics import StopTraining

Y = np.arange(23) % 3
IMAGES = np.random.default_rng(0).normal(size=(23, 2, 9, 8)).astype(np.float32)
SETS = flip_binomial(Y, 3, 0.4, seed=0)


def shifted_by_hand(image: Tensor, down: int, across: int, mirrored: bool) -> Tensor:
    """One image moved by whole pixels (negative: up, left), row by row and column by column, then mirrored."""
    _, height, width = image.shape
    moved = torch.zeros_like(image)
    for row in range(max(0, down), min(height, height + down)):
        moved[:, row] = image[:, row - down]
    image, moved = moved, torch.zeros_like(image)
    for column in range(max(0, across), min(width, width + across)):
        moved[:, :, column] = image[:, :, column - across]
    return moved.flip(2) if mirrored else moved


@given(st.integers(1, 20), st.sampled_from([1, 8, 9, 28]), st.booleans(), st.integers(0, 2**32))
def test_every_image_is_a_shift_of_itself(height: int, width: int, flip: bool, seed: int) -> None:
    torch.manual_seed(seed)
    images = torch.rand(2, 2, height, width) + 1
    for before, after in zip(images, shift(images, flip=flip), strict=True):
        down, across = largest_shift(height), largest_shift(width)
        possible = (
            shifted_by_hand(before, d, a, m)
            for d in range(-down, down + 1)
            for a in range(-across, across + 1)
            for m in ((False, True) if flip else (False,))
        )
        assert any(torch.equal(after, candidate) for candidate in possible)


def test_shifts_and_flips_are_even_and_independent() -> None:
    torch.manual_seed(0)
    image = torch.arange(1.0, 65).reshape(1, 1, 8, 8)
    drawn = shift(image.expand(4000, -1, -1, -1), flip=True)
    kinds = {
        (d, a, m): shifted_by_hand(image[0], d, a, m) for d in (-1, 0, 1) for a in (-1, 0, 1) for m in (False, True)
    }
    counts = {kind: int((drawn == expected).all(dim=(1, 2, 3)).sum()) for kind, expected in kinds.items()}
    assert sum(counts.values()) == 4000
    assert min(counts.values()) > 160 and max(counts.values()) < 290  # 222 expected; five standard deviations


# ---- in training -------------------------------------------------------------------------------------------------


def estimator(method: Any = PRODEN, **settings: Any) -> Any:
    return method(**{"augment": "crop-flip", "epochs": 4, "batch_size": 5, "device": "cpu"} | settings)


def convolutions(shape: tuple[int, ...], c: int) -> nn.Module:
    """All that makes resuming hard: statistics of batches, and dropout, which draws from the same stream."""
    return nn.Sequential(
        nn.Conv2d(shape[0], 6, 3), nn.BatchNorm2d(6), nn.ReLU(), nn.Dropout2d(0.3),
        nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(24, c),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("method", "settings", "batches"),
    [
        (PRODEN, {"optimiser": "adam", "lr": 0.01, "lr_decay": 0.5, "lr_decay_every": 2}, 1),
        (PRODEN, {"model": convolutions}, 7),
        (PNDecomp, {}, 7),
        (PNDecomp, {"model": convolutions}, 1),
    ],
)
def test_resumed_in_mid_epoch_it_goes_on_bit_for_bit(method: Any, settings: dict[str, Any], batches: int) -> None:
    straight, stopped, resumed = (estimator(method, **settings) for _ in range(3))
    expected = [record.loss for record in straight.iter_fit(Task(IMAGES, SETS))]
    left = batches

    def hook() -> None:
        nonlocal left
        left -= 1
        if left < 0:
            raise StopTraining

    with pytest.raises(StopTraining):
        list(stopped.iter_fit(Task(IMAGES, SETS), hook=hook))
    torch.manual_seed(5)  # another process has another past
    losses = [
        record.loss for record in resumed.iter_fit(Task(IMAGES, SETS), start=Start(checkpoint=stopped.checkpoint()))
    ]
    assert losses == expected[-len(losses) :]
    np.testing.assert_array_equal(resumed.label_weights_, straight.label_weights_)
    np.testing.assert_array_equal(resumed.predict_scores(IMAGES), straight.predict_scores(IMAGES))

"""The recipe of docs/losses.md, run as it stands."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from pll.synthesis import flip_binomial

PAGE = Path(__file__).parents[2] / "docs" / "losses.md"
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)


def run_page(**names: Any) -> dict[str, Any]:
    """Everything that the page's blocks define, with these names given."""
    assert len(BLOCKS) == 2
    for number, block in enumerate(BLOCKS, start=1):
        exec(compile(block, f"{PAGE.name}, block {number}", "exec"), names)
    return names


@pytest.fixture(scope="module")
def page() -> dict[str, Any]:
    X = np.random.default_rng(0).normal(size=(12, 3)).astype(np.float32)
    return run_page(X=X, candidates=flip_binomial(np.arange(12) % 3, 3, 0.3, seed=0))


@pytest.mark.parametrize("magnitude", [1.0, 30.0, 1e4])
def test_its_loss_passes_its_test(page: dict[str, Any], magnitude: float) -> None:
    page["test_focal"](magnitude)


WRONG: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "a mean over the batch": lambda z: -torch.log_softmax(z, 1).mean(0, keepdim=True).expand_as(z),
    "one column": lambda z: -torch.log_softmax(z, 1)[:, :1],
    "log of softmax": lambda z: (1 - torch.softmax(z, 1)) ** 2 * -torch.log(torch.softmax(z, 1)),
    "a favourite": lambda z: -torch.log_softmax(z, 1) * torch.tensor([1.0, 1.0, 1.0, 2.0]),
    "another formula": lambda z: -torch.log_softmax(z, 1),
}


@pytest.mark.parametrize("fault", WRONG)
def test_its_test_catches_what_it_says_it_catches(
    page: dict[str, Any], fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(page, "focal", WRONG[fault])
    with pytest.raises(AssertionError):
        for magnitude in (1.0, 30.0, 1e4):
            page["test_focal"](magnitude)

"""Every dataset beside the checkout goes through the data page, with the counts of its README."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pll.runs.jobs import default_board
from tests.page_helpers import bring_by, understood

SHARED = Path(__file__).parents[3] / "shared" / "data"
COUNTS = {
    "lost": ("1,122", "16", "2.2 possible labels each"),
    "birdsong": ("4,998", "13", "2.2 possible labels each"),
    "yeast": ("1,484", "10", "all labels known"),
    "dermatology": ("366", "6", "all labels known"),
    "synthetic-control": ("600", "6", "all labels known"),
    "mnist": ("70,000", "10", "all labels known"),
    "cifar10-subset": ("20,000", "10", "all labels known"),
}
"""Examples, classes, and what is known of the labels."""


@pytest.fixture
def shared(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    if not SHARED.is_dir():
        pytest.skip(f"needs the datasets in {SHARED}")
    monkeypatch.setenv("PLL_DATA_PATH", str(SHARED))
    monkeypatch.setenv("PLL_DATA", str(tmp_path / "data"))


def until_read(page: Any) -> Any:
    """The page once nothing is at work in the background."""
    for _ in range(20):
        jobs = [job for job in default_board()._jobs.values() if job.status().state in ("working", "done")]
        if not jobs:
            return page
        assert all(job.wait(60) for job in jobs)
        page = page.run()
    raise AssertionError("the page begins its work anew each time")


def chosen(page: Any, name: str) -> Any:
    page = bring_by(page, "Choose a dataset")
    return until_read(page.selectbox(key="dataset").set_value(name).run())


@pytest.mark.slow
@pytest.mark.parametrize("name", COUNTS)
def test_every_dataset_goes_through_the_page(open_page: Any, shared: None, name: str) -> None:
    sentence = understood(chosen(open_page("data"), name))
    examples, classes, known = COUNTS[name]
    assert sentence.startswith(examples) and f", {classes} classes" in sentence and known in sentence

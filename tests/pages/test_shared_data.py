"""Every dataset beside the checkout goes through the data page, with the counts of its README."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pll.ui import background

SHARED = Path(__file__).parents[3] / "shared" / "data"
COUNTS = {
    "lost": ("1,122", "16", "108", "2.23"),
    "birdsong": ("4,998", "13", "38", "2.18"),
    "yeast": ("1,484", "10", "8", ""),
    "dermatology": ("366", "6", "34", ""),
    "synthetic-control": ("600", "6", "60", ""),
    "mnist": ("70,000", "10", "28 × 28 pixels, grey", ""),
    "cifar10-subset": ("20,000", "10", "32 × 32 pixels, in colour", ""),
    "cifar10h": ("10,000", "10", "32 × 32 pixels, in colour", "1.35"),
    "cifar10n-subset": ("10,000", "10", "32 × 32 pixels, in colour", "1.47"),
}
"""Examples, classes, features, and candidates where the data has its own."""


@pytest.fixture
def shared(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    if not SHARED.is_dir():
        pytest.skip(f"needs the datasets in {SHARED}")
    monkeypatch.setenv("PLL_DATA_PATH", str(SHARED))
    monkeypatch.setenv("PLL_DATA", str(tmp_path / "data"))


def until_read(page: Any) -> Any:
    """The page once nothing is at work in the background."""
    for _ in range(20):
        jobs = [job for job in background.board()._jobs.values() if job.status().state in ("working", "done")]
        if not jobs:
            return page
        assert all(job.wait(60) for job in jobs)
        page = page.run()
    raise AssertionError("the page begins its work anew each time")


def chosen(page: Any, name: str) -> Any:
    page = page.segmented_control(key="way").set_value("Choose a dataset").run()
    return until_read(page.selectbox(key="dataset").set_value(name).run())


def figures(page: Any) -> dict[str, str]:
    assert not page.exception
    assert not page.error, [one.value for one in page.error]
    return {metric.label: metric.value for metric in page.metric}


@pytest.mark.slow
@pytest.mark.parametrize("name", COUNTS)
def test_every_dataset_goes_through_the_page(open_page: Any, shared: None, name: str) -> None:
    seen = figures(chosen(open_page("data"), name))
    examples, classes, features, candidates = COUNTS[name]
    assert (seen["Examples"], seen["Classes"], seen["Features"]) == (examples, classes, features)
    assert candidates in ("", seen["Candidates each"])


def test_votes_of_cifar10h_become_sets_by_a_rule(open_page: Any, shared: None) -> None:
    page = chosen(open_page("data"), "cifar10h")
    page = until_read(page.selectbox(key="rule_how-cifar10h").set_value("union").run())
    assert figures(page)["Candidates each"] == "1.94"
    page = until_read(page.selectbox(key="rule_how-cifar10h").set_value("votes").run())
    assert page.number_input(key="rule_votes").value == 2
    seen = figures(page)
    assert (seen["Candidates each"], seen["Agreement of two annotators"]) == ("1.35", "92.4 %")
    assert any("4 of 10,000 true labels are not among their candidates" in warning.value for warning in page.warning)

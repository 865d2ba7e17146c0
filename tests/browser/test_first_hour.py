"""Files of people on their way from Home to labels: clicks, and words that nobody should have to look up."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("playwright.sync_api", reason="needs playwright (requirements-dev.txt)")
from benchmarks.first_hour import Walker, lines, people, sentences, walk

pytestmark = [pytest.mark.browser, pytest.mark.slow]
JARGON = (
    *("votes of models", "joined on the id", "kappa", "alpha", "voter model", "truth inside", "decisive", "interval"),
    *("feature", "tfidf", "γ", "PRODEN-outside", "Dawid-Skene", "recipe", "epoch", "learning rate", "weight decay"),
    *("momentum", "batch", "seed", "held out", "label weights", "entropy", "reliability", "calibration error"),
    *("controls", "confidence level", "isotonic", "margin", "Parquet", "sparse matrix", "safetensors", "ONNX"),
    *("audit trail",),
)
"""Words that stand only in what is opened (*Details*, *For experts*, *For engineers*), or in Learn, Compare and
Experiments."""
SHOWN = """() => {
  const main = document.querySelector('[data-testid=stMain]').cloneNode(true);
  main.querySelectorAll('details:not([open]), canvas').forEach((one) => one.remove());
  return main.textContent;
}"""


def jargon(page: Any) -> list[str]:
    """Those of the words that are on the page."""
    words = page.evaluate(SHOWN)
    return [word for word in JARGON if re.search(rf"\b{re.escape(word)}s?\b", words, re.IGNORECASE)]


@pytest.mark.parametrize("make", [people, lines, sentences])
def test_home_and_data_are_short_and_in_plain_words(
    app: str, chromium: Any, tmp_path: Path, make: Callable[[Path], Any]
) -> None:
    walker = Walker(chromium)
    page = walker.page
    page.goto(app)
    page.get_by_role("button", name="Upload my data").wait_for()
    assert jargon(page) == []
    walker.press("Upload my data")
    page.locator("input[type=file]").set_input_files(str(make(tmp_path).file))
    page.get_by_role("button", name="Get labels").wait_for()
    walker.look("Data")
    assert jargon(page) == [] and walker.errors == []
    found = walker.pages["Data"]
    assert found["words"] <= 90 and found["buttons"] <= 12 and found["height"] <= 900
    walker.close()


@pytest.mark.parametrize("make", [people, lines, sentences])
def test_train_and_export_are_short_and_in_plain_words(
    app: str, chromium: Any, tmp_path: Path, make: Callable[[Path], Any]
) -> None:
    walker = Walker(chromium)
    page = walker.page
    page.goto(f"{app}/data")
    page.locator("input[type=file]").set_input_files(str(make(tmp_path).file))
    walker.press("Get labels")
    for name, press, words in (("Train", "Other formats", "worth a look"), ("Export", None, "For engineers")):
        page.get_by_text(words).first.wait_for(timeout=180_000)
        walker.look(name)
        assert jargon(page) == [] and walker.errors == []
        assert walker.pages[name]["words"] <= 90
        if press is not None:
            walker.press(press)
    walker.close()


def test_five_peoples_columns_become_labels(app: str, chromium: Any, tmp_path: Path) -> None:
    found = walk(chromium, app, people(tmp_path), tmp_path)
    assert found.errors == [] and found.clicks <= 5
    assert found.right > found.majority, "what the texts say is worth something"

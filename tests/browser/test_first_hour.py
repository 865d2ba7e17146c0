"""Files of people on their way from Home to labels: clicks, and words that nobody should have to look up."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("playwright.sync_api", reason="needs playwright (requirements-dev.txt)")
from benchmarks.first_hour import Case, lines, people, sentences, walk

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.mark.parametrize("make", [people, lines, sentences])
def test_four_clicks_to_labels_on_short_pages_in_plain_words(
    app: str, chromium: Any, tmp_path: Path, make: Callable[[Path], Case]
) -> None:
    result = walk(chromium, app, make(tmp_path), tmp_path)
    assert result.errors == [] and result.clicks == 4
    assert result.right > result.majority
    assert {page: words for page, words in result.jargon.items() if words} == {}
    words = {
        page: sizes["words"] for page, sizes in result.pages.items() if page != "Home"
    }  # it lists other tests' runs
    assert max(words.values()) <= 90, words
    assert result.pages["Data"]["buttons"] <= 12 and result.pages["Data"]["height"] <= 900

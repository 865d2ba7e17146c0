"""A person's file, from its drop to labels.csv, left as the pages propose it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("playwright.sync_api", reason="needs playwright (requirements-dev.txt)")
from benchmarks.first_hour import people, walk

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def test_three_peoples_columns_with_slips_become_labels(app: str, chromium: Any, tmp_path: Path) -> None:
    found = walk(chromium, app, people(tmp_path, n=150), tmp_path)
    assert found.errors == []
    assert found.rows == 150 and found.clicks <= 6
    assert found.right > found.plurality, "what the texts say is worth something"

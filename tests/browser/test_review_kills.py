"""Two reviewers in two browsers; the server is killed (SIGKILL) while they press their keys.

The long version, 500 decisions and five kills, is `python -m benchmarks.durability_browser`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from benchmarks.durability_browser import try_out

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture(autouse=True)
def sqlite(monkeypatch: pytest.MonkeyPatch) -> None:
    """In the home of the trial, whatever the developer's environment says."""
    monkeypatch.delenv("PLL_DATABASE_URL", raising=False)


@pytest.mark.timeout(240)
def test_what_was_acknowledged_is_there_after_the_server_was_killed(chromium: Any, tmp_path: Path) -> None:
    found = try_out(chromium, tmp_path, decisions=10, kills=1)
    assert (found.lost, found.doubled, found.shared) == (0, 0, 0)
    assert (found.decisions, found.acknowledged, found.kills) == (10, 10, 1)

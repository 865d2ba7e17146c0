"""How many files of `pll` one decision passes through: from the browser's message to the committed row."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pytest

from pll.review.desk import Desk
from pll.ui.review.review_tab import ReviewTab, pressed

MOST_FILES = 7
ROOT = Path(__file__).resolve().parents[3]
NEXT_EXAMPLE = Desk._assigned_or_next.__code__
"""Choosing the next example is one call in the same transaction; what happens inside it is not counted."""


def traced(act: Callable[[], None]) -> set[str]:
    """Return the files of `pll` that run functions in `act` up to the end of `Desk.decide`, after the commit."""
    files: set[str] = set()
    inside: list[CodeType] = []
    decided = False

    def on_event(frame: FrameType, event: str, _argument: Any) -> None:
        nonlocal decided
        code = frame.f_code
        if event == "call" and code is NEXT_EXAMPLE:
            inside.append(code)
        elif event == "return" and code is NEXT_EXAMPLE:
            inside.pop()
        elif event == "return" and code is Desk.decide.__code__:
            decided = True
        elif event == "call" and not inside and not decided and Path(code.co_filename).is_relative_to(ROOT / "pll"):
            files.add(str(Path(code.co_filename).relative_to(ROOT)))

    sys.setprofile(on_event)
    try:
        act()
    finally:
        sys.setprofile(None)
    assert decided
    return files


@pytest.mark.parametrize("kind", ["pick", "unsure", "skip"])
def test_a_decision_passes_through_few_files(tab: ReviewTab, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    given = tab.given
    assert given is not None
    message = {
        "nonce": "n1",
        "what": "say",
        "kind": kind,
        "label": given.choices[0].label if kind == "pick" else None,
        "token": given.token,
        "seconds": 1.5,
    }
    monkeypatch.setattr("streamlit.session_state", {"desk": {"act": message}})
    files = traced(pressed("desk", tab.act))
    with tab.manager.review.store.read(tab.manager.review.id) as reader:
        assert [event.kind for event in reader.events()] == [kind]
    assert len(files) <= MOST_FILES, sorted(files)

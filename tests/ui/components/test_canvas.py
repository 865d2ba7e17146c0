"""What the pictures share, in `canvas.js`: run by Node where there is one."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest
import streamlit as st

import pll.ui.components
from pll.ui import session
from pll.ui.components.canvas import mount
from pll.ui.components.component import Payload

CANVAS = Path(pll.ui.components.__file__).with_name("canvas.js")


def shortened(names: list[str], width: int) -> list[str]:
    """What is left of names where each letter is one pixel wide."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("Node is not installed")
    ruler = "{ measureText: (text) => ({ width: text.length }) }"
    script = f"{CANVAS.read_text()}\nconsole.log(JSON.stringify(shortenedNames({ruler}, {json.dumps(names)}, {width})))"
    ended = subprocess.run([node, "-e", script], capture_output=True, text=True, check=True)
    found: list[str] = json.loads(ended.stdout)
    return found


@pytest.mark.parametrize(
    "names",
    [
        ["chronic upper limb", "chronic lower limb", "acute hip"],
        ["left arm of the patient here", "left leg of the patient here", "right arm of the patient here"],
        [f"{a} {b} limb" for a in ("unspecified", "recurrent") for b in ("upper", "lower")],
    ],
)
def test_names_stay_different_where_they_are_cut(names: list[str]) -> None:
    short = shortened(names, 14)
    assert len(set(short)) == len(names) and max(map(len, short)) <= 14


def test_names_that_fit_stay_whole() -> None:
    assert shortened(["cat", "a dog"], 5) == ["cat", "a dog"]


def test_emoji_and_letters_with_marks_are_not_cut_into_halves() -> None:
    family = "👩‍👩‍👧‍👦"
    (short,) = shortened([f"{family * 3} and a long name {family * 3}"], 70)
    assert "…" in short and short.startswith(family) and short.endswith(family)
    assert set(short.replace(family, "")) <= set("… andlogme")


def test_texts_are_sent_once_while_a_part_of_the_page_refreshes(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[Payload] = []

    def component(*, data: Payload, **_: object) -> Payload:
        sent.append(data)
        return {}

    monkeypatch.setattr(st, "session_state", {})
    for is_part, text in ((False, "a"), (True, "a"), (True, "a"), (True, "b"), (False, "b")):
        monkeypatch.setattr(session, "is_fragment_run", lambda is_part=is_part: is_part)
        mount(component, {"texts": [text], "x": 1}, "star", range(1), None)  # type: ignore[arg-type]
    assert [data.get("texts") for data in sent] == [["a"], None, None, ["b"], ["b"]]
    a, b = sent[0]["once"]["texts"], sent[3]["once"]["texts"]
    assert a != b and [data["once"]["texts"] for data in sent] == [a, a, a, b, b]
    assert all(data["x"] == 1 for data in sent)

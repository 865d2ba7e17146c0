"""What the pictures share, in `canvas.js`: run by Node where there is one."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

import pll.ui.components

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

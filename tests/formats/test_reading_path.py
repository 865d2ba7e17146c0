"""How many files one has to open to follow a CSV file to its candidate sets."""

from __future__ import annotations

import sys
from pathlib import Path
from types import FrameType

import pytest

import pll
from pll import formats
from pll.candidates import CandidateSets

ROOT = str(Path(pll.__file__).parent)


def files_of_reading(path: Path) -> list[str]:
    """Files of `pll` whose functions run from `read` until there are candidate sets, in order of their first call."""
    found: dict[str, None] = {}
    is_done = False

    def trace(frame: FrameType, event: str, arg: object) -> None:
        nonlocal is_done
        name = frame.f_code.co_filename
        if event == "call" and not is_done and name.startswith(ROOT):
            found[name.removeprefix(ROOT)] = None
        is_done |= event == "return" and isinstance(arg, CandidateSets)

    before = sys.getprofile()
    sys.setprofile(trace)
    try:
        formats.read(path)
    finally:
        sys.setprofile(before)
    assert is_done
    return list(found)


@pytest.mark.parametrize(
    "text",
    [
        "id,width,colour,candidates,true_label\na,1.5,red,cat|dog,cat\nb,2,blue,dog,dog\n",
        "width,candidate_cat,candidate_dog\n1.5,1,0\n2,1,1\n",
    ],
)
def test_at_most_eight_files_from_a_csv_to_candidate_sets(tmp_path: Path, text: str) -> None:
    path = tmp_path / "x.csv"
    path.write_text(text, encoding="utf-8")
    assert len(files_of_reading(path)) <= 8, files_of_reading(path)

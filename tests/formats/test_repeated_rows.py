"""A row that is pasted again counts once."""

from __future__ import annotations

from pathlib import Path

import pytest

from pll import formats

CLASSES = ["H*", "none", "L*"]


def pasted(path: Path, names: str, *, own: bool = False) -> Path:
    """A file of what two people say of 60 things, of which two are pasted again at its end, one perhaps changed."""
    said = [CLASSES[k % 3] for k in range(60)]
    said_by = [f"{said[k]},{said[k - (k % 5 == 0)]}" for k in range(60)]
    lines = [f"{f'P{k:02}' if k != 7 else 'P 7b'},{said_by[k]}" for k in range(60)]
    again = [lines[5], lines[9].rpartition(",")[0] + ",none" if own else lines[9]]
    path.write_text("\n".join([names, *lines, *again]) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize("names", ["case no,Amy,Bo", "plate,Amy,Bo"])
def test_rows_that_stand_twice_count_once_and_come_back(tmp_path: Path, names: str) -> None:
    path = pasted(tmp_path / "t.csv", names)
    options = formats.ReadOptions(columns={"Amy": "annotator", "Bo": "annotator"})
    data = formats.read(path, options=options)
    assert len(data) == 60 and any("count once: 2, the first of them row 62" in note for note in data.notes)
    ids = data.row_ids.tolist()
    results = formats.Results(ids, {"identified_label": ["gold"] * 9 + ["none"] * 51, "confidence": ["0.5"] * 60})
    form = formats.detect(path)
    form.give_back(path, tmp_path / "back.csv", results, options)
    back = (tmp_path / "back.csv").read_text(encoding="utf-8").splitlines()
    assert len(back) == 63 and back[-2] == back[6] and back[-1] == back[10]
    assert back[-2].endswith("gold,0.5") and back[-1].endswith("none,0.5")


@pytest.mark.parametrize(("names", "own"), [("case no,Amy,Bo", True), ("width,Amy,Bo", False)])
def test_rows_of_one_id_that_differ_stay_and_so_do_things_without_names(
    tmp_path: Path, names: str, *, own: bool
) -> None:
    path = pasted(tmp_path / "t.csv", names, own=own)
    if not own:
        path.write_text(path.read_text(encoding="utf-8").replace("P 7b", "7.5").replace("P", "1."), encoding="utf-8")
    data = formats.read(path, options=formats.ReadOptions(columns={"Amy": "annotator", "Bo": "annotator"}))
    assert len(data) == 62 and not any("count once" in note for note in data.notes)

"""Tables that hold something else than an example a row: what would be misread is asked about, or left out and said."""

from __future__ import annotations

from pathlib import Path

import pytest

from pll import formats
from pll.formats.odd import OddReading


def write(folder: Path, *lines: str, name: str = "data.csv") -> Path:
    path = folder / name
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


PIVOT = [
    "Coder 1,Politics,Economy,Sport,Arts",
    "Politics,87,9,4,1",
    "Economy,6,82,4,2",
    "Sport,5,7,66,8",
    "Arts,2,3,1,99",
]
FREQUENCY = ["label;Anzahl;Anteil", "gut;120;52,2", "schlecht;80;34,8", "weder noch;25;10,8", "Sonstiges;5;2,2"]
MATRIX = ["name,kot,pies,ptak,koń", "kot,50,3,2,0", "pies,4,48,1,2", "ptak,0,1,55,0", "koń,2,2,0,51"]


@pytest.mark.parametrize(
    ("lines", "columns"),
    [
        (PIVOT, {"Coder 1": "annotator"}),
        (FREQUENCY, {"label": "true_label"}),
        (MATRIX, {"name": "keep"} | dict.fromkeys(MATRIX[0].split(",")[1:], "count")),
    ],
    ids=["pivot", "frequency", "matrix"],
)
def test_a_table_of_what_was_counted_holds_no_examples(
    tmp_path: Path, lines: list[str], columns: dict[str, str]
) -> None:
    path = write(tmp_path, *lines)
    with pytest.raises(OddReading, match=r"counts of some examples.*--accept summary"):
        formats.read(path, columns=columns)
    assert len(formats.read(path, columns=columns, accept=["summary"])) == 4


@pytest.mark.parametrize(
    "lines",
    [
        [
            "word,feeling",
            "happy,joy",
            "joy,joy",
            "fear,fear",
            "tears,grief",
            "anger,anger",
            "grief,grief",
            "rage,anger",
            "smile,joy",
        ],
        ["id,label", "1,a", "2,b", "3,c"],
        ["id,label", "1,2", "2,1", "3,4", "4,3"],
    ],
    ids=["lexicon", "a few rows to try", "numbers"],
)
def test_a_small_table_of_examples_is_no_summary(tmp_path: Path, lines: list[str]) -> None:
    name = lines[0].split(",")[1]
    assert len(formats.read(write(tmp_path, *lines), columns={name: "true_label"})) == len(lines) - 1

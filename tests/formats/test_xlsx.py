"""Workbooks of Excel: which sheet, what cells mean, labels back into the same sheet, and hostile files."""

from __future__ import annotations

import datetime
import random
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from openpyxl.cell.rich_text import CellRichText, TextBlock
from openpyxl.cell.text import InlineFont

from pll import formats
from pll.errors import UserError
from pll.formats import ReadOptions, Results
from pll.formats.tabular import xlsx

from .test_about_the_labelling import read_first

Rows = Sequence[Sequence[Any]]
HEADER = ("Fall-Nr.", "Text", "Anna", "Bert", "seen", "gold")
ROWS: Rows = [
    HEADER,
    *[
        (
            f"F-{k:03}",
            f"parcel {k} came days late again",
            "late" if k < 3 else "lost",
            "late" if k < 2 else "lost",
            k / 2,
            "late" if k < 3 else "lost",
        )
        for k in range(6)
    ],
]


def workbook(path: Path, **sheets: Rows) -> Path:
    """A workbook of these sheets, in this order."""
    book = openpyxl.Workbook()
    book.remove(book.worksheets[0])
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(list(row))
    book.save(path)
    return path


def cells(path: Path, sheet: str) -> list[tuple[Any, ...]]:
    return list(openpyxl.load_workbook(path)[sheet].iter_rows(values_only=True))


def test_a_sheet_is_the_table_that_it_would_be_as_csv(tmp_path: Path) -> None:
    title = [["Complaints, exported 12.02.2025"], []]
    below = [[], ["Summe", 6]]
    data = formats.read(workbook(tmp_path / "t.xlsx", Sheet1=[*title, *ROWS, *below]))
    assert data.row_ids.tolist() == [f"F-{k:03}" for k in range(6)]
    assert data.class_names == ("late", "lost")
    assert data.X[:, 0].tolist() == [0, 0.5, 1, 1.5, 2, 2.5]
    assert data.annotations is not None and data.annotations.annotator_names == ("Anna", "Bert")
    assert any("Complaints" in note for note in data.notes)


def test_values_are_written_as_one_reads_them(tmp_path: Path) -> None:
    day = datetime.datetime(2025, 3, 4)
    rows = [["zip", "day", "ok", "n", "candidates"], ["007", day, True, 3.0, "a|b"], ["08", day, False, 4.5, "b"]]
    path = workbook(tmp_path / "t.xlsx", a=rows)
    data = formats.read(path, columns={"zip": "keep", "day": "keep", "ok": "keep"})
    assert data.extras["zip"].tolist() == ["007", "08"]
    assert data.extras["day"].tolist() == ["2025-03-04", "2025-03-04"]
    assert data.extras["ok"].tolist() == ["TRUE", "FALSE"]
    assert data.X[:, 0].tolist() == [3, 4.5]


def test_labels_go_back_into_the_same_sheet(tmp_path: Path) -> None:
    source = workbook(tmp_path / "t.xlsx", Info=[["about"]], Labels=[["A title"], [], *ROWS])
    ids = [f"F-{k:03}" for k in range(6)]
    labels = ["=late", *["lost"] * 5]
    done = Results(ids, {"identified_label": labels, "confidence": ["0.75"] * 6})
    formats.give_back(source, tmp_path / "out.xlsx", done)
    rows = cells(tmp_path / "out.xlsx", "Labels")
    assert rows[0][0] == "A title" and rows[2] == (*HEADER, "label", "confidence")
    assert [row[6:] for row in rows[3:]] == [(label, 0.75) for label in labels]
    sheet = openpyxl.load_workbook(tmp_path / "out.xlsx")["Labels"]
    assert sheet["G4"].data_type == "s", "text that begins with = is no formula"


def test_what_does_not_go_back_is_said_and_letters_keep_their_look(tmp_path: Path) -> None:
    source = workbook(tmp_path / "t.xlsx", Labels=ROWS)
    plain = formats.FORMATS["xlsx"].cannot_give_back(source, Results([], {}), formats.ReadOptions())
    book = openpyxl.load_workbook(source)
    book["Labels"]["A20"] = CellRichText("one ", TextBlock(InlineFont(b=True), "bold"))
    book["Labels"]["B20"] = "=1+1"
    book.save(source)
    lost = formats.FORMATS["xlsx"].cannot_give_back(source, Results([], {}), formats.ReadOptions())
    assert [one for one in lost if one not in plain] == [one for one in lost if "formulas" in one] and len(lost) > len(
        plain
    )
    done = Results([f"F-{k:03}" for k in range(6)], {"identified_label": ["late"] * 6, "confidence": ["0.75"] * 6})
    formats.give_back(source, tmp_path / "out.xlsx", done)
    cell = openpyxl.load_workbook(tmp_path / "out.xlsx", rich_text=True)["Labels"]["A20"].value
    assert isinstance(cell, CellRichText) and str(cell) == "one bold"


def test_a_sheet_of_items_is_added_to_the_one_of_what_people_say_of_them(tmp_path: Path) -> None:
    items: Rows = [("No.", "Title"), *[(f"p{k}", f"the title of number {k} here") for k in range(24)]]
    said = [(f"p{k}", who, "xyz"[k % 3]) for k in range(24) for who in ("ann", "bob")]
    lines: Rows = [("No.", "annotator", "answer"), *said]
    source = workbook(tmp_path / "t.xlsx", Items=items, Opinions=lines, Notes=[("who", "why"), ("ann", "x")])
    roles = {"No.": "task", "annotator": "worker", "answer": "vote"}
    data = formats.read(source, columns=roles)
    assert len(data) == 24 and data.annotations is not None and data.annotations.n_answers == 48
    assert data.texts is not None and data.texts[3] == "the title of number 3 here"
    assert {"Items was added by No..", "The sheet 'Opinions' was read; there is also Notes."} <= {*data.notes}
    done = Results(data.row_ids.tolist(), {"identified_label": [f"label {name}" for name in data.row_ids]})
    formats.give_back(source, tmp_path / "out.xlsx", done, options=ReadOptions(columns=roles))
    assert [row[3] for row in cells(tmp_path / "out.xlsx", "Opinions")][:3] == ["label", "label p0", "label p0"]
    assert cells(tmp_path / "out.xlsx", "Items") == items


def test_a_sheet_of_numbered_items_before_the_answers_is_no_legend(tmp_path: Path) -> None:
    items: Rows = [("code", "name", "depth"), *[(k, f"plot {k}", k / 7) for k in range(1, 25)]]
    said: Rows = [("code", "annotator", "answer"), *[(k, who, "xyz"[k % 3]) for k in range(1, 25) for who in "ab"]]
    roles = {"code": "task", "annotator": "worker", "answer": "vote"}
    data = formats.read(workbook(tmp_path / "t.xlsx", Items=items, Opinions=said), columns=roles)
    assert data.feature_names == ("depth",) and len(data) == 24 and data.class_names == ("x", "y", "z")


def test_a_sheet_of_codes_before_the_data_is_no_person(tmp_path: Path) -> None:
    codes: Rows = [("id", "label"), (0, "fen"), (1, "bog"), (2, "mire")]
    rows: Rows = [("id", "depth", "label"), *[(k, k / 7, k % 3) for k in range(24)]]
    data = formats.read(workbook(tmp_path / "t.xlsx", Codes=codes, Data=rows))
    assert {*data.class_names} == {"fen", "bog", "mire"} and data.annotations is None and len(data) == 24


@pytest.mark.parametrize("more", [(), ("barrel",)])  # a column that the last sheet has
def test_sheets_with_one_header_are_parts_of_one_table(tmp_path: Path, more: tuple[str, ...]) -> None:
    def part(flight: int) -> Rows:
        added = more if flight == 3 else ()
        rows = [(f"{flight}-{k}", k / 7, "abc"[k % 3], "abc"[k * flight % 3], *added) for k in range(20)]
        return [("glass", "acid", "ann", "bob", *added), *rows]

    source = workbook(tmp_path / "t.xlsx", **{f"Flight {k}": part(k) for k in (1, 2, 3)}, Notes=[("who", "why")])
    roles = {"glass": "id", "ann": "annotator", "bob": "annotator"}
    data = formats.read(source, columns=roles)
    assert data.row_ids[[0, 20, 40]].tolist() == ["1-0", "2-0", "3-0"] and len(data) == 60
    assert len(formats.read(source, columns=roles, sheet="Flight 2")) == 20
    done = Results(data.row_ids.tolist(), {"identified_label": [f"label {name}" for name in data.row_ids]})
    formats.give_back(source, tmp_path / "out.xlsx", done, options=ReadOptions(columns=roles))
    assert [row[4 + len(more)] for row in cells(tmp_path / "out.xlsx", "Flight 3")][:2] == ["label", "label 3-0"]


def test_hostile_workbooks_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    book = workbook(tmp_path / "t.xlsx", a=ROWS)
    with pytest.raises(UserError, match="in memory; the limit is"):
        formats.read(book, options=ReadOptions(max_bytes=1000))
    monkeypatch.setattr(xlsx, "MOST_CELLS", 20)
    with pytest.raises(UserError, match="more than 20 cells; save it as CSV"):
        formats.read(workbook(tmp_path / "large.xlsx", a=ROWS))


@pytest.mark.slow
def test_a_cell_far_away_costs_nothing(tmp_path: Path) -> None:
    """What stands in row 1,048,576, or in a row that no sheet has, is neither padded nor waited for."""
    book = workbook(tmp_path / "t.xlsx", a=ROWS)
    with zipfile.ZipFile(book) as archive:
        inside = {name: archive.read(name) for name in archive.namelist()}
    sheet = inside["xl/worksheets/sheet1.xml"]
    inside["xl/worksheets/sheet1.xml"] = sheet.replace(b'<row r="7">', b'<row r="999999999">')
    with zipfile.ZipFile(tmp_path / "far.xlsx", "w") as archive:
        for name, content in inside.items():
            archive.writestr(name, content)
    with pytest.raises(UserError, match=r"far\.xlsx: "):
        formats.read(tmp_path / "far.xlsx")


@pytest.mark.parametrize("head", [b"\xd0\xcf\x11\xe0" + bytes(600)])
def test_an_old_or_encrypted_workbook_is_told_what_to_do(tmp_path: Path, head: bytes) -> None:
    (tmp_path / "old.xls").write_bytes(head)
    with pytest.raises(UserError, match=r"^old\.xls: .*password.*\.xlsx.*CSV"):
        formats.read(tmp_path / "old.xls")


def test_a_sheet_of_right_answers_is_the_truth_of_a_test(tmp_path: Path) -> None:
    """It has a row for each of the columns that people filled in, and their words."""
    rolls, styles = random.Random(9), ["barok", "renesans", "secesja"]
    right = [rolls.choice(styles) for _ in range(8)]
    names = [f"Obraz {k + 1}" for k in range(8)]
    rows = [
        [f"2024-05-18 10:{k:02}:00", *(one if rolls.random() < 0.7 else rolls.choice(styles) for one in right)]
        for k in range(20)
    ]
    key = [
        ["Obraz", "Tytuł", "Odpowiedź"],
        *([name, f"Praca {name}", one] for name, one in zip(names, right, strict=True)),
    ]
    data, _ = read_first(workbook(tmp_path / "t.xlsx", Odpowiedzi=[["Czas", *names], *rows], Klucz=key))
    assert data.y is not None and [data.class_names[k] for k in data.y] == right and len(data) == 8
    assert data.annotations is not None and data.annotations.n_annotators == 20


def test_numbers_are_written_with_the_digits_they_came_with(tmp_path: Path) -> None:
    written = [6.924, 0.1, -1e-7, 123456.7, 3.0, 16777216.0]
    rows = [f"a{k},{width},{'cat' if k % 2 else 'dog'}" for k, width in enumerate(written)]
    (tmp_path / "t.csv").write_text("\n".join(["id,width,candidates", *rows]))
    data = formats.read(tmp_path / "t.csv")
    formats.write(data, tmp_path / "out.xlsx")
    sheet = openpyxl.load_workbook(tmp_path / "out.xlsx").worksheets[0]
    (at,) = [cell.column for cell in sheet[1] if cell.value == "width"]
    assert [sheet.cell(row, at).value for row in range(2, 8)] == written
    assert formats.read(tmp_path / "out.xlsx").X.tolist() == data.X.tolist()

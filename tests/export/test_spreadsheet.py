"""Cells that spreadsheets would execute: told, neutralised on request, and else untouched."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from pll.cli.main import main
from pll.export.spreadsheet import formulas_in, neutralise

ROWS = [["id", "label"], ["=HYPERLINK(1)", "cat"], ["-1.5", "+3"], ["a,b", "@x"], ["line\nbreak", "-dog"]]


def test_a_file_is_neutralised_and_nothing_else_in_it_changed(tmp_path: Path) -> None:
    for suffix, delimiter in ((".csv", ","), (".tsv", "\t")):
        file = tmp_path / f"x{suffix}"
        with file.open("w", newline="") as stream:
            csv.writer(stream, delimiter=delimiter, lineterminator="\n").writerows(ROWS)
        before = file.read_bytes()
        assert formulas_in(file) == 3 and file.read_bytes() == before
        assert neutralise(file) == 3
        with file.open(newline="") as stream:
            found = list(csv.reader(stream, delimiter=delimiter))
        assert [[cell.removeprefix("'") for cell in row] for row in found] == ROWS
        assert sum(cell.startswith("'") for row in found for cell in row) == 3
        assert neutralise(file) == 0


def test_commands_tell_of_formulas_and_neutralise_them_on_request(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table, run = tmp_path / "t.csv", tmp_path / "run"
    rows = [f"{'=cmd|1' if k == 3 else k},{k},{k % 3},cat|=dog()" for k in range(12)]
    table.write_text("\n".join(["id,a,b,candidates", *rows]) + "\n")
    assert main(["fit", str(table), "--epochs", "2", "--threads", "1", "--out", str(run)]) == 0
    capsys.readouterr()
    plain, safe = tmp_path / "plain.csv", tmp_path / "safe.csv"
    assert main(["predict", str(run), str(table), "--out", str(plain)]) == 0
    assert "--spreadsheet-safe puts" in capsys.readouterr().err
    assert main(["predict", str(run), str(table), "--out", str(safe), "--spreadsheet-safe"]) == 0
    assert formulas_in(plain) > 0 == formulas_in(safe)
    assert "'=cmd|1" in safe.read_text() and "\n=cmd|1" in plain.read_text()
    assert main(["convert", str(run), "--to", "csv", "--out", str(tmp_path / "c.csv"), "--spreadsheet-safe"]) == 0
    assert formulas_in(tmp_path / "c.csv") == 0

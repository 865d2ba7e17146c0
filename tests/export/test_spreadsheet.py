"""Cells that spreadsheets would execute: told, neutralised on request, and else untouched."""

from __future__ import annotations

from pathlib import Path

import pytest

from pll.cli.main import main
from pll.export.spreadsheet import formulas_in, neutralise


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


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("last", [True, False])
def test_lines_keep_their_ends_and_rows_without_a_formula_their_quotes(tmp_path: Path, end: str, last: bool) -> None:
    rows = ["id;note", '"a";"two', 'lines"', "b;=1+1", '"=c";"d;e"', '"+f";"g\rh"', "-1,5;'i"]
    safe = ["id;note", '"a";"two', 'lines"', "b;'=1+1", '\'=c;"d;e"', '\'+f;"g\rh"', "-1,5;'i"]
    (tmp_path / "t.csv").write_bytes((end.join(rows) + end * last).encode("utf-16"))
    assert neutralise(tmp_path / "t.csv") == 3
    assert (tmp_path / "t.csv").read_bytes() == (end.join(safe) + end * last).encode("utf-16")
    assert neutralise(tmp_path / "t.csv") == 0

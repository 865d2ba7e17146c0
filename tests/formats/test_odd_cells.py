"""Columns of one class each are a group by name: an odd cell is refused with its row or read as missing, and no column
of the group becomes a feature without a word."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import pll
from pll import formats
from pll.errors import UserError
from pll.formats.odd import OddReading

SHARES = [(0.98, 0.01, 0.01), (0.1, 0.8, 0.1), (0.2, 0.3, 0.5), (0.6, 0.3, 0.1), (0.05, 0.05, 0.9), (0.3, 0.4, 0.3)]
MARKS = [(1, 0, 1), (1, 1, 0), (0, 0, 1), (1, 0, 0), (0, 1, 1), (1, 1, 0)]
CLASSES = ("cat", "dog", "fox")


def write(folder: Path, stem: str, rows: list[tuple[float, ...]], odd: str, at: int = 3, more: int = 0) -> Path:
    """A CSV file with a feature and a column a class, whose first one holds `odd` in row `at`."""
    cells = [[str(cell) for cell in row] for row in rows * (1 + more)]
    cells[at][0] = odd
    lines = [f"e{k},{k * k / 2},{','.join(row)}" for k, row in enumerate(cells)]
    path = folder / "animals.csv"
    path.write_text("\n".join([f"id,length,{','.join(f'{stem}{name}' for name in CLASSES)}", *lines]) + "\n")
    return path


def likeliest(path: Path) -> list[str]:
    data = pll.read(path)
    assert data.candidates is not None and data.prior is not None
    assert data.class_names == CLASSES and data.feature_names == ("length",)
    rows = zip(data.candidates, np.split(data.prior, data.candidates.indptr[1:-1]), strict=True)
    return [data.class_names[labels[np.argmax(weights)]] for labels, weights in rows]


@pytest.mark.parametrize("stem", ["prob_", "softmax_", "p_"])
@pytest.mark.parametrize("odd", ["", "NaN", "nan", "n/a", "NULL"])
def test_a_missing_probability_is_what_the_others_leave(tmp_path: Path, stem: str, odd: str) -> None:
    assert likeliest(write(tmp_path, stem, SHARES, odd)) == ["cat", "dog", "fox", "cat", "fox", "dog"]


def test_so_is_one_below_the_rows_that_roles_are_guessed_from(tmp_path: Path) -> None:
    path = write(tmp_path, "prob_", SHARES, "NaN", at=2403, more=500)
    assert likeliest(path) == ["cat", "dog", "fox", "cat", "fox", "dog"] * 501


def test_missing_cells_of_the_likeliest_few_are_0(tmp_path: Path) -> None:
    path = tmp_path / "top.csv"
    path.write_text("length,prob_cat,prob_dog,prob_fox\n1,.7,,.2\n2,.6,.3,\n3,,.8,.1\n4,.3,.4,.3\n")
    data = pll.read(path)
    assert data.candidates is not None and [len(row) for row in data.candidates] == [2, 2, 2, 3]


@pytest.mark.parametrize(("odd", "at", "more"), [("-0.0001", 3, 0), ("-1", 3, 0), ("inf", 3, 0), ("low", 2403, 500)])
@pytest.mark.parametrize(("stem", "rows"), [("prob_", SHARES), ("class_", MARKS)])
def test_what_is_no_number_of_its_kind_is_refused_with_its_row(
    tmp_path: Path, stem: str, rows: list[tuple[float, ...]], odd: str, at: int, more: int
) -> None:
    with pytest.raises(UserError, match=f"Row {at + 2}, column .*cat holds '{odd}'"):
        pll.read(write(tmp_path, stem, rows, odd, at, more))


@pytest.mark.parametrize("stem", ["class_", "candidate_", "y_"])
@pytest.mark.parametrize("odd", ["", "NaN", "nan", "n/a", "-1", "2", ".5"])
def test_a_cell_that_is_no_mark_is_refused_with_its_row(tmp_path: Path, stem: str, odd: str) -> None:
    with pytest.raises(UserError, match=f"Row 5, column .*cat holds '{odd}'"):
        pll.read(write(tmp_path, stem, MARKS, odd))


@pytest.mark.parametrize("nothing", ["", "NaN", "n/a"])
def test_where_nothing_says_no_a_missing_mark_does(tmp_path: Path, nothing: str) -> None:
    rows = [[("x" if mark else nothing) for mark in row] for row in MARKS]
    path = tmp_path / "animals.csv"
    path.write_text("class_cat,class_dog,class_fox\n" + "".join(",".join(row) + "\n" for row in rows))
    data = pll.read(path)
    assert data.candidates is not None and data.candidates.mask().tolist() == [[mark == 1 for mark in r] for r in MARKS]


@pytest.mark.parametrize("ending", ["csv", "parquet", "jsonl", "xlsx"])
def test_the_group_is_whole_in_what_is_written(tmp_path: Path, ending: str) -> None:
    path = write(tmp_path, "prob_", SHARES, "NaN")
    data = pll.read(path)
    pll.write(data, tmp_path / f"again.{ending}")
    again = pll.read(tmp_path / f"again.{ending}")
    assert again.class_names == CLASSES and again.feature_names == ("length",)
    assert again.candidates is not None and data.candidates is not None
    assert again.candidates.mask().tolist() == data.candidates.mask().tolist()


@pytest.mark.parametrize("stem", ["p_", "prob_"])
def test_measurements_of_one_stem_stay_features(tmp_path: Path, stem: str) -> None:
    rng = np.random.default_rng(0)
    lines = [
        ",".join(f"{value:.3f}" for value in row) + f",{'ab'[k % 2]}" for k, row in enumerate(rng.normal(size=(40, 3)))
    ]
    path = tmp_path / "momenta.csv"
    path.write_text("\n".join([f"{stem}x,{stem}y,{stem}z,true_label", *lines]) + "\n")
    assert pll.read(path).feature_names == (f"{stem}x", f"{stem}y", f"{stem}z")


def test_a_set_joined_otherwise_is_noted(tmp_path: Path) -> None:
    path = tmp_path / "sets.csv"
    path.write_text("width,candidates\n1,x|y\n2,x;y\n3,y|z\n4,x\n")
    data = pll.read(path)
    assert any("x;y" in note for note in data.notes)
    path.write_text("width,candidates\n1,x|y\n2,x;q\n3,y|z\n4,x\n")
    assert not any("x;q" in note for note in pll.read(path).notes)


def test_a_column_of_bytes_is_its_text(tmp_path: Path) -> None:
    table = pa.table(
        {"width": [1.5, 2.5, 3.5], "true_label": pa.array([b"cat", "h\u00e9".encode(), b"cat"], pa.binary())}
    )
    pq.write_table(table, tmp_path / "bytes.parquet")
    assert set(pll.read(tmp_path / "bytes.parquet").class_names) == {"cat", "h\u00e9"}


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".json", ".zip"])
@pytest.mark.parametrize(
    ("content", "remedy"),
    [
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:4665\nsize 5\n", "git lfs pull"),
        (b"/annex/objects/SHA256E-s5--4665.csv\n", "git annex get"),
        (b"\xef\xbb\xbf\n<!DOCTYPE html>\n<html><body>Log in, please</body></html>", "download the file"),
        (b"<HTML><table><tr><td>1</td></tr></table></HTML>", "save that as CSV"),
        (b"% made by Weka\n@RELATION iris\n\n@ATTRIBUTE width NUMERIC\n", "Weka.*as CSV"),
        ("\ufeffþDocIDþ\x14þCodeþ\nþA1þ\x14þPrivilegedþ\n".encode(), "Concordance.*as CSV"),
        (b'{"url": "https://docs.google.com/open?id=1", "doc_id": "1"}', "comma-separated values"),
    ],
)
def test_a_file_that_only_stands_for_the_data_is_refused_with_the_way_to_it(
    tmp_path: Path, suffix: str, content: bytes, remedy: str
) -> None:
    path = tmp_path / f"answers{suffix}"
    path.write_bytes(content)
    with pytest.raises(UserError, match=remedy):
        pll.read(path)


ERRORS = ("#REF!", "#BEZUG!", "#¡REF!", "#RIF!", "#VALEUR!", "#¿NOMBRE?", "#ССЫЛКА!", "#DIV/0!", "#NV", "#N/A")


@pytest.mark.parametrize("error", ERRORS)
def test_errors_of_a_spreadsheet_are_no_classes(tmp_path: Path, error: str) -> None:
    path = tmp_path / "t.csv"
    words = ("ładny", "brzydki")
    rows = [f"{k},{words[k % 2]},{error if k % 5 == 0 else words[k % 3 % 2]},{error}" for k in range(30)]
    path.write_text("\n".join(["nr,annotator 1,annotator 2,annotator 3", *rows]) + "\n", encoding="utf-8")
    data = pll.read(path)
    assert data.class_names == tuple(sorted(words)) and data.annotations is not None
    assert data.annotations.annotator_names == ("annotator 1", "annotator 2")
    assert any(error in note for note in data.notes) and any("annotator 3" in note for note in data.notes)
    path.write_text("\n".join(["nr,Ana,Bea", *(f"{k},{error},{error}" for k in range(30))]) + "\n", encoding="utf-8")
    with pytest.raises(UserError, match=r"Ana, Bea hold nothing but .* paste them as values"):
        pll.read(path)


def test_a_number_with_a_plus_is_one_beside_a_mark_of_no_answer(tmp_path: Path) -> None:
    path = tmp_path / "changes.csv"
    path.write_text("change,candidates\n+5,a|b\n-2.5,a\nn. a.,b\n 3 ,b\n")
    np.testing.assert_array_equal(pll.read(path).X[:, 0], [5, -2.5, np.nan, 3])


@pytest.mark.parametrize("mark", ["-", "－", "?", "n/a"])
@pytest.mark.parametrize("name", ["label", "candidates"])
def test_a_label_called_as_no_answer_is_odd_and_none_is_not(tmp_path: Path, mark: str, name: str) -> None:
    def write(silent: str) -> Path:
        rows = [f"e{k},{k * 7 % 5}.5,{silent if k % 6 == 0 else 'xyz'[k % 3]}" for k in range(30)]
        (tmp_path / "t.csv").write_text("\n".join([f"id,width,{name}", *rows]), "utf-8")
        return tmp_path / "t.csv"

    with pytest.raises(OddReading, match="means that there is no answer"):
        formats.read(write(mark))
    assert "none" in formats.read(write("none")).class_names


def test_a_code_beside_one_class_is_the_other_class(tmp_path: Path) -> None:
    rows = [f"clause number {k},{'V' if k % 3 else 'NV'},{'V' if k % 4 else 'NV'}" for k in range(30)]
    (tmp_path / "t.csv").write_text("\n".join(["text,rater_1,rater_2", *rows]))
    assert {*formats.read(tmp_path / "t.csv").class_names} == {"V", "NV"}


@pytest.mark.parametrize("every", [4, 20])
def test_empty_is_a_class_where_many_say_it(tmp_path: Path, every: int) -> None:
    said = ["empty" if k % every == 0 else ("fox", "hare")[k // 2 % 2] for k in range(60)]
    rows = [f"p{k}.jpg,{one},{one if k % 9 else 'fox'}" for k, one in enumerate(said)]
    (tmp_path / "t.csv").write_text("\n".join(["image,rater_1,rater_2", *rows]))
    assert ("empty" in formats.read(tmp_path / "t.csv").class_names) == (every == 4)


def test_empty_is_no_answer_elsewhere(tmp_path: Path) -> None:
    rows = [f"{'empty' if k == 3 else k}.5,{'xyz'[k % 3]},{'empty' if k == 5 else 'xyz'[k % 3]}" for k in range(40)]
    path = tmp_path / "t.csv"
    path.write_text("\n".join(["width,rater_1,true_label", *rows]).replace("empty.5", "empty"))
    data = formats.read(path, accept=("agreed",))
    assert "empty" not in data.class_names and np.isnan(data.X[3, 0]) and data.y is not None and data.y[5] == -1

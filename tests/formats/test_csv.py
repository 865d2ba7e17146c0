"""CSV and TSV: exact round trips, and tables as people export them."""

from __future__ import annotations

import gc
import tracemalloc
import weakref
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings

from pll import formats
from pll.dataset import PartialLabelDataset
from pll.errors import UserError
from pll.formats import FORMATS, ReadOptions
from pll.formats.limitations import cannot_hold
from pll.formats.tabular.csv import Text, text_of_file

from .strategies import datasets, named_sets, named_truth, same


def table(folder: Path, text: str, name: str = "table.csv", **options: object) -> PartialLabelDataset:
    path = folder / name
    path.write_bytes(text.encode())
    return formats.read(path, options=ReadOptions(**options))  # type: ignore[arg-type]


@pytest.mark.parametrize("suffix", ["csv", "tsv"])
@given(data=datasets(missing_cells=True))
@settings(deadline=None)
def test_writing_then_reading_gives_everything_back(
    suffix: str, tmp_path_factory: pytest.TempPathFactory, data: PartialLabelDataset
) -> None:
    path = tmp_path_factory.mktemp("round") / f"data.{suffix}"
    formats.write(data, path)
    back = formats.read(path)
    assert same(back.X, data.X)
    assert same(np.signbit(back.X), np.signbit(data.X))
    assert same(back.row_ids, data.row_ids)
    assert same(back.is_test, data.is_test)
    assert back.feature_names == data.feature_names
    assert named_sets(back) == named_sets(data)
    lost = cannot_hold(data, FORMATS[suffix])
    if not any("say there is none" in sentence for sentence in lost):
        assert named_truth(back) == named_truth(data)
    if not lost:
        assert back.class_names == data.class_names
        assert back.candidates == data.candidates
        assert same(back.y, data.y)


def test_reserved_names_of_features_do_not_become_labels(tmp_path: Path) -> None:
    X = np.arange(6, dtype=np.float32).reshape(2, 3)
    formats.write(PartialLabelDataset(X, feature_names=("id", "ID", "")), tmp_path / "data.csv")
    back = formats.read(tmp_path / "data.csv")
    assert same(back.X, X) and back.feature_names == ("id", "ID", "")


def test_features_that_look_like_something_else_are_written_so_that_they_are_features(tmp_path: Path) -> None:
    """The same in every row, marks, or numbers that count the rows: in a table of others' these are none."""
    X = np.array([[3, k % 2, 1 - k % 2, k, k / 4] for k in range(30)], dtype=np.float32)
    names = ("same", "is_cat", "is_dog", "case id", "width")
    data = PartialLabelDataset(X=X, feature_names=names, class_names=("a", "b"), y=np.arange(30) // 5 % 2)
    assert cannot_hold(data, FORMATS["csv"]) == []
    formats.write(data, tmp_path / "x.csv")
    back = formats.read(tmp_path / "x.csv")
    assert back.feature_names == names and same(back.X, X)


def test_the_columns_find_their_parts(tmp_path: Path) -> None:
    data = table(
        tmp_path,
        "width,ID,Candidates,height,true_label,split,confidence\n"
        "1.5,a,NA | None,2,None,train,0.9\n"
        "?,b,1;x|日本語,,,test,0.8\n",
    )
    assert data.feature_names == ("width", "height")
    assert same(data.X, np.array([[1.5, 2], [np.nan, np.nan]], dtype=np.float32))
    assert data.class_names == ("1;x", "NA", "None", "日本語")
    assert named_sets(data) == [{"NA", "None"}, {"1;x", "日本語"}]
    assert named_truth(data) == ["None", None]
    assert data.row_ids.tolist() == ["a", "b"]
    assert data.is_test is not None and data.is_test.tolist() == [False, True]
    assert data.kind == "table" and data.name == "table.csv"
    assert any("confidence" in note for note in data.notes)


@pytest.mark.parametrize(
    "text",
    [
        "x,candidates\n1,a|b\n2,b\n",
        "x;candidates\r\n1;a|b\r\n2;b\r\n",
        "x\tcandidates\n1\ta|b\n2\tb\n",
        "x,candidates\r1,a;b\r2,b",
        "\ufeffx,candidates\n\n1,a|b\n\n2,b\n\n\n",
        '"x","candidates"\n"1","[""a"", ""b""]"\n"2","b"\n',
        ' x , candidates\n +1 , a | b\n" 2 ", b\n',
    ],
)
def test_dialects_mean_the_same(tmp_path: Path, text: str) -> None:
    data = table(tmp_path, text)
    assert data.X.ravel().tolist() == [1, 2]
    assert named_sets(data) == [{"a", "b"}, {"b"}]


def test_rows_are_numbered_as_a_spreadsheet_does(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"^table.csv: Row 6, column 'x' holds 'z'.*the header is row 1\."):
        table(tmp_path, 'x,candidates\n1,"two\nlines"\n\n2,a\n3,a\nz,a\n')


def test_the_numbers_of_all_rows_are_found_in_one_pass(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "table.csv"
    path.write_text("id,x\n\na,1\n\n\nb,2\nc,3\n", encoding="utf-8")
    text, records, passes = text_of_file(path, ","), Text.rows, []
    assert text.header.names == ["id", "x"]
    monkeypatch.setattr(Text, "rows", lambda self: passes.append(self) or records(self))
    assert [text.row_number(position) for position in (2, 0, 1, 2)] == [7, 3, 6, 7] and len(passes) == 1


def test_a_bad_cell_is_found_in_a_later_batch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pll.formats.tabular.csv.MAX_RECORD_BYTES", 256)
    rows = "".join(f"{k},{k % 7},a|b\n" for k in range(1000))
    assert len(table(tmp_path, "x,y,candidates\n" + rows)) == 1000
    with pytest.raises(UserError, match=r"Row 1002, column 'y' holds 'oops'"):
        table(tmp_path, "x,y,candidates\n" + rows + "7,oops,a\n")


@pytest.mark.slow
def test_a_file_takes_little_more_memory_than_its_features(tmp_path: Path) -> None:
    X = np.random.default_rng(0).random((40_000, 25), dtype=np.float32)
    formats.write(PartialLabelDataset(X), tmp_path / "big.csv")
    tracemalloc.start()
    try:
        assert same(formats.read(tmp_path / "big.csv").X, X)
        peak = tracemalloc.get_traced_memory()[1]  # numpy and Python; Arrow keeps one batch beside it
    finally:
        tracemalloc.stop()
    assert peak < 6 * X.nbytes


TITLED = {
    "of one cell": "Weld inspection 2024\n\npart,x,y,candidates\na,1,2,p|q\nb,3,4,q\nc,5,6,q\n",
    "as wide as the table": "Weld inspection 2024,,,\n,,,\npart,x,y,candidates\na,1,2,p|q\nb,3,4,q\nc,5,6,q\n",
    "with a comma": '"Weld inspection, both\nshifts"\nline,3\npart,x,y,candidates\na,1,2,p|q\nb,3,4,q\nc,5,6,q\n',
}


@pytest.mark.parametrize("text", list(TITLED.values()), ids=list(TITLED))
def test_what_stands_above_the_header_is_left_out_and_said(tmp_path: Path, text: str) -> None:
    data = table(tmp_path, text, columns={"part": "id"})
    assert data.X.tolist() == [[1, 2], [3, 4], [5, 6]] and data.row_ids.tolist() == ["a", "b", "c"]
    assert any("above the header" in note and "Weld inspection" in note for note in data.notes)
    row = text.count("\n") - text.count("both\n")  # the last one, as a spreadsheet counts
    with pytest.raises(UserError, match=f"Row {row}, column 'y'"):
        table(tmp_path, text.replace("5,6", "5,six"))


LETTERS = "Nr;text;größe;candidates\nA-1;Mahngebühr fällig;1,5;für|wider\nA-2;schöne Grüße;2,5;für\n"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252", "utf-16"])
def test_spreadsheets_save_in_encodings_of_their_own(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "letters.csv"
    path.write_bytes(LETTERS.encode(encoding))
    data = formats.read(path)
    assert data.class_names == ("für", "wider") and data.feature_names == ("größe",)
    assert data.texts is not None and list(data.texts) == ["Mahngebühr fällig", "schöne Grüße"]
    assert any("UTF-8" in note for note in data.notes) == (not encoding.startswith("utf-8"))
    assert [column.name for column in FORMATS["csv"].columns(path, ReadOptions())] == [
        *("Nr", "text", "größe", "candidates")
    ]


def test_what_a_line_says_about_the_answer_is_no_feature(tmp_path: Path) -> None:
    lines = "task_id,worker,answer,seconds,device,length,kind\n" + "".join(
        f"t{i},w{k},{'ab'[(i + k) % 2]},{3 * i + k},{'pm'[k % 2]}hone,{i % 5},{'xy'[i % 2]}z\n"
        for i in range(12)
        for k in range(3)
    )
    data = table(tmp_path, lines)
    assert data.feature_names == ("length",) and data.X[:, 0].tolist() == [i % 5 for i in range(12)]
    assert list(data.categories) == ["kind"]
    (note,) = [note for note in data.notes if "seconds" in note]
    assert "length" not in note
    assert any("carried along" in note and "device" in note for note in data.notes)  # of the person, not of the task


@pytest.mark.parametrize("name", ["x.txt", "x.dat", "x.csv"])
@pytest.mark.parametrize("encoding", ["utf-8", "cp1252", "utf-16"])
@pytest.mark.parametrize("mark", ["|", "\t", ";"])
def test_a_table_of_text_is_told_by_what_it_holds(tmp_path: Path, name: str, encoding: str, mark: str) -> None:
    rows = [
        "titel,Anna,Ben",
        *(f'"Größe | {k} m",{"gut" if k % 3 else "böse"},{"gut" if k % 2 else "böse"}' for k in range(9)),
    ]
    end = "" if encoding == "utf-16" else "\x1a"  # as old programs end a text
    (tmp_path / name).write_bytes(("\r\n".join(rows).replace(",", mark) + "\r\n" + end).encode(encoding))
    data = formats.read(tmp_path / name, columns={"Anna": "annotator", "Ben": "annotator"})
    assert len(data) == 9 and data.class_names == ("böse", "gut")


def test_a_bar_between_labels_is_no_delimiter(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("candidates,Anna\n" + "cat|dog|fox,cat\n" * 8, encoding="utf-8")
    assert (
        formats.read(tmp_path / "x.csv", columns={"Anna": "keep"}, accept=("in-every-set", "full-sets")).n_classes == 3
    )


@pytest.mark.parametrize("suffix", [".csv", ".tsv"])
@pytest.mark.parametrize(
    "below",
    [
        ["", "Totale delle carte: 12"],
        ["Gesamt;;24;", "Stand: Mai 2024, ohne Gewähr;;;"],
        ["合计;;24;", "", '"? = nie wiem, zapytać Annę";;;', ";;;"],
        ["measured by hand, error 0.1 mm", "n/a = not asked at all"],
        ["", "Anzahl Arbeiten;12;;", "checked;;;"],
        [";;;", "Kappa;;0,71;"],
    ],
)
def test_totals_and_notes_below_a_table_are_left_out_and_said(tmp_path: Path, suffix: str, below: list[str]) -> None:
    rows = [f"a{k};{('x', 'y')[k % 2]};{k % 4};{('x', 'y')[k % 3 % 2]}" for k in range(12)]
    text = "\n".join(["id;annotator 1;width;annotator 2", *rows, *below]) + "\n"
    path = tmp_path / f"t{suffix}"
    path.write_text(text.replace(";", ";" if suffix == ".csv" else "\t"), encoding="utf-8")
    data = formats.read(path)
    assert data.row_ids.tolist() == [f"a{k}" for k in range(12)] and data.class_names == ("x", "y")
    assert any("left out" in note for note in data.notes)


def test_a_last_row_that_is_cut_off_is_refused_and_texts_are_no_notes(tmp_path: Path) -> None:
    rows = [f"a{k};x;y" for k in range(12)]
    (tmp_path / "t.csv").write_text("\n".join(["id;annotator 1;annotator 2", *rows, "a12;x"]), encoding="utf-8")
    with pytest.raises(UserError, match="Row 14 has 2 fields"):
        formats.read(tmp_path / "t.csv")
    rows = [f"the parcel number {k} came;x;y" for k in range(12)]
    text = "\n".join(["what;annotator 1;annotator 2", *rows, "the last one came;;"])
    (tmp_path / "t.csv").write_text(text, encoding="utf-8")
    assert len(formats.read(tmp_path / "t.csv")) == 13


def test_a_file_whose_rows_were_counted_in_part_is_closed_at_once(tmp_path: Path) -> None:
    path = tmp_path / "long.csv"
    path.write_text("a,b\n" + "1,2\n" * 50_000)
    text = text_of_file(path, ",")
    assert text.row_number(3) == 5
    gone = weakref.ref(text)
    gc.disable()
    try:
        del text
        assert gone() is None
    finally:
        gc.enable()


@pytest.mark.parametrize("mark", [",", "\t", " "])
def test_quotes_with_a_backslash_are_a_part_of_the_text(tmp_path: Path, mark: str) -> None:
    texts = [f'He said \\"cup {k}{mark} or six\\" and left' for k in range(12)]
    lines = [mark.join(f'"{one}"' for one in (text, "cat", "dog" if k % 3 else "cat")) for k, text in enumerate(texts)]
    data = table(tmp_path, "\n".join([mark.join(['"text"', '"ann"', '"bob"']), *lines, ""]), columns=TWO_VOTERS)
    assert data.texts is not None and data.texts.tolist() == [one.replace("\\", "") for one in texts]
    assert data.class_names == ("cat", "dog")


TWO_VOTERS = {"text": "text", "ann": "annotator", "bob": "annotator"}


@pytest.mark.parametrize(("first", "people"), [("0,125", ""), ("0,125", "2.000")])
def test_commas_between_semicolons_are_decimal_ones(tmp_path: Path, first: str, people: str) -> None:
    rows = [f"{k},125;{people or 800};{'cat' if k % 2 else 'dog'}" for k in range(2, 13)]
    data = table(tmp_path, "\n".join(["depth;people;label", f"{first};700;cat", *rows, ""]))
    assert data.X[0].tolist()[:1] == [float(first.replace(",", "."))] and data.X[1, 0] == 2.125
    assert not people or data.X[1, 1] == 2000

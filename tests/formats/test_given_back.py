"""What comes back is what came in: without the added columns, the same bytes or cells, whatever the container."""

from __future__ import annotations

import codecs
import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pll import formats
from pll.errors import UserError
from pll.formats import Results, json_objects

Row = dict[str, Any]
CELLS = st.text(st.sampled_from('ab "\n,;|ß0'), max_size=6)


def table(kind: str, texts: list[str]) -> list[Row]:
    """A table with a row an example, or with a row an answer, whose columns hold any text."""
    rows: list[Row] = []
    for k, text in enumerate(texts):
        if kind == "example":
            rows.append({"id": f"e{k}", "note": text, "candidates": "x|y" if k % 2 else "x", "width": k + 0.5})
        else:
            about = {"task": f"e{k // 2}", "worker": "pq"[k % 2], "label": "xy"[k % 3 == 0]}
            rows.append(about | {"note": text, "when": f"2024-03-0{k % 9 + 1}T10:00"})
    return rows


def expected(rows: list[Row], results: Results) -> list[tuple[Any, Any]]:
    """Label and confidence of every row, by its example."""
    names = [row.get("task", row.get("id")) for row in rows]
    return [(results.label(str(name)), results.confidence(str(name))) for name in names]


def results_for(rows: list[Row]) -> Results:
    """Labels of all examples but the last."""
    names = list(dict.fromkeys(str(row.get("task", row.get("id"))) for row in rows))[:-1]
    columns = {"identified_label": ["xy"[k % 2] for k in range(len(names))], "confidence": ["0.75"] * len(names)}
    return Results(names, columns | {"margin": ["0.5"] * len(names), "source": ["model"] * len(names)})


def as_text(rows: list[Row], delimiter: str, end: str) -> str:
    file = io.StringIO(newline="")
    writer = csv.DictWriter(file, list(rows[0]), delimiter=delimiter, lineterminator=end, quoting=csv.QUOTE_NONNUMERIC)
    writer.writeheader()
    writer.writerows(rows)
    return file.getvalue()


def back(path: Path, rows: list[Row]) -> Path:
    out = path.with_name(f"out{path.suffix}")
    formats.give_back(path, out, results_for(rows), options=formats.ReadOptions(columns={"note": "keep"}))
    return out


@settings(max_examples=3 * settings.default.max_examples)  # of twelve kinds of files
@given(
    kind=st.sampled_from(["example", "answer"]),
    delimiter=st.sampled_from([",", ";", "\t"]),
    texts=st.lists(CELLS, min_size=4, max_size=6),
    end=st.sampled_from(["\n", "\r\n"]),
    mark=st.booleans(),
)
def test_a_text_keeps_every_byte(
    tmp_path_factory: pytest.TempPathFactory, kind: str, delimiter: str, texts: list[str], end: str, mark: bool
) -> None:
    rows = table(kind, texts)
    path = tmp_path_factory.mktemp("t") / ("t.tsv" if delimiter == "\t" else "t.csv")
    path.write_bytes(codecs.BOM_UTF8 * mark + as_text(rows, delimiter, end).encode())
    out = back(path, rows).read_bytes()
    written = list(csv.reader(io.StringIO(out.decode("utf-8-sig"), newline=""), delimiter=delimiter))
    done = (
        written[0][-2:],
        [(row[-2] or None, float(row[-1].replace(",", ".")) if row[-1] else None) for row in written[1:]],
    )
    names = ["label (Candid)" if kind == "answer" else "label", "confidence"]
    assert done == (names, expected(rows, results_for(rows)))
    was = path.read_bytes()
    for added in [names, *[row[-2:] for row in written[1:]]]:  # each once, in their order
        tail = (delimiter + delimiter.join(added) + end).encode()
        at = out.index(tail)
        assert was.startswith(out[:at] + end.encode())
        was, out = was[at + len(end) :], out[at + len(tail) :]
    assert (was, out) == (b"", b"")


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_a_label_of_two_lines_stays_one_cell(tmp_path: Path, delimiter: str) -> None:
    path = tmp_path / ("t.tsv" if delimiter == "\t" else "t.csv")
    sets = json.dumps(["a\nb", "c"]).replace('"', '""')
    path.write_text(f"id{delimiter}candidates\n" + "".join(f'{k}{delimiter}"{sets}"\n' for k in range(3)))
    done = Results(["0", "1", "2"], {"identified_label": ["a\nb", "c", "a\nb"], "confidence": ["0.5"] * 3}, "m")
    out = tmp_path / f"out{path.suffix}"
    formats.give_back(path, out, done, options=formats.ReadOptions())
    with out.open(newline="") as file:
        assert [row["label"] for row in csv.DictReader(file, delimiter=delimiter)] == ["a\nb", "c", "a\nb"]


@pytest.mark.parametrize("kind", ["example", "answer"])
@pytest.mark.parametrize(
    "write",
    [
        lambda rows: "".join(json.dumps(row) + "\n" for row in rows),
        lambda rows: "\n\n".join(json.dumps(row, ensure_ascii=False) for row in rows),
        json.dumps,
        lambda rows: "\ufeff" + json.dumps(rows, indent=2) + "\r\n",
    ],
    ids=["lines", "blank lines", "list", "indented"],
)
def test_json_keeps_every_character(tmp_path: Path, kind: str, write: Callable[[list[Row]], str]) -> None:
    rows = table(kind, ["a", '"}', "ß", "\n", ""])
    path = tmp_path / "t.json"
    path.write_text(write(rows), encoding="utf-8", newline="")
    out = back(path, rows).read_text(encoding="utf-8")
    label = "label (Candid)" if kind == "answer" else "label"
    for about, confidence in expected(rows, results_for(rows)):
        if about is not None:
            out = out.replace(f', "{label}": "{about}", "confidence": {confidence}', "", 1)
    assert out == path.read_text(encoding="utf-8")


@pytest.mark.parametrize("kind", ["example", "answer"])
def test_parquet_keeps_every_cell_and_its_metadata(tmp_path: Path, kind: str) -> None:
    rows = table(kind, ["a", "", "b", "c"])
    was = pa.Table.from_pylist(rows).replace_schema_metadata({"own": "1"})
    pq.write_table(was, tmp_path / "t.parquet")
    out = pq.read_table(back(tmp_path / "t.parquet", rows))
    assert out.select(was.column_names).equals(was, check_metadata=True)
    added = [column.to_pylist() for column in out.columns[len(was.column_names) :]]
    assert list(zip(*added, strict=True)) == expected(rows, results_for(rows))


@pytest.mark.parametrize("kind", ["example", "answer"])
def test_a_workbook_keeps_its_sheets_and_cells(tmp_path: Path, kind: str) -> None:
    rows = table(kind, ["a", "b", "c", "d"])
    book = openpyxl.Workbook()
    book.active.append(["about"])
    sheet = book.create_sheet("votes")
    for line in [["A title"], [], list(rows[0]), *(list(row.values()) for row in rows)]:
        sheet.append(line)
    book.save(tmp_path / "t.xlsx")
    after = openpyxl.load_workbook(back(tmp_path / "t.xlsx", rows))
    assert after.sheetnames == book.sheetnames
    width = len(rows[0])
    for name in book.sheetnames:
        for row in book[name].iter_rows():
            for cell in row:
                assert after[name].cell(cell.row, cell.column).value == cell.value
    added = list(after["votes"].iter_rows(4, 3 + len(rows), width + 1, width + 2, values_only=True))
    assert added == expected(rows, results_for(rows))


def test_titles_missing_headers_and_rows_of_nothing_stay(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("Survey\nid,width,candidates\na,1.5,x|y\n\nb,2.5,y\n,,\n", newline="")
    done = Results(["a", "b"], {"identified_label": ["x", "y"], "confidence": ["1", "0.5"], "reviewer": ["", "Ada"]})
    formats.give_back(tmp_path / "t.csv", tmp_path / "out.csv", done)
    assert (tmp_path / "out.csv").read_text() == (
        "Survey\nid,width,candidates,label,confidence,reviewed by\na,1.5,x|y,x,1.0,\n\nb,2.5,y,y,0.5,Ada\n,,,,,\n"
    )
    (tmp_path / "u.csv").write_text("5.1,3.5,p\n4.9,3.0,q\n")
    done = Results(["0", "1"], {"identified_label": ["p", "q"]})
    formats.give_back(tmp_path / "u.csv", tmp_path / "out.csv", done)
    assert (tmp_path / "out.csv").read_text() == "5.1,3.5,p,p\n4.9,3.0,q,q\n"


SHAPES: dict[str, Callable[[list[Row]], Any]] = {
    "keyed": lambda rows: {row["id"]: {name: value for name, value in row.items() if name != "id"} for row in rows},
    "inside": lambda rows: {"version": 2, "rows": rows, "about": {"by": "us"}},
    "columns": lambda rows: {name: [row[name] for row in rows] for name in rows[0]},
    "indexed columns": lambda rows: {name: {str(k): row[name] for k, row in enumerate(rows)} for name in rows[0]},
    "list": lambda rows: rows,
}


@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_of_json_is_read_alike_and_keeps_its_shape(tmp_path: Path, shape: str, indent: int | None) -> None:
    rows = table("example", ["a", "b", "c", "d", "e", "f"])
    path = tmp_path / "t.json"
    path.write_text(json.dumps(SHAPES[shape](rows), indent=indent))
    assert json_objects.shape_of(path) == shape
    data = formats.read(path, columns={"note": "keep"})
    ids = [row["id"] for row in rows]
    if shape != "indexed columns":  # whose keys number the rows, and whose ids are a column
        assert data.row_ids.tolist() == ids
    assert [data.sets().names(k) for k in range(6)] == [row["candidates"].split("|") for row in rows]
    done = Results(data.row_ids.tolist(), {"identified_label": ["x"] * 6, "confidence": ["0.5"] * 6})
    formats.give_back(path, tmp_path / "out.json", done)
    added = [row | {"label": "x", "confidence": 0.5} for row in rows]
    assert json.loads((tmp_path / "out.json").read_text()) == SHAPES[shape](added)


def test_an_object_of_objects_in_a_field_keeps_what_is_around_it(tmp_path: Path) -> None:
    videos = {f"v{k}": {"text": f"what is seen in {k}", "said": {"a": "xy"[k % 2], "b": "x"}} for k in range(12)}
    path = tmp_path / "t.json"
    path.write_text(json.dumps({"queue": "eu", "videos": videos, "ended": None}, indent=1))
    data = formats.read(path)
    assert data.row_ids.tolist() == [*videos] and data.annotations is not None and data.annotations.n_answers == 24
    done = Results([*videos], {"identified_label": ["x"] * 12})
    formats.give_back(path, tmp_path / "out.json", done)
    labelled = {name: video | {"label": "x"} for name, video in videos.items()}
    assert json.loads((tmp_path / "out.json").read_text()) == {"queue": "eu", "videos": labelled, "ended": None}


def test_bare_lists_are_sets_and_have_no_place_for_labels(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    for text, ids in (("[[3, 7], [], [7]]", ["0", "1", "2"]), ('{"a": [3, 7], "b": [], "c": [7]}', ["a", "b", "c"])):
        path.write_text(text)
        data = formats.read(path)
        assert data.row_ids.tolist() == ids
        assert data.sets().names(0) == ["3", "7"]
        assert data.unanswered is None or data.unanswered.tolist() == [False, True, False]
        assert formats.FORMATS["jsonl"].no_place(path, formats.ReadOptions())


def test_a_record_with_objects_in_it_is_no_object_of_records(tmp_path: Path) -> None:
    record = {"about": {"text": "a"}, "answer": {"text": "b"}}
    (tmp_path / "t.jsonl").write_text(f"{json.dumps(record)}\n{json.dumps(record)}\n")
    assert json_objects.shape_of(tmp_path / "t.jsonl") == "lines"
    (tmp_path / "t.jsonl").write_text(json.dumps({"id": 1, "votes": [{"by": "a"}, {"by": "b"}]}))
    assert json_objects.shape_of(tmp_path / "t.jsonl") == "lines"


@pytest.mark.parametrize(
    "text",
    [
        "id,width,candidates\na,1.5,x|y\nb,2.5,y\nc,0.5,x\n",
        "id,width,annotator_1,annotator_2\na,1.5,x,y\nb,2.5,y,y\nc,0.5,x,y\n",
        "task,worker,label\na,p,x\na,q,y\nb,p,x\nb,q,x\nc,q,y\n",
    ],
)
def test_a_labelled_file_is_read_as_before(tmp_path: Path, text: str) -> None:
    """What Candid added is neither truth nor learnt from when the file comes in again."""
    (tmp_path / "t.csv").write_text(text)
    columns = {"identified_label": ["x", "y", "x"], "confidence": ["1", "0.5", "0.5"], "reviewer": ["Ada", "", ""]}
    formats.give_back(tmp_path / "t.csv", tmp_path / "out.csv", Results(["a", "b", "c"], columns))
    before, after = formats.read(tmp_path / "t.csv"), formats.read(tmp_path / "out.csv")
    assert after.y is None
    assert after.fingerprint == before.fingerprint


def test_a_label_with_a_confidence_of_ones_own_is_a_label(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("id,width,label,confidence\na,1.5,x,0.5\nb,2.5,y,1\nc,0.5,x,0.75\n")
    data = formats.read(tmp_path / "t.csv")
    assert data.class_names == ("x", "y")


def test_a_row_a_person_has_no_place_for_labels_of_examples(tmp_path: Path) -> None:
    items = [f"item_{k}" for k in range(24)]
    rows = [
        ",".join([who, *("xyz"[(k + (at == 2 and k % 4 == 0)) % 3] for k in range(24))])
        for at, who in enumerate(("ann", "ben", "cem"))
    ]
    (tmp_path / "t.csv").write_text("\n".join([",".join(["person", *items]), *rows]) + "\n")
    roles = {"person": "person"} | dict.fromkeys(items, "item")
    options = formats.ReadOptions(columns=roles)
    assert formats.read(tmp_path / "t.csv", options=options).row_ids.tolist() == items
    assert "row a person" in formats.FORMATS["csv"].no_place(tmp_path / "t.csv", options)
    assert not formats.FORMATS["csv"].no_place(tmp_path / "t.csv", formats.ReadOptions(columns={"person": "id"}))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252", "xlsx"])
def test_a_header_that_stands_again_below_is_no_example(tmp_path: Path, encoding: str) -> None:
    """As where files were put one below the other; each of them gets the names of what is added."""
    header, rows = ["über", "text", "label"], [[f"{k}.5", f"what is said {k}", "xyz"[k % 3]] for k in range(30)]
    lines = [header, *rows[:10], header, *rows[10:20], header, header, *rows[20:], header]
    path = tmp_path / ("t.xlsx" if encoding == "xlsx" else "t.csv")
    if encoding == "xlsx":
        book = openpyxl.Workbook()
        for row in lines:
            book.active.append(row)
        book.save(path)
    else:
        path.write_bytes("".join(",".join(line) + "\r\n" for line in [["Votes"], *lines]).encode(encoding))
    data = formats.read(path)
    assert len(data) == 30 and set(data.class_names) == {*"xyz"} and data.feature_names == ("über",)
    assert sum("header stands again" in note for note in data.notes) == 1
    done = Results(
        data.row_ids.tolist(), {"identified_label": [f"is {k}" for k in range(30)], "confidence": [0.5] * 30}
    )
    out = path.with_stem("out")
    formats.give_back(path, out, done)
    assert len(formats.read(out, columns={"label": "true_label"})) == 30
    if encoding == "xlsx":
        written = [row[3] for row in openpyxl.load_workbook(out).active.iter_rows(values_only=True)]
    else:
        written = [line.split(",")[3] for line in out.read_text(encoding).splitlines()[1:]]
    assert [cell for cell in written if cell != written[0]] == [f"is {k}" for k in range(30)]
    assert [at for at, cell in enumerate(written) if cell == written[0]] == [0, 11, 22, 23, 34]


def test_the_row_of_an_error_counts_a_header_that_stands_again(tmp_path: Path) -> None:
    lines = ["width,label", "1.5,x", "width,label", "2.5,y", "odd,x", *(f"{k}.5,y" for k in range(20))]
    (tmp_path / "t.csv").write_text("\n".join(lines))
    with pytest.raises(UserError, match="Row 5, column 'width'"):
        formats.read(tmp_path / "t.csv")


@pytest.mark.parametrize(
    ("mark", "width", "part", "confidence"),
    [
        (";", "{},5", "v1", "0,75"),
        (";", "{},5", "1.2", "0,75"),  # one number with a point is no reason to write another kind
        ("\t", "{},5", "v1", "0,75"),
        (",", '"{},5"', "v1", '"0,75"'),
        (",", "{}.5", "v1", "0.75"),
        (";", "{}.5", "v1", "0.75"),
        (";", "wide {}", "v1", "0,75"),
    ],
)
def test_a_confidence_has_the_decimal_mark_of_the_file(
    mark: str, width: str, part: str, confidence: str, tmp_path: Path
) -> None:
    rows = [["id", "width", "part", "candidates"]]
    rows += [[f"a{k}", width.format(k), part, "cat|dog" if k % 2 else "cat"] for k in range(8)]
    (tmp_path / "t.csv").write_text("".join(f"{mark.join(row)}\n" for row in rows))
    names = [f"a{k}" for k in range(8)]
    done = Results(names, {"identified_label": ["cat"] * 8, "confidence": ["0.75"] * 8})
    formats.give_back(tmp_path / "t.csv", tmp_path / "out.csv", done)
    top, *below = (tmp_path / "out.csv").read_text().splitlines()
    assert top.endswith(f"{mark}confidence")
    assert all(line.endswith(f"{mark}cat{mark}{confidence}") for line in below)


def test_lists_with_commas_are_no_decimal_commas(tmp_path: Path) -> None:
    rows = "".join(f'a{k},{k}.5,"{k % 3},{3 + k % 2}"\n' for k in range(8))
    (tmp_path / "t.csv").write_text(f"id,width,candidates\n{rows}")
    names = [f"a{k}" for k in range(8)]
    done = Results(names, {"identified_label": ["3"] * 8, "confidence": ["0.75"] * 8})
    formats.give_back(tmp_path / "t.csv", tmp_path / "out.csv", done)
    assert all(line.endswith(",3,0.75") for line in (tmp_path / "out.csv").read_text().splitlines()[1:])

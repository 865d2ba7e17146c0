"""One table, however it is written, reads as the same sets: six tables, and every way to write them."""

from __future__ import annotations

import codecs
import csv
import io
import json
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pll import formats
from pll.errors import UserError

from .sameness import essence

Row = dict[str, Any]

SCRIPTS = {
    "Latin": ("Größe", "Müll", "schön", "Ein Müller aß\nein süßes Brötchen, zu spät"),
    "Cyrillic": ("кошка", "собака", "Лиса", "Первая строка\nи вторая, тоже длинная"),
    "Japanese": ("ねこ", "犬", "キツネ", "これはとても良い映画でした\nもう一度見たいです"),
    "mixed": ("Größe", "собака", "キツネ", "Erste Zeile\nвторая строка, 三行目"),
}
"""Three classes, and a text of two lines."""


@dataclass
class Table:
    """Rows to write, and what reading must give."""

    rows: list[Row]
    expected: dict[str, Any] = field(default_factory=dict)


def votes_by_column(a: str, b: str, c: str, text: str) -> Table:
    table = Table([])
    for k in range(12):
        answers = [[a, a, b], [b, b, b], [c, None, c], [a, c, None]][k % 4]
        row: Row = {"id": f"{k:03d}", "width": None if k == 5 else k + 0.5}
        table.rows.append(row | {f"annotator_{who}": answer for who, answer in enumerate(answers, start=1)})
        annotations = [(f"annotator_{who}", answer) for who, answer in enumerate(answers, start=1) if answer]
        table.expected[row["id"]] = _example({x for _, x in annotations}, None, row, votes=sorted(annotations))
    return table


def long_votes(a: str, b: str, c: str, text: str) -> Table:
    table = Table([])
    for k in range(8):
        answers = {who: [a, b, c][(k + (k % 3 == at)) % 3] for at, who in enumerate(("Ann", "Bob", "Cem"))}
        task = f"{k:03d}"
        table.rows += [{"task": task, "annotator": who, "label": x} for who, x in answers.items()]
        table.expected[task] = _example(set(answers.values()), None, {}, votes=sorted(answers.items()))
    return table


def candidate_lists(a: str, b: str, c: str, text: str) -> Table:
    table = Table([])
    for k in range(12):
        names = [[a, b], [b], [c, a], [a, b, c]][k % 4]
        row: Row = {"id": f"{k:03d}", "width": k + 0.5, "height": None if k == 3 else 2.25 * k}
        truth = None if k == 7 else names[0]
        table.rows.append(row | {"candidates": names, "true_label": truth})
        table.expected[row["id"]] = _example(set(names), truth, row)
    return table


def class_matrix(a: str, b: str, c: str, text: str) -> Table:
    table = Table([])
    for k in range(12):
        names = [[a, b], [b], [c, a], [a, b, c]][k % 4]
        row: Row = {"id": f"{k:03d}", "width": k + 0.5}
        marks = {f"candidate_{name}": int(name in names) for name in (a, b, c)}
        table.rows.append(row | marks | {"true_label": names[-1]})
        table.expected[row["id"]] = _example(set(names), names[-1], row)
    return table


def counts(a: str, b: str, c: str, text: str) -> Table:
    table = Table([])
    for k in range(12):
        votes = [{a: 2, b: 1}, {b: 3}, {c: 1, a: 2}, {a: 1, b: 1, c: 1}][k % 4]
        row: Row = {"id": f"{k:03d}", "width": k + 0.5}
        table.rows.append(row | {"candidates": votes, "true_label": next(iter(votes))})
        said = sorted(("", name) for name, times in votes.items() for _ in range(times))
        table.expected[row["id"]] = _example(set(votes), next(iter(votes)), row, votes=said)
    return table


def texts(a: str, b: str, c: str, text: str) -> Table:
    table = Table([])
    for k in range(12):
        names = [[a, b], [b], [c, a]][k % 3]
        row: Row = {"id": f"{k:03d}", "text": f"{text} {k}"}
        table.rows.append(row | {"candidates": names, "true_label": names[0]})
        table.expected[row["id"]] = _example(set(names), names[0], row)
    return table


def _example(names: set[str], truth: str | None, row: Row, **more: Any) -> dict[str, Any]:
    numbers = {name: value for name, value in row.items() if name in ("width", "height")}
    fields = {"candidates": sorted(names), "truth": truth, "features": numbers, "words": {}, "text": row.get("text")}
    return fields | more


TABLES: tuple[Callable[..., Table], ...] = (votes_by_column, long_votes, candidate_lists, class_matrix, counts, texts)

# ---- ways to write a table -------------------------------------------------------------------------------------------

Way = Callable[[Table, Path], Path]


def _cell(value: Any) -> str:
    if isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False)
    return "|".join(value) if isinstance(value, list) else "" if value is None else str(value)


def _records(table: Table) -> list[list[str]]:
    return [list(table.rows[0]), *([_cell(value) for value in row.values()] for row in table.rows)]


def in_csv(
    delimiter: str = ",", encoding: str = "utf-8", marks: int = 0, above: int = 0, below: int = 0, comma: bool = False
) -> Way:
    def write(table: Table, folder: Path) -> Path:
        file = io.StringIO(newline="")
        writer = csv.writer(file, delimiter=delimiter, lineterminator="\r\n")
        records = _records(table)
        if comma:
            numbers = [at for at, name in enumerate(records[0]) if name in ("width", "height")]
            records[1:] = [[x.replace(".", ",") if at in numbers else x for at, x in enumerate(r)] for r in records[1:]]
        width = len(records[0])
        writer.writerows([["Survey of 2024", *[""] * (width - 1)]] * above + records + [[""] * width] * below)
        path = folder / ("x.tsv" if delimiter == "\t" else "x.csv")
        path.write_bytes(codecs.BOM_UTF8 * marks + file.getvalue().encode(encoding))
        return path

    return write


def in_excel(above: int = 0, below: int = 0) -> Way:
    def write(table: Table, folder: Path) -> Path:
        book = openpyxl.Workbook()
        for _ in range(above):
            book.active.append(["Survey of 2024"])
        book.active.append(list(table.rows[0]))
        for row in table.rows:
            plain = (int, float)
            book.active.append([x if x is None or isinstance(x, plain) else _cell(x) for x in row.values()])
        for _ in range(below):
            book.active.append(["" for _ in table.rows[0]])
        book.save(folder / "x.xlsx")
        return folder / "x.xlsx"

    return write


def in_parquet(kind: str) -> Way:
    def write(table: Table, folder: Path) -> Path:
        columns: dict[str, pa.Array] = {}
        for name in table.rows[0]:
            values = [row[name] for row in table.rows]
            first = next(value for value in values if value is not None)
            if isinstance(first, int | float):
                columns[name] = pa.array(values)
            elif isinstance(first, dict) and kind == "maps":
                pairs = [list(value.items()) for value in values]
                columns[name] = pa.array(pairs, pa.map_(pa.string(), pa.int64()))
            elif isinstance(first, dict) and kind == "structs":
                columns[name] = pa.array(values)  # absent keys are null
            elif isinstance(first, list) and kind == "lists":
                columns[name] = pa.array(values, pa.list_(pa.string()))
            else:
                text = pa.array([None if value is None else _cell(value) for value in values], pa.string())
                columns[name] = text.dictionary_encode() if kind == "categories" else text
        pq.write_table(pa.table(columns), folder / "x.parquet")
        return folder / "x.parquet"

    return write


def in_json(shuffled: bool = False, as_list: bool = False, marks: int = 0, drop: bool = False) -> Way:
    def write(table: Table, folder: Path) -> Path:
        rows, at = [dict(row) for row in table.rows], random.Random(0)
        if shuffled:
            rows = [dict(at.sample(list(row.items()), len(row))) for row in rows]
        if drop:
            rows = [{name: value for name, value in row.items() if value is not None} for row in rows]
        lines = [json.dumps(row, ensure_ascii=shuffled) for row in rows]
        text = "[" + ",\n".join(lines) + "]" if as_list else "\n".join(lines) + "\n"
        path = folder / ("x.json" if as_list else "x.jsonl")
        path.write_bytes(codecs.BOM_UTF8 * marks + text.encode())
        return path

    return write


def shuffled(way: Way, *, rows: bool = False, columns: bool = False) -> Way:
    def write(table: Table, folder: Path) -> Path:
        at = random.Random(1)
        order = at.sample(list(table.rows[0]), len(table.rows[0])) if columns else list(table.rows[0])
        some = at.sample(table.rows, len(table.rows)) if rows else table.rows
        return way(Table([{name: row[name] for name in order} for row in some]), folder)

    return write


ENCODINGS = {
    **{f"UTF-8, {n} marks": ("mixed", {"marks": n}) for n in range(3)},
    "UTF-16": ("mixed", {"encoding": "utf-16"}),
    "Windows-1252": ("Latin", {"encoding": "cp1252"}),
    "Windows-1251": ("Cyrillic", {"encoding": "cp1251"}),
    "Shift-JIS": ("Japanese", {"encoding": "cp932"}),
}


def ways() -> Iterator[tuple[str, str, Way]]:
    """Yield the name of a way, the script it can hold, and the way."""
    for mark, called in {",": "comma", ";": "semicolon", "\t": "tab"}.items():
        for encoding, (script, text) in ENCODINGS.items():
            yield f"CSV, {called}, {encoding}", script, in_csv(mark, **text)
    yield "CSV, semicolon, decimal comma", "mixed", in_csv(";", comma=True)
    yield "Excel", "mixed", in_excel()
    for kind in ("strings", "categories", "lists", "structs", "maps"):
        yield f"Parquet, {kind}", "mixed", in_parquet(kind)
    yield "JSON lines", "mixed", in_json()
    yield "JSON lines, keys in any order", "mixed", in_json(shuffled=True)
    yield "JSON lines, keys left out", "mixed", in_json(drop=True)
    yield "JSON lines, two marks", "mixed", in_json(marks=2)
    yield "JSON, one list", "mixed", in_json(as_list=True)
    whole = {"CSV": in_csv(), "Excel": in_excel(), "Parquet": in_parquet("strings"), "JSON lines": in_json()}
    for name, way in whole.items():
        yield f"{name}, columns in another order", "mixed", shuffled(way, columns=True)
        yield f"{name}, rows in another order", "mixed", shuffled(way, rows=True)
    for name, add in {"CSV": in_csv, "Excel": in_excel}.items():
        yield f"{name}, a title row", "mixed", add(above=1)
        yield f"{name}, an empty row at the end", "mixed", add(below=1)


WAYS = list(ways())


def outcome(make: Callable[..., Table], script: str, way: Way, folder: Path) -> str:
    """Return "" where a table reads as it was meant, else what is said instead; AssertionError where it is misread."""
    table = make(*SCRIPTS[script])
    try:
        data = formats.read(way(table, folder))
    except UserError as error:
        return str(error)
    assert essence(data) == table.expected
    return ""


@pytest.mark.parametrize(("name", "script", "way"), WAYS, ids=[name for name, _, _ in WAYS])
def test_one_table_however_it_is_written_reads_as_the_same_sets(
    tmp_path: Path, name: str, script: str, way: Way
) -> None:
    for make in TABLES:
        result = outcome(make, script, way, tmp_path)
        assert not result, f"{make.__name__}: {result}"


def _written(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize("share", ["-1", "NaN", "Infinity", '"two"', "true", "[1]"])
def test_what_is_no_share_is_refused_with_its_row(tmp_path: Path, share: str) -> None:
    rows = ['{"cat": 2, "dog": 1}'] * 20 + [f'{{"cat": 2, "dog": {share}}}']
    file = io.StringIO(newline="")
    csv.writer(file).writerows([["id", "candidates"], *([f"a{k}", cell] for k, cell in enumerate(rows))])
    with pytest.raises(UserError, match=r"Row 22.*how often or how likely"):
        formats.read(_written(tmp_path, "x.csv", file.getvalue()))


@pytest.mark.parametrize("line", ['{"id": "a", "candidates": "x", "id": "b"}', '{"candidates": {"x": 1, "x": 2}}'])
def test_a_key_that_stands_twice_is_refused(tmp_path: Path, line: str) -> None:
    with pytest.raises(UserError, match=r"Row 2.*twice"):
        formats.read(_written(tmp_path, "x.jsonl", f'{{"id": "c", "candidates": "x"}}\n{line}\n'))

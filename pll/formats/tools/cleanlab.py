"""cleanlab's multi-annotator table: the index is the example, a column an annotator, cells 0 … K−1 or empty.

Its long form (`task, annotator, label`) is read as any table is. Written with results, the columns of
`cleanlab.multiannotator` are added: how many annotated, the consensus label, the share that agrees with it, and
its quality (the confidence).
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from pll.dataset import PartialLabelDataset
from pll.errors import UserError
from pll.formats.base import ReadOptions
from pll.formats.forms import USUAL, plain_name
from pll.formats.names import CONSENSUS_COLUMNS, NUMBERED, check_header, marked
from pll.formats.reading import LINES, question
from pll.formats.records import Records
from pll.formats.results import OUR_NAME, Results
from pll.formats.roles import roles_of
from pll.formats.tabular.cells import Cells, is_number
from pll.formats.tabular.csv import Csv, text_of_file, write_table
from pll.formats.tabular.writer import TextColumn, answers_of, check_columns

MAX_CLASSES = 10_000
"""A larger number is read as a name, not as one of 0 … K−1."""


class Cleanlab(Csv):
    """Tables of cleanlab's labels of several annotators."""

    def sniff(self, path: Path, head: bytes) -> bool:
        if not super().sniff(path, head):
            return False
        try:
            text = text_of_file(path, self.delimiters)
            header = [name.strip() for name in text.header.names]
            if {*CONSENSUS_COLUMNS[:2]} <= set(header):  # what cleanlab adds
                return True
            if header[0]:
                return False
            # An index without a name, as pandas writes it, with annotators beside it.
            named = {name: cells for name, cells in zip(header[1:], text.sample()[1:], strict=True) if name}
            people = [column for column in roles_of(list(named), list(named.values())) if column.role == "annotator"]
        except (UserError, UnicodeDecodeError):
            return False
        return len(people) == len(header) - 1

    def read(self, path: Path, options: ReadOptions) -> PartialLabelDataset:
        data = super().read(path, options)
        if options.class_names or not data.class_names or not all(name.isdecimal() for name in data.class_names):
            return data
        largest = max(data.class_names, key=lambda name: (len(name), name))
        if len(largest) > 9 or int(largest) >= MAX_CLASSES:
            return data
        every = tuple(str(k) for k in range(int(largest) + 1))
        if every == data.class_names:
            return data
        return super().read(path, replace(options, class_names=every))  # 0 … K−1, also those never chosen

    def table(self, path: Path, options: ReadOptions) -> Records:
        table = super().table(path, options)
        columns = table.plan(options)
        asked = question(columns)
        may_be_people = asked is not None and "person" in asked.answers[0][1].values()
        if may_be_people or {column.role for column in columns} >= set(LINES):
            return table
        names = check_header(table.names)
        roles = {name: "annotator" for name, cells in zip(names, table.sample(), strict=True) if _are_classes(cells)}
        if names[0] not in roles or plain_name(names[0]) in (*USUAL["id"], *USUAL["task"]):
            roles[names[0]] = "id"
        results = [name for name in names if name.removesuffix(f" ({OUR_NAME})") in CONSENSUS_COLUMNS]
        return replace(table, roles=roles | dict.fromkeys(results, "ignore"))

    def write(self, dataset: PartialLabelDataset, path: Path, results: Results | None = None) -> None:
        columns = [TextColumn("", "id", dataset.row_ids.tolist()), *_people(dataset)]  # the index, as pandas writes it
        if results is not None:
            done = consensus(dataset, results).aligned(dataset.row_ids.tolist())
            columns += [TextColumn(name, "ignore", cells) for name, cells in done.items()]
        check_columns(columns)
        with path.open("wb") as file:
            write_table(file, ",", columns)

    def labels_of(self, source: Path, results: Results, options: ReadOptions) -> Results:
        return consensus(self.read(source, options), results)


def consensus(dataset: PartialLabelDataset, results: Results) -> Results:
    """Return results under cleanlab's names; the label is the number of the class, of a new one the next.

    Parameters
    ----------
    dataset
        The examples.
    results
        Their labels.
    """
    rows, number = [], {name: str(k) for k, name in enumerate([*dataset.class_names, *results.new_classes(dataset)])}
    for example, answers in zip(dataset.row_ids.tolist(), answers_of(dataset), strict=True):
        label = results.label(example)
        share = ""
        if label is not None and answers:
            share = repr(sum(label in labels for _, labels in answers) / len(answers))
        rows.append((str(len(answers)), number.get(label or "", ""), share, results.cell(example, "confidence")))
    columns = dict(zip(CONSENSUS_COLUMNS, zip(*rows, strict=True), strict=True))
    return Results(dataset.row_ids.tolist(), columns, results.model)


def _are_classes(cells: Cells) -> bool:
    """Whether these are class numbers: whole, not negative, some perhaps missing."""
    filled = [cell for cell in cells if cell and cell.strip()]
    return all(is_number(cell) and float(cell) >= 0 and float(cell).is_integer() for cell in filled)


def _people(dataset: PartialLabelDataset) -> list[TextColumn]:
    """Return one column per annotator with one class number per cell; several labels need several columns."""
    number = {name: str(k) for k, name in enumerate(dataset.class_names)}
    cells: dict[tuple[str, int], list[str]] = {}
    n = len(dataset)
    if dataset.annotations is not None:
        examples = answers_of(dataset)
        for who in dataset.annotations.annotator_names:
            cells[who, 0] = [""] * n
    else:
        sets = dataset.sets()
        examples = [[("annotator", sets.names(i))] for i in range(n)]
    for i, answers in enumerate(examples):
        for who, labels in answers:
            for k, label in enumerate(labels):
                cells.setdefault((who, k), [""] * n)[i] = number[label]
    plain = len(cells) > 1 and all(NUMBERED.fullmatch(who) for who, _ in cells)
    columns: list[TextColumn] = []
    for (who, k), column in cells.items():
        name = who if k == 0 else f"{who} ({k + 1})"
        columns.append(TextColumn(name if plain else marked("annotator", name), "annotator", column))
    return columns

"""Records of annotation tools: conversion of one example at a time to a dataset, and back.

Every tool keeps fields in a container of its own (`data`, `fields`, the line itself). What tools have no place for
(features, words, truth, split) stands there under names as in any table of ours (`feature:width`,
`category:colour`), so that a file of ours comes back whole.
"""

from __future__ import annotations

import json
from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from pll.candidates import sort_names
from pll.dataset import UNKNOWN, PartialLabelDataset
from pll.errors import Note, RowError, UserError
from pll.formats import json_objects
from pll.formats.base import Format, ReadOptions
from pll.formats.checks import listing, shorten
from pll.formats.json_objects import Record
from pll.formats.label_frame import RESERVED_COLUMNS
from pll.formats.limitations import class_names, is_union
from pll.formats.names import MARKS, bare_name, marked, results_among, sample_rows, without_mark
from pll.formats.reading import Column, option
from pll.formats.records import Records, json_column, no_rows
from pll.formats.results import Results
from pll.formats.roles import roles_of
from pll.formats.tabular.builder import build
from pll.formats.tabular.cells import write_label
from pll.formats.tabular.writer import answers_of, feature_column_names, table_limitations

PAYLOAD = ("text", "image")
LABELS = ("id", "candidates", "true_label")
"""Reserved names in a tool's container of what says which example it is, and its labels."""


@dataclass
class Example:
    """One example of a tool's file.

    Parameters
    ----------
    row
        The number a message gives to it.
    key
        Identifies the example; the same key again is another annotation of it.
    fields
        The container, as it stands.
    candidates
        Its candidate set, where the tool states one.
    answers
        (annotator, labels) of each who answered.
    rejected
        Labels that somebody ruled out; they matter where nobody named one.
    truth
        Its true label, where the tool states one.
    """

    row: int
    key: str | None
    fields: Mapping[str, Any]
    candidates: Sequence[str] | None = None
    answers: list[tuple[str, list[str]]] = field(default_factory=list)
    rejected: Sequence[str] = ()
    truth: str | None = None

    def named(self) -> list[str]:
        """The labels that are stated, else those that people named."""
        return list(self.candidates or (label for _, labels in self.answers for label in labels))


# ---- dataset → examples ----------------------------------------------------------------------------------------------


def examples_of(dataset: PartialLabelDataset) -> Iterator[Example]:
    """Yield each example with its container, which `dataset_of` reads back.

    Its candidates are stated only where they have to be written (`has_own_sets`).
    """
    names, answers, stated = class_names(dataset), answers_of(dataset), has_own_sets(dataset)
    numbers = [
        name if name.startswith(MARKS["feature"]) else marked("feature", name) for name in feature_column_names(dataset)
    ]
    flat, columns = dataset.X.reshape(len(dataset), -1), dict[str, Sequence[Any]]()
    if dataset.texts is not None:
        columns["text"] = dataset.texts.tolist()
    if dataset.pictures is not None:
        columns["image"] = dataset.pictures.names.tolist()
    columns |= {marked("category", name): values.tolist() for name, values in dataset.categories.items()}
    if dataset.y is not None:
        columns["true_label"] = [None if label == UNKNOWN else names[label] for label in dataset.y.tolist()]
    if dataset.is_test is not None:
        columns["split"] = ["test" if test else "train" for test in dataset.is_test]
    extras = {name: values.tolist() for name, values in dataset.extras.items()}
    roles = _roles(extras | columns | {name: [] for name in numbers})
    for name, values in extras.items():
        is_kept = roles.get(name) == ("keep", False) and name not in (*columns, *RESERVED_COLUMNS)
        columns[name if is_kept and without_mark(name) == name else marked("keep", name)] = values
    for i, key in enumerate(dataset.row_ids.tolist()):
        fields = {name: values[i] for name, values in columns.items()}
        row = [None if np.isnan(x) else x for x in flat[i].astype(np.float64).tolist()]
        fields |= dict(zip(numbers, row, strict=True))
        yield Example(i, key, fields, dataset.sets().names(i) if stated else None, answers[i])


def has_own_sets(dataset: PartialLabelDataset) -> bool:
    """Whether the candidate sets have to be written: they are not the union of the annotators' labels."""
    if dataset.candidates is None or dataset.annotations is None:
        return dataset.candidates is not None
    named = set(dataset.annotations.labels.tolist())  # an example without annotations may have any of these
    return not is_union(dataset) or not set(dataset.candidates.indices.tolist()) <= named


def _text(value: Any) -> str | None:
    return value if value is None or isinstance(value, str) else str(value)


# ---- examples → dataset ----------------------------------------------------------------------------------------------


def dataset_of(examples: Iterable[Example], options: ReadOptions, notes: Iterable[str] = ()) -> PartialLabelDataset:
    """Return the dataset of some examples, by the same table as that of any other file; those of one key are one.

    Parameters
    ----------
    options
        Classes, what fields are, how answers are combined.
    notes
        For the user.

    Raises
    ------
    UserError
        Nothing at all, labels that are not among the classes; the row is named.
    """
    every = _merged(examples)
    if not every:
        raise no_rows()
    if any(example.rejected for example in every):  # of all labels those that nobody rejected are left
        used = dict.fromkeys(label for one in every for label in (*one.named(), *one.rejected))
        options = replace(options, class_names=options.class_names or sort_names(used))
        for one in every:
            if one.rejected and not one.named():
                one.candidates = [label for label in used if label not in one.rejected]
    rows = [example.row for example in every]
    names = dict.fromkeys(name for example in every for name in example.fields)
    fields = {name: [example.fields.get(name) for example in every] for name in names}
    columns = [*_field_columns(fields, options), *_said(every)]
    arrow = pa.table([json_column(values) for _, values in columns], names=[one.name for one, _ in columns])
    placed = [replace(one, at=at) for at, (one, _) in enumerate(columns)]
    table = Records.of(arrow, row_of=rows.__getitem__, columns=placed, may_be_empty=True)
    data = build(table, placed, options)
    named = any(one.role == "feature" for one in placed)
    is_table = bool(data.feature_names and named) or bool(np.isnan(data.X).any())
    return replace(
        data,
        name=options.name or "data",
        kind="table" if is_table else "array",
        feature_names=data.feature_names if named else (),
        notes=(*notes, *data.notes),
    )


def key_of(example: Example, at: int) -> str | int:
    """Return what tells an example of a file from others: its key, else what a person answered about, else its place.

    Examples
    --------
    >>> key_of(Example(1, "a", {}), 0), key_of(Example(1, None, {"text": "hi"}, answers=[("ann", ["x"])]), 0)
    ('a', 'hi')
    """
    about = next((example.fields[name] for name in PAYLOAD if example.fields.get(name)), None)
    unnamed = str(about) if example.answers and about else at
    return unnamed if example.key is None else example.key


def _merged(examples: Iterable[Example]) -> list[Example]:
    """Examples with one key as one, which has the answers of all."""
    by_key: dict[str | int, Example] = {}
    for at, example in enumerate(examples):
        first = by_key.setdefault(key_of(example, at), example)
        if first is not example:
            first.answers += example.answers
            first.candidates = [*(first.candidates or ()), *(example.candidates or ())] or None
            first.rejected = [*first.rejected, *example.rejected]
            first.truth = first.truth if example.truth is None else example.truth
    return list(by_key.values())


_Filled = tuple[Column, Sequence[Any]]
"""A column, and its values as JSON has them."""


def _said(examples: Sequence[Example]) -> Iterator[_Filled]:
    """Yield the columns of what is said of examples: their names, candidates, answers and true labels."""
    if any(example.key is not None for example in examples):
        yield Column(0, "id", "id", "id"), [example.key for example in examples]
    if any(example.candidates for example in examples):
        yield Column(0, "candidates", "candidates", "candidates"), [_cell(example.named()) for example in examples]
    answers = [[answer for answer in one.answers if answer[1]] for one in examples]
    if any(answers):
        yield Column(0, "answers", "answers", "answers"), [json.dumps([names for _, names in one]) for one in answers]
        yield Column(0, "people", "people", "people"), [json.dumps([who for who, _ in one]) for one in answers]
    truths = [_truth(example) for example in examples]
    if any(truth is not None for truth in truths) or any("true_label" in example.fields for example in examples):
        yield Column(0, "true_label", "true_label", "true_label"), [write_label(truth) for truth in truths]


def _cell(labels: Sequence[str]) -> str:
    """The cell of some labels, each once."""
    return json.dumps(list(dict.fromkeys(labels)), ensure_ascii=False) if labels else ""


def _truth(example: Example) -> str | None:
    stated = example.fields.get("true_label")
    return example.truth if stated is None else label_name(stated, example.row, "true_label")


def _roles(
    fields: Mapping[str, Sequence[Any]], explicit: Mapping[str, str] | None = None
) -> dict[str, tuple[str, bool]]:
    """Return the role of every field but those of `LABELS`, and whether it is guessed.

    A mark says what a field is (`feature:width`); else it is what there is to read or to see, or is carried along.
    Where there is nothing to see, numbers are learnt from.
    """
    others = [name for name in fields if name not in (*LABELS, *results_among(list(fields)))]
    own = {name: next((r for r in ("feature", "category") if name.startswith(MARKS[r])), "keep") for name in others}
    plain = [name for name in others if own[name] == "keep" and without_mark(name) == name]
    given = {name: role for name, role in (explicit or {}).items() if name in plain}
    sample = [list(map(_text, fields[name][: sample_rows(len(plain))])) for name in plain]
    payload = {one.name: (one.role, one.guessed) for one in roles_of(plain, sample, given) if one.role in PAYLOAD}
    own |= {"split": "split"} if "split" in own else {}
    lists = [one for one in fields.get("features", ()) if isinstance(one, list)]
    own |= {"features": "vector"} if "features" in own and any(map(_is_measured, lists)) else {}
    if not payload and not {"feature", "vector"} & {*own.values()}:
        own |= {name: "feature" for name in plain if name != "split" and _is_measured(fields[name])}
    return {name: (role, False) for name, role in own.items()} | payload


def _is_measured(values: Sequence[Any]) -> bool:
    """Whether all values that are not missing are numbers."""
    there = [value for value in values if value is not None]
    return bool(there) and all(isinstance(value, int | float) and not isinstance(value, bool) for value in there)


def _field_columns(fields: Mapping[str, Sequence[Any]], options: ReadOptions) -> Iterator[_Filled]:
    """Yield the columns of texts, pictures, features and what is carried along, of (n,) values as JSON has them."""
    roles = _roles(fields, options.columns)
    unknown = [name for name, role in options.columns.items() if name not in roles and role != "candidates"]
    if unknown:
        raise UserError(f"There is no field {shorten(unknown[0])}; there are {listing(list(roles))}.")
    for name, (role, guessed) in roles.items():
        chosen = options.columns.get(name, role)
        yield Column(0, name, chosen, bare_name(name, chosen), guessed and chosen == role), fields[name]


def label_name(value: Any, row: int, where: str) -> str:
    """Return a label as a name: text as it is, numbers and booleans as they are written.

    Raises
    ------
    UserError
        Anything else; the row is named.
    """
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return str(value)
    kind = "an object" if isinstance(value, dict) else "a list" if isinstance(value, list) else "nothing"
    raise RowError(f"Row {row}: a label in {where} is {kind}; it must be a name (spans and boxes are not read).")


def first_of(record: Record, names: Sequence[str]) -> str | None:
    """Return the first of some fields that has a value, as text."""
    return next((str(record[name]) for name in names if record.get(name) is not None), None)


def label_names(values: Any, row: int, where: str) -> list[str]:
    """Return labels as names without repetitions: of a list or a single one; none for null.

    Raises
    ------
    UserError
        Something that is no name; the row is named.
    """
    listed = values if isinstance(values, list) else [] if values is None else [values]
    return list(dict.fromkeys(label_name(value, row, where) for value in listed))


def choose_question(counts: Counter[str], options: ReadOptions, notes: list[str]) -> str | None:
    """Return the question whose answers are the labels: the user's choice, else the one most often answered.

    Parameters
    ----------
    counts
        By question, how often it was answered.

    Raises
    ------
    UserError
        Nobody answered the question that the user names.
    """
    explicit = next((name for name, role in options.columns.items() if role == "candidates"), None)
    if explicit is not None:
        if explicit not in counts:
            raise UserError(f"Nobody answered a question called {shorten(explicit)}; asked were {', '.join(counts)}.")
        return explicit
    if not counts:
        return None
    chosen, *others = [name for name, _ in counts.most_common()]
    if others:
        text = f"There are several questions: {listing([chosen, *others])}; read was {chosen}."
        notes.append(Note(text, kind="question", hint=f"another: {option(others[0], 'candidates')}"))
    return chosen


class RecordFormat(Format):
    """Base class of formats that are records, one an example or an answer; a subclass says what a record means."""

    content = "json"
    row_note = "Rows are counted as the lines of the file, from 1."
    is_list: ClassVar[bool] = False

    @abstractmethod
    def reader(self, path: Path, options: ReadOptions, notes: list[str]) -> Callable[[int, Record], Example]:
        """Return the function (row, record) → example for the records of a file; notes for the user go to `notes`."""

    @abstractmethod
    def records(self, dataset: PartialLabelDataset, results: Results | None) -> Iterator[Record]:
        """Yield the records of a dataset, as they are written."""

    @abstractmethod
    def labelled_records(self, source: Path, results: Results, options: ReadOptions) -> Iterator[tuple[str, Record]]:
        """Yield the records of a file with results added, each with the name of its example."""

    def read(self, path: Path, options: ReadOptions) -> PartialLabelDataset:
        notes: list[str] = []
        example_of = self.reader(path, options, notes)
        data = dataset_of((example_of(row, record) for row, record in json_objects.records(path)), options, notes)
        return replace(data, reading=asdict(options.reading((), data)) | {"source": self.label})

    def cannot_hold(self, dataset: PartialLabelDataset) -> list[str]:
        lost = table_limitations(dataset, {"types", "missing cells", "parts"})
        annotations = dataset.annotations
        if annotations is not None and len(set(annotations.annotators.tolist())) < annotations.n_annotators:
            lost.append("Annotators without an answer.")
        return lost

    def write(self, dataset: PartialLabelDataset, path: Path, results: Results | None = None) -> None:
        json_objects.write(path, self.records(dataset, results), as_list=self.is_list)

    def give_back(self, source: Path, path: Path, results: Results, options: ReadOptions) -> None:
        lines = self.labelled_records(source, results, options)
        json_objects.write(path, results.in_order(lines), as_list=json_objects.shape_of(source) != "lines")


class LineFormat(RecordFormat):
    """Base class of formats whose lines of one id are one example, by several people; written back, it is one line."""

    @abstractmethod
    def labelled(self, record: Record, dataset: PartialLabelDataset, i: int, results: Results) -> Record:
        """Return the record of example i with its identified label."""

    def cannot_give_back(self, source: Path, results: Results, options: ReadOptions) -> list[str]:
        further = sum(1 for _ in json_objects.records(source)) - len(self.read(source, options))
        if not further:
            return []
        return [f"{further:,} lines of further annotators: each example is written once, with all its candidates."]

    def labelled_records(self, source: Path, results: Results, options: ReadOptions) -> Iterator[tuple[str, Record]]:
        data, example_of = self.read(source, options), self.reader(source, options, [])
        first: dict[str | int, Record] = {}  # of several lines of an example the first
        for at, (row, record) in enumerate(json_objects.records(source)):
            first.setdefault(key_of(example_of(row, record), at), record)
        for i, (name, record) in enumerate(zip(data.row_ids.tolist(), first.values(), strict=True)):
            yield name, self.labelled(record, data, i, results)

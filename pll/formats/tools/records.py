"""Records of annotation tools: conversion of one example at a time to a dataset, and back.

Every tool keeps fields in a container of its own (`data`, `fields`, the line itself). What tools have no place for
(features, words, truth, split) stands there under names as in any table of ours (`feature:width`,
`category:colour`), so that a file of ours comes back whole.
"""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, TypeAlias

from pll.candidates import sort_names
from pll.dataset import PartialLabelDataset
from pll.errors import RowError, UserError
from pll.formats import json_objects
from pll.formats.base import ReadOptions
from pll.formats.forms import Form, form_called
from pll.formats.json_objects import ANSWERS, Record
from pll.formats.limitations import has_own_sets
from pll.formats.names import LABEL_COLUMNS, marked
from pll.formats.records import Records, cell_of, no_rows
from pll.formats.results import Results, Value
from pll.formats.tabular.builder import TableFormat
from pll.formats.tabular.cells import read_label, write_label
from pll.formats.tabular.writer import answers_of, headers, number_columns, own_columns, records_of
from pll.formats.unfold import Said, said_in, value_at

PAYLOAD = ("text", "image")
_SHOWN = (*PAYLOAD, "data", "filename")
LABELS = ("id", "candidates")
"""Reserved names in a tool's container of what says which example it is, and its labels."""


Answer: TypeAlias = tuple[str | None, Sequence[str]]
"""Who answered, None where nobody is named, and which labels."""


@dataclass(slots=True)
class Example:
    """One example of a tool's file.

    Parameters
    ----------
    row
        The number a message gives to it.
    key
        Identifies the example; the same key again is another annotation of it.
    fields
        What the tool shows or carries along.
    stated, offered
        Its candidate set, where the tool states one; the labels that people chose from.
    answers
        By question, (annotator, labels) of each who answered; nobody's labels are candidates.
    rejected
        (annotator, labels) that somebody ruled out.
    truth
        (question, true label), where the tool states one.
    """

    row: int
    key: str | None
    fields: dict[str, Any]
    stated: Sequence[str] = ()
    offered: Sequence[str] = ()
    answers: dict[str, list[Answer]] = field(default_factory=dict)
    rejected: Sequence[Answer] = ()
    truth: Sequence[tuple[str, str]] = ()

    def people(self, question: str) -> list[tuple[str, Sequence[str]]]:
        """Who answered a question, of those with a name, and what."""
        return [(who, labels) for who, labels in self.answers.get(question, ()) if who is not None and labels]

    def named(self) -> list[str]:
        """The labels that are stated, else those that were named, else those that were offered."""
        said = [label for some in self.answers.values() for _, labels in some for label in labels]
        return list(dict.fromkeys(self.stated or said or self.offered))


@dataclass
class Found:
    """What is found in all records of a file together.

    Attributes
    ----------
    names
        The name of each person who has a number too: some records have one here and the other there.
    others
        How often an answer was no label, by its type.
    """

    names: dict[str, str] = field(default_factory=dict)
    others: Counter[str] = field(default_factory=Counter)


# ---- dataset → examples ----------------------------------------------------------------------------------------------


def examples_of(dataset: PartialLabelDataset, form: Form | None = None) -> Iterator[Example]:
    """Yield each example with its container, which `example_of` reads back.

    Its candidates are stated only where they have to be written (`has_own_sets`).

    Parameters
    ----------
    dataset
        What is written.
    form
        The signature by which it is read back.
    """
    answers, stated = answers_of(dataset), has_own_sets(dataset)
    own = [replace(column, cells=[*map(cell_of, column.values)]) for column in own_columns(dataset)[1:]]
    numbers = number_columns(dataset)
    form = form or form_called("labelstudio")
    names = headers([*own, *numbers], () if form.flatten else _told_by_names(form), form)
    values = {
        name: [read_label(cell or "") for cell in column.cells] if column.role == "true_label" else column.values
        for name, column in zip(names, own, strict=False)
    }
    fields = records_of(values, names[len(own) :], dataset.X)
    for i, (key, own_fields) in enumerate(zip(dataset.row_ids.tolist(), fields, strict=True)):
        sets = dataset.sets().names(i) if stated else ()
        yield Example(i, key, own_fields, sets, answers={ANSWERS: [*answers[i]]})


# ---- records → a table -----------------------------------------------------------------------------------------------


def example_of(form: Form, row: int, record: Record, found: Found) -> Example:
    """Return the example of a record, as the form says.

    Parameters
    ----------
    form
        What the record is told by.
    row
        The number that a message gives to it.
    record
        As the tool wrote it.
    found
        What was found in all records; more is put there.

    Raises
    ------
    UserError
        Something that is no object, or a label that is no name; the row is named.
    """
    example = Example(row, key_in(record, form), _fields_in(record, form, row))
    for path in form.stated:
        example.stated = label_names(offers(value_at(record, path)), row, path)
    for path in form.offered:
        example.offered = label_names(offers(value_at(record, path)), row, path)
    for one in said_in(record, form.gather, found.names, row) if form.gather else ():
        if one.labels is None:
            found.others.update([str(one.result["type"])] if "type" in one.result else ())
            continue
        labels = label_names(one.labels, row, form.gather.label[0] if form.gather else "")
        example.answers.setdefault(one.question or ANSWERS, []).append((one.who, labels))
        if one.is_true and len(labels) == 1:
            example.truth = (*example.truth, (one.question, labels[0]))
    return example


def key_in(record: Record, form: Form) -> str | None:
    """Return what a record says to tell its example from others; None where it says nothing.

    Parameters
    ----------
    record
        As the tool wrote it.
    form
        What it is told by.
    """
    keys = (value_at(record, path) for path in form.id)
    return next((str(one) for one in keys if isinstance(one, str | int | float)), None)


def _told_by_names(form: Form) -> set[str]:
    """The fields of a record without containers that say which example it is, its labels, and whose they are."""
    return {*LABELS, *form.offered, *(form.gather.who + form.gather.label if form.gather else ())}


def _fields_in(record: Record, form: Form, row: int) -> dict[str, Any]:
    """The fields of a record that are shown or carried along: those in its containers, or its own."""
    if not form.flatten:
        used = _told_by_names(form)
        return {k: value for k, value in record.items() if k not in used and form.role_of(k) != "ignore"}
    fields: dict[str, Any] = {}
    for at, name in enumerate(form.flatten):
        inner = record.get(name.rstrip("."))
        if not isinstance(inner, dict) and (inner is not None or at == 0):
            raise RowError(f"Row {row}: {name.rstrip('.')} is no object {{…}}; export them again.")
        prefix = name * name.endswith(".")
        fields |= {prefix + key: value for key, value in (inner or {}).items() if key not in LABELS}
    return fields


def offers(values: Any) -> list[Any]:
    """Return labels as a tool lists them: each a name, or an object with one."""
    listed = values if isinstance(values, list) else [] if values is None else [values]
    of_objects = ("value", "id", "text")
    return [next((x[n] for n in of_objects if n in x), x) if isinstance(x, dict) else x for x in listed]


def _merged(examples: Iterable[Example]) -> list[Example]:
    """Examples with one key as one, which has the answers of all."""
    by_key: dict[str | int, Example] = {}
    for at, example in enumerate(examples):
        first = by_key.setdefault(key_of(example, at), example)
        if first is not example:
            for question, some in example.answers.items():
                first.answers.setdefault(question, []).extend(some)
            first.stated = (*first.stated, *example.stated)
            first.rejected = (*first.rejected, *example.rejected)
            first.truth = (*first.truth, *example.truth)
    return list(by_key.values())


def key_of(example: Example, at: int) -> str | int:
    """Return what tells an example of a file from others: its key, else what a person answered about, else its place.

    Parameters
    ----------
    example
        As it was read.
    at
        Its place in the file.

    Examples
    --------
    >>> key_of(Example(1, "a", {}), 0), key_of(Example(1, None, {"text": "hi"}, answers={"": [("ann", ["x"])]}), 0)
    ('a', 'hi')
    """
    about = next((example.fields[name] for name in _SHOWN if example.fields.get(name)), None)
    unnamed = str(about) if any(map(example.people, example.answers)) and about else at
    return unnamed if example.key is None else example.key


def table_of(examples: Iterable[Example], form: Form, found: Found) -> Records:
    """Return the table of some examples, a row each; those of one key are one.

    Beside the fields stand the ids, the candidates, the answers to each question as a list, the most answered first,
    with one of people, and the true labels.

    Parameters
    ----------
    examples
        As they stand in the file.
    form
        What its records are told by.
    found
        What was found in all of them.

    Raises
    ------
    UserError
        There is no example.
    """
    every = _merged(examples)
    if not every:
        raise no_rows()
    classes = _without_rejected(every)
    names = dict.fromkeys(name for one in every for name in one.fields)
    columns: dict[str, Sequence[Any]] = {}
    for name in names:  # `ID` would be another column of ids
        is_like = name.casefold() in LABEL_COLUMNS and name not in LABEL_COLUMNS
        columns[marked("keep", name) if is_like else name] = [one.fields.get(name) for one in every]
    roles: dict[str, str] = {}

    def add(name: str, role: str, cells: Sequence[Any]) -> None:
        while name in columns and name not in LABEL_COLUMNS:
            name += f" ({role})"
        columns[name], roles[name] = cells, role

    if any(one.key is not None for one in every):
        add("id", "id", [one.key for one in every])
    asked = _asked(every)
    nobody = any(not who and labels for one in every for some in one.answers.values() for who, labels in some)
    if len(asked) < 2 and (nobody or any(one.stated or one.offered for one in every)):
        add("candidates", "candidates", [one.named() for one in every])
    for question in asked:
        said = [one.people(question) for one in every]
        if any(said):
            people = {who for one in said for who, _ in one}
            objects = {who: {"annotator": found.names.get(who, who)} for who in people}
            if form.gather and people == {form.gather.nobody}:  # the file names none
                objects = {form.gather.nobody: {}}
            add(question, "answers", [[objects[who] | {"label": labels} for who, labels in one] for one in said])
    if "true_label" in columns:
        stated = zip(columns["true_label"], every, strict=True)
        truths = {"true_label": [None if x is None else label_name(x, one.row, "true_label") for x, one in stated]}
    else:
        called = {q: "true_label" if len(asked) == 1 else f"{q}.truth" for q in asked}
        truths = {called[q]: [dict(one.truth).get(q) for one in every] for q in asked}
    for name, truth in truths.items():
        if name in columns or any(label is not None for label in truth):
            add(name, "true_label", list(map(write_label, truth)))
    lines = [one.row for one in every]
    others = ", ".join(f"{count} of type {kind}" for kind, count in found.others.most_common(5))
    notes = (f"Answers that are no choices were left out: {others}.",) if others else ()
    return Records.of(
        columns,
        row_of=lines.__getitem__,
        signature=form.having(roles),
        may_be_empty=True,
        class_names=classes,
        notes=notes,
    )


def _asked(examples: Sequence[Example]) -> list[str]:
    """The questions, the most answered first; those whose answers recur alone, as labels do, where there are any."""
    words: dict[str, Counter[str]] = {}
    for one in examples:
        for question, some in one.answers.items():
            words.setdefault(question, Counter()).update(label for _, labels in some for label in labels)
    asked = sorted((question for question in words if words[question]), key=lambda q: -words[q].total())
    return [question for question in asked if 2 * len(words[question]) <= words[question].total()] or asked


NOT = "not "
"""Beginning of the class of what is not of the one label of a file that was accepted or rejected."""


def _without_rejected(examples: Sequence[Example]) -> tuple[str, ...]:
    """Take for candidates what nobody rejected, where nobody named a label; return all classes then, else none.

    Where all is about one label, a rejected one is not of it.
    """
    rejected = dict.fromkeys(label for one in examples for _, labels in one.rejected for label in labels)
    used = list(dict.fromkeys([label for one in examples for label in one.named()] + [*rejected]))
    for one in examples if rejected else ():
        if len(used) == 1:
            one.answers.setdefault(ANSWERS, []).extend((who, [NOT + used[0]]) for who, _ in one.rejected)
        elif one.rejected and not one.named():
            out = {label for _, labels in one.rejected for label in labels}
            one.stated = [label for label in used if label not in out]
    return sort_names(used) if len(used) > 1 and rejected else ()


def label_name(value: Any, row: int, where: str) -> str:
    """Return a label as a name: text as it is, numbers and booleans as they are written.

    Parameters
    ----------
    value
        As the tool wrote it.
    row
        The number that a message gives to its record.
    where
        What a message calls its field.

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


def label_names(values: Sequence[Any], row: int, where: str) -> tuple[str, ...]:
    """Return labels as names, each once.

    Parameters
    ----------
    values
        As the tool wrote them.
    row, where
        As for `label_name`.

    Raises
    ------
    UserError
        Something that is no name; the row is named.
    """
    return tuple(dict.fromkeys(label_name(value, row, where) for value in values)) if values else ()


class RecordFormat(TableFormat):
    """Base class of formats that are records, one an example or an answer: a form of `forms.toml`, and its writer."""

    is_list: ClassVar[bool] = False

    @property
    def form(self) -> Form:
        """What its records are told by, and where what stands in them."""
        return form_called(self.name)

    @abstractmethod
    def records(self, dataset: PartialLabelDataset, results: Results | None) -> Iterator[Record]:
        """Yield the records of a dataset, as they are written.

        Parameters
        ----------
        dataset
            What is written.
        results
            Identified labels to write with it.
        """

    @abstractmethod
    def labelled_records(self, source: Path, results: Results, options: ReadOptions) -> Iterator[tuple[str, Record]]:
        """Yield the records of a file with results added, each with the name of its example.

        Parameters
        ----------
        source
            The file that came in.
        results
            What is added.
        options
            What it was read with.
        """

    def sniff(self, path: Path, head: bytes) -> bool:
        first = json_objects.first_record(path, head)
        return first is not None and self.form.tells(first)

    def example(self, row: int, record: Record, found: Found) -> Example:
        """Return the example of a record.

        Parameters
        ----------
        row
            The number that a message gives to the record.
        record
            As the tool wrote it.
        found
            What was found in all records; more is put there.

        Raises
        ------
        UserError
            It is not as the tool writes it; the row is named.
        """
        return example_of(self.form, row, record, found)

    def table(self, path: Path, options: ReadOptions) -> Records:
        return self.table_of_all({"": path})

    def table_of_all(self, files: Mapping[str, Path]) -> Records:
        """Return the table of several files, by their names, that are parts of one export.

        Raises
        ------
        UserError
            See `read`; or one id stands for different things in two files.
        """
        found, shown = Found(), dict[str, tuple[str, object]]()

        def examples() -> Iterator[Example]:
            for name, file in files.items():
                try:
                    for one in json_objects.records(file):
                        example = self.example(*one, found)
                        about = next((example.fields[key] for key in _SHOWN if example.fields.get(key)), None)
                        other, before = shown.setdefault(example.key or "", (name, about))
                        if example.key and before != about:
                            raise RowError(f"Row {example.row}: {example.key} is another example in {other}. Are these "
                                           "files of several projects? Bring those of one at a time.")  # fmt: skip
                        yield example
                except UserError as error:
                    raise (error.within(name) if name else error) from None

        table = table_of(examples(), self.form, found)
        about = (f"{len(files):,} files were read as one export of {self.tool}.",) if len(files) > 1 else ()
        return replace(table, notes=(*about, *table.notes))

    def question(self, source: Path, options: ReadOptions) -> str:
        """Return the question whose answers are the labels: of people, else of models; "" where nobody answered.

        Parameters
        ----------
        source
            The file.
        options
            What it was read with.
        """
        asked = (column.name for column in self.columns(source, options) if column.role == "answers")
        return next(asked, "") or next((one.question for _, one in models_answers(source, self.form)), "")

    def no_place(self, source: Path, options: ReadOptions) -> str:
        return ""

    def write(self, dataset: PartialLabelDataset, path: Path, results: Results | None = None) -> None:
        as_list = self.is_list and path.suffix.lower() != ".jsonl"
        json_objects.write(path, self.records(dataset, results), as_list=as_list)

    def add(self, source: Path, path: Path, added: Mapping[str, Sequence[Value]], options: ReadOptions) -> None:
        raise NotImplementedError  # `give_back` writes the tool's own fields

    def give_back(self, source: Path, path: Path, results: Results, options: ReadOptions) -> None:
        lines = self.labelled_records(source, results, options)
        json_objects.write(path, results.in_order(lines), as_list=json_objects.shape_of(source) != "lines")

    def named_records(self, source: Path) -> Iterator[tuple[str, Record]]:
        """Yield the records of a file, each with the name of its example: its place where it says none."""
        for at, (_, record) in enumerate(json_objects.records(source)):
            yield key_in(record, self.form) or str(at), record


class LineFormat(RecordFormat):
    """Base class of formats whose lines of one id are one example, by several people; written back, it is one line."""

    @abstractmethod
    def labelled(self, record: Record, dataset: PartialLabelDataset, i: int, results: Results) -> Record:
        """Return the record of example i with its identified label.

        Parameters
        ----------
        record
            As the tool wrote it.
        dataset
            All examples.
        i
            Which of them it is.
        results
            Their labels.
        """

    def cannot_give_back(self, source: Path, results: Results, options: ReadOptions) -> list[str]:
        further = sum(1 for _ in json_objects.records(source)) - len(self.read(source, options))
        if not further:
            return []
        return [f"{further:,} lines of further annotators: each example is written once, with all its candidates."]

    def labelled_records(self, source: Path, results: Results, options: ReadOptions) -> Iterator[tuple[str, Record]]:
        data, found = self.read(source, options), Found()
        first: dict[str | int, Record] = {}  # of several lines of an example the first
        for at, (row, record) in enumerate(json_objects.records(source)):
            first.setdefault(key_of(self.example(row, record, found), at), record)
        for i, (name, record) in enumerate(zip(data.row_ids.tolist(), first.values(), strict=True)):
            yield name, self.labelled(record, data, i, results)


def models_answers(path: Path, form: Form) -> Iterator[tuple[str, Said]]:
    """Yield the example and the answer of each answer of a model in a file of records, but for those of Candid.

    Parameters
    ----------
    path
        The file.
    form
        What its records are told by.

    Raises
    ------
    UserError
        Records that are not as their tool writes them; the row is named.
    """
    for at, (row, record) in enumerate(json_objects.records(path)):
        for one in said_in(record, form.models, {}, row) if form.models else ():
            if one.labels:
                yield key_in(record, form) or str(at), one

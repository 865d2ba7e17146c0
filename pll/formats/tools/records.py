"""Records of annotation tools: conversion of one example at a time to a dataset, and back.

Every tool keeps fields in a container of its own (`data`, `fields`, the line itself). What tools have no place for
(features, categories, truth, split) stands there under the names of `OWN`, so that a file of ours comes back whole.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pll.annotations.data import Annotations
from pll.candidates import CandidateSets, sort_names
from pll.dataset import UNKNOWN, PartialLabelDataset
from pll.errors import UserError
from pll.formats import json_objects
from pll.formats.base import ReadOptions
from pll.formats.checks import MAX_NAME, as_features, check_class_count, check_ids, listing, shorten
from pll.formats.json_objects import Record
from pll.formats.limitations import ALL_BUT_PIXELS, class_names, is_union, part_limitations
from pll.formats.tabular.builder import filled, no_rows, sets_of
from pll.formats.tabular.schema import (
    RESULT_COLUMNS,
    SAMPLE_ROWS,
    guesses,
    marked,
    option,
    results_among,
    roles_of,
    shown_as,
)
from pll.images import Pictures
from pll.io import Column as ObjectColumn
from pll.io import as_column

OWN = ("id", "text", "image", "candidates", "features", "categories", "true_label", "split")
"""Reserved names in a tool's container."""


_LARGEST = float(np.finfo(np.float32).max)


@dataclass
class Payload:
    """The fields of all examples without the labels, in the form of `PartialLabelDataset`.

    Attributes:
        truths: (n,) the values of the field `true_label`, or none.
    """

    X: npt.NDArray[np.float32]
    feature_names: tuple[str, ...] = ()
    kind: str = "array"
    texts: ObjectColumn | None = None
    pictures: Pictures | None = None
    categories: dict[str, ObjectColumn] = field(default_factory=dict)
    extras: dict[str, ObjectColumn] = field(default_factory=dict)
    is_test: npt.NDArray[np.bool_] | None = None
    truths: Sequence[Any] = ()
    notes: list[str] = field(default_factory=list)


def read_fields(fields: Mapping[str, Sequence[Any]], rows: Sequence[int], options: ReadOptions) -> Payload:
    """Return the texts, pictures, features and extra columns in the fields of all examples.

    Args:
        fields: by name, (n,) values as JSON has them.
        rows: (n,) the number a message gives to each example.

    Raises:
        UserError: features that are not the same numbers everywhere, a split that is none; the row is named.
    """
    results = results_among(list(fields))
    others = {name: values for name, values in fields.items() if name not in (*OWN, *results)}
    others |= {name: fields[name] for name in ("text", "image") if name in fields}
    payload = Payload(np.empty((len(rows), 0), dtype=np.float32), truths=fields.get("true_label", ()))
    payload.is_test = _split(fields["split"], rows) if "split" in fields else None
    roles, payload.notes = _roles(others, options, measured="features" not in fields)
    for name, role in roles.items():
        values = others[name]
        if role == "text":
            payload.texts = as_column([_text(value) or "" for value in values])
        elif role == "image":
            payload.pictures = Pictures(as_column([_text(value) or "" for value in values]))
        elif role == "category":
            payload.categories[shown_as(name)] = as_column([_text(value) for value in values])
        elif role == "keep":
            payload.extras[shown_as(name)] = as_column(values)
    words = [_words(row, rows[at]) for at, row in enumerate(fields.get("categories", ()))]
    for name in dict.fromkeys(name for row in words for name in row):
        payload.categories[name] = as_column([_text(row.get(name)) for row in words])
    numbers = {name: others[name] for name, role in roles.items() if role == "feature"}
    if "features" in fields:
        _read_features(payload, fields["features"], rows)
    elif numbers:
        _read_features(
            payload, [dict(zip(numbers, row, strict=True)) for row in zip(*numbers.values(), strict=True)], rows
        )
    return payload


def _roles(
    fields: Mapping[str, Sequence[Any]], options: ReadOptions, *, measured: bool
) -> tuple[dict[str, str], list[str]]:
    """Of each field: text, image, feature, category, keep or ignore, and what was guessed.

    Args:
        measured: numbers may be features, where there is nothing to read or to see.
    """
    told = {name: role for name, role in options.columns.items() if name in fields}
    unknown = [name for name, role in options.columns.items() if name not in fields and role != "candidates"]
    if unknown:
        raise UserError(f"There is no field {shorten(unknown[0])}; there are {listing(list(fields))}.")
    sample = [[_text(value) for value in values[:SAMPLE_ROWS]] for values in fields.values()]
    columns = roles_of(list(fields), sample, told)
    roles = {
        column.name: column.role if column.role in ("text", "image") or column.name in told else "keep"
        for column in columns
    }
    if measured and not {"text", "image"} & set(roles.values()):
        roles |= {name: "feature" for name, role in roles.items() if role == "keep" and _is_measured(fields[name])}
    return roles, guesses([column for column in columns if column.role in ("text", "image")])


def _read_features(payload: Payload, given: Sequence[Any], rows: Sequence[int]) -> None:
    """Read features from `{name: number}` or a list of numbers per example, null where one is missing."""
    first = given[0]
    names = list(first) if isinstance(first, dict) else []
    width = len(first) if isinstance(first, dict | list) else -1
    X = np.full((len(given), max(width, 0)), np.nan)
    for at, row in enumerate(given):
        values = [row.get(name) for name in names] if isinstance(row, dict) and names else row
        same = isinstance(row, type(first)) and isinstance(values, list) and len(row) == width
        if not same or (names and set(row) != set(names)):
            raise UserError(
                f"Row {rows[at]}: its features are not those of row {rows[0]}; give every example the same, as "
                '{"name": number} or [number, …], null where one is missing.'
            )
        for k, value in enumerate(values):
            if value is not None and not (_is_number(value) and abs(value) <= _LARGEST):
                where = names[k] if names else k
                raise UserError(
                    f"Row {rows[at]}: the feature {where} is {shorten(str(value))}; features must be finite numbers."
                )
            X[at, k] = np.nan if value is None else value
    payload.X = as_features(X, "features", allow_missing=True)
    payload.feature_names = tuple(map(str, names))
    payload.kind = "table" if names or np.isnan(X).any() else "array"


def _words(given: Any, row: int) -> dict[str, Any]:
    if given is None:
        return {}
    if not isinstance(given, dict):
        raise UserError(f'Row {row}: categories is {shorten(str(given))}; write an object {{"column": "word"}}.')
    return given


def _split(marks: Sequence[Any], rows: Sequence[int]) -> npt.NDArray[np.bool_]:
    for at, mark in enumerate(marks):
        if mark not in ("train", "test"):
            raise UserError(f"Row {rows[at]}: split is {shorten(str(mark))}; write train or test.")
    return np.array([mark == "test" for mark in marks], dtype=np.bool_)


# ---- back ------------------------------------------------------------------------------------------------------------


def fields_of(dataset: PartialLabelDataset) -> Iterator[dict[str, Any]]:
    """Yield the container of each example, which `Examples` reads back."""
    names = class_names(dataset)
    flat = dataset.X.reshape(len(dataset), -1)
    extras = {_safe(name): values for name, values in dataset.extras.items()}
    for i in range(len(dataset)):
        fields: dict[str, Any] = {}
        if dataset.texts is not None:
            fields["text"] = dataset.texts[i]
        if dataset.pictures is not None:
            fields["image"] = dataset.pictures.names[i]
        if flat.shape[1]:
            row = [None if np.isnan(x) else x for x in flat[i].astype(np.float64).tolist()]
            fields["features"] = dict(zip(dataset.feature_names, row, strict=True)) if dataset.feature_names else row
        if dataset.categories:
            fields["categories"] = {name: values[i] for name, values in dataset.categories.items()}
        if dataset.y is not None:
            fields["true_label"] = None if dataset.y[i] == UNKNOWN else names[dataset.y[i]]
        if dataset.is_test is not None:
            fields["split"] = "test" if dataset.is_test[i] else "train"
        fields |= {name: values[i] for name, values in extras.items()}
        yield fields


def has_own_sets(dataset: PartialLabelDataset) -> bool:
    """Whether the candidate sets have to be written: they are not the union of the annotators' labels."""
    if dataset.candidates is None or dataset.annotations is None:
        return dataset.candidates is not None
    named = set(dataset.annotations.labels.tolist())  # who is annotated by nobody may have any label that is known
    return not is_union(dataset) or not set(dataset.candidates.indices.tolist()) <= named


def record_limitations(dataset: PartialLabelDataset) -> list[str]:
    """Return sentences on what the file of any tool loses."""
    lost = part_limitations(dataset, ALL_BUT_PIXELS)
    twice = sorted({name for name in dataset.feature_names if dataset.feature_names.count(name) > 1})
    if twice:
        lost.append(f"That several features have one name: {listing(twice)}.")
    annotations = dataset.annotations
    if annotations is not None and annotations.anonymous:
        lost.append("That the annotators are anonymous: each vote becomes a person.")
    if annotations is not None and len(set(annotations.annotators.tolist())) < annotations.n_annotators:
        lost.append("Annotators who said nothing.")
    misread = _misread(dataset)
    if misread:
        lost.append(f"That these fields are only carried along: {listing(misread)}.")
    return lost


def answers_of(dataset: PartialLabelDataset) -> list[list[tuple[str, list[str]]]]:
    """Return by example (annotator, labels) of everyone who answered."""
    annotations = dataset.annotations
    found: list[list[tuple[str, list[str]]]] = [[] for _ in range(len(dataset))]
    if annotations is None:
        return found
    names = class_names(dataset)
    ends = [*annotations.answer_starts[1:].tolist(), len(annotations.rows)]
    for start, end in zip(annotations.answer_starts.tolist(), ends, strict=True):
        who = annotations.annotator_names[annotations.annotators[start]]
        found[annotations.rows[start]].append((who, [names[k] for k in annotations.labels[start:end].tolist()]))
    return found


def _misread(dataset: PartialLabelDataset) -> list[str]:
    """Return the extra columns that would be read back as texts or pictures."""
    few = dataset.take(slice(0, SAMPLE_ROWS))
    names = [_safe(name) for name in few.extras]
    sample = [[_text(value) for value in values] for values in few.extras.values()]
    own = (["text"] if few.texts is not None else []) + (["image"] if few.pictures is not None else [])
    found = roles_of([*own, *names], [*([["a"]] * len(own)), *sample])
    payload = [column.name for column in found[len(own) :] if column.role in ("text", "image")]
    if own or payload or dataset.X.shape[1]:
        return payload
    return [name for name, values in dataset.extras.items() if _is_measured(values.tolist())]


def _safe(name: str) -> str:
    """Return a field name that differs from the reserved ones."""
    reserved = (
        name in (*OWN, *RESULT_COLUMNS) or name.casefold() in ("text", "image") or name != name.strip() or not name
    )
    return marked("keep", name) if reserved or shown_as(name) != name else name


def _is_measured(values: Sequence[Any]) -> bool:
    """Whether all values that are not missing are numbers."""
    return all(value is None or _is_number(value) for value in values) and any(value is not None for value in values)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _text(value: Any) -> str | None:
    return value if value is None or isinstance(value, str) else str(value)


Fields = Mapping[str, Any]


@dataclass
class Example:
    """One example of a tool's file.

    Args:
        row: the number a message gives to it.
        key: identifies the example; the same key again is another annotation of it.
        fields: the container, as it stands.
        candidates: its candidate set, where the tool states one.
        answers: (annotator, labels) of each who answered.
        rejected: labels that somebody ruled out; they matter where nobody named one.
        truth: its true label, where the tool states one.
    """

    row: int
    key: str | None
    fields: Fields
    candidates: Sequence[str] | None = None
    answers: list[tuple[str, list[str]]] = field(default_factory=list)
    rejected: Sequence[str] = ()
    truth: str | None = None


class Examples:
    """Collects examples and builds a dataset of them.

    Args:
        options: classes, what fields are, how answers are combined.
    """

    def __init__(self, options: ReadOptions) -> None:
        self.options = options
        self.notes: list[str] = []
        self.rows: list[int] = []
        self._keys: list[str | None] = []
        self._places: dict[str, int] = {}
        self._fields: dict[str, list[Any]] = {}
        self._sets: list[Sequence[str] | None] = []
        self._rejected: dict[int, set[str]] = {}
        self._answers: list[tuple[int, str, list[str]]] = []
        self._truth: list[str | None] = []
        self._skipped = 0

    def __len__(self) -> int:
        return len(self.rows)

    def add(self, example: Example) -> None:
        """Add an example, or another annotator's answer to one that is there.

        Raises:
            UserError: a name that is none.
        """
        at = self._places.get(example.key) if example.key is not None else None
        if at is None:
            at = len(self.rows)
            if example.key is not None:
                self._places[example.key] = at
            self.rows.append(example.row)
            self._keys.append(example.key)
            self._sets.append(None)
            self._truth.append(None)
            for name in example.fields:
                if name not in self._fields:
                    self._fields[name] = [None] * at
            for name, values in self._fields.items():
                values.append(example.fields.get(name))
        answered = (name for _, names in example.answers for name in names)
        for name in [*(example.candidates or ()), *example.rejected, *answered]:
            self._check_name(name, example.row)
        if example.candidates:
            self._sets[at] = [*(self._sets[at] or ()), *example.candidates]
        if example.rejected:
            self._rejected.setdefault(at, set()).update(example.rejected)
        if example.truth is not None:
            self._truth[at] = example.truth
        for who, names in example.answers:
            if names:
                self._answers.append((at, who, names))
            else:
                self._skipped += 1

    @staticmethod
    def _check_name(name: str, row: int) -> None:
        if len(name) > MAX_NAME:
            raise UserError(
                f"Row {row} holds a label of {len(name):,} characters ({shorten(name)}); at most {MAX_NAME:,} are "
                "supported."
            )

    def row_of(self, at: int) -> int:
        """Return the row number used in messages of the example at a position."""
        return self.rows[at]

    # ---- the dataset ---------------------------------------------------------------------------------------------

    def dataset(self, classes: Sequence[str] = ()) -> PartialLabelDataset:
        """Return the dataset of all examples added.

        Args:
            classes: all classes in order, where the file states them and the user does not.

        Raises:
            UserError: nothing at all, ids that repeat, labels that are not among the classes; the row is named.
        """
        if not self.rows:
            raise no_rows()
        payload = read_fields(self._fields, self.rows, self.options)
        for at, value in enumerate(payload.truths):
            if value is not None:
                self._truth[at] = label_name(value, self.rows[at], "true_label")
                self._check_name(str(self._truth[at]), self.rows[at])
        names = self._class_names(classes)
        self._use_rejected(names)
        annotations, candidates = self._labels(names)
        return PartialLabelDataset(
            X=payload.X,
            candidates=candidates,
            y=self._y(names) if len(payload.truths) or any(truth is not None for truth in self._truth) else None,
            class_names=names,
            ids=self._ids(),
            feature_names=payload.feature_names,
            texts=payload.texts,
            pictures=payload.pictures,
            categories=payload.categories,
            extras=payload.extras,
            annotations=annotations,
            is_test=payload.is_test,
            name=self.options.name or "data",
            kind=payload.kind,
            notes=(*self.notes, *payload.notes),
        )

    def _ids(self) -> npt.NDArray[np.str_] | None:
        if all(key is None for key in self._keys):
            return None
        return check_ids([key or "" for key in self._keys], self.row_of)

    def _class_names(self, classes: Sequence[str]) -> tuple[str, ...]:
        used: dict[str, int] = {}
        for at, names in enumerate(self._sets):
            for name in names or ():
                used.setdefault(name, at)
        for at, _, labels in self._answers:
            for name in labels:
                used.setdefault(name, at)
        for at, ruled_out in self._rejected.items():
            for name in sorted(ruled_out):
                used.setdefault(name, at)
        for at, truth in enumerate(self._truth):
            if truth is not None:
                used.setdefault(truth, at)
        check_class_count(len(used), "this file")
        known = self.options.class_names or (classes if classes and set(used) <= set(classes) else ())
        for name, at in used.items():
            if known and name not in known:
                raise UserError(
                    f"Row {self.rows[at]}: the label {shorten(name)} is unknown; the classes are {listing(known)}. "
                    "Correct it, or add it to the classes."
                )
        return tuple(known) or sort_names(used)

    def _use_rejected(self, names: tuple[str, ...]) -> None:
        """Where nobody named a label, make those that nobody rejected the candidates."""
        answered = {at for at, _, _ in self._answers}
        for at, ruled_out in self._rejected.items():
            if self._sets[at] is None and at not in answered:
                self._sets[at] = [name for name in names if name not in ruled_out] or None

    def _labels(self, names: tuple[str, ...]) -> tuple[Annotations | None, CandidateSets | None]:
        number = {name: k for k, name in enumerate(names)}
        annotations = self._annotations(names, number)
        if all(given is None for given in self._sets):
            if annotations is None:
                return None, None
            sets, notes = sets_of(annotations, self.options.combine)
        else:
            pairs = {(at, number[name]) for at, given in enumerate(self._sets) for name in given or ()}
            if annotations is not None:  # where no set is stated, it is what the annotators named
                without = [given is None for given in self._sets]
                own = zip(annotations.rows.tolist(), annotations.labels.tolist(), strict=True)
                pairs |= {(row, label) for row, label in own if without[row]}
            rows, labels = np.array(sorted(pairs), dtype=np.int64).T
            sets, notes = filled(rows, labels, len(self), names)
        self.notes += notes
        return annotations, sets

    def _annotations(self, names: tuple[str, ...], number: Mapping[str, int]) -> Annotations | None:
        if not self._answers:
            return None
        people = {who: k for k, who in enumerate(dict.fromkeys(who for _, who, _ in self._answers))}
        triples = [(at, people[who], number[name]) for at, who, labels in self._answers for name in labels]
        rows, annotators, labels = np.array(triples, dtype=np.int64).T
        return Annotations(rows, annotators, labels, len(self), names, tuple(people), skipped=self._skipped)

    def _y(self, names: tuple[str, ...]) -> npt.NDArray[np.int64]:
        number: dict[str | None, int] = {name: k for k, name in enumerate(names)}
        return np.array([number.get(truth, UNKNOWN) for truth in self._truth], dtype=np.int64)


def label_name(value: Any, row: int, where: str) -> str:
    """Return a label as a name: text as it is, numbers and booleans as they are written.

    Raises:
        UserError: anything else; the row is named.
    """
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return str(value)
    kind = "an object" if isinstance(value, dict) else "a list" if isinstance(value, list) else "nothing"
    raise UserError(f"Row {row}: a label in {where} is {kind}; it must be a name (spans and boxes are not read).")


def label_names(values: Any, row: int, where: str) -> list[str]:
    """Return labels as names without repetitions: of a list or a single one; none for null.

    Raises:
        UserError: something that is no name; the row is named.
    """
    listed = values if isinstance(values, list) else [] if values is None else [values]
    return list(dict.fromkeys(label_name(value, row, where) for value in listed))


def first_records(path: Path, example_of: Callable[[int, Record], Example]) -> Iterator[tuple[str, Record]]:
    """Yield (id, object) of each example in the order of `Examples`: its first line where it has several."""
    seen: set[str] = set()
    for at, (row, record) in enumerate(json_objects.records(path)):
        example = example_of(row, record).key or str(at)
        if example not in seen:
            seen.add(example)
            yield example, record


def merged_lines(path: Path, examples: int) -> list[str]:
    """Return a sentence if examples with several lines, one per annotator, are written on one line."""
    further = sum(1 for _ in json_objects.records(path)) - examples
    if not further:
        return []
    return [f"{further:,} lines of further annotators: each example is written once, with all its candidates."]


def choose_question(counts: Counter[str], options: ReadOptions, notes: list[str]) -> str | None:
    """Return the question whose answers are the labels: the user's choice, else the one most often answered.

    Args:
        counts: by question, how often it was answered.

    Raises:
        UserError: nobody answered the question that the user names.
    """
    told = next((name for name, role in options.columns.items() if role == "candidates"), None)
    if told is not None:
        if told not in counts:
            raise UserError(f"Nobody answered a question called {shorten(told)}; asked were {', '.join(counts)}.")
        return told
    if not counts:
        return None
    chosen, *others = [name for name, _ in counts.most_common()]
    if others:
        notes.append(
            f"There are several questions: {listing([chosen, *others])}; read was {chosen}. To read another, choose it "
            f"above (in the shell: {option(others[0], 'candidates')})."
        )
    return chosen

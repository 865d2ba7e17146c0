"""What annotation tools export, an example at a time: from what is there and who said what to a dataset."""

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
from pll.formats import jsonfile
from pll.formats.answers import filled, sets_of
from pll.formats.base import ReadOptions
from pll.formats.checks import MAX_NAME, check_class_count, check_ids
from pll.formats.fields import read_fields
from pll.formats.jsonfile import Record
from pll.formats.table import no_rows
from pll.formats.words import listing, shorten

Fields = Mapping[str, Any]


@dataclass
class Example:
    """One example, as a tool has it.

    Args:
        row: the number a message gives to it.
        key: what tells it from others; the same again is the same example, seen by another annotator.
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
    """Takes examples, gives a dataset.

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
        """One more example, or what another annotator said of one that is there.

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
        """The number a message gives to the example at a position."""
        return self.rows[at]

    # ---- the dataset ---------------------------------------------------------------------------------------------

    def dataset(self, classes: Sequence[str] = ()) -> PartialLabelDataset:
        """Everything that was added.

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
        """Where nobody named a label, those that nobody ruled out are the candidates."""
        answered = {at for at, _, _ in self._answers}
        for at, ruled_out in self._rejected.items():
            if self._sets[at] is None and at not in answered:
                self._sets[at] = [name for name in names if name not in ruled_out] or None

    def _labels(self, names: tuple[str, ...]) -> tuple[Annotations | None, CandidateSets | None]:
        number = {name: k for k, name in enumerate(names)}
        said = self._annotations(names, number)
        if all(given is None for given in self._sets):
            if said is None:
                return None, None
            sets, notes = sets_of(said, self.options.combine)
        else:
            pairs = {(at, number[name]) for at, given in enumerate(self._sets) for name in given or ()}
            if said is not None:  # where no set is stated, it is what the annotators named
                without = [given is None for given in self._sets]
                own = zip(said.rows.tolist(), said.labels.tolist(), strict=True)
                pairs |= {(row, label) for row, label in own if without[row]}
            rows, labels = np.array(sorted(pairs), dtype=np.int64).T
            sets, notes = filled(rows, labels, len(self), names)
        self.notes += notes
        return said, sets

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
    """A label as a name: text as it is, numbers and truth values as they are written.

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
    """Labels as names, each once: a list of them, or one alone; nothing is none.

    Raises:
        UserError: something that is no name; the row is named.
    """
    listed = values if isinstance(values, list) else [] if values is None else [values]
    return list(dict.fromkeys(label_name(value, row, where) for value in listed))


def first_lines(path: Path, example_of: Callable[[int, Record], Example]) -> Iterator[tuple[str, Record]]:
    """(id, object) of each example, in the order of `Examples`: the first of its lines, where several people had it."""
    seen: set[str] = set()
    for at, (row, record) in enumerate(jsonfile.records(path)):
        example = example_of(row, record).key or str(at)
        if example not in seen:
            seen.add(example)
            yield example, record


def merged(path: Path, examples: int) -> list[str]:
    """What a person should know where each example is written on one line, however many annotators had one."""
    further = sum(1 for _ in jsonfile.records(path)) - examples
    if not further:
        return []
    return [f"{further:,} lines of further annotators: each example is written once, with all its candidates."]


def question_read(counts: Counter[str], options: ReadOptions, notes: list[str]) -> str | None:
    """The question whose answers are the labels: as the user says, else the one most often answered, the others said.

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
            f"There are several questions: {listing([chosen, *others])}; read was {chosen}. To read another, say that "
            "it is candidates."
        )
    return chosen

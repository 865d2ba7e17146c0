"""Prodigy (JSONL): options to choose from, what was accepted, by whom.

The candidates of a line are what was accepted, or, without an answer, its options. A label that was
rejected (binary questions) is ruled out: where nothing was accepted, all others are candidates. Written back, the
identified label is accepted beforehand and its score is in `meta`, where Prodigy's sorters read it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from pll.dataset import PartialLabelDataset
from pll.errors import RowError
from pll.formats import json_objects
from pll.formats.base import ReadOptions
from pll.formats.json_objects import Record
from pll.formats.limitations import class_names
from pll.formats.results import Results
from pll.formats.tools.records import Example, LineFormat, examples_of, first_of, label_names

_ANSWERS = ("accept", "reject", "ignore")
_OF_AN_ANSWER = ("answer", "_annotator_id", "_session_id", "_timestamp")
_NO_FIELDS = (*_OF_AN_ANSWER, "options", "accept", "label", "config", "_view_id")


class Prodigy(LineFormat):
    """Exports of Prodigy (JSONL)."""

    name = "prodigy"
    label = "Prodigy (JSONL)"
    tool = "Prodigy"
    adds = "Of every example the identified label is accepted beforehand, and its score is shown."
    queue = "There, a file is worked through from its first line on."
    suffixes = (".jsonl",)

    def sniff(self, path: Path, head: bytes) -> bool:
        first = json_objects.first_record(path, head)
        if first is None:
            return False
        return "_input_hash" in first or first.get("answer") in _ANSWERS or _offers_choices(first)

    def reader(self, path: Path, options: ReadOptions, notes: list[str]) -> Callable[[int, Record], Example]:
        spans = sum(bool(record.get("spans")) for _, record in json_objects.records(path))
        if spans:
            notes.append(f"The spans of {spans:,} lines were left out; only labels of whole examples are read.")
        labels = {str(record["label"]) for _, record in json_objects.records(path) if _is_binary(record)}
        only = labels.pop() if len(labels) == 1 else None
        return lambda row, record: _example(row, record, only)

    def labelled(self, record: Record, dataset: PartialLabelDataset, i: int, results: Results) -> Record:
        task = {name: value for name, value in record.items() if name not in _OF_AN_ANSWER}
        offered = record["options"] if _has_options(record) else _choices(class_names(dataset))
        task["options"] = _with_choice(offered, results.label(str(dataset.row_ids[i])))
        return task | _suggestion(dataset, i, results, task.get("meta"))

    def records(self, dataset: PartialLabelDataset, results: Results | None) -> Iterator[Record]:
        every = _choices(class_names(dataset))
        for i, example in enumerate(examples_of(dataset)):
            record: Record = {"id": example.key} | dict(example.fields)
            sets = [] if dataset.candidates is None else dataset.candidates.names(i)
            if results is not None:
                options = _with_choice(_choices(sets) or every, results.label(str(example.key)))
                yield record | {"options": options} | _suggestion(dataset, i, results, record.get("meta"))
                continue
            if not example.answers:
                yield record | {"options": _choices(sets)}
            for who, labels in example.answers:
                line = record | {"options": every, "accept": labels, "answer": "accept", "_annotator_id": who}
                yield line if example.candidates is None else line | {"candidates": sets}


NOT = "not "
"""Beginning of the class of what is not of the one label of a file that was accepted or rejected."""


def _is_binary(record: Record) -> bool:
    """Whether a line asks whether one label is right: accept or reject."""
    return isinstance(record.get("label"), str) and "accept" not in record and not _has_options(record)


def _example(row: int, record: Record, only: str | None = None) -> Example:
    """Return the example of a line; where all lines ask about `only` one label, a rejected one is not of it."""
    key = first_of(record, ("id", "_input_hash"))
    fields = {name: value for name, value in record.items() if name not in _NO_FIELDS}
    example = Example(row, key, fields)
    if "candidates" in record:
        example.candidates = label_names(record["candidates"], row, "candidates")
    answer = record.get("answer")
    if answer is None:
        if _has_options(record) and example.candidates is None:
            example.candidates = label_names([_option(one) for one in record["options"]], row, "options")
        return example
    if answer not in _ANSWERS:
        raise RowError(f"Row {row}: the answer is {str(answer)[:40]!r}; Prodigy knows {', '.join(_ANSWERS)}.")
    accepted = record.get("accept", record.get("label"))
    labels = label_names(accepted, row, "accept")
    who = first_of(record, ("_annotator_id", "_session_id"))
    if only is not None and answer == "reject" and _is_binary(record):
        answer, labels = "accept", [NOT + only]
    if answer == "reject" and "accept" not in record:
        example.rejected = labels
    elif answer == "accept" and who is None and example.candidates is None:
        example.candidates = labels
    elif who is not None:
        example.answers.append((who, labels if answer == "accept" else []))
    return example


def _suggestion(dataset: PartialLabelDataset, i: int, results: Results, meta: Any) -> Record:
    """Return the fields that accept the identified label beforehand and show its score."""
    example = str(dataset.row_ids[i])
    sets = {} if dataset.candidates is None else {"candidates": dataset.candidates.names(i)}
    label = results.label(example)
    if label is None:
        return sets
    fields = dict(meta) if isinstance(meta, dict) else {}
    score = results.confidence(example)
    return {"accept": [label], "meta": fields | ({} if score is None else {"score": score})} | sets


def _choices(names: list[str]) -> list[Record]:
    return [{"id": name, "text": name} for name in names]


def _with_choice(options: list[Any], label: str | None) -> list[Any]:
    """Return the options of a line including its label, which a person may have added."""
    return options if label is None or label in map(_option, options) else [*options, *_choices([label])]


def _option(one: Any) -> Any:
    return one.get("id", one.get("text")) if isinstance(one, dict) else one


def _has_options(record: Record) -> bool:
    return isinstance(record.get("options"), list)


def _offers_choices(record: Record) -> bool:
    """Whether the options are objects, as Prodigy writes them; names alone stand in any JSON lines."""
    return _has_options(record) and all(isinstance(one, dict) for one in record["options"])

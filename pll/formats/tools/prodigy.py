"""Prodigy (JSONL): options to choose from, what was accepted, by whom.

The candidates of a line are what was accepted, or, without an answer, its options. A label that was
rejected (binary questions) is ruled out: where nothing was accepted, all others are candidates. Written back, the
identified label is accepted beforehand and its score is in `meta`, where Prodigy's sorters read it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pll.dataset import PartialLabelDataset
from pll.errors import RowError
from pll.formats.json_objects import ANSWERS, Record
from pll.formats.limitations import class_names
from pll.formats.results import Results
from pll.formats.tools.records import Example, Found, LineFormat, examples_of

_ANSWERS = ("accept", "reject", "ignore")
_OF_AN_ANSWER = ("answer", "_annotator_id", "_session_id", "_timestamp")


class Prodigy(LineFormat):
    """Exports of Prodigy (JSONL)."""

    def example(self, row: int, record: Record, found: Found) -> Example:
        example, answer = super().example(row, record, found), record.get("answer")
        if answer is None:
            example.answers.clear()  # what is accepted beforehand is nobody's answer
            return example
        if answer not in _ANSWERS:
            raise RowError(f"Row {row}: the answer is {str(answer)[:40]!r}; Prodigy knows {', '.join(_ANSWERS)}.")
        example.offered = ()
        if answer != "accept":
            said = example.answers.pop(ANSWERS, [])
            example.rejected = said if answer == "reject" and "accept" not in record else ()
        return example

    def labelled(self, record: Record, dataset: PartialLabelDataset, i: int, results: Results) -> Record:
        task = {name: value for name, value in record.items() if name not in _OF_AN_ANSWER}
        offered = record["options"] if _has_options(record) else _choices(class_names(dataset))
        task["options"] = _with_choice(offered, results.label(str(dataset.row_ids[i])))
        return task | _suggestion(dataset, i, results, task.get("meta"))

    def records(self, dataset: PartialLabelDataset, results: Results | None) -> Iterator[Record]:
        every = _choices(class_names(dataset))
        for i, example in enumerate(examples_of(dataset, self.form)):
            record: Record = {"id": example.key} | dict(example.fields)
            sets = [] if dataset.candidates is None else dataset.candidates.names(i)
            if results is not None:
                options = _with_choice(_choices(sets) or every, results.label(str(example.key)))
                yield record | {"options": options} | _suggestion(dataset, i, results, record.get("meta"))
                continue
            if not example.people(ANSWERS):
                yield record | {"options": _choices(sets)}
            for who, labels in example.people(ANSWERS):
                line = record | {"options": every, "accept": labels, "answer": "accept", "_annotator_id": who}
                yield line | {"candidates": sets} if example.stated else line


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

"""doccano (JSONL): `{"text": …, "label": ["positive", "negative"]}`, or `{"filename": "cat.png", "label": […]}`.

All labels of an example are its candidates. Lines with one `id` are one example; with a `username`, each is what one
annotator said. Written back, `label` is the identified label, and its candidates are under `candidates`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from pll.dataset import PartialLabelDataset
from pll.errors import RowError
from pll.formats import json_objects
from pll.formats.base import ReadOptions
from pll.formats.json_objects import Record
from pll.formats.results import Results
from pll.formats.tools.records import Example, LineFormat, examples_of, first_of, label_names

_PAYLOAD = ("text", "data", "filename")
_LABELS = ("label", "labels")
_PEOPLE = ("username", "user", "annotator")
_FIELDS = {"filename": "image", "data": "text"}


class Doccano(LineFormat):
    """Exports of doccano (JSONL)."""

    name = "doccano"
    label = "doccano (JSONL)"
    tool = "doccano"
    adds = "Every example has the identified label and its confidence."
    queue = "There, examples are shown in the order in which they were imported."
    suffixes = (".jsonl",)

    def sniff(self, path: Path, head: bytes) -> bool:
        first = json_objects.first_record(path, head)
        if first is None or not any(isinstance(first.get(name), str) for name in _PAYLOAD):
            return False
        # Its exports have an id; without one, a line with fields of its own is of nobody's tool.
        is_its_own = "id" in first or first.keys() <= {*_PAYLOAD, *_LABELS, *_PEOPLE}
        return is_its_own and any(isinstance(first.get(name), list) for name in _LABELS)

    def reader(self, path: Path, options: ReadOptions, notes: list[str]) -> Callable[[int, Record], Example]:
        return _example

    def cannot_hold(self, dataset: PartialLabelDataset) -> list[str]:
        lost = super().cannot_hold(dataset)
        if (dataset.texts is None and dataset.pictures is None) or "_input_hash" in dataset.extras:
            lost.append("Which tool the file is for: read again, it is taken for another's, and its labels are lost.")
        return lost

    def records(self, dataset: PartialLabelDataset, results: Results | None) -> Iterator[Record]:
        for i, example in enumerate(examples_of(dataset)):
            record: Record = {"id": example.key}
            record |= {"filename" if name == "image" else name: value for name, value in example.fields.items()}
            if results is not None:
                yield self.labelled(record | {"label": []}, dataset, i, results)
                continue
            if not example.answers:
                yield record | {"label": example.candidates or []}
            for who, labels in example.answers:
                line = record | {"label": labels, "username": who}
                yield line if example.candidates is None else line | {"candidates": example.candidates}

    def labelled(self, record: Record, dataset: PartialLabelDataset, i: int, results: Results) -> Record:
        """Return a line with the identified label, its confidence and its candidates."""
        example = str(dataset.row_ids[i])
        label, score = results.label(example), results.confidence(example)
        new: Record = {"label": [] if label is None else [label]} if example in results else {}
        if score is not None and "confidence" not in record:  # a field of the user's own stays
            new["confidence"] = score
        if dataset.candidates is not None:
            new["candidates"] = dataset.candidates.names(i)
        return {name: value for name, value in record.items() if name not in _PEOPLE} | new  # it is not their label


def _example(row: int, record: Record) -> Example:
    name = next((name for name in _LABELS if name in record), None)
    labelled = record.get(name) if name else None
    if isinstance(labelled, list) and any(isinstance(label, list | dict) for label in labelled):
        raise RowError(
            f"Row {row}: its labels mark parts of the text (spans); only labels of the whole example are read."
        )
    who = first_of(record, _PEOPLE)
    fields = {_FIELDS.get(name, name): value for name, value in record.items() if name not in (*_LABELS, *_PEOPLE)}
    example = Example(row, first_of(record, ("id",)), fields)
    labels = label_names(labelled, row, name or "label")
    if "candidates" in record:
        example.candidates = label_names(record["candidates"], row, "candidates")
    elif who is None:
        example.candidates = labels
    if who is not None:
        example.answers.append((who, labels))
    return example

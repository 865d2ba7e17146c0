"""doccano (JSONL): `{"text": …, "label": ["positive", "negative"]}`, or `{"filename": "cat.png", "label": […]}`.

All labels of an example are its candidates. Lines with one `id` are one example; with a `username`, each is what one
annotator said. Written back, `label` is the identified label, and its candidates are under `candidates`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pll.dataset import PartialLabelDataset
from pll.errors import UserError
from pll.formats import json_objects
from pll.formats.base import Format, ReadOptions
from pll.formats.json_objects import Record
from pll.formats.limitations import class_limitations
from pll.formats.results import Results
from pll.formats.tools.records import (
    Example,
    Examples,
    answers_of,
    fields_of,
    first_records,
    has_own_sets,
    label_names,
    merged_lines,
    record_limitations,
)

_LABELS = ("label", "labels")
_PEOPLE = ("username", "user", "annotator")


class Doccano(Format):
    """Exports of doccano (JSONL)."""

    name = "doccano"
    label = "doccano (JSONL)"
    tool = "doccano"
    adds = "Every example has the identified label, and how sure it is."
    queue = "There, examples are shown in the order in which they were imported."
    content = "json"
    suffixes = (".jsonl",)
    row_note = "Rows are counted as the lines of the file, from 1."

    def sniff(self, path: Path, head: bytes) -> bool:
        first = json_objects.first_record(path, head)
        if first is None or not {"text", "data", "filename"} & set(first):
            return False
        return any(isinstance(first.get(name), list) for name in _LABELS)

    def read(self, path: Path, options: ReadOptions) -> PartialLabelDataset:
        examples = Examples(options)
        for row, record in json_objects.records(path):
            examples.add(_example(row, record))
        return examples.dataset()

    def cannot_hold(self, dataset: PartialLabelDataset) -> list[str]:
        lost = [*record_limitations(dataset), *class_limitations(dataset)]
        if (dataset.texts is None and dataset.pictures is None) or "_input_hash" in dataset.extras:
            lost.append("Which tool the file is for: read again, it is taken for another's, and its labels are lost.")
        return lost

    def write(self, dataset: PartialLabelDataset, path: Path, results: Results | None = None) -> None:
        json_objects.write(path, _lines(dataset, results), as_list=False)

    def cannot_give_back(self, source: Path, results: Results, options: ReadOptions) -> list[str]:
        return merged_lines(source, len(self.read(source, options)))

    def give_back(self, source: Path, path: Path, results: Results, options: ReadOptions) -> None:
        data = self.read(source, options)

        def labelled() -> Iterator[tuple[str, Record]]:
            for i, (example, record) in enumerate(first_records(source, _example)):
                known = {name: value for name, value in record.items() if name not in _PEOPLE}  # it is not their label
                yield example, _labelled(known, data, i, results)

        json_objects.write(path, results.in_order(labelled()), as_list=False)


def _example(row: int, record: Record) -> Example:
    name = next((name for name in _LABELS if name in record), None)
    given = record.get(name) if name else None
    if isinstance(given, list) and any(isinstance(label, list | dict) for label in given):
        raise UserError(
            f"Row {row}: its labels mark parts of the text (spans); only labels of the whole example are read."
        )
    who = next((str(record[name]) for name in _PEOPLE if record.get(name) is not None), None)
    key = record.get("id")
    fields = {
        {"filename": "image", "data": "text"}.get(field, field): value
        for field, value in record.items()
        if field not in (*_LABELS, *_PEOPLE)
    }
    example = Example(row, None if key is None else str(key), fields)
    labels = label_names(given, row, name or "label")
    if "candidates" in record:
        example.candidates = label_names(record["candidates"], row, "candidates")
    elif who is None:
        example.candidates = labels
    if who is not None:
        example.answers.append((who, labels))
    return example


def _lines(dataset: PartialLabelDataset, results: Results | None) -> Iterator[Record]:
    answers = answers_of(dataset)
    stated = has_own_sets(dataset)
    for i, (example, fields) in enumerate(zip(dataset.row_ids.tolist(), fields_of(dataset), strict=True)):
        shown = {"filename" if name == "image" else name: value for name, value in fields.items()}
        record: Record = {"id": example} | shown
        if results is not None:
            yield _labelled(record | {"label": []}, dataset, i, results)
            continue
        sets = dataset.candidates.names(i) if dataset.candidates is not None and stated else []
        if not answers[i]:
            yield record | {"label": sets}
        for who, labels in answers[i]:
            line = record | {"label": labels, "username": who}
            yield line | {"candidates": sets} if stated else line


def _labelled(record: Record, dataset: PartialLabelDataset, i: int, results: Results) -> Record:
    """Return a line with the identified label, its confidence and its candidates."""
    example = str(dataset.row_ids[i])
    label, score = results.label(example), results.confidence(example)
    new: Record = {} if label is None else {"label": [label]}
    if score is not None and "confidence" not in record:  # a field of the user's own stays
        new["confidence"] = score
    if dataset.candidates is not None:
        new["candidates"] = dataset.candidates.names(i)
    return record | new

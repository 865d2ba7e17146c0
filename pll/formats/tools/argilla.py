"""Argilla records (JSON): several people's responses in, suggestions with their score out.

As `dataset.records.to_json` writes them: `fields`, `metadata`, `suggestions`, `responses`, `vectors`. The candidates of
a record are what its responses named together, or `metadata.candidates`. Discarded responses do not count.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pll.dataset import PartialLabelDataset
from pll.formats import json_objects
from pll.formats.base import ReadOptions
from pll.formats.json_objects import ANSWERS, Record
from pll.formats.results import Results
from pll.formats.tools.records import PAYLOAD, RecordFormat, examples_of, key_in

QUESTION = "label"
"""Name of the question in the records that are written."""


class Argilla(RecordFormat):
    """Exports of Argilla."""

    def records(self, dataset: PartialLabelDataset, results: Results | None) -> Iterator[Record]:
        for name, example in zip(dataset.row_ids.tolist(), examples_of(dataset, self.form), strict=True):
            metadata = {field: value for field, value in example.fields.items() if field not in PAYLOAD}
            if example.stated:
                metadata["candidates"] = example.stated
            responses = [
                {"value": labels if len(labels) > 1 else labels[0], "user_id": who}
                for who, labels in example.people(ANSWERS)
            ]
            yield {
                "id": name,
                "fields": {field: value for field, value in example.fields.items() if field in PAYLOAD},
                "metadata": metadata,
                "suggestions": {} if results is None else _suggestion(results, name, QUESTION),
                "responses": {QUESTION: responses} if responses else {},
                "vectors": {},
            }

    def labelled_records(self, source: Path, results: Results, options: ReadOptions) -> Iterator[tuple[str, Record]]:
        question = self.question(source, options) or QUESTION
        for at, (_, record) in enumerate(json_objects.records(source)):
            name = key_in(record, self.form) or str(at)
            new = _suggestion(results, name, question)
            yield name, record | {"suggestions": _replaced(record.get("suggestions"), new)} if new else record


def _replaced(old: Any, new: Record) -> Record | list[Record]:
    """The suggestions of a record with a new one, in the form that the record has: of Argilla 2 or 1."""
    if not isinstance(old, list):
        return (old or {}) | new
    others = [one for one in old if not (isinstance(one, dict) and one.get("question_name") in new)]
    return [*others, *({"question_name": question, **suggestion} for question, suggestion in new.items())]


def _suggestion(results: Results, example: str, question: str) -> Record:
    label = results.label(example)
    if label is None:
        return {}
    return {question: {"value": label, "score": results.confidence(example), "agent": results.model}}

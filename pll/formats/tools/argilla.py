"""Argilla records (JSON): several people's responses in, suggestions with their score out.

As `dataset.records.to_json` writes them: `fields`, `metadata`, `suggestions`, `responses`, `vectors`. The candidates of
a record are what its responses named together, or `metadata.candidates`. Discarded responses do not count.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from pll.dataset import PartialLabelDataset
from pll.errors import RowError
from pll.formats import json_objects
from pll.formats.base import ReadOptions
from pll.formats.checks import listing
from pll.formats.json_objects import Record
from pll.formats.limitations import added_limitation
from pll.formats.results import Results
from pll.formats.tools.records import PAYLOAD, Example, RecordFormat, choose_question, examples_of, label_names

QUESTION = "label"
"""Name of the question in the records that are written."""
_OF_A_RECORD = {"responses", "suggestions", "metadata", "vectors", "status"}
"""Fields of which a record has one at least."""


class Argilla(RecordFormat):
    """Exports of Argilla."""

    name = "argilla"
    label = "Argilla records (JSON)"
    tool = "Argilla"
    adds = "Every record gets a suggestion with its score."
    queue = "There, sort by the score of the suggestions, ascending."
    is_list = True
    suffixes = (".json", ".jsonl")

    def sniff(self, path: Path, head: bytes) -> bool:
        first = json_objects.first_record(path, head)
        return first is not None and isinstance(first.get("fields"), dict) and not _OF_A_RECORD.isdisjoint(first)

    def reader(self, path: Path, options: ReadOptions, notes: list[str]) -> Callable[[int, Record], Example]:
        question = _question(path, options, notes)
        vectors = {
            name for row, one in json_objects.records(path) for name in _object(one.get("vectors"), row, "vectors")
        }
        if len(vectors) > 1:
            notes.append(f"Of the vectors, the first is learnt from: {listing(sorted(vectors))}.")
        return lambda row, record: _example(row, record, question)

    def questions(self, path: Path) -> list[str]:
        return [name for name, _ in _counted(path)[0].most_common()]

    def models_answers(self, path: Path) -> Iterator[Record]:
        """Yield the suggestions in a file, as lines of `pll.formats.tools.models`: what models answered.

        Raises
        ------
        UserError
            Records that are not as Argilla writes them; the row is named.
        """
        for at, (row, record) in enumerate(json_objects.records(path)):
            for question, one in _suggestions(record, row):
                about = one if isinstance(one, dict) else {"value": one}
                value, score = about.get("value"), about.get("score")
                if isinstance(value, str):
                    task, worker = _key(record) or str(at), str(about.get("agent") or question)
                    confidence = float(score) if isinstance(score, int | float) else None
                    yield {"task": task, "worker": worker, "vote": value, "score": confidence, "question": question}

    def cannot_label(self, dataset: PartialLabelDataset, results: Results) -> list[str]:
        sentence = "The labels of the question: Argilla refuses {}, until they are added there."
        return added_limitation(dataset, results, sentence)

    def records(self, dataset: PartialLabelDataset, results: Results | None) -> Iterator[Record]:
        for name, example in zip(dataset.row_ids.tolist(), examples_of(dataset), strict=True):
            metadata = {field: value for field, value in example.fields.items() if field not in PAYLOAD}
            if example.candidates is not None:
                metadata["candidates"] = example.candidates
            responses = [
                {"value": labels if len(labels) > 1 else labels[0], "user_id": who} for who, labels in example.answers
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
        question = _question(source, options, []) or QUESTION
        for at, (row, record) in enumerate(json_objects.records(source)):
            name = _key(record) or str(at)
            new = _suggestion(results, name, question)
            yield name, record | {"suggestions": _replaced(record.get("suggestions"), new, row)} if new else record


def _suggestions(record: Record, row: int) -> list[tuple[str, Any]]:
    """The questions that a record has suggestions for, and these, in the form of Argilla 2 or 1."""
    suggestions = record.get("suggestions") or {}
    if isinstance(suggestions, list):
        named = (
            (one.get("question_name", QUESTION) if isinstance(one, dict) else QUESTION, one) for one in suggestions
        )
        return [(str(question), one) for question, one in named]
    return list(_object(suggestions, row, "suggestions").items())


def _replaced(old: Any, new: Record, row: int) -> Record | list[Record]:
    """The suggestions of a record with a new one, in the form that the record has."""
    if not isinstance(old, list):
        return _object(old, row, "suggestions") | new
    others = [one for one in old if not (isinstance(one, dict) and one.get("question_name") in new)]
    return [*others, *({"question_name": question, **suggestion} for question, suggestion in new.items())]


def _suggestion(results: Results, example: str, question: str) -> Record:
    label = results.label(example)
    if label is None:
        return {}
    return {question: {"value": label, "score": results.confidence(example), "agent": results.model}}


def _example(row: int, record: Record, question: str | None) -> Example:
    fields = _object(record.get("fields"), row, "fields") | _object(record.get("metadata"), row, "metadata")
    vectors = _object(record.get("vectors"), row, "vectors")
    if vectors and "features" not in fields:
        fields["features"] = vectors[min(vectors)]
    example = Example(row, _key(record), fields)
    if "candidates" in fields:
        example.candidates = label_names(fields["candidates"], row, "metadata.candidates")
    for name, who, value, counts in _responses(record, row):
        if name == question:
            example.answers.append((who, label_names(value, row, "responses") if counts else []))
    return example


def _responses(record: Record, row: int) -> Iterator[tuple[str, str, Any, bool]]:
    """Yield (question, user, value, whether it counts) of every response, in the form of Argilla 2 or 1."""
    responses = record.get("responses") or {}
    if isinstance(responses, list):
        for response in responses:
            one = _object(response, row, "responses")
            for question, value in _object(one.get("values"), row, "responses").items():
                answer = value.get("value") if isinstance(value, dict) else value
                yield question, str(one.get("user_id")), answer, one.get("status") != "discarded"
        return
    for question, some in _object(responses, row, "responses").items():
        for response in some if isinstance(some, list) else []:
            one = _object(response, row, "responses")
            yield question, str(one.get("user_id")), one.get("value"), one.get("status") != "discarded"


def _counted(path: Path) -> tuple[Counter[str], Counter[str]]:
    """How often each question was answered with labels, and how often answers to it were suggested."""
    counts: Counter[str] = Counter()
    suggested: Counter[str] = Counter()
    for row, record in json_objects.records(path):
        counts.update(question for question, _, value, _ in _responses(record, row) if _is_label(value))
        suggested.update(question for question, _ in _suggestions(record, row))
    return counts, suggested


def _question(path: Path, options: ReadOptions, notes: list[str]) -> str | None:
    """Return the question that is answered with labels: the user's choice, else the one most often answered so."""
    counts, suggested = _counted(path)
    return choose_question(counts, options, notes) or next((name for name, _ in suggested.most_common(1)), None)


def _is_label(value: Any) -> bool:
    return isinstance(value, str | int) or (isinstance(value, list) and all(isinstance(one, str) for one in value))


def _key(record: Record) -> str | None:
    name = record.get("id", record.get("external_id"))
    return None if name is None else str(name)


def _object(value: Any, row: int, what: str) -> Record:
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise RowError(f"Row {row}: {what} is no object {{…}}; export the records again.")
    return dict(value)

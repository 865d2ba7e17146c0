"""doccano (JSONL): `{"text": …, "label": ["positive", "negative"]}`, or `{"filename": "cat.png", "label": […]}`.

All labels of an example are its candidates. Lines with one `id` are one example; with a `username`, each is what one
annotator said. Written back, `label` is the identified label, and its candidates are under `candidates`.
"""

from __future__ import annotations

from collections.abc import Iterator

from pll.dataset import PartialLabelDataset
from pll.formats.json_objects import ANSWERS, Record
from pll.formats.results import Results
from pll.formats.tools.records import LineFormat, examples_of

_PEOPLE = ("username", "user", "annotator")


class Doccano(LineFormat):
    """Exports of doccano (JSONL)."""

    def cannot_hold(self, dataset: PartialLabelDataset) -> list[str]:
        lost = super().cannot_hold(dataset)
        if (dataset.texts is None and dataset.pictures is None) or "_input_hash" in dataset.extras:
            lost.append("Which tool the file is for: read again, it is taken for another's, and its labels are lost.")
        return lost

    def records(self, dataset: PartialLabelDataset, results: Results | None) -> Iterator[Record]:
        for i, example in enumerate(examples_of(dataset, self.form)):
            record: Record = {"id": example.key}
            record |= {"filename" if name == "image" else name: value for name, value in example.fields.items()}
            if results is not None:
                yield self.labelled(record | {"label": []}, dataset, i, results)
                continue
            if not example.people(ANSWERS):
                yield record | {"label": example.stated}
            for who, labels in example.people(ANSWERS):
                line = record | {"label": labels, "username": who}
                yield line | {"candidates": example.stated} if example.stated else line

    def labelled(self, record: Record, dataset: PartialLabelDataset, i: int, results: Results) -> Record:
        example = str(dataset.row_ids[i])
        label, score = results.label(example), results.confidence(example)
        new: Record = {"label": [] if label is None else [label]} if example in results else {}
        if score is not None and "confidence" not in record:  # a field of the user's own stays
            new["confidence"] = score
        if dataset.candidates is not None:
            new["candidates"] = dataset.candidates.names(i)
        return {name: value for name, value in record.items() if name not in _PEOPLE} | new  # it is not their label

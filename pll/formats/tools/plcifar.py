"""PLCIFAR10 as JSON: `{index: [[labels], …]}`, one set from each of about ten annotators of an image.

Who they are is not known. Together they are the candidates (*aggregate*); `ReadOptions(combine="largest")` takes the
largest set instead (*vaguest*): as published, without how many named each label. It is published as a pickle, which is
never opened: save the same as JSON.
"""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

from pll.dataset import PartialLabelDataset
from pll.errors import UserError
from pll.formats import json_objects
from pll.formats.base import ReadOptions
from pll.formats.json_objects import ANSWERS
from pll.formats.limitations import class_limitations, part_limitations
from pll.formats.results import Results
from pll.formats.tabular.jsonl import JsonLines
from pll.formats.tools.records import examples_of, has_own_sets


class PlCifar(JsonLines):
    """PLCIFAR10 as JSON."""

    def sniff(self, path: Path, head: bytes) -> bool:
        with suppress(UserError, UnicodeDecodeError):
            return json_objects.shape_of(path) == "keyed answers"
        return False

    def cannot_hold(self, dataset: PartialLabelDataset) -> list[str]:
        lost = [*part_limitations(dataset, {"ids", "class names", "annotations"}), *class_limitations(dataset)]
        annotations = dataset.annotations
        if annotations is not None and has_own_sets(dataset):
            lost.append("Who gave which label, since the candidate sets are not just what the annotators named.")
        elif annotations is not None and not annotations.anonymous:
            lost.append("The names of the annotators.")
        elif annotations is None:
            lost.append("That the sets are not one person's answer.")
        return lost

    def write(self, dataset: PartialLabelDataset, path: Path, results: Results | None = None) -> None:
        dataset.sets()  # without any there is nothing to write
        entries: dict[str | None, Any] = {}
        for example in examples_of(dataset):
            label = None if results is None else results.label(str(example.key))
            if label is not None:
                entries[example.key] = [[label]]
            else:
                said = [labels for _, labels in example.people(ANSWERS)]
                entries[example.key] = [example.stated] if example.stated else said
        with path.open("w", encoding="utf-8") as file:
            json.dump(entries, file, ensure_ascii=False)

    def no_place(self, source: Path, options: ReadOptions) -> str:
        return ""

    def give_back(self, source: Path, path: Path, results: Results, options: ReadOptions) -> None:
        self.write(self.read(source, options), path, results)

    def cannot_give_back(self, source: Path, results: Results, options: ReadOptions) -> list[str]:
        return ["The annotations: the identified label of an image replaces them."]

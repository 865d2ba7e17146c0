"""PLCIFAR10 as JSON: `{index: [[labels], …]}`, one set from each of about ten annotators of an image.

Who they are is not known. Together they are the candidates (*aggregate*); `ReadOptions(combine="largest")` takes the
largest set instead (*vaguest*). It is published as a pickle, which is never opened: save the same as JSON.
"""

from __future__ import annotations

import json
import re
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from pll.dataset import PartialLabelDataset
from pll.errors import RowError, UserError
from pll.formats.base import HEAD_BYTES, Format, ReadOptions
from pll.formats.checks import (
    parsing,
    readable,
    scan_text,
    shorten,
)
from pll.formats.json_objects import count_values, unique_keys
from pll.formats.limitations import class_limitations, part_limitations
from pll.formats.results import Results
from pll.formats.tools.records import Example, dataset_of, examples_of, has_own_sets, label_names

MAX_BYTES = 40 * 2**20
MAX_VALUES = 2_500_000
"""Maximum size: the file is one object, which is read whole. The published one has 50,000 images, a million values."""


class PlCifar(Format):
    """PLCIFAR10 as JSON."""

    name = "plcifar"
    label = "PLCIFAR10 annotations (JSON)"
    tool = "your annotations"
    adds = "The identified label replaces the annotations."
    content = "json"
    suffixes = (".json",)
    row_note = "Rows are counted as the entries of the file, from 0."

    def sniff(self, path: Path, head: bytes) -> bool:
        text = head.decode("utf-8-sig", errors="replace")
        if len(head) == HEAD_BYTES:  # of a long file the whole entries
            text = text[: max((end.end() for end in re.finditer(r"\]\s*\]", text)), default=0)] + "}"
        with suppress(ValueError, RecursionError):
            entries = json.loads(text)
            return isinstance(entries, dict) and bool(entries) and all(map(_are_answers, entries.values()))
        return False

    def read(self, path: Path, options: ReadOptions) -> PartialLabelDataset:
        examples = (
            Example(row, index, {}, answers=[(f"answer {k}", names) for k, names in enumerate(sets, start=1)])
            for row, (index, sets) in enumerate(_load(path).items())
        )
        data = dataset_of(examples, options)
        if data.annotations is None:
            raise UserError("Nobody gave a label: every list is empty.")
        return replace(data, annotations=replace(data.annotations, anonymous=True))

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
            elif example.candidates is not None:
                entries[example.key] = [example.candidates]
            else:
                entries[example.key] = [labels for _, labels in example.answers]
        with path.open("w", encoding="utf-8") as file:
            json.dump(entries, file, ensure_ascii=False)

    def cannot_give_back(self, source: Path, results: Results, options: ReadOptions) -> list[str]:
        return ["The annotations: the identified label of an image replaces them."]


def _are_answers(sets: object) -> bool:
    """Whether a value is a list of lists of labels."""
    return isinstance(sets, list) and all(
        isinstance(names, list) and all(isinstance(name, str | int) for name in names) for names in sets
    )


def _load(path: Path) -> dict[str, list[list[str]]]:
    """Return by index the answers of each person."""
    size = path.stat().st_size
    if size > MAX_BYTES:
        raise UserError(f"The file takes {readable(size)}; at most {readable(MAX_BYTES)} are read. Split it.")
    scan_text(path)
    with parsing("the JSON", "save the dictionary with json.dump"):
        text = path.read_text(encoding="utf-8-sig")
        if count_values(text) > MAX_VALUES:
            raise UserError(f"The file holds more than {MAX_VALUES:,} values; split it.")
        content = json.loads(text, object_pairs_hook=unique_keys)
        json.dumps(content, ensure_ascii=False).encode()  # half a character, written as an escape
    if not isinstance(content, dict) or not content:
        raise UserError("The file must hold an object {index: [[labels], …]} with at least one entry.")
    sets_of: dict[str, list[list[str]]] = {}
    for at, (index, sets) in enumerate(content.items()):
        if not isinstance(sets, list) or not all(isinstance(names, list) for names in sets):
            raise RowError(f"Row {at} (index {shorten(index)}) holds no list of lists; write [[labels], …].")
        sets_of[index] = [label_names(names, at, f"index {shorten(index)}") for names in sets]
    return sets_of

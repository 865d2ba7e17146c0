"""The parts that columns of a table can play, and the names and marks that always say which.

What neither a name nor a mark says is guessed (`pll.formats.guessing`).
"""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass

ROLES = {
    "id": "name of the example",
    "text": "what there is to read",
    "image": "name or address of a picture",
    "feature": "number to learn from",
    "category": "words to learn from, once they are encoded",
    "candidates": "the labels the example may have",
    "true_label": "its true label",
    "split": "train or test",
    "annotator": "what one annotator said; a column each",
    "class": "1 where this class is a candidate, 0 where not; a column each",
    "task": "long form: the example a line is about",
    "worker": "long form: who annotated",
    "vote": "long form: the label that was given",
    "keep": "carried along, never learnt from",
    "ignore": "left out",
}
"""Every part a column can play."""

SINGLE = ("id", "text", "image", "candidates", "true_label", "split", "task", "worker", "vote")
"""Parts that only one column can play."""

LABEL_COLUMNS = ("id", "candidates", "true_label", "split")
"""Names that always mean what they say; a feature cannot be called so."""

PAYLOAD_COLUMNS = ("text", "image")
"""Names that always mean what there is to read or to see."""

CONSENSUS_COLUMNS = ("num_annotations", "consensus_label", "annotator_agreement", "consensus_quality_score")
"""What cleanlab finds out from several annotators: a result, not read back."""

MARKS = {
    "annotator": "annotator:",
    "class": "candidate:",
    "feature": "feature:",
    "category": "category:",
    "keep": "keep:",
}
"""How a column may be marked whose part its name would not tell: `annotator:ann`, `category:zip`."""

UNNAMED = "unnamed"
"""How a column without a name is called, before its place."""


@dataclass(frozen=True)
class Column:
    """A column and the part it plays.

    Attributes:
        at: its position in the table, from 0.
        name: its name, trimmed.
        role: one of `ROLES`.
        shown: what it is called as a feature, an annotator, a class.
        guessed: whether neither the user nor a reserved name says so.
        first: its first cells, for a person to see what it is; None where one is missing.
    """

    at: int
    name: str
    role: str
    shown: str
    guessed: bool = False
    first: tuple[str | None, ...] = ()


def marked(role: str, name: str) -> str:
    """The header of a column that is marked; in quotes what would be lost without.

    >>> marked("annotator", "ann"), marked("category", " x")
    ('annotator:ann', 'category:" x"')
    """
    plain = name == name.strip() != "" and not name.startswith('"')
    return MARKS[role] + (name if plain else json.dumps(name, ensure_ascii=False))


def shown_as(header: str) -> str:
    """What a column is called, without its mark if it has one."""
    role = next((role for role, mark in MARKS.items() if header.startswith(mark)), "")
    return bare_name(header, role)


def bare_name(name: str, role: str) -> str:
    """What a column is called as a feature, an annotator, …: its name without the mark."""
    mark = MARKS.get(role)
    if mark is None or not name.startswith(mark) or name == mark:
        return name
    bare = name.removeprefix(mark)
    if bare.startswith('"'):
        with suppress(ValueError):
            called = json.loads(bare)
            return called if isinstance(called, str) else bare
    return bare

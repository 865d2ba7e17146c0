"""The one long table of answers: who says what of which example, whatever the source looked like.

Columns of annotators, lines, columns of classes, probabilities and counts, lists and objects in cells, records of tools
and files of votes all fill it; `pll.formats.labels` alone turns it into candidate sets, votes, truth and prior.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

NOBODY = -1
"""Whose an answer is where nobody knows, or that is nobody's (the file's own candidates, say)."""
KINDS = ("vote", "set", "share", "truth", "not")
"""What an answer is: a voter's, a candidate set, how often or how likely a label is, the truth, a label ruled out."""


@dataclass(frozen=True, eq=False)
class Chunk:
    """Answers of one kind that stand together, as one column of the source: a cell is read once, however often it is.

    Attributes
    ----------
    kind
        One of `KINDS`.
    example
        (m,) int64, the example of each answer.
    who
        (m,) int64, whose it is; `NOBODY` where nobody knows.
    codes
        (m,) int64, which of the different cells each answer is.
    cells
        The different cells, as they stand.
    weight
        (m,) float64, confidence, count or probability; NaN where there is none; or None.
    row
        (m,) int64, positions in the source, for messages.
    column
        What a message calls the column.
    separator
        Between several labels in a cell.
    values
        What each of the cells means, once it is read: a tuple of names.
    """

    kind: str
    example: npt.NDArray[np.int64]
    who: npt.NDArray[np.int64]
    codes: npt.NDArray[np.int64]
    cells: list[str]
    row: npt.NDArray[np.int64]
    column: str = ""
    weight: npt.NDArray[np.float64] | None = None
    separator: str = "|"
    values: list[Any] = field(default_factory=list)


@dataclass(frozen=True, eq=False)
class Answers:
    """All answers of a source.

    Attributes
    ----------
    chunks
        Its parts.
    ids
        The examples.
    people
        The voters, by number.
    row_of
        The number that a message gives to a position.
    anonymous
        Whether nobody knows who the voters are: they are then the first, second, … answer on an example.
    """

    chunks: tuple[Chunk, ...]
    ids: Sequence[str]
    people: tuple[str, ...] = ()
    row_of: Callable[[int], int] = int
    anonymous: bool = False

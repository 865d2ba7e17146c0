"""Decisions as arrays for the queue and the conditional logit: rows, labels, order, eliminated labels.

Who decided, when, and where it is stored: `pll.review.store`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from pll.candidates import CandidateSets, whole_numbers
from pll.errors import UserError
from pll.weights import Flags, Ints, normalise

OUTSIDE = -1
"""The label of a decision "none of these"."""

DECISION_COUNTS = 10.0
"""How many label weights of the model a decided label counts as, among neighbours and in fits to both."""

NEVER_DECIDED = np.iinfo(np.int64).max
"""Turn of an undecided example."""


@dataclass(frozen=True, eq=False)
class Decided:
    """Decisions over n examples.

    Parameters
    ----------
    sets
        The candidate sets as the run has them; they stay as they are, whatever is struck out.
    rows
        (m,) decided examples, in the order in which they were decided, each once.
    labels
        (m,) class index decided for each; `OUTSIDE` (−1), or a label that is no candidate, for "none of these".
    eliminated
        (nnz,) bool, True on candidates that a reviewer ruled out; None for none.

    Raises
    ------
    UserError
        a row that does not exist or occurs twice, a label that is no class, arrays that do not fit.

    Examples
    --------
    >>> sets = CandidateSets.from_lists([[0, 2], [1, 2], [0, 1]], n_classes=3)
    >>> decided = Decided.of(sets, {2: 1, 0: 2})
    >>> decided.is_decided.tolist(), decided.turn[[2, 0]].tolist(), decided.positions.tolist()
    ([True, False, True], [0, 1], [5, 1])
    """

    sets: CandidateSets
    rows: Ints
    labels: Ints
    eliminated: Flags | None = None

    def __post_init__(self) -> None:
        set_field = object.__setattr__  # the class is frozen; these are its normal forms
        rows = whole_numbers(self.rows, "decided rows").astype(np.int64)
        labels = whole_numbers(self.labels, "decided labels").astype(np.int64)
        set_field(self, "rows", rows)
        set_field(self, "labels", labels)
        if len(rows) != len(labels):
            raise UserError(f"{len(rows)} rows were decided but there are {len(labels)} labels; give one per row.")
        n, c = len(self.sets), self.sets.n_classes
        if len(rows) and (rows.min() < 0 or rows.max() >= n):
            raise UserError(f"Row {int(rows.max())} was decided, but the rows run from 0 to {n - 1}.")
        if len(np.unique(rows)) < len(rows):
            raise UserError("A row was decided twice; give the decision that counts.")
        if len(labels) and (labels.min() < OUTSIDE or labels.max() >= c):
            raise UserError(
                f"A decided label is no class; labels run from 0 to {c - 1}, or {OUTSIDE} for none of them."
            )
        if self.eliminated is not None and np.shape(self.eliminated) != (self.sets.nnz,):
            raise UserError(f"The eliminated labels must be {self.sets.nnz} marks, one per candidate.")

    @classmethod
    def of(
        cls,
        sets: CandidateSets,
        decisions: Mapping[int, int] | None = None,
        eliminated: Iterable[tuple[int, int]] = (),
    ) -> Decided:
        """From a mapping row → label, in the order in which they were decided.

        Parameters
        ----------
        sets
            n candidate sets.
        decisions
            None for none yet.
        eliminated
            Pairs (row, label); a pair that is no candidate is passed over.
        """
        labels = dict(decisions or {})
        marks = np.zeros(sets.nnz, dtype=np.bool_)
        for row, label in eliminated:
            at = int(sets.indptr[row]) + int(np.searchsorted(sets[row], label))
            if at < sets.indptr[row + 1] and sets.indices[at] == label:
                marks[at] = True
        return cls(sets, _whole(labels.keys()), _whole(labels.values()), marks if marks.any() else None)

    def __len__(self) -> int:
        return len(self.rows)

    @cached_property
    def is_decided(self) -> Flags:
        """(n,) bool."""
        result = np.zeros(len(self.sets), dtype=np.bool_)
        result[self.rows] = True
        return result

    @cached_property
    def turn(self) -> Ints:
        """(n,) when each example was decided: 0, 1, …; `NEVER_DECIDED` where it was not."""
        result = np.full(len(self.sets), NEVER_DECIDED, dtype=np.int64)
        result[self.rows] = np.arange(len(self.rows))
        return result

    @cached_property
    def positions(self) -> Ints:
        """Return the (m,) positions of the decided labels in `sets.indices`; −1 for labels that are no candidate."""
        result = np.full(len(self.rows), -1, dtype=np.int64)
        sizes = self.sets.sizes[self.rows]
        at = self.sets.positions(self.rows)
        owner = np.repeat(np.arange(len(self.rows)), sizes)
        hit = self.sets.indices[at] == self.labels[owner]
        result[owner[hit]] = at[hit]
        return result

    @cached_property
    def counts(self) -> npt.NDArray[np.float32]:
        """(n,) how many label weights of the model an example counts as: `DECISION_COUNTS` where decided, else 1."""
        return np.where(self.is_decided, np.float32(DECISION_COUNTS), np.float32(1))

    @cached_property
    def open(self) -> Flags:
        """Return (nnz,) bool, candidates that are not ruled out; all of them where every one is."""
        if self.eliminated is None:
            return np.ones(self.sets.nnz, dtype=np.bool_)
        remaining = ~np.asarray(self.eliminated, dtype=np.bool_)
        some = np.logical_or.reduceat(remaining, self.sets.indptr[:-1])
        return remaining | ~some[self.sets.rows]

    def apply_to(self, weights: npt.NDArray[np.floating[Any]]) -> npt.NDArray[np.float32]:
        """(nnz,) label weights as decisions leave them: one-hot where decided, 0 where ruled out, else renormalised.

        An example whose decided label is no candidate has no weight left on any.
        """
        result = np.where(self.open, weights, 0).astype(np.float32)
        if self.eliminated is not None:
            has_some = np.add.reduceat(result, self.sets.indptr[:-1]) > 0
            result = normalise(np.where(has_some[self.sets.rows], result, self.open), self.sets)
        result[self.sets.positions(self.rows)] = 0
        result[self.positions[self.positions >= 0]] = 1
        return result


def _whole(values: Iterable[int]) -> Ints:
    return np.fromiter((int(value) for value in values), dtype=np.int64)

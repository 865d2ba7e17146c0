"""Decisions as arrays for the queue and the conditional logit: rows, labels, order, eliminated labels.

Who decided, when, and where it is stored: `pll.review.store`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from pll.candidates import CandidateSets
from pll.weights import Flags, Ints, Values, normalise

OUTSIDE = -1
"""The label of a decision "none of these"."""

DECISION_COUNTS = 10.0
"""How many label weights of the model a decided label counts as, among neighbours and in fits to both."""

NEVER_DECIDED = np.iinfo(np.int64).max
"""Turn of an undecided example."""


@dataclass(frozen=True, eq=False)
class Decided:
    """Decisions over n examples; made by `of`. That an event names a row there is, is checked where it is read.

    Attributes
    ----------
    sets
        The candidate sets as the run has them; they stay as they are, whatever is struck out.
    rows
        (m,) decided examples, in the order in which they were decided, each once.
    labels
        (m,) class index decided for each; `OUTSIDE` (−1), or a label that is no candidate, for "none of these".
    eliminated
        (nnz,) bool, True on candidates that a reviewer ruled out.

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
    eliminated: Flags

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
        marks = np.zeros(sets.nnz, dtype=np.bool_)
        for row, label in eliminated:
            at = int(sets.indptr[row]) + int(np.searchsorted(sets[row], label))
            if at < sets.indptr[row + 1] and sets.indices[at] == label:
                marks[at] = True
        rows, labels = np.array(list((decisions or {}).items()), dtype=np.int64).reshape(-1, 2).T
        return cls(sets, rows, labels, marks)

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def undecided(self) -> Decided:
        """What was ruled out, without the labels."""
        return replace(self, rows=self.rows[:0], labels=self.labels[:0])

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
    def had_choice(self) -> Flags:
        """Return (m,) bool, whether the example has several candidates: else nothing was chosen."""
        return self.sets.sizes[self.rows] > 1

    @cached_property
    def counts(self) -> npt.NDArray[np.float32]:
        """(n,) how many label weights of the model an example counts as: `DECISION_COUNTS` where decided, else 1."""
        return np.where(self.is_decided, np.float32(DECISION_COUNTS), np.float32(1))

    @cached_property
    def open(self) -> Flags:
        """Return (nnz,) bool, candidates that are not ruled out; all of them where every one is."""
        remaining = ~self.eliminated
        some = np.logical_or.reduceat(remaining, self.sets.indptr[:-1])
        return remaining | ~some[self.sets.rows]

    def apply_to(self, weights: Values) -> npt.NDArray[np.float32]:
        """(nnz,) label weights as decisions leave them: one-hot where decided, 0 where ruled out, else renormalised.

        An example whose decided label is no candidate has no weight left on any.
        """
        result = np.where(self.open, weights, 0).astype(np.float32)
        if self.eliminated.any():
            has_some = np.add.reduceat(result, self.sets.indptr[:-1]) > 0
            result = normalise(np.where(has_some[self.sets.rows], result, self.open), self.sets)
        result[self.sets.positions(self.rows)] = 0
        result[self.positions[self.positions >= 0]] = 1
        return result

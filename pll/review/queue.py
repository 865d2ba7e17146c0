"""The review queue: its order and its filters.

The labels come first that the run, its neighbours and the decisions are least sure of; no truth is needed for that.
docs/review.md compares this order with others, by the figures of `python -m benchmarks.review`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from pll.annotations.data import Annotations
from pll.errors import UserError
from pll.review.decided import Decided, as_decided
from pll.review.logit import propose, top_probability
from pll.review.signals import ReviewSignals

Rows = npt.NDArray[np.int64]


def rank(
    signals: ReviewSignals, decided: Decided | Mapping[int, int] | None = None, *, seed: int = 0
) -> npt.NDArray[np.int64]:
    """Return all rows, those most worth a look first, those with one candidate behind them, the decided ones last.

    A row is the more worth a look, the smaller max_j p_ij of the conditional logit is. Equals are ordered by
    confidence, the least first, then at random, so that no batch is all of one kind.

    Parameters
    ----------
    signals : ReviewSignals
        Of the run.
    decided : Decided or dict, optional
        What people decided (a dict of row to label, in the order decided), without answers to controls.
    seed : int
        Of the order of ties.

    Returns
    -------
    (n,) int64
    """
    known = as_decided(signals.sets, decided)
    shuffled = np.random.default_rng(seed).permutation(len(signals.sets))
    certainty = top_probability(propose(signals, known), signals.sets)
    return np.lexsort((shuffled, signals.sharp.confidence, certainty, signals.sets.sizes == 1, known.is_decided))


@dataclass(frozen=True)
class QueueFilter:
    """Conditions that must all hold; by default only that it is undecided.

    Parameters
    ----------
    classes
        The identified label is one of these class indices; empty for any.
    pair
        Both classes are candidates, and one of them is the identified label: what is confused with what.
    annotator
        Index of a person who annotated the example; None for any.
    against
        With `annotator`, only where that person did not name the identified label.
    undecided
        Leave out what is decided.
    rows
        Only these examples; None for any.
    chosen
        What these are, in words.
    """

    classes: tuple[int, ...] = ()
    pair: tuple[int, int] | None = None
    annotator: int | None = None
    against: bool = False
    undecided: bool = True
    rows: Rows | None = field(default=None, compare=False)
    chosen: str = ""

    def mask(
        self,
        signals: ReviewSignals,
        decided: Decided | Mapping[int, int] | None = None,
        annotations: Annotations | None = None,
    ) -> npt.NDArray[np.bool_]:
        """(n,) bool, True on the examples to be shown.

        Parameters
        ----------
        annotations
            Who said what; needed to filter by annotator.

        Raises
        ------
        UserError
            a class, annotator or row that does not exist, a pair of one class, no annotations to filter by.
        """
        sets, identified = signals.sets, signals.sharp.identified
        keep = np.ones(len(sets), dtype=np.bool_)
        for label in (*self.classes, *(self.pair or ())):
            if not 0 <= label < sets.n_classes:
                raise UserError(f"There is no class {label}; the classes run from 0 to {sets.n_classes - 1}.")
        if self.rows is not None:
            if len(self.rows) and not 0 <= self.rows.min() <= self.rows.max() < len(sets):
                raise UserError(f"There are rows chosen that do not exist; there are {len(sets):,}.")
            keep[:] = False
            keep[self.rows] = True
        if self.undecided:
            keep &= ~as_decided(sets, decided).is_decided
        if self.classes:
            keep &= np.isin(identified, self.classes)
        if self.pair is not None:
            one, other = self.pair
            if one == other:
                raise UserError("A pair of classes needs two different ones.")
            both = sets.contains(np.full(len(sets), one)) & sets.contains(np.full(len(sets), other))
            keep &= both & np.isin(identified, self.pair)
        if self.annotator is not None:
            keep &= self._annotated(annotations, identified)
        return keep

    def _annotated(self, said: Annotations | None, identified: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        if said is None:
            raise UserError("This data has no annotators to filter by.")
        if self.annotator is None or not 0 <= self.annotator < said.n_annotators:
            raise UserError(f"There is no annotator {self.annotator}; there are {said.n_annotators}, counted from 0.")
        own = said.annotators == self.annotator
        spoke = np.zeros(said.n_rows, dtype=np.bool_)
        spoke[said.rows[own]] = True
        if self.against:
            agreed = own & (said.labels == identified[said.rows])
            spoke[said.rows[agreed]] = False
        return spoke


UNFILTERED = QueueFilter(undecided=False)
"""Lets everything through."""

"""Review queue: filters, and random controls mixed into an order.

Controls are answered in the order in which they were drawn (`pll.review.sampling_plan.draw_controls`), whatever the
order of the queue and whatever is filtered: that is what makes the certificate valid. They come at random places, so
that a reviewer cannot tell a control from another example.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pll.annotations.data import Annotations
from pll.errors import UserError
from pll.review.decided import Decided, as_decided
from pll.review.signals import ReviewSignals

SHARE = 0.1
"""Of what is shown are controls, unless another share is asked for."""

Rows = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Queue:
    """What to show, in this order.

    Attributes:
        rows: (m,) examples, each once.
        is_control: (m,) bool; reviewers are not to see it.
    """

    rows: Rows
    is_control: npt.NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.rows)


def with_controls(
    order: npt.ArrayLike, controls: npt.ArrayLike, share: float = SHARE, *, shown: int = 0, seed: int = 0
) -> Queue:
    """Mix the controls, in drawn order, into an order, so that about `share` of what is shown are controls.

    Args:
        order: (a,) rows to be shown, the first first: ranked, filtered, without what is decided or reserved.
        controls: (b,) controls not yet answered, in the order drawn. One that is also in `order` is shown once, at
            its place as a control.
        share: in [0, 1]; 0 mixes none in, 1 shows controls only.
        shown: how many examples were shown before: the pattern goes on from there, so that a queue that is recomputed
            after every decision keeps to the share.
        seed: of the pattern.

    Returns:
        All controls and all other rows of the order. Once one of the two is used up, the rest of the other follows;
        with a share of 0 the controls are left out.

    Raises:
        UserError: a share outside [0, 1].

    >>> mixed = with_controls(np.arange(20), [15, 3], share=0.25, seed=1)
    >>> mixed.rows[mixed.is_control].tolist(), len(mixed), int(np.flatnonzero(mixed.is_control)[0]) < 4
    ([15, 3], 20, True)
    """
    if not 0 <= share <= 1:
        raise UserError(f"The control share is {share}; it must lie between 0 and 1 (0.1 for one in ten).")
    drawn = np.asarray(controls, dtype=np.int64)
    ranked = np.asarray(order, dtype=np.int64)
    if share == 0 or len(drawn) == 0:
        return Queue(ranked, np.zeros(len(ranked), dtype=np.bool_))
    others = ranked[~np.isin(ranked, drawn)]
    places = control_places(share, shown, len(others) + len(drawn), seed)[: len(drawn)]
    # The t-th control stands before as many others as its place leaves room for, or after all of them.
    before = np.minimum(places - np.arange(len(places)), len(others))
    before = np.append(before, np.full(len(drawn) - len(places), len(others)))
    return Queue(np.insert(others, before, drawn), np.insert(np.zeros(len(others), np.bool_), before, True))


def control_places(share: float, shown: int, length: int, seed: int = 0) -> Rows:
    """Places, counted from 0 after those already shown, at which controls belong: one at random in every 1 / share.

    >>> control_places(0.1, 0, 100).shape, bool((control_places(0.1, 30, 70) + 30 >= 30).all())
    ((10,), True)
    """
    most = int(np.ceil((shown + length) * share)) + 1
    stretches = (np.arange(most) + np.random.default_rng([seed, 7]).random(most)) / share
    places = np.floor(stretches).astype(np.int64)
    steps = np.arange(most)
    places = np.maximum.accumulate(places - steps) + steps  # two never share a place
    return places[(places >= shown) & (places < shown + length)] - shown


@dataclass(frozen=True)
class QueueFilter:
    """Conditions that must all hold; by default only that nobody has decided yet.

    Args:
        classes: the identified label is one of these class indices; empty for any.
        pair: both classes are candidates, and one of them is the identified label: what is confused with what.
        annotator: index of somebody who said something about the example; None for anybody.
        against: with `annotator`, only where that person did not name the identified label.
        undecided: leave out what is decided.
    """

    classes: tuple[int, ...] = ()
    pair: tuple[int, int] | None = None
    annotator: int | None = None
    against: bool = False
    undecided: bool = True

    def mask(
        self,
        signals: ReviewSignals,
        decided: Decided | Mapping[int, int] | None = None,
        annotations: Annotations | None = None,
    ) -> npt.NDArray[np.bool_]:
        """(n,) bool, True on the examples to be shown.

        Args:
            annotations: who said what; needed to filter by annotator.

        Raises:
            UserError: a class or annotator that does not exist, a pair of one class, no annotations to filter by.
        """
        sets, identified = signals.sets, signals.sharp.identified
        keep = np.ones(len(sets), dtype=np.bool_)
        for label in (*self.classes, *(self.pair or ())):
            if not 0 <= label < sets.n_classes:
                raise UserError(f"There is no class {label}; the classes run from 0 to {sets.n_classes - 1}.")
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

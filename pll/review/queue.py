"""The queue itself: an order, filtered, with random controls for the certificate mixed in.

Controls are answered in the order in which they were drawn (`pll.review.sampling_plan.draw_controls`), whatever the
order of the queue and whatever is filtered: that is what makes the certificate valid. They come at random places, so
that a reviewer cannot tell a control from another example.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pll.errors import UserError

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
        shown: how many examples were shown before: the pattern goes on from there, so that a queue that is made anew
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

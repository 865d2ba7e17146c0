"""The order of the review queue.

Examples come first about which the run, its neighbours and the decisions are least certain. No truth is needed.
docs/review.md compares this order with others, by the figures of `python -m benchmarks.review`.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from pll.review.decided import Decided, as_decided
from pll.review.logit import propose, top_probability
from pll.review.signals import ReviewSignals


def review_order(
    signals: ReviewSignals, decided: Decided | Mapping[int, int] | None = None, *, seed: int = 0
) -> npt.NDArray[np.int64]:
    """Return all rows by max_j p_ij of the conditional logit, the smallest first.

    Rows with one candidate come after all others, decided ones last. Ties are ordered by confidence, then at random, so
    that a batch is not all of one class.

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
    decisions = as_decided(signals.sets, decided)
    shuffled = np.random.default_rng(seed).permutation(len(signals.sets))
    certainty = top_probability(propose(signals, decisions), signals.sets)
    return np.lexsort((shuffled, signals.sharp.confidence, certainty, signals.sets.sizes == 1, decisions.is_decided))

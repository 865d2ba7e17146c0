"""Labels that the decisions so far speak for, where nobody has looked: proposals, until people take them over.

What a page may do with them, and what not (docs/review.md, "Proposals"):

- show them beside the run's labels, and which labels they would change;
- take them over as the labels of what nobody has decided: then they are labels by the model (`source` is `model`),
  and a certificate of the labels before does not speak of them: it needs a round of its own;
- never as decisions, and never silently.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pll.review.decided import Decided, as_decided
from pll.review.logit import Logit, fit, propose
from pll.review.signals import ReviewSignals
from pll.weights import Weights, sharpness


@dataclass(frozen=True, eq=False)
class Proposals:
    """What the conditional logit makes of a run and the decisions.

    Attributes:
        weights: (nnz,) float32 label weights p_ij, one-hot where decided.
        labels: (n,) int64, argmax over S_i of them.
        confidence: (n,) float32, the largest of them.
        changed: (m,) int64 undecided rows whose label would differ from the run's, the surest change first.
        logit: what was learnt, for who wants to read it.
    """

    weights: Weights
    labels: npt.NDArray[np.int64]
    confidence: npt.NDArray[np.float32]
    changed: npt.NDArray[np.int64]
    logit: Logit


def proposals(signals: ReviewSignals, decided: Decided | Mapping[int, int] | None = None) -> Proposals:
    """What the decisions so far propose for every example.

    Args:
        decided: without the answers to controls that judge the labels in question: they never teach.

    >>> from pll.candidates import CandidateSets
    >>> sets = CandidateSets.from_lists([[0, 1], [0, 1], [0, 1]], n_classes=2)
    >>> run = ReviewSignals(
    ...     sets,
    ...     np.array([0.6, 0.4, 0.6, 0.4, 0.6, 0.4], dtype=np.float32),
    ...     neighbours=np.array([[1, 2], [0, 2], [0, 1]], dtype=np.int32),
    ... )
    >>> proposals(run, {0: 1, 1: 1}).changed.tolist()
    [2]
    """
    known = as_decided(signals.sets, decided)
    learnt = fit(signals, known)
    weights = propose(signals, known, learnt)
    sharp = sharpness(weights, signals.sets)
    changed = np.flatnonzero((sharp.identified != signals.sharp.identified) & ~known.is_decided)
    surest = changed[np.argsort(-sharp.confidence[changed], kind="stable")]
    return Proposals(weights, sharp.identified, sharp.confidence, surest, learnt)

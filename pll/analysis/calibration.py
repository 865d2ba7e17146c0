"""Calibration of confidence: reliability by bins and the expected calibration error."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pll.weights import Flags, Floats, Ints

RELIABILITY_BINS = 10


@dataclass(frozen=True, eq=False)
class ReliabilityDiagram:
    """Confidence and accuracy by bin; NaN in empty bins.

    Attributes
    ----------
    edges
        (b+1,) bounds of the bins in [0, 1]; a bin holds its upper bound, the first one also 0.
    counts
        (b,) examples in each bin.
    confidence
        (b,) their mean confidence.
    accuracy
        (b,) share of them that is right.
    error
        Expected calibration error, Σ counts/n · |accuracy − confidence|; NaN where there is no example.
    """

    edges: Floats
    counts: Ints
    confidence: Floats
    accuracy: Floats
    error: float


def reliability(confidence: npt.NDArray[np.floating], right: Flags, bins: int = RELIABILITY_BINS) -> ReliabilityDiagram:
    """Return reliability by equal bins of confidence, and the expected calibration error (Naeini et al. 2015).

    Parameters
    ----------
    confidence
        (n,) in [0, 1].
    right
        (n,) whether the label is the true one.
    bins
        How many.

    References
    ----------
    Naeini, Cooper & Hauskrecht, Obtaining well calibrated probabilities using Bayesian binning, AAAI 2015.

    Examples
    --------
    >>> result = reliability(np.array([0.6, 0.8, 1.0]), np.array([False, True, True]), bins=2)
    >>> result.counts.tolist(), round(result.error, 3)
    ([0, 3], 0.133)
    """
    place = np.clip(np.ceil(confidence * bins).astype(np.int64) - 1, 0, bins - 1)
    counts = np.bincount(place, minlength=bins)

    def mean(values: npt.NDArray[np.floating] | Flags) -> Floats:
        total = np.bincount(place, weights=values.astype(np.float64), minlength=bins)
        return np.asarray(np.divide(total, counts, out=np.full(bins, np.nan), where=counts > 0))

    sure, accurate = mean(confidence), mean(right)
    gaps = np.nan_to_num(np.abs(accurate - sure))
    error = float((counts * gaps).sum() / len(confidence)) if len(confidence) else float("nan")
    return ReliabilityDiagram(np.linspace(0, 1, bins + 1), counts, sure, accurate, error)

"""Tests of several methods on several data sets: Wilcoxon's; Holm's correction.

Source: Demšar, Statistical Comparisons of Classifiers over Multiple Data Sets, JMLR 7 (2006). The paired t-test on
parts, which the paper uses, is `pll.experiments.evaluation.paired_t_test`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import scipy.stats


def wilcoxon(a: npt.ArrayLike, b: npt.ArrayLike) -> float:
    """Return the two-sided p-value of Wilcoxon's signed-rank test of two methods on the same parts or data sets.

    Equal results everywhere, or fewer than two pairs, give 1.

    Parameters
    ----------
    a, b
        (n,) figures of the two methods.

    Examples
    --------
    >>> round(wilcoxon([5, 6, 7, 8, 9], [1, 1, 1, 1, 1]), 4)
    0.0625
    >>> wilcoxon([1.0, 2.0], [1.0, 2.0])
    1.0
    """
    difference = np.asarray(a, dtype=np.float64) - np.asarray(b, dtype=np.float64)
    difference = np.round(difference, 9)  # equal steps of a share are ties, whatever their last bits
    difference = difference[difference != 0]
    if len(difference) < 2:
        return 1.0
    # Exact up to 50 pairs, ties too: rank sums of all signs, not a normal approximation.
    ranks = scipy.stats.rankdata(np.abs(difference))
    smaller = min(ranks[difference > 0].sum(), ranks[difference < 0].sum())
    if len(ranks) > 50:
        return float(scipy.stats.wilcoxon(difference, method="approx").pvalue)
    counts = np.zeros(int(2 * ranks.sum()) + 1)  # of sign patterns by twice their rank sum, which is whole
    counts[0] = 1.0
    for twice in (2 * ranks).astype(np.int64):
        counts[twice:] += counts[:-twice].copy()
    return float(min(1.0, 2 * counts[: int(2 * smaller) + 1].sum() / 2.0 ** len(ranks)))


def holm(p: Sequence[float]) -> list[float]:
    """Return p-values corrected for their number (Holm, 1979), in the same order.

    Examples
    --------
    >>> [round(value, 3) for value in holm([0.01, 0.04, 0.03])]
    [0.03, 0.06, 0.06]
    """
    corrected = [1.0] * len(p)
    highest = 0.0
    for rank, k in enumerate(sorted(range(len(p)), key=lambda k: p[k])):
        highest = max(highest, min(1.0, (len(p) - rank) * p[k]))
        corrected[k] = highest
    return corrected

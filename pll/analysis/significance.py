"""Tests of several methods on several data sets: Wilcoxon's, Friedman's, Nemenyi's; Holm's correction.

Source: Demšar, Statistical Comparisons of Classifiers over Multiple Data Sets, JMLR 7 (2006). The paired t-test on
parts, which the paper uses, is `pll.experiments.evaluation.paired_t_test`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy.stats

from pll.errors import UserError


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


@dataclass(frozen=True)
class Ranking:
    """Average ranks of methods over data sets, 1 the best.

    Attributes
    ----------
    ranks
        (k,) in the order of the methods given.
    p
        Of Friedman's test that all methods are equal.
    critical
        Two methods whose ranks differ by less do not differ significantly (Nemenyi, 5 %).
    blocks
        Number of data sets.
    """

    ranks: tuple[float, ...]
    p: float
    critical: float
    blocks: int

    def groups(self) -> list[tuple[int, ...]]:
        """Return the largest groups of methods without a significant difference, as indices from the best rank on."""
        order = sorted(range(len(self.ranks)), key=lambda k: self.ranks[k])
        result: list[tuple[int, ...]] = []
        for start, first in enumerate(order):
            group = [k for k in order[start:] if self.ranks[k] - self.ranks[first] < self.critical]
            if len(group) > 1 and not (result and set(group) <= set(result[-1])):
                result.append(tuple(group))
        return result


def ranking(figures: npt.ArrayLike) -> Ranking:
    """Rank methods over data sets, with Friedman's test and Nemenyi's critical difference.

    Parameters
    ----------
    figures
        (blocks, k) the higher, the better; equal figures share a rank.

    Raises
    ------
    UserError
        Fewer than two data sets or three methods.

    Examples
    --------
    >>> found = ranking([[0.9, 0.8, 0.7], [0.8, 0.7, 0.6], [0.9, 0.7, 0.8], [0.9, 0.8, 0.7]])
    >>> found.ranks, round(found.critical, 3)
    ((1.0, 2.25, 2.75), 1.657)
    """
    table = np.asarray(figures, dtype=np.float64)
    if table.ndim != 2 or table.shape[0] < 2 or table.shape[1] < 3:
        raise UserError("Ranks need at least two data sets and three methods with figures on all of them.")
    blocks, k = table.shape
    ranks = scipy.stats.rankdata(-table, axis=1)
    p = 1.0 if np.all(ranks == ranks[:, :1]) else float(scipy.stats.friedmanchisquare(*table.T).pvalue)
    studentized = float(scipy.stats.studentized_range.ppf(0.95, k, np.inf)) / math.sqrt(2)
    critical = studentized * math.sqrt(k * (k + 1) / (6 * blocks))
    return Ranking(tuple(ranks.mean(axis=0).tolist()), p, critical, blocks)

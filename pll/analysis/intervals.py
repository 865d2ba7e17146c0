"""Confidence intervals of a share and of the difference of two shares, and tests.

Two lanes on the same examples are compared example by example: only those that one has right and the other wrong count
(McNemar's exact test), and the interval of the difference follows from them (Agresti & Min, Statistics in Medicine
2005: half a count added to each cell).
"""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass

from pll.weights import Flags

ALPHA = 0.05
"""Differences with a larger p-value are called ties."""
Z = 1.959964
"""Of a 95 % interval."""


@dataclass(frozen=True)
class Difference:
    """Two lanes on the same n examples: the share of the first less that of the second, its 95 % interval, and how
    likely chance alone gives one as large (McNemar's exact test) in any of the comparisons.
    """

    share: float
    low: float
    high: float
    p: float

    @property
    def is_tie(self) -> bool:
        """Whether the test finds no difference at the 5 % level."""
        return self.p >= ALPHA


def difference(right: Flags, other: Flags, comparisons: int = 1) -> Difference:
    """Compare two lanes on the same examples.

    Parameters
    ----------
    right, other
        (n,) whether each has the example right.
    comparisons
        How many this one was chosen from (Bonferroni): all pairs of lanes, where one of two is the best of all. Of five
        equal lanes one is else called worse than the best in every fifth comparison.

    Examples
    --------
    >>> import numpy as np
    >>> both = np.array([True] * 90 + [False] * 10)
    >>> one = np.array([True] * 95 + [False] * 5)
    >>> found = difference(one, both)
    >>> round(found.share, 3), round(found.p, 4), found.is_tie
    (0.05, 0.0625, True)
    """
    from scipy.stats import binomtest  # imported late: it takes most of a second, and the home page does not need it

    n = len(right)
    only, only_other = int((right & ~other).sum()), int((other & ~right).sum())
    discordant = only + only_other
    p = 1.0 if discordant == 0 else min(1.0, comparisons * float(binomtest(only, discordant, 0.5).pvalue))
    a, b, total = only + 0.5, only_other + 0.5, n + 2
    middle = (a - b) / total
    spread = math.sqrt(max(a + b - (a - b) ** 2 / total, 0.0)) / total
    return Difference((only - only_other) / max(n, 1), middle - Z * spread, middle + Z * spread, p)


def wilson(k: int, n: int) -> tuple[float, float]:
    """Return the 95 % interval of a share k / n (Wilson).

    Parameters
    ----------
    k, n
        Hits, and trials.

    Examples
    --------
    >>> [round(end, 3) for end in wilson(94, 100)]
    [0.875, 0.972]
    """
    from scipy.stats import binomtest

    if n == 0:
        return 0.0, 1.0
    low, high = binomtest(k, n).proportion_ci(method="wilson")
    return float(low), float(high)


def hypergeometric(k: int, m: int, n: int, *, unknown: int = 0) -> tuple[float, float]:
    """Return the exact 95 % interval of a share of n examples, from m drawn without replacement.

    Both one-sided hypergeometric tests are inverted at 2.5 % (the principle of Clopper & Pearson, Biometrika 1934, for
    a finite population), so that at least 95 % of all draws give an interval that holds the share.

    Parameters
    ----------
    k
        Drawn examples that have the property, in [0, m − unknown].
    m
        Drawn, in [0, n].
    n
        All examples, at least 1.
    unknown
        Drawn examples without an answer; the interval covers all their possible values.

    References
    ----------
    Clopper & Pearson, The use of confidence or fiducial limits illustrated in the case of the binomial, Biometrika
    26, 1934.

    Examples
    --------
    >>> hypergeometric(3, 50, 1000), hypergeometric(0, 1000, 1000), hypergeometric(0, 0, 10)
    ((0.014, 0.162), (0.0, 0.0), (0.0, 1.0))
    """
    from scipy.stats import hypergeom

    most = k + unknown
    # What the population can hold, k to n − m + most; the first test grows with it, the second one falls.
    low = bisect_left(range(k, n - m + most), True, key=lambda hits: bool(hypergeom.sf(k - 1, n, hits, m) > ALPHA / 2))
    high = bisect_left(
        range(k + 1, n - m + most + 1), True, key=lambda hits: bool(hypergeom.cdf(most, n, hits, m) <= ALPHA / 2)
    )
    return (k + low) / n, (k + high) / n

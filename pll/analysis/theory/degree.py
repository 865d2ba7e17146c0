"""Ambiguity degree γ with its pair of labels, the number of examples behind it, and an interval.

The paper's γ (Lemma learnable) is a supremum over *instances* of Pr(ȳ ∈ S | x, y). An example is seen once, with one
set, so data cannot show that; what can be counted is the share within a class, which is the same where wrong labels
enter without regard to x, and a lower bound of it elsewhere. `pll.synthesis.ambiguity` counts.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
from scipy.stats import binomtest

from pll.candidates import CandidateSets
from pll.errors import UserError
from pll.synthesis.ambiguity import flip_matrix

CONFIDENCE = 0.95


@dataclass(frozen=True, eq=False)
class LabelCooccurrence:
    """How often each label accompanies each true one in candidate sets; the ambiguity degree is the highest share.

    Attributes
    ----------
    shares
        (c, c) float64, Pr(k ∈ S | y = j) at [j, k]; NaN where no example has label j.
    examples
        (c,) int64, how many examples have label j.
    is_estimated
        Whether identified labels stood in for the truth.
    unlabelled
        Examples without a label, which do not count.
    """

    shares: npt.NDArray[np.float64]
    examples: npt.NDArray[np.int64]
    is_estimated: bool
    unlabelled: int = 0

    @property
    def gamma(self) -> float:
        """γ, the highest share off the diagonal."""
        truth, company = self.pair
        return float(self.shares[truth, company])

    @cached_property
    def pair(self) -> tuple[int, int]:
        """The true label and the wrong one that accompanies it most often; of equals the one seen in most examples."""
        truth, company, _, _ = self.worst(1)[0]
        return truth, company

    def worst(self, many: int = 5) -> list[tuple[int, int, int, int]]:
        """Return the (≤ many) pairs that occur together most often: true label, wrong label, in k of m examples."""
        shares = np.where(np.isnan(self.shares), -1.0, self.shares)
        np.fill_diagonal(shares, -1.0)
        order = np.lexsort((-np.repeat(self.examples, shares.shape[1]), -shares.ravel()))[:many]
        pairs = [(int(at) // shares.shape[1], int(at) % shares.shape[1]) for at in order]
        return [
            (
                truth,
                company,
                round(float(shares[truth, company]) * int(self.examples[truth])),
                int(self.examples[truth]),
            )
            for truth, company in pairs
            if shares[truth, company] >= 0
        ]

    @property
    def together(self) -> tuple[int, int]:
        """(k, m): of m examples of that true label, k have the wrong one among their candidates."""
        m = int(self.examples[self.pair[0]])
        return round(self.gamma * m), m

    def interval(self) -> tuple[float, float]:
        """The 95 % interval of that one share (Clopper & Pearson). γ is the highest of many, so it flatters none."""
        result = binomtest(*self.together).proportion_ci(CONFIDENCE, method="exact")
        return float(result.low), float(result.high)


def label_cooccurrence(
    candidates: CandidateSets, labels: npt.NDArray[np.int64], *, estimated: bool
) -> LabelCooccurrence:
    """Count which wrong label accompanies which true one.

    Parameters
    ----------
    labels
        (n,) true labels, or identified ones; −1 where unknown.
    estimated
        Whether they are identified ones.

    Raises
    ------
    UserError
        No label is known, fewer than two classes, or labels that do not fit.

    Examples
    --------
    >>> sets = CandidateSets.from_lists([[0, 1], [0], [1, 2]], 3)
    >>> found = label_cooccurrence(sets, np.array([0, 0, 1]), estimated=False)
    >>> found.gamma, found.pair, found.together
    (1.0, (1, 2), (1, 1))
    """
    if candidates.n_classes < 2:
        raise UserError("The ambiguity degree compares two classes; this data has one.")
    shares = flip_matrix(candidates, labels)
    examples = np.bincount(labels[labels >= 0], minlength=candidates.n_classes)
    if not examples.any():
        raise UserError("The ambiguity degree needs labels, true or identified, and none is known yet.")
    return LabelCooccurrence(shares, examples, estimated, int((labels < 0).sum()))


def still_together(gamma: float, examples: int) -> float:
    """γ^m: the probability that a wrong label is in all of m independent sets, so that they do not exclude it.

    Examples
    --------
    >>> still_together(0.5, 3), still_together(1.0, 1000)
    (0.125, 1.0)
    """
    return gamma**examples


def examples_to_tell(gamma: float, doubt: float = 0.01) -> float:
    """The fewest examples m with γ^m ≤ doubt; infinite where γ is 1.

    Examples
    --------
    >>> examples_to_tell(0.7), examples_to_tell(1.0), examples_to_tell(0.0)
    (13, inf, 1)
    """
    if gamma >= 1:
        return math.inf
    return 1 if gamma <= 0 else math.ceil(math.log(doubt) / math.log(gamma))

"""Measures of ambiguity: co-occurrence of labels, and the ambiguity degree γ.

The ambiguity degree (Cour, Sapp & Taskar 2011; paper, §3) is the highest probability that a given wrong label
accompanies a given true one,

    γ = max over (y, ȳ ≠ y) of Pr(ȳ ∈ S | y)

Below 1 the true label can be identified in principle; at 1 some wrong label always accompanies a true one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from pll.candidates import CandidateSets, whole_numbers
from pll.errors import UserError
from pll.io import blocks
from pll.weights import Floats, Ints, sparse

DENSE_IS_FASTER = 100
"""How many times faster a dense multiplication is than a sparse one (measured: 12 ns against 0.1 ns)."""

COUNTED_AT_ONCE = 4096


def co_occurrence(candidates: CandidateSets) -> Floats:
    """Return (c, c) float64 in [0, 1]: of the sets that hold label j, the share that holds k too, at [j, k].

    1 on the diagonal; a row of zeros where j is never a candidate. Costs the smaller of Σ |S_i|² sparse and n·c² dense
    operations, and c × c numbers.

    Examples
    --------
    >>> co_occurrence(CandidateSets.from_lists([[0, 1], [1]], n_classes=3)).tolist()
    [[1.0, 1.0, 0.0], [0.5, 1.0, 0.0], [0.0, 0.0, 0.0]]
    """
    together = _together(candidates)
    alone = together.diagonal()[:, None]
    return np.divide(together, alone, out=np.zeros_like(together), where=alone > 0)


def _together(candidates: CandidateSets) -> Floats:
    """Return (c, c): the number of sets that hold both j and k."""
    n, c = len(candidates), candidates.n_classes
    indicator = sparse(np.ones(candidates.nnz, dtype=np.float32), candidates)
    if n * c**2 > DENSE_IS_FASTER * float((candidates.sizes**2).sum()):
        return np.asarray((indicator.T @ indicator.astype(np.float64)).toarray())
    total = np.zeros((c, c))
    for rows in blocks(n, COUNTED_AT_ONCE):  # float32 counts exactly that far
        block = indicator[rows].toarray()
        total += block.T @ block
    return total


def flip_matrix(candidates: CandidateSets, y: npt.ArrayLike) -> Floats:
    """Return (c, c) float64 in [0, 1]: of the examples whose true label is j, the share whose set holds k, at [j, k].

    Compare with `pll.synthesis.binomial_matrix` and `pair_matrix`. The diagonal is below 1 where the truth is missing
    from some sets.

    Parameters
    ----------
    candidates
        n candidate sets.
    y
        (n,) true labels, −1 where unknown: those examples do not count.

    Returns
    -------
    Floats
        The shares; NaN in the row of a class that is the true label of no example.

    Raises
    ------
    UserError
        Not one label an example, or a label out of range.

    Examples
    --------
    >>> flip_matrix(CandidateSets.from_lists([[0, 1], [0], [1]], n_classes=2), [0, 0, 1]).tolist()
    [[1.0, 0.5], [0.0, 1.0]]
    """
    truth = _checked(candidates, y)
    c = candidates.n_classes
    of_entry = truth[candidates.rows]  # (nnz,)
    labelled = of_entry >= 0
    counts = np.bincount(of_entry[labelled] * c + candidates.indices[labelled], minlength=c * c).reshape(c, c)
    examples = np.bincount(truth[truth >= 0], minlength=c)[:, None]  # (c, 1)
    return np.asarray(np.divide(counts, examples, out=np.full((c, c), np.nan), where=examples > 0))


@dataclass(frozen=True, eq=False)
class LabelCooccurrence:
    """How often each label accompanies each true one in candidate sets.

    The paper's γ (Lemma learnable) is a supremum over *instances* of Pr(ȳ ∈ S | x, y). An example is seen once, with
    one set, so that only the share within a class can be counted: the same where wrong labels enter independently of x,
    and a lower bound elsewhere.

    Attributes
    ----------
    shares
        (c, c) float64 in [0, 1], of `flip_matrix`.
    examples
        (c,) int64, number of examples with label j.
    unlabelled
        Number of examples without a label, which do not count.
    is_estimated
        Whether identified labels replace the true ones.
    """

    shares: Floats
    examples: Ints
    unlabelled: int = 0
    is_estimated: bool = False

    @property
    def gamma(self) -> float:
        """The ambiguity degree γ: the highest share off the diagonal, but for classes of which too few are known."""
        return float(self._off_diagonal.max())

    @cached_property
    def pair(self) -> tuple[int, int]:
        """The true label and the wrong one that accompanies it most often; of equals the one seen in most examples."""
        truth, other, _, _ = self.worst(1)[0]
        return truth, other

    @property
    def together(self) -> tuple[int, int]:
        """(k, m): in k of the m examples of that true label the wrong one is a candidate."""
        m = int(self.examples[self.pair[0]])
        return round(self.gamma * m), m

    @property
    def says_enough(self) -> bool:
        """Whether γ is of a class with at least `FEWEST_TRUE` known labels."""
        return self.together[1] >= FEWEST_TRUE

    @property
    def is_too_rare(self) -> npt.NDArray[np.bool_]:
        """(c,) whether a class does not count for γ: some labels of it are known, too few, and more of another one."""
        rare = self.examples < FEWEST_TRUE
        return (self.examples > 0) & rare & (not rare.all())

    @cached_property
    def _off_diagonal(self) -> Floats:
        shares = np.nan_to_num(self.shares)
        np.fill_diagonal(shares, 0.0)
        shares[self.is_too_rare] = 0.0  # one example alone would make γ = 1
        return shares

    def worst(self, most: int = 5) -> list[tuple[int, int, int, int]]:
        """Return the pairs that occur together most often: true label, wrong label, in k of m examples."""
        shares, c = self._off_diagonal, len(self.examples)
        pairs = np.lexsort((-np.repeat(self.examples, c), -shares.ravel()))
        pairs = pairs[(pairs // c != pairs % c) & (self.examples[pairs // c] > 0)][:most]
        return [
            (j, k, round(float(shares[j, k]) * int(self.examples[j])), int(self.examples[j]))
            for j, k in (divmod(int(pair), c) for pair in pairs)
        ]

    def interval(self) -> tuple[float, float]:
        """Return the 95 % interval of γ: of each pair that of Clopper & Pearson, by Bonferroni all of them at once.

        References
        ----------
        Clopper & Pearson, The use of confidence or fiducial limits illustrated in the case of the binomial,
        Biometrika 26, 1934.
        """
        from scipy.special import betaincinv  # late: it takes most of a second

        counted = ~np.eye(len(self.examples), dtype=np.bool_) & ((self.examples > 0) & ~self.is_too_rare)[:, None]
        m = np.broadcast_to(self.examples[:, None], counted.shape)[counted]
        k, tail = np.rint(self.shares[counted] * m), 0.025 / len(m)
        low = betaincinv(np.maximum(k, 1), m - k + 1, tail) * (k > 0)
        high = np.where(k < m, betaincinv(k + 1, np.maximum(m - k, 1), 1 - tail), 1.0)
        return float(low.max()), float(high.max())

    def sentence(self, names: Sequence[str]) -> str:
        """Return what γ is computed from, as text.

        Parameters
        ----------
        names
            Of the classes.
        """
        (true, other), (k, m) = self.pair, self.together
        known, n = int(self.examples.sum()), int(self.examples.sum()) + self.unlabelled
        if not self.says_enough:
            return (
                f"{known:,} of {n:,} true labels are known, {m:,} of {names[true]}: too few to say how often a wrong "
                "label accompanies it."
            )
        partial = f" {known:,} of {n:,} true labels are known." if self.unlabelled else ""
        never = ": none rules it out" if self.gamma == 1 else ""
        return f"{names[other]} is a candidate in {k:,} of the {m:,} sets that are truly {names[true]}{never}.{partial}"


FEWEST_TRUE = 10
"""Minimum number of known true labels of a class for a share of its sets."""


def label_cooccurrence(
    candidates: CandidateSets, labels: npt.ArrayLike, *, estimated: bool = False
) -> LabelCooccurrence:
    """Count which wrong label accompanies which true one.

    Parameters
    ----------
    candidates
        n sets of at least two classes.
    labels
        (n,) true labels, or identified ones; −1 where unknown.
    estimated
        Whether they are identified ones.

    Raises
    ------
    UserError
        No label is known, fewer than two classes, or as `flip_matrix`.

    Examples
    --------
    >>> sets = CandidateSets.from_lists([[0, 1], [0], [1, 2]], 3)
    >>> result = label_cooccurrence(sets, [0, 0, 1])
    >>> result.gamma, result.pair, result.together
    (1.0, (1, 2), (1, 1))
    """
    if candidates.n_classes < 2:
        raise UserError("The ambiguity degree compares two classes; this data has one.")
    y = _checked(candidates, labels)
    examples = np.bincount(y[y >= 0], minlength=candidates.n_classes)
    if not examples.any():
        raise UserError("The ambiguity degree needs labels, true or identified, and none is known.")
    return LabelCooccurrence(flip_matrix(candidates, y), examples, int((y < 0).sum()), estimated)


def ambiguity_degree(candidates: CandidateSets, y: npt.ArrayLike) -> float:
    """Return γ in [0, 1], exact on these examples: the highest share of `flip_matrix` off the diagonal.

    Binomial flipping with its forced extra label gives q + (1−q)^(c−1)/(c−1) in expectation, a little more as the
    highest of c·(c−1) shares of a finite sample.

    Parameters
    ----------
    candidates
        n sets of at least two classes.
    y
        (n,) true labels, −1 where unknown; classes with no known example are left out.

    Raises
    ------
    UserError
        As `label_cooccurrence`.

    Examples
    --------
    >>> ambiguity_degree(CandidateSets.from_lists([[0, 1], [0], [1]], n_classes=2), [0, 0, 1])
    0.5
    """
    return label_cooccurrence(candidates, y).gamma


LEFT_IN_DOUBT = 0.01
"""Probability that a wrong label is in all sets."""


def examples_to_tell(gamma: float) -> float:
    """Return the fewest examples m with γ^m ≤ `LEFT_IN_DOUBT`; infinite where γ is 1.

    γ^m is the probability that a wrong label is in all of m independent sets, so that they do not exclude it.

    Examples
    --------
    >>> examples_to_tell(0.7), examples_to_tell(1.0), examples_to_tell(0.0)
    (13, inf, 1)
    """
    if gamma >= 1:
        return math.inf
    return 1 if gamma <= 0 else math.ceil(math.log(LEFT_IN_DOUBT) / math.log(gamma))


def _checked(candidates: CandidateSets, y: npt.ArrayLike) -> Ints:
    truth = whole_numbers(y, "labels").astype(np.int64)
    n, c = len(candidates), candidates.n_classes
    if len(truth) != n:
        raise UserError(f"There are {n} candidate sets but {len(truth)} labels; give one per set.")
    outside = np.flatnonzero((truth < -1) | (truth >= c))
    if len(outside):
        row = int(outside[0])
        raise UserError(f"Row {row}: label {truth[row]} is unknown; labels run from 0 to {c - 1} ({c} classes).")
    return truth

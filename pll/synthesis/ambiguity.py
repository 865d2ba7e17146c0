"""Measures of ambiguity: co-occurrence of labels, and the ambiguity degree γ.

The ambiguity degree (Cour, Sapp & Taskar 2011; paper, §3) is the highest probability that a given wrong label
accompanies a given true one,

    γ = max over (y, ȳ ≠ y) of Pr(ȳ ∈ S | y)

Below 1 the true label can be identified in principle; at 1 some wrong label always accompanies a true one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy.sparse

from pll.candidates import CandidateSets, whole_numbers
from pll.errors import UserError

DENSE_IS_FASTER = 100
"""How many times faster a dense multiplication is than a sparse one (measured: 12 ns against 0.1 ns)."""

ROWS_AT_ONCE = 4096


def co_occurrence(candidates: CandidateSets) -> npt.NDArray[np.float64]:
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


def _together(candidates: CandidateSets) -> npt.NDArray[np.float64]:
    """Return (c, c): the number of sets that hold both j and k."""
    n, c = len(candidates), candidates.n_classes
    ones = np.ones(candidates.nnz, dtype=np.float32)
    indicator = scipy.sparse.csr_array((ones, candidates.indices, candidates.indptr), shape=(n, c))
    if n * c**2 > DENSE_IS_FASTER * float((candidates.sizes**2).sum()):
        return np.asarray((indicator.T @ indicator.astype(np.float64)).toarray())
    total = np.zeros((c, c))
    for start in range(0, n, ROWS_AT_ONCE):  # float32 counts exactly that far
        block = indicator[start : start + ROWS_AT_ONCE].toarray()
        total += block.T @ block
    return total


def flip_matrix(candidates: CandidateSets, y: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Return (c, c) float64 in [0, 1]: of the examples whose true label is j, the share whose set holds k, at [j, k].

    Compare with `pll.synthesis.binomial_matrix` and `pair_matrix`. The diagonal is below 1 where the truth is missing
    from some sets.

    Parameters
    ----------
    y
        (n,) true labels, −1 where unknown: those examples do not count.

    Returns
    -------
    npt.NDArray[np.float64]
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


def ambiguity_degree(candidates: CandidateSets, y: npt.ArrayLike) -> float:
    """γ in [0, 1], exact on these examples: the highest share of `flip_matrix` off the diagonal.

    Binomial flipping with its forced extra label gives q + (1−q)^(c−1)/(c−1) in expectation, a little more as the
    highest of c·(c−1) shares of a finite sample.

    Parameters
    ----------
    y
        (n,) true labels, −1 where unknown; classes with no known example are left out.

    Raises
    ------
    UserError
        No true label is known, or as `flip_matrix`.

    Examples
    --------
    >>> ambiguity_degree(CandidateSets.from_lists([[0, 1], [0], [1]], n_classes=2), [0, 0, 1])
    0.5
    """
    shares = flip_matrix(candidates, y)
    occurs = ~np.isnan(shares[:, 0])
    if not occurs.any():
        raise UserError(
            "The ambiguity degree needs true labels, and none is known; it can be estimated from identified labels."
        )
    np.fill_diagonal(shares, 0.0)
    return float(shares[occurs].max())


FEWEST_TRUE = 10
"""Minimum number of known true labels of a class for a share of its sets."""


@dataclass(frozen=True)
class AmbiguityDegree:
    """The ambiguity degree, and the pair of labels that it is of.

    Attributes
    ----------
    value
        γ in [0, 1].
    true, other
        Class indices: `other` accompanies `true` most often.
    together, n
        In so many of the n sets whose known true label is `true`.
    known, examples
        How many true labels are known, of how many examples.
    """

    value: float
    true: int
    other: int
    together: int
    n: int
    known: int
    examples: int

    @property
    def says_enough(self) -> bool:
        """Whether γ is exact, or counted on `FEWEST_TRUE` sets or more."""
        return self.known == self.examples or self.n >= FEWEST_TRUE

    def sentence(self, names: Sequence[str]) -> str:
        """Return what γ is computed from, as text.

        Parameters
        ----------
        names
            Of the classes.
        """
        if not self.says_enough:
            return (
                f"{self.known:,} of {self.examples:,} true labels are known, {self.n:,} of {names[self.true]}: too few "
                "to say how often a wrong label accompanies it."
            )
        partial = "" if self.known == self.examples else f" {self.known:,} of {self.examples:,} true labels are known."
        cannot = " These two cannot be told apart from the candidates alone." if self.value == 1 else ""
        return (
            f"{names[self.other]} is a candidate in {self.together:,} of the {self.n:,} sets that are truly "
            f"{names[self.true]}.{cannot}{partial}"
        )


def estimate_ambiguity_degree(candidates: CandidateSets, y: npt.ArrayLike) -> AmbiguityDegree | None:
    """Return `ambiguity_degree` with the pair of labels it is of; None where no true label is known.

    Parameters
    ----------
    y
        (n,) true labels, −1 where unknown.

    Raises
    ------
    UserError
        As `flip_matrix`.

    Examples
    --------
    >>> found = estimate_ambiguity_degree(CandidateSets.from_lists([[0, 1], [0], [1]], n_classes=2), [0, 0, 1])
    >>> found.value, found.together, found.n
    (0.5, 1, 2)
    """
    truth = _checked(candidates, y)
    if not (truth >= 0).any():
        return None
    shares = np.nan_to_num(flip_matrix(candidates, truth))
    np.fill_diagonal(shares, 0.0)
    true, other = (int(k) for k in np.unravel_index(int(shares.argmax()), shares.shape))
    n = int((truth == true).sum())
    value = float(shares[true, other])
    return AmbiguityDegree(value, true, other, round(value * n), n, int((truth >= 0).sum()), len(truth))


def _checked(candidates: CandidateSets, y: npt.ArrayLike) -> npt.NDArray[np.int64]:
    truth = whole_numbers(y, "labels").astype(np.int64)
    n, c = len(candidates), candidates.n_classes
    if len(truth) != n:
        raise UserError(f"There are {n} candidate sets but {len(truth)} labels; give one per set.")
    outside = np.flatnonzero((truth < -1) | (truth >= c))
    if len(outside):
        row = int(outside[0])
        raise UserError(f"Row {row}: label {truth[row]} is unknown; labels run from 0 to {c - 1} ({c} classes).")
    return truth

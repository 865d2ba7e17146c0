"""Label weights and what is computed from them: identified label, sharpness, and how sure a label is.

Label weights are (nnz,) float32, aligned with `CandidateSets.indices`: at least 0, summing to 1 over each S_i.
Off S_i there is nothing stored, so they are 0 there by construction.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import scipy  # its parts load when they are used

from pll.candidates import SETS_AT_ONCE, CandidateSets, Rows, with_sets
from pll.errors import RowError, UserError
from pll.io import blocks, large_array, taken

Weights = npt.NDArray[np.float32]
Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

NORMALISED = 1e-6
"""How far float32 numbers may sum up from 1 to count as normalised."""


VOTES, DECISIONS, MISSES = "votes", "decisions", "misses"
"""Why sets were changed: labels that no voter named are likely; people settled some; some may miss the truth."""


@dataclass(frozen=True, eq=False)
class ChangedSets:
    """Candidate sets that were changed before training, and why.

    Parameters
    ----------
    given, candidates
        The n sets before and after, over the same classes.
    reason
        `VOTES`, `DECISIONS` or `MISSES`.
    prior
        (nnz,) of the sets after; None where that of the sets before is carried over.
    decided
        (n,) int64, labels that people decided, −1 elsewhere; None without decisions.
    tied_votes
        (n,) bool, where two labels have the most votes and nothing in the votes tells who is right; None where no
        voters were compared.
    notes
        Remarks for the user.
    """

    given: CandidateSets = field(metadata={"rows": "candidate sets before they were changed"})
    candidates: CandidateSets = field(metadata={"rows": "changed candidate sets"})
    reason: str = field(kw_only=True)
    prior: Weights | None = field(default=None, kw_only=True, metadata={"candidates": "priors"})
    decided: Ints | None = field(default=None, kw_only=True, metadata={"rows": "decided labels"})
    tied_votes: Flags | None = field(default=None, kw_only=True, metadata={"rows": "tied votes"})
    notes: tuple[str, ...] = field(default=(), kw_only=True)

    def __len__(self) -> int:
        return len(self.candidates)

    @cached_property
    def added(self) -> Flags:
        """(nnz,) bool, aligned with `candidates.indices`: whether the label was added."""
        c = self.given.n_classes
        before, after = (sets.rows * c + sets.indices for sets in (self.given, self.candidates))
        at = np.minimum(np.searchsorted(before, after), len(before) - 1)
        added: Flags = before[at] != after
        return added

    @cached_property
    def is_empty(self) -> bool:
        """Whether the sets are as they were."""
        return self.candidates == self.given

    def prior_after(self, prior: Weights | None) -> Weights | None:
        """Return the (nnz,) prior of the sets after, where `prior` is that of the sets before, or None."""
        if self.prior is not None:
            return self.prior
        return prior if self.is_empty else carried_over(prior, self.given, self.candidates)

    def applied_to(self, sets: CandidateSets) -> CandidateSets:
        """Return other sets of the same examples, with those that this change has made other in their place."""
        if sets is self.given:
            return self.candidates
        before, after = self.given, self.candidates
        is_other = before.sizes != after.sizes
        alike = np.flatnonzero(~is_other)
        at = before.positions(alike)
        unequal = before.indices[at] != after.indices[after.positions(alike)]
        is_other[before.rows[at[unequal]]] = True
        rows = np.flatnonzero(is_other)
        more = after.class_names[sets.n_classes :]
        return with_sets(sets, {int(row): after[row].tolist() for row in rows}, more)

    def take(self, rows: Rows) -> Self:
        """Return the change of some examples; `rows` is a slice, an (n,) bool mask or (m,) indices."""
        return replace(self, **taken(self, np.arange(len(self))[rows]))


class HasChanges:
    """What follows from the changes of the candidate sets of training data."""

    changes: tuple[ChangedSets, ...]

    def change(self, reason: str) -> ChangedSets | None:
        """Return the change for this reason; None without."""
        return next((one for one in self.changes if one.reason == reason), None)

    @property
    def outside(self) -> Outside | None:
        """Labels that a method added to the candidate sets, which may miss the truth; or None."""
        return next((one for one in self.changes if isinstance(one, Outside)), None)

    @property
    def decisions(self) -> ChangedSets | None:
        """The change that people's decisions made; None without."""
        return self.change(DECISIONS)

    @property
    def decided(self) -> Ints | None:
        """(n,) int64, labels that people decided, −1 elsewhere; or None."""
        return None if self.decisions is None else self.decisions.decided

    @property
    def tied_votes(self) -> Flags | None:
        """(n,) bool, where the votes do not tell two labels apart, as the last change has it; or None."""
        return next((one.tied_votes for one in reversed(self.changes) if one.tied_votes is not None), None)


@dataclass(frozen=True, eq=False)
class Outside(ChangedSets):
    """Labels added to candidate sets that may miss the truth, and how likely each set misses it.

    Label weights of such an example are w = (1 − m_i) p|S_i + m_i p|A_i: the softmax restricted to the given set S_i
    and to the added labels A_i, with m_i fixed. Where nothing was added m_i is not used.

    Parameters
    ----------
    given, candidates
        The n sets before labels were added, and with them.
    miss
        (n,) float32 in [0, 1], m_i, the probability that S_i misses the truth.

    Raises
    ------
    UserError
        Lengths that do not fit, a probability out of range, or sets that lost a label.
    """

    reason: str = field(default=MISSES, kw_only=True)
    miss: npt.NDArray[np.float32] = field(metadata={"rows": "probabilities that a set misses the truth"})

    def __post_init__(self) -> None:
        if self.given.shape != self.candidates.shape or self.miss.shape != (len(self.given),):
            raise UserError("The labels added to the candidate sets are of other examples or classes than the sets.")
        if not ((self.miss >= 0) & (self.miss <= 1)).all():
            raise UserError("A probability that a set misses the truth must lie between 0 and 1.")
        if int(self.added.sum()) != self.candidates.nnz - self.given.nnz:
            raise UserError("Sets that may miss the truth can only gain labels; some have lost one.")

    @classmethod
    def of(
        cls, given: CandidateSets, rows: npt.ArrayLike, labels: npt.ArrayLike, miss: npt.NDArray[np.float32]
    ) -> Outside:
        """Add labels to sets.

        Parameters
        ----------
        given
            n sets.
        rows, labels
            (k,) which label is added to the set of which row; none of them is a member.
        miss
            (n,) float32.

        Examples
        --------
        >>> sets = CandidateSets.from_lists([[0, 2], [1]], n_classes=3)
        >>> found = Outside.of(sets, [1], [0], np.array([0.0, 0.5], dtype=np.float32))
        >>> [labels.tolist() for labels in found.candidates], found.added.tolist(), found.shares.tolist()
        ([[0, 2], [0, 1]], [False, False, True, False], [1.0, 1.0, 0.5, 0.5])
        """
        c = given.n_classes
        more = np.asarray(rows, dtype=np.int64) * c + np.asarray(labels, dtype=np.int64)
        keys = np.sort(np.concatenate([given.rows * c + given.indices, more]))
        indptr = np.searchsorted(keys, np.arange(len(given) + 1) * c)
        return cls(given, CandidateSets(indptr, keys % c, c, given.class_names), miss)

    @property
    def rate(self) -> float:
        """Estimated share of the sets that miss the truth."""
        return float(self.miss.mean())

    @cached_property
    def shares(self) -> Weights:
        """(nnz,) total weight of the part of the set that each label belongs to: m_i if added, else 1 − m_i."""
        rows = self.candidates.rows
        has_added = np.bincount(rows[self.added], minlength=len(self.miss)) > 0
        miss = np.where(has_added, self.miss, np.float32(0))[rows]
        return np.where(self.added, miss, 1 - miss).astype(np.float32)

    def start(self, prior: Weights | None = None) -> Weights:
        """(nnz,) label weights before training: the prior, or uniform weights, within each part of the set."""
        if self.is_empty:
            return self.candidates.uniform_weights() if prior is None else prior
        return restricted_softmax(np.zeros(self.candidates.nnz), self.candidates, prior, self)

    def without(self, rows: Sequence[int] | Ints | Flags) -> Outside:
        """Return a copy without added labels in some rows; their sets then contain the truth."""
        is_other = np.ones(len(self.miss), dtype=np.bool_)
        is_other[rows] = False
        more = self.added & is_other[self.candidates.rows]
        miss = np.where(is_other, self.miss, np.float32(0))
        return Outside.of(self.given, self.candidates.rows[more], self.candidates.indices[more], miss)


def restricted_softmax(
    scores: npt.NDArray[np.floating[Any]],
    candidates: CandidateSets,
    prior: Weights | None = None,
    outside: Outside | None = None,
) -> Weights:
    """Compute the softmax of the scores restricted to each candidate set (paper, Eq. norm).

    Parameters
    ----------
    scores
        (nnz,) logits of the candidates, aligned with `candidates.indices`.
    candidates
        n candidate sets.
    prior
        (nnz,) of `checked_prior`; the softmax is multiplied by it and normalised again.
    outside
        Of these candidates, where labels were added to them; each part of a set keeps its share.

    Returns
    -------
    Weights
        (nnz,) float32 label weights.

    Examples
    --------
    >>> sets = CandidateSets.from_lists([[0, 1], [2]], n_classes=3)
    >>> restricted_softmax(np.array([0.0, 0.0, -900.0]), sets).tolist()
    [0.5, 0.5, 1.0]
    """
    offset = log_prior(prior, candidates)
    if offset is not None:
        scores = scores + offset
    if outside is not None and not outside.is_empty:
        part = 2 * candidates.rows + outside.added
        tops = np.full(2 * len(candidates), -np.inf)
        np.maximum.at(tops, part, scores)
        exponents = np.exp((scores - tops[part]).astype(np.float64))
        totals = np.bincount(part, exponents, minlength=len(tops))
        apart: Weights = (outside.shares * exponents / totals[part]).astype(np.float32)
        return apart
    return softmax_on_sets(scores, candidates).astype(np.float32)


def softmax_on_sets(scores: npt.NDArray[np.floating[Any]], candidates: CandidateSets) -> Floats:
    """Return the (nnz,) float64 softmax of scores within each set; −∞ becomes 0.

    Parameters
    ----------
    scores
        (nnz,), finite for one candidate of each set at least.
    candidates
        The sets.
    """
    starts = candidates.indptr[:-1]
    top = np.maximum.reduceat(scores, starts)
    raised = np.exp((scores - top[candidates.rows]).astype(np.float64))
    total = np.add.reduceat(raised, starts)  # at least 1: the top candidate contributes exp(0)
    shares: Floats = raised / total[candidates.rows]
    return shares


def normalise(values: npt.NDArray[np.floating[Any]], candidates: CandidateSets) -> Weights:
    """Divide non-negative (nnz,) values by their sum over S_i; uniform where that sum is 0.

    Parameters
    ----------
    values
        (nnz,), at least 0.
    candidates
        n candidate sets.
    """
    total = np.add.reduceat(values.astype(np.float64), candidates.indptr[:-1])[candidates.rows]
    usable = total > 0
    shares = np.divide(values, total, out=np.zeros(len(values)), where=usable)
    return np.where(usable, shares, candidates.uniform_weights()).astype(np.float32)


def checked_prior(prior: npt.ArrayLike, candidates: CandidateSets) -> Weights:
    """Validate a prior over the candidates and normalise it on each set.

    Parameters
    ----------
    prior
        (nnz,) finite numbers, at least 0, aligned with `candidates.indices`; at least one of each set above 0.
    candidates
        n candidate sets.

    Returns
    -------
    Weights
        (nnz,) float32, summing to 1 over each S_i.

    Raises
    ------
    UserError
        Not of that form; the row is named.

    Examples
    --------
    >>> checked_prior([3, 1, 5], CandidateSets.from_lists([[0, 1], [2]], n_classes=3)).tolist()
    [0.75, 0.25, 1.0]
    """
    try:
        values = np.asarray(prior, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise UserError("The prior must be numbers, one for each candidate.") from error
    if values.shape != (candidates.nnz,):
        raise UserError(
            f"The prior has the shape {values.shape}; it needs one number for each candidate, ({candidates.nnz},), in "
            "the order of `candidates.indices`."
        )
    wrong = np.flatnonzero(~(np.isfinite(values) & (values >= 0)))
    if len(wrong):
        at = int(wrong[0])
        name = candidates.class_names[candidates.indices[at]]
        raise RowError(
            f"Row {candidates.rows[at]}: the prior of {name} is {values[at]:g}; it must be a finite number, 0 or more."
        )
    starts = candidates.indptr[:-1]
    top = np.maximum.reduceat(values, starts)
    if not (top > 0).all():
        raise RowError(f"Row {int(np.argmin(top))}: the prior of every candidate is 0; leave at least one possible.")
    is_normalised = (np.abs(np.add.reduceat(np.minimum(values, 1.0), starts) - 1.0) < NORMALISED).all()
    if is_normalised and isinstance(prior, np.ndarray) and prior.dtype == np.float32 and (top <= 1).all():
        return prior  # as it is: normalising twice would change the last bit
    return normalise(values / top[candidates.rows], candidates)  # first by the top: sums of huge numbers overflow


def log_prior(prior: Weights | None, candidates: CandidateSets) -> Weights | None:
    """Return (nnz,) log of the prior over its maximum in the set: exactly 0 where it is uniform; −inf where it is 0.

    Parameters
    ----------
    prior
        Of `checked_prior`, or None.
    candidates
        n candidate sets.
    """
    if prior is None:
        return None
    shares = prior / np.maximum.reduceat(prior, candidates.indptr[:-1])[candidates.rows]
    with np.errstate(divide="ignore"):
        return np.log(shares).astype(np.float32)


def carried_over(prior: Weights | None, before: CandidateSets, after: CandidateSets) -> Weights | None:
    """Align a prior with other candidate sets of the same examples.

    A label that is new in a set gets the mean prior of the set before; a set left without any prior is uniform.

    Parameters
    ----------
    prior
        (nnz,) of the sets before, or None.
    before, after
        n sets each; `after` may have more classes.

    Examples
    --------
    >>> before = CandidateSets.from_lists([[0, 1], [1, 2]], n_classes=3)
    >>> after = CandidateSets.from_lists([[0, 1], [2]], n_classes=3)
    >>> carried_over(np.array([0.75, 0.25, 0.9, 0.1], dtype=np.float32), before, after).tolist()
    [0.75, 0.25, 1.0]
    """
    if prior is None:
        return None
    keys = before.rows * after.n_classes + before.indices
    wanted = after.rows * after.n_classes + after.indices
    at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    mean = (1.0 / before.sizes)[after.rows]
    return normalise(np.where(keys[at] == wanted, prior[at].astype(np.float64), mean), after)


def on_candidates(matrix: npt.NDArray[Any], candidates: CandidateSets) -> npt.NDArray[Any]:
    """Return the entries of a dense (n, c) matrix on the candidates, as (nnz,).

    Parameters
    ----------
    matrix
        (n, c).
    candidates
        n candidate sets.
    """
    return matrix[candidates.rows, candidates.indices]


def dense(weights: npt.NDArray[Any], candidates: CandidateSets) -> npt.NDArray[Any]:
    """Return (nnz,) weights, or any values of the candidates, as a dense (n, c) matrix; 0 off the candidates.

    Parameters
    ----------
    weights
        (nnz,) label weights.
    candidates
        n candidate sets.
    """
    matrix = np.zeros((len(candidates), candidates.n_classes), dtype=weights.dtype)
    matrix[candidates.rows, candidates.indices] = weights
    return matrix


def sparse(weights: npt.NDArray[Any], candidates: CandidateSets) -> scipy.sparse.csr_array:
    """Spread candidate-aligned values over all classes, as a sparse matrix (n, c).

    Parameters
    ----------
    weights
        (nnz,).
    candidates
        Of n examples.
    """
    return scipy.sparse.csr_array((weights, candidates.indices, candidates.indptr), shape=candidates.shape)


def top_positions(weights: npt.NDArray[np.floating[Any]], candidates: CandidateSets) -> Ints:
    """Return the (n,) positions in `indices` of the largest of the (nnz,) weights of each example (first of equals).

    Parameters
    ----------
    weights
        (nnz,) label weights.
    candidates
        n candidate sets.
    """
    return _tops(weights, candidates)[0]


def _tops(weights: npt.NDArray[np.floating[Any]], candidates: CandidateSets) -> tuple[Ints, Flags]:
    """Return the (n,) positions of the largest weights, and whether the two largest of each example are the same."""
    positions, is_tied = candidates.indptr[:-1].copy(), np.zeros(len(candidates), dtype=np.bool_)
    for rows, values in _in_blocks(weights, candidates):
        top, second, place = _top_two(values)
        positions[rows] += place
        is_tied[rows] = top - second <= NORMALISED * top
    return positions, is_tied


def identified_labels(weights: Weights, candidates: CandidateSets) -> Ints:
    """(n,) identified label: argmax over S_i of the label weights.

    Parameters
    ----------
    weights
        (nnz,) label weights.
    candidates
        n candidate sets.

    Examples
    --------
    >>> sets = CandidateSets.from_lists([[0, 2], [1]], n_classes=3)
    >>> identified_labels(np.array([0.4, 0.6, 1.0], dtype=np.float32), sets).tolist()
    [2, 1]
    """
    return candidates.indices[top_positions(weights, candidates)].astype(np.int64)


CONFIDENT = 0.9
"""Confidence from which on pages and reports count a label as certain; label weight from which one counts as sharp."""


@dataclass(frozen=True, eq=False)
class Sharpness:
    """Identified label of each example, and how far its label weights lie on one label. Sharp is not sure.

    Attributes
    ----------
    identified
        (n,) int64, argmax over S_i.
    top
        (n,) float32 in (0, 1], the top weight.
    margin
        (n,) float32 in [0, 1], top minus second weight; 1 for singletons.
    entropy
        (n,) float32 in [0, 1], −Σ w log w over log |S_i|; 0 for singletons.
    """

    identified: Ints
    top: npt.NDArray[np.float32]
    margin: npt.NDArray[np.float32]
    entropy: npt.NDArray[np.float32]

    def wrong(self, y: Ints) -> Ints:
        """Return the examples identified wrongly, the sharpest first; `y` are (n,) true labels, −1 where unknown."""
        wrong = np.flatnonzero((y >= 0) & (self.identified != y))
        return wrong[np.argsort(-self.top[wrong], kind="stable")]


def sharpness(weights: Weights, candidates: CandidateSets) -> Sharpness:
    """Compute identified label, top weight, margin and entropy of all examples.

    Parameters
    ----------
    weights
        (nnz,) label weights.
    candidates
        n candidate sets.

    Raises
    ------
    ValueError
        NaN among the weights.
    """
    n = len(candidates)
    identified = large_array(n, np.int64)
    top, margin, entropy = (large_array(n, np.float32) for _ in range(3))
    for block in candidates.row_blocks():  # so that only the result grows with the number of examples
        sets = candidates if n <= SETS_AT_ONCE else candidates[block]
        starts, sizes = sets.indptr[:-1], sets.sizes
        for rows, values in _in_blocks(np.asarray(weights[candidates.span(block)]), sets):
            first, second, place = _top_two(values)
            identified[block][rows] = sets.indices[starts[rows] + place]
            top[block][rows] = first
            margin[block][rows] = first - second
            entropy[block][rows] = _entropy(values, sizes[rows])
    return Sharpness(identified, top, margin, entropy)


@dataclass(frozen=True, eq=False)
class Certainty:
    """The label that people take home of each example, and how sure it is.

    Attributes
    ----------
    identified
        (n,) int64.
    confidence
        (n,) float32 in [0, 1], the probability that the label is right: its held-out weight.
    margin
        (n,) float32 in [0, 1], top minus second held-out weight; 1 for singletons.
    entropy
        (n,) float32 in [0, 1], −Σ w log w of the held-out weights over log |S_i|; 0 for singletons.
    is_tied
        (n,) bool, whether another label has as much for it as the identified one.
    is_given
        (n,) bool, whether it is the only candidate: taken as right, which no model has found out.

    The numbers are NaN where no model has judged the example without having learnt from it.
    """

    identified: Ints
    confidence: npt.NDArray[np.float32]
    margin: npt.NDArray[np.float32]
    entropy: npt.NDArray[np.float32]
    is_tied: Flags
    is_given: Flags

    @property
    def is_known(self) -> Flags:
        """(n,) bool, whether it is known how sure the label is."""
        return ~np.isnan(self.confidence)


def taken_home(
    label_weights: Weights, held_out: Weights | None, candidates: CandidateSets, tied_votes: Flags | None = None
) -> Certainty:
    """Return the label that people take home of each example, and how sure it is.

    It is the argmax over S_i of the mean of both, where held-out weights are known: right more often than either
    (docs/research/confidence.md). Identified labels in pictures, metrics and `label_weights_` are those of label
    weights alone.

    Parameters
    ----------
    label_weights
        (nnz,) of the final model.
    held_out
        (nnz,) held-out weights, NaN in the rows of examples where they are not known; None where none are.
    candidates
        n candidate sets.
    tied_votes
        (n,) bool, further examples in which another label has as much for it (`HasChanges.tied_votes`).
    """
    both = label_weights if held_out is None else label_weights + best_known(label_weights, held_out)
    positions, is_tied = _tops(both, candidates)
    if tied_votes is not None:
        is_tied |= tied_votes
    return certainty(candidates.indices[positions].astype(np.int64), held_out, candidates, is_tied)


def best_known(label_weights: Weights, held_out: Weights | None) -> Weights:
    """Return the (nnz,) held-out weights, label weights in the rows where they are not known.

    Parameters
    ----------
    label_weights
        (nnz,) float32.
    held_out
        (nnz,) held-out weights, NaN where they are not known; or None.
    """
    return label_weights if held_out is None else np.where(np.isnan(held_out), label_weights, held_out)


def certainty(identified: Ints, held_out: Weights | None, candidates: CandidateSets, is_tied: Flags) -> Certainty:
    """Compute how sure labels are.

    Parameters
    ----------
    identified
        (n,) class indices, each a member of its set.
    held_out
        (nnz,) held-out weights, NaN in the rows of examples where they are not known; None where none are.
    candidates
        n candidate sets.
    is_tied
        (n,) bool, whether another label has as much for it.

    Examples
    --------
    >>> sets = CandidateSets.from_lists([[0, 2], [1, 2]], n_classes=3)
    >>> known = np.array([0.25, 0.75, np.nan, np.nan], dtype=np.float32)
    >>> certainty(np.array([0, 2]), known, sets, np.array([False, False])).confidence.tolist()
    [0.25, nan]
    """
    is_given = candidates.sizes == 1
    if held_out is None:
        unknown = np.full(len(candidates), np.nan, dtype=np.float32)
        return Certainty(identified, unknown, unknown, unknown, is_tied, is_given)
    starts = candidates.indptr[:-1]
    is_known = ~np.isnan(held_out[starts])
    weights = np.nan_to_num(held_out, nan=0.0)
    sharp = sharpness(weights, candidates)
    own = np.add.reduceat(weights * (candidates.indices == identified[candidates.rows]), starts)
    confidence, margin, entropy = (
        np.where(is_known, values, np.float32(np.nan)) for values in (own, sharp.margin, sharp.entropy)
    )
    # of votes the only label that was given is no sure one
    return Certainty(identified, confidence, margin, entropy, is_tied, is_given & ~(confidence < 1))


Values = npt.NDArray[np.floating[Any]]
IN_CACHE = 2**18
"""Weights that are looked at together."""


def _in_blocks(weights: Values, candidates: CandidateSets) -> Iterator[tuple[Ints | slice, Values]]:
    """Some examples and their weights, (k, m) and 0 where one has fewer than k candidates, until all were there.

    So few at a time that what is computed of them stays in the cache of the processor.
    """
    is_padded = sum(block.places.size for block in candidates.blocks) > len(weights)
    padded = np.append(weights, weights.dtype.type(0)) if is_padded else weights
    for block in candidates.blocks:
        k, m = block.places.shape
        for part in blocks(m, max(IN_CACHE // k, 1)):
            rows = part if isinstance(block.rows, slice) else block.rows[part]
            yield rows, padded.take(block.places[:, part])


def _top_two(values: Values) -> tuple[Values, Values, npt.NDArray[Any]]:
    """For each column of (k, m): the largest value, the second (0 if there is none), the first place of the largest."""
    top, second = values[0].copy(), np.zeros_like(values[0])
    place = np.zeros(len(top), dtype=np.min_scalar_type(len(values)))
    for j, other in enumerate(values[1:], start=1):
        np.maximum(place, (other > top) * place.dtype.type(j), out=place)  # j grows: the latest is the largest
        np.maximum(second, np.minimum(top, other), out=second)
        np.maximum(top, other, out=top)
    if np.isnan(top).any():  # NaN compares as smaller than everything: another candidate would silently win
        raise ValueError("Label weights must be numbers; some are NaN.")
    return top, second, place


def _entropy(values: Values, sizes: Ints) -> Values:
    # log of the smallest float keeps 0 · log 0 at 0 without a branch an element.
    terms = np.maximum(values, np.finfo(np.float32).tiny)
    np.log(terms, out=terms)
    terms *= values
    largest = np.log(np.maximum(np.arange(int(sizes.max(initial=0)) + 1), 2)).astype(np.float32)  # by size
    # 0 − 0 is 0 where a minus in front would make it −0, which files would show.
    return np.asarray(np.clip(0.0 - terms.sum(axis=0) / largest[sizes], 0.0, 1.0))


def accuracy(predicted: Ints, y: Ints | None) -> float | None:
    """Share of examples of known truth (y ≥ 0) whose predicted label is the true one; None where none is known.

    Parameters
    ----------
    predicted
        (n,) labels.
    y
        (n,) true labels, −1 where not known; or None.
    """
    if y is None:
        return None
    labelled = y >= 0
    count = np.count_nonzero(labelled)
    return float(np.count_nonzero((predicted == y) & labelled) / count) if count else None

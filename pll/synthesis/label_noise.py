"""Candidate sets from single labels that may be wrong.

The given label always stays a candidate. `top_k_sets` adds the labels that are most likely by a classifier not fitted
on the given label, `confusion_sets` those that the given label is often confused with. Larger sets contain more true
labels and carry less information about each; check the mean number of candidates and, where the truth is known, the
share of true labels inside. `Noisy` describes the way and its settings, in a form that a run can store.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pll.candidates import CandidateSets, whole_numbers
from pll.errors import UserError, unknown
from pll.io import blocks
from pll.synthesis.cross_val import FoldsDone, cached_out_of_fold
from pll.synthesis.names import NOISY
from pll.synthesis.transitions import Matrix, as_numbers, read_matrix, truth_given_label
from pll.weights import Ints

NOISY_AT_ONCE = 2**16


@dataclass(frozen=True)
class Noisy:
    """A way to make candidate sets of labels that may be wrong: plain values only, so that a run can store it.

    Parameters
    ----------
    how
        `"topk"` (the labels a classifier finds most likely join) or `"confusion"` (those that the given label is
        confused with often enough join).
    value
        k, a whole number, 1 or more; or the least probability, in (0, 1]; by default 2 and 0.05.
    confusion
        For `confusion`: (c, c) counts or shares, or the path of a file that `read_matrix` reads; None has a classifier
        estimate it on the data, out of fold.
    rows
        What the rows of `confusion` are: `"true"` or `"given"` labels.

    Raises
    ------
    UserError
        No such way, or a value it cannot have.

    Examples
    --------
    >>> Noisy.parse("topk:3").words, Noisy("confusion").words
    ('labels doubted: the 3 likeliest join', 'labels doubted: those at least 5 % likely join')
    """

    how: str
    value: float | None = None
    confusion: tuple[tuple[float, ...], ...] | str | None = None
    rows: str = "true"

    def __post_init__(self) -> None:
        if self.how not in NOISY:
            raise unknown("way to doubt labels", self.how, NOISY)
        if self.value is None:
            object.__setattr__(self, "value", NOISY[self.how][1])
        if self.how == "topk" and not (self.number >= 1 and self.number == int(self.number)):
            raise UserError(f"k is {self.number:g}; it must be a whole number, 1 or more (topk:2).")
        if self.how == "confusion" and not 0 < self.number <= 1:
            raise UserError(f"The probability a candidate must have is {self.value}; it must lie between 0 and 1.")
        if self.how == "topk" and self.confusion is not None:
            raise UserError("The likeliest labels are found by a classifier; leave the confusion matrix out.")
        if self.rows not in ("true", "given"):
            raise UserError(f"The rows of a confusion matrix are 'true' or 'given' labels, not {self.rows!r}.")
        if self.confusion is not None and not isinstance(self.confusion, str):
            plain = as_numbers(self.confusion, "The confusion matrix").tolist()
            object.__setattr__(self, "confusion", tuple(tuple(row) for row in plain))

    @property
    def number(self) -> float:
        """The value, as a number."""
        return float(self.value or 0.0)

    @property
    def needs_classifier(self) -> bool:
        """Whether a classifier is fitted, which needs features and time."""
        return self.confusion is None

    @classmethod
    def parse(cls, text: str, **more: Any) -> Noisy:
        """From `topk:2` or `confusion:0.05`; the number may be left out.

        Raises
        ------
        UserError
            Not of this form.
        """
        how, _, value = text.partition(":")
        try:
            number = float(value) if value else None
        except ValueError as error:
            raise UserError(f"{text!r}: {value!r} is not a number; write for example topk:2.") from error
        return cls(how.strip(), number, **more)

    def __str__(self) -> str:
        return f"{self.how}:{self.number:g}"

    @property
    def words(self) -> str:
        """The way and its settings, for a page."""
        if self.how == "topk":
            return f"labels doubted: the {self.number:g} likeliest join"
        return f"labels doubted: those at least {self.number * 100:g} % likely join"

    def matrix(self, class_names: Sequence[str]) -> Matrix | None:
        """Return the given (c, c) confusion matrix, read from its file; None where it is to be estimated.

        Raises
        ------
        UserError
            No such file, or no matrix of these classes.
        """
        if self.confusion is None:
            return None
        if isinstance(self.confusion, str):
            return read_matrix(self.confusion, class_names)
        return as_numbers(self.confusion, "The confusion matrix")

    def sets(
        self,
        X: npt.ArrayLike,
        labels: npt.ArrayLike,
        class_names: Sequence[str],
        *,
        seed: int = 0,
        progress: FoldsDone | None = None,
    ) -> CandidateSets:
        """Make candidate sets of these labels.

        Parameters
        ----------
        X
            (n, d) or (n, C, H, W) features; not looked at where a confusion matrix is given.
        labels
            (n,) given labels.
        class_names
            c names.
        seed, progress
            Of the classifier, as for `pll.synthesis.cross_val.out_of_fold`.

        Raises
        ------
        UserError
            As `top_k_sets` and `confusion_sets`.
        """
        c = len(class_names)
        if self.how == "topk":
            k = int(self.number)
            return top_k_sets(X, labels, c, k=k, seed=seed, class_names=class_names, progress=progress)
        matrix, rows = self.matrix(class_names), self.rows
        if matrix is None:
            matrix, rows = estimated_confusion(X, labels, c, seed=seed, progress=progress), "given"
        return confusion_sets(labels, matrix, threshold=self.number, rows=rows, class_names=class_names)


def estimated_confusion(
    X: npt.ArrayLike, labels: npt.ArrayLike, n_classes: int, *, seed: int = 0, progress: FoldsDone | None = None
) -> Matrix:
    """Estimate a confusion matrix: at [i, j] the mean probability of label j over the examples given label i.

    The probabilities are out of fold (`pll.synthesis.cross_val`).

    Parameters
    ----------
    X
        (n, d) or (n, C, H, W) features.
    labels
        (n,) given labels in [0, n_classes).
    n_classes
        c, at least 2.
    seed
        Of the folds.
    progress
        Called as (folds done, folds in all).

    Returns
    -------
    Matrix
        (c, c); rows are given labels and sum to 1, or 0 for a label that is never given.

    Examples
    --------
    >>> estimated_confusion([[0.0], [0.1], [5.0], [5.1]], [0, 0, 1, 1], 2).argmax(axis=1).tolist()
    [0, 1]
    """
    result = cached_out_of_fold(X, labels, n_classes, seed=seed, progress=progress)
    y = whole_numbers(labels, "labels").astype(np.int64)
    matrix = np.zeros((n_classes, n_classes))
    np.add.at(matrix, y, result)
    often = np.bincount(y, minlength=n_classes)[:, None]
    return np.divide(matrix, often, out=np.zeros_like(matrix), where=often > 0)


def top_k_sets(
    X: npt.ArrayLike,
    labels: npt.ArrayLike,
    n_classes: int,
    *,
    k: int = 2,
    seed: int = 0,
    class_names: Sequence[str] = (),
    progress: FoldsDone | None = None,
) -> CandidateSets:
    """Make sets of the given label and the k classes that a logistic regression finds most likely out of fold.

    Parameters
    ----------
    X
        (n, d) or (n, C, H, W) numbers, NaN where missing.
    labels
        (n,) given labels in [0, n_classes).
    n_classes
        c.
    k
        In [1, c − 1]; a set has k or k + 1 candidates.
    seed, progress
        As for `pll.synthesis.cross_val.out_of_fold`.
    class_names
        c names; by default "0" … "c-1".

    Raises
    ------
    UserError
        k outside its range, or as `out_of_fold`.
    """
    if not 1 <= k < n_classes:
        raise UserError(f"k is {k}; with {n_classes} classes it must lie between 1 and {n_classes - 1}.")
    probabilities = cached_out_of_fold(X, labels, n_classes, seed=seed, progress=progress)
    return sets_of_most_likely(probabilities, labels, k, class_names)


def sets_of_most_likely(
    probabilities: npt.ArrayLike, labels: npt.ArrayLike, k: int, class_names: Sequence[str] = ()
) -> CandidateSets:
    """Make sets of the given label and the k most likely ones, by probabilities of a classifier of one's own.

    Parameters
    ----------
    probabilities
        (n, c) scores; of equal ones the lower class comes first.
    labels
        (n,) given labels.
    k
        How many, beside the given one.
    class_names
        c names; by default "0" … "c-1".

    Raises
    ------
    UserError
        Lengths that differ, a label out of range, k outside [1, c].

    Examples
    --------
    >>> sets_of_most_likely([[0.7, 0.2, 0.1]], [2], k=1)[0].tolist()
    [0, 2]
    """
    scores = np.asarray(probabilities)
    y = whole_numbers(labels, "labels").astype(np.int64)
    if scores.ndim != 2 or len(scores) != len(y):
        raise UserError(f"There are {len(y)} labels but probabilities of shape {scores.shape}; give one row each.")
    n, c = scores.shape
    if not 1 <= k <= c:
        raise UserError(f"k is {k}; with {c} classes it must lie between 1 and {c}.")
    _check_range(y, c)
    mask = np.zeros((n, c), dtype=np.bool_)
    for rows in blocks(n, NOISY_AT_ONCE):
        top = np.argsort(-scores[rows], axis=1, kind="stable")[:, :k]
        np.put_along_axis(mask[rows], top, True, axis=1)
    mask[np.arange(n), y] = True
    return CandidateSets.from_mask(mask, class_names)


def confusion_sets(
    labels: npt.ArrayLike,
    confusion: npt.ArrayLike,
    *,
    threshold: float = 0.05,
    rows: str = "true",
    class_names: Sequence[str] = (),
) -> CandidateSets:
    """Make sets of the given label i and every label j with Pr(true label j | given i) ≥ threshold.

    Parameters
    ----------
    labels
        (n,) given labels.
    confusion
        (c, c) counts or shares, as `pll.synthesis.transitions.truth_given_label` takes them.
    threshold
        In (0, 1].
    rows
        What the rows of `confusion` are: `"true"` or `"given"` labels.
    class_names
        c names; by default "0" … "c-1".

    Raises
    ------
    UserError
        A threshold outside its range, a matrix that is none, a label out of range.

    Examples
    --------
    >>> confusion_sets([0, 1], [[8, 2], [0, 6]], threshold=0.2)[1].tolist()
    [0, 1]
    """
    if not 0 < threshold <= 1:
        raise UserError(f"The threshold is {threshold}; it must lie between 0 and 1.")
    y = whole_numbers(labels, "labels").astype(np.int64)
    counts = as_numbers(confusion, "The confusion matrix")
    c = len(counts)
    names = tuple(class_names) or tuple(str(j) for j in range(c))
    likely = truth_given_label(counts, names, rows=rows) >= threshold  # (c, c)
    np.fill_diagonal(likely, True)
    _check_range(y, c)
    return CandidateSets.from_lists([np.flatnonzero(row).tolist() for row in likely], c, names).take(y)


def _check_range(labels: Ints, c: int) -> None:
    outside = np.flatnonzero((labels < 0) | (labels >= c))
    if len(outside):
        row = int(outside[0])
        raise UserError(f"Row {row}: the given label {labels[row]} is unknown; labels run from 0 to {c - 1}.")

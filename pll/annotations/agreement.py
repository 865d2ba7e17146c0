"""How far annotators agree: percent agreement, and Fleiss' kappa.

And where two of them do not: the rows, and which label of one stands against which of the other.

An answer is the set of labels that one annotator gave to one row, most often one label. Rows with fewer than two
answers are left out; answers may be missing anywhere.

The formulas are a few lines of sparse algebra: `fleiss_kappa` of statsmodels needs the same number of answers in every
row, and `irrCAC` pins an old SciPy. The tests compare with published examples.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy  # its parts load when they are used

from pll.annotations import Annotations

Numbers = npt.NDArray[np.floating[Any]]

NAMED = 3
"""Pairs of labels that the sentence on two annotators names."""

SAME = "Every answer is the same; without any difference, agreement cannot be told from chance."


@dataclass(frozen=True)
class Figure:
    """A figure, or the reason why there is none."""

    value: float | None
    reason: str = ""


@dataclass(frozen=True)
class Agreement:
    """How far annotators agree, and how far beyond chance.

    Attributes
    ----------
    percent
        Of two annotators of a row drawn at random, how often they gave the same answer; a fraction 0-1, averaged over
        rows.
    kappa
        Fleiss' kappa: the same beyond what chance would give; 1 perfect, 0 chance.
    rows
        Rows with at least two answers, on which both rest.
    answers
        Answers in these rows.
    """

    percent: Figure
    kappa: Figure
    rows: int
    answers: int


ENOUGH_ROWS = 10
"""With fewer rows compared, kappa is noise: pages do not show it."""


def agreement(annotations: Annotations) -> Agreement:
    """Both figures.

    Examples
    --------
    >>> annotations = Annotations.from_votes([[0, 0], [1, 1], [1, 0]], ["a", "b"], ["ann", "bob"])
    >>> result = agreement(annotations)
    >>> round(result.percent.value, 3), round(result.kappa.value, 3)
    (0.667, 0.333)
    """
    counts = _table(annotations)
    compared = counts[counts.sum(axis=1) >= 2]
    rows, answers = compared.shape[0], int(compared.sum())
    reason = _why_none(annotations, rows)
    if reason:
        return Agreement(Figure(None, reason), Figure(None, reason), rows, answers)
    percent = float(_observed(compared).mean())
    return Agreement(Figure(percent), _kappa(percent, counts), rows, answers)


# ---- where two of them disagree --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Pair:
    """Two annotators and how often they differ.

    Attributes
    ----------
    first, second
        Indices of the annotators.
    rows
        Number of rows both answered.
    differing
        Number of these on which their answers are not the same.
    """

    first: int
    second: int
    rows: int
    differing: int


def disagreeing_pairs(annotations: Annotations) -> list[Pair]:
    """Return all pairs of annotators who differ somewhere, those first who differ on most rows.

    Examples
    --------
    >>> annotations = Annotations.from_votes([[0, 0, 1], [1, 1, 0], [1, 0, -1]])
    >>> [(pair.first, pair.second, pair.differing, pair.rows) for pair in disagreeing_pairs(annotations)]
    [(0, 2, 2, 2), (1, 2, 2, 2), (0, 1, 1, 3)]
    """
    codes, v = _different(annotations)
    rows = annotations.rows[annotations.answer_starts]
    who = annotations.annotators[annotations.answer_starts]
    ones = np.ones(len(who), dtype=np.int64)
    n, m = annotations.n_rows, annotations.n_annotators
    answered = scipy.sparse.coo_array((ones, (who, rows)), shape=(m, n)).tocsr()
    gave = scipy.sparse.coo_array((ones, (who, rows * v + codes)), shape=(m, n * v)).tocsr()
    both = (answered @ answered.T).tocoo()
    same = (gave @ gave.T).tocsr()
    upper = both.row < both.col
    first, second, together = both.row[upper], both.col[upper], both.data[upper]
    differing = together - np.asarray(same[first, second]).ravel()
    order = np.lexsort((second, first, -differing))
    found = (Pair(int(first[k]), int(second[k]), int(together[k]), int(differing[k])) for k in order)
    return [pair for pair in found if pair.differing]


def rows_of_disagreement(annotations: Annotations, first: int, second: int) -> npt.NDArray[np.int64]:
    """Return the rows that both annotators answered, and not with the same labels.

    Parameters
    ----------
    annotations
        The labels that annotators gave.
    first, second
        Numbers of the two annotators.

    Examples
    --------
    >>> annotations = Annotations.from_votes([[0, 0], [1, -1], [1, 0]])
    >>> rows_of_disagreement(annotations, 0, 1).tolist()
    [2]
    """
    one, other = (answers_of(annotations, who) for who in (first, second))
    both = (one.sum(axis=1) > 0) & (other.sum(axis=1) > 0)
    differ = np.asarray(abs(one - other).sum(axis=1)).ravel() > 0
    return np.flatnonzero(both & differ)


def confusion_of_two(annotations: Annotations, first: int, second: int) -> Numbers:
    """Return (c, c) how often the first one said k where the second one said l, over the rows both answered.

    An answer of several labels counts in equal parts for each of them.

    Parameters
    ----------
    annotations
        The labels that annotators gave.
    first, second
        Numbers of the two annotators.

    Examples
    --------
    >>> annotations = Annotations.from_votes([[0, 0], [1, 1], [1, 0]], ["a", "b"], ["ann", "bob"])
    >>> confusion_of_two(annotations, 0, 1).tolist()
    [[1.0, 0.0], [1.0, 1.0]]
    """
    one, other = (answers_of(annotations, who).astype(np.float64) for who in (first, second))
    for labels in (one, other):
        labels.data /= np.repeat(np.diff(labels.indptr), np.diff(labels.indptr))
    table: Numbers = (one.T @ other).toarray()
    return table


def sentence_of_two(annotations: Annotations, first: int, second: int) -> str:
    """Return how often two annotators differ, and on which labels most.

    Parameters
    ----------
    annotations
        The labels that annotators gave.
    first, second
        Numbers of the two annotators.

    Examples
    --------
    >>> annotations = Annotations.from_votes([[0, 0], [1, 1], [1, 0]], ["a", "b"], ["ann", "bob"])
    >>> sentence_of_two(annotations, 0, 1)
    'ann and bob differ on 1 of 3. Most often: b / a (1).'
    """
    table = confusion_of_two(annotations, first, second)
    off = table.copy()
    np.fill_diagonal(off, 0.0)
    names = annotations.class_names
    top = [divmod(int(k), len(names)) for k in np.argsort(-off, axis=None, kind="stable")[:NAMED] if off.flat[k]]
    most = ", ".join(f"{names[k]} / {names[j]} ({off[k, j]:,.3g})" for k, j in top)
    one, other = annotations.annotator_names[first], annotations.annotator_names[second]
    differing = len(rows_of_disagreement(annotations, first, second))
    return f"{one} and {other} differ on {differing:,} of {round(table.sum()):,}.{f' Most often: {most}.' * bool(top)}"


def answers_of(annotations: Annotations, annotator: int) -> scipy.sparse.csr_array:
    """Return (n, c) sparse 0/1, the labels that an annotator gave.

    Parameters
    ----------
    annotations
        The labels that annotators gave.
    annotator
        Its number.
    """
    at = annotations.annotators == annotator
    ones = np.ones(int(at.sum()), dtype=np.int64)
    shape = (annotations.n_rows, annotations.n_classes)
    return scipy.sparse.coo_array((ones, (annotations.rows[at], annotations.labels[at])), shape=shape).tocsr()


# ---- the figures -----------------------------------------------------------------------------------------------------


def _observed(counts: scipy.sparse.csr_array) -> Numbers:
    """(n,) share of the pairs of answers in each row that are the same."""
    each = counts.sum(axis=1)
    share: Numbers = ((counts * counts).sum(axis=1) - each) / (each * (each - 1))
    return share


def _kappa(observed: float, counts: scipy.sparse.csr_array) -> Figure:
    """Fleiss (Psychological Bulletin 76, 1971); with missing answers as Gwet (Handbook of Inter-Rater Reliability,
    2014, ch. 2): rows count alike, those with a single answer for the shares of the answers alone.
    """
    shares = (scipy.sparse.diags_array(1 / counts.sum(axis=1)) @ counts).mean(axis=0)
    by_chance = float((shares**2).sum())
    if by_chance >= 1 - 1e-12:
        return Figure(None, SAME)
    return Figure((observed - by_chance) / (1 - by_chance))


def _why_none(annotations: Annotations, rows: int) -> str:
    if annotations.n_annotators < 2:
        return "There is one annotator; agreement needs at least two."
    if rows == 0:
        return "No row has the answers of two annotators; agreement shows only where people answered the same question."
    return ""


# ---- answers as numbers ----------------------------------------------------------------------------------------------


def _table(annotations: Annotations) -> scipy.sparse.csr_array:
    """(n, v) how many annotators of a row gave each of the v different answers."""
    codes, n_different = _different(annotations)
    _, rows = np.unique(annotations.rows[annotations.answer_starts], return_inverse=True)
    shape = (int(rows.max(initial=-1)) + 1, n_different)
    return scipy.sparse.coo_array((np.ones(len(rows), dtype=np.int64), (rows, codes)), shape=shape).tocsr()


def _different(annotations: Annotations) -> tuple[npt.NDArray[np.int64], int]:
    """(u,) which of the v different answers each is, and v."""
    starts, sizes = annotations.answer_starts, annotations.answer_sizes
    codes, v = np.empty(len(starts), dtype=np.int64), 0
    for size in np.unique(sizes):
        which = np.flatnonzero(sizes == size)
        named = annotations.labels[starts[which][:, None] + np.arange(size)]  # (answers, size), sorted
        different, code = np.unique(named, axis=0, return_inverse=True)
        codes[which] = v + code.ravel()
        v += len(different)
    return codes, v

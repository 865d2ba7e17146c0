"""How far annotators agree: percent agreement, Fleiss' kappa, Krippendorff's alpha with the MASI distance between sets.

And where two of them do not: the rows, and which label of one stands against which of the other.

An answer is the set of labels that one annotator gave to one row, most often one label. Rows with fewer than two
answers are left out; answers may be missing anywhere.

The formulas are a few lines of sparse algebra, and no library does what is needed here: `fleiss_kappa` of statsmodels
needs the same number of answers in every row, `irrCAC` pins an old SciPy, `krippendorff` is under the GPL and fills
rows × answers² numbers, NLTK needs several seconds per 100,000 answers. The tests compare with the published examples
of all of them, and with NLTK on random answers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy  # its parts load when they are used

from pll.annotations.data import Annotations
from pll.io import blocks
from pll.weights import Ints

Numbers = npt.NDArray[np.floating[Any]]

MOST_DIFFERENT = 10_000
"""Different answers up to which alpha is computed: it compares each with each."""

NUMBERS_AT_ONCE = 2**21
"""Numbers held at a time while answers are compared."""

PAIRS_NAMED = 3
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
    alpha
        Krippendorff's alpha with the MASI distance between sets: near misses count as such.
    rows
        Rows with at least two answers, on which all three rest.
    answers
        Answers in these rows.
    """

    percent: Figure
    kappa: Figure
    alpha: Figure
    rows: int
    answers: int


ENOUGH_ROWS = 10
"""With fewer rows compared, kappa and alpha are noise: pages do not show them."""


def masi(both: Numbers, either: Numbers, smaller: Numbers) -> Numbers:
    """Return Jaccard, times 1 for the same set, 2/3 where one holds the other, 1/3 where they only overlap.

    Passonneau (LREC 2006), "Measuring agreement on set-valued items".

    Parameters
    ----------
    both, either, smaller
        (m,) sizes of intersection, union and smaller set of m pairs of sets.

    Returns
    -------
    Numbers
        (m,) similarities in [0, 1].
    """
    steps = 1.0 + (both == smaller) + (both == either)  # 1, 2 or 3 thirds
    weight: Numbers = both / either * steps / 3
    return weight


def agreement(annotations: Annotations) -> Agreement:
    """All three figures.

    Examples
    --------
    >>> annotations = Annotations.from_votes([[0, 0], [1, 1], [1, 0]], ["a", "b"], ["ann", "bob"])
    >>> result = agreement(annotations)
    >>> round(result.percent.value, 3), round(result.kappa.value, 3), round(result.alpha.value, 3)
    (0.667, 0.333, 0.444)
    """
    counts, sets = _table(annotations)
    compared = counts[counts.sum(axis=1) >= 2]
    rows, answers = compared.shape[0], int(compared.sum())
    reason = _why_none(annotations, rows)
    if reason:
        return Agreement(Figure(None, reason), Figure(None, reason), Figure(None, reason), rows, answers)
    percent = float(_observed(compared).mean())
    kappa = _kappa(percent, counts)
    return Agreement(Figure(percent), kappa, _alpha(compared, sets), rows, answers)


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
    by_chance
        Share of rows on which they would say the same, did each draw from what they say in all rows they answered.
    group
        Of the rows.
    """

    first: int
    second: int
    rows: int
    differing: int
    by_chance: float
    group: int = 0

    def __add__(self, other: Pair) -> Pair:
        """The same two in both groups of rows together."""
        rows = self.rows + other.rows
        by_chance = (self.rows * self.by_chance + other.rows * other.by_chance) / rows
        return replace(self, rows=rows, differing=self.differing + other.differing, by_chance=by_chance)

    @property
    def apart(self) -> float:
        """On which share of these rows they differ."""
        return self.differing / self.rows


def disagreeing_pairs(annotations: Annotations) -> list[Pair]:
    """Return all pairs of annotators who differ somewhere, those first who differ on most rows.

    Examples
    --------
    >>> annotations = Annotations.from_votes([[0, 0, 1], [0, 0, 0]])
    >>> [(pair.first, pair.second) for pair in disagreeing_pairs(annotations)]
    [(0, 2), (1, 2)]
    """
    return [pair for pair in pairs_in(annotations) if pair.differing]


def pairs_in(annotations: Annotations, groups: Ints | None = None) -> list[Pair]:
    """Return all pairs of annotators who answered the same rows, those first who differ on most.

    Parameters
    ----------
    annotations
        The labels that annotators gave.
    groups
        (n,) whole numbers from 0: rows are counted by group, and two annotators are a pair in each where they meet.

    Examples
    --------
    >>> annotations = Annotations.from_votes([[0, 0, 1], [1, 1, 0], [1, 0, -1]])
    >>> [(pair.first, pair.second, pair.differing, pair.rows) for pair in pairs_in(annotations)]
    [(0, 2, 2, 2), (1, 2, 2, 2), (0, 1, 1, 3)]
    >>> [(pair.group, pair.rows) for pair in pairs_in(annotations, np.array([0, 1, 1])) if pair.second == 1]
    [(1, 2), (0, 1)]
    """
    codes, sets = _different(annotations)
    rows = annotations.rows[annotations.answer_starts]
    who = annotations.annotators[annotations.answer_starts]
    g = 1 if groups is None else int(groups.max(initial=0)) + 1
    if groups is not None:
        who = who * g + groups[rows]  # of each group another annotator
    ones = np.ones(len(who), dtype=np.int64)
    n, m, v = annotations.n_rows, annotations.n_annotators * g, sets.shape[0]
    answered = scipy.sparse.coo_array((ones, (who, rows)), shape=(m, n)).tocsr()
    gave = scipy.sparse.coo_array((ones, (who, rows * v + codes)), shape=(m, n * v)).tocsr()
    both = (answered @ answered.T).tocoo()
    same = (gave @ gave.T).tocsr()
    upper = both.row < both.col
    first, second, together = both.row[upper], both.col[upper], both.data[upper]
    differing = together - np.asarray(same[first, second]).ravel()
    often = scipy.sparse.coo_array((1 / np.bincount(who)[who], (who, codes)), shape=(m, v)).tocsr()
    by_chance = often[first].multiply(often[second]).sum(axis=1)
    order = np.lexsort((second, first, -differing))
    columns = (first // g, second // g, together, differing, by_chance, first % g)
    return [Pair(*values) for values in zip(*(column[order].tolist() for column in columns), strict=True)]


def rows_of_disagreement(annotations: Annotations, first: int, second: int) -> Ints:
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
    top = [divmod(int(k), len(names)) for k in np.argsort(-off, axis=None, kind="stable")[:PAIRS_NAMED] if off.flat[k]]
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


# ---- the three figures -----------------------------------------------------------------------------------------------


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


def _alpha(counts: scipy.sparse.csr_array, sets: scipy.sparse.csr_array) -> Figure:
    """Krippendorff (Content Analysis, 2004, ch. 11): 1 − observed / expected disagreement over all pairs of answers.

    A row of m answers gives each of its pairs the weight 1 / (m − 1); chance draws both answers from all of them.
    """
    often = counts.sum(axis=0).astype(np.float64)  # (v,)
    used = np.flatnonzero(often)
    counts, sets, often = counts[:, used], sets[used], often[used]
    if len(used) == 1:
        return Figure(None, SAME)
    if len(used) > MOST_DIFFERENT:
        return Figure(None, f"There are {len(used):,} different answers; at most {MOST_DIFFERENT:,} are compared.")
    total = float(often.sum())
    weighted = scipy.sparse.diags_array(1 / (counts.sum(axis=1) - 1)) @ counts
    # In `together` every answer is paired with itself too; these pairs have similarity 1; their weight:
    with_itself = float(weighted.sum())
    together = (counts.T @ weighted).tocoo()  # (v, v)
    observed = 1 - (float(together.data @ _similarities(sets, together.row, together.col)) - with_itself) / total
    by_chance = 0.0
    for some in _pieces(len(used), len(used)):
        by_chance += float(often[some] @ _similarities_to_all(sets, some) @ often)
    expected = 1 - (by_chance - total) / (total * (total - 1))  # an answer is not drawn twice
    return Figure(1 - observed / expected)


def _why_none(annotations: Annotations, rows: int) -> str:
    if annotations.n_annotators < 2:
        return "There is one annotator; agreement needs at least two."
    if rows == 0:
        return "No row has the answers of two annotators; agreement shows only where people answered the same question."
    return ""


# ---- answers as numbers ----------------------------------------------------------------------------------------------


def _table(annotations: Annotations) -> tuple[scipy.sparse.csr_array, scipy.sparse.csr_array]:
    """(n, v) how many annotators of a row gave each of the v different answers, and (v, c) 0/1 their labels."""
    codes, sets = _different(annotations)
    _, rows = np.unique(annotations.rows[annotations.answer_starts], return_inverse=True)
    shape = (int(rows.max(initial=-1)) + 1, sets.shape[0])
    ones = np.ones(len(rows), dtype=np.int64)
    return scipy.sparse.coo_array((ones, (rows, codes)), shape=shape).tocsr(), sets


def _different(annotations: Annotations) -> tuple[Ints, scipy.sparse.csr_array]:
    """(u,) which of the v different answers each is, and (v, c) 0/1 their labels."""
    starts, sizes = annotations.answer_starts, annotations.answer_sizes
    codes = np.empty(len(starts), dtype=np.int64)
    indptr, labels = [0], [np.empty(0, dtype=np.int64)]
    for size in np.unique(sizes):
        which = np.flatnonzero(sizes == size)
        named = annotations.labels[starts[which][:, None] + np.arange(size)]  # (answers, size), sorted
        different, code = np.unique(named, axis=0, return_inverse=True)
        codes[which] = len(indptr) - 1 + code.ravel()
        indptr += [indptr[-1] + size * (k + 1) for k in range(len(different))]
        labels.append(different.ravel())
    flat = np.concatenate(labels)
    shape = (len(indptr) - 1, annotations.n_classes)
    return codes, scipy.sparse.csr_array((np.ones(len(flat), dtype=np.float32), flat, indptr), shape=shape)


def _similarities(
    sets: scipy.sparse.csr_array,
    first: npt.NDArray[np.integer[Any]],
    second: npt.NDArray[np.integer[Any]],
) -> Numbers:
    """(k,) similarities of the answers first[k] and second[k]."""
    sizes = np.diff(sets.indptr)
    similarities = np.empty(len(first))
    for some in _pieces(len(first), int(sizes.max(initial=1))):
        one, other = first[some], second[some]
        both = sets[one].multiply(sets[other]).sum(axis=1)
        similarities[some] = masi(both, sizes[one] + sizes[other] - both, np.minimum(sizes[one], sizes[other]))
    return similarities


def _similarities_to_all(sets: scipy.sparse.csr_array, some: Ints) -> Numbers:
    """(b, v) similarities of some answers to all."""
    sizes = np.diff(sets.indptr).astype(np.float32)
    both = (sets[some] @ sets.T).toarray()
    return masi(both, sizes[some, None] + sizes - both, np.minimum(sizes[some, None], sizes))


def _pieces(count: int, cost: int) -> Iterator[Ints]:
    """0 … count−1, in pieces that fit into memory."""
    for some in blocks(count, max(1, NUMBERS_AT_ONCE // cost)):
        yield np.arange(some.start, some.stop)


def majority_sentence(identified: Ints, votes: Annotations) -> str:
    """Say of how many labels the votes name another one more often, and of how many another one as often.

    Parameters
    ----------
    identified
        (n,) labels; negative where it is no class of the votes.
    votes
        Everybody's answers about the same examples.

    Examples
    --------
    >>> votes = Annotations.from_votes([[0, 0], [0, 1], [1, 1]])
    >>> for identified in ([1, 1, 1], [0, 0, 1], [-1, 0, 1]):
    ...     majority_sentence(np.array(identified), votes)
    'The majority would differ on 1; on 1 as many say another label.'
    'The majority would differ on 0; on 1 as many say another label.'
    'The majority would differ on 1; on 1 as many say another label.'
    """
    counts, every = votes.votes, np.arange(len(identified))
    most = counts.max(axis=1).toarray().ravel()
    own = np.where(identified < 0, 0, np.asarray(counts[every, np.maximum(identified, 0)]).ravel())
    rows = np.repeat(every, np.diff(counts.indptr))
    leaders = np.bincount(rows, counts.data == most[rows], len(every))
    n_tied = int(((own == most) & (leaders > 1)).sum())
    tied = f"; on {n_tied:,} as many say another label" if n_tied else ""
    return f"The majority would differ on {int((own < most).sum()):,}{tied}."

"""How far each annotator can be relied on, estimated from the annotations alone.

The one-coin model of Dawid & Skene (Applied Statistics 28, 1979; one coin: Zhang, Chen, Zhou & Jordan, JMLR 17, 2016,
§3.2): annotator a is right with probability r_a whatever the true label is, and otherwise says any of the other labels.
Expectation maximisation goes back and forth between the r_a and the probability of each label of each row. The full
model, a c × c matrix an annotator, needs far more answers than most people give, and its memory grows with a · c².

An answer that names k of c labels at once is right where the truth is among them; all sets of k that hold the truth are
alike, and so are all that do not. In favour of each label it names, it then weighs

    w = log(r / (1 − r)) + log((c − k) / k)

which for k = 1 is the one-coin model; an answer that names everything weighs nothing. No class is taken for more
likely than another beforehand, so that rare classes stay candidates.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pll.annotations.data import Annotations
from pll.errors import UserError

MOST_ROUNDS = 200
TOLERANCE = 1e-7
SHRINKAGE = 2.0
"""Answers of an average annotator that everybody starts with: who has given few is taken for average."""

Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Reliability:
    """What was estimated.

    Attributes:
        of_annotator: (a,) probability that an answer holds the true label. NaN where an annotator gave no answer that
            says anything.
        answers: (a,) how many answers that rests on.
        posterior: (nnz,) probability of each named label of each row, aligned with `Annotations.votes`.
        rounds: how many it took.
    """

    of_annotator: Numbers
    answers: npt.NDArray[np.int64]
    posterior: Numbers
    rounds: int


def estimate(annotations: Annotations) -> Reliability:
    """Expectation maximisation, started from the shares of the votes.

    Raises:
        UserError: nobody knows who gave which vote, there is one class, or no row has two annotators' answers.
    """
    _check(annotations)
    c = annotations.n_classes
    votes = annotations.votes
    pair_of = _pairs(annotations)  # (m,) where the (row, label) of each triple stands in `votes`
    row_of_pair = np.repeat(np.arange(annotations.n_rows), np.diff(votes.indptr))
    unnamed = (c - np.diff(votes.indptr)).astype(np.float64)  # (n,) labels nobody named: each weighs exp(0)
    starts, sizes = annotations.answer_starts, annotations.answer_sizes
    telling = np.flatnonzero(sizes < c)  # naming everything says nothing
    who = annotations.annotators[starts][telling]
    answers = np.bincount(who, minlength=annotations.n_annotators)
    breadth = np.log((c - sizes[telling]) / sizes[telling])

    posterior = votes.data / votes.sum(axis=1)[row_of_pair]
    right = np.full(annotations.n_annotators, np.nan)
    for rounds in range(1, MOST_ROUNDS + 1):
        before, right = right, _right(np.add.reduceat(posterior[pair_of], starts)[telling], who, answers)
        if rounds > 1 and np.abs(right - before).max() < TOLERANCE:
            break
        weight = np.zeros(len(starts))
        # Worse than chance counts for nothing: nobody is taken to mean the opposite of what they say.
        weight[telling] = np.maximum(0.0, np.log(right / (1 - right))[who] + breadth)
        score = np.bincount(pair_of, np.repeat(weight, sizes), minlength=votes.nnz).astype(np.float64)
        posterior = _normalised(score, row_of_pair, unnamed)
    return Reliability(np.where(answers > 0, right, np.nan), answers, posterior, rounds)


def _pairs(annotations: Annotations) -> npt.NDArray[np.int64]:
    votes = annotations.votes
    keys = np.repeat(np.arange(annotations.n_rows), np.diff(votes.indptr)) * annotations.n_classes + votes.indices
    return np.searchsorted(keys, annotations.rows * annotations.n_classes + annotations.labels)


def _right(hit: Numbers, who: npt.NDArray[np.int64], answers: npt.NDArray[np.int64]) -> Numbers:
    """(a,) in (0, 1): the share of right answers, drawn towards everybody's."""
    overall = (hit.sum() + 1) / (len(hit) + 2)
    share: Numbers = (np.bincount(who, hit, minlength=len(answers)) + SHRINKAGE * overall) / (answers + SHRINKAGE)
    return share


def _normalised(score: Numbers, row_of_pair: npt.NDArray[np.int64], unnamed: Numbers) -> Numbers:
    """exp(score) divided by its sum over all c labels of the row."""
    top = np.zeros(len(unnamed))
    np.maximum.at(top, row_of_pair, score)
    raised = np.exp(score - top[row_of_pair])
    total = np.bincount(row_of_pair, raised, minlength=len(unnamed)) + unnamed * np.exp(-top)
    return raised / total[row_of_pair]


def _check(annotations: Annotations) -> None:
    if annotations.anonymous:
        raise UserError(
            "These are counts of votes: who gave which is not known, so nobody's reliability can be estimated."
        )
    if annotations.n_classes < 2:
        raise UserError("There is one class; nobody can be wrong, and no reliability can be estimated.")
    if not (annotations.answers_per_row >= 2).any():
        raise UserError(
            "No row has the answers of two annotators; reliability shows only where people answered the same question."
        )

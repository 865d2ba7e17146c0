"""May a model replace annotators? The alternative annotator test.

Each annotator j in turn is left out, and compared with the model f by how well the two agree with the others. On each
row i that j, f and somebody else answered, S(x, i) is the mean agreement of x's answer with those of the others (1 for
the same label; for sets, labels in common over labels in either), and

    W_f = 1[S(f, i) ≥ S(j, i)]        W_j = 1[S(j, i) ≥ S(f, i)]        d = W_j − W_f

The null hypothesis is that j is better by at least ε, mean of d ≥ ε; a one-sided t-test of d against ε refuses it. ε is
what a person costs more than the model: .2 for experts, .15 for trained people, .1 for crowds. Over all annotators,
which share rows, the false discovery rate is held at .05 (Benjamini & Yekutieli 2001). The *winning rate* is the share
of annotators whose hypothesis is refused; from one half on the model may stand in for them. The *advantage
probability*, the mean of W_f over rows and then annotators, is how likely the model is as good as one of them.

Calderon, Reichart & Dror (ACL 2025), "The alternative annotator test for LLM-as-a-judge".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse
from scipy.special import stdtr

from pll.annotations.agreement import Numbers, answers_of
from pll.annotations.data import Annotations
from pll.errors import UserError
from pll.weights import Ints

LEAST_ROWS = 30
"""Rows with an annotator, the model and somebody else, from which the t-test holds."""
EPSILONS = {"experts": 0.2, "trained people": 0.15, "crowd workers": 0.1}
"""ε by who the annotators are, as the authors advise."""
FALSE_DISCOVERY_RATE = 0.05
"""False discovery rate."""
PASSING = 0.5
"""Winning rate from which the model may stand in for the annotators."""


@dataclass(frozen=True)
class Comparison:
    """The model compared with one annotator.

    Attributes
    ----------
    name
        Of the annotator.
    rows
        Number of rows compared.
    advantage
        Share of them on which the model agrees with the others at least as well as this annotator.
    annotator_advantage
        Share on which this annotator agrees with the others at least as well as the model.
    p
        Of the hypothesis that this annotator is better by at least ε.
    wins
        Whether it is refused, with all annotators compared taken into account.
    """

    name: str
    rows: int
    advantage: float
    annotator_advantage: float
    p: float
    wins: bool


@dataclass(frozen=True)
class AlternativeTest:
    """Whether a model may replace annotators.

    Attributes
    ----------
    model
        Its name.
    epsilon
        By how much an annotator must be better to be worth keeping.
    table
        A row for each annotator compared.
    left_out
        Names of those with too few rows.
    """

    model: str
    epsilon: float
    table: tuple[Comparison, ...]
    left_out: tuple[str, ...]

    @property
    def winning_rate(self) -> float:
        """Share of the annotators compared that the model is not worse than."""
        return sum(one.wins for one in self.table) / len(self.table)

    @property
    def advantage(self) -> float:
        """Average advantage probability."""
        return sum(one.advantage for one in self.table) / len(self.table)

    @property
    def passes(self) -> bool:
        """Whether the model may stand in for them."""
        return self.winning_rate >= PASSING

    @property
    def sentence(self) -> str:
        """What came of it, in a sentence."""
        won, of = sum(one.wins for one in self.table), len(self.table)
        may = "may" if self.passes else "may not"
        return (
            f"{self.model} agrees with the others at least as well as {won} of {of} people (less than "
            f"{100 * self.epsilon:.0f} in 100 worse); it {may} stand in for them."
        )


def alternative_annotator_test(
    annotations: Annotations, model: str, *, people: Sequence[str] | None = None, epsilon: float = 0.15
) -> AlternativeTest:
    """Test whether a model may replace annotators.

    Parameters
    ----------
    annotations
        Answers of the model and of at least two people.
    model
        Name of the annotator that is the model.
    people
        Names of those it is compared with; by default all others.
    epsilon
        How much worse than an annotator the model may be, 0-1, for what it saves: .2 for experts, .15 for trained
        people, .1 for crowd workers.

    Returns
    -------
    AlternativeTest

    Raises
    ------
    UserError
        No such annotator, fewer than two people, ε out of range, votes without names, or nobody with 30 rows that the
        model and somebody else answered too.

    References
    ----------
    Calderon, Reichart & Dror (ACL 2025), arXiv 2501.10970.

    Examples
    --------
    >>> truth = ["a", "b"] * 20
    >>> ann, bob = ["a"] * 8 + truth[8:], truth[:-8] + ["b"] * 8
    >>> votes = [["ab".index(word) for word in row] for row in zip(ann, bob, truth, truth, strict=True)]
    >>> answers = Annotations.from_votes(votes, ("a", "b"), ("ann", "bob", "cy", "gpt"))
    >>> result = alternative_annotator_test(answers, "gpt", epsilon=0.1)
    >>> result.winning_rate, [round(one.advantage, 2) for one in result.table]
    (1.0, [1.0, 1.0, 1.0])
    """
    if annotations.anonymous:
        raise UserError("Nobody knows who gave which answer; the test needs the names of the annotators.")
    if not 0 <= epsilon < 1:
        raise UserError(f"epsilon is {epsilon:g}; give a share from 0 to below 1, such as 0.15.")
    place = {name: k for k, name in enumerate(annotations.annotator_names)}
    chosen = tuple(people) if people is not None else tuple(name for name in place if name != model)
    for name in (model, *chosen):
        if name not in place:
            raise UserError(f"There is no annotator {name!r}; there are {', '.join(map(repr, place))}.")
    if len(chosen) < 2 or model in chosen or len(set(chosen)) < len(chosen):
        raise UserError("The test compares a model with at least two people; name two others, each once.")
    answers = {name: answers_of(annotations, place[name]) for name in (model, *chosen)}
    compared = {name: _differences(answers, model, name) for name in chosen}
    tested = [name for name in chosen if len(compared[name]) >= LEAST_ROWS]
    if not tested:
        most = max(len(rows) for rows in compared.values())
        raise UserError(
            f"Nobody has {LEAST_ROWS} rows that {model} and somebody else answered too (at most {most}); the test "
            "needs so many."
        )
    p = np.array([_p_value(compared[name], epsilon) for name in tested])
    from scipy.stats import false_discovery_control  # late: it takes most of a second

    wins = false_discovery_control(p, method="by") <= FALSE_DISCOVERY_RATE
    table = tuple(
        Comparison(name, len(d), float((d <= 0).mean()), float((d >= 0).mean()), float(p[k]), bool(wins[k]))
        for k, (name, d) in enumerate((name, compared[name]) for name in tested)
    )
    return AlternativeTest(model, epsilon, table, tuple(name for name in chosen if name not in tested))


def _differences(answers: dict[str, scipy.sparse.csr_array], model: str, left_out: str) -> Ints:
    """(k,) d of each row that the model, the one left out and somebody else answered: −1, 0 or 1."""
    own, other = answers[left_out], answers[model]
    n = own.shape[0]
    of_own, of_model, others = np.zeros(n), np.zeros(n), np.zeros(n)
    for name, labels in answers.items():
        if name not in (model, left_out):
            of_own += _similarity(own, labels)
            of_model += _similarity(other, labels)
            others += np.diff(labels.indptr) > 0
    rows = np.flatnonzero((np.diff(own.indptr) > 0) & (np.diff(other.indptr) > 0) & (others > 0))
    behind = (of_own - of_model)[rows]
    return np.sign(np.where(np.abs(behind) < 1e-9, 0, behind)).astype(np.int64)  # sums of thirds are equal, too


def _similarity(one: scipy.sparse.csr_array, other: scipy.sparse.csr_array) -> Numbers:
    """(n,) labels in both over labels in either; 0 where one of them did not answer."""
    both = np.asarray(one.multiply(other).sum(axis=1)).ravel()
    either = np.diff(one.indptr) + np.diff(other.indptr) - both
    similarity: Numbers = np.divide(both, either, out=np.zeros(len(both)), where=either > 0)
    return similarity


def _p_value(d: Ints, epsilon: float) -> float:
    """One-sided t-test: that the mean of d is below ε."""
    gap = float(d.mean()) - epsilon
    spread = float(d.std(ddof=1)) / np.sqrt(len(d))
    if spread == 0:
        return 0.0 if gap < 0 else 1.0
    return float(stdtr(len(d) - 1, gap / spread))

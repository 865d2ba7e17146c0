"""Models of voters, estimated from their votes alone or together with a classifier: confusion matrices, reliability.

The model of Dawid & Skene (Applied Statistics 28, 1979): voter v names label l with probability C_v[k, l] where the
true label is k, independently of the other voters given k. Expectation maximisation goes back and forth between

    T_ik ∝ p_ik · Π_v C_v[k, l_iv]                     the posterior of each example
    C_v[k, l] = (Σ_i T_ik 1[l_iv = l] + s · B_v[k, l]) / (Σ_i T_ik + s)

p_i is the class prior: one distribution for all examples, estimated too, or what a classifier says of each example.
B_v is the one-coin matrix of the voter (r_v on the diagonal, the rest spread evenly), so that s pseudo-counts a row
hold a matrix to what is known of the voter in general where a class is rare. With `kind="one-coin"` C_v = B_v, and no
class is taken for likelier beforehand: with one number a voter, estimated shares only feed themselves. On
five data sets of votes held-out likelihood preferred s = 1 to 10 and hardly differed within.

An answer of k labels weighs each of them 1/k. Confidence scores split a voter into up to three levels of confidence,
each with a matrix of its own: how much a score says is learnt, not believed.

Memory: n × c for the posterior and (voters × levels) × c² for the matrices; above `MOST_NUMBERS` of either, one coin.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.stats import beta

from pll.annotations.data import Annotations
from pll.errors import UserError

Numbers = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int64]

SMOOTHING = 3.0
"""s, pseudo-counts a row of a confusion matrix."""
SHRINKAGE = 2.0
"""Answers of an average voter that everybody starts with."""
MOST_ROUNDS = 50
TOLERANCE = 1e-4
MOST_NUMBERS = 5 * 10**7
"""Numbers that the confusion matrices may hold; above, one coin."""
LEVELS = 3
LEAST_OF_LEVEL = 50
"""Answers that a level of confidence must have to get a matrix of its own."""
KINDS = ("confusion", "one-coin")


@dataclass(frozen=True, eq=False)
class VoterModels:
    """Fitted models of voters.

    Attributes:
        annotations: the votes they were fitted on.
        kind: `"confusion"` or `"one-coin"`.
        accuracy: (a,) expected share of right answers of each voter.
        confusions: (a·levels, c, c) row k: what is said where k is true; None for one coin.
        posterior: (n, c) T, with the class prior that was given.
        likelihood: (n, c) Π_v C_v[k, l_iv], over its maximum of the row: what the votes alone say.
        units: (m,) which matrix belongs to each vote (voter × level of confidence).
        shares: (m,) weight of each vote, 1/k for an answer of k labels.
        rounds: number of rounds.
    """

    annotations: Annotations
    kind: str
    accuracy: Numbers
    confusions: Numbers | None
    posterior: Numbers
    likelihood: Numbers
    units: Codes
    shares: Numbers
    rounds: int


def fit_voters(
    annotations: Annotations,
    *,
    kind: str = "confusion",
    class_prior: npt.NDArray[Any] | None = None,
    start: Numbers | None = None,
    smoothing: float = SMOOTHING,
    known: npt.NDArray[np.int64] | None = None,
) -> VoterModels:
    """Fit the models of all voters by expectation maximisation.

    Args:
        annotations: at least one answer, at least two classes.
        kind: `"confusion"` or `"one-coin"`.
        class_prior: (n, c) what a classifier says of each example, at least 0; None estimates one distribution.
        start: (n, c) posterior to start from; by default the shares of the votes.
        smoothing: s ≥ 0.
        known: (n,) labels that people decided, −1 elsewhere; their posterior is certain.

    Raises:
        UserError: an unknown kind, counts of votes without voters, no vote, or one class.

    >>> said = Annotations.from_wide({"ann": list("aabbab"), "bob": list("aabbab"), "eve": list("bbbbbb")})
    >>> found = fit_voters(said)
    >>> "".join(said.class_names[k] for k in found.posterior.argmax(axis=1)), bool(found.accuracy[2] < 0.7)
    ('aabbab', True)
    """
    if kind not in KINDS:
        raise UserError(f"There is no voter model called {kind!r}; use one of {', '.join(KINDS)}.")
    if annotations.n_classes < 2:
        raise UserError("There is one class; nobody can be wrong, and no voter model can be fitted.")
    if annotations.n_answers == 0:
        raise UserError("Nobody voted; there is nothing to fit voter models on.")
    if annotations.anonymous:
        raise UserError("These are counts of votes: who gave which is not known, so no voter model can be fitted.")
    n, c, a = annotations.n_rows, annotations.n_classes, annotations.n_annotators
    rows, who, labels = annotations.rows, annotations.annotators, annotations.labels
    shares = 1.0 / np.repeat(annotations.answer_sizes, annotations.answer_sizes)
    levels = _levels(annotations)
    n_units = a * LEVELS if levels.any() else a
    units = who * (n_units // a) + levels
    if n_units * c * c > MOST_NUMBERS:
        kind = "one-coin"
    T = _vote_shares(annotations, shares) if start is None else start
    T = _with_known(T, known)
    log_prior = None if class_prior is None else np.log(np.asarray(class_prior, dtype=np.float64) + 1e-12)
    answers = np.bincount(units, shares, minlength=n_units)
    order = np.argsort(units, kind="stable")
    ends = np.searchsorted(units[order], np.arange(n_units + 1))
    confusions: Numbers | None = None
    rounds = 0
    while rounds < MOST_ROUNDS:
        rounds += 1
        p = (T.sum(axis=0) + 1.0) / (n + c)
        hit = T[rows, labels] * shares
        overall = (hit.sum() + 1) / (shares.sum() + 2)
        right = (np.bincount(units, hit, minlength=n_units) + SHRINKAGE * overall) / (answers + SHRINKAGE)
        right = np.clip(right, 1e-3, 1 - 1e-3)
        shared = np.log(p) if kind == "confusion" else np.zeros(c)  # one coin: rare classes stay candidates
        score = np.repeat(shared[None], n, axis=0) if log_prior is None else log_prior.copy()
        votes = np.zeros((n, c))
        if kind == "one-coin":
            # Worse than chance counts for nothing: nobody is taken to mean the opposite of what they say.
            weight = np.maximum(0.0, np.log(right / (1 - right) * (c - 1)))
            np.add.at(votes, (rows, labels), (weight[units] * shares))
        else:
            confusions = _confusions(T, right, rows, labels, shares, order, ends, smoothing)
            for unit in np.flatnonzero(np.diff(ends)):
                at = order[ends[unit] : ends[unit + 1]]
                # A voter has each (row, label) once, and several labels of one answer in different entries.
                np.add.at(votes, rows[at], np.log(confusions[unit])[:, labels[at]].T * shares[at][:, None])
        before, T = T, _with_known(_softmax(score + votes), known)
        if np.abs(T - before).max() < TOLERANCE:
            break
    accuracy = _accuracy(T, annotations, shares)
    top = votes.max(axis=1, keepdims=True)
    return VoterModels(annotations, kind, accuracy, confusions, T, np.exp(votes - top), units, shares, rounds)


def _confusions(
    T: Numbers,
    right: Numbers,
    rows: Codes,
    labels: Codes,
    shares: Numbers,
    order: Codes,
    ends: Codes,
    smoothing: float,
) -> Numbers:
    c = T.shape[1]
    found = np.empty((len(right), c, c))
    for unit, r in enumerate(right):
        base = np.full((c, c), (1 - r) / (c - 1))
        np.fill_diagonal(base, r)
        at = order[ends[unit] : ends[unit + 1]]
        counts = np.zeros((c, c))
        np.add.at(counts, labels[at], T[rows[at]] * shares[at][:, None])  # (said, true)
        counts = counts.T + max(smoothing, 1e-6) * base
        found[unit] = counts / counts.sum(axis=1, keepdims=True)
    return found


def _vote_shares(annotations: Annotations, shares: Numbers) -> Numbers:
    """(n, c) shares of the votes of each row; uniform where nobody voted."""
    T = np.zeros((annotations.n_rows, annotations.n_classes))
    np.add.at(T, (annotations.rows, annotations.labels), shares)
    total = T.sum(axis=1, keepdims=True)
    return np.where(total > 0, T / np.where(total > 0, total, 1.0), 1.0 / annotations.n_classes)


def _with_known(T: Numbers, known: npt.NDArray[np.int64] | None) -> Numbers:
    if known is None:
        return T
    T = T.copy()
    decided = np.flatnonzero(known >= 0)
    T[decided] = 0.0
    T[decided, known[decided]] = 1.0
    return T


def _softmax(scores: Numbers) -> Numbers:
    raised = np.exp(scores - scores.max(axis=1, keepdims=True))
    normalised: Numbers = raised / raised.sum(axis=1, keepdims=True)
    return normalised


def _accuracy(T: Numbers, annotations: Annotations, shares: Numbers) -> Numbers:
    """(a,) expected share of answers that hold the true label; NaN for a voter without answers."""
    hit = np.bincount(
        annotations.annotators, T[annotations.rows, annotations.labels], minlength=annotations.n_annotators
    )
    answers = np.bincount(annotations.annotators, shares, minlength=annotations.n_annotators)
    accuracy: Numbers = np.divide(hit, answers, out=np.full(len(hit), np.nan), where=answers > 0)
    return accuracy


def _levels(annotations: Annotations) -> Codes:
    """(m,) level of confidence of each vote, 0 … LEVELS−1, where a voter's scores are many and different enough."""
    levels = np.zeros(len(annotations.rows), dtype=np.int64)
    if annotations.scores is None:
        return levels
    for voter in range(annotations.n_annotators):
        at = np.flatnonzero((annotations.annotators == voter) & np.isfinite(annotations.scores))
        if len(at) < 2 * LEAST_OF_LEVEL:
            continue
        scores = annotations.scores[at]
        cuts = np.unique(np.quantile(scores, np.arange(1, LEVELS) / LEVELS))
        level = np.searchsorted(cuts, scores, side="left")  # ties stay together
        if np.bincount(level)[np.unique(level)].min() >= LEAST_OF_LEVEL:
            levels[at] = level
    return levels


# ---- what can be said of a voter -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class VoterCard:
    """What is known of one voter.

    Attributes:
        name: of the voter.
        answers: number of examples answered.
        accuracy: share of right answers: among decided examples where at least 20 are, else as the models estimate
            it; NaN without answers.
        low, high: exact 95 % interval (Clopper-Pearson) from decided examples; NaN where fewer than 20 are decided. The
            models alone give no honest one: voters that share mistakes look better than they are.
        checked: number of decided examples that the figure rests on; 0 where it rests on the model.
        decisive: number of examples whose label would be another one without this voter.
        confusions: up to three (true, said, share of the true class), the most frequent first.
    """

    name: str
    answers: int
    accuracy: float
    low: float
    high: float
    checked: int
    decisive: int
    confusions: tuple[tuple[str, str, float], ...]


LEAST_CHECKED = 20
"""Decided examples from which a voter's accuracy is counted on them alone."""


def voter_cards(models: VoterModels, known: npt.NDArray[np.int64] | None = None) -> list[VoterCard]:
    """A card for every voter, in the order of the voters.

    Args:
        models: of `fit_voters`.
        known: (n,) decided labels, −1 elsewhere.
    """
    said = models.annotations
    T, labels = models.posterior, models.posterior.argmax(axis=1)
    log_T = np.log(T + 1e-300)
    answers = np.bincount(said.annotators[said.answer_starts], minlength=said.n_annotators)
    cards = []
    for voter, name in enumerate(said.annotator_names):
        at = np.flatnonzero(said.annotators == voter)
        rows, named = said.rows[at], said.labels[at]
        checked = 0
        hits, count = models.accuracy[voter] * answers[voter], float(answers[voter])
        if known is not None:
            decided = known[rows] >= 0
            checked = len(np.unique(rows[decided]))
            if checked >= LEAST_CHECKED:
                hits, count = float((named[decided] == known[rows[decided]]).sum()), float(checked)
            else:
                checked = 0
        low, high = _interval(hits, count) if checked else (np.nan, np.nan)
        without = log_T.copy() if len(at) else log_T
        np.subtract.at(without, rows, _contribution(models, at))
        changed = int((without[np.unique(rows)].argmax(axis=1) != labels[np.unique(rows)]).sum()) if len(at) else 0
        accuracy = float(hits / count) if count else np.nan
        cards.append(VoterCard(name, int(answers[voter]), accuracy, low, high, checked, changed, _confused(models, at)))
    return cards


def _interval(hits: float, count: float) -> tuple[float, float]:
    low = 0.0 if hits <= 0 else float(beta.ppf(0.025, hits, count - hits + 1))
    high = 1.0 if hits >= count else float(beta.ppf(0.975, hits + 1, count - hits))
    return low, high


def _contribution(models: VoterModels, at: Codes) -> Numbers:
    """(|at|, c) what some votes add to the log posterior of their rows, up to a constant a row."""
    said = models.annotations
    if models.confusions is not None:
        return np.log(models.confusions[models.units[at], :, said.labels[at]]) * models.shares[at][:, None]
    c = said.n_classes
    right = np.clip(models.accuracy[said.annotators[at]], 1e-3, 1 - 1e-3)
    added = np.zeros((len(at), c))
    added[np.arange(len(at)), said.labels[at]] = np.maximum(0.0, np.log(right / (1 - right) * (c - 1)))
    return added * models.shares[at][:, None]


def _confused(models: VoterModels, at: Codes) -> tuple[tuple[str, str, float], ...]:
    said = models.annotations
    c = said.n_classes
    if not len(at):
        return ()
    counts = np.zeros((c, c))  # (said, true)
    np.add.at(counts, said.labels[at], models.posterior[said.rows[at]] * models.shares[at][:, None])
    counts = counts.T
    of_class = counts.sum(axis=1)
    wrong = counts.copy()
    np.fill_diagonal(wrong, 0.0)
    top = np.argsort(wrong, axis=None)[::-1][:3]
    pairs = [(int(k // c), int(k % c)) for k in top if wrong.flat[k] >= 0.5]
    return tuple((said.class_names[k], said.class_names[j], float(counts[k, j] / of_class[k])) for k, j in pairs)


LEAST_WITH_COPIES = 5
"""Voters among whom three copies of one outvote two that are independent: then the two look dependent."""


@dataclass(frozen=True)
class Dependence:
    """Two voters who give the same answer more often than independent ones would.

    Attributes:
        first, second: names of the voters.
        observed, expected: shares of the examples both answered on which they agree, and would if they were
            independent given the true label.
        z: how many standard deviations that is.
        rows: number of examples both answered.
    """

    first: str
    second: str
    observed: float
    expected: float
    z: float
    rows: int


LEAST_Z = 4.0
"""Standard deviations of excess agreement from which two voters are called dependent."""
LEAST_EXCESS = 0.02
"""Least excess of the share on which they agree."""
COMPARED = range(4, 13)
"""Numbers of voters for which dependence can be told: three fit any model, and every voter costs another fit."""


def dependent_voters(models: VoterModels) -> list[Dependence]:
    """The pair of voters that most clearly shares mistakes, where one does.

    Two voters who copy each other look right to the model, and the others then seem to depend on each other. Therefore
    each voter is left out in turn: the one without whom the rest fits independence best is half of the pair; the other
    half is who agrees with it most beyond what independent voters would, given the labels of the rest.

    Args:
        models: of `fit_voters`.

    Returns:
        at most one pair; none with fewer than four voters of 50 answers, or more than twelve.
    """
    said = models.annotations
    answers = np.bincount(said.annotators, minlength=said.n_annotators)
    voters = [int(v) for v in np.flatnonzero(answers >= LEAST_OF_LEVEL)]
    if len(voters) not in COMPARED or models.confusions is None or said.n_classes < 2:
        return []
    single = np.full((said.n_annotators, said.n_rows), -1, dtype=np.int64)
    alone = models.shares == 1.0
    single[said.annotators[alone], said.rows[alone]] = said.labels[alone]
    pairs = [(v, w) for v in voters for w in voters if v < w]
    worst = max(_excess(single[v], single[w], models.posterior)[0] for v, w in pairs)
    if worst < LEAST_Z:
        return []
    without = {v: fit_voters(_left_out(said, v)).posterior for v in voters}
    misfit = {v: max(_excess(single[a], single[b], without[v])[0] for a, b in pairs if v not in (a, b)) for v in voters}
    first = min(voters, key=lambda v: misfit[v])
    found = {v: _excess(single[first], single[v], without[first]) for v in voters if v != first}
    second = max(found, key=lambda v: found[v][0])
    z, observed, expected, rows = found[second]
    if z < LEAST_Z or observed - expected < LEAST_EXCESS:
        return []
    names = said.annotator_names[min(first, second)], said.annotator_names[max(first, second)]
    return [Dependence(*names, observed, expected, z, rows)]


def _left_out(said: Annotations, voter: int) -> Annotations:
    kept = said.annotators != voter
    scores = None if said.scores is None else said.scores[kept]
    rows, who, labels = said.rows[kept], said.annotators[kept], said.labels[kept]
    return replace(said, rows=rows, annotators=who, labels=labels, scores=scores)


def _excess(one: Codes, two: Codes, T: Numbers) -> tuple[float, float, float, int]:
    """z of the excess of agreement of two voters, observed share, expected share, rows both answered."""
    both = np.flatnonzero((one >= 0) & (two >= 0))
    if len(both) < LEAST_OF_LEVEL:
        return -np.inf, 0.0, 0.0, len(both)
    c = T.shape[1]
    matrices = []
    for said in (one, two):
        counts = np.zeros((c, c))  # (said, true)
        np.add.at(counts, said[both], T[both])
        matrices.append((counts / np.maximum(counts.sum(axis=0), 1e-9)).T)
    expected = T[both] @ (matrices[0] * matrices[1]).sum(axis=1)
    observed = one[both] == two[both]
    z = float((observed.sum() - expected.sum()) / np.sqrt(max((expected * (1 - expected)).sum(), 1e-9)))
    return z, float(observed.mean()), float(expected.mean()), len(both)

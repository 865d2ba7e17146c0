"""Models of voters, estimated from their votes alone or together with a classifier: confusion matrices, reliability.

The model of Dawid & Skene (Applied Statistics 28, 1979): voter v names label l with probability C_v[k, l] where the
true label is k, independently of the other voters given k. Expectation maximisation goes back and forth between

    T_ik ∝ p_ik · Π_v C_v[k, l_iv]                     the posterior of each example
    C_v[k, l] = (Σ_i T_ik 1[l_iv = l] + s · B_v[k, l]) / (Σ_i T_ik + s)

p_i is what a classifier says of each example, else one class prior for all, (Σ_i T_i + α) / (n + α c), α = n / (5c):
shrunk to uniform, since with two or three voters an estimated prior feeds itself (the classes that the voters favour
grow). B_v is the one-coin matrix of the voter (r_v on the diagonal, the rest spread evenly), so that s pseudo-counts a
row hold a matrix to what is known of the voter in general where a class is rare. With `kind="one-coin"` C_v = B_v, and
no class is taken for likelier beforehand.

*Starts.* With few voters the likelihood has several maxima. From the shares of the votes, and from each voter in turn
believed first, the likeliest result is kept; how far the others agree with it says what the votes can tell.

*Functions.* A voter who only ever names one class and is silent else (a labelling function) says something by silence:
its model is how often it fires where its class is true, and elsewhere, which is never more often.

*Known labels* are certain in T, and weigh in each matrix: (counts on known + 5 · C_v) / (number known + 5), row by row.

*Confidence.* Voters share mistakes, so the product claims too much. The posterior that is returned has the product
raised to the exponent under which each voter's answers are best predicted from the others.

An answer of k labels weighs each of them 1/k. Confidence scores split a voter into up to three levels of confidence,
each with a matrix of its own: how much a score says is learnt, not believed.

Memory: n × c for the posterior and (voters × levels) × c² for the matrices; above `MOST_NUMBERS` of either, one coin.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.optimize import linear_sum_assignment
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
PRIOR_SHARE = 0.2
"""α c / n of the class prior."""
KNOWN_WEIGHT = 5.0
"""Known labels that the estimated matrix weighs as much as."""
LEAST_AGREEMENT = 0.9
"""Agreement of the starts below which the votes alone do not tell whom to believe."""
LEAST_KNOWN = 5
"""Known labels from which they choose the start."""
MOST_STARTS = 12
"""Voters up to whom each is believed first once."""
BELIEVED = 0.9
"""Weight of the voter who is believed first, beside the shares of the votes."""
FUNCTION_SHARE = 0.5
"""Share of the votes from voters of one class each, from which their silence counts."""
EXPONENTS = (0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.85, 1.0)
MOST_HELD_OUT = 20_000
"""Votes that the exponent is chosen on."""


@dataclass(frozen=True, eq=False)
class VoterModels:
    """Fitted models of voters.

    Attributes:
        annotations: the votes they were fitted on.
        kind: `"confusion"` or `"one-coin"`.
        accuracy: (a,) expected share of right answers of each voter.
        confusions: (a·levels, c, c) row k: what is said where k is true; None for one coin.
        posterior: (n, c) posterior of the labels, with the class prior that was given and the `exponent`.
        likelihood: (n, c) the product over the voters with the `exponent`, over its maximum of the row: what the votes
            alone say.
        units: (m,) which matrix belongs to each vote (voter × level of confidence).
        shares: (m,) weight of each vote, 1/k for an answer of k labels.
        rounds: number of rounds.
        exponent: of the product over the voters, in (0, 1].
        agreement: least share of the rows with a vote on which the result of another start gives the same label; 1 for
            one start.
        disputed: (n,) bool, rows on which that start gives another label.
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
    exponent: float
    agreement: float
    disputed: npt.NDArray[np.bool_]


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
        known: (n,) labels that people decided, −1 elsewhere; their posterior is certain, they weigh in each matrix, and
            from `LEAST_KNOWN` on they choose among the starts.

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
    em = _Maximisation(annotations, kind, class_prior, smoothing, known)
    begun = [start] if start is not None else _starts(annotations, em.shares, several=class_prior is None)
    found = [em.run_named(one) for one in begun]
    best = max(found, key=lambda one: one.log_likelihood)
    decided = np.flatnonzero(known >= 0) if known is not None else np.empty(0, dtype=np.int64)
    if known is not None and len(found) > 1 and len(decided) >= LEAST_KNOWN:
        free = _Maximisation(annotations, kind, class_prior, smoothing, None)
        without = [free.run_named(one) for one in begun]  # judged by known labels that they were not given
        hits = [int((one.T[decided].argmax(axis=1) == known[decided]).sum()) for one in without]
        best = em.run(without[max(range(len(without)), key=lambda k: (hits[k], without[k].log_likelihood))].T)
    labels, voted = best.T.argmax(axis=1), annotations.answers_per_row > 0
    differ = max(((one.T.argmax(axis=1) != labels) & voted for one in found), key=np.count_nonzero)
    exponent = em.exponent_of(best) if class_prior is None else 1.0
    posterior = _with_known(_softmax(best.score + exponent * best.votes), known)
    votes = exponent * best.votes
    return VoterModels(
        annotations=annotations,
        kind=em.kind,
        accuracy=_accuracy(best.T, annotations, em.shares),
        confusions=best.confusions,
        posterior=posterior,
        likelihood=np.exp(votes - votes.max(axis=1, keepdims=True)),
        units=em.units,
        shares=em.shares,
        rounds=best.rounds,
        exponent=exponent,
        agreement=1 - float(differ.sum()) / max(1, int(voted.sum())),
        disputed=differ,
    )


def _starts(annotations: Annotations, shares: Numbers, *, several: bool) -> list[Numbers]:
    """Posteriors to start from: the shares of the votes; with few voters, each of them believed in turn as well."""
    first = _vote_shares(annotations, shares)
    if not several or not 2 <= annotations.n_annotators <= MOST_STARTS:
        return [first]
    found = [first]
    for voter in range(annotations.n_annotators):
        own = annotations.annotators == voter
        T = first.copy()
        T[annotations.rows[own]] *= 1 - BELIEVED
        np.add.at(T, (annotations.rows[own], annotations.labels[own]), BELIEVED * shares[own])
        found.append(T)
    return found


@dataclass(frozen=True, eq=False)
class _Found:
    """Result of one run: posterior T (n, c), log prior (n, c), log Π_v C_v (n, c)."""

    T: Numbers
    score: Numbers
    votes: Numbers
    confusions: Numbers | None
    log_likelihood: float
    rounds: int


class _Maximisation:
    """Expectation maximisation on some votes, from any start."""

    def __init__(
        self,
        annotations: Annotations,
        kind: str,
        class_prior: npt.NDArray[Any] | None,
        smoothing: float,
        known: npt.NDArray[np.int64] | None,
    ) -> None:
        self.said, self.smoothing, self.known = annotations, smoothing, known
        c, a = annotations.n_classes, annotations.n_annotators
        levels = _levels(annotations)
        n_units = a * LEVELS if levels.any() else a
        self.n_units = n_units
        self.units: Codes = annotations.annotators * (n_units // a) + levels
        self.shares: Numbers = 1.0 / np.repeat(annotations.answer_sizes, annotations.answer_sizes)
        self.kind = "one-coin" if n_units * c * c > MOST_NUMBERS else kind
        self.log_prior = None if class_prior is None else np.log(np.asarray(class_prior, dtype=np.float64) + 1e-12)
        self.answers = np.bincount(self.units, self.shares, minlength=n_units)
        # (n, units · c): the share with which a unit names a label in a row.
        place = (annotations.rows, self.units * c + annotations.labels)
        self.named = sp.csr_array((self.shares, place), shape=(annotations.n_rows, n_units * c))
        self.functions = self._functions() if self.kind == "confusion" else {}

    def _functions(self) -> dict[int, int]:
        """Unit → the one class that it names, where most votes are of such voters."""
        n, c = self.said.n_rows, self.said.n_classes
        counts = np.bincount(self.units * c + self.said.labels, minlength=self.n_units * c).reshape(-1, c)
        total = counts.sum(axis=1)
        alone = ((counts > 0).sum(axis=1) == 1) & (total >= LEAST_CHECKED) & (total < n)
        if total[alone].sum() < FUNCTION_SHARE * total.sum():
            return {}
        return {int(unit): int(counts[unit].argmax()) for unit in np.flatnonzero(alone)}

    def run(self, start: Numbers) -> _Found:
        """Alternate from a posterior until it hardly changes."""
        said, shares, units, known = self.said, self.shares, self.units, self.known
        n, c = said.n_rows, said.n_classes
        rows, labels = said.rows, said.labels
        T, confusions, rounds, total = _with_known(start, known), None, 0, 0.0
        votes, score = np.zeros((n, c)), np.zeros((n, c))
        while rounds < MOST_ROUNDS:
            rounds += 1
            hit = T[rows, labels] * shares
            overall = (hit.sum() + 1) / (shares.sum() + 2)
            right = np.bincount(units, hit, minlength=self.n_units) + SHRINKAGE * overall
            right = np.clip(right / (self.answers + SHRINKAGE), 1e-3, 1 - 1e-3)
            votes = np.zeros((n, c))
            if self.kind == "one-coin":
                shared = np.zeros(c)  # rare classes stay candidates
                # Worse than chance counts for nothing: nobody is taken to mean the opposite of what they say.
                weight = np.maximum(0.0, np.log(right / (1 - right) * (c - 1)))
                np.add.at(votes, (rows, labels), (weight[units] * shares))
            else:
                shared = np.log((T.sum(axis=0) + PRIOR_SHARE * n / c) / (n * (1 + PRIOR_SHARE)))
                confusions = self._confusions(T, right)
                votes = self._votes(confusions, T)
            score = np.repeat(shared[None], n, axis=0) if self.log_prior is None else self.log_prior
            joint = score + votes
            top = joint.max(axis=1)
            total = float((np.log(np.exp(joint - top[:, None]).sum(axis=1)) + top).sum())
            before, T = T, _with_known(_softmax(joint), known)
            if np.abs(T - before).max() < TOLERANCE:
                break
        return _Found(T, score, votes, confusions, total, rounds)

    def run_named(self, start: Numbers) -> _Found:
        """`run`, with the classes named as most votes name them: permutations of the classes are equally likely."""
        found = self.run(start)
        c = self.said.n_classes
        named = (self.named.T @ found.T).reshape(-1, c, c).sum(axis=0)  # (said, true)
        meant = linear_sum_assignment(named, maximize=True)[1]  # the estimated class that votes for each label mean
        return found if (meant == np.arange(c)).all() else self.run(found.T[:, meant])

    def _confusions(self, T: Numbers, right: Numbers) -> Numbers:
        """(units, c, c): row k of a unit, what it says where k is true."""
        c, s = T.shape[1], max(self.smoothing, 1e-6)
        base = np.repeat(((1 - right) / (c - 1))[:, None, None], c, axis=1).repeat(c, axis=2)
        base[:, np.arange(c), np.arange(c)] = right[:, None]
        counts = (self.named.T @ T).reshape(-1, c, c).transpose(0, 2, 1) + s * base
        found: Numbers = counts / counts.sum(axis=2, keepdims=True)
        if self.known is not None:
            decided = _with_known(np.zeros_like(T), self.known)
            hits = (self.named.T @ decided).reshape(-1, c, c).transpose(0, 2, 1)
            found = (hits + KNOWN_WEIGHT * found) / (hits.sum(axis=2, keepdims=True) + KNOWN_WEIGHT)
        return found

    def _votes(self, confusions: Numbers, T: Numbers) -> Numbers:
        """(n, c) log probability of all answers, and of the silence of functions."""
        c = T.shape[1]
        logs = np.log(confusions).transpose(0, 2, 1)  # (units, said, true)
        silence, of_class = np.zeros(c), T.sum(axis=0)
        for unit, named in self.functions.items():
            fired = np.asarray(self.named[:, [unit * c + named]].T @ T)[0]
            on = (fired[named] + 1) / (of_class[named] + 2)
            off = (fired.sum() - fired[named] + 1) / (of_class.sum() - of_class[named] + 2)
            fires = np.full(c, min(on, off))
            fires[named] = on
            silence += np.log1p(-fires)
            logs[unit, named] = np.log(fires) - np.log1p(-fires)
        votes: Numbers = self.named @ logs.reshape(-1, c) + silence
        return votes

    def exponent_of(self, found: _Found) -> float:
        """The exponent of the product of the other voters under which the votes are likeliest; 1 without pairs."""
        said = self.said
        pairs = np.flatnonzero(said.answers_per_row[said.rows] >= 2)
        if found.confusions is None or self.functions or not len(pairs):
            return 1.0
        at = pairs[np.unique(np.linspace(0, len(pairs) - 1, MOST_HELD_OUT).astype(np.int64))]
        own = found.confusions[self.units[at], :, said.labels[at]]  # (k, c) what this vote says of each class
        others = found.votes[said.rows[at]] - np.log(own) * self.shares[at][:, None]

        def fit(exponent: float) -> float:
            T = _softmax(found.score[said.rows[at]] + exponent * others)
            return float(np.log((T * own).sum(axis=1)).sum())

        return max(EXPONENTS, key=fit)


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

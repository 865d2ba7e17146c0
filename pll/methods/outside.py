"""PRODEN where candidate sets may miss the truth.

Idea: before training, estimate how often sets miss the truth and which of them do; then train as PRODEN does, with the
label weights

    w_ij = (1 − m_i) p_j / Σ_{k ∈ S_i} p_k on S_i,   w_ia = m_i for the label a_i that is added

where the estimated miss probability m_i does not change. If the estimated miss rate is below `LEAST_RATE`, or held-out
examples do not distinguish the sets from chance, nothing is added and the method is PRODEN, to the last bit.

The estimate, from scores that have not seen the example (in-sample estimates come out far too low):

1. Kernel ridge regression of the sets (1 for a candidate, 0 else) on the features; scores are those of a fit without
   the example, in closed form, and the ridge has the least error of these. E(1[j ∈ S] | x) rises with P(j | x) whether
   or not truths are missing, so that the class of the highest score is right more often than any candidate may be.
2. P ∝ exp(α · score), and a miss rate ρ(|S|) = σ(a + b |S|), fitted by the likelihood Σ_i log[(1 − ρ) P(S_i) / |S_i| +
   ρ (1 − P(S_i)) / (c − |S_i|)]. The rate may depend on the size: where the truth was left out, sets are smaller; where
   another label replaced it, they are not.
3. If the rate reaches `LEAST_RATE`, steps 1 and 2 are repeated `ITERATIONS` times with the posterior of the labels, on
   and off the sets, in place of the sets. Each iteration learns the mean of the two latest posteriors: the latest alone
   makes the estimated rate swing between two values where the rate falls steeply with the size.
4. m_i = ρ P(A) / [(1 − ρ) P(S) (c − |S|) / |S| + ρ P(A)] with P(A) = 1 − P(S); a_i is the likeliest label off S_i.

The regression on sets is as in label propagation and SURE, the iterations as in SARI (Lv et al., 2024).

Where labels are known of some examples (`truth=` in Python, the decisions of a review in a run), at least `MIN_DECIDED`
of them, the model of step 2 is fitted to these. A ridge logistic regression g is fitted to them alone; it and the
scores of step 1 make a logarithmic opinion pool p ∝ exp(α z + β log g) (Genest & Zidek, Statistical Science 1, 1986),
whose α and β are fitted to the known labels, out of fold; and the log-odds that a set misses the truth are
a + log(|S| / (c − |S|)) + b log(P(A) / P(S)), with a and b fitted to which of the known labels their sets had missed.

Label weights: as above, of the given set and the added label; `candidates_` holds both.

Hyper-parameters: those of PRODEN; they do not change the estimate, but for `scale` and `seed`.

Complexity: O(n·m·(m + d + c)) for m = min(n, `RIDGE_CENTRES`), on at most `RIDGE_ROWS` examples, 16·n·m bytes;
O(m·(d + c)) for each further one; then PRODEN with one further candidate.

See docs/outside.md for its accuracy, and where it fails: sets that are nearly uninformative, and classes that
distractors always accompany.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize
from scipy.special import expit, log_expit, logit, logsumexp

from pll.candidates import CandidateSets
from pll.dataset import UNKNOWN
from pll.io import blocks
from pll.methods.base import Task
from pll.methods.kernels import Nystrom, RidgeGrid, mean_distance
from pll.methods.proden import PRODEN
from pll.training.metrics import Hook, no_hook
from pll.training.scaling import clipped, fit_scaling
from pll.weights import Floats, Ints, Outside, Weights, dense
from pll.wording import percent

RIDGE_GRID = (0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
"""Of the regression, of which the one with the least leave-one-out error is taken."""
RIDGE_CENTRES = 2_000
"""Examples that the kernel is computed with."""
ITERATIONS = 6
"""Times that the regression learns its own posterior."""
LEAST_MISS = 0.01
"""Miss probability from which an example gets an added label."""
LEAST_RATE = 0.03
"""Estimated miss rate below which nothing is added: overconfident errors of a classifier look like misses."""
RIDGE_ROWS = 20_000
"""Examples that the regression is fitted on; of more a part is drawn."""
MOST_SCORES_DRAWN = 5 * 10**7
"""Examples × classes of them."""
FEWEST_DRAWN = 2_000
"""Examples that are drawn even so."""
FEWEST_OF_ALL = 6
"""With fewer examples nothing is added."""
SCORES_AT_ONCE = 10**7
"""Floats computed at a time."""
MIN_DECIDED = 20
"""Decided labels from which a classifier is trained on these."""
SUPERVISED_FOLDS = 5
STRENGTHS = (1e-3, 1e-2, 1e-1, 1.0)
"""Inverse ridges of it, of which held-out decided labels choose."""
UNIFORM_SHARE = 0.05
"""Share of its probability that is spread over all classes: many have no decided example."""
POOL_RIDGE = 0.01
"""Ridge of the weights of the pool toward 1, against the mean log-likelihood of the decided labels."""

Rows = npt.NDArray[np.float32]


class PRODENOutside(PRODEN):
    """PRODEN for sets that may miss the truth; see the docstring of the module. Settings as for every deep method.

    Attributes
    ----------
    outside_
        Added labels and the miss probability of each set; `outside_.rate` is the estimated miss rate.
    """

    summary: ClassVar[str] = (
        "PRODEN for sets of which some miss the truth: estimates which, and may identify a label outside the set. "
        "Equals PRODEN where it finds none."
    )
    adds_labels: ClassVar[bool] = True
    in_ranks: ClassVar[bool] = False

    def grown(self, task: Task, *, hook: Hook | None = None) -> Task:
        """Return the task with the label added to sets that may miss the truth.

        Parameters
        ----------
        task
            The training data.
        hook
            Called between units of work; may wait, may raise.
        """
        outside = task.outside
        if outside is None:
            self.stage_ = "Looking for sets that miss the truth"
            outside = find_outside(task, self.settings_in_use()["scale"], self.seed, hook or no_hook)
            self.stage_ = ""
            task = task.changed(outside)
        self.outside_ = outside
        self.notes_ = (_note(outside),)
        return task


def _note(outside: Outside) -> str:
    if outside.is_empty:
        return "Which sets miss the truth, if any, cannot be told; no label was added, and the result is PRODEN's."
    labels = int(outside.added.sum())
    examples = len(np.unique(outside.candidates.rows[outside.added]))
    return (
        f"An estimated {percent(outside.rate)} of the sets miss the truth (an estimate without an interval: only "
        f"controls give one). {labels:,} labels were added to {examples:,} of {len(outside.miss):,} sets."
    )


@dataclass(frozen=True, eq=False)
class _MissModel:
    """Model of labels and misses: P ∝ exp(Σ_k weights_k · sources_k), and the miss rate σ(a + b·u).

    u is the size of the set, less the mean and over the deviation; the log-odds that a set misses the truth are
    a + b·u + log(s / (c − s)) + evidence_weight · log(P(A) / P(S)).
    """

    weights: Floats
    a: float
    b: float
    log_likelihood: float
    evidence_weight: float = 1.0

    def scores(self, sources: Floats) -> Floats:
        """Return (m, c) logarithms of P, but for a constant of each row, for sources (m, K, c)."""
        return np.asarray(np.einsum("k,mkc->mc", self.weights, sources))

    def miss(self, scores: Floats, sets: CandidateSets, u: Floats) -> tuple[Floats, Ints]:
        """Return (m,) miss probabilities, 0 where the set is full, and the likeliest label off each set."""
        inside, size = sets.mask(), sets.sizes
        full = size == sets.n_classes
        off = np.where(inside & ~full[:, None], -np.inf, scores)
        evidence = logsumexp(off, axis=1) - logsumexp(np.where(inside, scores, -np.inf), axis=1)
        before = self.a + self.b * u + np.log(size) - np.log(np.maximum(sets.n_classes - size, 1))
        return np.where(full, 0.0, expit(before + self.evidence_weight * evidence)), off.argmax(axis=1)

    def posterior(self, sources: Floats, sets: CandidateSets, u: Floats, inside: Floats) -> Floats:
        """Return (m, c) probabilities of the labels: (1 − m) P|S, times the prior `inside`, and m P off the set."""
        scores, on = self.scores(sources), sets.mask()
        miss, _ = self.miss(scores, sets, u)
        raised = np.exp(scores - scores.max(axis=1, keepdims=True)) + 1e-12
        inside_mass, off = raised * inside, np.where(on, 0.0, raised)
        inside_mass = inside_mass / inside_mass.sum(axis=1, keepdims=True) * (1 - miss)[:, None]
        return np.asarray(inside_mass + off / np.maximum(off.sum(axis=1, keepdims=True), 1e-12) * miss[:, None])


def find_outside(task: Task, scale: str, seed: int, hook: Hook) -> Outside:
    """Estimate which sets miss the truth, and add the labels off the set that may be it.

    Parameters
    ----------
    task
        The training data: features, sets and their prior, and what people decided.
    scale
        Of the features, as for every deep method.
    seed
        Of folds, of the part that is drawn, and of training.
    hook
        Called between mini-batches; may raise.

    Returns
    -------
    Outside
        The miss probabilities, and the labels to add: none where fewer than `LEAST_RATE` of the sets miss the truth.
    """
    sets, decisions = task.candidates, task.decisions
    before = sets if decisions is None else decisions.given
    decided = np.full(len(sets), UNKNOWN) if task.decided is None else task.decided
    # A label that is in no set is never added: to find out, there are none but these.
    named = np.unique(np.concatenate([sets.indices, before.indices, decided[decided >= 0]]))
    own, given = (
        CandidateSets(some.indptr, np.searchsorted(named, some.indices).astype(np.int32), len(named))
        for some in (sets, before)
    )
    known = np.where(decided >= 0, np.searchsorted(named, decided), UNKNOWN)
    miss, label = _misses(Task(task.X, own, prior=task.prior), given, known, scale, seed, hook)
    rows = np.flatnonzero(miss) if float(miss.mean()) >= LEAST_RATE else np.zeros(0, dtype=np.int64)
    return Outside.of(sets, rows, named[label[rows]], miss)


def _misses(
    task: Task, given: CandidateSets, decided: Ints, scale: str, seed: int, hook: Hook
) -> tuple[npt.NDArray[np.float32], Ints]:
    """Return (n,) miss probabilities, and the likeliest label off each set; `given` are those before decisions."""
    candidates = task.candidates
    n, c = candidates.shape
    miss, label = np.zeros(n, dtype=np.float32), np.zeros(n, dtype=np.int64)
    if n < FEWEST_OF_ALL or (candidates.sizes == c).all():
        return miss, label
    inputs = clipped(fit_scaling(task.X, scale), task.X)
    drawn = np.sort(
        np.random.default_rng([seed, 4]).permutation(n)[: max(FEWEST_DRAWN, min(RIDGE_ROWS, MOST_SCORES_DRAWN // c))]
    )
    sizes = candidates.sizes.astype(np.float64)
    u = (sizes - sizes.mean()) / max(float(sizes.std()), 1e-9)
    sets = candidates.take(drawn)
    ridge = _Ridge(inputs[drawn], seed, hook)
    inside = _prior_table(task.prior, candidates, drawn)
    scores = ridge.fit(inside, hook)
    evidence = _fit_miss_model(scores, sets, u[drawn])
    at = np.flatnonzero(decided[drawn] >= 0)
    is_supervised = len(at) >= MIN_DECIDED and len(np.unique(decided[drawn[at]])) >= 2
    # Compared with uninformative scores, of a class at random (BIC, three parameters).
    if not is_supervised and evidence.log_likelihood + len(drawn) * np.log(c) < 1.5 * np.log(len(drawn)):
        return miss, label
    if is_supervised or float(evidence.miss(evidence.scores(scores[:, None]), sets, u[drawn])[0].mean()) >= LEAST_RATE:
        earlier = evidence.posterior(scores[:, None], sets, u[drawn], inside)
        for _ in range(ITERATIONS):
            hook()
            latest = evidence.posterior(scores[:, None], sets, u[drawn], inside)
            scores = ridge.fit((latest + earlier) / 2, hook)
            evidence, earlier = _fit_miss_model(scores, sets, u[drawn]), latest
    classifier = None
    if is_supervised:
        own = evidence.scores(scores[at, None])
        evidence, classifier = _supervised_model(inputs, evidence, own, drawn[at], decided, given.take(drawn[at]), hook)
    place = np.full(n, -1)  # among those drawn; the ridge was not fitted on the others
    place[drawn] = np.arange(len(drawn))
    for rows in blocks(n, max(1, SCORES_AT_ONCE // max(c, RIDGE_CENTRES))):
        hook()
        part = np.arange(rows.start, rows.stop)
        new = place[part] < 0
        own = np.empty((len(part), 1, c))
        own[~new, 0] = scores[place[part[~new]]]
        own[new, 0] = ridge.scores(inputs[part[new]])
        if classifier is not None:
            own = np.concatenate([own, classifier(inputs[part])[:, None]], axis=1)
        miss[part], label[part] = evidence.miss(evidence.scores(own), candidates.take(part), u[part])
    miss[(miss < LEAST_MISS) | (decided >= 0)] = 0.0
    return miss, label


class _Ridge:
    """Kernel ridge regression whose scores of an example are those of a fit without it, in closed form.

    Of more than `RIDGE_CENTRES` examples the kernel is Nyström's; the constant is regularised as the rest.
    """

    def __init__(self, X: Rows, seed: int, hook: Hook) -> None:
        centres = X[np.sort(np.random.default_rng([seed, 5]).permutation(len(X))[:RIDGE_CENTRES])]
        m = len(centres)
        self._kernel = Nystrom(centres, mean_distance(centres, centres, hook) * (m - 1) / (2 * m), hook)
        features = self._features(X, hook)
        self._grid = RidgeGrid(features.T @ features)
        self._rotated = features @ self._grid.vectors  # (n, m + 1)

    def _features(self, X: Rows, hook: Hook = no_hook) -> Floats:
        return self._kernel.features(X, constant=True, hook=hook).astype(np.float64)

    def fit(self, Y: Floats, hook: Hook) -> Floats:
        """Fit targets (n, c) with the ridge of least error; return the scores (n, c) of each row without itself."""
        rest = Y - Y.mean(axis=0)  # else frequent classes explain what is missing
        targets = np.column_stack([rest, np.ones(len(Y))])
        reached, best = self._rotated.T @ targets, np.inf
        for ridge in RIDGE_GRID:
            hook()
            others = self._grid.without_own(self._rotated, reached, targets, ridge)
            # The mean is to be of the other rows too: with its own row in it, a row's score falls as its target rises.
            scores = others[:, :-1] + others[:, -1:] * rest / (len(Y) - 1)
            error = float(((scores - rest) ** 2).mean())
            if error < best:
                best, best_scores, self._coef = error, scores, self._grid.coefficients(reached[:, :-1], ridge)
        return np.asarray(best_scores)

    def scores(self, X: Rows) -> Floats:
        """Return (B, c) scores of examples that it was not fitted on."""
        return np.asarray(self._features(X) @ self._coef)


def _prior_table(prior: Weights | None, candidates: CandidateSets, rows: Ints) -> Floats:
    """Return (m, c) prior of the rows over its mean on the set, so that a uniform one is 1 everywhere on it."""
    sets = candidates.take(rows)
    own = np.ones(sets.nnz) if prior is None else prior[candidates.positions(rows)].astype(np.float64)
    return dense(own * (sets.sizes / np.add.reduceat(own, sets.indptr[:-1]))[sets.rows], sets)


def _fit_miss_model(scores: Floats, sets: CandidateSets, u: Floats) -> _MissModel:
    """Fit the factor of scores (n, c) of examples that were not learnt from, and the miss rate."""
    n, c = scores.shape
    inside = sets.mask()
    size = sets.sizes.astype(np.float64)
    log_in, log_off = np.log(size), np.log(np.maximum(c - size, 1))
    unit = float(scores.std()) or 1.0

    def likelihood(v: Floats) -> tuple[float, Floats]:
        (weight, a, b), z = v, scores / unit
        scaled = weight * z
        total = logsumexp(scaled, axis=1)
        with np.errstate(divide="ignore"):
            mass_in = logsumexp(np.where(inside, scaled, -np.inf), axis=1)
            mass_off = np.where(size < c, logsumexp(np.where(inside, -np.inf, scaled), axis=1), -np.inf)
        odds = a + b * u
        covered, missed = log_expit(-odds) + mass_in - total - log_in, log_expit(odds) + mass_off - total - log_off
        each = np.logaddexp(covered, missed)
        m = np.exp(missed - each)
        part = np.where(inside, mass_in[:, None], mass_off[:, None])
        posterior = np.exp(scaled - part) * np.where(inside, (1 - m)[:, None], m[:, None])
        slope = ((posterior - np.exp(scaled - total[:, None])) * z).sum() / n
        rest = m - expit(odds)
        return -float(each.mean()) + 1e-3 * b**2, -np.array([slope, rest.mean(), (rest * u).mean() - 2e-3 * b])

    bounds = ((0.1, 50.0), (-9.0, 2.0), (-2.0, 2.0))
    result = minimize(likelihood, np.array([2.0, -2.0, 0.0]), jac=True, method="L-BFGS-B", bounds=bounds)
    weight, a, b = result.x
    return _MissModel(np.array([weight / unit]), float(a), float(b), -n * float(result.fun))


def _supervised_model(
    X: Rows, evidence: _MissModel, z: Floats, rows: Ints, decided: Ints, sets: CandidateSets, hook: Hook
) -> tuple[_MissModel, Callable[[Rows], Floats]]:
    """Train a classifier on the decided labels of `rows`; fit its weight, that of the scores and the odds of a miss.

    Parameters
    ----------
    z
        (k, c) scores of the evidence for these rows, which it was not fitted on.
    sets
        Their k sets before people decided.

    Returns
    -------
    tuple[_MissModel, Callable[[Rows], Floats]]
        The evidence with the classifier as its last source, and the classifier.
    """
    own, y, c = X[rows], decided[rows], z.shape[1]
    fold = np.arange(len(rows)) % SUPERVISED_FOLDS
    each = np.arange(len(rows))
    results: list[tuple[float, float, Floats]] = []
    for strength in STRENGTHS:
        logs = np.zeros((len(rows), c))
        for left_out in (fold == k for k in range(SUPERVISED_FOLDS)):
            hook()
            logs[left_out] = _label_classifier(own[~left_out], y[~left_out], c, strength)(own[left_out])
        results.append((float(logs[each, y].mean()), strength, logs))
    _, strength, logs = max(results, key=lambda one: one[0])

    def loss(v: Floats) -> tuple[float, Floats]:
        scores = v[0] * z + v[1] * logs
        off = np.exp(scores - logsumexp(scores, axis=1)[:, None])
        off[each, y] -= 1
        value = float(np.mean(logsumexp(scores, axis=1) - scores[each, y]))
        return value, np.array([(off * z).sum(), (off * logs).sum()]) / len(y)

    alpha, beta = _fit_near(np.ones(2), loss, ((0, 5), (0, 5)))
    a, evidence_weight = _fit_odds(alpha * z + beta * logs, sets, y)
    weights = np.array([*(alpha * evidence.weights), beta])
    return _MissModel(weights, a, 0.0, evidence.log_likelihood, evidence_weight), _label_classifier(own, y, c, strength)


def _fit_odds(z: Floats, sets: CandidateSets, y: Ints) -> tuple[float, float]:
    """Fit a and the weight of the log ratio to which of k decided sets lack the label; a ridge holds it to 1."""
    size, c, inside = sets.sizes, sets.n_classes, sets.mask()
    open_rows = size < c
    missed = ~inside[np.arange(len(y)), y][open_rows]
    start = float(logit((missed.sum() + 0.5) / (len(missed) + 1)))
    if not open_rows.any():
        return start, 1.0
    z, inside, size = z[open_rows], inside[open_rows], size[open_rows]
    log_ratio = logsumexp(np.where(inside, -np.inf, z), axis=1) - logsumexp(np.where(inside, z, -np.inf), axis=1)
    offset = np.log(size / (c - size))

    def loss(v: Floats) -> tuple[float, Floats]:
        odds = v[0] + offset + v[1] * log_ratio
        off = expit(odds) - missed
        value = -float(np.mean(np.where(missed, log_expit(odds), log_expit(-odds))))
        return value, np.array([off.mean(), (off * log_ratio).mean()])

    a, weight = _fit_near(np.array([start, 1.0]), loss, ((-15, 15), (0, 3)))
    return a, weight


def _fit_near(
    start: Floats, loss: Callable[[Floats], tuple[float, Floats]], bounds: tuple[tuple[float, float], ...]
) -> list[float]:
    """Minimise a loss, with its slope, under a ridge that holds the parameters to where they start."""

    def held(v: Floats) -> tuple[float, Floats]:
        (value, slope), off = loss(v), v - start
        return value + POOL_RIDGE / 2 * float(off @ off), slope + POOL_RIDGE * off

    result: list[float] = minimize(held, start, jac=True, method="L-BFGS-B", bounds=bounds).x.tolist()
    return result


def _label_classifier(X: Rows, y: Ints, c: int, strength: float) -> Callable[[Rows], Floats]:
    """Ridge logistic regression; returns (m, c) log-probabilities, of which a small part is spread over all classes."""
    from sklearn.linear_model import LogisticRegression

    if len(np.unique(y)) < 2:
        return lambda further: np.full((len(further), c), -np.log(c))
    model = LogisticRegression(C=strength, max_iter=300).fit(X, y)

    def logs(further: Rows) -> Floats:
        shares = np.full((len(further), c), UNIFORM_SHARE / c)
        shares[:, model.classes_] += (1 - UNIFORM_SHARE) * model.predict_proba(further)
        return np.asarray(np.log(shares))

    return logs

"""PRODEN where candidate sets may miss the truth.

Idea: before training, estimate how often sets miss the truth and which of them do; then train as PRODEN does, with the
label weights

    w_i = (1 − m_i) · p|S_i + m_i · p|A_i

p|S is the softmax restricted to the given set and p|A that restricted to A_i, at most `SLOTS` labels added to the set;
the miss probability m_i stays as it was estimated. If the estimated miss rate is below `LEAST_RATE`, or held-out
examples do not distinguish the sets from chance, nothing is added and the method is PRODEN, to the last bit.

The estimate, from examples that a classifier has not seen (in-sample estimates come out far too low):

1. Linear classifiers learn in `FOLDS` folds from w_ij ∝ p_j on S_i and λ_i p_j off it, for each miss rate ρ of `RATES`
   and each weight decay of `DECAYS`, with λ_i = ρ / (1 − ρ) · |S_i| / (c − |S_i|).
2. For each of them, a temperature T ≥ 1 of the logits and a miss rate ρ(|S|) = σ(a + b |S|) are fitted to the held-out
   examples, by the likelihood Σ_i log[(1 − ρ) P(S_i) / |S_i| + ρ (1 − P(S_i)) / (c − |S_i|)]. The rate may depend on
   the size: where the truth was left out, sets are smaller; where another label took its place, they are not. The
   temperature may not flatten: doubt about the classifier would explain all that is missing.
3. The classifier with the largest likelihood gives m_i = ρ P(A) / [(1 − ρ) P(S) (c − |S|) / |S| + ρ P(A)] with
   P(A) = 1 − P(S), and the labels A_i that are likeliest off S_i.

Where labels are known of some examples (`truth=` in Python, the decisions of a review in a run), at least `LEAST_KNOWN`
of them, they teach instead what step 2 can only guess. A ridge logistic regression g learns them and nothing else; it
and the classifier of step 1 make a logarithmic opinion pool p ∝ exp(α z + β log g) (Genest & Zidek, Statistical Science
1, 1986), whose α and β are fitted to the known labels, out of fold; and the log-odds that a set misses the truth are
a + log(|S| / (c − |S|)) + b log(P(A) / P(S)), with a and b fitted to which of the known labels their sets had missed.

Label weights: as above, of the given set and the added labels; `candidates_` holds both.

Hyper-parameters: those of PRODEN; they do not change the estimate, but for `scale` and `seed`.

Complexity: 30 linear fits of `EPOCHS` epochs, as batched products, on at most `MOST_WORK` / (c·d) examples; then PRODEN
with at most `SLOTS` further candidates an example.

The size-independent form, with fixed ρ, goes back to a prototype of this project; see docs/outside.md for what it is
worth, and where it fails: sets that are nearly uninformative, and classes that distractors always accompany.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import numpy.typing as npt
import torch
from scipy.optimize import minimize
from scipy.special import expit, log_expit, logit, logsumexp

from pll.candidates import CandidateSets
from pll.colors import percent
from pll.methods.base import Task
from pll.methods.deep import scaled
from pll.methods.names import TITLES
from pll.methods.proden import PRODEN
from pll.training.batched import BatchedModels, Steps
from pll.training.metrics import Hook, no_hook
from pll.training.scaling import fit_scaling
from pll.weights import Outside, Weights, carried_over

RATES = (0.001, 0.05, 0.1, 0.2, 0.3, 0.45)
DECAYS = (1e-3, 1e-2)
FOLDS = 3
EPOCHS = 60
SLOTS = 3
LEAST = 0.01
"""Miss probability from which an example gets added labels."""
LEAST_RATE = 0.03
"""Estimated miss rate below which nothing is added: classifiers that are wrong and sure look like so many misses."""
MOST_WORK = 2 * 10**8
"""Examples × features × classes that classifiers are fitted on; of more examples a part is drawn."""
FEWEST = 2_000
"""Examples that are drawn even so."""
PIECE = 10**7
"""Numbers computed at a time."""

LEAST_KNOWN = 20
"""Decided labels from which a classifier is taught them."""
TAUGHT_FOLDS = 5
STRENGTHS = (1e-3, 1e-2, 1e-1, 1.0)
"""Inverse ridges of it, of which held-out decided labels choose."""
MIXED = 0.05
"""Share of its probability that is spread over all classes: many have no decided example."""
POOL_RIDGE = 0.01
"""Ridge of the weights of the pool toward 1, against the mean log-likelihood of the decided labels."""

Rows = npt.NDArray[np.float32]
Numbers = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


class PRODENOutside(PRODEN):
    """PRODEN for sets that may miss the truth; see the docstring of the module. Settings as for every deep method.

    Attributes:
        outside_: added labels and the miss probability of each set; `outside_.rate` is the estimated miss rate.
    """

    title: ClassVar[str] = TITLES["proden-outside"]
    summary: ClassVar[str] = (
        "PRODEN for sets of which some miss the truth: estimates which, and may identify a label outside the set. "
        "Equals PRODEN where it finds none."
    )
    adds_labels: ClassVar[bool] = True
    takes_known: ClassVar[bool] = True
    in_ranks: ClassVar[bool] = False

    outside_: Outside

    def grown(self, task: Task, *, hook: Hook | None = None) -> Task:
        """Return the task with the labels added that may be true though they are off the set."""
        outside = task.outside
        if outside is None:
            self.stage_ = "Looking for sets that miss the truth"
            scale = self.setting("scale")
            outside = find_outside(
                task.X,
                task.candidates,
                prior=task.prior,
                scale=scale,
                seed=self.seed,
                hook=hook or no_hook,
                known=task.known,
                undecided=task.undecided,
            )
            self.stage_ = ""
            task = replace(task, outside=outside)
            if not outside.is_empty:
                prior = carried_over(task.prior, task.candidates, outside.candidates)
                task = replace(task, candidates=outside.candidates, prior=prior)
        self.outside_ = outside
        self.notes_ = (_note(outside),)
        return task


def _note(outside: Outside) -> str:
    if outside.is_empty:
        return "Too few sets look as if they missed the truth; no label was added, and the result is PRODEN's."
    labels = int(outside.added.sum())
    examples = len(np.unique(outside.candidates.rows[outside.added]))
    return (
        f"An estimated {percent(outside.rate)} of the sets miss the truth (an estimate without an interval: only "
        f"controls give one). {labels:,} labels were added to {examples:,} of {len(outside.miss):,} sets."
    )


@dataclass(frozen=True)
class _Rates:
    """Fitted temperature and miss rate of one classifier: σ(a + b·(s − mean) / spread), and the likelihood."""

    log_temperature: float
    a: float
    b: float
    log_likelihood: float


def find_outside(
    X: npt.NDArray[np.float32],
    candidates: CandidateSets,
    *,
    prior: Weights | None = None,
    scale: str = "auto",
    seed: int = 0,
    hook: Hook = no_hook,
    known: npt.NDArray[np.int64] | None = None,
    undecided: CandidateSets | None = None,
) -> Outside:
    """Estimate which sets miss the truth, and add the labels off the set that may be it.

    Args:
        X: (n, d) or (n, C, H, W) features, NaN where missing.
        candidates: n sets.
        prior: (nnz,) of `checked_prior`; in training w_ij ∝ prior_ij p_j on S_i.
        scale: of the features, as for every deep method.
        seed: of folds, of the part that is drawn, and of training.
        hook: called between mini-batches; may raise.
        known: (n,) labels that people decided, −1 elsewhere; the sets of these examples hold that label alone.
        undecided: the sets before people decided; with `known` alone they teach.

    Returns:
        the miss probabilities, and the labels to add: none where fewer than `LEAST_RATE` of the sets miss the truth.
    """
    n, c = candidates.shape
    nothing = Outside(candidates, candidates, np.zeros(n, dtype=np.float32))
    open_rows = candidates.sizes < c
    if n < 2 * FOLDS or not open_rows.any():
        return nothing
    inputs = scaled(fit_scaling(X, scale), X, torch.device("cpu")).flatten(1)
    rng = np.random.default_rng([seed, 4])
    order = rng.permutation(n)[: max(FEWEST, MOST_WORK // max(1, c * inputs.shape[1]))]
    fold = np.full(n, 0)  # what was not drawn has been seen by no classifier; that of the first fold predicts it
    fold[order] = np.arange(len(order)) % FOLDS
    drawn = np.sort(order)
    models = [_train(inputs, candidates, prior, drawn[fold[drawn] != held], seed, hook) for held in range(FOLDS)]
    sizes = candidates.sizes.astype(np.float64)
    centre, spread = float(sizes.mean()), max(float(sizes.std()), 1e-9)
    z = np.empty((len(drawn), len(models[0].settings), c), dtype=np.float32)
    for held in range(FOLDS):
        at = np.flatnonzero(fold[drawn] == held)
        z[at] = models[held].logits(inputs[torch.from_numpy(drawn[at])])
    sets = candidates.take(drawn)
    u = ((sets.sizes - centre) / spread).astype(np.float64)
    fitted = []
    for g in range(z.shape[1]):
        hook()
        fitted.append(_fit_rates(z[:, g].astype(np.float64), sets, u))
    best = int(np.argmax([rates.log_likelihood for rates in fitted]))
    rates = fitted[best]
    pool = None
    if known is not None and undecided is not None and _can_teach(known[drawn]):
        at = np.flatnonzero(known[drawn] >= 0)
        pool = _fit_pool(inputs, z[at, best].astype(np.float64), drawn[at], known, undecided.take(drawn[at]), hook)
    # Against a classifier that says nothing, whose likelihood is that of a class at random (BIC, three numbers).
    if pool is None and rates.log_likelihood + len(drawn) * np.log(c) < 1.5 * np.log(len(drawn)):
        return nothing
    miss, rows, labels = _judged(inputs, candidates, models, best, rates, fold, (sizes - centre) / spread, hook, pool)
    if known is not None:
        miss[known >= 0] = 0.0
        left = known[rows] < 0
        rows, labels = rows[left], labels[left]
    if float(miss.mean()) < LEAST_RATE:
        return Outside(candidates, candidates, miss)
    return Outside.of(candidates, rows, labels, miss)


class _Fold:
    """The classifiers of one fold, one for each of `settings`."""

    settings = tuple((rate, decay) for decay in DECAYS for rate in RATES)

    def __init__(self, models: BatchedModels) -> None:
        self._models = models

    def logits(self, X: torch.Tensor) -> npt.NDArray[np.float32]:
        """(m, M, c) for scaled features."""
        return self._models.logits(X).numpy()

    def keep(self, model: int) -> None:
        self._models.keep([model])


def _train(
    X: torch.Tensor, candidates: CandidateSets, prior: Weights | None, rows: Integers, seed: int, hook: Hook
) -> _Fold:
    c = candidates.n_classes
    sets = candidates.take(rows)
    inside = torch.from_numpy(sets.mask())
    sizes = torch.from_numpy(sets.sizes.astype(np.float32))
    on = torch.ones((len(rows), c)) if prior is None else _prior_table(prior, candidates, rows)
    starts = []
    for rate, _ in _Fold.settings:
        floor = rate / (1 - rate) * sizes / (c - sizes).clamp_min(1)
        start = torch.where(inside, on, floor[:, None].expand(-1, c))
        starts.append(start / start.sum(dim=1, keepdim=True))
    models = BatchedModels(
        X[torch.from_numpy(rows)],
        inside,
        [Steps(lr=0.05, weight_decay=decay) for _, decay in _Fold.settings],
        seed=seed,
        prior=torch.stack(starts, dim=1),
    )
    for _ in range(EPOCHS):
        models.train_epoch(hook)
    return _Fold(models)


def _prior_table(prior: Weights, candidates: CandidateSets, rows: Integers) -> torch.Tensor:
    """(m, c) prior of the rows over its mean on the set, so that a uniform one is 1 everywhere on it."""
    sets = candidates.take(rows)
    table = np.zeros((len(rows), candidates.n_classes), dtype=np.float32)
    own: Numbers = prior[candidates.positions(rows)].astype(np.float64)
    own = own / np.maximum.reduceat(own, sets.indptr[:-1])[sets.rows]  # exactly 1 where it is uniform
    own = own * (sets.sizes / np.add.reduceat(own, sets.indptr[:-1]))[sets.rows]
    table[sets.rows, sets.indices] = own
    return torch.from_numpy(table)


def _fit_rates(z: Numbers, sets: CandidateSets, u: Numbers) -> _Rates:
    """Fit temperature and miss rate to logits (n, c) of examples that were not learnt from."""
    n, c = z.shape
    inside = sets.mask()
    size = sets.sizes.astype(np.float64)
    log_in, log_off = np.log(size), np.log(np.maximum(c - size, 1))

    def likelihood(v: Numbers) -> tuple[float, Numbers]:
        scores = z * np.exp(v[0])
        total = logsumexp(scores, axis=1)
        with np.errstate(divide="ignore"):
            mass_in = logsumexp(np.where(inside, scores, -np.inf), axis=1)
            mass_off = np.where(size < c, logsumexp(np.where(inside, -np.inf, scores), axis=1), -np.inf)
        odds = v[1] + v[2] * u
        given, missed = log_expit(-odds) + mass_in - total - log_in, log_expit(odds) + mass_off - total - log_off
        each = np.logaddexp(given, missed)
        m = np.exp(missed - each)
        part = np.where(inside, mass_in[:, None], mass_off[:, None])
        posterior = np.exp(scores - part) * np.where(inside, (1 - m)[:, None], m[:, None])
        slope = ((posterior - np.exp(scores - total[:, None])) * scores).sum(axis=1)  # d/d log T
        rest = m - expit(odds)
        gradient = np.array([slope.mean() - 2e-4 * v[0], rest.mean(), (rest * u).mean() - 2e-3 * v[2]])
        return -float(each.mean()) + 1e-4 * v[0] ** 2 + 1e-3 * v[2] ** 2, -gradient

    found = minimize(likelihood, np.array([0.0, -2.0, 0.0]), jac=True, method="L-BFGS-B", bounds=_BOUNDS)
    t, a, b = (float(value) for value in found.x)
    return _Rates(t, a, b, -n * (float(found.fun) - 1e-4 * t**2 - 1e-3 * b**2))


_BOUNDS = ((0.0, 2.0), (-9.0, 2.0), (-2.0, 2.0))


def _judged(
    X: torch.Tensor,
    candidates: CandidateSets,
    models: list[_Fold],
    best: int,
    rates: _Rates,
    fold: Integers,
    u: Numbers,
    hook: Hook,
    pool: _OpinionPool | None,
) -> tuple[npt.NDArray[np.float32], Integers, Integers]:
    """(n,) miss probabilities; rows and labels to add."""
    n, c = candidates.shape
    miss = np.zeros(n, dtype=np.float32)
    rows, labels = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
    for model in models:
        model.keep(best)
    for held, part in _pieces(fold, c):
        hook()
        z = models[held].logits(X[torch.from_numpy(part)])[:, 0].astype(np.float64)
        z = z * np.exp(rates.log_temperature) if pool is None else pool.logits(z, X[torch.from_numpy(part)])
        sets = candidates.take(part)
        inside, size = sets.mask(), sets.sizes
        odds = (
            (rates.a + rates.b * u[part] if pool is None else pool.a) + np.log(size) - np.log(np.maximum(c - size, 1))
        )
        mass_in = logsumexp(np.where(inside, z, -np.inf), axis=1)
        full = size == c
        off = np.where(inside & ~full[:, None], -np.inf, z)
        told = logsumexp(off, axis=1) - mass_in
        m = np.where(full, 0.0, expit(odds + (told if pool is None else pool.b * told)))
        m[m < LEAST] = 0.0
        miss[part] = m
        doubted = np.flatnonzero(m > 0)
        top = np.argsort(-off[doubted], axis=1, kind="stable")[:, :SLOTS]
        usable = ~np.take_along_axis(inside[doubted], top, axis=1)
        at, place = np.nonzero(usable)
        rows.append(part[doubted[at]])
        labels.append(top[at, place])
    return miss, np.concatenate(rows), np.concatenate(labels)


@dataclass(frozen=True, eq=False)
class _OpinionPool:
    """Model learnt from decided labels: a logarithmic opinion pool of two classifiers, and its weight off the set.

    p ∝ exp(α z + β log g), with z the logits of the classifier that learnt from candidate sets and g one that learnt
    the decided labels alone. The log-odds that a set misses the truth are a + log(s / (c − s)) + b log(P(A) / P(S)).
    """

    alpha: float
    beta: float
    a: float
    b: float
    taught: Callable[[Rows], Numbers]

    def logits(self, z: Numbers, X: torch.Tensor) -> Numbers:
        """(m, c) for logits z and scaled features."""
        return self.alpha * z + self.beta * self.taught(X.numpy())


def _can_teach(known: Integers) -> bool:
    labels = known[known >= 0]
    return len(labels) >= LEAST_KNOWN and len(np.unique(labels)) >= 2


def _fit_pool(
    X: torch.Tensor, z: Numbers, rows: Integers, known: Integers, sets: CandidateSets, hook: Hook
) -> _OpinionPool:
    """Teach a classifier the decided labels of `rows` alone, and fit the numbers of the pool to these labels.

    Args:
        z: (k, c) logits of the other classifier for these rows, which it has not seen.
        sets: their k sets before people decided.
    """
    own, y, c = X[torch.from_numpy(rows)].numpy(), known[rows], z.shape[1]
    fold = np.arange(len(rows)) % TAUGHT_FOLDS
    each = np.arange(len(rows))
    held_out: list[tuple[float, float, Numbers]] = []
    for strength in STRENGTHS:
        logs = np.zeros((len(rows), c))
        for held in range(TAUGHT_FOLDS):
            hook()
            logs[fold == held] = _taught(own[fold != held], y[fold != held], c, strength)(own[fold == held])
        held_out.append((float(logs[each, y].mean()), strength, logs))
    _, strength, logs = max(held_out, key=lambda one: one[0])

    def loss(v: Numbers) -> tuple[float, Numbers]:
        scores = v[0] * z + v[1] * logs
        off = np.exp(scores - logsumexp(scores, axis=1)[:, None])
        off[each, y] -= 1
        value = float(np.mean(logsumexp(scores, axis=1) - scores[each, y])) + POOL_RIDGE / 2 * float((v - 1) @ (v - 1))
        return value, np.array([(off * z).sum(), (off * logs).sum()]) / len(y) + POOL_RIDGE * (v - 1)

    alpha, beta = minimize(loss, np.ones(2), jac=True, method="L-BFGS-B", bounds=((0, 5), (0, 5))).x
    a, b = _fit_odds(alpha * z + beta * logs, sets, y)
    return _OpinionPool(float(alpha), float(beta), a, b, _taught(own, y, c, strength))


def _fit_odds(z: Numbers, sets: CandidateSets, y: Integers) -> tuple[float, float]:
    """Fit a and b of `_OpinionPool` to which of k decided examples had sets without the label; a ridge holds b to 1."""
    size, c, inside = sets.sizes, sets.n_classes, sets.mask()
    open_rows = size < c
    missed = ~inside[np.arange(len(y)), y][open_rows]
    start = float(logit((missed.sum() + 0.5) / (len(missed) + 1)))
    if not open_rows.any():
        return start, 1.0
    z, inside, size = z[open_rows], inside[open_rows], size[open_rows]
    told = logsumexp(np.where(inside, -np.inf, z), axis=1) - logsumexp(np.where(inside, z, -np.inf), axis=1)
    offset = np.log(size / (c - size))

    def loss(v: Numbers) -> tuple[float, Numbers]:
        odds = v[0] + offset + v[1] * told
        off = expit(odds) - missed
        apart = v - np.array([start, 1.0])
        value = -float(np.mean(np.where(missed, log_expit(odds), log_expit(-odds)))) + POOL_RIDGE / 2 * float(
            apart @ apart
        )
        return value, np.array([off.mean(), (off * told).mean()]) + POOL_RIDGE * apart

    found = minimize(loss, np.array([start, 1.0]), jac=True, method="L-BFGS-B", bounds=((-15, 15), (0, 3))).x
    return float(found[0]), float(found[1])


def _taught(X: Rows, y: Integers, c: int, strength: float) -> Callable[[Rows], Numbers]:
    """Ridge logistic regression; returns (m, c) log-probabilities, of which a small part is spread over all classes."""
    from sklearn.linear_model import LogisticRegression

    if len(np.unique(y)) < 2:
        return lambda further: np.full((len(further), c), -np.log(c))
    model = LogisticRegression(C=strength, max_iter=300).fit(X, y)

    def logs(further: Rows) -> Numbers:
        shares = np.full((len(further), c), MIXED / c)
        shares[:, model.classes_] += (1 - MIXED) * model.predict_proba(further)
        told: Numbers = np.log(shares)
        return told

    return logs


def _pieces(fold: Integers, c: int) -> Iterator[tuple[int, Integers]]:
    for held in range(FOLDS):
        members = np.flatnonzero(fold == held)
        for start in range(0, len(members), max(1, PIECE // c)):
            yield held, members[start : start + max(1, PIECE // c)]

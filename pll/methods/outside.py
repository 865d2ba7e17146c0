"""PRODEN where candidate sets may miss the truth.

Idea: before training, estimate how often sets miss the truth and which of them do; then train as PRODEN does, with the
label weights

    w_ij = (1 − m_i) p_j / Σ_{k ∈ S_i} p_k on S_i,   w_ia = m_i for the label a_i that is added

where the miss probability m_i stays as it was estimated. If the estimated miss rate is below `LEAST_RATE`, or held-out
examples do not distinguish the sets from chance, nothing is added and the method is PRODEN, to the last bit.

The estimate, from examples that a classifier has not seen (in-sample estimates come out far too low):

1. Linear classifiers learn in `FOLDS` folds from w_ij ∝ p_j on S_i and λ_i p_j off it, for each miss rate ρ of `RATES`
   and each weight decay of `DECAYS`, with λ_i = ρ / (1 − ρ) · |S_i| / (c − |S_i|).
2. For each of them, a factor α ≥ 1 of the logits z and a miss rate ρ(|S|) = σ(a + b |S|) are fitted to the held-out
   examples, by the likelihood Σ_i log[(1 − ρ) P(S_i) / |S_i| + ρ (1 − P(S_i)) / (c − |S_i|)], and the likeliest is
   kept. The rate may depend on the size: where the truth was left out, sets are smaller; where another label took its
   place, they are not. The factor may not flatten: doubt about the classifier would explain all that is missing.
3. If the rate reaches `LEAST_RATE`, neighbours are asked too: N_ij is the mean share 1[j ∈ S_r] / |S_r| of j in the
   sets of the `NEIGHBOURS` nearest examples r, without x_i. P ∝ exp(α z + β log N), with α and β fitted as before; the
   rate stays that of step 2, since sets that neighbours share (the names of one scene of a film) would explain it away.
4. m_i = ρ P(A) / [(1 − ρ) P(S) (c − |S|) / |S| + ρ P(A)] with P(A) = 1 − P(S); a_i is the likeliest label off S_i.

What neighbours' sets say goes back to PL-kNN, and that it finds truths outside the set to SARI (Lv et al., 2024),
which takes the label with most of the neighbours' weight in every round. Rounds were tried here, with the weights of
the round before in place of the sets: the fitted rate falls to a half, for the neighbours have then learnt from the
set in question.

Where labels are known of some examples (`truth=` in Python, the decisions of a review in a run), at least `LEAST_KNOWN`
of them, they teach instead what step 2 can only guess. A ridge logistic regression g learns them and nothing else; it
and the classifier of step 1 make a logarithmic opinion pool p ∝ exp(α z + β log g) (Genest & Zidek, Statistical Science
1, 1986), whose α and β are fitted to the known labels, out of fold; and the log-odds that a set misses the truth are
a + log(|S| / (c − |S|)) + b log(P(A) / P(S)), with a and b fitted to which of the known labels their sets had missed.

Label weights: as above, of the given set and the added label; `candidates_` holds both.

Hyper-parameters: those of PRODEN; they do not change the estimate, but for `scale` and `seed`.

Complexity: 36 linear fits of `EPOCHS` epochs, as batched products, on at most `MOST_WORK` / (c·d) examples; where
truths are missing, the distances of all examples to at most `MOST_NEAR` of them; then PRODEN with one further
candidate.

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
from scipy.sparse import csr_array
from scipy.special import expit, log_expit, logit, logsumexp
from sklearn.neighbors import NearestNeighbors

from pll.candidates import CandidateSets
from pll.colors import percent
from pll.methods.base import Task
from pll.methods.classical import blocks
from pll.methods.deep import scaled
from pll.methods.names import TITLES
from pll.methods.neighbours import BLOCK
from pll.methods.proden import PRODEN
from pll.training.batched import BatchedModels, Steps
from pll.training.metrics import Hook, no_hook
from pll.training.scaling import CLIP, fit_scaling
from pll.weights import Outside, Weights, carried_over

RATES = (0.001, 0.05, 0.1, 0.2, 0.3, 0.45)
DECAYS = (1e-3, 1e-2)
FOLDS = 3
EPOCHS = 60
LEAST = 0.01
"""Miss probability from which an example gets an added label."""
LEAST_RATE = 0.03
"""Estimated miss rate below which nothing is added: classifiers that are wrong and sure look like so many misses."""
MOST_WORK = 2 * 10**8
"""Examples × features × classes that classifiers are fitted on; of more examples a part is drawn."""
FEWEST = 2_000
"""Examples that are drawn even so."""
PIECE = 10**7
"""Numbers computed at a time."""
NEIGHBOURS = 15
MOST_NEAR = 50_000
"""Examples among which neighbours are searched."""
SMOOTHED = 0.5
"""Share of a uniform distribution that is added to what neighbours say."""

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

    Attributes
    ----------
    outside_
        Added labels and the miss probability of each set; `outside_.rate` is the estimated miss rate.
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
        """Return the task with the label added to sets that may miss the truth."""
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


@dataclass(frozen=True, eq=False)
class _MissModel:
    """What tells the label of an example: P ∝ exp(Σ_k weights_k · sources_k), and the miss rate σ(a + b·u).

    u is the size of the set, less the mean and over the deviation; the log-odds that a set misses the truth are
    a + b·u + log(s / (c − s)) + told · log(P(A) / P(S)).
    """

    weights: Numbers
    a: float
    b: float
    log_likelihood: float
    told: float = 1.0

    def scores(self, sources: Numbers) -> Numbers:
        """(m, c) logarithms of P, but for a constant of each row, for sources (m, K, c)."""
        scores: Numbers = np.einsum("k,mkc->mc", self.weights, sources)
        return scores

    def miss(self, scores: Numbers, sets: CandidateSets, u: Numbers) -> tuple[Numbers, Integers]:
        """(m,) miss probabilities, 0 where the set is full, and the likeliest label off each set."""
        inside, size = sets.mask(), sets.sizes
        full = size == sets.n_classes
        off = np.where(inside & ~full[:, None], -np.inf, scores)
        told = logsumexp(off, axis=1) - logsumexp(np.where(inside, scores, -np.inf), axis=1)
        odds = self.a + self.b * u + np.log(size) - np.log(np.maximum(sets.n_classes - size, 1)) + self.told * told
        return np.where(full, 0.0, expit(odds)), off.argmax(axis=1)


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

    Parameters
    ----------
    X
        (n, d) or (n, C, H, W) features, NaN where missing.
    candidates
        n sets.
    prior
        (nnz,) of `checked_prior`; in training w_ij ∝ prior_ij p_j on S_i.
    scale
        Of the features, as for every deep method.
    seed
        Of folds, of the part that is drawn, and of training.
    hook
        Called between mini-batches; may raise.
    known
        (n,) labels that people decided, −1 elsewhere; the sets of these examples hold that label alone.
    undecided
        The sets before people decided; with `known` alone they teach.

    Returns
    -------
    Outside
        The miss probabilities, and the labels to add: none where fewer than `LEAST_RATE` of the sets miss the truth.
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
    u = (sizes - sizes.mean()) / max(float(sizes.std()), 1e-9)
    z = np.empty((len(drawn), len(models[0].settings), c), dtype=np.float32)
    for held in range(FOLDS):
        at = np.flatnonzero(fold[drawn] == held)
        z[at] = models[held].logits(inputs[torch.from_numpy(drawn[at])])
    sets = candidates.take(drawn)
    fitted = []
    for g in range(z.shape[1]):
        hook()
        fitted.append(_fitted(z[:, g : g + 1].astype(np.float64), sets, u[drawn]))
    best = int(np.argmax([one.log_likelihood for one in fitted]))
    for model in models:
        model.keep(best)
    evidence, sources = fitted[best], z[:, best : best + 1].astype(np.float64)
    teaches = known is not None and undecided is not None and _can_teach(known[drawn])
    # Against a classifier that says nothing, whose likelihood is that of a class at random (BIC, three numbers).
    if not teaches and evidence.log_likelihood + len(drawn) * np.log(c) < 1.5 * np.log(len(drawn)):
        return nothing
    near = None
    if teaches or float(evidence.miss(evidence.scores(sources), sets, u[drawn])[0].mean()) >= LEAST_RATE:
        near = _NearSets(inputs, candidates, prior, drawn, hook)
        sources = np.concatenate([sources, near.logs(drawn)[:, None]], axis=1)
        evidence = _fitted(sources, sets, u[drawn], evidence)
    taught = None
    if teaches:
        assert known is not None and undecided is not None
        at = np.flatnonzero(known[drawn] >= 0)
        own = evidence.scores(sources[at])
        evidence, taught = _taught_evidence(inputs, evidence, own, drawn[at], known, undecided.take(drawn[at]), hook)
    miss, added = np.zeros(n, dtype=np.float32), np.zeros(n, dtype=np.int64)
    for held, part in _pieces(fold, c):
        hook()
        own = models[held].logits(inputs[torch.from_numpy(part)]).astype(np.float64)
        if near is not None:
            own = np.concatenate([own, near.logs(part)[:, None]], axis=1)
        if taught is not None:
            own = np.concatenate([own, taught(inputs[torch.from_numpy(part)].numpy())[:, None]], axis=1)
        miss[part], added[part] = evidence.miss(evidence.scores(own), candidates.take(part), u[part])
    miss[miss < LEAST] = 0.0
    if known is not None:
        miss[known >= 0] = 0.0
    if float(miss.mean()) < LEAST_RATE:
        return Outside(candidates, candidates, miss)
    rows = np.flatnonzero(miss)
    return Outside.of(candidates, rows, added[rows], miss)


class _NearSets:
    """The nearest of the drawn examples for each example, and what their sets say."""

    def __init__(
        self, X: torch.Tensor, candidates: CandidateSets, prior: Weights | None, drawn: Integers, hook: Hook
    ) -> None:
        points = X.clamp(-CLIP, CLIP).numpy()
        among = drawn[:: -(-len(drawn) // MOST_NEAR)]
        search = NearestNeighbors().fit(points[among])
        k = min(NEIGHBOURS, len(among) - 1)
        found = []
        for rows in blocks(len(points), BLOCK):
            hook()
            at = among[search.kneighbors(points[rows], k + 1, return_distance=False)]
            own = at == np.arange(rows.start, rows.stop)[:, None]
            own[~own.any(axis=1), -1] = True
            found.append(at[~own].reshape(-1, k))
        self._at = np.concatenate(found)
        shares = candidates.uniform_weights() if prior is None else prior
        self._shares = csr_array((shares, candidates.indices, candidates.indptr), shape=candidates.shape)

    def logs(self, rows: Integers) -> Numbers:
        """(m, c) logarithms of the smoothed mean shares N."""
        at = self._at[rows]
        c, k = self._shares.shape[1], at.shape[1]
        total = sum((self._shares[at[:, r]].toarray() for r in range(k)), np.zeros((len(rows), c)))
        logs: Numbers = np.log((total / k + SMOOTHED / c) / (1 + SMOOTHED))
        return logs


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


def _fitted(sources: Numbers, sets: CandidateSets, u: Numbers, rate_of: _MissModel | None = None) -> _MissModel:
    """Fit the weights of sources (n, K, c) of examples that were not learnt from, and the miss rate, or keep one."""
    n, count, c = sources.shape
    inside = sets.mask()
    size = sets.sizes.astype(np.float64)
    log_in, log_off = np.log(size), np.log(np.maximum(c - size, 1))

    def likelihood(v: Numbers) -> tuple[float, Numbers]:
        weights, (a, b) = v[:count], v[count:]
        scores = np.einsum("k,nkc->nc", weights, sources)
        total = logsumexp(scores, axis=1)
        with np.errstate(divide="ignore"):
            mass_in = logsumexp(np.where(inside, scores, -np.inf), axis=1)
            mass_off = np.where(size < c, logsumexp(np.where(inside, -np.inf, scores), axis=1), -np.inf)
        odds = a + b * u
        given, missed = log_expit(-odds) + mass_in - total - log_in, log_expit(odds) + mass_off - total - log_off
        each = np.logaddexp(given, missed)
        m = np.exp(missed - each)
        part = np.where(inside, mass_in[:, None], mass_off[:, None])
        posterior = np.exp(scores - part) * np.where(inside, (1 - m)[:, None], m[:, None])
        slopes = np.einsum("nc,nkc->k", posterior - np.exp(scores - total[:, None]), sources) / n
        rest = m - expit(odds)
        apart = weights - 1
        gradient = np.array([*(slopes - 2e-4 * apart), rest.mean(), (rest * u).mean() - 2e-3 * b])
        return -float(each.mean()) + 1e-4 * float(apart @ apart) + 1e-3 * b**2, -gradient

    start = (-2.0, 0.0) if rate_of is None else (rate_of.a, rate_of.b)
    bounds = ((-9.0, 2.0), (-2.0, 2.0)) if rate_of is None else tuple((value, value) for value in start)
    bounds = ((1.0, 7.4), (0.0, 4.0))[:count] + bounds
    found = minimize(likelihood, np.array([*np.ones(count), *start]), jac=True, method="L-BFGS-B", bounds=bounds)
    a, b = found.x[count:]
    return _MissModel(found.x[:count], float(a), float(b), -n * float(found.fun))


def _can_teach(known: Integers) -> bool:
    labels = known[known >= 0]
    return len(labels) >= LEAST_KNOWN and len(np.unique(labels)) >= 2


def _taught_evidence(
    X: torch.Tensor, evidence: _MissModel, z: Numbers, rows: Integers, known: Integers, sets: CandidateSets, hook: Hook
) -> tuple[_MissModel, Callable[[Rows], Numbers]]:
    """Teach a classifier the decided labels of `rows` alone; fit its weight, that of the rest and the odds of a miss.

    Parameters
    ----------
    z
        (k, c) scores of the evidence for these rows, which it has not seen.
    sets
        Their k sets before people decided.

    Returns
    -------
    tuple[_MissModel, Callable[[Rows], Numbers]]
        The evidence with the classifier as its last source, and the classifier.
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
    a, told = _fit_odds(alpha * z + beta * logs, sets, y)
    weights = np.array([*(alpha * evidence.weights), beta])
    return _MissModel(weights, a, 0.0, evidence.log_likelihood, told), _taught(own, y, c, strength)


def _fit_odds(z: Numbers, sets: CandidateSets, y: Integers) -> tuple[float, float]:
    """Fit a and the factor `told` to which of k decided sets lack the label; a ridge holds the factor to 1."""
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

"""How sure is a label: label weights by models that did not learn from the example.

A model's own label weights are no evidence: PRODEN trains on them, so that they go to 0 and 1 whatever is true. Here
`SUBSETS` models with the settings of the fit learn from random subsets, at most half of the examples (`subset_rows`),
and each judges the examples it has not seen:

1. Its scores are divided by the temperature under which the sets of unseen examples are likeliest
   (`pll.methods.set_likelihood`), and made probabilities p by softmax; where a share of the examples is measurably
   unlike all that it has learnt from, p is mixed with as much of the uniform distribution.
2. Probabilities are averaged over the models that have not seen the example, and mixed with as much of the uniform
   distribution as temperatures were chosen with (1 %): ten models of few rows rule no label out. The subsets come in
   disjoint pairs, so that each example is unseen by at least half of the models. Copies of an example, with the same
   candidates, are seen with it (`pll.copies`).
3. w_ij ∝ prior_ij · p̄_ij on S_i. Of a prior that is somebody's probabilities it is prior_ij^a / π_j, π_j its mean: they
   may be too sure, and a is the exponent at which they are likeliest (`exponent_evidence`). Where many a are as likely,
   as without features, or the probabilities were made of the same features, nothing measures them: it is not known how
   sure the labels are.
4. Where rates by class at which labels join sets explain the sets measurably better than one rate for all (`GAIN`),
   some labels have companions, and sets can be read in two ways: w as in 3, as if every set that holds a label were as
   likely under it, and ∝ w · P(S_i | j) with these rates (`pll.methods.set_likelihood`). The first is right where
   labels come together in the thing itself, the second where companions are drawn label by label; nothing tells which.
   The held-out weight is the mean of both: a label is certain where both readings say so.

An example that no model has judged yet has its prior, or uniform weights: nothing is known.

Small subsets are not thrift alone: models of many shared examples agree on what they took for the label, right or
wrong, and where models of few differ, that is the evidence (docs/research/confidence.md has the figures).

Where votes are given, the held-out weight is the posterior of the labels under the voter models, in which a classifier
trained out of fold is one more witness (`pll.methods.aggregation`). No further model is trained.

What this cannot know: labels that come together in the thing itself. Where a wrong label accompanies a true one in
every set, each model learns the pair, and no set tells which of the two is right.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from sklearn.base import clone
from torch import Tensor

from pll.annotations.data import Annotations
from pll.annotations.voters import exchangeable_posterior, fit_voters
from pll.candidates import CandidateSets, as_candidate_sets
from pll.copies import first_copies, near_copies, together, with_copies
from pll.io import Arrays, blocks
from pll.methods.advice import fit_seconds
from pll.methods.aggregation import aggregate
from pll.methods.base import PartialLabelEstimator, Task, as_votes
from pll.methods.deep import DeepEstimator
from pll.methods.defaults import suited
from pll.methods.recipe import ConfigurationGroup, Together, can_be_batched
from pll.methods.set_likelihood import (
    EXPONENTS,
    FINE,
    MIXED,
    MOST_WITH_RATES,
    equally_likely,
    exponent_evidence,
    fitted_temperatures,
    over_shares,
    set_posterior,
    tempered,
)
from pll.training.devices import choose_device, computing_threads
from pll.training.metrics import Hook, no_hook
from pll.training.scaling import evaluation_batch
from pll.weights import (
    NORMALISED,
    Flags,
    Floats,
    Ints,
    Weights,
    dense,
    normalise,
    on_candidates,
    restricted_softmax,
)

SUBSETS = 10
MODEL_ROWS, WORTH_LABELS = 2000, 1000
"""Examples that a model learns from at least, and how many labels they are worth, where halves are more."""
LEAST_PAIRED = 30
"""Examples with two answers, or decided, from which voter models tell how good answers are; of few, half of them."""
FEWEST_JUDGED = 4
"""With fewer examples there are no halves to learn from."""
QUICK_SECONDS = 20.0
"""Seconds of a reference core: where one training takes less, all models are trained, whatever their cost."""
TEMPERATURE_ROWS = 4000
"""Unseen examples at most that a temperature is chosen on."""
WIDEST = 0.6
"""Width of the 95 % interval of the exponent of a prior up to which it is measured, where the interval excludes 0."""
DEPENDENT = 0.25
"""Largest rank correlation of models and prior that two opinions may have, with 97.5 % probability.

Measured on 600 examples: −.23 to .16 where they are independent, .29 to .53 where half of the prior was made of two or
more of the eight features, .21 to .29 where of one.
"""
DROP = 1.92
"""Nats below the largest log-likelihood at which that interval ends: half the .95 quantile of χ² with one degree."""
COMPANIONS = 0.2
"""`HeldOut.gain` above which it is said that labels come together; -.04 to .08 for uniform flips, .5 to 2.5 on real
sets and pairs."""
READ_TOGETHER = 20_000
"""Examples at most that rates are estimated on."""
MOST_NUMBERS_AT_ONCE = 5 * 10**7
"""Features, or label weights, of the examples of models that are trained together, at most: 200 MB."""
TINY = 1e-12

OUTSIDE_NOTE = (
    "The method added labels to candidate sets, and the models that say how sure labels are learnt from those sets: "
    "two to five times as many of the certain labels may be wrong as they say."
)
"""Measured on five classes, .1 and .25 of the sets without the truth."""
PRIOR_NOTE = (
    "How sure the labels are cannot be found out: that takes features that tell the labels, and other ones than the "
    "given probabilities were made of. Bring such columns, or review a sample."
)
COMPANION_NOTE = (
    "Some labels often come together in a set. Where they also come together in the thing itself, no set tells which "
    "of the two is right: their labels may be less sure than they look. A look at some of them tells."
)

ShareDone = Callable[[float], None]


def held_out_weights(
    estimator: PartialLabelEstimator,
    X: npt.ArrayLike,
    sets: Any,
    *,
    prior: npt.ArrayLike | None = None,
    votes: npt.ArrayLike | Annotations | None = None,
    truth: npt.ArrayLike | None = None,
    seed: int = 0,
    hook: Hook = no_hook,
    progress: ShareDone | None = None,
) -> Weights:
    """Return how likely each candidate is, judged by models that did not learn from the example.

    Parameters
    ----------
    estimator
        Its class and settings are used (what its recipe has chosen, where it is fitted); it stays as it is.
    X
        (n, d) or (n, C, H, W) features.
    sets
        The n candidate sets, in any form that `fit` takes.
    prior, votes, truth
        As `fit` takes them; `truth` for pn-oracle alone.
    seed
        Of the subsets and of the models.
    hook
        Called between mini-batches; may wait. What it raises ends the work; to keep what there is, use `HeldOut`.
    progress
        Called with the share that is done.

    Returns
    -------
    Weights
        (nnz,) float32, aligned with the candidates of the sets; sums to 1 on each set, for votes to 1 at most
        (`vote_weights`). NaN where nothing measures how sure they are.

    Raises
    ------
    UserError
        Invalid data or settings.

    Examples
    --------
    >>> from pll import PRODEN, CandidateSets
    >>> X = np.repeat(np.eye(3, dtype=np.float32), 20, axis=0)
    >>> sets = CandidateSets.from_lists([[i // 20, (i // 20 + 1 + i % 2) % 3] for i in range(60)], n_classes=3)
    >>> weights = held_out_weights(PRODEN(), X, sets)
    >>> weights.shape, bool((weights.reshape(60, 2).sum(axis=1) > 0.999).all())
    ((120,), True)
    """
    annotations = None if votes is None else as_votes(votes, sets)
    task = Task(X, as_candidate_sets(sets), truth, prior=prior, votes=annotations)  # type: ignore[arg-type]  # any form
    held_out = HeldOut(estimator, task, seed=seed)
    for _ in held_out.run(hook, progress):
        pass
    return held_out.weights()


class HeldOut:
    """The models of random subsets, one after another, and what they say of examples that they have not seen.

    Parameters
    ----------
    estimator
        Its class and settings are used; it stays as it is.
    task
        The training data as `iter_fit` takes it, with the labels that the method added to sets.
    seed
        Of the subsets and of the models.
    counts
        Votes without names that the sets are of: unanimous ones may be wrong too.

    Attributes
    ----------
    copies
        (n,) `near_copies` of the training data, its own row for an example without: a model that learnt from one judges
        none of them.
    total
        Number of models; 0 where votes say all, or there are too few examples.
    is_told
        Whether the prior is somebody's probabilities, and not made of votes.
    done
        Models that are complete.
    gain
        After `weights()`: by how much rates by class explain a set better than one rate for all, in nats, with 97.5 %
        probability: the lower end of its 95 % interval. Above 0 the sets get a second reading.
    """

    def __init__(
        self, estimator: PartialLabelEstimator, task: Task, *, seed: int = 0, counts: Annotations | None = None
    ) -> None:
        self.counts = None if counts is None or not _are_checked(task, counts) else counts
        learns = estimator.needs_features and not estimator.takes_votes and task.X[:1].size > 0
        if learns and task.votes is not None and not _are_checked(task, task.votes):
            task = replace(task, votes=None, prior=None)  # then models judge what is ambiguous, as of any sets
        self.estimator, self.task, self.seed = estimator, replace(task, X_test=None, y_test=None), seed
        n = len(task.candidates)
        self.is_told = task.votes is None and counts is None and bool(self._is_sharp().any())
        has_models = task.votes is None and n >= FEWEST_JUDGED and task.X[:1].size > 0
        told = [task.candidates.indices] if task.prior is None else [task.candidates.indices, task.prior]
        copies = first_copies(task.X, task.candidates.indptr, *told) if has_models else None
        near = near_copies(task.X, copies, task.candidates.indptr, *told) if has_models else None
        self.copies = np.arange(n) if near is None else near
        largest = int(np.bincount(self.copies, minlength=1).max())
        self.rows = min(subset_rows(task.candidates), (n - largest + 1) // 2)  # two subsets, without a cut group
        self.total = n_models(estimator, task) if has_models else 0
        self.done = 0
        self.gain = 0.0
        self._answers: Arrays = {
            "sums": np.zeros(task.candidates.nnz),  # of probabilities, float64: the order of models must not matter
            "counts": np.zeros(n, dtype=np.int16),
            "units": np.zeros(1),  # sum of those of the temperatures of models that answered
            "likely": np.zeros(len(FINE)),  # temperatures of these models: how likely each is, in its unit
            "tally": np.zeros(3),  # of answers: all, covering, covering by chance
            "given": np.zeros(3),  # of answers to examples with one label: all, other labels, expected other labels
            "evidence": np.zeros(len(EXPONENTS)),  # of models, where somebody's probabilities were given
        }
        self._is_given = task.candidates.sizes == 1
        if task.decided is not None:
            self._is_given &= task.decided < 0

    def state(self) -> Arrays:
        """Return the arrays from which another one can go on to the same result."""
        return {"done": np.array(self.done)} | {name: array.copy() for name, array in self._answers.items()}

    def load_state(self, state: Arrays) -> None:
        """Go on from what `state()` of one with the same arguments returned; begin anew where that lacks something.

        A name must never come to mean something else: another version begins anew only where one is missing.
        """
        if self._answers.keys() <= state.keys():
            self.done = int(state["done"])
            self._answers = {name: np.array(state[name]) for name in self._answers}

    def run(self, hook: Hook = no_hook, progress: ShareDone | None = None) -> Iterator[int]:
        """Train and ask the models that are left, yielding the number of complete ones after each step.

        Parameters
        ----------
        hook
            Called between mini-batches or units of work; may wait. What it raises ends the work, with the complete
            models kept.
        progress
            Called with the share that is done.
        """
        tell = progress or (lambda share: None)
        while self.done < self.total:
            models = self._models()
            for share in models.train(hook):
                tell((self.done + len(models.subsets) * share) / self.total)
            new = {name: np.zeros_like(array) for name, array in self._answers.items()}
            for k in range(len(models.subsets)):
                self._ask(models, k, new, hook)
            self._answers = {name: array + new[name] for name, array in self._answers.items()}
            self.done += len(models.subsets)
            tell(self.done / self.total)
            yield self.done

    def weights(self) -> Weights:
        """Return the (nnz,) held-out weights by the models that are complete.

        Of sets of counted votes P(label) is P(label | the truth is in the set), of the models, times P(the truth is in
        the set), of the votes.
        """
        votes = self.task.votes if self.counts is None else self.counts
        if votes is None:
            return self._weights_of_models()
        of_votes, sets = vote_weights(self.estimator, self.task, votes), self.task.candidates
        if self.counts is None or not self.total:
            return of_votes
        return self._weights_of_models() * np.add.reduceat(of_votes, sets.indptr[:-1])[sets.rows]

    def _weights_of_models(self) -> Weights:
        task, sets = self.task, self.task.candidates
        sums, counts = self._answers["sums"], self._answers["counts"]
        judged = counts > 0
        mean = (1 - MIXED) * sums / np.maximum(counts, 1)[sets.rows] + MIXED / sets.n_classes
        scores = np.where(judged[sets.rows], np.log(mean), 0.0)
        prior, exponent = task.prior, self.exponent
        if prior is not None and self.is_told:
            prior = normalise(over_shares(tempered(prior, sets, 1.0 if exponent is None else exponent), sets), sets)
        weights = restricted_softmax(scores, sets, prior, task.outside)
        if task.outside is None:
            weights = self._with_companions(weights, mean, prior, np.flatnonzero(judged))
        if exponent is not None:
            return weights
        is_unknown = self._is_sharp() if self.total else sets.sizes > 1
        return np.where(is_unknown[sets.rows], np.float32(np.nan), weights)

    def _is_sharp(self) -> Flags:
        """(n,) bool, whether the prior tells candidates of the example apart."""
        prior, starts = self.task.prior, self.task.candidates.indptr[:-1]
        if prior is None:
            return np.zeros(len(starts), dtype=np.bool_)
        spread: Weights = np.maximum.reduceat(prior, starts) - np.minimum.reduceat(prior, starts)
        return spread > NORMALISED

    @property
    def exponent(self) -> float | None:
        """Exponent of the prior; 1 where it is nobody's probabilities, None where nothing measures it.

        At 0 models and prior have nothing to do with each other: either may be the useless one.
        """
        if not self.is_told:
            return 1.0
        rows, models = min(len(np.unique(self.copies)), TEMPERATURE_ROWS), self._answers["likely"].sum()
        evidence = self._answers["evidence"] * rows / max(1, models)
        likely = EXPONENTS[evidence > evidence.max() - DROP]
        is_measured = likely[0] > 0 and np.ptp(likely) <= WIDEST and self._follows_features() <= DEPENDENT
        return float(EXPONENTS[evidence.argmax()]) if is_measured else None

    def _follows_features(self) -> float:
        """Upper end of the 95 % interval of the rank correlation, within labels, of what models and prior say of them.

        For each label, of how likely the two take it to be, each example counting by how likely both together do. Were
        they independent given the label, it would be near 0. 1 where nothing can be said.
        """
        from scipy.stats import rankdata  # late: it takes most of a second

        prior, sets, counts = self.task.prior, self.task.candidates, self._answers["counts"]
        assert prior is not None
        own = self._answers["sums"] / np.maximum(counts, 1)[sets.rows]
        told = (counts > 0) & self._is_sharp()
        n = len(np.unique(self.copies[told]))
        both = own * prior
        weight = both / np.maximum(np.add.reduceat(both, sets.indptr[:-1]), TINY)[sets.rows] * told[sets.rows]
        of_label = np.maximum(np.bincount(sets.indices, weight, sets.n_classes), TINY)
        size = np.bincount(sets.indices, minlength=sets.n_classes)[sets.indices]
        ranks = (rankdata(sets.indices + values / 2) / size for values in (own, prior))  # label by label
        one, two = (r - (np.bincount(sets.indices, weight * r, sets.n_classes) / of_label)[sets.indices] for r in ranks)
        scale = math.sqrt((weight @ one**2) * (weight @ two**2))
        return float(weight @ (one * two)) / scale + 1.96 / math.sqrt(n) if n and scale > TINY else 1.0

    def _with_companions(self, weights: Weights, mean: Floats, prior: Weights | None, rows: Ints) -> Weights:
        """Return the mean with a second reading of the sets of these rows, where labels have companions."""
        sets = self.task.candidates
        c = sets.n_classes
        self.gain = 0.0
        if c > MOST_WITH_RATES or not len(rows):
            return weights
        parts = max(1, -(-len(rows) // max(1, min(READ_TOGETHER, MOST_NUMBERS_AT_ONCE // c))))
        some = np.random.default_rng([self.seed, 11]).permutation(len(rows)) % parts
        gains, readings = np.empty(len(rows)), weights.astype(np.float64)
        for part in range(parts):
            here = rows[some == part]
            of_part, positions = sets.take(here), sets.positions(here)
            log_p = np.log(mean[positions])
            if prior is not None:
                log_p += np.log(np.maximum(prior[positions], TINY))
            (posterior, likelihood), (_, plain) = (
                set_posterior(dense(log_p, of_part), of_part, self.seed, by_class=by_class)
                for by_class in (True, False)
            )
            gains[some == part] = likelihood - plain
            readings[positions] += on_candidates(posterior, of_part)
        self.gain = float(gains.mean()) - 1.96 * float(gains.std()) / math.sqrt(len(gains))
        return normalise(readings, sets) if self.gain > 0 else weights

    @property
    def notes(self) -> tuple[str, ...]:
        """What a user should know beside the numbers, as sentences; after `weights()`."""
        come_together, is_unmeasured = self.gain > COMPANIONS, self.exponent is None
        said = {OUTSIDE_NOTE: self.task.outside is not None, PRIOR_NOTE: is_unmeasured, COMPANION_NOTE: come_together}
        return tuple(note for note, holds in said.items() if holds)

    def covered(self) -> tuple[float, float] | None:
        """Return how many answers lie in the set of the example: their share, and that of the same answers shuffled.

        The answer of a model to an example it has not seen is the likeliest of all classes. None without any.
        """
        asked, covering, by_chance = self._answers["tally"].tolist()
        return (covering / asked, by_chance / asked) if asked else None

    def contradicted(self) -> tuple[int, float, float] | None:
        """Return how many sets of one label are not people's decisions, of how many a model's answer is another label,
        and in how many it is expected to be wrong by its own probabilities: means over the models. None without any.
        """
        asked, other, expected = self._answers["given"].tolist()
        n = int(self._is_given.sum())
        return (n, n * other / asked, n * expected / asked) if asked else None

    @property
    def temperatures(self) -> tuple[float, ...]:
        """For new examples: `equally_likely` ones, where the new one may be like any of the models; () without any."""
        likely = self._answers["likely"]
        return tuple(self._answers["units"] / likely.sum() * equally_likely(likely)) if likely.any() else ()

    def subset(self, k: int) -> Ints:
        """Return the (m,) rows that model k learns from; models 2h and 2h + 1 share none, nor copies."""
        n = len(self.task.candidates)
        order = together(np.random.default_rng([self.seed, 8, k // 2]).permutation(n), self.copies)
        if k % 2:
            order = order[~with_copies(order[: self.rows], self.copies, n)[order]]
        return np.sort(order[: self.rows])

    def _models(self) -> _Together | _One:
        """Return the next models, untrained."""
        if is_batched(self.estimator, self.task):
            widest = max(math.prod(self.task.X.shape[1:]), self.task.candidates.n_classes)
            size = max(1, MOST_NUMBERS_AT_ONCE // (self.rows * widest))
            last = min(self.total, self.done + (size if self.estimator.chosen_settings()["model"] == "linear" else 1))
            return _Together(self.estimator, self.task, [self.subset(k) for k in range(self.done, last)], self.seed)
        seed = int(np.random.SeedSequence([self.seed, 9, self.done]).generate_state(1)[0])
        return _One(self.estimator, self.task, self.subset(self.done), seed)

    def _ask(self, models: _Together | _One, k: int, answers: Arrays, hook: Hook) -> None:
        """Add what the model says of the examples that it has not seen."""
        task, sets, c = self.task, self.task.candidates, self.task.candidates.n_classes
        rows = np.flatnonzero(~with_copies(models.subsets[k], self.copies, len(sets)))
        fitted = self._temperature(models, k, rows, answers)
        if fitted is None:
            return  # it has diverged and says nothing
        temperature, unknown = fitted
        predicted, doubt = np.empty(len(rows), dtype=np.int64), np.empty(len(rows))
        for block in blocks(len(rows), evaluation_batch(task.X.shape, c)):
            hook()
            part = rows[block]
            p = torch.softmax(models.scores(k, task.X[part]).double() / temperature, dim=1).numpy()
            p = (1 - unknown) * p + unknown / c
            positions, some = sets.positions(part), sets.take(part)
            answers["sums"][positions] += p[some.rows, some.indices]
            predicted[block], doubt[block] = p.argmax(axis=1), 1 - p.max(axis=1)
        answers["counts"][rows] += 1
        asked, given = sets.take(rows), self._is_given[rows]
        inside = asked.contains(predicted)
        by_chance = np.bincount(predicted, minlength=c) @ np.bincount(asked.indices, minlength=c) / len(rows)
        answers["tally"] += [len(rows), inside.sum(), by_chance]
        answers["given"] += [given.sum(), (given & ~inside).sum(), doubt[given].sum()]

    def _temperature(self, models: _Together | _One, k: int, rows: Ints, answers: Arrays) -> tuple[float, float] | None:
        """Return the likeliest temperature of a model by unseen examples, and in which share of them it knows nothing.

        None where its scores are not finite.

        How likely others are is added to the answers, and how likely exponents of the prior are.
        """
        chosen = np.random.default_rng([self.seed, 10, self.done + k]).permutation(rows)
        some = np.sort(chosen[: min(TEMPERATURE_ROWS, max(1, MOST_NUMBERS_AT_ONCE // self.task.candidates.n_classes))])
        parts = blocks(len(some), evaluation_batch(self.task.X.shape, self.task.candidates.n_classes))
        scores = torch.cat([models.scores(k, self.task.X[some[part]]) for part in parts]).double()
        if not bool(torch.isfinite(scores).all()):
            return None
        asked = self.task.take(some)
        sets, prior = asked.candidates, asked.prior
        # Scores of methods that are not deep have any scale.
        spread = 1.0 if isinstance(self.estimator, DeepEstimator) else max(float(scores.std()), TINY)
        v = np.ones(sets.nnz) if prior is None else prior.astype(np.float64)
        if prior is not None and self.is_told:
            evidence, v = exponent_evidence(scores / spread, prior, sets)
            answers["evidence"] += evidence
        logits, inside = (scores / spread)[:, None], torch.from_numpy(dense(v, sets))[:, None]
        likeliest, unknown, likely = fitted_temperatures(logits, inside, len(np.unique(self.copies[some])))
        answers["units"] += spread
        answers["likely"] += likely
        return likeliest * spread, unknown


def subset_rows(sets: CandidateSets) -> int:
    """Return how many examples a model learns from: half, `MODEL_ROWS`, or as many as are worth `WORTH_LABELS` labels.

    A set of s labels is worth 1/s of one. Models of 2,000 sets of 15 of 30 labels know too little to be sure.
    """
    worth = float((1 / sets.sizes).mean()) if len(sets) else 1.0
    return min(len(sets) // 2, max(MODEL_ROWS, round(WORTH_LABELS / worth)))


def n_models(estimator: PartialLabelEstimator, task: Task) -> int:
    """Return how many models to train: `SUBSETS`, or as many as cost together no more than the training itself.

    At least two: every example is then unseen by one of them.

    Parameters
    ----------
    estimator
        Whose settings they have.
    task
        The training data.
    """
    n, sets = len(task.candidates), task.candidates
    seconds = fit_seconds(estimator, n, task.X.shape[1:], sets.n_classes, sets.nnz)
    if seconds is not None and seconds <= QUICK_SECONDS:
        return SUBSETS
    return min(SUBSETS, max(2, n // subset_rows(sets) // 2 * 2))


def vote_weights(estimator: PartialLabelEstimator, task: Task, votes: Annotations) -> Weights:
    """Return the posterior of the labels under the voter models, on the candidates: (nnz,).

    With features a classifier trained out of fold is the class prior, unless it measurably repeats mistakes of the
    voters (`pll.annotations.voters`): then, for methods that learn from votes alone, and where it is not known who
    voted, the posterior is that of the votes.

    Where hardly any example has two answers (and few were decided), nothing tells how good the answers are: the only
    one is taken as right, and of others it is not known how sure they are.

    A label that nobody named may be true, so that a set of votes sums to less than 1: five voters who agree may all be
    wrong. A set that lacks a label somebody named is known from elsewhere (a decision, say), and sums to 1.

    Parameters
    ----------
    estimator
        Whose labels they are of.
    task
        The training data.
    votes
        On its examples.
    """
    sets, c = task.candidates, task.candidates.n_classes
    if not _are_checked(task, votes):
        return np.where(sets.sizes[sets.rows] == 1, np.float32(1), np.float32(np.nan))
    if votes.anonymous:
        posterior = exchangeable_posterior(votes)
    else:
        alone, seed = estimator.takes_votes, estimator.seed
        joint = None if alone else aggregate(task.X, votes, seed=seed, decided=task.decided).voters
        if joint is None or joint.repeats_mistakes:
            joint = fit_voters(votes, true_labels=task.decided)
        posterior = joint.posterior
    most = np.nextafter(np.float32(1), np.float32(0))  # 1 is what was given and nothing has judged
    weights = np.minimum(on_candidates(posterior, sets).astype(np.float32), most)
    is_inside = np.isin(votes.rows * c + votes.labels, sets.rows * c + sets.indices)
    is_narrowed = np.bincount(votes.rows[~is_inside], minlength=len(sets)) > 0
    return np.where(is_narrowed[sets.rows], normalise(weights, sets), weights)


def _are_checked(task: Task, votes: Annotations) -> bool:
    """Whether answers are checked by others, or by decisions, in so many examples that it tells how good they are."""
    checked = votes.answers_per_row > 1
    if task.decided is not None:
        checked |= task.decided >= 0
    return bool(checked.sum() >= min(LEAST_PAIRED, len(task.candidates) / 2))


# ---- the models -----------------------------------------------------------------------------------------------------


def is_batched(estimator: PartialLabelEstimator, task: Task) -> bool:
    """Whether the models are trained as PRODEN's batched models are (`pll.training.batched`).

    Parameters
    ----------
    estimator
        Whose settings they have.
    task
        The training data.
    """
    is_proden = isinstance(estimator, DeepEstimator) and estimator.searched_as_proden and not estimator.needs_truth
    is_plain = task.outside is None and task.sample_weight is None
    is_small = subset_rows(task.candidates) * task.candidates.n_classes <= MOST_NUMBERS_AT_ONCE
    return is_proden and is_plain and is_small and can_be_batched(estimator.chosen_settings())


class _Together(Together):
    """Linear or shallow models as one batched model, each with its own examples."""

    def __init__(self, estimator: PartialLabelEstimator, task: Task, subsets: list[Ints], seed: int) -> None:
        assert isinstance(estimator, DeepEstimator)
        self.subsets, self._threads = subsets, estimator.threads
        own = estimator.chosen_settings()
        own |= suited(own, task.X[subsets[0]], task.kind)
        group = ConfigurationGroup(own, ((own["lr"], own["weight_decay"]),) * len(subsets), int(own["epochs"]))
        super().__init__([task.take(rows) for rows in subsets], group, choose_device(estimator.device), seed)
        self._epochs = group.longest

    def train(self, hook: Hook) -> Iterator[float]:
        """Train to the end, yielding the share that is done."""
        while self.models.epoch < self._epochs:
            with computing_threads(self._threads):
                self.models.train_epoch(hook)
            yield self.models.epoch / self._epochs


class _One:
    """One model of any method, by `iter_fit` on its subset."""

    def __init__(self, estimator: PartialLabelEstimator, task: Task, rows: Ints, seed: int) -> None:
        self.subsets = [rows]
        self._estimator = unfitted(estimator).set_params(seed=seed)
        self._task = (task if estimator.needs_truth else replace(task, y=None)).take(rows)

    def train(self, hook: Hook) -> Iterator[float]:
        """Train to the end, yielding the share that is done."""
        for record in self._estimator.iter_fit(self._task, hook=hook):
            yield record.epoch / max(1, self._estimator.total_epochs())
        self._estimator._forget_training()  # not `release`: the model stays on its device, where it is asked

    def scores(self, k: int, X: npt.NDArray[np.float32]) -> Tensor:
        """Return the (B, c) scores for raw features."""
        return torch.from_numpy(self._estimator.predict_scores(X))


def unfitted(estimator: PartialLabelEstimator) -> PartialLabelEstimator:
    """Return an unfitted copy with the settings that were used, what a recipe or a search has chosen included."""
    is_deep = isinstance(estimator, DeepEstimator)
    own = estimator.chosen_settings() | {"recipe": "default"} if is_deep else estimator.fitted_params()
    one: PartialLabelEstimator = clone(estimator).set_params(**own)
    return one

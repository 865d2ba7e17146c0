"""Recipe search: settings of a deep method chosen from candidate sets alone.

The search (`search`) compares configurations, a representation of the features (`scale`), a model, an optimiser,
learning rate and weight decay, by what they predict for inner held-out examples:

- covering rate: share of held-out examples whose argmax over all classes is among their candidates (PLENCH, ICLR 2025,
  names it for this);
- log-likelihood of the candidate set (`pll.methods.set_likelihood`), mean over held-out examples.

Both are computed after a few numbers of epochs, so that the number of epochs is chosen as well. Of the configurations
that do not cover significantly less than the one that covers most (paired, 5 %), the one with the highest
log-likelihood is chosen; one whose training diverges only where all do. No true label is used. All configurations are
trained with PRODEN's objective: methods that differ from it in their update alone get the same settings, so that a
comparison of them is fair.

Configurations of one representation and model are trained as one batched model (`pll.training.batched`). After each
stage the weaker ones are dropped (successive halving). How much is trained is planned from the sizes alone, with the
cost of an operation on a reference core (`BUDGET` seconds of it, or three trainings with the default settings where
that is more), never from a clock: the same data and seed give the same choice on the same machine.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from scipy.stats import binomtest, rankdata
from torch import Tensor

from pll.candidates import CandidateSets
from pll.colors import percent
from pll.methods.defaults import default_batch_size
from pll.methods.recipe import Recipe, Settings, Trial
from pll.methods.set_likelihood import is_significantly_less, set_log_likelihood
from pll.training.batched import BatchedModels, Steps
from pll.training.metrics import Hook, StopTraining, is_diverging, no_hook
from pll.training.models import SHALLOW_WIDTH, forward_flops
from pll.training.scaling import fit_scaling
from pll.training.trainer import Trainer, evaluating
from pll.weights import Weights, dense

BUDGET = 40.0
"""Seconds of a reference core that a search may take."""
ROWS = 5000
"""Maximum number of examples in a search, drawn at random."""
Progress = Callable[[float, str], None]
"""Called with the share of the search that is done and a description of the current work."""


@dataclass(frozen=True, eq=False)
class ConfigurationGroup:
    """Configurations that differ in learning rate and weight decay alone, and are trained together.

    Attributes:
        shared: scale, model, optimiser, momentum and batch size.
        arms: learning rate and weight decay of each.
        longest: epochs at most.
    """

    shared: Settings
    arms: tuple[tuple[float, float], ...]
    longest: int

    def settings(self, arm: int, epochs: int) -> Settings:
        """Return all settings of a configuration."""
        lr, decay = self.arms[arm]
        return {**self.shared, "lr": lr, "weight_decay": decay, "epochs": epochs}


NewTrainer = Callable[
    [Settings, npt.NDArray[np.float32], CandidateSets, Weights | None], tuple[Trainer, torch.nn.Module]
]


@dataclass(frozen=True, eq=False)
class Problem:
    """What a search is about.

    Attributes:
        X: (n, …) raw features.
        candidates: n candidate sets.
        given: settings given explicitly.
        defaults: every setting of the method with its default.
        new_trainer: (settings, X, candidates, prior) → a trainer and the scaling; for models that cannot be batched.
        device: where to compute.
        seed: of the search.
        prior: (nnz,) prior label weights, as `fit` takes them.
        judged: n sets that held-out predictions are compared with; None for the candidates. With true labels it finds
            what settings chosen with the truth would be; `python -m benchmarks.recipes` does.
    """

    X: npt.NDArray[np.float32]
    candidates: CandidateSets
    given: Settings
    defaults: Settings
    new_trainer: NewTrainer
    device: torch.device
    seed: int = 0
    prior: Weights | None = None
    judged: CandidateSets | None = None


LINEAR_STEPS = tuple(product((0.003, 0.01, 0.03, 0.1), (1e-4, 1e-3, 1e-2)))
PERCEPTRON_STEPS = tuple(product((1e-3, 3e-3), (1e-5, 1e-3)))
DEEP_STEPS = tuple(product((0.003, 0.01, 0.05), (1e-4, 1e-3)))
"""Learning rates and weight decays: of linear models, of shallow perceptrons (Adam), of the other models (SGD)."""
SHALLOW = "shallow-mlp"
BATCHED = ("linear", SHALLOW)
EPOCHS = (10, 30, 100, 300)
"""Numbers of epochs after which configurations are compared."""
KEPT = (1.0, 0.35, 0.12, 0.06)
"""Share of the configurations that reach each of them."""


def search(problem: Problem, *, hook: Hook = no_hook, progress: Progress = lambda share, work: None) -> Recipe:
    """Choose settings by covering rate and log-likelihood of held-out candidate sets; see the docstring of the module.

    Args:
        problem: the data, and what is fixed.
        hook: called between mini-batches; may wait. `StopTraining` ends the search with the best so far.
        progress: told how far the search is.

    Raises:
        UserError: an explicit setting that does not fit the data.
    """
    plan = _plan(problem)
    if plan is None:
        note = "The search would take too long for this model here; the default settings are used."
        return Recipe("auto", {}, problem.given, seed=problem.seed, notes=(note,))
    contest = _Contest(problem, plan, progress)
    try:
        complete = contest.run(hook)
    except StopTraining:
        complete = False
    return contest.result(complete)


@dataclass(frozen=True, eq=False)
class _SearchPlan:
    """How much is trained: sizes alone decide it."""

    groups: tuple[ConfigurationGroup, ...]
    examples: int
    folds: int
    seconds: float
    budget: float


def _plan(problem: Problem) -> _SearchPlan | None:
    """Return the most thorough plan within the budget; None where not even the smallest fits."""
    n = len(problem.candidates)
    groups = _groups(problem)
    budget = max(BUDGET, 3 * _cost(problem, _default_group(problem), n, (1.0,), (int(problem.defaults["epochs"]),)))
    sizes = (min(n, ROWS), *(size for size in (3000, 1500, 800) if size < n))
    for size, folds, thrift in product(sizes, (4, 2, 1), (1, 3)):
        if folds == 4 and size > 1500:
            continue
        slim = tuple(replace(group, arms=group.arms[::thrift]) for group in groups)
        trained = size * (folds - 1) / folds if folds > 1 else size * 0.75
        seconds = folds * sum(_cost(problem, group, int(trained), KEPT, EPOCHS) for group in slim)
        if seconds <= budget and size >= 2:
            return _SearchPlan(slim, size, folds, seconds, budget)
    return None


def inner_parts(
    n: int, examples: int, folds: int, seed: int
) -> list[tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]]:
    """Return (rows to train on, rows held out) of every inner part of a search, as a recipe names it.

    Args:
        n: number of all examples.
        examples: how many of them the search uses.
        folds: number of parts; of one part a quarter is held out.
        seed: of the search.

    >>> [(len(train), len(held)) for train, held in inner_parts(10, 8, 2, 0)]
    [(4, 4), (4, 4)]
    """
    rows = np.sort(np.random.default_rng([seed, 3]).permutation(n)[:examples])
    part = np.random.default_rng([seed, 4]).permutation(len(rows)) % (folds if folds > 1 else 4)
    return [(rows[part != k], rows[part == k]) for k in range(folds)]


def _groups(problem: Problem) -> tuple[ConfigurationGroup, ...]:
    """Return what is searched, the default settings first."""
    given, defaults, shape = problem.given, problem.defaults, problem.X.shape[1:]
    batch = given.get("batch_size", default_batch_size(len(problem.X), steps=12))
    is_image = len(shape) > 1
    model = given.get("model")
    scales = (given["scale"],) if "scale" in given else _scales(problem.X, defaults["scale"])
    groups = [_default_group(problem)]
    for name in BATCHED if model is None else (model,):
        adam = given.get("optimiser", "adam" if name == SHALLOW else "sgd") == "adam"
        steps = PERCEPTRON_STEPS if adam else LINEAR_STEPS if name == "linear" else DEEP_STEPS
        if "lr" in given or "weight_decay" in given:
            rates = [given["lr"]] if "lr" in given else [rate for rate, _ in steps]
            decays = [given["weight_decay"]] if "weight_decay" in given else [decay for _, decay in steps]
            steps = tuple(product(dict.fromkeys(rates), dict.fromkeys(decays)))
        mine = scales if name == "linear" else [scale for scale in scales if "+" not in scale][: 1 if is_image else 2]
        if _is_batched(problem, name):
            longest = given.get("epochs", EPOCHS[-1] if name == "linear" else EPOCHS[-2])
        else:
            mine, longest = mine[:1], given.get("epochs", EPOCHS[1])
        for scale in mine or scales[:1]:
            shared = {
                "model": name,
                "scale": scale,
                "optimiser": "adam" if adam else "sgd",
                "batch_size": batch,
                "momentum": given.get("momentum", defaults["momentum"]),
            }
            groups.append(ConfigurationGroup(shared, steps, longest))
    return tuple(groups)


def _default_group(problem: Problem) -> ConfigurationGroup:
    every = problem.defaults | problem.given
    shared = {name: every[name] for name in ("model", "scale", "optimiser", "batch_size", "momentum")}
    return ConfigurationGroup(shared, ((every["lr"], every["weight_decay"]),), every["epochs"])


def _scales(X: npt.NDArray[np.float32], default: str) -> tuple[str, ...]:
    """Return representations to try, the default first."""
    if X.ndim == 4:
        return ("auto", "minmax")
    every = ("zscore", "quantile", "zscore+rbf", "quantile+rbf", "unit")
    return tuple(sorted(every, key=lambda scale: scale != default))


def _is_batched(problem: Problem, model: Any) -> bool:
    plain = {"loss": "ce", "lr_decay": 1.0, "augment": "none"}
    same = all(problem.given.get(name, value) == value for name, value in plain.items())
    return isinstance(model, str) and model in BATCHED and same


def _cost(problem: Problem, group: ConfigurationGroup, n: int, kept: Sequence[float], epochs: Sequence[int]) -> float:
    """Estimate the seconds of a reference core that the stages of a group take."""
    shape, c = problem.X.shape[1:], problem.candidates.n_classes
    model, batch = group.shared["model"], group.shared["batch_size"]
    d = math.prod(shape) + (300 if "+" in group.shared["scale"] else 0)
    steps = -(-n // batch)
    if _is_batched(problem, model):
        hidden = SHALLOW_WIDTH if model == SHALLOW else 0
        parameters = d * hidden + hidden * c if hidden else d * c
        one = n * (6 * parameters / 3e10 + 3e-8 * (c + hidden)) + steps * parameters * (1.5e-8 if hidden else 8e-9)
        fixed = steps * 4e-4
    else:
        one, fixed = 3 * n * forward_flops(model, shape, c) / 3e10 + steps * 2e-3, 0.0
    seconds, before = 0.0, 0
    for share, until in zip(kept, epochs, strict=True):
        until = min(until, group.longest)
        alive = max(1.0, share * len(group.arms))
        seconds += (until - before) * (alive * one + fixed)
        before = until
    return seconds


class _Batched:
    """A group as one batched model, on scaled features."""

    def __init__(self, problem: Problem, group: ConfigurationGroup, train: npt.NDArray[np.int64]) -> None:
        shared = group.shared
        self._scaling = fit_scaling(problem.X[train], shared["scale"]).to(problem.device)
        sets, prior = problem.candidates.take(train), _prior_of(problem, train)
        self._models = BatchedModels(
            self._scaled(problem, train),
            torch.from_numpy(sets.mask()).to(problem.device),
            [Steps(lr, decay, shared["momentum"]) for lr, decay in group.arms],
            hidden=SHALLOW_WIDTH if shared["model"] == SHALLOW else 0,
            optimiser=shared["optimiser"],
            batch_size=shared["batch_size"],
            seed=problem.seed,
            prior=None if prior is None else torch.from_numpy(dense(prior, sets)).to(problem.device),
        )
        self.keep = self._models.keep

    def train_until(self, epoch: int, hook: Hook) -> list[float]:
        """Return the mean training loss of each configuration in the last epoch."""
        while self._models.epoch < epoch - 1:
            self._models.train_epoch(hook)
        losses = self._models.train_epoch(hook, with_loss=True)
        return [] if losses is None else [float(loss) for loss in losses]

    def logits(self, problem: Problem, rows: npt.NDArray[np.int64]) -> Tensor:
        return self._models.logits(self._scaled(problem, rows))

    def _scaled(self, problem: Problem, rows: npt.NDArray[np.int64]) -> Tensor:
        with torch.no_grad():
            scaled: Tensor = self._scaling(torch.from_numpy(problem.X[rows]).to(problem.device))
        return scaled.flatten(1)


class _OneByOne:
    """A group as one trainer a configuration, for models that cannot be batched."""

    def __init__(self, problem: Problem, group: ConfigurationGroup, train: npt.NDArray[np.int64]) -> None:
        sets, prior = problem.candidates.take(train), _prior_of(problem, train)
        self._pairs = [
            problem.new_trainer(group.settings(arm, group.longest), problem.X[train], sets, prior)
            for arm in range(len(group.arms))
        ]

    def train_until(self, epoch: int, hook: Hook) -> list[float]:
        losses = []
        for trainer, _ in self._pairs:
            loss = 0.0
            trainer.network.train()
            while trainer.epoch < epoch:
                for units in trainer.batches_left():
                    hook()
                    with trainer.stream.drawing():
                        trainer.step(units)
                loss = trainer.end_epoch()
            losses.append(loss)
        return losses

    def keep(self, models: Sequence[int]) -> None:
        self._pairs = [self._pairs[k] for k in models]

    def logits(self, problem: Problem, rows: npt.NDArray[np.int64]) -> Tensor:
        outputs = []
        for trainer, scaling in self._pairs:
            with evaluating(trainer.network):
                parts = torch.split(torch.from_numpy(problem.X[rows]), 256)
                outputs.append(torch.cat([trainer.network(scaling(part.to(problem.device))).float() for part in parts]))
        return torch.stack(outputs, dim=1)


@dataclass(eq=False)
class _Configuration:
    """One configuration in the contest, with what it scored after each stage.

    Attributes:
        covered: number of epochs → (h,) bool, held-out examples whose prediction is a candidate.
        log_likelihood: number of epochs → (h,) of the candidate sets.
        evidence: number of epochs → (h,) log Σ_j p_ij g_j(x_i), p the prior or uniform on the set.
        agreed: number of epochs → (h,) prior of the predicted label, 0 off the set.
        loss: number of epochs → mean training loss of the last one.
    """

    group: int
    arm: int
    covered: dict[int, npt.NDArray[np.bool_]]
    log_likelihood: dict[int, npt.NDArray[np.float64]]
    evidence: dict[int, npt.NDArray[np.float32]] = field(default_factory=dict)
    agreed: dict[int, npt.NDArray[np.float32]] = field(default_factory=dict)
    loss: dict[int, float] = field(default_factory=dict)


class _Contest:
    """The search at work."""

    def __init__(self, problem: Problem, plan: _SearchPlan, progress: Progress) -> None:
        self.problem, self.plan, self.progress = problem, plan, progress
        self.judged = problem.candidates if problem.judged is None else problem.judged
        self.parts = inner_parts(len(problem.candidates), plan.examples, plan.folds, problem.seed)
        self.held = self.judged.take(np.concatenate([held for _, held in self.parts]))
        self.entries = [
            _Configuration(g, arm, {}, {}) for g, group in enumerate(plan.groups) for arm in range(len(group.arms))
        ]
        self.alive = list(range(len(self.entries)))
        self.trials: list[tuple[int, int, int]] = []  # entry, epochs, stage
        self._done = 0.0
        loss = (problem.defaults | problem.given).get("loss")
        self._top_loss = math.log(problem.candidates.n_classes) if loss == "ce" else None

    def run(self, hook: Hook) -> bool:
        """Train all stages; return whether it came to the end."""
        groups = self.plan.groups
        runs = [[self._start(group, train) for train, _ in self.parts] for group in groups]
        for stage, epochs in enumerate(EPOCHS, start=1):
            if stage > 1:
                self._drop(KEPT[stage - 1], runs)
            for g, group in enumerate(groups):
                mine = [e for e in self.alive if self.entries[e].group == g]
                until = min(epochs, group.longest)
                if mine and until not in self.entries[mine[0]].covered:
                    self._advance(g, mine, runs[g], until, stage, hook)
        return True

    def _start(self, group: ConfigurationGroup, train: npt.NDArray[np.int64]) -> _Batched | _OneByOne:
        batched = _is_batched(self.problem, group.shared["model"])
        return (_Batched if batched else _OneByOne)(self.problem, group, train)

    def _advance(
        self, g: int, mine: list[int], models: list[_Batched | _OneByOne], until: int, stage: int, hook: Hook
    ) -> None:
        """Train one group to this epoch in all folds, and measure it."""
        group = self.plan.groups[g]
        share = group.shared
        self.progress(
            min(self._done / max(self.plan.seconds, 1e-9), 0.99),
            f"{len(self.alive)} of {len(self.entries)} configurations left; {share['model']} on {share['scale']}, "
            f"{until} epochs",
        )
        found, losses = [], []
        for (_, held), model in zip(self.parts, models, strict=True):
            losses.append(model.train_until(until, hook))
            logits = model.logits(self.problem, held)
            found.append(_measured(logits, self.judged.take(held), self._prior_judged(held)))
        inside, log_g, evidence, agreed = (np.concatenate(arrays) for arrays in zip(*found, strict=True))
        before = max(self.entries[mine[0]].covered, default=0)
        n = len(self.parts[0][0])
        for place, e in enumerate(mine):
            self.entries[e].covered[until] = inside[:, place]
            self.entries[e].log_likelihood[until] = set_log_likelihood(log_g[:, place], self.held, self.problem.seed)
            self.entries[e].evidence[until] = evidence[:, place].astype(np.float32)
            self.entries[e].agreed[until] = agreed[:, place].astype(np.float32)
            self.entries[e].loss[until] = float(np.mean([loss[place] for loss in losses]))
            self.trials.append((e, until, stage))
        ran = replace(group, arms=tuple(group.arms[self.entries[e].arm] for e in mine))
        self._done += len(self.parts) * (
            _cost(self.problem, ran, n, (1.0,), (until,))
            - (_cost(self.problem, ran, n, (1.0,), (before,)) if before else 0.0)
        )

    def _prior_judged(self, rows: npt.NDArray[np.int64]) -> Weights | None:
        return None if self.problem.judged is not None else _prior_of(self.problem, rows)

    def _without_features(self) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Return (h,) each: what `evidence` and `agreed` are without features.

        The first by class frequencies, or equal ones where these do better; the second of the best constant label.
        """
        equal = np.full(self.problem.candidates.n_classes, 1 / self.problem.candidates.n_classes)
        evidence, tables = [], []
        for train, held in self.parts:
            frequencies = class_frequencies(self.problem.candidates.take(train), _prior_of(self.problem, train))
            sets, prior = self.judged.take(held), self._prior_judged(held)
            table = dense(sets.uniform_weights() if prior is None else prior, sets).astype(np.float64)  # (h, c)
            evidence.append(np.log(np.maximum(table @ np.stack((frequencies, equal), axis=1), math.exp(-50.0))))
            tables.append(table)
        both, every = np.concatenate(evidence), np.concatenate(tables)
        return both[:, both.mean(axis=0).argmax()], every[:, every.sum(axis=0).argmax()]

    def _drop(self, share: float, runs: list[list[_Batched | _OneByOne]]) -> None:
        """Keep the best configurations, and the default."""
        scores = self._scores([(e, max(self.entries[e].covered)) for e in self.alive])
        count = max(math.ceil(share * len(self.entries)), min(4, len(self.alive)))
        best = np.argsort(-scores, kind="stable")[:count]
        kept = sorted({0, *(self.alive[k] for k in best)})
        for g, models in enumerate(runs):
            mine = [e for e in self.alive if self.entries[e].group == g]
            places = [place for place, e in enumerate(mine) if e in kept]
            if not places:
                models.clear()  # frees its features
            elif len(places) < len(mine):
                for model in models:
                    model.keep(places)
        self.alive = kept

    def _scores(self, trials: Sequence[tuple[int, int]]) -> npt.NDArray[np.float64]:
        """Return the covering rate of trials (entry, epochs); of equals the likelier one is ahead.

        What diverges is behind all others.
        """
        covering = [self.entries[e].covered[epochs].mean() for e, epochs in trials]
        likelihood = [self.entries[e].log_likelihood[epochs].mean() for e, epochs in trials]
        return np.asarray(covering + 1e-9 * rankdata(likelihood)) - 2.0 * np.asarray([*map(self._diverges, trials)])

    def _diverges(self, trial: tuple[int, int]) -> bool:
        e, epochs = trial
        return is_diverging(self.entries[e].loss[epochs], self._top_loss)

    def _best(self, trials: Sequence[tuple[int, int]]) -> tuple[int, int]:
        """Return the likeliest of the trials in the running; of equals the first."""
        return max(self._running(trials), key=lambda trial: self.entries[trial[0]].log_likelihood[trial[1]].mean())

    def _running(self, trials: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
        """Return the trials that do not cover significantly less than the one that covers most.

        Where the truth judges, only that one: what covers a single label is right.
        """
        scores = self._scores(trials)
        top = trials[int(scores.argmax())]
        if self.problem.judged is not None:
            return [top]
        most = self.entries[top[0]].covered[top[1]]
        return [
            (e, epochs)
            for e, epochs in trials
            if self._diverges((e, epochs)) == self._diverges(top)
            and not is_significantly_less(self.entries[e].covered[epochs], most)
        ]

    def result(self, complete: bool) -> Recipe:
        """Return the best so far."""
        given, problem = self.problem.given, self.problem
        common: dict[str, Any] = {"given": given, "seed": problem.seed, "complete": complete, "folds": len(self.parts)}
        if not self.trials:
            note = "The search was stopped before anything was compared; the default settings are used."
            return Recipe("auto", {}, notes=(note,), **common)
        finalists = {*self.alive, 0}  # some reached their last epoch in an earlier stage
        trials = [(e, epochs) for e, epochs, _ in self.trials if e in finalists]
        e, epochs = self._best(trials)
        chosen = self.entries[e]
        rate, h = float(chosen.covered[epochs].mean()), len(chosen.covered[epochs])
        default = self.entries[0].covered
        constant = float(np.bincount(self.held.indices, minlength=self.held.n_classes).max() / h)
        settings = self.plan.groups[chosen.group].settings(chosen.arm, epochs)
        settings = {name: value for name, value in settings.items() if name not in given}
        found = binomtest(int(chosen.covered[epochs].sum()), h).proportion_ci(method="wilson")
        interval = (float(found.low), float(found.high))
        evidence, agreed = self._without_features()
        gain, gain_interval = _mean_interval(chosen.evidence[epochs] - evidence)
        warnings = [chance_note(rate, interval, constant)]
        if problem.prior is not None and gain_interval[0] <= 0:
            agreement = _mean_interval(chosen.agreed[epochs] - agreed)[1]
            warnings.append(VOTE_NOTE if agreement[0] <= 0 else "")
        notes = [] if complete else ["The search was stopped; these are the best settings so far."]
        return Recipe(
            "auto",
            settings,
            covering_rate=rate,
            interval=interval,
            default_covering_rate=None if not default else float(default[max(default)].mean()),
            constant_covering_rate=constant,
            certain=self._certainty(chosen, epochs, trials),
            examples=self.plan.examples,
            held_out=h,
            notes=tuple(notes),
            warnings=tuple(filter(None, warnings)),
            gain=gain,
            gain_interval=gain_interval,
            trials=tuple(
                Trial(
                    self.plan.groups[self.entries[k].group].settings(self.entries[k].arm, after),
                    stage,
                    float(self.entries[k].covered[after].mean()),
                    float(self.entries[k].log_likelihood[after].mean()),
                    self.entries[k].loss[after],
                )
                for k, after, stage in self.trials
            ),
            **common,
        )

    def _certainty(self, chosen: _Configuration, epochs: int, trials: Sequence[tuple[int, int]]) -> float:
        """Return the share of bootstrap samples in which it is as likely as every other group's best in the running."""
        others: dict[int, npt.NDArray[np.float64]] = {}
        for e, after in self._running(trials):
            entry = self.entries[e]
            best = others.get(entry.group)
            if entry.group != chosen.group and (best is None or entry.log_likelihood[after].mean() > best.mean()):
                others[entry.group] = entry.log_likelihood[after]
        if not others:
            return 1.0
        ahead = chosen.log_likelihood[epochs] - np.stack(list(others.values()))  # (G, h)
        draws = np.random.default_rng([self.problem.seed, 5]).multinomial(
            ahead.shape[1], np.full(ahead.shape[1], 1 / ahead.shape[1]), 200
        )
        return float((draws @ ahead.T >= 0).all(axis=1).mean())


def chance_note(rate: float | None, interval: tuple[float, float], constant: float) -> str:
    """Return a warning where a covering rate may be that of a constant label; "" where it is higher."""
    if rate is None or interval[0] > constant:
        return ""
    return (
        f"No settings do better than chance on held-out examples: predictions are among the candidates of "
        f"{percent(rate)} (95 % interval {percent(interval[0])} to {percent(interval[1])}), a constant label of "
        f"{percent(constant)}. The features may say nothing about the labels."
    )


def _prior_of(problem: Problem, rows: npt.NDArray[np.int64]) -> Weights | None:
    return None if problem.prior is None else problem.prior[problem.candidates.positions(rows)]


def class_frequencies(sets: CandidateSets, prior: Weights | None = None) -> npt.NDArray[np.float64]:
    """Return (c,) class frequencies of greatest likelihood, Σ_i log Σ_j p_ij π_j, found by EM without features.

    Args:
        sets: n candidate sets.
        prior: (nnz,) p, normalised on each set; None for uniform.

    >>> sets = CandidateSets.from_lists([[0], [0, 1], [1], [0, 1]], n_classes=2)
    >>> class_frequencies(sets).round(3).tolist()
    [0.5, 0.5]
    """
    p = (sets.uniform_weights() if prior is None else prior).astype(np.float64)
    frequencies = np.full(sets.n_classes, 1 / sets.n_classes)
    for _ in range(100):
        w = p * frequencies[sets.indices]
        w /= np.maximum(np.add.reduceat(w, sets.indptr[:-1]), 1e-300)[sets.rows]
        frequencies = np.bincount(sets.indices, w, sets.n_classes) / len(sets)
    return frequencies


VOTE_NOTE = (
    "The features add nothing that is measurable to the votes: held-out votes are predicted no better than by class "
    "frequencies alone, so that the labels are about as good as the plain vote's."
)


def _mean_interval(values: npt.NDArray[Any]) -> tuple[float, tuple[float, float]]:
    """Return the mean and its 95 % interval."""
    mean, half = float(values.mean()), 1.96 * float(values.std()) / math.sqrt(len(values))
    return mean, (mean - half, mean + half)


def _measured(
    logits: Tensor, sets: CandidateSets, prior: Weights | None
) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.float64], npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return figures (h, M) of logits (h, M, c).

    Whether the prediction is a candidate; log g of the candidates, (nnz, M); log Σ_j p_ij g_j and p of the prediction,
    where p is the prior or uniform on the set.
    """
    mask = torch.from_numpy(sets.mask()).to(logits.device)[:, None, :]
    p = torch.from_numpy(dense(sets.uniform_weights() if prior is None else prior, sets)).to(logits.device)[:, None, :]
    finite = torch.nan_to_num(logits, nan=0.0, posinf=1e30, neginf=-1e30)
    best = finite.argmax(dim=2, keepdim=True)
    inside = torch.gather(mask.expand_as(finite), 2, best)[:, :, 0]
    agreed = torch.gather(p.expand_as(finite), 2, best)[:, :, 0]
    broken = ~torch.isfinite(logits).all(dim=2)
    log_g = torch.log_softmax(finite.double(), dim=2).masked_fill(broken[:, :, None], -math.log(finite.shape[2]))
    evidence = torch.logsumexp(log_g + p.double().log(), dim=2).clamp_min(-50.0).masked_fill(broken, -50.0)
    rows, labels = (torch.tensor(entries, device=logits.device) for entries in (sets.rows, sets.indices))
    return (
        (inside & ~broken).cpu().numpy(),
        log_g[rows, :, labels].cpu().numpy(),
        evidence.cpu().numpy(),
        agreed.masked_fill(broken, 0.0).double().cpu().numpy(),
    )

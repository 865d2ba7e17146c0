"""Recipes: how the settings of a deep method are chosen, the record of a choice, and the search of *auto*.

`default` takes the method's defaults, `paper` the published settings of the data set (`pll.methods.published`),
`auto` searches, the path of a recipe.json takes what was chosen before (`stored`). A setting that the user sets
stays in every recipe.

The search (`search`) compares configurations, a representation of the features (`scale`), a model, an optimiser,
learning rate and weight decay, by what they predict for inner held-out examples (the *validation* part):

- covering rate: share of held-out examples whose argmax over all classes is among their candidates (PLENCH, ICLR 2025,
  names it for this);
- log-likelihood of the candidate set with *flip rates* r_jb, the rates at which label b joins the sets of class j,
  log P(S | x) = log Σ_{j∈S} p_j Π_{b∈S, b≠j} r_jb Π_{b∉S} (1 − r_jb), mean over held-out examples (`set_likelihood`);
  the logits are divided by the temperature that makes log Σ_S p largest: a model must not lose because it is too sure
  of itself. Where labels come in pairs, a model that takes one label for two classes covers as much, but explains
  the sets less well.

The likelihood decides after a few numbers of epochs which configurations go on, and in the end which one is chosen, at
one of the last numbers of epochs: label weights settle late. The defaults stay where no other is likelier by more than
the standard error of the paired difference; what diverges is chosen only where all do.

Where labels have companions, that is where rates by class explain the held-out sets better than one rate for all, by
more than `COMPANIONS` nats (97.5 %), only linear models without radial basis functions are chosen. More flexible ones
then learn sets, companions included: such a model covers more and its label weights settle on companions, which no
held-out set can tell. No true label is used.

All configurations are trained with PRODEN's objective, those of one representation and model as one batched model
(`pll.training.batched`). After each stage the weaker ones are dropped (successive halving), and those that would take
longer than the plan has for the next stage: the most likely ones may all be of the slowest model. A method with another
objective is then trained itself with the best few of them and with its defaults, and judged by its own predictions.

How much is trained is planned from the sizes alone, with the cost of an operation on a reference core (`BUDGET` seconds
of it, or three trainings with the default settings where that is more), never from a clock: the same data and seed give
the same choice on the same machine. The learning rates and weight decays are few, so that none is ever left out: fewer
examples and parts are taken first, then representations and models; `Recipe.notes` lists them.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from scipy.stats import binomtest
from torch import Tensor

from pll.candidates import CandidateSets
from pll.colors import percent
from pll.errors import UserError
from pll.methods.base import PartialLabelEstimator, Task
from pll.methods.defaults import default_batch_size
from pll.methods.set_likelihood import likeliest_temperature, set_likelihood
from pll.training.batched import BatchedModels, Steps
from pll.training.metrics import Hook, StopTraining, is_diverging, no_hook
from pll.training.models import SHALLOW_WIDTH, forward_flops
from pll.training.scaling import fit_scaling
from pll.training.trainer import Trainer, evaluating
from pll.weights import Weights, dense

RECIPES = ("auto", "default", "paper")

SEARCHED = (
    "model", "scale", "optimiser", "lr", "weight_decay", "momentum", "batch_size", "epochs",
    "loss", "lr_decay", "lr_decay_every", "augment",
)  # fmt: skip
"""Settings that a recipe may choose, or depends on."""
Settings = dict[str, Any]
Values = npt.NDArray[Any]


@dataclass(frozen=True)
class Trial:
    """One configuration after so many epochs, as measured on held-out examples.

    Attributes
    ----------
    settings
        Of the method.
    stage
        1, 2, …; later stages have fewer configurations.
    covering_rate
        Share in [0, 1].
    log_likelihood
        Mean of log P(S | x) of held-out examples, with flip rates; see `set_likelihood`.
    loss
        Mean training loss of the last epoch.
    """

    settings: Settings
    stage: int
    covering_rate: float
    log_likelihood: float
    loss: float | None


@dataclass(frozen=True)
class Recipe:
    """Settings that were chosen, and why; `as_json` is the content of recipe.json.

    Attributes
    ----------
    recipe
        One of `RECIPES`.
    settings
        Chosen settings; those not named keep the method's defaults.
    fixed
        Settings set by the user, which were not searched.
    covering_rate, interval
        Of the chosen configuration on held-out examples, with its 95 % interval (Wilson). The choice was made on the
        same examples, so the figure is slightly optimistic.
    default_covering_rate
        That of the default settings.
    constant_covering_rate
        That of the best constant label.
    certain
        Share of bootstrap samples of the held-out examples in which the chosen configuration is at least as likely as
        those of other representations or models; 1 where there is no other.
    examples, validated, folds
        How many examples were used, how many of them for validation, and in how many parts.
    seed
        Of the search.
    complete
        False where it was stopped.
    notes
        What a user should know, as sentences.
    warnings
        Sentences on features that say nothing that is measurable: nothing does better than a constant label, or than
        the votes alone.
    gain
        By how much features raise the mean log-likelihood of a held-out candidate set, weighted with its prior where
        there is one, over that by class frequencies alone, in nats.
    gain_interval
        Its 95 % interval.
    trials
        All that was tried, in order; at the end, in a stage of their own, what the method itself was tried with where
        its objective is not PRODEN's.
    seconds
        That the search took.
    """

    recipe: str
    settings: Settings
    fixed: Settings
    covering_rate: float | None = None
    interval: tuple[float, float] | None = None
    default_covering_rate: float | None = None
    constant_covering_rate: float | None = None
    certain: float | None = None
    examples: int = 0
    validated: int = 0
    folds: int = 0
    seed: int = 0
    complete: bool = True
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    gain: float | None = None
    gain_interval: tuple[float, float] | None = None
    trials: tuple[Trial, ...] = ()
    seconds: float = field(default=0.0, compare=False)

    def messages(self) -> tuple[str, ...]:
        """Return what was chosen and how sure the choice is, as sentences for a page or a shell."""
        if not self.settings:
            return (*self.warnings, *self.notes)
        chosen = ", ".join(
            f"{name.replace('_', ' ')} {value:g}" if isinstance(value, float) else f"{name.replace('_', ' ')} {value}"
            for name, value in self.settings.items()
        )
        duration = f" (found in {self.seconds:.0f} s)" if self.seconds else ""
        sentences = [f"Settings of the recipe {self.recipe}{duration}: {chosen}."]
        if self.covering_rate is not None and self.interval is not None:
            low, high = self.interval
            default = self.default_covering_rate
            sentences.append(
                f"On {self.validated:,} held-out examples {percent(self.covering_rate)} of the predictions are among "
                f"the candidates (95 % interval {percent(low)} to {percent(high)}"
                + ("" if default is None else f"; default settings {percent(default)}")
                + (
                    ""
                    if self.constant_covering_rate is None
                    else f"; best constant label {percent(self.constant_covering_rate)}"
                )
                + ")."
            )
        if self.certain is not None:
            sentences.append(
                f"In {percent(self.certain, 0)} of bootstrap samples of them no other representation or model explains "
                "the candidate sets better."
            )
        return (*sentences, *self.warnings, *self.notes)

    def as_json(self) -> dict[str, Any]:
        """Return plain values."""
        return asdict(self)

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Recipe:
        """Return the recipe of plain values, the inverse of `as_json`.

        Raises
        ------
        TypeError, KeyError
            Not values of `as_json`.
        """
        interval, gain_interval = values["interval"], values["gain_interval"]
        return cls(
            **{
                **values,
                "interval": None if interval is None else tuple(interval),
                "gain_interval": None if gain_interval is None else tuple(gain_interval),
                "notes": tuple(values["notes"]),
                "warnings": tuple(values["warnings"]),
                "trials": tuple(Trial(**trial) for trial in values["trials"]),
            }
        )


def read_recipe(path: Path) -> Recipe:
    """Return the recipe of a recipe.json.

    Raises
    ------
    UserError
        The file cannot be read, or is none.
    """
    try:
        return Recipe.from_json(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise UserError(f"{path} is not a recipe.json of a run ({error}).") from error


def stored(path: Path, fixed: Settings) -> Recipe:
    """Return the recipe of a recipe.json as one for another fit; settings set by the user (`fixed`) stay.

    Raises
    ------
    UserError
        The file cannot be read, or is none.
    """
    recipe = read_recipe(path)
    whole = recipe.fixed | recipe.settings
    unknown = [name for name in whole if name not in SEARCHED]
    if unknown:
        raise UserError(f"{path} has a setting {unknown[0]!r}, which no recipe chooses.")
    settings = {name: value for name, value in whole.items() if name not in fixed}
    return replace(recipe, settings=settings, fixed=fixed, notes=(*recipe.notes, f"The settings are those of {path}."))


# ---- the search ---------------------------------------------------------------------------------------------------

BUDGET = 40.0
"""Seconds of a reference core that a search may take."""
LEAST = 8
"""Fewer examples are not searched on."""
PLANS = ((5000, 2), (3000, 2), (5000, 1), (1500, 4), (1500, 2), (3000, 1), (1500, 1), (800, 4), (800, 2), (800, 1))
"""Numbers of examples and parts, the most thorough first. Of one part a quarter is held out, of several all."""
SMALL = 1500
"""Up to so many examples are held out in four parts."""
Progress = Callable[[float, str], None]
"""Called with the share of the search that is done and a description of the current work."""


@dataclass(frozen=True, eq=False)
class ConfigurationGroup:
    """Configurations that differ in learning rate and weight decay alone, and are trained together.

    Attributes
    ----------
    shared
        Scale, model, optimiser, momentum and batch size.
    arms
        Learning rate and weight decay of each.
    longest
        Epochs at most.
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

    Attributes
    ----------
    X
        (n, …) raw features.
    candidates
        n candidate sets.
    fixed
        Settings set by the user.
    defaults
        Every setting of the method with its default.
    new_trainer
        (settings, X, candidates, prior) → a trainer and the scaling; for models that cannot be batched.
    device
        Where to compute.
    seed
        Of the search.
    prior
        (nnz,) prior label weights, as `fit` takes them.
    new_estimator
        Settings → the method, unfitted, where its objective is not PRODEN's; None where it is.
    own_rate
        Whether that method's steps are of another scale than PRODEN's: it keeps its learning rate.
    """

    X: npt.NDArray[np.float32]
    candidates: CandidateSets
    fixed: Settings
    defaults: Settings
    new_trainer: NewTrainer
    device: torch.device
    seed: int = 0
    prior: Weights | None = None
    new_estimator: Callable[[Settings], PartialLabelEstimator] | None = None
    own_rate: bool = False


LINEAR_STEPS = ((0.1, 1e-4), (0.1, 1e-3), (0.1, 1e-2), (0.1, 2e-2), (0.03, 2e-2), (0.3, 1e-3))
PERCEPTRON_STEPS = tuple(product((1e-3, 3e-3), (1e-5, 1e-3)))
DEEP_STEPS = tuple(product((0.003, 0.01, 0.05), (1e-4, 1e-3)))
"""Learning rates and weight decays: of linear models, of shallow perceptrons (Adam), of the other models (SGD)."""
SHALLOW = "shallow-mlp"
BATCHED = ("linear", SHALLOW)
COMPANIONS = 0.2
"""Gain of rates by class in log-likelihood; -.04 to .08 for uniform flips, .5 to 2.5 on real sets and pairs."""
OWN = 3
"""Configurations of PRODEN's search that another method is tried with, beside its defaults."""
EPOCHS = (10, 30, 100, 300)
"""Numbers of epochs after which configurations are compared."""
SURVIVING = (1.0, 0.35, 0.12, 0.06)
"""Share of the configurations that reach each of them."""


def search(problem: Problem, *, hook: Hook = no_hook, progress: Progress = lambda share, work: None) -> Recipe:
    """Choose settings by the log-likelihood of held-out candidate sets; see the docstring of the module.

    Parameters
    ----------
    problem
        The data, and what is fixed.
    hook
        Called between mini-batches; may wait. `StopTraining` ends the search with the best so far.
    progress
        Called with the share of the search that is done, and a description of the current work.

    Raises
    ------
    UserError
        An explicit setting that does not fit the data.
    """
    started = time.perf_counter()
    if len(problem.candidates) < LEAST:
        note = f"Settings are compared on {LEAST} examples or more; the default settings are used."
        return Recipe("auto", {}, problem.fixed, seed=problem.seed, notes=(note,))
    contest = _Contest(problem, _plan(problem), progress)
    try:
        complete = contest.run(hook)
        if complete:
            contest.judge_own(hook)
    except StopTraining:
        complete = False
    return replace(contest.result(complete), seconds=round(time.perf_counter() - started, 1))


@dataclass(frozen=True, eq=False)
class _SearchPlan:
    """How much is trained: sizes alone decide it.

    Attributes
    ----------
    groups
        What is tried, the default settings first.
    examples, folds
        How many examples, and in how many parts.
    seconds, budget
        Of a reference core.
    notes
        What does not fit the budget, as sentences.
    """

    groups: tuple[ConfigurationGroup, ...]
    examples: int
    folds: int
    seconds: float
    budget: float
    notes: tuple[str, ...] = ()


def _plan(problem: Problem) -> _SearchPlan:
    """Return the most thorough plan within the budget; the smallest, and by how much it exceeds it, where none is.

    Fewer examples and parts come first, then fewer representations and models, the default's last.
    """
    n = len(problem.candidates)
    groups = _groups(problem)
    budget = max(BUDGET, 3 * _cost(problem, _default_group(problem), n, (1.0,), (int(problem.defaults["epochs"]),)))
    plans = ((SMALL, 4), *PLANS) if n <= SMALL else PLANS
    notes: tuple[str, ...] = ()
    for count in range(len(groups), 1, -1):
        if count < len(groups):
            left = ", ".join(f"{group.shared['model']} on {group.shared['scale']}" for group in groups[count:])
            notes = (f"Not tried, since the search would take more than {budget:,.0f} s: {left}.",)
        for most, folds in plans:
            size = min(n, most)
            trained = size * (folds - 1) / folds if folds > 1 else size * 0.75
            seconds = folds * sum(_cost(problem, group, int(trained), SURVIVING, EPOCHS) for group in groups[:count])
            if seconds <= budget:
                some = (f"Settings are compared on {size:,} of {n:,} examples, drawn at random.",) if size < n else ()
                return _SearchPlan(groups[:count], size, folds, seconds, budget, (*some, *notes))
    more = f"The search takes about {seconds:,.0f} s, more than the {budget:,.0f} s that are planned for one."
    return _SearchPlan(groups[:2], size, folds, seconds, budget, (*notes, more))


def inner_parts(
    n: int, examples: int, folds: int, seed: int
) -> list[tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]]:
    """Return (rows to train on, rows of the validation part) of every inner part of a search, as a recipe names it.

    Parameters
    ----------
    n
        Number of all examples.
    examples
        How many of them the search uses.
    folds
        Number of parts; with one part a quarter is for validation.
    seed
        Of the search.

    Examples
    --------
    >>> [(len(train), len(validation)) for train, validation in inner_parts(10, 8, 2, 0)]
    [(4, 4), (4, 4)]
    """
    rows = np.sort(np.random.default_rng([seed, 3]).permutation(n)[:examples])
    part = np.random.default_rng([seed, 4]).permutation(len(rows)) % (folds if folds > 1 else 4)
    return [(rows[part != k], rows[part == k]) for k in range(folds)]


def _groups(problem: Problem) -> tuple[ConfigurationGroup, ...]:
    """Return what is searched, the default settings first."""
    fixed, defaults, shape = problem.fixed, problem.defaults, problem.X.shape[1:]
    batch = fixed.get("batch_size", default_batch_size(len(problem.X), steps=12))
    is_image = len(shape) > 1
    model = fixed.get("model")
    scales = (fixed["scale"],) if "scale" in fixed else _scales(problem.X, defaults["scale"])
    groups = [_default_group(problem)]
    for name in BATCHED if model is None else (model,):
        adam = fixed.get("optimiser", "adam" if name == SHALLOW else "sgd") == "adam"
        steps = PERCEPTRON_STEPS if adam else LINEAR_STEPS if name == "linear" else DEEP_STEPS
        if "lr" in fixed or "weight_decay" in fixed:
            rates = [fixed["lr"]] if "lr" in fixed else [rate for rate, _ in steps]
            decays = [fixed["weight_decay"]] if "weight_decay" in fixed else [decay for _, decay in steps]
            steps = tuple(product(dict.fromkeys(rates), dict.fromkeys(decays)))
        mine = scales if name == "linear" else [scale for scale in scales if "+" not in scale][: 1 if is_image else 2]
        if _is_batched(problem, name):
            longest = fixed.get("epochs", EPOCHS[-1] if name == "linear" else EPOCHS[-2])
        else:
            mine, longest = mine[:1], fixed.get("epochs", EPOCHS[1])
        for scale in mine or scales[:1]:
            shared = {
                "model": name,
                "scale": scale,
                "optimiser": "adam" if adam else "sgd",
                "batch_size": batch,
                "momentum": fixed.get("momentum", defaults["momentum"]),
            }
            groups.append(ConfigurationGroup(shared, steps, longest))
    return tuple(groups)


def _default_group(problem: Problem) -> ConfigurationGroup:
    every = problem.defaults | problem.fixed
    shared = {name: every[name] for name in ("model", "scale", "optimiser", "batch_size", "momentum")}
    return ConfigurationGroup(shared, ((every["lr"], every["weight_decay"]),), every["epochs"])


def _scales(X: npt.NDArray[np.float32], default: str) -> tuple[str, ...]:
    """Return representations to try, the default first."""
    if X.ndim == 4:
        return ("auto", "minmax")
    every = ("zscore", "quantile", "unit", "zscore+rbf", "quantile+rbf")
    return tuple(sorted(every, key=lambda scale: scale != default))


def _is_batched(problem: Problem, model: Any) -> bool:
    plain = {"loss": "ce", "lr_decay": 1.0, "augment": "none"}
    same = all(problem.fixed.get(name, value) == value for name, value in plain.items())
    return isinstance(model, str) and model in BATCHED and same


def _cost(
    problem: Problem, group: ConfigurationGroup, n: int, surviving: Sequence[float], epochs: Sequence[int]
) -> float:
    """Estimate the seconds of a reference core that the stages of a group take."""
    shape, c = problem.X.shape[1:], problem.candidates.n_classes
    model, batch = group.shared["model"], group.shared["batch_size"]
    d = math.prod(shape) + (300 if "+" in group.shared["scale"] else 0)
    steps = -(-n // batch)
    if _is_batched(problem, model):
        hidden = SHALLOW_WIDTH if model == SHALLOW else 0
        parameters = d * hidden + hidden * c if hidden else d * c
        one = n * (parameters / 1e10 + 1.5e-8 * (c + hidden)) + steps * parameters * (2.5e-9 if hidden else 4e-9)
        fixed = steps * 2e-4
    else:
        one, fixed = 3 * n * forward_flops(model, shape, c) / 3e10 + steps * 2e-3, 0.0
    seconds, before = 0.0, 0
    for share, until in zip(surviving, epochs, strict=True):
        until = min(until, group.longest)
        alive = math.ceil(share * len(group.arms))
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

    Attributes
    ----------
    covered
        Number of epochs → (h,) bool, held-out examples whose prediction is a candidate.
    log_likelihood
        Number of epochs → (h,) of the candidate sets.
    evidence
        Number of epochs → (h,) log Σ_j p_ij g_j(x_i), p the prior or uniform on the set.
    agreed
        Number of epochs → (h,) prior of the predicted label, 0 off the set.
    loss
        Number of epochs → mean training loss of the last one; nothing where the method itself was trained.
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
        self.parts = inner_parts(len(problem.candidates), plan.examples, plan.folds, problem.seed)
        self.validation = self.problem.candidates.take(np.concatenate([validation for _, validation in self.parts]))
        self.entries = [
            _Configuration(g, arm, {}, {}) for g, group in enumerate(plan.groups) for arm in range(len(group.arms))
        ]
        self.alive = list(range(len(self.entries)))
        self.trials: list[tuple[int, int, int]] = []  # entry, epochs, stage
        self.own: list[int] = []  # entries of the method itself
        self.companions = False  # whether labels have some
        self._done = 0.0
        loss = (problem.defaults | problem.fixed).get("loss")
        self._top_loss = math.log(problem.candidates.n_classes) if loss == "ce" else None

    def run(self, hook: Hook) -> bool:
        """Train all stages; return whether it came to the end."""
        groups = self.plan.groups
        runs = [[self._start(group, train) for train, _ in self.parts] for group in groups]
        for stage, epochs in enumerate(EPOCHS, start=1):
            if stage > 1:
                self._drop(stage, runs)
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
        share = self.plan.groups[g].shared
        work = (
            f"{len(self.alive)} of {len(self.entries)} configurations left; {share['model']} on {share['scale']}, "
            f"{until} epochs"
        )
        seconds = self._cost(g, len(mine), max(self.entries[mine[0]].covered, default=0), until)
        figures, losses = [], []
        for (_, validation), model in zip(self.parts, models, strict=True):
            self.progress(min(self._done / self.plan.seconds, 0.99), work)
            losses.append(model.train_until(until, hook))
            logits = model.logits(self.problem, validation)
            figures.append(
                _measured(logits, self.problem.candidates.take(validation), _prior_of(self.problem, validation))
            )
            self._done += seconds
        for place, e in enumerate(mine):
            self._record(self.entries[e], place, until, figures)
            self.entries[e].loss[until] = float(np.mean([loss[place] for loss in losses]))
            self.trials.append((e, until, stage))

    def _cost(self, g: int, arms: int, before: int, until: int) -> float:
        """Estimate the seconds of so many configurations of a group, in one part, from one epoch to another."""
        group = self.plan.groups[g]
        some = replace(group, arms=group.arms[:arms])
        first, last = (_cost(self.problem, some, len(self.parts[0][0]), (1.0,), (epoch,)) for epoch in (before, until))
        return last - first if arms else 0.0

    def _record(self, entry: _Configuration, place: int, epochs: int, figures: Sequence[tuple[Values, ...]]) -> None:
        """Store the figures of a configuration, of `_measured` in every part."""
        inside, log_p, evidence, agreed = (np.concatenate(arrays)[:, place] for arrays in zip(*figures, strict=True))
        entry.covered[epochs] = inside
        entry.log_likelihood[epochs] = set_likelihood(log_p, self.validation, self.problem.seed)
        entry.log_likelihood[epochs][~np.isfinite(log_p).all(axis=1)] = -50.0
        if entry is self.entries[0] and "model" not in self.problem.fixed:
            gain = entry.log_likelihood[epochs] - set_likelihood(
                log_p, self.validation, self.problem.seed, by_class=False
            )
            self.companions = _mean_interval(gain)[1][0] > COMPANIONS
        entry.evidence[epochs] = evidence.astype(np.float32)
        entry.agreed[epochs] = agreed.astype(np.float32)

    def judge_own(self, hook: Hook) -> None:
        """Train the method itself with the best few configurations and its defaults, where it has its own objective."""
        problem = self.problem
        if problem.new_estimator is None:
            return
        final = self._final()
        likely = [final[k] for k in np.argsort(-self._scores(final), kind="stable")]
        best = {
            self.entries[e].group: (e, epochs) for e, epochs in reversed(likely) if e
        }  # of each group the likeliest
        tried = [(0, self.plan.groups[0].longest), *sorted(best.values(), key=likely.index)[:OWN]]
        cost = sum(self._own_cost(self.entries[e].group, epochs) for e, epochs in tried)
        self.parts = self.parts[: max(1, min(len(self.parts), int(self.plan.budget / cost)))]
        self.validation = self.problem.candidates.take(np.concatenate([validation for _, validation in self.parts]))
        own = []
        for place, (e, epochs) in enumerate(tried):
            entry, figures = _Configuration(self.entries[e].group, self.entries[e].arm, {}, {}), []
            for train, validation in self.parts:
                self.progress(0.99, f"the method itself with {place + 1} of {len(tried)} settings")
                one = problem.new_estimator(self._settings(entry, epochs))
                part = Task(problem.X[train], problem.candidates.take(train), prior=_prior_of(problem, train))
                for _ in one.iter_fit(part, hook=hook):
                    pass
                logits = torch.from_numpy(one.predict_scores(problem.X[validation]))[:, None]
                figures.append(
                    _measured(logits, self.problem.candidates.take(validation), _prior_of(self.problem, validation))
                )
            self._record(entry, 0, epochs, figures)
            own.append((entry, epochs))
        for entry, epochs in own:  # all of them, or none where the search is stopped
            self.own.append(len(self.entries))
            self.trials.append((len(self.entries), epochs, len(EPOCHS) + 1))
            self.entries.append(entry)

    def _own_cost(self, group: int, epochs: int) -> float:
        """Estimate the seconds of one fit of the method itself."""
        shared, n = self.plan.groups[group].shared, len(self.parts[0][0])
        flops = forward_flops(shared["model"], self.problem.X.shape[1:], self.problem.candidates.n_classes)
        return float(epochs * (3 * n * flops / 3e10 + -(-n // shared["batch_size"]) * 1e-3))

    def _settings(self, entry: _Configuration, epochs: int) -> Settings:
        settings = self.plan.groups[entry.group].settings(entry.arm, epochs)
        if self.problem.own_rate:
            settings.pop("lr")
        return settings

    def _final(self) -> list[tuple[int, int]]:
        """Return the trials that the choice is made of."""
        finalists = set(self.own) or {*self.alive, 0}  # some reached their last epoch in an earlier stage
        trials = [(e, epochs) for e, epochs, _ in self.trials if e in finalists]
        last = dict(sorted(trials, key=lambda trial: trial[1]))  # entry → epochs it reached
        return [(e, epochs) for e, epochs in trials if epochs >= min(last[e], EPOCHS[-2])]

    def _without_features(self) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Return (h,) each: what `evidence` and `agreed` are without features.

        The first by class frequencies, or equal ones where these do better; the second of the best constant label.
        """
        equal = np.full(self.problem.candidates.n_classes, 1 / self.problem.candidates.n_classes)
        evidence, tables = [], []
        for train, validation in self.parts:
            frequencies = class_frequencies(self.problem.candidates.take(train), _prior_of(self.problem, train))
            sets, prior = self.problem.candidates.take(validation), _prior_of(self.problem, validation)
            table = dense(sets.uniform_weights() if prior is None else prior, sets).astype(np.float64)  # (h, c)
            evidence.append(np.log(np.maximum(table @ np.stack((frequencies, equal), axis=1), math.exp(-50.0))))
            tables.append(table)
        both, every = np.concatenate(evidence), np.concatenate(tables)
        return both[:, both.mean(axis=0).argmax()], every[:, every.sum(axis=0).argmax()]

    def _drop(self, stage: int, runs: list[list[_Batched | _OneByOne]]) -> None:
        """Drop all but the default and the best configurations: as many as the plan has time for in this stage."""
        share, before, until = SURVIVING[stage - 1], EPOCHS[stage - 2], EPOCHS[stage - 1]
        scores = self._scores([(e, max(self.entries[e].covered)) for e in self.alive])
        count = max(math.ceil(share * len(self.entries)), min(4, len(self.alive)))
        groups = range(len(self.plan.groups))
        planned = sum(self._cost(g, math.ceil(share * len(self.plan.groups[g].arms)), before, until) for g in groups)
        surviving, arms = {0}, [1, *(0 for _ in groups[1:])]  # of each group
        spent = self._cost(0, 1, before, until)
        for e in [self.alive[k] for k in np.argsort(-scores, kind="stable") if self.alive[k]][:count]:
            g = self.entries[e].group
            more = self._cost(g, arms[g] + 1, before, until) - self._cost(g, arms[g], before, until)
            if spent + more <= planned * (1 + 1e-9):
                surviving.add(e)
                arms[g] += 1
                spent += more
        for g, models in enumerate(runs):
            mine = [e for e in self.alive if self.entries[e].group == g]
            places = [place for place, e in enumerate(mine) if e in surviving]
            if not places:
                models.clear()  # frees its features
            elif len(places) < len(mine):
                for model in models:
                    model.keep(places)
        self.alive = sorted(surviving)

    def _scores(self, trials: Sequence[tuple[int, int]]) -> npt.NDArray[np.float64]:
        """Return the log-likelihood of trials (entry, epochs).

        What diverges is behind all others; where labels have companions, so is what is not linear in the features.
        """
        scores = np.asarray([self.entries[e].log_likelihood[epochs].mean() for e, epochs in trials])
        shared = [self.plan.groups[self.entries[e].group].shared for e, _ in trials]
        flexible = np.asarray([one["model"] == SHALLOW or "+" in one["scale"] for one in shared])
        return scores - 1e6 * np.asarray([*map(self._diverges, trials)]) - 1e3 * (flexible & self.companions)

    def _diverges(self, trial: tuple[int, int]) -> bool:
        e, epochs = trial
        loss = self.entries[e].loss.get(epochs)
        return loss is not None and is_diverging(loss, self._top_loss)

    def _best(self, trials: Sequence[tuple[int, int]]) -> tuple[int, int]:
        """Return the best of the trials; the defaults, where it is not likelier by more than a standard error."""
        top = trials[int(self._scores(trials).argmax())]
        default = max(((e, epochs) for e, epochs in trials if e == self._default()), key=lambda trial: trial[1])
        likelihoods = (self.entries[e].log_likelihood[epochs] for e, epochs in (top, default))
        ahead = np.subtract(*likelihoods)
        is_clear = ahead.mean() > ahead.std() / math.sqrt(len(ahead))
        return top if is_clear or self._diverges(default) else default

    def _default(self) -> int:
        return self.own[0] if self.own else 0

    def result(self, complete: bool) -> Recipe:
        """Return the best so far."""
        fixed, problem = self.problem.fixed, self.problem
        common: dict[str, Any] = {"fixed": fixed, "seed": problem.seed, "complete": complete, "folds": len(self.parts)}
        if not self.trials:
            note = "The search was stopped before anything was compared; the default settings are used."
            return Recipe("auto", {}, notes=(note,), **common)
        trials = self._final()
        e, epochs = self._best(trials)
        chosen = self.entries[e]
        rate, h = float(chosen.covered[epochs].mean()), len(chosen.covered[epochs])
        default = self.entries[self._default()].covered
        constant = float(np.bincount(self.validation.indices, minlength=self.validation.n_classes).max() / h)
        settings = {name: value for name, value in self._settings(chosen, epochs).items() if name not in fixed}
        wilson = binomtest(int(chosen.covered[epochs].sum()), h).proportion_ci(method="wilson")
        interval = (float(wilson.low), float(wilson.high))
        evidence, agreed = self._without_features()
        gain, gain_interval = _mean_interval(chosen.evidence[epochs] - evidence)
        warnings = [chance_note(rate, interval, constant)]
        if problem.prior is not None and gain_interval[0] <= 0:
            agreement = _mean_interval(chosen.agreed[epochs] - agreed)[1]
            warnings.append(VOTE_NOTE if agreement[0] <= 0 else "")
        companions = [COMPANION_NOTE] if self.companions else []
        stopped = [] if complete else ["The search was stopped; these are the best settings so far."]
        return Recipe(
            "auto",
            settings,
            covering_rate=rate,
            interval=interval,
            default_covering_rate=None if not default else float(default[max(default)].mean()),
            constant_covering_rate=constant,
            certain=self._certainty(chosen, epochs, trials),
            examples=self.plan.examples,
            validated=h,
            notes=(*self.plan.notes, *companions, *stopped),
            warnings=tuple(filter(None, warnings)),
            gain=gain,
            gain_interval=gain_interval,
            trials=tuple(
                Trial(
                    self._settings(self.entries[k], after),
                    stage,
                    float(self.entries[k].covered[after].mean()),
                    float(self.entries[k].log_likelihood[after].mean()),
                    self.entries[k].loss.get(after),
                )
                for k, after, stage in self.trials
            ),
            **common,
        )

    def _certainty(self, chosen: _Configuration, epochs: int, trials: Sequence[tuple[int, int]]) -> float:
        """Return the share of bootstrap samples in which it is as likely as every other group's best."""
        others: dict[int, npt.NDArray[np.float64]] = {}
        for e, after in trials:
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

    Parameters
    ----------
    sets
        n candidate sets.
    prior
        (nnz,) p, normalised on each set; None for uniform.

    Examples
    --------
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


COMPANION_NOTE = (
    "Some labels often come together in a set, so that held-out sets cannot tell whether a flexible model learns the "
    "label or its companion; only linear models without radial basis functions were considered."
)


def _mean_interval(values: npt.NDArray[Any]) -> tuple[float, tuple[float, float]]:
    """Return the mean and its 95 % interval."""
    mean, half = float(values.mean()), 1.96 * float(values.std()) / math.sqrt(len(values))
    return mean, (mean - half, mean + half)


def _measured(logits: Tensor, sets: CandidateSets, prior: Weights | None) -> tuple[Values, Values, Values, Values]:
    """Return figures (h, M) of logits (h, M, c), with probabilities p at the best temperature of each model.

    Whether the prediction is a candidate; (h, M, c) log p, NaN where logits are not finite; log Σ_j v_j p_j and v of
    the prediction, where v is the prior, or uniform on the set.
    """
    mask = torch.from_numpy(sets.mask()).to(logits.device)[:, None, :]
    v = torch.from_numpy(dense(sets.uniform_weights() if prior is None else prior, sets)).to(logits.device)[:, None, :]
    broken = ~torch.isfinite(logits).all(dim=2)
    finite = logits.double().masked_fill(broken[:, :, None], 0.0)
    best = finite.argmax(dim=2, keepdim=True)
    inside = torch.gather(mask.expand_as(finite), 2, best)[:, :, 0]
    agreed = torch.gather(v.expand_as(finite), 2, best)[:, :, 0]
    temperature = likeliest_temperature(finite, mask.double())
    log_p = torch.log_softmax(finite / temperature[:, None], dim=2)
    evidence = torch.logsumexp(log_p + v.double().log(), dim=2).clamp_min(-50.0).masked_fill(broken, -50.0)
    return (
        (inside & ~broken).cpu().numpy(),
        log_p.masked_fill(broken[:, :, None], torch.nan).cpu().numpy(),
        evidence.cpu().numpy(),
        agreed.masked_fill(broken, 0.0).double().cpu().numpy(),
    )

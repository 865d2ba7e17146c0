"""The search of the recipe *auto*: settings of a deep method, chosen without any true label.

A `Contest` compares configurations, a representation of the features (`scale`), a model, an optimiser,
learning rate and weight decay, by what they predict for inner held-out examples (the *validation* part):

- covering rate: share of held-out examples whose argmax over all classes is among their candidates (PLENCH, ICLR 2025,
  names it for this);
- log-likelihood of the candidate set with *flip rates* r_jb, the rates at which label b joins the sets of class j,
  log P(S | x) = log Σ_{j∈S} p_j Π_{b∈S, b≠j} r_jb Π_{b∉S} (1 − r_jb), mean over held-out examples (`set_likelihood`);
  the logits are divided by the temperature that makes log Σ_S p largest: a model must not lose because it is too sure
  of itself. Where labels come in pairs, a model that takes one label for two classes covers as much, but explains
  the sets less well.

Configurations of one representation and model are trained together with PRODEN's objective, as one batched model
(`pll.training.batched`), and halved: after a few numbers of epochs the less likely ones are dropped. Of what is left,
after one of the last numbers of epochs (label weights settle late), the likeliest is chosen. The defaults stay where no
other is likelier by more than the standard error of the paired difference; what diverges is chosen only where all do.
No true label is used.

A method with another objective is then trained itself with the best few and with its defaults, and judged by its own
predictions. So is every method of a model that cannot be batched, with a few rates and decays.

How much is trained is planned from the sizes alone, with the cost of an operation on a reference core (`BUDGET` seconds
of it, or three trainings with the default settings where that is more), never from a clock: the same data and seed give
the same choice on the same machine. Fewer examples and parts are taken first, then fewer representations and models;
`Recipe.notes` lists those left out.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import product
from operator import attrgetter
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from scipy.stats import binomtest
from sklearn.base import clone
from torch import Tensor

from pll.candidates import CandidateSets
from pll.errors import DivergenceError
from pll.methods.base import PartialLabelEstimator, Task
from pll.methods.chosen import Recipe, Settings, Trial
from pll.methods.classical import SCORE_BLOCK, on_candidates_by_blocks
from pll.methods.defaults import default_batch_size, suited
from pll.methods.set_likelihood import likeliest_temperature, set_likelihood
from pll.training.batched import BatchedModels
from pll.training.devices import choose_device
from pll.training.metrics import Hook, StopTraining, is_diverging
from pll.training.models import SHALLOW_WIDTH, forward_flops
from pll.training.scaling import fit_scaling, flattened
from pll.weights import Flags, Floats, Ints, Weights, dense, restricted_softmax
from pll.wording import percent

BUDGET = 40.0
"""Seconds of a reference core that a search may take."""
FEWEST_SEARCHED = 8
"""Fewer examples are not searched on."""
PLANS = ((5000, 2), (3000, 2), (5000, 1), (1500, 4), (1500, 2), (3000, 1), (1500, 1), (800, 4), (800, 2), (800, 1))
"""Numbers of examples and parts, the most thorough first. Of one part a quarter is held out, of several all."""
FOUR_PARTS_UP_TO = 1500
"""Up to so many examples are held out in four parts."""
SearchProgress = Callable[[float, str], None]
"""Called with the share of the search that is done and a description of the current work."""
NoteFound = Callable[[Weights], None]
"""Called with the (nnz,) label weights of all examples under the likeliest model so far, when there is a new one."""
MOST_FOUND = 100_000
"""Examples up to whose number that is computed: it is for people who wait, and must not make them wait longer."""


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


LINEAR_STEPS = ((0.1, 1e-4), (0.1, 1e-3), (0.1, 1e-2), (0.1, 2e-2), (0.03, 2e-2), (0.3, 1e-3))
PERCEPTRON_STEPS = tuple(product((1e-3, 3e-3), (1e-5, 1e-3)))
DEEP_STEPS = tuple(product((0.003, 0.01, 0.05), (1e-4, 1e-3)))
"""Learning rates and weight decays: of linear models, of shallow perceptrons (Adam), of the other models (SGD)."""
SHALLOW = "shallow-mlp"
BATCHED = ("linear", SHALLOW)
OWN_TRIED = 3
"""Configurations of PRODEN's search that another method is tried with, beside its defaults."""
COMPARED_AFTER = (10, 30, 100, 300)
"""Numbers of epochs after which configurations are compared."""
SURVIVING = (1.0, 0.35, 0.12, 0.06)
"""Share of the configurations of a group that reach each of them."""


def inner_parts(n: int, examples: int, folds: int, seed: int) -> list[tuple[Ints, Ints]]:
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


def _scales(X: npt.NDArray[np.float32], default: str) -> tuple[str, ...]:
    """Return representations to try, the default first."""
    if X.ndim == 4:
        return ("auto", "minmax")
    every = ("zscore", "quantile", "unit", "zscore+rbf", "quantile+rbf")
    return tuple(sorted(every, key=lambda scale: scale != default))


def can_be_batched(settings: Settings) -> bool:
    """Whether PRODEN with these settings can be one of several models that train as one (`pll.training.batched`)."""
    plain = {"loss": "ce", "lr_decay": 1.0, "augment": "none"}
    model = settings["model"]
    is_plain = all(settings.get(name, value) == value for name, value in plain.items())
    return isinstance(model, str) and model in BATCHED and is_plain


class Together:
    """Linear or shallow models of PRODEN that train as one (`pll.training.batched`), on scaled features.

    Parameters
    ----------
    parts
        What they learn from: one task of all models, or one for each.
    group
        Their settings.
    device
        Where they train.
    seed
        Of the initial parameters and the order of examples.
    """

    def __init__(self, parts: Sequence[Task], group: ConfigurationGroup, device: torch.device, seed: int) -> None:
        shared = group.shared
        self.scalings = [fit_scaling(part.X, shared["scale"]).to(device) for part in parts]

        def side_by_side(tables: Sequence[Tensor]) -> Tensor:
            return (tables[0] if len(tables) == 1 else torch.stack(list(tables), dim=1)).to(device)

        priors = [torch.from_numpy(dense(part.prior, part.candidates)) for part in parts if part.prior is not None]
        self.models = BatchedModels(
            side_by_side([flattened(scaling, part.X) for scaling, part in zip(self.scalings, parts, strict=True)]),
            side_by_side([torch.from_numpy(part.candidates.mask()) for part in parts]),
            group.arms,
            momentum=shared["momentum"],
            hidden=SHALLOW_WIDTH if shared["model"] == SHALLOW else 0,
            optimiser=shared["optimiser"],
            batch_size=shared["batch_size"],
            seed=seed,
            prior=side_by_side(priors) if priors else None,
        )

    def scores(self, k: int, X: npt.NDArray[np.float32]) -> Tensor:
        """Return the (B, c) logits of model k, on the CPU.

        Parameters
        ----------
        k
            Its number, from 0.
        X
            (B, …) raw features.
        """
        weights, bias, *second = self.models.parameters(k)
        z = flattened(self.scalings[min(k, len(self.scalings) - 1)], X) @ weights + bias
        if second:
            z = z.relu_() @ second[0] + second[1]
        return z.cpu()

    def label_weights(self, k: int, task: Task) -> Weights:
        """Return (nnz,) label weights of the examples of a task under model k.

        Parameters
        ----------
        k
            Its number, from 0.
        task
            Features, candidate sets and their prior.
        """
        scores = on_candidates_by_blocks(
            lambda rows: self.scores(k, task.X[rows]).numpy(), task.candidates, SCORE_BLOCK
        )
        return restricted_softmax(scores, task.candidates, task.prior)


@dataclass(frozen=True, eq=False)
class _Measured:
    """What a configuration predicts of the h held-out examples after so many epochs, which its settings name.

    Attributes
    ----------
    trial
        The settings, and the means of what follows.
    group
        Its place in the plan.
    covered
        (h,) bool, whether the prediction is a candidate.
    log_likelihood
        (h,) of the candidate sets.
    parts
        How many inner parts the examples are of.
    diverges
        Whether the training loss is worse than that of any prediction without learning.
    score
        Mean log-likelihood; of what diverges less than all others.
    """

    trial: Trial
    group: int
    covered: Flags
    log_likelihood: Floats
    parts: int
    diverges: bool
    score: float


by_score = attrgetter("score")


class Contest:
    """A search for the settings of a method; see the docstring of the module.

    Parameters
    ----------
    method
        Trained by gradient descent, unfitted; but for its `stage_` it stays as it is.
    task
        The training data. A method that learns from true labels is judged by these, where all are known.
    progress
        Called with the share of the search that is done, and a description of the current work.
    found
        Called with what the likeliest batched model so far says of all examples; see `NoteFound`.

    Attributes
    ----------
    fixed, every
        Settings set by the user; all of the method, these and its defaults.
    groups
        What is tried, the default settings first.
    examples, parts
        How many examples are used, and the inner parts of them.
    seconds, budget
        Of a reference core: what all that takes, and what it may take.
    notes
        What does not fit the budget, as sentences.

    Raises
    ------
    UserError
        An explicit setting that does not fit the data.
    """

    def __init__(
        self,
        method: PartialLabelEstimator,
        task: Task,
        progress: SearchProgress | None = None,
        found: NoteFound | None = None,
    ) -> None:
        sets = task.candidates
        self.method, self.progress, self.fixed = method, progress, method.given_settings()
        self.task = Task(task.X, sets, prior=task.prior)
        if method.needs_truth and task.y is not None and (task.y >= 0).all():
            found = None
            self.task = Task(task.X, CandidateSets.from_labels(task.y, sets.n_classes, sets.class_names), task.y)
        self.found = found if len(sets) <= MOST_FOUND else None
        defaults = type(method)().get_params(deep=False)
        self.every = defaults | suited(defaults | self.fixed, task.X, task.kind) | self.fixed
        self.device = choose_device(method.device)
        self.results: list[_Measured] = []  # of PRODEN's batched models, then of the method itself
        self._done = 0.0
        self._keeps_rate = type(method)().lr is not None  # its steps are of another scale than PRODEN's
        self._top_loss = math.log(sets.n_classes) if self.every["loss"] == "ce" else None
        self._plan()

    def _plan(self) -> None:
        """Take the most thorough plan within the budget, by sizes alone; the smallest where none is within it.

        Fewer examples and parts come first, then fewer representations and models, the default's last.
        """
        n, groups = len(self.task.candidates), self._groups()
        self.budget = max(BUDGET, 3 * self._cost(self._default_group(), n))
        plans = ((FOUR_PARTS_UP_TO, 4), *PLANS) if n <= FOUR_PARTS_UP_TO else PLANS
        for count, (most, folds) in product(range(len(groups), 1, -1), plans):
            self.examples = min(n, most)
            trained = self.examples * (folds - 1) / folds if folds > 1 else self.examples * 0.75
            self.seconds = folds * sum(self._cost(group, int(trained)) for group in groups[:count])
            if self.seconds <= self.budget:
                break
        self.groups, self.notes = groups[:count], []
        self.parts = inner_parts(n, self.examples, folds, self.method.seed)
        if self.seconds <= self.budget and self.examples < n:
            self.notes.append(f"Settings are compared on {self.examples:,} of {n:,} examples, drawn at random.")
        if count < len(groups):
            left = ", ".join(f"{group.shared['model']} on {group.shared['scale']}" for group in groups[count:])
            self.notes.append(f"Not tried, since the search would take more than {self.budget:,.0f} s: {left}.")
        if self.seconds > self.budget:
            planned = f"the {self.budget:,.0f} s that are planned for one"
            self.notes.append(f"The search takes about {self.seconds:,.0f} s, more than {planned}.")

    def _groups(self) -> tuple[ConfigurationGroup, ...]:
        """Return what is searched, the default settings first."""
        fixed, shape = self.fixed, self.task.X.shape[1:]
        batch = fixed.get("batch_size", default_batch_size(len(self.task.X), steps=12))
        is_image = len(shape) > 1
        model = fixed.get("model")
        scales = (fixed["scale"],) if "scale" in fixed else _scales(self.task.X, self.every["scale"])
        groups = [self._default_group()]
        for name in BATCHED if model is None else (model,):
            adam = fixed.get("optimiser", "adam" if name == SHALLOW else "sgd") == "adam"
            steps = PERCEPTRON_STEPS if adam else LINEAR_STEPS if name == "linear" else DEEP_STEPS
            if "lr" in fixed or "weight_decay" in fixed:
                rates = [fixed["lr"]] if "lr" in fixed else [rate for rate, _ in steps]
                decays = [fixed["weight_decay"]] if "weight_decay" in fixed else [decay for _, decay in steps]
                steps = tuple(product(dict.fromkeys(rates), dict.fromkeys(decays)))
            mine = (
                scales if name == "linear" else [scale for scale in scales if "+" not in scale][: 1 if is_image else 2]
            )
            if can_be_batched(fixed | {"model": name}):
                longest = fixed.get("epochs", COMPARED_AFTER[-1] if name == "linear" else COMPARED_AFTER[-2])
            else:
                mine, longest = mine[:1], fixed.get("epochs", COMPARED_AFTER[1])
            for scale in mine or scales[:1]:
                own = {"model": name, "scale": scale, "optimiser": "adam" if adam else "sgd", "batch_size": batch}
                groups.append(ConfigurationGroup(self._shared(**own), steps, longest))
        return tuple(groups)

    def _default_group(self) -> ConfigurationGroup:
        lr, decay, epochs = (self.every[name] for name in ("lr", "weight_decay", "epochs"))
        return ConfigurationGroup(self._shared(), ((lr, decay),), epochs)

    def _shared(self, **own: Any) -> Settings:
        every = self.every | own
        return {name: every[name] for name in ("model", "scale", "optimiser", "batch_size", "momentum")}

    def _cost(self, group: ConfigurationGroup, n: int) -> float:
        """Estimate the seconds of a reference core that a group takes on n examples."""
        shape, c = self.task.X.shape[1:], self.task.candidates.n_classes
        model, batch, arms = group.shared["model"], group.shared["batch_size"], len(group.arms)
        steps = -(-n // batch)
        if not can_be_batched(self.fixed | {"model": model}):
            return arms * self._training_cost(group.shared | {"epochs": group.longest}, n)
        d = math.prod(shape) + (300 if "+" in group.shared["scale"] else 0)
        hidden = SHALLOW_WIDTH if model == SHALLOW else 0
        parameters = d * hidden + hidden * c if hidden else d * c
        one = n * (parameters / 1e10 + 1.5e-8 * (c + hidden)) + steps * parameters * (2.5e-9 if hidden else 4e-9)
        ends = [min(until, group.longest) for until in COMPARED_AFTER]
        alive = np.array([math.ceil(share * arms) for share in SURVIVING])
        return float((np.diff(ends, prepend=0) * (alive * one + steps * 2e-4)).sum())

    def _training_cost(self, settings: Settings, n: int) -> float:
        """Estimate the seconds of one fit of the method itself on n examples."""
        flops = forward_flops(settings["model"], self.task.X.shape[1:], self.task.candidates.n_classes)
        return float(settings["epochs"] * (3 * n * flops / 3e10 + -(-n // settings["batch_size"]) * 2e-3))

    def search(self, hook: Hook) -> Recipe:
        """Choose settings by the log-likelihood of held-out candidate sets.

        Parameters
        ----------
        hook
            Called between mini-batches; may wait. `StopTraining` ends the search with the best so far.

        Raises
        ------
        UserError
            An explicit setting that does not fit the data.
        """
        if len(self.task.candidates) < FEWEST_SEARCHED:
            note = f"Settings are compared on {FEWEST_SEARCHED} examples or more; the default settings are used."
            return Recipe("auto", {}, self.fixed, seed=self.method.seed, notes=(note,))
        started, complete = time.perf_counter(), True
        try:
            self._run(hook)
        except StopTraining:
            complete = False
        return replace(self.recipe(complete), seconds=round(time.perf_counter() - started, 1))

    def _run(self, hook: Hook) -> None:
        """Train every group, then the method itself where that is judged."""
        groups = self.groups
        batched = [g for g, group in enumerate(groups) if can_be_batched(self.fixed | group.shared)]
        for g in batched:
            self._halve(g, hook)
        if self.method.searched_as_proden or not batched:
            others = [g for g in range(len(groups)) if g not in batched]
            self._train_itself([(g, self._settings(g, arm)) for g in others for arm in groups[g].arms], hook)
            return
        best = {one.group: one for one in sorted(self._finals(), key=by_score)}  # of each group the likeliest
        best.pop(0, None)
        likely = sorted(best.values(), key=by_score, reverse=True)[:OWN_TRIED]
        tried = [(0, self._settings(0, groups[0].arms[0])), *((one.group, one.trial.settings) for one in likely)]
        cost = sum(self._training_cost(settings, len(self.parts[0][0])) for _, settings in tried)
        self._train_itself(tried, hook, max(1, int(self.budget / cost)))

    def _halve(self, g: int, hook: Hook) -> None:
        """Train a group to the end, dropping the less likely configurations after each number of epochs."""
        group = self.groups[g]
        arms = list(group.arms)
        device, seed = self.device, self.method.seed
        models = [Together([self.task.take(train)], group, device, seed) for train, _ in self.parts]
        planned = self._cost(group, len(self.parts[0][0])) / len(COMPARED_AFTER)
        for epochs, share in zip(COMPARED_AFTER, SURVIVING, strict=True):
            until = min(epochs, group.longest)
            if share < 1:
                likely = np.argsort([-one.score for one in self.results[-len(arms) :]], kind="stable")
                kept = sorted(likely[: math.ceil(share * len(group.arms))].tolist())
                arms = [arms[k] for k in kept]
                for one in models:
                    one.models.keep(kept)
            logits, losses = [], []
            for one, (_, validation) in zip(models, self.parts, strict=True):
                self._tell(f"{group.shared['model']} on {group.shared['scale']}, {len(arms)} settings, {until} epochs")
                while one.models.epoch < until - 1:
                    one.models.train_epoch(hook)
                last = one.models.train_epoch(hook, with_loss=True)
                assert last is not None
                losses.append(last.cpu().tolist())
                logits.append(one.models.logits(flattened(one.scalings[0], self.task.X[validation])))
                self._done += planned
            settings = [self._settings(g, arm, until) for arm in arms]
            new = self._measured(g, settings, logits, np.mean(losses, axis=0).tolist())
            best = max(new, key=by_score)
            if self.found is not None and all(best.score > one.score for one in self.results):
                self.found(models[0].label_weights(new.index(best), self.task))
            self.results += new
            if until == group.longest:
                return

    def _train_itself(self, tried: Sequence[tuple[int, Settings]], hook: Hook, parts: int | None = None) -> None:
        """Train the method itself with settings of these groups: all of them or, where the search is stopped, none."""
        own = []
        for place, (g, settings) in enumerate(tried, start=1):
            if self._keeps_rate:
                settings = {name: value for name, value in settings.items() if name != "lr"}
            logits = []
            for train, validation in self.parts[:parts]:
                self._tell(f"the method itself with {place} of {len(tried)} settings")
                one = clone(self.method).set_params(**settings, recipe="default")
                scores = np.full((len(validation), self.task.candidates.n_classes), np.nan, dtype=np.float32)
                with suppress(DivergenceError):
                    for _ in one.iter_fit(self.task.take(train), hook=hook):
                        pass
                    scores = one.predict_scores(self.task.X[validation])
                logits.append(torch.from_numpy(scores)[:, None])
                self._done += self._training_cost(settings, len(train))
            own += self._measured(g, [settings], logits, [None])
        self.results += own

    def _tell(self, work: str) -> None:
        """Say what is done now, as the method's stage too."""
        share = min(self._done / self.seconds, 0.99)
        self.method.stage_ = f"Choosing settings ({percent(share, 0)}): {work}"
        if self.progress is not None:
            self.progress(share, work)

    def _settings(self, g: int, arm: tuple[float, float], epochs: int | None = None) -> Settings:
        """Return all settings of a configuration after so many epochs, or at the end."""
        group = self.groups[g]
        lr, decay = arm
        return {**group.shared, "lr": lr, "weight_decay": decay, "epochs": group.longest if epochs is None else epochs}

    def _measured(
        self, g: int, settings: Sequence[Settings], logits: Sequence[Tensor], losses: Sequence[float | None]
    ) -> list[_Measured]:
        """Return the results of configurations by their logits (h, M, c) of every part."""
        sets = self._validation(len(logits))
        figures = [
            _figures(z, self.task.candidates.take(validation))
            for z, (_, validation) in zip(logits, self.parts, strict=False)
        ]
        covered, log_p = (np.concatenate(arrays) for arrays in zip(*figures, strict=True))
        results = []
        for k, one in enumerate(settings):
            likelihood = set_likelihood(log_p[:, k], sets, self.method.seed)
            likelihood[~np.isfinite(log_p[:, k]).all(axis=1)] = -50.0
            trial = Trial(one, float(covered[:, k].mean()), float(likelihood.mean()), losses[k])
            diverges = trial.loss is not None and is_diverging(trial.loss, self._top_loss)
            score = trial.log_likelihood - 1e6 * diverges
            results.append(_Measured(trial, g, covered[:, k], likelihood, len(logits), diverges, score))
        return results

    def _validation(self, parts: int) -> CandidateSets:
        return self.task.candidates.take(np.concatenate([validation for _, validation in self.parts[:parts]]))

    def _finals(self) -> list[_Measured]:
        """Return the results that the choice is made of: of the method itself, or of the last numbers of epochs."""
        longest = [min(group.longest, COMPARED_AFTER[-2]) for group in self.groups]
        own = [one for one in self.results if one.trial.loss is None]
        ended = [one for one in self.results if one.trial.settings["epochs"] >= longest[one.group]]
        return own or ended or self.results

    def _best(self, finals: Sequence[_Measured]) -> tuple[_Measured, _Measured]:
        """Return the best; the defaults, where it is not likelier by more than a standard error. And the defaults."""
        top = max(finals, key=by_score)
        default = ([one for one in finals if one.group == 0] or [top])[-1]
        ahead = top.log_likelihood - default.log_likelihood
        is_clear = ahead.mean() > ahead.std() / math.sqrt(len(ahead))
        return (top if is_clear or default.diverges else default), default

    def recipe(self, complete: bool) -> Recipe:
        """Return the best so far."""
        fixed, finals = self.fixed, self._finals()
        common: dict[str, Any] = {"fixed": fixed, "seed": self.method.seed, "complete": complete}
        if not finals:
            note = "The search was stopped before anything was compared; the default settings are used."
            return Recipe("auto", {}, notes=(note,), **common)
        chosen, default = self._best(finals)
        h = len(chosen.covered)
        wilson = binomtest(int(chosen.covered.sum()), h).proportion_ci(method="wilson")
        stopped = () if complete else ("The search was stopped; these are the best settings so far.",)
        return Recipe(
            "auto",
            {name: value for name, value in chosen.trial.settings.items() if name not in fixed},
            covering_rate=chosen.trial.covering_rate,
            interval=(float(wilson.low), float(wilson.high)),
            default_covering_rate=default.trial.covering_rate,
            constant_covering_rate=float(np.bincount(self._validation(chosen.parts).indices).max() / h),
            examples=self.examples,
            validated=h,
            folds=chosen.parts,
            notes=(*self.notes, *stopped),
            trials=tuple(one.trial for one in self.results),
            **common,
        )


def _figures(logits: Tensor, sets: CandidateSets) -> tuple[Flags, Floats]:
    """Return whether the prediction of each example and model (h, M) of logits (h, M, c) is a candidate, and log p.

    (h, M, c) log p is at the best temperature of each model, NaN where logits are not finite.
    """
    mask = torch.from_numpy(sets.mask()).to(logits.device)[:, None, :]
    broken = ~torch.isfinite(logits).all(dim=2)
    finite = logits.double().masked_fill(broken[:, :, None], 0.0)
    inside = torch.gather(mask.expand_as(finite), 2, finite.argmax(dim=2, keepdim=True))[:, :, 0]
    temperature = likeliest_temperature(finite, mask.double())
    log_p = torch.log_softmax(finite / temperature[:, None], dim=2).masked_fill(broken[:, :, None], torch.nan)
    return (inside & ~broken).cpu().numpy(), log_p.cpu().numpy()

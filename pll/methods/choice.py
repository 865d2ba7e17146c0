"""Choice of a method from candidate sets alone: PRODEN with the recipe auto against methods without gradient descent.

`choose_method` first searches PRODEN's settings (`pll.methods.recipe_search`), then fits it with them and the others
with their own defaults on the very same inner parts, and compares all by the same criterion: of the methods that do
not cover significantly fewer held-out examples than the one that covers most (paired, 5 %), the one with the highest
held-out log-likelihood of the candidate set (`pll.methods.set_likelihood`), each with the temperature that suits it
best, since not all scores are probabilities. No true label is used. A method that would take longer than the budget of
a search, or too much memory, is left out, and the recipe says so.

PRODEN's settings are the best of many on these examples, those of a rival its defaults, so that the comparison favours
PRODEN slightly.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from scipy.stats import binomtest
from sklearn.base import clone
from torch import nn

from pll.colors import percent
from pll.errors import UserError
from pll.methods.base import PartialLabelEstimator, Task, check_common_settings, validated
from pll.methods.classical import ClassicalEstimator
from pll.methods.deep import DeepEstimator
from pll.methods.ipal import IPAL
from pll.methods.names import AUTO, TITLES
from pll.methods.plknn import PLKNN
from pll.methods.proden import PRODEN
from pll.methods.recipe import Contender, Recipe
from pll.methods.recipe_search import BUDGET, Progress, chance_note, inner_parts
from pll.methods.set_likelihood import best_tempered, is_significantly_less
from pll.methods.sure import SURE
from pll.training.metrics import EpochRecord, Hook, StopTraining, TrainingProgress
from pll.weights import Weights

FIRST = "proden"
CONTENDERS: dict[str, type[PartialLabelEstimator]] = {FIRST: PRODEN, "ipal": IPAL, "sure": SURE, "plknn": PLKNN}
"""What is compared, by the names of the registry; of equals the first is taken."""
MEMORY = 4e9
"""Bytes that a rival may take at most."""


class Auto(PartialLabelEstimator):
    """The method `auto`: the one of PRODEN, IPAL, SURE and PL-kNN that does best on held-out examples, without truth.

    `fit` chooses (`choose_method`), then trains the chosen method on all examples. Predictions, label weights and
    identified labels are those of `best_`.

    Args:
        settings: explicit settings, name → value; a method takes those that it has. PRODEN's others are searched,
            the others of the rest are their defaults.
        missing: `"error"` refuses NaN in X, `"mean"` fills it with the mean of its column.
        threads: CPU threads to compute with; None leaves the setting as it is.
        seed: of the search and of the methods.

    Attributes:
        method_: name of the chosen method.
        best_: the chosen method, fitted; `save_model(auto.best_, folder, method=auto.method_, …)` saves it.
        recipe_: the `Recipe`: what was compared, what was tried for PRODEN, and how sure the choice is.

    >>> import numpy as np
    >>> from pll import Auto, CandidateSets
    >>> Auto(settings={"k": 5}).get_params()["settings"]
    {'k': 5}
    """

    title: ClassVar[str] = TITLES[AUTO]
    summary: ClassVar[str] = (
        "Sets PRODEN, its settings searched, against IPAL, SURE and PL-kNN on held-out examples, without true labels, "
        "and takes the best."
    )
    takes_prior: ClassVar[bool] = True

    method_: str
    best_: PartialLabelEstimator
    recipe_: Recipe

    def __init__(
        self,
        *,
        settings: Mapping[str, Any] | None = None,
        missing: str = "error",
        threads: int | None = None,
        seed: int = 0,
    ) -> None:
        self.settings = settings
        self.missing = missing
        self.threads = threads
        self.seed = seed

    def _check_settings(self) -> None:
        check_common_settings(self.seed, self.missing)
        given = dict(self.settings or {})
        if given.pop("recipe", "auto") != "auto":
            raise UserError("The method auto chooses the settings too; leave the recipe away.")
        known = {name: set(kind().get_params()) for name, kind in CONTENDERS.items()}
        for name in given:
            if not any(name in own for own in known.values()):
                raise UserError(f"None of {', '.join(CONTENDERS)} has a setting called {name!r}.")
        for one in self.contenders().values():
            one.check_settings()

    def params_of(self, method: str) -> dict[str, Any]:
        """Return the settings with which a method is tried: those given explicitly that it has, and the common ones."""
        common = {} if self.threads is None else {"threads": self.threads}
        given = {**common, **(self.settings or {}), "recipe": "auto"}
        known = CONTENDERS[method]().get_params()
        return {name: value for name, value in given.items() if name in known}

    def contenders(self) -> dict[str, PartialLabelEstimator]:
        """Return what is compared, unfitted, by name."""
        common = {"missing": self.missing, "seed": self.seed}
        found: dict[str, PartialLabelEstimator] = {}
        for name, kind in CONTENDERS.items():
            known = kind().get_params()
            found[name] = kind(**{key: value for key, value in common.items() if key in known} | self.params_of(name))
        return found

    def choose(self, task: Task, *, hook: Hook | None = None, progress: Progress | None = None) -> Recipe:
        """Return the recipe with the name of the best method; the estimator stays as it is. See `choose_method`."""
        self._check_settings()

        def show(share: float, work: str) -> None:
            self.stage_ = f"Choosing the method ({percent(share, 0)}): {work}"
            if progress is not None:
                progress(share, work)

        found = choose_method(task, self.contenders(), hook=hook, progress=show)
        self.stage_ = ""
        return found

    def iter_fit(
        self, task: Task, *, hook: Hook | None = None, checkpoint: dict[str, Any] | None = None
    ) -> Iterator[EpochRecord]:
        self.recipe_ = self.choose(task, hook=hook)  # from a checkpoint, too: it is the same then
        self.method_ = self.recipe_.method
        best = self.best_ = self.contenders()[self.method_]
        if isinstance(best, DeepEstimator):
            best.use_recipe(self.recipe_)
        for record in best.iter_fit(task, hook=hook, checkpoint=checkpoint):
            self._take()
            yield record

    def _take(self) -> None:
        """Make the results of the chosen method this one's."""
        for name in ("label_weights_", "candidates_", "class_names_", "input_shape_", "notes_", "_monitor"):
            if name in vars(self.best_):
                setattr(self, name, getattr(self.best_, name))

    def total_epochs(self) -> int:
        return self.best_.total_epochs() if "best_" in vars(self) else self.contenders()[FIRST].total_epochs()

    def checkpoint(self) -> dict[str, Any]:
        return self.best_.checkpoint() if "best_" in vars(self) else {"epoch": 0}

    def moment(self) -> TrainingProgress | None:
        return self.best_.moment() if "best_" in vars(self) else None

    def finish(self) -> Weights:
        weights = self.best_.finish()
        self._take()
        return weights

    def release(self) -> None:
        if "best_" in vars(self):
            self.best_.release()
        super().release()

    def _forget_training(self) -> None:
        super()._forget_training()
        if "best_" in vars(self):
            self.best_._forget_training()

    def fitted_arrays(self) -> dict[str, npt.NDArray[Any]]:
        self.check_fitted()
        return self.best_.fitted_arrays()

    def restore(
        self, arrays: dict[str, npt.NDArray[Any]], input_shape: tuple[int, ...], class_names: tuple[str, ...]
    ) -> Self:
        raise UserError("A model of the method auto is saved and restored as that of the method it chose, best_.")

    def module(self) -> nn.Module | None:
        self.check_fitted()
        return self.best_.module()

    def predict_scores(self, X: npt.ArrayLike) -> npt.NDArray[np.float32]:
        """Return the (n, c) scores of X by the chosen method."""
        self.check_fitted()
        return self.best_.predict_scores(X)

    def predict_proba(self, X: npt.ArrayLike) -> npt.NDArray[np.float32]:
        """Return the (n, c) class probabilities of X by the chosen method; rows sum to 1."""
        self.check_fitted()
        return self.best_.predict_proba(X)


def choose_method(
    task: Task,
    contenders: Mapping[str, PartialLabelEstimator],
    *,
    hook: Hook | None = None,
    progress: Progress | None = None,
) -> Recipe:
    """Return the recipe of PRODEN with what all methods reached (`methods`) and the name of the best (`method`).

    Args:
        task: the training data; true labels and test examples are not looked at.
        contenders: unfitted estimators by name: `FIRST`, with the recipe auto, and others of `CONTENDERS`.
        hook: called between mini-batches and iterations; may wait, may raise `StopTraining`.
        progress: told how far PRODEN's search is.

    Returns:
        Rates and interval are those of the chosen method. Where it is not PRODEN, `settings` is empty: it has its
        defaults; PRODEN's are among `methods`.

    Raises:
        UserError: invalid data or settings.
    """
    first = contenders[FIRST]
    assert isinstance(first, DeepEstimator)
    if math.prod(task.X.shape[1:]) == 0:
        raise UserError("--method auto compares methods by features, and this data has none; use dawid-skene.")
    recipe = first.choose_settings(task, hook=hook, progress=progress)
    return compared(task, contenders, recipe, hook=hook, progress=progress)


def compared(
    task: Task,
    contenders: Mapping[str, PartialLabelEstimator],
    recipe: Recipe,
    *,
    hook: Hook | None = None,
    progress: Progress | None = None,
) -> Recipe:
    """Return the recipe that a search of PRODEN's settings found with what all methods reached, as `choose_method`."""
    if recipe.covering_rate is None or not recipe.complete:
        return _alone(recipe)
    task = validated(task, allow_missing=True)
    found, measured = [], []
    for name, estimator in contenders.items():
        if progress is not None:
            progress(0.99, f"held-out examples by {estimator.title}")
        try:
            one = _measured(estimator, task, recipe, hook)
        except StopTraining:
            return _alone(recipe)
        settings = recipe.settings if name == FIRST else {}
        if isinstance(one, str):
            found.append(Contender(name, left_out=one, settings=settings))
            continue
        inside, likelihood = one
        found.append(Contender(name, float(inside.mean()), float(likelihood.mean()), settings=settings))
        measured.append((inside, found[-1]))
    if not measured:
        return _alone(recipe)
    most = max((inside for inside, _ in measured), key=lambda inside: int(inside.sum()))
    running = [contender for inside, contender in measured if not is_significantly_less(inside, most)]
    best = max(running, key=lambda contender: contender.log_likelihood or 0.0)  # of equals the first
    return _with_messages(replace(recipe, method=best.method, methods=tuple(found)), best, contenders)


def _alone(recipe: Recipe) -> Recipe:
    note = "The method is PRODEN; it was not compared with others, as the search did not come to its end."
    return replace(recipe, method=FIRST, notes=(*recipe.notes, note))


def _measured(
    estimator: PartialLabelEstimator, task: Task, recipe: Recipe, hook: Hook | None
) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.float64]] | str:
    """Return what a method reaches on the held-out parts of a recipe's search; why it was left out, where it was.

    (h,) whether the prediction of an example is a candidate, and the log-likelihood of its set.
    """
    parts = inner_parts(len(task.candidates), recipe.examples, recipe.folds, recipe.seed)
    obstacle = _obstacle(estimator, task, [len(train) for train, _ in parts])
    if obstacle:
        return obstacle
    covered, probabilities = [], []
    for train, held in parts:
        one = clone(estimator)
        if isinstance(one, DeepEstimator):
            one.use_recipe(recipe)
        try:
            prior = task.prior if one.takes_prior and task.prior is not None else None
            own = None if prior is None else prior[task.candidates.positions(train)]
            part = Task(task.X[train], task.candidates.take(train), prior=own, kind=task.kind)
            for _ in one.iter_fit(part, hook=hook):
                pass
            labels = one.predict_scores(task.X[held]).argmax(axis=1)
            probabilities.append(one.predict_proba(task.X[held]))
        except UserError as error:
            return str(error)
        covered.append(task.candidates.take(held).contains(labels))
    sets = task.candidates.take(np.concatenate([held for _, held in parts]))
    return np.concatenate(covered), best_tempered(np.concatenate(probabilities), sets, recipe.seed)


def _obstacle(estimator: PartialLabelEstimator, task: Task, sizes: list[int]) -> str:
    """Return why a method does not fit the budget; "" where it does."""
    if not isinstance(estimator, ClassicalEstimator):
        return ""  # its settings were searched within the budget
    n, c, d = len(task.candidates), task.candidates.n_classes, math.prod(task.X.shape[1:])
    mean = task.candidates.nnz / n
    costs = [type(estimator).cost(size, d, c, int(mean * size)) for size in (*sizes, n)]
    seconds, memory = sum(cost.seconds for cost in costs), max(cost.memory_bytes for cost in costs)
    if seconds > BUDGET:
        return f"it would take about {seconds:,.0f} s, and the budget is {BUDGET:.0f} s"
    if memory > MEMORY:
        return f"it would take about {memory / 1e9:.1f} GB of memory, and the budget is {MEMORY / 1e9:.0f} GB"
    return ""


def _with_messages(recipe: Recipe, best: Contender, contenders: Mapping[str, PartialLabelEstimator]) -> Recipe:
    """Return the recipe with the rates of the chosen method, and with sentences on the comparison."""
    rate, constant, h = best.covering_rate, recipe.constant_covering_rate, recipe.held_out
    assert rate is not None and constant is not None and recipe.interval is not None
    titles = {name: type(estimator).title for name, estimator in contenders.items()}
    rates = ", ".join(
        f"{titles[one.method]} {percent(one.covering_rate)}" for one in recipe.methods if one.covering_rate is not None
    )
    notes = [
        f"The method is {titles[best.method]}. Share of {h:,} held-out examples whose prediction is among their "
        f"candidates: {rates}; best constant label {percent(constant)}. Of methods that do not differ in it, the one "
        "is chosen that explains the candidate sets best.",
        *(f"{titles[one.method]} was left out: {one.left_out.rstrip('.')}." for one in recipe.methods if one.left_out),
    ]
    own = chance_note(recipe.covering_rate, recipe.interval, constant)
    others = [warning for warning in recipe.warnings if warning != own]
    found = binomtest(round(rate * h), h).proportion_ci(method="wilson")
    interval = (float(found.low), float(found.high))
    chance = chance_note(rate, interval, constant)
    return replace(
        recipe,
        settings=recipe.settings if best.method == FIRST else {},
        covering_rate=rate,
        interval=interval,
        notes=(*notes, *recipe.notes),
        warnings=(*([chance] if chance else []), *others),
    )

"""Choice of a method from candidate sets alone: PRODEN with the recipe auto against methods without gradient descent.

`choose_method` first searches PRODEN's settings (`pll.methods.recipe`), then fits `RIVALS` with their own defaults on
the very same inner parts, and compares all by the same criterion: the covering rate on held-out examples (share whose
argmax over all classes is among the candidates), of equals the held-out log-likelihood of the candidate set. No true
label is used. A method that would take longer than the budget of a search, or too much memory, is left out, and the
recipe says so.

PRODEN's rate is the best of many settings on these examples, that of a rival the one of its defaults, so that the
comparison favours PRODEN slightly.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import numpy.typing as npt
from scipy.stats import binomtest
from sklearn.base import clone

from pll.candidates import CandidateSets
from pll.errors import UserError
from pll.methods.base import Features, PartialLabelEstimator, Task, validated
from pll.methods.classical import ClassicalEstimator
from pll.methods.deep import DeepEstimator
from pll.methods.recipe import BUDGET, Contender, Progress, Recipe, chance_note, inner_parts
from pll.training.metrics import Hook

AUTO = "auto"
"""Stands where a method's name can, for the one that is chosen."""
FIRST = "proden"
RIVALS = ("ipal", "sure", "plknn")
"""What PRODEN is set against, by their names in the registry."""
MEMORY = 4e9
"""Bytes that a rival may take at most."""


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
        contenders: unfitted estimators by name: `FIRST`, with the recipe auto, and any of the `RIVALS`.
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
    if recipe.covering_rate is None or not recipe.complete:
        note = "The method is PRODEN; it was not compared with others, as the search did not come to its end."
        return replace(recipe, method=FIRST, notes=(*recipe.notes, note))
    task = validated(task, allow_missing=True)
    found = [Contender(FIRST, recipe.covering_rate, _likelihood_of(recipe), settings=recipe.settings)]
    for name in RIVALS:
        if name in contenders:
            found.append(_measured(name, contenders[name], task, recipe, hook))
    best = max((one for one in found if not one.left_out), key=_rank)  # of equals the first
    return _told(replace(recipe, method=best.method, methods=tuple(found)), best, contenders)


def _rank(one: Contender) -> tuple[float, float]:
    likelihood = -math.inf if one.log_likelihood is None else one.log_likelihood
    return one.covering_rate or 0.0, likelihood


def _likelihood_of(recipe: Recipe) -> float | None:
    """Return the log-likelihood of the chosen settings, found among the trials."""
    chosen = recipe.given | recipe.settings
    same = [
        trial.log_likelihood
        for trial in recipe.trials
        if trial.covering_rate == recipe.covering_rate
        and all(chosen.get(name, value) == value for name, value in trial.settings.items())
    ]
    return same[-1] if same else None


def _measured(name: str, estimator: PartialLabelEstimator, task: Task, recipe: Recipe, hook: Hook | None) -> Contender:
    """Return what a method reaches on the held-out parts of a recipe's search; why it was left out, where it was."""
    parts = inner_parts(len(task.candidates), recipe.examples, recipe.folds, recipe.seed)
    obstacle = _obstacle(estimator, task, [len(train) for train, _ in parts])
    if obstacle:
        return Contender(name, left_out=obstacle)
    covered, likelihood = [], []
    for train, held in parts:
        one = clone(estimator)
        try:
            part = Task(task.X[train], task.candidates.take(train), kind=task.kind)
            for _ in one.iter_fit(part, hook=hook):
                pass
            inside, log_p = _scored(one, task.X[held], task.candidates.take(held))
        except UserError as error:
            return Contender(name, left_out=str(error))
        covered.append(inside)
        likelihood.append(log_p)
    rate, log_likelihood = float(np.concatenate(covered).mean()), float(np.concatenate(likelihood).mean())
    return Contender(name, rate, log_likelihood)


def _obstacle(estimator: PartialLabelEstimator, task: Task, sizes: list[int]) -> str:
    """Return why a method does not fit the budget; "" where it does."""
    assert isinstance(estimator, ClassicalEstimator)
    n, c, d = len(task.candidates), task.candidates.n_classes, math.prod(task.X.shape[1:])
    mean = task.candidates.nnz / n
    costs = [type(estimator).cost(size, d, c, int(mean * size)) for size in (*sizes, n)]
    seconds, memory = sum(cost.seconds for cost in costs), max(cost.memory_bytes for cost in costs)
    if seconds > BUDGET:
        return f"it would take about {seconds:,.0f} s, and the budget is {BUDGET:.0f} s"
    if memory > MEMORY:
        return f"it would take about {memory / 1e9:.1f} GB of memory, and the budget is {MEMORY / 1e9:.0f} GB"
    return ""


def _scored(
    estimator: PartialLabelEstimator, X: Features, sets: CandidateSets
) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.float64]]:
    """Return (h,) whether the prediction is a candidate, and log Σ_{j ∈ S} g_j, at least −50."""
    mask = sets.mask()
    best = estimator.predict_scores(X).argmax(axis=1)
    inside = mask[np.arange(len(mask)), best]
    share = np.where(mask, estimator.predict_proba(X).astype(np.float64), 0.0).sum(axis=1)
    return inside, np.log(np.clip(share, math.exp(-50.0), 1.0))


def _told(recipe: Recipe, best: Contender, contenders: Mapping[str, PartialLabelEstimator]) -> Recipe:
    """Return the recipe with the rates of the chosen method, and with sentences on the comparison."""
    rate, constant, h = best.covering_rate, recipe.constant_covering_rate, recipe.held_out
    assert rate is not None and constant is not None and recipe.interval is not None
    titles = {name: type(estimator).title for name, estimator in contenders.items()}
    rates = ", ".join(
        f"{titles[one.method]} {one.covering_rate:.1%}" for one in recipe.methods if one.covering_rate is not None
    )
    notes = [
        f"The method is {titles[best.method]}. Share of {h:,} held-out examples whose prediction is among their "
        f"candidates: {rates}; best constant label {constant:.1%}.",
        *(f"{titles[one.method]} was left out: {one.left_out.rstrip('.')}." for one in recipe.methods if one.left_out),
    ]
    others = [note for note in recipe.notes if note != chance_note(recipe.covering_rate, recipe.interval, constant)]
    found = binomtest(round(rate * h), h).proportion_ci(method="wilson")
    interval = (float(found.low), float(found.high))
    chance = chance_note(rate, interval, constant)
    return replace(
        recipe,
        settings=recipe.settings if best.method == FIRST else {},
        covering_rate=rate,
        interval=interval,
        notes=(*notes, *([chance] if chance else []), *others),
    )

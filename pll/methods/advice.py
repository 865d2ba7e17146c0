"""Estimated cost of a method and model on some data, and obstacles, before training."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod

from pll.dataset import PartialLabelDataset
from pll.methods import PartialLabelEstimator
from pll.methods.choice import FIRST, Auto
from pll.methods.classical import ClassicalEstimator
from pll.methods.deep import DeepEstimator
from pll.methods.defaults import default_batch_size
from pll.methods.recipe import BUDGET
from pll.training.devices import choose_device
from pll.training.models import MODEL_INFO, count_parameters, forward_flops

LONG = 600.0
"""Seconds above which a run is called long."""
_FLOPS = {"cpu": 3e10, "cuda": 5e12}
"""Effective operations per second of one core and of a GPU on small models, within a factor of about three."""
_STEP_SECONDS = 6e-4
"""Seconds of a step that do not depend on the model."""


@dataclass(frozen=True)
class Advice:
    """Estimated cost of a run, and what prevents it.

    Attributes:
        seconds: estimated time of the whole run.
        memory_bytes: estimated peak memory beyond the data.
        obstacles: reasons why it cannot run; empty where it can.
        notes: warnings.
    """

    seconds: float
    memory_bytes: int
    obstacles: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def advise(estimator: PartialLabelEstimator, data: PartialLabelDataset) -> Advice:
    """Estimate the cost of fitting an estimator to data with candidate sets, and list obstacles.

    Raises:
        UserError: a setting that is out of range.
    """
    estimator.check_settings()
    if isinstance(estimator, Auto):  # what does not fit the budget of a search is not compared
        estimator = estimator.contenders()[FIRST]
    cost = _advise_deep(estimator, data) if isinstance(estimator, DeepEstimator) else _advise_classical(estimator, data)
    return replace(cost, notes=(*type(estimator).doubts(data.sets()), *cost.notes))


def _advise_classical(estimator: PartialLabelEstimator, data: PartialLabelDataset) -> Advice:
    assert isinstance(estimator, ClassicalEstimator)
    sets = data.sets()
    cost = type(estimator).cost(len(data), prod(data.input_shape), sets.n_classes, sets.nnz)
    return Advice(cost.seconds, cost.memory_bytes, notes=() if cost.note is None else (cost.note,))


def _advise_deep(estimator: DeepEstimator, data: PartialLabelDataset) -> Advice:
    name, shape, c = estimator.model, data.input_shape, data.n_classes
    if not isinstance(name, str) or not prod(shape):
        return Advice(0.0, 0)  # a network of one's own, or no features yet: nothing is known
    obstacle = MODEL_INFO[name].obstacle(shape) if name in MODEL_INFO else None
    pull = _number(estimator.setting("lr")) * _number(estimator.weight_decay)
    if pull >= 2:  # each step then leads past zero and farther away: |1 − lr · weight decay| ≥ 1
        obstacle = (
            f"Learning rate × weight decay is {pull:g}: every step would push the parameters past zero, farther each "
            "time. Keep the product below 2, best far below 1."
        )
    if obstacle is not None:
        return Advice(0.0, 0, (obstacle,))
    device = choose_device(estimator.device).type
    steps = -(-len(data) // (estimator.batch_size or default_batch_size(len(data))))
    epoch = 3 * forward_flops(name, shape, c) * len(data) / _FLOPS.get(device, _FLOPS["cpu"]) + steps * _STEP_SECONDS
    seconds = estimator.epochs * epoch
    seconds += max(BUDGET, 3 * seconds) if estimator.recipe == "auto" else 0.0
    memory = 4 * (data.X.size + 3 * count_parameters(name, shape, c)) + 12 * len(data) * c
    notes = []
    if seconds > LONG:
        where = "this machine has no GPU" if device == "cpu" else "even on the GPU"
        notes.append(f"This will take about {_hours(seconds)} ({where}); fewer epochs or a smaller model take less.")
    return Advice(seconds, memory, notes=tuple(notes))


def _number(value: object) -> float:
    """A setting that is a number; 0 where it is chosen otherwise."""
    return float(value) if isinstance(value, int | float) else 0.0


def _hours(seconds: float) -> str:
    return f"{seconds / 60:.0f} minutes" if seconds < 7200 else f"{seconds / 3600:.0f} hours"

"""Estimated cost of a method and model on some data, and obstacles, before training."""

from __future__ import annotations

from dataclasses import replace
from math import prod
from typing import Any, NamedTuple

from pll.dataset import PartialLabelDataset
from pll.errors import UserError
from pll.io import is_mapped, memory_of_machine
from pll.methods.base import PartialLabelEstimator
from pll.methods.classical import Cost
from pll.methods.deep import DeepEstimator
from pll.methods.defaults import TABLE_LR, default_batch_size, suited
from pll.methods.recipe import BUDGET
from pll.training.devices import choose_device, gpus, memory_of
from pll.training.layouts import DenseLayout, layout_type
from pll.training.models import MODEL_FACTORIES, count_parameters, count_tensors, forward_flops, why_unfit
from pll.training.scaling import evaluation_batch
from pll.training.streamed import features_fit
from pll.wording import duration

LONG_RUN = 600.0
"""Seconds above which a run is called long."""


class _Speed(NamedTuple):
    """Estimates within a factor of about three.

    Attributes
    ----------
    flops, picture_flops
        Operations a second of models of tables, and of pictures.
    step_seconds, parameter_seconds
        Of a step, and more for each tensor of parameters: of starting its kernels.
    output_seconds
        Of a step, for each logit: softmax, loss and their gradients.
    """

    flops: float
    picture_flops: float
    step_seconds: float
    parameter_seconds: float
    output_seconds: float


_CORE = _Speed(3e10, 6e10, 6e-4, 0.0, 1.5e-8)
_GPU = _Speed(5e12, 2e14, 2e-5, 4e-5, 1e-10)
"""As measured on an H200 (docs/gpu.md), which computes as fast as an H100."""
_OUTPUT_BYTES = 20
"""Memory of a step for each logit: five numbers."""
SLOW = 60.0
"""Seconds above which a method that cannot use a GPU is said to take long."""
CHOSEN_BY_AUTO = ("model", "scale", "optimiser", "lr", "batch_size", "weight_decay", "epochs")
"""Settings that the recipe `auto` searches, where they are not given."""
MUCH_MEMORY = 500 * 10**6
"""Bytes of one step above which there is a note."""


def advise(estimator: PartialLabelEstimator, data: PartialLabelDataset) -> Cost:
    """Estimate the cost of fitting an estimator to data with candidate sets, and list obstacles.

    Parameters
    ----------
    estimator
        Unfitted.
    data
        With candidate sets.

    Raises
    ------
    UserError
        A setting that is out of range.
    """
    cost = _cost(estimator, data)
    obstacles = (*cost.obstacles, *_memory_obstacles(cost.memory_bytes, estimator, data.n_classes))
    return replace(cost, obstacles=obstacles, notes=(*type(estimator).doubts(data.sets()), *cost.notes))


def expected_settings(estimator: PartialLabelEstimator, data: PartialLabelDataset) -> dict[str, Any]:
    """Return the settings with which a fit to data will train; None for those that the recipe `auto` searches.

    Parameters
    ----------
    estimator
        Unfitted.
    data
        With candidate sets.
    """
    values: dict[str, Any] = estimator.get_params(deep=False)
    if not isinstance(estimator, DeepEstimator):
        return values
    given = estimator.given_settings()
    if estimator.recipe == "auto":
        return values | {name: None for name in CHOSEN_BY_AUTO if name not in given}
    if estimator.recipe.startswith("paper"):
        values |= estimator.published_recipe(data.input_shape, data.name).settings
    return values | suited(values, data.X)


def check_memory(estimator: PartialLabelEstimator, data: PartialLabelDataset) -> None:
    """Refuse a fit that cannot fit into the memory of this machine.

    Parameters
    ----------
    estimator
        Unfitted.
    data
        With candidate sets.

    Raises
    ------
    UserError
        The fit needs more memory than there is; or a setting is out of range.
    """
    if found := _memory_obstacles(_cost(estimator, data).memory_bytes, estimator, data.n_classes):
        raise UserError(found[0])


def _cost(estimator: PartialLabelEstimator, data: PartialLabelDataset) -> Cost:
    """Return what a fit costs."""
    estimator.check_settings()
    if isinstance(estimator, DeepEstimator):
        return _advise_deep(estimator, data)
    sets = data.sets()
    cost: Cost = type(estimator).cost(len(data), prod(data.input_shape), sets.n_classes, sets.nnz)
    if cost.seconds <= SLOW and cost.memory_bytes <= 1e9:
        return cost
    memory = f" and {cost.memory_bytes / 1e9:.1f} GB of memory" if cost.memory_bytes > 1e9 else ""
    return replace(cost, notes=(f"This takes about {duration(cost.seconds)}{memory}.{estimator.cheaper}",))


def epoch_seconds(model: str, shape: tuple[int, ...], c: int, n: int, batch_size: int, *, gpu: bool) -> float:
    """Estimate the seconds of an epoch of n examples of this shape, on one core or a GPU.

    Parameters
    ----------
    model
        Its name.
    shape
        Of one example.
    c, n
        Classes, and examples.
    batch_size
        Examples a step.
    gpu
        Whether it is on a GPU.

    Examples
    --------
    >>> on_core, on_gpu = (epoch_seconds("convnet", (3, 32, 32), 10, 50_000, 256, gpu=gpu) for gpu in (False, True))
    >>> 20 < on_core / on_gpu < 20_000
    True
    """
    speed, steps = _GPU if gpu else _CORE, -(-n // batch_size)
    flops = speed.picture_flops if len(shape) == 3 and model not in ("linear", "mlp", "shallow-mlp") else speed.flops
    step = speed.step_seconds + count_tensors(model, shape, c) * speed.parameter_seconds
    return 3 * forward_flops(model, shape, c) * n / flops + steps * step + n * c * speed.output_seconds


def fit_seconds(
    estimator: PartialLabelEstimator, n: int, shape: tuple[int, ...], c: int, nnz: int, *, gpu: bool = False
) -> float | None:
    """Estimate the seconds of a fit with the settings in use; None for a network of one's own.

    Parameters
    ----------
    estimator
        The method.
    n, shape
        Number of examples, and the shape of one.
    c, nnz
        Number of classes, and of candidates in all.
    gpu
        Whether a method that can compute on a GPU does; else on one core.
    """
    if not isinstance(estimator, DeepEstimator):
        return float(type(estimator).cost(n, prod(shape), c, nnz).seconds)
    own = estimator.chosen_settings()
    if not isinstance(own["model"], str):
        return None
    batch_size = own["batch_size"] or default_batch_size(n)
    return float(own["epochs"] * epoch_seconds(own["model"], shape, c, n, batch_size, gpu=gpu))


def seconds_with_search(estimator: PartialLabelEstimator, seconds: float) -> float:
    """Estimate the seconds of a fit with those in which the recipe `auto` chooses its settings before.

    Parameters
    ----------
    estimator
        The method, unfitted.
    seconds
        Of the fit alone.
    """
    is_searched = isinstance(estimator, DeepEstimator) and estimator.recipe == "auto"
    return seconds + max(BUDGET, 3 * seconds) if is_searched else seconds


def _memory_obstacles(needed: int, estimator: PartialLabelEstimator, c: int) -> tuple[str, ...]:
    gpu = memory_of(choose_device(estimator.device)) if isinstance(estimator, DeepEstimator) else None
    there, where = (memory_of_machine(), "this machine") if gpu is None else (gpu.total, "the GPU")
    if there is None or needed <= there:
        return ()
    smaller = "a smaller batch" if isinstance(estimator, DeepEstimator) else "another method"
    return (
        f"{estimator.title} needs about {needed / 1e9:,.0f} GB of memory for {c:,} classes, and {where} has "
        f"{there / 1e9:,.0f} GB. Fewer classes, {smaller} or fewer examples take less.",
    )


def _advise_deep(estimator: DeepEstimator, data: PartialLabelDataset) -> Cost:
    name, shape, c = estimator.model, data.input_shape, data.n_classes
    if not isinstance(name, str) or not prod(shape):
        return Cost(0, 0.0)  # a network of one's own, or no features yet: nothing is known
    obstacle = why_unfit(name, shape) if name in MODEL_FACTORIES else None
    pull = (TABLE_LR if estimator.lr is None else estimator.lr) * estimator.weight_decay
    if pull >= 2:  # each step then leads past zero and farther away: |1 − lr · weight decay| ≥ 1
        obstacle = (
            f"Learning rate × weight decay is {pull:g}: every step would push the parameters past zero, farther each "
            "time. Keep the product below 2, best far below 1."
        )
    if obstacle is not None:
        return Cost(0, 0.0, (obstacle,))
    device = choose_device(estimator.device)
    batch_size = estimator.batch_size or default_batch_size(len(data))
    epoch = epoch_seconds(name, shape, c, len(data), batch_size, gpu=device.type != "cpu")
    seconds = seconds_with_search(estimator, estimator.epochs * epoch)
    sets, n = data.sets(), len(data)
    of_a_step = _OUTPUT_BYTES * min(batch_size, n) * c
    of_evaluation = 8 * min(evaluation_batch(data.X.shape, c), n) * c
    store = n * c if layout_type(sets) is DenseLayout else 2 * sets.nnz
    streamed = is_mapped(data.X) or not features_fit(4 * data.X.size, memory_of(device))
    features = 0 if streamed else data.X.size  # else they are read batch by batch
    memory = 4 * (features + 3 * count_parameters(name, shape, c)) + 12 * store + max(of_a_step, of_evaluation)
    notes = []
    if of_a_step > MUCH_MEMORY:
        notes.append(
            f"{c:,} classes: about {memory / 1e9:.1f} GB of memory and {duration(epoch)} an epoch. "
            "A smaller batch takes less memory."
        )
    if seconds > LONG_RUN:
        where = "even on the GPU" if device.type != "cpu" else "on the CPU" if gpus() else "this machine has no GPU"
        notes.append(f"This will take about {duration(seconds)} ({where}); fewer epochs or a smaller model take less.")
    return Cost(memory, seconds, notes=tuple(notes))

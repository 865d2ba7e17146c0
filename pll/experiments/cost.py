"""What an experiment will cost, before it starts: estimated from the sizes of its data and models."""

from __future__ import annotations

from collections.abc import Iterable

from pll import catalog
from pll.errors import UserError
from pll.experiments.experiment import Cell
from pll.methods.advice import fit_seconds, seconds_with_search
from pll.methods.deep import DeepEstimator
from pll.training.devices import gpus
from pll.wording import duration

LONG_EXPERIMENT = 1800.0
"""Seconds from which on the cost on the other kind of machine is said, too."""

BASIS = "a rough estimate, from sizes"
"""What the words say of an estimate."""


def seconds_of(cells: Iterable[Cell], *, gpu: bool) -> float | None:
    """Estimate the seconds of fits one after the other, on one core or on a GPU of the size of an H100.

    Within a factor of about three. None where the sizes of some data are not known before they are read, as of files.

    Parameters
    ----------
    cells
        The fits.
    gpu
        Whether on a GPU.
    """
    each = [_seconds(cell, gpu=gpu) for cell in cells]
    known = [seconds for seconds in each if seconds is not None]
    return sum(known) if len(known) == len(each) else None


def _seconds(cell: Cell, *, gpu: bool) -> float | None:
    if cell.source.path is not None:
        return None
    entry, estimator = catalog.find(cell.source.name), cell.estimator()
    if isinstance(estimator, DeepEstimator) and cell.recipe == "paper":
        estimator.recipe_ = estimator.published_recipe(entry.shape, cell.dataset)
    candidates = entry.mean_candidates or 1 + (entry.c - 1) * (0.0 if cell.flip is None else cell.flip.q or 0.0)
    n = int(entry.n * (1 - (cell.holdout or 0.0))) if cell.folds is None else entry.n * (cell.folds - 1) // cell.folds
    seconds = fit_seconds(estimator, n, entry.shape, entry.c, int(n * candidates), gpu=gpu)
    return None if seconds is None else seconds_with_search(estimator, seconds)


def cost_in_words(cells: Iterable[Cell], at_once: int) -> str:
    """Return what fits will cost here and, if long, on the other kind of machine; "" for none, or where not known.

    Parameters
    ----------
    cells
        What is left to fit.
    at_once
        How many are fitted at a time.
    """
    cells = list(cells)
    try:
        on_gpu, on_core = (seconds_of(cells, gpu=gpu) for gpu in (True, False))
    except UserError:  # data that is not in the catalogue, or a setting out of range, which is said elsewhere
        return ""
    if on_gpu is None or on_core is None:
        return ""
    on_cpu = on_core / max(1, at_once)
    here = on_gpu if gpus() else on_cpu
    if here < LONG_EXPERIMENT:
        return f"About {duration(here)} on this {'GPU' if gpus() else 'CPU'} ({BASIS})." if cells else ""
    both = f"{duration(on_gpu)} on one GPU of the size of an H100", f"{duration(on_cpu)} on this CPU"
    return f"About {', '.join(both if gpus() else both[::-1])} ({BASIS})."

"""Lanes of a comparison as an experiment: the same methods and settings over several seeds and values of q."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pll.errors import UserError
from pll.experiments.experiment import DataFile, Experiment, FlipGrid
from pll.methods import get_method
from pll.runs.config import RunConfig

MOST_SEEDS = 20


def sweep(lanes: Sequence[RunConfig], *, seeds: int, qs: Sequence[float] = ()) -> Experiment:
    """Return the experiment that repeats lanes.

    Every seed draws another split, other candidate sets and another start, the same for all lanes.

    Parameters
    ----------
    lanes
        Of one comparison: they share all but method and settings.
    seeds
        How many; they begin at the seed of the lanes.
    qs
        Flipping probabilities, each once; none for that of the lanes.

    Raises
    ------
    UserError
        Candidate sets that an experiment cannot make, or nothing to test on.

    Examples
    --------
    >>> from pll.catalog.sources import Source
    >>> from pll.synthesis import Flip
    >>> lane = RunConfig(Source("iris"), flip=Flip("binomial", 0.3), holdout=0.2)
    >>> len(sweep([lane], seeds=3, qs=[0.1, 0.5]).plan().cells)
    6
    """
    first = lanes[0]
    if first.noisy is not None or first.test is not None or first.decided_sets is not None:
        raise UserError("Only candidate sets of the file, and those made with q, can be repeated over seeds.")
    if first.flip is not None and first.flip.matrix is not None:
        raise UserError("Candidate sets made by a matrix cannot be repeated; choose binomial or pair on the Data page.")
    if not 1 <= seeds <= MOST_SEEDS:
        raise UserError(f"{seeds} seeds: choose 1 to {MOST_SEEDS}.")
    if qs and (first.flip is None or first.flip.q is None):
        raise UserError("These candidate sets have no q; leave it out, or add candidates on the Data page.")
    source = first.source
    file = DataFile(
        path=source.path or "",
        rule=source.rule,
        format=source.format,
        options=source.options,
        classes=source.classes,
    )
    flips: list[FlipGrid] = []
    if first.flip is not None:
        q = sorted(set(qs)) if qs else first.flip.q
        flips = [FlipGrid(how=first.flip.how, q=q, size=first.flip.size)]
    models = list(dict.fromkeys(_setting(lane, "model") for lane in lanes if _setting(lane, "model")))
    if len(models) > 1:
        raise UserError("The lanes have different models; repeat lanes of one model.")
    return Experiment(
        title=f"{first.name or source.name}: {len(lanes)} lanes repeated",
        datasets={source.name: file},
        flips=flips,
        methods=[lane.method for lane in lanes],
        models=models or ["linear"],
        holdout=first.holdout,
        seeds=[first.seed + k for k in range(seeds)],
        features=first.features,
        strict=first.strict,
        settings=[{"method": lane.method, **own} for lane in lanes if (own := _own(lane))],
    )


def _setting(lane: RunConfig, name: str) -> Any:
    return (get_method(lane.method)().get_params() | lane.params).get(name)


def _own(lane: RunConfig) -> dict[str, Any]:
    """Return the settings of a lane that an experiment does not set itself."""
    return {name: value for name, value in lane.params.items() if name not in ("model", "seed", "threads")}

"""Lanes of a comparison: which methods can be compared on some data, with what settings, and what they are called."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import prod
from typing import Any

from pll.dataset import PartialLabelDataset
from pll.errors import UserError
from pll.methods import METHODS, method_title
from pll.methods.advice import advise
from pll.runs.config import DataConfig, RunConfig, differences, new_estimator
from pll.runs.run import MOST_LANES


def lane_configs(
    shared: RunConfig, methods: Sequence[str], own: Mapping[str, Mapping[str, Any]] | None = None
) -> list[RunConfig]:
    """Return one config per method: the same data, split, candidate sets, seed, and the shared settings it has.

    Parameters
    ----------
    shared
        Settings that all lanes have in common; its `method` is ignored.
    methods
        Names of `METHODS`.
    own
        Method → settings in which this lane differs from the shared ones.

    Raises
    ------
    UserError
        See `check_lanes`; a setting that does not exist.
    """
    made = []
    for method in methods:
        defaults = METHODS[method]().get_params()
        common = {name: value for name, value in shared.params.items() if name in defaults}
        made.append(replace(shared, method=method, params=common | dict((own or {}).get(method, {}))))
    check_lanes(made)
    return made


def check_lanes(configs: Sequence[RunConfig]) -> None:
    """Raise UserError unless these are two to `MOST_LANES` lanes that share all but method and settings."""
    if not 2 <= len(configs) <= MOST_LANES:
        raise UserError(f"{len(configs)} lanes cannot be compared; choose two to {MOST_LANES}.")
    for config in configs:
        new_estimator(config)
        for name in DataConfig.__dataclass_fields__:
            if getattr(config, name) != getattr(configs[0], name):
                raise UserError(f"The lanes differ in {name}; lanes share everything but method and settings.")


def why_not(method: str, data: PartialLabelDataset) -> str | None:
    """Return the reason why a method cannot be a lane on this data; None where it can.

    Parameters
    ----------
    method
        Its name.
    data
        The training part, with its candidate sets.
    """
    kind = METHODS[method]
    if kind.needs_truth and data.n_labelled < len(data):
        return f"{kind.title} learns from the true label of every example, which this data does not have."
    if kind.needs_features and not prod(data.input_shape):
        return f"{kind.title} learns from features, and this data has none."
    if kind.adds_labels:
        return f"{kind.title} adds labels to candidate sets, and lanes share theirs; train it on its own."
    try:
        obstacles = advise(kind(), data).obstacles
    except UserError as error:  # sets from which this method cannot learn
        return str(error)
    return obstacles[0] if obstacles else None


def lane_titles(configs: Sequence[RunConfig]) -> list[str]:
    """Return the title of each lane: its method; where a method occurs twice, also the settings that differ."""
    methods = [config.method for config in configs]
    apart = {name: iter(differences([one for one in configs if one.method == name])) for name in methods}
    titles = [f"{method_title(name)} {next(apart[name])}".rstrip() for name in methods]
    alike = [titles[: k + 1].count(title) for k, title in enumerate(titles)]
    return [f"{title} ({k})" if titles.count(title) > 1 else title for k, title in zip(alike, titles, strict=True)]

"""Configuration of a run: everything that determines its result, as plain values for config.json."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self

from pll.annotations import SetRule
from pll.catalog.sources import Source
from pll.dataset import PartialLabelDataset
from pll.errors import UserError
from pll.formats.classes import with_classes
from pll.io import Progress
from pll.methods import METHODS, method_title
from pll.runs.decided_sets import DecidedSets
from pll.runs.description import RUN_FIELDS, setting_clause
from pll.synthesis import Flip
from pll.synthesis.label_noise import Noisy
from pll.wording import percent

if TYPE_CHECKING:
    from pll.methods.base import PartialLabelEstimator


@dataclass(frozen=True, kw_only=True)
class Preparation:
    """How data becomes a training task (`pll.runs.data.prepare`); `pll.runs.description` says more of each field.

    Parameters
    ----------
    flip
        Make candidate sets of the true labels of the training part; None uses those of the data.
    noisy
        Make them of single labels that may be wrong; None for none.
    features
        What makes features of texts, pictures and words (a spec of `pll.features.selection.featuriser`): `"auto"` for
        what suits the data, `"none"` where it has all it needs.
    holdout
        Share of the examples, in (0, 1), to hold out as the test part; None for none.
    seed
        Of the split, the sets and the method.
    strict
        Refuse examples whose true label is not among their candidates.
    """

    flip: Flip | None = None
    noisy: Noisy | None = None
    features: str = "auto"
    holdout: float | None = None
    seed: int = 0
    strict: bool = False


AS_GIVEN = tuple(name for name in RUN_FIELDS if name in {*Preparation.__dataclass_fields__} - {"flip", "noisy"})
"""Fields of a preparation that shell, link and TOML give as they are."""


@dataclass(frozen=True)
class DataConfig(Preparation):
    """What is learnt from and tested on: data, and how it becomes a training task.

    Parameters
    ----------
    flip, noisy, features, holdout, seed, strict
        As in `Preparation`.
    source
        The data.
    test
        Data to test on; None for a part of the data itself, or nothing.
    """

    source: Source
    test: Source | None = field(default=None, kw_only=True)

    def load(self, progress: Progress | None = None) -> tuple[PartialLabelDataset, PartialLabelDataset | None]:
        """Read the data, and what it is tested on.

        Parameters
        ----------
        progress
            As for `Source.load`.

        Raises
        ------
        UserError
            As `Source.load`.
        """
        test = None if self.test is None else self.test.load(progress)
        if test is not None:
            test = with_classes(test, self.source.classes, strict=False)
        return self.source.load(progress), test

    def hashed(self) -> Self:
        """Return the same with the hashes of its files."""
        return replace(self, source=self.source.hashed(), test=None if self.test is None else self.test.hashed())

    def untested(self) -> DataConfig:
        """Return the same data and candidate sets, to be learnt from as a whole."""
        given = {name: getattr(self, name) for name in DataConfig.__dataclass_fields__}
        return DataConfig(**given | {"holdout": None, "test": None})


@dataclass(frozen=True)
class RunConfig(DataConfig):
    """Everything that determines a run's result.

    Parameters
    ----------
    flip, noisy, features, holdout, seed, strict, source, test
        As in `DataConfig`.
    method
        A name of `METHODS`.
    params
        Settings of the method that were given by hand, also where they equal its defaults: no recipe changes them.
    name
        Display name.
    decided_sets
        Candidate sets changed by the decisions of a review; None for none.
    """

    method: str = "proden"
    params: dict[str, Any] = field(default_factory=dict)
    name: str = ""
    decided_sets: DecidedSets | None = None

    @classmethod
    def on(cls, data: DataConfig, **settings: Any) -> RunConfig:
        """Return the config of a run on this data.

        Parameters
        ----------
        data
            What is learnt from.
        settings
            Other fields, also those of the data that are not its own.
        """
        return cls(**vars(data) | settings)

    @property
    def candidates(self) -> str:
        """Description of where the candidate sets come from."""
        made = self.flip or self.noisy
        if made is not None:
            return made.words
        return SetRule.parse(self.source.rule).words if self.source.rule else "as in the data"

    @property
    def learnt(self) -> Mapping[int, tuple[int, ...]]:
        """Row → the labels that decisions had left of its set when the run began; empty where it was taught none."""
        return {} if self.decided_sets is None else self.decided_sets.by_row


def new_estimator(config: RunConfig, *, is_table: bool = False) -> PartialLabelEstimator:
    """Return the unfitted estimator of a run. Missing cells of a table are filled; in arrays they are refused.

    Parameters
    ----------
    config
        Of the run.
    is_table
        Whether the data is a table.

    Raises
    ------
    UserError
        No such method, or a setting it does not have.
    """
    method = METHODS[config.method]
    defaults = method().get_params()
    for name, value in config.params.items():
        if name not in defaults:
            raise UserError(f"{method.title} has no setting called {name!r}; it has {', '.join(sorted(defaults))}.")
        if isinstance(value, float) and not math.isfinite(value):
            raise UserError(f"{name} is {value}; it must be a finite number.")
    own = {"seed": config.seed} | ({"missing": "mean"} if is_table else {})
    estimator = method(**{name: value for name, value in own.items() if name in defaults} | config.params)
    estimator.given = frozenset(config.params)
    return estimator


def facts_of(config: RunConfig, *, defaults: bool = True) -> dict[str, str]:
    """Return what a run is, a clause a fact by name; "" for what it does not have.

    Parameters
    ----------
    config
        Of the run.
    defaults
        Also the settings of the method that were not given.
    """
    settings = (METHODS[config.method]().get_params() if defaults else {}) | config.params
    return {
        "method": method_title(config.method),
        "name": config.name or config.source.name,
        "sets": f"candidates {'made: ' * bool(config.flip or config.noisy)}{config.candidates}",
        "taught": "" if config.decided_sets is None else "taught by decisions",
        "features": f"features {config.features}",
        "holdout": f"{percent(config.holdout, 0)} held out" if config.holdout else "",
        "seed": f"seed {config.seed}",
    } | {name: setting_clause(name, value) for name, value in settings.items() if name not in ("seed", "threads")}


def differences(configs: Sequence[RunConfig], *, defaults: bool = True) -> list[str]:
    """Return of each run in what it differs from the others: its name, where no two have one, else all that differs.

    Parameters
    ----------
    configs
        Of runs that have one title.
    defaults
        As for `facts_of`.
    """
    every = [facts_of(config, defaults=defaults and config.params.get("recipe") != "auto") for config in configs]
    names = dict.fromkeys(name for one in every for name in one)
    differing = [name for name in names if len({one.get(name) for one in every}) > 1]
    if "name" in differing and len({one["name"] for one in every}) == len(every):
        differing = ["name"]
    return [", ".join(own[name] for name in differing if own.get(name)) for own in every]


def format_settings(config: RunConfig) -> str:
    """Format the settings of a run in one line; what its recipe searches is not named."""
    facts = facts_of(config, defaults=config.params.get("recipe") != "auto")
    shown = ("method", "recipe", "model", "sets", "epochs", "lr", "holdout", "seed")
    return " · ".join(facts[name] for name in shown if facts.get(name))

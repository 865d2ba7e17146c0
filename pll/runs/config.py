"""Configuration of a run: everything that determines its result, as plain values for config.json."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from pll.annotations import SetRule
from pll.catalog.sources import Source
from pll.errors import UserError
from pll.methods import get_method, method_title
from pll.runs.decided_sets import DecidedSets
from pll.runs.description import FIELDS
from pll.synthesis import Flip
from pll.synthesis.label_noise import Noisy
from pll.wording import percent

if TYPE_CHECKING:
    from pll.methods import PartialLabelEstimator


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
        What makes features of texts, pictures and words (a spec of `pll.features.featuriser`): `"auto"` for what suits
        the data, `"none"` where it has all it needs.
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


AS_GIVEN = tuple(name for name in FIELDS if name in Preparation.__dataclass_fields__ and name not in ("flip", "noisy"))
"""Fields of a preparation that shell, link and TOML give as they are."""


@dataclass(frozen=True)
class RunConfig(Preparation):
    """Everything that determines a run's result.

    Parameters
    ----------
    flip, noisy, features, holdout, seed, strict
        As in `Preparation`.
    source
        The data.
    method
        A name of `METHODS`.
    params
        Settings of the method that were given by hand, also where they equal its defaults: no recipe changes them.
    test
        Data to test on, or None.
    name
        Display name.
    decided_sets
        Candidate sets changed by the decisions of a review; None for none.
    """

    source: Source
    method: str = "proden"
    params: dict[str, Any] = field(default_factory=dict)
    test: Source | None = None
    name: str = ""
    decided_sets: DecidedSets | None = None

    @property
    def candidates(self) -> str:
        """Description of where the candidate sets come from."""
        made = self.flip or self.noisy
        if made is not None:
            return made.words
        return SetRule.parse(self.source.rule).words if self.source.rule else "as in the data"

    def to_json(self) -> dict[str, Any]:
        """Return plain values for config.json."""
        return asdict(self)


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
    method = get_method(config.method)
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


def format_settings(config: RunConfig) -> str:
    """Format the settings of a run in one line; what its recipe searches is not named."""
    texts = [method_title(config.method)]
    defaults = get_method(config.method)().get_params()
    every = defaults | config.params
    if config.params.get("recipe") == "auto":
        texts.append("recipe auto")
        every = {name: value for name, value in config.params.items() if name in defaults}
    texts.append(str(every.get("model", "")))
    if config.flip is not None:
        texts.append(f"candidates made: {config.flip.words}")
    elif config.noisy is not None or config.source.rule:
        texts.append(config.candidates)
    if "epochs" in every:
        texts.append(f"{every['epochs']} epochs")
    if every.get("lr") is not None:  # PL-SVM has epochs, and steps that follow from them
        texts.append(f"learning rate {every['lr']:g}")
    if config.holdout:
        texts.append(f"{percent(config.holdout, 0)} held out")
    texts.append(f"seed {config.seed}")
    return " · ".join(part for part in texts if part)

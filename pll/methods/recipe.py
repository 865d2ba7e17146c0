"""A recipe: how the settings of a deep method are chosen, and the record of a choice.

`default` takes the method's defaults, `paper` the published settings of the data set (`pll.methods.published`),
`auto` searches (`pll.methods.recipe_search`), the path of a recipe.json takes what was chosen before (`stored`). A
setting that is given explicitly stays in every recipe.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from pll.colors import percent
from pll.errors import UserError

RECIPES = ("auto", "default", "paper")

SEARCHED = (
    "model", "scale", "optimiser", "lr", "weight_decay", "momentum", "batch_size", "epochs",
    "loss", "lr_decay", "lr_decay_every", "augment",
)  # fmt: skip
"""Settings that a recipe may choose, or has to know."""
Settings = dict[str, Any]


@dataclass(frozen=True)
class Trial:
    """One configuration after so many epochs, as measured on held-out examples.

    Attributes:
        settings: of the method.
        stage: 1, 2, …; later stages have fewer configurations.
        covering_rate: share in [0, 1].
        log_likelihood: of the held-out candidate set, mean; in searches of earlier versions that of one flip rate for
            all classes.
        loss: mean training loss of the last epoch; None in searches of earlier versions.
    """

    settings: Settings
    stage: int
    covering_rate: float
    log_likelihood: float
    loss: float | None = None


@dataclass(frozen=True)
class Recipe:
    """Settings that were chosen, and why; `as_json` is the content of recipe.json.

    Attributes:
        recipe: one of `RECIPES`.
        settings: chosen settings; those not named keep the method's defaults.
        given: settings given explicitly, which were not searched.
        covering_rate, interval: of the chosen configuration on held-out examples, with its 95 % interval (Wilson). The
            choice was made on the same examples, so the figure is slightly optimistic.
        default_covering_rate: that of the default settings.
        constant_covering_rate: that of the best constant label.
        certain: share of bootstrap samples of the held-out examples in which the chosen configuration is at least as
            likely as those of other representations or models that cover as much; 1 where there is no other.
        examples, held_out, folds: how many examples were used, held out in all, and in how many parts.
        seed: of the search.
        complete: False where it was stopped.
        notes: what a user should know, as sentences.
        warnings: sentences on features that say nothing that is measurable: nothing does better than a constant label,
            or than the votes alone.
        gain: by how much features raise the mean log-likelihood of a held-out candidate set, weighted with its prior
            where there is one, over that by class frequencies alone, in nats.
        gain_interval: its 95 % interval.
        trials: all that was tried, in order.
    """

    recipe: str
    settings: Settings
    given: Settings
    covering_rate: float | None = None
    interval: tuple[float, float] | None = None
    default_covering_rate: float | None = None
    constant_covering_rate: float | None = None
    certain: float | None = None
    examples: int = 0
    held_out: int = 0
    folds: int = 0
    seed: int = 0
    complete: bool = True
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    gain: float | None = None
    gain_interval: tuple[float, float] | None = None
    trials: tuple[Trial, ...] = ()

    def messages(self) -> tuple[str, ...]:
        """Return what was chosen and how sure the choice is, as sentences for a page or a shell."""
        if not self.settings:
            return (*self.warnings, *self.notes)
        chosen = ", ".join(
            f"{name.replace('_', ' ')} {value:g}" if isinstance(value, float) else f"{name.replace('_', ' ')} {value}"
            for name, value in self.settings.items()
        )
        sentences = [f"Settings of the recipe {self.recipe}: {chosen}."]
        if self.covering_rate is not None and self.interval is not None:
            low, high = self.interval
            default = self.default_covering_rate
            sentences.append(
                f"On {self.held_out:,} held-out examples {percent(self.covering_rate)} of the predictions are among "
                f"the candidates (95 % interval {percent(low)} to {percent(high)}"
                + ("" if default is None else f"; default settings {percent(default)}")
                + (
                    ""
                    if self.constant_covering_rate is None
                    else f"; best constant label {percent(self.constant_covering_rate)}"
                )
                + ")."
            )
        if self.certain is not None:
            sentences.append(
                f"In {percent(self.certain, 0)} of bootstrap samples of them no other representation or model that "
                "covers as much explains the candidate sets better."
            )
        return (*sentences, *self.warnings, *self.notes)

    def as_json(self) -> dict[str, Any]:
        """Return plain values."""
        return asdict(self)

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Recipe:
        """Return the recipe of plain values, the inverse of `as_json`.

        Raises:
            TypeError, KeyError: not values of `as_json`.
        """
        interval, gain_interval = values["interval"], values.get("gain_interval")
        return cls(
            **{
                **values,
                "interval": None if interval is None else tuple(interval),
                "gain_interval": None if gain_interval is None else tuple(gain_interval),
                "notes": tuple(values["notes"]),
                "warnings": tuple(values.get("warnings", ())),
                "trials": tuple(Trial(**trial) for trial in values["trials"]),
            }
        )


def read_recipe(path: Path) -> Recipe:
    """Return the recipe of a recipe.json.

    Raises:
        UserError: the file cannot be read, or is none.
    """
    try:
        return Recipe.from_json(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise UserError(f"{path} is not a recipe.json of a run ({error}).") from error


def stored(path: Path, given: Settings) -> Recipe:
    """Return the recipe of a recipe.json as one for another fit; settings given explicitly stay.

    Raises:
        UserError: the file cannot be read, or is none.
    """
    found = read_recipe(path)
    whole = found.given | found.settings
    unknown = [name for name in whole if name not in SEARCHED]
    if unknown:
        raise UserError(f"{path} has a setting {unknown[0]!r}, which no recipe chooses.")
    settings = {name: value for name, value in whole.items() if name not in given}
    return replace(found, settings=settings, given=given, notes=(*found.notes, f"The settings are those of {path}."))

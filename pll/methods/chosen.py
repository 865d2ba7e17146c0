"""Recipes: how the settings of a deep method are chosen, and the record of a choice, recipe.json.

`default` takes the method's defaults, `paper` the published settings of the data set (`pll.methods.published`),
`auto` searches. A setting that the user sets stays in every recipe.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pll.errors import UserError
from pll.io import from_json
from pll.wording import percent

SEARCHED = (
    "model", "scale", "optimiser", "lr", "weight_decay", "momentum", "batch_size", "epochs",
    "loss", "lr_decay", "lr_decay_every", "augment",
)  # fmt: skip
"""Settings that a recipe may choose, or depends on."""
Settings = dict[str, Any]


@dataclass(frozen=True)
class Trial:
    """One configuration after so many epochs, as measured on held-out examples.

    Attributes
    ----------
    settings
        Of the method.
    covering_rate
        Share in [0, 1].
    log_likelihood
        Mean of log P(S | x) of held-out examples, with flip rates; see `set_likelihood`.
    loss
        Mean training loss of the last epoch; None where the method itself was trained.
    """

    settings: Settings
    covering_rate: float
    log_likelihood: float
    loss: float | None


@dataclass(frozen=True)
class Recipe:
    """Settings that were chosen, and why; as JSON it is the content of recipe.json.

    Attributes
    ----------
    recipe
        One of `pll.methods.names.RECIPES`.
    settings
        Chosen settings; those not named keep the method's defaults.
    fixed
        Settings set by the user, which were not searched.
    covering_rate, interval
        Of the chosen configuration on held-out examples, with its 95 % interval (Wilson). The choice was made on the
        same examples, so the figure is slightly optimistic.
    default_covering_rate
        That of the default settings.
    constant_covering_rate
        That of the best constant label.
    examples, validated, folds
        How many examples were used, how many of them for validation, and in how many parts.
    seed
        Of the search.
    complete
        False where it was stopped.
    notes
        What a user should know, as sentences.
    trials
        All that was tried, in order; at the end what the method itself was tried with, where its objective is not
        PRODEN's.
    seconds
        That the search took.
    """

    recipe: str
    settings: Settings
    fixed: Settings
    covering_rate: float | None = None
    interval: tuple[float, float] | None = None
    default_covering_rate: float | None = None
    constant_covering_rate: float | None = None
    examples: int = 0
    validated: int = 0
    folds: int = 0
    seed: int = 0
    complete: bool = True
    notes: tuple[str, ...] = ()
    trials: tuple[Trial, ...] = ()
    seconds: float = field(default=0.0, compare=False)

    def messages(self) -> tuple[str, ...]:
        """Return what was chosen and how sure the choice is, as sentences for a page or a shell."""
        if not self.settings:
            return self.notes
        chosen = ", ".join(
            f"{name.replace('_', ' ')} {value:g}" if isinstance(value, float) else f"{name.replace('_', ' ')} {value}"
            for name, value in self.settings.items()
        )
        duration = f" (found in {self.seconds:.0f} s)" if self.seconds else ""
        sentences = [f"Settings of the recipe {self.recipe}{duration}: {chosen}."]
        if self.covering_rate is not None and self.interval is not None:
            low, high = self.interval
            others = {
                "default settings": self.default_covering_rate,
                "best constant label": self.constant_covering_rate,
            }
            beside = "".join(f"; {what} {percent(rate)}" for what, rate in others.items() if rate is not None)
            sentences.append(
                f"On {self.validated:,} held-out examples {percent(self.covering_rate)} of the predictions are among "
                f"the candidates (95 % interval {percent(low)} to {percent(high)}{beside})."
            )
        return (*sentences, *self.notes)


def read_recipe(path: Path) -> Recipe:
    """Return the recipe of a recipe.json.

    Raises
    ------
    UserError
        The file cannot be read, or is none.
    """
    try:
        return from_json(Recipe, json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise UserError(f"{path} is not a recipe.json of a run ({error}).") from error

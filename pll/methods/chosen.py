"""Recipes: how the settings of a deep method are chosen, and the record of a choice, recipe.json.

`default` takes the method's defaults, `paper` the published settings of the data set (`paper_recipe`), `auto` searches
(`pll.methods.recipe`). A setting that the user sets stays in every recipe.

The paper's settings are those of its supplement and code. All have SGD with momentum 0.9, 500 epochs, cross-entropy,
and z-scored tables. The learning rate of the ConvNet is multiplied by 0.9 every ten epochs.
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


# ---- the paper's settings --------------------------------------------------------------------------------------------

PROTOCOL: dict[str, Any] = {"optimiser": "sgd", "momentum": 0.9, "epochs": 500, "loss": "ce"}


def _linear(lr: float, weight_decay: float) -> dict[str, Any]:
    return {"lr": lr, "weight_decay": weight_decay, "batch_size": 100, "scale": "zscore"}


def _images(lr: float, weight_decay: float, **more: Any) -> dict[str, Any]:
    return {"lr": lr, "weight_decay": weight_decay, "batch_size": 256, **more}


PUBLISHED: dict[tuple[str, str], dict[str, Any]] = {
    ("mnist", "linear"): _images(1e-3, 1e-5),
    ("fashionmnist", "linear"): _images(1e-3, 1e-5),
    ("kmnist", "linear"): _images(1e-3, 1e-6),
    ("mnist", "mlp"): _images(1e-2, 1e-3),
    ("kmnist", "mlp"): _images(1e-2, 1e-4),
    ("fashionmnist", "mlp"): _images(1e-2, 1e-5),
    ("cifar10", "resnet"): _images(5e-2, 1e-3),
    ("cifar10", "convnet"): _images(1e-2, 1e-3, lr_decay=0.9, lr_decay_every=10),
    ("yeast", "linear"): _linear(1e-1, 1e-3),
    ("texture", "linear"): _linear(1e-1, 1e-5),
    ("dermatology", "linear"): _linear(1e-2, 1e-3),
    ("syntheticcontrol", "linear"): _linear(1e-1, 1e-3),
    ("20newsgroups", "linear"): _linear(1e-3, 1e-3),
    ("lost", "linear"): _linear(1e-2, 1e-2),
    ("birdsong", "linear"): _linear(1e-2, 1e-4),
    ("msrcv2", "linear"): _linear(1e-1, 1e-3),
    ("soccerplayer", "linear"): _linear(1e-1, 1e-4),
    ("yahoonews", "linear"): _linear(1e-2, 1e-4),
}
"""(data set, model) → settings, as published."""

OF_OTHER_METHODS: dict[str, dict[str, Any]] = {"sure": {"kernel": "linear"}}
"""Settings of methods without gradient descent, by name: the paper has linear models. Others keep their defaults."""


def paper_recipe(
    input_shape: tuple[int, ...], explicit: dict[str, Any], dataset: str = "", *, own_rate: bool = False
) -> Recipe:
    """Return the paper's settings for a data set; its protocol alone, with a note, where none are published.

    Parameters
    ----------
    input_shape
        Of one example.
    explicit
        Settings given explicitly, which stay.
    dataset
        Name of the data set; "" where it is not known.
    own_rate
        Leave the learning rate to the method, whose steps are of another scale than PRODEN's.
    """
    model = explicit.get("model", "linear")
    settings_of_paper = PUBLISHED.get((plain_name(dataset), model)) if isinstance(model, str) else None
    notes: tuple[str, ...] = ()
    if settings_of_paper is None:
        name = dataset or "this data"
        notes = (
            f"The paper publishes no settings for {name} with the model {model}. Its protocol is used (SGD, momentum "
            "0.9, 500 epochs, batch 256), with the default learning rate and weight decay.",
        )
        settings_of_paper = {"batch_size": 256} | ({} if len(input_shape) > 1 else {"scale": "zscore"})
    settings = {name: value for name, value in (PROTOCOL | settings_of_paper).items() if name not in explicit}
    if own_rate and settings.pop("lr", None) is not None:
        notes += ("The learning rate is the method's own: that of the paper is PRODEN's, and steps differ in scale.",)
    return Recipe("paper", settings, explicit, notes=notes)


def plain_name(dataset: str) -> str:
    """Return the letters and digits of a data set's name, as the table has it.

    Examples
    --------
    >>> plain_name("Synthetic Control"), plain_name("lost.mat"), plain_name("Kuzushiji-MNIST")
    ('syntheticcontrol', 'lost', 'kmnist')
    """
    name = dataset.lower().removesuffix(".mat").removesuffix(".npz").removesuffix(".csv")
    return "".join(filter(str.isalnum, name.replace("kuzushiji", "k")))

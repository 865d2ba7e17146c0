"""A run in words, for pages and for what leaves them."""

from __future__ import annotations

from pll.methods import METHODS, get_method
from pll.runconfig import RunConfig


def in_words(config: RunConfig) -> str:
    """The settings of a run in one line."""
    parts = [METHODS[config.method].title if config.method in METHODS else config.method]
    defaults = get_method(config.method)().get_params()
    every = defaults | config.params
    parts.append(str(every.get("model", "")))
    if config.flip is not None:
        parts.append(f"candidates made: {config.flip.words}")
    elif config.noisy is not None or config.source.rule:
        parts.append(config.candidates)
    parts += [f"{every['epochs']} epochs", f"learning rate {every['lr']:g}"] if "epochs" in every else []
    if config.holdout:
        parts.append(f"{config.holdout:.0%} held out")
    parts.append(f"seed {config.seed}")
    return " · ".join(part for part in parts if part)

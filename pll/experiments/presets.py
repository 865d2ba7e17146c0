"""The paper's experiments by name, and a quick one; each is a TOML file of `presets/`, to be copied and changed."""

from __future__ import annotations

import difflib
from pathlib import Path

from pll.errors import UserError
from pll.experiments.experiment import Experiment, parse_experiment

_FOLDER = Path(__file__).with_name("presets")

PRESETS: dict[str, str] = {
    name: _FOLDER.joinpath(f"{name}.toml").read_text(encoding="utf-8")
    for name in (
        "quick",
        "uci-binomial",
        "real-world",
        "uci-pair",
        "image-binomial",
        "image-pair",
        "cifar10",
        "ambiguity",
    )
}
"""The TOML text of every preset, by name."""


def preset(name: str) -> Experiment:
    """Return a preset.

    Raises
    ------
    UserError
        No preset has that name; the message suggests one.

    Examples
    --------
    >>> preset("real-world").datasets
    ['lost', 'birdsong', 'msrcv2', 'soccer-player', 'yahoo-news']
    """
    if name not in PRESETS:
        close = difflib.get_close_matches(name, PRESETS, n=1)
        hint = f" Did you mean {close[0]}?" if close else ""
        raise UserError(
            f"There is no preset {name!r} and no file of that name; presets are {', '.join(PRESETS)}.{hint}"
        )
    return parse_experiment(PRESETS[name], name)

"""The paper's experiments by name, and a quick one; each is a TOML file of `presets/`, to be copied and changed."""

from __future__ import annotations

from pathlib import Path

from pll.errors import unknown
from pll.experiments.experiment import Experiment, parse_experiment

_FILES = sorted(Path(__file__).with_name("presets").glob("*.toml"), key=lambda file: (file.stem != "quick", file.stem))
PRESETS: dict[str, str] = {file.stem: file.read_text(encoding="utf-8") for file in _FILES}
"""The TOML text of every preset, by name, the quick one first; a new one is its file."""


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
        raise unknown("preset, and no file,", name, PRESETS)
    return parse_experiment(PRESETS[name], name)

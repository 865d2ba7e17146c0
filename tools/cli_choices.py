"""Writes pll/cli/choices.json: `python -m tools.cli_choices` (a test says when it has to be run).

It is what `--help` lists of methods, formats, losses …: the registries themselves take seconds to import.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pll.cli.declared import CHOICES, SETTINGS, Name
from pll.cli.main import cli
from pll.methods import METHODS, get_method


def choices() -> dict[str, dict[str, Any]]:
    """What the file should hold: `names` of each registry that an option names, and `settings` of some methods."""
    options = [option for command in cli.commands.values() for option in command.params]
    types = {option.type.registry: option.type for option in options if isinstance(option.type, Name)}
    names = {registry: list(_described(types[registry].entries())) for registry in sorted(types)}
    return {"names": names, "settings": _own_settings()}


def _described(entries: Iterable[str]) -> Iterator[str]:
    """Names; `binomial (every wrong label …)` where the entry's title is "Binomial: every wrong label …"."""
    for name in entries:
        title = getattr(entries[name], "title", "") if isinstance(entries, Mapping) else ""
        what = title.partition(": ")[2] if isinstance(title, str) else ""
        yield f"{name} ({what})" if what else name


def _own_settings() -> dict[str, str]:
    """The settings that only some methods have: the methods, with the default of each, in words."""
    methods: dict[str, dict[str, list[str]]] = {}
    others = {option.name for option in SETTINGS} | {"seed", "missing"}
    for name in METHODS:
        for setting, default in get_method(name)().get_params().items():
            if setting not in others:
                methods.setdefault(setting, {}).setdefault(f"{default}", []).append(name)
    return {
        setting: "; ".join(f"of {', '.join(methods)} (default {default})" for default, methods in defaults.items())
        for setting, defaults in sorted(methods.items())
    }


if __name__ == "__main__":
    CHOICES.write_text(json.dumps(choices(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")

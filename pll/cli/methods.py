"""The command `methods`: what methods there are, and what can be set of one."""

from __future__ import annotations

import inspect
import re
import shutil
from collections.abc import Iterable
from typing import Any

import click

from pll.cli.declared import SETTING_NAMES, MethodsOptions, option_of
from pll.cli.output import print_result
from pll.methods import METHODS, method_title
from pll.methods.base import PartialLabelEstimator
from pll.runs.description import RUN_FIELDS


def methods(options: MethodsOptions) -> None:
    """List the methods, or the settings of one."""
    if options.name is None:
        _print((name, f"{method_title(name)}: {METHODS[name].summary}") for name in METHODS)
        print_result(methods=list(METHODS))
        return
    kind = METHODS[options.name]
    settings = {name: value for name, value in kind().get_params().items() if name not in ("seed", "missing")}
    print(f"{kind.title}: {kind.summary}\n")
    _print(
        (
            option_of(name) if name in SETTING_NAMES else f"--set {name}=VALUE",
            _words(kind, name) + ("" if default is None else f" [default: {default}]"),
        )
        for name, default in sorted(settings.items(), key=lambda one: one[0] in SETTING_NAMES)
    )
    print_result(method=options.name, settings=settings)


def _print(rows: Iterable[tuple[str, str]]) -> None:
    formatter = click.HelpFormatter(width=min(shutil.get_terminal_size().columns, 120))
    formatter.write_dl(list(rows), col_max=30)
    print(formatter.getvalue(), end="")


def _words(kind: type[PartialLabelEstimator], name: str) -> str:
    """What a setting is: by the description of runs, else the first sentence of its docstring."""
    if name in RUN_FIELDS:
        return f"{RUN_FIELDS[name].sentence} It must be {RUN_FIELDS[name].wanted}."
    meaning = meaning_of(kind, name)
    return meaning and meaning.partition(". ")[0].removesuffix(".") + "."


def meaning_of(kind: type[PartialLabelEstimator], name: str) -> str:
    """Return what the docstring of a method, or of a class that it is made of, says of a setting; "" for nothing.

    Parameters
    ----------
    kind
        The method.
    name
        Of the setting.
    """
    for one in kind.__mro__:
        text: Any = inspect.getdoc(one) if one.__doc__ else None
        found = re.search(rf"^(?:\w+, )*{name}(?:, \w+)*(?: :.*)?\n((?:    .*\n?|\n)+)", text or "", re.MULTILINE)
        if found:
            return " ".join(found[1].split())
    return ""

"""Writes docs/methods.md from the docstrings of the methods: `python -m tools.pages`."""

from __future__ import annotations

import inspect
import re
import sys
import textwrap
from itertools import groupby
from pathlib import Path

from pll.cli.methods import meaning_of
from pll.methods import METHODS
from pll.methods.base import PartialLabelEstimator

PATH = Path(__file__).parents[1] / "docs" / "methods.md"

_HEAD = """\
# Methods

<!-- Written by `python -m tools.pages` from the docstrings in pll/methods. Change it there. -->

For whoever chooses a method, or reads what one does and costs.

Every method by the name that the pages, the shell (`--method`, `--methods`) and Python (`METHODS[name]`) use.
n examples, d features, c classes, |S| candidates an example.

"""


def page() -> str:
    """docs/methods.md as it should be."""
    parts = [_HEAD, _contents()]
    for module, group in groupby(METHODS.items(), key=lambda item: item[1].__module__):
        parts.append(_chapter(module, list(group)))
    return "\n".join(parts).rstrip() + "\n"


def _contents() -> str:
    lines = ["| name | method | in short |", "|---|---|---|"]
    lines += [f"| [`{name}`](#{name}) | {method.title} | {method.summary} |" for name, method in METHODS.items()]
    return "\n".join(lines) + "\n"


def _chapter(module: str, methods: list[tuple[str, type[PartialLabelEstimator]]]) -> str:
    text = _with_code(inspect.cleandoc(sys.modules[module].__doc__ or ""))
    anchors = "".join(f'<a id="{name}"></a>' for name, _ in methods)
    titles = ", ".join(method.title for _, method in methods)
    sections = [f"## {anchors}{titles}\n", text + "\n"]
    for name, method in methods:
        sections.append(f"**`{name}`** — {_settings(method)}\n")
    return "\n".join(sections)


def _settings(method: type[PartialLabelEstimator]) -> str:
    """The settings with their defaults, and what each means where the class says so."""
    lines = [(inspect.getdoc(method) or "").split("\n\n")[0].replace("\n", " "), "", "| setting | default | meaning |"]
    lines.append("|---|---|---|")
    for name, parameter in inspect.signature(method).parameters.items():
        meaning = meaning_of(method, name).replace("|", "\\|")
        default = "function" if callable(parameter.default) else repr(parameter.default)
        lines.append(f"| `{name}` | `{default}` | {meaning} |")
    return "\n".join(lines)


def _with_code(text: str) -> str:
    """Indented blocks, which hold equations, as code; everything else as it is."""
    parts = []
    for block in re.split(r"\n\n(?=\S)|\n\n(?=    )", text):
        is_equation = all(line.startswith("   ") or not line for line in block.split("\n"))
        parts.append(f"```\n{textwrap.dedent(block)}\n```" if is_equation else block)
    return "\n\n".join(parts)

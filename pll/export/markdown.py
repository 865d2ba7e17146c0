"""Pieces of Markdown that the README of an export is made of."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

_SHOWN = 30
"""Names listed in full; of more, these many and a hint where the others stand."""


def listed(names: Sequence[str], elsewhere: str) -> str:
    """Names as code.

    Args:
        elsewhere: the file in which all of them stand.
    """
    shown = ", ".join(_quoted(name) for name in names[:_SHOWN])
    more = len(names) - _SHOWN
    return shown + (f" and {more:,} more (all of them are in {elsewhere})" if more > 0 else "")


def _quoted(name: str) -> str:
    """A name as Markdown code on one line, whatever it holds."""
    plain = name if name and name.isprintable() and name == name.strip() else json.dumps(name, ensure_ascii=False)
    return f"`` {plain} ``" if "`" in plain else f"`{plain}`"


def code(text: str) -> str:
    """A block of Python."""
    return f"```python\n{text.strip()}\n```"


def json_block(values: Mapping[str, object]) -> str:
    """A block of JSON; what JSON does not know as text."""
    return f"```json\n{json.dumps(values, indent=2, ensure_ascii=False, default=str)}\n```"

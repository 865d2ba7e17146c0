"""Griffe extension for the documentation site: examples in docstrings (`>>> …`) become code blocks."""

from __future__ import annotations

import re
from typing import Any

import griffe

_EXAMPLE = re.compile(r"(?:^>>> .*\n?(?:^(?=\S).*\n?)*)+", re.MULTILINE)
"""A line that begins with `>>> `, and all lines after it up to an empty one."""


def fence_examples(text: str) -> str:
    """Return a docstring with its examples in fences.

    Examples
    --------
    >>> print(fence_examples("Add.\\n\\n>>> 1 + 1\\n2"))
    Add.
    <BLANKLINE>
    ```pycon
    >>> 1 + 1
    2
    ```
    """
    return _EXAMPLE.sub(lambda match: f"```pycon\n{match.group(0).rstrip()}\n```\n", text).rstrip("\n")


class FenceExamples(griffe.Extension):
    """Fence the examples of every docstring that is loaded."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Called by Griffe for each module, class, function and attribute."""
        if obj.docstring is not None:
            obj.docstring.value = fence_examples(obj.docstring.value)

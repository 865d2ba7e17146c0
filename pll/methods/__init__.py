"""The registry of methods: `METHODS`, name → estimator class. A new method is a file, and a line in `names.py`.

A class is imported when it is first used: pages that list runs need their methods' names, and not torch.
"""

from __future__ import annotations

import importlib
from collections import UserDict
from typing import TYPE_CHECKING

from pll.errors import UserError, unknown
from pll.methods.names import REGISTERED, TITLES

if TYPE_CHECKING:
    from pll.methods.base import PartialLabelEstimator


class UnknownMethod(UserError, KeyError):
    """Raised by `METHODS[name]` where no method has that name; the message suggests one."""


class _Registry(UserDict[str, "type[PartialLabelEstimator]"]):
    """Classes by name, each imported when it is first used; asking whether there is one imports nothing."""

    def __getitem__(self, name: str) -> type[PartialLabelEstimator]:
        if name not in self.data:
            raise UnknownMethod(str(unknown("method", name, self)))
        if self.data[name] is None:
            file, kind, _ = REGISTERED[name]
            self.data[name] = getattr(importlib.import_module(f"pll.methods.{file}"), kind)
        return self.data[name]


METHODS = _Registry(dict.fromkeys(REGISTERED))  # type: ignore[arg-type]  # None: not imported yet
"""Every method by the name that pages, shell and files use."""


def method_title(name: str) -> str:
    """Return a method as papers call it; its own name where it is none of ours.

    Examples
    --------
    >>> method_title("plknn"), method_title("my-own")
    ('PL-kNN', 'my-own')
    """
    return TITLES.get(name) or (METHODS[name].title if name in METHODS else name)

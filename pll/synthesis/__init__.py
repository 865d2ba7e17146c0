"""Synthesis of candidate sets: flips of true labels, transition matrices, label noise, the ambiguity degree.

The names of `pll.synthesis.flips` are imported on first use: those of the ways are listed without NumPy.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # what `__getattr__` returns
    from pll.synthesis.flips import Flip as Flip
    from pll.synthesis.flips import flip as flip
    from pll.synthesis.flips import flip_binomial as flip_binomial
    from pll.synthesis.flips import flip_matrix_of as flip_matrix_of
    from pll.synthesis.flips import flip_pair as flip_pair
else:  # a type checker would take any name for granted

    def __getattr__(name: str) -> Any:
        return getattr(importlib.import_module("pll.synthesis.flips"), name)

"""Synthesis of candidate sets: flips of true labels, transition matrices, label noise, the ambiguity degree.

The names of `pll.synthesis.flips` are imported on first use: those of the ways are listed without NumPy.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from pll.synthesis.names import FLIP_SETTINGS as FLIP_SETTINGS
from pll.synthesis.names import FLIPS as FLIPS

if TYPE_CHECKING:  # what `__getattr__` returns
    from pll.synthesis.flips import Flip as Flip
    from pll.synthesis.flips import binomial_matrix as binomial_matrix
    from pll.synthesis.flips import flip as flip
    from pll.synthesis.flips import flip_binomial as flip_binomial
    from pll.synthesis.flips import flip_by_instance as flip_by_instance
    from pll.synthesis.flips import flip_matrix_of as flip_matrix_of
    from pll.synthesis.flips import flip_pair as flip_pair
    from pll.synthesis.flips import flip_uniform as flip_uniform
    from pll.synthesis.flips import flip_with_matrix as flip_with_matrix
    from pll.synthesis.flips import instance_probabilities as instance_probabilities
    from pll.synthesis.flips import uniform_matrix as uniform_matrix
else:  # a type checker would take any name for granted

    def __getattr__(name: str) -> Any:
        return getattr(importlib.import_module("pll.synthesis.flips"), name)

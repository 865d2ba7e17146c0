"""Synthesis of candidate sets: flips of true labels, transition matrices, label noise, the ambiguity degree."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from pll.synthesis.names import FLIPS, SETTINGS

if TYPE_CHECKING:  # what `__getattr__` returns: the names of the ways are listed without NumPy
    from pll.synthesis.flips import (
        Flip,
        binomial_matrix,
        flip,
        flip_binomial,
        flip_by_instance,
        flip_matrix_of,
        flip_pair,
        flip_uniform,
        flip_with_matrix,
        instance_probabilities,
        pair_matrix,
        uniform_matrix,
    )

__all__ = [
    "FLIPS",
    "SETTINGS",
    "Flip",
    "binomial_matrix",
    "flip",
    "flip_binomial",
    "flip_by_instance",
    "flip_matrix_of",
    "flip_pair",
    "flip_uniform",
    "flip_with_matrix",
    "instance_probabilities",
    "pair_matrix",
    "uniform_matrix",
]

if not TYPE_CHECKING:  # a type checker would take any name for granted

    def __getattr__(name: str) -> Any:
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name)
        return getattr(importlib.import_module("pll.synthesis.flips"), name)

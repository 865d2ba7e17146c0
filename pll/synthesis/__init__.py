"""Synthesis of candidate sets: flips of true labels, transition matrices, label noise, the ambiguity degree."""

from __future__ import annotations

from pll.synthesis.flips import (
    FLIPS,
    SETTINGS,
    Flip,
    Way,
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
    "Way",
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

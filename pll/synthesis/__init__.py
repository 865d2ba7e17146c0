"""Candidate sets made from labels: flips of true labels, label noise, the ambiguity degree.

>>> flip("binomial", [0, 1, 2], 3, q=0.0, seed=0).sizes.tolist()
[2, 2, 2]
"""

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

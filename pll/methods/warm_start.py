"""Going on from the model of an earlier run: its parameters, and what it says about the candidate sets of today."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from pll.dataset import PartialLabelDataset
from pll.errors import UserError
from pll.methods import METHODS, PartialLabelEstimator
from pll.methods.persistence import load_model
from pll.weights import Weights, on_candidates, restricted_softmax

MOST_SCORES = 2 * 10**8
"""Scores (examples × classes) up to which the history begins with what the earlier model said."""


def warm_start(estimator: PartialLabelEstimator, earlier: Path, train: PartialLabelDataset) -> Weights | None:
    """Have a method begin where the model in a run folder ended.

    Args:
        estimator: not yet fitted.
        earlier: a run folder with a model.
        train: what the method will be given.

    Returns:
        (nnz,) label weights of the earlier model on the sets of `train`; None where the method has to begin afresh:
        it knows no warm start, or the earlier model is gone, of another method or of other classes.
    """
    try:
        model = load_model(earlier)
    except UserError:
        return None
    same = type(model) is type(estimator) and model.class_names_ == train.class_names
    if not same or model.input_shape_ != train.input_shape or not estimator.warm_start(model.fitted_arrays()):
        return None
    sets = train.sets()
    if len(sets) * sets.n_classes > MOST_SCORES:
        return sets.uniform_weights()
    scores = model.predict_scores(train.X)
    return restricted_softmax(on_candidates(scores, sets).astype(np.float64), sets)


def can_warm_start(method: str) -> bool:
    """Whether a method goes on from an earlier model; else it is fitted again."""
    return METHODS[method].warm_start is not PartialLabelEstimator.warm_start

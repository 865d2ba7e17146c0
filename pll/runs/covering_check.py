"""The covering rate on held-out examples, which needs no true label."""

from __future__ import annotations

import math

from pll.analysis.health import FEWEST_ASKED, Evidence
from pll.methods import PartialLabelEstimator
from pll.methods.deep import DeepEstimator
from pll.methods.held_out import HeldOut


def against_sets(step: HeldOut) -> Evidence | None:
    """Return the covering rate of models that did not learn from the examples; None where fewer than 30 were judged.

    Each example counts once, however many models have judged it.
    """
    n, covered = len(step.task.candidates), step.covered()
    if n < FEWEST_ASKED or covered is None or type(step.estimator).needs_truth:
        return None
    share, chance = covered
    return Evidence("candidates", round(share * n), n, chance)


def top_loss_of(estimator: PartialLabelEstimator, n_classes: int) -> float | None:
    """Return the loss of a uniform prediction: log c for cross-entropy, else None.

    Parameters
    ----------
    estimator
        The method.
    n_classes
        c.
    """
    has_logits = isinstance(estimator, DeepEstimator) and estimator.get_params().get("loss") == "ce"
    return math.log(n_classes) if has_logits else None

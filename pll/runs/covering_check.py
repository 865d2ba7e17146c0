"""The covering rate on held-out examples, which needs no true label: of a run, and of kinds of features."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from pll.analysis.health import FEWEST_ASKED, Evidence
from pll.dataset import PartialLabelDataset
from pll.io import Progress
from pll.methods import PartialLabelEstimator
from pll.methods.deep import DeepEstimator
from pll.methods.held_out import HeldOut
from pll.methods.proden import PRODEN
from pll.runs.config import Preparation
from pll.runs.data import prepare

MOST_ROWS_COMPARED = 500
"""Examples at most of the comparison of features."""


def against_sets(step: HeldOut) -> Evidence | None:
    """Return the covering rate of models that did not learn from the examples; None where fewer than 30 were judged.

    Each example counts once, however many models have judged it.
    """
    n, covered = len(step.task.candidates), step.covered()
    if n < FEWEST_ASKED or covered is None or type(step.estimator).needs_truth:
        return None
    share, chance = covered
    return Evidence("candidates", round(share * n), n, chance)


def compare_features(
    data: PartialLabelDataset,
    specs: Sequence[str],
    how: Preparation,
    *,
    progress: Progress | None = None,
) -> dict[str, Evidence]:
    """Return the covering rate of linear PRODEN with several kinds of features, on the same sample of the data.

    Parameters
    ----------
    data
        At most `MOST_ROWS_COMPARED` of its examples, drawn with its seed, are used.
    specs
        Specifications of features, as in `pll.features.featuriser`.
    how
        How candidate sets are made; its features are not looked at.
    progress
        Called while features are computed.

    Returns
    -------
    dict of str to Evidence
        By specification; empty if there are fewer than `FEWEST_ASKED` examples.

    Raises
    ------
    UserError
        Features or candidate sets cannot be made.
    """
    rows = np.sort(np.random.default_rng([how.seed, 5]).permutation(len(data))[:MOST_ROWS_COMPARED])
    sample = replace(data.take(rows), is_test=None)
    rates = {}
    for spec in specs:
        splits = prepare(sample, replace(how, features=spec), progress=progress)
        step = HeldOut(PRODEN(model="linear", seed=how.seed), replace(splits.task(), votes=None), seed=how.seed)
        for _ in step.run():
            pass
        evidence = against_sets(step)
        if evidence is not None:
            rates[spec] = evidence
    return rates


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

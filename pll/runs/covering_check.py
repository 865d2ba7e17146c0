"""The covering rate on held-out examples, which needs no true label: of a run, and of kinds of features."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from pll.analysis.health import FEWEST, Evidence
from pll.dataset import PartialLabelDataset
from pll.io import Progress
from pll.methods import PartialLabelEstimator
from pll.methods.deep import DeepEstimator
from pll.methods.held_out import HeldOut
from pll.methods.proden import PRODEN
from pll.runs.data import prepare
from pll.synthesis import Flip
from pll.synthesis.label_noise import Noisy

MOST_COMPARED = 500
"""Examples at most of the comparison of features."""


def against_sets(step: HeldOut) -> Evidence | None:
    """Return the covering rate of models that did not learn from the examples; None where fewer than 30 were judged.

    Each example counts once, however many models have judged it.
    """
    n, covered = len(step.task.candidates), step.covered()
    if n < FEWEST or covered is None or type(step.estimator).needs_truth:
        return None
    share, chance = covered
    return Evidence("candidates", round(share * n), n, chance)


def compare_features(
    data: PartialLabelDataset,
    specs: Sequence[str],
    *,
    flip_with: Flip | None = None,
    noisy: Noisy | None = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> dict[str, Evidence]:
    """Return the covering rate of linear PRODEN with several kinds of features, on the same sample of the data.

    Parameters
    ----------
    data
        At most `MOST_COMPARED` of its examples, drawn with `seed`, are used.
    specs
        Specifications of features, as in `pll.features.featuriser`.
    flip_with, noisy, seed
        How candidate sets are made, as in `pll.runs.data.prepare`.
    progress
        Called while features are computed.

    Returns
    -------
    dict of str to Evidence
        By specification; empty if there are fewer than `FEWEST` examples.

    Raises
    ------
    UserError
        Features or candidate sets cannot be made.
    """
    rows = np.sort(np.random.default_rng([seed, 5]).permutation(len(data))[:MOST_COMPARED])
    sample = replace(data.take(rows), is_test=None)
    rates = {}
    for spec in specs:
        splits = prepare(sample, flip_with=flip_with, noisy=noisy, features=spec, seed=seed, progress=progress)
        step = HeldOut(PRODEN(model="linear", seed=seed), replace(splits.task(), votes=None), seed=seed)
        for _ in step.run():
            pass
        evidence = against_sets(step)
        if evidence is not None:
            rates[spec] = evidence
    return rates


def top_loss_of(estimator: PartialLabelEstimator, n_classes: int) -> float | None:
    """Return the loss of a uniform prediction: log c for cross-entropy, else None."""
    has_logits = isinstance(estimator, DeepEstimator) and estimator.get_params().get("loss") == "ce"
    return math.log(n_classes) if has_logits else None

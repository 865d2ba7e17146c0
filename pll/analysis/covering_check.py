"""The covering rate on held-out examples, which needs no true label: of a run, and of kinds of features."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

from pll.analysis.health import FEWEST, Evidence
from pll.analysis.protocol import prepare
from pll.dataset import PartialLabelDataset
from pll.errors import UserError
from pll.io import Progress
from pll.methods import PartialLabelEstimator
from pll.methods.base import Task
from pll.methods.deep import DeepEstimator
from pll.methods.proden import PRODEN
from pll.synthesis import Flip
from pll.synthesis.label_noise import Noisy
from pll.training.models import forward_flops

MOST_LEARNT, MOST_CHECKED, FOLDED = 2_000, 1_000, 500
"""Of the check on candidate sets: examples learnt from and predicted at most; up to `FOLDED` all are predicted, in
`FOLDS` parts."""
FOLDS, MOST_EPOCHS, CHECK_SHARE = 5, 50, 0.2
OPERATIONS = 6e10
"""Cost that is always allowed (about two seconds of one core); beyond, a quarter of the run."""


def against_sets(estimator: PartialLabelEstimator, task: Task) -> Evidence | None:
    """Return the covering rate on examples that were not learnt from: the method is fitted on the others.

    Costs at most about a quarter of fitting the method once, or two seconds; needs no true label and draws from a
    generator of its own, so that the run itself is not touched.

    Parameters
    ----------
    estimator
        Its settings count, what it has learnt does not.
    task
        The training data.

    Returns
    -------
    Evidence | None
        None where there are fewer than 30 examples, or a part of them cannot be learnt from.
    """
    n = len(task.candidates)
    if n < FEWEST or type(estimator).needs_truth:
        return None
    hits, chances, checked = 0, 0.0, 0
    try:
        for learnt, test_rows in _parts(n):
            again = (
                clone(estimator)
                .set_params(**estimator.fitted_params())
                .set_params(**_cheaper(estimator, task, len(learnt)))
            )
            used = task.prior if type(estimator).takes_prior else None
            prior = None if used is None else used[task.candidates.positions(learnt)]
            own_sets = task.candidates if task.outside is None else task.outside.original_sets
            if task.outside is None:
                again.fit(task.X[learnt], own_sets.take(learnt), prior=prior)
            else:  # added labels are not searched again, which would cost far more
                outside = task.outside.take(learnt)
                for _ in again.iter_fit(Task(task.X[learnt], outside.candidates, prior=prior, outside=outside)):
                    pass
            predicted = np.searchsorted(again.classes_, again.predict(task.X[test_rows]))
            sets = own_sets.take(test_rows)
            hits += int(sets.contains(predicted).sum())
            share_of = np.bincount(predicted, minlength=sets.n_classes) / len(test_rows)
            chances += float(share_of[sets.indices].sum())
            checked += len(test_rows)
    except UserError:  # for example too few examples of its kind in a part
        return None
    return Evidence("candidates", hits, checked, chances / checked)


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
        At most `FOLDED` of its examples, drawn with `seed`, are used; each is predicted once, in `FOLDS` parts.
    specs
        Specifications of features, as in `pll.features.featuriser`.
    flip_with, noisy, seed
        How candidate sets are made, as in `pll.analysis.protocol.prepare`.
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
    rows = np.sort(np.random.default_rng([seed, 5]).permutation(len(data))[:FOLDED])
    sample = replace(data.take(rows), is_test=None)
    rates = {}
    for spec in specs:
        splits = prepare(sample, flip_with=flip_with, noisy=noisy, features=spec, seed=seed, progress=progress)
        evidence = against_sets(PRODEN(model="linear", seed=seed), splits.task())
        if evidence is not None:
            rates[spec] = evidence
    return rates


def _parts(n: int) -> Iterator[tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]]:
    """Rows to learn from, and rows to predict."""
    order = np.random.default_rng([n, 3]).permutation(n)
    if n <= FOLDED:
        for fold in range(FOLDS):
            is_test = np.arange(n) % FOLDS == fold
            yield np.sort(order[~is_test]), np.sort(order[is_test])
        return
    many = min(round(CHECK_SHARE * n), MOST_CHECKED)
    yield np.sort(order[many:][:MOST_LEARNT]), np.sort(order[:many])


def _cheaper(estimator: PartialLabelEstimator, task: Task, learnt: int) -> dict[str, Any]:
    """Settings that keep the check quick: fewer epochs."""
    if not isinstance(estimator, DeepEstimator):
        return {}
    model, planned = estimator.setting("model"), estimator.total_epochs()
    epochs = min(planned, MOST_EPOCHS)
    if isinstance(model, str):
        n, c = len(task.candidates), task.candidates.n_classes
        cost = 3 * forward_flops(model, task.X.shape[1:], c)  # forward and backward, of one example
        passes = max(OPERATIONS / max(cost, 1), n * planned / 4) / (FOLDS if n <= FOLDED else 1)
        epochs = max(1, min(epochs, int(passes / learnt)))
    return {"epochs": epochs}


def top_loss_of(estimator: PartialLabelEstimator, n_classes: int) -> float | None:
    """Return the loss of a uniform prediction: log c for cross-entropy, else None."""
    has_logits = isinstance(estimator, DeepEstimator) and estimator.get_params().get("loss") == "ce"
    return math.log(n_classes) if has_logits else None

"""Class probabilities out of fold: a logistic regression predicts each example after training on the others.

Used where a classifier must not be fitted on the label that it judges: to make candidate sets of labels that may be
wrong (`pll.synthesis.label_noise`), and to choose plausible wrong labels (`pll.synthesis.flips`).
"""

from __future__ import annotations

import hashlib
import threading
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from pll.candidates import whole_numbers
from pll.copies import dealt, first_copies
from pll.errors import UserError
from pll.io import check_finite, feature_array
from pll.weights import Ints

if TYPE_CHECKING:
    from sklearn.pipeline import Pipeline

DIRECTIONS = 100
"""Principal components of wider features: a fit on 48,000 × 784 then takes 8 s instead of minutes."""

NOISE_FOLDS = 5
"""Number of folds."""

MOST_FOLDS_REMEMBERED = 2
"""Number of results of `cached_out_of_fold` that are cached: n × c numbers each."""
_CACHE: dict[str, npt.NDArray[np.float32]] = {}
_LOCK = threading.Lock()

FoldsDone = Callable[[int, int], None]
"""Called as (folds done, folds in all); an exception stops the work."""


def out_of_fold(
    X: npt.ArrayLike,
    labels: npt.ArrayLike,
    n_classes: int,
    *,
    folds: int = NOISE_FOLDS,
    seed: int = 0,
    progress: FoldsDone | None = None,
) -> npt.NDArray[np.float32]:
    """Predict class probabilities by multinomial logistic regression, fitted without the fold of the example.

    Features are imputed by the mean, z-scored and, beyond `DIRECTIONS`, reduced to principal components; all of it is
    learnt within the fold. Every fold has its share of every class; copies of an example, with its label, are in one.

    Parameters
    ----------
    X
        (n, d) or (n, C, H, W) numbers, NaN where missing.
    labels
        (n,) in [0, n_classes): what the classifier learns.
    n_classes
        c.
    folds
        At least 2; fewer where there are fewer examples.
    seed
        Of the folds.
    progress
        Called after each fold.

    Returns
    -------
    npt.NDArray[np.float32]
        (n, c) float32, rows sum to 1; 0 for a class that the other folds do not have.

    Raises
    ------
    UserError
        Fewer than two examples, a label out of range, infinite features, fewer than two folds.
    """
    features, y = _checked(X, labels, n_classes, folds)
    fold_of = _folds(y, min(folds, len(y)), seed, first_copies(features, np.arange(len(y) + 1), y))
    probabilities = np.zeros((len(y), n_classes), dtype=np.float32)
    count = int(fold_of.max()) + 1
    for fold in range(count):
        is_test = fold_of == fold
        training_classes = np.unique(y[~is_test])
        if len(training_classes) == 1:  # nothing to distinguish
            probabilities[is_test, training_classes[0]] = 1.0
        else:
            model = _fitted(features[~is_test], y[~is_test])
            probabilities[np.ix_(is_test, training_classes)] = model.predict_proba(features[is_test])
        if progress is not None:
            progress(fold + 1, count)
    return probabilities


def cached_out_of_fold(
    X: npt.ArrayLike, labels: npt.ArrayLike, n_classes: int, *, seed: int = 0, progress: FoldsDone | None = None
) -> npt.NDArray[np.float32]:
    """`out_of_fold` with five folds, cached for the last two pairs of data and seed.

    Another q, k or threshold over the same data needs no new classifier. The result is read-only. Arguments, result
    and errors as for `out_of_fold`.

    Parameters
    ----------
    X, labels, n_classes, seed, progress
        As for `out_of_fold`.
    """
    features, y = feature_array(X), whole_numbers(labels, "labels").astype(np.int64)
    digest = hashlib.sha256(f"{features.shape} {y.shape} {n_classes} {seed}".encode())
    for part in (features, y):
        digest.update(np.ascontiguousarray(part).data)
    key = digest.hexdigest()
    with _LOCK:
        result = _CACHE.get(key)
    if result is None:
        result = out_of_fold(features, y, n_classes, seed=seed, progress=progress)
        result.flags.writeable = False
        with _LOCK:
            _CACHE[key] = result
            while len(_CACHE) > MOST_FOLDS_REMEMBERED:
                _CACHE.pop(next(iter(_CACHE)))
    return result


def _fitted(X: npt.NDArray[np.float32], y: Ints) -> Pipeline:
    from sklearn.decomposition import PCA  # late: drawing candidates seldom needs a model
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    steps: list[Any] = [SimpleImputer(keep_empty_features=True), StandardScaler()]
    if X.shape[1] > DIRECTIONS:
        components = min(DIRECTIONS, len(X))
        steps.append(PCA(components, whiten=True, svd_solver="randomized", random_state=0))
    model = make_pipeline(*steps, LogisticRegression(max_iter=200))
    with warnings.catch_warnings():
        # Approximate probabilities are good enough, and separable classes never converge.
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X, y)


def _folds(y: Ints, folds: int, seed: int, copies: Ints | None) -> Ints:
    """Return (n,) fold of each example: stratified by class, shuffled within each class, copies in one."""
    if seed < 0:
        raise UserError(f"The seed is {seed}; it must be a whole number, 0 or more.")
    return dealt(np.lexsort((np.random.default_rng(seed).random(len(y)), y)), folds, copies)


def _checked(
    X: npt.ArrayLike, labels: npt.ArrayLike, n_classes: int, folds: int
) -> tuple[npt.NDArray[np.float32], Ints]:
    features = feature_array(X)
    check_finite(features, allow_missing=True)
    y = whole_numbers(labels, "labels").astype(np.int64)
    if len(features) != len(y):
        raise UserError(f"There are {len(features)} rows of features but {len(y)} labels; give one per row.")
    if len(y) < 2:
        raise UserError("A classifier needs at least two examples to learn from.")
    if features[0].size == 0:
        raise UserError("The examples have no features; a classifier has nothing to learn from. Make some first.")
    if folds < 2:
        raise UserError(f"{folds} folds cannot be made; use at least 2.")
    outside = np.flatnonzero((y < 0) | (y >= n_classes))
    if len(outside):
        row = int(outside[0])
        raise UserError(f"Row {row}: label {y[row]} is unknown; labels run from 0 to {n_classes - 1}.")
    return features.reshape(len(features), -1), y

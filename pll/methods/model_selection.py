"""What scikit-learn's model selection needs for candidate sets: a scorer without true labels.

>>> import numpy as np
>>> from sklearn.model_selection import KFold, cross_val_score
>>> from pll import PRODEN, flip_binomial
>>> rng = np.random.default_rng(0)
>>> y = np.repeat([0, 1, 2], 20)
>>> X = rng.normal(size=(60, 3)) + 4 * np.eye(3)[y]
>>> scores = cross_val_score(PRODEN(epochs=20), X, flip_binomial(y, 3, 0.3), cv=KFold(3, shuffle=True, random_state=0))
>>> bool(scores.min() > 0.9)
True
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import column_or_1d

from pll.candidates import CandidateSets, as_candidate_sets, as_name_lists
from pll.errors import UserError


def covering_rate_scorer(estimator: Any, X: npt.ArrayLike, y: Any, sample_weight: npt.ArrayLike | None = None) -> float:
    """Scorer for `cross_val_score`, `GridSearchCV` and the like (`scoring=covering_rate_scorer`) on candidate sets.

    Parameters
    ----------
    estimator : classifier
        Fitted, with `classes_`: a method, or a pipeline that ends in one.
    X : array-like
        Features, in the form that the estimator takes.
    y : candidate sets or (n,) labels
        In any form that `fit` takes. Lists of names need an estimator that was fitted on names.
    sample_weight : (n,) array-like, optional
        How much each example counts.

    Returns
    -------
    float
        The share of examples whose predicted label is among their candidates; for labels, the accuracy. In [0, 1].

    Raises
    ------
    UserError
        Not as many candidate sets, labels or weights as rows of features, sets of other classes, labels that are not
        known, or numbers where the model predicts names.
    """
    classes = np.asarray(estimator.classes_)
    predicted = np.asarray(estimator.predict(X))
    named = as_name_lists(y)
    sets = as_candidate_sets(y, len(classes)) if named is None else named
    labels = column_or_1d(y) if sets is None else np.empty(0)
    what, given = ("labels", labels) if sets is None else ("candidate sets", sets)
    if len(given) != len(predicted):
        raise UserError(f"There are {len(predicted)} rows of features but {len(given)} {what}.")
    if isinstance(sets, CandidateSets):
        right = sets.contains(np.searchsorted(classes, predicted))
    elif sets is not None:
        right = np.array([label in names for label, names in zip(predicted, sets, strict=True)], dtype=np.bool_)
    else:
        _check_labels(predicted, labels)
        right = predicted == labels
    weights = np.ones(len(right)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    if weights.shape != right.shape or not weights.sum() > 0:
        raise UserError(f"sample_weight must be {len(right)} numbers, one for each example, whose sum is more than 0.")
    return float(np.average(right, weights=weights))


def _check_labels(predicted: npt.NDArray[Any], labels: npt.NDArray[Any]) -> None:
    """Raise UserError for labels that no prediction can be: some are not known, or they are names beside numbers."""
    import pandas as pd  # late: nothing else here needs it

    unknown = int(pd.isna(labels).sum())
    if unknown:
        raise UserError(f"{unknown} of {len(labels)} labels are not known (NaN); give the rows whose label is known.")
    if len(labels) and isinstance(labels[0], str) != isinstance(predicted[0], str):
        raise UserError(
            f"The model predicts labels such as {predicted[0]!s:.40}, and the true ones are such as {labels[0]!s:.40}; "
            "give both as names, or both as numbers."
        )

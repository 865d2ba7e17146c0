"""What scikit-learn's model selection needs for candidate sets: a scorer without true labels, and a splitter.

>>> import numpy as np
>>> from sklearn.model_selection import cross_val_score
>>> from pll import PRODEN, StratifiedSetKFold, flip_binomial
>>> rng = np.random.default_rng(0)
>>> y = np.repeat([0, 1, 2], 20)  # sorted: without a splitter a fold would miss a whole class
>>> X = rng.normal(size=(60, 3)) + 4 * np.eye(3)[y]
>>> scores = cross_val_score(PRODEN(epochs=20), X, flip_binomial(y, 3, 0.3), cv=StratifiedSetKFold(3))
>>> bool(scores.min() > 0.9)
True
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.model_selection import BaseCrossValidator
from sklearn.utils.validation import column_or_1d

from pll.candidates import CandidateSets, as_candidate_sets, name_lists
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
        Not as many candidate sets as rows of features, or sets of other classes.
    """
    classes = np.asarray(estimator.classes_)
    predicted = np.asarray(estimator.predict(X))
    named = name_lists(y)
    sets = as_candidate_sets(y, len(classes)) if named is None else None
    if named is not None:
        _check_count(len(named), len(predicted))
        right = np.array([label in names for label, names in zip(predicted, named, strict=True)], dtype=np.bool_)
    elif sets is not None:
        _check_count(len(sets), len(predicted))
        right = sets.contains(np.searchsorted(classes, predicted))
    else:
        right = predicted == column_or_1d(y)
    return float(np.average(right, weights=None if sample_weight is None else np.asarray(sample_weight)))


def _check_count(n_sets: int, n_rows: int) -> None:
    if n_sets != n_rows:
        raise UserError(f"There are {n_rows} rows of features but {n_sets} candidate sets.")


class StratifiedSetKFold(BaseCrossValidator):
    """K folds of shuffled examples, each with the same share of every class's candidate sets.

    scikit-learn stratifies labels, but cuts candidate sets into consecutive rows: where rows are sorted by class, a
    model is then tested on classes that it was not trained on. Here the examples are shuffled, grouped by the rarest of
    their candidates, and dealt to the folds in turn.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds, at least 2.
    random_state : int, default=0
        Seed of the shuffling.

    Examples
    --------
    >>> sets = CandidateSets.from_lists([[0], [0], [1], [1]], n_classes=2)
    >>> [sorted(sets[test].indices.tolist()) for _, test in StratifiedSetKFold(2).split(np.zeros((4, 1)), sets)]
    [[0, 1], [0, 1]]
    """

    def __init__(self, n_splits: int = 5, *, random_state: int = 0) -> None:
        self.n_splits = n_splits
        self.random_state = random_state

    def get_n_splits(self, X: object = None, y: object = None, groups: object = None) -> int:
        """Return the number of folds.

        Parameters
        ----------
        X, y, groups
            Not used.
        """
        return self.n_splits

    def _iter_test_indices(
        self, X: Any = None, y: Any = None, groups: object = None
    ) -> Iterator[npt.NDArray[np.int64]]:
        if y is None:
            raise UserError("StratifiedSetKFold needs y: the candidate sets, or labels.")
        sets = as_candidate_sets(y)
        if sets is None:
            labels, at = np.unique(column_or_1d(y), return_inverse=True)
            sets = CandidateSets.from_labels(at, len(labels))
        n = len(sets)
        if not 2 <= self.n_splits <= n:
            raise UserError(f"n_splits is {self.n_splits}; {n} examples can be cut into 2 to {n} folds.")
        count = np.bincount(sets.indices, minlength=sets.n_classes)[sets.indices]  # (nnz,) sets with that label
        key = count.astype(np.int64) * sets.n_classes + sets.indices  # of equally rare labels the first
        rarest = np.minimum.reduceat(key, sets.indptr[:-1]) % sets.n_classes  # (n,)
        order = np.lexsort((np.random.default_rng(self.random_state).permutation(n), rarest))
        fold = np.empty(n, dtype=np.int64)
        fold[order] = np.arange(n) % self.n_splits
        for k in range(self.n_splits):
            yield np.flatnonzero(fold == k)

"""Re-ranking while people review: models of answered rows order the labels still in the pool.

All rows begin in the pool. Rows leave it from the least sure end, and people look at each row that leaves. The order of
those inside is computed again as answers come in, and the review ends when at most c wrong controls are left inside;
what is inside then is accepted (pll.review.certificate).

Condition: the order depends on nothing but the rows' features and the answers on rows that have *left*; never
on an answer to, or on the membership of, a control that is still inside. The functions here are given the rows that
have left and their answers, and no other answer. docs/certificate.md has the proof.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.stats import rankdata

from pll.annotations.data import Annotations
from pll.dataset import PartialLabelDataset
from pll.io import Column
from pll.review.certificate import RIGHT, UNANSWERED, WRONG, Answers, Flags, Floats, Ids, Ints

EVERY = 0.02
"""Share of all rows that leave between two orders."""
FIRST = 0.1
"""Share of all rows that leave in the order of confidence before the first one is made."""
MOST_CLASSES = 200
"""Above that, rare identified labels share one column."""
MOST_COLUMNS = 40
"""Principal components kept of the features."""
FITTED_ON = 20_000
"""Rows that the principal components of features are taken from, at most, spread evenly; all rows are projected."""
SMALL = 0.1
"""Scale of the principal components: the smaller, the stronger their ridge."""


@dataclass(frozen=True, eq=False)
class PoolFeatures:
    """Features of each row for the models; fixed before the review, no answers among them.

    Attributes
    ----------
    order
        (n,) rows, the surest first (`pll.review.certificate.label_order`).
    models
        (n, d) columns of each model; their log-odds are added.
    """

    order: Ints
    models: tuple[Floats, ...]


def pool_features(
    order: Ints, confidence: npt.ArrayLike, labels: Ids, data: PartialLabelDataset | None = None
) -> PoolFeatures:
    """Prepare rows for `rank_pool`.

    Parameters
    ----------
    order
        (n,) rows, the surest first.
    confidence
        (n,) of the identified labels.
    labels
        (n,) identified labels.
    data
        The examples: of these features, texts and annotators' answers are used, never the truth.

    Returns
    -------
    PoolFeatures
        Columns of one model (confidence, labels, how many different labels were voted), and, where there are features
        or texts, of a second one that has their principal components too.
    """
    n = len(order)
    rank = rankdata(np.asarray(confidence, dtype=np.float64)) / n
    named, codes = np.unique(np.asarray(labels, dtype=np.str_), return_inverse=True)
    counts = np.bincount(codes)
    common = np.argsort(-counts, kind="stable")[:MOST_CLASSES]
    own = np.full(len(named), len(common))
    own[common] = np.arange(len(common))
    labelled = np.zeros((n, len(common) + 1))
    labelled[np.arange(n), own[codes]] = 1.0
    columns = [3 * rank[:, None], labelled[:, : len(common)]]
    rich = []
    if data is not None:
        if data.annotations is not None:
            columns.append(_different_votes(data.annotations)[:, None])
        rich = [part for part in (_components(data.X), _text_components(data.texts)) if part is not None]
    models = [np.column_stack(columns)]
    if rich:
        models.append(np.column_stack([*columns, *(SMALL * part for part in rich)]))
    return PoolFeatures(np.asarray(order, dtype=np.int64), tuple(models))


def _different_votes(annotations: Annotations) -> Floats:
    """(n,) how many different labels a row was given, per answer; 0 where there is none."""
    pairs = np.unique(annotations.rows.astype(np.int64) * annotations.n_classes + annotations.labels)
    different = np.bincount(pairs // annotations.n_classes, minlength=annotations.n_rows)
    return np.asarray(different / np.maximum(np.bincount(annotations.rows, minlength=annotations.n_rows), 1))


def rank_pool(rows: PoolFeatures, left: Ints, wrong: Flags) -> Ints:
    """The rows still in the pool, the one that should leave next first.

    Parameters
    ----------
    left
        (k,) rows that have left the pool, in any order.
    wrong
        (k,) bool, whether people found their labels wrong; unsure is wrong.

    Returns
    -------
    Ints
        (n − k,) int64. By confidence until right and wrong ones have left.
    """
    n = len(rows.order)
    inside = np.ones(n, dtype=np.bool_)
    inside[left] = False
    by_confidence = rows.order[::-1]
    waiting = by_confidence[inside[by_confidence]]
    if wrong.all() or not wrong.any() or not len(waiting):
        return waiting
    doubt = sum((_fitted(model[left], wrong)(model[waiting]) for model in rows.models), np.zeros(len(waiting)))
    return waiting[np.argsort(-doubt, kind="stable")]


class Pool:
    """The rows that have left, and which should be looked at next; updated as answers come in.

    Parameters
    ----------
    rows
        Of `pool_features`.
    controls
        (K,) rows of the draw.
    tolerated
        c.

    Attributes
    ----------
    left
        Rows that have left, in their order.
    waiting
        Rows inside, the one that should be looked at next first.
    done
        At most c wrong controls are inside: what is inside is accepted.
    """

    def __init__(self, rows: PoolFeatures, controls: Ints, tolerated: int) -> None:
        self._rows, self._controls, self._tolerated = rows, controls, tolerated
        self.waiting = rank_pool(rows, np.empty(0, dtype=np.int64), np.empty(0, dtype=np.bool_))
        self._batch = max(1, int(FIRST * len(rows.order)))
        self.left: list[int] = []
        self._wrong: list[bool] = []
        self.done = False

    def advance(self, answers: Answers) -> None:
        """Let rows leave as far as they are answered, until the rest may be accepted.

        The order is computed again only after fixed numbers of rows have left, from their answers alone.

        Parameters
        ----------
        answers
            (n,) of all rows: `RIGHT`, `WRONG` or `UNANSWERED`. An unanswered control inside counts as wrong.
        """
        n = len(self._rows.order)
        suspect = np.zeros(n, dtype=np.bool_)
        suspect[self._controls] = answers[self._controls] != RIGHT
        suspect[self.left] = False
        inside = int(suspect.sum())
        self.done = inside <= self._tolerated
        while not self.done and self._batch and answers[self.waiting[0]] != UNANSWERED:
            row = int(self.waiting[0])
            self.waiting = self.waiting[1:]
            self.left.append(row)
            self._wrong.append(bool(answers[row] == WRONG))
            self._batch -= 1
            inside -= bool(suspect[row])
            self.done = inside <= self._tolerated
            if not self._batch and len(self.left) < n:
                self.waiting = rank_pool(self._rows, np.array(self.left), np.array(self._wrong))
                self._batch = max(1, int(EVERY * n))


def _fitted(columns: Floats, wrong: Flags) -> Callable[[Floats], Floats]:
    """Ridge logistic regression; returns the log-odds that a label is wrong."""
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(C=1.0, max_iter=200).fit(columns, wrong)
    return lambda further: np.asarray(model.decision_function(further), dtype=np.float64)


def _components(features: npt.NDArray[np.float32]) -> Floats | None:
    """(n, ≤ `MOST_COLUMNS`) principal components of z-scored features, each of variance 1; None without features."""
    if not features.size:
        return None
    flat = features.reshape(len(features), -1)
    fitted_on = flat[:: 1 + (len(flat) - 1) // FITTED_ON]
    some = np.nan_to_num(fitted_on.astype(np.float64))
    mean, spread = some.mean(axis=0), some.std(axis=0)
    spread = np.where(spread > 0, spread, 1.0)

    def scaled(rows: npt.NDArray[np.float32]) -> Floats:
        return np.asarray(np.clip((np.nan_to_num(rows.astype(np.float64)) - mean) / spread, -5, 5))

    blocks = (flat[start : start + FITTED_ON] for start in range(0, len(flat), FITTED_ON))  # float64 takes memory
    return _unit_components(scaled(fitted_on), map(scaled, blocks))


def _text_components(texts: Column | None) -> Floats | None:
    """The same of tf-idf weights of words and pairs of words."""
    if texts is None:
        return None
    from sklearn.feature_extraction.text import TfidfVectorizer

    try:
        weights = TfidfVectorizer(ngram_range=(1, 2), min_df=2, sublinear_tf=True, max_features=20_000).fit_transform(
            ["" if text is None else str(text) for text in texts]
        )
    except ValueError:  # no word occurs twice
        return None
    return _unit_components(weights, [weights])


def _unit_components(matrix: Any, blocks: Iterable[Any]) -> Floats | None:
    """Principal components of a matrix, of all blocks, each of variance 1; None where there are too few rows."""
    from sklearn.decomposition import TruncatedSVD

    columns = int(min(MOST_COLUMNS, min(matrix.shape) - 1))
    if columns < 1:
        return None
    result = TruncatedSVD(columns, random_state=0).fit(matrix)
    projected = np.concatenate([result.transform(block) for block in blocks])
    spread = projected.std(axis=0)
    return np.asarray(projected / np.where(spread > 1e-9, spread, 1.0), dtype=np.float64)

"""Nearest examples of each candidate's class, and the columns in which a row differs from its neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pll.dataset import PartialLabelDataset
from pll.training.scaling import clipped, fit_scaling
from pll.weights import CONFIDENT, Certainty, Ints

FEWEST_OF_A_CLASS = 20
"""If fewer reach it, the most certain examples of a class represent it."""
PER_CLASS = 300
"""Maximum number of examples that represent a class, so that the search is quick."""
IN_ALL = 20_000
"""The same, for all classes together."""


@dataclass(frozen=True)
class ColumnComparison:
    """One column of a row, and what is usual among its nearest rows.

    Attributes
    ----------
    name
        Of the column.
    value
        Of this row, as a sentence.
    usual
        The mean of its neighbours, as a sentence; "" for words.
    distance
        How far apart the two are, in standard deviations of the column.
    of_classes
        The same column of the nearest sure example of each requested class; "" for none.
    """

    name: str
    value: str
    usual: str = ""
    distance: float = 0.0
    of_classes: tuple[str, ...] = ()


class Similar:
    """Finds examples similar to one, among representatives of the classes.

    Parameters
    ----------
    data
        The training part.
    certainty
        Identified labels and confidences by the final label weights.

    Examples
    --------
    >>> from pll.candidates import CandidateSets
    >>> sets = CandidateSets.from_lists([[0], [0], [1], [0, 1]], n_classes=2)
    >>> data = PartialLabelDataset(np.array([[0.0], [1.0], [4.0], [1.5]], dtype=np.float32), sets)
    >>> ones = np.array([1.0, 1.0, 1.0, 0.5])
    >>> similar = Similar(data, Certainty(np.array([0, 0, 1, 0]), ones, ones, ones, ones == 0, ones == 0))
    >>> similar.of_class(3, 0).tolist(), similar.of_class(3, 1).tolist()
    ([1, 0], [2])
    """

    def __init__(self, data: PartialLabelDataset, certainty: Certainty) -> None:
        self.data = data
        self._rows, self._starts = _representatives(certainty, data.n_classes)
        self._scaling = fit_scaling(data.X[self._rows])
        self._points = clipped(self._scaling, data.X[self._rows])  # (p, d)

    def of_class(self, row: int, label: int, most: int = 3) -> Ints:
        """(≤ most,) the nearest sure examples of a class, the nearest first, never the example itself.

        Parameters
        ----------
        row
            Number of the example.
        label
            Index of the class.
        most
            How many.
        """
        span = slice(int(self._starts[label]), int(self._starts[label + 1]))
        return self._nearest(row, span, most)

    def look_alikes(self, row: int, among: Ints, most: int) -> Ints:
        """(≤ most,) `row` itself, then the other rows of `among`, the nearest to it first.

        Of more than `IN_ALL` rows a sample is looked at.

        Parameters
        ----------
        row
            Number of the example.
        among
            (k,) rows.
        most
            How many.
        """
        among = among[among != row]
        if len(among) > IN_ALL:
            among = np.random.default_rng(row).choice(among, IN_ALL, replace=False)
        apart = self._apart(clipped(self._scaling, self.data.X[among]), row)
        return np.concatenate([[row], among[np.argsort(apart, kind="stable")[: most - 1]]])

    def columns(
        self, row: int, neighbours: Ints | None = None, most: int = 10, classes: Sequence[int] = ()
    ) -> list[ColumnComparison]:
        """The columns of a table in which a row differs most from its neighbours, then its words.

        Parameters
        ----------
        row
            Number of the example.
        neighbours
            The rows most like it; by default the nearest ten representatives of their class.
        most
            How many.
        classes
            Show the nearest sure example of each of these beside it.
        """
        data = self.data
        near = self._nearest(row, slice(None), 10) if neighbours is None else neighbours
        words = [
            ColumnComparison(name, str(values[row]))
            for name, values in {**data.categories, **data.extras}.items()
            if values[row] is not None
        ]
        if data.X.ndim != 2 or not data.X.shape[1]:
            return words[:most]
        own, spread = data.X[row], self._scaling.spread.numpy().ravel()
        with np.errstate(invalid="ignore"):
            usual = np.nanmean(data.X[near], axis=0) if len(near) else np.full(len(own), np.nan)
            apart = np.nan_to_num(np.abs(own - usual) / spread, nan=0.0)
        first = np.argsort(-apart, kind="stable")[: max(most - len(words), most // 2)]
        names = data.column_names
        signals = [self.of_class(row, label, 1) for label in classes]
        numbers = [
            ColumnComparison(
                names[k],
                figure(own[k]),
                figure(usual[k], MEAN_DIGITS),
                float(apart[k]),
                tuple(figure(data.X[one[0], k]) if len(one) else "" for one in signals),
            )
            for k in first
        ]
        return [*numbers, *words][:most]

    def _apart(self, points: npt.NDArray[np.float32], row: int) -> npt.NDArray[np.float32]:
        """Return (p,) squared distances of points (p, d) to an example."""
        squares = (points - clipped(self._scaling, self.data.X[row : row + 1])) ** 2
        return np.asarray(squares.sum(axis=1))

    def _nearest(self, row: int, span: slice, most: int) -> Ints:
        rows, points = self._rows[span], self._points[span]
        apart = self._apart(points, row)
        apart[rows == row] = np.inf
        result = np.argsort(apart, kind="stable")[:most]
        return np.asarray(rows[result[np.isfinite(apart[result])]])


def _representatives(certainty: Certainty, n_classes: int) -> tuple[Ints, Ints]:
    """(p,) rows, class by class, and (c + 1,) where each class begins."""
    most = max(1, min(PER_CLASS, IN_ALL // max(1, n_classes)))
    shuffled = np.random.default_rng(0).permutation(len(certainty.confidence))
    labels = certainty.identified[shuffled]
    # By class: certain ones in random order, then the others by confidence.
    doubt = np.where(certainty.confidence[shuffled] >= CONFIDENT, 0.0, 1.0 - certainty.confidence[shuffled])
    order = np.lexsort((doubt, labels))
    ends = np.searchsorted(labels[order], np.arange(n_classes + 1))
    chosen = []
    for j in range(n_classes):
        own = order[ends[j] : ends[j + 1]]
        many = max(int((doubt[own] == 0).sum()), FEWEST_OF_A_CLASS)
        chosen.append(shuffled[own[: min(many, most)]])
    starts = np.concatenate([[0], np.cumsum([len(rows) for rows in chosen])])
    return np.concatenate(chosen).astype(np.int64), starts.astype(np.int64)


MEAN_DIGITS = 4
"""Figures of a mean, which no file has."""


def figure(value: float, digits: int = 6) -> str:
    """A number as a file has it.

    Parameters
    ----------
    value
        The number.
    digits
        Figures, at most.

    Examples
    --------
    >>> figure(118.35), figure(101040.0), figure(float("nan")), figure(2.0), figure(0.123456, 4)
    ('118.35', '101,040', 'missing', '2', '0.1235')
    """
    if np.isnan(value):
        return "missing"
    text = f"{value:.{digits}g}"
    return f"{float(text):,}".removesuffix(".0") if abs(value) >= 10_000 else text

"""Table features: mean imputation of numbers and one-hot encoding of categorical columns.

Both are scikit-learn's. Loading a model rebuilds them from the saved means and categories: the encoder is given its
categories, the imputer is fitted on one row of means.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import OneHotEncoder

from pll.dataset import PartialLabelDataset
from pll.errors import UserError
from pll.features.base import Features, Featuriser
from pll.io import Arrays, Column, Progress

MOST_CATEGORIES = 50
"""Largest number of one-hot columns of a categorical column; rarer words share one."""

MISSING_CELL = "\x00missing"
"""Category of missing cells; cells cannot contain NUL."""
OTHER = "\x00other"
"""Category of rare words."""

Words = npt.NDArray[np.object_]


class TableFeatures(Featuriser):
    """Numbers, imputed with the column means, followed by the one-hot columns of each categorical column.

    Missing words are a category of their own if the training part has any. Unknown words count as rare words; if the
    training part has no rare words, they are encoded as zeros.
    """

    name = "table"
    title = "Numbers and words of a table"
    reads = ("numbers", "words")
    numbers: tuple[str, ...]

    def __init__(self) -> None:
        self.means: npt.NDArray[np.float64] = np.empty(0)
        self.words: dict[str, list[str]] = {}

    @classmethod
    def from_argument(cls, argument: str) -> Self:
        if argument:
            raise UserError(f"The features {cls.name!r} take nothing behind a colon; leave out {argument!r}.")
        return cls()

    def fit(self, data: PartialLabelDataset, progress: Progress | None = None) -> Self:
        if data.X.ndim != 2 or not (data.X.shape[1] or data.categories):
            raise UserError(f"{data.name} has no column of numbers or words; there is nothing to make features of.")
        d = data.X.shape[1]
        self.numbers = data.feature_names or tuple(f"feature {k}" for k in range(d))
        if len(data) == 0:
            raise UserError(f"{data.name} has no rows; features are learnt from at least one.")
        means = np.zeros(d)
        if d:  # columns without any number become 0
            means = SimpleImputer(keep_empty_features=True).fit(data.X.astype(np.float64)).statistics_
        self.words = {name: _vocabulary(_filled(cells)) for name, cells in data.categories.items()}
        self._build(means)
        return self

    def _build(self, means: npt.NDArray[np.float64]) -> None:
        self.means = np.asarray(means, dtype=np.float64)
        if len(self.means):
            self._imputer = SimpleImputer(keep_empty_features=True).fit(self.means[None])
        if self.words:
            kinds = [np.array(words, dtype=object) for words in self.words.values()]
            first = np.array([[words[0] for words in self.words.values()]], dtype=object)
            encoder = OneHotEncoder(categories=kinds, handle_unknown="ignore", sparse_output=False, dtype=np.float32)
            self._encoder = encoder.fit(first)

    def transform(self, data: PartialLabelDataset, progress: Progress | None = None) -> Features:
        blocks = [np.empty((len(data), 0), dtype=np.float32)]
        if self.numbers:
            blocks.append(self._imputer.transform(_numbers(data, self.numbers)).astype(np.float32))
        if self.words:
            cells = np.empty((len(data), len(self.words)), dtype=object)
            for at, (name, words) in enumerate(self.words.items()):
                cells[:, at] = _in_vocabulary(_words(data, name), words)
            blocks.append(self._encoder.transform(cells))
        return np.ascontiguousarray(np.hstack(blocks))

    @property
    def feature_names(self) -> tuple[str, ...]:
        suffixes = {MISSING_CELL: " is missing", OTHER: " is another"}
        return self.numbers + tuple(
            name + suffixes.get(word, f" = {word}") for name, words in self.words.items() for word in words
        )

    def notes(self, data: PartialLabelDataset) -> tuple[str, ...]:
        result = []
        for name, words in self.words.items():
            cells = _words(data, name)
            new = ~pd.Series(cells).isin(words).to_numpy()
            if new.any():
                first = cells[np.argmax(new)]
                effect = "are rare; they share a column" if OTHER in words else "training never saw; they count as none"
                value = "a missing cell" if first == MISSING_CELL else repr(first)
                result.append(f"{int(new.sum())} cells of {name!r} hold words that {effect} (first: {value}).")
        return tuple(result)

    def state(self) -> tuple[dict[str, Any], Arrays]:
        numbers = [{"name": name, "mean": float(mean)} for name, mean in zip(self.numbers, self.means, strict=True)]
        return {"numbers": numbers, "words": [{"name": n, "words": words} for n, words in self.words.items()]}, {}

    @classmethod
    def from_state(cls, settings: dict[str, Any], arrays: Arrays) -> Self:
        made = cls()
        made.numbers = tuple(str(number["name"]) for number in settings["numbers"])
        made.words = {str(column["name"]): [str(word) for word in column["words"]] for column in settings["words"]}
        if not all(made.words.values()):
            raise ValueError("a column without words")
        made._build(np.array([float(number["mean"]) for number in settings["numbers"]]))
        return made


def _filled(cells: Column) -> Words:
    return np.array([MISSING_CELL if cell is None or cell == "" else str(cell) for cell in cells], dtype=object)


def _vocabulary(cells: Words) -> list[str]:
    """Return the categories of a column: sorted words, then `MISSING_CELL` and `OTHER` if needed."""
    counts = pd.Series(cells).value_counts(sort=False)
    missing = [MISSING_CELL] if MISSING_CELL in counts.index else []
    counts = counts.drop(missing)
    order = sorted(counts.index, key=lambda word: (-counts[word], word))
    rare = [OTHER] if len(order) > MOST_CATEGORIES else []
    return sorted(order[:MOST_CATEGORIES]) + missing + rare


def _in_vocabulary(cells: Words, words: list[str]) -> Words:
    """Replace unknown words by `OTHER`, if it is a category."""
    if OTHER not in words:
        return cells
    return np.where(pd.Series(cells).isin(words), cells, OTHER)


def _numbers(data: PartialLabelDataset, names: tuple[str, ...]) -> npt.NDArray[np.float64]:
    """Return the columns (n, d) of these names; by position if the data has no names."""
    if data.X.ndim != 2:
        raise UserError(f"{data.name} holds pictures; the model was fitted on a table.")
    X = data.X.astype(np.float64)
    if X.shape[1] and not data.feature_names:
        if X.shape[1] != len(names):
            raise UserError(f"{data.name} has {X.shape[1]} columns of numbers; the model was fitted on {len(names)}.")
        return X
    place = {name: at for at, name in enumerate(data.feature_names)}
    for name in names:
        if name in data.categories:
            cells = data.categories[name]
            row = next((row for row, cell in enumerate(cells) if cell is not None and not _is_number(cell)), 0)
            raise UserError(
                f"Row {data.row_ids[row]}, column {name!r} of {data.name} holds {cells[row]!r}; the model was fitted "
                "on numbers there."
            )
        if name not in place:
            raise UserError(f"{data.name} has no column {name!r}, which the model was fitted on; add it.")
    return X[:, [place[name] for name in names]]


def _words(data: PartialLabelDataset, name: str) -> Words:
    """Return the words (n,) of a column; numbers as text (new data may hold only numbers there)."""
    if name in data.categories:
        return _filled(data.categories[name])
    if name in data.feature_names:
        column = data.X[:, data.feature_names.index(name)].astype(np.float64)
        return np.array([MISSING_CELL if np.isnan(number) else _written(number) for number in column], dtype=object)
    raise UserError(f"{data.name} has no column {name!r}, which the model was fitted on; add it.")


def _written(number: float) -> str:
    return str(int(number)) if number.is_integer() else str(np.float32(number))


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True

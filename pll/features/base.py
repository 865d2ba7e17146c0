"""What a featuriser is: it turns texts, pictures and columns of words into the numbers that methods learn from.

It is fitted on the training part alone and saved with the model, as JSON and plain arrays: loading one runs no code.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from pll.dataset import PartialLabelDataset
from pll.errors import UserError
from pll.io import Progress

Features = npt.NDArray[np.float32]
Arrays = dict[str, npt.NDArray[Any]]


CONTENTS = ("numbers", "words", "texts", "pictures")
"""What there may be to make features of, besides each other."""


def contents(data: PartialLabelDataset) -> tuple[str, ...]:
    """Which of `CONTENTS` the data holds."""
    pictures = (
        data.images is not None or data.is_image or (data.pictures is not None and data.pictures.where is not None)
    )
    there = {
        "numbers": data.X.ndim == 2 and data.X.shape[1] > 0,
        "words": bool(data.categories),
        "texts": data.texts is not None,
        "pictures": pictures,
    }
    return tuple(name for name in CONTENTS if there[name])


class Featuriser(ABC):
    """Learns on some examples how to make features, then makes them of any.

    Attributes:
        name: what the shell calls it (`--features name` or `name:argument`).
        title: what a page calls it.
        reads: which of `CONTENTS` it makes features of.
        flat: whether it makes (n, d) features, that can stand beside others; else (n, C, H, W).
    """

    name: ClassVar[str]
    title: ClassVar[str]
    reads: tuple[str, ...]
    flat: ClassVar[bool] = True

    @classmethod
    @abstractmethod
    def from_argument(cls, argument: str) -> Self:
        """An unfitted one, from what stands behind the colon (empty where nothing does).

        Raises:
            UserError: not an argument it takes.
        """

    @abstractmethod
    def fit(self, data: PartialLabelDataset, progress: Progress | None = None) -> Self:
        """Learn from the training part; labels are never looked at.

        Raises:
            UserError: the data holds nothing to make these features of.
        """

    @abstractmethod
    def transform(self, data: PartialLabelDataset, progress: Progress | None = None) -> Features:
        """(n, d) or (n, C, H, W) float32, finite.

        Raises:
            UserError: data without what it was fitted on; the row, column or file is named.
        """

    @property
    @abstractmethod
    def feature_names(self) -> tuple[str, ...]:
        """d names of the columns that `transform` makes; empty for (n, C, H, W)."""

    @abstractmethod
    def state(self) -> tuple[dict[str, Any], Arrays]:
        """What `from_state` rebuilds it from: plain JSON values, and arrays by name."""

    @classmethod
    @abstractmethod
    def from_state(cls, settings: dict[str, Any], arrays: Arrays) -> Self:
        """One that transforms exactly as the one whose `state` this is.

        Raises:
            KeyError, TypeError, ValueError: not what `state` gives.
        """

    def notes(self, data: PartialLabelDataset) -> tuple[str, ...]:
        """What `transform` does to these examples that a person should know, in words."""
        return ()


def whole_argument(argument: str, what: str, least: int, most: int) -> int:
    """A whole number behind the colon.

    Raises:
        UserError: not one within these bounds.
    """
    if not argument.isdecimal() or not least <= int(argument) <= most:
        raise UserError(f"{what} is {argument!r}; give a whole number from {least} to {most:,}.")
    return int(argument)


def no_argument(name: str, argument: str) -> None:
    """Raises UserError where something stands behind a colon that should not be there."""
    if argument:
        raise UserError(f"The features {name!r} take nothing behind a colon; leave out {argument!r}.")


def not_fitted(name: str) -> UserError:
    """For a featuriser that is used before `fit`."""
    return UserError(f"The features {name!r} are not fitted yet; fit them on the training part first.")

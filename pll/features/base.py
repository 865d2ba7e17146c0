"""The featuriser interface: fit on the training part, then transform any data into numeric features.

The fitted state is saved with the model as JSON and plain arrays, so that loading it runs no code.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from inspect import get_annotations
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from pll.dataset import PartialLabelDataset
from pll.errors import UserError
from pll.io import Arrays, Progress

Features = npt.NDArray[np.float32]


class Featuriser(ABC):
    """Base class of featurisers.

    Attributes
    ----------
    name
        Name in the shell (`--features name` or `name:argument`).
    title
        Name on the pages.
    reads
        Which of `pll.dataset.CONTENTS` features are made from.
    flat
        Whether features are (n, d), which can be joined with others; else (n, C, H, W).
    """

    name: ClassVar[str]
    title: ClassVar[str]
    reads: tuple[str, ...]
    flat: ClassVar[bool] = True

    def __getattr__(self, name: str) -> Any:
        """What `fit` has not set yet: fields that a class declares without a value."""
        if any(name in get_annotations(kind) for kind in type(self).__mro__):
            raise UserError(f"The features {self.name!r} are not fitted yet; fit them on the training part first.")
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self)

    @classmethod
    @abstractmethod
    def from_argument(cls, argument: str) -> Self:
        """Return an unfitted featuriser from the argument after the colon (may be empty).

        Raises
        ------
        UserError
            Invalid argument.
        """

    @abstractmethod
    def fit(self, data: PartialLabelDataset, progress: Progress | None = None) -> Self:
        """Fit on the training part; labels are not used.

        Parameters
        ----------
        data
            The training part.
        progress
            Called with what is done, how much of it, and of how much.

        Raises
        ------
        UserError
            The data lacks the content that this featuriser reads.
        """

    @abstractmethod
    def transform(self, data: PartialLabelDataset, progress: Progress | None = None) -> Features:
        """Return features, (n, d) or (n, C, H, W) float32, all finite.

        Parameters
        ----------
        data
            Examples of the kind that it was fitted on.
        progress
            As for `fit`.

        Raises
        ------
        UserError
            The data lacks content of the training data; the message names the row, column or file.
        """

    @property
    @abstractmethod
    def feature_names(self) -> tuple[str, ...]:
        """Names of the d columns that `transform` returns; empty for (n, C, H, W)."""

    @abstractmethod
    def state(self) -> tuple[dict[str, Any], Arrays]:
        """Return the fitted state for `from_state`: JSON values, and arrays by name."""

    @classmethod
    @abstractmethod
    def from_state(cls, settings: dict[str, Any], arrays: Arrays) -> Self:
        """Return a featuriser with the given `state`; its `transform` is identical.

        Parameters
        ----------
        settings, arrays
            As `state` returns them.

        Raises
        ------
        KeyError, TypeError, ValueError
            Not a valid state.
        """

    def notes(self, data: PartialLabelDataset) -> tuple[str, ...]:
        """Return messages for users about how `transform` treats these examples."""
        return ()


def whole_argument(argument: str, what: str, most: int) -> int:
    """Parse an argument as a whole number, 1 or more.

    Parameters
    ----------
    argument
        The text.
    what
        What it counts, for the message.
    most
        The highest.

    Raises
    ------
    UserError
        Not a whole number from 1 to `most`.
    """
    if not argument.isdecimal() or not 1 <= int(argument) <= most:
        raise UserError(f"{what} is {argument!r}; give a whole number from 1 to {most:,}.")
    return int(argument)

"""Ranges of the features that a model was trained on, and a warning about others: a wrong scale gives no error."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from pll.training.scaling import mean_and_std
from pll.weights import Floats

RANGE = "inputs"
"""Under this name in the `extra` of `model.json`."""

MEASURED = ("minimum", "maximum", "deviation")
"""What is measured, by its name there."""

MOST_COLUMNS = 256
"""Columns up to which a table has a range each; pictures, and wider tables, have one range over all features."""

FEW_ROWS = 20
"""Rows of a table from which on its spread is compared too."""


def input_range(X: npt.NDArray[np.float32]) -> dict[str, Any]:
    """Return what the features of training look like, as plain values.

    Parameters
    ----------
    X
        (n, …) float32, NaN where a value is missing.

    Returns
    -------
    dict[str, Any]
        `shape` of one example, `dtype`, `each` (whether the rest is a list with a value for every column), `minimum`,
        `maximum`, `deviation` (the standard deviation). Columns without any value have 0 everywhere; where there are no
        columns (votes alone), the lists are empty.

    Examples
    --------
    >>> known = input_range(np.array([[0, 5], [16, 7]], dtype=np.float32))
    >>> known["minimum"], known["maximum"], known["deviation"]
    ([0.0, 5.0], [16.0, 7.0], [8.0, 1.0])
    """
    each = X.ndim == 2 and X.shape[1] <= MOST_COLUMNS
    plain = (values.tolist() if each else float(values[0]) for values in _spread(X, each))
    about = {"shape": [int(size) for size in X.shape[1:]], "dtype": str(X.dtype), "each": each}
    return about | dict(zip(MEASURED, plain, strict=True))


def range_warnings(
    X: npt.NDArray[np.float32], training_range: Mapping[str, Any], names: tuple[str, ...] = ()
) -> list[str]:
    """Return warnings about features that are on another scale than those of training.

    A value is far outside where it is beyond the training range by more than the width of that range. The scale is
    too small where the variances are, on average, less than a sixteenth of those of training (a quarter in standard
    deviations); of a table this is compared from 20 rows on.

    Parameters
    ----------
    X
        (n, …) float32, of the shape of training.
    training_range
        Of `input_range`.
    names
        Of the columns, where they have some.

    Examples
    --------
    >>> known = input_range(np.arange(64, dtype=np.float32).reshape(32, 2))
    >>> range_warnings(np.array([[3, 4]], dtype=np.float32), known)
    []
    >>> len(range_warnings(np.array([[3, 900]], dtype=np.float32), known))
    1
    """
    if not len(X):
        return []
    each = bool(training_range["each"])
    low, high, deviation = _spread(X, each)
    least, most, usual = (np.atleast_1d(np.array(training_range[name], float)) for name in MEASURED)
    width, varied = most - least, usual > 0
    warnings = []
    far = np.flatnonzero(varied & ((low < least - width) | (high > most + width)))
    if len(far):
        k = int(far[0])
        span = f"{low[k]:g} to {high[k]:g}, in training from {least[k]:g} to {most[k]:g}"
        if each:
            name = repr(names[k]) if names else f"column {k + 1}"
            warnings.append(
                f"{len(far):,} of {len(low):,} columns hold values far outside those of training: "
                f"{name} goes from {span}."
            )
        else:
            warnings.append(f"Some values are far outside those of training: they go from {span}.")
    elif varied.any() and (not each or len(X) >= FEW_ROWS):
        ratio = float(np.sqrt(np.mean((deviation[varied] / usual[varied]) ** 2)))
        if ratio < 1 / 4:
            warnings.append(
                f"The values vary {ratio:.2g} times as much as in training (all of them: {low.min():g} to "
                f"{high.max():g}, in training {least.min():g} to {most.max():g}). Is their scale another one?"
            )
    return warnings


def _spread(X: npt.NDArray[np.float32], each: bool) -> tuple[Floats, ...]:
    """Return minimum, maximum and standard deviation, of every column or (1,) over all; 0 where there is no value."""
    axes = (0,) if each else tuple(range(X.ndim))
    low, high = (choose.reduce(X, axis=axes, initial=np.nan) for choose in (np.fmin, np.fmax))  # NaN only of NaN
    return tuple(
        np.nan_to_num(part, nan=0.0).reshape(-1).astype(np.float64) for part in (low, high, mean_and_std(X, axes)[1])
    )

"""What the paper publishes: its tables 1, 2 and 4 (published.csv), and its settings (`pll.methods.published`).

`published.csv` has mean and standard deviation of the test accuracy in percent, and whether a method is significantly
worse or better than PRODEN there.
"""

from __future__ import annotations

import csv
from functools import cache
from pathlib import Path
from typing import Any

from pll.experiments.evaluation import Spread
from pll.methods import METHODS
from pll.methods.deep import DeepEstimator
from pll.methods.published import PROTOCOL, PUBLISHED, plain_name


def published_accuracy(dataset: str, flip: str, q: float | None, method: str) -> Spread | None:
    """Return the paper's test accuracy, None where it has none.

    Parameters
    ----------
    dataset, method
        Their names.
    flip
        "" for the candidate sets of the data, where q is None.
    q
        Flipping probability.

    Examples
    --------
    >>> published_accuracy("lost", "", None, "proden")
    Spread(mean=76.57, deviation=1.47)
    """
    return _entries().get((dataset, flip, q, method))


def published_settings(dataset: str, model: str, method: str) -> dict[str, Any] | None:
    """Return the settings of the paper's own code, None where it publishes none for these data and this model.

    GA and PN-decomp keep the learning rate of their own: their steps are of another scale, and theirs is not
    published. SURE has a linear kernel, since the paper compares linear models. What else a method not trained by
    gradient descent needs is not published; it keeps its defaults.

    Parameters
    ----------
    dataset, model, method
        Their names.

    Examples
    --------
    >>> published_settings("lost", "linear", "proden")["lr"]
    0.01
    """
    result = PUBLISHED.get((plain_name(dataset), model or "linear"))
    if result is None:
        return None
    parameters = METHODS[method]().get_params()
    if not issubclass(METHODS[method], DeepEstimator):
        return {"kernel": "linear"} if method == "sure" else {}
    return {
        name: value
        for name, value in (PROTOCOL | result).items()
        if name in parameters and (name != "lr" or parameters["lr"] is None)  # else a rate of its own
    }


@cache
def _entries() -> dict[tuple[str, str, float | None, str], Spread]:
    with Path(__file__).with_name("published.csv").open(newline="", encoding="utf-8") as stream:
        return {
            (row["dataset"], row["flip"], float(row["q"]) if row["q"] else None, row["method"]): Spread(
                float(row["mean"]), float(row["deviation"])
            )
            for row in csv.DictReader(stream)
        }

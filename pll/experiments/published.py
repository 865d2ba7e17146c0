"""What the paper publishes of accuracies: its tables 1, 2 and 4; its settings are in `pll.methods.chosen`.

`published.csv` has mean and standard deviation of the test accuracy in percent, and whether a method is significantly
worse or better than PRODEN there.
"""

from __future__ import annotations

import csv
from functools import cache
from pathlib import Path

from pll.experiments.evaluation import Spread


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


@cache
def _entries() -> dict[tuple[str, str, float | None, str], Spread]:
    with Path(__file__).with_name("published.csv").open(newline="", encoding="utf-8") as stream:
        return {
            (row["dataset"], row["flip"], float(row["q"]) if row["q"] else None, row["method"]): Spread(
                float(row["mean"]), float(row["deviation"])
            )
            for row in csv.DictReader(stream)
        }

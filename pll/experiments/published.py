"""What the paper publishes: its tables 1, 2 and 4 (published.csv), and the settings of its own code.

`published.csv` has mean and standard deviation of the test accuracy in percent, and whether a method is significantly
worse or better than PRODEN there. The settings are those of the authors' code (SGD with momentum 0.9, 500 epochs).
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from pll.methods import get_method
from pll.methods.deep import DeepEstimator

EPOCHS = 500

_TABLES: dict[str, tuple[float, float]] = {
    "yeast": (0.1, 1e-3),
    "texture": (0.1, 1e-5),
    "dermatology": (0.01, 1e-3),
    "synthetic-control": (0.1, 1e-3),
    "20newsgroups": (1e-3, 1e-3),
    "lost": (0.01, 1e-2),
    "birdsong": (0.01, 1e-4),
    "msrcv2": (0.1, 1e-3),
    "soccer-player": (0.1, 1e-4),
    "yahoo-news": (0.01, 1e-4),
}
_PICTURES: dict[tuple[str, str], dict[str, Any]] = {
    ("mnist", "linear"): {"lr": 1e-3, "weight_decay": 1e-5},
    ("fashion-mnist", "linear"): {"lr": 1e-3, "weight_decay": 1e-5},
    ("kuzushiji-mnist", "linear"): {"lr": 1e-3, "weight_decay": 1e-6},
    ("mnist", "mlp"): {"lr": 1e-2, "weight_decay": 1e-3},
    ("kuzushiji-mnist", "mlp"): {"lr": 1e-2, "weight_decay": 1e-4},
    ("fashion-mnist", "mlp"): {"lr": 1e-2, "weight_decay": 1e-5},
    ("cifar10", "resnet"): {"lr": 5e-2, "weight_decay": 1e-3},
    ("cifar10", "convnet"): {"lr": 1e-2, "weight_decay": 1e-3, "lr_decay": 0.9, "lr_decay_every": 10},
}


@dataclass(frozen=True)
class Published:
    """An entry of the paper's tables: mean and deviation in percent, and whether the method is significantly
    `"worse"` or `"better"` than PRODEN there; "" for neither."""

    mean: float
    deviation: float
    than_proden: str = ""


def published(dataset: str, flip: str, q: float | None, method: str) -> Published | None:
    """Return the paper's test accuracy, None where it has none.

    Args:
        flip: "" for the candidate sets of the data, where q is None.

    >>> published("lost", "", None, "proden")
    Published(mean=76.57, deviation=1.47, than_proden='')
    """
    return _entries().get((dataset, flip, q, method))


def published_settings(dataset: str, model: str, method: str) -> dict[str, Any] | None:
    """Return the settings of the paper's own code, None where it publishes none for these data and this model.

    GA and PN-decomp keep the learning rate of their own: their steps are of another scale, and theirs is not
    published. SURE has a linear kernel, since the paper compares linear models. What else a method not trained by
    gradient descent needs is not published; it keeps its defaults.

    >>> published_settings("lost", "linear", "proden")
    {'epochs': 500, 'batch_size': 100, 'lr': 0.01, 'weight_decay': 0.01}
    """
    if dataset in _TABLES and model in ("linear", ""):
        lr, weight_decay = _TABLES[dataset]
        settings: dict[str, Any] = {"epochs": EPOCHS, "batch_size": 100, "lr": lr, "weight_decay": weight_decay}
        others: dict[str, Any] = {"kernel": "linear"} if method == "sure" else {}
    elif (dataset, model) in _PICTURES:
        settings, others = {"epochs": EPOCHS, "batch_size": 256} | _PICTURES[dataset, model], {}
    else:
        return None
    if not issubclass(get_method(method), DeepEstimator):
        return others
    return {name: value for name, value in settings.items() if name != "lr" or method not in ("ga", "pn-decomp")}


@cache
def _entries() -> dict[tuple[str, str, float | None, str], Published]:
    with Path(__file__).with_name("published.csv").open(newline="", encoding="utf-8") as stream:
        return {
            (row["dataset"], row["flip"], float(row["q"]) if row["q"] else None, row["method"]): Published(
                float(row["mean"]), float(row["deviation"]), row["than_proden"]
            )
            for row in csv.DictReader(stream)
        }

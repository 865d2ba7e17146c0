"""Settings that depend on the data and the model where the user sets none: learning rate, batch size and scaling.

A rate that suits a table is far too large for pictures: neighbouring pixels are similar, so that the features of a
picture vary together along a few directions, in which every step counts hundreds of times. PRODEN-sudden then reaches
what PRODEN does and PRODEN-naive fits the wrong candidates, so that a comparison shows little of how the
methods differ.

Features of texts (components of a truncated SVD) carry most information where they are large. Z-scores would make the
last component count as much as the first, so each text is brought to unit length instead.

A batch is at most 256 examples, and less where that would be a few steps an epoch: 100 epochs of 120 examples are 100
steps with batches of 256, which end before a linear model has learnt what is there to learn.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from pll.training.models import ModelSpec
from pll.training.scaling import fit_scaling, flattened

ADAM = 0.001
MOST_BATCH = 256
TABLE_LR = 0.05
NETWORK_LR = 0.02
"""Of networks on pictures, before it is divided by the number of steps."""
PLAIN = ("linear", "shallow-mlp")
"""Models without normalisation: how far a step goes depends on the features."""
RATE_ROWS = 1000
"""Maximum number of examples, evenly spaced, that the rate of such a model is computed from."""


def default_batch_size(n: int, *, steps: int = 6) -> int:
    """Return the batch size for n examples: a power of two from 32 to 256 that gives about so many steps an epoch.

    Parameters
    ----------
    n
        Examples.
    steps
        An epoch.

    Examples
    --------
    >>> [default_batch_size(n) for n in (100, 500, 60_000)]
    [32, 64, 256]
    """
    return int(min(MOST_BATCH, max(32, 2.0 ** round(math.log2(max(n, 1) / steps)))))


def suited(settings: Mapping[str, Any], X: npt.NDArray[np.float32], kind: str = "") -> dict[str, Any]:
    """Return scaling, batch size and learning rate that suit the data, those of them that the settings leave open.

    Parameters
    ----------
    settings
        Of a method.
    X
        (n, …) raw features.
    kind
        `"text"` where the features were made of texts alone, else `""`.

    Examples
    --------
    >>> settings = {"model": "linear", "optimiser": "sgd", "scale": "auto", "batch_size": 20, "lr": None}
    >>> suited(settings, np.zeros((500, 2), dtype=np.float32), "text")
    {'scale': 'unit', 'lr': 0.05}
    """
    found: dict[str, Any] = {}
    if settings["scale"] == "auto":
        found["scale"] = "unit" if kind == "text" else "auto"
    if settings["batch_size"] is None:
        found["batch_size"] = default_batch_size(len(X))
    if settings["lr"] is None:
        own = {**settings, **found}
        found["lr"] = default_lr(own["model"], own["optimiser"], X, own["scale"], batch_size=own["batch_size"])
    return found


def default_lr(
    model: ModelSpec, optimiser: str, X: npt.NDArray[np.float32], scale: str, *, batch_size: int = MOST_BATCH
) -> float:
    """Return the learning rate for a model on some data.

    - Adam: 0.001.
    - SGD on tables: 0.05.
    - SGD on pictures: f · 0.02 for networks with normalisation; f / λ, at most 0.05, for models without. λ is the
      largest eigenvalue of the second moments of the scaled features, the mean of x xᵀ. The loss curves at most λ / 2
      in any direction, so this is well within what gradient descent with momentum bears. f = 3 / √s, from 0.5 to 2,
      for s steps an epoch: few steps have to be longer ones.

    Parameters
    ----------
    model, optimiser, batch_size
        As the methods take them.
    X
        (n, …) raw features.
    scale
        How they are scaled.
    """
    if optimiser == "adam":
        return ADAM
    if X.ndim != 4:
        return TABLE_LR
    factor = float(np.clip(3 / math.sqrt(-(-len(X) // batch_size)), 0.5, 2.0))
    rate = factor / max(_largest_moment(X, scale), 1e-9) if model in PLAIN else factor * NETWORK_LR
    return min(float(f"{rate:.2g}"), TABLE_LR)  # two digits: the same on every machine, whatever the order of its sums


def _largest_moment(X: npt.NDArray[np.float32], scale: str) -> float:
    x = flattened(fit_scaling(X, scale), X[:: -(-len(X) // RATE_ROWS)]).double().numpy()
    gram = x @ x.T if len(x) < x.shape[1] else x.T @ x  # the same eigenvalues but for zeros
    return float(np.linalg.eigvalsh(gram)[-1]) / len(x)

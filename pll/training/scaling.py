"""Scaling of features: fitted on the training part and stored in the model, which takes raw features."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from scipy.stats import norm
from torch import Tensor, nn

from pll.errors import UserError, unknown
from pll.training.names import SCALES

SCALED_AT_ONCE = 1024
"""Rows that are converted to float64 at once for the statistics."""
CONSTANT = 1e-12
"""Deviation below which values are taken to be all alike."""
CENTRES = 300
"""Maximum number of radial basis features."""
KNOTS = 33
"""Points between which the quantile transform of a column is linear."""
KNOTS_AT_ONCE = 8
CLIP = 3.0
"""Scaled features are cut off here where examples are compared, so that an outlier does not decide what is near."""
QUANTILE_ROWS = 20_000
"""Maximum number of examples, evenly spaced, that quantiles are computed from."""


class Scaling(nn.Module):
    """(x − shift) / spread, with missing values (NaN) filled first; the optional parts follow in this order.

    Parameters
    ----------
    fill, shift, spread
        Tensors that broadcast against one example: (d,) or (C, 1, 1) or (C, H, W).
    knots, targets
        (K, …) a piecewise linear map of each column takes the place of shift and spread.
    limit
        () what is beyond ± this is cut off.
    length
        () every example is given this Euclidean length.
    centres, width, basis_shift, basis_spread
        (m, d), (), (m,), (m,): the features (exp(−‖x − centre‖² / width) − basis_shift) / basis_spread are appended.
    """

    fill: Tensor
    shift: Tensor
    spread: Tensor

    def __init__(self, fill: Tensor, shift: Tensor, spread: Tensor, **optional: Tensor) -> None:
        super().__init__()
        for name, value in {"fill": fill, "shift": shift, "spread": spread, **optional}.items():
            self.register_buffer(name, value)
        self._optional = frozenset(optional)

    @classmethod
    def from_state(cls, state: Mapping[str, Tensor], prefix: str) -> Scaling:
        """Return the scaling whose `state_dict` this is, or is part of under the prefix.

        Parameters
        ----------
        state
            Names and tensors.
        prefix
            What the names begin with.

        Raises
        ------
        KeyError
            a tensor is missing.
        """
        own = {name.removeprefix(prefix): value for name, value in state.items() if name.startswith(prefix)}
        return cls(**{name: own.pop(name) for name in _BASE}, **own)

    @property
    def is_plain(self) -> bool:
        """Whether it is (x − shift) / spread alone."""
        return not self._optional

    def forward(self, x: Tensor) -> Tensor:
        """Return the representation of (B, …) raw features."""
        x = torch.where(torch.isnan(x), self.fill, x)
        x = self._interpolated(x) if "knots" in self._optional else (x - self.shift) / self.spread
        if "limit" in self._optional:
            limit = self.get_buffer("limit")
            x = torch.maximum(torch.minimum(x, limit), -limit)
        if "length" in self._optional:
            size = x.flatten(1).norm(dim=1).clamp_min(1e-12)
            x = x * (self.get_buffer("length") / size).reshape(-1, *[1] * (x.dim() - 1))
        return torch.cat((x, self._basis(x)), dim=1) if "centres" in self._optional else x

    def output_shape(self, input_shape: tuple[int, ...]) -> tuple[int, ...]:
        """Return the shape of the representation of one example of this shape."""
        if "centres" not in self._optional:
            return input_shape
        return (input_shape[0] + len(self.get_buffer("centres")),)

    def typical(self, noise: Tensor) -> Tensor:
        """Return examples such as it was fitted on, of standard normal noise (B, …)."""
        if "knots" not in self._optional:
            return self.shift + torch.where(torch.isinf(self.spread), torch.ones_like(self.spread), self.spread) * noise
        knots = self.get_buffer("knots")
        return knots[len(knots) // 2] + (knots[-1] - knots[0]) / 6 * noise

    def _interpolated(self, x: Tensor) -> Tensor:
        knots, targets = self.get_buffer("knots"), self.get_buffer("targets")
        gaps = knots.diff(dim=0)
        slopes = torch.where(gaps > 0, targets.diff(dim=0) / gaps, torch.zeros_like(gaps))  # knots that coincide: 0
        out = targets[0]
        for k in range(0, len(knots) - 1, KNOTS_AT_ONCE):  # at once: limits memory and the ONNX graph
            part = slice(k, min(k + KNOTS_AT_ONCE, len(knots) - 1))
            ramps = torch.minimum((x[:, None] - knots[part]).clamp_min(0.0), gaps[part])  # (B, k, …)
            out = out + (ramps * slopes[part]).sum(dim=1)
        return out

    def _basis(self, x: Tensor) -> Tensor:
        centres = self.get_buffer("centres")
        squared = (x * x).sum(dim=1, keepdim=True) + (centres * centres).sum(dim=1) - 2.0 * (x @ centres.T)
        near = torch.exp(-squared.clamp_min(0.0) / self.get_buffer("width"))
        return (near - self.get_buffer("basis_shift")) / self.get_buffer("basis_spread")


_BASE = ("fill", "shift", "spread")


MOST_OUTPUTS = 2**26
"""Logits of a forward pass without gradients, at most: 256 MB."""


def evaluation_batch(shape: tuple[int, ...], n_outputs: int = 1) -> int:
    """Return the number of examples of a forward pass without gradients.

    It is small for images, of which a layer of a convnet takes 512 KiB for each, and for many outputs.

    Parameters
    ----------
    shape
        Of the features, (n, d) or (n, C, H, W).
    n_outputs
        Of the network for one example.

    Examples
    --------
    >>> evaluation_batch((9000, 20), 10), evaluation_batch((9000, 20), 200_000), evaluation_batch((9000, 1, 28, 28), 10)
    (4096, 335, 256)
    """
    return min(4096 if len(shape) < 4 else 256, max(1, MOST_OUTPUTS // n_outputs))


def evaluation_batches(X: npt.NDArray[np.float32], n_outputs: int = 1) -> Iterator[Tensor]:
    """Yield consecutive raw features of X as tensors, so many at once as `evaluation_batch` says.

    Parameters
    ----------
    X
        (m, …) raw features; of none of them the one piece is empty.
    n_outputs
        Of the network for one example.
    """
    size = evaluation_batch(X.shape, n_outputs)
    for start in range(0, max(1, len(X)), size):  # torch has no read-only tensors
        yield torch.from_numpy(np.require(X[start : start + size], requirements=["C", "W"]))


def scaled(scaling: Scaling, X: npt.NDArray[np.float32]) -> Tensor:
    """Return the representation of examples, (m, …), on the device of the scaling; made in pieces: one copy of all.

    Parameters
    ----------
    scaling
        Fitted.
    X
        (m, …) raw features.
    """
    device = scaling.shift.device
    out = torch.empty((len(X), *scaling.output_shape(X.shape[1:])), device=device)
    with torch.no_grad():
        for piece, part in zip(torch.split(out, evaluation_batch(X.shape)), evaluation_batches(X), strict=True):
            piece.copy_(scaling(part.to(device)))
    return out


def flattened(scaling: Scaling, X: npt.NDArray[np.float32]) -> Tensor:
    """Return the representation of examples, (m, d) float32, on the device of the scaling.

    Parameters
    ----------
    scaling
        Fitted.
    X
        (m, …) raw features.
    """
    return scaled(scaling, X).flatten(1)


def clipped(scaling: Scaling, X: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """Return the representation of examples for comparing them: (m, d) float32, cut off at ±3, flattened.

    Parameters
    ----------
    scaling
        Fitted.
    X
        (m, …) raw features.

    Examples
    --------
    >>> X = np.array([[0.0], [2.0]], dtype=np.float32)
    >>> clipped(fit_scaling(X), np.array([[2.0], [9.0]], dtype=np.float32)).ravel().tolist()
    [1.0, 3.0]
    """
    flat: npt.NDArray[np.float32] = flattened(scaling, X).clamp(-CLIP, CLIP).numpy()
    return flat


def fit_scaling(X: npt.NDArray[np.float32], scale: str = "auto") -> Scaling:
    """Fit the representation of training features.

    Parameters
    ----------
    X
        (n, d) or (n, C, H, W) float32; NaN marks a missing value and is filled with the mean.
    scale
        One of `SCALES`:

        - `"auto"`: z-score of each column; for images of each channel;
        - `"zscore"`: of each column or pixel;
        - `"quantile"`: each column is mapped to a normal distribution by its quantiles;
        - `"minmax"`: each column (for images each channel) to [0, 1];
        - `"unit"`: each example to Euclidean length √d;
        - `"zscore-unit"`: as `"zscore"`, cut off at ±3, then each example to Euclidean length √d;
        - `"none"`: raw features;
        - `"…+rbf"`: up to 300 Gaussian radial basis features around training examples are appended, for tables.

    Raises
    ------
    UserError
        An unknown `scale`, or one that images cannot have.

    Examples
    --------
    >>> scaled = fit_scaling(np.array([[0.0], [2.0]], dtype=np.float32))(torch.tensor([[1.0], [3.0]]))
    >>> scaled.flatten().tolist()
    [0.0, 2.0]
    """
    if scale not in SCALES:
        raise unknown("scaling", scale, SCALES)
    base, _, basis = scale.partition("+")
    if X.ndim == 4 and (basis or base == "quantile"):
        raise UserError(
            f"The scaling {scale!r} is for tables; images take auto, zscore, minmax, unit, zscore-unit or none."
        )
    by_channel = X.ndim == 4 and base not in ("zscore", "zscore-unit")
    axes = (0, 2, 3) if by_channel else (0,)
    mean, std = mean_and_std(X, axes)
    std = np.where(std < CONSTANT, np.inf, std)  # what never varied says nothing: it stays 0, whatever comes later
    statistics: dict[str, Tensor] = {}
    shift, spread = np.zeros_like(mean), np.ones_like(std)
    if base in ("auto", "zscore", "zscore-unit"):
        shift, spread = mean, std
    elif base == "minmax":
        low, high = np.nanmin(X, axis=axes, keepdims=True)[0], np.nanmax(X, axis=axes, keepdims=True)[0]
        shift, spread = np.where(np.isnan(low), 0.0, low), np.where(high > low, high - low, np.inf)
    elif base == "quantile":
        statistics |= _quantile_map(X, mean)
    if base == "zscore-unit":
        statistics["limit"] = torch.tensor(CLIP)
    if base in ("unit", "zscore-unit"):
        statistics["length"] = torch.tensor(math.sqrt(math.prod(X.shape[1:])))
    fitted = Scaling(*(torch.from_numpy(part.astype(np.float32)) for part in (mean, shift, spread)), **statistics)
    return _with_basis(fitted, X) if basis else fitted


def _quantile_map(X: npt.NDArray[np.float32], mean: npt.NDArray[Any]) -> dict[str, Tensor]:
    """Return knots and targets (K, d): quantiles of each column, and those of a normal distribution."""
    rows = X[:: -(-len(X) // QUANTILE_ROWS)]
    filled = np.where(np.isnan(rows), mean, rows)
    # The outermost targets are those of the extremes of so many examples, at most ±3.
    shares = np.linspace(0.0, 1.0, KNOTS)
    normal = norm.ppf(np.clip(shares, max(0.5 / len(X), 1.35e-3), 1 - max(0.5 / len(X), 1.35e-3)))
    knots = np.quantile(filled.astype(np.float64), shares, axis=0).astype(np.float32)  # (K, d)
    targets = np.empty_like(knots)
    for j in range(knots.shape[1]):
        values, at, counts = np.unique(knots[:, j], return_inverse=True, return_counts=True)
        middle = np.bincount(at, normal) / counts  # a value that fills several quantiles gets the mean of its targets
        knots[:, j] = np.concatenate((values, np.repeat(values[-1:], KNOTS - len(values))))
        targets[:, j] = np.concatenate((middle, np.repeat(middle[-1:], KNOTS - len(values))))
    return {"knots": torch.from_numpy(knots), "targets": torch.from_numpy(targets)}


def _with_basis(base: Scaling, X: npt.NDArray[np.float32]) -> Scaling:
    """Return the scaling with radial basis features around training examples, drawn with a fixed seed."""
    rng = np.random.default_rng(0)
    with torch.no_grad():
        centres = base(torch.from_numpy(X[np.sort(rng.permutation(len(X))[:CENTRES])]))
        squared = torch.cdist(centres, centres) ** 2
        width = squared.sum() / max(1, len(centres) * (len(centres) - 1))  # mean over different pairs
        state = {name: value for name, value in base.state_dict().items() if name not in _BASE}
        state |= {"centres": centres, "width": torch.where(width > 0, width, torch.ones_like(width))}
        ones = torch.ones(len(centres))
        plain = Scaling(base.fill, base.shift, base.spread, **state, basis_shift=0 * ones, basis_spread=ones)
        d = centres.shape[1]
        near = [
            plain(torch.from_numpy(np.array(X[start : start + SCALED_AT_ONCE])))[:, d:].numpy()
            for start in range(0, min(len(X), QUANTILE_ROWS), SCALED_AT_ONCE)
        ]
    mean, std = mean_and_std(np.concatenate(near), (0,))
    shift, spread = (torch.from_numpy(part.astype(np.float32)) for part in (mean, np.where(std < CONSTANT, 1.0, std)))
    return Scaling(base.fill, base.shift, base.spread, **state, basis_shift=shift, basis_spread=spread)


def mean_and_std(X: npt.NDArray[Any], axes: tuple[int, ...]) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Return mean and deviation of the values that are there, in float64 (squares overflow float32); 0 where none is.

    Parameters
    ----------
    X
        (n, …) examples; NaN is a missing value.
    axes
        Over which they are, the first among them; the others are kept, so that (C, 1, 1) broadcasts over pixels.
    """
    batches = [X[start : start + SCALED_AT_ONCE] for start in range(0, max(1, len(X)), SCALED_AT_ONCE)]
    count = np.maximum(sum((~np.isnan(part)).sum(axis=axes, keepdims=True) for part in batches), 1)
    mean = sum(np.nansum(part, axis=axes, keepdims=True, dtype=np.float64) for part in batches) / count
    square = sum(np.nansum((part - mean) ** 2, axis=axes, keepdims=True) for part in batches)
    return mean[0], np.sqrt(square / count)[0]

"""Scaling of features: fitted on the training part and part of the model, which therefore takes raw features."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from pll.errors import UserError

SCALES = ("auto", "zscore", "none")

ROWS_AT_ONCE = 1024
"""Rows that are converted to float64 at once for the statistics."""


class Scaling(nn.Module):
    """(x − shift) / spread, with missing values (NaN) filled first.

    Args:
        fill, shift, spread: tensors that broadcast against one example: (d,) or (C, 1, 1) or (C, H, W).
    """

    fill: Tensor
    shift: Tensor
    spread: Tensor

    def __init__(self, fill: Tensor, shift: Tensor, spread: Tensor) -> None:
        super().__init__()
        self.register_buffer("fill", fill)
        self.register_buffer("shift", shift)
        self.register_buffer("spread", spread)

    def forward(self, x: Tensor) -> Tensor:
        """Scale (B, …) raw features."""
        return (torch.where(torch.isnan(x), self.fill, x) - self.shift) / self.spread


def fit_scaling(X: npt.NDArray[np.float32], scale: str = "auto") -> Scaling:
    """Fit the scaling of training features.

    Args:
        X: (n, d) or (n, C, H, W) float32; NaN marks a missing value and is filled with the mean.
        scale: `"auto"` (z-score of each column; for images of each channel), `"zscore"` (of each column or pixel)
            or `"none"`.

    Raises:
        UserError: an unknown `scale`.

    >>> scaled = fit_scaling(np.array([[0.0], [2.0]], dtype=np.float32))(torch.tensor([[1.0], [3.0]]))
    >>> scaled.flatten().tolist()
    [0.0, 2.0]
    """
    if scale not in SCALES:
        raise UserError(f"There is no scaling called {scale!r}; use one of {', '.join(SCALES)}.")
    by_channel = X.ndim == 4 and scale != "zscore"
    axes = (0, 2, 3) if by_channel else (0,)
    mean, std = _mean_and_std(X, axes)
    if scale == "none":
        shift, spread = np.zeros_like(mean), np.ones_like(std)
    else:
        shift, spread = mean, std
    return Scaling(*(torch.from_numpy(part.astype(np.float32)) for part in (mean, shift, spread)))


def _mean_and_std(X: npt.NDArray[Any], axes: tuple[int, ...]) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Mean and deviation of the present values, in float64 (squares overflow float32); 0 and 1 where constant."""
    parts = [X[start : start + ROWS_AT_ONCE] for start in range(0, max(1, len(X)), ROWS_AT_ONCE)]
    count = np.maximum(sum((~np.isnan(part)).sum(axis=axes, keepdims=True) for part in parts), 1)
    mean = sum(np.nansum(part, axis=axes, keepdims=True, dtype=np.float64) for part in parts) / count
    square = sum(np.nansum((part - mean) ** 2, axis=axes, keepdims=True) for part in parts)
    std = np.sqrt(square / count)
    std[std < 1e-12] = 1.0
    return mean[0], std[0]  # kept dimensions: (C, 1, 1) broadcasts over the pixels

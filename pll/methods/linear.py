"""What the classical methods with linear scores share: g(x) = W'x + b on scaled features."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

from pll.candidates import CandidateSets
from pll.methods.classical import ClassicalEstimator, Matrix, on_candidates_by_blocks
from pll.training.scaling import Scaling
from pll.weights import Weights, restricted_softmax

BLOCK = 4096
"""Rows whose scores are held at once."""


class LinearEstimator(ClassicalEstimator):
    """A classical method whose scores are linear; it can be exported as a torch module.

    Attributes:
        coef_: (d, c) float64, W.
        intercept_: (c,) float64, b.
    """

    _fitted = ("coef_", "intercept_")

    coef_: Matrix
    intercept_: npt.NDArray[np.float64]

    def _scores(self, X: Matrix) -> Matrix:
        return X @ self.coef_ + self.intercept_

    def _restricted(self, X: Matrix, candidates: CandidateSets) -> Weights:
        """(nnz,) softmax of the scores restricted to each S_i, without the scores of all examples at once."""
        scores = on_candidates_by_blocks(lambda rows: self._scores(X[rows]), candidates, BLOCK)
        return restricted_softmax(scores, candidates)

    def predict_proba(self, X: npt.ArrayLike) -> npt.NDArray[np.float32]:
        """(n, c) softmax of the scores. Their order is the method's; as probabilities they are not calibrated."""
        return torch.softmax(torch.from_numpy(self.predict_scores(X)), dim=1).numpy()

    def module(self) -> nn.Module:
        self.check_fitted()
        return linear_module(self._scaling, self.coef_, self.intercept_)


def linear_module(scaling: Scaling, coef: Matrix, intercept: npt.NDArray[np.float64]) -> nn.Module:
    """Scaling, flattening and one linear layer: raw features (B, …) → scores (B, c)."""
    layer = nn.Linear(*coef.shape)
    with torch.no_grad():
        layer.weight.copy_(torch.from_numpy(coef.T.astype(np.float32)))
        layer.bias.copy_(torch.from_numpy(intercept.astype(np.float32)))
    return nn.Sequential(scaling, nn.Flatten(), layer).eval()

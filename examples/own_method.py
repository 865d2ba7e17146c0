"""A method of your own: one class with one file's worth of ideas, and Candid trains, evaluates and clones it.

Centroids: the class whose mean is nearest. Start from uniform label weights; the mean of a class is the weighted mean
of the examples that may belong to it; new weights are the softmax of minus the squared distances, on each set.
To have it on the pages and in the shell too, put the file into pll/methods/ and its line into pll/methods/names.py.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from sklearn.datasets import load_iris

from pll import CandidateSets, flip_binomial
from pll.methods.base import setting
from pll.methods.classical import ClassicalEstimator, Cost, Iterations
from pll.training.metrics import Hook
from pll.weights import Floats, on_candidates, restricted_softmax


class Centroids(ClassicalEstimator):
    """Nearest class mean.

    Parameters
    ----------
    passes
        Alternations between means and weights, at least 1.
    scale, missing, seed
        As for every classical method; nothing is drawn at random.
    """

    title: ClassVar[str] = "Centroids"
    summary: ClassVar[str] = "The class whose mean is nearest. Instant; for compact classes."
    _fitted = ("means_",)
    rounds: ClassVar[str] = "passes"
    passes: int = setting(10, whole=True, least=1)
    means_: Floats  # (c, d)

    @classmethod
    def cost(cls, n: int, d: int, c: int, nnz: int) -> Cost:
        """Estimate the cost of `fit` with 10 passes."""
        return Cost(memory_bytes=8 * d * (nnz + n * c), seconds=2e-8 * d * (nnz + n * c))

    def _learn(self, X: Floats, candidates: CandidateSets, rng: np.random.Generator, hook: Hook) -> Iterations:
        weights = candidates.uniform_weights()
        for _ in range(self.passes):
            self.means_ = np.zeros((candidates.n_classes, X.shape[1]))
            np.add.at(self.means_, candidates.indices, weights[:, None] * X[candidates.rows])
            self.means_ /= np.maximum(np.bincount(candidates.indices, weights, candidates.n_classes), 1e-9)[:, None]
            weights = restricted_softmax(on_candidates(self._scores(X), candidates), candidates)
            hook()  # may wait, or stop the training
            yield weights, None

    def _scores(self, X: Floats) -> Floats:
        scores: Floats = -((X[:, None] - self.means_) ** 2).mean(axis=2)  # (m, c)
        return scores


def main() -> float:
    """Identify the labels of iris from ambiguous ones; return the share that is right."""
    X, y = load_iris(return_X_y=True)
    sets = flip_binomial(y, n_classes=3, q=0.5, seed=0)
    right = float((Centroids().fit(X.astype(np.float32), sets).identify() == y).mean())
    print(f"{sets.sizes.mean():.2f} candidates on average; Centroids identifies {right:.1%} of {len(y)}.")
    return right


if __name__ == "__main__":
    main()

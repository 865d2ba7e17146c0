"""Leave-one-out labels from a ridge regression on the Gaussian kernel.

With Φ the features of Nyström's kernel (`pll.methods.kernels`) in the space in which neighbours were sought, and Y the
(n, c) label weights, one-hot where decided,

    F = Φ (ΦᵀΦ + λI)⁻¹ Φᵀ Y = V Vᵀ Y        f_i = (F_i − h_i Y_i) / (1 − h_i),  h_i = ‖V_i‖²

f_i is exactly the prediction of the fit without example i (Allen 1974). V depends on neither labels nor decisions: it
is computed once per run. Unlike ten neighbours, the ridge also carries a decision to more distant examples. Where
example i counts d_i times, V is replaced by V (I + Vᵀ (D − I) V)^(−1/2) and Y by D Y.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pll.candidates import CandidateSets
from pll.io import blocks
from pll.methods.kernels import MOST_LEVERAGE, Nystrom, RidgeGrid
from pll.review.neighbours import Points
from pll.weights import Floats, Ints, Values, Weights, normalise, sparse

DESK_CENTRES = 500
"""Examples that approximate the kernel."""
DESK_PENALTIES = tuple(10.0**k for k in np.arange(-3, 3.1, 0.5))
"""λ is the one of these with the smallest leave-one-out error on the run's label weights."""
RIDGE_JUDGED_ON = 5_000
"""Maximum number of examples for this error."""
PAIRS = 2_000
"""Pairs of examples whose median distance is the width of the kernel."""
DENSE_ROWS = 4_096
"""Examples in memory as dense rows at a time."""
NEGLIGIBLE = 1e-3
"""Directions that the ridge shrinks below this factor are dropped."""

Factor = npt.NDArray[np.float16]
"""(n, r) V; half precision, a relative error of 5e-4 of each entry."""


def fit_factor(points: Points, sets: CandidateSets, weights: Values) -> Factor:
    """Return V of the hat matrix V Vᵀ.

    Parameters
    ----------
    points : (n, d)
        Of `pll.review.neighbours.best_points`.
    sets : CandidateSets
    weights : (nnz,)
        Label weights of the run, by which λ is chosen.

    Returns
    -------
    (n, r) float16
    """
    rng = np.random.default_rng(0)
    n = len(points)
    one, other = rng.integers(0, n, (2, PAIRS))
    apart = np.linalg.norm(points[one] - points[other], axis=1)
    width = float(np.median(apart[apart > 0])) if (apart > 0).any() else 1.0
    kernel = Nystrom(points[np.sort(rng.permutation(n)[:DESK_CENTRES])], width)

    def features(rows: slice | Ints) -> Floats:
        return kernel.features(points[rows], constant=True).astype(np.float64)

    m = len(kernel.centres) + 1
    gram, reached = np.zeros((m, m)), np.zeros((m, sets.n_classes))
    labels = sparse(weights, sets)
    for rows in blocks(n, DENSE_ROWS):
        phi = features(rows)
        gram += phi.T @ phi
        reached += (labels[rows].T @ phi).T
    grid = RidgeGrid(gram)
    sample = np.sort(rng.choice(n, min(RIDGE_JUDGED_ON, n), replace=False))
    rotated, targets = features(sample) @ grid.vectors, labels[sample].toarray()
    reached = grid.vectors.T @ reached
    errors = [
        float(((grid.without_own(rotated, reached, targets, ridge) - targets) ** 2).mean()) for ridge in DESK_PENALTIES
    ]
    ridge = DESK_PENALTIES[int(np.argmin(errors))]
    is_large = grid.values > NEGLIGIBLE * ridge
    to_factor = grid.vectors[:, is_large] / np.sqrt(grid.values[is_large] + ridge)
    result = np.empty((n, int(is_large.sum())), dtype=np.float16)
    for rows in blocks(n, DENSE_ROWS):
        result[rows] = features(rows) @ to_factor
    return result


def leave_one_out(factor: Factor, sets: CandidateSets, weights: Weights, counts: Values) -> Weights:
    """Return the leave-one-out prediction of each candidate: (nnz,) float32, at least 0, sums to 1 on each set.

    Parameters
    ----------
    factor : (n, r)
        Of `fit_factor`.
    sets
        n candidate sets.
    weights : (nnz,)
        Label weights with the decisions in them (`Decided.apply_to`).
    counts : (n,)
        How often each example counts; 1 for most.
    """
    labels = sparse((weights * counts[sets.rows]).astype(np.float32), sets)
    to_counted = _to_counted(factor, counts)
    together = np.zeros((factor.shape[1], sets.n_classes), dtype=np.float32)
    for rows in blocks(len(sets), DENSE_ROWS):
        together += (labels[rows].T @ (factor[rows] @ to_counted)).T
    result = np.empty(sets.nnz, dtype=np.float32)
    for rows in blocks(len(sets), DENSE_ROWS):
        block = factor[rows] @ to_counted
        at = slice(int(sets.indptr[rows.start]), int(sets.indptr[rows.stop]))
        own = sets.rows[at] - rows.start
        leverage = np.minimum((block**2).sum(axis=1) * counts[rows], MOST_LEVERAGE)[own]
        fitted = (block @ together)[own, sets.indices[at]]
        result[at] = (fitted - leverage * weights[at]) / (1 - leverage)
    return normalise(np.maximum(result, 0), sets)


def _to_counted(factor: Factor, counts: Values) -> npt.NDArray[np.float32]:
    """(r, r) by which V is multiplied where examples count several times."""
    several = np.flatnonzero(counts != 1)
    block = factor[several].astype(np.float64)
    gram = np.eye(factor.shape[1]) + (block.T * (counts[several] - 1)) @ block
    return np.asarray(np.linalg.inv(np.linalg.cholesky(gram)).T.astype(np.float32))

"""Leave-one-out labels from a forest of regression trees.

Trees are grown once per run on its label weights, each on a random half of the examples, and only their leaves are
kept. What the forest says of example i is the mean label of the others in its leaf, over the trees that were grown
without it: labels and decisions enter there, so nothing is grown again after a decision. Neighbours and kernel ridge
measure the same distances as many a model; trees see single columns, and err elsewhere (docs/review.md).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import scipy.sparse
from sklearn.tree import DecisionTreeRegressor

from pll.candidates import CandidateSets
from pll.review.neighbours import Points
from pll.weights import Values, Weights, normalise, sparse

TREES = 100
SMALLEST = 3
"""Examples in a leaf, at the least."""
GROWN_ON = 10_000
"""Examples that the trees are grown on, at most; each takes half of them."""
LABEL_SUMS = 32
"""Of the labels that a tree is grown to predict: with more classes, so many random sums of their weights."""

Leaves = npt.NDArray[np.int16]
"""(n, T) leaf of each example in each tree; its complement ~leaf where the tree was grown on it.

Half of `GROWN_ON` examples make fewer than 2^15 nodes.
"""


def grow_forest(points: Points, sets: CandidateSets, weights: Values) -> Leaves:
    """Return the leaves of all examples.

    Parameters
    ----------
    points : (n, d)
        Of `pll.review.neighbours.best_points`.
    sets : CandidateSets
    weights : (nnz,)
        Label weights of the run, which the trees are grown to predict.

    Returns
    -------
    (n, T) int16

    References
    ----------
    Breiman. Random forests. Machine Learning 45, 2001: predictions of examples that are not in the bag.
    Joly, Geurts, Wehenkel. Random forests with random projections of the output space. ECML 2014: the random sums.
    """
    rng = np.random.default_rng(0)
    n = len(points)
    some = np.sort(rng.choice(n, min(GROWN_ON, n), replace=False))
    labels = sparse(weights[sets.positions(some)], sets.take(some))
    leaves = np.empty((n, TREES), dtype=np.int16)
    for t in range(TREES):
        half = rng.permutation(len(some))[: max(1, len(some) // 2)]
        tree = DecisionTreeRegressor(
            max_features="sqrt", min_samples_leaf=SMALLEST, random_state=int(rng.integers(2**31))
        )
        if sets.n_classes > LABEL_SUMS:
            targets = labels[half] @ rng.normal(size=(sets.n_classes, LABEL_SUMS))
        else:
            targets = labels[half].toarray()
        leaves[:, t] = tree.fit(points[some[half]], targets).apply(points)
        leaves[some[half], t] = ~leaves[some[half], t]
    return leaves


def leave_one_out(leaves: Leaves, sets: CandidateSets, weights: Weights, counts: Values) -> Weights:
    """Return what the leaves say of each candidate: (nnz,) float32, sums to 1 on each set; uniform where nothing.

    Parameters
    ----------
    leaves : (n, T)
        Of `grow_forest`.
    sets : CandidateSets
    weights : (nnz,)
        Label weights with the decisions in them (`Decided.apply_to`).
    counts : (n,)
        How much each example counts in the mean of a leaf.

    Examples
    --------
    >>> sets = CandidateSets.from_lists([[0, 1], [0, 1], [0, 1]], n_classes=2)
    >>> weights = np.array([0.5, 0.5, 1, 0, 0, 1], dtype=np.float32)
    >>> leaves = np.array([[0], [0], [~0]], dtype=np.int16)
    >>> leave_one_out(leaves, sets, weights, np.ones(3)).round(2).tolist()  # of the third, no tree can tell
    [0.5, 0.5, 0.25, 0.75, 0.5, 0.5]
    """
    n = len(sets)
    own = (weights * counts[sets.rows]).astype(np.float32)
    labels = sparse(own, sets)
    total = np.zeros(sets.nnz, dtype=np.float32)
    for column in np.ascontiguousarray(leaves.T):
        leaf = np.where(column < 0, ~column, column)
        one_hot = scipy.sparse.csr_array(
            (np.ones(n, np.float32), leaf, np.arange(n + 1)), shape=(n, int(leaf.max()) + 1)
        )
        sums = (one_hot.T @ labels).toarray()  # (leaves, c)
        others = (np.bincount(leaf, counts)[leaf] - counts).astype(np.float32)
        shares = np.where((column >= 0) & (others > 0), 1 / np.maximum(others, 1e-6), 0).astype(np.float32)
        total += (sums[leaf[sets.rows], sets.indices] - own) * shares[sets.rows]
    return normalise(np.maximum(total, 0), sets)

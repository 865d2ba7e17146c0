"""IPAL, instance-based partial label learning (Zhang & Yu, IJCAI 2015).

Idea: an example has label weights like those of the neighbours that reconstruct it. The features determine these
reconstruction weights once; label weights are then propagated along the resulting graph, within the candidates.

1. Graph. Rows have unit length. Each example x_i is reconstructed from its k nearest neighbours with least error,

       min_{w_i ≥ 0} ‖ x_i − Σ_{r ∈ N(i)} w_ir x_r ‖²,      each w_i then divided by its sum,

   which gives W (n × n, k entries per row). Where no neighbour helps (w_i = 0), all get the same weight.
2. Propagation, T iterations from F⁰_ij = 1/|S_i| on S_i, or the prior: F̃ = α W F + (1 − α) F⁰, then rows restricted to
   S_i and normalised.
3. Class masses: f_ij · (Σ_i F⁰_ij / Σ_i f_ij), a correction of classes that have gained too much weight. The
   identified label is the argmax over S_i.
4. An unseen x is reconstructed from its k neighbours in the same way (weights not normalised) and gets the class whose
   neighbours alone reconstruct it best: argmin_l ‖ x − Σ_r w_r 1[ŷ_r = l] x_r ‖, where ŷ are the identified labels.

Label weights: step 3, normalised over S_i, after every iteration of propagation. (`stage_` holds the progress of the
graph, which is built before the first.)

Features are scaled (`scale`; z-scores are clipped at ±`clip`) and then normalised to unit length. `"auto"` takes the
scaling under which neighbours agree best with the candidate sets (`pll.methods.plknn.neighbours_scale`; no truth): unit
length of the raw features, as other implementations have it, suits digits, texts and counts; with several units of
measurement it fails (docs/research/methods.md).

Hyper-parameters: `k` (10) neighbours; `alpha` (α, 0.95), the share of the neighbours; `propagations` (T, 100): all as
the paper suggests; `clip` (3), see `NeighbourEstimator`.

Complexity: O(n²·d) for the neighbours, and for each of four scalings as much for up to 4,000 of the examples; O(n·k²·d)
for the weights; an iteration is O(k·nnz), or less where neighbours share few candidates, whatever c is. A prediction:
O(n·d + k²·d). Memory: 16·n·d bytes, and 12 bytes for each candidate an example shares with a neighbour, at most
12·k·nnz. A fitted model keeps the training examples.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import scipy.sparse
from scipy.optimize import nnls

from pll.candidates import CandidateSets
from pll.methods.base import Task, setting
from pll.methods.classical import Cost, Iterations
from pll.methods.plknn import NeighbourEstimator, neighbours_scale, search_cost
from pll.training.metrics import Hook, no_hook
from pll.weights import Floats, Ints, identified_labels, normalise


class IPAL(NeighbourEstimator):
    """Label propagation on a graph of neighbours (Zhang & Yu 2015); see the docstring of the module.

    Parameters
    ----------
    k
        Neighbours that reconstruct an example, at least 1.
    alpha
        α in [0, 1), the share of the neighbours in each iteration.
    propagations
        T, number of iterations, at least 1.
    clip
        z-scores are clipped at ±clip; None leaves them.
    scale
        As for every classical method; `"auto"` chooses as PL-kNN does.
    missing
        As for every classical method.
    seed
        Draws the examples of that choice, where there are more than 4,000; nothing else is drawn at random.

    Attributes
    ----------
    train_
        (n, d) float32, training examples, scaled and of unit length.
    labels_
        (n,) int64, their identified labels.

    References
    ----------
    Zhang & Yu, Solving the partial label learning problem: an instance-based approach, IJCAI 2015.
    """

    summary: ClassVar[str] = (
        "Reconstructs each example from its 10 nearest neighbours and propagates label weights among them. "
        "Strong even where sets are large; slow on many features (it compares all pairs)."
    )

    takes_prior: ClassVar[bool] = True
    rounds: ClassVar[str] = "propagations"
    _fitted = ("train_", "labels_")
    _memo: dict[str, Any] | None = None
    """In training: results for the test examples that every iteration needs, computed once."""

    alpha: float = setting(0.95, least=0, below=1)
    propagations: int = setting(100, whole=True, least=1)

    @classmethod
    def cost(cls, n: int, d: int, c: int, nnz: int) -> Cost:
        """Estimate the cost of `fit` with 10 neighbours and 100 iterations.

        Parameters
        ----------
        n, d, c, nnz
            Examples, features, classes, and candidates in all.
        """
        shared = 10 * nnz * min(1.0, 0.5 + nnz / (2.0 * n * c))  # at least the true label is often shared
        search = search_cost(n, d)
        seconds = search.seconds + n * (4e-5 + 5e-8 * d) + 100 * (2e-9 * shared + 4e-8 * nnz)
        return Cost(memory_bytes=search.memory_bytes + int(12 * shared) + 48 * nnz, seconds=seconds)

    def _choose_scale(self, task: Task, hook: Hook) -> str:
        return neighbours_scale(self, task, clip=self.clip, hook=hook)

    def _untrained(self, X: Floats, candidates: CandidateSets) -> None:
        super()._untrained(X, candidates)
        self._memo = {}
        self.labels_ = identified_labels(self.label_weights_, candidates)

    def _scaled(self, X: npt.NDArray[np.float32]) -> Floats:
        scaled = super()._scaled(X)
        length = np.linalg.norm(scaled, axis=1, keepdims=True)
        return scaled / np.where(length > 0, length, 1.0)

    def _learn(self, X: Floats, candidates: CandidateSets, rng: np.random.Generator, hook: Hook) -> Iterations:
        start = self.label_weights_.astype(np.float64)  # F⁰ (nnz,)
        flow = self._flow(candidates, hook)
        f = start
        for _ in range(self.propagations):
            hook()
            f = self.alpha * (flow @ f) + (1.0 - self.alpha) * start
            f /= np.add.reduceat(f, candidates.indptr[:-1])[candidates.rows]
            weights = normalise(f * _mass_correction(f, start, candidates), candidates)
            self.labels_ = identified_labels(weights, candidates)
            yield weights, None
        self._memo = None

    def _flow(self, candidates: CandidateSets, hook: Hook) -> scipy.sparse.csr_array:
        """Return the (nnz, nnz) propagation matrix: entry ((i, j), (r, j)) is W_ir where label j is in both sets.

        It is W ⊗ 1 restricted to the candidates, so that an iteration is one product without any n × c matrix.
        """
        n = len(candidates)
        keys = candidates.rows * candidates.n_classes + candidates.indices  # ascending: the position of (i, j)
        sources, targets, values = [], [], []
        for block, neighbours, w, _ in self._reconstructed(None, hook):
            self.stage_ = f"neighbours of {block.stop:,} of {n:,} examples"
            total = w.sum(axis=1, keepdims=True)
            w = np.where(total > 0, w / np.where(total > 0, total, 1.0), 1.0 / w.shape[1])
            at = np.arange(*candidates.indptr[[block.start, block.stop]])  # the block's candidates
            rows = candidates.rows[at] - block.start
            wanted = neighbours[rows] * candidates.n_classes + candidates.indices[at][:, None]  # (|at|, k)
            positions = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
            shared = (keys[positions] == wanted) & (w[rows] > 0)
            targets.append(np.broadcast_to(at[:, None], shared.shape)[shared].astype(np.int32))
            sources.append(positions[shared].astype(np.int32))
            values.append(w[rows][shared])
        self.stage_ = ""
        where = (np.concatenate(targets), np.concatenate(sources))
        return scipy.sparse.coo_array((np.concatenate(values), where), shape=(len(keys), len(keys))).tocsr()

    def _scores(self, X: Floats) -> Floats:
        """Return (m, c) ‖x‖² − ‖x − Σ_{r ∈ l} w_r x_r‖², explained by each class l; −1 without a neighbour."""
        explained = np.full((len(X), len(self.class_names_)), -1.0)
        for rows, at, fit, overlap in self._blocks(X):
            labels = self.labels_[at]  # (B, k)
            same = labels[:, :, None] == labels[:, None, :]
            share = fit - (overlap * same).sum(axis=2)  # (B, k)
            share += 1e-9 / share.shape[1]  # where no neighbour helps, the most frequent class among them
            table = explained[rows]  # a view
            row = np.broadcast_to(np.arange(len(at))[:, None], at.shape)
            table[row, labels] = 0.0
            np.add.at(table, (row, labels), share)
        return explained

    def _probabilities(self, scores: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """Return (n, c) part of an example that each class explains, over the sum of the classes. Not calibrated."""
        shares, best = np.maximum(scores, 0.0), scores.argmax(axis=1)[:, None]
        np.put_along_axis(shares, best, np.maximum(scores.max(axis=1, keepdims=True), 1e-12), axis=1)
        return np.asarray(shares / shares.sum(axis=1, keepdims=True))

    def _blocks(self, X: Floats) -> list[tuple[slice, Ints, Floats, Floats]]:
        """Return blocks of rows, their neighbours, 2 w_r x'x_r (B, k) and w_r w_s x_r'x_s (B, k, k).

        They do not depend on the labels, so that those of the test set are cached between iterations.
        """
        if self._memo is not None and self._memo.get("X") is X:
            return list(self._memo["blocks"])
        blocks = []
        for rows, at, w, z in self._reconstructed(X, no_hook):
            fit = 2.0 * w * np.einsum("bd,bkd->bk", X[rows], z)
            overlap = w[:, :, None] * w[:, None, :] * (z @ z.transpose(0, 2, 1))
            blocks.append((rows, at, fit, overlap))
        if self._memo is not None:
            self._memo = {"X": X, "blocks": blocks}
        return blocks

    def _reconstructed(self, queries: Floats | None, hook: Hook) -> Iterator[tuple[slice, Ints, Floats, Floats]]:
        """Yield blocks of rows, their neighbours, reconstruction weights (B, k) and neighbours' features (B, k, d)."""
        for rows, _, at in self._neighbours(queries, hook):
            z = self.train_[at].astype(np.float64)
            x = self.train_[rows].astype(np.float64) if queries is None else queries[rows]
            yield rows, at, reconstruction_weights(x, z), z


def reconstruction_weights(x: Floats, z: Floats) -> Floats:
    """Return (B, k) weights w ≥ 0 of each row that minimise ‖x − Σ_r w_r z_r‖².

    Parameters
    ----------
    x
        (B, d) examples to reconstruct.
    z
        (B, k, d) their neighbours.

    Examples
    --------
    >>> reconstruction_weights(np.array([[1.0, 2.0]]), np.array([[[1.0, 0.0], [0.0, 4.0]]])).round(6).tolist()
    [[1.0, 0.5]]
    """
    q, r = np.linalg.qr(z.transpose(0, 2, 1))  # (B, d, e), (B, e, k), e = min(d, k): the same problem without d
    target = (x[:, None, :] @ q)[:, 0]
    return np.array([nnls(r[i], target[i], maxiter=100 * z.shape[1])[0] for i in range(len(x))])


def _mass_correction(f: Floats, start: Floats, candidates: CandidateSets) -> Floats:
    """Return (nnz,) Σ F⁰ / Σ F of each candidate's class; 1 where Σ F is 0."""
    wanted, reached = (np.bincount(candidates.indices, part, minlength=candidates.n_classes) for part in (start, f))
    return np.divide(wanted, reached, out=np.ones(candidates.n_classes), where=reached > 0)[candidates.indices]

"""PL-kNN, nearest neighbours for ambiguous labels (Hüllermeier & Beringer, Intelligent Data Analysis 10(5), 2006).

Idea: similar examples have the same label, so the true label of an example is in the candidate sets of most of its
neighbours, while a wrong candidate is there only now and then. Each of the k nearest neighbours x_(1) … x_(k) of x
gives its vote to all of its candidates, a nearer one a larger vote:

    score_y(x) = Σ_{r=1..k} v_r · 1[y ∈ S_(r)],      v_r = 1 − d_r / Σ_s d_s

with the Euclidean distance d_r (all votes are 1 where every distance is 0, or k = 1). The predicted label is the
argmax over all classes. A training example asks its neighbours and not itself, and is told apart among its own
candidates only.

Label weights: w_ij = score_j(x_i) restricted to S_i and normalised; uniform where no neighbour shares a candidate.
Nothing is learnt: an iteration is a tenth of the training examples, whose label weights are uniform until their turn
comes. Labels that *every* neighbour has as a candidate tie exactly. With large sets that is common (digits, q = 0.7:
15 % of the examples). Such labels get equal weights, a margin of 0, and the first of them is the identified one.

Hyper-parameters: `k` (10; the PRODEN paper's supplement takes 5 … 10) neighbours; `clip` (3), see `NeighbourEstimator`.

Complexity: O(n²·d) for the search by brute force (less where d ≤ 15: a k-d tree), O(n·k·mean |S|) for the votes; c
does not matter. A prediction is O(n·d). Memory 16·n·d bytes and the candidate sets. Fitted, it keeps the training
examples.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import numpy as np
import numpy.typing as npt
import scipy.sparse

from pll.candidates import CandidateSets
from pll.methods.classical import Cost, Matrix
from pll.methods.neighbours import NeighbourEstimator, search_memory, search_seconds
from pll.training.metrics import Hook, no_hook
from pll.weights import Weights, normalise

ROUNDS = 10


class PLKNN(NeighbourEstimator):
    """Votes of the k nearest neighbours (Hüllermeier & Beringer 2006); see the docstring of the module.

    Args:
        k: neighbours that vote, at least 1.
        clip: z-scores are cut off at ±clip; None leaves them.
        scale, missing, seed: as for every classical method; nothing is drawn at random.

    Attributes:
        train_: (n, d) float32, scaled training examples.
        votes_indptr_, votes_indices_: their candidate sets, as in `CandidateSets`.
    """

    title: ClassVar[str] = "PL-kNN"
    summary: ClassVar[str] = (
        "Each example asks its 10 nearest neighbours which labels they may have. Nothing to train or to tune; "
        "weak where sets are large, slow on many features (it compares all pairs)."
    )

    _fitted = ("train_", "votes_indptr_", "votes_indices_")

    votes_indptr_: npt.NDArray[np.int64]
    votes_indices_: npt.NDArray[np.int32]

    @classmethod
    def cost(cls, n: int, d: int, c: int, nnz: int) -> Cost:
        """Estimate the cost of `fit` with 10 neighbours."""
        seconds = search_seconds(n, d) + 3e-7 * nnz
        note = None
        if seconds > 60:
            note = (
                f"Comparing all pairs of {n:,} examples takes about {seconds / 60:.0f} minutes, "
                "and every prediction compares with all of them again."
            )
        return Cost(memory_bytes=search_memory(n, d) + 24 * nnz, seconds=seconds, note=note)

    def total_epochs(self) -> int:
        return ROUNDS

    def _learn(
        self, X: Matrix, candidates: CandidateSets, rng: np.random.Generator, hook: Hook
    ) -> Iterator[tuple[Weights, float | None]]:
        self._check_neighbour_settings()
        self._remember(X)
        self.votes_indptr_, self.votes_indices_ = candidates.indptr, candidates.indices
        votes = np.ones(candidates.nnz)
        for part in np.array_split(np.arange(len(X)), ROUNDS):
            for rows, scores in self._voted(None, hook, slice(part[0], part[-1] + 1) if len(part) else slice(0)):
                at = slice(candidates.indptr[rows.start], candidates.indptr[rows.stop])
                votes[at] = scores[candidates.rows[at] - rows.start, candidates.indices[at]]
            yield normalise(votes, candidates), None
        self._memo = None

    def _scores(self, X: Matrix) -> Matrix:
        if self._memo is not None and self._memo.get("X") is X:
            return np.asarray(self._memo["scores"])
        scores = np.empty((len(X), len(self.class_names_)))
        for rows, block in self._voted(X, no_hook):
            scores[rows] = block
        if self._memo is not None:
            self._memo = {"X": X, "scores": scores}
        return scores

    def _voted(self, queries: Matrix | None, hook: Hook, rows: slice = slice(None)) -> Iterator[tuple[slice, Matrix]]:
        """Blocks of rows, and their scores (B, c)."""
        n, c = len(self.train_), len(self.class_names_)
        ones = np.ones(len(self.votes_indices_))
        sets = scipy.sparse.csr_array((ones, self.votes_indices_, self.votes_indptr_), shape=(n, c))
        for block in self._neighbours(queries, hook, rows):
            count, k = block.at.shape
            indptr = np.arange(count + 1) * k
            given = scipy.sparse.csr_array((votes(block.distances).ravel(), block.at.ravel(), indptr), shape=(count, n))
            yield block.rows, (given @ sets).toarray()

    def predict_proba(self, X: npt.ArrayLike) -> npt.NDArray[np.float32]:
        """(n, c) the share of all votes that each label got. Not calibrated: votes for distractors count as well."""
        scores = self.predict_scores(X)
        return np.asarray(scores / scores.sum(axis=1, keepdims=True))  # every neighbour votes for something


def votes(distances: Matrix) -> Matrix:
    """Return (B, k) votes 1 − d / Σd; 1 where that would be 0 for all.

    >>> votes(np.array([[1.0, 3.0], [0.0, 0.0]])).tolist()
    [[0.75, 0.25], [1.0, 1.0]]
    """
    total = distances.sum(axis=1, keepdims=True)
    alike = (total <= 0) | (distances.shape[1] == 1)
    return np.where(alike, 1.0, 1.0 - distances / np.where(total > 0, total, 1.0))

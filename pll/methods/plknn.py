"""PL-kNN, nearest neighbours for ambiguous labels (Hüllermeier & Beringer, Intelligent Data Analysis 10(5), 2006).

`NeighbourEstimator` is what IPAL has in common with it: stored examples, and an exact search that can be stopped.

Idea: similar examples have the same label, so the true label of an example is in the candidate sets of most of its
neighbours, while a wrong candidate is there only now and then. Each of the k nearest neighbours x_(1) … x_(k) of x
gives its vote to all of its candidates, a nearer one a larger vote:

    score_y(x) = Σ_{r=1..k} v_r · 1[y ∈ S_(r)],      v_r = 1 − d_r / Σ_s d_s

with the Euclidean distance d_r (all votes are 1 where every distance is 0, or k = 1). The predicted label is the
argmax over all classes. A training example is not its own neighbour, and gets one of its own candidates.

Label weights: w_ij = score_j(x_i) restricted to S_i and normalised; uniform where no neighbour shares a candidate.
Nothing is learnt: an iteration is a tenth of the training examples, whose label weights are uniform until their turn
comes. Labels that *every* neighbour has as a candidate tie exactly. With large sets that is common (digits, q = 0.7:
15 % of the examples with k = 10). Such labels get equal weights, a margin of 0, and the first of them is the identified
one; `notes_` reports for how many examples. More neighbours resolve ties.

Hyper-parameters: `k`, the number of neighbours, and `scale`, the features that are compared. `"auto"` (the default of
both) takes the k of `K_GRID` and the scaling of `SCALES_TRIED` with the highest covering rate: the share of up to 4,000
training examples whose predicted label, of all classes and from neighbours other than itself, is among their candidates
(no truth). No scaling suits all data. The PRODEN paper's supplement takes k from 5 … 10, too few where sets are large.
`clip` (3), see `NeighbourEstimator`.

Complexity: O(n²·d) for the search by brute force (less where d ≤ 15: a k-d tree), and for each of the four scalings as
much for up to 4,000 of the examples; O(n·k·mean |S|) for the votes; c does not matter. A prediction is O(n·d).
Memory: 16·n·d bytes and the candidate sets. Fitted, it keeps the training examples.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt
import scipy.sparse
from sklearn.neighbors import NearestNeighbors

from pll.candidates import CandidateSets
from pll.io import blocks
from pll.methods.base import Task, setting
from pll.methods.classical import SEARCH_ROWS, ClassicalEstimator, Cost, Iterations
from pll.training.metrics import Hook, no_hook
from pll.training.scaling import fit_scaling
from pll.weights import Floats, Ints, Weights, normalise, on_candidates

K_GRID = (10, 5, 20, 30, 50, 80)
"""The k that `"auto"` chooses from; of equally good ones the first."""
SCALES_TRIED = ("zscore", "unit", "quantile", "zscore-unit")
"""The scalings that `"auto"` chooses from for tables; of equally good ones the first."""
IMAGE_SCALES = ("minmax", "unit", "zscore-unit")
"""Those for images."""
SEARCHED_AT_ONCE = 256
QUERY_BLOCK = 256
"""Maximum number of queries of a block."""
BLOCK_WORK = 4e9
"""Maximum number of multiplications of a block: at most a second of one core, so that training can be stopped."""


class NeighbourEstimator(ClassicalEstimator):
    """Base class of methods that use the k nearest training examples (Euclidean distance).

    Parameters
    ----------
    k
        Neighbours, at least 1; fewer where there are fewer examples. An example is never its own neighbour.
    clip
        z-scores are cut off at ±clip, above 0; None leaves them. A feature that hardly ever varies (a pixel at the
        border) has z-scores of 10 and more where it does, and would decide alone who is near whom; ±3 is what is usual
        against outliers. Only z-scores are cut.
    scale, missing, seed
        As for every classical method.

    Attributes
    ----------
    train_
        (n, d) float32, the training examples as they are compared.
    """

    cheaper: ClassVar[str] = " Every prediction compares with all examples again."

    k: int | str = setting(10, whole=True, least=1)
    clip: float | None = setting(3.0, (None,), above=0)

    train_: npt.NDArray[np.float32]
    _search: tuple[npt.NDArray[np.float32], NearestNeighbors] | None = None
    """The search, and the training examples that it was built of."""

    def _scaled(self, X: npt.NDArray[np.float32]) -> Floats:
        scaled = super()._scaled(X)
        if self.clip is None or self.in_use("scale") not in ("auto", "zscore"):
            return scaled
        return np.clip(scaled, -self.clip, self.clip)

    def _untrained(self, X: Floats, candidates: CandidateSets) -> None:
        """Store the training examples for the search."""
        self.train_ = X.astype(np.float32)

    def _neighbours(self, queries: Floats | None, hook: Hook) -> Iterator[tuple[slice, Floats, Ints]]:
        """Yield the neighbours of `queries`, or of training examples without themselves where it is None.

        Of each block: its rows, the Euclidean distances (B, k), ascending, and the neighbours' rows in `train_`.

        The result does not depend on how the rows are cut into blocks.
        """
        n, d = self.train_.shape
        k = min(self.in_use("k"), n if queries is not None else n - 1)
        size = int(np.clip(BLOCK_WORK // (n * d), 8, QUERY_BLOCK))
        for block in blocks(n if queries is None else len(queries), size):
            hook()
            if queries is None:
                distances, at = self._others(np.arange(block.start, block.stop), k)
            else:
                distances, at = self._prepared().kneighbors(queries[block].astype(np.float32), k)
            yield block, distances.astype(np.float64), at

    def _others(self, rows: Ints, k: int) -> tuple[Floats, Ints]:
        """Return distances and indices (B, k) of the nearest training examples of some, without themselves."""
        distances, at = self._prepared().kneighbors(self.train_[rows], k + 1)
        return without_self(distances.astype(np.float64), at, rows)

    def _prepared(self) -> NearestNeighbors:
        """Return the search among the training examples, built when it is first needed."""
        if self._search is None or self._search[0] is not self.train_:
            self._search = self.train_, NearestNeighbors().fit(self.train_)
        return self._search[1]


class PLKNN(NeighbourEstimator):
    """Votes of the k nearest neighbours (Hüllermeier & Beringer 2006); see the docstring of the module.

    Parameters
    ----------
    k
        Neighbours that vote, at least 1; `"auto"` chooses from `K_GRID` by the covering rate.
    clip
        z-scores are cut off at ±clip; None leaves them.
    scale
        As for every classical method; `"auto"` chooses from `SCALES_TRIED` by the covering rate.
    missing
        As for every classical method.
    seed
        Draws the examples of the choice, where there are more than 4,000; nothing else is drawn at random.

    Attributes
    ----------
    train_
        (n, d) float32, scaled training examples.
    k_
        The k that was used.
    covering_rates_
        (scaling, k) → covering rate in the search; empty where both are given.
    votes_indptr_, votes_indices_
        Their candidate sets, as in `CandidateSets`.

    References
    ----------
    Hüllermeier & Beringer, Learning from ambiguously labeled examples, Intelligent Data Analysis 10(5), 2006.
    """

    summary: ClassVar[str] = (
        "Each example asks its 10 nearest neighbours which labels they may have. Nothing to train or to tune; "
        "weak where sets are large, slow on many features (it compares all pairs)."
    )

    _fitted = ("train_", "votes_indptr_", "votes_indices_", "k_")

    k: int | Literal["auto"] = setting("auto", whole=True, least=1)

    @classmethod
    def cost(cls, n: int, d: int, c: int, nnz: int) -> Cost:
        """Estimate the cost of `fit` with 10 neighbours.

        Parameters
        ----------
        n, d, c, nnz
            Examples, features, classes, and candidates in all.
        """
        search = search_cost(n, d)
        return Cost(memory_bytes=search.memory_bytes + 24 * nnz, seconds=search.seconds + 3e-7 * nnz)

    def _choose_scale(self, task: Task, hook: Hook) -> str:
        self.k_, self.covering_rates_ = 10 if self.k == "auto" else int(self.k), {}
        self.votes_indptr_, self.votes_indices_ = task.candidates.indptr, task.candidates.indices
        suited = SCALES_TRIED if task.X.ndim == 2 else IMAGE_SCALES
        scales = suited if self.scale == "auto" else (self.scale,)
        ks: tuple[int, ...] = K_GRID if self.k == "auto" else (self.k_,)
        n = len(task.X)
        ks = tuple(k for k in ks if k < n) or (min(self.k_, n - 1),)
        self.scale_ = scales[0]
        if n > 1 and "auto" in (self.scale, self.k):
            for scale in scales:
                self.scale_, self._scaling = scale, fit_scaling(task.X, scale)
                self._untrained(self._scaled(task.X), task.candidates)
                rates = self._rates(ks, task.candidates, hook)
                self.covering_rates_ |= {(scale, k): rate for k, rate in rates.items()}
            self.scale_, best = max(self.covering_rates_, key=self.covering_rates_.__getitem__)
            self.k_ = best if self.k == "auto" else self.k_
        return self.scale_

    def _learn(self, X: Floats, candidates: CandidateSets, rng: np.random.Generator, hook: Hook) -> Iterations:
        votes = np.ones(candidates.nnz)
        for rows, distances, at in self._neighbours(None, hook):
            self.stage_ = f"neighbours of {rows.stop:,} of {len(X):,} examples"
            votes[candidates.span(rows)] = on_candidates(self._counted(distances, at), candidates.take(rows))
        self.stage_ = ""
        weights = normalise(votes, candidates)
        self.notes_ = _ties(weights, candidates)
        yield weights, None

    def _rates(self, ks: tuple[int, ...], candidates: CandidateSets, hook: Hook) -> dict[int, float]:
        """Return the covering rate of every k; an example is predicted from others alone, of labels that tie each."""
        rows = np.sort(np.random.default_rng(self.seed).permutation(len(candidates))[:SEARCH_ROWS])
        covered = dict.fromkeys(ks, 0.0)
        for block in blocks(len(rows), SEARCHED_AT_ONCE):
            hook()
            part = rows[block]
            self.stage_ = f"choosing k on {self.scale_} features: {block.start:,} of {len(rows):,} examples"
            distances, at = self._others(part, max(ks))
            inside = candidates.take(part).mask()
            for k in ks:
                scores = self._counted(distances[:, :k], at[:, :k])
                top = scores >= scores.max(axis=1, keepdims=True) - 1e-9  # (B, c)
                covered[k] += float(((top & inside).sum(axis=1) / top.sum(axis=1)).sum())
        self.stage_ = ""
        return {k: round(hits / len(rows), 9) for k, hits in covered.items()}  # whatever the order of the sums

    def _scores(self, X: Floats) -> Floats:
        scores = np.empty((len(X), len(self.class_names_)))
        for rows, distances, at in self._neighbours(X, no_hook):
            scores[rows] = self._counted(distances, at)
        return scores

    def _counted(self, distances: Floats, at: Ints) -> Floats:
        """Return (B, c) the votes of these neighbours (B, k)."""
        n, c = len(self.train_), len(self.class_names_)
        named = np.ones(len(self.votes_indices_))
        sets = scipy.sparse.csr_array((named, self.votes_indices_, self.votes_indptr_), (n, c))
        ends = np.arange(len(at) + 1) * at.shape[1]
        said = scipy.sparse.csr_array((votes(distances).ravel(), at.ravel(), ends), (len(at), n)) @ sets
        return np.asarray(said.toarray(), dtype=np.float64)

    def _probabilities(self, scores: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """Return (n, c) the share of all votes that each label got. Not calibrated: distractors get votes too."""
        return np.asarray(scores / scores.sum(axis=1, keepdims=True))  # every neighbour votes for something


def neighbours_scale(method: ClassicalEstimator, task: Task, *, clip: float | None, hook: Hook) -> str:
    """Return the method's `scale`; for `"auto"` that under which neighbours agree best with the candidate sets.

    It is the one that `PLKNN` chooses by the covering rate; other classical methods take it too. `IPAL` identifies
    71.1 % with it where z-scores give 64.8 % and the scaling chosen with the truth 71.4 %, `SURE` 71.3 (65.1, 72.6),
    in the mean of thirteen tables, texts and counts. Meanwhile the method can predict, with z-scores.

    Parameters
    ----------
    method
        Whose `seed` draws the examples that are compared, where there are more than 4,000.
    task
        n examples; with fewer than two the first of the scalings is returned.
    clip
        As of `NeighbourEstimator`.
    hook
        Called between blocks of them; may raise.
    """
    if method.scale != "auto":
        return method.scale
    method.scale_, method._scaling = "zscore", fit_scaling(task.X, "zscore")
    method._untrained(method._scaled(task.X), task.candidates)
    method.stage_ = "choosing the scaling"
    one = PLKNN(clip=clip, seed=method.seed)
    one.class_names_ = task.candidates.class_names
    return one._choose_scale(task, hook)


def _ties(weights: Weights, candidates: CandidateSets) -> tuple[str, ...]:
    """Return a note on the examples whose best candidates have equal weights; none where there are none."""
    best = np.maximum.reduceat(weights, candidates.indptr[:-1])
    tied = int((np.add.reduceat((weights == best[candidates.rows]).astype(int), candidates.indptr[:-1]) > 1).sum())
    note = f"The best candidates of {tied:,} of {len(candidates):,} examples tie; the first one is identified there."
    return (note,) if tied else ()


def votes(distances: Floats) -> Floats:
    """Return the (B, k) votes 1 − d / Σd of `distances` (B, k); 1 where that would be 0 for all.

    Examples
    --------
    >>> votes(np.array([[1.0, 3.0], [0.0, 0.0]])).tolist()
    [[0.75, 0.25], [1.0, 1.0]]
    """
    total = distances.sum(axis=1, keepdims=True)
    is_uniform = (total <= 0) | (distances.shape[1] == 1)
    return np.where(is_uniform, 1.0, 1.0 - distances / np.where(total > 0, total, 1.0))


def without_self(distances: Floats, at: Ints, rows: Ints) -> tuple[Floats, Ints]:
    """Drop each query from its own k + 1 neighbours; the last one where duplicates displaced it.

    Parameters
    ----------
    distances, at
        (B, k + 1) of its neighbours.
    rows
        (B,) what it is itself.
    """
    own = at == rows[:, None]
    own[~own.any(axis=1), -1] = True
    shape = (len(at), at.shape[1] - 1)
    return distances[~own].reshape(shape), at[~own].reshape(shape)


def search_cost(n: int, d: int) -> Cost:
    """Estimate the cost of a search of n examples among themselves: in float64 and float32, and a copy of them.

    The choice of the scaling counts, which searches for some of them with each.

    Parameters
    ----------
    n, d
        Examples and features.
    """
    chosen = len(SCALES_TRIED) * min(n, SEARCH_ROWS) / max(n, 1)
    return Cost(memory_bytes=16 * n * d, seconds=(2.0 * n * n * d / 2e10 + 2e-9 * n * n) * (1 + chosen))

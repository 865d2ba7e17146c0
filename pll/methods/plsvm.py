"""PL-SVM, the maximum-margin approach (Nguyen & Caruana, KDD 2008).

Idea: the best candidate of each example should score higher than the best other label, by a margin of 1. With linear
scores g_j(x) = w_j'x + b_j,

    min_W  λ/2 ‖W‖² + 1/n Σ_i max(0, 1 − ( max_{j ∈ S_i} g_j(x_i) − max_{j ∉ S_i} g_j(x_i) ))

The maximum over the candidates identifies one of them at every step, which makes the problem non-convex: early
identifications reinforce themselves.

Solved as in its paper by Pegasos (Shalev-Shwartz et al., ICML 2007): sub-gradient steps on mini-batches with step size
1/(λt), each followed by a projection onto the ball ‖W‖ ≤ 1/√λ. Where labels tie for a maximum, all of them at W = 0,
the mean of their sub-gradients is taken (a sub-gradient too), so that the class numbered first has no advantage. b is
the weight of a constant feature and is regularised with the rest. An example whose set is the whole label set has no
margin and is skipped. An iteration is an epoch.

Some initialisations end in a bad optimum, in which two classes are exchanged. Its objective is clearly higher, so
several models are trained in parallel, each with its own first mini-batch, and the one with the lowest objective is
the result.

Results depend strongly on λ. By default it is chosen from the grid of the PRODEN paper's supplement, 10⁻³ … 10³, by the
covering rate in five-fold cross-validation (`pll.methods.classical`: candidate sets alone, no truth), before the first
iteration; all seven values are trained in parallel.

Where a pass takes more than 5·10⁸ multiplications for each model (n·d·c; the sizes of Soccer Player, Yahoo! News),
single precision is used, the search of λ is 15 epochs long, and after 5 epochs only the start with the lowest objective
goes on.

Label weights: softmax of the scores restricted to S_i; the identified label is argmax_{j ∈ S_i} g_j(x_i), the label
the margin is measured from. Results depend on the order of the examples (mini-batches), not on that of the classes.

Hyper-parameters: `lam` (default `"auto"`), the weight of the regulariser; `starts` (5), models trained in parallel;
`epochs` (50); `batch_size` (32).

Complexity: an epoch is O(starts·n·d·c), at that size O(n·d·c) from the sixth on, whatever |S| is; the search trains 7
machines on four fifths of up to 4,000 examples, 5 times. Memory: O(n·d + 7·d·c).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt

from pll.candidates import CandidateSets
from pll.io import blocks
from pll.methods.base import setting
from pll.methods.classical import SEARCH_FOLDS, SEARCH_ROWS, Cost, Iterations, LinearEstimator
from pll.methods.names import MOST_EPOCHS, MOST_IN_A_STEP
from pll.training.metrics import Hook
from pll.weights import Flags, Floats, Ints

LAM_GRID = tuple(10.0**power for power in range(-3, 4))
"""Values of λ that `"auto"` chooses from (PRODEN paper, supplement)."""

SCORE_TIE = 1e-9
"""Scores that differ by less count as equal; the margin is 1."""

LARGE_PROBLEM = 5e8
"""Multiplications of a pass, n·d·c, beyond which precision, search and starts are cut down."""
SEARCH_EPOCHS = 15
"""Maximum number of epochs of the search there."""
STARTS_UNTIL = 5
"""Epochs with all starts there."""


class PLSVM(LinearEstimator):
    """Maximum margin between candidates and the rest (Nguyen & Caruana 2008); see the docstring of the module.

    Parameters
    ----------
    lam
        λ, above 0; `"auto"` chooses from `LAM_GRID` by the covering rate.
    starts
        Models trained in parallel from different first mini-batches, at least 1.
    epochs
        Passes over the data, at least 1.
    batch_size
        Examples per step, at least 1.
    seed
        Draws the order of the examples and the folds of the search.
    scale, missing
        As for every classical method.

    Attributes
    ----------
    lam_
        The λ that was used.
    covering_rates_
        λ → covering rate in the search; empty where `lam` is a number.

    References
    ----------
    Nguyen & Caruana, Classification with partial labels, KDD 2008.
    """

    summary: ClassVar[str] = (
        "A linear classifier that wants the best candidate to beat the best other label by a margin. "
        "Searches its one setting without truth; seconds to a minute."
    )
    rounds: ClassVar[str] = "epochs"

    lam: float | Literal["auto"] = setting("auto", above=0)
    starts: int = setting(5, whole=True, least=1)
    epochs: int = setting(50, whole=True, least=1, most=MOST_EPOCHS)
    batch_size: int = setting(32, whole=True, least=1, most=MOST_IN_A_STEP)

    @classmethod
    def cost(cls, n: int, d: int, c: int, nnz: int) -> Cost:
        """Estimate the cost of `fit` with 50 epochs and a search.

        Parameters
        ----------
        n, d, c, nnz
            Examples, features, classes, and candidates in all.
        """
        epochs, batch, starts, searched = 50, 32, 5, (SEARCH_FOLDS - 1) * min(n, SEARCH_ROWS)
        search_epochs, started = epochs, starts * epochs
        if n * d * c > LARGE_PROBLEM:
            search_epochs, started = SEARCH_EPOCHS, (starts - 1) * STARTS_UNTIL + epochs
        steps = (epochs * n + search_epochs * searched) / batch
        passed = started * n + len(LAM_GRID) * search_epochs * searched
        seconds = 1e-4 * steps + passed * (4.0 * d * c / 1e10 + 2e-8 * c) / (2 if n * d * c > LARGE_PROBLEM else 1)
        return Cost(memory_bytes=8 * (2 * n * d + 3 * len(LAM_GRID) * d * c), seconds=seconds)

    def _learn(self, X: Floats, candidates: CandidateSets, rng: np.random.Generator, hook: Hook) -> Iterations:
        d, c = X.shape[1], candidates.n_classes
        plain, X = X, with_constant(X)
        large = X.size * c > LARGE_PROBLEM
        if large:
            X = X.astype(np.float32)
        values = LAM_GRID if self.lam == "auto" else (float(self.lam),)

        def predictions(X_train: Floats, sets: CandidateSets, X_holdout: Floats) -> npt.NDArray[np.integer]:
            machines = Pegasos(values, d + 1, c, X.dtype)
            machines.begin(X_train, sets, [self._first_batch(len(X_train), rng)] * len(values))
            for _ in range(min(self.epochs, SEARCH_EPOCHS) if large else self.epochs):
                machines.epoch(X_train, sets, self.batch_size, rng, hook)
            return np.asarray((X_holdout @ machines.W).argmax(axis=2))

        self.lam_ = self._best("λ", values, predictions, X, candidates, rng)
        machines = Pegasos((self.lam_,) * self.starts, d + 1, c, X.dtype)
        machines.begin(X, candidates, [self._first_batch(len(X), rng) for _ in range(self.starts)])
        for number in range(1, self.epochs + 1):
            hinge = machines.epoch(X, candidates, self.batch_size, rng, hook)
            objective = hinge + 0.5 * self.lam_ * (machines.W**2).sum(axis=(1, 2))
            table = machines.W[objective.argmin()].astype(np.float64)
            self.coef_, self.intercept_ = table[:-1].copy(), table[-1].copy()
            if large and number == STARTS_UNTIL:
                machines.keep(int(objective.argmin()))
            yield self._restricted(plain, candidates), float(objective.min())

    def _first_batch(self, n: int, rng: np.random.Generator) -> Ints:
        return rng.permutation(n)[: self.batch_size]


class Pegasos:
    """Linear models for several values of λ (possibly equal), trained together on the same mini-batches.

    Attributes
    ----------
    lams
        (L,) float64.
    W
        (L, d, c), of the precision of the features.
    t
        Steps taken.
    """

    def __init__(self, lams: tuple[float, ...], d: int, c: int, dtype: npt.DTypeLike = np.float64) -> None:
        self.lams = np.array(lams, dtype=dtype)
        self.W = np.zeros((len(lams), d, c), dtype=dtype)
        self.t = 0

    def keep(self, model: int) -> None:
        """Go on with one of the models alone."""
        self.lams, self.W = self.lams[[model]], self.W[[model]]

    def begin(self, X: Floats, candidates: CandidateSets, batches: Sequence[Ints]) -> None:
        """Take the first step, from W = 0, of each model on its own mini-batch (row numbers of X).

        Parameters
        ----------
        X
            (n, d).
        candidates
            n candidate sets.
        batches
            A mini-batch of each model.
        """
        for k, rows in enumerate(batches):
            _, slope = hinge_and_slope((X[rows] @ self.W[k])[None], _mask(candidates, rows))
            self.W[k] = -(X[rows].T @ slope[0]) / (self.lams[k] * len(rows))
        self.t = 1
        self._project()

    def epoch(
        self, X: Floats, candidates: CandidateSets, batch_size: int, rng: np.random.Generator, hook: Hook
    ) -> Floats:
        """Run one epoch in random order.

        Parameters
        ----------
        X
            (n, d) scaled features.
        candidates
            n candidate sets.
        batch_size
            Examples a step.
        rng
            Draws the order.
        hook
            Called between steps.

        Returns
        -------
        Floats
            (L,) the mean hinge loss of each model, each batch's taken before its step.
        """
        order = rng.permutation(len(X))
        total = np.zeros(len(self.lams))
        for batch in blocks(len(X), batch_size):
            hook()
            rows = order[batch]
            total += self.step(X[rows], _mask(candidates, rows))
        return total / len(X)

    def step(self, x: Floats, mask: Flags) -> Floats:
        """Take a sub-gradient step on x (B, d) with candidates `mask` (B, c); return the summed hinge loss (L,).

        Parameters
        ----------
        x
            (B, d).
        mask
            (B, c).
        """
        self.t += 1
        hinge, slope = hinge_and_slope(x @ self.W, mask)
        self.W *= 1.0 - 1.0 / self.t
        self.W -= (x.T @ slope) / (self.lams * self.t * len(x))[:, None, None]
        self._project()
        return np.asarray(hinge.sum(axis=1))

    def _project(self) -> None:
        norm = np.sqrt((self.W**2).sum(axis=(1, 2)))
        smallest = np.finfo(self.W.dtype).tiny  # where W is 0
        self.W *= np.minimum(1.0, 1.0 / np.maximum(np.sqrt(self.lams) * norm, smallest))[:, None, None]


def hinge_and_slope(scores: Floats, mask: Flags) -> tuple[Floats, Floats]:
    """Return the hinge loss (L, B) of scores (L, B, c) with candidates `mask` (B, c), and its sub-gradient.

    The sub-gradient (L, B, c) is with respect to the scores. Where labels tie for a maximum, it is the mean of theirs.

    Parameters
    ----------
    scores
        (L, B, c).
    mask
        (B, c).
    """
    inside, others = np.where(mask, scores, -np.inf), np.where(mask, -np.inf, scores)
    best, rival = inside.max(axis=2, keepdims=True), others.max(axis=2, keepdims=True)  # (L, B, 1)
    hinge = np.maximum(0.0, 1.0 - (best - rival))  # 0 where every label is a candidate: rival is −∞
    good, bad = (inside >= best - SCORE_TIE).astype(scores.dtype), (others >= rival - SCORE_TIE).astype(scores.dtype)
    slope = bad / bad.sum(axis=2, keepdims=True) - good / good.sum(axis=2, keepdims=True)
    return hinge[..., 0], slope * (hinge > 0)


def with_constant(X: Floats) -> Floats:
    """Return X with a last column of ones, (n, d + 1)."""
    return np.hstack([X, np.ones((len(X), 1))])


def _mask(candidates: CandidateSets, rows: Ints) -> Flags:
    """Return the dense mask (B, c) of the candidates of some rows."""
    mask = np.zeros((len(rows), candidates.n_classes), dtype=np.bool_)
    owners = np.repeat(np.arange(len(rows)), candidates.sizes[rows])
    mask[owners, candidates.indices[candidates.positions(rows)]] = True
    return mask

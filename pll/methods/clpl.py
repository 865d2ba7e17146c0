"""CLPL, the convex loss for partial labels (Cour, Sapp & Taskar, JMLR 12, 2011).

Idea: one linear score per class, g_a(x) = w_a'x + b_a. The *mean* score of the candidates should be high and the score
of every other label low; both are expressed with the squared hinge ψ(z) = max(0, 1 − z)². Two forms (`form`):

    mean:      min_{W,b}  ½ ‖W‖² + C Σ_i [ ψ( 1/|S_i| Σ_{a ∈ S_i} g_a(x_i) ) + Σ_{a ∉ S_i} ψ( −g_a(x_i) ) ]
    pairwise:  min_{W,b}  ½ ‖W‖² + C Σ_i Σ_{a ∉ S_i} ψ( 1/|S_i| Σ_{b ∈ S_i} g_b(x_i) − g_a(x_i) )

*mean* is the loss that Cour et al. propose: as many binary problems, in which 0 must separate the candidates from the
rest. *pairwise* is not theirs: it asks of differences alone what theirs asks of scores, as the multi-class machine of
Weston & Watkins (1999) does for single labels, and we are not aware of a publication of it for candidate sets. A set of
all labels then carries no information. It is mostly the better one where sets are large (docs/research/methods.md).

The mean makes both convex (the maximum over the candidates would not) and, as their paper shows for *mean*, bounds the
true 0/1 loss where the ambiguity is moderate. No label is identified during training, only from the final scores.

Solved by SciPy's L-BFGS; an iteration is `LBFGS_STEPS` of its steps. The intercept is not regularised (LIBLINEAR
regularises it together with W), except by 10⁻⁵ · ½ ‖b‖², which makes the minimum unique where many intercepts are
equally good (a class that is in every set).

Label weights: softmax of the scores restricted to S_i; the identified label is argmax_{a ∈ S_i} g_a(x_i).

Hyper-parameters: `C` (default `"auto"`), the weight of the loss against the regulariser, and `form` (`"auto"`). The
supplement of the PRODEN paper leaves both open ("SVM with squared hinge loss"); the best C differs by orders of
magnitude from one dataset to the next, so C, from 10⁻³ … 1, and the form are chosen by the covering rate in five-fold
cross-validation (`pll.methods.classical`: candidate sets alone, no truth), before the first iteration. `max_rounds`
(30); `tol` (1e-4), the norm of the gradient relative to that at W = 0 at which the solver stops.

Complexity: a step is O(n·d·c) whatever |S| is, and some 20-300 are needed; the search adds 40 fits of lower precision
for up to 4,000 examples. Memory: O(n·d) for the features, and a block of 4,096 rows of scores.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize

from pll.candidates import CandidateSets
from pll.io import blocks
from pll.methods.base import setting
from pll.methods.classical import SCORE_BLOCK, SEARCH_FOLDS, SEARCH_ROWS, Cost, Iterations, LinearEstimator
from pll.training.metrics import Hook
from pll.weights import Floats, sparse

LOSS_FORMS = ("pairwise", "mean")
"""Forms of the loss that `"auto"` chooses from; of equally good ones the first."""

C_GRID = (1e-3, 1e-2, 1e-1, 1.0)
"""Values of C that `"auto"` chooses from; above 1 the results hardly change."""

LBFGS_STEPS = 25
"""Steps of L-BFGS in an iteration; with ten it learns too little of the curvature to end at the minimum."""

INTERCEPT_RIDGE = 1e-5
"""Weight of ‖b‖² relative to that of ‖W‖²."""


SEARCH_TOL = 1e-3
"""Tolerance in the search of C, enough to compare values."""


class CLPL(LinearEstimator):
    """Convex loss for partial labels (Cour et al. 2011); see the docstring of the module.

    Parameters
    ----------
    C
        Weight of the loss against ½‖W‖², above 0; `"auto"` chooses from `C_GRID` by the covering rate.
    form
        Of the loss, `"pairwise"` or, as published, `"mean"`; `"auto"` chooses by the covering rate.
    max_rounds
        Maximum number of iterations, at least 1; fewer where the minimum is reached before.
    tol
        Ends when the gradient's norm is at most this share of its norm at W = 0, above 0.
    seed
        Draws the folds of the search; with a number for C nothing is drawn at random.
    scale, missing
        As for every classical method.

    Attributes
    ----------
    C_
        The C that was used.
    form_
        The form that was used.
    covering_rates_
        (form, C) → covering rate in the search; empty where both are given.

    References
    ----------
    Cour, Sapp & Taskar, Learning from partial labels, JMLR 12, 2011.
    """

    summary: ClassVar[str] = (
        "A linear classifier that wants the average score of the candidates high and every other score low. "
        "Convex: one answer, found in seconds; weak where sets are large."
    )
    rounds: ClassVar[str] = "max_rounds"

    C: float | Literal["auto"] = setting("auto", above=0)
    form: str = setting("auto", LOSS_FORMS)
    max_rounds: int = setting(30, whole=True, least=1)
    tol: float = setting(1e-4, above=0)

    @classmethod
    def cost(cls, n: int, d: int, c: int, nnz: int) -> Cost:
        """Estimate the cost of `fit` with a search, at some 300 steps a fit and 80 a fit of the search.

        Parameters
        ----------
        n, d, c, nnz
            Examples, features, classes, and candidates in all.
        """
        rows = 300 * n + 80 * (SEARCH_FOLDS - 1) * len(C_GRID) * len(LOSS_FORMS) * min(n, SEARCH_ROWS)
        seconds = rows * c * (4.0 * d / 1e10 + 2e-8)
        return Cost(memory_bytes=8 * (2 * n * d + 6 * min(n, SCORE_BLOCK) * c + 20 * d * c), seconds=seconds)

    def _learn(self, X: Floats, candidates: CandidateSets, rng: np.random.Generator, hook: Hook) -> Iterations:
        forms = LOSS_FORMS if self.form == "auto" else (self.form,)
        grid = [(form, C) for form in forms for C in (C_GRID if self.C == "auto" else (float(self.C),))]

        def predictions(X_train: Floats, sets: CandidateSets, X_holdout: Floats) -> npt.NDArray[np.integer]:
            labels = []
            theta = np.zeros((X.shape[1] + 1) * candidates.n_classes)
            for form, C in grid:  # from the strongest regularisation on, each started at the solution of the one before
                objective = ConvexLoss(X_train, sets, C, hook, pairwise=form == "pairwise")
                *_, (theta, _) = descend(objective, theta, self.max_rounds, max(self.tol, SEARCH_TOL))
                W, b = objective.parts(theta)
                labels.append((X_holdout @ W + b).argmax(axis=1))
            return np.array(labels)

        self.form_, self.C_ = self._best("C and form", grid, predictions, X, candidates, rng)
        objective = ConvexLoss(X, candidates, self.C_, hook, pairwise=self.form_ == "pairwise")
        for theta, value in descend(objective, np.zeros(objective.size), self.max_rounds, self.tol):
            self.coef_, self.intercept_ = objective.parts(theta)
            yield self._restricted(X, candidates), value


def descend(objective: ConvexLoss, theta: Floats, max_rounds: int, tol: float) -> Iterator[tuple[Floats, float]]:
    """Yield (parameters, value) after each round, until the minimum or the limit of floating-point precision.

    Parameters
    ----------
    objective
        What is minimised.
    theta
        (size,) where it starts.
    max_rounds
        Maximum number of rounds, of `LBFGS_STEPS` steps each.
    tol
        Norm of the gradient, relative to that at zero, at which it ends.
    """
    enough = tol * float(np.linalg.norm(objective(np.zeros_like(theta))[1]))
    for _ in range(max_rounds):
        options = {"maxiter": LBFGS_STEPS, "ftol": 0.0, "gtol": 0.0}
        result = minimize(objective, theta, jac=True, method="L-BFGS-B", options=options)
        theta = result.x
        yield theta, float(result.fun)
        if not result.nit or np.linalg.norm(result.jac) <= enough:
            return


class ConvexLoss:
    """An objective of the module's docstring divided by C·n, as a function of the flat parameters (W by rows, then b).

    Parameters
    ----------
    X
        (n, d) scaled features.
    candidates
        n candidate sets.
    C
        Weight of the loss.
    hook
        Called before each block of rows.
    pairwise
        Whether the form is *pairwise*, else *mean*.
    """

    def __init__(self, X: Floats, candidates: CandidateSets, C: float, hook: Hook, *, pairwise: bool) -> None:
        self.pairwise = pairwise
        self.X = X
        self.shares = sparse(1.0 / candidates.sizes[candidates.rows], candidates)  # 1/|S_i| on S_i
        self.ridge = 1.0 / (C * len(X))
        self.hook = hook
        self.size = (X.shape[1] + 1) * candidates.n_classes

    def parts(self, theta: Floats) -> tuple[Floats, Floats]:
        """Return W (d, c) and b (c,) of the parameters `theta`."""
        table = theta.reshape(self.X.shape[1] + 1, -1)
        return table[:-1], table[-1]

    def __call__(self, theta: Floats) -> tuple[float, Floats]:
        """Return the value and its gradient (size,)."""
        W, b = self.parts(theta)
        value, slope_W, slope_b = 0.0, np.zeros_like(W), np.zeros_like(b)
        for block in blocks(len(self.X), SCORE_BLOCK):
            self.hook()
            x, share = self.X[block], self.shares[block].toarray()
            g = x @ W + b
            mean = (share * g).sum(axis=1, keepdims=True)  # (B, 1) of the candidates
            # By how much the mean falls short of its margin, and other labels are over theirs:
            short = np.zeros_like(mean) if self.pairwise else np.maximum(0.0, 1.0 - mean)
            over = np.where(share > 0, 0.0, np.maximum(0.0, 1.0 + g - mean * self.pairwise))
            value += float((short**2).sum() + (over**2).sum())
            slope = 2.0 * (over - (over.sum(axis=1, keepdims=True) if self.pairwise else short) * share)
            slope_W += x.T @ slope
            slope_b += slope.sum(axis=0)
        n, shrunk = len(self.X), INTERCEPT_RIDGE * b
        penalty = float((W * W).sum() + b @ shrunk)
        gradient = np.vstack([slope_W / n + self.ridge * W, slope_b / n + self.ridge * shrunk])
        return value / n + 0.5 * self.ridge * penalty, gradient.ravel()

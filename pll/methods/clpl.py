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

Solved by Newton's method with conjugate gradients, as LIBLINEAR solves its squared hinge: the objective is piecewise
quadratic, so the last step ends at the minimum. An iteration is a Newton step. The intercept is not regularised
(LIBLINEAR regularises it together with W), except by 10⁻⁵ · ½ ‖b‖², which makes the minimum unique where many
intercepts are equally good (a class that is in every set).

Label weights: softmax of the scores restricted to S_i; the identified label is argmax_{a ∈ S_i} g_a(x_i).

Hyper-parameters: `C` (default `"auto"`), the weight of the loss against the regulariser, and `form` (`"auto"`). The
supplement of the PRODEN paper leaves both open ("SVM with squared hinge loss"); the best C differs by orders of
magnitude from one dataset to the next, so C, from 10⁻³ … 1, and the form are chosen by the covering rate in five-fold
cross-validation (`pll.methods.classical`: candidate sets alone, no truth), before the first iteration. `max_rounds`
(30); `tol` (1e-4), the norm of the gradient relative to that at W = 0 at which the solver stops.

Complexity: a product with the Hessian is O(n·d·c) whatever |S| is, and some 50-1,000 are needed; the search adds 40
fits of lower precision for up to 4,000 examples. Memory: O(n·d) for the features, and a block of 4,096 rows of scores.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt
from scipy.sparse.linalg import LinearOperator, cg

from pll.candidates import CandidateSets
from pll.methods.base import setting
from pll.methods.classical import SCORE_BLOCK, SEARCH_FOLDS, SEARCH_ROWS, Cost, LinearEstimator, blocks
from pll.training.metrics import Hook
from pll.weights import Floats, Weights

LOSS_FORMS = ("pairwise", "mean")
"""Forms of the loss that `"auto"` chooses from; of equally good ones the first."""

C_GRID = (1e-3, 1e-2, 1e-1, 1.0)
"""Values of C that `"auto"` chooses from; above 1 the results hardly change."""

MAX_PRODUCTS = 500
"""Maximum number of products with the Hessian in one Newton step."""

MAX_TRIES = 50
"""Maximum number of step sizes that a line search tries."""

VALUE_ROUNDING = 1e-14
"""Relative rounding error of the objective's value."""

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
    chosen: ClassVar[tuple[str, ...]] = ("scale", "C", "form")

    C: float | Literal["auto"] = setting("auto", above=0)
    form: str = setting("auto", LOSS_FORMS)
    max_rounds: int = setting(30, whole=True, least=1)
    tol: float = setting(1e-4, above=0)

    C_: float
    form_: str

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

    def _learn(
        self, X: Floats, candidates: CandidateSets, rng: np.random.Generator, hook: Hook
    ) -> Iterator[tuple[Weights, float | None]]:
        forms = LOSS_FORMS if self.form == "auto" else (self.form,)
        grid = [(form, C) for form in forms for C in (C_GRID if self.C == "auto" else (float(self.C),))]

        def predictions(X_train: Floats, sets: CandidateSets, X_holdout: Floats) -> npt.NDArray[np.integer]:
            labels = []
            theta = np.zeros((X.shape[1] + 1) * candidates.n_classes)
            for form, C in grid:  # from the strongest regularisation on, each started at the solution of the one before
                objective = ConvexLoss(X_train, sets, C, hook, pairwise=form == "pairwise")
                *_, (theta, _) = newton(objective, theta, self.max_rounds, max(self.tol, SEARCH_TOL))
                W, b = objective.parts(theta)
                labels.append((X_holdout @ W + b).argmax(axis=1))
            return np.array(labels)

        self.form_, self.C_ = self._best("C and form", grid, predictions, X, candidates, rng)
        objective = ConvexLoss(X, candidates, self.C_, hook, pairwise=self.form_ == "pairwise")
        for theta, value in newton(objective, np.zeros(objective.size), self.max_rounds, self.tol):
            self.coef_, self.intercept_ = objective.parts(theta)
            yield self._restricted(X, candidates), value


def newton(objective: ConvexLoss, theta: Floats, max_rounds: int, tol: float) -> Iterator[tuple[Floats, float]]:
    """Newton's method: yield parameters and value after each step, until the gradient is small.

    Parameters
    ----------
    objective
        Function to minimise.
    theta
        (size,) initial parameters.
    max_rounds
        Maximum number of steps.
    tol
        Stops when the norm of the gradient is at most this share of its norm at W = 0, whatever `theta` is.
    """
    enough = tol * float(np.linalg.norm(objective(np.zeros_like(theta))[1]))
    value, gradient = objective(theta)
    for _ in range(max_rounds):
        improved = False
        norm = float(np.linalg.norm(gradient))
        if norm > enough:
            hessian = LinearOperator((len(theta), len(theta)), partial(objective.curvature, theta), dtype=np.float64)
            # The smaller the gradient, the more exactly (Dembo et al. 1982).
            step, _ = cg(hessian, -gradient, rtol=min(0.1, norm), atol=0.0, maxiter=MAX_PRODUCTS)
            result = line_search(objective, theta, value, gradient, step)
            improved = result is not None  # if None, the limit of floating-point precision is reached
            theta, value, gradient = result or (theta, value, gradient)
        yield theta, value
        if not improved or np.linalg.norm(gradient) <= enough:
            return


def line_search(
    objective: ConvexLoss, theta: Floats, value: float, gradient: Floats, step: Floats
) -> tuple[Floats, float, Floats] | None:
    """Return parameters, value and gradient after the step or a share of it that lowers the value; None if none does.

    Along the step the slope rises from below 0. A share of the step is accepted where the slope has halved, or where
    it is positive and the value has decreased. Near the minimum the value changes by less than its rounding error, so
    that only the slope can be used.

    Parameters
    ----------
    objective
        That is lowered.
    theta, value, gradient
        (p,) parameters, and the objective's value and gradient (p,) there.
    step
        (p,) a direction of descent.
    """
    start = float(gradient @ step)
    low, high, share = 0.0, 1.0, 1.0
    low_slope, high_slope = start, -start
    for _ in range(MAX_TRIES):
        candidate = theta + share * step
        new_value, new_gradient = objective(candidate)
        new_slope = float(new_gradient @ step)
        flat = abs(new_slope) <= -0.5 * start and new_value <= value * (1.0 + VALUE_ROUNDING)
        lower = new_value < value + 1e-4 * share * start and (new_slope > 0 or share == 1.0)
        if flat or lower:
            return candidate, min(value, new_value), new_gradient
        if new_slope > 0:
            high, high_slope = share, new_slope
        elif share == 1.0:
            return None
        else:
            low, low_slope = share, new_slope
        share = low + (high - low) * min(0.9, max(0.1, low_slope / (low_slope - high_slope)))
    return None


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
        self.candidates = candidates
        self.ridge = 1.0 / (C * len(X))
        self.hook = hook
        self.d, self.c = X.shape[1], candidates.n_classes
        self.size = (self.d + 1) * self.c

    def parts(self, theta: Floats) -> tuple[Floats, Floats]:
        """Return W (d, c) and b (c,) of the parameters `theta`."""
        table = theta.reshape(self.d + 1, self.c)
        return table[:-1], table[-1]

    def __call__(self, theta: Floats) -> tuple[float, Floats]:
        """Return the value and its gradient (size,)."""
        W, b = self.parts(theta)
        value = 0.0
        gradient = np.zeros((self.d + 1, self.c))
        for x, share in self._blocks():
            short, over = self._violations(x @ W + b, share)
            value += float((short**2).sum() + (over**2).sum())
            pulls = short + over.sum(axis=1, keepdims=True) if self.pairwise else short
            self._add(gradient, x, 2.0 * (over - pulls * share))
        return self._finish(value, gradient, W, b)

    def curvature(self, theta: Floats, v: Floats) -> Floats:
        """Return H v (size,), the product of the (generalised) Hessian at `theta` with a direction.

        Parameters
        ----------
        theta
            (size,) where.
        v
            (size,) the direction.
        """
        W, b = self.parts(theta)
        V, a = self.parts(v)
        product = np.zeros((self.d + 1, self.c))
        for x, share in self._blocks():
            both = x @ np.hstack([W, V])
            short, over = self._violations(both[:, : self.c] + b, share)
            z = both[:, self.c :] + a  # (B, c)
            mean = (share * z).sum(axis=1, keepdims=True)  # (B, 1)
            off = np.where(over > 0, z - mean if self.pairwise else z, 0.0)
            inside = -off.sum(axis=1, keepdims=True) if self.pairwise else np.where(short > 0, mean, 0.0)
            self._add(product, x, 2.0 * (off + inside * share))
        product /= len(self.X)
        product[:-1] += self.ridge * V
        product[-1] += INTERCEPT_RIDGE * self.ridge * a
        return product.ravel()

    def _violations(self, g: Floats, share: Floats) -> tuple[Floats, Floats]:
        """Return the violated margins of scores (B, c): (B, 1) of the candidates' mean, (B, c) of other labels."""
        mean = (share * g).sum(axis=1, keepdims=True)
        if self.pairwise:
            return np.zeros_like(mean), np.where(share > 0, 0.0, np.maximum(0.0, 1.0 - mean + g))
        return np.maximum(0.0, 1.0 - mean), np.where(share > 0, 0.0, np.maximum(0.0, 1.0 + g))

    def _blocks(self) -> Iterator[tuple[Floats, Floats]]:
        """Yield blocks of rows of X (B, d), and 1/|S_i| on their candidates (B, c)."""
        for block in blocks(len(self.X), SCORE_BLOCK):
            self.hook()
            at = slice(*self.candidates.indptr[[block.start, block.stop]])
            share = np.zeros((block.stop - block.start, self.c))
            rows = self.candidates.rows[at]
            share[rows - block.start, self.candidates.indices[at]] = 1.0 / self.candidates.sizes[rows]
            yield self.X[block], share

    @staticmethod
    def _add(total: Floats, x: Floats, slope: Floats) -> None:
        total[:-1] += x.T @ slope
        total[-1] += slope.sum(axis=0)

    def _finish(self, value: float, gradient: Floats, W: Floats, b: Floats) -> tuple[float, Floats]:
        n = len(self.X)
        gradient = gradient / n
        gradient[:-1] += self.ridge * W
        gradient[-1] += INTERCEPT_RIDGE * self.ridge * b
        penalty = float((W * W).sum()) + INTERCEPT_RIDGE * float(b @ b)
        return value / n + 0.5 * self.ridge * penalty, gradient.ravel()

"""SURE, self-guided retraining (Feng & An, AAAI 2019).

Idea: fit a regression to the label confidences P (n × c), correct P by its outputs Q, and repeat. A reward for a large
top confidence drives P towards a decision:

    min_{W,b,P}  Σ_i ( ‖p_i − q_i‖² − λ max_j p_ij ) + β ‖W‖²,   q_i = W'φ(x_i) + b,   p_i on the simplex over S_i

Two steps per iteration, each the exact minimiser with the other part fixed, so that the objective never increases:

1. Ridge regression of P on φ(x), with an intercept that is not regularised. In kernel form (K + βI) A + 1 b' = P with
   1'A = 0, and Q = P − βA. The matrix does not depend on P: it is factorised once.
2. A row of P minimises ‖p − q‖² − λ max_j p_j over the simplex over S_i. For a fixed j that is the Euclidean projection
   of q_S + (λ/2) e_j onto the simplex, and the best j is argmax_S q: no quadratic program has to be solved. All rows
   are projected together, by sorting.

It starts from p_ij = 1/|S_i| and ends when no confidence changes by more than `tol`.

Label weights: the confidences P themselves; the identified label is argmax_j p_ij = argmax_{j ∈ S_i} q_j(x_i).

Hyper-parameters: `lam` (λ, default 0.3) and `beta` (β, 0.05), both from the grid {.001, .01, .05, .1, .3, .5, 1} of the
PRODEN paper's supplement; `kernel` (`"rbf"`: exp(−‖x − z‖² / 2σ²), σ the mean distance between two examples, as in its
own paper; `"linear"`, as in the PRODEN paper's comparison; or `"auto"`, the default, which takes the one with the
higher covering rate in cross-validation on up to 1,500 examples, without any truth); `scale` (`"auto"`: that under
which neighbours agree best with the candidate sets, `pll.methods.plknn.neighbours_scale`); `max_rounds` (100); `tol`
(1e-3).

More than 10,000 examples (rbf): the kernel K is replaced by Nyström's K̃ = K_nm K_mm⁻¹ K_mn (Williams & Seeger, NIPS
2000) for m = 2,048 examples drawn at random, and σ is their mean distance to all. K − K̃ is positive semi-definite, so
that no entry of it exceeds the largest on its diagonal, which is known: 1 − ‖φ_i‖². `notes_` states the largest and the
mean, `kernel_error_` holds all. Step 2 stays exact.

Complexity, rbf: O(n²·d + n³/3) once, O(n²·c) per iteration, 8 n² bytes; prediction O(n·(d + c)). With Nyström's kernel
O(n·m·d + n·m² + m³/3) once, O(n·m·c) per iteration, 4 n·m + 24 m² bytes; prediction O(m·(d + c)). linear: O(n·d² +
d³/3) once, O(n·d·c) per iteration, 8 (2 n·d + d² + 4 n·c) bytes. The projections are O(nnz · log nnz) per iteration.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import numpy.typing as npt
from torch import nn

from pll.candidates import CandidateSets
from pll.methods.base import KERNELS, Task, setting
from pll.methods.classical import Cost, Iterations, LinearEstimator
from pll.methods.kernels import (
    EXACT_KERNEL_UP_TO,
    KERNEL_BLOCK,
    KernelRidge,
    LinearRidge,
    Nystrom,
    linear_in_kernel,
    mean_distance,
    nystrom_note,
)
from pll.methods.plknn import neighbours_scale
from pll.training.metrics import Hook
from pll.training.scaling import CLIP
from pll.weights import Floats, Ints, dense, on_candidates, top_positions


class SURE(LinearEstimator):
    """Self-guided retraining (Feng & An 2019); see the docstring of the module.

    Parameters
    ----------
    lam
        λ, the reward for a large top confidence, at least 0.
    beta
        β, the weight of the regulariser, above 0.
    kernel
        `"rbf"`, `"linear"`, or `"auto"`, which chooses one by the covering rate.
    max_rounds
        Maximum number of iterations, at least 1; fewer where the confidences converge before.
    tol
        Training ends when no confidence changes by more, at least 0.
    scale
        As for every classical method; `"auto"` chooses as PL-kNN does.
    missing
        As for every classical method.
    seed
        Draws the examples of the choices and of Nyström's kernel; nothing else is drawn at random.

    Attributes
    ----------
    kernel_
        The kernel that was used.
    coef_
        (n, c) with the rbf kernel, or (m, c), (d, c) with the linear one.
    intercept_
        (c,).
    support_
        (n, d) the scaled training examples (rbf), or (m, d) those of Nyström's kernel, else empty.
    width_
        σ (rbf).
    kernel_error_
        (n,) diagonal of K − K̃; empty where the kernel is exact.

    References
    ----------
    Feng & An, Partial label learning with self-guided retraining, AAAI 2019.
    """

    summary: ClassVar[str] = (
        "Fits a kernel regression to the label weights and lets it correct them, rewarding a clear favourite. "
        "Strong on small data; its kernel takes 8 n² bytes (200 MB for 5,000 examples), above 10,000 a low-rank one."
    )

    takes_prior: ClassVar[bool] = True
    rounds: ClassVar[str] = "max_rounds"
    cheaper: ClassVar[str] = " With kernel='linear' it takes a small part of that."
    _fitted = ("coef_", "intercept_", "support_", "width_")

    lam: float = setting(0.3, least=0)
    beta: float = setting(0.05, above=0)
    kernel: str = setting("auto", KERNELS)
    max_rounds: int = setting(100, whole=True, least=1)
    tol: float = setting(1e-3, least=0)

    @classmethod
    def cost(cls, n: int, d: int, c: int, nnz: int) -> Cost:
        """Estimate the cost of `fit` with the rbf kernel and some 30 iterations.

        Parameters
        ----------
        n, d, c, nnz
            Examples, features, classes, and candidates in all.
        """
        if n > EXACT_KERNEL_UP_TO:
            m = KERNEL_CENTRES
            memory = 4 * n * m + 8 * (3 * m * m + n * (d + 4 * c))
            seconds = (2.0 * n * m * (m + d) + m**3 / 3) / 3e10 + 30 * (4.0 * n * m * c / 5e10 + 2e-7 * nnz)
            return Cost(memory_bytes=memory, seconds=seconds)
        memory = 8 * n * (n + 3 * KERNEL_BLOCK + d + 4 * c)
        seconds = (n**3 / 3 + 2.0 * n * n * d) / 1e10 + 30 * (2.0 * n * n * c / 4e9 + 2e-7 * nnz)
        return Cost(memory_bytes=memory, seconds=seconds)

    def _learn(self, X: Floats, candidates: CandidateSets, rng: np.random.Generator, hook: Hook) -> Iterations:
        kernels = KERNELS if self.kernel == "auto" else (self.kernel,)
        self.kernel_ = self._best_fitted(
            "kernel", kernels, X, candidates, rng, hook, most=KERNEL_ROWS, max_rounds=min(30, self.max_rounds)
        )
        self.stage_ = f"factorising the kernel of {len(X):,} examples"
        ridge, kernel = self._ridge(X, rng, hook)
        self.stage_ = ""
        p = self.label_weights_.astype(np.float64)  # (nnz,) uniform, or the prior
        for _ in range(self.max_rounds):
            hook()
            P = dense(p, candidates)
            Q = ridge.fit(P)
            self.coef_ = ridge.coef if kernel is None else kernel.coefficients(ridge.coef)
            self.intercept_ = ridge.intercept
            hook()
            before, p = p, confidences(on_candidates(Q, candidates), candidates, self.lam)
            yield p.astype(np.float32), self._objective(P, Q, p, candidates)
            if np.abs(p - before).max() <= self.tol:
                return

    def _choose_scale(self, task: Task, hook: Hook) -> str:
        return neighbours_scale(self, task, clip=CLIP, hook=hook)

    def _ridge(
        self, X: Floats, rng: np.random.Generator, hook: Hook
    ) -> tuple[LinearRidge | KernelRidge, Nystrom | None]:
        """Return the regression with the kernel in use, and the kernel where it is approximate.

        Stopped meanwhile, the model stays the untrained one.
        """
        if self.kernel_ == "linear":
            return LinearRidge(X.copy(), self.beta, hook), None
        n, c = len(X), len(self.class_names_)
        if n <= EXACT_KERNEL_UP_TO:
            exact = KernelRidge(X, self.beta, hook)
            self.support_, self.width_, self.coef_ = X, exact.width, np.zeros((n, c))
            return exact, None
        centres = X[np.sort(rng.permutation(n)[:KERNEL_CENTRES])]
        kernel = Nystrom(centres, mean_distance(X, centres, hook), hook)
        features = kernel.features(X, hook=hook)
        self.kernel_error_ = kernel.error(features)
        self.notes_ = (nystrom_note(len(centres), self.kernel_error_),)
        self.support_, self.width_, self.coef_ = centres, kernel.width, np.zeros((len(centres), c))
        return LinearRidge(features, self.beta, hook), kernel

    def _untrained(self, X: Floats, candidates: CandidateSets) -> None:
        super()._untrained(X, candidates)
        self.kernel_, self.support_, self.width_, self.kernel_error_ = "linear", X[:0], 1.0, np.zeros(0)

    def _objective(self, P: Floats, Q: Floats, p: Floats, candidates: CandidateSets) -> float:
        """Return the objective per example after both steps. β‖W‖² = Σ (P − Q) ∘ Q for the P that W was fitted to."""
        new = dense(p, candidates)
        penalty = ((P - Q) * Q).sum()
        reward = self.lam * np.maximum.reduceat(p, candidates.indptr[:-1]).sum()
        return float((((new - Q) ** 2).sum() - reward + penalty) / len(candidates))

    def _scores(self, X: Floats) -> Floats:
        return linear_in_kernel(X, self.support_, self.width_, self.coef_, self.intercept_)

    def _probabilities(self, scores: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """Return (n, c) the outputs of the regression projected onto the simplex: step 2 with λ = 0 and all labels."""
        indptr = np.arange(len(scores) + 1, dtype=np.int64) * scores.shape[1]
        return project_on_simplex(scores.astype(np.float64).ravel(), indptr).reshape(scores.shape).astype(np.float32)

    def module(self) -> nn.Module | None:
        """Return the linear model as a torch module; None with the rbf kernel."""
        self.check_fitted()
        return None if len(self.support_) else super().module()


def confidences(q: Floats, candidates: CandidateSets, lam: float) -> Floats:
    """Return (nnz,) for each row the minimiser of ‖p − q‖² − λ max_j p_j over the simplex over S_i.

    Parameters
    ----------
    q
        (nnz,) outputs of the regression on the candidates.
    candidates
        n candidate sets.
    lam
        λ, at least 0.

    Examples
    --------
    >>> sets = CandidateSets.from_lists([[0, 1], [2]], n_classes=3)
    >>> confidences(np.array([0.5, 0.3, 9.0]), sets, lam=0.3).round(3).tolist()
    [0.675, 0.325, 1.0]
    """
    raised = q.copy()
    raised[top_positions(q - q.min(), candidates)] += lam / 2  # `top_positions` expects values of at least 0
    return project_on_simplex(raised, candidates.indptr)


def project_on_simplex(values: Floats, indptr: Ints) -> Floats:
    """Project each row of compressed values onto the simplex: entries of at least 0 that sum to 1.

    p = max(v − θ, 0), where θ makes the sum 1; with the values in descending order, the positive entries are the
    longest prefix with v_(k) > (v_(1) + … + v_(k) − 1) / k.

    Parameters
    ----------
    values
        (nnz,) finite.
    indptr
        (n+1,) as of `CandidateSets`; no row empty.
    """
    starts = indptr[:-1]
    rows = np.repeat(np.arange(len(starts)), np.diff(indptr))
    # Entries more than 1 below the top become 0 anyway; bounded values keep the running sum over all rows exact.
    shifted = np.maximum(values - np.maximum.reduceat(values, starts)[rows], -1.0)
    ordered = shifted[np.lexsort((-shifted, rows))]
    running = np.cumsum(ordered)
    running -= (running[starts] - ordered[starts])[rows]  # within each row
    place = np.arange(len(values)) - starts[rows] + 1
    support_sizes = np.add.reduceat((ordered * place > running - 1.0).astype(np.int64), starts)
    theta = (running[starts + support_sizes - 1] - 1.0) / support_sizes
    return np.maximum(shifted - theta[rows], 0.0)


KERNEL_ROWS = 1500
"""Maximum number of examples by which the kernel is chosen."""
KERNEL_CENTRES = 2048
"""Examples by which it is approximated beyond."""

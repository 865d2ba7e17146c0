"""The binary support vector machines of PL-ECOC: learnt one after the other, in a way that can be stopped."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait

import numpy as np
import numpy.typing as npt
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC, LinearSVC

from pll.methods.classical import Matrix, blocks
from pll.training.metrics import Hook

BLOCK = 512
"""Rows whose kernel values are held at once."""


class Machines:
    """One binary SVM a column, learnt one after the other.

    Attributes:
        X: (n, d) scaled features.
        coef: (n, L) coefficients of the examples (rbf), or (d, L) of the features. intercept: (L,).
        decisions: (n, L) f_t(x_i).
    """

    def __init__(self, X: Matrix, kernel: str, C: float, length: int, hook: Hook) -> None:
        self.X = X
        self.kernel = kernel
        self.C = C
        self.hook = hook
        self.coef = np.zeros((len(X) if kernel == "rbf" else X.shape[1], length))
        self.intercept = np.zeros(length)
        self.decisions = np.zeros((len(X), length))

    def learn(self, column: int, sides: npt.NDArray[np.int8]) -> None:
        """Train the machine of one column on the examples that are on a side, and let it decide on all."""
        usable = np.flatnonzero(sides)
        x, target = self.X[usable], sides[usable]
        if self.kernel == "linear":
            # The primal solver draws nothing at random; the dual one would depend on the order of the examples.
            linear = LinearSVC(C=self.C, dual=False, max_iter=10_000, random_state=0)
            stoppable(lambda: linear.fit(x, target), self.hook)
            self.coef[:, column], self.intercept[column] = linear.coef_[0], linear.intercept_[0]
            self.decisions[:, column] = self.X @ self.coef[:, column] + self.intercept[column]
            return
        gamma = 1.0 / self.X.shape[1]
        machine = SVC(C=self.C, gamma=gamma, random_state=0)  # else it touches NumPy's global stream
        stoppable(lambda: machine.fit(x, target), self.hook)
        self.coef[usable[machine.support_], column] = machine.dual_coef_[0]
        self.intercept[column] = machine.intercept_[0]
        for at in blocks(len(self.X), BLOCK):
            self.hook()
            near = rbf_kernel(self.X[at], machine.support_vectors_, gamma=gamma)
            self.decisions[at, column] = near @ machine.dual_coef_[0] + machine.intercept_[0]


def stoppable(work: Callable[[], object], hook: Hook) -> None:
    """Do what cannot be interrupted, asking the hook meanwhile; after a stop it ends on its own, unheeded."""
    pool = ThreadPoolExecutor(1, thread_name_prefix="pl-ecoc")
    try:
        task = pool.submit(work)
        while wait([task], timeout=0.1).not_done:
            hook()
        hook()
        task.result()
    finally:
        pool.shutdown(wait=False)

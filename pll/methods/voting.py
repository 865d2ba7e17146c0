"""Majority vote and Dawid-Skene: labels from votes alone.

Idea: *majority* gives each label the share of the votes it got. *Dawid-Skene* (Applied Statistics 28, 1979) estimates
models of each voter together with the labels, without any truth: voters who agree with the others weigh more
(formulas: `pll.annotations.voters`; by default a matrix of each, drawn to that of all).
Without votes the label weights are uniform, or the prior.

Label weights: the shares, or the posterior, restricted to S_i and normalised. They do not depend on the features.
Unseen examples are predicted by a ridge regression of the label weights on the features (`beta`); without features it
predicts the class shares.

Hyper-parameters: `beta` (1.0), ridge of that regression; Dawid-Skene: `kind` (`"pooled"`, `"confusion"`, `"one-coin"`).

Complexity: majority O(votes). Dawid-Skene O(votes · c) an iteration, at most 50 of them, memory n·c + voters·c²
numbers.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from pll.annotations.voters import fit_voters
from pll.candidates import CandidateSets
from pll.methods.base import Task, setting
from pll.methods.classical import Cost, Iterations, LinearEstimator
from pll.methods.kernels import LinearRidge
from pll.training.metrics import Hook
from pll.weights import Floats, Weights, dense, normalise, on_candidates

NOBODY_NAMED = "Who gave which answer is not known, so no voter was weighed: each label has its share of the answers."


class VoteEstimator(LinearEstimator):
    """Base class of the methods that take labels from votes alone."""

    needs_features: ClassVar[bool] = False
    takes_votes: ClassVar[bool] = True
    kind: str = "majority"
    """Of the voter models, as `fit_voters` takes it; a majority does not heed what people decided."""
    beta: float = setting(1.0, above=0)

    def _first_weights(self, task: Task) -> Weights:
        if task.votes is None:
            self.notes_ = (NOBODY_NAMED,) if self.kind != "majority" and task.prior is not None else ()
            return task.candidates.uniform_weights() if task.prior is None else task.prior
        decided = None if self.kind == "majority" else task.decided
        posterior = fit_voters(task.votes, kind=self.kind, true_labels=decided).posterior
        return normalise(on_candidates(posterior, task.candidates), task.candidates)

    @classmethod
    def cost(cls, n: int, d: int, c: int, nnz: int) -> Cost:
        """Estimate the cost of `fit`: one ridge regression, and for voter models some passes over the votes.

        Parameters
        ----------
        n, d, c, nnz
            Examples, features, classes, and candidates in all.
        """
        small = min(n, d)
        return Cost(8 * (n * c + n * d + small**2), 2e-10 * n * d * small + 1e-10 * n * d * c + 1e-5 * nnz)

    def _learn(self, X: Floats, candidates: CandidateSets, rng: np.random.Generator, hook: Hook) -> Iterations:
        hook()
        P = dense(self.label_weights_.astype(np.float64), candidates)
        self.intercept_ = P.mean(axis=0)
        if X.shape[1]:
            ridge = LinearRidge(X.copy(), self.beta, hook)
            ridge.fit(P)
            self.coef_, self.intercept_ = ridge.coef, ridge.intercept
        yield self.label_weights_, None


class Majority(VoteEstimator):
    """The label with the most votes; see the docstring of the module.

    Parameters
    ----------
    beta
        Ridge of the regression that predicts unseen examples, above 0.
    scale, missing, seed
        As for every classical method; nothing is drawn at random.
    """

    summary: ClassVar[str] = (
        "Gives each label the share of the votes it got. Instant, needs no features; the baseline for votes."
    )


class DawidSkene(VoteEstimator):
    """Models of each voter, estimated with the labels; see the docstring of the module.

    Parameters
    ----------
    kind
        `"pooled"` (a matrix of each voter, drawn to that of all), `"confusion"` (run to convergence, hardly drawn) or
        `"one-coin"` (one accuracy of each).
    beta
        Ridge of the regression that predicts unseen examples, above 0.
    scale, missing, seed
        As for every classical method; nothing is drawn at random.
    """

    summary: ClassVar[str] = (
        "Learns from their agreement how far each voter can be relied on, class by class. "
        "Needs no features; strong where many voters answer."
    )

    kind: str = setting("pooled")

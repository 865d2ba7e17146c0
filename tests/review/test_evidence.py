"""Evidence that few labels are wrong: the definition, and exact probabilities for small numbers."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import betabinom, hypergeom

from pll.review.evidence import Prior, log_evidence

PRIORS = [Prior.for_error(0.02), Prior.for_error(0.3), Prior(0.0, 1.0, 1.0), Prior(0.9, 0.5, 4.0)]


def chance_of_ever(n: int, wrong: int, rejects: np.ndarray) -> float:
    """Exact probability that a random order of n labels, `wrong` of them wrong, ever comes to a (k, s) in `rejects`."""
    alive, hit = {0: 1.0}, 0.0
    for k in range(n):
        following: dict[int, float] = {}
        for s, chance in alive.items():
            for step, share in ((1, (wrong - s) / (n - k)), (0, (n - k - wrong + s) / (n - k))):
                if share > 0 and rejects[k + 1, s + step]:
                    hit += chance * share
                elif share > 0:
                    following[s + step] = following.get(s + step, 0.0) + chance * share
        alive = following
    return hit


def rejection_table(n: int, w: int, prior: Prior, level: float) -> np.ndarray:
    k, s = np.meshgrid(np.arange(n + 1), np.arange(n + 1), indexing="ij")
    table = log_evidence(n, w, k, np.minimum(s, k), prior) >= -math.log(1 - level)
    return table & (s <= k) & (k > 0)


class TestEvidence:
    @pytest.mark.parametrize("prior", PRIORS)
    def test_is_prior_over_posterior(self, prior: Prior) -> None:
        """Against the definition: a beta-binomial prior over the number wrong, updated by Bayes' rule with scipy."""
        n, k, s = 30, 9, 1
        v = np.arange(n + 1)
        weights = (1 - prior.none) * betabinom.pmf(v, n, prior.a, prior.b) + prior.none * (v == 0)
        likelihood = hypergeom.pmf(s, n, v, k)
        posterior = weights * likelihood / (weights * likelihood).sum()
        w = np.arange(4, 22)  # above the mode, where E is finite
        assert np.exp(log_evidence(n, w, k, s, prior)) == pytest.approx(weights[w] / posterior[w], rel=1e-9)

    @pytest.mark.parametrize("prior", PRIORS)
    def test_a_larger_number_wrong_has_more_against_it(self, prior: Prior) -> None:
        n = 25
        w = np.arange(1, n + 1)
        for k in range(1, n + 1):
            for s in range(k + 1):
                evidence = log_evidence(n, w, k, s, prior)
                rising = evidence[np.isfinite(evidence)]
                assert (np.diff(rising) > -1e-9).all()

    @pytest.mark.parametrize("prior", PRIORS)
    @pytest.mark.parametrize("level", [0.5, 0.8, 0.95])
    def test_rejects_the_truth_rarely_however_often_one_looks(self, prior: Prior, level: float) -> None:
        """By exact enumeration: Pr(E_k(w) ever reaches 1/α) ≤ α whenever w or more labels are wrong."""
        for n in (1, 2, 7, 18, 40):
            for w in range(1, n + 1, max(1, n // 8)):
                table = rejection_table(n, w, prior, level)
                worst = max(chance_of_ever(n, truth, table) for truth in range(w, n + 1))
                assert worst <= 1 - level + 1e-12, (n, w)

    def test_the_bound_is_not_idle(self) -> None:
        """It can fail nearly as often as it may: the enumeration above would see a bound that never says anything."""
        table = rejection_table(40, 8, Prior(0.9, 0.5, 4.0), 0.8)
        assert 0.15 < chance_of_ever(40, 8, table) <= 0.2

"""Sequential evidence from random controls about the number of wrong labels: the mathematics of certificates.

Of N labels W are wrong; both are fixed, only the draw of the controls is random. After k controls, s of them wrong, the
evidence against "W = w" is the prior-posterior ratio of Waudby-Smith & Ramdas (2020, "Confidence sequences for sampling
without replacement", Section 2),

    E_k(w) = π(w) / π(w | s of k) = Σ_v π(v) L_v / L_w,    L_w = C(N−k, w−s) / C(N, w),

L_w being the probability of just this sequence of answers when w labels are wrong. With a beta-binomial π the sum is
B(a+s, b+k−s) / B(a, b). Under W = w the evidence is a martingale that starts at 1, so it ever reaches 1/α with
probability at most α (Ville's inequality): one may look after every answer, and stop whenever one likes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import betaln, gammaln

from pll.errors import UserError

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

LEVEL = 0.95


@dataclass(frozen=True)
class Prior:
    """What the evidence bets on: with probability `none` that nothing is wrong, else a beta-binomial number.

    Any prior that is fixed before the answers gives a valid bound; this one only makes the bound come soon.

    Attributes:
        none: in [0, 1), weight of "no label is wrong".
        a, b: of the Beta distribution; a / (a + b) is the error rate bet on.
    """

    none: float
    a: float
    b: float

    @classmethod
    def for_error(cls, max_error: float) -> Prior:
        """A bet on a third of the error that is to be excluded, or on none (the trade is in `docs/review.md`)."""
        return cls(none=0.5, a=2.0, b=6.0 / max_error)


def log_evidence(
    population: npt.ArrayLike, w: npt.ArrayLike, controls: npt.ArrayLike, wrong: npt.ArrayLike, prior: Prior
) -> Floats:
    """log E_k(w) against "w or more of the N accepted labels are wrong"; the arguments broadcast.

    It is −∞ where s/k is so high that a larger w would explain the answers better than w does: there E_k(w) is evidence
    against w, not against all from w upwards. Where it is finite, every larger number has at least as much against it
    (L_w falls once w·k ≥ s·(N+1)).

    Args:
        population: N ≥ 1, accepted labels.
        w: 1 … N, the smallest number of wrong ones that is to be excluded.
        controls: k ≤ N, controls among the accepted.
        wrong: s ≤ k, of which wrong.

    >>> sure = Prior(none=1 - 1e-12, a=1.0, b=1.0)  # all on "none wrong": 299 clean controls exclude 1 %
    >>> (np.exp(-log_evidence(10**9, 10**7, np.array([298, 299]), 0, sure)) <= 0.05).tolist()
    [False, True]
    """
    n, w, k, s = (np.asarray(value, dtype=np.float64) for value in (population, w, controls, wrong))
    mixture = math.log1p(-prior.none) + betaln(prior.a + s, prior.b + k - s) - betaln(prior.a, prior.b)
    if prior.none > 0:
        mixture = np.where(s == 0, np.logaddexp(math.log(prior.none), mixture), mixture)
    one_sided = w * k >= s * (n + 1)
    # log L_w is −∞ where so many wrong ones are impossible by now (more than are unseen, or than there are).
    likelihood = log_choose(n - k, w - s) - log_choose(n, np.minimum(w, n))
    return np.where(one_sided, mixture - likelihood, -np.inf)


def log_choose(n: npt.ArrayLike, k: npt.ArrayLike) -> Floats:
    """log C(n, k), −∞ outside 0 ≤ k ≤ n."""
    n, k = np.asarray(n, dtype=np.float64), np.asarray(k, dtype=np.float64)
    inside = (k >= 0) & (k <= n)
    k = np.where(inside, k, 0.0)
    return np.where(inside, gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1), -np.inf)


def alpha_of(level: float) -> float:
    """α = 1 − level; raises UserError unless it lies strictly between 0 and 1."""
    if not 0 < level < 1:
        raise UserError(f"The level of the certificate must lie between 0 and 1 (0.95, say), not {level}.")
    return 1 - level


def check_guarantee(max_error: float, level: float) -> None:
    """Raises UserError unless both lie strictly between 0 and 1."""
    alpha_of(level)
    if not 0 < max_error < 1:
        raise UserError(
            f"The error to be excluded must lie between 0 and 1 (0.02, say), not {max_error}; "
            "that no label at all is wrong can only be shown by checking them all."
        )


def allowed_wrong(population: int, max_error: float) -> int:
    """⌊x · N⌋, not spoilt by 0.29 · 100 = 28.999…"""
    return math.floor(max_error * population + 1e-9)


def as_answers(correct: npt.ArrayLike) -> npt.NDArray[np.bool_]:
    """(k,) bool; anything else than True and False is refused, so that a class index is not taken for an answer."""
    right = np.asarray(correct)
    if right.ndim != 1 or (right.dtype != np.bool_ and right.size):
        raise UserError("The control answers must be one True (label right) or False (wrong, or unsure) each.")
    return right.astype(np.bool_)

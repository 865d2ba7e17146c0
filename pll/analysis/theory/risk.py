"""Risk on small examples: three readings of a candidate set as curves, and Jin & Ghahramani's objective.

The readings are the mean over the candidates, the least, and the weighted sum.

One example first (`loss_curves`), then a whole data set under a classifier with a single parameter, the angle by which
its three directions are turned (`Carousel`): there the risk is a line that can be drawn, and one can see where descent
ends. Losses and weights are those of training: `pll.training.losses.ce`, `pll.weights.restricted_softmax`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
import numpy.typing as npt
import torch

from pll.candidates import CandidateSets
from pll.errors import UserError
from pll.synthesis.flips import flip_binomial, flip_pair
from pll.training.losses import ce
from pll.weights import dense, restricted_softmax

Numbers = npt.NDArray[np.float64]
Reading = Literal["mean", "min", "weights"]
"""How a candidate set is read: all alike (Jin & Ghahramani's start), the best guess (Eq. loss-pll), or Eq. (norm)."""

DEGREE = np.pi / 180


@dataclass(frozen=True)
class OneExample:
    """One example of three classes whose candidates are the first two; the model gives the first the share p.

    Attributes
    ----------
    g
        (3,) what the model says.
    losses
        (2,) cross-entropy of each candidate.
    weights
        (2,) label weights, Eq. (norm).
    mean, least, weighted
        The three readings of the set.
    """

    g: Numbers
    losses: Numbers
    weights: Numbers
    mean: float
    least: float
    weighted: float


def one_example(p: float, outside: float = 0.1) -> OneExample:
    """The three readings where the model gives p to the first candidate and `outside` to the class that is none.

    Parameters
    ----------
    p
        In (0, 1 − outside).

    Raises
    ------
    UserError
        Shares that leave nothing for the second candidate.

    Examples
    --------
    >>> found = one_example(0.6)
    >>> found.weights.round(3).tolist(), round(found.least, 3)
    ([0.667, 0.333], 0.511)
    """
    rest = 1 - outside - p
    if min(p, rest, outside) <= 0:
        raise UserError(f"The shares {p}, {rest:.3g} and {outside} must all be above 0.")
    g = np.array([p, rest, outside])
    losses = _losses(np.log(g)[None, :])[0, :2]
    sets = CandidateSets.from_lists([[0, 1]], 3)
    weights = restricted_softmax(np.log(g[:2]), sets).astype(np.float64)
    return OneExample(g, losses, weights, float(losses.mean()), float(losses.min()), float(weights @ losses))


def loss_curves(outside: float = 0.1) -> tuple[Numbers, dict[Reading, Numbers]]:
    """Return p (161,) and the three readings of the loss there, (161,) each.

    The weighted reading uses the weights of that p, as training does after each update.
    """
    at = np.linspace(0.005, 1 - outside - 0.005, 161)
    found = [one_example(float(p), outside) for p in at]
    readings: dict[Reading, Numbers] = {
        "mean": np.array([one.mean for one in found]),
        "min": np.array([one.least for one in found]),
        "weights": np.array([one.weighted for one in found]),
    }
    return at, readings


@dataclass(frozen=True, eq=False)
class Carousel:
    """Points of three classes on a circle, and a classifier that can only turn.

    Class j looks in the direction 120°·j; the classifier's logits are s·cos(φ − 120°·j − θ). At θ = 0 all of its
    directions are right, at θ = ±120° each points at the next class.

    Attributes
    ----------
    angles
        (n,) of the points, in radians.
    y
        (n,) true labels.
    candidates
        n candidate sets.
    """

    angles: Numbers
    y: npt.NDArray[np.int64]
    candidates: CandidateSets

    def logits(self, theta: npt.ArrayLike, sharpness: float) -> Numbers:
        """Return (t, n, 3) logits at the angles `theta` (t,), in degrees."""
        turned = self.angles[None, :, None] - np.atleast_1d(np.asarray(theta))[:, None, None] * DEGREE
        return sharpness * np.cos(turned - 2 * np.pi * np.arange(3) / 3)

    def risk(self, theta: npt.ArrayLike, sharpness: float, reading: Reading) -> Numbers:
        """Return the (t,) empirical risk at the angles `theta` (t,), in degrees.

        For `weights` this is −log Σ_{j∈S} g_j, whose gradient is, term by term, that of Σ_j w_ij ℓ_j with w from Eq.
        (norm) held fixed, as Algorithm 1 holds it: the curve that PRODEN descends. (Σ_j w_ij ℓ_j with weights that
        change with θ is another curve, which no method descends.)
        """
        logits = self.logits(theta, sharpness)
        losses = _losses(logits)
        mask = self.candidates.mask()
        costs: Numbers  # (t, n)
        if reading == "mean":
            costs = np.where(mask, losses, 0).sum(axis=2) / self.candidates.sizes
        elif reading == "min":
            costs = np.where(mask, losses, np.inf).min(axis=2)
        else:
            costs = -np.log(np.where(mask, np.exp(-losses), 0).sum(axis=2))
        return np.asarray(costs.mean(axis=1))

    def weights(self, theta: float, sharpness: float, reading: Reading) -> Numbers:
        """Return (n, 3) training weights at θ: uniform, one-hot on the least loss, or Eq. (norm)."""
        logits = self.logits(theta, sharpness)[0]
        if reading == "mean":
            return dense(self.candidates.uniform_weights(), self.candidates).astype(np.float64)
        label = dense(restricted_softmax(logits[self._at], self.candidates), self.candidates)
        if reading == "weights":
            return label.astype(np.float64)
        one_hot: Numbers = np.eye(3)[label.argmax(axis=1)]
        return one_hot

    def slope(self, theta: float, sharpness: float, reading: Reading) -> float:
        """Derivative of Σ_j w_ij ℓ_j by θ, a degree, with the weights w held fixed: the gradient of a training step."""
        logits = torch.from_numpy(self.logits(theta, sharpness)[0])
        scores = torch.softmax(logits, dim=1).numpy()
        # dz_j/dθ of s·cos(φ − 120°j − θ) is s·sin(φ − 120°j − θ); dℓ_j/dz = g − e_j, so the weighted sum gives g − w.
        turned = self.angles[:, None] - theta * DEGREE - 2 * np.pi * np.arange(3) / 3
        change = sharpness * np.sin(turned)
        by_logit = scores - self.weights(theta, sharpness, reading)
        return float((by_logit * change).sum(axis=1).mean() * DEGREE)

    def descend(self, start: float, sharpness: float, reading: Reading) -> Numbers:
        """Return (401,) the angles, in degrees in (−180, 180], on the way down from `start`."""
        way = [float(start)]
        for _ in range(400):
            # A step of at most 4° keeps descent descent, however steep the hill.
            move = np.clip(1500.0 / max(sharpness, 1.0) * self.slope(way[-1], sharpness, reading), -4.0, 4.0)
            way.append(wrapped(way[-1] - float(move)))
        return np.array(way)

    def right(self, theta: float, sharpness: float) -> float:
        """Share of points whose best candidate at θ is the true one."""
        label = np.where(self.candidates.mask(), self.logits(theta, sharpness)[0], -np.inf).argmax(axis=1)
        return float((label == self.y).mean())

    @cached_property
    def _at(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]:
        return self.candidates.rows, self.candidates.indices


def carousel(how: Literal["binomial", "pair"], q: float, *, n: int = 150, seed: int = 0) -> Carousel:
    """Return n points of three classes around their directions, with a standard deviation of 25 degrees."""
    generator = np.random.default_rng(seed)
    y = np.arange(n) % 3
    angles = 2 * np.pi * y / 3 + 25 * DEGREE * generator.normal(size=n)
    return Carousel(angles, y, (flip_binomial if how == "binomial" else flip_pair)(y, 3, q, seed))


@dataclass(frozen=True, eq=False)
class TwoObjectives:
    """Jin & Ghahramani's objective and PRODEN's for one example of two candidates, along the models g = (p, 1 − p).

    With the weights of an example as its prior, z = w, the cross-entropy Σ_j w_j·(−log g_j) is KL[z ‖ g] + H(z), and
    H(z) does not depend on the model: both are least at the same g, and have the same gradient (paper, supplement).

    Attributes
    ----------
    p
        (m,) what the model gives to the first candidate.
    cross_entropy
        (m,) Σ_j z_j ℓ(g, e^j).
    divergence
        (m,) KL[z ‖ g].
    entropy
        H(z), the distance between the two, the same everywhere.
    """

    p: Numbers
    cross_entropy: Numbers
    divergence: Numbers
    entropy: float


def two_objectives(z: float) -> TwoObjectives:
    """Both objectives along p, for an example whose weights are (z, 1 − z).

    Raises
    ------
    UserError
        a weight outside of [0, 1].

    Examples
    --------
    >>> found = two_objectives(0.25)
    >>> bool(np.ptp(found.cross_entropy - found.divergence) < 1e-12), float(found.p[found.divergence.argmin()])
    (True, 0.25)
    """
    if not 0 <= z <= 1:
        raise UserError(f"The weight is {z}; it must be from 0 to 1.")
    p = np.linspace(0, 1, 201)[1:-1]
    g = np.stack([p, 1 - p], axis=1)  # (m, 2)
    weights = np.array([z, 1 - z])
    cross_entropy = ce(torch.from_numpy(np.log(g))).numpy() @ weights
    divergence = sum(_xlogy(w, w / g[:, j]) for j, w in enumerate(weights))
    return TwoObjectives(p, cross_entropy, np.asarray(divergence), -sum(float(_xlogy(w, w)) for w in weights))


def _xlogy(x: float, y: npt.ArrayLike) -> Numbers:
    """x log y, 0 where x is 0."""
    return x * np.log(np.asarray(y)) if x > 0 else np.zeros(np.shape(y))


def wrapped(theta: float) -> float:
    """An angle in degrees, in (−180, 180].

    Examples
    --------
    >>> wrapped(190.0), wrapped(-180.0), wrapped(30.0)
    (-170.0, 180.0, 30.0)
    """
    return 180.0 - (180.0 - theta) % 360.0


def valleys(risk: Numbers) -> npt.NDArray[np.int64]:
    """Places of the local minima of a risk given on a closed circle of angles (the ends are neighbours).

    Examples
    --------
    >>> valleys(np.array([1.0, 0.0, 2.0, 1.5, 3.0])).tolist()
    [1, 3]
    """
    level = risk.round(9)  # a flat risk has no valleys, only rounding errors
    return np.flatnonzero((level < np.roll(level, 1)) & (level <= np.roll(level, -1)))


def _losses(logits: Numbers) -> Numbers:
    """Cross-entropy of every label, (…, c) → (…, c), by the loss that training uses."""
    flat = torch.from_numpy(np.ascontiguousarray(logits.reshape(-1, logits.shape[-1])))
    return ce(flat).numpy().reshape(logits.shape)

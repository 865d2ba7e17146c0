"""Two-dimensional toy data: points with candidate sets that can be edited, and training on them, epoch by epoch.

Nothing here trains by itself: `toy_history` runs the methods of `pll.methods` and keeps what they did, so that a
figure can show the boundary move.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

from pll.analysis.trace import SlowStep, slow_step
from pll.candidates import CandidateSets
from pll.errors import UserError
from pll.methods import METHODS
from pll.methods.base import Task
from pll.methods.deep import DeepEstimator
from pll.synthesis import flip_binomial
from pll.weights import Weights, identified_labels

CLASSES = ("A", "B", "C")
FEWEST, MOST = 3, 150
"""Minimum and maximum number of points: more would make retraining slow."""

EPOCHS = 60
LEARNING_RATES = (0.05, 0.2, 0.5)
LR = 0.5
"""Training settings: one step per epoch and sixty epochs, which needs a large learning rate."""


@dataclass(frozen=True, eq=False)
class Toy:
    """Points in the square [−1, 1]², their true labels and their candidate sets.

    Parameters
    ----------
    points
        (n, 2) float32 in [−1, 1].
    y
        (n,) int64 true labels.
    candidates
        n candidate sets.

    Raises
    ------
    UserError
        Too few or too many points, or arrays that do not fit.
    """

    points: npt.NDArray[np.float32]
    y: npt.NDArray[np.int64]
    candidates: CandidateSets

    def __post_init__(self) -> None:
        points = np.clip(np.asarray(self.points, dtype=np.float32), -1, 1)
        object.__setattr__(self, "points", points)
        object.__setattr__(self, "y", np.asarray(self.y, dtype=np.int64))
        n = len(points)
        if points.shape != (n, 2) or len(self.y) != n or len(self.candidates) != n:
            raise UserError(f"The toy needs (n, 2) points, n labels and n candidate sets; n is {n} by its points.")
        if not np.isfinite(points).all():
            raise UserError("A point of the toy has no place: its coordinates are not numbers.")
        if not FEWEST <= n <= MOST:
            raise UserError(f"The toy has {FEWEST} to {MOST} points; {n} is outside of that.")

    def __len__(self) -> int:
        return len(self.points)

    @property
    def key(self) -> tuple[bytes, bytes, bytes, bytes]:
        """Key that is equal for equal toys."""
        sets = self.candidates
        return self.points.tobytes(), self.y.tobytes(), sets.indptr.tobytes(), sets.indices.tobytes()

    @property
    def truth_missing(self) -> int:
        """How many sets do not hold their true label: the paper's Eq. (keydef) forbids it."""
        return int((~self.candidates.contains(self.y)).sum())

    # ---- what a reader may do: each gives a new toy ------------------------------------------------------------------

    def moved(self, i: int, x: float, y: float) -> Toy:
        """Return the toy with point i moved; its labels stay."""
        points = self.points.copy()
        points[self._checked(i)] = (x, y)
        return replace(self, points=points)

    def added(self, x: float, y: float, label: int, candidates: Iterable[int]) -> Toy:
        """Return the toy with another point (x, y) at the end, of true class `label`."""
        points = np.append(self.points, np.array([[x, y]], dtype=np.float32), axis=0)
        return Toy(points, np.append(self.y, label), self._sets([*self._lists(), candidates]))

    def without(self, i: int) -> Toy:
        """Return the toy without point i.

        Raises
        ------
        UserError
            Fewer than `FEWEST` points would be left.
        """
        i = self._checked(i)
        rows = np.delete(np.arange(len(self)), i)
        if len(rows) < FEWEST:
            raise UserError(f"The toy keeps at least {FEWEST} points.")
        return Toy(self.points[rows], self.y[rows], self.candidates.take(rows))

    def with_set(self, i: int, candidates: Iterable[int]) -> Toy:
        """Return the toy with other candidates of point i."""
        lists = self._lists()
        lists[self._checked(i)] = list(candidates)
        return replace(self, candidates=self._sets(lists))

    def flipped(self, q: float, seed: int) -> Toy:
        """Return the toy with new candidate sets: each wrong label enters with probability q."""
        return replace(self, candidates=flip_binomial(self.y, len(CLASSES), q, seed, CLASSES))

    def _checked(self, i: int) -> int:
        if not 0 <= i < len(self):
            raise UserError(f"There is no point {i}; the points run from 0 to {len(self) - 1}.")
        return i

    def _lists(self) -> list[list[int]]:
        return [self.candidates[i].tolist() for i in range(len(self))]

    def _sets(self, lists: Iterable[Iterable[int]]) -> CandidateSets:
        return CandidateSets.from_lists(lists, len(CLASSES), CLASSES)


def three_clouds(n: int = 60, q: float = 0.5, seed: int = 0) -> Toy:
    """Return three Gaussian clouds around the centre, one per class, with candidates by binomial flipping.

    Examples
    --------
    >>> toy = three_clouds(9)
    >>> len(toy), toy.y.tolist(), toy.truth_missing
    (9, [0, 1, 2, 0, 1, 2, 0, 1, 2], 0)
    """
    generator = np.random.default_rng(seed)
    y = np.arange(n) % len(CLASSES)
    angle = np.pi / 2 - 2 * np.pi * y / len(CLASSES)  # A at the top, then clockwise
    centres = 0.55 * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    points = (centres + 0.2 * generator.normal(size=(n, 2))).astype(np.float32)
    return Toy(points, y, flip_binomial(y, len(CLASSES), q, seed, CLASSES))


def drawn_set(label: int, q: float, seed: int) -> list[int]:
    """Draw the candidate set of a new point like all the others."""
    labels: list[int] = flip_binomial([label], len(CLASSES), q, seed)[0].tolist()
    return labels


@dataclass(frozen=True, eq=False)
class ToyHistory:
    """Training history of one method on a toy. Frame 0 is before training, frame t after epoch t (one step each).

    Attributes
    ----------
    method
        a name of `METHODS`.
    planes
        (T+1, c, 3) float32; the logit of class j at (x, y) is planes[t, j] · (x, y, 1).
    weights
        (T+1, nnz) float32 label weights, aligned with the toy's candidates.
    identified
        (T+1, n) int64 identified labels; in frame 0, where all weights are alike, the first candidates.
    loss
        (T,) mean loss of each epoch.
    right
        (T+1,) share of the points whose identified label is the true one.
    confidence
        (T+1,) mean top weight.
    """

    method: str
    planes: npt.NDArray[np.float32]
    weights: npt.NDArray[np.float32]
    identified: npt.NDArray[np.int64]
    loss: npt.NDArray[np.float64]
    right: npt.NDArray[np.float64]
    confidence: npt.NDArray[np.float64]

    @property
    def epochs(self) -> int:
        """Number of epochs, T."""
        return len(self.planes) - 1


def toy_history(toy: Toy, method: str = "proden", *, epochs: int = EPOCHS, seed: int = 0, lr: float = LR) -> ToyHistory:
    """Train a linear model on the toy and store every epoch.

    Parameters
    ----------
    method
        One of the deep methods; the oracle is given the truth.
    seed
        Fixes the initial parameters, which all methods share.

    Raises
    ------
    UserError
        No such method, or a training that diverges.
    """
    estimator = _estimator(method, epochs, seed, lr)
    task = Task(toy.points, toy.candidates, toy.y)
    planes: list[npt.NDArray[np.float32]] = []

    def before() -> None:
        if not planes:
            planes.append(_planes(estimator))

    weights: list[Weights] = [toy.candidates.uniform_weights()]
    identified = [identified_labels(weights[0], toy.candidates)]
    losses, confidence = [], [float((1 / toy.candidates.sizes).mean())]
    for record in estimator.iter_fit(task, hook=before):
        planes.append(_planes(estimator))
        weights.append(record.label_weights)
        losses.append(record.loss or 0.0)
        identified.append(record.identified)
        confidence.append(record.mean_confidence)
    labels = np.stack(identified)
    return ToyHistory(
        method,
        np.stack(planes),
        np.stack(weights),
        labels,
        np.array(losses),
        (labels == toy.y).mean(axis=1),
        np.array(confidence),
    )


def next_step(toy: Toy, example: int, after: int, method: str = "proden", *, seed: int = 0, lr: float = LR) -> SlowStep:
    """Return the quantities of one point in the step that follows epoch `after` of `toy_history`.

    Raises
    ------
    UserError
        As `toy_history`, or no such point.
    """
    toy._checked(example)
    estimator = _estimator(method, max(after, 1) + 1, seed, lr)
    found: list[SlowStep] = []

    def look() -> None:  # called before every mini-batch, and there is one an epoch
        assert estimator.trainer is not None
        if estimator.trainer.epoch == after:
            found.append(slow_step(estimator.trainer, toy.candidates, example))

    for _ in estimator.iter_fit(Task(toy.points, toy.candidates, toy.y), hook=look):
        if found:
            break
    estimator.release()
    return found[0]


def from_many_starts(
    toy: Toy, methods: Iterable[str], starts: int = 10, *, lr: float = LR
) -> dict[str, npt.NDArray[np.float64]]:
    """Return, by method, the (starts,) shares identified right by the final model; all methods have the same starts."""
    task = Task(toy.points, toy.candidates, toy.y)
    found = {}
    for method in methods:
        shares = []
        for seed in range(starts):
            estimator = _estimator(method, EPOCHS, seed, lr)
            for record in estimator.iter_fit(task):
                share = record.transductive_accuracy
            shares.append(share or 0.0)
        found[method] = np.array(shares)
    return found


def _estimator(method: str, epochs: int, seed: int, lr: float) -> DeepEstimator:
    if method not in METHODS or not issubclass(METHODS[method], DeepEstimator):
        raise UserError(f"The toy shows methods trained by gradient descent; {method!r} is none of them.")
    return METHODS[method](
        model=_linear, epochs=epochs, batch_size=MOST, lr=lr, weight_decay=0.0, scale="none", device="cpu", seed=seed
    )


def _linear(input_shape: tuple[int, ...], n_classes: int) -> nn.Module:
    return nn.Linear(input_shape[0], n_classes)


def _planes(estimator: DeepEstimator) -> npt.NDArray[np.float32]:
    """Return (c, 3): weights and bias of each class, as a copy."""
    assert estimator.trainer is not None
    layer = estimator.trainer.network
    assert isinstance(layer, nn.Linear)
    with torch.no_grad():
        return torch.cat([layer.weight, layer.bias[:, None]], dim=1).cpu().numpy().copy()

"""What every method has in common: one estimator interface, scikit-learn manners, rounds that can be watched."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from torch import nn

from pll.candidates import CandidateSets, whole_numbers
from pll.dataset import UNKNOWN
from pll.errors import UserError
from pll.io import check_finite, feature_array
from pll.training.metrics import EpochRecord, Hook, Monitor, TrainingProgress
from pll.weights import Weights, identified_labels

Features = npt.NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Task:
    """What a method is given: training examples, and what its progress is measured against.

    Args:
        X: (n, d) or (n, C, H, W) float32, raw features.
        candidates: n candidate sets.
        y: (n,) true labels, −1 where unknown. Measured against, never learnt from, except by pn-oracle.
        X_test, y_test: unseen examples and their true labels.
    """

    X: Features
    candidates: CandidateSets
    y: npt.NDArray[np.int64] | None = None
    X_test: Features | None = None
    y_test: npt.NDArray[np.int64] | None = None


class PartialLabelEstimator(BaseEstimator):
    """A method of partial-label learning.

    `fit` runs `rounds` to its end; a page or a shell that wants to watch, pause or stop iterates `rounds` itself.
    A round is an epoch for methods trained by gradient descent, an iteration for the others.

    Attributes:
        label_weights_: (nnz,) float32, aligned with the candidates it was fitted on.
        candidates_: those candidates.
        class_names_: c names.
        input_shape_: shape of one example, (d,) or (C, H, W).
    """

    title: ClassVar[str]
    """The method's name as people write it."""
    summary: ClassVar[str]
    """Two lines that explain the method to who has to choose."""
    needs_truth: ClassVar[bool] = False
    """Whether it learns from the true labels (the oracle does)."""

    label_weights_: Weights
    candidates_: CandidateSets
    class_names_: tuple[str, ...]
    input_shape_: tuple[int, ...]
    missing: str
    stage_: str = ""
    """What it is at between two records ("neighbours of 3,072 of 5,000 examples"); "" inside ordinary rounds."""
    notes_: tuple[str, ...] = ()
    """What had to be done that the original does not, in words for a page."""
    _monitor: Monitor | None = None

    # ---- what a method provides ------------------------------------------------------------------------------

    @abstractmethod
    def rounds(
        self, task: Task, *, hook: Hook | None = None, checkpoint: dict[str, Any] | None = None
    ) -> Iterator[EpochRecord]:
        """Learn, yielding a record a round; `label_weights_` is set when the last one is yielded.

        Args:
            task: the data, as `validated` returns it.
            hook: called between mini-batches (or units of work); may wait, may raise `StopTraining`.
            checkpoint: what `checkpoint()` gave, to go on from there to the same result; the first record is that of
                the round after `checkpoint["epoch"]`.
        """

    @abstractmethod
    def total_rounds(self) -> int:
        """How many records `rounds` yields from the start."""

    @abstractmethod
    def checkpoint(self) -> dict[str, Any]:
        """Tensors and numbers from which `rounds` goes on; valid between records and after a stop.

        Its `"epoch"` is the last complete round; 0 means that the method starts again.
        """

    def moment(self) -> TrainingProgress | None:
        """Where it stands within a round; to be called while `rounds` waits in its hook. None where it has no such."""
        return None

    @abstractmethod
    def finish(self) -> Weights:
        """After a stop: make what has been learnt so far the result, and return its label weights."""

    def warm_start(self, arrays: dict[str, npt.NDArray[Any]]) -> bool:
        """Have the next `rounds` begin from a model fitted before, where the method can; False where it cannot.

        Args:
            arrays: `fitted_arrays()` of an estimator with the same settings, fitted on the same features and classes.
        """
        return False

    @abstractmethod
    def release(self) -> None:
        """Let go of everything that only training needs (device memory above all); the fitted model stays."""

    @abstractmethod
    def fitted_arrays(self) -> dict[str, npt.NDArray[Any]]:
        """What prediction needs, by name; saved as safetensors."""

    @abstractmethod
    def restore(
        self, arrays: dict[str, npt.NDArray[Any]], input_shape: tuple[int, ...], class_names: tuple[str, ...]
    ) -> Self:
        """Make this unfitted estimator predict as the one whose `fitted_arrays` these are."""

    def module(self) -> nn.Module | None:
        """The fitted model as a torch module, raw features (B, …) → logits (B, c); None where it cannot be one."""
        return None

    @abstractmethod
    def predict_scores(self, X: npt.ArrayLike) -> npt.NDArray[np.float32]:
        """(n, c) scores; the predicted label is the argmax of a row."""

    @classmethod
    def doubts(cls, candidates: CandidateSets) -> tuple[str, ...]:
        """Why these candidate sets are not what the method takes for granted, in words; empty where all is well."""
        return ()

    # ---- what follows from it --------------------------------------------------------------------------------

    def fit(self, X: npt.ArrayLike, candidates: CandidateSets, y: npt.ArrayLike | None = None) -> Self:
        """Learn from candidate sets.

        Args:
            X: (n, d) or (n, C, H, W), converted to float32. Finite.
            candidates: n candidate sets.
            y: (n,) true labels; only pn-oracle takes them.

        Raises:
            UserError: data that nothing can be learnt from, or settings that do not exist.
        """
        if y is not None and not self.needs_truth:
            raise UserError(f"{self.title} learns from candidate sets alone; call fit(X, candidates).")
        truth = None if y is None else whole_numbers(y, "true labels")
        for _ in self.rounds(Task(feature_array(X), candidates, truth)):
            pass
        return self

    def predict(self, X: npt.ArrayLike) -> npt.NDArray[np.int64]:
        """(n,) predicted class index: argmax over all classes."""
        return self.predict_scores(X).argmax(axis=1).astype(np.int64)

    @abstractmethod
    def predict_proba(self, X: npt.ArrayLike) -> npt.NDArray[np.float32]:
        """(n, c) class probabilities; rows sum to 1."""

    def identify(self) -> npt.NDArray[np.int64]:
        """(n,) identified label of each training example: argmax over S_i of the label weights."""
        self.check_fitted()
        if not hasattr(self, "label_weights_"):
            raise NotFittedError("A restored model does not know its training examples; use predict(X).")
        return identified_labels(self.label_weights_, self.candidates_)

    def label_changes(self) -> npt.NDArray[np.int64] | None:
        """(n,) how often each identified label has changed so far; None before the first round."""
        return None if self._monitor is None else self._monitor.changes

    def check_fitted(self) -> None:
        """Raises NotFittedError before `fit` or `restore`."""
        if not hasattr(self, "class_names_"):
            raise NotFittedError(f"This {type(self).__name__} is not fitted yet; call fit(X, candidates) first.")

    def checked_features(self, X: npt.ArrayLike) -> Features:
        """Features to predict from, in their normal form.

        Raises:
            NotFittedError: before `fit` or `restore`.
            UserError: not the shape it was fitted on, or not finite.
        """
        self.check_fitted()
        features = as_features(X, allow_missing=self.missing == "mean")
        if features.shape[1:] != self.input_shape_:  # (n, 1) would broadcast against the scaling, and look right
            raise UserError(
                f"These examples have shape {features.shape[1:]}; the model was fitted on {self.input_shape_}."
            )
        return features


def validated(task: Task, *, allow_missing: bool = False) -> Task:
    """The task in its normal form.

    Raises:
        UserError: fewer than two examples or classes, no features, lengths that do not fit, features that are not
            finite, true labels out of range.
    """
    if not isinstance(task.candidates, CandidateSets):
        raise UserError("The candidates must be CandidateSets; make them with CandidateSets.from_lists or .from_mask.")
    X = as_features(task.X, allow_missing=allow_missing)
    if len(X) != len(task.candidates):
        raise UserError(f"There are {len(X)} rows of features but {len(task.candidates)} candidate sets.")
    if len(X) < 2:
        raise UserError(f"There is {'one example' if len(X) else 'no example'}; at least 2 are needed to learn.")
    if task.candidates.n_classes < 2:
        raise UserError("There is one class; there is nothing to tell apart. Bring at least two classes.")
    if X[0].size == 0:
        raise UserError("The examples have no features; there is nothing to learn from.")
    c = task.candidates.n_classes
    y = None if task.y is None else _checked_truth(task.y, len(X), c, "")
    X_test = None if task.X_test is None else as_features(task.X_test, allow_missing=allow_missing)
    if X_test is not None and X_test.shape[1:] != X.shape[1:]:
        raise UserError(
            f"Training examples have shape {X.shape[1:]} but test examples {X_test.shape[1:]}; they must agree."
        )
    y_test = None
    if X_test is not None and task.y_test is not None:
        y_test = _checked_truth(task.y_test, len(X_test), c, "test ")
    return Task(X, task.candidates, y, X_test, y_test)


def as_features(X: npt.ArrayLike, *, allow_missing: bool = False) -> Features:
    """X as float32 of two or four dimensions, without infinite (and, unless allowed, missing) values."""
    array = feature_array(X)
    check_finite(array, allow_missing=allow_missing)
    return array


def _checked_truth(y: npt.ArrayLike, n: int, n_classes: int, part: str) -> npt.NDArray[np.int64]:
    truth = np.ascontiguousarray(whole_numbers(y, f"true {part}labels"), dtype=np.int64)
    if len(truth) != n:
        raise UserError(f"There are {n} rows of {part}features but {len(truth)} true {part}labels.")
    outside = np.flatnonzero((truth < UNKNOWN) | (truth >= n_classes))
    if len(outside):
        row = int(outside[0])
        raise UserError(
            f"Row {row}: the true {part}label {truth[row]} is unknown; labels run from 0 to {n_classes - 1}."
        )
    return truth

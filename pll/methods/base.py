"""Interface of all methods: scikit-learn classifier for candidate sets, its settings and checks of its input."""

from __future__ import annotations

import inspect
import math
import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
import pandas as pd
import scipy
import torch
from scipy.special import softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils import Tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import assert_all_finite, column_or_1d, validate_data
from torch import Tensor, nn

from pll.annotations.data import Annotations
from pll.candidates import CandidateSets, as_candidate_sets, as_name_lists, whole_numbers, with_sets
from pll.dataset import UNKNOWN
from pll.errors import RowError, UserError, unknown
from pll.io import Arrays, check_finite, check_lengths, feature_array, on_cpu, taken
from pll.methods.aggregation import aggregate, union_of
from pll.methods.chosen import Recipe
from pll.methods.model_selection import covering_rate_scorer
from pll.methods.names import CLASS_TITLES
from pll.training.distributed import Ranks
from pll.training.metrics import EpochRecord, Hook, TrainingProgress
from pll.weights import DECISIONS, ChangedSets, HasChanges, Ints, Weights, checked_prior, identified_labels

Features = npt.NDArray[np.float32]
Labels = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class Task(HasChanges):
    """Training data of a method, and the labels that its progress is measured with, in their normal forms.

    Parameters
    ----------
    X
        (n, d) or (n, C, H, W) float32, raw features.
    candidates
        n candidate sets.
    y
        (n,) true labels, −1 where unknown. Used to measure the accuracy; only pn-oracle learns from them.
    X_test, y_test
        Unseen examples and their true labels.
    prior
        (nnz,) prior of the candidates, aligned with `candidates.indices`; see `pll.weights.checked_prior`. Only methods
        with `takes_prior` use it.
    votes
        The votes that the candidates were made of. Only methods with `takes_votes` use them.
    changes
        How the candidates came of the sets of the data, the first change first. What people decided is what voters are
        measured by, and what a method with `adds_labels` learns from; labels that a method adds (`grown`) are a
        change too.
    kind
        `"text"` where the features were made of texts alone, which default settings look at; else `""`.
    sample_weight
        (n,) float32 with mean 1, how much each example counts. Only methods trained by gradient descent use it.
    """

    X: Features = field(metadata={"rows": "rows of features"})
    candidates: CandidateSets = field(metadata={"rows": "candidate sets"})
    y: Ints | None = field(default=None, metadata={"rows": "true labels"})
    X_test: Features | None = None
    y_test: Ints | None = None
    prior: Weights | None = field(default=None, metadata={"candidates": "priors"})
    votes: Annotations | None = field(default=None, metadata={"rows": "annotated examples"})
    changes: tuple[ChangedSets, ...] = field(default=(), metadata={"rows": "changed candidate sets"})
    kind: str = ""
    sample_weight: npt.NDArray[np.float32] | None = field(default=None, metadata={"rows": "weights of examples"})

    def __post_init__(self) -> None:
        if not isinstance(self.candidates, CandidateSets):
            raise UserError(
                "The candidates must be CandidateSets; make them with CandidateSets.from_lists or .from_mask."
            )
        set_field = object.__setattr__  # the class is frozen; these are its normal forms
        set_field(self, "X", as_features(self.X, allow_missing=True))
        check_lengths(self, len(self.X))
        c = self.candidates.n_classes
        if self.y is not None:
            set_field(self, "y", _checked_truth(self.y, c, ""))
        if self.X_test is not None:
            set_field(self, "X_test", as_features(self.X_test, allow_missing=True))
            if self.X_test.shape[1:] != self.X.shape[1:]:
                raise UserError(
                    f"Training examples have shape {self.X.shape[1:]} but test examples {self.X_test.shape[1:]}; they "
                    "must agree."
                )
            if self.y_test is not None:
                if len(self.y_test) != len(self.X_test):
                    raise UserError(
                        f"There are {len(self.X_test)} rows of test features but {len(self.y_test)} true test labels."
                    )
                set_field(self, "y_test", _checked_truth(self.y_test, c, "test "))
        if self.prior is not None:
            set_field(self, "prior", checked_prior(self.prior, self.candidates))
        if self.votes is not None and self.votes.n_classes != c:
            raise UserError(
                f"The votes are of {self.votes.n_classes} classes, the candidate sets of {c}; they must agree."
            )
        if self.changes and self.changes[-1].candidates != self.candidates:
            raise UserError("The candidate sets are other than those that the changes led to.")

    def take(self, rows: Ints) -> Task:
        """Return the task of some training examples; `rows` are (m,) indices."""
        return replace(self, **taken(self, rows))

    def changed(self, change: ChangedSets) -> Task:
        """Return the task with changed candidate sets and their prior."""
        prior, changes = change.prior_after(self.prior), (*self.changes, change)
        return replace(self, candidates=change.candidates, prior=prior, changes=changes)


@dataclass(frozen=True, eq=False)
class Start:
    """What a fit starts from. A method takes what it can, and leaves the rest.

    Parameters
    ----------
    recipe
        Settings that were chosen before; None lets the method's recipe choose them.
    ranks
        The processes that train together, of which this one is rank 0; the others `follow`.
    arrays
        `fitted_arrays()` of an estimator with the same settings, fitted on the same features and classes: training
        goes on from that model (`warm_starts`).
    checkpoint
        What `checkpoint()` returned: training goes on from there to the same result.
    """

    recipe: Recipe | None = None
    ranks: Ranks | None = None
    arrays: Arrays | None = None
    checkpoint: Mapping[str, Any] | None = None


AFRESH = Start()
"""From the data alone."""


class PartialLabelEstimator(ClassifierMixin, BaseEstimator, ABC):
    """Base class of the methods: a scikit-learn classifier for partial labels.

    `fit` runs `iter_fit` to its end; a page or a shell that shows, pauses or stops the training iterates over
    `iter_fit` itself. It yields once per epoch; for methods without gradient descent an epoch is one iteration.

    Attributes
    ----------
    classes_
        (c,) the labels that `predict` returns.
    n_features_in_
        Number of features of an example: d, or C·H·W.
    feature_names_in_
        (d,) column names, where it was fitted on a data frame.
    label_weights_
        (nnz,) float32, aligned with `candidates_.indices`.
    candidates_
        The candidate sets it was fitted on, with the labels that the method added to them.
    class_names_
        c names.
    input_shape_
        Shape of one example, (d,) or (C, H, W).
    """

    title: ClassVar[str]
    """Name of the method for display; that of a registered one stands in `pll.methods.names`."""
    summary: ClassVar[str]
    """Description of the method in at most two lines."""
    rule: str = ""
    """What the method does with its weights, as a clause of the verdict on a comparison; "" for nothing to say."""
    needs_truth: ClassVar[bool] = False
    """Whether the method learns from the true labels (pn-oracle only)."""
    takes_prior: ClassVar[bool] = False
    """Whether the method uses a prior of the candidates."""
    takes_votes: ClassVar[bool] = False
    """Whether the method takes votes themselves; with `takes_prior` a method learns from them through a prior."""
    adds_labels: ClassVar[bool] = False
    """Whether the method may add labels to candidate sets (`grown`), and learns from known labels what sets miss."""
    needs_features: ClassVar[bool] = True
    """Whether the method learns from features."""
    warm_starts: ClassVar[bool] = False
    """Whether training can go on from a model fitted before (`Start.arrays`)."""
    in_ranks: ClassVar[bool] = False
    """Whether several processes can train it together, each with a part of the examples and their weights."""

    feature_names_in_: npt.NDArray[np.object_]
    label_weights_: Weights
    candidates_: CandidateSets
    class_names_: tuple[str, ...]
    input_shape_: tuple[int, ...]
    missing: str
    seed: int
    given: frozenset[str] = frozenset()
    """Settings that were given by hand, also where they equal their default: no recipe changes them."""
    temperatures_: tuple[float, ...] = ()
    """Temperatures that are as likely as each other for models with these settings, by examples that they had not seen
    (`pll.methods.held_out`): the mean of the probabilities at them says how sure those of unseen examples are; () where
    that is not known."""
    stage_: str = ""
    """Current work between two records ("neighbours of 3,072 of 5,000 examples"); "" within ordinary epochs."""
    notes_: tuple[str, ...] = ()
    """Deviations from the original method, as sentences for a page."""
    class_values_: Labels | None = None
    """(c,) the sorted labels or names, where the latest `fit` got such; None where classes are indices."""
    _declared: ClassVar[Mapping[str, Setting]] = {}
    """The settings that classes declare with `setting`."""

    _training_state: ClassVar[tuple[str, ...]] = ("_trainer", "_monitor", "_memo")
    """Attributes that only training needs; `fit` deletes them and pickles leave them out."""

    def __init_subclass__(cls, **more: Any) -> None:
        if "title" not in vars(cls) and cls.__name__ in CLASS_TITLES:
            cls.title = CLASS_TITLES[cls.__name__]
        own = {name: value for name, value in vars(cls).items() if isinstance(value, Setting)}
        for name in own:
            delattr(cls, name)  # an instance has them from `__init__`
        if own:
            new = {name: one for name, one in own.items() if name not in cls._declared}  # shown before the inherited
            cls._declared = new | dict(cls._declared) | own
            changed: Any = cls  # for a type checker no class ever changes
            changed.__init__ = _init_of(cls._declared)
        super().__init_subclass__(**more)

    # ---- what a method provides ------------------------------------------------------------------------------

    @abstractmethod
    def iter_fit(self, task: Task, *, hook: Hook | None = None, start: Start = AFRESH) -> Iterator[EpochRecord]:
        """Train, yielding one record per epoch; `label_weights_` is set when the last one is yielded.

        Parameters
        ----------
        task
            The data.
        hook
            Called between mini-batches (or units of work); may wait, may raise `StopTraining`.
        start
            What training starts from. With a checkpoint the first record is that of the epoch after
            `checkpoint["epoch"]`.

        Raises
        ------
        UserError
            A setting out of range, or data that the method cannot learn from.
        """

    @abstractmethod
    def total_epochs(self) -> int:
        """Return the number of records that `iter_fit` yields at most, from the start."""

    def checkpoint(self) -> dict[str, Any]:
        """Return tensors and numbers from which `iter_fit` can continue; valid between records and after a stop.

        Its `"epoch"` is the last complete epoch; 0 means that the method starts again, as quick ones do.
        """
        return {"epoch": 0}

    def grown(self, task: Task, *, hook: Hook | None = None) -> Task:
        """Return the task with the labels that the method adds to its candidate sets before it trains.

        `iter_fit` does this itself with a task that has not been grown; a run does it before, to store what was added.

        Parameters
        ----------
        task
            The training data.
        hook
            Called between units of work; may wait, may raise `StopTraining`.
        """
        return task

    def moment(self) -> TrainingProgress | None:
        """Return the progress within an epoch, while `iter_fit` waits in its hook; None where it is not reported."""
        return None

    def finish(self) -> Weights:
        """After a stop: keep the current model as the result and return its (nnz,) label weights."""
        return self.label_weights_

    def release(self) -> None:
        """Free everything that only training needs (device memory above all); the fitted model stays, on the CPU."""
        self._forget_training()

    def _forget_training(self) -> None:
        for name in self._training_state:
            self.__dict__.pop(name, None)

    @abstractmethod
    def fitted_arrays(self) -> Arrays:
        """Return the arrays that prediction needs, by name; they are saved as safetensors."""

    def restore(self, arrays: Arrays, input_shape: tuple[int, ...], class_names: tuple[str, ...]) -> Self:
        """Set the fitted state from arrays of another estimator.

        Parameters
        ----------
        arrays
            What its `fitted_arrays` returned.
        input_shape
            Of one example, (d,) or (C, H, W).
        class_names
            c names.

        Returns
        -------
        Self
            The estimator itself.
        """
        self.class_names_, self.input_shape_ = class_names, tuple(input_shape)
        self._load({name: torch.from_numpy(np.array(array)) for name, array in arrays.items()})
        return self

    @abstractmethod
    def _load(self, tensors: dict[str, Tensor]) -> None:
        """Set what prediction needs from `fitted_arrays` as tensors; names of classes and the shape are set before."""

    def fitted_params(self) -> dict[str, Any]:
        """Return the parameters with which `restore` rebuilds the fitted model."""
        return dict(self.get_params(deep=False))

    def module(self) -> nn.Module | None:
        """Return the fitted model as a torch module, raw features (B, …) → logits (B, c); None where it is not one."""
        return None

    @abstractmethod
    def _scores_in_parts(self, X: Features) -> Iterator[npt.NDArray[np.float32]]:
        """Yield the (b, c) scores of consecutive rows of X; few rows at a time where the method can."""

    def _probabilities(self, scores: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """Return (b, c) class probabilities of scores: their softmax, where the method has no other."""
        return np.asarray(softmax(scores, axis=1))

    @classmethod
    def doubts(cls, candidates: CandidateSets) -> tuple[str, ...]:
        """Return warnings about candidate sets that break an assumption of the method; empty where there are none."""
        return ()

    # ---- what follows from it --------------------------------------------------------------------------------

    def fit(
        self,
        X: npt.ArrayLike,
        y: Any,
        *,
        truth: npt.ArrayLike | None = None,
        prior: npt.ArrayLike | None = None,
        votes: npt.ArrayLike | Annotations | None = None,
    ) -> Self:
        """Learn from candidate sets or labels.

        Parameters
        ----------
        X
            (n, d) or (n, C, H, W), converted to float32. Finite. A sparse matrix is made dense.
        y
            Candidate sets or labels, in one of these forms:

            - `CandidateSets`;
            - a boolean or 0/1 array or data frame (n, c);
            - a list of n lists of class indices; the highest index + 1 is the number of classes;
            - a list of n lists of class names (text), which `predict` then returns;
            - a SciPy sparse (n, c) matrix;
            - (n,) labels of any kind: numbers or text. Every set then has one label.
        truth
            (n,) true class indices; pn-oracle needs them (unless `y` is labels). PRODEN-outside takes those that are
            known, −1 elsewhere (controls, decisions of a review), and learns from them what sets miss. No other method
            takes them.
        prior
            (nnz,) prior of the candidates, at least 0, aligned with `CandidateSets.indices`; normalised on each set.
            Label weights start from it, and are w_ij ∝ prior_ij · g_j(x_i) on S_i; a uniform prior changes nothing.
            Gradient methods, IPAL and SURE use it.
        votes
            (n, m) whole numbers, a column for each voter: class indices, −1 for no answer; or `Annotations`. `y` is
            then None or the candidate sets. Methods that take a prior learn from them through voter models fitted
            together with a classifier (`pll.methods.aggregation`); `candidates_` are the labels named, and likely ones
            that nobody named. With `y` given its sets stay as they are. Majority vote and Dawid-Skene take labels from
            the votes alone.

        Returns
        -------
        Self
            The estimator itself.

        Raises
        ------
        UserError
            Invalid data or settings, or an argument that the method does not use.
        """
        return self._fit(*self._task(X, y, truth, prior, votes))

    def _fit(self, task: Task, labels: Labels | None) -> Self:
        for _ in self.iter_fit(task):
            pass
        self.class_values_ = labels
        self._forget_training()
        return self

    def _task(
        self,
        X: npt.ArrayLike,
        y: Any,
        truth: npt.ArrayLike | None,
        prior: npt.ArrayLike | None,
        votes: npt.ArrayLike | Annotations | None,
    ) -> tuple[Task, Labels | None]:
        """Return the training data of these arguments of `fit`, and the labels that `predict` returns members of."""
        uses_votes = self.takes_votes or self.takes_prior
        for name, value, is_used in (("prior", prior, self.takes_prior), ("votes", votes, uses_votes)):
            if value is not None and not is_used:
                raise UserError(f"{self.title} does not use {name}; leave {name}= out.")
        if prior is not None and votes is not None:
            raise UserError("A prior and votes are given, but votes make the prior; leave one of them out.")
        if truth is not None and not (self.needs_truth or self.adds_labels):
            raise UserError(f"{self.title} learns from candidate sets alone; leave truth= out.")
        if y is None and votes is None:
            raise UserError(f"{type(self).__name__} requires y to be passed, but the target y is None.")
        features = self._features(X, reset=True)
        annotations = None if votes is None else as_votes(votes, y)
        if annotations is not None and annotations.n_rows != len(features):
            raise UserError(f"There are {len(features)} rows of features but {annotations.n_rows} of votes.")
        candidates, labels = _targets(y) if annotations is None or y is not None else (union_of(annotations), None)
        if labels is not None and self.needs_truth:
            if truth is not None:
                raise UserError("y holds the labels already; leave truth= out, or give candidate sets as y.")
            truth = candidates.indices
        known = None if self.adds_labels else truth
        task = Task(features, candidates, known, prior=prior, votes=annotations)  # type: ignore[arg-type]  # any form
        if annotations is not None and not self.takes_votes:
            made = aggregate(features, annotations, seed=self.seed)
            sets = made.candidates if y is None else candidates
            task = replace(task, candidates=sets, prior=made.prior_on(sets))
        return _with_decided(task, truth, self.seed) if truth is not None and self.adds_labels else task, labels

    @property
    def classes_(self) -> Labels:
        """(c,) what `predict` returns members of: the labels or names it was fitted on, sorted, or 0 … c−1.

        Raises
        ------
        NotFittedError
            Before `fit` or `restore`.
        """
        self.check_fitted()
        return np.arange(len(self.class_names_)) if self.class_values_ is None else self.class_values_

    @property
    def n_features_in_(self) -> int:
        """Number of features of one example: d, or C·H·W for images.

        Raises
        ------
        NotFittedError
            Before `fit` or `restore`.
        """
        self.check_fitted()
        return prod(self.input_shape_)

    def predict(self, X: npt.ArrayLike) -> Labels:
        """Predict the label of each example.

        Parameters
        ----------
        X
            (n, d) or (n, C, H, W).

        Returns
        -------
        Labels
            (n,) members of `classes_`: the argmax over all classes. Class indices (int64) where it was fitted on
            candidate sets.
        """
        labels = [part.argmax(axis=1) for part in self._scores_in_parts(self.checked_features(X))]
        return np.asarray(self.classes_[np.concatenate(labels)])

    def predict_scores(self, X: npt.ArrayLike) -> npt.NDArray[np.float32]:
        """Return (n, c) scores of the rows of X, (n, d) or (n, C, H, W); the predicted label is the argmax of a row."""
        return np.concatenate(list(self._scores_in_parts(self.checked_features(X))))

    def predict_proba(self, X: npt.ArrayLike) -> npt.NDArray[np.float32]:
        """Return (n, c) class probabilities of the rows of X, (n, d) or (n, C, H, W); rows sum to 1."""
        return self._probabilities(self.predict_scores(X))

    def iter_tempered(self, X: npt.ArrayLike) -> Iterator[npt.NDArray[np.float32]]:
        """Yield class probabilities of consecutive rows of X, (b, c) each: their mean at `temperatures_`, where known.

        Few rows at a time where c is large.
        """
        for scores in self._scores_in_parts(self.checked_features(X)):
            total = sum(softmax(scores / np.float32(one), axis=1) for one in self.temperatures_)
            yield total / np.float32(len(self.temperatures_)) if self.temperatures_ else self._probabilities(scores)

    def decision_function(self, X: npt.ArrayLike) -> npt.NDArray[np.float32]:
        """Return scores in the form that scikit-learn expects.

        Parameters
        ----------
        X
            (n, d) or (n, C, H, W).

        Returns
        -------
        npt.NDArray[np.float32]
            (n, c) `predict_scores`; for two classes (n,), the score of the second minus that of the first.
        """
        scores = self.predict_scores(X)
        return np.asarray(scores[:, 1] - scores[:, 0]) if scores.shape[1] == 2 else scores

    def score(self, X: npt.ArrayLike, y: Any, sample_weight: npt.ArrayLike | None = None) -> float:
        """Return the accuracy where `y` is labels, the covering rate where it is candidate sets.

        The covering rate is the share of examples whose predicted label is among their candidates. It needs no true
        label, so `cross_val_score` and `GridSearchCV` can choose settings with it.

        Parameters
        ----------
        X
            (n, d) or (n, C, H, W).
        y
            (n,) true labels, members of `classes_`; or candidate sets in any form that `fit` takes.
        sample_weight
            (n,) weights of the examples.

        Returns
        -------
        float
            a share in [0, 1].
        """
        self.check_fitted()
        return covering_rate_scorer(self, X, on_cpu(y), sample_weight)

    def identify(self) -> Ints:
        """Return (n,) identified labels (class indices) of the training examples: argmax over S_i of label weights.

        Raises
        ------
        NotFittedError
            Before `fit`, and for a restored model, which has no training examples.
        """
        self.check_fitted()
        if not hasattr(self, "label_weights_"):
            raise NotFittedError("A restored model does not know its training examples; use predict(X).")
        return identified_labels(self.label_weights_, self.candidates_)

    def check_settings(self) -> None:
        """Raise UserError for a setting out of range, as `fit` does; a method with settings of its own extends it."""
        for name, one in self._declared.items():
            one.check(name, getattr(self, name))

    def check_task(self, task: Task) -> None:
        """Raise UserError for a task that the method cannot learn from, as `iter_fit` does.

        Parameters
        ----------
        task
            The training data.

        Raises
        ------
        UserError
            Fewer than two examples or classes, no features, missing ones where these are refused.
        """
        n, c = task.candidates.shape
        if n < 2:
            count = "one example" if n else "no example"
            raise UserError(f"There is {count}; at least 2 are needed to learn (n_samples={n}).")
        if c < 2:
            raise UserError("There is one class; there is nothing to tell apart. Bring at least two classes.")
        needs_features = self.needs_features or (task.votes is None and task.prior is None)
        if task.X[0].size == 0 and needs_features:
            raise UserError(
                f"The examples have no features: 0 feature(s) (shape={task.X.shape}) while a minimum of 1 is required."
            )
        if self.missing == "error":
            check_finite(task.X)
            if task.X_test is not None:
                check_finite(task.X_test)

    def check_fitted(self) -> None:
        """Raise NotFittedError before `fit` or `restore`."""
        if not hasattr(self, "class_names_"):
            raise NotFittedError(f"This {type(self).__name__} is not fitted yet; call fit(X, y) first.")

    def checked_features(self, X: npt.ArrayLike) -> Features:
        """Return the features X to predict from, validated, as float32.

        Raises
        ------
        NotFittedError
            Before `fit` or `restore`.
        UserError
            Not the shape it was fitted on, or not finite.
        """
        self.check_fitted()
        features = self._features(X, reset=False)
        shape, expected = features.shape[1:], self.input_shape_
        if shape != expected:  # (n, 1) would broadcast against the scaling
            if len(shape) == len(expected) == 1:
                name = type(self).__name__
                raise UserError(f"X has {shape[0]} features, but {name} is expecting {expected[0]} features as input.")
            raise UserError(f"These examples have shape {shape}; the model was fitted on {expected}.")
        return features

    def _features(self, X: npt.ArrayLike, *, reset: bool) -> Features:
        """Return validated float32 features; column names of a data frame are stored (`reset`) or compared."""
        validate_data(self, X, reset=reset, skip_check_array=True, ensure_2d=False)
        return as_features(X, allow_missing=self.missing == "mean")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing == "mean"
        tags.input_tags.sparse = True
        return tags

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()
        return {name: value for name, value in state.items() if name not in self._training_state}


def _targets(y: Any) -> tuple[CandidateSets, Labels | None]:
    """Return candidate sets, and the sorted labels where `y` is one label per example or lists of class names."""
    y = on_cpu(y)
    sets = as_candidate_sets(y)
    if sets is not None:
        return sets, None if as_name_lists(y) is None else np.array(sets.class_names)
    column = column_or_1d(y, warn=True)
    missing = np.flatnonzero(column.dtype.kind in "OU" and pd.isna(y))  # a list's NaN is text in the column
    if len(missing):
        raise RowError(
            f"Row {missing[0]} has no label; leave it out, or give candidate sets, with all classes where nothing is "
            "known."
        )
    assert_all_finite(column, input_name="y")
    check_classification_targets(column)
    labels, at = np.unique(column, return_inverse=True)
    return CandidateSets.from_labels(at, max(1, len(labels)), tuple(str(label) for label in labels.tolist())), labels


def _with_decided(task: Task, known: npt.ArrayLike, seed: int) -> Task:
    """Return the task with sets of the known label alone, and a prior fitted with these labels."""
    decided = _checked_truth(known, task.candidates.n_classes, "")
    if len(decided) != len(task.X):
        raise UserError(f"There are {len(task.X)} rows of features but {len(decided)} known labels.")
    rows = np.flatnonzero(decided >= 0)
    sets = with_sets(task.candidates, {int(row): [int(decided[row])] for row in rows})
    change = ChangedSets(task.candidates, sets, reason=DECISIONS, decided=decided)
    if task.votes is not None:
        prior = aggregate(task.X, task.votes, seed=seed, decided=decided).prior_on(sets)
        change = replace(change, prior=prior)
    return task.changed(change)


def as_votes(votes: Any, y: Any = None) -> Annotations:
    """Return votes in any form that `fit` takes as `Annotations`, over the classes of the candidate sets `y`.

    Parameters
    ----------
    votes
        (n, m) numbers, or `Annotations`.
    y
        Candidate sets in any form, or None.
    """
    if isinstance(votes, Annotations):
        return votes
    sets = None if y is None else as_candidate_sets(y)
    return Annotations.from_votes(votes, () if sets is None else sets.class_names)


def as_features(X: npt.ArrayLike, *, allow_missing: bool = False) -> Features:
    """Return X as float32 of two or four dimensions.

    Parameters
    ----------
    X
        (n, d) or (n, C, H, W).
    allow_missing
        Accept NaN.

    Raises
    ------
    UserError
        Not numbers, infinite values or, unless allowed, missing ones.
    """
    array = feature_array(X)
    check_finite(array, allow_missing=allow_missing, given=None if scipy.sparse.issparse(X) else X)
    return array


def _checked_truth(y: npt.ArrayLike, n_classes: int, part: str) -> Ints:
    truth = np.ascontiguousarray(whole_numbers(y, f"true {part}labels"), dtype=np.int64)
    outside = np.flatnonzero((truth < UNKNOWN) | (truth >= n_classes))
    if len(outside):
        row = int(outside[0])
        raise UserError(
            f"Row {row}: the true {part}label {truth[row]} is unknown; labels run from 0 to {n_classes - 1}."
        )
    return truth


# ---- settings --------------------------------------------------------------------------------------------------------

KERNELS = ("rbf", "linear")
MISSING_CHOICES = ("error", "mean")
"""What is done about NaN in X."""
MAX_INT = 2**63
"""Exclusive limit of whole numbers: 64 bits must hold them."""
LIMITS = {
    "above": (operator.gt, " above {:,.10g}"),
    "least": (operator.ge, ", {:,.10g} or more"),
    "below": (operator.lt, ", below {:,.10g}"),
    "most": (operator.le, ", at most {:,.10g}"),
}
"""Limits of a number: how a value compares with each, and its words."""


@dataclass(frozen=True)
class Setting:
    """A setting of a method and what it may be; see `setting`."""

    default: Any
    words: tuple[Any, ...]
    limits: Mapping[str, Any]

    def check(self, name: str, value: Any) -> None:
        """Raise UserError for a value that is none of the words and no finite number within the limits.

        Parameters
        ----------
        name
            Of the setting.
        value
            What was given.

        Examples
        --------
        >>> Setting(0.5, (), {"above": 0, "most": 1}).check("share", 1.5)
        Traceback (most recent call last):
        pll.errors.UserError: share is 1.5; it must be a number above 0, at most 1.
        """
        if value in self.words or not (self.words or self.limits):
            return
        if not self.limits:
            raise unknown(name, value, self.words)
        whole = self.limits.get("whole", False)
        own = [(self.limits[limit], *about) for limit, about in LIMITS.items() if limit in self.limits]
        if isinstance(value, Integral) and int(value) >= MAX_INT and not {"below", "most"} & self.limits.keys():
            own.append((MAX_INT, *LIMITS["below"]))
        finite = (math.inf, operator.lt, ""), (-math.inf, operator.gt, "")
        if (
            isinstance(value, bool)
            or not isinstance(value, Integral if whole else Real)
            or not all(holds(value, limit) for limit, holds, _ in (*finite, *own))
        ):
            is_not_finite = isinstance(value, float) and not math.isfinite(value)  # nan and inf are Real, too
            kind = "whole number" if whole else "finite number" if is_not_finite else "number"
            wanted = "".join(words.format(limit) for limit, _, words in own)
            or_word = f" (a number or {self.words[0]})" if self.words else ""
            raise UserError(f"{name}{or_word} is {value!r}; it must be a {kind}{wanted}.")


def setting(default: Any, choices: Sequence[Any] = (), **limits: Any) -> Any:
    """Declare a setting in the body of a method's class, as `lam: float = setting(0.3, least=0)`.

    A class has those of its parents too; one that it declares again has the new default.

    Parameters
    ----------
    default
        Allowed also where it is no number.
    choices
        Words that are allowed, beside numbers where there are limits.
    limits
        Of numbers: those of `LIMITS`, and `whole` for integers alone; without them and choices anything is allowed.

    Examples
    --------
    >>> from pll.methods.classical import ClassicalEstimator
    >>> class Ridge(ClassicalEstimator):
    ...     lam: float = setting("auto", above=0)
    >>> inspect.signature(Ridge).parameters["lam"].default
    'auto'
    """
    own = () if isinstance(default, Real) or not (choices or limits) else (default,)
    return Setting(default, tuple(dict.fromkeys((*own, *choices))), limits)


def _init_of(declared: Mapping[str, Setting]) -> Callable[..., None]:
    """Return the `__init__` of a class with these settings."""

    def __init__(self: PartialLabelEstimator, **settings: Any) -> None:
        for name, one in declared.items():
            setattr(self, name, settings.pop(name, one.default))
        if settings:
            raise TypeError(f"{type(self).__name__} has no setting {next(iter(settings))!r}")

    own = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=one.default) for name, one in declared.items()
    ]
    init: Any = __init__
    # scikit-learn and docs/methods.md read the settings off the signature.
    init.__signature__ = inspect.Signature([inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD), *own])
    return __init__

"""Base classes of methods without gradient descent, estimates of their cost, and the search of a setting."""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

import numpy as np
import numpy.typing as npt
import torch
from sklearn.model_selection import KFold
from torch import Tensor, nn

from pll.candidates import CandidateSets
from pll.io import Arrays, blocks, check_fits_memory
from pll.methods.base import AFRESH, MISSING_CHOICES, PartialLabelEstimator, Start, Task, setting
from pll.methods.names import MOST_SEED
from pll.training.metrics import EpochRecord, Hook, Monitor, no_hook
from pll.training.scaling import Scaling, fit_scaling, flattened
from pll.weights import Floats, Weights, restricted_softmax

V = TypeVar("V")
Iterations = Iterator[tuple[Weights, float | None]]
"""Of each iteration of a method: its (nnz,) label weights, and its loss where there is one."""


class ClassicalEstimator(PartialLabelEstimator):
    """Base class of methods that work on a scaled matrix (n, d) and refine label weights iteratively.

    A subclass implements `_learn` (a generator that yields label weights once per iteration) and `_scores`, lists the
    attributes that prediction needs in `_fitted`, and names the setting that limits the iterations in `rounds`.

    Parameters
    ----------
    scale
        As in `fit_scaling`; images are flattened after scaling.
    missing
        `"error"` refuses NaN in X, `"mean"` fills it with the mean of its column.
    seed
        Fixes whatever is drawn at random.

    Attributes
    ----------
    scale_
        The scaling that was used.
    covering_rates_
        Value → covering rate in the latest search of a setting; empty where none was searched.
    """

    cheaper: ClassVar[str] = ""
    """What takes less, said of a fit that takes long."""
    rounds: ClassVar[str] = ""
    """The setting that says how many iterations there are at most; "" for one."""

    scale: str = setting("auto")
    missing: str = setting("error", MISSING_CHOICES)
    seed: int = setting(0, whole=True, least=0, most=MOST_SEED)

    scale_: str
    covering_rates_: dict[Any, float]
    _fitted: tuple[str, ...] = ()
    """Names of the array attributes that `_scores` reads."""

    @abstractmethod
    def _learn(self, X: Floats, candidates: CandidateSets, rng: np.random.Generator, hook: Hook) -> Iterations:
        """Yield (label weights (nnz,), loss or None) per iteration; set the attributes of `_fitted` before each yield.

        At its start `label_weights_` is uniform, or the prior for a method that takes one.

        Call `hook` at least once a second, so that training can be stopped.
        """

    @abstractmethod
    def _scores(self, X: Floats) -> Floats:
        """Return (m, d) scaled features → (m, c) scores, the larger the likelier."""

    def iter_fit(self, task: Task, *, hook: Hook | None = None, start: Start = AFRESH) -> Iterator[EpochRecord]:
        self.check_settings()
        self.check_task(task)
        check_fits_memory(
            task.X,
            2 * 8 * task.X.size,  # float64, and what a method makes of it
            f"{self.title} keeps all features in memory",
            "Train a method that reads them in pieces (proden and the others trained by gradient descent), or fit this "
            "one on some of the rows.",
        )
        self.notes_, self.covering_rates_ = (), {}
        self.candidates_ = task.candidates
        self.class_names_ = task.candidates.class_names
        self.input_shape_ = task.X.shape[1:]
        self.label_weights_ = self._first_weights(task)
        self.scale_ = self._choose_scale(task, hook or no_hook)
        self._scaling = fit_scaling(task.X, self.scale_)
        monitor = Monitor(task.candidates, task.y, task.y_test)
        X = self._scaled(task.X)
        X_test = None if task.X_test is None else self._scaled(task.X_test)
        self._untrained(X, task.candidates)
        started = time.perf_counter()
        learning = self._learn(X, task.candidates, np.random.default_rng(self.seed), hook or no_hook)
        for number, (weights, loss) in enumerate(learning, start=1):
            self.label_weights_ = weights
            learnt = time.perf_counter() - started
            predicted = None if X_test is None else self._scores(X_test).argmax(axis=1).astype(np.int64)
            yield monitor.record(
                number,
                weights,
                predicted_test=predicted,
                loss=loss,
                examples_per_second=len(X) / max(learnt, 1e-9),
                seconds=time.perf_counter() - started,
            )
            started = time.perf_counter()

    def _first_weights(self, task: Task) -> Weights:
        """Return the label weights before anything is learnt."""
        prior = task.prior if self.takes_prior else None
        return task.candidates.uniform_weights() if prior is None else prior

    def _choose_scale(self, task: Task, hook: Hook) -> str:
        """Return the scaling to learn with; a method may choose it by the data. Where `hook` stops it, it can predict.

        `candidates_`, `class_names_`, `input_shape_` and `label_weights_` are set before.
        """
        return self.scale

    def _untrained(self, X: Floats, candidates: CandidateSets) -> None:
        """Set the attributes of `_fitted`, so that training stopped before its first record leaves a model."""
        return

    def total_epochs(self) -> int:
        return int(getattr(self, self.rounds)) if self.rounds else 1

    def in_use(self, name: str) -> Any:
        """Return what `fit` has chosen for a setting, under its name with `_` behind it; else the setting."""
        return getattr(self, f"{name}_", getattr(self, name))

    def fitted_params(self) -> dict[str, Any]:
        return {name: self.in_use(name) for name in super().fitted_params()}

    def _scores_in_parts(self, X: npt.NDArray[np.float32]) -> Iterator[npt.NDArray[np.float32]]:
        yield self._scores(self._scaled(X)).astype(np.float32)

    def fitted_arrays(self) -> Arrays:
        self.check_fitted()
        arrays = {f"scaling.{name}": tensor.numpy() for name, tensor in self._scaling.state_dict().items()}
        return arrays | {name: np.asarray(getattr(self, name)) for name in self._fitted}

    def _load(self, tensors: dict[str, Tensor]) -> None:
        self._scaling = Scaling.from_state(tensors, "scaling.")
        for name in self._fitted:
            setattr(self, name, tensors[name].numpy() if tensors[name].ndim else tensors[name].item())

    def _scaled(self, X: npt.NDArray[np.float32]) -> Floats:
        return np.asarray(flattened(self._scaling, X).numpy().astype(np.float64))

    def _best(
        self,
        what: str,
        values: Sequence[V],
        predictions: Predict,
        X: Floats,
        candidates: CandidateSets,
        rng: np.random.Generator,
    ) -> V:
        """Return the value with the highest covering rate, of equals the first; the only one without a search.

        The rates, kept in `covering_rates_`, are estimated by cross-validation, without any true label. The covering
        rate (share of held-out examples whose predicted label is a candidate) is what PLENCH (ICLR 2025) names for
        this. A right prediction is always covered and a wrong one only by chance, so the rate rises with the accuracy
        wherever the wrong candidates do not follow the features. Set sizes need no correction, since every value meets
        the same held-out sets: weighting by 1/|S|, or the accuracy of highest likelihood, chose no better (CLPL on
        digits, Lost, Yeast, Dermatology and Synthetic Control). There are `SEARCH_FOLDS` folds, fewer for a few
        examples.

        Parameters
        ----------
        what
            Is chosen, for the page.
        values
            Values to choose from.
        predictions
            Fits a model for every value on one part of the examples and predicts the labels of the other.
        X
            (n, d) scaled features, n at least 2.
        candidates
            n candidate sets.
        rng
            Draws the folds.
        """
        if len(values) == 1:
            return values[0]
        chosen = rng.permutation(len(X))[:SEARCH_ROWS]
        X, candidates = X[chosen], candidates.take(chosen)
        covered = np.zeros(len(values), dtype=np.int64)
        for fold, (train, holdout) in enumerate(KFold(min(SEARCH_FOLDS, len(X))).split(X), start=1):
            self.stage_ = f"choosing {what}: fold {fold} of {SEARCH_FOLDS}"
            sets = candidates.take(holdout)
            labels = predictions(X[train], candidates.take(train), X[holdout])
            covered += [int(sets.contains(row).sum()) for row in labels]
        self.stage_ = ""
        self.covering_rates_ = dict(zip(values, (covered / len(X)).tolist(), strict=True))
        return max(values, key=self.covering_rates_.__getitem__)

    def _best_fitted(
        self,
        name: str,
        values: Sequence[V],
        X: Floats,
        candidates: CandidateSets,
        rng: np.random.Generator,
        hook: Hook,
        *,
        most: int,
        **quicker: Any,
    ) -> V:
        """Return the value of a setting with which the method has the highest covering rate on some examples.

        At most `most` of them are drawn, and it is fitted with the settings `quicker`. Nothing is where there is one.
        """
        if len(values) == 1:
            return values[0]
        rows = np.sort(rng.permutation(len(X))[:most])
        settings = self.get_params() | {"scale": "none"} | quicker
        methods = [type(self)(**settings | {name: value}) for value in values]

        def predictions(X_train: Floats, sets: CandidateSets, X_holdout: Floats) -> npt.NDArray[np.integer]:
            labels = []
            for method in methods:
                for _ in method.iter_fit(Task(X_train.astype(np.float32), sets), hook=hook):
                    pass
                labels.append(method.predict_scores(X_holdout.astype(np.float32)).argmax(axis=1))
            return np.array(labels)

        return self._best(name, values, predictions, X[rows], candidates.take(rows), rng)


def on_candidates_by_blocks(
    table: Callable[[slice], npt.NDArray[np.floating[Any]]], candidates: CandidateSets, size: int
) -> Floats:
    """Return the (nnz,) entries on the candidates of a matrix (n, c) that is computed in blocks of rows.

    Parameters
    ----------
    table
        Returns the rows of a slice, of at most `size` rows.
    candidates
        n candidate sets.
    size
        Rows of a block.
    """
    values = np.empty(candidates.nnz)
    for rows in blocks(len(candidates), size):
        at = candidates.span(rows)
        values[at] = table(rows)[candidates.rows[at] - rows.start, candidates.indices[at]]
    return values


@dataclass(frozen=True)
class Cost:
    """Estimated cost of `fit`, and what prevents it; prediction is cheaper.

    Attributes
    ----------
    memory_bytes
        Peak memory beyond the features themselves.
    seconds
        On an ordinary machine (of a classical method on one core), within a factor of about three.
    obstacles
        Reasons why it cannot run; empty where it can.
    notes
        Warnings.
    """

    memory_bytes: int
    seconds: float
    obstacles: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


SCORE_BLOCK = 4096
"""Rows whose scores are computed at once."""


class LinearEstimator(ClassicalEstimator):
    """Base class of classical methods with linear scores; they can be exported as a torch module.

    Attributes
    ----------
    coef_
        (d, c) float64, W.
    intercept_
        (c,) float64, b.
    """

    _fitted: tuple[str, ...] = ("coef_", "intercept_")

    coef_: Floats
    intercept_: Floats

    def _untrained(self, X: Floats, candidates: CandidateSets) -> None:
        self.coef_, self.intercept_ = np.zeros((X.shape[1], candidates.n_classes)), np.zeros(candidates.n_classes)

    def _scores(self, X: Floats) -> Floats:
        return X @ self.coef_ + self.intercept_

    def _restricted(self, X: Floats, candidates: CandidateSets) -> Weights:
        """Return (nnz,) softmax of the scores restricted to each S_i, computed in blocks."""
        scores = on_candidates_by_blocks(lambda rows: self._scores(X[rows]), candidates, SCORE_BLOCK)
        return restricted_softmax(scores, candidates)

    def module(self) -> nn.Module | None:
        """Return scaling, flattening and a linear layer; None where nothing was learnt from features."""
        self.check_fitted()
        if not len(self.coef_):
            return None
        layer = nn.Linear(*self.coef_.shape)
        with torch.no_grad():
            layer.weight.copy_(torch.from_numpy(self.coef_.T.astype(np.float32)))
            layer.bias.copy_(torch.from_numpy(self.intercept_.astype(np.float32)))
        return nn.Sequential(self._scaling, nn.Flatten(), layer).eval()


# ---- search of a setting ---------------------------------------------------------------------------------------------

SEARCH_FOLDS = 5
SEARCH_ROWS = 4000
"""Maximum number of examples in a search, drawn at random: a rate then has a standard error below 0.8 %."""

Predict = Callable[[Floats, CandidateSets, Floats], npt.NDArray[np.integer]]
"""(training features, their candidate sets, held-out features (m, d)) → (values, m) predicted labels."""

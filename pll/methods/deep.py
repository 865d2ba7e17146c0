"""Estimators trained by gradient descent: they differ in their `Objective` alone."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import fields, replace
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from pll.annotations.data import Annotations
from pll.errors import UserError, first_line, unknown
from pll.io import Arrays, is_mapped
from pll.methods.base import AFRESH, MISSING_CHOICES, PartialLabelEstimator, Start, Task, setting
from pll.methods.chosen import SEARCHED, Recipe, paper_recipe
from pll.methods.defaults import suited
from pll.methods.names import MOST_EPOCHS, MOST_IN_A_STEP, MOST_SEED, RECIPES
from pll.methods.recipe import Contest, NoteFound, SearchProgress
from pll.training.augment import get_augmentation
from pll.training.devices import choose_device, computing_threads
from pll.training.distributed import Ranks, SharedTrainer
from pll.training.losses import Loss, get_loss
from pll.training.metrics import EpochRecord, Hook, Monitor, StopTraining, TrainingProgress, no_hook
from pll.training.models import ModelSpec, build_model, has_batch_norm
from pll.training.precision import choose_precision
from pll.training.rng import seeded
from pll.training.scaling import Scaling, evaluation_batches, fit_scaling
from pll.training.streamed import scaled_features
from pll.training.trainer import Objective, Optimisation, Trainer, evaluating, refuse_divergence, train
from pll.weights import Weights

SHAPE_ERRORS = (RuntimeError, AssertionError, ValueError, TypeError, IndexError)
"""What torch's layers raise at inputs that do not fit them."""


class DeepEstimator(PartialLabelEstimator):
    """Common settings of all methods trained by gradient descent.

    Parameters
    ----------
    model
        `"linear"`, `"mlp"`, `"convnet"`, `"resnet"`; `"torchvision:…"`; an `nn.Module`; or a function (input shape, c)
        → module.
    loss
        `"ce"`, `"mse"`, …; or a function logits (B, c) → (B, c).
    epochs
        Passes over the data, at least 1.
    batch_size
        Examples a step, at least 1; None takes what suits the data (`pll.methods.defaults.default_batch_size`): 256;
        from 32 on for fewer than 1,087 examples.
    lr
        Learning rate; None takes what suits the data (`pll.methods.defaults.default_lr`): 0.05 for tables; for images
        less, by the features, the model and the number of steps; for Adam 0.001.
    momentum, weight_decay
        Of the optimiser (for Adam, momentum is its β₁).
    optimiser
        `"sgd"`, as in the paper, or `"adam"`.
    lr_decay, lr_decay_every
        Every so many epochs the learning rate is multiplied by `lr_decay`, in (0, 1].
    augment
        For images: `"none"`, `"crop"` (random shifts of up to 4 pixels) or `"crop-flip"` (and mirrored).
    scale
        As in `pll.training.scaling.fit_scaling`: `"auto"` (z-score; images a channel; features made of texts `"unit"`),
        `"zscore"`, `"quantile"`, `"minmax"`, `"unit"`, `"none"`, `"zscore+rbf"`, … Learnt on what `fit` gets, and part
        of the model.
    missing
        `"error"` refuses NaN in X, `"mean"` fills it with the mean of its column.
    device
        `"auto"` (the GPU with the most free memory, if there is one), `"cpu"`, `"cuda"`, `"cuda:1"`, `"mps"`, `"xpu"`.
    precision
        Of the training passes: `"float32"`; `"bf16"`; `"auto"` takes bf16 on a GPU for the convnet, the resnet and
        torchvision's models, else float32. Parameters, label weights and evaluations are float32.
    threads
        CPU threads at most, of which small models take one; None for as many as torch has.
    recipe
        How settings are chosen: `"default"` takes those above; `"auto"` searches scale, model, optimiser, learning
        rate, weight decay and epochs on held-out parts of the training data without any truth (`pll.methods.recipe`);
        `"paper"` takes the paper's protocol, `"paper:lost"` its settings for that data set. A setting that differs from
        its default counts as given explicitly and stays, as do those in `given`.
    seed
        Fixes initial parameters, order of examples, dropout.

    Attributes
    ----------
    recipe_
        The `Recipe` that was used, with all that was tried; missing for the recipe `"default"`.
    """

    model: ModelSpec = setting("linear")
    loss: str | Loss = setting("ce")
    epochs: int = setting(100, whole=True, least=1, most=MOST_EPOCHS)
    batch_size: int | None = setting(None, whole=True, least=1, most=MOST_IN_A_STEP)
    lr: float | None = setting(None, least=0)
    momentum: float = setting(0.9, least=0, below=1)
    weight_decay: float = setting(1e-3, least=0, most=10)
    optimiser: str = setting("sgd")
    lr_decay: float = setting(1.0, above=0, most=1)
    lr_decay_every: int = setting(10, whole=True, least=1, most=MOST_EPOCHS)
    augment: str = setting("none")
    scale: str = setting("auto")
    missing: str = setting("error", MISSING_CHOICES)
    device: str = setting("auto")
    precision: str = setting("auto")
    threads: int | None = setting(None)
    recipe: str = setting("default")
    seed: int = setting(0, whole=True, least=0, most=MOST_SEED)

    takes_prior: ClassVar[bool] = True
    warm_starts: ClassVar[bool] = True
    searched_as_proden: ClassVar[bool] = False
    """Whether its objective is PRODEN's, so that the search of the recipe auto trains what it chooses for."""
    recipe_: Recipe
    _monitor: Monitor | None = None
    """None while labels to add are sought; a checkpoint then holds nothing to go on from."""
    _suited: Mapping[str, Any] = {}
    """Settings that suit the data, where the user sets none."""
    model_: nn.Module
    """Takes raw features, gives logits: scaling and network in one."""

    def fit(
        self,
        X: npt.ArrayLike,
        y: Any,
        *,
        truth: npt.ArrayLike | None = None,
        prior: npt.ArrayLike | None = None,
        votes: npt.ArrayLike | Annotations | None = None,
        sample_weight: npt.ArrayLike | None = None,
    ) -> Self:
        """Learn from candidate sets or labels.

        Parameters
        ----------
        X, y, truth, prior, votes
            As for `PartialLabelEstimator.fit`.
        sample_weight : (n,) array-like, optional
            How much the loss of each example counts, at least 0; only ratios matter. Every example has label
            weights, those of weight 0 included. The search of a recipe and the losses of the records do not use them.

        Returns
        -------
        Self
            The estimator itself.

        Raises
        ------
        UserError
            Invalid data or settings, or an argument that the method does not use.
        """
        task, labels = self._task(X, y, truth, prior, votes)
        if sample_weight is not None:
            task = replace(task, sample_weight=checked_sample_weight(sample_weight, len(task.X)))
        return self._fit(task, labels)

    @abstractmethod
    def _objective(self, task: Task) -> Objective:
        """The method's part of the training step."""

    def iter_fit(self, task: Task, *, hook: Hook | None = None, start: Start = AFRESH) -> Iterator[EpochRecord]:
        self.check_settings()
        self.check_task(task)
        self.__dict__.pop("notes_", None)  # of an earlier fit
        self.__dict__.pop("recipe_", None)
        device, checkpoint = choose_device(self.device), _of_training(start)
        if self.recipe != "default":
            self.recipe_ = start.recipe or self.choose_settings(task, hook=hook)
        epochs = self.total_epochs()
        with computing_threads(self.threads):
            try:
                task = self.grown(task, hook=hook)
            except StopTraining:  # the untrained model is the result
                self._trainer, self._monitor = self._new_trainer(task, device, replace(start, ranks=None)), None
                raise
            trainer = self._trainer = self._new_trainer(task, device, start)
            monitor = self._monitor = Monitor(task.candidates, task.y, task.y_test)
            if checkpoint is not None:
                trainer.load_state(checkpoint["trainer"])
                identified = checkpoint["identified"]
                monitor.identified = None if identified is None else identified.cpu().numpy().copy()
            X_test = None if task.X_test is None else scaled_features(self._scaling, task.X_test)
            if trainer.epoch >= epochs:  # the checkpoint was the last one: what is left is to take the result
                self.finish()
        records = train(trainer, epochs, monitor, X_test=X_test, hook=hook)
        while trainer.epoch < epochs:
            with computing_threads(self.threads), trainer.precision.switched():  # not while the caller has the record
                record = next(records)
                if record.epoch == epochs:
                    self._take_result(record.label_weights)
            yield record

    def total_epochs(self) -> int:
        return int(self.settings_in_use()["epochs"])

    def chosen_settings(self) -> dict[str, Any]:
        """Return the settings, those that the recipe has chosen in their place; None where the data chooses."""
        params: dict[str, Any] = self.get_params(deep=False)
        return params | (self.recipe_.settings if "recipe_" in self.__dict__ else {})

    def settings_in_use(self) -> dict[str, Any]:
        """Return the settings as they are used: what recipe and user leave open is what suits the data."""
        return self.chosen_settings() | dict(self._suited)

    def fitted_params(self) -> dict[str, Any]:
        """Return the parameters that give this model without a search."""
        return self.settings_in_use() | {"recipe": "default"}

    def follow(self, task: Task, ranks: Ranks) -> None:
        """On a rank other than 0: train together with the `iter_fit` of rank 0, on the same task, until it ends.

        Parameters
        ----------
        task
            The one of rank 0.
        ranks
            The processes that train together.

        Raises
        ------
        UserError
            Another rank has ended.
        """
        with computing_threads(self.threads):
            self.check_task(task)
            trainer = self._new_trainer(task, choose_device(self.device), Start(ranks=ranks))
            del task  # of which this rank has its part
            assert isinstance(trainer, SharedTrainer)
            trainer.follow()

    def choose_settings(
        self,
        task: Task,
        *,
        dataset: str = "",
        hook: Hook | None = None,
        progress: SearchProgress | None = None,
        found: NoteFound | None = None,
    ) -> Recipe:
        """Return the settings that the recipe chooses for this data; the estimator stays as it is.

        Parameters
        ----------
        task
            The training data; true labels and test examples are not looked at.
        dataset
            Name of the data, which selects the paper's settings.
        hook
            Called between mini-batches; may wait. `StopTraining` ends the search with the best so far.
        progress
            Called with the share of the search that is done, and a description of the current work.
        found
            Called with label weights of the task's examples, (nnz,), while it searches
            (`pll.methods.recipe.NoteFound`).

        Raises
        ------
        UserError
            Invalid data or settings.
        """
        self.check_settings()
        self.check_task(task)
        if self.recipe.startswith("paper"):
            return self.published_recipe(task.X.shape[1:], dataset)
        if is_mapped(task.X):
            note = "The features are larger than memory: the default settings are used."
            return Recipe("auto", {}, self.given_settings(), notes=(note,))
        with computing_threads(self.threads):
            recipe = Contest(self, task, progress, found).search(hook or no_hook)
        self.stage_ = ""
        return recipe

    def published_recipe(self, input_shape: tuple[int, ...], dataset: str) -> Recipe:
        """Return what the recipe `paper` takes for data of this name; see `pll.methods.chosen.paper_recipe`.

        Parameters
        ----------
        input_shape
            Of one example, (d,) or (C, H, W).
        dataset
            Name of the data.
        """
        name = self.recipe.removeprefix("paper").removeprefix(":") or dataset
        return paper_recipe(input_shape, self.given_settings(), name, own_rate=type(self)().lr is not None)

    def given_settings(self) -> dict[str, Any]:
        """Return the settings of `SEARCHED` that the user has set: those in `given`, or not as by default."""
        defaults, params = type(self)().get_params(deep=False), self.get_params(deep=False)
        return {
            name: value
            for name, value in params.items()
            if name in SEARCHED and (_differs(value, defaults[name]) or (name in self.given and value is not None))
        }

    def checkpoint(self) -> dict[str, Any]:
        if self._monitor is None:
            return {"epoch": 0}
        identified = self._monitor.identified
        return {
            "epoch": self._trainer.epoch,
            "trainer": self._trainer.state(),
            "suited": dict(self._suited),
            "identified": None if identified is None else torch.from_numpy(identified),
        }

    @property
    def trainer(self) -> Trainer | None:
        """Where training stands; None before `iter_fit` and after `release`."""
        return self.__dict__.get("_trainer")

    def moment(self) -> TrainingProgress | None:
        return None if self.trainer is None else self.trainer.moment()

    def finish(self) -> Weights:
        weights = self._trainer.evaluated_label_weights()
        refuse_divergence(self._trainer.epoch, weights)
        self._take_result(weights)
        return weights

    def release(self) -> None:
        """Free the training state (optimiser, features on the device); the fitted model stays, on the CPU."""
        if isinstance(self.trainer, SharedTrainer):
            with suppress(UserError):  # they may have ended by themselves
                self.trainer.end()
        super().release()
        if hasattr(self, "model_") and next(self.model_.parameters()).device.type != "cpu":
            with suppress(RuntimeError):  # of a GPU that was lost, which the run has said
                self.model_.to("cpu", memory_format=torch.contiguous_format)  # type: ignore[call-overload]  # torch's

    def _forget_training(self) -> None:
        if self.trainer is not None:
            self.trainer.close()
        super()._forget_training()

    def fitted_arrays(self) -> Arrays:
        self.check_fitted()
        return {name: tensor.cpu().contiguous().numpy() for name, tensor in self.model_.state_dict().items()}

    def _load(self, tensors: dict[str, Tensor]) -> None:
        scaling = Scaling.from_state(tensors, "0.")
        shape, c = scaling.output_shape(self.input_shape_), len(self.class_names_)
        with seeded(self.seed):  # the drawn parameters are overwritten; the caller's random stream stays as it was
            network = build_model(self.settings_in_use()["model"], shape, c)
        self.model_ = nn.Sequential(scaling, network)
        self.model_.load_state_dict(tensors)
        self.model_.eval()

    def module(self) -> nn.Module | None:
        self.check_fitted()
        return self.model_

    def _scores_in_parts(self, X: npt.NDArray[np.float32]) -> Iterator[npt.NDArray[np.float32]]:
        """Yield the (B, c) logits of consecutive rows."""
        device, c = next(self.model_.parameters()).device, len(self.class_names_)
        with evaluating(self.model_):
            for part in evaluation_batches(X, c):
                yield self.model_(part.to(device)).float().cpu().numpy()

    def _take_result(self, weights: Weights) -> None:
        self.label_weights_ = weights
        self.notes_ = tuple(dict.fromkeys((*self.notes_, *self._trainer.notes)))
        self.class_names_ = self.candidates_.class_names
        self.model_.eval()

    def _new_trainer(self, task: Task, device: torch.device, start: Start = AFRESH) -> Trainer:
        ranks, checkpoint = start.ranks, _of_training(start)
        augment = get_augmentation(self.augment, task.X.shape[1:])
        self._suited = suited(self.chosen_settings(), task.X, task.kind)
        if checkpoint is not None:  # what suited the data then, whatever would today
            self._suited = {name: checkpoint["suited"][name] for name in self._suited}
        own = self.settings_in_use()
        scaling = self._scaling = fit_scaling(task.X, own["scale"])
        self.input_shape_ = task.X.shape[1:]
        shape, c = scaling.output_shape(self.input_shape_), task.candidates.n_classes
        with seeded(self.seed):
            network = build_model(own["model"], shape, c)
            _check_output(network, get_loss(self.loss), shape, c)  # lazy layers take their shape, and are drawn, here
        if has_batch_norm(network) and own["batch_size"] < 2:
            raise UserError("This model normalises over the batch; use a batch size of at least 2.")
        self.model_ = nn.Sequential(scaling, network).to(device)
        self.candidates_ = task.candidates
        part = task
        if ranks is not None:
            rows = slice(*ranks.bounds(len(task.X)))
            part = Task(task.X[rows], task.candidates[rows], None if task.y is None else task.y[rows])
        precision = choose_precision(self.precision, own["model"], shape, device)
        alone = partial(Trainer, outside=task.outside, sample_weight=task.sample_weight)
        trainer = (alone if ranks is None else partial(SharedTrainer, ranks))(
            network,
            scaled_features(scaling, part.X),
            task.candidates,
            self._objective(part),
            Optimisation(**{one.name: own[one.name] for one in fields(Optimisation)}),
            self.seed,
            augment=augment,
            loss_draws=callable(self.loss),  # a function of the user may draw random numbers
            prior=task.prior,
            precision=precision,
        )
        if start.arrays is not None:  # the optimiser starts without momentum
            parameters = {name: torch.from_numpy(np.array(array)) for name, array in start.arrays.items()}
            self.model_.load_state_dict(parameters)
            trainer.warm_up()
        return trainer

    def check_settings(self) -> None:
        super().check_settings()
        if self.recipe not in RECIPES and not str(self.recipe).startswith("paper:"):
            raise unknown("recipe", self.recipe, (*RECIPES, "paper:DATASET"))
        get_loss(self.loss)


def checked_sample_weight(sample_weight: npt.ArrayLike, n: int) -> npt.NDArray[np.float32]:
    """Return weights of n examples, (n,) float32 with mean 1.

    Parameters
    ----------
    sample_weight
        (n,) numbers, at least 0.
    n
        Examples.

    Raises
    ------
    UserError
        Not one finite number of at least 0 an example, or all of them 0.

    Examples
    --------
    >>> checked_sample_weight([1, 3], 2).tolist()
    [0.5, 1.5]
    """
    weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.shape != (n,):
        raise UserError(f"sample_weight has shape {weights.shape}; {n} examples need ({n},).")
    wrong = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    if len(wrong):
        raise UserError(f"Row {wrong[0]}: sample_weight is {weights[wrong[0]]}; it must be a number of at least 0.")
    if not weights.any():
        raise UserError("Every sample_weight is zero: there is nothing to learn from.")
    return np.asarray((weights / weights.mean()).astype(np.float32))


def _of_training(start: Start) -> Mapping[str, Any] | None:
    """Return the checkpoint that a fit starts from, if training had begun by then."""
    return start.checkpoint if start.checkpoint is not None and "trainer" in start.checkpoint else None


def _differs(value: Any, default: Any) -> bool:
    return value is not default and (type(value) is not type(default) or bool(value != default))


def _check_output(network: nn.Module, loss: Loss, shape: tuple[int, ...], c: int) -> None:
    """One evaluation of one example: does the network fit the data, and the loss the network?"""
    if not isinstance(network, nn.Module):
        raise UserError(f"A model must be a torch.nn.Module; this one is {type(network).__name__}.")
    with evaluating(network):
        try:
            logits = network(torch.zeros((1, *shape)))
        except SHAPE_ERRORS as error:
            raise UserError(f"The model does not accept examples of shape {shape}: {first_line(error)}") from error
        if getattr(logits, "shape", None) != (1, c):
            output = f"of shape {tuple(logits.shape[1:])}" if isinstance(logits, Tensor) else type(logits).__name__
            raise UserError(f"The model gives outputs {output}; {c} classes need ({c},).")
        if not any(parameter.requires_grad for parameter in network.parameters()):
            raise UserError("The model has no parameters to learn.")
        try:
            losses = loss(logits)
        except SHAPE_ERRORS as error:
            raise UserError(f"The loss cannot be computed from logits (B, c) alone: {first_line(error)}") from error
    if losses.shape != logits.shape:
        raise UserError("The loss must give a value for every class, logits (B, c) → (B, c); column j if j were true.")

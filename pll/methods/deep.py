"""Estimators trained by gradient descent: they differ in their `Objective` alone."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from pll.errors import UserError
from pll.methods.base import PartialLabelEstimator, Task, check_common_settings, check_number, validated
from pll.training.augment import get_augmentation
from pll.training.devices import choose_device, computing_threads
from pll.training.losses import Loss, get_loss
from pll.training.metrics import EpochRecord, Hook, Monitor, TrainingProgress
from pll.training.models import ModelSpec, build_model, has_batch_norm
from pll.training.rng import seeded
from pll.training.scaling import Scaling, fit_scaling
from pll.training.trainer import (
    Objective,
    Optimisation,
    Trainer,
    evaluating,
    evaluation_batch,
    refuse_divergence,
    train,
)
from pll.weights import Weights

SHAPE_ERRORS = (RuntimeError, AssertionError, ValueError, TypeError, IndexError)
"""What torch's layers raise at inputs that do not fit them."""


class DeepEstimator(PartialLabelEstimator):
    """Common settings of all methods trained by gradient descent.

    Args:
        model: `"linear"`, `"mlp"`, `"convnet"`, `"resnet"`; `"torchvision:…"`; an `nn.Module`; or a function (input
            shape, c) → module.
        loss: `"ce"`, `"mse"`, …; or a function logits (B, c) → (B, c).
        epochs: passes over the data, at least 1.
        batch_size: examples a step, at least 1.
        lr, momentum, weight_decay: of the optimiser (for Adam, momentum is its β₁).
        optimiser: `"sgd"`, as in the paper, or `"adam"`.
        lr_decay, lr_decay_every: every so many epochs the learning rate is multiplied by `lr_decay`, in (0, 1].
        augment: for images: `"none"`, `"crop"` (random shifts of up to 4 pixels) or `"crop-flip"` (and mirrored).
        scale: `"auto"` (z-score; images a channel), `"zscore"`, `"none"`. Learnt on what `fit` gets.
        missing: `"error"` refuses NaN in X, `"mean"` fills it with the mean of its column.
        device: `"auto"` (a GPU if there is one), `"cpu"`, `"cuda"`, …
        threads: CPU threads to compute with; None leaves the setting as it is.
        seed: fixes initial parameters, order of examples, dropout.
    """

    takes_prior: ClassVar[bool] = True
    model_: nn.Module
    """Takes raw features, gives logits: scaling and network in one."""

    def __init__(
        self,
        *,
        model: ModelSpec = "linear",
        loss: str | Loss = "ce",
        epochs: int = 100,
        batch_size: int = 256,
        lr: float = 0.05,
        momentum: float = 0.9,
        weight_decay: float = 1e-3,
        optimiser: str = "sgd",
        lr_decay: float = 1.0,
        lr_decay_every: int = 10,
        augment: str = "none",
        scale: str = "auto",
        missing: str = "error",
        device: str = "auto",
        threads: int | None = None,
        seed: int = 0,
    ) -> None:
        self.model = model
        self.loss = loss
        self.epochs = epochs
        self.batch_size = batch_size
        self.lr = lr
        self.momentum = momentum
        self.weight_decay = weight_decay
        self.optimiser = optimiser
        self.lr_decay = lr_decay
        self.lr_decay_every = lr_decay_every
        self.augment = augment
        self.scale = scale
        self.missing = missing
        self.device = device
        self.threads = threads
        self.seed = seed

    @abstractmethod
    def _objective(self, task: Task) -> Objective:
        """The method's part of the training step."""

    def iter_fit(
        self, task: Task, *, hook: Hook | None = None, checkpoint: dict[str, Any] | None = None
    ) -> Iterator[EpochRecord]:
        self._check_settings()
        task = validated(task, allow_missing=self.missing == "mean")
        device = choose_device(self.device)
        with computing_threads(self.threads):
            trainer = self._trainer = self._new_trainer(task, device)
            monitor = self._monitor = Monitor(task.candidates, task.y, task.y_test)
            if checkpoint is not None:
                trainer.load_state(checkpoint["trainer"])
                monitor.load_state(_from_tensors(checkpoint["monitor"]))
            X_test = None if task.X_test is None else scaled(self._scaling, task.X_test, device)
            if trainer.epoch >= self.epochs:  # the checkpoint was the last one: what is left is to take the result
                self.finish()
        records = train(trainer, self.epochs, monitor, X_test=X_test, hook=hook)
        while trainer.epoch < self.epochs:
            with computing_threads(self.threads):  # and not while the caller has the record
                record = next(records)
                if record.epoch == self.epochs:
                    self._take_result(record.label_weights)
            yield record

    def total_epochs(self) -> int:
        return self.epochs

    def warm_start(self, arrays: dict[str, npt.NDArray[Any]]) -> bool:
        """Parameters and label weights go on from that model; the optimiser begins anew."""
        self._warm_arrays = arrays
        return True

    def checkpoint(self) -> dict[str, Any]:
        assert self._monitor is not None  # made by iter_fit, together with the trainer
        return {
            "epoch": self._trainer.epoch,
            "trainer": self._trainer.state(),
            "monitor": _to_tensors(self._monitor.state()),
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
        """Let go of the training state (optimiser, features on the device); the fitted model stays, on the CPU."""
        super().release()
        if hasattr(self, "model_"):
            self.model_.to("cpu")

    def fitted_arrays(self) -> dict[str, npt.NDArray[Any]]:
        self.check_fitted()
        return {name: tensor.cpu().numpy() for name, tensor in self.model_.state_dict().items()}

    def restore(
        self, arrays: dict[str, npt.NDArray[Any]], input_shape: tuple[int, ...], class_names: tuple[str, ...]
    ) -> Self:
        tensors = {name: torch.from_numpy(np.array(array)) for name, array in arrays.items()}
        scaling = Scaling(*(tensors[f"0.{part}"] for part in ("fill", "shift", "spread")))
        with seeded(self.seed):  # what it draws is overwritten; the caller's stream should not notice
            network = build_model(self.model, input_shape, len(class_names))
        self.model_ = nn.Sequential(scaling, network)
        self.model_.load_state_dict(tensors)
        self.model_.eval()
        self.class_names_ = class_names
        self.input_shape_ = tuple(input_shape)
        return self

    def module(self) -> nn.Module | None:
        self.check_fitted()
        return self.model_

    def predict_scores(self, X: npt.ArrayLike) -> npt.NDArray[np.float32]:
        """Return (n, c) logits of raw features."""
        features = self.checked_features(X)
        device = next(self.model_.parameters()).device
        with evaluating(self.model_):
            parts = [self.model_(part.to(device)).float().cpu() for part in _pieces(features)]
        return torch.cat(parts).numpy()

    def predict_proba(self, X: npt.ArrayLike) -> npt.NDArray[np.float32]:
        return torch.softmax(torch.from_numpy(self.predict_scores(X)), dim=1).numpy()

    def _take_result(self, weights: Weights) -> None:
        self.label_weights_ = weights
        self.class_names_ = self.candidates_.class_names
        self.input_shape_ = tuple(self._trainer.X.shape[1:])
        self.model_.eval()

    def _new_trainer(self, task: Task, device: torch.device) -> Trainer:
        augment = get_augmentation(self.augment, task.X.shape[1:])
        scaling = self._scaling = fit_scaling(task.X, self.scale)
        with seeded(self.seed):
            network = build_model(self.model, task.X.shape[1:], task.candidates.n_classes)
            _check_output(network, get_loss(self.loss), task)  # lazy layers take their shape, and are drawn, here
        if has_batch_norm(network) and self.batch_size < 2:
            raise UserError("This model normalises over the batch; use a batch size of at least 2.")
        self.model_ = nn.Sequential(scaling, network).to(device)
        self.candidates_ = task.candidates
        trainer = Trainer(
            network,
            scaled(scaling, task.X, device),
            task.candidates,
            self._objective(task),
            self._optimisation(),
            self.seed,
            augment,
            loss_draws=callable(self.loss),  # who knows what it does
            prior=task.prior,
        )
        warm = self.__dict__.pop("_warm_arrays", None)
        if warm is not None:
            self.model_.load_state_dict({name: torch.from_numpy(np.array(array)) for name, array in warm.items()})
            trainer.warm_up()
        return trainer

    def _optimisation(self) -> Optimisation:
        return Optimisation(
            self.batch_size,
            self.lr,
            self.momentum,
            self.weight_decay,
            self.optimiser,
            self.lr_decay,
            self.lr_decay_every,
        )

    def _check_settings(self) -> None:
        for name in ("epochs", "batch_size", "lr_decay_every"):
            check_number(name, getattr(self, name), whole=True, least=1)
        for name in ("lr", "momentum", "weight_decay"):
            check_number(name, getattr(self, name), least=0)
        check_number("lr_decay", self.lr_decay, above=0, most=1)
        check_common_settings(self.seed, self.missing)
        get_loss(self.loss)


def scaled(scaling: Scaling, X: npt.NDArray[np.float32], device: torch.device) -> Tensor:
    """Scaled features on the device, made piece by piece so that only one copy of the whole exists."""
    scaling = scaling.to(device)
    out = torch.empty(X.shape, device=device)
    for piece, part in zip(torch.split(out, evaluation_batch(X.shape)), _pieces(X), strict=True):
        piece.copy_(scaling(part.to(device)))
    return out


def _pieces(X: npt.NDArray[np.float32]) -> tuple[Tensor, ...]:
    writable = X if X.flags.writeable else X.copy()  # torch cannot mark a tensor read-only and warns
    return torch.split(torch.from_numpy(writable), evaluation_batch(X.shape))


def _check_output(network: nn.Module, loss: Loss, task: Task) -> None:
    """One evaluation of one example: does the network fit the data, and the loss the network?"""
    c = task.candidates.n_classes
    if not isinstance(network, nn.Module):
        raise UserError(f"A model must be a torch.nn.Module; this one is {type(network).__name__}.")
    with evaluating(network):
        try:
            logits = network(torch.zeros((1, *task.X.shape[1:])))
        except SHAPE_ERRORS as error:
            shape = task.X.shape[1:]
            raise UserError(f"The model does not accept examples of shape {shape}: {_first_line(error)}") from error
        if getattr(logits, "shape", None) != (1, c):
            found = f"of shape {tuple(logits.shape[1:])}" if isinstance(logits, Tensor) else type(logits).__name__
            raise UserError(f"The model gives outputs {found}; {c} classes need ({c},).")
        if not any(parameter.requires_grad for parameter in network.parameters()):
            raise UserError("The model has no parameters to learn.")
        try:
            losses = loss(logits)
        except SHAPE_ERRORS as error:
            raise UserError(f"The loss cannot be computed from logits (B, c) alone: {_first_line(error)}") from error
    if losses.shape != logits.shape:
        raise UserError("The loss must give a value for every class, logits (B, c) → (B, c); column j if j were true.")


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]


def _to_tensors(state: dict[str, Any]) -> dict[str, Any]:
    return {k: torch.from_numpy(v) if isinstance(v, np.ndarray) else v for k, v in state.items()}


def _from_tensors(state: dict[str, Any]) -> dict[str, Any]:
    return {k: v.cpu().numpy().copy() if isinstance(v, Tensor) else v for k, v in state.items()}

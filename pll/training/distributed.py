"""Training in several processes (ranks): each owns a fixed part of the examples and their label weights.

Rank 0 leads: it has the run, and sees an ordinary trainer. The others follow: each waits for the next command and does
its part of it. The mini-batches are those of a single process; of each one a rank computes the examples that it owns,
and `torch.nn.parallel.DistributedDataParallel` adds the gradients up. Between processes go, in each step, a command of
16 bytes and the gradients (and the sums of batch normalisation, where the network has it); after an epoch its mean loss
and the label weights, which rank 0 keeps in the history; and at a checkpoint what a single process would save, so that
training continues with any number of processes.

The results are those of a single process but for rounding: sums are taken in another order. Dropout and random changes
of images differ, since each rank draws its own.
"""

from __future__ import annotations

import copy
import gc
import importlib
import inspect
import os
import weakref
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import timedelta
from itertools import chain
from typing import Any, cast

import numpy as np
import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm
from torch.nn.parallel import DistributedDataParallel

from pll.candidates import CandidateSets
from pll.errors import UserError
from pll.io import large_array
from pll.training.devices import gpus, pinned
from pll.training.layouts import layout_type
from pll.training.models import has_batch_norm
from pll.training.rng import Stream
from pll.training.streamed import Features, read_ahead
from pll.training.trainer import Objective, Optimisation, Step, Trainer, epoch_order
from pll.weights import Weights, log_prior

RANK_TIMEOUT = timedelta(days=365)
"""Timeout of a rank for another: long, since a paused run lets the others wait. An ended rank is noticed at once."""


_GPU_BACKENDS = {"cuda": "nccl", "xpu": "xccl"}


class RanksError(UserError):
    """Processes cannot train together, or not any longer; the run is interrupted and can be resumed."""


PROCESS_COMMANDS = (
    *("end", "step", "end_epoch", "warm_up", "state", "load_state"),
    *("current_label_weights", "evaluated_label_weights"),
)
"""What rank 0 tells the trainers of the others: the method that they call, too."""


class Ranks:
    """The processes that train one model together.

    Parameters
    ----------
    rank
        Of this process, from 0; rank 0 leads.
    size
        How many there are, at least 2.

    Attributes
    ----------
    has_broadcast
        Whether rank 0 has sent a message.
    trainers
        Those that train on the process group, until `close`.
    """

    def __init__(self, rank: int, size: int) -> None:
        self.rank = rank
        self.size = size
        self.has_broadcast = False
        self.trainers: weakref.WeakSet[SharedTrainer] = weakref.WeakSet()

    @classmethod
    def from_environment(cls) -> Ranks | None:
        """Return the ranks that torchrun has started this process among; None where it was started alone.

        Raises
        ------
        UserError
            The processes do not find each other.
        """
        size = int(os.environ.get("WORLD_SIZE", "1"))
        if size < 2 or not {"RANK", "MASTER_ADDR", "MASTER_PORT"} <= os.environ.keys():
            return None
        # The default arguments of its functions hold the group that exists when it is imported. DistributedDataParallel
        # imports it, and would make that the group of this training, which then never ends.
        importlib.import_module("torch.distributed.nn.functional")
        if not dist.is_initialized():
            try:
                dist.init_process_group(_backend(int(os.environ.get("LOCAL_RANK", "0"))), timeout=RANK_TIMEOUT)
            except RuntimeError as error:
                raise RanksError(f"The {size} processes do not find each other: {error}") from error
        return cls(int(os.environ["RANK"]), size)

    def close(self) -> None:
        """Leave the process group; every rank does, when nothing is left to train.

        Otherwise gloo's threads are still running while the interpreter is finalised, which aborts the process
        (SIGABRT) after its work is done. They end with the last reference to the group, and each
        DistributedDataParallel holds one.
        """
        for trainer in list(self.trainers):
            trainer.release()
        gc.collect()
        if dist.is_initialized():
            with suppress(RuntimeError):  # another rank has already ended
                dist.destroy_process_group()

    @property
    def leads(self) -> bool:
        """Whether this is rank 0."""
        return self.rank == 0

    def bounds(self, n: int) -> tuple[int, int]:
        """Return the first of the n examples that this rank owns, and the one after its last.

        Examples
        --------
        >>> [Ranks(rank, 3).bounds(10) for rank in range(3)]
        [(0, 3), (3, 6), (6, 10)]
        """
        return n * self.rank // self.size, n * (self.rank + 1) // self.size

    def broadcast(self, value: Any) -> Any:
        """Return the text, or the state, of rank 0 on every rank; the others pass None."""
        box = [value]
        self.has_broadcast = True
        with self.connected():
            dist.broadcast_object_list(box, src=0)
        return box[0]

    def agree(self, problem: str | None) -> None:
        """Wait for the others; each sends its error, if any.

        Raises
        ------
        UserError
            a rank has a problem.
        """
        problems: list[str | None] = [None] * self.size
        with self.connected():
            dist.all_gather_object(problems, problem)
        for rank, result in enumerate(problems):
            if result is not None:
                raise UserError(f"Rank {rank} of {self.size}: {result}")

    def command(self, number: int = 0) -> int:
        """Return the number of rank 0 on every rank."""
        box = torch.tensor([number])
        with self.connected():
            dist.broadcast(box, src=0)
        return int(box)

    def sum(self, value: Tensor) -> Tensor:
        """Return the sum over the ranks, on the device of `value`."""
        total = value.detach().clone()
        with self.connected():
            dist.all_reduce(total)
        return total

    def gather(self, own: Tensor) -> list[Tensor]:
        """Return the tensors of all ranks in order, on rank 0, in CPU memory; elsewhere none. Sizes may differ.

        Ranks send in turn, so that rank 0 needs memory for the result alone.
        """
        own = own.detach().cpu().contiguous()
        with self.connected():
            if not self.leads:
                dist.send(torch.tensor(own.shape), dst=0)
                dist.send(own, dst=0)
                return []
            shards = [own]
            for rank in range(1, self.size):
                shape = torch.zeros(own.dim(), dtype=torch.int64)
                dist.recv(shape, src=rank)
                shards.append(torch.empty(shape.tolist(), dtype=own.dtype))
                dist.recv(shards[-1], src=rank)
            return shards

    @contextmanager
    def connected(self) -> Iterator[None]:
        """Context manager that turns the error of a lost connection into one for users.

        Raises
        ------
        RanksError
            Another rank has ended.
        """
        try:
            yield
        except RuntimeError as error:
            if not _is_lost(error):
                raise
            raise RanksError(
                "Another process of this training has ended, so it cannot go on. Resume it (in a shell: the same "
                "command with --resume): it goes on from the last checkpoint, with any number of processes."
            ) from error


def _backend(place: int) -> str:
    """Return the back end for the process at a place among those of this machine, whose device it takes."""
    there = gpus()
    if not there:
        return "gloo"
    own = torch.device(there[place % len(there)])
    torch.accelerator.set_device_index(own)
    return f"cpu:gloo,{own.type}:{_GPU_BACKENDS[own.type]}" if own.type in _GPU_BACKENDS else "gloo"


def _is_lost(error: RuntimeError) -> bool:
    words = str(error).lower()
    return isinstance(error, dist.DistError) or any(part in words for part in ("gloo", "nccl", "connection"))


class SharedTrainer(Trainer):
    """A trainer whose examples are spread over ranks. On rank 0 it is used like any other; the others `follow`.

    Parameters
    ----------
    ranks
        The processes.
    candidates
        Of all n examples, of which this rank takes its part.
    X
        Scaled features of the examples that this rank owns, in memory or in a file.
    objective
        Its loss is a mean over the examples of a mini-batch, and its `state()` holds stores of the layout.
    prior
        (nnz,) of all examples.
    network, optimisation, seed, more
        As for `Trainer`.
    """

    _most_parts = 1  # a rank alone cannot compute in parts: the others would wait for other gradients

    def __init__(
        self,
        ranks: Ranks,
        network: nn.Module,
        X: Features,
        candidates: CandidateSets,
        objective: Objective,
        optimisation: Optimisation,
        seed: int,
        *,
        prior: Weights | None = None,
        **more: Any,
    ) -> None:
        self.ranks = ranks
        self._n = len(candidates)
        self._bounds = ranks.bounds(self._n)
        self._global_batch = 1
        rows = slice(*self._bounds)
        self._flat_part = candidates.span(rows)  # what (nnz,) arrays of all examples hold of this rank's
        own = candidates[rows]
        own_prior = None if prior is None else prior[self._flat_part]
        layout = layout_type(candidates)(own, X.device, log_prior(own_prior, own))  # the same kind on every rank
        super().__init__(network, X, own, objective, optimisation, seed, prior=own_prior, layout=layout, **more)
        if objective.owners is not None:
            raise UserError("This method trains in one process; start it without torchrun.")
        here, there = int(os.environ.get("LOCAL_WORLD_SIZE", "1")), len(gpus())
        if X.device.type in _GPU_BACKENDS and here > there:
            raise UserError(
                f"torchrun has started {here} processes on a machine with {there} GPU{'s' * (there > 1)}; start one "
                f"for each (--nproc-per-node {there}), or use the device 'cpu'."
            )
        if not ranks.leads:
            self._separate_stream()
        with ranks.connected():
            devices = None if X.device.type == "cpu" else [X.device]
            # Every rank computes the same running statistics; `forward_sync_buffers` is new in torch 2.13.
            parameters = inspect.signature(DistributedDataParallel).parameters
            buffers: dict[str, Any] = {
                "forward_sync_buffers" if "forward_sync_buffers" in parameters else "broadcast_buffers": False
            }
            self.forward = DistributedDataParallel(_synchronised(self.network), device_ids=devices, **buffers)
        ranks.trainers.add(self)

    def release(self) -> None:
        """Leave the process group; afterwards this trainer uses its own network alone."""
        self.forward = self.network

    @property
    def n_examples(self) -> int:
        return self._n

    # ---- commands of rank 0, run by every rank -------------------------------------------------------------------

    def follow(self) -> None:
        """On a rank other than 0: do what rank 0 asks for, until it ends the training.

        Raises
        ------
        UserError
            Rank 0, or another rank, has ended.
        """
        self.network.train()
        batches = self.batches_left()
        while (command := PROCESS_COMMANDS[self.ranks.command()]) != "end":
            if command == "step":
                with self.stream.drawing():
                    self.step(next(batches))
            else:
                getattr(self, command)(*([{}] if command == "load_state" else []))
            if command in ("end_epoch", "load_state"):
                batches = self.batches_left()

    def end(self) -> None:
        """On rank 0: let the other ranks go."""
        self._lead("end")

    def _lead(self, command: str) -> None:
        if self.ranks.leads:
            self.ranks.command(PROCESS_COMMANDS.index(command))

    def step(self, units: Tensor) -> Step:
        """Train on this rank's part of a mini-batch; it may be empty.

        Parameters
        ----------
        units
            Of `batches_left`.
        """
        self._lead("step")
        before = self._loss_sum.clone()
        with self.ranks.connected():
            step = super().step(units)
        if not len(units):  # the mean of an empty batch is NaN; its gradients are 0
            self._loss_sum.copy_(before)
        return step

    def _loss_share(self, count: int) -> Tensor | None:
        # The gradients are averaged over the ranks, of which each has the mean loss of its own examples.
        return self._share(count * self.ranks.size / self._global_batch)

    def batches_left(self) -> Iterator[Tensor]:
        """Yield this rank's part of the remaining mini-batches of this epoch, as positions among its examples."""
        start, stop = self._bounds
        order = epoch_order(self._n, self.seed, self.epoch)
        places = torch.from_numpy(large_array(stop - start, np.int64))
        torch.nonzero((order >= start) & (order < stop), out=places.unsqueeze(1))
        rows = pinned(order[places] - start, self.X.device)
        del order
        ends = deque[int]()

        def parts() -> Iterator[tuple[Tensor, Tensor]]:
            for begin, end in self._cuts():
                ends.append(end)
                first, last = torch.searchsorted(places, torch.tensor([begin, end])).tolist()
                yield rows[first:last], rows[first:last]

        for units in read_ahead(self.X, parts()):
            end = ends.popleft()
            self._global_batch = end - self.cursor
            yield units
            self.cursor = end

    def end_epoch(self) -> float:
        self._lead("end_epoch")
        self._loss_sum = self.ranks.sum(self._loss_sum)
        return super().end_epoch()

    def end_epoch_with_weights(self) -> tuple[float, Weights]:
        return self.end_epoch(), self.current_label_weights()

    def current_label_weights(self) -> Weights:
        """Return on rank 0 the (nnz,) label weights of all examples; elsewhere this rank's part."""
        self._lead("current_label_weights")
        return self._gathered(super().current_label_weights())

    def evaluated_label_weights(self) -> Weights:
        """Return like `current_label_weights` the label weights of the current model."""
        self._lead("evaluated_label_weights")
        return self._gathered(super().evaluated_label_weights())

    def _gathered(self, own: Weights) -> Weights:
        shards = self.ranks.gather(torch.from_numpy(own))
        if not shards:
            return own
        joined: Weights = large_array(sum(map(len, shards)), np.float32)
        np.concatenate([part.numpy() for part in shards], out=joined)
        return joined

    def warm_up(self) -> None:
        self._lead("warm_up")
        with self.ranks.connected():
            for tensor in chain(self.network.parameters(), self.network.buffers()):
                dist.broadcast(tensor.detach(), src=0)
        super().warm_up()

    def state(self) -> dict[str, Any]:
        """Return on rank 0 the state that a single process would return; elsewhere that of this rank."""
        self._lead("state")
        own = super().state()
        loss_sum = self.ranks.sum(self._loss_sum)
        weights = _joined(self.ranks.gather(self.label_weights))
        stores = {name: _joined(self.ranks.gather(store)) for name, store in own["objective"].items()}
        if weights is None:
            return own
        return own | {"loss_sum": loss_sum, "label_weights": weights, "objective": stores}

    def load_state(self, state: dict[str, Any]) -> None:
        """Restore what `state()` of a trainer returned on rank 0, whatever number of ranks that had."""
        self._lead("load_state")
        state = self.ranks.broadcast(dict(state) if self.ranks.leads else None)
        state["label_weights"] = self._own_part(state["label_weights"])
        state["objective"] = {name: self._own_part(store) for name, store in state["objective"].items()}
        super().load_state(state)
        if not self.ranks.leads:
            self._loss_sum.zero_()  # rank 0 has the stores of all
            self._separate_stream()

    def _own_part(self, store: Tensor) -> Tensor:
        """Return this rank's part of a store of all examples: (n, c), or (nnz + 1,) with a place for padding."""
        if store.dim() > 1:
            return store[slice(*self._bounds)]
        return torch.cat([store[self._flat_part], store[-1:]])

    def _separate_stream(self) -> None:
        """Start a random stream that differs from those of the other ranks."""
        mixed = np.random.SeedSequence([self.seed, self.ranks.rank, self.epoch, self.cursor])
        other = Stream(self.X.device, int(mixed.generate_state(1)[0]))
        self.stream.load_state(other.state())


def _joined(shards: Sequence[Tensor]) -> Tensor | None:
    """Return the store of all examples, of those of the ranks; None where there are none."""
    if not shards:
        return None
    if shards[0].dim() > 1:
        return torch.cat(list(shards))
    return torch.cat([*(part[:-1] for part in shards), shards[0][-1:]])


# ---- batch normalisation over all ranks ------------------------------------------------------------------------------


def _synchronised(network: nn.Module) -> nn.Module:
    """Return a network over the same parameters and buffers whose batch normalisation sees the whole mini-batch."""
    if not has_batch_norm(network):
        return network
    shared: dict[int, Any] = {id(tensor): tensor for tensor in chain(network.parameters(), network.buffers())}
    twin = copy.deepcopy(network, shared).train()
    if next(network.parameters()).device.type in _GPU_BACKENDS:
        convert: Callable[[nn.Module], nn.Module] = nn.SyncBatchNorm.convert_sync_batchnorm
        return convert(twin)
    if isinstance(twin, _BatchNorm):
        return _GlobalBatchNorm(twin)
    for module in list(twin.modules()):
        for name, child in list(module.named_children()):
            if isinstance(child, _BatchNorm):
                setattr(module, name, _GlobalBatchNorm(child))
    return twin


class _SumOverRanks(torch.autograd.Function):
    """The sum of the tensors of all ranks; its gradient is the sum of theirs."""

    @staticmethod
    def forward(ctx: Any, own: Tensor) -> Tensor:
        total = own.clone()
        dist.all_reduce(total)
        return total

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Tensor:
        return _SumOverRanks.forward(ctx, gradient)


class _GlobalBatchNorm(nn.Module):
    """Batch normalisation in training mode over the mini-batches of all ranks; torch's own runs on GPUs alone.

    Parameters
    ----------
    layer
        Of one process, whose parameters and running statistics it takes.
    """

    def __init__(self, layer: _BatchNorm) -> None:
        super().__init__()
        self.layer = layer

    def forward(self, inputs: Tensor) -> Tensor:
        """Return inputs (B, C, …), normalised for each of the C channels; B may be 0."""
        layer, sum_over_ranks = self.layer, cast(Callable[[Tensor], Tensor], _SumOverRanks.apply)
        over, shape = [0, *range(2, inputs.dim())], [1, -1, *[1] * (inputs.dim() - 2)]  # one number a channel
        count = inputs.new_full((1,), inputs.numel() // inputs.shape[1])
        total, sums = sum_over_ranks(torch.cat([count, inputs.sum(over)])).tensor_split([1])
        mean = sums / total
        centred = inputs - mean.view(shape)
        variance = sum_over_ranks(centred.square().sum(over)) / total  # from centred values, to avoid cancellation
        normal = centred * torch.rsqrt(variance + layer.eps).view(shape)
        if layer.running_mean is not None and layer.running_var is not None and layer.num_batches_tracked is not None:
            with torch.no_grad():
                layer.num_batches_tracked.add_(1)
                share = 1 / float(layer.num_batches_tracked) if layer.momentum is None else layer.momentum
                layer.running_mean.lerp_(mean, share)
                layer.running_var.lerp_(variance * (total / (total - 1)), share)
        if layer.affine:
            normal = normal * layer.weight.view(shape) + layer.bias.view(shape)
        return normal

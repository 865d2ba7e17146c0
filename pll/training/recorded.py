"""A training step as a CUDA graph: recorded once an epoch, then repeated without the processor launching it again.

A small model's step is dozens of operations of a few microseconds, which a processor cannot launch as fast as a GPU
does them. A graph does the same operations on the same memory; only the numbers of the examples are written anew each
time. What Python decides is fixed by the recording, the learning rate, say: hence a recording for each epoch, and none
of steps for which Python decides more than that.

`benchmarks.gpu --only graph` compares the results with those of launched steps.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

import torch
from torch import Tensor

from pll.training.devices import can_record, recording, recording_stream, records

LEAST_STEPS = 4
"""Mini-batches of an epoch from which on a recording saves more than it takes."""
T = TypeVar("T")


class RecordedSteps(Generic[T]):
    """Steps over mini-batches of one size on one GPU.

    Parameters
    ----------
    device
        Where they compute; on others than CUDA nothing is recorded.
    generator
        From which they draw random numbers.

    Attributes
    ----------
    is_recorded
        Whether there is a recording now.
    result
        What the recorded step has returned; its tensors hold the values of the latest repetition.
    """

    result: T

    def __init__(self, device: torch.device, generator: torch.Generator | None = None) -> None:
        self._device = device
        self._generator = generator
        self._is_possible = records(device)
        self._units: Tensor | None = None
        self._graph: torch.cuda.CUDAGraph | None = None
        self._epoch = -1

    @property
    def is_recorded(self) -> bool:
        return self._graph is not None

    def repeat(self, step: Callable[[Tensor], T], units: Tensor, epoch: int) -> bool:
        """Do a step by the recording of this epoch, and return whether it was done.

        The first mini-batch of all is left to the caller: it allocates what stays, and libraries choose what they
        compute with. So is every one where memory is scarce.

        Parameters
        ----------
        step
            Work on the numbers of training units, (B,) int64 on the device. It waits for nothing.
        units
            (B,) int64, page-locked in the machine's memory.
        epoch
            Its number.
        """
        if not self._is_possible:
            return False
        if self._units is None or len(self._units) != len(units):
            self.forget()
            self._units = torch.empty(len(units), dtype=torch.int64, device=self._device)
            return False
        if self._graph is None or self._epoch != epoch:
            self._record(step, self._units, epoch)
        if self._graph is None:
            return False
        self._units.copy_(units, non_blocking=True)
        self._graph.replay()
        return True

    def forget(self) -> None:
        """Let go of the recording and its memory."""
        self._graph = None
        vars(self).pop("result", None)

    def stop(self) -> None:
        """Let go of the recording, and record no more."""
        self.forget()
        self._is_possible = False

    def _record(self, step: Callable[[Tensor], T], units: Tensor, epoch: int) -> None:
        earlier = self._graph  # whose memory the new one takes; it is not given away as long as this lives
        if earlier is None and not can_record(self._device):
            self._is_possible = False
            return
        self.forget()
        graph = torch.cuda.CUDAGraph()
        if self._generator is not None:
            graph.register_generator_state(self._generator)
        with recording, torch.cuda.stream(recording_stream(self._device)):
            graph.capture_begin(None if earlier is None else earlier.pool(), capture_error_mode="thread_local")
            try:
                self.result = step(units)
            finally:
                graph.capture_end()
        self._graph, self._epoch = graph, epoch

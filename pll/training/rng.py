"""Random streams: a generator for each trainer, and a lock for models that draw from torch's global stream."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor

_LOCKS: dict[tuple[str, str], threading.RLock] = {}
"""A lock for each device, created on first use."""


class Stream:
    """Random stream on a device that is independent of other draws.

    Parameters
    ----------
    device
        Where its numbers are drawn.
    seed
        Seed of the generator.
    is_global
        Whether its numbers are drawn from torch's global stream, as dropout does. The global stream then takes the
        state of this one within `drawing`, and other threads that need it wait.
    """

    def __init__(self, device: torch.device, seed: int, *, is_global: bool = True) -> None:
        self._device = device
        self._is_global = is_global
        self._own = torch.Generator(device=device).manual_seed(int(seed))
        self._drawing = False

    @property
    def generator(self) -> torch.Generator | None:
        """The generator to draw from; None, torch's global stream, while that has the state of this stream."""
        return None if self._drawing else self._own

    @contextmanager
    def drawing(self) -> Iterator[None]:
        """Context manager in which a model draws from this stream; the global state is restored afterwards."""
        if not self._is_global:
            yield
            return
        with _alone(self._device):
            _set_state(self._device, self._own.get_state())
            self._drawing = True
            try:
                yield
            finally:
                self._drawing = False
                self._own.set_state(_get_state(self._device))

    def state(self) -> Tensor:
        """Return the current state, also within `drawing`."""
        return _get_state(self._device) if self._drawing else self._own.get_state()

    def load_state(self, state: Tensor) -> None:
        """Restore what `state()` returned."""
        self._own.set_state(state.cpu())

    def twin(self) -> Stream:
        """Return another stream with the current state of this one."""
        twin = Stream(self._device, 0, is_global=self._is_global)
        twin.load_state(self.state())
        return twin


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Context manager that seeds the CPU's global stream; the state before is restored afterwards."""
    with _alone(torch.device("cpu")):
        torch.default_generator.manual_seed(int(seed))  # torch.manual_seed would start the GPU's again, too
        yield


def lock_of(device: torch.device) -> threading.RLock:
    """Return the lock of a device's global stream; every GPU has its own."""
    kind, _, index = str(device).partition(":")  # "cuda" means the current GPU
    if not index:
        index = str(torch.cuda.current_device()) if kind == "cuda" else "0"
    return _LOCKS.setdefault((kind, index), threading.RLock())


@contextmanager
def _alone(device: torch.device) -> Iterator[None]:
    """Hold the lock of the device's global stream; its state is restored afterwards."""
    with lock_of(device):
        before = _get_state(device)
        try:
            yield
        finally:
            _set_state(device, before)


def _get_state(device: torch.device) -> Tensor:
    return torch.cuda.get_rng_state(device) if device.type == "cuda" else torch.get_rng_state()


def _set_state(device: torch.device, state: Tensor) -> None:
    if device.type == "cuda":
        torch.cuda.set_rng_state(state, device)
    else:
        torch.set_rng_state(state)

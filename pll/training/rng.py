"""Random streams: one for each trainer, and a lock for models that can only draw from torch's global one."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor

_LOCKS: dict[tuple[str, str], threading.RLock] = {}
"""One for each device, made when it is first needed."""


class Stream:
    """A random stream on a device that goes on where it was left, whatever others draw meanwhile.

    Args:
        seed: where it starts.
        is_global: whether its numbers are drawn from torch's global stream, as dropout does. That stream is then put
            in this one's place within `drawing`, and other threads that need it wait.
    """

    def __init__(self, device: torch.device, seed: int, *, is_global: bool = True) -> None:
        self._device = device
        self._is_global = is_global
        self._own = torch.Generator(device=device).manual_seed(int(seed))
        self._drawing = False

    @property
    def generator(self) -> torch.Generator | None:
        """What draws take as `generator=`; None, torch's global stream, while that one is in place of this."""
        return None if self._drawing else self._own

    @contextmanager
    def drawing(self) -> Iterator[None]:
        """Whatever a model draws inside comes from this stream; the global one is put back afterwards."""
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
        """Where it stands now, even while it is drawn from."""
        return _get_state(self._device) if self._drawing else self._own.get_state()

    def load_state(self, state: Tensor) -> None:
        """Go on from `state()`."""
        self._own.set_state(state.cpu())

    def twin(self) -> Stream:
        """Another stream that goes on from where this one stands now."""
        twin = Stream(self._device, 0, is_global=self._is_global)
        twin.load_state(self.state())
        return twin


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """The CPU's global stream starts at `seed` inside; the caller's is put back afterwards."""
    with _alone(torch.device("cpu")):
        torch.default_generator.manual_seed(int(seed))  # torch.manual_seed would start the GPU's again, too
        yield


def lock_of(device: torch.device) -> threading.RLock:
    """The lock of a device's global stream; every GPU has its own."""
    kind, _, index = str(device).partition(":")  # "cuda" means the current GPU
    if not index:
        index = str(torch.cuda.current_device()) if kind == "cuda" else "0"
    return _LOCKS.setdefault((kind, index), threading.RLock())


@contextmanager
def _alone(device: torch.device) -> Iterator[None]:
    """No other thread draws from the device's global stream inside (if it keeps to this); it is put back afterwards."""
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

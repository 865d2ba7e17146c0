"""torch's random streams. There is one for each device in the whole process: whoever draws from it needs it alone."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor

_ALONE = {"cpu": threading.RLock(), "cuda": threading.RLock()}


class Stream:
    """A random stream of one's own on a device: it goes on where it was left, whatever others draw meanwhile.

    Args:
        seed: where it starts.
    """

    def __init__(self, device: torch.device, seed: int) -> None:
        self._device = device
        self._left_at = torch.Generator(device=device).manual_seed(int(seed)).get_state()
        self._drawing = False

    @contextmanager
    def drawing(self) -> Iterator[None]:
        """Whatever is drawn inside comes from this stream; the caller's is put back afterwards."""
        with _alone(self._device):
            _set_state(self._device, self._left_at)
            self._drawing = True
            try:
                yield
            finally:
                self._drawing = False
                self._left_at = _get_state(self._device)

    def state(self) -> Tensor:
        """Where it stands now, even while it is drawn from."""
        return _get_state(self._device) if self._drawing else self._left_at

    def load_state(self, state: Tensor) -> None:
        """Go on from `state()`."""
        self._left_at = state.cpu()

    def twin(self) -> Stream:
        """Another stream that goes on from where this one stands now."""
        twin = Stream(self._device, 0)
        twin.load_state(self.state())
        return twin


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """The CPU's random stream starts at `seed` inside; the caller's is put back afterwards."""
    with _alone(torch.device("cpu")):
        torch.default_generator.manual_seed(int(seed))  # torch.manual_seed would start the GPU's again, too
        yield


@contextmanager
def _alone(device: torch.device) -> Iterator[None]:
    """No other thread draws from the device's stream inside (if it keeps to this); it is put back afterwards."""
    with _ALONE.get(device.type, _ALONE["cpu"]):
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

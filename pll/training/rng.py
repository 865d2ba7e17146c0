"""Random streams: a generator for each trainer, from which its network draws, too.

Torch's dropout draws from the device's global stream, which all threads share. Within `Stream.drawing` it draws from
the stream's own generator instead, the same numbers on a CPU, so that trainers need not wait for each other. What draws
in ways that this cannot see (a loss of the user, a module from elsewhere, dropout inside recurrent and attention
layers) gets the global stream with the state of this one, and others that need it wait.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Literal
from zlib import crc32

import torch
from torch import Tensor
from torch.nn import functional
from torch.overrides import TorchFunctionMode

from pll.training.devices import full_name, random_state, set_random_state

Draws = Literal["nothing", "layers", "anything"]
"""What draws random numbers in a training pass: nothing; dropout as torch's layers call it; anything else too."""

_LOCKS: dict[str, threading.RLock] = {}
"""A lock for each device, created on first use."""


class Stream:
    """Random stream on a device that is independent of other draws.

    Parameters
    ----------
    device
        Where its numbers are drawn.
    seed
        Seed of the generator.
    draws
        What draws from it within `drawing`. For `"anything"` the device's global stream then takes the state of this
        one, and other threads that need it wait.
    """

    def __init__(self, device: torch.device, seed: int, *, draws: Draws = "anything") -> None:
        self._device = device
        self.draws = draws
        self._own = torch.Generator(device=device).manual_seed(int(seed))
        self._is_swapped = False

    @property
    def generator(self) -> torch.Generator | None:
        """The generator to draw from; None, torch's global stream, while that has the state of this stream."""
        return None if self._is_swapped else self._own

    @contextmanager
    def drawing(self) -> Iterator[None]:
        """Context manager in which a model draws from this stream; the global state is as before afterwards."""
        if self.draws == "nothing":
            yield
        elif self.draws == "layers":
            with _DrawFrom(self._own):
                yield
        else:
            with _alone(self._device):
                set_random_state(self._device, self._own.get_state())
                self._is_swapped = True
                try:
                    yield
                finally:
                    self._is_swapped = False
                    self._own.set_state(random_state(self._device))

    def state(self) -> Tensor:
        """Return the current state, also within `drawing`."""
        return random_state(self._device) if self._is_swapped else self._own.get_state()

    def load_state(self, state: Tensor) -> None:
        """Restore what `state()` returned; of another kind of device: go on with other numbers, always the same."""
        if len(state) == len(self._own.get_state()):
            self._own.set_state(state.cpu())
        else:
            self._own.manual_seed(crc32(state.cpu().numpy().tobytes()))

    def twin(self) -> Stream:
        """Return another stream with the current state of this one."""
        twin = Stream(self._device, 0, draws=self.draws)
        twin.load_state(self.state())
        return twin


class _DrawFrom(TorchFunctionMode):
    """Let dropout, and `Tensor.bernoulli_`, draw from a generator. It holds for this thread alone."""

    def __init__(self, generator: torch.Generator) -> None:
        super().__init__()
        self._generator = generator

    def __torch_function__(
        self, func: Callable[..., Any], types: Iterable[type], args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        named: dict[str, Any] = kwargs or {}
        if func in _WHOLE:
            return _dropped(self._generator, _WHOLE[func], *args, **named)
        if func is Tensor.bernoulli_:
            named = {"generator": self._generator} | named
        return func(*args, **named)


_WHOLE: dict[Callable[..., Any], Callable[[int], int]] = {
    functional.dropout: lambda dimensions: dimensions,
    functional.dropout1d: lambda dimensions: dimensions - 1,
    functional.dropout2d: lambda _: 2,  # torch takes three dimensions as (B, C, L) here
    functional.dropout3d: lambda dimensions: dimensions - 3,
}
"""Function → how many first dimensions get noise of their own; the rest, of a channel say, is dropped as a whole."""


def _dropped(
    generator: torch.Generator,
    whole: Callable[[int], int],
    input: Tensor,
    p: float = 0.5,
    training: bool = True,
    inplace: bool = False,
) -> Tensor:
    """Return what dropout gives, as torch computes it on a CPU: noise of 0 and 1 / (1 − p), and a product."""
    if p == 0 or not training or not input.numel():
        return input
    own = whole(input.dim())
    noise = (
        torch.empty_like(input)
        if own == input.dim()
        else input.new_empty((*input.shape[:own], *[1] * (input.dim() - own)))
    )
    noise = noise.zero_() if p == 1 else noise.bernoulli_(1 - p, generator=generator).div_(1 - p)
    return input.mul_(noise) if inplace else input * noise


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Context manager that seeds the CPU's global stream; the state before is restored afterwards."""
    with _alone(torch.device("cpu")):
        torch.default_generator.manual_seed(int(seed))  # torch.manual_seed would start the GPU's again, too
        yield


@contextmanager
def _alone(device: torch.device) -> Iterator[None]:
    """Hold the lock of the device's global stream; its state is restored afterwards."""
    with _LOCKS.setdefault(full_name(device), threading.RLock()):
        before = random_state(device)
        try:
            yield
        finally:
            set_random_state(device, before)

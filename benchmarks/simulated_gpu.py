"""A GPU in pretence, for machines without one: what training does on a device is checked by numbers of the CPU.

Within `SimulatedGpu` there is a device `sim:0`. Its tensors are the CPU's, wrapped, so that the results are the CPU's
to the last bit. As on a GPU

- a tensor is on one device, and operations across two are refused;
- what makes the processor wait for the device is counted: a number read (`item`, `int`, `float`, `if tensor`), a copy
  to the machine's memory, a result whose size depends on values (`nonzero`, `unique`, a mask as index);
- memory is counted, and may be limited: beyond it there is `torch.OutOfMemoryError`.

What it cannot show: time, streams, other rounding, kernels that are missing.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any
from unittest import mock

import torch
from torch import Tensor
from torch.utils._mode_utils import no_dispatch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map

from pll import devices
from pll.methods import deep

NAME = "sim:0"
WAITS = frozenset(
    f"aten::{name}"
    for name in ("_local_scalar_dense", "nonzero", "masked_select", "equal", "is_nonzero", "_unique2", "unique_dim")
)
"""Operations whose result the processor must have before it goes on."""


@cache
def device() -> torch.device:
    """Return the device, which torch is told of once."""
    from torch.utils.backend_registration import _setup_privateuseone_for_python_backend

    _setup_privateuseone_for_python_backend("sim")
    return torch.device(NAME)


class _OnDevice(Tensor):
    """A tensor of the device; `numbers` has its numbers."""

    numbers: Tensor

    @staticmethod
    def __new__(cls, inner: Tensor) -> _OnDevice:
        result: _OnDevice = Tensor._make_wrapper_subclass(
            cls,
            inner.size(),
            strides=inner.stride(),
            storage_offset=inner.storage_offset(),
            dtype=inner.dtype,
            device=device(),
        )
        result.numbers = inner
        return result

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:  # type: ignore[override]
        raise RuntimeError(f"{func} outside of SimulatedGpu.")


class SimulatedGpu(TorchDispatchMode):
    """The device, for the thread that enters it.

    Parameters
    ----------
    limit
        Bytes of its memory; None for as many as the machine has.

    Attributes
    ----------
    waits
        Names of the operations for which the processor waited, in order.
    watch
        Whether to keep the `peak`, the most bytes that were allocated; kept where there is a limit.
    """

    def __init__(self, limit: int | None = None) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # torch's own
        self.limit = limit
        self.watch = False
        self.peak = 0
        self._overrun = 0
        self._thread = threading.get_ident()
        self.waits: list[str] = []
        self._alive: weakref.WeakSet[_OnDevice] = weakref.WeakSet()

    def allocated(self) -> int:
        """Return the bytes of all tensors that are alive on the device; views count once."""
        storages = [tensor.numbers.untyped_storage() for tensor in list(self._alive)]
        return sum({storage._cdata: storage.nbytes() for storage in storages}.values())

    def memory(self) -> devices.Memory | None:
        """Return the memory as `pll.devices.memory_of` does."""
        return None if self.limit is None else devices.Memory(self.limit - self.allocated(), self.limit)

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        tensors = [leaf for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, Tensor)]
        target = None if kwargs.get("device") is None else torch.device(kwargs["device"])
        is_here = any(isinstance(tensor, _OnDevice) for tensor in tensors)
        if not is_here and (target is None or target.type != "sim"):
            return func(*args, **kwargs)
        name = func._schema.name
        self._look(name, tensors, target)
        if target is not None:
            kwargs = kwargs | {"device": torch.device("cpu")}
        inner_args, inner_kwargs = tree_map(_inner, (args, kwargs))
        result = func(*inner_args, **inner_kwargs)
        if torch.Tag.inplace_view in func.tags:  # `squeeze_`, say: of the wrapper too
            with no_dispatch():
                func(*args, **kwargs)
        if target is not None and target.type != "sim":
            return result
        changed = {id(_inner(tensor)): tensor for tensor in tensors}
        return tree_map(lambda part: changed[id(part)] if id(part) in changed else self._wrapped(part), result)

    def _look(self, name: str, tensors: list[Tensor], target: torch.device | None) -> None:
        """Count a wait; refuse an operation across devices."""
        if name == "aten::_to_copy" and target is not None:
            if target.type != "sim":
                self.waits.append("copy to the machine")
            return
        if name == "aten::copy_":
            if not isinstance(tensors[0], _OnDevice):
                self.waits.append("copy to the machine")
            return
        masks = name in ("aten::index", "aten::index_put", "aten::index_put_") and any(
            tensor.dtype == torch.bool for tensor in tensors[1:]
        )
        if name in WAITS or masks:
            self.waits.append(name)
        if any(not isinstance(tensor, _OnDevice) and tensor.dim() for tensor in tensors):
            raise RuntimeError(f"{name}: tensors on two devices, cpu and {NAME}.")

    def _wrapped(self, part: Any) -> Any:
        if not isinstance(part, Tensor):
            return part
        wrapped = _OnDevice(part)
        self._alive.add(wrapped)
        if self.watch or self.limit is not None:
            now = self.allocated()
            self.peak = max(self.peak, now)
            # An error in the thread of autograd would end the process: the next operation outside of it raises it.
            if self.limit is not None and max(now, self._overrun) > self.limit:
                self._overrun = now
                if threading.get_ident() != self._thread:
                    return wrapped
                self._overrun = 0
                raise torch.OutOfMemoryError(f"{NAME} out of memory: {now:,} bytes, {self.limit:,} allowed.")
        return wrapped


def _inner(part: Any) -> Any:
    return part.numbers if isinstance(part, _OnDevice) else part


@contextmanager
def simulated_gpu(limit: int | None = None) -> Iterator[SimulatedGpu]:
    """Context manager in which `"auto"` is the simulated GPU, also for `pll.devices`.

    Parameters
    ----------
    limit
        Bytes of its memory.
    """
    made, gpu = device(), SimulatedGpu(limit)

    class Generator(torch.Generator):  # the device draws on the CPU
        def __new__(cls, device: Any = None) -> Generator:
            return super().__new__(cls, device="cpu")  # type: ignore[call-arg]

    def memory_of(name: str | torch.device) -> devices.Memory | None:
        return None if torch.device(name).type == "cpu" else gpu.memory()

    with (
        mock.patch.object(devices, "gpus", lambda: () if made.type in devices._lost else (NAME,)),
        mock.patch.object(devices, "memory_of", memory_of),
        mock.patch.object(deep, "memory_of", memory_of),
        mock.patch.object(torch, "Generator", Generator),
        gpu,
    ):
        try:
            yield gpu
        finally:
            devices._lost.discard(made.type)

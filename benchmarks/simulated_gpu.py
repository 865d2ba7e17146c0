"""A GPU in pretence, for machines without one: what training does on a device is checked by numbers of the CPU.

Within `SimulatedGpu` there is a device `sim:0`. Its tensors are the CPU's, wrapped, so that the results are the CPU's
to the last bit. As on a GPU

- a tensor is on one device, and operations across two are refused; so are steps of an optimiser on parameters,
  gradients and moments that are stored in different orders;
- what makes the processor wait for the device is counted: a number read (`item`, `int`, `float`, `if tensor`), a copy
  to the machine's memory, one from there unless that is page-locked and `non_blocking`, a result whose size depends on
  values (`nonzero`, `unique`, a mask as index);
- the steps of an epoch are recorded and repeated, in pretence: each time they are done anew, on the examples' numbers
  that the device has;
- memory is counted, and may be limited: beyond it there is `torch.OutOfMemoryError`.

What it cannot show: time, streams, other rounding, kernels that are missing.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from types import SimpleNamespace
from typing import Any
from unittest import mock

import torch
from torch import Tensor
from torch.utils._mode_utils import no_dispatch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map

from pll.methods import deep
from pll.training import devices, recorded
from pll.training.recorded import RecordedSteps

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

    def __reduce_ex__(self, protocol: Any) -> Any:
        return self.numbers.__reduce_ex__(protocol)  # type: ignore[no-untyped-call]  # as with `map_location="cpu"`

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:  # type: ignore[override]  # any types
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
        self._pinned: dict[int, Tensor] = {}

    def allocated(self) -> int:
        """Return the bytes of all tensors that are alive on the device; views count once."""
        storages = [tensor.numbers.untyped_storage() for tensor in list(self._alive)]
        return sum({storage._cdata: storage.nbytes() for storage in storages}.values())

    def memory(self) -> devices.Memory | None:
        """Return the memory as `pll.training.devices.memory_of` does."""
        return None if self.limit is None else devices.Memory(self.limit - self.allocated(), self.limit)

    def pinned(self, tensor: Tensor) -> Tensor:
        """Return the tensor as page-locked, of which only a note is made."""
        self._pinned[tensor.untyped_storage()._cdata] = tensor
        return tensor

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        tensors = [leaf for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, Tensor)]
        target = None if kwargs.get("device") is None else torch.device(kwargs["device"])
        is_here = any(isinstance(tensor, _OnDevice) for tensor in tensors)
        if not is_here and (target is None or target.type != "sim"):
            return func(*args, **kwargs)
        name = func._schema.name
        non_blocking = kwargs.get("non_blocking", name == "aten::copy_" and len(args) > 2 and args[2])
        self._look(name, args, tensors, target, non_blocking=bool(non_blocking))
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

    def _look(
        self, name: str, args: Any, tensors: list[Tensor], target: torch.device | None, *, non_blocking: bool
    ) -> None:
        """Count a wait; refuse what a GPU would."""
        if name in ("aten::copy_", "aten::_to_copy") and (target is not None or name == "aten::copy_"):
            to = isinstance(tensors[0], _OnDevice) if target is None else target.type == "sim"
            if not to:
                self.waits.append("copy to the machine")
            elif not isinstance(tensors[-1], _OnDevice) and not (
                non_blocking and tensors[-1].untyped_storage()._cdata in self._pinned
            ):
                self.waits.append("copy from the machine")
            return
        if name.startswith("aten::_fused_"):
            lists = [one for one in args if isinstance(one, list) and one and one[0].dim()]
            if any(len({tuple(_order(one)) for one in same}) > 1 for same in zip(*lists, strict=True)):
                raise RuntimeError(f"{name}: tensors stored in different orders.")
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
    if not isinstance(part, _OnDevice):
        return part
    if part.stride() != part.numbers.stride():  # `Module.to` has stored a parameter in another order
        part.numbers = torch.empty_strided(part.shape, part.stride(), dtype=part.dtype).copy_(part.numbers)
    return part.numbers


def _order(tensor: Tensor) -> list[tuple[int, int]]:
    """Return sizes and strides as fused steps compare them."""
    return [(size, stride) for size, stride in zip(tensor.shape, tensor.stride(), strict=True) if size > 1]


@contextmanager
def simulated_gpu(limit: int | None = None) -> Iterator[SimulatedGpu]:
    """Context manager in which `"auto"` is the simulated GPU, also for `pll.training.devices`.

    Parameters
    ----------
    limit
        Bytes of its memory.
    """
    made, gpu, made_of = device(), SimulatedGpu(limit), torch.tensor

    class Generator(torch.Generator):  # the device draws on the CPU
        def __new__(cls, device: Any = None) -> Generator:
            return super().__new__(cls, device="cpu")  # type: ignore[call-arg]  # not in its stub

    def tensor(data: Any, *, device: Any = None, **more: Any) -> Tensor:  # torch's own asks no mode
        return made_of(data, **more).to(device)

    def memory_of(name: str | torch.device) -> devices.Memory | None:
        return None if torch.device(name).type == "cpu" else gpu.memory()

    def record(self: RecordedSteps[Any], step: Any, units: Tensor, epoch: int) -> None:
        self._epoch = epoch
        self._graph = SimpleNamespace(replay=lambda: setattr(self, "result", step(units)))  # type: ignore[assignment]  # no graph

    with (
        mock.patch.object(recorded, "records", lambda device: device.type == made.type),
        mock.patch.object(RecordedSteps, "_record", record),
        mock.patch.object(devices, "gpus", lambda: () if made.type in devices._lost else (NAME,)),
        mock.patch.object(devices, "memory_of", memory_of),
        mock.patch.object(deep, "memory_of", memory_of),
        mock.patch.object(torch, "Generator", Generator),
        mock.patch.object(torch, "tensor", tensor),
        mock.patch.object(Tensor, "new_tensor", lambda like, data: tensor(data, dtype=like.dtype, device=like.device)),
        mock.patch.object(devices, "copies_by_itself", lambda device: device.type == made.type),
        mock.patch.object(Tensor, "pin_memory", lambda tensor: gpu.pinned(tensor)),
        gpu,
    ):
        try:
            yield gpu
        finally:
            devices._lost.discard(made.type)

"""The devices that this machine computes with: which there are, their memory, copies to them, and their failures.

Every place that needs a device asks here. What torch calls an accelerator (CUDA, MPS, XPU) is a GPU in this package;
where several have memory of their own, a run takes the one with the most of it free.
"""

from __future__ import annotations

import gc
import math
import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from pll.errors import UserError

if TYPE_CHECKING:
    import torch
    from torch import nn

LOST = (
    "The GPU must be reset: restart the server. Its last run failed in a way after which nothing can be computed on it "
    "by this process; runs use the CPU until then."
)
"""What a user is told of a GPU whose context is poisoned."""
_LOST_WORDS = (
    *("illegal memory access", "illegal instruction", "misaligned address", "device-side assert"),
    *("no kernel image", "device kernel image is invalid", "unspecified launch failure", "uncorrectable ecc error"),
    *("invalid device function", "invalid program counter", "hardware stack error", "gpu is lost", "device lost"),
)
"""What errors say after which a process cannot use its GPU any more."""
_PINNED = ("cuda", "xpu")
_lost: set[str] = set()
"""Kinds of devices that this process has lost; a poisoned context stays so until the process ends."""


# ---- which there are -------------------------------------------------------------------------------------------------


def default_threads() -> int:
    """Return the default number of CPU threads: one less than there are cores, so that pages stay responsive.

    The processes that torchrun has started on one machine share them.

    A run takes fewer where its steps are small (`computing_threads`).
    """
    return max(1, ((os.cpu_count() or 1) - 1) // int(os.environ.get("LOCAL_WORLD_SIZE", "1")))


def gpus() -> tuple[str, ...]:
    """Return the full names of the GPUs that this process can compute on: `cuda:0`, `cuda:1`, …; `mps:0`; `xpu:0`, …"""
    import torch  # late: the home page needs none of it

    found = torch.accelerator.current_accelerator(check_available=True)
    if found is None or found.type in _lost:
        return ()
    return tuple(f"{found.type}:{k}" for k in range(torch.accelerator.device_count()))


def devices() -> tuple[str, ...]:
    """Return what a user may choose from: the CPU, the GPUs, and `auto` where there is something to choose."""
    there = gpus()
    return ("auto", *there, "cpu") if there else ("cpu",)


def choose_device(device: str) -> torch.device:
    """Return the device of that name; for `"auto"` the GPU with the most free memory, if there is one.

    Raises
    ------
    UserError
        A device this machine does not have, or one that this process has lost.
    """
    import torch

    if device == "auto":
        there = gpus()
        if there and torch.distributed.is_available() and torch.distributed.is_initialized():  # each rank has its own
            return torch.device(there[torch.accelerator.current_device_index()])
        return torch.device(freest(there) if there else "cpu")
    try:
        chosen = torch.device(device)
        if chosen.type in _lost:
            raise UserError(LOST)
        torch.zeros(1, device=chosen).cpu()  # "meta" returns no numbers
    except (RuntimeError, AssertionError, TypeError) as error:
        raise UserError(f"This machine cannot compute on {device!r}; use 'auto' or 'cpu'.") from error
    return chosen


def device_names(device: str) -> tuple[str, ...]:
    """Return the full names of the devices that a setting allows: for `"auto"` every GPU, or the CPU.

    Raises
    ------
    UserError
        A device this machine does not have.

    Examples
    --------
    >>> device_names("cpu"), device_names("cpu:0")
    (('cpu',), ('cpu',))
    """
    there = gpus() if device == "auto" else ()
    return there or (full_name(choose_device(device)),)


def full_name(device: torch.device) -> str:
    """Return a device's name with its number: `cuda:0` also for `cuda` where that is the current one; `cpu`.

    Examples
    --------
    >>> import torch
    >>> full_name(torch.device("cpu:0"))
    'cpu'
    """
    import torch

    kind, _, number = str(device).partition(":")  # `cuda` alone is the current one
    return "cpu" if kind == "cpu" else f"{kind}:{number or torch.accelerator.current_device_index()}"


def freest(names: Sequence[str]) -> str:
    """Return the device with the most free memory; the first of equals, and where none says how much it has.

    Raises
    ------
    ValueError
        No names.
    """
    if len(names) == 1:
        return names[0]
    return max(names, key=lambda name: 0 if (memory := memory_of(name)) is None else memory.free)


def device_in_words(name: str) -> str:
    """Return how a page calls a device and its memory: `"GPU 1, 3 of 24 GB"`; "" for the CPU.

    Examples
    --------
    >>> device_in_words("cpu")
    ''
    """
    if name in ("", "cpu", "auto"):
        return ""
    index, memory = int(name.partition(":")[2] or 0), memory_of(name)
    if memory is None:
        return f"GPU {index}"
    return f"GPU {index}, {(memory.total - memory.free) / 1e9:.0f} of {memory.total / 1e9:.0f} GB"


# ---- memory ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Memory:
    """Bytes of a device's own memory: free for this process (what torch keeps for reuse included), and in all."""

    free: int
    total: int


def memory_of(device: str | torch.device) -> Memory | None:
    """Return the memory of a GPU; None for the CPU, and where the device does not say."""
    import torch

    chosen = torch.device(device)
    if chosen.type == "cpu" or chosen.type in _lost:
        return None
    with suppress(RuntimeError, AssertionError, AttributeError, ValueError, NotImplementedError):
        if chosen.type == "mps":
            total = torch.mps.recommended_max_memory()
            return Memory(max(total - torch.mps.driver_allocated_memory(), 0), total)
        free, total = torch.accelerator.get_memory_info(chosen)
        unused = torch.accelerator.memory_reserved(chosen) - torch.accelerator.memory_allocated(chosen)
        return Memory(free + unused, total)
    return None


def free_unused(device: torch.device) -> None:
    """Give back the device's memory that nothing uses any more, and page-locked memory; does nothing on the CPU."""
    import torch

    if device.type == "cpu" or device.type in _lost:
        return
    gc.collect()  # objects that point at each other, as a trainer and some objectives do, would keep theirs
    with recording, suppress(RuntimeError):  # of a run that poisoned the device, and has said so
        torch.accelerator.empty_cache()
        if hasattr(torch.accelerator, "empty_host_cache"):  # new in torch 2.12
            torch.accelerator.empty_host_cache()


@contextmanager
def visited(device: torch.device, network: nn.Module) -> Iterator[None]:
    """Context manager in which a network is on the device; afterwards it is on the CPU, and its memory free again.

    Parameters
    ----------
    device
        Where it goes.
    network
        The network.
    """
    network.to(device)
    try:
        yield
    finally:
        with suppress(RuntimeError):  # of a device that was lost meanwhile
            network.to("cpu")
        free_unused(device)


def is_out_of_memory(error: BaseException) -> bool:
    """Return whether an error says that a device's memory does not suffice."""
    import torch

    words = str(error).lower()
    return isinstance(error, torch.OutOfMemoryError) or (
        isinstance(error, RuntimeError)
        and any(part in words for part in ("out of memory", "alloc_failed", "can't allocate memory"))
    )


# ---- failures --------------------------------------------------------------------------------------------------------


def is_lost(error: BaseException) -> bool:
    """Return whether an error, or one behind it, leaves its GPU unusable for this process.

    Examples
    --------
    >>> is_lost(RuntimeError("CUDA error: an illegal memory access was encountered")), is_lost(RuntimeError("shapes"))
    (True, False)
    """
    behind: BaseException | None = error
    while behind is not None:
        if isinstance(behind, RuntimeError) and any(part in str(behind).lower() for part in _LOST_WORDS):
            return True
        behind = behind.__cause__
    return False


def lose() -> None:
    """Use the GPUs no more, as long as this process lives."""
    _lost.update(name.partition(":")[0] for name in gpus())


# ---- copies ----------------------------------------------------------------------------------------------------------


def copies_by_itself(device: torch.device) -> bool:
    """Return whether the device copies from page-locked memory while it and the processor go on."""
    return device.type in _PINNED


def pinned(tensor: torch.Tensor, device: torch.device) -> torch.Tensor:
    """Return a host tensor in page-locked memory where the device copies from that by itself; else as it is.

    Parameters
    ----------
    tensor
        In the machine's memory.
    device
        Where it will go.
    """
    return tensor.pin_memory() if copies_by_itself(device) else tensor


def moved(tensor: torch.Tensor, device: torch.device) -> torch.Tensor:
    """Return a tensor on the device, without waiting for the copy where the device can copy by itself.

    Parameters
    ----------
    tensor
        In the machine's memory, or there already.
    device
        Where it goes.
    """
    if device.type == "cpu" or tensor.device.type == device.type:
        return tensor
    return pinned(tensor, device).to(device, non_blocking=copies_by_itself(device))


def fetched(*tensors: torch.Tensor) -> list[torch.Tensor]:
    """Return copies, in the machine's memory, of contiguous tensors of one device, for which it is waited once."""
    import torch

    parts = [tensor.view(-1).view(torch.uint8) for tensor in tensors]
    copies = torch.split(torch.cat(parts).cpu(), [len(part) for part in parts])
    # a clone begins where a number may begin
    return [one.clone().view(like.dtype).view(like.shape) for one, like in zip(copies, tensors, strict=True)]


# ---- recordings ------------------------------------------------------------------------------------------------------


recording = threading.Lock()
"""Held while a thread records what a device does: it is an error then if another waits for the whole device, as for
memory that is given back."""


def records(device: torch.device) -> bool:
    """Return whether the device can record operations and repeat them."""
    return device.type == "cuda"


def can_record(device: torch.device) -> bool:
    """Return whether memory of its own for a recording is free; what fails for lack of it leaves the device unusable.

    It takes as much as the work has had at most beyond what stays, of memory that torch does not keep for other work.
    """
    import torch

    taken = torch.accelerator.max_memory_allocated(device) - torch.accelerator.memory_allocated(device)
    return SPARE * taken <= torch.accelerator.get_memory_info(device)[0]


SPARE = 1.5
"""Times the memory that a recording has taken before: libraries may choose other ways in it."""


@cache
def recording_stream(device: torch.device) -> torch.cuda.Stream:
    """Return the stream on which operations are recorded: always the same, since libraries keep memory for each."""
    import torch

    return torch.cuda.Stream(device)  # type: ignore[no-untyped-call]  # torch's own


# ---- random numbers --------------------------------------------------------------------------------------------------


def random_state(device: torch.device) -> torch.Tensor:
    """Return the state of the device's global random stream."""
    import torch

    state: torch.Tensor = (
        torch.get_rng_state() if device.type == "cpu" else torch.get_device_module(device).get_rng_state(device)
    )
    return state


def set_random_state(device: torch.device, state: torch.Tensor) -> None:
    """Set the state of the device's global random stream.

    Parameters
    ----------
    device
        Whose stream.
    state
        What `random_state` returned.
    """
    import torch

    if device.type == "cpu":
        torch.set_rng_state(state)
    else:
        torch.get_device_module(device).set_rng_state(state, device)


# ---- threads ---------------------------------------------------------------------------------------------------------


WORK_OF_A_THREAD = 1e8
"""Floating-point operations of a training step for which a thread is worth its waiting, about 3 ms of one core."""


@contextmanager
def computing_threads(threads: object, work: float = math.inf) -> Iterator[None]:
    """Context manager that sets the number of CPU threads of torch.

    Small steps get fewer threads than they may have: in them threads mostly wait for each other. Which number is
    taken depends on the sizes alone, so that a resumed run adds up its sums in the same order.

    Parameters
    ----------
    threads
        At most; None for as many as torch has.
    work
        Floating-point operations of a training step.

    Raises
    ------
    UserError
        Fewer than one, or more than four times what the machine has.
    """
    if threads is None and work == math.inf:
        yield
        return
    most = 4 * (os.cpu_count() or 1)
    if threads is not None and (not isinstance(threads, int | np.integer) or not 1 <= threads <= most):
        raise UserError(f"threads is {threads}; use 1 to {most} on this machine.")
    import torch

    before = torch.get_num_threads()
    allowed = before if threads is None else int(threads)
    torch.set_num_threads(int(max(1, min(allowed, work // WORK_OF_A_THREAD))))
    try:
        yield
    finally:
        torch.set_num_threads(before)


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Context manager for many small matrix products of NumPy and SciPy: in more threads they mostly wait, spinning.

    The limit holds for the whole process, torch excepted, until the last of the threads that are in here leaves.
    """
    with _blas_lock:
        _limits.append(None if _limits else _blas_libraries().limit(limits=1, user_api="blas"))
    try:
        yield
    finally:
        with _blas_lock:
            if (first := _limits.pop()) is not None:
                first.restore_original_limits()


@cache
def _blas_libraries() -> Any:
    """The libraries that are loaded by now, looked through once in a process, in 3 ms."""
    import scipy.linalg  # noqa: F401 - has a BLAS of its own, which is found only once it is loaded
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


_blas_lock = threading.Lock()
_limits: list[Any] = []
"""One for each that is in `one_blas_thread`; the first of them has the limit."""

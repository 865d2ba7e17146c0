"""Choice of the device and of the number of CPU threads."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

from pll.errors import UserError

if TYPE_CHECKING:
    import torch


def default_threads() -> int:
    """Return the default number of CPU threads: one less than there are cores, so that pages stay responsive.

    The processes that torchrun has started on one machine share them.

    Torch's threads spin while they wait: two of them beside one other busy process on two cores slowed an epoch
    from 1.8 s to 88.7 s, while one thread costs 1.25-1.4 × when alone and never collapses.
    """
    return max(1, ((os.cpu_count() or 1) - 1) // int(os.environ.get("LOCAL_WORLD_SIZE", "1")))


def choose_device(device: str) -> torch.device:
    """Return the device of that name; for `"auto"` a GPU if there is one.

    Raises
    ------
    UserError
        A device this machine does not have.
    """
    import torch  # late: the home page needs none of it

    if device == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        chosen = torch.device(device)
        torch.zeros(1, device=chosen).cpu()  # "meta" returns no numbers
    except (RuntimeError, AssertionError, TypeError) as error:
        raise UserError(f"This machine cannot compute on {device!r}; use 'auto' or 'cpu'.") from error
    return chosen


def device_name(device: str) -> str:
    """Return the full name of a device: the same for `"auto"`, `"cuda"` and `"cuda:0"` where they are one GPU.

    Raises
    ------
    UserError
        A device this machine does not have.

    Examples
    --------
    >>> device_name("cpu"), device_name("cpu:0")
    ('cpu', 'cpu')
    """
    import torch

    chosen = choose_device(device)
    if chosen.type == "cpu":
        return "cpu"
    kind, _, index = str(chosen).partition(":")  # "cuda" means the current GPU
    return f"{kind}:{index or (torch.cuda.current_device() if kind == 'cuda' else 0)}"


@contextmanager
def computing_threads(threads: int | None) -> Iterator[None]:
    """Context manager that sets the number of CPU threads of torch; None leaves it.

    Raises
    ------
    UserError
        Fewer than one, or more than four times what the machine has.
    """
    if threads is None:
        yield
        return
    most = 4 * (os.cpu_count() or 1)
    if not isinstance(threads, int | np.integer) or not 1 <= threads <= most:
        raise UserError(f"threads is {threads}; use 1 to {most} on this machine.")
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(int(threads))
    try:
        yield
    finally:
        torch.set_num_threads(before)

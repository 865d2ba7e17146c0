"""What went wrong in a run, in plain words, whatever was raised."""

from __future__ import annotations

import torch

from pll.errors import UserError


def explain(error: BaseException) -> str:
    """An error in plain words, with its cause and what to do."""
    if isinstance(error, UserError):
        return str(error)
    if isinstance(error, torch.OutOfMemoryError):
        return "The GPU ran out of memory. Use a smaller batch size or model, or train on the CPU."
    if isinstance(error, MemoryError) or "can't allocate memory" in str(error):  # the latter is torch's, on the CPU
        return "The machine ran out of memory. Use a smaller batch size, model or data set."
    if isinstance(error, OSError):
        return f"Reading or writing a file failed: {error}. Check the disk's free space and permissions, then resume."
    return f"Something went wrong that should not have: {type(error).__name__}: {error}. log.txt has the details."

"""What every reader checks, since it trusts nothing in a file.

Sizes are checked before memory is asked for, nothing is ever unpickled, and whatever a parser makes of a damaged file
reaches the user as a `UserError`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt

from pll.candidates import MOST_CLASSES
from pll.errors import UserError
from pll.formats.words import kind_of, readable, shorten

MAX_ID_BYTES = 256 * 2**20
"""What ids may occupy: numpy gives every id the room of the longest, so that one huge cell could cost gigabytes."""

MAX_NAME = 1000
"""Characters in the name of a class; longer cells come from a quote that is left open, or hold something else."""

BOMB_BYTES = 256 * 2**20
BOMB_RATIO = 200
"""Compressed data that grows beyond both is taken for a zip bomb; real features compress 2 to 30 times."""


@contextmanager
def parsing(what: str, remedy: str = "copy or export the file again") -> Iterator[None]:
    """Around a call into someone else's parser: whatever it raises over a damaged file becomes a `UserError`.

    >>> with parsing("the array X"):
    ...     raise EOFError("no more bytes")
    Traceback (most recent call last):
        ...
    pll.errors.UserError: The array X cannot be read (no more bytes); copy or export the file again.
    """
    try:
        yield
    except UserError:
        raise
    except MemoryError as error:
        raise UserError(f"{_capital(what)} does not fit into memory; bring a smaller file.") from error
    except Exception as error:  # parsers of hostile bytes raise nearly anything
        reason = str(error).strip().splitlines()
        why = reason[0][:200].rstrip(".") if reason else type(error).__name__
        raise UserError(f"{_capital(what)} cannot be read ({why}); {remedy}.") from error


def check_unpacked_size(unpacked: int, packed: int, limit: int, what: str) -> None:
    """Refuse what would not fit into memory, or looks made to fill it, before any of it is unpacked.

    Args:
        unpacked: bytes that the file says it holds.
        packed: bytes that they take in the file.
    """
    if unpacked > limit:
        raise UserError(
            f"{_capital(what)} would take {readable(unpacked)} in memory; the limit is {readable(limit)}. "
            "Split the file, or save it in a smaller type (float32)."
        )
    if unpacked > BOMB_BYTES and unpacked > BOMB_RATIO * max(packed, 1):
        raise UserError(
            f"{_capital(what)} would grow from {readable(packed)} to {readable(unpacked)} when unpacked, "
            "as files made to fill the memory do; if it is genuine, save it without compression."
        )


def check_class_count(count: int, where: str) -> None:
    """Refuse a number of classes that only a damaged file has.

    Args:
        where: what holds them, as in "in the variable target".
    """
    if count > MOST_CLASSES:
        raise UserError(f"There are {count:,} classes in {where}; at most {MOST_CLASSES:,} are supported.")


def check_ids(ids: Sequence[str], row_of: Callable[[int], int]) -> npt.NDArray[np.str_]:
    """Ids as a numpy array, refused where one is empty, stands twice or is too long.

    Args:
        row_of: the number a message gives to the row at a position.
    """
    seen: dict[str, int] = {}
    longest = 0
    for at, name in enumerate(ids):
        if not name:
            raise UserError(f"Row {row_of(at)} has an empty id; give every row an id, or remove the ids.")
        first = seen.setdefault(name, at)
        if first != at:
            raise UserError(
                f"Rows {row_of(first)} and {row_of(at)} have the same id {shorten(name)}; ids must be unique."
            )
        if len(name) > len(ids[longest]):
            longest = at
    if ids and 4 * len(ids[longest]) * len(ids) > MAX_ID_BYTES:
        raise UserError(
            f"Row {row_of(longest)} has an id of {len(ids[longest]):,} characters; use short ids "
            f"(about {MAX_ID_BYTES // (4 * len(ids)):,} characters at most for {len(ids):,} rows)."
        )
    return np.asarray(ids, dtype=np.str_)


def as_features(array: npt.NDArray[Any], what: str, *, allow_missing: bool = False) -> npt.NDArray[np.float32]:
    """Numbers of any width as float32, refused where one is not finite.

    Args:
        array: (n, …) numbers; the first axis is named as the row.
        allow_missing: let NaN pass, as it marks a missing cell in tables.
    """
    if array.dtype.kind not in "fiub":
        raise UserError(f"{what} holds {kind_of(array.dtype)}; features must be numbers, such as float32.")
    with np.errstate(over="ignore", invalid="ignore"):  # checked below, where the row can be named
        X = np.ascontiguousarray(array, dtype=np.float32)
        total = X.sum(dtype=np.float64)
    if np.isfinite(total):  # one pass over the common case
        return X
    bad = np.isinf(X) if allow_missing else ~np.isfinite(X)
    if bad.any():
        row, *rest = (int(k) for k in np.argwhere(bad)[0])
        place = f"feature {rest[0]}" if len(rest) == 1 else f"pixel {tuple(rest)}"
        value = array[(row, *rest)]
        too_large = " (too large for float32)" if np.isfinite(value) else ""
        raise UserError(
            f"Row {row}, {place} of {what} is {value}{too_large}; features must be finite numbers. "
            "Remove the row or fill in the value."
        )
    return X


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:]

"""Checks that every reader makes, since it trusts nothing in a file, and the text of their messages.

Sizes are checked before memory is allocated, nothing is ever unpickled, and whatever a parser raises over a damaged
file reaches the user as a `UserError`.
"""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pll.candidates import MOST_CLASSES
from pll.errors import DuplicateIds, RowError, UserError
from pll.formats.encodings import CONTROL, END_OF_TEXT, as_utf8
from pll.formats.forms import NO_DATA
from pll.io import Progress, check_finite, is_mapped


def kind_of(dtype: np.dtype[Any]) -> str:
    """A dtype in words.

    Examples
    --------
    >>> kind_of(np.dtype("U5")), kind_of(np.dtype(np.int64))
    ('text', 'whole numbers')
    """
    words = {"f": "decimal numbers", "i": "whole numbers", "u": "whole numbers", "b": "true/false values"}
    words |= {"U": "text", "S": "bytes", "O": "Python objects", "c": "complex numbers", "V": "records"}
    return words.get(dtype.kind, "dates or times" if dtype.kind in "mM" else f"values of type {dtype}")


def readable(size: int) -> str:
    """A number of bytes for people.

    Examples
    --------
    >>> readable(3 * 2**30), readable(2000)
    ('3.0 GB', '2.0 KB')
    """
    amount, units = float(size), ["bytes", "KB", "MB", "GB", "TB"]
    while amount >= 1000 and len(units) > 1:
        amount, units = amount / 1024, units[1:]
    return f"{amount:.0f} bytes" if units[0] == "bytes" else f"{amount:,.1f} {units[0]}"


def shorten(text: str, limit: int = 60) -> str:
    """Return a value from a file for a message: quoted, on one line, shortened.

    Parameters
    ----------
    text
        The value.
    limit
        Its characters at most.
    """
    return repr(text if len(text) <= limit else text[: limit - 1] + "…")


def listing(names: Sequence[str], limit: int = 8) -> str:
    """Names for a message: the first few, and how many more; long ones lose their middle, as many differ at the end.

    Parameters
    ----------
    names
        The names, the first one first.
    limit
        How many are named at most.

    Examples
    --------
    >>> listing(["a", "b", "c"], limit=2)
    'a, b and 1 more'
    """
    text = ", ".join(name if len(name) <= 40 else f"{name[:24]}…{name[-15:]}" for name in names[:limit])
    return text + (f" and {len(names) - limit} more" if len(names) > limit else "")


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

    Parameters
    ----------
    what
        What is parsed, as in "the array X".
    remedy
        What to do where it cannot be.

    Examples
    --------
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
        raise UserError(f"{capital(what)} does not fit into memory; bring a smaller file.") from error
    except Exception as error:  # parsers of hostile bytes raise nearly anything
        reason = str(error).strip().splitlines()
        why = reason[0][:200].rstrip(".") if reason else type(error).__name__
        raise UserError(f"{capital(what)} cannot be read ({why}); {remedy}.") from error


def check_unpacked_size(unpacked: int, packed: int, limit: int, what: str) -> None:
    """Refuse what would not fit into memory, or looks made to fill it, before any of it is unpacked.

    Parameters
    ----------
    unpacked
        Number of bytes according to the file.
    packed
        Bytes that they take in the file.
    limit
        What it may take, in bytes.
    what
        What it is, as in "this workbook".
    """
    if unpacked > limit:
        raise UserError(
            f"{capital(what)} would take {readable(unpacked)} in memory; the limit is {readable(limit)}. "
            "Split the file, or save it in a smaller type (float32)."
        )
    if unpacked > BOMB_BYTES and unpacked > BOMB_RATIO * max(packed, 1):
        raise UserError(
            f"{capital(what)} would grow from {readable(packed)} to {readable(unpacked)} when unpacked, "
            "as files made to fill the memory do; if it is genuine, save it without compression."
        )


def check_class_count(count: int, where: str) -> None:
    """Refuse a number of classes that only a damaged file has.

    Parameters
    ----------
    count
        The number of classes.
    where
        What holds them, as in "in the variable target".
    """
    if count > MOST_CLASSES:
        raise UserError(f"There are {count:,} classes in {where}; at most {MOST_CLASSES:,} are supported.")


def check_ids(ids: Sequence[str], row_of: Callable[[int], int]) -> npt.NDArray[np.str_]:
    """Return n ids as an (n,) array of text.

    Parameters
    ----------
    ids
        n ids.
    row_of
        The number a message gives to the row at a position.

    Raises
    ------
    UserError
        An id that is empty, occurs twice or is too long.
    """
    if not all(ids) or len({*ids}) < len(ids):
        rows: dict[str, int] = {}
        for at, name in enumerate(ids):
            if not name:
                raise RowError(f"Row {row_of(at)} has an empty id; give every row an id, or remove the ids.")
            if (first := rows.setdefault(name, at)) != at:
                raise DuplicateIds(
                    f"Rows {row_of(first)} and {row_of(at)} have the same id {shorten(name)}; ids must be unique."
                )
    longest = max(ids, key=len, default="")
    if 4 * len(longest) * len(ids) > MAX_ID_BYTES:
        raise RowError(
            f"Row {row_of(ids.index(longest))} has an id of {len(longest):,} characters; use short ids "
            f"(about {MAX_ID_BYTES // (4 * len(ids)):,} characters at most for {len(ids):,} rows)."
        )
    return np.asarray(ids, dtype=np.str_)


def as_features(array: npt.NDArray[Any], what: str, *, allow_missing: bool = False) -> npt.NDArray[np.float32]:
    """Numbers of any width as float32, refused where one is not finite.

    Parameters
    ----------
    array
        (n, …) numbers; the first axis is named as the row.
    allow_missing
        Let NaN pass, as it marks a missing cell in tables.
    what
        What a message calls the array.
    """
    if array.dtype.kind not in "fiub":
        raise UserError(f"{what} holds {kind_of(array.dtype)}; features must be numbers, such as float32.")
    with np.errstate(over="ignore", invalid="ignore"):  # checked below, where the row can be named
        stays = is_mapped(array) and array.dtype == np.float32 and array.flags.c_contiguous
        X = array if stays else np.ascontiguousarray(array, dtype=np.float32)
    check_finite(X, allow_missing=allow_missing, of=what, given=array)
    return X


def capital(words: str) -> str:
    """Return the words with a capital first letter, the others as they are."""
    return words[:1].upper() + words[1:]


# ---- text files ---------------------------------------------------------------------------------------------------

MAX_RECORD_BYTES = 16 * 2**20
"""Longest row that is read; longer ones mostly come from a quote that is never closed."""

_CHUNK = 4 * 2**20


def looks_like_text(head: bytes) -> bool:
    """Whether the start of a file could be a table of text: no control characters, not JSON, not XML."""
    text = as_utf8(head).strip().removesuffix(END_OF_TEXT).rstrip()
    return bool(text) and text[:1] not in b"{[<" and len(text.translate(None, CONTROL)) == len(text)


def refuse_no_data(head: bytes) -> None:
    """Raise where a file begins as text does that is no data: marks in a text or a picture, a pointer, a page.

    Raises
    ------
    UserError
        It does: what it is, and what to bring instead.
    """
    text = as_utf8(head).lstrip().lower()
    inside = {b"<": text.startswith(b"<?xml"), b'"': text.startswith(b"{"), b"#": text.startswith(b"#")}
    inside[b"@"] = text.startswith(b"%")
    inside[b"\xbe"] = text.startswith(b"\xc3\xbe")  # a cell of Concordance stands between þ
    for mark, words in NO_DATA.items():
        if text.startswith(mark) or (inside.get(mark[:1]) and mark in text):
            raise UserError(f"The file is {words.rstrip('.')}.")


@dataclass
class Scan:
    """Result of one pass over the bytes.

    Attributes
    ----------
    size
        Bytes.
    newlines
        Line feeds.
    returns
        Carriage returns.
    quotes
        Double quotes.
    """

    size: int = 0
    newlines: int = 0
    returns: int = 0
    quotes: int = 0

    @property
    def records_at_most(self) -> int:
        """Upper limit of the number of records."""
        return max(self.newlines, self.returns) + 1


def scan_text(path: Path, tick: Progress | None = None, encoding: str = "utf-8") -> Scan:
    """Check that a file is UTF-8 text without NUL bytes; of other encodings, only count.

    Parameters
    ----------
    path
        The file.
    encoding
        Its encoding.
    tick
        Told how many bytes are done, of how many.

    Raises
    ------
    UserError
        It is not; the byte and the line are named.
    """
    scan = Scan()
    decoder = codecs.getincrementaldecoder("utf-8")()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            if encoding == "utf-8":
                _check_chunk(chunk, decoder, scan)
            scan.size += len(chunk)
            scan.newlines += chunk.count(b"\n")
            scan.returns += chunk.count(b"\r")
            scan.quotes += chunk.count(b'"')
            if tick is not None:
                tick("bytes checked", scan.size, path.stat().st_size)
    _check_chunk(b"", decoder, scan)  # a character cut off at the very end
    return scan


def _check_chunk(chunk: bytes, decoder: codecs.IncrementalDecoder, before: Scan) -> None:
    if not before.size and chunk[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        raise UserError('The file is in UTF-16; save it as UTF-8 (in a spreadsheet: "CSV UTF-8").')
    pending = len(decoder.getstate()[0])  # bytes of a character that began in the chunk before
    try:
        if pending or not chunk.isascii():  # most files are ASCII, and this is far quicker to see
            decoder.decode(chunk, final=not chunk)
    except UnicodeDecodeError as error:
        at = error.start - pending
        place = _place(before, chunk, at)
        raise UserError(
            f"{place} is 0x{error.object[error.start]:02X}, which is not valid UTF-8 there; save the file as UTF-8 "
            '(in a spreadsheet: "CSV UTF-8"; in a shell: iconv -f latin1 -t utf-8).'
        ) from None
    at = chunk.find(b"\0")
    if at >= 0:
        raise UserError(
            f"{_place(before, chunk, at)} is a NUL byte, which text never holds: the file is damaged, or not a "
            "table of text. Export it again as CSV in UTF-8."
        )


def _place(before: Scan, chunk: bytes, at: int) -> str:
    line = before.newlines + chunk.count(b"\n", 0, max(at, 0)) + 1
    return f"Byte {before.size + at:,} (line {line:,})"

"""The matrices of a MATLAB v5 file (v5 to v7), alone, in structs or in cells, read without trusting it.

Why not `scipy.io.loadmat`: it trusts every type and size in a file, so that one flipped bit makes it read outside its
memory, which takes the whole server down (SciPy 1.17; `tests/formats/test_malformed.py` makes such files). Matrices of
numbers are simple enough to be read here, with every length checked against what is there. SciPy still writes them, and
the tests compare what the two read.
"""

from __future__ import annotations

import io
import math
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Literal

import numpy as np
import numpy.typing as npt
import scipy  # its parts load when they are used

from pll.errors import UserError
from pll.formats.checks import check_unpacked_size, shorten

ByteOrder = Literal["little", "big"]

_HEADER_BYTES, _TAG_BYTES = 128, 8
_MAX_DIMENSIONS = 32
_MAX_DEPTH = 4
"""Structs in cells in structs …: no deeper."""
_MAX_PARTS = 10_000
"""Cells of an array and fields of a struct, at most."""
_PEEK_BYTES = 1024  # room for the flags, shape and name of a variable
_AGAIN = "copy the file again, or save it in MATLAB with save(…, '-v7')"

_MATRIX, _COMPRESSED = 14, 15  # types of a top-level element
_INT8, _INT32, _UINT32 = 1, 5, 6  # types that names, shapes and flags must have
_DTYPES = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8"}
_COMPLEX_FLAG = 0x08
_TEXT_DTYPES = _DTYPES | {16: "u1", 17: "u2"}  # UTF-8, and UTF-16 in two bytes a letter
_CELL, _STRUCT, _CHAR, _SPARSE, _FIRST_NUMERIC, _LAST_NUMERIC = 1, 2, 4, 5, 6, 15
_KINDS = {1: "a cell array", 2: "a struct", 3: "an object", 4: "text", 16: "a function", 17: "an object"}


@dataclass(frozen=True)
class Variable:
    """The header of a variable.

    Attributes
    ----------
    name
        Its name.
    shape
        Rows, columns, ….
    kind
        MATLAB's number for its class.
    is_complex
        Whether it has an imaginary part.
    """

    name: str
    shape: tuple[int, ...]
    kind: int
    is_complex: bool

    @property
    def is_cell(self) -> bool:
        """Whether it is a cell array."""
        return self.kind == _CELL

    @property
    def is_struct(self) -> bool:
        """Whether it is one struct, with fields of its own."""
        return self.kind == _STRUCT and math.prod(self.shape) == 1

    @property
    def unsupported(self) -> str:
        """What it is where it is not a matrix of real numbers, else nothing."""
        if self.is_complex:
            return "complex"
        numeric = self.kind == _SPARSE or _FIRST_NUMERIC <= self.kind <= _LAST_NUMERIC
        return "" if numeric else _KINDS.get(self.kind, f"of unknown class {self.kind}")


def is_mat5(head: bytes) -> bool:
    """Whether a file begins as MATLAB v5 to v7 files do."""
    return head.startswith(b"MATLAB 5.0 MAT-file") or head[124:128] in (b"\x00\x01IM", b"\x01\x00MI")


def is_mat73(head: bytes) -> bool:
    """Whether a file begins as MATLAB v7.3 files (HDF5) do."""
    return head.startswith(b"MATLAB 7.3 MAT-file")


def read_v5(
    path: Path, wanted: Callable[[Variable], bool], max_bytes: int
) -> tuple[dict[str, Any], dict[str, str], list[str]]:
    """Some of the variables of a MATLAB v5 file.

    Parameters
    ----------
    wanted
        Which variables to read, by their headers.
    max_bytes
        What they may take in memory together.

    Returns
    -------
    tuple[dict[str, Any], dict[str, str], list[str]]
        By name, a numpy array of at least two dimensions, a SciPy csc_array, a list of such or of texts (a cell array)
        or a dict of such (a struct); what the others are that were wanted and cannot be read, in words; and all other
        names.

    Raises
    ------
    UserError
        The file ends early, is damaged or too large, or a wanted variable is there twice.
    """
    variables: dict[str, Any] = {}
    unreadable: dict[str, str] = {}
    others = []
    room = max_bytes
    with path.open("rb") as file:
        header = file.read(_HEADER_BYTES)
        if len(header) < _HEADER_BYTES:
            raise UserError(f"The file ends after {len(header)} bytes, inside its header; {_AGAIN}.")
        order: ByteOrder = "big" if header[126:128] == b"MI" else "little"
        number = 0
        while tag := file.read(_TAG_BYTES):
            number += 1
            element = _Element(file, tag, order, number, room)
            variable = element.head()
            if not wanted(variable):
                others.append(variable.name)
            elif variable.name in variables:
                raise UserError(f"The variable {variable.name} is there twice; save it once.")
            elif variable.unsupported and variable.kind not in (_CELL, _STRUCT):
                unreadable[variable.name] = variable.unsupported
            else:
                variables[variable.name] = element.value()
                room -= element.size
    return variables, unreadable, [name for name in others if name]


class _Element:
    """One top-level element of the file: a variable, perhaps compressed. `head` first, then `value`."""

    def __init__(self, file: IO[bytes], tag: bytes, order: ByteOrder, number: int, room: int) -> None:
        self.order, self.number = order, number
        kind, self.size = self._tag(tag)
        left = _left(file)
        if len(tag) < _TAG_BYTES or self.size > left:
            raise UserError(
                f"The file ends inside its variable number {number} ({left:,} of {self.size:,} bytes are there); "
                f"{_AGAIN}."
            )
        if kind not in (_MATRIX, _COMPRESSED):
            raise self._damaged(f"an element of type {kind}")
        check_unpacked_size(self.size, self.size, room, f"variable number {number} of the file")
        self._body = file.read(self.size)
        self._inflater = None
        if kind == _COMPRESSED:
            self._inflater = zlib.decompressobj()
            kind, self.size = self._tag(self._inflate(_TAG_BYTES))
            if kind != _MATRIX:
                raise self._damaged(f"an element of type {kind}")
            check_unpacked_size(self.size, len(self._body), room, f"variable number {number} of the file")
        self._start = self._inflate(min(_PEEK_BYTES, self.size)) if self._inflater else self._body
        self._at = 0

    def head(self) -> Variable:
        """Class, shape and name."""
        flags = self._next(_UINT32)
        if len(flags) != 2:
            raise self._damaged("its flags")
        class_number = int(flags[0]) & 0xFF
        is_complex = bool(int(flags[0]) >> 8 & _COMPLEX_FLAG)
        if class_number > _LAST_NUMERIC:  # functions and objects have a head of their own
            return Variable("", (), class_number, False)
        shape = tuple(int(side) for side in self._next(_INT32))
        name = self._next(_INT8).tobytes().decode("latin-1")
        if not 2 <= len(shape) <= _MAX_DIMENSIONS or min(shape) < 0:
            raise self._damaged(f"the shape of {shorten(name)}")
        self._variable = Variable(name, shape, class_number, is_complex)
        return self._variable

    def value(self) -> Any:
        """The numbers, of the type that `head` gives."""
        self._complete()
        return self._content(self._variable, 0)

    def _content(self, variable: Variable, depth: int) -> Any:
        """The numbers after the header, or the text in a cell; None for anything else."""
        count = math.prod(variable.shape)
        if variable.kind == _CELL:
            self._check_parts(count, depth)
            return [self._part(depth + 1) for _ in range(count)]
        if variable.kind == _STRUCT:
            return self._struct(count, depth)
        if variable.kind == _CHAR and depth:
            letters = self._next(dtypes=_TEXT_DTYPES)
            return "".join(map(chr, letters)) if letters.itemsize > 1 else letters.tobytes().decode("utf-8", "replace")
        if variable.unsupported:
            return None
        if variable.kind == _SPARSE:
            return self._sparse(variable.shape)
        numbers = self._next()
        if len(numbers) != count:
            raise self._damaged(f"{len(numbers):,} numbers for the shape {variable.shape}")
        return numbers.reshape(variable.shape, order="F")

    def _struct(self, count: int, depth: int) -> dict[str, Any]:
        lengths = self._next(_INT32)
        if len(lengths) != 1 or not 0 < lengths[0] <= _PEEK_BYTES:
            raise self._damaged("the fields of a struct")
        length = int(lengths[0])
        packed = self._next(_INT8).tobytes()
        names = [packed[at : at + length].split(b"\0")[0].decode("latin-1") for at in range(0, len(packed), length)]
        self._check_parts(count * len(names), depth)
        if count != 1:  # an array of structs: not supported
            return {}
        return {name: self._part(depth + 1) for name in names}

    def _part(self, depth: int) -> Any:
        """A matrix inside a cell or a field."""
        kind, size = self._tag(self._take(_TAG_BYTES))
        start = self._at
        if kind != _MATRIX or start + size > len(self._start):
            raise self._damaged(f"a part of type {kind}")
        data = None
        if size:
            head = self.head()
            data = self._content(head, depth)
        self._at = start + size
        return data

    def _check_parts(self, count: int, depth: int) -> None:
        if count > _MAX_PARTS or depth >= _MAX_DEPTH:
            raise self._damaged(f"{count:,} parts, {depth} deep")

    def _sparse(self, shape: tuple[int, ...]) -> scipy.sparse.csc_array:
        rows, starts = self._next(_INT32), self._next(_INT32)
        numbers = self._next()
        height, width, *more = shape
        if more or len(starts) != width + 1 or starts[0] != 0 or (np.diff(starts) < 0).any():
            raise self._damaged("the columns of a sparse matrix")
        count = int(starts[-1])
        if count > min(len(rows), len(numbers)):
            raise self._damaged(f"{min(len(rows), len(numbers)):,} of {count:,} entries of a sparse matrix")
        rows, numbers = rows[:count], numbers[:count]
        if count and (rows.min() < 0 or rows.max() >= height):
            raise self._damaged("the rows of a sparse matrix")
        return scipy.sparse.csc_array((numbers, rows, starts), shape=(height, width))

    def _next(self, expected: int | None = None, dtypes: Mapping[int, str] = _DTYPES) -> npt.NDArray[Any]:
        """The numbers of the next part of the variable."""
        tag = self._take(_TAG_BYTES)
        kind, length = self._tag(tag)
        if kind > 0xFFFF:  # up to four bytes are packed into the tag itself
            length, kind = kind >> 16, kind & 0xFFFF
            data = tag[4 : 4 + length]
        else:
            data = self._take(length)
            self._at += -length % 8  # parts begin at multiples of eight
        if kind not in dtypes or expected not in (None, kind):
            raise self._damaged(f"a part of type {kind}")
        dtype = np.dtype(dtypes[kind]).newbyteorder("<" if self.order == "little" else ">")
        if len(data) != length or length % dtype.itemsize:
            raise self._damaged(f"a part of {length:,} bytes")
        return np.frombuffer(data, dtype).astype(dtype.newbyteorder("="), copy=False)

    def _take(self, length: int) -> memoryview:
        data = memoryview(self._start)[self._at : self._at + length]
        if len(data) != length:
            raise self._damaged(f"{len(data):,} of {length:,} bytes of a part")
        self._at += length
        return data

    def _complete(self) -> None:
        """Inflate the rest; reaching the end of the stream is what compares its checksum."""
        if self._inflater is None:
            return
        self._start += self._inflate(self.size - len(self._start) + 1, exact=False)
        if len(self._start) != self.size or not self._inflater.eof:
            raise self._damaged("its length")

    def _inflate(self, length: int, *, exact: bool = True) -> bytes:
        assert self._inflater is not None
        try:
            data = self._inflater.decompress(self._body, length)
        except zlib.error:
            raise self._damaged("its checksum or its compression") from None
        self._body = self._inflater.unconsumed_tail
        if exact and len(data) != length:
            raise self._damaged(f"{len(data):,} of {length:,} bytes")
        return data

    def _tag(self, tag: bytes | memoryview) -> tuple[int, int]:
        return int.from_bytes(tag[:4], self.order), int.from_bytes(tag[4:8], self.order)

    def _damaged(self, what: str) -> UserError:
        return UserError(f"Variable number {self.number} of the file is damaged ({what}); {_AGAIN}.")


def _left(file: IO[bytes]) -> int:
    here = file.tell()
    end = file.seek(0, io.SEEK_END)
    file.seek(here)
    return end - here

"""Input and output that all packages share: arrays of features and cells, atomic files, progress of long work."""

from __future__ import annotations

import errno
import hashlib
import io
import json
import math
import os
import platform
import shutil
import stat
import tempfile
import threading
import time
import zipfile
import zlib
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import fields
from functools import lru_cache, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt
import scipy  # its parts load when they are used

from pll.errors import NotNumbersError, RowError, UserError, WriteError

if TYPE_CHECKING:
    import pandas as pd

F = TypeVar("F", bound=Callable[..., Any])
R = TypeVar("R")
Column = npt.NDArray[np.object_]
"""(n,) Python objects: text, or None where a cell is missing."""
Arrays = dict[str, npt.NDArray[Any]]
"""Numbers by name: of a file, a featuriser or a model."""


def on_cpu(values: Any) -> Any:
    """Return a tensor of torch where NumPy can read it, without its gradient; anything else as it is."""
    return values.detach().cpu() if hasattr(values, "detach") else values


def feature_array(X: npt.ArrayLike) -> npt.NDArray[np.float32]:
    """Return features as contiguous float32.

    Parameters
    ----------
    X : array-like or SciPy sparse matrix
        (n, d) or (n, C, H, W) real numbers. A sparse matrix is made dense, which takes 4·n·d bytes.

    Returns
    -------
    ndarray of float32
        The same array where it already has this form (a memory-mapped one stays mapped), else a copy.

    Raises
    ------
    UserError
        Rows of different lengths, another number of dimensions, a sparse matrix that is too large to be made dense.
    NotNumbersError
        Something else than numbers.
    """
    if not isinstance(X, np.ndarray) and scipy.sparse.issparse(X):
        return _dense(scipy.sparse.csr_array(X))
    try:
        dense = X if isinstance(X, np.memmap) else np.asarray(on_cpu(X))
        if dense.dtype.kind == "c":
            raise UserError("Complex data not supported: features must be real numbers.")
        with np.errstate(over="ignore"):  # too large for float32 becomes infinite, which `check_finite` refuses
            array = _contiguous(dense)
    except UserError:
        raise
    except TypeError as error:
        raise NotNumbersError(f"Features must be numbers: {error}.") from error
    except ValueError as error:
        raise UserError(f"Features must be numbers, in rows of equal length: {error}.") from error
    if array.ndim not in (2, 4):
        raise UserError(
            f"Features must be (examples × features) or (examples × channels × height × width); "
            f"these have {array.ndim} dimension{'s' * (array.ndim != 1)}. Reshape your data: X.reshape(1, -1) if it is "
            "one example, X.reshape(-1, 1) if it is one feature."
        )
    return array


def _contiguous(array: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
    if isinstance(array, np.memmap) and array.dtype == np.float32 and array.flags.c_contiguous:
        return array
    return np.ascontiguousarray(array, dtype=np.float32)


def _dense(X: scipy.sparse.csr_array) -> npt.NDArray[np.float32]:
    if X.dtype.kind == "c":
        raise UserError("Complex data not supported: features must be real numbers.")
    needed, have = 4 * math.prod(X.shape), memory_of_machine()
    if have is not None and needed > have:
        raise UserError(
            f"These features are a sparse matrix of {X.shape[0]:,} × {X.shape[1]:,}; made dense they take "
            f"{needed / 1e9:,.1f} GB, this machine has {have / 1e9:,.1f} GB. Reduce the columns first, for example "
            "with sklearn.decomposition.TruncatedSVD."
        )
    with np.errstate(over="ignore"):
        return np.ascontiguousarray(X.astype(np.float32).toarray())


def memory_of_machine() -> int | None:
    """Return the bytes of memory that this process may have; None where the system does not report it."""
    limits = []
    with suppress(OSError, ValueError, AttributeError):
        limits.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    with suppress(OSError, ValueError):  # a container's own limit; "max" for none
        limits.append(int(Path("/sys/fs/cgroup/memory.max").read_text(encoding="ascii")))
    return min(limits, default=None)


def is_mapped(X: npt.NDArray[Any]) -> bool:
    """Return whether an array is a memory-mapped file, which is read piece by piece and never copied as a whole."""
    return isinstance(X, np.memmap)


IN_MEMORY_UP_TO = 64 * 2**20
"""Bytes up to which a new array, or rows copied from a mapped one, are kept in memory."""
PIECE = 2**24
"""Bytes of a mapped array that are read at once."""


def blocks(n: int, size: int) -> Iterator[slice]:
    """Slices of at most `size` rows that cover n. (scikit-learn's `gen_batches` refuses an n of 0.)

    Parameters
    ----------
    n
        Rows in all.
    size
        Rows of a slice, at least 1.

    Examples
    --------
    >>> list(blocks(5, 2))
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    return (slice(start, min(start + size, n)) for start in range(0, n, size))


def pieces(X: npt.NDArray[Any]) -> Iterator[slice]:
    """Yield slices of the rows of X (n, …), of about `PIECE` bytes each, that together cover it."""
    return blocks(len(X), max(1, PIECE // max(1, X.itemsize * math.prod(X.shape[1:]))))


def take_rows(X: npt.NDArray[Any], rows: npt.NDArray[np.integer[Any]]) -> npt.NDArray[Any]:
    """Return the rows (m,) of X (n, …) in that order, as (m, …).

    More rows of a mapped array than fit well into memory are copied, piece by piece, to a temporary file that is mapped
    and takes disk space as long as the array is used.

    Parameters
    ----------
    X
        (n, …), perhaps memory-mapped.
    rows
        (m,) indices.

    Raises
    ------
    UserError
        The disk is too full for that.
    """
    size = len(rows) * X.itemsize * math.prod(X.shape[1:])
    if not is_mapped(X) or size <= IN_MEMORY_UP_TO:
        return np.asarray(X[rows])
    plain, chosen = np.asarray(X), large_array((len(rows), *X.shape[1:]), X.dtype)
    for part in pieces(chosen):
        np.take(plain, rows[part], axis=0, out=chosen[part])
    return chosen


def row_fields(record: Any) -> Iterator[tuple[str, str, Any]]:
    """Yield the fields of a dataclass that have an entry a row and are not None: name, words, value.

    Such a field is marked once, `field(metadata={"rows": words})`, with what a message calls its entries. Its value is
    an array, something with `take`, or a mapping or tuple of these.

    Parameters
    ----------
    record
        The dataclass.
    """
    for one in fields(record):
        value = getattr(record, one.name)
        if "rows" in one.metadata and value is not None:
            yield one.name, one.metadata["rows"], value


def check_lengths(record: Any, n: int) -> None:
    """Refuse a dataclass whose `row_fields` have not one entry for each of n rows.

    Parameters
    ----------
    record
        The dataclass.
    n
        Rows of features.

    Raises
    ------
    UserError
        Another number of entries; it is named.
    """
    for _, words, value in row_fields(record):
        parts = value.items() if isinstance(value, Mapping) else [("", value)]
        parts = [("", part) for part in value] if isinstance(value, tuple) else parts
        for name, part in parts:
            if len(part) != n:
                raise UserError(
                    f"There are {n} rows of features but {len(part)} {words.format(name)}; give one per row."
                )


def taken(record: Any, rows: npt.NDArray[np.integer[Any]]) -> dict[str, Any]:
    """Return the `row_fields` of some rows, as `dataclasses.replace` takes them.

    Fields marked `field(metadata={"candidates": words})` have an entry for each candidate of each row, and are taken
    along.

    Parameters
    ----------
    record
        The dataclass; one with such a field has `candidates`.
    rows
        (m,) indices.
    """
    changes = {name: _part(value, rows) for name, _, value in row_fields(record)}
    for one in fields(record):
        value = getattr(record, one.name)
        if "candidates" in one.metadata and value is not None:
            changes[one.name] = value[record.candidates.positions(rows)]
    return changes


def _part(value: Any, rows: npt.NDArray[np.integer[Any]]) -> Any:
    if isinstance(value, np.ndarray):
        return take_rows(value, rows)
    if isinstance(value, Mapping):
        return {name: _part(part, rows) for name, part in value.items()}
    return tuple(_part(part, rows) for part in value) if isinstance(value, tuple) else value.take(rows)


FEATURES_IN_MEMORY_UP_TO = 2**30
"""Bytes up to which features that are read or made are kept in memory."""


def large_array(
    shape: int | tuple[int, ...], dtype: npt.DTypeLike, *, in_memory_up_to: int | None = None
) -> npt.NDArray[Any]:
    """Return a new array of zeros; a large one is a mapped temporary file and takes no memory of its own.

    Such a file is in the folder for temporary files (`TMPDIR`) and deleted with the array; only what is written takes
    disk space.

    Parameters
    ----------
    shape
        Of the array.
    dtype
        Of its values.
    in_memory_up_to
        Bytes above which it is a file; by default `IN_MEMORY_UP_TO`.

    Raises
    ------
    UserError
        The disk is too full for that.
    """
    kind, lengths = np.dtype(dtype), (shape,) if isinstance(shape, int) else shape
    size = kind.itemsize * math.prod(lengths)
    if size <= (IN_MEMORY_UP_TO if in_memory_up_to is None else in_memory_up_to):
        return np.zeros(lengths, kind)
    place = Path(tempfile.gettempdir())
    check_free_space(place, size, "an array that is kept on disk while it is used")
    with tempfile.TemporaryFile(dir=place) as file:
        return np.memmap(file, dtype=kind, mode="w+", shape=lengths)


def check_fits_memory(X: npt.NDArray[Any], needed: int, what: str, remedy: str) -> None:
    """Raise UserError for a mapped array of which something needs more memory than the machine has.

    Parameters
    ----------
    X
        Features; those in memory are taken as they are.
    needed
        Bytes.
    what
        Clause for the message, as in "IPAL keeps all features in memory".
    remedy
        Sentence: what to do.
    """
    if not is_mapped(X):
        return
    have = memory_of_machine()
    if have is not None and needed > have:
        raise UserError(f"{what}: {needed / 1e9:,.1f} GB, this machine has {have / 1e9:,.1f} GB. {remedy}")


_FINITE: WeakKeyDictionary[Any, bool] = WeakKeyDictionary()
"""Mapped files whose values are all finite, by their mapping: they are read once to find out."""


def check_finite(
    X: npt.NDArray[Any],
    *,
    allow_missing: bool = False,
    feature_names: Sequence[str] = (),
    of: str = "",
    given: npt.ArrayLike | None = None,
) -> None:
    """Check that all features are finite.

    Parameters
    ----------
    X
        (n, d) or (n, C, H, W).
    allow_missing
        Accept NaN.
    feature_names
        d names of the columns, for the message.
    of
        What the message calls the array.
    given
        The same numbers as they came, which the message shows; not sparse.

    Raises
    ------
    UserError
        An infinite or missing value; the first one's row and column are named.
    """
    mapping = getattr(X, "_mmap", None)
    if mapping is not None and mapping in _FINITE:
        return
    with np.errstate(invalid="ignore"):  # inf − inf
        total = X.sum(dtype=np.float64)
    if np.isfinite(total):  # one pass over the common case
        if mapping is not None and X.base is mapping:  # the whole file, not some rows of it
            _FINITE[mapping] = True
        return
    if mapping is not None:
        for part in pieces(X):
            _refuse_infinite(np.asarray(X[part]), part.start, allow_missing, feature_names, of)
        return
    _refuse_infinite(X, 0, allow_missing, feature_names, of, given)


def _refuse_infinite(
    X: npt.NDArray[Any],
    first: int,
    allow_missing: bool,
    feature_names: Sequence[str],
    of: str,
    given: npt.ArrayLike | None = None,
) -> None:
    bad = np.isinf(X) if allow_missing else ~np.isfinite(X)
    if not bad.any():
        return
    row, *place = (int(k) for k in np.argwhere(bad)[0])
    where = f"column {feature_names[place[0]]!r}" if feature_names else f"feature {place[0]}"
    if len(place) > 1:
        where = f"pixel {tuple(place)}"
    where += f" of {of}" * bool(of)
    value = np.asarray(X if given is None else on_cpu(given))[(row, *place)]
    if np.isfinite(value):
        raise RowError(f"Row {first + row}, {where} is {value} (too large for float32); features must be below 3.4e38.")
    raise RowError(
        f"Row {first + row}, {where} is {'NaN' if np.isnan(value) else value}; features must be finite numbers. Remove "
        "the row or fill in the value."
    )


def as_column(values: Sequence[Any] | npt.NDArray[Any]) -> Column:
    """Return n values as a one-dimensional array of objects.

    Examples
    --------
    >>> as_column(["a", None, ["b"]])
    array(['a', None, list(['b'])], dtype=object)
    """
    if isinstance(values, np.ndarray) and values.dtype == object:
        return values
    plain = values.tolist() if isinstance(values, np.ndarray) else values
    return np.fromiter(plain, dtype=object, count=len(plain))


def check_unique_ids(ids: npt.NDArray[np.str_]) -> None:
    """Raise UserError where one of the (n,) ids occurs twice; the message names both rows."""
    unique, first, counts = np.unique(ids, return_index=True, return_counts=True)
    if len(unique) == len(ids):
        return
    again = unique[counts > 1]
    earliest = again[np.argmin(first[counts > 1])]
    rows = np.flatnonzero(ids == earliest)
    raise RowError(f"Rows {rows[0]} and {rows[1]} have the same id {str(earliest)!r}; ids must be unique.")


def from_json(kind: type[R], values: Any) -> R:
    """Return a dataclass of what a JSON file holds: its fields by their types, dataclasses of objects, tuples of lists.

    Parameters
    ----------
    kind
        A dataclass.
    values
        As `dataclasses.asdict` gives them, after a way through JSON.

    Raises
    ------
    ValueError
        A field is missing, or of another type.
    """
    from pydantic import ValidationError  # a tenth of a second that only readers of such files need

    try:
        result: R = _adapter(cast(Hashable, kind)).validate_python(values)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise ValueError(f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from error
    return result


@lru_cache(maxsize=64)
def _adapter(kind: Any) -> Any:
    from pydantic import TypeAdapter

    return TypeAdapter(kind)


PART = ".part-"
"""Prefix of the names of files that are still being written."""


def write_atomically(
    path: Path, write: Callable[[Path], object], *, durable: bool = False, makes_folder: bool = True
) -> None:
    """Write a temporary file beside `path`, then rename it: readers see the old file or the whole new one.

    A symbolic link stays, and the file that it names is written. A device or a pipe (`/dev/stdout`, `/dev/null`) cannot
    be replaced, and is written to.

    Parameters
    ----------
    path
        The file.
    write
        Writes the file whose path it is given, which has the suffix of `path`.
    durable
        Flush the content to the disk before renaming, so that the file is whole after a power cut too.
    makes_folder
        Whether a folder that is missing is made.

    Raises
    ------
    WriteError
        The system refuses it.
    """
    if is_stream(path):
        write(path)
        return
    path = path.resolve() if path.is_symlink() else path
    end = path.name.encode()[-100:].decode(errors="ignore")  # with its suffix; a file system takes 255 bytes
    temporary = path.with_name(f"{PART}{_HOST}-{os.getpid()}-{threading.get_ident()}-{end}")
    try:
        if makes_folder:
            path.parent.mkdir(parents=True, exist_ok=True)
        _remove_stale_parts(path.parent)
        write(temporary)
        if durable:
            with temporary.open("rb") as file:
                os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        if temporary.name not in str(error) and error.filename not in map(str, path.parents):
            raise  # of what is read meanwhile, such as a download
        number = error.errno or errno.EIO
        raise WriteError(number, os.strerror(number), str(path)) from error
    finally:
        with suppress(OSError):
            temporary.unlink()


_HOST = f"{zlib.crc32(platform.node().encode()):08x}"
_SWEPT: set[Path] = set()
_SWEEPING = threading.Lock()


def _remove_stale_parts(folder: Path) -> None:
    """Delete what killed processes of this machine left half-written; once a folder, before the first file there."""
    with _SWEEPING:
        if folder in _SWEPT:
            return
        _SWEPT.add(folder)
        for part in folder.glob(f"{PART}{_HOST}-*"):
            pid = part.name.removeprefix(f"{PART}{_HOST}-").partition("-")[0]
            # A container that starts again has the same process numbers: this process has written nothing here yet.
            if pid == str(os.getpid()) or (pid.isdecimal() and not _is_running(int(pid))):
                part.unlink(missing_ok=True)


def _is_running(pid: int) -> bool:
    if os.name != "posix":  # elsewhere the signal 0 ends a process
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True


@contextmanager
def writing_to(place: Path) -> Iterator[None]:
    """Context manager around writing to a folder: raises UserError where the system refuses it."""
    try:
        yield
    except OSError as error:
        raise UserError(f"Cannot write to {place}: {error.strerror or error}.") from error


def folder_bytes(folder: Path) -> int:
    """Return the bytes of all files in a folder."""
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def is_stream(path: Path) -> bool:
    """Return whether a path names a device or a pipe."""
    try:
        kind = path.stat().st_mode
    except (OSError, ValueError):
        return False
    return not (stat.S_ISREG(kind) or stat.S_ISDIR(kind))


def stored_name(name: str) -> str:
    """Return the name under which a file of that name can be stored in any file system, with the same suffix.

    Examples
    --------
    >>> stored_name("../a b.csv"), len(stored_name("x" * 300 + ".csv")), stored_name("a\\x00b/")
    ('a b.csv', 150, 'a_b')
    """
    plain = "".join(letter if letter.isprintable() else "_" for letter in Path(name).name) or "file"
    suffix = Path(plain).suffix if len(Path(plain).suffix.encode()) <= 20 else ""
    stem = plain.removesuffix(suffix) if suffix else plain
    return stem.encode()[: 150 - len(suffix.encode())].decode(errors="ignore") + suffix


def check_free_space(folder: Path, needed: int, what: str) -> None:
    """Raise UserError where a disk has less free space than work will need.

    Parameters
    ----------
    folder
        Where it will be written; need not exist.
    needed
        Bytes.
    what
        Clause for the message, as in "The label weights of all epochs".
    """
    there = next((parent for parent in (folder, *folder.absolute().parents) if parent.exists()), None)
    free = needed if there is None else shutil.disk_usage(there).free
    if free < needed:
        raise UserError(
            f"The disk of {folder} has {_in_words(free)} left, but {what} may take {_in_words(needed)}. Free some "
            "space first, or choose a folder on another disk."
        )


def _in_words(size: int) -> str:
    unit, name = (10**6, "MB") if size >= 10**6 else (10**3, "kB")
    return f"{size / unit:,.0f} {name}"


def remove_parts(folder: Path) -> None:
    """Delete the temporary files of a crashed process in a folder; no other process may be writing to it."""
    for part in folder.rglob(f"{PART}*"):
        part.unlink(missing_ok=True)


def save_array(path: Path, array: npt.NDArray[Any]) -> None:
    """Write an array as .npy, atomically.

    Parameters
    ----------
    path
        The file.
    array
        Of any shape.
    """
    write_atomically(path, lambda temporary: np.save(temporary, array, allow_pickle=False))


def write_bytes(path: Path, content: bytes) -> None:
    """Write bytes, atomically.

    Parameters
    ----------
    path
        The file.
    content
        What it will hold.
    """
    write_atomically(path, lambda temporary: temporary.write_bytes(content))


def zipped(files: Mapping[str, bytes]) -> bytes:
    """Return a ZIP of some files; the same for the same files, whenever it is made.

    Parameters
    ----------
    files
        Name within the ZIP → content.
    """
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
    return packed.getvalue()


def write_text(path: Path, text: str) -> None:
    """Write UTF-8 text, atomically.

    Parameters
    ----------
    path
        The file.
    text
        What it will hold.
    """
    write_bytes(path, text.encode())


def write_json_lines(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """Write a JSON object a line, atomically; NaN is refused.

    Parameters
    ----------
    path
        The file.
    rows
        An object a line.
    """
    encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode

    def write(temporary: Path) -> None:
        with temporary.open("w", encoding="utf-8", newline="\n") as stream:
            stream.writelines(encode(row) + "\n" for row in rows)

    write_atomically(path, write)


def write_csv(path: Path, frame: pd.DataFrame) -> None:
    """Write a table as CSV without its index, atomically.

    Parameters
    ----------
    path
        The file.
    frame
        The table.
    """
    write_atomically(path, lambda temporary: frame.to_csv(temporary, index=False, lineterminator="\n"))


def write_json(path: Path, value: Any) -> None:
    """Write indented JSON, atomically.

    Parameters
    ----------
    path
        The file.
    value
        What JSON can hold.
    """
    write_text(path, json_text(value))


def json_text(value: Any) -> str:
    """Return a value as indented JSON."""
    return json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


Progress = Callable[[str, int, int | None], None]
"""Callback of long work: (unit, number done, total or None). An exception stops the work."""


TIME_STEP = 2 * 10**9
"""Nanoseconds after which another change of a file certainly gives another time stamp; FAT counts in 2 s."""


def cached_by_file(most: int) -> Callable[[F], F]:
    """Decorate a function (file, …): its latest `most` results hold as long as size and time of their file stay.

    The function raises OSError where the file cannot be read.
    """

    def decorate(function: F) -> F:
        @lru_cache(maxsize=most)
        def cached(file: Path, version: tuple[int, ...], *arguments: Hashable) -> Any:
            return function(file, *arguments)

        @wraps(function)
        def call(file: Path, *arguments: Hashable) -> Any:
            facts = file.stat()
            if time.time_ns() - facts.st_mtime_ns <= TIME_STEP:
                return function(file, *arguments)
            version = (facts.st_dev, facts.st_ino, facts.st_size, facts.st_mtime_ns)
            return cached(file, version, *arguments)

        return cast(F, call)

    return decorate


@cached_by_file(20_000)
def hash_of(file: Path, size: int) -> str:
    """Return the SHA-256 of the first `size` bytes of a file.

    Parameters
    ----------
    file
        Which.
    size
        Bytes.

    Raises
    ------
    OSError
        It cannot be read.
    """
    digest, left = hashlib.sha256(), size
    with file.open("rb") as stream:
        while left and (block := stream.read(min(left, 1 << 20))):
            digest.update(block)
            left -= len(block)
    return digest.hexdigest()

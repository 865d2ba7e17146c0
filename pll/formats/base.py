"""What a file format is, and what every reader shares: options, limits, and words for what is wrong.

A reader trusts nothing in a file. Sizes are checked before memory is asked for, nothing is ever unpickled, and whatever
a parser makes of a damaged file reaches the user as a `UserError`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from pll.dataset import PartialLabelDataset
from pll.errors import UserError

if TYPE_CHECKING:
    from pll.formats.results import Results

HEAD_BYTES = 2**16
"""How much of a file `sniff` is shown: a header of some thousand columns."""

MAX_CLASSES = 1_000_000
"""More classes than this are taken for a damaged number: each costs a name, and every model a row of weights."""

MAX_ID_BYTES = 256 * 2**20
"""What ids may occupy: numpy gives every id the room of the longest, so that one huge cell could cost gigabytes."""

MAX_NAME = 1000
"""Characters in the name of a class; longer cells come from a quote that is left open, or hold something else."""

BOMB_BYTES = 256 * 2**20
BOMB_RATIO = 200
"""Compressed data that grows beyond both is taken for a zip bomb; real features compress 2 to 30 times."""


@dataclass(frozen=True)
class ReadOptions:
    """What a person may say about a file that the file itself does not.

    Args:
        name: what to call the dataset; by default the name of the file.
        class_names: all classes, in order; by default those that occur, sorted. A label outside them is refused.
        separator: what stands between the candidates of a cell; by default `|`, or `;` where no cell holds a `|`.
        columns: what a column (or field) is, by its name: one of `pll.formats.roles.ROLES`; the others are guessed.
        combine: what becomes of several annotators' sets: `"union"`, or `"largest"`, the largest set of one of them.
        fold: which of the file's own folds is the test part, from 1; by default none is.
        max_bytes: how large the arrays of a file may be once unpacked.
        progress: called as a file is read: (what is counted, how many are done, how many in all or None). What it
            raises stops the reading.

    Raises:
        UserError: a `combine` that does not exist, or a fold below 1.
    """

    name: str = ""
    class_names: tuple[str, ...] = ()
    separator: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    combine: str = "union"
    fold: int | None = None
    max_bytes: int = 4 * 2**30
    progress: Callable[[str, int, int | None], None] | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "class_names", tuple(self.class_names))  # JSON brings lists
        if self.combine not in ("union", "largest"):
            raise UserError(f"Annotators' sets cannot be combined by {self.combine!r}; use union or largest.")
        if self.fold is not None and self.fold < 1:
            raise UserError(f"The fold is {self.fold}; folds count from 1.")

    def tick(self, what: str, done: int, total: int | None) -> None:
        """Tell whoever wants to know how far reading is."""
        if self.progress is not None:
            self.progress(what, done, total)


class Format(ABC):
    """One file format. Readers name rows and fields; `pll.formats.read` puts the file's name in front.

    Attributes:
        name: what the command line calls it (`--to NAME`).
        label: what a page calls it.
        suffixes: how such files usually end, lower case, with the dot.
        row_note: how its messages count rows, as a sentence.
        tool: where such a file goes back to, as in "Back into …".
        adds: what the labels of a run add to such a file, in a sentence.
        queue: where people go through such a file one by one, what puts the least certain first there; else "".
    """

    name: ClassVar[str]
    label: ClassVar[str]
    suffixes: ClassVar[tuple[str, ...]]
    row_note: ClassVar[str] = "Rows are counted from 0."
    tool: ClassVar[str]
    adds: ClassVar[str]
    queue: ClassVar[str] = ""

    @abstractmethod
    def sniff(self, path: Path, head: bytes) -> bool:
        """Whether the content is of this format, whatever the file is called.

        Args:
            head: the first bytes of the file (`HEAD_BYTES` at most); enough for most formats.
        """

    @abstractmethod
    def read(self, path: Path, options: ReadOptions) -> PartialLabelDataset:
        """The dataset in a file.

        Raises:
            UserError: anything wrong with the file: the place and the remedy.
        """

    @abstractmethod
    def write(self, dataset: PartialLabelDataset, path: Path, results: Results | None = None) -> None:
        """Write a dataset so that `read` gives back all but what `cannot_hold` names.

        Args:
            results: identified labels to write beside it.

        Raises:
            UserError: the format has no way to write it at all.
        """

    @abstractmethod
    def cannot_hold(self, dataset: PartialLabelDataset) -> list[str]:
        """What writing would lose, in words for a person; empty where nothing is lost."""

    def give_back(self, source: Path, path: Path, results: Results, options: ReadOptions) -> None:
        """Write a file of this format again with results added to it, everything else as it was.

        Args:
            source: a file that `read` has read.
            path: where to write.
            options: what it was read with.

        Raises:
            UserError: what `read` would say.
        """
        self.write(self.read(source, options), path, results)

    def cannot_give_back(self, source: Path, results: Results, options: ReadOptions) -> list[str]:
        """What of a file `give_back` would not keep, in words for a person; mostly nothing."""
        return []

    def cannot_label(self, dataset: PartialLabelDataset, results: Results) -> list[str]:
        """Which of the labels writing or giving back would lose, in words for a person; mostly none.

        Args:
            dataset: the examples.
            results: their labels, among which may be classes that a person added.
        """
        return []

    def beside(self, dataset: PartialLabelDataset, results: Results | None = None) -> dict[str, str]:
        """Files of text that go with a written dataset, by what stands in place of the suffix; mostly none."""
        return {}

    def beside_given_back(self, source: Path, results: Results, options: ReadOptions) -> dict[str, str]:
        """As `beside`, for a file that was given back."""
        return {}


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
    if count > MAX_CLASSES:
        raise UserError(f"There are {count:,} classes in {where}; at most {MAX_CLASSES:,} are supported.")


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


def kind_of(dtype: np.dtype[Any]) -> str:
    """A dtype in words.

    >>> kind_of(np.dtype("U5")), kind_of(np.dtype(np.int64))
    ('text', 'whole numbers')
    """
    words = {"f": "decimal numbers", "i": "whole numbers", "u": "whole numbers", "b": "true/false values"}
    words |= {"U": "text", "S": "bytes", "O": "Python objects", "c": "complex numbers", "V": "records"}
    return words.get(dtype.kind, "dates or times" if dtype.kind in "mM" else f"values of type {dtype}")


def readable(size: int) -> str:
    """A number of bytes for people.

    >>> readable(3 * 2**30), readable(2000)
    ('3.0 GB', '2.0 KB')
    """
    amount, units = float(size), ["bytes", "KB", "MB", "GB", "TB"]
    while amount >= 1000 and len(units) > 1:
        amount, units = amount / 1024, units[1:]
    return f"{amount:.0f} bytes" if units[0] == "bytes" else f"{amount:,.1f} {units[0]}"


def shorten(text: str, limit: int = 60) -> str:
    """A value from a file as it may stand in a message: quoted, on one line, not longer than it helps."""
    return repr(text if len(text) <= limit else text[: limit - 1] + "…")


def listing(names: Sequence[str], limit: int = 8) -> str:
    """Names for a message: the first few, and how many more.

    >>> listing(["a", "b", "c"], limit=2)
    'a, b and 1 more'
    """
    shown = ", ".join(name if len(name) <= 40 else name[:39] + "…" for name in names[:limit])
    return shown + (f" and {len(names) - limit} more" if len(names) > limit else "")


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:]

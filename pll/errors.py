"""What users are told: `UserError`, `Note`, and `explain`, which words any other error.

What to do is data beside the sentence: a page shows what is done there, the command line the options to type.
"""

from __future__ import annotations

import errno
from collections.abc import Iterable, Mapping
from typing import Any, Self


class UserError(ValueError):
    """Raised when something about the input or the settings is wrong that the user can correct.

    The message names the file, row or field, and says what to do; what differs between a page and the shell is beside
    it. Pages show `on_page`, the command line prints the error to stderr and exits with 2. Any other exception is a bug
    in Candid.

    Parameters
    ----------
    message : object
        What is wrong, and what to do wherever one is.
    kind : str
        What it is about, where a page offers a way to go on; mostly "".
    page : str
        What to do on a page, as a sentence.
    shell : str
        What to type in the shell.

    Attributes
    ----------
    place : str
        What the message is about: "archive.zip: table.csv: ".
    row_note : str
        How rows are counted there, as a sentence.

    Examples
    --------
    >>> error = UserError("Whose answers are these?", shell="--column Ann=annotator").within("x.csv")
    >>> print(error), error.on_page
    x.csv: Whose answers are these? In the shell: --column Ann=annotator.
    (None, 'x.csv: Whose answers are these?')
    """

    def __init__(self, message: object = "", *, kind: str = "", page: str = "", shell: str = "") -> None:
        super().__init__(message)
        self.kind, self.page, self.shell, self.place, self.row_note = kind, page, shell, "", ""

    def within(self, name: str) -> Self:
        """Put the name of a file before the message, which may have it already; return the error."""
        if name not in str(self):
            self.place = f"{name}: {self.place}"
        return self

    def _said(self, more: str) -> str:
        return " ".join(filter(None, (f"{self.place}{ValueError.__str__(self)}", self.row_note, more)))

    @property
    def on_page(self) -> str:
        """What a page shows."""
        return self._said(self.page)

    def __str__(self) -> str:
        return self._said(f"In the shell: {self.shell}." if self.shell else "")


def did_you_mean(name: object, names: Iterable[str]) -> str:
    """Return a question about the nearest name, for the end of a message; "" where none is near. Capitals do not count.

    Parameters
    ----------
    name
        What was given.
    names
        What there is.

    Examples
    --------
    >>> did_you_mean("digitz", ["iris", "digits"])
    " Did you mean 'digits'?"
    """
    import difflib  # late: it costs as much as everything else here

    spelled = {one.lower(): one for one in names}
    close = difflib.get_close_matches(str(name).lower(), spelled, n=1)
    return f" Did you mean {spelled[close[0]]!r}?" if close else ""


def unknown(kind: str, name: object, names: Iterable[str]) -> UserError:
    """Return the error about a name that there is not.

    Parameters
    ----------
    kind
        What it is a name of.
    name
        What was given.
    names
        Those that there are.
    """
    names = list(names)
    return UserError(f"There is no {kind} called {name!r}; use one of {', '.join(names)}.{did_you_mean(name, names)}")


class RowError(UserError):
    """Something is wrong in a row, which the message names by its number."""


class NotNumbersError(UserError, TypeError):
    """Features that are no numbers: a `TypeError` too, as scikit-learn expects of every estimator."""


class DivergenceError(UserError):
    """Training diverged: a loss or a label weight is no longer finite."""


class BusyError(UserError):
    """Another program keeps something to itself at this moment; the same may succeed soon."""


class WordsInFeatures(RowError):
    """Cells of features are no numbers: the message names the first; `columns` are all that have such cells."""

    columns: tuple[str, ...] = ()


class DuplicateIds(RowError):
    """Two rows have the same id: the message names them."""


class MissingPictures(UserError):
    """Pictures that a table names are not there: the message names them."""


class WriteError(OSError):
    """Raised where the system refuses to write a file; `filename` is the one that was meant."""

    def __str__(self) -> str:
        return f"Cannot write to {self.filename}: {self.strerror}."


def is_disk_full(error: BaseException) -> bool:
    """Return whether an error says that a disk, or a user's quota of it, is full."""
    return isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def first_line(error: Exception) -> str:
    """Return the first line of what an exception says, or its type where it says nothing.

    Examples
    --------
    >>> first_line(ValueError("too long\\nby one")), first_line(KeyError())
    ('too long', 'KeyError')
    """
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


def explain(error: BaseException) -> str:
    """Return an error's message for a page, with its cause and what to do."""
    if isinstance(error, UserError):
        return error.on_page
    if type(error).__name__ == "OutOfMemoryError":  # torch's; named, so that this file needs no torch
        return "The GPU ran out of memory. Use a smaller batch size or model, or train on the CPU."
    if isinstance(error, MemoryError) or "can't allocate memory" in str(error):  # the latter is torch's, on the CPU
        return "The machine ran out of memory. Use a smaller batch size, model or data set."
    if is_disk_full(error):
        where = f" while {error.filename} was written" if isinstance(error, OSError) and error.filename else ""
        return (
            f"The disk is full{where}. What was saved before is kept, the last checkpoint of a run included. Free some "
            "space, then go on."
        )
    if isinstance(error, OSError):
        return f"Reading or writing a file failed: {error}. Check the disk's free space and permissions, then resume."
    return f"Something went wrong that should not have: {type(error).__name__}: {error}. log.txt has the details."


# ---- notes -----------------------------------------------------------------------------------------------------------


class Note(str):
    """Something that reading a file says to the user: its text, what kind of thing it is, and the shell's option.

    It is the text itself wherever a text is wanted; a page asks for `kind` and never parses the sentence.

    Attributes
    ----------
    kind
        What it is about (`"spellings"`, `"no answer"`, `"unmapped"`, …); `""` for a remark.
    hint
        What to type in the shell to change it; `""` for nothing.
    cells
        The cells it is about, and how often each stands there or what it became.

    Examples
    --------
    >>> note = Note("Spelled alike: Cat → cat.", kind="spellings", hint="--no-merge")
    >>> print(note), note.kind, note.with_hint
    Spelled alike: Cat → cat.
    (None, 'spellings', 'Spelled alike: Cat → cat. (--no-merge)')
    """

    kind: str
    hint: str
    cells: Mapping[str, Any]

    def __new__(cls, text: str, *, kind: str = "", hint: str = "", cells: Mapping[str, Any] | None = None) -> Self:
        note = super().__new__(cls, text)
        note.kind, note.hint, note.cells = kind, hint, cells or {}
        return note

    def __getnewargs_ex__(self) -> tuple[tuple[str], dict[str, Any]]:
        return (str(self),), {"kind": self.kind, "hint": self.hint, "cells": self.cells}

    @property
    def with_hint(self) -> str:
        """The text, with what to type in the shell."""
        return f"{self} ({self.hint})" if self.hint else str(self)


def notes_of(notes: Iterable[str], *kinds: str) -> list[Note]:
    """Return the notes of some kinds, of all where none is named."""
    return [note for note in notes if isinstance(note, Note) and (note.kind in kinds or not kinds)]

"""`UserError`, the error with a message for users, and `explain`, which words any other error."""

from __future__ import annotations

import errno
import importlib.util


class UserError(ValueError):
    """Raised when something about the input or the settings is wrong that the user can correct.

    The message is complete in itself: it names the file, row or field, and says what to do. Pages show it as it is, the
    command line prints it to stderr and exits with 2. Any other exception is a bug in Candid.
    """


class NotNumbersError(UserError, TypeError):
    """Features that are no numbers: a `TypeError` too, as scikit-learn expects of every estimator."""


class DivergenceError(UserError):
    """Training diverged: a loss or a label weight is no longer finite."""


class BusyError(UserError):
    """Another program keeps something to itself at this moment; the same may succeed soon."""


def require_extra(extra: str, *modules: str) -> None:
    """Raise UserError where a package of an optional part of Candid is not installed.

    Parameters
    ----------
    extra
        The part that brings it, as in `pip install candid-labels[extra]`.
    modules
        What is imported.
    """
    missing = [name for name in modules if importlib.util.find_spec(name) is None]
    if missing:
        raise UserError(
            f"This needs {' and '.join(missing)}, which is not installed. Run: pip install 'candid-labels[{extra}]'"
        )


class DuplicateIds(UserError):
    """Two rows have the same id: the message names them."""


class MissingPictures(UserError):
    """Pictures that a table names are not there: the message names them."""


def is_caused_by(error: BaseException | None, kind: type[UserError]) -> bool:
    """Return whether an error, or one behind it, is of a kind."""
    while error is not None:
        if isinstance(error, kind):
            return True
        error = error.__cause__
    return False


def is_disk_full(error: BaseException) -> bool:
    """Return whether an error says that a disk, or a user's quota of it, is full."""
    return isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def explain(error: BaseException) -> str:
    """Return an error's message for users, with its cause and what to do."""
    if isinstance(error, UserError):
        return str(error)
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

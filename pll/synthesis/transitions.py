"""Transition and confusion matrices: reading them from files, checking them, converting one into the other.

A *transition matrix* is c × c, its entry [y, j] the probability Pr(j ∈ S | y) that label j is a candidate where y is
the true label: 1 on the diagonal, rows need not sum to 1. A *confusion matrix* counts how often y was taken for j.
"""

from __future__ import annotations

import csv
import json
import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pll.errors import UserError
from pll.weights import Floats

MOST_BYTES = 64 * 2**20
"""Maximum size of a matrix file in bytes: 1,000 classes take 20 MB."""

Matrix = Floats


def checked_transitions(matrix: npt.ArrayLike, class_names: Sequence[str]) -> Matrix:
    """Check a transition matrix and return it as float64.

    Parameters
    ----------
    matrix
        (c, c) probabilities, 1 on the diagonal.
    class_names
        c names, for messages.

    Raises
    ------
    UserError
        Not c × c, not numbers, outside [0, 1], or a diagonal other than 1; row and column are named.

    Examples
    --------
    >>> checked_transitions([[1, 0.2], [0, 1]], ("cat", "dog")).tolist()
    [[1.0, 0.2], [0.0, 1.0]]
    """
    array = _square(matrix, class_names, "The transition matrix")
    wrong = ~((array >= 0) & (array <= 1))
    if wrong.any():
        y, j = (int(k) for k in np.argwhere(wrong)[0])
        raise UserError(
            f"{_place(y, j, class_names)} of the transition matrix is {array[y, j]:g}; it must be a probability, "
            "from 0 to 1."
        )
    off = np.flatnonzero(np.abs(array.diagonal() - 1) > 1e-6)
    if len(off):
        y = int(off[0])
        raise UserError(
            f"{_place(y, y, class_names)} of the transition matrix is {array[y, y]:g}; it must be 1, since the true "
            "label is always a candidate. If these are shares or counts of a confusion matrix, say so."
        )
    np.fill_diagonal(array, 1.0)
    return array


def transitions_from_confusion(
    confusion: npt.ArrayLike, class_names: Sequence[str], *, highest: float | None = None
) -> Matrix:
    """Make a transition matrix in which labels accompany each other as often as they are confused.

    Parameters
    ----------
    confusion
        (c, c) counts or shares: how often true label y (row) was taken for j (column).
    class_names
        c names, for messages.
    highest
        Scale the entries off the diagonal so that the highest is this (in [0, 1]); by default they are the shares of
        their row, which for a good classifier leaves most sets with one candidate.

    Returns
    -------
    Matrix
        (c, c); a class without a single count accompanies nothing.

    Raises
    ------
    UserError
        Not c × c, a negative or missing number (row and column are named), or nothing off the diagonal that could be
        scaled.

    Examples
    --------
    >>> transitions_from_confusion([[8, 2], [0, 5]], ("cat", "dog")).tolist()
    [[1.0, 0.2], [0.0, 1.0]]
    >>> transitions_from_confusion([[8, 2], [0, 5]], ("cat", "dog"), highest=0.5).tolist()
    [[1.0, 0.5], [0.0, 1.0]]
    """
    shares = _shares(confusion, class_names)
    np.fill_diagonal(shares, 0.0)
    if highest is not None:
        if not 0 <= highest <= 1:
            raise UserError(f"The highest transition probability is {highest}; it must lie between 0 and 1.")
        if not shares.any():
            raise UserError("This confusion matrix has nothing off its diagonal: no label is ever taken for another.")
        shares *= highest / shares.max()
    np.fill_diagonal(shares, 1.0)
    return shares


def truth_given_label(confusion: npt.ArrayLike, class_names: Sequence[str], *, rows: str = "true") -> Matrix:
    """Compute Pr(true label j | given label i), at [i, j], from a confusion matrix.

    Parameters
    ----------
    confusion
        (c, c) counts or shares.
    class_names
        c names, for messages.
    rows
        What its rows are: `"true"` (rows true, columns given, as scikit-learn has it) or `"given"`.

    Returns
    -------
    Matrix
        (c, c), rows sum to 1; a label that was never given counts as true.

    Raises
    ------
    UserError
        Not c × c, or a negative or missing number; row and column are named.

    Examples
    --------
    >>> truth_given_label([[8, 2], [0, 6]], ("cat", "dog")).tolist()
    [[1.0, 0.0], [0.25, 0.75]]
    """
    if rows not in ("true", "given"):
        raise UserError(f"The rows of a confusion matrix are 'true' or 'given' labels, not {rows!r}.")
    array = _square(confusion, class_names, "The confusion matrix")
    shares = _shares(array.T if rows == "true" else array, class_names)
    never = shares.sum(axis=1) == 0
    shares[never, never] = 1.0
    return shares


def read_matrix(path: Path | str, class_names: Sequence[str], *, name: str = "") -> Matrix:
    """Read a (c, c) float64 matrix from a file: .csv or .tsv, .json (a list of lists), .npy or .npz.

    A first row or column of class names is recognised where the file has one, and the matrix is put into the order of
    `class_names` by it. Of an archive (.npz) the only array is taken, or the one called `matrix` or `confusion`.

    Parameters
    ----------
    path
        The file.
    class_names
        c names, in the order of rows and columns.
    name
        What to call the file in messages; by default its path.

    Raises
    ------
    UserError
        No such file, another kind of file, cells that are no numbers, names that are not those of the classes; the
        place is named.
    """
    file = Path(path)
    title, kind = name or str(file), file.suffix.lower()
    try:
        if file.stat().st_size > MOST_BYTES:
            raise UserError(f"{title} is too large for a matrix of {len(class_names)} classes.")
        if kind == ".npz":
            return _square(_array_in(file, title), class_names, title)
        if kind == ".npy":
            return _square(np.load(file, allow_pickle=False), class_names, title)
        text = file.read_text(encoding="utf-8-sig")
        if kind == ".json":
            return _square(json.loads(text), class_names, title)
    except UserError:
        raise
    except OSError as error:
        raise UserError(f"{title} cannot be read: {error.strerror or error}.") from error
    except (ValueError, TypeError, EOFError, RecursionError, zlib.error, zipfile.BadZipFile) as error:
        why = "it holds Python objects, which are never opened" if "pickle" in str(error).lower() else error
        raise UserError(f"{title} cannot be read as a matrix ({why}); bring .csv, .json, .npy or .npz.") from error
    return _from_cells(_cells(text), tuple(class_names), title)


def _array_in(file: Path, title: str) -> npt.NDArray[Any]:
    """Read the matrix in an npz; no pickles, and no array larger than a matrix."""
    with zipfile.ZipFile(file) as archive:
        names = [member.filename.removesuffix(".npy") for member in archive.infolist()]
        wanted = names[0] if len(names) == 1 else next((n for n in ("matrix", "confusion") if n in names), None)
        if wanted is None:
            raise UserError(
                f"{title} holds {len(names)} arrays ({', '.join(names[:8])}); save the matrix alone, or call it matrix."
            )
        if archive.getinfo(f"{wanted}.npy").file_size > MOST_BYTES:
            raise UserError(f"{title} holds {wanted!r}, which is too large for a matrix of classes.")
    with np.load(file, allow_pickle=False) as arrays:
        return np.asarray(arrays[wanted])


def _cells(text: str) -> list[list[str]]:
    mark = max("\t;,", key=text.count)
    rows = (
        csv.reader(text.splitlines(), delimiter=mark) if mark in text else (line.split() for line in text.splitlines())
    )
    cells = [[cell.strip() for cell in row] for row in rows]
    return [row for row in cells if any(row)]


def _from_cells(cells: list[list[str]], class_names: tuple[str, ...], file: str) -> Matrix:
    c = len(class_names)
    columns = rows = class_names
    if len(cells) == c + 1:
        columns, cells = tuple(cells[0][-c:]), cells[1:]
    if cells and len(cells[0]) == c + 1:
        rows, cells = tuple(row[0] for row in cells), [row[1:] for row in cells]
        columns = rows if columns is class_names else columns
    elif columns is not class_names:
        rows = columns
    for names in (rows, columns):
        if sorted(names) != sorted(class_names):
            foreign = next((name for name in names if name not in class_names), names[0] if names else "")
            raise UserError(
                f"{file} names the class {foreign!r}; its names must be those of the {c} classes "
                f"({', '.join(class_names[:8])}{', …' if c > 8 else ''}), each once."
            )
    matrix = np.empty((len(cells), c))
    for y, row in enumerate(cells):
        if len(row) != c:
            raise UserError(f"{file}: row {y + 1} has {len(row)} cells; a matrix of {c} classes has {c}.")
        for j, cell in enumerate(row):
            try:
                matrix[y, j] = float(cell)
            except ValueError as error:
                raise UserError(f"{file}: row {y + 1}, column {j + 1} holds {cell[:40]!r}, not a number.") from error
    matrix = _square(matrix, class_names, file)
    place = {name: k for k, name in enumerate(rows)}, {name: k for k, name in enumerate(columns)}
    return matrix[np.ix_(*([where[name] for name in class_names] for where in place))]


def as_numbers(matrix: npt.ArrayLike, what: str = "The matrix") -> Matrix:
    """Return a copy of a matrix as two-dimensional float64; `what` names it in messages.

    Parameters
    ----------
    matrix
        Lists, a table or an array.
    what
        Its name in messages.

    Raises
    ------
    UserError
        Not finite numbers in rows of equal length.
    """
    try:
        array = np.array(matrix, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise UserError(f"{what} must hold numbers, in rows of equal length ({error}).") from error
    if array.ndim != 2:
        raise UserError(f"{what} must have two dimensions, not {array.ndim}.")
    wrong = np.argwhere(~np.isfinite(array))
    if len(wrong):
        row, column = (int(k) for k in wrong[0])
        raise UserError(f"{what} holds {array[row, column]} in row {row + 1}, column {column + 1}; give a number.")
    return array


def _square(matrix: Any, class_names: Sequence[str], what: str) -> Matrix:
    array = as_numbers(matrix, what)
    c = len(class_names)
    if array.shape != (c, c):
        raise UserError(f"{what} is {array.shape[0]} × {array.shape[1]}; with {c} classes it must be {c} × {c}.")
    return array


def _shares(confusion: Any, class_names: Sequence[str]) -> Matrix:
    """Each row divided by its sum; rows of zeros stay."""
    array = _square(confusion, class_names, "The confusion matrix")
    wrong = array < 0
    if wrong.any():
        y, j = (int(k) for k in np.argwhere(wrong)[0])
        raise UserError(
            f"{_place(y, j, class_names)} of the confusion matrix is {array[y, j]:g}; it must be a count or a share, "
            "0 or more."
        )
    totals = array.sum(axis=1, keepdims=True)
    return np.asarray(np.divide(array, totals, out=np.zeros_like(array), where=totals > 0))


def _place(y: int, j: int, class_names: Sequence[str]) -> str:
    return f"Row {class_names[y]!r}, column {class_names[j]!r}"

"""One NumPy array, or sparse matrix of SciPy: (n, c) marks, counts or shares of classes, or (n, m) votes with −1.

The counts and shares are the prior of the candidates, which are the classes that have any.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy  # its parts load when they are used

from pll.annotations.data import Annotations
from pll.dataset import PartialLabelDataset
from pll.errors import RowError, UserError
from pll.formats.answers import Answers, share_chunks
from pll.formats.archive import Members, names_in
from pll.formats.base import ReadOptions
from pll.formats.checks import check_class_count, check_unpacked_size, parsing
from pll.formats.labels import labels_of, sets_of

MAGIC = b"\x93NUMPY"
"""How such a file begins."""
_REMEDY = (
    "Save the features X, the candidates (0/1, examples × classes), y and class_names with np.savez(file, X=X, …)."
)


SPARSE = {"data", "shape", "format"}
"""Arrays of an .npz file in which SciPy saves a sparse matrix."""


def is_array(path: Path) -> bool:
    """Whether a file is a single NumPy array, or a single sparse matrix of SciPy."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(MAGIC)) == MAGIC or is_sparse(names_in(path))


def is_sparse(files: Collection[str]) -> bool:
    """Whether an .npz file with these files is a sparse matrix of SciPy."""
    return {f"{name}.npy" for name in SPARSE} <= {*files}


def read_sparse(path: Path, max_bytes: int) -> scipy.sparse.csr_array:
    """Read a sparse matrix as SciPy saves it.

    Parameters
    ----------
    path
        The .npz file.
    max_bytes
        What it may take once unpacked.

    Raises
    ------
    UserError
        It is damaged or too large.
    """
    with Members(path, max_bytes) as members:
        unpacked = sum(members.sizes.values())
    check_unpacked_size(unpacked, path.stat().st_size, max_bytes, "this matrix")
    with parsing("the sparse matrix", "save it again with scipy.sparse.save_npz"):
        matrix = scipy.sparse.csr_array(scipy.sparse.load_npz(path))
        matrix.check_format(full_check=True)
    return matrix


def read_matrix(path: Path, options: ReadOptions) -> PartialLabelDataset:
    """Read an array of marks, counts or shares.

    Parameters
    ----------
    path
        The .npy or .npz file.
    options
        Its class names, and how large it may be.

    Raises
    ------
    UserError
        It is damaged, of another shape, or its numbers are none of these; a row with nothing in it is named.
    """
    if is_sparse(names_in(path)):
        sparse = read_sparse(path, options.max_bytes)
        check_unpacked_size(8 * math.prod(sparse.shape), 8 * sparse.nnz, options.max_bytes, "this matrix")
        array = sparse.toarray()
    else:
        with parsing("the array", "save it again with np.save"):
            array = np.load(path, mmap_mode="r", allow_pickle=False)
        check_unpacked_size(array.nbytes, path.stat().st_size, options.max_bytes, "this array")
    if array.ndim != 2 or array.shape[1] < 2 or not len(array) or array.dtype.kind not in "biuf":
        raise UserError(f"A single array of shape {array.shape} holds no candidates, counts or shares. {_REMEDY}")
    n, c = array.shape
    check_class_count(c, "this array")
    values = np.asarray(array, dtype=np.float64)
    kind = _kind(values)
    if not kind:
        raise UserError(
            f"The numbers of this {n:,} × {c:,} array are neither 0/1 marks of candidates, nor counts of votes, nor "
            f"shares that sum to 1 in a row, nor votes of a column a voter with −1 for none: they may be features. "
            f"{_REMEDY}"
        )
    if kind == "votes":
        return _of_votes(values, options, path.name)
    names = options.class_names or tuple(map(str, range(c)))
    if len(names) != c:
        raise UserError(f"The array has {c:,} columns, but {len(names):,} classes are listed.")
    empty = np.flatnonzero(~(values > 0).any(axis=1))
    if len(empty):
        raise RowError(f"Row {empty[0]} has no class at all ({len(empty):,} such rows); leave it out.")
    answers = Answers(tuple(share_chunks(names, values, np.arange(n))), n)
    labels = labels_of(answers, replace(options, class_names=names))
    return PartialLabelDataset(
        X=np.zeros((n, 0), dtype=np.float32),
        candidates=labels.candidates,
        prior=None if kind == "marks" else labels.prior,
        name=options.name or path.name,
        notes=(_NOTES[kind].format(n=n, c=c),),
    )


def numbered_votes(votes: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], tuple[str, ...]]:
    """Return votes and the names of their classes; of codes that are far apart (99), only those that are there.

    Parameters
    ----------
    votes
        (n, m) codes from 0, −1 where there is none.

    Examples
    --------
    >>> votes, names = numbered_votes(np.array([[0, 99], [1, -1], [2, 2]]))
    >>> votes.tolist(), names
    ([[0, 3], [1, -1], [2, 2]], ('0', '1', '2', '99'))
    """
    is_one = votes >= 0
    codes = np.unique(votes[is_one])
    if len(codes) == 0 or codes[-1] + 1 <= MOST_APART * len(codes):
        return votes, tuple(str(k) for k in range(int(codes.max(initial=-1)) + 1))
    return np.where(is_one, np.searchsorted(codes, votes), -1), tuple(str(int(code)) for code in codes)


MOST_APART = 3
"""Classes for each code that is there, at most, where those that are not are classes too."""


def _of_votes(votes: npt.NDArray[np.float64], options: ReadOptions, file: str) -> PartialLabelDataset:
    numbers, names = (votes, options.class_names) if options.class_names else numbered_votes(votes)
    with parsing("the votes", "list as many classes as there are codes"):
        annotations = Annotations.from_votes(numbers, names)
    sets, about = sets_of(annotations, options.combine)
    note = f"The array was read as votes: {votes.shape[1]:,} voters, a column each; −1 is no vote."
    return PartialLabelDataset(
        X=np.zeros((len(votes), 0), dtype=np.float32),
        candidates=sets,
        class_names=names,
        annotations=annotations,
        name=options.name or file,
        notes=(note, *about),
    )


_NOTES = {
    "marks": "The array was read as candidates: 1 where a class is possible.",
    "counts": "The array was read as counts: how many voted for each of {c:,} classes, by number.",
    "shares": "The array was read as shares: how likely each of {c:,} classes is, by number.",
}


def _kind(values: npt.NDArray[np.float64]) -> str:
    """Return what the numbers are; "" for none of it."""
    if not np.isfinite(values).all() or (values < -1).any():
        return ""
    is_whole = bool((values == np.floor(values)).all())
    if (values < 0).any():
        return "votes" if is_whole else ""
    if is_whole:
        return "marks" if values.max() <= 1 else "counts"
    return "shares" if np.allclose(values.sum(axis=1), 1, atol=0.01) else ""

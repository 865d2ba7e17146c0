"""Candidate sets: the labels each example may have, one of which is true.

`CandidateSets` stores them as compressed sparse rows, so that memory follows the number of candidates and not examples
× classes: 1,000,000 examples × 1,000 classes × 10 candidates take 40 MB of indices. Everything that belongs to the
candidates (label weights above all) is a flat array aligned with `CandidateSets.indices`. `as_candidate_sets` makes
them of what people have: a mask, lists, a sparse matrix. `PaddedRows` is the same data as a few rectangles, for
operations on all examples at once.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import EllipsisType
from typing import Any, TypeGuard, overload

import numpy as np
import numpy.typing as npt
import scipy  # its parts load when they are used

from pll.errors import RowError, UserError
from pll.io import blocks, large_array

Rows = slice | npt.NDArray[np.bool_] | npt.NDArray[np.integer[Any]] | Sequence[int]
"""Which examples: a slice, a boolean mask, or indices."""

SETS_AT_ONCE = 2**20
"""Examples that are worked on at once where their number is not bounded."""
MOST_CLASSES = 1_000_000
"""A label above this, where the number of classes is not given, is treated as a mistake."""


@dataclass(frozen=True, eq=False)
class CandidateSets:
    """The candidate set S_i of each of n examples, over c classes.

    It can be indexed like an array of n sets: `sets[i]` is one set, `sets[2:5]`, `sets[[0, 3]]` and `sets[mask]` are
    `CandidateSets`. That is what `train_test_split` and `cross_val_score` of scikit-learn need. `np.asarray(sets)` is
    the dense mask (n, c). Its arrays are read-only.

    Parameters
    ----------
    indptr
        (n+1,) int64; row i owns `indices[indptr[i]:indptr[i+1]]`.
    indices
        (nnz,) int32 in [0, n_classes), strictly increasing within each row.
    n_classes
        c, at least 1.
    class_names
        c different names; by default `"0"` … `"c-1"`.

    Raises
    ------
    UserError
        An empty set, a label out of range, a duplicate or unsorted label (the row is named), or class names that are
        not c different strings.

    Examples
    --------
    >>> sets = CandidateSets.from_lists([[0, 2], [1]], n_classes=3)
    >>> len(sets), sets.sizes.tolist(), sets[0].tolist()
    (2, [2, 1], [0, 2])
    """

    indptr: npt.NDArray[np.int64]
    indices: npt.NDArray[np.int32]
    n_classes: int
    class_names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        set_field = object.__setattr__  # the class is frozen; these are its normal forms
        set_field(self, "n_classes", int(self.n_classes))
        names = tuple(self.class_names) or tuple(str(j) for j in range(self.n_classes))
        set_field(self, "class_names", names)
        check_class_names(names, self.n_classes)
        # Checked before the cast to int32, which would wrap a huge label around into range.
        indptr, indices = whole_numbers(self.indptr, "indptr"), whole_numbers(self.indices, "indices")
        _check_rows(indptr, indices, self.n_classes)
        set_field(self, "indptr", _read_only(np.ascontiguousarray(indptr, dtype=np.int64)))
        set_field(self, "indices", _read_only(np.ascontiguousarray(indices, dtype=np.int32)))

    # ---- constructors --------------------------------------------------------------------------------------------

    @classmethod
    def from_lists(
        cls, lists: Iterable[Iterable[int]], n_classes: int, class_names: Sequence[str] = ()
    ) -> CandidateSets:
        """Candidate sets from one iterable of class indices per example, in any order; repeated labels count once.

        Parameters
        ----------
        lists
            n iterables of whole numbers in [0, n_classes).
        n_classes
            c.
        class_names
            c names; by default "0" … "c-1".

        Raises
        ------
        UserError
            Something else than whole numbers (the row is named), or as `CandidateSets`.
        """
        rows = [_as_labels(labels, row) for row, labels in enumerate(lists)]
        indptr = np.zeros(len(rows) + 1, dtype=np.int64)
        np.cumsum([len(row) for row in rows], out=indptr[1:])
        flat = [label for row in rows for label in row]
        return cls(indptr, np.asarray(flat, dtype=np.int64), n_classes, tuple(class_names))

    @classmethod
    def from_names(cls, lists: Iterable[Iterable[str]], class_names: Sequence[str] = ()) -> CandidateSets:
        """Candidate sets from one iterable of class names per example, in any order; repeated names count once.

        Parameters
        ----------
        lists : iterable of iterables of str
            n of them.
        class_names : sequence of str, optional
            The c classes; by default the names that occur, sorted.

        Raises
        ------
        UserError
            An empty set, something else than a name, or a name that is not among `class_names` (the row is named).

        Examples
        --------
        >>> sets = CandidateSets.from_names([["dog", "cat"], ["fox"]])
        >>> sets.class_names, [row.tolist() for row in sets]
        (('cat', 'dog', 'fox'), [[0, 1], [2]])
        """
        rows = [list(names) for names in lists]
        for row, names in enumerate(rows):
            for name in names:
                if not isinstance(name, str):
                    raise RowError(f"Row {row}: the label {name!r} is not the name of a class (text).")
        ordered = tuple(class_names) or tuple(sorted({name for names in rows for name in names}))
        number = {name: j for j, name in enumerate(ordered)}
        for row, names in enumerate(rows):
            for name in names:
                if name not in number:
                    raise RowError(
                        f"Row {row}: there is no class called {name!r} among the {len(ordered)} class names."
                    )
        return cls.from_lists([[number[name] for name in names] for names in rows], len(ordered), ordered)

    @classmethod
    def from_mask(cls, mask: npt.ArrayLike, class_names: Sequence[str] = ()) -> CandidateSets:
        """Return the candidate sets of a mask.

        Parameters
        ----------
        mask
            (n, c) bool or 0/1, True where the label is a candidate.
        class_names
            c names; "0" … by default.

        Raises
        ------
        UserError
            Not (n, c), a value other than 0 and 1 (row and class are named), or as `CandidateSets`.
        """
        try:
            array = np.asarray(mask)
        except ValueError as error:
            raise UserError("The rows of the candidate mask differ in length; give each one place a class.") from error
        if array.ndim != 2:
            raise UserError(f"A candidate mask must have two dimensions (examples × classes), not {array.ndim}.")
        if array.dtype != np.bool_:
            bad = ~np.isin(array, (0, 1))
            if bad.any():
                row, column = (int(k) for k in np.argwhere(bad)[0])
                raise RowError(
                    f"Row {row} of the candidate mask holds {array[row, column]!r} for class {column}; "
                    "use 1 for a candidate and 0 for any other label."
                )
            array = array.astype(np.bool_)
        indptr = np.zeros(len(array) + 1, dtype=np.int64)
        np.cumsum(array.sum(axis=1), out=indptr[1:])
        return cls(indptr, np.nonzero(array)[1].astype(np.int32), array.shape[1], tuple(class_names))

    @classmethod
    def from_sparse(cls, matrix: scipy.sparse.sparray, class_names: Sequence[str] = ()) -> CandidateSets:
        """Candidate sets from any SciPy sparse (n, c) matrix or array; every value that is not zero is a candidate.

        Parameters
        ----------
        matrix
            (n, c).
        class_names
            c names; by default "0" … "c-1".
        """
        rows = scipy.sparse.csr_array(matrix, copy=True)
        rows.sum_duplicates()
        rows.eliminate_zeros()
        rows.sort_indices()
        return cls(rows.indptr.astype(np.int64), rows.indices.astype(np.int32), rows.shape[1], tuple(class_names))

    @classmethod
    def from_labels(cls, labels: npt.ArrayLike, n_classes: int, class_names: Sequence[str] = ()) -> CandidateSets:
        """Return candidate sets of one label each.

        Parameters
        ----------
        labels
            (n,) class indices in [0, n_classes).
        n_classes
            c.
        class_names
            c names; "0" … by default.
        """
        array = whole_numbers(labels, "labels")
        return cls(np.arange(len(array) + 1), array, n_classes, tuple(class_names))

    # ---- as an array of sets -------------------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self.indptr) - 1

    @property
    def shape(self) -> tuple[int, int]:
        """(n, c), the shape of the mask."""
        return len(self), self.n_classes

    @overload
    def __getitem__(self, rows: int | np.integer[Any]) -> npt.NDArray[np.int32]: ...

    @overload
    def __getitem__(self, rows: Rows | tuple[Rows, EllipsisType]) -> CandidateSets: ...

    def __getitem__(
        self, rows: int | np.integer[Any] | Rows | tuple[Rows, EllipsisType]
    ) -> npt.NDArray[np.int32] | CandidateSets:
        """The sorted candidates of one example, or the `CandidateSets` of several (see `take`).

        Raises
        ------
        IndexError
            An example that does not exist.
        """
        if isinstance(rows, int | np.integer):
            i = range(len(self))[rows]
            return self.indices[self.indptr[i] : self.indptr[i + 1]]
        if isinstance(rows, tuple):  # scikit-learn writes array[rows, ...]
            chosen, *rest = rows
            if any(part is not Ellipsis for part in rest):
                raise IndexError("CandidateSets have one index, the example; for single classes use sets.mask().")
            return self.take(chosen)
        return self.take(rows)

    def __iter__(self) -> Iterator[npt.NDArray[np.int32]]:
        """The candidates of every example in turn."""
        return (self[i] for i in range(len(self)))

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> npt.NDArray[Any]:
        """The mask, for `np.asarray`. Dense: n × c bytes.

        Raises
        ------
        ValueError
            `copy=False`; the mask is always a new array.
        """
        if copy is False:
            raise ValueError("The mask of CandidateSets is always a new array; leave copy=False out.")
        return self.mask() if dtype is None else self.mask().astype(dtype)

    def __reduce__(self) -> tuple[type[CandidateSets], tuple[Any, ...]]:
        """Pickle and copy by the constructor, which makes the arrays read-only again."""
        return type(self), (self.indptr, self.indices, self.n_classes, self.class_names)

    def __eq__(self, other: object) -> bool:
        return self is other or (
            isinstance(other, CandidateSets)
            and self.class_names == other.class_names
            and np.array_equal(self.indptr, other.indptr)
            and np.array_equal(self.indices, other.indices)
        )

    def __repr__(self) -> str:
        mean = self.nnz / len(self) if len(self) else 0.0
        return f"CandidateSets({len(self)} examples, {self.n_classes} classes, {mean:.2f} candidates on average)"

    # ---- contents -------------------------------------------------------------------------------------------------

    @property
    def nnz(self) -> int:
        """Number of (example, candidate) pairs."""
        return len(self.indices)

    @cached_property
    def sizes(self) -> npt.NDArray[np.int64]:
        """(n,) int64, |S_i|."""
        return _read_only(np.subtract(self.indptr[1:], self.indptr[:-1], out=large_array(len(self), np.int64)))

    @cached_property
    def rows(self) -> npt.NDArray[np.int64]:
        """(nnz,) int64, the example each entry of `indices` belongs to."""
        return _read_only(np.repeat(np.arange(len(self), dtype=np.int64), self.sizes))

    @cached_property
    def blocks(self) -> tuple[PaddedRows, ...]:
        """The same entries as a few rectangles, for operations on all examples at once."""
        return blocks_of(self.indptr)

    def mask(self) -> npt.NDArray[np.bool_]:
        """(n, c) bool, True on the candidates. Dense: n × c bytes."""
        dense = np.zeros((len(self), self.n_classes), dtype=np.bool_)
        dense[self.rows, self.indices] = True
        return dense

    def contains(self, labels: npt.ArrayLike) -> npt.NDArray[np.bool_]:
        """(n,) bool, whether `labels[i]` is in S_i; a label of -1 (unknown) never is."""
        wanted = np.asarray(labels, dtype=np.int64)
        result = np.empty(len(self), dtype=np.bool_)
        for block in self.row_blocks():
            hit = self.indices[self.span(block)] == np.repeat(wanted[block], self._sizes(block))
            result[block] = np.logical_or.reduceat(hit, self.indptr[block] - self.indptr[block.start])
        return result

    def row_blocks(self) -> Iterator[slice]:
        """Yield slices that cover the examples, `SETS_AT_ONCE` each, for work in pieces."""
        return blocks(len(self), SETS_AT_ONCE)

    def _sizes(self, rows: slice) -> npt.NDArray[np.int64]:
        """Sizes of consecutive sets, without an array of all sizes."""
        return np.diff(self.indptr[rows.start : rows.stop + 1])

    def span(self, rows: slice) -> slice:
        """Return where in `indices` the entries of these consecutive examples are."""
        return slice(int(self.indptr[rows.start]), int(self.indptr[rows.stop]))

    def names(self, i: int) -> list[str]:
        """The names of example i's candidates."""
        return [self.class_names[j] for j in self[i]]

    def take(self, rows: Rows) -> CandidateSets:
        """The sets of some examples (slice, boolean mask or indices), in that order; also `sets[rows]`."""
        if isinstance(rows, slice) and rows.step in (None, 1):
            start, stop, _ = rows.indices(len(self))
            part = slice(start, max(start, stop))
            indptr = self.indptr[start : part.stop + 1] - self.indptr[start]
            return CandidateSets(indptr, self.indices[self.span(part)], self.n_classes, self.class_names)
        chosen = np.arange(len(self))[rows]
        sizes = self.sizes[chosen]
        indptr = np.zeros(len(chosen) + 1, dtype=np.int64)
        np.cumsum(sizes, out=indptr[1:])
        return CandidateSets(indptr, self.indices[self.positions(chosen)], self.n_classes, self.class_names)

    def positions(self, rows: npt.NDArray[np.integer[Any]]) -> npt.NDArray[np.int64]:
        """Return the positions in `indices` (and in every array aligned with it) of the entries of some rows.

        Parameters
        ----------
        rows
            (m,) row numbers.

        Returns
        -------
        npt.NDArray[np.int64]
            (Σ |S_i| over these rows,) int64, row after row.
        """
        sizes = self.sizes[rows]
        starts = np.repeat(self.indptr[:-1][rows], sizes)
        within = np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        result: npt.NDArray[np.int64] = starts + within
        return result

    def uniform_weights(self) -> npt.NDArray[np.float32]:
        """(nnz,) float32, 1/|S_i| on every candidate (paper, Eq. init)."""
        result: npt.NDArray[np.float32] = large_array(self.nnz, np.float32)
        for block in self.row_blocks():
            result[self.span(block)] = np.repeat((1.0 / self._sizes(block)).astype(np.float32), self._sizes(block))
        return result


def as_candidate_sets(y: Any, n_classes: int | None = None) -> CandidateSets | None:
    """Candidate sets from any of the forms that estimators take, or None where `y` is one label per example.

    Parameters
    ----------
    y
        `CandidateSets`; a boolean or 0/1 array or data frame (n, c); a list (or an array or column of objects) of lists
        of class indices or of class names; or a SciPy sparse (n, c) matrix.
    n_classes
        c; by default the number of columns, for lists the highest class index + 1 or the names that occur.

    Raises
    ------
    UserError
        Sets over another number of classes than c, or as the constructors of `CandidateSets`.

    Examples
    --------
    >>> as_candidate_sets([[0, 2], [1]])
    CandidateSets(2 examples, 3 classes, 1.50 candidates on average)
    >>> as_candidate_sets(["cat", "dog"]) is None
    True
    """
    sets = _of_any_form(y, n_classes)
    if sets is not None and n_classes is not None and sets.n_classes != n_classes:
        raise UserError(f"The candidate sets have {sets.n_classes} classes; {n_classes} are needed.")
    return sets


def as_name_lists(y: Any) -> list[list[str]] | None:
    """Return candidate sets that are lists of class names as lists, or None where `y` is anything else.

    Examples
    --------
    >>> as_name_lists([("cat", "dog"), ["fox"]]), as_name_lists([[0, 1]]), as_name_lists(["cat", "dog"])
    ([['cat', 'dog'], ['fox']], None, None)
    """
    if isinstance(y, CandidateSets) or scipy.sparse.issparse(y):
        return None
    values = y if isinstance(y, list | tuple) else np.asarray(y)
    if np.ndim(values) == 0 if isinstance(values, np.ndarray) else not values:
        return None
    rows = [list(row) if _is_set(row) else row for row in values]  # an iterator is read once
    first = next((name for row in rows if isinstance(row, list) for name in row), None)
    return [_as_set(row, at) for at, row in enumerate(rows)] if isinstance(first, str) else None


def _is_set(row: object) -> TypeGuard[Iterable[Any]]:
    return isinstance(row, Iterable) and not isinstance(row, str | bytes)


def _as_set(labels: object, row: int) -> list[Any]:
    if _is_set(labels):
        return list(labels)
    raise RowError(f"Row {row}: {labels!r} is not a list of labels.")


def _of_any_form(y: Any, n_classes: int | None) -> CandidateSets | None:
    if isinstance(y, CandidateSets):
        return y
    if scipy.sparse.issparse(y):
        return CandidateSets.from_sparse(y)
    values = y if isinstance(y, list | tuple) else np.asarray(y)
    if isinstance(values, np.ndarray) and values.ndim != 1:
        # A single column of anything but booleans is a column of labels, as scikit-learn takes it.
        column = values.ndim == 2 and values.shape[1] == 1 and values.dtype != np.bool_
        names = tuple(map(str, getattr(y, "columns", ())))  # of a data frame
        return None if values.ndim == 0 or column else CandidateSets.from_mask(values, names)
    if not any(map(_is_set, values)):
        return None
    values = [list(row) if _is_set(row) else row for row in values]  # an iterator is read once
    named = as_name_lists(values)
    if named is not None:
        return CandidateSets.from_names(named)
    lists = [_as_set(row, at) for at, row in enumerate(values)]
    if all(isinstance(v, bool | np.bool_) for row in lists for v in row) and any(lists):
        return CandidateSets.from_mask(lists)
    if n_classes is None:
        highest = (int(v) for row in lists for v in row if isinstance(v, int | np.integer))
        n_classes = max(highest, default=0) + 1
        if n_classes > MOST_CLASSES:
            raise UserError(
                f"The label {n_classes - 1} cannot be a class index; number the classes from 0, or give CandidateSets."
            )
    return CandidateSets.from_lists(lists, n_classes)


@dataclass(frozen=True, eq=False)
class PaddedRows:
    """Some examples and the positions of their candidates, as a rectangle.

    Attributes
    ----------
    rows
        (m,) int64 examples, or a slice where the block holds all of them.
    places
        (k, m) integers; `places[j, r]` is the position in `CandidateSets.indices` of the j-th candidate of the r-th of
        these examples, and nnz where it has fewer candidates.
    """

    rows: npt.NDArray[np.int64] | slice
    places: npt.NDArray[np.signedinteger]


def with_sets_of(
    sets: CandidateSets, others: CandidateSets, rows: Sequence[int]
) -> tuple[CandidateSets, npt.NDArray[np.int64]]:
    """Return candidate sets with those of some rows taken from others, and where each of their labels was.

    Parameters
    ----------
    sets
        n candidate sets.
    others
        n candidate sets of the same classes, or of the first of them.
    rows
        Whose sets are taken from `others`.

    Returns
    -------
    the sets, and (nnz,) positions in values of `sets` with those of `others` behind them

    Examples
    --------
    >>> sets = CandidateSets.from_lists([[0], [1, 2]], n_classes=3)
    >>> mixed, at = with_sets_of(sets, CandidateSets.from_lists([[0, 1], [2]], n_classes=3), [0])
    >>> [found.tolist() for found in mixed], at.tolist()
    ([[0, 1], [1, 2]], [3, 4, 1, 2])
    """
    mixed = with_sets(sets, {row: others[row].tolist() for row in rows})
    taken = np.isin(mixed.rows, rows)
    at = np.empty(mixed.nnz, dtype=np.int64)
    at[~taken] = np.flatnonzero(~np.isin(sets.rows, rows))
    at[taken] = sets.nnz + np.flatnonzero(np.isin(others.rows, rows))
    return mixed, at


def with_sets(
    sets: CandidateSets, changed: Mapping[int, Sequence[int]], new_classes: Sequence[str] = ()
) -> CandidateSets:
    """Return candidate sets with those of some rows replaced.

    Parameters
    ----------
    sets
        n candidate sets.
    changed
        Row → its labels, sorted.
    new_classes
        Names of classes to add.

    Raises
    ------
    UserError
        a row or a label that does not exist.

    Examples
    --------
    >>> sets = CandidateSets.from_lists([[0, 1], [1, 2], [0, 2]], n_classes=3)
    >>> [found.tolist() for found in with_sets(sets, {1: [2], 2: [3]}, ["lynx"])]
    [[0, 1], [2], [3]]
    """
    n = len(sets)
    outside = [row for row in changed if not 0 <= row < n]
    if outside:
        raise UserError(f"There is a decision for row {outside[0]}, but rows run from 0 to {n - 1}.")
    rows = np.array(sorted(changed), dtype=np.int64)
    sizes = sets.sizes.copy()
    sizes[rows] = [len(changed[int(row)]) for row in rows]
    indptr = np.zeros(n + 1, dtype=np.int64)
    np.cumsum(sizes, out=indptr[1:])
    unchanged = np.ones(n, dtype=np.bool_)
    unchanged[rows] = False
    indices = np.empty(int(indptr[-1]), dtype=np.int32)
    here = np.repeat(unchanged, sizes)  # (nnz,) entries of unchanged rows
    indices[here] = sets.indices[unchanged[sets.rows]]
    indices[~here] = [label for row in rows for label in changed[int(row)]]
    names = (*sets.class_names, *new_classes)
    return CandidateSets(indptr, indices, len(names), names)


def blocks_of(indptr: npt.NDArray[np.int64]) -> tuple[PaddedRows, ...]:
    """Cut compressed sparse rows, none of them empty, into blocks of at most twice as many places as there are entries.

    One block where the rows are of about the same size; otherwise one for each doubling of the size.

    Parameters
    ----------
    indptr
        (n+1,) int64, as of `CandidateSets`.

    Examples
    --------
    >>> [block.places.tolist() for block in blocks_of(np.array([0, 1, 3]))]
    [[[0, 1], [3, 2]]]
    """
    sizes = np.diff(indptr)
    if len(sizes) == 0:
        return ()
    nnz = int(indptr[-1])
    if int(sizes.max()) * len(sizes) <= 2 * nnz:
        return (PaddedRows(slice(None), _places(indptr[:-1], sizes, nnz)),)
    doubling = np.ceil(np.log2(sizes)).astype(np.int64)
    groups = (np.flatnonzero(doubling == d) for d in np.unique(doubling))
    return tuple(PaddedRows(rows, _places(indptr[rows], sizes[rows], nnz)) for rows in groups)


def _places(starts: npt.NDArray[np.int64], sizes: npt.NDArray[np.int64], nnz: int) -> npt.NDArray[np.signedinteger]:
    kind = np.int32 if nnz < 2**31 else np.int64  # it stays in memory as long as the sets do
    within = np.arange(int(sizes.max()))[:, None]
    return np.where(within < sizes, starts + within, nnz).astype(kind)


def check_class_names(names: tuple[str, ...], n_classes: int) -> None:
    """Raise UserError unless these are c different strings, c at least 1.

    Parameters
    ----------
    names
        The names.
    n_classes
        How many there should be.
    """
    if n_classes < 1:
        raise UserError("There are no classes; candidate sets need at least one label to choose from.")
    if len(names) != n_classes:
        raise UserError(f"{len(names)} class names were given for {n_classes} classes; give one per class.")
    seen: set[str] = set()
    for name in names:
        if not isinstance(name, str):
            raise UserError(f"Class names must be text; {name!r} is not.")
        if name in seen:
            raise UserError(f"The class name {name!r} stands twice; every class needs a name of its own.")
        seen.add(name)


_WHOLE_NUMBER = re.compile(r"-?[0-9]{1,18}", re.ASCII)


def sort_names(names: Iterable[str]) -> tuple[str, ...]:
    """Sort class names, each once: as numbers where all are whole numbers, else as text.

    Examples
    --------
    >>> sort_names({"10", "9", "-1"}), sort_names({"10", "9", "b"})
    (('-1', '9', '10'), ('10', '9', 'b'))
    """
    different = set(names)
    if all(_WHOLE_NUMBER.fullmatch(name) for name in different):
        return tuple(sorted(different, key=lambda name: (int(name), name)))
    return tuple(sorted(different))


def whole_numbers(values: npt.ArrayLike, what: str) -> npt.NDArray[Any]:
    """Return numbers as a flat array of signed integers; whole floats (1.0) are accepted, 0.5 and NaN are not.

    Parameters
    ----------
    values
        (n,) numbers.
    what
        What they are, in the plural, for the message.

    Returns
    -------
    npt.NDArray[Any]
        (n,) int32 or int64: as given, else int64.

    Raises
    ------
    UserError
        Not one number a row, or not whole; the row is named.

    Examples
    --------
    >>> whole_numbers([2.0, 0.0], "labels").tolist()
    [2, 0]
    """
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise UserError(f"The {what} must be one number a row; some rows hold more than one.") from error
    if array.ndim != 1:
        raise UserError(f"The {what} must be one number a row; these have {array.ndim} dimensions, not one.")
    if array.dtype.kind not in "biuf":
        raise UserError(f"The {what} must be whole numbers, not {array.dtype}; give class indices from 0.")
    if array.dtype.kind == "f":
        bad = np.flatnonzero(~(np.abs(array) < 2.0**62) | (array != np.rint(array)))  # NaN compares as False
        if len(bad):
            raise UserError(f"Entry {int(bad[0])} of the {what} is {array[bad[0]]}, which is not a whole number.")
    return array if array.dtype in (np.int32, np.int64) else array.astype(np.int64)


def _read_only(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    view = array.view()
    view.flags.writeable = False
    return view


def _as_labels(labels: Iterable[int], row: int) -> list[int]:
    return sorted({_as_label(label, row) for label in _as_set(labels, row)})


def _as_label(label: object, row: int) -> int:
    if isinstance(label, (int, np.integer)) and not isinstance(label, bool) and abs(int(label)) < 2**62:
        return int(label)
    raise RowError(f"Row {row}: the label {label!r} is not a class index (a whole number).")


def _check_rows(indptr: npt.NDArray[Any], indices: npt.NDArray[Any], n_classes: int) -> None:
    if len(indptr) < 1 or indptr[0] != 0 or indptr[-1] != len(indices):
        raise UserError("indptr must start at 0 and end at the length of indices.")
    n = len(indptr) - 1
    bounds = [(start, indptr[start : start + SETS_AT_ONCE + 1]) for start in range(0, n, SETS_AT_ONCE)]
    for start, part in bounds:
        sizes = np.diff(part)
        if sizes.min() < 0:
            raise RowError(f"Row {start + int(np.argmin(sizes))}: indptr decreases; it must count upwards.")
    empty = [start + np.flatnonzero(np.diff(part) == 0) for start, part in bounds]
    count = sum(map(len, empty))
    if count:
        raise RowError(
            f"Row {next(int(rows[0]) for rows in empty if len(rows))} has an empty candidate set ({count} such rows); "
            "every example needs at least one possible label."
        )
    for start, part in bounds:
        _check_range(indices[part[0] : part[-1]], part - part[0], start, n_classes)
    for start, part in bounds:
        _check_order(indices[part[0] : part[-1]], part - part[0], start)


def _check_range(indices: npt.NDArray[Any], indptr: npt.NDArray[Any], first_row: int, n_classes: int) -> None:
    outside = np.flatnonzero((indices < 0) | (indices >= n_classes))
    if len(outside):
        at = int(outside[0])
        raise RowError(
            f"Row {first_row + _row_of(at, indptr)}: label {int(indices[at])} is unknown; "
            f"labels run from 0 to {n_classes - 1} ({n_classes} classes)."
        )


def _check_order(indices: npt.NDArray[Any], indptr: npt.NDArray[Any], first_row: int) -> None:
    step = np.diff(indices)
    step[indptr[1:-1] - 1] = 1  # any order from one row to the next
    wrong = np.flatnonzero(step <= 0)
    if len(wrong):
        at = int(wrong[0])
        raise RowError(
            f"Row {first_row + _row_of(at, indptr)}: label {int(indices[at + 1])} stands twice or out of order; "
            "sort each row and name each label once."
        )


def _row_of(position: int, indptr: npt.NDArray[np.int64]) -> int:
    return int(np.searchsorted(indptr, position, side="right")) - 1

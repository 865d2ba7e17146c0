"""Annotations: the labels several annotators gave each example, read from tables, as sorted triples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import scipy  # its parts load when they are used

from pll.candidates import check_class_names, sort_names, whole_numbers
from pll.errors import RowError, UserError
from pll.weights import Floats, Ints

if TYPE_CHECKING:
    import pandas as pd

Codes = Ints

ALL_WRONG = -2
"""A true label that is known and that no voter could be right with: no class of theirs, or none of those they named.
−1 is one that is not known."""
MOST_VOTES_SUPPORTED = 10**8
"""Votes a table of counts may hold: each becomes an entry of 24 bytes."""


@dataclass(frozen=True, eq=False)
class Annotations:
    """Sorted triples (row, annotator, label), without duplicates.

    Several labels by one annotator on one row are legal: they are one answer, a set.

    Parameters
    ----------
    rows, annotators, labels
        (m,) whole numbers, in [0, n_rows), [0, a) and [0, c).
    n_rows
        Number of examples, those without an annotation included.
    class_names
        c different names.
    annotator_names
        a different names.
    ids
        n_rows names of the examples, for messages; by default `"0"` … `"n-1"`.
    anonymous
        Nobody knows who gave which vote (counts alone were published): the "annotators" are then the first, second, …
        vote on a row, and no reliability can be estimated.
    scores
        (m,) float, the confidence that came with each answer, NaN where none did; or None.
    unmapped
        Answers that name no class, the most frequent first, and how often each was given.
    joint
        Whether candidate sets and prior are made of them and the features together, on the training part
        (`pll.methods.aggregation`).

    Raises
    ------
    UserError
        Arrays of different lengths, a number out of range (the entry is named), names that stand twice.

    Examples
    --------
    >>> annotations = Annotations([0, 0, 1, 1], [0, 1, 0, 0], [2, 2, 0, 1], 3, ("a", "b", "c"), ("ann", "bob"))
    >>> annotations
    Annotations(3 rows, 2 annotators, 3 classes, 3 answers)
    >>> annotations.votes.toarray().tolist()
    [[0, 0, 2], [1, 1, 0], [0, 0, 0]]
    """

    rows: Codes
    annotators: Codes
    labels: Codes
    n_rows: int
    class_names: tuple[str, ...]
    annotator_names: tuple[str, ...]
    ids: npt.NDArray[np.str_] | None = None
    anonymous: bool = False
    scores: Floats | None = None
    unmapped: tuple[tuple[str, int], ...] = ()
    joint: bool = False

    def __post_init__(self) -> None:
        set_field = object.__setattr__  # the class is frozen; these are its normal forms
        set_field(self, "class_names", tuple(self.class_names))
        set_field(self, "annotator_names", tuple(self.annotator_names))
        check_class_names(self.class_names, len(self.class_names))
        if len(set(self.annotator_names)) < len(self.annotator_names):
            raise UserError("Two annotators have the same name; every annotator needs a name of their own.")
        if self.ids is not None:
            set_field(self, "ids", np.asarray(self.ids, dtype=np.str_))
            if len(self.ids) != self.n_rows:
                raise UserError(f"There are {self.n_rows} rows but {len(self.ids)} ids; give one per row.")
        columns = []
        for what, limit in (("rows", self.n_rows), ("annotators", self.n_annotators), ("labels", self.n_classes)):
            columns.append(_in_range(whole_numbers(getattr(self, what), f"{what} of the annotations"), limit, what))
        if len({len(column) for column in columns}) > 1:
            counts = ", ".join(str(len(column)) for column in columns)
            raise UserError(f"There are {counts} rows, annotators and labels; every annotation needs one of each.")
        rows, annotators, labels = columns
        order = np.lexsort((labels, annotators, rows))
        triples = np.stack([rows, annotators, labels])[:, order]
        new = np.ones(len(order), dtype=np.bool_)
        new[1:] = (np.diff(triples, axis=1) != 0).any(axis=0)
        for what, column in zip(("rows", "annotators", "labels"), triples[:, new], strict=True):
            column.flags.writeable = False
            set_field(self, what, column)
        if self.scores is not None:
            scores = np.asarray(self.scores, dtype=np.float64)
            if scores.shape != (len(order),):
                raise UserError(f"There are {len(order)} votes but scores of shape {scores.shape}; give one per vote.")
            set_field(self, "scores", scores[order][new])

    def __len__(self) -> int:
        return self.n_rows

    # ---- ways in -------------------------------------------------------------------------------------------------

    @classmethod
    def from_long(cls, tasks: Sequence[Any], annotators: Sequence[Any], labels: Sequence[Any]) -> Annotations:
        """A line an answer (or a label of it): which task, who, what.

        Parameters
        ----------
        tasks
            (m,) id of the example; examples are in the order of their first appearance.
        annotators
            (m,) who.
        labels
            (m,) a name each; an empty one (None, NaN, "") means that the annotator skipped. The classes are those that
            occur, sorted.

        Raises
        ------
        UserError
            Lengths that differ, a line without task or annotator (counted from 0), or no label at all.

        Examples
        --------
        >>> Annotations.from_long(["t1", "t1", "t2"], ["ann", "bob", "ann"], ["cat", "dog", None]).class_names
        ('cat', 'dog')
        """
        columns = [_texts(values) for values in (tasks, annotators, labels)]
        if len({len(column) for column in columns}) > 1:
            raise UserError(
                "The columns of tasks, annotators and labels differ in length; give one of each per answer."
            )
        for what, column in zip(("task", "annotator"), columns[:2], strict=True):
            if len(column) and not all(column):
                raise UserError(
                    f"Line {int(np.argmin(column.astype(np.bool_)))} names no {what}; fill it in or remove it."
                )
        if not any(columns[2]):
            raise UserError("Nobody gave a label: every answer is empty.")
        (rows, ids), (who, names), (codes, different) = map(_codes_of, columns)
        class_names = sort_names(name for name in different if name)
        index = {name: j for j, name in enumerate(class_names)}
        classes = np.array([index.get(name, -1) for name in different], dtype=np.int64)[codes]
        given = classes >= 0
        return cls(
            rows[given], who[given], classes[given], len(ids), class_names, tuple(names), np.asarray(ids, dtype=np.str_)
        )

    @classmethod
    def from_votes(
        cls,
        votes: npt.ArrayLike,
        class_names: Sequence[str] = (),
        voters: Sequence[str] = (),
        *,
        scores: npt.ArrayLike | None = None,
    ) -> Annotations:
        """One label of each voter for each example, as numbers.

        Parameters
        ----------
        votes
            (n, m) whole numbers: class indices, −1 or NaN for no answer.
        class_names
            c names; by default `"0"` … the largest index.
        voters
            m names; by default `"voter 1"`, …
        scores
            (n, m) confidence of each vote, NaN where there is none.

        Raises
        ------
        UserError
            Not two dimensions, not whole numbers, an index that is no class (row and voter are named), or names or
            scores of another length.

        Examples
        --------
        >>> Annotations.from_votes([[0, 1], [-1, 1]]).votes.toarray().tolist()
        [[1, 1], [0, 1]]
        """
        array = np.asarray(votes)
        if array.ndim != 2 or array.dtype.kind not in "biuf":
            raise UserError("Votes must be whole numbers in two dimensions (examples × voters), −1 for no answer.")
        array = np.where(np.isnan(array), -1, array)
        names = tuple(class_names) or tuple(
            str(j) for j in range(int(array.max(initial=0, where=np.isfinite(array))) + 1)
        )
        bad = ~((array >= -1) & (array < len(names)) & (array == np.rint(array)))
        who = tuple(voters) or tuple(f"voter {k + 1}" for k in range(array.shape[1]))
        if len(who) != array.shape[1]:
            raise UserError(f"There are {array.shape[1]} columns of votes but {len(who)} voters; name each column.")
        if bad.any():
            row, j = (int(k) for k in np.argwhere(bad)[0])
            raise RowError(
                f"Row {row}, voter {who[j]}: the vote {array[row, j]} is no class; votes run from 0 to "
                f"{len(names) - 1}, or are −1 for no answer."
            )
        confidence = None if scores is None else np.asarray(scores, dtype=np.float64)
        if confidence is not None and confidence.shape != array.shape:
            raise UserError(f"Scores of votes have the shape {confidence.shape}, votes {array.shape}; they must agree.")
        rows, columns = np.nonzero(array >= 0)
        return cls(
            rows,
            columns,
            array[rows, columns].astype(np.int64),
            len(array),
            names,
            who,
            scores=None if confidence is None else confidence[rows, columns],
        )

    @classmethod
    def from_counts(cls, counts: npt.ArrayLike, class_names: Sequence[str] = ()) -> Annotations:
        """Votes that were published as counts: who gave them is not known.

        Parameters
        ----------
        counts
            (n, c) whole numbers, at least 0.
        class_names
            c names; by default "0" … "c-1".

        Raises
        ------
        UserError
            Not two dimensions, or a count that is negative or not whole; row and class are named.

        Examples
        --------
        >>> Annotations.from_counts([[2, 1]])
        Annotations(1 rows, 3 annotators, 2 classes, 3 answers)
        """
        array = np.asarray(counts)
        if array.ndim != 2 or array.dtype.kind not in "biuf":
            raise UserError("Counts of votes must be whole numbers in two dimensions (examples × classes).")
        names = tuple(class_names) or tuple(str(j) for j in range(array.shape[1]))
        bad = ~((array >= 0) & (array == np.rint(array)))
        if bad.any():
            row, j = (int(k) for k in np.argwhere(bad)[0])
            raise RowError(f"Row {row}, class {names[j]}: {array[row, j]} is not a number of votes.")
        if array.sum(dtype=np.float64) > MOST_VOTES_SUPPORTED:
            raise UserError(
                f"There are {array.sum(dtype=np.float64):.3g} votes; at most {MOST_VOTES_SUPPORTED:.0e} are supported."
            )
        rows, classes = np.nonzero(array)
        times = array[rows, classes].astype(np.int64)
        rows, classes = np.repeat(rows, times), np.repeat(classes, times)
        per_row = np.bincount(rows, minlength=len(array))
        vote = np.arange(len(rows)) - np.repeat(
            np.cumsum(per_row) - per_row, per_row
        )  # the first, second, … on its row
        voters = tuple(f"vote {k + 1}" for k in range(int(per_row.max(initial=0))))
        return cls(rows, vote, classes, len(array), names, voters, anonymous=True)

    # ---- what it holds -------------------------------------------------------------------------------------------

    def __repr__(self) -> str:
        return (
            f"Annotations({self.n_rows} rows, {self.n_annotators} annotators, {self.n_classes} classes, "
            f"{self.n_answers} answers)"
        )

    @property
    def n_classes(self) -> int:
        """c, the number of classes."""
        return len(self.class_names)

    @property
    def n_annotators(self) -> int:
        """Number of annotators."""
        return len(self.annotator_names)

    @cached_property
    def answer_starts(self) -> Codes:
        """(u,) int64, where each answer (what one annotator said of one row) begins in the triples."""
        new = np.ones(len(self.rows), dtype=np.bool_)
        new[1:] = (np.diff(self.rows) != 0) | (np.diff(self.annotators) != 0)
        return np.flatnonzero(new)

    @property
    def n_answers(self) -> int:
        """u, how many answers there are: one annotator on one row is one, however many labels it names."""
        return len(self.answer_starts)

    @cached_property
    def answer_sizes(self) -> Codes:
        """(u,) int64, how many labels each answer names."""
        return np.diff(self.answer_starts, append=len(self.rows))

    @cached_property
    def votes(self) -> scipy.sparse.csr_array:
        """(n_rows, c) int64 sparse: how many annotators named a label, at [row, label]."""
        ones = np.ones(len(self.rows), dtype=np.int64)
        together = scipy.sparse.coo_array((ones, (self.rows, self.labels)), shape=(self.n_rows, self.n_classes))
        return together.tocsr()  # adds up what stands twice, sorts each row

    @cached_property
    def answers_per_row(self) -> Codes:
        """(n_rows,) int64: how many annotators answered."""
        return np.bincount(self.rows[self.answer_starts], minlength=self.n_rows)

    def agreed_share(self) -> Floats:
        """(n,) share of the votes of each row that its most frequent class has; 0 where nobody voted."""
        most: Floats = np.asarray(self.votes.max(axis=1).todense(), dtype=np.float64).ravel()
        share: Floats = most / np.maximum(np.asarray(self.votes.sum(axis=1)).ravel(), 1)
        return share

    def take(self, rows: Ints) -> Annotations:
        """Return the annotations of some rows (indices, each once), numbered in that order."""
        place = np.full(self.n_rows, -1, dtype=np.int64)
        place[rows] = np.arange(len(rows))
        new_rows = place[self.rows]
        is_selected = new_rows >= 0
        ids = None if self.ids is None else self.ids[rows]
        who, labels = self.annotators[is_selected], self.labels[is_selected]
        scores = None if self.scores is None else self.scores[is_selected]
        return replace(
            self, rows=new_rows[is_selected], annotators=who, labels=labels, n_rows=len(rows), ids=ids, scores=scores
        )


def _in_range(values: npt.NDArray[Any], limit: int, what: str) -> Codes:
    outside = np.flatnonzero((values < 0) | (values >= limit))
    if len(outside):
        at = int(outside[0])
        raise UserError(f"Annotation {at} names {values[at]} of the {what}, which run from 0 to {limit - 1}.")
    return values.astype(np.int64)


def _texts(cells: Sequence[Any] | npt.NDArray[Any] | pd.Series) -> npt.NDArray[np.object_]:
    """Cells as text, trimmed; "" where a cell is empty (None, NaN, NA). Whole floats are read as whole numbers.

    >>> _texts([" cat ", None, 3.0, float("nan"), 4]).tolist()
    ['cat', '', '3', '', '4']
    """
    return np.fromiter((_text(cell) for cell in cells), dtype=object, count=len(cells))


def _codes_of(values: npt.NDArray[np.object_]) -> tuple[Codes, list[str]]:
    """(n,) which of the different values each is, and these, in the order of their first appearance."""
    code_of: dict[str, int] = {}
    codes = [code_of.setdefault(value, len(code_of)) for value in values]
    return np.array(codes, dtype=np.int64), list(code_of)


def _text(cell: Any) -> str:
    if isinstance(cell, str):
        return cell.strip()
    if cell is None or type(cell).__name__ in ("NAType", "NaTType"):  # of pandas, which may not even be imported
        return ""
    if isinstance(cell, float | np.floating):
        # A column of whole numbers with gaps is read as floats.
        return "" if np.isnan(cell) else str(int(cell)) if float(cell).is_integer() else str(cell)
    return str(cell).strip()

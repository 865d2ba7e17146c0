"""Features, candidate sets and true labels among the arrays of a file, by their usual names.

The same for .npz, folders of .npy files and .mat. Candidates are marks (0/1), true labels marks, numbers or words; a
matrix of marks has a row or a column an example, which the number of examples tells. Training and test part may be
arrays of their own.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import scipy  # its parts load when they are used

from pll.candidates import CandidateSets, whole_numbers
from pll.dataset import UNKNOWN
from pll.errors import RowError, UserError
from pll.formats.answers import Answers, whole_column
from pll.formats.base import ReadOptions
from pll.formats.checks import as_features, check_class_count, check_unpacked_size, kind_of, listing
from pll.formats.forms import ARRAYS, USUAL, WORDS, words_of
from pll.formats.labels import labels_of
from pll.formats.tabular.cells import NEARLY_ALL, says_counts

Names = Mapping[str, str]
"""X, candidates or y → what a file calls it."""


def parts_among(names: Iterable[str], *, are_files: bool = False) -> list[Names]:
    """Return what a file calls the arrays of each part: of the whole, or of the training and the test part.

    Parameters
    ----------
    names
        Of all arrays.
    are_files
        Whether these are names of files, which begin or end with a usual name where none has it.

    Examples
    --------
    >>> parts_among(["data", "Y", "more"]), parts_among(["x_train", "y_train"]), parts_among(["more"])
    ([{'X': 'data', 'y': 'Y'}], [{'X': 'x_train', 'y': 'y_train'}], [])
    >>> parts_among(["X_tfidf", "S_mask", "y_true", "time_s"], are_files=True)
    [{'X': 'X_tfidf', 'candidates': 'S_mask', 'y': 'y_true'}]
    >>> parts_among(["data_train_vgg16", "labels_train", "answers"], are_files=True)
    [{'X': 'data_train_vgg16', 'y': 'labels_train'}]
    >>> parts_among(["X_train_pca", "candidates", "y_true"], are_files=True)
    [{'X': 'X_train_pca', 'candidates': 'candidates', 'y': 'y_true'}]
    """
    own = list(names)
    by_name = {name.lower(): name for name in reversed(own)} | {name: name for name in own if name in ARRAYS["whole"]}

    def called(usual: Mapping[str, Sequence[str]]) -> Names:
        found = {
            part: next((by_name[one] for one in (part, *some) if one in by_name), "") for part, some in usual.items()
        }
        for part in ("X", "candidates") if are_files else ():  # a wrong y would look right
            words = tuple(one.lower() for one in (part, *usual[part]))
            like = [name for name in own if name not in found.values() and _is_like(name.lower(), words)]
            found[part] = found[part] or (like[0] if len(like) == 1 else "")
        return {part: name for part, name in found.items() if name}

    whole, (train, test) = called(ARRAYS["whole"]), map(called, (ARRAYS["train"], ARRAYS["test"]))
    name = whole.get("X", "").lower()  # `data_train_vgg16` begins as that of a part does, beside no labels of the whole
    is_usual = name in ("x", *ARRAYS["whole"]["X"]) or not _is_like(name, tuple(ARRAYS["train"]["X"]))
    if name and (is_usual or len(whole) > 1):
        return [whole]
    own_test = test if test.get("X") != train.get("X") else {}  # `X_train_pca` begins as any features do
    return [part for part in (train, own_test) if "X" in part] if "X" in train else []


def _is_like(name: str, usual: tuple[str, ...]) -> bool:
    """Whether a name begins with a usual one and `_`, or ends with one of several letters."""
    return any(name.startswith(f"{one}_") or (len(one) > 1 and name.endswith(f"_{one}")) for one in usual)


@dataclass
class FileArrays:
    """Features and labels of a file.

    Attributes
    ----------
    X
        (n, d) or (n, C, H, W) float32.
    sets
        (n, c) sparse, 1 on the candidates; None where there are none.
    y
        (n,) class numbers, −1 where not known, or words; None where there are none.
    n_classes
        c of the matrices; 0 where there is none.
    is_test
        (n,) the test part, where the file has one.
    """

    X: npt.NDArray[np.float32]
    sets: scipy.sparse.csr_array | None = None
    y: npt.NDArray[Any] | None = None
    n_classes: int = 0
    is_test: npt.NDArray[np.bool_] | None = None

    def numbered(
        self, options: ReadOptions, names: tuple[str, ...], notes: list[str], most: int = 0
    ) -> tuple[CandidateSets | None, npt.NDArray[np.int64] | None, tuple[str, ...]]:
        """Return candidate sets, class numbers and the names of the classes.

        Parameters
        ----------
        options
            How words are read, as in a table.
        names
            c names; by default the words that are true labels, else numbers.
        notes
            Where notes for the user go.
        most
            The least number of classes, where other arrays of the file have labels too.

        Raises
        ------
        UserError
            A number of names that does not fit, a word that is not among them.
        """
        y = self.y
        if y is not None and y.dtype.kind in "US":
            if not names and (self.n_classes or most):
                raise UserError(f"y holds {kind_of(y.dtype)}, not whole numbers; store numbers, or give class_names.")
            words = whole_column("y", pa.chunked_array([texts(y, "y")], pa.string()), int)
            answers = Answers((replace(words, kind="truth"),), len(y))
            labels = labels_of(answers, replace(options, class_names=names))
            y, names = labels.y, labels.class_names
            notes += labels.notes
        if not names:
            count = self.n_classes or max(most, 0 if y is None else int(y.max(initial=UNKNOWN)) + 1)
            check_class_count(count, "this file")
            names = tuple(str(k) for k in range(count))
        if self.n_classes not in (0, len(names)):
            raise UserError(f"There are {len(names)} class names for {self.n_classes} classes; give one per class.")
        return None if self.sets is None else CandidateSets.from_sparse(self.sets, names), y, names


def arrange(
    arrays: Mapping[str, Any],
    parts: Sequence[Names],
    notes: list[str],
    max_bytes: int,
    *,
    allow_missing: bool = False,
    needed: bool = True,
    is_matlab: bool = False,
) -> FileArrays:
    """Return features and labels of a file, its parts joined.

    Parameters
    ----------
    arrays
        By name, NumPy arrays or SciPy sparse matrices.
    parts
        Of `parts_among`, at least one.
    notes
        Where notes for the user go.
    max_bytes
        What features may take.
    allow_missing
        Whether NaN is a missing cell.
    needed
        Whether there must be features.
    is_matlab
        Features may have a column an example, and class numbers count from 1.

    Raises
    ------
    UserError
        Arrays that do not fit together, or do not hold what they must; array and row are named.
    """
    read = []
    for names in parts:
        X = arrays[names["X"]]
        labels = {part: arrays[name] for part, name in names.items() if part != "X"}
        fitting = [all(n in one.shape for one in labels.values()) for n in X.shape]
        if is_matlab and fitting == [False, True]:
            X = X.T
            notes.append(f"The variable {names['X']} has a column an example; it was turned.")
        X = _features(X, names["X"], notes, max_bytes, allow_missing=allow_missing, needed=needed)
        read.append(_labelled(X, labels, names, notes, is_matlab=is_matlab))
    return read[0] if len(read) == 1 else _joined(read, notes)


def labels_beside(
    unread: Mapping[str, npt.NDArray[Any]],
    n: int,
    y: npt.NDArray[Any] | None,
    c: int = 0,
    people: Collection[int] = (),
) -> dict[str, str]:
    """Return which unread matrix has the labels, whatever it is called, by what its numbers are: see `kind_of_numbers`.

    Marks are candidates where the true labels are among them, else where they are called so; votes say the true label
    far more often than by chance, or are of as many people as are named. Counts and shares have as many columns as
    there are classes; where nothing says how many, they are called so.

    Parameters
    ----------
    unread
        By name, matrices of numbers; those of n rows count.
    n
        Examples.
    y
        (n,) true labels, where there are some.
    c
        Classes, where that is known.
    people
        How many people are named, by each array that names some.

    Examples
    --------
    >>> some = {"box": np.eye(3) * 4, "n_votes": np.array([[2, 0], [1, 1], [0, 9]])}
    >>> labels_beside(some, 3, None), labels_beside(some, 3, np.array([0, 2, 1]))
    ({'counts': 'n_votes'}, {'counts': 'box'})
    >>> labels_beside({"partialY": np.array([[1, 1, 0], [0, 1, 1]]), "mask": np.array([[1, 0], [1, 1]])}, 2, None)
    {'marks': 'partialY'}
    """
    known = y if y is not None and y.ndim == 1 and y.dtype.kind in "iu" and y.size == n else None
    c = c or (0 if known is None else int(known.max()) + 1)
    found = dict[str, str]()
    for name, array in reversed([*unread.items()]):
        if array.ndim != 2 or len(array) != n or array.shape[1] < 2 or array.dtype.kind not in "biuf":
            continue
        kind = kind_of_numbers(array)
        is_theirs = array.shape[1] in people or (known is not None and _are_votes(array, known))
        if kind in ("counts", "votes") and is_theirs:
            found["votes"] = name
        elif kind == "marks" and _are_sets(array, name, known):
            found["marks"] = name
        elif kind in ("counts", "shares") and (array.shape[1] == c or (not c and says_counts(name))):
            found[kind] = name
    return found


def _are_sets(marks: npt.NDArray[Any], name: str, y: npt.NDArray[Any] | None) -> bool:
    """Whether marks in each row, several in some, are candidates: the true labels are among them."""
    sizes = marks.sum(axis=1)
    if not (sizes > 0).all() or not (sizes > 1).any():
        return False
    if y is None:
        return not {"partial", "candidate", "candidates", "cand", "possible"}.isdisjoint(words_of(name))
    labels = y - int(y.min() >= 1 and y.max() == marks.shape[1])
    rows = np.flatnonzero(labels >= 0)
    fits = bool(len(rows)) and int(labels.max()) < marks.shape[1]
    return fits and float(marks[rows, labels[rows]].mean()) >= NEARLY_ALL


def _are_votes(votes: npt.NDArray[Any], y: npt.NDArray[Any]) -> bool:
    """Whether numbers are the true labels far more often than by chance, and no others but for those of no vote."""
    given, true = as_votes(votes, y), np.broadcast_to(y[:, None], votes.shape)
    is_one = (given >= 0) & (true >= 0)
    said, true = given[is_one], true[is_one]
    if not len(said) or not np.isin(given[given >= 0], y).all():
        return False
    chance = sum(float((said == k).mean() * (true == k).mean()) for k in np.unique(true))
    return float((said == true).sum()) - chance * len(said) > FAR_RIGHT * math.sqrt(len(said) * chance * (1 - chance))


def are_counted(votes: Any, y: npt.NDArray[Any] | None, c: int) -> bool:
    """Whether votes are how many gave each of c classes, and no numbers of classes, a column a voter.

    The true label is where most are far more often than by chance, and is not what they say as numbers; where too few
    are known, all add up to the same, and not all rows are alike. Of few rows that cannot be told.

    Parameters
    ----------
    votes
        (n, m) numbers; of a sparse matrix, or of words, it is not asked.
    y
        (n,) true labels, −1 where they are not known; None where there are none.
    c
        Classes; 0 where that is not known.

    Examples
    --------
    >>> counts = np.array([[3, 0, 4], [0, 7, 0]] * LEAST_COUNTED)
    >>> are_counted(counts, None, 3), are_counted(counts % 3, None, 3), are_counted(counts[:4], None, 3)
    (True, False, False)
    """
    is_whole = isinstance(votes, np.ndarray) and votes.dtype.kind in "iuf" and votes.shape[1:] == (c,)
    if not is_whole or len(votes) < LEAST_COUNTED or kind_of_numbers(votes) != "counts":
        return False
    if y is not None and y.shape == (len(votes),) and y.dtype.kind in "iu":
        known = np.flatnonzero((y >= 0) & (y < c))
        if len(known) >= LEAST_COUNTED:
            most = votes[known].argmax(axis=1)[:, None]
            return _are_votes(most, y[known]) and not _are_votes(votes[known], y[known])
    return len(np.unique(votes.sum(axis=1))) == 1 and len(np.unique(votes, axis=0)) > 1


LEAST_COUNTED = 20
"""Rows from which it is told whether votes are counts."""
FAR_RIGHT = 3.0
"""Standard deviations by which votes are right more often than by chance."""


def names_people(name: str) -> bool:
    """Whether an array is called as one that names people, or models.

    Examples
    --------
    >>> names_people("annotators"), names_people("scorerNames"), names_people("feature_names")
    (True, True, False)
    """
    words = [word.removesuffix("s") for word in words_of(name)]
    return not WORDS["people"].union(USUAL["worker"]).isdisjoint(words)


def as_votes(array: npt.NDArray[Any], y: npt.NDArray[Any], c: int = 0) -> npt.NDArray[np.int64]:
    """Return numbers of classes, −1 for none; where classes count from 1, 0 is none.

    They do where the true labels do, or where the highest number is that of classes.

    Parameters
    ----------
    array
        (n, m) whole numbers.
    y
        The true labels; where there are none, the votes.
    c
        How many classes are named; 0 where none is.

    Examples
    --------
    >>> votes = np.array([[0, 2], [1, -1]])
    >>> as_votes(votes, np.array([2, 1])).tolist(), as_votes(votes, np.array([2, 0]), 2).tolist()
    ([[-1, 2], [1, -1]], [[-1, 1], [0, -1]])
    """
    numbers = array.astype(np.int64)
    if c and max(numbers.max(initial=-1), y.max(initial=-1)) == c:
        return np.where(numbers <= 0, -1, numbers - 1)
    return np.where(numbers == 0, -1, numbers) if y[y >= 0].min(initial=1) >= 1 else numbers


def kind_of_numbers(array: npt.NDArray[Any]) -> str:
    """Return what numbers with a row an example are: marks, counts, shares or votes (with −1); "" for none of it.

    Parameters
    ----------
    array
        (n, c) or (n, m).
    """
    values = array.astype(np.float64)
    if not np.isfinite(values).all() or (values < -1).any():
        return ""
    is_whole = bool((values == np.floor(values)).all())
    if (values < 0).any():
        return "votes" if is_whole else ""
    if is_whole:
        return "marks" if values.max() <= 1 else "counts"
    return "shares" if np.allclose(values.sum(axis=1), 1, atol=0.01) else ""


def _labelled(
    X: npt.NDArray[np.float32], labels: Mapping[str, Any], names: Names, notes: list[str], *, is_matlab: bool
) -> FileArrays:
    layout, n, x = FileArrays(X), len(X), names["X"]
    if "candidates" in labels:
        layout.sets = _marks(labels["candidates"], names["candidates"], n, x)
        layout.n_classes = layout.sets.shape[1]
    if "y" not in labels:
        return layout
    y, name = labels["y"], names["y"]
    if _is_vector(y, name, n):
        layout.y = y.toarray().ravel() if scipy.sparse.issparse(y) else np.ravel(y)
        if layout.y.dtype.kind not in "US":
            layout.y = whole_numbers(layout.y, f"true labels in {name} (class numbers, −1 where not known)")
            layout.y = _from_one(layout.y, name, layout.n_classes) if is_matlab else layout.y
        return layout
    marks = _marks(y, name, n, x)
    counts = np.diff(marks.indptr)
    several = np.flatnonzero(counts > 1)
    if len(several) and layout.sets is None:
        notes.append(f"{name} marks several labels in {len(several):,} rows: they are the candidates.")
        layout.sets, layout.n_classes = marks, marks.shape[1]
        return layout
    if len(several):
        row = int(several[0])
        raise RowError(
            f"Row {row} of {name} marks {int(counts[row])} labels ({len(several)} such rows); the truth is one label."
        )
    if layout.n_classes not in (0, marks.shape[1]):
        raise UserError(
            f"{names['candidates']} has {layout.n_classes} classes, {name} has {marks.shape[1]}; they must agree."
        )
    unknown = int((counts == 0).sum())
    if unknown:
        notes.append(f"{unknown} of {n} examples have no true label in {name}; it is taken as not known.")
    layout.y, layout.n_classes = np.full(n, UNKNOWN, dtype=np.int64), marks.shape[1]
    layout.y[counts == 1] = marks.indices
    return layout


def _joined(parts: Sequence[FileArrays], notes: list[str]) -> FileArrays:
    """A training and a test part as one, the latter marked."""
    widths = {part.n_classes for part in parts} - {0}
    kinds = {part.y.dtype.kind in "US" for part in parts if part.y is not None}
    if len({part.X.shape[1:] for part in parts}) > 1:
        shapes = listing([str(part.X.shape) for part in parts])
        raise UserError(f"The training and the test part differ in their number of features: {shapes}.")
    if len(widths) > 1 or len(kinds) > 1:
        raise UserError("The labels of the training and the test part do not fit together; give both of them alike.")
    sizes, c = [len(part.X) for part in parts], max(widths, default=0)
    joined = FileArrays(np.concatenate([part.X for part in parts]), n_classes=c)
    joined.is_test = np.repeat([False, True], sizes)
    if kinds:
        nothing = "" if True in kinds else UNKNOWN
        joined.y = np.concatenate([np.full(len(part.X), nothing) if part.y is None else part.y for part in parts])
    if any(part.sets is not None for part in parts):
        # Every row needs some set; nothing is learnt from the test part.
        rows = [part.sets if part.sets is not None else _sets_of(part.y, len(part.X), c) for part in parts]
        joined.sets = scipy.sparse.csr_array(scipy.sparse.vstack(rows, format="csr"))
        if parts[-1].sets is None:
            notes.append("The test part has no candidates; its true labels stand in their place.")
    return joined


def _sets_of(y: npt.NDArray[Any] | None, n: int, c: int) -> scipy.sparse.csr_array:
    """The true labels as sets; every class where they are not known."""
    labels = np.full(n, UNKNOWN) if y is None or y.dtype.kind in "US" else y
    return scipy.sparse.csr_array((labels[:, None] == np.arange(c)) | (labels[:, None] == UNKNOWN))


# ---- one array each --------------------------------------------------------------------------------------------------


def _features(
    array: Any, name: str, notes: list[str], max_bytes: int, *, allow_missing: bool, needed: bool
) -> npt.NDArray[np.float32]:
    shape = array.shape
    if len(shape) not in (2, 3, 4):
        raise UserError(
            f"{name} has the shape {shape}; it must be (examples, features) or (examples, channels, height, width). "
            f"One feature an example: {name}.reshape(-1, 1)."
        )
    if not shape[0]:
        raise UserError(f"{name} has the shape {shape}: no rows. There must be at least one example.")
    if needed and not all(shape):
        raise UserError(f"{name} has the shape {shape}: no features. Every example needs at least one.")
    if scipy.sparse.issparse(array):
        check_unpacked_size(8 * shape[0] * shape[1], 8 * array.nnz, max_bytes, name)
        array = array.toarray()
    if len(shape) == 3:
        notes.append(f"{name} {shape} was read as images of one channel.")
        array = array[:, None]
    elif len(shape) == 4 and shape[3] in (1, 3) and shape[1] not in (1, 3):
        if min(shape[1:3]) >= LEAST_PIXELS:
            notes.append(
                f"{name} {shape} was read as images of {shape[1]} × {shape[2]} pixels, whose channels come last."
            )
            array = array.transpose(0, 3, 1, 2)
        else:
            notes.append(
                f"{name} {shape} was read as {shape[1]} channels of {shape[2]} × {shape[3]} pixels; if the channels "
                f"come last in the file, save {name}.transpose(0, 3, 1, 2)."
            )
    return as_features(array, name, allow_missing=allow_missing)


LEAST_PIXELS = 8
"""Sides of pictures from which a last side of 1 or 3 is that of their channels."""


def _marks(array: Any, name: str, n: int, features: str) -> scipy.sparse.csr_array:
    """A 0/1 matrix as sparse rows, (n, c), whichever way round it is stored."""
    if array.dtype.kind not in "biuf":
        raise UserError(f"{name} holds {kind_of(array.dtype)}; save a matrix of 0 and 1, one column a class.")
    if array.ndim != 2 or n not in array.shape:
        raise UserError(
            f"{name} has the shape {array.shape}, but {features} has {n} rows; it must be "
            f"{n} × classes, or classes × {n}."
        )
    by_column = array.shape[1] == n and (array.shape[0] != n or name.lower().endswith("target"))  # c = n: as in MATLAB
    upright = array.T if by_column else array
    check_class_count(upright.shape[1], name)
    rows = scipy.sparse.csr_array(upright, copy=True)  # what was read is not writable
    rows.sum_duplicates()
    wrong = np.flatnonzero((rows.data != 0) & (rows.data != 1))  # NaN is neither
    if len(wrong):
        at = int(wrong[0])
        row = int(np.searchsorted(rows.indptr, at, side="right")) - 1
        raise RowError(
            f"Row {row} of {name} holds {rows.data[at]} for class {int(rows.indices[at])}; use 1 for a label of the "
            "example and 0 for any other."
        )
    rows.eliminate_zeros()
    return rows


def _is_vector(array: Any, name: str, n: int) -> bool:
    """Whether labels are a number or word an example; MATLAB files have a row of marks where there is one class."""
    if array.ndim != 2 or array.dtype.kind in "US":
        return True
    is_row_of_marks = array.shape[0] == 1 and name.lower().endswith("target")
    values = array.data if scipy.sparse.issparse(array) else array
    return array.shape in ((n, 1), (1, n)) and not (is_row_of_marks and bool(np.isin(values, (0, 1)).all()))


def _from_one(y: npt.NDArray[Any], name: str, n_classes: int) -> npt.NDArray[Any]:
    """Class numbers as MATLAB counts them, from 0; as words where nothing tells how many classes there are."""
    if not n_classes:
        return y.astype(np.str_)
    codes = y - int(y.min() >= 1)
    wrong = np.flatnonzero((codes < 0) | (codes >= n_classes))
    if len(wrong):
        raise RowError(f"Row {int(wrong[0])} of {name} is {int(y[wrong[0]])}; there are {n_classes} classes.")
    return codes


def texts(array: npt.NDArray[Any], name: str, length: int | None = None) -> tuple[str, ...]:
    """Return an array of text; numbers are taken as their digits.

    Parameters
    ----------
    array
        (n,) text or whole numbers.
    name
        What a message calls it.
    length
        n, where that is known.

    Raises
    ------
    UserError
        Something else, another length, bytes that are not UTF-8.
    """
    if array.ndim != 1 or array.dtype.kind not in "USiu" or length not in (None, len(array)):
        wanted = "" if length is None else f" of {length}"
        raise UserError(
            f"The array {name} holds {kind_of(array.dtype)} in the shape {array.shape}; it must be a list{wanted} of "
            f"text: np.array({name}, dtype=str)."
        )
    try:
        return tuple(text.decode() if isinstance(text, bytes) else str(text) for text in array.tolist())
    except UnicodeDecodeError as error:
        raise UserError(f"The array {name} holds bytes that are not UTF-8 ({error.object[:20]!r}).") from None

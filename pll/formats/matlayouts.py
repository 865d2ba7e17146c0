"""The layouts of partial-label .mat files that are in use, as one: features, candidates, truth, test part.

(a) `data` n × d, `partial_target` c × n, `target` c × n; (b) `features`, `p_labels`, `logitlabels` n × c, with cells
`tr`, `te` of folds; (c) `X`, `Y_P`, `Y` n × c; (d) `train_data`, `train_p_target`, `test_data`, `test_target`; (f) any
of these as the fields of one struct; (g) supervised: `data` with `label` or `target`, one-hot or as class numbers.
Whichever way round a matrix lies is told by the number of examples.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse
from scipy.sparse import csr_array

from pll.errors import UserError
from pll.formats.checks import as_features, check_class_count, check_unpacked_size
from pll.formats.words import listing

FEATURES = ("data", "features", "X")
CANDIDATES = ("partial_target", "p_labels", "Y_P")
TRUTH = ("target", "logitlabels", "Y", "label", "labels")
FOLDS = ("tr", "te")
SPLIT = ("train_data", "train_p_target", "train_target", "test_data", "test_p_target", "test_target")
KNOWN = (*FEATURES, *CANDIDATES, *TRUTH, *FOLDS, *SPLIT)
"""Every variable that means something."""

Variables = Mapping[str, Any]


@dataclass
class Found:
    """What a file holds, whatever its layout.

    Attributes:
        X: (n, d) float32.
        sets: (n, c) sparse 0/1, the candidates.
        truth: (n, c) sparse 0/1, at most one a row.
        truth_name: what it is called in the file.
        names: c names, where class numbers say them.
        is_test: (n,) the test part.
        notes: what a person should know.
    """

    X: npt.NDArray[np.float32]
    sets: csr_array | None = None
    truth: csr_array | None = None
    truth_name: str = ""
    names: tuple[str, ...] = ()
    is_test: npt.NDArray[np.bool_] | None = None
    notes: list[str] = field(default_factory=list)


def has_features(variables: Variables) -> bool:
    """Whether these are the variables of a layout."""
    return any(name in variables for name in (*FEATURES, "train_data"))


def arrange(variables: Variables, max_bytes: int, fold: int | None = None) -> Found:
    """The parts of a file.

    Args:
        variables: by name, as `matfile` and `mat73` read them; those of `KNOWN` count.
        fold: which of the file's own folds is the test part, from 1.

    Raises:
        UserError: matrices that do not fit together; the variable is named.
    """
    if "train_data" in variables and not any(name in variables for name in FEATURES):
        found = _in_two_parts(variables, max_bytes)
    else:
        found = _in_one(variables, max_bytes)
    if found.sets is not None and found.truth is not None and found.sets.shape[1] != found.truth.shape[1]:
        raise UserError(
            f"The variable {_first(CANDIDATES, variables, 'train_p_target')} has {found.sets.shape[1]} classes, "
            f"{_first(TRUTH, variables, 'test_target')} has {found.truth.shape[1]}; they must agree."
        )
    if any(name in variables for name in FOLDS):
        _use_folds(found, variables, fold)
    elif fold is not None:
        raise UserError(f"The file has no folds of its own (tr, te), so there is no fold {fold}; leave it out.")
    return found


def _in_one(variables: Variables, max_bytes: int) -> Found:
    name = _first(FEATURES, variables)
    labels = {other: variables[other] for other in (*CANDIDATES, *TRUTH) if other in variables}
    matrix, notes = _upright(name, _matrix(variables, name), labels)
    X = _features(name, matrix, max_bytes)
    found = Found(X, notes=notes)
    sets, truth = (next((other for other in known if other in variables), None) for known in (CANDIDATES, TRUTH))
    if sets is not None:
        found.sets = _membership(_matrix(variables, sets), sets, len(X), name)
    if truth is not None:
        found.truth_name = truth
        found.truth, found.names = _truth(_matrix(variables, truth), truth, len(X), name, found.sets)
    return found


def _in_two_parts(variables: Variables, max_bytes: int) -> Found:
    """(d): a training part with candidates, a test part with truth."""
    parts = [_part(part, variables, max_bytes) for part in ("train", "test") if f"{part}_data" in variables]
    if len({part.X.shape[1] for part in parts}) > 1:
        raise UserError("train_data and test_data differ in their number of features; they must agree.")
    targets = [one for part in parts for one in (part.sets, part.truth) if one is not None]
    if len({one.shape[1] for one in targets}) > 1:
        raise UserError("The targets of the two parts are of different numbers of classes; they must agree.")
    found = Found(np.concatenate([part.X for part in parts]), truth_name="test_target")
    if len(parts) == 2:
        found.is_test = np.repeat([False, True], [len(part.X) for part in parts])
    if any(part.truth is not None for part in parts):
        found.truth = _stacked([_or_nothing(part.truth, part, targets[0].shape[1]) for part in parts])
    if any(part.sets is not None for part in parts):
        # The test part needs some set to stand in a row; nothing is ever learnt from it.
        stand_ins = [part.sets if part.sets is not None else part.truth for part in parts]
        rows = [_or_nothing(one, part, targets[0].shape[1]) for one, part in zip(stand_ins, parts, strict=True)]
        found.sets = _filled(_stacked(rows))
        if parts[-1].sets is None:
            found.notes.append("The test part has no candidates; its true labels stand in their place.")
    return found


def _part(part: str, variables: Variables, max_bytes: int) -> Found:
    name = f"{part}_data"
    labels = {other: variables[other] for other in (f"{part}_p_target", f"{part}_target") if other in variables}
    matrix, notes = _upright(name, _matrix(variables, name), labels)
    found = Found(_features(name, matrix, max_bytes), notes=notes)
    read = {other: _membership(_matrix(labels, other), other, len(found.X), name) for other in labels}
    found.sets, found.truth = read.get(f"{part}_p_target"), read.get(f"{part}_target")
    return found


def _or_nothing(matrix: csr_array | None, part: Found, c: int) -> csr_array:
    return csr_array((len(part.X), c)) if matrix is None else matrix


def _use_folds(found: Found, variables: Variables, fold: int | None) -> None:
    tests = variables.get("te", [])
    folds = tests if isinstance(tests, list) else list(np.atleast_2d(np.asarray(tests)).T)
    if fold is None:
        found.notes.append(
            f"The file brings {len(folds)} folds (tr, te); to test on one of them, read it with fold 1 … {len(folds)}."
        )
        return
    if fold > len(folds):
        raise UserError(f"There is no fold {fold}; the file has {len(folds)} (te).")
    held = np.asarray([] if folds[fold - 1] is None else folds[fold - 1]).ravel()
    n = len(found.X)
    if held.dtype.kind not in "biuf" or not ((held >= 1) & (held <= n) & (held == np.floor(held))).all():
        raise UserError(f"Fold {fold} of te holds something that is no row: rows count from 1 to {n} there.")
    found.is_test = np.zeros(n, dtype=np.bool_)
    found.is_test[held.astype(np.int64) - 1] = True


# ---- one matrix each -------------------------------------------------------------------------------------------------


def _first(names: tuple[str, ...], variables: Variables, otherwise: str = "") -> str:
    return next((name for name in names if name in variables), otherwise)


def _matrix(variables: Variables, name: str) -> Any:
    value = variables[name]
    kind = {list: "a cell array", dict: "a struct", type(None): "no matrix"}.get(type(value))
    if kind is not None:
        raise UserError(f"The variable {name} is {kind}; it must be a matrix of numbers.")
    return value


def _upright(name: str, matrix: Any, labels: Variables) -> tuple[Any, list[str]]:
    """The features with a row an example: turned, where all labels fit their columns and some do not fit their rows."""
    sides = [value.shape for value in labels.values() if hasattr(value, "shape") and len(value.shape) == 2]
    if matrix.ndim != 2 or not sides:
        return matrix, []
    fit = [all(n in shape for shape in sides) for n in matrix.shape]
    if fit == [False, True]:
        return matrix.T, [f"The variable {name} has a column an example; it was turned."]
    return matrix, []


def _features(name: str, variable: Any, max_bytes: int) -> npt.NDArray[np.float32]:
    if variable.ndim != 2 or not all(variable.shape):
        raise UserError(
            f"The variable {name} is {_by(variable.shape)}; it must be examples × features, at least 1 × 1."
        )
    if scipy.sparse.issparse(variable):
        check_unpacked_size(8 * variable.shape[0] * variable.shape[1], 8 * variable.nnz, max_bytes, name)
        variable = variable.toarray()
    return as_features(variable, name)


def _membership(variable: Any, name: str, n: int, features: str) -> csr_array:
    """A 0/1 matrix as sparse rows, n × c, whichever way round it is stored."""
    if variable.ndim != 2 or n not in variable.shape:
        turned = f" (is {features} transposed? It must be examples × features.)" if variable.ndim == 2 else ""
        raise UserError(
            f"The variable {name} is {_by(variable.shape)}, but {features} has {n} rows; one side of {name} must be "
            f"{n}, the other the number of classes{turned}."
        )
    by_column = variable.shape[1] == n
    if by_column and variable.shape[0] == n:  # c = n: as its layout has it
        by_column = name.endswith("target")
    upright = variable.T if by_column else variable
    check_class_count(upright.shape[1], f"the variable {name}")
    rows = csr_array(upright, copy=True)  # what was read is not writable
    rows.sum_duplicates()
    wrong = np.flatnonzero((rows.data != 0) & (rows.data != 1))  # NaN is neither
    if len(wrong):
        at = int(wrong[0])
        row = int(np.searchsorted(rows.indptr, at, side="right")) - 1
        raise UserError(
            f"Row {row} of {name} holds {rows.data[at]} for class {int(rows.indices[at])}; use 1 for a label of the "
            "example and 0 for any other."
        )
    rows.eliminate_zeros()
    return rows


def _truth(
    variable: Any, name: str, n: int, features: str, sets: csr_array | None
) -> tuple[csr_array, tuple[str, ...]]:
    """One-hot, or a vector of class numbers; and what the classes are called in the latter case."""
    vector = variable.ndim == 2 and variable.size == n and 1 in variable.shape
    if not vector or (name.endswith("target") and set(np.unique(_dense(variable)).tolist()) <= {0.0, 1.0}):
        return _membership(variable, name, n, features), ()
    numbers = _dense(variable).ravel().astype(np.float64)
    broken = np.flatnonzero(~np.isfinite(numbers) | (numbers != np.floor(numbers)) | (np.abs(numbers) > 2**31))
    if len(broken):
        raise UserError(f"Row {int(broken[0])} of {name} is {numbers[broken[0]]}, which is no class number.")
    whole = numbers.astype(np.int64)
    if sets is None:
        values, codes = np.unique(whole, return_inverse=True)
        c, names = len(values), tuple(str(value) for value in values)
    else:
        c, names = sets.shape[1], ()
        codes = whole - int(whole.min() >= 1)  # MATLAB counts from 1
        outside = np.flatnonzero((codes < 0) | (codes >= c))
        if len(outside):
            raise UserError(f"Row {int(outside[0])} of {name} is {int(whole[outside[0]])}; there are {c} classes.")
    return csr_array((np.ones(n), (np.arange(n), codes)), shape=(n, c)), names


def _dense(variable: Any) -> npt.NDArray[Any]:
    return variable.toarray() if scipy.sparse.issparse(variable) else np.asarray(variable)


def _stacked(parts: list[csr_array]) -> csr_array:
    return csr_array(scipy.sparse.vstack(parts, format="csr"))


def _filled(rows: csr_array) -> csr_array:
    """Rows without an entry get every class."""
    empty = np.flatnonzero(np.diff(rows.indptr) == 0)
    if not len(empty):
        return rows
    c = rows.shape[1]
    every = csr_array(
        (np.ones(len(empty) * c), (np.repeat(empty, c), np.tile(np.arange(c), len(empty)))), shape=rows.shape
    )
    return csr_array(rows + every)


def _by(shape: tuple[int, ...]) -> str:
    return " × ".join(str(side) for side in shape)


def missing(names: list[str]) -> UserError:
    """For a file that holds no features."""
    return UserError(
        f"The variable data (the features) is missing; found {listing(names) or 'none'}. The file must hold data "
        "(n × d), partial_target (c × n) and, where known, target (c × n), or another layout in use "
        f"({', '.join(('features', 'X', 'train_data'))} …)."
    )

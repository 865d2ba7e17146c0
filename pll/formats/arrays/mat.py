"""MATLAB files (v5 to v7.3) of partial-label research: reading, the layouts in use, writing.

(a) `data` n × d, `partial_target` c × n, `target` c × n; (b) `features`, `p_labels`, `logitlabels` n × c, with cells
`tr`, `te` of folds; (c) `X`, `Y_P`, `Y` n × c; (d) `train_data`, `train_p_target`, `test_data`, `test_target`; (f) any
of these as the fields of one struct; (g) supervised: `data` with `label` or `target`, one-hot or as class numbers.
The orientation of a matrix is found by the number of examples. Written is (a).
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse
from scipy.sparse import csr_array

from pll.candidates import CandidateSets
from pll.dataset import UNKNOWN, PartialLabelDataset
from pll.errors import UserError
from pll.formats.arrays.mat5 import is_mat5, is_mat73, read_v5
from pll.formats.base import Format, ReadOptions
from pll.formats.checks import (
    BOMB_BYTES,
    BOMB_RATIO,
    as_features,
    check_class_count,
    check_unpacked_size,
    listing,
    parsing,
    readable,
)
from pll.formats.limitations import added_labels, describe_added, part_limitations
from pll.formats.results import Results

SECONDS = 300
"""How long reading may take; a GB takes some ten seconds."""

_WORKER = Path(__file__).with_name("hdf5worker.py")
_AGAIN = "copy the file again, or save it in MATLAB with save(…, '-v7')"
_PART = re.compile(r"(?P<path>.*?)(?:\{(?P<cell>\d+)\})?$")


def read_v73(path: Path, max_bytes: int) -> dict[str, Any]:
    """All numeric variables of a v7.3 file, by name.

    Returns
    -------
    dict[str, Any]
        By name, a numpy array of at least two dimensions, a SciPy csc_array, a list of such (a cell array) or a dict of
        such (a struct).

    Raises
    ------
    UserError
        The file is damaged or too large, or takes too long.
    """
    size = path.stat().st_size
    if size > max_bytes:
        raise UserError(f"The file takes {readable(size)}; the limit is {readable(max_bytes)}. Split it.")
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "variables.npz"
        limits = [str(limit) for limit in (max_bytes, BOMB_BYTES, BOMB_RATIO)]
        command = [sys.executable, "-I", str(_WORKER), str(path), str(out), *limits]
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, errors="replace", timeout=SECONDS, check=False
            )
        except subprocess.TimeoutExpired:
            raise UserError(f"Reading the HDF5 inside took more than {SECONDS} seconds; {_AGAIN}.") from None
        if done.returncode or not out.exists():
            why = done.stdout.strip().splitlines() or ["the HDF5 library gave up on it"]
            raise UserError(f"The HDF5 inside cannot be read ({why[-1].rstrip('.')}); {_AGAIN}.")
        with parsing("what was read of the HDF5"), np.load(out, allow_pickle=False) as arrays:
            flat = {name: arrays[name] for name in arrays.files}
    return _nested(flat)


def _nested(flat: dict[str, np.ndarray]) -> dict[str, Any]:
    """`a/b`, `a{1}` and `a:data` as dicts, lists and sparse matrices."""
    nested: dict[str, Any] = {}
    for name, array in flat.items():
        whole, _, part = name.partition(":")
        if part not in ("", "data"):
            continue
        value = _sparse(whole, flat) if part else array
        *outer, last = whole.split("/")
        place = nested
        for step in outer:
            below = place.setdefault(step, {})
            if not isinstance(below, dict):
                break
            place = below
        cell = _PART.fullmatch(last)
        if cell is not None and cell["cell"]:
            cells = place.setdefault(cell["path"], [])
            if isinstance(cells, list):
                cells.append(value)
        else:
            place[last] = value
    return nested


def _sparse(name: str, flat: dict[str, np.ndarray]) -> scipy.sparse.csc_array:
    with parsing(f"the sparse matrix {name}", _AGAIN):
        rows, starts, shape = flat[f"{name}:ir"], flat[f"{name}:jc"], flat[f"{name}:shape"]
        numbers = flat[f"{name}:data"]
        height, width = int(shape[0]), int(shape[1])
        wrong = starts.ndim != 1 or starts[0] != 0 or (np.diff(starts) < 0).any() or starts[-1] != len(rows)
        if wrong or len(rows) != len(numbers) or not 0 <= height < 2**31 or width < 0:
            raise ValueError("its columns do not fit its entries")
        if len(rows) and (rows.min() < 0 or rows.max() >= height):
            raise ValueError("an entry lies outside it")
        return scipy.sparse.csc_array((numbers, rows, starts), shape=(height, width))


FEATURES = ("data", "features", "X")
CANDIDATES = ("partial_target", "p_labels", "Y_P")
TRUTH = ("target", "logitlabels", "Y", "label", "labels")
FOLDS = ("tr", "te")
SPLIT = ("train_data", "train_p_target", "train_target", "test_data", "test_p_target", "test_target")
VARIABLES = (*FEATURES, *CANDIDATES, *TRUTH, *FOLDS, *SPLIT)
"""Every variable that means something."""

Variables = Mapping[str, Any]


@dataclass
class MatContents:
    """What a file holds, whatever its layout: features, candidates and truth as sparse 0/1 with a row an example.

    Attributes
    ----------
    X
        (n, d) float32.
    sets
        (n, c), the candidates.
    truth
        (n, c), at most one a row.
    truth_name
        What it is called in the file.
    names
        c names, where the variables have class numbers.
    is_test
        (n,) the test part.
    notes
        Warnings for the user.
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


def arrange(variables: Variables, max_bytes: int, fold: int | None = None) -> MatContents:
    """The parts of a file.

    Parameters
    ----------
    variables
        By name; those of `VARIABLES` count.
    fold
        Which of the file's own folds is the test part, from 1.

    Raises
    ------
    UserError
        Matrices that do not fit together; the variable is named.
    """
    whole = [next((name for name in names if name in variables), "") for names in (FEATURES, CANDIDATES, TRUTH)]
    if whole[0]:
        contents = _part(variables, max_bytes, *whole)
    else:
        names = {part: (f"{part}_data", f"{part}_p_target", f"{part}_target") for part in ("train", "test")}
        splits = [_part(variables, max_bytes, *part) for part in names.values() if part[0] in variables]
        contents = _joined(splits) if len(splits) > 1 else splits[0]
    if contents.sets is not None and contents.truth is not None and contents.sets.shape[1] != contents.truth.shape[1]:
        raise UserError(
            f"The variable {whole[1] or 'train_p_target'} has {contents.sets.shape[1]} classes, "
            f"{whole[2] or 'test_target'} has {contents.truth.shape[1]}; they must agree."
        )
    if any(name in variables for name in FOLDS):
        _use_folds(contents, variables, fold)
    elif fold is not None:
        raise UserError(f"The file has no folds of its own (tr, te), so there is no fold {fold}; leave it out.")
    return contents


def _part(variables: Variables, max_bytes: int, data: str, sets: str, truth: str) -> MatContents:
    """The examples in these variables, of which some may not be there."""
    labels = {name: _matrix(variables, name) for name in (sets, truth) if name in variables}
    matrix = _matrix(variables, data)
    fit = [all(n in variable.shape for variable in labels.values()) for n in matrix.shape]
    is_turned = matrix.ndim == 2 and fit == [False, True]  # all labels fit its columns, and some do not fit its rows
    contents = MatContents(_features(data, matrix.T if is_turned else matrix, max_bytes), truth_name=truth)
    if is_turned:
        contents.notes.append(f"The variable {data} has a column an example; it was turned.")
    if sets in labels:
        contents.sets = _membership(labels[sets], sets, len(contents.X), data)
    if truth in labels:
        contents.truth, contents.names = _truth(labels[truth], truth, len(contents.X), data, contents.sets)
    return contents


def _joined(splits: Sequence[MatContents]) -> MatContents:
    """A training part with candidates and a test part with truth, as one."""
    if len({part.X.shape[1] for part in splits}) > 1:
        raise UserError("train_data and test_data differ in their number of features; they must agree.")
    widths = {one.shape[1] for part in splits for one in (part.sets, part.truth) if one is not None}
    names = {part.names for part in splits if part.truth is not None}
    if len(widths) > 1 or len(names) > 1:
        raise UserError("The targets of the two parts are of different classes; they must agree.")
    contents = MatContents(
        np.concatenate([part.X for part in splits]), truth_name="test_target", names=next(iter(names), ())
    )
    contents.is_test = np.repeat([False, True], [len(part.X) for part in splits])
    contents.notes = [note for part in splits for note in part.notes]
    c = max(widths, default=0)

    def stacked(matrices: Sequence[csr_array | None]) -> csr_array:
        rows = [csr_array((len(part.X), c)) if one is None else one for part, one in zip(splits, matrices, strict=True)]
        return csr_array(scipy.sparse.vstack(rows, format="csr"))

    if any(part.truth is not None for part in splits):
        contents.truth = stacked([part.truth for part in splits])
    if any(part.sets is not None for part in splits):
        # The test part needs some set in each row; nothing is learnt from it.
        sets = stacked([part.truth if part.sets is None else part.sets for part in splits])
        empty = scipy.sparse.csr_array((np.diff(sets.indptr) == 0)[:, None], dtype=np.float64)
        contents.sets = csr_array(sets + empty @ csr_array(np.ones((1, c))))
        if splits[-1].sets is None:
            contents.notes.append("The test part has no candidates; its true labels stand in their place.")
    return contents


def _use_folds(contents: MatContents, variables: Variables, fold: int | None) -> None:
    tests = variables.get("te", [])
    folds = tests if isinstance(tests, list) else list(np.atleast_2d(np.asarray(tests)).T)
    if fold is None:
        contents.notes.append(
            f"The file brings {len(folds)} folds (tr, te); to test on one of them, read it with fold 1 … {len(folds)}."
        )
        return
    if fold > len(folds):
        raise UserError(f"There is no fold {fold}; the file has {len(folds)} (te).")
    test_rows = np.asarray([] if folds[fold - 1] is None else folds[fold - 1]).ravel()
    n = len(contents.X)
    if (
        test_rows.dtype.kind not in "biuf"
        or not ((test_rows >= 1) & (test_rows <= n) & (test_rows == np.floor(test_rows))).all()
    ):
        raise UserError(f"Fold {fold} of te holds something that is no row: rows count from 1 to {n} there.")
    contents.is_test = np.zeros(n, dtype=np.bool_)
    contents.is_test[test_rows.astype(np.int64) - 1] = True


# ---- one matrix each -------------------------------------------------------------------------------------------------


def _matrix(variables: Variables, name: str) -> Any:
    value = variables[name]
    kind = {list: "a cell array", dict: "a struct", type(None): "no matrix"}.get(type(value))
    if kind is not None:
        raise UserError(f"The variable {name} is {kind}; it must be a matrix of numbers.")
    return value


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


def _by(shape: tuple[int, ...]) -> str:
    return " × ".join(str(side) for side in shape)


def missing(names: list[str]) -> UserError:
    """For a file that holds no features."""
    return UserError(
        f"The variable data (the features) is missing; found {listing(names) or 'none'}. The file must hold data "
        "(n × d), partial_target (c × n) and, where known, target (c × n), or another layout in use "
        f"({', '.join(('features', 'X', 'train_data'))} …)."
    )


RESULTS = ("identified_target", "confidence")
"""Variables that hold results: written, and not read back."""


class Mat(Format):
    """MATLAB v5 to v7.3 files with `data`, `partial_target` and `target`; the variables are listed above."""

    name = "mat"
    label = "MATLAB file (.mat)"
    tool = "your MATLAB file"
    adds = "Variables with the labels (one-hot, as target) and their confidence are added to the ones that are read."
    content = "binary"
    suffixes = (".mat",)
    row_note = "Rows (examples) are counted from 0; MATLAB counts from 1."

    def sniff(self, path: Path, head: bytes) -> bool:
        return is_mat5(head) or is_mat73(head)

    def read(self, path: Path, options: ReadOptions) -> PartialLabelDataset:
        variables, others = _load(path, options.max_bytes)
        contents = arrange(variables, options.max_bytes, options.fold)
        unused = [name for name in others if name not in RESULTS]
        notes = ([f"Variables not used: {listing(unused)}."] if unused else []) + contents.notes
        matrix = contents.sets if contents.sets is not None else contents.truth
        n_classes = 0 if matrix is None else matrix.shape[1]
        names = options.class_names or contents.names or tuple(str(k) for k in range(n_classes))
        if n_classes and len(names) != n_classes:
            raise UserError(
                f"{len(names)} class names were given for the file's {n_classes} classes; give one per class."
            )
        return PartialLabelDataset(
            X=contents.X,
            candidates=None if contents.sets is None else CandidateSets.from_sparse(contents.sets, names),
            y=None if contents.truth is None else _labels(contents.truth, contents.truth_name, notes),
            class_names=names,
            is_test=contents.is_test,
            name=options.name or path.name,
            notes=tuple(notes),
        )

    def cannot_hold(self, dataset: PartialLabelDataset) -> list[str]:
        lost = part_limitations(dataset, {"features", "truth"})
        if dataset.is_image and dataset.images is not None:
            lost.append("The pictures for annotators and reviewers.")
        return lost

    def cannot_label(self, dataset: PartialLabelDataset, results: Results) -> list[str]:
        added = added_labels(dataset, results)
        return [f"The labels of {describe_added(added)}: their column of identified_target is empty."] if added else []

    def labels_lost(self, dataset: PartialLabelDataset, results: Results) -> int:
        return sum(added_labels(dataset, results).values())

    def write(self, dataset: PartialLabelDataset, path: Path, results: Results | None = None) -> None:
        missing = np.argwhere(np.isnan(dataset.X))
        if len(missing):
            raise UserError(
                f"Row {int(missing[0][0])} has a missing cell ({len(missing)} in all), which .mat files of this kind "
                "cannot hold; write npz or csv."
            )
        variables: dict[str, Any] = {FEATURES[0]: dataset.X.reshape(len(dataset), -1)}
        sets = dataset.candidates
        if sets is not None:
            rows = (np.ones(sets.nnz), sets.indices, sets.indptr)
            variables[CANDIDATES[0]] = scipy.sparse.csr_array(rows, (len(sets), sets.n_classes)).T.tocsc()
        if dataset.y is not None and dataset.n_classes:
            labelled = np.flatnonzero(dataset.y != UNKNOWN)
            cells = (np.ones(len(labelled)), (dataset.y[labelled], labelled))
            variables[TRUTH[0]] = scipy.sparse.csc_array(cells, (dataset.n_classes, len(dataset)))
        if results is not None and dataset.n_classes:
            variables |= _identified(dataset, results)
        if not dataset.X.size:
            raise UserError(
                "There are no features, which .mat files of this kind cannot do without; write parquet or jsonl."
            )
        from scipy.io import savemat  # late, as few files are .mat

        with path.open("wb") as file:
            savemat(file, variables, do_compression=True)

    def cannot_give_back(self, source: Path, results: Results, options: ReadOptions) -> list[str]:
        return ["Variables that are not read, and the form of the file: it is written anew, as version 7."]


def _identified(dataset: PartialLabelDataset, results: Results) -> dict[str, Any]:
    """The identified labels one-hot, as `target` has the true ones, and the confidence of each."""
    ids = dataset.row_ids.tolist()
    number = {name: k for k, name in enumerate(dataset.class_names)}
    cells = [(number[label], i) for i, label in enumerate(map(results.label, ids)) if label in number]
    marks = scipy.sparse.csc_array(
        (np.ones(len(cells)), tuple(zip(*cells, strict=True)) or ((), ())), (dataset.n_classes, len(ids))
    )
    confidence = [results.confidence(example) for example in ids]
    return dict(zip(RESULTS, (marks, np.array([[np.nan if one is None else one for one in confidence]])), strict=True))


def _load(path: Path, max_bytes: int) -> tuple[dict[str, Any], list[str]]:
    """The variables that matter, and the names of the others."""
    with path.open("rb") as file:
        head = file.read(128)
    if is_mat73(head):
        every = read_v73(path, max_bytes)
        variables = {name: value for name, value in every.items() if name in VARIABLES}
        unreadable: dict[str, str] = {}
        others = [name for name in every if name not in variables]
        structs = {name: value for name, value in every.items() if isinstance(value, dict)}
    elif is_mat5(head):
        variables, unreadable, others = read_v5(path, lambda variable: variable.name in VARIABLES, max_bytes)
        structs = {}
        if not has_features(variables) and not unreadable:
            structs = read_v5(path, lambda variable: variable.is_struct, max_bytes)[0]
    else:
        raise UserError("This is not a MATLAB v5 file; save it in MATLAB with save(…, '-v7').")
    if unreadable:
        name, words = next(iter(unreadable.items()))
        raise UserError(f"The variable {name} is {words}; it must be a matrix of numbers.")
    if has_features(variables):
        return variables, others
    inside = {name: fields for name, fields in structs.items() if isinstance(fields, dict) and has_features(fields)}
    if len(inside) != 1:
        raise missing([*variables, *others])
    struct, fields = next(iter(inside.items()))
    used = {name: value for name, value in fields.items() if name in VARIABLES}
    return used, [name for name in (*variables, *others) if name != struct] + [
        name for name in fields if name not in used
    ]


def _labels(truth: scipy.sparse.csr_array, name: str, notes: list[str]) -> npt.NDArray[np.int64]:
    counts = np.diff(truth.indptr)
    several = np.flatnonzero(counts > 1)
    if len(several):
        row = int(several[0])
        raise UserError(
            f"Row {row} of {name} marks {int(counts[row])} labels ({len(several)} such rows); the truth is one label. "
            f"Put sets of labels into {CANDIDATES[0]}."
        )
    unknown = int((counts == 0).sum())
    if unknown:
        notes.append(f"{unknown} of {len(counts)} examples have no true label in {name}; it is taken as not known.")
    y = np.full(len(counts), UNKNOWN, dtype=np.int64)
    y[counts == 1] = truth.indices
    return y

"""MATLAB files (v5 to v7.3) of partial-label research.

Features and labels are found by `pll.formats.arrays.layouts`. Written are `data` n × d, `partial_target` and `target`
c × n. Beside them are the names of other collections (`features`, `p_labels`, `logitlabels`; `X`, `Y_P`, `Y`;
`train_data`, …), all of them as the fields of one struct, and cells `tr`, `te` with the rows of folds.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy  # its parts load when they are used

from pll.annotations.data import Annotations
from pll.dataset import UNKNOWN, PartialLabelDataset
from pll.errors import RowError, UserError
from pll.extras import require_extra
from pll.formats.arrays.layouts import (
    FileArrays,
    Names,
    arrange,
    kind_of_numbers,
    labels_beside,
    names_people,
    parts_among,
)
from pll.formats.arrays.mat5 import is_mat5, is_mat73, read_v5
from pll.formats.base import Format, ReadOptions
from pll.formats.checks import BOMB_BYTES, BOMB_RATIO, check_ids, listing, parsing, readable
from pll.formats.forms import ARRAYS
from pll.formats.labels import sets_of
from pll.formats.proposal import says
from pll.formats.results import Results

FOLD_NAMES = ("tr", "te")
WANTED = {
    *FOLD_NAMES,
    *(name for part in ("whole", "train", "test") for names in ARRAYS[part].values() for name in names),
} - {"s"}
"""Variables with a meaning, in any case; S is a struct more often than the candidates."""
RESULTS = ("identified_target", "confidence")
"""Variables that hold results: written, and not read back."""

SECONDS = 300
"""How long reading may take; a GB takes some ten seconds."""
_WORKER = Path(__file__).with_name("hdf5worker.py")
_AGAIN = "copy the file again, or save it in MATLAB with save(…, '-v7')"
_ANSWERS = ("counts", "votes")
_KINDS = {list: "a cell array", dict: "a struct", type(None): "no matrix"}


class Mat(Format):
    """MATLAB v5 to v7.3 files with `data`, `partial_target` and `target`; the variables are listed above."""

    def sniff(self, path: Path, head: bytes) -> bool:
        return is_mat5(head) or is_mat73(head)

    def read(self, path: Path, options: ReadOptions) -> PartialLabelDataset:
        found = _found_in(path, options)
        found.find_truth()
        found.find_texts()
        found.find_labels()
        found.check()
        notes = [] if parts_among(found.variables) else [f"The features are in {found.parts[0]['X']}."]
        needed = not (found.votes or found.marks)
        layout = arrange(found.variables, found.parts, notes, options.max_bytes, needed=needed, is_matlab=True)
        fold = _fold(found.variables, len(layout.X), options.fold, notes)
        first = found.first_class(layout) if found.votes else 1
        called = options.class_names or found.class_names(layout, notes)
        ids = next((name for name in found.others if _name_each(found.texts.get(name, ()), len(layout.X))), "")
        if unused := [name for name in found.others if name not in (*RESULTS, ids)]:
            notes.insert(0, f"Variables not used: {listing(unused)}.")
        candidates, y, names = layout.numbered(options, called, notes)
        annotations = None
        if found.votes:
            voters = found.texts[found.voters] if found.voters else ()
            annotations = _annotations(found.unread[found.votes], first, names, voters)
            candidates, about = sets_of(annotations, options.combine)
            notes += [f"The votes of {annotations.n_annotators} voters are in {found.votes}.", *about]
        return PartialLabelDataset(
            annotations=annotations,
            X=layout.X,
            candidates=candidates,
            y=y,
            class_names=names,
            is_test=layout.is_test if fold is None else fold,
            name=options.name or path.name,
            notes=tuple(notes),
            ids=check_ids([*found.texts[ids]], int) if ids else None,
        )

    def write(self, dataset: PartialLabelDataset, path: Path, results: Results | None = None) -> None:
        missing = np.argwhere(np.isnan(dataset.X))
        if len(missing):
            raise RowError(
                f"Row {int(missing[0][0])} has a missing cell ({len(missing)} in all), which .mat files of this kind "
                "cannot hold; write npz or csv."
            )
        variables: dict[str, Any] = {"data": dataset.X.reshape(len(dataset), -1)}
        sets = dataset.candidates
        if sets is not None:
            rows = (np.ones(sets.nnz), sets.indices, sets.indptr)
            variables["partial_target"] = scipy.sparse.csr_array(rows, (len(sets), sets.n_classes)).T.tocsc()
        if dataset.y is not None and dataset.n_classes:
            labelled = np.flatnonzero(dataset.y != UNKNOWN)
            cells = (np.ones(len(labelled)), (dataset.y[labelled], labelled))
            variables["target"] = scipy.sparse.csc_array(cells, (dataset.n_classes, len(dataset)))
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


@dataclass
class _Found:
    """The variables of a file, and what each means; the methods are the steps in which `Mat.read` finds that out."""

    path: Path
    options: ReadOptions
    variables: dict[str, Any]
    """Those with a meaning."""
    others: list[str]
    """The names of those without one so far."""
    inside: dict[str, Any]
    """Of these the values, where all are fields of one struct."""
    parts: list[Names]
    """What features, candidates and true labels are called, in each part of the examples."""
    texts: dict[str, Sequence[str]] = field(default_factory=dict)
    """Cell arrays of texts among the others."""
    unread: dict[str, npt.NDArray[Any]] = field(default_factory=dict)
    """Matrices that may be labels."""
    marks: str = ""
    votes: str = ""
    """Which of these are the candidates, or votes."""
    voters: str = ""
    """The cell array of the names of who voted."""

    def find_truth(self) -> None:
        """Find the one variable of a whole number for each example that is called as the truth is; none of several."""
        X = self.variables[self.parts[0]["X"]]
        if not isinstance(X, np.ndarray) or not {*self.parts[0]}.isdisjoint(["y", "candidates"]):
            return
        called = [name for name in self.others if says("settled", name)]
        matrices = _matrices(self.path, called, self.options.max_bytes)
        vectors = {name: one for name, one in matrices.items() if {*one.shape} == {1, len(X)}}
        found = [name for name, one in vectors.items() if (one == np.floor(one)).all()]
        if len(found) == 1:
            self.variables[found[0]] = vectors[found[0]]
            self.others = [name for name in self.others if name != found[0]]
            self.parts[0] = {**self.parts[0], "y": found[0]}

    def find_texts(self) -> None:
        """Find the cell arrays of texts."""
        cells = _cells(self.path, self.others, self.options.max_bytes) if self.others else {}
        cells = {**cells, **{name: value for name, value in self.inside.items() if isinstance(value, list)}}
        self.texts = {name: some for name, some in cells.items() if all(isinstance(cell, str) for cell in some)}

    def find_labels(self) -> None:
        """Find marks or votes by their numbers, where no variable is called as candidates are."""
        if not self.others or len(self.parts) > 1 or "candidates" in self.parts[0]:
            return
        second = {*self.variables} - {*self.parts[0].values()}  # called as labels are, beside those that are the truth
        self.unread = _arrays_among({name: value for name, value in self.variables.items() if name in second})
        self.unread |= _matrices(self.path, self.others, self.options.max_bytes) | _arrays_among(self.inside)
        people = {len(some): name for name, some in self.texts.items() if names_people(name)}
        told = _labels_beside(self.unread, self.variables, self.parts[0], people)
        if marks := told.get("marks", ""):
            self.marks, self.variables[marks] = marks, self.unread[marks]
            self.parts[0] = {**self.parts[0], "candidates": marks}
        elif votes := told.get("votes", ""):
            self.votes, self.voters = votes, people.get(self.unread[votes].shape[1], "")
        self.others = [name for name in self.others if name not in (self.marks, self.votes, self.voters)]

    def check(self) -> None:
        """Raise where there are neither features nor labels, or something is no matrix.

        Raises
        ------
        UserError
            Naming the variable.
        """
        features = self.parts[0]["X"]
        X = self.variables[features]
        if not (self.votes or self.marks) and isinstance(X, np.ndarray) and X.shape[1:] == (0,):
            raise _without_features([name for name in (*self.variables, *self.others) if name != features])
        for name in dict.fromkeys(name for one in self.parts for name in one.values()):
            value = self.variables[name]
            if isinstance(value, str) or type(value) in _KINDS:
                kind = value if isinstance(value, str) else _KINDS[type(value)]
                raise UserError(f"The variable {name} is {kind}; it must be a matrix of numbers.")
            if value.ndim != 2:
                raise UserError(f"The variable {name} has the shape {value.shape}; it must have two dimensions.")

    def first_class(self, layout: FileArrays) -> int:
        """The number of the first class among the votes: what is below is no vote."""
        votes = self.unread[self.votes]
        least = self.variables[self.parts[0]["y"]] if "y" in self.parts[0] else votes
        first, most = int(np.min(least[least >= 0], initial=1)), int(votes.max())
        first = max(first, int(most in {len(self.texts[name]) for name in self.others if name in self.texts}))
        if layout.y is None:  # the votes are all that says which classes there are
            layout.n_classes = most + 1 - first
        return first

    def class_names(self, layout: FileArrays, notes: list[str]) -> tuple[str, ...]:
        """The texts that name the classes, () where none do; they are no others then."""
        found = _class_names({name: some for name, some in self.texts.items() if name in self.others}, layout)
        if not found:
            return ()
        name, called = next(iter(found.items()))
        notes.append(f"The names of the classes are in {name}.")
        self.others = [one for one in self.others if one != name]
        return called


def _arrays_among(values: Mapping[str, Any]) -> dict[str, npt.NDArray[Any]]:
    return {name: value for name, value in values.items() if isinstance(value, np.ndarray)}


def _found_in(path: Path, options: ReadOptions) -> _Found:
    """The variables of a file, and what they are called as; features may be called anything."""
    variables, others, inside = _load(path, options.max_bytes)
    parts = parts_among(variables)
    if not parts:
        parts = [{**part, "X": [*variables][-1]} for part in parts_among([*variables, "X"])[:1]]
    return _Found(path, options, variables, others, inside, parts)


def _name_each(cells: Sequence[str], n: int) -> bool:
    """Whether words name n examples, each of them another."""
    return len({*cells}) == len(cells) == n and not any(len(cell.split()) > 1 for cell in cells)


def _identified(dataset: PartialLabelDataset, results: Results) -> dict[str, Any]:
    """The identified labels one-hot, as `target` has the true ones, and the confidence of each."""
    ids = dataset.row_ids.tolist()
    number = {name: k for k, name in enumerate(dataset.class_names)}
    cells = [(number[label], i) for i, label in enumerate(map(results.label, ids)) if label in number]
    places = tuple(zip(*cells, strict=True)) or ((), ())
    marks = scipy.sparse.csc_array((np.ones(len(cells)), places), (dataset.n_classes, len(ids)))
    confidence = [results.confidence(example) for example in ids]
    return dict(zip(RESULTS, (marks, np.array([[np.nan if one is None else one for one in confidence]])), strict=True))


# ---- files -----------------------------------------------------------------------------------------------------------


def _load(path: Path, max_bytes: int) -> tuple[dict[str, Any], list[str], dict[str, Any]]:
    """The variables with a meaning, what they are in words where they cannot be read; the names of the others; and of
    those the values, where all are fields of one struct.
    """
    head = _head_of(path)
    if is_mat73(head):
        every = _read_v73(path, max_bytes)
        variables = {name: value for name, value in every.items() if name.lower() in WANTED}
        others = [name for name in every if name not in variables]
        structs = {name: value for name, value in every.items() if isinstance(value, dict)}
    elif is_mat5(head):
        found, unreadable, others = read_v5(path, lambda variable: variable.name.lower() in WANTED, max_bytes)
        variables, structs = found | unreadable, {}
        if not parts_among(variables):
            structs = read_v5(path, lambda variable: variable.is_struct, max_bytes)[0]
    else:
        raise UserError("This is not a MATLAB v5 file; save it in MATLAB with save(…, '-v7').")
    if parts_among(variables):
        return variables, others, {}
    inside = {name: fields for name, fields in structs.items() if parts_among(fields)}
    matrices = {} if inside else _matrices(path, others, max_bytes)
    if features := _features_among(matrices):
        return variables | features, [name for name in others if name not in features], {}
    wide = [one for one in matrices.values() if one.ndim == 2 and min(one.shape) > 1]
    if len({*map(len, wide)}) == 1 and all(kind_of_numbers(one) in _ANSWERS for one in wide):  # votes may be all
        return variables | {"data": np.empty((len(wide[0]), 0))}, others, {}
    if len(inside) != 1:
        raise _without_features([*variables, *others])
    struct, fields = next(iter(inside.items()))
    used = {name: value for name, value in fields.items() if name.lower() in WANTED}
    left = {name: value for name, value in fields.items() if name not in used}
    return used, [*(name for name in (*variables, *others) if name != struct), *left], left


def _head_of(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(128)


def _without_features(names: Sequence[str]) -> UserError:
    return UserError(
        f"The variable data (the features) is missing; found {listing(names) or 'none'}. The file must hold data "
        "(n × d), partial_target (c × n) and, where known, target (c × n), or another layout in use (features, X, "
        "train_data …)."
    )


def _features_among(matrices: Mapping[str, npt.NDArray[Any]]) -> dict[str, npt.NDArray[Any]]:
    """The one matrix of measured numbers, whatever it is called, beside another one of as many rows."""
    kinds = {name: kind_of_numbers(one) for name, one in matrices.items() if one.ndim == 2 and min(one.shape) > 1}
    found = [name for name, kind in kinds.items() if not kind and np.isfinite(matrices[name]).all()]
    beside = [one for name, one in matrices.items() if name not in found and name in kinds]
    is_one = len(found) == 1 and any(len(one) == len(matrices[found[0]]) for one in beside)
    return {found[0]: matrices[found[0]]} if is_one else {}


def _read_v73(path: Path, max_bytes: int) -> dict[str, Any]:
    """All numeric variables of a v7.3 file by name, as `read_v5` gives them; they are read in a process of its own."""
    require_extra("h5py")
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
        with parsing("what was read of the HDF5", _AGAIN), np.load(out, allow_pickle=False) as arrays:
            return _nested(arrays)


def _nested(arrays: Mapping[str, npt.NDArray[Any]]) -> dict[str, Any]:
    """`a/b`, `a{1}` and `a:data` (of a sparse matrix) as dicts, lists and sparse matrices."""
    nested: dict[str, Any] = {}
    for name in arrays:
        whole, _, part = name.partition(":")
        if part not in ("", "data"):
            continue
        *structs, last = whole.split("/")
        place = nested
        for struct in structs:
            place = place.setdefault(struct, {})
        value = _sparse(whole, arrays) if part else arrays[name]
        if cell := re.fullmatch(r"(.*)\{\d+\}", last):
            place.setdefault(cell[1], []).append(value)
        else:
            place[last] = value
    return nested


def _sparse(name: str, arrays: Mapping[str, npt.NDArray[Any]]) -> scipy.sparse.csc_array:
    data, rows, starts, shape = (arrays[f"{name}:{part}"] for part in ("data", "ir", "jc", "shape"))
    matrix = scipy.sparse.csc_array((data, rows, starts), shape=tuple(shape.tolist()))
    matrix.check_format(full_check=True)
    return matrix


def _matrices(path: Path, names: Sequence[str], max_bytes: int) -> dict[str, npt.NDArray[Any]]:
    """Variables that nothing is known of by their names, where they are matrices of numbers."""
    is_new = is_mat73(_head_of(path))
    wanted = {*names}.difference(RESULTS)
    found: Mapping[str, Any] = {}
    with suppress(UserError):  # what is damaged or too large there is nobody's labels
        found = _read_v73(path, max_bytes) if is_new else read_v5(path, lambda one: one.name in wanted, max_bytes)[0]
    return {name: value for name, value in found.items() if name in wanted and isinstance(value, np.ndarray)}


def _labels_beside(
    unread: Mapping[str, Any], variables: Mapping[str, Any], part: Mapping[str, str], people: Collection[int]
) -> dict[str, str]:
    """As `labels_beside`, of matrices with a row or a column an example."""
    X, y = variables[part["X"]], variables.get(part.get("y", ""))
    if isinstance(X, np.ndarray) and X.ndim == 2 and y is None:
        return {kind: name for kind, name in labels_beside(unread, len(X), None, 0, people).items() if kind == "votes"}
    if not isinstance(X, np.ndarray) or X.ndim != 2 or not isinstance(y, np.ndarray) or 1 not in y.shape:
        return {}
    known = np.ravel(y)
    if known.dtype.kind == "f" and np.isfinite(known).all() and (known == np.floor(known)).all():
        known = known.astype(np.int64)
    return labels_beside(unread, known.size, known, people=people)


def _cells(path: Path, names: Sequence[str], max_bytes: int) -> Mapping[str, Any]:
    """Those of some variables that are cell arrays, in a file that has their texts."""
    has_texts = is_mat5(_head_of(path))
    with suppress(UserError):  # as many cells as there are examples, for instance
        return read_v5(path, lambda one: one.is_cell and one.name in names, max_bytes)[0] if has_texts else {}
    return {}


def _class_names(cells: Mapping[str, Any], layout: FileArrays) -> dict[str, tuple[str, ...]]:
    """The cell array of as many different texts as there are classes; true labels that are numbers become those of it.

    A file of version 7.3 has none, since its cells are read without their texts.
    """
    numbers = layout.y if layout.y is not None and not layout.n_classes and layout.y.dtype.kind == "U" else None
    codes = None if numbers is None or not all(map(str.isdecimal, numbers)) else numbers.astype(np.int64)
    most = 0 if codes is None else int(codes.max(initial=0))
    sizes = {layout.n_classes or most, layout.n_classes or most + int(codes is not None and codes.min(initial=1) < 1)}
    usual = sorted(cells, key=lambda name: name.lower() not in ARRAYS["classes"]["names"])
    found = {name: tuple(cells[name]) for name in usual if len({*cells[name]}) == len(cells[name]) in sizes - {0, 1}}
    if found and codes is not None:
        is_from_one = most == len(next(iter(found.values())))  # then 0 is none
        layout.y = np.where(codes > 0, codes - 1, UNKNOWN) if is_from_one else codes
    return found


def _annotations(votes: npt.NDArray[Any], first: int, names: Sequence[str], voters: Sequence[str]) -> Annotations:
    """Votes (n, m) by the numbers of the classes, or by these from the first number on; none is below it."""
    given, number = votes.astype(np.int64), {name: k for k, name in enumerate(names)}
    codes = np.full(given.shape, -1)
    for code in np.unique(given[given >= first]).tolist():
        codes[given == code] = number.get(str(code), code - first)
    return Annotations.from_votes(codes, names, voters)


def _fold(variables: Mapping[str, Any], n: int, fold: int | None, notes: list[str]) -> npt.NDArray[np.bool_] | None:
    """(n,) the test part of one of the file's folds, whose rows are the cells or columns of `te`."""
    if {*FOLD_NAMES}.isdisjoint(variables):
        if fold is not None:
            raise UserError(f"The file has no folds of its own (tr, te), so there is no fold {fold}; leave it out.")
        return None
    tests = variables.get("te", [])
    folds = tests if isinstance(tests, list) else list(np.atleast_2d(np.asarray(tests)).T)
    if fold is None:
        notes.append(
            f"The file brings {len(folds)} folds (tr, te); to test on one of them, read it with fold 1 … {len(folds)}."
        )
        return None
    if fold > len(folds):
        raise UserError(f"There is no fold {fold}; the file has {len(folds)} (te).")
    rows = np.asarray([] if folds[fold - 1] is None else folds[fold - 1]).ravel()
    if rows.dtype.kind not in "biuf" or not np.isin(rows, np.arange(1, n + 1)).all():
        raise UserError(f"Fold {fold} of te holds something that is no row: rows count from 1 to {n} there.")
    return np.isin(np.arange(1, n + 1), rows)

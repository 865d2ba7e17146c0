"""The .mat files of partial-label research, MATLAB v5 to v7.3; which layouts there are says `pll.formats.matlayouts`.

Written is the usual one: `data` n × d, `partial_target` c × n, `target` c × n one-hot.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.io
import scipy.sparse

from pll.candidates import CandidateSets
from pll.dataset import UNKNOWN, PartialLabelDataset
from pll.errors import UserError
from pll.formats import mat73
from pll.formats.base import Format, ReadOptions
from pll.formats.losses import added_labels, losses, said
from pll.formats.matfile import HEADER_BYTES, is_mat5, is_mat73, pieces, read_variables
from pll.formats.matlayouts import KNOWN, arrange, has_features, missing
from pll.formats.results import Results
from pll.formats.words import listing

FEATURES, CANDIDATES, TRUTH = "data", "partial_target", "target"
RESULTS = ("identified_target", "confidence")
"""Variables that hold results: written, and not read back."""


class Mat(Format):
    name = "mat"
    label = "MATLAB file (.mat)"
    tool = "your MATLAB file"
    adds = "Variables with the labels (one-hot, as target) and how sure they are stand beside your own."
    suffixes = (".mat",)
    row_note = "Rows (examples) are counted from 0; MATLAB counts from 1."

    def sniff(self, path: Path, head: bytes) -> bool:
        return is_mat5(head) or is_mat73(head)

    def read(self, path: Path, options: ReadOptions) -> PartialLabelDataset:
        variables, others = _load(path, options.max_bytes)
        found = arrange(variables, options.max_bytes, options.fold)
        unused = [name for name in others if name not in RESULTS]
        notes = ([f"Variables not used: {listing(unused)}."] if unused else []) + found.notes
        matrix = found.sets if found.sets is not None else found.truth
        n_classes = 0 if matrix is None else matrix.shape[1]
        names = options.class_names or found.names or tuple(str(k) for k in range(n_classes))
        if n_classes and len(names) != n_classes:
            raise UserError(
                f"{len(names)} class names were given for the file's {n_classes} classes; give one per class."
            )
        return PartialLabelDataset(
            X=found.X,
            candidates=None if found.sets is None else CandidateSets.from_sparse(found.sets, names),
            y=None if found.truth is None else _labels(found.truth, found.truth_name, notes),
            class_names=names,
            is_test=found.is_test,
            name=options.name or path.name,
            notes=tuple(notes),
        )

    def cannot_hold(self, dataset: PartialLabelDataset) -> list[str]:
        lost = losses(dataset, {"features", "truth"})
        if dataset.is_image and dataset.images is not None:
            lost.append("The pictures that are shown to people.")
        return lost

    def cannot_label(self, dataset: PartialLabelDataset, results: Results) -> list[str]:
        added = added_labels(dataset, results)
        return [f"The labels of {said(added)}: their column of identified_target is empty."] if added else []

    def labels_lost(self, dataset: PartialLabelDataset, results: Results) -> int:
        return sum(added_labels(dataset, results).values())

    def write(self, dataset: PartialLabelDataset, path: Path, results: Results | None = None) -> None:
        missing = np.argwhere(np.isnan(dataset.X))
        if len(missing):
            raise UserError(
                f"Row {int(missing[0][0])} has a missing cell ({len(missing)} in all), which .mat files of this kind "
                "cannot hold; write npz or csv."
            )
        variables: dict[str, Any] = {FEATURES: dataset.X.reshape(len(dataset), -1)}
        sets = dataset.candidates
        if sets is not None:
            rows = (np.ones(sets.nnz), sets.indices, sets.indptr)
            variables[CANDIDATES] = scipy.sparse.csr_array(rows, (len(sets), sets.n_classes)).T.tocsc()
        if dataset.y is not None and dataset.n_classes:
            known = np.flatnonzero(dataset.y != UNKNOWN)
            cells = (np.ones(len(known)), (dataset.y[known], known))
            variables[TRUTH] = scipy.sparse.csc_array(cells, (dataset.n_classes, len(dataset)))
        if results is not None and dataset.n_classes:
            variables |= _identified(dataset, results)
        if not dataset.X.size:
            raise UserError(
                "There are no features, which .mat files of this kind cannot do without; write parquet or jsonl."
            )
        with path.open("wb") as file:
            scipy.io.savemat(file, variables, do_compression=True)

    def cannot_give_back(self, source: Path, results: Results, options: ReadOptions) -> list[str]:
        kept = _without_results(source)
        if kept is None:
            return ["Variables that are not read, and the form of the file: it is written anew, as version 7."]
        taken = [name for name in RESULTS if name in kept]
        return [f"The run's {', '.join(taken)}: the file has variables of these names, which stay."] if taken else []

    def give_back(self, source: Path, path: Path, results: Results, options: ReadOptions) -> None:
        dataset, kept = self.read(source, options), _without_results(source)
        if kept is None:
            self.write(dataset, path, results)
            return
        found = _identified(dataset, results) if dataset.n_classes else {}
        new = io.BytesIO()
        scipy.io.savemat(new, {name: one for name, one in found.items() if name not in kept}, do_compression=True)
        # A file is its header and one variable after another.
        path.write_bytes(b"".join(kept.values()) + new.getvalue()[HEADER_BYTES:])


def _without_results(path: Path) -> dict[str, bytes] | None:
    """The pieces of a file by name, without what an earlier run added; None where nothing can be added to it."""
    found = pieces(path)
    if found is None:
        return None
    names = list(found)
    start = names.index(RESULTS[0]) if RESULTS[0] in names else len(names)
    return {name: piece for at, (name, piece) in enumerate(found.items()) if at < start or name not in RESULTS}


def _identified(dataset: PartialLabelDataset, results: Results) -> dict[str, Any]:
    """The identified labels one-hot, as `target` has the true ones, and how sure each is."""
    ids = dataset.row_ids.tolist()
    number = {name: k for k, name in enumerate(dataset.class_names)}
    cells = [(number[label], i) for i, label in enumerate(map(results.label, ids)) if label in number]
    marks = scipy.sparse.csc_array(
        (np.ones(len(cells)), tuple(zip(*cells, strict=True)) or ((), ())), (dataset.n_classes, len(ids))
    )
    sure = [results.confidence(example) for example in ids]
    return dict(zip(RESULTS, (marks, np.array([[np.nan if one is None else one for one in sure]])), strict=True))


def _load(path: Path, max_bytes: int) -> tuple[dict[str, Any], list[str]]:
    """The variables that matter, and the names of the others."""
    with path.open("rb") as file:
        head = file.read(128)
    if is_mat73(head):
        every = mat73.read_variables(path, max_bytes)
        found = {name: value for name, value in every.items() if name in KNOWN}
        odd: dict[str, str] = {}
        others = [name for name in every if name not in found]
        structs = {name: value for name, value in every.items() if isinstance(value, dict)}
    elif is_mat5(head):
        found, odd, others = read_variables(path, lambda variable: variable.name in KNOWN, max_bytes)
        structs = {}
        if not has_features(found) and not odd:
            structs = read_variables(path, lambda variable: variable.is_struct, max_bytes)[0]
    else:
        raise UserError("This is not a MATLAB v5 file; save it in MATLAB with save(…, '-v7').")
    if odd:
        name, words = next(iter(odd.items()))
        raise UserError(f"The variable {name} is {words}; it must be a matrix of numbers.")
    if has_features(found):
        return found, others
    inside = {name: fields for name, fields in structs.items() if isinstance(fields, dict) and has_features(fields)}
    if len(inside) != 1:
        raise missing([*found, *others])
    struct, fields = next(iter(inside.items()))
    kept = {name: value for name, value in fields.items() if name in KNOWN}
    return kept, [name for name in (*found, *others) if name != struct] + [name for name in fields if name not in kept]


def _labels(truth: scipy.sparse.csr_array, name: str, notes: list[str]) -> npt.NDArray[np.int64]:
    counts = np.diff(truth.indptr)
    several = np.flatnonzero(counts > 1)
    if len(several):
        row = int(several[0])
        raise UserError(
            f"Row {row} of {name} marks {int(counts[row])} labels ({len(several)} such rows); the truth is one label. "
            f"Put sets of labels into {CANDIDATES}."
        )
    unknown = int((counts == 0).sum())
    if unknown:
        notes.append(f"{unknown} of {len(counts)} examples have no true label in {name}; it is taken as not known.")
    y = np.full(len(counts), UNKNOWN, dtype=np.int64)
    y[counts == 1] = truth.indices
    return y

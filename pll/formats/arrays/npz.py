"""data.npz: features, candidate sets and what goes with them as plain NumPy arrays, read without trusting the file.

A folder of the same arrays, each an .npy file of its own (`unzip data.npz -d data` makes one), is memory-mapped: its
features stay in the file, which may be larger than memory.

Arrays of other people's files are known by their usual names too (`ALIASES`), with a note.
"""

from __future__ import annotations

import json
import math
import shutil
import zipfile
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt
from numpy.lib import format as npy

from pll.annotations.data import Annotations
from pll.annotations.rules import Rule, resolve
from pll.candidates import CandidateSets
from pll.dataset import UNKNOWN, PartialLabelDataset
from pll.errors import UserError
from pll.formats.archive import first_member, open_zip
from pll.formats.base import Format, ReadOptions
from pll.formats.checks import (
    MAX_NAME,
    as_features,
    check_class_count,
    check_ids,
    check_unpacked_size,
    kind_of,
    listing,
    parsing,
    readable,
    shorten,
)
from pll.formats.results import Results, omitted_columns
from pll.formats.tabular.columns import results_among
from pll.images import Pictures
from pll.io import Column, as_column, is_mapped
from pll.weights import Weights, checked_prior, on_candidates

Arrays = Mapping[str, npt.NDArray[Any]]

PART_KEYS = (
    *("texts", "picture_names", "category_names", "categories", "extra_names", "extras"),
    *("answer_rows", "answer_annotators", "answer_labels", "answer_scores", "annotator_names", "anonymous"),
    *("votes", "voters", "vote_scores"),
)
"""Names of their arrays."""

_COLUMNS = {"category": "categories", "extra": "extras"}
"""Columns of words, and those carried along: the array `…_names`, and one of their cells as JSON, (columns, n) text."""

MAX_TEXT = 2**30
"""What an array of text may occupy: numpy gives every text the room of the longest."""


_MAX_MEMBERS = 1000


def read_arrays(path: Path, wanted: Collection[str], max_bytes: int) -> tuple[dict[str, npt.NDArray[Any]], list[str]]:
    """Some of the arrays of an .npz file.

    Parameters
    ----------
    wanted
        Names of the arrays to read, where they are there.
    max_bytes
        What they may take in memory together.

    Returns
    -------
    tuple[dict[str, npt.NDArray[Any]], list[str]]
        The arrays by name, and the names of all others.

    Raises
    ------
    UserError
        Not a ZIP archive, a damaged one, an array of Python objects, or more than fits; the array is named.
    """
    with parsing("the .npz file", "it is not a whole ZIP archive: copy it again, or save it with numpy.savez"):
        archive = open_zip(path)
    with archive:
        members = _members(archive)
        chosen = {name: info for name, info in members.items() if name in wanted}
        for name, info in chosen.items():
            with parsing(f"the array {name}"):
                _check_header(archive, name, info)
        check_unpacked_size(
            sum(info.file_size for info in chosen.values()),
            sum(info.compress_size for info in chosen.values()),
            max_bytes,
            "what this file holds",
        )
        arrays = {}
        for name, info in chosen.items():
            with parsing(f"the array {name}"), archive.open(info) as file:
                arrays[name] = npy.read_array(file, allow_pickle=False)
                if file.read(1):  # also makes zipfile compare the checksum
                    raise ValueError("there is more in it than its header says")
    return arrays, [name for name in members if name not in chosen]


def holds_arrays(folder: Path) -> bool:
    """Return whether this is a folder of the arrays of a data.npz."""
    return (folder / FEATURES).is_file()


FEATURES = "X.npy"
"""The file by which a folder of arrays is recognised, and which names it."""


def map_arrays(folder: Path, wanted: Collection[str], max_bytes: int) -> tuple[dict[str, npt.NDArray[Any]], list[str]]:
    """Map the arrays of a folder into memory, read-only: they are read where they are used.

    Parameters
    ----------
    wanted
        Names of the arrays, where they are there.
    max_bytes
        What features may take that cannot stay in their file.

    Returns
    -------
    tuple[dict[str, npt.NDArray[Any]], list[str]]
        The arrays by name, and the names of all other .npy files.

    Raises
    ------
    UserError
        a damaged file, or one of Python objects; features of another type than float32 that are too large.
    """
    files = {file.stem: file for file in sorted(folder.glob("*.npy"))}
    arrays: dict[str, npt.NDArray[Any]] = {}
    for name, file in files.items():
        if name not in wanted:
            continue
        with parsing(f"{file.name}", "save it again with numpy.save"), file.open("rb") as stream:
            shape, dtype, start = _header(stream)
        _check_array(name, shape, dtype, file.stat().st_size - start)
        small = not math.prod(shape) or not shape
        with parsing(f"{file.name}", "save it again with numpy.save"):
            arrays[name] = np.load(file, mmap_mode=None if small else "r", allow_pickle=False)
    X = arrays.get("X")
    if X is not None and not (X.dtype == np.float32 and X.flags.c_contiguous) and 4 * X.size > max_bytes:
        order = "" if X.flags.c_contiguous else ", by columns"
        raise UserError(
            f"{FEATURES} holds {X.dtype}{order}: it would take {readable(4 * X.size)} in memory (the limit is "
            f"{readable(max_bytes)}). As float32, row by row, it stays in the file: write it in pieces with "
            "numpy.lib.format.open_memmap(…, dtype='float32')."
        )
    return arrays, [name for name in files if name not in arrays]


def _members(archive: zipfile.ZipFile) -> dict[str, zipfile.ZipInfo]:
    infos = archive.infolist()
    if len(infos) > _MAX_MEMBERS:
        raise UserError(f"The file holds {len(infos):,} members; a dataset has a handful of arrays.")
    members: dict[str, zipfile.ZipInfo] = {}
    for info in infos:
        name = info.filename.removesuffix(".npy")
        if name in members:
            raise UserError(f"The file holds two arrays called {shorten(name)}; save it again with one.")
        members[name] = info
    return members


def _check_header(archive: zipfile.ZipFile, name: str, info: zipfile.ZipInfo) -> None:
    with archive.open(info) as file:
        shape, dtype, data_start = _header(file)
    _check_array(name, shape, dtype, info.file_size - data_start)


def _check_array(name: str, shape: tuple[int, ...], dtype: np.dtype[Any], size: int) -> None:
    """Refuse an array of Python objects, or one whose header does not fit the bytes that are there."""
    if dtype.hasobject:
        raise UserError(
            f"The array {name} holds Python objects, which are never loaded because they can run code. Save plain "
            f"numbers or text: np.savez(…, {name}=np.array(list({name}.tolist()))) once all rows have one length "
            "and one type."
        )
    if dtype.kind not in "biufcSU":
        raise UserError(f"The array {name} holds {kind_of(dtype)}; save plain numbers or text.")
    declared = math.prod(shape) * dtype.itemsize
    if dtype.itemsize == 0 or declared != size:
        raise UserError(
            f"The array {name} is damaged: its header says {shape} of {dtype}, {declared:,} bytes, but "
            f"{size:,} bytes are there. Save or copy the file again."
        )


def _header(file: IO[bytes]) -> tuple[tuple[int, ...], np.dtype[Any], int]:
    """Shape, dtype, and where the data begins."""
    version = npy.read_magic(file)
    readers = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
    if version not in readers:
        raise ValueError(f"version {version} of the .npy format holds records, not plain arrays")
    shape, _, dtype = readers[version](file)
    return shape, dtype, file.tell()


def to_arrays(dataset: PartialLabelDataset) -> dict[str, npt.NDArray[Any]]:
    """Plain arrays of everything there is.

    Raises
    ------
    UserError
        a text is so long that all together would take too much.
    """
    arrays: dict[str, npt.NDArray[Any]] = {}
    if dataset.texts is not None:
        arrays["texts"] = _text_array(dataset.texts.tolist(), "texts")
    if dataset.pictures is not None:
        arrays["picture_names"] = _text_array(dataset.pictures.names.tolist(), "names of pictures")
    for one, part in _COLUMNS.items():
        columns: Mapping[str, Column] = getattr(dataset, part)
        if columns:
            cells = [json.dumps(value, ensure_ascii=False) for values in columns.values() for value in values.tolist()]
            arrays[f"{one}_names"] = np.array(list(columns), dtype=np.str_)
            arrays[part] = _text_array(cells, part).reshape(len(columns), -1)
    annotations = dataset.annotations
    if annotations is not None:
        arrays |= {
            "answer_rows": annotations.rows,
            "answer_annotators": annotations.annotators,
            "answer_labels": annotations.labels,
        }
        arrays["annotator_names"] = np.array(annotations.annotator_names, dtype=np.str_)
        arrays["anonymous"] = np.array(annotations.anonymous)
        if annotations.scores is not None:
            arrays["answer_scores"] = annotations.scores
    return arrays


def from_arrays(arrays: Arrays, n: int, class_names: tuple[str, ...]) -> dict[str, Any]:
    """Keyword arguments of `PartialLabelDataset`.

    Raises
    ------
    UserError
        Arrays that do not fit together; the array is named.
    """
    fields: dict[str, Any] = {}
    if "texts" in arrays:
        fields["texts"] = as_column(_text_list(arrays, "texts", n))
    if "picture_names" in arrays:
        fields["pictures"] = Pictures(as_column(_text_list(arrays, "picture_names", n)))
    for one, part in _COLUMNS.items():
        if f"{one}_names" in arrays:
            with parsing(f"the array {part}", "save it as Candid does"):
                columns = zip(_text_list(arrays, f"{one}_names"), arrays[part].tolist(), strict=True)
                fields[part] = {name: as_column([json.loads(cell) for cell in cells]) for name, cells in columns}
    if "annotator_names" in arrays:
        with parsing("the arrays of answers", "save them as Candid does"):
            fields["annotations"] = Annotations(
                arrays["answer_rows"],
                arrays["answer_annotators"],
                arrays["answer_labels"],
                n,
                class_names,
                tuple(_text_list(arrays, "annotator_names")),
                anonymous=bool(arrays["anonymous"].ravel()[0]),
                scores=arrays.get("answer_scores"),
            )
    if "votes" in arrays:
        fields["annotations"] = _votes(arrays, n, class_names)
    return fields


def _votes(arrays: Arrays, n: int, class_names: tuple[str, ...]) -> Annotations:
    """The array `votes` (n, m) with `voters` (m,) and `vote_scores` (n, m)."""
    votes = arrays["votes"]
    if votes.ndim != 2 or len(votes) != n:
        raise UserError(f"The array votes has the shape {votes.shape}; it must be ({n}, voters), −1 for no answer.")
    voters = _text_list(arrays, "voters") if "voters" in arrays else ()
    scores = arrays.get("vote_scores")
    if scores is not None and scores.dtype.kind not in "iuf":
        raise UserError(f"The array vote_scores holds {kind_of(scores.dtype)}; save numbers, NaN where there is none.")
    return Annotations.from_votes(votes, class_names, voters, scores=scores)


def texts_in(dataset: PartialLabelDataset) -> list[str]:
    """Every text that an array of text would hold."""
    columns = [*dataset.categories, *dataset.extras, *(() if dataset.texts is None else dataset.texts)]
    columns += () if dataset.pictures is None else dataset.pictures.names.tolist()
    columns += [value for values in dataset.categories.values() for value in values if value is not None]
    return columns + list(() if dataset.annotations is None else dataset.annotations.annotator_names)


def _text_list(arrays: Arrays, name: str, length: int | None = None) -> list[str]:
    array = arrays[name]
    if array.ndim != 1 or array.dtype.kind != "U" or (length is not None and len(array) != length):
        wanted = "" if length is None else f" of {length}"
        raise UserError(
            f"The array {name} holds {kind_of(array.dtype)} in the shape {array.shape}; it must be a list{wanted} of "
            f"text: np.array({name}, dtype=str)."
        )
    return list(map(str, array.tolist()))


def _text_array(texts: Sequence[str], what: str) -> npt.NDArray[np.str_]:
    size = 4 * max(map(len, texts), default=0) * len(texts)
    if size > MAX_TEXT:
        raise UserError(
            f"The {what} would take {readable(size)} as an array, since each has the room of the longest; write "
            "parquet or jsonl."
        )
    return np.array(texts, dtype=np.str_)


KEYS = (
    *("X", "candidates", "indptr", "indices", "n_classes", "y", "class_names", "ids", "prior"),
    *("is_test", "split", "feature_names", "images", "kind"),
    *PART_KEYS,
)
"""Every array that means something in data.npz; others are left unread, with a note."""

ALIASES = {
    "X": ("x", "features", "data", "inputs", "embeddings"),
    "candidates": (
        *("candidate_labels", "candidate_sets", "partial_labels", "partial_label", "partial_targets", "partial_target"),
        *("partial_y", "y_partial", "y_p", "p_labels", "label_sets", "s"),
    ),
    "y": (
        *("y", "y_true", "true_labels", "true_label", "true_y", "truth", "ground_truth", "gt", "gold", "label"),
        *("labels", "target", "targets"),
    ),
    "class_names": ("classes", "label_names", "target_names"),
}
"""Other names of arrays, in any case, for files without the first; the earlier one counts."""

TRAIN, TEST = ("x_train", "y_train"), ("x_test", "y_test")
"""Arrays of files with a training and a test part, in any case."""


class Npz(Format):
    """data.npz, or a folder of its arrays as .npy files (memory-mapped)."""

    name = "npz"
    label = "NumPy arrays (.npz)"
    tool = "your arrays"
    adds = "Arrays with the labels and their confidence are added to your own."
    content = "binary"
    suffixes = (".npz",)
    row_note = "Rows are counted from 0, as in numpy."

    def sniff(self, path: Path, head: bytes) -> bool:
        if path.is_dir() or path.name == FEATURES:
            return holds_arrays(path if path.is_dir() else path.parent)
        return first_member(head).endswith(".npy")

    def read(self, path: Path, options: ReadOptions) -> PartialLabelDataset:
        folder = path.parent if path.name == FEATURES else path
        reader = map_arrays if folder.is_dir() else read_arrays
        arrays, others = reader(folder, KEYS, options.max_bytes)
        notes: list[str] = []
        if called := _aliases([*arrays, *others]):
            loaded, _ = reader(folder, list(called.values()), options.max_bytes)
            arrays |= _renamed(loaded, called, notes)
            others = [name for name in others if name not in loaded]
        if "X" not in arrays and arrays.get("votes", np.zeros(0)).ndim == 2:  # votes alone
            arrays["X"] = np.zeros((len(arrays["votes"]), 0), dtype=np.float32)
        if "X" not in arrays:
            there = listing([*arrays, *others]) or "nothing"
            raise UserError(f"The array X (the features) is missing; found {there}. Save it with np.savez(…, X=X).")
        others = [name for name in others if name not in results_among(others)]
        if others:
            notes.append(f"Arrays not used: {listing(others)}.")
        is_table = _kind(arrays) == "table"
        alone = not {*PART_KEYS, "candidates", "indptr", "y", "kind"} & set(arrays)  # `kind`: we wrote it
        X = _features(arrays["X"], notes, allow_missing=is_table, needed=alone)
        names = options.class_names or _texts(arrays, "class_names") or ()
        y, names = _labels(arrays, len(X), names)
        if not names:
            names = tuple(str(k) for k in range(_count_classes(arrays, y)))
        ids = _texts(arrays, "ids")
        sets = _candidates(arrays, len(X), names)
        fields = from_arrays(arrays, len(X), names)
        unanswered = None
        if sets is None and "votes" in arrays:
            sets, unanswered = _union(fields["annotations"])
        return PartialLabelDataset(
            X=X,
            candidates=sets,
            prior=_prior(arrays, sets),
            y=y,
            class_names=names,
            ids=None if ids is None else check_ids(ids, int),
            feature_names=_feature_names(arrays, X),
            images=_images(arrays),
            is_test=_split_marks(arrays),
            unanswered=unanswered,
            name=options.name or path.name,
            kind="image" if X.ndim == 4 else "table" if is_table else "array",
            notes=tuple(notes),
            **fields,
        )

    def cannot_hold(self, dataset: PartialLabelDataset) -> list[str]:
        texts = (*dataset.class_names, *dataset.feature_names, *dataset.row_ids.tolist(), *texts_in(dataset))
        cut = [name for name in texts if name.endswith("\0")]
        return [f"NUL characters at the end of a name: {listing(cut)}."] if cut else []

    def write(self, dataset: PartialLabelDataset, path: Path, results: Results | None = None) -> None:
        arrays: dict[str, Any] = {"X": dataset.X, "ids": dataset.row_ids, "kind": np.array(dataset.kind)}
        sets = dataset.candidates
        if sets is not None:
            arrays |= {"indptr": sets.indptr, "indices": sets.indices, "n_classes": np.array(sets.n_classes)}
        optional = {"y": dataset.y, "prior": dataset.prior, "is_test": dataset.is_test, "images": dataset.images}
        arrays |= {name: array for name, array in optional.items() if array is not None}
        texts = {"class_names": dataset.class_names, "feature_names": dataset.feature_names}
        arrays |= {name: np.array(text, dtype=np.str_) for name, text in texts.items() if text}
        arrays |= to_arrays(dataset)
        if results is not None:
            arrays |= _identified(dataset, results)
        with path.open("wb") as file:  # given a path, numpy may append a suffix of its own
            np.savez_compressed(file, allow_pickle=False, **arrays)

    def cannot_give_back(self, source: Path, results: Results, options: ReadOptions) -> list[str]:
        if source.is_dir():
            return ["The folder of arrays itself: its features, sets and ids become one data.npz."]
        return omitted_columns(results, results.without(_names(source)))

    def give_back(self, source: Path, path: Path, results: Results, options: ReadOptions) -> None:
        if source.is_dir():
            self.write(self.read(source, options), path, results)
            return
        dataset, names = self.read(source, options), _names(source)
        earlier, results = results_among(names), results.without(names)
        with zipfile.ZipFile(source) as original, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for info in original.infolist():
                if info.filename.removesuffix(".npy") not in earlier:
                    with original.open(info) as old, archive.open(_like(info), "w", force_zip64=True) as new:
                        shutil.copyfileobj(old, new)
            for name, array in _identified(dataset, results).items():
                with archive.open(f"{name}.npy", "w") as new:
                    np.lib.format.write_array(new, array, allow_pickle=False)


def _identified(dataset: PartialLabelDataset, results: Results) -> dict[str, npt.NDArray[Any]]:
    """The results as arrays of text, as long as the examples."""
    done = results.aligned(dataset.row_ids.tolist())
    return {name: np.array(cells, dtype=np.str_) for name, cells in done.items()}


def _names(path: Path) -> list[str]:
    with zipfile.ZipFile(path) as archive:
        return [name.removesuffix(".npy") for name in archive.namelist()]


def _like(info: zipfile.ZipInfo) -> zipfile.ZipInfo:
    """A member of the same name, date and packing."""
    new = zipfile.ZipInfo(info.filename, info.date_time)
    new.compress_type = info.compress_type
    return new


# ---- one array each ----------------------------------------------------------------------------------------------


def _features(
    array: npt.NDArray[Any], notes: list[str], *, allow_missing: bool, needed: bool
) -> npt.NDArray[np.float32]:
    if array.ndim not in (2, 3, 4):
        raise UserError(
            f"The array X has the shape {array.shape}; it must be (examples, features) or (examples, channels, "
            "height, width). One feature an example: X.reshape(-1, 1)."
        )
    if not len(array):
        raise UserError("The array X has no rows; there must be at least one example.")
    if not array[0].size and needed:
        raise UserError(f"The array X has the shape {array.shape}: no features. Every example needs at least one.")
    if array.ndim == 3:
        notes.append(f"X {array.shape} was read as images of one channel.")
        array = array[:, None]
    elif array.ndim == 4 and array.shape[3] in (1, 3) and array.shape[1] not in (1, 3):
        notes.append(
            f"X {array.shape} was read as {array.shape[1]} channels of {array.shape[2]} × {array.shape[3]} pixels; "
            "if the channels come last in the file, save X.transpose(0, 3, 1, 2)."
        )
    return as_features(array, "X", allow_missing=allow_missing)


def _aliases(names: Sequence[str]) -> dict[str, str]:
    """Return by our name of an array, or one of `TRAIN` and `TEST`, what the file calls it; without those it has."""
    by_name: dict[str, str] = {}
    for name in names:
        by_name.setdefault(name.lower(), name)
    aliases = {}
    has_sets = {"candidates", "indptr", "votes"} & set(names)
    for ours, others in ALIASES.items():
        if ours in names or (ours == "candidates" and has_sets):
            continue
        called = next((by_name[other] for other in others if other in by_name), None)
        if called is not None:
            aliases[ours] = called
    if "X" not in names and "X" not in aliases and TRAIN[0] in by_name:
        aliases |= {part: by_name[part] for part in (*TRAIN, *TEST) if part in by_name}
        aliases.pop("y", None)
    return aliases if {"X", TRAIN[0]} & {*aliases, *names} else {}


def _renamed(arrays: Arrays, called: Mapping[str, str], notes: list[str]) -> dict[str, npt.NDArray[Any]]:
    """Return arrays under our names; the two parts of the examples joined, and marked in `is_test`.

    Raises
    ------
    UserError
        The parts do not fit together.
    """
    renamed = {ours: arrays[theirs] for ours, theirs in called.items()}
    descriptions = {
        "X": "features",
        "candidates": "candidate sets",
        "y": "true labels",
        "class_names": "names of classes",
    }
    notes.extend(f"The array {called[ours]} holds the {what}." for ours, what in descriptions.items() if ours in called)
    if TRAIN[0] in renamed:
        splits = [(X, y) for X, y in (TRAIN, TEST) if X in renamed]
        features = [renamed.pop(X) for X, _ in splits]
        labels = {X: renamed.pop(y) for X, y in (TRAIN, TEST) if y in renamed}
        for (X, _), rows in zip(splits, features, strict=True):  # a part without labels: not known
            if labels and X not in labels and next(iter(labels.values())).dtype.kind in "iuf":
                labels[X] = np.full((len(rows), *next(iter(labels.values())).shape[1:]), UNKNOWN)
        by_part = [labels[X] for X, _ in splits if X in labels]
        for name, pieces in (("X", features), ("y", by_part)):
            if pieces and (len(pieces) < len(splits) or len({piece.shape[1:] for piece in pieces}) > 1):
                shapes = listing([str(piece.shape) for piece in pieces])
                raise UserError(
                    f"The {descriptions[name]} of the training and the test part do not fit together: {shapes}."
                )
            if pieces:
                renamed[name] = np.concatenate(pieces) if len(pieces) > 1 else pieces[0]
        if len(splits) > 1:
            renamed["is_test"] = np.repeat([False, True], [len(rows) for rows in features])
        notes.append(f"Features and labels come from {listing(list(called.values()))}.")
    y = renamed.get("y")
    if y is not None and y.ndim == 2 and 1 not in y.shape and "candidates" not in renamed and not _is_one_hot(y):
        renamed["candidates"] = renamed.pop("y")  # several labels a row
        notes[:] = [note.replace("true labels", "candidate sets") for note in notes]
    return renamed


def _is_one_hot(array: npt.NDArray[Any]) -> bool:
    """Return whether every row, or every column, has a single 1 and is 0 elsewhere; rows may be 0 (not known)."""
    if array.ndim != 2 or not array.size or array.dtype.kind not in "biuf" or not np.isin(array, (0, 1)).all():
        return False
    return bool((array.sum(axis=1) <= 1).all() or (array.sum(axis=0) <= 1).all())


def _labels(arrays: Arrays, n: int, names: tuple[str, ...]) -> tuple[npt.NDArray[np.int64] | None, tuple[str, ...]]:
    """Return (n,) classes, and their names: y may hold numbers, names, or be one-hot, (n, c) or (c, n)."""
    if "y" not in arrays:
        return None, names
    array = arrays["y"]
    if array.ndim == 2 and 1 in array.shape and n > 1:
        array = array.ravel()
    if _is_one_hot(array):
        rows = array if len(array) == n else array.T
        return np.where(rows.any(axis=1), rows.argmax(axis=1), UNKNOWN), names
    if array.ndim == 1 and array.dtype.kind in "US":
        words = _texts({"y": array}, "y") or ()
        if not names and not {"candidates", "indptr", "votes", "n_classes"} & set(arrays):
            names = tuple(sorted({*words} - {""}))
        if names:
            place = {name: k for k, name in enumerate(names)} | {"": UNKNOWN}
            unknown = next((row for row, word in enumerate(words) if word not in place), None)
            if unknown is not None:
                raise UserError(f"Row {unknown} of y is {shorten(words[unknown])}, which is not among class_names.")
            return np.array([place[word] for word in words], dtype=np.int64), names
    y = _whole_numbers(array, "y", "store class indices: names, y = np.unique(y, return_inverse=True)")
    wrong = np.flatnonzero(y < UNKNOWN)
    if len(wrong):
        raise UserError(
            f"Row {int(wrong[0])} of y is {int(y[wrong[0]])}; labels count from 0, or are {UNKNOWN} where the truth "
            "is not known."
        )
    return y, names


def _whole_numbers(array: npt.NDArray[Any], name: str, remedy: str) -> npt.NDArray[np.int64]:
    if array.ndim != 1:
        raise UserError(f"The array {name} has the shape {array.shape}; it must have one dimension ({name}.ravel()).")
    if array.dtype.kind == "f":
        broken = np.flatnonzero(~np.isfinite(array) | (array != np.floor(array)) | (np.abs(array) > 2**53))
        if len(broken):
            raise UserError(f"Row {int(broken[0])} of {name} is {array[broken[0]]}, not a whole number; {remedy}.")
    elif array.dtype.kind not in "iu":
        raise UserError(f"The array {name} holds {kind_of(array.dtype)}, not whole numbers; {remedy}.")
    elif array.dtype == np.uint64 and len(array) and array.max() > np.iinfo(np.int64).max:
        raise UserError(f"Row {int(array.argmax())} of {name} is {array.max()}, too large; {remedy}.")
    is_candidates = array.dtype == np.int32 and is_mapped(array)  # candidates stay as they are in their file
    return array if is_candidates else array.astype(np.int64, copy=not is_mapped(array))


def _count_classes(arrays: Arrays, y: npt.NDArray[np.int64] | None) -> int:
    """c where no names are given: `n_classes`, or the width of the mask, or one more than the largest label."""
    if "n_classes" in arrays:
        array = arrays["n_classes"]
        if array.size != 1 or array.dtype.kind not in "iu" or int(array.ravel()[0]) < 1:
            raise UserError("The array n_classes must be one whole number, at least 1.")
        count = int(array.ravel()[0])
    elif "candidates" in arrays:
        mask = arrays["candidates"]
        is_transposed = mask.ndim == 2 and len(mask) != len(arrays["X"]) and mask.shape[1] == len(arrays["X"])
        count = mask.shape[0 if is_transposed else -1] if mask.ndim else 0
    else:
        count = 0 if y is None else int(y.max(initial=UNKNOWN)) + 1
        indices = arrays.get("indices", np.zeros(0, dtype=np.int64))
        for labels in (indices, arrays.get("votes", np.zeros(0, dtype=np.int64))):
            if labels.dtype.kind in "iu" and labels.size:
                count = max(count, int(labels.max()) + 1)
    check_class_count(count, "this file")
    return count


def _candidates(arrays: Arrays, n: int, names: tuple[str, ...]) -> CandidateSets | None:
    present = [name for name in ("candidates", "indptr", "indices") if name in arrays]
    if not present:
        return None
    if present == ["candidates"]:
        return _from_mask(arrays["candidates"], n, names)
    if present == ["indptr", "indices"]:
        return _from_rows(arrays, n, names)
    raise UserError(
        f"Found {listing(present)}; candidate sets are given either as the mask candidates (n, c), or as indptr and "
        "indices together."
    )


def _union(votes: Annotations) -> tuple[CandidateSets, npt.NDArray[np.bool_] | None]:
    """The sets, and where nobody answered; None where everybody did."""
    silent: npt.NDArray[np.bool_] = votes.answers_per_row == 0
    if silent.all():
        raise UserError("The array votes is −1 throughout: nobody answered; give votes, or candidates.")
    resolved = resolve(votes, Rule("union"))
    if not resolved.can_be_filled:
        raise UserError(
            f"In {resolved.unannotated:,} rows of votes (first: {int(np.argmax(silent))}) nobody answered; for so many "
            "classes that is too much to hold. Leave these rows out, or give candidates."
        )
    return resolved.filled(), silent if silent.any() else None


def _prior(arrays: Arrays, sets: CandidateSets | None) -> Weights | None:
    """(nnz,) of the array `prior`, which may also be a matrix (n, c)."""
    if "prior" not in arrays:
        return None
    if sets is None:
        raise UserError("There is an array prior but no candidate sets; give candidates, or indptr and indices.")
    array = arrays["prior"]
    if array.dtype.kind not in "iuf":
        raise UserError(f"The array prior holds {kind_of(array.dtype)}; save numbers, one for each candidate.")
    if array.shape == sets.shape:
        array = on_candidates(array, sets)
    return checked_prior(array, sets)


def _from_mask(mask: npt.NDArray[Any], n: int, names: tuple[str, ...]) -> CandidateSets:
    if mask.dtype.kind not in "biuf":
        raise UserError(f"The array candidates holds {kind_of(mask.dtype)}; save a mask of True and False (n, c).")
    if mask.ndim == 2 and len(mask) != n and mask.shape[1] == n:
        mask = mask.T  # (classes, examples), as MATLAB files have it
    if mask.ndim == 2 and mask.shape[1] != len(names):
        raise UserError(
            f"The array candidates has {mask.shape[1]} columns for {len(names)} classes; give one per class."
        )
    return CandidateSets.from_mask(mask, names)


def _from_rows(arrays: Arrays, n: int, names: tuple[str, ...]) -> CandidateSets:
    remedy = "save both as integers, as in scipy.sparse.csr_array"
    indptr = _whole_numbers(arrays["indptr"], "indptr", remedy)
    indices = _whole_numbers(arrays["indices"], "indices", remedy)
    if len(indptr) != n + 1:
        raise UserError(f"The array indptr has {len(indptr)} entries for {n} examples; it must have {n + 1}.")
    # Before a cast to int32 could wrap it around.
    if len(indices) and (indices.min() < 0 or indices.max() >= len(names)):
        at = int(np.flatnonzero((indices < 0) | (indices >= len(names)))[0])
        row = int(np.searchsorted(indptr, at, side="right")) - 1
        raise UserError(
            f"Row {row}: entry {at} of indices is {int(indices[at])}; labels run from 0 to {len(names) - 1} "
            f"({len(names)} classes)."
        )
    return CandidateSets(indptr, indices.astype(np.int32, copy=False), len(names), names)


def _texts(arrays: Arrays, name: str) -> tuple[str, ...] | None:
    """An array of names; numbers are taken as their digits."""
    if name not in arrays:
        return None
    array = arrays[name]
    if array.ndim != 1 or array.dtype.kind not in "USiu":
        raise UserError(
            f"The array {name} holds {kind_of(array.dtype)} in the shape {array.shape}; it must be a list of text: "
            f"np.array({name}, dtype=str)."
        )
    try:
        texts = tuple(text.decode() if isinstance(text, bytes) else str(text) for text in array.tolist())
    except UnicodeDecodeError as error:
        raise UserError(f"The array {name} holds bytes that are not UTF-8 ({error.object[:20]!r}).") from None
    longest = max(texts, key=len, default="")
    if len(longest) > MAX_NAME and name != "ids":  # which have a limit of their own
        raise UserError(f"The array {name} holds a name of {len(longest):,} characters; at most {MAX_NAME:,}.")
    return texts


def _feature_names(arrays: Arrays, X: npt.NDArray[np.float32]) -> tuple[str, ...]:
    names = _texts(arrays, "feature_names") or ()
    if names and X.ndim == 2 and len(names) != X.shape[1]:
        raise UserError(
            f"The array feature_names has {len(names)} names for the {X.shape[1]} columns of X; give one each."
        )
    return names


def _kind(arrays: Arrays) -> str:
    return str(arrays["kind"].ravel()[0]) if "kind" in arrays and arrays["kind"].size else ""


def _images(arrays: Arrays) -> npt.NDArray[np.uint8] | None:
    if "images" not in arrays:
        return None
    images = arrays["images"]
    if images.dtype != np.uint8 or not (images.ndim == 3 or (images.ndim == 4 and images.shape[3] == 3)):
        raise UserError(
            f"The array images has the shape {images.shape} of {images.dtype}; it must be uint8, (n, height, width) or "
            "(n, height, width, 3)."
        )
    return images


def _split_marks(arrays: Arrays) -> npt.NDArray[np.bool_] | None:
    """`is_test`, or `split`, as True for the test part."""
    present = [name for name in ("is_test", "split") if name in arrays]
    if not present:
        return None
    if len(present) == 2:
        raise UserError("Found both is_test and split; save one of them.")
    array = arrays[present[0]]
    if array.ndim == 1 and array.dtype.kind == "U":
        wrong = np.flatnonzero((array != "train") & (array != "test"))
        marks = array == "test"
    elif array.ndim == 1 and array.dtype.kind in "biu":
        wrong = np.flatnonzero((array != 0) & (array != 1))
        marks = array == 1
    else:
        raise UserError(
            f"The array {present[0]} holds {kind_of(array.dtype)} in the shape {array.shape}; it must be True for a "
            "row of the test part and False for any other, one per row."
        )
    if len(wrong):
        raise UserError(
            f"Row {int(wrong[0])} of {present[0]} is {shorten(str(array[wrong[0]]))}; use True (test) or False (train)."
        )
    return np.asarray(marks, dtype=np.bool_)

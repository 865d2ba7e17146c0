"""Table of labels with the columns `COLUMNS`, and its files: CSV, Parquet, JSON Lines, label weights."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd
import scipy.sparse

from pll.candidates import CandidateSets
from pll.dataset import UNKNOWN
from pll.errors import UserError
from pll.formats.tabular.builder import join_column
from pll.io import write_atomically
from pll.weights import Weights, sharpness

COLUMNS = (
    *("id", "identified_label", "confidence", "margin", "entropy"),
    *("candidates", "source", "reviewer", "decided_at", "true_label"),
)
"""The columns of labels.csv, in their order. The order of rows is that of the examples."""

NUMBERS = ("confidence", "margin", "entropy")


@dataclass(frozen=True)
class Decision:
    """Decision of a reviewer about one example.

    Args:
        label: name of the label, not necessarily a candidate or a class of the data. None where none of the
            candidates is right and the right one is not known: the example then has no label.
        reviewer: name of the reviewer.
        decided_at: time of the decision.
    """

    label: str | None
    reviewer: str
    decided_at: datetime


Decisions = Mapping[int, Decision]
"""Row of the example → its decision. Examples without one keep the model's label."""


def labels_frame(
    candidates: CandidateSets,
    label_weights: Weights,
    ids: npt.ArrayLike,
    *,
    y: npt.NDArray[np.int64] | None = None,
    decisions: Decisions | None = None,
) -> pd.DataFrame:
    """Return a table with one row per example, in order, and the columns `COLUMNS`.

    Labels are class names. `identified_label` is the decision where there is one (`source` is then `human`); the
    numbers are the model's in every row. Reviewer and time of the model's rows, and unknown truths, are missing
    values.

    Args:
        candidates: n candidate sets.
        label_weights: (nnz,) float32, aligned with `candidates.indices`.
        ids: (n,) text.
        y: (n,) true labels, −1 where not known.
        decisions: by row.

    Raises:
        UserError: lengths that do not fit, a true label or a decided row that does not exist.

    >>> sets = CandidateSets.from_lists([[0, 1], [1]], n_classes=2, class_names=["cat", "dog"])
    >>> frame = labels_frame(sets, np.array([0.75, 0.25, 1.0], dtype=np.float32), ["a", "b"])
    >>> frame[["id", "identified_label", "confidence", "candidates", "source"]].values.tolist()
    [['a', 'cat', 0.75, 'cat|dog', 'model'], ['b', 'dog', 1.0, 'dog', 'model']]
    """
    names = np.array([*candidates.class_names, None], dtype=object)  # −1, unknown, indexes the last
    n = len(candidates)
    rows = np.asarray(ids, dtype=np.str_).astype(object)
    _check_fit(candidates, label_weights, len(rows), y)
    result = sharpness(label_weights, candidates)
    identified = names[result.identified]
    source = np.full(n, "model", dtype=object)
    reviewer, decided_at = np.full(n, None, dtype=object), np.full(n, None, dtype=object)
    for row, decision in (decisions or {}).items():
        if not 0 <= row < n:
            raise UserError(f"There is a decision for row {row}, but rows run from 0 to {n - 1}.")
        identified[row], source[row] = decision.label, "human"
        reviewer[row], decided_at[row] = decision.reviewer, decision.decided_at.isoformat()
    truth = np.full(n, None, dtype=object) if y is None else names[y]
    values = (
        *(_text(rows), _text(identified), result.confidence, result.margin, result.entropy),
        *(_text(_cells(candidates)), _text(source), _text(reviewer), _text(decided_at), _text(truth)),
    )
    return pd.DataFrame(dict(zip(COLUMNS, values, strict=True)))


def write_labels(frame: pd.DataFrame, path: Path) -> None:
    """Write labels.csv atomically: UTF-8, numbers with all their digits, missing values empty.

    Read it with `pandas.read_csv(path, dtype=str, keep_default_na=False)`: without these a label called `NA` is lost.
    """
    # As float64: a reader in double precision gets exactly the value of the float32.
    exact = frame.astype(dict.fromkeys(NUMBERS, np.float64))
    # The csv module does not quote a lone carriage return, and readers would see two rows.
    bare = any(frame[name].str.contains("\r", regex=False).any() for name in COLUMNS if name not in NUMBERS)

    def write(temporary: Path) -> None:
        quoting: Literal[0, 2] = csv.QUOTE_NONNUMERIC if bare else csv.QUOTE_MINIMAL
        exact.to_csv(temporary, index=False, encoding="utf-8", lineterminator="\n", quoting=quoting)

    write_atomically(path, write)


def write_parquet(frame: pd.DataFrame, candidates: CandidateSets, path: Path) -> None:
    """Write labels.parquet: the table with its types; `candidates` is a list of names, missing values are null."""
    import pyarrow as pa  # used here alone
    import pyarrow.parquet

    # pyarrow looks up the names, without a Python object for each candidate.
    flat = pa.array(candidates.class_names, pa.string()).take(pa.array(candidates.indices))
    lists = pa.LargeListArray.from_arrays(pa.array(candidates.indptr), flat)
    table = pa.Table.from_pandas(frame, preserve_index=False)
    at = COLUMNS.index("candidates")
    table = table.set_column(at, pa.field("candidates", lists.type), lists).replace_schema_metadata(None)
    write_atomically(path, lambda temporary: pyarrow.parquet.write_table(table, temporary))


def write_jsonl(frame: pd.DataFrame, candidates: CandidateSets, path: Path) -> None:
    """Write labels.jsonl: one object per line; `candidates` is a list of names, missing values are null."""
    columns: list[list[Any]] = [_objects(frame[name]) for name in COLUMNS]
    columns[COLUMNS.index("candidates")] = _name_lists(candidates)
    rows = zip(*columns, strict=True)
    encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode

    def write(temporary: Path) -> None:
        with temporary.open("w", encoding="utf-8", newline="\n") as stream:
            stream.writelines(encode(dict(zip(COLUMNS, row, strict=True))) + "\n" for row in rows)

    write_atomically(path, write)


def write_label_weights(candidates: CandidateSets, weights: Weights, ids: npt.ArrayLike, path: Path) -> None:
    """Write label_weights.npz: an (n, c) sparse matrix for `scipy.sparse.load_npz`, with class names and ids.

    Arrays: `data` (nnz,) float32, `indices`, `indptr`, `shape`, `format` (all as SciPy writes them), `class_names`
    (c,) and `ids` (n,), text. Every candidate is stored, also one whose weight is 0.
    """
    shape = (len(candidates), candidates.n_classes)
    matrix = scipy.sparse.csr_array((weights, candidates.indices, candidates.indptr), shape)
    arrays: dict[str, npt.NDArray[np.generic]] = {
        "format": np.array(b"csr"),
        "shape": np.array(shape),
        "data": matrix.data,
        "indices": matrix.indices,
        "indptr": matrix.indptr,
        "class_names": np.array(candidates.class_names, dtype=np.str_),
        "ids": np.asarray(ids, dtype=np.str_),
    }
    write_atomically(path, lambda temporary: np.savez_compressed(temporary, allow_pickle=False, **arrays))


def write_calibrated(
    ids: npt.ArrayLike,
    confidence: npt.NDArray[np.floating[Any]],
    calibrated: npt.NDArray[np.floating[Any]],
    path: Path,
) -> None:
    """Write confidence.csv atomically: id, confidence, calibrated_confidence, both of the model's own label."""
    columns = {"confidence": confidence, "calibrated_confidence": calibrated}
    exact = {name: np.asarray(values, dtype=np.float64) for name, values in columns.items()}
    table = pd.DataFrame({"id": np.asarray(ids, dtype=np.str_).astype(object), **exact})

    def write(temporary: Path) -> None:
        table.to_csv(temporary, index=False, encoding="utf-8", lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)

    write_atomically(path, write)


def _objects(column: pd.Series[Any]) -> list[Any]:
    return column.astype(object).where(column.notna(), None).tolist()


def _name_lists(candidates: CandidateSets) -> list[list[str]]:
    flat = np.array(candidates.class_names, dtype=object)[candidates.indices].tolist()
    bounds = candidates.indptr.tolist()
    return [flat[start:end] for start, end in pairwise(bounds)]


def _cells(candidates: CandidateSets) -> npt.NDArray[np.object_]:
    return np.array(join_column(_name_lists(candidates)), dtype=object)


def _text(values: npt.NDArray[np.object_]) -> pd.Series[Any]:
    try:
        return pd.Series(values, dtype="str")  # None is a missing value
    except UnicodeEncodeError as error:  # half a surrogate pair, as JSON can bring it
        raise UserError(f"{error.object!r} holds a character that no file can hold; rename it.") from error


def _check_fit(candidates: CandidateSets, weights: Weights, n_ids: int, y: npt.NDArray[np.int64] | None) -> None:
    n = len(candidates)
    if len(weights) != candidates.nnz:
        raise UserError(f"There are {candidates.nnz} candidates but {len(weights)} label weights; give one for each.")
    if n_ids != n:
        raise UserError(f"There are {n} candidate sets but {n_ids} ids; give one per set.")
    if y is None:
        return
    if len(y) != n:
        raise UserError(f"There are {n} candidate sets but {len(y)} true labels; give one per set.")
    outside = np.flatnonzero((y < UNKNOWN) | (y >= candidates.n_classes))
    if len(outside):
        row = int(outside[0])
        raise UserError(
            f"Row {row}: the true label {int(y[row])} is unknown; labels run from 0 to {candidates.n_classes - 1}, "
            f"or {UNKNOWN} where the truth is not known."
        )

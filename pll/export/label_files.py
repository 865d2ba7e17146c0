"""Of a run's labels what labels.csv has not: the label weights, and what a review added."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd

from pll.candidates import CandidateSets
from pll.formats.label_frame import Decisions, candidate_cells
from pll.io import write_atomically
from pll.review.label_snapshot import LabelSnapshot
from pll.weights import sparse

ADDED_COLUMNS = ("id", "candidates", "added_label", "reviewer", "decided_at")


def added_labels(candidates: CandidateSets, ids: npt.ArrayLike, decisions: Decisions) -> pd.DataFrame:
    """Return the decisions for a label outside the candidate set (`ADDED_COLUMNS`), in the order of the rows.

    Parameters
    ----------
    candidates
        n candidate sets, as the reviewers saw them.
    ids
        (n,) text.
    decisions
        By row.

    Examples
    --------
    >>> from datetime import datetime
    >>> from pll.formats.label_frame import Decision
    >>> sets = CandidateSets.from_lists([[0, 1], [1]], n_classes=2, class_names=["cat", "dog"])
    >>> made = {row: Decision(label, "Ada", datetime(2026, 1, 2)) for row, label in [(0, "dog"), (1, "fox")]}
    >>> added_labels(sets, ["a", "b"], made).values.tolist()
    [['b', 'dog', 'fox', 'Ada', '2026-01-02T00:00:00']]
    """
    place = {name: k for k, name in enumerate(candidates.class_names)}
    rows = [
        row
        for row, made in sorted(decisions.items())
        if made.label is not None and place.get(made.label, -1) not in candidates[row]
    ]
    names = np.asarray(ids, dtype=np.str_)
    made = [decisions[row] for row in rows]
    values = (
        [str(names[row]) for row in rows],
        candidate_cells(candidates.take(np.array(rows, dtype=np.int64))).tolist(),
        [one.label for one in made],
        [one.reviewer for one in made],
        [one.decided_at.isoformat() for one in made],
    )
    return pd.DataFrame(dict(zip(ADDED_COLUMNS, values, strict=True)), dtype="str")


def write_label_weights(labels: LabelSnapshot, path: Path) -> None:
    """Write label_weights.npz: an (n, c) sparse matrix for `scipy.sparse.load_npz`, with class names and ids.

    Arrays: `data` (nnz,) float32, `indices`, `indptr`, `shape`, `format` (all as SciPy writes them), `class_names`
    (c,) and `ids` (n,), text. Every candidate is stored, also one whose weight is 0.

    Parameters
    ----------
    labels
        Of n examples.
    path
        The file.
    """
    matrix = sparse(labels.weights, labels.candidates)
    arrays: dict[str, npt.NDArray[np.generic]] = {
        "format": np.array(b"csr"),
        "shape": np.array(matrix.shape),
        "data": matrix.data,
        "indices": matrix.indices,
        "indptr": matrix.indptr,
        "class_names": np.array(labels.candidates.class_names, dtype=np.str_),
        "ids": labels.ids,
    }
    write_atomically(path, lambda temporary: np.savez_compressed(temporary, allow_pickle=False, **arrays))

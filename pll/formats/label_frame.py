"""The rows of labels.csv: its columns are named here, once, and its cells are made here.

`pll.runs.labels_table` writes the file; `pll.formats` the same columns into the file that the examples came from.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from pll.candidates import CandidateSets
from pll.errors import RowError, UserError
from pll.formats.tabular.cells import join_column
from pll.weights import Weights, taken_home

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class LabelColumn:
    """A column of labels.csv.

    Attributes
    ----------
    kind
        Of its cells: text, a share in [0, 1], a whole number.
    is_result
        Whether it holds a result: written with the data, not read back.
    is_reserved
        Whether a column of this name that a person brings is kept, and never learnt from.
    needs_set
        Whether it is blank where an example has no candidate set of its own.
    settled
        A number of an example that a person gave a label.
    """

    kind: Literal["text", "share", "whole"] = "text"
    is_result: bool = True
    is_reserved: bool = False
    needs_set: bool = False
    settled: float | None = None


LABELS_CSV = {
    "id": LabelColumn(is_result=False),
    "identified_label": LabelColumn(is_reserved=True),
    "confidence": LabelColumn("share", is_reserved=True, settled=1.0),
    "margin": LabelColumn("share", is_reserved=True, settled=1.0),
    "entropy": LabelColumn("share", is_reserved=True, settled=0.0),
    "candidates": LabelColumn(is_result=False, needs_set=True),
    "source": LabelColumn(is_reserved=True),
    "reviewer": LabelColumn(is_reserved=True),
    "decided_at": LabelColumn(is_reserved=True),
    "true_label": LabelColumn(is_result=False),
}
"""The columns of labels.csv, in their order; a new one is a line here and its values in `labels_frame`. The order of
rows is that of the examples."""
NUMBERS = tuple(name for name, one in LABELS_CSV.items() if one.kind != "text")
"""Those that hold numbers; shares are of the held-out weights."""
TIE = "tie"
"""`source` of a label of votes alone that another one equals in support."""
RESULT_COLUMNS = tuple(name for name, one in LABELS_CSV.items() if one.is_result)
"""Those that hold results."""
RESERVED_COLUMNS = tuple(name for name, one in LABELS_CSV.items() if one.is_reserved)
"""Names of results that no feature can have."""


def labels_csv_value(name: str, cell: str) -> str | float:
    """Return the value of a cell that is not empty: a number in a column of numbers.

    Parameters
    ----------
    name
        Of the column.
    cell
        Its text.

    Examples
    --------
    >>> labels_csv_value("confidence", "0.75"), labels_csv_value("source", "model")
    (0.75, 'model')
    """
    kinds: dict[str, Callable[[str], str | float]] = {"share": float, "whole": int}
    kind = kinds.get(LABELS_CSV[name].kind) if name in LABELS_CSV else None
    return cell if kind is None else kind(cell)


@dataclass(frozen=True)
class Decision:
    """Decision of a reviewer about one example.

    Parameters
    ----------
    label
        Name of the label, not necessarily a candidate or a class of the data. None where none of the candidates is
        right and the right one is not known: the example then has no label.
    reviewer
        Name of the reviewer.
    decided_at
        Time of the decision.
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
    held_out: Weights | None = None,
    y: npt.NDArray[np.int64] | None = None,
    decisions: Decisions | None = None,
    source: str = "model",
    votes_alone: bool = False,
    tied_votes: npt.NDArray[np.bool_] | None = None,
    has_set: npt.NDArray[np.bool_] | None = None,
    given: CandidateSets | None = None,
) -> pd.DataFrame:
    """Return a table with one row per example, in order, and the columns `LABELS_CSV`.

    Labels are class names. `identified_label` is the decision where there is one (`source` is then `human`), with the
    confidence 1; where people refused all candidates, label and numbers are missing values. So is what is not known:
    how sure a label is, reviewer and time of the model's rows, true labels. Every file of labels is made from this
    table, so that this holds in all.

    Parameters
    ----------
    candidates
        n candidate sets.
    label_weights
        (nnz,) float32, aligned with `candidates.indices`.
    ids
        (n,) text.
    held_out
        (nnz,) held-out weights, which the numbers are of; NaN, or None, where they are not known.
    y
        (n,) true labels, −1 where not known.
    decisions
        By row.
    source
        Of the undecided labels: `"model"`, or `"predicted"` for rows that were not learnt from.
    votes_alone
        Whether the labels come from votes and nothing else. Where two labels then have the same support, `source` is
        `"tie"`: which of them the label is says nothing.
    tied_votes
        As for `taken_home`.
    has_set
        (n,) whether an example has a candidate set of its own; None where all have one.
    given
        The candidate sets of the data, for the column of candidates, where labels joined `candidates`.

    Raises
    ------
    UserError
        A decided row that does not exist, a name that no file can hold.

    Examples
    --------
    >>> sets = CandidateSets.from_lists([[0, 1], [1]], n_classes=2, class_names=["cat", "dog"])
    >>> weights, held_out = np.array([[0.99, 0.01, 1.0], [0.75, 0.25, 1.0]], dtype=np.float32)
    >>> frame = labels_frame(sets, weights, ["a", "b"], held_out=held_out)
    >>> frame[["id", "identified_label", "confidence", "candidates", "source"]].values.tolist()
    [['a', 'cat', 0.75, 'cat|dog', 'model'], ['b', 'dog', 1.0, 'dog', 'model']]
    """
    import pandas as pd  # half a second that the home page need not wait for

    names = np.array([*candidates.class_names, None], dtype=object)  # −1, unknown, indexes the last
    n = len(candidates)
    rows = np.asarray(ids, dtype=np.str_).astype(object)
    result = taken_home(label_weights, held_out, candidates, tied_votes)
    identified = names[result.identified]
    numbers = {"confidence": result.confidence.copy(), "margin": result.margin.copy(), "entropy": result.entropy.copy()}
    sources = np.full(n, source, dtype=object)
    if votes_alone:
        sources[result.is_tied] = TIE
    reviewer, decided_at = np.full(n, None, dtype=object), np.full(n, None, dtype=object)
    for row, decision in (decisions or {}).items():
        if not 0 <= row < n:
            raise RowError(f"There is a decision for row {row}, but rows run from 0 to {n - 1}.")
        identified[row], sources[row] = decision.label, "human"
        for name, column in numbers.items():
            column[row] = LABELS_CSV[name].settled if decision.label is not None else np.nan
        reviewer[row], decided_at[row] = decision.reviewer, decision.decided_at.isoformat()
    truth = np.full(n, None, dtype=object) if y is None else names[y]
    values = numbers | {
        "id": rows,
        "identified_label": identified,
        "candidates": candidate_cells(given or candidates),
        "source": sources,
        "reviewer": reviewer,
        "decided_at": decided_at,
        "true_label": truth,
    }
    frame = pd.DataFrame({name: _series(values[name], one.kind) for name, one in LABELS_CSV.items()})
    if has_set is not None:
        for name, one in LABELS_CSV.items():
            if one.needs_set:
                frame.loc[~has_set, name] = "" if one.kind == "text" else None
    return frame


def name_lists(candidates: CandidateSets) -> list[list[str]]:
    """Return the names of each example's candidates."""
    flat = np.array(candidates.class_names, dtype=object)[candidates.indices].tolist()
    bounds = candidates.indptr.tolist()
    return [flat[start:end] for start, end in pairwise(bounds)]


def candidate_cells(candidates: CandidateSets) -> npt.NDArray[np.object_]:
    """Return (n,) the cells of the column of candidates."""
    return np.array(join_column(name_lists(candidates)), dtype=object)


def _series(values: npt.NDArray[Any], kind: str) -> pd.Series[Any]:
    import pandas as pd

    if kind == "whole":
        return pd.Series(values, dtype="Int64")  # they stay whole beside missing ones
    if kind == "share":
        return pd.Series(values)
    try:
        return pd.Series(values, dtype="str")  # None is a missing value
    except UnicodeEncodeError as error:  # half a surrogate pair, as JSON can bring it
        raise UserError(f"{error.object!r} holds a character that no file can hold; rename it.") from error

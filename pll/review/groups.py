"""Groups of a promise about all labels: its classes, or the values of a column such as a source."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pll.dataset import PartialLabelDataset
from pll.errors import UserError
from pll.io import Column
from pll.review.label_snapshot import LabelSnapshot

CLASS = "identified_label"
"""The column of the labels themselves: a promise for each class. Called as in labels.csv and by `plan --by`."""
MOST_GROUPS = 50
"""Different values of a column that is offered."""


def group_columns(data: PartialLabelDataset) -> dict[str, int]:
    """Columns whose values may have a promise each, and how many values each has.

    >>> data = PartialLabelDataset(np.zeros((4, 1)), extras={"source": ["web", "lab", "web", "lab"], "note": [*"abcd"]})
    >>> group_columns(data)
    {'source': 2}
    """
    found = {}
    for name, values in _columns(data).items():
        named = set(_as_text(values).tolist())
        if 2 <= len(named) <= min(MOST_GROUPS, len(data) // 2):
            found[name] = len(named)
    return found


def groups_of(
    by: str | None, snapshot: LabelSnapshot, data: PartialLabelDataset | None = None
) -> npt.NDArray[np.str_] | None:
    """(n,) the group of each label; None where the promise is one about all of them.

    Args:
        by: `CLASS`, the name of a column, or None.
        data: the examples of the snapshot; needed for a column.

    Raises:
        UserError: there is no such column.
    """
    if by is None:
        return None
    if by == CLASS:
        return np.asarray(snapshot.labels, dtype=np.str_)
    columns = {} if data is None else _columns(data)
    if by not in columns:
        raise UserError(f"The promise is about each value of the column {by!r}, but the data has no such column now.")
    return _as_text(columns[by])


def _columns(data: PartialLabelDataset) -> dict[str, Column]:
    return {**data.categories, **data.extras}


def _as_text(values: Column) -> npt.NDArray[np.str_]:
    """Values as text; a missing one is ""."""
    return np.array(["" if value is None or value != value else str(value) for value in values], dtype=np.str_)

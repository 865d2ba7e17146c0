"""Heatmap component of label weights: one row per example, one column per class.

Classes that are no candidate of an example are left blank. Rows are sorted from sharp to flat at every epoch, or by
label.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt

from pll.candidates import CandidateSets
from pll.ui.components.canvas import Presentation, canvas_component, format_shown, legend, raw
from pll.ui.components.component import Payload
from pll.weights import Sharpness, Weights, sharpness
from pll.wording import percent

MOST_HEATMAP_ROWS = 300
"""Beyond these a cell is too small to be seen; the page always says how many of how many are shown."""

SHORT_IN_HEATMAP = 18
"""Characters of a class's name above its column."""

HEATMAP = canvas_component("heatmap")
By = Literal["confidence", "label"]


def heatmap_order(
    sharp: Sharpness,
    rows: npt.NDArray[np.int64] | None = None,
    *,
    by: By = "confidence",
    selected: int | None = None,
) -> npt.NDArray[np.int64]:
    """Return the rows to show, from sharp to flat; of more than `MOST_HEATMAP_ROWS` those at evenly spaced quantiles.

    So the share of rows above a confidence is the share of examples above it, within one row. With `by="label"` the
    same rows are in blocks of their identified labels, sharp to flat within each. The selected row takes the place of
    the one at the nearest quantile.

    Parameters
    ----------
    sharp
        Of the label weights of all n examples.
    rows
        (m,) those that may be shown; None for all.
    by
        From sharp to flat, or in blocks of labels.
    selected
        A row that is shown in any case, if it is one of them; None for none.

    Examples
    --------
    >>> sets = CandidateSets.from_lists([[0, 1], [1, 2], [0]], n_classes=3)
    >>> heatmap_order(sharpness(np.array([0.4, 0.6, 0.1, 0.9, 1.0], dtype=np.float32), sets)).tolist()
    [2, 1, 0]
    """
    rows = np.arange(len(sharp.top)) if rows is None else rows
    order = rows[_falling(sharp.top[rows])]
    if len(order) > MOST_HEATMAP_ROWS:
        ranks = ((np.arange(MOST_HEATMAP_ROWS) + 0.5) * len(order) / MOST_HEATMAP_ROWS).astype(np.int64)
        for rank in np.flatnonzero(order == selected):
            ranks[np.abs(ranks - rank).argmin()] = rank
        order = order[ranks]
    if by == "label":
        order = order[np.argsort(sharp.identified[order], kind="stable")]
    return order


def _falling(confidence: npt.NDArray[np.float32]) -> npt.NDArray[np.int64]:
    """(n,) rows from the largest to the smallest, equal ones in their order: a stable argsort, in a third of its time.

    The bits of floats that are not negative rise as the floats do; with the row behind them they sort as one number.
    """
    rows = np.arange(len(confidence), dtype=np.uint64)
    both = (~confidence.view(np.uint32)).astype(np.uint64) << np.uint64(32) | rows
    both.sort()
    return (both & np.uint64(0xFFFFFFFF)).astype(np.int64)


def heatmap_cells(
    weights: Weights,
    candidates: CandidateSets,
    rows: npt.NDArray[np.int64],
    columns: npt.NDArray[np.int64],
) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.uint8]]:
    """Which cells there are, and their weights.

    The (m, k) mask is True where the column's class is a candidate of the row; the values are one uint8 for each of
    these in row-major order, 0 … 255 for weights 0 … 1.

    Parameters
    ----------
    weights
        (nnz,) label weights.
    candidates
        The n candidate sets.
    rows
        (m,) examples.
    columns
        (k,) classes.

    Examples
    --------
    >>> sets = CandidateSets.from_lists([[0, 1]], n_classes=3)
    >>> mask, values = heatmap_cells(np.array([0.0, 1.0], dtype=np.float32), sets, np.array([0]), np.arange(3))
    >>> mask.tolist(), values.tolist()
    ([[True, True, False]], [0, 255])
    """
    at = candidates.positions(rows)
    column_of = np.full(candidates.n_classes, -1, dtype=np.int64)
    column_of[columns] = np.arange(len(columns))
    column = column_of[candidates.indices[at]]
    row = np.repeat(np.arange(len(rows)), candidates.sizes[rows])
    is_column = column >= 0
    mask = np.zeros((len(rows), len(columns)), dtype=np.bool_)
    mask[row[is_column], column[is_column]] = True
    return mask, np.rint(weights[at][is_column] * 255).astype(np.uint8)  # CandidateSets is in row-major order already


def heatmap_payload(
    weights: Weights,
    candidates: CandidateSets,
    presentation: Presentation,
    *,
    by: By = "confidence",
    sharp: Sharpness | None = None,
    classes: Sequence[int] | None = None,
) -> Payload:
    """What `mount(HEATMAP, …)` shows: a bit a cell, a byte a candidate, two or four a row; and words.

    Parameters
    ----------
    weights
        (nnz,) float32 label weights at the viewed epoch.
    candidates
        The n candidate sets the weights belong to.
    presentation
        By row numbers.
    by
        From sharp to flat, or in blocks of labels.
    sharp
        Of the weights, where it is computed already.
    classes
        The columns; the examples whose identified label is another one are left out. None for all.
    """
    columns = np.arange(candidates.n_classes) if classes is None else np.array(sorted(classes), dtype=np.int64)
    sharp = sharpness(weights, candidates) if sharp is None else sharp
    rows = None if classes is None else np.flatnonzero(np.isin(sharp.identified, columns))
    order = heatmap_order(sharp, rows, by=by, selected=presentation.selected)
    wide = np.uint16 if order.max(initial=0) < 2**16 else np.uint32
    mask, values = heatmap_cells(weights, candidates, order, columns)
    note = format_shown(len(order), len(candidates), len(columns), candidates.n_classes)
    return presentation.payload(order) | {
        "note": note,
        "description": _description(presentation.when, note, sharp.top[order]),
        "first": "sharp" if by == "confidence" else "",
        "last": "flat" if by == "confidence" else "",
        **legend(candidates.class_names, columns, SHORT_IN_HEATMAP),
        "mask": raw(np.packbits(mask)),
        "values": raw(values),
        "examples": raw(order.astype(wide)),
        "exampleSize": np.dtype(wide).itemsize,
    }


def _description(when: str, note: str, confidence: npt.NDArray[np.float32]) -> str:
    """Return the text alternative of the picture."""
    levels = ", ".join(
        f"{int((confidence >= level).sum()):,} at least {percent(level, 0)}" for level in (0.9, 0.7, 0.5)
    )
    return (
        f"Heatmap of label weights{', ' + when if when else ''}: {note}; a row an example, a column a class, blank "
        f"where the class is no candidate. Largest weight of a row: {levels}."
    )

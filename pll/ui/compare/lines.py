"""Colours of lanes, and charts and tables of their metrics over the epochs."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import pandas as pd
import plotly.graph_objects as go

from pll.colors import LANE_COLOURS, LANE_DASHES
from pll.runs.snapshots import Snapshot
from pll.training.metrics import ABOUT
from pll.ui import charts
from pll.ui.train.pictures import labels_of
from pll.ui.view_state import Scene

STROKES = {"solid": "", "dash": "7 4", "dashdot": "8 3 2 3", "longdash": "12 4", "dot": "3 3"}
"""Dashes of `LANE_DASHES`: pixels drawn, and left out."""
PICTURES = 20
"""Pictures of a chart while lanes train."""


def quantities(lanes: Sequence[Scene]) -> list[str]:
    """What there is to compare: against the truth where it is known, else how sure and how settled the lanes are."""
    first = next((lane.snapshot.rows[-1] for lane in lanes if lane.snapshot.rows), {})
    if first.get("transductive_accuracy") is None and any(lane.y_true is None for lane in lanes):
        return ["mean_confidence", "mean_entropy", "changed_labels"]
    tested = any(lane.splits.test is not None for lane in lanes)
    return ["transductive_accuracy", "test_accuracy" if tested else "mean_entropy", "mean_confidence"]


def chart(
    lanes: Sequence[Scene], quantity: str, snapshot: Snapshot, viewed: int | None
) -> tuple[go.Figure, pd.DataFrame]:
    """One quantity of all lanes, with the epoch in view marked where it is not the latest one.

    While they train there is a new picture only now and then, since each takes the browser 0.1 s.

    Parameters
    ----------
    lanes
        What is to be seen of each lane.
    quantity
        A key of `ABOUT`, such as `test_accuracy`.
    snapshot
        Where the comparison stands.
    viewed
        The epoch in view; None where the latest is followed.
    """
    every = max(1, (snapshot.total or 1) // PICTURES) if snapshot.state == "running" else 1
    until = max(lane.snapshot.epoch for lane in lanes) // every * every
    curves = []
    for lane in lanes:
        line = {"color": LANE_COLOURS[lane.place], "dash": LANE_DASHES[lane.place], "width": 2.5}
        curves.append(charts.line_of(quantity, lane.snapshot.rows[:until], line, lane.title))
    about, total = ABOUT[quantity], snapshot.total
    figure = charts.over_epochs(about.title, about.unit, curves, total=total, viewed=viewed, height=330)
    return figure, table(lanes, [quantity])


def table(lanes: Sequence[Scene], quantities: Sequence[str]) -> pd.DataFrame:
    """Every epoch of every lane: lane, epoch and the quantities, as metrics.csv has them.

    Parameters
    ----------
    lanes
        What is to be seen of each lane.
    quantities
        Keys of `ABOUT`, a column each.
    """
    rows = [
        {"lane": lane.title, "epoch": row["epoch"]} | {name: row[name] for name in quantities}
        for lane in lanes
        for row in lane.snapshot.rows
    ]
    return pd.DataFrame(rows, columns=["lane", "epoch", *quantities])


def labels(lanes: Sequence[Scene]) -> pd.DataFrame:
    """What the star plots show, of every example: lane, epoch, and the columns of labels.csv."""
    tables = {(lane.title, lane.frame.epoch): labels_of(lane) for lane in lanes}
    return pd.concat(tables, names=["lane", "epoch"]).reset_index(level=["lane", "epoch"]).reset_index(drop=True)


def swatch(lane: int, title: str) -> str:
    """A piece of the lane's line and its title, as HTML.

    Parameters
    ----------
    lane
        Its number, from 0: it has a colour and a dash of its own.
    title
        Shown literally.

    Examples
    --------
    >>> "&lt;b&gt;" in swatch(0, "<b>")
    True
    """
    return (
        '<div style="display:flex;align-items:center;gap:8px;white-space:nowrap;overflow:hidden">'
        f'<span aria-hidden="true" style="flex:none;width:34px;height:3px;background:{_pattern(lane)}"></span>'
        f'<span style="font-weight:600;overflow:hidden;text-overflow:ellipsis" title="{escape(title)}">'
        f"{escape(title)}</span></div>"
    )


def _pattern(lane: int) -> str:
    """The line as a background of CSS."""
    lengths = [int(length) for length in STROKES[LANE_DASHES[lane]].split()]
    if not lengths:
        return LANE_COLOURS[lane]
    stops, at = [], 0
    for number, length in enumerate(lengths):
        colour = "transparent" if number % 2 else LANE_COLOURS[lane]
        stops.append(f"{colour} {at}px {at + length}px")
        at += length
    return f"repeating-linear-gradient(90deg, {', '.join(stops)})"

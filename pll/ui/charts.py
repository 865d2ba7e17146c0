"""Plotly charts with title, units, a table of their numbers and downloads."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from pll.colors import ACCENT
from pll.training.metrics import ABOUT
from pll.ui.components.canvas import HERE
from pll.ui.components.component import register
from pll.ui.widgets import download, popover
from pll.wording import short_names

CHART_HEIGHT = 320
"""Pixels of a chart."""
MOST_LABELLED = 40
"""Classes whose names stand beside a matrix."""
MOST_DRAWN = 200
"""Classes of a matrix: a picture of more shows nothing."""
MATRIX_ROW, MATRIX_NAMES = 14, 170
"""Pixels of a row of a matrix, and of title, names and axis."""
MOST_LINE_POINTS = 400
"""Points of a line: about one every two pixels, and an update of a long run stays small."""
MOST_TABLE_ROWS = 1000
"""Rows of a table beside a chart."""
SAVE_BUTTONS = """
<div class="saving">
  <button type="button" data-kind="png">Picture as PNG</button>
  <button type="button" data-kind="svg">Picture as SVG</button>
</div>
"""
"""Plotly's own toolbar can offer one of them only."""
_save_buttons = register(HERE / "saving", SAVE_BUTTONS)
QUIET = "#7a8794"
"""Grey for reference lines, visible on light and dark backgrounds."""


def show(figure: go.Figure, table: pd.DataFrame, key: str, alt: str) -> None:
    """Show a chart; a button opens its numbers and downloads (PNG, SVG, CSV).

    Parameters
    ----------
    figure
        The chart.
    table
        Its numbers.
    key
        Of the widget.
    alt
        What is to be seen, for those who do not see it.
    """
    _disarm(figure)
    st.plotly_chart(figure, key=key, alt=alt, config={"displayModeBar": False})  # it would cover the title
    popover("Numbers and picture", _numbers, table, key, alt, key=f"{key}-numbers", icon="table")


def _numbers(table: pd.DataFrame, key: str, alt: str) -> None:
    filled = table.tail(MOST_TABLE_ROWS).dropna(axis="columns", how="all")  # the file has the empty ones too
    st.dataframe(filled, hide_index=True, key=f"{key}-table", alt=alt)
    if len(table) > MOST_TABLE_ROWS:
        st.caption(f"The last {MOST_TABLE_ROWS:,} of {len(table):,} rows; the file has them all.")
    csv_button(lambda: table, f"candid-{key}.csv", key=f"{key}-csv")
    _save_buttons(key=f"{key}-picture", data={"chart": key, "name": f"candid-{key}"})


def _disarm(figure: go.Figure) -> None:
    """Show names literally in which Plotly would see a link or other HTML."""
    for trace in figure.data:
        for part in ("name", "text", "x", "y", "customdata"):
            values = getattr(trace, part, None)
            if isinstance(values, str):
                trace[part] = _literal(values)
            elif values is not None and np.asarray(values).dtype.kind in "OU":
                trace[part] = np.vectorize(_literal, otypes=[object])(np.asarray(values, dtype=object))
    for axis in (*figure.select_xaxes(), *figure.select_yaxes()):
        if axis.ticktext is not None:
            axis.ticktext = [_literal(text) for text in axis.ticktext]


def _literal(value: Any) -> Any:
    return value.replace("<", "&lt;") if isinstance(value, str) else value


def thinned(n: int, most: int = MOST_LINE_POINTS) -> npt.NDArray[np.int64]:
    """(≤ most,) of n places, evenly spaced, the first and the last among them: what a line of n points needs.

    Parameters
    ----------
    n
        Places there are.
    most
        Places that are wanted.

    Examples
    --------
    >>> thinned(3).tolist(), thinned(9, most=3).tolist()
    ([0, 1, 2], [0, 4, 8])
    """
    return np.unique(np.linspace(0, max(n - 1, 0), min(n, most)).round().astype(np.int64))


def csv_button(table: Callable[[], pd.DataFrame], file_name: str, *, key: str, label: str = "Download as CSV") -> None:
    """Show a button that computes and downloads a table as CSV when pressed.

    Parameters
    ----------
    table
        Makes the table when the button is pressed.
    file_name
        Of the download.
    key
        Of the widget.
    label
        What stands on it.
    """
    download(label, lambda: table().to_csv(index=False), file_name, key=key, kind="tertiary")


@dataclass(frozen=True)
class ChartLine:
    """A metric over the epochs in which it is known."""

    metric: str  # a key of `ABOUT`
    rows: Sequence[Mapping[str, Any]]  # lines of metrics.csv
    line: Mapping[str, Any]  # colour, dash and width, as Plotly names them
    title: str = ""  # that of the metric where none is given


def over_epochs(
    title: str,
    unit: str,
    curves: Iterable[ChartLine],
    *,
    total: int | None,
    viewed: int | None,
    height: int = CHART_HEIGHT,
) -> go.Figure:
    """Curves over the full length of a run, where that is known, with a mark at the epoch in view.

    Parameters
    ----------
    title
        Of the chart.
    unit
        Of the values; `%` goes from 0 to 100.
    curves
        Those without any value are left out.
    total
        Epochs of the whole run; None where that is not known.
    viewed
        The epoch in view; None where none is to be marked.
    height
        In pixels.
    """
    figure = go.Figure()
    for curve in curves:
        known, about = [row for row in curve.rows if row[curve.metric] is not None], ABOUT[curve.metric]
        if not known:
            continue
        shown = [known[k] for k in thinned(len(known))]
        figure.add_scatter(
            x=np.array([row["epoch"] for row in shown], dtype=np.int32),
            y=np.array([row[curve.metric] * about.scale for row in shown], dtype=np.float32),
            name=curve.title or about.title,
            mode="lines" if len(shown) > 1 else "markers",
            line=dict(curve.line),
            hovertemplate="%{y:.1f} %" if unit == "%" else "%{y:,.3~g}",
        )
    dress(figure, title, "epoch", unit, height=height)
    if unit == "%":
        figure.update_yaxes(range=[0, 101])
    mark_epoch(figure, total, viewed)
    return figure


def mark_epoch(figure: go.Figure, total: int | None, viewed: int | None) -> None:
    """Set the epoch axis to the full length of the run, where that is known, and mark the epoch in view.

    Parameters
    ----------
    figure
        A chart over epochs.
    total
        Epochs of the whole run; None where that is not known.
    viewed
        The epoch in view; None where none is to be marked.
    """
    if total is not None:
        figure.update_xaxes(range=[0, max(total, 1)])
    if viewed is not None:
        line = {"color": QUIET, "width": 1.5, "dash": "dash"}
        figure.update_layout(
            shapes=[{"type": "line", "x0": viewed, "x1": viewed, "y0": 0, "y1": 1, "yref": "paper", "line": line}]
        )


def show_matrix(
    make: Callable[[], npt.NDArray[np.floating[Any]]],
    names: Sequence[str],
    key: str,
    *,
    title: str,
    across: str,
    down: str,
) -> None:
    """Show a (c, c) matrix of shares as a heatmap; the diagonal is left out of the scale, since it is always 1.

    One of very many classes is only said to be.

    Parameters
    ----------
    make
        Makes the matrix, (c, c) in [0, 1].
    names
        Of the c classes.
    key
        Of the widget.
    title
        Of the chart.
    across, down
        What its columns and its rows are.
    """
    if len(names) > MOST_DRAWN:
        st.caption(f"{title}: {len(names):,} classes are too many to draw.")
        return
    matrix = np.asarray(make(), dtype=np.float64)
    shares = matrix * 100
    np.fill_diagonal(shares, np.nan)
    finite = shares[np.isfinite(shares)]
    # Where all cells are alike there is no range to spread the colours over: 70 % is then 70 % of the darkest.
    top = float(finite.max()) if len(finite) and finite.min() < 0.9 * finite.max() else 100.0
    at, is_labelled = np.arange(len(names)), len(names) <= MOST_LABELLED
    figure = go.Figure(
        go.Heatmap(
            z=shares,
            x=at,
            y=at,
            customdata=np.stack(np.meshgrid(names, names), axis=-1).astype(object),  # (c, c, 2) across, down
            colorscale=[[0, "rgba(53,104,212,0.04)"], [1, ACCENT]],
            zmin=0,
            zmax=top,
            colorbar={"title": "%", "thickness": 10, "outlinewidth": 0},
            hovertemplate="%{customdata[1]} with %{customdata[0]}: %{z:.1f} %<extra></extra>",
        )
    )
    rows = len(names) if is_labelled else MOST_LABELLED // 2
    dress(figure, title, across, down, height=max(CHART_HEIGHT, rows * MATRIX_ROW + MATRIX_NAMES))
    figure.update_layout(hovermode="closest", title_y=0.99, title_yanchor="top")
    ticks = {"tickvals": at, "ticktext": short_names(names, 14)} if is_labelled else {"showticklabels": False}
    figure.update_xaxes(**ticks, showgrid=False, zeroline=False)
    figure.update_yaxes(**ticks, showgrid=False, zeroline=False, autorange="reversed")
    table = pd.DataFrame(matrix, columns=list(names))
    table.insert(0, down, list(names))
    show(figure, table, key, f"{title}: {down} by {across}, in percent")


def dress(figure: go.Figure, title: str, x: str, y: str, *, height: int = CHART_HEIGHT) -> None:
    """Apply title, axis labels and the common layout.

    Parameters
    ----------
    figure
        The chart.
    title
        Above it.
    x, y
        Titles of the axes.
    height
        In pixels.
    """
    figure.update_layout(
        title={"text": title, "font": {"size": 15}, "x": 0, "xanchor": "left", "y": 0.97},
        height=height,
        margin={"l": 8, "r": 16, "t": 40, "b": 8},  # right: half of the last label of the axis
        legend={"orientation": "h", "yref": "container", "y": 0, "yanchor": "bottom", "x": 0, "xanchor": "left"},
        hovermode="x unified",
        uirevision=title,  # zoom and hidden lines stay when the data changes
    )
    figure.update_xaxes(title=x)
    figure.update_yaxes(title=y, rangemode="tozero")

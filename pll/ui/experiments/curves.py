"""Charts of an experiment: accuracy against q or over the epochs with a band, or one mean and deviation a method."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from pll.colors import class_colours
from pll.experiments.figures import Curve, Panel, q_panels
from pll.experiments.tables import Table, TableEntry
from pll.methods import method_title
from pll.ui import charts
from pll.ui.compare.lines import COLOURS, DASHES
from pll.ui.format import count

IDENTIFIED, UNSEEN = "Identified correctly", "Correct on unseen examples"


def show(found: Sequence[Table]) -> None:
    """Show identified and unseen accuracy of each table: curves over q where it has several, else a mark a method."""
    for number, table in enumerate(found):
        for dataset in table.datasets:
            cells = st.grid(2, min_column_width=320, gap="medium")
            for title in (IDENTIFIED, UNSEEN):
                figure, numbers = chart(table, dataset, title)
                if numbers.empty:  # no true label is known
                    continue
                key = f"experiment-{number}-{table.datasets.index(dataset)}-{title.split()[-1]}"
                with cells.cell():
                    charts.show(figure, numbers, key, f"{title} of each method, mean and standard deviation")


def chart(table: Table, dataset: str, title: str) -> tuple[go.Figure, pd.DataFrame]:
    """The chart of one data set of a table: curves over q where it has several, else a mark a method.

    Args:
        title: `IDENTIFIED` or `UNSEEN`.
    """
    transductive = title == IDENTIFIED
    columns = [column for column in table.columns if column[0] == dataset]
    if len(columns) == 1:
        entries = [entry for (column, _), entry in table.entries.items() if column == columns[0]]
        return mean_chart(entries, table.methods, title, transductive=transductive)
    one = Table(table.title, table.methods, tuple(columns), table.entries)
    panels = q_panels([one], transductive=transductive, fewest=2)
    lines = panels[0].lines if panels else ()
    return band_chart(lines, title, "flipping probability q", "q", table.methods)


def band_chart(
    lines: Sequence[Curve], title: str, x_title: str, x_name: str, methods: Sequence[str]
) -> tuple[go.Figure, pd.DataFrame]:
    """Lines with a band of ± one standard deviation.

    Args:
        lines: one a method.
        title: says what is drawn; the number of parts is added.
        x_title, x_name: of the axis, and of the column of the table.
        methods: all of the experiment; the place of a method there is its colour.
    """
    figure, rows = go.Figure(), []
    for line in lines:
        colour, dash = style(line.name, methods)
        name = method_title(line.name)
        if not np.isnan(line.deviation).any():
            figure.add_scatter(
                x=np.concatenate([line.x, line.x[::-1]]),
                y=np.concatenate([line.mean + line.deviation, (line.mean - line.deviation)[::-1]]),
                mode="lines",
                fill="toself",
                line={"width": 0},
                fillcolor=_faint(colour),
                hoverinfo="skip",
                showlegend=False,
                legendgroup=name,
            )
        figure.add_scatter(
            x=line.x,
            y=line.mean,
            mode="lines+markers" if len(line.x) <= 20 else "lines",
            line={"color": colour, "dash": dash, "width": 2.5},
            name=name,
            legendgroup=name,
            customdata=line.deviation,
            hovertemplate="%{y:.2f} ± %{customdata:.2f} %",
        )
        rows += [
            {"method": name, x_name: x, "mean": mean, "deviation": deviation, "fits": line.parts}
            for x, mean, deviation in zip(line.x, line.mean, line.deviation, strict=True)
        ]
    charts.dress(figure, f"{title}, {_over(lines)}", x_title, "%", height=360)
    return figure, pd.DataFrame(rows)


def mean_chart(
    entries: Sequence[TableEntry], methods: Sequence[str], title: str, *, transductive: bool
) -> tuple[go.Figure, pd.DataFrame]:
    """A mark a method, with a bar of ± one standard deviation."""
    figure, rows, fits = go.Figure(), [], []
    for entry in entries:
        mean, deviation = entry.mean, entry.deviation
        if transductive:
            if entry.transductive is None or entry.transductive_deviation is None:
                continue
            mean, deviation = entry.transductive, entry.transductive_deviation
        colour, _ = style(entry.method, methods)
        name = method_title(entry.method)
        figure.add_scatter(
            x=[mean],
            y=[name],
            error_x={"type": "data", "array": [0.0 if np.isnan(deviation) else deviation], "thickness": 2},
            mode="markers",
            marker={"color": colour, "size": 11},
            name=name,
            customdata=[deviation],
            hovertemplate="%{x:.2f} ± %{customdata:.2f} %<extra></extra>",
        )
        rows.append({"method": name, "mean": mean, "deviation": deviation, "fits": entry.parts})
        fits.append(entry.parts)
    charts.dress(
        figure,
        f"{title}, mean ± deviation of {_counted(sorted(set(fits)) or [0])}",
        "%",
        "",
        height=120 + 40 * len(rows),
    )
    figure.update_layout(showlegend=False, hovermode="closest")
    figure.update_yaxes(autorange="reversed", rangemode="normal")
    return figure, pd.DataFrame(rows)


def epochs_chart(panel: Panel, methods: Sequence[str]) -> tuple[go.Figure, pd.DataFrame]:
    """Test accuracy over the epochs of the lines of a panel."""
    return band_chart(panel.lines, "Test accuracy", "epoch", "epoch", methods)


def style(method: str, methods: Sequence[str]) -> tuple[str, str]:
    """Colour and dashes of a method: those of lanes, as long as there are enough."""
    place = list(methods).index(method)
    if len(methods) <= len(COLOURS):
        return COLOURS[place], DASHES[place]
    return class_colours(len(methods))[place], "solid"


def _over(lines: Sequence[Curve]) -> str:
    fits = sorted({line.parts for line in lines}) or [0]
    return f"mean ± deviation of {_counted(fits)}" if fits[-1] > 1 else "one fit"


def _counted(fits: Sequence[int]) -> str:
    return count(fits[0], "fit") if len(fits) == 1 else f"{fits[0]} to {count(fits[-1], 'fit')}"


def _faint(colour: str) -> str:
    red, green, blue = (int(colour[k : k + 2], 16) for k in (1, 3, 5))
    return f"rgba({red},{green},{blue},0.16)"

"""Charts of an experiment: accuracy against q with a band, or one mean and deviation a method."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from pll.experiments.figures import panel_figure, q_panels, style
from pll.experiments.tables import Table, TableEntry
from pll.methods import method_title
from pll.ui import charts
from pll.ui.format import count

IDENTIFIED_TITLE, UNSEEN_TITLE = "Identified correctly", "Correct on unseen examples"


def show(results: Sequence[Table]) -> None:
    """Show identified and unseen accuracy of each table: curves over q where it has several, else a mark a method."""
    for number, table in enumerate(results):
        for dataset in table.datasets:
            cells = st.grid(2, min_column_width=320, gap="medium")
            for title in (IDENTIFIED_TITLE, UNSEEN_TITLE):
                figure, numbers = _chart(table, dataset, title)
                if numbers.empty:  # no true label is known
                    continue
                key = f"experiment-{number}-{table.datasets.index(dataset)}-{title.split()[-1]}"
                with cells.cell():
                    charts.show(figure, numbers, key, f"{title} of each method, mean and standard deviation")


def _chart(table: Table, dataset: str, title: str) -> tuple[go.Figure, pd.DataFrame]:
    """The chart of one data set of a table: curves over q where it has several, else a mark a method."""
    transductive, title = title == IDENTIFIED_TITLE, f"{dataset}: {title[0].lower()}{title[1:]}"
    columns = [column for column in table.columns if column[0] == dataset]
    if len(columns) == 1:
        entries = [entry for (column, _), entry in table.entries.items() if column == columns[0]]
        return _mean_chart(entries, table.methods, title, transductive=transductive)
    one = Table(table.title, table.methods, tuple(columns), table.entries)
    panels = q_panels([one], transductive=transductive, fewest=2)
    if not panels:
        return go.Figure(), pd.DataFrame()
    figure, numbers = panel_figure(panels[0], table.methods)
    fits = sorted(set(panels[0].numbers["fits"]))
    over = f"mean ± deviation of {_counted(fits)}" if fits[-1] > 1 else "one fit"
    charts.dress(figure, title, f"{panels[0].x_title} · {over}", "%", height=360)
    return figure, numbers


def _mean_chart(
    entries: Sequence[TableEntry], methods: Sequence[str], title: str, *, transductive: bool
) -> tuple[go.Figure, pd.DataFrame]:
    """A mark a method, with a bar of ± one standard deviation."""
    figure, rows, fits = go.Figure(), [], []
    for entry in entries:
        shown = entry.transductive if transductive else entry.test
        if shown is None:
            continue
        colour, _ = style(entry.method, methods)
        name = method_title(entry.method)
        figure.add_scatter(
            x=[shown.mean],
            y=[name],
            error_x={"type": "data", "array": [0.0 if np.isnan(shown.deviation) else shown.deviation], "thickness": 2},
            mode="markers",
            marker={"color": colour, "size": 11},
            name=name,
            customdata=[shown.deviation],
            hovertemplate="%{x:.2f} ± %{customdata:.2f} %<extra></extra>",
        )
        rows.append({"method": name, **asdict(shown), "fits": entry.n_fits})
        fits.append(entry.n_fits)
    over = f"%, mean ± deviation of {_counted(sorted(set(fits)) or [0])}"
    charts.dress(figure, title, over, "", height=120 + 40 * len(rows))
    figure.update_layout(showlegend=False, hovermode="closest")
    figure.update_yaxes(autorange="reversed", rangemode="normal")
    return figure, pd.DataFrame(rows)


def _counted(fits: Sequence[int]) -> str:
    return count(fits[0], "fit") if len(fits) == 1 else f"{fits[0]} to {count(fits[-1], 'fit')}"

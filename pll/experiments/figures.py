"""Figures of an experiment with their numbers: accuracy over the epochs, accuracy against q."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pandas as pd

from pll.colors import LANE_COLOURS, LANE_DASHES, class_colours
from pll.experiments.execution import CellOutcome
from pll.experiments.experiment import Cell
from pll.experiments.tables import Table
from pll.io import stored_name, write_csv, write_text
from pll.methods import get_method, method_title
from pll.methods.deep import DeepEstimator

if TYPE_CHECKING:  # brought by an extra
    import plotly.graph_objects as go

MOST_CURVE_POINTS = 250
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Curve:
    """A line with a band.

    Attributes
    ----------
    name
        Of the method.
    x, mean, deviation
        (k,) accuracies in percent; the deviation is NaN where there is one part only.
    n_fits
        Number of fits.
    """

    name: str
    x: Floats
    mean: Floats
    deviation: Floats
    n_fits: int


@dataclass(frozen=True, eq=False)
class Panel:
    """Lines of one panel; `x_name` is the column of its numbers that holds x."""

    title: str
    x_title: str
    y_title: str
    lines: tuple[Curve, ...]
    x_name: str = "epoch"

    @property
    def file_name(self) -> str:
        """The title as the name of a file."""
        letters = "".join(letter if letter.isalnum() or letter in ".-" else " " for letter in self.title)
        return stored_name("-".join(letters.lower().split()))


def curve_panels(
    cells: Sequence[Cell], outcomes: Mapping[str, CellOutcome], *, transductive: bool = False
) -> list[Panel]:
    """Return test (or transductive) accuracy over the epochs: a panel for each data set, model, recipe and flip.

    Only methods trained by gradient descent have epochs that can be compared.

    Parameters
    ----------
    cells
        The fits.
    outcomes
        What came of them, by key.
    transductive
        Of the training examples.
    """
    column = int(transductive)
    curves: dict[str, dict[str, list[Floats]]] = defaultdict(lambda: defaultdict(list))
    for cell in cells:
        outcome = outcomes.get(cell.key)
        if outcome is None or outcome.result is None or not issubclass(get_method(cell.method), DeepEstimator):
            continue
        values = [pair[column] for pair in outcome.curve]
        if len(values) > 1 and None not in values:
            curves[_panel_title(cell)][cell.method].append(np.array(values, dtype=np.float64) * 100)
    what = "transductive accuracy" if transductive else "test accuracy"
    return [
        Panel(
            title,
            "epoch",
            f"{what} %",
            tuple(_line(method, _numbered(parts[0]), parts) for method, parts in of_panel.items()),
        )
        for title, of_panel in curves.items()
    ]


def q_panels(tables: Sequence[Table], *, transductive: bool = False, fewest: int = 3) -> list[Panel]:
    """Return test (or transductive) accuracy against q, where a table has `fewest` values of q or more: a panel for
    each data set.

    Parameters
    ----------
    tables
        Of an experiment.
    transductive
        Of the training examples.
    fewest
        Values of q.
    """
    what = "transductive accuracy" if transductive else "test accuracy"
    panels = []
    for table in tables:
        for dataset in table.datasets:
            qs = [q for name, q in table.columns if name == dataset and q is not None]
            if len(qs) < fewest:
                continue
            lines = []
            for method in table.methods:
                entries = [table.entries[(dataset, q), method] for q in qs if ((dataset, q), method) in table.entries]
                entries = [entry for entry in entries if not transductive or entry.transductive is not None]
                if not entries:  # of an experiment that has not ended
                    continue
                figures = [
                    (entry.q, entry.transductive, entry.transductive_deviation)
                    if transductive
                    else (entry.q, entry.mean, entry.deviation)
                    for entry in sorted(entries, key=lambda entry: entry.q or 0.0)
                ]
                x, mean, deviation = np.array(figures, dtype=np.float64).T
                lines.append(Curve(method, x, mean, deviation, min(entry.n_fits for entry in entries)))
            title = f"{dataset}, {table.title[0].lower()}{table.title[1:]}, against q"
            if lines:
                panels.append(Panel(title, "flipping probability q", f"{what} %", tuple(lines), "q"))
    return panels


def _panel_title(cell: Cell) -> str:
    made = "" if cell.flip is None else cell.flip.words
    recipe = "" if cell.recipe == "default" else f"recipe {cell.recipe}"
    return ", ".join(filter(None, (cell.dataset, cell.model, made, recipe)))


def _numbered(values: Floats) -> Floats:
    return np.arange(1, len(values) + 1, dtype=np.float64)


def _line(method: str, x: Floats, curves: list[Floats]) -> Curve:
    shortest = min(map(len, curves))  # cells of one experiment have the same epochs, but for a changed definition
    table = np.stack([part[:shortest] for part in curves])
    deviation = table.std(axis=0, ddof=1) if len(table) > 1 else np.full(shortest, math.nan)
    at = np.unique(np.linspace(0, shortest - 1, min(shortest, MOST_CURVE_POINTS)).round().astype(np.int64))
    return Curve(method, x[:shortest][at], table.mean(axis=0)[at], deviation[at], len(table))


def panel_figure(panel: Panel, methods: Sequence[str]) -> tuple[go.Figure, pd.DataFrame]:
    """Return the lines of a panel with bands of ± one standard deviation, and their numbers.

    Parameters
    ----------
    panel : Panel
    methods : sequence of str
        All of the experiment; the place of a method there is its colour.

    Returns
    -------
    figure : plotly.graph_objects.Figure
    frame : pandas.DataFrame
        A row a point: method, x (under the name of the axis), mean, deviation, fits.
    """
    import plotly.graph_objects as go

    figure, rows = go.Figure(), []
    for line in panel.lines:
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
            {"method": name, panel.x_name: x, "mean": mean, "deviation": deviation, "fits": line.n_fits}
            for x, mean, deviation in zip(line.x, line.mean, line.deviation, strict=True)
        ]
    fits = sorted({line.n_fits for line in panel.lines})
    number = f"{fits[0]}" if len(fits) == 1 else f"{fits[0]} to {fits[-1]}"
    over = "one fit" if fits[-1] == 1 else f"mean ± deviation of {number} fits"
    _titled(figure, f"{panel.title}: {over}", panel.x_title, panel.y_title)
    return figure, pd.DataFrame(rows)


def save_figure(figure: go.Figure, frame: pd.DataFrame, path: Path) -> list[Path]:
    """Write `path`.html, which reads plotly.min.js beside it, and `path`.csv; return both.

    Parameters
    ----------
    figure : plotly.graph_objects.Figure
    frame : pandas.DataFrame
        The numbers of the figure.
    path : Path
        Without a suffix; its folder is made.
    """
    from plotly.offline import get_plotlyjs

    page, table = (path.with_name(f"{path.name}.{kind}") for kind in ("html", "csv"))
    path.parent.mkdir(parents=True, exist_ok=True)
    script = path.with_name("plotly.min.js")
    if not script.exists():
        write_text(script, get_plotlyjs())
    # A fixed id, since the default is random: the same figure gives the same bytes.
    write_text(page, figure.to_html(include_plotlyjs=script.name, div_id="figure", full_html=True))
    write_csv(table, frame)
    return [page, table]


def style(method: str, methods: Sequence[str]) -> tuple[str, str]:
    """Return colour and dashes of a method: those of lanes, as long as there are enough.

    Parameters
    ----------
    method
        Its name.
    methods
        All of the figure.
    """
    place = list(methods).index(method)
    if len(methods) <= len(LANE_COLOURS):
        return LANE_COLOURS[place], LANE_DASHES[place]
    return class_colours(len(methods))[place], "solid"


def _titled(figure: go.Figure, title: str, x: str, y: str) -> None:
    figure.update_layout(title=escape(title), template="plotly_white")
    figure.update_xaxes(title=escape(x))
    figure.update_yaxes(title=escape(y))


def _faint(colour: str) -> str:
    red, green, blue = (int(colour[k : k + 2], 16) for k in (1, 3, 5))
    return f"rgba({red},{green},{blue},0.16)"

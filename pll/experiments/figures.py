"""Figures of an experiment with their numbers: accuracy over the epochs, accuracy against q."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from pll.colors import LANE_COLOURS, LANE_DASHES, class_colours
from pll.experiments.execution import CellOutcome
from pll.experiments.experiment import Cell
from pll.experiments.tables import Table
from pll.io import stored_name, write_csv, write_text
from pll.methods import METHODS, method_title
from pll.methods.deep import DeepEstimator
from pll.weights import Floats

if TYPE_CHECKING:  # brought by an extra
    import plotly.graph_objects as go

MOST_CURVE_POINTS = 250


@dataclass(frozen=True, eq=False)
class Panel:
    """Lines with bands, of one panel.

    Attributes
    ----------
    title, x_title, y_title
        Of the figure and its axes.
    numbers
        A row a point: method, x (under a name of its own, the second column), mean and deviation in percent, fits. The
        deviation is NaN of one fit.
    """

    title: str
    x_title: str
    y_title: str
    numbers: pd.DataFrame

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
    curves: dict[str, dict[str, list[Floats]]] = defaultdict(lambda: defaultdict(list))
    for cell in cells:
        outcome = outcomes.get(cell.key)
        if outcome is None or outcome.result is None or not issubclass(METHODS[cell.method], DeepEstimator):
            continue
        values = [pair[transductive] for pair in outcome.curve]
        if len(values) > 1 and None not in values:
            curves[_panel_title(cell)][cell.method].append(np.array(values, dtype=np.float64) * 100)
    return [
        Panel(title, "epoch", _accuracy(transductive), pd.concat([_line(method, parts[method]) for method in parts]))
        for title, parts in curves.items()
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
    panels = []
    for table in tables:
        for dataset in table.datasets:
            entries = [one for one in table.entries.values() if one.dataset == dataset and one.q is not None]
            rows = [
                {"method": one.method, "q": one.q, **asdict(shown), "fits": one.n_fits}
                for one in sorted(entries, key=lambda one: (table.methods.index(one.method), one.q))
                if (shown := one.transductive if transductive else one.test) is not None
            ]
            if rows and len({one.q for one in entries}) >= fewest:
                title = f"{dataset}, {table.title[0].lower()}{table.title[1:]}, against q"
                panels.append(Panel(title, "flipping probability q", _accuracy(transductive), pd.DataFrame(rows)))
    return panels


def _accuracy(transductive: bool) -> str:
    return f"{'transductive' if transductive else 'test'} accuracy %"


def _panel_title(cell: Cell) -> str:
    made = "" if cell.flip is None else cell.flip.words
    recipe = "" if cell.recipe == "default" else f"recipe {cell.recipe}"
    return ", ".join(filter(None, (cell.dataset, cell.model, made, recipe)))


def _line(method: str, curves: list[Floats]) -> pd.DataFrame:
    """Return the numbers of a method's line over the epochs, of at most `MOST_CURVE_POINTS` of them."""
    shortest = min(map(len, curves))  # cells of one experiment have the same epochs, but for a changed definition
    table = pd.DataFrame([part[:shortest] for part in curves])
    at = np.unique(np.linspace(0, shortest - 1, min(shortest, MOST_CURVE_POINTS)).round().astype(np.int64))
    figures = {"mean": table.mean()[at], "deviation": table.std()[at], "fits": len(table)}
    return pd.DataFrame({"method": method, "epoch": at + 1.0, **figures})


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

    figure, x = go.Figure(), panel.numbers.columns[1]
    for method, line in panel.numbers.groupby("method", sort=False):
        colour, dash = style(str(method), methods)
        name = method_title(str(method))
        if line["deviation"].notna().all():
            ends = [line["mean"] + line["deviation"], (line["mean"] - line["deviation"])[::-1]]
            figure.add_scatter(
                x=np.concatenate([line[x], line[x][::-1]]),
                y=np.concatenate(ends).clip(0, 100),
                mode="lines",
                fill="toself",
                line={"width": 0},
                fillcolor=_faint(colour),
                hoverinfo="skip",
                showlegend=False,
                legendgroup=name,
            )
        figure.add_scatter(
            x=line[x].to_numpy(),
            y=line["mean"].to_numpy(),
            mode="lines+markers" if len(line) <= 20 else "lines",
            line={"color": colour, "dash": dash, "width": 2.5},
            name=name,
            legendgroup=name,
            customdata=line["deviation"].to_numpy(),
            hovertemplate="%{y:.2f} ± %{customdata:.2f} %",
        )
    figure.update_layout(title=escape(f"{panel.title}: {over_fits(panel.numbers['fits'])}"), template="plotly_white")
    figure.update_xaxes(title=escape(panel.x_title))
    figure.update_yaxes(title=escape(panel.y_title))
    return figure, panel.numbers.assign(method=panel.numbers["method"].map(method_title))


def over_fits(fits: Collection[int]) -> str:
    """Return of what figures are the mean, in words.

    Examples
    --------
    >>> over_fits([1, 1]), over_fits([5, 3])
    ('one fit', 'mean ± deviation of 3 to 5 fits')
    """
    fewest, most = min(fits), max(fits)
    number = f"{most}" if fewest == most else f"{fewest} to {most}"
    return "one fit" if most == 1 else f"mean ± deviation of {number} fits"


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


def _faint(colour: str) -> str:
    red, green, blue = (int(colour[k : k + 2], 16) for k in (1, 3, 5))
    return f"rgba({red},{green},{blue},0.16)"

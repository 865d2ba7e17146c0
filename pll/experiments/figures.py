"""Figures of an experiment: accuracy over the epochs with a band, accuracy against q, critical differences."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pll.analysis.significance import Ranking
from pll.colors import class_colours
from pll.experiments.drawing import QUIET, Canvas, Point
from pll.experiments.execution import CellOutcome
from pll.experiments.experiment import Cell
from pll.experiments.tables import Table
from pll.io import stored_name
from pll.methods import get_method, method_title
from pll.methods.deep import DeepEstimator

WIDTH, HEIGHT = 560.0, 360.0
MOST_POINTS = 250
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Curve:
    """A line with a band.

    Attributes:
        name: of the method.
        x, mean, deviation: (k,) accuracies in percent; the deviation is NaN where there is one part only.
        parts: number of parts.
    """

    name: str
    x: Floats
    mean: Floats
    deviation: Floats
    parts: int


@dataclass(frozen=True, eq=False)
class Panel:
    """Lines of one panel."""

    title: str
    x_title: str
    y_title: str
    lines: tuple[Curve, ...]

    @property
    def file_name(self) -> str:
        """The title as the name of a file."""
        kept = "".join(letter if letter.isalnum() or letter in ".-" else " " for letter in self.title)
        return stored_name("-".join(kept.lower().split()))


def curve_panels(
    cells: Sequence[Cell], outcomes: Mapping[str, CellOutcome], *, transductive: bool = False
) -> list[Panel]:
    """Return test (or transductive) accuracy over the epochs: a panel for each data set, model, recipe and flip.

    Only methods trained by gradient descent have epochs that can be compared.
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


def q_panels(found: Sequence[Table], *, transductive: bool = False, fewest: int = 3) -> list[Panel]:
    """Return test (or transductive) accuracy against q, where a table has `fewest` values of q or more: a panel for
    each data set.
    """
    what = "transductive accuracy" if transductive else "test accuracy"
    panels = []
    for table in found:
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
                lines.append(Curve(method, x, mean, deviation, min(entry.parts for entry in entries)))
            title = f"{dataset}, {table.title[0].lower()}{table.title[1:]}, against q"
            if lines:
                panels.append(Panel(title, "flipping probability q", f"{what} %", tuple(lines)))
    return panels


def _panel_title(cell: Cell) -> str:
    made = "" if cell.flip is None else cell.flip.words
    recipe = "" if cell.recipe == "default" else f"recipe {cell.recipe}"
    return ", ".join(filter(None, (cell.dataset, cell.model, made, recipe)))


def _numbered(values: Floats) -> Floats:
    return np.arange(1, len(values) + 1, dtype=np.float64)


def _line(method: str, x: Floats, parts: list[Floats]) -> Curve:
    shortest = min(map(len, parts))  # cells of one experiment have the same epochs, but for a changed definition
    table = np.stack([part[:shortest] for part in parts])
    deviation = table.std(axis=0, ddof=1) if len(table) > 1 else np.full(shortest, math.nan)
    keep = np.unique(np.linspace(0, shortest - 1, min(shortest, MOST_POINTS)).round().astype(np.int64))
    return Curve(method, x[:shortest][keep], table.mean(axis=0)[keep], deviation[keep], len(table))


def draw_panel(panel: Panel) -> Canvas:
    """Draw lines with bands of ± one standard deviation, and say over how many parts."""
    canvas = Canvas(WIDTH, HEIGHT + 18 * math.ceil(len(panel.lines) / 3))
    left, right, top, bottom = 52.0, WIDTH - 14, 34.0, HEIGHT - 46
    x_low, x_high = _range([line.x for line in panel.lines])
    low, high = _range([line.mean for line in panel.lines])
    low, high = max(0.0, 5 * math.floor((low - 1) / 5)), min(100.0, 5 * math.ceil((high + 1) / 5))

    def place(x: float, y: float) -> Point:
        across = (x - x_low) / max(x_high - x_low, 1e-9)
        up = (min(max(y, low), high) - low) / max(high - low, 1e-9)
        return left + across * (right - left), bottom - up * (bottom - top)

    canvas.text((left, 16), panel.title, size=14)
    for tick in _ticks(low, high):
        canvas.line(place(x_low, tick), place(x_high, tick), colour="#dde3e8")
        canvas.text((left - 6, place(x_low, tick)[1]), f"{tick:g}", size=11, anchor="end", colour=QUIET)
    for tick in _ticks(x_low, x_high):
        canvas.text((place(tick, low)[0], bottom + 13), f"{tick:g}", size=11, anchor="middle", colour=QUIET)
    canvas.line((left, bottom), (right, bottom), colour=QUIET)
    parts = sorted({line.parts for line in panel.lines})
    counted = f"{parts[0]}" if len(parts) == 1 else f"{parts[0]} to {parts[-1]}"
    band = f"band: ± one standard deviation over {counted} parts" if parts[-1] > 1 else "one part"
    canvas.text((right, bottom + 31), f"{panel.x_title}; {panel.y_title}; {band}", size=11, anchor="end", colour=QUIET)
    colours = class_colours(len(panel.lines))
    for line, colour in zip(panel.lines, colours, strict=True):
        if not np.isnan(line.deviation).any():
            upper = [place(x, y) for x, y in zip(line.x, line.mean + line.deviation, strict=True)]
            lower = [place(x, y) for x, y in zip(line.x, line.mean - line.deviation, strict=True)]
            canvas.area([*upper, *reversed(lower)], colour)
    for line, colour in zip(panel.lines, colours, strict=True):
        canvas.line(*(place(x, y) for x, y in zip(line.x, line.mean, strict=True)), colour=colour, width=1.8)
    for k, (line, colour) in enumerate(zip(panel.lines, colours, strict=True)):
        x, y = left + (k % 3) * (right - left) / 3, HEIGHT + 4 + 18 * (k // 3)
        canvas.line((x, y), (x + 18, y), colour=colour, width=3)
        canvas.text((x + 24, y), f"{method_title(line.name)} {line.mean[-1]:.1f}", size=12)
    return canvas


def draw_ranking(title: str, methods: Sequence[str], found: Ranking) -> Canvas:
    """Draw a critical-difference diagram: methods at their average ranks, joined where they cannot be told apart."""
    order = sorted(range(len(methods)), key=lambda k: found.ranks[k])
    half = math.ceil(len(order) / 2)
    groups = found.groups()
    left, right, axis = 150.0, WIDTH - 150.0, 92.0
    first = axis + 20 + 9 * len(groups)
    canvas = Canvas(WIDTH, first + 22 * half + 30)

    def at(rank: float) -> float:
        return left + (rank - 1) / (len(order) - 1) * (right - left)

    canvas.text((14, 18), title, size=14)
    canvas.line((left, 56), (min(at(1 + found.critical), WIDTH - 10), 56), width=2)
    canvas.text((left, 44), f"critical difference {found.critical:.2f}", size=11)
    canvas.line((left, axis), (right, axis))
    for rank in range(1, len(order) + 1):
        canvas.line((at(rank), axis - 5), (at(rank), axis))
        canvas.text((at(rank), axis - 14), f"{rank}", size=11, anchor="middle")
    for place, k in enumerate(order):
        on_left = place < half
        y = first + 22 * (place if on_left else len(order) - 1 - place)
        x = at(found.ranks[k])
        edge = left - 10 if on_left else right + 10
        canvas.line((x, axis), (x, y), (edge, y))
        words = f"{method_title(methods[k])} {found.ranks[k]:.2f}"
        canvas.text((edge - 6 if on_left else edge + 6, y), words, anchor="end" if on_left else "start")
    for k, group in enumerate(groups):
        y = axis + 10 + 9 * k
        ranks = [found.ranks[j] for j in group]
        canvas.line((at(min(ranks)) - 4, y), (at(max(ranks)) + 4, y), width=4)
    words = (
        f"average rank over {found.blocks} columns, 1 is best; Friedman p = {found.p:.2g}; bars: no difference at 5 %"
    )
    canvas.text((14, canvas.height - 12), words, size=11, colour=QUIET)
    return canvas


def _range(values: Sequence[Floats]) -> tuple[float, float]:
    every = np.concatenate(values)
    return float(every.min()), float(every.max())


def _ticks(low: float, high: float) -> list[float]:
    step = 10 ** math.floor(math.log10(max(high - low, 1e-9)))
    step = next(step * k for k in (0.1, 0.2, 0.5, 1, 2, 5) if (high - low) / (step * k) <= 6)
    return [round(step * k, 9) for k in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)]

"""Download of all lanes as one picture (SVG or PNG): star plots, line charts and verdict.

Written here and not by Plotly, since it holds both kinds of pictures. It is made on request.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from html import escape
from pathlib import Path

import streamlit as st

from pll.analysis.comparison_report import Verdict
from pll.colors import class_colours, percent, short_names
from pll.ui.compare.lines import Quantity
from pll.ui.compare.svg_lines import ON_PAPER, over_epochs, stroke, text
from pll.ui.components import saving
from pll.ui.components.component import register
from pll.ui.components.star import anchors, star_positions, star_sample
from pll.ui.view_state import Scene

WIDTH, MARGIN, GAP = 1200, 30, 24
POINTS = 600
"""Examples a star plot, a fixed sample: the file stays small enough to mail."""
INK, QUIET, GRID = ON_PAPER
FONT = "font-family='Source Sans Pro, Helvetica, Arial, sans-serif'"


def picture(lanes: Sequence[Scene], wanted: Sequence[Quantity], said: Verdict, name: str, total: int | None) -> str:
    """The picture as SVG.

    Parameters
    ----------
    wanted
        What is drawn over the epochs.
    said
        What is written below.
    name
        What to call the comparison.
    total
        Epochs in all.
    """
    star = (WIDTH - 2 * MARGIN - GAP * (len(lanes) - 1)) / len(lanes)
    size = min(star, 240.0)
    epoch = max(lane.frame.epoch for lane in lanes)
    parts = [text(MARGIN, 40, f"{name} · epoch {epoch}", size=20, weight=600)]
    top = 64.0
    for lane in lanes:
        x = MARGIN + lane.place % len(lanes) * (star + GAP)
        parts.append(_head(lane, x, top))
        parts.append(_star(lane, x + star / 2, top + 44 + size / 2, size / 2 - 14))
    top += size + 70
    wide = (WIDTH - 2 * MARGIN - GAP * (len(wanted) - 1)) / len(wanted)
    parts += [
        over_epochs(lanes, quantity, total, place=(MARGIN + k * (wide + GAP), top, wide))
        for k, quantity in enumerate(wanted)
    ]
    top += 260
    for words, weight in _words(said):
        for line in textwrap.wrap(words, 160):
            parts.append(text(MARGIN, top, line, size=14, weight=weight, colour=INK if weight > 400 else QUIET))
            top += 20
        top += 4
    height = round(top + 12)
    body = "\n".join(parts)
    return (
        f"<svg xmlns='http://www.w3.org/2000/svg' width='{WIDTH}' height='{height}' viewBox='0 0 {WIDTH} {height}' "
        f"role='img'><title>{escape(said.headline)}</title>\n<rect width='100%' height='100%' fill='#ffffff'/>\n"
        f"<g {FONT}>\n{body}\n</g></svg>\n"
    )


def downloads(make: str, file_name: str, key: str) -> None:
    """The picture as SVG and as PNG; the browser turns the one into the other."""
    st.download_button(
        "All lanes as SVG",
        data=make,
        file_name=f"{file_name}.svg",
        mime="image/svg+xml",
        key=f"{key}-svg",
        icon=":material/download:",
        type="tertiary",
        on_click="ignore",
    )
    _png(key=f"{key}-png", data={"svg": make, "name": f"{file_name}.png", "label": "All lanes as PNG"})


_png = register(
    "png",
    '<div class="saving"><button class="png" type="button"></button></div>',
    scripts=[Path(__file__).with_name("png.js")],
    styles=[saving.STYLES],
)


def _head(lane: Scene, x: float, y: float) -> str:
    right, sure = lane.right, lane.confidence
    figures = [f"{percent(right)} correct"] if right is not None else []
    figures += [f"{percent(sure)} sure"] if sure is not None else []
    return (
        stroke(lane.place, [(x, y + 5), (x + 30, y + 5)])
        + text(x + 38, y + 10, lane.title, size=15, weight=600)
        + text(x, y + 32, " · ".join(figures) or "not begun", size=14, colour=QUIET)
    )


def _star(lane: Scene, x: float, y: float, radius: float) -> str:
    sets = lane.data.sets()
    rows = star_sample(len(sets), POINTS)
    some = sets.take(rows)
    places = star_positions(lane.frame.weights[sets.positions(rows)], some)
    colours = class_colours(sets.n_classes)
    labels = lane.figures.identified[rows]
    dots = "".join(
        f"<circle cx='{x + radius * a:.1f}' cy='{y + radius * b:.1f}' r='1.8' fill='{colours[label]}'/>"
        for (a, b), label in zip(places.tolist(), labels.tolist(), strict=True)
    )
    corners = zip(short_names(sets.class_names, 10), anchors(sets.n_classes).tolist(), strict=True)
    names = "".join(
        text(x + (radius + 9) * a, y + (radius + 9) * b + 4, name, size=11, colour=colours[j], anchor="middle")
        for j, (name, (a, b)) in enumerate(corners)
        if sets.n_classes <= 30
    )
    rim = f"<circle cx='{x:.1f}' cy='{y:.1f}' r='{radius:.1f}' fill='none' stroke='{GRID}'/>"
    return f"{rim}<g opacity='0.75'>{dots}</g>{names}"


def _words(said: Verdict) -> list[tuple[str, int]]:
    lines = [(f"{line.title}: {line.text}", 400) for line in said.lines]
    return [(said.headline, 600), *lines, *((note, 400) for note in said.notes)]

"""Line charts of lanes as SVG, for refreshes and for print.

Plotly's charts take a browser a tenth of a second each; three of them twice a second would leave it no time for the
star plots. So these are drawn while lanes move, and Plotly's, which can be hovered over, once they have stopped.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import NamedTuple

from pll.colors import LANE_COLOURS, LANE_DASHES
from pll.ui.compare.lines import STROKES, Quantity, series
from pll.ui.components.component import register
from pll.ui.view_state import Scene


class Inks(NamedTuple):
    """Colours of what is not a lane."""

    ink: str
    quiet: str
    grid: str


ON_PAPER = Inks("#1d242b", "#5f6b76", "#dfe4e9")
ON_PAGE = Inks("var(--st-text-color)", "#7a8794", "rgba(122, 135, 148, 0.3)")
"""Follow the theme, light or dark."""
WIDTH, HIGH = 430.0, 290.0
"""As large as a Plotly chart in its place, which takes over when the lanes stand still."""


def over_epochs(
    lanes: Sequence[Scene],
    quantity: Quantity,
    total: int | None,
    *,
    place: tuple[float, float, float],
    high: float = 190.0,
    viewed: int | None = None,
    inks: Inks = ON_PAPER,
) -> str:
    """One quantity of all lanes, as a piece of SVG that is 50 higher than its lines.

    Parameters
    ----------
    total
        Epochs in all.
    place
        x, y of its title's line, and its width.
    high
        From the lowest to the highest line of the grid.
    viewed
        The epoch to mark.
    """
    x, y, width = place
    left = x + 34
    drawn = [(lane, *series(lane, quantity)) for lane in lanes]
    most = max((float(values.max()) for _, _, values in drawn if len(values)), default=1.0)
    top = 100.0 if quantity.unit == "%" else max(most, 1.0)
    last = max(total or 1, max((int(epochs[-1]) for _, epochs, _ in drawn if len(epochs)), default=1))
    parts = [text(x, y, f"{quantity.title}, {quantity.unit}", size=14, weight=600, colour=inks.ink)]
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        at = y + 14 + high * (1 - share)
        parts.append(f"<line x1='{left}' y1='{at:.1f}' x2='{x + width:.1f}' y2='{at:.1f}' stroke='{inks.grid}'/>")
        parts.append(text(left - 6, at + 4, f"{top * share:,.0f}", size=11, colour=inks.quiet, anchor="end"))
    for share in (0.0, 0.5, 1.0):
        at = left + (width - 34) * share
        parts.append(text(at, y + high + 30, f"{last * share:,.0f}", size=11, colour=inks.quiet, anchor="middle"))
    parts.append(text(left + (width - 34) / 2, y + high + 46, "epoch", size=11, colour=inks.quiet, anchor="middle"))
    if viewed is not None:
        at = left + (width - 34) * viewed / last
        ends = f"x1='{at:.1f}' x2='{at:.1f}' y1='{y + 14:.1f}' y2='{y + 14 + high:.1f}'"
        parts.append(f"<line {ends} stroke='{inks.quiet}' stroke-dasharray='4 3'/>")
    for lane, epochs, values in drawn:
        points = [
            (left + (width - 34) * e / last, y + 14 + high * (1 - v / top))
            for e, v in zip(epochs.tolist(), values.tolist(), strict=True)
        ]
        parts.append(stroke(lane.place, points))
    return "".join(parts)


def live(lanes: Sequence[Scene], quantity: Quantity, total: int | None, viewed: int | None, key: str) -> None:
    """The lines on the page; existing ones are updated, never replaced."""
    drawn = over_epochs(lanes, quantity, total, place=(2, 16, WIDTH - 22), high=HIGH, viewed=viewed, inks=ON_PAGE)
    last = ", ".join(
        f"{lane.title} {values[-1]:.1f}" for lane in lanes for _, values in [series(lane, quantity)] if len(values)
    )
    said = escape(f"{quantity.title} of every lane over the epochs, in {quantity.unit}; the latest: {last}", quote=True)
    svg = f'<svg viewBox="0 0 {WIDTH:.0f} {HIGH + 70:.0f}" role="img" aria-label="{said}">{drawn}</svg>'
    _lines(key=key, data={"svg": svg})


_HERE = Path(__file__).parent
_lines = register(
    "lines", '<div class="lines"></div>', scripts=[_HERE / "svg_lines.js"], styles=[_HERE / "svg_lines.css"]
)


def stroke(place: int, points: Sequence[tuple[float, float]]) -> str:
    """A line in the colour and dashes of a lane."""
    if not points:
        return ""
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    dash = STROKES[LANE_DASHES[place]]
    dashed = f" stroke-dasharray='{dash}'" if dash else ""
    return (
        f"<polyline points='{path}' fill='none' stroke='{LANE_COLOURS[place]}' stroke-width='2.5' "
        f"stroke-linejoin='round'{dashed}/>"
    )


def text(
    x: float, y: float, words: str, *, size: int, weight: int = 400, colour: str = ON_PAPER.ink, anchor: str = "start"
) -> str:
    """Words at a place."""
    return (
        f"<text x='{x:.1f}' y='{y:.1f}' font-size='{size}' font-weight='{weight}' fill='{colour}' "
        f"text-anchor='{anchor}'>{escape(words)}</text>"
    )

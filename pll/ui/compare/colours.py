"""Colours and lines of lanes: none of them is a class colour, and colour is never the only sign.

Found by the search that found the class colours: legible on white and on the dark background alike, far from each
other and from the first ten classes, for normal, protan, deutan and tritan sight.
"""

from __future__ import annotations

from html import escape

COLOURS = ("#a8249c", "#6c6048", "#d87854", "#2448fc", "#9c84f0")
DASHES = ("solid", "dash", "dashdot", "longdash", "dot")
"""Plotly's names."""
STROKES = {"solid": "", "dash": "7 4", "dashdot": "8 3 2 3", "longdash": "12 4", "dot": "3 3"}
"""The same as SVG's `stroke-dasharray`."""


def swatch(lane: int, title: str) -> str:
    """A piece of the lane's line and its title, as HTML.

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
    lengths = [int(length) for length in STROKES[DASHES[lane]].split()]
    if not lengths:
        return COLOURS[lane]
    stops, at = [], 0
    for number, length in enumerate(lengths):
        colour = "transparent" if number % 2 else COLOURS[lane]
        stops.append(f"{colour} {at}px {at + length}px")
        at += length
    return f"repeating-linear-gradient(90deg, {', '.join(stops)})"

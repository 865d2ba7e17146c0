"""A small canvas whose drawing is written as SVG and as PNG, without a plotting library."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Literal

from PIL import Image, ImageDraw, ImageFont

from pll.io import write_atomically, write_text

Point = tuple[float, float]
Anchor = Literal["start", "middle", "end"]
OPACITY = 0.15
"""Of areas."""
SCALE = 2
"""Pixels of the PNG for one unit."""
INK, QUIET = "#1c2730", "#7a8794"


@dataclass(frozen=True)
class _Polyline:
    points: tuple[Point, ...]
    colour: str
    width: float
    dash: bool


@dataclass(frozen=True)
class _Area:
    points: tuple[Point, ...]
    colour: str


@dataclass(frozen=True)
class _Text:
    at: Point
    text: str
    size: float
    anchor: Anchor
    colour: str


@dataclass
class Canvas:
    """A drawing on white; the unit is a pixel of the SVG, y grows downwards."""

    width: float
    height: float
    _marks: list[_Polyline | _Area | _Text] = field(default_factory=list)

    def line(self, *points: Point, colour: str = INK, width: float = 1.0, dash: bool = False) -> None:
        """Draw a line through the points."""
        self._marks.append(_Polyline(points, colour, width, dash))

    def area(self, points: list[Point], colour: str) -> None:
        """Fill a polygon."""
        self._marks.append(_Area(tuple(points), colour))

    def text(self, at: Point, text: str, *, size: float = 12, anchor: Anchor = "start", colour: str = INK) -> None:
        """Write text; `at` is its anchor, in the middle of its height."""
        self._marks.append(_Text(at, text, size, anchor, colour))

    def svg(self) -> str:
        """Return the drawing as SVG."""
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{self.width:g}" height="{self.height:g}" '
            f'viewBox="0 0 {self.width:g} {self.height:g}" font-family="sans-serif">'
        )
        background = f'<rect width="{self.width:g}" height="{self.height:g}" fill="#ffffff"/>'
        return "\n".join([head, background, *map(_svg, self._marks), "</svg>", ""])

    def image(self) -> Image.Image:
        """Return the drawing as a picture, `SCALE` pixels a unit."""
        picture = Image.new("RGB", (round(self.width * SCALE), round(self.height * SCALE)), "#ffffff")
        for mark in self._marks:
            if isinstance(mark, _Area):
                self._fill(picture, mark)
            else:
                _paint(ImageDraw.Draw(picture), mark)
        return picture

    def save(self, path: Path) -> list[Path]:
        """Write `path`.svg and `path`.png; return both."""
        svg, png = (path.with_name(f"{path.name}.{kind}") for kind in ("svg", "png"))
        write_text(svg, self.svg())
        write_atomically(png, lambda file: self.image().save(file, "PNG"))
        return [svg, png]

    def _fill(self, picture: Image.Image, mark: _Area) -> None:
        mask = Image.new("L", picture.size, 0)
        ImageDraw.Draw(mask).polygon(_scaled(mark.points), fill=round(255 * OPACITY))
        picture.paste(Image.new("RGB", picture.size, mark.colour), mask=mask)


def _scaled(points: tuple[Point, ...]) -> list[Point]:
    return [(x * SCALE, y * SCALE) for x, y in points]


def _svg(mark: _Polyline | _Area | _Text) -> str:
    if isinstance(mark, _Text):
        (x, y), style = mark.at, f'font-size="{mark.size:g}" text-anchor="{mark.anchor}" fill="{mark.colour}"'
        return f'<text x="{x:.1f}" y="{y:.1f}" dy="0.35em" {style}>{escape(mark.text)}</text>'
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in mark.points)
    if isinstance(mark, _Area):
        return f'<polygon points="{points}" fill="{mark.colour}" fill-opacity="{OPACITY:g}"/>'
    dash = ' stroke-dasharray="5 4"' if mark.dash else ""
    return f'<polyline points="{points}" fill="none" stroke="{mark.colour}" stroke-width="{mark.width:g}"{dash}/>'


def _paint(draw: ImageDraw.ImageDraw, mark: _Polyline | _Text) -> None:
    if isinstance(mark, _Polyline):
        points = _scaled(mark.points)
        width = max(1, round(mark.width * SCALE))
        draw.line(points, fill=mark.colour, width=width, joint="curve")
        return
    anchor = {"start": "lm", "middle": "mm", "end": "rm"}[mark.anchor]
    font = ImageFont.load_default(size=mark.size * SCALE)
    draw.text(_scaled((mark.at,))[0], mark.text, fill=mark.colour, font=font, anchor=anchor)

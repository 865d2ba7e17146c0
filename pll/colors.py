"""How things look: a colour per class, a scale for label weights, right and wrong.

A class has the same colour on every page, in the light and the dark theme. Contrast of 3:1 against white and against
the dark background at once leaves a narrow band of lightness, so the colours were found by a search: as far apart as
possible inside the band, for normal sight and for simulated protan, deutan and tritan sight together, the first ten
above all. Colour is never the only cue: classes also differ by position and name.
"""

from __future__ import annotations

import math

LIGHT_BACKGROUND = "#ffffff"
DARK_BACKGROUND = "#0f1317"
"""The backgrounds of `.streamlit/config.toml`, which every colour here is made for."""

ACCENT = "#3568d4"
"""Buttons and links, and nothing else."""

RIGHT_COLOUR, WRONG_COLOUR = "#2f7fd6", "#c4560a"
"""Right and wrong where the truth is known: blue and orange, distinguishable for every kind of colour vision."""

LANE_COLOURS = ("#a8249c", "#6c6048", "#d87854", "#2448fc", "#9c84f0")
LANE_DASHES = ("solid", "dash", "dashdot", "longdash", "dot")
"""Lines of lanes and of methods, by place; the dashes under Plotly's names."""

WEIGHTS_LIGHT = (
    "#e8f1ff", "#c5dbfe", "#a2c5fe", "#7daefe", "#5896fe", "#3e80ed", "#286ad6", "#1756ba", "#0d449a", "#083377",
)  # fmt: skip
WEIGHTS_DARK = (
    "#152339", "#19335f", "#1e4585", "#2557a9", "#326bca", "#4481e6", "#5d98fa", "#81b0ff", "#a7c8ff", "#ccdffe",
)  # fmt: skip
"""Label weights from 0 to 1: one hue, even steps of lightness (OKLab), away from the background."""

_BASE = (
    "#515ac6", "#b48700", "#127500", "#bd75e1", "#ea6375", "#2499ea", "#b43f00", "#a23f90", "#00a27e", "#6c6c6c",
    "#8775b4", "#6c873f", "#ab6387", "#cf75ab", "#b4755a", "#0075a2", "#6375e1", "#bd3f63", "#905a36", "#995ac6",
)  # fmt: skip
SHAPES = ("circle", "square", "triangle", "wedge")
"""A second cue beside colour: the shape of a class's points, ten classes each; a wedge is a triangle on its tip."""
_SAME_SHAPE = 10
# The luminances that both backgrounds allow, dark to light: where a further cycle of the same hues may move to.
_LUMINANCES = (0.128, 0.205, 0.285)


def class_colours(c: int) -> list[str]:
    """Return the colours of classes 0 … c−1 as hex strings; class j has the same colour whatever c is.

    There are twenty hues; up to sixty classes they come again, darker or lighter; after that they repeat.

    Examples
    --------
    >>> class_colours(2)
    ['#515ac6', '#b48700']
    >>> class_colours(30)[:20] == class_colours(20)
    True
    """
    return [_class_colour(j) for j in range(c)]


def class_shapes(c: int) -> list[str]:
    """Return the shapes of classes 0 … c−1, each one of `SHAPES`; class j has the same shape whatever c is.

    The first ten classes are circles, whose colours are told apart with every kind of colour vision; later classes,
    whose colours come near to theirs, differ from them in shape.

    Examples
    --------
    >>> class_shapes(21)[9:12], class_shapes(21)[20]
    (['circle', 'square', 'square'], 'triangle')
    """
    return [SHAPES[j // _SAME_SHAPE % len(SHAPES)] for j in range(c)]


def luminance(colour: str) -> float:
    """Relative luminance of a hex colour, 0 (black) to 1 (white)."""
    return _luminance(linear(colour))


def linear(colour: str) -> tuple[float, ...]:
    """The linear light of a hex colour: red, green and blue, each in [0, 1]."""
    return tuple(_to_linear(int(colour[k : k + 2], 16) / 255) for k in (1, 3, 5))


def _class_colour(j: int) -> str:
    base = _BASE[j % len(_BASE)]
    cycle = j // len(_BASE) % len(_LUMINANCES)
    if cycle == 0:
        return base
    own = luminance(base)
    elsewhere = sorted(_LUMINANCES, key=lambda level: -abs(math.log(level / own)))
    return _at_luminance(base, elsewhere[cycle - 1])


def _at_luminance(colour: str, wanted: float) -> str:
    """The same hue, darkened by dimming or lightened by mixing in white, at the wanted luminance."""
    light = linear(colour)
    own = _luminance(light)
    if wanted <= own:
        mixed = [channel * wanted / own for channel in light]
    else:
        white = (wanted - own) / (1 - own)
        mixed = [channel + white * (1 - channel) for channel in light]
    return "#" + "".join(f"{round(255 * _from_linear(channel)):02x}" for channel in mixed)


def _luminance(light: tuple[float, ...]) -> float:
    return sum(share * channel for share, channel in zip((0.2126, 0.7152, 0.0722), light, strict=True))


def _to_linear(channel: float) -> float:
    return float(channel / 12.92 if channel <= 0.04045 else ((channel + 0.055) / 1.055) ** 2.4)


def _from_linear(channel: float) -> float:
    return float(12.92 * channel if channel <= 0.0031308 else 1.055 * channel ** (1 / 2.4) - 0.055)

"""The colours of `pll.colors`, under the name by which pages know them."""

from __future__ import annotations

from pll.colors import (
    ACCENT,
    DARK_BACKGROUND,
    LIGHT_BACKGROUND,
    RGB,
    RIGHT,
    WEIGHTS_DARK,
    WEIGHTS_LIGHT,
    WRONG,
    class_colours,
    contrast,
    linear,
    luminance,
)

__all__ = [
    "ACCENT",
    "DARK_BACKGROUND",
    "LIGHT_BACKGROUND",
    "RGB",
    "RIGHT",
    "WEIGHTS_DARK",
    "WEIGHTS_LIGHT",
    "WRONG",
    "class_colours",
    "contrast",
    "linear",
    "luminance",
]

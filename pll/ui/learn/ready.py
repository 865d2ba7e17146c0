"""What the figures of the Learn page show at first, computed before anybody looks."""

from __future__ import annotations

from pll.errors import UserError
from pll.ui.learn import landscape
from pll.ui.learn.lesson_data import lesson_sources, radius_of
from pll.ui.learn.partial import digits
from pll.ui.learn.playground import Playground
from pll.ui.learn.stuck import SHARPNESS, START, Q
from pll.ui.learn.together import METHODS


def prepare() -> None:
    """Fill the caches with what every reader sees first: about two seconds of one core."""
    ground = Playground()
    for method in METHODS:
        ground.history(method)
    for reading in ("min", "weights"):
        landscape.way_down(Q, START, SHARPNESS, reading)
    try:
        source = lesson_sources(0.7, "binomial", own=False)[-1]
        radius_of(source, digits(0.7))
    except UserError:  # the figure says it where it is seen
        pass

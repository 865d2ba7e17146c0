"""Views of a run at the epoch in view, each with the question it answers.

Only the view that is shown is computed. A view is a function of a `Scene`; the figures in these modules are plain
functions of arrays, so that other pages can use them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pll.ui.train.views import accuracy, distributions, example, example_map, examples, reliability, slow, ternary
from pll.ui.view_state import Scene


@dataclass(frozen=True)
class View:
    """One way to look.

    Attributes:
        question: what it answers.
        draw: puts it on the page.
        needs_truth: whether it says something only where true labels are known.
        is_first: whether it is computed before what is above it: what it sends takes the browser longest.
    """

    question: str
    draw: Callable[[Scene], None]
    needs_truth: bool = False
    is_first: bool = False


VIEWS: dict[str, View] = {
    "Examples": View("Which examples are certain, uncertain or wrong?", examples.draw),
    "One example": View("How did its label weights change?", example.draw),
    "Map": View("Which examples lie together, and where is it unsure?", example_map.draw, is_first=True),
    "Accuracy": View("Does accuracy rise with confidence?", accuracy.draw),
    "Confidence": View("How many examples are at each confidence?", distributions.draw_confidence),
    "Entropy": View("How does entropy fall over the epochs?", distributions.draw_entropy),
    "Reliability": View("Is confidence calibrated?", reliability.draw, needs_truth=True),
    "Triangle": View("How do the weights of three candidates move?", ternary.draw),
    "Slow motion": View("What does one mini-batch compute?", slow.draw),
}

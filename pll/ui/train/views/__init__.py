"""Views of a run at the epoch in view, each with the question it answers.

Only the view that is shown is computed. A view is a function of a `Scene`; the figures in these modules are plain
functions of arrays, so that other pages can use them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pll.ui.train.views import accuracy, distributions, example, examples, reliability, slow, ternary
from pll.ui.view_state import Scene


@dataclass(frozen=True)
class View:
    """One way to look.

    Attributes:
        question: what it answers.
        draw: puts it on the page.
        needs_truth: whether it says something only where true labels are known.
    """

    question: str
    draw: Callable[[Scene], None]
    needs_truth: bool = False


VIEWS: dict[str, View] = {
    "Examples": View("Which examples are clear, open, or wrong?", examples.draw),
    "One example": View("How did this one come to its label?", example.draw),
    "Accuracy": View("Does it become right, or only sure?", accuracy.draw),
    "Confidence": View("How sure is it, of how many?", distributions.draw_confidence),
    "Entropy": View("When did the doubt go away?", distributions.draw_entropy),
    "Reliability": View("Can its confidence be believed?", reliability.draw, needs_truth=True),
    "Triangle": View("Which of the candidates wins?", ternary.draw),
    "Slow motion": View("What does one mini-batch do, exactly?", slow.draw),
}

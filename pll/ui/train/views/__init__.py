"""Views of a run at the epoch in view. Only the view that is shown is computed."""

from __future__ import annotations

from collections.abc import Callable

from pll.ui.scenes import Scene
from pll.ui.train import pictures
from pll.ui.train.views import accuracy, example_map, examples, reliability, settings, slow

VIEWS: dict[str, Callable[[Scene], None]] = {
    "Pictures": pictures.draw,
    "Examples": examples.draw,
    "Map": example_map.draw,
}
"""What everybody sees: the star plot and the heatmap; examples one by one; which of them lie together."""

EXPERT_VIEWS: dict[str, Callable[[Scene], None]] = {
    "Accuracy": accuracy.draw,
    "Reliability": reliability.draw,
    "Slow motion": slow.draw,
    "Settings": settings.draw,
}
"""Accuracy and loss over the epochs; how often labels are right, by how sure they are; what one mini-batch computes;
how the run was set up."""

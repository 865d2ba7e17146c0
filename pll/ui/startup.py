"""Work done once at server start, in the background, so that pages and refreshes are fast.

Streamlit collects garbage after *every* script run, every refresh of a live view included. With torch, pandas and
Plotly loaded that takes 0.2 s of a core each time, in which no other thread runs. Objects that stay loaded are
frozen; a collection then takes less than a millisecond.
"""

from __future__ import annotations

import gc
import importlib
import threading

import numpy as np

from pll.candidates import CandidateSets
from pll.methods import METHODS

MODULES = ("pll.ui.train.live", "pll.ui.train.run_controls", "pll.ui.compare.live")
"""What the train and compare pages import; the home page, where most begin, does not."""


def get_ready() -> None:
    """Import what pages will need, train for a moment, and freeze all objects."""
    for name in MODULES:
        importlib.import_module(name)
    warm_up()
    gc.collect()
    gc.freeze()


def get_ready_in_background() -> threading.Thread:
    """`get_ready` in a thread of its own."""
    thread = threading.Thread(target=get_ready, name="candid-startup", daemon=True)
    thread.start()
    return thread


def warm_up() -> None:
    """One epoch on four examples: about two seconds the first time, nothing afterwards."""
    X = np.eye(4, dtype=np.float32)
    METHODS["proden"](epochs=1).fit(X, CandidateSets.from_lists([[0, 1], [1], [0], [0, 1]], n_classes=2))

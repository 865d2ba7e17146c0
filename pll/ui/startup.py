"""What a server does once, in the background, so that the first page and every refresh are quick.

Streamlit collects garbage after *every* script run, every refresh of a live view included. With torch, pandas and
Plotly loaded that takes 0.2 s of a core each time, in which no other thread runs. What is loaded once and stays for
ever need not be looked through again: frozen, a collection costs less than a millisecond.
"""

from __future__ import annotations

import gc
import importlib
import threading

from pll.warmup import warm_up

MODULES = ("pll.ui.live", "pll.ui.transport", "pll.ui.compare.following")
"""What the train and compare pages import; the home page, where most begin, does not."""


def get_ready() -> None:
    """Import what pages will need, train for a moment, and freeze what is there."""
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

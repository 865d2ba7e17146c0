"""Work done once at server start: the home is this server's, settings are sound, and pages will be fast.

Streamlit collects garbage after *every* script run, every refresh of a live view included. With torch, pandas and
Plotly loaded that takes 0.2 s of a core each time, in which no other thread runs. Objects that stay loaded are
frozen; a collection then takes less than a millisecond.
"""

from __future__ import annotations

import gc
import importlib
import logging
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import streamlit as st

import pll
from pll.candidates import CandidateSets
from pll.errors import UserError
from pll.methods import METHODS
from pll.paths import candid_home
from pll.runs.process import own
from pll.runs.server_log import log_event, set_up_log
from pll.ui import server_health
from pll.ui.login import login_is_set_up
from pll.ui.server_settings import check_settings, setting

OF_THIS_MACHINE = ("localhost", "127.0.0.1", "::1")
_LOG = logging.getLogger("candid")


def begin() -> None:
    """Check the settings, open the log, and print warnings for the operator of this server.

    Ends the process with a message where a setting cannot be meant.
    """
    try:
        warnings, home = check_settings(), candid_home()
        own(home)
    except UserError as error:
        sys.stderr.write(f"candid: {error}\n")
        sys.stderr.flush()
        os._exit(2)  # an exception here would be a page of traceback
    set_up_log(setting("PLL_LOG"))
    server_health.raise_descriptor_limit()
    for warning in (*warnings, *login_warnings()):
        _LOG.warning(warning)
    log_event("server started", version=pll.__version__, home=str(home), login=login_is_set_up())


def login_warnings() -> list[str]:
    """Return what is open to others than it should be."""
    address = st.config.get_option("server.address")
    if not login_is_set_up():
        warnings = ["PLL_ADMINS is set, but there is no login; it has no effect."] if setting("PLL_ADMINS") else []
        if address in OF_THIS_MACHINE:
            return warnings
        where = f"at {address}" if address else "at every address of this machine"
        return [
            *warnings,
            f"Nobody has to log in, and this server listens {where}: whoever reaches it may see, change and delete "
            "everything. Set up a login (docs/server.md), or start it with --server.address=localhost.",
        ]
    if not setting("PLL_ADMINS"):
        return ["A login is set up, but PLL_ADMINS names nobody: runs without an owner cannot be opened by anybody."]
    return []


MODULES = ("pll.ui.train.live", "pll.ui.compare.live")
"""What the train and compare pages import; the home page, where most begin, does not."""


FIRST_PAGE_SENT = threading.Event()
"""Set once the server has shown a page."""
LATEST_START = 5.0
"""Seconds after which a server that nobody has opened gets ready."""


ALL_LOADED = threading.Event()
"""Set once all that pages import is loaded."""
_LOADING = threading.Lock()


@contextmanager
def one_at_a_time() -> Iterator[None]:
    """Run while nobody else loads: until all is loaded, a page or `get_ready`, one after the other.

    Two threads that import modules which import each other would have Python hand out a module that is half loaded.
    """
    if ALL_LOADED.is_set():
        yield
        return
    with _LOADING:
        yield


def get_ready() -> None:
    """Import what pages will need, train for a moment, and freeze all objects.

    The first page goes first: it needs little of that.
    """
    FIRST_PAGE_SENT.wait(LATEST_START)
    try:
        with one_at_a_time():
            for name in MODULES:
                importlib.import_module(name)
            service = importlib.import_module("pll.ui.review.service")
    finally:
        ALL_LOADED.set()
    try:
        service.database()  # Label Studio waits one second for its first answer
    except UserError as error:  # whoever opens a review reads it too, or finds it mended
        _LOG.error("%s", error)
    warm_up()
    importlib.import_module("pll.ui.learn.lesson_files").lesson_data()
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

"""Errors as the user sees them: on the page, in a toast, and never a traceback."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec

import streamlit as st

from pll.errors import UserError
from pll.ui.format import plain

P = ParamSpec("P")


def show_error(error: Exception | str, *, icon: str = "error") -> None:
    """Show what went wrong, in its place on the page.

    Parameters
    ----------
    error
        What went wrong.
    icon
        Name of a Material symbol.
    """
    st.error(plain(error), icon=f":material/{icon}:")


def toast_errors(callback: Callable[P, object]) -> Callable[P, None]:
    """A callback that says what went wrong in a toast."""

    @wraps(callback)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            callback(*args, **kwargs)
        except (UserError, OSError) as error:
            st.toast(plain(error), icon=":material/error:")

    return wrapped


def show_errors(part: Callable[P, object]) -> Callable[P, None]:
    """A part of a page that says what went wrong in its own place. To be put below `st.fragment`."""

    @wraps(part)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            part(*args, **kwargs)
        except UserError as error:
            show_error(error)

    return wrapped

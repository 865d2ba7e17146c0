"""Widgets that show a value which is kept elsewhere, and change it there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from pll.ui.error_messages import toast_errors


def bound(
    widget: Callable[..., Any],
    label: str,
    *options: Any,
    key: str,
    now: Any,
    change: Callable[[Any], object],
    **more: Any,
) -> None:
    """Show a widget that takes effect at once; where the change fails, it shows again what is.

    Parameters
    ----------
    widget
        A function of Streamlit.
    label
        Its first argument.
    options
        Its further arguments by place.
    key
        Of the widget.
    now
        What it shows, whatever it showed before.
    change
        Called with what a person makes of it, before the page runs.
    more
        Further arguments by name.
    """
    st.session_state[key] = now  # and no default beside it, of which Streamlit would warn

    def changed() -> None:
        value = st.session_state[key]
        if value is not None or not more.get("required"):
            change(value)

    widget(label, *options, key=key, on_change=toast_errors(changed), **more)

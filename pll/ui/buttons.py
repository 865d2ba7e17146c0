"""Buttons that do something, where what goes wrong is said in a toast; and boxes that open."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import streamlit as st

from pll.ui.error_messages import toast_errors

Kind = Literal["primary", "secondary", "tertiary"]


def button(
    label: str,
    act: Callable[..., object],
    *args: object,
    icon: str = "",
    key: str | None = None,
    kind: Kind = "secondary",
    help: str | None = None,
    shortcut: str | None = None,
    disabled: bool = False,
    width: Literal["content", "stretch"] | int = "content",
) -> None:
    """Show a button.

    Parameters
    ----------
    label
        What stands on it.
    act, args
        What is called when it is pressed, before the page runs, and with what.
    icon
        Name of a Material symbol; "" for none.
    key
        Of the widget, where the label is not enough.
    kind
        How much it stands out: one of a page is primary.
    help
        What it does, where the pointer rests.
    shortcut
        The key that presses it.
    disabled
        Whether it cannot be pressed now.
    width
        In pixels, or as its content or its place.
    """
    st.button(
        label,
        icon=f":material/{icon}:" if icon else None,
        on_click=toast_errors(act),
        args=args,
        key=key,
        type=kind,
        help=help,
        shortcut=shortcut,
        disabled=disabled,
        width=width,
    )


def popover(
    label: str,
    draw: Callable[..., object],
    *args: Any,
    key: str,
    icon: str = "",
    kind: Kind = "tertiary",
) -> None:
    """Show a box that opens; while it is closed it costs nothing.

    Parameters
    ----------
    label
        What stands on it.
    draw, args
        What is called where it is open, and with what.
    key
        Of the widget.
    icon
        Name of a Material symbol; "" for none.
    kind
        How much it stands out.
    """
    box = st.popover(label, icon=f":material/{icon}:" if icon else None, type=kind, key=key, on_change="rerun")
    if box.open:
        with box:
            draw(*args)


def folded(label: str, draw: Callable[..., object], *args: Any, key: str, icon: str = "") -> None:
    """Show a part of the page that is folded away; while it is closed it costs nothing.

    Parameters
    ----------
    label
        What stands on it.
    draw, args
        What is called where it is open, and with what.
    key
        Of the widget.
    icon
        Name of a Material symbol; "" for none.
    """
    box = st.expander(label, icon=f":material/{icon}:" if icon else None, key=key, on_change="rerun")
    if box.open:
        with box:
            draw(*args)

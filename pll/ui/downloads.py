"""Download buttons."""

from __future__ import annotations

from collections.abc import Callable
from mimetypes import guess_type

import streamlit as st

from pll.ui.buttons import Kind


def download(
    label: str,
    data: bytes | str | Callable[[], bytes | str],
    name: str,
    *,
    key: str,
    kind: Kind = "secondary",
    icon: str = "download",
    help: str | None = None,
    disabled: bool = False,
) -> None:
    """Show a button that downloads a file; the page does not run.

    Parameters
    ----------
    label
        What stands on it.
    data
        The content, or a function that makes it when the button is pressed.
    name
        Of the file.
    key
        Of the widget.
    kind
        How much it stands out.
    icon
        Name of a Material symbol.
    help
        What it holds, where the pointer rests.
    disabled
        Whether it cannot be pressed now.
    """
    st.download_button(
        label,
        data,
        file_name=name,
        mime=guess_type(name)[0] or "application/octet-stream",
        key=key,
        type=kind,
        icon=f":material/{icon}:",
        help=help,
        disabled=disabled,
        on_click="ignore",
    )

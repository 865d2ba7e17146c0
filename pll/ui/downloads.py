"""Download buttons."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Literal

import streamlit as st

MIME = {
    ".csv": "text/csv",
    ".tsv": "text/tab-separated-values",
    ".html": "text/html",
    ".json": "application/json",
    ".xml": "application/xml",
    ".zip": "application/zip",
    ".npz": "application/zip",
}


def download(
    label: str,
    data: bytes | str | Callable[[], bytes | str],
    name: str,
    *,
    key: str,
    kind: Literal["primary", "secondary", "tertiary"] = "secondary",
    icon: str = "download",
    help: str | None = None,
    disabled: bool = False,
) -> None:
    """Show a button that downloads a file, made when it is pressed if `data` is a function; the page does not run."""
    st.download_button(
        label,
        data,
        file_name=name,
        mime=MIME.get(Path(name).suffix, "application/octet-stream"),
        key=key,
        type=kind,
        icon=f":material/{icon}:",
        help=help,
        disabled=disabled,
        on_click="ignore",
    )

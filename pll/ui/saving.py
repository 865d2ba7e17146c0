"""Buttons that save a Plotly chart as PNG and as SVG: its own toolbar can offer one of them only."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from pll.ui.canvas import Component, without_comments

HTML = """
<div class="saving">
  <button type="button" data-kind="png">Picture as PNG</button>
  <button type="button" data-kind="svg">Picture as SVG</button>
</div>
"""


def picture_buttons(chart: str, file_name: str) -> None:
    """Both buttons.

    Args:
        chart: the key of an `st.plotly_chart` on this page.
        file_name: without an ending.
    """
    _buttons(key=f"{chart}-picture", data={"chart": chart, "name": file_name})


def _component() -> Component:
    styles, script = ((Path(__file__).parent / f"saving.{kind}").read_text("utf-8") for kind in ("css", "js"))
    mount: Component = st.components.v2.component(
        "candid_saving", html=HTML, css=without_comments(styles), js=without_comments(script)
    )
    return mount


_buttons = _component()

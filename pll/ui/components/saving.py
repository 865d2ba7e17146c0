"""Buttons that save a Plotly chart as PNG and as SVG: its own toolbar can offer one of them only."""

from __future__ import annotations

from pll.ui.components.canvas import HERE
from pll.ui.components.component import register

HTML = """
<div class="saving">
  <button type="button" data-kind="png">Picture as PNG</button>
  <button type="button" data-kind="svg">Picture as SVG</button>
</div>
"""


def picture_buttons(chart: str, file_name: str) -> None:
    """Show both buttons for the `st.plotly_chart` of that key; the file name is without an ending.

    Parameters
    ----------
    chart
        Key of the chart.
    file_name
        Of the picture, without its ending.
    """
    _buttons(key=f"{chart}-picture", data={"chart": chart, "name": file_name})


_buttons = register(HERE / "saving", HTML)

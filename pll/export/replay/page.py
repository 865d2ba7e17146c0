"""HTML file of a replay: its data and the drawing code of the app.

The star plot and the heatmap are those of the app: the same scripts, read from `pll/ui`. Nothing is loaded from
anywhere, and the page's own policy forbids it. Names and texts of the data go in as data, never as markup.
"""

from __future__ import annotations

import json
from pathlib import Path

from markupsafe import Markup

import pll
from pll.colors import ACCENT, DARK_BACKGROUND, LIGHT_BACKGROUND, RIGHT_COLOUR, WEIGHTS_DARK, WEIGHTS_LIGHT
from pll.dataset import PartialLabelDataset
from pll.export.rendered import rendered
from pll.export.replay.film import film
from pll.runs.folder import RunFolder

HERE = Path(__file__).parent
DRAWING = HERE.parents[1] / "ui" / "components"
"""Folder of the scripts of the app's plots."""
COMPONENT_EXPORT = "export default function (component) {"
"""Export of the app's scripts for Streamlit, which is removed."""

THEMES = {
    "light": (LIGHT_BACKGROUND, "#1d242b", "#dfe4e9", WEIGHTS_LIGHT),
    "dark": (DARK_BACKGROUND, "#e4e8ec", "#2a323a", WEIGHTS_DARK),
}
"""Background, text, lines and label weights, as in `.streamlit/config.toml`."""


def replay_html(folder: RunFolder, data: PartialLabelDataset) -> str:
    """Return the run as one self-contained HTML page below 3 MB.

    Parameters
    ----------
    folder
        Of a run, ended or at work.
    data
        Its training part.

    Raises
    ------
    UserError
        It has not trained for an epoch yet.
    """
    content = film(folder, data)
    return rendered(
        "replay.html.jinja",
        title=content["title"],
        settings=content["settings"],
        version=pll.__version__,
        themes=THEMES,
        accent=ACCENT,
        right=RIGHT_COLOUR,
        style=Markup(_read(DRAWING / "canvas.css") + _read(HERE / "replay.css")),
        script=Markup(script()),
        film=Markup(json.dumps(content, separators=(",", ":")).replace("<", "\\u003c")),
    )


def script() -> str:
    """Return all scripts as one module."""
    shared = [_read(DRAWING / f"{name}.js") for name in ("svgpen", "canvas")]
    drawing = [*shared, *(_drawing(name) for name in ("star", "heatmap"))]
    own = [_read(HERE / f"{name}.js") for name in ("film", "lines", "replay")]
    return "\n".join([*drawing, *own])


def _drawing(name: str) -> str:
    text = _read(DRAWING / f"{name}.js")
    assert text.count(COMPONENT_EXPORT) == 1, f"{name}.js no longer ends as the replay expects"
    return text.replace(COMPONENT_EXPORT, f"function mount{name.capitalize()}(component) {{")


def _read(file: Path) -> str:
    return file.read_text("utf-8")

"""Files of the lesson that runs in the browser: for the Learn page, and as a folder that opens without a server."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from pll.catalog.sources import Source
from pll.colors import WRONG_COLOUR, class_colours
from pll.io import zipped
from pll.ui.components import canvas
from pll.ui.components.component import files_of
from pll.ui.learn.layout import CHAPTERS, ON_OWN_DATA

LESSON_FOLDER = Path(__file__).with_name("lesson")
SCRIPTS = ("train", "ground", "landscape", "linechart", "toypicture", "toyhands", "toy", "screen", "ideas")
LESSON_PARTS = [*canvas.CANVAS, *(LESSON_FOLDER / name for name in SCRIPTS)]
"""What the Learn page and the folder have in common, in the order in which it is read."""
MOST_DIGITS = 120


@lru_cache(maxsize=1)
def lesson_data() -> dict[str, Any]:
    """What the scripts need from Python: titles of ideas, the colours of three classes and of errors, some digits.

    Pixels are a character of base 36 each, 64 a digit.
    """
    data = Source("digits").load()
    assert data.y is not None
    greys = "0123456789abcdefg"  # 0 to 16
    pixels = np.rint(data.X[:MOST_DIGITS].ravel() / data.X.max() * 16).astype(int)
    return {
        "titles": {name: title for name, title in CHAPTERS.items() if name not in ON_OWN_DATA},
        "colours": class_colours(3),
        "wrong": WRONG_COLOUR,
        "digits": {"labels": data.y[:MOST_DIGITS].tolist(), "pixels": "".join(greys[value] for value in pixels)},
    }


def lesson_files() -> dict[str, bytes]:
    """Return the folder: the content of each file by its name; `index.html` opens by a double click."""
    static = [file for file in sorted(LESSON_FOLDER.iterdir()) if file.suffix in {".html", ".css", ".js"}]
    shared = [file for ending in (".js", ".css") for file in files_of(canvas.CANVAS, ending)]
    files = {file.name: file.read_bytes() for file in [*static, *shared]}
    files["data.js"] = f"const LESSON = {json.dumps(lesson_data())};\n".encode()
    return files


def lesson_zip() -> bytes:
    """Return the same folder as a ZIP."""
    return zipped({f"candid-lesson/{name}": content for name, content in lesson_files().items()})

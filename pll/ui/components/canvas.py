"""Canvas components: animated pictures drawn in the browser.

A component is a JavaScript file in this folder, appended to the code that all of them share.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import streamlit as st

from pll.colors import class_colours
from pll.ui.components.component import Component, Payload, register
from pll.wording import count, excerpt, short_names

HERE = Path(__file__).parent
SPOKEN = HERE / "spoken"
CANVAS = (SPOKEN, HERE / "svgpen", HERE / "canvas")
"""What all pictures have in common."""
PLOT_HTML = """
<div class="plot">
  <div class="head">
    <span class="when"></span><span class="note"></span>
    <button class="save" type="button" title="Save this picture" aria-label="Save this picture"></button>
  </div>
  <canvas tabindex="0" role="application" aria-describedby="keys"></canvas>
  <details class="names" hidden><summary>Names in full</summary><ul></ul></details>
  <div class="tip" hidden></div>
  <div class="spoken" id="keys">Arrow keys move, Page Up and Page Down go further, Enter selects, Escape leaves.</div>
  <div class="spoken now" role="status" aria-live="polite"></div>
</div>
"""


def canvas_component(name: str) -> Component:
    """Registers `<name>.js`, and returns the command that mounts it."""
    return register(HERE / name, PLOT_HTML, shared=CANVAS)


@dataclass(frozen=True)
class Presentation:
    """How examples are shown in a picture, beside what the picture is made of."""

    when: str = ""  # a few words above it, such as "After 12 passes"
    selected: int | None = None  # the example to mark; the latest change, by page or viewer, counts
    ids: npt.NDArray[np.str_] | None = None  # what to call the examples; without it "example 12"
    texts: npt.NDArray[Any] | None = None  # what they say; the pointer shows how a text begins
    height: int = 480  # pixels, at most; less on a narrow screen
    fill: int | None = None  # pixels of the window that all else takes: the picture takes the rest, `height` at most

    def payload(self, examples: npt.NDArray[np.int64], *, names: bool = True) -> Payload:
        """The part of a payload that says so of these examples, with their ids and texts unless they are too many.

        Parameters
        ----------
        examples
            (m,) rows that the picture shows.
        names
            Whether their ids and texts are sent.
        """
        parts = {"when": self.when, "selected": self.selected, "height": self.height, "fill": self.fill}
        if not names:
            return parts
        ids = [] if self.ids is None else self.ids[examples].tolist()
        has_own = bool(ids) and ids != [str(example) for example in examples]
        return parts | ({"ids": ids} if has_own else {}) | _texts(self.texts, examples)


def mount(
    component: Component,
    payload: Payload,
    key: str,
    n: int,
    on_select: Callable[[int], None] | None = None,
    **callbacks: Callable[[], None],
) -> None:
    """Mounts or updates the component called `key`.

    Parameters
    ----------
    component
        As `canvas_component` returns it.
    payload
        What it shows.
    key
        Of the widget.
    n
        Examples of the data.
    on_select
        Called with the example that was selected, before the page runs.
    callbacks
        `on_…_change` of further triggers.
    """

    def selected() -> None:
        example = st.session_state[key].get("selected")
        if on_select is not None and isinstance(example, int) and 0 <= example < n:
            on_select(example)

    component(key=key, data=payload, on_selected_change=selected, **callbacks)


def legend(class_names: Sequence[str], shown: npt.NDArray[np.int64], letters: int) -> Payload:
    """The part of a payload that names and colours classes.

    Parameters
    ----------
    class_names
        Of all classes.
    shown
        (k,) those of the picture.
    letters
        Characters for which there is room beside one.
    """
    names, colours = [class_names[j] for j in shown], class_colours(len(class_names))
    return {"names": names, "short": short_names(names, letters), "colours": [colours[j] for j in shown]}


def raw(array: npt.NDArray[Any]) -> bytes:
    """The array's bytes, little-endian, as a value of a payload: for `numbers()` of canvas.js.

    Examples
    --------
    >>> raw(np.array([1, 258], dtype=np.uint16))
    b'\\x01\\x00\\x02\\x01'
    """
    return array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes()


MOST_TEXT_LETTERS = 60_000
"""Characters of all texts of a picture together."""
TEXT_LENGTHS = (24, 120)
"""Characters of one text, at least where there are many examples and at most where there are few."""


def _texts(texts: npt.NDArray[Any] | None, examples: npt.NDArray[np.int64]) -> Payload:
    """How the texts of some examples begin, as a part of a payload; nothing without texts."""
    if texts is None or not len(examples):
        return {}
    least, most = TEXT_LENGTHS
    length = max(least, min(most, MOST_TEXT_LETTERS // len(examples)))
    return {"texts": [excerpt(texts[int(example)], length) for example in examples]}


def format_shown(examples: int, of: int, classes: int = 0, of_classes: int = 0) -> str:
    """How many of the examples a picture shows, and of the classes where it does not show them all.

    Parameters
    ----------
    examples, of
        How many examples it shows, and how many there are.
    classes, of_classes
        The same of the classes.

    Examples
    --------
    >>> format_shown(300, 1797, 12, 100), format_shown(60, 60, 3, 3)
    ('300 of 1,797 examples, 12 of 100 classes', '60 examples')
    """
    words = f"{examples:,} of {of:,} examples" if examples < of else count(of, "example")
    return words + (f", {classes} of {of_classes:,} classes" if classes < of_classes else "")


COUNTED = 12
"""Classes whose examples are counted in the words of a picture."""


def format_counts(counts: Mapping[str, int]) -> str:
    """Counts in words, the largest first: "3 cat, 2 dog and 5 more in 4 other classes".

    Examples
    --------
    >>> format_counts({"cat": 1, "dog": 3, "fox": 0})
    '3 dog, 1 cat'
    """
    present = sorted(((n, name) for name, n in counts.items() if n), key=lambda pair: -pair[0])
    listed = ", ".join(f"{n:,} {name}" for n, name in present[:COUNTED])
    rest = present[COUNTED:]
    if not rest:
        return listed
    others = "1 other class" if len(rest) == 1 else f"{len(rest):,} other classes"
    return f"{listed} and {sum(n for n, _ in rest):,} more in {others}"

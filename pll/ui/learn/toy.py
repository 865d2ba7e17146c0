"""Toy component: points in the plane that can be moved, added and removed, and the decision boundary at every epoch.
The browser animates (`toy.js`); everything shown was computed in Python.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import streamlit as st

from pll.analysis.theory.toy import CLASSES, Toy, ToyHistory
from pll.colors import class_colours, percent
from pll.ui.components import canvas
from pll.ui.components.canvas import encoded
from pll.ui.components.component import Payload, register

HERE = Path(__file__).parent
HTML = """
<div class="plot toy">
  <div class="head">
    <span class="when"></span><span class="note"></span>
    <button class="save" type="button" title="Save this picture" aria-label="Save this picture"></button>
  </div>
  <canvas tabindex="0" role="application" aria-describedby="keys"></canvas>
  <div class="bar">
    <button class="begin" type="button" aria-label="Back to before training" title="Back to before training"></button>
    <button class="play" type="button" aria-label="Train"></button>
    <button class="step" type="button" aria-label="One epoch" title="One epoch">+1</button>
    <input class="epoch" type="range" min="0" value="0" aria-label="Epoch">
  </div>
  <div class="bar edits">
    <span class="what">Drag points, or add some:</span><span class="adders"></span>
    <button class="remove" type="button" disabled>Remove the chosen one</button>
  </div>
  <div class="tip" hidden></div>
  <div class="spoken" id="keys">Arrow keys go from point to point, Enter chooses one, Space takes it up so that
    arrow keys move it and puts it down again, Delete removes it, Escape leaves.</div>
  <div class="spoken now" role="status" aria-live="polite"></div>
</div>
"""
TITLES = {
    "proden": "Weights (PRODEN)",
    "proden-sudden": "Min alone (sudden)",
    "proden-naive": "Average (naive)",
    "pn-oracle": "With the truth",
}


_toy = register(
    "toy",
    HTML,
    scripts=[*canvas.SHARED, *(HERE / f"{name}.js" for name in ("toypicture", "toyhands", "toy"))],
    styles=[canvas.HERE / "canvas.css", HERE / "toy.css"],
)


HEIGHT = 460
"""Pixels of a panel, at most."""


@dataclass(frozen=True)
class Edit:
    """What a reader did to the points, as the browser reports it.

    Attributes
    ----------
    kind
        `"move"`, `"add"` or `"remove"`.
    asked
        The number of the report, to be sent back as its answer.
    point
        The point moved or removed.
    x, y
        Where to, or where the new one is; in [−1, 1].
    label
        Class of the new one.
    """

    kind: Literal["move", "add", "remove"]
    asked: int
    point: int = -1
    x: float = 0.0
    y: float = 0.0
    label: int = 0


def toy_plot(
    toy: Toy,
    histories: Sequence[ToyHistory],
    *,
    key: str,
    epoch: int,
    look: int,
    selected: int | None,
    asked: int,
    on_edit: Callable[[Edit], None],
    on_look: Callable[[int, int], None],
    on_select: Callable[[int], None],
) -> None:
    """Shows the toy, or moves the one called `key`; a panel for each history.

    Parameters
    ----------
    histories
        Of this toy, all of the same number of epochs.
    key
        Its name on the page.
    epoch
        To show at first, and whenever `look` changes.
    look
        Counts the times that the page itself chose the epoch.
    selected
        The point that is marked.
    asked
        Number of the last report that was taken notice of.
    on_edit, on_look, on_select
        Called before the page runs: an edit; (epoch, number of the report) once the epoch in view has stopped changing;
        a selected point.
    """

    def edited() -> None:
        edit = checked_edit(st.session_state[key].get("edit"), len(toy))
        if edit is not None:
            on_edit(edit)

    def looked() -> None:
        match st.session_state[key].get("look"):
            case [int(at), int(number)] if 0 <= at <= histories[0].epochs:
                on_look(at, number)

    def chosen() -> None:
        point = st.session_state[key].get("selected")
        if isinstance(point, int) and 0 <= point < len(toy):
            on_select(point)

    payload = toy_payload(toy, histories, epoch=epoch, look=look, selected=selected, asked=asked)
    _toy(key=key, data=payload, on_edit_change=edited, on_look_change=looked, on_selected_change=chosen)


def toy_payload(
    toy: Toy,
    histories: Sequence[ToyHistory],
    *,
    epoch: int = 0,
    look: int = 0,
    selected: int | None = None,
    asked: int = 0,
) -> Payload:
    """What `toy_plot` sends to the browser, as `toy.js` reads it."""
    n = len(toy)
    return {
        "when": "",
        "note": f"{n} points",
        "description": description(toy, histories, epoch),
        "height": HEIGHT,
        "count": n,
        "names": list(CLASSES),
        "colours": class_colours(len(CLASSES)),
        "xs": [round(float(x), 4) for x in toy.points[:, 0]],
        "ys": [round(float(y), 4) for y in toy.points[:, 1]],
        "truth": toy.y.tolist(),
        "sets": [toy.candidates[i].tolist() for i in range(n)],
        "panels": [
            {
                "title": TITLES.get(history.method, history.method),
                "planes": encoded(history.planes),
                "weights": encoded(np.rint(history.weights * 255).astype(np.uint8)),
                "identified": encoded(history.identified.astype(np.uint8)),
                "right": np.rint(history.right * n).astype(int).tolist(),
            }
            for history in histories
        ],
        "epochs": histories[0].epochs,
        "epoch": epoch,
        "look": look,
        "selected": selected,
        "asked": asked,
    }


def description(toy: Toy, histories: Sequence[ToyHistory], epoch: int) -> str:
    """Return the text alternative of the picture."""
    n = len(toy)
    when = f"after epoch {epoch}" if epoch else "before training"
    found = [
        f"{TITLES.get(history.method, history.method)}: {round(history.right[epoch] * n)} of {n} identified right, "
        f"mean confidence {percent(history.confidence[epoch], 0)}"
        for history in histories
    ]
    return (
        f"{n} points of three classes in a square, {when}; each is a pie of its label weights, with a cross where its "
        f"identified label is wrong, and the plane behind is shaded by the model's class. {'. '.join(found)}."
    )


def checked_edit(said: object, n: int) -> Edit | None:
    """What the browser reports, if it can be meant.

    Examples
    --------
    >>> checked_edit({"kind": "move", "point": 2, "x": 0.5, "y": 0, "asked": 1}, 3)
    Edit(kind='move', asked=1, point=2, x=0.5, y=0.0, label=0)
    >>> checked_edit({"kind": "move", "point": 3, "x": 0.5, "y": 0, "asked": 1}, 3) is None
    True
    """
    match said:
        case {"kind": "move", "point": int(i), "x": int() | float() as x, "y": int() | float() as y, "asked": int(k)}:
            return Edit("move", k, i, float(x), float(y)) if 0 <= i < n and _in_square(x, y) else None
        case {"kind": "add", "label": int(j), "x": int() | float() as x, "y": int() | float() as y, "asked": int(k)}:
            fits = 0 <= j < len(CLASSES) and _in_square(x, y)
            return Edit("add", k, -1, float(x), float(y), j) if fits else None
        case {"kind": "remove", "point": int(i), "asked": int(k)} if 0 <= i < n:
            return Edit("remove", k, i)
    return None


def _in_square(*values: Any) -> bool:
    return all(math.isfinite(value) and -1 <= value <= 1 for value in values)

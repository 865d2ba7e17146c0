"""Timeline component: progress of a run, and a handle that selects the epoch in view.

The browser draws it (`timeline.js`), so that dragging does not wait for the server: the handle follows the pointer, and
the next epoch is requested when the one before has arrived.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
import streamlit as st

from pll.ui.components.canvas import HERE, raw
from pll.ui.components.component import Payload, register

MOST_SPARKS = 300
"""Columns of the small chart behind the handle."""
TIMELINE_HTML = """
<div class="timeline">
  <button class="replay" type="button" title="Play it back"></button>
  <div class="track" role="slider" tabindex="0" aria-label="Moment in view" aria-valuemin="0" aria-valuenow="0">
    <svg viewBox="0 0 1000 100" preserveAspectRatio="none" aria-hidden="true"><path></path></svg>
    <div class="rail"><div class="done"></div></div>
    <div class="thumb"></div>
  </div>
  <button class="live" type="button" aria-pressed="true" title="Follow the latest"><i></i>Live</button>
</div>
"""


_timeline = register(HERE / "timeline", TIMELINE_HTML)


def timeline_payload(
    stored: Sequence[int], *, done: int, total: int, changed: npt.NDArray[np.float32], **now: int
) -> Payload:
    """What `mount_timeline` shows, as `timeline.js` reads it.

    Parameters
    ----------
    stored
        The epochs that can be looked at, in order.
    done
        Epochs complete.
    total
        Epochs in all.
    changed
        (epochs,) share of the labels that changed in epoch 1, 2, …
    now
        The epoch `viewed`; whether to `follow` the latest one, and it is `live`: the run has not ended; the number
        `requested` of the request that these answer.
    """
    epochs = {"stored": raw(np.asarray(stored, dtype=np.uint32)), "done": done, "total": max(total, done, 1)}
    return epochs | {"changed": spark(changed)} | now


def mount_timeline(payload: Payload, *, key: str, on_look: Callable[[int, bool, int], None]) -> None:
    """Mounts or updates the timeline called `key`.

    Parameters
    ----------
    payload
        As `timeline_payload` makes it.
    key
        Of the widget.
    on_look
        Called with epoch, follow and the number of the request, before the page runs.
    """

    def looked() -> None:
        look = checked(st.session_state[key].get("look"), payload["total"])
        if look is not None:
            on_look(*look)

    _timeline(key=key, data=payload, on_look_change=looked)


def spark(changed: npt.NDArray[np.float32]) -> list[list[int]]:
    """Heights of the small chart: (epoch, 0 … 100) of at most `MOST_SPARKS` epochs, the highest of each stretch.

    Roots of the shares: late changes are few and are what one looks for.

    Examples
    --------
    >>> spark(np.array([1.0, 0.25, 0.0], dtype=np.float32))
    [[1, 100], [2, 50], [3, 0]]
    """
    if not len(changed):
        return []
    heights = np.rint(np.sqrt(changed / max(float(changed.max()), 1e-9)) * 100).astype(int)
    width = -(-len(heights) // MOST_SPARKS)
    starts = np.arange(0, len(heights), width)
    tops = np.maximum.reduceat(heights, starts)
    return [[int(start) + 1, int(top)] for start, top in zip(starts, tops, strict=True)]


def checked(look: object, total: int) -> tuple[int, bool, int] | None:
    """Return the request [epoch, follow, number] of the browser, or None if it is invalid.

    Parameters
    ----------
    look
        What a browser sent.
    total
        The last epoch there may be.
    """
    match look:
        case [int(epoch), bool(follow), int(requested)] if 0 <= epoch <= total:
            return epoch, follow, requested
    return None

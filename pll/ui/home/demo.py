"""The recorded demo on the home page: its star plot plays in the browser, without a request to the server."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np

from pll.candidates import CandidateSets
from pll.paths import app_root
from pll.ui.components import canvas
from pll.ui.components.canvas import Presentation
from pll.ui.components.component import Payload, register
from pll.ui.components.star import star_payload
from pll.ui.format import after
from pll.wording import percent

RECORDED = app_root() / "assets" / "demo.npz"
"""Written by `tools/demo_replay.py`."""
FRAME_WORDS, FRAME_ARRAYS = ("when", "description"), ("places", "labels", "shades")
"""What changes from frame to frame."""
_film = register(Path(__file__), canvas.PLOT_HTML, shared=[*canvas.CANVAS, canvas.HERE / "star"])


def replay() -> None:
    """Show the film."""
    _film(key="demo-replay", data=film())


@cache
def film() -> Payload:
    """What the browser plays: a star plot, coloured by true label; `frames` with the words of each, and the arrays that
    change with those of all frames, one after another.
    """
    with np.load(RECORDED, allow_pickle=False) as recorded:
        sets = CandidateSets(recorded["indptr"].astype(np.int64), recorded["indices"].astype(np.int32), 10)
        truth = recorded["truth"].astype(np.int64)
        payloads = [
            star_payload(
                weights.astype(np.float32) / 255,
                sets,
                Presentation(f"{after(epoch)}: {percent(float(right), 0)} right" if epoch else after(0), height=360),
                truth=truth,
            )
            for weights, epoch, right in zip(recorded["weights"], recorded["epochs"], recorded["right"], strict=True)
        ]
    frames = [{name: payload[name] for name in FRAME_WORDS} for payload in payloads]
    arrays = {name: b"".join(payload[name] for payload in payloads) for name in FRAME_ARRAYS}
    return payloads[0] | arrays | {"frames": frames, "note": "a recorded run"}

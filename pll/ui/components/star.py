"""Star plot component: every class is an anchor on a circle, every example is drawn at Σ_j w_ij · anchor_j.

An example with uniform label weights is near the centre; as its label weights sharpen it moves to the anchor of its
identified label. The browser draws and animates (`star.js`); this module computes positions.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from pll.candidates import CandidateSets
from pll.colors import class_shapes
from pll.ui.components.canvas import Presentation, canvas_component, format_counts, format_shown, legend, raw
from pll.ui.components.component import Payload
from pll.weights import CONFIDENT, Sharpness, Weights, identified_labels, sharpness
from pll.wording import percent

MOST_STAR_POINTS = 2000
"""Examples drawn at most: browsers cannot animate more smoothly."""


SHORT_IN_STAR = 18
"""Characters of a class's name beside its anchor."""
_UNKNOWN = 0xFFFF  # the colour of an unknown truth, in star.js
STAR = canvas_component("star")


def star_payload(
    weights: Weights,
    candidates: CandidateSets,
    presentation: Presentation,
    *,
    truth: npt.NDArray[np.int64] | None = None,
    before: Weights | None = None,
    most: int = MOST_STAR_POINTS,
    classes: Sequence[int] | None = None,
) -> Payload:
    """What `mount(STAR, …)` shows, as `star.js` reads it: 5 bytes an example, and words.

    Points glide from where they were. Settled examples are in a small disc around their anchor (its radius at most 3 %
    of the height), since they would otherwise hide one another. Of more than `most` examples a fixed random sample is
    shown.

    Parameters
    ----------
    weights
        (nnz,) float32 label weights at the viewed epoch.
    candidates
        The n candidate sets the weights belong to; its class names label the anchors.
    presentation
        By example numbers.
    truth
        (n,) labels to colour by, −1 where unknown; without it points have the colour of their identified label, and
        that of the unknown where no label is ahead.
    before
        (nnz,) label weights at an earlier epoch: examples whose identified label was another one then wear a faint
        ring.
    most
        Examples drawn.
    classes
        The anchors, in the order of classes; the examples whose identified label is another one are left out. None for
        all.
    """
    n, c = len(candidates), candidates.n_classes
    anchored = np.arange(c) if classes is None else np.array(sorted(classes), dtype=np.int64)
    selected = [] if presentation.selected is None else [presentation.selected]
    rows = np.union1d(star_sample(n, most), np.array(selected, dtype=np.int64))
    if classes is not None:
        identified = identified_labels(weights[candidates.positions(rows)], candidates.take(rows))
        rows = rows[np.isin(identified, anchored) | np.isin(rows, selected)]
    if len(rows) < n:
        at = candidates.positions(rows)
        weights, before, candidates = weights[at], None if before is None else before[at], candidates.take(rows)
    sharp = sharpness(weights, candidates)
    label_type = np.uint8 if c <= 256 else np.uint16
    shades = np.rint(sharp.top * 127).astype(np.uint8)
    if before is not None:
        shades |= (identified_labels(before, candidates) != sharp.identified).astype(np.uint8) << 7
    note = format_shown(len(rows), n, len(anchored), c)
    shapes = class_shapes(c)
    place = np.full(c, len(anchored), dtype=np.int64)  # of an anchor; of others behind the last
    place[anchored] = np.arange(len(anchored))
    own = candidates.positions(np.flatnonzero(rows == presentation.selected))  # none where it is not drawn
    payload: Payload = {
        "note": note,
        "description": _description(presentation.when, note, sharp, candidates),
        "count": len(rows),
        **legend(candidates.class_names, anchored, SHORT_IN_STAR),
        "shapes": [shapes[j] for j in anchored],
        "places": raw(packed(star_positions(weights, candidates, anchored))),
        "labels": raw(place[sharp.identified].astype(label_type)),
        "labelSize": np.dtype(label_type).itemsize,
        "shades": raw(shades),
        "spokes": [
            (int(place[j]), round(float(weight), 3))
            for j, weight in zip(candidates.indices[own], weights[own], strict=True)
            if place[j] < len(anchored)
        ],
        "truth": truth is not None,
    }
    if truth is not None:
        known = np.where(truth >= 0, place[truth], _UNKNOWN)
        payload["hues"] = raw(np.where(known < len(anchored), known, _UNKNOWN)[rows].astype(np.uint16))
    elif not sharp.margin.all():  # no label is ahead, as before training: argmax would name the first of equals
        payload["hues"] = raw(np.where(sharp.margin > 0, place[sharp.identified], _UNKNOWN).astype(np.uint16))
    if len(rows) < n:
        payload["examples"] = raw(rows.astype(np.uint32))
    return payload | presentation.payload(rows)


def anchors(n_classes: int) -> npt.NDArray[np.float32]:
    """(c, 2) float32 on the unit circle: class 0 at the top, the others clockwise. x to the right, y *down*.

    Examples
    --------
    >>> anchors(4).round().tolist()
    [[0.0, -1.0], [1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]]
    """
    angles = 2 * np.pi * np.arange(n_classes) / n_classes - np.pi / 2
    return np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)


def star_positions(
    weights: Weights, candidates: CandidateSets, anchored: npt.NDArray[np.int64] | None = None
) -> npt.NDArray[np.float32]:
    """(n, 2) float32: Σ_j w_ij · anchor_j of every example, within the unit circle; other classes pull to the middle.

    Parameters
    ----------
    weights
        (nnz,) label weights.
    candidates
        The n candidate sets.
    anchored
        The classes that are anchors, in their order; None for all.

    Examples
    --------
    >>> sets = CandidateSets.from_lists([[0, 2], [1]], n_classes=4)
    >>> star_positions(np.array([0.5, 0.5, 1.0], dtype=np.float32), sets).round(6).tolist()
    [[0.0, 0.0], [1.0, 0.0]]
    """
    anchored = np.arange(candidates.n_classes) if anchored is None else anchored
    at = np.zeros((candidates.n_classes, 2), dtype=np.float32)
    at[anchored] = anchors(len(anchored))
    pulls = weights[:, None] * at[candidates.indices]  # (nnz, 2)
    return np.add.reduceat(pulls, candidates.indptr[:-1], axis=0)


def star_sample(n: int, cap: int = MOST_STAR_POINTS) -> npt.NDArray[np.int64]:
    """(min(n, cap),) sorted row numbers: all, or a random sample that is the same in every call.

    Parameters
    ----------
    n
        Examples there are.
    cap
        Examples that may be drawn.

    Examples
    --------
    >>> star_sample(3).tolist(), len(star_sample(60_000))
    ([0, 1, 2], 2000)
    """
    if n <= cap:
        return np.arange(n, dtype=np.int64)
    return np.sort(np.random.default_rng(0).choice(n, size=cap, replace=False)).astype(np.int64)


def packed(positions: npt.NDArray[np.float32]) -> npt.NDArray[np.uint8]:
    """(n, 3) uint8: x and y in [−1, 1] as 12 bits each, 0.15 pixels of a circle of 300 pixels' radius.

    Examples
    --------
    >>> packed(np.array([[-1.0, 1.0]], dtype=np.float32)).tolist()
    [[0, 15, 254]]
    """
    steps = np.clip(np.rint((positions + 1) * 2047), 0, 4094).astype(np.uint16)
    x, y = steps[:, 0], steps[:, 1]
    return np.stack([x >> 4, (x & 15) << 4 | y >> 8, y & 255], axis=1).astype(np.uint8)


def _description(when: str, note: str, sharp: Sharpness, candidates: CandidateSets) -> str:
    """Return the text alternative of the picture."""
    counts = np.bincount(sharp.identified, minlength=candidates.n_classes)
    counted = format_counts({name: int(n) for name, n in zip(candidates.class_names, counts, strict=True)})
    sharp_ones = int((sharp.top >= CONFIDENT).sum())
    return (
        f"Star plot{', ' + when if when else ''}: {note}, {candidates.n_classes:,} classes around a circle; an example "
        f"stands the nearer to a class the larger its label weight. {sharp_ones:,} have one of at least "
        f"{percent(CONFIDENT, 0)}. Identified labels: {counted}."
    )

"""Map component: every example a point at its place, in the colour of its identified label, paler where it is unsure.

Places stay the same over the epochs and are sent once; an update is two or three bytes an example. The browser draws
them pixel by pixel (`scatter.js`), a million within a few frames. An outline drawn around points selects them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pll.analysis.projection import TOP
from pll.candidates import CandidateSets
from pll.colors import class_colours
from pll.ui.components.canvas import Presentation, canvas_component, format_counts, format_shown, raw
from pll.ui.components.component import Payload
from pll.weights import Ints, Sharpness
from pll.wording import short_names

SCATTER = canvas_component("scatter")
MOST_NAMED_POINTS = 5_000
"""Examples of which ids and the beginnings of texts are sent; of more, the pointer says the number."""
MOST_CORNERS = 1_000
MOST_IN_LEGEND = 40
"""The commonest classes, named in the order of the data: it stays while their numbers change."""
OTHER_CLASSES, OTHERS_GREY = "other classes", "#a3adb7"
"""All that is not coloured, as in star.js."""

Outline = list[tuple[int, int]]


def map_payload(
    points: bytes,
    sharp: Sharpness,
    candidates: CandidateSets,
    rows: Ints,
    presentation: Presentation,
    outline: Outline | None,
    classes: Sequence[int] | None = None,
) -> Payload:
    """What `mount(SCATTER, …)` shows: the (m,) `rows` of the n candidate sets, at their `points`.

    `points` is `raw` of their (m, 2) places (`pll.analysis.projection.project`); `sharp` is of the label weights at the
    viewed epoch; an `outline` that was drawn stays to be seen. The colours are those of `classes`, None for all: of
    very many a mixture would be grey; all other examples show how many lie where.

    Parameters
    ----------
    points
        `raw` of the (m, 2) places of the rows (`pll.analysis.projection.project`).
    sharp
        Of the label weights at the viewed epoch.
    candidates
        The n candidate sets.
    rows
        (m,) examples that are drawn.
    presentation
        By example numbers.
    outline
        What was drawn around points; None where nothing is.
    classes
        Those that have colours; None for all.
    """
    n, m = len(candidates), len(rows)
    labels = sharp.identified if m == n else sharp.identified[rows]
    confidence = sharp.top if m == n else sharp.top[rows]
    counts = np.bincount(labels, minlength=candidates.n_classes)
    of_others = np.zeros(m, dtype=np.bool_) if classes is None else ~np.isin(labels, np.array(classes, dtype=np.int64))
    if of_others.any():
        others = candidates.n_classes
        labels, confidence = np.where(of_others, others, labels), np.where(of_others, 0, confidence)
        counts = np.bincount(labels, minlength=others + 1)
    present = np.flatnonzero(counts)
    names = [*candidates.class_names, OTHER_CLASSES]
    colours = [*class_colours(candidates.n_classes), OTHERS_GREY]
    names = [names[label] for label in present]
    wide = np.min_scalar_type(max(len(present) - 1, 0))
    number_of = np.zeros(candidates.n_classes + 1, dtype=wide)
    number_of[present] = np.arange(len(present))
    note = format_shown(m, n)
    summary = format_counts(dict(zip(names, counts[present].tolist(), strict=True)))
    return presentation.payload(rows, names=m <= MOST_NAMED_POINTS) | {
        "note": note,
        "description": ", ".join(filter(None, (f"Map of {note}", presentation.when)))
        + f". Identified labels: {summary}.",
        "top": TOP,
        "points": points,
        "labels": raw(number_of[labels]),
        "labelSize": wide.itemsize,
        "confidence": raw(np.rint(confidence * 255).astype(np.uint8)),
        "names": names,
        "short": short_names(names),
        "colours": [colours[label] for label in present],
        "legend": np.sort(np.argsort(-counts[present], kind="stable")[:MOST_IN_LEGEND]).tolist(),
        "examples": None if m == n else raw(rows.astype(np.uint32)),
        "outline": outline,
    }


def checked_outline(sent: object) -> Outline | None:
    """The outline a browser sent; None where it is none.

    Examples
    --------
    >>> checked_outline([[0, 1], [2, 65535], [4, 4]])
    [(0, 1), (2, 65535), (4, 4)]
    >>> checked_outline([[0, 1], [2, 3]]), checked_outline([[0, 1], [2, 3], [4, 70000]]), checked_outline("x")
    (None, None, None)
    """
    if not isinstance(sent, list) or not 3 <= len(sent) <= MOST_CORNERS:
        return None
    corners = [tuple(corner) for corner in sent if isinstance(corner, list | tuple) and len(corner) == 2]
    if len(corners) < len(sent) or not all(type(v) is int and 0 <= v <= TOP for corner in corners for v in corner):
        return None
    return corners

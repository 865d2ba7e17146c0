"""Gallery component: examples as cards with picture, candidates and label weights as bars.

The browser keeps the cards (`gallery.js`): an update moves the bars of cards that stay and fades in new ones.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image

from pll.colors import class_colours
from pll.dataset import PartialLabelDataset
from pll.ui.components.canvas import HERE
from pll.ui.components.component import Payload, register
from pll.weights import Weights
from pll.wording import excerpt, short_names

MOST_BARS = 6
"""Candidates drawn for an example; the rest are counted."""
BESIDE_BARS = 13
"""Characters of a name for which there is room beside a bar."""
THUMBNAIL = 96
"""Pixels of a picture's longer side, at most: a dozen of them go with every update."""
SMALL_PICTURE = 64
"""Pictures up to so many pixels go as they are, in PNG; larger ones as JPEG."""


GALLERY = register(HERE / "gallery", '<div class="gallery" role="group"></div>', shared=[HERE / "elements"])


def gallery_payload(
    data: PartialLabelDataset,
    rows: npt.NDArray[np.int64],
    weights: Weights,
    selected: int | None,
    decided: Mapping[int, str],
) -> Payload:
    """What `mount(GALLERY, …)` shows: examples as cards, with the label weights of their candidates as bars.

    Parameters
    ----------
    data
        The data.
    rows
        (m,) examples to show.
    weights
        (nnz,) label weights.
    selected
        The example to mark; None for none.
    decided
        What people decided, by row, in words.
    """
    sets = data.sets()
    colours = class_colours(sets.n_classes)
    cards = [_card(data, int(row), weights) | {"decided": decided.get(int(row), "")} for row in rows]
    short = short_names(sets.class_names, BESIDE_BARS)
    used = sorted({label for card in cards for label, _ in card["bars"]})
    return {
        "cards": cards,
        "names": {str(label): sets.class_names[label] for label in used},
        "short": {str(label): short[label] for label in used},
        "colours": {str(label): colours[label] for label in used},
        "bars": min(MOST_BARS, int(sets.sizes.max(initial=1))),
        "selected": selected,
    }


def _card(data: PartialLabelDataset, row: int, weights: Weights) -> dict[str, Any]:
    """One example: `bars` are (label, weight in thousandths), the largest first."""
    sets = data.sets()
    labels = sets[row]
    shares = weights[sets.indptr[row] : sets.indptr[row + 1]]
    top = np.argsort(-shares, kind="stable")[:MOST_BARS]
    return {
        "example": row,
        "id": str(data.row_ids[row]),
        "picture": picture_uri(data, row),
        "text": None if data.texts is None else excerpt(data.texts[row]),
        "bars": [(int(labels[k]), round(float(shares[k]) * 1000)) for k in top],
        "more": len(labels) - len(top),
        "truth": None if data.y is None or data.y[row] < 0 else int(data.y[row]),
    }


def picture_uri(data: PartialLabelDataset, row: int, largest: int = THUMBNAIL) -> str | None:
    """The picture of an example as a data URI, made smaller where it is large; None where it has none.

    Parameters
    ----------
    data
        The data.
    row
        The example.
    largest
        Pixels of the longer side, at most.
    """
    picture = data.picture(row)
    return None if picture is None else _uri(picture.tobytes(), picture.shape, largest)


@lru_cache(maxsize=4096)
def _uri(content: bytes, shape: tuple[int, ...], largest: int) -> str:
    image = Image.fromarray(np.frombuffer(content, dtype=np.uint8).reshape(shape))
    kind = "png" if max(image.size) <= SMALL_PICTURE else "jpeg"
    if max(image.size) > largest:
        image.thumbnail((largest, largest))
    buffer = io.BytesIO()
    image.save(buffer, format=kind, quality=80)
    return f"data:image/{kind};base64," + base64.b64encode(buffer.getvalue()).decode("ascii")

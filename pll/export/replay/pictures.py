"""Pictures and texts of the examples of a replay: one image sheet, and texts cut to size."""

from __future__ import annotations

import base64
import io
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image

from pll.dataset import PartialLabelDataset
from pll.errors import UserError
from pll.wording import excerpt

SIDES = (48, 32, 24, 16)
"""Pixels of a picture's longer side, largest first; the first size at which all pictures fit is used."""
MOST_PICTURE_BYTES = 700_000
"""Maximum number of bytes of all pictures."""
MOST_LETTERS_OF_REPLAY = 300_000
"""Maximum number of characters of all texts."""
ACROSS = 50
"""Number of pictures in a row of the sheet."""


def picture_payload(data: PartialLabelDataset, rows: npt.NDArray[np.int64]) -> dict[str, Any]:
    """`pictures` (a data URI of all, `side` and `across`) and `texts`, each None where there are none.

    Parameters
    ----------
    data
        Whose pictures and texts.
    rows
        Which examples.
    """
    texts = None
    if data.texts is not None:
        length = max(20, min(400, MOST_LETTERS_OF_REPLAY // max(len(rows), 1)))
        texts = [excerpt(text or "", length) for text in data.texts[rows]]
    return {"pictures": _sheet(data, rows), "texts": texts}


def _sheet(data: PartialLabelDataset, rows: npt.NDArray[np.int64]) -> dict[str, Any] | None:
    try:
        arrays = [data.picture(int(row)) for row in rows]
    except UserError:  # files are gone: a replay without pictures is still one
        return None
    pictures = [None if array is None else Image.fromarray(array) for array in arrays]
    largest = max((max(picture.size) for picture in pictures if picture is not None), default=0)
    if not largest:
        return None
    for side in [min(largest, SIDES[0]), *(side for side in SIDES[1:] if side < largest)]:
        content, kind = _drawn(pictures, side)
        if len(content) <= MOST_PICTURE_BYTES:
            uri = f"data:image/{kind};base64,{base64.b64encode(content).decode('ascii')}"
            return {"uri": uri, "side": side, "across": ACROSS}
    return None


def _drawn(pictures: list[Image.Image | None], side: int) -> tuple[bytes, str]:
    """Return all pictures as one sheet, row by row, each in a square."""
    in_colour = any(picture is not None and picture.mode != "L" for picture in pictures)
    sheet = Image.new("RGB" if in_colour else "L", (ACROSS * side, -(-len(pictures) // ACROSS) * side))
    for k, picture in enumerate(pictures):
        if picture is None:
            continue
        small = picture.copy()
        small.thumbnail((side, side))
        left, top = k % ACROSS * side, k // ACROSS * side
        sheet.paste(small, (left + (side - small.width) // 2, top + (side - small.height) // 2))
    buffer = io.BytesIO()
    if in_colour:
        sheet.save(buffer, format="JPEG", quality=80)
        return buffer.getvalue(), "jpeg"
    sheet.save(buffer, format="PNG", optimize=True)
    return buffer.getvalue(), "png"

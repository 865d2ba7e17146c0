"""Save and load a fitted featuriser: `features.json`, and `features.safetensors` for its arrays.

Neither file can hold code. The JSON contains the checksum of the arrays file.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import safetensors
import safetensors.numpy

from pll.errors import UserError
from pll.features.base import Arrays, Featuriser
from pll.features.selection import restored
from pll.io import write_atomically, write_json

CARD_FILE = "features.json"
ARRAYS_FILE = "features.safetensors"
FORMAT = "candid-features"
FORMAT_VERSION = 1


def save_features(made: Featuriser, folder: Path | str) -> None:
    """Write a fitted featuriser into a folder.

    Raises
    ------
    UserError
        The folder is not writable.
    """
    place = Path(folder)
    settings, arrays = made.state()
    card = {"format": FORMAT, "format_version": FORMAT_VERSION, "kind": made.name, "settings": settings}
    try:
        if arrays:
            content = safetensors.numpy.save({name: np.array(array, order="C") for name, array in arrays.items()})
            card["arrays_sha256"] = hashlib.sha256(content).hexdigest()
            write_atomically(place / ARRAYS_FILE, lambda path: path.write_bytes(content))
        write_json(place / CARD_FILE, card)
    except OSError as error:
        raise UserError(f"The features cannot be written to {place}: {error.strerror or error}.") from error


def load_features(folder: Path | str) -> Featuriser | None:
    """Load the featuriser saved in a folder; None if there is none (X was used as it is).

    Raises
    ------
    UserError
        The files are damaged, of another format, or do not belong together.
    """
    path = Path(folder) / CARD_FILE
    if not path.exists():
        return None
    try:
        card = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise UserError(f"{path} cannot be read ({error}). Save or export the model again.") from error
    if not isinstance(card, dict) or card.get("format") != FORMAT:
        raise UserError(f"{path} is not a file of Candid's; take the one that lay beside the model.")
    if card.get("format_version") != FORMAT_VERSION:
        raise UserError(f"{path} has format version {card.get('format_version')!r}; update Candid to read it.")
    arrays = _arrays(Path(folder) / ARRAYS_FILE, card["arrays_sha256"]) if "arrays_sha256" in card else {}
    try:
        return restored(card["kind"], card["settings"], arrays)
    except UserError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise UserError(f"{path}: the features cannot be rebuilt ({error}). Save or export the model again.") from error


def _arrays(path: Path, checksum: Any) -> Arrays:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror or error}. It belongs beside {CARD_FILE}.") from error
    if hashlib.sha256(content).hexdigest() != checksum:
        raise UserError(f"{path} is damaged, or does not belong to the {CARD_FILE} beside it; keep the two together.")
    try:
        return {name: array.copy() for name, array in safetensors.numpy.load(content).items()}
    except (safetensors.SafetensorError, ValueError, KeyError) as error:
        raise UserError(f"{path} is not a safetensors file ({error}). Save or export the model again.") from error

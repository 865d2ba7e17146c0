"""Fitted featurisers as files: `features.json`, `features.safetensors`; how models are stored follows from it too.

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
from pll.features.base import Featuriser
from pll.features.selection import restored
from pll.io import Arrays, write_atomically, write_json, writing_to

FEATURES_FILE = "features.json"
ARRAYS_FILE = "features.safetensors"
FEATURES_FORMAT = "candid-features"
FORMAT_VERSION = 1
"""Of every card."""


def save_features(made: Featuriser, folder: Path | str) -> None:
    """Write a fitted featuriser into a folder.

    Parameters
    ----------
    made
        The featuriser.
    folder
        Where to.

    Raises
    ------
    UserError
        The folder is not writable.
    """
    place = Path(folder)
    settings, arrays = made.state()
    card = {"kind": made.name, "settings": settings}
    with writing_to(place):
        if arrays:
            content = packed(arrays)
            card["arrays_sha256"] = hashlib.sha256(content).hexdigest()
            write_atomically(place / ARRAYS_FILE, lambda path: path.write_bytes(content))
        write_card(card, place / FEATURES_FILE, FEATURES_FORMAT)


def load_features(folder: Path | str) -> Featuriser | None:
    """Load the featuriser saved in a folder; None if there is none (X was used as it is).

    Raises
    ------
    UserError
        The files are damaged, of another format, or do not belong together.
    """
    path = Path(folder) / FEATURES_FILE
    if not path.exists():
        return None
    card = read_card(path, FEATURES_FORMAT)
    arrays = unpacked(Path(folder) / ARRAYS_FILE, card["arrays_sha256"], path) if "arrays_sha256" in card else {}
    try:
        return restored(card["kind"], card["settings"], arrays)
    except UserError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise UserError(f"{path}: the features cannot be rebuilt ({error}). Save or export the model again.") from error


# ---- a card and its numbers, of features and of models ---------------------------------------------------------------


def packed(arrays: Arrays, metadata: dict[str, str] | None = None) -> bytes:
    """Return arrays as a safetensors file; the same arrays give the same bytes.

    Parameters
    ----------
    arrays
        By name.
    metadata
        Of the file.
    """
    # safetensors stores memory in its order; np.array keeps 0-d arrays 0-d, which ascontiguousarray does not.
    return safetensors.numpy.save({name: np.array(array, order="C") for name, array in arrays.items()}, metadata)


def unpacked(path: Path, checksum: Any, card: Path) -> Arrays:
    """Return the arrays of a safetensors file.

    Parameters
    ----------
    path
        The file.
    checksum
        Its SHA-256, as the card says.
    card
        The file that says it.

    Raises
    ------
    UserError
        It is missing or damaged, or belongs to another card.
    """
    content = _read(path)
    if hashlib.sha256(content).hexdigest() != checksum:
        raise UserError(
            f"{path} is damaged, or does not belong to the {card.name} beside it (their checksums differ). Save or "
            "export the model again, and keep the two files together."
        )
    try:
        return {name: array.copy() for name, array in safetensors.numpy.load(content).items()}  # may be written to
    except (safetensors.SafetensorError, ValueError, KeyError) as error:
        raise UserError(f"{path} is not a safetensors file ({error}). Save or export the model again.") from error


def write_card(content: dict[str, Any], path: Path, form: str) -> None:
    """Write a card, atomically.

    Parameters
    ----------
    content
        Of the card.
    path
        The file.
    form
        Name of its format.
    """
    write_json(path, {"format": form, "format_version": FORMAT_VERSION} | content)


def read_card(path: Path, form: str) -> dict[str, Any]:
    """Return the content of a card.

    Parameters
    ----------
    path
        The file.
    form
        Name of its format.

    Raises
    ------
    UserError
        It is missing, damaged or of another format.
    """
    content = _read(path)
    try:
        card = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise UserError(f"{path} is damaged: it is not JSON ({error}). Save or export the model again.") from error
    if not isinstance(card, dict) or card.get("format") != form:
        raise UserError(f"{path} is not a file of Candid's; give a folder that `fit` or an export wrote.")
    if card.get("format_version") != FORMAT_VERSION:
        raise UserError(
            f"{path} has format version {card.get('format_version')!r}; this Candid reads version {FORMAT_VERSION}. "
            "Update Candid, or export the model again."
        )
    return card


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError as error:
        raise UserError(f"{path} is missing; a card (.json) and its numbers (.safetensors) belong together.") from error
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror or error}.") from error

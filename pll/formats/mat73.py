"""The matrices of a MATLAB v7.3 file, which is HDF5: read in a process of its own, and checked on the way back."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse

from pll.errors import UserError
from pll.formats.checks import BOMB_BYTES, BOMB_RATIO, parsing
from pll.formats.words import readable

SECONDS = 300
"""How long reading may take; a GB takes some ten seconds."""

_WORKER = Path(__file__).with_name("hdf5worker.py")
_AGAIN = "copy the file again, or save it in MATLAB with save(…, '-v7')"
_PART = re.compile(r"(?P<path>.*?)(?:\{(?P<cell>\d+)\})?$")


def read_variables(path: Path, max_bytes: int) -> dict[str, Any]:
    """All numeric variables of a v7.3 file, by name.

    Returns:
        by name, a numpy array of at least two dimensions, a SciPy csc_array, a list of such (a cell array) or a dict of
        such (a struct).

    Raises:
        UserError: the file is damaged or too large, or takes too long.
    """
    size = path.stat().st_size
    if size > max_bytes:
        raise UserError(f"The file takes {readable(size)}; the limit is {readable(max_bytes)}. Split it.")
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "variables.npz"
        limits = [str(limit) for limit in (max_bytes, BOMB_BYTES, BOMB_RATIO)]
        command = [sys.executable, "-I", str(_WORKER), str(path), str(out), *limits]
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, errors="replace", timeout=SECONDS, check=False
            )
        except subprocess.TimeoutExpired:
            raise UserError(f"Reading the HDF5 inside took more than {SECONDS} seconds; {_AGAIN}.") from None
        if done.returncode or not out.exists():
            why = done.stdout.strip().splitlines() or ["the HDF5 library gave up on it"]
            raise UserError(f"The HDF5 inside cannot be read ({why[-1].rstrip('.')}); {_AGAIN}.")
        with parsing("what was read of the HDF5"), np.load(out, allow_pickle=False) as arrays:
            flat = {name: arrays[name] for name in arrays.files}
    return _nested(flat)


def _nested(flat: dict[str, np.ndarray]) -> dict[str, Any]:
    """`a/b`, `a{1}` and `a:data` as dicts, lists and sparse matrices."""
    found: dict[str, Any] = {}
    for name, array in flat.items():
        whole, _, part = name.partition(":")
        if part not in ("", "data"):
            continue
        value = _sparse(whole, flat) if part else array
        *outer, last = whole.split("/")
        place = found
        for step in outer:
            below = place.setdefault(step, {})
            if not isinstance(below, dict):
                break
            place = below
        cell = _PART.fullmatch(last)
        if cell is not None and cell["cell"]:
            cells = place.setdefault(cell["path"], [])
            if isinstance(cells, list):
                cells.append(value)
        else:
            place[last] = value
    return found


def _sparse(name: str, flat: dict[str, np.ndarray]) -> scipy.sparse.csc_array:
    with parsing(f"the sparse matrix {name}", _AGAIN):
        rows, starts, shape = flat[f"{name}:ir"], flat[f"{name}:jc"], flat[f"{name}:shape"]
        numbers = flat[f"{name}:data"]
        height, width = int(shape[0]), int(shape[1])
        wrong = starts.ndim != 1 or starts[0] != 0 or (np.diff(starts) < 0).any() or starts[-1] != len(rows)
        if wrong or len(rows) != len(numbers) or not 0 <= height < 2**31 or width < 0:
            raise ValueError("its columns do not fit its entries")
        if len(rows) and (rows.min() < 0 or rows.max() >= height):
            raise ValueError("an entry lies outside it")
        return scipy.sparse.csc_array((numbers, rows, starts), shape=(height, width))

"""A check example: a few inputs of training with the probabilities they give, and a program that compares them."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np

from pll.export.source import ExportSource
from pll.io import write_bytes, write_text

CHECK_FILE = "check.npz"
CHECK_PROGRAM = "check.py"
_ROWS = 3


def write_check(source: ExportSource, path: Path) -> None:
    """Write the first examples of training, their probabilities, and the range of all features, as arrays.

    Holds `features` (k, …), `probabilities` (k, c), `class_names` (c,), `minimum`, `maximum`, `deviation` (() or (d,)).
    """
    assert source.X is not None and source.inputs is not None  # `applies` has asked
    features, inputs = source.X[:_ROWS], source.inputs
    packed = io.BytesIO()
    np.savez_compressed(
        packed,
        features=features,
        probabilities=source.estimator.predict_proba(features).astype(np.float32),
        class_names=np.array(source.estimator.class_names_),
        minimum=np.array(inputs["minimum"]),
        maximum=np.array(inputs["maximum"]),
        deviation=np.array(inputs["deviation"]),
    )
    write_bytes(path, packed.getvalue())


def write_check_program(source: ExportSource, path: Path) -> None:
    """Write the program, which needs NumPy and either PyTorch or an ONNX runtime, not Candid."""
    write_text(path, (Path(__file__).parent / "templates" / f"{CHECK_PROGRAM}.txt").read_text(encoding="utf-8"))

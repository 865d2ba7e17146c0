"""The Python examples of README.md run."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np

README = Path(__file__).resolve().parents[1] / "README.md"


def test_the_python_example_runs() -> None:
    blocks = re.findall(r"^```python\n(.*?)^```$", README.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)
    assert blocks
    for code in blocks:
        names: dict[str, Any] = {}
        exec(compile(code, "README.md", "exec"), names)
        proden, sets = names["proden"], names["sets"]
        assert sets.contains(proden.identify()).all()
        np.testing.assert_allclose(np.add.reduceat(proden.label_weights_, sets.indptr[:-1]), 1, atol=1e-6)

"""Writes the files of examples/ as notebooks into docs/notebooks/: `python -m tools.pages`. They are not committed."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs" / "notebooks"
INSTALL = "%pip install -q candid-labels"


def notebook(source: str) -> dict[str, Any]:
    """Return a Python file as a notebook: its docstring, the installation, all else in one cell."""
    tree = ast.parse(source)
    words, code = ast.get_docstring(tree) or "", "\n".join(source.splitlines()[tree.body[0].end_lineno or 0 :])
    parts = [("markdown", words), ("code", INSTALL), ("code", code)]
    of_code: dict[str, Any] = {"execution_count": None, "outputs": []}
    cells = [
        {"cell_type": kind, "id": f"cell-{number}", "metadata": {}, "source": text.strip()}
        | (of_code if kind == "code" else {})
        for number, (kind, text) in enumerate(parts)
    ]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}


def write() -> None:
    """Write all of them."""
    FOLDER.mkdir(exist_ok=True)
    for path in (ROOT / "examples").glob("*.py"):
        made = json.dumps(notebook(path.read_text("utf-8")), indent=1, ensure_ascii=False)
        (FOLDER / f"{path.stem}.ipynb").write_text(made + "\n", "utf-8")

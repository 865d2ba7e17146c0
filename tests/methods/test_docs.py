"""The page of the methods explains every setting."""

from __future__ import annotations

import inspect

from pll.methods import METHODS
from tools.methods_page import page


def test_every_setting_of_every_method_is_explained() -> None:
    lines = page().splitlines()
    for method in METHODS.values():
        for setting in inspect.signature(method).parameters:
            rows = [line for line in lines if line.startswith(f"| `{setting}` |")]
            assert rows, setting
            assert not any(line.endswith("|  |") for line in rows), f"{method.__name__}.{setting} has no explanation"

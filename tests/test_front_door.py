"""`from pll import …`: what is there, that it is loaded on first use only, and what happens to misspelt names."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

import pll
from pll.methods import METHODS

HEAVY = ("torch", "sklearn", "pandas", "pyarrow", "scipy", "numpy", "streamlit")


def fresh(code: str) -> str:
    """What some code prints in a process of its own."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout


def test_importing_the_package_loads_nothing_heavy() -> None:
    loaded = json.loads(fresh("import json, sys, pll; print(json.dumps(sorted(sys.modules)))"))
    assert "pll" in loaded
    assert not {name.split(".")[0] for name in loaded} & set(HEAVY)
    assert [name for name in loaded if name.startswith("pll.")] == ["pll.errors", "pll.methods", "pll.methods.names"]


def test_every_method_of_the_registry_is_public_by_its_class_name() -> None:
    for method in METHODS.values():
        if method.__module__.startswith("pll."):
            assert getattr(pll, method.__name__) is method


def test_type_checkers_see_the_same_names() -> None:
    tree = ast.parse(Path(pll.__file__).read_text(encoding="utf-8"))
    typed = {
        (node.module, alias.name, alias.asname)
        for block in tree.body
        if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING"
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert typed == {(module, name, name) for name, module in pll._PLACES.items()}
    assert (Path(pll.__file__).parent / "py.typed").exists()


@pytest.mark.parametrize(
    ("name", "suggestion"), [("Proden", "PRODEN"), ("PLkNN", "PLKNN"), ("flip_binomal", "flip_binomial")]
)
def test_a_misspelt_name_gets_a_suggestion(name: str, suggestion: str) -> None:
    with pytest.raises(AttributeError, match=f"{name}.*{suggestion}"):
        getattr(pll, name)

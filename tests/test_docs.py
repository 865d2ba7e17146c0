"""Files and modules that the documentation and docstrings name exist."""

from __future__ import annotations

import ast
import importlib
import re
from functools import cache
from pathlib import Path

import pytest

import pll

ROOT = Path(__file__).parents[1]
DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
FILE = re.compile(r"(?<![\w/.-])((?:pll|pages|tests|tools|benchmarks|docs)/[\w/-]+\.(?:py|js|css|md|npz))\b")
MODULE = re.compile(r"(?<![\w./\"-])(pll(?:\.[a-z_]\w*)+(?:\.[A-Z]\w*)?)\b")
MADE = {"docs/methods.md", "docs/formats.md", "docs/datasets.md"}
"""Pages that `python -m tools.pages` writes."""


def texts() -> list[Path]:
    return [*DOCUMENTS, *(ROOT / "pll").rglob("*.py"), *(ROOT / "pages").glob("*.py")]


def test_files_exist() -> None:
    found = {(path.name, name) for path in texts() for name in FILE.findall(path.read_text("utf-8"))}
    assert len(found) > 20
    assert not [pair for pair in sorted(found) if pair[1] not in MADE and not (ROOT / pair[1]).exists()]


def exists(name: str) -> bool:
    """Whether a dotted name is a module, or an attribute of one."""
    parts = name.split(".")
    for n in range(len(parts), 0, -1):
        path = ROOT.joinpath(*parts[:n])
        if path.with_suffix(".py").exists() or (path / "__init__.py").exists():
            found: object = importlib.import_module(".".join(parts[:n])) if n < len(parts) else None
            for part in parts[n:]:
                if not hasattr(found, part) and part not in getattr(found, "__annotations__", {}):
                    return False
                found = getattr(found, part, None)
            return True
    return False


@pytest.mark.parametrize("document", texts()[: len(DOCUMENTS)], ids=lambda path: path.name)
def test_names_in_documents_exist(document: Path) -> None:
    names = set(MODULE.findall(document.read_text("utf-8")))
    assert not [name for name in sorted(names) if not exists(name)]


def test_every_public_name_is_in_the_api_reference() -> None:
    page = (ROOT / "docs" / "api" / "front.md").read_text("utf-8")
    assert sorted(re.findall(r"^::: pll\.(\w+)$", page, re.MULTILINE)) == sorted(pll.__all__)


def test_names_in_docstrings_exist() -> None:
    named = re.compile(r"`(pll(?:\.[a-z_]\w*)+(?:\.[A-Z]\w*)?)`")
    names = {name for path in texts()[len(DOCUMENTS) :] for name in named.findall(path.read_text("utf-8"))}
    assert len(names) > 50
    assert not [name for name in sorted(names) if not exists(name)]


PAPER = re.compile(r"\bet al\.|\b[A-Z][\w-]+ & [A-Z][\w-]+ (?:\(?\d{4}|20\d\d)")


AS_CHECKED = "mat5.py"
"""A file that stays as it was checked; all others are counted."""


@cache
def public() -> list[tuple[str, ast.ClassDef | ast.FunctionDef]]:
    """Public classes and functions of all modules, with their names."""
    found: list[tuple[str, ast.ClassDef | ast.FunctionDef]] = []
    for file in sorted((ROOT / "pll").rglob("*.py")):
        if file.name == AS_CHECKED:
            continue
        waiting: list[tuple[str, ast.stmt]] = [(file.stem, node) for node in ast.parse(file.read_text("utf-8")).body]
        for where, node in waiting:
            if isinstance(node, ast.ClassDef | ast.FunctionDef) and not node.name.startswith("_"):
                found.append((f"{where}.{node.name}", node))
                if isinstance(node, ast.ClassDef):
                    waiting += [(f"{where}.{node.name}", inner) for inner in node.body]
    return found


def described(doc: str) -> set[str]:
    """Names of the parameters that a docstring describes."""
    section = re.search(r"^Parameters\n-+\n(.*?)(?=\n\n[A-Z]\w*\n-{3,}|\Z)", doc, re.DOTALL | re.MULTILINE)
    heads = [] if section is None else [line.split(" : ")[0] for line in section[1].splitlines() if line[:1].strip()]
    return {name.strip(" *") for head in heads for name in head.split(",")}


def test_public_functions_describe_all_their_parameters() -> None:
    """Those of two and more; a method that overrides another has its docstring from there."""
    functions = [(name, node) for name, node in public() if isinstance(node, ast.FunctionDef)]
    lacking = {}
    for name, node in functions:
        every = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
        names = [one.arg for one in every if one.arg not in ("self", "cls") and not one.arg.startswith("_")]
        doc = ast.get_docstring(node)
        if doc is not None and len(names) > 1 and (left := set(names) - described(doc)):
            lacking[name] = sorted(left)
    assert len(functions) > 200
    assert lacking == {}


def test_papers_stand_under_references() -> None:
    docs = {name: ast.get_docstring(node) or "" for name, node in public()}
    citing = {name: doc for name, doc in docs.items() if PAPER.search(doc.partition("References\n---")[0])}
    assert len(citing) > 10
    assert [name for name, doc in citing.items() if "References\n---" not in doc] == []

"""Files and modules that the documentation and docstrings name exist."""

from __future__ import annotations

import importlib
import re
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

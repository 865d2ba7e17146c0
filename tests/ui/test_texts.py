"""Texts of the pages hold no names of the code."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pll
from pll.analysis.health import Health
from pll.runs.snapshots import LaneSnapshot, Snapshot
from pll.ui.format import ICONS, state_icon

PACKAGE = Path(pll.__file__).parent
TREES = {path: ast.parse(path.read_text("utf-8")) for path in PACKAGE.rglob("*.py")}


def test_no_text_of_a_page_holds_the_name_of_a_class() -> None:
    """Renaming "Looking" everywhere once made the export page say "RunView at what this format can hold…"."""
    nodes = [node for tree in TREES.values() for node in ast.walk(tree)]
    names = {node.name for node in nodes if isinstance(node, ast.ClassDef) and re.match("[A-Z][a-z]+[A-Z]", node.name)}
    assert "LaneSnapshot" in names
    found = re.compile(rf"\b({'|'.join(sorted(names))})\b")
    for path, tree in TREES.items():
        if not path.is_relative_to(PACKAGE / "ui"):
            continue
        documentation = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        texts = [
            node.value
            for node in ast.walk(tree)
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documentation
        ]
        assert not [text for text in texts if " " in text and found.search(text)], path


def test_a_run_that_is_not_to_be_trusted_has_no_tick() -> None:
    def finished(verdict: str) -> Snapshot:
        lane = LaneSnapshot("a", "a", "proden", "finished", 5, (), health=Health(verdict))
        return Snapshot("a", "a", "finished", (lane,))

    assert state_icon(finished("healthy")) == state_icon(finished("unchecked")) == ICONS["finished"]
    assert state_icon(finished("unhealthy")) != ICONS["finished"]

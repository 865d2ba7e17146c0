"""What all components have in common. That an update which comes late undoes nothing is a browser test."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import streamlit as st

from pll.ui.components import component

FOLDER = Path(component.__file__).parent
SCRIPT = "const shown = [];\nexport default function ({ data }) {\n  shown.push(data.what);  // kept\n}\n"


@pytest.fixture
def registered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Callable[..., Any], dict[str, Any], list[Any]]:
    """A component's command, what Streamlit was given of it, and what was sent."""
    given: dict[str, Any] = {}
    sent: list[Any] = []

    def register(name: str, **parts: Any) -> Callable[..., None]:
        given.update(parts, name=name)
        return lambda **options: sent.append(options)

    monkeypatch.setattr(st.components.v2, "component", register)
    (tmp_path / "a.js").write_text(SCRIPT)
    (tmp_path / "a.css").write_text("/* goes */\n  .a { left: 0 }\n")
    command = component.register("a", "<i></i>", scripts=[tmp_path / "a.js"], styles=[tmp_path / "a.css"])
    return command, given, sent


def words(update: dict[str, Any]) -> dict[str, Any]:
    """What was sent, but for arrays."""
    message: bytes = update["data"]
    found: dict[str, Any] = json.loads(message[4 : 4 + int.from_bytes(message[:4], "little")])
    return found


def test_what_is_sent_is_numbered_in_order(registered: Any) -> None:
    command, given, sent = registered
    command(key="k", data={"what": 1})
    command(key="k", data={"what": 2}, on_x_change=print)
    first, second = sent
    assert given["name"] == "candid_a" and given["css"] == ".a { left: 0 }"
    assert words(first)["sent"] < words(second)["sent"]
    assert second["key"] == "k" and second["on_x_change"] is print and words(second)["what"] == 2


def test_a_script_is_sent_with_full_runs_and_once_with_those_of_fragments(
    registered: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    command, given, sent = registered
    state: dict[str, Any] = {}
    monkeypatch.setattr(st, "session_state", state)
    for is_fragment in (False, True, True, False):
        monkeypatch.setattr(component.session, "is_fragment_run", lambda value=is_fragment: value)
        command(key="k", data={"what": 1})
    sent[-1]["on_script_change"]()  # the browser says that it does not have it
    monkeypatch.setattr(component.session, "is_fragment_run", lambda: True)
    command(key="k", data={"what": 1})
    scripts = [words(update)["script"] for update in sent]
    assert ["text" in script for script in scripts] == [True, False, False, True, True]
    assert len({script["digest"] for script in scripts}) == 1
    assert "shown.push(data.what);" in scripts[0]["text"] and "shown" not in given["js"]


@pytest.mark.parametrize("file", sorted(FOLDER.parent.rglob("*.js")), ids=lambda file: file.name)
def test_what_is_left_of_a_script_can_be_read(file: Path) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("Node is not installed")
    text = component.without_comments(file.read_text("utf-8"))
    checked = subprocess.run([node, "--check", "--input-type=module", "-"], input=text, capture_output=True, text=True)
    assert checked.returncode == 0, checked.stderr

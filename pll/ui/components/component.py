"""Custom Streamlit components: HTML, CSS and JavaScript, registered once at import.

A component is mounted under a fixed key; later runs only send new data, and its elements in the browser are kept.
Everything is inline, since Streamlit takes paths from installed packages only.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path
from typing import Any

import streamlit as st

Component = Callable[..., Any]
Payload = dict[str, Any]

EXPORTED = "export default function"
"""How the function begins that a script is called by."""
LATEST = """
const newest = new WeakMap();
export default (component) => {
  const { parentElement, data } = component;
  if (data.sent < newest.get(parentElement)) return;
  newest.set(parentElement, data.sent);
  return drawn(component);
};
"""
"""Streamlit loads the script again wherever a component is mounted and calls it once it is loaded: of two updates in
quick succession, the older one may be called last. It must not overwrite the newer one."""

_numbers = count(time.time_ns() // 1000)
"""Sequence number of updates; based on time, so that it keeps growing when the server restarts."""


def register(name: str, html: str, *, scripts: Sequence[Path], styles: Sequence[Path]) -> Component:
    """Registers a component, and returns the command that mounts it: `command(key=…, data={…}, on_…_change=…)`.

    Args:
        name: of the component.
        html: its elements.
        scripts: of one module; the last one exports the function that Streamlit calls with every update. What others
            export is left out.
        styles: in their order.
    """
    shared = "".join(_text([file]).split(EXPORTED)[0] for file in scripts[:-1])
    script = shared + _text(scripts[-1:]).replace(EXPORTED, "const drawn = function") + LATEST
    mount: Component = st.components.v2.component(
        f"candid_{name}", html=html, css=without_comments(_text(styles)), js=without_comments(script)
    )

    def send(*, data: Payload, **options: Any) -> Any:
        return mount(data=data | {"sent": next(_numbers)}, **options)

    return send


def without_comments(text: str) -> str:
    """A script or style sheet without indentation, blank lines and lines that hold nothing but a comment.

    It travels with every update.

    >>> without_comments("a;  // stays\\n  // goes\\n  /** goes */\\n  b;")
    'a;  // stays\\nb;'
    >>> without_comments("/**\\n * goes\\n */\\nb;")
    'b;'
    """
    kept, in_comment = [], False
    for line in map(str.strip, text.splitlines()):
        if in_comment or line.startswith("/*"):
            in_comment = "*/" not in line
        elif line and not line.startswith("//"):
            kept.append(line)
    return "\n".join(kept)


def _text(files: Sequence[Path]) -> str:
    return "".join(file.read_text("utf-8") for file in files)

"""Components of our own: HTML, style and script, registered with Streamlit once, at import, and sent data ever after.

A component is mounted under a fixed key; from then on a run only sends new data, and its elements in the browser live
on. Everything goes inline, since Streamlit takes paths from installed packages only.
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
"""Streamlit loads the script anew where a component is mounted, and calls it once it is there: when two updates come
close together, the older one may be called last. It must not undo the newer one."""

_numbers = count(time.time_ns() // 1000)
"""Of all that is sent, in order; a server that starts anew goes on above where it was."""


def register(name: str, html: str, *, scripts: Sequence[Path], styles: Sequence[Path]) -> Component:
    """Registers a component, and returns the command that mounts it: `command(key=…, data={…}, on_…_change=…)`.

    Args:
        name: of the component.
        html: its elements.
        scripts: of one module; the last one exports the function that Streamlit calls with every update.
        styles: in their order.
    """
    script = _text(scripts).replace(EXPORTED, "const drawn = function") + LATEST
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
    """
    lines = (line.strip() for line in text.splitlines())
    return "\n".join(line for line in lines if line and not line.startswith(("//", "/*")))


def _text(files: Sequence[Path]) -> str:
    return "".join(file.read_text("utf-8") for file in files)

"""Custom Streamlit components: HTML, CSS and JavaScript, registered once at import.

A component is mounted under a fixed key; later runs only send new data, and its elements in the browser are kept. What
stays the same is sent with every full run of a page; where a fragment is run again, the browser has it.
Everything is inline, since Streamlit takes paths from installed packages only.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import accumulate, count
from pathlib import Path
from typing import Any

import streamlit as st

from pll.ui import session

Component = Callable[..., Any]
Payload = dict[str, Any]

DEFAULT_EXPORT = "export default function"
"""How the function begins that a script is called by."""
SENT_ONCE = ("script", "texts", "points")
"""Parts of a payload that stay the same: the browser keeps the latest of them, for all components of a page."""
LOADER = """
const CACHED = 24;  // values of a part that is sent once
const caches = (window.candidCaches ??= {});
const scripts = (window.candidScripts ??= {});
const unpacked = (message) => {
  const from = 4 + new DataView(message.buffer, message.byteOffset).getUint32(0, true);
  const { arrays, ...data } = JSON.parse(new TextDecoder().decode(message.subarray(4, from)));
  for (const [name, [at, size]] of Object.entries(arrays)) data[name] = message.slice(from + at, from + at + size);
  return data;
};
export default (component) => {
  const { digests, ...data } = unpacked(component.data);
  for (const [name, digest] of Object.entries(digests)) {
    const cache = (caches[name] ??= new Map());
    data[name] ??= cache.get(digest);
    if (data[name] === undefined) {
      component.setTriggerValue("missing", digest);
      return undefined;
    }
    cache.delete(digest);  // and to the end: those not used for long go first
    cache.set(digest, data[name]);
    while (cache.size > CACHED) cache.delete(cache.keys().next().value);
  }
  scripts[digests.script] ??= import(URL.createObjectURL(new Blob([data.script], { type: "text/javascript" })));
  const drawn = scripts[digests.script].then((module) => module.default({ ...component, data }));
  return () => drawn.then((leave) => leave?.());
};
"""
"""What Streamlit gets as a component's script, with every update. The script itself and other parts that stay the same
come with the data, where the browser does not have them yet; if the update that brought one was overtaken by the next,
it is asked for."""
NEWEST_ONLY = """
const newest = new WeakMap();
export default (component) => {
  const { parentElement, data } = component;
  if (data.sent < newest.get(parentElement)) return undefined;
  newest.set(parentElement, data.sent);
  return drawn(component);
};
"""
"""Of two updates in quick succession, the older one may be called last. It must not overwrite the newer one."""

_numbers = count(time.time_ns() // 1000)
"""Sequence number of updates; based on time, so that it keeps growing when the server restarts."""


def files_of(parts: Sequence[Path], ending: str) -> list[Path]:
    """Return the files of parts of a component that have this ending: a part is a script, a style sheet or both.

    Parameters
    ----------
    parts
        Paths without their endings.
    ending
        `.js` or `.css`.
    """
    return [file for part in parts if (file := part.with_suffix(ending)).exists()]


def register(part: Path, html: str = "", *, shared: Sequence[Path] = ()) -> Component:
    """Registers a component, and returns the command that mounts it: `command(key=…, data={…}, on_…_change=…)`.

    The scripts become one module: that of `part` exports the function that Streamlit calls with every update; what the
    others export is left out.

    Parameters
    ----------
    part
        Its script and its style sheet, without their endings.
    html
        Its elements.
    shared
        Parts that come before it, in their order.
    """
    parts = [*shared, part]
    before = "".join(_text([file]).split(DEFAULT_EXPORT)[0] for file in files_of(shared, ".js"))
    drawn = _text(files_of([part], ".js")).replace(DEFAULT_EXPORT, "const drawn = function")
    script = without_comments(before + drawn + NEWEST_ONLY).encode()
    mount: Component = st.components.v2.component(
        f"candid_{part.stem}",
        html=html,
        css=without_comments(_text(files_of(parts, ".css"))),
        js=without_comments(LOADER),
    )

    def send(*, key: str, data: Payload, **options: Any) -> Any:
        whole = data | {"sent": next(_numbers), "script": script}
        digests = {part: _digest(whole[part]) for part in SENT_ONCE if part in whole}
        before: dict[str, str] = st.session_state.get(f"{key}-sent", {}) if session.is_fragment_run() else {}
        st.session_state[f"{key}-sent"] = digests
        new = {part: value for part, value in whole.items() if part not in digests or digests[part] != before.get(part)}

        def forget() -> None:
            st.session_state.pop(f"{key}-sent", None)

        return mount(key=key, data=packed(new | {"digests": digests}), on_missing_change=forget, **options)

    return send


def _digest(value: bytes | list[str]) -> str:
    return _digest_of(value if isinstance(value, bytes) else "\0".join(value).encode())


@lru_cache(maxsize=32)
def _digest_of(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def packed(payload: Payload) -> bytes:
    """One message of a payload: values that are bytes are neither JSON nor base64 on the way.

    Streamlit passes it on as it is; each value of a dict it would look at for a table, and import pandas to do so.
    First comes the length of the JSON (4 bytes, little-endian), then the JSON, with offset and length of each of the
    values that are bytes as `arrays`, then these values.

    Examples
    --------
    >>> packed({"a": 1, "b": b"xyz"})
    b'!\\x00\\x00\\x00{"a": 1, "arrays": {"b": [0, 3]}}xyz'
    """
    words = {name: value for name, value in payload.items() if not isinstance(value, bytes)}
    arrays = {name: value for name, value in payload.items() if isinstance(value, bytes)}
    ends = list(accumulate(map(len, arrays.values()), initial=0))
    places = {name: [start, len(value)] for (name, value), start in zip(arrays.items(), ends, strict=False)}
    head = json.dumps(words | {"arrays": places}).encode()
    return b"".join((len(head).to_bytes(4, "little"), head, *arrays.values()))


def without_comments(text: str) -> str:
    """A script or style sheet without indentation, blank lines and lines that hold nothing but a comment.

    It travels with many updates.

    Examples
    --------
    >>> without_comments("a;  // stays\\n  // goes\\n  /** goes */\\n  b;")
    'a;  // stays\\nb;'
    >>> without_comments("/**\\n * goes\\n */\\nb;")
    'b;'
    """
    code, in_comment = [], False
    for line in map(str.strip, text.splitlines()):
        if in_comment or line.startswith("/*"):
            in_comment = "*/" not in line
        elif line and not line.startswith("//"):
            code.append(line)
    return "\n".join(code)


def _text(files: Sequence[Path]) -> str:
    return "".join(file.read_text("utf-8") for file in files)


# ---- around the content of every page --------------------------------------------------------------------------------


ARRIVAL = register(Path(__file__).with_name("arrival"))
"""Mounted last: once one has come to a page, or to another run on it, it begins at its top, with its title."""
AWAY = register(Path(__file__).with_name("away"))
"""Once the connection is lost, says so in words for people."""

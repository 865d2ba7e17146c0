"""How many people a server carries: tabs that watch a run and tabs that review, against a real server.

    python -m benchmarks.load --watching 10 --reviewing 10 --minutes 1

Tabs are websockets that speak Streamlit's protocol as a browser does (a page, its refreshes, a key of the desk), so
that the machine's time goes to the server and not to browsers: what a browser takes to draw comes on top. Printed, and
put between the marks `load` of docs/reliability.md with `--write`: seconds from opening a tab to its whole page, from a
key to the next example, errors, decisions in the database against decisions acknowledged, memory and descriptors.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import quote

import numpy as np
from streamlit.components.v2.bidi_component.main import _make_trigger_id
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import ClientConnection, connect

from benchmarks.app import ROOT, Server
from benchmarks.durability_browser import prepared_run
from pll.review.session import Settings, open_review
from pll.runs.registry import RunRegistry
from pll.store import Database, Store
from tests.review_helpers import on_disk

LINK = "link=1&data=digits&flip=binomial&q=0.7&holdout=0.2&method=proden&epochs=100000&pace=2"
PATIENCE = 120.0
THINKING = 1.0
"""Seconds a reviewer looks at an example."""


@dataclass
class Findings:
    """What was measured.

    Attributes:
        opening: seconds from connecting to the end of the first script run, a tab each.
        keys: seconds from a key to the next example.
        decisions: acknowledged.
        errors: in words.
    """

    opening: list[float] = field(default_factory=list)
    keys: list[float] = field(default_factory=list)
    decisions: int = 0
    errors: list[str] = field(default_factory=list)


class Tab:
    """One tab: a websocket, what the page says, and its refreshes."""

    def __init__(self, socket: ClientConnection, page: str, query: str) -> None:
        self.socket = socket
        self.page = page
        self.query = query
        self.script = ""  # hash of the page's script, once the server has told it
        self.buttons: dict[str, str] = {}
        self.desk: tuple[str, str, dict[str, Any]] | None = None  # component, its fragment, what it shows
        self.refreshes: dict[str, tuple[float, float]] = {}  # fragment → interval, when it is due
        self.errors: list[str] = []

    async def ask(self, fragment: str = "", **trigger: Any) -> None:
        """Have the page, or a fragment of it, run; perhaps with a button or a message of a component."""
        message = BackMsg()
        state = message.rerun_script
        state.query_string, state.fragment_id, state.page_script_hash = self.query, fragment, self.script
        if not self.script:
            state.page_name = self.page
        if trigger:
            widget = state.widget_states.widgets.add()
            widget.id = trigger["id"]
            if "message" in trigger:
                widget.json_trigger_value = json.dumps([{"event": "act", "value": trigger["message"]}])
            else:
                widget.trigger_value = True
        await self.socket.send(message.SerializeToString())

    async def listen(self, until: float) -> str:
        """Take in one message; the kind of it, "" where none came until then."""
        try:
            content = await asyncio.wait_for(self.socket.recv(), max(0.001, until - time.monotonic()))
        except TimeoutError:
            return ""
        assert isinstance(content, bytes)
        message = ForwardMsg.FromString(content)
        kind = str(message.WhichOneof("type"))
        if kind == "delta" and message.delta.WhichOneof("type") == "new_element":
            self._element(message.delta.new_element, message.delta.fragment_id)
        elif kind == "navigation":
            self.script = message.navigation.page_script_hash
        elif kind == "auto_rerun":
            interval = message.auto_rerun.interval
            self.refreshes[message.auto_rerun.fragment_id] = (interval, time.monotonic() + interval)
        elif kind == "page_info_changed":
            self.query = message.page_info_changed.query_string
        return kind

    def _element(self, element: Any, fragment: str) -> None:
        match element.WhichOneof("type"):
            case "button":
                self.buttons[element.button.label] = element.button.id
            case "exception":
                self.errors.append(f"{element.exception.type}: {element.exception.message}"[:200])
            case "alert" if "error" in element.alert.icon:
                self.errors.append(element.alert.body[:200])
            case "bidi_component":
                component = element.bidi_component
                data = json.loads(component.json or component.mixed.json or "{}")
                if isinstance(data, dict) and "token" in data and "strip" in data:
                    self.desk = (component.id, fragment, data)

    async def finish(self) -> None:
        """Until the script run that was asked for has ended."""
        until = time.monotonic() + PATIENCE
        while (kind := await self.listen(until)) != "script_finished":
            if not kind:
                raise TimeoutError(f"{self.page} was not ready after {PATIENCE:.0f} s")

    async def live(self, until: float) -> None:
        """Follow the page until then, refreshing what refreshes itself."""
        while time.monotonic() < until:
            due = min((due for _, due in self.refreshes.values()), default=until)
            if due <= time.monotonic():
                for fragment, (interval, when) in self.refreshes.items():
                    if when <= time.monotonic():
                        self.refreshes[fragment] = (interval, time.monotonic() + interval)
                        await self.ask(fragment)
            await self.listen(min(due, until))


async def opened(server: Server, page: str, query: str, found: Findings, reviewer: str = "") -> Tab:
    """A tab on a page, once all of it is there."""
    begin = time.monotonic()
    headers = {"Cookie": f"candid_reviewer={quote(reviewer)}"} if reviewer else {}
    address = f"ws://localhost:{server.port}/_stcore/stream"
    protocols: Any = ["streamlit"]
    socket = await connect(
        address, subprotocols=protocols, additional_headers=headers, max_size=None, open_timeout=PATIENCE
    )
    tab = Tab(socket, page, query)
    await tab.ask()
    await tab.finish()
    found.opening.append(time.monotonic() - begin)
    return tab


async def watch(server: Server, run_id: str, seconds: float, found: Findings) -> None:
    """Follow a run that trains."""
    tab = await opened(server, "train", f"run={run_id}", found)
    await tab.live(time.monotonic() + seconds)
    found.errors += tab.errors
    await tab.socket.close()


async def review(server: Server, run_id: str, name: str, seconds: float, found: Findings) -> None:
    """Decide one example after the other."""
    tab = await opened(server, "review", f"run={run_id}", found, name)
    number, until = 0, time.monotonic() + seconds
    while tab.desk is not None and time.monotonic() < until:
        await tab.live(min(until, time.monotonic() + THINKING))
        component, fragment, data = tab.desk
        number += 1
        nonce, begin = f"{name}-{number}", time.monotonic()
        said = {"what": "say", "kind": "pick", "label": data["choices"][0]["label"]}
        message = said | {"token": data["token"], "nonce": nonce, "seconds": THINKING}
        await tab.ask(fragment, id=_make_trigger_id(component, "events"), message=message)
        while tab.desk[2].get("ack") != nonce:
            if not await tab.listen(begin + PATIENCE):
                raise TimeoutError(f"no example {PATIENCE:.0f} s after a key")
        found.keys.append(time.monotonic() - begin)
        found.decisions += 1
        if tab.desk[2].get("problem"):
            found.errors.append(str(tab.desk[2]["problem"]))
    found.errors += tab.errors
    await tab.socket.close()


async def load(
    server: Server, to_review: str, watching: int, reviewing: int, seconds: float, standing: list[dict[str, Any]]
) -> Findings:
    """All of them at a time."""
    found = Findings()
    for page, query in (("review", f"run={to_review}"), ("train", f"run={to_review}")):  # loads what is loaded once
        await (await opened(server, page, query, Findings(), "Nobody")).socket.close()
    standing.append(process(server.pid) | {"when": "before"})
    first = await opened(server, "train", LINK, Findings())
    await first.ask(id=first.buttons["Start"])
    await first.finish()
    while "run=" not in first.query:
        await first.listen(time.monotonic() + PATIENCE)
    trained = dict(part.split("=", 1) for part in first.query.split("&"))["run"]

    async def during() -> None:
        await asyncio.sleep(seconds * 0.8)
        standing.append(process(server.pid) | {"when": "during"})

    tabs = [watch(server, trained, seconds, found) for _ in range(watching)]
    tabs += [review(server, to_review, f"Reviewer {k + 1}", seconds, found) for k in range(reviewing)]
    following = asyncio.create_task(first.live(float("inf")))
    ended = await asyncio.gather(during(), *tabs, return_exceptions=True)
    following.cancel()
    found.errors += [f"{type(error).__name__}: {error}" for error in ended if isinstance(error, BaseException)]
    await first.socket.close()
    await asyncio.sleep(5)
    standing.append(process(server.pid) | {"when": "5 s after"})
    return found


def process(pid: int) -> dict[str, Any]:
    """Memory (MB) and descriptors of the server."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    descriptors = sum(1 for _ in Path(f"/proc/{pid}/fd").iterdir())
    return {"memory": pages * os.sysconf("SC_PAGE_SIZE") / 1e6, "descriptors": descriptors}


def begun_review(home: Path) -> str:
    """A run whose review has begun; its id."""
    run_id = prepared_run(home, 5000)
    registry, store = RunRegistry(home / "runs"), Store(Database(home / "reviews.sqlite3"))
    open_review(registry.get(run_id), store, registry.get, settings=Settings())
    store.database.close()
    return run_id


def seconds_of(times: Sequence[float]) -> str:
    """Median and 95th percentile.

    >>> seconds_of([1.0] * 9 + [2.0])
    '1.00 / 1.55 (10)'
    """
    if not times:
        return "–"
    return f"{np.median(times):.2f} / {np.percentile(times, 95):.2f} ({len(times)})"


def main() -> None:
    """Run it, and print what was found."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--watching", type=int, default=10)
    parser.add_argument("--reviewing", type=int, default=10)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--write", action="store_true", help="put the table into docs/reliability.md")
    given = parser.parse_args()
    standing: list[dict[str, Any]] = []
    with TemporaryDirectory() as folder:
        home = Path(folder)
        run_id = begun_review(home)
        with Server(home) as server:
            found = asyncio.run(load(server, run_id, given.watching, given.reviewing, 60 * given.minutes, standing))
        stored = len(on_disk(home, run_id)[0])
    table = report(given, found, stored, standing)
    print(table)
    for error in found.errors[:10]:
        print("error:", error)
    if given.write:
        write(ROOT / "docs" / "reliability.md", table)


def report(given: Any, found: Findings, stored: int, standing: Sequence[dict[str, Any]]) -> str:
    """The figures as a table in Markdown."""
    who = f"{given.watching} watching, {given.reviewing} reviewing, {given.minutes:g} min, 1 process, SQLite"
    machine = f"{os.cpu_count()} cores, {platform.machine()}, shared with other work, load {os.getloadavg()[0]:.1f}"
    memory = ", ".join(f"{one['memory']:,.0f} MB {one['when']}" for one in standing)
    descriptors = ", ".join(f"{one['descriptors']} {one['when']}" for one in standing)
    rows = [
        ("tabs", who),
        ("machine", machine),
        ("opening a tab, s: median / 95th percentile (tabs)", seconds_of(found.opening)),
        ("key → next, s: median / 95th percentile (keys)", seconds_of(found.keys)),
        ("errors", str(len(found.errors))),
        ("decisions acknowledged / in the database", f"{found.decisions} / {stored}"),
        ("memory of the server", memory),
        ("descriptors of the server", descriptors),
    ]
    return "\n".join(["| | |", "|---|---|", *(f"| {name} | {value} |" for name, value in rows)])


def write(file: Path, table: str) -> None:
    """Put the table between its marks."""
    text = file.read_text(encoding="utf-8")
    marks = re.compile(r"(<!-- load -->\n).*?(<!-- end of load -->)", re.DOTALL)
    file.write_text(marks.sub(lambda found: f"{found[1]}{table}\n{found[2]}", text), encoding="utf-8")


if __name__ == "__main__":
    main()

"""How many reviewers one server carries, while a run trains in it: `python -m benchmarks.load [--write]`.

30 reviewers, then 60, two minutes each, SQLite. Tabs are websockets that speak Streamlit's protocol as a browser does
(a page, its refreshes, a key of the desk), so that the machine's time goes to the server and not to browsers: what a
browser takes to draw comes on top. People come within half a minute, reload their page every few minutes, and look at
an example for some seconds before they press a key. `--write` puts the table into docs/reliability.md.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import random
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import quote

import numpy as np
from streamlit.components.v2.bidi_component.main import _make_trigger_id
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from benchmarks.app import ROOT, Server, prepared_run
from benchmarks.marked import put, table
from pll.review.database import Database
from pll.review.session import open_review
from pll.runs.registry import RunRegistry
from tests.review_helpers import on_disk

LINK = "link=1&data=digits&flip=binomial&q=0.7&holdout=0.2&method=proden&epochs=100000&pace=2"
PATIENCE = 120.0
RELOAD_EVERY = 150.0
"""Seconds after which somebody reloads the page."""
ARRIVAL, THINKING = 30.0, 3.0
"""Seconds within which everybody comes, and for which somebody looks at an example, on average."""


@dataclass
class Findings:
    """What was measured.

    Attributes
    ----------
    opening
        Seconds from connecting to the end of the first script run, a tab each.
    reloading
        The same, of tabs that are opened again while everybody is at work.
    keys
        Seconds from a key to the next example.
    late
        Seconds by which this program itself answered too late, in samples; part of all other seconds.
    decisions
        Acknowledged.
    errors
        In words.
    standing
        What the server holds before, during and after.
    """

    opening: list[float] = field(default_factory=list)
    reloading: list[float] = field(default_factory=list)
    keys: list[float] = field(default_factory=list)
    late: list[float] = field(default_factory=list)
    decisions: int = 0
    errors: list[str] = field(default_factory=list)
    standing: list[dict[str, Any]] = field(default_factory=list)


def words_of(message: bytes) -> dict[str, Any]:
    """Return the words of what a component of ours is sent (`pll.ui.components.component.packed`), {} of others.

    Examples
    --------
    >>> from pll.ui.components.component import packed
    >>> words_of(packed({"token": "t", "picture": b"1"}))["token"], words_of(b"")
    ('t', {})
    """
    size = int.from_bytes(message[:4], "little")
    words: dict[str, Any] = json.loads(message[4 : 4 + size]) if size else {}
    return words


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
                data = words_of(component.bytes)
                if "token" in data and "strip" in data:
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


async def opened(server: Server, page: str, query: str, findings: Findings, reviewer: str = "") -> Tab:
    """A tab on a page, once all of it is there."""
    tab, seconds = await _opened(server, page, query, reviewer)
    findings.opening.append(seconds)
    return tab


async def _opened(server: Server, page: str, query: str, reviewer: str = "") -> tuple[Tab, float]:
    begin = time.monotonic()
    headers = {"Cookie": f"candid_reviewer={quote(reviewer)}"} if reviewer else {}
    address = f"ws://localhost:{server.port}/_stcore/stream"
    protocols: Any = ["streamlit"]
    socket = await connect(
        address, subprotocols=protocols, additional_headers=headers, max_size=None, open_timeout=PATIENCE
    )
    tab = Tab(socket, page, query)
    try:
        await tab.ask()
        await tab.finish()
    except BaseException:
        await socket.close()
        raise
    return tab, time.monotonic() - begin


async def visit(
    server: Server, run_id: str, reviewer: str, *, wait: float, until: float, thinking: float, findings: Findings
) -> None:
    """Come, review, reload the page now and then, and go; errors are noted, and the page is opened again.

    Parameters
    ----------
    wait
        Seconds until they come.
    until
        When they go, by `time.monotonic`.
    thinking
        Seconds for which they look at an example, on average.
    """
    chance = random.Random(reviewer)
    await asyncio.sleep(wait)
    times, part = findings.opening, chance.uniform(0.5, 1.0)
    while time.monotonic() < until:
        reload_at = min(until, time.monotonic() + part * RELOAD_EVERY)
        part = 1.0
        try:
            tab, seconds = await _opened(server, "review", f"run={run_id}", reviewer)
            times.append(seconds)
            times = findings.reloading
            async with tab.socket:
                await _review(tab, reviewer, reload_at, thinking, chance, findings)
            findings.errors += tab.errors
        except (OSError, TimeoutError, ConnectionClosed) as error:
            findings.errors.append(f"{reviewer}: {type(error).__name__}: {error}")
            await asyncio.sleep(1)


async def _review(
    tab: Tab, reviewer: str, until: float, thinking: float, chance: random.Random, findings: Findings
) -> None:
    """Decide one example after the other."""
    while time.monotonic() < until:
        await tab.live(min(until, time.monotonic() + thinking * chance.uniform(0.5, 1.5)))
        if tab.desk is None:
            findings.errors.append(f"{reviewer}: there is no example")
            return
        component, fragment, data = tab.desk
        nonce, begin = f"{reviewer}-{chance.random()}", time.monotonic()
        decision = {"what": "decide", "kind": "pick", "label": data["choices"][0]["label"]}
        message = decision | {"token": data["token"], "nonce": nonce, "seconds": thinking}
        await tab.ask(fragment, id=_make_trigger_id(component, "events"), message=message)
        while tab.desk[2].get("ack") != nonce:
            if not await tab.listen(begin + PATIENCE):
                raise TimeoutError(f"no example {PATIENCE:.0f} s after a key")
        findings.keys.append(time.monotonic() - begin)
        findings.decisions += 1
        if tab.desk[2].get("problem"):
            findings.errors.append(f"{reviewer}: {tab.desk[2]['problem']}")


async def load(
    server: Server,
    to_review: str,
    reviewing: int,
    *,
    minutes: float = 2.0,
    arrival: float = ARRIVAL,
    thinking: float = THINKING,
) -> Findings:
    """Let all of them review at a time, while a run trains."""
    findings, seconds = Findings(), 60 * minutes

    def note(when: str) -> None:
        findings.standing.append(process(server.pid) | {"when": when})

    for page in ("review", "train"):  # loads what is loaded once
        await (await opened(server, page, f"run={to_review}", Findings(), "Nobody")).socket.close()
    note("before")
    first = await opened(server, "train", LINK, Findings())
    await first.ask(id=first.buttons["Start"])
    await first.finish()
    while "run=" not in first.query:
        await first.listen(time.monotonic() + PATIENCE)
    following = asyncio.create_task(first.live(float("inf")))

    async def during() -> None:
        await asyncio.sleep(seconds * 0.8)
        note("during")

    async def look() -> None:
        while True:
            due = time.monotonic() + 0.1
            await asyncio.sleep(0.1)
            findings.late.append(time.monotonic() - due)

    until = time.monotonic() + seconds
    visits = [
        visit(
            server,
            to_review,
            f"Reviewer {k + 1}",
            wait=arrival * k / reviewing,
            until=until,
            thinking=thinking,
            findings=findings,
        )
        for k in range(reviewing)
    ]
    looking = asyncio.create_task(look())
    ended = await asyncio.gather(during(), *visits, return_exceptions=True)
    looking.cancel()
    following.cancel()
    findings.errors += [f"{type(error).__name__}: {error}" for error in ended if isinstance(error, BaseException)]
    with suppress(ConnectionClosed):
        await first.socket.close()
    await asyncio.sleep(5)
    note("5 s after")
    return findings


def process(pid: int) -> dict[str, Any]:
    """Memory (MB) and descriptors of the server."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    descriptors = sum(1 for _ in Path(f"/proc/{pid}/fd").iterdir())
    return {"memory": pages * os.sysconf("SC_PAGE_SIZE") / 1e6, "descriptors": descriptors}


def begun_review(home: Path, n: int) -> str:
    """A run whose review has begun; its id."""
    run_id = prepared_run(home, n)
    registry, database = RunRegistry(home / "runs"), Database(home / "reviews.sqlite3")
    open_review(registry.get(run_id), database, registry.get)
    database.close()
    return run_id


def seconds_of(times: Sequence[float]) -> str:
    """Median and 95th percentile.

    Examples
    --------
    >>> seconds_of([1.0] * 9 + [2.0])
    '1.00 / 1.55 (10)'
    """
    if not times:
        return "–"
    return f"{np.median(times):.2f} / {np.percentile(times, 95):.2f} ({len(times)})"


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--reviewing", type=int, nargs="+", default=[30, 60], help="reviewers, one trial after another")
    parser.add_argument("--write", action="store_true", help="put the table into docs/reliability.md")
    options = parser.parse_args()
    columns = [measured(reviewing) for reviewing in options.reviewing]
    header = ["", *(f"{reviewing} reviewing" for reviewing in options.reviewing)]
    text = table(header, [[name, *(column[name] for column in columns)] for name in columns[0]])
    print(text)
    if options.write:
        put(ROOT / "docs" / "reliability.md", "load", text)


def measured(reviewing: int) -> dict[str, str]:
    """A new server with so many reviewers; name → figure."""
    before = os.getloadavg()[0]
    with TemporaryDirectory() as folder:
        home = Path(folder)
        run_id = begun_review(home, int(reviewing * 120 / THINKING) + 1000)
        with Server(home) as server:
            findings = asyncio.run(load(server, run_id, reviewing))
            during = os.getloadavg()[1]
        stored = len(on_disk(home, run_id)[0])
        log = (home / "server.log").read_text("utf-8", "replace")
    for error in findings.errors[:20]:
        print("error:", error)
    if "Traceback" in log:
        print(log[-4000:])
    return {
        "people": f"{reviewing} reviewing ({THINKING:g} s an example), coming within {ARRIVAL:g} s, a reload every "
        f"{RELOAD_EVERY:g} s, for 2 min, SQLite; a run trains",
        "machine": f"{len(os.sched_getaffinity(0))} cores ({platform.machine()}), shared with this program, the run "
        f"and other work; load {before:.1f} before, {during:.1f} at the end (5 minutes)",
        "made": f"{datetime.now(UTC):%Y-%m-%d}",
        "opening a tab, s: median / 95th percentile (tabs)": seconds_of(findings.opening),
        "reloading a tab, s: median / 95th percentile (tabs)": seconds_of(findings.reloading),
        "key → next, s: median / 95th percentile (keys)": seconds_of(findings.keys),
        "of all these, delay of the measuring program, s: median / 95th percentile": seconds_of(findings.late),
        "errors": str(len(findings.errors)),
        "traceback in the server's log": "yes" if "Traceback" in log else "no",
        "decisions acknowledged / in the database": f"{findings.decisions} / {stored}",
        "memory": ", ".join(f"{one['memory']:,.0f} MB {one['when']}" for one in findings.standing),
        "descriptors": ", ".join(f"{one['descriptors']} {one['when']}" for one in findings.standing),
    }


if __name__ == "__main__":
    main()

"""What the pages cost: `python -m benchmarks.pages [--minutes 2]`.

cold start    from starting the server to a page that can be used, in a Chromium that runs already, seconds
tab           processor time of the server for opening a tab of Train, Review and Home, ms (tabs of benchmarks.load)
key           from a key at the desk to the next example, with 15 reviewers and 15 watching, seconds (benchmarks.load)
compare       bytes of a refresh of Compare while five methods train on 1,797 digits, kB
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import tempfile
import time
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from playwright.sync_api import sync_playwright
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from benchmarks.app import Server, chromium
from benchmarks.load import Findings, Tab, begun_review, load, opened

PATIENCE = 120_000
"""Milliseconds."""
TABS, SETTLING = 20, 30
"""Tabs of each page, and seconds until a server has got ready (`pll/ui/startup.py`)."""
PAGES = ("train", "review", "home")
PEOPLE = {"watching": 15, "arrival": 30.0, "thinking": 3.0, "settle": 0.0}
REVIEWING = 15
LANES = "compare?link=1&lanes=proden,proden-itera,proden-naive,proden-sudden,pn-oracle&data=digits&flip=binomial&q=0.7"
REFRESHES = 20


class Wire:
    """Weighs what the server sends, refresh by refresh."""

    def __init__(self, page: Any) -> None:
        self.refreshes: list[int] = []
        self._bytes = 0
        page.on("websocket", lambda socket: socket.on("framereceived", self._hear))

    def _hear(self, payload: bytes | str) -> None:
        if isinstance(payload, str):
            return
        self._bytes += len(payload)
        if ForwardMsg.FromString(payload).WhichOneof("type") == "script_finished":
            self.refreshes.append(self._bytes)
            self._bytes = 0


def cpu_seconds(pid: int) -> float:
    """Processor time of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def cost(server: Server, run_id: str, tabs: int) -> dict[str, float]:
    """Open so many tabs of each page in turn; return page → milliseconds of processor time a tab."""
    spent, kept = dict.fromkeys(PAGES, 0.0), list[Tab]()
    for number in range(tabs):
        for page in PAGES:
            query = "" if page == "home" else f"run={run_id}"
            before = cpu_seconds(server.pid)
            kept.append(await opened(server, page, query, Findings(), f"R{number}" if page == "review" else ""))
            spent[page] += cpu_seconds(server.pid) - before
    for tab in kept:
        await tab.socket.close()
    return {page: 1000 * seconds / tabs for page, seconds in spent.items()}


def in_a_browser() -> dict[str, float]:
    """Return `cold start` and `compare`."""
    with sync_playwright() as driver, tempfile.TemporaryDirectory() as place:
        browser = chromium(driver)
        page = browser.new_page(viewport={"width": 1440, "height": 1000})
        page.set_default_timeout(PATIENCE)
        server = Server(Path(place))
        started_at = time.perf_counter()
        with server:
            page.goto(server.url)
            page.get_by_role("button", name="Watch it work").wait_for()
            cold = time.perf_counter() - started_at
            wire = Wire(page)
            page.goto(f"{server.url}/{LANES}&seed=0&epochs=2000")
            page.get_by_role("button", name="Start", exact=True).click()
            page.locator(".plot canvas").nth(4).wait_for()
            page.wait_for_timeout(3000)
            before = len(wire.refreshes)
            while len(wire.refreshes) < before + REFRESHES:
                page.wait_for_timeout(200)
            sent = wire.refreshes[before:]
        browser.close()
    return {"cold start": cold, "compare": median(sent) / 1000, "compare, largest": max(sent) / 1000}


def of_tabs() -> dict[str, float]:
    """Return `tab …`, of a server at rest."""
    with tempfile.TemporaryDirectory() as place:
        run_id = begun_review(Path(place), 2000)
        with Server(Path(place)) as server:
            asyncio.run(cost(server, run_id, 2))
            time.sleep(SETTLING)
            found = asyncio.run(cost(server, run_id, TABS))
    return {f"tab {page}": milliseconds for page, milliseconds in found.items()}


def of_keys(minutes: float) -> dict[str, float]:
    """Return `key` and its 95th percentile."""
    with tempfile.TemporaryDirectory() as place:
        run_id = begun_review(Path(place), 5000)
        with Server(Path(place)) as server:
            found = asyncio.run(load(server, run_id, REVIEWING, argparse.Namespace(**PEOPLE, minutes=minutes), []))
    return {"key": median(found.keys), "key, p95": quantiles(found.keys, n=20)[-1], "errors": float(len(found.errors))}


def measured(minutes: float = 2.0) -> dict[str, Any]:
    """Return all of them."""
    return in_a_browser() | of_tabs() | of_keys(minutes)


def main() -> None:
    """See the top of this file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=2.0)
    print(json.dumps(measured(parser.parse_args().minutes), indent=1))


if __name__ == "__main__":
    main()

"""What following a run costs the browser: `python -m benchmarks.following [--minutes 10] [--data mnist] [--views]`.

A server of its own, a Chromium, and a share link that sets up PRODEN (linear) on 60,000 examples, far too long to end;
the page follows at its usual pace. Every minute, after a forced garbage collection: the JavaScript heap, the nodes of
the document, the memory of the tab's process and of the server. Every live refresh: the bytes it sends, as they are
before the connection compresses them. At the end 20 jumps of the timeline to random stored epochs, while it trains
and after it was stopped: the time until the star plot says the epoch. Promises: heap and process grow by less than
10 % after the first minute; a refresh sends less than 300 kB; a jump shows within 300 ms (median).

Needs playwright and a Chromium; looks for the data where the catalogue does (`$PLL_DATA_PATH`).
"""

from __future__ import annotations

import argparse
import os
import random
import re
import tempfile
from pathlib import Path
from statistics import median
from typing import Any

from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from benchmarks.app import ROOT, Server, chromium
from pll.ui.train.views import VIEWS

LINK = "link=1&data={data}&flip=binomial&q=0.7&seed=0&method=proden&model=linear&epochs=100000&lr=0.01&threads=1"
JUMPS = 20
LOOKED_AT = 5
"""Refreshes that are weighed for each view."""
PATIENCE = 60_000
"""Milliseconds."""

JUMP = """async ([track, when, share]) => {
  const box = track.getBoundingClientRect();
  const [clientX, clientY] = [box.left + 8 + share * (box.width - 16), box.top + 20];
  const at = { clientX, clientY, pointerId: 1, bubbles: true, button: 0 };
  const started = performance.now();
  track.setPointerCapture = () => {};
  track.dispatchEvent(new PointerEvent("pointerdown", at));
  const wanted = Number(track.getAttribute("aria-valuenow"));
  const there = () => when.textContent === (wanted ? `Epoch ${wanted}` : "Before training");
  while (!there() && performance.now() - started < 10000) await new Promise((go) => setTimeout(go, 2));
  return there() ? performance.now() - started : null;
}"""
"""Takes the handle of the timeline elsewhere; gives the milliseconds until the picture is that of the epoch."""


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


def memory_mb(pid: int) -> float:
    """Of a process: its private part, and its share of what it shares (Pss), in MB."""
    text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    found = re.search(r"^Pss:\s+(\d+) kB", text, re.MULTILINE)
    assert found is not None
    return int(found[1]) / 1024


def heap(session: Any) -> tuple[float, int]:
    """JavaScript heap in MB and nodes of the document, after a garbage collection."""
    for _ in range(2):
        session.send("HeapProfiler.collectGarbage")
    values = {entry["name"]: entry["value"] for entry in session.send("Performance.getMetrics")["metrics"]}
    return values["JSHeapUsedSize"] / 2**20, int(values["Nodes"])


def tab_process(browser: Any) -> int:
    """The process of the tab: the renderer that has used the most time."""
    processes = browser.new_browser_cdp_session().send("SystemInfo.getProcessInfo")["processInfo"]
    renderers = [process for process in processes if process["type"] == "renderer"]
    return int(max(renderers, key=lambda process: process["cpuTime"])["id"])


def follow(browser: Any, page: Any, wire: Wire, server_pid: int, minutes: int) -> None:
    """A line a minute, and how much more it is than after the first."""
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable")
    print(
        f"{'min':>4} {'epoch':>7} {'heap MB':>8} {'nodes':>7} {'tab MB':>7} {'server MB':>10} {'refreshes':>10} "
        f"{'kB each':>8}"
    )
    first: tuple[float, float] | None = None
    heard = len(wire.refreshes)
    for minute in range(1, minutes + 1):
        page.wait_for_timeout(60_000)
        used, nodes = heap(session)
        tab = memory_mb(tab_process(browser))
        first = first or (used, tab)
        sent, heard = wire.refreshes[heard:], len(wire.refreshes)
        epoch = page.locator(".plot .when").first.inner_text().removeprefix("Epoch ")
        print(
            f"{minute:4} {epoch:>7} {used:8.1f} {nodes:7} {tab:7.0f} {memory_mb(server_pid):10.0f} {len(sent):10} "
            f"{median(sent or [0]) / 1000:8.1f}",
            flush=True,
        )
    assert first is not None
    print(
        f"after the first minute: heap {used / first[0] - 1:+.1%}, tab {tab / first[1] - 1:+.1%}  "
        "(promised: below +10 %)"
    )


def weigh(name: str, sent: list[int]) -> None:
    """The refreshes of a view."""
    print(
        f"{name:14} {len(sent):5} refreshes, median {median(sent) / 1000:6.1f} kB, largest {max(sent) / 1000:6.1f} kB"
    )


def weigh_views(page: Any, wire: Wire) -> None:
    """The refreshes of every view, the first of each left out: it brings the view itself."""
    for name in VIEWS:
        page.get_by_role("radio", name=name, exact=True).or_(
            page.get_by_role("button", name=name, exact=True)
        ).first.click()
        page.get_by_text(VIEWS[name].question).wait_for(timeout=PATIENCE)
        page.wait_for_timeout(1500)
        start = len(wire.refreshes)
        while len(wire.refreshes) < start + LOOKED_AT:
            page.wait_for_timeout(200)
        weigh(name, wire.refreshes[start:])


def jump(page: Any, state: str) -> None:
    """Random jumps of the timeline."""
    rng = random.Random(0)
    done = page.locator(".timeline .done").evaluate("bar => parseFloat(bar.style.width) / 100")
    took: list[float] = []
    for _ in range(JUMPS):
        places = [page.locator(one).first.element_handle() for one in (".timeline .track", ".plot .when")]
        spent = page.evaluate(JUMP, [*places, rng.random() * done])
        if spent is None:
            print("a jump was not answered within 10 s")
        took.append(10_000 if spent is None else spent)
        page.wait_for_timeout(300)
    print(
        f"{JUMPS} jumps {state}: median {median(took):.0f} ms, slowest {max(took):.0f} ms  "
        "(promised: median below 300 ms)"
    )


def main() -> None:
    """Parse, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=int, default=10)
    parser.add_argument("--data", default="mnist", help="a name of the catalogue")
    parser.add_argument("--views", action="store_true", help="weigh the refreshes of every view, too")
    options = parser.parse_args()
    from playwright.sync_api import sync_playwright

    os.environ.setdefault("PLL_DATA_PATH", str(ROOT.parent / "shared" / "data"))
    with tempfile.TemporaryDirectory() as home, Server(Path(home)) as server, sync_playwright() as driver:
        browser = chromium(driver)
        page = browser.new_page(viewport={"width": 1440, "height": 1000})
        wire = Wire(page)
        page.goto(f"{server.url}/train?{LINK.format(data=options.data)}")
        page.get_by_role("button", name="Start", exact=True).click(timeout=PATIENCE)
        page.get_by_text("Training: epoch").wait_for(timeout=PATIENCE)
        page.locator(".plot canvas").first.wait_for(timeout=PATIENCE)
        opened = len(wire.refreshes)
        follow(browser, page, wire, server.pid, options.minutes)
        weigh("while following", wire.refreshes[opened:])
        if options.views:
            weigh_views(page, wire)
        jump(page, "while it trains")
        page.get_by_role("button", name="Stop training").click()
        page.get_by_text("Stopped after epoch").wait_for(timeout=PATIENCE)
        jump(page, "after a stop")
        browser.close()


if __name__ == "__main__":
    main()

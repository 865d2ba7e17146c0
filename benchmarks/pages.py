"""What the pages cost, in Chromium and with tabs of benchmarks.load: `python -m benchmarks.performance pages map`.

cold start    from starting the server to a page that can be used, in a Chromium that runs already, seconds
tab           processor time of the server for opening a tab of Train, Review and Home, ms
compare       bytes of a refresh of Compare while five methods train on 1,797 digits, kB
map           20 features, 10 classes, 3 candidates an example, PRODEN (linear), 20 epochs; seconds:
    first paint   from the choice of the view *Map* to all points drawn, the projection computed in between
    again         the same once the places are known
    scrub         from a jump of the timeline to the map of another epoch (median of 10)
    lasso         from the end of an outline to the count of what is in it
    review        from *Review these* to the first of these examples on the desk
"""

from __future__ import annotations

import asyncio
import os
import random
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from playwright.sync_api import sync_playwright
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from benchmarks.app import Server, chromium
from benchmarks.load import Findings, Tab, begun_review, opened
from pll.catalog.sources import Source
from pll.runs.config import RunConfig
from pll.runs.registry import RunRegistry

PATIENCE = 300_000
"""Milliseconds."""
TABS, SETTLING = 20, 30
"""Tabs of each page, and seconds until a server has got ready (`pll/ui/startup.py`)."""
PAGES = ("train", "review", "home")
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
    spent, open_tabs = dict.fromkeys(PAGES, 0.0), list[Tab]()
    for number in range(tabs):
        for page in PAGES:
            query = "" if page == "home" else f"run={run_id}"
            before = cpu_seconds(server.pid)
            open_tabs.append(await opened(server, page, query, Findings(), f"R{number}" if page == "review" else ""))
            spent[page] += cpu_seconds(server.pid) - before
    for tab in open_tabs:
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
            costs = asyncio.run(cost(server, run_id, TABS))
    return {f"tab {page}": milliseconds for page, milliseconds in costs.items()}


def measured() -> dict[str, float]:
    """Return all of them but the map."""
    return in_a_browser() | of_tabs()


# ---- the map ---------------------------------------------------------------------------------------------------------

C, D, SIZE, EPOCHS = 10, 20, 3, 20
JUMP = """async ([track, when, share]) => {
  const box = track.getBoundingClientRect();
  const [clientX, clientY] = [box.left + 8 + share * (box.width - 16), box.top + 20];
  const at = { clientX, clientY, pointerId: 1, bubbles: true, button: 0 };
  const started = performance.now();
  track.setPointerCapture = () => {};
  track.dispatchEvent(new PointerEvent("pointerdown", at));
  const wanted = Number(track.getAttribute("aria-valuenow"));
  const text = wanted ? `After ${wanted} pass${wanted > 1 ? "es" : ""}` : "Before training";
  const there = () => when.textContent === text;
  while (!there() && performance.now() - started < 10000) await new Promise((go) => setTimeout(go, 2));
  return there() ? performance.now() - started : null;
}"""
"""Takes the handle of the timeline elsewhere; gives the milliseconds until the picture is that of the epoch."""
JUMPS = 10


def data_folder(place: Path, n: int) -> None:
    """Ten overlapping Gaussian classes, and two wrong candidates each."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, C, n)
    X = rng.standard_normal((n, D), dtype=np.float32)
    X += (1.5 * rng.standard_normal((C, D), dtype=np.float32))[y]
    wrong = (y[:, None] + 1 + np.array([[0, 4]]) + rng.integers(0, 4, (n, 2))) % C  # in 1 … 4 and in 5 … 8 further
    members = np.sort(np.column_stack([y, wrong]), axis=1)
    place.mkdir()
    np.save(place / "X.npy", X)
    np.save(place / "indptr.npy", np.arange(0, SIZE * n + 1, SIZE))
    np.save(place / "indices.npy", members.ravel().astype(np.int32))
    np.save(place / "n_classes.npy", np.array(C))


def drawn(page: Any, n: int) -> None:
    page.locator(f".plot[data-points='{n}']").wait_for(timeout=PATIENCE)


def outline(page: Any) -> None:
    """Draw around the middle of the map."""
    canvas = page.locator(".plot[data-points] canvas")
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    corners = [(0.45, 0.4), (0.55, 0.4), (0.55, 0.6), (0.45, 0.6), (0.45, 0.42)]
    at = [(box["x"] + x * box["width"], box["y"] + y * box["height"]) for x, y in corners]
    page.mouse.move(*at[0])
    page.mouse.down()
    for x, y in at[1:]:
        page.mouse.move(x, y, steps=4)


def measured_map(n: int) -> dict[str, float]:
    """Train on n examples, and return the seconds of each of these."""
    with tempfile.TemporaryDirectory() as place, sync_playwright() as driver:
        data_folder(Path(place) / "data", n)
        home = Path(place) / "home"
        source = Source("data", path=str(Path(place) / "data"))
        run = RunRegistry(home / "runs").start(
            RunConfig(source, params={"epochs": EPOCHS, "model": "linear"}, name="map")
        )
        run.join()
        with Server(home) as server:
            browser = chromium(driver)
            page = browser.new_page(viewport={"width": 1440, "height": 1000})
            seconds = dict(_looked_at(page, server.url, run.id, n))
            browser.close()
    return seconds


def _looked_at(page: Any, url: str, run: str, n: int) -> Iterator[tuple[str, float]]:
    page.set_default_timeout(PATIENCE)
    page.goto(f"{url}/review?run={run}")  # the name is asked for once
    page.get_by_role("textbox", name="Your name").fill("Ada")
    page.get_by_role("button", name="Start", exact=True).click()
    page.locator(".desk .board").wait_for()
    page.goto(f"{url}/train?run={run}")
    pictures = page.get_by_text("Label weights", exact=True)
    pictures.first.wait_for()
    for name in ("first paint", "again"):
        started = time.perf_counter()
        page.get_by_role("radio", name="Map", exact=True).click()
        drawn(page, n)
        yield name, time.perf_counter() - started
        page.wait_for_timeout(2000)
        if name == "first paint":
            page.get_by_role("radio", name="Pictures", exact=True).click()
            pictures.first.wait_for()
            page.wait_for_timeout(2000)
    rng, milliseconds, epoch = random.Random(0), [], EPOCHS
    for _ in range(JUMPS):
        epoch = rng.choice([other for other in range(EPOCHS + 1) if other != epoch])
        places = [page.locator(one).element_handle() for one in (".timeline .track", ".plot[data-points] .when")]
        milliseconds.append(page.evaluate(JUMP, [*places, epoch / EPOCHS]) or 10_000)
        page.wait_for_timeout(1000)
    yield "scrub", median(milliseconds) / 1000
    outline(page)
    started = time.perf_counter()
    page.mouse.up()
    review = page.locator("button:not([disabled])", has_text="Review these")
    review.wait_for()
    yield "lasso", time.perf_counter() - started
    page.wait_for_timeout(1000)
    started = time.perf_counter()
    review.click()
    page.get_by_text("chosen on the map").wait_for()
    page.locator(".desk .board").wait_for()
    yield "review", time.perf_counter() - started

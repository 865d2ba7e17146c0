"""How long a reviewer waits: from a key on the desk to the next example, in Chromium, as the page itself measures it.

    python -m benchmarks.keys                       digits, 200 keys
    python -m benchmarks.keys --data mnist          60,000 examples (PLL_DATA_PATH says where the files are)

A linear run of a few epochs is trained, its review begun; then the keys of the first two candidates
are pressed in turn, with a short look at each example.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import numpy as np
from playwright.sync_api import sync_playwright

from benchmarks.app import Server, chromium
from benchmarks.durability_browser import MEASURE, REVIEWERS, Seat, begin
from pll.catalog.sources import Source
from pll.runs.config import RunConfig
from pll.runs.registry import RunRegistry
from pll.synthesis import Flip

LOOK = 300
"""Milliseconds for which an example is looked at."""


def trained(home: Path, data: str) -> str:
    """The id of a run with labels to review."""
    registry = RunRegistry(home / "runs")
    config = RunConfig(Source(data), params={"epochs": 5, "model": "linear"}, flip=Flip("binomial", 0.7), name=data)
    run = registry.start(config)
    run.join(600)
    return run.id


def pressed(seat: Seat, keys: int) -> list[float]:
    """Milliseconds of every key."""
    seat.page.locator(".desk .board").focus()
    for k in range(keys):
        seat.page.wait_for_timeout(LOOK)
        keys_shown = seat.page.locator(".desk .pick .cap").all_inner_texts()[:2]
        seat.page.keyboard.press(keys_shown[k % len(keys_shown)])
        seat.page.wait_for_function(f"k => performance.getEntriesByName('{MEASURE}').length > k", arg=k)
    return seat.durations()


def main() -> None:
    """See the top of this file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default="digits")
    parser.add_argument("--keys", type=int, default=200)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as home, sync_playwright() as driver:
        run = trained(Path(home), options.data)
        with Server(Path(home)) as server:
            browser = chromium(driver)
            seat = Seat(browser, REVIEWERS[0], begin(browser, server, run))
            found = np.array(pressed(seat, options.keys))
    median, late, longest = np.percentile(found, [50, 95, 100])
    print(
        f"{options.data}, {len(found)} keys: median {median:.0f} ms, 95th percentile {late:.0f}, slowest {longest:.0f}"
    )


if __name__ == "__main__":
    main()

"""What opening a tab costs a server: milliseconds of processor time, of tabs that stay open beside each other.

    python -m benchmarks.tabs                 60 tabs of Train, Review and Home each, in turn
    STREAMLIT_RUNNER_POST_SCRIPT_GC=true python -m benchmarks.tabs     with Streamlit's collection after every run

Tabs are those of `benchmarks.load`. Processor time is counted, so that other work on the machine changes little. The
first figures are of a server that has just begun; then it is left alone until it has got ready (`pll/ui/startup.py`).
"""

from __future__ import annotations

import argparse
import asyncio
import os
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.app import Server
from benchmarks.load import Findings, Tab, begun_review, opened, process

PAGES = ("train", "review", "home")
IDLE = 0.02
"""Share of a core below which a server is at rest."""


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


async def measure(server: Server, run_id: str, tabs: int) -> None:
    """Print what tabs cost just after the start, and once the server is at rest."""
    await cost(server, run_id, 1)  # imports
    say("just begun", await cost(server, run_id, 5), server)
    while True:
        before, begin = cpu_seconds(server.pid), time.monotonic()
        await asyncio.sleep(3)
        if cpu_seconds(server.pid) - before < IDLE * (time.monotonic() - begin):
            break
    for when in ("at rest", "again"):
        say(when, await cost(server, run_id, tabs), server)


def say(when: str, found: dict[str, float], server: Server) -> None:
    """Print a line."""
    figures = ", ".join(f"{page} {cost:.0f} ms" for page, cost in found.items())
    print(f"{when}: {figures} a tab; {process(server.pid)['memory']:.0f} MB", flush=True)


def main() -> None:
    """Run it, and print what was found."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--tabs", type=int, default=60)
    given = parser.parse_args()
    with TemporaryDirectory() as folder:
        home = Path(folder)
        run_id = begun_review(home, 2000)
        with Server(home) as server:
            asyncio.run(measure(server, run_id, given.tabs))


if __name__ == "__main__":
    main()

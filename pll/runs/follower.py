"""A process that takes part in a run which another one leads: `python -m pll.runs.follower PORT RANK SIZE PARENT`."""

from __future__ import annotations

import signal
import sys

from pll.errors import UserError
from pll.runs.process import begin_worker
from pll.runs.ranks import joined
from pll.runs.runner import follow


def main(port: int, rank: int, size: int, parent: int) -> int:
    """Follow rank 0 until it ends the training; return the exit status."""
    begin_worker(parent)
    for name in ("SIGTERM", "SIGHUP"):  # meant for the server, which then writes a checkpoint
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_IGN)
    try:
        ranks = joined(port, rank, size)
        try:
            follow(ranks)
        finally:
            ranks.close()
    except UserError as error:
        sys.stderr.write(f"candid: process {rank + 1} of {size}: {error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))

"""How long work tells the one who waits how far it is."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[str, int, int | None], None]
"""Called as work goes on: (what is counted, how many are done, how many in all or None). What it raises stops it."""

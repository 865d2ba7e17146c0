"""What one reads while the server is away."""

from __future__ import annotations

from pathlib import Path

from pll.ui.components.component import register

_away = register("away", "", scripts=[Path(__file__).with_name("away.js")], styles=[])


def away() -> None:
    """On every page: once the connection is lost, say so in words for people."""
    _away(key="away", data={})

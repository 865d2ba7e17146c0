"""What every page has around its content: where the focus goes on arrival, and words while the server is away."""

from __future__ import annotations

from pathlib import Path

from pll.ui.components.component import register


def arrival(page: str) -> None:
    """At the end of a page of that address: its title takes the focus, once."""
    _arrival(key="arrival", data={"page": page})


def away() -> None:
    """On every page: once the connection is lost, say so in words for people."""
    _away(key="away", data={})


_arrival = register("arrival", "", scripts=[Path(__file__).with_name("arrival.js")], styles=[])
_away = register("away", "", scripts=[Path(__file__).with_name("away.js")], styles=[])

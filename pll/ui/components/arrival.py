"""Where the focus goes when one comes to a page: to its title."""

from __future__ import annotations

from pathlib import Path

from pll.ui.components.component import register

_arrival = register("arrival", "", scripts=[Path(__file__).with_name("arrival.js")], styles=[])


def arrival(page: str) -> None:
    """At the end of a page of that address: its title takes the focus, once."""
    _arrival(key="arrival", data={"page": page})

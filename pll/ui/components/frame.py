"""What every page has around its content: where the focus goes on arrival, and words while the server is away."""

from __future__ import annotations

from pathlib import Path

from pll.ui.components.component import register


def arrival(page: str, in_view: str) -> None:
    """At the end of a page: once one has come to it, or to another run on it, it begins at its top, with its title.

    Parameters
    ----------
    page
        Its address.
    in_view
        What it is about: another one for another run.
    """
    _arrival(key="arrival", data={"page": f"{page} {in_view}"})


def away() -> None:
    """On every page: once the connection is lost, say so in words for people."""
    _away(key="away", data={})


_arrival = register(Path(__file__).with_name("arrival"))
_away = register(Path(__file__).with_name("away"))

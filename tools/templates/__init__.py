"""The text of the pages that `python -m tools.pages` writes, with places for what is read off the code."""

from __future__ import annotations

from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined


def rendered(page: str, **values: Any) -> str:
    """Return a page with its values filled in."""
    loader = PackageLoader("tools", "templates")
    environment = Environment(loader=loader, undefined=StrictUndefined, trim_blocks=True, keep_trailing_newline=True)
    return environment.get_template(f"{page}.md.jinja").render(values)

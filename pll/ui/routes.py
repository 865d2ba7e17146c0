"""Routes: the pages, and links between them."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit, urlunsplit

import streamlit as st

from pll.paths import app_root

_PAGES = app_root() / "pages"


def _page(name: str, icon: str, **options: Any) -> dict[str, Any]:
    return {"page": _PAGES / f"{name}.py", "title": name.capitalize(), "icon": f":material/{icon}:", **options}


PAGES: dict[str, dict[str, Any]] = {
    "home": _page("home", "home", default=True),
    "data": _page("data", "table_view", url_path="data"),
    "train": _page("train", "play_circle", url_path="train"),
    "review": _page("review", "rate_review", url_path="review"),
    "export": _page("export", "download", url_path="export"),
    "learn": _page("learn", "school", url_path="learn"),
    "compare": _page("compare", "compare", url_path="compare"),
    "experiments": _page("experiments", "science", url_path="experiments"),
}
MORE = ("compare", "experiments")
"""Pages in the menu *More*."""


def go(name: str, **query: str) -> None:
    """Switch to another page; the rest of the current one does not run."""
    st.switch_page(PAGES[name]["page"], query_params=query)


def link(name: str, label: str, **query: str) -> None:
    """A link to another page.

    Parameters
    ----------
    name
        Of the page.
    label
        What stands on it.
    query
        Of its address.
    """
    st.page_link(PAGES[name]["page"], label=label, query_params=query, icon=":material/arrow_forward:")


def nothing_yet(sentence: str, icon: str, name: str, label: str, **query: str) -> None:
    """Show that there is nothing here yet, and what to do next.

    Parameters
    ----------
    sentence
        What there is not, in Markdown.
    icon
        Beside it, the name of a Material symbol.
    name
        Of the page on which to go on.
    label
        What stands on the button that leads there.
    query
        Of its address.
    """
    st.info(sentence, icon=f":material/{icon}:")
    next_step(name, label, **query)


def next_step(name: str, label: str, **query: str) -> None:
    """The button that leads to another page, where going there is what to do next.

    Parameters
    ----------
    name, label, query
        As `link` takes them.
    """
    if st.button(label, type="primary", icon=":material/arrow_forward:", key=f"go-{name}"):
        go(name, **query)


def address(name: str) -> str:
    """Return the address of a page as this browser sees it, without a query."""
    url = urlsplit(st.context.url or f"http://localhost:8501/{name}")
    base = url.path.removesuffix("/").removesuffix(f"/{name}")
    return urlunsplit((url.scheme, url.netloc, f"{base}/{name}", "", ""))

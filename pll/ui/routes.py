"""Routes: the pages, and links between them."""

from __future__ import annotations

from typing import Any

import streamlit as st

from pll.paths import app_root

_PAGES = app_root() / "pages"

PAGES: dict[str, dict[str, Any]] = {
    "home": {"page": _PAGES / "home.py", "title": "Home", "icon": ":material/home:", "default": True},
    "data": {"page": _PAGES / "data.py", "title": "Data", "icon": ":material/table_view:", "url_path": "data"},
    "train": {"page": _PAGES / "train.py", "title": "Train", "icon": ":material/play_circle:", "url_path": "train"},
    "review": {"page": _PAGES / "review.py", "title": "Review", "icon": ":material/rate_review:", "url_path": "review"},
    "compare": {
        "page": _PAGES / "compare.py",
        "title": "Compare",
        "icon": ":material/compare:",
        "url_path": "compare",
    },
    "export": {"page": _PAGES / "export.py", "title": "Export", "icon": ":material/download:", "url_path": "export"},
    "experiments": {
        "page": _PAGES / "experiments.py",
        "title": "Experiments",
        "icon": ":material/science:",
        "url_path": "experiments",
    },
    "learn": {"page": _PAGES / "learn.py", "title": "Learn", "icon": ":material/school:", "url_path": "learn"},
}


def go(name: str, **query: str) -> None:
    """Switch to another page; the rest of the current one does not run."""
    st.switch_page(PAGES[name]["page"], query_params=query)


def link(name: str, label: str, **query: str) -> None:
    """A link to another page."""
    st.page_link(PAGES[name]["page"], label=label, query_params=query, icon=":material/arrow_forward:")

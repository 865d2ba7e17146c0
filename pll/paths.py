"""Folders: where Candid keeps its files, and where its pages and assets lie."""

from __future__ import annotations

import os
from pathlib import Path

from pll.errors import UserError

_PACKAGE = Path(__file__).resolve().parent


def candid_home() -> Path:
    """Return the folder of runs, uploads and downloads: `$PLL_HOME`, or `~/.candid`.

    Raises
    ------
    UserError
        PLL_HOME is set and empty, as by a script whose own variable is missing.
    """
    named = os.environ.get("PLL_HOME", "~/.candid")
    if not named.strip():
        raise UserError("PLL_HOME is set but empty; name a folder in it, or unset it to use ~/.candid.")
    return Path(named).expanduser()


DECISIONS_DATABASE = "reviews.sqlite3"
"""The database of decisions in that folder, where no other is named."""


def database_url() -> str:
    """Return `$PLL_DATABASE_URL`, or a SQLite file in Candid's home."""
    return os.environ.get("PLL_DATABASE_URL") or f"sqlite:///{candid_home() / DECISIONS_DATABASE}"


def app_root() -> Path:
    """Return the folder that holds `app.py`, `pages/`, `assets/` and `.streamlit/`.

    That is `pll/app` where Candid was installed from a wheel, and the folder above `pll` in a checkout.
    """
    installed = _PACKAGE / "app"
    return installed if installed.is_dir() else _PACKAGE.parent

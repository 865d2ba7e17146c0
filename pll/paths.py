"""Where Candid keeps runs, uploads and downloaded data."""

from __future__ import annotations

import os
from pathlib import Path


def candid_home() -> Path:
    """`$PLL_HOME`, or `~/.candid`."""
    return Path(os.environ.get("PLL_HOME") or "~/.candid").expanduser()

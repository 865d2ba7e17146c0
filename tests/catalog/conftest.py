"""What the catalogue's tests share: an empty cache, the machine's real files, a server on this machine."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pll.catalog import download

from .helpers import Server


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache of the test's own, and no other folder to look in."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("PLL_DATA", str(folder))
    monkeypatch.delenv("PLL_DATA_PATH", raising=False)
    return folder


@pytest.fixture
def shared(cache: Path, shared_data: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The real files beside the checkout, found through PLL_DATA_PATH."""
    monkeypatch.setenv("PLL_DATA_PATH", str(shared_data))
    return shared_data


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setattr(download, "BACKOFF", 0)  # no waiting before another attempt
    with Server() as running:
        yield running

"""What tests of reviews are given: a clock that stands still, an empty database, a review in each kind of database."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pll.review.session import ReviewSession
from tests.review_helpers import Clock, close, open_with


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Draws are counted in Candid's home."""
    monkeypatch.setenv("PLL_HOME", str(tmp_path / "home"))


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def url(tmp_path: Path) -> str:
    """SQLite: what differs between databases is tested at the desk and in the store."""
    return f"sqlite:///{tmp_path / 'reviews.sqlite3'}"


@pytest.fixture
def review(database_url: str, clock: Clock) -> Iterator[ReviewSession]:
    """Forty examples and no controls, on SQLite and on PostgreSQL."""
    made = open_with(database_url, clock=clock)
    yield made
    close(made)

"""A small run under review, and a tab at its desk."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pll.review.database import Database
from pll.review.desk import Desk
from pll.review.queue import ReviewQueue
from pll.review.session import open_review
from pll.runs.registry import RunRegistry
from pll.ui.review.review_tab import ReviewTab
from tests.run_helpers import config, write_data


@pytest.fixture
def queue(tmp_path: Path) -> Iterator[ReviewQueue]:
    """Over 96 examples of four classes."""
    runs = RunRegistry(tmp_path / "runs")
    run = runs.start(config(write_data(tmp_path / "data.npz")))
    run.join(60)
    database = Database(tmp_path / "reviews.sqlite3")
    made = ReviewQueue(open_review(run, database, runs.get), runs)
    made.begin()
    yield made
    made.wait()
    runs.stop_all()
    database.close()


@pytest.fixture
def tab(queue: ReviewQueue) -> ReviewTab:
    made = ReviewTab(queue, Desk(queue.review, "Ada"))
    made.begin()
    return made

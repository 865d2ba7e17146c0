"""A small run under review, and a tab at its desk."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from pll.review.database import Database
from pll.review.desk import Desk
from pll.review.queue import ReviewQueue
from pll.review.session import open_review
from pll.review.signals import prepare_signals
from pll.runs.registry import RunRegistry
from pll.ui.review.review_tab import ReviewTab
from tests.run_helpers import config, registry_in, write_data


@pytest.fixture(scope="session")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run over 96 examples of four classes."""
    folder = tmp_path_factory.mktemp("trained")
    with registry_in(folder) as registry:
        run = registry.start(config(write_data(folder / "data.npz")))
        run.join(60)
        prepare_signals(run.folder, run.splits().train)  # what every review of a copy would find out anew
        return run.folder.path


@pytest.fixture
def queue(tmp_path: Path, trained: Path) -> Iterator[ReviewQueue]:
    """Of that run."""
    runs = RunRegistry(tmp_path / "runs")
    shutil.copytree(trained, runs.root / trained.name)
    database = Database(tmp_path / "reviews.sqlite3")
    made = ReviewQueue(open_review(runs.get(trained.name), database, runs.get), runs)
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

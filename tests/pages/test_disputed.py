"""What votes alone cannot tell: it is said, the examples are stored in order, and answers mend it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from pll.catalog.sources import Source
from pll.review.database import Database
from pll.review.desk import Desk
from pll.review.queue import ReviewQueue
from pll.review.session import open_review
from pll.runs.config import RunConfig
from pll.runs.registry import RunRegistry
from pll.runs.run import Run
from pll.runs.run_data import computed_of

N, CLASSES = 300, 10


def two_voters(folder: Path) -> tuple[Source, np.ndarray]:
    """A file of two voters, one of them right half of the time; and the truth."""
    rng = np.random.default_rng(2)
    y = rng.integers(0, CLASSES, N)
    good, poor = (np.where(rng.random(N) < right, y, rng.integers(0, CLASSES, N)) for right in (0.8, 0.5))
    file = folder / "votes.csv"
    rows = "".join(f"r{i},k{poor[i]:02d},k{good[i]:02d}\n" for i in range(N))
    file.write_text("id,annotator_1,annotator_2\n" + rows)
    return Source("votes.csv", str(file), rule="voters"), y


def trained(registry: RunRegistry, folder: Path) -> tuple[Run, np.ndarray]:
    source, y = two_voters(folder)
    run = registry.start(RunConfig(source, method="dawid-skene", params={}, name="two voters"))
    run.join(60)
    return run, y


@pytest.fixture
def registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[RunRegistry]:
    monkeypatch.setenv("PLL_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("PLL_DATABASE_URL", raising=False)
    result = RunRegistry(tmp_path / "runs")
    yield result
    result.stop_all()


def test_the_voters_are_fitted_anew_with_the_answers(registry: RunRegistry, tmp_path: Path) -> None:
    run, y = trained(registry, tmp_path)
    kept = computed_of(run.folder)
    assert kept is not None and kept.votes is not None and len(kept.disputed) > 10
    assert kept.votes.notes[0].startswith(f"Two voters disagree on {len(kept.disputed)} of {N}")
    queue = ReviewQueue(open_review(run, Database(), registry.get), registry)
    names = run.splits().train.class_names
    desk = Desk(queue.review, "Ada")
    desk.look_at(kept.disputed)
    settled = []
    for _ in range(10):
        given = desk.next()
        assert given is not None
        settled.append(given.row)
        true = names[y[given.row]]
        is_there = true in [one.label for one in given.choices]
        desk.decide(given, "pick" if is_there else "none", true if is_there else None)
    assert settled == kept.disputed[:10].tolist()
    queue.compute_order()
    changed = queue.changes()
    after = queue.review.current.labels
    rest = np.setdiff1d(np.arange(N), settled)
    truth = np.array(names, dtype=object)[y]
    before = queue.review.own.labels
    assert len(changed) and (after == truth)[rest].mean() > (before == truth)[rest].mean()

"""What the tests of reviews share: a small snapshot, a clock that is set by hand, a review in a fresh database."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

from pll.candidates import CandidateSets
from pll.review.database import Database
from pll.review.desk import Assignment, Desk
from pll.review.events import Event, LabelVersion
from pll.review.label_snapshot import LabelSnapshot, review_id
from pll.review.session import ReviewSession
from pll.review.store import reading
from pll.runs.registry import RunRegistry
from pll.weights import Weights, normalise

NAMES = ("ant", "bee", "cat", "dog")


class Clock:
    """Stands still until it is moved."""

    def __init__(self) -> None:
        self.at = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.at

    def go_on(self, seconds: float) -> None:
        self.at += timedelta(seconds=seconds)


def labels_of(sets: CandidateSets, weights: Weights, held_out: Weights | None = None) -> LabelSnapshot:
    """Labels of a run whose examples are called by their rows."""
    return LabelSnapshot("run", np.arange(len(sets)).astype(str), sets, weights, held_out)


def snapshot(n: int = 40, *, run: str = "first", seed: int = 0, names: tuple[str, ...] = NAMES) -> LabelSnapshot:
    """n examples with two or three candidates each, and weights that differ."""
    rng = np.random.default_rng(seed)
    lists = [sorted(rng.choice(len(names), size=int(rng.integers(2, 4)), replace=False).tolist()) for _ in range(n)]
    sets = CandidateSets.from_lists(lists, len(names), names)
    weights = normalise(rng.random(sets.nnz).astype(np.float32) + 0.05, sets)
    return LabelSnapshot(run, np.array([f"example {row}" for row in range(n)]), sets, weights, held_out=weights)


def open_with(
    url: str,
    given: LabelSnapshot | None = None,
    clock: Clock | None = None,
    overlap: int = 1,
) -> ReviewSession:
    """A review of the snapshot in this database, as one process would have it."""
    retrained: dict[str, LabelSnapshot] = {}
    more: dict[str, Any] = {} if clock is None else {"clock": clock}
    review = ReviewSession("review", given or snapshot(), Database(url), load=retrained.__getitem__, **more)
    if overlap > 1:
        review.configure(overlap=overlap)
    return review


def on_disk(home: Path, run_id: str, database: str | None = None) -> tuple[list[Event], list[LabelVersion]]:
    """What was stored of the review of a run in this home, in its own database or in another."""
    opened = Database(database or home / "reviews.sqlite3")
    with reading(opened, review_id(RunRegistry(home / "runs").get(run_id).folder)) as reader:
        found = reader.events(), reader.versions()
    opened.close()
    return found


def given(desk: Desk) -> Assignment:
    """What this desk is given; there must be something."""
    result = desk.next()
    assert result is not None
    return result


def top(one: Assignment) -> str:
    """The label that the model holds most likely."""
    return one.choices[0].label


def answer(desk: Desk, one: Assignment, *, right: bool) -> None:
    """Say what the model says, or something else."""
    other = next(choice.label for choice in one.choices if choice.label != one.identified)
    assert desk.decide(one, "pick", one.identified if right else other).stored


def close(*reviews: ReviewSession) -> None:
    """Let go of the database."""
    for review in reviews:
        review.database.close()

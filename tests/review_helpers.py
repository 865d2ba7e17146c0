"""What the tests of reviews share: a small subject, a clock that is set by hand, a review in a fresh database."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np

from pll.candidates import CandidateSets
from pll.review.reviewing import Load, Reviewing, Settings
from pll.review.rounds import Promise
from pll.review.subject import Subject
from pll.store import Database, Store
from pll.weights import normalise

NAMES = ("ant", "bee", "cat", "dog")


class Clock:
    """Stands still until it is moved."""

    def __init__(self) -> None:
        self.at = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.at

    def go_on(self, seconds: float) -> None:
        self.at += timedelta(seconds=seconds)


def subject(n: int = 40, *, run: str = "first", seed: int = 0, names: tuple[str, ...] = NAMES) -> Subject:
    """n examples with two or three candidates each, and weights that differ."""
    rng = np.random.default_rng(seed)
    lists = [sorted(rng.choice(len(names), size=int(rng.integers(2, 4)), replace=False).tolist()) for _ in range(n)]
    sets = CandidateSets.from_lists(lists, len(names), names)
    weights = normalise(rng.random(sets.nnz).astype(np.float32) + 0.05, sets)
    return Subject(run, np.array([f"example {row}" for row in range(n)]), sets, weights)


def open_with(
    url: str, given: Subject | None = None, clock: Clock | None = None, load: Load | None = None, **settings: object
) -> Reviewing:
    """A review of the subject in this database, as one process would have it; no controls unless asked for."""
    wanted = Settings(**({"mix": 0.0, "promise": Promise(share=0.2, max_error=0.3)} | settings))  # type: ignore[arg-type]
    more = {} if clock is None else {"clock": clock}
    return Reviewing("review", given or subject(), Store(Database(url)), settings=wanted, load=load, **more)


def close(*reviews: Reviewing) -> None:
    """Let go of the database."""
    for review in reviews:
        review.store.database.close()

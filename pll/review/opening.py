"""From a run to its review."""

from __future__ import annotations

from collections.abc import Callable

from pll.review.label_snapshot import LabelSnapshot, review_id, subject_of
from pll.review.relabel_store import kept
from pll.review.session import ReviewSession
from pll.review.settings import Settings
from pll.runs.run import Run
from pll.store.store import Store

GetRun = Callable[[str], Run]
"""Gives a run by its id: `RunRegistry.get`."""


def open_review(run: Run, store: Store, get_run: GetRun, *, settings: Settings | None = None) -> ReviewSession:
    """The review that a run belongs to: its own, or that of the run which it was taught from.

    Keep what it gives: one for each review and process (`review_id(run.folder)` is the key).

    Args:
        run: with a result.
        store: `Store(Database())`; one for each process.
        get_run: `RunRegistry.get`; finds the first run of the line and the latest one.
        settings: for a review that does not exist yet.

    Raises:
        UserError: a run without result, one whose data or first run is gone, or the database cannot be used.
    """

    def load(run_id: str) -> LabelSnapshot:
        return subject_of(get_run(run_id))

    def taken_over(own: LabelSnapshot, fingerprint: str) -> LabelSnapshot:
        return kept(get_run(own.run).folder, own, fingerprint)

    lessons = run.folder.about()["run"].get("lessons")
    root = run if not lessons else get_run(lessons["root"])
    return ReviewSession(review_id(root.folder), subject_of(root), store, settings=settings, load=load, kept=taken_over)

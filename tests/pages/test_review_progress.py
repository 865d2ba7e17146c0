"""The view of a review on progress: the certificate, teaching, labels that follow."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pll.catalog.sources import Source
from pll.review.desk import Desk
from pll.review.retraining import changed_by_retraining
from pll.runs.config import RunConfig
from pll.runs.run import Run
from pll.ui import session
from pll.ui.review import changes
from pll.wording import count
from tests.page_helpers import begun, button, entered, figures, for_experts, said, turned_to
from tests.review_helpers import given


def progress_after(open_page: Any, run: Run, answers: int) -> Any:
    """The view on progress after so many answers, every fifth another than the model's."""
    queue = begun(run)
    desk = Desk(queue.review, "Bob")
    for turn in range(answers):
        one = given(desk)
        other = next((choice.label for choice in one.choices if choice.label != one.identified), one.identified)
        desk.decide(one, "pick", other if turn % 5 == 0 else one.identified)
    return for_experts(turned_to(entered(open_page("review", run=run.id)), run))


def test_teaching_shows_what_changed_and_offers_to_look_at_it(open_page: Any, finished: Run) -> None:
    queue = begun(finished)
    desk = Desk(queue.review, "Ada")
    for _ in range(20):
        one = given(desk)
        desk.decide(one, "pick", one.choices[-1].label)
    page = turned_to(entered(open_page("review", run=finished.id)), finished)
    page = button(page, "Retrain on 20 decisions").click().run()
    assert not page.exception
    run = next(run for run in session.registry().all() if run.config.decided_sets is not None)
    run.join(60)
    assert "older than those in Review" not in said(open_page("train", run=run.id))  # which has yet to take these
    assert queue.adopt_retrained()  # as another tab would
    page = page.run()
    assert not page.exception
    assert queue.review.current.run == run.id
    assert said(page).count("Training on the decisions changed") == 1
    page = button(page, "Dismiss").click().run()
    assert said(page).count("Training on the decisions changed") == 1  # in its place on Progress
    assert not [one for one in page.button if one.label.startswith("Retrain")]  # it has learnt them all
    for name in ("export", "train"):  # the run before says what its files have: the decisions, too
        assert "20 decided of 150" in said(open_page(name, run=finished.id))
    desk.undo()
    for name in ("export", "train"):
        page = open_page(name, run=finished.id)
        before = said(page)
        assert "19 decided of 150" in before and "older than those in Review, which are of a later run" in before
        assert "Open the later run" in [link.proto.label for link in page.get("page_link")]
        assert "older than those in Review" not in said(open_page(name, run=run.id))
    queue.wait()


def test_what_was_learnt_and_taken_back_is_no_change_that_decisions_made(open_page: Any, finished: Run) -> None:
    queue = begun(finished)
    desk = Desk(queue.review, "Ada")
    for _ in range(6):
        one = given(desk)
        desk.decide(one, "pick", one.choices[-1].label)
    queue.retraining.begin().join(60)
    assert queue.adopt_retrained() and len(queue.changes())
    for _ in range(6):
        desk.undo()
    page = for_experts(turned_to(entered(open_page("review", run=finished.id)), finished))
    assert figures(page)["Other labels changed"] == "0" and "that nobody has looked at" not in said(page)
    assert not button(page, "Retrain on 6 changed decisions").disabled
    queue.wait()


def test_labels_that_retraining_did_not_change_are_not_called_older(open_page: Any, tmp_path: Path) -> None:
    rows = "".join(f"r{k},{'xy'[k % 2]},{'xy'[k % 7 in (1, 3, 5)]},{'xy'[k % 5 == 0]}\n" for k in range(30))
    (tmp_path / "votes.csv").write_text(f"id,annotator:ann,annotator:bob,annotator:cy\n{rows}")
    open_page("home")
    source = Source("votes.csv", str(tmp_path / "votes.csv"), rule="voters")
    run = session.registry().start(RunConfig(source, method="majority"))
    run.join(60)
    queue = begun(run)
    desk = Desk(queue.review, "Ada")
    one = desk.show(0)
    desk.decide(one, "pick", one.identified)
    queue.retraining.begin().join(60)
    assert queue.adopt_retrained() and not len(changed_by_retraining(queue.review))
    for name in ("export", "train"):
        page = open_page(name, run=run.id)
        assert "These labels are the same as those in Review" in said(page)
        assert "Open the later run" in [link.proto.label for link in page.get("page_link")]
    queue.wait()


def primary(page: Any) -> list[str]:
    """What stands on the buttons that stand out."""
    return [one.label for one in page.button if one.proto.type == "primary"]


def test_progress_says_what_to_do_next(open_page: Any, finished: Run) -> None:
    queue = begun(finished, overlap=2)
    page = turned_to(entered(open_page("review", run=finished.id)), finished)
    assert primary(page) == ["Go on reviewing"]
    assert not [one for one in page.button if one.label.startswith("Retrain")]
    assert not button(page, "Go on reviewing").click().run().exception
    assert page.segmented_control(f"review-view-{queue.review.id}").value == "One by one"
    bob, cy = Desk(queue.review, "Bob"), Desk(queue.review, "Cy")
    bob.decide(one := bob.show(0), "pick", one.choices[0].label)
    cy.decide(cy.show(0), "none")
    page = turned_to(page, finished)
    assert primary(page) == ["Settle disagreements"]
    assert button(page, "Settle disagreements").click().run().segmented_control[0].value == "Disagreements"


def test_where_nothing_is_left_the_next_step_is_to_take_the_labels(open_page: Any, finished: Run) -> None:
    desk = Desk(begun(finished).review, "Ada")
    while (one := desk.next()) is not None:
        desk.decide(one, "pick", one.identified)
    page = turned_to(entered(open_page("review", run=finished.id)), finished)
    assert primary(page) == ["Export the labels"]


def test_a_failed_retraining_says_why_until_it_is_dismissed(
    open_page: Any, finished: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    retraining = begun(finished).retraining
    now = finished.snapshot()
    failed = replace(now, state="failed", lanes=(replace(now.lane, state="failed", error="The disk is full."),))
    monkeypatch.setattr(retraining, "snapshot", lambda: failed)
    page = entered(open_page("review", run=finished.id))
    assert [one.value for one in page.warning] == ["The disk is full."]
    monkeypatch.setattr(retraining, "dismiss", monkeypatch.undo)
    page = button(page, "Dismiss").click().run()
    assert not page.exception and not page.warning


def test_labels_that_follow_are_shown_looked_at_and_taken_back(open_page: Any, finished: Run) -> None:
    queue = begun(finished)
    queue.wait()
    desk = Desk(queue.review, "Ada")
    for _ in range(20):
        one = given(desk)
        desk.decide(one, "pick", one.choices[-1].label)
    queue.compute_order()
    changed = queue.changes()
    assert len(changed)
    page = entered(open_page("review", run=finished.id))
    page = turned_to(page, finished)
    assert not page.exception
    assert f"By 20 decisions, {count(len(changed), 'label')} of the model" in said(page)
    (shown,) = [one for one in page.dataframe if "label now" in one.value]
    assert '"format": "%.3f"' in shown.proto.columns  # 0.27 as 0.270 in a column with 0.253
    table = shown.value
    assert table["label now"].tolist() == changed.after[: changes.SHOWN_CHANGES].tolist()
    page = page.button("review-look-changed").click().run()
    assert not page.exception
    assert page.session_state["review-tab"].assignment.row == changed.rows[0]
    page = button(page, "Take back all").click().run()
    assert not page.exception
    assert not len(queue.changes()) and "By 20 decisions" not in said(page)
    assert queue.review.label_of(int(changed.rows[0])) == changed.before[0]

"""The review page: what it says where there is nothing to review, how a review begins, what stands around the desk."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import streamlit as st

from pll.annotations.agreement import disagreeing_pairs
from pll.catalog.sources import Source
from pll.errors import UserError
from pll.review.desk import Desk
from pll.review.queue import ReviewQueue
from pll.runs.config import RunConfig
from pll.runs.run import Run
from pll.ui import session
from pll.ui.review import service
from pll.ui.review.progress import strip
from tests.page_helpers import IRIS, begun, button, entered, figures, labels, said, turned_to


@pytest.mark.parametrize("page", ["review", "export"])
def test_where_no_run_is_in_view_the_next_step_is_offered(open_page: Any, finished: Run, page: str) -> None:
    opened = open_page(page)
    assert not opened.selectbox and f"labels you want to {page}" in opened.info[0].value
    assert "irises" in said(opened)
    opened = button(opened, "Open").click().run()
    assert not opened.exception and opened.query_params["run"] == finished.id
    assert not opened.info or "labels you want to" not in opened.info[0].value


@pytest.mark.parametrize("page", ["review", "export"])
def test_while_the_first_run_is_at_work_it_is_what_comes_next(open_page: Any, page: str) -> None:
    open_page("home")
    session.registry().start(IRIS, paused=True)
    opened = open_page(page)
    assert opened.info[0].value == f"Nothing to {page} yet: irises is at work."
    assert labels(opened) == {"Watch it train"}


@pytest.mark.parametrize("name", ["review", "export"])
def test_a_run_at_work_is_waited_for(open_page: Any, name: str) -> None:
    open_page("home")
    run = session.registry().start(IRIS, paused=True)
    page = open_page(name, run=run.id)
    assert not page.exception
    assert f"You can {name} its labels when it has ended" in page.info[0].value


def test_a_database_that_cannot_be_used_is_said_before_a_name_is_asked_for(
    open_page: Any, finished: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse() -> None:
        raise UserError("The database cannot be used.")

    monkeypatch.setattr(service, "database", refuse)
    page = open_page("review", run=finished.id)
    assert not page.exception and not page.text_input and "cannot be used" in page.error[0].value


def test_a_typed_name_is_marked_as_unverified(open_page: Any, finished: Run) -> None:
    begun(finished)
    page = entered(open_page("review", run=finished.id), "  Ada \t Lovelace ")
    assert not page.exception
    assert "not verified" in said(page)
    tab = page.session_state["review-tab"]
    assert (tab.desk.reviewer, tab.desk.verified) == ("Ada Lovelace", False)
    page = button(page, "Change name").click().run()
    assert page.text_input[0].label == "Your name"


def test_disagreements_are_listed_and_settled(open_page: Any, finished: Run) -> None:
    queue = begun(finished, overlap=2)
    bob, cy = Desk(queue.review, "Bob"), Desk(queue.review, "Cy")
    for row in range(6):
        given = bob.show(row)
        bob.decide(given, "pick", given.choices[0].label)
        given = cy.show(row)
        if row:
            cy.decide(given, "pick", given.choices[0].label)
        else:
            cy.decide(given, "none")
    ((row, _),) = queue.review.conflicts()
    page = entered(open_page("review", run=finished.id))
    page = turned_to(page, finished, "Disagreements")
    assert not page.exception
    assert "6 examples answered by two" in said(page)
    assert figures(page)["Fleiss' kappa"] == "–"  # six pairs say nothing beyond chance
    assert "1 disagreement to settle" in said(page)
    page = button(page, "None of these").click().run()
    assert "No disagreement is open" in page.success[0].value
    assert queue.review.state.outcome(row).is_adjudicated


def test_when_all_is_decided_the_labels_can_be_taken_away(open_page: Any, tmp_path: Path) -> None:
    rows = "".join(f"{k % 7}.5,{'x|y' if k % 2 else 'xy'[k % 3 == 0]}\n" for k in range(30))
    (tmp_path / "few.csv").write_text(f"size,candidates\n{rows}")
    open_page("home")
    run = session.registry().start(RunConfig(Source("few.csv", str(tmp_path / "few.csv")), params={"epochs": 2}))
    run.join(60)
    desk = Desk(begun(run).review, "Ada")
    given = desk.next()
    while given is not None:
        given = desk.decide(given, "pick", given.choices[0].label).next
    page = entered(open_page("review", run=run.id))
    assert "Every example has been decided" in page.success[0].value
    page = button(page, "Undo last decision").click().run()
    assert not page.exception and not page.success


def test_after_the_last_one_worth_a_look_it_is_said_and_the_others_are_offered(
    open_page: Any, finished: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    queue = begun(finished)
    monkeypatch.setattr(queue, "update_order", lambda: None)  # so that as many stay worth a look as there are now
    worth = queue.worth_a_look()
    assert worth == queue.status().doubtful and worth
    page = entered(open_page("review", run=finished.id))
    tab = page.session_state["review-tab"]

    def answer(turn: int) -> None:
        one = tab.assignment
        said = {"what": "decide", "kind": "pick", "label": one.identified, "token": one.token, "nonce": str(turn)}
        tab.act(said)

    turns = 0
    while tab.assignment is not None:
        assert f"{queue.worth_a_look()} worth a look" in strip(tab)["left"]
        answer(turns)
        turns += 1
    left = 150 - turns
    assert worth <= turns and queue.worth_a_look() == 0
    assert f"Nothing is left that is worth a look: the other {left} labels are certain" in said(page.run())
    page = button(page, "Go on with these").click().run()
    assert not page.exception and not page.success and tab.assignment is not None
    answer(turns)
    assert tab.assignment is not None
    queue.wait()


@pytest.mark.parametrize("name", ["review", "export"])
def test_in_place_of_a_run_that_was_deleted_another_one_can_be_opened(open_page: Any, finished: Run, name: str) -> None:
    page = open_page(name, run="AAAAAAAAAAAAAAAA")
    assert not page.exception and "no such run" in page.error[0].value
    page = page.button(f"open-{finished.id}").click().run()
    assert not page.error and page.query_params["run"] == finished.id


def test_a_database_that_is_gone_is_said_and_found_again(open_page: Any, finished: Run, tmp_path: Path) -> None:
    begun(finished)
    page = entered(open_page("review", run=finished.id))
    file = Path(str(service.database().url.database))
    file.rename(tmp_path / "away")
    page = turned_to(page, finished)
    assert not page.exception
    assert "was removed or replaced" in page.error[0].value
    (tmp_path / "away").rename(file)
    page = button(page, "Try again").click().run()
    assert not page.exception and not page.error


def test_a_review_in_use_is_never_opened_twice(finished: Run) -> None:
    queue = begun(finished)
    st.cache_resource.clear()
    assert service.queue_of(finished) is queue
    for k in range(2 * service.RECENT_REVIEWS):  # others push it out of memory, but somebody still uses it
        service._reviews().get(f"other {k}", lambda: ReviewQueue(queue.review, session.registry()))
    assert service.queue_of(finished) is queue


def test_only_where_two_voters_disagree(open_page: Any, tmp_path: Path) -> None:
    rows = "".join(f"r{k},{'xy'[k % 2]},{'xy'[k % 3 == 0]},{'xy'[k % 5 == 0]}\n" for k in range(30))
    (tmp_path / "votes.csv").write_text(f"id,annotator:ann,annotator:bob,annotator:cy\n{rows}")
    open_page("home")
    source = Source("votes.csv", str(tmp_path / "votes.csv"), rule="voters")
    run = session.registry().start(RunConfig(source, method="dawid-skene", params={}))
    run.join(60)
    page = entered(open_page("review", run=run.id))
    box = next(one for one in page.selectbox if one.label == "Only where two disagree")
    page = box.set_value(
        next(pair for pair in disagreeing_pairs(run.splits().train.annotations) if pair.second == 1)
    ).run()
    differ = sum(k % 2 != (k % 3 == 0) for k in range(30))
    only = f"Only the {differ} examples on which ann and bob disagree."
    assert not page.exception and only in said(page)
    again = entered(open_page("review", run=run.id, disagree=page.query_params["disagree"]))  # as by F5
    assert not again.exception and only in said(again)
    assert only not in said(entered(open_page("review", run=run.id, disagree="another-0-1")))
    page = button(page, "All examples").click().run()
    assert "disagree" not in page.query_params
    box = next(one for one in page.selectbox if one.label == "Only where two disagree")
    assert box.value is None and "Only the" not in said(page)

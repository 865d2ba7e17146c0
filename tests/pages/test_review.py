"""The review page: what it says where there is nothing to review, how a review begins, what stands around the desk."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import streamlit as st

from pll.protocol import Flip
from pll.review.reviewing import Settings
from pll.review.rounds import Promise
from pll.runconfig import RunConfig
from pll.runs import Run
from pll.sources import Source
from pll.store.records import Opened
from pll.ui import session
from pll.ui.review import reviewer, service

ROOT = Path(__file__).parents[2]
IRIS = RunConfig(Source("iris"), params={"epochs": 30}, flip=Flip("binomial", 0.3), name="irises")


def said(page: Any) -> str:
    """All text of the page."""
    kinds = (page.title, page.markdown, page.caption, page.info, page.warning, page.error, page.success)
    return "\n".join(element.value for kind in kinds for element in kind)


def button(page: Any, label: str) -> Any:
    (found,) = [one for one in page.button if one.label == label]
    return found


def trained(config: RunConfig) -> Run:
    run = session.registry().start(config)
    run.join(60)
    return run


@pytest.fixture
def finished(open_page: Any) -> Run:
    open_page("home")
    return trained(IRIS)


def entered(page: Any, name: str = "Ada") -> Any:
    page.text_input[0].set_value(name)
    return button(page, "Begin").click().run()


def begun(run: Run, **settings: Any) -> None:
    service.guide_of(run, Settings(**({"promise": Promise(share=0.5, max_error=0.2)} | settings)))


def test_without_any_run_it_offers_to_train(open_page: Any) -> None:
    page = open_page("review")
    assert not page.exception
    assert "Nothing to review yet" in page.info[0].value
    assert button(page, "Bring or choose data")


def test_without_a_run_in_view_it_offers_those_with_labels(open_page: Any, finished: Run) -> None:
    page = open_page("review")
    assert page.selectbox[0].options == ["irises · PRODEN"]
    page = entered(button(page, "Review its labels").click().run())
    assert "Before you begin" in said(page)


def test_a_run_at_work_is_waited_for(open_page: Any) -> None:
    open_page("home")
    run = session.registry().start(IRIS, paused=True)
    page = open_page("review", run=run.id)
    assert not page.exception
    assert "can be reviewed when it has ended" in page.info[0].value


def test_a_run_without_labels_is_explained(open_page: Any) -> None:
    open_page("home")
    run = trained(RunConfig(Source("iris"), params={"lr": 1e30}, flip=Flip("pair", 0.5), name="irises"))
    page = open_page("review", run=run.id)
    assert not page.exception
    assert "no labels to review" in page.info[0].value


def test_a_link_to_no_run_is_explained(open_page: Any) -> None:
    page = open_page("review", run="nowhere")
    assert not page.exception
    assert "no run behind this link" in page.error[0].value


def test_the_promise_is_settled_before_the_first_example(open_page: Any, finished: Run) -> None:
    page = entered(open_page("review", run=finished.id))
    assert not page.exception
    text = said(page)
    assert "15 controls" in text and "would reach about" in text  # few labels: more controls are suggested
    page.number_input[0].set_value(1.0).run()
    assert "out of reach with 15 controls" in page.warning[0].value
    page.number_input[0].set_value(40.0).run()
    page = button(page, "Begin the review").click().run()
    assert not page.exception
    reviewing = service.guide_of(finished).reviewing
    assert (reviewing.round.max_error, reviewing.round.level, len(reviewing.round.controls)) == (0.4, 0.95, 15)
    assert reviewing.round.opened == Opened("first", "Ada")
    assert page.session_state["review-sitting"][1].given is not None


def test_a_typed_name_is_marked_as_unverified(open_page: Any, finished: Run) -> None:
    begun(finished)
    page = entered(open_page("review", run=finished.id), "  Ada \t Lovelace ")
    assert not page.exception
    assert "nobody has checked it" in said(page)
    sitting = page.session_state["review-sitting"][1]
    assert (sitting.desk.reviewer, sitting.desk.verified) == ("Ada Lovelace", False)
    page = button(page, "Somebody else").click().run()
    assert page.text_input[0].label == "Your name"


def test_who_may_log_in_is_asked_to(open_page: Any, finished: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    begun(finished)
    monkeypatch.setattr(reviewer, "login_is_set_up", lambda: True)
    page = open_page("review", run=finished.id)
    assert not page.exception
    assert "Log in to review" in page.info[0].value and not page.text_input
    assert button(page, "Log in")


def test_a_login_gives_a_verified_name(monkeypatch: pytest.MonkeyPatch) -> None:
    class User(dict[str, Any]):
        is_logged_in = True

    monkeypatch.setattr(reviewer, "login_is_set_up", lambda: True)
    monkeypatch.setattr(st, "user", User(email="ada@example.org"))
    assert reviewer.reviewer() == reviewer.Reviewer("ada@example.org", verified=True)
    monkeypatch.setattr(st, "user", User())  # a provider that says nothing of its users
    assert reviewer.reviewer() is None


def test_login_is_set_up_by_secrets(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert not reviewer.login_is_set_up()
    file = tmp_path / "secrets.toml"
    file.write_text('[auth]\nredirect_uri = "http://localhost/oauth2callback"\n')
    monkeypatch.setattr(st, "secrets", st.secrets.__class__())
    st.config.set_option("secrets.files", [str(file)])
    try:
        assert reviewer.login_is_set_up()
    finally:
        st.config.set_option("secrets.files", [])


def test_several_providers_are_offered_by_name(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tmp_path / "secrets.toml"
    shared = '[auth]\nredirect_uri = "http://localhost/oauth2callback"\n'
    file.write_text(shared + '[auth.google]\nclient_id = "a"\n[auth.work]\nclient_id = "b"\n')
    monkeypatch.setattr(st, "secrets", st.secrets.__class__())
    st.config.set_option("secrets.files", [str(file)])
    try:
        assert reviewer.providers() == ["google", "work"]
    finally:
        st.config.set_option("secrets.files", [])


def test_a_provider_that_is_not_set_up_is_explained(
    open_page: Any, finished: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reviewer, "login_is_set_up", lambda: True)  # but there is nothing in the secrets
    page = button(open_page("review", run=finished.id), "Log in").click().run()
    assert not page.exception
    assert "Nobody can log in" in page.toast[0].value


@pytest.mark.parametrize("view", ["Look-alikes", "Disagreements", "Progress"])
def test_every_view_shows(open_page: Any, finished: Run, view: str) -> None:
    begun(finished, overlap=2)
    page = entered(open_page("review", run=finished.id))
    page = page.segmented_control(f"review-view-{service.guide_of(finished).reviewing.id}").set_value(view).run()
    assert not page.exception


def test_progress_says_how_far_it_is_to_the_certificate(open_page: Any, finished: Run) -> None:
    begun(finished, mix=1.0)
    guide = service.guide_of(finished)
    desk = guide.reviewing.desk("Bob")
    certificate = guide.reviewing.certificate()
    assert certificate.threshold is None
    given = desk.next()
    for _ in range(60):  # every control is right: sooner or later something is certified
        assert given is not None
        given = desk.decide(given, "pick", given.identified, seconds=1.0).next
    page = entered(open_page("review", run=finished.id))
    page = page.segmented_control(f"review-view-{guide.reviewing.id}").set_value("Progress").run()
    assert "at most" in page.success[0].value and "with 95 % confidence" in page.success[0].value
    assert {metric.label: metric.value for metric in page.metric}["Decided"] == "60"
    (table,) = [one.value for one in page.dataframe if "reviewer" in one.value]
    assert list(table["reviewer"]) == ["Bob (unverified)"] and list(table["decisions"]) == [60]
    assert "Ada has decided nothing yet." in said(page)


def progress_after(open_page: Any, run: Run, answers: int, **settings: Any) -> Any:
    """The view on progress after so many answers, every fifth another than the model's."""
    begun(run, mix=1.0, **settings)
    guide = service.guide_of(run)
    desk = guide.reviewing.desk("Bob")
    given = desk.next()
    for turn in range(answers):
        assert given is not None
        other = next((choice.label for choice in given.choices if choice.label != given.identified), given.identified)
        given = desk.decide(given, "pick", other if turn % 5 == 0 else given.identified).next
    page = entered(open_page("review", run=run.id))
    return page.segmented_control(f"review-view-{guide.reviewing.id}").set_value("Progress").run()


def test_calibration_waits_for_enough_controls(open_page: Any, finished: Run) -> None:
    page = progress_after(open_page, finished, 12)
    assert not page.exception
    assert "at least 30 decided examples; there are 12. Decide 18 more" in said(page)


def test_calibration_shows_reliability_before_and_after(open_page: Any, finished: Run) -> None:
    page = progress_after(open_page, finished, 40)
    assert not page.exception
    reviewing = service.guide_of(finished).reviewing
    found = reviewing.calibration()
    metric = {metric.label: metric.value for metric in page.metric}
    assert metric["Expected calibration error"] == f"{found.after.error:.1%}".replace("%", " %")
    assert f"On 40 controls: {found.before.error:.1%}".replace("%", " %") in said(page)
    assert f"Temperature {found.temperature:.2f}" in said(page)
    page = page.segmented_control(f"review-calibrate-{reviewing.id}").set_value("isotonic").run()
    assert not page.exception
    assert "isotonic needs at least 100 decided examples; there are 40" in said(page)


def test_isotonic_calibration_shows_with_a_hundred_controls(open_page: Any, finished: Run) -> None:
    page = progress_after(open_page, finished, 110, promise=Promise(share=0.9, max_error=0.2))
    reviewing = service.guide_of(finished).reviewing
    page = page.segmented_control(f"review-calibrate-{reviewing.id}").set_value("isotonic").run()
    assert not page.exception
    assert "On 110 controls" in said(page) and "Temperature" not in said(page)


def test_disagreements_are_listed_and_settled(open_page: Any, finished: Run) -> None:
    begun(finished, overlap=2, mix=0.0)
    guide = service.guide_of(finished)
    bob, cy = guide.reviewing.desk("Bob"), guide.reviewing.desk("Cy")
    for row in range(6):
        given = bob.show(row)
        bob.decide(given, "pick", given.choices[0].label)
        given = cy.show(row)
        if row:
            cy.decide(given, "pick", given.choices[0].label)
        else:
            cy.decide(given, "none")
    ((row, _),) = guide.reviewing.conflicts()
    page = entered(open_page("review", run=finished.id))
    page = page.segmented_control(f"review-view-{guide.reviewing.id}").set_value("Disagreements").run()
    assert not page.exception
    assert {metric.label: metric.value for metric in page.metric}["Answered twice"] == "6"
    assert "1 disagreement to settle" in said(page)
    page = button(page, "None of these").click().run()
    assert "No disagreement is open" in page.success[0].value
    assert guide.reviewing.state.verdict(row).settled


def test_when_all_is_decided_the_labels_can_be_taken_away(open_page: Any, finished: Run) -> None:
    begun(finished)
    desk = service.guide_of(finished).reviewing.desk("Ada")
    given = desk.next()
    while given is not None:
        given = desk.decide(given, "pick", given.choices[0].label).next
    page = entered(open_page("review", run=finished.id))
    assert "Every example has been decided" in page.success[0].value
    page = button(page, "Undo the last decision").click().run()
    assert not page.exception and not page.success


def test_teaching_shows_what_changed_and_offers_to_look_at_it(open_page: Any, finished: Run) -> None:
    begun(finished, mix=0.0)
    guide = service.guide_of(finished)
    desk = guide.reviewing.desk("Ada")
    for _ in range(20):
        given = desk.next()
        assert given is not None
        desk.decide(given, "pick", given.choices[-1].label)
    page = entered(open_page("review", run=finished.id))
    page = page.segmented_control(f"review-view-{guide.reviewing.id}").set_value("Progress").run()
    page = button(page, "Teach it 20 decisions").click().run()
    assert not page.exception
    run = next(run for run in session.registry().all() if run.config.lessons is not None)
    run.join(60)
    page = page.run()
    assert not page.exception
    assert guide.reviewing.current.run == run.id
    assert "changed because of your decisions" in said(page)
    guide.wait()


def test_proposals_are_shown_looked_at_and_taken_over(open_page: Any, finished: Run) -> None:
    begun(finished, mix=0.0)
    guide = service.guide_of(finished)
    guide.wait()
    desk = guide.reviewing.desk("Ada")
    for _ in range(20):
        given = desk.next()
        assert given is not None
        desk.decide(given, "pick", given.choices[-1].label)
    offer = guide.offer()
    assert len(offer)
    page = entered(open_page("review", run=finished.id))
    page = page.segmented_control(f"review-view-{guide.reviewing.id}").set_value("Progress").run()
    assert not page.exception
    assert f"Candid would change {len(offer)} label" in said(page)
    (table,) = [one.value for one in page.dataframe if "proposed" in one.value]
    assert table["proposed"].tolist() == offer.after[:200].tolist()
    page = page.button("review-look-proposed").click().run()
    assert not page.exception
    assert page.session_state["review-sitting"][1].given.row == offer.rows[0]
    page = button(page, "Take these over").click().run()
    assert not page.exception
    assert guide.reviewing.round.number == 2
    assert guide.reviewing.current.labels[offer.rows].tolist() == offer.after.tolist()
    assert "Candid would change no label" in said(page)
    assert "changed because of your decisions" not in said(page)  # nothing was taught
    (table,) = [one.value for one in page.dataframe if "because" in one.value]
    assert table["because"].tolist() == ["proposals were taken over", "the review was begun"]
    assert table["by"].tolist() == ["Ada (unverified)", "not recorded"]
    guide.wait()


def test_progress_says_so_where_the_promise_cannot_be_kept(open_page: Any, finished: Run) -> None:
    begun(finished, mix=1.0, promise=Promise(share=0.9, max_error=0.02))
    guide = service.guide_of(finished)
    desk = guide.reviewing.desk("Bob")
    given = desk.next()
    for _ in range(60):
        assert given is not None
        given = desk.decide(given, "unsure").next
    page = entered(open_page("review", run=finished.id))
    page = page.segmented_control(f"review-view-{guide.reviewing.id}").set_value("Progress").run()
    assert not page.exception
    assert "no number of them would certify this promise. Teach the model" in said(page)


def test_a_control_that_somebody_left_open_is_named_and_freed(open_page: Any, finished: Run) -> None:
    begun(finished, mix=1.0)
    reviewing = service.guide_of(finished).reviewing
    eve, bob = reviewing.desk("Eve"), reviewing.desk("Bob")
    left = eve.next()
    for _ in range(5):
        given = bob.next()
        assert given is not None
        bob.decide(given, "pick", given.identified)
    bob.release()
    page = entered(open_page("review", run=finished.id))
    page = page.segmented_control(f"review-view-{reviewing.id}").set_value("Progress").run()
    assert not page.exception
    assert "5 answered controls do not count yet" in said(page) and "Eve has it in hand" in said(page)
    page = button(page, "Free it now").click().run()
    assert not page.exception
    assert "It comes up in its turn" in said(page) and "Eve has it in hand" not in said(page)
    given = bob.next()
    assert given is not None and left is not None and given.row == left.row


def test_a_database_that_is_gone_is_said_and_found_again(open_page: Any, finished: Run, tmp_path: Path) -> None:
    begun(finished)
    page = entered(open_page("review", run=finished.id))
    file = Path(str(service.store().database.url.database))
    file.rename(tmp_path / "away")
    page = page.segmented_control(f"review-view-{service.guide_of(finished).reviewing.id}").set_value("Progress").run()
    assert not page.exception
    assert "was removed or replaced" in page.error[0].value
    (tmp_path / "away").rename(file)
    page = button(page, "Try again").click().run()
    assert not page.exception and not page.error

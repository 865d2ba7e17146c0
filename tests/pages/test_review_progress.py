"""The view of a review on progress: the certificate, calibration, teaching, proposals, what is waited for."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import numpy as np

from pll.candidates import CandidateSets
from pll.dataset import PartialLabelDataset
from pll.export.parts import EXPORTS
from pll.export.run_export import export_source
from pll.review import certification
from pll.review.desk import Desk
from pll.review.relabel import ProposedLabels
from pll.review.rounds import Guarantee
from pll.review.sampling_plan import how_many
from pll.runs.run import Run
from pll.ui import session
from pll.ui.review import progress, relabel_panel, service, setup_form
from tests.page_helpers import begun, button, entered, figures, said, turned_to
from tests.review_helpers import given


def test_progress_says_how_far_it_is_to_the_certificate(open_page: Any, finished: Run) -> None:
    manager = begun(finished, mix=1.0)
    desk = Desk(manager.review, "Bob")
    certificate = certification.certificate(manager.review)
    assert certificate.threshold is None
    for _ in range(60):  # every control is right: sooner or later something is certified
        one = given(desk)
        desk.decide(one, "pick", one.identified, seconds=1.0)
    page = entered(open_page("review", run=finished.id))
    page = turned_to(page, finished)
    assert "at most" in page.success[0].value and "with 95 % confidence" in page.success[0].value
    assert figures(page)["Decided"] == "60"
    (table,) = [one.value for one in page.dataframe if "reviewer" in one.value]
    assert list(table["reviewer"]) == ["Bob (unverified)"] and list(table["decisions"]) == [60]
    assert [progress.pace_of(rate) for rate in table["a minute"]] == [figures(page)["Rate"]]  # one rate, everywhere
    assert "Ada has not decided anything yet." in said(page)
    line = progress.strip(page.session_state["review-sitting"][1])["left"]
    assert line.startswith("60 decided, 0 by you · 90 left")


def test_labels_that_people_added_are_listed(open_page: Any, finished: Run) -> None:
    manager = begun(finished, mix=1.0)
    page = turned_to(entered(open_page("review", run=finished.id)), finished)
    assert "Labels added to sets" not in said(page)
    desk, sets = Desk(manager.review, "Bob"), manager.review.root.candidates
    one = given(desk)
    desk.decide(one, "pick", one.identified, seconds=1.0)
    one = given(desk)
    desk.decide(one, "other", "*new* class", seconds=1.0)
    page = turned_to(entered(open_page("review", run=finished.id)), finished)
    (table,) = [found.value for found in page.dataframe if "label added" in found.value]
    (row,) = table.values.tolist()
    name = str(manager.review.root.ids[one.row])
    assert row == [name, "|".join(sets.names(one.row)), "*new* class", "Bob"]
    source = export_source(finished.folder)
    assert source.added[["id", "added_label"]].values.tolist() == [[name, "*new* class"]]
    assert EXPORTS["added-labels"].data(source).decode().splitlines()[1].startswith(f"{name},{row[1]},*new* class,Bob,")


def test_something_else_is_promised_with_a_draw_of_its_own(open_page: Any, finished: Run) -> None:
    manager = begun(finished, mix=1.0)
    page = turned_to(entered(open_page("review", run=finished.id)), finished)
    page.session_state[setup_form.BOX] = True
    page = page.run()
    page = page.select_slider("review-share").set_value(0.2).run()
    page = page.segmented_control("review-level").set_value(0.9).run()
    page = page.number_input("review-error-0.2-0.9").set_value(1.0).run()
    assert "out of reach" in page.warning[0].value
    page = page.number_input("review-error-0.2-0.9").set_value(8.0).run()
    drawn = how_many(len(manager.review.root), 0.2)
    assert "both hold with 85 % confidence" in said(page)
    page = button(page, f"Save and draw {drawn} controls").click().run()
    assert not page.exception
    now = manager.review.round
    assert (now.number, now.share, now.max_error, now.level, len(now.controls)) == (2, 0.2, 0.08, 0.9, drawn)
    assert (now.opened.how, now.opened.by) == ("new promise", "Ada")
    (rounds,) = [one.value for one in page.dataframe if "because" in one.value]
    assert list(rounds["because"]) == ["the target was changed", "the review was started"]
    assert "all 3 hold with 80 % confidence" in setup_form.together(manager.review, 0.95)


def test_few_labels_get_an_estimate_instead_of_an_empty_promise(open_page: Any, finished: Run) -> None:
    few = Guarantee(share=0.1, max_error=0.1)
    page = progress_after(open_page, finished, 10, guarantee=few)
    assert not page.exception
    assert "Too few" in said(page)
    assert "2 of 10 controls wrong, 20.0 % (95 % interval 5.7 % to 51.0 %)" in said(page)
    assert "Too few" in page.session_state["review-sitting"][1].line[1][0]


def test_more_reviewers_are_asked_from_the_progress_view(open_page: Any, finished: Run) -> None:
    manager = begun(finished)
    page = turned_to(entered(open_page("review", run=finished.id)), finished)
    page.session_state["review-reviewers"] = True
    page = page.run()
    page = page.segmented_control("review-overlap").set_value(2).run()
    page = page.button("review-ask").click().run()
    assert not page.exception
    assert (manager.review.record.overlap, manager.review.record.overlap_share) == (2, 0.1)


def progress_after(open_page: Any, run: Run, answers: int, **settings: Any) -> Any:
    """The view on progress after so many answers, every fifth another than the model's."""
    manager = begun(run, mix=1.0, **settings)
    desk = Desk(manager.review, "Bob")
    for turn in range(answers):
        one = given(desk)
        other = next((choice.label for choice in one.choices if choice.label != one.identified), one.identified)
        desk.decide(one, "pick", other if turn % 5 == 0 else one.identified)
    return turned_to(entered(open_page("review", run=run.id)), run)


def test_calibration_waits_for_enough_controls(open_page: Any, finished: Run) -> None:
    page = progress_after(open_page, finished, 12)
    assert not page.exception
    assert "at least 30 decided examples; there are 12. Decide 18 more" in said(page)


def test_calibration_shows_reliability_before_and_after(open_page: Any, finished: Run) -> None:
    page = progress_after(open_page, finished, 40)
    assert not page.exception
    review = service.manager_of(finished).review
    found = certification.calibration(review)
    assert figures(page)["Expected calibration error"] == f"{found.after.error:.1%}".replace("%", " %")
    assert f"On 40 controls: {found.before.error:.1%}".replace("%", " %") in said(page)
    assert f"Temperature {found.temperature:.2f}" in said(page)
    page = page.segmented_control(f"review-calibrate-{review.id}").set_value("isotonic").run()
    assert not page.exception
    assert "isotonic needs at least 100 decided examples; there are 40" in said(page)


def test_isotonic_calibration_shows_with_a_hundred_controls(open_page: Any, finished: Run) -> None:
    page = progress_after(open_page, finished, 110, guarantee=Guarantee(share=0.9, max_error=0.2))
    review = service.manager_of(finished).review
    page = page.segmented_control(f"review-calibrate-{review.id}").set_value("isotonic").run()
    assert not page.exception
    assert "On 110 controls" in said(page) and "Temperature" not in said(page)


def test_teaching_shows_what_changed_and_offers_to_look_at_it(open_page: Any, finished: Run) -> None:
    manager = begun(finished, mix=0.0)
    desk = Desk(manager.review, "Ada")
    for _ in range(20):
        one = given(desk)
        desk.decide(one, "pick", one.choices[-1].label)
    page = entered(open_page("review", run=finished.id))
    page = turned_to(page, finished)
    page = button(page, "Train on 20 decisions").click().run()
    assert not page.exception
    run = next(run for run in session.registry().all() if run.config.decided_sets is not None)
    run.join(60)
    page = page.run()
    assert not page.exception
    assert manager.review.current.run == run.id
    assert "changed because of your decisions" in said(page)
    manager.wait()


def test_proposals_are_shown_looked_at_and_taken_over(open_page: Any, finished: Run) -> None:
    manager = begun(finished, mix=0.0)
    manager.wait()
    desk = Desk(manager.review, "Ada")
    for _ in range(20):
        one = given(desk)
        desk.decide(one, "pick", one.choices[-1].label)
    proposed = manager.proposed()
    assert len(proposed)
    page = entered(open_page("review", run=finished.id))
    page = turned_to(page, finished)
    assert not page.exception
    assert f"Candid would change {len(proposed)} label" in said(page)
    (table,) = [one.value for one in page.dataframe if "proposed" in one.value]
    assert table["proposed"].tolist() == proposed.after[: relabel_panel.SHOWN].tolist()
    page = page.button("review-look-proposed").click().run()
    assert not page.exception
    assert page.session_state["review-sitting"][1].given.row == proposed.rows[0]
    page = button(page, "Accept these labels").click().run()
    assert not page.exception
    assert manager.review.round.number == 2
    assert manager.review.current.labels[proposed.rows].tolist() == proposed.after.tolist()
    assert "suggest no change" in said(page)
    assert "changed because of your decisions" not in said(page)  # nothing was taught
    (table,) = [one.value for one in page.dataframe if "because" in one.value]
    assert table["because"].tolist() == ["suggested labels were accepted", "the review was started"]
    assert table["by"].tolist() == ["Ada (unverified)", "not recorded"]
    manager.wait()


def test_proposals_show_what_a_person_reads() -> None:
    sets = CandidateSets.from_lists([[0, 1]] * 3, 2, ("bill", "refund"))
    texts = np.array(["pay me", "give it back", "thanks"], dtype=object)
    data = PartialLabelDataset(np.zeros((3, 1), dtype=np.float32), sets, texts=texts)
    labels = SimpleNamespace(ids=data.row_ids)
    rows = np.array([1, 2])
    proposed = SimpleNamespace(rows=rows, labels=labels, before=["bill"] * 2, after=["refund"] * 2, confidence=rows / 4)
    shown = relabel_panel.table(cast(ProposedLabels, proposed), data)
    assert shown["text"].tolist() == ["give it back", "thanks"]


def test_progress_says_so_where_the_promise_cannot_be_kept(open_page: Any, finished: Run) -> None:
    manager = begun(finished, mix=1.0, guarantee=Guarantee(share=0.9, max_error=0.02))
    desk = Desk(manager.review, "Bob")
    for _ in range(60):
        desk.decide(given(desk), "unsure")
    page = entered(open_page("review", run=finished.id))
    page = turned_to(page, finished)
    assert not page.exception
    assert "no number of them would reach this target" in said(page)


def test_a_control_that_somebody_left_open_is_named_and_freed(open_page: Any, finished: Run) -> None:
    begun(finished, mix=1.0)
    review = service.manager_of(finished).review
    eve, bob = Desk(review, "Eve"), Desk(review, "Bob")
    left = given(eve)
    for _ in range(5):
        one = given(bob)
        bob.decide(one, "pick", one.identified)
    bob.release()
    page = entered(open_page("review", run=finished.id))
    page = turned_to(page, finished)
    assert not page.exception
    assert "5 answered controls do not count yet" in said(page) and "Eve is working on it" in said(page)
    page = button(page, "Release it now").click().run()
    assert not page.exception
    assert "Eve is working on it" not in said(page)
    assert given(bob).row == left.row

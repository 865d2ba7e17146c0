"""The Learn page: its figures answer, its questions wait for a guess, and it speaks of the reader's own data."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pll.catalog.sources import Source
from pll.runs.config import RunConfig
from pll.synthesis import Flip
from pll.ui import session
from pll.ui.learn import sharing
from pll.ui.learn.algorithm import points_table
from pll.ui.learn.layout import CHAPTERS
from pll.ui.learn.playground import Playground
from pll.ui.learn.toy import Edit, checked_edit, toy_payload
from tests.page_helpers import said


def slider(page: Any, key: str) -> Any:
    return next(one for one in page.slider if one.key == key)


def radio(page: Any, name: str) -> Any:
    return next(one for one in page.radio if one.key == f"learn-guess-{name}-choice")


def press(page: Any, key: str) -> Any:
    return next(button for button in page.button if button.key == key).click().run()


def learn(open_page: Any, idea: str, **query: str) -> Any:
    """The Learn page at one of its screens."""
    return open_page("learn", idea=idea, **query)


def turned_to(page: Any, idea: str) -> Any:
    return page.selectbox(key="learn-idea").set_value(idea).run()


def test_every_idea_is_a_screen(open_page: Any) -> None:
    page = open_page("learn")
    seen, questions = [], 0
    for at in range(len(CHAPTERS)):
        assert not page.exception
        seen += [title.value for title in page.title]
        questions += len(page.radio)
        if at:
            assert page.query_params["idea"] in (list(CHAPTERS)[at], [list(CHAPTERS)[at]])
            press(page, "learn-back")
            page = press(page, "learn-next")
        last = next(one for one in page.button if one.key == "learn-next")
        assert last.disabled == (at == len(CHAPTERS) - 1)
        if not last.disabled:
            last.click().run()
    assert seen == list(CHAPTERS.values()) and questions == 7  # that wait for a guess


def test_old_links_open_the_idea_of_their_settings(open_page: Any) -> None:
    page = open_page("learn", **{"learn-gamma-q": "0.4"})
    assert [title.value for title in page.title] == [CHAPTERS["ambiguity"]]
    assert slider(page, "learn-gamma-q").value == 0.4
    page = open_page("learn", idea="no such idea")
    assert [title.value for title in page.title] == [next(iter(CHAPTERS.values()))]


def test_settings_stay_while_other_ideas_are_seen(open_page: Any) -> None:
    page = learn(open_page, "stuck")
    slider(page, "learn-stuck-start").set_value(20).run()
    press(page, "learn-guess-stuck-show")
    turned_to(page, "weights")
    turned_to(page, "stuck")
    assert slider(page, "learn-stuck-start").value == 20 and "It rests at" in said(page)


def test_guesses_of_a_class_are_seen_by_the_teacher_alone(open_page: Any) -> None:
    open_page("home")
    lesson, key = sharing._lessons().share("")
    for name, choice in (("=Ada", "In another valley"), ("", "In the valley of the true labels")):
        page = learn(open_page, "stuck", lesson=lesson)
        assert "sent to your teacher" in said(page)
        page.text_input(key="learn-name").set_value(name).run()
        radio(page, "stuck").set_value(choice).run()
        assert not page.exception
        turned_to(page, "weights")  # the lesson goes along
        radio(page, "weights").set_value(page.radio[0].options[0]).run()
        page.button(key="learn-guess-weights-again").click().run()
        radio(page, "weights").set_value(page.radio[0].options[0]).run()
    guesses = sharing._lessons().guesses(lesson)
    table = sharing.table(guesses)
    assert table["student"].tolist() == [1, 1, 1, 2, 2, 2] and table["attempt"].tolist() == [1, 1, 2, 1, 1, 2]
    assert table["name"].tolist() == ["'=Ada"] * 3 + [""] * 3  # no formula for a spreadsheet
    assert table[table["idea"] == "stuck"]["right"].tolist() == [1, 0]
    page = open_page("learn", guesses=key)
    assert not page.exception
    assert "6 guesses of 2 students" in said(page)
    assert page.dataframe[0].value["Right"].tolist()[0] == "1 of 2 (50 %)"
    for wrong in (lesson, "x"):
        page = open_page("learn", guesses=wrong)
        assert "no lesson behind this link" in page.error[0].value and not page.dataframe
    page = open_page("learn", guesses=key)
    press(page, "learn-results-delete")
    page = learn(open_page, "stuck", lesson=lesson)
    assert "no longer collects" in said(page)
    radio(page, "stuck").set_value("In another valley").run()
    assert "Right." in said(page) and not page.exception


def test_guesses_are_not_sent_without_a_shared_lesson(open_page: Any) -> None:
    page = learn(open_page, "stuck")
    radio(page, "stuck").set_value("In another valley").run()
    assert "teacher" not in said(page) and not [one for one in page.text_input if one.key == "learn-name"]


def test_formulas_hold_the_readers_numbers(open_page: Any) -> None:
    page = learn(open_page, "minimum")
    slider(page, "learn-minimum-p").set_value(0.2).run()
    assert "-\\log 0.20" in said(page) and "\\mathbf{0.36}" in said(page)  # −log 0.70
    assert "Here the best guess is **5**" in said(page)
    turned_to(page, "jin")
    slider(page, "learn-jin-z").set_value(0.5).run()
    assert "H(0.50,\\; 0.50) = 0.693" in said(page)


def test_a_guess_is_judged_once_and_then_the_figure_shows(open_page: Any) -> None:
    page = learn(open_page, "stuck")
    assert "It rests at" not in said(page)
    radio(page, "stuck").set_value("In the valley of the true labels").run()
    words = said(page)
    assert "It rests at" in words and "“In the valley of the true labels”" in words and "In another valley." in words
    slider(page, "learn-stuck-start").set_value(20).run()
    assert "From here it finds the true labels" in said(page)
    assert "You guessed" in said(page)  # moving on does not judge again
    press(page, "learn-guess-stuck-again")
    assert "It rests at" not in said(page)
    radio(page, "stuck").set_value("In the valley of the true labels").run()
    assert "Right." in said(page)


def test_who_does_not_guess_is_shown(open_page: Any) -> None:
    page = learn(open_page, "weights")
    press(page, "learn-guess-weights-show")
    assert not page.exception
    assert "It ends at" in said(page) and "Right." not in said(page)


def test_both_methods_on_the_same_points(open_page: Any) -> None:
    page = learn(open_page, "together")
    press(page, "learn-guess-together-show")
    ground: Playground = page.session_state["learn-playground"]
    ours, theirs = (round(ground.history(name).right[-1] * 60) for name in ("proden", "proden-sudden"))
    assert f"PRODEN {ours} of 60, min alone (sudden) {theirs} of 60" in said(page)
    press(page, "learn-together-many")
    assert not page.exception
    assert "On average over 10 starts" in said(page)
    turned_to(page, "algorithm")
    press(page, "learn-toy-redraw")
    turned_to(page, "together")
    assert "On average over 10 starts" not in said(page)  # those were other sets


def test_the_chosen_point_tells_its_step(open_page: Any) -> None:
    page = learn(open_page, "algorithm")
    assert "**Point 0** · truly A" in said(page)
    ground: Playground = page.session_state["learn-playground"]
    ground.look_at("learn-toy", 5, 1)
    ground.selected = 4
    page.run()
    assert "the step after epoch 5" in said(page) and "**Point 4** · truly B" in said(page)


def test_candidates_are_changed_and_a_missing_truth_is_said(open_page: Any) -> None:
    page = learn(open_page, "algorithm")
    pills = next(one for one in page.button_group if one.key == "learn-toy-set")
    pills.set_value(["B"]).run()
    assert not page.exception
    ground: Playground = page.session_state["learn-playground"]
    assert ground.toy.candidates[0].tolist() == [1]
    assert "1 point without the true label" in said(page)
    press(page, "learn-toy-reset")
    assert "without the true label" not in said(page)


def test_gamma_of_digits_is_exact(open_page: Any) -> None:
    page = learn(open_page, "ambiguity")
    assert "\\mathbf{0.770}" in said(page) and "Estimated" not in said(page)
    slider(page, "learn-gamma-q").set_value(1.0).run()
    assert "\\mathbf{1.000}" in said(page)
    press(page, "learn-guess-ambiguity-show")
    assert "**No number.**" in said(page)


def test_gamma_of_a_run_without_truth_is_estimated_and_says_so(open_page: Any, tmp_path: Any) -> None:
    generator = np.random.default_rng(0)
    y = np.arange(60) % 3
    sets = np.eye(3, dtype=bool)[y] | (generator.random((60, 3)) < 0.4)
    X = generator.normal(size=(60, 2)) + 3 * np.eye(3)[y][:, :2]
    np.savez(tmp_path / "data.npz", X=X.astype(np.float32), candidates=sets)
    open_page("home")
    run = session.registry().start(RunConfig(Source("data.npz", path=str(tmp_path / "data.npz")), params={"epochs": 3}))
    run.join(60)
    page = learn(open_page, "ambiguity", run=run.id)
    assert not page.exception
    assert "**Estimated**" in said(page) and "identified as **" in said(page)


def test_chosen_data_without_truth_asks_for_a_run(open_page: Any, tmp_path: Any) -> None:
    np.savez(
        tmp_path / "data.npz", X=np.eye(4, 2, dtype=np.float32), candidates=np.array([[1, 1], [1, 1], [1, 0], [0, 1]])
    )
    page = open_page("home")
    page.session_state["choice"] = session.ChosenData(Source("data.npz", path=str(tmp_path / "data.npz")))
    page.switch_page("../../pages/learn.py").run()
    turned_to(page, "ambiguity")
    assert not page.exception
    assert "no run has identified any yet" in said(page)


def test_the_bound_of_the_chosen_data(open_page: Any) -> None:
    page = open_page("home")
    page.session_state["choice"] = session.ChosenData(Source("digits"), Flip("binomial", 0.3))
    page.switch_page("../../pages/learn.py").run()
    turned_to(page, "bound")
    press(page, "learn-guess-bound-show")
    assert not page.exception
    assert "**Vacuous.**" in said(page)
    more = next(one for one in page.select_slider if one.key == "learn-bound-times")
    more.set_value(100_000).run()
    assert "**It says something**" in said(page) and "179{,}700{,}000" in said(page)


@pytest.mark.parametrize("model", ["mlp", "convnet"])
def test_the_bound_of_a_network_is_not_computable(open_page: Any, model: str) -> None:
    page = learn(open_page, "bound")
    next(one for one in page.selectbox if one.key == "learn-bound-model").set_value(model).run()
    assert not page.exception
    assert f"Not computable for the model '{model}'" in said(page)


# ---- the toy as a component ------------------------------------------------------------------------------------------


def test_edits_change_the_points_and_answer_the_report() -> None:
    ground = Playground()
    ground.edit("a", Edit("move", 3, 5, 0.5, -0.5))
    assert ground.toy.points[5].tolist() == [0.5, -0.5] and ground.asked == {"a": 3} and ground.selected == 5
    ground.edit("a", Edit("add", 4, -1, 0.0, 0.1, 2))
    assert len(ground.toy) == 61 and ground.selected == 60 and 2 in ground.toy.candidates[60]
    ground.edit("a", Edit("remove", 5, 60))
    assert len(ground.toy) == 60 and ground.selected == 59 and not ground.said
    for _ in range(100):
        ground.edit("a", Edit("add", 6, -1, 0.0, 0.0, 0))
    assert len(ground.toy) == 150 and "150 points" in ground.said
    ground.reset()
    assert len(ground.toy) == 60 and not ground.said


@pytest.mark.parametrize(
    "report",
    [
        None,
        "move",
        {"kind": "move", "point": 3, "x": 0.5, "y": 0.0},
        {"kind": "move", "point": 99, "x": 0.5, "y": 0.0, "asked": 1},
        {"kind": "move", "point": 1, "x": 1.5, "y": 0.0, "asked": 1},
        {"kind": "move", "point": 1, "x": float("nan"), "y": 0.0, "asked": 1},
        {"kind": "add", "label": 3, "x": 0.0, "y": 0.0, "asked": 1},
        {"kind": "add", "label": "A", "x": 0.0, "y": 0.0, "asked": 1},
        {"kind": "remove", "point": -1, "asked": 1},
        {"kind": "paint", "point": 1, "asked": 1},
    ],
    ids=range(10),
)
def test_reports_that_cannot_be_meant_are_ignored(report: object) -> None:
    assert checked_edit(report, 60) is None


def test_a_retraining_sends_little() -> None:
    ground = Playground()
    payload = toy_payload(ground.toy, [ground.history("proden"), ground.history("proden-sudden")])
    assert sum(len(str(part)) for part in payload.values()) < 60_000
    assert "60 points" in payload["description"] and "before training" in payload["description"]


# ---- what a teacher shares -------------------------------------------------------------------------------------------


def test_the_address_sets_the_page_up(open_page: Any) -> None:
    asked = {
        "learn-partial-q": "0.9", "learn-weights-start": "-50", "learn-bound-norm": "10", "learn-toy-q": "0.8",
        "learn-toy-draw": "2", "learn-toy-start": "3", "learn-toy-lr": "0.2",
    }  # fmt: skip
    page = open_page("learn", **asked)
    assert not page.exception
    values = {"partial": ("partial-q", 0.9), "weights": ("weights-start", -50), "algorithm": ("toy-q", 0.8)}
    for idea, (name, value) in values.items():
        assert slider(turned_to(page, idea), f"learn-{name}").value == value
    ground = page.session_state["learn-playground"]
    assert (ground.q, ground.draw, ground.start, ground.lr) == (0.8, 2, 3, 0.2)
    again = Playground()
    again.redraw(0.8, anew=True)
    again.redraw(0.8, anew=True)
    assert ground.toy.key == again.toy.key  # the very sets the teacher saw
    press(page, "learn-toy-start").run()
    assert page.query_params["learn-toy-start"] == "4"


@pytest.mark.parametrize("wrong", ["-1", "x", "9" * 30, "²", ""])
def test_an_address_that_cannot_be_meant_is_passed_over(open_page: Any, wrong: str) -> None:
    page = learn(open_page, "algorithm", **{f"learn-toy-{name}": wrong for name in ("q", "draw", "start", "lr")})
    assert not page.exception
    ground = page.session_state["learn-playground"]
    assert (ground.q, ground.draw, ground.start, ground.lr) == (0.5, 0, 0, 0.5)


def test_points_as_they_were_are_so_in_the_address_too(open_page: Any) -> None:
    page = learn(open_page, "algorithm", **{"learn-toy-q": "0.8", "learn-toy-draw": "2"})
    press(page, "learn-toy-reset").run()
    assert not page.exception
    assert slider(page, "learn-toy-q").value == page.session_state["learn-playground"].q == 0.5
    assert "learn-toy-draw" not in page.query_params


def test_the_points_are_a_file_that_candid_reads(tmp_path: Any) -> None:
    ground = Playground()
    ground.edit("here", Edit("move", 1, 0, 0.5, -0.25))
    file = tmp_path / "points.csv"
    points_table(ground.toy).to_csv(file, index=False)
    data = Source("points.csv", str(file)).load()
    assert data.X.shape == (60, 2) and data.X[0].tolist() == [0.5, -0.25]
    assert data.sets().mask().tolist() == ground.toy.candidates.mask().tolist()
    assert data.y is not None and data.y.tolist() == ground.toy.y.tolist()

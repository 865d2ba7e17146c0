"""Decisions teach: what they make of the candidate sets, and the run that learns from them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from pll.candidates import CandidateSets, with_sets
from pll.errors import UserError
from pll.methods import METHODS, deep
from pll.methods.base import Start, Task
from pll.methods.chosen import Recipe
from pll.review.database import Database
from pll.review.desk import Desk
from pll.review.retraining import Retraining, changed_by_retraining, decided_sets_of
from pll.review.session import ReviewSession, open_review
from pll.runs.registry import RunRegistry
from tests.review_helpers import close, given, open_with, snapshot
from tests.run_helpers import config, write_data


@pytest.fixture
def runs(tmp_path: Path) -> Iterator[RunRegistry]:
    registry = RunRegistry(tmp_path / "runs")
    yield registry
    registry.stop_all()


def finished(runs: RunRegistry, tmp_path: Path, **options: object) -> str:
    run = runs.start(config(write_data(tmp_path / "data.npz"), **options))
    run.join(60)
    assert run.folder.state()["state"] == "finished"
    return run.id


def opened(runs: RunRegistry, run_id: str, tmp_path: Path) -> ReviewSession:
    return open_review(runs.get(run_id), Database(tmp_path / "reviews.sqlite3"), runs.get)


# ---- what decisions leave of the sets --------------------------------------------------------------------------------


def test_each_kind_of_decision_leaves_its_labels(url: str) -> None:
    review = open_with(url)
    desk, names, sets = Desk(review, "Ann"), review.root.candidates.class_names, review.root.candidates
    three = [row for row in range(40) if sets.sizes[row] == 3]
    one, two, four, five, six = (desk.show(row) for row in three[:5])
    desk.decide(one, "pick", one.choices[1].label)
    desk.decide(two, "none")
    desk.decide(four, "eliminate", four.choices[0].label)
    desk.decide(five, "unsure")
    desk.decide(six, "other", "lynx")
    lessons = decided_sets_of(review)
    assert lessons.by_row == {
        one.row: (names.index(one.choices[1].label),),
        two.row: tuple(sorted({0, 1, 2, 3, 4} - set(sets[two.row].tolist()))),
        four.row: tuple(sorted(names.index(choice.label) for choice in four.choices[1:])),
        six.row: (4,),
    }
    assert (lessons.new_classes, lessons.decisions) == (("lynx",), 3)
    desk.undo()
    assert six.row not in decided_sets_of(review).by_row
    close(review)


def test_control_answers_teach_nothing(url: str) -> None:
    review = open_with(url)
    review.certify(0.3, 0.8)
    desk = Desk(review, "Ann")
    control = given(desk)
    while not control.is_control:
        desk.decide(control, "skip")
        control = given(desk)
    desk.decide(control, "pick", control.choices[0].label)
    again = desk.show(control.row)  # looked up and corrected later: still a control
    desk.decide(again, "pick", control.choices[1].label)
    assert decided_sets_of(review).by_row == {}
    assert control.row in review.state.decisions()  # yet it counts for the export
    close(review)


def test_conflicts_teach_nothing_and_settlements_do(url: str) -> None:
    review = open_with(url, overlap=2)
    for k, name in enumerate(("Ann", "Bob")):
        one = Desk(review, name).show(3)
        Desk(review, name).decide(one, "pick", one.choices[k].label)
    assert decided_sets_of(review).by_row == {}
    Desk(review, "Ann").settle(3, one.choices[0].label)
    assert list(decided_sets_of(review).by_row) == [3]
    close(review)


@pytest.mark.parametrize("n_new", [0, 2])
def test_sets_are_replaced_and_nothing_else(n_new: int) -> None:
    sets = snapshot(30).candidates
    changed = {4: (1,), 17: (0, 3), 29: (2,)}
    result = with_sets(sets, changed, [f"new {k}" for k in range(n_new)])
    expected = [list(changed.get(row, sets[row].tolist())) for row in range(30)]
    names = (*sets.class_names, *(f"new {k}" for k in range(n_new)))
    assert result == CandidateSets.from_lists(expected, 4 + n_new, names)


# ---- the run that learns ---------------------------------------------------------------------------------------------


def test_a_taught_run_goes_on_from_the_model_and_its_labels_are_adopted(runs: RunRegistry, tmp_path: Path) -> None:
    root = finished(runs, tmp_path)
    review = opened(runs, root, tmp_path)
    desk, retraining = Desk(review, "Ann"), Retraining(review, runs)
    with pytest.raises(UserError, match="nothing to train on"):
        retraining.begin()
    said = {}
    for _ in range(12):
        one = given(desk)
        said[one.row] = one.choices[-1].label
        desk.decide(one, "pick", said[one.row])
    assert retraining.waiting() == 12
    run = retraining.begin(by="Ann", verified=True)
    step = desk.decide(given(desk), "unsure")  # review goes on meanwhile
    assert step.stored
    run.join(60)
    before = review.current
    assert retraining.adopt_finished() and not retraining.adopt_finished()
    assert (review.current.run, review.version.number, review.previous) == (run.id, 2, before)
    assert (review.version.how, review.version.opened_by, review.version.verified) == ("taught", "Ann", True)
    assert {row: review.current.labels[row] for row in said} == said
    assert (review.current.certainty.confidence[list(said)] == 1).all()
    changed = changed_by_retraining(review)
    assert not set(changed.rows.tolist()) & set(said)
    assert (changed.before != changed.after).all()
    assert changed.before.tolist() == before.labels[changed.rows].tolist()
    assert retraining.waiting() == 0
    assert "continues the model" in (run.folder.path / "log.txt").read_text()
    metrics, others = run.folder.state()["metrics"], np.delete(review.own.certainty.confidence, list(said))
    assert metrics["expected_accuracy"] == pytest.approx(others.mean()) and metrics["decided_labels"] == len(said)
    assert len(run.folder.metrics()) == 5  # a fifth of 6 epochs, but at least 5
    close(review)


def test_when_all_decisions_are_taken_back_the_sets_as_given_are_learnt_anew(runs: RunRegistry, tmp_path: Path) -> None:
    review = opened(runs, finished(runs, tmp_path), tmp_path)
    desk, retraining = Desk(review, "Ann"), Retraining(review, runs)
    for _ in range(2):
        one = given(desk)
        desk.decide(one, "pick", one.choices[-1].label)
    retraining.begin().join(60)
    assert retraining.adopt_finished() and retraining.waiting() == 0
    assert review.own.candidates != review.root.candidates
    desk.undo()
    desk.undo()
    assert decided_sets_of(review).by_row == {} and retraining.waiting() == 2
    again = retraining.begin()
    again.join(60)
    assert retraining.adopt_finished() and retraining.waiting() == 0
    assert review.version.run == again.id and review.own.candidates == review.root.candidates
    assert np.array_equal(review.own.weights, review.root.weights)  # as if nobody had ever said anything
    with pytest.raises(UserError, match="nothing to train on"):
        retraining.begin()
    close(review)


def test_a_retrained_run_has_the_model_that_the_recipe_of_the_first_run_chose(
    runs: RunRegistry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deep.Contest, "search", lambda *_: Recipe("auto", {"model": "shallow-mlp"}, {}))
    asked = config(write_data(tmp_path / "data.npz"))
    params = {name: value for name, value in asked.params.items() if name != "model"}  # given by hand it would stay
    first = runs.start(replace(asked, params=params | {"recipe": "auto"}))
    first.join(60)
    root = first.id
    monkeypatch.undo()
    review = opened(runs, root, tmp_path)
    retraining, desk = Retraining(review, runs), Desk(review, "Ann")
    one = desk.show(3)
    desk.decide(one, "pick", one.choices[0].label)
    run = retraining.begin()
    run.join(60)
    assert retraining.adopt_finished()
    assert run.config.params["model"] == "shallow-mlp"
    close(review)


@pytest.mark.parametrize(
    "method", [name for name in METHODS if METHODS[name].warm_starts and not METHODS[name].needs_truth]
)
def test_who_goes_on_from_a_model_starts_where_it_stood(method: str) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4)).astype(np.float32)
    sets = snapshot(60).candidates
    first = METHODS[method](epochs=3, batch_size=16, threads=1).fit(X, sets)
    second = METHODS[method](epochs=1, batch_size=16, threads=1, lr=0.0)
    for _ in second.iter_fit(Task(X, sets), start=Start(arrays=first.fitted_arrays())):
        pass
    assert np.array_equal(second.predict_scores(X), first.predict_scores(X))  # it learnt nothing at this rate
    assert np.array_equal(second.label_weights_, first.label_weights_)
    second.set_params(lr=0.05).fit(X, sets)  # and the next fit is an ordinary one
    fresh = METHODS[method](epochs=1, batch_size=16, threads=1, lr=0.05).fit(X, sets)
    assert np.array_equal(second.predict_scores(X), fresh.predict_scores(X))

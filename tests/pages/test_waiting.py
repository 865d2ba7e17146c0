"""What a page shows before a run's first epoch, and what an interrupted or unhealthy run offers."""

from __future__ import annotations

import threading
import time
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from pll.annotations import Annotations, SetRule, resolve
from pll.dataset import PartialLabelDataset
from pll.methods import METHODS
from pll.methods.chosen import Recipe
from pll.methods.deep import DeepEstimator
from pll.runs import run_data
from pll.runs.run import Run
from pll.ui import run_page, session
from pll.ui.scenes import scenes
from tests.page_helpers import IRIS, button, labels, said


def test_while_features_are_made_the_stage_and_the_data_are_shown_and_stop_works(
    open_page: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = Annotations.from_votes([[0, 0], [1, 0]], ["late", "lost"], ["Ann", "Bob"])
    data = PartialLabelDataset(X=np.ones((2, 1))).resolved_to(resolve(answers, SetRule("union")), answers)
    reached, going = threading.Event(), threading.Event()

    def slow(folder: Any, progress: Any, on_read: Any) -> Any:
        on_read(data)
        progress("texts", 1, 4)
        reached.set()
        going.wait(30)
        progress("texts", 2, 4)  # the run has been stopped
        raise AssertionError("it went on")

    monkeypatch.setattr(run_data, "splits_of", slow)
    open_page("home")
    run = session.registry().start(IRIS)
    assert reached.wait(30)
    page = open_page("train", run=run.id)
    assert "Getting ready: making features of texts, 25 %" in said(page)
    assert "2 people answered 4 times; they agree on 50 %." in said(page)
    assert not button(page, "Stop").disabled
    run.stop()
    going.set()
    run.join(30)
    assert run.snapshot().state == "stopped"


def test_while_settings_are_chosen_the_likeliest_model_and_the_lane_are_shown(
    open_page: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    reached, going = threading.Event(), threading.Event()

    def slow(estimator: Any, task: Any, *, progress: Any, found: Any, **_: Any) -> Recipe:
        sets = task.candidates
        if type(estimator) is METHODS["cc"]:
            found(sets.uniform_weights() / 2)
            progress(0.5, "")
            reached.set()
            going.wait(30)
        return Recipe("auto", {"epochs": 2}, {})

    monkeypatch.setattr(DeepEstimator, "choose_settings", slow)
    open_page("home")
    auto = replace(IRIS, params={"recipe": "auto"})
    run = session.registry().start(auto, replace(auto, method="cc"))
    assert reached.wait(30)
    page = open_page("compare", comparison=run.id)
    assert "Getting ready: choosing settings (lane 2 of 2), 50 %" in said(page)
    scene = scenes(run, run.snapshot())[1]
    assert scene.frame.sharp.top.max() <= 0.5 and scene.frame.when == "The likeliest settings so far"
    going.set()
    run.join(30)
    assert run.snapshot().lanes[1].found is None and run.snapshot().state == "finished"


@pytest.mark.parametrize("page", ["home", "train", "review", "export"])
def test_an_interrupted_run_can_be_resumed_wherever_it_is_shown(open_page: Any, page: str) -> None:
    open_page("home")
    run = session.registry().start(IRIS, paused=True)
    run.wait_until_paused(30)
    run.stop()
    run.join(30)
    run.folder.set_state("interrupted")
    (run.folder.path / "model.json").unlink(missing_ok=True)
    opened = open_page(page, run=run.id)
    assert not opened.exception
    opened = button(opened, "Resume").click().run()
    run.join(60)
    assert run.snapshot().state == "finished"


@pytest.mark.parametrize(
    ("again", "label", "slower"), [("epochs", "Train longer", 1), ("steps", "Train with smaller steps", 3)]
)
def test_where_the_verdict_says_that_training_again_helps_a_button_does(
    open_page: Any, finished: Run, again: str, label: str, slower: int
) -> None:
    page = open_page("train", run=finished.id)
    assert label not in labels(page)
    state = finished.folder.state()
    flat = {"name": "flat", "sentence": "Nothing was learnt.", "remedy": "Train again.", "again": again}
    health = {"verdict": "unhealthy", "findings": [flat], "evidence": None}
    finished.folder.set_state(
        "finished", **{k: v for k, v in state.items() if k not in ("state", "changed")} | {"health": health}
    )
    page = button(open_page("train", run=finished.id), label).click().run()
    assert not page.exception
    newer = next(run for run in session.registry().all() if run.id != finished.id)
    assert newer.config.params["epochs"] == 3 * (finished.snapshot().total or 0)
    before = finished.folder.about()["parameters"]["lr"]
    assert newer.config.params.get("lr", before) == pytest.approx(before / slower)
    newer.stop()
    deadline = time.monotonic() + 30
    while newer.is_alive() and time.monotonic() < deadline:
        time.sleep(0.05)


def test_the_part_that_refreshes_by_itself_gives_way_to_another_run_in_view(
    open_page: Any, finished: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    newer, follow = session.registry().start(IRIS, paused=True), run_page.follow
    newer.wait_until_paused(30)

    def press_within(run: Run) -> None:
        if run.id == finished.id:
            session.view(newer)  # as `train_again` does, after which only the part with its button is drawn anew
        follow(run)

    monkeypatch.setattr(run_page, "follow", press_within)
    page = open_page("train", run=finished.id)
    assert not page.exception
    assert "Paused after 0" in said(page) and "Compare with other methods" not in labels(page)

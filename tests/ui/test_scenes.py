"""Which moment of a run is in view, and what changed there."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import streamlit as st

from pll.catalog.sources import Source
from pll.runs.config import RunConfig
from pll.runs.registry import RunRegistry
from pll.runs.run import Run
from pll.synthesis import Flip
from pll.ui import scenes as module
from pll.ui.run_view import RunView
from pll.ui.scenes import Scene, scenes
from pll.weights import identified_labels
from tests.run_helpers import registry_in

EPOCHS = 12


@pytest.fixture
def looking(monkeypatch: pytest.MonkeyPatch) -> RunView:
    """What this tab looks at, without a tab."""
    state = RunView("a run")
    monkeypatch.setattr(module, "run_view", lambda run: state)
    st.cache_resource.clear()
    return state


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    registry = RunRegistry(tmp_path_factory.mktemp("runs"))
    config = RunConfig(Source("iris"), params={"epochs": EPOCHS}, flip=Flip("binomial", 0.5))
    one = registry.start(config, paused=True)
    yield one
    registry.stop_all()


def now(run: Run) -> Scene:
    return scenes(run, run.snapshot())[0]


def test_a_run_is_seen_from_its_beginning_to_its_end(run: Run, looking: RunView) -> None:
    """One run, taken through its life: each state shows what it should."""
    run.wait_until_paused(30)
    first = now(run)
    assert (first.frame.epoch, first.frame.when, first.row) == (0, "Before training", {})
    assert first.frame.weights.tolist() == first.sets.uniform_weights().tolist()
    assert first.is_latest and first.before() is None

    run.resume(epochs=4)
    run.wait_until_paused(30)
    live = now(run)
    assert (live.frame.epoch, live.row["epoch"], live.is_latest) == (4, 4, True)
    record = run.snapshot().lane.record
    assert record is not None and live.frame.weights is record.label_weights  # from memory, not from disk
    earlier = identified_labels(live.history.weights(3), live.sets)
    before = live.before()
    assert before is not None and identified_labels(before, live.sets).tolist() == earlier.tolist()
    assert (earlier != live.frame.sharp.identified).sum() == live.row["changed_labels"]

    looking.look(2, False, 1)
    back = now(run)
    assert (back.frame.epoch, back.is_latest, back.row["epoch"]) == (2, False, 2)
    run.resume(epochs=3)
    run.wait_until_paused(30)
    assert now(run).frame.epoch == 2  # the run went on, the view stayed
    looking.look(7, True, 2)
    assert now(run).frame.epoch == 7

    run.resume()
    run.join(30)
    ended = now(run)
    assert (ended.frame.epoch, ended.is_latest) == (EPOCHS, True)
    assert ended.frame.weights.tolist() == np.load(run.folder.history / "final.npy").tolist()
    assert ended.row["transductive_accuracy"] == run.snapshot().lane.metrics["transductive_accuracy"]  # type: ignore[index]


@pytest.mark.usefixtures("looking")
def test_labels_of_votes_alone_are_computed_at_once_and_not_in_passes(tmp_path: Path) -> None:
    with registry_in(tmp_path) as registry:
        one = registry.start(RunConfig(Source("iris"), method="majority", flip=Flip("binomial", 0.5)))
        one.join(60)
        assert now(one).frame.when == "Computed at once"


def test_an_example_over_time_ends_with_what_is_in_view_also_where_frames_are_thinned(
    tmp_path: Path, looking: RunView, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pll.runs.history.FRAME_BUDGET", 1)  # eight frames
    registry = RunRegistry(tmp_path)
    run = registry.start(RunConfig(Source("iris"), params={"epochs": 40}, flip=Flip("binomial", 0.5)), paused=True)
    try:
        run.wait_until_paused(30)
        run.resume(epochs=13)
        run.wait_until_paused(30)
        scene = now(run)
        epochs, weights = scene.story(3)
        assert epochs == [0, 2, 4, 6, 8, 10, 12, 13]
        assert weights[-1].tolist() == scene.frame.weights[scene.sets.positions(np.array([3]))].tolist()
    finally:
        registry.stop_all()

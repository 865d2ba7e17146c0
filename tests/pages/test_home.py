"""The home page."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from pll.catalog.sources import Source
from pll.review.desk import Desk
from pll.review.label_snapshot import review_id
from pll.review.store import reading
from pll.runs.config import RunConfig
from pll.runs.folder import check_has_result
from pll.runs.lanes import lane_configs
from pll.runs.process import PerProcess
from pll.runs.registry import default_registry
from pll.runs.run import Run
from pll.synthesis import Flip
from pll.ui import session
from pll.ui.format import headline
from pll.ui.home import demo, run_list
from pll.ui.review import service
from tests.faults.damage import Case, damaged
from tests.page_helpers import IRIS, begun, button, said
from tests.review_helpers import answer, given
from tools import demo_replay


def test_lanes_are_one_in_the_list_and_deleted_as_one(open_page: Any) -> None:
    open_page("home")
    iris = RunConfig(Source("iris"), params={"epochs": 2}, flip=Flip("binomial", 0.3), name="irises")
    comparison = session.registry().start(*lane_configs(iris, ["proden", "proden-naive"]))
    comparison.join(60)
    home = open_page("home")
    (row,) = [text.value for text in home.markdown if "irises" in text.value and "Delete" not in text.value]
    assert "Comparison: PRODEN, PRODEN-naive" in row
    next(button for button in home.button if button.label == "Delete").click().run()
    assert not home.exception
    assert session.registry().comparisons() == [] and session.registry().all() == []


def test_runs_of_the_past_are_listed_and_deleted(open_page: Any) -> None:
    home = open_page("home")
    button(home, "Watch it work").click().run()
    (run,) = session.registry().all()
    run.stop()
    run.join()
    listed = open_page("home")
    assert any("digits demo" in text.value for text in listed.markdown)
    (menu,) = [one for one in listed.get("popover") if run.id in one.proto.id]  # of the run, and not of its place
    assert menu.proto.popover.icon
    next(button for button in listed.button if button.label == "Delete").click().run()
    assert session.registry().all() == []


def test_what_is_expected_to_be_right_is_never_certain_and_no_quotation(
    open_page: Any, finished: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_list, "headline", lambda metrics, health: headline({"expected_accuracy": 0.9999}))
    figures = [text.value for text in open_page("home").markdown if "expected to be right" in text.value]
    assert figures and all(one.startswith("\\> 99 %") for one in figures)


def test_runs_and_comparisons_are_renamed_and_their_reviews_know_them_still(open_page: Any, finished: Run) -> None:
    review = review_id(finished.folder)
    lanes = session.registry().start(*lane_configs(IRIS, ["proden", "proden-naive"]))
    lanes.join(60)
    page = open_page("home")
    for one, name in ((finished, "second *try*"), (lanes, "side by side")):
        page.text_input(f"name-{one.id}").set_value(f" {name} ")
        page = next(press for press in page.button if press.form_id == f"rename-{one.id}").click().run()
        assert not page.exception
    assert "second \\*try\\*" in said(page) and "side by side" in said(page)
    PerProcess.forget_all()  # another process, later
    registry = session.registry()
    assert registry.get(finished.id).config.name == "second *try*"
    assert registry.get(lanes.id).name == "side by side"
    assert review_id(registry.get(finished.id).folder) == review
    check_has_result(registry.get(finished.id).folder)  # no checksum has changed


def test_the_tool_records_what_the_page_plays() -> None:
    made = demo_replay.record((0, 1, 2))
    with np.load(demo.RECORDED) as known:
        for name in ("indptr", "indices", "truth"):
            assert np.array_equal(made[name], known[name])
        assert np.array_equal(made["weights"][0], known["weights"][0])  # later ones follow the defaults of training


def test_deleting_a_run_under_review_asks_and_keeps_run_and_decisions(open_page: Any, finished: Any) -> None:
    queue = begun(finished)
    desk = Desk(queue.review, "Ada")
    answer(desk, given(desk), right=True)
    answer(desk, given(desk), right=True)
    desk.undo()
    home = button(open_page("home"), "Delete").click().run()
    assert "1 decision of 1 reviewer" in home.warning[0].value
    assert len(session.registry().all()) == 1
    button(home, "Delete all the same").click().run()
    registry = default_registry()
    assert registry.all() == []
    (kept,) = registry.bin.iterdir()
    assert kept.name == finished.id and json.loads((kept / "deleted.json").read_text())["by"] == ""
    kept.rename(registry.root / kept.name)
    result = registry.get(kept.name)
    with reading(service.database(), review_id(result.folder)) as reader:
        assert reader.n_decisions() == (1, 1)


@pytest.mark.parametrize("name", ["metrics.csv", "config.json", "state.json", "manifest.json"])
def test_a_damaged_run_says_so_in_its_own_row(open_page: Any, finished: Run, name: str) -> None:
    sound = finished.folder.path
    bad = damaged(sound, Case(name, "flip"), sound.with_name("bad"))
    page = open_page("home")
    assert not page.exception
    assert any(f"{name} is damaged" in element.value for element in page.text)
    assert finished.config.name in said(page)
    page = open_page("train", run="bad")
    assert not page.exception and f"{name} is damaged" in page.error[0].value
    page = open_page("home")
    page.button("delete-bad").click().run()
    assert not bad.exists()
    assert finished.folder.exists()

"""The home page."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pll.catalog.sources import Source
from pll.review.desk import Desk
from pll.review.label_snapshot import review_id
from pll.runs.comparison import lane_configs
from pll.runs.config import RunConfig
from pll.runs.registry import default_registry
from pll.runs.run import Run
from pll.synthesis import Flip
from pll.ui import session
from pll.ui.data import upload
from pll.ui.review import service
from pll.ui.routes import PAGES
from tests.faults.damage import Case, damaged
from tests.page_helpers import begun, button, said
from tests.review_helpers import answer, given


def test_it_offers_to_watch_and_to_bring_data(open_page: Any) -> None:
    home = open_page("home")
    assert not home.exception
    doors = ["Upload my data", *(["Start the lesson"] if "learn" in PAGES else []), "Compare", "Choose a dataset"]
    assert [button.label for button in home.button] == ["Watch it work", *doors]
    assert any("None yet" in caption.value for caption in home.caption)


def test_each_door_opens_the_data_page_on_its_own_way(open_page: Any) -> None:
    for door, way in (("Upload my data", upload.UPLOAD), ("Choose a dataset", upload.CATALOGUE)):
        home = open_page("home")
        next(button for button in home.button if button.label == door).click().run()
        assert not home.exception
        assert home.session_state["way"] == way


def test_a_door_leads_to_the_comparison(open_page: Any) -> None:
    home = open_page("home")
    next(button for button in home.button if button.label == "Compare").click().run()
    assert not home.exception
    assert home.title[0].value == "Compare"


def test_lanes_are_one_in_the_list_and_deleted_as_one(open_page: Any) -> None:
    open_page("home")
    iris = RunConfig(Source("iris"), params={"epochs": 2}, flip=Flip("binomial", 0.3), name="irises")
    comparison = session.registry().compare(lane_configs(iris, ["proden", "proden-naive"]))
    comparison.join(60)
    home = open_page("home")
    (row,) = [text.value for text in home.markdown if "irises" in text.value and "Delete" not in text.value]
    assert "Comparison: PRODEN, PRODEN-naive" in row
    next(button for button in home.button if button.label == "Delete").click().run()
    assert not home.exception
    assert session.registry().comparisons() == [] and session.registry().all() == []


def test_watch_it_work_starts_the_demo_at_a_pace_for_eyes(open_page: Any) -> None:
    home = open_page("home")
    home.button[0].click().run()
    assert not home.exception
    (run,) = session.registry().all()
    assert run.config.source.name == "digits"
    assert run.pace is not None


def test_runs_of_the_past_are_listed_and_deleted(open_page: Any) -> None:
    home = open_page("home")
    home.button[0].click().run()
    (run,) = session.registry().all()
    run.stop()
    run.join()
    listed = open_page("home")
    assert any("digits demo" in text.value for text in listed.markdown)
    next(button for button in listed.button if button.label == "Delete").click().run()
    assert session.registry().all() == []


def test_deleting_a_run_under_review_asks_and_keeps_run_and_decisions(open_page: Any, finished: Any) -> None:
    manager = begun(finished)
    desk = Desk(manager.review, "Ada")
    answer(desk, given(desk), right=True)
    home = button(open_page("home"), "Delete").click().run()
    assert "1 decision of 1 reviewer" in home.warning[0].value
    assert len(session.registry().all()) == 1
    button(home, "Delete all the same").click().run()
    registry = default_registry()
    assert registry.all() == []
    (kept,) = registry.bin.iterdir()
    assert kept.name == finished.id and json.loads((kept / "deleted.json").read_text())["by"] == ""
    kept.rename(registry.root / kept.name)
    found = registry.get(kept.name)
    with service.store().read(review_id(found.folder)) as reader:
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

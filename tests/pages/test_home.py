"""The home page."""

from __future__ import annotations

import json
from base64 import b64decode
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest

from pll.catalog.sources import Source
from pll.review.desk import Desk
from pll.review.label_snapshot import review_id
from pll.runs.config import RunConfig
from pll.runs.folder import check_has_result
from pll.runs.lanes import lane_configs
from pll.runs.process import PerProcess
from pll.runs.registry import default_registry
from pll.runs.run import Run
from pll.synthesis import Flip
from pll.ui import session
from pll.ui.data import upload
from pll.ui.home import demo
from pll.ui.review import service
from tests.faults.damage import Case, damaged
from tests.page_helpers import IRIS, begun, button, said, understood
from tests.review_helpers import answer, given
from tools import demo_replay


def test_it_offers_to_watch_and_to_bring_data(open_page: Any) -> None:
    home = open_page("home")
    assert not home.exception
    ways = ["Upload my data", "Watch it work", "Sample file", "Start the lesson", "Compare", "Choose a dataset"]
    assert [button.label for button in home.button] == ways
    assert any("None yet" in caption.value for caption in home.caption)


def test_each_door_opens_the_data_page_on_its_own_way(open_page: Any) -> None:
    for door, way in (("Upload my data", upload.UPLOAD), ("Choose a dataset", upload.CATALOGUE)):
        home = open_page("home")
        next(button for button in home.button if button.label == door).click().run()
        assert not home.exception
        assert home.session_state["way"] == way


def test_a_sample_file_opens_with_one_click(open_page: Any) -> None:
    page = button(open_page("home"), "Sample file").click().run()
    assert not page.exception
    assert page.title[0].value == "Data"
    assert understood(page).startswith("12 texts")


def test_a_door_leads_to_the_comparison(open_page: Any) -> None:
    home = open_page("home")
    next(button for button in home.button if button.label == "Compare").click().run()
    assert not home.exception
    assert home.title[0].value == "Compare"


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


def test_watch_it_work_starts_the_demo_at_a_pace_for_eyes(open_page: Any) -> None:
    home = open_page("home")
    button(home, "Watch it work").click().run()
    assert not home.exception
    (run,) = session.registry().all()
    assert run.config.source.name == "digits"
    assert run.pace is not None


def test_runs_of_the_past_are_listed_and_deleted(open_page: Any) -> None:
    home = open_page("home")
    button(home, "Watch it work").click().run()
    (run,) = session.registry().all()
    run.stop()
    run.join()
    listed = open_page("home")
    assert any("digits demo" in text.value for text in listed.markdown)
    next(button for button in listed.button if button.label == "Delete").click().run()
    assert session.registry().all() == []


def test_a_run_says_its_data_size_date_and_result(open_page: Any, finished: Run) -> None:
    told = said(open_page("home"))
    assert "iris · 150 examples · 3 classes" in told
    assert str(datetime.now(UTC).year) in told
    assert "identified correctly" in told


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


def test_a_name_of_nothing_is_refused(open_page: Any, finished: Run) -> None:
    page = open_page("home")
    page.text_input(f"name-{finished.id}").set_value("  ")
    page = button(page, "Rename").click().run()
    assert not page.exception and page.toast
    assert finished.config.name == "irises"


def test_the_recorded_demo_begins_undecided_and_ends_right() -> None:
    film = demo.film()
    first, last = film["frames"][0], film["frames"][-1]
    assert first["when"] == "Before training" and "9" in last["when"]
    truth = np.frombuffer(b64decode(film["hues"]), "<u2")
    right = [np.mean(np.frombuffer(b64decode(one["labels"]), np.uint8) == truth) for one in (first, last)]
    assert right[0] < 0.3 and right[1] > 0.9
    sure = [np.frombuffer(b64decode(one["shades"]), np.uint8).mean() / 127 for one in (first, last)]
    assert sure[0] < 0.2 and sure[1] > 0.7


def test_the_tool_records_what_the_page_plays() -> None:
    made = demo_replay.record((0, 1, 2))
    with np.load(demo.RECORDED) as known:
        for name in ("indptr", "indices", "truth"):
            assert np.array_equal(made[name], known[name])
        assert np.array_equal(made["weights"][0], known["weights"][0])  # later ones follow the defaults of training


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

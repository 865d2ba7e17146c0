"""The export page."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import streamlit as st

from pll.catalog.sources import Source
from pll.errors import UserError
from pll.export.connections import opens
from pll.export.convert import of_run
from pll.formats.tools.exports import LabelStudio
from pll.review.desk import Desk
from pll.runs.config import RunConfig
from pll.runs.fit_loop import FitLoop
from pll.runs.folder import RunFolder
from pll.runs.process import PerProcess
from pll.synthesis import Flip
from pll.ui import session
from pll.ui.data import loader
from pll.ui.export import download
from pll.ui.review import service
from tests.page_helpers import begun, button, labels, said

SAMPLES = Path(__file__).parents[2] / "assets" / "samples"


def finished(source: Source, **more: Any) -> Any:
    run = session.registry().start(RunConfig(source, params={"epochs": 3}, **more))
    run.join(60)
    return run


def test_labels_go_back_into_the_tool_they_came_from_or_into_a_format_that_says_what_it_lacks(open_page: Any) -> None:
    open_page("home")
    sample = SAMPLES / "reviews.labelstudio.json"
    run = finished(Source(sample.name, str(sample)))
    page = open_page("export", run=run.id)
    assert not page.exception
    offered = [button.proto.label for button in page.get("download_button")]
    assert offered[:3] == [
        "Download reviews.labelstudio-labelled.json", "Its labelling configuration", "Download labels.csv"
    ]  # fmt: skip
    (first,) = page.toggle[:-1]  # the last is that of spreadsheets
    assert first.label == "Least certain first" and first.value
    plan = of_run(run.folder, "labelstudio", load=loader.dataset)
    tasks = json.loads(download.file_content(plan, True))
    before = {task["id"]: task for task in json.loads(sample.read_text(encoding="utf-8"))}
    scores = [task.pop("predictions")[0]["score"] for task in tasks]
    assert scores == sorted(scores) and {task["id"]: task for task in tasks} == before

    page = page.selectbox("export-format").select("plcifar").run()
    assert any("Not in this file: The texts." in one.value for one in page.caption)
    page = page.selectbox("export-format").select("mat").run()
    assert any("no features" in info.value for info in page.info)
    assert len([button for button in page.get("download_button") if "-labelled" in button.proto.label]) == 1


def test_a_file_that_cannot_be_given_back_leaves_the_others(open_page: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> list[str]:
        raise UserError("Row 7 is damaged.")

    open_page("home")
    sample = SAMPLES / "reviews.labelstudio.json"
    run = finished(Source(sample.name, str(sample)))
    monkeypatch.setattr(LabelStudio, "cannot_give_back", refuse)
    page = open_page("export", run=run.id)
    assert not page.exception and ["Row 7 is damaged." in one.value for one in page.error] == [True]
    offered = [button.proto.label for button in page.get("download_button")]
    assert "Download labels.csv" in offered and "Download all" in offered


def test_a_review_is_summed_up_by_the_labels_that_people_met(open_page: Any) -> None:
    open_page("home")
    run = finished(Source("iris"), flip=Flip("binomial", 0.6))
    desk = Desk(begun(run).review, "Ada")
    for turn in range(20):
        one = desk.next()
        assert one is not None
        other = next(choice.label for choice in one.choices if choice.label != one.identified)
        desk.decide(one, "pick", one.identified if turn % 2 else other)
    page = open_page("export", run=run.id)
    assert "20 decided of 150: 10 corrected." in said(page)


def test_what_the_majority_would_say_is_counted_on_the_same_labels_on_every_page(
    open_page: Any, tmp_path: Path
) -> None:
    open_page("home")
    said_by = [[(i + (i % every == 0)) % 2 for every in (90, 11, 3)] for i in range(60)]
    rows = [f"r{i},{(7 * i) % 60},{','.join('ab'[one] for one in said_by[i])}" for i in range(60)]
    (tmp_path / "votes.csv").write_text("\n".join(["id,width,annotator_1,annotator_2,annotator_3", *rows]))
    run = finished(Source("votes.csv", str(tmp_path / "votes.csv"), rule="voters"))
    queue = begun(run)
    desk = Desk(queue.review, "Ada")
    for _ in range(12):
        one = desk.next()
        assert one is not None
        desk.decide(one, "other", "ab"[said_by[one.row][2]])  # the third one is right
    queue.wait()  # for neighbours, which labels follow too
    queue.compute_order()
    assert queue.review.current.follows
    sentences = [
        re.findall("The majority would differ on .*?[.]", said(open_page(name, run=run.id)))[0]
        for name in ("train", "export")
    ]
    assert sentences[0] == sentences[1]


def test_certified_labels_come_before_the_current_ones_in_the_same_form(open_page: Any) -> None:
    open_page("home")
    sample = SAMPLES / "reviews.labelstudio.json"
    run = finished(Source(sample.name, str(sample)))
    review = begun(run).review
    review.certify(0.2)
    desk = Desk(review, "Ada")
    while (one := desk.next()) is not None:
        desk.decide(one, "pick", one.identified)
    page = open_page("export", run=run.id)
    assert not page.exception
    files = [button.proto.label for button in page.get("download_button") if "reviews" in button.proto.label][:2]
    assert files == [f"Download reviews.labelstudio-{which}.json" for which in ("certified", "labelled")]
    said = [*(one.value for one in (*page.caption, *page.markdown)), *(box.label for box in page.expander)]
    health = run.snapshot().lane.health
    assert health is not None and not [text for text in said if health.headline in text]


def test_a_run_keeps_its_certificate_where_the_review_went_on_with_a_later_one(open_page: Any) -> None:
    open_page("home")
    run = finished(Source("iris"), flip=Flip("binomial", 0.6))
    queue = begun(run)
    desk = Desk(queue.review, "Ada")
    for _ in range(6):
        one = desk.next()
        assert one is not None
        desk.decide(one, "pick", one.choices[-1].label)
    queue.review.certify(0.3, 0.8)
    while (one := desk.next()) is not None:
        desk.decide(one, "pick", one.identified)
    queue.review.configure(goal="look")
    later = queue.retraining.begin()
    later.join(60)
    assert queue.adopt_retrained()
    for one_run, is_certified in ((run, True), (later, False)):
        page = open_page("export", run=one_run.id)
        assert not page.exception
        offered = {button.proto.label for button in page.get("download_button") if not button.proto.disabled}
        assert ({"Download final.csv", "Download certificate.json"} <= offered) == is_certified
        assert ("**Certified labels.**" in said(page)) == is_certified
        assert "not certified yet" not in said(page)


def test_where_it_was_not_found_out_how_sure_labels_are_export_says_that_confidence_is_blank(open_page: Any) -> None:
    open_page("home")
    run = finished(Source("iris"), flip=Flip("binomial", 0.6))
    page = open_page("export", run=run.id)
    assert "its label and how sure it is." in said(page)
    assert json.loads(page.dataframe[0].proto.columns)["confidence"]["type_config"]["format"] == "%.4f"  # 1, too
    folder = RunFolder(session.registry().root / "skipped")
    folder.create(run.config)
    loop = FitLoop(folder, on_step=lambda *_: loop.skip())
    loop.train()
    page = open_page("export", run="skipped")
    assert "how sure it is, blank where that was not found out." in said(page)
    assert set(page.dataframe[0].value["confidence"]) == {""}


def test_where_the_data_is_gone_the_labels_that_the_run_wrote_are_offered(open_page: Any, tmp_path: Path) -> None:
    open_page("home")
    file = tmp_path / "reviews.csv"
    file.write_bytes((SAMPLES / "reviews.csv").read_bytes())
    run = finished(Source(file.name, str(file)))
    for copy in (file, *run.folder.path.glob("source/*")):
        copy.unlink()
    PerProcess.forget_all()  # as after a restart of the server
    st.cache_resource.clear()
    page = open_page("export", run=run.id)
    assert not page.exception and "reviews.csv is no longer at" in page.error[0].value
    assert offered(page) == ["Download labels.csv"]
    assert "without what was decided since" in said(page)


def test_labels_of_a_run_that_goes_on_are_offered_when_it_has_ended(open_page: Any) -> None:
    open_page("home")
    run = session.registry().start(RunConfig(Source("iris"), params={"epochs": 3}, flip=Flip("pair", 0.5)), paused=True)
    run.resume(epochs=1)
    run.wait_until_paused(60)
    run.stop()
    run.join(60)
    assert "Download labels.csv" in offered(open_page("export", run=run.id))
    run.resume(epochs=1)  # its model is that of the stop, and its labels are being made
    run.wait_until_paused(60)
    page = open_page("export", run=run.id)
    assert not page.exception and not page.error and not offered(page)
    assert "You can export its labels when it has ended" in page.info[0].value


def offered(page: Any) -> list[str]:
    return [button.proto.label for button in page.get("download_button")]


def test_a_run_without_a_result_is_explained(open_page: Any) -> None:
    open_page("home")
    broken = RunConfig(Source("iris"), params={"lr": 1e30}, flip=Flip("pair", 0.5), name="irises")
    run = session.registry().start(broken)
    run.join(60)
    page = open_page("export", run=run.id)
    assert not page.exception
    assert "It has no labels to export." in page.info[0].value


def test_label_studio_is_connected_and_disconnected(open_page: Any) -> None:
    open_page("home")
    run = finished(Source("iris"), flip=Flip("binomial", 0.3))
    page = open_page("export", run=run.id)
    page.session_state["labelstudio"] = True  # the expander, opened
    page = button(page.run(), "Connect Label Studio").click().run()
    assert not page.exception
    address = urlsplit(page.code[0].value)
    assert address.path.endswith(f"/labelstudio/{run.id}")
    user, secret = str(address.username), str(address.password)
    assert opens(service.database(), run.id, user, secret)

    page = button(page, "Disconnect").click().run()
    assert not opens(service.database(), run.id, user, secret)
    assert "Connect Label Studio" in labels(page)

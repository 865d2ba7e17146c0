"""Share links on the compare page: opened, reloaded, looked at in a lesson, made."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pll.catalog.sources import Source
from pll.runs.folder import RunConfig
from pll.runs.lanes import lane_configs
from pll.runs.link import Look, Share, to_query
from pll.runs.run import Run
from pll.synthesis import Flip
from pll.ui import session
from pll.ui.data import upload
from pll.ui.run_view import run_view
from pll.ui.scenes import scenes
from tests.page_helpers import button, labels, said
from tests.run_helpers import write_data

IRIS = RunConfig(
    Source("iris"), params={"epochs": 12, "threads": 1}, flip=Flip("binomial", 0.3), holdout=0.2, name="irises"
)
CONFIGS = lane_configs(IRIS, ("proden", "proden-naive", "pn-oracle"), {"proden-naive": {"lr": 0.2}})


def started(page: Any) -> Any:
    """The page of a link once Start was pressed on it, if it asks for that."""
    return button(page, "Start").click().run() if "Start" in labels(page) else page


def ended(page: Any) -> tuple[Any, Run]:
    """The page once the comparison in view has ended, and that one."""
    assert not page.exception
    page = started(page)
    comparison = session.registry().get(page.session_state["comparison"])
    comparison.join(60)
    page.run()
    assert not page.exception
    return page, comparison


def test_predict_then_reveal(open_page: Any) -> None:
    page, comparison = ended(open_page("compare", **dict(to_query(Share(tuple(CONFIGS), Look(hidden=("truth",)))))))
    text = said(page)
    assert "No true labels are known here" in text and "correct" not in text.lower()
    assert "Correct" not in set(page.table[-1].value[""]) and not page.toggle
    next(one for one in page.button if one.label == "Show everything").click().run()
    assert "Correct" in set(page.table[-1].value[""])
    run_view(comparison).hidden = frozenset({"truth"})
    lanes = scenes(comparison, comparison.snapshot())
    again = scenes(comparison, comparison.snapshot())
    assert all(lane.y_true is None and lane.splits.test is None for lane in lanes)
    assert len({id(lane.data) for lane in [*lanes, *again]}) == 1  # made once


def test_a_file_is_asked_for_and_another_one_is_not_taken(open_page: Any, tmp_path: Any) -> None:
    content = write_data(tmp_path / "points.npz").read_bytes()
    open_page("home")
    source = upload.store_upload("points.npz", content)
    configs = lane_configs(replace(IRIS, source=source), ("proden", "proden-naive"))
    page = open_page("compare", **dict(to_query(Share(tuple(configs)))))
    assert not page.exception
    assert "One file is needed" in said(page) and "points" in said(page)
    assert str(source.sha256)[:16] in said(page)
    page.session_state["uploads"] = [upload.store_upload("other.npz", b"something else")]
    page.run()
    assert session.registry().comparisons() == []
    page.session_state["uploads"] = [source]
    page.run()
    _, comparison = ended(page)
    assert {run.config.source.sha256 for run in comparison.lanes} == {source.sha256}

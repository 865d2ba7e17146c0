"""Whether a run is to be trusted: on the page of the run, at the export and in what is taken away."""

from __future__ import annotations

import logging
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pll import formats
from pll.annotations.voters import FEATURES_ADD_NOTHING
from pll.candidates import CandidateSets
from pll.catalog.sources import Source
from pll.dataset import PartialLabelDataset
from pll.errors import UserError
from pll.export.readme import readme
from pll.export.run_export import export_source
from pll.methods.held_out import PRIOR_NOTE
from pll.runs.config import RunConfig
from pll.runs.run import Run
from pll.runs.server_log import in_short
from pll.synthesis import Flip
from pll.ui import session
from pll.ui.export.download import made_now
from tests.page_helpers import labels, said


def ended(open_page: Any, **params: Any) -> tuple[Any, Run]:
    page = open_page("train")
    config = RunConfig(Source("iris"), params={"epochs": 40, **params}, flip=Flip("binomial", 0.3), name="irises")
    run = session.registry().start(config)
    run.join(60)
    page.query_params["run"] = run.id
    return page.run(), run


def test_what_cannot_be_found_out_is_not_offered_again(open_page: Any, tmp_path: Path) -> None:
    sets = CandidateSets.from_lists([[0, 1]] * 60, n_classes=2)
    prior = np.tile([0.7, 0.3], 60)
    formats.write(PartialLabelDataset(np.zeros((60, 0), np.float32), sets, prior=prior), tmp_path / "soft.npz")
    page = open_page("train")
    run = session.registry().start(RunConfig(Source("soft", str(tmp_path / "soft.npz")), method="majority"))
    run.join(60)
    page.query_params["run"] = run.id
    page.run()
    assert not page.exception and "How sure they are is not known" in said(page)
    assert PRIOR_NOTE in said(page) and "Find out how sure" not in labels(page)


@pytest.mark.parametrize(("params", "healthy"), [({}, True), ({"lr": 50.0}, False)])
def test_a_run_says_whether_it_is_to_be_trusted(open_page: Any, params: dict[str, Any], healthy: bool) -> None:
    page, run = ended(open_page, **params)
    splits = run.splits()
    run.lanes[0].loaded = replace(splits, train=replace(splits.train, notes=(FEATURES_ADD_NOTHING,)))
    page.run()
    health = run.snapshot().lane.health
    assert health is not None and health.is_healthy == healthy
    notices = [one for one in page.expander if "Do not trust these labels" in one.label]
    assert len(notices) == (0 if healthy else 1)
    for notice in notices:  # one line, which opens to all that was found
        assert "\n" not in notice.label
        assert all(finding.remedy in notice.markdown[0].value for finding in health.findings)
        assert "The features add nothing" in notice.markdown[0].value
    warnings = [one for one in page.warning if "The features add nothing" in one.value]
    assert len(warnings) == (1 if healthy else 0)  # once, there or in the notice
    (first,) = [one for one in page.get("download_button") if one.proto.label == "Download"]
    assert (first.proto.type == "primary") == healthy
    source = export_source(run.folder)
    text = readme(source, {"labels.csv"}, ())
    assert health.headline in text
    assert source.health == health


def test_labels_that_known_ones_refute_are_nowhere_called_certain(open_page: Any, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    y = np.arange(120) % 3
    X = np.eye(3)[y] + rng.normal(scale=0.2, size=(120, 3))
    given = np.where(rng.random(120) < 0.4, (y + 1) % 3, y)
    file = tmp_path / "single.csv"
    lines = [f"r{k},{','.join(map(str, row))},c{s},c{t}" for k, (row, s, t) in enumerate(zip(X, given, y, strict=True))]
    file.write_text("\n".join(["id,a,b,c,candidates,true_label", *lines]) + "\n")
    page = open_page("train")
    run = session.registry().start(RunConfig(Source("single.csv", str(file)), params={"epochs": 5}, name="single"))
    run.join(60)
    page.query_params["run"] = run.id
    page.run()
    health = run.snapshot().lane.health
    assert health is not None and [one.name for one in health.findings] == ["refuted"]
    assert any("Known true labels contradict" in one.label for one in page.expander)
    home = open_page("home")
    figures = [one.value for one in home.markdown if "known" in one.value]
    assert figures and not any("expected to be right" in one.value for one in home.markdown)


def test_a_run_that_never_began_has_no_labels(open_page: Any) -> None:
    page = open_page("train")
    run = session.registry().start(RunConfig(Source("digits"), flip=Flip("binomial", 0.3), name="digits"))
    run.stop()
    run.join(60)
    page.query_params["run"] = run.id
    page.run()
    assert run.snapshot().state == "stopped" and run.snapshot().epoch == 0
    assert not [one for one in page.get("download_button") if one.proto.label == "Download"]
    assert [one for one in page.button if one.label == "Resume"]


def test_a_download_of_a_run_deleted_elsewhere_leads_to_the_others(open_page: Any, finished: Run) -> None:
    page = open_page("train", run=finished.id)
    (taken,) = page.get("download_button")
    assert not taken.proto.ignore_rerun  # the page runs when it is pressed
    session.registry().delete(finished.id)
    page.run()
    assert "it may have been deleted" in said(page)
    assert "All runs" in [one.proto.label for one in page.get("page_link")]
    with pytest.raises(UserError) as gone:
        made_now(finished, "labels-csv")
    failed = OSError()
    failed.__cause__ = gone.value
    record = logging.LogRecord("streamlit", logging.ERROR, "", 0, "failed", (), (OSError, failed, None))
    assert in_short(record) and "There is no run" in record.getMessage() and record.exc_info is None

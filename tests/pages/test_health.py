"""Whether a run is to be trusted: on the page of the run, at the export and in what is taken away."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pll.catalog.sources import Source
from pll.export.readme import readme
from pll.export.run_export import export_source
from pll.runs.config import RunConfig
from pll.runs.run import Run
from pll.synthesis import Flip
from pll.ui import session
from pll.ui.format import headline
from pll.ui.train import chosen
from tests.page_helpers import button, said


def ended(open_page: Any, **params: Any) -> tuple[Any, Run]:
    page = open_page("train")
    config = RunConfig(Source("iris"), params={"epochs": 40, **params}, flip=Flip("binomial", 0.3), name="irises")
    run = session.registry().start(config)
    run.join(60)
    page.query_params["run"] = run.id
    return page.run(), run


@pytest.mark.parametrize(("params", "healthy"), [({}, True), ({"lr": 50.0}, False)])
def test_a_run_says_whether_it_is_to_be_trusted(
    open_page: Any, monkeypatch: pytest.MonkeyPatch, params: dict[str, Any], healthy: bool
) -> None:
    monkeypatch.setattr(chosen, "warnings_of", lambda run: ("Nothing does better than chance.",))
    page, run = ended(open_page, **params)
    health = run.snapshot().health
    assert health is not None and health.is_healthy == healthy
    notices = [one for one in page.expander if "Do not trust these labels" in one.label]
    assert len(notices) == (0 if healthy else 1)
    for notice in notices:  # one line, which opens to all that was found
        assert "\n" not in notice.label
        assert all(finding.remedy in notice.markdown[0].value for finding in health.findings)
        assert "better than chance" in notice.markdown[0].value
    warnings = [one for one in page.warning if "better than chance" in one.value]
    assert len(warnings) == (1 if healthy else 0)  # once, there or in the notice
    (first,) = [one for one in page.get("download_button") if one.proto.label == "Download"]
    assert (first.proto.type == "primary") == healthy
    source = export_source(run.folder)
    text = readme(source, {"labels.csv"}, ())
    assert health.headline in text
    assert source.health == health


def test_shares_say_how_many_true_labels_they_rest_on(open_page: Any, tmp_path: Path) -> None:
    """Truth in a tenth of the rows: nothing is held out by default, every row gets a label, and every share its n."""
    rng = np.random.default_rng(0)
    lines = ["x1,x2,candidates,true_label"]
    for k in range(100):
        y = k % 3
        x1, x2 = rng.normal(size=2) + 3 * np.array([(0, 0), (1, 0), (0, 1)][y])
        truth = "abc"[y] if k < 10 else ""
        lines.append(f"{x1:.3f},{x2:.3f},{'abc'[y]}|{'abc'[(y + 1) % 3]},{truth}")
    (tmp_path / "tenth.csv").write_text("\n".join(lines))
    page = open_page("train")
    page.session_state["choice"] = session.ChosenData(Source("tenth.csv", str(tmp_path / "tenth.csv")))
    page.run()
    assert page.slider(key="setup_holdout_True").value == 0
    page.selectbox(key="setup_recipe").set_value("default")
    button(page, "Start training").click().run()
    (run,) = session.registry().all()
    run.join(60)
    page.run()
    metrics = run.snapshot().metrics
    assert metrics is not None
    right = round(metrics["transductive_accuracy"] * 10)
    assert f"{right} of 10 known" in said(page) and "% of all" in said(page)
    assert len(export_source(run.folder).frame) == 100
    assert "(10 of 10 known)" in headline({"transductive_accuracy": 1.0, "known_labels": 10})[1]

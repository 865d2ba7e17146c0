"""Tables of runs and of what they differ in."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from pll.catalog.sources import Source
from pll.runs.config import RunConfig
from pll.runs.registry import RunRegistry
from pll.runs.runs_table import COLUMNS, differences, health_words, runs_frame
from pll.synthesis import Flip

IRIS = RunConfig(Source("iris"), params={"epochs": 3}, flip=Flip("binomial", 0.3), holdout=0.2, name="irises")


@pytest.fixture
def registry(tmp_path: Path) -> RunRegistry:
    return RunRegistry(tmp_path)


def test_results_health_and_differences(registry: RunRegistry) -> None:
    configs = [IRIS, replace(IRIS, params={"epochs": 3, "lr": 0.5}), replace(IRIS, method="plknn", params={})]
    runs = [registry.start(config) for config in configs]
    for run in runs:
        run.join(60)
    frame = runs_frame(runs)
    assert tuple(frame.columns) == COLUMNS and frame["id"].tolist() == [run.id for run in runs]
    for run, (_, row) in zip(runs, frame.iterrows(), strict=True):
        metrics = run.snapshot().metrics
        assert metrics is not None
        assert (row["transductive_accuracy"], row["known_labels"]) == (metrics["transductive_accuracy"], 120)
        assert row["known_test_labels"] == 30 and row["health"] == health_words(run.snapshot().health) != ""
    assert differences(runs[:2]).to_numpy().tolist() == [["lr", "0.05", "0.5"]]
    table = differences(runs).set_index("setting")
    assert table.loc["method"].tolist() == ["proden", "proden", "plknn"]
    assert table.loc["lr"].tolist() == ["0.05", "0.5", "–"] and "seed" not in table.index


def test_a_damaged_run_is_left_out(registry: RunRegistry) -> None:
    runs = [registry.start(IRIS), registry.start(IRIS)]
    for run in runs:
        run.join(60)
    (runs[0].folder.path / "config.json").write_text("{")
    assert runs_frame(runs)["id"].tolist() == [runs[1].id]
    assert runs_frame([]).empty and isinstance(runs_frame([]), pd.DataFrame)

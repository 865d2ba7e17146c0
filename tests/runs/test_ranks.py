"""Processes that a run of a page starts: what is refused, and how a run stands after that."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pll.errors import UserError
from pll.runs import ranks
from pll.runs.registry import RunRegistry
from tests.run_helpers import config, write_data


def test_a_second_run_in_several_processes_waits_to_be_resumed(
    tmp_path: Path, registry: RunRegistry, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ranks, "most_processes", lambda: 2)
    setup = config(write_data(tmp_path / "small.npz"), processes=2)
    with ranks._BUSY:
        run = registry.start(setup)
        run.join(60)
    snapshot = run.snapshot()
    assert snapshot.state == "interrupted" and "Another run" in str(snapshot.error)
    run.set_processes(1)
    run.resume()
    run.join(60)
    assert run.snapshot().state == "finished" and run.snapshot().error is None
    assert run.folder.about()["run"]["processes"] == 1


def test_more_processes_than_the_machine_has_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ranks, "most_processes", lambda: 2)
    with pytest.raises(UserError, match="too many"), ranks.other_processes(3):
        pass


def test_a_method_of_one_process_trains_in_one(tmp_path: Path, registry: RunRegistry) -> None:
    small = config(write_data(tmp_path / "small.npz"), processes=2)
    run = registry.start(replace(small, method="plknn", params={}))
    run.join(60)
    assert run.snapshot().state == "finished"

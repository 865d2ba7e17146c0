"""Servers of one home: each can pause and stop the runs of the others, and may take over from the dead."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import socket
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from pll.cli.main import main
from pll.errors import UserError
from pll.runs import servers
from pll.runs.access import Access, Person, write_access
from pll.runs.lanes import lane_configs
from pll.runs.personal import PersonalRegistry
from pll.runs.registry import RunRegistry, Visitor, Work
from pll.runs.servers import Server, ServerState, is_dead
from pll.runs.servers import servers as known
from tests.run_helpers import config, registry_in, wait_for, write_data

LONG = {"epochs": 100_000}


def serve(home: Path, data: Path) -> None:
    """Another server, with a run at work and a paused one, until it is killed."""
    registry = RunRegistry(home / "runs")
    Server(registry, home, takes_over=False).begin()
    registry.start(config(data, params=LONG))
    paused = registry.start(config(data, params=LONG), visitor=Visitor("ada", 5), paused=True)
    paused.set_settle(50_000)
    time.sleep(600)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_data(tmp_path_factory.mktemp("data") / "small.npz")


@pytest.fixture
def registry(tmp_path: Path) -> Iterator[RunRegistry]:
    with registry_in(tmp_path / "runs") as registry:
        yield registry


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(servers, "POLL", 0.05)
    monkeypatch.setattr(servers, "BEAT", 0.1)


@pytest.mark.slow
def test_a_server_controls_the_runs_of_another_one_and_takes_over_when_it_dies_and_it_is_told_to(
    registry: RunRegistry,
    data: Path,
    tmp_path: Path,
    quick: None,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    other = multiprocessing.get_context("spawn").Process(target=serve, args=(tmp_path, data), daemon=True)
    other.start()
    server = Server(registry, tmp_path, takes_over=False)
    try:
        wait_for(lambda: sum(len(one.work) for one in known(tmp_path)) == 2, "both to be at work", 120)
        run, paused = (registry.get(work.id) for work in sorted(known(tmp_path)[0].work, key=lambda work: work.paused))
        write_access(run.folder.path, Access("ada"))
        wait_for(lambda: run.snapshot().epoch >= 1, "an epoch", 120)
        assert run.is_elsewhere() and run.snapshot().state == "running" and run.snapshot().seconds_left
        ada, bob = (PersonalRegistry(registry, Person(name)) for name in ("ada", "bob"))
        with pytest.raises(UserError):
            bob.control(run, "stopped", run.stop)
        ada.control(run, "paused", run.pause)
        wait_for(lambda: run.snapshot().state == "paused", "the pause", 120)
        stood = run.snapshot().epoch
        ada.resume(run, lambda: run.step(epochs=2))
        wait_for(lambda: run.snapshot().epoch > stood and run.snapshot().state == "paused", "the steps", 120)
        assert run.snapshot().epoch <= stood + 2 and not run.is_alive()
        ada.resume(run, run.resume)
        wait_for(lambda: run.snapshot().epoch > stood + 2, "it to go on there", 120)
        ada.control(run, "stopped", run.stop)
        wait_for(lambda: run.snapshot().state == "stopped", "the stop", 120)
        assert registry.alive() == [] and run.holder() is None
        run.resume()  # here
        assert run.is_alive()
        run.stop()
        run.join(30)

        server.begin()
        wait_for(lambda: registry.count_elsewhere("ada") == 1, "the paused one to be counted")
        with pytest.raises(UserError, match="1 of your runs"):
            registry.start(config(data), visitor=Visitor("ada", 1))
        assert other.pid is not None
        os.kill(other.pid, signal.SIGKILL)
        other.join(30)
        wait_for(lambda: not registry.count_elsewhere("ada"), "its death to be seen")
        assert paused.snapshot().state == "interrupted" and not paused.is_alive()  # nobody has said so

        monkeypatch.setenv("PLL_HOME", str(tmp_path))
        assert main(["servers", "--take-over"]) == 0
        said = json.loads(capsys.readouterr().out.splitlines()[-1])["servers"]
        assert {(one["pid"], one["state"], one["asked"]) for one in said} == {
            (other.pid, "dead", True),
            (os.getpid(), "alive", False),
        }
        wait_for(lambda: paused.snapshot().state == "paused" and paused.is_alive(), "it to be taken over, paused")
        assert paused.settle_after == 50_000
        wait_for(lambda: [one.pid for one in known(tmp_path)] == [os.getpid()], "the dead to be forgotten")
        registry.stop_all(30)
    finally:
        other.kill()
        server.end()
    assert known(tmp_path) == [] and list((tmp_path / "servers").iterdir()) == []


def test_a_comparison_is_taken_over_by_setting_with_all_its_lanes(
    registry: RunRegistry, data: Path, tmp_path: Path, quick: None
) -> None:
    comparison = registry.compare(lane_configs(config(data, params=LONG), ["proden", "proden-naive"]))
    wait_for(lambda: comparison.snapshot().epoch >= 1, "a round")
    dead = ServerState("dead", socket.gethostname(), 1, 0.0, time.time(), tuple(registry.work()))
    comparison.stop()
    comparison.join(30)
    for run in comparison.runs:
        run.folder.set_state("running")  # as if it had died
    (tmp_path / "servers").mkdir()
    (tmp_path / "servers" / "dead.json").write_text(json.dumps(dead.to_json()))
    server = Server(registry, tmp_path, takes_over=True)
    server.begin()
    try:
        wait_for(comparison.is_alive, "it to be taken over")
        wait_for(lambda: comparison.snapshot().state == "running", "it to go on")
        registry.stop_all(30)
        assert comparison.snapshot().state == "stopped"
    finally:
        server.end()


def test_a_run_that_servers_die_of_is_left_alone(registry: RunRegistry, data: Path, tmp_path: Path) -> None:
    run = registry.start(config(data, params=LONG), paused=True)
    run.wait_until_paused(30)
    work = Work(run.id)
    for attempt in (1, 2, 3):
        holder = json.loads((run.folder.path / "worker.json").read_text())
        run.stop()
        run.join(30)
        (run.folder.path / "worker.json").write_text(json.dumps(holder))  # as if it had died
        registry.take_over(replace(work, paused=True), died_at=holder["since"] + 1)
        run.wait_until_paused(30)
        assert json.loads((run.folder.path / "worker.json").read_text())["attempt"] == attempt
    holder = json.loads((run.folder.path / "worker.json").read_text())
    run.stop()
    run.join(30)
    (run.folder.path / "worker.json").write_text(json.dumps(holder))
    with pytest.raises(UserError, match="3 times"):
        registry.take_over(work, died_at=holder["since"] + 1)
    registry.take_over(replace(work, paused=True), died_at=holder["since"] + 7200)  # it has lived long: another reason
    assert run.is_alive()


def test_a_server_whose_machine_is_silent_is_dead_only_after_a_while(tmp_path: Path) -> None:
    (tmp_path / "servers").mkdir()
    state = ServerState("a", "another-machine", 1, 0.0, time.time())
    (tmp_path / "servers" / "a.json").write_text(json.dumps(state.to_json()))
    (found,) = known(tmp_path)
    assert found == state and not is_dead(tmp_path, found)
    assert is_dead(tmp_path, replace(found, beat=time.time() - 3600))
    (tmp_path / "servers" / "b.json").write_text("[")
    assert known(tmp_path) == [state]

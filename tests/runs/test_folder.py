from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pll.catalog.sources import Source
from pll.errors import UserError
from pll.io import from_json
from pll.runs.config import RunConfig
from pll.runs.folder import RunFolder, list_runs
from pll.synthesis import Flip
from pll.training.metrics import METRICS
from tests.run_helpers import config, write_data

HOLD = (
    "import sys; from pathlib import Path; from pll.runs.folder import RunFolder\n"
    "folder = RunFolder(Path(sys.argv[1])); folder.lock(); print('held', flush=True); sys.stdin.read()"
)


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    folder = RunFolder(tmp_path / "run")
    folder.create(config(write_data(tmp_path / "small.npz")))
    return folder


def row(epoch: int, **values: object) -> dict[str, object]:
    return dict.fromkeys(METRICS) | {"epoch": epoch, "changed_labels": 0, "seconds": 0.1} | values


# ---- config ----------------------------------------------------------------------------------------------------------

SOURCES = st.builds(
    Source, st.text(min_size=1), st.none(), st.sampled_from([None, "csv"]), st.none(), st.just({"sheet": "labels"})
)
CONFIGS = st.builds(
    RunConfig,
    source=SOURCES,
    method=st.sampled_from(["proden", "pn-oracle"]),
    params=st.dictionaries(st.sampled_from(["lr", "epochs", "model"]), st.integers() | st.text()),
    flip=st.none() | st.builds(Flip, st.sampled_from(["pair", "binomial"]), st.floats(0, 1)),
    holdout=st.none() | st.floats(0, 1),
    test=st.none() | SOURCES,
    seed=st.integers(0, 2**31),
    strict=st.booleans(),
    name=st.text(),
)


@given(CONFIGS)
def test_a_config_comes_back_from_json_as_it_was(what: RunConfig) -> None:
    assert from_json(RunConfig, json.loads(json.dumps(asdict(what)))) == what


@pytest.mark.parametrize("content", ["", "{", '{"run": 3}', '{"run": {"source": {"name": "a"}, "new": 1}}', "{}"])
def test_a_config_that_is_not_ours_is_said(folder: RunFolder, content: str) -> None:
    (folder.path / "config.json").write_text(content)
    with pytest.raises(UserError, match=r"config\.json"):
        folder.config()


# ---- state and lock --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("state", ["queued", "running", "paused"])
def test_at_work_without_anybody_at_work_is_interrupted(folder: RunFolder, state: str) -> None:
    folder.set_state(state)  # type: ignore[arg-type]
    assert folder.state()["state"] == "interrupted"
    folder.lock()
    assert folder.state()["state"] == RunFolder(folder.path).state()["state"] == state
    folder.unlock()
    assert folder.state()["state"] == "interrupted"


@pytest.mark.parametrize("by_hand", [{"health": {"verdict": 3}}, {"changed": "today"}, {"state": "done"}])
def test_a_state_that_was_changed_by_hand_is_said(folder: RunFolder, by_hand: dict[str, object]) -> None:
    folder.set_state("finished")
    (folder.path / "manifest.json").unlink()
    file = folder.path / "state.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | by_hand))
    with pytest.raises(UserError, match=r"state\.json is damaged"):
        folder.state()


def test_one_at_a_time(folder: RunFolder) -> None:
    folder.lock()
    other = RunFolder(folder.path)
    with pytest.raises(UserError, match="nother process"):
        other.lock()
    assert other.is_locked()
    folder.unlock()
    other.lock()
    assert folder.is_locked()
    other.unlock()
    assert not folder.is_locked()


def test_asking_whether_a_deleted_run_is_at_work_does_not_make_its_folder(tmp_path: Path) -> None:
    assert not RunFolder(tmp_path / "deleted").is_locked()
    assert not (tmp_path / "deleted").exists()


@pytest.mark.slow
def test_the_lock_of_a_process_that_was_killed_is_free(folder: RunFolder) -> None:
    folder.set_state("running")
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(folder.path)],
        cwd=Path(__file__).parents[2],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        assert folder.is_locked()
        assert folder.state()["state"] == "running"
        with pytest.raises(UserError, match="nother process"):
            folder.lock()
    finally:
        process.kill()
        process.communicate()
    assert folder.state()["state"] == "interrupted"
    folder.lock()
    folder.unlock()


# ---- metrics ---------------------------------------------------------------------------------------------------------

ROWS = st.fixed_dictionaries(
    {name: st.none() | st.floats(allow_nan=False, allow_infinity=False) for name in METRICS}
    | {"changed_labels": st.integers(0, 10**9)}
)


@given(st.lists(ROWS, min_size=1, max_size=5))
def test_metrics_come_back_to_the_last_digit(
    tmp_path_factory: pytest.TempPathFactory, rows: list[dict[str, object]]
) -> None:
    folder = RunFolder(tmp_path_factory.mktemp("run"))
    numbered = [values | {"epoch": epoch} for epoch, values in enumerate(rows, start=1)]
    for values in numbered:
        folder.append_metrics(values)
    assert folder.metrics() == numbered
    header = (folder.path / "metrics.csv").read_text().splitlines()[0]
    assert header == ",".join(METRICS)


@pytest.mark.parametrize("torn", ["3", "3,0.5,0.9", "3,,,,0,,,,0.1", "3,,,,0,,,,1e-", "3,,,,0,,,,"])
def test_a_line_that_is_half_written_does_not_count(folder: RunFolder, torn: str) -> None:
    for epoch in (1, 2):
        folder.append_metrics(row(epoch))
    with (folder.path / "metrics.csv").open("a") as file:
        file.write(torn)
    assert [values["epoch"] for values in folder.metrics()] == [1, 2]
    folder.rewind_metrics(2)
    folder.append_metrics(row(3))
    assert [values["epoch"] for values in folder.metrics()] == [1, 2, 3]


# ---- checkpoint, log, list -------------------------------------------------------------------------------------------


def test_a_checkpoint_that_fails_leaves_the_one_before(folder: RunFolder) -> None:
    folder.save_checkpoint({"epoch": 1})
    with pytest.raises(Exception, match=r"pickle|local"):
        folder.save_checkpoint({"epoch": 2, "no": lambda: None})
    result = folder.checkpoint()
    assert result is not None and result["epoch"] == 1


def test_runs_are_listed_the_newest_first_whatever_happens_to_them_later(tmp_path: Path) -> None:
    names = ["b", "c", "a"]
    for name in names:
        RunFolder(tmp_path / name).create(RunConfig(Source("digits")))
    RunFolder(tmp_path / "b").set_state("finished")
    (tmp_path / "not a run").mkdir()
    (tmp_path / "a file").touch()
    assert [folder.path.name for folder in list_runs(tmp_path)] == names[::-1]
    (tmp_path / "a" / "config.json").write_text("{")  # damaged: listed all the same, so that it can be seen
    assert {folder.path.name for folder in list_runs(tmp_path)} == set(names)
    assert list(list_runs(tmp_path / "none")) == []

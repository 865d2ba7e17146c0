"""Every file of a run damaged in every way, through the commands and the pages."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pll.errors import UserError
from pll.export.run_export import export_source
from pll.io import write_atomically
from pll.runs.files import MANIFEST_FILE
from pll.runs.fit_loop import FitLoop
from pll.runs.folder import RunFolder
from pll.runs.manifest import (
    Manifest,
    check,
    damages,
    is_verifiable,
    listed_files,
    read_manifest,
)
from pll.training.metrics import StopTraining
from tests.faults.damage import COMMANDS, Answer, Case, answer, cases, damaged, verdict
from tests.run_helpers import config, result_of, write_data


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_data(tmp_path_factory.mktemp("data") / "small.npz")


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory, data: Path) -> Path:
    folder = RunFolder(tmp_path_factory.mktemp("runs") / "finished")
    folder.create(config(data, params={"epochs": 3}))
    FitLoop(folder).train()
    return folder.path


@pytest.fixture(scope="module")
def stopped(tmp_path_factory: pytest.TempPathFactory, data: Path) -> Path:
    """A run with a checkpoint, from which it can be resumed."""
    folder = RunFolder(tmp_path_factory.mktemp("runs") / "stopped")
    folder.create(config(data))
    calls = iter(range(1000))

    def hook() -> None:
        if next(calls) == 15:
            raise StopTraining

    FitLoop(folder, hook=hook).train()
    return folder.path


# ---- the manifest ----------------------------------------------------------------------------------------------------


def test_a_run_that_has_ended_lists_every_file(finished: Path) -> None:
    listing = read_manifest(finished)
    assert listing is not None and listing.complete
    assert set(listing.files) == set(listed_files(finished))
    assert {"config.json", "labels.csv", "model.safetensors", "history/final.npy", "state.json"} <= set(listing.files)
    assert damages(finished) == []


def test_a_run_without_a_manifest_has_not_ended(finished: Path, tmp_path: Path, data: Path) -> None:
    folder = RunFolder(damaged(finished, Case(MANIFEST_FILE, "delete"), tmp_path / "run"))
    assert folder.state()["state"] == "interrupted"
    result = answer(["convert", str(folder.path), "--to", "csv", "--out", str(tmp_path / "out.csv")], tmp_path / "none")
    assert result.status == 2 and "no labels yet (interrupted)" in result.message
    predictions = tmp_path / "predictions.csv"
    result = answer(["predict", str(folder.path), str(data), "--out", str(predictions)], predictions)
    assert result.status == 0 and "no complete checksums" in result.message
    result = answer(["check", str(folder.path)], tmp_path / "none")
    assert result.status == 2 and "it is gone" in result.message
    FitLoop(folder).train()
    assert result_of(folder) == result_of(RunFolder(finished)) and is_verifiable(folder.path)


def test_a_write_that_failed_leaves_the_old_file_sound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Manifest(tmp_path).put("checkpoint/checkpoint.pt", b"one")

    def full(path: Path, write: object, *, durable: bool = False) -> None:
        if path.name == "checkpoint.pt":
            raise OSError(28, "No space left on device")
        write_atomically(path, write, durable=durable)  # type: ignore[arg-type]

    for content in (b"two", b"three"):
        with monkeypatch.context() as patched, pytest.raises(OSError):
            patched.setattr("pll.runs.manifest.write_atomically", full)
            Manifest(tmp_path).put("checkpoint/checkpoint.pt", content)
        assert damages(tmp_path) == []
    Manifest(tmp_path).seal()
    assert damages(tmp_path) == []
    Manifest(tmp_path).put("checkpoint/checkpoint.pt", b"four")
    assert check(tmp_path, "checkpoint/checkpoint.pt").read_bytes() == b"four"


def test_a_resumed_run_is_open_until_it_ends_again(stopped: Path, tmp_path: Path) -> None:
    folder = RunFolder(damaged(stopped, Case("log.txt", "flip"), tmp_path / "run"))
    (folder.path / "log.txt").write_bytes((stopped / "log.txt").read_bytes())
    assert is_verifiable(folder.path)
    folder.set_state("running")
    assert not is_verifiable(folder.path) and damages(folder.path) == []
    FitLoop(folder).train()
    assert is_verifiable(folder.path) and damages(folder.path) == []


# ---- what commands do ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["convert", "predict"])
def test_no_command_ends_with_a_traceback_or_a_wrong_label(
    command: str, finished: Path, data: Path, tmp_path: Path
) -> None:
    def ask(folder: Path, number: int) -> Answer:
        out = tmp_path / str(number)
        out.mkdir()
        return answer(COMMANDS[command](folder, data, out), out)

    sound = ask(finished, 0)
    assert sound.status == 0
    found = {
        case: verdict(sound, ask(damaged(finished, case, tmp_path / "run"), number))
        for number, case in enumerate(cases(finished, most_frames=1), 1)
        if case.way != "flip the beginning"
    }
    assert {case: what for case, what in found.items() if what not in ("same", "refused")} == {}
    if command == "check":
        assert [case for case, what in found.items() if what == "same"] == []


def test_label_weights_with_a_flipped_bit_are_not_exported(finished: Path, tmp_path: Path) -> None:
    folder = RunFolder(damaged(finished, Case("history/final.npy", "flip"), tmp_path / "run"))
    with pytest.raises(UserError, match=r"final\.npy is damaged"):
        export_source(folder)
    (folder.path / MANIFEST_FILE).unlink()  # without checksums the values are looked at
    weights = np.load(finished / "history" / "final.npy")
    for wrong in (1.08e33, np.nan, -0.5):
        changed = weights.copy()
        changed[5] = wrong
        np.save(folder.history / "final.npy", changed)
        with pytest.raises(UserError, match=r"final\.npy is damaged"):
            export_source(folder)


def test_a_damaged_run_is_not_resumed_to_another_result(stopped: Path, tmp_path: Path, data: Path) -> None:
    whole = RunFolder(damaged(stopped, Case("log.txt", "delete"), tmp_path / "whole"))
    FitLoop(whole).train()
    expected = result_of(whole)
    refused = 0
    for number, case in enumerate(cases(stopped, most_frames=1)):
        if case.way not in ("flip", "truncate", "empty"):
            continue
        folder = RunFolder(damaged(stopped, case, tmp_path / str(number)))
        try:
            folder.config()
            FitLoop(folder).train()
        except UserError:
            refused += 1
            continue
        result = result_of(folder)
        for name in ("state", "final", "labels.csv", "model"):
            assert result[name] == expected[name], case
    assert refused > 10

from __future__ import annotations

import gc
import json
import os
import signal
import subprocess
import sys
import weakref
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch

from pll.analysis.health import Health
from pll.catalog.sources import Source
from pll.cli.main import main
from pll.errors import UserError
from pll.export.run_export import export_source
from pll.methods import METHODS
from pll.methods.deep import DeepEstimator
from pll.methods.persistence import load_model
from pll.runs import fit_loop, run_data
from pll.runs.config import RunConfig
from pll.runs.folder import RunFolder
from pll.runs.history import History
from pll.synthesis import Flip
from pll.training import devices
from pll.training.distributed import RanksError
from pll.training.metrics import StopTraining
from pll.training.trainer import Trainer
from tests.run_helpers import BATCHES, config, result_of, wait_for, write_data

ROOT = Path(__file__).parents[2]
EPOCHS = 6


def made(path: Path, what: RunConfig) -> RunFolder:
    folder = RunFolder(path)
    folder.create(what)
    return folder


def stop_at(*calls: int) -> Callable[[], None]:
    """A hook that stops before these mini-batches, counted from 0 over the process."""
    count = iter(range(10**9))

    def hook() -> None:
        if next(count) in calls:
            raise StopTraining

    return hook


# ---- a run that is disturbed ends like one that is not ---------------------------------------------------------------


@pytest.fixture(scope="module")
def undisturbed(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], dict[str, Any]]:
    known: dict[str, dict[str, Any]] = {}

    def result(model: str) -> dict[str, Any]:
        if model not in known:
            folder = made(tmp_path_factory.mktemp("undisturbed") / model, config(data, params={"model": model}))
            assert fit_loop.FitLoop(folder).train()["state"] == "finished"
            known[model] = result_of(folder)
        return known[model]

    return result


WHERE = {
    "before the first batch": 0,
    "in the first epoch": 2,
    "after an epoch": 2 * BATCHES,
    "within an epoch": 2 * BATCHES + 3,
    "before the last batch": EPOCHS * BATCHES - 1,
}


@pytest.mark.parametrize(("model", "places"), [("mlp", WHERE), ("linear", ["within an epoch"])])
def test_stopped_and_resumed_to_the_same_bits(
    model: str, places: Iterable[str], data: Path, tmp_path: Path, undisturbed: Callable[[str], dict[str, Any]]
) -> None:
    folder, done = made(tmp_path / "run", config(data, params={"model": model})), 0
    for batches in (WHERE[place] for place in places):
        outcome = fit_loop.FitLoop(folder, hook=stop_at(batches - done)).train()
        assert outcome["state"] == folder.state()["state"] == "stopped"
        epochs = batches // BATCHES
        assert outcome.get("metrics", {"epoch": 0})["epoch"] == epochs
        assert (folder.path / "labels.csv").exists() == (epochs > 0)  # before the first there is nothing to take home
        done = batches
    assert fit_loop.FitLoop(folder).train()["state"] == "finished"
    assert result_of(folder) == undisturbed(model)


@pytest.mark.parametrize("method", ["proden-itera", "proden-sudden", "pn-oracle"])
def test_every_setting_survives_a_stop(method: str, data: Path, tmp_path: Path) -> None:
    params: dict[str, Any] = {"optimiser": "adam", "lr_decay": 0.5, "lr_decay_every": 2, "loss": "mse"}
    params |= {"batch_size": 19}  # 96 = 5 × 19 + 1: the last batch of one joins the one before
    if method == "proden-itera":
        params |= {"update_every": 2}
    results = []
    for name, hook in (("straight", None), ("stopped", stop_at(16))):
        folder = made(tmp_path / name, config(data, method=method, params=params))
        if hook is not None:
            assert fit_loop.FitLoop(folder, hook=hook).train()["state"] == "stopped"
        fit_loop.FitLoop(folder).train()
        results.append(result_of(folder))
    assert results[0] == results[1]


def test_a_stopped_search_for_settings_begins_again(data: Path, tmp_path: Path) -> None:
    results = []
    for name in ("straight", "stopped"):
        folder = made(tmp_path / name, config(data, params={"recipe": "auto", "epochs": 4}))
        if name == "stopped":
            assert fit_loop.FitLoop(folder, hook=stop_at(200)).train()["state"] == "stopped"
            assert folder.recipe() is None  # what was found so far is not what would be found
        assert fit_loop.FitLoop(folder).train()["state"] == "finished"
        results.append(result_of(folder))
    assert results[0] == results[1]


@pytest.mark.slow
def test_killed_with_9_and_resumed_from_the_shell_to_the_same_bits(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = [
        *("fit", str(data), "--flip", "binomial", "--q", "0.4", "--holdout", "0.2", "--model", "mlp"),
        *("--recipe", "default", "--epochs", "30", "--batch-size", "16", "--threads", "1", "--out"),
    ]
    assert main([*arguments, str(tmp_path / "straight")]) == 0
    killed = RunFolder(tmp_path / "killed")
    # A checkpoint after every batch: those of the default are seconds apart.
    driver = (
        "import sys, pll.runs.fit_loop as f, pll.cli.main as m; f.CHECKPOINT_EVERY = 0; "
        "f.CHECKPOINT_SHARE = float('inf'); sys.exit(m.main(sys.argv[1:]))"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", driver, *arguments, str(killed.path)], cwd=ROOT, stderr=subprocess.DEVNULL
    )
    try:
        wait_for(lambda: len(killed.metrics()) >= 5 or process.poll() is not None, "five epochs", 120)
        assert killed.state()["state"] == "running"
    finally:
        process.kill()
        assert process.wait() == -signal.SIGKILL
    assert killed.state()["state"] == "interrupted"
    assert not killed.is_locked()
    assert 5 <= len(killed.metrics()) < 30
    assert main([*arguments, str(killed.path), "--resume"]) == 0
    assert result_of(killed) == result_of(RunFolder(tmp_path / "straight"))
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert lines[0] == lines[1]


@pytest.mark.parametrize("model", ["linear", "mlp"])
def test_dying_after_any_batch_costs_nothing(
    model: str,
    data: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    undisturbed: Callable[[str], dict[str, Any]],
) -> None:
    """A death is what no `except` sees: the folder as it is after a checkpoint, with rows half-written behind it."""
    monkeypatch.setattr(fit_loop, "CHECKPOINT_EVERY", 0)
    monkeypatch.setattr(fit_loop, "CHECKPOINT_SHARE", float("inf"))
    folder = made(tmp_path / "run", config(data, params={"model": model}))

    def die(at: int) -> Callable[[], None]:
        count = iter(range(10**9))

        def hook() -> None:
            if next(count) == at:
                raise KeyboardInterrupt

        return hook

    for at in (3, 4, 13):  # batches of each life
        with pytest.raises(KeyboardInterrupt):
            fit_loop.FitLoop(folder, hook=die(at)).train()
        assert folder.state()["state"] == "interrupted"
        with (folder.path / "metrics.csv").open("a") as file:
            file.write("17,0.25,0.9")
        (folder.history / "frames" / ".part-1-1-000009.npy").write_bytes(b"half")
    assert fit_loop.FitLoop(folder).train()["state"] == "finished"
    assert result_of(folder) == undisturbed(model)


def test_dying_between_the_last_epoch_and_the_result(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, undisturbed: Callable[[str], dict[str, Any]]
) -> None:
    folder = made(tmp_path / "run", config(data))
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(fit_loop, "CHECKPOINT_EVERY", 0)
        patch.setattr(fit_loop, "CHECKPOINT_SHARE", float("inf"))
        fit_loop.FitLoop(folder).train(lambda record: _interrupt_at(record.epoch, EPOCHS))
    checkpoint = folder.checkpoint()
    assert checkpoint is not None and checkpoint["epoch"] == EPOCHS
    outcome = fit_loop.FitLoop(folder).train()
    assert outcome["state"] == "finished"
    assert result_of(folder) == undisturbed("linear")


def _interrupt_at(epoch: int, when: int) -> None:
    if epoch == when:
        raise KeyboardInterrupt


# ---- what it leaves behind -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("stop", [None, 15], ids=["finished", "stopped"])
def test_everything_it_leaves_behind_agrees(stop: int | None, data: Path, tmp_path: Path) -> None:
    folder = made(tmp_path / "run", config(data, params={"model": "mlp"}))
    outcome = fit_loop.FitLoop(folder, hook=None if stop is None else stop_at(stop)).train()
    splits = run_data.load_splits(folder.config())
    sets, y = splits.train.sets(), splits.train.y
    assert y is not None and splits.test is not None

    history = History(folder.history, sets)
    last = history.epochs()[-1]
    assert last == outcome["metrics"]["epoch"]
    weights = history.weights(last)

    labels = pd.read_csv(folder.path / "labels.csv", dtype=str, keep_default_na=False)
    assert labels["id"].tolist() == [str(k) for k in range(len(labels))]  # every row of the file, in its order
    predicted_rows = labels[labels["source"] == "predicted"].set_index("id").loc[splits.test.row_ids]
    labels = labels[labels["source"] == "model"]
    assert labels["id"].tolist() == splits.train.row_ids.tolist()
    assert labels["candidates"].tolist() == ["|".join(sets.names(i)) for i in range(len(sets))]
    own = [weights[sets.indptr[i] : sets.indptr[i + 1]] for i in range(len(sets))]
    held_out = folder.held_out(sets)
    assert (held_out is None) == (stop is not None)  # a run that a person stops does not find out how sure it is
    both = weights if held_out is None else weights + held_out
    places = [int(both[sets.indptr[i] : sets.indptr[i + 1]].argmax()) for i in range(len(sets))]
    assert labels["identified_label"].tolist() == [sets.names(i)[place] for i, place in enumerate(places)]
    if held_out is None:
        assert set(labels["confidence"]) == {""}
    else:
        assert labels["confidence"].astype(float).tolist() == held_out[sets.indptr[:-1] + places].tolist()
        assert outcome["metrics"]["expected_accuracy"] == pytest.approx(labels["confidence"].astype(float).mean())
    accuracy = (labels["identified_label"] == labels["true_label"]).mean()

    assert outcome["metrics"] == folder.state()["metrics"]
    assert outcome["metrics"]["label_accuracy"] == accuracy
    assert outcome["metrics"]["mean_confidence"] == pytest.approx(np.mean([float(w.max()) for w in own]), abs=1e-6)
    model = load_model(folder.path)
    predicted = model.predict(splits.test.X)
    assert predicted_rows["identified_label"].tolist() == [sets.class_names[j] for j in predicted]
    assert set(predicted_rows["candidates"]) == {""}  # sets are made for the training part alone
    assert outcome["metrics"]["test_accuracy"] == (predicted == splits.test.y).mean()

    # The weights are the model's scores restricted to the candidates.
    scores = model.predict_proba(splits.train.X)[sets.rows, sets.indices].astype(np.float64)
    total = np.bincount(sets.rows, weights=scores)
    np.testing.assert_allclose(weights, scores / total[sets.rows], atol=1e-6)

    ((_, of_one),) = history.frames([last], np.array([3]))
    np.testing.assert_array_equal(of_one, own[3])
    if stop is None:
        final_row = folder.metrics()[-1]
        for name in ("epoch", "mean_confidence", "mean_entropy", "transductive_accuracy", "test_accuracy"):
            assert final_row[name] == outcome["metrics"][name], name


# ---- what goes wrong -------------------------------------------------------------------------------------------------


def failure(folder: RunFolder) -> str:
    with pytest.raises(UserError) as caught:
        fit_loop.FitLoop(folder).train()
    state = folder.state()
    assert state["state"] == "failed"
    assert state["error"] == str(caught.value)
    assert "Traceback" in (folder.path / "log.txt").read_text(encoding="utf-8")
    return str(caught.value)


@pytest.mark.parametrize(
    ("method", "params", "images"),
    [
        ("proden", {}, False),
        ("proden", {}, True),
        ("proden-sudden", {"optimiser": "adam"}, False),
        ("proden", {"recipe": "auto"}, False),
        ("plknn", {}, False),
    ],
)
def test_what_is_recorded_trains_to_the_same_labels(
    method: str, params: dict[str, Any], images: bool, tmp_path: Path
) -> None:
    """Learning rate, batch size and scaling follow from the data: the record is of what they became."""
    source = write_data(tmp_path / "data.npz", n=60, images=images)
    settings = params if method == "plknn" else {"epochs": 4, "threads": 1, **params}
    folder = made(
        tmp_path / "run",
        RunConfig(Source(source.name, str(source)), method=method, flip=Flip("binomial", 0.6), params=settings),
    )
    loop = fit_loop.FitLoop(folder)
    loop.train()
    recorded = folder.about()["parameters"]
    assert recorded == json.loads((folder.path / "model.json").read_text())["params"]
    assert "proden" not in method or {"lr", "batch_size"} < {
        name for name, value in recorded.items() if value is not None
    }
    task = loop.splits.task()
    again = METHODS[method](**recorded).fit(task.X, task.candidates)
    assert again.label_weights_.tobytes() == History(folder.history, task.candidates).final().tobytes()
    assert export_source(folder).config["parameters"] == recorded


def test_an_interrupted_run_has_recorded_what_it_trains_with(data: Path, tmp_path: Path) -> None:
    folder = made(tmp_path / "run", config(data, params={"batch_size": None}))
    loop = fit_loop.FitLoop(folder)
    loop.advance()
    loop.close()
    assert folder.about()["parameters"]["batch_size"] == 32


def test_after_a_lost_rank_the_run_is_interrupted(data: Path, tmp_path: Path) -> None:
    def lost(_: object) -> Any:
        raise RanksError("Another process has ended.")

    folder = made(tmp_path / "run", config(data))
    with pytest.raises(RanksError):
        fit_loop.FitLoop(folder, load=lost).train()
    assert json.loads((folder.path / "state.json").read_text("utf-8"))["state"] == "interrupted"


def test_other_data_than_it_was_started_with_is_refused(data: Path, tmp_path: Path) -> None:
    folder = made(tmp_path / "run", config(data))
    fit_loop.FitLoop(folder, hook=stop_at(7)).train()
    write_data(folder.path / "source" / data.name, n=60)
    assert "has changed since" in failure(folder)


@pytest.mark.parametrize("damage", [lambda content: content[: len(content) // 2], lambda content: b"", lambda _: b"x"])
def test_a_damaged_checkpoint_says_what_to_do(damage: Callable[[bytes], bytes], data: Path, tmp_path: Path) -> None:
    folder = made(tmp_path / "run", config(data))
    fit_loop.FitLoop(folder, hook=stop_at(7)).train()
    file = folder.path / "checkpoint" / "checkpoint.pt"
    file.write_bytes(damage(file.read_bytes()))
    said = failure(folder)
    assert str(file) in said
    assert "delete it" in said
    assert "\n" not in said
    file.unlink()
    assert fit_loop.FitLoop(folder).train()["state"] == "finished"  # what was said helps


def test_a_checkpoint_is_never_unpickled(data: Path, tmp_path: Path) -> None:
    folder = made(tmp_path / "run", config(data))
    fit_loop.FitLoop(folder, hook=stop_at(7)).train()
    torch.save({"epoch": 1, "trainer": _Evil(tmp_path / "owned")}, folder.path / "checkpoint" / "checkpoint.pt")
    assert "delete it" in failure(folder)
    assert not (tmp_path / "owned").exists()


class _Evil:
    def __init__(self, file: Path) -> None:
        self.file = file

    def __reduce__(self) -> tuple[Any, ...]:
        return (os.mkdir, (str(self.file),))


def test_bugs_of_ours_are_said_in_one_line_and_told_in_the_log(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(self: Trainer, units: object) -> None:
        raise ZeroDivisionError("seven")

    monkeypatch.setattr(Trainer, "step", broken)
    folder = made(tmp_path / "run", config(data))
    said = failure(folder)
    assert "ZeroDivisionError: seven" in said
    assert "log.txt" in said
    assert "broken" in (folder.path / "log.txt").read_text(encoding="utf-8")  # where it happened


def test_a_full_disk_does_not_hide_itself(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = made(tmp_path / "run", config(data))

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    for name in ("append_metrics", "set_state", "log"):
        monkeypatch.setattr(RunFolder, name, full)
    with pytest.raises(UserError, match="disk is full"):
        fit_loop.FitLoop(folder).train()


# ---- the memory of a device, and a device that fails -----------------------------------------------------------------


@pytest.fixture
def training_tensors(monkeypatch: pytest.MonkeyPatch) -> list[weakref.ref[Any]]:
    """Weak references to what training keeps on its device: trainer, features, label weights, optimiser."""
    references: list[weakref.ref[Any]] = []
    make = DeepEstimator._new_trainer

    def new_trainer(self: DeepEstimator, *args: Any) -> Trainer:
        trainer = make(self, *args)
        parts = (trainer, trainer.X, trainer.label_weights, trainer.optimiser)
        references.extend(weakref.ref(part) for part in parts)
        return trainer

    monkeypatch.setattr(DeepEstimator, "_new_trainer", new_trainer)
    return references


@pytest.mark.parametrize("method", ["proden", "d2cnn", "cr-dpll"])
@pytest.mark.parametrize("end", ["finished", "stopped", "failed"])
def test_however_a_run_ends_the_memory_of_its_training_is_free(
    data: Path,
    tmp_path: Path,
    method: str,
    end: str,
    training_tensors: list[weakref.ref[Any]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail() -> None:
        raise RuntimeError("broken")

    folder = made(tmp_path / "run", config(data, method=method, params={"epochs": 2}))
    hooks = {"finished": None, "stopped": stop_at(BATCHES + 2), "failed": fail}
    monkeypatch.setattr(fit_loop.FitLoop, "_health", lambda *args, **options: Health("unchecked"))
    loop = fit_loop.FitLoop(folder, hook=hooks[end])
    gc.disable()  # what is only freed when the collector comes may be too late for the next run
    try:
        while not loop.is_over:
            loop.advance()
        loop.close()
        assert training_tensors and [reference() for reference in training_tensors] == [None] * len(training_tensors)
    finally:
        gc.enable()
    assert folder.state()["state"] == end


def test_after_a_gpu_was_poisoned_the_run_says_so_and_the_next_one_uses_the_cpu(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> None:
        raise torch.AcceleratorError("CUDA error: an illegal memory access was encountered")

    monkeypatch.setattr(devices, "_lost", set())
    monkeypatch.setattr(torch.accelerator, "current_accelerator", lambda check_available: torch.device("cuda"))
    monkeypatch.setattr(torch.accelerator, "device_count", lambda: 1)

    folder = made(tmp_path / "run", config(data, params={"device": "cpu"}))  # in truth
    loop = fit_loop.FitLoop(folder, hook=fail)
    assert devices.device_names("auto") == ("cuda:0",)
    with pytest.raises(UserError):
        loop.train()
    assert folder.state()["state"] == "failed" and "restart the server" in folder.state()["error"]
    assert devices.device_names("auto") == ("cpu",)

"""A run goes on with the numbers that it began with: other threads or machines compute other last digits."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pll.catalog.sources import Source
from pll.features.texts import TextFeatures
from pll.runs import run_data
from pll.runs.config import RunConfig
from pll.runs.fit_loop import FitLoop
from pll.runs.folder import RunFolder
from pll.synthesis import Flip
from pll.training.metrics import StopTraining
from tests.run_helpers import config, result_of, wait_for, write_data

ROOT = Path(__file__).parents[2]
WORDS = [f"word{k}" for k in range(60)]


def write_texts(path: Path, n: int, length: int = 8) -> Path:
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(WORDS, length)) for _ in range(n)]
    sets = [rng.choice(["cat", "dog", "fox"], 2, replace=False).tolist() for _ in range(n)]
    lines = [f"{text},{'|'.join(names)},{names[0]}\n" for text, names in zip(texts, sets, strict=True)]
    path.write_text("".join(["text,candidates,true_label\n", *lines]))
    return path


def texts_config(path: Path, **options: Any) -> RunConfig:
    params = {"model": "linear", "epochs": 5, "batch_size": 16, "threads": 1}
    return RunConfig(Source(path.name, str(path)), params=params, features="tfidf:20", **options)


def begun(place: Path, what: RunConfig, batches: int = 7) -> RunFolder:
    """A run that was stopped after so many mini-batches."""
    folder, calls = RunFolder(place), iter(range(10**9))
    folder.create(what)

    def stop() -> None:
        if next(calls) == batches:
            raise StopTraining

    assert FitLoop(folder, hook=stop).train()["state"] == "stopped"
    return folder


def undisturbed(place: Path, what: RunConfig) -> dict[str, Any]:
    folder = RunFolder(place)
    folder.create(what)
    FitLoop(folder).train()
    return result_of(folder)


def compute_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    """Change the last digit of every feature of texts."""
    transform = TextFeatures.transform

    def other(self: TextFeatures, *args: Any) -> Any:
        return np.nextafter(transform(self, *args), np.float32(1))

    monkeypatch.setattr(TextFeatures, "transform", other)


@pytest.mark.parametrize("options", [{}, {"holdout": 0.2}])
def test_features_with_other_last_digits_change_no_bit(
    options: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    what = texts_config(write_texts(tmp_path / "texts.csv", 60), **options)
    expected = undisturbed(tmp_path / "undisturbed", what)
    folder = begun(tmp_path / "run", what)
    compute_otherwise(monkeypatch)
    assert FitLoop(folder).train()["state"] == "finished"
    assert result_of(folder) == expected


def test_features_too_large_to_store_refuse_no_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_data, "COPY_UP_TO", 0)
    folder = begun(tmp_path / "run", texts_config(write_texts(tmp_path / "texts.csv", 60)))
    compute_otherwise(monkeypatch)
    assert FitLoop(folder).train()["state"] == "finished"


def test_a_run_goes_on_from_another_home(tmp_path: Path) -> None:
    source = write_texts(tmp_path / "texts.csv", 60)
    expected = undisturbed(tmp_path / "undisturbed", texts_config(source))
    begun(tmp_path / "home" / "run", texts_config(source))
    shutil.move(tmp_path / "home", tmp_path / "elsewhere")
    source.unlink()
    folder = RunFolder(tmp_path / "elsewhere" / "run")
    assert FitLoop(folder).train()["state"] == "finished"
    assert result_of(folder) == expected


def test_sets_that_a_classifier_made_are_not_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    what = config(write_data(tmp_path / "data.npz", n=60), flip=Flip("instance", 0.3))
    expected = undisturbed(tmp_path / "undisturbed", what)
    folder = begun(tmp_path / "run", what)

    def refuse(*args: Any, **more: Any) -> Any:
        raise AssertionError("made again")

    monkeypatch.setattr("pll.runs.data.flip", refuse)
    FitLoop(folder).train()
    assert result_of(folder) == expected


def test_other_files_or_options_are_other_data(tmp_path: Path) -> None:
    source = write_texts(tmp_path / "texts.csv", 60)

    def identity(**options: Any) -> str:
        return run_data.load_splits(texts_config(source, **options)).identity

    first = identity()
    assert identity() == first
    assert len({first, identity(holdout=0.2), identity(holdout=0.2, seed=1), identity(holdout=0.3)}) == 4
    source.write_text(source.read_text().replace("word1 ", "word2 ", 1))
    assert identity() != first


@pytest.mark.slow
def test_killed_and_resumed_with_other_threads(tmp_path: Path) -> None:
    source = write_texts(tmp_path / "texts.csv", 3000, length=12)
    command = [sys.executable, "-m", "pll", "fit", str(source), "--features", "tfidf:50", "--recipe", "default"]
    command += ["--epochs", "400", "--threads", "1", "--out"]

    def begin(threads: int, out: str, *more: str) -> subprocess.Popen[bytes]:
        env = os.environ | {"OPENBLAS_NUM_THREADS": str(threads), "OMP_NUM_THREADS": str(threads)}
        quiet = subprocess.DEVNULL
        return subprocess.Popen([*command, str(tmp_path / out), *more], cwd=ROOT, env=env, stdout=quiet, stderr=quiet)

    assert begin(1, "undisturbed").wait(300) == 0
    killed, folder = begin(1, "run"), RunFolder(tmp_path / "run")
    wait_for(lambda: (folder.path / "metrics.csv").exists() and len(folder.metrics()) > 20, "20 epochs", 120)
    time.sleep(0.2)
    os.kill(killed.pid, signal.SIGKILL)
    killed.wait()
    assert begin(2, "run", "--resume").wait(300) == 0
    assert result_of(folder) == result_of(RunFolder(tmp_path / "undisturbed"))

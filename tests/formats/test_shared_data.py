"""Every dataset beside the checkout goes through the shell, with the counts of its README."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pll import formats
from pll.annotations.data import Annotations
from pll.cli.main import main
from pll.dataset import PartialLabelDataset

BY_NAME: dict[str, tuple[tuple[int, ...], int, float | None]] = {
    "lost": ((1122, 108), 16, 2.23),
    "birdsong": ((4998, 38), 13, 2.18),
    "yeast": ((1484, 8), 10, None),
    "dermatology": ((366, 34), 6, None),
    "synthetic-control": ((600, 60), 6, None),
    "cifar10-subset": ((20_000, 3, 32, 32), 10, None),
    "mnist": ((70_000, 1, 28, 28), 10, None),
}
"""Features, classes and mean candidates (None: true labels alone), by the name in the catalogue."""

LARGE = {"cifar10-subset": 10_000, "mnist": 60_000}
"""Images: writing them takes long, so these are learnt from, which tells as much; how many are in the training part."""

BY_FILE = {"lost.mat": "lost", "BirdSong.mat": "birdsong", "dermatology.data": "dermatology"}
"""Files that bring their own labels, and whose counts they have."""


@pytest.fixture
def shared(shared_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PLL_DATA_PATH", str(shared_data))
    monkeypatch.setenv("PLL_DATA", str(tmp_path / "cache"))
    return shared_data


def converted(source: str, folder: Path, capsys: pytest.CaptureFixture[str], *more: str) -> PartialLabelDataset:
    """What the shell made of it, read again; the number it printed is that of the examples."""
    out = folder / "out.npz"
    assert main(["convert", source, "--to", "npz", "--out", str(out), *more]) == 0
    data = formats.read(out)
    assert capsys.readouterr().out.splitlines()[:-1] == [str(out), f"{len(data):,} examples"]
    return data


def check(data: PartialLabelDataset, shape: tuple[int, ...], classes: int, candidates: float | None) -> None:
    assert data.X.shape == shape and data.n_classes == classes
    assert data.y is not None and data.y.min() >= 0
    if candidates is None:
        assert data.candidates is None
    else:
        assert round(float(data.sets().sizes.mean()), 2) == candidates


@pytest.mark.parametrize("name", [name for name in BY_NAME if name not in LARGE])
def test_every_dataset_by_its_name(shared: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    data = converted(name, tmp_path, capsys)
    check(data, *BY_NAME[name])
    assert (data.is_test, np.isnan(data.X).sum()) == (None, 8 * (name == "dermatology"))
    assert data.candidates is None or len(data.truth_outside()) == 0


@pytest.mark.parametrize("file", list(BY_FILE))
def test_the_files_that_bring_their_labels(
    shared: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], file: str
) -> None:
    truth = ("--column", "Classification=true_label") if file == "dermatology.data" else ()
    check(converted(str(shared / file), tmp_path, capsys, *truth), *BY_NAME[BY_FILE[file]])


def fitted(source: Path | str, folder: Path, *more: str) -> list[dict[str, str]]:
    """The rows of labels.csv that a short run has learnt from."""
    options = ("--epochs", "1", "--threads", "1", "--out", str(folder), *more)
    assert main(["fit", str(source), *options]) == 0
    with (folder / "labels.csv").open(encoding="utf-8", newline="") as file:
        return [row for row in csv.DictReader(file) if row["source"] == "model"]


def tiles(sheet: Path) -> Any:
    """(10000, 3) mean colours: enough to learn from in a test."""
    from PIL import Image

    with Image.open(sheet) as picture:
        pixels = np.asarray(picture.convert("RGB"))
    return pixels.reshape(100, 32, 100, 32, 3).mean(axis=(1, 3)).reshape(-1, 3)


@pytest.mark.slow
def test_votes_become_sets_by_at_least_two(shared: Path, tmp_path: Path) -> None:
    with np.load(shared / "cifar10" / "human_labels.npz") as votes, np.load(shared / "cifar10" / "labels.npz") as names:
        counts, y, classes = votes["cifar10h_counts"], names["test"].astype(np.int64), tuple(names["names"].tolist())
    annotations = Annotations.from_counts(counts, class_names=classes)
    X = tiles(shared / "cifar10" / "test_batch.webp").astype(np.float32)
    formats.write(PartialLabelDataset(X, y=y, class_names=classes, annotations=annotations), tmp_path / "votes.npz")
    rows = fitted(tmp_path / "votes.npz", tmp_path / "run", "--rule", "votes:2")
    sets = [row["candidates"].split("|") for row in rows]
    assert len(rows) == 10_000 and sets == [[classes[k] for k in np.flatnonzero(row >= 2)] for row in counts]
    assert round(sum(map(len, sets)) / len(sets), 2) == 1.35
    inside = sum(row["true_label"] in names for row, names in zip(rows, sets, strict=True))
    assert inside / len(rows) == 0.9996

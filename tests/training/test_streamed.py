"""Features in a memory-mapped file give what features in memory give, to the last bit."""

from __future__ import annotations

import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from pll import candidates, io, weights
from pll.candidates import CandidateSets
from pll.dataset import PartialLabelDataset
from pll.errors import UserError
from pll.methods import METHODS
from pll.methods.base import Task
from pll.runs.history import History, HistoryWriter
from pll.synthesis import flip_binomial
from pll.training import layouts, streamed
from pll.training.metrics import EpochRecord
from pll.training.scaling import fit_scaling
from pll.training.streamed import BATCHES_AHEAD, StreamedFeatures, read_ahead
from pll.weights import checked_prior

N, D, C = 61, 5, 4
Y = np.arange(N) % C
X = (np.random.default_rng(0).normal(size=(N, D)) + 2 * np.eye(C, D)[Y]).astype(np.float32)
SETS = flip_binomial(Y, C, 0.4, seed=0)


def mapped(folder: Path, array: np.ndarray[Any, Any] = X) -> Any:
    np.save(folder / "X.npy", array)
    return np.load(folder / "X.npy", mmap_mode="r")


@pytest.mark.parametrize(
    ("method", "settings"),
    [
        ("proden", {}),
        ("proden", {"model": "mlp", "batch_size": 6}),  # the last batch of one joins the one before
        ("proden", {"scale": "unit"}),
        ("proden", {"scale": "quantile"}),
        ("proden-itera", {"update_every": 1}),
        ("pn-decomp", {}),
        ("cr-dpll", {}),
        ("plknn", {}),
    ],
)
def test_every_method_learns_the_same(tmp_path: Path, method: str, settings: dict[str, Any]) -> None:
    fast = {} if method == "plknn" else {"epochs": 2, "batch_size": 7}
    one, other = (METHODS[method](**fast | settings).fit(array, SETS) for array in (X, mapped(tmp_path)))
    np.testing.assert_array_equal(one.label_weights_, other.label_weights_)
    np.testing.assert_array_equal(one.predict_scores(X), other.predict_scores(mapped(tmp_path)))


def test_batches_are_read_ahead_and_any_others_too(tmp_path: Path) -> None:
    scaling = fit_scaling(X)
    features = StreamedFeatures(mapped(tmp_path), scaling, torch.device("cpu"))
    expected = scaling(torch.from_numpy(X))
    assert features.shape == expected.shape and len(features) == N
    batches = list(torch.split(torch.randperm(N), 4))
    count = 0
    for rows in read_ahead(features, ((rows, rows) for rows in batches)):
        assert rows is batches[count]
        assert torch.equal(features.index_select(0, torch.tensor([3, 3])), expected[[3, 3]])  # not announced
        if count % 2:  # the others are never asked for
            assert torch.equal(features.index_select(0, rows), expected[rows])
        count += 1
    assert count == len(batches) > BATCHES_AHEAD
    assert torch.equal(features[5:9], expected[5:9])


def test_the_reader_alone_enters_the_stream_that_copies_to_a_gpu(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Torch keeps in the stream what was current before, so that two threads in it would get each other's."""
    entered: list[str] = []
    waited: list[str] = []

    class Stream:
        def __init__(self, device: torch.device) -> None:
            self._is_entered = False

        def __enter__(self) -> None:
            assert not self._is_entered
            self._is_entered = True
            entered.append(threading.current_thread().name)

        def __exit__(self, *_: object) -> None:
            self._is_entered = False

        def record_event(self) -> str:
            return "copied"

    current, empty = SimpleNamespace(wait_event=waited.append), torch.empty
    monkeypatch.setattr(streamed, "copies_by_itself", lambda device: True)
    monkeypatch.setattr(torch, "Stream", Stream)
    monkeypatch.setattr(torch, "empty", lambda shape, pin_memory: empty(shape))
    monkeypatch.setattr(torch.accelerator, "current_stream", lambda device: current)
    monkeypatch.setattr(torch.Tensor, "record_stream", lambda tensor, stream: None)
    scaling = fit_scaling(X, "unit")  # computed by torch
    features = StreamedFeatures(mapped(tmp_path), scaling, torch.device("cpu"))
    expected = scaling(torch.from_numpy(X))
    batches = list(torch.split(torch.randperm(N), 7))
    for rows in read_ahead(features, ((rows, rows) for rows in batches)):
        for _ in range(2):  # as two views of a mini-batch are read: the second is not announced
            assert torch.equal(features.index_select(0, rows), expected[rows])
    assert len(entered) == len(waited) == len(batches)
    assert all(name.startswith("features") for name in entered)


def test_a_dataset_stays_in_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(io, "IN_MEMORY_UP_TO", 100)
    monkeypatch.setattr(io, "PIECE", 64)
    data = PartialLabelDataset(mapped(tmp_path), SETS, Y)
    rows = np.arange(N)[::-2]
    part = data.take(rows)
    assert io.is_mapped(data.X) and io.is_mapped(part.X)
    np.testing.assert_array_equal(part.X, X[rows])
    assert part.row_ids.tolist() == rows.astype(str).tolist()
    assert data.fingerprint == PartialLabelDataset(X, SETS, Y).fingerprint
    assert not io.is_mapped(data.take(rows[:2]).X)


def test_a_value_that_is_not_finite_is_named_by_its_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(io, "PIECE", 64)
    broken = X.copy()
    broken[40, 2] = np.inf
    with pytest.raises(UserError, match="Row 40, feature 2 is inf"):
        PartialLabelDataset(mapped(tmp_path, broken))


def test_many_examples_on_disk_and_in_parts_give_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Arrays that are kept on disk above a size, and work in parts, change nothing."""
    monkeypatch.setattr(layouts, "DENSE_ENTRIES", 0)  # rows padded by batch
    settings: dict[str, Any] = {"epochs": 3, "batch_size": 7}
    prior = np.random.default_rng(1).random(SETS.nnz) + 0.1

    def fitted() -> tuple[list[EpochRecord], History]:
        folder = tmp_path / str(len(list(tmp_path.iterdir())))
        sets = CandidateSets(SETS.indptr, SETS.indices, C)
        estimator = METHODS["proden"](**settings)
        writer = HistoryWriter(folder, sets)
        records = list(estimator.iter_fit(Task(X, sets, Y, X[:9], Y[:9], checked_prior(prior, sets))))
        for record in records:
            writer.append(record)
        return records, History(folder, sets)

    original, before = fitted()
    for module, name, value in (
        *((module, "SETS_AT_ONCE", 8) for module in (candidates, weights)),
        *((module, "IN_MEMORY_UP_TO", 16) for module in (io, layouts)),
    ):
        monkeypatch.setattr(module, name, value)
    records, after = fitted()
    for one, other in zip(original, records, strict=True):
        timing = dict.fromkeys(("seconds", "examples_per_second"), 0)
        assert one.metrics() | timing == other.metrics() | timing
        np.testing.assert_array_equal(one.label_weights, other.label_weights)
        for part in ("identified", "top", "margin", "entropy"):
            np.testing.assert_array_equal(getattr(one.sharpness, part), getattr(other.sharpness, part))
    for epoch in before.epochs():
        np.testing.assert_array_equal(before.weights(epoch), after.weights(epoch))
    assert SETS.contains(Y).tolist() == (SETS.mask()[np.arange(N), Y]).tolist()
    assert SETS[5:30] == SETS.take(np.arange(5, 30)) and len(SETS[9:3]) == 0

"""What a run leaves for the review: read from its folder, made once, kept."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pll.candidates import CandidateSets
from pll.dataset import PartialLabelDataset
from pll.io import write_atomically
from pll.review.decided import Decided
from pll.review.logit import features_now
from pll.review.queue import review_order
from pll.review.signals import ReviewSignals, prepare_signals
from pll.runs import fit_loop, run_data
from pll.runs.folder import RunFolder
from pll.runs.history import History
from tests.review_helpers import labels_of
from tests.run_helpers import config, write_data


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[RunFolder, PartialLabelDataset]:
    home = tmp_path_factory.mktemp("runs")
    folder = RunFolder(home / "run")
    folder.create(config(write_data(home / "data.npz")))
    fit_loop.FitLoop(folder).train()
    return folder, run_data.load_splits(folder.config()).train


def refuse(*_: object, **__: object) -> None:
    raise AssertionError("made twice")


def test_what_a_run_leaves(finished: tuple[RunFolder, PartialLabelDataset]) -> None:
    folder, data = finished
    history = History(folder.history, data.sets())
    signals = ReviewSignals.of_run(folder, data)
    np.testing.assert_array_equal(signals.labels.weights, history.weights(6))
    assert signals.votes is None


def test_slow_parts_are_made_once_and_kept(
    finished: tuple[RunFolder, PartialLabelDataset], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, data = finished
    made = prepare_signals(folder, data)
    assert made.neighbours is not None and made.neighbours.shape == (len(data), 10)

    monkeypatch.setattr("pll.review.signals.find_neighbours", refuse)
    again = prepare_signals(folder, data)
    read = ReviewSignals.of_run(folder, data)
    for name in ("neighbours", "factor", "leaves"):
        np.testing.assert_array_equal(getattr(again, name), getattr(made, name))
        np.testing.assert_array_equal(getattr(read, name), getattr(made, name))
    assert sorted(review_order(read).tolist()) == list(range(len(data)))


def test_a_damaged_leaf_is_not_read_and_all_is_made_again(finished: tuple[RunFolder, PartialLabelDataset]) -> None:
    folder, data = finished
    made = np.array(prepare_signals(folder, data).leaves)  # read, since the file is mapped
    damaged = made.copy()
    damaged[0, 0] = 2**14  # sums over so many leaves would take all memory
    np.save(folder.path / "review" / "leaves.npy", damaged)
    assert ReviewSignals.of_run(folder, data).leaves is None
    np.testing.assert_array_equal(prepare_signals(folder, data).leaves, made)


def test_decisions_say_nothing_of_texts_without_a_known_word(
    finished: tuple[RunFolder, PartialLabelDataset], tmp_path: Path
) -> None:
    shutil.copytree(finished[0].path, tmp_path / "run", ignore=shutil.ignore_patterns("review"))
    X, sets = finished[1].X.copy(), finished[1].sets()
    X[:20] = 0
    data = replace(finished[1], X=X, texts=np.full(len(X), "a text", dtype=object))
    prepare_signals(RunFolder(tmp_path / "run"), data)
    signals = ReviewSignals.of_run(RunFolder(tmp_path / "run"), data)
    assert signals.neighbours is not None
    assert (signals.neighbours[:20] == -1).all() and (signals.neighbours[20:] >= 20).all()
    before, after = (
        features_now(signals, Decided.of(sets, {row: int(sets.indices[sets.indptr[row]]) for row in range(n)}))
        for n in (0, 10)
    )
    for name in ("near", "others", "forest"):
        at = sets.positions(np.arange(20))
        np.testing.assert_allclose(after[name][at], np.log(1 / sets.sizes[sets.rows[at]] + 0.01), rtol=1e-5)
        np.testing.assert_allclose(after[name], before[name], atol=1e-5)


def test_neighbour_labels_are_the_likeliest_candidates_to_the_neighbours() -> None:
    sets = CandidateSets.from_lists([[0, 1]] * 4, n_classes=2, class_names=("a", "b"))
    weights = np.array([0.9, 0.1, 0.9, 0.1, 0.9, 0.1, 0.1, 0.9], dtype=np.float32)
    near = np.array([[1, 2], [0, 2], [0, 1], [0, 1]], dtype=np.int32)
    labels = labels_of(sets, weights)
    signals = ReviewSignals(labels, neighbours=near)
    assert signals.neighbour_labels is not None
    assert signals.neighbour_labels.tolist() == ["a"] * 4
    assert ReviewSignals(labels).neighbour_labels is None


def test_a_run_that_is_deleted_while_they_are_stored_stays_deleted(
    finished: tuple[RunFolder, PartialLabelDataset], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(finished[0].path, tmp_path / "run", ignore=shutil.ignore_patterns("review"))
    folder = RunFolder(tmp_path / "run")

    def deleted_first(path: Path, *given: Any, **more: Any) -> None:
        folder.path.rename(tmp_path / "bin")
        write_atomically(path, *given, **more)

    monkeypatch.setattr("pll.review.signals.write_atomically", deleted_first)
    with pytest.raises(OSError, match="No such file"):
        prepare_signals(folder, finished[1])
    assert not folder.path.exists()

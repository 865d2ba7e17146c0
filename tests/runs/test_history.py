from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pll.candidates import CandidateSets
from pll.runs import history as module
from pll.runs.history import MIN_FRAMES, History, HistoryWriter
from pll.synthesis import flip_binomial
from pll.training.metrics import EpochRecord, Monitor
from pll.weights import Weights, restricted_softmax

Y = np.random.default_rng(0).integers(0, 4, 30)
SETS = flip_binomial(Y, 4, 0.4, seed=0)


def weights_of(epoch: int, sets: CandidateSets = SETS) -> Weights:
    """What the label weights after an epoch are, in these tests: sharper and sharper, the same in every call."""
    scores = np.random.default_rng(epoch).normal(size=sets.nnz) * np.sqrt(epoch)
    return restricted_softmax(scores, sets)


def record_of(epoch: int, sets: CandidateSets = SETS) -> EpochRecord:
    return Monitor(sets, Y if sets is SETS else None).record(epoch, weights_of(epoch, sets))


def write(folder: Path, epochs: int, *, start: int = 1) -> HistoryWriter:
    writer = HistoryWriter(folder, SETS)
    for epoch in range(start, epochs + 1):
        writer.append(record_of(epoch))
    return writer


def contents(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


# ---- frames ----------------------------------------------------------------------------------------------------------


def test_it_begins_with_uniform_weights_and_gives_back_every_frame(tmp_path: Path) -> None:
    write(tmp_path, 5)
    history = History(tmp_path, SETS)
    assert history.epochs() == [0, 1, 2, 3, 4, 5]
    np.testing.assert_array_equal(history.weights(0), SETS.uniform_weights())
    for epoch in range(1, 6):
        np.testing.assert_array_equal(history.weights(epoch), weights_of(epoch))
    assert history.weights(3).dtype == np.float32


@given(most=st.integers(MIN_FRAMES, 20), epochs=st.integers(1, 90))
def test_thinned_frames_cover_the_run_evenly_within_the_budget(
    tmp_path_factory: pytest.TempPathFactory, most: int, epochs: int
) -> None:
    folder = tmp_path_factory.mktemp("history")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(module, "FRAME_BUDGET", 4 * SETS.nnz * most)
        writer = write(folder, epochs)
    kept = History(folder, SETS).epochs()
    assert kept[0] == 0
    distance = kept[1] - kept[0]
    assert kept == list(range(0, epochs + 1, distance))  # even, and to within one distance of the end
    assert len(kept) <= most
    assert distance & (distance - 1) == 0  # a power of two …
    assert distance == 1 or epochs // (distance // 2) + 1 > most  # … no larger than it must be
    writer.finish(epochs, weights_of(99))
    assert History(folder, SETS).epochs() == sorted({*kept, epochs})


def settle(folder: Path) -> None:
    """Make the history look as if nothing had been written to it for an hour."""
    for path in (folder / "frames", folder / "final.json"):
        if path.exists():
            os.utime(path, ns=(time.time_ns() - 3600 * 10**9,) * 2)


def test_what_is_written_after_a_look_is_seen_at_the_next(tmp_path: Path) -> None:
    writer = write(tmp_path, 5)
    settle(tmp_path)
    history = History(tmp_path, SETS)
    assert history.epochs() == [0, 1, 2, 3, 4, 5]
    now = time.time_ns()
    for epoch in (6, 7, 8):  # within one tick of the file system's clock: the time of the folder stays the same
        writer.append(record_of(epoch))
        os.utime(tmp_path / "frames", ns=(now, now))
        assert history.epochs()[-1] == epoch
    settle(tmp_path)
    assert history.weights(8).tolist() == weights_of(8).tolist()
    writer.finish(8, weights_of(99))
    assert history.weights(8).tolist() == weights_of(99).tolist()
    writer.rewind(3)
    assert history.nearest(8) == 3


# ---- one example -----------------------------------------------------------------------------------------------------


def story(history: History, row: int) -> dict[int, list[float]]:
    """An example's label weights in every stored epoch."""
    frames = history.frames(history.epochs(), np.array([row]))
    return {epoch: weights.tolist() for epoch, weights in frames}


def test_after_a_stop_every_story_ends_with_the_final_model(tmp_path: Path) -> None:
    write(tmp_path, 5).finish(5, weights_of(99))
    known = story(History(tmp_path, SETS), 3)
    own = slice(SETS.indptr[3], SETS.indptr[4])
    assert list(known) == [0, 1, 2, 3, 4, 5]
    assert known[5] == weights_of(99)[own].tolist()
    assert known[4] == weights_of(4)[own].tolist()


# ---- going back and going on -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("budget", [1, 2**20])
@pytest.mark.parametrize("back_to", [0, 7, 22])
def test_after_going_back_it_ends_as_if_nothing_had_happened(
    tmp_path: Path, back_to: int, budget: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "FRAME_BUDGET", budget)
    write(tmp_path / "straight", 30).finish(30, weights_of(30))
    write(tmp_path / "twice", 22).finish(22, weights_of(99))
    HistoryWriter(tmp_path / "twice", SETS).rewind(back_to)
    history = History(tmp_path / "twice", SETS)
    assert max(history.epochs()) <= back_to
    writer = write(tmp_path / "twice", 30, start=back_to + 1)
    writer.finish(30, weights_of(30))
    assert contents(tmp_path / "twice") == contents(tmp_path / "straight")


# ---- reading while somebody writes -----------------------------------------------------------------------------------


def check_reading(folder: Path) -> None:
    """What a reader may see at any moment: whole frames, nothing of another epoch."""
    history = History(folder, SETS)
    epochs = history.epochs()
    for epoch in epochs[-2:]:
        assert len(history.weights(epoch)) == SETS.nnz
    for epoch, seen in story(history, 3).items():
        if epoch:
            assert seen == weights_of(epoch)[SETS.indptr[3] : SETS.indptr[4]].tolist()


@pytest.mark.slow
def test_another_process_can_read_while_this_one_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "FRAME_BUDGET", 1)
    writer = HistoryWriter(tmp_path, SETS)
    script = (
        "import sys; from pathlib import Path; from tests.runs.test_history import check_reading\n"
        "print('ready', flush=True)\n"
        "for _ in range(15): check_reading(Path(sys.argv[1]))\n"
    )
    reader = subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path)],
        cwd=Path(__file__).parents[2],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert reader.stdout is not None
    assert reader.stdout.readline() == "ready\n"
    epoch = 0
    while reader.poll() is None and epoch < 5000:
        epoch += 1
        writer.append(record_of(epoch))
        time.sleep(0.001)
    _, complaints = reader.communicate(timeout=60)
    assert reader.returncode == 0, complaints

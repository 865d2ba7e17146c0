"""Seconds of single operations that pages wait for: `python -m benchmarks.operations`.

Each is repeated and its best time printed, since others may use the machine, beside what it is meant to stay below:
60,000 examples of 10 classes with binomial candidates (q = 0.7), 500 epochs, 20,000 examples of 3,000 classes.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from itertools import count
from pathlib import Path

import numpy as np

from pll.candidates import CandidateSets
from pll.review.decided import Decided
from pll.review.queue import QueueFilter
from pll.review.ranking import rank
from pll.review.signals import ReviewSignals
from pll.runs.folder import RunFolder
from pll.runs.history import HistoryWriter
from pll.runs.labels_table import labels_frame, write_labels
from pll.synthesis import flip_binomial
from pll.synthesis.ambiguity import co_occurrence
from pll.training.metrics import METRICS, Monitor
from pll.weights import Weights, normalise

N, C = 60_000, 10


def best_of(repeats: int, work: Callable[[], object]) -> float:
    """Return the shortest time of several calls, in seconds."""
    seconds = []
    for _ in range(repeats):
        started = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - started)
    return min(seconds)


def show(what: str, seconds: float, limit: float) -> None:
    print(f"{what:<50} {seconds * 1e3:9.2f} ms   (below {limit * 1e3:g} ms)", flush=True)


def run_operations(sets: CandidateSets, y: np.ndarray, folder: Path) -> None:
    """Time what a run does after each epoch, and what a page reads of it."""
    rng = np.random.default_rng(1)
    frames = [normalise(rng.random(sets.nnz), sets) for _ in range(2)]
    monitor, epoch = Monitor(sets, y), count(1)

    def record() -> None:
        number = next(epoch)
        monitor.record(number, frames[number % 2])

    show("metrics of an epoch", best_of(20, record), 0.010)
    known, appended, writer = (
        monitor.record(next(epoch), frames[0]),
        count(1),
        HistoryWriter(folder / "history", sets, y),
    )
    show(
        "label weights of an epoch to disk",
        best_of(39, lambda: writer.append(replace(known, epoch=next(appended)))),
        0.010,
    )
    run = RunFolder(folder)
    run.rewind_metrics(0)
    for number in range(1, 501):
        run.append_metrics(dict.fromkeys(METRICS, 0.123456789012345) | {"epoch": number, "changed_labels": 7})
    show("metrics of 500 epochs from disk", best_of(10, run.metrics), 0.005)
    table = folder / "labels.csv"
    weights = sets.uniform_weights()
    show(
        "labels.csv of 60,000 examples",
        best_of(3, lambda: write_labels(labels_frame(sets, weights, np.arange(N)), table)),
        5.0,
    )


def review_operations(sets: CandidateSets, y: np.ndarray) -> None:
    """Time every queue order, with 3,000 decisions and 6,000 controls."""
    rng = np.random.default_rng(0)

    def weights() -> Weights:
        return normalise(rng.random(sets.nnz) ** 4, sets)

    signals = ReviewSignals(
        sets,
        weights(),
        weights(),
        rng.integers(0, N, (N, 10)).astype(np.int32),
        rng.random(sets.nnz).astype(np.float32),
    )
    _ = signals.sharp, signals.neighbourhood  # computed once for a run, not once for an order
    rows = np.random.default_rng(1).permutation(N)[:3000]
    decided = Decided(sets, rows, y[rows])

    def queue() -> None:
        order = rank(signals, decided)
        _ = order[QueueFilter().mask(signals, decided)[order]]

    show("queue order", best_of(3, queue), 1.0)


def many_classes() -> None:
    """Time the co-occurrence of many classes; a dense product would take minutes."""
    n, c, k = 20_000, 3_000, 5
    rng = np.random.default_rng(0)
    indices = (np.sort(rng.integers(0, c // k, (n, k)), axis=1) + np.arange(k) * (c // k)).ravel()
    sets = CandidateSets(np.arange(n + 1) * k, indices, c)
    show("co-occurrence of 3,000 classes", best_of(3, lambda: co_occurrence(sets)), 20.0)


def main() -> None:
    y = np.random.default_rng(0).integers(0, C, N)
    sets = flip_binomial(y, C, 0.7, seed=0)
    with tempfile.TemporaryDirectory() as folder:
        run_operations(sets, y, Path(folder))
    review_operations(sets, y)
    many_classes()


if __name__ == "__main__":
    main()

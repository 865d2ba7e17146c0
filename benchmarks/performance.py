"""Speed and memory at size: `python -m benchmarks.performance [PART …]`; writes the tables of docs/performance.md.

    loop         an epoch beside supervised training (benchmarks.training)
    map          the map of 100,000 and 1,000,000 examples in a browser (benchmarks.pages)
    pages        first page, tabs, refreshes of Compare (benchmarks.pages)
    classical    SURE, PL-ECOC and PL-SVM on 20,000 examples × 280 features × 170 classes
    neighbours   IPAL and PL-kNN on 50,000 and 200,000 examples × 100 features × 20 classes
    processes    an epoch in one process and in two: the processor time of rank 0
    reading      mini-batches read from a mapped file beside those from memory
    growth       part of an epoch on a folder of arrays: time and memory by n, c and |S|
    largest      the same of 100,000,000 examples (some 15 GB in the folder for temporary files, deleted afterwards)

A part is measured as a whole, each row in a process of its own. CPU seconds are what one thread computed; on a busy
machine they say more than the time that passed.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from benchmarks import pages
from benchmarks.marked import put, table
from benchmarks.training import measure
from pll import formats
from pll.candidates import CandidateSets
from pll.methods import METHODS
from pll.methods.base import Task
from pll.methods.proden import PRODEN
from pll.runs.history import HistoryWriter
from pll.synthesis import flip_binomial
from pll.training.metrics import Monitor, StopTraining

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "performance.md"
LIMIT_SECONDS, LIMIT_GB = 60, 2
STEPS, TURNS = 60, 21


def made(n: int, d: int, c: int, extra: float = 3.0) -> tuple[npt.NDArray[np.float32], npt.NDArray[Any], CandidateSets]:
    """Gaussian classes in d dimensions, with so many wrong candidates an example on average."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, c, n)
    X = rng.standard_normal((n, d), dtype=np.float32) + rng.standard_normal((c, d), dtype=np.float32)[y] * 0.5
    return X, y, flip_binomial(y, c, extra / (c - 1), seed=0)


# ---- training, methods -----------------------------------------------------------------------------------------------


def loop(model: str, threads: str) -> list[str]:
    """Train epochs of each way in turns."""
    torch.set_num_threads(int(threads))
    seconds = measure(model, {"linear": 15, "mlp": 6, "convnet": 3}[model])
    bare, proden, observed = (seconds[name] for name in ("bare", "proden", "observed"))
    most = {"linear": 1.40}.get(model, 1.03)
    return [model, threads, f"{bare:.3f}", f"{proden / bare:.2f} (≤ {most:.2f})", f"{observed / proden - 1:+.1%}"]


def classical(name: str) -> list[str]:
    """Fit a method with its defaults to 20,000 examples."""
    cpu, cells = _fitted(name, *made(20_000, 280, 170))
    within = cpu <= LIMIT_SECONDS and float(cells[1]) <= LIMIT_GB
    return [METHODS[name].title, f"{cpu:.1f}", *cells[1:3], "yes" if within else "**no**", cells[3]]


def neighbours(name: str, n: str) -> list[str]:
    """Fit IPAL or PL-kNN to n examples of 16 dimensions in 100 features, with a little noise."""
    rng = np.random.default_rng(0)
    low, y, sets = made(int(n), 16, 20)
    X = low @ rng.standard_normal((16, 100), dtype=np.float32)
    X += 0.3 * rng.standard_normal(X.shape, dtype=np.float32)
    _, cells = _fitted(name, X, y, sets)
    return [METHODS[name].title, f"{int(n):,}", *cells]


def _fitted(name: str, X: npt.NDArray[np.float32], y: npt.NDArray[Any], sets: CandidateSets) -> tuple[float, list[str]]:
    """Return the CPU seconds of a fit; and these, the peak memory (GB), the share identified right, the notes."""
    working = time.process_time()
    estimator = METHODS[name]()
    estimator.fit(X, sets)
    cpu, right = time.process_time() - working, float((estimator.identify() == y).mean())
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9
    return cpu, [f"{cpu:.0f}", f"{peak:.2f}", f"{right:.1%}", " ".join(estimator.notes_)]


# ---- larger than memory ----------------------------------------------------------------------------------------------


def reading(model: str, d: str) -> list[str]:
    """Train on features in memory and in a mapped file in turns; medians of `TURNS` turns of `STEPS` steps."""
    X, _, sets = made(60_000, int(d), 100)
    with tempfile.TemporaryDirectory() as place:
        np.save(Path(place, "X.npy"), X)
        ways = [_turns(model, X, sets), _turns(model, np.load(f"{place}/X.npy", mmap_mode="r"), sets)]
        spent = np.array([[next(turns) for turns in ways] for _ in range(TURNS)])[1:]  # (turns, ways, wall and CPU)
    (memory, file) = np.median(spent, axis=0)
    wall, cpu = memory / file
    return [model, d, f"{wall:.2f}", f"{cpu:.2f}", f"{1000 * memory[1] / STEPS:.1f}"]


def _turns(model: str, X: npt.NDArray[np.float32], sets: CandidateSets) -> Iterator[tuple[float, float]]:
    """Yield the time that `STEPS` steps of PRODEN take, and the time of the processor for them, again and again."""
    trainer = PRODEN(model=model, batch_size=256)._new_trainer(Task(X, sets), torch.device("cpu"))
    trainer.network.train()
    while True:
        batches = trainer.batches_left()
        for _ in range(len(X) // 256 // STEPS):
            started, working = time.perf_counter(), time.process_time()
            for units in islice(batches, STEPS):
                trainer.step(units)
            yield time.perf_counter() - started, time.process_time() - working
        trainer.end_epoch()


def large_folder(place: Path, n: int, d: int, c: int, k: int) -> None:
    """Write a folder of arrays of n examples with k candidates each, a million at a time."""
    rng = np.random.default_rng(0)
    part = 1_000_000
    noise = rng.standard_normal((min(part, n), d), dtype=np.float32)  # the same in every part
    X = np.lib.format.open_memmap(place / "X.npy", "w+", np.float32, (n, d))
    indices = np.lib.format.open_memmap(place / "indices.npy", "w+", np.int32, (n * k,))
    for start in range(0, n, part):
        m = min(part, n - start)
        y = rng.integers(0, c - k + 1, m)
        X[start : start + m] = noise[:m]
        X[start : start + m, 0] += y * (4 / c)
        indices[start * k : (start + m) * k] = (y[:, None] + np.arange(k)).ravel()
    np.save(place / "indptr.npy", np.arange(0, n * k + 1, k))
    np.save(place / "n_classes.npy", np.array(c))


def growth(n: str, d: str, c: str, k: str) -> list[str]:
    """Read a folder of arrays, take 400 steps of PRODEN (linear), and end an epoch."""
    with tempfile.TemporaryDirectory() as place:
        large_folder(Path(place), int(n), int(d), int(c), int(k))
        gb = sum(file.stat().st_size for file in Path(place).iterdir()) / 1e9
        with _own_memory() as own:
            (read, start, steps, end), memory = _grown(place, own)
    seconds = [f"{value:.1f}" for value in (gb, read, start, 1000 * steps / 400, end)]
    return [*(f"{int(one):,}" for one in (n, d, c, k)), *seconds, *(f"{one:.2f}" for one in memory)]


def _grown(place: str, own: Callable[[], float]) -> tuple[list[float], tuple[float, float]]:
    """Return the CPU seconds of reading, statistics, steps and end of the epoch; memory in the steps, and the peak."""
    clocks = [time.process_time()]
    data = formats.read(place)
    clocks.append(time.process_time())
    estimator = PRODEN(epochs=1, batch_size=256)
    left = [402]

    def hook() -> None:
        left[0] -= 1
        if left[0] in (0, 400):
            clocks.append(time.process_time())
        if not left[0]:
            raise StopTraining

    with suppress(StopTraining):
        next(estimator.iter_fit(Task(data.X, data.sets()), hook=hook))
    memory = own()
    trainer = estimator.trainer
    assert trainer is not None
    record = Monitor(data.sets()).record(1, trainer.current_label_weights())
    with tempfile.TemporaryDirectory() as folder:
        HistoryWriter(Path(folder), data.sets()).append(record)
    clocks.append(time.process_time())
    return np.diff(clocks).tolist(), (memory, own())


@contextmanager
def _own_memory() -> Iterator[Callable[[], float]]:
    """Yield what tells the peak so far of this process's own memory (anonymous pages, no mapped files), in GB."""
    most, done = [0.0], threading.Event()

    def look() -> None:
        while not done.wait(0.02):
            words = Path("/proc/self/status").read_text(encoding="ascii").split()
            most[0] = max(most[0], int(words[words.index("RssAnon:") + 1]) * 1024 / 1e9)

    watcher = threading.Thread(target=look, daemon=True)
    watcher.start()
    try:
        yield lambda: most[0]
    finally:
        done.set()
        watcher.join()


# ---- pages -----------------------------------------------------------------------------------------------------------

PAGE_LIMITS = {
    "cold start": ("from starting the server to a page that can be used, s", "3"),
    "tab train": ("opening a tab of Train, ms of the server's processor", "100"),
    "tab review": ("of Review", "100"),
    "tab home": ("of Home", "100"),
    "compare": ("a refresh of Compare, five methods on digits, median, kB", "100"),
    "compare, largest": ("the same, the largest of 20", ""),
}


def on_map(n: str) -> list[str]:
    """Look at n examples on the map."""
    return [f"{int(n):,}", *(f"{seconds:.2f}" for seconds in pages.measured_map(int(n)).values())]


def of_pages() -> list[list[str]]:
    """Open pages; a row a figure."""
    figures = pages.measured()
    return [[what, f"{figures[name]:.3g}", most] for name, (what, most) in PAGE_LIMITS.items()]


# ---- the parts -------------------------------------------------------------------------------------------------------

GROWTH = ["n", "d", "c", "\\|S\\|", "files GB", "read s", "statistics, sets s", "ms a step", "end of epoch s"]
GROWTH += ["GB in steps", "GB peak"]
SIZES = [
    *(("1000000", "20", "1000", "3"), ("4000000", "20", "1000", "3"), ("16000000", "20", "1000", "3")),
    *(("4000000", "20", "100", "3"), ("4000000", "20", "1000", "10")),
]
"""n, d, c and |S|."""


@dataclass(frozen=True)
class Part:
    """A table of docs/performance.md: its header, what gives a row (or all of them), and the arguments for each row."""

    header: list[str]
    row: Callable[..., Any]
    cases: Sequence[tuple[str, ...]]


PARTS = {
    "loop": Part(
        ["model", "threads", "supervised, s an epoch", "PRODEN, of that", "monitoring adds"],
        loop,
        [(model, threads) for model in ("linear", "mlp", "convnet") for threads in ("1", "2")],
    ),
    "map": Part(
        ["examples", "first paint (≤ 5)", "again", "scrub (≤ 0.3)", "lasso (≤ 1)", "review (≤ 1)"],
        on_map,
        [("100000",), ("1000000",)],
    ),
    "pages": Part(["what", "measured", "limit"], of_pages, [()]),
    "classical": Part(
        ["method", "CPU s", "peak GB", "identified right", "within the limits", "notes"],
        classical,
        [("sure",), ("ecoc",), ("plsvm",)],
    ),
    "neighbours": Part(
        ["method", "examples", "CPU s", "peak GB", "identified right", "notes"],
        neighbours,
        [(name, "50000") for name in ("plknn", "ipal")],
    ),
    "reading": Part(
        ["model", "features", "speed, of that in memory", "by CPU time, reading included", "CPU ms a step in memory"],
        reading,
        [("linear", "100"), ("linear", "784"), ("mlp", "784")],
    ),
    "growth": Part(GROWTH, growth, SIZES),
    "largest": Part(GROWTH, growth, [("100000000", "20", "1000", "3")]),
}


def measured(*case: str) -> Any:
    """Measure a row in a process of its own, in one thread."""
    command = [sys.executable, "-m", "benchmarks.performance", "--case", *case]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environment, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout)


def main() -> None:
    """Measure, and write the tables."""
    wanted = sys.argv[1:]
    if wanted[:1] == ["--case"]:
        print(json.dumps(PARTS[wanted[1]].row(*wanted[2:])))
        return
    for name in wanted or PARTS:
        part = PARTS[name]
        rows = [measured(name, *case) for case in part.cases]
        text = table(part.header, rows[0] if name == "pages" else rows)
        print(text, flush=True)
        put(PAGE, name, text)


if __name__ == "__main__":
    main()

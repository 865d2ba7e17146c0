"""Speed and memory at size: `python -m benchmarks.performance [PART …]`; writes docs/performance.md.

    loop         an epoch beside supervised training and beside the paper's way of working (benchmarks.training)
    map          the map of 100,000 and 1,000,000 examples in a browser (benchmarks.map_browser)
    pages        first page, tabs, keys with 30 people, refreshes of Compare (benchmarks.pages)
    classical    SURE, PL-ECOC and PL-SVM on 20,000 examples × 280 features × 170 classes, one thread each
    neighbours   IPAL and PL-kNN on 50,000, 200,000 and 1,000,000 examples × 100 features × 20 classes
    nystrom      SURE's approximate kernel beside the exact one, where both can be computed
    ranks        digits trained in one process and in two, by the command line
    processes    an epoch in one process and in two: the processor time of rank 0
    reading      mini-batches read from a mapped file beside those from memory
    shards       a folder of Parquet files: reading, memory, and mini-batches beside those from memory
    growth       part of an epoch on a folder of arrays: time and memory by n, c and |S|
    largest      the same of 100,000,000 examples (some 15 GB in the folder for temporary files, deleted afterwards)

`--page` writes the page again. Each case runs in a process of its own. Parts that are not named keep the figures of
docs/performance.json. CPU seconds are what one thread computed; on a busy machine they say more than the time that
passed.
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
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq
import torch

import pll.io
from benchmarks import map_browser, pages
from benchmarks.training import measure
from pll import formats
from pll.candidates import CandidateSets
from pll.catalog.sources import Source
from pll.methods import METHODS, sure
from pll.methods.base import Task
from pll.methods.proden import PRODEN
from pll.runs import fit_loop
from pll.runs.config import RunConfig
from pll.runs.folder import RunFolder
from pll.runs.history import HistoryWriter
from pll.synthesis import flip_binomial
from pll.training.metrics import Monitor, StopTraining

ROOT = Path(__file__).resolve().parents[1]
FIGURES = ROOT / "docs" / "performance.json"
PAGE = ROOT / "docs" / "performance.md"
SIZE = (20_000, 280, 170)
LIMIT_SECONDS, LIMIT_GB = 60, 2


def made(n: int, d: int, c: int, extra: float = 3.0) -> tuple[npt.NDArray[np.float32], npt.NDArray[Any], CandidateSets]:
    """Gaussian classes in d dimensions, with so many wrong candidates an example on average."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, c, n)
    X = rng.standard_normal((n, d), dtype=np.float32) + rng.standard_normal((c, d), dtype=np.float32)[y] * 0.5
    return X, y, flip_binomial(y, c, extra / (c - 1), seed=0)


def peak() -> float:
    """Peak memory of this process so far, in GB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9


def classical(name: str) -> dict[str, Any]:
    """Fit a method with its defaults; return its figures."""
    X, y, sets = made(*SIZE)
    started, working = time.perf_counter(), time.process_time()
    estimator = METHODS[name]()
    estimator.fit(X, sets)
    figures = {"seconds": time.perf_counter() - started, "cpu": time.process_time() - working, "gb": peak()}
    return figures | {"right": float((estimator.identify() == y).mean()), "notes": list(estimator.notes_)}


def neighbours(name: str, n: str) -> dict[str, Any]:
    """Fit IPAL or PL-kNN to n examples of 16 dimensions in 100 features, with a little noise; return its figures."""
    rng = np.random.default_rng(0)
    low, y, sets = made(int(n), 16, 20)
    X = low @ rng.standard_normal((16, 100), dtype=np.float32)
    X += 0.3 * rng.standard_normal(X.shape, dtype=np.float32)
    started, working = time.perf_counter(), time.process_time()
    estimator = METHODS[name]()
    estimator.fit(X, sets)
    figures = {"seconds": time.perf_counter() - started, "cpu": time.process_time() - working, "gb": peak()}
    return figures | {"right": float((estimator.identify() == y).mean()), "notes": list(estimator.notes_)}


def nystrom() -> dict[str, Any]:
    """SURE on 3,000 × 40 × 12 with the exact kernel, and with the approximate one of more and more examples."""
    X, y, sets = made(3000, 40, 12)
    exact = sure.SURE(kernel="rbf").fit(X, sets)
    sure.EXACT_UP_TO = 1
    rows = []
    for centres in (300, 1000, 2048):
        sure.CENTRES = centres
        near = sure.SURE(kernel="rbf").fit(X, sets)
        rows.append(
            {
                "centres": centres,
                "largest": float(near.kernel_error_.max()),
                "same": float((near.identify() == exact.identify()).mean()),
                "right": float((near.identify() == y).mean()),
            }
        )
    return {"exact": float((exact.identify() == y).mean()), "rows": rows}


def ranks(model: str) -> dict[str, Any]:
    """Digits (q = 0.5, 20 % held out, 10 epochs) in one process and in two: how far label weights and labels differ."""
    fit = ["-m", "pll", "fit", "digits", "--flip", "binomial", "--q", "0.5", "--model", model, "--epochs", "10"]
    fit += ["--recipe", "default"]
    starts = {"one": [sys.executable], "two": [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2"]}
    with tempfile.TemporaryDirectory() as place:
        for name, start in starts.items():
            command = [*start, *fit, "--holdout", "0.2", "--threads", "1", "--out", f"{place}/{name}"]
            subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
        first, final = (
            [np.load(f"{place}/{name}/history/{frame}") for name in starts]
            for frame in ("frames/000001.npy", "final.npy")
        )
        labels = [
            [line.split(",")[1] for line in Path(place, name, "labels.csv").read_text(encoding="utf-8").splitlines()]
            for name in starts
        ]
    different = sum(a != b for a, b in zip(*labels, strict=True))
    apart = [float(np.abs(one - two).max()) for one, two in (first, final)]
    return {"first": apart[0], "last": apart[1], "different": different, "n": len(labels[0]) - 1}


# ---- larger than memory ----------------------------------------------------------------------------------------------


def processes(model: str, count: str) -> dict[str, Any]:
    """Train on 20,000 × 784 × 100 in so many processes; return seconds an epoch of rank 0, from the second on."""
    clocks = []
    with tempfile.TemporaryDirectory() as place:
        X, _, sets = made(20_000, 784, 100)
        np.savez(f"{place}/data.npz", X=X, indptr=sets.indptr, indices=sets.indices, n_classes=100)
        params = {"model": model, "epochs": 4, "batch_size": 256, "threads": 1}
        folder = RunFolder(Path(place, "run"))
        folder.create(RunConfig(Source("data.npz", f"{place}/data.npz"), params=params))
        folder.lock()
        for _ in fit_loop.FitLoop(folder, processes=int(count)).epochs():
            clocks.append((time.perf_counter(), time.process_time()))
        folder.unlock()
    wall, cpu = np.median(np.diff(clocks, axis=0), axis=0)
    return {"wall": float(wall), "cpu": float(cpu)}


STEPS, TURNS = 60, 21
SHARDS = 6


def reading(model: str, d: str) -> dict[str, Any]:
    """Train on features in memory and in a mapped file in turns; return medians of `TURNS` turns of `STEPS` steps."""
    X, _, sets = made(60_000, int(d), 100)
    with tempfile.TemporaryDirectory() as place:
        np.save(Path(place, "X.npy"), X)
        ways = {"memory": _turns(model, X, sets), "file": _turns(model, np.load(f"{place}/X.npy", mmap_mode="r"), sets)}
        wall, cpu = _in_turns(ways)
    step = 1000 * cpu["memory"] / STEPS
    return {"wall": wall["memory"] / wall["file"], "cpu": cpu["memory"] / cpu["file"], "ms": step}


def _in_turns(ways: dict[str, Iterator[tuple[float, float]]]) -> list[dict[str, float]]:
    """Return by name the median time of a turn, and that of the processor, without the first turn."""
    spent: dict[str, list[tuple[float, float]]] = {name: [] for name in ways}
    for _ in range(TURNS):
        for name, turns in ways.items():
            spent[name].append(next(turns))
    return [{name: float(np.median(np.array(spent[name])[1:, k])) for name in ways} for k in (0, 1)]


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


def shards(n: str, d: str) -> dict[str, Any]:
    """Read a folder of Parquet files and train on it beside the same numbers in memory, in turns."""
    pll.io.FEATURES_IN_MEMORY_UP_TO = 0
    with tempfile.TemporaryDirectory() as place:
        for part in range(SHARDS):
            X, _, sets = made(int(n) // SHARDS, int(d), 100)
            cells = np.array(["|".join(map(str, row)) for row in np.split(sets.indices, sets.indptr[1:-1])])
            columns = {f"x{k}": X[:, k] for k in range(int(d))}
            pq.write_table(pa.table(columns | {"candidates": cells}), f"{place}/part-{part:03}.parquet")
        del X, columns, cells
        with _own_memory() as own:
            working = time.process_time()
            data = formats.read(place)
            read, most = time.process_time() - working, own()
        ways = {name: _turns("linear", X, data.sets()) for name, X in (("memory", np.array(data.X)), ("file", data.X))}
        wall, cpu = _in_turns(ways)
    figures = {"gb": data.X.nbytes / 1e9, "read": read, "most": most}
    return figures | {"wall": wall["memory"] / wall["file"], "cpu": cpu["memory"] / cpu["file"]}


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


def growth(n: str, d: str, c: str, k: str) -> dict[str, Any]:
    """Read a folder of arrays, take 400 steps of PRODEN (linear), and end an epoch; return times and memory."""
    with tempfile.TemporaryDirectory() as place:
        large_folder(Path(place), int(n), int(d), int(c), int(k))
        with _own_memory() as own:
            return {"gb_file": sum(file.stat().st_size for file in Path(place).iterdir()) / 1e9} | _grown(place, own)


def _grown(place: str, own: Callable[[], float]) -> dict[str, Any]:
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
    read, start, steps, end = np.diff(clocks).tolist()
    return {"read": read, "start": start, "ms": 1000 * steps / 400, "end": end, "gb_step": memory, "gb": own()}


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


SIZES = [
    *(("1000000", "20", "1000", "3"), ("4000000", "20", "1000", "3"), ("16000000", "20", "1000", "3")),
    *(("4000000", "20", "100", "3"), ("4000000", "20", "1000", "10")),
]
"""n, d, c and |S|."""

CASES: dict[str, list[tuple[str, ...]]] = {
    "loop": [("loop", model, threads) for model in ("linear", "mlp", "convnet") for threads in ("1", "2")],
    "reading": [("reading", model, d) for model, d in (("linear", "100"), ("linear", "784"), ("mlp", "784"))],
    "shards": [("shards", n, "100") for n in ("60000", "120000", "240000")],
    "growth": [("growth", *size) for size in SIZES],
    "largest": [("growth", "100000000", "20", "1000", "3")],
    "pages": [("pages",)],
    "map": [("map", n) for n in ("100000", "1000000")],
    "classical": [("classical", name) for name in ("sure", "ecoc", "plsvm")],
    "neighbours": [("neighbours", name, n) for n in ("50000", "200000", "1000000") for name in ("plknn", "ipal")],
    "nystrom": [("nystrom",)],
    "ranks": [("ranks", model) for model in ("linear", "mlp")],
    "processes": [("processes", model, count) for model in ("linear", "mlp") for count in ("1", "2")],
}


LARGER = """\
## Larger than memory

DATA is a folder of the arrays of a data.npz, each an .npy file (`unzip data.npz -d data`); X is float32, row by row.
It is memory-mapped: no step makes a dense copy of X. A thread reads the mini-batches ahead (4 of them). Results equal
those of the same data in memory to the last bit. Scaling statistics, checks and the final label weights are computed
in pieces, in passes over the file. `--holdout` copies both parts to temporary files (`TMPDIR`). Label weights and
whatever else has an entry for each example or candidate lie in temporary files above 64 MB an array; labels.csv is
written in parts of 100,000 rows; the frames of the history take 4 GB at most. In several processes each reads the
features of its own examples only.

DATA may be a folder of Parquet files with the same columns: together they are one table, in the order of their names.
They are read in pieces of 4,096 rows; features (columns of numbers, or of lists of numbers) go into a file of their own
in `TMPDIR` where they take more than 1 GB, and train from there as above. The text of labels and ids is in memory while
it is read. The same holds for the features of any other table, and for pixels made of pictures in a folder or a ZIP.
Not in pieces: a column of words or texts, features made of texts, and .mat files. `{tool} shards`, with the 1 GB set to
0: the file beside the same numbers in memory, {turns} turns of {steps} steps, linear, 100 classes.

| examples | features | GB of features | read, CPU s | own memory, peak GB | speed, of that in memory | by CPU time |
|---|---|---|---|---|---|---|
{shards}

`python -m benchmarks.performance reading`: 60,000 examples, 100 classes, batch 256, one thread that computes; the file
is in the page cache. Medians of {turns} turns of {steps} steps each. Limit: 0.70 of the speed in memory.

| model | features | speed, of that in memory | the same by CPU time, reading included | CPU ms a step in memory |
|---|---|---|---|---|
{reading}

`python -m benchmarks.performance growth` and `largest`: PRODEN (linear), 400 steps of the first epoch, then label
weights, metrics and history of that epoch; CPU seconds of one thread, which computes, and of the one that reads. Memory
is the process's own (anonymous pages; 0.4 GB of them are Python and torch); pages of mapped files come on top, and the
system takes them back where others need them. Limit: 2 GB for 100,000,000 × 3.

| n | d | c | \\|S\\| | files GB | read s | statistics, sets s | ms a step | end of epoch s | GB in steps | GB peak |
|---|---|---|---|---|---|---|---|---|---|---|
{growth}

{extrapolated}

Not built: mini-batches straight from Parquet or pictures, without the file between (it takes 4 bytes a number of disk,
and in several processes each makes its own); an order of examples that suits a disk (a mini-batch is
drawn from the whole file: what is not in the page cache is read at random places); a checkpoint written in pieces (it
takes some 12 bytes a candidate and 24 an example of memory while it is written, above the 2 GB from about 20 million
examples on); labels.csv in parts for runs with `--holdout`. Pages read a run as a whole: above some millions of
examples use the shell.
"""


def _larger_than_memory(figures: dict[str, Any]) -> str:
    """Return the section of the page on features larger than memory."""
    reading, growth, parquet = [], [], []
    for _, rows, d in CASES["shards"]:
        if found := figures.get(f"shards {rows} {d}"):
            cells = [f"{found[name]:.2f}" for name in ("gb", "read", "most", "wall", "cpu")]
            parquet.append(f"| {int(rows):,} | {d} | {' | '.join(cells)} |")
    for _, model, d in CASES["reading"]:
        if found := figures.get(f"reading {model} {d}"):
            reading.append(f"| {model} | {d} | {found['wall']:.2f} | {found['cpu']:.2f} | {found['ms']:.1f} |")
    for size in [case[1:] for case in (*CASES["growth"], *CASES["largest"])]:
        if found := figures.get(f"growth {' '.join(size)}"):
            cells = [f"{int(number):,}" for number in size]
            cells += [f"{found[name]:.1f}" for name in ("gb_file", "read", "start", "ms", "end")]
            cells += [f"{found[name]:.2f}" for name in ("gb_step", "gb")]
            growth.append(f"| {' | '.join(cells)} |")
    n = 100_000_000
    largest = figures.get(f"growth {n} 20 1000 3")
    extrapolated = f"The part of an epoch of {n:,} examples has not been measured."
    if largest is not None:
        hours = n / 256 * largest["ms"] / 3.6e6
        extrapolated = f"From the last row: an epoch of {n:,} × 3 takes {hours:.1f} h of CPU; a whole one was not run."
    return LARGER.format(
        turns=TURNS - 1,
        steps=STEPS,
        reading="\n".join(reading),
        shards="\n".join(parquet),
        tool="python -m benchmarks.performance",
        growth="\n".join(growth),
        extrapolated=extrapolated,
    )


LOOP_LIMITS = {"linear": (1.40, 50), "mlp": (1.03, 7), "convnet": (1.03, None)}
"""At most so many times the bare loop, at least so many times as fast as the paper's way."""


def _loop(figures: dict[str, Any]) -> list[str]:
    """Return the lines of the page on the training loop."""
    rows = []
    for model, threads in (case[1:] for case in CASES["loop"]):
        found = figures.get(f"loop {model} {threads}")
        if found is None:
            rows.append(f"| {model} | {threads} | not measured | | | | |")
            continue
        most, least = LOOP_LIMITS[model]
        ratio = f"{found['proden'] / found['bare']:.2f} (≤ {most:.2f})"
        watched = f"{found['observed'] / found['proden'] - 1:+.1%}"
        items = "" if "items" not in found else f"{found['items'] / found['whole']:.0f} (≥ {least})"
        rows.append(f"| {model} | {threads} | {found['bare']:.3f} | {ratio} | {watched} | {items} |")
    return [
        "## The training loop",
        "",
        "`python -m benchmarks.performance loop` (what is measured: `benchmarks/training.py`): 60,000 × 784, 10",
        "classes, batch 256; convnet: 96 pictures of 3 × 32 × 32, batch 32. Medians of epochs in turns; limits in",
        "brackets. The paper's way reads pictures one by one; a whole epoch has evaluation and history in it.",
        "",
        "| model | threads | supervised, s an epoch | PRODEN, of that | watching adds | whole epoch, times as fast |",
        "|---|---|---|---|---|---|",
        *rows,
        "",
        "With the cross-entropy PRODEN gives the gradient by the logits itself, (softmax − w)/B; all else is autograd",
        "and `torch.optim` as they come. The table was measured with a step made by hand, which is gone: in CPU s",
        "of one thread the linear model takes 1.34 times the supervised loop now (1.19 then), the mlp 1.05 times.",
        "",
    ]


MAP_LIMITS = {"first paint": 5.0, "again": None, "scrub": 0.3, "lasso": 1.0, "review": 1.0}


def _map(figures: dict[str, Any]) -> list[str]:
    """Return the lines of the page on the map of the examples."""
    heads = [name if most is None else f"{name} (≤ {most:g})" for name, most in MAP_LIMITS.items()]
    rows = []
    for _, n in CASES["map"]:
        found = figures.get(f"map {n}")
        cells = ["not measured"] * len(heads) if found is None else [f"{found[name]:.2f}" for name in MAP_LIMITS]
        rows.append(f"| {int(n):,} | {' | '.join(cells)} |")
    return [
        "## The map of the examples",
        "",
        "`python -m benchmarks.performance map`: seconds in Chromium, server and browser on the same two cores, with",
        "20 features and 10 classes (what each is: `benchmarks/map_browser.py`); limits for 1,000,000 in brackets. A",
        "jump of the timeline goes to an epoch that nobody looked at yet: label weights are read, confidences, star",
        "plot, heatmap and map computed, and 2 MB sent.",
        "",
        f"| examples | {' | '.join(heads)} |",
        "|---|---|---|---|---|---|",
        *rows,
        "",
    ]


PAGE_LIMITS = {
    "cold start": ("from starting the server to a page that can be used, s", 3.0),
    "tab train": ("opening a tab of Train, ms of the server's processor", 100.0),
    "tab review": ("of Review", 100.0),
    "tab home": ("of Home", 100.0),
    "key": ("from a key at the desk to the next example, 15 watching and 15 reviewing, median, s", 0.15),
    "key, p95": ("the same, 95th percentile", None),
    "compare": ("a refresh of Compare, five methods on digits, median, kB", 100.0),
    "compare, largest": ("the same, the largest of 20", None),
}


def _pages(figures: dict[str, Any]) -> list[str]:
    """Return the lines of the page on the pages of the app."""
    found = figures.get("pages")
    if found is None:
        return []
    rows = [
        f"| {what} | {found[name]:.3g} | {'' if most is None else f'{most:g}'} |"
        for name, (what, most) in PAGE_LIMITS.items()
    ]
    return [
        "## Pages",
        "",
        "`python -m benchmarks.performance pages`: servers, browsers and the measuring program on the same two cores.",
        "Who looks at the same moment of a run gets pictures that were computed once (`tests/pages/test_train.py`).",
        "",
        "| what | measured | limit |",
        "|---|---|---|",
        *rows,
        "",
    ]


def _processes(figures: dict[str, Any]) -> list[str]:
    """Return the lines of the page on the work of one of several processes."""
    rows = []
    for model in ("linear", "mlp"):
        one, two = (figures.get(f"processes {model} {count}") for count in (1, 2))
        if one is not None and two is not None:
            seconds = " | ".join(f"{found[name]:.2f}" for name in ("wall", "cpu") for found in (one, two))
            rows.append(f"| {model} | {seconds} | {one['wall'] / two['wall']:.2f} |")
    if not rows:
        return []
    return [
        "`python -m benchmarks.performance processes`: 20,000 × 784 × 100, batch 256, one thread each, on one machine",
        "of two cores: an epoch with its label weights and history. What is not divided: history and metrics; what",
        "comes with several: commands, gradients, and a message each way for each batch normalisation. A message",
        "between processes of this (virtual) machine takes 1 ms and the gradients of the mlp 5 ms, so small steps do",
        "not pay here; processes on one machine pay where a step takes far longer than that, or each has a GPU.",
        "",
        "| model | s, one process | s, two | CPU s of rank 0, one | of two | times as fast |",
        "|---|---|---|---|---|---|",
        *rows,
        "",
    ]


def page(figures: dict[str, Any]) -> str:
    """Return docs/performance.md."""
    lines = [
        "# Performance at size",
        "",
        "Written by `python -m benchmarks.performance`, on 2 cores shared with other work: CPU",
        "seconds of one thread are",
        "what one quiet core takes; the time that passed is not comparable.",
        "",
        *_loop(figures),
        *_map(figures),
        *_pages(figures),
        f"## Classical methods on {SIZE[0]:,} × {SIZE[1]} × {SIZE[2]}",
        "",
        f"`python -m benchmarks.performance classical`. Limits: {LIMIT_SECONDS} s, {LIMIT_GB} GB (peak",
        "of the whole process,",
        "Python and data included).",
        "",
        "| method | CPU s | peak GB | identified right | within the limits | notes |",
        "|---|---|---|---|---|---|",
    ]
    for name in ("sure", "ecoc", "plsvm"):
        title, found = METHODS[name].title, figures.get(f"classical {name}")
        if found is None:
            lines.append(f"| {title} | not measured | | | | |")
            continue
        within = "yes" if found["cpu"] <= LIMIT_SECONDS and found["gb"] <= LIMIT_GB else "**no**"
        notes = " ".join(found["notes"])
        lines.append(
            f"| {title} | {found['cpu']:.1f} | {found['gb']:.2f} | {found['right']:.1%} | {within} | {notes} |"
        )
    lines += [
        "",
        "Before, with exact kernels: SURE took 92.8 s and 3.9 GB on the same size; PL-ECOC had computed for 134 s",
        "without an end when it was stopped.",
        "",
    ]
    lines += [
        "## Nearest neighbours of many examples",
        "",
        "`python -m benchmarks.performance neighbours`: 100 features (16 dimensions and noise), 20 classes, 4",
        "candidates. Needs `faiss-cpu`.",
        "",
        "| method | examples | CPU s | peak GB | identified right | notes |",
        "|---|---|---|---|---|---|",
    ]
    for name, n in (case[1:] for case in CASES["neighbours"]):
        title, found = METHODS[name].title, figures.get(f"neighbours {name} {n}")
        if found is None:
            lines.append(f"| {title} | {int(n):,} | not measured | | | |")
            continue
        notes = " ".join(found["notes"])
        lines.append(
            f"| {title} | {int(n):,} | {found['cpu']:.0f} | {found['gb']:.2f} | {found['right']:.1%} | {notes} |"
        )
    lines.append("")
    if found := figures.get("nystrom"):
        lines += [
            "## SURE's approximate kernel beside the exact one",
            "",
            "`python -m benchmarks.performance nystrom`: 3,000 × 40 × 12, where both can be computed.",
            "With the exact kernel",
            f"{found['exact']:.1%} of the identified labels are right.",
            "",
            "| centres | largest error of an entry (bound) | same label as exact | identified right |",
            "|---|---|---|---|",
            *(
                f"| {row['centres']:,} | {row['largest']:.2f} | {row['same']:.1%} | {row['right']:.1%} |"
                for row in found["rows"]
            ),
            "",
        ]
    lines += [
        "## Several processes",
        "",
        "`torchrun --nproc-per-node N -m pll fit …` (methods: "
        + ", ".join(name for name in METHODS if METHODS[name].in_ranks)
        + "). Each rank owns a fixed part",
        "of the examples and their label weights and computes its part of the mini-batches of a",
        "single process. Between",
        "ranks go, in each step, 16 bytes of command and the gradients (with batch normalisation its",
        "sums, so that it sees",
        "the whole mini-batch, also on CPUs); after an epoch its loss and, once, the label weights,",
        "which rank 0 keeps in the",
        "history. Every rank reads the data and needs the run folder. A rank that ends, ends the run with a message;",
        "`--resume` goes on from the last checkpoint with any number of processes, also without torchrun.",
        "",
        "`candid --ranks N` (or `PLL_RANKS`) opens the app so that new runs train in N processes of its machine; "
        "*Processes* in",
        "Train's settings changes it for one run, and beside a run that was stopped or interrupted for its next start. "
        "One such",
        "run at a time in a server. The server is rank 0: live views, pause, steps, stop and export are as always.",
        "",
        "`python -m benchmarks.performance ranks`: digits, q = 0.5, 20 % held out, 10 epochs, two processes and one.",
        "",
        "| model | label weights apart after epoch 1 | after epoch 10 | labels that differ |",
        "|---|---|---|---|",
    ]
    for model in ("linear", "mlp"):
        if found := figures.get(f"ranks {model}"):
            lines.append(
                f"| {model} | {found['first']:.0e} | {found['last']:.0e} | {found['different']} of {found['n']:,} |"
            )
    lines += [
        "",
        "Sums are taken in another order, which a network with ReLU amplifies from epoch to epoch. Dropout and random",
        "changes of images differ between one process and several, since each rank draws its own.",
        "",
        *_processes(figures),
        _larger_than_memory(figures),
        "## What did not help",
        "",
        "- SURE by conjugate gradients on the exact kernel: estimated, not built. A product with the",
        "  kernel costs 2 n² c",
        "  operations, 1.4e11 at this size; some 17 products in the first iteration and 5 in each later",
        "  one are more than",
        "  the factorisation. In float32 the kernel alone would take 1.6 GB.",
        "- The bound on the *outputs* that follows from the bound on the kernel, ‖K − K̃‖ / β, says",
        "  nothing at β = 0.05;",
        "  what is stated is the bound on the entries of the kernel, and the agreement above.",
        "",
        "## Not measured, not built",
        "",
        "- A GPU: none was to be had. The NCCL back end and torch's own synchronised batch normalisation have not run.",
        "- Several processes on several machines.",
        "- IPAL and PL-kNN where the table says so.",
        "",
    ]
    return "\n".join(lines)


def loop(model: str, threads: str) -> dict[str, Any]:
    """Take epochs of each way in turns; return their median seconds."""
    torch.set_num_threads(int(threads))
    epochs = {"linear": 15, "mlp": 6, "convnet": 3}[model]
    return dict(measure(model, epochs, items=True))


def measured(case: list[str]) -> dict[str, Any]:
    """Run a case in a process of its own, in one thread."""
    command = [sys.executable, "-m", "benchmarks.performance", "--case", *case]
    done = subprocess.run(
        command, cwd=ROOT, env=os.environ | {"OMP_NUM_THREADS": "1"}, check=True, capture_output=True, text=True
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def _write(figures: dict[str, Any]) -> None:
    PAGE.write_text(page(figures), encoding="utf-8")


def main() -> None:
    """Measure, and write the page."""
    wanted = sys.argv[1:]
    if wanted == ["--page"]:
        _write(json.loads(FIGURES.read_text(encoding="utf-8")))
        return
    if wanted[:1] == ["--case"]:
        cases: dict[str, Callable[..., dict[str, Any]]] = {
            **{
                "loop": loop,
                "map": lambda n: map_browser.measured(int(n)),
                "pages": pages.measured,
                "classical": classical,
                "nystrom": nystrom,
                "ranks": ranks,
                "processes": processes,
            },
            **{"reading": reading, "shards": shards, "growth": growth, "neighbours": neighbours},
        }
        print(json.dumps(cases[wanted[1]](*wanted[2:])))
        return
    figures: dict[str, Any] = json.loads(FIGURES.read_text(encoding="utf-8")) if FIGURES.exists() else {}
    for part in wanted or CASES:
        for case in CASES[part]:
            figures[" ".join(case)] = measured([*case])
            print(" ".join(case), figures[" ".join(case)], flush=True)
            FIGURES.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
            _write(figures)


if __name__ == "__main__":
    main()

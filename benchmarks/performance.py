"""Speed and memory at size: `python -m benchmarks.performance [PART …]`; writes the tables of docs/performance.md.

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

`--page` writes the tables again. Each case runs in a process of its own. Parts that are not named keep the figures of
docs/performance.json. CPU seconds are what one thread computed; on a busy machine they say more than the time that
passed.
"""

from __future__ import annotations

import json
import math
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
from benchmarks.marked import put, table
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


LOOP_LIMITS = {"linear": (1.40, 50), "mlp": (1.03, 7), "convnet": (1.03, None)}
"""At most so many times the bare loop, at least so many times as fast as the paper's way."""
MAP_LIMITS = {"first paint": 5.0, "again": None, "scrub": 0.3, "lasso": 1.0, "review": 1.0}
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
NOT_MEASURED = "not measured"


def tables(figures: dict[str, Any]) -> dict[str, str]:
    """Return the tables of docs/performance.md by the names of their marks."""
    written = (_loop, _map, _pages, _classical, _neighbours, _nystrom, _ranks, _processes, _shards, _reading, _growth)
    return {part.__name__[1:]: part(figures) for part in written}


def _loop(figures: dict[str, Any]) -> str:
    header = ["model", "threads", "supervised, s an epoch", "PRODEN, of that", "monitoring adds", "times as fast"]
    rows = []
    for model, threads in (case[1:] for case in CASES["loop"]):
        case = figures.get(f"loop {model} {threads}")
        if case is None:
            rows.append([model, threads, NOT_MEASURED, "", "", ""])
            continue
        most, least = LOOP_LIMITS[model]
        ratio = f"{case['proden'] / case['bare']:.2f} (≤ {most:.2f})"
        items = "" if "items" not in case else f"{case['items'] / case['whole']:.0f} (≥ {least})"
        rows.append(
            [model, threads, f"{case['bare']:.3f}", ratio, f"{case['observed'] / case['proden'] - 1:+.1%}", items]
        )
    return table(header, rows)


def _map(figures: dict[str, Any]) -> str:
    heads = [name if most is None else f"{name} (≤ {most:g})" for name, most in MAP_LIMITS.items()]
    rows = []
    for _, n in CASES["map"]:
        case = figures.get(f"map {n}")
        cells = [NOT_MEASURED] * len(heads) if case is None else [f"{case[name]:.2f}" for name in MAP_LIMITS]
        rows.append([f"{int(n):,}", *cells])
    return table(["examples", *heads], rows)


def _pages(figures: dict[str, Any]) -> str:
    case = figures.get("pages", {})
    rows = [
        [what, f"{case[name]:.3g}" if name in case else NOT_MEASURED, "" if most is None else f"{most:g}"]
        for name, (what, most) in PAGE_LIMITS.items()
    ]
    return table(["what", "measured", "limit"], rows)


def _classical(figures: dict[str, Any]) -> str:
    rows = []
    for name in ("sure", "ecoc", "plsvm"):
        case = figures.get(f"classical {name}")
        if case is None:
            rows.append([METHODS[name].title, NOT_MEASURED, "", "", "", ""])
            continue
        within = "yes" if case["cpu"] <= LIMIT_SECONDS and case["gb"] <= LIMIT_GB else "**no**"
        rows.append(
            [METHODS[name].title, f"{case['cpu']:.1f}", *_size_and_right(case), within, " ".join(case["notes"])]
        )
    return table(["method", "CPU s", "peak GB", "identified right", "within the limits", "notes"], rows)


def _neighbours(figures: dict[str, Any]) -> str:
    rows = []
    for name, n in (case[1:] for case in CASES["neighbours"]):
        case = figures.get(f"neighbours {name} {n}")
        row = [METHODS[name].title, f"{int(n):,}"]
        if case is None:
            rows.append([*row, NOT_MEASURED, "", "", ""])
        else:
            rows.append([*row, f"{case['cpu']:.0f}", *_size_and_right(case), " ".join(case["notes"])])
    return table(["method", "examples", "CPU s", "peak GB", "identified right", "notes"], rows)


def _size_and_right(case: dict[str, Any]) -> list[str]:
    return [f"{case['gb']:.2f}", f"{case['right']:.1%}"]


def _nystrom(figures: dict[str, Any]) -> str:
    case = figures.get("nystrom", {"rows": [], "exact": math.nan})
    rows = [
        [f"{row['centres']:,}", f"{row['largest']:.2f}", f"{row['same']:.1%}", f"{row['right']:.1%}"]
        for row in case["rows"]
    ]
    exact = ["exact kernel", "", "", f"{case['exact']:.1%}"]
    return table(
        ["centres", "largest error of an entry (bound)", "same label as exact", "identified right"], [*rows, exact]
    )


def _ranks(figures: dict[str, Any]) -> str:
    rows = []
    for model in ("linear", "mlp"):
        if case := figures.get(f"ranks {model}"):
            differ = f"{case['different']} of {case['n']:,}"
            rows.append([model, f"{case['first']:.0e}", f"{case['last']:.0e}", differ])
    return table(["model", "label weights apart after epoch 1", "after epoch 10", "labels that differ"], rows)


def _processes(figures: dict[str, Any]) -> str:
    rows = []
    for model in ("linear", "mlp"):
        one, two = (figures.get(f"processes {model} {count}") for count in (1, 2))
        if one is not None and two is not None:
            seconds = [f"{case[name]:.2f}" for name in ("wall", "cpu") for case in (one, two)]
            rows.append([model, *seconds, f"{one['wall'] / two['wall']:.2f}"])
    return table(["model", "s, one process", "s, two", "CPU s of rank 0, one", "of two", "times as fast"], rows)


def _shards(figures: dict[str, Any]) -> str:
    rows = []
    for _, n, d in CASES["shards"]:
        if case := figures.get(f"shards {n} {d}"):
            rows.append([f"{int(n):,}", d, *(f"{case[name]:.2f}" for name in ("gb", "read", "most", "wall", "cpu"))])
    header = ["examples", "features", "GB of features", "read, CPU s", "own memory, peak GB"]
    return table([*header, "speed, of that in memory", "by CPU time"], rows)


def _reading(figures: dict[str, Any]) -> str:
    rows = []
    for _, model, d in CASES["reading"]:
        if case := figures.get(f"reading {model} {d}"):
            rows.append([model, d, f"{case['wall']:.2f}", f"{case['cpu']:.2f}", f"{case['ms']:.1f}"])
    header = ["model", "features", "speed, of that in memory", "by CPU time, reading included"]
    return table([*header, "CPU ms a step in memory"], rows)


def _growth(figures: dict[str, Any]) -> str:
    rows = []
    for size in [case[1:] for case in (*CASES["growth"], *CASES["largest"])]:
        if case := figures.get(f"growth {' '.join(size)}"):
            seconds = [f"{case[name]:.1f}" for name in ("gb_file", "read", "start", "ms", "end")]
            rows.append([*(f"{int(n):,}" for n in size), *seconds, f"{case['gb_step']:.2f}", f"{case['gb']:.2f}"])
    header = ["n", "d", "c", "\\|S\\|", "files GB", "read s", "statistics, sets s", "ms a step", "end of epoch s"]
    return table([*header, "GB in steps", "GB peak"], rows)


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
    for name, text in tables(figures).items():
        put(PAGE, name, text)


def main() -> None:
    """Measure, and write the tables."""
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

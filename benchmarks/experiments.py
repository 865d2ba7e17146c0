"""The paper's tables 1, 2 and 4 for the data at hand, and what they cost: `python -m benchmarks.experiments`.

Prints the tables with their tests, from docs/results.csv, which `python -m benchmarks.results` fits in the protocol of
the presets (five folds of seed 0, the paper's settings, 500 epochs). Fits nothing; takes seconds.

    --killed 10  also fits the whole grid, two cells at a time, kills it so often at random (SIGKILL, after 20 to 90
                 seconds), continues it, and compares every figure with the file; with 0 it is not killed, and how long
                 each fit took is put into the file
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from pll.analysis.evaluation import Result, read_results, results_frame
from pll.experiments.presets import preset
from pll.experiments.tables import Table, markdown, tables
from pll.methods import method_title

DOCS = Path(__file__).parents[1] / "docs"
CSV = DOCS / "results.csv"
NAMES = ("real-world", "uci-binomial", "uci-pair")


def results_of(name: str) -> list[Result]:
    """Return the results of docs/results.csv that are cells of a preset."""
    found = preset(name)
    made = {("", None) if flip is None else (flip.how, flip.q) for flip in found.flip_list}
    every = [
        result
        for result in read_results(CSV)
        if result.dataset in found.datasets and result.method in found.methods and (result.flip, result.q) in made
    ]
    order = list(found.datasets)
    return sorted(every, key=lambda result: order.index(result.dataset))


def paper_tables() -> dict[str, list[Table]]:
    """Return the tables of each preset: its title → tables."""
    return {preset(name).title: tables(results_of(name), methods=preset(name).methods, n_fits=5) for name in NAMES}


def significance() -> Iterator[str]:
    """Yield a section of docs/results.md: PRODEN against each method, over the columns of each table."""
    compared = {title: table.across() for title, (table,) in paper_tables().items()}
    rows: dict[str, list[str]] = {}
    for each in compared.values():
        for row in each:
            cell = f"{row.wins}/{row.ties}/{row.losses} (p={row.p_wilcoxon:.3g}, {row.p_holm:.3g})"
            rows.setdefault(row.method, []).append(cell)
    yield "## PRODEN against each method"
    yield ""
    yield (
        "Columns in which PRODEN is significantly better / neither / worse (paired t-test at 5 % over the same five "
        "folds; folds share training examples, so the test is optimistic), and p of Wilcoxon's test over the means of "
        "the columns, without and with Holm's correction. With 2 columns Wilcoxon's p cannot fall below 0.5. "
        "`python -m benchmarks.experiments` prints the whole tables."
    )
    yield ""
    yield f"| method | {' | '.join(compared)} |"
    yield f"|{'---|' * (len(compared) + 1)}"
    for method, cells in rows.items():
        yield f"| {method_title(method)} | {' | '.join(cells)} |"
    yield ""


def cost() -> Iterator[str]:
    """Yield a section of docs/results.md: what a fit costs, and the whole grid."""
    frame = results_frame([result for name in NAMES for result in results_of(name)])
    medians = frame.pivot_table(index="method", columns="dataset", values="seconds", aggfunc="median", sort=False)
    seconds = float(frame["seconds"].sum())
    yield "## Time of a fit"
    yield ""
    yield (
        "Median seconds at 500 epochs, one thread, two fits at a time on 2 cores. The "
        f"{len(frame):,} fits of the paper's tables together take {seconds / 60:.0f} minutes of one core "
        "(`python -m benchmarks.experiments --killed 0` fits them again and compares all figures)."
    )
    yield ""
    yield f"| method | {' | '.join(medians.columns)} |"
    yield f"|{'---|' * (len(medians.columns) + 1)}"
    for method, row in medians.iterrows():
        cells = " | ".join("–" if pd.isna(value) else f"{value:.2f}" for value in row)
        yield f"| {method_title(str(method))} | {cells} |"
    yield ""


def killed(kills: int) -> None:
    """Fit all cells of the presets with so many kills among them, and compare them with the file."""
    rng, started, fitted = random.Random(), time.monotonic(), dict[tuple[object, ...], Result]()
    with tempfile.TemporaryDirectory() as place:
        for k, name in enumerate(NAMES):
            known = {key(result): result for result in results_of(name)}
            only = [part for dataset in {result.dataset for result in known.values()} for part in ("--only", dataset)]
            out = Path(place) / name
            command = [sys.executable, "-m", "pll", "experiment", name, *only, "--out", str(out), "--jobs", "2"]
            left = kills * (k + 1) // len(NAMES) - kills * k // len(NAMES)
            for limit in [*(rng.uniform(20, 90) for _ in range(left)), None]:
                environment = os.environ | {"OMP_NUM_THREADS": "1"}
                running = subprocess.Popen(command, cwd=DOCS.parent, env=environment, start_new_session=True)
                try:
                    running.wait(limit)
                except subprocess.TimeoutExpired:
                    os.killpg(running.pid, signal.SIGKILL)
                    running.wait()
            again = {key(result): result for result in read_results(out / "results.csv")}
            same = sum(figures(again[one]) == figures(result) for one, result in known.items() if one in again)
            print(f"{name}: {left} kills, {same} of {len(known)} cells have the figures of the file", flush=True)
            fitted |= again
    print(f"{len(fitted)} cells in {(time.monotonic() - started) / 60:.1f} minutes")
    if not kills:
        table = pd.read_csv(CSV, dtype=str, keep_default_na=False)
        table["seconds"] = [str(fitted.get(key(one), one).seconds) for one in read_results(CSV)]
        table.to_csv(CSV, index=False, lineterminator="\r\n")


def key(result: Result) -> tuple[object, ...]:
    """Which cell a result is of."""
    return result.dataset, result.flip, result.q, result.method, result.seed, result.fold


def figures(result: Result) -> tuple[float | None, float | None]:
    """What was measured, but for the time."""
    return result.test_accuracy, result.transductive_accuracy


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--killed", type=int, metavar="N")
    options = parser.parse_args()
    for title, each in paper_tables().items():
        print(f"## {title}", *map(markdown, each), sep="\n\n")
    if options.killed is not None:
        killed(options.killed)


if __name__ == "__main__":
    main()

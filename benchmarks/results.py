"""The paper's five-fold tables and the digits figures, for every method: `python -m benchmarks.results [FOLDER]`.

Fits three experiments into folders under FOLDER (what is there already is not fitted again), puts their figures into
docs/results.csv, and writes the tables of docs/results.md; without FOLDER, the tables alone. Needs `PLL_DATA_PATH` to
name a folder with the datasets. About an hour on two cores.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.marked import put, table
from pll.experiments.evaluation import Result, read_results, results_frame
from pll.experiments.execution import ExperimentFolder, run
from pll.experiments.experiment import Experiment, FlipGrid, preset
from pll.experiments.published import published_accuracy
from pll.experiments.tables import tables
from pll.methods import METHODS, method_title

DOCS = Path(__file__).parents[1] / "docs"
CSV, PAGE = DOCS / "results.csv", DOCS / "results.md"
PRESETS = ("real-world", "uci-binomial", "uci-pair")
"""The paper's tables 2, 1 and 4."""
BY_METHOD = [name for name, method in METHODS.items() if not method.takes_votes and not method.adds_labels]
FLIPS = [FlipGrid(how="binomial", q=[0.1, 0.7]), FlipGrid(how="pair", q=[0.5, 0.9])]
DEFINITIONS: dict[str, dict[str, Any]] = {
    "digits": {"datasets": ["digits"], "flips": FLIPS[:1], "holdout": 0.2, "seeds": [0, 1, 2, 3, 4]},
    "real-world": {"datasets": ["lost", "birdsong"], "folds": 5, "recipe": "paper"},
    "uci": {
        "datasets": ["yeast", "dermatology", "synthetic-control"],
        "flips": FLIPS,
        "folds": 5,
        "recipe": "paper",
    },
}
EXPERIMENTS = {name: Experiment.model_validate({"methods": BY_METHOD} | one) for name, one in DEFINITIONS.items()}
TABLES = (("digits",), ("lost", "birdsong"), ("yeast",), ("dermatology",), ("synthetic-control",))
"""Datasets of each table of accuracies; its marks on the page bear the name of the first."""
Part = tuple[str, str, float | None, str, int, int]


def fit(folder: Path) -> None:
    """Fit what is missing of the experiments, and put all figures of the folder into docs/results.csv."""
    results = {part_of(result): result for result in read_results(CSV)}
    for name, experiment in EXPERIMENTS.items():
        place = ExperimentFolder(folder / name)
        place.create(experiment)
        outcomes = run(experiment.plan(), place, tell=lambda progress: print(progress.done, flush=True))
        made = [outcome.result for outcome in outcomes.values() if outcome.result is not None]
        results |= {part_of(result): result for result in made}
    columns = pd.read_csv(CSV, nrows=0).columns
    results_frame(results.values())[columns].to_csv(CSV, index=False, lineterminator="\r\n")


def part_of(result: Result) -> Part:
    """Return the cell that a result is of."""
    return result.dataset, result.flip, result.q, result.method, result.seed, result.fold


def accuracies(results: Sequence[Result]) -> str:
    """Return a table of transductive / test accuracy in percent: a row a method, a column a way to make candidates."""
    columns = list(dict.fromkeys((result.dataset, result.flip, result.q) for result in results))
    rows = []
    for method in METHODS:
        cells = [_cell(column, method, results) for column in columns]
        rows += [[f"`{method}`", *cells]] if any(cells) else []
    return table(["method", *(f"{flip} q = {q:g}" if flip else dataset for dataset, flip, q in columns)], rows)


def _cell(column: tuple[str, str, float | None], method: str, results: Sequence[Result]) -> str:
    """Return the accuracies and the paper's, which is marked where it is two deviations away."""
    of_cell = [one for one in results if (one.dataset, one.flip, one.q, one.method) == (*column, method)]
    if not of_cell:
        return ""
    test = _percent([one.test_accuracy for one in of_cell])
    own = f"{_spread(_percent([one.transductive_accuracy for one in of_cell]))} / {_spread(test)}"
    paper = published_accuracy(*column, method)
    if paper is None:
        return own
    mark = "\\*" if abs(test.mean() - paper.mean) > 2 * paper.deviation else ""
    return f"{own} ({paper.mean:.2f}±{paper.deviation:.2f}){mark}"


def _percent(shares: Sequence[float | None]) -> Any:
    return 100 * np.array(shares, dtype=np.float64)


def _spread(values: Any) -> str:
    return f"{values.mean():.2f}±{values.std(ddof=1):.2f}"


def significance(of_presets: dict[str, list[Result]]) -> str:
    """Return a table of PRODEN against each method, over the columns of each of the paper's tables."""
    rows: dict[str, list[str]] = {}
    for name, results in of_presets.items():
        (made,) = tables(results, methods=preset(name).methods, n_fits=5)
        for method in made.methods[1:]:
            marks = [entry.mark[:1] for (_, name), entry in made.entries.items() if name == method]
            counts = "/".join(str(marks.count(mark)) for mark in ("•", "", "◦"))
            rows.setdefault(method, [method_title(method)]).append(counts)
    return table(["method", *(preset(name).title for name in of_presets)], list(rows.values()))


def cost(of_presets: dict[str, list[Result]]) -> str:
    """Return a table of the median seconds of a fit, by method and dataset."""
    frame = results_frame([result for results in of_presets.values() for result in results])
    medians = frame.pivot_table(index="method", columns="dataset", values="seconds", aggfunc="median", sort=False)
    rows = [
        [method_title(str(method)), *("–" if pd.isna(value) else f"{value:.2f}" for value in row)]
        for method, row in medians.iterrows()
    ]
    return table(["method", *map(str, medians.columns)], rows)


def results_of(name: str, results: Sequence[Result]) -> Iterator[Result]:
    """Yield the results that are cells of a preset, in the order of its datasets."""
    wanted = preset(name)
    made = {("", None) if flip is None else (flip.how, flip.q) for flip in wanted.flip_list}
    for dataset in wanted.datasets:
        for one in results:
            if one.dataset == dataset and one.method in wanted.methods and (one.flip, one.q) in made:
                yield one


def main() -> None:
    """Fit, where a folder is given, and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?")
    folder = parser.parse_args().folder
    if folder is not None:
        fit(folder)
    results = read_results(CSV)
    for datasets in TABLES:
        put(PAGE, datasets[0], accuracies([result for result in results if result.dataset in datasets]))
    of_presets = {name: list(results_of(name, results)) for name in PRESETS}
    put(PAGE, "significance", significance(of_presets))
    put(PAGE, "cost", cost(of_presets))


if __name__ == "__main__":
    main()

"""The paper's five-fold tables and the digits figures, for every method: `python -m benchmarks.results`.

Fits what docs/results.csv does not hold yet, appends it there, and writes docs/results.md. Delete rows to have them
fitted again. Needs `PLL_DATA_PATH` to name a folder with the datasets (or a network). About an hour on two cores.

    --only lost,digits      some datasets
    --methods proden,ipal   some methods
    --page                  write the page from what there is, fit nothing
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch

from benchmarks.experiments import cost, significance
from benchmarks.results_notes import HEAD, NOTES
from pll import catalog
from pll.analysis.evaluation import Result
from pll.experiments.execution import fit_cell
from pll.experiments.experiment import Cell, Experiment, FlipGrid
from pll.experiments.published import published
from pll.methods import METHODS
from pll.methods.deep import DeepEstimator

DOCS = Path(__file__).parents[1] / "docs"
CSV, PAGE = DOCS / "results.csv", DOCS / "results.md"

FIELDS = (
    *("flip", "q", "dataset", "method", "model", "seed", "fold"),
    *("test_accuracy", "transductive_accuracy", "seconds"),
)
"""Columns of docs/results.csv."""

Settings = dict[str, Any]
PAPER: dict[str, Settings] = {
    "lost": {"lr": 0.01, "weight_decay": 1e-2},
    "birdsong": {"lr": 0.01, "weight_decay": 1e-4},
    "yeast": {"lr": 0.1, "weight_decay": 1e-3},
    "dermatology": {"lr": 0.01, "weight_decay": 1e-3},
    "synthetic-control": {"lr": 0.1, "weight_decay": 1e-3},
}
"""The published settings of PRODEN, used for every method trained by gradient descent; batch 100, 500 epochs."""


@dataclass(frozen=True)
class Setting:
    """A column of a table: a dataset and how its candidates are made (flip "" for its own)."""

    dataset: str
    flip: str = ""
    q: float = 0.0

    @property
    def title(self) -> str:
        return f"{self.dataset}, {self.column}" if self.flip else self.dataset

    @property
    def column(self) -> str:
        return f"{self.flip} q = {self.q:g}" if self.flip else self.dataset


FLIPS = (("binomial", 0.1), ("binomial", 0.7), ("pair", 0.5), ("pair", 0.9))
GROUPS = {
    "Digits": [Setting("digits", flip, q) for flip, q in FLIPS[:2]],
    "Real-world datasets": [Setting("lost"), Setting("birdsong")],
    "Yeast": [Setting("yeast", flip, q) for flip, q in FLIPS],
    "Dermatology": [Setting("dermatology", flip, q) for flip, q in FLIPS],
    "Synthetic Control": [Setting("synthetic-control", flip, q) for flip, q in FLIPS],
}
"""Tables of the page."""
TABLES = [setting for settings in GROUPS.values() for setting in settings]


def cells_of(setting: Setting, method: str) -> list[Cell]:
    """The fits of a method with its settings. Digits: 20 % held out, five seeds. The others: five folds."""
    splits: dict[str, Any] = {"holdout": 0.2, "seeds": [*range(5)]} if setting.dataset == "digits" else {"folds": 5}
    experiment = Experiment(
        datasets=[setting.dataset],
        methods=[method],
        flips=[FlipGrid(how=setting.flip, q=setting.q)] if setting.flip else [],
        settings=[settings_of(method, setting)],
        **splits,
    )
    return list(experiment.plan().cells)


def settings_of(method: str, setting: Setting) -> Settings:
    """The paper's settings where the method has them, else its own defaults."""
    settings: Settings = {}
    if issubclass(METHODS[method], DeepEstimator) and setting.dataset in PAPER:
        settings |= PAPER[setting.dataset] | {"epochs": 500, "batch_size": 100}
    if method in ("ga", "pn-decomp"):  # their steps are of another scale: the method's own default
        settings.pop("lr", None)
    if method == "sure" and setting.dataset in PAPER:  # the paper compares linear models
        settings["kernel"] = "linear"
    return settings


def fit_missing(tables: list[Setting], methods: list[str]) -> None:
    """Fit what is missing, a method on a table at a time, and append it to the CSV."""
    done = {(row["dataset"], row["flip"], float(row["q"]), row["method"]) for row in _rows()}
    for setting in tables:
        data = catalog.load(setting.dataset)
        for method in methods:
            if (setting.dataset, setting.flip, setting.q, method) in done:
                continue
            results = [fit_cell(cell, data)[0] for cell in cells_of(setting, method)]
            _append(setting, results)
            mean = np.mean([result.test_accuracy for result in results]) * 100
            print(f"{setting.title:40} {method:14} {mean:6.2f} %  {sum(r.seconds for r in results):7.1f} s", flush=True)


def _rows() -> list[dict[str, str]]:
    if not CSV.exists():
        return []
    with CSV.open(newline="") as stream:
        return list(csv.DictReader(stream))


def _append(setting: Setting, results: list[Result]) -> None:
    is_new = not CSV.exists()
    with CSV.open("a", newline="") as stream:
        writer = csv.DictWriter(stream, FIELDS, extrasaction="ignore")
        if is_new:
            writer.writeheader()
        writer.writerows(asdict(result) | {"flip": setting.flip, "q": setting.q} for result in results)


def page() -> str:
    """docs/results.md from docs/results.csv."""
    frame = pd.read_csv(CSV, keep_default_na=False, na_values={"transductive_accuracy": [""]})
    parts = (part for title, settings in GROUPS.items() for part in _table(title, settings, frame))
    return "\n".join([HEAD, *parts, NOTES, *significance(), *cost()]).rstrip() + "\n"


def _table(title: str, settings: list[Setting], frame: pd.DataFrame) -> Iterator[str]:
    """Yield a table: one row a method, one column a setting."""
    yield f"## {title}\n"
    yield f"| method | {' | '.join(setting.column for setting in settings)} |"
    yield f"|{'---|' * (len(settings) + 1)}"
    for method in METHODS:
        cells = [_cell(setting, method, frame) for setting in settings]
        if any(cells):
            yield f"| `{method}` | {' | '.join(cells)} |"
    yield ""


def _cell(setting: Setting, method: str, frame: pd.DataFrame) -> str:
    """Transductive / test accuracy, and the paper's test accuracy, marked where it is two deviations away."""
    is_cell = (frame.dataset == setting.dataset) & (frame.flip == setting.flip) & (frame.q == setting.q)
    rows = frame[is_cell & (frame.method == method)]
    if rows.empty:
        return ""
    test = rows.test_accuracy.to_numpy() * 100
    own = f"{_spread(rows.transductive_accuracy.to_numpy() * 100)} / {_spread(test)}"
    paper = published(setting.dataset, setting.flip, setting.q if setting.flip else None, method)
    if paper is None:
        return own
    mark = "\\*" if abs(test.mean() - paper.mean) > 2 * paper.deviation else ""
    return f"{own} ({paper.mean:.2f}±{paper.deviation:.2f}){mark}"


def _spread(values: Any) -> str:
    return f"{values.mean():.2f}±{values.std(ddof=1):.2f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="")
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--page", action="store_true")
    options = parser.parse_args()
    torch.set_num_threads(1)
    wanted = options.only.split(",") if options.only else {setting.dataset for setting in TABLES}
    if not options.page:
        fit_missing([s for s in TABLES if s.dataset in wanted], options.methods.split(","))
    PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()

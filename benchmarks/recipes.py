"""What the recipes are worth: `python -m benchmarks.recipes`.

    python -m benchmarks.recipes [--only lost,digits] [--seeds 1] [--rows 5000] [--data ../shared/data] [--time]

PRODEN with its default settings, the paper's, those of the recipe auto, and those that the same search finds where the
true labels of its held-out examples choose (*truth*). Writes a row a fit to docs/recipes.csv and
goes on where it was stopped; `python -m benchmarks.results --page` puts the section *Recipes* into docs/results.md.
`PLL_DATA_PATH` names the folder of the datasets; what is missing is left out. `--time` only measures a search and a
training of 5,000 × 300 in CPU seconds.
"""

from __future__ import annotations

import argparse
import csv
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch

from benchmarks.votes import load
from pll import catalog
from pll.analysis.protocol import Parts, prepare
from pll.candidates import CandidateSets
from pll.dataset import PartialLabelDataset
from pll.errors import UserError
from pll.io import as_column
from pll.methods import METHODS, PartialLabelEstimator
from pll.methods.deep import DeepEstimator
from pll.methods.recipe import Recipe
from pll.methods.recipe_search import search
from pll.methods.settling import union_of
from pll.synthesis import Flip, flip_binomial

DOCS = Path(__file__).parents[1] / "docs"
CSV = DOCS / "recipes.csv"
FIELDS = (
    *("dataset", "flip", "q", "seed", "way", "test_accuracy", "transductive_accuracy"),
    *("covering_rate", "choosing_cpu_seconds", "cpu_seconds", "settings"),
)
WAYS = ("default", "paper", "auto", "truth")
TITLES = {
    "default": "default",
    "paper": "paper",
    "auto": "auto",
    "truth": "chosen with the truth",
}


@dataclass(frozen=True)
class Setting:
    """A dataset, and how its candidates are made (flip "" for its own)."""

    dataset: str
    flip: str = ""
    q: float = 0.0

    @property
    def title(self) -> str:
        return f"{self.dataset}, {self.flip} {self.q:g}" if self.flip else self.dataset


SETTINGS = [
    Setting("lost"),
    *(Setting("synthetic-control", flip, q) for flip, q in (("binomial", 0.7), ("pair", 0.9))),
    *(Setting("dermatology", flip, q) for flip, q in (("binomial", 0.7), ("pair", 0.9))),
    *(Setting("yeast", flip, q) for flip, q in (("binomial", 0.7), ("pair", 0.9))),
    Setting("vlm_dtd"),
    Setting("birdsong"),
    Setting("digits", "binomial", 0.7),
    Setting("stance", "binomial", 0.5),
    Setting("vlm_caltech101"),
    Setting("mnist", "binomial", 0.7),
    Setting("cifar10h"),
    *(Setting("synthetic-control", flip, q) for flip, q in (("binomial", 0.1), ("pair", 0.5))),
    *(Setting("dermatology", flip, q) for flip, q in (("binomial", 0.1), ("pair", 0.5))),
    *(Setting("yeast", flip, q) for flip, q in (("binomial", 0.1), ("pair", 0.5))),
    Setting("digits", "pair", 0.9),
    Setting("mnist", "pair", 0.9),
]
"""In the order in which they are fitted."""


def dataset(name: str, folder: Path) -> PartialLabelDataset:
    """Return the data of a setting."""
    if name == "stance":
        table = pd.read_csv(folder / "votes" / "gpt_stance.csv", dtype=str, keep_default_na=False)
        classes = tuple(sorted(set(table["Y"])))
        return PartialLabelDataset(
            X=np.zeros((len(table), 0), dtype=np.float32),
            texts=as_column(table["text"].tolist()),
            y=np.array([classes.index(label) for label in table["Y"]], dtype=np.int64),
            class_names=classes,
            name=name,
        )
    if name.startswith("vlm_"):
        votes = next(one for one in load(folder) if one.name == name)
        return PartialLabelDataset(
            X=votes.X, candidates=union_of(votes.said), y=votes.y, annotations=votes.said, settle=True, name=name
        )
    return catalog.load(name, download=False)


def parts_of(setting: Setting, seed: int, rows: int, folder: Path) -> Parts:
    """Return training and test part: at most so many rows, a fifth of them to test on."""
    data = dataset(setting.dataset, folder)
    chosen = np.sort(np.random.default_rng([seed, 11]).permutation(len(data))[:rows])
    flip = Flip(setting.flip, setting.q) if setting.flip else None
    return prepare(replace(data.take(chosen), is_test=None), flip_with=flip, holdout=0.2, seed=seed)


def rows_of(setting: Setting, parts: Parts, seed: int) -> Iterator[dict[str, Any]]:
    """Yield a row for every way, as it is fitted."""
    task, missing = parts.task(), "mean" if parts.train.kind == "table" else "error"
    common = {"missing": missing, "seed": seed, "threads": 1}

    def row(way: str, estimator: PartialLabelEstimator, chosen: Recipe | None, choosing: float) -> dict[str, Any]:
        cpu = time.process_time()
        *_, record = estimator.iter_fit(task)
        return {
            "dataset": setting.dataset,
            "flip": setting.flip,
            "q": setting.q,
            "seed": seed,
            "way": way,
            "test_accuracy": record.test_accuracy,
            "transductive_accuracy": record.transductive_accuracy,
            "covering_rate": None if chosen is None else chosen.covering_rate,
            "choosing_cpu_seconds": round(choosing, 2),
            "cpu_seconds": round(time.process_time() - cpu, 2),
            "settings": "" if chosen is None else json.dumps(chosen.settings, sort_keys=True),
        }

    def fitted(way: str, recipe: str, choose: Callable[[DeepEstimator], Recipe]) -> dict[str, Any]:
        estimator = METHODS["proden"](**common, recipe=recipe)
        assert isinstance(estimator, DeepEstimator)
        cpu = time.process_time()
        chosen = choose(estimator)
        spent = time.process_time() - cpu
        estimator.use_recipe(chosen)
        return row(way, estimator, chosen, spent)

    yield row("default", METHODS["proden"](**common), None, 0.0)
    yield fitted("auto", "auto", lambda one: one.choose_settings(task))
    yield fitted("paper", "paper", lambda one: one.choose_settings(task, dataset=setting.dataset))
    assert task.y is not None
    truth = CandidateSets.from_labels(task.y, task.candidates.n_classes)
    yield fitted("truth", "auto", lambda one: search(replace(one.problem(task), judged=truth)))


def fit_missing(settings: list[Setting], seeds: int, rows: int, folder: Path) -> None:
    """Fit what docs/recipes.csv does not hold, and append it."""
    for seed in range(seeds):
        for setting in settings:
            done = read()
            same = done[(done.dataset == setting.dataset) & (done.flip == setting.flip) & (done.q == setting.q)]
            if set(WAYS) <= set(same[same.seed == seed].way):
                continue
            try:
                parts = parts_of(setting, seed, rows, folder)
            except (UserError, OSError) as error:
                print(f"{setting.title}: {error}", flush=True)
                continue
            found = list(rows_of(setting, parts, seed))  # all ways of a part, or none
            is_new = not CSV.exists()
            with CSV.open("a", newline="") as stream:
                writer = csv.DictWriter(stream, FIELDS)
                if is_new:
                    writer.writeheader()
                writer.writerows(found)
            told = ", ".join(f"{row['way']} {_percent(row)}" for row in found)
            print(f"{setting.title}, seed {seed}: {told}", flush=True)


def _percent(row: dict[str, Any]) -> str:
    return f"{100 * row['test_accuracy']:.1f}/{100 * row['transductive_accuracy']:.1f}"


def read() -> pd.DataFrame:
    """Return what there is."""
    if not CSV.exists():
        return pd.DataFrame(columns=list(FIELDS))
    return pd.read_csv(CSV, keep_default_na=False, na_values={"covering_rate": [""]})


def section() -> str:
    """Return the section of docs/results.md; "" where there is nothing."""
    frame = read()
    if frame.empty:
        return ""
    for name in ("test_accuracy", "transductive_accuracy"):
        frame[name] *= 100
    lines, means = [], []
    for setting in SETTINGS:
        rows = frame[(frame.dataset == setting.dataset) & (frame.flip == setting.flip) & (frame.q == setting.q)]
        if rows.empty:
            continue
        figures = rows[["test_accuracy", "transductive_accuracy"]].to_numpy(dtype=np.float64)
        own = [figures[(rows.way == way).to_numpy()].mean(axis=0) for way in WAYS]
        means.append(own)
        lines.append(f"| {setting.title} | " + " | ".join(map(_pair, own)) + " |")
    every = np.array(means)  # (settings, ways, 2)
    both = every.mean(axis=2)
    gap, above = both[:, 3] - both[:, 2], both[:, 2] - both[:, 0]
    worst, tested = int(above.argmin()), every[:, 2, 0] - every[:, 0, 0]
    titles = [line.split("|")[1].strip() for line in lines]
    autos = frame[frame.way == "auto"]
    seeds = frame.seed.nunique()
    return "\n".join(
        [
            "## Recipes",
            "",
            "Test / transductive accuracy in % of the final model of PRODEN, "
            f"{f'means of {seeds} seeds' if seeds > 1 else 'one seed'}, a fifth held out, at most 5,000 examples. "
            "*Chosen with the "
            "truth*: the same search, where the true labels of its held-out examples decide instead of the candidate "
            "sets. *Paper*: its published settings, where there are none its protocol (500 epochs, default rate). "
            "`python -m benchmarks.recipes` fits what docs/recipes.csv does not hold. A difference of a point or two "
            "is within chance on most of these sets.",
            "",
            "| data | " + " | ".join(TITLES[way] for way in WAYS) + " |",
            f"|{'---|' * (len(WAYS) + 1)}",
            *lines,
            "| mean | " + " | ".join(_pair(every[:, k].mean(axis=0)) for k in range(len(WAYS))) + " |",
            "",
            f"By the mean of the two figures *auto* is {abs(gap.mean()):.1f} points "
            f"{'below' if gap.mean() >= 0 else 'above'} *chosen with the truth* on average (asked: within 1), and "
            f"{above.mean():+.1f} against *default*; at worst {above[worst]:+.1f} ({titles[worst]}; asked: not below "
            f"−2); by test accuracy alone {tested.min():+.1f} ({titles[int(tested.argmin())]}). "
            f"Choosing took {autos.choosing_cpu_seconds.median():.0f} CPU seconds in the median, "
            f"{autos.choosing_cpu_seconds.max():.0f} at most, on one thread.",
            "",
        ]
    )


def _pair(values: Any) -> str:
    return f"{values[0]:.1f} / {values[1]:.1f}"


def timing() -> None:
    """Print CPU seconds of a search and of a training with the default settings, 5,000 × 300, 20 classes."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 20, 5000)
    X = (rng.normal(size=(20, 300))[y] + 3 * rng.normal(size=(5000, 300))).astype(np.float32)
    parts = prepare(
        PartialLabelDataset(X=X, candidates=flip_binomial(y, 20, 0.3, seed=0), y=y, kind="table"), holdout=0.01
    )
    for recipe in ("default", "auto"):
        estimator = METHODS["proden"](recipe=recipe, threads=1)
        cpu, wall = time.process_time(), time.perf_counter()
        if isinstance(estimator, DeepEstimator) and recipe == "auto":
            estimator.choose_settings(parts.task())
        else:
            for _ in estimator.iter_fit(parts.task()):
                pass
        print(f"{recipe}: {time.process_time() - cpu:.1f} CPU s, {time.perf_counter() - wall:.1f} s", flush=True)


def main() -> None:
    """Measure, and append to docs/recipes.csv."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--rows", type=int, default=5000)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--time", action="store_true")
    options = parser.parse_args()
    torch.set_num_threads(1)
    if options.time:
        return timing()
    wanted = options.only.split(",") if options.only else {setting.dataset for setting in SETTINGS}
    chosen = [setting for setting in SETTINGS if setting.dataset in wanted]
    fit_missing(chosen, options.seeds, options.rows, options.data)


if __name__ == "__main__":
    main()

"""The default learning rate against one rate for all, by kind of data and model: `python -m benchmarks.defaults`.

    python -m benchmarks.defaults [--rows 5000] [--epochs 100] [--only mnist] [--models mlp]

Fits the five variants that *Compare* shows, with truth to count with. Appends
a row a fit to docs/defaults.csv, goes on where it was stopped, and writes the section *Default settings* of
docs/experiments.md. MNIST is read where the catalogue finds it (`PLL_DATA_PATH`); without it its rows are missing. The
others need no file: handwritten digits, pictures drawn from random templates, and a table. `--only` takes cifar10 and
wine, too.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.ndimage import gaussian_filter
from sklearn.datasets import make_classification

from pll import catalog
from pll.analysis.evaluation import LAST, measured
from pll.analysis.protocol import Parts, prepare
from pll.dataset import PartialLabelDataset
from pll.errors import UserError
from pll.methods import METHODS
from pll.synthesis import Flip

DOCS = Path(__file__).parents[1] / "docs"
PAGE, CSV = DOCS / "experiments.md", DOCS / "defaults.csv"
FIELDS = ("data", "flip", "q", "model", "rate", "lr", "variant", "epochs", "test_accuracy")
BEGIN = "<!-- Written by `python -m benchmarks.defaults`. -->"
END = "<!-- End of what `python -m benchmarks.defaults` writes. -->"
VARIANTS = ("pn-oracle", "proden", "proden-itera", "proden-sudden", "proden-naive")
BEFORE = 0.05
"""The learning rate of all data and models before."""
FLIPS = (Flip("binomial", 0.7), Flip("pair", 0.9))
MODELS = ("linear", "mlp")


def templates(n: int, *, classes: int = 8, side: int = 20) -> PartialLabelDataset:
    """Return pictures of smooth random templates, one a class, shifted, of different brightness and noisy."""
    rng = np.random.default_rng(0)
    drawn = np.stack([gaussian_filter(rng.normal(size=(side, side)), 2) for _ in range(classes)])
    drawn = (drawn - drawn.min()) / np.ptp(drawn)
    y = rng.integers(0, classes, n)
    moves = rng.integers(-3, 4, (n, 2))
    pictures = np.stack([np.roll(drawn[k], tuple(move), (0, 1)) for k, move in zip(y, moves, strict=True)])
    pictures = pictures * rng.uniform(0.5, 1.2, (n, 1, 1)) + 0.3 * rng.normal(size=pictures.shape)
    return _named("templates", np.clip(pictures, 0, 1)[:, None], y, "image")


def clusters(n: int) -> PartialLabelDataset:
    """Return a table of three clusters a class, some of its columns combinations of others."""
    X, y = make_classification(
        n, 20, n_informative=10, n_redundant=4, n_classes=5, n_clusters_per_class=3, class_sep=1.5, random_state=2
    )
    return _named("clusters", X, y, "table")


def _named(name: str, X: np.ndarray, y: np.ndarray, kind: str) -> PartialLabelDataset:
    names = tuple(str(k) for k in range(int(y.max()) + 1))
    return PartialLabelDataset(X=X.astype(np.float32), y=y.astype(np.int64), class_names=names, name=name, kind=kind)


DEFAULT_SETS = ("mnist", "digits", "templates", "clusters")
DATA: dict[str, Callable[[int], PartialLabelDataset]] = {
    "mnist": lambda n: catalog.load("mnist", download=False),
    "cifar10": lambda n: catalog.load("cifar10", download=False),
    "digits": lambda n: catalog.load("digits"),
    "templates": templates,
    "clusters": clusters,
    "wine": lambda n: catalog.load("wine"),
}


def parts_of(name: str, flip: Flip, rows: int) -> Parts:
    """Return training and test part: at most so many rows, a fifth of them to test on."""
    data = DATA[name](rows)
    chosen = np.sort(np.random.default_rng(0).permutation(len(data))[:rows])
    return prepare(replace(data.take(chosen), is_test=None), flip_with=flip, holdout=0.2, seed=0)


def fit_missing(rows: int, epochs: int, names: list[str], models: list[str]) -> None:
    """Fit what docs/defaults.csv does not hold, and append it."""
    for name in names:
        for flip in FLIPS:
            parts = None
            for model in models:
                for rate in ("default", f"{BEFORE:g}"):
                    for variant in VARIANTS:
                        known = read()
                        own = known[(known.data == name) & (known.flip == flip.how) & (known.model == model)]
                        own = own[own.epochs == epochs]
                        if ((own.rate == rate) & (own.variant == variant)).any() or _is_default(own, rate):
                            continue
                        try:
                            parts = parts or parts_of(name, flip, rows)
                        except UserError as error:
                            print(f"{name}: {error}")
                            return
                        cell = {"data": name, "flip": flip.how, "q": flip.q, "model": model, "rate": rate}
                        lr = None if rate == "default" else BEFORE
                        _append(cell | measured_variant(parts, variant, model, lr, epochs))


def _is_default(own: pd.DataFrame, rate: str) -> bool:
    """Return whether the rate of all data before is the default here, which is fitted already."""
    return rate != "default" and bool((own[own.rate == "default"].lr == BEFORE).any())


def measured_variant(parts: Parts, variant: str, model: str, lr: float | None, epochs: int) -> dict[str, Any]:
    """Return the learning rate that was used, and the test accuracy, mean over the last epochs."""
    estimator = METHODS[variant](model=model, lr=lr, epochs=epochs, threads=1)
    curve, _ = measured(estimator, parts)
    return {
        "lr": estimator.fitted_params()["lr"],
        "variant": variant,
        "epochs": epochs,
        "test_accuracy": float(np.mean([epoch["test_accuracy"] for epoch in curve[-LAST:]])),
    }


def _append(row: dict[str, Any]) -> None:
    is_new = not CSV.exists()
    with CSV.open("a", newline="") as stream:
        writer = csv.DictWriter(stream, FIELDS)
        if is_new:
            writer.writeheader()
        writer.writerow(row)
    print(*row.values(), flush=True)


def read() -> pd.DataFrame:
    """Return what there is."""
    return pd.read_csv(CSV, dtype={"rate": str}) if CSV.exists() else pd.DataFrame(columns=list(FIELDS))


def lines(known: pd.DataFrame) -> Iterator[str]:
    """Yield the lines of the table: where all five variants are there."""
    yield "| data | candidates | model | epochs | learning rate | oracle | PRODEN | itera | sudden | naive | in order |"
    yield "|---|---|---|---|---|---|---|---|---|---|---|"
    keys = ["data", "flip", "q", "model", "epochs", "rate"]
    for (data, flip, q, model, epochs, rate), own in known.groupby(keys, sort=False):
        figures = dict(zip(own.variant, own.test_accuracy, strict=True))
        if not set(VARIANTS) <= set(figures):
            continue
        found = [figures[variant] for variant in VARIANTS]
        cells = " | ".join(f"{100 * value:.1f}" for value in found)
        about = f"{own.lr.iloc[0]:g}" + (", the default" if rate == "default" else "")
        ordered = "yes" if found[0] >= found[1] >= max(found[2:]) else "no"
        yield f"| {data} | {flip} {q:g} | {model} | {epochs} | {about} | {cells} | {ordered} |"


def main() -> None:
    """Measure, and write the section."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=5000)
    parser.add_argument("--epochs", type=int, default=100)
    parser.add_argument("--only", nargs="*", default=list(DEFAULT_SETS))
    parser.add_argument("--models", nargs="*", default=list(MODELS))
    options = parser.parse_args()
    fit_missing(options.rows, options.epochs, options.only, options.models)
    known = read().sort_values(["data", "flip", "model", "epochs"], kind="stable")
    about = (
        f"Test accuracy in %, mean of the last {LAST} epochs, one seed, at most {options.rows:,} examples, a fifth "
        "of them to test on; the other settings are the defaults. The default is 100 epochs; rows with fewer are of "
        "short runs, in which low rates are behind, and do not say what a run with the defaults gives. A difference "
        "of a point is within chance. *In order*: oracle ≥ PRODEN ≥ itera, sudden, naive. "
        f"{BEFORE:g} was the rate of all data and models before; where it still is, there is one row."
    )
    section = "\n".join([BEGIN, "## Default settings", "", about, "", *lines(known), END])
    text = PAGE.read_text(encoding="utf-8")
    if BEGIN in text:
        text = text[: text.index(BEGIN)] + section + text[text.index(END) + len(END) :]
    else:
        results = "<!-- From here on written by `python -m benchmarks.experiments`"
        text = text.replace(results, f"{section}\n\n{results}")
    PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

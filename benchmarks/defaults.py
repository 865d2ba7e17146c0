"""The default learning rate against one rate for all, by kind of data and model: `python -m benchmarks.defaults`.

    python -m benchmarks.defaults [--rows 5000] [--epochs 60] [--only mnist]

Fits the five variants that *Compare* shows, with truth to count with, and writes the section *Default settings* of
docs/experiments.md. MNIST is read where the catalogue finds it (`PLL_DATA_PATH`); without it its rows are missing. The
others need no file: handwritten digits, pictures drawn from random templates, and a table. `--only` takes cifar10 and
wine, too, and only prints.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
from scipy.ndimage import gaussian_filter
from sklearn.datasets import make_classification

from pll import catalog
from pll.analysis.evaluation import LAST, measured
from pll.analysis.protocol import Parts, prepare
from pll.dataset import PartialLabelDataset
from pll.errors import UserError
from pll.methods import METHODS
from pll.synthesis import Flip

PAGE = Path(__file__).parents[1] / "docs" / "experiments.md"
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


def lines(rows: int, epochs: int, only: list[str]) -> Iterator[str]:
    """Yield the lines of the table as they are measured."""
    yield "| data | candidates | model | learning rate | oracle | PRODEN | itera | sudden | naive | in order |"
    yield "|---|---|---|---|---|---|---|---|---|---|"
    for name in only or DEFAULT_SETS:
        for flip in FLIPS:
            try:
                parts = parts_of(name, flip, rows)
            except UserError as error:
                print(f"{name}: {error}")
                break
            for model in MODELS:
                default = 0.0
                for lr in (None, BEFORE):
                    if lr == default:
                        continue  # the same thing
                    used, found = measured_variants(parts, model, lr, epochs if model == "linear" else epochs // 3)
                    default = used
                    cells = " | ".join(f"{100 * value:.1f}" for value in found)
                    ordered = found[0] >= found[1] >= max(found[2:])
                    about = f"{used:g}, the default" if lr is None else f"{used:g}"
                    sets = f"{flip.how} {flip.q:g}"
                    yield f"| {name} | {sets} | {model} | {about} | {cells} | {'yes' if ordered else 'no'} |"


def measured_variants(parts: Parts, model: str, lr: float | None, epochs: int) -> tuple[float, list[float]]:
    """Return the learning rate that was used, and the test accuracy of every variant, mean over the last epochs."""
    found, used = [], 0.0
    for method in VARIANTS:
        estimator = METHODS[method](model=model, lr=lr, epochs=epochs, threads=1)
        curve, _ = measured(estimator, parts)
        used = estimator.fitted_params()["lr"]
        found.append(float(np.mean([epoch["test_accuracy"] for epoch in curve[-LAST:]])))
    return used, found


def main() -> None:
    """Measure, and write the section."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=5000)
    parser.add_argument("--epochs", type=int, default=60)
    parser.add_argument("--only", nargs="*", default=[])
    options = parser.parse_args()
    table = []
    for line in lines(options.rows, options.epochs, options.only):
        print(line, flush=True)
        table.append(line)
    if options.only:
        return
    about = (
        f"Test accuracy in %, mean of the last {LAST} of {options.epochs} epochs (mlp: a third of them), one seed, at "
        f"most {options.rows:,} examples, a fifth of them to test on; the other settings are the defaults. A "
        "difference of a point is within chance. *In order*: oracle ≥ PRODEN ≥ itera, sudden, naive. "
        f"{BEFORE:g} was the rate of all data and models before; where it still is, there is one row."
    )
    section = "\n".join([BEGIN, "## Default settings", "", about, "", *table, END])
    text = PAGE.read_text(encoding="utf-8")
    if BEGIN in text:
        text = text[: text.index(BEGIN)] + section + text[text.index(END) + len(END) :]
    else:
        results = "<!-- From here on written by `python -m benchmarks.experiments`"
        text = text.replace(results, f"{section}\n\n{results}")
    PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

"""Candidate sets that miss the truth: PRODEN and PRODEN-outside, and PRODEN with the truth put back.

    python -m benchmarks.outside [--seeds 3] [--only digits,Lost] [--taught "dtd, votes"]

Writes the tables of docs/outside.md. In a share of the sets the truth is replaced by a wrong label (swap) or left out
(remove); truth is used to damage the sets and to count, never to train.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt

from benchmarks.marked import put, table
from benchmarks.votes import load as load_votes
from pll import PRODEN, PRODENOutside, formats
from pll.analysis.intervals import hypergeometric
from pll.annotations.voters import fit_voters
from pll.candidates import CandidateSets, with_sets
from pll.catalog import load as load_dataset
from pll.methods.aggregation import aggregate, union_of
from pll.synthesis import flip_binomial
from pll.weights import sharpness

OUT = Path(__file__).parents[1] / "docs" / "outside.md"
SHARES = (0.0, 0.2)
COLUMNS = ("PRODEN", "PRODEN-outside", "truth put back", "rate", "detected")

KNOWN, MOST = 0.1, 2_000
KNOWN_COLUMNS = (
    "without",
    "PRODEN",
    "PRODEN-outside",
    "rate",
    "true rate",
    "confidence, PRODEN",
    "confidence, outside",
)
TAUGHT = {
    "dtd, union": ("vlm_dtd", "union", 0.0),
    "dtd, votes": ("vlm_dtd", "votes", 0.0),
    "caltech, union": ("vlm_caltech101", "union", 0.0),
    "caltech, votes": ("vlm_caltech101", "votes", 0.0),
    "stance, union": ("stance", "union", 0.0),
    "Lost, swap 20%": ("Lost", "swap", 0.2),
    "digits, remove 40%": ("digits", "remove", 0.4),
    "Lost, none missing": ("Lost", "swap", 0.0),
    "crowd_dog, votes": ("crowd_dog", "votes", 0.0),
    "crowd_product, votes": ("crowd_product", "votes", 0.0),
}
"""What is measured with some labels known: name → votes or problem, how sets are made or damaged, share damaged."""

Truth = npt.NDArray[np.int64]
Problem = tuple[npt.NDArray[np.float32], CandidateSets, Truth]


def main() -> None:
    """Measure, and write the tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--only", default="digits,satimage,Lost,BirdSong,MNIST")
    parser.add_argument("--taught", default=";".join(TAUGHT))
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    options = parser.parse_args()
    cells: dict[tuple[str, str, float], dict[str, float]] = {}
    for name in options.only.split(","):
        for how in ("swap", "remove"):
            for share in SHARES[how == "remove" :]:  # without a missing truth the two are the same
                figures = [
                    measured(*PROBLEMS[name](options.data, seed), share, how, seed) for seed in range(options.seeds)
                ]
                cells[name, how, share] = medians(figures, COLUMNS) | {"seeds": float(len(figures))}
                print(name, how, share, cells[name, how, share], flush=True)
    taught = []
    for name in options.taught.split(";") if options.taught else ():
        middle = medians([with_known(name, options.data, seed) for seed in range(options.seeds)], KNOWN_COLUMNS)
        shown = ["–" if np.isnan(value) else f"{100 * value:.1f}" for value in middle.values()]
        taught.append([name, *shown, str(options.seeds)])
        print(*taught[-1], flush=True)
    if cells:
        header = ["data", "truth", "missing", *COLUMNS[:2], "gain", *COLUMNS[2:], "seeds"]
        put(OUT, "accuracy", table(header, accuracies(cells)))
    if taught:
        put(OUT, "with labels", table(["data", *KNOWN_COLUMNS, "seeds"], taught))
    put(OUT, "coverage", table(["examples", "controls", "miss rate", "covered", "mean width"], coverage()))


def medians(figures: list[dict[str, float]], columns: tuple[str, ...]) -> dict[str, float]:
    """Median of each column over the seeds."""
    return {column: float(np.median([one[column] for one in figures])) for column in columns}


def accuracies(cells: dict[tuple[str, str, float], dict[str, float]]) -> list[list[str]]:
    """Rows of the table of accuracies."""
    rows = []
    for (name, how, share), cell in cells.items():
        values = [f"{100 * cell[column]:.1f}" for column in COLUMNS[:4]]
        gain = f"{100 * (cell['PRODEN-outside'] - cell['PRODEN']):+.1f}"
        ranked = f"{100 * cell['detected']:.0f}" if share else "–"
        kind = how if share else "none"
        rows.append([name, kind, f"{share:.0%}", *values[:2], gain, *values[2:], ranked, f"{cell['seeds']:.0f}"])
    return rows


def coverage() -> list[list[str]]:
    """Rows of the table of coverage."""
    rows, draws = [], 2000
    rng = np.random.default_rng(0)
    for n, k in ((1_000, 50), (1_000, 200), (10_000, 300)):
        for share in (0.0, 0.02, 0.1, 0.2, 0.4):
            missing = round(share * n)
            counts, times = np.unique(rng.hypergeometric(missing, n - missing, k, draws), return_counts=True)
            ends = np.array([hypergeometric(int(count), k, n) for count in counts])
            holds = times[(ends[:, 0] <= missing / n) & (missing / n <= ends[:, 1])].sum() / draws
            width = float((ends[:, 1] - ends[:, 0]) @ times) / draws
            rows.append([f"{n:,}", str(k), f"{share:.0%}", f"{holds:.1%}", f"{width:.3f}"])
    return rows


def damaged(
    sets: CandidateSets, y: Truth, share: float, how: str, seed: int
) -> tuple[CandidateSets, npt.NDArray[np.bool_]]:
    """Make a share of the sets miss the truth.

    Parameters
    ----------
    how
        `"swap"` replaces the truth by a label off the set, `"remove"` leaves it out where others are left.

    Returns
    -------
    tuple[CandidateSets, npt.NDArray[np.bool_]]
        The sets, and (n,) bool, which of them miss the truth.
    """
    rng = np.random.default_rng([seed, 5])
    mask, n = sets.mask(), len(y)
    rows = np.arange(n)
    usable = mask[rows, y] & (~mask.all(axis=1) if how == "swap" else mask.sum(axis=1) >= 2)
    for row in rng.permutation(np.flatnonzero(usable))[: round(share * n)]:
        if how == "swap":
            mask[row, rng.choice(np.flatnonzero(~mask[row]))] = True
        mask[row, y[row]] = False
    return CandidateSets.from_mask(mask, sets.class_names), ~mask[rows, y]


def measured(
    X: npt.NDArray[np.float32], clean: CandidateSets, y: Truth, share: float, how: str, seed: int
) -> dict[str, float]:
    """Accuracies, estimated rate, and the share of the missing truths that the queue finds in its first fifth."""
    sets, missing = damaged(clean, y, share, how, seed)
    with_truth = sets.mask()
    with_truth[np.arange(len(y)), y] = True
    plain, outside = PRODEN(seed=seed).fit(X, sets), PRODENOutside(seed=seed).fit(X, sets)
    best = PRODEN(seed=seed).fit(X, CandidateSets.from_mask(with_truth))
    first = np.argsort(-outside.outside_.miss, kind="stable")[: len(y) // 5]
    return {
        "PRODEN": float((plain.identify() == y).mean()),
        "PRODEN-outside": float((outside.identify() == y).mean()),
        "truth put back": float((best.identify() == y).mean()),
        "rate": outside.outside_.rate,
        "detected": float(missing[first].sum() / max(1, min(missing.sum(), len(first)))),
    }


def with_known(name: str, folder: Path, seed: int) -> dict[str, float]:
    """Accuracy on the examples whose label is not known, without and with a share of known labels."""
    rng = np.random.default_rng([seed, 11])
    kind, how, share = TAUGHT[name]
    answers = None
    if kind in PROBLEMS:
        X, sets, y = PROBLEMS[kind](folder, seed)
        sets, _ = damaged(sets, y, share, how, seed)
        some = np.sort(rng.permutation(len(y))[:MOST])
        X, sets, y = X[some], sets.take(some), y[some]
    else:
        votes = next(one for one in load_votes(folder) if one.name == kind)
        votes = votes.take(np.sort(rng.permutation(len(votes.y))[:MOST]))
        X, y, answers = votes.X, votes.y, votes.annotations
        settled = aggregate(X, answers, seed=seed)
        sets = settled.candidates if how == "votes" else union_of(answers)
        answers = answers if how == "votes" else None
    true_labels = np.full(len(y), -1)
    at = np.sort(rng.permutation(len(y))[: round(KNOWN * len(y))])
    true_labels[at] = y[at]
    rest = true_labels < 0
    result = dict.fromkeys(KNOWN_COLUMNS, math.nan)
    result["true rate"] = float((~sets.contains(y))[rest].mean())
    if not X.size:
        assert answers is not None
        for column, labels in (("without", None), ("PRODEN", true_labels)):
            posterior = fit_voters(answers, true_labels=labels).posterior[rest]
            result[column] = float((posterior.argmax(axis=1) == y[rest]).mean())
        return result | {"confidence, PRODEN": float(posterior.max(axis=1).mean())}
    plain = PRODEN(seed=seed).fit(X, sets if answers is None else None, votes=answers)
    decided = with_sets(sets, {int(row): [int(y[row])] for row in at})
    prior = None if answers is None else aggregate(X, answers, seed=seed, decided=true_labels).prior_on(decided)
    again = PRODEN(seed=seed).fit(X, decided, prior=prior)
    outside = PRODENOutside(seed=seed).fit(X, sets if answers is None else None, votes=answers, truth=true_labels)
    for column, method in (("without", plain), ("PRODEN", again), ("PRODEN-outside", outside)):
        result[column] = float((method.identify() == y)[rest].mean())
    for column, method in (("confidence, PRODEN", again), ("confidence, outside", outside)):
        result[column] = float(sharpness(method.label_weights_, method.candidates_).top[rest].mean())
    return result | {"rate": float(outside.outside_.miss[rest].mean())}


def _flipped(name: str, q: float, rows: int | None = None) -> Callable[[Path, int], Problem]:
    def load(folder: Path, seed: int) -> Problem:
        data = load_dataset(name)
        assert data.y is not None
        X, y = data.X.reshape(len(data), -1), data.y
        if rows is not None:
            chosen = np.random.default_rng([seed, 9]).permutation(len(y))[:rows]
            X, y = X[chosen], y[chosen]
        return X, flip_binomial(y, data.n_classes, q, seed), y

    return load


def _satimage(folder: Path, seed: int) -> Problem:
    with np.load(folder / "tables" / "satimage.npz", allow_pickle=False) as file:
        X, y = file["X"].astype(np.float32), file["y"].astype(np.int64)
    rows = np.random.default_rng([seed, 9]).permutation(len(y))[:2_000]
    return X[rows], flip_binomial(y[rows], 6, 0.5, seed), y[rows]


def _published(file: str) -> Callable[[Path, int], Problem]:
    def load(folder: Path, seed: int) -> Problem:
        data = formats.read(folder / file)
        assert data.y is not None
        return data.X, data.sets(), data.y

    return load


PROBLEMS: dict[str, Callable[[Path, int], Problem]] = {
    "digits": _flipped("digits", 0.5),
    "MNIST": _flipped("mnist", 0.5, 10_000),
    "satimage": _satimage,
    "Lost": _published("lost.mat"),
    "BirdSong": _published("BirdSong.mat"),
}


if __name__ == "__main__":
    main()

"""Labels from votes: majority, one coin, Dawid-Skene and ours, what ours claims, and what `fit` makes of them.

    python -m benchmarks.votes [--rows 2000] [--seeds 2] [--data ../shared/data]

Prints a line for each set, and writes the table of docs/votes.md. Truth is used to count, never to train; only the
column *10 known* uses ten true labels of each set.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from benchmarks.marked import put, table
from pll.annotations import Annotations
from pll.annotations.voters import fit_voters
from pll.dataset import PartialLabelDataset
from pll.features import featurised, fitted
from pll.io import as_column
from pll.methods import METHODS

OUT = Path(__file__).parents[1] / "docs" / "votes.md"
COLUMNS = ("majority", "one coin", "Dawid-Skene", "ours", "claimed", "error", "10 known", "fit")
KNOWN = 10
BINS = 10
Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Votes:
    """Votes with the truth to count with, and features where there are any."""

    name: str
    annotations: Annotations
    y: npt.NDArray[np.int64]
    X: npt.NDArray[np.float32]

    def take(self, rows: npt.NDArray[np.int64]) -> Votes:
        """Some of the examples."""
        return Votes(self.name, self.annotations.take(rows), self.y[rows], self.X[rows])

    @property
    def kind(self) -> str:
        """Of the voters."""
        start = self.name.split("_")[0]
        return {"lf": "labelling functions", "crowd": "people", "CIFAR-10N": "people"}.get(start, "models")


def main() -> None:
    """Measure, and write the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=0, help="at most so many examples of each set; 0: all")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    options = parser.parse_args()
    rows: list[dict[str, Any]] = []
    for votes in load(options.data):
        if votes.annotations.n_annotators < 2:
            continue  # one voter's answers are never overruled
        n = min(options.rows or len(votes.y), len(votes.y))
        figures = []
        for seed in range(options.seeds):
            drawn = np.random.default_rng([seed, 7]).permutation(len(votes.y))[:n]
            figures.append(measured(votes.take(np.sort(drawn)), seed))
        mean = {name: float(np.mean([one[name] for one in figures])) for name in COLUMNS}
        rows.append({"name": votes.name, "kind": votes.kind, "n": n, "voters": votes.annotations.n_annotators} | mean)
        print(" | ".join(cells(rows[-1])), flush=True)
    for kind, of_kind in pd.DataFrame(rows).groupby("kind", sort=False):
        rows.append({"name": f"**mean: {kind}**"} | {name: float(of_kind[name].mean()) for name in COLUMNS})
    made = (
        f"Made by `python -m benchmarks.votes --rows {options.rows} --seeds {options.seeds}`: means over the seeds, "
        "at most that many examples of each set, drawn anew for each seed.\n\n"
    )
    put(OUT, "figures", made + table(["votes", *COLUMNS], [cells(row) for row in rows]))


def cells(row: dict[str, Any]) -> list[str]:
    """A row of the table."""
    of = f" ({row['n']:,} × {row['voters']})" if "n" in row else ""
    return [row["name"] + of, *(f"{row[name]:.1f}" if np.isfinite(row[name]) else "–" for name in COLUMNS)]


def measured(votes: Votes, seed: int) -> dict[str, float]:
    """All columns, in %."""
    annotations, y = votes.annotations, votes.y
    ours = fit_voters(annotations).posterior
    true_labels = np.full(len(y), -1, dtype=np.int64)
    some = np.random.default_rng([seed, 3]).permutation(len(y))[:KNOWN]
    true_labels[some] = y[some]
    rest = true_labels < 0
    taught = fit_voters(annotations, true_labels=true_labels).posterior.argmax(axis=1)
    fit = np.nan
    if votes.X.size:
        fit = right(METHODS["proden"](seed=seed).fit(votes.X, None, votes=annotations).identify(), y)
    labels = {kind: fit_voters(annotations, kind=kind).posterior.argmax(axis=1) for kind in ("one-coin", "confusion")}
    return {
        "majority": expected(fit_voters(annotations, kind="majority").posterior, y),
        "one coin": right(labels["one-coin"], y),
        "Dawid-Skene": right(labels["confusion"], y),
        "ours": right(ours.argmax(axis=1), y),
        "claimed": 100 * float(ours.max(axis=1).mean()),
        "error": 100 * calibration_error(ours, y),
        "10 known": right(taught[rest], y[rest]),
        "fit": fit,
    }


def right(labels: npt.NDArray[np.int64], y: npt.NDArray[np.int64]) -> float:
    """Share that is right, in %."""
    return 100 * float((labels == y).mean())


def expected(shares: Numbers, y: npt.NDArray[np.int64]) -> float:
    """The same of the label with the largest share, ties broken at random (expected value)."""
    lead = shares >= shares.max(axis=1, keepdims=True) - 1e-9
    return 100 * float((lead[np.arange(len(y)), y] / lead.sum(axis=1)).mean())


def calibration_error(posterior: Numbers, y: npt.NDArray[np.int64]) -> float:
    """Expected calibration error: |claimed − right| in ten bins of confidence, weighted by their sizes."""
    sure, hit = posterior.max(axis=1), posterior.argmax(axis=1) == y
    bins = np.minimum((sure * BINS).astype(np.int64), BINS - 1)
    apart = np.bincount(bins, sure, minlength=BINS) - np.bincount(bins, hit, minlength=BINS)
    return float(np.abs(apart).sum()) / len(y)


def load(folder: Path) -> list[Votes]:
    """The sets of votes in the shared data that are there."""
    sets = []
    for path in sorted((folder / "votes").glob("*.npz")):
        with np.load(path) as file:
            y = file["y"].astype(np.int64)
            X = np.zeros((len(y), 0), dtype=np.float32)
            if "clip_probabilities" in file:
                X = np.log(file["clip_probabilities"] + 1e-4).astype(np.float32)
            annotations = Annotations.from_votes(file["votes"].astype(np.int64), file["class_names"], file["voters"])
        texts = path.with_name(f"{path.stem}.texts.csv")
        if texts.exists():
            table = pd.read_csv(texts, dtype=str, keep_default_na=False)
            X = of_texts(table["text"].tolist())
        sets.append(answered(Votes(path.stem, annotations, y, X)))
    sets.append(stance(folder))
    for path in sorted((folder / "votes").glob("crowd_*.csv")):
        table = pd.read_csv(path, dtype=str, keep_default_na=False)
        classes = sorted({*table["label"], *table["true_label"]})
        task, annotator, label = (table[name].tolist() for name in ("task", "annotator", "label"))
        (rows, ids), (who, names) = (pd.factorize(np.array(values, dtype=object)) for values in (task, annotator))
        labels = np.array([classes.index(one) for one in label])
        annotations = Annotations(rows, who, labels, len(ids), tuple(classes), tuple(names), ids)
        truth = table.drop_duplicates("task").set_index("task")["true_label"].reindex(annotations.ids)
        y = np.array([classes.index(label) for label in truth], dtype=np.int64)
        sets.append(answered(Votes(path.stem, annotations, y, np.zeros((len(y), 0), dtype=np.float32))))
    with np.load(folder / "cifar10" / "human_labels.npz") as file, np.load(folder / "cifar10" / "labels.npz") as labels:
        annotations = Annotations.from_votes(file["cifar10n_votes"].astype(np.int64), labels["names"])
        y = labels["train"].astype(np.int64)
        sets.append(Votes("CIFAR-10N", annotations, y, np.zeros((len(y), 0), dtype=np.float32)))
    return sets


def of_texts(texts: list[str]) -> npt.NDArray[np.float32]:
    """(n, d) features of texts."""
    data = PartialLabelDataset(X=np.zeros((len(texts), 0), dtype=np.float32), texts=as_column(texts))
    return featurised(data, fitted("tfidf:100", data)).X


def stance(folder: Path) -> Votes:
    """One language model's labels with its confidence, and texts."""
    table = pd.read_csv(folder / "votes" / "gpt_stance.csv", dtype=str, keep_default_na=False)
    classes = sorted(set(table["Y"]))
    votes = np.array([[classes.index(label)] for label in table["Yhat (GPT4o)"]])
    scores = table[["confidence"]].to_numpy(dtype=np.float64)
    annotations = Annotations.from_votes(votes, classes, ["GPT-4o"], scores=scores)
    y = np.array([classes.index(label) for label in table["Y"]], dtype=np.int64)
    return Votes("stance", annotations, y, of_texts(table["text"].tolist()))


def answered(votes: Votes) -> Votes:
    """Without the examples that nobody answered."""
    return votes.take(np.flatnonzero(votes.annotations.answers_per_row > 0))


if __name__ == "__main__":
    main()

"""Whether confidence is right: `python -m benchmarks.sure [FOLDER]`.

    python -m benchmarks.sure [FOLDER] [--seeds 0] [--generated 20] [--panels 20] [--rows 2000] [--recipe auto]
                              [--weights held-out|label] [--quick] [--store FILE] [--write]

A fit with the settings of a recipe for every task, then its confidence against the truth, which is used to count alone:
the files of FOLDER that say a truth (candidate sets of their own, else made of it in every way of `--flips`; votes as
votes), and generated tasks, drawn from the seed. A line each: share of labels right, mean confidence, calibration error
(ten bins), share called certain (confidence from .9 on), of these wrong, reviews (least sure first) that remove half of
the wrong labels as a share of all wrong ones, CPU seconds to the labels and to the confidence. Then the goals, and
panels of votes alone and with features. `--weights label` takes the label weights of the training pass
for confidence, as it was done before. `--store` appends both ways to a file of JSON lines, task by task; with such a
file `--write` measures nothing and puts its tables and the diagram into docs/.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from itertools import chain
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch

from benchmarks.marked import put, table
from benchmarks.recipes import data_of, tasks_of
from benchmarks.sure_tasks import generated
from benchmarks.sure_votes import FEATURES, panel
from benchmarks.votes import load
from pll.analysis.calibration import reliability
from pll.annotations import Annotations
from pll.candidates import CandidateSets
from pll.errors import UserError
from pll.methods import METHODS
from pll.methods.aggregation import aggregate
from pll.methods.base import PartialLabelEstimator, Task
from pll.methods.held_out import HeldOut, vote_weights
from pll.synthesis import Flip
from pll.weights import CONFIDENT, Weights, identified_labels, normalise

DOCS = Path(__file__).parents[1] / "docs"
HEAD = ("right", "confidence", "error", "certain", "of these wrong", "half", "s", "+ s")
WAYS = ("label", "held-out")
PANELS = ("votes", "right", "confidence", "error", "certain", "of these wrong", "above 5 %", "certain where 95 % right")
Labels = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Case:
    """A task with its truth."""

    name: str
    task: Task
    y: Labels
    missing: str = "error"


@dataclass(frozen=True, eq=False)
class Figures:
    """Of one task: a row of the table, and what the diagram needs."""

    name: str
    right: float
    confidence: float
    error: float
    certain: float
    wrong: float
    half: float
    seconds: float
    more: float
    n: int
    bins: list[list[float]]
    """3 × 10: share of the examples, sum of their confidence, of right ones, in each bin."""

    def cells(self) -> list[str]:
        """Return the row."""
        shares = (self.right, self.confidence, self.error, self.certain, self.wrong)
        return [
            self.name,
            *(f"{one:.3f}" for one in shares),
            f"{self.half:.2f}",
            f"{self.seconds:.1f}",
            f"{self.more:.1f}",
        ]


# ---- tasks ----------------------------------------------------------------------------------------------------------


def of_folder(folder: Path, flips: list[Flip], rows: int, seed: int) -> Iterator[Case]:
    """Yield the tasks of a folder, at most so many examples each."""
    votes = folder / "votes"
    for file in sorted(path for path in folder.rglob("*") if path.is_file() and path.name[0] != "."):
        if votes in file.parents or "cifar10" in file.parts or "mnist" in file.parts:
            continue
        try:
            data = data_of(file)
            for how, task, missing in tasks_of(data, flips, rows, seed):
                if task.y is not None:
                    yield Case(f"{file.stem} {how}", replace(task, X_test=None, y_test=None), task.y, missing)
        except (UserError, OSError, ValueError) as error:
            print(f"{file.relative_to(folder)}: left out: {str(error).splitlines()[0]}", flush=True)
    if votes.is_dir():
        for one in load(folder):
            if one.annotations.n_annotators > 1:
                some = np.sort(np.random.default_rng([seed, 7]).permutation(len(one.y))[:rows])
                yield of_votes(one.name, one.annotations.take(some), one.X[some], one.y[some], seed)


def of_votes(name: str, annotations: Annotations, X: npt.NDArray[np.float32], y: Labels, seed: int) -> Case:
    """Return the task that a run makes of votes."""
    made = aggregate(X, annotations, seed=seed)
    return Case(name, Task(X, made.candidates, prior=made.prior, votes=annotations), y)


def of_seed(seed: int, count: int, rows: int) -> Iterator[Case]:
    """Yield the generated tasks of a seed."""
    for place in range(count):
        one = generated(seed, place, most=rows)
        yield Case(f"{seed}.{place} {one.name}", Task(one.X, one.sets), one.y)


# ---- figures --------------------------------------------------------------------------------------------------------


def fitted(case: Case, recipe: str, seed: int) -> PartialLabelEstimator:
    """Return what a run would fit with nothing set."""
    if case.task.votes is not None and not case.task.X.size:
        estimator = METHODS["dawid-skene"](seed=seed)
    else:
        estimator = METHODS["proden"](recipe=recipe, seed=seed, threads=1, missing=case.missing)
    for _ in estimator.iter_fit(replace(case.task, y=None)):
        pass
    return estimator


def measured(case: Case, recipe: str, seed: int) -> dict[str, Figures]:
    """Return the figures of both ways of `WAYS`."""
    started = time.process_time()
    estimator = fitted(case, recipe, seed)
    fit = time.process_time() - started
    started = time.process_time()
    held_out = HeldOut(estimator, case.task, seed=seed)
    for _ in held_out.run():
        pass
    weights = held_out.weights()
    more = time.process_time() - started
    sets = estimator.candidates_
    own = estimator.label_weights_
    return {
        "label": figures(case, own, own, sets, fit, 0.0),
        "held-out": figures(case, normalise(own + weights, sets), weights, sets, fit, more),
    }


def figures(
    case: Case, of_labels: Weights, weights: Weights, sets: CandidateSets, seconds: float, more: float
) -> Figures:
    """Return the figures of labels, by weights, with the confidence that other weights give them."""
    labels = identified_labels(of_labels, sets)
    confidence = np.zeros(len(labels))
    is_label = sets.indices == labels[sets.rows]
    confidence[sets.rows[is_label]] = weights[is_label]
    right = labels == case.y
    certain = confidence >= CONFIDENT
    diagram = reliability(confidence, right)
    order = np.argsort(confidence, kind="stable")
    found = np.cumsum(~right[order])
    wrong = int(found[-1])
    half = float(np.searchsorted(found, wrong / 2) + 1) / wrong if wrong else 0.0
    counts = diagram.counts
    bins = np.stack([counts, *(counts * np.nan_to_num(one) for one in (diagram.confidence, diagram.accuracy))])
    return Figures(
        case.name,
        float(right.mean()),
        float(confidence.mean()),
        diagram.error,
        float(certain.mean()),
        float((~right[certain]).mean()) if certain.any() else 0.0,
        half,
        seconds,
        more,
        len(labels),
        (bins / len(labels)).tolist(),
    )


def goals(rows: list[Figures]) -> list[list[str]]:
    """Return each goal, and what was reached."""
    wrong, certain = (np.array([getattr(row, name) for row in rows]) for name in ("wrong", "certain"))
    n = np.array([row.n for row in rows])
    pooled = (n * certain * wrong).sum() / max(1.0, (n * certain).sum())
    easy = [row.certain for row in rows if row.right >= 0.95]
    span = f"{min(easy):.2f} to {max(easy):.2f}" if easy else "–"
    small = [1 + row.more / max(row.seconds, 1e-9) for row in rows if row.n < 5000 and row.more > 0]
    cost = f"{np.mean(small):.2f}, {max(small):.2f}" if small else "–"
    return [
        ["mean calibration error, at most .08", f"{np.mean([row.error for row in rows]):.3f}"],
        ["certain, at most 5 % of them wrong: on 9 of 10 sets", f"{(wrong <= 0.05).sum()} of {len(rows)}"],
        ["certain and wrong, at most 2.5 % in the mean", f"{100 * wrong.mean():.1f} %"],
        ["certain and wrong, of all that are certain", f"{100 * float(pooled):.1f} %"],
        ["certain where 95 % are right: at least half", span],
        ["time, at most 1.5 × that to the labels (mean, largest)", cost],
        ["right", f"{np.mean([row.right for row in rows]):.4f}"],
        ["mean confidence", f"{np.mean([row.confidence for row in rows]):.3f}"],
        ["called certain", f"{np.mean([row.certain for row in rows]):.3f}"],
        ["reviews for half of the wrong labels (median)", f"{np.median([row.half for row in rows if row.half]):.2f}"],
    ]  # fmt: skip


# ---- panels of votes ------------------------------------------------------------------------------------------------


def panels(count: int, seed: int) -> dict[str, list[Figures]]:
    """Return figures of generated votes that say how sure they are: alone, and with features of every kind."""
    out: dict[str, list[Figures]] = {name: [] for name in ("alone", *FEATURES)}
    for place in range(count):
        one = panel(seed, place)
        for name, X in ({"alone": np.zeros((len(one.y), 0), dtype=np.float32)} | one.X).items():
            case = of_votes(f"{place} {one.name}", one.annotations, X, one.y, seed)
            weights = vote_weights(METHODS["proden"](seed=seed), case.task, one.annotations)
            if not np.isnan(weights).any():  # else it says that it does not know, and claims nothing
                out[name].append(figures(case, weights, weights, case.task.candidates, 0.0, 0.0))
    return out


def of_panels(out: dict[str, list[Figures]]) -> list[list[str]]:
    """Return a row of means for every kind of features."""
    rows = []
    for name, some in out.items():
        right, sure, error, certain, wrong = (
            np.array([getattr(row, field) for row in some])
            for field in ("right", "confidence", "error", "certain", "wrong")
        )
        easy = certain[right >= 0.95].mean() if (right >= 0.95).any() else np.nan
        means = (f"{one.mean():.3f}" for one in (right, sure, error, certain, wrong))
        rows.append([name, *means, f"{(wrong > 0.05).sum()} of {len(some)}", f"{easy:.2f}"])
    return rows


# ---- output ---------------------------------------------------------------------------------------------------------


def diagram(of: dict[str, list[Figures]]) -> str:
    """Return a reliability diagram as SVG: each set counts alike; a point for every bin with 1 % of the labels."""
    parts = []
    for (way, rows), color in zip(of.items(), ("#b45309", "#0f766e"), strict=False):
        counts, confidence, right = np.mean([row.bins for row in rows], axis=0)
        points = [
            (20 + 200 * confidence[k] / counts[k], 220 - 200 * right[k] / counts[k])
            for k in range(len(counts))
            if counts[k] > 0.01
        ]
        line = " ".join(f"{x:.0f},{y:.0f}" for x, y in points)
        parts.append(f'<polyline points="{line}" fill="none" stroke="{color}" stroke-width="2"/>')
        parts += [f'<circle cx="{x:.0f}" cy="{y:.0f}" r="3" fill="{color}"/>' for x, y in points]
        at = 40 + 16 * len(parts) // 8
        parts.append(f'<text x="28" y="{at}" fill="{color}">{way}</text>')
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 240 245" width="360" font-family="sans-serif" '
        'font-size="11" role="img" aria-label="Share of labels that are right by confidence">'
        '<rect width="240" height="245" fill="#fff"/><path d="M20 20V220H220M20 220L220 20" fill="none" '
        f'stroke="#999"/>{"".join(parts)}<text x="85" y="238" fill="#333">confidence</text>'
        '<text x="12" y="150" fill="#333" transform="rotate(-90 12 150)">share right</text></svg>\n'
    )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--seeds", default="0")
    parser.add_argument("--generated", type=int, default=20)
    parser.add_argument("--panels", type=int, default=20)
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--flips", default="binomial:0.3,binomial:0.7,pair:0.7", metavar="HOW:Q,…")
    parser.add_argument("--recipe", default="auto")
    parser.add_argument("--weights", choices=WAYS, default="held-out")
    parser.add_argument("--quick", action="store_true", help="at most 500 examples, default settings")
    parser.add_argument("--store", type=Path)
    parser.add_argument("--write", action="store_true", help="docs/sure.md and docs/sure.svg, from --store")
    options = parser.parse_args()
    if options.write:
        return write(options.store)
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    rows, recipe = (500, "default") if options.quick else (options.rows, options.recipe)
    flips = [Flip(how, float(q)) for how, q in (one.split(":") for one in options.flips.split(","))]
    every: dict[str, list[Figures]] = {way: [] for way in WAYS}
    print(f"{'task':44} " + " ".join(f"{name:>8.8}" for name in HEAD), flush=True)
    for seed in map(int, options.seeds.split(",")):
        files = () if options.folder is None else of_folder(options.folder, flips, rows, seed)
        for case in chain(files, of_seed(seed, options.generated, rows)):
            try:
                both = measured(case, recipe, seed)
            except UserError as error:
                print(f"{case.name}: left out: {error}", flush=True)
                continue
            for way in WAYS:
                every[way].append(both[way])
            if options.store is not None:
                with options.store.open("a", encoding="utf-8") as file:
                    file.write(json.dumps({way: asdict(both[way]) for way in WAYS}) + "\n")
            name, *cells = both[options.weights].cells()
            print(f"{name:44.44} " + " ".join(f"{cell:>8}" for cell in cells), flush=True)
    print(f"\n{options.weights}:")
    for goal, reached in goals(every[options.weights]):
        print(f"  {goal:56} {reached}")
    if options.panels:
        of = panels(options.panels, int(options.seeds.split(",")[0]))
        print("\n" + table(list(PANELS), of_panels(of)))
        off = np.array([abs(one.certain - two.certain) for one, two in zip(of["alone"], of["useless"], strict=True)])
        print(f"\na useless column changes the share of certain labels by {off.mean():.3f} (largest {off.max():.3f})")


def write(store: Path) -> None:
    """Put the tables and the diagram of stored figures into docs/."""
    lines = [json.loads(line) for line in store.read_text(encoding="utf-8").splitlines()]
    every = {way: [Figures(**line[way]) for line in lines] for way in WAYS}
    for name in ("files", "generated"):
        of = {way: [row for row in rows if is_generated(row) == (name == "generated")] for way, rows in every.items()}
        if of[WAYS[0]]:
            reached = [[a[0], a[1], b[1]] for a, b in zip(*(goals(of[way]) for way in WAYS), strict=True)]
            put(DOCS / "sure.md", f"goals of {name}", table([f"{len(of[WAYS[0]])} {name}", *WAYS], reached))
    of_files = {way: [row for row in rows if not is_generated(row)] for way, rows in every.items()}
    put(DOCS / "sure.md", "figures", _both(of_files))
    (DOCS / "sure.svg").write_text(diagram(every), encoding="utf-8")


def is_generated(row: Figures) -> bool:
    """Whether the task is of a seed, and not of a file."""
    return row.name.split(".")[0].isdecimal()


def _both(every: dict[str, list[Figures]]) -> str:
    """Return a line for each task, before → after."""
    rows = []
    for before, after in zip(*(every[way] for way in WAYS), strict=True):
        pairs = [
            (getattr(before, name), getattr(after, name))
            for name in ("right", "confidence", "error", "certain", "wrong")
        ]
        rows.append([after.name, *(f"{a:.2f} → {b:.2f}" for a, b in pairs)])
    return table(["task", "right", "mean confidence", "calibration error", "certain", "of these wrong"], rows)


if __name__ == "__main__":
    main()

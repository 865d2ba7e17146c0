"""What the recipe *auto* is worth on the data sets of a folder: `python -m benchmarks.recipes FOLDER`.

    python -m benchmarks.recipes FOLDER [--seeds 0,1] [--rows 2000] [--flips binomial:0.7,pair:0.9] [--method proden]

FOLDER holds files that Candid reads, each with true labels (its folders are looked through too). Sets of their own are
taken as they are; where each example has one label, candidates are made of it in every way that `--flips` names. A
fifth is for validation and a fifth for testing. Three ways to choose the settings are compared on the same parts and
sets: *default*, *auto*, and *truth*: each configuration that *auto* compared is trained to the end, and the one with
the highest accuracy on the validation part is taken (some seventy fits a task). No figure counts that part: those
printed are test accuracy, and how many labels of the training part the final models identify; at the end, their means.
What cannot be read, or says no truth, is named and left out.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from sklearn.base import clone

from pll import read
from pll.dataset import PartialLabelDataset
from pll.errors import UserError
from pll.methods import METHODS
from pll.methods.base import AFRESH, Start, Task
from pll.methods.deep import DeepEstimator
from pll.methods.recipe import COMPARED_AFTER
from pll.runs.config import Preparation
from pll.runs.data import prepare
from pll.synthesis import Flip

WAYS = ("default", "auto", "truth")
Figures = tuple[float, float]
"""Test accuracy and share of labels identified, in %."""


def data_of(file: Path) -> PartialLabelDataset:
    """Return the examples of a file whose true label is known, without sets where each has one label.

    Raises
    ------
    UserError
        It cannot be read, or there is no truth or too little of it.
    """
    data = read(file)
    single = data.candidates is not None and bool((data.candidates.sizes == 1).all())
    if data.y is None and single and data.candidates is not None:
        data = replace(data, y=data.candidates.indices.astype(np.int64))
    if data.y is None:
        raise UserError("there are no true labels")
    data = replace(data.take(data.y >= 0), is_test=None)
    assert data.y is not None
    if len(data) < 50 or len(np.unique(data.y)) < 2:
        raise UserError("fewer than 50 examples with a truth, or one class")
    return replace(data, candidates=None) if single else data


def tasks_of(data: PartialLabelDataset, flips: list[Flip], rows: int, seed: int) -> Iterator[tuple[str, Task, str]]:
    """Yield (how the sets were made, training part, what fills missing values), at most so many examples."""
    chosen = np.sort(np.random.default_rng([seed, 11]).permutation(len(data))[:rows])
    own = data.candidates is not None or data.annotations is not None
    for flip in [None] if own else flips:
        splits = prepare(data.take(chosen), Preparation(flip=flip, holdout=0.4, seed=seed))
        how = "its own sets" if flip is None else f"{flip.how} {flip.q:g}"
        yield how, splits.task(), "mean" if splits.train.kind == "table" else "error"


def fitted(task: Task, way: str, method: str, missing: str, seed: int) -> tuple[Figures, float]:
    """Return the figures of a fit, and the CPU seconds that choosing took."""
    assert task.X_test is not None and task.y_test is not None
    validation, test = np.array_split(np.random.default_rng([seed, 12]).permutation(len(task.X_test)), 2)
    estimator = METHODS[method](missing=missing, seed=seed, threads=1, recipe="default" if way == "default" else "auto")
    assert isinstance(estimator, DeepEstimator)
    started, start = time.process_time(), AFRESH
    if way == "auto":
        start = Start(estimator.choose_settings(task))
    elif way == "truth":
        estimator = best_by_truth(estimator, task, task.X_test[validation], task.y_test[validation])
    spent = time.process_time() - started
    *_, record = estimator.iter_fit(replace(task, X_test=task.X_test[test], y_test=task.y_test[test]), start=start)
    return (100 * float(record.test_accuracy or 0), 100 * float(record.transductive_accuracy or 0)), spent


def best_by_truth(
    estimator: DeepEstimator, task: Task, X: npt.NDArray[np.float32], y: npt.NDArray[np.int64]
) -> DeepEstimator:
    """Return the method with those of all settings that *auto* compares which are right on most of X (m, …), y (m,)."""
    tried = estimator.choose_settings(task).trials
    whole = {json.dumps({**trial.settings, "epochs": 0}, sort_keys=True): trial.settings for trial in tried}
    best, most = estimator, -1.0
    for settings in whole.values():
        for epochs in COMPARED_AFTER[-2:] if settings["model"] == "linear" else COMPARED_AFTER[-2:-1]:
            one: DeepEstimator = clone(estimator).set_params(**settings | {"epochs": epochs}, recipe="default")
            for _ in one.iter_fit(replace(task, X_test=None, y_test=None)):
                pass
            right = float((one.predict_scores(X).argmax(axis=1) == y).mean())
            if right > most:
                best, most = one, right
    chosen: DeepEstimator = clone(best)
    return chosen


def main() -> None:
    """Fit and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seeds", default="0")
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--flips", default="binomial:0.7,pair:0.9", metavar="HOW:Q,…")
    parser.add_argument("--method", default="proden")
    options = parser.parse_args()
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    flips = [Flip(how, float(q)) for how, q in (one.split(":") for one in options.flips.split(","))]
    print(f"{'data':34} {'sets':14} {'seed':>4} " + " ".join(f"{way:>12}" for way in WAYS) + "   CPU s", flush=True)
    every: list[list[Figures]] = []
    seconds: list[float] = []
    for file in sorted(path for path in options.folder.rglob("*") if path.is_file() and path.name[0] != "."):
        try:
            data = data_of(file)
            for seed in map(int, options.seeds.split(",")):
                for how, task, missing in tasks_of(data, flips, options.rows, seed):
                    fits = [fitted(task, way, options.method, missing, seed) for way in WAYS]
                    every.append([figures for figures, _ in fits])
                    seconds.append(fits[1][1])
                    name = f"{file.relative_to(options.folder)} ({task.candidates.n_classes})"
                    print(f"{name:34} {how:14} {seed:4} {_line(every[-1])} {seconds[-1]:7.1f}", flush=True)
        except (UserError, OSError, ValueError) as error:
            print(f"{file.relative_to(options.folder)}: left out: {str(error).splitlines()[0]}", flush=True)
    if every:
        means = np.array(every).mean(axis=0)  # (ways, 2)
        print(f"{'mean of ' + str(len(every)):54} {_line(means)} {np.mean(seconds):7.1f}")
        gap, above = means[2] - means[1], means[1] - means[0]
        print(
            f"auto is {gap[0]:+.1f} / {gap[1]:+.1f} points from settings chosen with the truth (test / identified), "
            f"{above[0]:+.1f} / {above[1]:+.1f} above the defaults"
        )


def _line(figures: object) -> str:
    return " ".join(f"{test:5.1f} /{identified:5.1f}" for test, identified in np.asarray(figures))


if __name__ == "__main__":
    main()

"""The settings of the review benchmark: data, candidate sets, trained label weights, stored on disk.

Training is what takes long, so what it leaves is stored under `--cache`, and orders are evaluated on that in seconds.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.datasets import load_diabetes

from pll import catalog
from pll.candidates import CandidateSets
from pll.catalog.files import search_roots
from pll.dataset import PartialLabelDataset
from pll.errors import UserError
from pll.io import as_column, write_atomically
from pll.methods import METHODS
from pll.methods.held_out import HeldOut
from pll.review.forest import grow_forest
from pll.review.kernel_ridge import fit_factor
from pll.review.label_snapshot import LabelSnapshot
from pll.review.neighbours import best_points, find_neighbours
from pll.review.signals import ReviewSignals
from pll.runs.config import Preparation
from pll.runs.data import Splits, prepare
from pll.synthesis import Flip
from pll.weights import Weights

RECIPES = ("default", "auto")


@dataclass(frozen=True)
class Setting:
    """One data set, and how its candidate sets are made.

    Attributes
    ----------
    name : str
        What the tables call it.
    dataset : str
        In the catalogue; or `tables/x.npz`, `texts/x.csv` in a folder of `PLL_DATA_PATH`; or "ages".
    q : float, optional
        Flipping probability (binomial); None for the sets of the data.
    first : int, optional
        Use so many examples at most.
    params : dict
        Of PRODEN, linear.
    """

    name: str
    dataset: str
    q: float | None = None
    first: int | None = None
    params: dict[str, Any] = field(default_factory=dict)


def _named(*settings: Setting) -> dict[str, Setting]:
    return {setting.name: setting for setting in settings}


HELD_OUT = _named(
    Setting("digits 0.7", "digits", 0.7),
    Setting("lost", "lost"),
    Setting("birdsong", "birdsong", first=3_000),
    Setting("mnist 0.7", "mnist", 0.7, first=4_000),
    Setting("satimage 0.7", "tables/satimage.npz", 0.7, first=3_000),
    Setting("trec 0.5", "texts/trec_questions.csv", 0.5, first=2_000),
)
"""What is reported; nothing was chosen on it."""

DEVELOPMENT = _named(
    Setting("segment 0.7", "tables/segment.npz", 0.7, first=2_000),
    Setting("vehicle 0.5", "tables/vehicle.npz", 0.5),
    Setting("letter 0.5", "tables/letter.npz", 0.5, first=2_000),
    Setting("banking20 0.5", "texts/banking20.csv", 0.5, first=2_000),
    Setting("yeast 0.4", "yeast", 0.4),
    Setting("contraceptive 0.3", "tables/contraceptive.npz", 0.3),
    Setting("ages", "ages"),
)
"""Where choices were made."""

SETTINGS = HELD_OUT | DEVELOPMENT


@dataclass(frozen=True, eq=False)
class Prepared:
    """One draw of a setting, trained.

    Attributes
    ----------
    data : PartialLabelDataset
        With its candidate sets; `y` is what the simulated reviewer knows.
    signals : ReviewSignals
        Of the trained run.
    """

    data: PartialLabelDataset
    signals: ReviewSignals

    @property
    def y(self) -> npt.NDArray[np.int64]:
        """(n,) the truth."""
        assert self.data.y is not None
        return self.data.y


def load(setting: Setting, seed: int) -> Splits:
    """Return the examples with candidate sets and their truth."""
    data = _read(setting.dataset, seed)
    if data.is_test is not None:
        data = replace(data.take(~data.is_test), is_test=None)
    if setting.first is not None and len(data) > setting.first:
        data = data.take(np.sort(np.random.default_rng(seed).permutation(len(data))[: setting.first]))
    return prepare(data, Preparation(flip=None if setting.q is None else Flip("binomial", setting.q), seed=seed))


def prepared(setting: Setting, recipe: str, seed: int, cache: Path) -> Prepared:
    """Train what the cache does not hold yet."""
    splits = load(setting, seed)
    data, sets = splits.train, splits.train.sets()
    file = cache / f"{setting.name.replace(' ', '-')}-{recipe}-{seed}.npz"
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        weights, held_out = train(setting, splits, recipe, seed)
        write_atomically(file, partial(np.savez, weights=weights, held_out=held_out))
        print(f"trained {file.stem}")
    with np.load(file, allow_pickle=False) as arrays:
        weights, held_out = arrays["weights"], arrays["held_out"]
    points = best_points(data.X, sets, weights)
    near, factor = find_neighbours(points), fit_factor(points, sets, weights)
    leaves = grow_forest(points, sets, weights)
    labels = LabelSnapshot(file.stem, data.row_ids, sets, weights, held_out)
    return Prepared(data, ReviewSignals(labels, near, factor=factor, leaves=leaves))


def train(setting: Setting, splits: Splits, recipe: str, seed: int) -> tuple[Weights, Weights]:
    """PRODEN: final label weights, and held-out weights."""
    params = {"threads": 1, "seed": seed, "missing": "mean", "recipe": recipe, **setting.params}
    estimator = METHODS["proden"](**params)
    for _ in estimator.iter_fit(splits.task()):
        pass
    estimator.release()
    step = HeldOut(estimator, splits.task(), seed=seed)
    for _ in step.run():
        pass
    return estimator.label_weights_, step.weights()


def _read(dataset: str, seed: int) -> PartialLabelDataset:
    if dataset == "ages":
        return _ages(seed)
    if "/" not in dataset:
        return catalog.load(dataset)
    paths = [root / dataset for root in search_roots() if (root / dataset).exists()]
    if not paths:
        raise UserError(f"{dataset} is in none of the folders of PLL_DATA_PATH.")
    if paths[0].suffix == ".npz":
        with np.load(paths[0], allow_pickle=False) as arrays:
            X, y, names = arrays["X"].astype(np.float32), arrays["y"], tuple(map(str, arrays["class_names"]))
        return PartialLabelDataset(X, y=y, class_names=names, name=dataset, kind="table")
    table = pd.read_csv(paths[0], dtype=str, keep_default_na=False)
    names = tuple(sorted(set(table["label"])))
    y = np.array([names.index(label) for label in table["label"]])
    X = np.zeros((len(y), 0), dtype=np.float32)
    return PartialLabelDataset(X, y=y, class_names=names, texts=as_column(table["text"].tolist()), name=dataset)


def _ages(seed: int) -> PartialLabelDataset:
    """Simulated: each of the sets holds what six people guessed of a number of twenty levels, and the truth."""
    classes, guesses, spread = 20, 6, 3.0
    X, target = load_diabetes(return_X_y=True)
    rng = np.random.default_rng(seed)
    y = np.searchsorted(np.quantile(target, np.linspace(0, 1, classes + 1)[1:-1]), target)
    answers = np.clip(np.round(y[:, None] + rng.normal(0, spread, (len(y), guesses))), 0, classes - 1).astype(int)
    sets = CandidateSets.from_lists(
        [sorted({*row.tolist(), int(truth)}) for row, truth in zip(answers, y, strict=True)], classes
    )
    return PartialLabelDataset(X.astype(np.float32), candidates=sets, y=y, name="ages", kind="table")

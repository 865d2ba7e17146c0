"""The settings of the review benchmark: data, candidate sets, five trained seeds and their signals, kept on disk.

Training is what takes long, so what it leaves is kept under `--cache` (one npz a seed), and the orders are evaluated
on that in seconds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.results import PAPER
from pll import catalog
from pll.analysis.protocol import prepare
from pll.annotations.data import Annotations
from pll.candidates import CandidateSets
from pll.catalog.files import search_roots
from pll.dataset import PartialLabelDataset
from pll.io import save_array, write_atomically
from pll.methods import METHODS
from pll.methods.base import Task
from pll.review.neighbours import find_neighbours
from pll.review.signals import ReviewSignals, vote_shares
from pll.synthesis import Flip
from pll.synthesis.cross_val import out_of_fold
from pll.weights import Weights


@dataclass(frozen=True)
class Setting:
    """One data set and how its labels are identified.

    Args:
        name: what the tables call it.
        dataset: in the catalogue.
        q: flipping probability (binomial); None for the sets of the data.
        first: use so many examples of the training part; None for all.
        holdout: share left out (digits, as in the other benchmarks).
        samplings: how often candidate sets are drawn; figures are means over them.
        votes: attach the annotators' votes (CIFAR-10H).
        params: of PRODEN, linear.
    """

    name: str
    dataset: str
    q: float | None = None
    first: int | None = None
    holdout: float | None = None
    samplings: int = 1
    votes: bool = False
    params: dict[str, Any] = field(default_factory=dict)


DIGITS: dict[str, Any] = {"holdout": 0.2, "samplings": 5, "params": {"epochs": 500}}
REAL = {"epochs": 500, "batch_size": 100}

SETTINGS = {
    setting.name: setting
    for setting in (
        Setting("digits 0.5", "digits", 0.5, **DIGITS),
        Setting("digits 0.7", "digits", 0.7, **DIGITS),
        Setting("lost", "lost", params=PAPER["lost"] | REAL),
        Setting("birdsong", "birdsong", params=PAPER["birdsong"] | REAL),
        Setting("mnist 0.7", "mnist", 0.7, first=10_000),
        Setting("cifar10h", "cifar10h"),
        Setting("cifar10h + votes", "cifar10h", votes=True),
    )
}
"""Those of the issue. The votes of CIFAR-10H say so much that with them it is no fair share of a mean."""

OTHERS = {
    setting.name: setting
    for setting in (
        Setting("digits 0.6 mlp", "digits", 0.6, holdout=0.2, samplings=2, params={"epochs": 100, "model": "mlp"}),
        Setting("yeast 0.5", "yeast", 0.5, samplings=2, params=PAPER["yeast"] | REAL),
        Setting("yeast 0.2", "yeast", 0.2, samplings=2, params=PAPER["yeast"] | REAL),
        Setting("dermatology 0.7", "dermatology", 0.7, samplings=3, params=PAPER["dermatology"] | REAL),
        Setting(
            "synthetic-control 0.7", "synthetic-control", 0.7, samplings=3, params=PAPER["synthetic-control"] | REAL
        ),
        Setting("cifar10n-subset", "cifar10n-subset"),
    )
}
"""Where choices were made, so that none is made on the settings that are reported."""


@dataclass(frozen=True, eq=False)
class Prepared:
    """One sampling of a setting, trained.

    Attributes:
        data: the training part with its candidate sets; `y` is what the simulated reviewer knows.
        signals: of the trained run.
        probabilities: (n, c) out of fold, of the identified labels: what cleanlab is given.
    """

    setting: Setting
    sampling: int
    data: PartialLabelDataset
    signals: ReviewSignals
    probabilities: npt.NDArray[np.float32]

    @property
    def y(self) -> npt.NDArray[np.int64]:
        assert self.data.y is not None
        return self.data.y

    @property
    def sets(self) -> CandidateSets:
        return self.data.sets()


def load(setting: Setting, sampling: int) -> PartialLabelDataset:
    """The training part with candidate sets, the truth kept beside them."""
    data = catalog.load(setting.dataset)
    if data.is_test is not None:
        data = replace(data.take(~data.is_test), is_test=None)
    if setting.first is not None:
        data = data.take(slice(setting.first))
    if setting.votes:
        data = replace(data, annotations=_votes(data.class_names))
    flip = None if setting.q is None else Flip("binomial", setting.q)
    return prepare(data, flip_with=flip, holdout=setting.holdout, seed=sampling).train


def prepared(setting: Setting, sampling: int, cache: Path, say: Callable[[str], None] = print) -> Prepared:
    """Train what the cache does not hold yet."""
    data = load(setting, sampling)
    home = cache / setting.name.replace(" ", "-")
    votes = None if data.annotations is None else vote_shares(data.annotations, data.sets())
    file = home / f"signals-{sampling}.npz"
    if not file.exists():
        weights, mean = train(setting, data, data.sets(), seed=0)
        write_atomically(file, partial(np.savez, weights=weights, mean=mean))
        say(f"trained {setting.name}, sampling {sampling}")
    with np.load(file, allow_pickle=False) as kept:
        signals = ReviewSignals(data.sets(), kept["weights"], kept["mean"], votes=votes)
    near = _kept(
        home / f"neighbours-{sampling}.npy",
        lambda: find_neighbours(data.X, candidates=data.sets(), weights=signals.weights),
    )
    outside = _kept(
        home / f"outoffold-{sampling}.npy",
        lambda: out_of_fold(data.X, signals.sharp.identified, data.n_classes, seed=sampling),
    )
    return Prepared(setting, sampling, data, replace(signals, neighbours=near), outside)


def train(setting: Setting, data: PartialLabelDataset, sets: CandidateSets, seed: int) -> tuple[Weights, Weights]:
    """PRODEN: final label weights, and their mean over the epochs."""
    estimator = METHODS["proden"](**{"threads": 1, "seed": seed, "missing": "mean", **setting.params})
    total, count = np.zeros(sets.nnz), 0
    for record in estimator.iter_fit(Task(data.X, sets)):
        total += record.label_weights
        count += 1
    estimator.release()
    return estimator.label_weights_, (total / count).astype(np.float32)


def _votes(class_names: tuple[str, ...]) -> Annotations:
    """CIFAR-10H: who gave which vote was not published, how many did was."""
    for folder in search_roots():
        file = folder / "cifar10" / "human_labels.npz"
        if file.exists():
            with np.load(file, allow_pickle=False) as kept:
                return Annotations.from_counts(kept["cifar10h_counts"], class_names)
    raise FileNotFoundError("human_labels.npz is in none of the folders of PLL_DATA_PATH.")


def _kept(file: Path, make: Callable[[], npt.NDArray[Any]]) -> npt.NDArray[Any]:
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        save_array(file, make())
    return np.asarray(np.load(file, allow_pickle=False))

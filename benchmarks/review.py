"""How soon review finds the wrong labels, by order: `python -m benchmarks.review`.

A simulated reviewer who knows the truth works down the queue of each order, on each setting, with and without
retraining; label accuracy against reviews goes to docs/review.csv, and a summary is printed as the tables of
docs/review.md. Needs `PLL_DATA_PATH` to name a folder with the datasets (or a network). Trained signals and finished
reviews are kept under --cache, so that it can be stopped and started again. About two hours of one core from nothing.

    --only lost,birdsong   some settings
    --minutes 5            stop after the review that is under way then
    --page                 write what there is, simulate nothing
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
from cleanlab.rank import get_label_quality_scores

from benchmarks.review_settings import OTHERS, SETTINGS, Prepared, Setting, prepared, train
from benchmarks.review_simulation import Curve, Ranking, Retrain, Way, review, reviews_needed
from benchmarks.review_tables import Found, tables, write_csv
from pll.candidates import CandidateSets
from pll.io import save_array
from pll.review.decided import Decided
from pll.review.signals import ReviewSignals, vote_shares
from pll.synthesis.cross_val import out_of_fold
from pll.weights import sharpness

CACHE = Path("/tmp/candid-review")
FARTHEST = 1.5
"""With retraining, a review is simulated up to so many times the reviews that top weight needs."""
RETRAINED_SAMPLINGS = 2
"""Samplings of the candidate sets that are reviewed with retraining, where there are more."""
UNTAUGHT = ("cifar10h + votes",)
"""Settings that are not tried with retraining: there the votes settle nearly everything by themselves."""


@dataclass(frozen=True)
class Contender:
    """A line of the tables.

    Args:
        name: what the CSV calls it.
        way: order, and whether labels follow.
        cleanlab: a label-quality score of cleanlab instead of an order of ours.
        retrained: whether it is also tried with retraining.
    """

    name: str
    way: Way
    cleanlab: str = ""
    retrained: bool = True


BASE = "confidence"
CONTENDERS = (
    Contender(BASE, Way("confidence")),
    Contender("learning", Way("learning", follows=True)),
    Contender("random", Way("random")),
    Contender("cleanlab self-confidence", Way("cleanlab"), cleanlab="self_confidence"),
    Contender("cleanlab normalized margin", Way("cleanlab"), cleanlab="normalized_margin", retrained=False),
    Contender("oracle", Way("oracle"), retrained=False),
    Contender("learning, labels stay", Way("learning"), retrained=False),
    Contender("confidence, labels follow", Way("confidence", follows=True), retrained=False),
)


@dataclass(frozen=True)
class Trial:
    """A contender on one sampling of a setting."""

    setting: Setting
    sampling: int
    contender: Contender
    retraining: bool

    def file(self, cache: Path) -> Path:
        """Where its curve is kept."""
        kind = "retrained" if self.retraining else "once"
        name = f"{self.setting.name}-{self.sampling}-{self.contender.name}-{kind}.npy"
        return cache / "curves" / name.replace(" ", "_").replace(",", "")


def trials(settings: list[Setting]) -> Iterator[Trial]:
    """All that is to be simulated: without retraining first; with it, one contender after the other."""
    for setting in settings:
        for sampling in range(setting.samplings):
            yield from (Trial(setting, sampling, one, False) for one in CONTENDERS)
    for contender in CONTENDERS:
        for setting in settings:
            if contender.retrained and setting.name not in UNTAUGHT:
                for sampling in range(min(setting.samplings, RETRAINED_SAMPLINGS)):
                    yield Trial(setting, sampling, contender, True)


def simulate(trial: Trial, ready: Prepared, cache: Path) -> Curve:
    """One review, or as far as it matters."""
    way, y = trial.contender.way, ready.y
    signals = ready.signals
    given = _given(trial.contender, ready)
    if not trial.retraining:
        return review(signals, y, way, seed=trial.sampling, given=given)
    half = int((signals.sharp.identified != y).sum()) // 2
    farthest = float("inf")
    if trial.contender.name != BASE:
        farthest = FARTHEST * reviews_needed(np.load(replace(trial, contender=CONTENDERS[0]).file(cache)), half)
    return review(
        signals,
        y,
        way,
        seed=trial.sampling,
        given=given,
        retrain=_retrain(trial, ready),
        until=lambda curve, done: curve[done] <= half or done > farthest,
    )


def _given(contender: Contender, ready: Prepared) -> Ranking | None:
    if contender.way.order == "oracle":
        return lambda signals, decided: np.argsort(sharpness(signals.weights, signals.sets).identified == ready.y)
    if not contender.cleanlab:
        return None
    known = [(ready.signals, ready.probabilities)]

    def ranking(signals: ReviewSignals, decided: Decided) -> npt.NDArray[np.int64]:
        labels = signals.sharp.identified
        if known[-1][0] is not signals:  # a newly trained run
            known.append((signals, out_of_fold(ready.data.X, labels, ready.data.n_classes, seed=ready.sampling)))
        p = known[-1][1].astype(np.float64)
        return np.argsort(get_label_quality_scores(labels, p, method=contender.cleanlab), kind="stable")

    return ranking


def _retrain(trial: Trial, ready: Prepared) -> Retrain:
    """A fit from scratch with what has been decided as the only candidate, as its teacher does it."""

    def retrain(sets: CandidateSets) -> ReviewSignals:
        weights, mean = train(trial.setting, ready.data, sets, seed=0)
        said = ready.data.annotations
        return ReviewSignals(
            sets,
            weights,
            mean,
            neighbours=ready.signals.neighbours,
            votes=None if said is None else vote_shares(said, sets),
        )

    return retrain


def main() -> None:
    """See the top of this file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--only", default=",".join(SETTINGS), help=f"settings, by name; besides those reported: {', '.join(OTHERS)}"
    )
    parser.add_argument("--minutes", type=float, default=float("inf"))
    parser.add_argument("--cache", type=Path, default=CACHE)
    parser.add_argument("--page", action="store_true")
    options = parser.parse_args()
    settings = [(SETTINGS | OTHERS)[name.strip()] for name in options.only.split(",")]
    everything = list(trials(settings))
    if not options.page:
        _work_through(everything, options.cache, time.monotonic() + 60 * options.minutes)
    found = _found(everything, options.cache)
    write_csv({key: curves for key, curves in found.items() if key[0] in SETTINGS}, BASE)
    print(tables(found, BASE, UNTAUGHT))


def _found(everything: list[Trial], cache: Path) -> Found:
    """The curves there are, of settings where none of the samplings is missing."""
    found: Found = {}
    for trial in everything:
        key = (trial.setting.name, trial.contender.name, trial.retraining)
        found.setdefault(key, [])
        if trial.file(cache).exists() and trial.sampling == len(found[key]):
            found[key].append(np.load(trial.file(cache)))
    return {key: curves for key, curves in found.items() if curves}


def _work_through(everything: list[Trial], cache: Path, deadline: float) -> None:
    ready: Prepared | None = None
    for trial in everything:
        if trial.file(cache).exists():
            continue
        if ready is None or (ready.setting, ready.sampling) != (trial.setting, trial.sampling):
            ready = prepared(trial.setting, trial.sampling, cache)
        started = time.monotonic()
        curve = simulate(trial, ready, cache)
        trial.file(cache).parent.mkdir(parents=True, exist_ok=True)
        save_array(trial.file(cache), curve)
        print(f"{trial.file(cache).stem:70} {time.monotonic() - started:7.1f} s", flush=True)
        if time.monotonic() > deadline:
            return


if __name__ == "__main__":
    main()

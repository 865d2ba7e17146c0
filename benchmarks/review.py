"""How soon review finds the wrong labels, by order: `python -m benchmarks.review`.

A simulated reviewer who knows the truth works down the queue of each order on each setting, for runs with the default
settings and of the recipe auto. Reviews for half and for nine tenths of the wrong labels go to docs/review.csv, and are
printed as a table. Needs `PLL_DATA_PATH` to name a folder with the datasets (or a network). Trained label weights are
stored under --cache.

    --only lost,birdsong   some settings; those where choices were made: "--only development"
    --recipes default      of default,auto
    --seeds 2              draws of the candidate sets
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd
from cleanlab.rank import get_label_quality_scores

from benchmarks.marked import table
from benchmarks.review_settings import DEVELOPMENT, HELD_OUT, RECIPES, SETTINGS, Prepared, prepared
from pll.errors import UserError
from pll.review.decided import Decided
from pll.review.follow import FEWEST_DECISIONS
from pll.review.logit import propose
from pll.review.queue import review_order
from pll.review.signals import ReviewSignals
from pll.synthesis.cross_val import out_of_fold
from pll.weights import identified_labels

CACHE = Path("/tmp/candid-review")
FILE = Path(__file__).parents[1] / "docs" / "review.csv"

Curve = npt.NDArray[np.int64]
"""(n+1,) wrong labels left after 0, 1, … reviews; −1 where the review was not simulated that far."""
Ranking = Callable[[ReviewSignals, Decided], npt.NDArray[np.int64]]

STEP = 0.01
"""Share of n that is decided between two looks at an order that learns."""
SHARES = (0.5, 0.9)
"""Of the wrong labels, after which reviews are counted."""
BASE, LEARNING, CLEANLAB = "confidence", "learning", "cleanlab self-confidence"
ORDERS = (BASE, LEARNING, CLEANLAB, "oracle", "random")


@dataclass(frozen=True)
class Row:
    """One order on one draw of a setting.

    Attributes
    ----------
    needed : reviews after which each of `SHARES` of the run's wrong labels is gone
    """

    setting: str
    recipe: str
    order: str
    seed: int
    examples: int
    wrong: int
    needed: tuple[float, ...]


def order_of(name: str, ready: Prepared, seed: int = 0) -> Ranking:
    """Return how an order ranks.

    Parameters
    ----------
    name : str
        One of `ORDERS`.
    """
    if name == LEARNING:
        return lambda signals, decided: review_order(signals, decided, seed=seed)
    labels, confidence = ready.signals.labels.certainty.identified, ready.signals.labels.certainty.confidence
    if name == BASE:
        score = confidence.astype(np.float64)
    elif name == CLEANLAB:
        p = out_of_fold(ready.data.X, labels, ready.data.n_classes, seed=seed).astype(np.float64)
        score = get_label_quality_scores(labels, p, method="self_confidence")
    elif name == "oracle":
        score = (labels == ready.y).astype(np.float64)
    else:
        score = np.random.default_rng(seed).random(len(labels))
    fixed = np.argsort(score, kind="stable")
    return lambda signals, decided: fixed


def review(
    signals: ReviewSignals,
    y: npt.NDArray[np.int64],
    ranking: Ranking,
    *,
    follows: bool = False,
    until: int = 0,
) -> Curve:
    """Review until at most so many labels are wrong, and count what is still wrong.

    The order is made anew after every `STEP` · n reviews, and the first time after a fifth of that, so that the first
    batch is not wasted.

    Parameters
    ----------
    y : (n,) the truth
    follows : bool
        Labels that nobody has looked at follow the decisions; else they stay the run's.
    until : int
        Wrong labels at which the review ends.
    """
    n, sets = len(y), signals.sets
    curve = np.full(n + 1, -1, dtype=np.int64)
    answers: dict[int, int] = {}
    seen = np.zeros(n, dtype=np.bool_)
    step, first = max(1, round(STEP * n)), max(1, round(STEP * n / 5))
    done = 0
    while done < n:
        decided = Decided.of(sets, answers)
        labels = signals.labels.certainty.identified
        if follows and len(decided) >= FEWEST_DECISIONS:
            labels = identified_labels(propose(signals, decided), sets)
        wrong = (labels != y) & ~seen
        curve[done] = int(wrong.sum())
        if curve[done] <= until:
            break
        order = ranking(signals, decided)
        for row in order[~seen[order]][: first if done == 0 else step].tolist():
            done += 1
            seen[row] = True
            curve[done] = curve[done - 1] - int(wrong[row])
            answers[row] = int(y[row])
    return curve


def reviews_needed(curve: Curve, errors: int) -> float:
    """Reviews after which at most `errors` wrong labels are left for the first time, at least 1; inf if never.

    Examples
    --------
    >>> reviews_needed(np.array([4, 4, 3, 1, 0]), 2)
    3.0
    """
    enough = np.flatnonzero((curve >= 0) & (curve <= errors))
    return max(1.0, float(enough[0])) if len(enough) else float("inf")


def rows_of(setting: str, recipe: str, seed: int, cache: Path) -> list[Row]:
    """Simulate every order on one draw of a setting."""
    ready = prepared(SETTINGS[setting], recipe, seed, cache)
    wrong = int((ready.signals.labels.certainty.identified != ready.y).sum())
    left = [int((1 - share) * wrong) for share in SHARES]
    rows = []
    for name in ORDERS:
        ranking = order_of(name, ready, seed)
        curve = review(ready.signals, ready.y, ranking, follows=name == LEARNING, until=left[-1])
        needed = tuple(reviews_needed(curve, some) for some in left)
        rows.append(Row(setting, recipe, name, seed, len(ready.y), wrong, needed))
    return rows


def ratio(rows: list[Row], setting: str, recipe: str, order: str, k: int) -> float:
    """Mean reviews for `SHARES[k]` of the errors over the same of `BASE`."""
    mine, theirs = (
        [row.needed[k] for row in rows if (row.setting, row.recipe, row.order) == (setting, recipe, name)]
        for name in (order, BASE)
    )
    return float(np.mean(mine) / np.mean(theirs))


def tables(rows: list[Row]) -> str:
    """Reviews needed as a ratio to the order `BASE`, in Markdown: a line an order, a column a setting."""
    settings = list(dict.fromkeys(row.setting for row in rows))
    parts = []
    for recipe in dict.fromkeys(row.recipe for row in rows):
        for k, share in enumerate(SHARES):
            body = []
            for order in ORDERS:
                ratios = [ratio(rows, setting, recipe, order, k) for setting in settings]
                body.append([order, *(f"{one:.2f}" for one in [*ratios, np.exp(np.mean(np.log(ratios)))])])
            parts.append(f"Reviews for {share:.0%} of the errors, recipe {recipe}, as a ratio to `{BASE}`\n")
            parts.append(table(["order", *settings, "geometric mean"], body) + "\n")
    return "\n".join(parts)


def write_csv(rows: list[Row]) -> None:
    """A line for each setting, recipe, order and draw."""
    frame = pd.DataFrame(rows)
    for k, share in enumerate(SHARES):
        frame[f"reviews_for_{share:g}"] = [f"{row.needed[k]:g}" for row in rows]
    frame.drop(columns="needed").to_csv(FILE, index=False)


def main() -> None:
    """See the top of this file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default=",".join(HELD_OUT), help=f"settings, of {', '.join(SETTINGS)}")
    parser.add_argument("--recipes", default=",".join(RECIPES))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--cache", type=Path, default=CACHE)
    options = parser.parse_args()
    names = list(DEVELOPMENT) if options.only == "development" else [name.strip() for name in options.only.split(",")]
    rows: list[Row] = []
    for setting in names:
        try:
            for recipe in options.recipes.split(","):
                for seed in range(options.seeds):
                    rows += rows_of(setting, recipe, seed, options.cache)
        except (UserError, FileNotFoundError) as error:
            print(f"{setting} is left out: {error}")
            rows = [row for row in rows if row.setting != setting]
    print(tables(rows))
    if set(names) == set(HELD_OUT):
        write_csv(rows)


if __name__ == "__main__":
    main()

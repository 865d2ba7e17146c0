"""Measure certificates of all labels, for docs/certificate.md: `python -m benchmarks.certificate`.

Simulated reviews of real labels: every review shuffles the ties anew and draws its controls, a reviewer who knows the
truth answers. Counted are wrong certificates and labels that nobody needs to look at (the expected number of checks:
`benchmarks.expected_checks`). `--cache` keeps the labels of trained models; `--sims` is the number of reviews in each
cell. Data is looked for in the folders of PLL_DATA_PATH; sets that are not there are left out, and the table says so.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd

from benchmarks.marked import put, table
from benchmarks.review_settings import Setting, load, train
from pll.catalog.files import search_roots
from pll.errors import UserError
from pll.io import write_atomically
from pll.review.certificate import RIGHT, WRONG, Answers, count_accepted, label_order, plan_controls
from pll.weights import Ints, taken_home

ERRORS = (0.03, 0.05, 0.1)

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Labels:
    """Labels of one dataset and whether they are wrong."""

    name: str
    wrong: Flags
    confidence: npt.NDArray[np.float64]
    worst: bool = False


def datasets(cache: Path) -> Iterator[Labels]:
    """Those that are there; then orders that are as bad as they can be."""
    stance = read_stance()
    if stance is not None:
        yield stance
    imagenet = read_imagenet()
    if imagenet is not None:
        yield imagenet
    for setting in TRAINED:
        try:
            yield _trained(setting, cache)
        except (UserError, FileNotFoundError) as error:
            print(f"{setting.name} is left out: {error}")
    if stance is not None:
        up = np.linspace(1, 0, len(stance.wrong))
        upside_down = np.where(stance.wrong, 1 + up, up)
        yield replace(stance, name="stance, wrong ones first", confidence=upside_down, worst=True)
        yield replace(stance, name="stance, all tied", confidence=np.ones(len(stance.wrong)), worst=True)
    plan = plan_controls(2000, 0.05)
    wrong = np.zeros(2000, dtype=np.bool_)
    wrong[: plan.allowed + 1 + plan.tolerated] = True
    even = np.random.default_rng(0).permutation(np.linspace(0, 1, 2000))
    yield Labels("2,000, one wrong too many", wrong, even, worst=True)


def _file(name: str) -> Path | None:
    paths = [root / "votes" / name for root in search_roots()]
    return next((path for path in paths if path.exists()), None)


def read_stance() -> Labels | None:
    path = _file("gpt_stance.csv")
    if path is None:
        return None
    frame = pd.read_csv(path)
    wrong = (frame["Yhat (GPT4o)"] != frame["Y"]).to_numpy()
    return Labels("stance", wrong, frame["confidence"].to_numpy(float))


def read_imagenet() -> Labels | None:
    path = _file("gpt_imagenet.csv")
    if path is None:
        return None
    frame = pd.read_csv(path).sample(10_000, random_state=0)
    wrong = (frame["Yhat"] != frame["Y"]).to_numpy()
    return Labels("ImageNet 10,000", wrong, frame["confidence"].to_numpy(float))


TRAINED = (
    Setting("digits", "digits", 0.7, first=1_438),
    Setting("Lost", "lost"),
    Setting("MNIST", "mnist", 0.7, first=10_000),
)
"""Labels identified by PRODEN."""


def _trained(setting: Setting, cache: Path) -> Labels:
    splits = load(setting, 0)
    data, sets = splits.train, splits.train.sets()
    file = cache / f"certificate-{setting.name}.npz"
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        weights, held_out = train(setting, splits, "default", 0)
        write_atomically(file, partial(np.savez, weights=weights, held_out=held_out))
    with np.load(file, allow_pickle=False) as arrays:
        labels = taken_home(arrays["weights"], arrays["held_out"], sets)
    assert data.y is not None
    return Labels(setting.name, labels.identified != data.y, labels.confidence.astype(float))


# ---- the rule --------------------------------------------------------------------------------------------------------


def accepted_and_unseen(order: Ints, controls: Ints, answers: Answers, tolerated: int) -> tuple[int, int]:
    """How many labels are accepted, and how many of them nobody looks at; arguments of `count_accepted`."""
    cut = count_accepted(order, controls, answers, tolerated)
    return cut, cut - int(np.isin(order[:cut], controls).sum())


def simulate(labels: Labels, sims: int, errors: tuple[float, ...]) -> pd.DataFrame:
    """A row an error: wrong certificates, labels unseen, the oracle."""
    rng = np.random.default_rng(0)
    n, wrong = len(labels.wrong), labels.wrong
    plans = [plan_controls(n, error) for error in errors]
    sums = np.zeros((len(plans), 3))
    for _ in range(sims):
        order = np.lexsort((rng.random(n), -labels.confidence))
        until = np.cumsum(wrong[order].astype(np.int64))
        drawn = rng.permutation(n)
        for k, plan in enumerate(plans):
            controls = drawn[: plan.controls]
            answers = np.where(wrong[controls], WRONG, RIGHT).astype(np.int8)
            cut, unseen = accepted_and_unseen(order, controls, answers, plan.tolerated)
            stays = (until[cut - 1] if cut else 0) - min(int(wrong[controls].sum()), plan.tolerated)
            oracle = np.searchsorted(until, plan.allowed, side="right")
            sums[k] += (stays > plan.allowed, unseen, oracle)
    frame = pd.DataFrame(sums / sims, columns=["broken", "unseen", "oracle"])
    frame[["unseen", "oracle"]] /= n
    frame.insert(0, "plan", [f"{plan.tolerated}, {plan.controls:,}" for plan in plans])
    frame.insert(0, "error", errors)
    frame.insert(0, "labels", labels.name)
    return frame.assign(n=n, rate=wrong.mean(), attained=[plan.attained for plan in plans], worst=labels.worst)


def peeking(labels: Labels, sims: int) -> float:
    """Share of wrong certificates where the order uses which controls are wrong, as nothing may do (ε = 5 %)."""
    rng, n = np.random.default_rng(1), len(labels.wrong)
    plan = plan_controls(n, 0.05)
    order = label_order(labels.confidence, 0, [str(i) for i in range(n)])
    broken = 0
    for _ in range(sims):
        drawn = rng.choice(n, plan.controls, replace=False)
        found = np.zeros(n, dtype=np.bool_)
        found[drawn] = labels.wrong[drawn]
        last = order[np.argsort(found[order], kind="stable")]
        answers = np.where(labels.wrong[drawn], WRONG, RIGHT).astype(np.int8)
        cut = count_accepted(last, drawn, answers, plan.tolerated)
        broken += int((labels.wrong & ~found)[last[:cut]].sum()) > plan.allowed
    return broken / sims


# ---- tables ----------------------------------------------------------------------------------------------------------


def by_labels(frame: pd.DataFrame, columns: dict[str, Callable[[pd.Series], str]]) -> str:
    """A table with one row for each set of labels; an entry has a figure for each ε."""
    rows = []
    for labels, own in frame.groupby("labels", sort=False):
        cells = [[shown(row) for _, row in own.iterrows()] for shown in columns.values()]
        rows.append([str(labels), *("; ".join(each if len(set(each)) > 1 else each[:1]) for each in cells)])
    return table(["labels", *columns], rows) + "\n"


def percent(name: str, digits: int = 1) -> Callable[[pd.Series], str]:
    """How a share is written."""
    return lambda row: f"{row[name] * 100:.{digits}f}"


def report(static: pd.DataFrame, peeked: float, sims: int) -> str:
    """The figures of docs/certificate.md."""
    pooled, most = static["broken"].mean(), static["broken"].max()
    return "\n".join(
        [
            f"**{len(static)} cells of {sims:,} simulated reviews each**: {pooled:.2%} of the certificates were wrong, "
            f"{most:.2%} in the worst cell (at most 5 % intended). In each entry: ε = 0.03; 0.05; 0.1, or 0.05 alone. "
            "All but c and K in %.\n",
            by_labels(
                static,
                {
                    "n": lambda row: f"{row['n']:,}",
                    "wrong": percent("rate"),
                    "c, K": lambda row: str(row["plan"]),
                    "attained α": percent("attained", 2),
                    "wrong certificates": percent("broken", 2),
                    "unseen": percent("unseen"),
                    "unseen, knowing the truth": percent("oracle"),
                },
            ),
            f"An order that uses which controls are wrong (stance, ε = 5 %) makes {peeked:.1%} of the certificates "
            "wrong.\n",
        ]
    )


def main() -> None:
    """Measure, print, and write into the document."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sims", type=int, default=4000)
    parser.add_argument("--cache", type=Path, default=Path(".cache/benchmarks"))
    parser.add_argument("--out", type=Path, default=Path("docs/certificate.md"))
    options = parser.parse_args()
    static, peeked = [], float("nan")
    for labels in datasets(options.cache):
        static.append(simulate(labels, options.sims, (0.05,) if labels.worst else ERRORS))
        print(static[-1].to_string(), flush=True)
        if labels.name == "stance":
            peeked = peeking(labels, options.sims)
    put(options.out, "figures", report(pd.concat(static), peeked, options.sims))


if __name__ == "__main__":
    main()

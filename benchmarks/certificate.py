"""Measure certificates of all labels, for docs/certificate.md: `python -m benchmarks.certificate`.

Simulated reviews of real labels: every review shuffles the ties anew and draws its controls, a reviewer who knows the
truth answers. Counted are wrong certificates and labels that nobody needs to look at, also with re-ranking (the
expected number of checks: `benchmarks.expected_checks`). `--cache` keeps the labels of trained models; `--sims` is the
number of reviews in each cell. Data is looked for in the folders of PLL_DATA_PATH; sets that are not there are left
out, and the table says so.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from benchmarks.marked import put, table
from benchmarks.review_settings import Setting, load, train
from pll.catalog.files import search_roots
from pll.dataset import PartialLabelDataset
from pll.errors import UserError
from pll.io import save_array
from pll.review.certificate import RIGHT, WRONG, Answers, Ints, Plan, count_accepted, label_order, plan_controls
from pll.review.reranking import EVERY, FIRST, PoolFeatures, pool_features, rank_pool
from pll.weights import sharpness

ERRORS = (0.03, 0.05, 0.1)
TIES = 5
"""Orders of ties that re-ranking is repeated with."""

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Labels:
    """Labels of one dataset and whether they are wrong."""

    name: str
    wrong: Flags
    confidence: npt.NDArray[np.float64]
    labels: npt.NDArray[np.str_]
    features: npt.NDArray[np.float32] | None = None
    texts: tuple[str, ...] | None = None
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
    yield _texts_tell()
    if stance is not None:
        up = np.linspace(1, 0, len(stance.wrong))
        upside_down = np.where(stance.wrong, 1 + up, up)
        yield replace(stance, name="stance, wrong ones first", confidence=upside_down, worst=True)
        yield replace(stance, name="stance, all tied", confidence=np.ones(len(stance.wrong)), worst=True)
    plan = plan_controls(2000, 0.05)
    wrong = np.zeros(2000, dtype=np.bool_)
    wrong[: plan.allowed + 1 + plan.tolerated] = True
    even = np.random.default_rng(0).permutation(np.linspace(0, 1, 2000))
    yield Labels("2,000, one wrong too many", wrong, even, np.full(2000, "a"), worst=True)


def _file(name: str) -> Path | None:
    paths = [root / "votes" / name for root in search_roots()]
    return next((path for path in paths if path.exists()), None)


def read_stance() -> Labels | None:
    path = _file("gpt_stance.csv")
    if path is None:
        return None
    frame = pd.read_csv(path)
    assigned = frame["Yhat (GPT4o)"]
    return Labels(
        "stance",
        (assigned != frame["Y"]).to_numpy(),
        frame["confidence"].to_numpy(float),
        assigned.to_numpy(dtype=np.str_),
        texts=tuple(frame["text"].astype(str)),
    )


def _texts_tell() -> Labels:
    """Simulated: texts of eight topics, three of which are labelled wrongly often; confidences say little."""
    rng, n = np.random.default_rng(0), 2000
    topics = rng.integers(0, 8, n)
    own, common = [[f"t{t}w{k}" for k in range(30)] for t in range(8)], [f"c{k}" for k in range(300)]
    texts = tuple(" ".join([*rng.choice(own[topic], 4), *rng.choice(common, 12)]) for topic in topics)
    wrong = rng.random(n) < np.array([0.02, 0.02, 0.03, 0.05, 0.05, 0.3, 0.5, 0.6])[topics]
    confidence = np.round(np.clip(0.8 + 0.15 * rng.standard_normal(n) - 0.08 * wrong, 0.3, 1), 1)
    return Labels("simulated, texts tell", wrong, confidence, rng.choice(["true", "false"], n), texts=texts)


def read_imagenet() -> Labels | None:
    path = _file("gpt_imagenet.csv")
    if path is None:
        return None
    frame = pd.read_csv(path).sample(10_000, random_state=0)
    wrong, assigned = (frame["Yhat"] != frame["Y"]).to_numpy(), frame["Yhat"].to_numpy(dtype=np.str_)
    return Labels("ImageNet 10,000", wrong, frame["confidence"].to_numpy(float), assigned)


TRAINED = (
    Setting("digits", "digits", 0.7, first=1_438),
    Setting("Lost", "lost"),
    Setting("MNIST", "mnist", 0.7, first=10_000),
    Setting("CIFAR-10H", "cifar10h"),
)
"""Labels identified by PRODEN."""


def _trained(setting: Setting, cache: Path) -> Labels:
    splits = load(setting, 0)
    data, sets = splits.train, splits.train.sets()
    file = cache / f"certificate-{setting.name}.npy"
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        save_array(file, train(setting, splits, "default", 0)[0])
    sharp = sharpness(np.load(file, allow_pickle=False), sets)
    assert data.y is not None
    assigned = np.array(data.class_names)[sharp.identified]
    return Labels(setting.name, sharp.identified != data.y, sharp.top.astype(float), assigned, features=data.X)


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


# ---- re-ranking ------------------------------------------------------------------------------------------------------


def leaving_order(rows: PoolFeatures, ask: Callable[[Ints], Flags]) -> Ints:
    """The order in which all rows leave, where `ask` says of rows that leave whether they are wrong.

    Returns
    -------
    Ints
        (n,) int64, the first to leave first. A review stops somewhere in it.
    """
    n = len(rows.order)
    left, wrong = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.bool_)
    while len(left) < n:
        step = max(1, int((EVERY if len(left) else FIRST) * n))
        next_ = rank_pool(rows, left, wrong)[:step]
        left = np.concatenate([left, next_])
        wrong = np.concatenate([wrong, ask(next_)])
    return left


def reranked(labels: Labels, sims: int, errors: tuple[float, ...]) -> pd.DataFrame:
    """A row an error: labels unseen and wrong certificates, static and re-ranked.

    The order is a function of answers and not of the draw, so that one order serves many draws.
    """
    n, ids = len(labels.wrong), [str(i) for i in range(len(labels.wrong))]
    X = np.zeros((n, 0), dtype=np.float32) if labels.features is None else labels.features
    data = PartialLabelDataset(X, texts=None if labels.texts is None else np.array(labels.texts, dtype=object))
    static, plain, changed = [], [], []
    for seed in range(TIES):
        order = label_order(labels.confidence, seed, ids)
        rows = pool_features(order, labels.confidence, labels.labels, data)
        static.append(order)
        bare = pool_features(order, labels.confidence, labels.labels)
        plain.append(leaving_order(bare, lambda left: labels.wrong[left])[::-1])
        changed.append(leaving_order(rows, lambda left: labels.wrong[left])[::-1])
    cells = []
    for error in errors:
        fixed = plan_controls(n, error)
        kinds = {
            "static": draws(labels.wrong, static, fixed, sims),
            "plain": draws(labels.wrong, plain, fixed, sims),
            "reranked": draws(labels.wrong, changed, fixed, sims),
        }
        row = {f"{name} {what}": value for name, pair in kinds.items() for what, value in zip(WHAT, pair, strict=True)}
        cells.append({"labels": labels.name, "error": error} | row)
    return pd.DataFrame(cells)


WHAT = ("unseen", "broken")


def draws(
    wrong: Flags, orders: list[Ints], plan: Plan, sims: int, peek: Literal["no", "yes"] = "no"
) -> tuple[float, float]:
    """(labels unseen, wrong certificates), shares over many draws on these orders.

    Parameters
    ----------
    peek
        Let wrong controls leave the pool first, which nothing may do.
    """
    rng, n = np.random.default_rng(1), len(wrong)
    unseen = broken = 0
    for sim in range(sims):
        order = orders[sim % len(orders)]
        inside = np.zeros(n, dtype=np.bool_)
        inside[rng.choice(n, plan.controls, replace=False)] = True
        if peek == "yes":
            order = order[np.argsort((wrong & inside)[order], kind="stable")]
        hits = np.flatnonzero((wrong & inside)[order])
        cut = n if len(hits) <= plan.tolerated else int(hits[plan.tolerated])
        unseen += cut - int(inside[order[:cut]].sum())
        broken += int(wrong[order[:cut]].sum()) - min(len(hits), plan.tolerated) > plan.allowed
    return unseen / sims / n, broken / sims


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


def report(static: pd.DataFrame, changed: pd.DataFrame, peeking: float, sims: int) -> str:
    """The figures of docs/certificate.md."""
    pooled, most = static["broken"].mean(), static["broken"].max()
    worst = (changed["reranked unseen"] - changed["static unseen"]).min()
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
            "**Re-ranking**, labels unseen in %, and wrong certificates. *Re-ranked* uses features and texts too, as "
            "at the desk; the shell has labels and confidences alone:\n",
            by_labels(
                changed,
                {
                    "static": percent("static unseen"),
                    "by labels and confidences": percent("plain unseen"),
                    "re-ranked": percent("reranked unseen"),
                    "wrong certificates": percent("reranked broken", 2),
                },
            ),
            f"The largest loss against the static order is {max(0.0, -worst):.1%} of the labels (difference of means). "
            f"A ranking that uses which controls are wrong (stance, ε = 5 %) makes {peeking:.1%} of the certificates "
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
    static, changed, peeking = [], [], float("nan")
    for labels in datasets(options.cache):
        errors = (0.05,) if labels.worst else ERRORS
        static.append(simulate(labels, options.sims, errors))
        print(static[-1].to_string(), flush=True)
        if not labels.worst:
            changed.append(reranked(labels, options.sims, errors))
            print(changed[-1].to_string(), flush=True)
        if labels.name == "stance":
            plan = plan_controls(len(labels.wrong), 0.05)
            order = label_order(labels.confidence, 0, [str(i) for i in range(len(labels.wrong))])
            peeking = draws(labels.wrong, [order], plan, options.sims, "yes")[1]
    figures = report(pd.concat(static), pd.concat(changed), peeking, options.sims)
    put(options.out, "figures", figures)


if __name__ == "__main__":
    main()

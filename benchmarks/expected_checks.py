"""How far the expected number of checks is off, for docs/certificate.md: `python -m benchmarks.expected_checks`.

Simulated reviews of real labels (ε = 5 %): every review shuffles the ties and draws its controls anew; after so many
answered controls what is expected (`pll.review.expected_checks`) is compared with what that review then needed. Beside
it, a forecaster who knows how often the labels of each confidence are wrong: what it is off comes from the draw
alone. The labels are those of linear PRODEN on the settings of `benchmarks.review`, and two tables of a model's labels.
Trained label weights are stored under --cache; then it takes about three minutes.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.ndimage import gaussian_filter1d

from benchmarks.certificate import Flags, accepted_and_unseen, read_imagenet, read_stance
from benchmarks.marked import put, table
from benchmarks.review_settings import DEVELOPMENT, HELD_OUT, RECIPES, SETTINGS, prepared
from pll.errors import UserError
from pll.review.certificate import RIGHT, UNANSWERED, WRONG, Answers, plan_controls
from pll.review.expected_checks import DRAWS, expected_checks
from pll.weights import Floats, Ints

ERROR = 0.05
ANSWERED = (0, 10, 30, 60)
"""Controls answered when the further checks are estimated."""


@dataclass(frozen=True, eq=False)
class Labels:
    """Labels of one dataset, whether they are wrong, and whether their neighbours have others."""

    name: str
    group: str
    wrong: Flags
    confidence: Floats
    disagrees: Flags | None = None


def datasets(cache: Path) -> Iterator[Labels]:
    """Those that are there."""
    for group, settings in (("held out", HELD_OUT), ("development", DEVELOPMENT)):
        for setting in settings:
            for recipe in RECIPES:
                try:
                    ready = prepared(SETTINGS[setting], recipe, 0, cache)
                except (UserError, FileNotFoundError) as error:
                    print(f"{setting} is left out: {error}")
                    continue
                signals, sets = ready.signals, ready.signals.sets
                identified = signals.labels.certainty.identified
                names = np.array(sets.class_names, dtype=object)
                neighbours = signals.neighbour_labels
                disagrees = None if neighbours is None else neighbours != names[identified]
                confidence = signals.labels.certainty.confidence.astype(float)
                yield Labels(f"{setting}, {recipe}", group, identified != ready.y, confidence, disagrees)
    for one in (read_stance(), read_imagenet()):
        if one is not None:
            yield Labels(one.name, "by a model", one.wrong, one.confidence)


def error_rates(labels: Labels) -> Floats:
    """(n,) how often labels of about the same confidence are wrong; what a forecaster who knows it would use."""
    order = np.argsort(-labels.confidence, kind="stable")
    _, tie, count = np.unique(-labels.confidence, return_inverse=True, return_counts=True)
    mean = (np.bincount(tie, labels.wrong) / count)[tie]
    n = len(order)
    smooth = np.empty(n)
    smooth[order] = gaussian_filter1d(mean[order], max(3.0, 0.015 * n), mode="nearest")
    return np.where(count[tie] > 0.03 * n, mean, smooth)  # a large tie is one level


def known_rates(order: Ints, rates: Floats, controls: Ints, answers: Answers, tolerated: int, seed: int) -> float:
    """Median number of further checks where the error rates are known."""
    rng = np.random.default_rng(seed)
    own = answers[controls]
    needed = []
    for _ in range(DRAWS):
        drawn = np.where(rng.random(len(controls)) < rates[controls], WRONG, RIGHT).astype(np.int8)
        _, unseen = accepted_and_unseen(order, controls, np.where(own == UNANSWERED, drawn, own), tolerated)
        needed.append(len(order) - unseen - int((own != UNANSWERED).sum()))
    return float(np.median(needed))


def simulate(labels: Labels, sims: int) -> dict[str, object]:
    """Median relative errors after `ANSWERED` controls, the share of reviews in the range, the known rates' error."""
    n, wrong, rates = len(labels.wrong), labels.wrong, error_rates(labels)
    plan, rng = plan_controls(n, ERROR), np.random.default_rng(0)
    off = np.empty((sims, len(ANSWERED)))
    covered = np.empty((sims, len(ANSWERED)), dtype=np.bool_)
    with_rates = np.empty(sims)
    for sim in range(sims):
        order = np.lexsort((rng.random(n), -labels.confidence))
        controls = rng.permutation(n)[: plan.controls]
        answers = np.where(wrong[controls], WRONG, RIGHT).astype(np.int8)
        checks = n - accepted_and_unseen(order, controls, answers, plan.tolerated)[1]
        for k, first in enumerate(ANSWERED):
            partly: npt.NDArray[np.int8] = np.full(n, UNANSWERED, dtype=np.int8)
            partly[controls[:first]] = answers[:first]
            expected = expected_checks(
                order, labels.confidence, controls, partly, plan.tolerated, disagrees=labels.disagrees
            )
            truth = checks - first
            off[sim, k] = abs(expected.likely - truth) / truth
            covered[sim, k] = expected.low <= truth <= expected.high
            if first == 30:
                knows = known_rates(order, rates, controls, partly, plan.tolerated, sim)
                with_rates[sim] = abs(knows - truth) / truth
    medians = dict(zip((f"after {first}" for first in ANSWERED), np.median(off, axis=0), strict=True))
    ranges = dict(zip((f"range {first}" for first in ANSWERED), covered.mean(axis=0), strict=True))
    return {"labels": labels.name, "group": labels.group, "known": np.median(with_rates), **medians, **ranges}


def report(frame: pd.DataFrame, sims: int) -> str:
    """The figures of docs/certificate.md."""
    columns = [f"after {first}" for first in ANSWERED]
    shown = [*columns, "known", "range 30"]
    head = ["labels", *columns, "after 30, rates known", "in the range after 30"]
    rows = [[row["labels"], *(f"{row[name]:.2f}" for name in shown)] for _, row in frame.iterrows()]
    for group, own in frame.groupby("group", sort=False):
        rows.append([f"**mean, {group}**", *(f"{own[name].mean():.2f}" for name in shown)])
    under = int((frame["after 30"] < 0.15).sum())
    return (
        f"{sims} simulated reviews of each set; after 30 answers the median error is under .15 on {under} of "
        f"{len(frame)} sets.\n\n{table(head, rows)}\n"
    )


def main() -> None:
    """Measure, print, and write into the document."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sims", type=int, default=200)
    parser.add_argument("--cache", type=Path, default=Path(".cache/benchmarks"))
    parser.add_argument("--out", type=Path, default=Path("docs/certificate.md"))
    options = parser.parse_args()
    rows = []
    for labels in datasets(options.cache):
        rows.append(simulate(labels, options.sims))
        print(rows[-1], flush=True)
    put(options.out, "expected checks", report(pd.DataFrame(rows), options.sims))


if __name__ == "__main__":
    main()

"""What the review benchmark found: docs/review.csv, and the Markdown tables that docs/review.md quotes."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks.review_simulation import Curve, found_within, reviews_needed

FILE = Path(__file__).parents[1] / "docs" / "review.csv"
SHARES = (0, 0.005, 0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.75, 1)
"""Of the examples reviewed, at which label accuracy is written down."""

Found = dict[tuple[str, str, bool], list[Curve]]
"""Curves of all samplings by setting, contender and whether the model was retrained."""


def write_csv(found: Found, base: str) -> None:
    """A line for each setting and order: errors, reviews for half of them, label accuracy after shares of reviews."""
    head = ["setting", "order", "retraining", "samplings", "examples", "wrong_at_start", "wrong_left_by_tenth"]
    head += ["reviews_for_half", "ratio_to_top_weight", *(f"accuracy_at_{share:g}" for share in SHARES)]
    with FILE.open("w", newline="", encoding="utf-8") as stream:
        table = csv.writer(stream)
        table.writerow(head)
        for (setting, order, retraining), curves in found.items():
            halves = [_half(found, setting, retraining, k, base) for k in range(len(curves))]
            needed = [reviews_needed(curve, half) for curve, half in zip(curves, halves, strict=True)]
            n = len(curves[0]) - 1
            cells: list[object] = [setting, order, "yes" if retraining else "no", len(curves), n]
            cells += [_mean([curve[0] for curve in curves]), _mean([curve[round(0.1 * n)] for curve in curves])]
            cells += [_number(float(np.mean(needed))), _number(ratio(found, setting, order, retraining, base))]
            table.writerow(cells + [_accuracy(curves, share) for share in SHARES])


def tables(found: Found, base: str, uncounted: Sequence[str]) -> str:
    """Reviews needed for half the errors as a ratio to the order `base`, and errors gone after a tenth.

    Args:
        uncounted: settings that are shown but are in no mean.
    """
    parts = []
    for retraining in (False, True):
        settings = list(dict.fromkeys(setting for setting, _, again in found if again == retraining))
        orders = list(dict.fromkeys(order for _, order, again in found if again == retraining))
        head = ["order", *settings, "geometric mean"]
        counted = [setting for setting in settings if setting not in uncounted]
        lines = []
        for order in orders:
            ratios = {setting: ratio(found, setting, order, retraining, base) for setting in settings}
            whole = [ratios[setting] for setting in counted]
            mean = float(np.exp(np.mean(np.log(whole)))) if not np.isnan(whole).any() else float("nan")
            lines.append((mean, [order, *(_shown(value) for value in ratios.values()), _shown(mean)]))
        lines.sort(key=lambda line: (np.isnan(line[0]), line[0]))
        title = "with retraining" if retraining else "without retraining"
        parts.append(f"Reviews for half the errors, {title}, as a ratio to `{base}`\n")
        parts.append(_markdown(head, [cells for _, cells in lines]))
    parts.append("Wrong labels gone after a tenth of the examples, without retraining, %\n")
    once = {(setting, order): curves for (setting, order, again), curves in found.items() if not again}
    settings = list(dict.fromkeys(setting for setting, _ in once))
    body = []
    for order in dict.fromkeys(order for _, order in once):
        shares = [_tenth(once.get((setting, order)), once[setting, base]) for setting in settings]
        body.append([order, *shares])
    parts.append(_markdown(["order", *settings], body))
    return "\n".join(parts)


def ratio(found: Found, setting: str, order: str, retraining: bool, base: str) -> float:
    """Mean reviews for half the run's errors, at least 1 each, over the same of `base`; NaN where it was not run."""
    curves, standard = found.get((setting, order, retraining)), found.get((setting, base, retraining))
    if curves is None or standard is None or len(standard) < len(curves):
        return float("nan")
    halves = [_half(found, setting, retraining, k, base) for k in range(len(curves))]
    mine = [max(1.0, reviews_needed(curve, half)) for curve, half in zip(curves, halves, strict=True)]
    theirs = [max(1.0, reviews_needed(curve, half)) for curve, half in zip(standard[: len(mine)], halves, strict=True)]
    return float(np.mean(mine) / np.mean(theirs))


def _half(found: Found, setting: str, retraining: bool, sampling: int, base: str) -> int:
    """Half of the errors that the run itself has: `base` starts with its labels."""
    return int(found[setting, base, retraining][sampling][0]) // 2


def _tenth(curves: list[Curve] | None, standard: list[Curve]) -> str:
    if curves is None:
        return "–"
    gone = [1 - (1 - found_within(own, 0.1)) * own[0] / one[0] for own, one in zip(curves, standard, strict=False)]
    return f"{100 * np.mean(gone):.0f}"


def _accuracy(curves: list[Curve], share: float) -> str:
    n = len(curves[0]) - 1
    left = [curve[round(share * n)] for curve in curves]
    return "" if min(left) < 0 else f"{1 - np.mean(left) / n:.5f}"


def _mean(values: Sequence[float]) -> str:
    return "" if min(values) < 0 else f"{np.mean(values):.1f}"


def _number(value: float) -> str:
    return "" if np.isnan(value) else "not reached" if np.isinf(value) else f"{value:.3f}"


def _shown(value: float) -> str:
    return "–" if np.isnan(value) else "> 1.5" if np.isinf(value) else f"{value:.2f}"


def _markdown(head: list[str], lines: list[list[str]]) -> str:
    rows = [head, ["---"] * len(head), *lines]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)

"""Report on a comparison as sentences: who identified how many labels, ties, and intervals.

Lanes learn from the same examples, so two of them are compared example by example (`pll.analysis.intervals`). The
intervals are over the examples of this one run; another seed draws other candidate sets.

The figures at a moment of a run come from `pll.ui.compare`, which reads them from its history.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from pll.analysis.intervals import difference, wilson
from pll.weights import CONFIDENT, Flags, Ints
from pll.wording import percent, ties


@dataclass(frozen=True, eq=False)
class LaneFigures:
    """State of one lane at the shown epoch.

    Attributes
    ----------
    title
        What to call it.
    identified
        (n,) identified labels.
    confidence
        (n,) top label weights.
    epoch
        Epochs complete.
    rule
        How the method uses its weights, as a clause; "" for none.
    is_supervised
        Whether it learns from the true labels.
    test
        Correct and all test examples; None where there are none.
    n_tied
        Labels of votes alone for which another one has as much.
    learns
        That its label weights still sharpen (`pll.analysis.health.still_learns`); "" where they do not.
    """

    title: str
    identified: Ints
    confidence: npt.NDArray[np.float32]
    epoch: int
    rule: str = ""
    is_supervised: bool = False
    test: tuple[int, int] | None = None
    n_tied: int = 0
    learns: str = ""


@dataclass(frozen=True)
class LaneSummary:
    """Sentences about one lane.

    Attributes
    ----------
    title
        The lane.
    figures
        The beginning of a sentence.
    why
        Further sentences, with the reasons behind the figures; "" for none.
    """

    title: str
    figures: str
    why: str = ""

    @property
    def text(self) -> str:
        """All sentences."""
        return f"{self.figures}{self.why}."


@dataclass(frozen=True)
class Verdict:
    """Report: a headline, one or two lines per lane, and notes."""

    headline: str
    lines: tuple[LaneSummary, ...] = ()
    notes: tuple[str, ...] = ()


def verdict(lanes: Sequence[LaneFigures], y: Ints | None, *, sizes: Ints) -> Verdict:
    """Return the report on lanes trained on the same examples.

    Parameters
    ----------
    lanes
        Of the same n examples, in any order.
    y
        (n,) true labels, −1 where unknown; None where none is known.
    sizes
        (n,) how many candidates the examples have.
    """
    running = [lane for lane in lanes if lane.epoch > 0]
    if not running:
        return Verdict("Nothing has been learnt yet: before training every candidate weighs the same.")
    report = _without_truth(running, sizes) if y is None or not (y >= 0).any() else _with_truth(running, y)
    tied = [f"{lane.title}: {ties(lane.n_tied)}" for lane in running if lane.n_tied]
    learning = [
        f"{lane.title}: {lane.learns} Train all of them longer before you compare." for lane in running if lane.learns
    ]
    return replace(report, notes=(*learning, *report.notes, *tied))


def verdict_by_lane(lanes: Sequence[LaneFigures], truths: Sequence[Ints | None]) -> Verdict:
    """Return the report on lanes trained on different examples, each by itself.

    Parameters
    ----------
    lanes
        Figures of each lane.
    truths
        For each lane (n,) true labels of its own examples.
    """
    lines = []
    for lane, y in zip(lanes, truths, strict=True):
        right, known = _counts(lane, y)
        sharp = f"no true labels; sharpness {percent(float(lane.confidence.mean()))}"
        text = f"{_share_with_interval(right, known)} correct" if known else sharp
        lines.append(LaneSummary(lane.title, f"{text}, {len(lane.identified):,} examples"))
    return Verdict(
        "These runs did not learn from the same examples and candidate sets, so their figures cannot be compared.",
        tuple(lines),
        ("For a fair comparison train the methods together: same data, same sets, same start.",),
    )


# ---- with truth ------------------------------------------------------------------------------------------------------


def _counts(lane: LaneFigures, y: Ints | None) -> tuple[int, int]:
    """Return how many identified labels are the true ones, and how many of these are known."""
    return (0, 0) if y is None else (int((lane.identified == y).sum()), int((y >= 0).sum()))


def _with_truth(lanes: Sequence[LaneFigures], y: Ints) -> Verdict:
    has_truth = y >= 0
    n = int(has_truth.sum())
    right = {lane.title: (lane.identified == y)[has_truth] for lane in lanes}
    ranked = sorted(lanes, key=lambda lane: -int(right[lane.title].sum()))
    contenders = [lane for lane in ranked if not lane.is_supervised] or ranked
    best = contenders[0]
    pairs = max(1, math.comb(len(contenders), 2))
    tied = [
        lane for lane in contenders[1:] if difference(right[best.title], right[lane.title], pairs).is_tie
    ]  # the difference from the best may be chance
    headline = (
        f"{best.title} identified {_share_with_interval(int(right[best.title].sum()), n)} of {n:,} labels correctly"
    )
    if tied:
        headline += f"; {_listed([lane.title for lane in tied])} cannot be told apart from it"
    lines = []
    if best.test is not None:
        unseen = f"{_share_with_interval(*best.test)} of {best.test[1]:,} unseen examples are right"
        lines.append(LaneSummary(best.title, unseen))
    for lane in ranked:
        if lane is not best:
            lines.append(_compared(lane, best, right, pairs))
    notes = (
        f"In brackets: 95 % intervals over these {n:,} examples, for differences from the examples that one lane has "
        "right and the other wrong. Two lanes cannot be told apart where chance alone would give such a difference "
        "between any two in more than 5 % of cases; the best of several looks a little better than it is. One seed: "
        "another one gives other figures.",
    )
    return Verdict(headline + ".", tuple(lines), notes)


def _compared(lane: LaneFigures, best: LaneFigures, right: dict[str, Flags], pairs: int) -> LaneSummary:
    """Compare one lane with the best of those that did not learn from the truth, of which there are so many pairs."""
    mine, reference = right[lane.title], right[best.title]
    gap = difference(mine, reference, pairs)
    share = percent(float(mine.mean()))
    points = f"{abs(gap.share) * 100:.1f} points {'more' if gap.share > 0 else 'less'} than {best.title}"
    if gap.is_tie:
        alone, other = int((mine & ~reference).sum()), int((reference & ~mine).sum())
        why = f". It alone is right on {alone:,} examples, {best.title} alone on {other:,}, which may be chance"
        why = why if alone or other else ". Both are right on the same examples"
        return LaneSummary(lane.title, f"{share}: cannot be told apart from {best.title}", why)
    low, high = (gap.low, gap.high) if gap.share > 0 else (-gap.high, -gap.low)
    text = f"{share}, {points} ({low * 100:.1f} to {high * 100:.1f})"
    if lane.is_supervised:
        return LaneSummary(
            lane.title, text, ". It alone was given the true labels: this is what not knowing them costs"
        )
    return LaneSummary(lane.title, text, f": {lane.rule}" if lane.rule else "")


# ---- without truth ---------------------------------------------------------------------------------------------------


def _without_truth(lanes: Sequence[LaneFigures], sizes: Ints) -> Verdict:
    n = len(sizes)
    lines = [
        LaneSummary(
            lane.title,
            f"Sharpness {percent(float(lane.confidence.mean()))}; "
            f"{percent(float((lane.confidence >= CONFIDENT).mean()))} of the labels have a label weight of "
            f"at least {percent(CONFIDENT, 0)}",
        )
        for lane in lanes
    ]
    if len(lanes) < 2:
        return Verdict("No true labels are known here, and there is one lane: nothing can be compared.", tuple(lines))
    agreement = {(a.title, b.title): float((a.identified == b.identified).mean()) for a, b in combinations(lanes, 2)}
    all_same = np.all([lane.identified == lanes[0].identified for lane in lanes], axis=0)
    most, least = (choose(agreement, key=agreement.__getitem__) for choose in (max, min))
    text = f"All {len(lanes)} lanes name the same label for {_share_with_interval(int(all_same.sum()), n)} of {n:,}"
    lines.insert(0, LaneSummary("Closest", f"{most[0]} and {most[1]} agree on {percent(agreement[most])}"))
    if least != most:
        lines.insert(1, LaneSummary("Farthest", f"{least[0]} and {least[1]} agree on {percent(agreement[least])}"))
    chance = float(np.mean(1.0 / sizes))
    notes = (
        "No true labels are known here: nobody can say which lane is right, only how far they agree and how sharp they "
        f"are. Two that chose at random among the candidates would agree on {percent(chance)}. Agreement is no proof: "
        "methods can make the same mistake.",
    )
    return Verdict(text + " examples.", tuple(lines), notes)


# ---- figures ---------------------------------------------------------------------------------------------------------


def figures_table(lanes: Sequence[LaneFigures], truths: Sequence[Ints | None]) -> pd.DataFrame:
    """Return the figures as a table, one row per lane; shares are fractions, empty where not known.

    Parameters
    ----------
    lanes
        Figures of each lane.
    truths
        True labels of each lane, or None.
    """
    rows: list[dict[str, Any]] = []
    for lane, y in zip(lanes, truths, strict=True):
        k, n = _counts(lane, y)
        low, high = wilson(k, n)
        is_sharp = lane.confidence >= CONFIDENT
        rows.append(
            {
                "lane": lane.title,
                "epoch": lane.epoch,
                "examples": len(lane.identified),
                "identified_correctly": k / n if n else None,
                "from": low if n else None,
                "to": high if n else None,
                "test_accuracy": lane.test[0] / lane.test[1] if lane.test and lane.test[1] else None,
                "sharpness": float(lane.confidence.mean()),
                "at_least_90_sharp": float(is_sharp.mean()),
                "sharp_and_wrong": int(((lane.identified != y) & (y >= 0) & is_sharp).sum())
                if y is not None and n
                else None,
            }
        )
    return pd.DataFrame(rows)


def _share_with_interval(k: int, n: int) -> str:
    low, high = wilson(k, n)
    return f"{percent(k / max(n, 1))} ({low * 100:.1f} to {high * 100:.1f})"


def _listed(words: Sequence[str]) -> str:
    """
    >>> _listed(["a", "b", "c"])
    'a, b and c'
    """
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"

"""What a comparison shows, in words: only what its figures carry, ties called ties, uncertainty stated.

Lanes learn from the same examples, so two of them are compared example by example: only those that one has right and
the other wrong count (McNemar's exact test), and the interval of the difference follows from them (Agresti & Min,
Statistics in Medicine 2005: half a count added to each cell). The intervals are over the examples of this one run;
another seed draws other candidate sets.

What this file is not about: the figures at a moment of a run, which `pll.ui.compare` reads from its history.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.stats import binomtest

LEVEL = 0.05
"""Differences that chance brings about more often than this are called ties."""
Z = 1.959964
"""Of a 95 % interval."""
SURE = 0.9
"""Confidence from which on a label is called sure."""
TELLING = 0.1
"""Difference of two shares that is worth a sentence."""
Labels = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class LaneFigures:
    """One lane at the moment in view.

    Attributes:
        title: what to call it.
        identified: (n,) identified labels.
        confidence: (n,) top label weights.
        epoch: epochs complete.
        rule: what the method does with its weights, as a clause; "" for nothing worth saying.
        given_truth: whether it learns from the true labels.
        early: an early epoch, and the identified labels (n,) after it; None where there is none.
        test: correct and all test examples; None where there are none.
        failure: what went wrong, in words.
    """

    title: str
    identified: Labels
    confidence: npt.NDArray[np.float32]
    epoch: int
    rule: str = ""
    given_truth: bool = False
    early: tuple[int, Labels] | None = None
    test: tuple[int, int] | None = None
    failure: str | None = None


@dataclass(frozen=True)
class Verdict:
    """A headline, a sentence or two a lane (title, text), and what has to be known to read them."""

    headline: str
    lines: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Difference:
    """Two lanes on the same n examples: the share of the first less that of the second, its 95 % interval, and how
    likely chance alone gives one as large (McNemar's exact test)."""

    share: float
    low: float
    high: float
    p: float

    @property
    def is_tie(self) -> bool:
        return self.p >= LEVEL


def verdict(lanes: Sequence[LaneFigures], y: Labels | None, *, sizes: npt.NDArray[np.int64]) -> Verdict:
    """What these lanes show.

    Args:
        lanes: of the same n examples, in any order.
        y: (n,) true labels, −1 where unknown; None where none is known.
        sizes: (n,) how many candidates the examples have.
    """
    running = [lane for lane in lanes if lane.epoch > 0]
    if not running:
        return Verdict("Nothing has been learnt yet: before training every candidate weighs the same.")
    known = np.zeros(len(sizes), dtype=np.bool_) if y is None else y >= 0
    if y is None or not known.any():
        return _without_truth(running, sizes)
    return _with_truth(running, y, known)


def beside(lanes: Sequence[LaneFigures], truths: Sequence[Labels | None]) -> Verdict:
    """What lanes show that did not learn from the same examples: each for itself.

    Args:
        truths: for each lane (n,) true labels of its own examples.
    """
    lines = []
    for lane, y in zip(lanes, truths, strict=True):
        known = None if y is None else y >= 0
        if y is not None and known is not None and known.any():
            said = f"{_share_with_interval(int((lane.identified == y)[known].sum()), int(known.sum()))} correct"
        else:
            said = f"no true labels; mean confidence {_percent(float(lane.confidence.mean()))}"
        lines.append((lane.title, f"{said}, {len(lane.identified):,} examples."))
    return Verdict(
        "These runs did not learn from the same examples and candidate sets, so their figures cannot be compared.",
        tuple(lines),
        ("For a fair comparison train the methods together: same data, same sets, same start.",),
    )


# ---- with truth ------------------------------------------------------------------------------------------------------


def _with_truth(lanes: Sequence[LaneFigures], y: Labels, known: npt.NDArray[np.bool_]) -> Verdict:
    n = int(known.sum())
    right = {lane.title: (lane.identified == y)[known] for lane in lanes}
    ranked = sorted(lanes, key=lambda lane: -int(right[lane.title].sum()))
    contenders = [lane for lane in ranked if not lane.given_truth] or ranked
    best = contenders[0]
    tied = [
        lane for lane in contenders[1:] if difference(right[best.title], right[lane.title]).is_tie
    ]  # told apart from the best by chance at most
    headline = (
        f"{best.title} identified {_share_with_interval(int(right[best.title].sum()), n)} of {n:,} labels correctly"
    )
    if tied:
        headline += f"; {_listed([lane.title for lane in tied])} cannot be told apart from it"
    lines = []
    if best.test is not None:
        lines.append((best.title, f"{_share_with_interval(*best.test)} of {best.test[1]:,} unseen examples are right."))
    for lane in ranked:
        if lane is not best:
            lines.append((lane.title, _compared(lane, best, right, y, known)))
    notes = (
        f"In brackets: 95 % intervals over these {n:,} examples, for differences from the examples that one lane has "
        "right and the other wrong. Called a tie where chance alone would give such a difference in more than 5 % of "
        "cases. One seed: another one draws other candidate sets.",
    )
    return Verdict(headline + ".", tuple(lines), notes)


def _compared(
    lane: LaneFigures,
    best: LaneFigures,
    right: dict[str, npt.NDArray[np.bool_]],
    y: Labels,
    known: npt.NDArray[np.bool_],
) -> str:
    """One lane against the best of those that were not given the truth."""
    mine, reference = right[lane.title], right[best.title]
    gap = difference(mine, reference)
    share = _percent(float(mine.mean()))
    points = f"{abs(gap.share) * 100:.1f} points {'more' if gap.share > 0 else 'less'} than {best.title}"
    if gap.is_tie:
        apart = int((mine != reference).sum())
        return (
            f"{share}: a tie with {best.title}. On {apart:,} examples one of the two is right and the other wrong, "
            "about as often one way as the other."
        )
    low, high = (gap.low, gap.high) if gap.share > 0 else (-gap.high, -gap.low)
    said = f"{share}, {points} ({low * 100:.1f} to {high * 100:.1f})"
    if lane.given_truth:
        return f"{said}. It alone was given the true labels: this is what not knowing them costs."
    evidence = [lane.rule] if lane.rule else []
    if gap.share < 0:
        evidence += _evidence(lane, best, y, known)
    return said + (": " + "; ".join(evidence) if evidence else "") + "."


def _evidence(lane: LaneFigures, best: LaneFigures, y: Labels, known: npt.NDArray[np.bool_]) -> list[str]:
    """What the lane did otherwise than the best one, where the figures tell the two apart clearly."""
    said = []
    mine, other = float(lane.confidence.mean()), float(best.confidence.mean())
    accuracy = float((lane.identified == y)[known].mean())
    if mine < other - TELLING:
        said.append(f"its label weights stay flat, mean confidence {_percent(mine)} against {_percent(other)}")
    if lane.early is not None and best.early is not None and lane.early[0] < lane.epoch:
        stuck, stuck_of = _still_wrong(lane, y, known)
        also, also_of = _still_wrong(best, y, known)
        if _clearly_more(stuck, stuck_of, also, also_of):
            said.append(
                f"of the {stuck_of:,} labels it had wrong after epoch {lane.early[0]}, {_percent(stuck / stuck_of, 0)} "
                f"are still wrong ({best.title}: {_percent(also / also_of, 0)} of {also_of:,})"
            )
    wrong, sure = _sure_and_wrong(lane, y, known)
    wrong_too, sure_too = _sure_and_wrong(best, y, known)
    if _clearly_more(sure, wrong, sure_too, wrong_too):
        said.append(f"{sure:,} of its {wrong:,} wrong labels carry a weight of at least {_percent(SURE, 0)}")
    elif mine > accuracy + TELLING:
        said.append(f"it is surer than it is right, mean confidence {_percent(mine)}")
    return said


def _still_wrong(lane: LaneFigures, y: Labels, known: npt.NDArray[np.bool_]) -> tuple[int, int]:
    """How many of the labels that were wrong early are wrong now."""
    assert lane.early is not None
    was_wrong = (lane.early[1] != y) & known
    return int((was_wrong & (lane.identified != y)).sum()), int(was_wrong.sum())


def _sure_and_wrong(lane: LaneFigures, y: Labels, known: npt.NDArray[np.bool_]) -> tuple[int, int]:
    wrong = (lane.identified != y) & known
    return int(wrong.sum()), int((wrong & (lane.confidence >= SURE)).sum())


def _clearly_more(k: int, n: int, other_k: int, other_n: int) -> bool:
    """Whether k of n is a clearly larger share than other_k of other_n: by TELLING at least, at the 1 % level."""
    if not n or not other_n or k / n < other_k / other_n + TELLING:
        return False
    pooled = (k + other_k) / (n + other_n)
    spread = math.sqrt(pooled * (1 - pooled) * (1 / n + 1 / other_n))
    return (k / n - other_k / other_n) / max(spread, 1e-9) > 2.576


# ---- without truth ---------------------------------------------------------------------------------------------------


def _without_truth(lanes: Sequence[LaneFigures], sizes: npt.NDArray[np.int64]) -> Verdict:
    n = len(sizes)
    lines = [
        (
            lane.title,
            f"Mean confidence {_percent(float(lane.confidence.mean()))}; "
            f"{_percent(float((lane.confidence >= SURE).mean()))} of the labels are at least {_percent(SURE, 0)} sure.",
        )
        for lane in lanes
    ]
    if len(lanes) < 2:
        return Verdict("No true labels are known here, and there is one lane: nothing can be compared.", tuple(lines))
    agreement = {(a.title, b.title): float((a.identified == b.identified).mean()) for a, b in combinations(lanes, 2)}
    all_same = np.all([lane.identified == lanes[0].identified for lane in lanes], axis=0)
    most, least = (choose(agreement, key=agreement.__getitem__) for choose in (max, min))
    said = f"All {len(lanes)} lanes name the same label for {_share_with_interval(int(all_same.sum()), n)} of {n:,}"
    lines.insert(0, ("Closest", f"{most[0]} and {most[1]} agree on {_percent(agreement[most])}."))
    if least != most:
        lines.insert(1, ("Farthest", f"{least[0]} and {least[1]} agree on {_percent(agreement[least])}."))
    chance = float(np.mean(1.0 / sizes))
    notes = (
        "No true labels are known here: nobody can say which lane is right, only how far they agree and how sure they "
        f"are. Two that chose at random among the candidates would agree on {_percent(chance)}. Agreement is no proof: "
        "methods can make the same mistake.",
    )
    return Verdict(said + " examples.", tuple(lines), notes)


# ---- figures ---------------------------------------------------------------------------------------------------------


def difference(right: npt.NDArray[np.bool_], other: npt.NDArray[np.bool_]) -> Difference:
    """Two lanes on the same examples.

    Args:
        right, other: (n,) whether each has the example right.

    >>> both = np.array([True] * 90 + [False] * 10)
    >>> one = np.array([True] * 95 + [False] * 5)
    >>> found = difference(one, both)
    >>> round(found.share, 3), round(found.p, 4), found.is_tie
    (0.05, 0.0625, True)
    """
    n = len(right)
    only, only_other = int((right & ~other).sum()), int((other & ~right).sum())
    apart = only + only_other
    p = 1.0 if apart == 0 else float(binomtest(only, apart, 0.5).pvalue)
    a, b, total = only + 0.5, only_other + 0.5, n + 2
    middle = (a - b) / total
    spread = math.sqrt(max(a + b - (a - b) ** 2 / total, 0.0)) / total
    return Difference((only - only_other) / max(n, 1), middle - Z * spread, middle + Z * spread, p)


def wilson(k: int, n: int) -> tuple[float, float]:
    """The 95 % interval of a share k / n (Wilson).

    >>> [round(end, 3) for end in wilson(94, 100)]
    [0.875, 0.972]
    """
    if n == 0:
        return 0.0, 1.0
    share, z2 = k / n, Z * Z
    middle = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = Z * math.sqrt(share * (1 - share) / n + z2 / (4 * n * n)) / (1 + z2 / n)
    return max(min(middle - half, share), 0.0), min(
        max(middle + half, share), 1.0
    )  # rounding aside, it holds the share


def figures_table(lanes: Sequence[LaneFigures], truths: Sequence[Labels | None]) -> pd.DataFrame:
    """The same in numbers, a row a lane; shares are fractions, empty where nothing is known."""
    rows: list[dict[str, Any]] = []
    for lane, y in zip(lanes, truths, strict=True):
        known = np.zeros(len(lane.identified), dtype=np.bool_) if y is None else y >= 0
        n = int(known.sum())
        k = 0 if y is None else int((lane.identified == y)[known].sum())
        low, high = wilson(k, n)
        rows.append(
            {
                "lane": lane.title,
                "epoch": lane.epoch,
                "examples": len(lane.identified),
                "identified_correctly": k / n if n else None,
                "from": low if n else None,
                "to": high if n else None,
                "test_accuracy": lane.test[0] / lane.test[1] if lane.test and lane.test[1] else None,
                "mean_confidence": float(lane.confidence.mean()),
                "at_least_90_sure": float((lane.confidence >= SURE).mean()),
                "sure_and_wrong": None if y is None or not n else _sure_and_wrong(lane, y, known)[1],
            }
        )
    return pd.DataFrame(rows)


def _share_with_interval(k: int, n: int) -> str:
    low, high = wilson(k, n)
    return f"{_percent(k / max(n, 1))} ({low * 100:.1f} to {high * 100:.1f})"


def _percent(share: float, digits: int = 1) -> str:
    return f"{share * 100:.{digits}f} %"


def _listed(words: Sequence[str]) -> str:
    """
    >>> _listed(["a", "b", "c"])
    'a, b and c'
    """
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"

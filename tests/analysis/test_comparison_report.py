"""A verdict says what its figures carry, and nothing else."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from pll.analysis.comparison_report import (
    LaneFigures,
    Verdict,
    figures_table,
    verdict,
)

N = 400
Y = np.arange(N) % 4
SIZES = np.full(N, 2)


def lane(title: str, wrong: range | list[int] | int, confidence: float = 0.8, **more: Any) -> LaneFigures:
    """A lane that is wrong on some of the examples (on the first so many)."""
    identified = Y.copy()
    at = list(range(wrong) if isinstance(wrong, int) else wrong)
    identified[at] = (identified[at] + 1) % 4
    return LaneFigures(title, identified, np.full(N, confidence, dtype=np.float32), more.pop("epoch", 100), **more)


def lines_of(report: Verdict) -> dict[str, str]:
    return {line.title: line.text for line in report.lines}


def judged(*lanes: LaneFigures) -> Verdict:
    return verdict(lanes, Y, sizes=SIZES)


# ---- the order and the differences -----------------------------------------------------------------------------------


def test_the_best_without_the_truth_is_the_headline() -> None:
    report = judged(
        lane("naive", 100, rule="it learns nothing"), lane("proden", 20), lane("oracle", 2, is_supervised=True)
    )
    assert report.headline.startswith("proden identified 95.0 %")
    assert "of 400 labels correctly" in report.headline and "told apart" not in report.headline
    assert lines_of(report)["oracle"].startswith("99.5 %, 4.5 points more than proden")
    assert "alone was given the true labels" in lines_of(report)["oracle"]
    assert lines_of(report)["naive"].startswith("75.0 %, 20.0 points less than proden")
    assert lines_of(report)["naive"].endswith(": it learns nothing.")
    assert [line.title for line in report.lines] == ["oracle", "naive"]  # the best first


def test_a_tie_says_how_often_each_alone_is_right() -> None:
    (line,) = judged(lane("proden", 5), lane("oracle", 0, is_supervised=True)).lines
    assert line.text.endswith("It alone is right on 5 examples, proden alone on 0, which may be chance.")
    (line,) = judged(lane("proden", 5), lane("oracle", 5, is_supervised=True)).lines
    assert line.text.endswith("cannot be told apart from proden. Both are right on the same examples.")


def test_the_best_of_equal_lanes_is_seldom_called_better() -> None:
    rng = np.random.default_rng(7)
    told = 0
    for _ in range(60):
        wrong = [np.flatnonzero(rng.random(N) < 0.2).tolist() for _ in range(8)]
        report = judged(*(lane(f"lane {k}", rows) for k, rows in enumerate(wrong)))
        told += any("points less" in line.text for line in report.lines)
    assert told <= 6  # 32, were each compared with the best as if it were the only one


def test_unknown_truth_does_not_count() -> None:
    y = Y.copy()
    y[:100] = -1
    report = verdict([lane("a", 120), lane("b", 200)], y, sizes=SIZES)
    assert "93.3 %" in report.headline and "of 300 labels" in report.headline


def test_ties_of_votes_are_counted_as_on_train() -> None:
    for y in (Y, None):
        report = verdict([lane("majority", 100, n_tied=12), lane("proden", 20)], y, sizes=SIZES)
        assert report.notes[-1] == "majority: 12 are ties: nothing tells which is right."


# ---- without truth ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("y", [None, np.full(N, -1)])
def test_without_truth_nobody_is_called_right(y: Any) -> None:
    report = verdict([lane("a", 0, 0.9), lane("b", 40, 0.5), lane("c", 100, 0.95)], y, sizes=SIZES)
    assert report.headline.startswith("All 3 lanes name the same label for 75.0 %")
    lines = lines_of(report)
    assert lines["Closest"].startswith("a and b ") and "90.0 %" in lines["Closest"]
    assert lines["Farthest"].startswith("a and c ") and "75.0 %" in lines["Farthest"]
    assert re.findall(r"[\d.]+ %", lines["c"]) == ["95.0 %", "100.0 %", "90 %"]
    text = " ".join([report.headline, *lines.values()])
    assert "correct" not in text and "right" not in text
    assert "at random among the candidates would agree on 50.0 %" in report.notes[0]


# ---- figures ---------------------------------------------------------------------------------------------------------


def test_the_table_says_the_same_as_the_words() -> None:
    lanes = [lane("a", 20, 0.95, test=(9, 10)), lane("b", 100, 0.5)]
    table = figures_table(lanes, [Y, Y])
    assert table["identified_correctly"].tolist() == [0.95, 0.75]
    assert table["sharp_and_wrong"].tolist() == [20, 0]
    assert table.loc[0, "test_accuracy"] == 0.9 and np.isnan(table.loc[1, "test_accuracy"])
    assert figures_table(lanes, [None, None])["identified_correctly"].isna().all()

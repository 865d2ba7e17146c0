from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.stats

from pll.experiments.evaluation import Result, holm, paired_t_test, planned
from pll.experiments.figures import Panel, panel_figure, q_panels, save_figure
from pll.experiments.tables import Table, entries_frame, legend, markdown, tables

SHARES = {  # by fold
    "proden": [0.80, 0.82, 0.81, 0.79, 0.80],
    "ga": [0.50, 0.55, 0.52, 0.48, 0.50],
    "ipal": [0.80, 0.83, 0.80, 0.80, 0.79],
    "plknn": [0.90, 0.91, 0.92, 0.90, 0.89],
}


def results(dataset: str = "lost", flip: str = "", q: float | None = None, **shares: list[float]) -> list[Result]:
    return [
        Result(dataset, method, "linear" if method in ("proden", "ga") else "", 0, fold, share, share, 1.0, flip, q)
        for method, values in (shares or SHARES).items()
        for fold, share in enumerate(values)
    ]


def table(found: list[Result], n_fits: int = 5) -> Table:
    (one,) = tables(found, methods=list(SHARES), n_fits=n_fits)
    return one


def test_marks_are_the_paired_t_tests() -> None:
    entries = table(results()).entries
    column = ("lost", None)
    assert entries[column, "ga"].mark == "•*" and entries[column, "plknn"].mark == "◦*"
    assert entries[column, "ipal"].mark == "" and entries[column, "proden"].p is None
    for method in ("ga", "ipal", "plknn"):
        expected = scipy.stats.ttest_rel(SHARES[method], SHARES["proden"]).pvalue
        assert entries[column, method].p == pytest.approx(expected)
    assert entries[column, "plknn"].is_best and not entries[column, "proden"].is_best


@pytest.mark.parametrize(
    ("settings", "overlap"), [({"folds": "5"}, 1 / 4), ({"folds": 5}, 1 / 4), ({"holdout": "0.2"}, 1 / 4), ({}, 0)]
)
def test_parts_of_several_seeds_share_examples(settings: dict[str, Any], overlap: float) -> None:
    """A published test part, which stays the same, has no such correction."""
    some = {name: SHARES[name] for name in ("proden", "ga")}
    one = [replace(row, settings=json.dumps(settings)) for row in results(**some)]
    again = [replace(row, seed=1, test_accuracy=(row.test_accuracy or 0) + 0.001 * row.fold) for row in one]
    column = ("lost", None)
    single, both = (table(rows).entries[column, "ga"].p for rows in (one, [*one, *again]))
    assert single == pytest.approx(scipy.stats.ttest_rel(some["proden"], some["ga"]).pvalue)
    gaps = np.tile(np.subtract(some["proden"], some["ga"]), 2)
    t = gaps.mean() / np.sqrt((1 / 10 + overlap) * gaps.var(ddof=1))
    assert both == pytest.approx(2 * scipy.stats.t.sf(t, 9))


def test_equal_methods_are_seldom_called_different_after_many_seeds() -> None:
    rng = np.random.default_rng(5)
    called = np.zeros(2)
    for _ in range(200):
        right = rng.random((2, 100)) < 0.7  # of two methods that learn nothing from a part
        gaps = (right[0].astype(float) - right[1])[np.stack([rng.permutation(100) for _ in range(5)])]
        parts = gaps.reshape(25, 20).mean(axis=1)
        called += [paired_t_test(parts, np.zeros(25), overlap) < 0.05 for overlap in (0, 1 / 4)]
    assert called[0] > 40 and called[1] <= 10


def test_a_legend_explains_the_marks_that_are_there() -> None:
    first = SHARES["proden"]
    both, better, worse = (
        legend(table(found))
        for found in (results(), results(proden=first, ga=SHARES["ga"]), results(proden=first, plknn=SHARES["plknn"]))
    )
    assert "PRODEN is significantly • better or ◦ worse" in both and "*: also" in both and "In brackets" in both
    assert "• better," in better and "◦" not in better and "–:" not in better
    assert "◦ worse," in worse and "•" not in worse
    assert not legend(table(results("toy", proden=first)))


def test_holm_takes_the_star_away() -> None:
    """A difference that is significant alone, among many that are not."""
    rng = np.random.default_rng(3)
    found = results(proden=[0.8, 0.82, 0.81, 0.79, 0.8], ga=[0.78, 0.81, 0.79, 0.78, 0.775])
    for k in range(15):
        noise = rng.normal(0.8, 0.01, 5)
        found += results(f"d{k}", proden=noise.tolist(), ga=(noise + rng.normal(0, 0.02, 5)).tolist())
    entry = table(found).entries[("lost", None), "ga"]
    assert entry.mark == "•" and entry.p_holm is not None and entry.p_holm >= 0.05


def test_nothing_is_compared_where_the_first_method_has_no_results() -> None:
    others = {name: SHARES[name] for name in ("ga", "plknn")}
    found = results(**others)
    alone = table(found)
    assert alone.first == "proden" and alone.methods == ("ga", "plknn")
    assert all(entry.p is None and entry.mark == "" for entry in alone.entries.values())
    both = table([*found, *results("yeast")]).entries
    assert both[("lost", None), "plknn"].mark == "" and both[("yeast", None), "plknn"].mark == "◦*"


@pytest.mark.parametrize("parts", [2, 3, 5])
def test_differences_without_variance_are_not_tested(parts: int) -> None:
    """Of two parts they are the same by chance in every tenth pair of equal methods."""
    first = SHARES["proden"][:parts]
    one = table(results(proden=first, ga=[share - 0.02 for share in first], plknn=first))
    entry, same = (one.entries[("lost", None), name] for name in ("ga", "plknn"))
    assert entry.mark == "–" and entry.p is not None and math.isnan(entry.p) and entry.p_holm == 1
    assert same.mark == "" and same.p == 1
    assert "–: no test" in legend(one) and "•" not in legend(one) and "*" not in legend(one)
    assert markdown(one).count(" –<br>paper") == 1
    assert entries_frame([one])["p"].isna().tolist() == [True, True, False]


def test_a_row_for_each_q_and_a_column_for_each_dataset() -> None:
    found = [
        *results("yeast", "binomial", 0.1),
        *results("yeast", "binomial", 0.7),
        *results("mine", "binomial", 0.1, proden=[0.5, 0.6, 0.5, 0.6, 0.5]),
    ]
    text = markdown(table(found)).splitlines()
    assert text[2] == "| method | q | yeast | mine |"
    assert text[4].startswith("| PRODEN | 0.1 | 80.40 ± 1.14<br>paper 59.05 ± 4.66, +21.35 | **54.00 ± 5.48** |")
    assert text[5].startswith("| PRODEN | 0.7 |") and text[5].endswith("| – |")


def test_holm_by_hand() -> None:
    assert holm([0.01, 0.02, 0.03, 0.005]) == pytest.approx([0.03, 0.04, 0.04, 0.02])


# ---- figures ---------------------------------------------------------------------------------------------------------


def test_curves_over_q_have_the_mean_and_deviation_of_the_folds() -> None:
    values = {0.1: [0.8, 0.9, 0.7], 0.5: [0.6, 0.5, 0.5]}
    found = [result for q, shares in values.items() for result in results("yeast", "binomial", q, proden=shares)]
    (panel,) = q_panels([table(found, n_fits=3)], transductive=True, fewest=2)
    line = panel.numbers
    assert line["q"].tolist() == list(values)
    assert line["mean"].tolist() == pytest.approx([100 * float(np.mean(shares)) for shares in values.values()])
    assert line["deviation"].tolist() == pytest.approx(
        [100 * float(np.std(shares, ddof=1)) for shares in values.values()]
    )


def test_a_figure_is_a_page_and_its_numbers(tmp_path: Path) -> None:
    x = np.arange(1.0, 31.0)
    line = pd.DataFrame({"method": "proden", "epoch": x, "mean": 99 - 50 / x, "deviation": 2.0, "fits": 5})
    other = pd.DataFrame({"method": "ipal", "epoch": x, "mean": 80 - 50 / x, "deviation": math.nan, "fits": 1})
    drawn = panel_figure(Panel("a<b> & co", "epoch", "test accuracy %", pd.concat([line, other])), ["proden", "ipal"])
    band = np.concatenate([trace.y for trace in drawn[0].data if trace.fill == "toself"])
    assert band.max() <= 100 and band.min() >= 0  # no accuracy lies beyond
    page, numbers = save_figure(*drawn, tmp_path / "curves")
    frame = pd.read_csv(numbers)
    assert frame["mean"].tolist() == pytest.approx([*line["mean"], *other["mean"]])
    assert frame["deviation"].isna().tolist() == [False] * 30 + [True] * 30
    text = page.read_text()
    assert "a<b>" not in text and (tmp_path / "plotly.min.js").exists()  # no address of the network is read
    assert text == save_figure(*drawn, tmp_path / "again")[0].read_text()


def test_fits_for_which_a_recipe_chose_another_model_stand_in_one_table() -> None:
    chosen = '{"chosen": {"model": "mlp"}, "model": "linear"}'
    rows = [
        replace(row, model="mlp", recipe="auto", settings=chosen) if row.fold == 1 else replace(row, recipe="auto")
        for row in results(proden=SHARES["proden"])
    ]
    (entry,) = table(rows).entries.values()
    assert entry.n_fits == 5 and entry.model == "linear" and planned(rows[1]).model == "linear"

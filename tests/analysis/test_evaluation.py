from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.stats
from hypothesis import assume, given
from hypothesis import strategies as st

from pll.analysis import evaluation as ev
from pll.candidates import CandidateSets
from pll.dataset import PartialLabelDataset
from pll.errors import UserError
from pll.methods import Task
from pll.methods.proden import PRODEN
from pll.synthesis import Flip

RNG = np.random.default_rng(0)
Y = RNG.permutation(np.arange(60) % 3)
DATA = PartialLabelDataset((RNG.normal(size=(60, 4)) + 2 * np.eye(4)[Y]).astype(np.float32), y=Y, name="blobs")
FLIP = Flip("binomial", 0.3)


class Spy(PRODEN):
    """Remembers what it was given, and ends its life with it."""

    seen: list[Task] = []  # noqa: RUF012
    released = 0

    def iter_fit(self, task: Task, **options: Any) -> Iterator[Any]:
        type(self).seen.append(task)
        return super().iter_fit(task, **options)

    def release(self) -> None:
        type(self).released += 1
        super().release()


def small(seed: int, kind: type[PRODEN] = PRODEN, **more: Any) -> PRODEN:
    return kind(epochs=3, batch_size=16, seed=seed, **more)


def frame(**values: list[float | None]) -> pd.DataFrame:
    """Results of methods on the same parts."""
    return ev.results_frame(
        ev.Result("d", name, "linear", 0, fold, value, value, 1.0)
        for name, of_method in values.items()
        for fold, value in enumerate(of_method)
    )


# ---- the same for all ------------------------------------------------------------------------------------------------


def test_every_method_gets_the_same_parts_and_sets() -> None:
    Spy.seen, Spy.released = [], 0
    kinds = {"a": lambda seed: small(seed, Spy), "b": lambda seed: small(seed, Spy, lr=0.2)}
    splits = ev.Splits(folds=3, flip_with=FLIP, seeds=(0, 1))
    results = list(ev.evaluate(DATA, kinds, splits))
    assert len(results) == len(Spy.seen) == splits.count() * 2 == 12
    assert Spy.released == 12
    for a, b in zip(Spy.seen[::2], Spy.seen[1::2], strict=True):
        np.testing.assert_array_equal(a.X, b.X)
        np.testing.assert_array_equal(a.X_test, b.X_test)
        assert a.candidates == b.candidates
    assert Spy.seen[0].candidates != Spy.seen[6].candidates  # another seed
    assert [(r.method, r.seed, r.fold) for r in results[:3]] == [("a", 0, 0), ("b", 0, 0), ("a", 0, 1)]
    assert {(r.dataset, r.model) for r in results} == {("blobs", "linear")}


def test_results_are_the_same_every_time() -> None:
    splits = ev.Splits(holdout=0.25, flip_with=FLIP, seeds=(3,))
    one, two = (next(ev.evaluate(DATA, {"proden": small}, splits)) for _ in range(2))
    assert (one.test_accuracy, one.transductive_accuracy) == (two.test_accuracy, two.transductive_accuracy)
    assert one.seed == 3


def test_progress_is_told_by_rounds() -> None:
    told: list[tuple[str, int, int]] = []
    splits = ev.Splits(holdout=0.25, flip_with=FLIP)
    list(ev.evaluate(DATA, {"proden": small}, splits, lambda *what: told.append(what)))
    assert told == [("proden", 1, 3), ("proden", 2, 3), ("proden", 3, 3)]


def test_without_a_test_part_nothing_can_be_compared() -> None:
    sets = CandidateSets.from_mask(np.ones((6, 3), dtype=bool))
    marked = PartialLabelDataset(np.eye(6), sets, is_test=np.arange(6) > 3, name="marked")
    for data in (DATA, marked):
        with pytest.raises(UserError, match=f"{data.name} has no test part with true labels"):
            list(ev.evaluate(data, {"proden": small}, ev.Splits(flip_with=None if data is marked else FLIP)))


def test_truth_that_is_known_only_in_the_test_part_gives_half_a_result() -> None:
    y = np.array([-1, -1, -1, -1, 0, 1])
    sets = CandidateSets.from_lists([[0, 1], [1], [0], [1], [0], [1]], 2)
    data = PartialLabelDataset(np.eye(6), sets, y, is_test=y >= 0)
    result = next(ev.evaluate(data, {"proden": small}, ev.Splits()))
    assert result.transductive_accuracy is None
    assert result.test_accuracy in (0.0, 0.5, 1.0)
    table = ev.summary(ev.results_frame([result]))
    assert np.isnan(table["transductive_accuracy_mean"][0])


# ---- figures ---------------------------------------------------------------------------------------------------------


def test_what_is_reported_is_the_mean_of_the_last_ten_epochs() -> None:
    def new(seed: int) -> PRODEN:
        return PRODEN(epochs=14, batch_size=16, lr=0.3, seed=seed)

    splits = ev.Splits(holdout=0.25, flip_with=FLIP)
    result = next(ev.evaluate(DATA, {"proden": new}, splits))
    _, _, parts = next(splits.parts(DATA))
    records = list(new(0).iter_fit(parts.task()))
    for name in ("test_accuracy", "transductive_accuracy"):
        values = [getattr(record, name) for record in records]
        assert len(set(values)) > 1  # else the mean over the last ten could be anything
        assert getattr(result, name) == pytest.approx(sum(values[4:]) / 10, abs=1e-12)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_the_mean_is_over_what_is_known(values: list[float]) -> None:
    mean = ev._mean([{"test_accuracy": value} for value in values], "test_accuracy")
    assert mean == pytest.approx(np.mean(values))
    assert ev._mean([{"test_accuracy": None}], "test_accuracy") is None
    assert ev._mean([], "test_accuracy") is None


def test_results_csv_has_its_columns() -> None:
    columns = "dataset,method,model,seed,fold,test_accuracy,transductive_accuracy,seconds,flip,q,recipe,settings"
    assert ",".join(frame(a=[0.5])) == ",".join(ev.results_frame([])) == columns


def test_the_summary_is_in_percent_with_the_deviation_of_the_sample() -> None:
    table = ev.summary(frame(b=[0.5, 0.7, 0.9], a=[0.1, 0.1, None])).set_index("method")
    assert table.index.tolist() == ["b", "a"]  # as they came, not by name
    assert table["test_accuracy_mean"].tolist() == pytest.approx([70, 10])
    assert table["test_accuracy_std"]["b"] == pytest.approx(np.std([50, 70, 90], ddof=1))
    assert table["parts"].tolist() == [3, 3]
    assert np.isnan(ev.summary(frame(a=[0.5]))["test_accuracy_std"][0])  # one part has no deviation


# ---- the t-test ------------------------------------------------------------------------------------------------------

ACCURACIES = st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=3, max_size=10)


@given(ACCURACIES)
def test_the_paired_t_test_is_that_of_scipy(pairs: list[tuple[float, float]]) -> None:
    a, b = np.array(pairs).T
    assume(np.ptp(a - b) > 1e-6)
    assert ev.paired_t_test(a, b) == pytest.approx(scipy.stats.ttest_rel(a, b).pvalue, rel=1e-9)
    assert ev.paired_t_test(b, a) == pytest.approx(ev.paired_t_test(a, b), rel=1e-9)


def test_equal_results_do_not_differ_and_a_constant_lead_does() -> None:
    assert ev.paired_t_test([0.8, 0.9, 0.7], [0.8, 0.9, 0.7]) == 1
    assert ev.paired_t_test([0.8, 0.9, 0.7], [0.7, 0.8, 0.6]) == 0
    assert ev.paired_t_test([0.8], [0.1]) == 1  # nothing can be said from one part
    assert ev.paired_t_test([], []) == 1


def test_verdicts_are_against_the_first_method() -> None:
    verdicts = ev.versus_first(
        frame(
            proden=[0.90, 0.91, 0.92, 0.90, 0.91],
            worse=[0.50, 0.52, 0.49, 0.51, 0.50],
            better=[0.95, 0.96, 0.96, 0.95, 0.97],
            equal=[0.90, 0.92, 0.91, 0.89, 0.92],
        )
    )
    assert verdicts == {"worse": "worse", "better": "better", "equal": "equal"}
    assert ev.versus_first(frame(proden=[0.9])) == {}


def test_pairs_are_made_by_seed_and_fold_whatever_their_order() -> None:
    table = frame(proden=[0.1, 0.5, 0.9], other=[0.2, 0.61, 1.0])
    shuffled = table.iloc[[0, 1, 2, 5, 3, 4]]
    assert ev.versus_first(table) == ev.versus_first(shuffled) == {"other": "better"}


def test_where_nothing_is_known_nothing_is_said() -> None:
    assert ev.versus_first(frame(proden=[None, None], other=[0.5, 0.6])) == {"other": "equal"}


# ---- going on, and files ---------------------------------------------------------------------------------------------


def test_what_is_done_is_not_fitted_again() -> None:
    splits = ev.Splits(folds=3, flip_with=FLIP)
    every = list(ev.evaluate(DATA, {"a": small, "b": small}, splits))
    Spy.seen = []
    done = {ev.key_of(result) for result in every[:3]}
    rest = list(ev.evaluate(DATA, {"a": partial(small, kind=Spy), "b": partial(small, kind=Spy)}, splits, done=done))
    assert [ev.key_of(result) for result in rest] == [ev.key_of(result) for result in every[3:]]
    assert [result.test_accuracy for result in rest] == [result.test_accuracy for result in every[3:]]
    assert len(Spy.seen) == 3


def test_what_a_recipe_chose_is_told_and_no_part_of_the_key() -> None:
    splits = ev.Splits(folds=3, flip_with=FLIP)
    made = {"proden": lambda seed: PRODEN(recipe="paper:lost", epochs=2, seed=seed)}
    first, *_ = every = list(ev.evaluate(DATA, made, splits))
    assert json.loads(first.settings)[ev.CHOSEN]["weight_decay"] == 0.01
    assert not list(ev.evaluate(DATA, made, splits, done={ev.key_of(result) for result in every}))


def test_the_recipe_paper_finds_the_settings_of_the_data_set() -> None:
    """Lost's learning rate is published; that of unknown data is not."""
    (_, _, parts) = next(ev.Splits(holdout=0.25, flip_with=FLIP).parts(DATA))
    known, unknown = PRODEN(recipe="paper", epochs=2), PRODEN(recipe="paper", epochs=2)
    curve, _ = ev.measured(known, parts, dataset="lost")
    ev.measured(unknown, parts, dataset="mine")
    assert known.recipe_.settings["lr"] == 0.01 and "lr" not in unknown.recipe_.settings
    by_hand, _ = ev.measured(PRODEN(lr=0.01, weight_decay=1e-2, batch_size=100, epochs=2, scale="zscore"), parts)
    assert [row["loss"] for row in curve] == [row["loss"] for row in by_hand]


def test_a_result_says_all_that_it_depends_on() -> None:
    splits = ev.Splits(folds=3, flip_with=FLIP)
    result = next(ev.evaluate(DATA, {"proden": small}, splits, about={"data": "1f"}))
    assert (result.flip, result.q, result.recipe) == ("binomial", 0.3, "default")
    settings = json.loads(result.settings)
    assert settings["folds"] == 3 and settings["epochs"] == 3 and settings["data"] == "1f"
    assert "seed" not in settings and "threads" not in settings


def test_results_are_read_back(tmp_path: Path) -> None:
    results = list(ev.evaluate(DATA, {"proden": small}, ev.Splits(holdout=0.25, flip_with=FLIP, seeds=(0, 1))))
    results.append(replace(results[0], test_accuracy=None, q=None, flip="", settings=""))
    ev.results_frame(results).to_csv(tmp_path / "results.csv", index=False)
    assert ev.read_results(tmp_path / "results.csv") == results


def test_results_of_earlier_versions_are_read(tmp_path: Path) -> None:
    file = tmp_path / "results.csv"
    file.write_text(
        "dataset,method,model,seed,fold,test_accuracy,transductive_accuracy,seconds\nd,ipal,,0,1,0.5,,1.5\n"
    )
    assert ev.read_results(file) == [ev.Result("d", "ipal", "", 0, 1, 0.5, None, 1.5)]


@pytest.mark.parametrize(
    ("content", "words"), [("", "not a results.csv"), ("a,b\n1,2\n", "no column 'dataset'"), (None, "not a results")]
)
def test_what_is_no_results_csv_is_refused(tmp_path: Path, content: str | None, words: str) -> None:
    if content is not None:
        (tmp_path / "r.csv").write_text(content)
    with pytest.raises(UserError, match=words):
        ev.read_results(tmp_path / "r.csv")


def test_a_row_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    file = tmp_path / "r.csv"
    file.write_text(
        "dataset,method,model,seed,fold,test_accuracy,transductive_accuracy,seconds\nd,ipal,,x,1,0.5,,1.5\n"
    )
    with pytest.raises(UserError, match="row 2"):
        ev.read_results(file)

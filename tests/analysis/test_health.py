from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from pll.analysis.health import (
    FEWEST_ASKED,
    Evidence,
    Health,
    against_sets,
    against_truth,
    doubt_of_given,
    health_of,
    refuted_by_truth,
)
from pll.candidates import CandidateSets
from pll.methods import METHODS
from pll.methods.base import Task
from pll.methods.held_out import HeldOut
from pll.weights import Sharpness, sharpness, taken_home
from tests.analysis.clouds import C, clouds, fitted


def judged(estimator: Any, task: Task) -> HeldOut:
    """Held-out models with these settings, all of them trained."""
    step = HeldOut(estimator, task)
    for _ in step.run():
        pass
    return step


def covering(step: HeldOut) -> Evidence | None:
    return against_sets(step.covered(), len(step.task.candidates))


def settled(identified: np.ndarray[Any, Any], confidence: float = 0.9) -> Sharpness:
    ones = np.full(len(identified), confidence, dtype=np.float32)
    return Sharpness(identified.astype(np.int64), ones, ones, 1 - ones)


def rows(changed: list[int], losses: list[float]) -> list[dict[str, Any]]:
    return [
        {"epoch": k + 1, "changed_labels": c, "loss": loss}
        for k, (c, loss) in enumerate(zip(changed, losses, strict=True))
    ]


GOOD = Evidence("truth", 90, 100, 0.5)


def names_of(health: Health) -> list[str]:
    return [finding.name for finding in health.findings]


def test_a_run_that_has_settled_and_beats_chance_is_healthy() -> None:
    X, y, sets = clouds()
    estimator, history = fitted(sets, X, batch_size=32)
    step = judged(estimator, Task(X, sets))
    evidence = covering(step)
    assert evidence is not None and evidence.by == "candidates" and evidence.n == len(sets)
    final = sharpness(estimator.label_weights_, sets)
    labels = taken_home(estimator.label_weights_, step.weights(), sets)
    expected = float(labels.confidence.mean())
    result = health_of(history, final, sets, evidence, expected=expected, top_loss=math.log(C))
    assert result.is_healthy and result.findings == () and result.expected == expected
    assert abs(expected - (labels.identified == y).mean()) < 0.1


def test_a_learning_rate_far_too_large_is_no_healthy_run_however_sure() -> None:
    X, _, sets = clouds()
    estimator, history = fitted(sets, X, batch_size=32, lr=50.0)
    final = sharpness(estimator.label_weights_, sets)
    result = health_of(history, final, sets, None, top_loss=math.log(C))
    assert final.top.mean() > 0.9
    assert not result.is_healthy and "diverging" in names_of(result)
    assert all(finding.remedy for finding in result.findings)


@pytest.mark.parametrize(
    ("changed", "losses", "expected"),
    [
        ([0, 50, 40, 30, 30, 30, 30], [1.3, 1.2, 1.1, 1.0, 1.0, 1.0, 1.0], ["changing"]),
        ([0, *range(70, 30, -2)], [1.0] * 21, ["changing"]),
        ([0, 50, *[9, 12, 8, 11, 10] * 5], [1.3] + [1.0] * 26, ["unsteady"]),
        ([0, 50, 9, 0, 0, 0, 0, 0], [1.3, 1.2, 1.1, 1.0, 1.0, 1.0, 1.0, 0.9], []),
        ([0, 9, 0, 0, 0, 0, 0, 0], [1.3, 1.2, 1.1, 5.0, 6.0, 7.0, 8.0, 9.0], ["diverging"]),
    ],
)
def test_what_the_last_epochs_tell(changed: list[int], losses: list[float], expected: list[str]) -> None:
    sets = CandidateSets.from_lists([[k % 4, (k + 1) % 4] for k in range(100)], 4)
    result = health_of(rows(changed, losses), settled(np.arange(100) % 4), sets, GOOD)
    assert names_of(result) == expected


def test_truth_counts_where_there_is_enough_of_it() -> None:
    sets = CandidateSets.from_lists([[0, 1]] * 100, 2)
    y = np.full(100, -1, dtype=np.int64)
    y[: FEWEST_ASKED - 1] = 0
    sure = np.tile(np.linspace(0.5, 1, 10, dtype=np.float32), 10)
    assert against_truth(np.zeros(100, dtype=np.int64), y, sets, [sure]) is None
    y[:40] = 0
    result = against_truth(np.zeros(100, dtype=np.int64), y, sets, [sure])
    assert result == Evidence("truth", 40, 40, 0.5) and result.beats_chance
    assert against_truth(np.zeros(100, dtype=np.int64), y, sets, [sure, np.sort(sure)]) is None  # of the hardest alone


def test_known_labels_of_others_say_nothing_of_only_candidates() -> None:
    sets = CandidateSets.from_lists([[k % 4, (k + 1) % 4] for k in range(100)], 4)
    doubt = ["Most certain labels are the only candidate."]
    found = health_of(rows([0, 0], [1.0, 0.9]), settled(np.arange(100) % 4), sets, GOOD, of_given=doubt)
    assert found.verdict == "unchecked" and found.doubts == tuple(doubt)


def test_it_is_healthy_only_where_the_labels_are_expected_to_be_right() -> None:
    sets = CandidateSets.from_lists([[k % 4, (k + 1) % 4] for k in range(100)], 4)
    final, history = settled(np.arange(100) % 4), rows([0, 0, 0], [1.0, 0.9, 0.8])
    covering = Evidence("candidates", 90, 100, 0.5)
    assert health_of(history, final, sets, covering).verdict == "unchecked"  # it is not known how sure they are
    assert health_of(history, final, sets, covering, expected=0.8).is_healthy
    assert names_of(health_of(history, final, sets, covering, expected=0.4)) == ["doubtful"]
    doubted = health_of(history, final, sets, covering, expected=0.8, doubts=["Labels come together."])
    assert doubted.verdict == "unchecked" and doubted.doubts
    assert Health.from_json(doubted.to_json()) == doubted
    assert health_of(history, final, sets, GOOD, doubts=["Labels come together."]).is_healthy  # true labels tell more


def test_too_few_examples_are_not_called_healthy() -> None:
    sets = CandidateSets.from_lists([[k % 4, (k + 1) % 4] for k in range(FEWEST_ASKED - 1)], 4)
    few = health_of(rows([0, 0], [1.0, 0.9]), settled(np.arange(len(sets)) % 4), sets, None, expected=0.95)
    assert few.verdict == "unchecked" and few.doubts == ("29 examples are too few to check labels by: 30 are needed.",)


def test_known_true_labels_refute_those_called_certain() -> None:
    """Sets of one are certain whatever is true: 30 of 100 wrong ones are clearly more than a tenth, 12 are not."""
    sets = CandidateSets.from_lists([[k % 4] for k in range(100)], 4)
    labels = taken_home(np.ones(100, dtype=np.float32), np.ones(100, dtype=np.float32), sets)
    final, history = settled(labels.identified), rows([0, 0, 0], [1.0, 0.9, 0.8])
    for wrong, verdict in ((30, "unhealthy"), (12, "healthy")):
        y = labels.identified.copy()
        y[:wrong] = (y[:wrong] + 1) % 4
        refuted = refuted_by_truth(labels, y)
        health = health_of(history, final, sets, None, expected=1.0, others=refuted)
        assert health.verdict == verdict
        assert all("30" in one.sentence and "proden-outside" in one.remedy for one in refuted)
        y[FEWEST_ASKED - 1 :] = -1
        assert not refuted_by_truth(labels, y)
    assert not refuted_by_truth(labels, None) and doubt_of_given(labels)
    half = CandidateSets.from_lists([[k % 4] if k % 2 else [k % 4, (k + 1) % 4] for k in range(100)], 4)
    for sure, is_doubtful in (
        (0.95, False),
        (0.6, True),
    ):  # of those called certain most are the only candidate, or half
        first = np.append(True, half.rows[1:] != half.rows[:-1])
        weights = np.where(half.sizes[half.rows] == 1, 1, np.where(first, sure, 1 - sure)).astype(np.float32)
        assert bool(doubt_of_given(taken_home(weights, weights, half))) == is_doubtful


def test_always_naming_the_commonest_class_is_chance() -> None:
    """The share that a constant prediction reaches is what shuffling it gives, too."""
    sets = CandidateSets.from_lists([[0, 1]] * 90 + [[1, 2]] * 10, 3)
    X = np.zeros((100, 2), dtype=np.float32)
    X[:, 0] = np.random.default_rng(0).normal(size=100)
    evidence = covering(judged(METHODS["proden"](model="linear", epochs=5, threads=1), Task(X, sets)))
    assert evidence is not None and not evidence.beats_chance


def test_one_class_may_have_most_labels_where_models_that_did_not_learn_from_them_bear_it_out() -> None:
    sets = CandidateSets.from_lists([[0, 1 + k % 3] for k in range(100)], 4)
    final, history = settled(np.where(np.arange(100) < 97, 0, 1 + np.arange(100) % 3)), rows([0, 0, 0], [1.0, 0.9, 0.8])
    for share, verdict in ((0.98, "healthy"), (0.8, "unhealthy")):
        evidence = Evidence("candidates", round(100 * share), 100, 0.8)
        health = health_of(history, final, sets, evidence, expected=0.97)
        assert health.verdict == verdict
    assert [finding.name for finding in health.findings][:1] == ["collapsed"]


def test_where_one_class_is_in_nearly_every_set_these_cannot_show_whether_features_help() -> None:
    """Not where labels are expected to be right more often than chance covers sets, nor where half of them are."""
    most = CandidateSets.from_lists([[0, 1 + k % 3] if k % 20 else [1, 2] for k in range(1000)], 4)
    final, history = settled(np.zeros(1000, dtype=np.int64)), rows([0, 0, 0], [1.0, 0.9, 0.8])
    covering = Evidence("candidates", 945, 1000, 0.93)
    health = health_of(history, final, most, covering, expected=0.93)
    assert health.verdict == "unchecked" and not health.findings
    assert [doubt[:14] for doubt in health.doubts] == ["0 is in 950 of"]
    assert names_of(health_of(history, final, most, covering, expected=0.97)) == ["collapsed", "unsupported"]
    pairs = CandidateSets.from_lists([[k % 3, (k + 1) % 3] for k in range(1000)], 3)
    covering = Evidence("candidates", 667, 1000, 0.667)
    assert names_of(health_of(history, final, pairs, covering, expected=0.52)) == ["collapsed", "unsupported"]


def test_where_sets_hold_most_labels_no_class_is_named_for_it() -> None:
    rng = np.random.default_rng(0)
    sets = CandidateSets.from_lists([sorted(rng.choice(5, 4, replace=False).tolist()) for _ in range(300)], 5)
    final, history = settled(np.arange(300) % 5), rows([0, 0, 0], [1.0, 0.9, 0.8])
    health = health_of(history, final, sets, Evidence("candidates", 240, 300, 0.8), expected=0.8)
    assert [doubt[:43] for doubt in health.doubts] == ["Sets hold most classes (4.0 of 5 in the mea"]


def test_the_check_leaves_the_run_alone() -> None:
    """Neither what was learnt nor the settings change, and a second check says the same."""
    X, _, sets = clouds()
    estimator, _ = fitted(sets, X)
    before, params = estimator.label_weights_.copy(), estimator.get_params()
    once, again = (covering(judged(estimator, Task(X, sets))) for _ in range(2))
    assert once == again
    np.testing.assert_array_equal(estimator.label_weights_, before)
    assert estimator.get_params() == params


@pytest.mark.parametrize("name", ["ipal", "sure", "pn-decomp", "d2cnn"])
def test_other_methods_are_checked_too(name: str) -> None:
    X, _, sets = clouds(60)
    params = {"epochs": 3} if "epochs" in METHODS[name]().get_params() else {}
    assert covering(judged(METHODS[name](**params), Task(X, sets))) is not None


def test_labels_of_a_run_that_was_stopped_before_its_first_epoch_are_not_healthy() -> None:
    """Their weights are what the votes said, and not flat."""
    _, y, sets = clouds()
    result = health_of([], settled(y), sets, GOOD, expected=0.9)
    assert result.verdict == "unhealthy" and "Nothing was learnt" in result.headline
    assert [finding.again for finding in result.findings] == ["epochs"]


def test_of_votes_the_only_label_that_was_given_is_not_taken_as_right() -> None:
    sets = CandidateSets.from_lists([[k % 4] for k in range(100)], 4)
    posterior = np.full(100, 0.9, dtype=np.float32)
    assert not doubt_of_given(taken_home(np.ones(100, dtype=np.float32), posterior, sets))

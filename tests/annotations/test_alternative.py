"""The alternative annotator test, beside the same written out in loops with SciPy's t-test and false discovery rate."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import false_discovery_control, ttest_1samp

from pll.annotations import Annotations
from pll.annotations.alternative import alternative_annotator_test
from pll.errors import UserError

NAMES = ("ann", "bob", "cy", "dee", "gpt")


def panel(right: tuple[float, ...], n: int = 80, missing: float = 0.2, seed: int = 0) -> Annotations:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    said = np.stack([np.where(rng.random(n) < share, y, rng.integers(0, 3, n)) for share in right], axis=1)
    said[rng.random(said.shape) < missing] = -1
    return Annotations.from_votes(said, ("a", "b", "c"), NAMES[-len(right) :])


def in_loops(annotations: Annotations, epsilon: float) -> dict[str, tuple[float, float, bool]]:
    names = annotations.annotator_names
    said = {name: {} for name in names}  # type: dict[str, dict[int, int]]
    for row, who, label in zip(annotations.rows, annotations.annotators, annotations.labels, strict=True):
        said[names[who]][int(row)] = int(label)
    people, found = names[:-1], {}
    for one in people:
        ahead = []
        for row, own in said[one].items():
            others = [said[name][row] for name in people if name != one and row in said[name]]
            if row in said["gpt"] and others:
                person = np.mean([own == other for other in others])
                model = np.mean([said["gpt"][row] == other for other in others])
                ahead.append((model >= person, person >= model))
        wins = np.array(ahead, dtype=float)
        if len(ahead) >= 30:
            test = ttest_1samp(wins[:, 1] - wins[:, 0], epsilon, alternative="less")
            found[one] = (wins[:, 0].mean(), float(test.pvalue))
    refused = false_discovery_control([p for _, p in found.values()], method="by") <= 0.05
    return {name: (*values, bool(flag)) for (name, values), flag in zip(found.items(), refused, strict=True)}


@pytest.mark.parametrize("epsilon", [0.0, 0.1, 0.2])
@pytest.mark.parametrize("right", [(0.8, 0.7, 0.75, 0.4, 0.8), (0.9, 0.9, 0.85, 0.6), (0.6, 0.5, 0.7)])
def test_it_equals_the_procedure_in_loops(right: tuple[float, ...], epsilon: float) -> None:
    annotations = panel(right)
    result = alternative_annotator_test(annotations, "gpt", epsilon=epsilon)
    expected = in_loops(annotations, epsilon)
    assert [one.name for one in result.table] == list(expected)
    for one in result.table:
        advantage, p, wins = expected[one.name]
        assert one.advantage == pytest.approx(advantage) and one.p == pytest.approx(p) and one.wins == wins
    assert result.winning_rate == np.mean([wins for *_, wins in expected.values()])
    assert result.passes == (result.winning_rate >= 0.5)


def test_a_model_that_answers_at_random_does_not_pass_and_a_right_one_does() -> None:
    poor, good = (alternative_annotator_test(panel((0.9, 0.9, 0.9, 0.9, share)), "gpt") for share in (0.0, 1.0))
    assert not poor.passes and poor.winning_rate == 0 and "may not" in poor.sentence
    assert good.passes and good.winning_rate == 1 and good.advantage > poor.advantage


def test_sets_agree_by_the_labels_they_share() -> None:
    """Where ann and the model give one of the two labels of the others' sets, they are alike."""
    rows, who, labels = [], [], []
    for row in range(40):
        for name, said in (("ann", [0]), ("bob", [0, 1]), ("gpt", [1])):
            rows += [row] * len(said)
            who += [("ann", "bob", "gpt").index(name)] * len(said)
            labels += said
    annotations = Annotations(rows, who, labels, 40, ("a", "b"), ("ann", "bob", "gpt"))
    ann, bob = alternative_annotator_test(annotations, "gpt", epsilon=0.1).table
    assert (ann.advantage, ann.annotator_advantage, ann.wins) == (1, 1, True)
    assert (bob.advantage, bob.annotator_advantage, bob.wins) == (0, 1, False)


@pytest.mark.parametrize(
    ("annotations", "model", "more", "words"),
    [
        (panel((0.9, 0.9, 0.9)), "claude", {}, "no annotator 'claude'"),
        (panel((0.9, 0.9)), "gpt", {}, "at least two people"),
        (panel((0.9, 0.9, 0.9), n=20), "gpt", {}, "30 rows"),
        (panel((0.9, 0.9, 0.9)), "gpt", {"epsilon": 1.5}, "epsilon is 1.5"),
        (Annotations.from_counts([[2, 1]] * 40), "vote 1", {}, "Nobody knows who"),
    ],
)
def test_what_cannot_be_tested_is_said(annotations: Annotations, model: str, more: dict, words: str) -> None:
    with pytest.raises(UserError, match=words):
        alternative_annotator_test(annotations, model, **more)

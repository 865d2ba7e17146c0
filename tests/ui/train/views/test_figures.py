"""The figures of the views: what they draw is what the arrays say, and their tables say it again."""

from __future__ import annotations

import numpy as np
import pytest

from pll.analysis.calibration import reliability
from pll.candidates import CandidateSets
from pll.colors import class_colours
from pll.dataset import PartialLabelDataset
from pll.runs.history import BINS
from pll.synthesis import flip_binomial
from pll.ui.train.views.accuracy import accuracy_chart, loss_chart
from pll.ui.train.views.distributions import MOST_COLUMNS, confidence_chart, entropy_chart
from pll.ui.train.views.example import choices, describe_history, story_chart
from pll.ui.train.views.reliability import reliability_chart, verdict
from pll.ui.train.views.ternary import three_parts
from pll.weights import restricted_softmax


def rows(n: int, **known: float | None) -> list[dict[str, float | None]]:
    base = {"loss": 1.0, "changed_labels": 2, "mean_confidence": 0.5}
    return [base | {"epoch": e + 1, "transductive_accuracy": 0.8, "test_accuracy": 0.7} | known for e in range(n)]


def test_accuracy_beside_confidence():
    figure, table = accuracy_chart(rows(3), total=10, viewed=2)
    assert [trace.name for trace in figure.data] == ["identified correctly", "test accuracy", "mean confidence"]
    assert figure.data[0].y.tolist() == [80.0] * 3
    assert tuple(figure.layout.xaxis.range) == (0, 10)
    assert figure.layout.shapes[0].x0 == 2
    assert table["test_accuracy"].tolist() == [0.7] * 3
    assert figure.layout.title.text and figure.layout.xaxis.title.text and figure.layout.yaxis.title.text


def test_what_is_not_known_is_not_drawn():
    figure, _ = accuracy_chart(rows(3, transductive_accuracy=None, test_accuracy=None))
    assert [trace.name for trace in figure.data] == ["mean confidence"]
    assert figure.layout.shapes == ()
    for chart in (accuracy_chart, loss_chart):
        empty, table = chart([])
        assert len(table) == 0 and empty.layout.title.text


def test_the_loss():
    figure, table = loss_chart(rows(2, loss=0.25))
    assert figure.data[0].y.tolist() == [0.25, 0.25] and table["changed_labels"].tolist() == [2, 2]


def test_confidence_right_and_wrong_apart():
    counts = np.zeros((2, BINS), dtype=np.float32)
    counts[0, -1], counts[1, 10] = 7, 3
    figure, table = confidence_chart(counts, has_truth=True, when="Epoch 4")
    assert [trace.name for trace in figure.data] == ["right", "wrong"]
    assert table["right"].iloc[-1] == 7 and table["wrong"].sum() == 3
    assert table["confidence_from"].iloc[10] == pytest.approx(0.5)
    assert "Epoch 4" in figure.layout.title.text
    figure, table = confidence_chart(counts, has_truth=False)
    assert [trace.name for trace in figure.data] == ["examples"] and "wrong" not in table


def test_entropy_by_epoch():
    counts = np.zeros((3, BINS), dtype=np.float32)
    counts[0, -1] = counts[1, 5] = counts[2, 0] = 4
    figure, table = entropy_chart(counts, total=9, viewed=1)
    z = np.asarray(figure.data[0].z)
    assert z.shape == (BINS, 3) and z.dtype == np.uint8
    assert [int(z[:, k].argmax()) for k in range(3)] == [BINS - 1, 5, 0]
    assert table["epoch"].tolist() == [0, 1, 2] and table.drop(columns="epoch").to_numpy().sum() == 12


def test_long_runs_are_drawn_with_gaps_but_to_the_end():
    figure, table = entropy_chart(np.ones((2001, BINS), dtype=np.float32))
    assert len(figure.data[0].x) <= MOST_COLUMNS and table["epoch"].iloc[-1] >= 1990


def test_reliability_bars_and_their_diagonal():
    result = reliability(np.array([0.95, 0.95, 0.15]), np.array([True, False, False]))
    figure, table = reliability_chart(result, "Epoch 1")
    assert figure.data[0].y[-1] == 50 and figure.data[0].y[1] == 0 and np.isnan(figure.data[0].y[5])
    assert figure.data[1].y.tolist() == [0, 100]
    assert table["examples"].sum() == 3


@pytest.mark.parametrize(
    ("right", "said"),
    [([1, 1, 1, 1], "underconfident"), ([1, 1, 1, 0], "overconfident"), ([1] * 9 + [0], "confidence matches accuracy")],
)
def test_the_verdict(right, said):
    confidence = np.full(len(right), 0.9)
    assert said in verdict(reliability(confidence, np.array(right, dtype=bool)))


def test_the_story_of_one_example():
    weights = np.array([[0.5, 0.5], [0.2, 0.8], [0.1, 0.9]], dtype=np.float32)
    figure, table = story_chart([0, 1, 2], weights, np.array([3, 5], dtype=np.int32), ["cat", "dog"], 10, 1)
    assert [trace.name for trace in figure.data] == ["dog", "cat"]  # the final label at the bottom
    assert figure.data[0].fillcolor == class_colours(6)[5]
    assert np.sum([trace.y for trace in figure.data], axis=0) == pytest.approx([100] * 3)
    assert list(table.columns) == ["epoch", "cat", "dog"]


def test_the_life_of_one_example():
    weights = np.array([[0.5, 0.5], [0.6, 0.4], [0.4, 0.6], [0.6, 0.4], [0.7, 0.3]], dtype=np.float32)
    settled, changes = describe_history([0, 1, 2, 3, 4], weights, ["cat", "dog"], is_whole=True)
    assert "cat since epoch 3" in settled and "twice" in changes
    settled, changes = describe_history([0, 10, 20], weights[[0, 1, 4]], ["cat", "dog"], is_whole=False)
    assert "cat since epoch 10" in settled and "never" in changes and "3 stored epochs" in changes
    assert "one candidate" in describe_history([0, 1], weights[:2, :1], ["cat"], is_whole=True)[0]
    assert len(describe_history([0], weights[:1], ["cat", "dog"], is_whole=True)) == 1  # nothing has changed yet


def test_choices_name_ids_candidates_and_truth():
    sets = CandidateSets.from_lists([[0, 1], [1]], 2, ["cat", "dog"])
    data = PartialLabelDataset(np.zeros((2, 1), dtype=np.float32), sets, np.array([1, -1]), ids=np.array(["a", "b"]))
    table = choices(data, np.array([1, 0]))
    assert table.to_dict("list") == {"id": ["b", "a"], "candidates": ["dog", "cat, dog"], "true label": ["", "dog"]}


# ---- the triangle ------------------------------------------------------------------------------------------------


def weighted(n: int = 200, c: int = 6) -> tuple[CandidateSets, np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    y = rng.integers(0, c, n)
    sets = flip_binomial(y, c, 0.4, 0)
    now, final = (restricted_softmax(3 * rng.normal(size=sets.nnz), sets) for _ in range(2))
    return sets, y, now, final


@pytest.mark.parametrize("together", [True, False])
def test_three_parts_against_a_loop(together):
    sets, y, now, final = weighted()
    chosen = np.flatnonzero(sets.sizes > 1 if together else sets.sizes == 3)
    assert len(chosen) > 20
    parts = three_parts(now, sets, chosen, y[chosen], final, together=together)
    assert parts.sum(axis=1) == pytest.approx(np.ones(len(chosen)), abs=1e-6)
    for row, (first, second, third) in zip(chosen, parts, strict=True):
        at = range(sets.indptr[row], sets.indptr[row + 1])
        weight = {int(sets.indices[k]): float(now[k]) for k in at}
        others = [label for label in weight if label != y[row]]
        end = {int(sets.indices[k]): float(final[k]) for k in at}
        rival = max(others, key=lambda label: end[label]) if together else others[0]
        assert first == pytest.approx(weight[int(y[row])], abs=1e-6)
        assert second == pytest.approx(weight[rival], abs=1e-6)
        assert third == pytest.approx(sum(weight.values()) - first - second, abs=1e-6)


def test_long_runs_are_drawn_with_few_points_and_told_with_all():
    figure, table = accuracy_chart(rows(5000))
    assert len(figure.data[0].x) <= 400 and figure.data[0].x[-1] == 5000
    assert len(table) == 5000
    weights = np.full((5000, 2), 0.5, dtype=np.float32)
    figure, table = story_chart(range(5000), weights, np.array([0, 1], dtype=np.int32), ["cat", "dog"])
    assert len(figure.data[0].x) <= 400 and len(table) == 5000

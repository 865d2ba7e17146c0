"""The figures of the views: what they draw is what the arrays say, and their tables say it again."""

from __future__ import annotations

import numpy as np
import pytest

from pll.colors import class_colours
from pll.ui.train.views.accuracy import accuracy_chart, loss_chart
from pll.ui.train.views.example import describe_history, story_chart


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
    assert "cat since 3 of 4" in settled and "twice" in changes
    settled, changes = describe_history([0, 10, 20], weights[[0, 1, 4]], ["cat", "dog"], is_whole=False)
    assert "cat since 10 of 20" in settled and "never" in changes and "3 stored moments" in changes
    assert "one candidate" in describe_history([0, 1], weights[:2, :1], ["cat"], is_whole=True)[0]
    assert len(describe_history([0], weights[:1], ["cat", "dog"], is_whole=True)) == 1  # nothing has changed yet


def test_long_runs_are_drawn_with_few_points_and_told_with_all():
    figure, table = accuracy_chart(rows(5000))
    assert len(figure.data[0].x) <= 400 and figure.data[0].x[-1] == 5000
    assert len(table) == 5000
    weights = np.full((5000, 2), 0.5, dtype=np.float32)
    figure, table = story_chart(range(5000), weights, np.array([0, 1], dtype=np.int32), ["cat", "dog"])
    assert len(figure.data[0].x) <= 400 and len(table) == 5000

"""What is shown beside an example: the nearest sure ones of each class, the columns that differ most."""

from __future__ import annotations

import numpy as np
import pytest

from pll.candidates import CandidateSets
from pll.dataset import PartialLabelDataset
from pll.review.similar import PER_CLASS, Similar
from pll.weights import Certainty

N = 900


@pytest.fixture
def data() -> PartialLabelDataset:
    rng = np.random.default_rng(0)
    sets = CandidateSets.from_lists([[0, 1, 2]] * N, 3, ("ant", "bee", "cat"))
    X = rng.normal(size=(N, 4)).astype(np.float32)
    X[5, 2] = 9.0
    return PartialLabelDataset(X, sets, feature_names=("a", "b", "c", "d"), kind="table", extras={"note": ["x"] * N})


def sharp(confidence: np.ndarray) -> Certainty:
    identified = np.arange(N) % 2  # nothing is identified as a cat
    no = confidence < 0
    return Certainty(identified.astype(np.int64), confidence.astype(np.float32), confidence, confidence, no, no)


def test_the_nearest_sure_ones_of_a_class_by_brute_force(data: PartialLabelDataset) -> None:
    confidence = np.where(np.arange(N) % 3 == 0, 0.95, 0.5)
    similar = Similar(data, sharp(confidence))
    sure = np.flatnonzero((confidence > 0.9) & (np.arange(N) % 2 == 1))
    assert len(sure) < PER_CLASS
    pool = np.flatnonzero(confidence > 0.9)
    scaled = np.clip((data.X - data.X[pool].mean(0)) / data.X[pool].std(0), -3, 3)
    for row in (5, 7, int(sure[0])):
        apart = ((scaled[sure] - scaled[row]) ** 2).sum(axis=1)
        nearest = [one for one in sure[np.argsort(apart, kind="stable")] if one != row][:3]
        assert similar.of_class(row, 1).tolist() == nearest
    assert similar.of_class(0, 2).tolist() == []


def test_columns_come_by_how_far_they_are_from_those_nearby(data: PartialLabelDataset) -> None:
    similar = Similar(data, sharp(np.ones(N)))
    columns = similar.columns(5, np.arange(10, 20), classes=(0, 2))
    assert [column.name for column in columns[:1]] == ["c"] and columns[0].value == "9"
    apart = [column.distance for column in columns[:-1]]
    assert apart == sorted(apart, reverse=True) and apart[0] > 3
    assert float(columns[0].usual) == pytest.approx(float(data.X[10:20, 2].mean()), rel=1e-3)
    assert columns[0].of_classes[0] == f"{data.X[similar.of_class(5, 0, 1)[0], 2]:.6g}" and not columns[0].of_classes[1]
    assert (columns[-1].name, columns[-1].value, columns[-1].usual) == ("note", "x", "")


def test_look_alikes_are_led_by_the_one_they_are_like(data: PartialLabelDataset) -> None:
    similar = Similar(data, sharp(np.ones(N)))
    among = np.arange(100, 200)
    result = similar.look_alikes(5, among, 5)
    assert result[0] == 5 and len(result) == 5 and set(result[1:]) <= set(among)
    assert similar.look_alikes(5, among[:0], 5).tolist() == [5]

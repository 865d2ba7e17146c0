from __future__ import annotations

import numpy as np
import pytest

from pll.candidates import CandidateSets
from pll.training.metrics import Monitor

SETS = CandidateSets.from_lists([[0, 1], [1, 2], [2]], 3)
FIRST = np.array([0.9, 0.1, 0.5, 0.5, 1], dtype=np.float32)  # identifies 0, 1, 2
SECOND = np.array([0.2, 0.8, 0.4, 0.6, 1], dtype=np.float32)  # identifies 1, 2, 2


def test_means_are_over_all_examples() -> None:
    record = Monitor(SETS).record(1, FIRST)
    assert record.mean_confidence == pytest.approx((0.9 + 0.5 + 1) / 3)
    entropy = -(0.9 * np.log(0.9) + 0.1 * np.log(0.1)) / np.log(2)
    assert record.mean_entropy == pytest.approx((entropy + 1 + 0) / 3, abs=1e-6)


def test_changes_are_counted_from_the_second_epoch_on() -> None:
    monitor = Monitor(SETS)
    weights = [FIRST, SECOND, SECOND, FIRST]
    changed = [monitor.record(epoch, w).changed_labels for epoch, w in enumerate(weights, start=1)]
    assert changed == [0, 2, 0, 2]


def test_accuracies_need_true_labels() -> None:
    monitor = Monitor(SETS, np.array([0, 2, -1]), np.array([1, 1]))
    record = monitor.record(1, FIRST, predicted_test=np.array([1, 0]))
    assert (record.transductive_accuracy, record.test_accuracy) == (0.5, 0.5)
    assert monitor.record(2, FIRST).test_accuracy is None
    without = Monitor(SETS).record(1, FIRST)
    assert (without.transductive_accuracy, without.test_accuracy, without.loss) == (None, None, None)

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_digits
from sklearn.metrics import confusion_matrix

from pll.errors import UserError
from pll.synthesis.label_noise import confusion_sets, sets_of_most_likely, top_k_sets


@given(st.integers(1, 4), st.lists(st.integers(0, 3), min_size=1, max_size=9), st.integers(0, 9))
def test_the_given_label_and_the_k_most_likely(k: int, labels: list[int], seed: int) -> None:
    probabilities = np.random.default_rng(seed).random((len(labels), 4))
    sets = sets_of_most_likely(probabilities, labels, k)
    for row, given_label, scores in zip(sets, labels, probabilities, strict=True):
        top = sorted(range(4), key=lambda j: (-scores[j], j))[:k]
        assert set(row.tolist()) == {given_label, *top}


def test_sets_of_a_classifier_hold_more_truth_than_noisy_labels_do() -> None:
    X, y = load_digits(return_X_y=True)
    X, y = X[:900], y[:900]
    rng = np.random.default_rng(0)
    wrong = rng.random(len(y)) < 0.3
    labels = np.where(wrong, (y + rng.integers(1, 10, len(y))) % 10, y)
    sets = top_k_sets(X, labels, 10, k=1)
    assert sets.contains(labels).all() and sets.sizes.max() == 2
    assert sets.contains(y).mean() > 0.9 > (labels == y).mean()


def test_a_confusion_matrix_of_scikit_learn_is_read_the_right_way_round() -> None:
    true, given_labels = [0] * 8 + [1] * 10, [0] * 6 + [1] * 2 + [1] * 10
    confusion = confusion_matrix(true, given_labels)  # rows true: [[6, 2], [0, 10]]
    sets = confusion_sets([0, 1], confusion, threshold=0.1)
    assert sets[0].tolist() == [0]  # whoever is called 0 is 0
    assert sets[1].tolist() == [0, 1]  # 2 of 12 that are called 1 are 0
    assert confusion_sets([0, 1], confusion.T, threshold=0.1, rows="given") == sets
    assert confusion_sets([1], confusion, threshold=0.2)[0].tolist() == [1]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: top_k_sets([[1.0], [2.0]], [0, 1], 3, k=3), "k is 3; with 3 classes it must lie between 1 and 2"),
        (lambda: sets_of_most_likely([[1.0, 0]], [0, 1], 1), "There are 2 labels but probabilities of shape (1, 2)"),
        (lambda: sets_of_most_likely([[1.0, 0]], [0], 0), "k is 0"),
        (lambda: sets_of_most_likely([[1.0, 0]], [2], 1), "Row 0: the given label 2 is unknown"),
        (lambda: confusion_sets([0], np.eye(2), threshold=0), "The threshold is 0"),
        (lambda: confusion_sets([2], np.eye(2)), "Row 0: the given label 2 is unknown"),
        (lambda: confusion_sets([0], [[1, 2, 3]]), "is 1 × 3; with 1 classes it must be 1 × 1"),
    ],
)
def test_bad_input_is_refused(call, message: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(UserError) as caught:
        call()
    assert message in str(caught.value)

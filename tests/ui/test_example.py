"""One example as people see it."""

from __future__ import annotations

import numpy as np

from pll.dataset import PartialLabelDataset
from pll.features.selection import featurised, fitted
from pll.ui.example import cells_of


def test_an_example_of_a_table_is_its_words_and_its_numbers_also_in_a_run() -> None:
    X = np.array([[1, 2.5], [9, 0.25], [3, 40_000]], dtype=np.float32)
    data = PartialLabelDataset(X, kind="table", categories={"colour": ["red", None, "blue"]}, feature_names=("a", "b"))
    for seen in (data, featurised(data, fitted("table", data))):
        assert [*cells_of(seen, 0)] == [("colour", "red"), ("a", "1"), ("b", "2.5")]
        assert [*cells_of(seen, 1)] == [("a", "9"), ("b", "0.25")]
        assert dict(cells_of(seen, 2))["b"] == "40,000"

"""One example as people see it."""

from __future__ import annotations

import numpy as np

from pll.dataset import PartialLabelDataset
from pll.ui.example import cells_of


def test_an_example_of_a_table_is_its_words_and_its_numbers() -> None:
    X = np.array([[1, 2.5], [9, 0.25], [3, 40_000]], dtype=np.float32)
    data = PartialLabelDataset(X, kind="table", categories={"colour": ["red", None, "blue"]})
    assert dict(cells_of(data, 0)) == {"colour": "red", "column 1": "1", "column 2": "2.5"}
    assert [*cells_of(data, 1)] == [("column 1", "9"), ("column 2", "0.25")]
    assert dict(cells_of(data, 2))["column 2"] == "40,000"

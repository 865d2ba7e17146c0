from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pll.candidates import CandidateSets
from pll.errors import UserError
from tests.dataset_helpers import SETS, X, made


class TestNormalForm:
    def test_types_and_defaults(self) -> None:
        data = made(X=X.astype(np.float64).tolist(), y=[0.0, 1.0, 2.0, -1.0], is_test=[0, 1, 0, 1])
        assert data.X.dtype == np.float32
        assert data.y is not None and data.y.dtype == np.int64
        assert data.is_test is not None and data.is_test.dtype == np.bool_
        assert data.row_ids.tolist() == ["0", "1", "2", "3"]
        assert data.class_names == ("ant", "bee", "cat")
        assert (len(data), data.n_classes, data.input_shape, data.is_image) == (4, 3, (3,), False)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"X": X[0]}, "these have 1 dimension."),
        ({"X": X[:, None]}, "these have 3 dimensions."),
        ({"X": [["a"], ["b"]]}, "Features must be numbers"),
        ({"X": [[1, 2], [3]]}, "Features must be numbers, in rows of equal length"),
        ({"X": X[:3]}, "There are 3 rows of features but 4 candidate sets"),
        ({"y": [0, 1]}, "4 rows of features but 2 true labels"),
        ({"ids": ["a", "b"]}, "4 rows of features but 2 ids"),
        ({"images": np.zeros((2, 8, 8), np.uint8)}, "4 rows of features but 2 images"),
        ({"is_test": [True]}, "4 rows of features but 1 split marks"),
        ({"ids": ["a", "b", "c", "b"]}, "Rows 1 and 3 have the same id 'b'"),
        ({"y": [0, 1, 2, 3]}, "Row 3 (id 3): the true label 3 is unknown; labels run from 0 to 2"),
        ({"y": [0, -2, 2, 1]}, "Row 1 (id 1): the true label -2 is unknown"),
        ({"y": [0, 0.5, 2, 1]}, "Entry 1 of the true labels is 0.5"),
        ({"y": [0, np.nan, 2, 1]}, "Entry 1 of the true labels is nan"),
        ({"y": [[0], [1], [2], [1]]}, "one number a row; these have 2 dimensions"),
        ({"y": [0, 10**9, 2, 1], "candidates": None}, "Row 1: the true label 1000000000 cannot be a class index"),
        ({"candidates": None, "class_names": ("a", "a", "b")}, "The class name 'a' stands twice"),
        ({"feature_names": ("a", "b")}, "There are 3 features but 2 feature names"),
        ({"X": np.where(X == 7, np.nan, X)}, "Row 2, feature 1 is NaN"),
        ({"X": np.where(X == 7, np.inf, X), "feature_names": ("a", "b", "c")}, "Row 2, column 'b' is inf"),
        ({"X": np.where(X == 7, -np.inf, X), "kind": "table"}, "Row 2, feature 1 is -inf"),
        ({"X": np.where(X < 7, np.inf, -np.inf)}, "Row 0, feature 0 is inf"),
        ({"X": X.astype(np.float64) * 1e300}, "Row 0, feature 1 is inf"),
        ({"X": np.full((4, 1, 2, 2), np.nan)}, "Row 0, pixel (0, 0, 0) is NaN"),
    ],
)
def test_bad_data_is_refused_and_named(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError) as caught:
        made(**changes)
    assert message in str(caught.value)


class TestTake:
    def test_everything_follows(self) -> None:
        pictures = np.arange(16, dtype=np.uint8).reshape(4, 2, 2)
        data = made(ids=["a", "b", "c", "d"], images=pictures, is_test=[True, True, True, False])
        some = data.take([3, 1])
        assert some.row_ids.tolist() == ["d", "b"]
        assert some.X.tolist() == X[[3, 1]].tolist()
        assert [row.tolist() for row in some.sets()] == [[2], [1]]
        assert some.y is not None and some.y.tolist() == [-1, 1]
        assert some.is_test is not None and some.is_test.tolist() == [False, True]
        assert some.images is not None and some.images[0].tolist() == [[12, 13], [14, 15]]
        assert len(data.take(np.array([True, False, False, True]))) == len(data.take(slice(2))) == 2


class TestFingerprint:
    def test_same_data_same_string_however_it_came(self) -> None:
        assert made().fingerprint == made(X=X.astype(np.float64), y=[0, 1, 2, -1]).fingerprint
        # A file stores ids in as few bytes as they need; the defaults are wider.
        assert made().fingerprint == made(ids=np.array(["0", "1", "2", "3"], dtype="<U9")).fingerprint

    @pytest.mark.parametrize(
        "changes",
        [
            {"X": X + 1},
            {"X": X.reshape(4, 3, 1, 1)},
            {"y": None},
            {"y": [0, 1, 2, 2]},
            {"ids": list("abcd")},
            {"candidates": CandidateSets.from_lists([[0, 1], [1], [0, 1, 2], [1]], 3, SETS.class_names)},
            {"candidates": CandidateSets.from_lists([list(row) for row in SETS], 3)},
            {"candidates": None, "class_names": SETS.class_names},
            {"is_test": [True] * 4},
        ],
    )
    def test_other_data_other_string(self, changes: dict[str, Any]) -> None:
        assert made(**changes).fingerprint != made().fingerprint

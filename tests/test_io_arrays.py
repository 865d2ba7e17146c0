from __future__ import annotations

import numpy as np
import pytest

from pll.errors import UserError
from pll.io import check_finite, feature_array

X = np.arange(12, dtype=np.float32).reshape(4, 3)


def test_features_are_contiguous_float32() -> None:
    array = feature_array(X[::-1].astype(np.float64).T)
    assert array.dtype == np.float32 and array.flags.c_contiguous


def test_missing_features_pass_where_they_are_allowed_infinite_ones_never() -> None:
    check_finite(np.array([[np.nan, 1]]), allow_missing=True)
    with pytest.raises(UserError, match="Row 1, feature 0 is inf"):
        check_finite(np.array([[np.nan, 1], [np.inf, 0]]), allow_missing=True)

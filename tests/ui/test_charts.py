"""The charts that people read off."""

from __future__ import annotations

import numpy as np
import pytest

from pll.ui.charts import matrix_chart


@pytest.mark.parametrize(
    ("off", "top"),
    [
        *(([0.7, 0.7], 100), ([0.0, 0.0], 100), ([0.7, 0.68], 100), ([0.4, np.nan], 100)),
        *(([0.2, 0.5], 50), ([0.0, 0.03], 3)),
    ],
)
def test_the_scale_of_a_matrix_begins_at_0_and_spreads_what_differs(off: list[float], top: float) -> None:
    matrix = np.array([[1.0, off[0]], [off[1], 1.0]])
    figure, table = matrix_chart(matrix, ["a", "b"], title="t", across="label", down="true label")
    (heat,) = figure.data
    assert (heat.zmin, heat.zmax) == (0, pytest.approx(top))
    assert np.isnan(heat.z[0][0]) and heat.z[0][1] == pytest.approx(off[0] * 100)
    assert table["true label"].tolist() == ["a", "b"] and table["b"][0] == off[0]
    assert list(heat.customdata[0][1]) == ["b", "a"]  # across, down: whole names under the pointer

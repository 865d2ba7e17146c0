from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pll.errors import UserError
from pll.features.tables import TableFeatures
from tests.features.helpers import table, words

NAN = float("nan")
CELLS = st.none() | st.sampled_from(["NA", "None", "1", "1.0", "日本語", "a|b", " ", "=x", "nan"])
NUMBERS = st.just(NAN) | st.floats(-1e6, 1e6, width=32)


@st.composite
def mixed(draw: st.DrawFn, rows: int):  # type: ignore[no-untyped-def]
    X = draw(st.lists(st.lists(NUMBERS, min_size=2, max_size=2), min_size=rows, max_size=rows))
    cells = [draw(st.lists(CELLS, min_size=rows, max_size=rows)) for _ in range(2)]
    return table(X, ("width", "height"), colour=words(*cells[0]), shape=words(*cells[1]))


@given(mixed(rows=5), mixed(rows=3))
def test_every_cell_becomes_what_it_should(train, other) -> None:  # type: ignore[no-untyped-def]
    made = TableFeatures().fit(train)
    for data in (train, other):
        X = made.transform(data)
        assert X.dtype == np.float32 and X.shape == (len(data), len(made.feature_names)) and np.isfinite(X).all()
        for row in range(len(data)):
            result = dict(zip(made.feature_names, X[row].tolist(), strict=True))
            for at, name in enumerate(("width", "height")):
                values = train.X[~np.isnan(train.X[:, at]), at]
                mean = values.mean(dtype=np.float64) if len(values) else 0
                assert result[name] == pytest.approx(mean if np.isnan(data.X[row, at]) else data.X[row, at], rel=1e-5)
            for name in ("colour", "shape"):
                vocabulary, cell = train.categories[name].tolist(), data.categories[name][row]
                expected = {f"{name} = {word}": 0.0 for word in vocabulary if word is not None}
                if None in vocabulary:
                    expected[f"{name} is missing"] = 0.0
                if cell in vocabulary:
                    expected[f"{name} is missing" if cell is None else f"{name} = {cell}"] = 1.0
                assert {key: result[key] for key in expected} == expected


@given(mixed(rows=4), mixed(rows=3))
def test_the_state_gives_exactly_the_same_back(train, other) -> None:  # type: ignore[no-untyped-def]
    made = TableFeatures().fit(train)
    settings, arrays = made.state()
    again = TableFeatures.from_state(settings, arrays)
    np.testing.assert_array_equal(again.transform(other), made.transform(other))
    assert again.feature_names == made.feature_names and again.state() == (settings, arrays)


def test_new_words_are_noted() -> None:
    made = TableFeatures().fit(table([[1], [2]], ("width",), colour=words("red", "blue")))
    other = table([[1], [2], [3]], ("width",), colour=words("mauve", "red", None))
    assert made.transform(other)[:, 1:].tolist() == [[0, 0], [0, 1], [0, 0]]
    (note,) = made.notes(other)
    assert note.startswith("2 cells of 'colour'") and "'mauve'" in note


class TestColumns:
    @pytest.mark.parametrize(
        ("other", "message"),
        [
            (table([[1]], ("height",), colour=words("red")), "has no column 'width', which the model was fitted on"),
            (table([[1]], ("width",)), "has no column 'colour', which the model was fitted on"),
            (
                table(np.empty((2, 0)), width=words("1.5", "wide"), colour=words("red", "red")),
                "Row 1, column 'width' of data holds 'wide'; the model was fitted on numbers there",
            ),
            (table([[1, 2]], colour=words("red")), "has 2 columns of numbers; the model was fitted on 1"),
        ],
    )
    def test_columns_that_do_not_fit_are_named(self, other, message: str) -> None:  # type: ignore[no-untyped-def]
        made = TableFeatures().fit(table([[1.0]], ("width",), colour=words("red")))
        with pytest.raises(UserError) as caught:
            made.transform(other)
        assert message in str(caught.value)

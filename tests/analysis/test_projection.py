"""The map of the examples: principal components against a decomposition by hand, and what lies in an outline."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pll.analysis.projection import TOP, inside, project


def features(n: int = 500, d: int = 6) -> np.ndarray:
    rng = np.random.default_rng(0)
    return (rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) * 10 + 3).astype(np.float32)


def test_the_axes_are_the_first_two_principal_components() -> None:
    X = features()
    z = np.clip((X - X.mean(axis=0)) / X.std(axis=0), -3, 3).astype(np.float64)
    scores = np.linalg.svd(z - z.mean(axis=0), full_matrices=False)
    expected = scores[0][:, :2] * scores[1][:2]
    places = project(X).astype(np.float64)
    for axis in range(2):
        within = (places[:, axis] > 0) & (places[:, axis] < TOP)
        assert abs(np.corrcoef(places[within, axis], expected[within, axis])[0, 1]) > 0.999999
    assert places.min() == 0 and places.max() == TOP


@pytest.mark.parametrize(
    "X",
    [
        np.ones((5, 3), dtype=np.float32),
        np.zeros((1, 2), dtype=np.float32),
        np.arange(4, dtype=np.float32)[:, None],
        np.random.default_rng(0).random((30, 3, 4, 4)).astype(np.float32),
        np.array([[np.nan, 1], [2, np.nan], [3, 4]], dtype=np.float32),
    ],
    ids=["constant", "one example", "one column", "pictures", "missing cells"],
)
def test_every_kind_of_features_has_places(X: np.ndarray) -> None:
    assert project(X).shape == (len(X), 2)


def by_rays(point: np.ndarray, corners: list[tuple[int, int]]) -> bool:
    x, y = point
    odd = False
    for (x1, y1), (x2, y2) in zip(corners, corners[1:] + corners[:1], strict=True):
        if (y1 > y) != (y2 > y) and x < (x2 - x1) * (y - y1) / (y2 - y1) + x1:
            odd = not odd
    return odd


def distance(point: np.ndarray, corners: list[tuple[int, int]]) -> float:
    def to(a: tuple[int, int], b: tuple[int, int]) -> float:
        one, two = np.array(a, dtype=float), np.array(b, dtype=float)
        along = two - one
        share = np.clip(np.dot(point - one, along) / max(np.dot(along, along), 1e-9), 0, 1)
        return float(np.linalg.norm(point - one - share * along))

    return min(to(a, b) for a, b in zip(corners, corners[1:] + corners[:1], strict=True))


@given(st.lists(st.tuples(st.integers(0, TOP), st.integers(0, TOP)), min_size=3, max_size=8), st.integers(0, 9))
def test_inside_is_what_a_ray_crosses_into_but_for_the_edge(corners: list[tuple[int, int]], seed: int) -> None:
    places = np.random.default_rng(seed).integers(0, TOP + 1, (40, 2)).astype(np.uint16)
    result = set(inside(places, corners).tolist())
    for row, point in enumerate(places.astype(float)):
        if distance(point, corners) > 3 * 32:  # further from the edge than a few cells of the grid
            assert (row in result) == by_rays(point, corners)

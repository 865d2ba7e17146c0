"""Nearest neighbours, and what they say of each candidate."""

from __future__ import annotations

import numpy as np

from pll.candidates import CandidateSets
from pll.review.neighbours import best_points, comparable, find_neighbours


def brute(points: np.ndarray, k: int) -> np.ndarray:
    """(n, k) distances, ascending, each without itself."""
    distances = np.linalg.norm(points[:, None] - points[None], axis=2)
    np.fill_diagonal(distances, np.inf)
    return np.sort(distances, axis=1)[:, :k]


def test_the_nearest_are_found() -> None:
    points = comparable(np.random.default_rng(0).normal(size=(60, 4)).astype(np.float32))
    result = find_neighbours(points, k=5)
    distances = np.linalg.norm(points[:, None] - points[result], axis=2)
    np.testing.assert_allclose(distances, brute(points, 5), rtol=1e-4, atol=1e-5)
    assert result.dtype == np.int32
    assert not (result == np.arange(60)[:, None]).any()


def test_twins_are_neighbours_and_nobody_is_their_own() -> None:
    X = np.zeros((14, 2), dtype=np.float32)
    result = find_neighbours(X, k=10)
    assert result.shape == (14, 10)
    assert not (result == np.arange(14)[:, None]).any()
    assert all(len(set(row)) == 10 for row in result.tolist())


def test_the_space_is_the_one_whose_neighbours_agree() -> None:
    """Classes are directions and lengths are noise; the other way round; and a direction that z-scores destroy."""
    rng = np.random.default_rng(0)
    y = np.arange(200) % 2
    sets = CandidateSets.from_labels(y, 2)
    angle = y * np.pi / 2 + rng.normal(scale=0.2, size=200) + np.where(rng.random(200) < 0.5, 0, np.pi)
    length = rng.uniform(0.02, 3, size=200)
    rays = np.stack([length * np.cos(angle), length * np.sin(angle)], axis=1).astype(np.float32)
    rings = np.stack([(1 + y) * np.cos(length * 9), (1 + y) * np.sin(length * 9)], axis=1).astype(np.float32)
    words = np.concatenate([np.eye(2)[y], rng.normal(scale=0.02, size=(200, 60))], axis=1).astype(np.float32)

    def right(points: np.ndarray) -> float:
        return float((y[find_neighbours(points)] == y[:, None]).mean())

    def best(X: np.ndarray) -> np.ndarray:
        return best_points(X, sets, sets.uniform_weights())

    assert right(best(rays)) > right(comparable(rays)) + 0.01
    np.testing.assert_array_equal(best(rings), comparable(rings))
    assert right(best(words)) == 1 > right(comparable(words))

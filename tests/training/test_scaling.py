from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from pll.training import scaling
from pll.training.scaling import SCALES, Scaling, fit_scaling


def apply(fitted: Scaling, X: np.ndarray) -> np.ndarray:
    return fitted(torch.from_numpy(X)).numpy()


@given(st.integers(2, 40), st.integers(1, 5), st.sampled_from([1e-3, 1.0, 1e5]), st.integers(0, 2**32))
def test_z_scored_columns_have_mean_0_and_deviation_1(n: int, d: int, size: float, seed: int) -> None:
    X = (np.random.default_rng(seed).normal(3, 1, (n, d)) * size).astype(np.float32)
    scaled = apply(fit_scaling(X), X)
    np.testing.assert_allclose(scaled.mean(axis=0), 0, atol=1e-4)
    np.testing.assert_allclose(scaled.std(axis=0), 1, atol=1e-3)


def test_missing_values_become_the_mean_and_do_not_count() -> None:
    X = np.array([[0, np.nan], [4, np.nan], [np.nan, np.nan]], dtype=np.float32)
    assert apply(fit_scaling(X), X).tolist() == [[-1, 0], [1, 0], [0, 0]]
    assert apply(fit_scaling(X, "none"), X).tolist() == [[0, 0], [4, 0], [2, 0]]


@pytest.mark.parametrize("value", [0.0, 0.1, -3e4, 1e30])
def test_a_column_that_never_varies_becomes_0(value: float) -> None:
    X = np.full((1000, 2), value, dtype=np.float32)
    assert (apply(fit_scaling(X), X) == 0).all()


def test_features_whose_squares_overflow_float32() -> None:
    X = np.array([[-1e30], [1e30]], dtype=np.float32)
    np.testing.assert_allclose(apply(fit_scaling(X), X), [[-1], [1]], rtol=1e-6)


def test_small_differences_of_large_numbers_remain() -> None:
    X = (101_040 + np.arange(8, dtype=np.float32))[:, None]
    expected = (np.arange(8) - 3.5) / np.arange(8).std()
    np.testing.assert_allclose(apply(fit_scaling(X), X)[:, 0], expected, atol=1e-5)


class TestImages:
    X = np.random.default_rng(0).normal(5, 2, (30, 3, 4, 4)).astype(np.float32)

    def test_auto_is_by_channel(self) -> None:
        fitted = fit_scaling(self.X)
        assert fitted.shift.shape == (3, 1, 1)
        np.testing.assert_allclose(fitted.shift.flatten(), self.X.mean(axis=(0, 2, 3)), rtol=1e-6)
        np.testing.assert_allclose(apply(fitted, self.X).std(axis=(0, 2, 3)), 1, rtol=1e-5)

    def test_zscore_is_by_pixel(self) -> None:
        fitted = fit_scaling(self.X, "zscore")
        assert fitted.shift.shape == (3, 4, 4)
        np.testing.assert_allclose(apply(fitted, self.X).std(axis=0), 1, rtol=1e-5)


@pytest.mark.parametrize("scale", SCALES)
def test_the_pieces_do_not_show(scale: str, monkeypatch: pytest.MonkeyPatch) -> None:
    shape = (50, 4) if "rbf" in scale or scale == "quantile" else (50, 1, 2, 2)
    X = np.random.default_rng(1).normal(size=shape).astype(np.float32)
    X[X > 1] = np.nan
    whole = fit_scaling(X, scale)
    monkeypatch.setattr(scaling, "SCALED_AT_ONCE", 7)
    for name, part in fit_scaling(X, scale).state_dict().items():
        torch.testing.assert_close(part, whole.state_dict()[name], rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("scale", SCALES)
def test_its_state_is_all_of_it_and_says_its_shape(scale: str) -> None:
    X = np.random.default_rng(2).lognormal(size=(60, 3)).astype(np.float32)
    X[:, 1] = np.round(X[:, 1])
    X[3, 2] = np.nan
    fitted = fit_scaling(X, scale)
    again = Scaling.from_state({f"0.{name}": value for name, value in fitted.state_dict().items()}, "0.")
    np.testing.assert_array_equal(apply(again, X), apply(fitted, X))
    assert apply(fitted, X).shape[1:] == fitted.output_shape((3,))
    assert np.isfinite(apply(fitted, X * 100)).all()


def test_quantiles_become_those_of_a_normal_distribution() -> None:
    X = np.random.default_rng(3).lognormal(sigma=3, size=(4000, 1)).astype(np.float32)
    mapped = apply(fit_scaling(X, "quantile"), X)
    assert (np.diff(mapped[np.argsort(X[:, 0]), 0]) >= 0).all()
    np.testing.assert_allclose(np.quantile(mapped, [0.16, 0.5, 0.84]), [-0.994, 0, 0.994], atol=0.05)


@pytest.mark.parametrize("scale", ["auto", "zscore", "minmax", "zscore-unit"])
def test_a_feature_that_never_varied_has_no_effect_later(scale: str) -> None:
    X = np.random.default_rng(0).normal(size=(40, 3)).astype(np.float32)
    X[:, 1] = 7.5
    scaling = fit_scaling(X, scale)
    other = X.copy()
    other[:, 1] = 20.0
    one, two = (scaling(torch.from_numpy(values)) for values in (X, other))
    assert bool(torch.isfinite(one).all()) and torch.equal(one, two)
    assert bool(torch.isfinite(scaling.typical(torch.zeros(2, 3))).all())
    assert bool(torch.isfinite(scaling.typical(torch.ones(2, 3))).all())

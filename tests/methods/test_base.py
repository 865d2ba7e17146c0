"""Checks of settings: wrong values are refused with a message, right ones are not."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from pll.errors import UserError
from pll.methods import METHODS
from pll.methods.base import check_kernel, check_number


@pytest.mark.parametrize("value", ["5", None, float("nan"), float("inf"), -float("inf"), 1j, 10**400, [3]])
@pytest.mark.parametrize("whole", [True, False])
def test_what_is_no_number_that_fits_is_refused(value: Any, whole: bool) -> None:
    with pytest.raises(UserError, match=r"^k is .*; it must be a (whole |finite )?number, 1 or more\.$"):
        check_number("k", value, whole=whole, least=1)


def test_a_limit_belongs_to_the_range_or_not() -> None:
    check_number("x", 0, least=0, most=1)
    check_number("x", np.float32(1), above=0, most=1)
    check_number("x", 1e38, least=0)
    check_number("x", np.int64(3), whole=True, below=4)
    for limits in ({"above": 0}, {"below": 0}, {"least": 1}, {"most": -1}):
        with pytest.raises(UserError):
            check_number("x", 0, **limits)  # type: ignore[arg-type]
    with pytest.raises(UserError, match="x is inf; it must be a finite number above 0"):
        check_number("x", float("inf"), above=0)
    with pytest.raises(UserError, match="must be a whole number"):
        check_number("x", 3.0, whole=True)


def test_kernels_have_names() -> None:
    check_kernel("linear")
    with pytest.raises(UserError, match="no kernel called 'poly'; use one of rbf, linear"):
        check_kernel("poly")


def test_a_method_with_defaults_of_its_own_keeps_the_other_settings() -> None:
    parent, ga, d2cnn = (inspect.signature(METHODS[name]).parameters for name in ("proden", "ga", "d2cnn"))
    assert set(ga) - set(parent) == {"correction"} and set(d2cnn) - set(parent) == {
        "entropy",
        "consistency",
        "ensemble",
        "ramp_up",
    }
    assert {name for name in parent if ga[name].default != parent[name].default} == {"lr", "weight_decay"}
    copied = clone(METHODS["d2cnn"](ramp_up=0.5, epochs=3))  # type: ignore[call-arg]
    assert (copied.ramp_up, copied.entropy, copied.epochs) == (0.5, 1.0, 3)
    with pytest.raises(TypeError, match="haste"):
        METHODS["ga"](haste=2)  # type: ignore[call-arg]

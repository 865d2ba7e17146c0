"""The fields of a run are described once, and what is made of them agrees."""

from __future__ import annotations

import math
from dataclasses import fields
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as some

from pll.errors import UserError
from pll.experiments.experiment import Experiment
from pll.methods import METHODS
from pll.runs.config import Preparation, RunConfig
from pll.runs.description import RUN_FIELDS, plain_value, setting_of
from pll.runs.link import PARTS

NUMBERS = [name for name, one in RUN_FIELDS.items() if one.kind in ("whole", "number")]


def test_every_field_of_a_run_has_the_described_default() -> None:
    for one in (*fields(Preparation), *fields(RunConfig)):
        if one.name in RUN_FIELDS:
            assert one.default == RUN_FIELDS[one.name].default, one.name
    assert {one.name for one in fields(Preparation)} <= set(RUN_FIELDS)
    for name in ("features", "strict", "holdout"):
        assert Experiment.model_fields[name].default == PARTS[name].default == RUN_FIELDS[name].default


@pytest.mark.parametrize("method", METHODS)
def test_the_defaults_of_every_method_are_within_the_limits(method: str) -> None:
    problems = {
        name: RUN_FIELDS[name].problem(value)
        for name, value in METHODS[method]().get_params().items()
        if name in RUN_FIELDS
    }
    assert not any(problems.values()), problems


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", sorted({*NUMBERS} - {"lr", "threads"}))  # these Python judges by mathematics, machine
def test_python_takes_what_the_shell_takes(method: str, name: str) -> None:
    one, estimator = RUN_FIELDS[name], METHODS[method]()
    if name not in estimator.get_params():
        return
    for value in (one.least - 1, one.least, 0.5, one.most, one.most + 1, 2**70, True, math.nan):
        try:
            estimator.set_params(**{name: value}).check_settings()
            problem = ""
        except UserError as error:
            problem = str(error)
        assert bool(problem) == bool(one.problem(value)), (value, problem)
        assert value != 2**70 or "1180591620717411303424" in problem


@pytest.mark.parametrize("name", NUMBERS)
@given(value=some.floats(allow_nan=True, allow_infinity=True) | some.integers(-5, 10**7))
def test_a_number_is_refused_exactly_outside_its_limits(name: str, value: float) -> None:
    one = RUN_FIELDS[name]
    inside = one.least <= value <= one.most and not (one.above and value == one.least)
    inside = inside and not (one.below and value == one.most) and (one.kind == "number" or value == int(value))
    problem = one.problem(value, "x")
    assert (problem == "") == inside
    assert inside or (problem.startswith("x is ") and problem.endswith(f"it must be {one.wanted}."))


@given(some.text(max_size=8))
@example("9" * 400)  # no float holds it
def test_what_is_no_number_stays_text(text: str) -> None:
    value: Any = plain_value(text)
    if isinstance(value, str):
        assert value == text
    elif isinstance(value, bool) or value is None:
        assert text.lower() in ("true", "false", "none")
    else:
        assert float(text) == value
    assert RUN_FIELDS["features"].value_of(text) == text  # a described word is never a number, nor none
    assert setting_of("model", text) == text

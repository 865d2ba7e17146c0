"""Settings of a run in words."""

from __future__ import annotations

import pytest

from pll.catalog.sources import Source
from pll.methods import METHODS
from pll.runs.config import RunConfig, format_settings


@pytest.mark.parametrize("method", METHODS)
def test_the_settings_of_every_method_can_be_described(method: str) -> None:
    text = format_settings(RunConfig(source=Source("digits"), method=method, seed=7))
    assert METHODS[method].title in text
    assert "seed 7" in text


def test_what_a_recipe_searches_is_named_when_it_is_found() -> None:
    config = RunConfig(source=Source("digits"), params={"recipe": "auto", "epochs": 40})
    before, after = format_settings(config), format_settings(config, {"model": "shallow-mlp", "epochs": 30})
    assert "recipe auto" in before and "40 epochs" in before and "linear" not in before
    assert "shallow-mlp" in after and "30 epochs" in after
    assert "linear" in format_settings(RunConfig(source=Source("digits"))), "the default is no search"


def test_the_number_of_processes_is_kept_where_there_are_several() -> None:
    several = RunConfig(source=Source("digits"), processes=3)
    assert "3 processes" in format_settings(several)
    assert RunConfig.from_json(several.to_json()) == several

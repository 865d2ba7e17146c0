"""Settings of a run in words."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pll.catalog.sources import Source
from pll.methods import METHODS
from pll.runs.config import RunConfig, differences, format_settings
from pll.runs.lanes import lane_titles


@pytest.mark.parametrize("method", METHODS)
def test_the_settings_of_every_method_can_be_described(method: str) -> None:
    text = format_settings(RunConfig(source=Source("digits"), method=method, seed=7))
    assert METHODS[method].title in text
    assert "seed 7" in text


def test_runs_differ_in_their_names_alone_where_these_do_and_never_in_what_a_recipe_chooses() -> None:
    searched = RunConfig(source=Source("tickets"), params={"recipe": "auto"})
    by_hand = RunConfig(source=Source("tickets"), params={"recipe": "default", "epochs": 60})
    taught = RunConfig(source=Source("tickets"), params={"recipe": "default", "epochs": 60}, name="taught")
    assert differences([searched, taught]) == ["tickets", "taught"]
    assert differences([taught]) == [""]
    own, other = differences([searched, by_hand])
    assert "epochs" not in own and "epochs 60" in other


def test_lanes_of_different_methods_are_called_by_these_alone() -> None:
    one, other = (RunConfig(source=Source("tickets"), method=method) for method in ("proden", "plknn"))
    assert lane_titles([one, other]) == ["PRODEN", "PL-kNN"]
    assert lane_titles([one, replace(one, seed=1), other]) == ["PRODEN seed 0", "PRODEN seed 1", "PL-kNN"]

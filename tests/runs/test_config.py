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

"""A comparison's link means exactly its lanes and how they are looked at, and a bad one says which part is wrong."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as some

from pll.catalog.sources import Source
from pll.errors import UserError
from pll.methods import METHODS
from pll.runs.config import RunConfig
from pll.runs.lanes import lane_configs
from pll.runs.link import (
    Look,
    Share,
    controls,
    from_query,
    to_link,
    to_query,
)
from pll.synthesis import Flip
from tests.run_helpers import VARIANTS

DIGITS = RunConfig(Source("digits"), params={"threads": 1}, flip=Flip("binomial", 0.7), holdout=0.2, name="digits demo")
LOOKS = some.builds(
    Look,
    epoch=some.none() | some.integers(0, 100_000),
    truth=some.booleans(),
    hidden=some.lists(some.sampled_from(list(controls(lanes=True))), unique=True).map(tuple),
    paused=some.booleans(),
    pace=some.none() | some.floats(0.001, 1000),
    patience=some.none() | some.integers(1, 100_000),
)
OWN = some.dictionaries(some.sampled_from(("lr", "weight_decay")), some.floats(1e-6, 10))


def there_and_back(share: Share) -> Share:
    link = to_link("http://localhost:8501/compare", share)
    return from_query(parse_qs(urlsplit(link).query, strict_parsing=True), lanes=True)


def query(**more: str | None) -> dict[str, list[str]]:
    """A good link with some parts replaced, added or (None) left out."""
    parts: dict[str, Any] = dict(to_query(Share(tuple(lane_configs(DIGITS, VARIANTS))))) | more
    return {name: [value] for name, value in parts.items() if value is not None}


@given(
    some.lists(some.sampled_from(list(METHODS)), min_size=2, max_size=5, unique=True),
    some.lists(OWN, max_size=5),
    LOOKS,
)
def test_a_link_means_the_lanes_it_was_made_of(methods: list[str], own: list[dict[str, float]], look: Look) -> None:
    settings = {
        method: {
            name: value
            for name, value in mine.items()
            if name in METHODS[method]().get_params() and value != METHODS[method]().get_params()[name]
        }
        for method, mine in zip(methods, own, strict=False)
    }
    share = Share(tuple(lane_configs(DIGITS, methods, settings)), look)
    assert there_and_back(share) == share  # to the last digit


def test_what_lanes_share_is_said_once_and_what_sets_one_apart_by_its_number() -> None:
    share = Share(tuple(lane_configs(DIGITS, VARIANTS, {"proden-naive": {"epochs": 50}})))
    parts = to_query(share)
    names = [name for name, _ in parts]
    assert len(set(names)) == len(names)
    assert [part for part in parts if part[0].startswith("epochs")] == [("epochs", "100"), ("epochs.3", "50")]
    assert ("lanes", ",".join(VARIANTS)) in parts and "method" not in names
    assert len(to_link("http://localhost:8501/compare", share)) < 500  # fits a message


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ({"lanes": None}, "must name its lanes"),
        ({"lanes": "proden"}, "lanes are 1; it must be two to 5"),
        ({"lanes": ",".join(["proden"] * 6)}, "lanes are 6"),
        ({"lanes": "proden,produn"}, "no method called 'produn'"),
        ({"method": "proden"}, "'method', which means nothing for a comparison"),
        ({"view": "examples"}, "'view', which means nothing for a comparison"),
        ({"lr.9": "0.1"}, "'lr.9', and there is no lane"),
        ({"lr.x": "0.1"}, "'lr.x', and there is no lane"),
        ({"lr.2": "much"}, "lr is much; it must be a number"),
        ({"update_every.1": "7"}, "no lane 1 with a setting 'update_every'"),
        ({"lanes": "proden,proden-naive", "update_every": "7"}, "'update_every' that means nothing here"),
        ({"seed.2": "4"}, "lanes differ in seed"),
        ({"data": "digitz"}, "called 'digitz'"),
        ({"hidden": "heatmap"}, "hidden names 'heatmap'; what can be hidden is navigation"),
        ({"link": "2"}, "of version '2'"),
        ({"epohcs": "3"}, "'epohcs' that means nothing here"),
    ],
)
def test_a_bad_link_says_which_part_is_wrong(parts: dict[str, Any], said: str) -> None:
    with pytest.raises(UserError, match=said):
        from_query(query(**parts), lanes=True)

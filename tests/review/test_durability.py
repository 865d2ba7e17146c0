"""The servers are killed in the middle of a review; the long version is `python -m benchmarks.durability`."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.durability import try_out


@pytest.mark.slow
@pytest.mark.timeout(120)
@pytest.mark.parametrize(
    "servers", [pytest.param((("Ann", "Bob"),), id="one server"), pytest.param((("Ann",), ("Bob",)), id="two servers")]
)
def test_nothing_is_lost_doubled_or_shared_when_servers_are_killed(
    database_url: str, tmp_path: Path, servers: tuple[tuple[str, ...], ...]
) -> None:
    found = try_out(database_url, tmp_path, decisions=40, kills=3, servers=servers, seed=3)
    assert (found.lost, found.doubled, found.shared) == (0, 0, 0)
    assert (found.decisions, found.acknowledged, found.kills) == (40, 40, 3)


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_five_hundred_decisions_and_five_kills(database_url: str, tmp_path: Path) -> None:
    found = try_out(database_url, tmp_path, decisions=500, kills=5, servers=(("Ann", "Bob"),))
    assert found.is_clean and (found.decisions, found.acknowledged) == (500, 500)
    assert found.resent > 0  # the kills did hit people at work

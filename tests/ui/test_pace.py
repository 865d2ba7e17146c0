"""Live pages refresh less often the more of them there are."""

from __future__ import annotations

import pytest

from pll.ui.pace import GONE_SECONDS, SHARE, Pace


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def with_tabs(n: int, seconds: float, clock: Clock) -> Pace:
    pace = Pace(clock)
    for tab in range(n):
        for _ in range(30):
            pace.note(str(tab), seconds)
    return pace


def test_one_tab_is_never_slowed_down() -> None:
    pace = with_tabs(1, 3.0, Clock())
    assert pace.interval(0.4) == 0.4
    assert not pace.has_changed(0.4, 0.4)


@pytest.mark.parametrize(("n", "cost"), [(11, 0.05), (26, 0.02), (3, 0.5)])
def test_all_others_take_a_fixed_share_of_a_core(n: int, cost: float) -> None:
    interval = with_tabs(n, cost, Clock()).interval(0.1)
    assert (n - 1) * cost / interval == pytest.approx(SHARE)


def test_closed_tabs_are_forgotten() -> None:
    clock = Clock()
    pace = with_tabs(50, 0.04, clock)
    assert pace.has_changed(0.4, 0.4)
    slow = pace.interval(0.4)
    clock.now += GONE_SECONDS + 1
    pace.note("0", 0.04)
    assert pace.interval(0.4) == 0.4
    assert pace.has_changed(slow, 0.4)

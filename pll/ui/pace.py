"""How often live pages refresh: less often the more of them there are, so that what somebody does is answered first."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from pll.runs.process import PerProcess

SHARE = 0.2
"""Share of one core that the refreshes of all tabs but one may take; as much again goes to sending what they draw."""
SLOWEST = 12.0
"""Seconds between two refreshes of a page, at most."""
GONE_SECONDS = 2.5 * SLOWEST
"""Seconds without a refresh after which a tab counts as closed."""
WEIGHT = 0.1
"""Of the newest refresh in the running mean of what one costs."""


class Pace:
    """The interval at which live pages refresh, from how many there are and what a refresh costs.

    Beside one tab, n − 1 others of c CPU seconds a refresh take (n − 1) · c / t of a core at an interval of t seconds;
    t grows so that this stays at `SHARE`. One tab alone is never slowed down. CPU time is counted, not time that
    passes: a busy machine makes nothing slower by itself.

    Examples
    --------
    >>> pace = Pace(clock=lambda: 0.0)
    >>> for tab in range(51):
    ...     pace.note(str(tab), 0.5)  # what a tab draws first is left out
    ...     pace.note(str(tab), 0.04)
    >>> round(pace.interval(0.4), 3), round(pace.interval(60.0), 3)
    (10.0, 60.0)
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._last_refresh: dict[str, float] = {}  # monotonic seconds, by tab
        self._cost = 0.0

    def note(self, tab: str, seconds: float) -> None:
        """Count a refresh of a tab, by the CPU time that it took.

        Parameters
        ----------
        tab
            Id of the tab.
        seconds
            Of CPU time.
        """
        now = self._clock()
        with self._lock:
            if tab in self._last_refresh:  # its first refresh loads what is cached then
                self._cost = self._cost + WEIGHT * (seconds - self._cost) if self._cost else seconds
            self._last_refresh[tab] = now
            self._last_refresh = {one: then for one, then in self._last_refresh.items() if now - then < GONE_SECONDS}

    @contextmanager
    def counted(self, tab: str) -> Iterator[None]:
        """Count what is done inside, in this thread, as a refresh of that tab."""
        begin = time.thread_time()
        try:
            yield
        finally:
            self.note(tab, time.thread_time() - begin)

    def interval(self, every: float) -> float:
        """Return the seconds from one refresh to the next: `every`, or more where there are many tabs."""
        with self._lock:
            interval = (len(self._last_refresh) - 1) * self._cost / SHARE
        return max(every, min(interval, SLOWEST))

    def has_changed(self, current: float, every: float) -> bool:
        """Whether a page that refreshes at `current` seconds should do so at another one.

        To change it, all of the page is made anew, which costs several refreshes: so only where it is far off.

        Parameters
        ----------
        current
            Seconds between its refreshes now.
        every
            Seconds where it is alone.
        """
        interval = self.interval(every)
        return interval > MUCH * current or interval < current / MUCH


MUCH = 2.5
"""How many times as long, or as short, an interval has to be before a page gets another one."""

pace: PerProcess[Pace] = PerProcess(Pace)
"""That of this process."""

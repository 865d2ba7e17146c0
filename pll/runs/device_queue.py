"""Queue for the devices: one owner computes on a device at a time, the others wait in order of priority."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from itertools import takewhile

from pll.training.devices import freest


@dataclass(frozen=True)
class Place:
    """What an owner waits for.

    Attributes
    ----------
    owner
        Who waits; in one place at a time.
    devices
        Names, of which one is enough: the one with the most free memory is given.
    priority
        The lower, the sooner.
    most
        How many are given at most: further ones that nobody else waits for.
    whole
        All of them are needed, and given at once.
    """

    owner: str
    devices: tuple[str, ...]
    priority: int = 0
    most: int = 1
    whole: bool = False

    @property
    def needed(self) -> int:
        """How many must be free."""
        return len(self.devices) if self.whole else 1


class DeviceQueue:
    """Priority queue: lower numbers first, first come first served among equals."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._holder: dict[str, str] = {}
        self._waiting: list[Place] = []

    def join(self, place: Place) -> None:
        """Take a place now for a later `acquire`, since the order in which threads start is not fixed."""
        with self._changed:
            if self.position(place.owner) is None:
                self._waiting.append(place)
                self._waiting.sort(key=lambda one: one.priority)  # stable: equals stay in the order in which they came

    def acquire(self, place: Place, cancelled: Callable[[], bool]) -> tuple[str, ...]:
        """Wait until the owner may compute, and return on which devices.

        Parameters
        ----------
        place
            Which is taken now, where the owner did not `join` before.
        cancelled
            Asked while waiting.

        Returns
        -------
        tuple of str
            () if `cancelled` became true first (see `wake`).
        """
        with self._changed:
            self.join(place)
            self._changed.wait_for(lambda: cancelled() or len(self._free(place)) >= place.needed)
            given = () if cancelled() else place.devices if place.whole else self._freest(place)
            self._leave(place.owner)
            self._holder |= dict.fromkeys(given, place.owner)
            return given

    def release(self, owner: str) -> None:
        """Free the devices that `owner` holds, and its place, if any, for the next one."""
        with self._changed:
            self._holder = {device: holder for device, holder in self._holder.items() if holder != owner}
            self._leave(owner)

    def wake(self) -> None:
        """Make all waiting owners check `cancelled` again."""
        with self._changed:
            self._changed.notify_all()

    def position(self, owner: str) -> int | None:
        """Return how many must end before `owner` begins; 0 where it is next; None where it does not wait."""
        with self._changed:
            own = next((place for place in self._waiting if place.owner == owner), None)
            if own is None:
                return None
            rivals = sum(not set(own.devices).isdisjoint(other.devices) for other in self._before(owner))
            holders = [self._holder[device] for device in own.devices if device in self._holder]
            if own.needed == len(own.devices):
                return rivals + len({*holders})  # one may have several
            return max(0, rivals + own.needed - len(own.devices) + len(holders))

    def _before(self, owner: str) -> list[Place]:
        return list(takewhile(lambda place: place.owner != owner, self._waiting))

    def _leave(self, owner: str) -> None:
        self._waiting = [place for place in self._waiting if place.owner != owner]
        self._changed.notify_all()

    def _free(self, place: Place) -> list[str]:
        """Return the devices that a waiting owner may have now: nobody has them, or waits for them before it."""
        taken = {*self._holder, *(device for other in self._before(place.owner) for device in other.devices)}
        return [device for device in place.devices if device not in taken]

    def _freest(self, place: Place) -> tuple[str, ...]:
        """Return so many of its free devices at most: the freest, and further ones that nobody else waits for."""
        wanted = {device for other in self._waiting if other.owner != place.owner for device in other.devices}
        free, given = self._free(place), list[str]()
        while free and len(given) < place.most:
            given.append(freest(free))
            free = [device for device in free if device not in (*given, *wanted)]
        return tuple(given)

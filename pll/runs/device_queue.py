"""Queue for the devices: one owner computes on a device at a time, the others wait in order of priority."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from pll.training.devices import freest


@dataclass(order=True)
class _Ticket:
    priority: int
    number: int
    owner: str = field(compare=False)
    devices: tuple[str, ...] = field(compare=False)


class DeviceQueue:
    """Priority queue: lower numbers first, first come first served among equals.

    An owner names every device that it can compute on, and gets the first that is free; of several, the one with the
    most free memory. It may take more where nobody wants them.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._holder: dict[str, str] = {}
        self._waiting: list[_Ticket] = []
        self._number = 0

    def join(self, devices: Sequence[str], owner: str, *, priority: int = 0) -> None:
        """Take a place now for a later `acquire`, since the order in which threads start is not fixed.

        Parameters
        ----------
        devices
            Names, of which one is enough.
        owner
            Who waits.
        priority
            The higher, the sooner.
        """
        with self._changed:
            self._ticket(devices, owner, priority)

    def leave(self, owner: str) -> None:
        """Give up an unused place."""
        with self._changed:
            self._waiting = [ticket for ticket in self._waiting if ticket.owner != owner]
            self._changed.notify_all()

    def acquire(
        self, devices: Sequence[str], owner: str, *, cancelled: Callable[[], bool], priority: int = 0
    ) -> str | None:
        """Wait until `owner` may compute, and return on which device.

        Parameters
        ----------
        devices, owner, priority
            As for `join`.
        cancelled
            Asked while waiting.

        Returns
        -------
        str or None
            None if `cancelled` became true first (see `wake`).
        """
        with self._changed:
            ticket = self._ticket(devices, owner, priority)
            try:
                self._changed.wait_for(lambda: cancelled() or self._free(ticket))
                if cancelled():
                    return None
                device = freest(self._free(ticket))
                self._holder[device] = owner
                return device
            finally:
                self._waiting.remove(ticket)
                self._changed.notify_all()

    def more(self, devices: Sequence[str], owner: str, most: int) -> list[str]:
        """Return further devices that an owner has from now on, the freest first: nobody has them, or waits for them.

        Parameters
        ----------
        devices
            Names.
        owner
            Who has one already.
        most
            How many, at most.
        """
        with self._changed:
            taken = {*self._holder, *(device for ticket in self._waiting for device in ticket.devices)}
            free, given = [device for device in devices if device not in taken], list[str]()
            while free and len(given) < most:
                given.append(freest(free))
                free.remove(given[-1])
                self._holder[given[-1]] = owner
            return given

    def _free(self, ticket: _Ticket) -> list[str]:
        """Return the devices that a waiting owner may have now: nobody has them, or waits for them before it."""
        taken = set(self._holder)
        for other in self._waiting:
            if other is ticket:
                break
            taken |= set(other.devices)
        return [device for device in ticket.devices if device not in taken]

    def _ticket(self, devices: Sequence[str], owner: str, priority: int) -> _Ticket:
        """Return the place of `owner` in the queue; a new one at its priority where there is none yet."""
        for ticket in self._waiting:
            if ticket.owner == owner:
                return ticket
        self._number += 1
        ticket = _Ticket(priority, self._number, owner, tuple(devices))
        self._waiting.append(ticket)
        self._waiting.sort()
        return ticket

    def release(self, owner: str) -> None:
        """Free the device that `owner` holds, if any, for the next one."""
        with self._changed:
            for device in [device for device, holder in self._holder.items() if holder == owner]:
                del self._holder[device]
            self._changed.notify_all()

    def wake(self) -> None:
        """Make all waiting owners check `cancelled` again."""
        with self._changed:
            self._changed.notify_all()

    def position(self, owner: str) -> int | None:
        """Return how many must end before `owner` begins; 0 where it is next; None where it does not wait."""
        with self._changed:
            own = next((ticket for ticket in self._waiting if ticket.owner == owner), None)
            if own is None:
                return None
            before = self._waiting[: self._waiting.index(own)]
            rivals = sum(not set(own.devices).isdisjoint(other.devices) for other in before)
            free = sum(device not in self._holder for device in own.devices)
            return max(0, rivals + 1 - free)

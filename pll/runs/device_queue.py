"""Queue for each device: one owner computes at a time, the others wait in order of priority."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(order=True)
class _Ticket:
    priority: int
    number: int
    owner: str = field(compare=False)


class DeviceQueue:
    """Priority queue for every device: lower numbers first, first come first served among equals."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._holder: dict[str, str] = {}
        self._waiting: dict[str, list[_Ticket]] = {}
        self._number = 0

    def join(self, device: str, owner: str, *, priority: int = 0) -> None:
        """Take a place now for a later `acquire`, since the order in which threads start is not fixed."""
        with self._changed:
            self._ticket(device, owner, priority)

    def leave(self, device: str, owner: str) -> None:
        """Give up an unused place."""
        with self._changed:
            line = self._waiting.get(device, [])
            line[:] = [ticket for ticket in line if ticket.owner != owner]
            self._changed.notify_all()

    def acquire(self, device: str, owner: str, *, cancelled: Callable[[], bool], priority: int = 0) -> bool:
        """Wait until `owner` may compute on the device; return False if `cancelled` became true first (see `wake`)."""
        with self._changed:
            ticket = self._ticket(device, owner, priority)
            line = self._waiting[device]
            try:
                self._changed.wait_for(lambda: cancelled() or (line[0] is ticket and device not in self._holder))
                if cancelled():
                    return False
                self._holder[device] = owner
                return True
            finally:
                line.remove(ticket)
                self._changed.notify_all()

    def _ticket(self, device: str, owner: str, priority: int) -> _Ticket:
        """Return the place of `owner` in the queue; a new one at its priority where there is none yet."""
        line = self._waiting.setdefault(device, [])
        for ticket in line:
            if ticket.owner == owner:
                return ticket
        self._number += 1
        ticket = _Ticket(priority, self._number, owner)
        line.append(ticket)
        line.sort()
        return ticket

    def release(self, device: str, owner: str) -> None:
        """Free the device for the next owner; does nothing where `owner` does not hold it."""
        with self._changed:
            if self._holder.get(device) == owner:
                del self._holder[device]
                self._changed.notify_all()

    def wake(self) -> None:
        """Make all waiting owners check `cancelled` again."""
        with self._changed:
            self._changed.notify_all()

    def position(self, device: str, owner: str) -> int | None:
        """Return how many come before `owner`, the one at work included; None where it does not wait."""
        with self._changed:
            line = [ticket.owner for ticket in self._waiting.get(device, [])]
            return None if owner not in line else line.index(owner) + (device in self._holder)

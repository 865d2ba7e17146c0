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
    """A line for every device. The lower the priority number, the sooner; first come first served among equals."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._holder: dict[str, str] = {}
        self._waiting: dict[str, list[_Ticket]] = {}
        self._number = 0

    def join(self, device: str, owner: str, *, priority: int = 0) -> None:
        """Take a place in the line now, for an `acquire` that comes later: threads do not begin in a fixed order."""
        with self._changed:
            self._ticket(device, owner, priority)

    def leave(self, device: str, owner: str) -> None:
        """Give up a place that was taken and not used."""
        with self._changed:
            line = self._waiting.get(device, [])
            line[:] = [ticket for ticket in line if ticket.owner != owner]
            self._changed.notify_all()

    def acquire(self, device: str, owner: str, *, cancelled: Callable[[], bool], priority: int = 0) -> bool:
        """Wait until `owner` may compute on the device; False if `cancelled` came true first (see `wake`)."""
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
        """The place `owner` has in the line; the last one where it has none yet."""
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
        """Let the next one in; nothing happens where `owner` does not hold the device."""
        with self._changed:
            if self._holder.get(device) == owner:
                del self._holder[device]
                self._changed.notify_all()

    def wake(self) -> None:
        """Have everybody who waits look again whether they were cancelled."""
        with self._changed:
            self._changed.notify_all()

    def position(self, device: str, owner: str) -> int | None:
        """How many come before `owner` on the device, the one at work included; None where it does not wait."""
        with self._changed:
            line = [ticket.owner for ticket in self._waiting.get(device, [])]
            return None if owner not in line else line.index(owner) + (device in self._holder)

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from pll.runs.device_queue import DeviceQueue
from tests.run_helpers import wait_for


class Line:
    """Threads that wait in a queue, and who came in, in order."""

    def __init__(self) -> None:
        self.queue = DeviceQueue()
        self.entered: list[str] = []
        self.refused: list[str] = []
        self.gone: set[str] = set()
        self.threads: list[threading.Thread] = []

    def join(self, owner: str, device: str = "cpu", priority: int = 0) -> None:
        """Begin to wait; returns once it does, or is in."""

        def wait() -> None:
            came_in = self.queue.acquire(device, owner, cancelled=lambda: owner in self.gone, priority=priority)
            (self.entered if came_in else self.refused).append(owner)

        thread = threading.Thread(target=wait)
        self.threads.append(thread)
        thread.start()
        wait_for(
            lambda: owner in self.entered + self.refused or self.queue.position(device, owner) is not None, "a place"
        )

    def leave(self, owner: str) -> None:
        self.gone.add(owner)
        self.queue.wake()


@pytest.fixture
def line() -> Iterator[Line]:
    line = Line()
    yield line
    line.gone.update(f"{k}" for k in range(100))
    for thread in line.threads:
        line.queue.wake()
        thread.join(10)
        assert not thread.is_alive()


def test_a_place_may_be_taken_before_the_wait_begins(line: Line) -> None:
    line.queue.join("cpu", "1")
    line.join("2")
    assert line.entered == []  # the device is free, and it is not 2's turn
    line.join("1")
    wait_for(lambda: line.entered == ["1"], "1")
    line.queue.release("cpu", "1")
    wait_for(lambda: line.entered == ["1", "2"], "2")


def test_the_lower_the_number_the_sooner(line: Line) -> None:
    line.join("1")
    line.join("2", priority=5)
    line.join("3", priority=-1)
    line.join("4", priority=5)
    assert [line.queue.position("cpu", owner) for owner in "324"] == [1, 2, 3]
    for owner in "1324":
        wait_for(lambda: line.entered[-1:] == [owner], owner)  # noqa: B023
        line.queue.release("cpu", owner)


def test_whoever_gives_up_leaves_the_line_and_nothing_else(line: Line) -> None:
    for owner in "123":
        line.join(owner)
    line.leave("2")
    wait_for(lambda: line.refused == ["2"], "the refusal")
    assert line.queue.position("cpu", "3") == 1
    line.queue.release("cpu", "1")
    wait_for(lambda: line.entered == ["1", "3"], "3")


def test_never_two_at_once() -> None:
    queue, guard = DeviceQueue(), threading.Lock()
    inside, most, turns = [0], [0], [0]

    def work(owner: str) -> None:
        for _ in range(20):
            assert queue.acquire("cpu", owner, cancelled=lambda: False)
            with guard:
                inside[0] += 1
                most[0] = max(most[0], inside[0])
                turns[0] += 1
            with guard:
                inside[0] -= 1
            queue.release("cpu", owner)

    threads = [threading.Thread(target=work, args=(str(k),)) for k in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert (most[0], turns[0]) == (1, 100)

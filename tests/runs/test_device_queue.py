from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest

from pll.runs.device_queue import DeviceQueue, Place
from pll.training import devices
from tests.run_helpers import wait_for


class Line:
    """Threads that wait in a queue, and who came in, in order."""

    def __init__(self) -> None:
        self.queue = DeviceQueue()
        self.entered: list[str] = []
        self.refused: list[str] = []
        self.got: dict[str, str] = {}
        self.gone: set[str] = set()
        self.threads: list[threading.Thread] = []

    def join(self, owner: str, devices: tuple[str, ...] = ("cpu",), **how: Any) -> None:
        """Begin to wait; returns once it does, or is in."""

        def wait() -> None:
            came_in = self.queue.acquire(Place(owner, devices, **how), lambda: owner in self.gone)
            if not came_in:
                self.refused.append(owner)
            else:
                self.got[owner] = ",".join(came_in)
                self.entered.append(owner)

        thread = threading.Thread(target=wait)
        self.threads.append(thread)
        thread.start()
        wait_for(lambda: owner in self.entered + self.refused or self.queue.position(owner) is not None, "a place")

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
    line.queue.join(Place("1", ("cpu",)))
    line.join("2")
    assert line.entered == []  # the device is free, and it is not 2's turn
    line.join("1")
    wait_for(lambda: line.entered == ["1"], "1")
    line.queue.release("1")
    wait_for(lambda: line.entered == ["1", "2"], "2")


def test_the_lower_the_number_the_sooner(line: Line) -> None:
    line.join("1")
    line.join("2", priority=5)
    line.join("3", priority=-1)
    line.join("4", priority=5)
    assert [line.queue.position(owner) for owner in "324"] == [1, 2, 3]
    for owner in "1324":
        wait_for(lambda: line.entered[-1:] == [owner], owner)  # noqa: B023
        line.queue.release(owner)


def test_whoever_gives_up_leaves_the_line_and_nothing_else(line: Line) -> None:
    for owner in "123":
        line.join(owner)
    line.leave("2")
    wait_for(lambda: line.refused == ["2"], "the refusal")
    assert line.queue.position("3") == 1
    line.queue.release("1")
    wait_for(lambda: line.entered == ["1", "3"], "3")


def test_never_two_at_once() -> None:
    queue, guard = DeviceQueue(), threading.Lock()
    inside, most, turns = [0], [0], [0]

    def work(owner: str) -> None:
        for _ in range(20):
            assert queue.acquire(Place(owner, ("cpu",)), lambda: False)
            with guard:
                inside[0] += 1
                most[0] = max(most[0], inside[0])
                turns[0] += 1
            with guard:
                inside[0] -= 1
            queue.release(owner)

    threads = [threading.Thread(target=work, args=(str(k),)) for k in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert (most[0], turns[0]) == (1, 100)


class TestSeveralDevices:
    TWO = ("cuda:0", "cuda:1")

    @pytest.fixture(autouse=True)
    def memory(self, monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
        free = {"cuda:0": 3, "cuda:1": 20}
        monkeypatch.setattr(devices, "memory_of", lambda name: devices.Memory(free[name], 24))
        return free

    def test_the_first_gets_the_one_with_the_most_free_memory_and_nobody_waits_while_one_is_free(
        self, line: Line
    ) -> None:
        for owner in "123":
            line.join(owner, self.TWO)
        assert line.got == {"1": "cuda:1", "2": "cuda:0"}
        assert line.queue.position("3") == 1
        line.queue.release("2")
        wait_for(lambda: line.got.get("3") == "cuda:0", "the one that is free again")

    def test_whoever_must_have_one_does_not_lose_it_to_those_who_come_later(self, line: Line) -> None:
        line.join("1", self.TWO)  # has cuda:1
        line.join("2", ("cuda:1",))
        line.join("3", self.TWO)
        line.join("4", self.TWO)
        assert line.got == {"1": "cuda:1", "3": "cuda:0"}
        assert [line.queue.position(owner) for owner in "24"] == [1, 2]
        line.queue.release("1")
        wait_for(lambda: line.got.get("2") == "cuda:1", "2")
        line.queue.release("2")
        wait_for(lambda: line.got.get("4") == "cuda:1", "4")

    def test_several_are_given_at_once_unless_somebody_waits_for_them(self, line: Line, memory: dict[str, int]) -> None:
        memory["cuda:2"] = 9
        three = ("cuda:0", "cuda:1", "cuda:2")
        line.join("1", ("cuda:1",))
        line.join("2", ("cuda:1",))  # waits
        line.join("3", three, most=3)
        assert line.got == {"1": "cuda:1", "3": "cuda:2,cuda:0"}
        for owner in "13":
            line.queue.release(owner)
        wait_for(lambda: line.got.get("2") == "cuda:1", "2")
        line.join("4", three, most=1)
        assert line.got["4"] == "cuda:2"

    def test_who_must_have_all_gets_them_at_once_or_none(self, line: Line) -> None:
        line.join("1", ("cuda:1",))
        line.join("2", self.TWO, whole=True)
        line.join("3", ("cuda:0",))  # free, and 2 waits for it
        assert line.got == {"1": "cuda:1"}
        assert [line.queue.position(owner) for owner in "23"] == [1, 1]
        line.queue.release("1")
        wait_for(lambda: line.got.get("2") == "cuda:0,cuda:1", "both")
        line.join("4", self.TWO, whole=True)
        assert line.queue.position("4") == 2  # 2, which has both, and 3
        line.queue.release("2")
        wait_for(lambda: line.got.get("3") == "cuda:0", "3")

    def test_whoever_gives_up_a_place_that_was_taken_before_the_wait_lets_others_in(self, line: Line) -> None:
        line.queue.join(Place("1", ("cuda:0",)))
        line.join("2", ("cuda:0",))
        assert line.got == {}
        line.queue.release("1")
        wait_for(lambda: line.got.get("2") == "cuda:0", "2")

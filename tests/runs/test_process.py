from __future__ import annotations

import threading

import pytest

from pll.runs.background import default_board
from pll.runs.process import PerProcess
from pll.runs.registry import default_registry


def test_threads_that_ask_at_once_get_one_object() -> None:
    made: list[object] = []
    together = threading.Barrier(8)

    def make() -> object:
        made.append(object())
        return made[-1]

    shared, found = PerProcess(make), []

    def ask() -> None:
        together.wait(10)
        found.append(shared())

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert len(made) == 1 and len(found) == 8 and set(found) == set(made)


def test_what_could_not_be_made_is_tried_again() -> None:
    answers = iter([ValueError("not yet"), None])

    def make() -> str:
        if (error := next(answers)) is not None:
            raise error
        return "made"

    shared = PerProcess(make)
    with pytest.raises(ValueError, match="not yet"):
        shared()
    assert shared() == "made"


def test_a_test_can_begin_as_a_new_process_does() -> None:
    registry, board = default_registry(), default_board()
    assert registry is default_registry() and board is default_board()
    PerProcess.forget_all()
    assert registry is not default_registry() and board is not default_board()
    PerProcess.forget_all()

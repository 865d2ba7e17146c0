"""The queue's background work."""

from __future__ import annotations

import threading
from typing import Any, cast

import pytest
import torch
from threadpoolctl import threadpool_info

from pll.review import queue as queues
from tests.run_helpers import wait_for


def test_limits_of_threads_hold_for_the_background_work_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """With one thread BLAS computes other last digits, and slower: whoever trains or makes features must not notice."""
    monkeypatch.setattr(queues, "Retraining", lambda review, runs: None)
    queue = queues.ReviewQueue(cast(Any, None), cast(Any, None))
    begun, seen, go_on = threading.Event(), list[int](), threading.Event()

    def work() -> None:
        seen.append(torch.get_num_threads())
        begun.set()
        go_on.wait(30)

    def limits() -> list[tuple[str, int]]:
        return [(pool["filepath"], pool["num_threads"]) for pool in threadpool_info()]

    before = limits(), torch.get_num_threads()
    queue._in_background(work)
    assert begun.wait(30) and seen == [1]
    during = limits(), torch.get_num_threads()
    go_on.set()
    assert queue._job is not None
    wait_for(lambda: queue._job is not None and queue._job.status().state != "working", "the end of the work")
    assert before == during == (limits(), torch.get_num_threads())

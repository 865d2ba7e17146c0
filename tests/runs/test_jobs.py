"""Work in the background: watched, stopped, shared, and never in anybody's way."""

from __future__ import annotations

import threading

import pytest

from pll.errors import UserError
from pll.io import Progress
from pll.runs import jobs
from pll.runs.jobs import Job, JobBoard


def test_a_job_says_how_far_it_is_and_gives_its_result() -> None:
    half, go_on = threading.Event(), threading.Event()

    def work(report: Progress) -> str:
        report("rows", 5, 10)
        half.set()
        assert go_on.wait(10)
        report("rows", 10, 10)
        return "read"

    job = Job(work)
    assert half.wait(10)
    standing = job.status()
    assert (standing.state, standing.what, standing.done, standing.total, standing.share) == (
        "working", "rows", 5, 10, 0.5,
    )  # fmt: skip
    with pytest.raises(UserError, match="not finished"):
        job.result()
    go_on.set()
    assert job.wait(10) and job.result() == "read" and job.status().state == "done"


def test_a_job_stops_at_its_next_report_and_leaves_no_result() -> None:
    began, stopped = threading.Event(), threading.Event()
    done: list[int] = []

    def work(report: Progress) -> None:
        began.set()
        assert stopped.wait(10)
        for k in range(3):
            report("rows", k, None)
            done.append(k)

    job = Job(work)
    assert began.wait(10)
    job.stop()
    stopped.set()
    assert job.wait(10) and job.status().state == "stopped" and not done
    with pytest.raises(UserError, match="stopped"):
        job.result()


@pytest.mark.parametrize(
    ("raised", "said"),
    [
        (UserError("Row 3 is bad."), "Row 3 is bad."),
        (MemoryError(), "out of memory"),
        (ValueError("odd"), "ValueError: odd"),
    ],
)
def test_what_goes_wrong_is_said_in_words(raised: Exception, said: str) -> None:
    def work(report: Progress) -> None:
        raise raised

    job = Job(work)
    assert job.wait(10) and job.status().state == "failed" and said in job.status().error
    with pytest.raises(UserError, match=said):
        job.result()


def test_an_error_that_the_user_can_mend_is_kept_without_what_was_read() -> None:
    def work(report: Progress) -> None:
        try:
            raise KeyError("cell")
        except KeyError as cause:
            raise UserError("Odd.", kind="odd", page="Press a button.", shell="--accept odd") from cause

    job = Job(work)
    assert job.wait(10)
    kept = job.status().failure
    assert kept is not None and (kept.kind, kept.page, kept.shell) == ("odd", "Press a button.", "--accept odd")
    assert (kept.__traceback__, kept.__cause__, kept.__context__) == (None, None, None)
    with pytest.raises(UserError) as caught:
        job.result()
    assert caught.value is kept


def test_who_wants_the_same_shares_one_job_and_results_do_not_pile_up() -> None:
    board, began = JobBoard(), []

    def work(report: Progress) -> int:
        began.append(1)
        return len(began)

    first = board.start("a", work)
    assert board.start("a", work) is first and first.wait(10) and len(began) == 1
    board.forget("a")
    assert board.get("a") is None
    for k in range(3 * jobs.MOST_ENDED):
        assert board.start(f"job {k}", work).wait(10)
    assert sum(board.get(f"job {k}") is not None for k in range(3 * jobs.MOST_ENDED)) <= jobs.MOST_ENDED + 1

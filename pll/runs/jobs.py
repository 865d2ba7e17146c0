"""Background jobs: reading a large file, a download, a classifier, the order of a review, an experiment.

A job runs in a thread of its own, may call its `report` with its progress, and can be stopped then; pages read
immutable statuses. Training has queues and folders of its own (`pll.runs.run`).
"""

from __future__ import annotations

import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

from pll.errors import UserError, explain
from pll.io import Progress
from pll.runs.process import PerProcess

_LOG = logging.getLogger(__name__)
JobState = Literal["working", "done", "failed", "stopped"]

JOBS_AT_ONCE = 2
"""Jobs at work at a time, the others wait: each may need a core and the memory of a data set."""
MOST_ENDED = 2
"""Number of ended jobs whose result waits to be taken."""


class Stopped(Exception):
    """Raised by `report` inside the work after a request to stop."""


@dataclass(frozen=True)
class JobStatus:
    """Progress of a job at one moment.

    Attributes
    ----------
    what
        What is counted, such as `"bytes"`; empty before the first report.
    done, total
        How many; total is None where it is not known.
    rate
        Units per second in the current stage; None before it is known.
    error
        Message, for the states `failed` and `stopped`.
    failure
        The error itself, where the user can mend it.
    """

    state: JobState
    what: str = ""
    done: int = 0
    total: int | None = None
    rate: float | None = None
    error: str = ""
    failure: UserError | None = None

    @property
    def share(self) -> float:
        """Share that is done, 0-1; 0 where the total is not known."""
        return min(1.0, self.done / self.total) if self.total else 0.0

    @property
    def seconds_left(self) -> float | None:
        """Estimated seconds to the end of the current stage; None where not known."""
        if self.total is None or not self.rate:
            return None
        return max(0.0, (self.total - self.done) / self.rate)


def bare(error: UserError) -> UserError:
    """Return the error without its traceback and causes, whose frames hold what was read."""
    error.__cause__ = error.__context__ = None
    return error.with_traceback(None)


class Job:
    """Background job in a thread of its own.

    Parameters
    ----------
    work
        Called with `report`, which raises `Stopped` to stop it.
    turn
        Semaphore that is held while it works.
    """

    def __init__(self, work: Callable[[Progress], Any], turn: threading.Semaphore | None = None) -> None:
        self._work = work
        self._turn = turn or threading.Semaphore()
        self._stop = threading.Event()
        self._ended = threading.Event()
        self._status = JobStatus("working")
        self._result: Any = None
        self._stage_began = time.monotonic()
        self._stage_from = 0
        threading.Thread(target=self._run, name="candid-job", daemon=True).start()

    def status(self) -> JobStatus:
        """Return the current status."""
        return self._status

    def stop(self) -> None:
        """Request a stop; the job ends at its next report."""
        self._stop.set()

    def wait(self, seconds: float) -> bool:
        """Wait at most so many seconds for the end; return whether the job has ended."""
        return self._ended.wait(seconds)

    def result(self) -> Any:
        """Return the result of the work.

        Raises
        ------
        UserError
            It failed, was stopped, or is still at work.
        """
        if self._status.state != "done":
            raise self._status.failure or UserError(self._status.error or "This is not finished yet; wait a moment.")
        return self._result

    def _run(self) -> None:
        with self._turn:
            try:
                self._report("", 0, None)
                self._result = self._work(self._report)
                self._end("done")
            except Stopped:
                self._end("stopped", "It was stopped before its end.")
            except (UserError, OSError) as error:
                _LOG.warning("A background job failed: %s", explain(error))
                self._end("failed", explain(error), bare(error) if isinstance(error, UserError) else None)
            except MemoryError:
                self._end("failed", "The machine ran out of memory. Bring a smaller file, or fewer features.")
            except Exception as error:  # no other code sees an exception of this thread
                _LOG.exception("A background job failed.")
                self._end("failed", f"Something went wrong that should not have: {type(error).__name__}: {error}.")

    def _report(self, what: str, done: int, total: int | None) -> None:
        if self._stop.is_set():
            raise Stopped
        now = time.monotonic()
        if what != self._status.what or done < self._status.done:
            self._stage_began, self._stage_from = now, done
        spent = now - self._stage_began
        rate = (done - self._stage_from) / spent if spent > 0.2 else None
        self._status = JobStatus("working", what, done, total, rate)

    def _end(self, state: JobState, error: str = "", failure: UserError | None = None) -> None:
        self._status = replace(self._status, state=state, error=error, failure=failure)
        self._ended.set()


class JobBoard:
    """The jobs of a process by key; sessions with the same key share a job."""

    def __init__(self) -> None:
        self._jobs: OrderedDict[str, Job] = OrderedDict()
        self._lock = threading.Lock()
        self._turn = threading.Semaphore(JOBS_AT_ONCE)

    def get(self, key: str) -> Job | None:
        """Return the job of that key, or None."""
        with self._lock:
            return self._jobs.get(key)

    def start(self, key: str, work: Callable[[Progress], Any], *, waits: bool = True) -> Job:
        """Return the job of that key; start a new one where there is none.

        Parameters
        ----------
        key
            Of the job.
        work
            What to do.
        waits
            Wait while `JOBS_AT_ONCE` others are at work, and count as one of them.
        """
        with self._lock:
            job = self._jobs.get(key)
            if job is None:
                self._forget_old()
                job = self._jobs[key] = Job(work, self._turn if waits else None)
            return job

    def forget(self, key: str) -> None:
        """Remove a job, and stop it where it is still at work."""
        with self._lock:
            job = self._jobs.pop(key, None)
        if job is not None:
            job.stop()

    def stop_all(self, patience: float = 2.0) -> None:
        """Stop every job and wait at most `patience` seconds for them, so that they remove half-written files."""
        with self._lock:
            jobs = list(self._jobs.values())
            self._jobs.clear()
        for job in jobs:
            job.stop()
        until = time.monotonic() + patience
        for job in jobs:
            job.wait(max(0.0, until - time.monotonic()))

    def _forget_old(self) -> None:
        ended = [key for key, job in self._jobs.items() if job.status().state != "working"]
        for key in ended[: max(0, len(ended) - MOST_ENDED + 1)]:
            del self._jobs[key]


default_board = PerProcess(JobBoard)
"""Return the jobs of this process."""

"""A run: one or more lanes that are trained together in a thread, paused, stepped and stopped.

A lane is one method on the data: a folder with its settings, epochs and result, trained an epoch at a time by
`pll.runs.fit_loop`. A run of one lane is its folder. A comparison is a run of several lanes that share the data, the
candidate sets, the seed and, unless a lane has its own, the settings; beside the folders of its lanes it has one of
its own with one file, `comparison.json`. A comparison of finished runs lays these side by side and trains nothing.

Pages read snapshots (`pll.runs.snapshots`).
"""

from __future__ import annotations

import json
import threading
import time
import traceback
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from pll.analysis.health import Health
from pll.errors import UserError, explain
from pll.io import write_json, writing_to
from pll.runs.config import RunConfig
from pll.runs.device_queue import DeviceQueue
from pll.runs.folder import OUTSIDE_FILE, RunFolder, State, checked_name
from pll.runs.snapshots import ACTIVE, LaneSnapshot, Snapshot, joint_state, seconds_left
from pll.training.devices import computing_threads, device_name
from pll.training.metrics import EpochRecord, StopTraining, TrainingProgress

if TYPE_CHECKING:
    from pll.analysis.protocol import Splits
    from pll.methods import PartialLabelEstimator
    from pll.runs.fit_loop import FitLoop, RunOutcome

T = TypeVar("T")
MOST_LANES = 5
"""Maximum number of lanes of a comparison."""
LANES_FILE = "comparison.json"


@dataclass(frozen=True)
class LaneList:
    """Content of comparison.json.

    Attributes
    ----------
    runs
        Ids of the lanes, in order.
    together
        Whether they are trained together; otherwise they are finished runs shown side by side.
    name
        Display name.
    created
        Time of creation, ISO 8601 in UTC.
    """

    runs: tuple[str, ...]
    together: bool
    name: str = ""
    created: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="microseconds"))

    def write(self, folder: Path) -> None:
        """Write comparison.json into its folder, which is created if missing.

        Raises
        ------
        UserError
            The disk is full, or the folder cannot be written to.
        """
        with writing_to(folder):
            write_json(folder / LANES_FILE, asdict(self))

    @classmethod
    def read(cls, folder: Path) -> LaneList:
        """Read comparison.json, the inverse of `write`.

        Raises
        ------
        UserError
            The file is damaged.
        """
        try:
            content = json.loads((folder / LANES_FILE).read_text(encoding="utf-8"))
            runs = tuple(str(run) for run in content["runs"])
            return cls(runs, bool(content["together"]), str(content["name"]), str(content["created"]))
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise UserError(f"{folder / LANES_FILE} cannot be read ({error}); start a new comparison.") from error


class Lane:
    """One method of a run, alive or only on disk: its folder, its data, and its training while it is at work.

    Parameters
    ----------
    folder
        Created by `RunFolder.create`; its name is the lane's id.
    free_memory
        Called after its data was read; may free the data of other lanes.

    Attributes
    ----------
    is_over
        Whether there is nothing left to train: finished, stopped or failed.
    record
        The last record; None where it is not at work.
    moment
        Progress within its epoch, while paused there.
    error
        Message, where it failed in this process.
    data_used_at
        When its data was asked for last, on the monotonic clock.
    """

    def __init__(self, folder: RunFolder, free_memory: Callable[[], None] = lambda: None) -> None:
        self.id = folder.path.name
        self.folder = folder
        self.is_over = False
        self.record: EpochRecord | None = None
        self.moment: TrainingProgress | None = None
        self.error: str | None = None
        self.data_used_at = 0.0
        self._total: int | None = None
        self._rows: list[dict[str, Any]] = []
        self._free_memory = free_memory
        self._loading = threading.Lock()
        self._splits: Splits | None = None
        self._lock: RunFolder | None = None
        self._loop: FitLoop | None = None
        self._epochs: Generator[EpochRecord, None, RunOutcome] | None = None

    @cached_property
    def config(self) -> RunConfig:
        """The config that the lane was started with."""
        return self.folder.config()

    def forget_config(self) -> None:
        """Read config.json again when it is next needed."""
        vars(self).pop("config", None)

    # ---- its data ------------------------------------------------------------------------------------------------

    def splits(self) -> Splits:
        """Return the data, read again where it is not in memory.

        Raises
        ------
        UserError
            The source is missing or has changed.
        """
        from pll.runs.run_data import splits_of  # late: the home page reads no data

        self.data_used_at = time.monotonic()
        with self._loading:  # thread and page need it at about the same time
            data = self._splits
            if data is None:
                data = self._splits = splits_of(self.folder)
        self._free_memory()
        return data

    @property
    def has_data(self) -> bool:
        """Whether the data is in memory."""
        return self._splits is not None

    @property
    def is_at_work(self) -> bool:
        """Whether a run of this process holds its lock."""
        return self._lock is not None

    def forget_splits(self) -> None:
        """Free the data in memory, unless the lane is at work."""
        if not self.is_at_work:
            self._splits = None

    # ---- at work -------------------------------------------------------------------------------------------------

    @property
    def threads(self) -> int | None:
        """Number of CPU threads for training; None for the default."""
        return self.config.params.get("threads")

    @property
    def epoch(self) -> int:
        """Epochs complete, while it is at work."""
        return int(self._rows[-1]["epoch"]) if self._rows else 0

    @property
    def estimator(self) -> PartialLabelEstimator | None:
        """The method; None before the data is read, and where the lane is not at work."""
        return getattr(self._loop, "estimator", None)

    @property
    def quiet_epochs(self) -> int:
        """Epochs since an identified label last changed, while it is at work."""
        return quiet_epochs(self._rows)

    def lock(self) -> None:
        """Claim the lane for a run of this process.

        Raises
        ------
        UserError
            It has been deleted, or somebody is at work on it.
        """
        lock = RunFolder(self.folder.path)  # an object of its own: a lock is reentrant for the same object
        if not lock.exists():
            raise UserError(f"The run {self.id} has been deleted.")
        lock.lock()
        self._lock = lock

    def unlock(self) -> None:
        """Release the claim."""
        if self._lock is not None:
            self._lock.unlock()
        self._lock = None

    def begin(
        self,
        load: Callable[[], Splits],
        hook: Callable[[], None],
        on_ready: Callable[[], None],
        processes: int,
    ) -> None:
        """Get ready to train; the caller holds the lock.

        Parameters
        ----------
        load
            Returns the data.
        hook
            Called between mini-batches.
        on_ready
            Called once data and estimator exist, before the first epoch.
        processes
            How many train it together.
        """
        from pll.runs.fit_loop import FitLoop  # late: nobody trains yet when the home page is opened

        self._total, self._rows = self.folder.about().get("epochs"), self.folder.metrics()
        self.is_over, self.error = False, None

        def ready(loop: FitLoop) -> None:
            self._total = loop.estimator.total_epochs()
            self._rows = self.folder.metrics()  # a resumed run starts from its checkpoint
            if loop.splits.train.outside is not None:  # with the labels that its method added to the candidate sets
                self._splits = loop.splits
            on_ready()

        self._loop = FitLoop(self.folder, load=load, hook=hook, on_ready=ready, processes=processes)
        self._epochs = self._loop.epochs()

    def train_epoch(self) -> None:
        """Train one epoch; after the last one, write the result too."""
        assert self._epochs is not None
        try:
            record = next(self._epochs)
            self._rows = [*self._rows, record.metrics()]  # a new list: snapshots have the old one
            self.record = record
            if record.epoch == self._total:
                next(self._epochs)
        except StopIteration:
            self.is_over = True
        except UserError as error:  # also written to the folder
            self.is_over, self.error = True, explain(error)

    def stop(self, why: str = "") -> None:
        """Write the result so far; training can continue from there.

        Parameters
        ----------
        why
            The sentence that says why training ended by itself; "" where a user stopped it.
        """
        if self.is_over or self._epochs is None:
            return
        self.is_over = True
        try:
            self._epochs.throw(StopTraining(why))
        except StopTraining:  # training had not begun
            self.folder.set_state("stopped")
        except StopIteration:
            pass
        except UserError as error:
            self.error = explain(error)

    def fail(self, error: Exception) -> None:
        """Write an error to the folder, unless the fit loop has done so, where the folder is writable."""
        from pll.training.distributed import RanksError

        self.error = explain(error)
        with suppress(OSError, UserError):
            if self.folder.state()["state"] != "failed" and not isinstance(error, RanksError):
                self.folder.log("".join(traceback.format_exception(error)))
                self.folder.set_state("failed", error=self.error)

    def end(self) -> None:
        """Free the training state; nothing is written where the lane was interrupted."""
        if self._epochs is not None:
            self._epochs.close()
        self._epochs = self._loop = self.record = self.moment = None

    # ---- snapshots -----------------------------------------------------------------------------------------------

    def snapshot(self, state: State, pace: float = 0.0) -> LaneSnapshot:
        """Return the current state of a lane at work.

        Parameters
        ----------
        state
            Of its run.
        pace
            Seconds that an epoch takes at least.
        """
        record = self.record  # before the rows, which the thread adds to first: they hold the record's epoch
        rows = tuple(dict(row) for row in self._rows)
        return LaneSnapshot(
            id=self.id,
            name=self.config.name or self.config.source.name,
            method=self.config.method,
            state=state,
            total=self._total,
            rows=rows,
            record=record,
            moment=self.moment,
            seconds_left=seconds_left(rows, self._total, pace),
            stage=getattr(self.estimator, "stage_", ""),
        )

    def snapshot_from_disk(self) -> LaneSnapshot:
        """Return the state stored in the folder."""
        config, stored = self.config, self.folder.state()
        state, error = stored["state"], stored.get("error")
        if state == "interrupted" and self.error and not error:  # the failure could not be written to disk
            state, error = "failed", self.error
        total, rows = self.folder.about().get("epochs"), tuple(self.folder.metrics())
        return LaneSnapshot(
            id=self.id,
            name=config.name or config.source.name,
            method=config.method,
            state=state,
            total=total,
            rows=rows,
            seconds_left=seconds_left(rows, total) if state in ACTIVE else None,
            error=error,
            metrics=stored.get("metrics"),
            notes=tuple(stored.get("notes", ())),
            health=Health.from_json(stored.get("health")),
        )


class Run:
    """One or more lanes, alive or only on disk, with one place in the queue.

    The lane with the fewest epochs trains next, so that all lanes reach each epoch together, also after a restart,
    when each continues from its own checkpoint. A lane that fails does not stop the others.

    Parameters
    ----------
    path
        The folder: of the lane, or of the comparison. Its name is the run's id.
    lanes
        At least one.
    queue
        Queue for the devices.
    listed
        Content of comparison.json; None of a run of one lane.

    Attributes
    ----------
    patience
        Epochs without a change of an identified label after which training stops by itself; None for never.
    pace
        Limit of the speed in epochs a second, for display; None for full speed.
    """

    def __init__(self, path: Path, lanes: Sequence[Lane], queue: DeviceQueue, listed: LaneList | None = None) -> None:
        self.id = path.name
        self.path = path
        self.lanes = list(lanes)
        self.listed = listed
        self.patience: int | None = None
        self.pace: float | None = None
        self._queue = queue
        self._priority = 0
        self._guard = threading.Condition()
        self._thread: threading.Thread | None = None
        self._working: list[Lane] = []
        self._locked = ExitStack()
        self._complete = 0
        self._wants: State = "running"
        self._why_stopped = ""
        self._state: State = "queued"
        self._device = ""
        self._error: str | None = None
        self._epochs_left: int | None = None
        self._batches_left: int | None = None
        self._is_over = True
        self._pace = 0.0
        self._next_epoch_at = 0.0
        self._slow_start, self._slow_epochs = 0.0, 0

    # ---- what it is ----------------------------------------------------------------------------------------------

    @property
    def is_comparison(self) -> bool:
        """Whether it was made of several lanes."""
        return self.listed is not None

    @property
    def is_together(self) -> bool:
        """Whether it trains its lanes; otherwise they are finished runs shown side by side."""
        return self.listed is None or self.listed.together

    @property
    def folder(self) -> RunFolder:
        """Folder of the first lane, the only one of a run of one."""
        return self.lanes[0].folder

    @property
    def config(self) -> RunConfig:
        """Config of the first lane; lanes that are trained together share all but method and settings."""
        return self.lanes[0].config

    @property
    def name(self) -> str:
        """Display name."""
        own = "" if self.listed is None else self.listed.name
        return own or self.config.name or self.config.source.name

    def created(self) -> str:
        """Return when it was made, ISO 8601 in UTC.

        Raises
        ------
        OSError
            Its folder is gone.
        """
        return self.folder.created() if self.listed is None else self.listed.created

    def rename(self, name: str) -> None:
        """Give the run another display name; the lanes of a comparison keep theirs.

        Raises
        ------
        UserError
            The name is empty, too long or of several lines, or it cannot be written.
        """
        if self.listed is None:
            self.folder.rename(name)
            self.lanes[0].forget_config()
            return
        listed = replace(self.listed, name=checked_name(name))
        listed.write(self.path)
        self.listed = listed

    def set_processes(self, processes: int) -> None:
        """Let a run of one lane be resumed with so many processes.

        Raises
        ------
        UserError
            It is at work, or config.json cannot be written.
        """
        if self.is_alive() or self.folder.is_locked():
            raise UserError("This run is at work; stop it first.")
        self.folder.note(run=replace(self.folder.config(), processes=processes).to_json())
        self.lanes[0].forget_config()

    def splits(self, lane: int = 0) -> Splits:
        """Return the data of a lane; lanes that share their data have it once.

        Raises
        ------
        UserError
            The source is missing or has changed.
        """
        return self.lanes[0 if self.is_together or self.shares_data() else lane].splits()

    def shares_data(self) -> bool:
        """Return whether all lanes learnt from the same examples with the same candidate sets."""
        if len(self.lanes) == 1:
            return True
        if any((lane.folder.path / OUTSIDE_FILE).exists() for lane in self.lanes):  # labels were added to the sets
            return False
        marks = {lane.folder.about().get("fingerprint") for lane in self.lanes}
        return self.is_together or (len(marks) == 1 and None not in marks)

    def snapshot(self) -> Snapshot:
        """Return the current state of the run."""
        with self._guard:
            alive, state = self.is_alive(), self._state
            pace = self._pace if len(self.lanes) == 1 else 0.0
            at_work = {
                lane.id: lane.snapshot(state, pace)
                for lane in self._working
                if alive and not (lane.is_over and self.is_comparison)
            }
        lanes = tuple(at_work[lane.id] if lane.id in at_work else lane.snapshot_from_disk() for lane in self.lanes)
        left = [lane.seconds_left for lane in lanes if lane.is_active]
        estimates = [seconds for seconds in left if seconds is not None]
        epochs = max(((lane.total or 0) - lane.epoch for lane in lanes if lane.is_active), default=0)
        return Snapshot(
            id=self.id,
            name=self.name,
            state=state if alive else joint_state(lane.state for lane in lanes),
            lanes=lanes,
            ahead=self._queue.position(self._device, self.id) if alive else None,
            error=self._error if alive or self.is_comparison else lanes[0].error,
            seconds_left=max(sum(estimates), epochs * self._pace)
            if estimates and len(estimates) == len(left)
            else None,
        )

    def while_paused(self, look: Callable[[PartialLabelEstimator], T]) -> T | None:
        """Call `look` with the estimator while the run is paused and return its result; None where it is not."""
        with self._guard:  # without it the thread cannot leave its pause
            estimator = self._working[0].estimator if self._working else None
            if estimator is None or not self._state == self._wants == "paused" or not self.is_alive():
                return None
            return look(estimator)

    # ---- control -------------------------------------------------------------------------------------------------

    def start(self, *, priority: int = 0, paused: bool = False) -> None:
        """Start or resume training in a thread.

        Does nothing where the thread is alive or training has finished.

        Parameters
        ----------
        priority
            In the queue for the device; lower numbers first.
        paused
            Wait before the first mini-batch.

        Raises
        ------
        UserError
            Another process is at work on the run, or its files are missing or damaged.
        """
        with self._guard:
            if self.is_alive() or not self._claim():
                return
            self._wants, self._state, self._error = "paused" if paused else "running", "queued", None
            self._is_over, self._why_stopped = False, ""
            self._priority = priority
            with suppress(UserError):  # no such device: the thread reports it
                self._device = self._choose_device()
                self._queue.join(self._device, self.id, priority=priority)  # first come, first served
            self._thread = threading.Thread(target=self._work, name=f"candid-run-{self.id}", daemon=True)
            self._thread.start()

    def pause(self) -> None:
        """Pause before the next mini-batch; the device is free for others meanwhile."""
        self._allow()
        self._want("paused")

    def resume(self) -> None:
        """Resume after a pause, a stop or an interruption.

        Raises
        ------
        UserError
            As for `start`.
        """
        self._await_end()
        self._allow()
        self._go()

    def step(self, *, epochs: int | None = None, batches: int | None = None) -> None:
        """Train for so many epochs or mini-batches (units of work), then pause.

        After a pause within an epoch, the rest of that epoch counts as the first one.

        Raises
        ------
        UserError
            As for `start`.
        """
        self._await_end()
        self._allow(epochs, batches)
        self._go()

    def stop(self) -> None:
        """Stop before the next mini-batch. The result so far is kept, and training can be resumed."""
        self._want("stopped")

    def set_patience(self, epochs: int | None) -> None:
        """Stop automatically once no identified label has changed for so many epochs; None for never."""
        self.patience = epochs

    def set_slow_start(self, seconds: float, epochs: int) -> None:
        """Let each of the first epochs take at least so many seconds, for display; call before the first one.

        Parameters
        ----------
        seconds
            Also the time for which the state before training stays.
        epochs
            So many epochs.
        """
        with self._guard:
            self._slow_start, self._slow_epochs = seconds, epochs

    def set_pace(self, epochs_per_second: float | None) -> None:
        """Limit the speed of training, for display; None for full speed. Results do not change.

        Raises
        ------
        UserError
            Not above 0.
        """
        if epochs_per_second is not None and not epochs_per_second > 0:
            raise UserError(f"The pace is {epochs_per_second} epochs a second; it must be above 0.")
        with self._guard:
            self.pace = epochs_per_second
            self._pace = 0.0 if epochs_per_second is None else 1.0 / epochs_per_second
            self._next_epoch_at = time.monotonic()
            self._guard.notify_all()

    def join(self, timeout: float | None = None) -> None:
        """Wait for the thread to end."""
        if self._thread is not None:
            self._thread.join(timeout)

    def wait_until_ready(self, seconds: float) -> bool:
        """Wait at most so many seconds for the data; return whether it was read or the thread is not alive."""
        with self._guard:
            return self._guard.wait_for(lambda: self.lanes[0].has_data or not self.is_alive(), seconds)

    def wait_until_paused(self, seconds: float) -> None:
        """Wait at most so many seconds until training is paused or has ended."""
        with self._guard:
            self._guard.wait_for(lambda: self._state == self._wants == "paused" or self._is_over, seconds)
        if self._is_over:
            self.join(seconds)

    def is_alive(self) -> bool:
        """Return whether the thread trains, waits in the queue or is paused."""
        return self._thread is not None and self._thread.is_alive()

    def is_elsewhere(self) -> bool:
        """Return whether it is trained by another process, or by a comparison that it is a lane of."""
        return not self.is_alive() and any(lane.folder.state()["state"] in ACTIVE for lane in self.lanes)

    # ---- the thread ----------------------------------------------------------------------------------------------

    def _allow(self, epochs: int | None = None, batches: int | None = None) -> None:
        with self._guard:
            self._epochs_left, self._batches_left = epochs, batches

    def _await_end(self) -> None:
        """Wait for a thread that is stopping to write its result, so that it can start again."""
        if self._wants == "stopped":
            self.join()

    def _go(self) -> None:
        if self.is_alive():
            self._want("running")
        else:
            self.start()

    def _want(self, state: State) -> None:
        with self._guard:
            if self._wants != "stopped":
                self._wants = state
                if state == "running" and self._state == "paused":
                    self._state = "queued"  # at once, for the next snapshot
            self._guard.notify_all()
        self._queue.wake()

    def _work(self) -> None:
        try:
            self._device = self._choose_device()
            self._write_state("queued")
            if not self._acquire():
                self._write_state("stopped")
                return
            self._set_state("running")
            self._train()
        except Exception as error:
            with self._guard:
                self._error = explain(error)
            for lane in self._working:
                if not lane.is_over:
                    lane.fail(error)
        finally:
            self._queue.release(self._device, self.id)
            self._queue.leave(self._device, self.id)
            with self._guard:
                for lane in self._working:
                    lane.end()
                self._working = []
                self._allow()
            self._locked.close()
            with self._guard:
                self._is_over = True
                self._guard.notify_all()

    def _claim(self) -> bool:
        """Lock the lanes and say who trains them; return False, with nothing locked, where none is left to train.

        Raises
        ------
        UserError
            Another process is at work on a lane, or files are missing or damaged.
        """
        over = ("finished", "failed") if self.is_comparison else ("finished",)
        lanes = self.lanes if self.is_together else []
        with ExitStack() as undo:
            for lane in lanes:
                lane.lock()
                undo.callback(lane.unlock)
            working = [lane for lane in lanes if lane.folder.state()["state"] not in over]
            for lane in working:
                processes = 1 if self.is_comparison else lane.folder.config().processes  # lanes train by turns
                lane.begin(self.splits, self._hook, self._note_ready, processes)
            if working:
                self._locked = undo.pop_all()  # they stay locked
        self._working = working
        self._complete = self._complete_epochs()
        return bool(working)

    def _choose_device(self) -> str:
        wanted = (lane.config.params.get("device") for lane in self._working)
        return device_name(str(next((device for device in wanted if device), "auto")))

    def _write_state(self, state: State) -> None:
        for lane in self._working:
            if not lane.is_over:
                lane.folder.set_state(state)

    def _train(self) -> None:
        """Train all lanes until they end or are stopped."""
        import torch

        self.splits()
        with self._guard:
            self._guard.notify_all()
        is_alone = len(self._working) == 1
        threads = None if is_alone else next((lane.threads for lane in self._working if lane.threads), None)
        with computing_threads(threads):
            while not self._is_stopped() and (lane := self._farthest_behind()) is not None:
                if not is_alone and lane.threads:  # a lane that has ended has restored the number it found
                    torch.set_num_threads(lane.threads)
                lane.train_epoch()
                self._note_turn()
            if self._is_stopped():
                for lane in self._working:
                    lane.stop(self._why_stopped)
        if is_alone:
            self._error = self._working[0].error

    def _farthest_behind(self) -> Lane | None:
        left = [lane for lane in self._working if not lane.is_over]
        return min(left, key=lambda lane: lane.epoch, default=None)  # the first of equals

    def _complete_epochs(self) -> int:
        """Epochs that every lane that is not over has completed."""
        left = [lane.epoch for lane in self._working if not lane.is_over]
        return min(left, default=max((lane.epoch for lane in self._working), default=0))

    def _note_ready(self) -> None:
        """Count epochs again: a lane has gone back to its checkpoint, which may precede its last metrics."""
        with self._guard:
            self._complete = self._complete_epochs()
            if self._slow_start and not self._complete:
                self._next_epoch_at = time.monotonic() + self._slow_start
            self._guard.notify_all()

    def _note_turn(self) -> None:
        complete = self._complete_epochs()
        if complete > self._complete:
            self._complete = complete
            left = [lane for lane in self._working if not lane.is_over]
            with self._guard:
                self._note_epoch(min((lane.quiet_epochs for lane in left), default=0))

    def _note_pause(self, begins: bool) -> None:
        """Note the progress of a single lane within its epoch; several lanes are shown between epochs only."""
        if len(self._working) == 1 and (estimator := self._working[0].estimator) is not None:
            self._working[0].moment = estimator.moment() if begins else None

    def _acquire(self) -> bool:
        return self._queue.acquire(self._device, self.id, cancelled=self._is_stopped, priority=self._priority)

    def _is_stopped(self) -> bool:
        return self._wants == "stopped"

    def _hook(self) -> None:
        """Between mini-batches: pause, keep the pace, stop."""
        if self._batches_left == 0 and self._wants == "running":
            self._want("paused")
        if self._pace or self._slow_start:
            self._wait_for_pace()
        if self._wants == "paused":
            self._wait_while_paused()
        if self._wants == "stopped":
            raise StopTraining(self._why_stopped)
        if self._batches_left:
            self._batches_left -= 1

    def _wait_for_pace(self) -> None:
        with self._guard:
            while self._wants == "running" and (left := self._next_epoch_at - time.monotonic()) > 0:
                self._guard.wait(left)

    def _wait_while_paused(self) -> None:
        self._queue.release(self._device, self.id)
        with self._guard:
            self._note_pause(begins=True)
        self._set_state("paused")
        with self._guard:
            self._guard.wait_for(lambda: self._wants != "paused")
            self._note_pause(begins=False)
        if self._wants == "stopped":
            return
        with self._guard:
            self._state = "queued"
        if self._acquire():
            self._set_state("running")

    def _set_state(self, state: State) -> None:
        self._write_state(state)
        with self._guard:
            self._state = state
            self._guard.notify_all()

    def _note_epoch(self, quiet: int) -> None:
        """After an epoch: pause where a step ends, stop where labels no longer change. Called with the guard held.

        Parameters
        ----------
        quiet
            Epochs since an identified label last changed.
        """
        pace = max(self._pace, self._slow_start if self._complete < self._slow_epochs else 0.0)
        self._next_epoch_at = max(self._next_epoch_at, time.monotonic() - pace) + pace
        if self._epochs_left:
            self._epochs_left -= 1
            if self._epochs_left == 0 and self._wants == "running":
                self._wants = "paused"
        if self.patience and quiet >= self.patience and self._wants != "stopped":
            self._wants = "stopped"
            self._why_stopped = f"Stopped by itself: no label has changed for {self.patience} epochs."


def quiet_epochs(rows: Sequence[dict[str, Any]]) -> int:
    """Return the number of epochs since an identified label last changed, not counting the first epoch.

    Examples
    --------
    >>> quiet_epochs([{"changed_labels": changed} for changed in (0, 3, 0, 0)])
    2
    """
    last = next((place for place in range(len(rows), 1, -1) if rows[place - 1]["changed_labels"]), 1)
    return max(len(rows) - last, 0)


def readable(runs: Iterable[Run]) -> list[Run]:
    """Return the runs whose settings and metrics can be read, in the same order; damaged ones are left out."""
    healthy = []
    for run in runs:
        with suppress(UserError):
            run.snapshot()
            healthy.append(run)
    return healthy

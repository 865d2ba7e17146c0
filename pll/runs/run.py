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
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from pll.dataset import PartialLabelDataset
from pll.errors import UserError
from pll.io import Progress, from_json, write_json, writing_to
from pll.runs.config import RunConfig
from pll.runs.device_queue import DeviceQueue, Place
from pll.runs.files import COMPARISON_FILE, OUTSIDE_FILE
from pll.runs.folder import RunFolder, State, checked_name
from pll.runs.manifest import reading
from pll.runs.snapshots import ACTIVE, HOW_SURE, SETTINGS, LaneSnapshot, Snapshot, joint_state
from pll.training.devices import device_in_words, device_names
from pll.training.metrics import StopTraining

if TYPE_CHECKING:
    from pll.methods.base import PartialLabelEstimator
    from pll.runs.data import Splits
    from pll.runs.fit_loop import FitLoop

T = TypeVar("T")
MOST_LANES = 5
"""Maximum number of lanes of a comparison."""


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
            write_json(folder / COMPARISON_FILE, asdict(self))

    @classmethod
    def read(cls, folder: Path) -> LaneList:
        """Read comparison.json, the inverse of `write`.

        Raises
        ------
        UserError
            The file is damaged.
        """
        with reading(file := folder / COMPARISON_FILE):
            return from_json(cls, json.loads(file.read_text(encoding="utf-8")))


class Lane:
    """One method of a run: its folder, its data, and its training while it is at work.

    Parameters
    ----------
    folder
        Created by `RunFolder.create`; its name is the lane's id.
    free_memory
        Called after its data was read; may free the data of other lanes.

    Attributes
    ----------
    loop
        Trains it; None where no run of this process is at work on it.
    error
        Message, where it failed in this process.
    data_used_at
        When its data was asked for last, on the monotonic clock.
    read
        The data as it was read, while features and candidate sets are made of it.
    loaded
        The data, while it is in memory.
    """

    def __init__(self, folder: RunFolder, free_memory: Callable[[], None] = lambda: None) -> None:
        self.id = folder.path.name
        self.folder = folder
        self.loop: FitLoop | None = None
        self.error: str | None = None
        self.data_used_at = 0.0
        self.read: PartialLabelDataset | None = None
        self._free_memory = free_memory
        self._loading = threading.Lock()
        self.loaded: Splits | None = None

    @cached_property
    def config(self) -> RunConfig:
        """The config that the lane was started with."""
        return self.folder.config()

    def splits(self, progress: Progress | None = None) -> Splits:
        """Return the data, read again where it is not in memory.

        Parameters
        ----------
        progress
            See `pll.runs.run_data.load_splits`.

        Raises
        ------
        UserError
            The source is missing or has changed.
        """
        from pll.runs.run_data import splits_of  # late: the home page reads no data

        self.data_used_at = time.monotonic()
        with self._loading:  # thread and page need it at about the same time
            data = self.loaded
            if data is None:
                try:
                    data = self.loaded = splits_of(self.folder, progress, lambda read: setattr(self, "read", read))
                finally:
                    self.read = None
        self._free_memory()
        return data

    def snapshot(self, state: State | None = None) -> LaneSnapshot:
        """Return the current state of the lane; `state` is of the run at work on it, None for what its folder says."""
        config, loop = self.config, self.loop
        lane = partial(LaneSnapshot, self.id, config.name or config.source.name, config.method)
        if state is not None and loop is not None and not loop.is_over:
            record = loop.record  # before the rows, which the thread adds to first: they hold the record's epoch
            return lane(
                state,
                loop.total,
                tuple(loop.rows),
                record=record,
                moment=loop.moment,
                stage=loop.stage,
                step=loop.step,
                found=loop.found,
            )
        stored = self.folder.state()
        state, error = stored["state"], stored.get("error")
        if state == "interrupted" and self.error and not error:  # the failure could not be written to disk
            state, error = "failed", self.error
        return lane(
            state,
            self.folder.about().get("epochs"),
            tuple(self.folder.metrics()),
            error=error,
            metrics=stored.get("metrics"),
            notes=tuple(stored.get("notes", ())),
            health=stored["health"],
        )


class Run:
    """One or more lanes, alive or only on disk, with one place in the queue.

    The lane with the fewest epochs trains next, so that all lanes reach each epoch together, also after a restart,
    when each continues from its own checkpoint. A lane that fails does not stop the others. Where there are several
    GPUs that nobody wants, lanes are spread over them, and those of different GPUs train at once.

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
    is_comparison
        Whether it was made of several lanes.
    is_together
        Whether it trains its lanes; otherwise they are finished runs shown side by side.
    folder
        Of the first lane, the only one of a run of one.
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
        self.is_comparison = listed is not None
        self.is_together = listed is None or listed.together
        self.folder = self.lanes[0].folder
        self.patience: int | None = None
        self.pace: float | None = None
        self._queue = queue
        self._priority = 0
        self._devices: tuple[str, ...] = ()  # that it can train on
        self._held: tuple[str, ...] = ()  # that it has now
        self._is_side_by_side = False  # lanes train in threads of their own, an epoch each
        self._guard = threading.Condition()
        self._thread: threading.Thread | None = None
        self._state: State | None = None  # of the thread; None where nothing is at work
        self._wants: State = "running"
        self._why_stopped = ""
        self._complete = 0
        self._epochs_left: int | None = None
        self._batches_left: int | None = None
        self._next_epoch_at = 0.0
        self._slow_start, self._slow_epochs = 0.0, 0

    # ---- what it is ----------------------------------------------------------------------------------------------

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
            vars(self.lanes[0]).pop("config", None)  # read again when it is next needed
            return
        listed = replace(self.listed, name=checked_name(name))
        listed.write(self.path)
        self.listed = listed

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
        state = self._state
        lanes = tuple(lane.snapshot(state) for lane in self.lanes)
        return Snapshot(
            id=self.id,
            name=self.name,
            state=state or joint_state(lane.state for lane in lanes),
            lanes=lanes,
            ahead=None if state is None else self._queue.position(self.id),
            least_seconds=self._least_seconds,
            device="; ".join(filter(None, map(device_in_words, self._held))),
        )

    def while_paused(self, look: Callable[[PartialLabelEstimator], T]) -> T | None:
        """Call `look` with the estimator while the run is paused and return its result; None where it is not."""
        with self._guard:  # without it the thread cannot leave its pause
            loop = self.lanes[0].loop
            return look(loop.estimator) if loop is not None and loop.is_ready and self._is_paused() else None

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
            Another process is at work on the run, its files are missing or damaged, or this machine lacks the device.
        """
        with self._guard:
            if self.is_alive() or not self._claim():
                return
            self._wants, self._state, self._why_stopped = "paused" if paused else "running", "queued", ""
            self._priority = priority
            self._queue.join(self._place())  # first come, first served
            self._thread = threading.Thread(target=self._work, name=f"candid-run-{self.id}", daemon=True)
            self._thread.start()

    def pause(self) -> None:
        """Pause before the next mini-batch; the device is free for others meanwhile."""
        with self._guard:
            self._epochs_left = self._batches_left = None
            self._want("paused")

    def resume(self, *, epochs: int | None = None, batches: int | None = None) -> None:
        """Resume after a pause, a stop or an interruption.

        Parameters
        ----------
        epochs, batches
            Pause again after so many epochs or mini-batches (units of work); None trains to the end. After a pause
            within an epoch, the rest of that epoch counts as the first one.

        Raises
        ------
        UserError
            As for `start`.
        """
        if self._wants == "stopped":  # a thread that is stopping writes its result first
            self.join()
        with self._guard:
            self._epochs_left, self._batches_left = epochs, batches
            if self.is_alive():
                self._want("running")
            else:
                self.start()

    def stop(self) -> None:
        """Stop before the next mini-batch. The result so far is kept, and training can be resumed.

        While it finds out how sure the labels are, the run ends with what is known by then.
        """
        with self._guard:
            for loop in self._unfinished():
                loop.cut_short()
            self._want("stopped")

    def find_out(self) -> None:
        """Find out how sure the labels of a finished run are, where that was left out; training itself is complete.

        Raises
        ------
        UserError
            As for `start`.
        """
        with self._guard:
            if self.is_alive() or self.is_comparison or self.folder.state()["state"] != "finished":
                return
            self.folder.set_state("interrupted")
            self.start()

    def skip(self) -> None:
        """End the last step of the run, without a word on how sure the labels are; nothing before that step."""
        with self._guard:
            for loop in self._unfinished():
                loop.skip()
            self._want("running")  # it may be paused

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
            self._next_epoch_at = time.monotonic()
            self._guard.notify_all()

    def join(self, timeout: float | None = None) -> None:
        """Wait for the thread to end."""
        if self._thread is not None:
            self._thread.join(timeout)

    def wait_until_ready(self, seconds: float) -> bool:
        """Wait at most so many seconds for the data; return whether it was read or nothing is at work."""
        with self._guard:
            return self._guard.wait_for(lambda: self.lanes[0].loaded is not None or not self.is_alive(), seconds)

    def wait_until_paused(self, seconds: float) -> None:
        """Wait at most so many seconds until training is paused or has ended."""
        with self._guard:
            self._guard.wait_for(lambda: self._is_paused() or not self.is_alive(), seconds)

    def is_alive(self) -> bool:
        """Return whether the thread trains, waits in the queue or is paused."""
        return self._state is not None

    def is_elsewhere(self) -> bool:
        """Return whether it is trained by another process, or by a comparison that it is a lane of."""
        return not self.is_alive() and any(lane.folder.state()["state"] in ACTIVE for lane in self.lanes)

    def _is_paused(self) -> bool:
        return self._state == self._wants == "paused"

    def _want(self, state: State) -> None:
        """Tell the thread what to do. Called with the guard held."""
        if self._wants != "stopped":
            self._wants = state
            if state == "running" and self._state == "paused":
                self._state = "queued"  # at once, for the next snapshot
        self._guard.notify_all()
        self._queue.wake()

    # ---- the thread ----------------------------------------------------------------------------------------------

    def _claim(self) -> bool:
        """Lock the lanes and prepare to train them; return False, with nothing locked, where none is left to train.

        Raises
        ------
        UserError
            As for `start`.
        """
        from pll.runs.fit_loop import FitLoop  # late: nobody trains yet when the home page is opened

        over = ("finished", "failed") if self.is_comparison else ("finished",)
        loops: dict[Lane, FitLoop] = {}
        with ExitStack() as undo:
            for lane in self.lanes if self.is_together else ():
                if not lane.folder.exists():
                    raise UserError(f"The run {lane.id} has been deleted.")
                lane.folder.lock()
                undo.callback(lane.folder.unlock)
                if lane.folder.state()["state"] not in over:
                    note_ready = partial(self._note_ready, lane)
                    loops[lane] = FitLoop(
                        lane.folder,
                        load=self._load,
                        hook=self._hook,
                        on_ready=note_ready,
                        on_step=self._check_step,
                        find_out=not self.is_comparison,
                    )
            if not loops:
                return False
            wanted = (lane.config.params.get("device") for lane in loops)
            self._devices = device_names(str(next((device for device in wanted if device), "auto")))
            undo.pop_all()  # they stay locked
        for lane, loop in loops.items():
            lane.loop, lane.error = loop, None
        return True

    def _work(self) -> None:
        try:
            self._set_state("queued")
            if self._acquire():
                self._set_state("running")
                self._train()
            else:
                self._set_state("stopped")
        except Exception as error:
            for loop in self._unfinished():
                loop.fail(error)
        finally:
            self._free_devices()
            for lane in self.lanes:
                if lane.loop is not None:
                    lane.loop.close()
                    lane.error = lane.loop.error
                    lane.loop = None
                lane.folder.unlock()
            with self._guard:
                self._state = self._epochs_left = self._batches_left = None
                self._guard.notify_all()

    def _train(self) -> None:
        """Train all lanes until they end or are stopped."""
        while self._wants != "stopped" and (left := self._unfinished()):
            self._advance(left)
            complete = self._complete_epochs()
            if complete > self._complete:
                with self._guard:
                    self._complete = complete
                    self._note_epoch()
        for loop in self._unfinished():
            loop.stop(self._why_stopped)

    def _advance(self, left: Sequence[FitLoop]) -> None:
        """Train an epoch of the lane with the fewest epochs, the first of equals; on each device, where it has several.

        It is paused between epochs then. Before the first one, and in steps of mini-batches, lanes take turns.
        """
        behind: dict[str, FitLoop] = {}
        for loop in left:
            if loop.epoch == min(one.epoch for one in left):
                behind.setdefault(loop.device, loop)
        first, *others = behind.values()
        if not others or self._batches_left is not None or (self._wants == "paused" and not first.is_ready):
            first.advance()
            return
        if self._wants == "paused":
            self._wait_while_paused()
            return
        self._is_side_by_side = True
        try:
            with ThreadPoolExecutor(len(behind), thread_name_prefix=f"candid-run-{self.id}") as pool:
                for advanced in [pool.submit(loop.advance) for loop in behind.values()]:
                    advanced.result()
        finally:
            self._is_side_by_side = False

    def _unfinished(self) -> list[FitLoop]:
        return [lane.loop for lane in self.lanes if lane.loop is not None and not lane.loop.is_over]

    def _complete_epochs(self) -> int:
        """Epochs that every lane that is not over has completed."""
        loops = [lane.loop for lane in self.lanes if lane.loop is not None]
        left = [loop.epoch for loop in loops if not loop.is_over]
        return min(left, default=max((loop.epoch for loop in loops), default=0))

    def _load(self, progress: Progress) -> Splits:
        splits = self.lanes[0].splits(progress)
        with self._guard:
            self._guard.notify_all()
        return splits

    def _check_step(self, what: str, _done: int, _total: int | None) -> None:
        """End a step where the run is to stop; the search and the last one end by their hook."""
        if self._wants == "stopped" and what not in (SETTINGS, HOW_SURE):
            raise StopTraining(self._why_stopped)

    def _note_ready(self, lane: Lane, loop: FitLoop) -> None:
        """Before the first epoch of a lane, which has gone back to its checkpoint: count complete epochs again."""
        if loop.splits.train.outside is not None:  # the labels that its method added to the candidate sets
            lane.loaded = loop.splits
        with self._guard:
            self._complete = self._complete_epochs()
            if self._slow_start and not self._complete:
                self._next_epoch_at = time.monotonic() + self._slow_start

    def _place(self) -> Place:
        """What it waits for in the queue: any devices, after a pause those which have the tensors of its lanes."""
        loops = self._unfinished()
        before = tuple(sorted({loop.device for loop in loops if loop.device}))
        return Place(self.id, before or self._devices, self._priority, most=len(loops), whole=bool(before))

    def _acquire(self) -> bool:
        """Wait for devices; return False where it was stopped."""
        self._held = self._queue.acquire(self._place(), lambda: self._wants == "stopped")
        for place, loop in enumerate(self._unfinished() if self._held else ()):
            loop.device = loop.device or self._held[place % len(self._held)]
        return bool(self._held)

    def _free_devices(self) -> None:
        self._queue.release(self.id)
        self._held = ()

    def _set_state(self, state: State) -> None:
        for loop in self._unfinished():
            loop.folder.set_state(state)
        with self._guard:
            self._state = state
            self._guard.notify_all()

    def _hook(self) -> None:
        """Between mini-batches: pause, keep the pace, stop. The last step is none of the mini-batches that count."""
        if any(loop.finds_out for loop in self._unfinished()):
            self._batches_left = None
        with self._guard:
            if self._batches_left == 0 and self._wants == "running":
                self._want("paused")
            while self._wants == "running" and (left := self._next_epoch_at - time.monotonic()) > 0:
                self._guard.wait(left)
        if self._wants == "paused" and not self._is_side_by_side:
            self._wait_while_paused()
        if self._wants == "stopped":
            raise StopTraining(self._why_stopped)
        if self._batches_left:
            self._batches_left -= 1

    def _wait_while_paused(self) -> None:
        self._free_devices()
        loops = self._unfinished()
        if len(loops) == 1:  # several lanes are shown between epochs only
            loops[0].note_moment()
        self._set_state("paused")
        with self._guard:
            self._guard.wait_for(lambda: self._wants != "paused")
            loops[0].moment = None
            if self._wants == "stopped":
                return
            self._state = "queued"
        if self._acquire():
            self._set_state("running")

    @property
    def _least_seconds(self) -> float:
        """What an epoch takes at least."""
        return 0.0 if self.pace is None else 1.0 / self.pace

    def _note_epoch(self) -> None:
        """After an epoch: pause where a step ends, stop where labels no longer change. Called with the guard held."""
        least = max(self._least_seconds, self._slow_start if self._complete < self._slow_epochs else 0.0)
        self._next_epoch_at = max(self._next_epoch_at, time.monotonic() - least) + least
        if self._epochs_left:
            self._epochs_left -= 1
            if self._epochs_left == 0 and self._wants == "running":
                self._wants = "paused"
        quiet = min((quiet_epochs(loop.rows) for loop in self._unfinished()), default=0) if self.patience else 0
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

"""Running the cells of an experiment: in processes on this machine, or on a Dask cluster; stopped and continued.

The folder of an experiment:

experiment.json   the definition, and versions
cells/            one JSON file a cell, written atomically when it ends: its result and curve, or its error
results.csv       the results there are, in the order of the cells
progress.json     how far it is
experiment.lock   held by that process; released when it ends
log.txt           events and full traces of errors
manifest.json     checksums of all of it, once a process has ended its work (pll.runs.manifest)

Tables and figures beside them are `pll.experiments.report`'s.
"""

from __future__ import annotations

import concurrent.futures as cf
import importlib
import json
import math
import os
import threading
import time
import traceback
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal, TypeVar

from pll.dataset import PartialLabelDataset
from pll.errors import UserError, explain
from pll.experiments.evaluation import EpochMetrics, Result, figures, measured, results_frame
from pll.experiments.experiment import Cell, Experiment, ExperimentPlan, Missing
from pll.extras import require_extra, versions
from pll.io import Progress, from_json, remove_parts, write_atomically, write_csv, write_json, writing_to
from pll.runs.config import DataConfig
from pll.runs.data import Splits
from pll.runs.files import MANIFEST_FILE
from pll.runs.locked_folder import LockedFolder
from pll.runs.manifest import UNREADABLE, Manifest, damages, read_with_checksum, with_checksum
from pll.runs.process import end_with_parent
from pll.training.devices import computing_threads

CELLS, RESULTS_TABLE, PROGRESS, DEFINITION = "cells", "results.csv", "progress.json", "experiment.json"
RESULTS_SAVED_EVERY = 2.0
"""Seconds between two writings of results.csv and progress.json; the cells themselves are written at once."""
MOST_ERRORS = 20
STOP_GLANCE = 0.2
"""Seconds between two looks at whether to stop."""
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
PLACES = ("PLL_DATA", "PLL_DATA_PATH")
"""Where the catalogue looks for files: a worker elsewhere looks in the same places."""

DIED = "The process that fitted it died; perhaps the machine ran out of memory. Use fewer processes at once (--jobs)."

T = TypeVar("T")
ExperimentState = Literal["running", "finished", "stopped"]


# ---- one cell --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class CellOutcome:
    """What came of a cell: a result with its curve, or an error.

    Attributes
    ----------
    curve
        For every epoch `[test accuracy, transductive accuracy]`, None where not known, rounded to 6 places.
    error
        In words; "" where there is a result.
    trace
        Of the error.
    """

    result: Result | None = None
    curve: tuple[tuple[float | None, float | None], ...] = ()
    error: str = ""
    trace: str = ""


def results_of(cells: Sequence[Cell], outcomes: Mapping[str, CellOutcome]) -> list[Result]:
    """Return the results there are, in the order of the cells.

    Parameters
    ----------
    cells
        Of an experiment.
    outcomes
        What came of them, by key.
    """
    return [one.result for cell in cells if (one := outcomes.get(cell.key)) and one.result]


_AT_WORK = threading.Lock()


def run_cell(cell: Cell, places: dict[str, str] | None = None, half_done: Path | None = None) -> CellOutcome:
    """Fit one cell; an error becomes part of the outcome.

    One cell at a time in a process, whatever the cluster thinks: methods draw from the process's random numbers.

    Parameters
    ----------
    cell
        The cell.
    places
        Environment variables of `PLACES`, set where this process has none.
    half_done
        A file from which a long fit that was interrupted goes on.
    """
    for name, value in (places or {}).items():
        os.environ.setdefault(name, value)
    with _AT_WORK, computing_threads(1):
        try:
            result, curve = fit_cell(cell, half_done=half_done)
            return CellOutcome(result, tuple((_share(row, "test"), _share(row, "transductive")) for row in curve))
        except UserError as error:
            return CellOutcome(error=str(error))
        except Exception as error:  # one cell that fails must not stop the others
            return CellOutcome(error=explain(error), trace=traceback.format_exc())


def fit_cell(
    cell: Cell, progress: Callable[[int, int], None] | None = None, half_done: Path | None = None
) -> tuple[Result, EpochMetrics]:
    """Fit one cell; return its result and the figures of its epochs.

    Parameters
    ----------
    cell
        The cell.
    progress
        Called with the epochs done and the total epochs.
    half_done
        As for `measured`.

    Raises
    ------
    UserError
        The data or the settings do not fit.
    """
    splits = _part_of(cell)
    estimator = cell.estimator(is_table=splits.train.kind == "table")
    curve, seconds = measured(estimator, splits, progress, half_done=half_done)
    result = replace(cell.row(estimator), **figures(estimator, curve), seconds=seconds)
    return result, curve


Data = tuple[PartialLabelDataset, PartialLabelDataset | None]
_DATA: dict[str, Data] = {}
_PARTS: dict[str, Splits] = {}
"""The latest data and the latest part: the cells of one follow each other."""


def loaded(config: DataConfig, progress: Progress | None = None) -> Data:
    """Return the data of a cell, and what it is tested on.

    Parameters
    ----------
    config
        What to read.
    progress
        As for `DataConfig.load`.
    """
    key = json.dumps([asdict(config.source), config.test and asdict(config.test)], sort_keys=True, default=str)
    return _latest(_DATA, key, lambda: config.load(progress))


def _part_of(cell: Cell) -> Splits:
    data = loaded(cell)
    return _latest(_PARTS, json.dumps([id(data[0]), cell.parts]), lambda: cell.part(*data))


def _latest(kept: dict[str, T], key: str, make: Callable[[], T]) -> T:
    if key not in kept:
        kept.clear()
        kept[key] = make()
    return kept[key]


def _share(row: dict[str, Any], of: str) -> float | None:
    return None if (value := row[f"{of}_accuracy"]) is None else round(value, 6)


# ---- the folder ------------------------------------------------------------------------------------------------------


class ExperimentFolder(LockedFolder):
    """The files of one experiment.

    Parameters
    ----------
    path
        The folder; made by `create`.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path, "experiment.lock")

    def create(self, experiment: Experiment) -> None:
        """Make the folder where it is missing, and write the definition.

        Raises
        ------
        UserError
            It cannot be written to, or holds something else.
        """
        ours = (self.path / DEFINITION).exists() or (self.path / CELLS).is_dir()
        if self.path.exists() and any(self.path.iterdir()) and not ours:
            raise UserError(f"{self.path} holds other files; choose an empty folder for the experiment.")
        with writing_to(self.path):
            self.unseal()
            (self.path / CELLS).mkdir(parents=True, exist_ok=True)
            write_json(
                self.path / DEFINITION, with_checksum({"experiment": experiment.model_dump(), "versions": versions()})
            )

    def experiment(self) -> Experiment:
        """Return the definition.

        Raises
        ------
        UserError
            There is none, or it cannot be read.
        """
        file = self.path / DEFINITION
        try:
            return Experiment.model_validate(read_with_checksum(file)["experiment"])
        except FileNotFoundError as error:
            raise UserError(f"There is no experiment in {self.path}: it has no {DEFINITION}.") from error
        except UNREADABLE as error:
            raise UserError(
                f"{file} is damaged ({str(error).splitlines()[0]}). Run the TOML file or preset again with --out "
                f"{self.path}: fits that are done are kept."
            ) from error

    def seal(self) -> None:
        """Write the checksums of all files, when the experiment ends or stops."""
        self.unseal()
        Manifest(self.path).seal()

    def unseal(self) -> None:
        """Forget the checksums: files are about to be written."""
        (self.path / MANIFEST_FILE).unlink(missing_ok=True)

    def check(self) -> None:
        """Compare all files with their checksums, where there are any: while a process is at work, there are none.

        Raises
        ------
        UserError
            One is damaged or missing.
        """
        if result := damages(self.path):
            raise UserError(
                f"In the experiment {self.path.name}, {result[0].words}. The same command, or "
                "*Resume*, writes it anew; fits that are done are kept."
            )

    def outcome(self, cell: Cell) -> CellOutcome | None:
        """Return the outcome of a cell; None if it has not ended or its file is damaged, so that it is fitted again."""
        try:
            return from_json(CellOutcome, read_with_checksum(self._file(cell))["outcome"])
        except UNREADABLE:
            return None

    def left(self, cells: Sequence[Cell]) -> list[Cell]:
        """Return those of the cells that have no result yet."""
        return [cell for cell in cells if (outcome := self.outcome(cell)) is None or outcome.result is None]

    def write(self, cell: Cell, outcome: CellOutcome) -> None:
        """Write the outcome of a cell atomically; also safe in a power cut.

        Parameters
        ----------
        cell
            The cell.
        outcome
            What came of it.
        """
        about = {
            "cell": {name: value for name, value in asdict(cell).items() if name != "source"},
            "outcome": asdict(outcome),
        }
        text = json.dumps(with_checksum(about), ensure_ascii=False)
        write_atomically(self._file(cell), lambda file: file.write_text(text, encoding="utf-8"), durable=True)
        self.half_done(cell).unlink(missing_ok=True)

    def half_done(self, cell: Cell) -> Path:
        """Return the file for the state of a cell's fit while it lasts."""
        return self._file(cell).with_suffix(".pt")

    def write_results(self, cells: Sequence[Cell], outcomes: dict[str, CellOutcome]) -> None:
        """Write results.csv: all results so far, in the order of the cells.

        Parameters
        ----------
        cells
            Its cells, in order.
        outcomes
            The outcomes there are, by key.
        """
        write_csv(self.path / RESULTS_TABLE, results_frame(results_of(cells, outcomes)))

    def write_progress(self, state: ExperimentState, progress: ExperimentProgress) -> None:
        """Write progress.json.

        Parameters
        ----------
        state
            Of the experiment.
        progress
            How much is done.
        """
        write_json(self.path / PROGRESS, {"state": state, **asdict(progress)})

    def progress(self) -> tuple[str, ExperimentProgress | None]:
        """Return the state (`"interrupted"` where no process works on a running one), and how far it is."""
        try:
            values = json.loads((self.path / PROGRESS).read_text(encoding="utf-8"))
            state = values.pop("state")
            result = from_json(ExperimentProgress, values)
        except (OSError, ValueError, KeyError, TypeError):
            return ("running" if self.is_locked() else "new"), None
        if state == "running" and not self.is_locked():
            state = "interrupted"
        return state, result

    def _file(self, cell: Cell) -> Path:
        return self.path / CELLS / f"{cell.key}.json"


# ---- all cells -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ExperimentProgress:
    """How far an experiment is.

    Attributes
    ----------
    total
        Cells of the experiment, without those whose data are missing.
    done, failed
        Cells that have a result, or an error.
    todo
        Cells that this run has still to fit.
    rate
        Cells a second, since this run began; None before the first cell has ended.
    missing
        Data sets that are not here.
    errors
        Key and message of the first cells that failed, at most `MOST_ERRORS`.
    """

    total: int
    done: int
    failed: int
    todo: int = 0
    missing: tuple[Missing, ...] = ()
    errors: tuple[tuple[str, str], ...] = ()
    rate: float | None = None

    @property
    def left(self) -> float | None:
        """Estimated seconds; None before the first cell has ended."""
        return None if self.rate is None else self.todo / self.rate


Tell = Callable[[ExperimentProgress], None]


def run(
    plan: ExperimentPlan,
    folder: ExperimentFolder,
    *,
    among: Sequence[Cell] | None = None,
    jobs: int | None = None,
    scheduler: str | None = None,
    is_stopped: Callable[[], bool] = lambda: False,
    tell: Tell | None = None,
) -> dict[str, CellOutcome]:
    """Fit the cells that have no result yet; return the outcomes there are, by key.

    Cells that failed before are tried again. A stop, or a death of this process, loses no more of the cells at work
    than the last minutes (`pll.experiments.evaluation.FIT_SAVED_EVERY`); on a cluster all of them.

    Parameters
    ----------
    plan
        Of the experiment.
    folder
        Created; this process holds its lock meanwhile.
    among
        Fit only these; None for all.
    jobs
        Processes of this machine; None for one a core.
    scheduler
        Address of a Dask scheduler: fit there instead.
    is_stopped
        Asked several times a second.
    tell
        Called with the progress after every cell.

    Raises
    ------
    UserError
        Another process is at work in the folder, or the cluster cannot be reached or is lost.
    """
    cells = plan.cells
    with folder.locked():
        remove_parts(folder.path)
        outcomes = {cell.key: result for cell in cells if (result := folder.outcome(cell)) is not None}
        todo = folder.left(cells if among is None else among)
        jobs = max(1, min(jobs or os.cpu_count() or 1, len(todo) or 1))
        engine = _Dask(scheduler) if scheduler else _Processes(jobs, folder.half_done)
        begun, ended, saved = time.monotonic(), 0, -math.inf

        def save(state: ExperimentState, every: float = 0.0) -> None:
            """Write how far it is, unless that was written less than so many seconds ago."""
            nonlocal saved
            now = time.monotonic()
            errors = [(cell.key, one.error) for cell in cells if (one := outcomes.get(cell.key)) and one.error]
            progress = ExperimentProgress(
                total=len(cells),
                done=sum(cell.key in outcomes for cell in cells) - len(errors),
                failed=len(errors),
                todo=len(todo) - ended,
                missing=plan.missing,
                errors=tuple(errors[:MOST_ERRORS]),
                rate=ended / max(now - begun, 1e-9) if ended else None,
            )
            if now - saved > every:
                folder.write_results(cells, outcomes)
                folder.write_progress(state, progress)
                saved = now
            if tell is not None:
                tell(progress)

        save("running")
        folder.log(f"{len(todo)} of {len(cells)} cells to fit, {engine.words}")
        state: ExperimentState = "stopped"
        try:
            for cell, outcome in engine.outcomes(todo, is_stopped):
                folder.write(cell, outcome)
                outcomes[cell.key] = outcome
                ended += 1
                if outcome.error:
                    folder.log(f"{cell.key} failed: {outcome.error}\n{outcome.trace}".rstrip())
                save("running", RESULTS_SAVED_EVERY)
            state = "stopped" if is_stopped() else "finished"
        finally:
            save(state)
            folder.log(state)
    return outcomes


# ---- engines ---------------------------------------------------------------------------------------------------------


Outcomes = Iterator[tuple[Cell, CellOutcome]]
"""Cells and what came of them, as they end; the end comes early once it is stopped."""
IsStopped = Callable[[], bool]


def _ended(at_work: dict[cf.Future[CellOutcome], Cell], is_stopped: IsStopped) -> Iterator[cf.Future[CellOutcome]]:
    """Yield what ends, until nothing is at work or it is stopped; the caller takes it out of `at_work`."""
    while at_work and not is_stopped():
        yield from cf.wait(at_work, timeout=STOP_GLANCE, return_when=cf.FIRST_COMPLETED).done


class _Processes:
    """Processes of this machine (loky, joblib's), one thread each: threads of two would spin while they wait.

    A process that crashes (out of memory, killed) ends the whole pool. The cells that were in it are then tried
    again one at a time; the one that breaks its process again is at fault, and recorded.
    """

    def __init__(self, jobs: int, half_done: Callable[[Cell], Path]) -> None:
        self._jobs, self._half_done = jobs, half_done
        self.words = f"{jobs} processes"

    def outcomes(self, cells: Sequence[Cell], is_stopped: IsStopped) -> Outcomes:
        waiting = list(reversed(cells))
        suspects: list[Cell] = []
        while (waiting or suspects) and not is_stopped():
            if not suspects:
                suspects = yield from self._pool(waiting, is_stopped, self._jobs, 2 * self._jobs)
                continue
            for cell in (yield from self._pool(suspects, is_stopped, 1, 1)):
                yield cell, CellOutcome(error=DIED)

    def _pool(
        self, waiting: list[Cell], is_stopped: IsStopped, jobs: int, window: int
    ) -> Generator[tuple[Cell, CellOutcome], None, list[Cell]]:
        """Fit the waiting cells, the last first, and remove them; return those at work when a process crashed.

        Parameters
        ----------
        window
            Cells handed out at a time; with one, the cell that was at work is the one at fault.
        """
        loky = importlib.import_module("joblib.externals.loky.process_executor")
        executor = loky.ProcessPoolExecutor(jobs, initializer=end_with_parent, initargs=(os.getpid(),), env=ONE_THREAD)
        at_work: dict[cf.Future[CellOutcome], Cell] = {}
        lost: list[Cell] = []

        def hand_out() -> None:
            while waiting and len(at_work) < window:
                cell = waiting[-1]
                at_work[executor.submit(run_cell, cell, half_done=self._half_done(cell))] = cell
                waiting.pop()

        try:
            hand_out()
            for future in _ended(at_work, is_stopped):
                cell = at_work.pop(future)
                if isinstance(future.exception(), loky.BrokenProcessPool):  # so do all others at work
                    lost.append(cell)
                    continue
                yield cell, future.result()
                if not lost:
                    hand_out()
        except loky.BrokenProcessPool:  # detected when a cell was submitted, which is then still waiting
            pass
        finally:
            executor.shutdown(wait=False, kill_workers=True)
        return [] if is_stopped() else [*lost, *at_work.values()]


class _Dask:
    """An existing Dask cluster; a cell whose worker crashes is fitted again on another."""

    RETRIES = 5

    def __init__(self, address: str) -> None:
        require_extra("distributed")
        distributed = importlib.import_module("distributed")
        try:
            self._client = distributed.Client(address, timeout=10)
            self._client.wait_for_workers(1, timeout=30)
        except (OSError, ValueError, TimeoutError) as error:
            raise UserError(f"No Dask cluster with a worker answers at {address}: {error}.") from error
        self.words = f"Dask at {address}, {len(self._client.scheduler_info(n_workers=-1)['workers'])} workers"

    def outcomes(self, cells: Sequence[Cell], is_stopped: IsStopped) -> Outcomes:
        places = {name: os.environ[name] for name in PLACES if os.environ.get(name)}
        executor = self._client.get_executor(pure=False, retries=self.RETRIES)
        at_work = {executor.submit(run_cell, cell, places): cell for cell in cells}
        try:
            for future in _ended(at_work, is_stopped):
                cell = at_work.pop(future)
                try:
                    yield cell, future.result()
                except cf.CancelledError as error:
                    raise UserError("The Dask cluster was lost; run the same command again to go on.") from error
                except Exception as error:  # KilledWorker, a worker without our package, …
                    yield cell, CellOutcome(error=f"The cluster could not fit it: {type(error).__name__}: {error}.")
        finally:
            for future in at_work:
                future.cancel()
            with suppress(Exception):  # the cluster is gone: closing fails
                self._client.close(timeout=5)

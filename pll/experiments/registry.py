"""The experiments of Candid's home: listed, begun, stopped and deleted; one at a time, as a job of this process."""

from __future__ import annotations

import os
import re
import shutil
import threading
from functools import partial
from pathlib import Path

from pll.catalog.server_files import on_server
from pll.errors import UserError
from pll.experiments.execution import PROGRESS, ExperimentFolder, ExperimentProgress, run
from pll.experiments.experiment import Experiment
from pll.experiments.report import write_report
from pll.io import Progress
from pll.paths import candid_home
from pll.runs.jobs import Job, Stopped, default_board

_LOCK = threading.Lock()


def experiments_home() -> Path:
    """Return the folder of all experiments that name no folder of their own."""
    return candid_home() / "experiments"


def experiments() -> list[ExperimentFolder]:
    """Return the experiments there are, the latest first."""
    home = experiments_home()
    marks = ("experiment.json", "cells")  # a damaged one is listed too
    result = [folder for folder in home.glob("*") if any((folder / name).exists() for name in marks)]
    return [ExperimentFolder(path) for path in sorted(result, key=lambda path: -_changed(path))]


def find(name: str) -> ExperimentFolder:
    """Return an experiment by the name of its folder.

    Raises
    ------
    UserError
        There is none.
    """
    for folder in experiments():
        if folder.path.name == name:
            return folder
    raise UserError("There is no such experiment; it may have been deleted.")


def begin(name: str, experiment: Experiment, uploads: Path | None = None) -> ExperimentFolder:
    """Make the folder of a new experiment, and start it.

    Parameters
    ----------
    name
        Wished for; the folder's name is made of it.
    experiment
        What to fit.
    uploads
        Folder of files that whoever begins it has brought.

    Raises
    ------
    UserError
        Another one is running, its files are not in folders that the server may read, or no data set of it is on this
        machine.
    """
    check_paths(experiment, uploads)
    plan = experiment.plan()
    if not plan.cells:
        raise UserError(f"None of its datasets is on this machine. {plan.missing[0].reason}")
    with _LOCK:
        _check_idle()
        safe = re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-").lower()[:60] or "experiment"
        path, number = experiments_home() / safe, 2
        while path.exists():
            path, number = experiments_home() / f"{safe}-{number}", number + 1
        folder = ExperimentFolder(path)
        folder.create(experiment)
        _start(folder)
    return folder


def check_paths(experiment: Experiment, uploads: Path | None = None) -> None:
    """Raise UserError where a file of data is neither in a folder that the server may read nor in that of `uploads`.

    Parameters
    ----------
    experiment
        With files of data.
    uploads
        The person's own folder; None where there is none.
    """
    for path in experiment.paths():
        if uploads is None or not Path(path).resolve().is_relative_to(uploads.resolve()):
            on_server(path)


def resume(folder: ExperimentFolder) -> None:
    """Go on with an experiment.

    Raises
    ------
    UserError
        Another one is running.
    """
    with _LOCK:
        _check_idle()
        _start(folder)


def stop(folder: ExperimentFolder) -> None:
    """Stop an experiment; the fits at work are lost.

    Raises
    ------
    UserError
        A shell has started it.
    """
    job = job_of(folder)
    if job is not None and job.status().state == "working":
        job.stop()
    elif folder.is_locked():
        raise UserError("A shell has started it; stop it there.")


def delete(folder: ExperimentFolder) -> None:
    """Delete an experiment with all of its results.

    Raises
    ------
    UserError
        It is running.
    """
    if is_running(folder):
        raise UserError("It is running; stop it first.")
    shutil.rmtree(folder.path, ignore_errors=True)


def job_of(folder: ExperimentFolder) -> Job | None:
    """Return the latest job of an experiment in this process."""
    return default_board().get(_key(folder))


def is_running(folder: ExperimentFolder) -> bool:
    """Return whether it is at work, here or in a shell."""
    job = job_of(folder)
    return folder.is_locked() or (job is not None and job.status().state == "working")


def _check_idle() -> None:
    at_work = next((folder.path.name for folder in experiments() if is_running(folder)), None)
    if at_work is not None:
        raise UserError(f"One experiment runs at a time, and {at_work} is running; wait for it or stop it.")


def _start(folder: ExperimentFolder) -> None:
    (folder.path / PROGRESS).unlink(missing_ok=True)  # of an earlier job; where this one fails, its error is shown
    default_board().forget(_key(folder))
    default_board().start(_key(folder), partial(_fit, folder), waits=False)  # for hours


def _fit(folder: ExperimentFolder, report: Progress) -> None:
    latest = ExperimentProgress(0, 0, 0)

    def tell(progress: ExperimentProgress) -> None:
        nonlocal latest
        latest = progress

    def is_stopped() -> bool:
        try:
            report("fits", latest.done, latest.total)
        except Stopped:
            return True
        return False

    experiment = folder.experiment()
    jobs = max(1, (os.cpu_count() or 1) - 1)  # the server needs a core too
    plan = experiment.plan()
    folder.create(experiment)
    outcomes = run(plan, folder, jobs=jobs, is_stopped=is_stopped, tell=tell)
    write_report(experiment, plan, outcomes, folder)
    report("fits", latest.done, latest.total)  # raises where it was stopped


def _key(folder: ExperimentFolder) -> str:
    return f"experiment {folder.path}"


def _changed(path: Path) -> float:
    try:
        return (path / "experiment.json").stat().st_mtime
    except OSError:
        return 0.0

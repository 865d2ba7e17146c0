"""Experiments in the background: a process of their own, which outlives the server that started it."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path

import pll
from pll.catalog.server_files import on_server
from pll.errors import UserError
from pll.experiments.execution import ExperimentFolder
from pll.experiments.experiment import Experiment
from pll.paths import candid_home
from pll.runs.process import PerProcess

OUTPUT = "output.txt"
"""Output of the process."""

_started: PerProcess[dict[Path, subprocess.Popen[bytes]]] = PerProcess(dict)
"""The latest process of each folder that this process has started."""
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


def begin(name: str, experiment: Experiment) -> ExperimentFolder:
    """Make the folder of a new experiment, and start it.

    Parameters
    ----------
    name
        Wished for; the folder's name is made of it.

    Raises
    ------
    UserError
        Another one is running, its files are not in folders that the server may read, or no data set of it is on this
        machine.
    """
    check_paths(experiment)
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


def check_paths(experiment: Experiment) -> None:
    """Raise UserError where a file of data is not in a folder that the server may read."""
    for path in experiment.paths():
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


def stop(folder: ExperimentFolder, patience: float = 30.0) -> None:
    """Stop the process of an experiment, and wait for it."""
    _, _, pid = folder.progress()
    child = _started().get(folder.path)
    if pid is None or not folder.is_locked():
        return
    with suppress(ProcessLookupError, PermissionError):
        os.kill(pid, signal.SIGTERM)
    if child is not None:
        with suppress(subprocess.TimeoutExpired):
            child.wait(patience)


def delete(folder: ExperimentFolder) -> None:
    """Delete an experiment with all of its results.

    Raises
    ------
    UserError
        It is running.
    """
    if folder.is_locked():
        raise UserError("It is running; stop it first.")
    shutil.rmtree(folder.path, ignore_errors=True)


def running() -> ExperimentFolder | None:
    """Return the experiment that runs now."""
    return next((folder for folder in experiments() if folder.is_locked()), None)


def _check_idle() -> None:
    at_work = running()
    if at_work is not None or any(child.poll() is None for child in _started().values()):
        name = "another one" if at_work is None else at_work.path.name
        raise UserError(f"One experiment runs at a time, and {name} is running; wait for it or stop it.")


def _start(folder: ExperimentFolder) -> None:
    (folder.path / "progress.json").unlink(missing_ok=True)  # of an earlier process
    jobs = max(1, (os.cpu_count() or 1) - 1)  # the server needs a core too
    command = [sys.executable, "-m", "pll", "experiment", str(folder.path), "--jobs", str(jobs)]
    with (folder.path / OUTPUT).open("wb") as output:
        child = subprocess.Popen(
            command,
            cwd=Path(pll.__file__).resolve().parents[1],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    _started()[folder.path] = child


def is_starting(folder: ExperimentFolder) -> bool:
    """Return whether a process of ours has been started that has not taken the folder yet."""
    child = _started().get(folder.path)
    return child is not None and child.poll() is None and not folder.is_locked()


def _changed(path: Path) -> float:
    try:
        return (path / "experiment.json").stat().st_mtime
    except OSError:
        return 0.0

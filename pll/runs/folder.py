"""The folder of a run: created, watched, resumed and listed; `pll.runs.files` says what is in it."""

from __future__ import annotations

import io
import json
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from pll.analysis.health import Health
from pll.candidates import CandidateSets
from pll.catalog.sources import Source
from pll.errors import UserError
from pll.extras import versions
from pll.io import Arrays, from_json, json_text, write_json, write_text, writing_to
from pll.methods.chosen import Recipe, read_recipe
from pll.runs import files
from pll.runs.config import RunConfig
from pll.runs.locked_folder import LockedFolder
from pll.runs.manifest import Manifest, check, is_verifiable, matches, read_manifest, reading
from pll.training.metrics import METRICS
from pll.weights import Outside, Weights

State = Literal["queued", "running", "paused", "stopped", "failed", "interrupted", "finished"]
"""`interrupted` is written when another process of the training has ended, and stands for `queued`, `running` and
`paused` where nobody holds the lock."""

ENDED: tuple[State, ...] = ("stopped", "failed", "finished")
"""States in which nothing is written any more, until the run is resumed."""

MOST_NAME = 200
"""Characters of a display name."""


class RunFolder(LockedFolder):
    """Reads and writes the files of one run.

    Parameters
    ----------
    path
        The folder, created by `create`.

    Attributes
    ----------
    history
        Folder of the label weights over epochs; see `pll.runs.history`.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path, files.LOCK_FILE)
        self.history = path / "history"

    # ---- config and state ----------------------------------------------------------------------------------------

    def exists(self) -> bool:
        """Return whether the folder holds a run, be its config.json missing."""
        return (self.path / files.CONFIG_FILE).exists() or (self.path / files.MANIFEST_FILE).exists()

    def check_free(self) -> None:
        """Raise UserError where a new run would write over files that are of no run."""
        if self.exists():
            self.config()  # raises where another program's files have these names
        elif self.path.is_dir() and not self._lock_file.exists():  # with it, a run was killed as it copied its source
            there = sorted(file.name for file in self.path.iterdir() if file.name in files.OF_A_RUN)
            if there:
                raise UserError(
                    f"{self.path} holds {there[0]}, which is of no run, and a run would write over it; choose another "
                    "folder."
                )

    def create(self, config: RunConfig) -> RunConfig:
        """Create the folder and return the config with its source files copied into it.

        Raises
        ------
        UserError
            There is a file at that path, the disk is full, or a source file is missing.
        """
        with writing_to(self.path):
            self.path.mkdir(parents=True, exist_ok=True)
            stored = self._with_sources(config, Source.copied_to)
            about = {
                "run": asdict(stored),
                "created": datetime.now(UTC).isoformat(timespec="microseconds"),  # the runs are listed in this order
                "versions": versions(),
            }
            self._write_about(about)
            self.set_state("queued")
        return stored

    def _write_about(self, about: dict[str, Any]) -> None:
        Manifest(self.path).put(files.CONFIG_FILE, json_text(about).encode())

    def config(self) -> RunConfig:
        """Return the config that the run was started with.

        Raises
        ------
        UserError
            The folder holds no run, or its config.json cannot be read.
        """
        about = self.about()
        try:
            config = from_json(RunConfig, about["run"])
        except (ValueError, KeyError) as error:
            raise UserError(
                f"{self.path / files.CONFIG_FILE} is not of a run of this version of Candid ({error}); start a new run."
            ) from error
        return replace(self._with_sources(config, Source.relocated), name=self._other_name() or config.name)

    def _with_sources(self, config: RunConfig, moved: Callable[[Source, Path], Source]) -> RunConfig:
        """Return the config with its sources as `moved` returns them for their places in this folder."""
        test = None if config.test is None else moved(config.test, self.path / "source-test")
        return replace(config, source=moved(config.source, self.path / "source"), test=test)

    def rename(self, name: str) -> None:
        """Give the run another display name.

        config.json stays as it is, since reviews identify the run by its content.

        Raises
        ------
        UserError
            See `checked_name`; the disk is full.
        """
        with writing_to(self.path):
            write_json(self.path / files.NAME_FILE, {"name": checked_name(name)})

    def _other_name(self) -> str:
        """The name it was given later; "" where there is none, or where it cannot be read."""
        with suppress(OSError, ValueError, TypeError, KeyError, RecursionError):
            return str(json.loads((self.path / files.NAME_FILE).read_text(encoding="utf-8"))["name"])
        return ""

    def about(self) -> dict[str, Any]:
        """Return the content of config.json.

        Raises
        ------
        UserError
            The folder holds no run, or its config.json cannot be read.
        """
        return self._read_json(files.CONFIG_FILE)

    def _read_json(self, name: str) -> dict[str, Any]:
        """Return the content of a file of the run.

        Raises
        ------
        UserError
            There is no run, or the file is damaged.
        """
        file = self.checked(name)
        try:
            with reading(file):
                return dict(json.loads(file.read_text(encoding="utf-8")))
        except FileNotFoundError as error:
            raise UserError(f"There is no run in {self.path}; check the path.") from error

    def created(self) -> str:
        """Return when the run was created, ISO 8601 in UTC; where config.json is damaged, when its folder changed.

        Raises
        ------
        OSError
            The folder is gone.
        """
        with suppress(UserError):
            return str(self.about().get("created", ""))
        return datetime.fromtimestamp(self.path.stat().st_mtime, UTC).isoformat(timespec="microseconds")

    def note(self, **facts: Any) -> None:
        """Add facts to config.json that are known only later: of the data (fingerprint, sizes), all parameters."""
        self._write_about(self.about() | facts)

    def set_state(self, state: State, **facts: Any) -> None:
        """Write the state of the run; where it has ended, the checksums of all files too, last."""
        Manifest(self.path).forget(files.STATE_FILE)
        write_json(self.path / files.STATE_FILE, {"state": state, "changed": time.time(), **facts})
        if state in ENDED:
            Manifest(self.path).seal()

    def checked(self, name: str) -> Path:
        """Return the path of a file of the run, once it is found to be what was written.

        Raises
        ------
        DamagedError
            It is not.
        """
        return check(self.path, name)

    def state(self) -> dict[str, Any]:
        """Return the content of state.json; its health as a `Health`, None where it has none.

        The state is `interrupted` where no process holds the lock and the run has not ended, or its manifest, which is
        written last, is not complete.
        """
        if self.exists() and not (self.path / files.STATE_FILE).exists():
            self.checked(files.STATE_FILE)  # raises where the run has ended; else the process crashed between two files
            return {"state": "interrupted", "health": None}
        content = self._read_json(files.STATE_FILE)
        with reading(self.path / files.STATE_FILE):
            content["health"] = Health.from_json(content.get("health"))
            if float(content["changed"]) < 0 or content["state"] not in get_args(State):
                raise ValueError(f"{content['state']!r} is no state")
        has_ended = content["state"] in ENDED and is_verifiable(self.path)
        if not has_ended and not self.is_locked():
            content["state"] = "interrupted"
        return content

    def has_begun(self) -> bool:
        """Return whether there is an epoch or a checkpoint to continue from."""
        return bool(self.metrics()) or (self.path / files.CHECKPOINT_FILE).exists()

    def recipe(self) -> Recipe | None:
        """Return the recipe that was chosen for the run; None before that.

        Raises
        ------
        UserError
            Recipe.json cannot be read.
        """
        file = self.path / files.RECIPE_FILE
        return read_recipe(file) if file.exists() else None

    def save_recipe(self, recipe: Recipe) -> None:
        """Write recipe.json: settings that were chosen, and everything that was tried."""
        Manifest(self.path).put(files.RECIPE_FILE, json_text(asdict(recipe)).encode())

    def outside(self, given: CandidateSets) -> Outside | None:
        """Return the labels that the method has added to the candidate sets; None where it added none.

        Parameters
        ----------
        given
            The sets before that.

        Raises
        ------
        UserError
            Outside.npz is damaged.
        """
        arrays = self.arrays(files.OUTSIDE_FILE)
        if arrays is None:
            return None
        with reading(self.path / files.OUTSIDE_FILE):
            return Outside.of(given, arrays["rows"], arrays["labels"], arrays["miss"])

    def save_outside(self, outside: Outside) -> None:
        """Write outside.npz."""
        rows, labels = outside.candidates.rows[outside.added], outside.candidates.indices[outside.added]
        self.put_arrays(files.OUTSIDE_FILE, {"rows": rows, "labels": labels, "miss": outside.miss})

    # ---- how sure the labels are ---------------------------------------------------------------------------------

    def held_out(self, sets: CandidateSets) -> Weights | None:
        """Return the (nnz,) held-out weights of a run that has ended, NaN in rows where they are not known.

        Parameters
        ----------
        sets
            The candidate sets that it learnt from.

        Returns
        -------
        Weights | None
            None where it is not known how sure the labels are: the run was stopped, or this was skipped.

        Raises
        ------
        UserError
            The file `held_out.npz` is damaged.
        """
        arrays = self.arrays(files.HELD_OUT_FILE)
        if arrays is None:
            return None
        weights = arrays.get("weights")
        if weights is None or weights.shape != (sets.nnz,) or weights.dtype != np.float32:
            raise UserError(f"{self.path / files.HELD_OUT_FILE} does not fit the candidate sets; start a new run.")
        return weights

    def save_held_out(self, weights: Weights | None) -> None:
        """Write held_out.npz; None deletes it."""
        if weights is None:
            Manifest(self.path).forget(files.HELD_OUT_FILE)
            (self.path / files.HELD_OUT_FILE).unlink(missing_ok=True)
        else:
            self.put_arrays(files.HELD_OUT_FILE, {"weights": weights})

    def arrays(self, name: str) -> Arrays | None:
        """Return what `put_arrays` wrote; None where there is nothing.

        Raises
        ------
        UserError
            The file is damaged.
        """
        if not (self.path / name).exists():
            return None
        with reading(self.path / name), np.load(self.checked(name), allow_pickle=False) as file:
            return dict(file)

    def put_arrays(self, name: str, arrays: Arrays) -> None:
        """Write arrays to a file of the run, listed with its checksum.

        Parameters
        ----------
        name
            Of the file, a .npz.
        arrays
            By their names in it.
        """
        content = io.BytesIO()
        np.savez(content, allow_pickle=False, **arrays)
        Manifest(self.path).put(name, content.getbuffer())

    # ---- metrics, checkpoint -------------------------------------------------------------------------------------

    def append_metrics(self, row: dict[str, Any]) -> None:
        """Append a row to metrics.csv; None becomes an empty field."""
        file = self.path / files.METRICS_FILE
        lines = _csv_line(list(METRICS)) if not file.exists() else ""
        with file.open("a", newline="", encoding="utf-8") as stream:
            stream.write(lines + _csv_line([row[name] for name in METRICS]))

    def metrics(self) -> list[dict[str, Any]]:
        """Return the rows of metrics.csv, numbers as numbers and empty fields as None.

        Columns go by their names: what the file does not have is None, what it has besides is left out.

        Raises
        ------
        UserError
            The file is damaged.
        """
        file = self.checked(files.METRICS_FILE)
        with suppress(FileNotFoundError), reading(file):
            text = file.read_text(encoding="utf-8")
            lines = text[: text.rfind("\n") + 1].splitlines()  # the last line may be half-written
            return [_metrics_row(lines[0], line) for line in lines[1:]]
        return []

    def rewind_metrics(self, epoch: int) -> None:
        """Delete the rows after `epoch`."""
        rows = [row for row in self.metrics() if row["epoch"] <= epoch] if epoch else []
        Manifest(self.path).forget(files.METRICS_FILE)
        write_text(self.path / files.METRICS_FILE, metrics_text(rows))

    def save_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        """Write what `PartialLabelEstimator.checkpoint` returned, and list in the manifest what there is so far."""
        import torch  # late: whoever only reads a run needs none of it

        content = io.BytesIO()  # straight to a full disk, torch's error names positions in the file
        torch.save(checkpoint, content)
        Manifest(self.path).put(files.CHECKPOINT_FILE, content.getbuffer(), durable=True)

    def checkpoint(self) -> dict[str, Any] | None:
        """Return the last checkpoint, or None.

        Raises
        ------
        UserError
            It cannot be read.
        """
        import torch

        file = self.path / files.CHECKPOINT_FILE
        if not file.exists():
            return None
        try:
            self.checked(files.CHECKPOINT_FILE)
            checkpoint: dict[str, Any] = torch.load(file, map_location="cpu", weights_only=True)
            _ = checkpoint["epoch"]
        except Exception as error:  # torch raises many types, with advice for programmers
            raise UserError(
                f"The checkpoint {file} is damaged or not one of Candid's; delete it to start the run afresh."
            ) from error
        return checkpoint


def checked_name(name: str) -> str:
    """Return a display name without spaces around it.

    Raises
    ------
    UserError
        It is empty, too long, or holds control characters.

    Examples
    --------
    >>> checked_name("  second try ")
    'second try'
    """
    name = name.strip()
    if not 0 < len(name) <= MOST_NAME or not name.isprintable():
        raise UserError(f"A name has 1 to {MOST_NAME} characters in one line.")
    return name


def check_has_result(folder: RunFolder) -> None:
    """Raise UserError where a run has no model and no final label weights, or these are damaged."""
    state = folder.state()["state"]
    listing = read_manifest(folder.path)
    for name in () if listing is None else listing.files:
        if matches(name, files.FITTED):
            folder.checked(name)
    if not (folder.path / files.MODEL_FILE).exists() or not (folder.history / "final.npy").exists():
        raise UserError(f"The run in {folder.path} has no result yet ({state}); let it go on to one first.")


def list_runs(root: Path) -> Iterable[RunFolder]:
    """Return the runs under a folder, newest first."""
    if not root.is_dir():
        return []
    folders = {file.parent for name in (files.CONFIG_FILE, files.MANIFEST_FILE) for file in root.glob(f"*/{name}")}
    return sorted(map(RunFolder, folders), key=_created, reverse=True)


def _created(folder: RunFolder) -> str:
    try:
        return folder.created()
    except OSError:  # deleted since it was found
        return ""


def metrics_text(rows: Iterable[Mapping[str, Any]]) -> str:
    """Return the text of metrics.csv; what a row does not have is an empty field."""
    return _csv_line(list(METRICS)) + "".join(_csv_line([row.get(name) for name in METRICS]) for row in rows)


def _metrics_row(header: str, line: str) -> dict[str, Any]:
    cells = dict(zip(header.split(","), line.split(","), strict=True))
    row = {name: kind(cells[name]) if cells.get(name) else None for name, kind in METRICS.items()}
    return row | {"epoch": int(cells["epoch"])}  # a row without it is none


def _csv_line(values: Sequence[Any]) -> str:
    """Format a row. Names and numbers need no quotes; the text of a float reads back as the same float."""
    return ",".join("" if value is None else str(value) for value in values) + "\n"

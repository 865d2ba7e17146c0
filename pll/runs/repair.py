"""What is wrong with the folder of a run, and what of it can be rebuilt from the rest: `candid check`.

Rebuilt is what follows from sound files: config.json from the manifest's copy; labels.csv from the final label weights
and the data; the final label weights from the model, where labels.csv confirms them; metrics.csv and the tables of the
history from its frames; state.json from all of these. Where the manifest has the checksum of what was lost, the
rebuilt file is compared with it: it is then the same to the last bit. The model, the features and the data cannot be
rebuilt.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import Any, Literal

import numpy as np
import pandas as pd

from pll.analysis.protocol import Parts
from pll.candidates import CandidateSets
from pll.errors import UserError
from pll.io import PART, save_array, write_atomically, write_json, write_text
from pll.methods.persistence import load_model
from pll.runs import runner
from pll.runs.folder import RunFolder, metrics_text
from pll.runs.history import History, choose_tracked, rebuild_table
from pll.runs.labels_table import NO_ANSWER, write_labels, write_no_answer
from pll.runs.manifest import (
    CONFIG_FILE,
    MANIFEST_FILE,
    STATE_FILE,
    Damage,
    DamagedError,
    Manifest,
    damages,
    is_verifiable,
    listed_files,
    matches,
    read_manifest,
)
from pll.training.metrics import Monitor
from pll.weights import Weights, on_candidates, restricted_softmax, sharpness

CLOSE = 1e-4
"""Largest difference of a confidence by which a rebuilt label weight may differ from labels.csv."""

How = Literal["exactly", "in part", "no"]

REBUILT: dict[str, str] = {
    MANIFEST_FILE: "written again, where the files fit together",
    CONFIG_FILE: "from the manifest",
    "history/frames/*": "not; the damaged frame is removed, the others stay",
    "history/final.json": "from the state of the run",
    "history/final.npy": "from the last frame of the history, or from the model where labels.csv agrees",
    "history/tracked.npy": "drawn again",
    "labels.csv": "from the final label weights",
    NO_ANSWER: "from the data",
    STATE_FILE: "from the history and the model",
    "history/changes.npy": "from the frames of the history where they are all there, else removed",
    "history/*.f32": "from the frames of the history; empty where a frame was thinned out",
    "metrics.csv": "from the frames of the history; loss, test accuracy and times are lost",
    "log.txt": "not; it is listed as it is",
    "checkpoint/*": "not; it is removed, and a run that has not ended starts afresh",
}
"""Pattern of names → how such a file is rebuilt, those first of which others are made."""
ORDER = tuple(REBUILT)


def way_to_rebuild(name: str) -> str | None:
    """Return how a file can be rebuilt, as a clause; None where it cannot.

    >>> way_to_rebuild("labels.csv"), way_to_rebuild("model.safetensors")
    ('from the final label weights', None)
    """
    pattern = _pattern(name)
    return None if pattern is None else REBUILT[pattern]


def _pattern(name: str) -> str | None:
    return next((pattern for pattern in ORDER if matches(name, (pattern,))), None)


@dataclass(frozen=True)
class Report:
    """State of the files of a run.

    Attributes:
        files: number of files that were compared with the manifest.
        damaged: those that are not what was written.
        complete: whether the manifest lists all files of a run that has ended.
        listed: whether there is a manifest; runs of earlier versions have none.
    """

    files: int
    damaged: tuple[Damage, ...]
    complete: bool
    listed: bool


def inspect(folder: RunFolder) -> Report:
    """Compare all files of a run with its manifest.

    Raises:
        UserError: there is no run, or it is at work.
    """
    if not folder.exists():
        raise UserError(f"There is no run in {folder.path}.")
    if folder.is_locked():
        raise UserError(f"The run in {folder.path} is at work; stop it, or wait until it has ended.")
    try:
        listing = read_manifest(folder.path)
    except DamagedError as error:
        return Report(0, (error.damage,), complete=False, listed=True)
    return Report(
        0 if listing is None else len(listing.files),
        tuple(damages(folder.path)),
        complete=is_verifiable(folder.path),
        listed=listing is not None,
    )


@dataclass(frozen=True)
class Rebuilt:
    """What became of a damaged file.

    Attributes:
        name: of the file.
        how: `"exactly"`: as it was, to the last bit; `"in part"`; `"no"`.
        words: a sentence for the user.
    """

    name: str
    how: How
    words: str


def rebuild(folder: RunFolder) -> list[Rebuilt]:
    """Rebuild the damaged files of a run from the others, and list it in its manifest again where all is sound.

    Raises:
        UserError: there is no run, or it is at work.
    """
    report = inspect(folder)
    folder.lock()
    try:
        return _Repair(folder).all(report)
    finally:
        folder.unlock()


class _Repair:
    def __init__(self, folder: RunFolder) -> None:
        self.folder = folder
        self.path = folder.path
        self.makers: dict[str, Callable[[str], None]] = {
            CONFIG_FILE: self._config,
            STATE_FILE: self._state,
            "labels.csv": self._labels,
            NO_ANSWER: self._no_answer,
            "history/final.npy": self._final,
            "history/final.json": self._final_epoch,
            "history/changes.npy": self._changes,
            "history/tracked.npy": self._tracked,
            "history/*.f32": self._tables,
            "history/frames/*": self._remove,
            "metrics.csv": self._metrics,
            "log.txt": self._keep,
            "checkpoint/*": self._remove,
        }

    def all(self, report: Report) -> list[Rebuilt]:
        if any(damage.name == MANIFEST_FILE for damage in report.damaged) or not report.listed:
            return [self._manifest()]
        named = [damage.name for damage in report.damaged]
        return [
            self._rebuilt(name) for name in sorted(named, key=lambda name: ORDER.index(_pattern(name) or ORDER[-1]))
        ]

    def _rebuilt(self, name: str) -> Rebuilt:
        pattern = _pattern(name)
        if pattern is None:
            return Rebuilt(name, "no", f"{name} cannot be rebuilt. {_remedy(name)}")
        lost = Manifest(self.path).files[name]
        try:
            self.makers[pattern](name)
        except DamagedError as error:
            return Rebuilt(name, "no", f"{name} cannot be rebuilt, since {error.damage.words}.")
        except (UserError, OSError, KeyError) as error:
            return Rebuilt(name, "no", f"{name} cannot be rebuilt: {error}")
        now = Manifest(self.path).relist(name)
        if now is not None and now.sha256 == lost.sha256:
            return Rebuilt(name, "exactly", f"{name} is rebuilt exactly as it was.")
        return Rebuilt(name, "in part", f"{name}: {REBUILT[pattern]}.")

    # ---- what others are made of ---------------------------------------------------------------------------------

    @cached_property
    def parts(self) -> Parts:
        return runner.parts_of(self.folder)

    @property
    def sets(self) -> CandidateSets:
        return self.parts.train.sets()

    @property
    def history(self) -> History:
        return History(self.folder.history, self.sets)

    def epoch(self) -> int:
        """The epoch of the final model."""
        try:
            epochs = self.history.epochs()
        except UserError:
            epochs = []
        known = [self._state_epoch(), *epochs]
        return max(epoch for epoch in known if epoch is not None)

    def _state_epoch(self) -> int | None:
        try:
            return int((self.folder.state().get("metrics") or {})["epoch"])
        except (UserError, KeyError):
            return None

    # ---- one file each -------------------------------------------------------------------------------------------

    def _config(self, name: str) -> None:
        listing = read_manifest(self.path)
        if listing is None or not listing.config:
            raise UserError("the manifest has no copy of it.")
        write_text(self.path / name, listing.config)

    def _labels(self, name: str) -> None:
        write_labels(self._label_rows(), self.path / name)

    def _no_answer(self, name: str) -> None:
        write_no_answer(self.parts.no_answer, self.path / name)

    def _label_rows(self) -> pd.DataFrame:
        weights, held = self.history.final(), self.parts.held
        model = runner.new_estimator(self.folder.config()) if held is None else load_model(self.path)
        return runner.label_rows(self.parts, model, weights)

    def _final(self, name: str) -> None:
        lost = Manifest(self.path).files[name]
        for frame in sorted((self.folder.history / "frames").glob("*.npy"), reverse=True)[:1]:
            if sha256(content := frame.read_bytes()).hexdigest() == lost.sha256:  # that of the last epoch is the same
                write_atomically(self.path / name, lambda part: part.write_bytes(content))
                return
        weights = self._weights_of_model()
        self._check_against_labels(weights)
        save_array(self.path / name, weights)

    def _check_against_labels(self, weights: Weights) -> None:
        rows = pd.read_csv(self.folder.checked("labels.csv"), dtype=str, keep_default_na=False)
        ids = pd.Index(self.parts.train.row_ids)
        known = rows.set_index("id").reindex(ids)  # without the rows that were held out
        sharp = sharpness(weights, self.sets)
        labels = np.array(self.sets.class_names, dtype=object)[sharp.identified]
        apart = np.abs(sharp.confidence - known["confidence"].astype(float).to_numpy()).max(initial=0)
        if (known["identified_label"].to_numpy() != labels).any() or not apart < CLOSE:
            raise UserError("what the model gives now is not what labels.csv holds.")

    def _weights_of_model(self) -> Weights:
        scores = load_model(self.path).predict_scores(self.parts.train.X)
        return restricted_softmax(on_candidates(scores, self.sets), self.sets, outside=self.parts.train.outside)

    def _final_epoch(self, name: str) -> None:
        epoch = self._state_epoch()
        if epoch is None:
            raise UserError("the state of the run does not say which epoch its model is of.")
        write_json(self.path / name, {"epoch": epoch})

    def _changes(self, name: str) -> None:
        epochs = self.history.epochs()
        if epochs != list(range(self.epoch() + 1)):  # what changed in between is not known
            (self.path / name).unlink(missing_ok=True)
            return
        monitor = Monitor(self.sets)
        for epoch, weights in self.history.frames(epochs[1:]):
            monitor.record(epoch, weights)
        save_array(self.path / name, monitor.changes)

    def _tracked(self, name: str) -> None:
        save_array(self.path / name, choose_tracked(len(self.sets)))

    def _tables(self, name: str) -> None:
        rebuild_table(self.history, name.rpartition("/")[2], self.epoch(), self.parts.train.y)

    def _metrics(self, name: str) -> None:
        train = self.parts.train
        monitor, before, rows = Monitor(train.sets(), train.y), None, []
        found = dict(self.history.frames([epoch for epoch in self.history.epochs() if epoch]))
        for epoch in range(1, self.epoch() + 1):
            row: dict[str, Any] = {"epoch": epoch}
            if epoch in found:
                record = monitor.record(epoch, found[epoch]).metrics()
                known = ["mean_confidence", "mean_entropy", "transductive_accuracy"]
                known += ["changed_labels"] if epoch == 1 or before == epoch - 1 else []
                row |= {column: record[column] for column in known}
                before = epoch
            rows.append(row)
        write_text(self.path / name, metrics_text(rows))

    def _state(self, name: str) -> None:
        epoch, config, test = self.epoch(), self.folder.config(), self.parts.test
        train = self.parts.train
        predicted = None if test is None else load_model(self.path).predict(test.X)
        final = Monitor(train.sets(), train.y, None if test is None else test.y).record(
            epoch, self.history.final(), predicted_test=predicted
        )
        metrics = runner.final_metrics(config.method, final, train, test)
        state = "finished" if epoch == self.folder.about().get("epochs") else "stopped"
        write_json(self.path / name, {"state": state, "changed": time.time(), "metrics": metrics, "notes": []})

    def _remove(self, name: str) -> None:
        (self.path / name).unlink(missing_ok=True)

    def _keep(self, name: str) -> None:
        with (self.path / name).open("a", encoding="utf-8"):
            pass  # where it is missing it is made

    def _manifest(self) -> Rebuilt:
        """List the files as they are, where labels, label weights and model fit together."""
        file, aside = self.path / MANIFEST_FILE, self.path / f"{PART}{MANIFEST_FILE}"
        if file.exists():
            file.replace(aside)  # else nothing can be read
        try:
            has_ended = self._check_consistent()
            manifest = Manifest(self.path)
            manifest.config = (self.path / CONFIG_FILE).read_text(encoding="utf-8")
            manifest.seal() if has_ended else manifest.record()
        except (UserError, OSError, KeyError, ValueError) as error:
            if aside.exists():
                aside.replace(file)
            return Rebuilt(MANIFEST_FILE, "no", f"{MANIFEST_FILE} is not written: {error}")
        aside.unlink(missing_ok=True)
        count = sum(1 for _ in listed_files(self.path))
        said = f"{MANIFEST_FILE} lists {count} files as they are now; labels, label weights and model fit together."
        return Rebuilt(MANIFEST_FILE, "in part", said)

    def _check_consistent(self) -> bool:
        """Return whether the run has ended; raise UserError where its labels, label weights and model do not fit."""
        self.folder.config()
        self.folder.metrics()
        if self.folder.state()["state"] not in ("finished", "stopped"):
            return False
        load_model(self.path)
        made = self.path / f"{PART}labels.csv"
        write_labels(self._label_rows(), made)
        fit = made.read_bytes() == (self.path / "labels.csv").read_bytes()
        made.unlink()
        if not fit:
            raise UserError("labels.csv is not what the final label weights give.")
        return True


def _remedy(name: str) -> str:
    if matches(name, ("source/*", "source-test/*")):
        return "Put the data file back in its place."
    return "Put it back from a copy; or train again with the same settings: the same seed gives the same result."

"""The fit loop: estimator → history, checkpoint, labels and model, all in the folder of a run.

The thread of a run (`pll.runs.run`) trains an epoch at a time; the command line trains to the end. In several
processes on this machine, this one leads and the others `follow`: `python -m pll.runs.fit_loop PORT RANK SIZE PARENT`.
"""

from __future__ import annotations

import json
import math
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import torch
from torch.distributed import TCPStore  # type: ignore[attr-defined]  # public, but its stub does not export it

import pll
from pll.analysis.covering_check import against_sets, top_loss_of
from pll.analysis.health import Health, against_truth, health_of
from pll.analysis.protocol import Splits
from pll.analysis.readiness import warnings_about
from pll.dataset import PartialLabelDataset
from pll.errors import UserError, explain
from pll.features import save_features
from pll.formats.label_frame import labels_frame
from pll.io import check_free_space, json_text, remove_parts
from pll.methods import PartialLabelEstimator, get_method
from pll.methods.advice import check_memory
from pll.methods.deep import DeepEstimator
from pll.methods.input_range import RANGE, input_range
from pll.methods.persistence import save_model, warm_start
from pll.methods.recipe import Recipe
from pll.runs.config import RunConfig
from pll.runs.folder import RunFolder, State
from pll.runs.history import HistoryWriter, history_bytes
from pll.runs.labels_table import (
    NO_ANSWER,
    PART,
    label_table,
    write_labels,
    write_labels_in_parts,
    write_no_answer,
)
from pll.runs.manifest import THINNED, DamagedError, Manifest, damages, matches
from pll.runs.process import end_with_parent
from pll.runs.run_data import load_splits, save_vote_sets, vote_sets_of
from pll.training.distributed import Ranks, RanksError
from pll.training.metrics import FINAL_METRICS, EpochRecord, Hook, Monitor, StopTraining
from pll.weights import Weights, sharpness

CHECKPOINT_EVERY = 10.0
"""Seconds between checkpoints; longer where they take more than `CHECKPOINT_SHARE` of the time."""
CHECKPOINT_SHARE = 0.05
VOTES_CONFIDENCE = "Confidence is too high where voters share mistakes; random controls in a review put it right."
"""Note on every run on votes; docs/votes.md has figures."""
HOST = "127.0.0.1"
LOOK = 0.1
"""Seconds between two looks whether all processes have begun."""
START = 300.0
"""Seconds in which all processes begin; on a busy machine the imports alone take long."""
FAREWELL = 10.0
"""Seconds in which the others end by themselves."""
_BUSY = threading.Lock()
"""torch connects a process with others once at a time."""
RESULTS = ("labels.csv", NO_ANSWER, "model.*", "features.*", "history/final.*", "history/changes.npy")
"""What is written when a run ends, or is stopped."""


@dataclass(frozen=True)
class RunOutcome:
    """End of a run.

    Attributes
    ----------
    state
        `"finished"` or `"stopped"`.
    metrics
        The final metrics.
    health
        Whether its labels can be used, as `pll.analysis.health.Health.to_json` gives it.
    """

    state: str
    metrics: dict[str, Any]
    health: dict[str, Any]


def new_estimator(config: RunConfig, *, is_table: bool = False) -> PartialLabelEstimator:
    """Return the unfitted estimator of a run. Missing cells of a table are filled; in arrays they are refused.

    Raises
    ------
    UserError
        No such method, or a setting it does not have.
    """
    method = get_method(config.method)
    defaults = method().get_params()
    for name, value in config.params.items():
        if name not in defaults:
            raise UserError(f"{method.title} has no setting called {name!r}; it has {', '.join(sorted(defaults))}.")
        if isinstance(value, float) and not math.isfinite(value):
            raise UserError(f"{name} is {value}; it must be a finite number.")
    own = {"seed": config.seed} | ({"missing": "mean"} if is_table else {})
    return method(**{name: value for name, value in own.items() if name in defaults} | config.params)


class FitLoop:
    """Training of one method on the data of a run: estimator → history, checkpoint, labels, model.

    Parameters
    ----------
    folder
        Created by `RunFolder.create`; the caller holds its lock.
    load
        Returns the data, which the caller may have already; by default `load_splits`.
    hook
        Called between mini-batches; may wait, may raise `StopTraining`.
    on_ready
        Called with this loop before the first epoch, once `splits` and `estimator` are complete.
    on_search
        Called while settings are searched, before that, with the share that is done.
    ranks
        The processes that train together, of which this one leads; the others `follow`. None for this one alone.
    processes
        How many to start here, where there are no `ranks`.

    Attributes
    ----------
    splits, estimator
        The data and the method; missing before the data is read.
    """

    config: RunConfig
    splits: Splits
    estimator: PartialLabelEstimator
    history: HistoryWriter

    def __init__(
        self,
        folder: RunFolder,
        *,
        load: Callable[[], Splits] | None = None,
        hook: Hook | None = None,
        on_ready: Callable[[FitLoop], None] = lambda loop: None,
        on_search: Callable[[float], None] = lambda share: None,
        ranks: Ranks | None = None,
        processes: int = 1,
    ) -> None:
        self.folder = folder
        self.load = load
        self.outer_hook = hook
        self.on_ready = on_ready
        self.on_search = on_search
        self.ranks = ranks
        self.processes = processes
        self.others = ExitStack()
        self.saved_at = time.monotonic()
        self.saving = 0.0  # seconds that the latest checkpoint took

    def train(self, on_record: Callable[[EpochRecord], None] = lambda record: None) -> RunOutcome:
        """Train to the end, from the checkpoint where there is one; results and errors as for `epochs`.

        Parameters
        ----------
        on_record
            Called with every record once it is on disk.
        """
        with closing(self.epochs()) as going:
            while True:
                try:
                    on_record(next(going))
                except StopIteration as end:
                    return cast(RunOutcome, end.value)

    def epochs(self) -> Generator[EpochRecord, None, RunOutcome]:
        """Train one epoch at a time, from the checkpoint where there is one: yield every record once it is on disk.

        Time between two records, in which others may train, is not counted. `StopTraining` thrown in there (`throw`)
        ends the run as it does when a hook raises it.

        Returns
        -------
        RunOutcome
            The final state and metrics.

        Raises
        ------
        UserError
            Any error. The folder's state is then `failed` and its log has the traceback.
        """
        try:
            return (yield from self._epochs())
        except Exception as error:  # KeyboardInterrupt leaves an interrupted run
            message = explain(error)
            with suppress(OSError, UserError):  # a full disk, or a damaged manifest, must not hide the first error
                self.folder.log(traceback.format_exc())
                self.folder.set_state("interrupted" if isinstance(error, RanksError) else "failed", error=message)
            if isinstance(error, UserError):
                raise
            raise UserError(message) from error

    def _epochs(self) -> Generator[EpochRecord, None, RunOutcome]:
        self.config = self.folder.config()
        self.splits = (
            self.load() if self.load is not None else load_splits(self.config, vote_sets=vote_sets_of(self.folder))
        )
        train = self.splits.train
        self.estimator = new_estimator(self.config, is_table=train.kind == "table")
        save_vote_sets(self.folder, self.splits.vote_sets)
        self._choose_settings()
        self._note_facts()
        self._grow()
        train = self.splits.train
        first = self._warm_start()
        if first is None and self.estimator.takes_prior:
            first = train.prior if train.outside is None else train.outside.start(train.prior)
        self._check_space()
        check_memory(self.estimator, train)
        checkpoint = self._rewind_to_checkpoint(first)
        self.on_ready(self)
        try:
            self._gather_ranks()
            together = "" if self.ranks is None else f", in {self.ranks.size} processes"
            self.folder.log(f"{'resumed' if checkpoint else 'started'}: {self.config.method} on {train.name}{together}")
            return (yield from self._learn(checkpoint))
        finally:
            self.estimator.release()
            self.others.close()
            if torch.cuda.is_available():
                torch.cuda.empty_cache()

    def _choose_settings(self) -> None:
        """Take the settings of recipe.json, or choose them now."""
        estimator = self.estimator
        if not isinstance(estimator, DeepEstimator) or estimator.recipe == "default":
            return
        recipe = self.folder.recipe()
        together = self.ranks is not None or (self.processes > 1 and estimator.in_ranks)
        if recipe is None and estimator.recipe == "auto" and together:
            recipe = Recipe("auto", {}, {}, notes=("In several processes the default settings are used.",))
            self.folder.save_recipe(recipe)
        if recipe is None:
            self.folder.set_state("running")
            self.on_search(0.0)
            recipe = estimator.choose_settings(
                self.splits.task(),
                dataset=self.splits.train.name,
                hook=self.outer_hook,
                progress=lambda share, _: self.on_search(share),
            )
            self.folder.save_recipe(recipe)
        estimator.use_recipe(recipe)
        for sentence in recipe.messages():
            self.folder.log(sentence)

    def _gather_ranks(self) -> None:
        """Let the other processes read the data and make their trainers, as the method will here.

        Raises
        ------
        UserError
            One of them cannot.
        """
        estimator = self.estimator
        if self.ranks is None and self.processes > 1 and estimator.in_ranks:
            estimator.stage_ = f"starting {self.processes} processes"
            self.ranks = self.others.enter_context(other_processes(self.processes))
            estimator.stage_ = ""
            share = max(1, (os.cpu_count() or 1) // self.processes)  # threads that outnumber the cores wait spinning
            estimator.set_params(threads=min(estimator.get_params()["threads"] or share, share))
        if self.ranks is None:
            return
        assert isinstance(estimator, DeepEstimator)
        recipe = self.folder.recipe()
        chosen = {} if recipe is None else {**recipe.settings, "recipe": "default"}
        params = self.config.params | chosen | {"threads": estimator.threads}
        config = replace(self.config, params=params)
        place = str(self.folder.path.resolve())
        message = {"folder": place, "run": config.to_json(), "fingerprint": self.splits.train.fingerprint}
        self.ranks.broadcast_text(json_text(message))
        self.ranks.agree(None)
        estimator.use_ranks(self.ranks)

    def _grow(self) -> None:
        """Add to the sets what the method adds to them: what outside.npz has, or what it finds now."""
        if not self.estimator.adds_labels:
            return
        train = self.splits.train
        if train.outside is not None:
            return
        outside = self.folder.outside(train.sets())
        if outside is None:
            self.folder.set_state("running")
            self.on_search(0.0)
            try:
                outside = self.estimator.grown(self.splits.task(), hook=self.outer_hook).outside
            except StopTraining:  # training will stop, too, before it begins
                return
            assert outside is not None  # the method adds labels
            if self.config.decided_sets is not None:
                outside = outside.without(self.config.decided_sets.decided_rows)
            self.folder.save_outside(outside)
        self.splits = replace(self.splits, train=train.with_outside(outside))

    def _learn(self, checkpoint: dict[str, Any] | None) -> Generator[EpochRecord, None, RunOutcome]:
        record: EpochRecord | None = None
        away = 0.0
        self.folder.set_state("running")
        learning = self.estimator.iter_fit(
            self.splits.task(needs_features=self.estimator.needs_features), hook=self._hook, checkpoint=checkpoint
        )
        try:
            for learnt in learning:
                record = _without(away, learnt, len(self.splits.train))
                self._keep(record)
                left = time.perf_counter()
                yield record
                away = time.perf_counter() - left
        except StopTraining as stop:
            if isinstance(learning, Generator):
                learning.close()  # where it was stopped between two records: restores the thread count
            self._save_checkpoint()
            epoch = record.epoch if record else (checkpoint or {}).get("epoch", 0)
            return self._end("stopped", epoch, self.estimator.finish(), str(stop))
        if record is None:  # the checkpoint was that of the last epoch: only its result was missing
            assert checkpoint is not None
            return self._end("finished", checkpoint["epoch"], self.estimator.label_weights_)
        return self._end("finished", record.epoch, record.label_weights)

    def _keep(self, record: EpochRecord) -> None:
        self.folder.append_metrics(record.metrics())
        self.history.append(record)
        self._checkpoint_if_due()

    def _hook(self) -> None:
        if self.outer_hook is not None:
            self.outer_hook()
        self._checkpoint_if_due()

    def _checkpoint_if_due(self) -> None:
        if time.monotonic() - self.saved_at > max(CHECKPOINT_EVERY, self.saving / CHECKPOINT_SHARE):
            self._save_checkpoint()

    def _save_checkpoint(self) -> None:
        started = time.monotonic()
        self.folder.save_checkpoint(self.estimator.checkpoint())
        self.saved_at = time.monotonic()
        self.saving = self.saved_at - started

    def _end(self, state: str, epoch: int, weights: Weights, why: str = "") -> RunOutcome:
        train, test = self.splits.train, self.splits.test
        health = self._health(weights, check=state == "finished" or bool(why)).to_json()
        predicted = None if test is None else self.estimator.predict(test.X)
        final = Monitor(train.sets(), train.y, None if test is None else test.y).record(
            epoch, weights, predicted_test=predicted
        )
        metrics = final_metrics(self.config.method, final, train, test)
        Manifest(self.folder.path).forget(*RESULTS)
        save_labels(self.splits, self.estimator, weights, self.folder.path / "labels.csv")
        if self.splits.no_answer:
            write_no_answer(self.splits.no_answer, self.folder.path / NO_ANSWER)
        save_model(
            self.estimator,
            self.folder.path,
            method=self.config.method,
            input_shape=train.input_shape,
            feature_names=train.feature_names,
            extra={RANGE: input_range(train.X)},
        )
        if self.splits.featuriser is not None:
            save_features(self.splits.featuriser, self.folder.path)
        self.history.finish(epoch, weights, self.estimator.label_changes())  # last: marks the result as complete
        self.folder.log(f"{state} after epoch {epoch}: {metrics}")
        recipe = self.folder.recipe()
        messages = () if recipe is None else [one for one in recipe.messages() if one not in recipe.warnings]
        doubt = [VOTES_CONFIDENCE] if train.annotations is not None and not train.annotations.anonymous else []
        unanswered = self.splits.about_unanswered()
        notes = [*messages, *self.estimator.notes_, *unanswered, *doubt, *([why] if why else [])]
        ended: State = "finished" if state == "finished" else "stopped"
        self.folder.set_state(ended, metrics=metrics, notes=notes, health=health)
        return RunOutcome(state, metrics, health)

    def _health(self, weights: Weights, *, check: bool) -> Health:
        """Return the health of the run.

        Parameters
        ----------
        check
            Whether to fit the method on a part of the examples without true labels.
        """
        train, sets = self.splits.train, self.splits.train.sets()
        final = sharpness(weights, sets)
        evidence = against_truth(final.identified, train.y, sets)
        if evidence is None and check and self.estimator.needs_features:  # else labels came from votes alone
            self.estimator.stage_ = "checking the labels on examples that were not learnt from"
            evidence = against_sets(self.estimator, self.splits.task())
            self.estimator.stage_ = ""
        top_loss = top_loss_of(self.estimator, sets.n_classes)
        alone = not self.estimator.needs_features
        return health_of(self.folder.metrics(), final, sets, evidence, top_loss=top_loss, votes_alone=alone)

    def _warm_start(self) -> Weights | None:
        """For a run on decided sets: start from the model of the run before; return its label weights."""
        decided = self.config.decided_sets
        if decided is None or not decided.warm:
            return None
        parent = self.folder.path.parent / decided.parent
        warm = warm_start(self.estimator, parent, self.splits.train)
        self.folder.log(f"{'continues' if warm is not None else 'cannot continue'} the model of {parent.name}")
        return warm

    def _check_space(self) -> None:
        needed = history_bytes(self.splits.train.sets().nnz, self.estimator.total_epochs())
        what = "the label weights of all epochs"
        check_free_space(self.folder.path, needed, what)

    def _rewind_to_checkpoint(self, first: Weights | None) -> dict[str, Any] | None:
        checkpoint = self.folder.checkpoint()
        remove_parts(self.folder.path)
        if self.estimator.adds_labels and checkpoint == {"epoch": 0}:  # stopped while it looked for labels to add
            checkpoint = None
        if checkpoint is None:
            shutil.rmtree(self.folder.history, ignore_errors=True)
        else:
            self._check_history()
        epoch = 0 if checkpoint is None else checkpoint["epoch"]
        manifest = Manifest(self.folder.path)
        manifest.forget("history/*", "metrics.csv")  # before they are rewritten
        self.folder.rewind_metrics(epoch)
        train = self.splits.train
        self.history = HistoryWriter(self.folder.history, train.sets(), first=first)
        self.history.rewind(epoch)
        manifest.record()
        return checkpoint

    def _unused(self) -> list[str]:
        """What the data has that the method does not use, as sentences."""
        if self.splits.train.prior is None or self.estimator.takes_prior:
            return []
        return [f"{self.estimator.title} does not use the prior of the candidates; it takes them all alike."]

    def _check_history(self) -> None:
        """Refuse a damaged history, which the run would go on with; a damaged frame is deleted, as others are in time.

        Raises
        ------
        DamagedError
            a file that holds all epochs is damaged.
        """
        for damage in damages(self.folder.path):
            if matches(damage.name, (THINNED,)):
                (self.folder.path / damage.name).unlink(missing_ok=True)
                self.folder.log(f"{damage.words}; deleted")
            elif matches(damage.name, ("history/*", "metrics.csv")):
                raise DamagedError(self.folder.path, damage)

    def _note_facts(self) -> None:
        train, test = self.splits.train, self.splits.test
        params = self.estimator.fitted_params() | {"recipe": self.config.params.get("recipe", "default")}
        fingerprint = self.folder.about().get("fingerprint")
        if fingerprint is not None and fingerprint != train.fingerprint:
            raise UserError(f"{train.name} is no longer the data this run was started with; start a new run.")
        self.folder.note(
            fingerprint=train.fingerprint,
            parameters={k: v if isinstance(v, (int, float, str, type(None))) else repr(v) for k, v in params.items()},
            data={
                "name": train.name,
                "examples": len(train),
                "test_examples": 0 if test is None else len(test),
                "no_answer": self.splits.unanswered,
                "without_label": len(self.splits.no_answer),
                "input_shape": list(train.input_shape),
                "class_names": list(train.class_names),
                "mean_candidates": train.sets().nnz / len(train),
                "warnings": warnings_about(train) + self._unused(),
            },
            epochs=self.estimator.total_epochs(),
        )


def final_metrics(
    method: str, final: EpochRecord, train: PartialLabelDataset, test: PartialLabelDataset | None
) -> dict[str, Any]:
    """Return the final metrics of a run, from the record of its final model."""
    metrics = {"method": method, "epoch": final.epoch} | {name: getattr(final, name) for name in FINAL_METRICS}
    return metrics | {
        "known_labels": _count_known_labels(train),
        "known_test_labels": 0 if test is None else _count_known_labels(test),
    }


def save_labels(splits: Splits, estimator: PartialLabelEstimator, weights: Weights, path: Path) -> None:
    """Write labels.csv: identified labels of what was trained on, predicted ones of the other rows."""
    train, sets = splits.train, splits.train.sets()
    if splits.holdout is None and len(train) > PART:
        write_labels_in_parts(train, weights, path)
        return
    learnt = labels_frame(sets, weights, train.row_ids, y=train.y, original_sets=train.original_sets)
    table = label_table(learnt, train.original_sets or sets, estimator, splits.holdout, splits.all_ids)
    write_labels(table.frame, path)


def _count_known_labels(data: PartialLabelDataset) -> int:
    """Return how many true labels are known."""
    return 0 if data.y is None else int((data.y >= 0).sum())


def _without(away: float, record: EpochRecord, n: int) -> EpochRecord:
    """Return the record of an epoch without the `away` seconds for which others had the device before it."""
    training = n / max(record.examples_per_second, 1e-9) - away  # such an epoch is a whole one: n examples
    return replace(
        record, seconds=max(record.seconds - away, 0.0), examples_per_second=n / training if training > 0 else 0.0
    )


# ---- several processes on this machine ------------------------------------------------------------------------------


def most_processes() -> int:
    """Return how many processes can train one run on this machine: as many as GPUs, else as many as cores."""
    return torch.cuda.device_count() if torch.cuda.is_available() else os.cpu_count() or 1


@contextmanager
def other_processes(size: int) -> Iterator[Ranks]:
    """Context manager with size - 1 further processes, which `follow` what this one trains.

    Parameters
    ----------
    size
        Of them all, at least 2.

    Raises
    ------
    UserError
        More than this machine has cores or GPUs.
    RanksError
        One of them has ended, or this process leads others already.
    """
    if size > most_processes():
        raise UserError(f"{size} processes are too many: this machine has {most_processes()} cores or GPUs.")
    if not _BUSY.acquire(blocking=False):
        raise RanksError(
            "Another run that trains in several processes is at work or paused in this server. Resume this one once "
            "the other has ended, or in one process."
        )
    others: list[subprocess.Popen[bytes]] = []
    ranks = None
    try:
        store = TCPStore(HOST, 0, size, is_master=True, wait_for_workers=False)
        others += [_begin(store.port, rank, size) for rank in range(1, size)]
        deadline = time.monotonic() + START
        while not all(store.check([_here(rank)]) for rank in range(1, size)):
            for rank, other in enumerate(others, 1):
                if other.poll() is not None:
                    raise RanksError(f"Process {rank + 1} of {size} ended at its start; the server's log says why.")
            if time.monotonic() > deadline:
                raise RanksError(f"Of {size} processes not all have begun within {START:.0f} s; resume the run.")
            time.sleep(LOOK)
        ranks = Ranks.connect(store, 0, size)
        yield ranks
    finally:
        if ranks is not None and not ranks.has_broadcast:
            with suppress(UserError):
                ranks.broadcast_text(None)
        _end(others, patience=0.0 if ranks is None else FAREWELL)
        if ranks is not None:
            ranks.close()
        _BUSY.release()


def _joined(port: int, rank: int, size: int) -> Ranks:
    """Return the ranks, in a process that `other_processes` has started."""
    store = TCPStore(HOST, port, size, is_master=False, wait_for_workers=False)
    store.set(_here(rank), socket.gethostname())
    return Ranks.connect(store, rank, size)


def _here(rank: int) -> str:
    return f"candid/{rank}"


def _begin(port: int, rank: int, size: int) -> subprocess.Popen[bytes]:
    places = [str(Path(pll.__file__).resolve().parents[1]), os.environ.get("PYTHONPATH", "")]
    return subprocess.Popen(
        [sys.executable, "-m", "pll.runs.fit_loop", *map(str, (port, rank, size, os.getpid()))],
        env=os.environ
        | {
            "PYTHONPATH": os.pathsep.join(filter(None, places)),
            "LOCAL_WORLD_SIZE": str(size),
            "OMP_NUM_THREADS": "1",
        },
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
    )


def _end(others: list[subprocess.Popen[bytes]], patience: float) -> None:
    deadline = time.monotonic() + patience
    for other in others:
        with suppress(subprocess.TimeoutExpired):
            other.wait(max(0.0, deadline - time.monotonic()))
        other.kill()
        other.wait()


def follow(ranks: Ranks) -> None:
    """On a rank other than 0: train what rank 0 trains, until it ends.

    Raises
    ------
    UserError
        This rank does not have the same data, or another rank has ended.
    """
    text = ranks.broadcast_text(None)
    if text is None:  # rank 0 has nothing to train
        return
    message = json.loads(text)
    estimator, task, problem = None, None, None
    try:
        config = RunConfig.from_json(message["run"])
        splits = load_splits(config, vote_sets=vote_sets_of(RunFolder(Path(message["folder"]))))
        if splits.train.fingerprint != message["fingerprint"]:
            raise UserError(f"{splits.train.name} is not the data that rank 0 has read.")
        estimator = new_estimator(config, is_table=splits.train.kind == "table")
        task = replace(splits.task(), X_test=None, y_test=None)
        del splits
    except Exception as error:  # rank 0 says it
        problem = explain(error)
    ranks.agree(problem)
    assert isinstance(estimator, DeepEstimator) and task is not None
    estimator.follow(task, ranks)


def _main(port: int, rank: int, size: int, parent: int) -> int:
    """Follow rank 0 until it ends the training; return the exit status."""
    end_with_parent(parent)
    for name in ("SIGTERM", "SIGHUP"):  # meant for the server, which then writes a checkpoint
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_IGN)
    try:
        ranks = _joined(port, rank, size)
        try:
            follow(ranks)
        finally:
            ranks.close()
    except UserError as error:
        sys.stderr.write(f"candid: process {rank + 1} of {size}: {error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(_main(*map(int, sys.argv[1:])))

"""The fit loop: estimator → history, checkpoint, labels and model, all in the folder of a run.

The thread of a run (`pll.runs.run`) trains an epoch at a time; the command line trains to the end.
"""

from __future__ import annotations

import math
import shutil
import time
import traceback
from collections.abc import Callable, Generator
from contextlib import closing, suppress
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import torch

from pll.analysis import health
from pll.errors import UserError, explain
from pll.features import save_features
from pll.io import Arrays, Progress, check_free_space, remove_parts
from pll.methods.advice import check_memory
from pll.methods.base import PartialLabelEstimator, Start
from pll.methods.chosen import Recipe
from pll.methods.deep import DeepEstimator
from pll.methods.held_out import HeldOut
from pll.methods.input_range import RANGE, input_range
from pll.methods.persistence import save_model, warm_start
from pll.runs.config import RunConfig, new_estimator
from pll.runs.data import Splits, warnings_about
from pll.runs.files import FRAMES, HELD_OUT_SO_FAR, LABELS_FILE, NO_ANSWER_FILE, PER_EPOCH, RESULT_FILES
from pll.runs.folder import RunFolder, State
from pll.runs.history import HistoryWriter, history_bytes
from pll.runs.labels_table import save_labels, write_no_answer
from pll.runs.manifest import DamagedError, Manifest, damages, matches
from pll.runs.ranks import send_run
from pll.runs.run_data import save_computed, splits_of
from pll.runs.snapshots import HOW_SURE, SETTINGS, StepProgress
from pll.training.devices import LOST, free_unused, is_lost, lose
from pll.training.distributed import Ranks, RanksError
from pll.training.metrics import FINAL_METRICS, EpochRecord, Hook, Monitor, StopTraining, TrainingProgress
from pll.weights import Certainty, Weights, accuracy, sharpness, taken_home

CHECKPOINT_EVERY = 10.0
"""Seconds between checkpoints; longer where they take more than `CHECKPOINT_SHARE` of the time."""
CHECKPOINT_SHARE = 0.05
PROGRESS_STEPS = 1000
"""A share that is done is told as so many of so many."""
VOTES_CONFIDENCE = (
    "Confidence takes it that voters share about half of their mistakes: it is too low where they share fewer, and too "
    "high where they share more; random controls in a review put it right."
)
"""Note on every run on votes; docs/votes.md has figures."""


class FitLoop:
    """Training of one method on the data of a run: estimator → history, checkpoint, labels, model.

    Parameters
    ----------
    folder
        Created by `RunFolder.create`; the caller holds its lock.
    load
        Returns the data, which the caller may have already, and tells its progress; by default `splits_of` the folder.
    hook
        Called between mini-batches; may wait, may raise `StopTraining`.
    on_ready
        Called with this loop before the first epoch, once `splits` and `estimator` are complete.
    on_step
        Called with the progress of every step before the first epoch, and of the last one.
    find_out
        Whether to find out, after training, how sure the labels are.
    ranks
        The processes that torchrun has started, of which this one leads; the others `follow`. None for this one alone,
        which starts those that the config wants.

    Attributes
    ----------
    splits, estimator
        The data and the method; missing before the data is read.
    total
        Number of epochs; None before the data is read for the first time.
    rows
        The rows of metrics.csv so far.
    record
        Last record; None before the first.
    moment
        Progress within the epoch, while the hook waits and `note_moment` was called.
    found
        While settings are chosen: the label weights under the likeliest model so far, and how many there were before
        and with it; None else.
    step
        Progress of a step before the first epoch, or of the last step, which finds out how sure the labels are; else
        None.
    is_over
        Whether `advance` has nothing left to train: finished, stopped or failed.
    error
        Message, where it failed.
    device
        Where a method trains that has the setting `device`, by `pll.training.devices.full_name`; "" for what that
        setting says.

    Raises
    ------
    UserError
        The folder's files are damaged.
    """

    config: RunConfig
    splits: Splits
    estimator: PartialLabelEstimator
    history: HistoryWriter

    def __init__(
        self,
        folder: RunFolder,
        *,
        load: Callable[[Progress], Splits] | None = None,
        hook: Hook | None = None,
        on_ready: Callable[[FitLoop], None] = lambda loop: None,
        on_step: Progress = lambda what, done, total: None,
        find_out: bool = True,
        ranks: Ranks | None = None,
    ) -> None:
        self.folder = folder
        self.total: int | None = folder.about().get("epochs")
        self.rows = folder.metrics()
        self.record: EpochRecord | None = None
        self.moment: TrainingProgress | None = None
        self.step: StepProgress | None = None
        self.found: tuple[int, Weights] | None = None
        self.is_over = False
        self.error: str | None = None
        self.device = ""
        self._load = load or partial(splits_of, folder)
        self._outer_hook = hook
        self._on_ready = on_ready
        self._on_step = on_step
        self._step_began: tuple[float, float] | None = None  # its share then, and the time
        self._find_out_wanted = find_out
        self._is_skipped = self._is_cut = self._is_asked = False
        self._ranks = ranks
        self._saved_at = time.monotonic()
        self._saving = 0.0  # seconds that the latest checkpoint took
        self._epochs = self._all_epochs()

    @property
    def epoch(self) -> int:
        """Epochs complete."""
        return int(self.rows[-1]["epoch"]) if self.rows else 0

    @property
    def is_ready(self) -> bool:
        """Whether the data was read, and there is an estimator."""
        return "estimator" in vars(self)

    @property
    def finds_out(self) -> bool:
        """Whether it is in the last step."""
        return self.step is not None and self.step.what == HOW_SURE

    @property
    def stage(self) -> str:
        """Current work of a method without epochs, before its next record; "" else."""
        return self.estimator.stage_ if self.is_ready else ""

    def note_moment(self) -> None:
        """Keep the progress within the epoch, while the hook waits."""
        self.moment = self.estimator.moment() if self.is_ready and not self.finds_out else None

    def skip(self) -> None:
        """Leave it open how sure the labels are; nothing before the last step."""
        self._is_skipped = self.finds_out

    def cut_short(self) -> None:
        """End the last step with what is known by then; nothing before it."""
        self._is_cut = self.finds_out

    # ---- by the caller -------------------------------------------------------------------------------------------

    def train(self, on_record: Callable[[EpochRecord], None] = lambda record: None) -> dict[str, Any]:
        """Train to the end, from the checkpoint where there is one.

        Parameters
        ----------
        on_record
            Called with every record once it is on disk.

        Returns
        -------
        dict
            The content of state.json; see `RunFolder.state`.

        Raises
        ------
        UserError
            Any error. The folder's state is then `failed` and its log has the traceback.
        """
        with closing(self._epochs):
            for record in self._epochs:
                on_record(record)
        return self.folder.state()

    def advance(self) -> None:
        """Train one epoch, and write the result after the last one.

        Time until the next call, in which others may train, is not counted.
        """
        try:
            for record in self._epochs:
                if record.epoch != self.total:
                    return
        except UserError as error:
            self.error = explain(error)
        self.is_over = True

    def stop(self, why: str = "") -> None:
        """Write the result so far, between two calls of `advance`; training can continue from there.

        Parameters
        ----------
        why
            The sentence that says why training ended by itself; "" where a user stopped it.
        """
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
        """Write an error to the folder, where that is possible: a clear message, and its trace in log.txt."""
        self.is_over, self.error = True, explain(error)
        if is_lost(error):
            self.error = LOST
            lose()
        with suppress(OSError, UserError):  # a full disk, or a damaged manifest, must not hide the first error
            self.folder.log("".join(traceback.format_exception(error)))
            self.folder.set_state("interrupted" if isinstance(error, RanksError) else "failed", error=self.error)

    def close(self) -> None:
        """Free the training state, on the device too; nothing is written where training was interrupted."""
        self._epochs.close()
        if self.device:
            free_unused(torch.device(self.device))

    # ---- from the data to the first epoch ------------------------------------------------------------------------

    def _all_epochs(self) -> Generator[EpochRecord]:
        """Yield every record once it is on disk; `StopTraining` thrown in there stops the run as a hook would."""
        try:
            yield from self._prepared_epochs()
        except StopTraining:  # while its data was read
            self.folder.set_state("stopped")
        except Exception as error:  # KeyboardInterrupt leaves an interrupted run
            self.fail(error)
            if isinstance(error, UserError):
                raise
            raise UserError(self.error) from error

    def _prepared_epochs(self) -> Generator[EpochRecord]:
        self.config = self.folder.config()
        self.splits = self._load(self._note_step)
        train = self.splits.train
        self.estimator = new_estimator(self.config, is_table=train.kind == "table")
        alone = self._ranks is None  # each of several has a device of its own
        if alone and self.device not in ("", "cpu") and "device" in self.estimator.get_params():
            self.estimator.set_params(device=self.device)
        save_computed(self.folder, self.splits)
        recipe = self._choose_settings()
        self._note_data()
        self._grow()
        train = self.splits.train
        arrays, first = self._warm_start() or (None, None)
        if first is None and self.estimator.takes_prior:
            first = train.prior if train.outside is None else train.outside.start(train.prior)
        needed = history_bytes(train.sets().nnz, self.estimator.total_epochs())
        check_free_space(self.folder.path, needed, "the label weights of all epochs")
        check_memory(self.estimator, train)
        checkpoint = self._rewind_to_checkpoint(first)
        self.total, self.rows = self.estimator.total_epochs(), self.folder.metrics()
        self.step = None
        self._on_ready(self)
        try:
            self._send_to_ranks()
            together = "" if self._ranks is None else f", in {self._ranks.size} processes"
            self.folder.log(f"{'resumed' if checkpoint else 'started'}: {self.config.method} on {train.name}{together}")
            yield from self._learn(Start(recipe, self._ranks, arrays, checkpoint))
        finally:
            self.estimator.release()

    def _choose_settings(self) -> Recipe | None:
        """Take the settings of recipe.json, or choose them now; None where the method has no recipe.

        A search that is stopped leaves none: the run goes on, later, to the settings that it would have found.
        """
        estimator = self.estimator
        if not isinstance(estimator, DeepEstimator) or estimator.recipe == "default":
            return None
        recipe = self.folder.recipe()
        if recipe is None and estimator.recipe == "auto" and self._ranks is not None:
            recipe = Recipe("auto", {}, {}, notes=("In several processes the default settings are used.",))
            self.folder.save_recipe(recipe)
        if recipe is None:
            self.folder.set_state("running")
            self._note_share(SETTINGS, 0.0)
            recipe = estimator.choose_settings(
                self.splits.task(),
                dataset=self.splits.train.name,
                hook=self._outer_hook,
                progress=lambda share, _: self._note_share(SETTINGS, share),
                found=self._note_found,
            )
            self.found = None
            if not recipe.complete:
                raise StopTraining
            self.folder.save_recipe(recipe)
        estimator.recipe_ = recipe  # the number of epochs is needed before training begins
        for sentence in recipe.messages():
            self.folder.log(sentence)
        return recipe

    def _note_found(self, label_weights: Weights) -> None:
        self.found = 1 + (self.found[0] if self.found is not None else 0), label_weights

    def _note_data(self) -> None:
        """Write what is known of the data to config.json; refuse other data than training began with."""
        train, test = self.splits.train, self.splits.test
        if train.outside is not None:  # labels that the method added: the facts are those of the data before that
            return
        fingerprint = self.folder.about().get("fingerprint")
        if fingerprint is not None and fingerprint != self.splits.identity:
            raise UserError(f"{train.name} is no longer the data this run was started with; start a new run.")
        warnings = warnings_about(train)
        if train.prior is not None and not self.estimator.takes_prior:
            warnings.append(
                f"{self.estimator.title} does not use the prior of the candidates; it takes them all alike."
            )
        self.folder.note(
            fingerprint=self.splits.identity,
            data={
                "name": train.name,
                "examples": len(train),
                "test_examples": 0 if test is None else len(test),
                "no_answer": self.splits.unanswered,
                "without_label": len(self.splits.no_answer),
                "input_shape": list(train.input_shape),
                "class_names": list(train.class_names),
                "mean_candidates": train.sets().nnz / len(train),
                "warnings": warnings,
            },
            epochs=self.estimator.total_epochs(),
        )

    def _note_parameters(self) -> None:
        """Write what the method trains with to config.json: the settings given, those of the recipe, those of the data.

        Only training decides the last ones: called once it has begun, and with the model for what is decided later.
        """
        params = self.estimator.fitted_params()
        self.folder.note(
            parameters={k: v if isinstance(v, (int, float, str, type(None))) else repr(v) for k, v in params.items()}
        )

    def _grow(self) -> None:
        """Find the labels that the method adds to the candidate sets, unless they came with the data."""
        train = self.splits.train
        if not self.estimator.adds_labels or train.outside is not None:
            return
        self.folder.set_state("running")
        self._note_share(SETTINGS, 0.0)
        try:
            outside = self.estimator.grown(self.splits.task(), hook=self._outer_hook).outside
        except StopTraining:  # training will stop, too, before it begins
            return
        assert outside is not None  # the method adds labels
        if self.config.decided_sets is not None:
            outside = outside.without(self.config.decided_sets.decided_rows)
        self.folder.save_outside(outside)
        self.splits = replace(self.splits, train=train.changed(outside))

    def _warm_start(self) -> tuple[Arrays, Weights] | None:
        """For a run on decided sets, return the model of the run before, to start from, and its label weights."""
        decided = self.config.decided_sets
        if decided is None or not decided.warm:
            return None
        parent = self.folder.path.parent / decided.parent
        warm = warm_start(self.estimator, parent, self.splits.train)
        self.folder.log(f"{'continues' if warm is not None else 'cannot continue'} the model of {parent.name}")
        return warm

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
        manifest.forget(*PER_EPOCH)  # before they are rewritten
        self.folder.rewind_metrics(epoch)
        self.folder.save_held_out(None)
        train = self.splits.train
        self.history = HistoryWriter(self.folder.history, train.sets(), first=first)
        self.history.rewind(epoch)
        manifest.record()
        return checkpoint

    def _check_history(self) -> None:
        """Refuse a damaged history, which the run would go on with; a damaged frame is deleted, as others are in time.

        Raises
        ------
        DamagedError
            a file that holds all epochs is damaged.
        """
        for damage in damages(self.folder.path):
            if matches(damage.name, (FRAMES,)):
                (self.folder.path / damage.name).unlink(missing_ok=True)
                self.folder.log(f"{damage.words}; deleted")
            elif matches(damage.name, PER_EPOCH):
                raise DamagedError(self.folder.path, damage)

    def _send_to_ranks(self) -> None:
        """Let the other processes read the data and make their trainers, as the method will here.

        Raises
        ------
        UserError
            One of them cannot.
        """
        estimator = self.estimator
        if self._ranks is None:
            return
        assert isinstance(estimator, DeepEstimator)
        recipe = self.folder.recipe()
        chosen = {} if recipe is None else {**recipe.settings, "recipe": "default"}
        config = replace(self.config, params=self.config.params | chosen | {"threads": estimator.threads})
        send_run(self._ranks, self.folder, config, self.splits.identity)

    # ---- epoch by epoch ------------------------------------------------------------------------------------------

    def _learn(self, start: Start) -> Generator[EpochRecord]:
        epoch, away = 0 if start.checkpoint is None else int(start.checkpoint["epoch"]), 0.0
        self.folder.set_state("running")
        learning = self.estimator.iter_fit(
            self.splits.task(needs_features=self.estimator.needs_features), hook=self._hook, start=start
        )
        try:
            for learnt in learning:
                if self.record is None:
                    self._note_parameters()
                record = _without(away, learnt, len(self.splits.train))
                epoch = record.epoch
                self._keep(record)
                left = time.perf_counter()
                yield record
                away = time.perf_counter() - left
        except StopTraining as stop:
            if isinstance(learning, Generator):
                learning.close()  # where it was stopped between two records: restores the thread count
            self._save_checkpoint()
            if epoch:
                self._end("stopped", epoch, self.estimator.finish(), str(stop))
            else:  # nothing was learnt: no labels to take home
                self.folder.set_state("stopped")
        else:
            self._end("finished", epoch, self.estimator.label_weights_)

    def _keep(self, record: EpochRecord) -> None:
        self.folder.append_metrics(record.metrics())
        self.history.append(record)
        self.rows.append(record.metrics())
        self.record = record  # after its row: other threads read the record first
        self._checkpoint_if_due()

    def _hook(self) -> None:
        if self._outer_hook is not None:
            self._outer_hook()
        self._checkpoint_if_due()

    def _checkpoint_if_due(self) -> None:
        if time.monotonic() - self._saved_at > max(CHECKPOINT_EVERY, self._saving / CHECKPOINT_SHARE):
            self._save_checkpoint()

    def _save_checkpoint(self) -> None:
        started = time.monotonic()
        self.folder.save_checkpoint(self.estimator.checkpoint())
        self._saved_at = time.monotonic()
        self._saving = self._saved_at - started

    def _end(self, state: State, epoch: int, weights: Weights, why: str = "") -> None:
        """Write the result: of the final model, after so many epochs, whose label weights these are."""
        train, test = self.splits.train, self.splits.test
        may_train, by_itself = state == "finished" or bool(why), bool(why)
        step = self._find_out(epoch, may_train=may_train, by_itself=by_itself)
        held_out = None if step is None else known_weights(step)
        labels = taken_home(weights, held_out, train.sets())
        self.estimator.temperatures_ = self._temperatures(step, may_train=may_train, by_itself=by_itself)
        verdict = self._health(weights, labels, step)
        predicted = None if test is None else self.estimator.predict(test.X)
        final = Monitor(train.sets(), train.y, None if test is None else test.y).record(
            epoch, weights, predicted_test=predicted
        )
        metrics = {"method": self.config.method, "epoch": epoch}
        metrics |= {name: getattr(final, name) for name in FINAL_METRICS}
        metrics |= self._expected(labels, verdict) | {"label_accuracy": accuracy(labels.identified, train.y)}
        metrics |= {"known_labels": train.n_labelled, "known_test_labels": 0 if test is None else test.n_labelled}
        Manifest(self.folder.path).forget(*RESULT_FILES)
        self.folder.save_held_out(held_out)
        save_labels(self.splits, self.estimator, weights, held_out, self.folder.path / LABELS_FILE)
        if self.splits.no_answer:
            write_no_answer(self.splits.no_answer, self.folder.path / NO_ANSWER_FILE)
        self._note_parameters()
        save_model(
            self.estimator,
            self.folder.path,
            method=self.config.method,
            feature_names=train.feature_names,
            extra={RANGE: input_range(train.X)} | verdict.said_of_model,
        )
        if self.splits.featuriser is not None:
            save_features(self.splits.featuriser, self.folder.path)
        self.history.finish(epoch, weights)  # last: marks the result as complete
        self.folder.log(f"{state} after epoch {epoch}: {metrics}")
        recipe = self.folder.recipe()
        messages = () if recipe is None else recipe.messages()
        doubt = [VOTES_CONFIDENCE] if train.annotations is not None and not train.annotations.anonymous else []
        unanswered = self.splits.about_unanswered()
        notes = [*messages, *self.estimator.notes_, *unanswered, *doubt, *([why] if why else [])]
        self.folder.set_state(state, metrics=metrics, notes=notes, health=verdict.to_json())

    def _expected(self, labels: Certainty, verdict: health.Health) -> dict[str, float | None]:
        """The share of the labels expected to be right: of those that nobody decided, where decisions were learnt.

        Parameters
        ----------
        labels
            That people take home.
        verdict
            On the run.
        """
        decided = [] if self.config.decided_sets is None else self.config.decided_sets.decided_rows
        others = np.delete(labels.confidence, decided)
        if not decided or verdict.expected is None or np.isnan(others).all():
            return {"expected_accuracy": verdict.expected}
        return {"expected_accuracy": float(np.nanmean(others)), "decided_labels": len(decided)}

    def _find_out(self, epoch: int, *, may_train: bool, by_itself: bool) -> HeldOut | None:
        """Let models that have not learnt from an example judge it; None where that is not done, or was skipped.

        Parameters
        ----------
        epoch
            The run ended after it.
        may_train
            Whether models may be trained for that.
        by_itself
            Whether training was stopped, and not by a user: its hook goes on to say so.
        """
        if not self._find_out_wanted:
            return None
        task = self.splits.task(needs_features=self.estimator.needs_features)
        votes = self.splits.train.annotations
        counts = votes if votes is not None and votes.anonymous else None
        step = HeldOut(self._settings_from_the_start(), task, seed=self.config.seed, counts=counts)
        if step.total and not may_train:
            return None
        if step.total:
            so_far = self.folder.arrays(HELD_OUT_SO_FAR) or {}
            if so_far.pop("epoch", None) == epoch:  # written before a crash
                step.load_state(so_far)
            else:
                self._save_checkpoint()  # of the trained model
        after = {"epoch": np.array(epoch)}
        try:
            self._ask(step, by_itself, lambda: self.folder.put_arrays(HELD_OUT_SO_FAR, after | step.state()))
        except UserError as error:  # for example too few examples of a kind in a part
            self.folder.log(f"how sure the labels are is not known: {error}")
            self._is_asked = True
            return None
        self._is_asked = not self._is_skipped
        return step if self._is_asked else None

    def _temperatures(self, step: HeldOut | None, *, may_train: bool, by_itself: bool) -> tuple[float, ...]:
        """Return the temperatures of predictions; where votes say how sure labels are, of two models of halves."""
        if step is None or step.total or step.task.votes is None or not (may_train and self.estimator.needs_features):
            return () if step is None else step.temperatures
        alone = replace(step.task, votes=None)
        halves = HeldOut(step.estimator, alone, seed=self.config.seed, counts=step.task.votes)  # the prior is theirs
        halves.total = min(2, halves.total)
        try:
            self._ask(halves, by_itself)
        except UserError:
            return ()
        return halves.temperatures

    def _ask(self, models: HeldOut, by_itself: bool, note: Callable[[], None] = lambda: None) -> None:
        """Train the models and ask them, with progress; `note` is called after each. Ends early where it is told to."""
        self.step = StepProgress(HOW_SURE) if models.total else None
        self._step_began = None
        try:
            for _ in models.run(lambda: self._check_step(by_itself), partial(self._note_share, HOW_SURE)):
                note()
        except StopTraining:
            pass
        finally:
            self.step = None

    def _settings_from_the_start(self) -> PartialLabelEstimator:
        """Return the method as it is trained from the start: of a run that goes on from a model, as that was."""
        decided = self.config.decided_sets
        root = None if decided is None or not decided.warm else RunFolder(self.folder.path.parent / decided.root)
        if root is None or not root.exists():
            return self.estimator
        estimator = new_estimator(root.config(), is_table=self.splits.train.kind == "table")
        recipe = root.recipe()
        if recipe is not None and isinstance(estimator, DeepEstimator):
            estimator.recipe_ = recipe
        return estimator

    def _check_step(self, by_itself: bool) -> None:
        if self._is_skipped or self._is_cut:
            raise StopTraining
        if self._outer_hook is not None and not by_itself:
            self._outer_hook()

    def _note_share(self, what: str, share: float) -> None:
        self._note_step(what, round(PROGRESS_STEPS * share), PROGRESS_STEPS)

    def _note_step(self, what: str, done: int, total: int | None) -> None:
        """Note how far a step is, and tell the caller; the time left follows from its speed since it began."""
        share, now = done / total if total else 0.0, time.monotonic()
        if self._step_began is None or self.step is None or self.step.what != what:
            self._step_began = share, now
        gained, taken = share - self._step_began[0], now - self._step_began[1]
        self.step = StepProgress(what, share, taken * (1 - share) / gained if gained > 0 and taken > 1 else None)
        self._on_step(what, done, total)

    def _health(self, weights: Weights, labels: Certainty, step: HeldOut | None) -> health.Health:
        """Return the health of the run.

        Parameters
        ----------
        labels
            That people take home.
        step
            Of `_find_out`.
        """
        train, sets = self.splits.train, self.splits.train.sets()
        final = sharpness(weights, sets)
        before = 1 / sets.sizes if train.annotations is None else train.annotations.agreed_share()
        evidence = health.against_truth(labels.identified, train.y, sets, (before, final.top))
        if evidence is None and step is not None and not self.estimator.needs_truth:
            evidence = health.against_sets(step.covered(), len(sets))
        by_truth = evidence is not None and evidence.by == "truth"
        copied = [] if step is None or by_truth else health.dependent(step.task.votes, step.task.decided)
        has_logits = isinstance(self.estimator, DeepEstimator) and self.estimator.get_params().get("loss") == "ce"
        contradicted = []
        if step is not None and labels.is_given.any() and not self.estimator.needs_truth:
            contradicted = health.doubt_of_contradicted(step.contradicted())
        is_judged, are_checked = (
            bool((labels.is_known & ~labels.is_given).any()),
            health.are_given_checked(labels, train.y),
        )
        given = [] if are_checked else health.doubt_of_given(labels)
        verdict = health.health_of(
            self.rows,
            final,
            sets,
            evidence,
            doubts=() if step is None else step.notes,
            of_given=() if step is None or are_checked else (*given, *contradicted),
            expected=float(np.nanmean(labels.confidence)) if is_judged and not given else None,
            top_loss=math.log(sets.n_classes) if has_logits else None,  # of uniform predictions
            votes_alone=not self.estimator.needs_features,
            others=(*health.refuted_by_truth(labels, train.y), *copied),
        )
        return replace(verdict, is_asked=self._is_asked)


def known_weights(step: HeldOut) -> Weights | None:
    """Return the (nnz,) held-out weights, NaN in the rows that no model has judged; None where none has been."""
    weights = step.weights()
    if not step.total:
        return weights
    is_judged = step.state()["counts"] > 0
    return np.where(is_judged[step.task.candidates.rows], weights, np.float32(np.nan)) if is_judged.any() else None


def _without(away: float, record: EpochRecord, n: int) -> EpochRecord:
    """Return the record of an epoch without the `away` seconds for which others had the device before it."""
    training = n / max(record.examples_per_second, 1e-9) - away  # such an epoch is a whole one: n examples
    return replace(
        record, seconds=max(record.seconds - away, 0.0), examples_per_second=n / training if training > 0 else 0.0
    )

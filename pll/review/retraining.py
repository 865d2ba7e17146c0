"""Retraining of a run on the decisions of a review, in the background.

It is a run of its own (`pll.runs.decided_sets`), so that the labels under certificate stay what they were until the new
ones are adopted. What was answered while people certify is never used.
"""

from __future__ import annotations

from dataclasses import replace

from pll.errors import UserError
from pll.methods import METHODS
from pll.methods.outside import MIN_DECIDED
from pll.review.follow import LabelChanges, changes, teaching_outcomes
from pll.review.label_snapshot import snapshot_of
from pll.review.session import ReviewSession
from pll.review.state import Outcome
from pll.runs.config import RunConfig
from pll.runs.decided_sets import DecidedSets
from pll.runs.registry import RunRegistry
from pll.runs.run import Run, readable
from pll.runs.snapshots import Snapshot

BEFORE_OTHERS = -1
"""Priority of a retrained run: before all others that wait."""

FEWEST_EPOCHS = 5
SHARE_OF_EPOCHS = 0.2
"""Share of the epochs for a warm-started run."""


def decided_sets_of(review: ReviewSession) -> DecidedSets:
    """Training data as changed by the decisions so far.

    A decided label makes a set of one; eliminated candidates are removed; "none of these" gives the classes outside the
    set; unsure and conflicts change nothing. Where all were taken back, training starts anew from the sets as given:
    the latest model knows nothing but what was taken back.
    """
    sets = review.root.candidates
    names = list(sets.class_names)
    outcomes = sorted(teaching_outcomes(review.state))
    labels = (result.label for _, result in outcomes)
    new = dict.fromkeys(label for label in labels if label is not None and label not in names)
    place = {name: j for j, name in enumerate((*names, *new))}
    changed = {row: tuple(left) for row, result in outcomes if (left := _left(sets[row].tolist(), result, place))}
    decided = sum(result.status in ("label", "none") for _, result in outcomes)
    parent, warm = review.current.run, bool(changed)
    return DecidedSets(review.id, review.root.run, parent, changed, tuple(new), warm=warm, decisions=decided)


def changed_by_retraining(review: ReviewSession) -> LabelChanges:
    """Labels that differ from what they were without the latest retraining, by the same decisions; none before it."""
    return changes(review.previous or review.current, review.current, review.state, ())


OUTSIDE_METHOD = "proden-outside"
"""Method that also learns from decisions which sets miss the truth."""


def retrained_config(run: Run, decided: DecidedSets, *, outside: bool = False) -> RunConfig:
    """Return the settings of the run that is trained on these decisions.

    Parameters
    ----------
    run
        The first run of the review; its settings apply, those that its recipe chose included, but a method that
        continues from `decided.parent` trains a fifth of the epochs. A method that cannot go on is fitted again, as
        `run` was.
    decided
        What people decided.
    outside
        In place of PRODEN, PRODEN-outside from scratch, which may identify labels off the sets.
    """
    root = run.config
    if outside and root.method == "proden":
        root, decided = replace(root, method=OUTSIDE_METHOD), replace(decided, warm=False)
    warm = decided.warm and METHODS[root.method].warm_starts and not decided.new_classes
    params = dict(root.params)
    if warm:
        recipe = run.folder.recipe()
        if recipe is not None:  # a search on the changed sets may choose another model than the one to continue
            params |= {**recipe.settings, "recipe": "default"}
        whole = METHODS[root.method]().get_params() | params
        params["epochs"] = max(FEWEST_EPOCHS, round(SHARE_OF_EPOCHS * whole["epochs"]))
        if whole["lr"] is not None:  # continue where the schedule of the whole run ended
            params["lr"] = whole["lr"] * whole["lr_decay"] ** (whole["epochs"] // whole["lr_decay_every"])
    name = f"{root.name or root.source.name} · {decided.teaching}"
    return replace(root, params=params, decided_sets=replace(decided, warm=warm), name=name)


class Retraining:
    """Retrains the model of one review on decisions. One for each review and process.

    Parameters
    ----------
    review
        Whose decisions they are.
    runs
        Where they are made; an unfinished run of another process is there too, and continues.
    """

    def __init__(self, review: ReviewSession, runs: RunRegistry) -> None:
        self._review = review
        self._runs = runs
        self._run: Run | None = self._unfinished()

    def begin(self, *, outside: bool = False, by: str | None = None, verified: bool = False) -> Run:
        """Start to retrain on the decisions so far, ahead of other runs in the queue; returns at once.

        Parameters
        ----------
        outside
            See `retrained_config`.
        by, verified
            Who requests it, and whether that name was verified.

        Raises
        ------
        UserError
            A retraining is running, or the latest model has learnt all that people say.
        """
        if self._run is not None and self._run.snapshot().is_active:
            raise UserError("A model is being retrained already; wait for it, or stop it first.")
        if not self.waiting():
            raise UserError("There is nothing to train on yet; decide some examples first (controls are not used).")
        decided = replace(decided_sets_of(self._review), taught_by=by, verified=verified)
        root = self._runs.get(self._review.root.run)
        self._run = self._runs.start(retrained_config(root, decided, outside=outside), priority=BEFORE_OTHERS)
        return self._run

    def snapshot(self) -> Snapshot | None:
        """Return the state of the retraining; None if none is running or waiting to be adopted."""
        return None if self._run is None else self._run.snapshot()

    def adopt_finished(self) -> bool:
        """Where it has finished, put its labels in the place of the old ones; whether that was done now.

        A call costs next to nothing: call it with every update of the page.
        """
        run = self._run
        if run is None or run.is_alive() or run.folder.state()["state"] != "finished":
            return False
        decided = run.config.decided_sets
        assert decided is not None  # as `retrained_config` made it
        labels = snapshot_of(run.folder, run.splits().train)
        adopted = self._review.adopt(labels, by=decided.taught_by, verified=decided.verified)
        self._run = None
        return adopted

    def dismiss(self) -> None:
        """Discard a retraining that was stopped or failed."""
        if self._run is not None and not self._run.is_alive():
            self._run = None

    def can_look_outside(self) -> bool:
        """Whether decisions suffice to learn which sets miss the truth: a run of PRODEN, and enough decisions."""
        n_decided = sum(result.status == "label" for _, result in teaching_outcomes(self._review.state))
        return n_decided >= MIN_DECIDED and self._runs.get(self._review.root.run).config.method == "proden"

    def waiting(self) -> int:
        """How many examples people say something else about than the current model has learnt."""
        learnt = self._runs.get(self._review.current.run).config.learnt
        now = decided_sets_of(self._review).by_row
        return len({row for row, _ in now.items() ^ learnt.items()})

    def _unfinished(self) -> Run | None:
        adopted = {record.run for record in self._review.versions}
        for run in readable(self._runs.all()):
            decided = run.config.decided_sets
            if decided is not None and decided.review == self._review.id and run.id not in adopted:
                state = run.folder.state()["state"]
                if state == "interrupted":
                    run.start(priority=BEFORE_OTHERS)
                return run if state not in ("failed", "stopped") else None
        return None


def _left(candidates: list[int], outcome: Outcome, place: dict[str, int]) -> list[int]:
    """Labels that remain possible after a verdict; empty where it changes nothing."""
    if outcome.status == "label":
        return [place[str(outcome.label)]]
    out = {place[name] for name in outcome.eliminated if name in place}
    if outcome.status == "none":
        return [label for label in place.values() if label not in candidates and label not in out]
    return [label for label in candidates if label not in out] if out else []

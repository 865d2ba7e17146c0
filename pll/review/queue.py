"""The queue of a review: its order, the labels that follow the decisions, and both of them renewed after decisions.

Examples come first about which the run, its neighbours and the decisions are least certain. No truth is needed.
docs/review.md compares this order with others, by the figures of `python -m benchmarks.review`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import lru_cache

import numpy as np
import numpy.typing as npt
from threadpoolctl import threadpool_limits

from pll.dataset import PartialLabelDataset
from pll.io import Progress
from pll.review.certificate import DrawnPlan
from pll.review.decided import Decided
from pll.review.events import Event
from pll.review.expected_checks import ExpectedChecks
from pll.review.follow import FEWEST_DECISIONS, LabelChanges, changes, labels_now
from pll.review.label_snapshot import LabelSnapshot
from pll.review.logit import propose
from pll.review.retraining import Retraining
from pll.review.session import ReviewSession
from pll.review.signals import ReviewSignals, prepare_signals
from pll.review.similar import Similar
from pll.review.status import ReviewStatus, status_of
from pll.runs.jobs import Job
from pll.runs.registry import RunRegistry
from pll.runs.run import Run
from pll.weights import CONFIDENT, Flags, Ints, Weights

LEARNING = "learning"
"""Name of the order, in the history of decisions."""
EVERY = 0.01
"""Share of the examples decided after which the order is recomputed."""
AT_LEAST = 5
"""Decisions after which it is recomputed, at the soonest."""
ANEW = 20
"""Answers after which the number of checks to go is made anew. Were that after every one, it would tell which of them
count."""


def review_order(
    signals: ReviewSignals, decided: Decided | None = None, proposed: Weights | None = None, *, seed: int = 0
) -> Ints:
    """Return all rows by max_j p_ij of the conditional logit, the smallest first, decided ones last.

    Where the truth may be a label off the set (votes), p_ij is times the held-out weight of the whole set: one label
    that few voters named is not certain. Where labels come from votes alone, those with as much support as another one
    come first: nothing but a person tells. Equal probabilities are ordered by confidence, then at random, so that a
    batch is not all of one class.

    Parameters
    ----------
    signals : ReviewSignals
        Of the run.
    decided : Decided, optional
        What people decided, without answers to controls.
    proposed : (nnz,), optional
        The logit's probabilities (`propose`), where they are known.
    seed : int
        Of the order of ties.

    Returns
    -------
    (n,) int64
    """
    sets, own = signals.sets, signals.labels.certainty
    decided = Decided.of(sets) if decided is None else decided
    proposed = propose(signals, decided) if proposed is None else proposed
    shuffled = np.random.default_rng(seed).permutation(len(sets))
    certainty = np.maximum.reduceat(proposed, sets.indptr[:-1]) * signals.labels.inside
    has_winner = np.ones(len(certainty), dtype=np.bool_)
    if signals.votes_alone:
        has_winner = ~own.is_tied
        if signals.tied_votes is not None and len(decided) < FEWEST_DECISIONS:
            has_winner &= ~signals.tied_votes
    return np.lexsort((shuffled, own.confidence, certainty, has_winner, decided.is_decided))


class ReviewQueue:
    """Order, following labels and retraining of one review. One for each review and process; safe between threads.

    Labels and order are recomputed in the background after every hundredth of the examples decided. Answers made while
    people certify are not used, since they judge these labels (docs/review.md).

    Parameters
    ----------
    review
        The review.
    runs
        Registry of its runs, which also starts retrained ones.

    Attributes
    ----------
    retraining
        Retrains the model on decisions.
    """

    def __init__(self, review: ReviewSession, runs: RunRegistry) -> None:
        self.review = review
        self.retraining = Retraining(review, runs)
        self.runs = runs
        self._lock = threading.RLock()
        self._order_lock = threading.Lock()
        self._job: Job | None = None
        self._model_of = lru_cache(maxsize=3)(self._read)  # the first, the one under review, and the one before that
        self._similar: tuple[LabelSnapshot, Similar] | None = None
        self._ordered_at: tuple[str, int] = ("", 0)
        self._expected: tuple[tuple[DrawnPlan, int, int], ExpectedChecks, int] | None = None

    # ---- the model under review --------------------------------------------------------------------------------------

    @property
    def run(self) -> Run:
        """The run whose labels are under review: the first one, or the latest retrained one that was adopted."""
        return self.runs.get(self.review.own.run)

    @property
    def data(self) -> PartialLabelDataset:
        """Training part of the current model; a retrained one may have further classes."""
        return self._model_of(self.review.own.run)[0]

    @property
    def signals(self) -> ReviewSignals:
        """Of the current model."""
        return self._model_of(self.review.own.run)[1]

    @property
    def similar(self) -> Similar:
        """Finds similar examples."""
        with self._lock:
            labels, data = self.review.current, self.data
            if self._similar is None or self._similar[0] is not labels:
                self._similar = labels, Similar(data, labels.certainty)
            return self._similar[1]

    def _read(self, run: str) -> tuple[PartialLabelDataset, ReviewSignals]:
        first = None if run == self.review.root.run else self._model_of(self.review.root.run)[1]
        data = self.runs.get(run).splits().train
        return data, ReviewSignals.of_run(self.runs.get(run).folder, data, first)

    # ---- the state of the review, in figures ---------------------------------------------------------------------

    def checks(self) -> ExpectedChecks | None:
        """Labels that people will still look at; None where they do not certify, or have done all."""
        review = self.review
        certification = review.certification
        if certification is None or (judgement := certification.status(review.state)).done:
            return None
        answered = int(judgement.looked_at.sum())
        key = (certification.plan, review.version.number, answered // ANEW)
        with self._lock:
            if self._expected is None or self._expected[0] != key:
                disagrees = self.neighbours_disagree(certification.table.labels)
                self._expected = key, certification.expected(judgement, disagrees), answered
            _, expected, before = self._expected
        return expected.after(answered - before, len(judgement.controls) - judgement.answered)

    def neighbours_disagree(self, labels: npt.NDArray[np.str_]) -> Flags | None:
        """Return (n,) whether the neighbours of an example have another label; None of voters, or without neighbours.

        Parameters
        ----------
        labels
            (n,) names.
        """
        theirs = None if self.data.annotations is not None else self.signals.neighbour_labels
        return None if theirs is None else theirs != labels

    def status(self) -> ReviewStatus:
        """Return the state of the review with all decisions so far."""
        review = self.review
        review.refresh()
        if self._ordered_at != (review.own.run, len(review.state.all_events)):
            self.compute_order()  # labels follow the decisions
        begun = review.latest_certification
        return status_of(
            review.current.certainty,
            review.state,
            health=self.run.snapshot().lane.health,
            certificate="" if begun is None else begun.claim(review.current.labels, review.state),
            checks=self.checks(),
        )

    def worth_a_look(self) -> int | None:
        """Return how many of the labels that need answers are worth a look, as the last order has left them.

        None where that is not known, and while people certify: then the certificate says what needs answers.
        """
        labels, health = self.review.current.certainty, self.run.folder.state().get("health")
        is_known = labels.is_known.any() and (health is None or health.verdict != "unhealthy")
        if not is_known or self.review.record.goal == "certify":
            return None
        is_certain = labels.confidence >= CONFIDENT
        return int(np.count_nonzero(~is_certain[self.review.to_answer()]))

    # ---- the order -----------------------------------------------------------------------------------------------

    def compute_order(self) -> None:
        """Recompute following labels and the order from all decisions so far."""
        with self._order_lock:
            review, own = self.review, self.review.own
            self._ordered_at = (own.run, len(review.state.all_events))
            decided, proposed, labels = self._followed(own)
            if review.certification is None or not review.current.follows:  # they stay frozen, also after a restart
                before = None if review.previous is None else self._model_of(review.previous.run)[1].labels
                review.follow(labels, None if before is None else self._followed(before)[2])
            rows = review_order(self._model_of(own.run)[1], decided, proposed)
            if review.own is own:
                review.order = (LEARNING, rows)

    def _followed(self, own: LabelSnapshot) -> tuple[Decided, Weights, LabelSnapshot]:
        """What may be learned from, what the logit proposes, and the labels of a run as decisions leave them."""
        data, signals = self._model_of(own.run)
        return labels_now(signals, self.runs.get(own.run).config, data, self.review.state)

    def begin(self) -> None:
        """Compute a first order at once; neighbours in the background, then the order again."""
        if self._ordered_at[0] != self.review.own.run:
            self.compute_order()
            self._in_background(self._prepare)

    def update_order(self) -> None:
        """Recompute the order in the background where that is due; call it after a decision."""
        interval = max(AT_LEAST, int(EVERY * len(self.review.root)))
        run, ordered = self._ordered_at
        if run != self.review.own.run or len(self.review.state.all_events) - ordered >= interval:
            self._in_background(self.compute_order)

    def forget(self, undo: Event) -> None:
        """Compute labels and order anew where they learnt from the decision that this undo takes back."""
        if any(event.id == undo.undoes for event in self.review.state.all_events[: self._ordered_at[1]]):
            self.compute_order()

    def wait(self, seconds: float = 60.0) -> None:
        """Wait for the work in the background."""
        if self._job is not None:
            self._job.wait(seconds)

    def adopt_retrained(self) -> bool:
        """Replace the current model by a finished retrained one; return whether that was done.

        Raises
        ------
        UserError
            Its result cannot be read.
        """
        if adopted := self.retraining.adopt_finished():
            self.compute_order()
        return adopted

    def changes(self) -> LabelChanges:
        """Labels of undecided examples that the decisions have changed."""
        return changes(self.review.own, self.review.current, self.review.state, self.run.config.learnt)

    def _prepare(self) -> None:
        """Compute neighbours and then the order, unless they exist."""
        data, found = self._model_of(self.review.root.run)
        if found.neighbours is None and data.X.size:
            prepare_signals(self.runs.get(self.review.root.run).folder, data)
            self._model_of.cache_clear()
            self.compute_order()

    def _in_background(self, work: Callable[[], None]) -> None:
        """Start the work unless some is running; if it fails, the current order stays."""

        def labour(report: Progress) -> None:
            # Reviewers' key presses take precedence. OpenMP's limit holds for this thread alone; that of BLAS would
            # hold for the process, and slow down whoever trains.
            with threadpool_limits(1, user_api="openmp"):
                work()

        with self._lock:
            if self._job is None or self._job.status().state != "working":
                self._job = Job(labour)

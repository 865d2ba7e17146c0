"""Labels that follow decisions: the conditional logit's labels of examples that nobody has looked at.

From `FEWEST_DECISIONS` on the labels of the undecided are those of the logit (`pll.review.logit`), also where the run
was trained on these decisions; their `source` stays the model. Of a run of voter models they are those of the voters,
fitted anew with the decisions as true labels. They depend on the run, the one that the review began with, its
neighbours or votes and the decisions alone, so they are not stored. Where a change is undone, the example has the run's
label, whatever is decided later. Answers to what a certificate asks are not used, since they judge these labels.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from pll.annotations.voters import fit_voters
from pll.candidates import CandidateSets
from pll.dataset import PartialLabelDataset
from pll.review.decided import OUTSIDE, Decided
from pll.review.label_snapshot import LabelSnapshot
from pll.review.logit import propose
from pll.review.signals import ReviewSignals
from pll.review.state import Outcome, ReviewState
from pll.runs.config import RunConfig
from pll.weights import Ints, Weights, normalise, on_candidates

FEWEST_DECISIONS = 5
"""Decisions from which on labels follow."""
CONTROL_QUEUE, CERTIFY_QUEUE = "control", "certify"
"""Names of the queues of a certificate's controls, and of the rows that it needs besides."""


@dataclass(frozen=True, eq=False)
class LabelChanges:
    """Labels of undecided examples that have changed.

    Attributes
    ----------
    rows : (k,) the examples, the least certain first
    before, after : (k,) names of their labels
    confidence : (k,) of the new ones, NaN where it is not known
    """

    rows: Ints
    before: npt.NDArray[np.object_]
    after: npt.NDArray[np.object_]
    confidence: npt.NDArray[np.float32]

    def __len__(self) -> int:
        return len(self.rows)


def changes(before: LabelSnapshot, after: LabelSnapshot, state: ReviewState, learnt: Iterable[int]) -> LabelChanges:
    """Return the changed labels of examples of which nobody has said anything.

    Parameters
    ----------
    before
        Labels before.
    after
        Labels after.
    state
        Of the review.
    learnt
        Rows whose decisions `before` had learnt: where these were taken back, no other decision changed the label.
    """
    unseen = state.answers == 0
    unseen[[*learnt, *(row for row, outcome in state.outcomes() if outcome.eliminated)]] = False
    rows = np.flatnonzero((before.labels != after.labels) & unseen)
    confidence = after.certainty.confidence
    rows = rows[np.argsort(confidence[rows], kind="stable")]
    return LabelChanges(rows, before.labels[rows], after.labels[rows], confidence[rows])


def follow(own: LabelSnapshot, proposed: Weights, restored: Iterable[int] = ()) -> LabelSnapshot:
    """Return the labels of a run as the decisions leave them.

    Parameters
    ----------
    own : LabelSnapshot
        Of the run.
    proposed : (nnz,)
        Of the logit (`propose`), by decisions that may be learned from (`teaching_decisions`).
    restored : rows whose label stays that of the run

    Examples
    --------
    >>> sets = CandidateSets.from_lists([[0, 1]] * 12, n_classes=2)
    >>> near = np.array([[(i // 6) * 6 + k for k in range(6) if k != i % 6] for i in range(12)], dtype=np.int32)
    >>> from pll.review.logit import propose
    >>> from pll.review.signals import ReviewSignals
    >>> weights = np.tile(np.array([0.6, 0.4], dtype=np.float32), 12)
    >>> own = LabelSnapshot("run", np.arange(12).astype(str), sets, weights)
    >>> run = ReviewSignals(own, neighbours=near)
    >>> decided = Decided.of(sets, {0: 1, 1: 1, 2: 1, 6: 0, 7: 0, 8: 0})
    >>> follow(own, propose(run, decided), [5]).labels.tolist()
    ['1', '1', '1', '1', '1', '0', '0', '0', '0', '0', '0', '0']
    """
    sets, held_out = own.candidates, own.held_out
    stays = np.isin(sets.rows, list(restored))
    weights = np.where(stays, own.weights, normalise(proposed, sets))
    if held_out is not None:  # what was not known of how sure one is, stays so; and a set of one has nothing to weigh
        stays |= np.isnan(held_out) | (sets.sizes[sets.rows] == 1)
        within = proposed * own.inside[sets.rows]  # of votes; decisions weigh the labels they named alone
        held_out = np.where(stays, held_out, within)
    return replace(own, weights=weights, held_out=held_out, follows=True)


def followed(
    own: LabelSnapshot,
    config: RunConfig,
    data: PartialLabelDataset,
    proposed: Weights,
    decided: Decided,
    restored: Iterable[int] = (),
) -> LabelSnapshot:
    """Return the labels as the decisions leave them: `follow`, or of a run of voter models, voters fitted anew.

    Parameters
    ----------
    own : LabelSnapshot
        Of the run.
    config : RunConfig
        Of the run.
    data : PartialLabelDataset
        Its examples.
    proposed, restored
        As for `follow`.
    decided
        Decisions that may be learned from.
    """
    sets, annotations = own.candidates, data.annotations
    of_voters = config.method == "dawid-skene" and annotations is not None
    if len(decided) < FEWEST_DECISIONS:
        if not decided.eliminated.any():
            return own
        others = np.flatnonzero(~np.logical_or.reduceat(decided.eliminated, sets.indptr[:-1]))
        proposed, restored = decided.undecided.apply_to(own.shown), np.union1d(list(restored), others).tolist()
    elif of_voters and annotations is not None:
        answers = np.full(annotations.n_rows, -1, dtype=np.int64)
        answers[decided.rows] = decided.labels  # "none of these" is −1: no information about voters
        posterior = fit_voters(annotations, kind=config.params.get("kind", "pooled"), true_labels=answers).posterior
        proposed = decided.undecided.apply_to(normalise(on_candidates(posterior, sets), sets))
    return follow(own, proposed, restored)


def teaching_outcomes(state: ReviewState) -> Iterator[tuple[int, Outcome]]:
    """Outcomes that may be learned from, by row: no answer to the example was made while people certified."""
    for row, outcome in state.outcomes():
        events = state.live_events(row)
        if events and not any(event.control or event.queue == CERTIFY_QUEUE for event in events):
            yield row, outcome


def teaching_decisions(state: ReviewState, sets: CandidateSets) -> Decided:
    """Return the decisions that may be learned from, in class indices of `sets`, for the logit.

    "None of these", and classes that the sets do not know, are `OUTSIDE`; unsure and conflicts are left out.

    Parameters
    ----------
    state
        Of the review.
    sets
        n candidate sets.
    """
    place = {name: j for j, name in enumerate(sets.class_names)}
    labels, struck = {}, []
    for row, outcome in sorted(teaching_outcomes(state), key=lambda item: item[1].event.id if item[1].event else 0):
        if outcome.status in ("label", "none"):
            labels[row] = place.get(outcome.label or "", OUTSIDE)
        struck += [(row, place[name]) for name in outcome.eliminated if name in place]
    return Decided.of(sets, labels, struck)


def labels_now(
    signals: ReviewSignals, config: RunConfig, data: PartialLabelDataset, state: ReviewState
) -> tuple[Decided, Weights, LabelSnapshot]:
    """Return the decisions that may be learned from, what the logit proposes, and a run's labels as these leave them.

    Where the run was trained on a decision that was taken back since, the set and the label are those of the run that
    the review began with: its own set holds what nobody says any more.

    Parameters
    ----------
    signals
        Of the run.
    config
        Of the run.
    data
        Its training part.
    state
        Of the review.
    """
    first, taught = signals.first, config.decided_sets
    decided = teaching_decisions(state, signals.sets)
    proposed = propose(signals, decided, None if first is None else teaching_decisions(state, first.sets))
    if taught is not None and first is None:
        return decided, proposed, signals.labels  # nothing tells how far to trust what learnt the decisions
    labels = followed(signals.labels, config, data, proposed, decided, state.rows_as_run)
    if taught is not None and first is not None:
        said = {row for row, one in teaching_outcomes(state) if one.eliminated or one.status in ("label", "none")}
        if gone := sorted(taught.by_row.keys() - said):
            labels = labels.with_rows(gone, labels_now(first, replace(config, decided_sets=None), data, state)[2])
    return decided, proposed, labels

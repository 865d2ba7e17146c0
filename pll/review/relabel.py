"""Labels proposed from the decisions so far for undecided examples, and accepting them (docs/review.md).

What a page may do with them, and what not (docs/review.md, "Proposals"):

- show them beside the run's labels, and which labels they would change;
- adopt them as labels of the undecided examples: then they are labels by the model (`source` is `model`),
  and an earlier certificate does not cover them: they need a round of their own;
- never as decisions, and never silently.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pll.review import certification
from pll.review.decided import Decided, as_decided
from pll.review.label_snapshot import LabelSnapshot
from pll.review.logit import Logit, fit, propose
from pll.review.relabel_store import store_relabelled, with_weights
from pll.review.session import ReviewSession
from pll.review.signals import ReviewSignals
from pll.runs.folder import RunFolder
from pll.store.tables import Opened
from pll.weights import Weights, sharpness


@dataclass(frozen=True, eq=False)
class Proposals:
    """What the conditional logit makes of a run and the decisions.

    Attributes:
        weights: (nnz,) float32 label weights p_ij, one-hot where decided.
        labels: (n,) int64, argmax over S_i of them.
        confidence: (n,) float32, the largest of them.
        changed: (m,) int64 undecided rows whose label would differ from the run's, the surest change first.
        logit: the fitted parameters.
    """

    weights: Weights
    labels: npt.NDArray[np.int64]
    confidence: npt.NDArray[np.float32]
    changed: npt.NDArray[np.int64]
    logit: Logit


def proposals(signals: ReviewSignals, decided: Decided | Mapping[int, int] | None = None) -> Proposals:
    """What the decisions so far propose for every example.

    Args:
        decided: without the answers to controls that judge the labels in question: they never teach.

    >>> from pll.candidates import CandidateSets
    >>> sets = CandidateSets.from_lists([[0, 1], [0, 1], [0, 1]], n_classes=2)
    >>> run = ReviewSignals(
    ...     sets,
    ...     np.array([0.6, 0.4, 0.6, 0.4, 0.6, 0.4], dtype=np.float32),
    ...     neighbours=np.array([[1, 2], [0, 2], [0, 1]], dtype=np.int32),
    ... )
    >>> proposals(run, {0: 1, 1: 1}).changed.tolist()
    [2]
    """
    known = as_decided(signals.sets, decided)
    learnt = fit(signals, known)
    weights = propose(signals, known, learnt)
    sharp = sharpness(weights, signals.sets)
    changed = np.flatnonzero((sharp.identified != signals.sharp.identified) & ~known.is_decided)
    surest = changed[np.argsort(-sharp.confidence[changed], kind="stable")]
    return Proposals(weights, sharp.identified, sharp.confidence, surest, learnt)


@dataclass(frozen=True, eq=False)
class ProposedLabels:
    """Proposals as they were at one moment.

    Attributes:
        labels: what the labels would be.
        round: number of the round whose labels they would replace.
        rows: (m,) undecided examples whose label would change, the surest first.
        before, after: (m,) names of their labels.
        confidence: (m,) float32, of the new ones.
        decisions: how many it was learnt from.
    """

    labels: LabelSnapshot
    round: int
    rows: npt.NDArray[np.int64]
    before: npt.NDArray[np.object_]
    after: npt.NDArray[np.object_]
    confidence: npt.NDArray[np.float32]
    decisions: int

    def __len__(self) -> int:
        return len(self.rows)


def propose_labels(review: ReviewSession, signals: ReviewSignals, decided: Decided) -> ProposedLabels:
    """What the decisions propose by now.

    Args:
        signals: of the run in view, and the accepted labels, if any.
        decided: what may teach (`teaching_decisions`).
    """
    record, now = review.under_review
    found = proposals(signals, decided)
    labels = with_weights(now, found.weights)
    rows = found.changed[review.state.answers[found.changed] == 0]
    return ProposedLabels(
        labels,
        record.number,
        rows,
        now.labels[rows],
        labels.labels[rows],
        found.confidence[rows],
        found.logit.decisions,
    )


def relabel(
    review: ReviewSession, folder: RunFolder, proposed: ProposedLabels, *, by: str | None = None, verified: bool = False
) -> bool:
    """Make these the labels under review: a new round, with a fresh draw of controls.

    Args:
        folder: of the run they are about.
        by, verified: who accepts them, and whether that name was verified.

    Returns:
        False where other labels came under review since the offer was made: then nothing changes.
    """
    store_relabelled(folder, proposed.labels)
    return certification.adopt(review, proposed.labels, Opened("taken over", by, verified), instead_of=proposed.round)


def teaching_decisions(review: ReviewSession) -> Decided:
    """What people decided, without what was answered as a control in any round.

    Decisions on examples that the queue chose are learnt from also where the example is in a draw, as for a
    retrained run: the draw judges labels that were frozen before, and those accepted get a draw of their own.
    """
    said = review.decided()
    kept = np.ones(len(review.root), dtype=np.bool_)
    for row, _ in review.state.outcomes():
        if any(event.control for event in review.state.live_events(row)):
            kept[row] = False
    eliminated = None if said.eliminated is None else said.eliminated & kept[said.sets.rows]
    teaches = kept[said.rows]
    return Decided(said.sets, said.rows[teaches], said.labels[teaches], eliminated)

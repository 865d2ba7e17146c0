"""What taking the proposals over would change, and taking them over: a person's act (docs/review.md, "Proposals")."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pll.review.decided import Decided
from pll.review.label_snapshot import LabelSnapshot
from pll.review.proposals import proposals
from pll.review.relabel_store import keep, relabelled
from pll.review.session import ReviewSession
from pll.review.signals import ReviewSignals
from pll.runs.folder import RunFolder
from pll.store.records import Opened


@dataclass(frozen=True, eq=False)
class Offer:
    """Proposals as they were at one moment.

    Attributes:
        labels: what the labels would be.
        round: number of the round whose labels they would replace.
        rows: (m,) the examples that nobody has looked at and whose label would change, the surest first.
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


def offer_of(review: ReviewSession, signals: ReviewSignals, decided: Decided) -> Offer:
    """What the decisions propose by now.

    Args:
        signals: of the run in view, and the labels taken over, if any.
        decided: what may teach (`teaching_decisions`).
    """
    record, now = review.under_review
    found = proposals(signals, decided)
    labels = relabelled(now, found.weights)
    rows = found.changed[review.state.answers[found.changed] == 0]
    return Offer(
        labels,
        record.number,
        rows,
        now.labels[rows],
        labels.labels[rows],
        found.confidence[rows],
        found.logit.decisions,
    )


def take_over(
    review: ReviewSession, folder: RunFolder, offer: Offer, *, by: str | None = None, verified: bool = False
) -> bool:
    """Make these the labels under review: a new round, with a fresh draw of controls.

    Args:
        folder: of the run they are about.
        by, verified: who takes them over, and whether somebody vouched for that name.

    Returns:
        False where other labels came under review since the offer was made: then nothing changes.
    """
    keep(folder, offer.labels)
    return review.adopt(offer.labels, Opened("taken over", by, verified), instead_of=offer.round)


def teaching_decisions(review: ReviewSession) -> Decided:
    """What people decided, without what was answered as a control in any round.

    Decisions that the queue asked for teach also where their example is in a draw, as for a taught run: the draw judges
    labels that were frozen before, and those taken over get a draw of their own.
    """
    said = review.decided()
    kept = np.ones(len(review.root), dtype=np.bool_)
    for row, _ in review.state.verdicts():
        if any(event.control for event in review.state.live_events(row)):
            kept[row] = False
    eliminated = None if said.eliminated is None else said.eliminated & kept[said.sets.rows]
    teaches = kept[said.rows]
    return Decided(said.sets, said.rows[teaches], said.labels[teaches], eliminated)

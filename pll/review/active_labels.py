"""Labels that each round of a review judges: the run's own, or accepted proposals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pll.errors import UserError
from pll.review.label_snapshot import LabelSnapshot
from pll.store.tables import RoundRecord

Load = Callable[[str], LabelSnapshot]
"""Gives the labels of a run by its id."""
ReadRelabelled = Callable[[LabelSnapshot, str], LabelSnapshot]
"""Gives the labels of this fingerprint that people accepted in place of a run's own."""


@dataclass(frozen=True)
class ActiveLabels:
    """Finds them for the rounds of one review.

    Args:
        root: what the first run says.
        load: gives the snapshot of a retrained run; needed where there is one.
        read_relabelled: gives labels that people accepted in place of a run's own; needed where there are some.
    """

    root: LabelSnapshot
    load: Load | None = None
    read_relabelled: ReadRelabelled | None = None

    def under(self, rounds: Sequence[RoundRecord]) -> LabelSnapshot:
        """The labels that the last of these rounds judges.

        Raises:
            UserError: they cannot be read from here, or are of other examples.
        """
        run = rounds[-1].run
        found = active_labels(self._of(run), rounds, self.read_relabelled)
        if len(found) != len(self.root):
            raise UserError(f"The run {run} has other examples than this review.")
        return found

    def before(self, rounds: Sequence[RoundRecord], now: LabelSnapshot) -> LabelSnapshot | None:
        """The labels that were judged before those of now; None where these are the first."""
        places = [place for place, record in enumerate(rounds) if record.key != now.key]
        return self.under(rounds[: places[-1] + 1]) if places else None

    def _of(self, run: str) -> LabelSnapshot:
        if run == self.root.run:
            return self.root
        if self.load is None:
            raise UserError(f"The review has gone on to the run {run}, which cannot be read from here.")
        return self.load(run)


def active_labels(
    own: LabelSnapshot, rounds: Sequence[RoundRecord], read_relabelled: ReadRelabelled | None
) -> LabelSnapshot:
    """What the last of these rounds that is of the run judges: the run's own labels, or those accepted.

    Labels are accepted only after the run's own had a round. So where an earlier round is of the run's own labels,
    another fingerprint was accepted; where none is, the run itself has gone on since.

    Args:
        own: the run's result.
        rounds: of the review, in order; those of other runs are passed over.
        read_relabelled: reads accepted proposals. Without it the labels are the run's own, whose certificate is then
            refused.
    """
    prints = [record.fingerprint for record in rounds if record.run == own.run]
    if read_relabelled is None or not prints or prints[-1] == own.fingerprint or own.fingerprint not in prints:
        return own
    return read_relabelled(own, prints[-1])


def unjudged(snapshot: LabelSnapshot, rounds: Sequence[RoundRecord]) -> bool:
    """Whether none of these rounds judges these labels."""
    return all(record.key != snapshot.key for record in rounds)

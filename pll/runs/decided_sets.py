"""Candidate sets changed by the decisions of a review, for a run that is trained on them.

The set of a decided example holds its label alone (weight 1 from the start), an eliminated label is removed, and
"none of these" leaves the classes outside the set. Everything else about the run is unchanged, so that differences in
the result come from the decisions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from pll.candidates import with_sets
from pll.dataset import PartialLabelDataset
from pll.weights import DECISIONS, ChangedSets
from pll.wording import count


@dataclass(frozen=True)
class DecidedSets:
    """Part of a run's config: the sets that decisions changed, and the review they come from.

    Parameters
    ----------
    review
        Id of the review that holds the decisions.
    root
        Id of the run that the review began with.
    parent
        Id of the run that this one continues, from its model where the method can (warm start).
    by_row
        Row → its remaining labels, sorted; of the rows whose set was changed.
    new_classes
        Names of classes that reviewers added after those of the data.
    warm
        Start from the parent's model; otherwise from scratch.
    decisions
        Number of decided examples.
    taught_by, verified
        Who started the run, and whether that name was verified.

    Examples
    --------
    >>> DecidedSets("r", "a", "a", {3: (1,), 7: (0, 2)}).decided_rows
    [3]
    """

    review: str
    root: str
    parent: str
    by_row: Mapping[int, tuple[int, ...]]
    new_classes: tuple[str, ...] = ()
    warm: bool = True
    decisions: int = 0
    taught_by: str | None = None
    verified: bool = False

    @property
    def decided_rows(self) -> list[int]:
        """Rows whose set holds the one label that was decided."""
        return [row for row, labels in self.by_row.items() if len(labels) == 1]

    @property
    def teaching(self) -> str:
        """What taught the run, for its name. Decisions that were taken back, or are unsure now, teach nothing.

        Examples
        --------
        >>> DecidedSets("r", "a", "a", {3: (1,)}, decisions=1).teaching, DecidedSets("r", "a", "a", {}).teaching
        ('taught by 1 decision', 'no decision to learn from')
        """
        if not self.by_row:
            return "no decision to learn from"
        return f"taught by {count(max(self.decisions, len(self.by_row)), 'decision')}"

    def change(self, data: PartialLabelDataset) -> ChangedSets:
        """Return the decided candidate sets of the training data.

        Raises
        ------
        UserError
            a row or label that the data does not have.
        """
        decided = np.full(len(data), -1, dtype=np.int64)
        for row in self.decided_rows:
            decided[row] = self.by_row[row][0]
        before, after = (with_sets(data.sets(), changed, self.new_classes) for changed in ({}, self.by_row))
        return ChangedSets(before, after, reason=DECISIONS, decided=decided)

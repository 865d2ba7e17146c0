"""What a run came to, in one sentence: on the Train and the Export page."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pll.annotations import Annotations
from pll.ui.format import count
from pll.weights import CONFIDENT


@dataclass(frozen=True)
class LabelCounts:
    """How many labels there are, and how many of them deserve a look."""

    labels: int  # of the examples that were learnt from
    doubtful: int  # of them, those whose label weight is below `CONFIDENT` and that nobody decided
    # of them, those that the majority of the votes would label differently; None without several voters
    differs: int | None = None
    predicted: int = 0  # labels of examples that were not learnt from

    @property
    def sentence(self) -> str:
        """As a person reads it.

        Examples
        --------
        >>> LabelCounts(60, 8, 9).sentence
        '60 labels. 52 certain, 8 worth a look. The majority would differ on 9.'
        """
        text = (
            f"{count(self.labels, 'label')}. {self.labels - self.doubtful:,} certain, {self.doubtful:,} worth a look."
        )
        majority = "" if self.differs is None else f" The majority would differ on {self.differs:,}."
        return f"{text}{majority}" + (f" {self.predicted:,} more are predicted." if self.predicted else "")


def result_of(
    identified: npt.NDArray[np.int64],
    confidence: npt.NDArray[np.float32],
    votes: Annotations | None,
    *,
    decided: Collection[int] = (),
    predicted: int = 0,
) -> LabelCounts:
    """Return what the labels of n examples come to, with `votes` of the same examples where there are any.

    Rows in `decided` were decided by a person, and are certain; `predicted` labels are of examples not learnt from.
    """
    doubtful = confidence < CONFIDENT
    doubtful[list(decided)] = False
    is_one = votes is None or (votes.n_annotators == 1 and not votes.anonymous)
    differs = None if votes is None or is_one else _differing(identified, votes)
    return LabelCounts(len(identified), int(doubtful.sum()), differs, predicted)


def _differing(identified: npt.NDArray[np.int64], votes: Annotations) -> int:
    """How many labels are not the most frequent of the votes, or one of them where several are."""
    counts = votes.votes
    most = counts.max(axis=1).toarray().ravel()
    own = np.asarray(counts[np.arange(len(identified)), identified]).ravel()
    return int((own < most).sum())

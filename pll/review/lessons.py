"""What decisions teach the conditional logit: plain arrays that outlive the run under which they were made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pll.errors import UserError


@dataclass(frozen=True, eq=False)
class Lessons:
    """What decisions teach: the features of their candidates as they were, and which candidate was right.

    Attributes:
        table: (p, K) features of all candidates of the decided examples, one after the other.
        labels: (p,) their classes.
        sizes: (m,) how many candidates each of these examples has; they sum to p.
        chosen: (m,) which of the p was right.
    """

    features: tuple[str, ...]
    table: npt.NDArray[np.floating[Any]]
    labels: npt.NDArray[np.int64]
    sizes: npt.NDArray[np.int64]
    chosen: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.sizes)

    def after(self, earlier: Lessons) -> Lessons:
        """The lessons of an earlier run of the same review first, then these.

        Raises:
            UserError: the runs were looked at with other features.
        """
        if earlier.features != self.features:
            raise UserError("These lessons are of other signals than those before; prepare the run's signals first.")
        return Lessons(
            self.features,
            np.concatenate([earlier.table, self.table]),
            np.concatenate([earlier.labels, self.labels]),
            np.concatenate([earlier.sizes, self.sizes]),
            np.concatenate([earlier.chosen, self.chosen + len(earlier.table)]),
        )

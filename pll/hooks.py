"""Between two mini-batches: a hook that may wait, or stop the training, and where training then stands.

Every method calls its hook there, those without mini-batches between two units of work.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pll.weights import Weights

Hook = Callable[[], None]
"""Called between batches. It may wait (pause), and raises `StopTraining` to end the training there."""


class StopTraining(Exception):
    """Raised by a hook: stop before the next batch. Everything learnt so far is kept."""


def no_hook() -> None:
    """For who neither waits nor stops."""


@dataclass(frozen=True, eq=False)
class Moment:
    """Where training stands between two mini-batches; a copy that stays as it is.

    Attributes:
        epoch: epochs completed.
        batch: mini-batches of the next epoch already used, of `batches` in all.
        label_weights: (nnz,) float32, of the training passes so far.
    """

    epoch: int
    batch: int
    batches: int
    label_weights: Weights

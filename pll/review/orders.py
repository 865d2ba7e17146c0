"""Orders of the review queue: scores of how much an example needs a review.

An order needs no truth and takes well under a second for 60,000 examples. The default and its reasons are in
docs/review.md with the figures of `python -m benchmarks.review`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pll.candidates import CandidateSets
from pll.errors import UserError
from pll.review.decided import Decided, as_decided
from pll.review.logit import propose, top_probability
from pll.review.signals import ReviewSignals
from pll.weights import top_positions

Scores = npt.NDArray[np.floating]
Score = Callable[[ReviewSignals, Decided], Scores]
"""(n,) the larger, the sooner it is shown."""

DEFAULT = "learning"
"""The best where proposals are accepted. For labels that stay until somebody decides, `doubt` is."""


@dataclass(frozen=True)
class Order:
    """One way to sort the queue.

    Attributes:
        name: what the code calls it.
        title: what a person chooses.
        explanation: one sentence on what comes first, and why.
        score: (n,) the larger, the sooner.
        needs: attributes of `ReviewSignals` that must be there.
        uses_decisions: whether it changes as people decide; others need no new ranking.
    """

    name: str
    title: str
    explanation: str
    score: Score
    needs: tuple[str, ...] = ()
    uses_decisions: bool = False

    def missing(self, signals: ReviewSignals) -> tuple[str, ...]:
        """What the run does not have (yet); empty where the order can be used."""
        return tuple(what for what in self.needs if getattr(signals, what) is None)


def rank(
    name: str,
    signals: ReviewSignals,
    sets: CandidateSets | None = None,
    decided: Decided | Mapping[int, int] | None = None,
    *,
    seed: int = 0,
) -> npt.NDArray[np.int64]:
    """All examples, those most worth a look first; decided ones at the end.

    Equals are ordered by confidence, the least first, then at random, so that no batch is all of one kind.

    Args:
        name: of `ORDERS`.
        signals: of the run.
        sets: the run's candidate sets; those of the signals, and checked to be.
        decided: what people decided, or a mapping row → label (in the order decided). Leave out answers that judge the
            certificate: control answers never teach what they judge.
        seed: of the random order and of ties.

    Returns:
        (n,) int64 rows.

    Raises:
        UserError: no such order, or the run lacks what it needs.
    """
    order = get_order(name)
    lacking = order.missing(signals)
    if lacking:
        raise UserError(f"The order {order.title!r} needs {_words(lacking)}, which this run does not have.")
    if sets is not None and sets is not signals.sets and sets != signals.sets:
        raise UserError("These candidate sets are not those of the run; labels ruled out belong into `Decided`.")
    known = as_decided(signals.sets, decided)
    shuffled = np.random.default_rng(seed).permutation(len(signals.sets))
    scores = shuffled if order.name == "random" else order.score(signals, known)
    return np.lexsort((shuffled, signals.sharp.confidence, -scores, known.is_decided))


def get_order(name: str) -> Order:
    """The order of that name.

    Raises:
        UserError: there is none.
    """
    if name not in ORDERS:
        raise UserError(f"There is no order called {name!r}; use one of {', '.join(ORDERS)}.")
    return ORDERS[name]


def usable_orders(signals: ReviewSignals) -> list[Order]:
    """The orders that this run has all the signals for, the default first."""
    return [order for order in ORDERS.values() if not order.missing(signals)]


# ---- the scores ------------------------------------------------------------------------------------------------------


def _by_logit(signals: ReviewSignals, decided: Decided) -> Scores:
    """How unsure the proposal is: what it would change with confidence needs no look."""
    return 1.0 - top_probability(propose(signals, decided), signals.sets)


def _by_doubt(signals: ReviewSignals, decided: Decided) -> Scores:
    """How unlikely the run's own label is: what the proposal would change comes first."""
    return 1.0 - _of_identified(signals, propose(signals, decided))


def _by_confidence(signals: ReviewSignals, decided: Decided) -> Scores:
    return 1.0 - signals.sharp.confidence


def _by_margin(signals: ReviewSignals, decided: Decided) -> Scores:
    return 1.0 - signals.sharp.margin


def _by_entropy(signals: ReviewSignals, decided: Decided) -> Scores:
    return signals.sharp.entropy


def _by_changes(signals: ReviewSignals, decided: Decided) -> Scores:
    assert signals.changes is not None
    return signals.changes.astype(np.float64)


def _by_annotators(signals: ReviewSignals, decided: Decided) -> Scores:
    assert signals.votes is not None
    return 1.0 - _of_identified(signals, signals.votes)


def _against_all(signals: ReviewSignals, decided: Decided) -> Scores:
    """How many more named another label than this one: 1 where all agreed, and on another."""
    assert signals.votes is not None
    most = np.maximum.reduceat(signals.votes, signals.sets.indptr[:-1])
    return most - _of_identified(signals, signals.votes)


def _by_neighbours(signals: ReviewSignals, decided: Decided) -> Scores:
    shares = signals.neighbour_shares
    assert shares is not None
    return 1.0 - _of_identified(signals, shares)


def _by_surprise(signals: ReviewSignals, decided: Decided) -> Scores:
    """Confidence less the neighbours' support: only who is sure and alone comes first."""
    shares = signals.neighbour_shares
    assert shares is not None
    return signals.sharp.confidence - _of_identified(signals, shares)


def _by_out_of_fold(signals: ReviewSignals, decided: Decided) -> Scores:
    assert signals.out_of_fold is not None
    return 1.0 - _of_identified(signals, signals.out_of_fold)


def _by_miss(signals: ReviewSignals, decided: Decided) -> Scores:
    assert signals.miss is not None
    return signals.miss


def _at_random(signals: ReviewSignals, decided: Decided) -> Scores:
    return np.zeros(len(signals.sets))  # `rank` breaks ties at random, after confidence; it treats this order apart


def _of_identified(signals: ReviewSignals, values: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """(n,) what (nnz,) values say of each identified label."""
    return values[top_positions(signals.active_labels, signals.sets)]


_ALL = (
    Order(
        "learning",
        "Least certain proposal",
        "Examples of which even the model, their neighbours and all decisions so far together are least sure. Take "
        "over what they are sure of under Progress.",
        _by_logit,
        uses_decisions=True,
    ),
    Order(
        "doubt",
        "Most likely wrong",
        "Examples whose label is least likely by the model, their neighbours and all decisions so far.",
        _by_doubt,
        uses_decisions=True,
    ),
    Order(
        "confidence",
        "Lowest confidence",
        "Examples whose best label has the least weight.",
        _by_confidence,
    ),
    Order(
        "margin",
        "Smallest margin",
        "Examples whose two best labels are closest to each other.",
        _by_margin,
    ),
    Order(
        "entropy",
        "Highest entropy",
        "Examples whose weight is spread most evenly over all their candidates.",
        _by_entropy,
    ),
    Order(
        "changes",
        "Most label changes",
        "Examples whose best label changed most often while the model learnt.",
        _by_changes,
        needs=("changes",),
    ),
    Order(
        "annotators",
        "Model against annotators",
        "Examples whose best label was named by the fewest of their annotators.",
        _by_annotators,
        needs=("votes",),
    ),
    Order(
        "against-all",
        "Against all annotators",
        "Examples whose annotators agreed, on another label than the best one.",
        _against_all,
        needs=("votes",),
    ),
    Order(
        "neighbours",
        "Unlike its neighbours",
        "Examples whose best label is rare among the ten most similar ones.",
        _by_neighbours,
        needs=("neighbours",),
    ),
    Order(
        "surprise",
        "Confident but alone",
        "Examples of which the model is sure although the ten most similar ones say otherwise.",
        _by_surprise,
        needs=("neighbours",),
    ),
    Order(
        "out-of-fold",
        "Doubted by a second model",
        "Examples whose best label is least likely to a simple model that learnt from all the others.",
        _by_out_of_fold,
        needs=("out_of_fold",),
    ),
    Order(
        "set-wrong",
        "Set probably wrong",
        "Examples whose candidate set most likely misses the right label, to a model that learnt from all the others.",
        _by_miss,
        needs=("miss",),
    ),
    Order(
        "random",
        "At random",
        "Every example is as likely as any other to come next.",
        _at_random,
    ),
)

ORDERS: dict[str, Order] = {order.name: order for order in _ALL}
"""The orders by name, the default first."""


def _words(needs: tuple[str, ...]) -> str:
    said = {
        "changes": "label changes (known once a run has ended)",
        "votes": "annotators",
        "neighbours": "nearest neighbours (found in the background after a run)",
        "out_of_fold": "a second model's opinion (made in the background after a run)",
        "miss": "an estimate of which sets miss the truth (made by the method PRODEN-outside)",
    }
    return " and ".join(said[need] for need in needs)

"""Promise, labels under review and calibration of a `ReviewSession`."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pll.errors import UserError
from pll.review.calibration import Calibration, calibration_of
from pll.review.dataset_certificate import make_promise
from pll.review.draws import earlier_draws, labels_key, remember_draw
from pll.review.expected_checks import ExpectedChecks, expected_checks
from pll.review.promise import LEVEL, RIGHT, UNANSWERED, plan_dataset
from pll.review.promise_state import record_of_promise, table_of
from pll.review.session import ReviewSession
from pll.review.tables import PromiseRecord


def promise_all_labels(
    review: ReviewSession,
    error: float,
    *,
    level: float = LEVEL,
    by: str | None = None,
    verified: bool = False,
    instead_of: int = 0,
) -> PromiseRecord:
    """Freeze the labels of this moment and promise something about all of them, with a draw of its own.

    From now on its controls and the labels it does not accept are assigned. Existing decisions count.

    Parameters
    ----------
    error
        ε, the share of all labels that may be wrong.
    instead_of
        Number of the newest promise that the caller knows, 0 for none.

    Raises
    ------
    UserError
        Another promise, or other labels, came meanwhile; this promise is in force; or an impossible one.
    """
    table = table_of(review.current, review.state)
    keys = {labels_key(table.ids, table.labels)}
    with review.writing() as t:
        promises = t.promises()
        newest = promises[-1].number if promises else 0
        if newest != instead_of or t.rounds()[-1].run != review.own.run:
            raise UserError("The review has changed in the meantime. Check labels and promise, then save again.")
        same = [record for record in promises if record.labels == table.fingerprint]
        if same and (same[-1].error, same[-1].level) == (error, level):
            raise UserError(
                "This promise has been made, and its controls are drawn; go on with it. Another draw for the same "
                "promise would be a second try."
            )
        before = {record.draw_hash for record in promises} | set(earlier_draws(keys))  # all of them, to be careful
        made = make_promise(table, error, level, reranked=True, draw_number=len(before) + 1)
        record = record_of_promise(made, review.own.run, newest + 1, by, verified=verified)
        t.open_promise(record, table.labels.tolist(), table.confidence.tolist())
        t.configure(goal="certify")
    remember_draw(keys, record.draw_hash, "desk")
    review.refresh()
    return record


def expected_checks_of(
    review: ReviewSession, error: float, level: float, neighbour_labels: npt.NDArray[np.object_] | None
) -> ExpectedChecks:
    """Return how many labels a promise that is not made yet would have people look at.

    Parameters
    ----------
    error, level
        See `promise_all_labels`.
    neighbour_labels
        (n,) names, see `ReviewSignals.neighbour_labels`; None where there are no neighbours.
    """
    table = table_of(review.current, review.state)
    plan = plan_dataset(len(table), error, level)
    answers = np.full(len(table), UNANSWERED, dtype=np.int8)
    answers[review.state.labels()[0]] = RIGHT
    rng = np.random.default_rng(0)  # some draw: the real one is not made yet
    controls, ties = rng.permutation(len(table))[: plan.controls], rng.random(len(table))
    order = np.lexsort((ties, -table.confidence))
    disagrees = None if neighbour_labels is None else neighbour_labels != table.labels
    return expected_checks(order, table.confidence, controls, answers, plan.tolerated, disagrees=disagrees)


def draws_before(review: ReviewSession) -> int:
    """Return the draws of controls made in this review, or of the same labels in the shell of this machine."""
    table = table_of(review.current, review.state)
    own = {record.draw_hash for record in review.promises}
    return len(own | set(earlier_draws({labels_key(table.ids, table.labels)})))


def calibration(review: ReviewSession) -> Calibration:
    """Calibrated confidence, fitted on the examples decided so far.

    Raises
    ------
    UserError
        Too few of them.
    """
    return calibration_of(review.root.candidates, review.own, review.current, review.state)

"""Which labels a round judges."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from pll.errors import UserError
from pll.review.active_labels import ActiveLabels, active_labels, unjudged
from pll.review.label_snapshot import LabelSnapshot
from pll.review.relabel_store import with_weights
from pll.review.rounds import new_round
from pll.store.store import now
from pll.store.tables import RoundRecord
from tests.review_helpers import snapshot

FIRST, TAUGHT = snapshot(), snapshot(run="taught", seed=1)
PROPOSED = with_weights(FIRST, np.roll(FIRST.weights, 1))


def rounds_of(*snapshots: LabelSnapshot) -> list[RoundRecord]:
    return [new_round(place + 1, judged, now()) for place, judged in enumerate(snapshots)]


def labels() -> ActiveLabels:
    """Of a review that begins with the first run; only what the rounds ask for is read."""
    return ActiveLabels(FIRST, {"taught": TAUGHT}.__getitem__, lambda own, key: {PROPOSED.fingerprint: PROPOSED}[key])


@pytest.mark.parametrize(
    ("judged", "now_in_force", "before"),
    [
        ((FIRST,), FIRST, None),
        ((FIRST, FIRST), FIRST, None),  # something else was promised
        ((FIRST, PROPOSED), PROPOSED, FIRST),
        ((FIRST, TAUGHT), TAUGHT, FIRST),
        ((FIRST, PROPOSED, TAUGHT, TAUGHT), TAUGHT, PROPOSED),
    ],
)
def test_the_last_round_says_which(
    judged: tuple[LabelSnapshot, ...], now_in_force: LabelSnapshot, before: LabelSnapshot | None
) -> None:
    found = labels().under(rounds_of(*judged))
    assert found is now_in_force
    assert labels().before(rounds_of(*judged), found) is before


def test_a_run_that_went_on_judges_its_own_labels() -> None:
    gone_on = replace(FIRST, weights=np.roll(FIRST.weights, 2))
    assert unjudged(gone_on, rounds_of(FIRST, TAUGHT)) and not unjudged(FIRST, rounds_of(FIRST, TAUGHT))
    assert active_labels(gone_on, rounds_of(FIRST), labels().read_relabelled) is gone_on


def test_what_cannot_be_read_or_is_of_other_examples_is_refused() -> None:
    rounds = rounds_of(FIRST, TAUGHT)
    with pytest.raises(UserError, match="gone on to the run taught, which cannot be read"):
        ActiveLabels(FIRST).under(rounds)
    with pytest.raises(UserError, match="The run taught has other examples"):
        ActiveLabels(FIRST, lambda run: snapshot(30, run=run)).under(rounds)

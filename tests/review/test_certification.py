"""What a review says about the labels as they are: labels under review, missing truths, calibrated confidence."""

from __future__ import annotations

import numpy as np
import pytest

from pll.analysis.intervals import hypergeometric
from pll.errors import UserError
from pll.review import certification
from pll.review.desk import Desk
from pll.review.promise_state import miss_rate_of
from tests.review_helpers import NAMES, answer, close, open_with, snapshot


def test_controls_tell_how_many_sets_miss_the_right_label(url: str) -> None:
    review = open_with(url)
    sets, desk, controls = review.root.candidates, Desk(review, "Ann"), np.arange(10, 20)
    assert miss_rate_of(controls, sets, review.state, review.required) is None
    for turn, row in enumerate(controls[:8].tolist()):
        one = desk.show(row)
        outside = next(name for name in NAMES if name not in sets.names(one.row))
        if turn == 0:
            desk.decide(one, "none")
        elif turn == 1:
            desk.decide(one, "other", outside)
        elif turn == 2:
            desk.decide(one, "unsure")
        else:
            answer(desk, one, right=True)
    found = miss_rate_of(controls, sets, review.state, review.required)
    assert found is not None and (found.answered, found.missing, found.unknown) == (8, 2, 1)
    assert (found.low, found.high) == hypergeometric(2, 8, 40, unknown=1)
    close(review)


def test_calibration_rests_on_what_is_decided(url: str) -> None:
    review = open_with(url, snapshot(400))
    desk = Desk(review, "Ann")
    with pytest.raises(UserError, match="at least 30"):
        certification.calibration(review)
    for row in range(40):
        answer(desk, desk.show(row), right=row % 4 == 0)
    for row in range(40, 43):
        desk.decide(desk.show(row), "unsure")  # says nothing of a confidence
    found = certification.calibration(review)
    assert found.decisions == 40 and found.temperature > 1
    close(review)

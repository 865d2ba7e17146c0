"""What the Data page says of annotators that agree more than independent ones would."""

from __future__ import annotations

import numpy as np

from pll.annotations import Annotations
from pll.ui.data.voters import voter_table


def test_of_voters_that_copies_outvote_it_is_not_said_that_they_share_mistakes() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 5, 1000)
    one, two, three = (np.where(rng.random(1000) < right, y, rng.integers(0, 5, 1000)) for right in (0.75, 0.72, 0.7))
    copies = [np.where(rng.random(1000) < 0.95, three, y) for _ in range(2)]
    five = Annotations.from_votes(np.column_stack([one, two, three, *copies]))
    _, notes = voter_table("copies", five, None)
    assert notes and all("copies" in note for note in notes)
    _, notes = voter_table("pair", Annotations.from_votes(np.column_stack([one, two, three, copies[0]])), None)
    assert not any("copies" in note for note in notes)

"""The timeline's Python half: what is sent, and what is believed."""

from __future__ import annotations

import numpy as np
import pytest

from pll.ui.components.component import packed
from pll.ui.components.timeline import MOST_SPARKS, checked, spark, timeline_payload


def test_the_payload_names_the_stored_epochs():
    payload = timeline_payload(
        [0, 4, 8],
        done=9,
        total=100,
        viewed=8,
        follow=True,
        live=True,
        requested=3,
        changed=np.zeros(9, dtype=np.float32),
    )
    stored = np.frombuffer(payload["stored"], dtype="<u4")
    assert stored.tolist() == [0, 4, 8]
    assert (payload["done"], payload["total"], payload["viewed"], payload["requested"]) == (9, 100, 8, 3)
    packed(payload)


def test_a_thousand_epochs_stay_small():
    changed = np.linspace(1, 0, 5000, dtype=np.float32)
    payload = timeline_payload(
        range(1000), done=5000, total=5000, viewed=5000, follow=True, live=False, requested=0, changed=changed
    )
    assert len(packed(payload)) < 12_000
    columns = spark(changed)
    assert len(columns) <= MOST_SPARKS
    assert columns[0] == [1, 100] and columns[-1][0] <= 5000


@pytest.mark.parametrize(
    ("look", "believed"),
    [
        ([3, True, 1], (3, True, 1)),
        ([0, False, 7], (0, False, 7)),
        ([101, True, 1], None),
        ([-1, True, 1], None),
        ([1, 1, 1], None),
        (["1", True, 1], None),
        ([1, True], None),
        (None, None),
        ({"epoch": 1}, None),
    ],
)
def test_the_browser_is_believed_only_where_it_can_be_meant(look, believed):
    assert checked(look, total=100) == believed

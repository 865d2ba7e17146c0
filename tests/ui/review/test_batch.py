"""Look-alikes: a label for many at a stroke."""

from __future__ import annotations

from pll.ui.review.batch import TILES, LookAlikeBatch, batch_payload
from pll.ui.review.review_tab import ReviewTab


def test_all_but_the_marked_get_the_label_and_one_undo_takes_it_back(tab: ReviewTab) -> None:
    group = LookAlikeBatch(tab)
    group.fill()
    sent = batch_payload(group)
    review = tab.manager.review
    assert 2 <= len(sent["tiles"]) <= TILES
    assert {review.current.labels[tile.row] for tile in group.tiles} == {group.label}
    rows, label = [tile.row for tile in group.tiles], group.label
    tokens = [tile["token"] for tile in sent["tiles"]]
    message = {"nonce": "a", "what": "accept", "token": group.token, "tokens": tokens[1:], "seconds": 12.0}
    group.act(message)
    group.act(message)
    assert [review.state.outcome(row).label for row in rows] == [None, *[label] * (len(rows) - 1)]
    assert len(review.state.all_events) == len(rows) - 1
    group.act({"nonce": "b", "what": "undo"})
    assert all(review.state.outcome(row).label is None for row in rows)


def test_another_group_leaves_this_one_as_it_was(tab: ReviewTab) -> None:
    group = LookAlikeBatch(tab)
    group.fill()
    first = group.tiles[0].row
    group.act({"nonce": "a", "what": "other", "token": group.token})
    assert group.tiles and group.tiles[0].row != first
    assert not tab.manager.review.state.all_events

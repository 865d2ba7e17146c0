"""What the desk is sent."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from pll.ui.review.payload import payload
from pll.ui.review.review_tab import ReviewTab


def test_candidates_come_in_the_order_of_few_classes_with_columns_beside_the_nearest_of_each(tab: ReviewTab) -> None:
    result = payload(tab)
    json.dumps(result)
    assert sum(choice["weight"] for choice in result["choices"]) == pytest.approx(1, abs=1e-3)
    names = [choice["label"] for choice in result["choices"]]
    assert names == sorted(names, key=tab.queue.data.class_names.index)
    columns = result["hero"]["columns"]
    assert len(columns) == 5 and all(len(column["of_classes"]) == len(result["hero"]["beside"]) for column in columns)
    apart = [column["distance"] for column in columns]
    assert apart == sorted(apart, reverse=True)
    possible = {action["name"] for action in result["actions"] if action["possible"]}
    assert result["decidable"] and possible >= {"none", "other", "unsure", "skip"}
    assert not possible & {"undo", "back", "forward", "now"}


def test_what_the_candidates_do_not_have_is_for_none_of_these(tab: ReviewTab) -> None:
    assert tab.assignment is not None and payload(tab)["beyond"] == 0
    less = tuple(replace(one, weight=0.9 * one.weight) for one in tab.assignment.choices)
    tab.assignment = replace(tab.assignment, choices=less)  # as where others were answered so, or few voted
    assert payload(tab)["beyond"] == pytest.approx(0.1, abs=1e-3)


def test_blind_tells_nothing_of_the_model(tab: ReviewTab) -> None:
    tab.blind = True
    result = payload(tab)
    place = {name: k for k, name in enumerate(tab.queue.data.class_names)}
    names = [choice["label"] for choice in result["choices"]]
    assert names == sorted(names, key=place.__getitem__)
    assert all(choice["weight"] is None for choice in result["choices"])
    assert result["beyond"] is None
    assert "%" not in result["message"] and result["message"].endswith(", ".join(names) + ".")


def test_the_controls_of_a_certificate_are_shown_blind(tab: ReviewTab) -> None:
    review = tab.review
    assert not tab.is_blind
    review.certify(0.1, 0.9)
    tab.reassign()
    assert tab.assignment is not None and tab.assignment.is_control and tab.is_blind
    assert all(choice["weight"] is None for choice in payload(tab)["choices"])
    one = tab.assignment
    tab.act({"nonce": "a", "what": "decide", "kind": "pick", "label": one.identified, "token": one.token})
    assert review.state.all_events[-1].blind

"""Keys of the desk: never two of the same, and a class wins over an action."""

from __future__ import annotations

from string import ascii_letters, digits

from hypothesis import given, settings
from hypothesis import strategies as st

from pll.ui.review.keys import ACTIONS, action_keys, candidate_keys, own_keys
from pll.ui.review.payload import payload
from pll.ui.review.review_tab import ReviewTab

names = st.lists(st.text(ascii_letters + digits + "/?é ", min_size=1, max_size=2), min_size=1, max_size=60, unique=True)


@settings(max_examples=60, deadline=None)
@given(class_names=names, fixed=st.booleans(), data=st.data())
def test_no_key_means_two_things_and_a_class_is_its_own_key(
    class_names: list[str], fixed: bool, data: st.DataObject
) -> None:
    listed = data.draw(st.lists(st.sampled_from(class_names), unique=True))
    actions, keys = action_keys(class_names), candidate_keys(listed, class_names, fixed=fixed)
    assert set(actions) == set(ACTIONS) and all(actions.values())
    given_keys = [key for key in keys if key]
    assert len(set(given_keys)) == len(given_keys)
    assert not {key.upper() for key in given_keys} & set(actions.values())
    assert len(set(actions.values())) == len(actions)
    for name, key in own_keys(class_names).items():
        assert key.upper() == name.upper()
        assert name not in listed or keys[listed.index(name)] == key


def test_the_desk_is_told_every_key_and_in_fixed_order_a_class_keeps_its_own(tab: ReviewTab) -> None:
    tab.fixed = True
    names = list(tab.queue.data.class_names)
    sent = payload(tab)
    assert sent["keys"]["undo"] == "U"
    assert [choice["key"] for choice in sent["choices"]] == [
        str(1 + names.index(choice["label"])) if len(names[0]) > 1 else choice["label"].upper()
        for choice in sent["choices"]
    ]

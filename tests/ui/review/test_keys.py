"""Keys of the desk: never two of the same, a class wins over an action, and few classes keep their keys."""

from __future__ import annotations

from string import ascii_letters, digits

from hypothesis import given
from hypothesis import strategies as st

from pll.ui.review.keys import ACTIONS, MOST_KEYED, action_keys, candidate_keys, own_keys
from pll.ui.review.payload import payload
from pll.ui.review.review_tab import ReviewTab
from tools.desk_keys import PAGE, page

names = st.lists(st.text(ascii_letters + digits + "/?é ", min_size=1, max_size=2), min_size=1, max_size=60, unique=True)


@given(class_names=names, data=st.data())
def test_no_key_means_two_things_and_a_class_is_its_own_key(class_names: list[str], data: st.DataObject) -> None:
    listed = data.draw(st.lists(st.sampled_from(class_names), unique=True))
    actions, keys = action_keys(class_names), candidate_keys(listed, class_names)
    assert set(actions) == {action.name for action in ACTIONS} and all(actions.values())
    given_keys = [key for key in keys if key]
    assert len(set(given_keys)) == len(given_keys)
    assert not {key.upper() for key in given_keys} & set(actions.values())
    assert len(set(actions.values())) == len(actions)
    for name, key in own_keys(class_names).items():
        assert key.upper() == name.upper()
        assert name not in listed or keys[listed.index(name)] == key


@given(
    class_names=st.lists(st.text(ascii_letters + digits, min_size=2), min_size=1, max_size=MOST_KEYED, unique=True),
    data=st.data(),
)
def test_of_few_classes_each_has_one_key_on_all_cards(class_names: list[str], data: st.DataObject) -> None:
    of_class = dict(zip(class_names, candidate_keys(class_names, class_names), strict=True))
    assert all(of_class.values())
    card = data.draw(st.lists(st.sampled_from(class_names), unique=True))
    assert candidate_keys(card, class_names) == [of_class[name] for name in card]


def test_the_desk_is_told_every_key_whether_or_not_the_model_is_hidden(tab: ReviewTab) -> None:
    names = list(tab.queue.data.class_names)
    for tab.blind in (False, True):
        sent = payload(tab)
        assert {action["name"]: action["key"] for action in sent["actions"]}["undo"] == "U"
        assert [choice["key"] for choice in sent["choices"]] == [
            str(1 + names.index(choice["label"])) for choice in sent["choices"]
        ]


def test_the_manual_lists_them() -> None:
    assert PAGE.read_text("utf-8") == page(), "run `python -m tools.desk_keys`"

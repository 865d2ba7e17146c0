"""One cell: candidate sets and labels survive it, whatever the names."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pll.errors import UserError
from pll.formats.tabular.cells import guess_separator, join_column, join_names, read_label, split_cell, write_label

from .strategies import names

sets_of_names = st.lists(names, min_size=1, max_size=4, unique=True)


@given(sets_of_names)
def test_a_set_survives_its_cell(candidates: list[str]) -> None:
    assert split_cell(join_names(candidates)) == tuple(candidates)


@given(st.none() | names)
def test_a_true_label_survives_its_cell(name: str | None) -> None:
    assert read_label(write_label(name)) == name


def test_plain_names_stay_plain() -> None:
    assert join_names(["NA", "None", "1", "日本語"]) == "NA|None|1|日本語"
    assert join_names(["a|b", "日本語"]) == '["a|b", "日本語"]'
    assert join_column([["a;b"], ["c"]]) == ['["a;b"]', "c"]
    assert join_column([["a;b"], ["c", "d"]]) == ["a;b", "c|d"]
    assert write_label("a|b") == "a|b"


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        (" cat |dog| cat ", ("cat", "dog")),
        ("||", ()),
        ("   ", ()),
        ("[]", ()),
        ("cream (30%)|milk (3,5%)", ("cream (30%)", "milk (3,5%)")),
        ("[1, 2.50, -0]", ("1", "2.50", "-0")),
        ('[" cat "]', (" cat ",)),
        ("[UNK]", ("[UNK]",)),
        ("[UNK]|[PAD]", ("[UNK]", "[PAD]")),
        ("[NaN]", ("[NaN]",)),
        ("['cat', None]", ("cat",)),
        ('c("cat", "dog")', ("cat", "dog")),
    ],
)
def test_cells_as_people_write_them(cell: str, expected: tuple[str, ...]) -> None:
    assert split_cell(cell) == expected


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        ("['cat', dog]", "not JSON"),
        ('["cat", ["dog"]]', "entry 2"),
        ("[" * 100_000 + "]" * 100_000, "nested too deeply"),
    ],
)
def test_lists_that_are_none(cell: str, words: str) -> None:
    with pytest.raises(UserError, match=words):
        split_cell(cell)


@pytest.mark.parametrize(
    ("cells", "mark"),
    [
        (["cat, dog", "dog, fox", "cat"], ","),
        (["cat,dog", "dog"], ","),
        (["New York, NY", "Buffalo, NY", "Austin, TX"], "|"),
        (["agree, strongly", "agree, weakly", "disagree, strongly", "disagree, weakly"], "|"),
        (["yes", "yes, surely", "no"], "|"),
        (["cat, dog", "dog, fox|cat, dog"], "|"),
        (["cat, dog; fox", "dog, cat"], ";"),
    ],
)
def test_a_comma_separates_only_where_parts_recur(cells: list[str], mark: str) -> None:
    assert guess_separator(cells) == mark


@given(
    st.lists(
        st.lists(st.sampled_from(["a", "b", "a, b", "b, a", "b,c", "c;d", "c"]), min_size=1, max_size=3, unique=True)
    )
)
def test_a_column_survives_whatever_stands_in_names(sets: list[list[str]]) -> None:
    cells = join_column(sets)
    mark = guess_separator(cells)
    assert [list(split_cell(cell, mark)) for cell in cells] == sets

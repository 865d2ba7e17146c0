from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pll.candidates import CandidateSets
from pll.dataset import PartialLabelDataset
from pll.errors import UserError, notes_of
from pll.runs.config import Preparation
from pll.runs.data import check_features, check_trainable, holdout_mask, one_fold, prepare, warnings_about
from pll.synthesis import Flip
from tests.dataset_helpers import X, made


def labelled(n: int = 40, c: int = 4, **more: Any) -> PartialLabelDataset:
    """Every example has its own number as its only feature."""
    X = np.arange(n, dtype=np.float32)[:, None]
    return PartialLabelDataset(X, y=np.arange(n) % c, class_names=tuple("abcdefgh"[:c]), **more)


def numbers(data: PartialLabelDataset | None) -> list[int]:
    assert data is not None
    return data.X[:, 0].astype(int).tolist()


BINOMIAL = Flip("binomial", 0.5)


# ---- holding out -----------------------------------------------------------------------------------------------------


@given(st.integers(2, 200), st.floats(0.01, 0.99), st.integers(0, 100))
def test_a_share_is_held_out_at_random_or_refused(n: int, share: float, seed: int) -> None:
    count = round(share * n)
    if count in (0, n):
        with pytest.raises(UserError, match="one side empty"):
            holdout_mask(n, share, seed)
        return
    mask = holdout_mask(n, share, seed)
    assert mask.sum() == count
    np.testing.assert_array_equal(mask, holdout_mask(n, share, seed))


def test_seeds_make_other_parts_and_other_sets_but_always_the_same() -> None:
    splits = [prepare(labelled(), Preparation(flip=BINOMIAL, holdout=0.25, seed=seed)) for seed in (0, 0, 1)]
    assert numbers(splits[0].test) == numbers(splits[1].test) != numbers(splits[2].test)
    assert splits[0].train.sets() == splits[1].train.sets() != splits[2].train.sets()
    with pytest.raises(UserError, match="seed is -1"):
        prepare(labelled(), Preparation(flip=BINOMIAL, holdout=0.25, seed=-1))


def test_every_example_is_on_one_side_and_only_the_training_side_is_made_ambiguous() -> None:
    splits = prepare(labelled(), Preparation(flip=BINOMIAL, holdout=0.25))
    assert sorted(numbers(splits.train) + numbers(splits.test)) == list(range(40))
    assert len(numbers(splits.test)) == 10
    assert splits.train.sets().contains(splits.train.y).all()
    assert (splits.train.sets().sizes >= 2).all()
    assert splits.test is not None and splits.test.candidates is None


# ---- a test part of its own ------------------------------------------------------------------------------------------


def test_a_marked_test_part_is_the_test_part_unless_another_is_wanted() -> None:
    marks = np.arange(40) >= 30
    data = labelled(is_test=marks)
    assert numbers(prepare(data, Preparation(flip=BINOMIAL)).test) == list(range(30, 40))
    assert len(numbers(prepare(data, Preparation(flip=BINOMIAL, holdout=0.5)).test)) == 20
    own = prepare(data, Preparation(flip=BINOMIAL), test=labelled(8))
    assert numbers(own.test) == list(range(8))
    assert numbers(own.train) == list(range(30))  # what is marked is not learnt from all the same
    assert prepare(labelled(is_test=~marks & marks), Preparation(flip=BINOMIAL)).test is None


@pytest.mark.parametrize("marked", [False, True])
def test_a_test_file_without_truth_is_refused(marked: bool) -> None:
    data = labelled(is_test=np.arange(40) >= 30) if marked else labelled()
    unlabelled = PartialLabelDataset(np.zeros((3, 1)), name="new.csv")
    with pytest.raises(UserError, match=r"new\.csv has no true labels"):
        prepare(data, Preparation(flip=BINOMIAL), test=unlabelled)


def test_a_held_out_part_without_truth_is_refused_and_a_marked_one_left_aside() -> None:
    sets = CandidateSets.from_mask(np.ones((40, 4), dtype=bool))
    unknown = PartialLabelDataset(np.zeros((40, 1)), sets, np.full(40, -1))
    with pytest.raises(UserError, match="no true labels"):
        prepare(unknown, Preparation(holdout=0.2))
    marked = PartialLabelDataset(np.zeros((40, 1)), sets, is_test=np.arange(40) >= 30)
    splits = prepare(marked, Preparation())
    assert splits.test is None
    assert len(splits.train) == 30


# ---- folds -----------------------------------------------------------------------------------------------------------


def with_copies(n: int = 60) -> PartialLabelDataset:
    """Examples of which the last ten are copies of the first, their own number as id."""
    X = np.random.default_rng(0).random((n, 4), dtype=np.float32)
    X[-10:] = X[:10]
    return PartialLabelDataset(X, y=np.arange(n) % 4, class_names=tuple("abcd"), ids=np.arange(n).astype(str))


def test_no_copy_of_what_is_learnt_from_is_tested_on() -> None:
    data = with_copies()
    splits = prepare(data, Preparation(flip=BINOMIAL, holdout=0.5))
    assert splits.test is not None and splits.holdout is not None
    learnt, held_out = ({int(one) % 50 for one in part.row_ids} for part in (splits.train, splits.holdout))
    assert {int(one) % 50 for one in splits.test.row_ids} == held_out - learnt
    (note,) = (one for one in notes_of(splits.train.notes) if one.kind == "copies" and "test" in one)
    assert note.startswith(f"{len(splits.holdout) - len(splits.test)} of 30")
    given = prepare(data.take(slice(5, 50)), Preparation(flip=BINOMIAL), test=data.take(slice(50, 60)))
    assert given.test is not None and given.test.row_ids.tolist() == ["50", "51", "52", "53", "54"]
    for fold in range(5):
        one = one_fold(data, Preparation(flip=BINOMIAL), 5, fold)
        assert one.test is not None and not one.test.copied_from(one.train).any()


def test_a_test_file_of_nothing_but_copies_is_refused() -> None:
    data = with_copies()
    with pytest.raises(UserError, match="All 10 examples"):
        prepare(data.take(slice(0, 50)), Preparation(flip=BINOMIAL), test=data.take(slice(50, 60)))


@given(st.integers(4, 60), st.integers(2, 8), st.integers(0, 50))
def test_every_example_is_tested_on_exactly_once(n: int, k: int, seed: int) -> None:
    data = labelled(n, c=2)
    if k > n:
        with pytest.raises(UserError, match="cannot be made"):
            one_fold(data, Preparation(flip=BINOMIAL, seed=seed), k, 0)
        return
    splits = [one_fold(data, Preparation(flip=BINOMIAL, seed=seed), k, fold) for fold in range(k)]
    tested = [numbers(part.test) for part in splits]
    assert len(splits) == k
    assert sorted(itertools.chain(*tested)) == list(range(n))
    assert {len(part) for part in tested} <= {n // k, n // k + 1}
    for part in splits:
        assert sorted(numbers(part.train) + numbers(part.test)) == list(range(n))
        assert part.train.sets().contains(part.train.y).all()
    again = [one_fold(data, Preparation(flip=BINOMIAL, seed=seed), k, fold) for fold in range(k)]
    assert [numbers(part.test) for part in again] == tested
    assert [part.train.sets() for part in again] == [part.train.sets() for part in splits]


# ---- what nothing can be learnt from ---------------------------------------------------------------------------------


def test_truth_outside_the_set_is_refused_only_where_it_has_to_be() -> None:
    data = labelled(candidates=CandidateSets.from_labels((np.arange(40) + 1) % 4, 4, tuple("abcd")))
    assert len(prepare(data, Preparation()).train.truth_outside()) == 40
    with pytest.raises(UserError, match="not among its candidates"):
        prepare(data, Preparation(strict=True))


class TestWarnings:
    def test_truth_outside_is_counted(self) -> None:
        data = made(y=[2, 1, 2, 0])
        assert data.truth_outside().tolist() == [0, 3]
        assert any(
            text.startswith("2 of 4 true labels are not among their candidates") for text in warnings_about(data)
        )
        some = warnings_about(made(y=[2, -1, -1, 0]))
        assert any(text.startswith("2 of 2 true labels are not among their candidates") for text in some)

    def test_whole_sets_missing_classes_and_singletons(self) -> None:
        assert any("1 of 4 examples have every class" in text for text in warnings_about(made()))
        certain = CandidateSets.from_labels([0, 0, 1, 1], 3)
        result = " ".join(warnings_about(made(candidates=certain, y=None)))
        assert "nothing is ambiguous" in result and "1 of 3 classes are never a candidate" in result

    def test_missing_cells_of_a_table(self) -> None:
        data = made(X=np.where(X > 9, np.nan, X), kind="table", notes=("a note of the reader",))
        assert "2 cells are missing" in warnings_about(data)[-1]
        assert warnings_about(data)[0] == "a note of the reader"


class TestTrainable:
    @pytest.mark.parametrize(
        ("data", "strict", "message"),
        [
            (made().take([0]), False, "data has 1 example to learn from; at least 2 are needed"),
            (made().take([]), False, "data has 0 examples to learn from"),
            (made(candidates=CandidateSets.from_labels([0] * 4, 1), y=None), False, "data has one class (0)"),
            (made(candidates=None), False, "synthesise them from the true labels"),
            (made(candidates=None, y=None, name="x.csv"), False, "x.csv has no candidate sets; add a column"),
            (made(y=[2, 1, 2, 0], ids=list("abcd")), True, "true label of row 0 (id a) is not among its candidates"),
        ],
    )
    def test_what_nothing_can_be_learnt_from_is_refused(
        self, data: PartialLabelDataset, strict: bool, message: str
    ) -> None:
        with pytest.raises(UserError) as caught:
            check_trainable(data, strict=strict)
        assert message in str(caught.value)


def test_where_nothing_is_learnt_from_it_names_the_columns_that_could_be() -> None:
    data = PartialLabelDataset(
        X=np.zeros((2, 0), dtype=np.float32),
        candidates=CandidateSets.from_lists([[0], [0, 1]], 2),
        extras={"snippet": np.array(["a b", "c d"])},
    )
    with pytest.raises(UserError, match=r"nothing to learn from.*carried along: snippet.*--column NAME=text"):
        check_features(data)


def test_copies_are_said_with_how_many_have_other_candidates() -> None:
    X = np.random.default_rng(0).random((40, 6), dtype=np.float32)
    X[8] = X[9] = X[2]
    X[30] = X[5]
    sets = CandidateSets.from_lists([[0, 1 + (i == 9)] for i in range(40)], n_classes=3)
    said = notes_of(warnings_about(PartialLabelDataset(X, sets)), "copies")
    assert [str(note) for note in said] == [
        "3 rows are exact copies of 2 others (first: id 8 of id 2), 1 with other candidates; what was answered alike "
        "makes no label surer."
    ]
    X[8], X[9] = 0.5, 0.25
    said = notes_of(warnings_about(PartialLabelDataset(X, y=np.arange(40) % 2)), "copies")
    assert [str(note) for note in said] == ["1 row is an exact copy of another (first: id 30 of id 5)."]
    X[30] = 0.1
    assert not notes_of(warnings_about(PartialLabelDataset(X, sets)), "copies")


def test_equal_texts_and_words_are_copies_where_nothing_else_differs() -> None:
    texts = [f"text {i}" for i in range(40)]
    texts[20] = " text 3 "
    empty = np.empty((40, 0), dtype=np.float32)
    found = PartialLabelDataset(empty, texts=texts).copies  # type: ignore[arg-type]
    assert found is not None and found[20] == 3 and (found != np.arange(40)).sum() == 1
    numbers = np.arange(40, dtype=np.float32)[:, None]
    assert PartialLabelDataset(numbers, texts=texts).copies is None  # type: ignore[arg-type]
    colours = {"colour": ["red", "green"] * 20, "size": ["s", "m", "l", "xl"] * 10}
    assert PartialLabelDataset(empty, categories=colours).copies is None  # type: ignore[arg-type]

from __future__ import annotations

import json
from dataclasses import asdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pll.candidates import CandidateSets
from pll.errors import UserError
from pll.synthesis import flips
from pll.synthesis.ambiguity import flip_matrix
from pll.synthesis.flips import (
    Flip,
    binomial_matrix,
    flip,
    flip_binomial,
    flip_by_instance,
    flip_pair,
    flip_uniform,
    flip_with_matrix,
    instance_probabilities,
    uniform_matrix,
)
from pll.synthesis.names import FLIPS, Way

MANY = 200_000

GOLDEN_BINOMIAL = [[0, 3, 4], [1, 4], [0, 1, 2, 3], [3, 4], [0, 1, 3, 4]]
GOLDEN_PAIR = [[0], [1], [2, 3], [3], [0, 4]]


def within_five_sigma(hits: np.ndarray, expected: float) -> bool:
    """Whether a share of 0/1 draws is what it should be; wrong once in two million."""
    sigma = np.sqrt(expected * (1 - expected) / len(hits))
    return bool(abs(hits.mean() - expected) <= 5 * sigma)


@given(
    st.integers(2, 9).flatmap(lambda c: st.tuples(st.just(c), st.lists(st.integers(0, c - 1), max_size=12))),
    st.floats(0, 1),
    st.integers(0, 2**40),
)
def test_the_truth_is_always_a_candidate(case: tuple[int, list[int]], q: float, seed: int) -> None:
    c, y = case
    binomial, pair = flip_binomial(y, c, q, seed), flip_pair(y, c, q, seed)
    assert binomial.contains(y).all() and pair.contains(y).all()
    assert (binomial.sizes >= 2).all()
    for label, row in zip(y, pair, strict=True):
        assert set(row.tolist()) <= {label, (label + 1) % c}
    assert flip_binomial(y, c, q, seed) == binomial and flip_pair(y, c, q, seed) == pair


class TestBinomial:
    def test_every_wrong_label_enters_with_probability_q(self) -> None:
        y = np.full(MANY, 1)
        mask = flip_binomial(y, 5, 0.4, seed=3).mask()
        alone = 0.6**4  # these get one extra label, each of four alike
        for wrong in (0, 2, 3, 4):
            assert within_five_sigma(mask[:, wrong], 0.4 + alone / 4)

    def test_q_at_its_ends(self) -> None:
        y = np.arange(90) % 9
        assert (flip_binomial(y, 9, 0.0).sizes == 2).all()
        assert (flip_binomial(y, 9, 1.0).sizes == 9).all()
        assert (flip_binomial(y % 2, 2, 0.0).sizes == 2).all()

    def test_the_forced_label_is_any_wrong_one(self) -> None:
        mask = flip_binomial(np.full(MANY, 2), 4, 0.0, seed=5).mask()
        for wrong in (0, 1, 3):
            assert within_five_sigma(mask[:, wrong], 1 / 3)


class TestPair:
    def test_only_the_next_label_enters_and_singletons_stay(self) -> None:
        y = np.arange(MANY) % 4
        sets = flip_pair(y, 4, 0.3, seed=2)
        assert within_five_sigma(sets.contains((y + 1) % 4), 0.3)
        assert within_five_sigma(sets.sizes == 1, 0.7)
        assert sets.sizes.max() == 2


def test_the_same_seed_gives_the_same_sets_on_every_machine() -> None:
    y = [0, 1, 2, 3, 4]
    assert [row.tolist() for row in flip_binomial(y, 5, 0.5, seed=7)] == GOLDEN_BINOMIAL
    assert [row.tolist() for row in flip_pair(y, 5, 0.5, seed=7)] == GOLDEN_PAIR
    assert flip_binomial(y, 5, 0.5, seed=8) != flip_binomial(y, 5, 0.5, seed=7)


@pytest.mark.parametrize("how", FLIPS)
def test_drawing_piece_by_piece_changes_nothing(how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    y = np.arange(1000) % 7
    whole = make(how, y, 7, seed=4)
    monkeypatch.setattr(flips, "DRAWN_AT_ONCE", 7 * 13)
    assert make(how, y, 7, seed=4) == whole


@pytest.mark.parametrize("how", ["binomial", "pair"])
@pytest.mark.parametrize(
    ("q", "message"),
    [
        (1.5, "q is 1.5; it must lie between 0 and 1"),
        (-0.1, "it must lie between 0 and 1"),
        (float("nan"), "it must lie between 0 and 1"),
    ],
)
def test_a_q_that_is_no_probability_is_refused(how: str, q: float, message: str) -> None:
    with pytest.raises(UserError, match=message):
        flip(how, [0], 2, q)


# ---- more ways -------------------------------------------------------------------------------------------------------


def make(how: str, y: object, c: int, seed: int = 0) -> CandidateSets:
    """Sets made some way, whatever it needs."""
    needed = {"q": 0.3, "matrix": np.triu(binomial_matrix(max(c, 1), 0.3))}
    settings = {name: needed[name] for name in FLIPS[how].needs}
    probabilities = np.random.default_rng(0).random((len(y), c))  # type: ignore[arg-type]
    return flip(Flip(how, **settings), y, c, seed=seed, probabilities=probabilities)  # type: ignore[arg-type]


@pytest.mark.parametrize("how", FLIPS)
@pytest.mark.parametrize(
    ("y", "c", "seed", "message"),
    [
        ([0], 1, 0, "at least two classes"),
        ([0, 3], 3, 0, "Row 1: the true label is out of range (1 such rows)"),
        ([0, -1, -1], 3, 0, "Row 1: the true label is not known (2 such rows)"),
        ([0, 0.5], 3, 0, "Entry 1 of the true labels is 0.5"),
        ([[0], [1]], 3, 0, "these have 2 dimensions"),
        ([0], 2, -1, "The seed is -1"),
    ],
)
def test_bad_labels_are_refused_in_every_way(how: str, y: list, c: int, seed: int, message: str) -> None:
    with pytest.raises(UserError) as caught:
        make(how, y, c, seed)
    assert message in str(caught.value)


class TestUniform:
    def test_every_set_is_equally_likely(self) -> None:
        """Feng et al. 2020: each of the 2^(c−1) − 1 sets that hold the truth and not everything."""
        sets = flip_uniform(np.full(MANY, 1), 4, seed=2)
        drawn, counts = np.unique(sets.mask(), axis=0, return_counts=True)
        assert len(drawn) == 7 and drawn[:, 1].all() and not drawn.all(axis=1).any()
        for count in counts:
            assert abs(count - MANY / 7) < 5 * np.sqrt(MANY / 7 * 6 / 7)

    @pytest.mark.parametrize("size", [None, 1, 3, 5])
    def test_the_matrix_is_what_the_sets_have(self, size: int | None) -> None:
        y = np.arange(MANY) % 5
        result = flip_matrix(flip_uniform(y, 5, size, seed=1), y)
        expected = uniform_matrix(5, size)
        sigma = np.sqrt(expected * (1 - expected) / (MANY / 5))
        assert (np.abs(result - expected) <= 5 * sigma + 1e-12).all()


class TestMatrix:
    MATRIX = ((1.0, 0.2, 0.0), (0.5, 1.0, 0.9), (0.0, 1.0, 1.0))

    def test_labels_enter_as_the_matrix_says_and_independently(self) -> None:
        y = np.full(MANY, 1)
        mask = flip_with_matrix(y, 3, self.MATRIX, seed=6).mask()
        assert within_five_sigma(mask[:, 0], 0.5) and within_five_sigma(mask[:, 2], 0.9)
        assert within_five_sigma(mask[:, 0] & mask[:, 2], 0.45)

    def test_what_is_wrong_is_named_by_the_classes(self) -> None:
        with pytest.raises(UserError, match="Row 'cat', column 'dog' of the transition matrix is 2"):
            flip_with_matrix([0], 2, [[1, 2], [0, 1]], class_names=("cat", "dog"))


class TestInstance:
    PROBABILITIES = ((0.7, 0.2, 0.1, 0.0), (0.25, 0.25, 0.25, 0.25), (0.0, 0.0, 0.0, 1.0))
    Y = (0, 1, 3)

    def test_the_equation_of_the_paper(self) -> None:
        """Probabilities of the wrong labels over the highest of them; nothing where nothing is alike."""
        result = instance_probabilities(self.Y, 4, self.PROBABILITIES)
        np.testing.assert_allclose(result, [[1, 1, 0.5, 0], [1, 1, 1, 1], [0, 0, 0, 1]])

    def test_scaled_to_a_mean_rate(self) -> None:
        result = instance_probabilities(self.Y, 4, self.PROBABILITIES, q=0.2)
        np.testing.assert_allclose(result, [[1, 0.4, 0.2, 0], [0.2, 1, 0.2, 0.2], [0, 0, 0, 1]], rtol=1e-6)
        capped = instance_probabilities(self.Y, 4, self.PROBABILITIES, q=0.9)
        np.testing.assert_allclose(capped[0], [1, 1, 0.9, 0], rtol=1e-6)
        assert instance_probabilities(self.Y, 4, self.PROBABILITIES, q=0).tolist() == np.eye(4)[list(self.Y)].tolist()

    def test_sets_follow_the_probabilities_of_their_own_example(self) -> None:
        y = np.tile([0, 1], MANY // 2)
        p = np.tile([[0.4, 0.3, 0.2, 0.1], [0.1, 0.5, 0.1, 0.3]], (MANY // 2, 1))
        mask = flip_by_instance(y, 4, p, q=0.3, seed=1).mask()
        for row, chances in enumerate(instance_probabilities([0, 1], 4, p[:2], q=0.3)):
            for label in range(4):
                assert within_five_sigma(mask[row::2, label], float(chances[label]))


class TestByName:
    @pytest.mark.parametrize(
        "way",
        [
            Flip("binomial", 0.7),
            Flip("pair", 0.5),
            Flip("uniform"),
            Flip("uniform", size=2),
            Flip("matrix", matrix=((1.0, 0.5), (0.0, 1.0))),
            Flip("instance"),
            Flip("instance", 0.4),
        ],
        ids=lambda way: way.words,
    )
    def test_a_way_can_be_written_down_and_read_again(self, way: Flip) -> None:
        assert Flip(**json.loads(json.dumps(asdict(way)))) == way

    @pytest.mark.parametrize(
        ("settings", "message"),
        [
            ({"how": "binomial"}, "'binomial' need q, the probability"),
            ({"how": "matrix"}, "'matrix' need a matrix"),
            ({"how": "pair", "q": 0.5, "size": 2}, "'pair' take no size"),
            ({"how": "uniform", "q": 0.5}, "'uniform' take no q"),
            ({"how": "matrix", "matrix": [[1], [1, 2]]}, "must hold numbers, in rows of equal length"),
            ({"how": "matrix", "matrix": [[float("inf")]]}, "holds inf in row 1, column 1"),
        ],
    )
    def test_settings_that_make_no_sense_are_refused(self, settings: dict, message: str) -> None:
        with pytest.raises(UserError) as caught:
            Flip(**settings)
        assert message in str(caught.value)


def test_a_way_is_one_entry(monkeypatch: pytest.MonkeyPatch) -> None:
    """A new name is drawn by its own function, and one that is no function is an error: never another way's sets."""

    def flip_none(y: object, n_classes: int, seed: int, class_names: object) -> CandidateSets:
        return CandidateSets.from_lists([[label] for label in y], n_classes)  # type: ignore[attr-defined]

    monkeypatch.setattr(flips, "flip_none", flip_none, raising=False)
    monkeypatch.setitem(FLIPS, "none", Way("None: the truth alone", "flip_none", "nowhere"))
    assert flip("none", [1, 0], 2).sizes.tolist() == [1, 1]
    monkeypatch.setitem(FLIPS, "none", Way("None: the truth alone", "nowhere", "nowhere"))
    with pytest.raises(KeyError):
        flip("none", [1, 0], 2)


def test_the_shell_s_form_of_a_way_is_read_and_checked() -> None:
    assert (Flip.parse("uniform"), Flip.parse("uniform:3")) == (Flip("uniform"), Flip("uniform", size=3))
    assert Flip.parse("matrix:a:b.csv") == Flip("matrix", matrix="a:b.csv")
    for text, message in (("uniform:x", "'x' is not a whole number"), ("pair:3", "take no size"), ("par", "'par'")):
        with pytest.raises(UserError, match=message):
            Flip.parse(text, 0.5 if text.startswith("p") else None)

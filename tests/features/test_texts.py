from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer

from pll.errors import UserError
from pll.features.texts import TextFeatures
from tests.features.helpers import saved_and_loaded, table, texts


def sentences(about: str, count: int, seed: int) -> list[str]:
    """Random words about something."""
    rng = np.random.default_rng(seed)
    return [" ".join(rng.choice(about.split(), 4)) for _ in range(count)]


CATS = sentences("cat cats mat purr mouse fur paws milk the and on", 20, seed=0)
STARS = sentences("star stars planet night sky shine moon orbit the and on", 20, seed=1)
TRAIN = texts(*CATS, *STARS)


def test_is_tfidf_and_svd_as_scikit_learn_has_them() -> None:
    made = TextFeatures(components=5).fit(TRAIN)
    assert TRAIN.texts is not None
    counted = TfidfVectorizer(sublinear_tf=True, min_df=2).fit_transform(TRAIN.texts.tolist())
    expected = TruncatedSVD(5, random_state=0).fit_transform(counted)
    np.testing.assert_allclose(made.transform(TRAIN), expected, atol=1e-4)


@pytest.mark.parametrize("components", [1, 3, 300])
def test_the_state_gives_exactly_the_same_back(tmp_path: Path, components: int) -> None:
    made = TextFeatures(components).fit(TRAIN)
    loaded = saved_and_loaded(made, tmp_path)
    other = texts("cat", "mauve elephants", "", None, "planet shine")
    np.testing.assert_array_equal(loaded.transform(other), made.transform(other))
    assert loaded.feature_names == made.feature_names and len(made.feature_names) == made.transform(other).shape[1]


def test_new_words_are_zero_and_noted() -> None:
    made = TextFeatures(3).fit(TRAIN)
    other = texts("mauve elephants", "", None, "cat")
    assert (made.transform(other)[:3] == 0).all() and made.transform(other)[3].any()
    assert [note.split()[0] for note in made.notes(other)] == ["3"]
    assert made.notes(TRAIN) == ()


def test_scripts_without_spaces_are_cut_by_character_also_among_other_texts(tmp_path: Path) -> None:
    mixed = texts(*CATS, *STARS, "損害賠償の責任", "責任と保証、A4", "星空を見る", "月と星空")
    made = TextFeatures().fit(mixed)
    X = made.transform(mixed)[-4:]
    assert made.unit == "mixed" and not made.notes(mixed)
    near = X @ X.T
    assert near[0, 1] > 0.1 and near[2, 3] > 0.1 and abs(near[0, 2]) < 0.01
    np.testing.assert_array_equal(saved_and_loaded(made, tmp_path).transform(mixed)[-4:], X)


@pytest.mark.parametrize(
    ("some", "unit"),
    [
        (["the cat", "die Katze", "القط الصغير", "고양이 두 마리"], "word"),
        (["損害賠償の責任", "責任と保証"], "character"),
        (["the cat and the mouse", "แมวและหนู"], "mixed"),
    ],
)
def test_the_unit_is_chosen_by_script(some: list[str], unit: str) -> None:
    assert TextFeatures().fit(texts(*some, *some)).unit == unit


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: TextFeatures().fit(texts("", None)), "fewer than two different words"),
        (lambda: TextFeatures(unit="word").fit(texts("a", "one")), "fewer than two different words"),
        (lambda: TextFeatures().fit(table([[1]])), "data has no texts"),
        (lambda: TextFeatures().transform(TRAIN), "not fitted yet"),
        (lambda: TextFeatures(unit="sentence").fit(TRAIN), "not by 'sentence'"),
        (lambda: TextFeatures.from_argument("0"), "a whole number from 1 to 10,000"),
        (lambda: TextFeatures.from_argument("many"), "The number of text features is 'many'"),
    ],
)
def test_bad_input_is_refused(call, message: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(UserError) as caught:
        call()
    assert message in str(caught.value)

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from pll.dataset import PartialLabelDataset
from pll.errors import UserError
from pll.features.selection import JoinedFeatures, featurised, featuriser, fitted, suggested
from pll.images import Pictures
from tests.features.helpers import folder_of, saved_and_loaded, table, texts, words
from tests.features.test_images import picture

TEXTS = ("red cats and mice", "red dogs and mice", "blue cats and dogs", "blue dogs and mice")


def everything() -> PartialLabelDataset:
    """Numbers, words and texts."""
    return PartialLabelDataset(
        np.array([[1.0], [np.nan], [3.0], [4.0]]),
        feature_names=("width",),
        kind="table",
        categories={"colour": words("red", "red", "blue", None)},
        texts=words(*TEXTS),
    )


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("words", "no features called 'words'; use one of table, tfidf"),
        ("table:3", "take nothing behind a colon; leave out '3'"),
        ("table+table", "name one kind twice"),
        ("table+pixels", "The features 'pixels' stand alone; use backbone:resnet18"),
        ("table+", "no features called ''"),
        ("backbone:resnet9", "no network called 'resnet9'"),
    ],
)
def test_names_that_do_not_exist_are_refused(spec: str, message: str) -> None:
    with pytest.raises(UserError) as caught:
        featuriser(spec)
    assert message in str(caught.value)


class TestJoined:
    def test_stand_side_by_side(self, tmp_path: Path) -> None:
        data = everything()
        made = fitted("table+tfidf:2", data)
        X = made.transform(data)
        assert made.feature_names == ("width", "colour = blue", "colour = red", "colour is missing", "text 1", "text 2")
        np.testing.assert_array_equal(X[:, :4], featuriser("table").fit(data).transform(data))
        np.testing.assert_array_equal(X[:, 4:], featuriser("tfidf:2").fit(data).transform(data))
        loaded = saved_and_loaded(made, tmp_path)
        assert isinstance(loaded, JoinedFeatures)
        np.testing.assert_array_equal(loaded.transform(data), X)


class TestSuggested:
    def test_goes_by_what_there_is(self, tmp_path: Path) -> None:
        pictures = folder_of([picture(3, 3)], tmp_path)
        addresses = PartialLabelDataset(np.empty((1, 0)), pictures=Pictures(words("https://x.org/1.png")))
        assert suggested(everything()) == "table+tfidf"
        assert suggested(texts("a")) == "tfidf"
        assert suggested(table(np.empty((1, 0)), colour=words("red"))) == "table"
        assert suggested(pictures) == "pixels" and pictures.contents == ("pictures",)
        assert suggested(replace(pictures, categories={"photographer": words("Ann")})) == "pixels"
        assert suggested(replace(addresses, categories={"photographer": words("Ann")})) == "table"
        assert suggested(replace(pictures, texts=words("a caption"))) == "tfidf"
        assert suggested(table([[1.0]])) == "" == suggested(addresses)
        assert suggested(replace(pictures, X=np.zeros((1, 2)))) == "pixels"  # such as the size of the file
        assert suggested(replace(pictures, X=np.zeros((1, 40)))) == "table"
        assert suggested(PartialLabelDataset(np.zeros((1, 1, 2, 2)), kind="image")) == ""


class TestFeaturised:
    def test_everything_else_stays(self) -> None:
        data = everything()
        made = featurised(data, fitted("table", data))
        assert made.feature_names == ("width", "colour = blue", "colour = red", "colour is missing")
        assert made.texts is not None and made.row_ids.tolist() == data.row_ids.tolist()
        assert len(made.notes) == 1 and "texts" in made.notes[0]
        assert made.kind == "table" and not np.isnan(made.X).any()

    def test_only_the_training_part_is_learnt_from(self) -> None:
        data = everything()
        made = fitted("table", data.take([0, 1]))
        test = featurised(data.take([2, 3]), made)
        assert made.feature_names == ("width", "colour = red") and test.X.tolist() == [[3, 0], [4, 0]]
        assert any("training never saw" in note for note in test.notes)

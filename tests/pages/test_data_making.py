"""Step 2 of the data page: candidates made of true labels, or of labels that may be wrong."""

from __future__ import annotations

from typing import Any

import pytest

from pll.runs.config import DataConfig
from pll.synthesis.label_noise import Noisy
from pll.synthesis.names import FLIPS
from pll.ui.data import loader
from tests.page_helpers import bring_by, button, figures, with_details

IDENTITY = ",setosa,versicolor,virginica\nsetosa,1,0,0\nversicolor,0,1,0\nvirginica,0,0,1\n"
MATRIX = ",setosa,versicolor,virginica\nsetosa,1,0,0.5\nversicolor,0,1,0\nvirginica,0,0.25,1\n"
COUNTS = "setosa,versicolor,virginica\n50,0,0\n0,40,10\n0,5,45\n"


@pytest.fixture
def iris(open_page: Any) -> Any:
    page = with_details(bring_by(open_page("data"), "Choose a dataset"))
    return page.selectbox(key="dataset").set_value("iris").run()


def give(page: Any, key: str, content: str | bytes, name: str = "m.csv") -> Any:
    data = content.encode() if isinstance(content, str) else content
    return page.file_uploader(key=key).set_value((name, data, "application/octet-stream")).run()


def charts(page: Any) -> list[str]:
    """Keys of the charts on the page."""
    return [chart.proto.id.rsplit("-", 1)[-1] for chart in page.get("plotly_chart")]


def train_on(page: Any) -> DataConfig:
    button(page, "Settings").click().run()
    choice: DataConfig = page.session_state["choice"]
    return choice


def test_each_way_draws_its_matrix_and_says_what_comes_of_it(iris: Any) -> None:
    for how in FLIPS:
        if how != "matrix":
            page = iris.selectbox(key="flip-how").set_value(how).run()
            seen = figures(page)
            assert "transitions" in charts(page), how
            assert float(seen["Candidates each"]) >= 1 and seen["Ambiguity degree γ"].endswith(" %"), how


NO_MATRICES = (
    ("1,0\n0,1\n", "m.csv", "m.csv: row 1 has 2 cells; a matrix of 3 classes has 3."),
    ("1,0,0\n0,1,0\n", "m.csv", "m.csv is 2 × 3; with 3 classes it must be 3 × 3."),
    (MATRIX.replace("0.5", "1.5"), "m.csv", "Row 'setosa', column 'virginica' of the transition matrix is 1.5"),
    (MATRIX.replace("0.5", "lots"), "m.csv", "m.csv: row 1, column 3 holds 'lots', not a number."),
    (MATRIX.replace("virginica,0", "rose,0"), "m.csv", "m.csv names the class 'rose'"),
    (COUNTS, "m.csv", "it must be a probability"),
    ("PK nothing", "m.npz", "m.npz cannot be read as a matrix"),
    ("{", "m.json", "m.json cannot be read as a matrix"),
)


def test_a_matrix_that_is_none_is_explained_and_the_page_goes_on(iris: Any) -> None:
    page = iris.selectbox(key="flip-how").set_value("matrix").run()
    assert not page.exception and not page.error
    for content, name, message in NO_MATRICES:
        page = give(page, "matrix-file", content, name)
        assert not page.exception
        assert [message in error.value for error in page.error] == [True], [error.value for error in page.error]
    page = give(page, "matrix-file", IDENTITY)
    assert figures(page)["One candidate"] == "100.0 %" and not page.error


@pytest.mark.parametrize(("how", "joined"), [("topk", "2.0"), ("confusion", "1.6")])
def test_single_labels_are_doubted(iris: Any, how: str, joined: str) -> None:
    page = iris.radio(key="candidates-way-iris").set_value("Doubt the labels: some are wrong").run()
    page = page.selectbox(key="noisy-how").set_value(how).run()
    seen = figures(page)
    assert seen["Candidates each"].startswith(joined[0]) and "Ambiguity degree γ" not in seen, "the truth is unknown"
    assert "doubt" in charts(page)
    choice = train_on(page)
    assert choice.noisy == Noisy(how) and choice.flip is None
    made = loader.with_candidates(choice)
    assert made.y is None and made.extras["given_label"].tolist()[0] == "setosa"
    assert made.sets().contains(loader.dataset(choice.source).y).all(), "the given label stays"

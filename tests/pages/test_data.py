"""The data page."""

from __future__ import annotations

from typing import Any

import pytest

from pll.synthesis import FLIPS, Flip
from pll.ui import session


def _choose_catalogue(page: Any) -> Any:
    return page.segmented_control(key="way").set_value("Choose a dataset").run()


def test_the_empty_page_says_what_to_do(open_page: Any) -> None:
    page = open_page("data")
    assert not page.exception
    assert "choose a dataset" in page.info[0].value


def test_a_dataset_is_synthesised_checked_and_chosen(open_page: Any) -> None:
    page = _choose_catalogue(open_page("data"))
    assert not page.exception
    figures = {metric.label: metric.value for metric in page.metric}
    assert figures["Examples"] == "1,797"
    assert figures["Classes"] == "10"
    page.slider(key="flip_q").set_value(0.1).run()
    next(button for button in page.button if button.label == "Train on this").click().run()
    choice = page.session_state["choice"]
    assert choice.source.name == "digits"
    assert choice.flip == Flip("binomial", 0.1)
    assert session.dataset_with_candidates(choice).sets().sizes.min() == 2


def test_gamma_is_that_of_the_sets_shown(open_page: Any) -> None:
    page = _choose_catalogue(open_page("data"))
    page.selectbox(key="flip_how").set_value("pair").run()
    page.slider(key="flip_q").set_value(1.0).run()
    assert {metric.label: metric.value for metric in page.metric}["Ambiguity degree γ"] == "100.0 %"


def test_a_dataset_that_is_not_here_says_so(open_page: Any, monkeypatch: Any, tmp_path: Any) -> None:
    monkeypatch.setenv("PLL_DATA", str(tmp_path / "nothing"))
    monkeypatch.delenv("PLL_DATA_PATH", raising=False)
    page = _choose_catalogue(open_page("data"))
    page.selectbox(key="dataset").set_value("lost").run()
    assert not page.exception
    assert any("not on this machine yet" in info.value for info in page.info)


@pytest.mark.parametrize("q", [0.0, 1.0])
def test_the_ends_of_q_are_shown_and_not_refused(open_page: Any, q: float) -> None:
    page = _choose_catalogue(open_page("data"))
    page.slider(key="flip_q").set_value(q).run()
    assert not page.exception
    assert not page.error


def test_every_way_of_making_candidates_is_offered_and_works(open_page: Any) -> None:
    page = _choose_catalogue(open_page("data"))
    page.selectbox(key="dataset").set_value("iris").run()
    for how in FLIPS:
        page.selectbox(key="flip_how").set_value(how).run()
        assert not page.exception
        assert not page.error, how


def _bring(page: Any, name: str, text: str) -> Any:
    return page.file_uploader(key="uploader").set_value((name, text.encode(), "text/csv")).run()


def test_a_good_file_after_a_broken_one(open_page: Any) -> None:
    page = _bring(open_page("data"), "broken.csv", "id,candidates,a\n1,x|y,3\n2,x,4,5,6\n")
    assert "Row 3" in page.error[0].value
    page = _bring(page, "good.csv", "id,candidates,a\n1,x|y,3\n2,x,4\n3,y,6\n")
    assert not page.error
    assert {metric.label: metric.value for metric in page.metric}["Examples"] == "3"


def test_a_file_taken_away_is_gone(open_page: Any) -> None:
    page = _bring(open_page("data"), "good.csv", "id,candidates,a\n1,x|y,3\n2,x,4\n3,y,6\n")
    page = page.file_uploader(key="uploader").set_value(None).run()
    assert not page.exception
    assert "choose a dataset" in page.info[0].value


def test_a_file_without_labels_keeps_its_columns_in_sight(open_page: Any) -> None:
    page = _bring(open_page("data"), "bare.csv", "height,width\n1,2\n2,5\n3,1\n")
    assert not page.exception
    assert any(box.label == "Which column holds the labels?" for box in page.selectbox)
    assert [expander.label for expander in page.expander] == ["What each column is"]


def test_texts_are_brought_and_learnt_from(open_page: Any) -> None:
    rows = "".join(
        f"{words} {k},{names}\n" for k in range(9) for words, names in (("ball goal", "a|b"), ("pan salt", "b"))
    )
    page = _bring(open_page("data"), "words.csv", "colour,candidates\nred,a|b\nblue,b\nred,a\n")
    page = _bring(page, "texts.csv", "text,candidates\n" + rows)
    assert not page.exception
    assert not page.error, "what was chosen for another file is not kept for this one"
    (features,) = (box for box in page.selectbox if box.label == "What is learnt from")
    assert features.value == "tfidf"
    assert any(button.label == "Train on this" for button in page.button)

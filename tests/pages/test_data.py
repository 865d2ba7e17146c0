"""The data page."""

from __future__ import annotations

import hashlib
import io
import zipfile
from typing import Any

import numpy as np
import pytest

from pll.images import encode
from pll.ui import session
from tests.page_helpers import bring_by, button, figures, labels, said, understood, with_details


def _choose_catalogue(page: Any) -> Any:
    return bring_by(page, "Choose a dataset")


def test_gamma_is_that_of_the_sets_shown(open_page: Any) -> None:
    page = _choose_catalogue(open_page("data"))
    page.selectbox(key="flip-how").set_value("pair").run()
    page.slider(key="flip-q").set_value(1.0).run()
    assert figures(with_details(page))["Ambiguity degree γ"] == "100.0 %"


def _bring(page: Any, name: str, text: str) -> Any:
    return page.file_uploader(key="uploader").set_value((name, text.encode(), "text/csv")).run()


def test_a_good_file_after_a_broken_one(open_page: Any) -> None:
    page = _bring(open_page("data"), "broken.csv", "id,candidates,a\n1,x|y,3\n2,x,4,5,6\n")
    assert "Row 3" in page.error[0].value
    page = _bring(page, "good.csv", "id,candidates,a\n1,x|y,3\n2,x,4\n3,y,6\n")
    assert understood(page).startswith("3 examples, 2 classes (x, y)")


def test_the_address_opens_a_file_again_after_a_reload(open_page: Any) -> None:
    text = "id,candidates,a\n1,x|y,3\n2,x,4\n3,y,6\n"
    _bring(open_page("data"), "good.csv", text)
    name = hashlib.sha256(text.encode()).hexdigest()[:16]
    assert understood(open_page("data", open=name)).startswith("3 examples, 2 classes (x, y)")
    _bring(open_page("data"), "again.csv", text)  # the same content under another name
    assert said(open_page("data", open=name)).count("again.csv") and "good.csv" not in said(
        open_page("data", open=name)
    )
    for other in ("0" * 16, "../" + name, ""):
        page = open_page("data", open=other)
        assert not page.exception and not page.error and not page.subheader


def test_the_only_column_of_words_is_named_where_there_are_no_labels(open_page: Any) -> None:
    rows = "".join(f"{k / 7},{k % 5},{'owl' if k % 3 else 'cat'}\n" for k in range(30))
    page = _bring(open_page("data"), "one.csv", f"x,z,anna\n{rows}")
    assert "Perhaps they are in anna" in page.warning[0].value
    page = next(box for box in page.selectbox if box.label == "anna").set_value("annotator").run()
    assert "1 person answered 30 times" in understood(page) and not page.warning


def test_a_file_without_labels_is_told_which_columns_hold_some(open_page: Any) -> None:
    page = _bring(open_page("data"), "bare.csv", "height,width\n1,2\n2,5\n3,1\n1,2\n")
    assert not page.error and "no labels to start from" in page.warning[0].value and "Get labels" not in labels(page)
    for name in ("height", "width"):
        page = next(box for box in page.selectbox if box.label == name).set_value("annotator").run()
    assert "2 people answered 8 times" in understood(page) and "Get labels" in labels(page)


def test_get_labels_starts_a_run_with_the_automatic_settings(open_page: Any) -> None:
    page = _bring(open_page("data"), "good.csv", "id,candidates,a\n1,x|y,3\n2,x,4\n3,y,6\n4,x|y,5\n")
    page = button(page, "Get labels").click().run()
    assert not page.exception
    (run,) = session.registry().all()
    assert run.id in page.query_params["run"]
    assert run.config.params["recipe"] == "auto" and run.config.holdout is None
    assert run.config.source.name == "good.csv"


def test_what_cannot_be_learnt_from_says_what_is_missing(open_page: Any) -> None:
    for content, words in (
        ("id,candidates\n1,x|y\n2,x\n3,y\n", "nothing to learn from"),
        ("candidates,part\nx|y,bolt M4\nx,nut M5\ny,pin M6\nx,bolt M7\ny,nut M8\n", "carried along: part"),
        ("id,candidates,a\n1,x,1.5\n2,x,2.5\n3,x,3.5\n", "two classes"),
        ("id,annotator_1\n1,x\n2,y\n3,x\n", "Add another person's answers"),
        ("image,candidates\na.png,x|y\nb.png,x\nc.png,y\n", "ZIP archive"),
        ("text,true_label\n" + "some words,x\n" * 3, "two classes"),
    ):
        page = _bring(open_page("data"), "bare.csv", content)
        assert not page.exception and words in page.warning[0].value
        assert button(page, "Get labels").disabled and not page.radio


def test_votes_on_pictures_that_are_elsewhere_are_weighed(open_page: Any) -> None:
    rows = [f"photos/{k}.jpg,{'xyz'[k % 3]},{'xyz'[(k + k // 25) % 3]},{'xyz'[k // 2 % 3]}" for k in range(30)]
    page = _bring(open_page("data"), "trees.csv", "\n".join(["image,Mia,Tom,Lea", *rows]))
    assert understood(page).startswith("30 examples")
    assert any("photos/0.jpg" in one.proto.body for one in page.get("html"))
    page = button(page, "Get labels").click().run()
    (run,) = session.registry().all()
    assert not page.exception and run.config.method == "dawid-skene"


@pytest.mark.parametrize("head", ["count_cat,count_dog", "p_cat,p_dog"])
def test_counts_and_shares_alone_are_labels_as_they_are(open_page: Any, head: str) -> None:
    scale = 4 if "p_" in head else 1
    rows = [f"q{k},{(1 + k % 3) / scale},{(3 - k % 3) / scale}" for k in range(20)]
    page = _bring(open_page("data"), "counts.csv", "\n".join([f"id,{head}", *rows]))
    assert not page.warning
    page = button(page, "Get labels").click().run()
    (run,) = session.registry().all()
    run.join(60)
    assert run.config.method == "majority" and run.snapshot().state == "finished"


def test_votes_are_weighed_and_nothing_contradicts_it(open_page: Any) -> None:
    rows = [f"q{k},P{at},{'yes' if (k * at + k) % 3 else 'no'}" for k in range(20) for at in range(9)]
    page = _bring(open_page("data"), "votes.csv", "\n".join(["item,worker,answer", *rows]))
    said_first = "20 examples, 2 classes (no, yes), 9 people answered 180 times; two of them agree on"
    assert understood(page).startswith(said_first)
    assert not page.warning
    page = with_details(page)
    assert "candidate" not in said(page) and "Fleiss' kappa" in figures(page)
    page = button(page, "Get labels").click().run()
    (run,) = session.registry().all()
    assert run.config.method == "dawid-skene"


def test_pictures_alone_are_told_how_to_say_what_they_show(open_page: Any) -> None:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for k in range(3):
            archive.writestr(f"{k}.png", encode(np.full((4, 4), 10 * k, dtype=np.uint8)))
    file = ("p.zip", content.getvalue(), "application/zip")
    page = open_page("data").file_uploader(key="uploader").set_value([file]).run()
    (warning,) = page.warning
    assert "in folders called after their labels" in warning.value and "columns" not in warning.value


def test_files_under_way_are_open_again_after_another_page_was_loaded_anew(open_page: Any) -> None:
    page = _bring(open_page("data"), "good.csv", "id,candidates,a\n1,x|y,3\n2,x,4\n3,y,6\n")
    page = button(page, "Settings").click().run()
    name = page.switch_page("../../pages/train.py").run().query_params["setup"]
    again = open_page("train", setup=name).switch_page("../../pages/data.py").run()
    assert understood(again).startswith("3 examples, 2 classes (x, y)")


def test_pictures_that_are_missing_are_named_and_left_out_on_demand(open_page: Any) -> None:
    content, rows = io.BytesIO(), "".join(f"{k}.png,{'xyz'[k % 3]},{'xyz'[k % 2]}\n" for k in range(20))
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr("table.csv", f"image,annotator:Mia,annotator:Tom\n{rows}")
        for k in range(17):
            archive.writestr(f"{k}.png", encode(np.full((4, 4), 10 * k, dtype=np.uint8)))
    file = ("p.zip", content.getvalue(), "application/zip")
    page = open_page("data").file_uploader(key="uploader").set_value([file]).run()
    (error,) = page.error
    assert "3 of 20 pictures" in error.value and all(f"{k}.png" in error.value for k in (17, 18, 19))
    page = button(page, "Go on without them").click().run()
    assert understood(page).startswith("17 pictures")

"""Files of votes on the Data page: joined, answers mapped by hand and undone, kept with the run; votes alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pll.synthesis import Flip
from pll.ui.data import loader
from pll.ui.data.candidates import SYNTHESISE
from tests.formats.test_together import WIDE, pictures
from tests.page_helpers import button, correct, labels, understood, with_details

NAMES = ("late", "lost", "praise")
N = 60


def batch(model: str, right: float, refusal: str, seed: int, y: Any) -> tuple[str, bytes, str]:
    """A batch result as it is written, with failed requests and refusals."""
    rng = np.random.default_rng(seed)
    said = np.where(rng.random(N) < right, y, rng.integers(0, 3, N))
    rows = []
    for k in range(N):
        text = refusal if k % 20 == seed else f"Label: {NAMES[said[k]].title()}."
        body = {"model": model, "choices": [{"index": 0, "message": {"role": "assistant", "content": text}}]}
        failed = {"custom_id": f"r{k}", "response": None, "error": {"code": "server_error"}}
        fine = {"custom_id": f"r{k}", "response": {"status_code": 200, "body": body}, "error": None}
        rows.append(failed if (k, seed) == (5, 1) else fine)
    return f"{model}.jsonl", "".join(json.dumps(row) + "\n" for row in rows).encode(), "application/jsonl"


def files() -> list[tuple[str, bytes, str]]:
    y = np.random.default_rng(0).integers(0, 3, N)
    return [batch("gpt", 0.9, "*unsure*", 1, y), batch("llama", 0.8, "no comment", 2, y)]


def voters(page: Any) -> Any:
    return next(frame.value for frame in page.dataframe if "confuses" in frame.value)


def said(page: Any) -> str:
    return " ".join(caption.value for caption in page.caption)


def test_votes_alone_are_trained_by_voter_models(open_page: Any) -> None:
    page = open_page("data").file_uploader(key="uploader").set_value(files()).run()
    assert understood(page).startswith("60 examples")
    next(button for button in page.button if button.label == "Settings").click().run()
    methods = next(box for box in page.selectbox if box.label == "Method")
    assert methods.value == "dawid-skene" and len(methods.options) == 2
    assert page.session_state["choice"].source.rule == "voters"


def test_files_of_other_examples_are_refused_in_words(open_page: Any) -> None:
    other = ("other.csv", b"id,text\nx,a\ny,b\n", "text/csv")
    page = open_page("data").file_uploader(key="uploader").set_value([*files(), other]).run()
    assert not page.exception and "joined on the id" in page.error[0].value


@pytest.mark.parametrize("first", [0, 1])
def test_pictures_and_the_table_of_their_labels_are_read_together(open_page: Any, tmp_path: Path, first: int) -> None:
    both = [
        ("leaves.zip", pictures(tmp_path / "leaves.zip").read_bytes(), "application/zip"),
        ("votes.csv", WIDE.encode(), "text/csv"),
    ]
    page = open_page("data").file_uploader(key="uploader").set_value([both[first], both[1 - first]]).run()
    assert understood(page).startswith("12 pictures, 2 classes (a, b), 3 people answered 36 times")


def classes(page: Any) -> Any:
    """The choice of the classes that sentences name."""
    (chips,) = [one for one in page.multiselect if one.label == "Classes that the answers name"]
    return chips


def test_sentences_of_a_model_name_classes_that_can_be_edited(open_page: Any) -> None:
    said_of = ["I think this is about sports.", "This is about tech, I would say.", "It is about sports or tech.",
               "This is about politics.", "I am not sure what it is."]  # fmt: skip
    lines = "".join(
        json.dumps({"prompt": f"some words of text number {k} to read", "answer": said_of[k % 5]}) + "\n"
        for k in range(60)
    )
    page = open_page("data").file_uploader(key="uploader").set_value([("a.jsonl", lines.encode(), "text/plain")]).run()
    assert understood(page) == "60 texts, 3 classes (politics, sports, tech), 1 model answered 48 times."
    assert any(one.label == "12 answers name no class" for one in page.expander)
    page = classes(page).set_value(["politics", "sports"]).run()
    assert understood(page) == "60 texts, 2 classes (politics, sports), 1 model answered 36 times."
    page = classes(page).set_value(["politics"]).run()
    assert not page.exception and not page.error and "Get labels" not in labels(page)
    page = classes(page).set_value(["politics", "sports", "tech"]).run()
    button(page, "Settings").click().run()
    data = loader.dataset(page.session_state["choice"].source)
    assert [data.sets().names(row) for row in range(3)] == [["sports"], ["tech"], ["sports", "tech"]]


def test_sentences_of_annotators_in_a_table_are_mapped_by_hand_too(open_page: Any) -> None:
    said_of = ["I think this is about sports.", "This is about tech, I would say.", "It is about sports or tech.",
               "This is about politics.", "I am not sure what it is."]  # fmt: skip
    rows = "".join(f'{k},"{said_of[k % 5]}","{said_of[k % 4]}"\n' for k in range(60))
    file = ("own.csv", f"id,annotator_1,annotator_2\n{rows}".encode(), "text/csv")
    page = open_page("data").file_uploader(key="uploader").set_value([file]).run()
    assert understood(page).startswith("60 examples, 3 classes (politics, sports, tech), 2 people answered 108 times")
    assert any(one.label == "12 answers name no class" for one in page.expander)
    page = correct(page, "Answers", ["I am not sure what it is."], "Mean", "tech")
    assert understood(page).startswith("60 examples, 3 classes (politics, sports, tech), 2 people answered 120 times")
    page = correct(page, "Answers", ["I am not sure what it is."], "Mean", "(no answer)")
    assert understood(page).startswith("60 examples, 3 classes (politics, sports, tech), 2 people answered 108 times")
    page = next(one for one in page.button if one.label == "Undo all" and "answers-" in one.key).click().run()
    page = classes(page).set_value(["politics", "sports", "tech", "sure"]).run()
    assert understood(page).startswith("60 examples, 4 classes (politics, sports, tech, sure)") and not page.exception
    assert not any("no class" in one.label for one in page.expander)


def test_whether_one_persons_labels_are_right_is_asked(open_page: Any) -> None:
    rng = np.random.default_rng(0)
    rows = "".join(f"{x:.3f},{NAMES[k]}\n" for x, k in zip(rng.normal(size=N), rng.integers(0, 3, N), strict=True))
    file = ("own.csv", f"size,annotator:Ann\n{rows}".encode(), "text/csv")
    page = open_page("data").file_uploader(key="uploader").set_value([file]).run()
    (asked,) = [radio for radio in page.radio if radio.label == "Are these labels right?"]
    button(page, "Settings").click().run()
    assert not page.exception and asked.value.startswith("Doubt")
    assert page.session_state["choice"].noisy is not None


@pytest.mark.parametrize("column", ["annotator:Ann", "true_label"])
def test_labels_that_are_right_are_made_ambiguous_to_see_what_is_found(open_page: Any, column: str) -> None:
    rng = np.random.default_rng(0)
    rows = "".join(f"{x:.3f},{NAMES[k]}\n" for x, k in zip(rng.normal(size=N), rng.integers(0, 3, N), strict=True))
    file = ("own.csv", f"size,{column}\n{rows}".encode(), "text/csv")
    page = open_page("data").file_uploader(key="uploader").set_value([file]).run()
    (asked,) = [radio for radio in page.radio if radio.label == "Are these labels right?"]
    page = asked.set_value(SYNTHESISE).run()
    page = page.selectbox(key="flip-how").set_value("pair").run().slider(key="flip-q").set_value(0.5).run()
    button(page, "Settings").click().run()
    assert not page.exception
    choice = page.session_state["choice"]
    data = loader.prepared(choice)
    assert choice.flip == Flip("pair", q=0.5) and data is not None and data.y is not None
    assert 1 < data.sets().sizes.mean() < 2


def test_details_say_where_two_disagree_whether_a_model_may_stand_in_and_what_all_are_worth(open_page: Any) -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, N)
    voters = {"amy": 0.8, "ben": 0.7, "cleo": 0.8, "gpt-4o": 0.9}
    said = {name: np.where(rng.random(N) < right, y, rng.integers(0, 3, N)) for name, right in voters.items()}
    rows = "".join(
        f"{k},{','.join(NAMES[said[name][k]] for name in voters)},{NAMES[y[k]]}\n" for k in range(N)
    )  # fmt: skip
    columns = ",".join(f"annotator:{name}" for name in voters)
    file = ("own.csv", f"id,{columns},true_label\n{rows}".encode(), "text/csv")
    page = with_details(open_page("data").file_uploader(key="uploader").set_value([file]).run())
    words = " ".join(text.value for text in page.text)
    assert not page.exception and "4 answers an example are worth" in words
    stand_in = next(frame.value for frame in page.dataframe if "won by" in frame.value)
    assert stand_in["voter"].tolist() == ["amy", "ben", "cleo"] and "gpt-4o agrees with the others" in words
    pair = next(box for box in page.selectbox if box.label == "Two voters")
    page = pair.set_value(pair.value).run()
    confusion = next(frame.value for frame in page.dataframe if list(frame.value)[1:] == list(NAMES))
    assert confusion.iloc[:, 1:].to_numpy().sum() == N

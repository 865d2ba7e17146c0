"""Files of votes on the Data page: joined, answers mapped by hand and undone, kept with the run; votes alone."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from tests.pages.test_shared_data import figures

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


def table() -> tuple[str, bytes, str]:
    texts = "".join(f"r{k},some words about parcel {k % 7}\n" for k in range(N))
    return "reviews.csv", f"id,text\n{texts}".encode(), "text/csv"


def voters(page: Any) -> Any:
    return next(frame.value for frame in page.dataframe if "decisive" in frame.value)


def said(page: Any) -> str:
    return " ".join(caption.value for caption in page.caption)


def test_votes_are_joined_with_data_and_answers_are_mapped_by_hand(open_page: Any) -> None:
    page = open_page("data").file_uploader(key="uploader").set_value([*files(), table()]).run()
    assert not page.exception and not page.error
    assert "113 votes of 2 voters, 1 request failed" in said(page) and "reviews.csv: 60 examples, 3 classes" in said(
        page
    )
    assert voters(page)["annotator"].tolist() == ["gpt", "llama"]
    unclear = next(frame.value for frame in page.dataframe if "means" in frame.value)
    assert dict(zip(unclear["answer"], unclear["times"], strict=True)) == {"*unsure*": 3, "no comment": 3}
    undo = next(one.key for one in page.button if one.label == "Undo all" and "answers-" in one.key)
    key = undo.removesuffix("-undo")
    page.session_state[key] = {"*unsure*": "Lost", "no comment": ""}  # as the table keeps it
    page.run()
    assert "116 votes of 2 voters" in said(page)
    next(button for button in page.button if button.label == "Train on this").click().run()
    source = page.session_state["choice"].source
    assert source.answers == {"*unsure*": "Lost", "no comment": ""} and source.name == "reviews.csv"
    assert [one.name for one in source.votes] == ["gpt.jsonl", "llama.jsonl"] and source.rule == "voters"
    page = page.switch_page("../../pages/data.py").run()
    assert "116 votes" in said(page)
    next(one for one in page.button if one.label == "Undo all" and "answers-" in (one.key or "")).click().run()
    assert "113 votes" in said(page)


def test_votes_alone_are_trained_by_voter_models(open_page: Any) -> None:
    page = open_page("data").file_uploader(key="uploader").set_value(files()).run()
    assert figures(page)["Examples"] == "60" and figures(page)["Features"] == "0"
    next(button for button in page.button if button.label == "Train on this").click().run()
    methods = next(box for box in page.selectbox if box.label == "Method")
    assert methods.value == "dawid-skene" and len(methods.options) == 2
    assert page.session_state["choice"].source.rule == "union"


def test_files_of_other_examples_are_refused_in_words(open_page: Any) -> None:
    other = ("other.csv", b"id,text\nx,a\ny,b\n", "text/csv")
    page = open_page("data").file_uploader(key="uploader").set_value([*files(), other]).run()
    assert not page.exception and "joined on the id" in page.error[0].value

"""Cells that say more than labels: answers of models in JSON, counts and shares of labels, lists of shares."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from pll import formats
from pll.dataset import PartialLabelDataset
from pll.formats.votes import read_votes, with_votes
from tests.formats.strategies import named_sets

SAID = ["cat", "dog", "fox", "cat", "dog", "fox"]
OTHER = ["cat", "dog", "cat", "cat", "dog", "fox"]


def quoted(cell: str) -> str:
    return '"' + cell.replace('"', '""') + '"'


def read(folder: Path, **columns: list[str]) -> PartialLabelDataset:
    """A CSV of some columns, one text column before them."""
    columns = {"text": [f"what number {k} says here" for k in range(len(SAID))]} | columns
    lines = [",".join(columns), *(",".join(map(quoted, row)) for row in zip(*columns.values(), strict=True))]
    (folder / "t.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return formats.read(folder / "t.csv")


def answers(labels: list[str], start: str = "", end: str = "") -> list[str]:
    return [
        start + json.dumps({"label": label, "confidence": 0.5 + k / 20, "why": f"reason {k}"}) + end
        for k, label in enumerate(labels)
    ]


def test_json_answers_are_votes_with_their_confidence(tmp_path: Path) -> None:
    data = read(tmp_path, gpt=answers(SAID), claude=answers(OTHER, "```json\n", "\n```"))
    assert data.annotations is not None and data.annotations.annotator_names == ("gpt", "claude")
    assert data.class_names == ("cat", "dog", "fox") and not data.categories
    assert named_sets(data)[2] == {"cat", "fox"}
    assert data.annotations.scores is not None
    assert sorted(data.annotations.scores.tolist()) == sorted([0.5 + k / 20 for k in range(6)] * 2)


SENTENCES = {
    "gpt": ["I think it is a cat.", "This must be a dog.", "That is a fox, I think.", "It looks like a cat or a dog."],
    "claude": ["It is a cat, I would say.", "I cannot tell you that.", "It looks like a fox.", "This must be a dog."],
}


def test_sentences_of_annotators_read_as_those_in_a_file_of_votes(tmp_path: Path) -> None:
    table = pd.DataFrame({"id": [str(k) for k in range(12)], **{who: some * 3 for who, some in SENTENCES.items()}})
    table.to_csv(tmp_path / "t.csv", index=False)
    lines = table.melt("id", var_name="annotator", value_name="label").rename(columns={"id": "task"})
    lines.to_csv(tmp_path / "lines.csv", index=False)
    roles = dict.fromkeys(SENTENCES, "annotator")
    for answers in ({}, {"I cannot tell you that": "dog"}):
        data = formats.read(tmp_path / "t.csv", columns=roles, answers=answers)
        ways = [
            data,
            formats.read(tmp_path / "lines.csv", answers=answers),
            with_votes(None, read_votes([tmp_path / "t.csv"]), answers=answers),
        ]
        assert data.annotations is not None and data.class_names == ("cat", "dog", "fox")
        for other in ways:
            assert other.annotations is not None and other.annotations.class_names == data.class_names
            assert (other.annotations.votes != data.annotations.votes).nnz == 0
            assert other.annotations.unmapped == ((("I cannot tell you that.", 3),) if not answers else ())
        assert named_sets(data)[1] == {"dog"} and named_sets(data)[3] == {"cat", "dog"}
        assert any("3 answers are no class and left out" in note for note in data.notes) == (not answers)


def test_columns_of_sentences_are_no_votes_unless_told(tmp_path: Path) -> None:
    data = read(tmp_path, gpt=[*SENTENCES["gpt"], "A cat again, or so.", "No idea what it is."], true_label=SAID)
    assert data.annotations is None and data.class_names == ("cat", "dog", "fox")


def test_a_typo_beside_listed_classes_is_left_out_and_counted(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("annotator_1,annotator_2\ncat,Cat\ndog,dgo\ndog,dog\n")
    data = formats.read(tmp_path / "t.csv", class_names=("cat", "dog"))
    assert data.annotations is not None and data.annotations.unmapped == (("dgo", 1),)
    assert data.annotations.votes.toarray().tolist() == [[2, 0], [0, 1], [0, 2]]


def test_answers_in_json_lines(tmp_path: Path) -> None:
    records = [
        {"gpt": {"label": a, "confidence": 0.9}, "claude": {"label": b}} for a, b in zip(SAID, OTHER, strict=True)
    ]
    (tmp_path / "t.jsonl").write_text("\n".join(map(json.dumps, records)) + "\n")
    data = formats.read(tmp_path / "t.jsonl")
    assert data.annotations is not None and data.annotations.annotator_names == ("gpt", "claude")
    assert named_sets(data)[2] == {"cat", "fox"}


@pytest.mark.parametrize(
    "cells",
    [
        ['["cat","cat","dog"]', '["fox","fox","fox"]', '["dog","fox","cat"]'],
        ["cat|cat|dog", "fox|fox|fox", "dog|fox|cat"],
        ['{"cat": 2, "dog": 1}', '{"fox": 3}', '{"dog": 1, "fox": 1, "cat": 1}'],
    ],
)
def test_repeated_labels_are_counted(cells: list[str], tmp_path: Path) -> None:
    data = read(tmp_path, candidates=cells * 2)
    assert named_sets(data)[:3] == [{"cat", "dog"}, {"fox"}, {"cat", "dog", "fox"}]
    assert data.prior is not None
    np.testing.assert_allclose(data.prior[:6], [2 / 3, 1 / 3, 1, 1 / 3, 1 / 3, 1 / 3], rtol=1e-6)


def test_shares_of_labels_by_class_are_candidates(tmp_path: Path) -> None:
    cells = ['{"cat": 0.7, "dog": 0.295, "fox": 0.005}', '{"dog": 1.0}', '{"fox": 0.6, "cat": 0.4}'] * 2
    data = read(tmp_path, answers=cells)
    assert named_sets(data)[:3] == [{"cat", "dog"}, {"dog"}, {"cat", "fox"}] and data.prior is not None
    assert data.prior[0] == pytest.approx(0.7 / 0.995)


def test_answers_of_several_labels_are_pointed_out_where_there_are_many_and_sets_are_not(tmp_path: Path) -> None:
    both = json.dumps(["cat", "dog"])
    rows = {"annotator_1": SAID * 4, "annotator_2": OTHER * 4, "text": [f"number {k} says this" for k in range(24)]}

    def notes(**columns: list[str]) -> list[str]:
        return [note for note in read(tmp_path, **columns).notes if "several labels" in note]

    assert len(notes(**rows | {"annotator_3": [both, both, *SAID[2:]] * 4})) == 1
    assert not notes(**rows | {"annotator_3": [both, *SAID[1:], *SAID * 3]})
    assert not notes(text=rows["text"], candidates=[both, both, *SAID[2:]] * 4)


def test_sets_without_repetitions_have_no_prior_and_a_slip_is_none(tmp_path: Path) -> None:
    assert read(tmp_path, candidates=["cat|dog", "dog", "cat|fox"] * 2).prior is None
    rows = "".join("a|b\n" for _ in range(99)) + "a|a|b\n"
    (tmp_path / "slip.csv").write_text(f"candidates\n{rows}")
    assert formats.read(tmp_path / "slip.csv").prior is None


@pytest.mark.parametrize(
    ("name", "cells"),
    [
        ("label_dist", ["[0.7, 0.2, 0.1]", "[0.1, 0.9, 0]", "[0.2, 0.3, 0.5]"] * 2),
        ("probs", ["[0.7 0.2 0.1]", "[0.1 0.9 0. ]", "[0.2 0.3 0.5]"] * 2),
        ("votes", ["[3, 0, 0]", "[0, 2, 1]", "[0, 3, 0]"] * 2),
        ("gpt_logits", ["[3.5, -1, 0]", "[0.25, 2, 1]", "[0, 3, 1]"] * 2),
    ],
)
def test_lists_of_label_shares_are_never_features(name: str, cells: list[str], tmp_path: Path) -> None:
    data = read(tmp_path, candidates=["cat|dog", "dog", "cat|fox"] * 2, **{name: cells})
    assert list(data.extras) == [name] and not data.X.shape[1] and not data.categories


@pytest.mark.parametrize("truth", [["1.0", "", "2.0", "1.0", "", "2.0"], ["1", "2", "2", "1", "2", "2"]])
@pytest.mark.parametrize("bob", [["1", "2", "2", "1", "1", "2"], ["1.0", "", "2.0", "1.0", "", "2.0"]])
def test_whole_numbers_are_one_class_in_whichever_column_a_reader_made_fractions_of_them(
    tmp_path: Path, truth: list[str], bob: list[str]
) -> None:
    data = read(tmp_path, annotator_1=["1", "2", "2", "1", "1", "2"], annotator_2=bob, true_label=truth)
    assert data.class_names == ("1", "2")
    data = read(tmp_path, candidates=["1|2", "1", "2", "1", "1", "2"], true_label=truth)
    assert data.class_names == ("1", "2")


@pytest.mark.parametrize(("word", "is_class"), [("none", True), ("None", False), ("n/a", False)])
def test_none_is_a_class_where_people_wrote_it_and_no_answer_of_a_program(
    tmp_path: Path, word: str, is_class: bool
) -> None:
    words = ["hate", "offensive", "hate", "offensive", word]
    rows = [[f"x{k}", *(words[(k + who * (k % 4 == 0)) % 5] for who in range(3))] for k in range(50)]
    path = tmp_path / "x.csv"
    pd.DataFrame(rows, columns=["id", "ann1", "ann2", "ann3"]).to_csv(path, index=False)
    assert (word in formats.read(path).class_names) is is_class


def test_a_count_of_those_who_chose_none_is_that_of_a_class(tmp_path: Path) -> None:
    table = pd.DataFrame({"id": [f"x{k}" for k in range(40)], "joy": [k % 4 for k in range(40)]})
    table["anger"] = [k % 3 for k in range(40)]
    table["none"] = 6 - table["joy"] - table["anger"]
    table.to_csv(tmp_path / "x.csv", index=False)
    assert formats.read(tmp_path / "x.csv").class_names == ("joy", "anger", "none")

"""The first answer to a question is right, and what stands beside it is not learnt from."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from pll import formats
from pll.formats.odd import OddReading
from tests.formats.test_about_the_labelling import WORDS, read_first, said, table

CODES = ("GG1", "GG2", "GG3", "GG4")


@pytest.mark.parametrize(
    ("columns", "label"),
    [
        (["sentiment", "hatespeech", "hate_speech_score"], "hatespeech"),
        (["sentiment", "emotion", "emotion rasch"], "emotion"),
        (["sentiment", "emotion", "note"], "sentiment"),
    ],
)
def test_the_answer_that_another_column_is_called_after_comes_first(
    tmp_path: Path, columns: list[str], label: str
) -> None:
    rolls, rows = random.Random(21), list[list[str]]()
    for k in range(240):
        one, other = WORDS[k // 4 % 4], WORDS[k // 12 % 4]
        rows.append([f"i{k // 4}", f"p{k % 7}", said(rolls, one), said(rolls, other), f"{rolls.gauss(0, 1):.3f}"])
    data, asked = read_first(table(tmp_path, ["comment_id", "annotator_id", *columns], rows))
    assert asked is not None and asked.answers[0][1][label] == "vote" and data.annotations is not None


@pytest.mark.parametrize(("sets", "truth"), [("species_present", "expert_species"), ("mögliche Arten", "Bestimmung")])
def test_lines_with_sets_that_hold_the_true_one_are_examples(tmp_path: Path, sets: str, truth: str) -> None:
    rolls, rows = random.Random(22), list[list[str]]()
    for recording in range(40):
        some = rolls.sample(WORDS, rolls.randint(1, 3))
        for k in range(rolls.randint(2, 9)):
            rows.append(
                [f"r{recording}.wav", str(k + 1), f"{rolls.gauss(9, 3):.2f}", "|".join(some), rolls.choice(some)]
            )
    data, asked = read_first(table(tmp_path, ["recording", "part", "width", sets, truth], rows))
    assert asked is not None and len(data) == len(rows) and data.annotations is None
    assert data.y is not None and set(data.class_names) == {*WORDS}


@pytest.mark.parametrize("question", ["airline_sentiment", "choose_one"])
def test_a_label_of_many_beside_a_few_true_ones_and_why_it_was_given(tmp_path: Path, question: str) -> None:
    rolls, rows = random.Random(23), list[list[str]]()
    for k in range(200):
        label, reason = rolls.choice(WORDS), rolls.choice(("late", "lost", "rude"))
        gold = label if k % 20 == 0 else ""
        rows.append(
            [f"{rolls.gauss(9, 3):.2f}", label, f"{rolls.uniform(0.3, 1):.3f}", gold, reason * (label == "fox")]
        )
    header = ["width", question, f"{question}_confidence", f"{question}_gold", "why"]
    data, _ = read_first(table(tmp_path, header, rows))
    assert data.annotations is None and data.candidates is not None and set(data.class_names) == {*WORDS}
    assert data.y is not None and int((data.y >= 0).sum()) == 10
    assert data.feature_names == ("width",) and not data.categories


@pytest.mark.parametrize(("name", "is_asked"), [("defer", True), ("GG5", False)])
def test_a_word_beside_codes_with_numbers_may_be_no_answer(tmp_path: Path, name: str, is_asked: bool) -> None:
    rolls, rows = random.Random(24), list[list[str]]()
    for k in range(160):
        truth = name if k % 16 == 0 and not is_asked else rolls.choice(CODES)
        votes = [truth if rolls.random() < 0.8 else rolls.choice(CODES) for _ in range(3)]
        votes[2] = name if k % 16 == 8 and is_asked else votes[2]
        rows.append([f"e{k}", *votes])
    path = table(tmp_path, ["id", "ann", "bob", "cem"], rows)
    if is_asked:
        with pytest.raises(OddReading) as caught:
            formats.read(path)
        assert [one.edits for one in caught.value.findings] == [{name: None}]
    else:
        assert name in formats.read(path).class_names


@pytest.mark.parametrize(("name", "is_asked"), [("em apuração", True), ("wait?", True), ("otter", False)])
def test_a_true_label_that_no_voter_says_may_be_that_it_is_open(tmp_path: Path, name: str, is_asked: bool) -> None:
    rolls, rows = random.Random(26), list[list[str]]()
    for k in range(120):
        truth = rolls.choice(WORDS)
        rows.append([f"e{k}", *(said(rolls, truth) for _ in range(3)), name if k % 20 == 0 else truth])
    path = table(tmp_path, ["id", "annotator_1", "annotator_2", "annotator_3", "true_label"], rows)
    if is_asked:
        with pytest.raises(OddReading) as caught:
            formats.read(path)
        assert [one.edits for one in caught.value.findings] == [{name: None}]
    assert name in formats.read(path, keep=(name,)).class_names


def said_of(rolls: random.Random, truth: str) -> str:
    """What somebody says of what is so, mostly right."""
    return truth if rolls.random() < 0.85 else {"yes": "no", "no": "yes"}[truth]


@pytest.mark.parametrize(("field", "beside"), [("verdict", "raw"), ("label", "explanation"), ("choice", "seconds")])
def test_what_each_judge_said_may_stand_in_an_object_with_more(tmp_path: Path, field: str, beside: str) -> None:
    rolls, lines = random.Random(27), list[str]()
    for k in range(80):
        truth = rolls.choice(("A", "B", "tie"))
        judged = {
            who: {field: truth if rolls.random() < 0.7 else rolls.choice(("A", "B", "tie")), beside: f"see {k} {who}"}
            for who in ("gpt-4o", "claude", "llama")
        }
        lines.append(json.dumps({"question_id": k, "prompt": f"Explain the tide, number {k}.", "judgments": judged}))
    path = tmp_path / "judged.jsonl"
    path.write_text("\n".join(lines), encoding="utf-8")
    data, _ = read_first(path)
    assert data.annotations is not None and data.annotations.annotator_names == ("gpt-4o", "claude", "llama")
    assert set(data.class_names) == {"A", "B", "tie"} and data.annotations.n_answers == 240


def test_measurements_of_several_devices_in_objects_are_no_answers(tmp_path: Path) -> None:
    rolls, lines = random.Random(28), list[str]()
    for k in range(80):
        measured = {where: {"width": rolls.gauss(5, 1), "state": "ok"} for where in ("left", "right")}
        lines.append(json.dumps({"id": k, "sensors": measured, "label": rolls.choice(WORDS)}))
    path = tmp_path / "sensors.jsonl"
    path.write_text("\n".join(lines), encoding="utf-8")
    data, _ = read_first(path)
    assert data.annotations is None and set(data.class_names) == {*WORDS}

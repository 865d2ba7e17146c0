"""The field benchmark over small files: one that is read, one that asks, one that is refused, one misread."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.field import VERDICTS, Understood, main, understood, verdict


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    texts = [f"what is written in row {k} is long enough" for k in range(8)]
    voted = [f"{k},{text},{'ab'[k % 2]},{'ab'[k % 3 > 0]}" for k, text in enumerate(texts)]
    (tmp_path / "voted.csv").write_text("id,text,annotator_1,annotator_2\n" + "\n".join(voted))
    lines = [f"{k // 2},{'pq'[k % 2]},{'ab'[k % 3 > 0]}" for k in range(16)]
    (tmp_path / "lines.csv").write_text("ticket_id,annotator,label\n" + "\n".join(lines))
    (tmp_path / "cut.json").write_text('[{"id": 1, "label": "a"')
    return tmp_path


def test_what_is_understood_of_a_file(folder: Path) -> None:
    one = understood(folder / "voted.csv")
    assert one.facts["examples"] == 8
    assert one.facts["classes"] == ["a", "b"]
    assert (one.facts["voters"], one.facts["answers"], one.facts["truth"]) == (2, 16, False)
    assert not one.error
    assert understood(folder / "cut.json").error


def test_a_question_is_answered_as_proposed(folder: Path) -> None:
    one = understood(folder / "lines.csv")
    assert one.questions
    assert (one.facts["examples"], one.facts["voters"]) == (8, 2)


def test_the_verdict_of_every_case() -> None:
    facts = {"examples": 2, "classes": ["a", "b"], "voters": 0, "sets": {"x": ["a"]}, "learnt": ["hard.a"]}
    good, bad = {"examples": 2, "sets": {"x": ["a"]}}, {"classes": ["a"], "never": ["hard"], "learn": ["easy"]}
    assert verdict(Understood(facts), good) == ("right", [])
    assert verdict(Understood(facts), None)[0] == "unknown"
    assert verdict(Understood(facts, questions=["?"]), good)[0] == "asked, right"
    assert verdict(Understood(facts, questions=["?"]), bad)[0] == "asked, wrong"
    assert verdict(Understood(facts, odd=["!"]), bad)[0] == "odd"
    judged, wrong = verdict(Understood(facts), bad)
    assert judged == "silently wrong"
    assert len(wrong) == 3
    assert verdict(Understood(error="cut off"), good)[0] == "refused"
    assert verdict(Understood(error="It is cut off."), good | {"refused": "cut"})[0] == "refused, rightly"


def test_it_prints_a_line_a_file_and_counts_what_nobody_was_told(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    expected = tmp_path / "expected" / "of.json"
    expected.parent.mkdir()
    expected.write_text(json.dumps({"voted.csv": {"examples": 9}, "lines.csv": {"voters": 2}}))
    failed = main([str(folder), "--against", str(expected), "--only", ".csv,.json"])
    printed = capsys.readouterr().out
    assert failed == 1
    assert "examples: 8, expected 9" in printed
    assert "3 files: 1 asked, right, 1 silently wrong, 1 unknown" in printed
    assert len(set(VERDICTS)) == len(VERDICTS)

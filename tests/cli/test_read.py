"""`candid read`: what is understood of a file, kept and used again."""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pll.cli.main import main
from pll.cli.read import summary
from pll.dataset import PartialLabelDataset
from pll.formats.reading import Reading

VOTED = "id,text,Ann,Bob\n" + "".join(
    f"e{k},something that is written in row {k},{'xy'[k % 2]},{'xy'[k % 3 == 0]}\n" for k in range(12)
)


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, dict[str, Any], str]:
    """The exit status, the line of JSON, and all that was printed."""
    status = main(list(arguments))
    printed = capsys.readouterr()
    last = printed.out.strip().splitlines()[-1:] or ["{}"]
    return status, json.loads(last[0]) if last[0].startswith("{") else {}, printed.out + printed.err


def test_columns_their_roles_and_what_came_of_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "t.csv").write_text(VOTED.replace("Ann", "annotator_Ann").replace("Bob", "annotator_Bob"))
    status, result, text = said(capsys, "read", str(tmp_path / "t.csv"))
    assert status == 0
    assert (result["form"], result["examples"], result["answers"]) == ("example", 12, 24)
    assert result["classes"] == ["x", "y"]
    assert "annotator_Bob" in text
    assert "e0" in text


@pytest.mark.parametrize(
    ("fields", "learnt"),
    [
        ({"X": np.ones((2, 16))}, "16 numbers"),
        ({"X": np.ones((2, 0)), "texts": ["a", "b"], "categories": {"where": ["x", "y"]}}, "the text, where"),
        (
            {"X": np.ones((2, 10)), "feature_names": [f"n{k}" for k in range(10)]},
            "n0, n1, n2, n3, n4, n5, n6, n7 and 2 more",
        ),
        ({"X": np.ones((2, 1, 8, 8)), "kind": "image"}, "the pictures"),
        ({"X": np.ones((2, 0))}, "nothing"),
    ],
)
def test_the_summary_names_all_that_is_learnt_from_and_tells_long_classes_apart(
    fields: dict[str, Any], learnt: str
) -> None:
    names = tuple(f"Disease of the lower airways, stage {letter}" for letter in "ABCDEFGHIJ")
    text = summary(PartialLabelDataset(y=np.array([0, 9]), class_names=names, **fields))
    assert text.endswith(f"learnt from: {learnt}.")
    assert "10 classes (A, B, C, D, E, F, G, H and 2 more)" in text


def test_a_reading_is_kept_and_used_for_another_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given, other, kept = tmp_path / "t.csv", tmp_path / "other.csv", tmp_path / "reading.json"
    given.write_text(VOTED)
    other.write_text(VOTED.replace("\ne", "\nf"))
    roles = ("--column", "Ann=true_label", "--column", "Bob=annotator", "--keep-answer", "NA")
    named = said(capsys, "read", str(given), *roles)[1]["classes"]
    merged = ("--rename", f"{named[0]}=first")
    status, first, _ = said(capsys, "read", str(given), *roles, *merged, "--save", str(kept))
    assert status == 0
    reading = Reading.from_json(kept.read_text())
    assert reading.classes == {named[0]: "first"}
    kept.write_text(replace(reading, classes={named[0]: "first", "of another file": None}).to_json())
    assert reading.roles == {"id": "id", "text": "text", "Ann": "true_label", "Bob": "annotator"}
    assert reading.keep == ("NA",)
    status, again, _ = said(capsys, "read", str(other), "--reading", str(kept))
    assert status == 0
    assert again["voters"] == first["voters"] == ["Bob"] and again["classes"] == first["classes"] != named
    out = tmp_path / "out.jsonl"
    assert main(["convert", str(other), "--reading", str(kept), "--to", "jsonl", "--out", str(out)]) == 0
    assert json.loads(out.read_text().splitlines()[0])["true_label"]


@pytest.mark.usefixtures("no_programs")
def test_a_run_keeps_how_its_file_was_read_and_exports_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    given, other, run = tmp_path / "t.csv", tmp_path / "other.csv", tmp_path / "run"
    numbered = [
        f"{line},{at}.5,{10**9 + 64 * at}" if at else f"{line},width,num" for at, line in enumerate(VOTED.splitlines())
    ]
    given.write_text("\n".join(numbered))
    other.write_text("\n".join(numbered).replace("\ne", "\nf"))
    fit = ("fit", str(given), "--epochs", "1", "--threads", "1", "--features", "table", "--out", str(run))
    assert main([*fit, "--column", "Ann=keep", "--column", "Bob=annotator", "--column", "num=feature"]) == 0
    reading = Reading.from_json((run / "reading.json").read_text())
    assert (reading.roles["Ann"], reading.roles["Bob"], reading.file) == ("keep", "annotator", "t.csv")
    assert main(["export", str(run), "--out", str(tmp_path / "out")]) == 0
    kept = tmp_path / "out" / "reading.json"
    assert Reading.from_json(kept.read_text()) == reading
    status, again, _ = said(capsys, "read", str(other), "--reading", str(kept))
    assert (status, again["voters"]) == (0, ["Bob"])
    assert main(["check", str(run)]) == 0

    new = tmp_path / "new.csv"  # what people ask about has no labels
    new.write_text("id,num,width\n" + "".join(f"n{k},{10**9 + 64 * k},{k}.25\n" for k in range(12)))
    monkeypatch.chdir(kept.parent)
    (code,) = re.findall(r"^```py\n(.*?)^```$", Path("README.md").read_text(), flags=re.DOTALL | re.MULTILINE)
    made: dict[str, Any] = {}
    exec(code.replace("NEW_DATA", str(new)), made)
    assert made["features"].tolist() == [[k + 0.25, 10**9 + 64 * k] for k in range(12)]
    assert main(["predict", ".", str(new), "--reading", "reading.json", "--out", str(tmp_path / "p.csv")]) == 0
    assert len((tmp_path / "p.csv").read_text().splitlines()) == 13


def test_what_is_asked_is_printed_with_the_options_that_answer(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [f"{k // 2},{'pq'[k % 2]},{'xy'[k % 3 == 0]}" for k in range(16)]
    (tmp_path / "t.csv").write_text("\n".join(["ticket_id,annotator,label", *rows]))
    status, result, text = said(capsys, "read", str(tmp_path / "t.csv"))
    if status == 2:  # a reader that is certain here need not ask
        assert result["asks"]
        first = next(line for line in text.splitlines() if line.startswith("  --column"))
        options = shlex.split(first.partition(" (")[0])
        status, result, _ = said(capsys, "read", str(tmp_path / "t.csv"), *options)
    assert status == 0
    assert (result["form"], result["examples"], len(result["voters"])) == ("answer", 8, 2)


def test_a_reading_of_other_columns_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "t.csv").write_text(VOTED)
    (tmp_path / "reading.json").write_text(Reading(roles={"Cem": "annotator"}).to_json())
    status, _, text = said(capsys, "read", str(tmp_path / "t.csv"), "--reading", str(tmp_path / "reading.json"))
    assert status == 2
    assert "Cem" in text
    (tmp_path / "reading.json").write_text("[1")
    status, _, text = said(capsys, "read", str(tmp_path / "t.csv"), "--reading", str(tmp_path / "reading.json"))
    assert status == 2
    assert "no reading of a file" in text
    assert "Traceback" not in text


def test_the_rows_on_which_two_differ_are_written_and_read_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given, out = tmp_path / "t.csv", tmp_path / "rows.csv"
    given.write_text(VOTED)
    both = ("read", str(given), "--column", "Ann=annotator", "--column", "Bob=annotator", "--out", str(out))
    status, _, text = said(capsys, *both, "--disagree", "Ann,Bob")
    differ = [k for k in range(12) if k % 2 != (k % 3 == 0)]
    assert status == 0 and f"Ann and Bob differ on {len(differ)} of 12" in text
    lines = out.read_text().splitlines()
    assert [line.split(",")[0] for line in lines[1:]] == [f"e{k}" for k in differ]
    status, result, _ = said(capsys, "read", str(out))
    assert status == 0 and result["voters"] == ["Ann", "Bob"] and result["examples"] == len(differ)
    for names, words in (("Ann", "1 voters"), ("Ann,Cem", "'Cem', who is no voter")):
        status, _, text = said(capsys, *both, "--disagree", names)
        assert status == 2 and words in text


def test_a_file_without_labels_asks_which_columns_hold_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "t.csv"
    rows = (f"w{k % 3}.{k},{'rs'[k % 2]},{'pq'[k // 2 % 2]},{k}.5" for k in range(24))
    path.write_text("\n".join(["code,colour,finalverdict,width", *rows]))
    for command in (["read", str(path)], ["fit", str(path), "--out", str(tmp_path / "run")]):
        status, _, text = said(capsys, *command)
        assert status == 2
        assert "--column" in text
        assert "colour" in text
    assert said(capsys, "read", str(path), "--column", "colour=annotator")[0] == 0


def test_what_a_column_is_cannot_be_said_of_a_file_without_columns(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    np.savez(tmp_path / "t.npz", X=np.ones((4, 2)), candidates=np.ones((4, 2), dtype=bool))
    assert main(["read", str(tmp_path / "t.npz"), "--column", "x=keep"]) == 2
    assert "--column is for tables; t.npz has no columns with names." in capsys.readouterr().err

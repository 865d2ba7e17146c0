"""JSON lines: exact round trips, and files as people write them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from pll import formats
from pll.dataset import PartialLabelDataset
from pll.formats import FORMATS, Results

from .strategies import answers, check_held, rich_datasets


@given(data=rich_datasets())
def test_writing_then_reading_gives_everything_back(
    tmp_path_factory: pytest.TempPathFactory, data: PartialLabelDataset
) -> None:
    path: Path = tmp_path_factory.mktemp("round") / "data.jsonl"
    formats.write(data, path)
    check_held(formats.read(path), data, FORMATS["jsonl"].cannot_hold(data))


LISTED = [[("anna", "cat"), ("bob", "dog")], [("anna", "cat")], []]


@pytest.mark.parametrize(
    ("field", "votes"),
    [
        ("annotations", [[{"annotator": who, "label": label} for who, label in row] for row in LISTED]),
        ("raw", [[{"rater": who, "answer": [label], "score": 0.5} for who, label in row] for row in LISTED]),
        ("votes", [dict(row) for row in LISTED]),
    ],
)
def test_votes_in_one_field_are_votes_and_stay_as_they_are(tmp_path: Path, field: str, votes: list[Any]) -> None:
    source, back = tmp_path / "in.jsonl", tmp_path / "back.jsonl"
    records = [{"id": f"r{k}", "x": k, field: some} for k, some in enumerate(votes)]
    source.write_text("\n".join(map(json.dumps, records)))
    data = formats.read(source)
    assert answers(data) == [(0, "anna", "cat"), (0, "bob", "dog"), (1, "anna", "cat")]
    assert data.feature_names == ("x",) and not data.extras
    formats.give_back(source, back, Results(["r0"], {"identified_label": ["cat"], "confidence": ["1"]}))
    given = [json.loads(line) for line in back.read_text().splitlines()]
    assert given == [{**records[0], "identified_label": "cat", "confidence": 1.0}, *records[1:]]


@pytest.mark.parametrize(
    "value",
    [
        {"cat": 2, "dog": 1},
        {"label": "cat", "confidence": 0.5},
        [{"start": 1, "label": "x"}],
        [{"user": "anna", "text": "I agree"}],
        {"user": "anna", "id": 3},
    ],
)
def test_other_objects_name_no_voters(tmp_path: Path, value: Any) -> None:
    (tmp_path / "in.jsonl").write_text("\n".join(json.dumps({"id": f"r{k}", "votes": value}) for k in range(4)))
    names = [column.name for column in formats.columns(tmp_path / "in.jsonl")]
    assert names == ["id", "votes"]

"""Lists of objects, an object an answer, under names that no signature knows."""

from __future__ import annotations

import csv
import json
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from pll import formats
from pll.formats.base import ReadOptions
from pll.formats.listed_objects import fields_in, reading_of
from pll.formats.reading import question

ANSWERS = [{"ann": "cat", "bob": "dog"}, {"bob": "dog", "cleo": "dog"}, {"ann": "fox", "cleo": "cat"}] * 4
SHAPES = {
    "flat": lambda who, what: {"id": f"{who}{what}", "creator": who, "className": what, "at": "2024-05-06T10:00"},
    "nested": lambda who, what: {
        "createdBy": {"email": f"{who}@x", "as": 1},
        "data": {"category": {"label": what}},
    },
    "text": lambda who, what: {"workerId": who, "content": json.dumps({"answer": {"label": what}, "comment": ""})},
    "two ids": lambda who, what: {"author": {"email": f"{who}@x", "id": f"user {who}"}, "verdict": what},
}


def rows(shape: str) -> list[dict[str, Any]]:
    some = [[SHAPES[shape](*pair) for pair in one.items()] for one in ANSWERS]
    return [{"name": f"item {k}", "items": one} for k, one in enumerate(some)]


def said(path: Path) -> list[set[tuple[str, str]]]:
    votes = formats.read(path).annotations
    assert votes is not None
    found: list[set[tuple[str, str]]] = [set() for _ in ANSWERS]
    for row, who, label in zip(votes.rows, votes.annotators, votes.labels, strict=True):
        found[row].add((votes.annotator_names[who].removesuffix("@x"), votes.class_names[label]))
    return found


def write(folder: Path, kind: str, records: Sequence[dict[str, Any]]) -> Path:
    path = folder / f"some.{kind}"
    if kind == "json":
        path.write_text(json.dumps(records))
    elif kind == "zip":
        with zipfile.ZipFile(path, "w") as archive:
            for record in records:
                archive.writestr(f"{record['name']}.json", json.dumps([record]))
    else:
        with path.open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerows([["name", "items"], *([one["name"], json.dumps(one["items"])] for one in records)])
    return path


@pytest.mark.parametrize("kind", ["json", "csv", "zip"])
@pytest.mark.parametrize("shape", list(SHAPES))
def test_an_object_is_an_answer_whatever_its_fields_are_called(tmp_path: Path, shape: str, kind: str) -> None:
    assert said(write(tmp_path, kind, rows(shape))) == [set(one.items()) for one in ANSWERS]


def test_two_fields_of_labels_are_asked_about_and_a_role_answers(tmp_path: Path) -> None:
    records = rows("flat")
    for k, record in enumerate(records):
        for j, one in enumerate(record["items"]):
            one["category"] = "ab"[(k + j) % 2]
    path = write(tmp_path, "json", records)
    asked = question(formats.columns(path))
    assert asked is not None
    assert len(asked.answers) == 2
    votes = formats.read(path, options=ReadOptions(columns=dict(asked.answers[0][1]))).annotations
    assert votes is not None
    assert set(votes.class_names) == {"cat", "dog", "fox"}


def test_answers_with_states_are_left_alone_and_it_is_said(tmp_path: Path) -> None:
    records = rows("flat")
    for record in records:
        record["items"] = [one | {"isLatest": k > 0} for k, one in enumerate([record["items"][0], *record["items"]])]
    data = formats.read(write(tmp_path, "json", records))
    assert data.annotations is None
    assert any("isLatest" in str(note) for note in data.notes)


def test_boxes_of_one_person_are_no_answers() -> None:
    box = {"label": "cat", "creator": "ann"}
    assert reading_of([fields_in([box, box | {"label": "dog"}]) or []] * 6) is None

"""Files as doccano, Prodigy, Argilla, Hugging Face and PLCIFAR10 have them, and labels on their way back into each."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pll import formats
from pll.dataset import PartialLabelDataset
from pll.formats import FORMATS, ReadOptions, Results
from pll.formats.limitations import cannot_hold
from pll.formats.tools.records import RecordFormat
from pll.images import encode

from .strategies import answers, named_sets, named_truth


def lines(folder: Path, *records: dict[str, Any]) -> Path:
    path = folder / "data.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in records), encoding="utf-8")
    return path


def given_back(path: Path, results: Results, out: str = "out.jsonl") -> list[dict[str, Any]]:
    target = path.with_name(out)
    formats.give_back(path, target, results)
    text = target.read_text(encoding="utf-8")
    return json.loads(text) if text.startswith("[") else [json.loads(line) for line in text.splitlines()]


def results(**labels: str) -> Results:
    return Results(list(labels), {"identified_label": list(labels.values()), "confidence": ["0.5"] * len(labels)}, "m")


class TestDoccano:
    def test_labels_are_candidates(self, tmp_path: Path) -> None:
        path = lines(
            tmp_path,
            {"id": 1, "text": "good", "label": ["pos", "neutral"], "Comments": ["hm"]},
            {"id": 2, "text": "bad", "label": []},
            {"id": 3, "text": "so so", "label": ["neutral"]},
        )
        data = formats.read(path)
        assert named_sets(data) == [{"pos", "neutral"}, {"pos", "neutral"}, {"neutral"}]
        assert data.texts is not None and data.texts.tolist() == ["good", "bad", "so so"] and data.annotations is None
        assert data.row_ids.tolist() == ["1", "2", "3"] and data.extras["Comments"].tolist()[0] == ["hm"]
        assert given_back(path, results(**{"1": "pos", "3": "neutral"})) == [
            {
                "id": 1,
                "text": "good",
                "label": ["pos"],
                "Comments": ["hm"],
                "confidence": 0.5,
                "candidates": ["neutral", "pos"],
            },
            {"id": 2, "text": "bad", "label": [], "candidates": ["neutral", "pos"]},
            {"id": 3, "text": "so so", "label": ["neutral"], "confidence": 0.5, "candidates": ["neutral"]},
        ]  # fmt: skip
        assert named_sets(formats.read(tmp_path / "out.jsonl")) == named_sets(
            data
        )  # the choice is not taken for the set

    def test_several_people(self, tmp_path: Path) -> None:
        path = lines(
            tmp_path,
            {"id": 1, "filename": "cat.png", "label": ["cat"], "username": "ann"},
            {"id": 1, "filename": "cat.png", "label": ["dog"], "username": "bob"},
        )
        data = formats.read(path)
        assert answers(data) == [(0, "ann", "cat"), (0, "bob", "dog")] and named_sets(data) == [{"cat", "dog"}]
        assert data.pictures is not None and data.pictures.names.tolist() == ["cat.png"]
        assert "1 lines of further annotators" in FORMATS["doccano"].cannot_give_back(path, results(), ReadOptions())[0]
        assert given_back(path, results(**{"1": "cat"})) == [
            {"id": 1, "filename": "cat.png", "label": ["cat"], "confidence": 0.5, "candidates": ["cat", "dog"]}
        ]

    def test_lines_without_ids_by_people_are_answers_about_their_text(self, tmp_path: Path) -> None:
        said = [("good", "pos", "ann"), ("bad", "neg", "ann"), ("good", "neg", "bob")]
        path = lines(tmp_path, *({"text": text, "label": [one], "username": who} for text, one, who in said))
        data = formats.read(path)
        assert answers(data) == [(0, "ann", "pos"), (0, "bob", "neg"), (1, "ann", "neg")] and len(data) == 2
        assert [line["label"] for line in given_back(path, results(**{"0": "pos", "1": "neg"}))] == [["pos"], ["neg"]]


class TestProdigy:
    OPTIONS: ClassVar = [{"id": "cat", "text": "A cat"}, {"id": "dog", "text": "A dog"}, {"id": 3, "text": "Three"}]

    def test_what_was_accepted_by_whom(self, tmp_path: Path) -> None:
        task = {"text": "t", "_input_hash": 17, "_task_hash": 5, "options": self.OPTIONS, "meta": {"page": 3}}
        other = {"text": "u", "_input_hash": -4, "options": self.OPTIONS}
        path = lines(
            tmp_path,
            task | {"accept": ["cat"], "answer": "accept", "_annotator_id": "set-ann", "_session_id": "s1"},
            task | {"accept": ["dog", 3], "answer": "accept", "_annotator_id": "set-bob"},
            other | {"accept": [], "answer": "ignore", "_annotator_id": "set-ann"},
        )
        data = formats.read(path)
        assert answers(data) == [(0, "set-ann", "cat"), (0, "set-bob", "3"), (0, "set-bob", "dog")]
        assert named_sets(data) == [{"cat", "dog", "3"}] * 2 and data.row_ids.tolist() == ["17", "-4"]
        assert given_back(path, results(**{"17": "dog"})) == [
            task | {"accept": ["dog"], "meta": {"page": 3, "score": 0.5}, "candidates": ["3", "cat", "dog"]},
            other | {"accept": [], "candidates": ["3", "cat", "dog"]},
        ]

    def test_labels_that_were_rejected_are_ruled_out(self, tmp_path: Path) -> None:
        data = formats.read(
            lines(
                tmp_path,
                {"text": "t", "_input_hash": 1, "label": "A", "answer": "accept"},
                {"text": "u", "_input_hash": 2, "label": "A", "answer": "reject"},
                {"text": "u", "_input_hash": 2, "label": "B", "answer": "reject"},
                {"text": "v", "_input_hash": 3, "label": "C", "answer": "reject"},
                {"text": "v", "_input_hash": 3, "label": "A", "answer": "accept"},
            )
        )
        assert named_sets(data) == [{"A"}, {"C"}, {"A"}]

    def test_a_question_about_one_label_comes_back_as_a_choice_of_all(self, tmp_path: Path) -> None:
        about = {"text": "t", "_input_hash": 1, "_view_id": "classification", "answer": "reject"}
        other = {"text": "u", "_input_hash": 2, "_task_hash": 7, "label": "C", "answer": "accept"}
        path = lines(tmp_path, *(about | {"label": one, "_task_hash": k} for k, one in enumerate("AB")), other)
        for task in given_back(path, results(**{"1": "C", "2": "C"})):
            assert task["_view_id"] == "choice" and task["accept"] == ["C"]
            assert [one["id"] for one in task["options"]] == ["A", "B", "C"]
            assert task.keys().isdisjoint({"label", "answer", "_task_hash"})


class TestArgilla:
    RECORD: ClassVar[dict[str, Any]] = {
        "id": "r-1",
        "fields": {"text": "good"},
        "metadata": {"source": "web", "n": 3},
        "suggestions": {"label": {"value": "pos", "score": 0.9, "agent": "old"}, "stars": {"value": 3}},
        "responses": {
            "label": [
                {"value": "pos", "user_id": "u1"},
                {"value": "neg", "user_id": "u2", "status": "submitted"},
                {"value": "neutral", "user_id": "u3", "status": "discarded"},
            ],
            "stars": [{"value": [{"start": 0}], "user_id": "u1"}],
        },
        "vectors": {},
        "status": "completed",
        "_server_id": "7b",
    }

    def test_responses_become_sets_and_suggestions_come_back(self, tmp_path: Path) -> None:
        path = tmp_path / "data.json"
        path.write_text(json.dumps([self.RECORD, {"id": "r-2", "fields": {"text": "bad"}}]))
        data = formats.read(path)
        assert named_sets(data) == [{"pos", "neg"}] * 2 and data.row_ids.tolist() == ["r-1", "r-2"]
        assert answers(data) == [(0, "u1", "pos"), (0, "u2", "neg")]
        assert data.extras["source"].tolist() == ["web", None] and data.extras["n"].tolist() == [3, None]
        new = {"value": "neg", "score": 0.5, "agent": "m"}
        stars = self.RECORD["suggestions"]["stars"]
        assert given_back(path, results(**{"r-1": "neg", "r-2": "neg"}), "out.json") == [
            self.RECORD | {"suggestions": {"label": new, "stars": stars}},
            {"id": "r-2", "fields": {"text": "bad"}, "suggestions": {"label": new}},
        ]
        made = results(**{"r-1": "neg", "r-2": "neg"})
        by_people = replace(made, columns={**made.columns, "source": ["human", "model"], "reviewer": ["Ada, Ben", ""]})
        first, second = (record["suggestions"]["label"] for record in given_back(path, by_people, "people.json"))
        assert (first["type"], first["agent"]) == ("human", "m, decided by Ada, Ben")
        assert second == new

    @pytest.mark.parametrize("field", ["responses", "suggestions"])
    def test_a_question_of_several_labels_gets_lists(self, tmp_path: Path, field: str) -> None:
        said = {"value": ["pos", "neg"], "user_id": "u1"}
        record = {"id": "r-1", "fields": {"text": "good"}, field: {"q": said if field == "suggestions" else [said]}}
        path = tmp_path / "data.json"
        path.write_text(json.dumps([record, {"id": "r-2", "fields": {"text": "bad"}, "responses": {}}]))
        back = given_back(path, results(**{"r-1": "neg", "r-2": "pos"}), "out.json")
        assert [one["suggestions"]["q"]["value"] for one in back] == [["neg"], ["pos"]]


class TestHuggingFace:
    def written(self, folder: Path, kind: str = "Sequence") -> Path:
        label = {"names": ["neg", "neutral", "pos"], "_type": "ClassLabel"}
        candidates: Any = {"feature": label, "_type": kind} if kind else [label]
        features = {"text": {"dtype": "string", "_type": "Value"}, "candidates": candidates, "label": label}
        table = pa.table({"text": ["a b", "c d"], "candidates": [[2, 0], [1, -1]], "label": pa.array([0, -1])})
        about = {b"huggingface": json.dumps({"info": {"features": features}})}
        pq.write_table(table.replace_schema_metadata(about), folder / "train.parquet")
        return folder / "train.parquet"

    @pytest.mark.parametrize("kind", ["Sequence", "List", "LargeList", ""])
    def test_class_labels(self, tmp_path: Path, kind: str) -> None:
        path = self.written(tmp_path, kind)
        assert formats.detect(path).name == "huggingface"
        data = formats.read(path)
        assert data.class_names == ("neg", "neutral", "pos")
        assert named_sets(data) == [{"pos", "neg"}, {"neutral"}] and named_truth(data) == ["neg", None]

    def test_results_are_columns_beside(self, tmp_path: Path) -> None:
        formats.give_back(self.written(tmp_path), tmp_path / "out.parquet", results(**{"0": "pos"}))
        table, before = pq.read_table(tmp_path / "out.parquet"), pq.read_table(tmp_path / "train.parquet")
        assert table.select(before.schema.names).equals(before)
        assert table.schema.metadata == before.schema.metadata
        assert table["label (Candid)"].to_pylist() == ["pos", None] and table["confidence"].to_pylist() == [0.5, None]
        assert named_sets(formats.read(tmp_path / "out.parquet")) == [{"pos", "neg"}, {"neutral"}]

    def test_pictures_inside(self, tmp_path: Path) -> None:
        png = encode(np.full((2, 3), 9, dtype=np.uint8))
        table = pa.table({"image": [{"bytes": png, "path": "a.png"}], "candidates": [["x", "y"]]})
        pq.write_table(table, tmp_path / "t.parquet")
        data = formats.read(tmp_path / "t.parquet")
        picture = data.picture(0)
        assert picture is not None and picture.tolist() == [[9] * 3] * 2 and named_sets(data) == [{"x", "y"}]
        formats.write(data, tmp_path / "t.zip")
        assert formats.read(tmp_path / "t.zip").picture(0) is not None


class TestParquetOfOthers:
    def test_types_of_every_kind(self, tmp_path: Path) -> None:
        table = pa.table(
            {
                "id": pa.array([10, 11]),
                "width": pa.array([1, None], pa.int8()),
                "tall": pa.array([True, False]),
                "colour": pa.array(["red", "blue"]).dictionary_encode(),
                "when": pa.array([0, 1], pa.timestamp("s")),
                "annotator_1": pa.array([1.0, None]),
                "annotator_2": pa.array([0.0, 2.0]),
            }
        )
        pq.write_table(table, tmp_path / "t.parquet")
        data = formats.read(tmp_path / "t.parquet")
        assert data.row_ids.tolist() == ["10", "11"] and data.feature_names == ("width",)
        assert named_sets(data) == [{"0", "1"}, {"2"}] and data.class_names == ("0", "1", "2")
        assert list(data.categories) == ["tall", "colour"] and list(data.extras) == ["when"]


class TestPlCifar:
    def test_union_or_largest(self, tmp_path: Path) -> None:
        path = tmp_path / "t.json"
        path.write_text(json.dumps({"0": [["cat", "dog"], ["cat"]], "7": [[3], [4, 5, 3], []], "9": []}))
        data = formats.read(path)
        assert data.row_ids.tolist() == ["0", "7", "9"]
        assert named_sets(data) == [{"cat", "dog"}, {"3", "4", "5"}, {"3", "4", "5", "cat", "dog"}]
        assert data.annotations is not None and data.annotations.anonymous
        largest = formats.read(path, options=ReadOptions(combine="largest"))
        assert named_sets(largest)[:2] == [{"cat", "dog"}, {"3", "4", "5"}]  # type: ignore[index]

    def test_results_are_one_answer(self, tmp_path: Path) -> None:
        path = tmp_path / "t.json"
        path.write_text('{"0": [["a", "b"]], "1": [["b"], ["c"]]}')
        formats.give_back(path, tmp_path / "out.json", results(**{"0": "a"}))
        assert json.loads((tmp_path / "out.json").read_text()) == {"0": [["a"]], "1": [["b"], ["c"]]}
        assert not cannot_hold(formats.read(path), FORMATS["plcifar"])


def test_a_tool_that_shows_nothing_of_ours_still_carries_it(tmp_path: Path) -> None:
    path = lines(tmp_path, {"x": 0.5, "candidates": ["a"], "id": "1"}, {"x": 1.5, "candidates": ["a", "b"], "id": "2"})
    data: PartialLabelDataset = formats.read(path)
    for name in (name for name, form in FORMATS.items() if isinstance(form, RecordFormat)):
        formats.write(data, tmp_path / "out", name)
        back = formats.read(tmp_path / "out", format=name)
        assert back.X.tolist() == data.X.tolist() and back.feature_names == ("x",)


def test_what_a_tool_carries_along_is_no_feature(tmp_path: Path) -> None:
    fields = {"text": "so so", "features": ["wifi", "pool"], "n": 3, "feature:width": 1.5, "category:colour": "red"}
    path = tmp_path / "tasks.json"
    path.write_text(json.dumps([{"id": k, "data": fields} for k in (1, 2)]))
    data = formats.read(path)
    assert data.feature_names == ("width",) and list(data.categories) == ["colour"]
    assert {name: values[0] for name, values in data.extras.items()} == {"features": ["wifi", "pool"], "n": 3}
    path.write_text(json.dumps([{"id": k, "data": {"text": "so", "features": [k, 0.5]}} for k in (1, 2)]))
    assert formats.read(path).X.tolist() == [[1, 0.5], [2, 0.5]]

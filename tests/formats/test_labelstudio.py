"""Label Studio: two annotators an item in, predictions the documented import format accepts out, all else untouched."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema

from pll import formats
from pll.dataset import PartialLabelDataset
from pll.formats import ReadOptions, Results

from .strategies import answers, named_sets, named_truth

IMPORT = {
    "type": "array",
    "items": {
        "type": "object",
        "required": ["data"],
        "properties": {
            "id": {"type": "integer"},
            "data": {"type": "object"},
            "predictions": {
                "type": "array",
                "items": {
                    "type": "object",
                    "required": ["result"],
                    "properties": {
                        "model_version": {"type": "string"},
                        "score": {"type": "number", "minimum": 0, "maximum": 1},
                        "result": {
                            "type": "array",
                            "items": {
                                "type": "object",
                                "required": ["from_name", "to_name", "type", "value"],
                                "properties": {
                                    "id": {"type": "string"},
                                    "type": {"const": "choices"},
                                    "value": {
                                        "type": "object",
                                        "required": ["choices"],
                                        "properties": {"choices": {"type": "array", "items": {"type": "string"}}},
                                    },
                                },
                            },
                        },
                    },
                },
            },
        },
    },
}
"""The import format as Label Studio's guide describes it ("Import pre-annotated data", "Basic Label Studio JSON")."""


def choice(*labels: Any, question: str = "sentiment", **more: Any) -> dict[str, Any]:
    value = {"choices": list(labels)}
    return {"id": "r", "from_name": question, "to_name": "txt", "type": "choices", "value": value} | more


def annotation(who: Any, *results: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"id": 1, "completed_by": who, "was_cancelled": False, "lead_time": 4.3, "result": list(results)} | more


def tasks(folder: Path, *tasks: dict[str, Any], **options: Any) -> PartialLabelDataset:
    (folder / "tasks.json").write_text(json.dumps(list(tasks)), encoding="utf-8")
    return formats.read(folder / "tasks.json", options=ReadOptions(**options))


EXPORT = [
    {
        "id": 7,
        "data": {"text": "A fine film.", "url": "https://x.org/7", "n": 1.5, "nested": {"a": [1, None]}},
        "annotations": [annotation(10, choice("pos")), annotation({"id": 12, "email": "bob@x.org"}, choice("neutral"))],
        "predictions": [{"model_version": "other", "score": 0.1, "result": []}],
        "meta": {"kept": True},
    },
    {
        "id": 9,
        "data": {"text": "Nothing much."},
        "annotations": [
            annotation(10, choice("neg"), was_cancelled=True),
            annotation(12, choice("neutral", "neg"), ground_truth=False),
            annotation(11, choice("neg"), ground_truth=True),
        ],
        "drafts": [],
    },
    {"id": 12, "data": {"text": "Whatever it is."}, "annotations": []},
]


def test_annotations_become_sets(tmp_path: Path) -> None:
    data = tasks(tmp_path, *EXPORT)
    assert named_sets(data) == [{"pos", "neutral"}, {"neutral", "neg"}, {"pos", "neutral", "neg"}]
    assert answers(data) == [
        (0, "10", "pos"),
        (0, "bob@x.org", "neutral"),
        (1, "11", "neg"),
        (1, "bob@x.org", "neg"),  # the same person as a number
        (1, "bob@x.org", "neutral"),
    ]
    assert named_truth(data) == [None, "neg", None]
    assert data.texts is not None and data.texts.tolist() == [task["data"]["text"] for task in EXPORT]
    assert data.extras["nested"].tolist() == [{"a": [1, None]}, None, None] and data.extras["n"].tolist()[0] == 1.5
    assert data.row_ids.tolist() == ["7", "9", "12"] and data.X.shape == (3, 0)
    assert any("1 of 3 examples have no annotation" in note for note in data.notes)
    largest = tasks(tmp_path, *EXPORT, combine="largest")
    assert named_sets(largest)[1] == {"neutral", "neg"}  # type: ignore[index]


def test_what_a_person_decided_carries_their_name_and_makes_way_for_the_next(tmp_path: Path) -> None:
    tasks(tmp_path, *EXPORT)
    columns = {"identified_label": ["pos", "neg", "neutral"], "confidence": ["0.9", "1.0", "0.625"]}
    people = {"source": ["model", "human", "model"], "reviewer": ["", "Ada", ""]}
    done = Results(["7", "9", "12"], columns | people, "proden-a")
    formats.give_back(tmp_path / "tasks.json", tmp_path / "out.json", done)

    def ours(name: str) -> dict[int, tuple[str, float]]:
        back = json.loads((tmp_path / name).read_text(encoding="utf-8"))
        jsonschema.validate(back, IMPORT)
        found = [(task["id"], one) for task in back for one in task["predictions"] if one["model_version"] != "other"]
        assert len(found) == 3
        return {task: (one["model_version"], one["score"]) for task, one in found}

    assert ours("out.json") == {7: ("proden-a", 0.9), 9: ("proden-a, decided by Ada", 1.0), 12: ("proden-a", 0.625)}
    undone = Results(["7", "9", "12"], columns | {"confidence": ["0.9", "0.5", "0.625"]}, "proden-a")
    formats.give_back(tmp_path / "out.json", tmp_path / "again.json", undone)
    assert ours("again.json")[9] == ("proden-a", 0.5)


def test_labels_come_back_as_predictions_and_nothing_else_changes(tmp_path: Path) -> None:
    tasks(tmp_path, *EXPORT)
    done = Results(
        ["7", "9", "12"],
        {"identified_label": ["pos", "neg", "neutral"], "confidence": ["0.9", "0.5", "0.625"]},
        "proden-a",
    )
    formats.give_back(tmp_path / "tasks.json", tmp_path / "out.json", done)
    back = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))
    jsonschema.validate(back, IMPORT)
    for before, after in zip(EXPORT, back, strict=True):
        others = [one for one in after.pop("predictions") if one["model_version"] != "proden-a"]
        assert after | ({"predictions": others} if others else {}) == before
    back = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))
    ours = [one for task in back for one in task["predictions"] if one["model_version"] == "proden-a"]
    assert [one["result"][0]["value"]["choices"] for one in ours] == [["pos"], ["neg"], ["neutral"]]
    # The question's own names: those of the project's labelling configuration.
    assert {(one["result"][0]["from_name"], one["result"][0]["to_name"]) for one in ours} == {("sentiment", "txt")}
    # Its uncertainty order shows the lowest score first.
    first = sorted(
        back, key=lambda task: min(one["score"] for one in task["predictions"] if one["model_version"] != "other")
    )
    assert [task["id"] for task in first] == [9, 12, 7]
    # Once more: the prediction of the same model is replaced, that of others stays.
    formats.give_back(tmp_path / "out.json", tmp_path / "again.json", done)
    assert json.loads((tmp_path / "again.json").read_text(encoding="utf-8")) == back
    # What goes in again is what went in at first.
    assert named_sets(formats.read(tmp_path / "out.json")) == named_sets(formats.read(tmp_path / "tasks.json"))


def test_predictions_of_which_the_file_has_the_ids_alone_are_nobodys_and_are_not_sent_back(tmp_path: Path) -> None:
    only_ids = [task | {"predictions": [9000 + at]} for at, task in enumerate(EXPORT)]
    assert answers(tasks(tmp_path, *only_ids)) == answers(tasks(tmp_path, *EXPORT))
    tasks(tmp_path, *only_ids)
    done = Results(["7", "9", "12"], {"identified_label": ["pos", "neg", "neutral"], "confidence": ["0.5"] * 3}, "m")
    formats.give_back(tmp_path / "tasks.json", tmp_path / "out.json", done)
    back = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))
    jsonschema.validate(back, IMPORT)
    assert [[one["model_version"] for one in task["predictions"]] for task in back] == [["m"]] * 3

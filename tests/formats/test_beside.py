"""Files of one example each: JSON beside pictures goes before folders, JSON of each person, and texts."""

from __future__ import annotations

import json
import random
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pll import formats
from pll.dataset import PartialLabelDataset
from pll.errors import UserError
from pll.images import encode

CLASSES = ["cat", "dog", "fox"]
NAMES = [f"p{k:03}" for k in range(24)]


def said(k: int, who: str) -> str:
    rolls = random.Random(f"{k}{who}")
    return CLASSES[k % 3] if rolls.random() < 0.8 else rolls.choice(CLASSES)


def archive(path: Path, files: Mapping[str, Any]) -> PartialLabelDataset:
    with zipfile.ZipFile(path / "t.zip", "w") as opened:
        for name, content in files.items():
            opened.writestr(name, content if isinstance(content, bytes | str) else json.dumps(content))
    return formats.read(path / "t.zip")


def pictures(folder: str = "images", *, by_class: bool = False) -> dict[str, bytes]:
    blank = np.zeros((8, 8, 3), dtype=np.uint8)
    inner = [f"/{CLASSES[k % 3]}" * by_class for k in range(len(NAMES))]
    return {f"{folder}{one}/{name}.png": encode(blank) for name, one in zip(NAMES, inner, strict=True)}


def check(data: PartialLabelDataset, people: tuple[str, ...]) -> None:
    assert data.class_names == tuple(CLASSES) and len(data) == len(NAMES)
    assert data.annotations is not None and {*data.annotations.annotator_names} == {*people}


@pytest.mark.parametrize("people", [("ann", "bob"), ()])
def test_items_of_datumaro_say_what_the_pictures_in_one_folder_are(tmp_path: Path, people: tuple[str, ...]) -> None:
    def annotations(k: int) -> list[dict[str, Any]]:
        own = [{"attributes": {"annotator": who}, "label_id": CLASSES.index(said(k, who))} for who in people]
        nobody = [{"attributes": {}, "label_id": k % 3}]
        box = {"type": "bbox", "label_id": 0, "bbox": [1, 1, 2, 2], "attributes": {"annotator": "eve"}}
        return [*({"type": "label", **one} for one in own or nobody), box]

    items = [
        {"id": name, "annotations": annotations(k), "attr": {"frame": k}, "image": {"path": f"a/{name}.png"}}
        for k, name in enumerate(NAMES)
    ]
    categories = {"label": {"labels": [{"name": name} for name in CLASSES]}}
    export = {"dm_format_version": "1.0", "infos": {}, "categories": categories, "items": items}
    data = archive(tmp_path, {**pictures("images/default/a"), "annotations/default.json": export})
    assert data.class_names == tuple(CLASSES) and data.pictures is not None and data.pictures.where is not None
    if people:
        check(data, people)


def test_json_that_says_no_labels_leaves_the_folders_as_they_are(tmp_path: Path) -> None:
    files = pictures(by_class=True)
    facts = {f"{name.removesuffix('.png')}.json": {"iso": 100, "gps": {"x": k / 3}} for k, name in enumerate(files)}
    parts = [{"id": k, "image_id": k, "category_id": 1, "segmentation": [[1, 1, 2, 2]]} for k in range(len(NAMES))]
    coco = {
        "images": [{"id": k, "file_name": f"{name}.png"} for k, name in enumerate(NAMES)],
        "categories": [{"id": 1, "name": "eye"}],
        "annotations": parts,
    }
    for beside in (facts, {"instances.json": coco}, {"info.json": {"files": [f"{name}.png" for name in NAMES]}}):
        data = archive(tmp_path, {**files, **beside})
        assert data.class_names == tuple(CLASSES) and data.annotations is None


@pytest.mark.parametrize("is_tool", [True, False])
def test_json_of_each_picture_says_who_said_what(tmp_path: Path, is_tool: bool) -> None:
    def record(k: int) -> dict[str, Any]:
        if not is_tool:
            return {"seen": "24-01-02", "reviews": [{"user": who, "verdict": said(k, who)} for who in ("ann", "bob")]}
        tags = [{"name": "diagnosis", "value": said(k, who), "labelerLogin": who} for who in ("ann", "bob")]
        tags += [{"name": "blurry", "value": None, "labelerLogin": "bob"}] * (k % 5 == 0)
        return {"description": "", "tags": tags, "size": {"height": 8}, "objects": []}

    beside = {f"ds0/ann/{name}.png.json": record(k) for k, name in enumerate(NAMES)}
    data = archive(tmp_path, {**pictures("ds0/img"), **beside, "meta.json": {"classes": []}})
    check(data, ("ann", "bob"))
    assert data.pictures is not None
    results = formats.Results(data.row_ids.tolist(), {"identified_label": [f"is {one}" for one in data.row_ids]})
    formats.give_back(tmp_path / "t.zip", tmp_path / "out.zip", results)
    with zipfile.ZipFile(tmp_path / "out.zip") as opened:
        written = json.loads(opened.read("ds0/ann/p003.png.json"))
    assert written == record(3) | {"label": f"is {data.row_ids[3]}"} and "p003" in written["label"]


@pytest.mark.parametrize("gold", ["", "gold", "master"])
def test_json_of_each_person_and_text_is_one_answer(tmp_path: Path, gold: str) -> None:
    files: dict[str, Any] = {f"plain/{n}.txt.html": f"<title>{n}</title><body><p>About <b>{n}</b>.</p>" for n in NAMES}
    for who in ("amy", "bo", *filter(None, [gold])):
        path = f"ann/{'by/' * (who != gold)}{who}/pool"
        for k, name in enumerate(NAMES[: 12 if who == gold else None]):
            label = CLASSES[k % 3] if who == gold else said(k, who)
            value = {"label": label, "spans": []} if gold != "master" else {"metas": {"m_1": {"value": label}}}
            files[f"{path}/{name}.txt.ann.json"] = value | {"anncomplete": True, "annotatable": {"parts": ["s1"]}}
    data = archive(tmp_path, files | {"legend.json": {"m_1": "mood"}})
    check(data, ("amy", "bo"))
    assert data.texts is not None and data.texts.tolist()[0] == "About p000 ." and (data.y is not None) == bool(gold)
    more = archive(tmp_path, files | {"plain/p999.txt.html": "<p>Nobody said what this is.</p>"})
    assert len(more) == len(data) + 1 and more.texts is not None and more.texts[-1] == "Nobody said what this is."


def test_json_of_a_picture_that_is_damaged_is_refused_by_name(tmp_path: Path) -> None:
    beside: dict[str, Any] = {f"images/{name}.json": {"label": said(k, "ann")} for k, name in enumerate(NAMES)}
    assert archive(tmp_path, {**pictures(), **beside}).class_names == tuple(CLASSES)
    with pytest.raises(UserError, match=r"p003\.json"):
        archive(tmp_path, {**pictures(), **beside, "images/p003.json": '{"label": "cat"'})

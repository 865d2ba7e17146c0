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

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pll.errors import UserError
from pll.features import fitted, load_features, save_features
from pll.features.serialization import ARRAYS_FILE, FEATURES_FILE
from tests.features.helpers import texts


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    data = texts("red cats and mice", "red dogs and mice", "blue cats and dogs", "blue dogs and mice")
    save_features(fitted("tfidf:2", data), tmp_path)
    return tmp_path


def test_the_same_features_give_the_same_files(folder: Path, tmp_path: Path) -> None:
    loaded = load_features(folder)
    assert loaded is not None
    save_features(loaded, tmp_path / "again")
    for name in (FEATURES_FILE, ARRAYS_FILE):
        assert (tmp_path / "again" / name).read_bytes() == (folder / name).read_bytes()


def damage(folder: Path, how: str) -> None:
    card, arrays = folder / FEATURES_FILE, folder / ARRAYS_FILE
    content = json.loads(card.read_text())
    if how == "not json":
        card.write_text("{")
    elif how == "nested":
        card.write_text("[" * 100_000)
    elif how == "foreign":
        card.write_text('{"format": "other"}')
    elif how == "list":
        card.write_text("[]")
    elif how == "newer":
        card.write_text(json.dumps(content | {"format_version": 2}))
    elif how == "kind":
        card.write_text(json.dumps(content | {"kind": "magic"}))
    elif how == "settings":
        card.write_text(json.dumps(content | {"settings": {"words": ["one"], "unit": "word"}}))
    elif how == "no settings":
        card.write_text(json.dumps({k: v for k, v in content.items() if k != "settings"}))
    elif how == "no arrays":
        arrays.unlink()
    elif how == "cut":
        arrays.write_bytes(arrays.read_bytes()[:-1])


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ("not json", f"{FEATURES_FILE} is damaged"),
        ("nested", f"{FEATURES_FILE} is damaged"),
        ("foreign", "is not a file of Candid's"),
        ("list", "is not a file of Candid's"),
        ("newer", "has format version 2; this Candid reads version 1"),
        ("kind", "the features cannot be rebuilt ('magic')"),
        ("settings", "the features cannot be rebuilt (1 words, but directions of shape"),
        ("no settings", "the features cannot be rebuilt ('settings')"),
        ("no arrays", f"{ARRAYS_FILE} is missing"),
        ("cut", f"{ARRAYS_FILE} is damaged"),
    ],
)
def test_damaged_files_are_named(folder: Path, how: str, message: str) -> None:
    damage(folder, how)
    with pytest.raises(UserError) as caught:
        load_features(folder)
    assert message in str(caught.value)

"""What `benchmarks.golden compare` calls a difference."""

import json
from pathlib import Path

import numpy as np

from benchmarks.golden import REFUSED, differences


def recording(root: Path, weights: list[float], labels: str, converted: list[str]) -> Path:
    """Write a recording of one fit and one conversion."""
    fit, back = root / "fits" / "lost-sure", root / "converted" / "a.jsonl" / "csv" / "back"
    for folder in (fit, back):
        folder.mkdir(parents=True)
    np.savez(fit / "label_weights.npz", data=np.array(weights, np.float32))
    (fit / "labels.csv").write_text(labels, "utf-8")
    (back / "data.jsonl").write_text("".join(json.dumps({"id": id_}) + "\n" for id_ in converted), "utf-8")
    return root


def test_rounding_is_no_difference_in_a_fit(tmp_path: Path) -> None:
    before = recording(tmp_path / "a", [0.25, 0.75], "id,confidence\n0,0.75\n", ["0"])
    now = recording(tmp_path / "b", [0.250001, 0.749999], "id,confidence\n0,0.749999\n", ["0"])
    assert not list(differences(before, now))


def test_each_part_that_differs_is_named(tmp_path: Path) -> None:
    before = recording(tmp_path / "a", [0.25, 0.75], "id,confidence,margin\n0,0.75,0.5\n", ["0", "1"])
    now = recording(tmp_path / "b", [0.35, 0.65], "id,confidence,entropy\n0,0.75,0.5\n", ["0", "2"])
    (now / "fits" / "lost-sure" / REFUSED).write_text("candid: no.\n", "utf-8")
    assert {part for part, _ in differences(before, now)} == {
        "converted/a.jsonl/csv/back/data.jsonl",
        "fits/lost-sure/label_weights.npz#data",
        "fits/lost-sure/labels.csv#margin",
        "fits/lost-sure/labels.csv#entropy",
        f"fits/lost-sure/{REFUSED}",
    }

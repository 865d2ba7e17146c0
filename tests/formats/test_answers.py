"""Cells that say more than labels: answers of models in JSON, counts and shares of labels, lists of shares."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from pll import formats
from pll.dataset import PartialLabelDataset
from tests.formats.strategies import named_sets

SAID = ["cat", "dog", "fox", "cat", "dog", "fox"]
OTHER = ["cat", "dog", "cat", "cat", "dog", "fox"]


def quoted(cell: str) -> str:
    return '"' + cell.replace('"', '""') + '"'


def read(folder: Path, **columns: list[str]) -> PartialLabelDataset:
    """A CSV of some columns, one text column before them."""
    columns = {"text": [f"what number {k} says here" for k in range(len(SAID))]} | columns
    lines = [",".join(columns), *(",".join(map(quoted, row)) for row in zip(*columns.values(), strict=True))]
    (folder / "t.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return formats.read(folder / "t.csv")


def answers(labels: list[str], start: str = "", end: str = "") -> list[str]:
    return [
        start + json.dumps({"label": label, "confidence": 0.5 + k / 20, "why": f"reason {k}"}) + end
        for k, label in enumerate(labels)
    ]


def test_json_answers_are_votes_with_their_confidence(tmp_path: Path) -> None:
    data = read(tmp_path, gpt=answers(SAID), claude=answers(OTHER, "```json\n", "\n```"))
    assert data.annotations is not None and data.annotations.annotator_names == ("gpt", "claude")
    assert data.class_names == ("cat", "dog", "fox") and not data.categories
    assert named_sets(data)[2] == {"cat", "fox"}
    assert data.annotations.scores is not None
    assert sorted(data.annotations.scores.tolist()) == sorted([0.5 + k / 20 for k in range(6)] * 2)


def test_answers_in_json_lines(tmp_path: Path) -> None:
    records = [
        {"gpt": {"label": a, "confidence": 0.9}, "claude": {"label": b}} for a, b in zip(SAID, OTHER, strict=True)
    ]
    (tmp_path / "t.jsonl").write_text("\n".join(map(json.dumps, records)) + "\n")
    data = formats.read(tmp_path / "t.jsonl")
    assert data.annotations is not None and data.annotations.annotator_names == ("gpt", "claude")
    assert named_sets(data)[2] == {"cat", "fox"}


@pytest.mark.parametrize(
    "cells",
    [
        ['["cat","cat","dog"]', '["fox","fox","fox"]', '["dog","fox","cat"]'],
        ["cat|cat|dog", "fox|fox|fox", "dog|fox|cat"],
        ['{"cat": 2, "dog": 1}', '{"fox": 3}', '{"dog": 1, "fox": 1, "cat": 1}'],
    ],
)
def test_repeated_labels_are_counted(cells: list[str], tmp_path: Path) -> None:
    data = read(tmp_path, candidates=cells * 2)
    assert named_sets(data)[:3] == [{"cat", "dog"}, {"fox"}, {"cat", "dog", "fox"}]
    assert data.prior is not None
    np.testing.assert_allclose(data.prior[:6], [2 / 3, 1 / 3, 1, 1 / 3, 1 / 3, 1 / 3], rtol=1e-6)


def test_shares_of_labels_by_class_are_candidates(tmp_path: Path) -> None:
    cells = ['{"cat": 0.7, "dog": 0.295, "fox": 0.005}', '{"dog": 1.0}', '{"fox": 0.6, "cat": 0.4}'] * 2
    data = read(tmp_path, answers=cells)
    assert named_sets(data)[:3] == [{"cat", "dog"}, {"dog"}, {"cat", "fox"}] and data.prior is not None
    assert data.prior[0] == pytest.approx(0.7 / 0.995)


def test_sets_without_repetitions_have_no_prior_and_a_slip_is_none(tmp_path: Path) -> None:
    assert read(tmp_path, candidates=["cat|dog", "dog", "cat|fox"] * 2).prior is None
    rows = "".join("a|b\n" for _ in range(99)) + "a|a|b\n"
    (tmp_path / "slip.csv").write_text(f"candidates\n{rows}")
    assert formats.read(tmp_path / "slip.csv").prior is None


@pytest.mark.parametrize(
    ("name", "cells"),
    [
        ("label_dist", ["[0.7, 0.2, 0.1]", "[0.1, 0.9, 0]", "[0.2, 0.3, 0.5]"] * 2),
        ("probs", ["[0.7 0.2 0.1]", "[0.1 0.9 0. ]", "[0.2 0.3 0.5]"] * 2),
        ("votes", ["[3, 0, 0]", "[0, 2, 1]", "[0, 3, 0]"] * 2),
        ("gpt_logits", ["[3.5, -1, 0]", "[0.25, 2, 1]", "[0, 3, 1]"] * 2),
    ],
)
def test_lists_of_label_shares_are_never_features(name: str, cells: list[str], tmp_path: Path) -> None:
    data = read(tmp_path, candidates=["cat|dog", "dog", "cat|fox"] * 2, **{name: cells})
    assert list(data.extras) == [name] and not data.X.shape[1] and not data.categories

"""One array of marks, counts or shares, saved with np.save."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pll import formats
from pll.catalog.sources import source_of, with_own_votes
from pll.errors import UserError


def saved(path: Path, values: list[list[float]]) -> Path:
    np.save(path, np.array(values))
    return path


@pytest.mark.parametrize(
    ("values", "prior"),
    [([[3, 0, 1], [0, 2, 0]], [0.75, 0.25, 1]), ([[0.75, 0, 0.25], [0, 1, 0]], [0.75, 0.25, 1])],
)
def test_counts_and_shares_are_the_prior_of_the_candidates(
    tmp_path: Path, values: list[list[float]], prior: list[float]
) -> None:
    path = saved(tmp_path / "t.npy", values)
    for data in (formats.read(path), with_own_votes(source_of(str(path))).load()):  # Python, and page and shell
        assert [data.sets().names(row) for row in range(2)] == [["0", "2"], ["1"]]
        assert data.prior is not None
        assert data.prior.tolist() == prior


def test_marks_are_the_candidates(tmp_path: Path) -> None:
    data = formats.read(saved(tmp_path / "t.npy", [[1, 1], [0, 1]]), class_names=("a", "b"))
    assert [data.sets().names(row) for row in range(2)] == [["a", "b"], ["b"]]
    assert data.prior is None


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([[0.5, -1.5], [2.25, 1]], "may be features"),
        ([[1, 0], [0, 0]], "Row 1 has no class"),
        ([[[1.0]]], "shape"),
        ([[np.nan, 1.0]], "may be features"),
    ],
)
def test_other_arrays_are_refused_with_what_to_do(tmp_path: Path, values: list[list[float]], words: str) -> None:
    with pytest.raises(UserError, match=words):
        formats.read(saved(tmp_path / "t.npy", values))


def test_it_has_no_place_for_labels(tmp_path: Path) -> None:
    path = saved(tmp_path / "t.npy", [[1, 1], [0, 1]])
    assert formats.FORMATS["npz"].no_place(path, formats.ReadOptions())

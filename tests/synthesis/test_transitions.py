from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from pll.errors import UserError
from pll.synthesis.transitions import checked_transitions, read_matrix, transitions_from_confusion

NAMES = ("cat", "dog", "a|b")
counts = arrays(np.int64, (3, 3), elements=st.integers(0, 50))


class TestChecked:
    @pytest.mark.parametrize(
        ("matrix", "message"),
        [
            ([[1, 0], [0, 1]], "The transition matrix is 2 × 2; with 3 classes it must be 3 × 3"),
            ([1, 0, 0], "must have two dimensions, not 1"),
            ([[1, 0], [0]], "must hold numbers, in rows of equal length"),
            ([["x"] * 3] * 3, "must hold numbers"),
            ([[1, 0, 0], [0, 1, 1.5], [0, 0, 1]], "Row 'dog', column 'a|b' of the transition matrix is 1.5"),
            ([[1, -0.1, 0], [0, 1, 0], [0, 0, 1]], "Row 'cat', column 'dog' of the transition matrix is -0.1"),
            ([[1, np.nan, 0], [0, 1, 0], [0, 0, 1]], "holds nan in row 1, column 2"),
            (
                [[1, 0, 0], [0, 0.8, 0], [0, 0, 1]],
                "Row 'dog', column 'dog' of the transition matrix is 0.8; it must be 1",
            ),
        ],
    )
    def test_names_what_is_wrong(self, matrix: list, message: str) -> None:
        with pytest.raises(UserError) as caught:
            checked_transitions(matrix, NAMES)
        assert message in str(caught.value)


class TestConfusion:
    @given(counts)
    def test_shares_of_the_row_off_the_diagonal(self, confusion: np.ndarray) -> None:
        result = checked_transitions(transitions_from_confusion(confusion, NAMES), NAMES)
        for y in range(3):
            for j in range(3):
                total = confusion[y].sum()
                assert result[y, j] == pytest.approx(1 if j == y else confusion[y, j] / total if total else 0)


MATRIX = [[1, 0.25, 0], [0, 1, 0.5], [0.125, 0, 1]]
SHUFFLED = ("dog", "a|b", "cat")  # rows and columns of the same matrix in another order
AS_SHUFFLED = [[MATRIX[NAMES.index(r)][NAMES.index(k)] for k in SHUFFLED] for r in SHUFFLED]


def lines(rows: list, mark: str) -> str:
    return "\n".join(mark.join(str(cell) for cell in row) for row in rows) + "\n"


class TestFiles:
    @pytest.mark.parametrize(
        ("name", "text"),
        [
            ("m.csv", lines(MATRIX, ",")),
            ("m.csv", "\ufeff" + lines(MATRIX, ";") + "\n\n"),
            ("m.tsv", lines(MATRIX, "\t")),
            ("m.txt", lines(MATRIX, "  ")),
            ("m.csv", lines([NAMES, *MATRIX], ",")),
            ("m.csv", lines([SHUFFLED, *AS_SHUFFLED], ",")),
            ("m.csv", lines([["", *SHUFFLED], *([n, *r] for n, r in zip(SHUFFLED, AS_SHUFFLED, strict=True))], ",")),
            ("m.csv", lines([[n, *r] for n, r in zip(SHUFFLED, AS_SHUFFLED, strict=True)], ",")),
            ("m.json", json.dumps(MATRIX)),
        ],
    )
    def test_with_and_without_names(self, tmp_path: Path, name: str, text: str) -> None:
        (tmp_path / name).write_text(text, encoding="utf-8")
        assert read_matrix(tmp_path / name, NAMES).tolist() == MATRIX

    def test_npz(self, tmp_path: Path) -> None:
        np.savez(tmp_path / "alone.npz", anything=np.array(MATRIX))
        np.savez_compressed(tmp_path / "named.npz", other=np.eye(2), matrix=np.array(MATRIX))
        for name in ("alone.npz", "named.npz"):
            assert read_matrix(tmp_path / name, NAMES).tolist() == MATRIX

    @pytest.mark.parametrize(
        ("name", "content", "message"),
        [
            ("m.csv", b"1,0,0\n0,x,0\n0,0,1\n", "row 2, column 2 holds 'x', not a number"),
            ("m.csv", b"1,0,0\n0,1\n0,0,1\n", "row 2 has 2 cells; a matrix of 3 classes has 3"),
            ("m.csv", b"1,0\n0,1\n", "has 2 cells"),
            ("m.csv", b"", "is 0 × 3"),
            ("m.csv", b"cat,dog,cow\n1,0,0\n0,1,0\n0,0,1\n", "names the class 'cow'"),
            ("m.csv", b"cat,cat,dog\n1,0,0\n0,1,0\n0,0,1\n", "each once"),
            ("m.csv", b"\xff\xfe\x00", "cannot be read as a matrix"),
            ("m.json", b"{", "cannot be read as a matrix"),
            ("m.json", b'{"a": 1}', "must hold numbers"),
            ("m.json", b"[" * 100_000, "cannot be read as a matrix"),
            ("m.npy", b"not an array", "cannot be read as a matrix"),
        ],
    )
    def test_bad_files_are_refused(self, tmp_path: Path, name: str, content: bytes, message: str) -> None:
        (tmp_path / name).write_bytes(content)
        with pytest.raises(UserError) as caught:
            read_matrix(tmp_path / name, NAMES)
        assert message in str(caught.value)

    def test_objects_are_never_unpickled(self, tmp_path: Path) -> None:
        np.save(tmp_path / "m.npy", np.array([object()] * 9).reshape(3, 3), allow_pickle=True)
        with pytest.raises(UserError, match="cannot be read as a matrix"):
            read_matrix(tmp_path / "m.npy", NAMES)

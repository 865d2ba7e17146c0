"""Features in their normal form, and files that are written whole or not at all."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pll.errors import UserError, WriteError
from pll.io import check_finite, feature_array, write_atomically, write_text, zipped

X = np.arange(12, dtype=np.float32).reshape(4, 3)


def test_missing_features_pass_where_they_are_allowed_infinite_ones_never() -> None:
    check_finite(np.array([[np.nan, 1]]), allow_missing=True)
    with pytest.raises(UserError, match="Row 1, feature 0 is inf"):
        check_finite(np.array([[np.nan, 1], [np.inf, 0]]), allow_missing=True)


@pytest.mark.parametrize(
    ("features", "words"),
    [
        (X[0], "1 dimension"),
        ([[1.0], [1.0, 2.0]], "equal length"),
        ([["a"]], "must be numbers"),
        (X * 1j, "real numbers"),
    ],
)
def test_what_is_no_matrix_of_real_numbers_is_refused(features: Any, words: str) -> None:
    with pytest.raises(UserError, match=words):
        feature_array(features)


def test_a_file_is_replaced_whole_and_its_folder_made(tmp_path: Path) -> None:
    file = tmp_path / "new" / "deep" / "a.txt"
    write_text(file, "ä\n")
    write_text(file, "second")
    assert file.read_text(encoding="utf-8") == "second"
    assert [entry.name for entry in file.parent.iterdir()] == ["a.txt"]


def test_a_writer_that_fails_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    write_text(file, "old")

    def fail(path: Path) -> None:
        path.write_text("half")
        raise RuntimeError("the disk is full")

    with pytest.raises(RuntimeError, match="full"):
        write_atomically(file, fail)
    assert file.read_text() == "old"
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize("place", ["folder", "file.txt/a.txt"])
def test_what_cannot_be_written_is_named_as_it_was_given(place: str, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file.txt").touch()
    with pytest.raises(WriteError, match=f"Cannot write to {tmp_path / place}: "):
        write_text(tmp_path / place, "x")
    assert len(list(tmp_path.rglob("*"))) == 2


def test_a_device_is_written_to_and_stays_one(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_text(pipe, "through")
        assert os.read(reader, 100) == b"through" and pipe.is_fifo()
    finally:
        os.close(reader)
    full = tmp_path / "full"
    full.symlink_to("/dev/full")
    if full.is_char_device():  # where this system has it
        with pytest.raises(OSError, match="No space"):
            write_text(full, "x")
        assert full.is_char_device()


def test_the_next_file_removes_what_a_killed_process_left(tmp_path: Path) -> None:
    """An export, a plan or a synthesis that is killed leaves a part; those of processes that run stay."""
    program = (
        "import os, sys, pathlib; from pll.io import write_atomically\n"
        "def die(part): part.write_text('half'); os.kill(os.getpid(), 9)\n"
        "write_atomically(pathlib.Path(sys.argv[1]), die)"
    )
    subprocess.run([sys.executable, "-c", program, str(tmp_path / "plan.csv")], check=False)
    (left,) = tmp_path.iterdir()
    living = tmp_path / left.name.replace(left.name.split("-")[2], str(os.getppid()), 1)
    living.write_text("half")
    write_text(tmp_path / "plan.csv", "whole")
    assert sorted(tmp_path.iterdir()) == sorted([living, tmp_path / "plan.csv"])


def test_a_zip_of_the_same_files_is_the_same() -> None:
    files = {"a/b.txt": b"one", "ä.bin": bytes(1000)}
    packed = zipped(files)
    assert packed == zipped(dict(files)) and len(packed) < 500
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        assert {name: archive.read(name) for name in archive.namelist()} == files

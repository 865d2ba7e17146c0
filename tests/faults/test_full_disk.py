"""A disk that is full at some write: it is said in words, what was saved stays, and the run goes on to the same result.

The limit on the size of a file (RLIMIT_FSIZE) lets a write fail in its middle, as a full disk does.
"""

from __future__ import annotations

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from pll.errors import UserError
from pll.io import PART, stored_name, write_atomically
from pll.runs import fit_loop
from pll.runs.folder import RunFolder
from tests.run_helpers import config, result_of, write_data


@contextmanager
def files_at_most(size: int) -> Iterator[None]:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_data(tmp_path_factory.mktemp("data") / "small.npz")


@pytest.fixture(scope="module")
def expected(data: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What a run leaves behind on a disk with room."""
    whole = RunFolder(tmp_path_factory.mktemp("whole") / "run")
    whole.create(config(data, params={"epochs": 3}))
    fit_loop.FitLoop(whole).train()
    return result_of(whole)


@pytest.mark.parametrize("size", [200, 600, 900, 1200, 2500, 5000, 8000])
def test_a_run_on_a_full_disk_says_so_and_goes_on_to_the_same_bits(
    size: int, data: Path, expected: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fit_loop, "CHECKPOINT_EVERY", 0.0)  # a checkpoint at every mini-batch,
    monkeypatch.setattr(fit_loop, "CHECKPOINT_SHARE", float("inf"))  # whatever it costs
    folder = RunFolder(tmp_path / "run")
    folder.create(config(data, params={"epochs": 3}))
    with files_at_most(size), pytest.raises(UserError, match=r"[Ff]ull"):
        fit_loop.FitLoop(folder).train()
    assert not list(folder.path.rglob(f"{PART}*"))
    fit_loop.FitLoop(folder).train()
    assert result_of(folder) == expected


def test_a_file_that_cannot_be_written_whole_stays_as_it_was(tmp_path: Path) -> None:
    file = tmp_path / "results.csv"
    file.write_text("old")
    with files_at_most(100), pytest.raises(OSError):
        write_atomically(file, lambda part: part.write_text("x" * 1000))
    assert file.read_text() == "old"
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize("name", ["x" * 300 + ".csv", "ä" * 200 + ".parquet", "a" * 250])
def test_a_name_that_no_file_system_takes_is_shortened(name: str, tmp_path: Path) -> None:
    kept = stored_name(name)
    assert Path(kept).suffix == Path(name).suffix
    write_atomically(tmp_path / kept, lambda part: part.write_text("content"))
    assert (tmp_path / kept).read_text() == "content"

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from pll.catalog import sources
from pll.catalog.sources import Source, file_hash, source_of
from pll.errors import UserError
from tests.run_helpers import write_data


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return write_data(tmp_path / "small.npz")


def test_a_word_is_a_file_or_else_a_name_of_the_catalogue(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert source_of(str(file)) == Source("small.npz", str(file))
    assert source_of("digits") == Source("digits")
    assert source_of("Digits") == Source("digits")
    monkeypatch.chdir(file.parent)
    Path("digits").mkdir()
    assert source_of("digits") == Source("digits")  # a folder is no data
    Path("digits").rmdir()
    file.rename("digits")
    assert source_of("digits").path == "digits"


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("missing.npz", "There is no file missing.npz"),
        ("some/where", "There is no file some/where"),
        ("digitz", "Did you mean 'digits'"),
        (".", "folder"),
    ],
)
def test_what_is_neither_is_said(word: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError, match=said):
        source_of(word)


def test_a_small_file_is_copied_and_the_copy_is_what_counts(file: Path, tmp_path: Path) -> None:
    copied = Source("small.npz", str(file)).copied_to(tmp_path / "run" / "source")
    assert copied.path == str(tmp_path / "run" / "source" / "small.npz")
    assert copied.sha256 == hashlib.sha256(file.read_bytes()).hexdigest() == file_hash(file)
    file.unlink()
    assert len(copied.load()) == 120
    assert copied.copied_to(tmp_path / "run" / "source") == copied  # again changes nothing


def test_a_large_file_stays_where_it_is(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "COPY_UP_TO", 10)
    copied = Source("small.npz", str(file)).copied_to(tmp_path / "run")
    assert copied.path == str(file)
    assert not (tmp_path / "run").exists()
    assert len(copied.load()) == 120
    write_data(file, n=60)
    with pytest.raises(UserError, match=r"small\.npz at .* has changed since the run was made"):
        copied.load()
    file.unlink()
    with pytest.raises(UserError, match=r"small\.npz is no longer at"):
        copied.load()


@pytest.mark.parametrize("name", ["gone.npz", ""])
def test_what_is_not_a_file_cannot_be_kept(tmp_path: Path, name: str) -> None:
    with pytest.raises(UserError, match="There is no file"):
        Source("x", str(tmp_path / name)).copied_to(tmp_path / "run")


def test_a_copy_is_found_again_where_the_run_was_moved_to(file: Path, tmp_path: Path) -> None:
    copied = Source("small.npz", str(file)).copied_to(tmp_path / "old")
    (tmp_path / "old").rename(tmp_path / "new")
    assert copied.relocated(tmp_path / "new").path == str(tmp_path / "new" / "small.npz")
    assert copied.relocated(tmp_path / "elsewhere") == copied
    assert Source("digits").relocated(tmp_path) == Source("digits")


def test_data_that_somebody_holds_is_not_read_again(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "COPY_UP_TO", 1)  # as with a large file, a run reads the very file of the page
    held = Source("small.npz", str(file)).load()
    copied = Source("small.npz", str(file)).copied_to(file.parent / "source")
    assert copied.sha256 and copied.load() is held
    assert Source("other name", str(file)).load() is not held
    assert Source("small.npz", str(file), options={"max_bytes": 2**20}).load() is not held
    write_data(file)  # the file is another one now
    changed = Source("small.npz", str(file)).load()
    assert changed is not held
    with pytest.raises(UserError, match="has changed since"):
        Source("small.npz", str(file), sha256="0").load()

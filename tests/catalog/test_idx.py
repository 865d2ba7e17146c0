from __future__ import annotations

import gzip
import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from pll.catalog import load
from pll.catalog.idx import read_idx
from pll.errors import UserError


def idx_of(array: np.ndarray) -> bytes:
    """Written from the format's description, independently of the reader."""
    header = struct.pack(">BBBB", 0, 0, 0x08, array.ndim) + b"".join(struct.pack(">I", n) for n in array.shape)
    return header + array.tobytes()


@given(arrays.arrays(np.uint8, arrays.array_shapes(max_dims=3, max_side=5)), st.booleans())
def test_what_is_written_is_read(tmp_path_factory: pytest.TempPathFactory, array: np.ndarray, packed: bool) -> None:
    path = tmp_path_factory.mktemp("idx") / "file"
    path.write_bytes(gzip.compress(idx_of(array), mtime=0) if packed else idx_of(array))
    np.testing.assert_array_equal(read_idx(path), array)


GOOD = idx_of(np.arange(12, dtype=np.uint8).reshape(3, 2, 2))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "not an idx file"),
        (b"\x00\x00\x0d\x01\x00\x00\x00\x00", "not an idx file of bytes"),  # floats
        (b"<html></html>", "not an idx file"),
        (GOOD[:-1], "damaged .11 bytes where its header promises .3, 2, 2."),
        (GOOD + b"!", "damaged .13 bytes"),
        (gzip.compress(GOOD, mtime=0)[:-9], "damaged"),
        (b"\x1f\x8b broken", "damaged"),
    ],
)
def test_anything_else_is_refused_by_name(tmp_path: Path, content: bytes, words: str) -> None:
    path = tmp_path / "labels.gz"
    path.write_bytes(content)
    with pytest.raises(UserError, match=rf"labels\.gz is {words}"):
        read_idx(path)


def test_mnists_files_are_not_taken_for_fashion_mnist(shared: Path, cache: Path) -> None:
    with pytest.raises(UserError, match="Fashion-MNIST is not on this machine"):
        load("fashion-mnist", download=False)
    own = cache / "fashion-mnist"
    own.mkdir(parents=True)
    for path in (shared / "mnist").iterdir():
        (own / path.name).symlink_to(path)
    with pytest.raises(UserError, match="is not the published file: its MD5 is"):
        load("fashion-mnist", download=False)

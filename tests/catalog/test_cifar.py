from __future__ import annotations

import hashlib
import io
import pickle
import tarfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from pll.catalog import CATALOG, cifar, load
from pll.catalog.entry import Checksum, Need
from pll.errors import UserError
from pll.images import torchvision

RNG = np.random.default_rng(0)


@pytest.fixture
def pixels() -> dict[str, np.ndarray]:
    """The pixels of each batch, a row an example."""
    sizes = {"data_batch_1": 3, "data_batch_2": 2, "test_batch": 4}
    return {name: RNG.integers(0, 256, (n, 3072), dtype=np.uint8) for name, n in sizes.items()}


@pytest.fixture
def batches(pixels: dict[str, np.ndarray], monkeypatch: pytest.MonkeyPatch) -> dict[str, bytes]:
    """A small CIFAR-10 in the published form, for whose checksums torchvision's are exchanged."""
    theirs = torchvision().datasets.CIFAR10
    made: dict[str, bytes] = {}

    def batch(name: str) -> list[str]:
        made[name] = pickle.dumps({"data": pixels[name], "labels": list(range(len(pixels[name])))})
        return [name, hashlib.md5(made[name]).hexdigest()]

    monkeypatch.setattr(theirs, "train_list", [batch("data_batch_1"), batch("data_batch_2")])
    monkeypatch.setattr(theirs, "test_list", [batch("test_batch")])
    made["batches.meta"] = pickle.dumps({"label_names": list(cifar.CLASS_NAMES)})
    meta = {**theirs.meta, "md5": hashlib.md5(made["batches.meta"]).hexdigest()}
    monkeypatch.setattr(theirs, "meta", meta)
    return made


def tar_of(batches: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for name, content in batches.items():
            member = tarfile.TarInfo(f"cifar-10-batches-py/{name}")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return buffer.getvalue()


def in_archive(cache: Path, batches: dict[str, bytes]) -> None:
    """Put the archive into the cache and its checksum into the catalogue."""
    (cache / "cifar10").mkdir(parents=True)
    (cache / "cifar10" / cifar.ARCHIVE).write_bytes(tar_of(batches))


def small(monkeypatch: pytest.MonkeyPatch, archive: bytes) -> None:
    checksum = Checksum("md5", hashlib.md5(archive).hexdigest())
    (folder,), (published,) = CATALOG["cifar10"].needs[0].ways
    need = Need(((folder,), (replace(published, checksum=checksum),)))
    monkeypatch.setitem(CATALOG, "cifar10", replace(CATALOG["cifar10"], n=9, needs=(need,)))


def test_the_published_archive(
    cache: Path, batches: dict[str, bytes], pixels: dict[str, np.ndarray], monkeypatch: pytest.MonkeyPatch
) -> None:
    in_archive(cache, batches)
    small(monkeypatch, (cache / "cifar10" / cifar.ARCHIVE).read_bytes())
    data = load("cifar10", download=False)
    assert data.X.shape == (9, 3, 32, 32) and data.class_names == cifar.CLASS_NAMES
    assert data.is_test is not None and data.is_test.tolist() == [False] * 5 + [True] * 4
    assert data.y is not None and data.y.tolist() == [0, 1, 2, 0, 1, 0, 1, 2, 3]
    np.testing.assert_array_equal(np.rint(data.X[1] * 255), pixels["data_batch_1"][1].reshape(3, 32, 32))
    assert (cache / "cifar10" / "cifar-10-batches-py" / "test_batch").is_file()
    (cache / "cifar10" / cifar.ARCHIVE).unlink()  # the unpacked folder is enough
    assert load("cifar10", download=False).fingerprint == data.fingerprint


def test_a_batch_that_was_changed_is_never_unpickled(
    cache: Path, batches: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    def explode(*_: object) -> None:
        raise AssertionError("it was unpickled")

    batches["test_batch"] = pickle.dumps({"data": 0})
    in_archive(cache, batches)
    small(monkeypatch, (cache / "cifar10" / cifar.ARCHIVE).read_bytes())
    monkeypatch.setattr(pickle, "load", explode)
    with pytest.raises(UserError, match="these are not the batches of CIFAR-10"):
        load("cifar10", download=False)


# ---- sprites -----------------------------------------------------------------------------------------------------


def test_tiles_are_read_row_after_row(tmp_path: Path) -> None:
    tiles = RNG.integers(0, 256, (6, 32, 32, 3), dtype=np.uint8)
    rows = [np.concatenate(list(tiles[at : at + 3]), axis=1) for at in (0, 3)]
    Image.fromarray(np.concatenate(rows)).save(tmp_path / "sheet.webp", lossless=True)
    np.testing.assert_array_equal(cifar.read_sprite(tmp_path / "sheet.webp", 5), tiles[:5])
    with pytest.raises(
        UserError, match=r"sheet\.webp is not the published file: it is 96 × 64 pixels; 7 tiles of 32 × 32 are expected"
    ):
        cifar.read_sprite(tmp_path / "sheet.webp", 7)


def test_labels_that_are_pickles_are_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "labels.npz", train=np.array([{}], dtype=object))
    with pytest.raises(UserError, match=r"labels\.npz is not the published file: it has no array 'test'; it has train"):
        cifar.read_npz(tmp_path / "labels.npz", "test")
    with pytest.raises(UserError, match=r"labels\.npz is damaged"):
        cifar.read_npz(tmp_path / "labels.npz", "train")
    (tmp_path / "labels.npz").write_bytes(pickle.dumps({}))
    with pytest.raises(UserError, match=r"labels\.npz is damaged"):
        cifar.read_npz(tmp_path / "labels.npz", "train")

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from pll.candidates import CandidateSets
from pll.catalog import CATALOG, find, load
from pll.catalog.entry import Entry
from pll.dataset import PartialLabelDataset
from pll.errors import UserError
from pll.images import torchvision

from .helpers import entry_of, file_of

ENTRIES = list(CATALOG.values())


@pytest.mark.parametrize(
    ("name", "custom"), [("mnist", "MNIST"), ("fashion-mnist", "FashionMNIST"), ("kuzushiji-mnist", "KMNIST")]
)
def test_names_addresses_and_checksums_are_torchvisions(name: str, custom: str) -> None:
    theirs = getattr(torchvision().datasets, custom)
    files = CATALOG[name].files
    assert [file.name for file in files] == [file for file, _ in theirs.resources]
    assert [file.urls for file in files] == [
        tuple(f"{mirror}{file}" for mirror in theirs.mirrors) for file, _ in theirs.resources
    ]
    if name != "mnist":  # whose checksums are of the content
        assert [file.checksum.value for file in files if file.checksum] == [md5 for _, md5 in theirs.resources]
        assert {file.checksum.kind for file in files if file.checksum} == {"md5"}


@pytest.mark.parametrize("name", ["fashion-mnist", "Fashion-MNIST", "fashion mnist", "FashionMNIST"])
def test_names_are_found_as_people_write_them(name: str) -> None:
    assert find(name).name == "fashion-mnist"


def test_an_unknown_name_says_what_was_perhaps_meant() -> None:
    with pytest.raises(UserError, match=r"no dataset called 'mnits' in the catalogue; did you mean mnist"):
        load("mnits")
    with pytest.raises(UserError, match=r"no dataset called 'zzz' in the catalogue\. It has digits, iris, wine"):
        load("zzz")


def test_digits(cache: Path) -> None:
    data = load("digits", download=False)
    assert (data.X.shape, data.X.dtype, data.kind, data.name) == ((1797, 1, 8, 8), np.float32, "image", "digits")
    assert (float(data.X.min()), float(data.X.max())) == (0.0, 1.0)
    assert data.class_names == tuple("0123456789") and data.candidates is None and data.is_test is None
    assert data.y is not None and data.y[:10].tolist() == list(range(10))
    assert data.X[0, 0, 0].tolist() == [0, 0, 5 / 16, 13 / 16, 9 / 16, 1 / 16, 0, 0]
    assert not cache.exists()


@pytest.mark.parametrize(
    ("name", "d", "classes"), [("iris", 4, ("setosa", "versicolor", "virginica")), ("wine", 13, 3)]
)
def test_iris_and_wine(cache: Path, name: str, d: int, classes: object) -> None:
    data = load(name, download=False)
    assert data.X.shape == (CATALOG[name].n, d) and len(data.feature_names) == d and data.kind == "table"
    assert classes in (data.class_names, len(data.class_names))
    assert not cache.exists()


@pytest.mark.parametrize("entry", [entry for entry in ENTRIES if not entry.embedded], ids=lambda entry: entry.name)
def test_without_files_and_network_each_says_what_goes_where(cache: Path, entry: Entry) -> None:
    with pytest.raises(UserError) as raised:
        load(entry.name, download=False)
    for file in entry.files:
        assert file.name in str(raised.value) and str(cache / file.folder) in str(raised.value)
        assert file.page in str(raised.value)
    assert not cache.exists()


def toy(n: int = 2, d: int = 1, c: int = 2, candidates: CandidateSets | None = None) -> PartialLabelDataset:
    names = tuple("abcdef"[:c])
    return PartialLabelDataset(np.zeros((n, d)), candidates, np.arange(n) % c, () if candidates else names)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (toy(n=3), "3 examples where 2"),
        (toy(d=2), r"\(2,\) features \(shape of an example\) where \(1,\)"),
        (toy(c=3), "3 classes where 2"),
        (replace(toy(), y=np.array([1, 1])), r"\(0, 2\) examples a class where \(1, 1\)"),
    ],
)
def test_data_of_another_size_is_refused(data: PartialLabelDataset, words: str) -> None:
    entry = replace(entry_of(file_of()), class_sizes=(1, 1))
    entry.check(toy())
    with pytest.raises(UserError, match=rf"not the published Toy: it has {words} .*http://toy.example \(toy.data\)"):
        entry.check(data)

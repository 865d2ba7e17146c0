from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from pll.candidates import CandidateSets
from pll.catalog import CATALOG, available, find, load
from pll.catalog.entry import Entry
from pll.dataset import PartialLabelDataset
from pll.errors import UserError
from pll.images import torchvision

from .helpers import entry_of, file_of

PAPER = (
    *("mnist", "fashion-mnist", "kuzushiji-mnist", "cifar10"),
    *("yeast", "texture", "dermatology", "synthetic-control", "20newsgroups"),
    *("lost", "birdsong", "msrcv2", "soccer-player", "yahoo-news"),
)
ENTRIES = list(CATALOG.values())


def test_it_has_every_dataset_of_the_issue() -> None:
    assert set(CATALOG) >= {*PAPER, "cifar10h", "cifar10n", "digits", "iris", "wine"}


@pytest.mark.parametrize("entry", ENTRIES, ids=list(CATALOG))
def test_every_entry_says_all_there_is_to_say(entry: Entry) -> None:
    assert entry.name == entry.name.lower() and " " not in entry.name
    assert entry.about.endswith(".") and entry.licence and entry.page.startswith("http")
    assert entry.n > 1 and entry.c > 1 and entry.d == np.prod(entry.shape)
    assert (entry.mean_candidates is not None) == (entry.kind == "partial")
    assert not entry.class_sizes or (sum(entry.class_sizes) == entry.n and len(entry.class_sizes) == entry.c)
    assert entry.embedded or entry.size_mb > 0
    for file in entry.files:
        assert file.page and Path(file.name).name == file.name and Path(file.folder).name == file.folder
        assert all(url.startswith("http") for url in file.urls)
    for file in (file for need in entry.needs for way in need.ways for file in way):
        if file.checksum is not None:
            length = {"md5": 32, "git-blob": 40, "sha256": 64, "sha256-unpacked": 64}[file.checksum.kind]
            assert len(file.checksum.value) == length and int(file.checksum.value, 16) >= 0


def test_all_but_the_sprites_can_be_downloaded() -> None:
    assert {entry.name for entry in ENTRIES if not entry.downloadable} == {"cifar10-subset", "cifar10n-subset"}


def test_the_split_and_the_paper_agree_on_sizes() -> None:
    assert [(CATALOG[name].n, CATALOG[name].d, CATALOG[name].c) for name in PAPER[4:]] == [
        *((1484, 8, 10), (5500, 40, 11), (366, 34, 6), (600, 60, 6), (18846, 300, 20)),
        *((1122, 108, 16), (4998, 38, 13), (1758, 48, 23), (17472, 279, 171), (22991, 163, 219)),
    ]


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


def test_cifar10_is_torchvisions() -> None:
    theirs = torchvision().datasets.CIFAR10
    (file,) = CATALOG["cifar10"].files
    assert file.checksum is not None
    assert (file.name, file.urls, file.checksum.value) == (theirs.filename, (theirs.url,), theirs.tgz_md5)


def test_class_names_of_the_mnist_family_are_torchvisions() -> None:
    datasets = torchvision().datasets
    for name, theirs in (("fashion-mnist", datasets.FashionMNIST), ("kuzushiji-mnist", datasets.KMNIST)):
        loader = find(name).loader
        assert isinstance(loader, partial) and loader.keywords["classes"] == list(theirs.classes)


def test_20newsgroups_is_scikit_learns() -> None:
    from sklearn.datasets import _twenty_newsgroups

    (file,) = CATALOG["20newsgroups"].files
    theirs = _twenty_newsgroups.ARCHIVE
    assert file.checksum is not None
    assert (file.name, file.urls[0], file.checksum.value) == (theirs.filename, theirs.url, theirs.checksum)


def test_git_blob_ids_are_those_of_the_issue() -> None:
    ids = {
        "soccer-player": "3372e7350e06eba374c715e07fbd18e2555e00ec",
        "yahoo-news": "c9c3c35a6562ece4dffca8e7997c4c9cdcd12354",
    }
    for name, blob in ids.items():
        (file,) = CATALOG[name].files
        assert file.checksum is not None
        assert (file.checksum.kind, file.checksum.value) == ("git-blob", blob)


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


def test_embedded_sets_are_available_and_others_are_not(cache: Path) -> None:
    assert all(available(entry) == entry.embedded for entry in CATALOG.values())


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


def test_other_candidates_are_refused() -> None:
    entry = replace(entry_of(file_of()), mean_candidates=1.5)
    entry.check(toy(candidates=CandidateSets.from_lists([[0], [0, 1]], 2)))
    with pytest.raises(UserError, match=r"1\.0 candidates on average where 1\.5"):
        entry.check(toy(candidates=CandidateSets.from_lists([[0], [1]], 2)))


def test_importing_the_catalogue_is_light() -> None:
    heavy = "torch", "torchvision", "sklearn", "pandas", "PIL", "rarfile"
    code = f"import pll.catalog, sys; print([name for name in {heavy!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"

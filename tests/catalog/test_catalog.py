from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pll.catalog import CATALOG, find, load
from pll.catalog.entry import Entry
from pll.errors import UserError

ENTRIES = list(CATALOG.values())


@pytest.mark.parametrize("name", ["fashion-mnist", "Fashion-MNIST", "fashion mnist", "FashionMNIST"])
def test_names_are_found_as_people_write_them(name: str) -> None:
    assert find(name).name == "fashion-mnist"


def test_an_unknown_name_says_what_was_perhaps_meant() -> None:
    with pytest.raises(UserError, match=r"no dataset of the catalogue called 'mnits'; .* Did you mean 'mnist'\?"):
        load("mnits")
    with pytest.raises(UserError, match=r"no dataset of the catalogue called 'zzz'; use one of digits, iris, wine"):
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

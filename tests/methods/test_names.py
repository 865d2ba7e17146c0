"""The names that pages show before any class is imported are those of the classes."""

from __future__ import annotations

import pll.methods
from pll.methods import METHODS, get_method, method_title
from pll.methods.names import TITLES


def test_titles_are_those_of_the_classes() -> None:
    assert set(TITLES) == set(METHODS)
    for name, title in TITLES.items():
        assert get_method(name).title == title == method_title(name)


def test_the_package_offers_every_class() -> None:
    offered = [getattr(pll.methods, name) for name in pll.methods.__all__]
    assert all(kind in offered for kind in METHODS.values())

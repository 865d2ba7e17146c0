"""The names that pages show before any class is imported are those of the classes."""

from __future__ import annotations

from pll.methods import METHODS, get_method, method_title
from pll.methods.names import TITLES
from tools import front_door


def test_titles_are_those_of_the_classes() -> None:
    assert set(TITLES) == set(METHODS)
    for name, title in TITLES.items():
        assert get_method(name).title == title == method_title(name)


def test_what_lists_the_classes_is_generated_anew() -> None:
    for file, text in ((front_door.PACKAGE, front_door.package()), (front_door.METHODS, front_door.methods())):
        assert file.read_text("utf-8") == text, "run `make generated`"

"""Lines of Python files, counted by kind."""

from __future__ import annotations

from tools import lines

SOURCE = '''"""Module
docstring."""
import os  # beside code

# alone

def f():
    """Docstring."""
    text = """no
docstring"""
    return (
        text
    )
'''


def test_every_line_is_of_one_kind() -> None:
    assert dict(lines.count(SOURCE)) == {"code": 7, "docstring": 3, "comment": 1, "blank": 2}


def test_an_empty_file_has_no_lines() -> None:
    assert sum(lines.count("").values()) == 0


def test_rooms_are_the_folders_of_the_library() -> None:
    files = ("pll/formats/tools/x.py", "pll/io.py", "tests/ui/test_x.py", "app.py")
    assert [lines.room_of(file) for file in files] == ["pll/formats", "pll", "tests", "."]

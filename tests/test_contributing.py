"""What CONTRIBUTING.md says of the code is so: the packages it describes, the files and names it points to."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TEXT = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
LINK = re.compile(r"\[([^\]]*)\]\((?!https?:)([^)#]+)\)")
NAME = re.compile(r"`([A-Za-z_]+)`")
FILE = re.compile(r"`((?:pll|tests|docs|examples)/[\w/.]+)`")


def test_the_packages_are_all_described() -> None:
    from tests.test_architecture import PACKAGES

    table = "\n".join(line for line in TEXT.splitlines() if line.startswith("| `"))
    assert [package for package in PACKAGES if not re.search(rf"[` ]{package}[/` ]", table)] == []


def test_every_file_that_is_named_is_there() -> None:
    files = [target for _, target in LINK.findall(TEXT)] + FILE.findall(TEXT)
    made = {"docs/methods.md"}  # by `make docs`
    assert files and [file for file in files if file not in made and not (ROOT / file).exists()] == []


def test_every_word_is_a_name_in_its_file() -> None:
    names = [(name, target) for text, target in LINK.findall(TEXT) for name in NAME.findall(text)]
    assert len(names) > 10
    wrong = [(name, target) for name, target in names if name not in (ROOT / target).read_text("utf-8")]
    assert wrong == []

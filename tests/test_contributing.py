"""The steps of CONTRIBUTING.md, followed to the letter in a copy of the package."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
TEXT = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
BLOCK = re.compile(r'^```(\w+) title="([^"]+)"\n(.*?)^```$', re.MULTILINE | re.DOTALL)


def recipes() -> Iterator[tuple[str, list[tuple[str, str, str]]]]:
    """(What is added, its blocks as (language, title, content)) for each section `## Add a …`."""
    for section in re.split(r"^## ", TEXT, flags=re.MULTILINE):
        title, _, body = section.partition("\n")
        if title.startswith("Add a "):
            yield title.removeprefix("Add a "), [(m[1], m[2], m[3]) for m in BLOCK.finditer(body)]


RECIPES = dict(recipes())


def edited(source: str, change: str) -> str:
    """The source after a change whose lines begin with ` ` (is there), `+` (comes) or `-` (goes).

    The last of them may be the beginning of a line.
    """
    lines = [(line[:1], line[1:]) for line in change.splitlines()]
    before = "\n".join(text for sign, text in lines if sign in " -")
    after = "\n".join(text for sign, text in lines if sign in " +")
    assert source.count(f"\n{before}") == 1, f"{before!r} does not stand there once"
    return source.replace(f"\n{before}", f"\n{after}")


def test_there_is_a_recipe_for_each_kind() -> None:
    kinds = {"method", "format", "dataset", "column of labels.csv", "metric", "command", "view"}
    assert kinds | {"criterion to the order of the queue"} == set(RECIPES)


def test_the_packages_are_all_described() -> None:
    from tests.test_architecture import PACKAGES

    table = "\n".join(line for line in TEXT.splitlines() if line.startswith("| `"))
    missing = [package for package in PACKAGES if not re.search(rf"[` ]{package}[/` ]", table)]
    assert set(missing) <= {"experiments"}  # it is not built yet


def test_every_change_still_fits_its_file() -> None:
    for blocks in RECIPES.values():
        for language, title, content in blocks:
            if language == "diff":
                edited((ROOT / title).read_text("utf-8"), content)


@pytest.mark.slow
def test_following_the_steps_adds_one_of_each(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "pll", tmp_path / "pll", ignore=shutil.ignore_patterns("__pycache__"))
    checks = []
    for blocks in RECIPES.values():
        assert any(title == "check" for _, title, _ in blocks)
        for language, title, content in blocks:
            path = tmp_path / title
            if title == "check":
                checks.append(content)
            elif language == "diff":
                path.write_text(edited(path.read_text("utf-8"), content), "utf-8")
            else:
                assert not path.exists()
                path.write_text(content, "utf-8")
    done = subprocess.run(  # one process for all: most of its time is the import of torch
        [sys.executable, "-W", "ignore", "-c", "\n".join(checks)],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(tmp_path), "PLL_HOME": str(tmp_path / "home")},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr

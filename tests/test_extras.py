"""The library and the shell without what only optional parts install: what is missing is named, the rest works."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from pll.cli.doctor import CORE
from pll.extras import EXTRAS

ROOT = Path(__file__).parents[1]
BARE = """
import contextlib, importlib, io, json, sys
from importlib.machinery import PathFinder

missing, found = set(sys.argv[1].split(",")), PathFinder.find_spec
PathFinder.find_spec = lambda name, *more: None if name.partition(".")[0] in missing else found(name, *more)
import pll
from pll.cli import main as shell
from pll.cli.declared import COMMANDS

failed = {}
for name in pll.__all__:
    getattr(pll, name)
for name, (_, place) in COMMANDS.items():
    try:
        importlib.import_module("pll.cli." + place.partition(":")[0])
    except ModuleNotFoundError as error:
        failed[name] = error.name
for name in ("pll.export.run_export", "pll.features.texts", "pll.formats", "pll.review.record"):
    importlib.import_module(name)

def run(*arguments):
    said = io.StringIO()
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(said):
        status = shell.main(list(arguments)) if arguments else shell.open_app()
    return [status, said.getvalue()]

print(json.dumps({
    "failed": failed,
    "app": run(),
    "backup": run("backup", "nowhere"),
    "excel": run("read", sys.argv[2]),
    "doctor": run("doctor"),
}))
"""


@pytest.mark.slow
def test_without_the_optional_parts_the_library_and_the_shell_work_and_name_what_is_missing() -> None:
    modules = sorted({module for extra in EXTRAS.values() for module in extra.packages.values()})
    book = ROOT / "assets" / "samples" / "reviews.xlsx"
    ran = subprocess.run(
        [sys.executable, "-c", BARE, ",".join(modules), str(book)], capture_output=True, text=True, cwd=ROOT
    )
    assert ran.returncode == 0, ran.stderr[-2000:]
    result = json.loads(ran.stdout.splitlines()[-1])
    assert set(result["failed"].values()) <= {"sqlalchemy"} and "fit" not in result["failed"]
    assert set(result["failed"]) <= {"backup", "restore", "labelstudio", "gc"}  # what a server does
    for name, extra in (("app", "app"), ("backup", "app"), ("excel", "excel")):
        status, said = result[name]
        assert status == 2 and f"pip install 'candid-labels[{extra}]'" in said and "Traceback" not in said
    assert result["doctor"][0] == 0


def test_pyproject_has_what_is_said_of_the_parts() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]

    def names(lines: list[str]) -> set[str]:
        return {re.split(r"[\[<>=;]", line)[0] for line in lines} - {"candid-labels"}

    assert names(project["dependencies"]) == set(CORE)
    parts = project["optional-dependencies"]
    assert {name: names(lines) for name, lines in parts.items()} == {
        name: set(extra.packages) for name, extra in EXTRAS.items()
    }
    pinned = {re.split(r"[\[=]", line)[0] for line in (ROOT / "requirements.txt").read_text().splitlines()}
    assert set(CORE) | set(EXTRAS["app"].packages) <= pinned

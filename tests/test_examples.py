"""The files of examples/ run as they stand, and show what they say."""

from __future__ import annotations

import importlib.util
import io
from contextlib import redirect_stdout
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tools.notebooks import notebook

ROOT = Path(__file__).parents[1]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


def example(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / "examples" / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@cache
def outcome(name: str) -> tuple[Any, str]:
    """What an example returns, and what it prints."""
    with redirect_stdout(io.StringIO()) as said:
        result = example(name).main()
    return result, said.getvalue()


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_every_example_runs_and_says_what_came_out(path: Path) -> None:
    assert any(character.isdigit() for character in outcome(path.stem)[1])


def test_every_example_stands_on_the_page_of_examples_and_is_a_notebook() -> None:
    page = (ROOT / "docs" / "examples.md").read_text("utf-8")
    for path in EXAMPLES:
        assert f'--8<-- "examples/{path.name}"' in page and f"(notebooks/{path.stem}.ipynb)" in page
        words, _, code = notebook(path.read_text("utf-8"))["cells"]
        assert words["cell_type"] == "markdown" and words["source"]
        compile(code["source"], path.name, "exec")


def test_features_help_the_votes() -> None:
    right = outcome("votes_to_labels")[0]
    assert right["votes and features"] > max(right["majority"], right["Dawid-Skene"])


def test_the_certificate_spares_most_of_the_looking() -> None:
    assert outcome("certificate")[0] < 1797 / 2


def test_a_method_of_ones_own_is_an_estimator() -> None:
    assert example("own_method").Centroids(passes=3).get_params()["passes"] == 3
    assert outcome("own_method")[0] > 1 / 2.19  # better than a guess among the candidates

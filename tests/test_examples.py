"""The files of examples/ run as they stand, and show what they say."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

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


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_every_example_runs_and_says_what_came_out(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    example(path.stem).main()
    assert any(character.isdigit() for character in capsys.readouterr().out)


def test_every_example_stands_on_the_page_of_examples_and_is_a_notebook() -> None:
    page = (ROOT / "docs" / "examples.md").read_text("utf-8")
    for path in EXAMPLES:
        assert f'--8<-- "examples/{path.name}"' in page and f"(notebooks/{path.stem}.ipynb)" in page
        words, _, code = notebook(path.read_text("utf-8"))["cells"]
        assert words["cell_type"] == "markdown" and words["source"]
        compile(code["source"], path.name, "exec")


def test_features_help_the_votes() -> None:
    right = example("votes_to_labels").main()
    assert right["votes and features"] > max(right["majority"], right["Dawid-Skene"])


def test_the_certificate_spares_most_of_the_looking() -> None:
    assert example("certificate").main() < 1797 / 2


def test_a_method_of_ones_own_is_an_estimator() -> None:
    own = example("own_method")
    assert own.Centroids(passes=3).get_params()["passes"] == 3
    assert own.main() > 1 / 2.19  # better than a guess among the candidates

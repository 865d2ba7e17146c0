"""The Python example of README.md prints what stands below it; Run and Test have one command each."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

README = (Path(__file__).resolve().parents[1] / "README.md").read_text("utf-8")


def test_the_python_example_prints_what_it_says(capsys: pytest.CaptureFixture[str]) -> None:
    (code,) = re.findall(r"^```python\n(.*?)^```$", README, flags=re.DOTALL | re.MULTILINE)
    exec(compile(code, "README.md", "exec"), {})
    said, stated = (
        re.search(r"(\d+)% of the labels", text) for text in (capsys.readouterr().out, code.split("# ")[-1])
    )
    assert said is not None and stated is not None
    assert abs(int(said[1]) - int(stated[1])) <= 1  # threads and versions of torch round otherwise


@pytest.mark.parametrize("section", ["Run", "Test"])
def test_a_section_has_one_command(section: str) -> None:
    text = README.partition(f"\n## {section}\n")[2].partition("\n## ")[0]
    assert re.findall(r"^```.*$", text, flags=re.MULTILINE) == ["```sh", "```"]

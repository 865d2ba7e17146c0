"""Files of annotation tools: exact round trips of everything each can hold."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given

from pll import formats
from pll.dataset import PartialLabelDataset
from pll.formats import FORMATS
from pll.formats.limitations import cannot_hold
from pll.formats.tools.records import RecordFormat

from .strategies import check_held, rich_datasets

TOOLS = [name for name, form in FORMATS.items() if isinstance(form, RecordFormat)]


@pytest.mark.parametrize("name", TOOLS)
@given(data=rich_datasets())
def test_writing_then_reading_gives_everything_back(
    name: str, tmp_path_factory: pytest.TempPathFactory, data: PartialLabelDataset
) -> None:
    path: Path = tmp_path_factory.mktemp("round") / f"data{FORMATS[name].suffixes[0]}"
    formats.write(data, path, name)
    lost = cannot_hold(data, FORMATS[name])
    is_noted = any(sentence.startswith("Which tool the file is for") for sentence in lost)
    assert is_noted or formats.detect(path).name == name
    check_held(formats.read(path, format=name), data, lost)

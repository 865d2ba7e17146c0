"""Parquet and its Hugging Face dialect: exact round trips, and files as others write them."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given

from pll import formats
from pll.dataset import PartialLabelDataset
from pll.formats import FORMATS
from pll.formats.limitations import cannot_hold

from .strategies import check_held, rich_datasets


@pytest.mark.parametrize("name", ["parquet", "huggingface"])
@given(data=rich_datasets())
def test_writing_then_reading_gives_everything_back(
    name: str, tmp_path_factory: pytest.TempPathFactory, data: PartialLabelDataset
) -> None:
    path: Path = tmp_path_factory.mktemp("round") / "data.parquet"
    formats.write(data, path, name)
    check_held(formats.read(path), data, cannot_hold(data, FORMATS[name]))

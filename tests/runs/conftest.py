"""Fixtures of the tests of runs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pll.runs.registry import RunRegistry
from tests.run_helpers import registry_in, write_data


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_data(tmp_path_factory.mktemp("data") / "small.npz")


@pytest.fixture
def registry(tmp_path: Path) -> Iterator[RunRegistry]:
    with registry_in(tmp_path / "runs") as registry:
        yield registry

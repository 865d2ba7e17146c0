"""What pages share."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import streamlit as st

from pll import formats
from pll.catalog.sources import Source
from pll.dataset import PartialLabelDataset
from pll.runs.config import DataConfig, RunConfig
from pll.runs.jobs import default_board
from pll.runs.process import PerProcess
from pll.runs.registry import default_registry
from pll.synthesis import Flip
from pll.ui import session
from pll.ui.data import loader
from pll.ui.review import service


def test_the_published_test_part_is_still_known_once_candidates_are_made(tmp_path: Path) -> None:
    is_test = np.array([False, False, False, True])
    data = PartialLabelDataset(np.eye(4, dtype=np.float32), y=np.array([0, 1, 0, 1]), is_test=is_test)
    formats.write(data, tmp_path / "data.npz")
    choice = DataConfig(Source("data.npz", str(tmp_path / "data.npz")), flip=Flip("binomial", 0.5))
    made = loader.with_candidates(choice)
    assert len(made) == 4
    assert made.is_test is not None
    np.testing.assert_array_equal(made.is_test, is_test)


def test_who_empties_the_caches_of_streamlit_takes_no_run_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLL_HOME", str(tmp_path))
    PerProcess.forget_all()
    run = session.registry().start(
        RunConfig(Source("iris"), params={"epochs": 100_000}, flip=Flip("binomial", 0.5)), paused=True
    )
    try:
        board, database = default_board(), service.database()
        st.cache_resource.clear()
        assert session.registry().get(run.id) is run
        assert default_board() is board and service.database() is database
        session.registry().get(run.id).stop()
        run.join(60)
        assert not run.is_alive() and run.snapshot().state == "stopped"
    finally:
        default_registry().stop_all()
        run.stop()
        run.join(60)
        PerProcess.forget_all()

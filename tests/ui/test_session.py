"""What pages share."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from pll import formats
from pll.analysis.protocol import Flip
from pll.catalog.sources import Source
from pll.dataset import PartialLabelDataset
from pll.ui import session


def test_the_published_test_part_is_still_known_once_candidates_are_made(tmp_path: Path) -> None:
    is_test = np.array([False, False, False, True])
    data = PartialLabelDataset(np.eye(4, dtype=np.float32), y=np.array([0, 1, 0, 1]), is_test=is_test)
    formats.write(data, tmp_path / "data.npz")
    choice = session.Choice(Source("data.npz", str(tmp_path / "data.npz")), Flip("binomial", 0.5))
    made = session.dataset_with_candidates(choice)
    assert len(made) == 4
    assert made.is_test is not None
    np.testing.assert_array_equal(made.is_test, is_test)

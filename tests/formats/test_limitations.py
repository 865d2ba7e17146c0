"""What a format cannot hold."""

from __future__ import annotations

import numpy as np
import pytest

from pll.candidates import CandidateSets
from pll.dataset import PartialLabelDataset
from pll.formats import limitations


def test_the_names_of_many_classes_are_listed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls, listed = [], limitations.class_names

    def counted(dataset: PartialLabelDataset) -> list[str]:
        calls.append(1)
        return listed(dataset)

    monkeypatch.setattr(limitations, "class_names", counted)
    sets = CandidateSets.from_lists([[0, 4], [1], [4]], n_classes=6)
    data = PartialLabelDataset(X=np.zeros((3, 1), dtype=np.float32), candidates=sets)
    assert limitations.used_names(data) == {"0", "1", "4"}
    assert len(calls) == 1  # one list for each class would be c² steps

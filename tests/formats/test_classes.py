"""Classes merged, renamed and dropped: what is proposed, what becomes of data, and that nothing else changes."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pll.annotations.data import Annotations
from pll.candidates import CandidateSets
from pll.catalog.sources import Source
from pll.dataset import PartialLabelDataset
from pll.formats.classes import with_classes
from pll.io import from_json

from .strategies import named_sets

MESSY = """text,Anna,Bert,true_label
one two three four,PRAISE,praise,praise
five six seven eight,Praise ,N/A,praise
nine ten eleven twelve,late,late,late
more words are here,N/A,?,
again some words here,late,damaged,damaged
"""
TIDY = {"PRAISE": "praise", "Praise": "praise", "N/A": None, "?": None}


@pytest.fixture
def messy(tmp_path: Path) -> Path:
    (tmp_path / "messy.csv").write_text(MESSY)
    return tmp_path / "messy.csv"


def test_the_source_keeps_it_and_the_file_stays(messy: Path) -> None:
    source = Source(messy.name, str(messy), classes=dict(TIDY))
    assert source.load().class_names == ("damaged", "late", "praise")
    assert from_json(Source, asdict(source)).load().class_names == ("damaged", "late", "praise")
    plain, apart = (Source(messy.name, str(messy), options={"merge": merge}).load() for merge in (True, False))
    assert plain.n_classes == 3 and {"N/A", "?"}.isdisjoint(plain.class_names)  # they are no answer
    assert apart.n_classes == 5
    assert messy.read_text() == MESSY


NAMES = ("a", "b", "c", "d")


@given(
    st.lists(st.sets(st.integers(0, 3), min_size=1), min_size=1, max_size=12),
    st.dictionaries(st.sampled_from(NAMES), st.sampled_from((*NAMES, "e", None)), max_size=4),
)
def test_every_set_is_what_becomes_of_its_labels(sets: list[set[int]], edits: dict[str, str | None]) -> None:
    n = len(sets)
    prior = np.concatenate([np.arange(1, len(s) + 1) / sum(range(1, len(s) + 1)) for s in sets]).astype(np.float32)
    pairs = [(row, label) for row, s in enumerate(sets) for label in sorted(s)]
    annotations = Annotations([r for r, _ in pairs], [0] * len(pairs), [j for _, j in pairs], n, NAMES, ("ann",))
    data = PartialLabelDataset(
        X=np.zeros((n, 1), dtype=np.float32),
        candidates=CandidateSets.from_lists([sorted(s) for s in sets], 4, NAMES),
        prior=prior,
        annotations=annotations,
    )
    becomes = {name: edits.get(name, name) for name in NAMES}
    left = {name for name in becomes.values() if name is not None}
    if not left:
        return
    tidy = with_classes(data, edits)
    wanted = [{becomes[NAMES[j]] for j in s} - {None} for s in sets]
    assert named_sets(tidy) == [found or left for found in wanted]
    assert tidy.prior is not None
    totals = np.bincount(tidy.sets().rows, weights=tidy.prior)
    np.testing.assert_allclose(totals, 1, rtol=1e-5)

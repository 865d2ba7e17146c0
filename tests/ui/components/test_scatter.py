"""What the map sends: a place, a label and a confidence an example."""

from __future__ import annotations

import numpy as np
import pytest

from pll.candidates import CandidateSets
from pll.synthesis import flip_binomial
from pll.ui.components.canvas import raw
from pll.ui.components.scatter import NAMED, map_payload
from pll.weights import restricted_softmax, sharpness


def decoded(sent: bytes, dtype: str) -> np.ndarray:
    return np.frombuffer(sent, dtype=dtype)


@pytest.mark.parametrize("c", [10, 400])
def test_the_browser_gets_what_it_draws(c: int) -> None:
    sets = flip_binomial(np.arange(2000) % c, c, 0.1, seed=0)
    sharp = sharpness(restricted_softmax(np.random.default_rng(1).normal(size=sets.nnz), sets), sets)
    places = np.random.default_rng(0).integers(0, 65_536, (2000, 2)).astype(np.uint16)
    for rows in (np.arange(2000), np.arange(5, 2000, 7)):
        sent = map_payload(raw(places[rows]), sharp, sets, rows)
        np.testing.assert_array_equal(decoded(sent["points"], "<u2").reshape(-1, 2), places[rows])
        assert sent["labelSize"] == (1 if len(sent["names"]) <= 256 else 2)
        labels = decoded(sent["labels"], f"<u{sent['labelSize']}")
        named = [sent["names"][label] for label in labels]
        assert named == [sets.class_names[label] for label in sharp.identified[rows]]
        np.testing.assert_allclose(decoded(sent["confidence"], "u1") / 255, sharp.confidence[rows], atol=0.003)
        numbers = np.arange(len(rows)) if sent["examples"] is None else decoded(sent["examples"], "<u4")
        np.testing.assert_array_equal(numbers, rows)
        counts = np.bincount(labels)
        assert (np.diff(counts[sent["legend"]]) <= 0).all()


def test_names_and_texts_of_few_examples_only() -> None:
    for n, named in ((3, True), (NAMED + 1, False)):
        sets = CandidateSets.from_lists([[0, 1]] * n, n_classes=2)
        sharp = sharpness(sets.uniform_weights(), sets)
        places = np.zeros((n, 2), dtype=np.uint16)
        ids = np.array([f"id {i}" for i in range(n)])
        texts = np.array([f"text {i}" for i in range(n)], dtype=object)
        sent = map_payload(raw(places), sharp, sets, np.arange(n), ids=ids, texts=texts)
        assert ("ids" in sent) == ("texts" in sent) == named

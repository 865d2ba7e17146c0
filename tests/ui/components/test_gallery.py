"""The gallery's Python half: who is shown, and what is sent."""

from __future__ import annotations

import base64
import io
import json

import numpy as np
from PIL import Image

from pll.candidates import CandidateSets
from pll.colors import class_colours
from pll.dataset import PartialLabelDataset
from pll.ui.components.gallery import MOST_BARS, THUMBNAIL, gallery_payload, picture_uri
from pll.weights import restricted_softmax, sharpness

NAMES = ("ant", "bee", "cat", "dog", "eel", "fox", "gnu", "hen")


def data(n: int = 3, shape: tuple[int, ...] = (3, 4, 4)) -> PartialLabelDataset:
    rng = np.random.default_rng(0)
    sets = CandidateSets.from_lists([list(range(8)), [1, 2], [3]][:n], 8, NAMES)
    return PartialLabelDataset(
        rng.uniform(size=(n, *shape)).astype(np.float32), sets, np.array([7, -1, 3])[:n], kind="image"
    )


def weights(sets: CandidateSets) -> np.ndarray:
    return restricted_softmax(sets.indices.astype(np.float32), sets)  # later labels are likelier


def decoded(uri: str) -> Image.Image:
    return Image.open(io.BytesIO(base64.b64decode(uri.split(",")[1])))


def test_the_largest_weights_come_first_and_the_rest_is_counted():
    examples = data()
    payload = gallery_payload(
        examples, np.array([0, 1]), weights(examples.sets()), selected=1, decided={1: "decided: cat"}
    )
    first, second = payload["cards"]
    assert [label for label, _ in first["bars"]] == [7, 6, 5, 4, 3, 2] and first["more"] == 8 - MOST_BARS
    assert sum(share for _, share in second["bars"]) == 1000
    assert (first["truth"], second["truth"]) == (7, None)
    assert (first["decided"], second["decided"]) == ("", "decided: cat")
    assert payload["names"] == {str(j): NAMES[j] for j in range(1, 8)}  # only those drawn
    assert payload["colours"]["7"] == class_colours(8)[7]
    assert payload["bars"] == MOST_BARS
    json.dumps(payload)


def test_small_pictures_keep_their_pixels_and_large_ones_become_small():
    small = picture_uri(data(shape=(1, 28, 28)), 0)
    assert small is not None and small.startswith("data:image/png") and decoded(small).size == (28, 28)
    large = picture_uri(data(shape=(3, 300, 200)), 0)
    assert large is not None and large.startswith("data:image/jpeg")
    assert max(decoded(large).size) == THUMBNAIL
    assert len(large) < 12_000  # a dozen stay far below what an update may weigh


def test_who_is_shown():
    sets = CandidateSets.from_lists([[0, 1], [0, 1], [0, 1], [0, 1]], 2)
    sharp = sharpness(np.array([0.9, 0.1, 0.6, 0.4, 0.2, 0.8, 0.5, 0.5], dtype=np.float32), sets)
    assert sharp.wrong(np.array([1, 1, 1, -1])).tolist() == [0, 1]  # unknown truth is never wrong

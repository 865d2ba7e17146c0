from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pll.dataset import PartialLabelDataset
from pll.errors import UserError
from pll.features.images import PixelFeatures
from pll.images import Pictures
from tests.features.helpers import folder_of, saved_and_loaded, table, words


def picture(height: int, width: int, channels: int = 1, seed: int = 0) -> np.ndarray:
    shape = (height, width) if channels == 1 else (height, width, 3)
    return np.random.default_rng(seed).integers(0, 256, shape, dtype=np.uint8)


class TestPictures:
    def test_small_ones_of_one_size_stay_as_they_are(self, tmp_path: Path) -> None:
        pictures = [picture(5, 7, seed=k) for k in range(3)]
        data = folder_of(pictures, tmp_path / "p")
        made = saved_and_loaded(PixelFeatures().fit(data), tmp_path)
        np.testing.assert_array_equal(made.transform(data), np.stack(pictures)[:, None] / np.float32(255))

    def test_others_become_squares(self, tmp_path: Path) -> None:
        data = folder_of([picture(40, 50), picture(9, 30, 3)], tmp_path / "p")
        made = PixelFeatures().fit(data)
        assert made.transform(data).shape == (2, 3, 32, 32)
        (note,) = made.notes(data)
        assert "32 × 32" in note
        large = folder_of([picture(65, 65)] * 2, tmp_path / "q")
        assert PixelFeatures().fit(large).transform(large).shape == (2, 1, 32, 32)
        assert PixelFeatures.from_argument("11").fit(large).transform(large).shape == (2, 1, 11, 11)

    def test_a_damaged_one_is_named(self, tmp_path: Path) -> None:
        data = folder_of([picture(4, 4)] * 2, tmp_path / "p")
        made = PixelFeatures().fit(data)
        (tmp_path / "p" / "1.png").write_bytes(b"not a picture")
        with pytest.raises(UserError, match=r"'1.png' is not a picture"):
            made.transform(data)


class TestArrays:
    @pytest.mark.parametrize("scale", [1, 255])
    def test_images_that_are_arrays(self, scale: int, tmp_path: Path) -> None:
        X = np.random.default_rng(0).integers(0, 256, (4, 3, 5, 5)) / 255 * scale
        data = PartialLabelDataset(X.astype(np.float32), kind="image")
        result = saved_and_loaded(PixelFeatures().fit(data), tmp_path).transform(data)
        np.testing.assert_allclose(result, X / scale, atol=1e-6)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (table([[1]]), "data has no pictures; bring them in a ZIP archive or a folder"),
        (
            PartialLabelDataset(np.empty((1, 0)), pictures=Pictures(words("https://x.org/1.png"))),
            "only the addresses of pictures",
        ),
        (PartialLabelDataset(np.empty((0, 1, 2, 2))), "learnt from at least one"),
    ],
)
def test_without_pictures_there_are_no_pixels(data: PartialLabelDataset, message: str) -> None:
    with pytest.raises(UserError, match=message):
        PixelFeatures().fit(data)

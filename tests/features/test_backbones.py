from __future__ import annotations

import hashlib
import io
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import requests
import torch

from pll.catalog.entry import Checksum
from pll.errors import UserError
from pll.features import backbones
from pll.features.backbones import BackboneFeatures, weights_of
from pll.images import torchvision
from tests.features.helpers import folder_of, saved_and_loaded
from tests.features.test_images import picture

SMALL = "mobilenet_v3_small"


@pytest.fixture(scope="module")
def random_weights() -> bytes:
    """A file of weights as torchvision publishes them, of a network nobody trained."""
    torch.manual_seed(0)
    file = io.BytesIO()
    torch.save(torchvision().models.get_model(SMALL, weights=None).state_dict(), file)
    return file.getvalue()


@pytest.fixture
def data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, pictures small enough for a test, and no network."""

    def offline(*_: object, **__: object) -> None:
        raise requests.ConnectionError("no network in tests")

    monkeypatch.setenv("PLL_DATA", str(tmp_path / "data"))
    monkeypatch.delenv("PLL_DATA_PATH", raising=False)
    monkeypatch.setattr(requests.Session, "get", offline)
    monkeypatch.setattr(backbones, "INPUT_SIDE", 32)
    return tmp_path / "data"


@pytest.fixture
def weights_folder(data_folder: Path, random_weights: bytes, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The weights where a person would put them; their checksum is that of the random ones."""
    own = replace(weights_of(SMALL), checksum=Checksum("sha256", hashlib.sha256(random_weights).hexdigest()[:8]))
    monkeypatch.setattr(backbones, "weights_of", lambda backbone: own)
    file = data_folder / "weights" / own.name
    file.parent.mkdir(parents=True)
    file.write_bytes(random_weights)
    return file


def test_one_is_offered_without_the_library_of_networks(monkeypatch: pytest.MonkeyPatch) -> None:
    """It takes seconds to import, and the Data page asks for every table which features fit."""
    monkeypatch.setattr(backbones, "torchvision", None)
    assert BackboneFeatures(SMALL).reads == ("pictures",)
    with pytest.raises(UserError, match="resnet17"):
        BackboneFeatures("resnet17")


def test_gives_what_stands_before_the_last_layer(weights_folder: Path, random_weights: bytes, tmp_path: Path) -> None:
    data = folder_of([picture(32, 32, 3, seed=k) for k in range(3)], tmp_path / "p")
    made = saved_and_loaded(BackboneFeatures(SMALL, device="cpu").fit(data), tmp_path)
    X = made.transform(data)
    assert X.shape == (3, 1024) and X.dtype == np.float32 and made.feature_names[-1] == f"{SMALL} 1024"
    network = torchvision().models.get_model(SMALL, weights=None).eval()
    network.load_state_dict(torch.load(io.BytesIO(random_weights), weights_only=True))
    colours = torch.from_numpy(np.stack([picture(32, 32, 3, seed=k) for k in range(3)])).permute(0, 3, 1, 2) / 255
    scaled = torchvision().transforms.functional.normalize(colours, [0.485, 0.456, 0.406], [0.229, 0.224, 0.225])
    with torch.inference_mode():
        whole = network(scaled)
        again = network.classifier[-1](torch.from_numpy(X))
    torch.testing.assert_close(again, whole, rtol=1e-4, atol=1e-5)


def test_batches_change_nothing_and_progress_is_reported(
    weights_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = folder_of([picture(8, 9, seed=k) for k in range(5)], tmp_path / "p")
    made = BackboneFeatures(SMALL, device="cpu").fit(data)
    whole = made.transform(data)
    monkeypatch.setattr(backbones, "PICTURES_AT_ONCE", 2)
    calls: list[tuple[str, int, int | None]] = []
    np.testing.assert_allclose(made.transform(data, lambda *call: calls.append(call)), whole, rtol=1e-4, atol=1e-5)
    assert calls == [("pictures", 2, 5), ("pictures", 4, 5), ("pictures", 5, 5)]


class TestWithoutWeights:
    def test_offline_it_says_which_file_belongs_where(self, data_folder: Path, tmp_path: Path) -> None:
        data = folder_of([picture(8, 8)], tmp_path / "p")
        with pytest.raises(UserError) as caught:
            BackboneFeatures("resnet18").fit(data)
        message = str(caught.value)
        assert "The network resnet18 needs resnet18-f37072fd.pth" in message and "no network in tests" in message
        assert "https://download.pytorch.org/models/resnet18-f37072fd.pth" in message
        assert str(data_folder / "weights") in message

    def test_another_file_is_refused(self, weights_folder: Path, tmp_path: Path) -> None:
        weights_folder.write_bytes(b"a login page")
        with pytest.raises(UserError, match=r"is not the published file: its SHA-256 is .*, and it should begin with"):
            BackboneFeatures(SMALL).fit(folder_of([picture(8, 8)], tmp_path / "p"))
        assert weights_folder.exists()  # a person put it there

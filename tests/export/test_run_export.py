from __future__ import annotations

import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from pll.cli.main import main
from pll.errors import UserError
from pll.export.parts import EXPORTS
from pll.export.run_export import export_run, export_source
from pll.methods.persistence import load_model
from pll.runs import fit_loop, run_data
from pll.runs.folder import RunFolder
from pll.training.metrics import StopTraining
from tests.run_helpers import config, write_data

SAMPLES = Path(__file__).parents[2] / "assets" / "samples"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    root = tmp_path_factory.mktemp("run")
    folder = RunFolder(root / "run")
    folder.create(config(write_data(root / "small.npz"), name="my labels"))
    fit_loop.FitLoop(folder).train()
    return folder


def test_what_is_exported_is_what_the_run_found(folder: RunFolder) -> None:
    source = export_source(folder)
    splits = run_data.load_splits(folder.config())
    assert source.name == "my labels"
    assert source.labels.candidates == splits.train.sets()
    assert source.labels.ids.tolist() == splits.train.row_ids.tolist()
    np.testing.assert_array_equal(source.labels.weights, np.load(folder.history / "final.npy"))
    np.testing.assert_array_equal(
        source.estimator.predict(splits.train.X), load_model(folder.path).predict(splits.train.X)
    )
    assert source.metrics == folder.state()["metrics"]


@pytest.mark.usefixtures("no_programs")  # test_bundle.py has them
def test_everything_is_exported_loose_and_in_one_archive(folder: RunFolder, tmp_path: Path) -> None:
    done: list[tuple[int, int]] = []
    result = export_run(folder, tmp_path / "out", progress=lambda at, total, label: done.append((at, total)))
    names = {file.name for file in result.files}
    assert names >= {"labels.csv", "model.safetensors", "model.json"}
    assert all(file.exists() for file in result.files)
    assert done[-1][0] == done[-1][1]
    exported = next(file for file in result.files if file.name == "labels.csv")
    own = pd.read_csv(folder.path / "labels.csv", dtype=str, keep_default_na=False)
    pd.testing.assert_frame_equal(pd.read_csv(exported, dtype=str, keep_default_na=False), own)
    with zipfile.ZipFile(result.zip_path) as archive:
        assert {Path(name).name for name in archive.namelist()} == names


def test_a_stopped_run_has_a_result_until_it_goes_on(folder: RunFolder, tmp_path: Path) -> None:
    stopped = RunFolder(tmp_path / "run")
    stopped.create(folder.config())
    count = iter(range(100))

    def hook() -> None:
        if next(count) == 9:
            raise StopTraining

    fit_loop.FitLoop(stopped, hook=hook).train()
    assert export_source(stopped).metrics["epoch"] == 1

    def look() -> None:  # the labels on the disk are no longer those of the model that is being trained
        with pytest.raises(UserError, match="no result yet"):
            export_source(stopped)
        raise StopTraining

    fit_loop.FitLoop(stopped, hook=look).train()


@pytest.fixture
def empty_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    """The two programs are there, with nothing in them."""
    for name in ("torch-program", "onnx"):
        monkeypatch.setitem(EXPORTS, name, replace(EXPORTS[name], build=lambda source, path: path.touch()))


@pytest.mark.parametrize(
    ("sample", "reads", "models"),
    [("reviews.csv", "texts", 1), ("flowers.csv", "", 1), ("digits.imagezip.zip", "pictures", 3)],
)
def test_an_exported_folder_predicts_as_the_run_does(
    tmp_path: Path, request: pytest.FixtureRequest, sample: str, reads: str, models: int
) -> None:
    """`models`: files of the model, with its two programs or without them; what these say is in test_bundle.py."""
    request.getfixturevalue("no_programs" if models == 1 else "empty_programs")
    given, run, out = str(SAMPLES / sample), str(tmp_path / "run"), tmp_path / "out"
    assert main(["fit", given, "--epochs", "2", "--batch-size", "8", "--threads", "1", "--out", run]) == 0
    out.mkdir()
    (out / "features.json").write_text("of an earlier export, of another model")
    (out / "other-export.zip").touch()
    result = export_run(RunFolder(Path(run)), out)
    names = [file.name for file in result.files]
    assert not result.notes and ("features.json" in names) == bool(reads) == (out / "features.json").exists()
    for model, predictions in ((run, "a.csv"), (str(out), "b.csv")):
        assert main(["predict", model, given, "--out", str(tmp_path / predictions)]) == 0
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()
    told = (out / "README.md").read_text(encoding="utf-8")
    assert ("python -m pll predict" in told) == bool(reads)
    about = RunFolder(Path(run)).about()["data"]["warnings"]
    assert [line.removeprefix("- ") for line in told.splitlines() if line.removeprefix("- ") in about] == about
    assert told.count(f"features as features.json makes them of {reads} (see there)") == (models if reads else 0)
    with zipfile.ZipFile(result.zip_path) as archive:
        assert archive.namelist() == names

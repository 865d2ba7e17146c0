"""Research .mat files: round trips, both orientations, and the two real files."""

from __future__ import annotations

import io
import subprocess
import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
import scipy.io
import scipy.sparse
from hypothesis import given, settings

from pll import formats
from pll.dataset import PartialLabelDataset
from pll.formats import FORMATS, ReadOptions
from pll.formats.arrays import hdf5worker
from pll.formats.limitations import cannot_hold

from .strategies import datasets, same

REAL = Path(__file__).parents[3] / "shared" / "data"


def saved(folder: Path, *, compressed: bool = True, **variables: Any) -> PartialLabelDataset:
    scipy.io.savemat(folder / "data.mat", variables, do_compression=compressed)
    return formats.read(folder / "data.mat")


@given(data=datasets(class_names=None, extras=False))
@settings(deadline=None)
def test_writing_then_reading_gives_everything_back(
    tmp_path_factory: pytest.TempPathFactory, data: PartialLabelDataset
) -> None:
    path = tmp_path_factory.mktemp("round") / "data.mat"
    assert cannot_hold(data, FORMATS["mat"]) == []
    formats.write(data, path)
    back = formats.read(path)
    assert same(back.X, data.X) and same(back.y, data.y)
    assert back.candidates == data.candidates
    if data.candidates is not None or data.y is not None:
        assert back.class_names == data.class_names


@pytest.mark.parametrize("compressed", [True, False])
@pytest.mark.parametrize("sparse", [True, False])
@pytest.mark.parametrize("transposed", [True, False])
@pytest.mark.parametrize("dtype", [np.float64, np.uint8, np.bool_])
def test_every_way_a_target_is_stored(
    tmp_path: Path, compressed: bool, sparse: bool, transposed: bool, dtype: Any
) -> None:
    sets = np.array([[1, 1, 0, 0], [0, 1, 0, 0], [0, 1, 0, 1]], dtype=dtype)  # 3 examples, 4 classes
    truth = np.array([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 0]], dtype=dtype)
    stored = []
    for matrix in (sets, truth):
        turned = matrix.T if transposed else matrix
        stored.append(scipy.sparse.csc_matrix(turned) if sparse else turned)
    data = saved(
        tmp_path, compressed=compressed, data=np.ones((3, 2)), partial_target=stored[0], target=stored[1], other=1
    )
    assert data.sets().mask().tolist() == sets.astype(bool).tolist()
    assert data.y is not None and data.y.tolist() == [0, 1, -1]
    assert any("1 of 3 examples have no true label" in note for note in data.notes)
    assert any("other" in note for note in data.notes)


# ---- the layouts in use ----------------------------------------------------------------------------------------------

X = np.arange(12.0).reshape(6, 2)
SETS = np.array([[1, 1, 0], [0, 1, 1], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1]])  # 6 examples, 3 classes
TRUTH = np.eye(3)[[0, 1, 0, 1, 2, 2]]


def cells(*matrices: list[int]) -> np.ndarray:
    """A cell array (column) of row vectors."""
    return np.fromiter((np.array([one]) for one in matrices), dtype=object, count=len(matrices))[:, None]


FOLDS = {"tr": cells([3, 4, 5, 6], [1, 2, 5, 6]), "te": cells([1, 2], [3, 4])}

LAYOUTS: dict[str, dict[str, Any]] = {
    "a": {"data": X, "partial_target": SETS.T, "target": TRUTH.T},
    "a, turned": {"data": X.T, "partial_target": SETS.T, "target": TRUTH.T},
    "b": {"features": X, "p_labels": SETS, "logitlabels": TRUTH} | FOLDS,
    "c": {"X": X, "Y_P": SETS, "Y": TRUTH},
    "d": {"train_data": X[:4], "train_p_target": SETS[:4].T, "test_data": X[4:], "test_target": TRUTH[4:].T},
    "d, turned": {"train_data": X[:4], "train_p_target": SETS[:4], "test_data": X[4:], "test_target": TRUTH[4:]},
    "d, more": {"train_data": X[:4], "train_p_target": SETS[:4].T, "train_target": TRUTH[:4].T,
                "test_data": X[4:], "test_p_target": SETS[4:].T, "test_target": TRUTH[4:].T},
    "f": {"dataset": {"data": X, "partial_target": SETS.T, "target": TRUTH.T, "about": "words"}},
    "f, sparse": {"S": {"features": X, "p_labels": scipy.sparse.csc_matrix(SETS), "logitlabels": TRUTH} | FOLDS},
    "g, one-hot": {"data": X, "label": TRUTH},
    "g, columns": {"data": X, "target": TRUTH.T},
    "g, numbers": {"data": X, "labels": TRUTH.argmax(axis=1)[:, None] + 1.0},
    "numbers": {"data": X, "partial_target": SETS.T, "label": TRUTH.argmax(axis=1)[None] + 1},
}  # fmt: skip


def check_layout(name: str, data: PartialLabelDataset) -> None:
    assert same(data.X, X.astype(np.float32))
    assert data.y is not None
    labelled = slice(4, None) if name in ("d", "d, turned") else slice(None)
    assert data.y[labelled].tolist() == TRUTH.argmax(axis=1)[labelled].tolist()
    if name.startswith("g"):
        assert data.candidates is None
        assert data.class_names == (("1", "2", "3") if name == "g, numbers" else ("0", "1", "2"))
        return
    trained = slice(None, 4) if name in ("d", "d, turned") else slice(None)
    assert data.sets().mask()[trained].tolist() == SETS.astype(bool)[trained].tolist()
    marks = [False] * 4 + [True] * 2 if name.startswith("d") else None
    assert (None if data.is_test is None else data.is_test.tolist()) == marks


def in_this_process(command: list[str], **_: Any) -> subprocess.CompletedProcess[str]:
    """Run `hdf5worker.py` without its process, which takes longer to start than to read."""
    with pytest.MonkeyPatch.context() as patched, redirect_stdout(io.StringIO()) as told:
        patched.setattr(sys, "argv", command[2:])
        patched.setattr("resource.setrlimit", lambda *limits: None)
        return subprocess.CompletedProcess(command, hdf5worker.main(), told.getvalue())


@pytest.mark.parametrize("name", list(LAYOUTS))
def test_every_layout_as_version_73(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if name != "a":
        monkeypatch.setattr("pll.formats.arrays.mat.subprocess.run", in_this_process)
    write_73(tmp_path / "data.mat", LAYOUTS[name])
    assert formats.detect(tmp_path / "data.mat").name == "mat"
    check_layout(name, formats.read(tmp_path / "data.mat"))


def write_73(path: Path, variables: dict[str, Any]) -> None:
    """As MATLAB's save(…, '-v7.3'): axes the other way round, sparse matrices, structs and cells as it keeps them."""
    with h5py.File(path, "w", userblock_size=512) as file:

        def put(group: h5py.Group, name: str, value: Any) -> None:
            if isinstance(value, dict):
                inside = group.create_group(name)
                inside.attrs["MATLAB_class"] = np.bytes_("struct")
                for field, one in value.items():
                    put(inside, field, one)
            elif scipy.sparse.issparse(value):
                inside = group.create_group(name)
                inside.attrs["MATLAB_sparse"] = np.uint64(value.shape[0])
                inside.attrs["MATLAB_class"] = np.bytes_("double")
                for part, array in (("data", value.data), ("ir", value.indices), ("jc", value.indptr)):
                    inside.create_dataset(part, data=array)
            elif isinstance(value, str):
                chars = group.create_dataset(name, data=np.frombuffer(value.encode("utf-16le"), np.uint16)[:, None])
                chars.attrs["MATLAB_class"] = np.bytes_("char")
            elif value.dtype == object:
                cells = [file["#refs#"].create_dataset(f"{name}{k}", data=one.T) for k, one in enumerate(value.ravel())]
                array = np.array([[one.ref for one in cells]], dtype=h5py.ref_dtype)
                group.create_dataset(name, data=array).attrs["MATLAB_class"] = np.bytes_("cell")
            else:
                group.create_dataset(name, data=np.asarray(value, dtype=float).T, chunks=True, compression="gzip")

        file.create_group("#refs#")
        for name, value in variables.items():
            put(file, name, value)
    with path.open("r+b") as raw:
        raw.write(b"MATLAB 7.3 MAT-file, Platform: GLNXA64".ljust(124) + b"\x00\x02IM")


def hostile_73(folder: Path, make: Callable[[h5py.File], Any]) -> Path:
    path = folder / "bad.mat"
    with h5py.File(path, "w", userblock_size=512) as file:
        make(file)
    with path.open("r+b") as raw:
        raw.write(b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM")
    return path


def test_nothing_outside_the_file_is_read(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_bytes(bytes(range(64)))
    with h5py.File(tmp_path / "other.h5", "w") as file:
        file["data"] = np.ones((2, 2))
    layout = h5py.VirtualLayout((2, 2), dtype=float)
    layout[:] = h5py.VirtualSource(str(tmp_path / "other.h5"), "data", shape=(2, 2))
    ways: list[tuple[Callable[[h5py.File], Any], str]] = [
        (
            lambda file: file.create_dataset("data", (8, 8), np.uint8, external=[(str(secret), 0, 64)]),
            "in another file",
        ),
        (lambda file: file.__setitem__("data", h5py.ExternalLink(str(tmp_path / "other.h5"), "/data")), "another file"),
        (lambda file: file.create_virtual_dataset("data", layout), "in another file"),
    ]
    for make, words in ways:
        with pytest.raises(formats.UserError, match=rf"bad\.mat: .*{words}"):
            formats.read(hostile_73(tmp_path, make))


def test_a_file_that_grows_to_fill_the_memory_is_refused(tmp_path: Path) -> None:
    path = hostile_73(
        tmp_path, lambda file: file.create_dataset("data", (20_000, 20_000), float, chunks=True, compression=1)
    )
    assert path.stat().st_size < 10_000
    with pytest.raises(formats.UserError, match=r"bad\.mat: .*made to fill the memory"):
        formats.read(path)


def test_the_library_of_hdf5_may_die_without_us(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_73(tmp_path / "data.mat", LAYOUTS["a"])
    dying = tmp_path / "worker.py"
    dying.write_text("import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)\n")
    monkeypatch.setattr("pll.formats.arrays.mat._WORKER", dying)
    with pytest.raises(
        formats.UserError, match=r"data\.mat: The HDF5 inside cannot be read \(the HDF5 library gave up"
    ):
        formats.read(tmp_path / "data.mat")
    dying.write_text("import time\ntime.sleep(30)\n")
    monkeypatch.setattr("pll.formats.arrays.mat.SECONDS", 0.5)
    with pytest.raises(formats.UserError, match="took more than"):
        formats.read(tmp_path / "data.mat")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"labels": np.array([[1, 2, 3, 1.5, 1, 1]])}, "Entry 3 of the true labels in labels .*is 1.5"),
        (
            {"labels": np.array([[1, 2, 3, 1, 1, 9]]), "partial_target": SETS.T},
            "Row 5 of labels is 9; there are 3",
        ),
        ({"train_data": X[:4], "test_data": np.ones((2, 3)), "data": None}, "differ in their number of features"),
        ({"te": cells([7])}, None),
        ({"data": None, "one": {"data": X}, "two": {"data": X}}, "variable data .*missing; found one, two"),
    ],
)
def test_what_does_not_fit_together(tmp_path: Path, changes: dict[str, Any], words: str | None) -> None:
    variables = {name: value for name, value in ({"data": X} | changes).items() if value is not None}
    scipy.io.savemat(tmp_path / "data.mat", variables)
    if words is None:
        with pytest.raises(formats.UserError, match="rows count from 1 to 6"):
            formats.read(tmp_path / "data.mat", options=ReadOptions(fold=1))
        return
    with pytest.raises(formats.UserError, match=words):
        formats.read(tmp_path / "data.mat")


@pytest.mark.parametrize(
    ("file", "shape", "classes", "candidates", "singletons"),
    [("lost.mat", (1122, 108), 16, 2.23, 0.06), ("BirdSong.mat", (4998, 38), 13, 2.18, 0.33)],
)
def test_the_real_files(file: str, shape: tuple[int, int], classes: int, candidates: float, singletons: float) -> None:
    if not (REAL / file).exists():
        pytest.skip(f"{REAL / file} is not here; it comes with the shared data, not with the project")
    data = formats.read(REAL / file)
    sets = data.sets()
    assert data.X.shape == shape and data.n_classes == classes and data.name == file
    assert round(sets.nnz / len(sets), 2) == candidates
    assert round(float((sets.sizes == 1).mean()), 2) == singletons
    assert data.y is not None and (data.y >= 0).all() and len(data.truth_outside()) == 0
    raw = scipy.io.loadmat(REAL / file)  # an independent reading
    assert np.array_equal(raw["partial_target"].toarray().T.astype(bool), sets.mask())
    assert np.array_equal(raw["target"].toarray().argmax(axis=0), data.y)


def test_votes_of_workers_are_told_by_the_truth(tmp_path: Path) -> None:
    """0 is no answer, where classes count from 1."""
    rolls, y = np.random.default_rng(0), np.arange(80) % 5 + 1
    answers = np.where(rolls.random((80, 6)) < 0.7, y[:, None], rolls.integers(1, 6, (80, 6)))
    answers[rolls.random((80, 6)) < 0.5] = 0
    data = saved(tmp_path, X=rolls.normal(size=(80, 4)), gt=y[:, None], answers=answers)
    assert data.annotations is not None and data.annotations.n_answers == (answers > 0).sum()
    assert data.y is not None and [data.class_names[k] for k in data.y] == list(map(str, y))
    first = data.annotations.labels[data.annotations.rows == 0]
    assert sorted(data.class_names[k] for k in first) == sorted(map(str, answers[0][answers[0] > 0]))


def test_a_cell_array_of_as_many_texts_as_classes_names_them(tmp_path: Path) -> None:
    rolls, y, names = np.random.default_rng(0), np.arange(40) % 3, ["Zaunkönig", "wren", "jay"]
    marks = np.eye(3)[y]
    marks[::2, 1] = 1
    cells = np.array(names, dtype=object)[:, None]
    data = saved(tmp_path, data=rolls.normal(size=(40, 5)), partial_target=marks.T, target=np.eye(3)[y].T, birds=cells)
    assert data.class_names == tuple(names) and any("birds" in note for note in data.notes)
    known = saved(tmp_path, X=rolls.normal(size=(40, 5)), y=(y + 1)[:, None], kinds=cells, more=cells[:2])
    assert known.y is not None and known.class_names == tuple(names) and known.y.tolist() == y.tolist()
    assert "Variables not used: more." in known.notes


def test_a_matrix_as_wide_as_the_people_that_are_named_is_their_votes(tmp_path: Path) -> None:
    """Of as many names as the largest number 0 is none, as MATLAB counts; else it is a class."""
    rng = np.random.default_rng(10)
    votes = np.where(rng.random((30, 3)) < 0.2, 0, np.arange(30)[:, None] % 4)
    people = np.array(["a", "b", "c"], dtype=object)
    given = {"features": rng.normal(size=(30, 2)), "scoring": votes, "scorerNames": people}
    data = saved(tmp_path, **given, stageNames=np.array(["W", "N1", "REM"], dtype=object))
    assert data.class_names == ("W", "N1", "REM") and data.annotations is not None
    assert data.annotations.annotator_names == ("a", "b", "c")
    assert len(data.annotations.labels) == (votes > 0).sum()
    data = saved(tmp_path, **given)
    assert len(data.class_names) == 4 and data.annotations is not None and len(data.annotations.labels) == votes.size


@pytest.mark.parametrize("truth", ["true_region", "y"])
def test_the_truth_beside_features_of_any_name_tells_the_votes(tmp_path: Path, truth: str) -> None:
    rng = np.random.default_rng(4)
    true = rng.integers(1, 5, (60, 1))
    votes = np.where(rng.random((60, 6)) < 0.6, true, rng.integers(0, 5, (60, 6)))
    regions = np.array([["North", "South", "East", "West"]], dtype=object)
    data = saved(tmp_path, formants=rng.normal(500, 90, (60, 3)), votes=votes, regions=regions, **{truth: true})
    assert data.class_names == ("North", "South", "East", "West") and data.y is not None
    assert np.array_equal(data.y, true.ravel() - 1)
    assert data.annotations is not None and data.annotations.n_answers == (votes > 0).sum()


def test_features_may_be_sparse_beside_what_is_called_as_the_truth(tmp_path: Path) -> None:
    data = saved(
        tmp_path,
        data=scipy.sparse.csc_matrix(np.eye(12)),
        real_kind=np.ones((12, 1)),
        target=np.eye(3)[:, [0, 1, 2] * 4],
    )
    assert data.X.shape == (12, 12) and data.class_names == ("0", "1", "2")


def test_votes_names_and_the_truth_may_be_fields_of_a_struct(tmp_path: Path) -> None:
    rng = np.random.default_rng(15)
    true = np.arange(30)[:, None] % 3 + 1
    votes = np.where(rng.random((30, 4)) < 0.2, 0, true)
    names = {
        "annotatorIDs": np.array([*"abcd"], dtype=object),
        "species": np.array(["frog", "newt", "toad"], dtype=object),
    }
    given = {"features": rng.normal(size=(30, 2)), "annotations": votes, "groundTruth": true, **names}
    data = saved(tmp_path, ponds={**given, "readme": "0: nobody listened"})
    assert data.class_names == ("frog", "newt", "toad") and data.annotations is not None
    assert data.annotations.annotator_names == (*"abcd",) and data.annotations.n_answers == (votes > 0).sum()
    assert data.y is not None and data.y.tolist() == (true.ravel() - 1).tolist()


def test_a_matrix_called_as_labels_are_is_the_votes_beside_the_gold_ones(tmp_path: Path) -> None:
    """Of as many names as the largest number 0 is none, of the gold ones too."""
    rng, true = np.random.default_rng(11), np.arange(40) % 3 + 1
    votes = np.where(rng.random((40, 4)) < 0.8, true[:, None], rng.integers(0, 4, (40, 4)))
    gold = np.where(rng.random(40) < 0.3, true, 0)
    cells = {name: np.array([*some], dtype=object)[:, None] for name, some in (("k", "xyz"), ("annotators", "abcd"))}
    data = saved(tmp_path, X=rng.normal(size=(40, 3)), labels=votes, gold=gold[:, None], **cells)
    assert data.class_names == ("x", "y", "z") and data.annotations is not None
    assert data.annotations.annotator_names == (*"abcd",) and data.annotations.n_answers == (votes > 0).sum()
    assert data.y is not None and data.y.tolist() == (gold - 1).tolist()


def test_the_only_measured_numbers_are_the_features_whatever_they_are_called(tmp_path: Path) -> None:
    rng = np.random.default_rng(12)
    votes = np.where(rng.random((40, 3)) < 0.2, 0, np.arange(40)[:, None] % 4)
    cells = {"scorers": np.array(["KL", "MB", "SW"], dtype=object), "stages": np.array([*"WNR"], dtype=object)}
    data = saved(tmp_path, bandpower=rng.normal(size=(40, 5)), scores=votes, readme="0 is none", **cells)
    assert data.X.shape == (40, 5) and data.class_names == ("W", "N", "R") and data.annotations is not None
    assert data.annotations.annotator_names == ("KL", "MB", "SW") and "The features are in bandpower." in data.notes
    with pytest.raises(formats.UserError, match="features"):
        saved(tmp_path, one=rng.normal(size=(40, 5)), two=rng.normal(size=(40, 2)), scores=votes)


def test_votes_need_no_features(tmp_path: Path) -> None:
    rng, true = np.random.default_rng(13), np.arange(60) % 3 + 1
    votes = np.where(rng.random((60, 5)) < 0.8, true[:, None], rng.integers(1, 4, (60, 5)))
    votes[rng.random((60, 5)) < 0.4] = 0
    kinds = np.array(["oak", "ash", "elm"], dtype=object)[:, None]
    data = saved(tmp_path, replies=votes.astype(float), gold=true[:, None], kinds=kinds)
    assert data.X.shape == (60, 0) and data.class_names == ("oak", "ash", "elm") and data.y is not None
    assert data.annotations is not None and data.annotations.n_answers == (votes > 0).sum()
    with pytest.raises(formats.UserError, match="missing; found gold, replies, sizes"):
        saved(tmp_path, replies=votes, gold=true[:, None], sizes=rng.normal(size=(60, 4)) * [[1, 2, np.nan, 3]])


@pytest.mark.parametrize("in_struct", [True, False])
def test_cells_that_are_no_texts_stay_unused(tmp_path: Path, in_struct: bool) -> None:
    known = {"X": np.random.default_rng(4).normal(size=(20, 3)), "y": np.arange(20)[:, None] % 3 + 1}
    some = np.empty(3, dtype=object)
    some[:] = [np.eye(2), "x", 1.0]
    fields = {**known, "some": some}
    data = saved(tmp_path, **({"d": fields} if in_struct else fields))
    assert data.X.shape == (20, 3) and data.y is not None and "Variables not used: some." in data.notes

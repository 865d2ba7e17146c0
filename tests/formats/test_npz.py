"""data.npz: exact round trips, and every shape the contract allows."""

from __future__ import annotations

import io
import shutil
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

from pll import formats
from pll.catalog.sources import source_of
from pll.dataset import UNKNOWN, PartialLabelDataset
from pll.errors import UserError
from pll.formats import FORMATS, Results
from pll.formats.limitations import cannot_hold
from pll.io import is_mapped

from .strategies import datasets, same


def saved(folder: Path, **arrays: Any) -> PartialLabelDataset:
    np.savez(folder / "data.npz", **arrays)
    return formats.read(folder / "data.npz", accept=("chance",))


@given(data=st.one_of(datasets(), datasets(missing_cells=True), datasets(images=True)))
@settings(deadline=None)
def test_writing_then_reading_gives_everything_back(
    tmp_path_factory: pytest.TempPathFactory, data: PartialLabelDataset
) -> None:
    path = tmp_path_factory.mktemp("round") / "data.npz"
    assert cannot_hold(data, FORMATS["npz"]) == []
    formats.write(data, path)
    back = formats.read(path)
    assert back.fingerprint == data.fingerprint
    assert (back.class_names, back.feature_names, back.kind) == (data.class_names, data.feature_names, data.kind)
    assert back.candidates == data.candidates
    assert same(back.y, data.y) and same(back.is_test, data.is_test)


def test_nothing_is_unpickled(tmp_path: Path) -> None:
    class Bomb:
        def __reduce__(self) -> tuple[Any, ...]:
            return (Path.touch, (tmp_path / "ran",))

    np.savez(tmp_path / "data.npz", X=np.ones((1, 1)), ids=np.array([Bomb()], dtype=object))
    with pytest.raises(formats.UserError, match=r"data\.npz: The array ids holds Python objects"):
        formats.read(tmp_path / "data.npz")
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("name", ["X", "features", "candidates", "y", "votes"])
def test_an_array_without_rows_is_named(tmp_path: Path, name: str) -> None:
    with pytest.raises(UserError, match=rf"The array {name} is a single value; .* {name}="):
        saved(tmp_path, **({} if name == "features" else {"X": np.ones((3, 2))}) | {name: np.array(1.0)})


@pytest.mark.parametrize("candidates", ["candidates", "candidate_labels"])
def test_labels_of_a_part_are_the_truth_where_they_are_as_many(tmp_path: Path, candidates: str) -> None:
    y, sets = np.array([0, 1, 2, 0] * 5), np.tile([[1, 1, 0], [0, 1, 0], [0, 1, 1], [1, 0, 1]], (5, 1))
    arrays = {"X_train_pca": np.random.default_rng(0).random((20, 3)), candidates: sets}
    data = saved(tmp_path, **arrays, y_train=y, y_test=y[:4])
    assert data.y is not None and data.y.tolist() == y.tolist()


def unpacked(folder: Path, **arrays: Any) -> Path:
    """A folder of the arrays of a data.npz."""
    folder.mkdir()
    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", array)
    return folder


def test_a_folder_of_the_arrays_is_the_same_data_and_stays_in_its_files(tmp_path: Path) -> None:
    arrays: dict[str, Any] = {
        "X": np.arange(6, dtype=np.float32).reshape(3, 2),
        "indptr": np.array([0, 2, 3, 5]),
        "indices": np.array([0, 2, 1, 0, 1], dtype=np.int32),
        "y": np.array([0, 1, -1]),
        "class_names": np.array(["a", "b", "c"]),
        "ids": np.array(["x", "y", "z"]),
    }
    whole = saved(tmp_path, **arrays)
    folder = unpacked(tmp_path / "data", **arrays)
    for path in (folder, folder / "X.npy"):
        data = formats.read(path)
        assert data.fingerprint == whole.fingerprint and data.candidates == whole.candidates
        assert is_mapped(data.X) and data.row_ids.tolist() == ["x", "y", "z"]
    assert source_of(str(folder / "X.npy")).path == str(folder.resolve())
    source = source_of(str(folder)).copied_to(tmp_path / "run")
    assert source.load().fingerprint == whole.fingerprint and not (tmp_path / "run").exists()
    np.save(folder / "y.npy", np.array([1, 1, 1]))
    with pytest.raises(UserError, match="has changed"):
        source.load()


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        (
            {"X": np.ones((2, 1), dtype=np.float32), "indptr": [0, 1, 2], "indices": [0, -1]},
            "Row 1: label -1 is unknown",
        ),
        ({"X": np.ones((2, 1), dtype=np.float32), "y": np.array([None, 1])}, "Python objects"),
        ({"X": np.array([[1.0], [np.nan]], dtype=np.float32)}, "Row 1"),
        ({"X": np.ones((5, 3))}, "float32, row by row, it stays in the file"),
        ({"X": np.asfortranarray(np.ones((5, 3), dtype=np.float32))}, "by columns"),
    ],
)
def test_bad_folders_are_refused(tmp_path: Path, arrays: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        formats.read(unpacked(tmp_path / "data", **arrays), max_bytes=50)


def test_a_file_that_is_cut_off_is_refused(tmp_path: Path) -> None:
    folder = unpacked(tmp_path / "data", X=np.ones((100, 3), dtype=np.float32))
    content = (folder / "X.npy").read_bytes()
    (folder / "X.npy").write_bytes(content[:-5])
    with pytest.raises(UserError, match="X is damaged"):
        formats.read(folder)


X = np.arange(12.0).reshape(6, 2)
MASK = np.array([[1, 1, 0], [0, 1, 1], [1, 0, 1], [1, 1, 0], [0, 1, 1], [1, 0, 1]], bool)
Y = np.array([0, 1, 2, 0, 1, 2])


@pytest.mark.parametrize(
    "arrays",
    [
        {"features": X, "partial_labels": MASK.astype("u1"), "true_labels": Y},
        {"data": X, "partial_target": MASK.T, "target": np.eye(3)[Y].T},
        {"X": X, "S": MASK, "Y": np.eye(3, dtype=int)[Y]},
        {"Features": X, "candidate_sets": MASK, "labels": Y.reshape(-1, 1)},
    ],
)
def test_usual_names_of_arrays_are_known(tmp_path: Path, arrays: dict[str, Any]) -> None:
    data = saved(tmp_path, **arrays)
    assert data.candidates is not None and data.y is not None
    assert (data.X == X).all() and (data.candidates.mask() == MASK).all() and data.y.tolist() == Y.tolist()
    assert len(data.notes) == sum(name not in ("X", "y") for name in arrays)


def test_words_are_classes(tmp_path: Path) -> None:
    words = np.array(["dog", "cat", "", "dog", "cat", "cow"])
    data = saved(tmp_path, X=X, labels=words)
    assert data.y is not None and data.class_names == ("cat", "cow", "dog")
    assert data.y.tolist() == [2, 0, UNKNOWN, 2, 0, 1]
    named = saved(tmp_path, X=X, y=words, candidates=MASK, class_names=["dog", "cat", "cow"])
    assert named.y is not None and named.y.tolist() == [0, 1, UNKNOWN, 0, 1, 2]
    spelled = saved(tmp_path, X=X, y=np.array(["dog", "Dog ", "", "cat", "cat", "dog"]))
    assert spelled.class_names == ("cat", "dog") and spelled.y is not None and spelled.y.tolist() == [1, 1, -1, 0, 0, 1]
    with pytest.raises(UserError, match="Row 5, column y: the label 'cow' is unknown"):
        saved(tmp_path, X=X, y=words, class_names=["dog", "cat"])


def test_parts_are_joined_and_several_true_labels_are_candidates(tmp_path: Path) -> None:
    parts = {"x_train": X[:4], "y_train": MASK[:4], "x_test": X[4:], "y_test": np.eye(3)[Y[4:]]}
    data = saved(tmp_path, **parts)
    assert data.is_test is not None and data.is_test.tolist() == [False] * 4 + [True] * 2
    assert (data.sets().mask()[:4] == MASK[:4]).all() and data.y is not None
    assert data.y.tolist() == [UNKNOWN] * 4 + Y[4:].tolist() and (data.X == X).all()
    again = saved(tmp_path, train_data=X[:4], train_labels=Y[:4], test_data=X[4:], test_labels=Y[4:])
    assert again.y is not None and (again.y == Y).all()
    with pytest.raises(UserError, match="differ in their number of features"):
        saved(tmp_path, **parts | {"x_test": np.ones((2, 3))})
    with pytest.raises(UserError, match="do not fit together"):
        saved(tmp_path, **parts | {"y_test": np.eye(4)[Y[4:]]})


@pytest.mark.parametrize("first", ["examples", "models"])
def test_shares_of_several_models_are_a_vote_each(tmp_path: Path, first: str) -> None:
    shares = np.random.default_rng(0).dirichlet([1, 1, 1], (20, 4))
    shares[3, 1] = np.nan
    written = shares if first == "examples" else shares.swapaxes(0, 1)
    data = saved(tmp_path, X=np.ones((20, 2)), probs=written, model_names=list("abcd"), class_names=["x", "y", "z"])
    votes = data.annotations
    assert votes is not None and votes.annotator_names == tuple("abcd") and votes.n_answers == 79
    assert votes.scores is not None and votes.scores[0] == pytest.approx(shares[0, 0].max())
    assert votes.labels[0] == shares[0, 0].argmax() and not any("not used" in note for note in data.notes)


def test_shares_of_another_shape_are_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="examples × models × classes"):
        saved(tmp_path, X=np.ones((20, 2)), probs=np.ones((20, 3)) / 2, model_names=["a"], class_names=["x", "y", "z"])


@pytest.mark.parametrize("is_named", [True, False])
def test_counts_of_votes_or_else_shares_under_any_name_are_the_labels(tmp_path: Path, is_named: bool) -> None:
    rolls = np.random.default_rng(0)
    counts = rolls.multinomial(50, [0.6, 0.3, 0.1], 20)
    named = {"class_names": ["x", "y", "z"]} if is_named else {}
    arrays = {"images": rolls.integers(0, 9, (20, 8, 8, 3)), "true_labels": np.arange(20) % 3, "some": rolls.random(20)}
    data = saved(tmp_path, human=counts, model=counts / 50, **arrays, **named)
    assert data.prior is not None and data.candidates is not None and data.y is not None
    expected = [counts[0, k] / 50 for k in data.candidates[0]]
    assert data.prior[: len(expected)] == pytest.approx(expected) and data.n_classes == 3
    assert "Arrays not used: model, some." in data.notes and any("The array human was" in one for one in data.notes)
    alone = saved(tmp_path, probs=counts / 50, **named)
    assert alone.prior is not None and alone.prior[: len(expected)] == pytest.approx(expected)
    unread = np.array([{"a": 1}] * 20, dtype=object)
    for other in (counts[:19], counts[:, :2], counts - 9, unread):
        assert saved(tmp_path, human=other, **arrays, **named).candidates is None


def test_a_matrix_of_labelling_functions_is_votes(tmp_path: Path) -> None:
    L = np.array([[0, -1], [1, 1], [-1, -1], [0, 1], [1, -1], [0, 0]])
    for more in ({}, {"X": X}):
        data = saved(tmp_path, L=L, lf_names=["short", "greeting"], text=np.array(list("abcdef")), **more)
        votes = data.annotations
        assert votes is not None and data.texts is not None
        assert votes.annotator_names == ("short", "greeting") and votes.n_answers == (L >= 0).sum()
        assert data.texts.tolist() == list("abcdef") and data.class_names == ("0", "1")


def test_a_matrix_of_votes_needs_no_names(tmp_path: Path) -> None:
    L = np.array([[0, -1], [1, 1], [-1, -1], [0, 1], [1, -1], [0, 0]])
    np.save(tmp_path / "L.npy", L)
    for data in (saved(tmp_path, L=L), saved(tmp_path, L_train=L, Y_train=L[:, 0]), formats.read(tmp_path / "L.npy")):
        assert data.annotations is not None and data.annotations.n_answers == (L >= 0).sum()
        assert data.class_names == ("0", "1") and (data.y is None or data.y.tolist() == L[:, 0].tolist())
    far = saved(tmp_path, votes=np.where(L < 0, 99, L))
    assert far.class_names == ("0", "1", "99")  # which an odd reading then asks about


@pytest.mark.parametrize("kind", ["csr", "csc", "coo"])
@pytest.mark.parametrize("is_zip", [True, False])
def test_arrays_in_files_with_names_of_their_own(tmp_path: Path, kind: str, is_zip: bool) -> None:
    folder = tmp_path / "release"
    folder.mkdir()
    scipy.sparse.save_npz(folder / "X_counts.npz", scipy.sparse.coo_array(X).asformat(kind))
    scipy.sparse.save_npz(folder / "S_candidates.npz", scipy.sparse.coo_array(MASK).asformat(kind))
    np.save(folder / "y_true.npy", Y)
    (folder / "label_names.txt").write_text("ant\nbee\ncow\n")
    (folder / "README").write_text("rows are in one order")
    path = Path(shutil.make_archive(str(tmp_path / "t"), "zip", tmp_path, "release")) if is_zip else folder
    data = formats.read(path)
    assert data.y is not None and data.class_names == ("ant", "bee", "cow")
    assert (data.X == X).all() and (data.sets().mask() == MASK).all() and data.y.tolist() == Y.tolist()
    formats.give_back(path, tmp_path / "out.zip", Results(["1"], {"identified_label": ["bee"]}, "m"))
    assert formats.read(tmp_path / "out.zip").sets() == data.sets()


def test_a_sparse_matrix_is_a_matrix_and_a_zip_of_a_file_is_the_file(tmp_path: Path) -> None:
    scipy.sparse.save_npz(tmp_path / "s.npz", scipy.sparse.csr_array(MASK))
    assert (formats.read(tmp_path / "s.npz").sets().mask() == MASK).all()
    np.savez(tmp_path / "all.npz", X=X, candidates=MASK)
    with zipfile.ZipFile(tmp_path / "t.zip", "w") as archive:
        archive.write(tmp_path / "all.npz", "data.npz")
    assert (formats.read(tmp_path / "t.zip").sets().mask() == MASK).all()
    with np.load(tmp_path / "s.npz") as arrays:
        np.savez(tmp_path / "s.npz", **{**arrays, "indices": arrays["indices"] + 7})
    with pytest.raises(UserError, match="sparse matrix"):
        formats.read(tmp_path / "s.npz")


@pytest.mark.parametrize("has_features", [True, False])
def test_parts_of_labelling_functions_are_one_after_the_other(tmp_path: Path, has_features: bool) -> None:
    """Each with what it has: votes, true labels, features."""
    L = np.array([[0, -1], [1, 1], [2, 0], [-1, 2]])
    parts: dict[str, Any] = {
        "L_train": L,
        "L_dev": L[:2],
        "Y_dev": np.array([0, 1]),
        "L_test": L[1:],
        "Y_test": L[1:, 1],
    }
    if has_features:
        parts |= {f"X_{part}": np.ones((n, 3), dtype=np.float32) for part, n in (("train", 4), ("dev", 2), ("test", 3))}
    data = saved(tmp_path, **parts)
    votes = data.annotations
    assert votes is not None and (len(data), votes.n_annotators, votes.n_answers) == (9, 2, 14)
    assert data.X.shape == (9, 3 * has_features)
    assert data.y is not None and data.y.tolist() == [UNKNOWN] * 4 + [0, 1, 1, 0, 2]
    assert data.is_test is not None and data.is_test.tolist() == [False] * 6 + [True] * 3
    assert "The parts train, dev, test are the examples, one after the other." in data.notes


def test_a_part_without_votes_is_kept_and_parts_of_two_widths_are_refused(tmp_path: Path) -> None:
    L, X = np.array([[0, 1], [1, -1], [2, 2]]), np.ones((3, 2), dtype=np.float32)
    data = saved(tmp_path, L_train=L, X_train=X, X_test=X, Y_test=np.array([0, 1, 2]))
    assert data.annotations is not None and (len(data), data.annotations.n_answers) == (6, 5)
    with pytest.raises(UserError, match="L_train, L_dev differ in their width"):
        saved(tmp_path, L_train=L, L_dev=L[:, :1])


@pytest.mark.parametrize("sizes", [(50, 40), (50, 50)])
def test_numbered_arrays_alone_that_are_no_votes_lack_features(tmp_path: Path, sizes: tuple[int, int]) -> None:
    rolls = np.random.default_rng(0)
    with pytest.raises(UserError, match="X \\(the features\\) is missing; found label1, label2"):
        saved(tmp_path, label1=rolls.random(sizes[0]), label2=rolls.random(sizes[1]))


def test_numbered_labels_beside_pictures_are_a_voter_each(tmp_path: Path) -> None:
    rolls = np.random.default_rng(0)
    truth = rolls.integers(0, 3, 60)
    said = {f"random_label{k}": np.where(rolls.random(60) < 0.8, truth, rolls.integers(0, 3, 60)) for k in (1, 2, 3)}
    images = rolls.integers(0, 256, (60, 8, 8, 3)).astype(np.uint8)
    path = tmp_path / "t.npz"
    np.savez(path, images=images, clean_label=truth, worse_label=truth, label_names=np.array(["a", "b", "c"]), **said)
    data = formats.read(path)
    assert data.annotations is not None and data.annotations.annotator_names == (*said,)
    assert data.X.shape == (60, 3, 8, 8) and data.class_names == ("a", "b", "c")
    assert data.y is not None and data.y.tolist() == truth.tolist()
    assert any("worse_label" in note for note in data.notes)
    np.savez(path, X=rolls.random((60, 4)), y=truth, label_1=rolls.random((60, 4)), label_2=rolls.integers(0, 2, 60))
    data = formats.read(path)
    assert data.annotations is None and any("label_1, label_2" in note for note in data.notes)


@pytest.mark.parametrize("has_truth", [True, False])
def test_votes_as_wide_as_there_are_classes_may_be_counts_of_them(tmp_path: Path, has_truth: bool) -> None:
    names, rng = np.array(["road", "sea", "wood"]), np.random.default_rng(0)
    y = rng.integers(0, 3, 40)
    counts = rng.multinomial(2, np.ones(3) / 3, 40) + 5 * np.eye(3, dtype=int)[y]
    counts[::2] *= 2 if has_truth else 1  # else the same number of people looked at each
    arrays = {"X": rng.normal(size=(40, 4)), "votes": counts, "class_names": names}
    arrays |= {"y_true": y} if has_truth else {}
    np.savez(path := tmp_path / "crowd.npz", **arrays)
    data = formats.read(path)
    assert data.annotations is None and data.class_names == ("road", "sea", "wood")
    assert [data.sets().names(row) for row in range(40)] == [[*names[one > 0]] for one in counts]


@pytest.mark.parametrize("right", [0.35, 0.6, 0.9])
@pytest.mark.parametrize("known", [0, 2, 8, 40])
@pytest.mark.parametrize("n", [5, 10, 40])
def test_votes_of_as_many_people_as_there_are_classes_are_no_counts(
    tmp_path: Path, right: float, known: int, n: int
) -> None:
    for seed in range(5):
        rng = np.random.default_rng(seed)
        y = np.resize(np.arange(3), n)
        votes = np.where(rng.random((n, 3)) < right, y[:, None], rng.integers(0, 3, (n, 3)))
        votes[0] = 2, 1, 2
        arrays = {"X": rng.normal(size=(n, 4)), "votes": votes, "class_names": np.array(["road", "sea", "wood"])}
        np.savez(path := tmp_path / "crowd.npz", **arrays, y=np.where(np.arange(n) < known, y, -1))
        found = formats.read(path, accept=("chance", "disagreement", "apart", "copies", "no-answer", "leak"))
        assert found.annotations is not None and found.annotations.n_answers == 3 * n


def test_votes_that_are_words_or_none_at_all_are_refused_in_words(tmp_path: Path) -> None:
    names, path = np.array(["road", "sea"]), tmp_path / "crowd.npz"
    np.savez(path, X=np.zeros((4, 1)), votes=names[[[0, 1], [1, 0], [1, 1], [0, 0]]], class_names=names)
    with pytest.raises(UserError, match="Votes must be whole numbers"):
        formats.read(path)
    np.savez(path, X=np.zeros((0, 4)), votes=np.zeros((0, 2), int), class_names=names)
    with pytest.raises(UserError, match="at least one"):
        formats.read(path)


def test_labels_under_any_name_are_told_by_their_numbers(tmp_path: Path) -> None:
    rolls, y = np.random.default_rng(0), np.arange(60) % 4
    measured = rolls.normal(size=(60, 3))
    marks = (rolls.random((60, 4)) < 0.3).astype(np.uint8)
    marks[np.arange(60), y] = 1
    sets = saved(tmp_path, X=measured, y=y, box=marks)
    assert sets.candidates is not None and sets.candidates.sizes.tolist() == marks.sum(axis=1).tolist()
    votes = np.where(rolls.random((60, 5)) < 0.7, y[:, None], rolls.integers(-1, 4, (60, 5)))
    said = saved(tmp_path, X=measured, y=y, box=votes).annotations
    assert said is not None and said.n_annotators == 5 and said.n_answers == (votes >= 0).sum()
    by_chance = {"marks": np.roll(marks, 1, axis=1), "said": rolls.integers(-1, 4, (60, 5))}
    data = saved(tmp_path, X=measured, y=y, **by_chance)
    assert data.candidates is None and "Arrays not used: marks, said." in data.notes


def test_the_only_measurements_beside_votes_are_learnt_from(tmp_path: Path) -> None:
    rolls, y = np.random.default_rng(0), np.arange(60) % 4
    people = {f"random_label{k}": np.where(rolls.random(60) < 0.8, y, (y + 1) % 4) for k in (1, 2, 3)}
    data = saved(tmp_path, clean_label=y, resnet=rolls.normal(size=(60, 7)), **people)
    assert data.X.shape == (60, 7) and data.annotations is not None
    two = saved(tmp_path, clean_label=y, resnet=rolls.normal(size=(60, 7)), clip=rolls.normal(size=(60, 5)), **people)
    assert two.X.shape == (60, 0)  # which of them is for the user to say


def test_members_of_an_ensemble_come_first_or_second(tmp_path: Path) -> None:
    shares = np.random.default_rng(0).dirichlet([1, 1, 1], (5, 20))
    for probs in (shares, shares.swapaxes(0, 1)):
        votes = saved(tmp_path, probs=probs, labels=np.arange(20) % 3).annotations
        assert votes is not None and votes.n_annotators == 5 and len(votes.annotator_names) == 5


@pytest.mark.parametrize("names", [["annotators", "stages"], ["scorerNames", "stage_names"]])
def test_a_matrix_as_wide_as_the_people_that_are_named_is_their_votes(tmp_path: Path, names: list[str]) -> None:
    rng = np.random.default_rng(9)
    votes = rng.integers(-1, 3, (30, 4))
    votes[:4] = [[0] * 4, [1] * 4, [2] * 4, [-1, 0, 0, 0]]
    people, stages = np.array(["a", "b", "c", "d"]), np.array(["W", "N1", "REM"])
    data = saved(
        tmp_path, features=rng.normal(size=(30, 2)), scoring=votes, **dict(zip(names, (people, stages), strict=True))
    )
    assert data.class_names == ("W", "N1", "REM") and data.annotations is not None
    assert data.annotations.annotator_names == ("a", "b", "c", "d")
    assert len(data.annotations.labels) == (votes >= 0).sum()


def test_the_only_measurements_beside_sets_are_the_features_and_distinct_ids_the_ids(tmp_path: Path) -> None:
    spectra, sets = np.random.default_rng(1).normal(size=(9, 5)).astype(np.float32), np.eye(3, dtype=int).repeat(3, 0)
    named = {"candidates": sets, "sample_id": np.array([f"S{k}" for k in range(9)])}
    data = saved(tmp_path, spectra=spectra, wavelengths=np.arange(5.0), **named)
    assert data.X.shape == (9, 5) and data.ids is not None and data.ids[2] == "S2"
    with pytest.raises(UserError, match="features"):  # sets alone teach nothing
        saved(tmp_path, wavelengths=np.arange(5.0), **named)


def test_counts_beside_an_embedding_of_categories(tmp_path: Path) -> None:
    counts = np.eye(3, dtype=int).repeat(9, 0) * 7 + 1
    named = {
        "embedding": np.ones((27, 5)),
        "true_label": np.arange(3).repeat(9),
        "categories": np.array(["a", "b", "c"]),
    }
    data = saved(tmp_path, counts=counts, **named)
    assert data.X.shape == (27, 5) and data.class_names == ("a", "b", "c") and data.prior is not None


def test_features_of_a_training_part_may_be_called_more_than_that(tmp_path: Path) -> None:
    """As in LabelMe: the truth is that of the part, the votes are told by it, and a text names the classes."""
    rng, true = np.random.default_rng(3), np.arange(60) % 3
    votes = np.where(rng.random((60, 5)) < 0.6, -1, np.where(rng.random((60, 5)) < 0.8, true[:, None], 0))
    arrays = {"data_train_vgg16_pca": rng.normal(size=(60, 4)), "answers": votes, "labels_train": true}
    with zipfile.ZipFile(tmp_path / "prepared.zip", "w") as archive:
        for name, array in arrays.items():
            file = io.BytesIO()
            np.save(file, array)
            archive.writestr(f"LabelMe/{name}.npy", file.getvalue())
        archive.writestr("LabelMe/labels_names.txt", "coast\nforest\nstreet\n")
    data = formats.read(tmp_path / "prepared.zip")
    assert data.class_names == ("coast", "forest", "street") and data.X.shape == (60, 4)
    assert data.annotations is not None and data.annotations.n_answers == (votes >= 0).sum()
    assert data.y is not None and data.y.tolist() == true.tolist()


@pytest.mark.parametrize("features", ["data_train_vgg16", "X_train_pca"])
def test_candidates_of_the_whole_stay_beside_features_called_as_of_a_part(tmp_path: Path, features: str) -> None:
    true = np.arange(30) % 3
    arrays = {features: np.random.default_rng(2).normal(size=(30, 4)), "y_true": true}
    sets = np.eye(3, dtype=int)[true] | np.eye(3, dtype=int)[np.arange(30) // 10]
    with zipfile.ZipFile(tmp_path / "t.zip", "w") as archive:
        for name, array in {**arrays, "partial_targets": sets}.items():
            file = io.BytesIO()
            np.save(file, array)
            archive.writestr(f"set/{name}.npy", file.getvalue())
    data = formats.read(tmp_path / "t.zip")
    assert len(data) == 30 and data.candidates is not None and data.y is not None and data.y.tolist() == true.tolist()


@pytest.mark.parametrize("labels", ["candidates", "votes"])
def test_as_many_texts_as_there_are_classes_are_their_names(tmp_path: Path, labels: str) -> None:
    kept = {"candidates": np.eye(3, dtype=int).repeat(3, 0), "votes": np.arange(18).reshape(9, 2) % 3}[labels]
    named = {"X": np.zeros((9, 5)), "y": np.arange(9) % 3, "species": np.array(["amentata", "lugubris", "pullata"])}
    assert saved(tmp_path, **named, **{labels: kept}).class_names == ("amentata", "lugubris", "pullata")
    two = {"genera": np.array(["a", "b", "c"])}  # of two, none is known to be that
    assert saved(tmp_path, **named, **two, **{labels: kept}).class_names == ("0", "1", "2")


@pytest.mark.parametrize("form", ["train_{}", "{}_train"])
def test_a_training_part_may_say_so_before_or_after_any_usual_name(tmp_path: Path, form: str) -> None:
    sets, y = np.eye(3, dtype=int).repeat(3, 0), np.arange(3).repeat(3)
    arrays = {"data": np.arange(18.0).reshape(9, 2), "partial_labels": sets, "true_labels": y}
    data = saved(tmp_path, **{form.format(name): array for name, array in arrays.items()})
    assert data.y is not None and data.candidates is not None and data.X.shape == (9, 2)


def test_votes_alone_are_a_matrix_that_often_says_the_truth(tmp_path: Path) -> None:
    """Whatever it is called, as LabelMe's `answers` beside `labels`; one that says another thing is none."""
    rng, y = np.random.default_rng(13), np.arange(60) % 4
    answers = np.where(rng.random((60, 9)) < 0.3, np.where(rng.random((60, 9)) < 0.8, y[:, None], 0), -1)
    names = np.array(["coast", "forest", "street", "open"])
    np.savez(tmp_path / "a.npz", answers=answers, labels=y, class_names=names)
    data = formats.read(tmp_path / "a.npz")
    assert data.annotations is not None and data.annotations.n_answers == (answers >= 0).sum()
    assert data.class_names == (*names,) and data.y is not None and data.y.tolist() == y.tolist()
    np.savez(tmp_path / "b.npz", answers=rng.integers(-1, 4, (60, 9)), labels=y)
    with pytest.raises(formats.UserError, match="features"):
        formats.read(tmp_path / "b.npz")


def test_words_that_are_one_each_name_the_examples(tmp_path: Path) -> None:
    votes = np.random.default_rng(0).integers(0, 3, (40, 1)).repeat(4, axis=1)
    names = np.array([f"#{k}" for k in range(40)])
    data = saved(
        tmp_path, L=votes, X=np.ones((40, 2)), issue=names, readme=np.array([f"line {k} of it" for k in range(40)])
    )
    assert data.row_ids.tolist() == names.tolist()


def test_votes_that_are_missing_are_no_reason_to_fail(tmp_path: Path) -> None:
    votes = np.arange(60).reshape(20, 3) % 4.0
    votes[0, 0] = np.nan
    data = saved(tmp_path, X=np.ones((20, 6)), votes=votes, species=np.array(["a", "b", "c", "d"]))
    assert (
        data.class_names == ("a", "b", "c", "d") and data.annotations is not None and data.annotations.n_answers == 59
    )


def test_votes_that_are_called_as_shares_are_votes(tmp_path: Path) -> None:
    rolls = np.random.default_rng(0)
    y = rolls.integers(0, 3, 60)
    votes = np.where(rolls.random((60, 4)) < 0.3, -1, y[:, None])
    data = saved(tmp_path, X=rolls.normal(size=(60, 3)), probs=votes, y=y)
    assert data.annotations is not None and data.annotations.n_answers == (votes >= 0).sum()
    assert any("probs" in note for note in data.notes)

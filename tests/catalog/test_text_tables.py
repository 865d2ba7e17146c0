"""Yeast, Dermatology and Synthetic Control; Texture; 20 Newsgroups."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path

import numpy as np
import pytest

from pll.catalog import CATALOG, newsgroups
from pll.errors import UserError

YEAST = "ADT1_YEAST  0.58  0.61  0.47  0.13  0.50  0.00  0.48  0.22  MIT\nX  1 2 3 4 5 6 7 8  ERL\n\n"


def write(tmp_path: Path, name: str, text: str) -> dict[str, Path]:
    (tmp_path / name).write_text(text, encoding="utf-8")
    return {name: tmp_path / name}


@pytest.mark.parametrize("header", ["", "Sequence_Name mcg gvh alm mit erl pox vac nuc class\n"])
def test_yeast_with_and_without_a_header(tmp_path: Path, header: str) -> None:
    data = CATALOG["yeast"].loader(write(tmp_path, "yeast.data", header + YEAST))
    np.testing.assert_allclose(data.X[0], [0.58, 0.61, 0.47, 0.13, 0.5, 0, 0.48, 0.22], rtol=1e-6)
    assert data.X[1].tolist() == [1, 2, 3, 4, 5, 6, 7, 8]
    assert data.y is not None and [data.class_names[code] for code in data.y] == ["MIT", "ERL"]
    assert data.kind == "table" and data.feature_names[0] == "mcg" and "left out" in data.notes[0]


@pytest.mark.parametrize("header", ["", ",".join(f"column {i}" for i in range(35)) + "\n"])
def test_dermatology_keeps_missing_ages_missing(tmp_path: Path, header: str) -> None:
    rows = [",".join([*map(str, range(33)), age, code]) for age, code in (("55", "2"), ("?", "6"))]
    data = CATALOG["dermatology"].loader(write(tmp_path, "dermatology.data", header + "\n".join(rows)))
    assert data.X[:, 33].tolist()[0] == 55 and np.isnan(data.X[1, 33]) and np.isnan(data.X).sum() == 1
    assert data.y is not None and data.y.tolist() == [1, 5]
    assert data.class_names[1] == "seboreic dermatitis" and data.feature_names[33] == "age"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "it has no rows"),
        ("Sequence_Name mcg gvh alm mit erl pox vac nuc class\n", "it has no rows"),
        (YEAST + "Y 1 2 3\n", "line 4 has 4 columns where 10 are expected"),
        (YEAST + "Y 1 2 3 4 5 6 7 x CYT\n", "line 4 holds 'x' where a number is expected"),
        (YEAST + "Y 1 2 3 4 5 6 7 inf CYT\n", "line 4 holds 'inf' where a number is expected"),
        (YEAST + "Y 1 2 3 4 5 6 7 8 WHAT\n", "line 4 ends in 'WHAT'; a class is one of CYT, NUC"),
        ("<html>\n", "line 1 has 1 columns"),
    ],
)
def test_another_file_is_refused_at_its_line(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(UserError, match=rf"yeast\.data is not the published file: {words}.*replace it"):
        CATALOG["yeast"].loader(write(tmp_path, "yeast.data", text))


# ---- 20 Newsgroups -----------------------------------------------------------------------------------------------

POSTS = {
    "20news-bydate-train/sci.space/2": "the rocket flew to the moon and the rocket landed",
    "20news-bydate-train/rec.autos/1": "my car needs a new engine and the car is red",
    "20news-bydate-train/rec.autos/10": "the engine of the red car caf\xe9",
    "20news-bydate-train/sci.space/3": "a moon rocket",
    "20news-bydate-test/sci.space/4": "the moon and an unseen word",
}


def news(path: Path, posts: dict[str, str]) -> dict[str, Path]:
    with tarfile.open(path / "20news-bydate.tar.gz", "w:gz") as archive:
        folder = tarfile.TarInfo("20news-bydate-train")
        folder.type = tarfile.DIRTYPE
        archive.addfile(folder)
        for name, text in posts.items():
            member = tarfile.TarInfo(name)
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text.encode("latin-1")))
    return {"20news-bydate.tar.gz": path / "20news-bydate.tar.gz"}


def test_newsgroups(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(newsgroups, "NEWSGROUPS_COMPONENTS", 2)
    paths = news(tmp_path, {**POSTS, "README": "no post", "20news-bydate-train/a/b/c": "neither"})
    data = newsgroups.load(paths)
    assert data.row_ids.tolist() == [
        *("test/sci.space/4", "train/rec.autos/1", "train/rec.autos/10"),
        *("train/sci.space/2", "train/sci.space/3"),
    ]
    assert data.class_names == ("rec.autos", "sci.space")
    assert data.y is not None and data.y.tolist() == [1, 0, 0, 1, 1]
    assert data.is_test is not None and data.is_test.tolist() == [True, False, False, False, False]
    assert data.X.shape == (5, 2) and np.isfinite(data.X).all()
    cars, space = data.X[data.y == 0], data.X[data.y == 1]
    assert min(a @ b for a in space for b in space) > max(abs(a @ b) for a in space for b in cars)

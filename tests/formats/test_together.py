"""Files that are brought at once."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from pll import formats
from pll.catalog.sources import Source, joined_votes
from pll.formats.reading import question
from pll.formats.together import in_one_archive
from pll.io import zipped

NAMES = [f"leaf_{k}.png" for k in range(12)]
WIDE = "image,ann,bob,cem\n" + "".join(
    f"{one},{'ab'[k % 2]},{'ab'[k % 2]},{'ab'[k % 3 % 2]}\n" for k, one in enumerate(NAMES)
)
LONG = "image,annotator,label\n" + "".join(
    f"{one},{who},{'ab'[(k + (who == 'cem')) % 2]}\n" for who in ("ann", "bob", "cem") for k, one in enumerate(NAMES)
)


def pictures(path: Path, folder: str = "") -> Path:
    """An archive of pictures that nothing says the labels of."""
    files = {}
    for k, name in enumerate(NAMES):
        file = io.BytesIO()
        Image.fromarray(np.full((4, 4), 20 * k, dtype=np.uint8)).save(file, "PNG")
        files[folder + name] = file.getvalue()
    path.write_bytes(zipped(files))
    return path


@pytest.mark.parametrize("folder", ["", "images/"])
@pytest.mark.parametrize("table", [WIDE, LONG])
def test_pictures_and_a_table_beside_them_are_one_archive(tmp_path: Path, folder: str, table: str) -> None:
    (tmp_path / "votes.csv").write_text(table)
    files = in_one_archive([pictures(tmp_path / "leaves.zip", folder), tmp_path / "votes.csv"])
    assert files is not None and len(files) == 13
    (tmp_path / "both.zip").write_bytes(zipped(files))
    asked = question(formats.columns(tmp_path / "both.zip"))
    data = formats.read(tmp_path / "both.zip", columns={} if asked is None else asked.answers[0][1])
    assert data.annotations is not None and data.annotations.annotator_names == ("ann", "bob", "cem")
    assert data.pictures is not None and sorted(data.row_ids) == sorted(NAMES)


def test_what_has_labels_of_its_own_stays_apart(tmp_path: Path) -> None:
    (tmp_path / "votes.csv").write_text(WIDE)
    leaves = pictures(tmp_path / "leaves.zip")
    sorted_ones = tmp_path / "sorted.zip"
    sorted_ones.write_bytes(zipped({"a/1.png": b"", "b/2.png": b""}))
    assert in_one_archive([sorted_ones, tmp_path / "votes.csv"]) is None
    assert in_one_archive([leaves, sorted_ones]) is None
    assert in_one_archive([tmp_path / "votes.csv", tmp_path / "none.csv"]) is None


def test_answers_are_joined_with_pictures_that_no_folder_sorts(tmp_path: Path) -> None:
    (tmp_path / "votes.csv").write_text(LONG)
    leaves = pictures(tmp_path / "leaves.zip")
    alone = formats.read(leaves, check=False)
    assert any("Nothing says what the pictures show" in note for note in alone.notes)
    votes = Source("votes.csv", str(tmp_path / "votes.csv"))
    data = joined_votes([votes], Source("leaves.zip", str(leaves))).load()
    assert data.annotations is not None and data.annotations.n_answers == 36
    assert data.pictures is not None and sorted(data.row_ids) == sorted(NAMES)


@pytest.mark.parametrize("same", [True, False])
@pytest.mark.parametrize("beside", [True, False])
def test_files_of_a_person_each_and_one_of_what_they_answered_about_are_one_archive(
    tmp_path: Path, same: bool, beside: bool
) -> None:
    paths = []
    for at, who in enumerate(("ann", "bob", "cem")):
        path = tmp_path / who / ("labels.csv" if same else f"labels_{who}.csv")
        path.parent.mkdir()
        lines = [f"t{k},{'xyz'[(k + (k % 5 == at)) % 3]}" for k in range(30) if k % 7 != at]
        path.write_text("\n".join(["id,label", *lines]) + "\n")
        paths.append(path)
    if beside:
        texts = [f"t{k},what somebody wrote to us the {k}th time" for k in range(30)]
        (tmp_path / "texts.csv").write_text("\n".join(["id,text", *texts]) + "\n")
        paths.append(tmp_path / "texts.csv")
    files = in_one_archive(paths)
    assert files is not None and len(files) == len(paths)
    (tmp_path / "all.zip").write_bytes(zipped(files))
    data = formats.read(tmp_path / "all.zip")
    assert data.annotations is not None and data.annotations.n_annotators == 3 and data.y is None
    assert data.annotations.n_answers == sum(k % 7 != at for k in range(30) for at in range(3))
    assert (data.texts is not None) is beside

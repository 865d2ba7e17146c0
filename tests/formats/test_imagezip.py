"""Pictures with a table or in folders, in a ZIP archive or on disk."""

from __future__ import annotations

import io
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from PIL import Image

from pll import formats
from pll.dataset import PartialLabelDataset
from pll.errors import MissingPictures, UserError
from pll.features.images import PixelFeatures
from pll.features.selection import featurised
from pll.formats import FORMATS, ReadOptions, checks
from pll.formats.images import MISSING_PICTURES
from pll.formats.limitations import cannot_hold
from pll.formats.results import Results
from pll.images import decode, encode

from .strategies import check_held, datasets, same


def png(*shape: int, value: int = 7) -> bytes:
    return encode(np.full(shape, value, dtype=np.uint8))


def packed(path: Path, **members: bytes | str) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


@given(
    data=datasets(images=True).flatmap(
        lambda data: hnp.arrays(np.uint8, data.X.shape, elements=st.integers(0, 255)).map(
            lambda X: PartialLabelDataset(
                X, data.candidates, data.y, data.class_names, data.row_ids, is_test=data.is_test, kind="image"
            )
        )
    )
)
def test_writing_then_reading_gives_everything_back(
    tmp_path_factory: pytest.TempPathFactory, data: PartialLabelDataset
) -> None:
    path = tmp_path_factory.mktemp("round") / "data.zip"
    lost = cannot_hold(data, FORMATS["imagezip"])
    formats.write(data, path)
    back = formats.read(path)
    lost.remove("That the pixels are the features: they become pictures, of which features are made again.")
    for i in range(len(data)):
        picture = back.picture(i)
        assert picture is not None
        assert same(picture.reshape(*picture.shape[:2], -1).transpose(2, 0, 1).astype(np.float32), data.X[i])
    check_held(back, replace(data, X=np.empty((len(data), 0)), pictures=back.pictures), lost)


BAD: dict[str, tuple[dict[str, bytes | str], str]] = {
    "no picture": ({"table.csv": "image,candidates\nx.png,a\n"}, "1 of 1 pictures that table.csv names are not"),
    "no column": ({"table.csv": "x,candidates\n1,a\n", "a.png": png(2, 2)}, "no column image"),
    "bad table": (
        {"t.csv": "image,candidates\na.png,\n", "a.png": png(2, 2)},
        r"t\.csv: Row 2 has an empty candidate set",
    ),
    "two tables": ({"a.csv": "x\n1\n", "b.csv": "x\n1\n", "a.png": png(2, 2)}, "several tables"),
    "no folder": ({"a.png": png(2, 2), "cat/b.png": png(2, 2)}, "'a.png' is in no folder"),
    "no label": ({";/a.png": png(2, 2)}, "';' names no label"),
    "no picture file": ({"cat/a.png": b"this is none"}, "'cat/a.png' is not a picture"),
    "a torn header": ({"cat/a.png": png(30, 30)[:20], "cat/b.png": png(30, 30)}, "'cat/a.png' is not a picture"),
    "leads out": ({"../a.png": png(2, 2)}, "leads out of the archive"),
    "absolute": ({"/etc/a.png": png(2, 2)}, "leads out of the archive"),
    "a drive": ({"C:\\a.png": png(2, 2)}, "leads out of the archive"),
}


@pytest.mark.parametrize(("members", "words"), list(BAD.values()), ids=list(BAD))
def test_what_is_wrong_is_named(tmp_path: Path, members: dict[str, bytes | str], words: str) -> None:
    with pytest.raises(UserError, match=rf"^bad\.zip: .*({words})"):
        formats.read(packed(tmp_path / "bad.zip", **members))


def test_a_damaged_picture_is_named_and_does_not_stop_the_others(tmp_path: Path) -> None:
    good = {f"{label}/{k}.png": png(30, 30) for label in ("cat", "dog") for k in range(2)}
    bad = {"cat/torn.png": png(30, 30)[:-30], "dog/none.png": b"this is none"}
    data = formats.read(packed(tmp_path / "in.zip", **good, **bad))
    assert len(data) == 6
    note = next(note for note in data.notes if "2 of 6 pictures cannot be read" in note)
    assert "cat/torn.png" in note and "dog/none.png" in note
    is_readable = {name: data.picture(i) is not None for i, name in enumerate(data.row_ids.tolist())}
    assert is_readable == dict.fromkeys(good, True) | dict.fromkeys(bad, False)
    made = PixelFeatures().fit(data).transform(data)
    assert made.shape[-2:] == (30, 30) and np.isfinite(made).all()
    shown = featurised(data, PixelFeatures().fit(data)).X
    gone = [name in bad for name in data.row_ids.tolist()]
    assert shown[gone] == pytest.approx(shown[np.invert(gone)].mean(axis=0)[None].repeat(2, axis=0), abs=1e-6)
    assert data.take(np.array([2])).picture(0) is None

    with pytest.raises(UserError, match=r"'cat/a\.png' is damaged"):
        formats.read(packed(tmp_path / "all.zip", **{"cat/a.png": png(30, 30)[:-30]}))
    (tmp_path / "in.zip").unlink()
    with pytest.raises(UserError, match=r"The picture 'cat/0\.png' of in\.zip cannot be read"):
        data.picture(0)


@pytest.mark.parametrize("most", [1023, 4095, 60_000])
def test_grey_of_more_than_8_bits_is_seen(most: int) -> None:
    file = io.BytesIO()
    values = np.linspace(0, most, 64).round().astype(np.uint16).reshape(8, 8)
    Image.fromarray(values).save(file, "PNG")
    seen = decode(file.getvalue(), "a.png")
    white = next(one for one in (4095, 65_535) if most <= one)  # the same for all pictures of so many bits
    assert seen.shape == (8, 8) and seen.min() == 0 and seen.max() == int(255 * most / white)
    assert len(np.unique(seen)) > 50


@pytest.mark.parametrize("side", [8_000, 14_000])
def test_a_huge_picture_is_refused_before_it_is_decoded(tmp_path: Path, side: int) -> None:
    huge = io.BytesIO()
    Image.new("1", (side, side)).save(huge, "PNG", compress_level=1)  # some KB
    with pytest.raises(UserError, match=r"'cat/a\.png' (has 8,000 × 8,000 pixels|is too large)"):
        formats.read(packed(tmp_path / "bad.zip", **{"cat/a.png": huge.getvalue()}))


def test_a_zip_bomb_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "BOMB_BYTES", 16 * 2**20)
    with zipfile.ZipFile(tmp_path / "bad.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for k in range(3):
            archive.writestr(f"cat/{k}.png", bytes(10 * 2**20))
    with pytest.raises(UserError, match="files made to fill the memory"):
        formats.read(tmp_path / "bad.zip")


def test_links_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret.png").write_bytes(png(2, 2))
    folder = tmp_path / "folder" / "cat"
    folder.mkdir(parents=True)
    (folder / "a.png").symlink_to(tmp_path / "secret.png")
    with pytest.raises(UserError, match="leads out of the folder"):
        formats.read(tmp_path / "folder")
    with zipfile.ZipFile(tmp_path / "bad.zip", "w") as archive:
        info = zipfile.ZipInfo("cat/a.png")
        info.external_attr = 0o120777 << 16
        archive.writestr(info, "/etc/passwd")
    with pytest.raises(UserError, match="is a link"):
        formats.read(tmp_path / "bad.zip")


def test_all_missing_pictures_are_named_and_their_rows_can_be_left_out(tmp_path: Path) -> None:
    rows = "a.png,x\nb.png,y\nc.png,x|y\nd.png,y\n"
    file = packed(tmp_path / "m.zip", **{"t.csv": f"image,candidates\n{rows}", "a.png": png(2, 2), "d.png": png(3, 2)})
    with pytest.raises(UserError, match=r"2 of 4 pictures .* 'b\.png'.*'c\.png'") as error:
        formats.read(file)
    assert isinstance(error.value, MissingPictures)
    options = ReadOptions(accept=(MISSING_PICTURES,))
    data = formats.read(file, options=options)
    assert data.row_ids.tolist() == ["a.png", "d.png"] and data.sets().sizes.tolist() == [1, 1]
    assert any("2 of 4 pictures" in note and "left out" in note for note in data.notes)

    back = tmp_path / "back.zip"
    results = Results(data.row_ids.tolist(), {"identified_label": ["x", "y"], "confidence": ["0.5", "1.0"]})
    FORMATS["imagezip"].give_back(file, back, results, options)
    with zipfile.ZipFile(back) as archive:
        table = archive.read("t.csv").decode().splitlines()
    assert len(table) == 5 and table[0].startswith("image,candidates,label") and "0.5" in table[1] and "1.0" in table[4]
    assert table[2].startswith("b.png,y,") and not table[2].strip(",").endswith("1.0")


def test_a_folder_a_person_with_a_folder_a_label_is_an_answer_each(tmp_path: Path) -> None:
    pictures = {f"p{k}.png": png(4, 4, 3, value=9 * k) + b" " * k for k in range(9)}
    sorted_by = {"ada": "abcabcabc", "ben": "abcabcacb", "cleo": "abbabbabb"}
    members = {
        f"all/{who}/{label}/{name}": content
        for who, labels in sorted_by.items()
        for label, (name, content) in zip(labels, pictures.items(), strict=True)
    }
    data = formats.read(packed(tmp_path / "sorted.zip", **members))
    assert data.annotations is not None and sorted(data.annotations.annotator_names) == [*sorted_by]
    assert len(data) == 9 and data.class_names == ("a", "b", "c") and data.picture(8) is not None
    assert sorted(data.candidates[8]) == [1, 2]  # c, b and b
    originals = {f"all/all of them/{name}": content for name, content in [*pictures.items(), ("p9.png", png(2, 2))]}
    data = formats.read(packed(tmp_path / "beside.zip", **members, **originals))
    assert data.annotations is not None and sorted(data.annotations.annotator_names) == [*sorted_by]
    assert len(data) == 10 and data.class_names == ("a", "b", "c")
    others = {name.replace(".png", f"-{name[4]}.png"): content for name, content in members.items()}
    assert formats.read(packed(tmp_path / "each.zip", **others)).annotations is None  # of other pictures each


def test_rows_that_name_no_picture_are_left_out_and_stand_in_no_way(tmp_path: Path) -> None:
    faces = {f"f{k}.png": png(4, 4, 3, value=k) for k in range(30)}
    rows = [f"{name},{('Training', 'PublicTest')[k % 2]},{k % 11},{10 - k % 11}" for k, name in enumerate(faces)]
    rows[5:5] = [",Training,10,0", ",PublicTest,0,10"]
    path = packed(tmp_path / "faces.zip", **faces, **{"t.csv": "\n".join(["Image name,Usage,joy,fear", *rows])})
    data = formats.read(path)
    assert len(data) == 30 and data.class_names == ("joy", "fear") and not data.categories
    assert any("2 rows of t.csv name no picture; they were left out" in str(note) for note in data.notes)
    path = packed(tmp_path / "few.zip", **faces, **{"t.csv": "\n".join(["Image name,Usage,joy,fear", *rows[:12]])})
    with pytest.raises(MissingPictures, match="2 of 12 pictures"):
        formats.read(path)


def test_examples_that_are_called_as_their_pictures_need_no_column_image(tmp_path: Path) -> None:
    pictures = {f"pictures/p{k}.png": png(4, 4, 3, value=k) for k in range(6)}
    lines = [f"p{k}.png,{who},{'ab'[k % 2]}" for k in range(6) for who in ("ada", "ben")]
    path = packed(tmp_path / "trials.zip", **pictures, **{"trials.csv": "\n".join(["task,worker,label", *lines])})
    data = formats.read(path)
    assert data.pictures is not None and data.pictures.names.tolist() == sorted(pictures)

"""detect, read and write: by content, by name, and all or nothing."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from pll import formats
from pll.annotations.data import Annotations
from pll.candidates import CandidateSets
from pll.dataset import PartialLabelDataset
from pll.errors import UserError
from pll.formats import ENTRIES, FORMATS
from pll.formats.forms import FORMS
from pll.formats.reading import signature
from pll.formats.tools.records import RecordFormat
from pll.images import Pictures, encode

from .strategies import named_sets, named_truth

PNG = encode(np.zeros((2, 2), dtype=np.uint8))
SAMPLES = Path(__file__).parents[2] / "assets" / "samples"


@pytest.fixture
def data() -> PartialLabelDataset:
    annotations = Annotations([0, 0, 1], [0, 1, 0], [0, 1, 1], 2, ("0", "1"), ("annotator_1", "annotator_2"))
    texts = np.array(["good", "bad"], dtype=object)
    pictures = Pictures(np.array(["a.png", "b.png"], dtype=object), None, np.array([PNG, PNG], dtype=object))
    sets = CandidateSets.from_lists([[0, 1], [1]], 2)
    return PartialLabelDataset(
        np.ones((2, 3)), sets, y=np.array([0, 1]), texts=texts, pictures=pictures, annotations=annotations
    )


@pytest.mark.parametrize("name", list(FORMATS))
def test_an_entry_is_of_its_class_and_has_a_sample_and_fields(name: str) -> None:
    assert FORMATS[name].name == name and ENTRIES[name]["fields"]
    assert formats.detect(SAMPLES / ENTRIES[name]["sample"]) is FORMATS[name]


@pytest.mark.parametrize("name", list(FORMATS))
def test_content_counts_and_not_the_name(tmp_path: Path, data: PartialLabelDataset, name: str) -> None:
    for disguise in ("data", "data.pkl", "data.npz", "data.csv", "data.json"):
        formats.write(data, tmp_path / disguise, format=name)
        assert formats.detect(tmp_path / disguise) is FORMATS[name], disguise
        assert formats.read(tmp_path / disguise).candidates == data.candidates, disguise


def format_of(sample: Path) -> str:
    """What a sample is to be: `reviews.labelstudio.json` says it, `flowers.csv` is what it ends in."""
    *_, before, last = sample.name.split(".")
    ends = [name for name, form in FORMATS.items() if f".{last}" in form.suffixes]
    return before if before in FORMATS else last if last in FORMATS else ends[-1]


@pytest.mark.parametrize("sample", sorted(SAMPLES.iterdir()), ids=lambda sample: sample.name)
def test_samples_of_one_thing_are_one_dataset(sample: Path) -> None:
    assert formats.detect(sample).name == format_of(sample)
    back, kind = formats.read(sample), sample.name.split(".")[0].split("-")[0]
    form = FORMATS[format_of(sample)]
    if isinstance(form, RecordFormat):
        assert back.reading["source"] == form.form.title == signature(formats.columns(sample))
    if kind == "digits":
        assert len(back) == 30 and back.picture(0) is not None
        return
    csv = formats.read(SAMPLES / f"{kind}.csv")
    if format_of(sample) == "mat":  # which has numbers for names
        assert np.array_equal(back.sets().mask(), csv.sets().mask())
    elif format_of(sample) == "cleanlab":
        assert np.array_equal(back.sets().indices, csv.sets().indices)
    else:
        assert (named_sets(back), named_truth(back)) == (named_sets(csv), named_truth(csv))
        assert back.class_names == csv.class_names
    for one in FORMS:
        if f".{one.name}." in sample.name:
            assert signature(formats.columns(sample)) == one.title
    if format_of(sample) not in ("cleanlab", "plcifar"):
        assert np.array_equal(back.X, csv.X)
        assert (None if back.texts is None else back.texts.tolist()) == (
            None if csv.texts is None else csv.texts.tolist()
        )


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "empty"),
        (b"\x80\x04\x95rest", "pickle"),
        (b"\x93NUMPY\x01\x00", "np.save"),
        (b"PK\x05\x06" + bytes(18), "ZIP archive without arrays, pictures or tables"),
        (b"PK\x03\x04 a workbook", "cut off or damaged"),
        (b"PAR1....", "Parquet file cannot be read"),
        (b"\x89PNG\r\n\x1a\n", "picture"),
        (b"\x1f\x8b\x08", "gzip"),
        (b"SQLite format 3\x00", "sqlite3 -header -csv"),
        (b"ARROW1\x00\x00", "write it as Parquet"),
        (b'{"a": ', "no known format"),
        (b"\x01\x02\x03\x04", "no known format"),
        (b"one two three", "no known format"),
    ],
)
def test_a_stranger_is_named(tmp_path: Path, content: bytes, words: str) -> None:
    path = tmp_path / "stranger.dat"
    path.write_bytes(content)
    with pytest.raises(UserError, match=rf"^stranger\.dat: .*{words}"):
        formats.read(path)


def test_writing_is_all_or_nothing(tmp_path: Path, data: PartialLabelDataset) -> None:
    formats.write(data, tmp_path / "data.csv")
    before = (tmp_path / "data.csv").read_bytes()
    broken = PartialLabelDataset(np.ones((1, 1)), ids=np.array(["half \ud800 a character"]))
    with pytest.raises(UserError, match=r"data\.csv: .*cannot be written as text"):
        formats.write(broken, tmp_path / "data.csv")
    assert (tmp_path / "data.csv").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["data.csv"]


@pytest.mark.parametrize("link", [False, True])
def test_a_pipe_is_written_to_and_stays_one(link: bool, tmp_path: Path, data: PartialLabelDataset) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    out = pipe
    if link:
        out = tmp_path / "link.csv"
        out.symlink_to(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        formats.write(data, out, "csv")
        formats.write(data, tmp_path / "file.csv", "csv")
        assert os.read(reader, 1 << 20) == (tmp_path / "file.csv").read_bytes() and pipe.is_fifo()
        with pytest.raises(UserError, match="writes another file beside"):
            formats.write(data, out, "labelstudio")
    finally:
        os.close(reader)

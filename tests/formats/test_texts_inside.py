"""Archives of plain texts."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from pll import formats
from pll.errors import UserError
from pll.formats import ReadOptions, Results
from tests.formats.test_parts import archive, read_first

SENTENCES = ["Where is it?", "Go home.", "It rains.", "Stop, now.", "Who knows?", "She left, I think."] * 2
ANN = ["question", "command", "statement", "command", "question", "statement"] * 2
BOB = ["question", "command", "command", "command", "statement", "statement"] * 2


def lists(tmp_path: Path, **more: str) -> Path:
    texts = {"s/sentences.txt": SENTENCES, "s/ann.txt": ANN, "s/bob.txt": BOB}
    texts["s/sentences.txt"] = [f"{k} {text}" for k, text in enumerate(SENTENCES)]
    return archive(tmp_path / "t.zip", {n: "\n".join(some) + "\n" for n, some in texts.items()} | more)


def test_a_line_of_each_text_is_about_one_example(tmp_path: Path) -> None:
    data = read_first(lists(tmp_path))
    assert data.annotations is not None and data.annotations.annotator_names == ("ann", "bob")
    assert data.texts is not None and data.texts[3] == "3 Stop, now."
    assert data.candidates is not None and [len(one) for one in data.candidates][:5] == [1, 1, 2, 1, 2]


def test_labels_go_back_as_a_table_beside_the_texts(tmp_path: Path) -> None:
    source, options = lists(tmp_path), ReadOptions(columns={"ann": "annotator", "bob": "annotator"})
    ids = [*map(str, formats.read(source, options=options).row_ids)]
    results = Results(ids, {"identified_label": ["question"] * len(ids), "confidence": ["0.9"] * len(ids)})
    formats.give_back(source, tmp_path / "back.zip", results, options=options)
    with zipfile.ZipFile(tmp_path / "back.zip") as back:
        assert back.read("s/ann.txt").decode().split() == ANN
        assert back.read("lines.csv").decode().splitlines()[4].endswith(",question,0.9")


def test_a_text_of_another_length_is_named(tmp_path: Path) -> None:
    data = read_first(lists(tmp_path, **{"s/names.txt": "one\ntwo\n"}))
    assert any("s/names.txt" in str(note) for note in data.notes)


def test_texts_with_tabs_are_tables(tmp_path: Path) -> None:
    items = "item\tsize\n" + "".join(f"i{k}\t{k * 37 % 11}.5\n" for k in range(12))
    answers = "item\tworker\tlabel\n" + "".join(
        f"i{k}\tw{who}\t{label}\n" for who, said in enumerate((ANN, BOB)) for k, label in enumerate(said)
    )
    data = read_first(archive(tmp_path / "t.zip", {"items.txt": items, "answers.txt": answers, "README.txt": "hello"}))
    assert len(data) == 12 and data.feature_names == ("size",)
    assert data.annotations is not None and data.annotations.annotator_names == ("w0", "w1")


def test_a_matrix_of_numbers_is_a_column_a_person(tmp_path: Path) -> None:
    rows = [[k % 3, -1, (k + k % 2) % 3] for k in range(30)]
    texts = {"answers.txt": "\n".join(" ".join(map(str, row)) for row in rows), "notes.txt": "x\n" * 30}
    columns = formats.columns(archive(tmp_path / "t.zip", texts), options=ReadOptions())
    assert [one.name for one in columns] == ["answers 1", "answers 2", "answers 3", "notes"]


def test_texts_of_different_lengths_are_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"a\.txt has 3, b\.txt has 2"):
        formats.read(archive(tmp_path / "t.zip", {"a.txt": "x\ny\nz\n", "b.txt": "x\ny\n"}))

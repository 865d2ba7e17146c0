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
        assert back.read("s/lines.csv").decode().splitlines()[4].endswith(",question,0.9")


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


def test_folders_of_texts_are_parts(tmp_path: Path) -> None:
    texts = {f"{part}/texts.txt": [f"{part} {text}" for text in SENTENCES] for part in ("train", "test")}
    texts |= {f"{part}/label.txt": ANN for part in ("train", "test")}
    data = read_first(archive(tmp_path / "t.zip", {name: "\n".join(some) for name, some in texts.items()}))
    assert len(data) == 24 and data.texts is not None
    assert {text.split()[0] for text in data.texts} == {"train", "test"}


@pytest.mark.parametrize("lines", [[1] * 9, [1, 2, 3, 4, 2, 6]])
def test_a_text_an_example_is_refused(tmp_path: Path, lines: list[int]) -> None:
    texts = {f"{kind}/{k}.txt": "a line of it\n" * n for kind in ("pos", "neg") for k, n in enumerate(lines)}
    with pytest.raises(UserError, match=r"pos/0\.txt has 1.*a row for each"):
        formats.read(archive(tmp_path / "t.zip", texts))
    one_each = {f"{kind}/1.txt": "one\ntwo\n" for kind in ("pos", "neg")}
    with pytest.raises(UserError, match=r"neg/1\.txt has 2"):
        formats.read(archive(tmp_path / "u.zip", one_each))


def test_a_text_with_tabs_beside_one_of_as_many_lines_is_read_by_line(tmp_path: Path) -> None:
    texts = {"said.txt": "".join(f"{k}\tthe words of {k}\n" for k in range(12)), "label.txt": "\n".join(ANN)}
    columns = formats.columns(archive(tmp_path / "t.zip", texts), options=ReadOptions())
    assert [one.name for one in columns] == ["said 1", "said 2", "label"]
    with pytest.raises(UserError, match=r"said\.txt has 12, label\.txt has 2.*leave others out"):
        formats.read(archive(tmp_path / "u.zip", texts | {"label.txt": "x\ny\n"}))


def test_empty_last_lines_are_lines(tmp_path: Path) -> None:
    data = read_first(lists(tmp_path, **{"s/bob.txt": "\n".join([*BOB[:10], "", ""]) + "\r\n"}))
    assert data.annotations is not None and data.annotations.n_answers == 22


def test_texts_in_no_table_are_named_and_codes_are_not(tmp_path: Path) -> None:
    data = read_first(lists(tmp_path, **{"about.txt": "x\ny\n", "s/codebook.txt": "1 = one\n2 = two\n"}))
    assert [note for note in data.notes if "eft out" in note] == ["Left out, as single texts without tabs: about.txt."]


def test_a_text_of_as_many_names_as_there_are_numbers_says_what_these_mean(tmp_path: Path) -> None:
    labels = [k % 3 for k in range(30)]
    votes = [f"{label} {(label + (k % 4 == 0)) % 3} {-1 if k % 5 else label}" for k, label in enumerate(labels)]
    texts = {"said.txt": "\n".join(votes), "gold.txt": "\n".join(map(str, labels)), "trees.txt": "oak\nash\nelm\n"}
    data = read_first(archive(tmp_path / "t.zip", texts))
    assert {*data.class_names} == {"oak", "ash", "elm"} and data.annotations is not None
    assert data.annotations.n_answers == 66

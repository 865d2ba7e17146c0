"""0/1 columns that share a stem: a column a class, annotators' votes, or features."""

from __future__ import annotations

import csv
import json
import random
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pll import formats
from pll.dataset import PartialLabelDataset
from pll.errors import UserError
from pll.formats import ReadOptions
from pll.formats.reading import question

from .strategies import answers, named_sets, named_truth
from .test_forms import read_first

Table = dict[str, list[str]]

OTTERS: Table = {"sea": ["1", "0", "1", "1"], "river": ["1", "1", "0", "0"], "giant": ["0", "1", "0", "1"]}
SETS = [{"sea", "river"}, {"river", "giant"}, {"sea"}, {"sea", "giant"}]
TRUTH = ["river", "giant", "sea", "sea"]
LENGTHS = ["1.5", "2.5", "0.5", "4"]


def columns_of(stem: str, classes: Table | None = None) -> Table:
    return {f"{stem}{name}": cells for name, cells in (classes or OTTERS).items()}


def write(folder: Path, ending: str, table: Table) -> Path:
    path = folder / f"otters.{ending}"
    rows = [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]
    if ending in ("csv", "tsv"):
        mark = "," if ending == "csv" else "\t"
        lines = [mark.join(table), *(mark.join(row.values()) for row in rows)]
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return path
    typed = {name: [_number(cell) for cell in cells] for name, cells in table.items()}
    if ending == "jsonl":
        records = [dict(zip(typed, row, strict=True)) for row in zip(*typed.values(), strict=True)]
        path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    else:
        pq.write_table(pa.table(typed), path)
    return path


def _number(cell: str) -> object:
    if cell in ("false", "true"):
        return cell == "true"
    if cell.isdecimal():
        return int(cell)
    return float(cell) if cell.replace(".", "").isdecimal() else cell


def read(folder: Path, ending: str, table: Table, **columns: str) -> PartialLabelDataset:
    return formats.read(write(folder, ending, table), options=ReadOptions(columns=columns))


every_table = pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl", "parquet"])


@every_table
@pytest.mark.parametrize("stem", ["candidate_", "Cand ", "class=", "label_", "y_", "is_", "lives_in_"])
def test_columns_of_classes_are_the_candidates(tmp_path: Path, ending: str, stem: str) -> None:
    with_truth = read(tmp_path, ending, {"length": LENGTHS, **columns_of(stem), "true_label": TRUTH})
    assert (
        named_sets(with_truth) == SETS and named_truth(with_truth) == TRUTH and with_truth.feature_names == ("length",)
    )
    data = read(tmp_path, ending, {"length": LENGTHS, **columns_of(stem)})
    if stem in ("is_", "lives_in_"):  # a stem that is none of a class, and no truth
        assert data.candidates is None and len(data.feature_names) == 4
        return
    assert named_sets(data) == SETS and set(data.class_names) == set(OTTERS)
    assert data.feature_names == ("length",) and data.annotations is None and data.y is None


@every_table
@pytest.mark.parametrize("stem", ["candidate_", "class_", "class", "cand", "y", "y_"])
def test_classes_may_be_numbers(tmp_path: Path, ending: str, stem: str) -> None:
    numbered = {str(k): cells for k, cells in enumerate(OTTERS.values())}
    expected = [{str(list(OTTERS).index(name)) for name in names} for names in SETS]
    truth = [str(list(OTTERS).index(name)) for name in TRUTH]
    for table in (columns_of(stem, numbered), {**columns_of(stem, numbered), "target": truth}):
        data = read(tmp_path, ending, {"length": LENGTHS, **table})
        assert named_sets(data) == expected and data.class_names == ("0", "1", "2")
        assert data.feature_names == ("length",) and not data.categories
    assert named_truth(data) == truth


@every_table
def test_one_hot_columns_are_features(tmp_path: Path, ending: str) -> None:
    fur = {"fur_dark": ["1", "0", "0", "1"], "fur_pale": ["0", "1", "1", "0"]}
    for more in ({}, {"true_label": TRUTH}, {"candidates": ["sea", "river", "sea", "giant"]}):
        data = read(tmp_path, ending, {"length": LENGTHS, **fur, **more})
        assert data.feature_names == ("length", *fur)
    with_candidates = read(tmp_path, ending, {**fur, **columns_of("candidate_")})
    assert named_sets(with_candidates) == SETS and with_candidates.feature_names == tuple(fur)


@every_table
@pytest.mark.parametrize("stem", ["class_", "is_"])
def test_a_row_without_a_class_makes_them_features(tmp_path: Path, ending: str, stem: str) -> None:
    empty = {name: [*cells[:3], "0"] for name, cells in OTTERS.items()}
    data = read(tmp_path, ending, {"length": LENGTHS, **columns_of(stem, empty)})
    assert data.candidates is None and data.feature_names == ("length", *columns_of(stem))


# ---- label_0, label_1, … -------------------------------------------------------------------------------------------

NUMBERED: Table = {str(k): cells for k, cells in enumerate(OTTERS.values(), start=1)}
NUMBERED_SETS = [{"1", "2"}, {"2", "3"}, {"1"}, {"1", "3"}]


@every_table
@pytest.mark.parametrize("stem", ["label_", "label", "Label "])
def test_numbered_labels_with_the_truth_among_them_are_classes(tmp_path: Path, ending: str, stem: str) -> None:
    truth = ["2", "3", "1", "1"]
    data = read(tmp_path, ending, {"length": LENGTHS, **columns_of(stem, NUMBERED), "true_label": truth})
    assert named_sets(data) == NUMBERED_SETS and named_truth(data) == truth and data.feature_names == ("length",)
    assert data.annotations is None and not any("--column" in note for note in data.notes)


@every_table
def test_numbered_labels_with_a_truth_of_0_and_1_are_votes(tmp_path: Path, ending: str) -> None:
    table = {"length": LENGTHS, **columns_of("label_", NUMBERED), "true_label": ["1", "0", "0", "1"]}
    data = read(tmp_path, ending, table)
    assert data.annotations is not None and data.annotations.annotator_names == ("label_1", "label_2", "label_3")
    assert data.class_names == ("0", "1") and data.feature_names == ("length",)
    assert answers(data)[:3] == [(0, "label_1", "1"), (0, "label_2", "1"), (0, "label_3", "0")]


@every_table
def test_numbered_labels_without_truth_are_asked_about(tmp_path: Path, ending: str) -> None:
    table = {"length": LENGTHS, **columns_of("label_", NUMBERED)}
    with pytest.raises(UserError, match="--column label_1=annotator"):
        read(tmp_path, ending, table)
    open_question = question(formats.columns(write(tmp_path, ending, table)))
    assert open_question is not None and set(open_question.answers[0][1]) == {"label_1", "label_2", "label_3"}
    votes = read(tmp_path, ending, table, label_2="annotator")
    assert votes.annotations is not None and votes.annotations.n_annotators == 3 and votes.class_names == ("0", "1")
    classes = read(tmp_path, ending, table, label_2="class")
    assert named_sets(classes) == NUMBERED_SETS and classes.feature_names == ("length",)


BIRDS = ("wren", "robin", "tit")


def test_what_is_counted_beside_the_classes_is_no_class_and_never_learnt_from(tmp_path: Path) -> None:
    counted = [(k % 4, 3 - k % 4, k % 3) for k in range(24)]
    rows = [
        f"{a},{b},{c},{a + b + c},{'' if k % 4 else ('good' if k % 8 else 'bad')},0{1 + k % 9}.2021,a text of row {k}"
        for k, (a, b, c) in enumerate(counted)
    ]
    header = "good,bad,can't tell,total,lab result,month,text"
    path = tmp_path / "x.csv"
    path.write_text("\n".join([header, *rows, "Total,30,40,70,,,"]) + "\n")
    asked = question(formats.columns(path))
    assert asked is not None and asked.answers[0][1] == {"lab result": "true_label"}
    data = formats.read(path, columns={"lab result": "true_label"})
    assert set(data.class_names) == {"good", "bad"} and not data.feature_names and len(data) == 24


@pytest.mark.parametrize("names", [("n_cat", "n_dog", "n_fox"), ("kočka hlasy", "pes hlasy", "liška hlasy")])
def test_counts_are_told_by_their_sum_in_any_language_and_by_any_delimiter(
    tmp_path: Path, names: tuple[str, ...]
) -> None:
    rows = [f"p{k}|{14 + k % 5}|{k},5|{k % 4 or ''}|{3 - k % 4}|{k % 3}|{3 + k % 3}|0,{k}1" for k in range(24)]
    header = "|".join(("photo", "hour", "width", *names, "celkem", "entropie"))
    path = tmp_path / "x.csv"
    path.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    roles = {column.name: column.role for column in formats.columns(path)}
    assert [name for name, role in roles.items() if role == "count"] == list(names)
    assert roles["celkem"] == roles["entropie"] == "keep"


@pytest.mark.parametrize("known", ["y_dev", "gold_check"])
def test_what_settled_labels_of_functions_is_asked_about_and_no_function_is(tmp_path: Path, known: str) -> None:
    says = [(1, -1), (-1, 0), (1, 0), (-1, -1)]
    rows = [
        (k, *says[k % 4], *says[(k // 3) % 4], *says[(k // 5) % 4], k % 2 if k % 5 == 0 else -1, f"a text of row {k}")
        for k in range(60)
    ]
    header = "id,lf_check_out,lf_song,lf_link,lf_love,lf_my,lf_short," + known + ",text"
    path = tmp_path / "x.csv"
    path.write_text("\n".join([header, *(",".join(map(str, row)) for row in rows)]) + "\n")
    asked = question(formats.columns(path))
    assert asked is not None and asked.answers[0][1] == {known: "true_label"}
    data = formats.read(path, columns=asked.answers[0][1], accept=("chance",))
    assert data.annotations is not None and len(data.annotations.annotator_names) == 6 and not data.feature_names
    assert set(data.class_names) == {"0", "1"} and int((data.y >= 0).sum()) == 12


def marked(classes: Sequence[str], k: int, yes: str = "1", no: str = "0") -> list[str]:
    """The marks of a row of several classes: one of them, and in some rows another."""
    return [yes if at == k % len(classes) or (k % 5 == 0 and at == 0) else no for at in range(len(classes))]


def columns_in(folder: Path, header: Sequence[str], rows: Iterable[Sequence[object]]) -> Path:
    lines = [";".join(map(str, row)) for row in (header, *rows)]
    (folder / "x.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder / "x.csv"


@pytest.mark.parametrize(
    ("pattern", "classes"),
    [
        ("Welche Bäume? (alle)/{}", ("Eiche", "Rot-Buche", "weiß nicht")),
        ("grp/espèce/{}", ("renard", "lièvre", "biche")),
    ],
)
def test_choices_that_a_form_writes_twice_are_classes_without_a_question(
    tmp_path: Path, pattern: str, classes: Sequence[str]
) -> None:
    marks = [marked(classes, k, "True", "False") for k in range(30)]
    said = [" ".join(c for c, mark in zip(classes, row, strict=True) if mark == "True") for row in marks]
    header = ["Höhe", pattern.removesuffix("/{}"), *map(pattern.format, classes)]
    rows = [[f"{k}.5", cell, *row] for k, (cell, row) in enumerate(zip(said, marks, strict=True))]
    path = columns_in(tmp_path, header, rows)
    data = formats.read(path)
    assert data.feature_names == ("Höhe",) and not data.categories
    assert set(data.class_names) == {*classes} - {"weiß nicht"}
    two = [[*row, f"{k % 2}", f"{(k + 1) % 2 or int(k % 7 == 0)}"] for k, row in enumerate(rows)]
    asked = question(formats.columns(columns_in(tmp_path, [*header, "Schaden/Käfer", "Schaden/Pilz"], two)))
    assert asked is None  # nothing else names what is marked there: features, as before


@pytest.mark.parametrize("pattern", ["{}?", "ist {}", "{}", "tag.{}"])
def test_marks_that_are_only_alike_are_asked_about(tmp_path: Path, pattern: str) -> None:
    header = ["image", *map(pattern.format, BIRDS)]
    path = columns_in(tmp_path, header, ([f"{k}.jpg", *marked(BIRDS, k)] for k in range(30)))
    asked = question(formats.columns(path))
    assert asked is not None and asked.answers[0][1] == dict.fromkeys(header[1:], "class")
    assert set(formats.read(path, columns=dict(asked.answers[0][1])).class_names) == set(BIRDS)


def test_columns_that_are_ticked_are_classes_and_what_is_blank_is_nobodys_answer(tmp_path: Path) -> None:
    ticks = ["xX✓"[k % 3] for k in range(40)]
    rows = [(k, *("" if (k + j) % 3 == 0 or k == 7 else ticks[k] for j in range(3)), f"{k}.5") for k in range(40)]
    path = columns_in(tmp_path, ["Nr", "Rechnung", "Angebot", "Mahnung", "Breite"], rows)
    asked = question(formats.columns(path))
    assert asked is not None and set(asked.answers[0][1].values()) == {"class"}
    data = formats.read(path, columns=asked.answers[0][1])
    assert set(data.class_names) == {"Rechnung", "Angebot", "Mahnung"} and data.candidates is not None
    assert set(data.candidates.names(1)) == {"Rechnung", "Angebot"} and len(data.candidates.names(7)) == 3


def test_a_first_and_a_second_choice_are_possible_labels_and_a_row_may_have_none(tmp_path: Path) -> None:
    birds = ["Amsel", "Drossel", "Star"]
    rows = [
        (k, birds[k % 3] if k % 9 else "", birds[(k + 1) % 3] if k % 2 and k % 9 else "", f"{k}.5") for k in range(60)
    ]
    path = columns_in(tmp_path, ["Nr", "Art (1. Wahl)", "Art (2. Wahl)", "Breite"], rows)
    asked = question(formats.columns(path))
    assert asked is not None and set(asked.answers[0][1].values()) == {"candidate"}
    data = formats.read(path, columns=asked.answers[0][1])
    assert data.candidates is not None and set(data.candidates.names(1)) == {"Drossel", "Star"}
    assert data.unanswered is None and len(data.candidates.names(9)) == 3 and data.candidates.names(2) == ["Star"]


@pytest.mark.parametrize("named", ["Consensus", "Agreed", "अंतिम निर्णय"])
def test_what_is_said_where_voters_differ_is_the_true_label_and_no_vote(tmp_path: Path, named: str) -> None:
    words = ["torn", "whole", "worn"]
    votes = [[words[(k + (j * k) % 7 // 5) % 3] for j in range(2)] for k in range(60)]
    rows = [(k, *pair, pair[k // 3 % 2] if pair[0] != pair[1] else "", f"{k}.5") for k, pair in enumerate(votes)]
    path = columns_in(tmp_path, ["Nr", "Reader A", "Reader B", named, "width"], rows)
    roles = dict[str, str]()
    while (asked := question(formats.columns(path, options=ReadOptions(columns=roles)))) is not None:
        roles |= asked.answers[0][1]
    columns = formats.columns(path, options=ReadOptions(columns=roles))
    assert [column.role for column in columns if column.name == named] == ["true_label"]
    data = formats.read(path, columns=roles)
    assert data.annotations is not None and data.annotations.n_annotators == 2 and data.y is not None


def test_ticks_of_several_questions_are_asked_about_and_are_no_voters(tmp_path: Path) -> None:
    """Those who tick several choices, and not the same in each question."""
    questions = ["Sound", "View", "Place"]
    rows = [
        (
            f"what visitor number {k} said",
            *("x" * (k // 3**q % 3 == j or k % (5 + 2 * q) == j) for q in range(3) for j in range(3)),
        )
        for k in range(80)
    ]
    path = columns_in(tmp_path, ["text", *(f"{q} - {c}" for q in questions for c in ("good", "bad", "mixed"))], rows)
    asked = question(formats.columns(path))
    assert asked is not None and asked.text.endswith("are marked. What is one of these columns?")
    assert [text.partition(" ")[0] for text, _ in asked.answers] == questions


@pytest.mark.parametrize("words", ["○×", "○△×", "◎○△×"])
def test_a_circle_beside_other_marks_is_an_answer(tmp_path: Path, words: str) -> None:
    rows = [[f"{k}.5", *(words[(k + j * (k % 5 == 0)) % len(words)] for j in range(3))] for k in range(60)]
    path = columns_in(tmp_path, ["width", "rater 1", "rater 2", "rater 3"], rows)
    assert question(formats.columns(path)) is None
    data = formats.read(path, accept=("class-names",), keep=("*",))
    assert {*data.class_names} == {*words} and data.annotations is not None and data.annotations.n_answers == 180


def test_sums_and_other_versions_of_shares_are_no_classes_and_never_learnt_from(tmp_path: Path) -> None:
    shares = np.random.default_rng(0).dirichlet([0.6, 0.6, 0.6], 400).tolist()
    header = ["id", "size", "p_oval", "p_left", "p_right", "p_spiral", "p_oval_debiased", "p_spiral_debiased"]
    header += ["is_spiral", "is_oval", "unsure"]  # by the sum, or by another version
    rows = [[a, b, c, b + c, a * 0.9, 1 - a * 0.9] for a, b, c in shares]
    flags = [[1 - a * 0.9 > 0.8, a * 0.9 > 0.8, a * 0.9 <= 0.8 >= 1 - a * 0.9] for a, *_ in shares]
    lines = [
        [f"g{k}", f"{1 + k / 7:.3f}", *(f"{x:.4f}" for x in row), *map(int, flags[k])] for k, row in enumerate(rows)
    ]
    data = formats.read(columns_in(tmp_path, header, lines))
    assert data.class_names == ("oval", "left", "right") and data.prior is not None
    assert data.feature_names == ("size",)


def findings(tmp_path: Path, cells: Sequence[str]) -> Path:
    """Four findings in 60 reports: of each seven cells in turn."""
    rows = [(f"{k}.5", *(cells[(k * (j + 1) + j) % len(cells)] for j in range(4))) for k in range(60)]
    path = tmp_path / "reports.csv"
    header = ["size", "oedema", "opacity", "nodule", "fluid"]
    path.write_text("\n".join(map(",".join, [header, *rows])) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize("one", ["1", "1.0"])
def test_a_finding_that_is_not_sure_is_a_candidate(tmp_path: Path, one: str) -> None:
    path = findings(tmp_path, [one, "", f"-{one}", "", one, one.replace("1", "0"), ""])
    asked = question(formats.columns(path))
    assert asked is not None and [*asked.answers[0][1].values()] == ["class"] * 4
    data = formats.read(path, columns=asked.answers[0][1])
    assert data.annotations is None and data.feature_names == ("size",)
    assert data.class_names == ("oedema", "opacity", "nodule", "fluid")
    assert named_sets(data)[:3] == [{"oedema", "nodule"}, {"fluid"}, {"oedema", "fluid"}]
    assert any("−1 says in 34 cells" in note for note in data.notes)


def test_minus_one_beside_one_alone_is_no_candidate(tmp_path: Path) -> None:
    path = findings(tmp_path, ["1", "-1", "-1", "1", "-1"])
    data = formats.read(path, columns=dict.fromkeys(["oedema", "opacity", "nodule", "fluid"], "class"))
    assert named_sets(data)[0] == {"oedema", "fluid"}


def test_people_who_agree_on_one_zero_and_minus_one_are_voters(tmp_path: Path) -> None:
    said = ["1", "0", "1", "-1", "0", "1"]
    cells = [[said[k % 6] if (k + j) % 7 else "0" for j in range(4)] for k in range(60)]
    rows = [["the room was small"[: 9 + k % 9] + f" {k}", *row] for k, row in enumerate(cells)]
    path = tmp_path / "votes.csv"
    path.write_text("\n".join(map(",".join, [["text", "Mia", "Tom", "Ola", "Jin"], *rows])) + "\n", encoding="utf-8")
    asked = question(formats.columns(path))
    assert asked is not None and {*asked.answers[0][1].values()} == {"annotator"}


@pytest.mark.parametrize("end", ["{}_vote", "oy_{}"])
def test_columns_of_votes_are_counts_though_ids_come_again(tmp_path: Path, end: str) -> None:
    rolls = np.random.default_rng(0)
    votes = rolls.multinomial(7, [0.5, 0.3, 0.1, 0.1], 90)
    votes[:30] += rolls.multinomial(4, [0.4, 0.3, 0.2, 0.1], 30)
    table = {"patient": [str(k // 3) for k in range(90)], "window": [f"w{k:03}" for k in range(90)]}
    table |= {
        end.format(name): votes[:, k].astype(str).tolist() for k, name in enumerate(("lpd", "gpd", "lrda", "other"))
    }
    columns = formats.columns(write(tmp_path, "csv", table), options=ReadOptions())
    assert [one.role for one in columns][-4:] == ["count"] * 4 and question(columns) is None


def test_shares_in_percent_have_decimal_commas(tmp_path: Path) -> None:
    rows = ["8,3;16,7;75,0", "0,0;50,0;50,0", "100,0;0,0;0,0", "25,5;24,5;50,0"] * 4
    path = tmp_path / "shares.csv"
    path.write_text("% fox;% hare;% deer\n" + "\n".join(rows) + "\n")
    asked = question(formats.columns(path))  # they may be of sand, silt and clay
    assert asked is not None and asked.columns == {"% fox", "% hare", "% deer"}
    assert not formats.read(path, columns=asked.answers[1][1]).n_classes
    path.write_text("n_votes;% fox;% hare;% deer\n" + "\n".join(f"12;{row}" for row in rows) + "\n")
    data = formats.read(path)
    assert data.class_names == ("fox", "hare", "deer") and data.prior is not None
    assert data.prior[:3] == pytest.approx([0.083, 0.167, 0.75])


@pytest.mark.parametrize("of", ["counts", "shares"])
def test_columns_are_classes_where_another_one_names_the_largest(tmp_path: Path, of: str) -> None:
    rolls = np.random.default_rng(1)
    kinds = ["fox", "hare", "deer"]
    numbers = np.array([rolls.multinomial(n, [0.5, 0.3, 0.2]) for n in rolls.integers(5, 9, 80)], dtype=np.float64)
    numbers += 0.0 if of == "counts" else rolls.random((80, 3))
    numbers = numbers if of == "counts" else (numbers / numbers.sum(axis=1, keepdims=True)).round(3)
    table = {"age": rolls.integers(1, 4, 80).astype(str).tolist()}
    table |= {f"data.{name}": [f"{one:g}" for one in numbers[:, k]] for k, name in enumerate(kinds)}
    table |= {"most_likely": [kinds[k] for k in numbers.argmax(axis=1)]}
    roles = [one.role for one in formats.columns(write(tmp_path, "csv", table), options=ReadOptions())]
    assert roles == ["feature", *["count" if of == "counts" else "probability"] * 3, "keep"]


def test_what_judges_gave_is_no_count_of_them_though_there_is_a_sum(tmp_path: Path) -> None:
    rolls = np.random.default_rng(2)
    given = rolls.integers(1, 6, (70, 3))
    table = {"entry": [f"photo {k}.jpg" for k in range(70)]}
    table |= {f"Judge {name}": given[:, k].astype(str).tolist() for k, name in enumerate(("Kim", "Lee", "Cho"))}
    table |= {"Jury total": given.sum(axis=1).astype(str).tolist()}
    roles = [one.role for one in formats.columns(write(tmp_path, "csv", table), options=ReadOptions())]
    assert roles == ["image", *["annotator"] * 3, "keep"]


def test_a_stem_is_measured_and_is_no_vote(tmp_path: Path) -> None:
    """`stem` is Dutch for vote, and a part of a mushroom."""
    rolls = random.Random(1)
    lines = ["id,stem_height_cm,Amanita muscaria,Russula emetica,Boletus edulis"]
    lines += [f"{k},{rolls.uniform(2, 20):.1f},{rolls.choice(['.7,.3,0', '.1,.1,.8', '0,.4,.6'])}" for k in range(60)]
    (tmp_path / "t.csv").write_text("\n".join(lines))
    data = read_first(tmp_path / "t.csv")
    assert data.feature_names == ("stem_height_cm",) and data.n_classes == 3


def test_counts_of_answers_stand_beside_labels_in_one_cell(tmp_path: Path) -> None:
    """`good: 6, bad: 1` by nearly as many judges each; `ann: 3, bob: 4` are two people."""
    rolls, lines = random.Random(3), ["no;pH;panel says;said"]
    for k in range(60):
        times = Counter(rolls.choices(["good", "so-so", "bad"], [5, 2, 1], k=rolls.choice([7, 8])))
        said = ", ".join(f"{who}: {rolls.randint(1, 3)}" for who in ("ann", "bob", "cem"))
        lines.append(f"C{k};{rolls.gauss(5, 1):.2f};{', '.join(f'{label}: {n}' for label, n in times.items())};{said}")
    (tmp_path / "t.csv").write_text("\n".join(lines), encoding="utf-8")
    data = formats.read(tmp_path / "t.csv", columns={"said": "keep"})
    assert {*data.class_names} == {"good", "so-so", "bad"} and data.prior is not None
    assert data.annotations is not None and data.annotations.anonymous
    votes = formats.read(tmp_path / "t.csv", columns={"panel says": "keep", "said": "answers"}).annotations
    assert votes is not None and {*votes.annotator_names} == {"ann", "bob", "cem"}


def test_shares_in_percents_are_called_as_their_classes(tmp_path: Path) -> None:
    rows = [f"{1.5 + k},{20 + k % 5},{50 - k % 5},30" for k in range(30)]
    (tmp_path / "t.csv").write_text("\n".join(["km,P(low) in %,P(mid) in %,P(high) in %", *rows]), encoding="utf-8")
    assert {*formats.read(tmp_path / "t.csv").class_names} == {"low", "mid", "high"}


def test_the_sum_of_the_votes_is_no_class(tmp_path: Path) -> None:
    rolls, rows = random.Random(4), list[str]()
    for _ in range(40):
        votes = [rolls.randint(0, 6) for _ in "abc"]
        rows.append(f"{rolls.gauss(5, 1):.2f},{','.join(map(str, votes))},{sum(votes)}")
    names = "khz,votes_wren,votes_robin,votes_tit,votes_total"
    (tmp_path / "t.csv").write_text("\n".join([names, *rows]), encoding="utf-8")
    data = formats.read(tmp_path / "t.csv")
    assert {*data.class_names} == {"wren", "robin", "tit"} and data.feature_names == ("khz",)


def test_what_each_reader_thinks_of_one_class_is_no_class_each(tmp_path: Path) -> None:
    rows = [f"{1.5 + k},{20 + k % 5},{50 - k % 5},{30 + k % 3}" for k in range(30)]
    names = [f"P(tumour) R{k}" for k in (1, 2, 3)]
    (tmp_path / "t.csv").write_text("\n".join([f"km,{','.join(names)}", *rows]), encoding="utf-8")
    assert not {"count", "probability", "class"} & {one.role for one in formats.columns(tmp_path / "t.csv")}


def test_columns_of_one_tick_are_asked_about_as_classes_though_many_rows_have_none(tmp_path: Path) -> None:
    rolls = random.Random(4)
    lines = ["no;length;Puma;Zorro culpeo;Gato colocolo;Perro"]
    for k in range(90):
        ticks = [rolls.choice("xX") * (rolls.random() < 0.4) for _ in "abcd"]
        lines.append(f"{k};{rolls.gauss(9, 2):.1f};{';'.join(ticks)}")
    (tmp_path / "t.csv").write_text("\n".join(lines), encoding="utf-8")
    asked = question(formats.columns(tmp_path / "t.csv"))
    assert asked is not None and {*asked.answers[0][1].values()} == {"class"}


def test_counts_of_a_reduction_are_votes_though_one_class_is_rare(tmp_path: Path) -> None:
    rolls, lines = random.Random(2), ["subject_id,workflow_id,data.aggregation_version,data.fox,data.hare,data.lynx"]
    for k in range(40):
        most, other = rolls.sample(("fox", "hare"), 2)
        cells = {most: f"{rolls.randint(9, 14)}.0", other: "3.0" * (k % 3 == 0), "lynx": "2.0" * (k == 5)}
        lines.append(f"{600 + k},14,4.1.0,{cells['fox']},{cells['hare']},{cells['lynx']}")
    (tmp_path / "t.csv").write_text("\n".join(lines), encoding="utf-8")
    data = formats.read(tmp_path / "t.csv")
    assert {*data.class_names} == {"data.fox", "data.hare", "data.lynx"} or {*data.class_names} == {
        "fox",
        "hare",
        "lynx",
    }
    assert data.candidates is not None and data.candidates.sizes.max() > 1


def test_classes_of_columns_chosen_by_hand_are_what_tells_their_names_apart(tmp_path: Path) -> None:
    rows = [f"{k / 7:.3f},{(k % 5) / 10},{(5 - k % 5) / 10},0.5" for k in range(30)]
    names = [f"is-it_{one}_fraction" for one in ("round", "flat", "in-between")]
    (tmp_path / "t.csv").write_text("\n".join([f"km,{','.join(names)}", *rows]), encoding="utf-8")
    data = formats.read(tmp_path / "t.csv", columns=dict.fromkeys(names, "probability"))
    assert {*data.class_names} == {"round", "flat", "in-between"}


def test_counts_of_many_classes_are_votes_and_rounded_percents_are_none(tmp_path: Path) -> None:
    rolls, lines = random.Random(8), [("id", "candidates")]
    for k in range(200):
        lines.append((f"x{k}", json.dumps(Counter(f"species {rolls.randint(1, 110)}" for _ in range(5)))))
    path = tmp_path / "t.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(lines)
    votes = formats.read(path).annotations
    assert votes is not None and votes.anonymous and votes.n_answers == 1000
    shares = [
        f"{a}%,{b}%,{100 - a - b + k % 2}%" for k, (a, b) in enumerate([(14, 29), (57, 14), (29, 29), (43, 14)] * 9)
    ]
    path.write_text("\n".join(["cat,dog,fox", *shares]), encoding="utf-8")
    assert formats.read(path).annotations is None


def test_what_a_model_has_a_share_of_is_a_class_though_it_is_called_as_no_answer(tmp_path: Path) -> None:
    rolls = np.random.default_rng(0).dirichlet([1.0, 1.0, 1.0], 40).round(3)
    rows = [f"c{k},{a},{b},{round(1 - a - b, 3)}" for k, (a, b, _) in enumerate(rolls)]
    path = tmp_path / "cameras.csv"
    path.write_text("\n".join(["shot,p_deer,p_fox,p_empty", *rows]))
    assert {*formats.read(path).class_names} == {"deer", "fox", "empty"}


def test_marked_columns_are_called_as_another_column_calls_them(tmp_path: Path) -> None:
    """Though all of them begin with one word."""
    kinds, rolls = ["Salix alba", "Salix caprea", "Salix cinerea", "Salix viminalis"], random.Random(3)
    rows = []
    for k in range(60):
        some = rolls.sample(kinds, rolls.choice((1, 2, 2, 3)))
        marks = ["x" if kind in some else "" for kind in kinds]
        rows.append(",".join([f"s{k}", f"{rolls.random():.3f}", *marks, rolls.choice(some) if k % 2 else ""]))
    path = tmp_path / "willows.csv"
    path.write_text("\n".join([",".join(["sheet", "leaf", *kinds, "Revision"]), *rows]))
    data = read_first(path)
    assert {*data.class_names} == {*kinds} and data.y is not None and (data.y >= 0).sum() == 30


def test_a_sum_of_votes_called_as_they_are_is_no_class(tmp_path: Path) -> None:
    rolls = np.random.default_rng(3)
    votes = [rolls.multinomial(20 + k % 5, [0.5, 0.3, 0.2]).tolist() for k in range(60)]
    header = ["size", "Votes: straight news", "Votes: opinion", "Votes: sponsored", "Votes total"]
    data = formats.read(columns_in(tmp_path, header, [[f"{k}.5", *row, sum(row)] for k, row in enumerate(votes)]))
    assert data.class_names == ("straight news", "opinion", "sponsored") and data.feature_names == ("size",)


@pytest.mark.parametrize("made", ["n_models_correct", "agreement"])
def test_how_many_are_right_or_say_the_same_is_not_learnt_from(tmp_path: Path, made: str) -> None:
    rolls, models = np.random.default_rng(5), [f"m-{letter}" for letter in "abcdefg"]
    rows = []
    for k in range(90):
        true = "xyz"[k % 3]
        said = [("" if p < 0.05 else true if p < 0.6 else "xyz"[int(90 * p) % 3]) for p in rolls.random(7)]
        most = max(map(said.count, filter(None, said)))
        rows.append([f"{k}.5", true, *said, said.count(true) if made == "n_models_correct" else most / len(said)])
    data = formats.read(columns_in(tmp_path, ["size", "gold", *models, made], rows))
    assert data.feature_names == ("size",) and data.annotations is not None
    assert data.annotations.annotator_names == tuple(models)


def test_labels_and_how_likely_each_is_in_one_cell_are_candidates(tmp_path: Path) -> None:
    pairs = [["Java_(island):0.25", "Java_(tea):0.75"], ["Java_(tea):1.0"], ["Java_(cat):0.9", "Java_(island):0.1"]]
    rows = [[f"{k}.5", "|".join(pairs[k % 3])] for k in range(60)]
    data = formats.read(columns_in(tmp_path, ["size", "candidates"], rows))
    assert data.class_names == ("Java_(cat)", "Java_(island)", "Java_(tea)") and data.prior is not None
    assert data.prior[:3].tolist() == [0.25, 0.75, 1.0]


@pytest.mark.parametrize(("called", "first"), [("verdict", "keep"), ("gold", "true_label")])
def test_what_a_panel_of_models_mostly_says_is_made_of_it_unless_it_is_called_the_truth(
    tmp_path: Path, called: str, first: str
) -> None:
    """Nobody who decides is always of one opinion with the most; a share of agreement is no majority."""
    rolls, rows = np.random.default_rng(2), []
    for k in range(70):
        said = rolls.permutation(["xyz"[k % 3]] * 3 + ["xyz"[(k + 1) % 3], "xyz"[(k + 2) % 3]])
        rows.append([f"{k}.5", ", ".join(said), 0.5 + k % 2 / 2, "xyz"[k % 3]])
    path = columns_in(tmp_path, ["size", "model_answers", "agreement", called], rows)
    asked = question(formats.columns(path, options=ReadOptions(columns={"model_answers": "answers"})))
    assert asked is not None and asked.answers[0][1] == {called: first}


@pytest.mark.parametrize("name", ["rooms_total", "B. total"])
def test_counts_and_their_sum_beside_a_label_are_what_is_learnt_from(tmp_path: Path, name: str) -> None:
    rolls, stem = np.random.default_rng(1), name.removesuffix("total")
    counts = rolls.integers(0, 5, (60, 3)).tolist()
    header = ["area", *(f"{stem}{one}" for one in ("bed", "bath", "other")), name, "true_label"]
    data = formats.read(
        columns_in(tmp_path, header, [[f"{k}.5", *c, sum(c), "HL"[k % 2]] for k, c in enumerate(counts)])
    )
    assert {*data.class_names} == {"H", "L"} and data.annotations is None and len(data.feature_names) == 5


def test_y_beside_labelling_functions_is_asked_about_and_not_learnt_from(tmp_path: Path) -> None:
    rolls = np.random.default_rng(4)
    truth = rolls.integers(0, 2, 90)
    lfs = [[-1 if p < 0.6 else one if p < 0.92 else 1 - one for p in rolls.random(5)] for one in truth.tolist()]
    rows = [[f"{k}.5", *lfs[k], truth[k]] for k in range(90)]
    asked = question(formats.columns(columns_in(tmp_path, ["size", *(f"lf_{one}" for one in "abcde"), "y"], rows)))
    assert asked is not None and asked.answers[0][1] == {"y": "true_label"}

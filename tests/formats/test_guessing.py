"""Which column plays which part: what is guessed, what is not, and what the user says."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from pll import formats
from pll.errors import UserError
from pll.formats.reading import question
from pll.formats.roles import roles_of
from pll.formats.tabular.cells import guess_separator, join_names, split_cell
from pll.runs.data import warnings_about

from .strategies import answers, named_sets, named_truth
from .test_csv import table
from .test_forms import read_first


def roles(explicit: dict[str, str] | None = None, /, **columns: list[str | None]) -> dict[str, str]:
    return {column.name: column.role for column in roles_of(list(columns), list(columns.values()), explicit)}


def answered(**columns: list[str | None]) -> dict[str, str]:
    """What the columns are by the first answer to the question that is asked."""
    asked = question(roles_of(list(columns), list(columns.values())))
    assert asked is not None
    return roles(dict(asked.answers[0][1]), **columns)


def test_numbers_with_more_digits_than_a_number_has_are_not_learnt_from() -> None:
    long, short = ([str(start + 131 * k * k) for k in range(20)] for start in (587722981736120347, 1000))
    assert roles(galaxy=long, mass=short) == {"galaxy": "keep", "mass": "feature"}


@pytest.mark.parametrize(
    "words", [["商品", "とても", "良い", "届くのが", "遅い", "です"], ["服务", "很好", "物流", "太慢", "质量", "一般"]]
)
def test_texts_in_a_writing_without_spaces_are_there_to_read(words: list[str]) -> None:
    rolls = random.Random(0)
    texts: list[str | None] = ["".join(rolls.sample(words, 5)) + f"{k}。" for k in range(30)]
    given = {name: [rolls.choice(["A", "B"]) for _ in texts] for name in ("annotator_1", "annotator_2")}
    assert roles(内容=texts, **given)["内容"] == "text"


@pytest.mark.parametrize("kind", ["pair", "before", "remark", "again", "after"])
def test_several_texts_are_read_one_after_the_other_but_no_remarks(tmp_path: Path, kind: str) -> None:
    rolls, words = random.Random(0), ["dog", "runs", "fast", "over", "green", "grass", "today", "alone"]
    texts = [[" ".join(rolls.choices(words, k=6)) for _ in range(30)] for _ in range(2)]
    first, second = {"pair": ("sentence1", "sentence2"), "remark": ("text", "Comment")}.get(kind, ("text", "Wider"))
    given = {f"annotator_{k}": [rolls.choice(["yes", "no"]) for _ in range(30)] for k in (1, 2)}
    columns = {first: texts[0], second: texts[0] if kind == "again" else texts[1]}
    columns = columns | given if kind != "after" else {first: texts[0], **given, second: texts[1]}
    are_both = kind in ("pair", "before")
    assert roles(**columns)[second] == ("text" if are_both else "keep")
    path = tmp_path / "t.csv"
    path.write_text("\n".join(",".join(row) for row in [[*columns], *zip(*columns.values(), strict=True)]))
    read = formats.read(path).texts
    both = f"{first}: {texts[0][0]}\n{second}: {texts[1][0]}"
    assert read is not None and read[0] == (both if are_both else texts[0][0])


@pytest.mark.parametrize(
    "name",
    [
        lambda k: f"{1 + k // 9}.{1 + k % 9}",  # clauses
        lambda k: f"{1 + k // 12}.{1 + k % 12:02}",
        lambda k: f"{(51, 32, 40)[k % 3]}.{1 + k:03}",  # posts, counted through all offices
        lambda k: f"1987.{10 + k}",  # what came to a museum in a year
        lambda k: f"Reg. 12, c. {1 + k // 2}{'rv'[k % 2]}",
        lambda k: f"US 4{k % 7}/{k}",
    ],
)
def test_numbers_in_parts_name_the_rows(name: Callable[[int], str]) -> None:
    rng = np.random.default_rng(0)
    votes = {f"rater_{k}": list(rng.choice(["cat", "dog", "fox"], 60)) for k in range(3)}
    columns = {"where": [name(k) for k in range(60)], "width": [f"{x:.2f}" for x in rng.normal(9, 2, 60)], **votes}
    assert roles(**columns)["where"] == "id" and roles(**columns)["width"] == "feature"


@pytest.mark.parametrize("decimals", [1, 2, 3])
@pytest.mark.parametrize("mean", [0.4, 7.2, 1013.0])
def test_measurements_name_no_rows(decimals: int, mean: float) -> None:
    for seed in range(6):
        rng = np.random.default_rng(seed)
        widths = {f"{x:.{decimals}f}" for x in rng.normal(mean, mean / 40, 60)}  # each once
        votes = {f"rater_{k}": list(rng.choice(["cat", "dog", "fox"], len(widths))) for k in range(3)}
        assert roles(where=sorted(widths, key=hash), **votes)["where"] == "feature"


def test_a_list_of_words_is_a_text(tmp_path: Path) -> None:
    rows = [
        {"post": [f"word{k}", "so", "it", "is"], "marks": [[0, 1, 0, 1, k]], "votes": ["x", "y"]} for k in range(30)
    ]
    (tmp_path / "t.json").write_text(json.dumps(rows))
    read = formats.read(tmp_path / "t.json").texts
    assert read is not None and read[0] == "word0 so it is"


def test_what_was_made_of_the_votes_is_not_learnt_from() -> None:
    rng = np.random.default_rng(0)
    said = rng.choice(["cat", "dog", "fox", ""], (90, 3))
    columns: dict[str, list[str | None]] = {f"rater_{k}": list(said[:, k]) for k in range(3)}
    columns["silent"] = [str((row == "").sum()) for row in said]
    columns["agreement"] = [f"{max((row == one).sum() for one in row) / 3:.2f}" for row in said]
    columns["legs"] = list(rng.choice(["2", "4"], 90))
    columns["colour"] = ["red"] * 89 + ["blue"]  # the same nearly everywhere is no evidence
    assert list(roles(None, **columns).values())[3:] == ["keep", "keep", "feature", "category"]


def test_shares_of_counts_are_not_learnt_from() -> None:
    numbers = np.random.default_rng(0).multinomial(30, [0.34, 0.33, 0.33], 60)
    columns: dict[str, list[str | None]] = {
        f"{name}_count": [str(one) for one in numbers[:, k]] for k, name in enumerate(("smooth", "disk", "star"))
    }
    columns["smooth_fraction"] = [f"{row[0] / 30:.3f}" for row in numbers]
    columns["clear"] = [["smooth", "disk", "star"][row.argmax()] if row.max() > 12 else "" for row in numbers]
    columns["redshift"] = [f"{one:.3f}" for one in np.random.default_rng(1).random(60)]
    assert list(roles(None, **columns).values()) == ["count"] * 3 + ["keep", "keep", "feature"]


LABELS = ["cat", "dog", "cat", None]
NUMBERS: list[str | None] = ["1.5", "2", "", "7"]


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ({"ID": LABELS, "Candidates": LABELS, "confidence": NUMBERS}, "id candidates keep"),
        ({"identified_label": LABELS, "confidence": NUMBERS, "source": LABELS}, "ignore ignore ignore"),
        ({"num_annotations": NUMBERS, "consensus_label": NUMBERS}, "ignore ignore"),
        ({"width": NUMBERS, "colour": LABELS}, "feature category"),
        ({"width": NUMBERS, "typo": ["1", "2", "x", "4"]}, "feature feature"),  # reading will name the row
        ({"comma": ["1,5", "2,5"]}, "feature"),
        ({"points": ["1.500", "1.200,5"], "comma": ["1,5", "2"]}, "feature feature"),
        ({"thousands": ["1,500", "2,300"]}, "feature"),  # reading will name the row
        ({"vector": ["[0.5, 1]", "[1 2.5]"], "classes": ["[1, 2]", "[2]"]}, "vector category"),
        ({"annotator_1": LABELS, "annotator_2": LABELS}, "annotator annotator"),
        ({"ann1": LABELS, "ann2": LABELS}, "annotator annotator"),
        ({"ann2019": LABELS, "ann2020": LABELS}, "category category"),  # years
        ({"worker A": LABELS, "worker B": LABELS, "x": NUMBERS}, "annotator annotator feature"),
        ({"worker_ann": LABELS, "worker_bob": LABELS}, "annotator annotator"),
        ({"worker_age": ["20", "30"], "worker_country": ["us", "fr"]}, "feature category"),
        ({"annotator_1": NUMBERS, "annotator_2": NUMBERS}, "feature feature"),  # 1.5 is no label
        ({"annotateur 1": LABELS, "annotateur 2": LABELS, "classe": LABELS}, "annotator annotator true_label"),
        ({"lf_sorry": ["late", None], "lf_thanks": [None, "praise"]}, "annotator annotator"),  # of one word each
        ({"votes_cat": ["2", "0"], "votes_dog": ["1", "3"]}, "count count"),
        ({"annotator_1": LABELS, "x": NUMBERS}, "annotator feature"),  # one alone, where nothing else is a label
        ({"annotator_1": LABELS, "true_label": LABELS}, "annotator true_label"),
        ({"candidates": LABELS, "annotator_1": LABELS, "annotator_2": LABELS}, "candidates annotator annotator"),
        ({"candidates": LABELS, "annotator:ann": LABELS}, "candidates annotator"),
        ({"task": ["1", "1"], "annotator": ["a", "b"], "label": ["x", "y"]}, "task worker vote"),
        ({"worker_id": ["a", "b"], "item": ["1", "1"], "answer": ["x", "y"]}, "worker task vote"),
        ({"id": ["1", "1"], "annotator": ["a", "b"], "label": ["x", "y"]}, "task worker vote"),
        ({"id": ["1", "2"], "annotator": ["a", "b"], "label": ["x", "y"]}, "id keep true_label"),
        ({"class_cat": ["1", "0"], "class_dog": ["1", "1"]}, "class class"),
        ({"class_cat": ["1", "0"], "class_dog": ["1", "2"]}, "feature feature"),
        ({"label_1": ["1", "0"], "label_2": ["1", "1"]}, "class class"),
        ({"label_1": ["1", "0"], "label_2": ["1", "0"]}, "annotator annotator"),  # a row without any class
        ({"cat": ["1", "0"], "dog": ["1", "1"], "true_label": ["cat", "dog"]}, "class class true_label"),
        ({"cat": ["1", "0"], "dog": ["1", "1"]}, "feature feature"),
        ({"x": NUMBERS, "label": ["0", "1"] * 2}, "feature true_label"),
        ({"x": NUMBERS, "label": ["cat|dog", "cat"] * 2}, "feature candidates"),
        ({"x": NUMBERS, "y": NUMBERS}, "feature feature"),
        ({"label": ["cat/dog", "dog/cat"], "x": ["1", "2"]}, "candidates feature"),
        ({"kinds": ["cat; dog", "dog; fox", "fox; cat", "cat"] * 2}, "keep"),  # asked about: tags, or candidates
        ({"kinds": ["cat; dog", "dog; fox", "fox; cat", "cat"] * 2, "label": ["a", "b"] * 4}, "category true_label"),
        ({"candidates": ["cat|dog", "dog"], "expert": ["cat", None]}, "candidates true_label"),
        ({"candidates": ["cat|dog", "dog"], "expert": ["yes", "no"]}, "candidates category"),
        ({"candidates": ["cat|dog", "dog"], "Goldstandard": ["cat", None]}, "candidates true_label"),
        ({"target": ["0.5", "1.2"]}, "feature"),
        ({"index": ["0", "1"], "x": NUMBERS[:2]}, "id feature"),
        ({"index": ["0", "0"], "x": NUMBERS[:2]}, "feature feature"),
        ({"text": ["1", "2"], "image": ["1", "2"]}, "text image"),
        ({"mark": ["KB 75 H 1", "KB 70 B 2"] * 3, "x": NUMBERS[:2] * 3}, "category feature"),  # of few words, no text
        ({"review": ["a good one", "not so good"], "file": ["a.png", "b.png"]}, "text image"),
        ({"words": ["one two three four", "five six seven eight"], "b": ["as by do elm", "fig go in ja"]}, "text text"),
        ({"name": [f"{'xyz'[k % 3]} n{k}" for k in range(50)]}, "keep"),
        ({"name": [f"n{k}" for k in range(50)]}, "id"),
        ({"x": [str(k) for k in range(3, 9)]}, "id"),  # counts the rows
        ({"rec": [f"GSLC-0{k % 4}" for k in range(40)], "reading_time_s": NUMBERS * 10}, "keep keep"),
        ({"samtal": LABELS * 10, "Created By": ["Li", "Al"] * 20, "width": NUMBERS * 10}, "keep keep feature"),
        ({"grade": [f"grade {k % 4}" for k in range(40)], "time": NUMBERS * 10}, "category feature"),
        ({"unnamed 1": ["0", "1"], "x": NUMBERS[:2], "unnamed 3": ["", ""]}, "id feature ignore"),
        ({"unnamed 1": ["0", "0"], "x": NUMBERS[:2]}, "feature feature"),
        ({"Unnamed: 0": ["0", "1"], "x": NUMBERS[:2]}, "id feature"),
    ],
)  # fmt: skip
def test_what_is_guessed(columns: dict[str, list[str | None]], expected: str) -> None:
    assert " ".join(roles(**columns).values()) == expected


def test_what_the_user_says_counts() -> None:
    assert roles({"zip": "category", "who": "ignore"}, zip=NUMBERS, who=LABELS) == {"zip": "category", "who": "ignore"}
    assert roles({"a": "annotator"}, a=LABELS, b=LABELS) == {"a": "annotator", "b": "annotator"}  # of one vocabulary
    assert roles({"a": "category"}, a=LABELS, b=LABELS) == {"a": "category", "b": "category"}


@pytest.mark.parametrize(
    ("explicit", "words"),
    [
        ({"z": "id"}, "There is no column 'z'; there are a, b"),
        ({"a": "thing"}, "The column a cannot be 'thing'; use one of id, text"),
        ({"a": "id", "b": "id"}, "The columns a and b both are id"),
    ],
)
def test_what_cannot_be_said(explicit: dict[str, str], words: str) -> None:
    with pytest.raises(UserError, match=words):
        roles(explicit, a=LABELS, b=LABELS)


ANNA = ["praise", "Late ", "late", "damaged", "N/A", "praise", "late", "damaged"]
BERT = ["PRAISE", "late", "damaged", "damaged", "late", "", "late", "late"]
CLEO = ["praise", "late", "late", "?", "praise", "praise", "Damaged", "damaged"]


YES_NO: list[str | None] = ["yes", "no"] * 4
LONG = [[f"{word}: of goods that a customer has paid and never got, in whole or in part" for word in "aabbcc"] * 2] * 3
TOPIC: list[str | None] = ["art", "sports", "sports", "trade"] * 2
BAD: list[str | None] = ["damaged", "late", "praise", "late"] * 2


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ({"Anna": ANNA, "Bert": BERT, "Chloé": CLEO}, "annotator annotator annotator"),
        ({"Anna": ANNA, "Bert": BERT, "Eve": BAD}, "annotator annotator annotator"),  # however bad she is
        (dict(zip("ABC", LONG, strict=True)), "annotator annotator annotator"),  # names as long as a sentence
        ({"colour": ["red", "blue"] * 4, "A": ANNA, "B": BERT, "C": CLEO}, "category annotator annotator annotator"),
        ({"A": ANNA, "B": BERT, "C": CLEO, "spam": ["late", None] * 4}, "annotator " * 3 + "annotator"),  # of one word
        ({"Anna": ANNA, "Bert": BERT, "gold": ["late", "praise", "damaged", ""] * 2}, "annotator annotator true_label"),
        ({"Anna": ANNA, "gold": ["late", "praise", "damaged", ""] * 2}, "annotator true_label"),
        ({"Anna": ANNA, "Bert": BERT, "label": ["x", "y"] * 4}, "category category true_label"),  # of something else
        ({"a": YES_NO, "b": YES_NO, "c": YES_NO, "label": ["x", "y"] * 4}, "category category category true_label"),
        ({"candidates": ["late|praise|damaged"] * 8, "Anna": ANNA, "Bert": BERT}, "candidates annotator annotator"),
        ({"candidates": ["a|b"] * 8, "Anna": ANNA, "Bert": BERT}, "candidates category category"),
    ],
)  # fmt: skip
def test_columns_of_one_vocabulary_are_voters(columns: dict[str, list[str | None]], expected: str) -> None:
    guesses = roles_of(list(columns), list(columns.values()))
    assert " ".join(column.role for column in guesses) == expected and question(guesses) is None


@pytest.mark.parametrize(
    ("columns", "answers"),
    [
        ({"Anna": ANNA, "Bert": BERT}, {"annotator", "category"}),
        ({"a": YES_NO, "b": YES_NO, "c": YES_NO}, {"annotator", "category", "class"}),
        ({"a": YES_NO, "b": YES_NO, "y_true": YES_NO}, {"annotator", "category"}),
        ({"A": ANNA, "B": BERT, "C": CLEO, "label": ["x", "y"] * 4}, {"annotator", "category"}),
        ({"A": ANNA, "B": BERT, "gold": ["late", *[""] * 7]}, {"annotator", "category"}),  # names one class
        ({"candidates": ["late|praise|damaged"] * 8, "Anna": ANNA}, {"true_label", "keep"}),
        (
            {"label": BAD * 2, "other": ["late", "praise", "late", ""] * 4},
            {"candidate", "annotator", "true_label", "keep"},
        ),
        (
            {f"{who}_{what}": cells for what, cells in (("tone", ANNA), ("topic", TOPIC)) for who in "ABC"},
            {"annotator", "keep"},
        ),
    ],
)
def test_where_two_roles_are_possible_a_person_is_asked_once(
    tmp_path: Path, columns: dict[str, list[str | None]], answers: set[str]
) -> None:
    open_question = question(roles_of(list(columns), list(columns.values())))
    assert (
        open_question is not None and {role for _, roles in open_question.answers for role in roles.values()} == answers
    )
    rows = [",".join(cell or "" for cell in row) for row in zip(*columns.values(), strict=True)]
    with pytest.raises(UserError, match=r"--column \w+=\w+"):
        table(tmp_path, "\n".join([",".join(columns), *rows]) + "\n")
    for _, explicit in open_question.answers:
        guesses = roles_of(list(columns), list(columns.values()), explicit)
        assert question(guesses) is None
        assert explicit.items() <= {one.name: one.role for one in guesses}.items()


def test_the_ids_of_rows_may_be_the_people() -> None:
    columns: dict[str, list[str | None]] = {"id": ["Anna", "Bo", "Cem"]}
    columns |= {f"q{k}": ["late", "late", ("praise", "damaged", "late")[k % 3]] for k in range(30)}
    columns["q30"] = ["late", "praise", "damaged"]  # as different as names are
    asked = question(roles_of(list(columns), list(columns.values())))
    assert asked is not None and asked.answers[0][1] == {"id": "person"} | dict.fromkeys(list(columns)[1:], "item")


def test_numbered_columns_beside_when_each_row_was_sent_may_be_the_examples() -> None:
    columns: dict[str, list[str | None]] = {"gesendet": [f"2024-03-01 10:{k:02}" for k in range(24)]}
    columns |= {"wer": [f"T{k}" for k in range(24)], "Alter": [str(20 + k % 9) for k in range(24)]}
    columns |= {f"Bild {k}": ["late", "praise", "damaged", "late"] * 6 for k in range(1, 7)}
    asked = question(roles_of(list(columns), list(columns.values())))
    assert asked is not None and asked.answers[0][1] == {"wer": "person"} | dict.fromkeys(list(columns)[3:], "item")


def test_numbered_columns_that_agree_in_rows_told_by_the_time_are_voters() -> None:
    """As scorers of one night do, an epoch a row; not what a form was filled with, whoever sent it."""
    rolls = random.Random(3)
    stages = [rolls.choice(["W", "N1", "N2"]) for _ in range(60)]
    columns: dict[str, list[str | None]] = {"clock": [f"22:{k // 2:02}:{30 * (k % 2):02}" for k in range(60)]}
    columns |= {f"Sc{k}": [s if rolls.random() < 0.8 else rolls.choice(stages) for s in stages] for k in range(1, 6)}
    assert {roles(**columns)[f"Sc{k}"] for k in range(1, 6)} == {"annotator"}
    sent = roles_of(list(columns), [columns["clock"], *([rolls.choice(stages) for _ in stages] for _ in range(5))])
    assert question(sent) is not None


# ---- through a whole file --------------------------------------------------------------------------------------------


def test_annotator_columns_become_their_union(tmp_path: Path) -> None:
    data = table(tmp_path, "x,annotator_1,annotator_2\n1,cat,dog\n2,cat,\n3,,\n4,cat|fox,cat\n")
    assert named_sets(data) == [{"cat", "dog"}, {"cat"}, {"cat", "dog", "fox"}, {"cat", "fox"}]
    assert answers(data) == [
        (0, "annotator_1", "cat"),
        (0, "annotator_2", "dog"),
        (1, "annotator_1", "cat"),
        (3, "annotator_1", "cat"),
        (3, "annotator_1", "fox"),
        (3, "annotator_2", "cat"),
    ]
    warnings = " ".join(warnings_about(data))
    assert "1 of 4 examples" in warnings and "annotator_1, annotator_2" in warnings
    largest = table(tmp_path, "x,annotator_1,annotator_2\n1,cat|fox,dog\n", combine="largest")
    assert named_sets(largest) == [{"cat", "fox"}]


def test_long_form_is_grouped(tmp_path: Path) -> None:
    data = table(
        tmp_path,
        "task,annotator,label,width,text\nb,ann,cat,1,first\na,bob,dog,2,second\nb,bob,fox,1,first\nb,ann,ape,1,first\n"
        "c,bob,,3,third\n",
    )
    assert data.row_ids.tolist() == ["b", "a", "c"] and data.X.ravel().tolist() == [1, 2, 3]
    assert named_sets(data) == [{"ape", "cat", "fox"}, {"dog"}, {"ape", "cat", "dog", "fox"}]
    assert answers(data) == [(0, "ann", "ape"), (0, "ann", "cat"), (0, "bob", "fox"), (1, "bob", "dog")]
    assert data.texts is not None and data.texts.tolist() == ["first", "second", "third"]


def test_class_columns(tmp_path: Path) -> None:
    data = table(tmp_path, "x,candidate:a|b,candidate:NA,true_label\n1,1,0,a|b\n2,1,1,other\n")
    assert named_sets(data) == [{"a|b"}, {"a|b", "NA"}] and named_truth(data) == ["a|b", "other"]
    assert data.class_names == ("a|b", "NA", "other") and data.feature_names == ("x",)
    named = table(tmp_path, "candidate:b,candidate:a\n1,0\n1,1\n", class_names=("a", "b"))
    assert named.class_names == ("a", "b") and named_sets(named) == [{"b"}, {"a", "b"}]
    with pytest.raises(UserError, match="Row 3 has an empty candidate set"):
        table(tmp_path, "x,candidate:a,candidate:b\n1,1,0\n2,0,0\n")


def test_words_and_numbers_and_missing_cells(tmp_path: Path) -> None:
    data = table(tmp_path, "width,colour,size,candidates\n1.5,red,,a\n?,,M,b\n2,NA,L,a|b\n")
    assert np.isnan(data.X.ravel()).tolist() == [False, True, False] and data.feature_names == ("width",)
    assert {name: cells.tolist() for name, cells in data.categories.items()} == {
        "colour": ["red", None, "NA"],
        "size": [None, "M", "L"],
    }
    assert any("Columns of words" in note for note in data.notes)


def test_a_label_is_never_learnt_from_by_mistake(tmp_path: Path) -> None:
    data = table(tmp_path, "x,label\n1,cat\n2,dog\n")
    assert named_truth(data) == ["cat", "dog"] and not data.categories
    assert any("label" in note for note in data.notes)


@pytest.mark.parametrize(
    "cells",
    [
        ("['ape', 'cat']", "['cat']", "['cat', 'dog']", "['ape', 'dog']"),
        ('"ape, cat"', "cat", '"cat, dog"', '"ape, dog"'),
        ("ape/cat|cat", "cat", "cat|dog", "ape/cat|dog"),
    ],
)
@pytest.mark.parametrize("name", ["labels", "what Ann chose"])
def test_a_column_of_several_labels_is_the_candidates(tmp_path: Path, name: str, cells: tuple[str, ...]) -> None:
    quoted = [cell if cell.startswith('"') else f'"{cell}"' for cell in cells]
    rows = [
        f"{k},{cell},{truth}" for k, (cell, truth) in enumerate(zip(quoted, ("cat", "cat", "dog", "dog"), strict=True))
    ]
    data = table(tmp_path, "\n".join([f"x,{name},gold", *rows]) + "\n")
    assert data.candidates is not None and data.candidates.sizes.tolist() == [2, 1, 2, 2]
    assert named_truth(data) == ["cat", "cat", "dog", "dog"] and data.feature_names == ("x",)
    assert f"Column {name} was taken for the candidates." in data.notes


def test_probabilities_are_sets_with_a_prior_and_never_features(tmp_path: Path) -> None:
    text = "x,prob_cat,prob_dog,prob_fox,gold\n1,0.7,0.295,0.005,cat\n2,0,1,0,dog\n3,,,,fox\n4,0.4,0.3,0.3,owl\n"
    data = table(tmp_path, text)
    assert data.feature_names == ("x",) and data.class_names == ("cat", "dog", "fox", "owl")
    assert named_sets(data) == [{"cat", "dog"}, {"dog"}, {"cat", "dog", "fox"}, {"cat", "dog", "fox"}]
    assert data.prior is not None and named_truth(data) == ["cat", "dog", "fox", "owl"]
    np.testing.assert_allclose(data.prior, [0.7 / 0.995, 0.295 / 0.995, 1, *[1 / 3] * 3, 0.4, 0.3, 0.3], rtol=1e-6)
    with pytest.raises(UserError, match=r"Row 3, column dog.*probability"):
        table(
            tmp_path,
            "x,prob_cat,prob_dog\n1,0.5,0.5\n2,1,-1\n",
            columns={"prob_cat": "probability", "prob_dog": "probability"},
        )
    assert table(tmp_path, "prob_rain,prob_sun,candidates\n0.5,0.5,a\n").feature_names == ("prob_rain", "prob_sun")
    assert table(tmp_path, "prob_rain,prob_wind,label\n0.5,0.9,a\n1,1,b\n").feature_names == ("prob_rain", "prob_wind")


PEOPLE = ["late", "late", "praise", "damaged", "late", "praise"] * 4
"""What somebody said, with the slips of the finger below."""


@pytest.mark.parametrize("name", ["expert", "Adjudicated", "final label", "Gold-Standard"])
def test_what_was_settled_is_the_truth_and_no_vote(name: str) -> None:
    adjudicated = [label if row % 5 == 0 else "" for row, label in enumerate(PEOPLE)]
    assert roles(Anna=PEOPLE, Bert=PEOPLE, **{name: adjudicated})[name] == "true_label"


def test_lists_of_numbers_are_features(tmp_path: Path) -> None:
    data = table(tmp_path, "id;x;emb;candidates\na;7;[0.5, -1];x|y\nb;8;[0.25 2.];x\nc;9;;y\n")
    assert data.feature_names == ("x", "emb 1", "emb 2")
    assert data.X[:2].tolist() == [[7.0, 0.5, -1.0], [8.0, 0.25, 2.0]]
    assert data.X[2, 0] == 9.0
    assert np.isnan(data.X[2, 1:]).all()
    rows = '"[0.5, 1]",a|b\n' * 200 + '"[1, 2, 3]",a\n'
    with pytest.raises(UserError, match="Row 202, column emb holds a list of 3 numbers, others have 2"):
        table(tmp_path, "emb,candidates\n" + rows)


IDS = [
    ("Ticket", [f"T-{20_000 + k}" for k in range(8)]),
    ("note_no", [f"N{k:05}" for k in range(8)]),
    ("case", [str(1000 + 7 * k) for k in range(8)]),
    ("Fall-Nr.", [str(k) for k in range(8)]),
    ("numéro", [str(k) for k in range(8)]),
    ("t", [str(k) for k in range(7, 15)]),
]


@pytest.mark.parametrize(("name", "cells"), IDS)
def test_distinct_cells_under_the_name_of_an_id_are_the_ids(name: str, cells: list[str | None]) -> None:
    others: dict[str, list[str | None]] = {"x": [f"{k % 3}.5" for k in range(len(cells))]}
    assert roles({}, **others, **{name: cells})[name] == "id"
    assert roles({name: "keep"}, **others, **{name: cells})[name] == "keep"
    assert roles({}, id=[str(k) for k in range(len(cells))], **{name: cells})[name] != "id"


CITIES = ("Bern", "Genf", "St. Gallen", "Zug")
TRUTH = [CITIES[k] for k in np.random.default_rng(0).integers(0, 4, 60)]
LISTS = [list(dict.fromkeys([name, CITIES[k % 4], CITIES[k % 3]])) for k, name in enumerate(TRUTH)]


def test_a_column_that_names_candidates_is_never_learnt_from() -> None:
    sets: list[str | None] = ["|".join(names) for names in LISTS]
    named: list[str | None] = [*TRUTH]
    guesses = roles_of(["candidates", "Ort"], [sets, named])
    open_question = question(guesses)
    assert (
        guesses[1].role == "keep" and open_question is not None and open_question.answers[0][1] == {"Ort": "true_label"}
    )
    assert roles(candidates=sets, gt=named)["gt"] == "true_label"


@pytest.mark.parametrize("written", ["P({})", "prob_{}", "softmax.{}", "{}"])
def test_shares_under_the_names_of_classes_are_probabilities(written: str) -> None:
    shares = np.random.default_rng(2).dirichlet(np.ones(4), 60).round(4)
    columns: dict[str, list[str | None]] = {
        written.format(name): [str(share) for share in shares[:, k]] for k, name in enumerate(CITIES)
    }
    weight: list[str | None] = [str(k / 40) for k in range(60)]
    header, cells = [*columns, "w", "label"], [*columns.values(), weight, [*TRUTH]]
    guesses = {column.display_name: column.role for column in roles_of(header, cells)}
    assert {name: guesses[name] for name in CITIES} == dict.fromkeys(CITIES, "probability") and guesses[
        "w"
    ] == "feature"
    soils: list[str | None] = ["clay", "sand", "silt"] * 20
    assert "probability" not in roles(**columns, true_label=soils).values()  # shares of something else


@pytest.mark.parametrize(
    ("written", "names"),
    [
        ("{'Bern', 'Zug'}", ("Bern", "Zug")),
        ("('Bern',)", ("Bern",)),
        ("set()", ()),
        ("{}", ()),
        ("(none)", ("(none)",)),
        ("""{"L'Aquila", 'Bern'}""", ("Bern", "L'Aquila")),
    ],
)
def test_sets_as_programs_write_them(written: str, names: tuple[str, ...]) -> None:
    assert split_cell(written) == names
    assert split_cell(join_names(names)) == names  # what is written is read back
    assert all(split_cell(join_names([name])) == (name,) for name in ("{x}", "('x')", "set()"))


COUNTS = np.random.default_rng(3).multinomial(20, [0.4, 0.3, 0.2, 0.1], 30)


@pytest.mark.parametrize("written", ["{:d}", "{:.0f}%"])
def test_columns_named_as_the_labels_are_counts_of_people(tmp_path: Path, written: str) -> None:
    cells = [[written.format(n if "d" in written else n * 5) for n in row] for row in COUNTS.tolist()]
    mood = [CITIES[k] for k in COUNTS.argmax(axis=1)]
    text = "\n".join(",".join([*row, name]) for row, name in zip(cells, mood, strict=True))
    data = table(tmp_path, ",".join(CITIES) + ",label\n" + text + "\n")
    assert data.prior is not None and data.X.shape == (30, 0)
    assert data.y is None  # the class with most votes is made of the counts, and nobody's truth
    np.testing.assert_allclose(data.prior, (COUNTS / 20)[COUNTS > 0], rtol=1e-6)


@pytest.mark.parametrize("signs", ["|｜", ";；؛", ",،、，", "/／"])
def test_separators_of_other_writings_are_as_the_plain_one(signs: str) -> None:
    for sign in signs:
        cells = [sign.join(names) for names in LISTS]
        assert guess_separator(cells) == signs[0]
        assert [split_cell(cell, signs[0]) for cell in cells] == [tuple(names) for names in LISTS]
    assert split_cell(join_names([f"a{signs[-1]}b", "c"])) == (f"a{signs[-1]}b", "c")


@pytest.mark.parametrize("mark", [" or ", " oder ", " od. ", " أو ", "または", " & ", " - ", "\n"])
def test_words_and_lines_separate_labels(mark: str) -> None:
    assert roles(label=[mark.join(names) for names in LISTS])["label"] == "candidates"
    assert guess_separator([mark.join(names) for names in LISTS]) == mark
    assert guess_separator(["black or white", "red", "black or white"]) == "|"


LONG = [f"Category {k:02}: complaints about late or incomplete deliveries of kind {k}" for k in range(24)]


@pytest.mark.parametrize("mark", ["|", ";", "\n"])
def test_lists_of_long_names_may_be_the_candidates(mark: str) -> None:
    sets: list[str | None] = [mark.join(LONG[(k * step) % 24] for step in (1, 5, 7)) for k in range(1, 72)]
    assert answered(kinds=sets, width=[f"{k % 7}.5" for k in range(len(sets))]) == {
        "kinds": "candidates",
        "width": "feature",
    }


def test_words_after_the_labels_are_about_the_labelling_where_what_is_learnt_from_stands_before() -> None:
    words, states = ["good", "bad", "soso", "bad"] * 6, ["बंद", "बंद", "अपील"] * 8
    votes = {f"annotator_{k}": words[k:] + words[:k] for k in range(3)}
    width = [f"{k % 7}.5" for k in range(24)]
    found = roles(width=width, colour=states, **votes, स्थिति=states, Größe=width, Version=["0"] * 24)
    assert found["colour"] == "category" and found["स्थिति"] == "keep"
    assert found["Größe"] == "feature" and found["Version"] == "keep"
    assert roles(**votes, colour=states)["colour"] == "category"


def test_a_few_sets_of_words_that_recur_are_enough() -> None:
    sets: list[str | None] = ["size", "price", "size; delivery", "quality", "delivery", "price; size"] * 5
    assert answered(aspects=sets, width=["1.5"] * 30)["aspects"] == "candidates"
    numbers: list[str | None] = ["{0 1}", "{1}", "{0 2}", "{2}", "{0}", "{1 2}"] * 5
    assert answered(S=numbers, width=["1.5"] * 30)["S"] == "candidates"
    voters = roles(A=sets, B=["size", "price", "size"] * 10, C=["price", "price", "quality"] * 10)
    assert set(voters.values()) == {"annotator"}  # one of whom named two labels in some rows


@pytest.mark.parametrize("name", ["possible species", "Mögliche Arten", "ID_possible", "espèces possibles"])
def test_sets_called_possible_are_the_candidates_unless_another_column_is_called_labels(name: str) -> None:
    sets: list[str | None] = ["alba", "nigra", "alba / nigra", "rubra", "nigra / rubra", "alba"] * 5
    kinds: list[str | None] = ["statin", "opioid", "nsaid"] * 10
    assert roles(**{"width": ["1.5"] * 30, name: sets})[name] == "candidates"
    assert roles(**{"width": ["1.5"] * 30, name: sets, "drug class": kinds})[name] == "keep"  # asked about
    voters = roles(**{name: sets, **dict(zip(("ann1", "ann2", "ann3"), _votes(["pos", "neg"], rows=30), strict=True))})
    assert voters[name] != "candidates"
    assert roles(**{"width": ["1.5"] * 30, "suggested by": sets})["suggested by"] == "keep"


@pytest.mark.parametrize("mark", [", ", "; "])
def test_texts_with_commas_are_no_sets(mark: str) -> None:
    texts: list[str | None] = [f"good{mark}thanks {k}" if k % 3 else f"parcel {k} came late, sadly" for k in range(60)]
    often: list[str | None] = [*(["no comment"] * 40), *(f"late {k}{mark}sadly {k}" for k in range(20))]
    long: list[str | None] = [f"the parcel number {k} came three days late{mark}and was damaged" for k in range(60)]
    for cells in (texts, often, long):
        assert "candidates" not in roles(comment=cells, width=["1.5"] * 60).values()


@pytest.mark.parametrize(
    "when", ["2026-07-{:02d}", "{}.7.2026", "7/{}/26 9:12 PM", "2026-07-{:02d}T09:12:11.5+02:00", "09:{:02d}"]
)
def test_dates_and_times_are_kept_and_not_learnt_from(when: str) -> None:
    days = [when.format(day) for day in (1, 1, 2, 2, 3, 3)]
    assert roles(day=days, width=["1.5"] * 6, candidates=["a|b"] * 6)["day"] == "keep"
    assert roles(size=["10-12", "8-10"] * 3, candidates=["a|b"] * 6)["size"] == "category"


SCORED = """id,note,gpt,gpt_score,Claude 3,Claude 3_confidence,weight
1,red round fruit,apple,0.9,apple,0.8,1.5
2,long yellow fruit,banana,0.7,apple,,2.5
3,small red fruit,cherry,0.6,cherry,0.9,0.5
4,red fruit round,apple,0.5,cherry,0.6,1.0
5,yellow long,banana,0.99,banana,0.9,2.0
"""


def test_scores_beside_annotators_are_theirs_and_never_learnt_from(tmp_path: Path) -> None:
    file = tmp_path / "models.csv"
    file.write_text(SCORED)
    data = formats.read(file)
    assert data.feature_names == ("weight",)
    annotations = data.annotations
    assert annotations is not None and annotations.annotator_names == ("gpt", "Claude 3")
    assert annotations.scores is not None
    of_gpt, of_claude = (annotations.scores[annotations.annotators == who] for who in range(2))
    np.testing.assert_array_equal(of_gpt, [0.9, 0.7, 0.6, 0.5, 0.99])
    np.testing.assert_array_equal(of_claude, [0.8, np.nan, 0.9, 0.6, 0.9])
    for ending in ("csv", "jsonl", "parquet", "xlsx"):
        formats.write(data, tmp_path / f"again.{ending}")
        again = formats.read(tmp_path / f"again.{ending}").annotations
        assert again is not None and again.scores is not None
        np.testing.assert_array_equal(again.scores, annotations.scores)


@pytest.mark.parametrize(
    ("columns", "text", "message"),
    [
        ({"weight": "score"}, SCORED, "no annotator of that name"),
        ({"gpt_score": "score"}, SCORED.replace("0.99", "sure"), "Row 6.*score of 'gpt'.*'sure'"),
    ],
)
def test_scores_that_fit_nobody_are_refused(columns: dict[str, str], text: str, message: str, tmp_path: Path) -> None:
    file = tmp_path / "models.csv"
    file.write_text(text)
    with pytest.raises(UserError, match=message):
        formats.read(file, columns=columns)


@pytest.mark.parametrize("stem", ["option_", "candidate ", "Choice"])
def test_columns_of_one_candidate_each_are_no_voters(tmp_path: Path, stem: str) -> None:
    rows = ["cat,dog,", "dog,fox,cat", "fox,,", "cat,fox,"]
    header = ",".join(["weight", *(f"{stem}{k}" for k in (1, 2, 3))])
    (tmp_path / "sets.csv").write_text("\n".join([header, *(f"{k}.5,{row}" for k, row in enumerate(rows))]))
    data = formats.read(tmp_path / "sets.csv")
    assert data.annotations is None and data.X.shape == (4, 1)
    assert data.sets().sizes.tolist() == [2, 3, 1, 2]


def test_an_id_of_words_that_recur_is_what_it_is_identified_as() -> None:
    rng = np.random.default_rng(0)
    ranked = [[*rng.permutation(["oak", "lime", "beech", "maple"])[: 1 + k % 3].tolist(), "", ""] for k in range(60)]
    columns: dict[str, list[str | None]] = {
        name: [row[k] for row in ranked] for k, name in enumerate(["ID", "ID 2", "ID 3"])
    }
    assert answered(size=[str(k / 7) for k in range(60)], **columns) == {
        "size": "feature",
        **dict.fromkeys(columns, "candidate"),
    }


def test_ids_that_are_no_words_of_a_few_stay_ids() -> None:
    assert roles(id=["a", "b", "c", "a"], size=["1", "2", "3", "4"])["id"] == "id"


def test_options_that_hold_their_own_name_are_candidates() -> None:
    picked = [[k % 3 == 0 or k % 5 == 0, k % 3 == 1, k % 3 == 2] for k in range(60)]
    columns: dict[str, list[str | None]] = {
        name: [name.rpartition(": ")[2] if row[k] else "" for row in picked]
        for k, name in enumerate(["Which? : Oak", "Which? : Elm", "Which? : Ash"])
    }
    found = roles(size=[str(k / 7) for k in range(60)], **columns)
    assert found == {"size": "feature", **dict.fromkeys(columns, "candidate")}


def test_ordinals_are_the_rounds_of_a_person() -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 3, 60)
    columns: dict[str, list[str | None]] = {}
    for who in ("Reader 1", "Reader 2"):
        own = np.where(rng.random(60) < 0.3, rng.integers(0, 3, 60), truth)
        for turn in ("1st", "2nd"):
            again = np.where(rng.random(60) < 0.1, rng.integers(0, 3, 60), own)
            columns[f"{who}: {turn} reading"] = [["benign", "unclear", "suspect"][k] for k in again]
    found = roles_of(list(columns), list(columns.values()))
    assert len({column.display_name for column in found}) == 2


def test_where_pupils_go_to_school_is_no_truth_beside_marks_given_by_teachers() -> None:
    rng = np.random.default_rng(0)
    level = rng.integers(1, 6, 60)
    said = np.clip(level[:, None] + rng.integers(-1, 2, (60, 3)), 1, 5)
    columns: dict[str, list[str | None]] = {"Class": [f"11{'ABC'[k % 3]}" for k in range(60)]}
    columns |= {who: [str(mark) for mark in said[:, k]] for k, who in enumerate(["KH", "DP", "LS"])}
    columns["KH"][3], columns["DP"][5], columns["LS"][7] = "2/3", "4?", "1 or 2"
    assert answered(**columns) == {"Class": "keep", **dict.fromkeys(["KH", "DP", "LS"], "annotator")}


def test_numbers_that_are_the_voters_own_by_chance_are_answers() -> None:
    assert roles(annotator_0=["0", None], annotator_1=["1", "1"]) == dict.fromkeys(
        ["annotator_0", "annotator_1"], "annotator"
    )


def test_two_columns_of_sets_in_the_same_words_may_be_two_voters() -> None:
    words, rolls = ["noise", "rent", "lifts", "heating"], random.Random(1)
    sets = [
        [rolls.sample(words, rolls.choice([1, 2, 3])), rolls.sample(words, rolls.choice([1, 1, 2]))] for _ in range(60)
    ]
    columns = [["; ".join(row[at]) for row in sets] for at in range(2)]
    asked = question(roles_of(["codes_rw", "codes_tk"], columns))
    assert asked is not None and {*asked.answers[0][1].values()} == {"annotator"}
    single = [row[1][0] for row in sets]  # the one who is sure says what is right
    asked = question(roles_of(["maybe", "seen"], [columns[0], single]))
    assert asked is not None and asked.answers[0][1] == {"maybe": "candidates", "seen": "true_label"}


def test_grades_of_people_are_told_from_other_small_numbers() -> None:
    rolls = random.Random(0)
    style = [rolls.choice("12345") for _ in range(80)]
    people = [[one if rolls.random() < 0.8 else rolls.choice("12345") for one in style] for _ in range(3)]
    table = {"session": [str(k // 13 + 1) for k in range(80)], "Gaz": people[0], "Mo": people[1], "Ruth": people[2]}
    columns = [*table.values(), [one if k % 6 else None for k, one in enumerate(style)]]
    asked = question(roles_of([*table, "bottle label"], columns))
    assert asked is not None and asked.answers[0][1] == dict.fromkeys(["Gaz", "Mo", "Ruth"], "annotator")
    asked = question(roles_of([*table, "bottle label"], columns, asked.answers[0][1]))
    assert asked is not None and asked.answers[0][1] == {"bottle label": "true_label"}
    numbers = [[str(rolls.randint(1, 5)) for _ in range(80)] for _ in range(4)]
    assert question(roles_of(["rooms", "floors", "baths", "doors"], numbers)) is None


def test_two_who_give_numbers_and_agree_are_no_counts() -> None:
    rolls = random.Random(4)
    first = [rolls.choice("12345") for _ in range(60)]
    second = [one if rolls.random() < 0.8 else rolls.choice("12345") for one in first]
    written = [f"BI-RADS {one}" if k % 20 == 0 else one for k, one in enumerate(first)]
    asked = question(roles_of(["BI-RADS Erst", "BI-RADS Zweit"], [written, second]))
    assert asked is not None and {*asked.answers[0][1].values()} == {"annotator"}


@pytest.mark.parametrize("name", ["thème", "Art", "rodzaj"])
def test_the_only_column_of_few_words_beside_texts_may_be_the_labels(name: str) -> None:
    columns = {"nr": [str(k) for k in range(40)], "what was said": [f"what was said in line {k}" for k in range(40)]}
    words = [("red", "blue", "green")[k * k % 3] for k in range(40)]
    asked = question(roles_of([*columns, name], [*columns.values(), words]))
    assert asked is not None and asked.answers[0][1] == {name: "candidates"}
    for other in ({"lang": words}, {name: words, "ton": words[::-1]}, {"colour": words}):
        header = {"width": [str(k / 7) for k in range(40)]} | other if "colour" in other else columns | other
        asked = question(roles_of([*header], [*header.values()]))
        assert asked is None or "may hold the labels" not in asked.text


def test_a_note_that_is_a_grade_is_a_voters_though_somebody_was_ill(tmp_path: Path) -> None:
    rolls, lines = random.Random(2), list[str]()
    for k in range(60):
        grade = rolls.randrange(1, 6)
        notes = [min(6, max(1, grade + rolls.choice((-1, 0, 0, 1)))) for _ in range(3)]
        cells = ["krank" if k == 7 else notes[0], notes[1], notes[2] if k % 2 else ""]
        lines.append(",".join(map(str, [f"s{k}", rolls.randrange(200, 700), *cells])))
    path = tmp_path / "grades.csv"
    path.write_text("\n".join(["pupil,words,Note Hr. A,Note Fr. B,Note Fr. C", *lines]))
    asked = question(formats.columns(path))
    assert asked is not None and list(asked.answers[0][1].values()) == ["annotator"] * 3


def test_a_doubt_is_one_where_the_same_is_said_without_it() -> None:
    titles = ["Portrait (?)", "Landscape", "Still life"] * 20
    widths: list[str | None] = [str(k * k % 37) for k in range(60)]
    assert question(roles_of(["title", "width"], [titles, widths])) is None
    doubted = [*titles[:30], *(title.removesuffix(" (?)") for title in titles[30:])]
    asked = question(roles_of(["title", "width"], [doubted, widths]))
    assert asked is not None and asked.columns == {"title"}


def test_words_under_the_name_of_a_share_of_ours_are_learnt_from() -> None:
    given: dict[str, list[str | None]] = {f"rater_{k}": [*"abab" * 5] for k in (1, 2)}
    assert roles(**given, margin=["smooth", "spiculated"] * 10)["margin"] == "category"
    assert roles(**given, margin=["0.25", "0.5"] * 10)["margin"] == "keep"


def test_days_with_the_month_in_words_are_no_text() -> None:
    days: list[str | None] = [f"{k + 1} janvier 2022 0{k % 9}:30" for k in range(20)]
    given: dict[str, list[str | None]] = {f"rater_{k}": [*"abab" * 5] for k in (1, 2)}
    assert roles(**given, made=days)["made"] == "keep"


def test_votes_that_add_up_to_how_many_answered_are_counts() -> None:
    rolls = random.Random(6)
    rows = [[rolls.randint(0, 5) for _ in "AB"] for _ in range(40)]
    columns: dict[str, list[str | None]] = {name: [str(row[k]) for row in rows] for k, name in enumerate("AB")}
    found = roles(**columns, numResponses=[str(sum(row)) for row in rows], meanEmoResp=["31.5", "44.25"] * 20)
    assert found == {"A": "count", "B": "count", "numResponses": "keep", "meanEmoResp": "keep"}


def test_names_of_authors_that_end_with_a_dot_stay(tmp_path: Path) -> None:
    kinds = ["Hieracium murorum L.", "Hieracium lachenalii Suter", "Hieracium laevigatum Willd."]
    rolls = random.Random(7)
    said = [[kinds[k % 3] if rolls.random() < 0.7 else rolls.choice(kinds) for _ in range(3)] for k in range(40)]
    text = "\n".join(["annotator_1,annotator_2,annotator_3", *map(",".join, said)])
    data = table(tmp_path, text)
    assert {*data.class_names} == {*kinds}


def test_codes_of_which_some_cells_hold_several_are_possible_labels() -> None:
    rolls = random.Random(8)
    codes: list[str | None] = [
        "; ".join(rolls.sample(["41025", "80110", "62105"], 1 + (k % 9 == 0))) for k in range(60)
    ]
    found = answered(code=codes, age=[str(rolls.randint(20, 80)) for _ in codes])
    assert found == {"code": "candidates", "age": "feature"}


def test_sentences_called_target_are_no_truth_beside_answers(tmp_path: Path) -> None:
    rolls = random.Random(9)
    rows = [
        {
            "target": f"please keep receipt {k} until the end",
            "reviews": [{"reviewer": who, "verdict": rolls.choice(["omission", "accurate"])} for who in ("ann", "bob")],
        }
        for k in range(30)
    ]
    (tmp_path / "r.json").write_text(json.dumps(rows))
    data = formats.read(tmp_path / "r.json")
    assert {*data.class_names} == {"omission", "accurate"} and data.y is None and data.texts is not None


def _votes(words: list[str], right: float = 0.75, rows: int = 60, people: int = 3) -> list[list[str | None]]:
    """Columns of what people said of rows that have a word each."""
    rolls = random.Random(13)
    true = [rolls.choice(words) for _ in range(rows)]
    return [[one if rolls.random() < right else rolls.choice(words) for one in true] for _ in range(people)]


def test_abbreviations_that_are_classes_are_no_marks_where_many_say_them(tmp_path: Path) -> None:
    said = _votes(["mel", "bcc", "nv", "df"])
    text = "\n".join(["reader_1,reader_2,reader_3", *map(",".join, zip(*said, strict=True))])  # type: ignore[arg-type]
    assert "nv" in table(tmp_path, text).class_names


def test_none_in_capitals_as_all_classes_is_one(tmp_path: Path) -> None:
    said = _votes(["FAVOR", "AGAINST", "NONE"])
    text = "\n".join(["reader_1,reader_2,reader_3", *map(",".join, zip(*said, strict=True))])  # type: ignore[arg-type]
    assert {*table(tmp_path, text).class_names} == {"FAVOR", "AGAINST", "NONE"}


def test_signs_of_a_finding_are_no_votes_beside_sets_of_labels() -> None:
    rolls = random.Random(14)
    signs: dict[str, list[str | None]] = {
        f"marker {k}": [rolls.choice(["+", "++", "-"]) for _ in range(60)] for k in "ABC"
    }
    names = ["adenoma", "carcinoid", "squamous"]
    sets: list[str | None] = [" / ".join(rolls.sample(names, 1 + k % 2)) for k in range(60)]
    found = answered(**signs, **{"diagnoses": sets})
    assert found["diagnoses"] == "candidates" and {found[name] for name in signs} == {"category"}


def test_who_is_asked_of_some_is_a_voter_where_what_came_of_it_stands_beside() -> None:
    first, second = _votes(["pass", "merit", "fail"], people=2)
    rolls = random.Random(16)
    third = [None if a == b else rolls.choice((a, b)) for a, b in zip(first, second, strict=True)]
    awarded = [b if c is None else c for b, c in zip(second, third, strict=True)]
    found = answered(**{"Marker 1": first, "Marker 2": second, "Marker 3": third, "Awarded": awarded})
    assert found["Marker 3"] == "annotator" and found["Awarded"] == "true_label"


def test_the_five_likeliest_of_a_model_are_possible_labels_and_no_items() -> None:
    rolls, names = random.Random(15), [f"Quercus k{k}" for k in range(12)]
    rows = [rolls.sample(names, 5) for _ in range(60)]
    columns: dict[str, list[str | None]] = {f"top{k + 1}_species": [row[k] for row in rows] for k in range(5)}
    columns["queried_at"] = [f"2023-05-04 10:{k:02}:00" for k in range(60)]
    found = answered(**columns)
    assert {found[f"top{k + 1}_species"] for k in range(5)} == {"candidate"}


def test_lists_in_a_column_called_as_candidates_are_they() -> None:
    names = ["Ann", "Bob", "Cem", "Dia"]
    cells = [f"{names[k % 4]}|{names[(k + 1) % 4]}" if k % 3 else names[k % 4] for k in range(40)]
    columns = {"x": [f"{k / 7:.2f}" for k in range(40)], "candidate_names": cells}
    assert [*roles(**columns).values()] == ["feature", "candidates"]


def test_functions_of_another_name_abstain_too_and_the_truth_is_none_of_them() -> None:
    said = [("-1", "1", "0")[k % 3] for k in range(60)]
    other = [("-1", "-1", "1", "0")[k % 4] for k in range(60)]
    columns = {"lf_link": said, "lf_song": other, "textblob_polarity": other[::-1], "gold": said[::-1]}
    assert [*roles(**columns).values()] == ["annotator", "annotator", "annotator", "true_label"]


def test_what_a_text_is_about_is_no_truth_and_the_year_of_an_answer_is_never_learnt(tmp_path: Path) -> None:
    rolls = random.Random(2)
    said = ["against", "favor", "none"]
    lines = ["id,tweet,target,gpt-4o,claude-3,llama-3.1,human_gold"]
    for k in range(80):
        votes = [said[k % 3] if rolls.random() < 0.8 else rolls.choice(said) for _ in range(4)]
        lines.append(f"s{k},what was said of it in tweet number {k},{['climate', 'vaccines'][k % 2]},{','.join(votes)}")
    (tmp_path / "a.csv").write_text("\n".join(lines))
    roles = {column.name: column.role for column in formats.columns(tmp_path / "a.csv")}
    assert roles["target"] == "keep" and {roles[name] for name in ("gpt-4o", "claude-3", "llama-3.1")} == {"annotator"}

    lines = ["sheet,leaf_mm,det1,det_by1,det_year1,det2,det_by2,det_year2"]
    for k in range(60):
        found = [rolls.choice(["Carex nigra", "Carex elata"]) for _ in range(2)]
        by = rolls.sample(["A. Neumann", "F. Kulesza", "H. Schmid"], 2)
        years = sorted(rolls.randint(1900, 1990) for _ in range(2))
        parts = [f"{one},{who},{year}" for one, who, year in zip(found, by, years, strict=True)]
        lines.append(f"K{k},{rolls.uniform(2, 6):.1f},{','.join(parts)}")
    (tmp_path / "b.csv").write_text("\n".join(lines))
    assert read_first(tmp_path / "b.csv").feature_names == ("leaf_mm",)


@pytest.mark.parametrize("person_is_first", [True, False])
def test_voters_who_answered_several_questions_in_the_same_words_are_asked_about(person_is_first: bool) -> None:
    rolls = random.Random(3)
    truths = {question: [rolls.choice(["low", "medium", "high"]) for _ in range(40)] for question in ("clear", "kind")}
    said: dict[str, list[str | None]] = {
        f"{who}_{question}" if person_is_first else f"{question}_{who}": [
            one if rolls.random() < 0.8 else rolls.choice(["low", "medium", "high"]) for one in truth
        ]
        for who in ("kim", "lee", "moe")
        for question, truth in truths.items()
    }
    found = answered(**said)
    assert {name for name, role in found.items() if role == "annotator"} == {name for name in said if "clear" in name}
    about_one = dict.fromkeys(said, truths["clear"])  # the same question twice
    assert question(roles_of(list(about_one), list(about_one.values()))) is None


def test_questions_in_words_of_their_own_are_asked_about_at_once_be_one_of_yes_and_no() -> None:
    rolls = random.Random(6)
    words = {"violence": ["yes", "no"], "age rating": ["6+", "12+", "16+"], "language": ["en", "de", "fr"]}
    truths = {question: [rolls.choice(some) for _ in range(40)] for question, some in words.items()}
    said: dict[str, list[str | None]] = {
        f"{question} ({who})": [one if rolls.random() < 0.8 else rolls.choice(words[question]) for one in truth]
        for question, truth in truths.items()
        for who in ("Mia", "Tariq", "Jo")
    }
    found = answered(**said)
    assert {name for name, role in found.items() if role == "annotator"} == {n for n in said if "violence" in n}


def test_in_a_grid_of_a_form_what_is_asked_about_may_end_as_an_id_or_a_fact() -> None:
    rolls = random.Random(7)
    about = ["I said it three times: no.", "What is your age?", *(f"Message {k} of the lot" for k in range(10))]
    columns: dict[str, list[str | None]] = {"Timestamp": [f"02/0{k}/2024 19:0{k}:36" for k in range(1, 9)]}
    columns |= {f"How does it sound? [{one}]": [rolls.choice(["Rude", "Kind"]) for _ in range(8)] for one in about}
    assert [*roles(**columns).values()].count("item") == len(about)


@pytest.mark.parametrize("pattern", ["{who}_{what}", "{what} ({who})"])
@pytest.mark.parametrize("questions", [("pace", "tone"), ("pace", "tone", "beat")])
def test_grades_of_the_same_people_on_several_questions_are_asked_about_by_question(
    pattern: str, questions: tuple[str, ...]
) -> None:
    """Of two people as of many, whichever part of a name comes first; what was heard, in a few sentences, is none."""
    rng, people = np.random.default_rng(0), ("Ada", "Bo", "Cy")
    truth = {what: rng.integers(1, 6, 40) for what in questions}
    said = {
        pattern.format(who=who, what=what): np.where(rng.random(40) < 0.7, truth[what], rng.integers(1, 6, 40))
        for who in people
        for what in questions
    }
    heard = ["The choir begins; the bell is late.", "It is a slow one, played by a band on the square."]
    header = ["heard", *said]
    cells = [[heard[k % 2] for k in range(40)], *([str(one) for one in own] for own in said.values())]
    open_question = question(roles_of(header, cells))
    assert open_question is not None and "hold whole numbers" in open_question.text
    asked = [{name for name, role in roles.items() if role == "annotator"} for _, roles in open_question.answers]
    assert asked[:-1] == [{pattern.format(who=who, what=what) for who in people} for what in questions]

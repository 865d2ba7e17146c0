"""Who decided is the truth, and asked about so: a third where two differ, the key, one who is called otherwise."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from pll import formats
from pll.dataset import PartialLabelDataset
from pll.formats.odd import OddReading
from tests.formats.test_about_the_labelling import WORDS, read_first, said, table


def marks(rolls: random.Random, sure: float = 0.6) -> tuple[int, int]:
    """What two markers give."""
    truth = rolls.randrange(1, 6)
    one, other = (truth if rolls.random() < sure else rolls.randrange(1, 6) for _ in "ab")
    return one, other


@pytest.mark.parametrize("names", [("JH", "SP", "KW (mod)"), ("pani Nowak", "pan Zych", "trzeci"), ("甲", "乙", "丙")])
@pytest.mark.parametrize("kind", ["asked where they differ", "did the first ones", "every row"])
def test_a_third_marker_who_is_asked_where_two_differ_decides(
    tmp_path: Path, names: tuple[str, ...], kind: str
) -> None:
    rolls, rows = random.Random(7), list[list[str]]()
    for k in range(120):
        one, other = marks(rolls)
        is_asked = {"asked where they differ": one != other and k % 3 > 0, "did the first ones": k < 40}
        third = rolls.choice((one, other, 3)) if is_asked.get(kind, True) else ""
        rows.append([f"{rolls.gauss(9, 3):.2f}", str(one), str(other), str(third)])
    data, _ = read_first(table(tmp_path, ["width", *names], rows))
    decides = kind == "asked where they differ"
    assert data.annotations is not None and data.annotations.n_annotators == 3 - decides
    assert (data.y is not None) is decides


@pytest.mark.parametrize(("known", "is_truth"), [("where they agree", False), ("everywhere", True)])
def test_what_two_agree_on_is_no_truth(tmp_path: Path, known: str, is_truth: bool) -> None:
    rolls, rows = random.Random(8), list[list[str]]()
    for k in range(60):
        one, other = marks(rolls)
        is_known = one == other or known == "everywhere"
        rows.append(
            [f"{rolls.gauss(9, 3):.2f}", f"g{one}", f"g{other}", f"g{one if k % 3 else other}" if is_known else ""]
        )
    data, _ = read_first(table(tmp_path, ["width", "Reviewer 1", "Reviewer 2", "final"], rows))
    assert data.annotations is not None and data.annotations.n_annotators == 2 and (data.y is not None) is is_truth


@pytest.mark.parametrize("last", ["Eindscore", "punkty", "оценка"])
def test_the_mark_in_the_end_is_the_truth_beside_a_third_who_was_asked(tmp_path: Path, last: str) -> None:
    rolls, rows = random.Random(9), list[list[str]]()
    for _ in range(120):
        one, other = marks(rolls)
        third = rolls.choice((one, other)) if one != other else ""
        rows.append([f"{rolls.gauss(9, 3):.2f}", *map(str, (one, other, third, third or one))])
    data, _ = read_first(table(tmp_path, ["width", "corr. A", "corr. B", "corr. C", last], rows))
    assert data.annotations is not None and data.annotations.n_annotators == 3 and data.feature_names == ("width",)
    assert data.y is not None and (data.y >= 0).all()


@pytest.mark.parametrize(
    ("name", "share", "is_truth"),
    [("Selo publicado", 0.6, True), ("afgegeven", 0.9, True), ("Checador 4 - Lu", 0.6, False)],
)
def test_one_who_is_called_otherwise_than_the_others_is_asked_about(
    tmp_path: Path, name: str, share: float, is_truth: bool
) -> None:
    rolls, rows = random.Random(11), list[list[str]]()
    for _ in range(150):
        truth = rolls.choice(WORDS)
        last = said(rolls, truth, 0.8) if rolls.random() < share else ""
        rows.append([*(said(rolls, truth) for _ in range(3)), last])
    data, asked = read_first(table(tmp_path, ["Checador 1 - Bia", "Checador 2 - Rafa", "Checador 3 - Ana", name], rows))
    assert (asked is not None and asked.answers[0][1] == {name: "true_label"}) is is_truth
    assert data.annotations is not None and data.annotations.n_annotators == 4 - is_truth


def test_what_a_laboratory_found_is_the_truth_though_readers_agree_more_among_each_other(tmp_path: Path) -> None:
    """And though it has two classes where they have four."""
    rolls, rows = random.Random(8), list[list[str]]()
    for k in range(150):
        seen = rolls.choice(("benign", "probably benign", "suspicious", "malignant"))
        found = "malignant" if seen in ("suspicious", "malignant") and k % 4 else "benign"
        readers = [seen if rolls.random() < 0.8 else "suspicious" for _ in range(4)]
        rows.append([f"{rolls.gauss(9, 3):.2f}", *readers, found if k % 3 == 0 else ""])
    header = ["width", "reader_1", "reader_2", "reader_3", "reader_4", "histology"]
    data, _ = read_first(table(tmp_path, header, rows))
    assert data.annotations is not None and data.annotations.n_annotators == 4 and data.n_classes == 4
    assert data.y is not None and (data.y >= 0).sum() == 50


@pytest.mark.parametrize("name", ["Endurteil Entscheidung", "perizia: verificato", "revealed", "moderated mark"])
@pytest.mark.parametrize("doubt", ["prob. {}", ""])
def test_one_with_doubts_is_a_voter_whatever_the_name(tmp_path: Path, name: str, doubt: str) -> None:
    rolls, rows = random.Random(5), list[list[str]]()
    for k in range(120):
        truth = rolls.choice(WORDS)
        last = said(rolls, truth, 0.8) if k % 3 else ""
        last = doubt.format(last) if doubt and last and k % 8 == 0 else last
        rows.append([f"{rolls.gauss(9, 3):.2f}", *(said(rolls, truth) for _ in range(3)), last])
    data, _ = read_first(table(tmp_path, ["width", "Anna", "Lena", "Marek", name], rows))
    assert data.annotations is not None and data.annotations.n_annotators == 3 + bool(doubt)
    assert (data.y is None) is bool(doubt)


@pytest.mark.parametrize("name", ["KEY", "gabarito", "Facit", "正解"])
def test_the_key_of_a_test_is_the_truth(tmp_path: Path, name: str) -> None:
    rolls = random.Random(12)
    kinds = [rolls.choice(WORDS) for _ in range(60)]
    rows = [[f"e{k}", kind, *(said(rolls, kind) for _ in range(4))] for k, kind in enumerate(kinds)]
    data, asked = read_first(table(tmp_path, ["film", name, "Ahmed", "Brown", "Chen", "Davies"], rows))
    assert asked is None and data.y is not None and data.annotations is not None
    assert data.annotations.annotator_names == ("Ahmed", "Brown", "Chen", "Davies")


@pytest.mark.parametrize(
    ("names", "decided"),
    [
        (("Possible species 1", "Possible species 2", "Possible species 3"), "Gen. det."),
        (("1. Tipp", "2. Tipp", "3. Tipp"), "Labor"),
    ],
)
def test_possible_labels_in_columns_beside_what_was_found_in_the_end(
    tmp_path: Path, names: tuple[str, ...], decided: str
) -> None:
    rolls, rows = random.Random(13), list[list[str]]()
    for k in range(120):
        some = rolls.sample(WORDS, rolls.randint(1, 3))
        rows.append(
            [f"{rolls.gauss(9, 3):.2f}", *some, *[""] * (3 - len(some)), rolls.choice(some) if k % 5 == 0 else ""]
        )
    data, _ = read_first(table(tmp_path, ["width", *names, decided], rows))
    assert data.annotations is None and data.candidates is not None and data.candidates.sizes.max() == 3
    assert data.y is not None and int((data.y >= 0).sum()) == 24


@pytest.mark.parametrize(
    ("names", "is_pair"),
    [
        (("Category", "QA category"), True),
        (("Rodzaj", "Rodzaj (kierownik)"), True),
        (("kind (clerk)", "kind after a check"), True),
        (("seen by Ann", "seen by Bo"), False),
        (("kind", "kind 2"), False),  # of the same weight
        (("Anna", "Berta"), False),
    ],
)
def test_a_column_called_as_the_other_and_a_word_more_is_a_check_of_it(
    tmp_path: Path, names: tuple[str, str], is_pair: bool
) -> None:
    rolls, rows = random.Random(14), list[list[str]]()
    for k in range(200):
        truth = rolls.choice(WORDS)
        rows.append([f"{rolls.gauss(9, 3):.2f}", said(rolls, truth), truth if k % 7 == 0 else ""])
    data, asked = read_first(table(tmp_path, ["width", *names], rows))
    assert asked is not None and (data.annotations is None) is is_pair is (data.y is not None)


@pytest.mark.parametrize(("name", "is_truth"), [("final", True), ("majority", False)])
def test_one_label_of_all_is_the_truth_where_its_name_says_so_and_nobody_else_could_tell(
    tmp_path: Path, name: str, is_truth: bool
) -> None:
    rolls, rows = random.Random(15), list[list[str]]()
    for k in range(200):
        truth = rolls.choice(WORDS)
        one, other, third = (said(rolls, truth, 0.8) for _ in "abc")
        most = other if other == third and k % 5 < 3 else one
        rows.append([one, other, third if k % 5 < 3 else "", most])
    data, _ = read_first(table(tmp_path, ["JM", "KS", "TB", name], rows))
    assert data.annotations is not None and data.annotations.n_annotators == 3 and (data.y is not None) is is_truth


@pytest.mark.parametrize("share", [0.7, 1.0], ids=["of some", "of all"])
def test_what_is_said_of_some_and_is_what_most_say_was_decided(tmp_path: Path, share: float) -> None:
    rolls, rows = random.Random(3), list[list[str]]()
    for _ in range(150):
        truth = rolls.choice(WORDS)
        votes = [said(rolls, truth) for _ in range(5)]
        most = max({*votes}, key=votes.count)
        rows.append([f"{rolls.gauss(9, 3):.2f}", *votes, most if rolls.random() < share else ""])
    names = ["width", "P1", "P2", "P3", "P4", "P5", "Konferencediagnose"]
    data, asked = read_first(table(tmp_path, names, rows))
    assert asked is not None and data.annotations is not None and data.annotations.n_annotators == 5
    assert (data.y is not None) is (share < 1)


def test_reasons_beside_verdicts_and_the_one_called_otherwise_are_asked_about(tmp_path: Path) -> None:
    rolls, rows = random.Random(4), list[list[str]]()
    judges, why = ("gpt", "claude", "llama", "gemini"), ["Fine.", "Not whole.", "Wrong."]
    for k in range(150):
        truth = rolls.choice(WORDS)
        votes = [said(rolls, truth) for _ in judges]
        beside = [cell for one in votes for cell in (f"**{one}**" if k % 9 == 0 else one, rolls.choice(why))]
        rows.append(
            [f"s{k}", rolls.choice(["m1", "m2"]), f"Answer {k % 97}, at length.", *beside, truth if k % 3 else ""]
        )
    header = ["sample_id", "model", "response", *(f"{j}_{what}" for j in judges for what in ("verdict", "reason"))]
    data, asked = read_first(table(tmp_path, [*header, "human_review"], rows))
    assert asked is not None and data.annotations is not None
    assert sorted(data.annotations.annotator_names) == sorted(f"{judge}_verdict" for judge in judges)
    assert data.y is not None and {*data.class_names} == {*WORDS}


@pytest.mark.parametrize("sure", [0.6, 0.97])
def test_one_of_a_few_rows_is_a_voter_more_where_the_others_agree_more_with_each_other(
    tmp_path: Path, sure: float
) -> None:
    rolls, rows = random.Random(18), list[list[str]]()
    for k in range(240):
        truth = rolls.choice(WORDS)
        last = said(rolls, truth, sure) if k % 4 == 0 else ""
        rows.append([*(said(rolls, truth, 0.85) for _ in range(3)), last])
    data, asked = read_first(table(tmp_path, ["Ann", "Bob", "Cleo", "Dana"], rows))
    assert asked is not None and "Dana" in asked.text
    assert (data.y is not None) is (sure > 0.9) and data.annotations is not None


def test_a_persons_verdict_beside_those_of_models_is_asked_about(tmp_path: Path) -> None:
    rolls, rows = random.Random(3), list[list[str]]()
    for k in range(120):
        true = rolls.choice(WORDS)
        models = [true if rolls.random() < 0.7 else rolls.choice(WORDS) for _ in range(4)]
        rows.append([f"{rolls.gauss(9, 3):.2f}", *models, true if k % 4 == 0 else ""])
    names = ["gpt_verdict", "claude_verdict", "llama_verdict", "qwen_verdict", "human_verdict"]
    scored = [[*row, *(f"it {rolls.choice(['fits', 'fails'])}" for _ in range(4))] for row in rows]
    reasons = [name.replace("verdict", "reason") for name in names[:4]]
    both, _ = read_first(table(tmp_path, ["width", *names, *reasons], scored))
    assert both.y is not None and both.annotations is not None and both.annotations.n_annotators == 4
    data, asked = read_first(table(tmp_path, ["width", *names], rows))
    assert asked is not None and asked.columns == {"human_verdict"} and data.y is not None
    assert data.annotations is not None and data.annotations.n_annotators == 4
    rows[1][2] = "ERROR: timeout"
    with pytest.raises(OddReading, match="what a program says that failed"):
        read_first(table(tmp_path, ["width", *names], rows))


def read_of(folder: Path, names: list[str], of: Callable[[random.Random, str], list[str]]) -> PartialLabelDataset:
    """What is read first of a table of 90 rows, with what each row says of a true word."""
    rolls = random.Random(3)
    truths = [rolls.choice(WORDS) for _ in range(90)]
    return read_first(table(folder, names, [[f"{rolls.gauss(9, 3):.2f}", *of(rolls, one)] for one in truths]))[0]


def test_readers_called_by_a_letter_and_a_number_are_no_rounds_of_one(tmp_path: Path) -> None:
    names = [f"R{k}_{what}" for k in (1, 2, 3) for what in ("grade", "time_s")]
    data = read_of(tmp_path, ["width", *names], lambda rolls, one: [said(rolls, one, 0.7), str(rolls.random())] * 3)
    assert data.annotations is not None and data.annotations.n_annotators == 3 and data.feature_names == ("width",)


def test_a_majority_is_not_asked_about_and_a_human_beside_models_is(tmp_path: Path) -> None:
    def of(rolls: random.Random, one: str) -> list[str]:
        votes = [said(rolls, one, 0.7) for _ in range(3)]
        most = max(votes, key=votes.count)
        return [*votes, most if votes.count(most) > 1 else "tie", one if rolls.random() < 0.2 else ""]

    header = ["width", "gpt", "claude", "llama", "Większość", "human_label"]
    data = read_of(tmp_path, header, of)
    assert data.annotations is not None and data.annotations.annotator_names == ("gpt", "claude", "llama")
    assert data.y is not None and 0 < (data.y >= 0).sum() < 45 and "Większość" in data.extras


def test_beside_what_is_final_the_one_who_is_asked_seldom_is_a_voter(tmp_path: Path) -> None:
    def of(rolls: random.Random, one: str) -> list[str]:
        votes = [said(rolls, one, 0.8) for _ in range(2)]
        third = one if votes[0] != votes[1] else ""
        return [*votes, third, third or votes[0]]

    for last in (
        ["一评", "二评", "三评(仲裁)", "最终等级"],
        ["Erstkorrektur", "Zweitkorrektur", "Drittkorrektur", "Endnote"],
    ):
        data = read_of(tmp_path, ["width", *last], of)
        assert data.annotations is not None and data.annotations.annotator_names == tuple(last[:3])
        assert data.feature_names == ("width",)


def test_what_most_say_beside_one_function_alone_is_carried_along(tmp_path: Path) -> None:
    """As of a table of labelling functions of which all others were left out."""
    rolls, words = random.Random(17), ["NEVER", "FORMER", "ABSTAIN"]
    rows = [[f"n{k}", rolls.choice(words), rolls.choice(words[:2]), f"{rolls.random():.4f}"] for k in range(60)]
    columns = formats.columns(table(tmp_path, ["doc_id", "lf_keyword", "label_model", "label_model_prob"], rows))
    assert [column.role for column in columns if column.name.startswith("label_model")] == ["keep", "keep"]


@pytest.mark.parametrize(
    "join", [" oder ".join, "; ".join, lambda names: " ".join(f"{k}) {n}" for k, n in enumerate(names, 1))]
)
@pytest.mark.parametrize("is_within", [True, False])
def test_what_is_always_among_several_labels_of_another_column_was_found_out(
    tmp_path: Path, join: Callable[[list[str]], str], is_within: bool
) -> None:
    """And another column that describes in words that recur is none of labels."""
    rolls, rows = random.Random(16), list[list[str]]()
    for _ in range(160):
        some = rolls.sample(WORDS, rolls.choice((1, 1, 2, 3)))
        known = rolls.choice(some if is_within or rolls.random() < 0.6 else WORDS)
        looks = ", ".join(rolls.sample(("grey", "round", "tall", "wet", "old"), 3))
        rows.append([f"{rolls.gauss(9, 3):.2f}", looks, join(some), known])
    data, asked = read_first(table(tmp_path, ["width", "looks", "Ansprache", "Beleg"], rows))
    assert asked is not None and (data.y is not None) is is_within
    if is_within:
        assert {*data.class_names} == {*WORDS} and data.annotations is None and data.sets().sizes.max() == 3


def test_what_a_program_made_of_the_votes_is_called_so_at_the_end_and_leaves_the_truth_to_people(
    tmp_path: Path,
) -> None:
    rolls, kinds, rows = random.Random(4), ["rose", "tulip", "lily"], list[list[str]]()
    for k in range(60):
        meant = rolls.choice(kinds)
        given = [meant if rolls.random() < 0.8 else rolls.choice(kinds) for _ in range(4)]
        given = [cell if rolls.random() < share else "" for cell, share in zip(given, [0.4, 0.4, 1, 1], strict=True)]
        most = given[3] if k % 5 == 0 else max(kinds, key=given.count)
        rows.append([f"p{k}", meant if k % 3 == 0 else "", most, *given])
    who = [f"which_{name}" for name in ("hand_checked", "dawid_skene", "rule_red", "rule_tall", "net", "guide")]
    data, _ = read_first(table(tmp_path, ["plant", *who], rows))
    assert data.annotations is not None and data.annotations.n_annotators == 4
    assert data.y is not None and (data.y >= 0).sum() == 20


@pytest.mark.parametrize("name", ["Diagnosis after molecular testing", "dx_found_later"])
@pytest.mark.parametrize("has_majority", [False, True])
def test_what_was_found_out_mostly_follows_the_votes_and_is_asked_about(
    tmp_path: Path, name: str, has_majority: bool
) -> None:
    """Where all voters agree they are right: it is the same wherever the votes are, and is not made of them."""

    def of(rolls: random.Random, one: str) -> list[str]:
        votes = [said(rolls, one, 0.85) for _ in range(6)]
        most = max(votes, key=votes.count)
        return [*votes, *[most] * has_majority, most if rolls.random() < 0.9 else one]

    header = ["width", *(f"Reader {letter}" for letter in "ABCDEF"), *["majority vote"] * has_majority, name]
    data = read_of(tmp_path, header, of)
    assert data.annotations is not None and data.annotations.n_annotators == 6
    assert (data.y is not None) == (has_majority or "molecular" in name) or name in data.extras


def test_the_label_where_enough_voters_agree_is_made_of_their_answers(tmp_path: Path) -> None:
    rolls, rows = random.Random(7), list[list[str]]()
    for k in range(80):
        votes = [said(rolls, WORDS[k % len(WORDS)], 0.75) for _ in range(5)]
        most = max(votes, key=votes.count)
        rows.append([f"{rolls.random():.3f}", *votes, most if votes.count(most) > 3 else ""])
    data = formats.read(table(tmp_path, ["width", *(f"rater_{k}" for k in range(5)), "agreed"], rows))
    assert data.y is None and "agreed" in data.extras

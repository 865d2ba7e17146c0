"""What is about the labelling is no answer, no voter and nothing to learn from: states, rounds, agreement, practice."""

from __future__ import annotations

import csv
import random
from pathlib import Path

import pytest

from pll import formats
from pll.dataset import PartialLabelDataset
from pll.formats.reading import Question, question

WORDS = ("fox", "hare", "deer", "badger")


def table(folder: Path, header: list[str], rows: list[list[str]]) -> Path:
    path = folder / "data.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([header, *rows])
    return path


def read_first(path: Path) -> tuple[PartialLabelDataset, Question | None]:
    """The data with the first answer to every question, and the first question; some people answer at random."""
    roles, first = dict[str, str](), None
    while (asked := question(formats.columns(path, options=formats.ReadOptions(columns=roles)))) is not None:
        first, roles = first or asked, roles | asked.answers[0][1]
    return formats.read(path, columns=roles, accept=("chance",)), first


@pytest.mark.parametrize(
    ("answer", "about"), [("평가자{}_감정", "평가자{}_강도"), ("Kodér {} – tón", "Kodér {} – jistota")]
)
def test_what_stands_beside_each_voter_is_not_learnt_from(tmp_path: Path, answer: str, about: str) -> None:
    rolls = random.Random(1)
    rows = [[f"{rolls.gauss(9, 3):.2f}", *votes(rolls), *(str(rolls.randint(1, 5)) for _ in "abc")] for _ in range(60)]
    header = ["width", *(answer.format(k) for k in (1, 2, 3)), *(about.format(k) for k in (1, 2, 3))]
    data, _ = read_first(table(tmp_path, header, rows))
    assert data.feature_names == ("width",) and data.annotations is not None and data.annotations.n_annotators == 3


def test_questions_are_no_rounds(tmp_path: Path) -> None:
    """Each of them has an answer of coder 1 and one of coder 2, which agree."""
    rolls, rows = random.Random(3), list[list[str]]()
    for k in range(60):
        kind, tone = rolls.choice(WORDS), rolls.choice(("good", "bad", "soso"))
        rows.append([f"e{k}", said(rolls, kind), said(rolls, kind), tone, tone if k % 9 else "bad"])
    roles = dict.fromkeys(("Thema 1", "Thema 2", "Ton 1", "Ton 2"), "annotator")
    columns = formats.columns(table(tmp_path, ["id", *roles], rows), options=formats.ReadOptions(columns=roles))
    assert [column.display_name for column in columns[1:]] == [*roles]


def votes(rolls: random.Random) -> list[str]:
    """What three voters say of an example."""
    truth = rolls.choice(WORDS)
    return [said(rolls, truth) for _ in range(3)]


def said(rolls: random.Random, truth: str, sure: float = 0.75) -> str:
    return truth if rolls.random() < sure else rolls.choice(WORDS)


@pytest.mark.parametrize(
    ("name", "cells", "is_learnt"),
    [
        ("Abgeschlossen", ("ja", "nein"), False),
        ("_validation_status", ("approved", "not approved", "on hold"), False),
        ("etap", ("w toku", "zakończone"), False),
        ("進み", ("完了", "作業中"), False),
        ("registrerad av", ("eva", "jan", "ida"), False),
        ("is_gold", ("yes", "no"), False),
        ("is_catch_trial", ("yes", "no"), False),
        ("is_new", ("yes", "no"), True),
        ("marital status", ("single", "married"), True),
        ("colour", ("red", "blue", "open"), True),
    ],
)
def test_how_far_the_work_is_and_who_did_it_is_not_learnt_from(
    tmp_path: Path, name: str, cells: tuple[str, ...], is_learnt: bool
) -> None:
    rolls = random.Random(1)
    rows = [[rolls.choice(cells), f"{rolls.gauss(9, 3):.2f}", *votes(rolls)] for _ in range(60)]
    data, _ = read_first(table(tmp_path, [name, "width", "annotator_1", "annotator_2", "annotator_3"], rows))
    assert (name in data.categories) is is_learnt and data.feature_names == ("width",)


@pytest.mark.parametrize("is_of_the_day", [True, False])
def test_what_is_the_same_all_day_is_not_learnt_from(tmp_path: Path, is_of_the_day: bool) -> None:
    rolls = random.Random(1)
    rows = [
        [f"2024-03-{1 + k // 10:02}", "ABC"[(k // 10 if is_of_the_day else rolls.randrange(3)) % 3], *votes(rolls)]
        for k in range(120)
    ]
    data, _ = read_first(table(tmp_path, ["day", "wind", "annotator_1", "annotator_2", "annotator_3"], rows))
    assert ("wind" in data.categories) is not is_of_the_day


@pytest.mark.parametrize(
    ("names", "voters"),
    [
        (("Anna 1", "Anna 2", "Ben 1", "Ben 2"), ("Anna", "Ben")),
        (("第1回 佐藤", "第2回 佐藤", "第1回 鈴木", "第2回 鈴木"), ("佐藤", "鈴木")),
        (("runde1_Eva", "runde2_Eva", "runde1_Jan", "runde2_Jan"), ("Eva", "Jan")),
        (("gpt-3", "gpt-4", "llama-2", "llama-3"), ("gpt-3", "gpt-4", "llama-2", "llama-3")),  # versions
        (("Site A 1", "Site A 2", "Site B 1", "Site B 2"), None),  # who agree with each other no more than with others
    ],
)
def test_rounds_of_a_voter_are_one_voter(
    tmp_path: Path, names: tuple[str, ...], voters: tuple[str, ...] | None
) -> None:
    rolls, rows = random.Random(3), list[list[str]]()
    for k in range(90):
        truth = rolls.choice(WORDS)
        first = [said(rolls, truth), said(rolls, truth)]
        again = [said(rolls, one if voters else truth, 0.9 if voters else 0.75) for one in first]
        rows.append([f"e{k}", first[0], again[0], first[1], again[1]])
    data, asked = read_first(table(tmp_path, ["id", *names], rows))
    assert data.annotations is not None and asked is None
    assert data.annotations.annotator_names == (voters or names)


@pytest.mark.parametrize("kind", ["decided", "sparse", "voter"])
def test_what_two_voters_agreed_on_is_no_voter(tmp_path: Path, kind: str) -> None:
    rolls, rows = random.Random(5), list[list[str]]()
    for k in range(150):
        truth = rolls.choice(WORDS)
        one, other = said(rolls, truth, 0.7), said(rolls, truth, 0.7)
        decided = one if one == other else rolls.choice((one, other))
        last = {"decided": decided, "sparse": "" if one == other else decided, "voter": said(rolls, truth, 0.95)}
        rows.append([f"e{k}", one, other, last[kind]])
    data, asked = read_first(table(tmp_path, ["id", "Kasia", "Marek", "Spór"], rows))
    assert data.annotations is not None and (asked is None) is (kind == "voter") is (data.y is None)
    assert data.annotations.n_annotators == 2 + (kind == "voter")


@pytest.mark.parametrize(
    ("name", "practice", "other", "examples"),
    [
        ("trial_type", "practice", "main", 20),
        ("faza", "Ćwiczenie 1", "właściwe", 20),
        ("is_attention_check", "1", "0", 20),
        ("catch trial", "TRUE", "FALSE", 20),
        ("part", "test", "training", 22),  # most of them: parts of a split
        ("Verbatim", "No training budget for years and no next step.", "More money elsewhere.", 22),
        ("Begründung", "Keine Übung im Umgang mit dem neuen System", "Zu weit", 22),
    ],
)
def test_practice_and_checks_of_attention_are_no_examples(
    tmp_path: Path, name: str, practice: str, other: str, examples: int
) -> None:
    rolls = random.Random(7)
    rows = [
        [f"p{who}", f"i{k}", said(rolls, WORDS[k % 4]), practice if k >= 20 else other]
        for who in range(8)
        for k in range(22)
    ]
    data, _ = read_first(table(tmp_path, ["worker", "task", "label", name], rows))
    assert data.annotations is not None and len(data) == examples and data.annotations.n_answers == 8 * examples


def test_one_of_many_topics_is_no_practice(tmp_path: Path) -> None:
    """A department called Training is a department: nobody practised there."""
    rolls = random.Random(7)
    topics = ["Sales", "Training", "Logistics", "IT", "Finance"]
    rows = [[f"p{who}", f"i{k}", said(rolls, WORDS[k % 4]), topics[k % 11 % 5]] for who in range(8) for k in range(44)]
    data, _ = read_first(table(tmp_path, ["worker", "task", "label", "dept"], rows))
    assert data.annotations is not None and len(data) == 44 and data.annotations.n_answers == 8 * 44


def test_kinds_of_dashes_are_one_class(tmp_path: Path) -> None:
    """Some type a hyphen, for others their program sets a dash or a minus; most type it here."""
    words = ["toxic", "non-toxic", "non–toxic", "non‑toxic"]
    others = [words[1], words[1], words[2], words[1], words[3]]
    rows = [[f"{k}.{k % 7}", *(words[0] if k % 3 == 0 else others[(k + n) % 5] for n in range(3))] for k in range(30)]
    data = formats.read(table(tmp_path, ["dose", "coder_1", "coder_2", "coder_3"], rows))
    assert data.annotations is not None and data.annotations.n_annotators == 3
    assert {*data.class_names} == {"toxic", "non-toxic"}
    assert len(data.annotations.labels) == 90


@pytest.mark.parametrize("header", ["Probe,Kreis,Farbe,Tester,Laborbefund", "próbka,gmina,barwa,kto,wynik"])
def test_what_repeats_in_few_rows_does_not_name_examples_and_people(tmp_path: Path, header: str) -> None:
    """In 60 rows hardly one of a hundred pairs of colours and people comes twice, whatever these are."""
    rolls = random.Random(1)
    rows = []
    for k in range(300):
        truth = rolls.choice(WORDS)
        hue = f"hue {said(rolls, truth, 0.6)} {rolls.randrange(3)}"
        rows.append([f"S{k:03}", rolls.choice("ABCD"), hue, f"v{rolls.randrange(12)}", truth if k % 5 == 0 else ""])
    columns = formats.columns(table(tmp_path, header.split(","), rows))
    asked = question(columns)
    assert asked is None or "worker" not in asked.answers[0][1].values()


@pytest.mark.parametrize(
    ("header", "texts"),
    [
        ("Beitrag,Gutachter,Punkte,Sicherheit,Gutachten", ("ablehnen", "unklar", "annehmen")),
        ("praca,kto ocenia,ocena,pewność,opinia", ("odrzucić", "do dyskusji", "przyjąć")),
    ],
)
def test_the_score_of_a_review_is_the_answer_and_not_what_is_reviewed(
    tmp_path: Path, header: str, texts: tuple[str, ...]
) -> None:
    rolls = random.Random(1)
    rows = []
    for k in range(58):
        worth = rolls.randint(-2, 2)
        for who in rolls.sample(range(14), rolls.choice((2, 3, 3, 3, 4))):
            score = max(-3, min(3, worth + rolls.choice((-2, -1, 0, 1, 2))))
            text = texts[(score + 3) // 3] if rolls.random() < 0.9 else rolls.choice(texts)
            rows.append([f"P{k:02}", f"R. {'ABCDEFGHIJKLMN'[who]}", score, rolls.randint(2, 5), text])
    names = header.split(",")
    data, asked = read_first(table(tmp_path, names, [list(map(str, row)) for row in rows]))
    assert asked is not None and asked.answers[0][1][names[0]] == "task" and asked.answers[0][1][names[1]] == "worker"
    assert data.annotations is not None and (len(data), data.annotations.n_annotators) == (58, 14)


@pytest.mark.parametrize(
    ("given", "known", "written", "is_pair"),
    [
        ("Zuordnung", "Neubearbeitung 2020", "{} oder {}", True),  # whatever it is called
        ("tipos posibles", "tipo sorteado", '["{}", "{}"]', True),
        ("popis", "laboratoř ověřeno", "", True),  # what is settled, beside labels without a doubt
        ("coder Ann", "coder Bob", "{} or {}", False),  # two people, one of whom did less
    ],
)
def test_what_was_found_out_of_some_is_the_truth_beside_what_may_be_wrong(
    tmp_path: Path, given: str, known: str, written: str, is_pair: bool
) -> None:
    rolls = random.Random(4)
    rows = []
    for k in range(200):
        truth = rolls.choice(WORDS)
        two = sorted({truth, said(rolls, truth, 0.5)}, key=lambda _: rolls.random())
        cell = written.format(*two) if len(two) > 1 and written else said(rolls, truth)
        cell = f'["{cell}"]' if written.startswith("[") and len(two) < 2 else cell
        rows.append([f"{rolls.gauss(9, 3):.2f}", cell, truth if k % 6 == 0 else ""])
    data, asked = read_first(table(tmp_path, ["width", given, known], rows))
    assert (asked is not None and asked.answers[0][1] == {given: "candidates", known: "true_label"}) is is_pair
    assert set(data.class_names) == {*WORDS} and (data.annotations is None) is is_pair
    assert data.feature_names == ("width",)


@pytest.mark.parametrize(
    "names", [("Korrektor MB", "Korrektor AS", "Endnote"), ("correttore 1", "correttore 2", "esame")]
)
def test_the_mark_that_two_markers_agreed_on_is_no_third_marker(tmp_path: Path, names: tuple[str, ...]) -> None:
    rolls = random.Random(6)
    rows = []
    for _ in range(120):
        truth = rolls.randrange(4)
        one, other = (truth if rolls.random() < 0.7 else rolls.randrange(4) for _ in (1, 2))
        rows.append([f"{rolls.gauss(9, 3):.2f}", str(one), str(other), str(rolls.choice((one, other)))])
    data, asked = read_first(table(tmp_path, ["width", *names], rows))
    assert asked is not None and data.annotations is not None and data.annotations.n_annotators == 2
    assert data.y is not None and data.feature_names == ("width",)


@pytest.mark.parametrize(
    ("name", "gone", "there"),
    [("deleted_at", "2023-04-14 19:16:56", "NULL"), ("retirado el", "14/04/2023", ""), ("is_withdrawn", "1", "0")],
)
def test_answers_that_were_withdrawn_at_some_time_do_not_count(
    tmp_path: Path, name: str, gone: str, there: str
) -> None:
    rolls, rows = random.Random(8), list[list[str]]()
    for k in range(120):
        who, truth = f"p{k % 3}", WORDS[k // 3 % 4]
        rows += [[f"i{k // 3}", who, WORDS[(k // 3 + 1) % 4], gone]] if k % 12 == 0 else []
        rows.append([f"i{k // 3}", who, said(rolls, truth, 0.9), there])
    data, _ = read_first(table(tmp_path, ["task", "worker", "label", name], rows))
    assert data.annotations is not None and len(data.annotations.labels) == 120
    assert any("10 lines do not count" in note for note in data.notes)


def test_of_an_aggregated_report_numbers_beside_words_are_labels_and_several_accepted_ones_no_truth(
    tmp_path: Path,
) -> None:
    rolls = random.Random(0)
    columns = ["_unit_id", "_golden", "_trusted_judgments", "tone", "tone:confidence", "tone_gold", "text"]
    rows = [columns]
    for k in range(60):
        tone = rolls.choice(["1", "3", "5"] if k % 20 else ["not_relevant"])
        gold = {0: tone, 7: "1\nnot_relevant"}.get(k % 8 if k < 16 else 1, "")
        rows.append(
            [str(900 + k), str(bool(gold)), "3", tone, f"{rolls.uniform(0.4, 1):.4f}", gold, f"text {k} is {tone}"]
        )
    path = tmp_path / "f1.csv"
    with path.open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    data = formats.read(path)
    assert {*data.class_names} == {"1", "3", "5", "not_relevant"} and data.annotations is not None
    assert data.annotations.n_answers == 60 and not data.feature_names and data.y is not None
    assert (data.y >= 0).sum() == 2 and any("2 true labels say several classes" in note for note in data.notes)


def test_how_large_a_set_is_and_how_sure_a_model_was_is_not_learnt_from(tmp_path: Path) -> None:
    rolls, rows = random.Random(4), list[list[str]]()
    for _ in range(60):
        options = rolls.sample(WORDS, rolls.randint(1, 3))
        rows.append([f"{rolls.gauss(9, 3):.2f}", str(options), str(len(options)), f"{rolls.random():.4f}"])
    data, _ = read_first(table(tmp_path, ["width", "prediction_set", "n_left", "max_softmax"], rows))
    assert data.candidates is not None and data.feature_names == ("width",)


def test_columns_called_as_the_people_are_about_them(tmp_path: Path) -> None:
    rolls, rows = random.Random(5), list[list[str]]()
    for k in range(120):
        woman = rolls.choice(("True", "False"))
        rows.append([f"c{k // 3}", f"a{k}", str(rolls.randint(0, 2)), woman, "False" if woman == "True" else "True"])
    header = ["comment_id", "annotator_id", "hatespeech", "annotator_gender_women", "annotator_gender_men"]
    data, _ = read_first(table(tmp_path, header, rows))
    assert data.class_names == ("0", "1", "2") and data.annotations is not None
    assert data.annotations.n_annotators == 120 and not data.feature_names and not data.categories


@pytest.mark.parametrize(
    ("words", "is_text"), [(("blue mug with handle", "red pan"), True), (("Ann Bell", "Tom Ray"), False)]
)
def test_short_descriptions_are_read_and_names_of_people_are_not(
    tmp_path: Path, words: tuple[str, str], is_text: bool
) -> None:
    rolls, rows = random.Random(6), list[list[str]]()
    for k in range(60):
        truth = rolls.choice(WORDS)
        rows.append([f"{rolls.gauss(9, 3):.2f}", f"{words[k % 2]} {'abcdefgh'[k % 8].upper()}{k}"])
        rows[-1] += [said(rolls, truth, 0.8) for _ in range(3)]
    data, _ = read_first(table(tmp_path, ["width", "what it is", "coder 1", "coder 2", "coder 3"], rows))
    assert (data.texts is not None) is is_text and data.feature_names == ("width",)


@pytest.mark.parametrize("name", ["Respuesta", "Kommentar", "what was paid"])
@pytest.mark.parametrize("kinds", [30, 60])
def test_phrases_that_are_all_there_is_to_read_are_read_whatever_they_are_called(
    tmp_path: Path, name: str, kinds: int
) -> None:
    """Though they come again, are called as answers or remarks, or are a name and a number."""
    rolls, rows = random.Random(16), list[list[str]]()
    texts = [f"Shop {k} by the sea No {k}" if "paid" in name else f"it was late in week {k}" for k in range(kinds)]
    for k in range(90):
        truth = rolls.choice(WORDS)
        rows.append([f"e{k}", texts[k % kinds], *(said(rolls, truth, 0.8) for _ in range(3)), rolls.choice(["ok", ""])])
    data, _ = read_first(table(tmp_path, ["id", name, "coder 1", "coder 2", "coder 3", "done"], rows))
    assert data.texts is not None and data.texts[1] == texts[1] and not data.categories


@pytest.mark.parametrize("way", ["of some", "of each", "few", "beside a text"])
def test_a_remark_beside_measurements_is_read_where_it_describes_each_row(tmp_path: Path, way: str) -> None:
    rolls, rows = random.Random(17), list[list[str]]()
    for k in range(60):
        truth = rolls.choice(WORDS)
        remark = "" if way == "of some" and k % 9 == 4 else f"late week {k % 4 if way == 'few' else k}"
        text = [f"what the visitor number {k} wrote about the day by the sea"] if way == "beside a text" else []
        rows.append([f"{rolls.gauss(9, 3):.2f}", remark, *text, *(said(rolls, truth, 0.8) for _ in "abc")])
    texts = ["letter"] if way == "beside a text" else []
    data, _ = read_first(table(tmp_path, ["width", "Kommentar", *texts, "coder 1", "coder 2", "coder 3"], rows))
    assert data.feature_names == ("width",) and list(data.categories) == ["Kommentar"] * (way == "few")
    read = {"of each": "late week 0", "beside a text": rows[0][2]}.get(way)
    assert (data.texts is None) == (read is None) and (read is None or data.texts[0] == read)


@pytest.mark.parametrize("is_last", [True, False])
def test_words_after_the_labels_are_learnt_from_where_a_text_is_there_too(tmp_path: Path, is_last: bool) -> None:
    rolls, rows = random.Random(8), list[list[str]]()
    for k in range(60):
        truth = rolls.choice(WORDS)
        text, place = f"what the patient {k} said of it that day", rolls.choice(["home", "ward"])
        labels = [said(rolls, truth, 0.8) for _ in range(3)]
        rows.append(
            [str(rolls.randint(20, 80)), *([] if is_last else [text]), *labels, *([text] if is_last else []), place]
        )
    coders, read = ["coder 1", "coder 2", "coder 3"], ["what was said"]
    header = ["age", *([] if is_last else read), *coders, *(read if is_last else []), "where"]
    data, _ = read_first(table(tmp_path, header, rows))
    assert data.texts is not None and list(data.categories) == ["where"] * is_last


@pytest.mark.parametrize("agreed", [0.8, 0.0])
def test_a_grade_beside_each_voter_on_which_people_agree_is_another_question(tmp_path: Path, agreed: float) -> None:
    rolls, rows = random.Random(41), list[list[str]]()
    for _ in range(80):
        true, grade = rolls.choice(WORDS), rolls.randrange(5)
        grades = [str(grade if rolls.random() < agreed else rolls.randrange(5)) for _ in "abc"]
        rows.append([f"{rolls.gauss(9, 3):.2f}", *grades, *(said(rolls, true) for _ in "abc")])
    header = ["width", *(f"Grad_TA{k}" for k in (1, 2, 3)), *(f"Bein_TA{k}" for k in (1, 2, 3))]
    data, asked = read_first(table(tmp_path, header, rows))
    assert data.annotations is not None and {*data.class_names} == {*WORDS} and data.feature_names == ("width",)
    assert (asked is not None) == (agreed > 0)

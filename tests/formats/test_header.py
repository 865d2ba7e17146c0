"""What the rows above the data say: names, in one row or two, each of one column."""

from __future__ import annotations

import csv
import random
from pathlib import Path

import pytest

from pll import formats
from pll.formats import ReadOptions
from pll.formats.reading import form_of, question
from pll.formats.results import Results
from pll.formats.tabular.header import header_of

from .test_about_the_labelling import WORDS, read_first, said, table
from .test_xlsx import workbook


def test_columns_of_one_name_are_numbered_and_come_back_as_they_were(tmp_path: Path) -> None:
    """As those of two who filled in the same form."""
    rolls = random.Random(5)
    header = ["Record", "width", "Finding", "Done?", "Finding", "Done?"]
    truth = [rolls.choice(WORDS) for _ in range(40)]
    rows = [
        [f"r{k}", f"{rolls.random():.3f}", said(rolls, t), "yes", said(rolls, t), "no"] for k, t in enumerate(truth)
    ]
    path = table(tmp_path, header, rows)
    data, _ = read_first(path)
    assert data.annotations is not None and data.annotations.annotator_names == ("Finding 1", "Finding 2")
    assert any("Finding 1" in note for note in data.notes)
    roles = {f"Finding {k}": "annotator" for k in (1, 2)} | {f"Done? {k}": "keep" for k in (1, 2)}
    results = Results(data.ids, {"identified_label": truth, "confidence": ["0.5"] * 40})
    formats.give_back(path, tmp_path / "back.csv", results, options=ReadOptions(columns=roles))
    with (tmp_path / "back.csv").open(encoding="utf-8", newline="") as file:
        back = [*csv.reader(file)]
    assert [row[: len(header)] for row in back] == [header, *rows] and back[0][len(header)] == "label"


@pytest.mark.parametrize("suffix", [".csv", ".xlsx"])
@pytest.mark.parametrize("beside", ["confidence", "sound"])
def test_columns_of_two_levels_whose_rows_have_a_name(tmp_path: Path, beside: str, suffix: str) -> None:
    """As pandas writes them: the name of the rows stands in a third row, alone; a sheet merges what is over several."""
    rolls = random.Random(7)
    truth = [rolls.choice(WORDS) for _ in range(20)]
    numbers = [["12345"[rolls.randrange(5)] for _ in range(3)] for _ in truth]
    rows = [[f"q{k}", *(said(rolls, one) for _ in "abc"), *numbers[k]] for k, one in enumerate(truth)]
    lower = ["ana", "ben", "chi"] if beside == "confidence" else ["hz", "db", "length"]
    header = [["", "ana", "ben", "chi", *lower], ["pair_id", *[""] * 6]]
    upper = ["", "label", *["" if suffix == ".xlsx" else "label"] * 2, *[beside] * 3]
    path, back = tmp_path / f"t{suffix}", tmp_path / "back.csv"
    lines = [upper, *header, *rows]
    path = workbook(path, Pivot=lines) if suffix == ".xlsx" else table(tmp_path, upper, [*header, *rows])
    data, _ = read_first(path)
    assert data.ids is not None and data.ids[0] == "q0" and len(data) == 20
    assert data.annotations is not None and data.annotations.annotator_names[0] == "label: ana"
    assert data.feature_names == (() if beside == "confidence" else ("sound: hz", "sound: db", "sound: length"))
    if suffix == ".csv":
        formats.give_back(path, back, Results(data.ids, {"identified_label": truth}))
        with back.open(encoding="utf-8", newline="") as file:
            given = [*csv.reader(file)]
        assert [row[-1] for row in given] == ["label", "", "", *truth] and [row[:-1] for row in given] == lines


def test_names_in_quotes_above_rows_with_a_name_each_as_r_writes_them(tmp_path: Path) -> None:
    rolls, lines = random.Random(8), ['"tweet" "text" "coder" "stance"']
    for k in range(60):
        text, meant = f"a tweet about {k // 3} days", WORDS[k // 3 % 3]
        lines.append(f'"{k + 1}" "t{k // 3}" "{text}" "{"abc"[k % 3]}" "{said(rolls, meant)}"')
    path, back = tmp_path / "stance.txt", tmp_path / "back.txt"
    path.write_text("\n".join(lines) + "\n")
    data, asked = read_first(path)
    options = ReadOptions(columns={} if asked is None else asked.answers[0][1])
    assert len(data) == 20 and data.annotations is not None and data.annotations.n_annotators == 3
    assert data.texts is not None and data.texts[0].startswith("a tweet about")
    formats.give_back(path, back, Results(data.ids[1:], {"identified_label": ["so so"] * 19}), options=options)
    given = back.read_text().splitlines()
    assert given == [
        f"{line} {end}" for line, end in zip(lines, ["label", *["NA"] * 3, *['"so so"'] * 57], strict=True)
    ]


def test_a_row_that_says_response_below_every_question_is_of_the_header(tmp_path: Path) -> None:
    rolls = random.Random(6)
    header = ["Respondent ID", "Start Date", *(f"Photo {k:02}: what is it?" for k in range(12))]
    truth = [rolls.choice(WORDS) for _ in range(12)]
    start = [f"2023-02-{k + 1:02} 10:0{k % 10}:00" for k in range(20)]
    rows = [[str(9000 + 7 * k), start[k], *(said(rolls, one) for one in truth)] for k in range(20)]
    data, _ = read_first(table(tmp_path, header, [["", "", *["Response"] * 12], *rows]))
    assert len(data) == 12 and data.annotations is not None and data.annotations.n_annotators == 20
    assert {*data.class_names} == {*WORDS} and "9007" in data.annotations.annotator_names


@pytest.mark.parametrize("are_items", [True, False])
def test_columns_of_any_name_are_things_where_people_agree_in_them(tmp_path: Path, are_items: bool) -> None:
    """Beside when each row was sent; where those of a row agree it is a thing, and the columns are people."""
    rolls = random.Random(7)
    names = ["Wegen dem Regen.", "Das Buch lesen.", "Ich kann das.", "Er tut singen.", "Sie ging.", "Es war gut."]
    names += ["Wir sehen es.", "Ihr geht.", "Du bist da.", "Das macht Sinn.", "Ein Ende.", "Noch einer."]
    of_column, of_row = ([rolls.choice(WORDS) for _ in range(n)] for n in (len(names), 40))
    rows = [
        [f"2023-11-13 11:{k:02}:00", *(said(rolls, word if are_items else of_row[k]) for word in of_column)]
        for k in range(40)
    ]
    path = table(tmp_path, ["Zeitstempel", *names], rows)
    if not are_items:
        assert form_of(formats.columns(path)) == "example"
        return
    data, _ = read_first(path)
    assert len(data) == len(names)
    assert data.annotations is not None and data.annotations.n_annotators == 40


def test_rows_of_people_are_so_whenever_each_was_sent(tmp_path: Path) -> None:
    """Sentences of several kinds, numbered within each: a time in each row is no reason to look for one kind."""
    rolls = random.Random(3)
    names = [f"{kind}_0{k}" for kind in ("island", "subject", "simple") for k in range(1, 7)]
    easy = {name: 0.9 if name.startswith("simple") or name.endswith("2") else 0.2 for name in names}
    rows = [
        [
            f"sub-{k}",
            *("good" if rolls.random() < easy[one] else "bad" for one in names),
            f"2025-02-{1 + k:02} 12:{k:02}",
        ]
        for k in range(24)
    ]
    for end in (None, -1):
        header = ["participant", *names, "last_modified"][:end]
        columns = formats.columns(table(tmp_path, header, [row[:end] for row in rows]))
        assert form_of(columns) == "person" and question(columns) is None


@pytest.mark.parametrize(("who", "items"), [("", 12), ("rater", 7)])
def test_rows_of_people_are_asked_about_where_nothing_calls_them_so(tmp_path: Path, who: str, items: int) -> None:
    rolls = random.Random(7)
    names = [f"{first} {second}" for first in ("Old", "New", "High") for second in ("Moor", "Fell", "Dale", "Tarn")]
    truth = [rolls.choice(WORDS) for _ in names[:items]]
    rows = [[person, *(said(rolls, word) for word in truth)] for person in ("Ann", "Bob", "Cem", "Dan", "Eva", "Fay")]
    columns = formats.columns(table(tmp_path, [who, *names[:items]], rows))
    asked = question(columns)
    assert form_of(columns) == "person" if who else asked is not None and "a row is a person" in asked.answers[0][0]


@pytest.mark.parametrize("suffix", ["csv", "xlsx"])
def test_a_row_of_questions_above_numbers_says_what_these_mean(tmp_path: Path, suffix: str) -> None:
    """As SoSci Survey writes it: the codes stand in the text of each question."""
    rolls = random.Random(8)
    names = ["CASE", "STARTED", *(f"LG_{k:02}" for k in range(12))]
    codes = "(1=modern, 2=classic, 3=playful, -9=not answered)"
    texts = ["Interview number", "When it began", *(f"Logo {k} {codes}" for k in range(12))]
    truth = [rolls.choice("123") for _ in range(12)]
    rows = [
        [str(60 + k), f"2022-06-07 04:{k:02}:19", *(one if rolls.random() < 0.8 else "-9" for one in truth)]
        for k in range(24)
    ]
    if suffix == "xlsx":
        path = workbook(tmp_path / "t.xlsx", data=[names, texts, *rows])
    else:
        path = table(tmp_path, names, [texts, *rows])
    data, _ = read_first(path)
    assert {*data.class_names} <= {"modern", "classic", "playful"} and len(data) == 12
    assert data.annotations is not None and data.annotations.n_annotators == 24
    assert data.annotations.n_answers == sum(cell in "123" for row in rows for cell in row[2:])


def test_a_legend_beside_the_table_hides_no_header_below_a_title() -> None:
    rows = [
        ["c1", "fever", "26", "R", "", "R", "red"],
        ["c2", "fall", "74", "V", "", "V", "green"],
        ["c3", "cut", "9", "R", "", "", ""],
    ]
    title, names = ["Triage, May", *[""] * 6], ["Card", "Reason", "Age", "Ann", "", "Legend", ""]
    found = header_of([title, names, *rows])
    assert (found.above, found.names[:4], found.title) == (1, names[:4], title[0])


def test_triples_without_a_header_lose_no_line(tmp_path: Path) -> None:
    """As NLTK reads them: who, what, label, of which none is a number."""
    lines = [
        f"c{who}\tdebate_turn{k}\t{('claim', 'question')[(k + (who == k % 7)) % 2]}"
        for who in (1, 2, 3)
        for k in range(24)
    ]
    (tmp_path / "t.tsv").write_text("\n".join(lines), encoding="utf-8")
    data, _ = read_first(tmp_path / "t.tsv")
    assert len(data) == 24 and data.annotations is not None and data.annotations.n_answers == len(lines)


def test_a_header_without_a_name_for_the_rows_is_read_and_stays_as_it_was(tmp_path: Path) -> None:
    """As `write.table` of R leaves it."""
    path, out = tmp_path / "plots.tsv", tmp_path / "out.tsv"
    lines = [f"plot{k}\t{k / 7:.3f}\toak|ash\toak" for k in range(12)]
    path.write_text("\n".join(["height\tcandidates\ttrue_label", *lines]) + "\n")
    data = formats.read(path)
    assert data.row_ids.tolist()[:2] == ["plot0", "plot1"] and data.X.shape == (12, 1) and data.y is not None
    formats.give_back(path, out, Results(data.row_ids.tolist(), {"identified_label": ["oak"] * 12}))
    assert out.read_text().splitlines()[:2] == ["height\tcandidates\ttrue_label\tlabel", f"{lines[0]}\toak"]


def test_labels_above_a_row_that_nobody_labelled_are_no_header(tmp_path: Path) -> None:
    rolls, rows = random.Random(3), [["x0", *WORDS[:3]], ["x1", "", "", ""]]
    rows += [[f"x{k}", *(said(rolls, WORDS[k % 3]) for _ in "abc")] for k in range(2, 40)]
    data = formats.read(table(tmp_path, ["item", *["rater"] * 3], rows))
    assert len(data) == 40 and data.annotations is not None and data.annotations.n_annotators == 3


@pytest.mark.parametrize("first", ["fen,bog,mire"])
def test_words_of_voters_without_a_header_lose_no_line(first: str) -> None:
    words = ("fen", "bog", "mire")
    below = [[words[k % 3], words[(k + k // 5) % 3], words[(k + k // 7) % 3]] for k in range(30)]
    below = [[f"p{k + 1}", *row[1:]] for k, row in enumerate(below)] if first.startswith("p0") else below
    assert header_of([first.split(","), *below]).rows == 0

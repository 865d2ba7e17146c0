"""What codes mean: a sheet, a file or a text beside the labels gives them their names."""

from __future__ import annotations

import json
import random
import zipfile
from pathlib import Path

import pytest

from pll import formats
from pll.dataset import PartialLabelDataset

from .test_about_the_labelling import read_first as first_answers
from .test_forms import read_first
from .test_xlsx import workbook

NAMES = {"1": "Lob", "2": "Kritik", "3": "Frage"}
PAIRS = list(NAMES.items())


def answers(codes: list[str], n: int = 24) -> list[list[str]]:
    rolls = random.Random(0)
    truth = [rolls.choice(codes) for _ in range(n)]
    return [[code if rolls.random() < 0.8 else rolls.choice(codes) for _ in range(3)] for code in truth]


def read(path: Path, codes: list[str], sheets: dict[str, list[list[str]]]) -> PartialLabelDataset:
    rows = [[f"k{k}", *row] for k, row in enumerate(answers(codes))]
    return formats.read(workbook(path, Daten=[["id", "rater_1", "rater_2", "rater_3"], *rows], **sheets))


@pytest.mark.parametrize(
    ("title", "lines"),
    [
        ("Legende", [["Code", "Bedeutung"], *map(list, PAIRS)]),
        ("Blatt2", [["Variable", "Kod", "Etykieta"], ["rater", *PAIRS[0]], ["", *PAIRS[1]], ["", *PAIRS[2]]]),
        ("Codes", [[f"{code} = {name}"] for code, name in PAIRS]),
        ("Rubric", [["Score", "Meaning"], *map(list, PAIRS)]),
        ("choices", [["list_name", "name", "label"], *(["rater", *one] for one in PAIRS), ["sure", "1", "yes"]]),
    ],
)
def test_a_sheet_of_codes_names_the_classes_and_is_said(tmp_path: Path, title: str, lines: list[list[str]]) -> None:
    data = read(tmp_path / "t.xlsx", list(NAMES), {title: lines})
    assert set(data.class_names) == set(NAMES.values()) and len(data) == 24
    assert any("1 is Lob" in note for note in data.notes)


def test_codes_in_one_line_name_classes_that_some_write_out_or_cut_short(tmp_path: Path) -> None:
    lines = [["Kürzel", "Bedeutung"], ["KL", "Klassenleitung"], ["MS / RS / GY", "Mittelschule/Realschule/Gymnasium"]]
    codes = ["MS", "MS", "Mittelschule", "RS", "RS", "Realschule", "GY", "GY", "Gym"]
    data = read(tmp_path / "t.xlsx", codes, {"Legende": lines})
    assert {*data.class_names} == {"Mittelschule", "Realschule", "Gymnasium"} and len(data) == 24
    assert any("Gym is Gymnasium" in note for note in data.notes)


def test_a_code_that_says_no_answer_is_none_and_another_sheet_is_no_codebook(tmp_path: Path) -> None:
    lines = [["code", "label"], *map(list, PAIRS), ["9", "not coded"]]
    assert set(read(tmp_path / "a.xlsx", [*NAMES, "9"], {"Codebook": lines}).class_names) == set(NAMES.values())
    people = [["no", "who"], ["1", "Ann"], ["2", "Ben"], ["3", "Cem"]]
    assert read(tmp_path / "b.xlsx", list(NAMES), {"People": people}).class_names == tuple(NAMES)


def test_a_codebook_of_a_range_of_columns_where_rows_are_people(tmp_path: Path) -> None:
    rolls, kinds = random.Random(3), [str(1 + k % 3) for k in range(24)]
    rows = [
        [str(who), "21", *(k if rolls.random() < 0.8 else rolls.choice("1239") for k in kinds)] for who in range(40)
    ]
    names = [[f"B01-B{len(kinds)}", code, name] for code, name in (*NAMES.items(), ("9", "keine Angabe"))]
    sheets = {"Daten": [["VPN", "Alter", *(f"B{k + 1:02}" for k in range(24))], *rows]}
    sheets["Codebuch"] = [["Variable", "Wert", "Bedeutung"], ["Geschlecht", "1", "w"], ["Geschlecht", "2", "m"], *names]
    data = first_answers(workbook(tmp_path / "faces.xlsx", **sheets))[0]
    assert {*data.class_names} == {*NAMES.values()} and len(data) == 24
    assert data.annotations is not None and data.annotations.n_annotators == 40


@pytest.mark.parametrize("order", [1, -1])
def test_a_sheet_of_questions_is_no_codebook_and_hides_none(tmp_path: Path, order: int) -> None:
    rolls = random.Random(2)
    clips = {f"CLIP[SQ00{k}]": f"A tune with {k} drums and a horn" for k in range(1, 10)}
    key = [rolls.choice(["A1", "A2", "A3"]) for _ in clips]
    people = [[one if rolls.random() < 0.8 else "A2" for one in key] for _ in range(12)]
    sheets = {
        "Codebook": [["code", "meaning"], ["A1", "joy"], ["A2", "anger"], ["A3", "fear"]],
        "Questions": [["question", "clip description"], *map(list, clips.items())],
    }
    of_people = [[str(k), f"2023-11-05 21:{10 + k}", *some] for k, some in enumerate(people)]
    about = dict([*sheets.items()][::order])
    path = workbook(tmp_path / "t.xlsx", Responses=[["id", "submitdate", *clips], *of_people], **about)
    assert {*read_first(path).class_names} == {"joy", "anger", "fear"}


def test_a_sheet_says_what_ticked_columns_are_called(tmp_path: Path) -> None:
    names = {"Mdau": "Myotis daubentonii", "Mnat": "Myotis nattereri", "Ppip": "Pipistrellus pipistrellus"}
    rolls = random.Random(2)
    rows = [[f"{rolls.gauss(40, 5):.1f}", *(rolls.choice(["x", ""]) for _ in names)] for _ in range(40)]
    rows = [[row[0], *(row[1:] if any(row[1:]) else ["x", "", ""])] for row in rows]
    sheets = {"Calls": [["kHz", *names], *rows], "Species": [["Short", "Name"], *map(list, names.items())]}
    data = first_answers(workbook(tmp_path / "bats.xlsx", **sheets))[0]
    assert {*data.class_names} == {*names.values()} and data.feature_names == ("kHz",)


def test_a_text_of_codes_beside_the_tables_in_a_zip(tmp_path: Path) -> None:
    rows = [f"{k + 1},{','.join(row)}" for k, row in enumerate(answers(list(NAMES)))]
    with zipfile.ZipFile(tmp_path / "t.zip", "w") as archive:
        for part in (0, 1):
            half = rows[part * 12 : part * 12 + 12]
            archive.writestr(f"Study_DATA{part}.csv", "record_id,reader_1,reader_2,reader_3\n" + "\n".join(half) + "\n")
        archive.writestr("codes.txt", "\n".join(f"{code} = {name}" for code, name in PAIRS))
    assert set(read_first(tmp_path / "t.zip").class_names) == set(NAMES.values())


def test_an_object_of_codes_beside_the_parts_of_a_split(tmp_path: Path) -> None:
    parts = {
        name: {
            str(k): {"label": k % 2, "weak_labels": [k % 2, -1 if k % 3 else k % 2], "data": {"text": f"{name} {k}"}}
            for k in range(12)
        }
        for name in ("train", "valid", "test")
    }
    with zipfile.ZipFile(tmp_path / "w.zip", "w") as archive:
        for name, one in parts.items():
            archive.writestr(f"w/{name}.json", json.dumps(one))
        archive.writestr("w/label.json", json.dumps({"0": "ham", "1": "spam"}))
    data = formats.read(tmp_path / "w.zip")
    assert data.class_names == ("ham", "spam") and len(data) == 36 and data.y is not None
    assert data.is_test is not None and data.is_test.sum() == 12


@pytest.mark.parametrize("names", [("None", "Mild", "Severe"), ("many", "one", "none")])
def test_an_end_of_a_scale_may_be_called_none(tmp_path: Path, names: tuple[str, ...]) -> None:
    rows = [f"r{k},{k % 3},{(k + k % 2) % 3},{(k + (k > 20)) % 3}" for k in range(24)]
    with zipfile.ZipFile(tmp_path / "t.zip", "w") as archive:
        archive.writestr("reads.csv", "id,reader_1,reader_2,reader_3\n" + "\n".join(rows) + "\n")
        archive.writestr("codes.csv", "code,name\n" + "".join(f"{k},{name}\n" for k, name in enumerate(names)))
    assert set(read_first(tmp_path / "t.zip").class_names) == {*names}


def test_notes_below_a_table_say_what_numbers_mean(tmp_path: Path) -> None:
    rows = [f"k{k},{','.join(row)}" for k, row in enumerate(answers([*"129"]))]
    notes = ["Codes: 1 = Lob; 2 = Kritik; 9 = no idea,,,"]
    path = tmp_path / "t.csv"
    path.write_text("\n".join(["id,rater_1,rater_2,rater_3", *rows, ",,,", *notes]), encoding="utf-8")
    data = formats.read(path)
    assert data.class_names == ("Kritik", "Lob") and any("No answer: 9" in note for note in data.notes)
    path.write_text("\n".join(["id,a,b,c", "1,x,y,x", "2,y,y,x", "3,x,x,y", "x = good; y = bad,,,"]), encoding="utf-8")
    assert read_first(path).class_names == ("x", "y")


def test_a_list_of_the_labels_says_how_they_are_written(tmp_path: Path) -> None:
    rows = [
        [f"k{k}", *("late roman" if one == "1" else "Greek" for one in row)]
        for k, row in enumerate(answers(["1", "2"]))
    ]
    sheets = {"Daten": [["id", "rater_1", "rater_2", "rater_3"], *rows]}
    for title, names in (("Lists", ("Late Roman", "Greek")), ("Notes", ("late roman", "Greek"))):
        data = formats.read(workbook(tmp_path / title, **sheets, **{title: [["Period"], ["Late Roman"], ["Greek"]]}))
        assert {*data.class_names} == {*names}


def test_what_a_word_means_is_said_and_is_not_what_it_is_called(tmp_path: Path) -> None:
    codes = ["Rojo", "Verde", "Azul"]
    meant = [[code, f"{k * 10} min"] for k, code in enumerate(codes)]
    data = read(tmp_path / "a.xlsx", codes, {"Leyenda": [["Color", "Tiempo"], *meant]})
    assert set(data.class_names) == {*codes} and any("Verde is 10 min" in str(note) for note in data.notes)


def test_a_data_dictionary_names_the_codes_of_each_field(tmp_path: Path) -> None:
    rows = [[f"k{k}", *row] for k, row in enumerate(answers(["0", "1", "2"]))]
    book = [["Variable / Field Name", "Field Type", "Choices, Calculations"], ["id", "text", ""]]
    book += [["rater", "radio", "0, No DR | 1, Mild NPDR | 2, PDR"], ["quality", "radio", "1, Good | 2, Reject"]]
    path = workbook(tmp_path / "d.xlsx", Data=[["id", "rater_1", "rater_2", "rater_3"], *rows], DataDictionary=book)
    assert {*formats.read(path).class_names} == {"No DR", "Mild NPDR", "PDR"}


def test_a_code_that_says_there_is_no_verdict_is_no_class(tmp_path: Path) -> None:
    book = [["code", "meaning"], ["A", "A better"], ["B", "B better"], ["X", "judge error - no verdict"]]
    assert read(tmp_path / "d.xlsx", ["A", "B", "X"], {"legend": book}).class_names == ("A", "B")


def test_a_code_apart_that_begins_with_a_negation_is_none_where_each_column_has_its_codes(tmp_path: Path) -> None:
    meant = [*PAIRS, ("9", "not read / not readable")]
    book = [["variable", "code", "meaning"], *([f"rater_{k}", *pair] for k in (1, 2, 3) for pair in meant)]
    data = read(tmp_path / "d.xlsx", [*NAMES, *NAMES, "9"], {"Codebook": book})
    assert set(data.class_names) == set(NAMES.values())
    assert any("No answer: 9 (not read / not readable)" in note for note in data.notes)


def test_minus_one_is_the_class_that_a_codebook_calls_it(tmp_path: Path) -> None:
    rows = [[f"k{k}", *row] for k, row in enumerate(answers(["-1", "0", "1"], 60))]
    book = [["编码", "含义"], ["1", "正面"], ["0", "中性"], ["-1", "负面"], ["9", "无法判断"]]
    path = workbook(tmp_path / "d.xlsx", 标注=[["id", "rater_1", "rater_2", "rater_3"], *rows], 编码说明=book)
    assert {*formats.read(path).class_names} == {"正面", "中性", "负面"}


def test_a_codebook_is_never_joined_to_the_answers_of_a_coder(tmp_path: Path) -> None:
    lines = [["Code", "Label", "Definition"], *([code, name, f"where somebody says {name}"] for code, name in PAIRS)]
    rows = [[f"k{k}", *row] for k, row in enumerate(answers(list(NAMES)))]
    sheets = {"Segments": [["id", "Coder MH", "Coder JL", "Coder SP"], *rows], "Codebook": lines}
    data = read_first(workbook(tmp_path / "t.xlsx", **sheets))
    assert {*data.class_names} == {*NAMES.values()} and data.y is None and data.annotations is not None


def test_numbers_that_a_codebook_names_are_asked_about_however_large(tmp_path: Path) -> None:
    """Of two questions the one that is called as the chosen votes brings its final answer along."""
    codes, rolls = ["10", "20", "60", "99"], random.Random(5)
    rows = []
    for k, said in enumerate(answers(codes, 90)):
        other = [rolls.choice("12") for _ in range(2)]
        final = said[0] if k % 3 == 0 and said[0] != "99" else None
        rows.append([f"k{k}", *said[:2], *other, final, rolls.choice("12") if k % 3 else None])
    header = ["id", "issue_ann", "issue_bob", "way_ann", "way_bob", "issue_final", "way_final"]
    lines = [["Code", "Bezeichnung"], ["10", "Preis"], ["20", "Takt"], ["60", "Lärm"], ["99", "nicht kodiert"]]
    data, asked = first_answers(workbook(tmp_path / "t.xlsx", Daten=[header, *rows], Codeplan=lines))
    assert asked is not None and {"issue_ann", "issue_bob"} <= {*asked.columns}
    assert {*data.class_names} == {"Preis", "Takt", "Lärm"}  # 99 stands apart, and says no
    assert data.annotations is not None and data.annotations.annotator_names == ("issue_ann", "issue_bob")
    assert data.y is not None and (data.y >= 0).sum() > 20


@pytest.mark.parametrize(("names", "is_asked"), [("Dr. Rao,Prof. Lind,Dr Hsu", False), ("work,home,leisure", True)])
def test_codes_of_columns_called_as_people_are_answers_as_words_are(tmp_path: Path, names: str, is_asked: bool) -> None:
    rows = [[f"k{k}", *row] for k, row in enumerate(answers(list("123"), 90))]
    lines = [["Code", "Meaning"], ["1", "never"], ["2", "seldom"], ["3", "often"]]
    data, asked = first_answers(workbook(tmp_path / "t.xlsx", Data=[["id", *names.split(",")], *rows], Codes=lines))
    assert (asked is not None) is is_asked and {*data.class_names} == {"never", "seldom", "often"}
    assert data.annotations is not None and data.annotations.annotator_names == tuple(names.split(","))


def test_a_data_dictionary_of_redcap_names_ticks_and_codes(tmp_path: Path) -> None:
    """Options that were ticked are called as they are meant, and so is what was found in the end."""
    rolls, names = random.Random(6), ["naevus", "melanoma", "keratosis"]
    choices = " | ".join(f"{k}, {name}" for k, name in enumerate(names, 1))
    rows = ["record_id,age,ddx___1,ddx___2,ddx___3,histo,review_complete"]
    for k in range(60):
        ticks = [str(int(rolls.random() < 0.5)) for _ in names]
        ticks[k % 3] = "1"
        rows.append(",".join([str(k + 1), str(rolls.randint(20, 80)), *ticks, str(k % 3 + 1) if k % 2 else "", "2"]))
    book = ['Variable / Field Name,Field Type,Field Label,"Choices, Calculations, OR Slider Labels"']
    book += [f'ddx,checkbox,Which?,"{choices}"', f'histo,radio,Histology,"{choices}"']
    with zipfile.ZipFile(tmp_path / "review.zip", "w") as out:
        out.writestr("Review_DATA.csv", "\n".join(rows))
        out.writestr("Review_DataDictionary.csv", "\n".join(book))
    data, asked = first_answers(tmp_path / "review.zip")
    assert {*data.class_names} == {*names} and data.feature_names == ("age",) and not data.categories
    assert asked is None and data.y is not None and (data.y >= 0).sum() == 30


@pytest.mark.parametrize(
    ("title", "lines"),
    [
        ("Artenliste", [["Kürzel", "Art"], ["FU", "Fuchs"], ["DX", "Dachs"], ["RE", "Reh"]]),
        ("values", [["VAR", "CODE", "MEANING"], *(["seen", *one] for one in (("FU", "Fuchs"), ("DX", "Dachs")))]),
    ],
)
def test_a_sheet_is_a_codebook_by_the_codes_that_it_names(tmp_path: Path, title: str, lines: list[list[str]]) -> None:
    """Whatever it is called, and where several codes stand in a cell, too."""
    rolls = random.Random(3)
    rows = [[f"p{k}", f"{rolls.gauss(9, 1):.2f}", rolls.choice(["FU", "DX", "FU / DX"])] for k in range(40)]
    data, asked = first_answers(workbook(tmp_path / "t.xlsx", Bilder=[["id", "cm", "seen"], *rows], **{title: lines}))
    assert asked is not None and {*data.class_names} == {"Fuchs", "Dachs"} and len(data) == 40
    assert {*data.candidates.sizes.tolist()} == {1, 2}


def test_names_of_people_are_no_meaning_of_small_numbers(tmp_path: Path) -> None:
    data = read(tmp_path / "t.xlsx", list(NAMES), {"People": [["no", "who"], ["1", "Ann"], ["2", "Bo"], ["3", "Cy"]]})
    assert {*data.class_names} == {*NAMES}


def test_a_class_that_holds_the_name_of_another_is_one(tmp_path: Path) -> None:
    codes = ["Science", "Computer science, works", "History"]
    assert {*read(tmp_path / "t.xlsx", codes, {}).class_names} == {*codes}


def test_workbooks_of_a_person_each_have_their_codebooks(tmp_path: Path) -> None:
    rolls = random.Random(4)
    truth = [rolls.choice([*NAMES]) for _ in range(24)]
    path = tmp_path / "all.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for who in ("Ann", "Bob", "Cem"):
            rows = [[f"k{k}", t if rolls.random() < 0.8 else rolls.choice([*NAMES])] for k, t in enumerate(truth)]
            legend = [["Code", "Bedeutung"], *map(list, PAIRS)]
            archive.write(
                workbook(tmp_path / f"{who}.xlsx", Daten=[["id", "label"], *rows], Codebuch=legend), f"{who}.xlsx"
            )
    data = read_first(path)
    assert {*data.class_names} == {*NAMES.values()} and data.annotations is not None
    assert data.annotations.n_annotators == 3 and len(data) == 24


def test_notes_above_a_table_say_what_numbers_mean(tmp_path: Path) -> None:
    notes = [f"# {code} = {name}" for code, name in PAIRS]
    rows = [",".join([f"k{k}", *row]) for k, row in enumerate(answers([*NAMES]))]
    path = tmp_path / "t.csv"
    path.write_text("\n".join(["# Study 2", *notes, "# 99 = not coded", "id,coder1,coder2,coder3", *rows, "z,1,99,1"]))
    data = read_first(path)
    assert {*data.class_names} == {*NAMES.values()}
    assert data.annotations is not None and data.annotations.n_answers == 24 * 3 + 2


def test_a_dictionary_of_a_survey_says_what_the_codes_of_each_question_mean(tmp_path: Path) -> None:
    """A column of kinds stands beside the one of questions, and each question has a code A1."""
    names = {"A1": "hateful", "A2": "offensive, but not hateful", "A3": "harmless"}
    lines = [["question", "type", "code", "text"], ["G01Q01", "answer", "A1", "student"]]
    lines += [["G01Q01", "answer", "A2", "employed"]]
    lines += [["G02Q03", "subquestion", f"SQ{k:03}", f"What was said in comment {k}"] for k in range(20)]
    lines += [["G02Q03", "answer", code, name] for code, name in names.items()]
    asked = [f"G02Q03[SQ{k:03}]" for k in range(20)]
    header = ["id", "submitdate", "lastpage", "startlanguage", "G01Q01", *asked, "G03Q09"]
    people = [list(row) for row in zip(*(row * 4 for row in answers([*names], n=20)), strict=True)]
    rows = [
        [str(k), f"2023-03-01 08:{k:02}:00", "3", "de", f"A{1 + k % 2}", *row, "" if k else "thanks"]
        for k, row in enumerate(people)
    ]
    data = read_first(workbook(tmp_path / "t.xlsx", Responses=[header, *rows], Codebook=lines))
    assert {*data.class_names} == {*names.values()} and len(data) == len(asked)


def test_a_sheet_of_any_title_is_a_codebook_by_its_column_of_meanings(tmp_path: Path) -> None:
    rows = [[f"k{k}", *row] for k, row in enumerate(answers([*NAMES]))]
    sheets = {"Scores": [["id", "Dr Jansen", "Dr de Wit", "Dr Bakker"], *rows]}
    data = read_first(workbook(tmp_path / "t.xlsx", **sheets, Scale=[["Score", "Meaning"], *map(list, PAIRS)]))
    assert {*data.class_names} == {*NAMES.values()}


@pytest.mark.parametrize("as_pairs", [True, False])
def test_a_legend_below_the_table_names_letters_and_signs(tmp_path: Path, as_pairs: bool) -> None:
    """Also a dash, which elsewhere is no answer, and names that look like one with a doubt or like each other."""
    codes = {"+": "benign", "o": "probably benign", "-": "malign"}
    rows = [[f"k{k}", *row] for k, row in enumerate(answers([*codes], 40))]
    lines = [[code, name] if as_pairs else [f"{code} = {name}", ""] for code, name in codes.items()]
    legend = [["", "", "", ""], *([*line, "", ""] for line in lines)]
    sheet = [["id", "Ann", "Bob", "Cyd"], *rows, *legend]
    for data in (
        first_answers(workbook(tmp_path / "t.xlsx", Blatt=sheet))[0],
        first_answers(written(tmp_path / "t.csv", sheet))[0],
    ):
        assert len(data) == 40 and {*data.class_names} == {*codes.values()}
        assert data.annotations is not None and data.annotations.n_answers == 120


def written(path: Path, rows: list[list[str]]) -> Path:
    path.write_text("".join(",".join(row) + "\n" for row in rows))
    return path


def test_what_a_codebook_names_apart_is_no_other_spelling(tmp_path: Path) -> None:
    codes = {"1": "Virgen extra", "2": "Virgen", "3": "Lampante"}
    data = read(tmp_path / "t.xlsx", [*codes], {"Códigos": [["Código", "Significado"], *map(list, codes.items())]})
    assert {*data.class_names} == {*codes.values()}


def test_a_legend_before_the_table_is_not_read_and_names_the_codes(tmp_path: Path) -> None:
    rows = [[f"v{k}", f"{k / 7:.2f}", *row] for k, row in enumerate(answers(["1", "2", "3"], 14))]
    legend = [["Table S3. What 14 variants are", ""], ["", ""], ["Column", "Description"], ["CADD", "score, v1.6"]]
    legend += [["Lab A - Lab C", "what the laboratory says"], ["", ""], ["Code", "Meaning"], *map(list, PAIRS)]
    sheets = {"Legend": legend, "Table S3": [["variant", "CADD", "Lab A", "Lab B", "Lab C"], *rows]}
    data = first_answers(workbook(tmp_path / "s.xlsx", **sheets))[0]
    assert len(data) == 14 and {*data.class_names} == {*NAMES.values()} and data.feature_names == ("CADD",)


def test_a_file_of_what_long_codes_mean_beside_the_table_in_a_zip(tmp_path: Path) -> None:
    rolls, named = (
        random.Random(2),
        {"HP:0001250": "Seizure", "HP:0001263": "Global developmental delay", "HP:0001337": "Tremor"},
    )
    lines = ["case_id\tnarrative\thpo_candidates"]
    for k in range(40):
        lines.append(f"c{k}\tseen on day {k}, shaking hands\t{'|'.join(rolls.sample([*named], rolls.randint(1, 3)))}")
    path = tmp_path / "hpo.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("cases.tsv", "\n".join(lines))
        archive.writestr("hpo_terms.tsv", "\n".join(["hpo_id\thpo_name", *map("\t".join, named.items())]))
    data = first_answers(path)[0]
    assert len(data) == 40 and {*data.class_names} == {*named.values()} and data.texts is not None


def test_labels_of_a_sheet_called_as_a_codebook_are_read(tmp_path: Path) -> None:
    """Nothing else has the codes: sheets of a person each, few lines long, or the data before a summary of it."""
    words = ["cat", "dog", "cow", "fox", "owl"]
    coded = {
        f"Coding {who}": [["id", "code"], *([f"S{k:02}", word] for k, word in enumerate(said))]
        for who, said in (("Ann", words), ("Bob", words[::-1]))
    }
    about = [["who", "age"], ["ann", "33"], ["bob", "44"]]
    data = first_answers(workbook(tmp_path / "s.xlsx", **coded, About=about))[0]
    assert len(data) == 5 and data.annotations is not None and data.annotations.n_annotators == 2
    rows = [[f"S{k:02}", f"red bird {k}", words[k % 5]] for k in range(20)]
    sheets = {
        "Labels": [["code", "name", "true label"], *rows],
        "Summary": [["label", "n"], *([w, "4"] for w in words)],
    }
    data = first_answers(workbook(tmp_path / "l.xlsx", **sheets))[0]
    assert len(data) == 20 and {*data.class_names} == {*words}

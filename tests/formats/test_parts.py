"""A file or a sheet a person, and parts of one export: one table, and back into each part."""

from __future__ import annotations

import json
import random
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import openpyxl
import pyarrow as pa
import pytest

from pll import formats
from pll.catalog.sources import source_of
from pll.dataset import PartialLabelDataset
from pll.errors import UserError
from pll.formats import ReadOptions, Results
from pll.formats.odd import findings_in
from pll.formats.reading import question
from pll.formats.records import Records
from pll.formats.tabular import parts
from pll.formats.tabular.parts import are_one_a_person
from pll.images import encode

PEOPLE = {"amy": "xyx", "ben": "yyx", "cleo": "xx"}
"""What each person answered on the examples e0, e1, …"""


def text_of(answers: str, start: int = 0) -> str:
    rows = [f"e{k},what is written in row {k},{label}" for k, label in enumerate(answers, start=start)]
    return "\n".join(["id,text,label", *rows]) + "\n"


def as_lines(answers: str) -> str:
    rows = [{"id": f"e{k}", "text": f"row {k}", "label": label} for k, label in enumerate(answers)]
    return "".join(json.dumps(row) + "\n" for row in rows)


def archive(path: Path, files: dict[str, str]) -> Path:
    with zipfile.ZipFile(path, "w") as out:
        for name, content in files.items():
            out.writestr(name, content)
    return path


def folder(path: Path, files: dict[str, str]) -> Path:
    for name, content in files.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_text(content)
    return path


def workbook(path: Path, files: dict[str, str]) -> Path:
    book = openpyxl.Workbook()
    for name, content in files.items():
        sheet = book.create_sheet(Path(name).stem)
        for line in content.splitlines():
            sheet.append(line.split(","))
    book.remove(book.worksheets[0])
    book.save(path)
    return path


def votes(path: Path) -> dict[str, dict[str, str]]:
    """By example, what each person answered."""
    data = formats.read(path)
    annotations = data.annotations
    assert annotations is not None
    answers: dict[str, dict[str, str]] = {}
    for row, who, label in zip(annotations.rows, annotations.annotators, annotations.labels, strict=True):
        name = annotations.annotator_names[who]
        answers.setdefault(str(data.row_ids[row]), {})[name] = data.class_names[label]
    return answers


EXPECTED = {f"e{k}": {who: said[k] for who, said in PEOPLE.items() if k < len(said)} for k in range(3)}


@pytest.mark.parametrize(
    ("make", "name", "files"),
    [
        (archive, "t.zip", {f"{who}.csv": text_of(said) for who, said in PEOPLE.items()}),
        (archive, "t.zip", {f"out/{who}/all.jsonl": as_lines(said) for who, said in PEOPLE.items()}),
        (folder, "t", {f"{who}.csv": text_of(said) for who, said in PEOPLE.items()}),
        (workbook, "t.xlsx", {who: text_of(said) for who, said in PEOPLE.items()}),
    ],
)
def test_a_file_or_a_sheet_a_person(
    tmp_path: Path, make: Callable[[Path, dict[str, str]], Path], name: str, files: dict[str, str]
) -> None:
    assert votes(make(tmp_path / name, files)) == EXPECTED


def test_a_file_of_what_nobody_has_answered_yet_is_no_other_table(tmp_path: Path) -> None:
    files = {f"{who}.jsonl": as_lines(said * 4) for who, said in PEOPLE.items()}
    files["unknown.jsonl"] = json.dumps({"id": "e99", "text": "row 99", "label": []}) + "\n"
    data = formats.read(archive(tmp_path / "t.zip", files))
    assert data.annotations is not None
    assert set(data.annotations.annotator_names) == {*PEOPLE}
    assert len(data) == len(formats.read(archive(tmp_path / "u.zip", dict([*files.items()][:-1])))) + 1
    more = {name: text.replace(', "label"', ', "channel": "web", "label"') for name, text in files.items()}
    more = {name: text.replace("web", "mail", text.count("web") // 2) for name, text in more.items()}
    data = formats.read(archive(tmp_path / "v.zip", more))  # a column that all have, and that repeats
    assert data.annotations is not None and {*data.annotations.annotator_names} == {*PEOPLE}


def test_a_first_sheet_of_codes_is_not_the_table(tmp_path: Path) -> None:
    codes = "code,meaning\n" + "".join(f"{letter},class {letter}\n" for letter in "xy")
    rows = "id,rater_1,rater_2,rater_3\n" + "".join(f"e{k},{'xy'[k % 2]},{'xy'[k // 2 % 2]},x\n" for k in range(40))
    path = workbook(tmp_path / "t.xlsx", {"First": codes, "Second": rows})
    data = formats.read(path, accept=("chance",))
    assert len(data) == 40 and formats.sheets(path) == ["Second", "First"]
    done = Results([f"e{k}" for k in range(40)], {"identified_label": ["x"] * 40})
    formats.give_back(path, tmp_path / "out.xlsx", done)
    book = openpyxl.load_workbook(tmp_path / "out.xlsx")
    assert (book["First"].max_column, book["Second"].max_column) == (2, 5)


def test_each_file_of_an_archive_gets_its_labels_and_keeps_its_bytes(tmp_path: Path) -> None:
    files = {f"{who}.csv": text_of(said) for who, said in PEOPLE.items()} | {"README.txt": "by us"}
    path = archive(tmp_path / "t.zip", files)
    done = Results([f"e{k}" for k in range(3)], {"identified_label": list("xyx"), "confidence": ["0.5"] * 3})
    formats.give_back(path, tmp_path / "out.zip", done)
    with zipfile.ZipFile(tmp_path / "out.zip") as out:
        after = {name: out.read(name).decode() for name in out.namelist()}
    assert after.pop("README.txt") == files.pop("README.txt")
    for name, text in files.items():
        was = text.splitlines()
        labels = ["label (Candid),confidence", "x,0.5", "y,0.5", "x,0.5"]
        assert after[name].splitlines() == [f"{line},{more}" for line, more in zip(was, labels, strict=False)]


def test_each_sheet_gets_its_labels(tmp_path: Path) -> None:
    path = workbook(tmp_path / "t.xlsx", {who: text_of(said) for who, said in PEOPLE.items()})
    assert formats.sheets(path) == ["", *PEOPLE]
    done = Results([f"e{k}" for k in range(3)], {"identified_label": list("xyx")})
    formats.give_back(path, tmp_path / "out.xlsx", done)
    book = openpyxl.load_workbook(tmp_path / "out.xlsx")
    for who, said in PEOPLE.items():
        assert [row[3] for row in book[who].iter_rows(values_only=True)] == ["label (Candid)", *"xyx"[: len(said)]]


def test_a_sheet_by_name_is_that_sheet_alone(tmp_path: Path) -> None:
    path = workbook(tmp_path / "t.xlsx", {who: text_of(said) for who, said in PEOPLE.items()})
    assert formats.read(path, sheet="ben").annotations is None
    assert len(formats.read(path, sheet="cleo")) == 2


def test_parts_of_one_export_are_one_table(tmp_path: Path) -> None:
    parts = {"part-0.csv": text_of("xyx").replace("label", "true_label")}
    parts["part-1.csv"] = text_of("yx", start=3).replace("label", "true_label")
    data = formats.read(archive(tmp_path / "t.zip", parts))
    assert data.row_ids.tolist() == [f"e{k}" for k in range(5)]
    assert data.annotations is None


def test_different_tables_are_refused_by_name(tmp_path: Path) -> None:
    path = archive(tmp_path / "t.zip", {"a.csv": text_of("xy"), "b.csv": "worker,trust\nann,1\nben,0.5\n"})
    with pytest.raises(UserError, match=r"a has the columns .* b has .* different tables"):
        formats.read(path)


def test_tables_that_say_more_of_what_others_name_are_joined_to_them(tmp_path: Path) -> None:
    """Items, what somebody settled and people beside lines of answers; what goes back are the answers, with labels."""
    said = [(f"q{k}", who, "xyz"[(k + (who == "c" and k % 4 == 0)) % 3]) for k in range(24) for who in "abc"]
    files = {
        "data/people.csv": "worker,age\n" + "".join(f"{who},{30 + k}\n" for k, who in enumerate("abc")),
        "data/answers.csv": "question,worker,label\n" + "".join(",".join(one) + "\n" for one in said),
        "data/gold.csv": "question,label\n" + "".join(f"q{k},{'xyz'[k % 3]}\n" for k in range(0, 24, 3)),
        "data/items.csv": "question,title\n" + "".join(f"q{k},the title of number {k} here\n" for k in range(25)),
    }
    path, back = archive(tmp_path / "t.zip", files), tmp_path / "back.zip"
    roles = dict[str, str]()
    while (asked := question(formats.columns(path, options=formats.ReadOptions(columns=roles)))) is not None:
        roles |= asked.answers[0][1]
    data = formats.read(path, columns=roles)
    assert len(data) == 25 and data.annotations is not None and data.annotations.n_answers == 72  # of one nobody
    assert data.texts is not None and data.texts[3] == "the title of number 3 here" and not data.feature_names
    assert data.y is not None and (data.y >= 0).sum() == 8
    labels = [f"label {name}" for name in data.row_ids]
    results = Results(data.row_ids.tolist(), {"identified_label": labels})
    formats.give_back(path, back, results, options=formats.ReadOptions(columns=roles))
    with zipfile.ZipFile(back) as inside:
        given = {name: inside.read(name).decode() for name in files}
    assert {name for name in files if given[name] != files[name]} == {"data/answers.csv"}
    assert [line.rsplit(",", 1)[1] for line in given["data/answers.csv"].splitlines()[1:4]] == ["label q0"] * 3


def test_one_table_in_an_archive_is_that_table(tmp_path: Path) -> None:
    text = text_of("xyxyxy").replace("label", "true_label")
    data = formats.read(archive(tmp_path / "t.zip", {"data/only.csv": text, "README.md": "# us"}))
    assert len(data) == 6
    assert data.y is not None


def test_somebody_who_answered_once_or_left_some_out_is_a_person(tmp_path: Path) -> None:
    people = {"amy": [0, 1, 2, 3], "ben": [0, 1, 3], "tester": [2]}
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        for who, rows in people.items():
            labels = [["a"], ["b"], [], ["b"]] if who == "amy" else [["b"], ["b"], [], []]
            lines = [json.dumps({"id": k, "text": f"t{k}", "label": labels[k]}) for k in rows]
            archive.writestr(f"{who}.jsonl", "\n".join(lines))
    data = formats.read(tmp_path / "x.zip")
    assert data.annotations is not None and data.annotations.n_answers == 5 and len(data) == 4


def test_a_sheet_or_file_a_person_though_their_columns_are_called_otherwise(tmp_path: Path) -> None:
    said = [("favor", "against", "none")[k % 3] for k in range(12)]
    first = "item,text,stance\n" + "".join(f"s{k},the law number {k} is new,{said[k]}\n" for k in range(12))
    second = "ID;Satz;Haltung\n" + "".join(f"s{k};the law number {k} is new;{said[-k]}\n" for k in range(12))
    third = "stance\titem\n" + "".join(f"{said[k]}\ts{k}\n" for k in range(9))
    path = tmp_path / "all.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in {"ann.csv": first, "bob.csv": second, "cem.tsv": third}.items():
            archive.writestr(name, text)
    data = formats.read(path, keep=("none",))
    assert data.annotations is not None and data.annotations.annotator_names == ("ann", "bob", "cem")
    assert len(data) == 12 and set(data.class_names) == {"favor", "against", "none"} and data.texts is not None


def test_tables_about_the_same_examples_without_a_column_of_labels_are_no_people(tmp_path: Path) -> None:
    ids = ["a", "b", "c", "d"]
    texts = pa.table({"id": ids, "text": ["one", "two", "three", "four"], "width": ["1", "2", "3", "4"]})
    labels = pa.table({"id": ids, "colour": ["x", "y", "x", "y"], "size": ["l", "l", "m", "m"]})
    assert not are_one_a_person([Records.of(texts), Records.of(labels)])


def test_tables_of_other_ids_that_share_some_phrases_are_no_people(tmp_path: Path) -> None:
    def month(start: int) -> Records:
        ids = [f"P{start + k:04d}" for k in range(24)]
        complaints = [f"complaint of kind {k * 5 % 14}" for k in range(24)]
        return Records.of(pa.table({"Pt": ids, "complaint": complaints, "nurse": [*"123412"] * 4}))

    assert not are_one_a_person([month(1), month(80)])
    assert are_one_a_person([month(1), month(1)])


def test_parts_that_say_who_answered_are_no_people() -> None:
    def part(start: int, names: dict[str, str]) -> Records:
        cells = {"id": [f"{k // 2 + 1}" for k in range(40)]} | {name: [*of] * 20 for name, of in names.items()}
        return Records.of(pa.table(cells | {"label": [*"xyzzx"] * 8}))

    assert not are_one_a_person([part(1, {"annotator": "ab"}), part(2, {"annotator": "ab"})])
    assert are_one_a_person([part(1, {"group": "ab"}), part(2, {"group": "ab"})])


def test_a_sheet_of_everybodys_answers_is_no_person(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    book.remove(book.active)
    every = [
        [f"e{k}", f"what is in row {k}", *("xyz"[(k + at * (k % 4 == 0)) % 3] for at in range(3))] for k in range(12)
    ]
    sheets = {"All": [["Nr", "Text", *PEOPLE], *every]}
    for at, who in enumerate(PEOPLE):
        sheets[who] = [["nr", "Kode"], *([row[0], row[2 + at]] for row in every)]
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    book.save(tmp_path / "all.xlsx")
    data = formats.read(tmp_path / "all.xlsx")
    assert data.annotations is not None and data.annotations.annotator_names == tuple(PEOPLE)
    assert any("there is also All" in note for note in data.notes)


@pytest.mark.parametrize(
    ("name", "begins", "says"),
    [
        ("a/annotations.xml", '<?xml version="1.0"?>\n<annotations><version>1.1</version></annotations>', "CVAT"),
        ("a/amy.tsv", "#FORMAT=WebAnno TSV 3.3\n", "INCEpTION"),
        ("a/1.xml", "<annotation><object/></annotation>", "VOC"),
        ("exportedproject.json", '{"name": "p",\n "annotation_documents": []}', "INCEpTION"),
        ("annotation/1.txt/amy.json", '{\n  "%TYPES": {}}', "INCEpTION"),
    ],
)
def test_marks_in_pictures_and_texts_are_named_and_the_remedy_works(
    tmp_path: Path, name: str, begins: str, says: str
) -> None:
    path = tmp_path / "all.zip"
    for pictures in ([], ["images/1.png"])[: 1 + name.endswith(".xml")]:
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr(name, begins)
            for picture in pictures:
                archive.writestr(picture, encode(np.zeros((4, 4), np.uint8)))
        with pytest.raises(UserError, match=says) as refused:
            formats.read(path)
    assert "for each person a CSV file with the columns id and label" in str(refused.value)
    for image in ("", ",image"):  # alone, and with the pictures beside
        with zipfile.ZipFile(path, "w") as archive:
            for who, answers in PEOPLE.items():
                rows = [f"e{k},{label}" + f",e{k}.png" * bool(image) for k, label in enumerate(answers)]
                archive.writestr(f"{who}.csv", "\n".join([f"id,label{image}", *rows]) + "\n")
            for k in range(3 * bool(image)):
                archive.writestr(f"pictures/e{k}.png", encode(np.zeros((4, 4), np.uint8)))
        data = formats.read(path)
        assert data.annotations is not None and data.annotations.annotator_names == tuple(PEOPLE)
        assert (data.picture(0) is not None) == bool(image) and len(formats.columns(path)) == 3 + bool(image)
        formats.give_back(path, tmp_path / "out.zip", Results(["e0"], {"identified_label": ["x"]}, "m"))
        assert len(zipfile.ZipFile(tmp_path / "out.zip").namelist()) == 3 + 3 * bool(image)


@pytest.mark.parametrize("name", ["gold", "final_check"])
def test_a_file_of_what_somebody_settled_is_no_voter_unless_the_user_says_so(tmp_path: Path, name: str) -> None:
    files = {f"{who}.csv": text_of(("xyzxyz", "xyyxyz", "xxzxyx")[k] * 4) for k, who in enumerate(PEOPLE)}
    files[f"{name}.csv"] = text_of("xyzxyz")
    path = archive(tmp_path / "t.zip", files)
    asked = question(formats.columns(path))
    assert (asked is None) == (name == "gold")  # a usual name of the truth
    data = formats.read(path, columns={} if asked is None else asked.answers[0][1])
    assert data.annotations is not None and data.annotations.annotator_names == (*PEOPLE,)
    assert data.y is not None and (data.y >= 0).sum() == 6 and not data.feature_names and not data.categories
    voter = formats.read(path, columns={name: "annotator"})
    assert voter.annotations is not None and voter.annotations.n_answers == 4 * 6 * 3 + 6 and voter.y is None
    formats.give_back(path, tmp_path / "out.zip", Results(["e0"], {"identified_label": ["x"]}, "m"))
    with zipfile.ZipFile(tmp_path / "out.zip") as out:
        assert out.read(f"{name}.csv").decode().splitlines()[1].startswith("e0,what is written in row 0,x,x")


def task(k: int, people: str) -> dict[str, object]:
    """A task of Label Studio with the answers of some people."""
    said = [
        {"from_name": "kind", "to_name": "t", "type": "choices", "value": {"choices": [PEOPLE[who][k % 2]]}}
        for who in people.split()
    ]
    answers = [{"completed_by": {"email": who}, "result": [one]} for who, one in zip(people.split(), said, strict=True)]
    return {"id": k, "data": {"text": f"what is in {k}"}, "annotations": answers}


TASKS = [task(k, "amy ben cleo") for k in range(6)]


@pytest.mark.parametrize("bring", [archive, folder])
@pytest.mark.parametrize(
    "files",
    [
        {f"export/{one['id']}": json.dumps(one, indent=1) for one in TASKS},
        {"a.json": json.dumps(TASKS[:2]), "b.json": json.dumps(TASKS[2:]), "b.config.txt": "<View/>"},
        {f"{who}.json": json.dumps([task(k, who) for k in range(6)]) for who in PEOPLE},
    ],
    ids=["a file a task", "parts", "a file a person"],
)
def test_an_export_in_several_files_is_read_as_in_one(
    tmp_path: Path, files: dict[str, str], bring: Callable[[Path, dict[str, str]], Path]
) -> None:
    (tmp_path / "one.json").write_text(json.dumps(TASKS))
    one, several = formats.read(tmp_path / "one.json"), source_of(str(bring(tmp_path / "several.zip", files))).load()
    assert several.row_ids.tolist() == one.row_ids.tolist() and several.sets() == one.sets()
    assert several.texts is not None and one.texts is not None and several.texts.tolist() == one.texts.tolist()
    assert one.annotations is not None and several.annotations is not None
    assert several.annotations.annotator_names == one.annotations.annotator_names == tuple(PEOPLE)
    done = Results(["3"], {"identified_label": ["x"], "confidence": ["0.75"]}, "m")
    formats.give_back(tmp_path / "several.zip", tmp_path / "out.zip", done)
    with zipfile.ZipFile(tmp_path / "out.zip") as out:
        assert {*out.namelist()} == {*files}
        told = [json.loads(out.read(name)) for name in files if "config" not in name]
    tasks = [one for some in told for one in (some if isinstance(some, list) else [some])]
    assert {one["id"] for one in tasks if "predictions" in one} == {3}


def test_tasks_without_ids_keep_their_place_and_two_projects_are_refused(tmp_path: Path) -> None:
    nameless = [{name: value for name, value in one.items() if name != "id"} for one in TASKS]
    files = {"a.json": json.dumps(nameless[:2]), "b.json": json.dumps(nameless[2:])}
    path = archive(tmp_path / "t.zip", files)
    assert len(formats.read(path)) == 6
    formats.give_back(path, tmp_path / "out.zip", Results(["3"], {"identified_label": ["x"], "confidence": [""]}, "m"))
    with zipfile.ZipFile(tmp_path / "out.zip") as out:
        assert ["predictions" in one for one in json.loads(out.read("b.json"))] == [False, True, False, False]
    other = [one | {"data": {"text": "of another project"}} for one in TASKS[:1]]
    with pytest.raises(UserError, match=r"0 is another example in a\.json"):
        formats.read(archive(tmp_path / "u.zip", {"a.json": json.dumps(TASKS), "b.json": json.dumps(other)}))


def test_samples_of_models_in_folders_are_a_voter_each_and_their_scores_are_left_out(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "runs.zip", "w") as archive:
        for model in ("org__small", "org__large"):
            lines = [{"doc_id": k, "doc": {"q": f"text {k}"}, "filtered_resps": ["ab"[k % 2]]} for k in range(12)]
            archive.writestr(f"{model}/samples_x.jsonl", "".join(json.dumps(line) + "\n" for line in lines))
            archive.writestr(f"{model}/results_x.json", json.dumps({"results": {"x": {"acc": 0.5}}, "config": "c"}))
    data = formats.read(tmp_path / "runs.zip")
    assert data.annotations is not None and data.annotations.n_annotators == 2 and data.annotations.n_answers == 24
    assert len(data) == 12 and data.class_names == ("a", "b")
    assert any("results_x.json" in note for note in data.notes)


@pytest.mark.parametrize(
    ("refers", "number", "table"),
    [
        ("Essay #", "#", "Essays"),
        ("_parent_index", "_index", "Häuser"),
        ("zdjecie_id", "id", "zdjecia"),
        ("Which piece is it?", "Signatur", "Stücke"),  # told by its codes
    ],
)
def test_rows_are_joined_by_what_refers_to_them_and_not_by_what_numbers_both(
    tmp_path: Path, refers: str, number: str, table: str
) -> None:
    """Answers have a number of their own, called as that of the 30 items, the last of which were answered first."""
    is_code = number == "Signatur"

    def code(k: int, at: int) -> str:
        return f"S-{k:02}" if is_code else str(k)

    said = ["xyz"[(at // 3 + (at % 7 == 0)) % 3] for at in range(90)]
    lines = [f"{'No.' if is_code else number},{refers},worker,label"]
    lines += [f"{at + 1},{code(30 - at // 3, at)},{'abc'[at % 3]},{said[at]}" for at in range(90)]
    items = [f"{number},title,weight"]
    items += [f"{code(k, 0)},the title of number {k} here,{k / 2}" for k in range(1, 31)]
    path = archive(tmp_path / "t.zip", {"answers.csv": "\n".join(lines), f"{table}.csv": "\n".join(items)})
    data = read_first(path)
    assert len(data) == 30 and data.annotations is not None and data.annotations.n_answers == 90
    assert data.texts is not None and {*data.texts.tolist()} == {f"the title of number {k} here" for k in range(1, 31)}
    assert data.texts[data.row_ids.tolist().index(code(30, 0))] == "the title of number 30 here"


def test_tables_of_a_database_are_one_table_of_answers(tmp_path: Path) -> None:
    rolls = random.Random(1)
    tables = {
        "ocena.csv": ["id,zgloszenie_id,osoba_id,kategoria_id"],
        "zgloszenie.csv": ["id,tresc", *(f"{k},what was written in report number {k}" for k in range(1, 41))],
        "osoba.csv": ["id,login", *(f"{k},user{k}" for k in range(1, 6))],
        "kategoria.csv": ["id,nazwa", "1,drogi", "2,zieleń", "3,hałas"],
        "migracja.csv": ["wersja", "20210304", "20220918"],
    }
    for at in range(120):
        kind = at // 3 % 3 + 1 if rolls.random() < 0.8 else rolls.randint(1, 3)
        tables["ocena.csv"].append(f"{at + 1},{at // 3 + 1},{at % 3 + 1 + at // 60},{kind}")
    path = archive(tmp_path / "db.zip", {f"db/{name}": "\n".join(lines) for name, lines in tables.items()})
    data = read_first(path)
    assert len(data) == 40 and data.annotations is not None and data.annotations.n_answers == 120
    assert {*data.class_names} == {"drogi", "zieleń", "hałas"} and data.texts is not None
    assert any("migracja" in note for note in data.notes)


def test_what_several_columns_have_are_labels_and_a_sheet_of_them_says_what_they_mean(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    book.remove(book.active)
    codes = ["K1", "K2", "K3", "n.b."]
    said = [[codes[3 if k % 11 == at else (k + (at == k % 9)) % 3] for at in range(2)] for k in range(40)]
    rows = [[f"{k / 7}", *some, codes[k % 3]] for k, some in enumerate(said)]
    sheets = {"Funde": [["Breite", "Eva", "Jan", "Pia"], *rows], "Legende": [["Kürzel", "Bedeutung"]]}
    sheets["Legende"] += [[code, f"Keramik {at}"] for at, code in enumerate(codes[:3])]
    for name, cells in sheets.items():
        sheet = book.create_sheet(name)
        for row in cells:
            sheet.append(row)
    book.save(tmp_path / "t.xlsx")
    data = read_first(tmp_path / "t.xlsx")
    assert {*data.class_names} == {"Keramik 0", "Keramik 1", "Keramik 2"}


def test_what_is_said_of_the_items_is_added_to_the_answers_of_a_file_a_person(tmp_path: Path) -> None:
    ids, rolls = [f"{1900 + k}.{k % 9 + 1}.{k + 20}" for k in range(60)], random.Random(2)
    tables = {
        "items.csv": ["Inv.,text,height", *(f"{one},what is seen on number {one},{k / 3}" for k, one in enumerate(ids))]
    }
    for who in ("ines", "tomas", "zoe"):
        some = rolls.sample(range(60), 50)
        tables[f"{who}.csv"] = ["Inv.,type", *(f"{ids[k]},{'xyz'[(k + (rolls.random() < 0.2)) % 3]}" for k in some)]
    path = archive(tmp_path / "t.zip", {name: "\n".join(lines) for name, lines in tables.items()})
    data = read_first(path)
    assert data.annotations is not None and data.annotations.annotator_names == ("ines", "tomas", "zoe")
    assert data.class_names == ("x", "y", "z") and data.texts is not None and data.X.shape[1] == 1


def read_first(path: Path) -> PartialLabelDataset:
    """The data with the first answer to every question."""
    roles = dict[str, str]()
    while (asked := question(formats.columns(path, options=formats.ReadOptions(columns=roles)))) is not None:
        roles |= asked.answers[0][1]
    return formats.read(path, columns=roles)


def lines_of(k: int, labels: list[str], start: int = 0) -> str:
    return f"{k},what is written in row {k + start},{','.join(labels)}\n"


def test_tables_are_joined_by_ids_that_are_called_otherwise(tmp_path: Path) -> None:
    answers = [f"{k},w{w},{'01'[(k + (k + w) // 5) % 2]}" for k in range(3, 33) for w in range(3)]
    items = [f"{k},what is said in {k}" for k in range(40)]
    files = {"answers.csv": "\n".join(["orig_id,worker,label", *answers]), "pairs.csv": "\n".join(["id,text", *items])}
    data = read_first(archive(tmp_path / "a.zip", files))
    assert data.texts is not None and len(data) == 40 and data.annotations is not None
    assert len({*data.annotations.rows.tolist()}) == 30  # nobody came to the others yet
    assert dict(zip(data.row_ids, data.texts, strict=True))["7"] == "what is said in 7"


def _user(text: str) -> list[dict[str, object]]:
    return [{"role": "system", "content": "Is it x or y?"}, {"role": "user", "content": text}]


REQUESTS: dict[str, Callable[[str], dict[str, object]]] = {
    "chat": lambda text: {"method": "POST", "body": {"model": "m", "messages": _user(text)}},
    "parts": lambda text: {"body": {"input": [{"role": "user", "content": [{"type": "input_text", "text": text}]}]}},
    "completions": lambda text: {"body": {"prompt": text}},
    "anthropic": lambda text: {"params": {"model": "m", "messages": _user(text)}},
}


@pytest.mark.parametrize("kind", REQUESTS)
def test_the_requests_of_a_batch_are_the_texts_of_its_results(tmp_path: Path, kind: str) -> None:
    asked = [{"custom_id": f"t{k}", **REQUESTS[kind](f"what {k} says to somebody")} for k in range(30)]
    files = {"batch_input.jsonl": "".join(json.dumps(one) + "\n" for one in asked)}
    for model in ("one", "two"):
        replies = [{"message": {"content": "xy"[k % (2 if model == "one" else 3) == 0]}} for k in range(30)]
        lines = [
            {"custom_id": f"t{k}", "response": {"body": {"model": model, "choices": [reply]}}}
            for k, reply in sorted(enumerate(replies), key=lambda one: one[0] % 7)
        ]
        files[f"batch_output_{model}.jsonl"] = "".join(json.dumps(line) + "\n" for line in lines)
    data = read_first(archive(tmp_path / "batch.zip", files))
    assert data.texts is not None and data.annotations is not None
    assert dict(zip(data.row_ids, data.texts, strict=True))["t7"] == "what 7 says to somebody"
    assert data.annotations.annotator_names == ("one", "two") and data.class_names == ("x", "y")
    del files["batch_output_two.jsonl"], files["batch_output_one.jsonl"]
    with pytest.raises(UserError, match="download its output file"):
        formats.read(archive(tmp_path / "asked.zip", files))


@pytest.mark.parametrize("kind", ["text", "numbers", "numbers taken anew"])
def test_tables_whose_numbers_begin_again_are_about_other_examples(tmp_path: Path, kind: str) -> None:
    words = ["the", "room", "was", "cold", "and", "the", "staff", "rude", "but", "breakfast", "fine"]
    sizes = np.random.default_rng(0).normal(9, 3, 40)
    files = {}
    for part in range(3):
        rolls = random.Random(part)
        noise = np.random.default_rng(part).normal(0, 1, (2, 40))
        said = {
            "text": [" ".join(rolls.choices(words, k=8)) for _ in range(40)],
            "numbers": [f"{a:.2f},{b:.2f}" for a, b in noise.T],
            "numbers taken anew": [
                f"{size + a:.2f},{2 * size + b:.2f}" for size, (a, b) in zip(sizes, noise.T, strict=True)
            ],
        }[kind]
        header = "no,text,label" if kind == "text" else "no,length,width,label"
        rows = [f"{k},{one},{rolls.choice('xyz')}" for k, one in enumerate(said, 1)]
        files[f"part_{part}.csv"] = "\n".join([header, *rows]) + "\n"
    source = archive(tmp_path / "t.zip", files)
    people = [column for column in formats.columns(source) if column.role == "worker"]
    assert len(people) == (kind == "numbers taken anew")


def test_two_versions_of_a_table_are_no_two_people(tmp_path: Path) -> None:
    rolls = random.Random(0)
    rows = [[f"e{k}", *(rolls.choice("ABC") for _ in range(3))] for k in range(30)]
    later = [[*row[:3], "A"] if k % 15 == 0 else row for k, row in enumerate(rows)]
    texts = ["\n".join(map(",".join, [["id", "Ann", "Bob", "Cem"], *some])) + "\n" for some in (rows, later)]
    with pytest.raises(UserError, match="nearly the same table"):
        formats.read(archive(tmp_path / "t.zip", dict(zip(["v1.csv", "final.csv"], texts, strict=True))))


@pytest.mark.parametrize("is_first", [True, False])
def test_answers_of_all_people_beside_each_other_once_more_are_nobodys(tmp_path: Path, is_first: bool) -> None:
    rolls = random.Random(1)
    said = {who: [rolls.choice("xyz") for _ in range(40)] for who in ("amy", "ben")}
    sheets = {who: text_of("".join(some)) for who, some in said.items()}
    rows = [f"e{k},what is written in row {k},{a},{b}" for k, (a, b) in enumerate(zip(*said.values(), strict=True))]
    overview = {"overview": "\n".join(["id,text,Amy,Ben", *rows])}
    data = formats.read(workbook(tmp_path / "t.xlsx", overview | sheets if is_first else sheets | overview))
    assert data.annotations is not None and data.annotations.annotator_names == ("amy", "ben")
    assert len(data) == 40 and data.annotations.n_answers == 80 and data.y is None
    assert any("there is also overview" in note for note in data.notes)


def test_ids_written_as_numbers_with_a_point_name_the_same(tmp_path: Path) -> None:
    items = "rev_id,comment\n" + "".join(f"{k * 37},words of the comment {k}\n" for k in range(1, 31))
    answers = "rev_id,worker_id,label\n" + "".join(
        f"{k * 37}.0,{who},{'xyz'[(k + (k % 4 == who)) % 3]}\n" for k in range(1, 31) for who in (1, 2, 3)
    )
    roles = {"rev_id": "task", "worker_id": "worker", "label": "vote"}
    source = archive(tmp_path / "t.zip", {"comments.csv": items, "annotations.csv": answers})
    data = formats.read(source, columns=roles)
    assert len(data) == 30 and data.texts is not None and data.texts[0] == "words of the comment 1"


def test_predictions_of_models_and_a_file_of_labels(tmp_path: Path) -> None:
    rolls = random.Random(1)
    truth = [rolls.choice("xyz") for _ in range(40)]
    files = {
        f"preds/{model}.csv": "\n".join(
            [
                "id,prediction,score",
                *(f"t{k},{one if rolls.random() < 0.8 else 'x'},{rolls.random():.3f}" for k, one in enumerate(truth)),
            ]
        )
        for model in ("bert", "roberta", "svm")
    }
    files["test_labels.csv"] = "\n".join(["id,label", *(f"t{k},{one}" for k, one in enumerate(truth))])
    files["test.csv"] = "\n".join(["id,text", *(f"t{k},what text {k} says of it" for k in range(40))])
    data = formats.read(archive(tmp_path / "all.zip", files))
    assert data.annotations is not None and data.annotations.annotator_names == ("bert", "roberta", "svm")
    assert data.y is not None and (data.y >= 0).all() and data.texts is not None


def test_batches_of_several_models_are_about_the_same_requests(tmp_path: Path) -> None:
    files = dict[str, str]()
    for at, model in enumerate(("gpt-4o", "gpt-4o-mini")):
        asked = [
            {
                "custom_id": f"t{k}",
                "method": "POST",
                "url": "/v1",
                "body": {"model": model, "messages": [{"role": "user", "content": f"text number {k}"}]},
            }
            for k in range(20)
        ]
        said = [
            {
                "id": f"r{k}",
                "custom_id": f"t{k}",
                "response": {
                    "status_code": 200,
                    "body": {
                        "model": model,
                        "choices": [{"message": {"role": "assistant", "content": "hate" if k % (2 + at) else "fine"}}],
                    },
                },
                "error": None,
            }
            for k in range(20)
        ]
        for name, records in (("batch_input", asked), (f"batch_{at}_output", said)):
            files[f"{model}/{name}.jsonl"] = "".join(json.dumps(one) + "\n" for one in records)
    data = formats.read(archive(tmp_path / "batch.zip", files))
    assert len(data) == 20 and data.annotations is not None and data.annotations.n_answers == 40
    assert data.texts is not None and data.texts[0] == "text number 0"


@pytest.mark.parametrize("named", [True, False])
def test_what_stands_beside_batch_results_is_read_and_a_model_may_be_named_there(tmp_path: Path, named: bool) -> None:
    reply = [{"message": {"content": word}} for word in ("hate", "fine")]
    records = [
        {"custom_id": f"t{k}", "text": f"what {k} says to somebody", "response": {"body": {"choices": [reply[k % of]]}}}
        | ({"model": f"model {of}"} if named else {})
        for of in (1, 2)
        for k in range(20)
    ]
    records[3] |= {"response": None, "error": {"code": "rate_limit_exceeded"}}
    path = tmp_path / "merged.jsonl"
    path.write_text("\n".join(map(json.dumps, records)))
    data = read_first(path)
    assert data.annotations is not None and data.texts is not None and len(data) == 20
    assert data.annotations.n_answers == 39 and data.annotations.n_annotators == 2
    assert data.texts[0] == "what 0 says to somebody"


def test_a_number_of_the_item_under_any_name_is_not_learnt_from(tmp_path: Path) -> None:
    """As `lp.` of a Polish sheet, which others sorted."""
    rolls, texts = random.Random(4), [f"what somebody wrote of rower number {k} in a letter" for k in range(60)]
    sheets = {}
    for at, who in enumerate(("Anna", "Marek", "Kasia")):
        rows = [f"{k + 1},{texts[k]},{'xyz'[(k + (k % 5 == at)) % 3]}" for k in range(60)]
        sheets[who] = "\n".join(["lp,tekst,etykieta", *(rolls.sample(rows, 60) if at == 1 else rows)]) + "\n"
    data = read_first(workbook(tmp_path / "t.xlsx", sheets))
    assert len(data) == 60 and not data.feature_names and data.annotations is not None


def test_measurements_of_the_items_are_no_person_beside_files_a_person(tmp_path: Path) -> None:
    measured = [f"img_{k}.png;{60 + k % 9},5;0,{30 + k % 20};{100 + k % 7}" for k in range(60)]
    files = {"Bilder.csv": "\n".join(["Bild;Glanz;Ra;Helligkeit", *measured]) + "\n"}
    for at, who in enumerate(("Adler", "Kaya", "Mertens")):
        said = [f"img_{k}.png;{('Delle', 'Fleck', 'gut')[(k + (k % 5 == at)) % 3]}" for k in range(60) if k % 7 != at]
        files[f"urteile/{who}.csv"] = "\n".join(["Bild;Urteil", *said]) + "\n"
    data = read_first(archive(tmp_path / "t.zip", files))
    assert data.annotations is not None and data.annotations.annotator_names == ("Adler", "Kaya", "Mertens")
    assert data.class_names == ("Delle", "Fleck", "gut") and data.feature_names == ("Glanz", "Ra", "Helligkeit")


def test_a_comment_that_all_had_before_them_is_what_is_read(tmp_path: Path) -> None:
    """Moderators label comments: of the same id each sheet holds the same one, while a remark is somebody's own."""
    rolls = random.Random(3)
    comments = [f"what reader {k} wrote below the {rolls.choice(['news', 'film', 'match'])}" for k in range(40)]
    rows = {who: [[f"c{k}", text, rolls.choice("xyz"), rolls.choice("ab")] for k, text in enumerate(comments)]
            for who in ("amy", "ben", "cleo")}  # fmt: skip
    files = {
        f"{who}.csv": "\n".join(["comment_id,comment,label,note", *map(",".join, some)]) for who, some in rows.items()
    }
    data = formats.read(archive(tmp_path / "three.zip", files), accept=("chance",))
    assert data.texts is not None and data.texts[0] == comments[0]
    assert data.feature_names == () and not data.categories


def test_a_sheet_that_lists_what_cells_may_hold_adds_nothing(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    sheet, listed = book.active, book.create_sheet("Lists")
    assert sheet is not None
    rolls = random.Random(4)
    for row in (["reason", "outcome"], *([rolls.choice(["late", "lost"]), rolls.choice("ab")] for _ in range(30))):
        sheet.append(row)
    for row in (["reason", "outcome"], ["late", "a"], ["lost", "b"]):
        listed.append(row)
    book.save(tmp_path / "calls.xlsx")
    assert [column.name for column in formats.columns(tmp_path / "calls.xlsx")] == ["reason", "outcome"]


def test_a_sheet_that_counts_the_answers_adds_nothing(tmp_path: Path) -> None:
    rolls, book, people = random.Random(4), openpyxl.Workbook(), ("Ana", "Rui", "Eva")
    sheet, counted = book.active, book.create_sheet("Resumo")
    assert sheet is not None
    kinds = ["Leve", "Grave", "Moderada"]
    rows = [[f"F{k:02}", k % 7, who, kinds[(k + (rolls.random() < 0.2)) % 3]] for k in range(30) for who in people]
    for row in (["caso", "dose", "avaliador", "gravidade"], *rows):
        sheet.append(row)
    for row in (["avaliador", "Leve", "Moderada", "Grave"], *([who, 9, 9, 12] for who in people)):
        counted.append(row)
    book.save(tmp_path / "casos.xlsx")
    data = read_first(tmp_path / "casos.xlsx")
    assert data.class_names == ("Grave", "Leve", "Moderada") and data.annotations is not None
    assert (
        data.annotations.n_annotators == 3 and data.feature_names == ("dose",) and not findings_in(data, ReadOptions())
    )


def test_the_reference_beside_sheets_of_people_is_the_truth(tmp_path: Path) -> None:
    rolls, book = random.Random(5), openpyxl.Workbook()
    true = [rolls.choice("xyz") for _ in range(30)]
    for lab in ("Lab 1", "Lab 2", "Lab 3"):
        sheet = book.create_sheet(lab)
        sheet.append(["Slide", "Site", "Diagnosis", "Comment"])
        for k, label in enumerate(true):
            said = label if rolls.random() < 0.7 else rolls.choice("xyz")
            sheet.append([f"RT-{k:02}", "lip" if k % 2 else "digit", said, "ask" if k == 3 else None])
    sheet = book.create_sheet("Reference")
    for row in (["Slide", "Reference diagnosis"], *([f"RT-{k:02}", label] for k, label in enumerate(true))):
        sheet.append(row)
    del book["Sheet"]
    book.save(tmp_path / "ring.xlsx")
    data = read_first(tmp_path / "ring.xlsx")
    assert data.annotations is not None and data.annotations.n_annotators == 3
    assert data.y is not None and (data.y >= 0).all() and [*data.categories] == ["Site"]


def test_an_average_below_each_of_several_sheets_is_no_example(tmp_path: Path) -> None:
    rolls, book = random.Random(6), openpyxl.Workbook()
    for year in ("Year 3", "Year 4"):
        sheet = book.create_sheet(year)
        sheet.append(["Pupil ID", "Words per min", "Accuracy", "Ms A", "Mr B", "Ms C"])
        for k in range(20):
            bands = [rolls.choice(["Gold", "White"]) for _ in "abc"]
            sheet.append([f"{year[-1]}B-{k:02}", rolls.randint(50, 60), 88 + k % 5, *bands])
        sheet.append(["Class average", 55, 90])
    del book["Sheet"]
    book.save(tmp_path / "bands.xlsx")
    assert len(read_first(tmp_path / "bands.xlsx")) == 40


def test_that_a_sheet_is_a_person_does_not_say_which_column_is_the_example(tmp_path: Path) -> None:
    """The number of words is the same on all sheets, too, and seldom that of two essays."""
    rolls, book = random.Random(7), openpyxl.Workbook()
    essays = [(f"D{k:02}", rolls.choice(["drama", "poem"]), 800 + 7 * (k % 19), rolls.randint(1, 6)) for k in range(24)]
    for who in ("Kern", "Maurer", "Yildiz"):
        sheet = book.create_sheet(who)
        sheet.append(["Nr.", "Aufgabe", "Wortzahl", "Note", "Bemerkung"])
        for name, task, words, grade in essays:
            sheet.append([name, task, words, grade if rolls.random() < 0.7 else rolls.randint(1, 6), None])
    del book["Sheet"]
    book.save(tmp_path / "abitur.xlsx")
    data = read_first(tmp_path / "abitur.xlsx")
    assert len(data) == 24 and data.annotations is not None and data.annotations.n_annotators == 3
    assert {*data.class_names} <= {*"123456"} and [*data.categories] == ["Aufgabe"]


def test_people_who_mostly_agree_beside_a_fact_of_the_examples_are_no_versions(tmp_path: Path) -> None:
    rolls = random.Random(8)
    rows = [[f"RT-{k:02}", "lip" if k % 2 else "digit", rolls.choice(["lipoma", "cyst", "wart"])] for k in range(40)]
    other = [[*row[:2], "cyst"] if k % 13 == 0 else row for k, row in enumerate(rows)]
    texts = ["\n".join(map(",".join, [["slide", "where", "label"], *some])) + "\n" for some in (rows, other)]
    data = formats.read(archive(tmp_path / "t.zip", dict(zip(["kim.csv", "lou.csv"], texts, strict=True))))
    assert data.annotations is not None and data.annotations.annotator_names == ("kim", "lou")


def test_the_same_export_twice_is_read_once(tmp_path: Path) -> None:
    """Notion writes a table as it is shown, and all of it under a longer name."""
    rolls = random.Random(9)
    rows = [[f"t{k}", rolls.choice(["boat", "flower"]), "Delft" if k % 3 else "Delft; Makkum"] for k in range(30)]
    text = "\n".join(map(",".join, [["name", "motif", "candidates"], *rows])) + "\n"
    data = formats.read(archive(tmp_path / "t.zip", {"tiles 5a0f.csv": text, "tiles 5a0f_all.csv": text}))
    assert len(data) == 30 and {*data.class_names} == {"Delft", "Makkum"} and data.annotations is None


def test_people_who_were_given_some_of_the_examples_each_are_told_by_their_folders(tmp_path: Path) -> None:
    rolls = random.Random(1)
    given: dict[str, list[str]] = {f"out/{chr(97 + k) * 3}/annotated.jsonl": [] for k in range(8)}
    for k in range(60):
        for who in rolls.sample([*given], 3):
            label = ("polite", "rude")[k % 2 if rolls.random() < 0.8 else 0]
            given[who].append(json.dumps({"id": f"g{k}", "said": f"what was written in comment {k}", "label": label}))
    data = formats.read(archive(tmp_path / "x.zip", {name: "\n".join(some) for name, some in given.items()}))
    assert len(data) == 60 and data.annotations is not None and data.annotations.n_annotators == 8


def test_samples_of_several_models_know_the_right_answer_where_it_is_one_of_theirs(tmp_path: Path) -> None:
    def sample(k: int, said: str, target: str) -> str:
        return json.dumps(
            {"doc_id": k, "doc": {"q": f"what is asked in task {k}"}, "target": target, "filtered_resps": [said]}
        )

    for solution, is_truth in ((False, True), (True, False)):
        files = {
            f"model-{'abc'[m - 1]}/samples_2024-0{m}.jsonl": "\n".join(
                sample(k, "yn"[(k + (k % 5 == m)) % 2], f"since {k}: " * solution + "yn"[k % 2]) for k in range(40)
            )
            for m in (1, 2, 3)
        }
        data = formats.read(archive(tmp_path / f"{solution}.zip", files))
        assert (data.y is not None) is is_truth and data.class_names == ("n", "y")
        assert data.annotations is not None and data.annotations.annotator_names[0] == "model-a"


def test_a_sheet_called_as_a_review_is_asked_about_whatever_its_remarks(tmp_path: Path) -> None:
    rolls, files = random.Random(2), dict[str, str]()
    truth = [rolls.choice(["blast", "monocyte", "neutrophil"]) for _ in range(40)]
    for who in ("HK", "LM", "PT", "Senior review"):
        said = [true if rolls.random() < 0.85 else "blast" for true in truth]
        rows = [f"W{k},{one},{rolls.choice(['smudged', '', 'edge'])}" for k, one in enumerate(said)]
        files[who] = "\n".join(["Cell,Class,Comment", *rows]) + "\n"
    asked = question(formats.columns(workbook(tmp_path / "t.xlsx", files)))
    assert asked is not None and asked.answers[0][1]["Senior review"] == "true_label"


def test_coders_in_the_folders_of_a_split_are_coders(tmp_path: Path) -> None:
    rolls, texts = random.Random(2), [f"what is written in row {k}" for k in range(30)]
    files = {
        name: "\n".join(
            [
                "id,text,label",
                *(f"e{k},{text},{'xy'[k % 2 if rolls.random() < 0.8 else 0]}" for k, text in enumerate(texts)),
            ]
        )
        for name in ("train/coder1.csv", "test/coder2.csv")
    }
    data = formats.read(archive(tmp_path / "x.zip", files), check=False)
    assert data.annotations is not None and {*data.annotations.annotator_names} == {"coder1", "coder2"}


def test_a_table_called_gt_is_what_is_right_of_the_lines_of_answers(tmp_path: Path) -> None:
    rolls = random.Random(3)
    truth = {f"t{k}": rolls.choice(["yes", "no", "partly"]) for k in range(30)}
    said = [(task, f"w{k}", label if rolls.random() < 0.8 else "no") for task, label in truth.items() for k in range(3)]
    answers = "task,worker,label\n" + "".join(f"{task},{who},{label}\n" for task, who, label in said)
    right = "task,label\n" + "".join(f"{task},{label}\n" for task, label in truth.items())
    data = read_first(archive(tmp_path / "t.zip", {"crowd_labels.csv": answers, "gt.csv": right}))
    assert data.y is not None
    assert [data.class_names[k] for k in data.y] == list(truth.values())
    assert data.annotations is not None and len(data.annotations.annotator_names) == 3


def test_what_is_right_stands_on_a_longer_sheet_with_a_line_for_each_column(tmp_path: Path) -> None:
    rolls = random.Random(5)
    truth = {f"item_{k:02}": rolls.choice(["refund", "complaint", "order"]) for k in range(40)}
    said = [[f"model {m}", *(right if rolls.random() < 0.8 else "order" for right in truth.values())] for m in range(5)]
    book = openpyxl.Workbook()
    answers, items = book.active, book.create_sheet("items")
    assert answers is not None
    for row in (["model", *truth], *said):
        answers.append(row)
    for row in (["item", "gold"], *map(list, truth.items())):
        items.append(row)
    book.save(tmp_path / "t.xlsx")
    data = read_first(tmp_path / "t.xlsx")
    assert data.y is not None and [data.class_names[k] for k in data.y] == list(truth.values())
    assert data.annotations is not None and data.annotations.annotator_names == tuple(row[0] for row in said)


def test_only_as_many_rows_as_columns_may_say_what_is_right(monkeypatch: pytest.MonkeyPatch) -> None:
    said = Records.of(pa.table({f"q{k}": [*"aaab"] * 5 if k < 4 else [*"abbb"] * 5 for k in range(5)}))
    right = Records.of(pa.table({"question": [f"q{k}" for k in range(5)], "right": [*"aaaab"]}))
    more = Records.of(pa.table({"question": ["q1", "q2"], "what": ["u", "v"]}))
    left, _ = parts.joined({"right": right, "said": said, "more": more}, ["question"])
    assert "right" in left and "said" in left  # which is not the table that others are added to
    assert [*parts.joined({"said": said, "right": right})[0]] == ["said"]
    tried = list[tuple[int, int]]()
    monkeypatch.setattr(parts, "_right_of_columns", lambda one, about: tried.append((one.rows, about.rows)))
    parts.joined({"right": right, "said": said, "more": more})
    assert tried == [(20, 5)]


@pytest.mark.parametrize("name", ["golden_labels", "gt", "truth", "expert"])
@pytest.mark.parametrize("who", ["worker", "performer"])
def test_a_file_called_as_the_truth_says_what_is_true(tmp_path: Path, name: str, who: str) -> None:
    votes = "".join(f"w{k % 3}\tt{k // 3}\t{'xy'[(k // 3 + (k % 5 == 0)) % 2]}\n" for k in range(60))
    truth = "".join(f"t{k}\t{'xy'[k % 2]}\n" for k in range(20))
    files = {"answers.tsv": f"{who}\ttask\tlabel\n{votes}", f"{name}.tsv": f"task\tlabel\n{truth}"}
    roles = {who: "worker", "task": "task", "label": "vote"}
    data = formats.read(folder(tmp_path / "both", files), options=ReadOptions(columns=roles))
    assert data.y is not None and data.annotations is not None
    assert [data.class_names[k] for k in data.y] == ["xy"[k % 2] for k in range(20)]

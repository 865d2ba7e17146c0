"""Tables of tools and datasets, told by their signatures, and the three forms of a row: small files of each kind."""

from __future__ import annotations

import json
import random
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pll import formats
from pll.catalog.sources import source_of, with_own_votes
from pll.cli.main import main
from pll.dataset import PartialLabelDataset
from pll.errors import UserError, WordsInFeatures
from pll.formats.forms import FORMS, form_told_by
from pll.formats.odd import OddReading, findings_in, same_as
from pll.formats.reading import question

from .strategies import named_sets, named_truth

TEXTS = [f"the parcel number {k} came {'late and open' if k % 3 else 'in time'}" for k in range(12)]
PEOPLE = ("ann", "bob", "cem")


def label(k: int, at: int) -> str:
    return ("late", "lost", "fine")[(k + (at == 2 and k % 4 == 0)) % 3]


def lines(folder: Path, records: list[dict[str, Any]], name: str = "data.jsonl") -> Path:
    path = folder / name
    path.write_text("".join(json.dumps(one) + "\n" for one in records), encoding="utf-8")
    return path


def table(folder: Path, header: str, rows: list[str], name: str = "data.csv") -> Path:
    path = folder / name
    path.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    return path


def first_roles(path: Path) -> dict[str, str]:
    """What the columns are, with the first answer to every question."""
    roles: dict[str, str] = {}
    while (asked := question(columns := formats.columns(path, options=formats.ReadOptions(columns=roles)))) is not None:
        roles |= asked.answers[0][1]
    return {column.name: column.role for column in columns}


def read_first(path: Path) -> PartialLabelDataset:
    """The data, with the first answer to every question; people answer at random in some of these tables."""
    return formats.read(path, columns=first_roles(path), accept=("chance",))


def has_three_voters(data: PartialLabelDataset, *, answers: int = 36) -> bool:
    votes = data.annotations
    return votes is not None and len(data) == 12 and votes.n_annotators == 3 and votes.n_answers == answers


def test_every_signature_is_told_by_its_own_columns() -> None:
    for form in FORMS:
        names = [pattern.partition("|")[0].replace("*", "x") for pattern in form.told_by]
        assert form.id or form_told_by(names) is not None
    assert len({form.name for form in FORMS}) == len(FORMS)
    assert form_told_by(["id", "text", "label"]) is None


def test_a_batch_of_mturk_without_rejected_work(tmp_path: Path) -> None:
    rows = [
        f"h{k},{who},{'Rejected' if who == 'cem' and k < 4 else 'Approved'},10.{k},{TEXTS[k]},{label(k, at)}"
        for k in range(12)
        for at, who in enumerate(PEOPLE)
    ]
    rows += [f"h{k},dan,Rejected,10.{k},{TEXTS[k]},late" for k in range(12)]  # of whom nothing is left
    header = "HITId,WorkerId,AssignmentStatus,WorkTimeInSeconds,Input.text,Answer.kind"
    data = formats.read(table(tmp_path, header, rows))
    assert has_three_voters(data, answers=32) and data.class_names == ("fine", "late", "lost")
    assert not data.feature_names and not data.categories and data.texts is not None


def test_all_that_workers_were_shown_is_read(tmp_path: Path) -> None:
    queries = [
        f"{what} for a {where}" for what in ("lights", "desk", "lamp", "mat") for where in ("car", "child", "hut")
    ]
    rows = [
        f"h{k},{who},Approved,{queries[k]},{TEXTS[k]},{label(k, at)}"
        for k in range(12)
        for at, who in enumerate(PEOPLE)
    ]
    header = "HITId,WorkerId,AssignmentStatus,Input.query,Input.title,Answer.kind"
    data = formats.read(table(tmp_path, header, rows))
    assert data.texts is not None and all(queries[k] in data.texts[k] and TEXTS[k] in data.texts[k] for k in range(12))


@pytest.mark.parametrize("names", ["File,Start (s)", "Begin File,Begin Time (s)"])
def test_what_birdnet_hears_in_a_part_of_a_recording_are_candidates(tmp_path: Path, names: str) -> None:
    rows = ["a.wav,0,Tit,.8", "a.wav,0,Wren,.2", "a.wav,3,Wren,.9", "b.wav,0,Tit,.5"]
    data = formats.read(table(tmp_path, f"{names},Common name,Confidence", rows))
    assert len(data) == 3 and data.candidates is not None and data.candidates.sizes.tolist() == [2, 1, 1]
    assert data.prior is not None and np.allclose(data.prior, [0.8, 0.2, 1, 1])


def given_back(path: Path, data: PartialLabelDataset) -> list[dict[str, Any]]:
    """The objects of a file that has got the first class as the label of every example."""
    ids, out = data.row_ids.tolist(), path.with_name("out.jsonl")
    labels = {"identified_label": [data.class_names[0]] * len(ids), "confidence": ["0.5"] * len(ids)}
    formats.give_back(path, out, formats.Results(ids, labels, "m"))
    return [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("answer", ["choice", "radio"])
def test_all_answers_of_a_task_of_mturk_in_one_cell(tmp_path: Path, answer: str) -> None:
    def cell(k: int, at: int) -> str:
        marks = {kind: kind == label(k, at) for kind in ("late", "lost", "fine")}
        given = {"label": label(k, at)} if answer == "choice" else marks
        text = json.dumps([{"kind": given, "urgent": {"label": "yes" if (k + at) % 2 else "no"}}])
        return '"' + text.replace('"', '""') + '"'

    rows = [f"h{k},{who},Approved,{TEXTS[k]},{cell(k, at)}" for k in range(12) for at, who in enumerate(PEOPLE)]
    header = "HITId,WorkerId,AssignmentStatus,Input.text,Answer.taskAnswers"
    path = table(tmp_path, header, rows)
    asked = question(formats.columns(path))
    assert asked is not None and {"Answer.kind", "Answer.urgent"} <= asked.answers[0][1].keys()
    data = formats.read(path, columns={"Answer.kind": "vote"})
    assert has_three_voters(data) and set(data.class_names) == {"late", "lost", "fine"}
    assert not data.feature_names and not data.categories


def test_labels_of_labelbox_by_question(tmp_path: Path) -> None:
    def one(k: int, at: int, who: str) -> dict[str, Any]:
        kind = {"name": "Kind", "radio_answer": {"name": label(k, at), "value": "x"}}
        parts = {"name": "Parts", "checklist_answers": [{"name": "lid"}, {"name": "base"}][: k % 2 + 1]}
        return {"label_details": {"created_by": who}, "annotations": {"classifications": [kind, parts]}}

    records = [
        {
            "data_row": {"id": f"e{k}", "row_data": TEXTS[k], "external_id": f"x{k}"},
            "projects": {"p": {"labels": [one(k, at, who) for at, who in enumerate(PEOPLE)]}},
        }
        for k in range(12)
    ]
    path = lines(tmp_path, records)
    asked = question(formats.columns(path))
    assert asked is not None and asked.answers[0][1] == {"Kind": "answers", "Parts": "keep"}
    data = read_first(path)
    assert has_three_voters(data) and data.texts is not None and data.texts.tolist() == TEXTS
    assert named_sets(data)[0] == {"late", "lost"} and data.row_ids.tolist()[:2] == ["e0", "e1"]
    parts = formats.read(path, columns={"Parts": "answers"})
    assert named_sets(parts)[:2] == [{"lid"}, {"lid", "base"}]
    assert [one["data_row"] for one in given_back(path, parts)] == [one["data_row"] for one in records]


def test_pictures_of_darwin_are_called_as_their_items(tmp_path: Path) -> None:
    records = [
        {
            "version": "2.0",
            "schema_ref": "json_schema/2_0",
            "item": {"name": f"box{k}.jpg", "path": "/yard", "slots": [{"slot_name": "0"}]},
            "annotations": [
                {"name": label(k, at), "annotators": [{"email": f"{who}@post.org"}]} for at, who in enumerate(PEOPLE)
            ],
        }
        for k in range(12)
    ]
    path = tmp_path / "all.json"
    path.write_text(json.dumps(records))
    data = formats.read(path)
    assert has_three_voters(data) and data.pictures is not None
    assert data.pictures.names.tolist()[:2] == ["box0.jpg", "box1.jpg"]


def test_tasks_of_surge_hold_what_each_worker_says_to_a_question(tmp_path: Path) -> None:
    """They have fields and responses, as records of Argilla have."""
    records = [
        {
            "id": f"t{k}",
            "status": "completed",
            "fields": {"message": TEXTS[k]},
            "is_complete": True,
            "gold_standards": [],
        }
        | {
            "responses": [
                {"id": f"r{k}{at}", "data": {"What is its tone?": label(k, at)}, "worker_id": who}
                for at, who in enumerate(PEOPLE)
            ]
        }
        for k in range(12)
    ]
    path = tmp_path / "tasks.json"
    path.write_text(json.dumps(records))
    data = formats.read(path)
    assert has_three_voters(data) and data.texts is not None and data.texts.tolist() == TEXTS


@pytest.mark.parametrize("kind", ["appen", "any"])
def test_judgments_within_an_object_of_results_are_those_of_workers(tmp_path: Path, kind: str) -> None:
    """What a report of Appen has aggregated is nobody's; a judgment that was tainted does not count."""
    records = list[dict[str, Any]]()
    for k in range(12):
        said = [{"worker_id": who, "trust": 0.9, "data": {"tone": label(k, at)}} for at, who in enumerate(PEOPLE)]
        records.append({"id": k, "data": {"message": TEXTS[k]}, "results": {"judgments": said}})
        if kind == "appen":
            bot = {"worker_id": "bot", "trust": 0.1, "tainted": True, "data": {"tone": label(k, 0)}}
            aggregated = {"agg": label(k, 0), "confidence": 0.7}
            records[-1] |= {"judgments_count": 4, "results": {"judgments": [*said, bot], "tone": aggregated}}
    path = tmp_path / "job.json"
    path.write_text("\n".join(map(json.dumps, records)) if kind == "appen" else json.dumps(records))
    data = formats.read(path)
    assert has_three_voters(data) and data.texts is not None and data.texts.tolist() == TEXTS


@pytest.mark.parametrize("is_second", [True, False])
def test_responses_without_people_are_an_answer_each(tmp_path: Path, is_second: bool) -> None:
    records = []
    for k in range(12):
        given = [{"value": label(k, at), "status": "submitted"} for at in range(3)]
        listed = [{"values": {"tone": {"value": one["value"]}}, "status": one["status"]} for one in given]
        records.append({"fields": {"text": TEXTS[k]}, "responses": {"tone": given} if is_second else listed})
    path = tmp_path / "records.json"
    path.write_text(json.dumps(records))
    data = formats.read(path)
    assert data.annotations is not None and data.annotations.anonymous and data.annotations.n_answers == 36
    assert data.texts is not None and data.texts.tolist() == TEXTS


def test_a_manifest_of_several_labels_a_line_names_those_that_are_there(tmp_path: Path) -> None:
    records = [
        {"source": TEXTS[k], "parts": [k % 3, 3], "parts-metadata": {"class-map": {str(k % 3): "abc"[k % 3], "3": "d"}}}
        for k in range(12)
    ]
    for record in records:
        record["parts-metadata"] |= {"confidence-map": {"3": 0.7}, "type": "groundtruth/text-classification-multilabel"}
    data = formats.read(lines(tmp_path, records))
    assert named_sets(data)[:3] == [{"a", "d"}, {"b", "d"}, {"c", "d"}] and data.n_classes == 4
    records[0] |= {"parts": [], "parts-metadata": records[0]["parts-metadata"] | {"class-map": {}}}  # none was chosen
    data = formats.read(lines(tmp_path, records))
    assert named_sets(data)[:3] == [{"a", "b", "c", "d"}, {"b", "d"}, {"c", "d"}]


def test_a_line_of_tagtog_is_what_a_member_says_of_a_document(tmp_path: Path) -> None:
    records = [
        {"docid": f"d{k}", "member": who, "anncomplete": True, "annotatable": {"parts": ["s1"]}, "text": TEXTS[k]}
        | {"metas": {"m_3": {"value": label(k, at), "confidence": {"prob": 1}}}, "entities": []}
        for k in range(12)
        for at, who in enumerate(PEOPLE)
    ]
    data = formats.read(lines(tmp_path, records))
    assert has_three_voters(data) and data.row_ids.tolist()[:2] == ["d0", "d1"]
    assert data.texts is not None and data.texts.tolist() == TEXTS


@pytest.mark.parametrize("way", ["list", "text", "objects", "by name"])
def test_all_answers_in_one_field(tmp_path: Path, way: str) -> None:
    records = []
    for k in range(12):
        given = [label(k, at) for at in range(3)]
        one: dict[str, Any] = {"id": f"e{k}", "text": TEXTS[k]}
        if way == "list":
            one |= {"annotations": given, "annotators": list(PEOPLE), "hard_label": given[0]}
        elif way == "text":
            one |= {"annotations": ",".join(given), "annotators": ",".join(PEOPLE), "hard_label": given[0]}
        elif way == "objects":
            one |= {"marks": [{"user": who, "value": what} for who, what in zip(PEOPLE, given, strict=True)]}
        else:
            one |= {"labels": dict(zip(PEOPLE, given, strict=True))}
        records.append(one)
    data = formats.read(lines(tmp_path, records))
    assert has_three_voters(data) and data.y is None and not data.categories and not data.feature_names
    assert named_sets(data)[0] == {"late", "lost"} and named_sets(data)[1] == {"lost"}


def test_answers_without_names_count(tmp_path: Path) -> None:
    records = [{"id": k, "ratings": ["good", "good", "bad"] if k % 2 else ["bad", "bad"]} for k in range(12)]
    data = formats.read(lines(tmp_path, records))
    assert data.annotations is not None and data.annotations.anonymous and data.prior is not None
    assert data.prior[1:3].tolist() == pytest.approx([1 / 3, 2 / 3])  # bad, good of the second example


@pytest.mark.parametrize("more", [[], ["most"], ["n_votes"]])
def test_counts_of_votes_a_class_are_no_features(tmp_path: Path, more: list[str]) -> None:
    counts = [(3, 0, 0), (1, 2, 0), (0, 1, 2), (2, 1, 0), (0, 2, 1), (1, 0, 2)] * 2
    names = ("late", "lost", "fine")
    beside = {"most": [names[row.index(max(row))] for row in counts], "n_votes": ["3"] * 12}
    rows = [
        ",".join([f"e{k}", TEXTS[k], *map(str, row), *(beside[name][k] for name in more)])
        for k, row in enumerate(counts)
    ]
    data = formats.read(table(tmp_path, ",".join(["id", "text", *names, *more]), rows))
    assert not data.feature_names and data.y is None and data.prior is not None
    assert named_sets(data)[:3] == [{"late"}, {"late", "lost"}, {"lost", "fine"}]


def test_a_row_a_person(tmp_path: Path) -> None:
    header = "annotator," + ",".join(f"item_{k}" for k in range(12))
    rows = [f"{who}," + ",".join(label(k, at) for k in range(12)) for at, who in enumerate(PEOPLE)]
    data = read_first(table(tmp_path, header, rows))
    assert has_three_voters(data) and data.row_ids.tolist()[:2] == ["item_0", "item_1"]
    assert named_sets(data)[0] == {"late", "lost"}


@pytest.mark.parametrize("has_ids", [True, False])
@pytest.mark.parametrize("is_numbered", [True, False])
def test_a_survey_with_three_headers_or_two(tmp_path: Path, has_ids: bool, is_numbered: bool) -> None:
    names = ["StartDate", "EndDate", "Finished", "ResponseId", *(f"Q{k}" for k in range(1, 13))]
    inside = ['"{""ImportId"":""x""}"'] * len(names)
    said = ["Start Date", "End Date", "Finished", "Response ID", *TEXTS]
    rows = [",".join(said), *([",".join(inside)] if has_ids else [])]  # a workbook has two
    rows += [f"2024-01-01,2024-01-01,True,R_{who}," + ",".join(label(k, at) for k in range(12)) for at, who in
             enumerate(PEOPLE)]  # fmt: skip
    if is_numbered and has_ids:  # as pandas writes what it took for data
        names, rows = ["", *names], [f"{at},{row}" for at, row in enumerate(rows)]
    data = formats.read(table(tmp_path, ",".join(names), rows))
    assert has_three_voters(data) and data.texts is not None and data.texts.tolist() == TEXTS


SURVEYS = {  # when it was sent, the question, what a picture is called, answers, and how sure somebody is
    "fr": ("Horodateur", "Quel champignon ?", "Planche", ("cèpe", "bolet", "girolle"), "Confiance"),
    "pl": ("Sygnatura czasowa", "Jaki to ptak?", "Zdjęcie", ("wróbel", "sikora bogatka", "kos"), "Staż"),
    "ja": ("タイムスタンプ", "この鳥は?", "写真", ("すずめ", "つばめ", "からす"), "経験"),
    "en": ("Timestamp", "Which gull?", "Photo", ("Herring Gull", "Common Gull", "not a gull"), "Years"),
}


@pytest.mark.parametrize("tongue", SURVEYS)
@pytest.mark.parametrize("people", [6, 40])
@pytest.mark.parametrize("way", ["grid", "codes", "two rows", "columns"])
def test_a_form_is_a_row_a_person_in_any_language_and_of_any_number_of_people(
    tmp_path: Path, tongue: str, people: int, way: str
) -> None:
    sent, asked, thing, words, sure = SURVEYS[tongue]
    items = [f"{thing} {k:02}" for k in range(1, 13)]
    columns = {
        "grid": [f"{asked} [{one}]" for one in items],
        "codes": [f"G[SQ{k:03}]. {asked} [{one}]" for k, one in enumerate(items)],
        "two rows": [asked, *[""] * 11],
        "columns": items,
    }
    header = ",".join([sent, sure, *columns[way]]) + f"\n,,{','.join(items)}" * (way == "two rows")
    rows = [
        f"2024/03/{1 + who % 28:02} 10:{who:02}:00,{who % 4},"
        + ",".join(words[(k + (who % 5 == 0)) % 3] if (who + k) % 7 else f'"{words[0]}, {words[1]}"' for k in range(12))
        for who in range(people)
    ]
    data = read_first(table(tmp_path, header, rows))
    assert data.row_ids.tolist() == items and set(data.class_names) == set(words)
    assert data.annotations is not None and data.annotations.n_annotators == people
    assert sum(map(len, named_sets(data))) > 24
    assert first_roles(tmp_path / "data.csv")[sure] == "keep"  # a fact about the person


def test_a_sentence_that_begins_with_time_is_a_column_like_the_others(tmp_path: Path) -> None:
    jokes = [f"{'Time' if k == 3 else 'A goat'} flies like number {k} of some" for k in range(24)]
    rows = [f"2023-11-20 10:{who:02}:00,N{who}," + ",".join(label(k, who % 3) for k in range(24)) for who in range(9)]
    data = read_first(table(tmp_path, ",".join(["Timestamp", "First name", *jokes]), rows))
    assert data.row_ids.tolist() == jokes and data.annotations is not None and data.annotations.n_annotators == 9


@pytest.mark.parametrize("fact", ["Consent", "Native speaker", "Attention check"])
@pytest.mark.parametrize("is_last", [False, True])
def test_facts_about_a_person_in_the_words_of_the_answers_are_no_examples(
    tmp_path: Path, fact: str, is_last: bool
) -> None:
    items = [f"Is a bird in photo {k}?" for k in range(1, 25)]
    header = ["Timestamp", "First name", *([] if is_last else [fact]), *items, *([fact] if is_last else [])]
    rolls = random.Random(0)
    rows = [
        f"2023-11-20 10:{who:02}:00,N{who},"
        + ",".join("yes" if (k % 2) != (rolls.random() < 0.2) else "no" for k in range(25))
        for who in range(9)
    ]
    assert read_first(table(tmp_path, ",".join(header), rows)).row_ids.tolist() == items


def test_columns_of_voters_in_brackets_beside_texts_are_asked_about(tmp_path: Path) -> None:
    header = "text," + ",".join(f"verdict [{who}]" for who in PEOPLE)
    rows = [",".join([TEXTS[k], *(label(k, at) for at in range(len(PEOPLE)))]) for k in range(12)]
    path = table(tmp_path, header, rows)
    assert question(formats.columns(path)) is not None and has_three_voters(read_first(path))


@pytest.mark.parametrize("name", ["Copie", "Name"])
@pytest.mark.parametrize("asked", ["Niveau", "評価"])
def test_columns_in_brackets_that_agree_in_a_row_are_voters_first(tmp_path: Path, name: str, asked: str) -> None:
    """Essays with a few correctors: a row has a name, as that of a person who answers has."""
    header = ",".join([name, "mots", *(f"{asked} [{who}]" for who in ("Mme Roy", "M. Noël", "M. Petit"))])
    said = [["ABC"[(k + (k % 5 == j)) % 3] for j in range(3)] for k in range(60)]
    path = table(tmp_path, header, [",".join([f"K{k}.x", f"{k / 7:.2f}", *said[k]]) for k in range(60)])
    assert question(formats.columns(path)) is not None
    data = read_first(path)
    assert len(data) == 60 and data.annotations is not None and data.annotations.n_annotators == 3
    rows = [
        ",".join([f"K{k}.x", f"{k / 7:.2f}", *("ABC"[(j + k * (k % 5 == j)) % 3] for j in range(3))]) for k in range(60)
    ]
    assert len(read_first(table(tmp_path, header, rows))) == 3  # what everybody says of each column


def test_one_hot_answers_a_line(tmp_path: Path) -> None:
    kinds = ("late", "lost", "fine")
    rows = [
        "\t".join([who, f"item_{k}", TEXTS[k], *("true" if label(k, at) == kind else "" for kind in kinds)])
        for k in range(12)
        for at, who in enumerate(PEOPLE)
    ]
    header = "\t".join(["user", "instance_id", "displayed_text", *(f"kind:::{kind}" for kind in kinds)])
    data = formats.read(table(tmp_path, header, rows, "data.tsv"))
    assert has_three_voters(data) and set(data.class_names) == set(kinds)


def test_what_all_marks_begin_with_is_no_part_of_a_class(tmp_path: Path) -> None:
    """As KoBoToolbox writes a choice of several, beside all of them in one column."""
    kinds = ("late", "lost_or_gone", "fine")
    rows = [
        ",".join([who, f"i{k}", label_of, *(str(int(kind == label_of)) for kind in kinds)])
        for k in range(12)
        for at, who in enumerate(PEOPLE)
        for label_of in [kinds[(k + (k % 5 == at)) % 3]]
    ]
    data = formats.read(table(tmp_path, f"username,parcel_id,fate,{','.join(f'fate/{kind}' for kind in kinds)}", rows))
    assert has_three_voters(data) and {*data.class_names} == {*kinds}


def test_extracts_of_panoptes_are_an_answer_a_line(tmp_path: Path) -> None:
    kinds = ("fox", "owl")
    rows = [
        ",".join([f"{90 * k + at}", who, f"7{k:02}", "question_extractor", *marks, "3.6.0"])
        for k in range(12)
        for at, who in enumerate(PEOPLE)
        for marks in [["1.0" if kind == kinds[(k + (k % 5 == at)) % 2] else "" for kind in kinds]]
    ]
    header = "classification_id,user_name,subject_id,extractor,data.fox,data.owl,data.aggregation_version"
    data = formats.read(table(tmp_path, header, rows))
    assert has_three_voters(data) and data.class_names == kinds and len(data) == 12


def test_a_model_that_refused_did_not_answer(tmp_path: Path) -> None:
    kinds = [["good", "bad"][k % 2] for k in range(40)]
    rows = [
        f"t{k},{kind},{'REFUSED' if k % 20 == 7 else kind},{kinds[(k + (k % 9 == 0)) % 2]}"
        for k, kind in enumerate(kinds)
    ]
    data = formats.read(table(tmp_path, "text_id,gpt-4o,claude,mistral", rows))
    assert {*data.class_names} == {"good", "bad"} and data.annotations is not None
    assert data.annotations.n_answers == 118


def test_pages_and_facts_in_an_export_of_potato_are_no_examples_and_no_answers(tmp_path: Path) -> None:
    scales = ("tone:::kind", "tone:::rude", "note:::text_box", "age:::text_box", "native:::Yes", "native:::No")
    rows = []
    for at, who in enumerate(PEOPLE):
        rows.append("\t".join([who, "survey.html", "", "", "", "", str(20 + at), "Yes" * (at > 0), "No" * (at == 0)]))
        marks = [["1", ""] if (k + (k % 5 == at)) % 2 else ["", "2"] for k in range(12)]
        rows += ["\t".join([who, f"i{k}", TEXTS[k], *marks[k], "hm" * (k == 3), "", "", ""]) for k in range(12)]
    header = "\t".join(["user", "instance_id", "displayed_text", *scales])
    data = formats.read(table(tmp_path, header, rows, "annotated_instances.tsv"))
    assert has_three_voters(data) and data.class_names == ("kind", "rude") and len(data) == 12


@pytest.mark.parametrize(
    "code", [str, lambda number: number, lambda number: ("late", "lost", "fine")[number - 1], lambda _: "1"]
)
def test_what_is_chosen_in_a_folder_of_potato_is_the_name_that_has_a_code(tmp_path: Path, code: Any) -> None:
    kinds = ("late", "lost", "fine")
    path = tmp_path / "annotation_output.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for at, who in enumerate(PEOPLE):
            chosen = [label(k, at) for k in range(12)]
            records = [
                {
                    "id": f"i{k}",
                    "displayed_text": TEXTS[k],
                    "label_annotations": {
                        "kind": {chosen[k]: code(kinds.index(chosen[k]) + 1)},
                        "note": {"text_box": f"{who} {k}"},
                        "sure": {"slider": str(k % 5)},
                    },
                }
                for k in range(12)
            ]
            archive.writestr(f"out/{who}/annotated_instances.jsonl", "\n".join(map(json.dumps, records)))
    data = formats.read(path)
    assert has_three_voters(data) and set(data.class_names) == {label(k, 0) for k in range(12)}
    assert not data.categories


def test_which_of_several_columns_is_the_answer_is_asked(tmp_path: Path) -> None:
    rows = [
        f"{who},{'m' if at else 'f'},c{k},{TEXTS[k]},{label(k, at)},{'yes' if (k + at) % 3 else 'no'}"
        for k in range(12)
        for at, who in enumerate(PEOPLE)
    ]
    path = table(tmp_path, "rater_id,rater_gender,item_id,response,mood_sentiment,Q2", rows)
    asked = question(formats.columns(path))
    assert asked is not None and asked.answers[0][1]["mood_sentiment"] == "vote"
    assert "response" not in asked.answers[0][1] and "rater_gender" not in asked.answers[0][1]
    data = read_first(path)
    assert has_three_voters(data) and not data.categories and data.texts is not None


def test_compared_models_are_no_voters(tmp_path: Path) -> None:
    rows = [
        f"{k},gpt,llama,{('model_a', 'model_b', 'tie')[(k + at) % 3]},{who},1"
        for k in range(12)
        for at, who in enumerate(PEOPLE)
    ]
    data = formats.read(table(tmp_path, "question_id,model_a,model_b,winner,judge,turn", rows))
    assert has_three_voters(data) and data.class_names == ("model_a", "model_b", "tie")


@pytest.mark.parametrize("mark", ["-1", "ABSTAIN", "n/a", "[invalid]"])
def test_marks_of_no_answer_are_no_class_and_said(tmp_path: Path, mark: str) -> None:
    words = ["0", "1", "2"] if mark == "-1" else ["ham", "spam", "odd"]
    rows = [",".join([words[k % 3], mark if k % 2 else words[k % 3], mark]) + f",{TEXTS[k]}" for k in range(12)]
    path = table(tmp_path, "lf_a,lf_b,lf_c,text", rows)
    data = formats.read(path)
    assert data.class_names == tuple(sorted(words)) and any(mark in note for note in data.notes)
    assert mark in formats.read(path, keep=(mark,), accept=("mark", "in-every-set")).class_names


def test_the_majority_of_the_others_is_no_voter(tmp_path: Path) -> None:
    votes = [[label(k, 0), label(k, 0), label(k + (k % 2), 0), label(k + (k % 3 == 1), 0)] for k in range(48)]
    most = [max(dict.fromkeys(row), key=row.count) for row in votes]
    rows = [",".join([*row, top]) for row, top in zip(votes, most, strict=True)]
    for name in ("majority_vote", "MACE"):
        data = formats.read(table(tmp_path, f"ann,bob,cem,dan,{name}", rows), accept=("copies",))
        assert data.annotations is not None and data.annotations.annotator_names == ("ann", "bob", "cem", "dan")
        assert data.y is None and not data.categories


def test_who_says_what_most_say_and_stands_among_them_is_first_a_voter(tmp_path: Path) -> None:
    rolls = random.Random(0)
    votes = [[("late", "lost")[(k + (rolls.random() < 0.2)) % 2] for _ in range(5)] for k in range(60)]
    rows = [",".join([*row[:2], max(row, key=row.count), *row[2:]]) for row in votes]
    path = table(tmp_path, "gpt-4o,claude-opus,llama-large,mistral-small,qwen,phi", rows)
    asked = question(formats.columns(path))
    assert asked is not None and "llama-large says everywhere" in asked.text
    assert dict(asked.answers[0][1]) == {"llama-large": "annotator"}


@pytest.mark.parametrize("name", ["gold_label", "expert", "Zielklasse"])
@pytest.mark.parametrize("form", ["columns", "lines", "lists"])
def test_what_most_of_the_voters_say_everywhere_is_not_the_truth_and_said(tmp_path: Path, name: str, form: str) -> None:
    rolls, cells = random.Random(0), ("late", "lost", "fine")
    votes = [[rolls.choice(cells) for _ in range(5)] for _ in range(60)]
    most = [max(row, key=row.count) if max(map(row.count, row)) > 2 else "-" for row in votes]
    if form == "columns":
        rows = [",".join([f"e{k}", *row, top]) for k, (row, top) in enumerate(zip(votes, most, strict=True))]
        path = table(tmp_path, f"id,label1,label2,label3,label4,label5,{name}", rows)
    elif form == "lines":
        pairs = enumerate(zip(votes, most, strict=True))
        rows = [f"e{k},p{at},{vote},{top}" for k, (row, top) in pairs for at, vote in enumerate(row)]
        path = table(tmp_path, f"task,worker,label,{name}", rows)
    else:
        records = [{"text": f"text {k}", "annotations": row, name: most[k]} for k, row in enumerate(votes)]
        path = lines(tmp_path, records)
    data = read_first(path)
    assert data.y is None and len(data) == 60 and name not in data.categories
    assert data.class_names == ("fine", "late", "lost")


def test_two_rounds_and_remarks_of_a_voter(tmp_path: Path) -> None:
    rows = [f"{label(k, 0)},{label(k, 2)},{label(k, 1)},{label(k, 1)},ok,{k}.5" for k in range(12)]
    data = formats.read(table(tmp_path, "annotator_ann_r1,annotator_ann_r2,annotator_bob_r1,annotator_bob_r2,"
                              "annotator_ann_r1_comment,annotator_ann_r1_time", rows))  # fmt: skip
    assert data.annotations is not None and data.annotations.n_annotators == 2
    assert not data.feature_names and not data.categories


@pytest.mark.parametrize("kind", ["one-class", "class-names", "mark"])
def test_an_odd_reading_is_refused_until_it_is_accepted(tmp_path: Path, kind: str) -> None:
    cells = {"one-class": ["late"], "class-names": ["https://a.org/1", "https://a.org/2"], "mark": ["-1", "0", "1"]}[
        kind
    ]
    rows = [f"{cells[k % len(cells)]}|{cells[(k // 2) % len(cells)]},{TEXTS[k]}" for k in range(12)]
    path = table(tmp_path, "candidates,text", rows)
    with pytest.raises(OddReading, match=f"--accept {kind}") as caught:
        formats.read(path)
    assert [finding.kind for finding in caught.value.findings] == [kind]
    assert len(formats.read(path, accept=(kind,))) == 12


def test_a_task_of_gorilla_with_its_pauses(tmp_path: Path) -> None:
    """Every row is an event: of the beginning, of a cross to look at, and of an answer."""
    rolls, events = random.Random(1), list[list[str]]()
    for person in range(6):
        events.append([f"{8000 + person}", "", "BEGIN TASK", "", "", "", ""])
        for trial, cry in enumerate(rolls.sample(range(12), 12)):
            about = [f"{8000 + person}", f"{cry + 2}", f"{trial + 1}", "fixation", "", f"cry_{cry:02}.mp3", "sad"]
            events += [about, [*about[:3], "answer", rolls.choice(["sad", "glad"]), *about[5:]]]
    names = ["Participant Private ID", "Spreadsheet Row", "Trial Number", "Zone Name", "Response", "audio", "ANSWER"]
    path = tmp_path / "data_exp.csv"
    path.write_text("\n".join(map(",".join, [names, *events, ["", "", "", "", "", "", ""]])) + "\n")
    data = formats.read(path)
    votes = data.annotations
    assert votes is not None and votes.n_annotators == 6 and votes.n_answers == 72 and len(data) == 12
    assert data.y is not None and data.ids is not None and data.ids[0].startswith("cry_")


def test_trials_of_psychopy_with_their_instructions(tmp_path: Path) -> None:
    rolls, rows = random.Random(2), list[list[str]]()
    for person in range(8):
        rows.append(["", "", "", "", "space", "", f"{person:03}", "gram", "2022.1.4", ""])
        for trial, item in enumerate(rolls.sample(range(20), 20)):
            said = rolls.choice(["odd", "fine"])
            right = ["odd", "fine"][item % 2]
            rows.append([f"{101 + item}", f"What was said of number {item}", right, f"{trial}", "", said])
            rows[-1] += [f"{person:03}", "gram", "2022.1.4", ""]
    names = [
        "item_no",
        "sentence",
        "corrAns",
        "trials.thisN",
        "instr.keys",
        "mouse.clicked_name",
        "participant",
        "expName",
    ]
    path = tmp_path / "all.csv"
    path.write_text("\n".join(map(",".join, [[*names, "psychopyVersion", ""], *rows])))
    data = formats.read(path)
    votes = data.annotations
    assert votes is not None and votes.n_annotators == 8 and votes.n_answers == 160 and len(data) == 20
    assert data.y is not None and data.texts is not None and not data.feature_names


@pytest.mark.parametrize(("who", "label"), [("subject", ""), ("prolific_pid", ""), ("run_id", "chosen")])
def test_crosses_and_instructions_of_jspsych_are_no_answers(tmp_path: Path, who: str, label: str) -> None:
    rolls = random.Random(5)
    rows = [
        ",".join(["trial_type", "trial_index", "time_elapsed", who, "stimulus", "response", "item", label]).rstrip(",")
    ]
    end = "," if label else ""
    for person in range(9):
        rows.append(f"preload,0,90,s{person},,,{end}")
        for at, k in enumerate(rolls.sample(range(20), 20)):
            number = k % 2 if rolls.random() < 0.8 else rolls.randrange(2)
            word = ("cosy", "bare")[number]
            rows.append(f"html-keyboard-response,{2 * at + 1},{at}00,s{person},+,null,{end}")
            said = f"{number},room{k:02},{word}" if label else f"{word},room{k:02}"
            rows.append(f"html-button-response,{2 * at + 2},{at}50,s{person},<p>What of room {k}?</p>,{said}")
    path = tmp_path / "all.csv"
    path.write_text("\n".join(rows))
    data = read_first(path)
    assert data.annotations is not None and data.annotations.n_annotators == 9 and data.annotations.n_answers == 180
    assert len(data) == 20 and data.class_names == ("bare", "cosy") and data.texts is not None


def test_roles_given_by_hand_go_before_a_signature(tmp_path: Path) -> None:
    rows = [f"h{k},{who},{label(k, at)},{label(k, 0)}" for k in range(12) for at, who in enumerate(PEOPLE)]
    path = table(tmp_path, "HITId,WorkerId,Answer.kind,Answer.other", rows)
    data = formats.read(path, columns={"Answer.other": "true_label", "Answer.kind": "vote"})
    assert has_three_voters(data) and named_truth(data)[:2] == ["late", "lost"]
    with pytest.raises(UserError, match="both are vote"):
        formats.read(path, columns={"Answer.other": "vote", "Answer.kind": "vote"})


def test_what_may_be_the_majority_or_a_perfect_rater_is_asked_about(tmp_path: Path) -> None:
    votes = [[label(k + (k % n == 0), 0) for n in (3, 4, 5, 7)] for k in range(96)]
    rows, empty_at_ties = [], []
    for row in votes:
        tops = sorted({name for name in row if row.count(name) == max(map(row.count, row))})
        rows.append(",".join([*row, tops[0]]))
        empty_at_ties.append(",".join([*row, tops[0] if len(tops) == 1 else ""]))
    path = table(tmp_path, "ann,bob,cem,dan,eve", rows)
    asked = question(formats.columns(path))
    assert asked is not None and asked.answers[0][1] == {"eve": "keep"}
    for number, voters in enumerate((4, 5)):
        data = formats.read(path, columns=dict(asked.answers[number][1]))
        assert data.annotations is not None and data.annotations.n_annotators == voters
    data = formats.read(table(tmp_path, "ann,bob,cem,dan,eve", empty_at_ties))
    assert data.annotations is not None and data.annotations.n_annotators == 4


def test_a_scale_of_three_is_asked_about_and_labelling_functions_are_not(tmp_path: Path) -> None:
    rows = [f"{k % 3 - 1},{(k // 2) % 3 - 1},{k % 3 - 1},{TEXTS[k]}" for k in range(12)]
    assert formats.read(table(tmp_path, "lf_a,lf_b,lf_c,text", rows)).class_names == ("0", "1")
    path = table(tmp_path, "annotator_1,annotator_2,annotator_3,text", rows)
    with pytest.raises(OddReading, match="--drop=-1"):
        formats.read(path)
    assert formats.read(path, accept=("mark",)).class_names == ("-1", "0", "1")


def test_grades_beside_marks_of_no_answer_and_their_mean(tmp_path: Path) -> None:
    rows = [
        f"{1 + k % 5},{1 + (k + k % 2) % 5},{'-' if k == 7 else 1 + (k + k % 7 // 6) % 5},{TEXTS[k % 12]}"
        for k in range(24)
    ]
    means = [sum(int(one) for one in row.split(",")[:3] if one != "-") for row in rows]
    rows = [f"{row},{mean / (2 if k == 7 else 3):.2f}" for k, (row, mean) in enumerate(zip(rows, means, strict=True))]
    path = table(tmp_path, "Anna,Boris,Chen,text,overall", rows)
    asked = question(formats.columns(path))
    assert asked is not None
    data = formats.read(path, columns=dict(asked.answers[0][1]))
    assert data.annotations is not None and data.annotations.n_annotators == 3
    assert data.class_names == ("1", "2", "3", "4", "5") and not data.feature_names


def test_empty_lines_between_answers_are_no_answers(tmp_path: Path) -> None:
    rows = [f"t{k},{who},{label(k, at)}" for k in range(12) for at, who in enumerate(PEOPLE)]
    whole = formats.read(table(tmp_path, "task,worker,label", rows))
    data = formats.read(table(tmp_path, "task,worker,label", [*rows[:4], ",,", *rows[4:], ",,"]))
    assert has_three_voters(data) and named_sets(data) == named_sets(whole)
    with pytest.raises(UserError, match="Row 6, column task is empty"):
        formats.read(table(tmp_path, "task,worker,label", [*rows[:4], ",ann,late", *rows[4:]]))


def test_compared_models_are_no_judges_and_other_words_are_odd(tmp_path: Path) -> None:
    judges = [["A", "B", "tie"][k % 3] for k in range(12)]
    other = {"A": "left", "B": "right", "tie": "same"}
    rows = [f"{'gpt' if k % 2 else 'claude'},llama,{said},{said},{other[said]}" for k, said in enumerate(judges)]
    path = table(tmp_path, "model_a,model_b,judge_1,judge_2,judge_3", rows)
    with pytest.raises(OddReading, match="judge_3 answers in words that no other voter uses"):
        formats.read(path)
    data = formats.read(path, accept=("own-words",))
    assert has_three_voters(data) and not data.categories


@pytest.mark.parametrize(
    "total",
    [
        *("n = 12,,,", "Summe;;4;5", "TOTAL\t12\t\t11"),  # a total
        *("일치도 (κ),0.71,0.68,0.7", "Match (%);84,4;82,2;88", ";;;Anna 3.12."),  # agreement, a signature
    ],
)
def test_a_last_row_that_is_no_row_is_left_out_and_said(tmp_path: Path, total: str) -> None:
    mark = next(one for one in ";\t," if one in total)
    rows = [mark.join([f"p{k}", label(k, 0), label(k, 1), label(k, 2)]) for k in range(12)]
    header = mark.join(("photo", "annotator_1", "annotator_2", "annotator_3"))
    path = table(tmp_path, header, [*rows, total])
    data = formats.read(path)
    assert has_three_voters(data) and any("last row was left out" in note for note in data.notes)
    given = tmp_path / "given.csv"
    ids = data.row_ids.tolist()
    formats.give_back(path, given, formats.Results(ids, {"identified_label": ["late"] * len(ids)}, "m"))
    assert len(given.read_text().splitlines()) == 14 and given.read_text().splitlines()[-1].startswith(total)


def test_a_last_row_that_may_be_a_total_is_odd(tmp_path: Path) -> None:
    rows = [f"{name},{label(k, 0)},{label(k, 1)},{label(k, 2)}" for k, name in enumerate("ABCDEFGHIJKL")]
    with pytest.raises(OddReading, match="--accept total-row"):
        formats.read(table(tmp_path, "photo,annotator_1,annotator_2,annotator_3", [*rows, "Total,,see below,"]))


def test_lists_of_shares_are_never_learnt_from(tmp_path: Path) -> None:
    rows = [f'r{k},"[0.25, 0.75]","[0.5, 0.5]",{TEXTS[k]}' for k in range(12)]
    assert not formats.read(table(tmp_path, "uid,probs_a,probs_b,review", rows)).feature_names


def test_answers_with_a_doubt_or_several_classes_are_these(tmp_path: Path) -> None:
    rows = [f"p{k},{label(k, 0)},{label(k, 1)},{label(k, 2)}" for k in range(12)]
    odd = ["o1,late?,poss. late,late or lost", "o2,lost/fine,vielleicht fine,fine (?)"]
    data = formats.read(table(tmp_path, "id,annotator_1,annotator_2,annotator_3", [*rows, *odd]))
    assert data.class_names == ("fine", "late", "lost")
    assert named_sets(data)[12:] == [{"late", "lost"}, {"fine", "lost"}]


HANDS = [  # what it is, how a doubt is written, who settled it
    (
        "species",
        ("fox", "cat", "hare"),
        ("{a}/{b}", "{a} or {b}", "probably {a}", "{a}? {b}?", "{a} (maybe {b})"),
        "expert",
    ),
    ("Art", ("Fuchs", "Katze", "Reh"), ("{a} oder {b}", "evtl. {a}", "{a}, evtl. {b}", "{a} ?"), "Korrektur"),
    ("ämne", ("Hc", "K", "Qc"), ("{a} el. {b}", "{a}, {b}", "ev. {a}", "{a} eller {b}"), "beslut"),
    ("विषय", ("खेल", "धन", "कला"), ("{a} या {b}", "{a}, {b}", "{a} ?"), "निर्णय"),
    ("attribuzione", ("Mano A", "Mano B", "Mano C"), ("{a} o {b}", "{a}/{b}", "prob. {a}", "{a}?"), "verifica"),
]


@pytest.mark.parametrize(("name", "classes", "doubts", "settled"), HANDS)
def test_one_column_of_labels_with_doubts_is_asked_about_as_the_candidates(
    tmp_path: Path, name: str, classes: tuple[str, ...], doubts: tuple[str, ...], settled: str
) -> None:
    pairs = [
        (classes[k % 3], classes[(k + 1) % 3], doubts[k // 4 % len(doubts)] if k % 4 == 0 else "{a}") for k in range(60)
    ]
    rows = [f"r{k};{k % 7}.5;{how.format(a=a, b=b)};{a if k % 9 == 1 else ''}" for k, (a, b, how) in enumerate(pairs)]
    path = table(tmp_path, f"id;x;{name};{settled}", [*rows, "r60;1.5;n/a;"])
    asked = question(formats.columns(path))
    assert asked is not None and asked.answers[0][1] == {name: "candidates", settled: "true_label"}
    data = read_first(path)
    assert data.class_names == tuple(sorted(classes)) and data.feature_names == ("x",) and not data.categories
    assert named_sets(data) == [*({a, b} if "{b}" in how else {a} for a, b, how in pairs), {*classes}]
    assert named_truth(data)[1] == classes[1] and data.annotations is None


def test_columns_of_counts_are_called_by_what_tells_them_apart(tmp_path: Path) -> None:
    counts = [(k % 5, 2 * k % 4, 12 - k % 5 - 2 * k % 4) for k in range(40)]
    best = [("smooth", "disk", "star")[max(range(3), key=one.__getitem__)] for one in counts]
    rows = [f"g{k},{12},{a},{b},{c},{best[k]},{k % 7}" for k, (a, b, c) in enumerate(counts)]
    data = formats.read(table(tmp_path, "id,n_votes,t1_smooth_count,t1_disk_count,t1_star_count,gz,f", rows))
    assert set(data.class_names) == {"disk", "smooth", "star"} and data.prior is not None
    assert data.feature_names == ("f",) and not data.categories


def test_columns_of_marks_are_the_answers_of_a_person(tmp_path: Path) -> None:
    kinds = ("1", "0", "-1", "-2")
    names = [f"Annotator{at}_is_abuse.{kind}" for at in range(3) for kind in kinds]
    rows = []
    for k in range(12):
        marks = ["1" if (k + (at == 2)) % 4 == c else "0" for at in range(3) for c in range(4)]
        if k == 11:
            marks[8:] = [""] * 4  # who did not answer
        rows.append(",".join([f"c{k}", "hm", TEXTS[k], *marks]))
    rows[0] = rows[0].replace(",1,0,0,0,", ',"1, 0","0, 1","0, 0","0, 0",', 1)  # who answered twice
    data = formats.read(table(tmp_path, ",".join(["conv_id", "prev_agent", "user", *names]), rows))
    assert has_three_voters(data, answers=35) and data.class_names == ("-2", "-1", "0", "1")
    assert data.texts is not None and data.texts.tolist() == TEXTS and not data.feature_names
    assert data.annotations is not None and data.annotations.answer_sizes.tolist().count(2) == 1


def test_what_is_said_of_cells_that_are_no_numbers_is_enough(tmp_path: Path) -> None:
    rows = [f"{k}.5,{'x' if k == 9 else k},{'y z' if k == 3 else k},{label(k, 0)}" for k in range(12)]
    path, told = table(tmp_path, "a,b,c,true_label", rows), {"a": "feature", "b": "feature", "c": "feature"}
    with pytest.raises(WordsInFeatures, match=r"row 1") as caught:
        formats.read(path, columns=told)
    assert caught.value.columns == ("b", "c") and "--column b=keep --column c=keep" in str(caught.value)
    data = formats.read(path, columns=told | dict.fromkeys(caught.value.columns, "keep"))
    assert data.feature_names == ("a",) and data.y is not None


@pytest.mark.parametrize(("mark", "is_none"), [("н/о", True), ("1.O", False), ("mg", False)])
def test_a_word_for_none_among_numbers_is_a_missing_one(tmp_path: Path, mark: str, is_none: bool) -> None:
    path = table(tmp_path, "a,true_label", [f"{mark if k % 9 == 3 else k / 2},{label(k, 0)}" for k in range(40)])
    if is_none:
        assert np.isnan(formats.read(path).X).sum() == 5
    else:
        with pytest.raises(WordsInFeatures, match="Row 5"):
            formats.read(path)


def test_people_of_lighttag_have_their_names(tmp_path: Path) -> None:
    """Each stands in an object of its own: `"annotated_by": [{"annotator": "ann"}, …]`."""
    classes = ("late", "lost", "fine")
    said = [
        {name: [who for at, who in enumerate(PEOPLE) if label(k, at) == name] for name in classes} for k in range(12)
    ]
    examples = [
        {
            "example_id": str(k),
            "content": TEXTS[k],
            "classifications": [
                {"classname": name, "annotated_by": [{"annotator": who} for who in some]}
                for name, some in one.items()
                if some
            ],
        }
        for k, one in enumerate(said)
    ]
    path = tmp_path / "export.json"
    path.write_text(json.dumps({"examples": examples}))
    votes = formats.read(path).annotations
    assert votes is not None and votes.annotator_names == PEOPLE and votes.n_answers == 36


def test_rows_of_a_hugging_face_dataset(tmp_path: Path) -> None:
    row = {"annotations": ["cat", "dog", "cat"], "rater_ids": [1, 2, 3]}
    rows = [{"row_idx": k, "row": {"id": f"e{k}", "text": TEXTS[k], **row}} for k in range(12)]
    path = tmp_path / "rows.json"
    path.write_text(json.dumps({"features": [{"name": "id"}, {"name": "text"}], "rows": rows}))
    data = formats.read(path, accept=("in-every-set",))
    assert data.row_ids.tolist()[:2] == ["e0", "e1"] and data.annotations is not None
    assert data.annotations.annotator_names == ("1", "2", "3")


def test_how_sure_somebody_was_is_no_label(tmp_path: Path) -> None:
    rows = [
        f"u{k},{who},{1 + (k * at) % 3},{label(k, at)},{label(k, 0)}"
        for k in range(12)
        for at, who in enumerate(PEOPLE)
    ]
    path = table(tmp_path, "_unit_id,_worker_id,how_sure_are_you,relevant,relevant_gold", rows)
    columns = formats.columns(path)
    roles = {column.name: column.role for column in columns}
    assert question(columns) is None and (roles["relevant"], roles["how_sure_are_you"]) == ("vote", "keep")


def test_a_file_that_is_one_record_is_odd(tmp_path: Path) -> None:
    path = tmp_path / "one.json"
    path.write_text(
        json.dumps({"version": 3, "outcome": {"parts": [{"a": k} for k in range(12)], "n": [{"b": 1}] * 2}})
    )
    with pytest.raises(OddReading, match="one-example"):
        formats.read(path)


def test_a_header_of_two_rows(tmp_path: Path) -> None:
    """What stands above several columns is part of their names; the table that goes back has both rows still."""
    words = ["good", "bad", "so so"]
    rows = [f"{k};text {k};" + ";".join(words[(k + j * (k % 5 == 0)) % 3] for j in range(3)) for k in range(30)]
    lines = ["Nr.;Text;Coder;;", ";;Ann;Bob;Cleo", *rows]
    path, back = tmp_path / "t.csv", tmp_path / "back.csv"
    path.write_text("\n".join(lines))
    data = formats.read(path, columns={f"Coder [{who}]": "annotator" for who in ("Ann", "Bob", "Cleo")})
    assert len(data) == 30 and data.class_names == ("bad", "good", "so so") and data.annotations is not None
    assert data.annotations.n_annotators == 3 and data.annotations.n_answers == 90
    labels = [f"label {name}" for name in data.row_ids]
    formats.give_back(path, back, formats.Results(data.row_ids.tolist(), {"identified_label": labels}))
    ends = [line.split(";")[5] for line in back.read_text().splitlines()]
    assert ends == ["label", "", *labels]


def test_what_is_called_as_remarks_and_occasions_are_is_not_learnt_from(tmp_path: Path) -> None:
    path = table(
        tmp_path, "Ann,Bob,Cleo,Bemerkung,batch,likes,width", [f"a,b,{'ab'[k % 2]},sure,B1,{k},{k}" for k in range(12)]
    )
    data = formats.read(path)
    assert data.feature_names == ("width",) and not data.categories


def test_answers_to_two_questions_in_numbers_are_asked_about(tmp_path: Path) -> None:
    """Nines beside 1 to 3 say that there is no answer: they are offered to be dropped."""
    numbers = lambda k, at: 9 if k == at else 1 + (k + at * (k % 7 == 0)) % 3  # noqa: E731
    rows = [",".join(str(numbers(k, at)) for at in range(6)) + f",{1 + k % 3 if k % 5 == 0 else ''}" for k in range(36)]
    path = table(tmp_path, "frame_AB,frame_CD,frame_EF,tone_AB,tone_CD,tone_EF,frame_final", rows)
    roles = dict[str, str]()
    while (asked := question(formats.columns(path, options=formats.ReadOptions(columns=roles)))) is not None:
        roles |= asked.answers[0][1]
    with pytest.raises(OddReading, match="mark") as odd:
        formats.read(path, columns=roles)
    assert odd.value.findings[0].edits == {"9": None}
    data = formats.read(path, columns=roles, accept=("mark",))
    assert data.annotations is not None and data.annotations.annotator_names == ("frame_AB", "frame_CD", "frame_EF")
    assert data.y is not None and not data.feature_names and not data.categories


def test_people_are_told_by_their_addresses(tmp_path: Path) -> None:
    rows = [
        f"2024-03-{1 + k:02} 10:00,{who}@x.org,R-{k:03},{label(k, at)}"
        for k in range(12)
        for at, who in enumerate(PEOPLE)
    ]
    data = formats.read(table(tmp_path, "Carimbo,Endereço,Código da obra,Tema", rows))
    assert has_three_voters(data) and len(data) == 12


def test_rare_short_forms_of_a_class_are_asked_about_and_merged(tmp_path: Path) -> None:
    """Everybody slips now and then: `B` is nobody's own word."""
    words = ["benign", "malignant"]
    rows = [[f"e{k}", *(words[(k + j * (k % 7 == 0)) % 2] for j in range(3))] for k in range(60)]
    rows[3][1], rows[8][2], rows[12][3], rows[20][1] = "B", "benigne", "maligne", "M"
    path = tmp_path / "t.csv"
    path.write_text("\n".join(["id,Ann,Bob,Cleo", *(",".join(row) for row in rows)]))
    with pytest.raises(OddReading, match="benigne → benign") as odd:
        formats.read(path)
    assert [one.kind for one in odd.value.findings] == ["spellings"]
    assert formats.read(path, accept=("spellings",)).n_classes == 6
    assert "--merge B=benign" in str(odd.value.shell)
    merge = [
        "--merge",
        "B=benign",
        "--merge",
        "benigne=benign",
        "--merge",
        "M=malignant",
        "--merge",
        "maligne=malignant",
    ]
    assert main(["read", str(path), *merge]) == 0


ANIMALS = ("fox", "hare", "wolf")


def animal(k: int, at: int) -> str:
    return ANIMALS[(k + (at == 2 and k % 4 == 0)) % 3]


@pytest.mark.parametrize("stem", ["", "is_"])
def test_lines_with_a_column_a_class_are_one_answer_each(tmp_path: Path, stem: str) -> None:
    rows = [
        f"{who},p{k},t{k},{150000000 + 7 * k}{k % 10},{'true' if k == 5 else 'false'},"
        + ",".join(str(int(animal(k, at) == one or (one == "wolf" and k == at == 0))) for one in ANIMALS)
        for k in range(12)
        for at, who in enumerate(PEOPLE)
    ]
    header = "coder,picture_id,text,seen,blurred," + ",".join(stem + one for one in ANIMALS)
    data = read_first(table(tmp_path, header, rows))
    votes = data.annotations
    assert votes is not None and votes.n_annotators == 3 and len(data) == 12 and data.class_names == ANIMALS
    assert "seen" not in data.feature_names


def test_of_a_tool_that_names_what_it_asks_only_that_is_the_answer(tmp_path: Path) -> None:
    rows = [
        f"shop {k % 3},x{k},{label(k, at)},{'ok' if k % 5 else 'hm'},{k}-{who},{who},APPROVED"
        for k in range(12)
        for at, who in enumerate(PEOPLE)
    ]
    header = "INPUT:kind,INPUT:doc_id,OUTPUT:answer,OUTPUT:comment,ASSIGNMENT:task_id,ASSIGNMENT:worker_id"
    path = table(tmp_path, f"{header},ASSIGNMENT:status".replace(",", "\t"), [row.replace(",", "\t") for row in rows])
    assert question(formats.columns(path)) is None
    assert has_three_voters(formats.read(path))  # a task that no other line names is one of the answer


def test_what_says_what_part_a_row_is_of_and_what_no_function_knows(tmp_path: Path) -> None:
    parts = ("train", "dev", "valid", "test")
    rows = [
        f"{k % 2},{-1 if k % 3 else k % 2},-1,{k % 2 if k % 4 else -1},{parts[k % 4]},{TEXTS[k]}" for k in range(12)
    ]
    data = formats.read(table(tmp_path, "lf_a,lf_b,lf_c,label,split,text", rows))
    assert data.class_names == ("0", "1") and data.is_test is not None and int(data.is_test.sum()) == 3
    assert data.y is not None and int((data.y < 0).sum()) == 3
    with pytest.raises(UserError, match="--column split=keep"):
        formats.read(table(tmp_path, "lf_a,lf_b,split", ["0,1,a", "1,1,b"]))


def test_marks_beside_the_answers_of_lines_are_no_reason_to_fail(tmp_path: Path) -> None:
    records = [
        {"question_id": k, "model_a": "x", "model_b": "y", "winner": w, "judge": who, "turn": 1, "checked": bool(at)}
        for k in range(12)
        for at, (who, w) in enumerate(zip(PEOPLE, ("model_a", "model_b", "tie"), strict=True))
    ]
    assert has_three_voters(formats.read(lines(tmp_path, records)))


def test_a_mistake_of_ours_is_no_traceback(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise KeyError("x")

    path = table(tmp_path, "a,b", ["1,2", "3,4"])
    monkeypatch.setattr(formats.FORMATS["csv"], "read", broken)
    with pytest.raises(UserError, match=r"data\.csv: .*KeyError") as caught:
        formats.read(path)
    assert caught.value.kind == formats.FAILED_TO_READ


@pytest.mark.parametrize("way", ["pairs", "objects", "lists"])
def test_who_said_what_in_a_cell_under_any_name(tmp_path: Path, way: str) -> None:
    people = [{who: label(k, at) for at, who in enumerate(PEOPLE) if k or at} for k in range(12)]
    if way == "pairs":
        cells = [
            ("; ", ", ")[k % 2].join(f"{who}: {said}" for who, said in one.items()) for k, one in enumerate(people)
        ]
        path = table(tmp_path, "notes,who said what", [f'"{TEXTS[k]}","{cell}"' for k, cell in enumerate(cells)])
    elif way == "objects":
        path = lines(tmp_path, [{"text": TEXTS[k], "who said what": one} for k, one in enumerate(people)])
    else:  # beside facts about the people, in another order in every row
        path = lines(
            tmp_path,
            [
                {
                    "text": TEXTS[k],
                    "coder_ids": (order := sorted(PEOPLE, key=lambda who, k=k: (len(who) * k + ord(who[0])) % 5)),
                    "coder_level": [who[0] + "x" for who in order],
                    "tones": [one.get(who) for who in order],
                    "part_of": ["book"] * 3,
                }
                for k, one in enumerate(people)
            ],
        )
    assert question(formats.columns(path)) is None
    data = formats.read(path)
    assert has_three_voters(data, answers=35) and data.class_names == ("fine", "late", "lost") and not data.categories


def test_what_fits_as_answers_of_people_in_two_lists_is_asked_about(tmp_path: Path) -> None:
    rows = [
        {
            "id": str(k),
            "coders": list(PEOPLE),
            "tone": [label(k, a) for a in range(3)],
            "kind": [label(k + a, a) for a in range(3)],
        }
        for k in range(12)
    ]
    asked = question(formats.columns(lines(tmp_path, rows)))
    assert asked is not None and [roles["tone"] for _, roles in asked.answers] == ["answers", "keep"]


@pytest.mark.parametrize(("name", "rest"), [("Endbefund", ""), ("checked by lab", "open"), ("x", "")])
@pytest.mark.parametrize("form", ["columns", "lines", "objects"])
def test_labels_of_a_few_rows_are_asked_about_and_never_learnt_from(
    tmp_path: Path, name: str, rest: str, form: str
) -> None:
    truth = [label(k, 0) if k % 4 == 1 else rest for k in range(24)]
    text = [f"{TEXTS[k % 12]} again {k}" for k in range(24)]
    if form == "columns":
        rows = [",".join([text[k], *(label(k, at) for at in range(3)), truth[k]]) for k in range(24)]
        path = table(tmp_path, f"text,ann,bob,cem,{name}", rows)
    elif form == "lines":
        rows = [f"{k},{text[k]},{who},{label(k, at)},{truth[k]}" for k in range(24) for at, who in enumerate(PEOPLE)]
        path = table(tmp_path, f"item,text,worker,label,{name}", rows)
    else:
        said = [{who: label(k, at) for at, who in enumerate(PEOPLE)} for k in range(24)]
        path = lines(tmp_path, [{"text": text[k], "votes": said[k], name: truth[k]} for k in range(24)])
    asked = question(formats.columns(path))
    assert asked is not None and asked.answers[0][1] == {name: "true_label"}
    for _, roles in asked.answers:
        data = formats.read(path, columns=roles, accept=("no-answer",))  # "open", of one voter more
        assert name not in data.categories and data.annotations is not None
        assert data.annotations.n_annotators == 3 + (roles[name] == "annotator")
    known = read_first(path).y
    assert known is not None and int((known >= 0).sum()) == 6


def test_lines_whose_example_has_a_name_of_its_own_are_read(tmp_path: Path) -> None:
    rows = [f"d{k};{who};{label(k, at)}" for k in range(12) for at, who in enumerate(PEOPLE)]
    assert has_three_voters(formats.read(table(tmp_path, "dossier du lot;évaluateur;étiquette", rows)))


def test_ids_that_end_in_a_person_are_odd_where_every_example_has_all_of_them(tmp_path: Path) -> None:
    rows = [f"img{k}_{who},{label(k, at)}" for k in range(12) for at, who in enumerate(PEOPLE)]
    with pytest.raises(OddReading, match="two-names"):
        formats.read(table(tmp_path, "id,label", rows))
    data = formats.read(table(tmp_path, "id,label", rows[:-1]))  # not all of them: perhaps parts of an example
    assert len(data) == 35


@pytest.mark.parametrize(
    ("header", "cells", "kind", "shown"),
    [
        ("ann,bob,cem", ("good", "bad", "17"), "class-names", "17"),
        ("ann,bob,cem", ("good", "bad", "x"), "class-names", "x"),
        ("ann,bob,good", ("good", "bad", "good"), "class-names", "good"),
        ("ann,,cem", ("good", "bad", "soso"), "unnamed-voters", "unnamed 2"),
        ("ann,bob,cem", ("positive", "negative", "pos,neg"), "spellings", "pos → positive"),
    ],
)
def test_a_reading_of_strange_classes_or_voters_is_odd(
    tmp_path: Path, header: str, cells: tuple[str, str, str], kind: str, shown: str
) -> None:
    words, rolls = [*cells[:2], *cells[2].split(",")], random.Random(0)
    rows = [",".join(rolls.choice(words) for _ in range(3)) for _ in range(24)]
    path = table(tmp_path, header, rows)
    with pytest.raises(OddReading) as caught:
        formats.read(path, columns=dict.fromkeys(filter(None, header.split(",")), "annotator"))
    assert [one for one in caught.value.findings if one.kind == kind and shown in one.cells]


@pytest.mark.parametrize(
    ("classes", "rare", "same"),
    [
        (["气虚", "血瘀"], "气虚证", {"气虚证": "气虚"}),
        (["긍정", "부정"], "부정적", {"부정적": "부정"}),
        (["高血压", "高血糖"], "高血脂", {}),  # another last letter is another word
    ],
)
def test_a_letter_more_at_the_end_of_a_short_word_is_asked_about(
    classes: list[str], rare: str, same: dict[str, str]
) -> None:
    assert same_as(dict.fromkeys(classes, 60) | {rare: 6}) == same
    assert same_as({"日本": 50, "日本人": 50, "中国": 40, "中国人": 40}) == {}


@pytest.mark.parametrize("mark", ["待定", "検討中", "미정", "noch offen", "à déterminer", "уточняется", "pending"])
def test_what_is_still_to_be_decided_is_no_answer(tmp_path: Path, mark: str) -> None:
    rows = [f"e{k},{'ab'[k % 2]},{mark if k in (3, 8) else 'ab'[k % 2]},{'ab'[k % 3 % 2]}" for k in range(60)]
    data = formats.read(table(tmp_path, "id,ann,bob,cem", rows))
    assert data.class_names == ("a", "b") and any(f"{mark} (2)" in note for note in data.notes)


def test_pending_that_is_said_often_is_a_class(tmp_path: Path) -> None:
    words = ["approved", "rejected", "pending"]
    rows = [",".join([f"e{k}", *(words[(k + j * (k % 7 == 0)) % 3] for j in range(3))]) for k in range(60)]
    assert formats.read(table(tmp_path, "id,ann,bob,cem", rows)).class_names == ("approved", "pending", "rejected")


def found_odd(path: Path) -> dict[str, str]:
    """What is odd about the first reading, by kind."""
    with pytest.raises(OddReading) as caught:
        read_first(path)
    return {one.kind: str(one) for one in caught.value.findings}


def test_a_voter_with_other_codes_for_the_same_is_odd(tmp_path: Path) -> None:
    rolls = random.Random(0)
    truth = [rolls.randrange(4) for _ in range(60)]
    votes = [[t if rolls.random() < 0.8 else rolls.randrange(4) for _ in range(3)] for t in truth]
    rows = [f"e{k},{a + 1},{b + 1},{c}" for k, (a, b, c) in enumerate(votes)]  # the third counts from 0
    shown = found_odd(table(tmp_path, "id,rater_1,rater_2,rater_3", rows))["disagreement"]
    assert "rater_3" in shown and "1 where the others say 2" in shown
    right = [f"e{k},{a},{b},{c}" for k, (a, b, c) in enumerate(votes)]
    assert len(read_first(table(tmp_path, "id,rater_1,rater_2,rater_3", right))) == 60


def test_somebody_who_guesses_among_two_classes_is_not_odd(tmp_path: Path) -> None:
    """Who is right half of the time agrees less than by chance as often as not: that says nothing of other codes."""
    rolls, rows = random.Random(2), list[str]()
    for k in range(120):
        truth = rolls.choice(["no", "yes"])
        votes = [truth if rolls.random() < 0.7 else rolls.choice(["no", "yes"]) for _ in range(9)]
        rows.append(",".join([f"q{k}", *votes, truth if k % 20 < 8 else {"no": "yes", "yes": "no"}[truth]]))
    header = ",".join(["id", *(f"annotator_{k}" for k in range(10))])
    assert formats.read(table(tmp_path, header, rows)).annotations is not None
    rows = [",".join([*row.split(",")[:-1], {"no": "yes", "yes": "no"}[row.split(",")[1]]]) for row in rows]
    assert "annotator_9" in "".join(found_odd(table(tmp_path, header, rows))["disagreement"])


def rows_with(name: str, *, together: bool = False, rare: bool = False) -> list[str]:
    """Rows of three voters who mostly agree, in which one of them now and then says something else, or all do."""
    rolls, words, rows = random.Random(3), ("hate", "love", "none of these"), list[str]()
    for k in range(120):
        truth = rolls.choice(words)
        votes = [truth if rolls.random() < 0.8 else rolls.choice(words) for _ in range(3)]
        if k % (30 if rare else 8) == 0:
            votes = [name if together and rolls.random() < 0.8 else one for one in votes]
            votes[rolls.randrange(3)] = name
        rows.append(f"e{k}," + ",".join(votes))
    return rows


@pytest.mark.parametrize(
    ("header", "missed"),
    [
        ("id,Thể loại (Hà),Thể loại (Linh),Thể loại (Tuấn),Chốt", 8),  # called otherwise than all others
        ("id,Konszenzus,Dr. Kiss,Dr. Nagy,Dr. Toth", 8),
        ("id,ann,bob,cem,x", 0),
        ("id,ann,bob,cem,x", 40),  # no more often right than the others
    ],
)
def test_what_was_settled_is_asked_about_under_any_name(tmp_path: Path, header: str, missed: int) -> None:
    rolls, words, rows = random.Random(5), ("good", "bad", "soso", "new"), list[str]()
    for k in range(200):
        truth = rolls.choice(words)
        votes = [truth if rolls.random() < 0.7 else rolls.choice(words) for _ in range(3)]
        most = max(rolls.sample(votes, 3), key=votes.count)
        settled = words[k % 4] if missed and k % (200 // missed) == 0 else most
        cells = [settled, *votes] if "Konszenzus" in header else [*votes, settled]
        rows.append(f"e{k}," + ",".join(cells))
    asked = question(formats.columns(table(tmp_path, header, rows)))
    if missed == 40:
        assert asked is None
    else:
        assert asked is not None and [*asked.answers[0][1].values()] == ["keep"]


@pytest.mark.parametrize(
    "name", ["Τελική υπηρεσία", "Cor auditoria", "Ostateczny wynik", "Lopulliset luokat", "النهائية"]
)
def test_what_is_called_settled_is_the_truth_first_whatever_its_ending(tmp_path: Path, name: str) -> None:
    rolls, words, rows = random.Random(6), ("good", "bad", "soso", "new"), list[str]()
    for k in range(100):
        truth = rolls.choice(words)
        votes = [truth if rolls.random() < 0.7 else rolls.choice(words) for _ in range(3)]
        rows.append(f"e{k}," + ",".join([*votes, truth if k % 4 else ""]))
    columns = formats.columns(table(tmp_path, f"id,ann,bob,cem,{name}", rows))
    asked = question(columns)
    assert asked is None or [one[1][name] for one in asked.answers[:2]] == ["true_label", "annotator"]
    assert (asked is None) == (columns[-1].role == "true_label")


def test_possible_labels_in_order_beside_what_was_settled_are_asked_about(tmp_path: Path) -> None:
    rolls, rows = random.Random(7), list[str]()
    for k in range(100):
        first, *others = rolls.sample(["EPTFUS", "LASBOR", "MYOLUC", "TADBRA"], rolls.choice([1, 2, 3]))
        rows.append(",".join([f"{k / 7:.3f}", first, *[*others, "", ""][:2], first if k % 5 == 0 else ""]))
    path = table(tmp_path, "x,AUTO ID,ALTERNATE 1,ALTERNATE 2,MANUAL ID", rows)
    asked = question(formats.columns(path))
    assert asked is not None and {*asked.answers[0][1].values()} == {"candidate"} and len(asked.answers[0][1]) == 3
    asked = question(formats.columns(path, options=formats.ReadOptions(columns=asked.answers[0][1])))
    assert asked is not None and asked.answers[0][1] == {"MANUAL ID": "true_label"}


@pytest.mark.parametrize("otherwise", [0, 1, 6])
def test_a_consensus_of_people_is_asked_about_and_that_of_a_program_carried_along(
    tmp_path: Path, otherwise: int
) -> None:
    rolls, rows = random.Random(6), list[str]()
    for k in range(100):
        truth = rolls.choice("0123")
        votes = [truth if rolls.random() < 0.7 else rolls.choice("0123") for _ in range(3)]
        most = max(votes, key=votes.count)
        agreed = "0123"[(int(most) + 1) % 4] if k < otherwise else most
        rows.append(f"e{k},,{','.join(votes)},{agreed}")
    path = table(tmp_path, "id,note,Reader 1,Reader 2,Reader 3,Consensus", rows)
    columns = formats.columns(path, options=formats.ReadOptions(columns=dict.fromkeys(READERS, "annotator")))
    asked = question(columns)
    if otherwise < 2:
        assert asked is None and columns[-1].role == "keep"
    else:
        assert asked is not None and asked.answers[0][1] == {"Consensus": "true_label"}


READERS = ("Reader 1", "Reader 2", "Reader 3")


@pytest.mark.parametrize("name", ["chưa nghe", "inhabil", "Δεν ακούγεται", "判らない"])
@pytest.mark.parametrize("header", ["id,ann,bob,cem", "id,annotator_1,annotator_2,annotator_3"])
def test_a_class_that_nobody_agrees_on_is_asked_about(tmp_path: Path, name: str, header: str) -> None:
    path = table(tmp_path, header, rows_with(name))
    with pytest.raises(OddReading) as caught:
        formats.read(path, keep=("none of these",))
    assert [one.edits for one in caught.value.findings] == [{name: None}]
    assert name in formats.read(path, keep=("none of these", name)).class_names


@pytest.mark.parametrize("name", ["nem tudható", "неможливо сказати", "(ei kuulu)"])
def test_a_rare_class_is_asked_about_where_it_is_written_otherwise(tmp_path: Path, name: str) -> None:
    found = found_odd(table(tmp_path, "id,ann,bob,cem", rows_with(name, rare=True)))
    assert name in found["no-answer"]
    assert (
        "fear"
        in formats.read(
            table(tmp_path, "id,ann,bob,cem", rows_with("fear", rare=True)), keep=("none of these",)
        ).class_names
    )


@pytest.mark.parametrize(("share", "name"), [(0.2, "fear"), (0.2, "not clear"), (0.05, "fear")])
def test_a_class_that_is_nearly_always_taken_for_one_other_is_an_answer(
    tmp_path: Path, share: float, name: str
) -> None:
    rolls, words, rows = random.Random(7), ("hate", "love", "joy", "none of these"), list[str]()
    for k in range(300):
        truth = rolls.choice((*words, name))
        votes = [truth if rolls.random() < 0.8 else rolls.choice(words) for _ in range(3)]
        rows.append(f"e{k}," + ",".join("hate" if one == name and rolls.random() > share else one for one in votes))
    path = table(tmp_path, "id,ann,bob,cem", rows)
    assert name in formats.read(path, keep=("none of these",)).class_names


@pytest.mark.parametrize("name", ["not hate", "none", "fear", "no clear stance"])
def test_a_class_that_voters_agree_on_is_an_answer_whatever_it_is_called(tmp_path: Path, name: str) -> None:
    path = table(tmp_path, "id,ann,bob,cem", rows_with(name, together=True))
    assert name in formats.read(path, keep=("none of these", name)).class_names
    assert formats.read(path, keep=("none", "none of these")).n_classes == 4


def test_a_voter_who_is_another_one_again_is_odd(tmp_path: Path) -> None:
    rolls = random.Random(1)
    votes = [[rolls.choice(("late", "lost", "fine")) for _ in range(3)] for _ in range(40)]
    rows = [f"e{k},{a},{b},{c},{b}" for k, (a, b, c) in enumerate(votes)]
    assert "ben" in found_odd(table(tmp_path, "id,ann,ben,cem,dan", rows))["copies"]


@pytest.mark.parametrize(
    "told", ["Please select late here", "Bitte wählen Sie hier late", "Para este elemento, seleccione late"]
)
def test_an_item_that_says_what_to_answer_is_odd(tmp_path: Path, told: str) -> None:
    rows = [f"{text},{label(k, 0)},{label(k + k % 2, 0)},{label(k, 2)}" for k, text in enumerate(TEXTS)]
    path = table(tmp_path, "text,annotator_1,annotator_2,annotator_3", [*rows, f'"{told}",late,late,late'])
    assert told in found_odd(path)["attention-check"]


@pytest.mark.parametrize("names", [("left", "right"), ("model_a", "model_b"), ("links", "rechts")])
def test_two_things_in_both_orders_are_odd_where_an_answer_is_a_side(tmp_path: Path, names: tuple[str, str]) -> None:
    things = [(f"gpt-{k % 3}", f"gpt-{(k + 1) % 3}") for k in range(12)]
    rows = []
    for k, pair in enumerate(things):
        for at, who in enumerate(PEOPLE):
            first, second = pair if (k + at) % 2 else pair[::-1]
            rows.append(f"p{k},{who},{first},{second},{names[(k // 2 + at % 2) % 2]}")
    path = table(tmp_path, f"item,worker,{names[0]},{names[1]},label", rows)
    assert names[0] in found_odd(path)["swapped"]
    one_order = [
        f"p{k},{who},{a},{b},{names[(k + at) % 2]}" for k, (a, b) in enumerate(things) for at, who in enumerate(PEOPLE)
    ]
    assert len(read_first(table(tmp_path, f"item,worker,{names[0]},{names[1]},label", one_order))) == 12


def test_a_file_of_a_person_who_was_given_nothing_is_passed_over(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        for who, shift in (("ann", 0), ("bob", 1)):
            lines = [json.dumps({"id": k, "text": f"text {k}", "label": ["ab"[(k + shift) % 2]]}) for k in range(6)]
            archive.writestr(f"{who}.jsonl", "\n".join(lines))
        archive.writestr("unknown.jsonl", "")
    data = formats.read(tmp_path / "x.zip")
    assert len(data) == 6 and data.annotations is not None and data.annotations.annotator_names == ("ann", "bob")


def test_the_log_of_an_eval_is_one_model_beside_the_truth(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [{"spec": {"eval_name": "x"}}]
    for k in range(12):
        event = {"run_id": "r1", "sample_id": f"s{k}", "created_by": ""}
        rows.append(event | {"event_id": 2 * k, "type": "sampling", "data": {"prompt": TEXTS[k], "sampled": ["A"]}})
        picked = {"correct": k % 3 > 0, "expected": "AB"[k % 2], "picked": "ABC"[k % 3], "options": ["A", "B", "C"]}
        rows.append(event | {"event_id": 2 * k + 1, "type": "match", "data": picked})
    data = formats.read(lines(tmp_path, [*rows, {"final_report": {"accuracy": 0.5}}]))
    assert len(data) == 12 and data.annotations is not None and data.annotations.n_answers == 12
    assert data.y is not None and (data.y >= 0).all() and not data.feature_names and not data.categories


def test_check_boxes_of_redcap_are_the_labels_of_the_question_that_is_chosen(tmp_path: Path) -> None:
    header = "record_id,redcap_event_name,remark,kind___1,kind___2,tone___1,tone___2,review_complete"
    rows = [f"{k},baseline,{TEXTS[k]},{k % 2},1,{1 - k % 2},{k % 2},2" for k in range(12)]
    path = tmp_path / "t.csv"
    path.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    asked = question(formats.columns(path))
    assert asked is not None and len(asked.answers) == 2
    data = formats.read(path, columns=asked.answers[0][1])
    assert data.class_names == ("kind___1", "kind___2") and data.sets().sizes.tolist() == [1, 2] * 6
    assert not data.feature_names and data.texts is not None


REDCAP = "study_id,redcap_event_name,redcap_repeat_instance,age,note,dx,dx_conf,base_complete,reading_complete"


@pytest.mark.parametrize("by", ["event", "instance"])
def test_a_line_an_event_of_redcap_is_an_answer_and_the_first_line_has_what_is_learnt(tmp_path: Path, by: str) -> None:
    rows = []
    for k in range(12):
        rows.append(f"P{k},baseline_arm_1,,{30 + 5 * k % 12},{TEXTS[k]},,,2,")
        for at in range(3):
            event, instance = (f"reader_{at}_arm_1", "") if by == "event" else ("baseline_arm_1", at + 1)
            rows.append(f"P{k},{event},{instance},,,{label(k, at)},{(5 * k + 3 * at) % 4},,2")
    path = table(tmp_path, REDCAP, rows)
    columns = formats.columns(path)
    roles = {column.name: column.role for column in columns}
    assert question(columns) is None and (roles["study_id"], roles["dx"], roles["dx_conf"]) == ("task", "vote", "keep")
    data = formats.read(path)
    assert has_three_voters(data) and set(data.class_names) == {"late", "lost", "fine"}
    assert data.feature_names == ("age",) and data.X[:, 0].tolist() == [30 + 5 * k % 12 for k in range(12)]
    assert data.texts is not None and data.texts.tolist() == list(TEXTS[:12]) and not data.categories


def test_instances_of_redcap_that_agree_on_nothing_are_examples(tmp_path: Path) -> None:
    """As several lesions of a patient are, which two readers have a column each for."""
    rows = []
    for k in range(12):
        rows += [f"{k},{at},{7 * k + at},{label(3 * k + at, 0)},{label(3 * k + at, at % 2)},2" for at in range(1, 4)]
    path = table(tmp_path, "record_id,redcap_repeat_instance,size,reader_1,reader_2,lesion_complete", rows)
    data = read_first(path)
    assert len(data) == 36 and data.annotations is not None and data.annotations.n_annotators == 2
    assert data.feature_names == ("size",)


@pytest.mark.parametrize("called", ["anotadores", "kto", "回答者", "x"])
def test_lists_of_people_are_told_under_any_name(tmp_path: Path, called: str) -> None:
    """Nobody twice in a list, each in several, beside a list in which labels repeat."""
    who = [[f"p{(k + at) % 5}" for at in range(3)] for k in range(12)]
    records = [{"text": TEXTS[k], called: who[k], "said": [label(k, at) for at in range(3)]} for k in range(12)]
    data = formats.read(lines(tmp_path, records))
    assert data.annotations is not None and data.annotations.n_annotators == 5
    assert data.annotations.n_answers == 36 and not {called, "said"} & data.categories.keys()


@pytest.mark.parametrize("mark", ["not sure", "/", "Nicht sicher", "Sin calificación"])
def test_who_is_not_sure_gave_no_answer(tmp_path: Path, mark: str) -> None:
    rows = [f"{TEXTS[k]},{label(k, 0)},{label(k, 1)},{mark if k % 4 == 1 else label(k, 2)}" for k in range(12)]
    data = formats.read(table(tmp_path, "text,ann,bob,cem", rows), columns=dict.fromkeys(PEOPLE, "annotator"))
    assert mark not in data.class_names and data.annotations is not None and data.annotations.n_answers == 33


@pytest.mark.parametrize("called", ["label_{}", "diagnosis {}", "wybór {}"])
def test_columns_that_never_agree_are_asked_about(tmp_path: Path, called: str) -> None:
    """Filled from the left, and nothing twice: the possible labels of one person, and not three who never agree."""
    words = ("late", "lost", "fine", "torn", "wet")
    picked = [[words[(k + step * at) % 5] for at in range(1 + k % 3)] for k in range(36) for step in (1 + k % 4,)]
    header = ",".join(["text", *(called.format(at) for at in (1, 2, 3))])
    path = table(
        tmp_path,
        header,
        [",".join([f"the parcel {k} came", *row, *[""] * (3 - len(row))]) for k, row in enumerate(picked)],
    )
    asked = question(formats.columns(path))
    assert asked is not None and set(asked.answers[0][1].values()) == {"candidate"}
    data = formats.read(path, columns=asked.answers[0][1])
    assert named_sets(data) == [set(row) for row in picked]
    assert formats.read(path, columns=asked.answers[1][1]).annotations is not None


def test_a_log_of_inspect_is_an_answer_an_epoch(tmp_path: Path) -> None:
    samples = [
        {"id": k, "epoch": e, "input": TEXTS[k], "target": label(k, 0), "scores": {"pick": {"answer": label(k, e)}}}
        for k in range(12)
        for e in range(1, 4)
    ]
    path = tmp_path / "log.json"
    path.write_text(json.dumps({"status": "success", "samples": samples}), encoding="utf-8")
    data = formats.read(path)
    assert data.annotations is not None and data.y is not None
    assert (len(data), data.annotations.n_annotators, data.annotations.n_answers) == (12, 3, 36)


def test_a_voter_may_be_a_model_and_a_prompt(tmp_path: Path) -> None:
    records = [
        {"testIdx": k, "promptIdx": p, "provider": {"id": f"m:{m}"}, "response": {"output": label(k, p)}, "vars": {}}
        for k in range(12)
        for p in (0, 1)
        for m in (0, 1)
    ]
    votes = formats.read(lines(tmp_path, records)).annotations
    assert votes is not None and (votes.n_annotators, votes.n_answers) == (4, 48)


def test_whose_answers_do_not_count_is_no_voter_and_what_differs_within_an_example_no_feature(tmp_path: Path) -> None:
    rows = [
        f"{k},{who},{label(k, at)},{'3' if at else '11-50'},{'rejected' if who == 'cem' else 'approved'}"
        for k in range(12)
        for at, who in enumerate(PEOPLE)
    ]
    path = table(tmp_path, "item,worker,label,count,status", rows)
    roles = {"item": "task", "worker": "worker", "label": "vote", "status": "state"}
    data = formats.read(path, options=formats.ReadOptions(columns=roles))
    assert data.annotations is not None and data.annotations.annotator_names == ("ann", "bob")
    assert data.feature_names == ()


def test_readings_of_a_record_are_answers_of_their_readers(tmp_path: Path) -> None:
    rows = [
        f"{3 * k + at},C{k},{who},{int(label(k, at) == 'late')},{int(label(k, at) != 'late')},2"
        for k in range(12)
        for at, who in enumerate(PEOPLE)
    ]
    header = "record_id,case_id,reader,finding___1,finding___2,reading_complete"
    votes = formats.read(table(tmp_path, header, rows)).annotations
    assert votes is not None and (votes.annotator_names, votes.n_answers) == (PEOPLE, 36)


def test_a_grid_with_times_of_any_zone_and_addresses_is_a_row_a_person(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    rows = [
        [f"2023/09/{k + 10} 4:{k + 10}:48 PM EEST", f"p{k}@example.pl", *("ab"[(k + j) % 2] for j in range(6))]
        for k in range(9)
    ]
    header = ["Kiedy", "Nazwa", *(f"Jaki to grzyb? [Zdjęcie {j}]" for j in range(6))]
    path.write_text("\n".join(",".join(row) for row in [header, *rows]))
    data = formats.read(path)
    assert len(data) == 6
    assert data.annotations is not None
    assert data.annotations.annotator_names == tuple(f"p{k}@example.pl" for k in range(9))


LONG = ("delivery is late", "support ticket about an invoice that is wrong", "praise", "the parcel came in pieces")


@pytest.mark.parametrize("between", [" or ", " / ", " oder "])
def test_long_names_of_which_cells_hold_several_are_asked_about(tmp_path: Path, between: str) -> None:
    """Under a name that nobody knows."""
    rows = [f"{k},text {k} is here,{between.join({LONG[k % 4], LONG[k // 4 % 4]})},{'AB'[k % 2]}" for k in range(48)]
    data = read_first(table(tmp_path, "nr,message,zur Wahl,checked by", rows))
    assert set(data.class_names) == {*LONG} and data.annotations is None
    assert named_sets(data)[1] == {LONG[1], LONG[0]}


def test_rows_without_labels_do_not_hide_that_there_are_too_many_classes(tmp_path: Path) -> None:
    """Phrases of a description, of which most stand there once, in one row of four."""
    said = [f"phrase {k}; {'soft' if k % 2 else 'round'}; {'red' if k % 3 else 'dark'}" for k in range(40)]
    rows = [f"{k},{said[k // 4] if k % 4 == 0 else ''},{k / 8}" for k in range(160)]
    with pytest.raises(OddReading, match="many-classes"):
        formats.read(table(tmp_path, "nr,seen,width", rows), columns={"seen": "candidates"})


def test_questions_to_read_are_no_doubtful_labels(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    asked = [f"What is the capital of {country}?" for country in ("Peru", "Mali", "Oman", "Laos", "Fiji", "Chad")]
    asked += [f"Name {k} reasons to learn how to swim." for k in range(3)]
    rows = [f"{text},{'AB'[k % 2]},{'AB'[k // 2 % 2]}" for k, text in enumerate(asked * 4)]
    path.write_text("\n".join(["request,this-one-large,that-one-small", *rows]))
    about = question(formats.columns(path))
    assert about is None or "request" not in about.text


LINES_OF_TOOLS = {  # the header, and a line of each answer: row, person, label
    "kobo": (
        "start,Enumerator,Water point,Condition,_uuid,_submission_time,_index",
        "s{i},{who},W-{k},{said},u{i},t{i},{i}",
    ),
    "atlas": ("ID,Document,Quotation Content,Codes,Created by", "1:{i},D{k},the words of {k},{said},{who}"),
    "maxqda": (
        "Color,Document name,Code,Beginning,End,Weight score,Segment,Created by,Created",
        "x,D{half},{said},{mod},{mod},0,the words of {k},{who},2023-09-06",
    ),
    "dedoose": (
        "Media Title,Excerpt Range,Excerpt Creator,Excerpt Copy,Codes Applied Combined,Code: late Applied",
        "D{half},{mod}-9,{who},the words of {k},{said},True",
    ),
    "no header": ("Ann,0,late", "{who},{k},{said}"),
    "two keys": ("document,sentence_id,coder,stance", "d{half},{mod},{who},{said}"),
}


@pytest.mark.parametrize("tool", LINES_OF_TOOLS)
def test_lines_of_answers_of_tools(tmp_path: Path, tool: str) -> None:
    header, line = LINES_OF_TOOLS[tool]
    every = [(k, who) for k in range(12) for who in range(3)]
    lines = [
        line.format(i=i, k=k, half=k // 4, mod=k % 4, who=("Ann", "Bob", "Cem")[who], said=label(k, who))
        for i, (k, who) in enumerate(every)
    ]
    skipped = tool == "no header"  # of which the first line is an answer
    data = read_first(table(tmp_path, lines[0] if skipped else header, lines[1:] if skipped else lines))
    assert len(data) == 12 and has_three_voters(data) and data.annotations is not None
    assert data.annotations.n_answers == 36


@pytest.mark.parametrize("way", ["word", "list", "survey", "menu"])
def test_which_of_several_tasks_of_zooniverse_has_the_labels_is_asked(tmp_path: Path, way: str) -> None:
    """A task is asked after a certain answer; visitors have names of their own, and a drawing is no answer."""

    def value(said: str) -> Any:
        objects = {"survey": [{"choice": said, "answers": {"HOWMANY": "1"}}], "menu": [{"value": "f0", "label": said}]}
        return {"word": said, "list": [said]}.get(way) or objects[way]

    rows = []
    for k in range(12):
        for at, who in enumerate(("ann", "not-logged-in-1a", "not-logged-in-2b")):
            tasks = [{"task": "T0", "task_label": "Which?", "value": value(label(k, at))}]
            tasks += [{"task": "T1", "value": "Yes" if (k // 3 + at) % 2 else "No"}] if label(k, at) == "late" else []
            tasks += [{"task": "T2", "value": [{"tool": 0, "x": 1.5, "y": 2}]}]
            cell = json.dumps(tasks).replace('"', '""')
            rows.append(f'{100 + 3 * k + at},{who},,9,{{}},"{cell}","{{""{k}"": {{""mag"": 1}}}}",{k}')
    header = "classification_id,user_name,user_id,workflow_id,metadata,annotations,subject_data,subject_ids"
    path = table(tmp_path, header, rows)
    asked = question(formats.columns(path))
    assert asked is not None and asked.answers[0][1]["T0"] == "vote"
    data = read_first(path)
    assert has_three_voters(data) and set(data.class_names) == {"late", "lost", "fine"} and not data.feature_names


def test_regions_of_via_are_an_example_each_in_a_table(tmp_path: Path) -> None:
    def cells(k: int, j: int) -> str:
        ticked = {label(k, j): True} | ({"fine": True} if k % 4 == 0 else {})
        about = {"species": ticked if k else {}, "pose": "sitting" if (k + j) % 2 else "flying"}
        return json.dumps(about).replace('"', '""')

    header = "filename,file_size,file_attributes,region_count,region_id,region_shape_attributes,region_attributes"
    rows = [f'c{k}.jpg,9,{{}},2,{j},{{}},"{cells(k, j)}"' for k in range(12) for j in range(2)]
    path = table(tmp_path, header, rows)
    asked = question(formats.columns(path))
    assert asked is not None and [said.split(" (")[0] for said, _ in asked.answers] == ["species", "pose"]
    data = read_first(path)
    assert len(data) == 24 and set(data.class_names) == {"late", "lost", "fine"} and not data.categories
    assert named_sets(data)[1:4] == [{"late", "lost", "fine"}, {"lost"}, {"lost"}]


@pytest.mark.parametrize("title", ["G01Q{k:02}[SQ001]", "T{k:02}. How is it?"])
def test_a_survey_of_limesurvey_is_a_row_a_person(tmp_path: Path, title: str) -> None:
    header = ",".join(["id", "submitdate", "lastpage", "startlanguage", *(title.format(k=k) for k in range(6))])
    rows = [f"{who},2024-01-0{who + 1} 10:00:00,3,en," + ",".join(label(k, who) for k in range(6)) for who in range(3)]
    data = formats.read(table(tmp_path, header, rows))
    assert len(data) == 6 and data.annotations is not None and data.annotations.n_annotators == 3


@pytest.mark.parametrize("name", ["x.yaml", "x.SAV", "x.rds"])
def test_files_of_other_programs_say_what_to_do(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("a: b, c\nd: e, f\n")
    with pytest.raises(UserError, match=r"The file is .+: (save|write) "):
        formats.read(tmp_path / name)


@pytest.mark.parametrize(
    ("codes", "names"), [("012", ("cat", "dog", "fox")), (("neg", "neu", "pos"), ("negative", "neutral", "positive"))]
)
def test_voters_who_say_none_of_the_true_labels_are_asked_about(
    tmp_path: Path, codes: str | tuple[str, ...], names: tuple[str, ...]
) -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 3, 60)
    said = np.where(rng.random((60, 3)) < 0.2, rng.integers(0, 3, (60, 3)), truth[:, None])
    rows = [f"{k / 7:.3f},{','.join(codes[one] for one in said[k])},{names[truth[k]]}" for k in range(60)]
    found = found_odd(table(tmp_path, "size,rater_1,rater_2,rater_3,true_label", rows))
    assert "other-words" in found and all(
        f"{a} → {b}" in found["other-words"] for a, b in zip(codes, names, strict=True)
    )


@pytest.mark.parametrize("name", ["label", "gold", "true_label"])
def test_voters_are_no_question_because_of_a_column_that_is_still_to_be_filled_in(tmp_path: Path, name: str) -> None:
    rows = [f"m{k},message {k} of somebody,{label(k, 0)},{label(k, 1)},{label(k, 2)}," for k in range(24)]
    columns = formats.columns(table(tmp_path, f"id,text,ann,ben,cy,{name}", rows))
    roles = {column.name: column.role for column in columns}
    assert question(columns) is None and {roles[who] for who in ("ann", "ben", "cy")} == {"annotator"}
    assert roles[name] == ("true_label" if name == "true_label" else "keep")  # a reserved name is what it says


def test_a_column_of_free_text_that_is_made_answers_is_odd(tmp_path: Path) -> None:
    """A few sentences come again: they are no classes that the others leave out without a question."""
    said = [f"{who} {what}." for who in ("It", "This one", "My order") for what in ("was lost", "took ages", "is fine")]
    other = [f"{word} is what I would say here" for word in "abcdefghijk"]
    rows = [f"{k},{one},{k / 8}" for k, one in enumerate([*said, *said, *other, *other[::-1]])]
    rows = [row.replace("would", f"would{k}") for k, row in enumerate(rows)]
    with pytest.raises(OddReading) as caught:
        formats.read(table(tmp_path, "id,remark,width", rows), columns={"remark": "annotator"})
    assert "no-class" in {finding.kind for finding in caught.value.findings}
    assert "22 name no class" in str(caught.value)


def test_many_classes_that_are_named_twice_each_are_odd(tmp_path: Path) -> None:
    rows = [f"{k},word{k // 2 if k < 44 else k},{k / 8}" for k in range(60)]
    with pytest.raises(OddReading, match="38 classes for 60 examples"):
        formats.read(table(tmp_path, "id,city,width", rows), columns={"city": "annotator"})
    with pytest.raises(OddReading, match="12 classes for 12 examples"):
        formats.read(table(tmp_path, "id,city,width", rows[48:]), columns={"city": "annotator"})


def coco(tmp_path: Path, box: list[float]) -> Path:
    """Three people's answers to twelve pictures, each in a box."""
    names = ["late", "lost", "fine"]
    annotations = [
        {
            "id": 3 * k + at,
            "image_id": k,
            "category_id": names.index(label(k, at)) + 1,
            "segmentation": [],
            "bbox": box,
            "attributes": {"annotator": who, "occluded": False},
        }
        for k in range(12)
        for at, who in enumerate(PEOPLE)
    ]
    images = [{"id": k, "file_name": f"gate/{k}.png", "width": 64, "height": 48} for k in range(13)]
    categories = [{"id": k, "name": name} for k, name in enumerate(names, start=1)]
    path = tmp_path / "coco.json"
    path.write_text(json.dumps({"categories": categories, "images": images, "annotations": annotations}))
    return path


@pytest.mark.parametrize("box", [[], [0.0, 0.0, 64.0, 48.0]])
def test_labels_of_whole_pictures_of_coco_are_answers(tmp_path: Path, box: list[float]) -> None:
    path = coco(tmp_path, box)
    data = formats.read(path)
    assert data.annotations is not None and data.annotations.n_answers == 36 and len(data) == 13
    assert set(data.annotations.annotator_names) == {*PEOPLE} and not data.feature_names
    assert set(data.class_names) == {"late", "lost", "fine"}
    assert "COCO" in formats.FORMATS["jsonl"].no_place(path, formats.ReadOptions())


def test_parts_of_pictures_of_coco_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"COCO that marks parts of pictures.*image, annotator and label"):
        formats.read(coco(tmp_path, [0.0, 0.0, 64.0, 24.0]))


def test_a_question_a_clip_is_a_row_a_person_wherever_the_number_stands(tmp_path: Path) -> None:
    rolls = random.Random(2)
    names = [f"Clip {k}: Which emotion do you hear?" for k in range(1, 13)]
    rows = [
        [
            f"2023-03-{day % 28 + 1:02} 05:{day:02}:52",
            f"u{day}@corp.example",
            *(rolls.choice(["Sad", "Happy", "Angry"]) for _ in names),
        ]
        for day in range(30)
    ]
    path = table(tmp_path, ",".join(["Start time", "Email", *names]), [",".join(row) for row in rows])
    data = read_first(path)
    assert len(data) == 12 and data.annotations is not None and data.annotations.n_annotators == 30


def test_samples_of_several_models_are_a_voter_each(tmp_path: Path) -> None:
    both = [(m, k, "yes" if (k + m) % 3 else "no") for m in range(3) for k in range(20)]
    records = [
        {
            "model": f"m{m}",
            "doc_id": k,
            "doc": {"question": f"is {k} odd"},
            "target": "no",
            "filtered_resps": [said],
        }
        for m, k, said in both
    ]
    votes = with_own_votes(source_of(str(lines(tmp_path, records, "samples_x.jsonl")))).load().annotations
    assert votes is not None and votes.annotator_names == ("m0", "m1", "m2") and votes.n_answers == 60


def test_a_list_of_samples_is_many_answers_and_not_that_of_a_model(tmp_path: Path) -> None:
    records = [
        {"question": f"How many are {k}?", "model": "llama", "samples": ["A", "B", "A", "CA"[k % 2]], "answer": "A"}
        for k in range(20)
    ]
    source = with_own_votes(source_of(str(lines(tmp_path, records))))
    votes = replace(source, options={**source.options, "columns": {"answer": "true_label"}}).load().annotations
    assert votes is not None and votes.anonymous and votes.n_answers == 80


def test_answers_of_several_models_to_one_prompt_are_not_counted_twice(tmp_path: Path) -> None:
    records = [
        {"custom_id": f"c{k}", "model": f"m{m}", "input": f"A claim, the {k}th.", "answer": label(k, m)}
        for k in range(12)
        for m in range(3)
    ]
    source, roles = source_of(str(lines(tmp_path, records))), {"custom_id": "task", "model": "worker", "answer": "vote"}
    votes = with_own_votes(replace(source, options={"columns": roles})).load().annotations
    assert votes is not None and votes.annotator_names == ("m0", "m1", "m2") and votes.n_answers == 36


def test_labelling_functions_beside_the_truth_are_asked_about(tmp_path: Path) -> None:
    rolls, rows = random.Random(3), list[str]()
    for k in range(200):
        truth = rolls.randrange(2)
        marks = [truth if rolls.random() < 0.8 else 1 - truth for _ in range(6)]
        cells = [str(mark) if rolls.random() < 0.35 else "-1" for mark in marks]
        rows.append(",".join([f"what comment {k} says of the song", *cells, str(truth) if k % 4 == 0 else ""]))
    header = "CONTENT,keyword_my,keyword_link,regex_check_out,short_comment,has_person,polarity,CLASS"
    functions = dict.fromkeys(header.split(",")[1:-1], "annotator")
    for more, cells in (("", [""] * 200), ("video,", [f"{1 + k % 4}," for k in range(200)])):  # a number of the item
        path = table(tmp_path, more + header, [a + b for a, b in zip(cells, rows, strict=True)])
        asked = question(formats.columns(path))
        assert asked is not None and asked.answers[0][1] == functions


@pytest.mark.parametrize("do_agree", [True, False])
def test_a_row_is_a_model_where_models_agree_on_an_item_and_a_questionnaire_else(
    tmp_path: Path, do_agree: bool
) -> None:
    rolls, rows = random.Random(5), list[str]()
    key = [rolls.choice("ABCD") for _ in range(14)]
    for k in range(24):
        said = [one if do_agree and rolls.random() < 0.7 else rolls.choice("ABCD") for one in key]
        rows.append(",".join([f"model {k}", str(rolls.randint(1, 70)), *said]))
    header = ",".join(["model", "size", *(f"Q{k}" for k in range(1, 15))])
    roles = {column.name: column.role for column in formats.columns(table(tmp_path, header, rows))}
    assert (roles["model"] == "person") is do_agree


def test_votes_of_a_jury_on_many_pictures_are_a_row_a_person_whatever_they_are_called(tmp_path: Path) -> None:
    rolls, rows = random.Random(6), list[str]()
    liked = [rolls.random() for _ in range(30)]
    for k in range(21):
        said = ["возд." if rolls.random() < 0.1 else "да" if rolls.random() < one else "нет" for one in liked]
        rows.append(",".join([f"Член {k} О.П.", "учитель" if k % 2 else "художник", *said]))
    header = ",".join(["Член жюри", "Должность", *(f"Рисунок {k}" for k in range(1, 31))])
    data = read_first(table(tmp_path, header, rows))
    assert len(data) == 30 and {*data.class_names} == {"да", "нет"}
    assert data.annotations is not None and data.annotations.n_annotators == 21


def test_numbered_sentences_of_a_form_are_the_examples(tmp_path: Path) -> None:
    rolls, rows = random.Random(8), list[str]()
    names = [
        f'{k}. "{word} diz isso"'
        for k, word in enumerate(["Ele", "Ela", "Ana", "Rui", "Zé", "Lia", "Ivo", "Eva"], start=1)
    ]
    for k in range(27):
        said = [rolls.choice(["Ofensiva", "Ofensiva", "Não ofensiva"][: 2 + (at % 2)]) for at in range(8)]
        rows.append(",".join([f"15/04/2023 10:{k:02}:11", *said, "sem comentários" if k % 5 == 0 else ""]))
    header = ",".join(["Carimbo de data/hora", *(name.replace('"', "'") for name in names), "Comentários"])
    data = read_first(table(tmp_path, header, rows))
    assert len(data) == 8 and data.annotations is not None and data.annotations.n_annotators == 27


def test_the_fourth_reader_is_called_otherwise_where_another_column_has_the_truth(tmp_path: Path) -> None:
    rows = list[str]()
    for k in range(60):
        said = [str(1 + (k + (k % 4 == at)) % 3) for at in range(4)]
        rows.append(",".join([f"{k % 7}.5", *said, str(1 + (k + k % 5 % 2) % 3) if k % 2 else ""]))
    data = read_first(table(tmp_path, "size,Médico 1,Médico 2,Médico 3,Residente,Histopatología", rows))
    assert data.annotations is not None and data.annotations.annotator_names[3:] == ("Residente",)
    assert data.y is not None and (data.y >= 0).sum() == 30


def test_pairs_of_a_label_and_a_share_are_candidates_with_their_weights(tmp_path: Path) -> None:
    """As the differential diagnoses of DDXPlus."""
    pairs = [[["flu", 0.7], ["cold", 0.3]], [["cold", 0.6], ["croup", 0.4]], [["flu", 1.0]]] * 8
    records = [{"age": 20 + k % 9, "diagnoses": repr(pairs[k]), "evidence": f"cough {k}, fever"} for k in range(24)]
    data = read_first(lines(tmp_path, records))
    assert data.class_names == ("cold", "croup", "flu") and data.candidates is not None and data.prior is not None
    assert data.candidates.names(1) == ["cold", "croup"] and data.prior[:2].tolist() == pytest.approx([0.3, 0.7])


def test_what_is_named_by_a_picture_is_shown(tmp_path: Path) -> None:
    rows = [f"https://pets.example/{k}.jpg,{who},{label(k, at)}" for k in range(12) for at, who in enumerate(PEOPLE)]
    data = read_first(table(tmp_path, "INPUT:image,ASSIGNMENT:worker_id,OUTPUT:result", rows))
    assert has_three_voters(data) and data.pictures is not None and data.pictures.names[0].endswith("0.jpg")


def test_labels_of_snli_are_nobodys_where_one_is_missing(tmp_path: Path) -> None:
    said = ["neutral", "entailment", "neutral", "neutral", "neutral"]
    records = [
        {"gold_label": "neutral", "annotator_labels": said if k else ["", *said[1:]], "sentence1": TEXTS[k]}
        for k in range(12)
    ]
    votes = read_first(lines(tmp_path, records)).annotations
    assert votes is not None and votes.anonymous and votes.n_answers == 59


def test_a_reviewer_of_each_line_is_who_answered(tmp_path: Path) -> None:
    rows = [f"S{k},on homework over time {k},{who},{label(k, at)}" for k in range(12) for at, who in enumerate(PEOPLE)]
    data = read_first(table(tmp_path, "Submission ID,Title,Reviewer,Recommendation", rows))
    assert has_three_voters(data)


def test_a_reference_beside_counts_is_asked_about_and_they_stay_counts(tmp_path: Path) -> None:
    rows = list[str]()
    for k in range(40):
        counts = [9 + k % 4 if at == k % 3 else (k + at) % 3 for at in range(3)]
        rows.append(",".join([str(30 + k % 9), *map(str, counts), str(sum(counts)), ("NILM", "LSIL", "HSIL")[k % 3]]))
    path = table(tmp_path, "Age,NILM,LSIL,HSIL,Participants,Reference diagnosis", rows)
    roles = first_roles(path)
    assert roles["Reference diagnosis"] == "true_label"
    columns = formats.columns(path, options=formats.ReadOptions(columns=roles))
    assert [column.role for column in columns] == ["feature", *["count"] * 3, "keep", "true_label"]


def test_none_is_a_class_of_a_classifier(tmp_path: Path) -> None:
    rows = [f"{k % 7}.5,0.{2 + k % 3},0.{5 - k % 3},0.3,{('ring', 'edge', 'none', '', '')[k % 5]}" for k in range(60)]
    data = read_first(table(tmp_path, "size,prob_ring,prob_edge,prob_none,engineer_label", rows))
    assert set(data.class_names) == {"edge", "none", "ring"} and data.y is not None and (data.y >= 0).sum() == 36


def test_marks_of_the_rows_with_a_known_answer_are_not_learnt_from(tmp_path: Path) -> None:
    rows = [
        f"{k % 7}.5,c{k}.png,{who},{label(k, at)},{'TRUE' if k % 2 else 'FALSE'},{label(k, 0) if k % 2 else ''}"
        for k in range(20)
        for at, who in enumerate(PEOPLE)
    ]
    data = read_first(table(tmp_path, "size,image,technician,cell_type,is_control,control_answer", rows))
    assert data.feature_names == ("size",) and not data.categories and data.y is not None


def test_objects_of_numbers_are_counts_where_they_are_called_as_answers(tmp_path: Path) -> None:
    given = [{"ok": 2, "hate": 2}, {"ok": 5}, {"offensive": 3, "ok": 1}]
    records = [
        {
            "text": TEXTS[k % 12] + str(k),
            "ratings": given[k % 3],
            "n_ratings": sum(given[k % 3].values()),
            "article": "ab"[k % 2],
        }
        for k in range(30)
    ]
    data = read_first(lines(tmp_path, records))
    assert data.class_names == ("hate", "offensive", "ok") and data.prior is not None and not data.feature_names
    of_things = [one | {"ratings": None, "size": given[k % 3]} for k, one in enumerate(records)]
    assert "size" not in {
        name for name, role in first_roles(lines(tmp_path, of_things)).items() if role == "candidates"
    }


def test_identifications_of_inaturalist_as_its_api_gives_them(tmp_path: Path) -> None:
    records = [
        {
            "id": 9 * k + at,
            "current": at < 3,
            "category": "leading",
            "user": {"id": at, "login": f"u{at}"},
            "taxon": {"id": 1, "name": f"Bombus {label(k, at % 3)}"},
            "observation": {"id": 700 + k},
        }
        for k in range(12)
        for at in range(4)
    ]
    data = read_first(lines(tmp_path, records))
    assert has_three_voters(data) and data.class_names[0].startswith("Bombus")


@pytest.mark.parametrize("called", ["message", "gpt answer"])
def test_what_people_read_may_name_the_classes_and_is_no_answer(tmp_path: Path, called: str) -> None:
    rows = [
        f"parcel {k} came {label(k, 0)} says customer {k},{','.join(label(k, at) for at in range(3))}"
        for k in range(40)
    ]
    data = read_first(table(tmp_path, f"{called},Ann,Bob,Cleo", rows))
    assert data.annotations is not None and data.annotations.n_annotators == 3 + (called != "message")


def test_whether_a_guess_is_right_is_not_learnt_from(tmp_path: Path) -> None:
    kinds, rows = ["collie", "boxer", "chow", "husky"], list[str]()
    for k in range(40):
        guesses = [kinds[(k + at + k // 4) % 4] for at in range(3)]
        truth = kinds[k % 4]
        marks = [int(truth == guesses[0]), int(truth in guesses)]
        rows.append(",".join([f"{k}.jpg", truth, *guesses, *map(str, marks), str(int(k % 3 == 0))]))
    header = "image,target,pred_1,pred_2,pred_3,correct@1,correct@3,is_indoors"
    roles = {one.name: one.role for one in formats.columns(table(tmp_path, header, rows))}
    assert [roles[name] for name in header.split(",")[5:]] == ["keep", "keep", "feature"]


def test_codes_come_before_how_sure_somebody_was(tmp_path: Path) -> None:
    rolls = random.Random(4)
    truth = [rolls.choice(["10", "11", "20"]) for _ in range(40)]
    rows = [
        f"c{k},obs{who},{true if rolls.random() < 0.8 else '30'},{rolls.choice(['low', 'high'])}"
        for k, true in enumerate(truth)
        for who in range(3)
    ]
    path = table(tmp_path, "clip_id,observer,species_code,confidence", rows)
    assert first_roles(path)["species_code"] == "vote"


def test_answers_that_agree_by_chance_are_odd_and_few_or_those_of_people_are_not(tmp_path: Path) -> None:
    rolls = random.Random(4)
    for right, least in ((0.0, 1), (0.6, 0)):
        truth = [rolls.choice("xyz") for _ in range(80)]
        said = [[true if rolls.random() < right else rolls.choice("xyz") for _ in range(3)] for true in truth]
        path = table(
            tmp_path, "id,annotator_1,annotator_2,annotator_3", [f"e{k},{','.join(s)}" for k, s in enumerate(said)]
        )
        found = findings_in(formats.read(path, check=False), formats.ReadOptions())
        assert [one.kind for one in found] == ["chance"] * least
        few = table(
            tmp_path, "id,annotator_1,annotator_2,annotator_3", [f"e{k},{','.join(said[k])}" for k in range(20)]
        )
        assert not findings_in(formats.read(few, check=False), formats.ReadOptions())


def test_fields_of_one_coder_are_no_rounds_of_a_label(tmp_path: Path) -> None:
    rolls, rows = random.Random(2), list[str]()
    for k in range(40):
        true = rolls.choice(["netral", "ofensif"])
        said = [true if rolls.random() < 0.85 else "kebencian" for _ in range(3)]
        rows.append(
            f"t{k},"
            + ",".join(f"{one},{rolls.randint(1, 5)},{rolls.choice(['', 'sarkas?', 'kurang'])}" for one in said)
        )
    header = "id," + ",".join(f"R{k}_label,R{k}_yakin,R{k}_catatan" for k in (1, 2, 3))
    data = read_first(table(tmp_path, header, rows))
    assert data.annotations is not None and data.annotations.n_annotators == 3
    assert {*data.class_names} == {"netral", "ofensif", "kebencian"} and not data.feature_names


def test_numbers_called_as_each_model_and_more_are_about_its_answers(tmp_path: Path) -> None:
    rolls, rows = random.Random(2), list[str]()
    for k in range(60):
        true = rolls.choice("abc")
        said = [true if rolls.random() < 0.8 else rolls.choice("abc") for _ in range(3)]
        rows.append(f"e{k},{rolls.gauss(5, 1):.2f}," + ",".join(f"{one},{rolls.random():.3f}" for one in said))
    path = table(tmp_path, "id,width,CNN_A,CNN_A_Wkt,CNN_B,CNN_B_Wkt,Forest,Forest_Wkt", rows)
    data = read_first(path)
    assert data.feature_names == ("width",) and data.annotations is not None and data.annotations.n_annotators == 3


def test_lines_of_models_with_a_share_of_each_class_are_answers(tmp_path: Path) -> None:
    rolls, rows = random.Random(2), list[str]()
    for model in ("bert-ft", "tfidf-svm", "gpt"):
        for k in range(40):
            best = (k + (rolls.random() < 0.2)) % 3
            shares = [0.8 if j == best else 0.1 for j in range(3)]
            text = f"what ticket {k} is about in some words"
            rows.append(f"#{k},{text},{model},{','.join(map(str, shares))},{rolls.randint(90, 900)}")
    data = read_first(table(tmp_path, "ticket,subject,model,p_bug,p_how,p_bill,latency_ms", rows))
    assert len(data) == 40 and data.annotations is not None and data.annotations.n_answers == 120
    assert {*data.class_names} == {"bug", "how", "bill"} and not data.feature_names


def test_what_people_agreed_on_is_asked_about_and_what_a_program_did_is_not(tmp_path: Path) -> None:
    rolls, rows = random.Random(5), list[str]()
    for k in range(60):
        true = rolls.choice("ABC")
        said = [true if rolls.random() < 0.8 else rolls.choice("ABC") for _ in range(4)]
        rows.append(f"e{k},{','.join(said)},{max('ABC', key=lambda one: (said.count(one), one == true))}")
    for name, is_asked in (("Agreed at moderation", True), ("consensus", False)):
        asked = question(formats.columns(table(tmp_path, f"id,MRK,JHD,SPO,TBA,{name}", rows)))
        assert (asked is not None and asked.columns == {name}) is is_asked


def test_a_species_beside_the_shares_of_models_is_asked_about(tmp_path: Path) -> None:
    rolls, rows = random.Random(5), list[str]()
    for k in range(60):
        true = rolls.randrange(3)
        cells = [f"{0.8 if (true if rolls.random() < 0.8 else 0) == j else 0.1}" for _ in range(3) for j in range(3)]
        rows.append(f"{k},{','.join(cells)},{('Adelie', 'Gentoo', 'Chinstrap')[true]}")
    header = ",".join(f"{m}__{c}" for m in ("rf", "svm", "mlp") for c in ("Adelie", "Gentoo", "Chinstrap"))
    asked = question(formats.columns(table(tmp_path, f"rowid,{header},species", rows)))
    assert asked is not None and asked.answers[0][1] == {"species": "true_label"}


def test_codes_with_a_letter_may_be_rare_in_one_of_several_readers(tmp_path: Path) -> None:
    rolls, rows = random.Random(5), list[str]()
    for k in range(60):
        true = ("2", "3", "5", "4A")[k % 4]
        said = [true if rolls.random() < 0.9 else "3" for _ in range(2)]
        rows.append(f"b{k},{rolls.gauss(9, 2):.1f},{','.join(said)},{true if true != '4A' or k == 3 else '5'}")
    data = read_first(table(tmp_path, "id,size_mm,Reader_1,Reader_2,Reader_3", rows))
    assert data.annotations is not None and data.annotations.n_annotators == 3 and data.feature_names == ("size_mm",)


def test_counts_below_a_title_that_says_so_are_no_row_of_a_person(tmp_path: Path) -> None:
    rolls, rows = random.Random(5), list[str]()
    for k in range(40):
        votes = [0, 0, 0]
        for _ in range(rolls.randint(6, 8)):
            votes[k % 3 if rolls.random() < 0.7 else rolls.randrange(3)] += 1
        rows.append(f"A{k},{','.join(str(n) if n else '' for n in votes)}")
    data = read_first(
        table(tmp_path, "Campione,N. assaggiatori [ok],N. assaggiatori [muffa],N. assaggiatori [rancido]", rows)
    )
    assert len(data) == 40 and data.prior is not None and {*data.class_names} == {"ok", "muffa", "rancido"}


def test_an_id_of_many_digits_hides_no_shares(tmp_path: Path) -> None:
    rows = [f"58772298173612{k:04},{17 + k / 9:.2f},{k / 80:.4f},{(79 - k) / 80:.4f},{1 / 80:.4f}" for k in range(80)]
    path = table(tmp_path, "objid,mag,a01_smooth_fraction,a02_features_fraction,a03_artifact_fraction", rows)
    asked = question(formats.columns(path))
    assert asked is not None and len(asked.columns) == 3


def test_lists_of_votes_and_lists_of_states_are_read_as_lists(tmp_path: Path) -> None:
    votes = [["SUPPORTS"] * 3, ["REFUTES"] * 3, ["SUPPORTS", "REFUTES", "SUPPORTS"]] * 20
    records = [{"claim": f"claim {k} about diets and sleep", "votes": row} for k, row in enumerate(votes)]
    data = read_first(lines(tmp_path, records))
    assert data.annotations is not None and data.annotations.n_answers == 180
    people = ["ann", "bob", "cyd"]
    votes = [["x", "xy"[k % 2], "xyx"[k % 3]] for k in range(60)]
    states = [["submitted"] * 3, ["submitted", "discarded", "submitted"]] * 30
    records = [
        {
            "text": f"text {k}",
            "q.responses": row if k else [],
            "q.responses.users": people,
            "q.responses.status": states[k],
        }
        for k, row in enumerate(votes)
    ]
    data = read_first(lines(tmp_path, records))
    assert data.annotations is not None and data.annotations.n_annotators == 3
    assert not any("do not count" in note for note in data.notes)


def test_the_key_of_a_test_may_say_by_what_it_is_known(tmp_path: Path) -> None:
    rolls, key = random.Random(3), ["dab", "sole", "brill"] * 8
    people = [[true if rolls.random() < 0.8 else "plaice" for true in key] for _ in range(9)]
    rows = [
        f"{who},{','.join(row)}"
        for who, row in zip(["KEY (genetics)", *(f"Lab-{k}" for k in range(9))], [key, *people], strict=True)
    ]
    data = read_first(table(tmp_path, "participant," + ",".join(f"ph{k:03}" for k in range(24)), rows))
    assert (
        data.y is not None
        and (data.y >= 0).all()
        and data.annotations is not None
        and data.annotations.n_annotators == 9
    )


def test_one_of_some_columns_is_ticked_in_each_line_of_somebody(tmp_path: Path) -> None:
    rolls, rows = random.Random(6), list[str]()
    for k in range(30):
        for who in ("Ola", "Kacper", "Zuza"):
            best = k % 3 if rolls.random() < 0.8 else rolls.randrange(3)
            rows.append(
                f"{who},{k},what guest {k} wrote about the soup," + ",".join("x" * (best == j) for j in range(3))
            )
    path = table(tmp_path, "osoba,nr opinii,opinia,pozytywna,neutralna,negatywna", rows)
    data = read_first(path)
    assert len(data) == 30 and data.annotations is not None and data.annotations.n_annotators == 3
    assert {*data.class_names} == {"pozytywna", "neutralna", "negatywna"}


def test_counts_beside_their_total_are_nobodys_grades_and_scores_of_two_no_counts(tmp_path: Path) -> None:
    rolls, rows, scores = random.Random(6), list[str](), list[str]()
    for k in range(48):
        counts = [0, 0, 0, 0]
        for _ in range(rolls.randint(4, 8)):
            counts[k % 4 if rolls.random() < 0.7 else rolls.randrange(4)] += 1
        rows.append(f"ruta_{k},{','.join(str(n or '') for n in counts)},{sum(counts)}")
        first = rolls.randint(1, 6)
        second = min(6, first + (rolls.random() < 0.3))
        scores.append(f"{k},an essay about number {k} and more,{first},{second},{first + second}")
    data = read_first(table(tmp_path, "Radetiketter,björk,ek,gran,tall,Totalsumma", rows))
    assert {*data.class_names} == {"björk", "ek", "gran", "tall"} and data.prior is not None
    data = read_first(table(tmp_path, "essay_id,essay,rater1_domain1,rater2_domain1,domain1_score", scores))
    assert data.annotations is not None and data.annotations.n_annotators == 2


def test_what_is_known_is_told_where_all_others_are_called_experts(tmp_path: Path) -> None:
    rolls, rows = random.Random(6), list[str]()
    for k in range(60):
        true = rolls.choice(["sain", "mildiou", "esca"])
        said = [true if rolls.random() < 0.8 else "esca" for _ in range(3)]
        rows.append(f"F{k},{','.join(said)},{true}")
    columns = formats.columns(table(tmp_path, "id_feuille,expert_MB,expert_JL,expert_CD,diagnostic_PCR", rows))
    assert question(columns) is None and columns[-1].role == "true_label"


@pytest.mark.parametrize("classes", [("present", "absent", "equivocal"), ("OK", "WARN", "ERR")])
def test_a_finding_that_is_often_absent_is_a_class(tmp_path: Path, classes: tuple[str, ...]) -> None:
    rolls, rows = random.Random(8), list[str]()
    for k in range(60):
        true = classes[k % 3]
        rows.append(f"e{k}," + ",".join(true if rolls.random() < 0.85 else rolls.choice(classes) for _ in range(3)))
    data = read_first(table(tmp_path, "id,annotator_1,annotator_2,annotator_3", rows))
    assert {*data.class_names} == {*classes}


def test_ratings_below_a_number_are_those_of_a_person(tmp_path: Path) -> None:
    rolls = random.Random(8)
    rows = [
        f"2024-03-{k + 1:02} 10:{k:02},{','.join(str(rolls.randint(4, 5) - 3 * j % 2) for j in range(3))}"
        for k in range(20)
    ]
    path = table(tmp_path, "Timestamp,No. 1 [clip a],No. 1 [clip b],No. 1 [clip c]", rows)
    assert "count" not in first_roles(path).values()


def test_counts_with_spaces_between_the_labels_are_votes(tmp_path: Path) -> None:
    rows = [
        f"u{k},He *followed* it {k} times,{('fiction', 'news')[k % 2]},MRW:{6 - k % 3} literal:{1 + k % 3}"
        for k in range(12)
    ]
    data = read_first(table(tmp_path, "unit,sentence,genre,votes", rows))
    assert data.class_names == ("MRW", "literal") and len(data) == 12


def test_a_question_mark_beside_a_star_is_an_answer(tmp_path: Path) -> None:
    rows = [
        f"s{k},They has seen {k} of it,{','.join(('OK?*'[:2], '?', '*')[(k + at) % 3] for at in range(3))}"
        for k in range(12)
    ]
    assert {*read_first(table(tmp_path, "item,sentence,AK,JB,MS", rows)).class_names} == {"OK", "?", "*"}


def test_how_often_each_label_was_given_may_stand_before_it(tmp_path: Path) -> None:
    kinds = ["mould", "rancid", "musty"]
    rows = [
        f's{k},oil of press number {k},"{5 + k % 3}x {kinds[k % 3]}, {3 - k % 3}x {kinds[(k + 1) % 3]}"'
        for k in range(18)
    ]
    data = read_first(table(tmp_path, "id,text,panel", rows))
    assert data.annotations is not None and data.annotations.n_answers == 18 * 8


def test_a_code_beside_one_other_is_a_class_though_it_may_be_none(tmp_path: Path) -> None:
    rows = [f"s{k},form {k} of the fern,{','.join(('A', 'NA')[(k + at) % 2] for at in range(3))}" for k in range(12)]
    assert {*read_first(table(tmp_path, "id,text,ann,bob,cem", rows)).class_names} == {"A", "NA"}


def test_texts_of_a_question_and_its_answer_are_read_and_counts_of_rows_and_judges_are_not(tmp_path: Path) -> None:
    """An answer that quotes the question says more than it."""
    lines_of, wide = [], []
    for k in range(30):
        asked = f"What is said of the number {k} by those who count?"
        told = f"Of '{asked}' I would say that {k} is one of {k + 1} numbers and that nobody has counted them all"
        said = ["xyz"[(k + (k % 5 == at)) % 3] if (k + at) % 9 else "" for at in range(3)]
        wide.append(f"{k + 1},{asked},{told},{','.join(said)},{sum(map(bool, said))}")
        lines_of += [f"q{k:03},{asked},{told},judge {at},{one}" for at, one in enumerate(said) if one]
    for header, rows in (
        ("qid,question,answer,judge,verdict", lines_of),
        ("place,question,reply,gpt-4o,claude,qwen,n_judges", wide),
    ):
        data = read_first(table(tmp_path, header, rows))
        assert data.texts is not None and "counted them all" in data.texts[0] and not data.feature_names
        assert data.annotations is not None and data.annotations.n_answers == len(lines_of)


def test_places_of_geojson_are_read_as_their_properties(tmp_path: Path) -> None:
    features = [
        {
            "type": "Feature",
            "geometry": {"type": "Point", "coordinates": [k / 7, k / 9]},
            "properties": {"plot": 100 + k, "ndvi": k / 61}
            | {f"interp_{who}": "xyz"[(k + (k % 5 == at)) % 3] for at, who in enumerate("kmo")},
        }
        for k in range(40)
    ]
    path = tmp_path / "plots.geojson"
    path.write_text(json.dumps({"type": "FeatureCollection", "name": "plots", "features": features}))
    data = formats.read(path)
    assert data.annotations is not None and data.annotations.n_answers == 120 and data.feature_names == ("ndvi",)


def test_how_long_a_note_is_is_no_remark_and_a_measure_no_example(tmp_path: Path) -> None:
    rolls = random.Random(3)
    rows = []
    for k in range(60):
        at = rolls.randrange(3)
        marks = ["x" if one in (at, (at + 1) % 3 if k % 3 else at) else "" for one in range(3)]
        rows.append(f"F{k:03},{10 * at + rolls.randrange(9)},{rolls.randrange(10, 40)},{','.join(marks)}")
    data = read_first(table(tmp_path, "find,note_ms,weight,Bronze,Iron,Roman", rows))
    assert len(data) == 60 and {*data.feature_names} == {"note_ms", "weight"} and data.n_classes == 3


def test_numbered_things_that_people_agree_on_are_asked_about_beside_the_number_of_each_person(tmp_path: Path) -> None:
    rolls, things = random.Random(4), [("calm", "tense", "glad")[k % 3] for k in range(12)]
    header = ",".join(["ID", *(f"How does it sound? (Clip {k})" for k in range(1, 13))])
    said = [[one if rolls.random() < 0.8 else rolls.choice(things) for one in things] for _ in range(14)]
    path = tmp_path / "form.csv"
    path.write_text("\n".join([header, *(",".join([str(k), *row]) for k, row in enumerate(said, 1))]))
    asked = question(formats.columns(path))
    assert asked is not None and asked.text.startswith("12 columns") and asked.answers[0][1]["ID"] == "person"

"""Lists of objects, an object an answer, under names that no signature knows."""

from __future__ import annotations

import csv
import json
import math
import random
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pll import formats
from pll.formats.base import ReadOptions
from pll.formats.reading import question
from pll.formats.unfold import fields_in, reading_of
from pll.formats.votes import kind_of

ANSWERS = [{"ann": "cat", "bob": "dog"}, {"bob": "dog", "cleo": "dog"}, {"ann": "fox", "cleo": "cat"}] * 4
SHAPES = {
    "flat": lambda who, what: {"id": f"{who}{what}", "creator": who, "className": what, "at": "2024-05-06T10:00"},
    "plain": lambda who, what: {"annotator": who, "label": what},
    "nested": lambda who, what: {
        "createdBy": {"email": f"{who}@x", "as": 1},
        "data": {"category": {"label": what}},
    },
    "text": lambda who, what: {"workerId": who, "content": json.dumps({"answer": {"label": what}, "comment": ""})},
    "name within": lambda who, what: {"user": {"login": who}, "taxon": {"id": ord(what[0]), "name": what}, "bbox": [1]},
    "any word": lambda who, what: {"rater": who, "ton": what, "country": "FR" if who == "ann" else "CH"},
    "two ids": lambda who, what: {"author": {"email": f"{who}@x", "id": f"user {who}"}, "verdict": what},
}


def rows(shape: str) -> list[dict[str, Any]]:
    some = [[SHAPES[shape](*pair) for pair in one.items()] for one in ANSWERS]
    return [{"name": f"item {k}", "items": one} for k, one in enumerate(some)]


def said(path: Path) -> list[set[tuple[str, str]]]:
    votes = formats.read(path).annotations
    assert votes is not None
    found: list[set[tuple[str, str]]] = [set() for _ in ANSWERS]
    for row, who, label in zip(votes.rows, votes.annotators, votes.labels, strict=True):
        found[row].add((votes.annotator_names[who].removesuffix("@x"), votes.class_names[label]))
    return found


def write(folder: Path, kind: str, records: Sequence[dict[str, Any]]) -> Path:
    path = folder / f"some.{kind}"
    if kind == "json":
        path.write_text(json.dumps(records))
    elif kind == "zip":
        with zipfile.ZipFile(path, "w") as archive:
            for record in records:
                archive.writestr(f"{record['name']}.json", json.dumps([record]))
    else:
        with path.open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerows([["name", "items"], *([one["name"], json.dumps(one["items"])] for one in records)])
    return path


@pytest.mark.parametrize("kind", ["json", "csv", "zip"])
@pytest.mark.parametrize("shape", list(SHAPES))
def test_an_object_is_an_answer_whatever_its_fields_are_called(tmp_path: Path, shape: str, kind: str) -> None:
    assert said(write(tmp_path, kind, rows(shape))) == [set(one.items()) for one in ANSWERS]


@pytest.mark.parametrize("order", [1, -1])
def test_a_list_of_two_words_is_an_answer_in_either_order(tmp_path: Path, order: int) -> None:
    rolls, records = random.Random(3), list[dict[str, Any]]()
    for k in range(40):
        given = [("ann", "bob", "cid", "dov")[at] for at in rolls.sample(range(4), 3)]
        true = ("pro", "con")[k % 2]
        pairs = [(who, rolls.choice(["pro", "con"]) if rolls.random() < 0.2 else true) for who in given]
        records.append({"name": f"item {k}", "items": [[*pair[::order]] for pair in pairs]})
    votes = formats.read(write(tmp_path, "json", records)).annotations
    assert votes is not None and {*votes.annotator_names} == {"ann", "bob", "cid", "dov"}
    assert votes.n_answers == 120 and {*votes.class_names} == {"pro", "con"}


def test_logarithms_say_how_likely_the_tokens_of_an_answer_are(tmp_path: Path) -> None:
    """What the model answered is the likeliest of them, and no vote beside them."""
    rows = []
    for k in range(30):
        best, other = ("A", "B") if k % 2 else ("B", "C")
        tokens = [{"token": best, "logprob": math.log(0.7)}, {"token": other, "logprob": math.log(0.2)}]
        rows.append({"id": k, "question": f"Which of the three is it, {k}?", "answer": best, "top_logprobs": tokens})
    path = write(tmp_path, "json", rows)
    assert kind_of(path) != "both"
    data = formats.read(path)
    assert data.annotations is None and data.y is None and data.prior is not None
    assert data.sets().sizes.tolist() == [2] * 30 and np.allclose(data.prior[:2], [7 / 9, 2 / 9])


def test_two_fields_of_labels_are_asked_about_and_a_role_answers(tmp_path: Path) -> None:
    records = rows("flat")
    for k, record in enumerate(records):
        for j, one in enumerate(record["items"]):
            one["category"] = "ab"[(k + j) % 2]
    path = write(tmp_path, "json", records)
    asked = question(formats.columns(path))
    assert asked is not None
    assert len(asked.answers) == 2
    votes = formats.read(path, options=ReadOptions(columns=dict(asked.answers[0][1]))).annotations
    assert votes is not None
    assert set(votes.class_names) == {"cat", "dog", "fox"}


@pytest.mark.parametrize(
    ("counts", "does_not"),
    [
        ({"isLatest": True}, {"isLatest": False}),
        ({"status": "done"}, {"status": "Draft"}),
        ({}, {"deleted": True}),
        ({"labelType": "default"}, {"labelType": "PREDICTION"}),
    ],
)
@pytest.mark.parametrize("shape", ["flat", "plain"])
def test_answers_count_by_their_state_and_it_is_said(
    tmp_path: Path, shape: str, counts: dict[str, Any], does_not: dict[str, Any]
) -> None:
    records = rows(shape)
    for record in records:
        out = record["items"][0] | dict.fromkeys(record["items"][0].keys() & {"className", "label"}, "wrong") | does_not
        record["items"] = [out, *(one | counts for one in record["items"])]
    path = write(tmp_path, "json", records)
    assert said(path) == [set(one.items()) for one in ANSWERS]
    assert any("do not count" in note for note in formats.read(path).notes)


@pytest.mark.parametrize("tool", ["iNaturalist", "another"])
def test_what_people_agree_on_is_the_answer_and_not_what_is_called_so(tmp_path: Path, tool: str) -> None:
    """What an identification does to the others is called its category; of another tool the user is asked."""
    rows = []
    for k in range(40):
        said = [("Apis", "Bombus", "Andrena")[(k + (j == k % 5)) % 3] for j in range(4)]
        given = [
            {
                "user": {"id": 90 + j, "login": f"user{j}"},
                "taxon": {"id": 5, "name": what},
                "category": ("leading", "improving", "maverick")[(k * j + k // 3 + j) % 3],
                "current": j < 3,
            }
            for j, what in enumerate(said)
        ]
        named = {"quality_grade": "research", "taxon": None} if tool == "iNaturalist" else {}
        rows.append({"id": 100 + k, "description": f"seen at noon number {k}", "identifications": given} | named)
    path = tmp_path / "t.json"
    path.write_text(json.dumps({"total_results": 40, "page": 1, "results": rows}))
    asked = question(formats.columns(path))
    roles = asked.answers[0][1] if asked else {}
    assert (asked is None) == (tool == "iNaturalist") and all(
        "taxon.name" in n for n, r in roles.items() if r != "keep"
    )
    data = formats.read(path, columns=roles)
    assert data.class_names == ("Andrena", "Apis", "Bombus") and data.annotations is not None
    assert data.annotations.annotator_names == ("user0", "user1", "user2") and data.annotations.n_answers == 120
    assert "Answers in identifications that do not count, by their state: current: false (40)." in data.notes


def assert_read_alike(path: Path) -> None:
    """The votes are the same with the reading that was made, and where a person says what another column is."""
    given = [{}, formats.read(path).reading["roles"], {"name": "keep"}]
    votes = [formats.read(path, columns=columns).annotations for columns in given]
    first, *others = [one and [one.rows.tolist(), one.annotators.tolist(), one.labels.tolist()] for one in votes]
    assert first and others == [first, first]


def by_class(one: dict[str, str]) -> dict[str, list[str]]:
    return {label: [who for who, said in one.items() if said == label] for label in ("cat", "dog", "fox")}


def test_people_in_a_list_of_each_class_are_voters(tmp_path: Path) -> None:
    records = [{"name": f"item {k}", "votes": by_class(one)} for k, one in enumerate(ANSWERS)]
    path = write(tmp_path, "json", records)
    assert said(path) == [set(one.items()) for one in ANSWERS]
    assert_read_alike(path)


def test_lists_that_are_no_people_by_class_stay(tmp_path: Path) -> None:
    records = [
        {"name": f"item {k}", "parts": {"tags": ["red", "wet"][k % 2 :], "uses": ["eat", "sell"][: 1 + k % 2]}}
        for k in range(12)
    ]
    assert formats.read(write(tmp_path, "json", records)).annotations is None


def test_records_in_an_object_of_an_object_are_read(tmp_path: Path) -> None:
    path = tmp_path / "all.json"
    path.write_text(json.dumps({"about": {"of": [1]}, "results": {"version": 3, "results": rows("flat")}}))
    assert said(path) == [set(one.items()) for one in ANSWERS]


def test_boxes_of_one_person_are_no_answers() -> None:
    box = {"label": "cat", "creator": "ann"}
    assert reading_of([fields_in([box, box | {"label": "dog"}]) or []] * 6) is None


def test_an_object_of_objects_by_person_is_an_example_each(tmp_path: Path) -> None:
    path = tmp_path / "answers.json"
    path.write_text(json.dumps({f"item {k}": one for k, one in enumerate(ANSWERS)}))
    assert said(path) == [set(one.items()) for one in ANSWERS]


def test_an_answer_in_a_list_of_one_object_is_read_and_choices_come_first(tmp_path: Path) -> None:
    lines = [["annotation_id", "annotator", "id", "absicht", "lead_time", "rating"]]
    for k, one in enumerate(ANSWERS):
        for who, label in one.items():
            lines.append([str(len(lines)), who, str(k), label, "1.5", json.dumps([{"rating": 1 + len(lines) % 3}])])
    path = tmp_path / "export.csv"
    with path.open("w", newline="") as file:
        csv.writer(file).writerows(lines)
    asked = question(formats.columns(path))
    assert asked is not None
    first, second = (formats.read(path, options=ReadOptions(columns=dict(one))) for _, one in asked.answers[:2])
    assert first.class_names == ("cat", "dog", "fox") and second.class_names == ("1", "2", "3")


@pytest.mark.parametrize("kind", ["csv", "json"])
def test_objects_that_name_a_label_each_are_a_set(tmp_path: Path, kind: str) -> None:
    named = {name: {"id": f"L{k}", "name": name, "color": "ededed"} for k, name in enumerate(["bug", "docs", "ci"])}
    sets = [["bug"], ["bug", "docs"], ["ci"], ["docs", "ci"]] * 9
    records = [
        {"name": f"a title of {k} words", "items": [named[name] for name in some]} for k, some in enumerate(sets)
    ]
    path = write(tmp_path, kind, records)
    data = formats.read(path, columns={"items": "candidates"})
    assert data.candidates is not None
    found = [data.candidates.names(row) for row in range(len(sets))]
    assert [set(one) for one in found] == [set(one) for one in sets]


def test_samples_of_one_model_each_count(tmp_path: Path) -> None:
    drawn = [["cat", "cat", "dog"], ["fox", "fox", "fox"], ["dog", "cat", "dog"]] * 9
    records = [
        {"name": f"a prompt of {k} words", "samples": [{"answer": one, "logprob": -0.5} for one in some]}
        for k, some in enumerate(drawn)
    ]
    votes = formats.read(write(tmp_path, "json", records)).annotations
    assert votes is not None and len(votes.labels) == 3 * len(drawn)


@pytest.mark.parametrize("blank", [False, True], ids=["all answer", "some do not know"])
def test_who_and_what_are_told_by_what_they_hold_in_any_language(tmp_path: Path, blank: bool) -> None:
    records = [
        {
            "viesti": f"teksti {k}",
            "luokittelut": [
                {"kuka": who, "luokka": None if blank and at == k % 4 == 0 else "xyz"[(k + (k + at) // 7) % 3],
                 "aika": f"{k}.3. klo {k}:{at}"}
                for at, who in enumerate(("Aino", "Eero", "Olga"))
            ],
        }
        for k in range(30)
    ]  # fmt: skip
    votes = formats.read(write(tmp_path, "json", records)).annotations
    assert (
        votes is not None
        and {*votes.annotator_names} == {"Aino", "Eero", "Olga"}
        and votes.class_names == ("x", "y", "z")
    )
    assert votes.n_answers == (82 if blank else 90)


def test_a_verdict_that_could_not_be_read_is_no_answer_and_the_judged_text_is_none(tmp_path: Path) -> None:
    def judged(k: int, judge: int) -> dict[str, Any]:
        said = None if k == judge else ("good", "bad")[(k + k // 5 * judge) % 2]
        return {"verdict": said, "explanation": f"since {k}", "error": None, "tokens": k}

    records = [
        {"prompt": f"What is {k}?", "response": f"It is {k}.", "judges": {f"m{j}": judged(k, j) for j in range(3)}}
        for k in range(20)
    ]
    path = tmp_path / "judged.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    votes = formats.read(path).annotations
    assert votes is not None and {*votes.annotator_names} == {"m0", "m1", "m2"} and votes.n_answers == 57
    assert kind_of(path) == ""  # a response that is judged is no answer


@pytest.mark.parametrize("has_hard_label", [True, False])
def test_a_list_of_shares_is_of_classes_by_number(tmp_path: Path, has_hard_label: bool) -> None:
    """Where another column has the number of the largest, or a person says so."""
    rolls = np.random.default_rng(0)
    shares = rolls.dirichlet([1, 1, 1], 40).round(3)
    rows = [
        {"text": f"what text {k} says", "soft_label": one.tolist()}
        | ({"hard": int(one.argmax())} if has_hard_label else {})
        for k, one in enumerate(shares)
    ]
    path = tmp_path / "data.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    data = formats.read(path, columns={} if has_hard_label else {"soft_label": "candidates"})
    assert data.class_names == ("0", "1", "2") and data.prior is not None and not data.feature_names
    assert data.prior[:3] == pytest.approx(shares[0] / shares[0].sum(), abs=1e-3)


def test_several_who_said_the_same_may_stand_in_a_list() -> None:
    """As in reviews of Prodigy without their signature."""
    rows = [
        [{"by": ["ann", "bob"], "gist": "xy"[k % 2]}, {"by": ["cem", "dan"], "gist": "yx"[k % 3 > 0]}]
        for k in range(12)
    ]
    found = reading_of(rows)
    assert found is None or found.who == ("by",)


def test_a_list_of_people_beside_the_labels_of_a_text_says_who_gave_them(tmp_path: Path) -> None:
    """Though text, id and a list `labels` are what doccano exports."""
    said = [
        {"id": f"t{k}", "text": f"a letter of {k} words", "labels": [*one.values()], "raters": [*one]}
        for k, one in enumerate(ANSWERS)
    ]
    path = tmp_path / "letters.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in said), encoding="utf-8")
    votes = formats.read(path).annotations
    assert votes is not None and {*votes.annotator_names} == {"ann", "bob", "cleo"}


def test_how_sure_each_name_is_makes_no_classes_of_numbers(tmp_path: Path) -> None:
    path = tmp_path / "cases.csv"
    names = [[*dict.fromkeys(one.values())] for one in ANSWERS]
    with path.open("w", newline="", encoding="utf-8") as file:
        shares = ([str({name: 1 / len(some) for name in some}), str([3] * len(some)), str(some)] for some in names)
        csv.writer(file).writerows(
            [["case", "weighted", "how sure", "names"], *([f"c{k}", *one] for k, one in enumerate(shares))]
        )
    assert {*formats.read(path).class_names} == {"cat", "dog", "fox"}


def test_people_who_list_several_labels_each_are_voters(tmp_path: Path) -> None:
    said = [{"Kim": ["wren"], "Lee": ["wren", "tit"]}, {"Kim": ["tit", "owl"], "Lee": ["owl"], "Ada": ["owl"]}] * 9
    path = tmp_path / "heard.json"
    path.write_text(json.dumps([{"clip": f"c{k}", "opinions": one} for k, one in enumerate(said)]))
    data = formats.read(path)
    assert data.annotations is not None and {*data.annotations.annotator_names} == {"Kim", "Lee", "Ada"}
    assert data.class_names == ("owl", "tit", "wren") and data.sets().names(1) == ["owl", "tit"]


def test_lists_of_answers_beside_lists_of_people_need_no_brackets_and_no_known_word(tmp_path: Path) -> None:
    people, said = ["a1;a2;a3", "a3;a1;a4", "a2;a4;a1"] * 7, ["si;si;no", "no;no;no", "si;forse;si"] * 7
    rows = zip(map(str, range(21)), people, said, strict=True)
    path = tmp_path / "voti.csv"
    path.write_text("\n".join(",".join(row) for row in [("n", "chi", "cosa"), *rows]))
    data = formats.read(path)
    assert data.annotations is not None and data.annotations.n_answers == 63
    assert {*data.annotations.annotator_names} == {"a1", "a2", "a3", "a4"} and data.sets().names(1) == ["no"]


@pytest.mark.parametrize("way", ["two columns", "one object", "the first of many"])
def test_labels_beside_how_likely_each_is_are_candidates_with_that_prior(tmp_path: Path, way: str) -> None:
    birds = ["wren", "tit", "owl"]
    names = [[birds[(k + j) % 3] for j in range(3)] for k in range(30)]
    shares = [[0.6, 0.3, 0.1] if way != "the first of many" else [0.5, 0.25, 0.125]] * 30
    pairs = [{"classes": own, "scores": some} for own, some in zip(names, shares, strict=True)]
    records = [pair if way == "two columns" else {"net": pair} for pair in pairs]
    path = tmp_path / "heard.jsonl"
    path.write_text("\n".join(json.dumps({"clip": f"c{k}"} | one) for k, one in enumerate(records)))
    data = formats.read(path)
    assert data.class_names == ("owl", "tit", "wren") and data.annotations is None and data.prior is not None
    assert data.sets().names(0) == sorted(birds) and data.prior[:3].argmax() == 2  # the wren


@pytest.mark.parametrize("way", ["a list", "far inside"])
def test_objects_of_a_label_and_its_share_each_are_what_one_model_finds_likely(tmp_path: Path, way: str) -> None:
    rolls, records = random.Random(3), list[dict[str, Any]]()
    for k in range(30):
        shares = dict(zip(rolls.sample(["elm", "oak", "yew"], 3), [0.7, 0.295, 0.005], strict=True))
        found: list[dict[str, Any]] = [{"tree": name, "p": share} for name, share in shares.items()]
        if way == "far inside":
            found = [{"by": {"client_id": 5}, "reply": {"pages": [{"page": 0, "found": found}]}}]
        records.append({"leaf": f"leaf {k}", "reply": found})
    path = tmp_path / "leaves.jsonl"
    path.write_text("\n".join(json.dumps(one) for one in records))
    data = formats.read(path)
    assert data.class_names == ("elm", "oak", "yew") and data.annotations is None and data.prior is not None
    assert data.sets().sizes.tolist() == [2] * 30 and data.prior[:2].max() > 0.69


def test_the_likeliest_of_shares_is_made_of_them_and_may_be_named_inside_of_an_object(tmp_path: Path) -> None:
    birds = ["wren", "tit", "owl", "jay"]
    found = [
        [{"p": share, "taxon": {"name": birds[(k + j) % 4], "rank": "species"}} for j, share in enumerate((0.7, 0.2))]
        for k in range(24)
    ]
    records = [{"clip": f"c{k}", "best": some[0]["taxon"]["name"], "found": some} for k, some in enumerate(found)]
    data = formats.read(write(tmp_path, "json", records))
    assert data.class_names == tuple(sorted(birds)) and data.y is None and data.prior is not None
    assert data.sets().names(0) == ["tit", "wren"] and data.annotations is None


@pytest.mark.parametrize("way", ["lists", "semicolons", "uneven"])
def test_how_many_gave_each_label_may_be_listed_beside_the_labels(tmp_path: Path, way: str) -> None:
    rolls, birds, path = random.Random(4), ["wren", "tit", "owl", "jay"], tmp_path / "x.csv"
    said = [{bird: rolls.randint(1, 5) for bird in rolls.sample(birds, rolls.randint(1, 3))} for _ in range(40)]
    numbers = [[*some.values()] for some in said]
    if way == "uneven":
        numbers[7] = [*numbers[7], 2]
    listed = [("; ".join(some), "; ".join(map(str, n))) for some, n in zip(said, numbers, strict=True)]
    if way == "lists":
        listed = [(json.dumps([*some]), json.dumps(n)) for some, n in zip(said, numbers, strict=True)]
    rows = [[f"c{k}", f"{k % 7}.5", *row] for k, row in enumerate(listed)]
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([["clip", "loud", "labels", "n_votes"], *rows])
    data = formats.read(path)
    assert [{*data.sets().names(k)} for k in range(40)] == [{*some} for some in said]
    assert (data.annotations is None) == (way == "uneven")
    if data.annotations is not None:
        assert data.annotations.answers_per_row.tolist() == [sum(some) for some in numbers]


@pytest.mark.parametrize("own", ["motif", "recipe", "pages"])
def test_lists_without_brackets_that_repeat_no_more_than_by_chance_are_nobodys_answers(
    tmp_path: Path, own: str
) -> None:
    """Where people agree, each part is an answer."""
    rolls = random.Random(5)
    for people_agree in (False, True):
        kinds = [rolls.choice("ACGT") for _ in range(90)]
        said = [
            [kind if people_agree and rolls.random() < 0.8 else rolls.choice("ACGT") for _ in "12345"] for kind in kinds
        ]
        path = tmp_path / "table.csv"
        path.write_text(
            "\n".join([f"x,{own},label", *(f"{k}.5,{'; '.join(some)},{kinds[k]}" for k, some in enumerate(said))])
        )
        roles = {column.name: column.role for column in formats.columns(path)}
        assert (roles[own] == "answers") is people_agree


@pytest.mark.parametrize("way", ["two columns", "one object", "the first of many", "shares"])
def test_shares_of_what_no_true_label_is_called_are_no_candidates(tmp_path: Path, way: str) -> None:
    """What a rock is made of, or a text about: two kinds of classes would be one list."""
    made = [[("Si", "Fe", "Mg")[(k + j) % 3] for j in range(3)] for k in range(30)]
    shares = [[0.6, 0.3, 0.1] if way != "the first of many" else [0.5, 0.25, 0.125]] * 30
    pairs = [{"parts": own, "shares": some} for own, some in zip(made, shares, strict=True)]
    if way == "shares":
        pairs = [dict(zip(own, some, strict=True)) for own, some in zip(made, shares, strict=True)]
    records = [pair if way == "two columns" else {"made of": pair} for pair in pairs]
    path = tmp_path / "rocks.jsonl"
    path.write_text("\n".join(json.dumps({"w": k + 0.5, "label": "ab"[k % 2]} | one) for k, one in enumerate(records)))
    data = formats.read(path)
    assert data.class_names == ("a", "b") and data.y is not None and data.prior is None and data.X.shape == (30, 1)


def test_a_truth_by_the_ids_of_the_listed_candidates_is_one_of_their_labels(tmp_path: Path) -> None:
    rolls = random.Random(1)
    names = {f"Q{100 + k}": f"place {letter}" for k, letter in enumerate("abcdefgh")}
    records = list[dict[str, Any]]()
    for k in range(400):  # more than a sample: some ids come late
        some = rolls.sample(sorted(names)[: 4 if k < 300 else None], 3)
        listed = [{"qid": one, "title": names[one], "prior": rolls.random()} for one in some]
        records.append({"mention": f"m{k}", "n": k + 0.5, "candidates": listed, "gold_qid": some[k % 3]})
    path = tmp_path / "links.jsonl"
    path.write_text("\n".join(map(json.dumps, records)))
    data = formats.read(path, columns={"gold_qid": "true_label"})
    assert data.class_names == tuple(names.values()) and data.y is not None
    assert [data.class_names[y] for y in data.y] == [names[one["gold_qid"]] for one in records]

"""JSON lines: exact round trips, and files as people write them."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from pll import formats
from pll.dataset import PartialLabelDataset
from pll.errors import UserError
from pll.formats import FORMATS, ReadOptions, Results, json_objects
from pll.formats.limitations import cannot_hold
from pll.formats.reading import question

from .strategies import answers, check_held, rich_datasets


@given(data=rich_datasets())
def test_writing_then_reading_gives_everything_back(
    tmp_path_factory: pytest.TempPathFactory, data: PartialLabelDataset
) -> None:
    path: Path = tmp_path_factory.mktemp("round") / "data.jsonl"
    formats.write(data, path)
    again = formats.read(path, accept=("one-example",))  # a single line is asked about
    check_held(again, data, cannot_hold(data, FORMATS["jsonl"]))


LISTED = [[("anna", "cat"), ("bob", "dog")], [("anna", "cat")], []]


@pytest.mark.parametrize(
    ("field", "votes"),
    [
        ("annotations", [[{"annotator": who, "label": label} for who, label in row] for row in LISTED]),
        ("raw", [[{"rater": who, "answer": [label], "score": 0.5} for who, label in row] for row in LISTED]),
        ("votes", [dict(row) for row in LISTED]),
    ],
)
def test_votes_in_one_field_are_votes_and_stay_as_they_are(tmp_path: Path, field: str, votes: list[Any]) -> None:
    source, back = tmp_path / "in.jsonl", tmp_path / "back.jsonl"
    records = [{"id": f"r{k}", "x": k, field: some} for k, some in enumerate(votes)]
    source.write_text("\n".join(map(json.dumps, records)))
    data = formats.read(source)
    assert answers(data) == [(0, "anna", "cat"), (0, "bob", "dog"), (1, "anna", "cat")]
    assert data.feature_names == ("x",) and not data.extras
    formats.give_back(source, back, Results(["r0"], {"identified_label": ["cat"], "confidence": ["1"]}))
    given = [json.loads(line) for line in back.read_text().splitlines()]
    assert given == [{**records[0], "label": "cat", "confidence": 1.0}, *records[1:]]


@pytest.mark.parametrize(
    "value",
    [
        {"cat": 2, "dog": 1},
        {"label": "cat", "confidence": 0.5},
        [{"start": 1, "label": "x"}],
        [{"user": "anna", "text": "I agree"}],
        {"user": "anna", "id": 3},
    ],
)
def test_other_objects_name_no_voters(tmp_path: Path, value: Any) -> None:
    (tmp_path / "in.jsonl").write_text("\n".join(json.dumps({"id": f"r{k}", "votes": value}) for k in range(4)))
    names = [column.name for column in formats.columns(tmp_path / "in.jsonl")]
    assert names == ["id", "votes"]


@pytest.mark.parametrize("name", ["options", "fields", "data", "text"])
def test_a_field_called_as_in_a_tool_does_not_make_the_file_its_export(tmp_path: Path, name: str) -> None:
    """Its ids, features and labels are read as those of any table."""
    labels = [["cat", "dog"], ["dog"], ["cat"]]
    own = {"fields": {"a": 1}, "data": {"a": 1}, "text": "a few words about it"}
    names = "options" if name == "options" else "labels"
    records = [{"key": f"k{i}", "width": i / 2, names: labels[i]} for i in range(3)]
    path = tmp_path / "mine.jsonl"
    path.write_text("\n".join(json.dumps(record | ({name: own[name]} if name in own else {})) for record in records))
    data = formats.read(path)
    assert data.row_ids.tolist() == ["k0", "k1", "k2"]
    assert data.feature_names == ("width",)
    assert [data.sets().names(i) for i in range(3)] == labels


SHAPED: dict[str, Callable[[list[dict[str, str]]], Any]] = {
    "list": lambda rows: rows,
    "inside": lambda rows: {"about": "x", "data": rows, "more": 1},
    "keyed": lambda rows: {f"i{k}": row for k, row in enumerate(rows)},
    "keyed in a field": lambda rows: {"made": "x", "all": {f"i{k}": row for k, row in enumerate(rows)}, "more": 1},
    "parts": lambda rows: {"train": rows[: len(rows) // 2], "dev": rows[len(rows) // 2 : -5], "test": rows[-5:]},
    "columns": lambda rows: {name: [row[name] for row in rows] for name in rows[0]},
    "indexed columns": lambda rows: {name: {str(k): row[name] for k, row in enumerate(rows)} for name in rows[0]},
}


@pytest.mark.parametrize("shape", SHAPED)
@pytest.mark.parametrize("first", ["id", "said"])
def test_a_file_is_of_one_shape_whatever_its_size(tmp_path: Path, shape: str, first: str) -> None:
    """pandas writes columns; of a large file only the beginning is looked at, which ends anywhere in it."""
    path = tmp_path / "data.json"
    for size in (20, 2000, 2600, 3600):
        rows = [{"id": f"i{k}", "said": f"{'a word ' * 70}{k}", "label": "xyx"[k % 3]} for k in range(size)]
        rows = [{name: row[name] for name in (first, *(other for other in row if other != first))} for row in rows]
        path.write_text(json.dumps(SHAPED[shape](rows)))
        assert json_objects.shape_of(path) == shape.removesuffix(" in a field")
        if size in (20, 3600):  # between these only the beginning ends elsewhere
            assert sum(1 for _ in json_objects.records(path)) == size


@pytest.mark.parametrize("test", [["cat", "dog"], ["cat", "dog"] * 8])
def test_parts_of_labels_alone_are_no_voters(tmp_path: Path, test: list[str]) -> None:
    (tmp_path / "data.json").write_text(json.dumps({"train": ["cat", "dog"] * 8, "test": test}))
    with pytest.raises(UserError, match="nothing says of what; bring lists of objects"):
        formats.read(tmp_path / "data.json")


def test_lists_called_as_parts_of_a_split_are_these(tmp_path: Path) -> None:
    path, out = tmp_path / "birds.json", tmp_path / "out.json"
    rows = [{"id": f"i{k}", "width": k / 7, "candidates": ["wren", "tit"][: 1 + k % 2]} for k in range(9)]
    path.write_text(json.dumps({"train": rows[:6], "test": rows[6:]}, indent=1))
    data = formats.read(path)
    assert data.is_test is not None and data.is_test.tolist() == [False] * 6 + [True] * 3
    assert data.row_ids.tolist() == [row["id"] for row in rows]
    formats.give_back(path, out, Results(["i0"], {"identified_label": ["tit"]}))
    assert json.loads(out.read_text()) == {"train": [rows[0] | {"label": "tit"}, *rows[1:6]], "test": rows[6:]}


def test_rows_of_a_viewer_have_the_names_of_their_classes(tmp_path: Path) -> None:
    label = {"names": ["plain", "sarcastic"], "_type": "ClassLabel"}
    features = [{"feature_idx": 0, "name": "text", "type": {"dtype": "string", "_type": "Value"}}]
    features += [{"feature_idx": 1, "name": "labels", "type": {"feature": label, "_type": "Sequence"}}]
    features += [
        {"feature_idx": 2, "name": "annotators", "type": {"feature": {"dtype": "string"}, "_type": "Sequence"}}
    ]
    people = [["a", "b", "c"], ["b", "c", "d"], ["a", "c", "d"]]
    row = [
        {"text": f"what {k} says of it all", "labels": [k % 2, -1, 0], "annotators": people[k % 3]} for k in range(12)
    ]
    rows = [{"row_idx": k, "row": one, "truncated_cells": []} for k, one in enumerate(row)]
    (tmp_path / "rows.json").write_text(json.dumps({"features": features, "rows": rows}))
    data = formats.read(tmp_path / "rows.json")
    assert data.class_names == ("plain", "sarcastic") and data.annotations is not None
    assert data.annotations.n_answers == 24 and data.texts is not None


def test_a_table_split_into_columns_and_data_may_say_more(tmp_path: Path) -> None:
    rows = [[f"s{k}", *("joy" if k % j else "fear" for j in (2, 3, 4))] for k in range(1, 13)]
    table = {
        "_type": "table",
        "column_types": {"params": {}},
        "columns": ["id", "bert", "roberta", "electra"],
        "data": rows,
    }
    (tmp_path / "a.table.json").write_text(json.dumps(table))
    data = formats.read(tmp_path / "a.table.json")
    assert len(data) == 12 and data.annotations is not None and data.annotations.n_annotators == 3


def test_an_object_of_objects_of_people_says_who_answered(tmp_path: Path) -> None:
    people = [f"W{k}" for k in range(6)]
    said = {
        f"c{k}.wav": {who: {"emotion": ("sad", "angry")[k % 2 or k == at]} for at, who in enumerate(people[k % 4 :])}
        for k in range(20)
    }
    (tmp_path / "detailed.json").write_text(json.dumps(said))
    data = formats.read(tmp_path / "detailed.json")
    assert len(data) == 20 and {*data.class_names} == {"angry", "sad"} and data.annotations is not None
    assert {*data.annotations.annotator_names} == {*people}
    assert len(data.annotations.labels) == sum(map(len, said.values()))


@pytest.mark.parametrize("around", [{}, {"season": "2021", "species": ["wren", "robin"], "by": {"site": "fen"}}])
@pytest.mark.parametrize("are_shares", [False, True])
def test_an_object_of_voters_of_objects_of_items_is_a_column_a_voter(
    tmp_path: Path, around: dict[str, Any], are_shares: bool
) -> None:
    """Whatever stands around it; and of how likely each class is the likeliest is the answer."""
    votes: dict[str, Any] = {
        who: {f"clip {k}": ("wren", "robin", "tit")[(k + (k % 5 == at)) % 3] for k in range(15)}
        for at, who in enumerate(("Ada", "Ben", "net"))
    }
    said = votes
    if are_shares:
        shares = {
            bird: dict.fromkeys(("wren", "robin", "tit"), 0.125) | {bird: 0.75} for bird in ("wren", "robin", "tit")
        }
        said = {who: {clip: shares[bird] for clip, bird in own.items()} for who, own in votes.items()}
    path = tmp_path / "heard.json"
    path.write_text(json.dumps(around | {"heard": said} if around else said, indent=1))
    data = formats.read(path)
    assert data.row_ids.tolist() == [*votes["Ada"]] and {*data.class_names} == {"wren", "robin", "tit"}
    read = data.annotations
    assert read is not None and read.n_answers == 45 and {*read.annotator_names} == {*votes}
    assert (read.scores is not None) == are_shares and data.sets().names(0) == ["robin", "wren"]
    formats.give_back(path, tmp_path / "out.json", Results([*votes["Ada"]], {"identified_label": ["tit"] * 15}))
    added = {"label": dict.fromkeys(votes["Ada"], "tit")}  # beside the voters, and no voter itself
    assert json.loads((tmp_path / "out.json").read_text()) == (around | {"heard": said} if around else said) | added


@pytest.mark.parametrize("shape", ["columns beside voters", "keyed", "lists"])
def test_what_stands_around_the_examples_is_about_them_or_says_what_codes_mean(tmp_path: Path, shape: str) -> None:
    """Functions of which each says one class only agree less with the others than with themselves."""
    texts = {f"t{k}": f"what somebody wrote, the {k}th time" for k in range(60)}
    said = {
        who: {key: f"R{at % 3}" if k % 3 == at % 3 or k % 11 == at else "ABSTAIN" for k, key in enumerate(texts)}
        for at, who in enumerate(("ann", "bob", "cem", "dan"))
    }
    rows = {key: {"text": text, "votes": {who: said[who][key] for who in said}} for key, text in texts.items()}
    names, people = {"R0": "hate", "R1": "fine", "R2": "unclear"}, [{"nick": who, "since": 2014} for who in said]
    around: dict[str, Any] = {"made": "today", "label_names": names, "versions": ["1.0", "1.1"]}
    around |= {
        "columns beside voters": {"texts": texts, "functions": said},
        "keyed": {"items": rows, "seeds": [1, 2]},
        "lists": {"people": people, "items": [{"key": key} | row for key, row in rows.items()]},
    }[shape]
    path = tmp_path / "all.json"
    path.write_text(json.dumps(around, indent=1))
    data = formats.read(path)
    assert data.texts is not None and data.texts.tolist() == [*texts.values()]
    answered = sum(one != "ABSTAIN" for own in said.values() for one in own.values())
    assert data.annotations is not None and data.annotations.n_answers == answered
    assert {*data.class_names} == {*names.values()}


def test_lists_of_answers_beside_the_records_are_columns(tmp_path: Path) -> None:
    rolls = random.Random(4)
    said = {who: [k % 3 if rolls.random() < 0.8 else rolls.choice([0, 1, 2, None]) for k in range(40)] for who in "abc"}
    items = [{"text": f"what somebody wrote, the {k}th time", "stars": k % 5} for k in range(40)]
    path = tmp_path / "run.json"
    names = {"0": "ash", "1": "oak", "2": "elm"}
    path.write_text(json.dumps({"label_names": names, "items": items, "answers": said, "seed": 1}))
    asked = question(formats.columns(path))
    data = formats.read(path, columns=dict(asked.answers[0][1]) if asked else {})
    assert data.annotations is not None and {*data.annotations.annotator_names} == {*said}
    assert data.annotations.n_answers == sum(one is not None for own in said.values() for one in own)
    assert {*data.class_names} == {"ash", "oak", "elm"} and data.texts is not None


@pytest.mark.parametrize("field", ["choices", "options", "answers"])
@pytest.mark.parametrize("are_words", [False, True])
def test_objects_of_choices_are_nobodys_answers(tmp_path: Path, field: str, are_words: bool) -> None:
    """Their keys are what others say of the row; where the truth says what stands at the keys, these are people."""
    rng, letters = random.Random(0), ["a", "b", "c"]
    rows = []
    for k in range(30):
        texts = ["high", "low", "level"] if are_words else [str(rng.randrange(40)) for _ in letters]
        rng.shuffle(texts)
        said = [letters[k % 3], letters[k % 3], rng.choice(letters), rng.choice(letters)]
        rows.append({"asked": f"where does lake {k} lie", field: dict(zip(letters, texts, strict=True)), "said": said})
    path = tmp_path / "quiz.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    data = formats.read(path)
    assert {*data.class_names} == {*letters} and field in data.extras and data.annotations is not None
    assert data.annotations.n_answers == 120
    votes = [
        row | {field: dict.fromkeys(letters, ("x", "y")[k % 2]), "truth": "xy"[k % 2]} for k, row in enumerate(rows)
    ]
    path.write_text("\n".join(json.dumps(row | {"said": row["said"][0]}) for row in votes))
    assert next(one.role for one in formats.columns(path) if one.name == field) == "answers"


def test_records_of_airtable_are_their_fields_and_what_is_attached(tmp_path: Path) -> None:
    """A record without a set has no such field."""
    kinds = ["Noctua comes", "Agrotis exclamationis", "Apamea monoglypha"]
    records = []
    for k in range(24):
        photo = [{"id": f"att{k}", "url": f"https://x.org/{k}", "filename": f"MT{k}.jpeg", "type": "image/jpeg"}]
        fields: dict[str, Any] = {"Specimen": f"MT-{k:03}", "Wing (mm)": 20.5 + k % 4, "Photo": photo}
        if k:
            fields["Candidate species"] = sorted(
                {kinds[k % 3], kinds[k * 7 % 3]} | ({kinds[0]} if k % 5 == 0 else set())
            )
        records.append({"id": f"rec{k}Qx", "createdTime": "2023-06-28T10:40:45.000Z", "fields": fields})
    (tmp_path / "moths.json").write_text(json.dumps({"records": records}))
    roles = dict[str, str]()
    while (asked := question(formats.columns(tmp_path / "moths.json", options=ReadOptions(columns=roles)))) is not None:
        roles |= asked.answers[0][1]
    data = formats.read(tmp_path / "moths.json", columns=roles)
    assert {*data.class_names} == {*kinds} and data.ids is not None and data.ids[3] == "MT-003"
    assert data.pictures is not None and data.pictures.names[3] == "https://x.org/3"
    assert data.feature_names == ("Wing (mm)",)


def test_what_letters_stand_for_is_nobodys_answer(tmp_path: Path) -> None:
    rows = [
        {
            "question": f"Which of these is said in the text number {k}?",
            "options": {letter: f"what {letter} says of {k}" for letter in "ABCD"},
            "answers": [*"AAB"] if k % 2 else [*"BBBC"],
        }
        for k in range(30)
    ]
    (tmp_path / "samples.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    data = formats.read(tmp_path / "samples.jsonl")
    assert {*data.class_names} == {*"ABC"} and "options" not in data.categories


def test_the_tables_of_a_database_in_one_file_are_joined(tmp_path: Path) -> None:
    objects = [{"object_id": str(k), "what": f"a chair of walnut, number {k}"} for k in range(30)]
    ratings = [
        {
            "rating_id": str(3 * k + u),
            "object_id": str(k),
            "user_id": str(u),
            "verdict": "real" if (k + (u == k % 3)) % 2 else "fake",
        }
        for k in range(30)
        for u in range(3)
    ]
    dump = [
        {"type": "header", "version": "5.1.1"},
        {"type": "database", "name": "db"},
        {"type": "table", "name": "objects", "data": objects},
        {"type": "table", "name": "ratings", "data": ratings},
    ]
    for content in (dump, {"objects": objects, "ratings": ratings}):
        path = tmp_path / "db.json"
        path.write_text(json.dumps(content))
        asked = question(formats.columns(path))
        data = formats.read(path, columns=dict(asked.answers[0][1]) if asked else {})
        assert len(data) == 30 and data.annotations is not None and data.annotations.n_annotators == 3
        assert data.texts is not None and {*data.class_names} == {"real", "fake"}
        assert "several tables" in FORMATS["jsonl"].no_place(path, ReadOptions())


def test_the_only_field_of_an_object_may_hold_the_examples_and_counts_of_any_name(tmp_path: Path) -> None:
    rolls = random.Random(1)
    said = [
        {"fun": 20 if k % 2 else rolls.randint(0, 3), "flat": rolls.randint(0, 3) if k % 2 else 19} for k in range(40)
    ]
    path = tmp_path / "export.json"
    path.write_text(
        json.dumps(
            {
                "posts": {
                    f"-N{k}": {"kop": f"headline number {k} of the day", "stemmen": one} for k, one in enumerate(said)
                }
            }
        )
    )
    data = formats.read(path)
    assert (
        len(data) == 40 and data.row_ids[0] == "-N0" and data.prior is not None and data.class_names == ("flat", "fun")
    )
    done = Results(data.row_ids.tolist(), {"identified_label": ["fun"] * 40})
    formats.give_back(path, tmp_path / "out.json", done)
    assert json.loads((tmp_path / "out.json").read_text())["posts"]["-N3"]["label"] == "fun"


def test_what_several_people_said_of_one_example_and_a_table_in_a_field_are_no_examples(tmp_path: Path) -> None:
    path = tmp_path / "one.jsonl"
    path.write_text(json.dumps({"votes": {who: {"label": "cat", "time": 3} for who in ("ann", "bob", "cyd")}}))
    assert json_objects.shape_of(path) == "lines"
    columns = {name: {str(k): f"{name} {k}" for k in range(12)} for name in "abcdefghijkl"}
    path.write_text(json.dumps({"data": columns}))
    assert json_objects.shape_of(path) != "keyed"
    path.write_text('{"$oid": "5f8a"}\n{"$oid": "5f8b"}\n')
    assert [record for _, record in json_objects.records(path)] == [{"id": "5f8a"}, {"id": "5f8b"}]


def test_a_list_of_objects_beside_an_object_of_objects_holds_the_examples(tmp_path: Path) -> None:
    kinds = {f"c{k}": {"name": f"kind {k}", "color": "#fff"} for k in range(12)}
    items = [{"text": f"what is said in {k}", "ann": "ab"[k % 2]} for k in range(30)]
    for content in ({"categories": kinds, "items": items}, {"items": items, "categories": kinds}):
        (tmp_path / "x.json").write_text(json.dumps(content))
        assert [record for _, record in json_objects.records(tmp_path / "x.json")] == items


@pytest.mark.parametrize("more", [{"u1": {"name": "n"}}, [{"text": "n"}]])
def test_what_follows_a_long_object_of_objects_is_not_dropped(tmp_path: Path, more: Any) -> None:
    posts = {f"-N{k}": {"text": f"{'a word ' * 70}{k}", "label": "x"} for k in range(2600)}
    path = tmp_path / "x.json"
    path.write_text(json.dumps({"posts": posts, "made": 1, "users": more}))
    with pytest.raises(UserError, match="'posts' holds objects, and 'users' beside it"):
        list(json_objects.records(path))
    path.write_text(json.dumps({"posts": posts, "made": 1}) + "\n}")
    with pytest.raises(UserError, match="after the end of the object"):
        list(json_objects.records(path))


def test_a_long_first_line_is_one_record(tmp_path: Path) -> None:
    tokens = {f"t{k}": {"start": k, "word": "y" * 500} for k in range(2600)}
    (tmp_path / "x.jsonl").write_text("".join(json.dumps({"tokens": tokens, "text": f"t{k}"}) + "\n" for k in range(3)))
    assert [record["text"] for _, record in json_objects.records(tmp_path / "x.jsonl")] == ["t0", "t1", "t2"]


def test_people_who_answered_stay_so_where_a_column_names_one_of_them(tmp_path: Path) -> None:
    """Choices of a question differ, as answers of people do not."""
    rng, people = random.Random(3), ["ann", "bob", "cy", "dee"]
    rows = []
    for k in range(40):
        votes = {who: "xyz"[k % 3] if rng.random() < 0.8 else rng.choice("xyz") for who in rng.sample(people, 3)}
        rows.append({"votes": votes, "editor": rng.choice([*votes])})
    path = tmp_path / "said.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    data = formats.read(path)
    assert data.annotations is not None and data.annotations.n_answers == 120 and data.class_names == ("x", "y", "z")


@pytest.mark.parametrize("kind", ["of examples", "of mixed fields", "beside records"])
def test_objects_of_objects_that_are_no_voters(tmp_path: Path, kind: str) -> None:
    """What people say of an example agrees; a record has numbers and words; beside records it is about them."""
    people = {f"w{k}": "cat" if k % 5 else "dog" for k in range(12)}
    other = {who: "fox" if who != "w3" else "dog" for who in people}
    mixed = {f"m{k}": k % 3 for k in range(12)} | {"kind": "low"}
    found: dict[str, Any] = {
        "of examples": {"a": people, "b": other, "c": people},
        "of mixed fields": {"a": mixed, "b": mixed | {"kind": "high"}, "c": mixed},
        "beside records": {
            "about": {"a": people, "b": people},
            "rows": [{"x": k + 0.5, "label": "xy"[k % 2]} for k in range(20)],
        },
    }[kind]
    path = tmp_path / "data.json"
    path.write_text(json.dumps(found))
    names = {column.name for column in formats.columns(path)}
    assert names == ({"x", "label"} if kind == "beside records" else {"id", *found["a"]})


@pytest.mark.parametrize("name", ["data", "input", "user_message"])
def test_an_object_of_what_there_is_to_read_is_its_fields(tmp_path: Path, name: str) -> None:
    """Also of what there is to read in it; what is about the answers stays closed."""
    rows = [
        {
            "key": f"k{k}",
            name: {"text": f"what {k} people said of the rain", "from": {"page": k}, "stars": k % 5},
            "rationale": {"text": f"it says so {k}"},
            "votes": {"ann": "ab"[k % 2], "bob": "ab"[k % 3 % 2]},
        }
        for k in range(30)
    ]
    path = tmp_path / "t.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    data = formats.read(path)
    assert data.texts is not None and data.texts[3] == "what 3 people said of the rain"
    assert "stars" in data.feature_names and data.annotations is not None and data.annotations.n_annotators == 2


def test_marks_of_features_are_nobodys_answer(tmp_path: Path) -> None:
    rows = [
        {"features": {"shout": k % 2 == 0, "smile": k % 3 == 0}, "votes": {"ann": "a", "bob": "ab"[k % 2]}}
        for k in range(30)
    ]
    path = tmp_path / "t.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    votes = formats.read(path).annotations
    assert votes is not None and {*votes.annotator_names} == {"ann", "bob"}

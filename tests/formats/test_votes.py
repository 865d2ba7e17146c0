"""Files of votes as tools write them: what is read, how answers become classes, and what is said of the rest."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from pll import formats
from pll.annotations import Annotations
from pll.catalog.sources import Source, joined_votes, source_of, with_own_votes
from pll.cli.main import main
from pll.dataset import PartialLabelDataset
from pll.errors import UserError
from pll.formats import ReadOptions
from pll.formats.answers import Answers
from pll.formats.odd import OddReading
from pll.formats.tabular.answer_cells import AnswerReader
from pll.formats.votes import VOTES_FORMAT, read_votes, with_votes


def lines(path: Path, records: list[dict]) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def batch(name: str, *texts: str, model: str = "gpt-5", logs: tuple[float, ...] = ()) -> dict:
    choices = [{"index": k, "message": {"role": "assistant", "content": text}} for k, text in enumerate(texts)]
    if logs:
        choices[0]["logprobs"] = {"content": [{"token": "x", "logprob": log} for log in logs]}
    return {
        "id": "b",
        "custom_id": name,
        "response": {"status_code": 200, "body": {"model": model, "choices": choices}},
    }


def answers_in(votes: Sequence[Answers]) -> list[tuple[str, str, str, float | None]]:
    """(example, person, cell, weight) of every answer, in the order of the file."""
    found = []
    for file in votes:
        ids, several = file.ids or list(map(str, range(file.n))), []
        for chunk in file.of("vote"):
            weights = np.full(len(chunk.row), math.nan) if chunk.weight is None else chunk.weight
            for row, example, who, code, weight in zip(
                chunk.row, chunk.example, chunk.who, chunk.codes, weights, strict=True
            ):
                score = None if math.isnan(weight) else float(weight)
                several.append((row, ids[example], file.people[who], chunk.cells[code], score))
        found += [(name, who, cell, score) for _, name, who, cell, score in sorted(several, key=lambda one: one[0])]
    return found


def test_batch_results(tmp_path: Path) -> None:
    failed = {"custom_id": "3", "response": None, "error": {"code": "server_error"}}
    path = lines(
        tmp_path / "out.jsonl", [batch("1", "cat", logs=(-0.1, -0.2)), batch("2", "dog", "dog", "cat"), failed]
    )
    votes = read_votes([path])
    assert votes[0].failed == 1
    assert answers_in(votes) == [
        ("1", "gpt-5", "cat", pytest.approx(math.exp(-0.3))),
        *(("2", "gpt-5", text, None) for text in ("dog", "dog", "cat")),
    ]
    assert all(chunk.are_attempts for chunk in votes[0].chunks)


def test_attempts_of_one_model_alone_are_answers_that_count(tmp_path: Path) -> None:
    said = {"1": "dog dog cat", "2": "cat cat cat", "3": "dog cat cat"}
    path = lines(tmp_path / "out.jsonl", [batch(name, *texts.split()) for name, texts in said.items()])
    data = with_own_votes(source_of(str(path))).load()
    assert data.annotations is not None and data.annotations.anonymous and data.annotations.n_answers == 9
    assert data.candidates is not None
    sets = {name: data.candidates.names(row) for row, name in enumerate(data.row_ids.tolist())}
    assert {name: sorted(some) for name, some in sets.items()} == {
        "1": ["cat", "dog"],
        "2": ["cat"],
        "3": ["cat", "dog"],
    }


def test_argilla_suggestions_and_label_studio_predictions(tmp_path: Path) -> None:
    argilla = [
        {"id": "a", "fields": {"text": "…"}, "suggestions": {"label": {"value": "cat", "score": 0.6, "agent": "m1"}}}
    ]
    (tmp_path / "argilla.json").write_text(json.dumps(argilla), encoding="utf-8")
    result = [{"type": "choices", "value": {"choices": ["dog"]}}]
    tasks = [{"id": 7, "data": {"text": "…"}, "predictions": [{"model_version": "m2", "score": 0.9, "result": result}]}]
    (tmp_path / "tasks.json").write_text(json.dumps(tasks), encoding="utf-8")
    votes = read_votes([tmp_path / "argilla.json", tmp_path / "tasks.json"])
    assert answers_in(votes) == [("a", "m1", "cat", 0.6), ("7", "m2", "dog", 0.9)]


def test_tables_and_probabilities(tmp_path: Path) -> None:
    (tmp_path / "models.csv").write_text("id,text,gpt,gpt_score,llama\na,x,cat,0.9,dog\nb,y,,,cat\n", encoding="utf-8")
    (tmp_path / "clf.csv").write_text("id,prob_cat,prob_dog\na,0.2,0.8\nb,,\n", encoding="utf-8")
    np.save(tmp_path / "net.npy", np.array([[0.1, 0.9]]))
    votes = read_votes([tmp_path / "models.csv", tmp_path / "clf.csv", tmp_path / "net.npy"])
    assert answers_in(votes) == [
        *(("a", "gpt", "cat", 0.9), ("a", "llama", "dog", None), ("b", "llama", "cat", None)),
        *(("a", "clf", "dog", 0.8), ("0", "net", "1", 0.9)),
    ]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("cat", "cat"),
        ("  CAT.\n", "cat"),
        ("guinea_pig", "guinea pig"),
        ('{"answer": "Dog", "reason": "barks"}', "dog"),
        ('```json\n{"label": "cat"}\n```', "cat"),
        ('Here it is:\n```json\n{"label": "cat"}\n```', "cat"),
        ('{"labels": ["dog"]}', "dog"),
        ('{"label": ["cat", "dog"]}', "cat dog"),
        ('{"kind": "cat", "sure": 0.9}', "cat"),
        ("<think>cat? or dog?</think>\nFinal answer: dog", "dog"),
        ("maybe cat\n</think>\ndog", "dog"),
        ("<think>maybe a cat, or", ""),
        ("<answer>Dog</answer>", "dog"),
        ("**Label:** cat", "cat"),
        ("答案：cat", "cat"),
        ("Dog 🐶 (90%)", "dog"),
        ("B. dog", "dog"),
        ("cat, dog", "cat dog"),
        ("either a dog or a cat", "cat dog"),
        ("a Guinea Pig, I think", "guinea pig"),
        ("cat/dog", "cat dog"),
        ("Ｃａｔ", "cat"),
        ("doggy or a pig", ""),
        ("(B)", ""),
        ("I cannot tell", ""),
        ("{broken", ""),
        ("", ""),
    ],
)
def test_an_answer_is_a_class_or_the_classes_it_names(text: str, found: str) -> None:
    names, _ = AnswerReader(("cat", "dog", "guinea pig")).read(text) or ((), 0)
    assert " ".join(names) == found


def test_several_classes_in_one_answer_are_a_set(tmp_path: Path) -> None:
    data = PartialLabelDataset(X=np.ones((2, 1)), ids=np.array(["1", "2"]), class_names=("cat", "dog", "fox"))
    file = lines(tmp_path / "a.jsonl", [batch("1", "a cat or a dog"), batch("2", "fox")])
    voted = with_votes(data, read_votes([file]))
    assert [voted.sets().names(row) for row in (0, 1)] == [["cat", "dog"], ["fox"]]
    assert voted.annotations is not None and voted.annotations.n_answers == 2


def test_what_both_models_say_where_they_cannot_tell_is_no_class() -> None:
    samples = Path(__file__).parents[2] / "assets" / "votes"
    source = joined_votes([Source(path.name, str(path)) for path in sorted(samples.glob("model-*.jsonl"))])
    data = source.load()
    assert data.class_names == ("negative", "neutral", "positive")
    assert any("I cannot tell from this text. (2)" in note for note in data.notes)


def test_votes_join_the_data_on_the_id(tmp_path: Path) -> None:
    data = PartialLabelDataset(
        X=np.ones((3, 2)), y=np.array([0, 1, 0]), ids=np.array(["a", "b", "c"]), class_names=("cat", "dog")
    )
    path = lines(
        tmp_path / "out.jsonl", [batch("b", "Dog"), batch("a", "kitty"), batch("zz", "cat"), batch("a2", "no idea")]
    )
    voted = with_votes(data, read_votes([path]), answers={"kitty": "cat"})
    assert voted.row_ids.tolist() == ["a", "b", "c"]
    assert any(note.startswith("2 answers are of ids that the data does not have") for note in voted.notes)
    assert voted.unanswered is not None and voted.unanswered.tolist() == [False, False, True]
    assert [voted.sets().names(row) for row in (0, 1)] == [["cat"], ["dog"]]
    assert voted.y is not None and voted.y.tolist() == [0, 1, 0]
    assert voted.answered().row_ids.tolist() == ["a", "b"]
    annotations = with_votes(data, read_votes([path])).annotations
    assert annotations is not None and annotations.unmapped == (("kitty", 1),)


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("x.jsonl", '{"a": 1}\n', "No column is a model's answers"),
        ("x.jsonl", '{"custom_id": "1", "response": {"body": {"choices": [3]}}}\n', "as its tool writes"),
        ("x.jsonl", '{"custom_id": "1", "error": "x"}\n', "1 requests failed"),
        ("x.csv", "id,text\n1,a\n", "No column"),
        (
            "x.csv",
            "id,m,m_score\n1,a,0.5\n2,b,high\n3,a,0.5\n4,b,0.5\n",
            "Row 3, column score of 'm' holds 'high': write a number",
        ),
        ("x.txt", "a", "no known format"),
    ],
)
def test_files_without_votes_are_refused_in_words(tmp_path: Path, name: str, text: str, words: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(UserError, match=words) as caught:
        read_votes([tmp_path / name])
    assert name in str(caught.value)


def test_from_files_of_votes_to_labels_in_one_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rng = np.random.default_rng(0)
    names = ["cat", "dog", "fox"]
    y = rng.integers(0, 3, 120)
    files = []
    for model, right in (("m1", 0.9), ("m2", 0.7), ("m3", 0.7)):
        labels = np.where(rng.random(120) < right, y, rng.integers(0, 3, 120))
        texts = [f" {names[k].upper()}." for k in labels[:118]] + ["I do not know", "unsure!"]
        rows = [batch(f"t{k}", text, model=model) for k, text in enumerate(texts)]
        files += ["--votes", str(lines(tmp_path / f"{model}.jsonl", rows))]
    run = tmp_path / "run"
    assert main(["fit", *files, "--answer", "unsure!=fox", "--out", str(run)]) == 0
    out = capsys.readouterr()
    assert "Read as no answer: I do not know (3)" in out.err
    assert json.loads(out.out.splitlines()[-1])["method"] == "dawid-skene"
    assert json.loads((run / "config.json").read_text())["run"]["source"]["answers"] == {"unsure!": "fox"}
    rows = (run / "labels.csv").read_text().splitlines()
    assert len(rows) == 1 + 119
    right = [line.split(",")[1].lower() == names[y[int(line.split(",")[0][1:])]] for line in rows[1:119]]
    assert np.mean(right) > 0.85
    assert main(["fit", *files, "--answer", "unsure!=fox", "--out", str(run), "--resume"]) == 0
    assert main(["fit", "--out", str(tmp_path / "none")]) == 2


def text_file(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_one_model_in_two_files_is_one_voter_for_other_examples_and_two_for_the_same(tmp_path: Path) -> None:
    first = lines(tmp_path / "part1.jsonl", [batch("1", "cat")])
    more = lines(tmp_path / "part2.jsonl", [batch("2", "dog")])
    again = [lines(tmp_path / name / "part1.jsonl", [batch("1", "dog")]) for name in ("a", "b")]
    voters = [worker for _, worker, *_ in answers_in(read_votes([first, more, *again]))]
    assert voters == ["gpt-5", "gpt-5", "gpt-5 (part1)", "gpt-5 (part1 2)"]


def test_votes_of_models_stand_beside_those_of_people(tmp_path: Path) -> None:
    data = PartialLabelDataset(
        X=np.ones((2, 1)),
        ids=np.array(["a", "b"]),
        annotations=Annotations.from_votes([[0, 0], [1, -1]], ["cat", "dog"], ["ann", "gpt-5"]),
    )
    annotations = with_votes(data, read_votes([lines(tmp_path / "x.jsonl", [batch("a", "dog")])])).annotations
    assert annotations is not None and annotations.annotator_names == ("ann", "gpt-5 (data)", "gpt-5")
    assert annotations.votes.toarray().tolist() == [[2, 1], [0, 1]]


def test_classes_are_guessed_from_what_several_voters_say_and_columns_of_words_are_no_voters(tmp_path: Path) -> None:
    rows = ["cat,Label: dog,refuses", "dog,Answer: cat,refuses", "cat,cat,refuses", "dog,dog,refuses"]
    table = "id,gpt,llama,comment\n" + "".join(f"{k},{row} {k}\n" for k, row in enumerate(rows))
    result = with_votes(None, read_votes([text_file(tmp_path / "models.csv", table)]))
    assert result.class_names == ("cat", "dog") and result.annotations is not None
    assert result.annotations.annotator_names == ("gpt", "llama") and not result.annotations.unmapped


BOTH = ReadOptions(columns={"ann": "annotator", "bob": "annotator"})


GRADES, LABELS = ("more so", "not so", "so"), ("not so", "so")


@pytest.mark.parametrize(("cell", "classes"), [("more so", GRADES), ("It is: so", LABELS)])
def test_a_class_is_no_other_with_a_word_before_it(tmp_path: Path, cell: str, classes: tuple[str, ...]) -> None:
    said = ["so"] * 20 + ["not so"] * 20 + [cell] * 10
    rows = [f"{k},{one},{said[k - k % 7]},{one if one != cell and k % 4 == 0 else ''}\n" for k, one in enumerate(said)]
    data = formats.read(text_file(tmp_path / "graded.csv", "task,ann,bob,true_label\n" + "".join(rows)), options=BOTH)
    assert data.class_names == classes
    assert (cell in " ".join(data.notes)) == (cell not in classes)  # what is read as another is said


@pytest.mark.parametrize(
    ("column", "cell"),
    [
        ("remarks", lambda k, said: f"seen on page {k}: {'not ' * (k % 2)}sure"),
        ("majority", lambda k, said: max(said, key=said.count)),
        ("minutes", lambda k, said: f"{k % 7}.{k % 3}"),
    ],
)
def test_a_file_of_votes_has_the_voters_that_it_has_as_data(
    tmp_path: Path, column: str, cell: Callable[[int, str], str]
) -> None:
    said = ["".join("xyz"[k % 3 if (k + j) % 4 else j] for j in range(3)) for k in range(40)]
    rows = [f"e{k},{','.join(one)},{cell(k, one)}" for k, one in enumerate(said)]
    path = text_file(tmp_path / "x.csv", "\n".join([f"name,ann,bob,cem,{column}", *rows]) + "\n")
    data, voted = formats.read(path).annotations, with_votes(None, read_votes([path])).annotations
    assert data is not None and voted is not None and data.annotator_names == voted.annotator_names
    assert data.votes.sum() == voted.votes.sum() and data.class_names == voted.class_names


def answers_of(paths: Sequence[Path], **options: Any) -> tuple[dict[tuple[str, str], str], PartialLabelDataset]:
    """(id, voter) → class of what files of votes say on their own, as they are read today."""
    voted = with_votes(None, read_votes(paths), **options)
    annotations = voted.annotations
    assert annotations is not None
    ids, classes = voted.row_ids.tolist(), voted.class_names
    triples = zip(annotations.rows, annotations.annotators, annotations.labels, strict=True)
    return {(ids[row], annotations.annotator_names[who]): classes[label] for row, who, label in triples}, voted


def test_class_numbers_are_whole_in_a_file_of_votes_as_in_a_table(tmp_path: Path) -> None:
    path = text_file(tmp_path / "x.csv", "id,annotator1,annotator2\na,1.0,1\nb,2.0,2\nc,,2\nd,1.0,1\ne,2.0,\nf,1.0,\n")
    answers, data = answers_of([path])
    assert data.class_names == ("1", "2") and set(answers.values()) == {"1", "2"}


def test_ids_that_are_not_in_the_data_are_named_once(tmp_path: Path) -> None:
    data = PartialLabelDataset(X=np.zeros((2, 1)), ids=np.array(["a", "b"]), class_names=("cat", "dog"))
    votes = read_votes([lines(tmp_path / "x.jsonl", [batch("t1", "cat", "dog"), batch("t2", "dog", "dog")])])
    with pytest.raises(UserError, match=r"No id of the votes \(t1, t2\)"):
        with_votes(data, votes)


def test_a_voter_asked_several_times_means_the_class_most_often_given(tmp_path: Path) -> None:
    """In three spellings it is the same class still."""
    asked = batch("1", "fox", "fox", '{"label": "cat"}', "Answer: cat", "**cat**", model="m")
    file = lines(
        tmp_path / "a.jsonl", [asked, batch("2", "fox"), batch("3", "cat"), batch("4", "fox"), batch("5", "cat")]
    )
    data = PartialLabelDataset(X=np.ones((5, 1)), ids=np.array(list("12345")), class_names=("cat", "fox"))
    voted = with_votes(data, read_votes([file]))
    annotations = voted.annotations
    assert annotations is not None and annotations.scores is not None
    one = (annotations.rows == 0).nonzero()[0][0]
    assert voted.class_names[annotations.labels[one]] == "cat" and annotations.scores[one] == pytest.approx(0.6)


def test_answers_to_other_questions_are_left_out_and_said(tmp_path: Path) -> None:
    urgent = {"value": "high", "agent": "rule"}
    records = [
        {"id": str(k), "fields": {"text": "x"}, "suggestions": {"topic": {"value": topic, "agent": "m"}}}
        for k, topic in enumerate(["cat", "dog", "cat", "dog"])
    ]
    for record in records[:3]:
        record["suggestions"] |= {"urgency": urgent}  # type: ignore[operator]
    path = lines(tmp_path / "argilla.jsonl", records)
    answers, voted = answers_of([path])
    assert list(answers.values()) == ["cat", "dog", "cat", "dog"]
    assert voted.annotations is not None and not voted.annotations.unmapped
    assert any("topic" in note and "urgency" in note for note in voted.notes)
    data = PartialLabelDataset(X=np.ones((4, 1)), ids=np.array(list("0123")), class_names=("high", "low"))
    other = with_votes(data, read_votes([path], data.class_names))
    assert other.annotations is not None and other.annotations.n_answers == 3
    assert other.class_names == ("high", "low")


def test_a_file_of_which_hardly_an_answer_is_a_class_is_refused(tmp_path: Path) -> None:
    table = "id,gpt\n" + "".join(f"{k},{'cat' if k == 0 else 'a bird'}\n" for k in range(100))
    with pytest.raises(UserError, match="Nobody annotated anything"):
        with_votes(None, read_votes([text_file(tmp_path / "a.csv", table)]), classes=("cat", "dog"))


VOTED = {"id": ["a", "b", "c", "d"], "gpt": ["Cat.", "dog", "It is a dog.", "cat"], "llama": ["cat", "cat", "dog", ""]}


@pytest.mark.parametrize("way", ["csv", "tsv", "xlsx", "parquet", "jsonl", "cp1252"])
def test_votes_come_from_a_table_of_any_format(tmp_path: Path, way: str) -> None:
    table, file = pd.DataFrame(VOTED), tmp_path / f"votes.{'csv' if way == 'cp1252' else way}"
    if way == "xlsx":
        table.to_excel(file, index=False)
    elif way == "parquet":
        table.to_parquet(file)
    elif way == "jsonl":
        table.to_json(file, orient="records", lines=True)
    else:
        text = table.to_csv(index=False, sep="\t" if way == "tsv" else ",")
        file.write_bytes(text.replace("cat", "kätzchen").encode(way) if way == "cp1252" else text.encode())
    cat = "kätzchen" if way == "cp1252" else "cat"
    answers, voted = answers_of([file], classes=(cat, "dog"))
    assert {key: label.replace(cat, "cat") for key, label in answers.items()} == {
        **{("b", "gpt"): "dog", ("c", "gpt"): "dog", ("d", "gpt"): "cat"},
        **{("a", "llama"): "cat", ("b", "llama"): "cat", ("c", "llama"): "dog"},
        **({("a", "gpt"): "cat"} if way != "cp1252" else {}),
    }
    assert voted.annotations is not None and len(voted.annotations.unmapped) == (way == "cp1252")


def test_a_file_of_votes_is_read_as_the_same_table_is(tmp_path: Path) -> None:
    """Marks of no answer, lists of answers, counts, questions and forms: by the same code."""
    ways = {
        "marks.csv": "id,lf_a,lf_b\n" + "".join(f"{k},{k % 2},{-1 if k % 3 else k % 2}\n" for k in range(12)),
        "lists.jsonl": "".join(
            json.dumps({"id": str(k), "annotations": ["cat", "dog"][:n], "annotators": ["a", "b"][:n]}) + "\n"
            for k, n in enumerate([1, 2] * 6)
        ),
        "counts.csv": "id,cat,dog,total\n" + "".join(f"{k},{k % 4},{3 - k % 4},3\n" for k in range(12)),
    }
    for name, text in ways.items():
        path = text_file(tmp_path / name, text)
        data, voted = formats.read(path), with_votes(None, read_votes([path]))
        assert voted.class_names == data.class_names and voted.sets() == data.sets()
        assert (voted.annotations is None) == (data.annotations is None)
        if data.annotations is not None and voted.annotations is not None:
            assert voted.annotations.annotator_names == data.annotations.annotator_names
            assert (voted.annotations.votes != data.annotations.votes).nnz == 0


def test_a_file_a_person_with_one_column_of_labels_is_that_person(tmp_path: Path) -> None:
    rows = {"amy": ["cat", "dog", "cat"], "ben": ["cat", "dog", "dog"]}
    for who, labels in rows.items():
        lines = "".join(f"{k},what number {k} says here,{label}\n" for k, label in enumerate(labels))
        text_file(tmp_path / f"{who}.csv", f"id,text,label\n{lines}")
    answers, data = answers_of([tmp_path / "amy.csv", tmp_path / "ben.csv"])
    assert len(data) == 3
    assert answers == {(str(k), who): label for who, labels in rows.items() for k, label in enumerate(labels)}


def test_files_without_ids_are_joined_by_row_unless_all_their_numbers_are_ids(tmp_path: Path) -> None:
    np.save(tmp_path / "net.npy", np.array([[0.9, 0.1], [0.2, 0.8], [0.3, 0.7]]))
    for ids in (["1", "2", "3"], ["2", "1", "0"]):
        data = PartialLabelDataset(X=np.zeros((3, 1)), ids=np.array(ids), class_names=("cat", "dog"))
        other = text_file(tmp_path / "m.csv", "id,gpt\n" + "".join(f"{one},cat\n" for one in ids))
        annotations = with_votes(data, read_votes([tmp_path / "net.npy", other])).annotations
        assert annotations is not None
        net = annotations.labels[annotations.annotators == annotations.annotator_names.index("net")]
        assert net.tolist() == ([0, 1, 1] if ids[0] == "1" else [1, 1, 0])


@pytest.mark.parametrize("mark", ["::", "-7__"])
def test_ids_that_name_the_voter_too_are_odd(tmp_path: Path, mark: str) -> None:
    rows = [
        batch(f"t{k}{mark}{name}", "cat" if k % 2 else "dog", model="m") for k in range(8) for name in ("ann", "bob")
    ]
    source = Source("out.jsonl", str(lines(tmp_path / "out.jsonl", rows)), format=VOTES_FORMAT)
    with pytest.raises(OddReading, match="two-names"):
        source.load()
    assert len(replace(source, options={"accept": ["two-names"]}).load()) == 16


@pytest.mark.parametrize("mark", ["::", "__", "#"])
def test_ids_that_name_the_run_beside_the_example_are_taken_apart(tmp_path: Path, mark: str) -> None:
    lines = [
        {
            "custom_id": f"t{k}{mark}run{run}",
            "result": {"message": {"model": "m", "content": [{"type": "text", "text": f"<label>{kind}</label>"}]}},
        }
        for k in range(12)
        for run, kind in enumerate(("cat" if k % 2 else "dog", "dog" if k % 3 else "cat"))
    ]
    path = tmp_path / "batch.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in lines))
    data = source_of(str(path))
    read = with_own_votes(data).load()
    assert len(read) == 12 and read.class_names == ("cat", "dog")
    assert read.annotations is not None and read.annotations.annotator_names == ("m run0", "m run1")
    assert any("t0" in note and "run0" in note for note in read.notes)


CLASSES = ("cat", "dog")


def said_of(data: PartialLabelDataset, path: Path) -> list[str]:
    """What the first voter of a file says of each example of the data."""
    people = with_votes(data, read_votes([path], data.class_names, data)).annotations
    assert people is not None
    return [CLASSES[k] for k in people.labels[people.annotators == 0][np.argsort(people.rows[people.annotators == 0])]]


@pytest.mark.parametrize(
    ("written", "column"),
    [
        (lambda k: f"img_{k}", "picture"),
        (lambda k: f"train\\img_{k}.jpeg", "file"),
        (lambda k: f"a text of some words, the {k}th", "said of"),
        (lambda k: f"scan {k * k}", "what"),
    ],
)
def test_votes_are_joined_on_whatever_names_the_examples(
    tmp_path: Path, written: Callable[[int], str], column: str
) -> None:
    data = PartialLabelDataset(
        X=np.ones((6, 1)),
        ids=np.array([f"img_{k}" for k in range(6)]),
        texts=np.array([f"a text of some words, the {k}th" for k in range(6)], dtype=object),
        extras={"scan": np.array([f"scan {k * k}" for k in range(6)], dtype=object)},
        class_names=CLASSES,
    )
    rows = "".join(f'"{written(k)}",{CLASSES[k % 2]},{CLASSES[k % 2]}\n' for k in (4, 1, 5, 0, 2, 3))
    path = text_file(tmp_path / "x.csv", f"{column},ann,bob\n{rows}")
    assert said_of(data, path) == [CLASSES[k % 2] for k in range(6)]


def test_rows_of_data_without_ids_may_be_counted_from_1(tmp_path: Path) -> None:
    data = PartialLabelDataset(X=np.ones((4, 1)), class_names=CLASSES)
    for first in (0, 1):
        rows = "".join(f"{k + first},{CLASSES[k // 2]},{CLASSES[k // 2]}\n" for k in (3, 1, 0, 2))
        assert said_of(data, text_file(tmp_path / "x.csv", f"id,ann,bob\n{rows}")) == ["cat", "cat", "dog", "dog"]


def test_votes_without_ids_have_a_row_for_each_example(tmp_path: Path) -> None:
    data = PartialLabelDataset(X=np.ones((4, 1)), ids=np.array(list("abcd")), class_names=CLASSES)
    path = text_file(tmp_path / "x.csv", "ann,bob\ncat,cat\ndog,cat\ncat,dog\n")
    with pytest.raises(UserError, match=r"3 rows of votes.* 4 rows; add its ids \(a, b, c\)"):
        said_of(data, path)
    text_file(path, "ann,bob\ncat,cat\ndog,cat\ncat,dog\ndog,dog\n")
    assert said_of(data, path) == ["cat", "dog", "cat", "dog"]


def test_what_a_model_says_that_did_not_answer_is_a_class_beside_one_other(tmp_path: Path) -> None:
    path = tmp_path / "papers.csv"
    for others, classes in (("accepted accepted", {"accepted", "refused"}), ("cat dog", {"cat", "dog"})):
        said = [others.split()[k % 2] if k % 25 else "refused" for k in range(100)]
        path.write_text("\n".join(["x,ann,bob,cy", *(f"{k}.5,{one},{one},{one}" for k, one in enumerate(said))]))
        assert {*formats.read(path).class_names} == classes

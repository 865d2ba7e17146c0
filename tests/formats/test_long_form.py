"""Tables of one answer a line: read where their names are usual, asked about under any other header."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from pll import formats
from pll.dataset import PartialLabelDataset
from pll.errors import UserError
from pll.formats import ReadOptions
from pll.formats.reading import Question, question
from pll.formats.roles import roles_of

from .test_forms import read_first

LABELS = np.array(["gut", "schlecht", "teils"])
PEOPLE = ("Anna", "Bert", "Chloé")


def lines(examples: int = 40, people: int = 3, *, seed: int = 0, right: float = 0.7) -> pd.DataFrame:
    """A line for each of `people` on each of `examples`, in order."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 3, examples)
    example = np.repeat(np.arange(examples), people)
    answers = np.where(rng.random(len(example)) < right, truth[example], rng.integers(0, 3, len(example)))
    names = [PEOPLE[k] if k < 3 else f"person {k}" for k in range(people)]
    return pd.DataFrame(
        {
            "Ticket": [f"T-{k:03}" for k in example],
            "Wer": np.tile(names, examples),
            "Urteil": LABELS[answers],
            "Kommentar": [f"what was written in the ticket of number {k}" for k in example],
            "gold": LABELS[truth[example]],
        }
    )


def asked_of(table: pd.DataFrame) -> Question | None:
    return question(roles_of([str(name) for name in table], [table[name].astype(str).tolist() for name in table]))


@pytest.mark.parametrize("order", ["Ticket", "Von", "mixed"])
def test_lines_under_other_names_are_asked_about_and_read_as_said(tmp_path: Path, order: str) -> None:
    table = lines(examples=230).rename(columns={"Wer": "Von"})
    table = table.sample(frac=1, random_state=0) if order == "mixed" else table.sort_values(order, kind="stable")
    table.to_csv(tmp_path / "lines.csv", index=False)
    open_question = question(formats.columns(tmp_path / "lines.csv"))
    assert open_question is not None
    explicit = dict(open_question.answers[0][1])
    assert explicit == {"Ticket": "task", "Von": "worker", "Urteil": "vote"}
    with pytest.raises(UserError, match="--column Urteil=vote --column Ticket=task --column Von=worker"):
        formats.read(tmp_path / "lines.csv")
    data = formats.read(tmp_path / "lines.csv", columns=explicit)
    assert len(data) == 230 and data.class_names == tuple(LABELS) and data.y is not None
    assert data.annotations is not None and data.annotations.n_answers == len(table)
    assert data.texts is not None and data.texts[0].endswith(str(int(data.row_ids[0].removeprefix("T-"))))


@pytest.mark.parametrize("grades", [False, True])
def test_lines_with_a_name_of_who_answered_and_words_that_agree_are_answers(tmp_path: Path, *, grades: bool) -> None:
    table = lines().drop(columns="gold").rename(columns={"Wer": "Annotator"})
    table["Urteil"] = table["Urteil"].replace({"gut": "1", "teils": "2", "schlecht": "3"} if grades else {})
    table.to_csv(tmp_path / "x.csv", index=False)
    assert question(formats.columns(tmp_path / "x.csv")) is None
    table.rename(columns={"Annotator": "Observer"}).to_csv(tmp_path / "y.csv", index=False)
    assert (question(formats.columns(tmp_path / "y.csv")) is not None) is grades  # numbers may be measured
    data = read_first(tmp_path / "x.csv")
    assert data.annotations is not None and data.annotations.annotator_names == PEOPLE and len(data) == 40


def test_a_text_that_repeats_is_asked_about(tmp_path: Path) -> None:
    table = lines(right=0.4).rename(columns={"Wer": "annotator", "Urteil": "label", "Kommentar": "text"})
    open_question = asked_of(table[["text", "annotator", "label"]])
    assert open_question is not None
    assert open_question.answers[0][1] == {"text": "task", "annotator": "worker", "label": "vote"}
    assert open_question.answers[1][1] == {"text": "text", "annotator": "keep", "label": "true_label"}


def told(folder: Path, table: pd.DataFrame) -> tuple[PartialLabelDataset, Mapping[str, str], str]:
    """The dataset by the first answer to each question, the roles given, and what was asked."""
    table.to_csv(folder / "lines.csv", index=False)
    roles, asked = dict[str, str](), ""
    while open_question := question(formats.columns(folder / "lines.csv", options=ReadOptions(columns=roles))):
        roles |= open_question.answers[0][1]
        asked += open_question.text
    return formats.read(folder / "lines.csv", columns=roles), roles, asked


@pytest.mark.parametrize(
    "names", ["Sache Leute Meinung Notiz gold", "設問 作業者 回答 備考 正解", "lp kto ocena opis wzorzec"]
)
@pytest.mark.parametrize("kind", ["words", "codes", "marks"])
def test_names_that_nobody_knows_are_told_by_structure(tmp_path: Path, names: str, kind: str) -> None:
    task, who, vote, *_ = header = names.split()
    table = lines().set_axis(header, axis=1).sample(frac=1, random_state=0)
    if kind == "codes":
        table = table.drop(columns=header[3:]).apply(lambda column: pd.factorize(column)[0] + 1)
    elif kind == "marks":
        table = table[[task, who]].join(pd.get_dummies(table[vote], dtype=int).add_prefix(f"{vote} "))
    data, roles, asked = told(tmp_path, table)
    assert (roles[task], roles[who], roles.get(vote, "vote")) == ("task", "worker", "vote") and asked
    assert data.class_names == (("1", "2", "3") if kind == "codes" else tuple(LABELS)) and not data.feature_names
    assert data.annotations is not None and data.annotations.n_annotators == 3 and len(data) == 40


@pytest.mark.parametrize("name", ["entered_by", "recorded by"])
def test_who_entered_an_answer_gave_it_though_some_did_so_twice(tmp_path: Path, name: str) -> None:
    table = lines().set_axis(["wound", name, "stage", "remark", "site"], axis=1).drop(columns=["remark", "site"])
    twice = pd.concat([table, table.iloc[:6].assign(stage=LABELS[0])])
    data, roles, asked = told(tmp_path, twice)
    assert asked and roles == {"wound": "task", name: "worker", "stage": "vote"}
    assert data.annotations is not None and data.annotations.n_annotators == 3 and len(data) == 40


def test_the_number_of_a_part_of_an_example_is_nobody(tmp_path: Path) -> None:
    """As of the pages of a letter: what counts the lines of each from 0 on gave no answers."""
    table = lines().set_axis(["letter", "page", "kind", "remark", "gold"], axis=1).drop(columns=["remark", "gold"])
    table["page"] = np.arange(len(table)) % 3
    asked = asked_of(table)
    assert asked is None or "who gave it" not in asked.text


@pytest.mark.parametrize(
    "names", [("poem1_id", "poem2_id"), ("word_a", "word_b"), ("use1", "use2"), ("left song", "right song id")]
)
@pytest.mark.parametrize("grades", [True, False])
def test_two_columns_of_the_same_things_name_an_example_together(
    tmp_path: Path, names: tuple[str, str], grades: bool
) -> None:
    """As of pairs that are compared: the one is no answer about the other, however often they come together."""
    table = lines(examples=60)
    pair = np.repeat(np.array([(one, other) for one in range(9) for other in range(one)] * 2)[:60], 3, axis=0)
    pair[108:] = 8 - pair[108:]
    told_by = pd.DataFrame({name: [f"thing {k}" for k in pair[:, at]] for at, name in enumerate(names)})
    told_by["annotator"], told_by["how near"] = table["Wer"], table["Urteil"]
    if grades:
        told_by["how near"] = pd.factorize(told_by["how near"])[0] + 1
    data, roles, asked = told(tmp_path, told_by)
    assert asked and roles == dict.fromkeys(names, "task") | {"annotator": "worker", "how near": "vote"}
    assert len(data) == len(told_by[[*names]].drop_duplicates()) and len(data.class_names) == 3


@pytest.mark.parametrize("first", ["numbers", "words"])
def test_what_lines_agree_on_most_comes_first_be_it_numbers_or_words(tmp_path: Path, first: str) -> None:
    """Another question is agreed on less; and of two names of an example the finer one is, as a rule of a situation."""
    table = lines(right=0.9).set_axis(["Sache", "Leute", "Meinung", "x", "y"], axis=1).drop(columns=["x", "y"])
    table["Stufe"] = lines(right=0.6, seed=1)["Urteil"]
    coded = "Stufe" if first == "words" else "Meinung"
    table[coded] = pd.factorize(table[coded])[0] + 1
    of = {name: k for k, name in enumerate(table["Sache"].unique())}
    table.insert(0, "Lage", [f"Lage {max(of[name], 1)}" for name in table["Sache"]])
    data, roles, asked = told(tmp_path, table)
    assert (roles["Sache"], roles["Leute"], roles["Meinung"]) == ("task", "worker", "vote") and "Stufe" in asked
    assert len(data) == 40 and len(data.class_names) == 3 and not data.feature_names


def test_lines_without_an_answer_do_not_hide_who_answered_what(tmp_path: Path) -> None:
    """As of a log of events, or of what is known of the examples; and a session is no person."""
    answered = lines().drop(columns=["Kommentar", "gold"]).set_axis(["Sache", "Leute", "Meinung"], axis=1)
    answered["Art"] = "antwort"
    answered["Sitzung"] = [f"{who}-{k // 30}" for k, who in enumerate(answered["Leute"])]
    known = pd.DataFrame(
        {"Sache": answered["Sache"].unique(), "Art": "stamm", "Leute": "", "Meinung": "", "Sitzung": ""}
    )
    data, roles, _ = told(tmp_path, pd.concat([known, answered]).sample(frac=1, random_state=0))
    assert (roles["Sache"], roles["Leute"], roles["Meinung"]) == ("task", "worker", "vote")
    assert data.annotations is not None and data.annotations.n_annotators == 3 and len(data) == 40


def test_roles_by_hand_win_over_the_answers_that_are_offered(tmp_path: Path) -> None:
    table = lines().set_axis(["Sache", "Leute", "Meinung", "Notiz", "gold"], axis=1).drop(columns=["Notiz", "gold"])
    table["Fall"], table["Person"] = table["Sache"].str.replace("T", "F"), [f"p{k % 3 + k // 60}" for k in range(120)]
    table.to_csv(tmp_path / "lines.csv", index=False)
    given = {"Fall": "task", "Person": "worker", "Meinung": "vote"}
    found = formats.columns(tmp_path / "lines.csv", options=ReadOptions(columns=given))
    assert {one.name: one.role for one in found if one.role in ("task", "worker", "vote")} == given


def test_turns_of_a_person_are_said_and_withdrawn_answers_do_not_count(tmp_path: Path) -> None:
    once = lines().drop(columns="gold").set_axis(["Sache", "Leute", "Meinung", "Notiz"], axis=1)
    turns = pd.concat(
        [
            once.assign(Gang=1),
            lines(seed=1)[["Urteil"]].set_axis(["Meinung"], axis=1).combine_first(once).assign(Gang=2),
        ]
    )
    data, roles, asked = told(tmp_path, turns)
    assert "Gang" in asked and roles["Gang"] == "keep" and data.annotations is not None
    assert data.annotations.n_annotators == 3 and "Gang" not in data.feature_names
    first = once[::4].assign(Meinung="teils", gilt="nein")
    data, roles, _ = told(tmp_path, pd.concat([first, once.assign(gilt="ja")]))
    assert roles["gilt"] == "state" and any("30 lines do not count" in str(note) for note in data.notes)
    alone, *_ = told(tmp_path, once)
    assert data.annotations is not None and alone.annotations is not None
    assert data.annotations.n_answers == alone.annotations.n_answers == 120


def test_what_a_site_counts_of_an_example_is_no_class(tmp_path: Path) -> None:
    table = lines().drop(columns="gold").set_axis(["Sache", "Leute", "Meinung", "Notiz"], axis=1)
    said = table.groupby("Sache")["Meinung"]
    agree, total = said.agg(lambda one: one.value_counts().iloc[0]), said.size()
    counted = {"n_agree": table["Sache"].map(agree), "n_differ": table["Sache"].map(total - agree)}
    data, roles, _ = told(tmp_path, table.assign(**counted))
    assert (roles["Sache"], roles["Leute"], roles["Meinung"]) == ("task", "worker", "vote")
    assert data.class_names == tuple(LABELS)


@pytest.mark.parametrize("tie", ["", "gut"])
def test_what_most_lines_say_is_no_truth_whatever_it_is_called(tmp_path: Path, tie: str) -> None:
    table = lines(right=0.5).drop(columns="gold").set_axis(["Sache", "Leute", "Meinung", "Notiz"], axis=1)
    most = table.groupby("Sache")["Meinung"].agg(lambda said: said.mode()[0] if len(said.mode()) == 1 else tie)
    data, _, asked = told(tmp_path, table.assign(Endstand=table["Sache"].map(most)))
    assert data.y is None and "Endstand" not in data.categories and ("Endstand" in asked) == bool(tie)


def test_other_tables_are_no_answers() -> None:
    rng = np.random.default_rng(0)
    months = np.tile([f"2024-{k:02}-01" for k in range(1, 13)], 20)
    panel = {
        "customer": np.repeat([f"C-{k}" for k in range(20)], 12),
        "month": months,
        "colour": rng.choice(["red", "blue"], 240),
    }
    assert asked_of(pd.DataFrame(panel)) is None  # dates are nobody
    kinds = {"a": np.repeat(list("abcdefgh"), 3), "b": ["x", "y", "z"] * 8, "kind": np.repeat(["p", "q"] * 4, 3)}
    assert asked_of(pd.DataFrame(kinds)) is None  # the same in every line of an example
    iris = pd.DataFrame({"width": rng.random(60), "height": rng.random(60), "species": rng.choice(LABELS, 60)})
    assert asked_of(iris) is None


@pytest.mark.parametrize("how", ["answers", "count", "probability"])
def test_lines_without_a_person_are_asked_about(tmp_path: Path, how: str) -> None:
    rng = np.random.default_rng(3)
    votes = rng.multinomial(4, [0.6, 0.3, 0.1], 40)
    votes[:, 0] += votes.sum(axis=1) == 0
    example, label = np.nonzero(votes)
    table = pd.DataFrame({"bild": [f"b{k}.png" for k in example], "urteil": LABELS[label]})
    if how == "answers":
        table = table.loc[table.index.repeat(votes[example, label])]
    else:
        table["wie oft"] = votes[example, label] if how == "count" else (votes[example, label] / 4).round(3)
    table.to_csv(tmp_path / "lines.csv", index=False)
    asked = question(formats.columns(tmp_path / "lines.csv"))
    assert asked is not None
    explicit = asked.answers[0][1]
    assert explicit == {"bild": "task", "urteil": "vote"} | ({} if how == "answers" else {"wie oft": how})
    data = formats.read(tmp_path / "lines.csv", columns=explicit)
    assert data.candidates is not None and data.prior is not None
    expected = votes / votes.sum(axis=1, keepdims=True)
    assert data.row_ids.tolist() == [f"b{k}.png" for k in range(40)]
    dense = np.zeros_like(expected)
    place = np.array([LABELS.tolist().index(name) for name in data.class_names])
    dense[data.candidates.rows, place[data.candidates.indices]] = data.prior
    assert np.allclose(dense, expected, atol=2e-3)


@pytest.mark.parametrize("header", ["item,rank,label,score", "image,n,label,confidence", "doc_id,k,candidate,prob"])
def test_a_line_is_a_label_and_how_sure_a_model_is_of_it(tmp_path: Path, header: str) -> None:
    rng = np.random.default_rng(5)
    sure = [np.sort(rng.uniform(0.1, 1, 3))[::-1].round(3) for _ in range(30)]
    rows = [
        f"b{k}.png,{at + 1},{LABELS[(k + at) % 3]},{one}" for k, some in enumerate(sure) for at, one in enumerate(some)
    ]
    (tmp_path / "x.csv").write_text("\n".join([header, *rows]))
    data = read_first(tmp_path / "x.csv")
    assert len(data) == 30 and data.annotations is None and data.y is None and not data.feature_names
    assert data.prior is not None
    assert np.allclose(
        [max(some) for some in data.prior.reshape(30, 3)], [some[0] / sum(some) for some in sure], atol=2e-3
    )


def test_the_third_reading_is_one_voter_more(tmp_path: Path) -> None:
    rolls, rows = random.Random(4), list[str]()
    for k in range(60):
        first, second = (rolls.choice(LABELS) for _ in range(2))
        rows.append(f"{k},{first},{second},{'' if first == second else rolls.choice(LABELS) * (k % 2)}")
    for header in ("nr,Erstbefund,Zweitbefund,Drittbefund", "nr,First reading,Second reading,Third reading"):
        (tmp_path / "x.csv").write_text("\n".join([header, *rows]))
        data = read_first(tmp_path / "x.csv")
        assert data.annotations is not None and data.annotations.n_annotators == 3 and data.y is None


def test_lines_of_a_consensus_are_no_voters(tmp_path: Path) -> None:
    rows = [f"c{k},{who},{LABELS[(k + at // 3) % 3]}" for k in range(20) for at, who in enumerate(["R1", "R2", "R3"])]
    rows += [f"c{k},Consensus,{LABELS[k % 3]}" for k in range(20)]
    (tmp_path / "x.csv").write_text("\n".join(["case_id,reader,finding", *rows]))
    data = formats.read(tmp_path / "x.csv", columns={"case_id": "task", "reader": "worker", "finding": "vote"})
    assert data.annotations is not None and data.annotations.annotator_names == ("R1", "R2", "R3")
    assert data.annotations.n_answers == 60 and any("Consensus" in note for note in data.notes)


@pytest.mark.parametrize("kind", ["recording", "sheet"])
def test_a_recording_and_the_time_in_it_name_the_example_together(kind: str) -> None:
    rng = np.random.default_rng(0)
    truth = {(f"{kind} {name}", at): LABELS[rng.integers(3)] for name in "pqrs" for at in range(30, 390, 30)}
    measured = {key: f"{rng.random():.4f}" for key in truth}
    every = [(who, *key) for who in PEOPLE for key in truth if rng.random() < 0.9]
    columns: dict[str, list[str | None]] = {
        "session": [f"{name}_{who}" for who, name, _ in every],
        "file": [name for _, name, _ in every],
        "observer": [who for who, _, _ in every],
        "second": [f"{at}.0" for _, _, at in every],
        "doing": [str(truth[n, at] if rng.random() < 0.8 else LABELS[rng.integers(3)]) for _, n, at in every],
        "mean_x": [measured[name, at] for _, name, at in every],
    }
    asked = question(roles_of(list(columns), list(columns.values())))
    assert asked is not None
    said = {role: {n for n, one in asked.answers[0][1].items() if one == role} for role in ("task", "worker", "vote")}
    assert said == {"task": {"file", "second"}, "worker": {"observer"}, "vote": {"doing"}}


def test_an_id_that_comes_again_in_some_lines_is_the_example(tmp_path: Path) -> None:
    rolls, rows = random.Random(1), list[str]()
    for k in range(100):
        kinds = ["Myrcia splendens", "Myrcia guianensis", "Eugenia punicifolia"]
        true = rolls.choice(kinds)
        for who in rolls.sample(["Rosa", "Mattos", "Sobral", "Lucas"], 1 + (k % 3 == 0) + (k % 5 == 0)):
            rows.append(
                f"SPF{9000 + 37 * k},{rolls.gauss(5, 2):.1f},{rolls.choice([true, true, *kinds])},{who},{1950 + k % 60}"
            )
    (tmp_path / "lines.csv").write_text("\n".join(["barcode,leaf_cm,determination,determined_by,year", *rows]))
    columns = formats.columns(tmp_path / "lines.csv", options=ReadOptions())
    roles = {one.name: one.role for one in columns} | dict(asked.answers[0][1] if (asked := question(columns)) else {})
    assert [roles[name] for name in ("barcode", "determination", "determined_by")] == ["task", "vote", "worker"]


def test_lines_in_any_order_without_a_header_are_answers(tmp_path: Path) -> None:
    """In the first rows most examples stand once."""
    rng = np.random.default_rng(8)
    truth = rng.integers(0, 2, 1000)
    example = rng.permutation(np.repeat(np.arange(1000), 5))
    said = np.where(rng.random(len(example)) < 0.85, truth[example], 1 - truth[example])
    turn = np.array([np.count_nonzero(example[:at] == k) for at, k in enumerate(example)])
    rows = zip(example, (7 * example + 11 * turn) % 60, said, strict=True)  # nobody answers twice
    text = "\n".join(f"w{who}\tt{k}\t{label}" for k, who, label in rows)
    (tmp_path / "crowd.tsv").write_text(text)
    asked = question(formats.columns(tmp_path / "crowd.tsv"))
    assert asked is not None
    assert dict(asked.answers[0][1]) == {"column 1": "worker", "column 2": "task", "column 3": "vote"}


@pytest.mark.parametrize(("marks", "left"), [(["false", "false", "true"], 80), (["false"] * 3, 120)])
def test_tainted_judgments_of_appen_do_not_count(tmp_path: Path, marks: list[str], left: int) -> None:
    table = lines(40, 3)
    table = table.rename(columns={"Ticket": "_unit_id", "Wer": "_worker_id", "Urteil": "tone", "Kommentar": "text"})
    table["_tainted"] = marks * 40
    table.drop(columns="gold").to_csv(tmp_path / "f1.csv", index=False)
    data = formats.read(tmp_path / "f1.csv")
    assert data.annotations is not None and len(data.annotations.labels) == left


def test_a_row_of_a_survey_that_is_the_key_is_the_truth_and_who_said_nothing_is_no_voter(tmp_path: Path) -> None:
    """A ring trial: laboratories in rows, samples in columns, the target values first."""
    rng = np.random.default_rng(11)
    kinds = np.array(["Eimeria", "Giardia", "negative"])
    known = rng.integers(0, 3, 24)
    said = np.where(rng.random((10, 24)) < 0.8, known, rng.integers(0, 3, (10, 24)))
    rows = [["Target", *kinds[known]], *([f"L{k}", *kinds[row]] for k, row in enumerate(said)), ["L99", *[""] * 24]]
    table = pd.DataFrame(rows, columns=["Lab code", *(f"Sample {k + 1}" for k in range(24))])
    table.to_csv(tmp_path / "ring.csv", index=False)
    roles = dict[str, str]()
    while (asked := question(formats.columns(tmp_path / "ring.csv", options=ReadOptions(columns=roles)))) is not None:
        roles |= asked.answers[0][1]
    data = formats.read(tmp_path / "ring.csv", columns=roles)
    assert data.annotations is not None and data.annotations.annotator_names == tuple(f"L{k}" for k in range(10))
    assert data.y is not None and [data.class_names[k] for k in data.y] == kinds[known].tolist()


def test_columns_called_as_sentences_are_what_people_were_asked_where_rows_were_sent(tmp_path: Path) -> None:
    rng = np.random.default_rng(12)
    truth = rng.integers(0, 2, 14)
    said = np.where(rng.random((30, 14)) < 0.85, truth, 1 - truth)
    words = np.array(["ironic", "not ironic"])[said]
    names = [f"[{k + 1:02}] {start} the train is late" for k, start in enumerate(["Great,", "Oh,"] * 7)]
    table = pd.DataFrame(words, columns=names)
    table.insert(0, "Timestamp", [f"2023-05-{k % 28 + 1:02} 10:{k:02}:00" for k in range(30)])
    table.insert(1, "Native speaker?", ["yes", "no", "yes"] * 10)
    table.to_csv(tmp_path / "form.csv", index=False)
    asked = question(formats.columns(tmp_path / "form.csv"))
    assert asked is not None and [*asked.answers[0][1].values()].count("item") == 14


def test_a_log_of_moderators_is_lines_of_answers_without_what_was_retracted(tmp_path: Path) -> None:
    rng = np.random.default_rng(13)
    rows = []
    for k in range(60):
        for who in rng.permutation(["farah", "lou", "kim"])[:2]:
            decision = ["Publish", "Hide"][int(rng.random() < 0.2) ^ k % 2]
            rows.append(
                [f"c{k}", f"what reader {k} wrote below it", who, decision, "yes" if rng.random() < 0.1 else ""]
            )
    names = ["comment_id", "comment_text", "moderator", "decision", "retracted"]
    pd.DataFrame(rows, columns=names).to_csv(tmp_path / "log.csv", index=False)
    data = formats.read(tmp_path / "log.csv")
    assert data.texts is not None and data.annotations is not None and {*data.class_names} == {"Publish", "Hide"}
    assert len(data.annotations.labels) == sum(row[-1] == "" for row in rows)


def test_boxes_of_several_findings_are_labels_of_one_reader(tmp_path: Path) -> None:
    """The number of a class beside its name is no second part of what names the example."""
    rng, names = np.random.default_rng(14), ["nodule", "effusion", "fibrosis", "none found"]
    rows = []
    for k in range(60):
        for who in rng.permutation(6)[:3]:
            first = k % 3
            for kind in dict.fromkeys([first, *rng.choice(3, int(rng.random() < 0.5))]):
                rows.append([f"im{k:02}", names[kind], int(kind), f"R{who}", *rng.integers(0, 900, 2)])
    header = ["image_id", "class_name", "class_id", "rad_id", "x_min", "y_min"]
    pd.DataFrame(rows, columns=header).to_csv(tmp_path / "boxes.csv", index=False)
    data = formats.read(tmp_path / "boxes.csv")
    assert len(data) == 60 and data.annotations is not None and data.annotations.n_annotators == 6
    assert {*data.class_names} == {*names[:3]} and not data.feature_names


def test_a_classification_that_differs_between_lines_of_one_report_is_an_answer(tmp_path: Path) -> None:
    table = lines(40, 3).drop(columns="gold")
    table = table.rename(
        columns={"Ticket": "Report", "Wer": "Auditor", "Urteil": "Classification", "Kommentar": "Text"}
    )
    table.to_csv(tmp_path / "audit.csv", index=False)
    asked = question(formats.columns(tmp_path / "audit.csv"))
    roles = {} if asked is None else dict(asked.answers[0][1])
    data = formats.read(tmp_path / "audit.csv", columns=roles)
    assert len(data) == 40 and data.annotations is not None and data.annotations.n_annotators == 3


def test_what_counts_the_rounds_of_a_log_is_not_learnt_from(tmp_path: Path) -> None:
    """Nor what was known in each of them; what is measured of the example is."""
    rolls, lines, score = random.Random(8), list[str](), [f"{0.4 + 0.05 * k:.2f}" for k in range(8)]
    for k in range(160):
        width, true = rolls.gauss(9, 3), rolls.choice(["cat", "dog", "fox"])
        for who in rolls.sample(["ann", "bob", "cem"], 2):
            label = true if rolls.random() < 0.8 else "dog"
            lines.append(f"{k // 20},s{k},{width:.2f},{who},{label},{score[k // 20]},{20 * (k // 20)}")
    path = tmp_path / "log.csv"
    path.write_text("\n".join(["iteration,sample_id,width,annotator,label,test_acc,so_far", *lines]), encoding="utf-8")
    assert formats.read(path).feature_names == ("width",)


def test_a_number_that_counts_the_texts_names_them_whatever_it_is_called(tmp_path: Path) -> None:
    """Though some texts are the same."""
    rolls, lines = random.Random(9), list[str]()
    for k in rolls.sample(range(1000, 1040), 40):
        text, true = f"the lamp of street {rolls.randrange(30)} is out again", rolls.choice(["light", "waste"])
        for who in ("ann", "bob", "cem"):
            lines.append(f"{who},{k},{text},{true if rolls.random() < 0.8 else 'road'}")
    path = tmp_path / "lines.csv"
    path.write_text("\n".join(["annotator,protocolo,mensagem,label", *lines]), encoding="utf-8")
    data = read_first(path)
    assert sorted(data.ids) == [str(k) for k in range(1000, 1040)] and data.texts is not None


def test_numbers_in_blocks_name_the_example_and_withdrawn_lines_are_no_second_answer(tmp_path: Path) -> None:
    """Clauses `1.1`, `1.2`, of which some have the same text; who withdraws an answer gives another."""
    rolls = random.Random(3)
    lines = ["Clause,Clause text,Reviewer,Risk,Status"]
    for k in range(40):
        clause, meant = f"{1 + k // 8}.{1 + k % 8}", rolls.choice(["low", "medium", "high"])
        for who in rolls.sample(PEOPLE, 3):
            said = meant if rolls.random() < 0.7 else "low"
            line = f"{clause},What the parties agreed on in {k // 2},{who},{{}},{{}}"
            lines += [line.format("high", "withdrawn")] * (rolls.random() < 0.2) + [line.format(said, "submitted")]
    path = tmp_path / "t.csv"
    path.write_text("\n".join(lines), encoding="utf-8")
    data = read_first(path)
    assert len(data) == 40 and {*data.class_names} == {"low", "medium", "high"}
    assert data.annotations is not None and data.annotations.n_answers == 120


def test_the_answer_that_test_questions_have_a_gold_label_of_may_be_about_a_person(tmp_path: Path) -> None:
    rows = [
        f"{k},false,w{w},{('male', 'female', 'brand')[(k + (w == k % 5)) % 3]},some words of user {k},,"
        for k in range(20)
        for w in range(5)
    ]
    rows += [f"99,true,w{w},{'male' if w else 'brand'},words of a shop,brand," for w in range(5)]
    path = tmp_path / "f1.csv"
    path.write_text("\n".join(["_unit_id,_golden,_worker_id,gender,description,gender_gold,gender_gold_reason", *rows]))
    data = formats.read(path)
    assert {*data.class_names} == {"male", "female", "brand"} and data.y is not None
    assert data.annotations is not None and data.annotations.n_answers == 105


def test_what_an_id_says_of_its_entry_names_no_example_and_counts_nothing(tmp_path: Path) -> None:
    """A line is a reading that is possible: the folio and the year stand in each line of an entry."""
    rolls = random.Random(5)
    lines = ["entry_id,folio,year,name,as_written,possible_occupation"]
    for k in range(90):
        name, written = rolls.choice(["Tho. Cole", "Mary Hext", "Wm Yeo"]), rolls.choice(["…er", "w..ver", "lab[..]er"])
        for said in rolls.sample(["weaver", "baker", "labourer", "tanner"], rolls.randint(1, 3)):
            lines.append(f"BR{k:04},f.{k // 9}r,{1700 + k // 5},{name},{written},{said}")
    path = tmp_path / "t.csv"
    path.write_text("\n".join(lines), encoding="utf-8")
    data = read_first(path)
    assert len(data) == 90 and {*data.class_names} == {"weaver", "baker", "labourer", "tanner"}
    assert data.prior is None or "year" not in data.reading["roles"] or data.reading["roles"]["year"] != "count"


def test_ids_that_could_be_seconds_are_no_days(tmp_path: Path) -> None:
    """What was searched for is of the example, though a number of ten digits says the same of it as a day would."""
    rows = [
        f"{1187000000 + k},w{w},{('yes', 'no')[(k + (w == k % 3)) % 2]},{('mayor', 'train', 'cinema')[k % 3]}"
        for k in range(60)
        for w in range(3)
    ]
    path = tmp_path / "f1.csv"
    path.write_text("\n".join(["_unit_id,_worker_id,relevance,query", *rows]))
    assert [*formats.read(path, accept=("chance",)).categories] == ["query"]


@pytest.mark.parametrize("answers", [("very offensive", "not offensive"), ("4202", "6307", "3926")])
def test_comments_have_ids_and_codes_of_four_digits_may_be_answers(tmp_path: Path, answers: tuple[str, ...]) -> None:
    """Nobody is called by a usual name, some withdrew an answer, and `comment` says no remark before `id`."""
    rolls = random.Random(4)
    lines = ["comment_id,comment_text,Officer,Heading,Status"]
    for k in range(60):
        meant = rolls.choice(answers)
        for who in rolls.sample(["J. Mwangi", "S. Aalto", "D. Novak", "P. Lund"], 3):
            line = f"c_{k},what somebody wrote below video number {k},{who}"
            lines += [f"{line},{rolls.choice(answers)},withdrawn"] * (rolls.random() < 0.2)
            lines.append(f"{line},{meant if rolls.random() < 0.8 else rolls.choice(answers)},submitted")
    path = tmp_path / "t.csv"
    path.write_text("\n".join(lines), encoding="utf-8")
    data = read_first(path)
    assert len(data) == 60 and {*data.class_names} == {*answers}
    assert data.annotations is not None and data.annotations.n_answers == 180 and data.texts is not None


@pytest.mark.parametrize(
    "names", ["case,what,Coder,cause_code,coded_at", "Nº caso,Texto,Tramitador,Código causa,Fecha"]
)
def test_codes_are_answers_and_the_shape_of_an_id_names_the_example(tmp_path: Path, names: str) -> None:
    """Some cases have the same text, which names none; a day is no answer, however many there are."""
    rolls, lines = random.Random(6), [names]
    for k in range(60):
        meant = rolls.choice(["A1", "C1", "R1"])
        for who in rolls.sample(["P. Ruiz", "M. Gil", "L. Paz", "A. Rey"], 3):
            code = meant if rolls.random() < 0.8 else rolls.choice(["A1", "C1", "R1"])
            lines.append(
                f"H23/{5600 + k},what was said of number {k // 2},{who},{code},2023-02-{1 + rolls.randrange(28)}"
            )
    path = tmp_path / "t.csv"
    path.write_text("\n".join(lines), encoding="utf-8")
    data = read_first(path)
    assert len(data) == 60 and data.class_names == ("A1", "C1", "R1") and data.texts is not None
    assert data.annotations is not None and data.annotations.n_annotators == 4


@pytest.mark.parametrize("handler", ["Sachbearbeiter", "handler", "verzamelaar", "scout"])
def test_who_has_a_case_may_be_who_answers(tmp_path: Path, handler: str) -> None:
    rolls, lines = random.Random(7), [f"Aktenzeichen;Schilderung;{handler};Schadenart"]
    for k in range(60):
        meant = rolls.choice(["Glas", "Feuer", "Sturm"])
        for who in rolls.sample(["Krüger", "Wolf", "Hofmann", "Becker"], 3):
            lines.append(f"SA-{k:03};was von Fall {k} erzählt wird;{who};{meant if rolls.random() < 0.8 else 'Glas'}")
    path = tmp_path / "t.csv"
    path.write_text("\n".join(lines), encoding="utf-8")
    data = read_first(path)
    assert data.annotations is not None and data.annotations.n_annotators == 4 and len(data) == 60


@pytest.mark.parametrize("several", [True, False])
def test_determinations_in_terms_of_darwin_core(tmp_path: Path, several: bool) -> None:
    """Of one line a specimen with the taxa that it may be, who named them is no voter."""
    rolls, taxa = random.Random(8), ["Salix alba", "Salix fragilis", "Salix euxina"]
    lines = ["catalogNumber\tleafLength_mm\tscientificName\tidentifiedBy\tdateIdentified"]
    for k in range(60):
        length = f"{rolls.gauss(60, 9):.1f}"
        for who in rolls.sample(["L. Lind", "P. Collins", "A. Ochoa"], 2 if several else 1):
            named = rolls.choice(taxa) if several else " | ".join(rolls.sample(taxa, rolls.randint(1, 3)))
            lines.append(f"HBG-{k:04}\t{length}\t{named}\t{who}\t{1900 + k}")
    path = tmp_path / "t.tsv"
    path.write_text("\n".join(lines), encoding="utf-8")
    data = read_first(path)
    assert len(data) == 60 and {*data.class_names} == {*taxa} and "leafLength_mm" in data.feature_names
    assert (data.annotations is not None) is several


def test_a_recording_and_the_number_of_a_part_are_one_key_beside_who_scored(tmp_path: Path) -> None:
    rolls, lines = random.Random(3), ["recording,epoch,scorer,stage,delta_power"]
    for name in ("PSG03", "PSG08", "PSG11", "PSG15"):
        for epoch in range(201, 226):
            stage, power = rolls.choice(["N1", "N2", "W"]), f"{rolls.gauss(20, 5):.2f}"
            for who in ("RPSGT_1", "RPSGT_2", "RPSGT_3"):
                said = stage if rolls.random() < 0.85 else rolls.choice(["N1", "N2", "W"])
                lines.append(f"{name},{epoch},{who},{said},{power}")
    path = tmp_path / "t.csv"
    path.write_text("\n".join(lines))
    data = read_first(path)
    assert len(data) == 100 and data.annotations is not None and data.annotations.n_annotators == 3
    assert data.feature_names == ("delta_power",)


def test_lines_of_what_was_measured_once_have_a_label_and_its_votes_each(tmp_path: Path) -> None:
    """Codes that come again, whatever they are called, name what all else was measured on."""
    rolls, birds = random.Random(6), ["Parus major", "Turdus merula", "Erithacus rubecula"]
    lines = ["segment,peak_freq_khz,species,n_votes"]
    for k in range(50):
        code, freq = f"XC{600000 + 17 * k}_{k:03}s", f"{rolls.uniform(2, 8):.2f}"
        lines += [f"{code},{freq},{bird},{rolls.randint(1, 9)}" for bird in rolls.sample(birds, rolls.randint(1, 3))]
    path = tmp_path / "t.csv"
    path.write_text("\n".join(lines))
    data = read_first(path)
    assert len(data) == 50 and {*data.class_names} == {*birds} and data.feature_names == ("peak_freq_khz",)
    assert data.row_ids.tolist()[0] == "XC600000_000s" and data.prior is not None


def test_sites_that_come_again_with_what_was_measured_there_are_no_examples(tmp_path: Path) -> None:
    rolls, species = random.Random(5), ["cat", "dog", "fox", "owl"]
    height = {f"S{k:02}": f"{rolls.random():.3f}" for k in range(1, 9)}
    sites = rolls.choices([*height], k=60)
    path = tmp_path / "t.csv"
    lines = [f"{k},{site},{height[site]},{rolls.choice(species)}" for k, site in enumerate(sites)]
    path.write_text("\n".join(["id,site,elevation,label", *lines]))
    data = formats.read(path)
    assert len(data) == 60 and data.y is not None and data.feature_names == ("elevation",)


def test_what_begins_below_the_first_line_is_of_an_answer_and_what_has_one_day_each_of_no_day(tmp_path: Path) -> None:
    rolls, lines = random.Random(4), ["specimen\tfound_on\thabitat\tidentifiedBy\tqualifier\tscientificName"]
    for k in range(60):
        taxon, habitat = rolls.choice(["Carex nigra", "Carex elata"]), rolls.choice(["wet meadow", "bog", "lake shore"])
        for at, who in enumerate(("E. Lund", "H. Kukk", "M. Soler")):
            said = taxon if rolls.random() < 0.8 else rolls.choice(["Carex nigra", "Carex elata"])
            doubt = "cf." if at == k % 3 and k % 2 else ""
            lines.append(f"S{k:03}\t{1950 + k}-05-{k % 28 + 1:02}\t{habitat}\t{who}\t{doubt}\t{said}")
    path = tmp_path / "t.tsv"
    path.write_text("\n".join(lines))
    data = read_first(path)
    assert len(data) == 60 and {*data.categories} == {"habitat"}


def test_an_id_that_is_called_as_a_persons_says_that_a_row_is_one(tmp_path: Path) -> None:
    rng = np.random.default_rng(13)
    truth = rng.integers(1, 5, 24)
    said = np.where(rng.random((50, 24)) < 0.8, truth, rng.integers(1, 5, (50, 24)))
    faces = [f"{'AF'[k % 2]}{k:02}{kind}" for k, kind in enumerate(("ANS", "DIS", "HAS", "SAS") * 6)]
    table = pd.DataFrame(said, columns=faces)
    table.insert(0, "ParticipantNr", range(101, 151))
    table.to_csv(tmp_path / "faces.csv", index=False)
    data = read_first(tmp_path / "faces.csv")
    assert len(data) == 24 and data.annotations is not None and data.annotations.n_annotators == 50


@pytest.mark.parametrize("name", ["Standard", "Wzorzec", "Reference"])
def test_the_standard_of_a_study_of_appraisers_is_the_truth(tmp_path: Path, name: str) -> None:
    """Though most say the same everywhere, since parts are easily told."""
    rolls, lines = random.Random(9), [f"Run,Part,Appraiser,Trial,{name},Rating"]
    for run, (part, who, trial) in enumerate((p, w, t) for t in (1, 2) for w in ("Ann", "Bo", "Cy") for p in range(30)):
        right = ("good", "flash", "bent")[part % 3]
        lines.append(f"{run},{part},{who},{trial},{right},{'flash' if rolls.random() < 0.06 else right}")
    path = tmp_path / "t.csv"
    path.write_text("\n".join(lines), encoding="utf-8")
    data = read_first(path)
    assert data.y is not None and (data.y >= 0).all() and data.annotations is not None
    assert data.annotations.n_annotators == 3


def test_a_question_filled_everywhere_is_the_answer_before_a_remark_that_hardly_anybody_made(tmp_path: Path) -> None:
    rolls = random.Random(8)
    lines = ["Clip ID,Rater ID,What is the mood of this note?,Anything else"]
    for k in range(50):
        mood = rolls.choice(["calm", "tense", "merry"])
        for who in "abcde":
            said = mood if rolls.random() < 0.8 else rolls.choice(["calm", "tense", "merry"])
            remark = rolls.choice(["too short", "cut off"]) if rolls.random() < 0.07 else ""
            lines.append(f"clip {k},{who},{said},{remark}")
    path = tmp_path / "t.csv"
    path.write_text("\n".join(lines), encoding="utf-8")
    data = formats.read(path)
    assert {*data.class_names} == {"calm", "tense", "merry"} and len(data) == 50
    assert data.annotations is not None and data.annotations.n_answers == 250


@pytest.mark.parametrize("kind", ["jsonl", "csv"])
def test_who_answered_may_stand_inside_of_an_object(tmp_path: Path, kind: str) -> None:
    rolls, rows = random.Random(9), list[dict[str, object]]()
    for k in range(30):
        meant = rolls.choice(["clear", "vague"])
        for who in ("kim", "lou", "max"):
            said = meant if rolls.random() < 0.8 else rolls.choice(["clear", "vague"])
            sent = {"app": "web", "username": who, "at": {"hour": rolls.randrange(24)}}
            rows.append({"note_id": f"n-{k:03}", "style": said, "sent": sent if kind == "jsonl" else json.dumps(sent)})
    path, table = tmp_path / f"notes.{kind}", pd.DataFrame(rows)
    path.write_text(table.to_csv(index=False) if kind == "csv" else table.to_json(orient="records", lines=True))
    data = read_first(path)
    assert data.annotations is not None and {*data.annotations.annotator_names} == {"kim", "lou", "max"}
    assert len(data) == 30 and data.annotations.n_answers == 90 and {*data.class_names} == {"clear", "vague"}


def test_a_text_that_two_lines_happen_to_have_makes_no_answer_of_a_line(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    y = rng.integers(3, size=40)
    y[38], y[39] = 0, 1
    table = pd.DataFrame({"text": [f"what stands in line {k}" for k in range(40)]})
    for who in ("ann", "ben", "cat"):
        table[who] = LABELS[(y + (rng.random(40) > 0.8)) % 3]
    table.loc[38:, ["text", "ann", "ben"]] = ["the same", LABELS[0], LABELS[0]]
    table.loc[38:, "cat"] = LABELS[:2]
    table["truth"] = [*LABELS[y[:20]], *[""] * 20]
    table.to_csv(tmp_path / "examples.csv", index=False)
    data = formats.read(tmp_path / "examples.csv")
    assert data.annotations is not None and data.y is not None
    assert data.annotations.annotator_names == ("ann", "ben", "cat")
    assert data.annotations.n_rows == 40


def test_a_cell_that_is_missing_in_the_first_line_is_no_reason_not_to_learn(tmp_path: Path) -> None:
    rolls, lines = random.Random(4), ["item,size,colour,worker,label"]
    for k in range(60):
        meant, size, colour = rolls.choice(["cat", "dog"]), f"{rolls.random():.2f}", rolls.choice(["red", "blue"])
        for at, who in enumerate(("ann", "bob", "cy")):
            said = meant if rolls.random() < 0.8 else rolls.choice(["cat", "dog"])
            is_missing = at == 0 and k in (1, 7)
            lines.append(f"i{k},{'' if is_missing else size},{'' if is_missing else colour},{who},{said}")
    path = tmp_path / "t.csv"
    path.write_text("\n".join(lines))
    data = read_first(path)
    assert data.feature_names == ("size",) and {*data.categories} == {"colour"}


def test_rows_that_were_sent_are_people_where_these_agree_on_each_column(tmp_path: Path) -> None:
    rolls, truth = random.Random(6), [random.Random(k).choice(LABELS) for k in range(24)]
    heads = [f"It was the {k}th day of the fair, and it rained" for k in range(24)]
    said = [[one if rolls.random() < 0.8 else rolls.choice(LABELS) for one in truth] for _ in range(13)]
    sent = [f"2023-05-{k + 1:02} 10:{k:02}:07" for k in range(13)]
    rows = [",".join([when, *some]) for when, some in zip(sent, said, strict=True)]
    (tmp_path / "x.csv").write_text("\n".join([",".join(["Timestamp", *(f'"{head}"' for head in heads)]), *rows]))
    data = formats.read(tmp_path / "x.csv")
    assert len(data) == 24 and data.annotations is not None and data.annotations.n_annotators == 13


def test_what_a_call_cost_is_nothing_to_read(tmp_path: Path) -> None:
    rolls = random.Random(7)
    rows = [
        {"id": f"p{k}", "judge": who, "verdict": rolls.choice(["tie", "a", "b"]), "usage": {"tokens": rolls.random()}}
        for k in range(20)
        for who in PEOPLE
    ]
    (tmp_path / "x.jsonl").write_text("\n".join(map(json.dumps, rows)))
    assert read_first(tmp_path / "x.jsonl").texts is None


def test_a_task_that_each_person_answers_again_and_again_is_a_question(tmp_path: Path) -> None:
    table = pd.concat([lines(seed=1).assign(task="tone"), lines(seed=2).assign(task="topic")])
    table = table.rename(columns={"Ticket": "item", "Wer": "worker", "Urteil": "label"})
    table["label"] = table["task"] + " " + table["label"]
    table[["item", "task", "worker", "label"]].to_csv(tmp_path / "lines.csv", index=False)
    with pytest.raises(UserError, match=r"several questions.*tone: tone gut …, topic: topic gut …"):
        formats.read(tmp_path / "lines.csv")


@pytest.mark.parametrize("called", ["duration_ms", "elapsed_ms"])
def test_how_long_a_call_is_is_learnt_from_and_how_long_an_answer_took_is_not(tmp_path: Path, called: str) -> None:
    rolls, table = random.Random(8), lines().drop(columns=["Kommentar", "gold"]).rename(columns={"Wer": "rater"})
    of_calls = [round(rolls.uniform(3, 9), 2) for _ in range(40)]
    is_of_call = called == "duration_ms"
    table[called] = [of_calls[k // 3] if is_of_call else round(rolls.uniform(3, 9), 2) for k in range(120)]
    table.to_csv(tmp_path / "x.csv", index=False)
    assert (called in read_first(tmp_path / "x.csv").feature_names) is is_of_call


def test_a_label_a_search_found_is_a_candidate_whatever_its_score(tmp_path: Path) -> None:
    rows = [
        f"q{k},my order of item {k} is lost,{LABELS[(k + at) % 3]},{at},{30 / (at + k)}"
        for k in range(1, 31)
        for at in (1, 2)
    ]
    (tmp_path / "x.csv").write_text("\n".join(["query_id,query,candidate_intent,rank,bm25_score", *rows]))
    data = read_first(tmp_path / "x.csv")
    assert data.candidates is not None and data.candidates.sizes.tolist() == [2] * 30 and not data.feature_names


def test_who_saw_a_thing_is_not_who_said_what_it_is(tmp_path: Path) -> None:
    rolls, rows = random.Random(8), ["sighting_id,observer,length_mm,identified_by,kind"]
    for k in range(40):
        kind, observer, length = rolls.choice(LABELS), rolls.choice(["Ada", "Bo"]), rolls.randint(9, 30)
        for who in rolls.sample(["kai", "lea", "mio", "nia"], 3):
            rows.append(f"{k},{observer},{length},{who},{kind if rolls.random() < 0.8 else rolls.choice(LABELS)}")
    (tmp_path / "x.csv").write_text("\n".join(rows))
    data = read_first(tmp_path / "x.csv")
    assert len(data) == 40 and data.annotations is not None and data.feature_names == ("length_mm",)
    assert {*data.annotations.annotator_names} == {"kai", "lea", "mio", "nia"}


@pytest.mark.parametrize(("who", "what", "is_read"), [("coder", "label_name", True), ("worker", "crop", False)])
def test_numbers_beside_a_label_of_an_annotator_are_of_the_answer_and_else_measured(
    tmp_path: Path, who: str, what: str, is_read: bool
) -> None:
    rolls, rows = random.Random(8), [f"field_id,soil,{who},{what},code,kg"]
    for k in range(40):
        label, soil = rolls.randrange(3), rolls.choice(["clay", "loam"])
        for person in rolls.sample(["kai", "lea", "mio", "nia"], 3):
            said = label if rolls.random() < 0.85 else rolls.randrange(3)
            rows.append(f"{k},{soil},{person},{LABELS[said]},{said},{rolls.uniform(3, 90):.1f}")
    (tmp_path / "x.csv").write_text("\n".join(rows))
    columns = formats.columns(tmp_path / "x.csv")
    assert any(column.asks for column in columns) is not is_read
    if is_read:
        assert formats.read(tmp_path / "x.csv").feature_names == () and len(read_first(tmp_path / "x.csv")) == 40

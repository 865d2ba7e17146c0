"""What each column is, what people said, and what is learnt from."""

from __future__ import annotations

import hashlib
import io
import json
import re
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from pll.ui.data import loader
from pll.ui.data.columns_form import ROLE_TITLES
from tests.page_helpers import button, correct, labels, said, understood
from tests.pages.test_shared_data import until_read

MESSY = """,Name,comment,width,ann_1,gold,
0,x-1,"a small round thing, red",1.5,apple,apple,
1,x-2,"a long yellow thing that bends",2.5,banana,banana,
2,x-3,"a small round thing, dark red",1.2,cherry,cherry,
"""


def bring(page: Any, name: str, content: bytes) -> Any:
    return page.file_uploader(key="uploader").set_value((name, content, "text/plain")).run()


def shown(page: Any) -> dict[str, str]:
    """By column, its role."""
    table = next(frame.value for frame in page.dataframe if "first cells" in frame.value)
    roles = {title: role for role, title in ROLE_TITLES.items()}
    return dict(zip(table["column"], table["is"].map(roles), strict=True))


def rows_of(page: Any) -> dict[str, list[str]]:
    """By column, the cells that stand below what it is taken for."""
    names = [box.label for box in page.selectbox if box.key and box.key.startswith("role-")]
    cells = [re.findall('title="([^"]*)"', one.proto.body) for one in page.get("html") if "title=" in one.proto.body]
    return dict(zip(names, cells, strict=True))


def told(page: Any, **roles: str) -> Any:
    """The page after roles were told, as the table of columns keeps them."""
    source = page.session_state["uploads"][0]
    page.session_state[f"columns-{source.sha256}-"] = roles
    return page.run()


def test_a_role_is_proposed_for_every_column_of_a_messy_table(open_page: Any) -> None:
    page = bring(open_page("data"), "messy.csv", MESSY.encode())
    assert understood(page).startswith("3 texts")
    assert shown(page) == {
        "unnamed 1": "id",
        "Name": "category",
        "comment": "text",
        "width": "feature",
        "ann_1": "annotator",
        "gold": "true_label",
        "unnamed 7": "ignore",
    }


def test_corrections_change_what_is_read_and_outlast_a_change_of_page(open_page: Any) -> None:
    page = bring(open_page("data"), "messy.csv", MESSY.encode())
    roles = {"unnamed 1": "ignore", "Name": "id", "ann_1": "annotator"}
    page = told(page, **roles)
    page = page.switch_page("../../pages/train.py").run().switch_page("../../pages/data.py").run()
    assert shown(page)["ann_1"] == "annotator"
    assert "1 person answered 3 times" in understood(page)
    source = chosen(page)
    assert source.options["columns"] == roles
    assert loader.dataset(source).row_ids.tolist() == ["x-1", "x-2", "x-3"]


def five() -> bytes:
    names, people = ("cat", "dog", "fox"), ["Ann", "Bob", "Cem", "Dan", "Eve"]
    rows = [[names[(k + (k % 5 == at)) % 3] for at in range(5)] for k in range(30)]
    table = [",".join(["id", "width", "colour", *people])]
    table += [f"e{k},{k}.5,{('red', 'blue')[k % 2]},{','.join(row)}" for k, row in enumerate(rows)]
    return "\n".join(table).encode()


def test_two_columns_of_one_vocabulary_are_asked_about_with_their_first_cells(open_page: Any) -> None:
    rows = [("late", "late"), ("lost", "lost"), ("late", "lost")] * 4
    table = "text,Anna,Bert\n" + "".join(f"some words about number {k},{a},{b}\n" for k, (a, b) in enumerate(rows))
    page = bring(open_page("data"), "people.csv", table.encode())
    question = next(radio for radio in page.radio if "Anna and Bert use the same words" in radio.label)
    assert question.value is None and not page.error and "Get labels" not in labels(page)
    assert rows_of(page)["Anna"] == ["late", "lost", "late"]
    page = role_above(page, "Anna").set_value("true_label").run()  # a role given by hand goes before a question
    assert shown(page)["Anna"] == "true_label"
    assert not any("use the same words" in radio.label for radio in page.radio)
    page = button(page, "As proposed").click().run()
    page = page.radio(key=question.key).set_value(0).run()
    assert "2 classes" in understood(page) and shown(page)["Bert"] == "annotator"
    page = page.radio(key=question.key).set_value(1).run()
    assert shown(page)["Anna"] == shown(page)["Bert"] == "category"


def test_a_line_for_each_answer_under_any_header_is_asked_about_in_one_click(open_page: Any) -> None:
    said = ["late", "late", "lost", "lost", "lost", "lost", "late", "late", "late"]
    lines = [(f"T-{k}", who, said[(3 * k + at) % 9]) for k in range(30) for at, who in enumerate("ABC")]
    table = "\n".join(["Ticket,Von,Urteil", *(",".join(line) for line in lines)])
    page = bring(open_page("data"), "lines.csv", table.encode())
    question = next(radio for radio in page.radio if "Is every line one answer" in radio.label)
    page = question.set_value(0).run()
    assert understood(page).startswith("30 examples, 2 classes")
    assert shown(page) == {
        "Ticket": "task",
        "Von": "worker",
        "Urteil": "vote",
    }


def test_spellings_are_joined_said_and_undone_with_a_click(open_page: Any) -> None:
    rows = [("late", "late", "lost"), ("Late ", "LATE", "late"), ("lost", "N/A", "lost"), ("lost", "lost", "?")] * 4
    rows += [("lost", "lost", "lost")] * 4
    table = "text,Anna,Bert,Chloé\n" + "\n".join(
        f"some words about {'abcde'[k % 5] * 3},{a},{b},{c}" for k, (a, b, c) in enumerate(rows)
    )
    page = bring(open_page("data"), "people.csv", table.encode())
    assert "2 classes (late, lost)" in understood(page)
    assert "LATE" in said(page) and "Read as no answer: " in said(page)
    page = button(page, "Undo").click().run()
    assert "6 classes" in understood(page)  # Late and LATE, late, lost, N/A, ?
    assert "Every answer stays as it is written." in said(page)
    page = button(page, "As proposed").click().run()
    settled = chosen(page)
    assert not settled.classes and "keep" not in settled.options
    page = page.switch_page("../../pages/data.py").run()
    page = correct(page, "Classes", ["lost"], "Become", "late")
    assert "lost → late" in said(page)
    page = button(page, "Undo").click().run()  # of the corrections first, where nothing is left to choose from
    assert "2 classes (late, lost)" in understood(page)
    page = correct(page, "Classes", ["late"], "Become", "(no answer)")
    assert re.search("Read as no answer: .*late", said(page))


@pytest.mark.parametrize("large", [10**6, 10], ids=["at once", "in the background"])
def test_ids_that_stand_twice_can_be_replaced_by_numbers(
    open_page: Any, monkeypatch: pytest.MonkeyPatch, large: int
) -> None:
    monkeypatch.setattr(loader, "LARGE_FILE", large)
    table = "id,width,candidates\na,1.5,x|y\na,2.5,x\nb,3.5,y\n"
    page = until_read(bring(open_page("data"), "twice.csv", table.encode()))
    assert "the same id" in page.error[0].value
    assert "--" not in page.error[0].value
    page = until_read(button(page, "Number the examples instead").click().run())
    assert understood(page).startswith("3 examples")
    button(page, "Settings").click().run()
    data = loader.dataset(page.session_state["choice"].source)
    assert data.row_ids.tolist() == ["0", "1", "2"] and data.extras["id"].tolist() == ["a", "a", "b"]


def test_a_workbook_of_several_sheets_asks_which_one(open_page: Any, tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    first, second = book.active, book.create_sheet("Second")
    first.title = "First"
    for sheet, label in ((first, "pear"), (second, "fig")):
        for row in [("Fall-Nr.", "width", "candidates"), *((k, k / 3, f"apple|{label}") for k in range(6))]:
            sheet.append(row)
    content = io.BytesIO()
    book.save(content)
    page = bring(open_page("data"), "book.xlsx", content.getvalue())
    assert shown(page)["Fall-Nr."] == "keep"  # each counts its own
    asked = next(box for box in page.selectbox if box.label == "Sheet")
    assert asked.options[1:] == ["First", "Second"]
    asked.set_value("Second").run()
    button(page, "Settings").click().run()
    chosen = page.session_state["choice"].source
    assert chosen.options == {"sheet": "Second"}
    assert loader.dataset(chosen).class_names == ("apple", "fig")


def test_the_question_whose_answers_are_the_labels_can_be_chosen(open_page: Any) -> None:
    def answer(question: str, label: str) -> dict[str, Any]:
        value = {"choices": [label]}
        return {"from_name": question, "to_name": "text", "type": "choices", "value": value}

    tasks = [
        {
            "id": k,
            "data": {"text": f"example {k} of a text"},
            "annotations": [{"completed_by": 1, "result": [answer("topic", "ab"[k % 2]), answer("tone", "xy"[k % 2])]}],
        }
        for k in range(6)
    ]
    page = bring(open_page("data"), "tasks.json", json.dumps(tasks).encode())
    asked = next(radio for radio in page.radio if "topic" in radio.label and "tone" in radio.label)
    assert len(asked.options) == 2 and "tone" in asked.options[1]
    asked.set_value(1).run()
    button(page, "Settings").click().run()
    assert loader.dataset(page.session_state["choice"].source).class_names == ("x", "y")


def test_a_table_without_anything_like_labels_is_told_what_to_add(open_page: Any) -> None:
    page = bring(open_page("data"), "t.csv", b"text\nthe first text there is\nthe second text there is\n")
    assert not page.error and any("no labels to start from" in warning.value for warning in page.warning)


def test_whether_a_column_that_names_candidates_is_the_true_label_is_asked(open_page: Any) -> None:
    rows = [f"{k / 7},{a}|{b},{a}" for k, (a, b) in enumerate([("fox", "owl"), ("owl", "elk"), ("elk", "fox")] * 5)]
    page = bring(open_page("data"), "animals.csv", ("x,animals,seen\n" + "\n".join(rows)).encode())
    asked = next(radio for radio in page.radio if "animals" in radio.label)
    assert "seen the true label" in asked.options[0]
    page = asked.set_value(1).run()
    assert shown(page)["seen"] == "keep"
    page = page.radio(key=asked.key).set_value(0).run()
    assert shown(page)["seen"] == "true_label" and loader.dataset(chosen(page)).y is not None


def chosen(page: Any) -> Any:
    """The source that Train would get."""
    button(page, "Settings").click().run()
    return page.session_state["choice"].source


def test_a_batch_of_a_crowd_platform_is_read_by_its_signature(open_page: Any) -> None:
    rows = "".join(f"W{k % 4},hit{k // 2},{'angry' if k % 3 else 'sad'}\n" for k in range(24))
    page = bring(open_page("data"), "turk.csv", f"WorkerId,HITId,Answer.emotion\n{rows}".encode())
    assert not page.radio and understood(page).startswith("12 examples, 2 classes (angry, sad), 4 people answered")
    assert "Read as a batch of Amazon Mechanical Turk" in said(page)


def role_above(page: Any, column: str) -> Any:
    """The choice above a column."""
    return next(box for box in page.selectbox if box.label == column and (box.key or "").startswith("role-"))


def test_corrected_roles_outlast_a_reload_but_no_new_upload(open_page: Any) -> None:
    name = hashlib.sha256(five()).hexdigest()[:16]
    page = role_above(bring(open_page("data"), "five.csv", five()), "Dan").set_value("keep").run()
    assert role_above(bring(open_page("data"), "five.csv", five()), "Dan").value == "annotator"
    page = open_page("data", open=name)
    assert role_above(page, "Dan").value == "keep" and "4 people answered 120 times" in understood(page)
    page = button(page, "As proposed").click().run()
    assert role_above(page, "Dan").value == role_above(open_page("data", open=name), "Dan").value == "annotator"


def test_the_answer_to_a_question_outlasts_a_reload(open_page: Any) -> None:
    said = ["late", "late", "lost", "lost", "lost", "lost", "late", "late", "late"]
    lines = [(f"T-{k}", who, said[(3 * k + at) % 9]) for k in range(30) for at, who in enumerate("ABC")]
    table = "\n".join(["Ticket,Von,Urteil", *(",".join(line) for line in lines)]).encode()
    page = bring(open_page("data"), "lines.csv", table)
    (asked,) = (radio for radio in page.radio if "one answer" in radio.label)
    told = understood(asked.set_value(0).run())
    again = open_page("data", open=hashlib.sha256(table).hexdigest()[:16])
    assert understood(again) == told and not any("one answer" in radio.label for radio in again.radio)


def test_several_columns_are_corrected_at_once_under_details(open_page: Any) -> None:
    table = "size,dent,scratch\n" + "".join(f"{k}.5,{k % 4},{k % 3 + 1}\n" for k in range(12))
    page = bring(open_page("data"), "votes.csv", table.encode())
    (warning,) = [one.value for one in page.warning if "no labels to start from" in one.value]
    assert "under *Details*" in warning and ROLE_TITLES["count"] in warning
    page = page.multiselect[0].set_value(["dent", "scratch"]).run()
    taken = next(box for box in page.selectbox if box.label == "Taken for")
    assert taken.value == "feature" and ROLE_TITLES["id"] not in taken.options  # which only one can be
    page = correct(page, "Columns", ["dent", "scratch"], "Taken for", "count")
    assert shown(page) == {"size": "feature", "dent": "count", "scratch": "count"}
    assert page.multiselect[0].value == [] and "2 classes (dent, scratch)" in understood(page)


def test_what_a_column_is_stands_above_it_and_is_changed_there(open_page: Any) -> None:
    page = bring(open_page("data"), "five.csv", five())
    assert {name: role_above(page, name).value for name in ("Ann", "colour")} == {
        "Ann": "annotator", "colour": "category",
    }  # fmt: skip
    page = role_above(page, "Dan").set_value("keep").run()
    assert "4 people answered 120 times" in understood(page)
    page = page.switch_page("../../pages/train.py").run().switch_page("../../pages/data.py").run()
    assert role_above(page, "Dan").value == "keep"
    page = role_above(page, "colour").set_value("true_label").run()
    assert shown(page)["colour"] == "true_label"
    page = button(page, "As proposed").click().run()
    assert "5 people answered 150 times" in understood(page)


def test_answers_are_seen_although_many_facts_stand_before_them(open_page: Any) -> None:
    facts = ["sent", *(f"fact {k}" for k in range(7))]
    rows = [
        [f"2024-03-{1 + k:02} 10:{k:02}", *["x", "y"][k % 2] * 7, *("abc"[(k * at) % 3] for at in range(9))]
        for k in range(12)
    ]
    header = [*facts, *(f"Which bird? [Photo {at}]" for at in range(9))]
    page = bring(open_page("data"), "form.csv", "\n".join(map(",".join, [header, *rows])).encode())
    assert any(name.startswith("Which bird?") for name in rows_of(page)) and "sent" in rows_of(page)


def test_a_question_shows_its_columns_and_waits_while_others_are_changed(open_page: Any) -> None:
    rows = [("late", "late"), ("lost", "lost"), ("late", "lost")] * 4
    words = [f"w{k}" for k in range(7)]
    lines = [
        ",".join([f"some words about number {k}", *(f"{word}{'ab'[k % 2]}" for word in words), *said])
        for k, said in enumerate(rows)
    ]
    table = "\n".join([",".join(["text", *words, "Anna", "Bert"]), *lines])
    page = bring(open_page("data"), "people.csv", table.encode())
    assert {"Anna", "Bert"} < set(rows_of(page)) and len(shown(page)) == 10
    assert [role_above(page, name).value for name in ("Anna", "w0")] == [None, "category"]
    page = role_above(page, "w0").set_value("keep").run()
    question = next(radio for radio in page.radio if "Anna and Bert use the same words" in radio.label)
    assert question.value is None and "Get labels" not in labels(page)
    page = question.set_value(0).run()
    assert shown(page)["w0"] == "keep" and "2 people answered" in understood(page)


def test_the_column_of_a_question_stays_in_sight_when_it_is_answered(open_page: Any) -> None:
    said_by = [["late", "lost", "open"][k % 3] for k in range(60)]
    rows = [
        f"t{k},2026-01-{1 + k % 28:02},the parcel of customer {k} with code {k * k},{'xyz'[k % 3]},{a},"
        f"{said_by[k - (k % 5 == 0)]},{a if k < 20 else ''}"
        for k, a in enumerate(said_by)
    ]
    page = bring(open_page("data"), "half.csv", "\n".join(["id,day,message,way,Ann,Bob,Cleo", *rows]).encode())
    (question,) = (radio for radio in page.radio if "Cleo has labels in 20 of 60 rows" in radio.label)
    page = question.set_value(1).run()
    assert role_above(page, "Cleo").value == "annotator" and "3 people answered" in understood(page)


def test_a_file_with_the_same_columns_is_read_as_the_last_one_on_request(open_page: Any) -> None:
    page = bring(open_page("data"), "five.csv", five())
    assert "As last time" not in " ".join(labels(page))
    page = role_above(page, "Dan").set_value("keep").run()
    page = correct(page, "Classes", ["fox"], "Become", "cat")
    button(page, "Settings").click().run()
    page = bring(open_page("data"), "more.csv", five().replace(b"red", b"green"))  # in another tab
    assert "5 people answered 150 times" in understood(page) and "3 classes" in understood(page)
    page = button(page, "As last time (five.csv)").click().run()
    assert "4 people answered 120 times" in understood(page) and "2 classes" in understood(page)
    assert role_above(page, "Dan").value == "keep"

"""Shared lessons: whose guesses they are, and a whole class at once."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from pll.errors import UserError
from pll.review import database as databases
from pll.review.database import Database
from pll.ui.learn import lessons as module
from pll.ui.learn.lessons import Lessons, guess_rows


@pytest.fixture
def lessons(database_url: str) -> Iterator[Lessons]:
    database = Database(database_url)
    yield Lessons(database)
    database.close()


def test_only_the_teacher_who_shared_it_reads_it(lessons: Lessons) -> None:
    lesson, key = lessons.share("ada@example.org")
    assert lessons.of_key(key, "ada@example.org") == lesson
    for wrong, person in ((key, "bob@example.org"), (key, ""), (lesson, "ada@example.org"), ("", "ada@example.org")):
        with pytest.raises(UserError, match="no lesson"):
            lessons.of_key(wrong, person)
    open_to_all, other = lessons.share("")
    assert lessons.of_key(other, "") == open_to_all != lesson
    assert lessons.exists(lesson) and not lessons.exists(key)


def test_a_class_of_thirty_at_once(lessons: Lessons, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(databases, "WRITE_SECONDS", 120.0)  # on a busy machine the disk takes long for 210 guesses
    lesson, key = lessons.share("")
    failed: list[BaseException] = []

    def work(student: int) -> None:
        try:
            for k in range(7):
                lessons.add(lesson, f"tab{student}", f"S{student}" * (student % 2), f"i{k}", "?", "a", "ab"[k % 2])
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=work, args=(student,)) for student in range(30)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    rows = guess_rows(lessons.guesses(lessons.of_key(key, "")))
    assert len(rows) == 210 and {row["student"] for row in rows} == set(range(1, 31))
    assert {row["attempt"] for row in rows} == {1} and sum(row["right"] for row in rows) == 30 * 4


def test_what_cannot_be_kept_is_cut_or_refused(lessons: Lessons, monkeypatch: pytest.MonkeyPatch) -> None:
    lesson, _ = lessons.share("")
    lessons.add(lesson, "t", "x" * 90, "i", "?\x00", "a", "b")
    (one,) = lessons.guesses(lesson)
    assert (len(one.name), one.question) == (40, "?")
    monkeypatch.setattr(module, "MOST_GUESSES", 1)
    with pytest.raises(UserError, match="hold"):
        lessons.add(lesson, "t", "", "i", "?", "a", "b")
    lessons.delete(lesson)
    with pytest.raises(UserError, match="deleted"):
        lessons.add(lesson, "t", "", "i", "?", "a", "b")
    assert lessons.guesses(lesson) == []

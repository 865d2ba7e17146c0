"""Shared lessons and the guesses of their students.

A student's link holds the id of the lesson, and lets them add guesses. The teacher's link holds a key, of which the
database keeps the hash alone; where people log in, the teacher's account is needed as well.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from pll.errors import UserError
from pll.review import tables
from pll.review.database import Database
from pll.review.store import now

LONGEST_NAME = 40
"""Characters of a student's name."""
MOST_GUESSES = 20_000
"""Maximum number of guesses of a lesson; a class of 30 with 10 questions makes 300."""
LONGEST_TEXT = 500


@dataclass(frozen=True)
class Guess:
    """What a student guessed.

    Attributes
    ----------
    student
        Random id of one student's tab.
    name
        Their name; "" for none.
    idea
        The screen with the question.
    question, choice, answer
        The question, the chosen answer and the right one, as texts.
    at
        When, UTC.
    """

    student: str
    name: str
    idea: str
    question: str
    choice: str
    answer: str
    at: datetime

    @property
    def is_right(self) -> bool:
        """Whether the choice is the answer."""
        return self.choice == self.answer


class Lessons:
    """The lessons of a database. Safe to share between threads.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> from pathlib import Path
    >>> lessons = Lessons(Database(Path(mkdtemp()) / "reviews.sqlite3"))
    >>> lesson, key = lessons.share("")
    >>> lessons.add(lesson, "tab", "Ada", "stuck", "Where?", "here", "there")
    >>> [(one.name, one.is_right) for one in lessons.guesses(lessons.of_key(key, ""))]
    [('Ada', False)]
    """

    def __init__(self, database: Database) -> None:
        self.database = database

    def share(self, owner: str) -> tuple[str, str]:
        """Store a new lesson; return its id, for students, and its key, for the teacher.

        Parameters
        ----------
        owner
            Id of the person; "" without a login.
        """
        lesson, key = secrets.token_urlsafe(9), secrets.token_urlsafe(24)
        values = {"id": lesson, "key_hash": _hashed(key), "owner": owner, "shared_at": now()}
        with self.database.write() as connection:
            connection.execute(sa.insert(tables.lesson).values(**values))
        return lesson, key

    def exists(self, lesson: str) -> bool:
        """Return whether there is a lesson of that id."""
        query = sa.select(sa.func.count()).where(tables.lesson.c.id == lesson)
        with self.database.read() as connection:
            return bool(connection.execute(query).scalar_one())

    def of_key(self, key: str, owner: str) -> str:
        """Return the id of the lesson of a teacher's key.

        Parameters
        ----------
        key
            As `share` gave it.
        owner
            Id of the requesting person; "" without a login.

        Raises
        ------
        UserError
            There is none, or it is another teacher's.
        """
        query = sa.select(tables.lesson.c.id, tables.lesson.c.owner).where(tables.lesson.c.key_hash == _hashed(key))
        with self.database.read() as connection:
            result = connection.execute(query).first()
        if result is None or (result.owner and result.owner != owner):
            raise UserError("There is no lesson behind this link; it may have been deleted, or is another teacher's.")
        return str(result.id)

    def add(self, lesson: str, student: str, name: str, idea: str, question: str, choice: str, answer: str) -> None:
        """Store a guess.

        Raises
        ------
        UserError
            The lesson has been deleted, or is full.
        """
        texts = {"name": name[:LONGEST_NAME], "idea": idea[:40], "question": question, "choice": choice}
        texts_stored = {field: _storable(text)[:LONGEST_TEXT] for field, text in (texts | {"answer": answer}).items()}
        here = tables.guess.c.lesson == lesson
        with self.database.write() as connection:
            query = sa.select(sa.func.count()).where(tables.lesson.c.id == lesson)
            if not connection.execute(query).scalar_one():
                raise UserError("This lesson has been deleted; your guess was not sent.")
            if connection.execute(sa.select(sa.func.count()).where(here)).scalar_one() >= MOST_GUESSES:
                raise UserError("This lesson has as many guesses as it can hold; yours was not sent.")
            connection.execute(
                sa.insert(tables.guess).values(lesson=lesson, student=student[:40], at=now(), **texts_stored)
            )

    def guesses(self, lesson: str) -> list[Guess]:
        """Return the guesses of a lesson, in the order in which they came."""
        query = sa.select(tables.guess).where(tables.guess.c.lesson == lesson).order_by(tables.guess.c.id)
        with self.database.read() as connection:
            return [_guess(row) for row in connection.execute(query).mappings()]

    def delete(self, lesson: str) -> None:
        """Delete a lesson with all of its guesses."""
        with self.database.write() as connection:
            connection.execute(sa.delete(tables.guess).where(tables.guess.c.lesson == lesson))
            connection.execute(sa.delete(tables.lesson).where(tables.lesson.c.id == lesson))


def guess_rows(guesses: Sequence[Guess]) -> list[dict[str, Any]]:
    """Return guesses as rows of a table, in their order: students are numbered, attempts at a question counted.

    `right` is 1 or 0; `at` is ISO 8601 in UTC.
    """
    numbers: dict[str, int] = {}
    attempts: dict[tuple[str, str], int] = {}
    rows = []
    for one in guesses:
        number = numbers.setdefault(one.student, len(numbers) + 1)
        attempt = attempts[one.student, one.idea] = attempts.get((one.student, one.idea), 0) + 1
        rows.append(
            {
                "at": one.at.isoformat(timespec="seconds"),
                "student": number,
                "name": one.name,
                "idea": one.idea,
                "attempt": attempt,
                "question": one.question,
                "guess": one.choice,
                "answer": one.answer,
                "right": int(one.is_right),
            }
        )
    return rows


def _guess(row: Any) -> Guess:
    return Guess(**{name: row[name] for name in ("student", "name", "idea", "question", "choice", "answer", "at")})


def _storable(text: str) -> str:
    """Remove characters that a database cannot store: NUL and surrogates."""
    return text.replace("\x00", "").encode("utf-8", "ignore").decode()


def _hashed(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()

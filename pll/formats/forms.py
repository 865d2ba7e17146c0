"""Signatures of the files of tools and datasets, and the names that columns usually have: the data of `forms.toml`."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import translate
from functools import cache
from importlib.resources import files
from typing import Any


@dataclass(frozen=True)
class Gather:
    """Where the answers stand inside of a field, as paths (`pll.formats.unfold`).

    Attributes
    ----------
    field
        The column that holds them.
    each
        Path to what one person answered.
    who
        From there, the person.
    result
        From there, the answer to each question.
    question
        From there, the name of the question.
    label
        Also from there, the label; of several paths all that are there.
    """

    field: str
    each: str
    who: str
    result: str
    question: str
    label: tuple[str, ...]


@dataclass(frozen=True)
class Form:
    """What a table of a tool is told by, and what its columns are.

    Attributes
    ----------
    name, title
        Its short name; what a page says: "Read as TITLE".
    told_by
        Patterns of columns that are all there; of several with `|` between them, one.
    form
        What a row is: `"example"`, `"answer"` or `"person"`.
    roles
        (pattern, role) in their order; the first that fits counts. A role "" is proposed as in any table.
    counts
        The states of an answer that counts; () where all count.
    no_answer
        Cells that are no answer here, besides those of every table.
    flatten
        Patterns of fields that hold an object of fields, which become columns; those of `field.` keep its name before.
    gather
        Where answers stand inside of a field; None where they are columns.
    join
        Patterns of columns of 0 and 1 that are one: before the last point stands its name, after it the cell.
    keep
        Cells that are classes here, though they look like no answer.
    answers
        Patterns of the columns that may be the answer; () where any may.
    questions
        In a table of answers to several questions: the columns of the question's name and of the answer, of which a
        column for each question is made.
    fill
        Two columns of which one is made, "A or B": of the second where the first is empty.
    """

    name: str
    title: str
    told_by: tuple[str, ...]
    form: str
    roles: tuple[tuple[str, str], ...]
    counts: tuple[str, ...] = ()
    no_answer: tuple[str, ...] = ()
    flatten: tuple[str, ...] = ()
    gather: Gather | None = None
    join: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()
    questions: tuple[str, ...] = ()
    fill: tuple[str, ...] = ()

    def role_of(self, name: str) -> str:
        """Return the role of a column of this name; "" where the form does not say."""
        return next((role for pattern, role in self.roles if fits(name, pattern)), "")

    def may_answer(self, name: str) -> bool:
        """Whether a column may be the answer."""
        return not self.answers or any(fits(name, pattern) for pattern in self.answers)


def form_told_by(names: Sequence[str]) -> Form | None:
    """Return the signature that a table with these columns has; None for any other table.

    Examples
    --------
    >>> form_told_by(["HITId", "WorkerId", "Answer.label"]).title
    'a batch of Amazon Mechanical Turk'
    """
    told = (f for f in FORMS if all(any(fits(name, p) for name in names for p in one.split("|")) for one in f.told_by))
    return next(told, None)


def fits(name: str, pattern: str) -> bool:
    """Whether a name is one of a pattern of `fnmatch`; case does not matter."""
    return _expression(pattern).match(name.casefold()) is not None


@cache
def _expression(pattern: str) -> re.Pattern[str]:
    return re.compile(translate(pattern.casefold().replace("[", "[[]")))


def plain_name(name: str) -> str:
    """Return a name as `USUAL` writes it.

    Examples
    --------
    >>> plain_name("True label"), plain_name("Gold-Standard")
    ('true_label', 'gold_standard')
    """
    return re.sub(r"[\s.-]+", "_", name.casefold())


def words_of(name: str) -> list[str]:
    """Return the words of a name, in small letters.

    Examples
    --------
    >>> words_of("Biopsy result (2)"), words_of("decyzja_kierownika")
    (['biopsy', 'result', '2'], ['decyzja', 'kierownika'])
    """
    return [word for word in re.split(r"[\W_]+", name.casefold()) if word]


@cache
def _data() -> Mapping[str, Any]:
    return tomllib.loads(files("pll.formats").joinpath("forms.toml").read_text(encoding="utf-8"))


def _form(about: Mapping[str, Any]) -> Form:
    values: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in about.items()}
    values["roles"] = tuple((pattern, role) for pattern, role in about["roles"])
    if "gather" in about:
        values["gather"] = Gather(**about["gather"] | {"label": tuple(about["gather"]["label"])})
    return Form(**values)


FORMS: tuple[Form, ...] = tuple(map(_form, _data()["form"]))
"""The signatures, in the order in which they are tried."""
USUAL: Mapping[str, Sequence[str]] = _data()["usual"]
"""Usual names of columns by role, the likelier first, as `plain_name` writes them."""
WORDS: Mapping[str, frozenset[str]] = {kind: frozenset(words) for kind, words in _data()["words"].items()}
"""Words of names by what they say: adjudicated, aggregate, labels, id, facts, context."""
NO_ANSWER: Mapping[str, frozenset[str]] = {kind: frozenset(words) for kind, words in _data()["no_answer"].items()}
"""Cells that are no answer, in the common spelling: everywhere, among votes, and where they are rare there."""
FIELDS: Mapping[str, frozenset[str]] = {kind: frozenset(words) for kind, words in _data()["fields"].items()}
"""Words of the fields of an answer that is an object: who, what, about it, its state."""
ARRAYS: Mapping[str, Mapping[str, Sequence[str]]] = _data()["arrays"]
"""Names of arrays by part of a file and meaning, the earlier one counts."""

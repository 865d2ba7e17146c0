"""Signatures of the files of tools and datasets, and the names that columns usually have: the data of `forms.toml`."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from fnmatch import translate
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any
from unicodedata import category


@dataclass(frozen=True)
class Gather:
    """Where the answers stand inside of a record, as paths (`pll.formats.unfold`).

    Attributes
    ----------
    each
        Paths to what one person answered, of which the first that leads anywhere counts; "" is the record itself.
    who
        From there, the person; the first path that leads to a name counts.
    number
        From there, the number of the person, where other answers say the name to it.
    nobody
        What a person without a name is called, with `{id}` of what was answered, or `{question}`; "" is nobody.
    result
        From there, the answer to each question; "" is what was answered itself.
    question
        From there, the name of the question; by default the key at the `?` of a path.
    label
        Also from there, the label, or a list of labels; of several paths all that are there.
    drop
        From what was answered, what is true of an answer that does not count, or equal, as in `status=discarded`.
    gold
        From what was answered, what is true where it is the true label.
    score
        From what was answered, how sure the answer is.
    ours
        The beginning of the `id` of results that Candid wrote, which are nobody's.
    by_id
        Whether a number may stand for what was answered, of which the file says no more.
    """

    each: tuple[str, ...]
    label: tuple[str, ...]
    who: tuple[str, ...] = ()
    number: tuple[str, ...] = ()
    nobody: str = ""
    result: tuple[str, ...] = ("",)
    question: str = ""
    drop: tuple[str, ...] = ()
    gold: str = ""
    score: str = ""
    ours: str = ""
    by_id: bool = False


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
        The states of an answer that counts, or those that do not, as "!state"; () where all count.
    no_answer
        Cells that are no answer here, besides those of every table.
    flatten
        Patterns of fields that hold an object of fields, which become columns; those of `field.` keep its name before.
    gather, models
        Where answers of people, and of models, stand inside of a record; None where they are columns.
    join
        Patterns of columns of 0 and 1 that are one: before the last point stands its name, after it the cell.
    keep
        Cells that are classes here, though they look like no answer.
    answers
        Patterns of the columns that may be the answer; () where any may.
    said
        Patterns of the fields of one annotation, or of objects of these, of which several may be the label; () where
        the form says which one is.
    needs
        A column without which a row is of no example; "" where all are.
    again
        Of a table of examples, which the first column names: columns that may say who answered, where it names some
        twice.
    only
        Of records: fields of those that have no others, of which the last of `told_by` need not be one.
    id
        Of records: paths to what tells an example from others; the first that is there counts.
    stated, offered
        Of records: paths to the candidate set; to the labels that people chose from, which are the candidates where
        nobody did.
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
    models: Gather | None = None
    join: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()
    said: tuple[str, ...] = ()
    needs: str = ""
    again: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    id: tuple[str, ...] = ()
    stated: tuple[str, ...] = ()
    offered: tuple[str, ...] = ()

    def tells(self, record: Mapping[str, Any]) -> bool:
        """Whether a record is one of this form: its patterns know objects, lists and short words in fields apart.

        One that is what a single person answered has no list of people.

        Examples
        --------
        >>> form_called("labelstudio").tells({"id": 1, "data": {"text": "hi"}})
        True
        """
        kinds = {kind.casefold() for name, value in record.items() for kind in _kinds(name, value)}
        is_one = self.gather is not None and self.gather.each == ("",)
        lists = (name for name, value in record.items() if isinstance(value, list))
        if is_one and any(plain_name(name) in USUAL["people"] for name in lists):
            return False
        *first, last = self.told_by
        is_bare = bool(self.only) and record.keys() <= {*self.only}
        return all(_is_among(one, kinds) for one in first) and (is_bare or _is_among(last, kinds))

    def role_of(self, name: str) -> str:
        """Return the role of a column of this name; "" where the form does not say."""
        return next((role for pattern, role in self.roles if fits(name, pattern)), "")

    def having(self, roles: Mapping[str, str]) -> Form:
        """Return the form with roles of some columns before its own."""
        return replace(self, roles=(*roles.items(), *self.roles))

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
    tables = (form for form in FORMS if not form.id)  # others are told by what is in the fields of their records
    there = {name.casefold() for name in names}
    return next((form for form in tables if all(_is_among(one, there) for one in form.told_by)), None)


def form_called(name: str) -> Form:
    """Return the signature of this short name."""
    return next(form for form in FORMS if form.name == name)


def _is_among(patterns: str, names: Set[str]) -> bool:
    """Whether one of some names, in small letters, fits one of several patterns with `|` between them."""
    return any(
        any(map(_expression(one).match, names)) if "*" in one or "?" in one else one.casefold() in names
        for one in patterns.split("|")
    )


def _kinds(name: str, value: Any) -> Iterator[str]:
    """Yield how `told_by` may name a field: `f`; of an object `f.`, a list `f[]`, objects `f[].`, a word `f=x`.

    Of a list of objects also the fields of the first one: `f[].g`.
    """
    yield name
    if isinstance(value, dict):
        yield f"{name}."
    elif isinstance(value, list):
        yield f"{name}[]"
        if all(isinstance(one, dict) for one in value):
            yield f"{name}[]."
            yield from (f"{name}[].{key}" for one in value[:1] for key in one)
    elif isinstance(value, str) and len(value) < 20:
        yield f"{name}={value}"


def fits(name: str, pattern: str) -> bool:
    """Whether a name is one of a pattern of `fnmatch`; case does not matter.

    Parameters
    ----------
    name
        Of a column.
    pattern
        As `forms.toml` has it.
    """
    return _expression(pattern).match(name.casefold()) is not None


@cache
def _expression(pattern: str) -> re.Pattern[str]:
    return re.compile(translate(pattern.casefold().replace("[", "[[]")))


@lru_cache(4096)  # the rules ask for the same names over and over
def plain_name(name: str) -> str:
    """Return a name as `USUAL` writes it.

    Examples
    --------
    >>> plain_name("True label"), plain_name("Gold-Standard")
    ('true_label', 'gold_standard')
    """
    return re.sub(r"[\s.-]+", "_", name.casefold())


@lru_cache(4096)
def words_of(name: str) -> tuple[str, ...]:
    """Return the words of a name, in small letters.

    Examples
    --------
    >>> words_of("Biopsy result (2)"), words_of("decyzja_kierownika"), words_of("meanGrade")
    (('biopsy', 'result', '2'), ('decyzja', 'kierownika'), ('mean', 'grade'))
    >>> words_of("अंतिम निर्णय")  # of letters with signs above and below
    ('अंतिम', 'निर्णय')
    """
    apart = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).casefold()
    return tuple("".join(c if c.isalnum() or category(c).startswith("M") else " " for c in apart).split())


def between_words(word: str) -> str:
    """Return a word as it stands between others: with spaces, where it is of a writing that has these.

    Examples
    --------
    >>> between_words("or"), between_words("または")
    (' or ', 'または')
    """
    return word if ord(word[0]) > FIRST_WITHOUT_SPACES else f" {word} "


FIRST_WITHOUT_SPACES = 0x2E80
"""Code point from which writings have no spaces between words."""


def any_of(kind: str) -> str:
    """Return an expression for each word of a list of `WORDS`, as a word of its own where its writing has spaces."""
    words = sorted(WORDS[kind], key=len, reverse=True)
    return "|".join(re.escape(word) if between_words(word) == word else rf"\b{re.escape(word)}(?!\w)" for word in words)


@cache
def _data() -> Mapping[str, Any]:
    return tomllib.loads(files("pll.formats").joinpath("forms.toml").read_text(encoding="utf-8"))


def _form(about: Mapping[str, Any]) -> Form:
    values = _tuples(about)
    values["roles"] = tuple((pattern, role) for pattern, role in about["roles"])
    values |= {name: Gather(**_tuples(about[name])) for name in ("gather", "models") if name in about}
    return Form(**values)


def _tuples(about: Mapping[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in about.items()}


SHOWN = "shown"
"""What `roles` has for the fields that a tool shows or carries along, of which few are learnt from."""
FORMS: tuple[Form, ...] = tuple(map(_form, _data()["form"]))
"""The signatures, in the order in which they are tried."""
_PEOPLE = [word for word in _data()["words"]["people"] if word not in _data()["words"]["adjudicated"]]
USUAL: Mapping[str, Sequence[str]] = _data()["usual"] | {
    "worker": [*_data()["usual"]["worker"], *_PEOPLE, *(f"{word}_id" for word in _PEOPLE)]
}
"""Usual names of columns by role, the likelier first, as `plain_name` writes them."""
STEMS: Mapping[str, tuple[str, ...]] = {
    kind: tuple(word[:-1] for word in words if word.endswith("*")) for kind, words in _data()["words"].items()
}
"""How words of a kind begin, whatever their ending is."""
WORDS: Mapping[str, frozenset[str]] = {kind: frozenset(words) for kind, words in _data()["words"].items()}
"""Words of names by what they say: adjudicated, aggregate, labels, id, facts, context."""
NO_ANSWER: Mapping[str, frozenset[str]] = {kind: frozenset(words) for kind, words in _data()["no_answer"].items()}
"""Cells that are no answer, in the common spelling: everywhere, among votes, and where they are rare there."""
WORDS_OF_FIELDS: Mapping[str, frozenset[str]] = {kind: frozenset(words) for kind, words in _data()["fields"].items()}
"""Words of the fields of an answer that is an object: who, what, about it, its state."""
ARRAYS: Mapping[str, Mapping[str, Sequence[str]]] = _data()["arrays"] | {
    part: {
        one: [form.format(name) for name in (one.lower(), *some) for form in (f"{{}}_{part}", f"{part}_{{}}")]
        for one, some in _data()["arrays"]["whole"].items()
    }
    for part in ("train", "test")
}
"""Names of arrays by part of a file and meaning, the earlier one counts; those of a training and a test part say so."""
ROLE_DATA: Mapping[str, Mapping[str, Any]] = _data()["roles"]
"""Roles of columns: its short `title`, `what` one holds, and what is so of it."""
GUESSED: Mapping[str, str] = _data()["guessed"]
"""What to say of columns whose role was guessed, by role, in this order."""
JSON_SHAPES: Mapping[str, str] = _data()["json_shapes"]
"""What a file of JSON may be, in words."""
TRAITS: Mapping[str, Sequence[tuple[Sequence[str], str, str]]] = _data()["traits"]
"""By step, in their order: traits, the role of what has all of them, and why it has it."""
NO_DATA, STRANGERS = (
    {
        mark.encode("latin-1"): one["what"].format(**_data()["remedies"])
        for one in _data()[kind]
        for mark in one["marks"]
    }
    for kind in ("no_data", "stranger")
)
"""Text that is no data, by a mark in it; and what else a file is that no format reads, by its first bytes."""
ENDS: Mapping[str, str] = _data()["ends"]
"""What a file is by the end of its name, and what to do instead."""

"""What is understood of a file, as records: the roles of its columns, what is asked, what is said, and all of it kept.

Nothing here reads a file. `pll.formats.roles` proposes roles, `pll.formats.answers` uses them, pages and the shell show
them; a `Reading` is what a run keeps, so that the same file is read alike again.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from pll.errors import UserError
from pll.formats import forms
from pll.io import from_json

ROLES: Mapping[str, str] = {name: role["what"] for name, role in forms.ROLE_DATA.items()}
"""Roles of columns, and what they hold."""


def _which(fact: str) -> tuple[str, ...]:
    return tuple(name for name, role in forms.ROLE_DATA.items() if role.get(fact))


SINGLE = _which("single")
"""Roles that only one column can have. Several of the role task name an example, and of worker a voter."""
OF_LABELS = _which("labels")
"""Roles of columns that say who says what of which example."""
LABELLED = _which("sets")
"""Roles of which one is enough for candidate sets."""
OF_NAMES = _which("names")
"""Roles of columns whose cells are names, though they may be written as numbers."""
LINES = ("task", "worker", "vote")
"""Roles of a table of one answer a line (long form)."""

SPREADSHEET_ERRORS = "a spreadsheet's errors"
"""Why a column is left alone whose formulas have no result."""
TO_FILL_IN = "nobody has filled it in"
"""Why a column is left alone that is one of several, called alike, without any cell: of a form before the work."""
PERSONS = "persons"
"""Kind of the note that a row is a person."""
MAJORITY = "the majority of"
"""How a reason begins why a column is neither a voter nor the truth, before the columns that it was made of."""
CODEBOOK = "codebook"
"""Kind of the note that classes are called as a codebook calls them: no two of these are spellings of one."""
SWAPPED = "swapped"
"""Kind of the note that two things are compared in both orders."""
LONGEST = 60
"""Letters of an answer to a question that the shell shows; the options beside it name columns in full."""


@dataclass(frozen=True)
class Question:
    """A question to the user: which of several readings is meant, where names and types allow more than one.

    Attributes
    ----------
    text
        The question.
    answers
        Each possible answer, the likeliest first, and the roles that it gives, by column.
    """

    text: str
    answers: tuple[tuple[str, Mapping[str, str]], ...]

    @property
    def columns(self) -> frozenset[str]:
        """The columns that it is about."""
        return frozenset(name for _, roles in self.answers for name in roles)

    def options(self) -> list[str]:
        """The options of the shell for each answer."""
        shown = {said: said[:LONGEST] + "…" * (len(said) > LONGEST) for said, _ in self.answers}
        return [
            f"{' '.join(option(name, role) for name, role in roles.items())} ({shown[said]})"
            for said, roles in self.answers
        ]


@dataclass(frozen=True)
class Column:
    """A column and its role.

    Attributes
    ----------
    at
        Its position in the table, from 0.
    name
        Its name, trimmed.
    role
        One of `ROLES`.
    display_name
        Its name as a feature, an annotator or a class.
    guessed
        Whether its role is proposed; else it is certain: given by the user, by a reserved name or by a signature.
    first
        Its first cells, as an example; None where one is missing.
    comma
        Whether its numbers have a decimal comma.
    asks
        The question that its role depends on; None where its role is clear.
    why
        Why a role was given or refused, in a few words; mostly "".
    signature
        The title of the signature that its table has; mostly "".
    """

    at: int
    name: str
    role: str
    display_name: str
    guessed: bool = False
    first: tuple[str | None, ...] = ()
    comma: bool = False
    asks: Question | None = field(default=None, compare=False)
    why: str = field(default="", compare=False)
    signature: str = field(default="", compare=False)


def question(columns: Iterable[Column]) -> Question | None:
    """Return the question to the user about these columns; None where their roles are clear."""
    return next((column.asks for column in columns if column.asks is not None), None)


def signature(columns: Iterable[Column]) -> str:
    """Return the title of the signature that a table with these columns has; "" for any other table."""
    return next((column.signature for column in columns if column.signature), "")


def option(name: str, role: str) -> str:
    """Return the option of the shell that gives a column a role, quoted where the shell needs it.

    Parameters
    ----------
    name
        Of the column.
    role
        What it is.

    Examples
    --------
    >>> option("true label", "true_label")
    "--column 'true label=true_label'"
    """
    return f"--column {shlex.quote(f'{name}={role}')}"


@dataclass(frozen=True)
class Reading:
    """What was understood of a file: everything that a person may see, change and keep.

    Attributes
    ----------
    form
        What a row is: `"example"`, `"answer"` (of one person on one example) or `"person"`.
    roles
        By column, one of `ROLES`.
    source
        What the file was read as: the title of a signature, or "".
    class_names
        The classes, in order, where a person listed them.
    no_answer
        Cells that were taken for no answer, and how often each stands there.
    spellings
        Spellings that were joined: what stands in the file → the class.
    answers
        Answers that name no class → the class they were mapped to by hand; "" for no answer.
    classes
        What a person made of classes: merged, renamed, or no label (null).
    sheet
        Which sheet of a workbook; "" where there is one.
    keep
        Cells that are classes, though they look like no answer.
    odd
        Kinds of findings (`pll.formats.odd`) that a person accepted.
    file
        What the file was called.
    """

    form: str = "example"
    roles: Mapping[str, str] = field(default_factory=dict)
    source: str = ""
    class_names: tuple[str, ...] = ()
    no_answer: Mapping[str, int] = field(default_factory=dict)
    spellings: Mapping[str, str] = field(default_factory=dict)
    answers: Mapping[str, str] = field(default_factory=dict)
    classes: Mapping[str, str | None] = field(default_factory=dict)
    sheet: str = ""
    keep: tuple[str, ...] = ()
    odd: tuple[str, ...] = ()
    file: str = ""

    def to_json(self) -> str:
        """The record as JSON, with one field a line."""
        return json.dumps(asdict(self), ensure_ascii=False, indent=1)

    @classmethod
    def from_json(cls, text: str) -> Reading:
        """The record that `to_json` wrote.

        Raises
        ------
        UserError
            It is none.
        """
        try:
            return from_json(cls, json.loads(text))
        except ValueError as error:
            raise UserError(
                f"This is no reading of a file ({error}); write one with candid read FILE --save reading.json."
            ) from error

    @classmethod
    def in_file(cls, file: Path | str) -> Reading:
        """The record in a file that `candid read --save` wrote.

        Raises
        ------
        UserError
            There is no such file, or it holds no reading.
        """
        try:
            return cls.from_json(Path(file).read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError) as error:
            text = f"{file} cannot be read ({error}); write one with candid read FILE --save {file}."
            raise UserError(text) from error
        except UserError as error:
            raise UserError(f"{file}: {error}") from error


def form_of(columns: Sequence[Column]) -> str:
    """Return what a row is, by the roles of its columns."""
    roles = {column.role for column in columns}
    return "person" if "item" in roles else "answer" if {"task", "vote"} & roles else "example"

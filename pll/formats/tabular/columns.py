"""What each column of a table is: one table of rules, by names and types alone, the same for every format.

The rules run in the order of `RULES`; each gives roles to columns that have none yet:

1. what a person says, reserved names, our own marks (`annotator:ann`) and the usual names of `USUAL`;
2. the type of the cells: 0 and 1, numbers, lists, pictures, dates, texts, few words;
3. columns of words with one vocabulary are voters. Where that leaves two roles, a person is asked once (`question`).

A column with a usual name for labels, or with the vocabulary of others, is never learnt from unless a person says so.
"""

from __future__ import annotations

import json
import re
import shlex
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import combinations, pairwise, takewhile

from pll.errors import UserError
from pll.formats.checks import listing, shorten
from pll.formats.label_frame import RESULT_COLUMNS
from pll.formats.tabular.answers import are_answers, are_objects, are_shares, only_labels
from pll.formats.tabular.cells import (
    BINARY,
    WORDS,
    Cells,
    are_binary,
    are_dates,
    are_pictures,
    are_texts,
    are_vectors,
    default_role,
    guess_separator,
    has_fractions,
    have_decimal_commas,
    holds_several,
    is_measured,
    is_number,
    known_cells,
    numbers_in,
    read_marks,
    spelling,
    split_cell,
)

ROLES = {
    "id": "name of the example",
    "text": "what there is to read",
    "image": "name or address of a picture",
    "feature": "number to learn from",
    "vector": "a list of numbers to learn from, such as an embedding",
    "category": "words to learn from, once they are encoded",
    "candidates": "the labels the example may have",
    "candidate": "one of the labels the example may have; a column each",
    "true_label": "its true label",
    "split": "train or test",
    "annotator": "what one annotator said; a column each",
    "score": "how sure one annotator was of each answer, as a number; a column each",
    "class": "1 where this class is a candidate, 0 where not; a column each",
    "probability": "how likely this class is, as a model says; a column each",
    "task": "long form: the example a line is about",
    "worker": "long form: who annotated",
    "vote": "long form: the label that was given",
    "keep": "carried along, never learnt from",
    "ignore": "left out",
}
"""Roles of columns."""

SINGLE = ("id", "text", "image", "candidates", "true_label", "split", "task", "worker", "vote")
"""Roles that only one column can have."""
LABELLED = ("candidates", "candidate", "vote", "class", "annotator", "probability")
"""Roles of which one is enough for candidate sets."""
LINES = ("task", "worker", "vote")
"""Roles of a table of one answer a line (long form)."""

LABEL_COLUMNS = ("id", "candidates", "true_label", "split")
"""Reserved names; a feature cannot be called so."""
PAYLOAD_COLUMNS = ("text", "image")
"""Reserved names of columns that hold texts or pictures."""
CONSENSUS_COLUMNS = ("num_annotations", "consensus_label", "annotator_agreement", "consensus_quality_score")
"""Results of cleanlab, which are not read back."""
IDENTIFIED = "identified_label"
UNNAMED = "unnamed"
"""Name of a column without one, followed by its position."""

MARKS = {
    "annotator": "annotator:",
    "score": "score:",
    "class": "candidate:",
    "feature": "feature:",
    "category": "category:",
    "keep": "keep:",
}
"""Prefixes that mark the role of a column: `annotator:ann`, `category:zip`."""

USUAL = {
    "task": (
        *("task", "task_id", "item", "item_id", "example", "example_id", "instance", "instance_id", "hit", "unit_id"),
        *("sample_id", "question_id", "document_id", "doc_id", "doc", "id"),
    ),
    "worker": (
        *("annotator", "annotator_id", "annotator_name", "worker", "worker_id", "workerid", "rater", "rater_id"),
        *("labeler", "labeller", "labeler_id", "coder", "judge", "user", "user_id", "username", "voter", "person"),
        *("reviewer", "annotated_by", "labeled_by", "model"),
    ),
    "vote": ("label", "answer", "annotation", "response", "choice", "vote", "class", "rating", "judgment"),
    "true_label": (
        *("true_label", "truth", "gold", "gold_label", "ground_truth", "groundtruth", "gt", "gt_label", "y_true"),
        *("label", "class", "class_label", "classification", "target"),
    ),
    "candidates": (
        *("candidate_labels", "candidate_set", "candidate", "possible_labels", "partial_labels", "label_set"),
        *("labels", "options", "annotations", "answers"),
    ),
    "id": (
        *(f"{UNNAMED}_1", "unnamed:_0", "index", "idx", "uid", "uuid"),
        *("row_id", "example_id", "sample_id", "item_id", "task_id", "custom_id", "doc_id"),
    ),
    "text": ("sentence", "content", "document", "review", "tweet", "comment", "question", "body", "description"),
    "image": (
        *("img", "picture", "photo", "image_url", "image_path", "image_file", "file_name", "filename", "path", "url"),
    ),
}  # fmt: skip
"""Usual names by role, the likelier first, as `plain_name` writes them."""

SETTLED = (
    *("expert", "expert_label", "adjudicated", "adjudicated_label", "adjudication", "consensus"),
    *("final", "final_label", "final_answer", "reference", "reference_label", "reference_standard", "gold_standard"),
    *("golden", "goldlabel", "correct", "correct_label", "correct_answer", "correct_class", "actual", "verified"),
    *("resolved", "resolved_label", "answer_key", "true_class", "true_answer", "real_label", "goldstandard"),
    *("experte", "expertin", "expertenurteil", "referenz", "wahrheit", "endgültig", "endurteil", "richtig"),
    *("geprüft", "korrekt", "korrigiert", "checked", "validated", "corrected", "vérifié", "validé", "revisado"),
    *("référence", "vérité", "vérité_terrain", "définitif", "referencia", "correcto", "correcta"),
)
"""Names of the true label only where another column has its vocabulary: a `final` may be anything."""

SCORE_ENDS = ("_score", "_confidence", "_prob", " score", " confidence")
"""What follows the name of an annotator's column in that of their scores."""
SHARE_STARTS = ("prob_", "proba_", "probability_", "prob:", "prob ", "p_", "score_", "softmax_", "P(", "softmax.")
"""What precedes the name of a class in the column of its probability."""

ID_WORDS = (
    *("id", "ids", "identifier", "uid", "uuid", "guid", "key", "index", "row", "zeile", "ligne", "record", "serial"),
    *("nr", "no", "num", "number", "nummer", "numero", "ref", "reference", "referenz", "isbn", "doi", "sku", "ticket"),
    *("case", "fall", "dossier", "cas", "vorgang", "datensatz", "kennung", "kennzeichen", "aktenzeichen", "code"),
)
"""Words in which the name of a column of ids ends."""

_PEOPLE = "annotators?|worker|rater|labell?er|coder|judge|expert|voter|model"
_NUMBERED = (
    re.compile(rf"(?:{_PEOPLE})[ _.-]*(?:\d{{1,4}}|[a-z])", re.IGNORECASE),
    re.compile(r"(?:annotation|label|vote|rating)[ _.-]*\d{1,4}", re.IGNORECASE),
    re.compile(r"ann[ _.-]*\d{1,2}", re.IGNORECASE),  # more digits are years, as in "ann. 2019"
)
_NAMED = re.compile(rf"(?:{_PEOPLE})[ _.-]+.{{1,40}}", re.IGNORECASE)
_OPTION = re.compile(
    r"(?:candidate|option|choice|alternative|possible[ _]label)[ _.-]*(?:\d{1,4}|[a-h])", re.IGNORECASE
)
_CLASS = re.compile(
    r"(?P<stem>candidates?|cand|class|label|y)(?:(?:[_.= -]|: ?)(?P<name>.+)|(?P<number>\d{1,4}))", re.IGNORECASE | re.S
)
_SHARED_STEM = re.compile(r"(.+?[_.=: -])(?=.)", re.S)
_LABEL_NUMBER = re.compile(r"label[ _.-]*\d{1,4}", re.IGNORECASE)
_NAMED_ID = re.compile(rf"(?:.*[\W_])?(?:{'|'.join(ID_WORDS)})[\W_]*|.*(?:nummer|number)[\W_]*", re.IGNORECASE)
_CAMEL_ID = re.compile(r".*[a-z](?:ID|Id|Nr|No)[\W_]*")
_SHARES_OF_LABELS = re.compile(
    r"(?:.*[^a-z])?(?:labels?|class(?:es)?|targets?|votes?|counts?|dist|distributions?|probas?|probs?|probabilit(?:y|ies)"
    r"|softmax|logits?|pred(?:iction)?s?|scores?|confidences?)(?:[^a-z].*)?"
)

SAMPLE_ROWS = 2000
"""Rows of which roles are told at most; wide tables are told of fewer (`sample_rows`)."""
SHOWN = 3
"""Number of cells of a column that a person is shown."""
SHARED = 1 / 2
"""Share of the cells of each of two columns whose words the other uses too, from which they have one vocabulary: most.

Voters who never agree still use the same few words; with a thousand classes in few rows, they share what they agree on.
"""
NEARLY_ALL = 0.9
"""Share of cells from which a column is what most of it says: one cell in ten may be a slip, a remark or a gap."""
MOST_NAMED = 40
"""Characters of what an example or a person may be called, on average; a longer cell is a text."""
MOST_WORDS = 60
"""Characters of a word or the name of a class, on average; the longest names of classes in use have some 50."""


def sample_rows(width: int) -> int:
    """Rows of a table of so many columns of which its roles are told: 50,000 cells, 200 to 2,000 rows.

    Examples
    --------
    >>> sample_rows(5), sample_rows(50), sample_rows(10_000)
    (2000, 1000, 200)
    """
    return min(max(50_000 // max(width, 1), 200), SAMPLE_ROWS)


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
    shown
        What it is called as a feature, an annotator, a class.
    guessed
        Whether neither the user nor a reserved name says so.
    first
        Its first cells, for a person to see what it is; None where one is missing.
    comma
        Whether its numbers have a decimal comma.
    asks
        The question it belongs to (`QUESTIONS`); "" where its role is clear.
    instead
        Its role if the answer is the other one.
    """

    at: int
    name: str
    role: str
    shown: str
    guessed: bool = False
    first: tuple[str | None, ...] = ()
    comma: bool = False
    asks: str = ""
    instead: str = ""


@dataclass(frozen=True)
class Question:
    """What names and types leave open: which of two roles some columns have.

    Attributes
    ----------
    text
        The question.
    answers
        What can be answered, and the roles it gives, by column.
    """

    text: str
    answers: tuple[tuple[str, Mapping[str, str]], ...]

    def options(self) -> str:
        """The options of the shell for each answer."""
        return "; or ".join(
            f"{' '.join(option(name, role) for name, role in roles.items())} ({answer})"
            for answer, roles in self.answers
        )


QUESTIONS = ("lines", "marks", "voters", "classes", "truth")
"""Questions of which one is asked at a time, the first first."""


def question(columns: Sequence[Column]) -> Question | None:
    """Return what a person is asked about these columns; None where their roles are clear.

    Examples
    --------
    >>> found = roles_of(["Anna", "Bert"], [["late", "ok"] * 4, ["ok", "late"] * 4])
    >>> asked = question(found)
    >>> asked.text, asked.answers[0][1]
    ('Anna and Bert use the same words. Whose answers are these?', {'Anna': 'annotator', 'Bert': 'annotator'})
    """
    kind = next((kind for kind in QUESTIONS if any(column.asks == kind for column in columns)), None)
    if kind is None:
        return None
    asked = [column for column in columns if column.asks == kind]
    names = listing([column.name for column in asked], limit=12)
    as_guessed = {column.name: column.role for column in asked}
    other = {column.name: column.instead for column in asked}
    if kind == "lines":
        example, person, answer = sorted(asked, key=lambda column: LINES.index(column.instead))
        text = (
            f"The same {example.name} stands in several lines. Is every line one answer: {person.name} says who gave "
            f"it, {answer.name} what it is?"
        )
        return Question(text, (("one answer a line", other), ("every line is an example", as_guessed)))
    if kind == "classes":
        text = f"{names} hold 0 and 1. What is one of these columns?"
        return Question(text, (("a class: 1 where it is a candidate", as_guessed), ("a voter who says 0 or 1", other)))
    if kind == "truth":
        text = f"{names} names a candidate in nearly every row. Is it the true label?"
        return Question(text, (("the true label", other), ("only carried along", as_guessed)))
    if len(asked) == 2:
        names = f"{asked[0].name} and {asked[1].name}"
    text = f"{names} use the same words. Whose answers are these?"
    roles = {"annotator": "each column is one voter's answers", "category": "nobody's: learn from them"}
    if kind == "marks":
        roles["class"] = "each column is a class, marked where it is a candidate"
    return Question(text, tuple((answer, dict.fromkeys(as_guessed, role)) for role, answer in roles.items()))


def refuse_questions(columns: Sequence[Column]) -> None:
    """Raise where two roles are possible: nothing is read until a person has said which.

    Raises
    ------
    UserError
        The question, and the options of the shell to paste.
    """
    asked = question(columns)
    if asked is not None:
        raise UserError(f"{asked.text} Say which: {asked.options()}.")


# ---- names of columns ------------------------------------------------------------------------------------------------


def plain_name(name: str) -> str:
    """A name as `USUAL` writes it.

    Examples
    --------
    >>> plain_name("True label"), plain_name("Gold-Standard")
    ('true_label', 'gold_standard')
    """
    return re.sub(r"[\s.-]+", "_", name.casefold())


def marked(role: str, name: str) -> str:
    """The header of a column that is marked; in quotes what would be lost without.

    Examples
    --------
    >>> marked("annotator", "ann"), marked("category", " x")
    ('annotator:ann', 'category:" x"')
    """
    plain = name == name.strip() != "" and not name.startswith('"')
    return MARKS[role] + (name if plain else json.dumps(name, ensure_ascii=False))


def shown_as(header: str) -> str:
    """Return the name of a column without its mark, if it has one."""
    role = next((role for role, mark in MARKS.items() if header.startswith(mark)), "")
    return bare_name(header, role)


def bare_name(name: str, role: str) -> str:
    """Return the name of a feature, an annotator, …: that of the column without the mark."""
    mark = MARKS.get(role)
    if mark is None or not name.startswith(mark) or name == mark:
        return name
    bare = name.removeprefix(mark)
    if bare.startswith('"'):
        with suppress(ValueError):
            called = json.loads(bare)
            return called if isinstance(called, str) else bare
    return bare


def option(name: str, role: str) -> str:
    """Return the option of the shell that gives a column a role, quoted where the shell needs it.

    Examples
    --------
    >>> option("true label", "true_label")
    "--column 'true label=true_label'"
    """
    return f"--column {shlex.quote(f'{name}={role}')}"


def results_among(names: Sequence[str]) -> set[str]:
    """Return the columns with results of an earlier run: those of `RESULT_COLUMNS` from `IDENTIFIED` on.

    Examples
    --------
    >>> sorted(results_among(["id", "source", "identified_label", "confidence"]))
    ['confidence', 'identified_label']
    """
    start = names.index(IDENTIFIED) if IDENTIFIED in names else len(names)
    return set(names[start:]) & set(RESULT_COLUMNS)


def is_annotator(name: str) -> bool:
    """Whether a column has a generic name of an annotator.

    Examples
    --------
    >>> is_annotator("annotator_1"), is_annotator("worker B"), is_annotator("ann")
    (True, True, False)
    """
    return any(pattern.fullmatch(name) for pattern in _NUMBERED)


def is_named_id(name: str) -> bool:
    """Whether a name is usual for ids, or ends in a word for one.

    Examples
    --------
    >>> [is_named_id(name) for name in ("case", "Fall-Nr.", "TicketID", "Numéro", "number of rooms", "width")]
    [True, True, True, True, False, False]
    """
    plain = "".join(one for one in unicodedata.normalize("NFKD", name) if not unicodedata.combining(one))
    is_usual = plain_name(name) in USUAL["id"]
    return is_usual or _NAMED_ID.fullmatch(plain) is not None or _CAMEL_ID.fullmatch(plain) is not None


def may_hold_labels(name: str) -> bool:
    """Whether a name is usual for labels of any kind."""
    return any(plain_name(name) in USUAL[role] for role in ("vote", "true_label", "candidates"))


# ---- the table of rules ----------------------------------------------------------------------------------------------


@dataclass
class _Header:
    """The first cells of a table, and the roles found so far.

    Attributes
    ----------
    given
        By column, its first cells.
    cells
        The same, with the labels alone where a cell is JSON.
    roles
        By column, what it is.
    """

    given: Mapping[str, Cells]
    cells: Mapping[str, Cells]
    roles: dict[str, Column] = field(default_factory=dict)
    _words: dict[str, Counter[str]] = field(default_factory=dict)

    def give(
        self, name: str, role: str, shown: str | None = None, *, guessed: bool = True, instead: str = "", asks: str = ""
    ) -> None:
        self.roles[name] = Column(0, name, role, name if shown is None else shown, guessed, asks=asks, instead=instead)

    def open(self) -> list[str]:
        """Columns without a role."""
        return [name for name in self.given if name not in self.roles]

    def having(self, *roles: str) -> list[str]:
        return [name for name, column in self.roles.items() if column.role in roles]

    def usual(self, role: str, names: Sequence[str]) -> list[str]:
        """Those of some columns with a usual name of this role, the likeliest first."""
        plain = {plain_name(name): name for name in reversed(names)}
        return [plain[known] for known in USUAL[role] if known in plain]

    def words(self, name: str) -> Counter[str]:
        """The labels in a column, in their common spelling, and how often each stands there."""
        if name not in self._words:
            self._words[name] = words_in(self.cells[name])
        return self._words[name]

    def truth(self) -> Counter[str]:
        """The true labels, in their common spelling."""
        return sum((self.words(name) for name in self.having("true_label")), Counter[str]())

    def truth_or_names(self, names: Sequence[str]) -> set[str]:
        """The true labels; without a truth the words of a column that are all names of some other columns."""
        truth = set(self.truth())
        if truth:
            return truth
        plain = set(map(spelling, names))
        others = [name for name in self.open() if name not in names and default_role(self.cells[name]) == "category"]
        return next(
            (
                set(self.words(name))
                for name in others
                if len(self.words(name)) > 1 and self.words(name).keys() <= plain
            ),
            set(),
        )

    def classes(self) -> Counter[str]:
        """The classes that the truth and the candidates name, in their common spelling."""
        found = self.truth()
        for name in self.having("candidates", "candidate"):
            found += self.words(name)
        return found + Counter(spelling(self.roles[name].shown) for name in self.having("class", "probability"))


def words_in(cells: Cells) -> Counter[str]:
    """The labels in some cells, in their common spelling and without marks of missing cells, with their counts."""
    found: Counter[str] = Counter()
    for cell, count in Counter(known_cells(cells)).items():
        parts: Sequence[str] = re.split(r"[|;]", cell)
        if cell.lstrip()[:1] == "[":
            with suppress(UserError):  # reading says where a list cannot be read
                parts = split_cell(cell)
        for part in parts:
            if part.strip():
                found[spelling(part)] += count
    return found


def share_among(words: Counter[str], others: Counter[str] | set[str]) -> float:
    """Which share of the labels of one column another one uses too."""
    return sum(count for word, count in words.items() if word in others) / max(words.total(), 1)


MAX_COLUMNS = 60_000
"""Maximum number of columns; each takes the parser some 10 KB, however few rows there are."""


def check_header(header: Sequence[str]) -> list[str]:
    """Return the column names, trimmed; a column without a name is called by its position, `unnamed 1`.

    Raises
    ------
    UserError
        No name at all, one that occurs twice, or too many columns.
    """
    if len(header) > MAX_COLUMNS:
        raise UserError(f"There are {len(header):,} columns; at most {MAX_COLUMNS:,} are supported.")
    if not any(name.strip() for name in header):
        raise UserError("The header is blank; the first row of a table must hold the names of its columns.")
    names = [name.strip() or f"{UNNAMED} {at}" for at, name in enumerate(header, start=1)]
    seen: dict[str, int] = {}
    for at, name in enumerate(names, start=1):
        part = name.casefold()
        key = part if part in LABEL_COLUMNS else name  # ID and id would be one column
        first = seen.setdefault(key, at)
        if first != at:
            raise UserError(
                f"Columns {first} and {at} have the same name {shorten(name)}; every column needs its own. "
                "The first row of a table must hold the column names."
            )
    return names


def roles_of(header: Sequence[str], sample: Sequence[Cells], told: Mapping[str, str] | None = None) -> list[Column]:
    """Return the role of each column.

    Parameters
    ----------
    header
        Names of the columns, trimmed, none twice.
    sample
        The first cells of each column, as text; None where a cell is missing.
    told
        By name, what the user says; one of `ROLES` each.

    Raises
    ------
    UserError
        The user names a column or a role that does not exist, or gives one role to two columns.

    Examples
    --------
    >>> [column.role for column in roles_of(["id", "width", "colour"], [["1"], ["2.5"], ["red"]])]
    ['id', 'feature', 'category']
    """
    said = _checked(told or {}, header)
    called: dict[tuple[str, str], str] = {}
    with suppress(UserError):  # two columns of one role, of which a person tells one apart
        called = {(one.name, one.role): one.shown for one in roles_of(header, sample)} if said else {}
    given = dict(zip(header, sample, strict=True))
    table = _Header(given, {name: _labels_alone(name, cells) for name, cells in given.items()})
    for name, role in said.items():
        table.give(name, role, called.get((name, role)) or _shown(name, role), guessed=False)
    for rule in RULES:
        rule(table)
    for role in SINGLE:
        twice = [name for name in header if table.roles[name].role == role]
        if len(twice) > 1:
            raise UserError(
                f"The columns {twice[0]} and {twice[1]} both are {role} ({ROLES[role]}); only one can be. "
                "Say what the other is, or remove it."
            )
    commas = have_decimal_commas(sample)
    return [
        replace(table.roles[name], at=at, first=tuple(given[name][:SHOWN]), comma=commas[at])
        for at, name in enumerate(header)
    ]


def _labels_alone(name: str, cells: Cells) -> Cells:
    return only_labels(name, cells) if any(cell and "}" in cell for cell in cells) else cells


def _checked(told: Mapping[str, str], header: Sequence[str]) -> dict[str, str]:
    for name, role in told.items():
        if name not in header:
            raise UserError(f"There is no column {shorten(name)}; there are {listing(header)}.")
        if role not in ROLES:
            raise UserError(f"The column {name} cannot be {role!r}; use one of {', '.join(ROLES)}.")
    return dict(told)


# ---- rules: names ----------------------------------------------------------------------------------------------------


def _reserved(table: _Header) -> None:
    """Reserved names, and results of an earlier run."""
    results = results_among(list(table.given))
    for name in table.open():
        plain = name.casefold()
        if plain in CONSENSUS_COLUMNS or name in results:
            table.give(name, "ignore", guessed=False)
        elif plain in RESULT_COLUMNS:  # of the user: never a feature, and kept
            table.give(name, "keep")
        elif plain in (*LABEL_COLUMNS, *PAYLOAD_COLUMNS) and not table.having(plain):
            table.give(name, plain, guessed=False)


def _marked(table: _Header) -> None:
    """Columns marked as our own tables mark them: `annotator:ann`, `category:zip`."""
    for name in table.open():
        for role, mark in MARKS.items():
            if name.startswith(mark) and name != mark and not (role == "class" and table.having("candidates")):
                table.give(name, role, bare_name(name, role), guessed=False)


def _long_form(table: _Header) -> None:
    """`task, annotator, label`: one row per label. A task column called `id` must name some example twice."""
    if table.having("candidates", "annotator", "class") or len(table.having(*LINES)) == len(LINES):
        return
    found: dict[str, str] = {}
    for role in ("worker", "vote", "task"):
        if table.having(role):
            continue
        fitting = [name for name in table.usual(role, table.open()) if name not in found]
        if role == "task" and not fitting:  # `id` is reserved, and has its role already
            fitting = [name for name in table.having("id") if not table.roles[name].guessed]
            fitting = [name for name in fitting if len(set(table.given[name])) < len(table.given[name])]
        if not fitting or (len(fitting) > 1 and role != "task"):
            return
        found[fitting[0]] = role
    for name, role in found.items():
        table.give(name, role)


def _truth(table: _Header) -> None:
    """`label` and the like: candidate sets where a cell holds several labels, else the true label.

    In long form `label` may be another answer; `gold` is the truth where all lines of an example have the same.
    """
    if table.having("true_label"):
        return
    if table.having("vote"):
        (task,) = table.having("task") or table.having("vote")
        usual = [name for name in table.usual("true_label", table.open()) if not _is_generic(name)]
        for name in [name for name in usual if _is_function(table.given[name], table.given[task])][:1]:
            table.give(name, "true_label")
        return
    for name in table.usual("true_label", table.open()):
        if has_fractions(table.cells[name]) or are_vectors(table.cells[name]):
            continue
        cells = [cell for cell in table.cells[name] if cell]
        several = holds_several(cells) or any(cell.startswith("[") and cell.endswith("]") for cell in cells)
        table.give(name, "candidates" if several and not table.having(*LABELLED) else "true_label")
        return


def _is_generic(name: str) -> bool:
    """Whether a name says that there are labels, and not that they are true."""
    plain = plain_name(name)
    return plain in USUAL["vote"] or plain in ("class_label", "classification", "target")


def _sets(table: _Header) -> None:
    """Columns of candidates by name: several labels a cell (`options`), or one a cell (`option 1`, `option 2`)."""
    if table.having(*LABELLED):
        return
    for name in table.usual("candidates", table.open()):
        if not is_measured(table.cells[name]) and holds_several(table.cells[name]):
            table.give(name, "candidates")
            return
    single = [
        name for name in table.open() if _OPTION.fullmatch(name) and default_role(table.cells[name]) == "category"
    ]
    for name in single if len(single) > 1 else ():
        table.give(name, "candidate")


def _annotators(table: _Header) -> None:
    """`annotator_1, annotator_2, …`: columns of labels and not of measurements; one alone if there are no others."""
    if table.having("vote", "class", "annotator", "candidate", "probability"):
        return
    for pattern in _NUMBERED:
        found = [name for name in table.open() if pattern.fullmatch(name) and not has_fractions(table.cells[name])]
        if pattern is _NUMBERED[1] and all(are_binary(table.cells[name]) for name in found):
            continue  # label_1, label_2 of 0 and 1 may be classes
        is_single = len(found) == 1 and pattern is _NUMBERED[0] and not is_measured(table.cells[found[0]])
        if len(found) >= 2 or (is_single and not table.having("candidates", "true_label")):
            for name in found:
                table.give(name, "annotator")
            return
    scored = {
        _scored(name).casefold() for name in table.open() if _scored(name) != name and _are_amounts(table.cells[name])
    }
    rated = [
        name for name in table.open() if name.casefold() in scored and default_role(table.cells[name]) == "category"
    ]
    if rated and not table.usual("true_label", rated):  # `gpt` beside `gpt_score`
        for name in rated:
            table.give(name, "annotator")
        return
    named = [name for name in table.open() if _NAMED.fullmatch(name) and plain_name(name) not in USUAL["worker"]]
    named = [name for name in named if not has_fractions(table.cells[name]) and table.words(name)]
    # `worker_ann, worker_bob` are annotators; `worker_age, worker_country` are not: they have no value in common.
    if len(named) >= 2 and set.intersection(*(set(table.words(name)) for name in named)):
        for name in named:
            table.give(name, "annotator")


# ---- rules: types ----------------------------------------------------------------------------------------------------


def _objects(table: _Header) -> None:
    """JSON objects that are neither an answer nor shares of labels are kept."""
    for name in table.open():
        cells = table.given[name]
        if are_objects(cells) and not are_answers(cells) and not are_shares(name, cells):
            table.give(name, "keep")


def _answers(table: _Header) -> None:
    """A model's answers in JSON are an annotator's."""
    for name in table.open() if not table.having("vote") else ():
        if are_answers(table.given[name]):
            table.give(name, "keep" if table.having("candidates", "candidate", "class") else "annotator")


def _lists(table: _Header) -> None:
    """Lists of numbers are vectors; those of shares or counts of labels (`label_dist`, `probs`) are kept.

    They do not say which number is of which class, so nothing is made of them.
    """
    for name in table.open():
        if _SHARES_OF_LABELS.fullmatch(name.casefold()) and _are_shares_of_labels(name, table.cells[name]):
            table.give(name, "keep")
        elif are_vectors(table.cells[name]):
            table.give(name, "vector")


def _are_shares_of_labels(name: str, cells: Cells) -> bool:
    """Whether lists can be shares, logits or counts: [3, 0, 2] is no list of class numbers, of which none repeats."""
    lists = [numbers_in(cell) for cell in known_cells(cells)]
    known = [numbers for numbers in lists if numbers is not None]
    if not known or len(known) < len(lists) or len({len(numbers) for numbers in known}) > 1:
        return False
    if all(number.is_integer() for numbers in known for number in numbers):
        return any(len(set(numbers)) < len(numbers) for numbers in known)
    return "logit" in name.casefold() or all(abs(sum(numbers) - 1) <= 0.02 for numbers in known)


def _classes(table: _Header) -> None:
    """Marks that share a stem (candidate, class, label, y) or end in the truth's values: a column a class.

    `label_1, label_2` without a truth may also be voters who say 0 or 1: that is asked.
    """
    marks = {name: marked_rows for name in table.open() if (marked_rows := read_marks(table.cells[name])) is not None}
    stems: dict[str, dict[str, str]] = {}
    for name in marks:
        found = _CLASS.fullmatch(name)
        if found is not None:
            stem = found["stem"].casefold().replace("candidates", "candidate")
            stems.setdefault(stem, {})[name] = _class_name(name)
    if table.having("candidates", "candidate", "class"):  # another way to write the candidates: never a feature
        for name in () if table.having("class") else (*stems.get("candidate", ()), *stems.get("cand", ())):
            table.give(name, "keep")
    if table.having(*LABELLED):
        _like_the_told_one(table)
        return
    truth = set(table.truth())
    for stem in ("candidate", "cand", "class", "label", "y"):
        group = stems.get(stem, {})
        is_numbered = stem == "label" and all(_LABEL_NUMBER.fullmatch(name) for name in group)
        ends_in_truth = bool(truth) and truth <= set(map(spelling, group.values()))
        if is_numbered and len(group) > 1 and not ends_in_truth:
            if truth <= {"0", "1", "0.0", "1.0"} and (truth or not _is_matrix(group, marks)):
                for name in group:
                    table.give(name, "annotator")
                return
            if truth:
                continue
        if _is_matrix(group, marks, always=stem in ("candidate", "cand")):
            for name, ending in group.items():
                is_open = is_numbered and not truth
                table.give(
                    name, "class", ending, asks="classes" if is_open else "", instead="annotator" if is_open else ""
                )
            return
    truth = table.truth_or_names(list(marks))
    for group in (*_stems(list(marks)), {name: name for name in marks}) if truth else ():
        kept = {name: ending for name, ending in group.items() if spelling(ending) in truth} if group else {}
        if truth <= set(map(spelling, group.values())) and _is_matrix(group, marks) and not all(map(is_number, truth)):
            chosen = group if len(kept) == len(group) or not _are_bare(group) else kept
            for name, ending in chosen.items():
                table.give(name, "class", ending)
            return


def _are_bare(group: Mapping[str, str]) -> bool:
    """Whether columns are called as the classes, without a stem: others among them are features."""
    return all(name == ending for name, ending in group.items())


def _like_the_told_one(table: _Header) -> None:
    """`label_1, label_2, …` of 0 and 1, of which a person told one: the others are the same."""
    told = {column.role for name, column in table.roles.items() if _LABEL_NUMBER.fullmatch(name)}
    if len(told & {"annotator", "class"}) == 1 and not any(
        table.roles[n].guessed for n in table.having("annotator", "class")
    ):
        role = (told & {"annotator", "class"}).pop()
        for name in table.open():
            if _LABEL_NUMBER.fullmatch(name) and are_binary(table.cells[name]):
                table.give(name, role, _shown(name, role), guessed=False)


def _probabilities(table: _Header) -> None:
    """`prob_cat, prob_dog, …`, and numbers under the names of the classes: how likely, or how frequent, each is."""
    if table.having(*LABELLED):
        return
    amounts = [name for name in table.open() if _are_amounts(table.cells[name])]
    for start in SHARE_STARTS:
        found = [name for name in amounts if len(name) > len(start) and name.casefold().startswith(start.casefold())]
        rows = zip(*(table.cells[name] for name in found), strict=True)
        endings = {spelling(_shown(name, "probability")) for name in found}
        is_other = bool(table.truth()) and endings.isdisjoint(table.truth())
        if len(found) >= 2 and not is_other and all(_sum_to_1(row) for row in rows if any(row)):
            for name in found:
                table.give(name, "probability", _shown(name, "probability"))
            return
    truth = table.truth_or_names(amounts)
    for group in (*_stems(amounts), {name: name for name in amounts}) if len(truth) > 1 else ():
        named = {name: ending for name, ending in group.items() if spelling(ending) in truth}
        if set(map(spelling, named.values())) >= truth and not all(map(is_number, truth)):
            sums = {round(_total(row), 6) for row in zip(*(table.cells[name] for name in group), strict=True)}
            for name, ending in (group if len(sums) == 1 else named).items():  # a class may be nobody's truth
                table.give(name, "probability", ending)
            return


def _are_amounts(cells: Cells) -> bool:
    """Whether all cells are numbers of at least 0, with or without a percent sign, or missing."""
    plain = [cell.strip().removesuffix("%").strip().replace(",", ".") for cell in cells if cell and cell.strip()]
    return bool(plain) and all(is_number(cell) and 0 <= float(cell) < float("inf") for cell in plain)


def _sum_to_1(row: Cells) -> bool:
    total, allowed = _total(row), 0.01 + 0.001 * len(row)  # rounded
    return abs(total - 1) <= allowed or abs(total / 100 - 1) <= allowed


def _total(row: Cells) -> float:
    return sum(float((cell or "0").strip().removesuffix("%").replace(",", ".") or 0) for cell in row)


# ---- rules: one vocabulary -------------------------------------------------------------------------------------------


_WIDEST_OF_LINES = 40
"""Columns of a table of lines at most: every pair of them is looked at."""


def _lines(table: _Header) -> None:
    """A table of one answer a line under other names: asked.

    Two columns name something, repeat, and stand together but once; a third one holds few words or whole numbers that
    differ within an example. Where there is a truth, it is the same in all lines of an example, and of those words.
    """
    if table.having(*LABELLED, *LINES) or len(table.given) > _WIDEST_OF_LINES:
        return
    n = len(next(iter(table.given.values()), ()))
    columns = [*table.open(), *table.having("id")]
    keys = {name: len(set(table.given[name])) for name in columns if _may_name(table.given[name])}
    keys = {name: count for name, count in keys.items() if 2 <= count <= SHARED * n}
    truth = table.having("true_label")
    found: list[tuple[bool, bool, int, int, tuple[str, str, str]]] = []
    for one, other in combinations(keys, 2):
        pairs = set(zip(table.given[one], table.given[other], strict=True))
        if len(pairs) < NEARLY_ALL * n:  # somebody answers an example once, but for a few who gave several labels
            continue
        many, few = sorted((one, other), key=lambda name: -keys[name])
        task, worker = (few, many) if _is_person(many) and not _is_person(few) else (many, few)
        if any(not _is_function(table.given[name], table.given[task]) for name in truth):
            continue
        for vote in table.open():
            if vote in (one, other) or not _may_answer(table.cells[vote], n):
                continue
            if _is_function(table.given[vote], table.given[task]):
                continue
            if truth and share_among(table.truth(), table.words(vote)) < SHARED:
                continue
            names = (may_hold_labels(vote), _is_person(worker), -len(table.words(vote)), keys[task])
            found.append((*names, (task, worker, vote)))
    if found:
        best = max(found)[-1]
        for name, role in zip(best, LINES, strict=True):
            otherwise = "keep" if may_hold_labels(name) else default_role(table.cells[name])
            table.give(name, otherwise, asks="lines", instead=role)


def _is_person(name: str) -> bool:
    plain = plain_name(name)
    return plain in USUAL["worker"] or plain in ("who", "name", "wer", "qui", "quien", "by", "annotateur", "prüfer")


def _may_name(cells: Cells) -> bool:
    """Whether cells can be what examples or people are called: all filled, no marks, dates, fractions or texts."""
    if (
        read_marks(cells) is not None
        or any(not cell or not cell.strip() for cell in cells)
        or has_fractions(cells)
        or are_dates(cells)
    ):
        return False
    some = list(dict.fromkeys(cell for cell in cells if cell))
    return sum(map(len, some)) <= MOST_NAMED * len(some) and not are_texts(some, 4)


def _may_answer(cells: Cells, n: int) -> bool:
    """Whether cells can be answers: few words, or few whole numbers, that recur."""
    known = known_cells(cells)
    kinds = len(set(known))
    if kinds < 2 or 2 * kinds > len(known):  # labels recur
        return False
    return not has_fractions(known) if is_measured(known) else default_role(known) == "category"


def _is_function(values: Cells, keys: Cells) -> bool:
    """Whether what is known is the same wherever the key is."""
    first: dict[str | None, str] = {}
    pairs = [(key, value) for key, value in zip(keys, values, strict=True) if value and value.strip()]
    return all(first.setdefault(key, value) == value for key, value in pairs)


def _sets_by_type(table: _Header) -> None:
    """The one column whose cells mostly hold several labels is the candidates, where words recur or name the truth."""
    if table.having(*LABELLED, "vote") or any(table.roles[name].asks for name in table.roles):
        return
    several = {name: share for name in table.open() if (share := _share_of_sets(table.cells[name]))}
    truth = table.truth()
    fitting = []
    for name, share in several.items():
        words = _parts(table.cells[name])
        if truth:
            if share_among(truth, words) >= NEARLY_ALL:
                fitting.append(name)
        elif 2 * share >= 1 and 2 * len(words) <= words.total() and not all(map(is_number, words)):
            fitting.append(name)  # labels recur; free lists of words do not
    if len(fitting) == 1:
        table.give(fitting[0], "candidates")
        table._words[fitting[0]] = _parts(table.cells[fitting[0]])


def _share_of_sets(cells: Cells) -> float:
    """Which share of the cells names several labels; 0 of numbers, texts and pictures."""
    known = known_cells(cells)
    if not known or is_measured(known) or are_pictures(known) or are_texts(known, 8):
        return 0.0
    mark = guess_separator(known)
    with suppress(UserError):
        return sum(len(split_cell(cell, mark)) > 1 for cell in known) / len(known)
    return 0.0


def _parts(cells: Cells) -> Counter[str]:
    """The labels in cells that hold several, by the separator that they have."""
    known = known_cells(cells)
    mark = guess_separator(known)
    found: Counter[str] = Counter()
    with suppress(UserError):
        for cell, count in Counter(known).items():
            for part in split_cell(cell, mark):
                found[spelling(part)] += count
    return found


def _vocabulary(table: _Header) -> None:
    """Columns of words with one vocabulary are voters.

    They are where they share it with the truth or the candidates, or where there are three or more; two of them, or
    words like yes and no, may as well be something to learn from: that is asked. `final`, `expert` and their like are
    the truth, where a voter or the candidates have their words.
    """
    if table.having("vote") or any(column.asks == "lines" for column in table.roles.values()):
        return
    for name in table.having("candidates"):
        table._words[name] = _parts(table.cells[name])
    told = [name for name in table.having("annotator", "category") if not table.roles[name].guessed]
    columns = [name for name in table.open() if _are_words(table.cells[name]) and table.words(name)]
    classes = table.classes() + sum((table.words(name) for name in table.having("annotator")), Counter[str]())
    is_labelled = bool(table.having(*LABELLED, "true_label"))
    near = [name for name in columns if is_labelled and share_among(table.words(name), classes) >= NEARLY_ALL]
    groups = [group for group in _alike(table, [*columns, *told]) if len(group) > 1]
    for group in groups:  # a truth of few rows names few of the classes
        if is_labelled and any(name in near for name in group):
            near += [name for name in group if name not in near and name in columns]
    if not table.having("true_label"):
        settled = [name for name in columns if plain_name(name) in SETTLED]
        beside = [name for name in settled if name in near or any(name in group for group in groups)]
        if beside:
            table.give(beside[0], "true_label")
            near += [name for group in groups if beside[0] in group for name in group if name not in (*near, *told)]
    near = [name for name in near if name not in table.roles]
    if near:
        _voters_of(table, near)
    for group in groups:
        _group(
            table, [name for name in group if name in told or name not in table.roles], told, is_labelled=is_labelled
        )


def _are_words(cells: Cells) -> bool:
    """Whether cells can be names of classes, of which there may be a thousand: no numbers, dates, pictures or texts."""
    known = known_cells(cells)
    if not known or default_role(known) == "feature" or are_dates(known) or are_pictures(known):
        return False
    return sum(map(len, known)) <= MOST_WORDS * len(known)


def _voters_of(table: _Header, names: Sequence[str]) -> None:
    """Columns with the vocabulary of the truth or the candidates."""
    are_sets = bool(table.having("candidates", "candidate", "class", "probability"))
    if are_sets and len(names) == 1 and not table.having("true_label", "annotator"):
        table.give(names[0], "keep", asks="truth", instead="true_label")
        return
    if are_sets and table.having("class", "probability"):
        for name in names:
            table.give(name, "keep")
        return
    is_known = bool(table.having("annotator"))
    for name in names:
        is_open = not is_known and _says_yes_or_no(table.words(name))
        table.give(name, "annotator", asks="voters" if is_open else "", instead="category" if is_open else "")


def _group(table: _Header, names: Sequence[str], told: Sequence[str], *, is_labelled: bool) -> None:
    """Columns of one vocabulary, which is not that of the truth or the candidates."""
    said = {table.roles[name].role for name in names if name in told}
    names = [name for name in names if name not in told]
    if len(said) == 1:  # a person told one of them
        for name in names:
            table.give(name, next(iter(said)))
        return
    words = _vocabulary_of(table, names)
    is_small = len(names) < 3 or _says_yes_or_no(words)
    truth = table.truth()
    may_vote = not is_labelled or (bool(truth) and share_among(truth, words) >= SHARED)
    if len(names) < 2 or (is_labelled and is_small and not may_vote):
        return
    if is_labelled or is_small:
        asks = "voters" if is_labelled or not _says_yes_or_no(words) else "marks"
        for name in names:
            table.give(name, "category", asks=asks, instead="annotator")
    elif table.having("annotator"):  # answers to another question
        for name in names:
            table.give(name, "keep")
    else:
        for name in names:
            table.give(name, "annotator")


def _says_yes_or_no(words: Counter[str]) -> bool:
    return set(words) <= {*BINARY, *WORDS}


def _alike(table: _Header, names: Sequence[str]) -> list[list[str]]:
    """Groups of columns of one vocabulary, the largest first; who says but a few of the words belongs to it."""
    groups: list[list[str]] = []
    for name in names:
        words = table.words(name)
        fitting = [
            group
            for group in groups
            if any(
                share_among(words, table.words(other)) >= SHARED and share_among(table.words(other), words) >= SHARED
                for other in group
            )
        ]
        groups = [group for group in groups if group not in fitting]
        groups.append([*(one for group in fitting for one in group), name])
    single = [name for group in groups for name in group if len(_vocabulary_of(table, group)) == 1]
    if len(single) > 1:  # each speaks for one class, as labelling functions do
        groups = [group for group in groups if group[0] not in single] + [single]
    groups.sort(key=len, reverse=True)
    for group in [group for group in groups if len(group) > 1]:
        words = _vocabulary_of(table, group)
        for other in [other for other in groups if other is not group and len(other) <= len(group)]:
            if share_among(_vocabulary_of(table, other), words) >= NEARLY_ALL:
                group += other
                other.clear()
    return [group for group in groups if group]


def _vocabulary_of(table: _Header, names: Sequence[str]) -> Counter[str]:
    return sum((table.words(name) for name in names), Counter[str]())


def _scores(table: _Header) -> None:
    """`gpt_score` beside the annotator `gpt`: how sure each answer was, and nothing to learn from."""
    people = {column.name.casefold(): column.shown for column in table.roles.values() if column.role == "annotator"}
    people |= {shown.casefold(): shown for shown in people.values()}
    for name in table.open():
        who = people.get(_scored(name).casefold())
        cells = [cell for cell in table.given[name] if cell and cell.strip()]
        numbers = sum(is_number(cell.replace(",", ".")) for cell in cells)
        if who is not None and _scored(name) != name and cells and numbers >= NEARLY_ALL * len(cells):
            table.give(name, "score", who)


def _scored(name: str) -> str:
    """Return the annotator whose scores a column of this name holds: what stands before the ending, if there is one."""
    end = next((end for end in SCORE_ENDS if name.casefold().endswith(end) and len(name) > len(end)), "")
    return name[: len(name) - len(end)]


# ---- rules: what there is to see and to learn from -------------------------------------------------------------------


def _ids(table: _Header) -> None:
    """A column with the name of an id and distinct cells, or one that counts the rows."""
    if table.having("id", "task"):
        return
    fitting = []
    for name in table.open():
        cells = table.given[name]
        if not cells or any(not cell or not cell.strip() for cell in cells) or len(set(cells)) < len(cells):
            continue
        if is_named_id(name) and not has_fractions(cells) and not are_texts(cells, 4) and not are_pictures(cells):
            fitting.append((plain_name(name) not in USUAL["id"], name))
        elif _counts_rows(cells):
            fitting.append((True, name))
    if fitting:
        table.give(min(fitting, key=lambda one: one[0])[1], "id")


def _counts_rows(cells: Cells) -> bool:
    """Whether cells are 0, 1, 2, … or go on from another number; five rows at least."""
    numbers = [int(cell) for cell in cells if cell and cell.strip().isdecimal()]
    return len(numbers) == len(cells) >= 5 and all(b - a == 1 for a, b in pairwise(numbers))


def _payload(table: _Header) -> None:
    """A column of pictures and one of texts; in long form told of the first line of each example."""
    task = next(iter(table.having("task")), None)
    rows: Sequence[int] | None = None
    if task is not None:
        rows = list({cell: at for at, cell in reversed(list(enumerate(table.given[task])))}.values())
    cells = {
        name: table.given[name] if rows is None else [table.given[name][at] for at in rows] for name in table.open()
    }
    if not table.having("image"):
        pictures = [name for name, some in cells.items() if are_pictures(some)]
        pictures.sort(key=lambda name: plain_name(name) not in USUAL["image"])
        for name in pictures[:1]:
            table.give(name, "image")
            del cells[name]
    if not table.having("text"):
        wanted = {name: 2 if plain_name(name) in USUAL["text"] else 4 for name in cells}
        wordy = sorted(
            (name for name, words in wanted.items() if are_texts(cells[name], words)), key=wanted.__getitem__
        )
        for name in wordy[:1]:
            table.give(name, "text")


def _rest(table: _Header) -> None:
    """Labels that were not told apart, dates, and columns without anything; then numbers and words to learn from."""
    commas = dict(zip(table.given, have_decimal_commas(list(table.given.values())), strict=True))
    for name in table.open():
        cells = table.given[name]
        if name.startswith(UNNAMED) and not any(cell and cell.strip() for cell in cells):
            table.give(name, "ignore")  # as after a delimiter at the end of every line
        elif are_dates(cells) or (may_hold_labels(name) and not has_fractions(cells)):
            table.give(name, "keep")  # a day as words would say which examples came on it, and no more
        else:
            table.give(name, "feature" if commas[name] else default_role(cells))


RULES: tuple[Callable[[_Header], None], ...] = (
    *(_reserved, _marked, _objects, _lists),
    *(_long_form, _truth, _sets, _annotators, _answers, _classes, _probabilities),
    *(_lines, _sets_by_type, _vocabulary, _scores),
    *(_ids, _payload, _rest),
)
"""The rules, in their order; each gives roles to columns that have none."""


# ---- names of classes in names of columns ----------------------------------------------------------------------------


def _shown(name: str, role: str) -> str:
    """Return what a column is called, once its role is known."""
    if role == "probability":
        stem = next((s for s in SHARE_STARTS if name.casefold().startswith(s.casefold()) and len(name) > len(s)), "")
        bare = name[len(stem) :]
        return bare.removesuffix(")") if stem.endswith("(") else bare
    if role == "score" and not name.startswith(MARKS["score"]):
        return bare_name(_scored(name), "annotator")
    return _class_name(name) if role == "class" else bare_name(name, role)


def _class_name(name: str) -> str:
    """Return what follows the stem of a column of a class, or its mark."""
    found = None if name.startswith(MARKS["class"]) else _CLASS.fullmatch(name)
    return bare_name(name, "class") if found is None else found["name"] or found["number"]


def _stems(names: Sequence[str]) -> Iterator[dict[str, str]]:
    """Yield columns that share a stem, each with its ending: the longest stem that all share, then the shortest."""
    groups: dict[str, list[str]] = {}
    for name in names:
        stem = _SHARED_STEM.match(name)
        if stem is not None:
            groups.setdefault(stem[1], []).append(name)
    for shortest, group in groups.items():
        shared = "".join(one for one, *_ in takewhile(lambda letters: len({*letters}) == 1, zip(*group, strict=False)))
        longest = max((end for end in range(len(shared) + 1) if shared[end - 1 : end] in "_.=: -"), default=0)
        for end in dict.fromkeys((max(longest, len(shortest)), len(shortest))):
            yield {name: name[end:].strip() for name in group}


def _is_matrix(names: Mapping[str, str], marks: Mapping[str, list[bool]], *, always: bool = False) -> bool:
    """Whether columns can be classes: at least two, with distinct names, and a mark in every row.

    Parameters
    ----------
    always
        Their names leave no doubt: a row without a mark is an error, which reading names.
    """
    different = len(set(names.values())) == len(names) >= 2 and all(names.values())
    return different and (always or all(map(any, zip(*(marks[name] for name in names), strict=True))))


# ---- what is said of it ----------------------------------------------------------------------------------------------


def has_labels(columns: Sequence[Column]) -> bool:
    """Whether some column holds labels of any kind."""
    return any(column.role in (*LABELLED, "true_label") for column in columns)


def notes_on(columns: Sequence[Column]) -> list[str]:
    """Return sentences on the columns whose role was guessed."""
    words = {
        "text": "{} was taken for what there is to read.",
        "image": "{} was taken for pictures.",
        "id": "{} was taken for the ids.",
        "true_label": "{} was taken for the true label.",
        "candidates": "{} was taken for the candidates.",
        "candidate": "{} were taken for candidates, one a cell.",
        "annotator": "{} were taken for annotators; the candidates are all labels they gave.",
        "score": "{} were taken for how sure the annotators were.",
        "class": "{} were taken for classes: 1 is a candidate.",
        "probability": "{} were taken for probabilities of classes; candidates are those that make up 99 %.",
        "vote": "A line was taken for one annotator's label (in {}).",
        "vector": "{} was taken for lists of numbers to learn from.",
        "category": "Columns of words, to be encoded before they are learnt from: {}.",
        "keep": "Columns that are carried along, not learnt from: {}.",
    }
    notes = []
    for role, sentence in words.items():
        names = [column.name for column in columns if column.guessed and column.role == role]
        if names:
            if sentence.startswith("{}"):
                one = len(names) == 1
                sentence = sentence.replace(" were ", " was ", 1) if one else sentence.replace(" was ", " were ", 1)
                sentence = ("Column " if one else "Columns ") + sentence
            notes.append(sentence.format(listing(names)))
    commas = [column.name for column in columns if column.comma and column.role == "feature"]
    if commas:
        notes.append(
            f"The numbers of {'column' if len(commas) == 1 else 'columns'} {listing(commas)} were read with a decimal "
            "comma: 1,5 is one and a half."
        )
    return notes

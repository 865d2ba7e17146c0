"""Columns of a table: the roles they can play, how roles are guessed from names and first cells, and cells of names.

The guess is careful: a column becomes labels only where its name leaves no doubt, since a label that is learnt from
as a feature, or a feature that is taken for a label, spoils everything quietly. What was guessed is said in the notes,
and `ReadOptions.columns` overrides it.
"""

from __future__ import annotations

import ast
import csv
import json
import math
import re
import shlex
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import combinations, takewhile
from typing import NoReturn

import numpy as np
import numpy.typing as npt

from pll.errors import UserError
from pll.formats.checks import listing, shorten
from pll.formats.tabular.answers import are_answers, are_objects, only_labels
from pll.images import SUFFIXES

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

_LABELLED = {"candidates", "candidate", "vote", "class", "annotator", "probability"}
"""Roles of which one is enough for candidate sets."""

LABEL_COLUMNS = ("id", "candidates", "true_label", "split")
"""Reserved names; a feature cannot be called so."""

PAYLOAD_COLUMNS = ("text", "image")
"""Names of columns that hold texts or pictures."""

CONSENSUS_COLUMNS = ("num_annotations", "consensus_label", "annotator_agreement", "consensus_quality_score")
"""Results of cleanlab, which are not read back."""

MARKS = {
    "annotator": "annotator:",
    "score": "score:",
    "class": "candidate:",
    "feature": "feature:",
    "category": "category:",
    "keep": "keep:",
}
"""Prefixes that mark the role of a column: `annotator:ann`, `category:zip`."""

SCORE_ENDS = ("_score", "_confidence", "_prob", " score", " confidence")
"""What follows the name of an annotator's column in that of their scores."""

IDENTIFIED = "identified_label"
RESULT_COLUMNS = ("identified_label", "confidence", "margin", "entropy", "source", "reviewer", "decided_at")
"""The columns of labels.csv that hold results: written beside the data, not read back where `IDENTIFIED` is there."""

UNNAMED = "unnamed"
"""Name of a column without one, followed by its position."""


@dataclass(frozen=True)
class Column:
    """A column and its role.

    Attributes:
        at: its position in the table, from 0.
        name: its name, trimmed.
        role: one of `ROLES`.
        shown: what it is called as a feature, an annotator, a class.
        guessed: whether neither the user nor a reserved name says so.
        first: its first cells, for a person to see what it is; None where one is missing.
        alike: whether it shares its words with other columns, and agrees with them, as annotators do.
        flag: whether it is one of several columns of marks that may be classes, in a table without labels.
        within: whether its cells name candidates of their rows, as the true label does, under a name that says nothing.
        comma: whether its numbers have a decimal comma.
        repeats: whether its first cells look like ids, and some stand twice or are empty further down.
        in_long_form: its role if every line is one answer (`task`, `worker`, `vote`); "" where that is no question.
        otherwise: its role if every line is an example, where that is the question.
    """

    at: int
    name: str
    role: str
    shown: str
    guessed: bool = False
    first: tuple[str | None, ...] = ()
    alike: bool = False
    flag: bool = False
    within: bool = False
    comma: bool = False
    repeats: bool = False
    in_long_form: str = ""
    otherwise: str = ""


def marked(role: str, name: str) -> str:
    """The header of a column that is marked; in quotes what would be lost without.

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

    >>> option("true label", "true_label")
    "--column 'true label=true_label'"
    """
    return f"--column {shlex.quote(f'{name}={role}')}"


def results_among(names: Sequence[str]) -> set[str]:
    """Return the columns with results of an earlier run: those of `RESULT_COLUMNS` from `IDENTIFIED` on.

    >>> sorted(results_among(["id", "source", "identified_label", "confidence"]))
    ['confidence', 'identified_label']
    """
    start = names.index(IDENTIFIED) if IDENTIFIED in names else len(names)
    return set(names[start:]) & set(RESULT_COLUMNS)


Cells = Sequence[str | None]
"""The first cells of a column, as text; None where one is missing."""

MISSING = (
    *("", "?", "NA", "N/A", "n/a", "na", "#N/A", "#N/A N/A", "#NA", "<NA>"),
    *("NaN", "nan", "-NaN", "-nan", "NULL", "null", "None", "none"),
)
"""Missing values in a column of numbers (in label columns these are ordinary names)."""

BINARY = {"0": False, "1": True, "0.0": False, "1.0": True, "false": False, "true": True}
"""Cells of the column of a class."""

WORDS = {
    **dict.fromkeys(("yes", "y", "ja", "oui", "sí", "si", "x", "✓", "✔", "☑"), True),
    **dict.fromkeys(("no", "n", "nein", "non"), False),
}
"""Words in the column of a class; where none says no, an empty cell does."""

NO_ANSWER = (
    *("", "?", "??", "-", "--", "–", "—", ".", "n/a", "n.a", "na", "#n/a", "<na>", "nan", "none", "null", "nil"),
    *("empty", "(empty)", "no answer", "no label", "not applicable", "skip", "skipped"),
    *("don't know", "dont know", "do not know", "i don't know", "i do not know", "idk", "no idea"),
    *("can't tell", "cannot tell", "can't say", "cannot say"),
    *("weiss nicht", "keine angabe", "ohne angabe", "keine antwort", "keine ahnung", "k.a", "ka"),
    *("ne sait pas", "sans réponse", "non renseigné", "no sabe", "sin respuesta"),
)
"""How people write that they gave no answer, in the common spelling."""

_DECIMAL_COMMA = re.compile(r"[+-]?(?:\d+|\d{1,3}(?:\.\d{3})+),\d+(?:[eE][+-]?\d+)?")
_WITH_POINTS = re.compile(r"[+-]?\d{1,3}(?:\.\d{3})*")
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(?:,\d{3})+")


# ---- what the cells of a column hold ---------------------------------------------------------------------------------


def looks_like_picture(cell: str) -> bool:
    """Whether a cell is the path or address of a picture.

    >>> looks_like_picture("cats/1.PNG"), looks_like_picture("https://x.org/1.jpg?s=2"), looks_like_picture("a cat")
    (True, True, False)
    """
    bare = cell.split("?", 1)[0].split("#", 1)[0].lower()
    return bare.endswith(SUFFIXES) or cell.startswith("data:image/")


def is_number(cell: str) -> bool:
    """Whether a cell is written as a number, infinite ones included (which reading refuses, with their row).

    >>> is_number(" 1e3 "), is_number("1_000"), is_number("nan")
    (True, False, False)
    """
    try:
        return "_" not in cell and not math.isnan(float(cell))
    except ValueError:
        return False


def are_pictures(cells: Cells) -> bool:
    """Whether nearly all cells are pictures."""
    return _mostly(looks_like_picture, cells)


def is_measured(cells: Cells) -> bool:
    """Whether a column holds numbers: at least half of its cells; the others are errors or missing."""
    filled = _known(cells)
    return bool(filled) and 2 * sum(map(is_number, filled)) >= len(filled)


def have_decimal_commas(columns: Sequence[Cells]) -> list[bool]:
    """Whether the numbers of each column are written as 1,5 or 1.234,5, as in much of Europe.

    All cells of such a column are, or are whole; and since 1,234 may be more than a thousand, in some column there must
    be a number that cannot be read so.

    >>> have_decimal_commas([["1,5", "2"], ["1.500", "1.200,5"], ["1.5", "2"], ["a,1", "2,5"]])
    [True, True, False, False]
    >>> have_decimal_commas([["1,500", "2,300"]]), have_decimal_commas([["1,500", "0,300"]])
    ([False], [True])
    """
    found, certain = [], False
    for cells in columns:
        if not any("," in cell for cell in cells if cell):  # nearly always, and at once
            found.append(False)
            continue
        known = [cell.strip() for cell in _known(cells)]
        commas = [cell for cell in known if _DECIMAL_COMMA.fullmatch(cell)]
        whole = sum(_WITH_POINTS.fullmatch(cell) is not None or cell.lstrip("+-").isdecimal() for cell in known)
        is_one = bool(commas) and len(commas) + whole >= len(known)
        found.append(is_one)
        certain = certain or (is_one and any(not _THOUSANDS.fullmatch(cell) for cell in commas))
    return [is_one and certain for is_one in found]


def has_fractions(cells: Cells) -> bool:
    """Whether there is a number that is not whole; labels are whole."""
    return any(
        cell and is_number(cell) and not float(cell).is_integer() and math.isfinite(float(cell)) for cell in cells
    )


def are_binary(cells: Cells) -> bool:
    """Whether all cells are 0 or 1 (or the like), as in the column of a class."""
    return bool(cells) and all(cell is not None and cell.strip().casefold() in BINARY for cell in cells)


def read_marks(cells: Cells) -> list[bool] | None:
    """Return whether each cell of a column marks its row: 1, yes, x, against 0, no, or nothing; None if it is none.

    >>> (
    ...     read_marks(["yes", "no"]),
    ...     read_marks(["x", ""]),
    ...     read_marks(["1", ""]),
    ...     read_marks(["0", ""]),
    ...     read_marks(["a"]),
    ... )
    ([True, False], [True, False], [True, False], None, None)
    """
    known = [(cell or "").strip().casefold() for cell in cells]
    means = BINARY | WORDS
    if not any(known) or any(cell and cell not in means for cell in known):
        return None
    if "" in known and not all(means[cell] for cell in known if cell):
        return None  # a missing answer, not a no
    return [bool(cell) and means[cell] for cell in known]


def numbers_in(cell: str) -> list[float] | None:
    """Return the numbers of a list, as JSON, Python or NumPy writes it; None where it is no list of two or more.

    >>> numbers_in("[0.5, -1]"), numbers_in("[0.1 2. ]"), numbers_in('["0.5", "1"]'), numbers_in("[a, b]")
    ([0.5, -1.0], [0.1, 2.0], [0.5, 1.0], None)
    """
    text = cell.strip()
    if not (text.startswith("[") and text.endswith("]")):
        return None
    parts = text[1:-1].replace(",", " ").replace('"', " ").split()
    try:
        numbers = [math.nan if part in ("null", "None", "NaN", "nan") else float(part) for part in parts]
    except ValueError:
        return None
    return numbers if len(numbers) > 1 else None


def are_vectors(cells: Cells) -> bool:
    """Whether the cells are lists of numbers, equally long, and not all of them whole (as class numbers are)."""
    if not next((cell for cell in cells if cell), "").lstrip().startswith("["):
        return False
    lists = [numbers_in(cell) for cell in _known(cells)]
    known = [numbers for numbers in lists if numbers is not None]
    if len(known) < len(lists) or len({len(numbers) for numbers in known}) > 1:
        return False
    return any(not number.is_integer() for numbers in known for number in numbers)


def are_texts(cells: Cells, words: int) -> bool:
    """Whether a column holds texts: mostly distinct cells, of so many words on average."""
    filled = _filled(cells)
    if not filled or _mostly(is_number, filled) or are_pictures(filled):
        return False
    return sum(len(cell.split()) for cell in filled) >= words * len(filled) and 2 * len(set(filled)) > len(filled)


def default_role(cells: Cells) -> str:
    """Return the role of a column from its cells alone: a feature, a category, or a text that is only kept."""
    filled = _known(cells)
    if not filled or is_measured(filled) or all(_DECIMAL_COMMA.fullmatch(cell.strip()) for cell in filled):
        return "feature"  # what is no number in it, reading refuses with its row
    few = len(set(filled)) <= max(20, len(filled) // 2)
    short = sum(map(len, filled)) <= 60 * len(filled)
    return "category" if few and short else "keep"


def _mostly(test: Callable[[str], bool], cells: Cells) -> bool:
    filled = _filled(cells)
    return bool(filled) and sum(map(test, filled)) >= 0.9 * len(filled)


def _filled(cells: Cells) -> list[str]:
    return [cell for cell in cells if cell and cell.strip()]


def _known(cells: Cells) -> list[str]:
    return [cell for cell in cells if cell is not None and cell.strip() not in MISSING]


_FEWEST_COLUMNS, _FEWEST_RISING = 2, 5


def is_data(first: Sequence[str], sample: Sequence[Cells]) -> bool:
    """Whether the first row of a table is data: it has a number wherever the rows below have numbers.

    Numbers that rise evenly (0, 1, 2 …; years; wavelengths) are names after all, and so is a long row that just rises.

    Args:
        first: the first row.
        sample: the first cells below, by column.

    >>> is_data(["5.1", "3.5", "setosa"], [["4.9"], ["3.0"], ["setosa"]])
    True
    >>> is_data(["0", "1", "2"], [["4.9"], ["3.0"], ["1.4"]]), is_data(["width", "2"], [["4.9"], ["3.0"]])
    (False, False)
    """
    measured = [at for at, cells in enumerate(sample) if is_measured(cells)]
    if len(measured) < _FEWEST_COLUMNS:
        return False
    above = [first[at].strip() for at in measured]
    if not all(cell in MISSING or is_number(cell) for cell in above):
        return False
    numbers = np.array([float(cell) for cell in above if is_number(cell)])
    if len(numbers) < _FEWEST_COLUMNS or not np.isfinite(numbers).all():
        return False
    steps = np.diff(numbers)
    is_even = bool(np.isclose(steps, steps[0], rtol=1e-6).all()) and steps[0] != 0
    if len(numbers) == _FEWEST_COLUMNS:  # two numbers always are a step apart
        is_even = steps[0] == 1 and numbers[0] in (0, 1)
    return not is_even and not (len(numbers) >= _FEWEST_RISING and bool((steps > 0).all()))


def numbered(count: int) -> list[str]:
    """Return names for columns without a header.

    >>> numbered(2)
    ['column 1', 'column 2']
    """
    return [f"column {at}" for at in range(1, count + 1)]


# ---- roles from names and first cells --------------------------------------------------------------------------------


SAMPLE_ROWS = 200
"""Rows from which roles are guessed."""
SHOWN = 3
"""Number of cells shown with a guess."""

_PEOPLE = "annotators?|worker|rater|labell?er|coder|judge|expert"
_NUMBERED = (
    re.compile(rf"(?:{_PEOPLE})[ _.-]*(?:\d{{1,4}}|[a-z])", re.IGNORECASE),
    re.compile(r"(?:annotation|label|vote|rating)[ _.-]*\d{1,4}", re.IGNORECASE),
    re.compile(r"ann[ _.-]*\d{1,2}", re.IGNORECASE),  # more digits are years, as in "ann. 2019"
)
_NAMED = re.compile(rf"(?:{_PEOPLE})[ _.-]+.{{1,40}}", re.IGNORECASE)
_CLASS = re.compile(
    r"(?P<stem>candidates?|cand|class|label|y)(?:(?:[_.= -]|: ?)(?P<name>.+)|(?P<number>\d{1,4}))", re.IGNORECASE | re.S
)
_SHARED_STEM = re.compile(r"(.+?[_.=: -])(?=.)", re.S)
_LABEL_NUMBER = re.compile(r"label[ _.-]*\d{1,4}", re.IGNORECASE)
_TASKS = (
    *("task", "task_id", "item", "item_id", "example", "example_id"),
    *("sample_id", "question_id", "document_id", "id"),
)
_WORKERS = (
    *("annotator", "annotator_id", "annotator_name", "worker", "worker_id", "workerid", "rater", "rater_id"),
    *("labeler", "labeller", "labeler_id", "coder", "judge", "user", "user_id", "username"),
)
_VOTES = ("label", "answer", "annotation", "response", "choice", "vote", "class")
_TRUTHS = (
    *("true_label", "truth", "gold", "gold_label", "ground_truth", "groundtruth", "gt", "gt_label", "y_true"),
    *("label", "class", "class_label", "classification", "target"),
)
_SETTLED = (
    *("expert", "expert_label", "adjudicated", "adjudicated_label", "adjudication", "consensus"),
    *("final", "final_label", "final_answer", "reference", "reference_label", "reference_standard", "gold_standard"),
    *("golden", "goldlabel", "correct", "correct_label", "correct_answer", "correct_class", "actual", "verified"),
    *("resolved", "resolved_label", "answer_key", "true_class", "true_answer", "real_label", "goldstandard"),
    *("experte", "expertin", "expertenurteil", "referenz", "wahrheit", "endgültig", "endurteil", "richtig"),
    *("geprüft", "korrekt", "korrigiert", "checked", "validated", "corrected", "vérifié", "validé", "revisado"),
    *("référence", "vérité", "vérité_terrain", "définitif", "referencia", "correcto", "correcta"),
)
"""Names of the true label only where another column holds the same labels: a `final` may be anything."""
_SHARES = ("prob_", "proba_", "probability_", "prob:", "prob ", "p_", "score_", "softmax_")
_SETS = (
    *("candidate_labels", "candidate_set", "candidate", "possible_labels", "partial_labels", "label_set"),
    *("labels", "options", "annotations", "answers"),
)
_IDS = (
    *(f"{UNNAMED} 1", "unnamed: 0", "index", "idx", "uid", "uuid"),
    *("row_id", "example_id", "sample_id", "item_id", "task_id"),
)
_TEXTS = ("sentence", "content", "document", "review", "tweet", "comment", "question", "body", "description")
_IMAGES = ("img", "picture", "photo", "image_url", "image_path", "image_file", "file_name", "filename", "path", "url")

Guess = dict[str, tuple[str, str, bool]]
"""By name of the column: its role, what it is called there, and whether that is only guessed."""
_Guesses = Callable[[Mapping[str, Cells], set[str], Guess, Mapping[str, Cells]], Guess]


def roles_of(
    header: Sequence[str],
    sample: Sequence[Cells],
    told: Mapping[str, str] | None = None,
    *,
    find_ids: bool = True,
    not_ids: Collection[str] = (),
    lines: Sequence[Cells] | None = None,
) -> list[Column]:
    """Guess the role of each column.

    Args:
        header: names of the columns, trimmed, none twice.
        sample: the first cells of each column, as text; None where a cell is missing.
        told: by name, what the user says; one of `ROLES` each.
        find_ids: whether a column of distinct cells that look like ids names the examples, whatever it is called.
        not_ids: columns whose cells are known to repeat further down.
        lines: cells of each column in which lines of one answer each are looked for (`answer_lines`); by default
            `sample`.

    Raises:
        UserError: the user names a column or a part that does not exist, or gives one part to two columns.

    >>> [column.role for column in roles_of(["id", "width", "colour"], [["1"], ["2.5"], ["red"]])]
    ['id', 'feature', 'category']
    """
    said = _checked(told or {}, header)
    called: dict[tuple[str, str], str] = {}
    with suppress(UserError):  # two columns of one part, of which a person tells one apart
        again = partial(roles_of, find_ids=find_ids, not_ids=not_ids, lines=lines)
        called = {(one.name, one.role): one.shown for one in again(header, sample)} if said else {}
    given = dict(zip(header, sample, strict=True))
    in_json = [name for name, some in given.items() if any(cell and "}" in cell for cell in some)]
    cells = given | {name: only_labels(name, given[name]) for name in in_json}

    def objects(columns: Mapping[str, Cells], taken: set[str], roles: Guess, cells: Mapping[str, Cells]) -> Guess:
        """A model's answers in JSON, as an annotator's where there are no other labels; other objects are kept."""
        role = "keep" if taken & (_LABELLED - {"annotator"}) else "annotator"
        left = [name for name in in_json if name in columns]
        answers = {name: (role, name, True) for name in left if are_answers(given[name])}
        return {name: ("keep", name, True) for name in left if are_objects(given[name])} | answers

    def guessed(roles: Guess, *guesses: _Guesses) -> Guess:
        for guess in guesses:
            passed = not_ids if guess is _odd_identity else ()
            open_columns = {name: cells[name] for name in header if name not in roles and name not in passed}
            taken = {role for role, _, _ in roles.values()}
            roles = roles | guess(open_columns, taken, roles, cells)
        return roles

    named = guessed(
        {name: (role, called.get((name, role)) or _shown(name, role), False) for name, role in said.items()},
        *(
            _reserved,
            _marked,
            _label_shares,
            _vectors,
            _long_form,
            _label_numbers,
            _options,
        ),
        *(_annotators, _classes, _probabilities, _marked_classes, _counts),
    )
    labels = guessed(named, _people, _sets, objects, _truth)
    rest = (
        *(objects, _scores, _within, _identity, *((_odd_identity,) if find_ids else ())),
        *(_payload_of_examples, _dates),
        _the_rest,
    )
    by_line = cells if lines is None else dict(zip(header, lines, strict=True))
    without_people = guessed(named, _sets, _truth)  # an answer and what it should be share their words as people do
    answers, are_sure = _odd_long_form(without_people, said, by_line)
    if are_sure:
        labels = without_people
    elif labels.keys() != without_people.keys():  # columns of people: that is asked about already
        answers = {}
    otherwise = guessed(labels, *rest) if answers else {}
    roles = guessed(labels | answers, *rest) if are_sure or not answers else otherwise
    alike = set(_alike({name: cells[name] for name in header if roles[name][2] and roles[name][0] in _PERHAPS}))
    flags, commas = _flags(cells, roles), have_decimal_commas(sample)
    within = _within({name: given[name] for name in header if roles[name][::2] == ("keep", True)}, set(), roles, cells)
    columns = [
        Column(
            at,
            name,
            *roles[name],
            first=tuple(given[name][:SHOWN]),
            alike=name in alike and not is_annotator(name),
            flag=name in flags,
            within=name in within,
            comma=commas[at],
            repeats=name in not_ids,
            in_long_form=answers[name][0] if name in answers else "",
            otherwise=otherwise[name][0] if name in answers else "",
        )
        for at, name in enumerate(header)
    ]
    for role in SINGLE:
        twice = [column.name for column in columns if column.role == role]
        if len(twice) > 1:
            raise UserError(
                f"The columns {twice[0]} and {twice[1]} both are {role} ({ROLES[role]}); only one can be. "
                "Say what the other is, or remove it."
            )
    return columns


# ---- the guesses of `roles_of` ---------------------------------------------------------------------------------------


def _checked(told: Mapping[str, str], header: Sequence[str]) -> dict[str, str]:
    for name, role in told.items():
        if name not in header:
            raise UserError(f"There is no column {shorten(name)}; there are {listing(header)}.")
        if role not in ROLES:
            raise UserError(f"The column {name} cannot be {role!r}; use one of {', '.join(ROLES)}.")
    return dict(told)


def _reserved(columns: Mapping[str, Cells], taken: set[str], roles: Guess, cells: Mapping[str, Cells]) -> Guess:
    found: Guess = {}
    results = results_among(list(cells))
    for name in columns:
        part = name.casefold()
        if part in CONSENSUS_COLUMNS or name in results:
            found[name] = ("ignore", name, False)
        elif part in RESULT_COLUMNS:  # of the user: never a feature, and kept
            found[name] = ("keep", name, True)
        elif part in (*LABEL_COLUMNS, *PAYLOAD_COLUMNS) and part not in taken:
            found[name] = (part, name, False)
    return found


def _marked(columns: Mapping[str, Cells], taken: set[str], roles: Guess, cells: Mapping[str, Cells]) -> Guess:
    """Columns marked as our own tables mark them: `annotator:ann`, `category:zip`."""
    found: Guess = {}
    for name in columns:
        for role, mark in MARKS.items():
            if name.startswith(mark) and name != mark and not (role == "class" and "candidates" in taken):
                found[name] = (role, bare_name(name, role), False)
    return found


def _vectors(columns: Mapping[str, Cells], taken: set[str], roles: Guess, cells: Mapping[str, Cells]) -> Guess:
    """Columns whose cells are lists of numbers: embeddings."""
    return {name: ("vector", name, True) for name, some in columns.items() if are_vectors(some)}


_SHARES_OF_LABELS = re.compile(
    r"(?:.*[^a-z])?(?:labels?|class(?:es)?|targets?|votes?|counts?|dist|distributions?|probas?|probs?|probabilit(?:y|ies)"
    r"|softmax|logits?|pred(?:iction)?s?|scores?|confidences?)(?:[^a-z].*)?"
)


def _label_shares(columns: Mapping[str, Cells], taken: set[str], roles: Guess, cells: Mapping[str, Cells]) -> Guess:
    """`label_dist`, `probs`: lists of shares or logits of the labels, or of how many people gave each: never features.

    They do not say which number is of which class, so nothing is made of them.
    """
    named = [name for name in columns if _SHARES_OF_LABELS.fullmatch(name.casefold())]
    return {name: ("keep", name, True) for name in named if _are_label_shares(name, columns[name])}


def _are_label_shares(name: str, cells: Cells) -> bool:
    lists = [numbers_in(cell) for cell in _known(cells)]
    known = [numbers for numbers in lists if numbers is not None]
    if not known or len(known) < len(lists) or len({len(numbers) for numbers in known}) > 1:
        return False
    amounts = np.array(known)
    if (amounts == amounts.round()).all():  # [3, 0, 2]: not class numbers, of which none stands twice
        return bool((amounts >= 0).all()) and 2 * sum(len(set(one)) < len(one) for one in known) > len(known)
    return "logit" in name.casefold() or bool((amounts >= 0).all() and (abs(amounts.sum(axis=1) - 1) <= 0.02).all())


def _flags(cells: Mapping[str, Cells], roles: Guess) -> set[str]:
    """Columns of marks that may be classes where a table has no labels: three or more, with a mark in every row."""
    parts = {role for role, _, _ in roles.values()}
    if parts & (_LABELLED | {"true_label"}):
        return set()
    guessed = [name for name, (role, _, is_guess) in roles.items() if is_guess and role in ("feature", "category")]
    found = {name: marks for name in guessed if (marks := read_marks(cells[name])) is not None}
    return set(found) if len(found) >= _FEWEST_FLAGS and all(map(any, zip(*found.values(), strict=True))) else set()


_FEWEST_FLAGS = 3


def _long_form(columns: Mapping[str, Cells], taken: set[str], roles: Guess, cells: Mapping[str, Cells]) -> Guess:
    """`task, annotator, label`: one row per label. A task column called `id` must name some example twice."""
    if taken & {"candidates", "annotator", "class"} or taken & {"task", "worker", "vote"} == {"task", "worker", "vote"}:
        return {}
    named = {name.casefold(): name for name in columns}
    found: Guess = {}
    for role, known in (("worker", _WORKERS), ("vote", _VOTES), ("task", _TASKS)):
        if role in taken:
            continue
        fitting = [named[name] for name in known if name in named and named[name] not in found]
        if role == "task" and not fitting:  # `id` is reserved, and taken already
            fitting = [name for name, (part, _, guessed) in roles.items() if part == "id" and not guessed]
            fitting = [name for name in fitting if len(set(cells[name])) < len(cells[name])]
        if len(fitting) == 0 or (len(fitting) > 1 and role != "task"):
            return {}
        found[fitting[0]] = (role, fitting[0], True)
    return found


_ORDINALS = re.compile(
    r"\d+|\b(?:first|second|third|fourth|fifth|1st|2nd|3rd|[45]th|primary|secondary|tertiary|erste[rs]?|zweite[rs]?"
    r"|dritte[rs]?|premi[eè]re?|deuxi[eè]me|troisi[eè]me|primer[oa]?|segund[oa]|tercer[oa]?|[a-e])\b"
)
"""What numbers columns of one kind: `Option 1`, `second choice`."""
_FEWEST_EQUAL = 5
"""Equal pairs that independent columns would have, from which it says something that there is none."""


def _options(columns: Mapping[str, Cells], taken: set[str], roles: Guess, cells: Mapping[str, Cells]) -> Guess:
    """`Option 1, Option 2, …`: columns of the same words that never name one twice in a row, as annotators would."""
    if taken & _LABELLED:
        return {}
    groups: dict[str, dict[str, Cells]] = {}
    for name, some in columns.items():
        key, count = _ORDINALS.subn("", name.casefold())
        is_person = _NUMBERED[0].fullmatch(name) or _NAMED.fullmatch(name)
        if count and not is_person and not _YEAR.search(name) and default_role(some) == "category":
            groups.setdefault(key, {})[name] = some
    for group in groups.values():
        if len(group) > 1 and _list_options(list(group.values())):
            return {name: ("candidate", name, True) for name in group}
    return {}


def _list_options(columns: Sequence[Cells]) -> bool:
    """Whether columns share their words and no two name the same label in a row, far from by chance."""
    first = max(columns, key=lambda some: len(_known(some)))
    words = _words(first)
    if not 2 <= len(words) <= MOST_WORDS or any(_share_among(some, words) < SHARED for some in columns if _known(some)):
        return False
    expected = 0.0
    for k, one in enumerate(columns):
        for other in columns[:k]:
            pairs = [
                (spelling(a), spelling(b))
                for a, b in zip(one, other, strict=True)
                if _known([a]) and _known([b])
                if a and b
            ]
            if any(a == b for a, b in pairs):
                return False
            left, right = (Counter(pair[side] for pair in pairs) for side in (0, 1))
            expected += sum(left[word] * right[word] for word in left) / max(len(pairs), 1)
    return expected >= _FEWEST_EQUAL


_FEWEST_LINES, _FEWEST_TASKS = 12, 4
"""Lines and examples in them from which lines of one answer each can be told from other tables."""
AGREEMENT, PERHAPS = 0.15, 0.05
"""Kappa of the answers to one example from which lines are taken for answers, and from which that is asked."""
_ERRORS = 2.5
"""Standard errors, roughly, that kappa must be above chance."""
MOST_RATINGS = 20
"""Different whole numbers that answers are supposed to be at most."""
UNEVEN = 3
"""How many times the median number of lines the largest example of lines that are taken for answers may have."""


def _odd_long_form(roles: Guess, said: Mapping[str, str], cells: Mapping[str, Cells]) -> tuple[Guess, bool]:
    """Long form under any header: the roles of its three columns, and whether they are taken or only asked about.

    Not taken where another column is called as true labels are and is not the same for all lines of an example: a
    customer's label month by month looks the same. What is the same, and named as the answers are, is not learnt from.
    """
    if {role for role, _, _ in roles.values()} & (_LABELLED | {"task", "worker"}):
        return {}, False
    truth = next((name for name, (role, _, _) in roles.items() if role == "true_label" and name not in said), None)
    passed = {name for name, (role, _, _) in roles.items() if role != "id" and name != truth} | set(said)
    found = answer_lines({name: some for name, some in cells.items() if name not in passed})
    if found is None:
        return {}, False
    (task, worker, vote), is_sure = found
    guess: Guess = {task: ("task", task, True), worker: ("worker", worker, True), vote: ("vote", vote, True)}
    words = _words(list(set(cells[vote])))
    for name in [name for name in cells if name not in roles and name not in guess]:
        some = _words(list(set(cells[name])))
        if some and some <= words and _is_function_of(cells[name], cells[task]):
            guess[name] = ("keep", name, True)  # the truth, or what somebody made of the answers
    return guess, is_sure and (truth is None or (truth != vote and _is_function_of(cells[truth], cells[task])))


def answer_lines(cells: Mapping[str, Cells]) -> tuple[tuple[str, str, str], bool] | None:
    """The columns (example, annotator, answer) of a table of one answer a line, and whether that is sure.

    An example has several lines, an annotator one line for an example and several in all, and the answers to one
    example agree beyond chance, but not always: what always does is said of the example.

    Args:
        cells: by column, of the same lines.

    >>> tickets = [f"T-{k // 3}" for k in range(36)]
    >>> people = ["Ann", "Bob", "Eve"] * 12
    >>> answers = ["ok"] * 8 + ["bad"] + ["bad"] * 7 + ["ok", "bad"] + ["ok"] * 9 + ["bad"] * 9
    >>> answer_lines({"Ticket": tickets, "Wer": people, "Urteil": answers})
    (('Ticket', 'Wer', 'Urteil'), True)
    """
    n = len(next(iter(cells.values()), ()))
    if n < _FEWEST_LINES:
        return None
    codes = {name: _codes(some) for name, some in cells.items() if all(cell and cell.strip() for cell in some)}
    named = {name: code for name, code in codes.items() if _may_name(cells[name]) and 2 <= code.max() + 1 <= 2 * n / 3}
    answers = [name for name, some in cells.items() if _may_answer(some)]
    best: tuple[tuple[str, str, str], bool] | None = None
    highest = PERHAPS
    for one, other in combinations(named, 2):
        if not _are_keys(named[one], named[other]):
            continue
        for vote in answers:
            if vote in (one, other):
                continue
            example, person = _in_order(named, one, other, cells[vote])
            agreement, error = _agreement_within(named[example], cells[vote])
            if agreement >= max(highest, error):
                lines = np.bincount(named[example])
                is_even = lines.max() <= UNEVEN * np.median(lines)
                best = (example, person, vote), bool(is_even and agreement >= max(AGREEMENT, _ERRORS * error))
                highest = agreement + 1e-9
    return best


def _codes(cells: Cells) -> npt.NDArray[np.intp]:
    return np.unique(np.array(cells), return_inverse=True)[1]


def _in_order(codes: Mapping[str, npt.NDArray[np.intp]], one: str, other: str, answers: Cells) -> tuple[str, str]:
    """Which of two columns names the examples, and which the annotators.

    Examples have answers that agree, and most of them equally many; somebody who answers only what looks alike agrees
    with himself. Where that does not tell, there are more examples than annotators.
    """
    lines = {name: np.bincount(codes[name]) for name in (one, other)}
    even = {name: 2 * np.bincount(count).max() >= len(count) for name, count in lines.items()}
    if even[one] != even[other]:
        return (one, other) if even[one] else (other, one)
    many, few = sorted((one, other), key=lambda name: -len(lines[name]))
    if not even[one] and len(lines[many]) >= 2 * len(lines[few]):
        return many, few
    agreement = {name: _agreement_within(codes[name], answers)[0] for name in (many, few)}
    return (few, many) if agreement[few] > agreement[many] else (many, few)


def _may_name(cells: Cells) -> bool:
    """Whether cells can be what examples or people are called: no dates, years, fractions or texts."""
    some = _filled(list(dict.fromkeys(cells)))
    if has_fractions(some) or any(_DATE.fullmatch(cell.strip()) or ":" in cell for cell in some):
        return False
    if all(_A_YEAR.fullmatch(cell.strip()) for cell in some):
        return False
    return sum(map(len, some)) <= 40 * len(some) and sum(len(cell.split()) for cell in some) < 4 * len(some)


_A_YEAR = re.compile(r"(?:19|20)\d\d")


def _may_answer(cells: Cells) -> bool:
    some = _known(cells)
    kinds = len(set(some))
    if kinds < 2 or 10 * len(some) < 8 * len(cells) or 3 * kinds > len(some):
        return False
    if is_measured(some):
        return kinds <= MOST_RATINGS and not has_fractions(some) and all(map(is_number, some))
    return kinds <= MOST_WORDS and default_role(some) == "category"


def _are_keys(examples: npt.NDArray[np.intp], people: npt.NDArray[np.intp]) -> bool:
    """Whether nearly no annotator stands twice beside an example."""
    pairs = len(np.unique(examples * (people.max() + 1) + people))
    return bool(50 * pairs >= 49 * len(examples))


def _agreement_within(examples: npt.NDArray[np.intp], answers: Cells) -> tuple[float, float]:
    """Kappa of the answers to one example, and its standard error by chance; 0 where all agree, or few have two."""
    names = {cell: spelling(cell) for cell in set(answers) if cell is not None and cell.strip() not in MISSING}
    place = {name: k for k, name in enumerate(sorted(set(names.values())))}
    said = np.array([-1 if cell not in names else place[names[cell]] for cell in answers])
    known = said >= 0
    totals = np.bincount(examples[known])
    several = totals >= 2
    kinds, counts = np.unique(examples[known] * len(place) + said[known], return_counts=True)
    among = several[kinds // max(len(place), 1)]
    kinds, counts = kinds[among], counts[among]
    if several.sum() < _FEWEST_TASKS or len(kinds) == several.sum():
        return 0.0, 1.0
    pairs = int((totals * (totals - 1))[several].sum())
    shares = np.bincount(kinds % len(place), counts) / counts.sum()
    observed, chance = (counts * (counts - 1)).sum() / pairs, (shares**2).sum()
    return float((observed - chance) / (1 - chance)), 1 / math.sqrt(pairs / 2)


def _is_function_of(values: Cells, keys: Cells) -> bool:
    """Whether what is known is the same wherever the key is."""
    known: dict[str | None, str] = {}
    pairs = [(key, value) for key, value in zip(keys, values, strict=True) if value and value.strip()]
    return all(known.setdefault(key, value) == value for key, value in pairs)


def _annotators(columns: Mapping[str, Cells], taken: set[str], roles: Guess, cells: Mapping[str, Cells]) -> Guess:
    """`annotator_1, annotator_2, …`: columns of labels and not of measurements; one alone if there are no others."""
    if taken & _LABELLED:
        return {}
    for pattern in _NUMBERED:
        found = [name for name, some in columns.items() if pattern.fullmatch(name) and not has_fractions(some)]
        if len(found) >= 2:
            return {name: ("annotator", name, True) for name in found}
    alone = [name for name, some in columns.items() if _NUMBERED[0].fullmatch(name) and not is_measured(some)]
    if len(alone) == 1 and not _truth(columns, taken, roles, cells) and "true_label" not in taken:
        return {alone[0]: ("annotator", alone[0], True)}  # a single person's labels, and there are no others
    # `worker_ann, worker_bob` are annotators; `worker_age, worker_country` are not: they have no value in common.
    values = {
        name: {cell for cell in some if cell}
        for name, some in columns.items()
        if _NAMED.fullmatch(name) and name.casefold() not in _WORKERS and not has_fractions(some)
    }
    if len(values) >= 2 and set.intersection(*values.values()):
        return {name: ("annotator", name, True) for name in values}
    return {}


def _scores(columns: Mapping[str, Cells], taken: set[str], roles: Guess, cells: Mapping[str, Cells]) -> Guess:
    """`gpt_score` beside the annotator `gpt`: how sure each answer was, and nothing to learn from."""
    people = {name.casefold(): shown for name, (role, shown, _) in roles.items() if role == "annotator"}
    found: Guess = {}
    for name, some in columns.items():
        who = people.get(_scored(name).casefold())
        if who is not None and _scored(name) != name and _mostly(lambda cell: is_number(cell.replace(",", ".")), some):
            found[name] = ("score", who, True)
    return found


def _scored(name: str) -> str:
    """Return the annotator whose scores a column of this name holds: what stands before the ending, if there is one."""
    end = next((end for end in SCORE_ENDS if name.casefold().endswith(end) and len(name) > len(end)), "")
    return name[: len(name) - len(end)]


def _probabilities(columns: Mapping[str, Cells], taken: set[str], roles: Guess, cells: Mapping[str, Cells]) -> Guess:
    """`prob_cat, prob_dog, …`: shares that sum to 1 in every row, at least two of them."""
    if taken & _LABELLED:
        return {}
    for stem in _SHARES:
        found = [name for name in columns if len(name) > len(stem) and name.casefold().startswith(stem)]
        rows = [cells for cells in zip(*(columns[name] for name in found), strict=True) if any(cells)]
        if len(found) >= 2 and rows and all(_sum_to_1(row) for row in rows):
            return {name: ("probability", name[len(stem) :], True) for name in found}
    return {}


def _counts(columns: Mapping[str, Cells], taken: set[str], roles: Guess, cells: Mapping[str, Cells]) -> Guess:
    """`P(cat), P(dog)`, `cat %, …`: columns that sum to the same in every row: to 1, to 100, or to a number of people.

    They are called alike, or there are no other numbers; where there is a truth, it is among them.
    """
    if taken & _LABELLED:
        return {}
    truth = _truth_beside(columns, {}, taken, roles, cells)
    amounts = {name: numbers for name, some in columns.items() if (numbers := _amounts(some)) is not None}
    for group in () if truth is None else _called_alike(list(amounts)):
        is_among = not truth or truth <= set(group.values())
        if is_among and _sum_alike(np.stack([amounts[name] for name in group], axis=1)):
            return {name: ("probability", shown, True) for name, shown in group.items()}
    return {}


_FEWEST_ROWS = 5
"""Rows from which it says something how cells go together."""


def _sum_alike(amounts: npt.NDArray[np.float64]) -> bool:
    """Whether the rows of (n, c) amounts sum to 1, to 100, or, of whole numbers, to the same number of two or more."""
    n, c = amounts.shape
    sums = amounts.sum(axis=1)
    if n < _FEWEST_ROWS or (amounts > 0).sum() <= n:  # one each is no distribution
        return False
    if (amounts == amounts.round()).all() and amounts.max() >= 2 and (sums == sums[0]).all():
        return True
    return any((abs(sums - unit) <= unit * (0.01 + 0.001 * c)).all() for unit in (1, 100))  # rounded


def _amounts(cells: Cells) -> npt.NDArray[np.float64] | None:
    """Return numbers of at least 0, with or without a percent sign, nothing for 0; None where a cell is none."""
    plain = [(cell or "").strip().removesuffix("%").strip() for cell in cells]
    if not any(plain) or not all(cell == "" or is_number(cell) for cell in plain):
        return None
    numbers = np.array([float(cell or 0) for cell in plain])
    return numbers if np.isfinite(numbers).all() and (numbers >= 0).all() else None


_FIRST_WORD, _LAST_WORD = re.compile(r"[^\W_]+[_.=:( -]+(?=.)", re.S), re.compile(r"[_.:( -]+[^\W_]*\)?$")


def _called_alike(names: Sequence[str]) -> list[dict[str, str]]:
    """Columns with the same first or last word, and all of them, each with what distinguishes it.

    >>> _called_alike(["P(cat)", "P(dog)"])[0], _called_alike(["cat_p", "big dog_p"])[0]
    ({'P(cat)': 'cat', 'P(dog)': 'dog'}, {'cat_p': 'cat', 'big dog_p': 'big dog'})
    """
    starts: dict[str, list[str]] = {}
    ends: dict[str, list[str]] = {}
    for name in names:
        first, last = _FIRST_WORD.match(name), _LAST_WORD.search(name)
        if first is not None:
            starts.setdefault(first[0], []).append(name)
        if last is not None and last.start() > 0:
            ends.setdefault(last[0], []).append(name)
    found = []
    for start, group in starts.items():
        closing = ")" if "(" in start and all(name.endswith(")") for name in group) else ""
        found.append({name: name[len(start) : len(name) - len(closing)].strip() for name in group})
    found += [{name: name[: len(name) - len(end)].strip() for name in group} for end, group in ends.items()]
    found.append({name: name for name in names})
    return [group for group in found if len(group) >= 2 and len(set(group.values())) == len(group)]


def _sum_to_1(row: Cells) -> bool:
    try:
        shares = [float(cell or 0) for cell in row]
    except ValueError:
        return False
    return all(0 <= share <= 1 for share in shares) and abs(sum(shares) - 1) <= 0.01 + 0.001 * len(shares)  # rounded


def _people(columns: Mapping[str, Cells], taken: set[str], roles: Guess, cells: Mapping[str, Cells]) -> Guess:
    """`Anna, Bert, Chloé`: columns of words that share a vocabulary and agree beyond chance.

    They are annotators where the file has no other labels, or where the true labels are words of the same vocabulary;
    else they may be answers to several questions, to be learnt from.
    """
    if taken & _LABELLED:
        return {}
    truth = _truth_beside(columns, {}, taken, roles, cells)
    if truth is None:
        return {}
    named = _truth(columns, taken, roles, cells)
    found = _alike({name: some for name, some in columns.items() if name not in named})
    several = [_share_of_sets(columns[name]) for name in found]
    if sum(share >= 0.5 for share in several) == 1 and several.count(0) == len(several) - 1:
        return {}  # candidate sets, and labels that they hold
    words = set().union(*(_words(columns[name]) for name in found))
    known = {spelling(cell) for cell in truth}
    if not found or (known and 2 * len(known & words) < len(known)):
        return {}
    return {name: ("annotator", name, True) for name in found}


def _share_of_sets(cells: Cells) -> float:
    """Which share of the cells names several labels."""
    known = _known(cells)
    mark = guess_separator(known)
    with suppress(UserError):
        return sum(len(split_cell(cell, mark)) > 1 for cell in known) / max(len(known), 1)
    return 0.0


_PERHAPS = ("annotator", "category")
MOST_WORDS = 200
"""Different labels that annotators are supposed to use at most."""
_YEAR = re.compile(r"(?:19|20)\d\d$")
"""How columns end that repeat one question, year after year."""
AGREEING = 0.1
"""How far two annotators must agree beyond chance."""


_SIGNED = re.compile(r"[+-]\d+(?:[.,]\d+)?")


def says_nothing(label: str) -> bool:
    """Whether a label says that there is no answer.

    >>> [says_nothing(label) for label in ("N/A", "k. A.", "–", "late")]
    [True, True, True, False]
    """
    plain = spelling(label)
    return plain in NO_ANSWER or plain.replace(". ", ".") in NO_ANSWER or label.strip() in NO_ANSWER


def spelling(label: str) -> str:
    """A label without differences of case, width, spaces, and of punctuation around it.

    >>> spelling(" PRAISE."), spelling("not_sure"), spelling("N/A"), spelling("-1")
    ('praise', 'not sure', 'n/a', '-1')
    """
    plain = unicodedata.normalize("NFKC", label).casefold().replace("’", "'")
    if _SIGNED.fullmatch(plain.strip()):  # −1 is not 1
        return plain.strip()
    return " ".join(re.sub(r"[_\-\s]+", " ", plain).split()).strip(".,;:!\"' ")


def _alike(columns: Mapping[str, Cells]) -> list[str]:
    """The largest group of columns of words that use the same words and agree beyond chance, two at least."""
    some = {
        name: cells
        for name, cells in columns.items()
        if default_role(cells) == "category" and _known(cells) and not _YEAR.search(name)
    }
    words = {name: _words(cells) for name, cells in some.items()}
    some = {name: cells for name, cells in some.items() if 2 <= len(words[name]) <= MOST_WORDS}
    groups: list[list[str]] = []
    for name, cells in some.items():
        group = next((g for g in groups if any(_agree(words[o], some[o], words[name], cells) for o in g)), None)
        if group is None:
            groups.append([name])
        else:
            group.append(name)
    largest = max(groups, key=len, default=[])
    return largest if len(largest) >= 2 else []


SHARED = 2 / 3
"""Share of the answers of either of two annotators that the other one uses too; a slip of the finger counts once."""


def _agree(words: set[str], cells: Cells, others: set[str], other: Cells) -> bool:
    if min(_share_among(cells, others), _share_among(other, words)) < SHARED:
        return False
    pairs = [(_words([a]), _words([b])) for a, b in zip(cells, other, strict=True) if _known([a]) and _known([b])]
    if len(pairs) < 2:
        return False
    observed = sum(bool(a & b) for a, b in pairs) / len(pairs)
    left, right = (Counter(word for pair in pairs for word in pair[side]) for side in (0, 1))
    chance = sum(left[word] * right[word] for word in left) / len(pairs) ** 2
    return observed >= min(chance + AGREEING, 1.0)


def _share_among(cells: Cells, words: set[str]) -> float:
    """Which share of the labels in some cells is among these words."""
    said = [word for cell in _known(cells) for word in _words([cell])]
    return sum(word in words for word in said) / max(len(said), 1)


def _words(cells: Cells) -> set[str]:
    """The labels in some cells, in their common spelling; without marks of missing cells."""
    return {spelling(part) for cell in _known(cells) for part in re.split(r"[|;]", cell) if part.strip()} - {""}


def _label_numbers(columns: Mapping[str, Cells], taken: set[str], roles: Guess, cells: Mapping[str, Cells]) -> Guess:
    """0/1 columns `label_0, label_1, …`: a column a class, or a column an annotator whose labels are 0 and 1.

    Where the user says it of one of them, the others are the same. The names of the classes decide where the truth is
    among them; then a truth of 0 and 1. An example without any label is possible for annotators only.
    """
    found = {name: some for name, some in columns.items() if _LABEL_NUMBER.fullmatch(name) and are_binary(some)}
    told = {roles[name][0] for name in roles if _LABEL_NUMBER.fullmatch(name)} & {"annotator", "class"}
    if len(told) == 1:
        role = told.pop()
        return {name: (role, _class_name(name) if role == "class" else name, False) for name in found}
    if len(found) < 2 or taken & _LABELLED:
        return {}
    truth = _truth_beside(columns, found, taken, roles, cells)
    if truth is None:
        return {}
    endings = {name: _class_name(name) for name in found}
    are_votes = bool(truth) and not truth <= set(endings.values()) and truth <= {"0", "1", "0.0", "1.0"}
    if not are_votes and len(set(endings.values())) == len(found) and all(map(any, _marks(found))):
        return {name: ("class", ending, True) for name, ending in endings.items()}
    if are_votes or not truth:
        return {name: ("annotator", name, True) for name in found}
    return {}


def _classes(columns: Mapping[str, Cells], taken: set[str], roles: Guess, cells: Mapping[str, Cells]) -> Guess:
    """0/1 columns that share a stem, one per class: `candidate_cat`, `class_0`, `y0`, `is_cat`; or named as the truth.

    Names other than candidate, class, label and y are those of features (`colour_red`), unless the true labels are what
    follows the stem, or there are no true labels and an example has two 1s.
    """
    binary = {name: some for name, some in columns.items() if are_binary(some)}
    named = {name: some for name, some in binary.items() if _CLASS.fullmatch(name)}
    if taken & _LABELLED:
        if roles and "class" not in taken:  # another way to write the candidates: never a feature
            same = [name for name in named if name.casefold().startswith("cand")]
            return {name: ("keep", name, True) for name in same} if len(same) >= 2 else {}
        return {}
    truth = _truth_beside(columns, named, taken, roles, cells)
    if truth is None:
        return {}
    groups: dict[str, dict[str, str]] = {}
    for name in named:
        found = _CLASS.fullmatch(name)
        if found is not None:
            stem = found["stem"].casefold().replace("candidates", "candidate")
            groups.setdefault(stem, {})[name] = _class_name(name)
    for stem in ("candidate", "cand", "class", "label", "y"):
        if _is_matrix(group := groups.get(stem, {}), binary):
            return {name: ("class", ending, True) for name, ending in group.items()}
    others = [group for group in _stems([name for name in binary if name not in named]) if _is_matrix(group, binary)]
    if truth:
        others = [group for group in others if truth <= set(group.values())]
    else:
        others = [group for group in others if any(sum(row) > 1 for row in _marks({n: binary[n] for n in group}))]
    if others and (truth or len({*others[0]}.union(*others)) == len(others[0])):
        return {name: ("class", ending, True) for name, ending in others[0].items()}
    if len(binary) < 2:
        return {}
    if truth and truth <= set(binary) and not all(is_number(name) for name in truth):
        return {name: ("class", name, True) for name in columns if name in binary}
    return {}


def _marked_classes(columns: Mapping[str, Cells], taken: set[str], roles: Guess, cells: Mapping[str, Cells]) -> Guess:
    """Columns of 1 and 0, yes and no, x and nothing, named as the labels of another column, with a mark where it says.

    Columns called `candidate_…` need no other column.
    """
    if taken & _LABELLED:
        return {}
    marks = {name: found for name, some in columns.items() if (found := read_marks(some)) is not None}
    stated = [name for name in marks if name.casefold().startswith(("candidate", "cand_"))]
    if len(stated) >= 2 and all(map(any, zip(*(marks[name] for name in stated), strict=True))):
        return {name: ("class", _class_name(name), True) for name in stated}
    is_whole = len(marks) >= 2 and all(map(any, zip(*marks.values(), strict=True)))
    for name, some in columns.items() if is_whole else ():
        pairs = [(k, cell.strip()) for k, cell in enumerate(some) if cell and _known([cell])]
        said = {label for _, label in pairs}
        if name in marks or len(said) < 2 or len(pairs) < _FEWEST_ROWS or not said <= set(marks):
            continue
        if sum(marks[label][k] for k, label in pairs) >= NEARLY_ALL * len(pairs):
            return {label: ("class", label, True) for label in marks}
    return {}


def _shown(name: str, role: str) -> str:
    """Return what a column is called, once its role is known."""
    if role == "probability":
        stem = next((stem for stem in _SHARES if name.casefold().startswith(stem) and len(name) > len(stem)), "")
        return name[len(stem) :]
    if role == "score" and not name.startswith(MARKS["score"]):
        return bare_name(_scored(name), "annotator")
    return _class_name(name) if role == "class" else bare_name(name, role)


def _class_name(name: str) -> str:
    """Return what follows the stem of a column of a class, or its mark."""
    found = None if name.startswith(MARKS["class"]) else _CLASS.fullmatch(name)
    return bare_name(name, "class") if found is None else found["name"] or found["number"]


def _stems(names: Sequence[str]) -> list[dict[str, str]]:
    """Return columns that share a stem, each with its ending: the longest stem that all share, then the shortest."""
    groups: dict[str, list[str]] = {}
    for name in names:
        stem = _SHARED_STEM.match(name)
        if stem is not None:
            groups.setdefault(stem[1], []).append(name)
    found = []
    for shortest, group in groups.items():
        shared = "".join(one for one, *_ in takewhile(lambda letters: len({*letters}) == 1, zip(*group, strict=False)))
        longest = max((end for end in range(len(shared) + 1) if shared[end - 1 : end] in "_.=: -"), default=0)
        ends = dict.fromkeys((max(longest, len(shortest)), len(shortest)))
        found += [{name: name[end:].strip() for name in group} for end in ends]
    return found


def _is_matrix(names: Mapping[str, str], binary: Mapping[str, Cells]) -> bool:
    """Whether columns can be classes: at least two, with distinct names, and a 1 in every row."""
    different = len(set(names.values())) == len(names) >= 2 and all(names.values())
    return different and all(map(any, _marks({name: binary[name] for name in names})))


def _marks(binary: Mapping[str, Cells]) -> Iterator[list[bool]]:
    """Yield the rows of 0/1 columns as booleans."""
    for row in zip(*binary.values(), strict=True):
        yield [cell is not None and BINARY[cell.strip().casefold()] for cell in row]


def _truth_beside(
    columns: Mapping[str, Cells], found: Mapping[str, Cells], taken: set[str], roles: Guess, cells: Mapping[str, Cells]
) -> set[str] | None:
    """Return the true labels beside columns of classes; empty if there are none, None if there are candidates."""
    known = dict(roles)
    known |= _truth({name: some for name, some in columns.items() if name not in found}, taken, roles, cells)
    if any(role == "candidates" for role, _, _ in known.values()):
        return None
    name = next((name for name, (role, _, _) in known.items() if role == "true_label"), None)
    return set() if name is None else {cell.strip() for cell in cells[name] if cell and cell.strip()}


# ---- what a person is asked about ------------------------------------------------------------------------------------


def odd_id(columns: Sequence[Column]) -> Column | None:
    """The column that was taken for the ids by its cells, of which only the first have been seen."""
    return next((one for one in columns if one.role == "id" and one.guessed and one.name.casefold() not in _IDS), None)


def unclear(columns: Sequence[Column]) -> list[Column]:
    """0/1 columns `label_0, label_1, …` without true labels: taken as classes, but they could be annotators."""
    if any(column.role == "true_label" for column in columns):
        return []
    return [
        column
        for column in columns
        if column.guessed and column.role == "class" and _LABEL_NUMBER.fullmatch(column.name)
    ]


def flags(columns: Sequence[Column]) -> list[Column]:
    """Columns of marks of a table without labels, one in every row: classes or features, which cannot be decided."""
    return [column for column in columns if column.flag]


def within(columns: Sequence[Column]) -> list[Column]:
    """Columns that name a candidate in nearly every row: the true label, or what the sets were made from."""
    return [column for column in columns if column.within]


def has_labels(columns: Sequence[Column]) -> bool:
    """Whether some column holds labels of any kind."""
    return any(column.role in _LABELLED or column.role == "true_label" for column in columns)


def may_be_of_lines(cells: Cells) -> bool:
    """Whether first cells can be the examples, the annotators or the answers of a table of one answer a line.

    >>> may_be_of_lines(["1001", "1002"]), may_be_of_lines(["1.5", "2.5"])
    (True, False)
    """
    return bool(_known(cells)) and _may_name(cells)


LINES = ("task", "worker", "vote")
"""The columns of long form."""


def long_form(columns: Sequence[Column]) -> list[Column]:
    """The columns of the example, the annotator and the answer, where every line may be one answer; else none."""
    found = [column for column in columns if column.in_long_form in LINES]
    return sorted(found, key=lambda column: LINES.index(column.in_long_form))


def alike(columns: Sequence[Column]) -> list[Column]:
    """Columns of words that look like several annotators: whether they are, only a person can say."""
    return [column for column in columns if column.alike]


def _sets(columns: Mapping[str, Cells], taken: set[str], roles: Guess, cells: Mapping[str, Cells]) -> Guess:
    """A column of several labels a cell, called so (`labels`, `options`) or with most true labels in its cells."""
    if taken & _LABELLED:
        return {}
    several = [name for name, some in columns.items() if not is_measured(some) and holds_several(some)]
    named = {name.casefold(): name for name in several}
    for known in _SETS:
        if known in named:
            return {named[known]: ("candidates", named[known], True)}
    fitting, true = [], _truth(columns, taken, roles, cells)
    for name in several:
        beside = true
        if _plain_name(name) in (*_TRUTHS, *_SETTLED):  # it alone can hide another, or be the one that was found
            beside = _truth({other: some for other, some in columns.items() if other != name}, taken, roles, cells)
        truths = [other for other, (role, _, _) in (beside | roles).items() if role == "true_label"]
        if truths and _hold(columns[name], cells[truths[0]]):
            fitting.append(name)
    if not fitting and "true_label" not in taken and not true:
        fitting = [name for name in several if _have_a_vocabulary(columns[name])]  # no other labels in this table
    return {fitting[0]: ("candidates", fitting[0], True)} if len(fitting) == 1 else {}


def _have_a_vocabulary(sets: Cells) -> bool:
    """Whether the parts of the cells are few words that recur, as names of classes do and prose and numbers do not."""
    some = [cell for cell in sets if cell]
    mark = guess_separator(some)
    try:
        parts = [spelling(part) for cell in some for part in split_cell(cell, mark)]
    except UserError:
        return False
    words = set(parts)
    if not words or 2 * sum(map(is_number, words)) >= len(words):
        return False
    return len(words) <= MOST_WORDS and RECURRING * len(words) <= len(parts)


NEARLY_ALL = 0.9
"""Share of the rows in which a column names a candidate, from which it says as much as the true label."""


def _within(columns: Mapping[str, Cells], taken: set[str], roles: Guess, cells: Mapping[str, Cells]) -> Guess:
    """Columns that name a candidate of nearly every row, more often than by chance: never learnt from.

    They may be the true label, or what the candidates were made from; only a person knows.
    """
    sets, fewest = _sets_of_rows(roles, cells)
    if not sets:
        return {}
    inside = Counter(label for names in sets for label in names)
    found: Guess = {}
    for name, some in columns.items():
        pairs = [(spelling(cell), names) for cell, names in zip(some, sets, strict=False) if cell and _known([cell])]
        said = Counter(label for label, _ in pairs)
        if len(pairs) < _FEWEST_ROWS or len(said) < 2:
            continue
        share = sum(label in names for label, names in pairs) / len(pairs)
        chance = sum(count * inside[label] for label, count in said.items()) / (len(pairs) * len(sets))
        if share >= max(fewest, chance + AGREEING):
            found[name] = ("keep", name, True)
    return found


def _sets_of_rows(roles: Guess, cells: Mapping[str, Cells]) -> tuple[list[set[str]], float]:
    """The candidates of the first rows, in their common spelling, and how many of them a label names that is within.

    Of probabilities the likeliest classes, which the true label is not as often. None where nothing holds them.
    """
    by_role: dict[str, list[str]] = {}
    for name, (role, _, _) in roles.items():
        by_role.setdefault(role, []).append(name)
    if "candidates" in by_role:
        some = cells[by_role["candidates"][0]]
        mark = guess_separator(cell for cell in some if cell)
        try:
            return [{spelling(label) for label in split_cell(cell or "", mark)} for cell in some], NEARLY_ALL
        except UserError:  # reading says where
            return [], NEARLY_ALL
    if "candidate" in by_role:
        columns = [cells[name] for name in by_role["candidate"]]
        rows = zip(*columns, strict=True)
        return [{spelling(cell) for cell in row if cell and cell.strip()} for row in rows], NEARLY_ALL
    for role, read, fewest in (("class", read_marks, NEARLY_ALL), ("probability", _amounts, LIKELY)):
        amounts = [read(cells[name]) for name in by_role.get(role, ())]
        known = [amount for amount in amounts if amount is not None]
        if known and len(known) == len(amounts):
            shown = [spelling(roles[name][1]) for name in by_role[role]]
            return [
                {shown[k] for k, amount in enumerate(row) if amount and amount == max(row)}
                for row in zip(*known, strict=True)
            ], fewest
    return [], NEARLY_ALL


LIKELY = 0.5
"""Share of the rows in which a column names the likeliest class, from which it may be the true label."""
RECURRING = 3
"""How often the names of classes stand in a column of candidate sets, on average, where nothing else says it is one."""


def _hold(sets: Cells, truth: Cells) -> bool:
    """Whether most cells name the true label of their row, of those where it is known; real sets miss some."""
    mark = guess_separator(cell for cell in sets if cell)
    try:
        known = [
            read_label(label) in split_cell(names, mark)
            for names, label in zip(sets, truth, strict=True)
            if names and label
        ]
    except UserError:
        return False
    return 2 * sum(known) > len(known)


def _plain_name(name: str) -> str:
    """`true_label` for "True label", "true-label" …"""
    return re.sub(r"[\s.-]+", "_", name.casefold())


def _truth(columns: Mapping[str, Cells], taken: set[str], roles: Guess, cells: Mapping[str, Cells]) -> Guess:
    """`label` and the like: candidate sets where a cell holds a separator, else the true label; never a feature."""
    if "true_label" in taken or "vote" in taken:
        return {}
    named = {_plain_name(name): name for name in columns}
    for known in _TRUTHS:
        if known in named and not has_fractions(cells[named[known]]):
            some = [cell for cell in cells[named[known]] if cell]
            sets = not taken & _LABELLED
            several = holds_several(some) or any(cell.startswith("[") and cell.endswith("]") for cell in some)
            return {named[known]: ("candidates" if several and sets else "true_label", named[known], True)}
    for known in _SETTLED:
        if known in named and not has_fractions(cells[named[known]]) and _is_named_elsewhere(named[known], cells):
            return {named[known]: ("true_label", named[known], True)}
    return {}


def _is_named_elsewhere(name: str, cells: Mapping[str, Cells]) -> bool:
    """Whether most labels in a column of one label a cell are among those of another column."""
    said = _known(cells[name])
    if not said or holds_several(said):
        return False
    for other, some in cells.items():
        if other != name and not is_measured(some) and not are_texts(some, 4):
            mark = guess_separator(cell for cell in some if cell)
            with suppress(UserError):
                words = {spelling(part) for cell in some if cell for part in split_cell(cell, mark)}
                if _share_among(said, words) >= SHARED:
                    return True
    return False


def _identity(columns: Mapping[str, Cells], taken: set[str], roles: Guess, cells: Mapping[str, Cells]) -> Guess:
    """A column with the name of an id and distinct cells, where there is no `id`."""
    if taken & {"id", "task"}:
        return {}
    for name, some in columns.items():
        whole = [cell for cell in some if cell is not None and cell.strip()]
        if name.casefold() in _IDS and whole and len(set(whole)) == len(some) and not has_fractions(some):
            return {name: ("id", name, True)}
    return {}


_FEWEST_IDS = 5
"""Rows from which it says something that all cells differ."""
_CODE = re.compile(r"(?=.*\d)(?=.*[^\W\d_])[\w.:#/+-]{2,64}|[^\W\d_]{1,20}[ #-]{1,2}\d{1,12}")
"""Letters and digits without spaces, or a word and a number: T-20001, 3f9a2c, pump 3."""
_QUANTITY = re.compile(r"[^\W\d_]*\s*[+-]?\d+[.,]\d+\s*[^\W\d_]*|[+-]?\d+\s*[^\W\d_]{1,5}")
_DATE = re.compile(r"\d{1,4}[-./]\w{1,3}[-./]\d{1,4}.*")
_HASH = 8
"""Characters from which codes that are equally long may look as they like."""
_ID_WORDS = (
    *("id", "ids", "identifier", "uid", "uuid", "guid", "key", "index", "row", "zeile", "ligne", "record", "serial"),
    *("nr", "no", "num", "number", "nummer", "numero", "ref", "reference", "referenz", "isbn", "doi", "sku", "ticket"),
    *("case", "fall", "dossier", "cas", "vorgang", "datensatz", "kennung", "kennzeichen", "aktenzeichen"),
)
_NAMED_ID = re.compile(rf"(?:.*[\W_])?(?:{'|'.join(_ID_WORDS)})[\W_]*|.*(?:nummer|number)[\W_]*", re.IGNORECASE)
_CAMEL_ID = re.compile(r".*[a-z](?:ID|Id|Nr|No)[\W_]*")


def _odd_identity(columns: Mapping[str, Cells], taken: set[str], roles: Guess, cells: Mapping[str, Cells]) -> Guess:
    """A column whose cells are all different and look like ids, under any name; of several one that is named so.

    Codes of letters and digits are recognised by themselves, whole numbers by the name of their column (`Fall-Nr.`).
    """
    if taken & {"id", "task"}:
        return {}
    fitting = [name for name, some in columns.items() if _are_ids(some, is_named=_is_named_id(name))]
    fitting.sort(key=lambda name: not _is_named_id(name))
    return {name: ("id", name, True) for name in fitting[:1]}


def _are_ids(cells: Cells, *, is_named: bool) -> bool:
    some = [cell.strip() for cell in cells if cell and cell.strip()]
    if len(some) < _FEWEST_IDS or len(some) < len(cells) or len(set(some)) < len(some):
        return False
    if all(cell.isdecimal() for cell in some):
        return is_named
    if are_pictures(some) or not all(_CODE.fullmatch(cell) for cell in some):
        return False
    if any(_QUANTITY.fullmatch(cell) or _DATE.fullmatch(cell) for cell in some):
        return False
    shapes = Counter(re.sub(r"\d+", "9", re.sub(r"[^\W\d_]+", "a", cell)) for cell in some)
    same_length = len({len(cell) for cell in some}) == 1 and len(some[0]) >= _HASH
    return is_named or same_length or 10 * max(shapes.values()) >= 9 * len(some)


def _is_named_id(name: str) -> bool:
    """Whether a name ends in a word for an id.

    >>> [_is_named_id(name) for name in ("case", "Fall-Nr.", "TicketID", "Numéro", "number of rooms", "width")]
    [True, True, True, True, False, False]
    """
    plain = "".join(one for one in unicodedata.normalize("NFKD", name) if not unicodedata.combining(one))
    return _NAMED_ID.fullmatch(plain) is not None or _CAMEL_ID.fullmatch(plain) is not None


def _payload(columns: Mapping[str, Cells], taken: set[str], roles: Guess, cells: Mapping[str, Cells]) -> Guess:
    """Find a column of pictures and one of texts."""
    found: Guess = {}
    if "image" not in taken:
        pictures = [name for name, some in columns.items() if are_pictures(some)]
        pictures.sort(key=lambda name: name.casefold() not in _IMAGES)
        found |= {name: ("image", name, True) for name in pictures[:1]}
    if "text" not in taken:
        left = {name: 2 if name.casefold() in _TEXTS else 4 for name in columns if name not in found}
        wordy = [name for name, words in left.items() if are_texts(columns[name], words)]
        wordy.sort(key=left.__getitem__)
        found |= {name: ("text", name, True) for name in wordy[:1]}
    return found


def _payload_of_examples(
    columns: Mapping[str, Cells], taken: set[str], roles: Guess, cells: Mapping[str, Cells]
) -> Guess:
    """The same, by one line an example: in long form the others repeat it."""
    task = next((name for name, (role, _, _) in roles.items() if role == "task"), None)
    if task is not None:
        first = list({cell: at for at, cell in reversed(list(enumerate(cells[task])))}.values())
        columns = {name: [some[at] for at in first] for name, some in columns.items()}
    return _payload(columns, taken, roles, cells)


_WHEN = re.compile(
    r"(?:\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}([-/.])\d{1,2}\1(?:\d{4}|\d\d))?"  # day
    r"(?:(?:^|[T,]? ?)\d{1,2}:\d\d(?::\d\d(?:[.,]\d+)?)?(?: ?[AP]M)?(?: ?Z| ?UTC| ?[+-]\d\d:?\d\d)?)?",  # hour
    re.IGNORECASE,
)


def _dates(columns: Mapping[str, Cells], taken: set[str], roles: Guess, cells: Mapping[str, Cells]) -> Guess:
    """Columns of dates and times: as words they would say which examples came on the same day, and no more."""
    return {
        name: ("keep", name, True)
        for name, some in columns.items()
        if _mostly(lambda cell: _WHEN.fullmatch(cell.strip()) is not None, some)
    }


def _the_rest(columns: Mapping[str, Cells], taken: set[str], roles: Guess, cells: Mapping[str, Cells]) -> Guess:
    return {
        name: ("ignore" if _is_void(name, some) else "feature" if comma else default_role(some), name, True)
        for (name, some), comma in zip(columns.items(), have_decimal_commas(list(columns.values())), strict=True)
    }


def _is_void(name: str, some: Cells) -> bool:
    """Whether a column has neither name nor cells, as after a delimiter at the end of every line."""
    return name.startswith(UNNAMED) and not any(cell and cell.strip() for cell in some)


def is_annotator(name: str) -> bool:
    """Whether a column has a generic name of an annotator.

    >>> is_annotator("annotator_1"), is_annotator("worker B"), is_annotator("ann")
    (True, True, False)
    """
    return any(pattern.fullmatch(name) for pattern in _NUMBERED)


def guesses(columns: Sequence[Column]) -> list[str]:
    """Return sentences on the columns whose role was guessed, and on what else was seen in the cells."""
    return [*roles_told(columns), *_seen(columns)]


def roles_told(columns: Sequence[Column]) -> list[str]:
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
    return notes


def _seen(columns: Sequence[Column]) -> list[str]:
    """Return sentences on cells that could be something else, or were read in a particular way."""
    notes = []
    perhaps = [column.name for column in alike(columns) if column.role == "category"]
    if perhaps:
        notes.append(
            f"{listing(perhaps)} share their words and agree often; if they are annotators, say it of each "
            f"(in the shell: {option(perhaps[0], 'annotator')})."
        )
    lines = long_form(columns)
    if lines and not any(column.role == "vote" for column in columns):
        said = " ".join(option(column.name, column.in_long_form) for column in lines)
        notes.append(
            f"{lines[0].name} stands in several lines, each with another {lines[1].name}; if every line is one answer, "
            f"say so (in the shell: {said})."
        )
    repeating = [column.name for column in columns if column.repeats and column.guessed]
    if repeating and not any(column.role in ("id", "task") for column in columns):
        notes.append(
            f"{listing(repeating)} holds codes of which some stand twice or are missing: examples are numbered."
        )
    commas = [column.name for column in columns if column.comma and column.role == "feature"]
    if commas:
        notes.append(
            f"The numbers of {'column' if len(commas) == 1 else 'columns'} {listing(commas)} were read with a decimal "
            "comma: 1,5 is one and a half."
        )
    marks = [column.name for column in flags(columns) if column.role != "class"]
    if marks:
        notes.append(
            f"{listing(marks)} hold 0 and 1 (or no and yes), with a 1 in every row; if they are the classes, say it of "
            f"each (in the shell: {option(marks[0], 'class')} …)."
        )
    named = [column.name for column in within(columns)]
    if named and not any(column.role == "true_label" for column in columns):
        notes.append(
            f"{listing(named)} names a candidate in nearly every row; it is carried along and not learnt from. If it "
            f"is the true label, say so (in the shell: {option(named[0], 'true_label')})."
        )
    asked = [column.name for column in unclear(columns)]
    if asked:
        notes.append(
            f"{listing(asked)} could also be annotators, one a column, who answered 0 or 1; if so, say it of one of "
            f"them (in the shell: {option(asked[0], 'annotator')})."
        )
    return notes


# ---- cells ----------------------------------------------------------------------------------------------------------

SEPARATORS = ("|", ";", "\n", ",", "/", " or ", " oder ", " ou ")
"""Separators of names that are tried where none is given, in this order; from the comma on only where parts recur."""


def join_names(names: Sequence[str]) -> str:
    """Return the cell of a candidate set.

    >>> join_names(["cat", "dog"]), join_names(["a|b", "c"]), join_names([" "])
    ('cat|dog', '["a|b", "c"]', '[" "]')
    """
    plain = "|".join(names)
    survives = all(name and name == name.strip() and "|" not in name for name in names)
    return plain if survives and not _like_a_list(plain) else json.dumps(list(names), ensure_ascii=False)


def join_column(sets: Iterable[Sequence[str]]) -> list[str]:
    """Return the cells of a whole column, as `join_names` does, such that the separator can be guessed on reading."""
    cells = [join_names(names) for names in sets]
    # Sets of one alone, some named like "a;b", which a reader would take for two.
    while (mark := guess_separator(cells)) != SEPARATORS[0]:
        cells = [
            json.dumps([cell], ensure_ascii=False) if mark in cell and not _like_a_list(cell) else cell
            for cell in cells
        ]
    return cells


def split_cell(cell: str, separator: str = "|") -> tuple[str, ...]:
    """Return the candidates in a cell, trimmed and without repetitions; none for an empty cell.

    Raises:
        UserError: what looks like a list is not a JSON list of names.

    >>> split_cell(" cat | dog|"), split_cell('["a|b", 1]'), split_cell(""), split_cell("N/A", "/")
    (('cat', 'dog'), ('a|b', '1'), (), ('N/A',))
    """
    return tuple(dict.fromkeys(labels_in(cell, separator)))


def labels_in(cell: str, separator: str = "|") -> list[str]:
    """The same with repetitions.

    Raises:
        UserError: as for `split_cell`.

    >>> labels_in("['cat', 'cat', 'dog']"), labels_in("cat|cat")
    (['cat', 'cat', 'dog'], ['cat', 'cat'])
    """
    listed = _json_names(cell)
    if listed is not None:
        return listed
    if separator == "/" and cell.strip() in MISSING and cell.strip():
        return [cell.strip()]
    parts = (part.strip() for part in cell.split(separator))
    return [part for part in parts if part]


def guess_separator(cells: Iterable[str]) -> str:
    """Return the separator of the names in a cell: `|`, else `;`, else a comma or a slash, where a cell holds one.

    A comma may belong to a name ("Paris, France"), and so may a slash ("24/7"). A comma separates names only where
    there are no more parts than cells, and some part occurs both first and later in a cell, as in "cat, dog" and
    "dog, fox". A slash does where this is so of at least half of the later parts. Without any it is `|`.

    >>> guess_separator(["a;b", "c"]), guess_separator(["a;b|c"]), guess_separator(["a", '["x;y"]'])
    (';', '|', '|')
    >>> guess_separator(["cat, dog", "dog"]), guess_separator(["Paris, France", "Lyon, France"])
    (',', '|')
    >>> guess_separator(["cat/dog", "dog/fox", "fox"]), guess_separator(["24/7", "N/A", "A"])
    ('/', '|')
    """
    plain = {cell for cell in cells if not _like_a_list(cell)}
    for mark in SEPARATORS[:3]:
        if any(mark in cell.strip() for cell in plain):
            return mark
    for mark in SEPARATORS[3:]:
        told = [cell for cell in plain if cell.strip() and (mark == "," or cell.strip() not in MISSING)]
        parts = [[part.strip() for part in cell.split(mark)] for cell in told]
        first, later = {names[0] for names in parts}, {name for names in parts for name in names[1:]}
        both = (first & later) - {""}
        enough = mark == "," or 2 * len(both) >= len(later)
        if both and enough and len(first | later) <= len(parts):
            return mark
    return "|"


def write_label(name: str | None) -> str:
    """Return the cell of one true label; empty where it is not known."""
    if name is None:
        return ""
    plain = name and name == name.strip() and not _like_a_list(name)
    return name if plain else json.dumps([name], ensure_ascii=False)


def read_label(cell: str) -> str | None:
    """Return one true label: the trimmed text, whole (`a|b` is one name), or a JSON list of one; None if it is empty.

    >>> read_label(" NA "), read_label("a|b"), read_label('[" x"]'), read_label("")
    ('NA', 'a|b', ' x', None)
    """
    listed = _json_names(cell)
    if listed is None:
        return cell.strip() or None
    if len(listed) != 1:
        raise UserError(f"the true label is a list of {len(listed)}; name one label, or leave the cell empty")
    return listed[0]


def holds_several(cells: Iterable[str | None]) -> bool:
    """Whether a cell of the column names more than one label.

    >>> holds_several(["cat|dog", "cat"]), holds_several(["['cat', 'dog']"]), holds_several(["[UNK]", "a, b"])
    (True, True, False)
    """
    some = [cell for cell in cells if cell]
    mark = guess_separator(some)
    try:
        return any(len(split_cell(cell, mark)) > 1 for cell in some)
    except UserError:  # a list that cannot be read: reading the column says where
        return True


_TUPLE = re.compile(r"\(\s*['\"].*\)", re.S)


def _like_a_list(cell: str) -> bool:
    text = cell.strip()
    return text[:1] + text[-1:] in ("[]", "{}") or text == "set()" or _TUPLE.fullmatch(text) is not None


def _json_names(cell: str) -> list[str] | None:
    """Return the names in a list of JSON or Python, numbers as they are written; None where the cell is plain text."""
    if not _like_a_list(cell):
        return None
    text = cell.strip()
    if text.startswith(("{", "(", "set")):
        return _braced_names("" if text == "set()" else text[1:-1].strip().removesuffix(","))
    try:
        # parse_int and parse_float keep a number's own spelling as the name.
        listed: list[str] = json.loads(cell, parse_int=str, parse_float=str, parse_constant=_not_json)
    except RecursionError:
        raise UserError("the list is nested too deeply; write a flat list of names") from None
    except ValueError:
        written = _python_names(cell)
        if written is not None:
            return written
        if '"' in cell or "'" in cell or "," in cell:
            raise UserError(
                'the cell looks like a list but is not JSON; write ["cat", "dog"] with double quotes, or cat|dog'
            ) from None
        return None  # a name in brackets, such as [UNK]
    for place, name in enumerate(listed, start=1):
        if not isinstance(name, str):
            raise UserError(f"entry {place} of the list is not a name; write names in double quotes")
    return listed


def _braced_names(inner: str) -> list[str] | None:
    """Return the names in a set or tuple as Python prints it, or in an array of a database; None of an object."""
    if re.match(r"""(?:"[^"]*"|'[^']*')\s*:""", inner):
        return None
    written = _python_names(f"[{inner}]") if re.match(r"['\"]", inner) else None
    if written is not None:
        return written
    fields = next(csv.reader([inner], escapechar="\\", skipinitialspace=True), [])
    return [name.strip() for name in fields if name.strip()]


def _python_names(cell: str) -> list[str] | None:
    """Return the names in a list as Python prints it; None where it is not such a list of names."""
    if re.search(r"""['"]\s+['"]""", cell):  # an array as NumPy prints it: Python would join the names
        return None
    try:
        listed = ast.literal_eval(cell.strip())
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None
    known = all(isinstance(name, str | int | float) and not isinstance(name, bool) for name in listed)
    return [str(name) for name in listed] if known else None


def _not_json(word: str) -> NoReturn:
    raise ValueError(f"{word} is not JSON")

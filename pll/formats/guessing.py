"""Which column of a table plays which part: by what the user says, by its name, and by its first cells.

The guess is careful: a column becomes labels only where its name leaves no doubt, since a label that is learnt from
as a feature, or a feature that is taken for a label, spoils everything quietly. What was guessed is said in the notes,
and `ReadOptions.columns` overrides it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from pll.errors import UserError
from pll.formats.cellkinds import Cells, are_binary, are_pictures, are_texts, has_fractions, is_number, learnt_as
from pll.formats.results import RESULT_COLUMNS, results_among
from pll.formats.roles import (
    CONSENSUS_COLUMNS,
    LABEL_COLUMNS,
    MARKS,
    PAYLOAD_COLUMNS,
    ROLES,
    SINGLE,
    UNNAMED,
    Column,
    bare_name,
)
from pll.formats.words import listing, shorten

SAMPLE_ROWS = 200
"""Rows that are looked at to guess."""
SHOWN = 3
"""First cells of a column that are shown with the guess."""

_PEOPLE = "annotators?|worker|rater|labell?er|coder|judge|expert"
_NUMBERED = (
    re.compile(rf"(?:{_PEOPLE})[ _.-]*(?:\d{{1,4}}|[a-z])", re.IGNORECASE),
    re.compile(r"(?:annotation|label|vote|rating)[ _.-]*\d{1,4}", re.IGNORECASE),
    re.compile(r"ann[ _.-]*\d{1,2}", re.IGNORECASE),  # more digits are years, as in "ann. 2019"
)
_NAMED = re.compile(rf"(?:{_PEOPLE})[ _.-]+.{{1,40}}", re.IGNORECASE)
_CLASS = re.compile(r"(?:candidates?|class|label)(?:_|\.|=|: ?| )(?!\d+$)(.+)", re.IGNORECASE | re.S)
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
    *("true_label", "truth", "gold", "gold_label", "ground_truth"),
    *("label", "class", "class_label", "classification", "target"),
)
_IDS = (
    *(f"{UNNAMED} 1", "unnamed: 0", "index", "idx", "uid", "uuid"),
    *("row_id", "example_id", "sample_id", "item_id", "task_id"),
)
_TEXTS = ("sentence", "content", "document", "review", "tweet", "comment", "question", "body", "description")
_IMAGES = ("img", "picture", "photo", "image_url", "image_path", "image_file", "file_name", "filename", "path", "url")

Guess = dict[str, tuple[str, str, bool]]
"""By name of the column: its role, what it is called there, and whether that is only guessed."""


def roles_of(header: Sequence[str], sample: Sequence[Cells], told: Mapping[str, str] | None = None) -> list[Column]:
    """The part of each column.

    Args:
        header: names of the columns, trimmed, none twice.
        sample: the first cells of each column, as text; None where a cell is missing.
        told: by name, what the user says; one of `ROLES` each.

    Raises:
        UserError: the user names a column or a part that does not exist, or gives one part to two columns.

    >>> [column.role for column in roles_of(["id", "width", "colour"], [["1"], ["2.5"], ["red"]])]
    ['id', 'feature', 'category']
    """
    said = _checked(told or {}, header)
    roles: Guess = {name: (role, bare_name(name, role), False) for name, role in said.items()}
    cells = dict(zip(header, sample, strict=True))
    for guess in (_reserved, _marked, _long_form, _annotators, _classes, _truth, _identity, _payload, _the_rest):
        open_columns = {name: cells[name] for name in header if name not in roles}
        taken = {role for role, _, _ in roles.values()}
        roles |= guess(open_columns, taken, roles, cells)
    columns = [Column(at, name, *roles[name], first=tuple(cells[name][:SHOWN])) for at, name in enumerate(header)]
    for role in SINGLE:
        twice = [column.name for column in columns if column.role == role]
        if len(twice) > 1:
            raise UserError(
                f"The columns {twice[0]} and {twice[1]} both are {role} ({ROLES[role]}); only one can be. "
                "Say what the other is, or remove it."
            )
    return columns


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
        elif part in RESULT_COLUMNS:  # somebody's own: never a feature, and kept
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


def _long_form(columns: Mapping[str, Cells], taken: set[str], roles: Guess, cells: Mapping[str, Cells]) -> Guess:
    """`task, annotator, label`: a line a label. A task column called `id` must name one example twice."""
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


def _annotators(columns: Mapping[str, Cells], taken: set[str], roles: Guess, cells: Mapping[str, Cells]) -> Guess:
    """`annotator_1, annotator_2, …`: at least two such columns, of labels and not of measurements."""
    if taken & {"candidates", "vote", "class", "annotator"}:
        return {}
    for pattern in _NUMBERED:
        found = [name for name, some in columns.items() if pattern.fullmatch(name) and not has_fractions(some)]
        if len(found) >= 2:
            return {name: ("annotator", name, True) for name in found}
    # `worker_ann, worker_bob` are annotators; `worker_age, worker_country` are not: they have no value in common.
    values = {
        name: {cell for cell in some if cell}
        for name, some in columns.items()
        if _NAMED.fullmatch(name) and name.casefold() not in _WORKERS and not has_fractions(some)
    }
    if len(values) >= 2 and set.intersection(*values.values()):
        return {name: ("annotator", name, True) for name in values}
    return {}


def _classes(columns: Mapping[str, Cells], taken: set[str], roles: Guess, cells: Mapping[str, Cells]) -> Guess:
    """0/1 columns named after classes: `candidate_cat`, or exactly as the true labels are."""
    if taken & {"candidates", "vote", "annotator", "class"}:
        return {}
    binary = {name for name, some in columns.items() if are_binary(some)}
    marked = {name: match[1] for name in columns if name in binary and (match := _CLASS.fullmatch(name))}
    if len(marked) >= 2 and len(set(marked.values())) == len(marked):
        return {name: ("class", shown, True) for name, shown in marked.items()}
    truth = next((name for name, (role, _, _) in roles.items() if role == "true_label"), None)
    if truth is None:
        return {}
    known = {cell.strip() for cell in cells[truth] if cell and cell.strip()}
    if len(binary) >= 2 and known and known <= binary and not all(is_number(name) for name in known):
        return {name: ("class", name, True) for name in columns if name in binary}
    return {}


def _truth(columns: Mapping[str, Cells], taken: set[str], roles: Guess, cells: Mapping[str, Cells]) -> Guess:
    """`label` and its like: sets where a cell holds a separator, else the true label, since it must be no feature."""
    if "true_label" in taken or "vote" in taken:
        return {}
    named = {name.casefold(): name for name in columns}
    for known in _TRUTHS:
        if known in named and not has_fractions(cells[named[known]]):
            some = [cell for cell in cells[named[known]] if cell]
            sets = "candidates" not in taken and not taken & {"annotator", "class"}
            several = any("|" in cell or (cell.startswith("[") and cell.endswith("]")) for cell in some)
            return {named[known]: ("candidates" if several and sets else "true_label", named[known], True)}
    return {}


def _identity(columns: Mapping[str, Cells], taken: set[str], roles: Guess, cells: Mapping[str, Cells]) -> Guess:
    """A column called like an id whose cells differ, where there is no `id`."""
    if taken & {"id", "task"}:
        return {}
    for name, some in columns.items():
        whole = [cell for cell in some if cell is not None and cell.strip()]
        if name.casefold() in _IDS and whole and len(set(whole)) == len(some) and not has_fractions(some):
            return {name: ("id", name, True)}
    return {}


def _payload(columns: Mapping[str, Cells], taken: set[str], roles: Guess, cells: Mapping[str, Cells]) -> Guess:
    """A column of pictures, and one of texts."""
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


def _the_rest(columns: Mapping[str, Cells], taken: set[str], roles: Guess, cells: Mapping[str, Cells]) -> Guess:
    return {name: ("ignore" if _is_void(name, some) else learnt_as(some), name, True) for name, some in columns.items()}


def _is_void(name: str, some: Cells) -> bool:
    """A column with neither name nor cells: what a delimiter at the end of every line makes."""
    return name.startswith(UNNAMED) and not any(cell and cell.strip() for cell in some)


def is_annotator(name: str) -> bool:
    """Whether a column is called as annotators are where nobody knows their names.

    >>> is_annotator("annotator_1"), is_annotator("worker B"), is_annotator("ann")
    (True, True, False)
    """
    return any(pattern.fullmatch(name) for pattern in _NUMBERED)


def guesses(columns: Sequence[Column]) -> list[str]:
    """What was made of the columns whose part nobody said and no number tells, in words."""
    words = {
        "text": "{} was taken for what there is to read.",
        "image": "{} was taken for pictures.",
        "id": "{} was taken for the ids.",
        "true_label": "{} was taken for the true label.",
        "candidates": "{} was taken for the candidates.",
        "annotator": "{} were taken for annotators; the candidates are all labels they gave.",
        "class": "{} were taken for classes: 1 is a candidate.",
        "vote": "A line was taken for one annotator's label (in {}).",
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

"""Which column of a table plays which part: by what the user says, by its name, and by its first cells.

The guess is careful: a column becomes labels only where its name leaves no doubt, since a label that is learnt from
as a feature, or a feature that is taken for a label, spoils everything quietly. What was guessed is said in the notes,
and `ReadOptions.columns` overrides it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile

from pll.errors import UserError
from pll.formats.cellkinds import (
    BINARY,
    Cells,
    are_binary,
    are_pictures,
    are_texts,
    has_fractions,
    is_number,
    learnt_as,
)
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
    roles: Guess = {
        name: (role, _class_name(name) if role == "class" else bare_name(name, role), False)
        for name, role in said.items()
    }
    cells = dict(zip(header, sample, strict=True))
    for guess in (
        *(_reserved, _marked, _long_form, _label_numbers, _annotators, _classes),
        *(_truth, _identity, _payload, _the_rest),
    ):
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
    if len(found) < 2 or taken & {"candidates", "vote", "annotator", "class"}:
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
    """0/1 columns that share a stem, one a class: `candidate_cat`, `class_0`, `y0`, `is_cat`; or exactly as the truth.

    Names other than candidate, class, label and y are those of features (`colour_red`), unless the true labels are what
    follows the stem, or there are no true labels and an example has two 1s.
    """
    binary = {name: some for name, some in columns.items() if are_binary(some)}
    named = {name: some for name, some in binary.items() if _CLASS.fullmatch(name)}
    if taken & {"candidates", "vote", "annotator", "class"}:
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
    if len(binary) >= 2 and truth and truth <= set(binary) and not all(is_number(name) for name in truth):
        return {name: ("class", name, True) for name in columns if name in binary}
    return {}


def _class_name(name: str) -> str:
    """What follows the stem of a column of a class, or its mark."""
    found = None if name.startswith(MARKS["class"]) else _CLASS.fullmatch(name)
    return bare_name(name, "class") if found is None else found["name"] or found["number"]


def _stems(names: Sequence[str]) -> list[dict[str, str]]:
    """Columns that share a stem, each with what follows it: the longest stem that all share, then the shortest."""
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
    """Whether columns can be classes: two at least, of different names, and a 1 in every row."""
    different = len(set(names.values())) == len(names) >= 2 and all(names.values())
    return different and all(map(any, _marks({name: binary[name] for name in names})))


def _marks(binary: Mapping[str, Cells]) -> Iterator[list[bool]]:
    """The rows of 0/1 columns."""
    for row in zip(*binary.values(), strict=True):
        yield [cell is not None and BINARY[cell.strip().casefold()] for cell in row]


def _truth_beside(
    columns: Mapping[str, Cells], found: Mapping[str, Cells], taken: set[str], roles: Guess, cells: Mapping[str, Cells]
) -> set[str] | None:
    """The true labels beside columns of classes; empty where there are none, None where there are candidates."""
    known = dict(roles)
    known |= _truth({name: some for name, some in columns.items() if name not in found}, taken, roles, cells)
    if any(role == "candidates" for role, _, _ in known.values()):
        return None
    name = next((name for name, (role, _, _) in known.items() if role == "true_label"), None)
    return set() if name is None else {cell.strip() for cell in cells[name] if cell and cell.strip()}


def unclear(columns: Sequence[Column]) -> list[Column]:
    """0/1 columns `label_0, label_1, …` without true labels: taken for classes, they could be annotators as well."""
    if any(column.role == "true_label" for column in columns):
        return []
    return [
        column
        for column in columns
        if column.guessed and column.role == "class" and _LABEL_NUMBER.fullmatch(column.name)
    ]


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
    asked = [column.name for column in unclear(columns)]
    if asked:
        notes.append(
            f"{listing(asked)} could also be annotators, one a column, who answered 0 or 1; if so, say it of one of "
            f"them (in the shell: --column {asked[0]}=annotator)."
        )
    return notes

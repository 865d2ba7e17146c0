"""What each column of a table is: one table of rules, by names and types alone, the same for every format.

The rules run in the order of `RULES`; each gives roles to columns that have none yet:

1. explicit roles, reserved names, our own marks (`annotator:ann`) and the usual names of `USUAL`;
2. the type of the cells: 0 and 1, numbers, lists, pictures, dates, texts, few words;
3. columns of words with one vocabulary are voters (`_vocabulary`).

Where two roles are possible, the user answers one question (`question`).

A column with a usual name for labels, or with the vocabulary of others, is a feature only if the user says so.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import pairwise

from pll.errors import UserError
from pll.formats.checks import listing, shorten
from pll.formats.forms import USUAL, plain_name
from pll.formats.forms import WORDS as NAMED_WORDS
from pll.formats.label_frame import RESULT_COLUMNS
from pll.formats.names import (
    _CLASS,
    _NAMED,
    _NUMBERED,
    _OPTION,
    _SHARE,
    CONSENSUS_COLUMNS,
    FIRST_CELLS,
    LABEL_COLUMNS,
    MARKS,
    MOST_WORDS,
    PAYLOAD_COLUMNS,
    SCORE_ENDS,
    UNNAMED,
    bare_name,
    is_named_id,
    may_hold_labels,
    results_among,
)
from pll.formats.reading import LABELLED, LINES, ROLES, SINGLE, Column, Question, question
from pll.formats.tabular.answers import objects_in, says_counts
from pll.formats.tabular.cells import (
    BINARY,
    NEARLY_ALL,
    SEPARATORS,
    WORDS,
    Cells,
    are_binary,
    are_dates,
    are_lists_of_numbers,
    are_pictures,
    are_texts,
    are_vectors,
    default_role,
    guess_separator,
    has_fractions,
    have_decimal_commas,
    holds_several,
    is_measured,
    is_missing,
    is_number,
    present_cells,
    read_marks,
    spelling,
    split_cell,
)


def refuse_questions(columns: Sequence[Column]) -> None:
    """Raise where two roles are possible: nothing is read until the user has chosen one.

    Raises
    ------
    UserError
        The question, and the options of the shell to paste.
    """
    open_question = question(columns)
    if open_question is not None:
        raise UserError(f"{open_question.text} Say which: {open_question.options()}.")


# ---- names of columns ------------------------------------------------------------------------------------------------


# ---- the table of rules ----------------------------------------------------------------------------------------------


@dataclass
class _Header:
    """The first cells of a table by column, as they are and with the labels alone, and the roles so far."""

    raw: Mapping[str, Cells]
    cells: Mapping[str, Cells]
    objects: Mapping[str, str]
    commas: Mapping[str, bool]
    explicit: frozenset[str]
    roles: dict[str, Column] = field(default_factory=dict)
    _words: dict[str, Counter[str]] = field(default_factory=dict)

    def give(self, name: str, role: str, display_name: str | None = None, *, guessed: bool = True) -> None:
        self.roles[name] = Column(0, name, role, display_name or _display_name(name, role), guessed)

    def ask(self, text: str, *answers: tuple[str, Mapping[str, str]]) -> None:
        """Put a question about columns that have a role until it is answered."""
        asked = Question(text, answers)
        self.roles |= {name: replace(self.roles[name], asks=asked) for name in answers[0][1]}

    def is_asked(self) -> bool:
        return question(self.roles.values()) is not None

    def open(self) -> list[str]:
        """Columns without a role."""
        return [name for name in self.raw if name not in self.roles]

    def having(self, *roles: str) -> list[str]:
        return [name for name, column in self.roles.items() if column.role in roles]

    def usual(self, role: str, names: Sequence[str]) -> list[str]:
        """Those of some columns with a usual name of this role, the likeliest first."""
        plain = {plain_name(name): name for name in reversed(names)}
        return [plain[name] for name in USUAL[role] if name in plain]

    def words(self, *names: str) -> Counter[str]:
        """The labels in some columns, in their common spelling, and how often each stands there."""
        for name in names:
            if name not in self._words:
                self._words[name] = _labels_among(self.cells[name])
        if len(names) == 1:
            return self._words[names[0]]
        return sum((self._words[name] for name in names), Counter[str]())

    def truth(self) -> Counter[str]:
        return self.words(*self.having("true_label"))

    def classes(self) -> Counter[str]:
        """What the truth and the candidates are called."""
        named = (spelling(self.roles[name].display_name) for name in self.having("class", "probability"))
        return self.words(*self.having("true_label", "candidates", "candidate")) + Counter(named)


def _labels_among(cells: Cells) -> Counter[str]:
    filled = present_cells(cells)
    mark = guess_separator(filled)
    counts: Counter[str] = Counter()
    for cell, count in Counter(filled).items():
        with suppress(UserError):  # reading says where a list cannot be read
            for label in split_cell(cell, mark):
                counts[spelling(label)] += count
    return counts


def _share_among(words: Counter[str], others: Counter[str]) -> float:
    """Which share of the labels of one column another one uses too."""
    return sum(count for word, count in words.items() if word in others) / max(words.total(), 1)


def roles_of(header: Sequence[str], sample: Sequence[Cells], explicit: Mapping[str, str] | None = None) -> list[Column]:
    """Return the role of each column.

    Parameters
    ----------
    header
        Names of the columns, trimmed, none twice.
    sample
        The first cells of each column, as text; None where a cell is missing.
    explicit
        By name, the roles that the user gives, one of `ROLES` each. A role for one column of a question answers the
        question for all of its columns.

    Raises
    ------
    UserError
        The user names a column or a role that does not exist, or gives one role to two columns.

    Examples
    --------
    >>> [column.role for column in roles_of(["id", "width", "colour"], [["1"], ["2.5"], ["red"]])]
    ['id', 'feature', 'category']
    """
    explicit = explicit or {}
    for name, role in explicit.items():
        if name not in header:
            raise UserError(f"There is no column {shorten(name)}; there are {listing(header)}.")
        if role not in ROLES:
            raise UserError(f"The column {name} cannot be {role!r}; use one of {', '.join(ROLES)}.")
    raw = dict(zip(header, sample, strict=True))
    read = {name: objects_in(name, some) for name, some in raw.items()}
    objects, cells = {name: kind for name, (kind, _) in read.items()}, {name: some for name, (_, some) in read.items()}
    commas = dict(zip(header, have_decimal_commas(sample), strict=True))

    def by_rules(roles: Mapping[str, str], called: Mapping[tuple[str, str], str]) -> dict[str, Column]:
        table = _Header(raw, cells, objects, commas, frozenset(roles))
        for name, role in roles.items():
            table.give(name, role, called.get((name, role)), guessed=False)
        for rule in RULES:
            rule(table)
        return table.roles

    columns, answered = by_rules({}, {}), dict[str, str]()
    while explicit and (open_question := question(columns.values())):
        answer = next((roles for _, roles in open_question.answers if roles.items() & explicit.items()), None)
        if answer is None:
            break
        answered |= answer
        columns = by_rules(answered, {})
    if explicit:
        called = {(one.name, one.role): one.display_name for one in columns.values()}
        columns = by_rules(answered | dict(explicit), called)
    for role in SINGLE:
        twice = [name for name in header if columns[name].role == role]
        if len(twice) > 1:
            raise UserError(
                f"The columns {twice[0]} and {twice[1]} both are {role} ({ROLES[role]}); only one can be. "
                "Say what the other is, or remove it."
            )
    return [
        replace(columns[name], at=at, first=tuple(raw[name][:FIRST_CELLS]), comma=commas[name])
        for at, name in enumerate(header)
    ]


# ---- the rules, in the order of `RULES` ------------------------------------------------------------------------------


def _reserved(table: _Header) -> None:
    """Reserved names, results of an earlier run, and columns marked as our own tables mark them: `annotator:ann`."""
    results = results_among(list(table.raw))
    for name in table.open():
        plain = name.casefold()
        if plain in CONSENSUS_COLUMNS or name in results:
            table.give(name, "ignore", guessed=False)
        elif plain in RESULT_COLUMNS:  # of the user: never a feature, and kept
            table.give(name, "keep")
        elif plain in (*LABEL_COLUMNS, *PAYLOAD_COLUMNS) and not table.having(plain):
            table.give(name, plain, guessed=False)
    for name in table.open():
        for role, mark in MARKS.items():
            if name.startswith(mark) and name != mark and not (role == "class" and table.having("candidates")):
                table.give(name, role, guessed=False)


def _json(table: _Header) -> None:
    """Objects that are neither answers nor shares of labels, and numbers of labels without names, are carried along.

    A list of shares (`label_dist`, `probs`) does not say which number is of which class. Other lists are vectors.
    """
    for name in table.open():
        cells = table.raw[name]
        if table.objects[name] == "others":
            table.give(name, "keep")
        elif not table.objects[name] and are_lists_of_numbers(cells) and (says_counts(name) or are_vectors(cells)):
            table.give(name, "keep" if says_counts(name) or may_hold_labels(name) else "vector")


def _long_form(table: _Header) -> None:
    """`task, annotator, label`: one row per label, by usual names. A task column called `id` must repeat.

    Where the name of the example repeats, and the others have no usual names, the user is asked.
    """
    if table.having("candidates", "annotator", "class") or len(table.having(*LINES)) == len(LINES):
        return
    usual = {role: table.having(role) or table.usual(role, table.open()) for role in LINES}
    repeating = [name for name in table.raw if 2 * len(set(table.raw[name])) <= len(table.raw[name])]
    if not usual["task"]:  # `id` is reserved, and has its role already
        usual["task"] = [name for name in table.having("id") if len(set(table.raw[name])) < len(table.raw[name])]
    if usual["task"] and len(usual["worker"]) == 1 == len(usual["vote"]):
        for role, names in usual.items():
            if names[0] not in table.explicit:
                table.give(names[0], role)
        return
    if table.having(*LABELLED, *LINES):
        return
    keys = [*usual["task"], *filter(is_named_id, table.open()), *table.having("text", "image")]
    for task in [name for name in keys if name in repeating and name not in table.explicit]:
        words = [name for name in table.open() if name != task and _are_words(table.cells[name])]
        for worker in usual["worker"][:1] or words:
            pairs = set(zip(table.raw[task], table.raw[worker], strict=True))
            votes = [name for name in usual["vote"][:1] or words if name not in (task, worker)]
            votes = [name for name in votes if not _is_function(table.raw[name], table.raw[task])]
            if votes and worker in repeating and len(pairs) == len(table.raw[task]):  # who answers, answers once
                _ask_about_lines(table, task, worker, votes[0])
                return


def _ask_about_lines(table: _Header, task: str, worker: str, vote: str) -> None:
    if task not in table.having("text", "image"):
        table.give(task, "keep")
    is_usual = bool(table.usual("worker", [worker])) or may_hold_labels(worker)
    table.give(worker, "keep" if is_usual else default_role(table.cells[worker]))
    if table.usual("true_label", [vote]) and not table.having("true_label"):
        table.give(vote, "true_label")
    else:
        table.give(vote, "keep" if may_hold_labels(vote) else default_role(table.cells[vote]))
    table.ask(
        f"The same {task} stands in several lines. Is every line one answer: {worker} says who gave it, {vote} what "
        "it is?",
        ("one answer a line", {task: "task", worker: "worker", vote: "vote"}),
        ("every line is an example", {name: table.roles[name].role for name in (task, worker, vote)}),
        (f"one answer a line, {task} and {worker} swapped", {task: "worker", worker: "task", vote: "vote"}),
    )


def _is_function(values: Cells, keys: Cells) -> bool:
    """Whether rows with the same key have the same value, missing values aside."""
    first: dict[str | None, str] = {}
    pairs = [(key, value) for key, value in zip(keys, values, strict=True) if value and value.strip()]
    return all(first.setdefault(key, value) == value for key, value in pairs)


def _truth(table: _Header) -> None:
    """`label` and the like: candidate sets where a cell holds several labels, else the true label.

    In long form `label` may be another answer; `gold` is the truth where all lines of an example have the same.
    """
    if table.having("true_label"):
        return
    task = next(iter(table.having("task")), None)
    for name in table.usual("true_label", table.open()):
        if task is not None:
            plain = plain_name(name)  # a name of labels, not of true ones
            is_generic = plain in USUAL["vote"] or plain in ("class_label", "classification", "target")
            if is_generic or not _is_function(table.raw[name], table.raw[task]):
                continue
        elif has_fractions(table.cells[name]) or are_vectors(table.cells[name]):
            continue
        cells = [cell for cell in table.cells[name] if cell]
        several = holds_several(cells) or any(cell.startswith("[") and cell.endswith("]") for cell in cells)
        table.give(name, "candidates" if several and not table.having(*LABELLED) else "true_label")
        return


def _sets(table: _Header) -> None:
    """The candidates by name: several labels a cell (`options`), or one a cell (`option 1`, `option 2`)."""
    if table.having(*LABELLED):
        return
    for name in table.usual("candidates", table.open()):
        if not is_measured(table.cells[name]) and holds_several(table.cells[name]):
            table.give(name, "candidates")
            return
    single = [name for name in table.open() if _OPTION.fullmatch(name)]
    single = [name for name in single if default_role(table.cells[name]) == "category"]
    for name in single if len(single) > 1 else ():
        table.give(name, "candidate")


def _annotators(table: _Header) -> None:
    """`annotator_1, annotator_2, …`: columns of labels, and no measurements; `gpt` where there is a `gpt_score`."""
    if table.having("vote", "class", "annotator", "candidate", "probability"):
        return
    whole = [name for name in table.open() if not has_fractions(table.cells[name])]
    matches = {name: match for name in whole if (match := _NUMBERED.fullmatch(name))}
    labels = [name for name, match in matches.items() if match["label"]]
    if all(are_binary(table.cells[name]) for name in labels):  # label_1, label_2 of 0 and 1 may be classes
        matches = {name: match for name, match in matches.items() if name not in labels}
    is_alone = len(matches) == 1 and not table.having("candidates", "true_label")
    if len(matches) > 1 or any(
        is_alone and m["person"] and not is_measured(table.cells[n]) for n, m in matches.items()
    ):
        for name in matches:
            table.give(name, "annotator")
        return
    scored = {_scored(name).casefold() for name in table.open() if _are_amounts(table.cells[name])}
    for name in whole:
        if (
            name.casefold() in scored
            and default_role(table.cells[name]) == "category"
            and not table.usual("true_label", [name])
        ):
            table.give(name, "annotator")


def _answers(table: _Header) -> None:
    """A model's answers in JSON are an annotator's."""
    for name in table.open() if not table.having("vote") else ():
        if table.objects[name] == "answers":
            table.give(name, "keep" if table.having("candidates", "candidate", "class") else "annotator")


def _classes(table: _Header) -> None:
    """Marks that share a stem (candidate, class, label, y) or end in the truth's values: a column a class.

    A group is one by name: a cell of it that is no mark is refused with its row when it is read.
    `label_1, label_2` without a truth may also be voters who vote 0 or 1: the user is asked.
    """
    marks = {name: rows for name in table.open() if (rows := read_marks(table.cells[name])) is not None}
    stems: dict[str, dict[str, str]] = {"cand": {}, "class": {}, "label": {}, "y": {}}
    for name in marks:
        if match := _CLASS.fullmatch(name):
            stem = match["stem"].casefold()
            stems["cand" if stem.startswith("cand") else stem][name] = _class_name(name)
    if table.having("candidates", "candidate"):  # another way to write the candidates: never a feature
        for name in stems["cand"]:
            table.give(name, "keep")
    if table.having(*LABELLED):
        return
    truth = set(table.truth())

    def is_matrix(group: Mapping[str, str]) -> bool:
        different = len(set(group.values())) == len(group) > 1 and all(group.values())
        rows = list(zip(*(marks[name] for name in group), strict=True))
        return different and _are_whole(rows) and all(any(mark is not False for mark in row) for row in rows)

    labels = stems["label"]
    may_be_votes = len(labels) > 1 and all(match and match["label"] for match in map(_NUMBERED.fullmatch, labels))
    may_be_votes = may_be_votes and not (truth and truth <= set(map(spelling, labels.values())))
    if may_be_votes and (truth or not is_matrix(labels)):
        stems["label"] = {}
    named = [group for stem, group in stems.items() if is_matrix(group) or (stem == "cand" and len(group) > 1)]
    of_truth = _called_as(list(marks), truth)
    for group in [*named, *([of_truth] if is_matrix(of_truth) else [])][:1]:  # reading names a row without a mark
        for name, ending in group.items():
            table.give(name, "class", ending)
        if group is labels and may_be_votes:
            table.ask(
                f"{listing([*group], limit=12)} hold 0 and 1. What is one of these columns?",
                ("a class: 1 where it is a candidate", dict.fromkeys(group, "class")),
                ("a voter who votes 0 or 1", dict.fromkeys(group, "annotator")),
            )
        return
    for name in labels if may_be_votes and truth <= {"0", "1", "0.0", "1.0"} else ():
        table.give(name, "annotator")


def _called_as(names: Sequence[str], truth: set[str]) -> dict[str, str]:
    """Columns that are called as the true labels, after one stem, with those endings; all that have a stem."""
    if not truth or all(map(is_number, truth)):
        return {}
    word = min(truth)
    starts = {name: [0, *(at + 1 for at, letter in enumerate(name) if letter in "_.=: -")] for name in names}
    stems = [name[:at] for name in names for at in starts[name] if spelling(name[at:]) == word]
    for stem in dict.fromkeys(stems):
        group = {name: name[len(stem) :].strip() for name in names if name.startswith(stem)}
        if truth <= set(map(spelling, group.values())):
            return {name: ending for name, ending in group.items() if stem or spelling(ending) in truth}
    return {}


def _probabilities(table: _Header) -> None:
    """`prob_cat, prob_dog, …`, and numbers under the names of the classes: how likely, or how frequent, each is.

    A group is one by name: a cell of it that is no such number is refused with its row when it is read.
    """
    if table.having(*LABELLED):
        return
    amounts = {name: list(map(_amount, table.cells[name])) for name in table.open() if _are_amounts(table.cells[name])}
    truth, groups = set(table.truth()), dict[str, dict[str, str]]()
    for name in amounts:
        if match := _SHARE.fullmatch(name):
            groups.setdefault(match["stem"].casefold(), {})[name] = _display_name(name, "probability")
    of_truth = _called_as(list(amounts), truth) if len(truth) > 1 else {}
    whole = [row for row in zip(*amounts.values(), strict=True) if None not in row]
    totals = {round(sum(filter(None, row)), 6) for row in whole}
    if of_truth and len(totals) == 1:  # the others are classes too, which are nobody's truth
        of_truth = dict(zip(amounts, amounts, strict=True)) | of_truth
    for group in (*groups.values(), of_truth):
        rows = list(zip(*(amounts[name] for name in group), strict=True))
        if len(group) > 1 and _are_whole(rows) and not (truth and truth.isdisjoint(map(spelling, group.values()))):
            for name, ending in group.items():
                table.give(name, "probability", ending)
            return


def _are_whole(rows: Sequence[Sequence[object]]) -> bool:
    """Whether most rows of the columns of a group have no odd cell (None)."""
    return 2 * sum(None not in row for row in rows) > len(rows)


def _are_amounts(cells: Cells) -> bool:
    """Whether most cells that are not missing are numbers of at least 0, with or without a percent sign."""
    filled = present_cells(cells)
    return 2 * sum(_amount(cell) is not None for cell in filled) >= len(filled)


def _amount(cell: str | None) -> float | None:
    """Return the number of at least 0 in a cell, 0 where it is missing; None where there is another thing."""
    if is_missing(cell):
        return 0.0
    plain = (cell or "").strip().removesuffix("%").strip().replace(",", ".")
    return float(plain) if is_number(plain) and 0 <= float(plain) < math.inf else None


def _sets_by_type(table: _Header) -> None:
    """The one column with several labels a cell, which name the truth where there is one: the candidates.

    Without a truth they are lists, or joined by `|`, `;` or a line end: a comma may be that of a sentence, a slash part
    of a word. Where another column has the same words, both may be voters, one of whom named two labels in some rows.
    """
    if table.having(*LABELLED, "vote") or table.is_asked():
        return
    fitting = []
    worded = [name for name in table.open() if not is_measured(table.cells[name])]
    for name in worded:
        cells, words = present_cells(table.cells[name]), table.words(name)
        labels = words.total()
        if labels <= len(cells) or are_pictures(cells) or all(map(is_number, words)):
            continue
        is_list = guess_separator(cells) in SEPARATORS[:3] and 2 * len(words) <= labels
        others = [table.words(other) for other in worded if other != name]
        is_voter = 2 * labels < 3 * len(cells) and any(other and _share_among(other, words) >= 0.9 for other in others)
        if _share_among(table.truth(), words) >= NEARLY_ALL if table.truth() else is_list and not is_voter:
            fitting.append(name)
    if len(fitting) == 1:
        table.give(fitting[0], "candidates")


def _vocabulary(table: _Header) -> None:
    """Columns of words with one vocabulary are voters.

    They are where they share it with the truth or the candidates, or where there are three or more; two of them, words
    like yes and no, or a truth of other words may also be features: the user is asked.
    `final`, `expert` and their like are the truth, where a voter or the candidates have their words.
    """
    if table.having("vote") or table.is_asked():
        return
    voters, has_sets = table.having("annotator"), bool(table.having("candidates", "candidate", "class", "probability"))
    is_labelled = bool(voters or has_sets or table.having("true_label"))
    people = [name for name in table.open() if _NAMED.fullmatch(name) and not has_fractions(table.cells[name])]
    classes = table.classes() + table.words(*voters)
    # Most would not do: of mushrooms, ring-type has the letters of the classes, e and p, in 83 % of its cells.
    named = [name for name in table.open() if name in people or _are_no_values(table.cells[name])]
    near = {name for name in named if is_labelled and _share_among(table.words(name), classes) >= NEARLY_ALL}
    columns = [name for name in named if name in people or name in near or _are_words(table.cells[name])]
    groups = _of_one_vocabulary(table, [*columns, *voters])
    if not table.having("true_label"):
        shared = near.union(*(group for group in groups if len(group) > 1))
        for name in [name for name in columns if plain_name(name) in NAMED_WORDS["adjudicated"] and name in shared][:1]:
            table.give(name, "true_label")
            near.add(name)
            is_labelled = True
    near = near.union(*(group for group in groups if near.intersection(group)))  # a truth may name but few of them
    near_open = [name for name in columns if name in near and name not in table.roles]
    unclear: list[str] = []
    if len(near_open) == 1 and has_sets and not (voters or table.having("true_label")):
        table.give(near_open[0], "keep")
        table.ask(
            f"{near_open[0]} names a candidate in nearly every row. Is it the true label?",
            ("the true label", {near_open[0]: "true_label"}),
            ("only carried along", {near_open[0]: "keep"}),
        )
        return
    for name in near_open:
        if table.having("class", "probability"):
            table.give(name, "keep")
        elif voters or not _says_yes_or_no(table.words(name)):
            table.give(name, "annotator")
        else:
            unclear.append(name)
    for group in groups:
        names = [name for name in group if name not in table.roles and name not in unclear]
        is_yes_or_no = _says_yes_or_no(table.words(*names))
        is_clear = len(names) > 2 and not is_yes_or_no
        is_clear = is_clear or (len(names) == 2 and all(_NAMED.fullmatch(name) for name in names))
        has_truth = _share_among(table.truth(), table.words(*names)) >= 1 / 2
        if len(names) < 2 or (is_labelled and not is_clear and not has_truth):
            continue
        if table.having("annotator") and not voters:  # answers to another question
            for name in names:
                table.give(name, "keep")
        elif is_clear and not is_labelled:
            for name in names:
                table.give(name, "annotator")
        else:
            unclear += names
    if unclear:
        _ask_whose(table, unclear, may_be_classes=not is_labelled and _says_yes_or_no(table.words(*unclear)))


def _ask_whose(table: _Header, names: Sequence[str], *, may_be_classes: bool) -> None:
    for name in names:
        table.give(name, "category")
    text = f"{names[0]} uses the words of the labels."
    if len(names) > 1:
        both = listing(names, limit=12)
        text = f"{both.replace(', ', ' and ') if len(names) == 2 else both} use the same words."
    answers = {"annotator": "each column is one voter's answers", "category": "nobody's: learn from them"}
    if may_be_classes:
        answers["class"] = "each column is a class, marked where it is a candidate"
    table.ask(
        f"{text} Whose answers are these?", *((answer, dict.fromkeys(names, role)) for role, answer in answers.items())
    )


def _are_no_values(cells: Cells) -> bool:
    """Whether cells are neither numbers nor dates nor pictures."""
    filled = present_cells(cells)
    return bool(filled) and default_role(filled) != "feature" and not are_dates(filled) and not are_pictures(filled)


def _are_words(cells: Cells) -> bool:
    """Whether cells can be names of classes, of which there may be a thousand: no numbers, dates, pictures or texts."""
    filled = present_cells(cells)
    return _are_no_values(filled) and sum(map(len, filled)) <= MOST_WORDS * len(filled)


def _says_yes_or_no(words: Counter[str]) -> bool:
    return set(words) <= {*BINARY, *WORDS}


def _of_one_vocabulary(table: _Header, names: Sequence[str]) -> list[list[str]]:
    """Groups of columns of one vocabulary, the largest first.

    Two have one where most cells of each hold words of the other: annotators of the same examples use the same classes,
    even where they often disagree, and of a thousand classes in few rows at least those that they agree on. A column
    that uses only some words of a group belongs to it.
    """
    groups: list[list[str]] = []
    users: dict[str, set[str]] = {}  # word → columns that use it: of thousands, only few are compared
    for name in names:
        words = table.words(name)
        others = {other for word in words for other in users.get(word, ())}

        def is_like(other: str, words: Counter[str] = words) -> bool:
            theirs = table.words(other)
            return min(_share_among(words, theirs), _share_among(theirs, words)) >= 1 / 2

        fitting = [group for group in groups if any(map(is_like, others.intersection(group)))]
        groups = [group for group in groups if group not in fitting]
        groups.append([*(one for group in fitting for one in group), name])
        for word in words:
            users.setdefault(word, set()).add(name)
    groups.sort(key=len, reverse=True)
    for group in [group for group in groups if len(group) > 1]:
        words = table.words(*group)
        for other in groups[groups.index(group) + 1 :]:
            if group and other and _share_among(table.words(*other), words) >= NEARLY_ALL:
                group += other
                other.clear()
    return [group for group in groups if group]


def _scores(table: _Header) -> None:
    """`gpt_score` where there is an annotator `gpt`: the confidence of each answer, never a feature."""
    people = {
        column.name.casefold(): column.display_name for column in table.roles.values() if column.role == "annotator"
    }
    people |= {display_name.casefold(): display_name for display_name in people.values()}
    for name in table.open():
        who = people.get(_scored(name).casefold())
        cells = [cell for cell in table.raw[name] if cell and cell.strip()]
        if who is not None and cells and 2 * sum(is_number(cell.replace(",", ".")) for cell in cells) >= len(cells):
            table.give(name, "score", who)


def _scored(name: str) -> str:
    """Return the annotator whose scores a column of this name holds: its name before the ending; "" without one."""
    end = next((end for end in SCORE_ENDS if name.casefold().endswith(end)), "")
    return name[: len(name) - len(end)] if end else ""


def _ids(table: _Header) -> None:
    """A column with the name of an id and distinct cells, or one that counts the rows."""
    if table.having("id", "task"):
        return
    fitting = []
    for name in table.open():
        cells = table.raw[name]
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
    """A column of pictures and one of texts; in long form guessed from the first line of each example."""
    cells = {name: table.raw[name] for name in table.open()}
    if task := table.having("task"):
        rows = {cell: at for at, cell in reversed(list(enumerate(table.raw[task[0]])))}.values()
        cells = {name: [some[at] for at in rows] for name, some in cells.items()}
    pictures = [name for name, some in cells.items() if are_pictures(some)]
    for name in [*table.usual("image", pictures), *pictures][:1] if not table.having("image") else ():
        table.give(name, "image")
        del cells[name]
    usual = table.usual("text", list(cells))
    texts = [name for name in usual if are_texts(cells[name], 2)] + [n for n in cells if are_texts(cells[n], 4)]
    for name in texts[:1] if not table.having("text") else ():
        table.give(name, "text")


def _rest(table: _Header) -> None:
    """Labels without a role, dates and empty columns; then numbers and words as features."""
    for name in table.open():
        cells = table.raw[name]
        if name.startswith(UNNAMED) and not any(cell and cell.strip() for cell in cells):
            table.give(name, "ignore")  # as after a delimiter at the end of every line
        elif are_dates(cells) or (may_hold_labels(name) and not has_fractions(cells)):
            table.give(name, "keep")  # days as categories would only identify the examples of that day
        else:
            table.give(name, "feature" if table.commas[name] else default_role(cells))


RULES: tuple[Callable[[_Header], None], ...] = (
    *(_reserved, _json, _long_form, _truth, _sets, _annotators, _answers),
    *(_classes, _probabilities, _sets_by_type, _vocabulary, _scores, _ids, _payload, _rest),
)
"""The rules, in their order; each gives roles to columns that have none."""


# ---- names and notes for the user ------------------------------------------------------------------------------------


def _display_name(name: str, role: str) -> str:
    """Return the display name of a column with this role."""
    if name.startswith(MARKS.get(role, "\0")):
        return bare_name(name, role)
    if role == "probability" and (match := _SHARE.fullmatch(name)):
        return match["name"].removesuffix(")") if match["stem"].endswith("(") else match["name"]
    if role == "score":
        return bare_name(_scored(name) or name, "annotator")
    return _class_name(name) if role == "class" else name


def _class_name(name: str) -> str:
    """Return what follows the stem of a column of a class."""
    match = _CLASS.fullmatch(name)
    return name if match is None else match["name"] or match["number"]


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
        "score": "{} were taken for the confidence of the annotators.",
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

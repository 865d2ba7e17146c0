"""What each column of a table is: one table of rules, by names and types alone, the same for every format.

The rules run in the order of `RULES`; each gives roles to columns that have none yet:

1. explicit roles, reserved names, our own marks (`annotator:ann`) and the usual names of `USUAL`;
2. the type of the cells: 0 and 1, numbers, lists, pictures, dates, texts, few words;
3. columns of words with one vocabulary are voters (`_vocabulary`).

Where two roles are possible, the user answers one question (`question`).

A column with a usual name for labels, or with the vocabulary of others, is a feature only if the user says so.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from pll.errors import Note, UserError
from pll.formats.by_hand import by_hand
from pll.formats.checks import listing, shorten
from pll.formats.class_groups import GENERIC, classes, counts, probabilities
from pll.formats.doubt import are_doubted
from pll.formats.forms import SHOWN, USUAL, Form, form_told_by, plain_name, words_of
from pll.formats.label_frame import RESERVED_COLUMNS
from pll.formats.names import (
    CONSENSUS_COLUMNS,
    FIRST_CELLS,
    LABEL_COLUMNS,
    MARKS,
    OPTION_COLUMN,
    PAYLOAD_COLUMNS,
    UNNAMED,
    is_named_id,
    may_hold_labels,
    results_among,
)
from pll.formats.proposal import FEW, Proposal, says_aggregate, says_fact, says_labels, share_among
from pll.formats.reading import ERRORS, LABELLED, LINES, ROLES, SINGLE, Column, question
from pll.formats.row_forms import ask_which_list, by_signature, lines, persons
from pll.formats.settled import settled
from pll.formats.tabular.cells import (
    NEARLY_ALL,
    SEPARATORS,
    Cells,
    are_addresses,
    are_dates,
    are_lists,
    are_lists_of_numbers,
    are_pictures,
    are_texts,
    are_vectors,
    default_role,
    elements,
    guess_separator,
    has_fractions,
    have_decimal_commas,
    holds_several,
    is_error,
    is_measured,
    is_no_answer,
    is_number,
    nearly_all,
    numbers_in,
    objects_in,
    present_cells,
    remembered,
    says_counts,
)
from pll.formats.voters import (
    aggregates,
    annotators,
    answers,
    beside,
    derived,
    grades,
    of_one_vocabulary,
    remarks,
    rounds,
    scores,
    talkers,
    vocabulary,
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
        raise UserError(open_question.text, kind="question", shell="; or ".join(open_question.options()))


# ---- the table of rules ----------------------------------------------------------------------------------------------


def roles_of(
    header: Sequence[str],
    sample: Sequence[Cells],
    explicit: Mapping[str, str] | None = None,
    form: Form | None = None,
) -> list[Column]:
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
    form
        The signature of the table, where its reader knows it; else it is told by the names.

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
    form = form or form_told_by(header)

    @remembered()
    def by_rules(roles: Mapping[str, str], called: Mapping[tuple[str, str], str]) -> dict[str, Column]:
        table = Proposal(raw, cells, objects, commas, frozenset(roles), form)
        for name, role in roles.items():
            table.give(name, role, called.get((name, role)), guessed=False)
        for rule in RULES:
            rule(table)
        return table.roles

    columns, answered = by_rules({}, {}), dict[str, str]()
    called = dict[tuple[str, str], str]()
    while explicit and (open_question := question(columns.values())):
        called |= {(one.name, one.role): one.display_name for one in columns.values()}
        said = {name: role for name, role in explicit.items() if columns[name].asks is open_question}
        answer = next((roles for _, roles in open_question.answers if roles.items() & said.items()), None)
        if answer is None:
            break
        answered |= answer
        columns = by_rules(answered, called)
    if explicit:
        called |= {(one.name, one.role): one.display_name for one in columns.values()}
        columns = by_rules(answered | dict(explicit), called)
    for role in SINGLE if question(columns.values()) is None else ():
        twice = [name for name in header if columns[name].role == role]
        if len(twice) > 1:
            raise UserError(
                f"The columns {twice[0]} and {twice[1]} both are {role} ({ROLES[role]}); only one can be. "
                "Say what the other is, or remove it."
            )
    title = "" if form is None else form.title
    return [
        replace(columns[name], at=at, first=tuple(raw[name][:FIRST_CELLS]), comma=commas[name], signature=title)
        for at, name in enumerate(header)
    ]


# ---- the rules, in the order of `RULES` ------------------------------------------------------------------------------


def _reserved(table: Proposal) -> None:
    """Reserved names, results of an earlier run, and columns marked as our own tables mark them: `annotator:ann`."""
    table.give_all([name for name in table.open() if nearly_all(is_error, table.raw[name])], "keep", why=ERRORS)
    results, plain = results_among(list(table.raw)), {name: name.casefold() for name in table.raw}
    ours = [name for name in table.open() if plain[name] in CONSENSUS_COLUMNS or name in results]
    table.give_all(ours, "ignore", guessed=False)
    table.give_all([name for name in table.open() if plain[name] in RESERVED_COLUMNS], "keep")  # of the user: kept
    for role in (*LABEL_COLUMNS, *PAYLOAD_COLUMNS):
        named = [name for name in table.open() if plain[name] == role and not table.having(role)]
        table.give_all(named[:1], role, guessed=False)
    for role, mark in MARKS.items():
        marked = [name for name in table.open() if name.startswith(mark) and name != mark]
        table.give_all(marked if role != "class" or not table.having("candidates") else (), role, guessed=False)


def _shown(table: Proposal) -> None:
    """Of what a tool shows, a text and a picture; numbers, where there is neither; else it is carried along.

    A list of numbers is learnt from where it is called `features`.
    """
    shown = [name for name in table.open() if table.form is not None and table.form.role_of(name) == SHOWN]
    if not shown:
        return
    _payload(table)
    lists = [name for name in shown if name == "features" and any(numbers_in(cell or "") for cell in table.raw[name])]
    table.give_all(lists, "vector", guessed=False)
    if not table.having("text", "image", "feature", "vector"):
        numbers = [name for name in table.open() if default_role(table.raw[name]) == "feature"]
        table.give_all([name for name in numbers if any(table.raw[name])], "feature", guessed=False)
    table.give_all(table.open(), "keep", guessed=False)


def _json(table: Proposal) -> None:
    """Objects that are neither answers nor shares of labels, and numbers of labels without names, are carried along.

    A list of shares (`label_dist`, `probs`) does not say which number is of which class. Other lists are vectors.
    """
    table.give_all([name for name in table.open() if table.objects[name] == "others"], "keep")
    lists = [name for name in table.open() if not table.objects[name] and are_lists_of_numbers(table.raw[name])]
    vectors = [name for name in lists if not says_counts(name) and are_vectors(table.raw[name])]
    table.give_all([name for name in lists if says_counts(name)], "keep")
    table.give_all([name for name in vectors if may_hold_labels(name) or says_aggregate(name)], "keep")
    table.give_all([name for name in vectors if name in table.open()], "vector")


def _listed(table: Proposal) -> None:
    """All answers to an example in a cell: who said what, a list beside one of people, or one that repeats labels."""
    found = [name for name in table.open() if table.objects[name] == "voters"]
    if not found:
        lists = [name for name in table.open() if not table.commas[name] and are_lists(table.raw[name])]
        lists = [name for name in lists if not (says_counts(name) or says_aggregate(name))]
        of_people = [name for name in lists if _are_people(table.raw[name], [table.raw[n] for n in lists if n != name])]
        for people in dict.fromkeys([*table.usual("people", lists), *of_people]):
            beside = [n for n in lists if n != people and _are_as_long(table.raw[n], table.raw[people])]
            found = [name for name in beside if _may_be_list_of_votes(table, name, people)]
            found = found or table.usual("answers", beside)[:1]
            if found:
                table.give(people, "people")
                table.give_all([n for n in beside if n not in found], "keep", why="beside the answers")
                break
        found = found or [n for n in lists if _repeat_labels(table.raw[n]) and not says_fact(n)]
        usual = [name for name in found if plain_name(name) in USUAL["answers"] or says_labels(name)]
        found = usual if len(usual) == 1 else found
    table.give_all(found, "answers")
    if len(found) > 1:
        ask_which_list(table, found)


def _may_be_list_of_votes(table: Proposal, name: str, people: str) -> bool:
    """Whether what stands in lists beside those of people may be answers: no fact about the person, nor the example."""
    rows = [(elements(a), elements(b)) for a, b in zip(table.raw[name], table.raw[people], strict=True) if a and b]
    said = [(str(who), str(one)) for some, whose in rows for one, who in zip(some, whose, strict=False) if one]
    cells = [one for _, one in said]
    per_person = Counter(who for who, _ in {*said})
    is_fact = all(times == 1 for times in per_person.values()) and len(said) > len(per_person)
    is_item = all(len({*map(str, some)}) == 1 for some, _ in rows)
    few = 1 < len(set(cells)) <= max(FEW, len(cells) // 4)
    return few and not (is_fact or is_item or says_fact(name) or are_dates(cells) or has_fractions(cells))


def _are_people(cells: Cells, others: Sequence[Cells]) -> bool:
    """Whether lists are people, whatever called: nobody twice in one, each in several, beside labels that repeat."""
    lists = [[str(one) for one in elements(cell)] for cell in cells if cell]
    named = Counter(name for some in lists for name in some)
    once = all(len({*some}) == len(some) for some in lists)
    return once and 2 < 2 * len(named) <= named.total() and any(_repeat_labels(one) for one in others)


def _are_as_long(cells: Cells, others: Cells) -> bool:
    """Whether the lists in two columns are as long as each other, in nearly every row, and mostly of several."""
    lengths = [(len(elements(a)), len(elements(b))) for a, b in zip(cells, others, strict=True) if a and b]
    same = sum(a == b for a, b in lengths)
    return same >= NEARLY_ALL * len(lengths) and 2 * sum(a > 1 for a, _ in lengths) >= len(lengths) > 0


def _repeat_labels(cells: Cells) -> bool:
    """Whether lists say few labels, and some of them several times: each is somebody's answer."""
    lists = [[str(one) for one in elements(cell)] for cell in cells if cell and cell.lstrip().startswith("[")]
    words = Counter(one for some in lists for one in some)
    repeated = sum(len({*some}) < len(some) for some in lists)
    return len(words) <= max(20, len(lists) // 4) and 20 * repeated >= len(lists) > 0


def _truth(table: Proposal) -> None:
    """`label` and the like: candidate sets where a cell holds several labels, else the true label."""
    task = table.having("task")[:1]
    for name in [name for name in table.usual("true_label", table.open()) if _may_be_truth(table, name, task)][:1]:
        cells = [cell for cell in table.cells[name] if cell]
        several = (
            holds_several(cells)
            or are_doubted(cells)
            or any(cell.startswith("[") and cell.endswith("]") for cell in cells)
        )
        table.give(name, "candidates" if several and not table.having(*LABELLED) else "true_label")


def _may_be_truth(table: Proposal, name: str, task: Sequence[str]) -> bool:
    """Whether a column with a usual name of labels may be the truth.

    In long form `label` may be another answer; `gold` is the truth where all lines of an example have the same.
    """
    if task:
        return plain_name(name) not in (*USUAL["vote"], *GENERIC) and table.is_function(name, *task)
    if has_fractions(table.cells[name]) or are_vectors(table.cells[name]):
        return False
    words = table.words(name)
    may_be_school = plain_name(name) in ("class", "klasse", "classe", "clase") and len(words) > 1
    worded = [other for other in table.open() if other != name and table.may_be_answers(other)] if may_be_school else []
    groups = of_one_vocabulary(table, [other for other in worded if table.may_be_label(other)])
    return not any(len(group) > 2 and words.keys().isdisjoint(table.words(*group)) for group in groups)


def _sets(table: Proposal) -> None:
    """The candidates by name: several labels a cell (`options`), or one a cell (`option 1`, `option 2`)."""
    usual = [name for name in table.usual("candidates", table.open()) if not is_measured(table.cells[name])]
    several = [name for name in usual if holds_several(table.cells[name])][:1]
    single = [name for name in table.open() if OPTION_COLUMN.fullmatch(name)]
    single = [name for name in single if default_role(table.cells[name]) == "category"]
    table.give_all(several, "candidates")
    table.give_all(single if len(single) > 1 and not several else (), "candidate")


def _sets_by_type(table: Proposal) -> None:
    """The one column with several labels a cell, which name the truth where there is one: the candidates."""
    worded = [name for name in table.open() if not is_measured(table.cells[name])]
    fitting = [name for name in worded if _holds_sets(table, name, [other for other in worded if other != name])]
    table.give_all(fitting if len(fitting) == 1 else (), "candidates")


def _holds_sets(table: Proposal, name: str, others: Sequence[str]) -> bool:
    """Whether a column holds several labels a cell.

    Without a truth they are lists, or joined by `|`, `;` or a line end: a comma may be that of a sentence, a slash part
    of a word. Where another column has the same words, both may be voters, one of whom named two labels in some rows.
    """
    cells, words = present_cells(table.cells[name]), table.words(name)
    labels = words.total()
    if labels <= len(cells) or are_pictures(cells) or all(map(is_number, words)):
        return False
    if table.truth():
        return share_among(table.truth(), words) >= NEARLY_ALL
    alike = (other for other in map(table.words, others) if other and share_among(other, words) >= NEARLY_ALL)
    is_voter = 2 * labels < 3 * len(cells) and any(alike)
    is_list = holds_several(cells) and guess_separator(cells) in SEPARATORS[:3]
    return is_list and 2 * len(words) <= labels and not is_voter


def _ids(table: Proposal) -> None:
    """A column with the name of an id and distinct cells, or one that counts the rows."""
    distinct = [name for name in table.open() if _are_distinct(table.raw[name])]
    named = [name for name in distinct if is_named_id(name) and not has_fractions(table.raw[name])]
    named = [name for name in named if not are_texts(table.raw[name], 4) and not are_pictures(table.raw[name])]
    usual = [name for name in named if plain_name(name) in USUAL["id"]]
    others = [name for name in distinct if name in named or _counts_rows(table.raw[name])]
    table.give_all([*usual, *others][:1], "id")


def _are_distinct(cells: Cells) -> bool:
    return bool(cells) and all(cell and cell.strip() for cell in cells) and len(set(cells)) == len(cells)


def _may_hold_labels(name: str) -> bool:
    return may_hold_labels(name) or not {"label", "labels"}.isdisjoint(words_of(name))


def _are_one(cells: Cells) -> bool:
    return len(cells) >= FEW and len({*cells}) == 1


_ID = re.compile(r"(?:.*(?:[\W_]|[a-z](?=I)))?[iI][dD]s?")
"""What is called an id and nothing else, be it of a few: of patients, or of a workflow."""


def _are_ids(name: str, cells: Cells) -> bool:
    """Whether cells under the name of an id are no measurements: many words, huge numbers, or nearly all different."""
    filled = present_cells(cells)
    if _ID.fullmatch(name):
        return True
    if default_role(filled) == "category":
        return len(set(filled)) > 10
    huge = nearly_all(lambda cell: is_number(cell) and abs(float(cell)) >= 1e12, filled)
    return huge or (len(filled) >= 20 and len(set(filled)) >= NEARLY_ALL * len(filled))


def _have_digits_of_ids(cells: Cells) -> bool:
    """Whether cells are whole numbers as long as each other, of many digits, nearly all different."""
    filled = present_cells(cells)
    if not nearly_all(lambda cell: len(cell.strip()) >= LEAST_DIGITS and cell.strip().isdecimal(), filled[:FEW]):
        return False
    is_one_length = len({len(cell.strip()) for cell in filled}) == 1 and len(filled) >= FEW
    long = nearly_all(lambda cell: cell.strip().isdecimal() and (is_one_length or int(cell) >= 2**53), filled)
    return long and len(set(filled)) >= NEARLY_ALL * len(filled)


LEAST_DIGITS = 8
"""Digits from which numbers that are all as long name something: measurements differ in their length."""


def _counts_rows(cells: Cells) -> bool:
    """Whether cells are 0, 1, 2, … or go on from another number; five rows at least."""
    numbers = [int(cell) for cell in cells if cell and cell.strip().isdecimal()]
    return len(numbers) == len(cells) >= 5 and all(b - a == 1 for a, b in pairwise(numbers))


def _payload(table: Proposal) -> None:
    """A column of pictures and one of texts."""
    cells = {name: table.one_each(name) for name in table.open() if not is_measured(table.raw[name])}
    pictures = [name for name, some in cells.items() if are_pictures(some)]
    table.give_all([*table.usual("image", pictures), *pictures][: not table.having("image")], "image")
    free = [name for name in cells if name not in table.roles]
    texts = [name for name in table.usual("text", free) if are_texts(cells[name], 2)]
    texts += [name for name in free if are_texts(cells[name], 4)]
    table.give_all(texts[: not table.having("text")], "text")


def _unclear_labels(table: Proposal) -> None:
    """A column of few words whose name says labels, where nothing else is one: the user is asked."""
    named = [n for n in table.open() if says_labels(n) and not says_aggregate(n) and table.may_be_answers(n)]
    named = [name for name in named if table.may_be_label(name)]
    for name in named[:1]:
        table.give(name, "keep")
        table.ask(
            f"{name} may hold the labels ({listing(list(dict.fromkeys(present_cells(table.raw[name])))[:4])}). Is it "
            "the true label?",
            ("the true label", {name: "true_label"}),
            ("one label each, which may be wrong", {name: "candidates"}),
            ("only carried along", {name: "keep"}),
        )


def _are_too_many(cells: Cells) -> bool:
    kinds = len(set(present_cells(cells)))
    return 2 * kinds > FEW and LEAST_ROWS * kinds > len(cells)


LEAST_ROWS = 4
"""Rows for each word of a category, on average, from which it is learnt."""

_NEVER_LEARNT: tuple[tuple[Callable[[str, Cells], bool], str, str], ...] = (
    # as after a delimiter at the end of every line
    (lambda name, cells: name.startswith(UNNAMED) and not any(c and c.strip() for c in cells), "ignore", ""),
    (lambda _, cells: not any(cells) and "" in cells, "keep", ""),  # empty lists
    (lambda _, cells: len(cells) >= FEW and not present_cells(cells), "keep", "empty"),
    # days as categories would only identify the examples of that day
    (lambda _, cells: are_dates(cells) or are_addresses(cells), "keep", ""),
    (lambda name, cells: _may_hold_labels(name) and not has_fractions(cells), "keep", ""),
    (lambda name, cells: is_named_id(name) and _are_ids(name, cells) and not has_fractions(cells), "keep", "an id"),
    (lambda _, cells: default_role(cells) == "category" and _are_one(cells), "keep", "the same in every row"),
    (lambda _, cells: _have_digits_of_ids(cells), "keep", "an id"),
    (lambda name, _: is_no_answer(name, among_votes=True), "keep", "no answer"),
    (lambda name, _: says_fact(name, ["context"]), "keep", "of the occasion, and not of the thing"),
    # each of them stands in too few rows
    (lambda _, cells: default_role(cells) == "category" and _are_too_many(cells), "keep", "too many different words"),
)
"""What columns without a role are never learnt from: a test of name and cells, the role, and why."""


def _rest(table: Proposal) -> None:
    """Labels without a role, dates and empty columns; then numbers and words as features."""
    for test, role, why in _NEVER_LEARNT:
        table.give_all([name for name in table.open() if test(name, table.one_each(name))], role, why=why)
    left = {n: "feature" if table.commas[n] else default_role(table.one_each(n)) for n in table.open()}
    for name, role in left.items():
        table.give(name, role)


@dataclass(frozen=True)
class Rule:
    """A rule, and what rules it out.

    Attributes
    ----------
    apply
        Gives roles to columns that have none.
    unless
        Roles of which none may be there.
    may_be_asked
        Whether it runs while there is a question.
    """

    apply: Callable[[Proposal], None]
    unless: tuple[str, ...] = ()
    may_be_asked: bool = True

    def __call__(self, table: Proposal) -> None:
        if not table.having(*self.unless) and (self.may_be_asked or not table.is_asked()):
            self.apply(table)


RULES: tuple[Rule, ...] = (
    Rule(by_signature),
    Rule(_reserved),
    Rule(_shown),
    Rule(_json),
    Rule(_listed, (*LABELLED, *LINES)),
    Rule(persons, (*LABELLED, *LINES)),
    Rule(lines, ("candidates", "answers", "item")),
    Rule(_truth, ("true_label",)),
    Rule(_sets, LABELLED),
    Rule(annotators, ("vote", "class", "candidate", "probability", "count", "answers", "item")),
    Rule(answers, ("vote", "item")),
    Rule(classes),
    Rule(probabilities, LABELLED),
    Rule(counts, LABELLED),
    Rule(derived),
    Rule(remarks),
    Rule(aggregates),
    Rule(_sets_by_type, LABELLED, may_be_asked=False),
    Rule(by_hand, (*LABELLED, *LINES), may_be_asked=False),
    Rule(vocabulary, ("vote", "answers", "item"), may_be_asked=False),
    Rule(scores),
    Rule(beside),
    Rule(talkers, ("vote", "answers", "item")),
    Rule(aggregates),
    Rule(settled, ("item",)),
    Rule(rounds),
    Rule(grades, (*LABELLED, "true_label", "task"), may_be_asked=False),
    Rule(_ids, ("id", "task")),
    Rule(_payload),
    Rule(_unclear_labels, (*LABELLED, *LINES, "true_label"), may_be_asked=False),
    Rule(derived),
    Rule(_rest),
)
"""The rules, in their order."""


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
    names = {role: [column.name for column in columns if column.guessed and column.role == role] for role in words}
    notes = [_said_of(words[role], some) for role, some in names.items() if some]
    commas = [column.name for column in columns if column.comma and column.role == "feature"]
    if commas:
        notes.append(
            f"The numbers of {'column' if len(commas) == 1 else 'columns'} {listing(commas)} were read with a decimal "
            "comma: 1,5 is one and a half."
        )
    return [Note(text, kind="columns") for text in notes]


def _said_of(sentence: str, names: Sequence[str]) -> str:
    """Return a sentence on some columns; one that begins with them has a verb for one or for several."""
    verb, noun = ("was", "Column ") if len(names) == 1 else ("were", "Columns ")
    if sentence.startswith("{}"):
        sentence = noun + re.sub("was|were", verb, sentence, count=1)
    return sentence.format(listing(names))

"""What a row of a table is: an example, an answer of one person, or a person; told by a signature, names, or asked."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, compress

from pll.formats.checks import listing, shorten
from pll.formats.class_groups import agree, amount, counted, counted_in_grid
from pll.formats.forms import SHOWN, USUAL, WORDS, fits, plain_name, words_of
from pll.formats.grouping import grouped
from pll.formats.names import GRID, NUMBERED, is_named_id, may_hold_labels, without_order
from pll.formats.proposal import (
    MOST_OFFERED,
    Proposal,
    agree_within,
    are_dense,
    follows,
    grades_in,
    labels_among,
    one_of,
    practice_in,
    says,
    says_fact,
    says_state,
    share_among,
    which,
    withdrawn_by,
)
from pll.formats.reading import LABELLED, LINES, SINGLE, SWAPPED
from pll.formats.tabular.cells import (
    MARKS,
    NEARLY_ALL,
    Cells,
    are_binary,
    are_dates,
    are_mails,
    default_role,
    has_fractions,
    is_measured,
    is_missing,
    present_cells,
    read_marks,
    spelling,
)
from pll.formats.voters import are_ranked, of_one_vocabulary

MOST_ROWS_OF_PEOPLE = 30
"""Rows of a table with a row a person, where no name says so."""
SOME_ROWS = 20
"""Rows from which a few may be odd."""
ONCE = 0.9
"""Share of the lines of which nobody answered the example in another line."""


def by_signature(table: Proposal) -> None:
    """A signature says what the columns of a tool's file are; where it knows several questions, the user is asked.

    Ids that name examples twice, and who may have answered there, are left to the rule of lines.
    """
    again = {*_ids_again(table), *_answered_again(table), *_not_alone(table)}
    for name in [name for name in table.open() if name not in again] if table.form else ():
        role = table.form.role_of(name).replace(SHOWN, "") if table.form else ""
        is_second = role in SINGLE and role not in _PARALLEL and bool(table.having(role))
        is_no_item = role == "item" and not which(table, *ITEM, among=[name])
        table.give_all([name] if role else (), "keep" if is_second or is_no_item else role, guessed=False)
    items = [name for name in table.having("item") if name not in table.explicit]
    table.give_all([name for name in items if name not in _of_one_question(table, items)], "keep", guessed=False)
    items = table.having("item")
    if len({table.roles[name].display_name for name in items}) < len(items):  # parts of several questions
        for name in items:
            table.give(name, "item", name, guessed=False)
    questions = table.having("answers")
    if len(questions) > 1:
        ask_which_list(table, questions)
    _ask_whose_classes(table, [name for name in table.having("class") if name not in table.explicit])
    _ask_which_field(table)


def _ids_again(table: Proposal) -> list[str]:
    """The first column, where a signature says that it names examples, and it names some twice."""
    first = table.open()[:1] if table.form and table.form.again else []
    return [name for name in first if name in [*table.raw][:1] and len({*table.raw[name]}) < len(table.raw[name])]


def _not_alone(table: Proposal) -> list[str]:
    """The column that a signature takes for the example, where people answer the same again, as a question."""
    tasks, people = table.told("task"), table.told("worker")
    lines = [*zip(*(table.raw[name] for name in (*tasks, *people)), strict=True)] if tasks and people else []
    return tasks if len(lines) >= SOME_ROWS and 2 * len({*lines}) <= len(lines) else []


def _answered_again(table: Proposal) -> list[str]:
    """The columns that may say who answered about the same id again, as a signature says: the likelier first."""
    open_now, ids = table.open(), _ids_again(table)
    found = [name for pattern in (table.form.again if table.form else ()) for name in open_now if fits(name, pattern)]
    return [name for name in found for one in ids if not table.is_function(name, one)]


def _ask_which_field(table: Proposal) -> None:
    """Of the fields of an annotation that may be the label one is; the user is asked which, where there are several.

    Which of them is not the label is carried along: it was said by the same person, as a pose beside a kind.
    """
    form = table.form
    said = [n for n in table.raw if form is not None and any(fits(n, pattern) for pattern in form.said)]
    said = [name for name in said if form is None or form.role_of(name) in ("", "keep", *LABELLED)]
    may = which(table, "answers", among=said)
    may = [name for name in may if read_marks(table.cells[name]) is None] or may
    given = [name for name in table.explicit if table.roles[name].role in (*LABELLED, "true_label")]
    others = dict.fromkeys((name for name in may if name not in table.explicit), "keep")
    if form is None or not others:
        return
    role = dict.fromkeys(others, "vote" if form.form == "answer" else "true_label")
    if form.form == "example":
        role |= dict.fromkeys(which(table, "several, or doubt", among=others), "candidates")
    table.give_all(others, "keep", why="another field of the annotation")
    if given:
        return
    first = sorted(others, key=lambda name: form.role_of(name) not in LABELLED)  # what the tool itself takes for it
    table.give(first[0], role[first[0]], guessed=form.role_of(first[0]) != role[first[0]])
    if len(first) > 1:
        ways = [(f"{name} ({_said(table, name)})", others | {name: role[name]}) for name in first[:MOST_OFFERED]]
        table.ask(f"An annotation says {listing(first)}. Which is the label?", *ways)


def _ask_whose_classes(table: Proposal, classes: Sequence[str]) -> None:
    """Ask which of several questions has the labels, each of which has columns of classes: `kind:::cat`, `tone___1`."""
    questions = grouped((re.split(":::|___", name)[0], name) for name in classes)
    if len(questions) < 2:
        return
    groups = [(f"the answers to {question}", some) for question, some in questions.items()]
    table.ask(f"There are answers to {listing(list(questions))}. Which are the labels?", *one_of(groups, "class"))


def _of_one_question(table: Proposal, items: Sequence[str]) -> set[str]:
    """Columns with the word that most of some columns have, and those that share words with them: not of a remark.

    Where most are parts of a question (`Q3_1`, `Q3_2`), one that stands alone is another question; and where many parts
    have few words, all do, though some have none in common: of these everybody said the same, or one of two.
    """
    stems = Counter(map(_stem, items))
    parts = [name for name in items if stems[_stem(name)] > 1]
    items = parts if len(parts) >= NEARLY_ALL * len(items) else items
    users = Counter(word for name in items for word in table.words(name))
    words, found = {word for word, _ in users.most_common(1)}, set[str]()
    while more := {name for name in items if name not in found and not words.isdisjoint(table.words(name))}:
        found |= more
        words = words.union(*(table.words(name) for name in more))
    most = [name for name in items if _stem(name) == stems.most_common(1)[0][0]] if items else []
    is_one = PARTS_A_WORD * len(table.words(*most)) <= len(most) and not found.isdisjoint(most)
    return found.union(most) if is_one else found


PARTS_A_WORD = 3
"""Parts of one question for each word that was ever said, at least, for all to have one vocabulary."""


def _stem(name: str) -> str:
    """The question that a name is a part of: without what is in brackets, else without its last number.

    >>> _stem("accent[A01]. Where is it? [Audio 01]"), _stem("G02Q03[SQ001]"), _stem("Q3_1"), _stem("Q3")
    ('accent. Where is it? ', 'G02Q03', 'Q3_', 'Q')
    """
    stem = re.sub(r"\[[^\[\]]*\]", "", name)
    return stem if stem != name else re.sub(r"\d+(?=\D*$)", "", name)


_PARALLEL = ("answers", "people", "state", "task")
"""Roles that a signature may give to several columns: one a question, or columns that name an example together."""


def ask_which_list(table: Proposal, questions: Sequence[str]) -> None:
    """Ask which of several columns of answers has the labels.

    Parameters
    ----------
    table
        The columns and what they are so far.
    questions
        Those that may have the labels.
    """
    beside = table.having("state", "true_label")

    def of(chosen: str) -> Mapping[str, str]:
        others = {name: "keep" for name in questions if name != chosen}
        others |= {b: "keep" for b in beside for q in questions if q != chosen and b.startswith(f"{q}.")}
        truth = {name: "true_label" for name in table.raw if name == f"{chosen}.truth"}
        return {chosen: "answers"} | others | truth

    ways = [(f"the answers to {name}", of(name)) for name in questions[:MOST_OFFERED]]
    table.ask(f"There are answers to {listing(questions)}. Which are the labels?", *ways)


def persons(table: Proposal) -> None:
    """A row a person: a column an example, in the words of one question.

    The columns are a grid of a form (`Which bird? [Photo 1]`), or many of one name but for its number beside the time
    at which each row was sent, or where rows agree on a column and columns do not agree in a row; or more of one
    vocabulary than rows beside one that names the people.
    """
    rows = len(next(iter(table.raw.values()), ()))
    if rows < 2 or (table.form is not None and table.form.form != "person") or counted_in_grid(table):
        return
    ids = [name for name in table.having("id") if name not in table.explicit]
    every = which(table, "distinct", among=[*ids, *table.open()])
    distinct = sorted(which(table, "!number", among=every), key=lambda name: are_dates(table.raw[name]))
    named = [*table.having("person"), *table.usual("worker", distinct), *table.usual("person", every)]
    named += which(table, "mails", among=distinct)
    sent = [name for name in table.open() if _are_moments(table.raw[name])]
    numbers = which(table, "named id", among=every)
    named += which(table, "of a person", among=numbers)
    told = [*table.having("text", "image"), *which(table, "texts", among=distinct)]
    has_texts = any(len({*table.raw[name]}) >= NEARLY_ALL * rows for name in told)
    if grids := _alike(table, _asked_in_grid, LEAST_IN_GRID):
        is_example = has_texts or (rows >= SOME_ROWS and _agree_in_rows(table, grids[0]))
        if bool(named or sent) and not is_example and len(grids) == 1:
            table.give_all([*named, *numbers][:1], "person")
            table.give_all(grids[0], "item")
            return
        _ask_which_grid(table, grids, is_example=is_example)
        return
    is_wide = rows <= MOST_ROWS_OF_PEOPLE and len(table.raw) > max(10, 2 * rows)
    person = next(iter([*named, *numbers, *distinct[:1]]), None)
    items = [name for name in which(table, *ITEM) if name != person] if is_wide else []
    alike = _of_one_question(table, items)
    items = [name for name in items if name in alike]
    words = {word for name in items for word in table.words(name)}
    is_one = len(words) <= max(7, len(items) // 3) and 3 * len(items) >= 2 * (len(table.raw) - 1)
    if not (person and len(items) >= max(10, 2 * rows) and is_one):
        least = LEAST_NUMBERED if sent else 2 * LEAST_NUMBERED
        may_be = sent or ((distinct or numbers) and not table.usual("true_label", table.open()))
        numbered = _alike(table, _without_number, least) or _alike(table, _without_numbers, least) if may_be else []
        numbered = [n for n in numbered if not are_ranked(table, n)]  # as the five likeliest of a model
        has_truth = bool(table.usual("true_label", table.open()))
        if (sent or named or distinct) and len(numbered) != 1 and not (has_texts or has_truth):
            of_words = which(table, *ITEM, *(() if sent or named else ("!number",)))
            least = LEAST_NUMBERED if table.usual("worker", distinct) else 2 * LEAST_NUMBERED
            numbered = _of_any_name(table, [name for name in of_words if name != person], least)
        elif not sent:
            numbered = [names for names in numbered if _are_items(table, names)]
        items, person = (numbered[0], [*named, *numbers, *distinct, *sent][0]) if len(numbered) == 1 else ([], None)
    if not (person and items):
        return
    places = [*table.raw]  # what stands before or after them is about the person, be it in the same words
    among = places[places.index(items[0]) : places.index(items[-1])]
    words, free = {*table.words(*items)}, [n for n in among if n != person and n not in table.explicit]
    same = [name for name in free if table.words(name) and words.issuperset(table.words(name))]
    items = [name for name in table.raw if name in items or name in same]  # no time, though it begins with "Time"
    roles = {person: "person"} | dict.fromkeys(items, "item")
    is_few = rows <= 2 * len(items)  # more are examples, perhaps, of which each column says something
    if (named and is_wide) or ((named or sent) and is_few and _are_items(table, items)):
        table.give_all(items, "item")
        table.give(person, "person")
        return
    if rows >= SOME_ROWS and not named and _agree_in_rows(table, items):
        return
    table.give_all(roles, "keep")
    table.ask(
        f"{len(items)} columns use the same words in {rows} rows. Is a row a person, and each column an example?",
        (f"a row is a person ({person}), a column an example", roles),
        ("a row is an example", dict.fromkeys(roles, "category") | {person: "id"}),
    )


def _of_any_name(table: Proposal, names: Sequence[str], least: int) -> list[list[str]]:
    """The columns of one vocabulary, whatever they are called (sentences, titles), if they are a thing each."""
    same = _of_one_question(table, names)
    names = [name for name in names if name in same]
    return [names] if len(names) >= least and _are_items(table, names) else []


def _are_items(table: Proposal, names: Sequence[str]) -> bool:
    """Whether columns say the same in themselves, and not in a row: of one thing each, as many people see it."""
    return agree_within([table.words(name) for name in names]) and not _agree_in_rows(table, names)


def _agree_in_rows(table: Proposal, names: Sequence[str]) -> bool:
    """Whether columns say the same in a row, as people do of one example, and not those of one person of several."""
    return agree([[spelling(cell or "") or None for cell in table.raw[name]] for name in names])


LEAST_IN_GRID, LEAST_NUMBERED = 3, 5
"""Columns of one question at least, where its name is in all of them, and where only their number tells them apart."""


def _are_moments(cells: Cells) -> bool:
    """Whether cells are times to the minute, another one in nearly each row: when a form was sent."""
    filled = present_cells(cells)
    return are_dates(filled) and all(":" in cell for cell in filled) and len({*filled}) >= NEARLY_ALL * len(cells) > 0


def _asked_in_grid(name: str) -> str | None:
    """Return the question of a column of a grid, without the code of the column; None of others.

    >>> (
    ...     _asked_in_grid("G[SQ012]. Which bird? [Photo 12]"),
    ...     _asked_in_grid("Which bird? [Photo 12]"),
    ...     _asked_in_grid("age"),
    ... )
    ('G. Which bird?', 'Which bird?', None)
    """
    match = GRID.fullmatch(name)
    return match and re.sub(r"\[[^\[\]]*\]|\d+", "", match["question"])


def _without_number(name: str) -> str | None:
    """Return the name of one of several columns that are numbered, without its number; None of people, and of others.

    >>> (
    ...     _without_number("Bild 07"),
    ...     _without_number("rater 2"),
    ...     _without_number("width"),
    ...     _without_number("Clip 1: Which?"),
    ...     _without_number('3. "What a day"'),
    ... )
    ('Bild', None, None, 'Clip: Which?', '.')
    """
    if re.match(r"[\[(]?\d+\s*[.)\]]\s+\D", name):  # `3. "What a day"`, `[03] …`: what it says is the example
        return "."
    stem = re.sub(r"[\W_]*\d+", "", name, count=1)
    return stem if stem and stem != name and not NUMBERED.fullmatch(name) else None


def _without_numbers(name: str) -> str | None:
    """Return the name of one of several columns, of which each says a number and what goes with it, without either.

    >>> _without_numbers("Photo 1 (IMG_4100.jpg): which?"), _without_numbers("Photo 1: which?")
    ('Photo (IMG.jpg): which?', None)
    """
    stem, times = re.subn(r"[\W_]*\d+", "", name)
    return stem if times > 1 and not NUMBERED.fullmatch(name) else None


def _alike(table: Proposal, question_of: Callable[[str], str | None], least: int) -> list[list[str]]:
    """Return the columns of each question, by what their names have in common, that have one vocabulary."""
    # what it is about may be anything: "You said it three times: no."
    asked = ((question_of(name), name) for name in which(table, *_ITEM_BY_CELLS))
    groups = grouped(one for one in asked if one[0] and not is_named_id(one[0]) and not says_fact(one[0]))
    one = [(names, _of_one_question(table, names)) for names in groups.values()]
    alike = [names for names, same in one if len(names) >= least and len(same) >= NEARLY_ALL * len(names)]
    return [names for names in alike if len(table.words(*names)) > 1]


def _ask_which_grid(table: Proposal, grids: Sequence[Sequence[str]], *, is_example: bool) -> None:
    """Ask which question has the labels, and whether a row is a person: no column says when it was sent, or who."""
    every = [name for names in grids for name in names]
    table.give_all(every, "keep")
    asked = [shorten((GRID.fullmatch(names[0]) or {"question": ""})["question"]) for names in grids]
    groups = [(f"a row is a person: {question}", names) for question, names in zip(asked, grids, strict=True)]
    voters = ("a row is an example, a column one voter's answers", dict.fromkeys(every, "annotator"))
    table.ask(
        f"{len(every)} columns are answers to {listing(asked)}. Is a row a person, and each column an example?"
        + " Which question has the labels?" * (len(grids) > 1),
        *([voters, *one_of(groups, "item")] if is_example else [*one_of(groups, "item"), voters]),
    )


_ITEM_BY_CELLS = ("!empty", "!fractions", "!texts", "!dates", "!addresses")
ITEM = (*_ITEM_BY_CELLS, "!named id", "!of a fact")
"""Traits of a column that may be an example, in a table of a row a person."""


def _are_choices(cells: Cells) -> bool:
    """Whether a cell holds several choices as Label Studio writes them: an answer, be it the same of everybody."""
    return any(cell.lstrip().startswith('{"choices"') for cell in cells if cell)


def _are_wrapped(cells: Cells) -> bool:
    """Whether answers are in a list of an object, as those that are no choices: `[{"rating": 3}]`."""
    return any(cell.lstrip().startswith("[{") for cell in cells if cell)


def lines(table: Proposal) -> None:
    """One answer a line: who (a usual name), on what (a name that repeats), and the answer.

    An answer is no function of the example nor a fact about the person. Of several columns that may be it, one with a
    usual name is; else the user is asked. Where no name says who answers, the user is asked too.
    """
    is_told = table.form is not None and table.form.form == "answer"
    is_wide = table.having("annotator") and not table.having("worker")
    has_answers = is_told or (table.form is not None and bool(_workers(table)))
    if is_wide or (table.having("class") and not has_answers):
        return
    again = _answered_again(table)
    agreed = [who for who in again for task in _ids_again(table) if _are_agreed_on(table, task, who)]
    worker = next(iter([*table.having("worker"), *_workers(table), *agreed]), None)
    if worker is not None:
        is_told = is_told or worker in table.explicit or are_mails(table.raw[worker])
        _with_worker(table, worker, is_told=is_told)
    table.give_all({*again, *_ids_again(table)} & {*table.open()}, "keep", why="the same in several lines")
    is_example = table.form is not None and table.form.form == "example"
    given = [name for name in table.having(*LABELLED, *LINES) if table.roles[name].role != "worker"]
    if given or table.is_asked():
        return
    if not (worker or is_example):  # how sure a model is of each of its labels, by their rank
        _lines_of_nobody(table, are_scored=True)
    if not (table.is_asked() or _by_structure(table) or worker or is_example):
        _lines_of_nobody(table)


def states(table: Proposal) -> None:
    """A column that says which answers do not count: withdrawn ones, and those to a few examples for practice."""
    tasks = table.having("task")
    examples = list(zip(*(table.raw[task] for task in tasks), strict=True))
    for name in table.open() if examples and table.having("vote", "class") else ():
        some = {*compress(examples, practice_in(name, table.raw[name]))}
        # of many kinds one is about what is called so
        kinds = {spelling(cell or "") for cell in table.raw[name]}
        are_few = says("practice", name) or len(kinds) <= MOST_KINDS_OF_TRIALS
        is_practice = are_few and table.repeats(name) and 0 < len(some) <= MOST_PRACTICE * len({*examples})
        if is_practice or any(_withdrawn(table, name)):
            table.give(name, "state", why="which answers do not count")
            return


def _counting(table: Proposal) -> list[bool]:
    """Which lines count, by the first column that says of some that they do not, and by the answer, where it is known.

    In between, an experiment notes its pauses.
    """
    rows = len(next(iter(table.raw.values()), ()))
    gone = next(filter(any, (_withdrawn(table, name) for name in table.open())), [False] * rows)
    said = next((table.cells[name] for name in table.having("vote") if any(table.cells[name])), ["?"] * rows)
    return [not out and bool(answer) for out, answer in zip(gone, said, strict=True)]


def _withdrawn(table: Proposal, name: str) -> list[bool]:
    """Which lines do not count, as a column of their state, or of what was withdrawn, says of fewer than half."""
    words = [spelling(cell or "") for cell in table.raw[name]]
    is_state = says_state(name) or {*words} - {""} <= _WITHDRAWN | WORDS["progress"]
    ways = [[word in _WITHDRAWN for word in words] if is_state else [], withdrawn_by(name, table.raw[name]) or []]
    return next((out for out in ways if 0 < 2 * sum(out) < len(words)), [])


_WITHDRAWN = WORDS["withdrawn"] - MARKS.keys()  # whether "no" is not done or does not count, nobody knows
MOST_PRACTICE = 0.2
"""Share of the examples up to which they are for practice, or to see who reads."""
MOST_KINDS_OF_TRIALS = 3
"""Kinds of trials, at most, of which one is for practice."""


def _workers(table: Proposal) -> list[str]:
    named = which(table, "!object", "!titles")
    people = [name for name in named if _says_people(name)]
    usual = dict.fromkeys([*table.usual("worker", named), *people, *which(table, "repeats", "mails", among=named)])
    ids = which(table, "named id", "again") if len(usual) > 1 else []
    seen = {name for name in usual for key in ids if key != name and table.is_function(name, key)}  # who saw a thing
    told = [name for name in usual if name not in seen] or usual
    return sorted(told, key=lambda name: not all(table.raw[name]))  # who is always named first


def _says_people(name: str) -> bool:
    """Whether a name says people who label, and nothing else.

    >>> _says_people("determiner"), _says_people("pathologist_id"), _says_people("name"), _says_people("judge comment")
    (True, True, False, False)
    """
    words = {*words_of(name)} - {"id", "name", "code"}
    return bool(words) and words <= WORDS["people"]


def _keys(table: Proposal) -> Iterator[str]:
    """Columns that may name the example of a line, the likelier first."""
    given = {name: present_cells(table.raw[name]) for name in table.having("id", "text", "image")}
    own = [name for name, cells in given.items() if len({*cells}) < len(cells)]
    seen = [*table.usual("task", table.open()), *(n for n in own if n in table.having("id"))]
    seen += which(table, "named id", "again")
    read = [*own, *which(table, "described")]
    seen += [name for name in which(table, "again", "number") if _numbers_each(table, name, read)]
    seen += which(table, "again", "dotted numbers")
    seen += own
    seen += which(table, "repeats", among=table.usual("text", table.open()))
    yield from dict.fromkeys(seen)


def _numbers_each(table: Proposal, name: str, read: Sequence[str]) -> bool:
    """Whether a column of whole numbers counts what there is to read or to see, whatever it is called."""
    numbers = [int(cell) if cell.isdecimal() else -1 for cell in {*present_cells(table.raw[name])}]
    return are_dense(numbers) and any(table.is_function(one, name) for one in read if one != name)


def _with_worker(table: Proposal, worker: str, *, is_told: bool) -> None:
    rows = len(table.raw[worker])
    about = [name for name in table.open() if _is_about(name, worker) and table.is_function(name, worker)]
    table.give_all(about, "keep", why="a fact about the person")
    tasks = table.having("task")
    # words that nobody answers twice may be the examples too
    words = which(table, "repeats", "word", "!dates") if rows >= SOME_ROWS else []
    words = [name for name in words if plain_name(name) not in USUAL["vote"]]
    keys = [name for name in dict.fromkeys([*_keys(table), *words]) if name != worker]
    if [name for name in tasks if table.is_one_a_row(name) and name not in table.explicit] and keys:
        table.give_all(tasks, "keep")  # of the answer, and not of the example
        tasks = []
    if not tasks:
        few = which(table, "!measured", "!fractions", "!dates", "!of a fact") if worker in table.explicit else []
        keys += [n for n in few if n not in (*keys, worker) and 1 < len({*table.raw[n]}) < ONCE * rows]
        count = _counting(table)  # who withdrew an answer gave another
        pairs = {key: [*compress(zip(table.raw[key], table.raw[worker], strict=True), count)] for key in keys}
        once = [key for key, some in pairs.items() if len({*some}) >= ONCE * len(some)]
        usual = [name for name in keys if plain_name(name) in USUAL["task"]]
        are_told = all(table.is_function(one, once[0]) for one in once[1:])
        if not are_told and once[0] not in usual:  # the number of a trial is another example for everybody
            once.sort(key=lambda key: not _are_agreed_on(table, key, worker))
        tasks = [name for name in once if len(set(table.raw[name])) < rows][:1] or once[:1]
        tasks = tasks or _two_keys(table, keys, worker) or usual[:1]
    is_once = not is_told and all(map(table.is_one_a_row, tasks))
    if is_once and (_are_beside(table, [worker, *tasks]) or any(map(table.holds_sets, which(table, "several")))):
        return
    given = table.having("vote", "class")
    marked = {} if given or not tasks else _one_hot(table, [n for n in table.open() if n not in (*tasks, worker)])
    for name, label in marked.items():
        table.give(name, "class", label)
    given = given or list(marked)
    votes = [name for name in given or _but_codes(table, _votes(table, tasks, worker)) if name not in tasks]
    if not tasks or not votes:
        return
    named = [name for name in votes if plain_name(name) in USUAL["vote"]]
    named = named if len(votes) == 1 else [name for name in named if not _are_wrapped(table.raw[name])]
    annotates = says("annotating", worker)  # and does nothing else
    alone = votes if len(votes) == 1 else []
    if not (given or named):
        alone = _but_about_answers(table, votes, tasks)
        alone = alone if len(alone) == 1 else []
        named = alone
    is_agreed = len(tasks) == len(alone) == 1 and _agrees(table, alone[0], tasks[0])
    are_answers = annotates and plain_name(next(iter(alone), "")) in USUAL["vote"]  # and else perhaps measured
    is_agreed = is_agreed and (are_answers or not _are_grades(table, alone[0]))
    answered = {*zip(*(table.raw[name] for name in (*tasks, worker)), strict=True)}
    is_agreed = is_agreed and len(answered) >= ONCE * rows  # nobody makes the same thing twice and means another one
    own = [name for name in table.raw if name not in (*tasks, *votes, worker) and not table.is_function(name, worker)]
    own = which(table, "!of the occasion", "!of a fact", "!dates", "!how sure", "!counts rows", "!unnamed", among=own)
    if annotates:  # what else differs is of the answer
        own = which(table, "!object", "!other objects", "!named id", among=own)
    if annotates and alone and (are_answers or says("labels", alone[0])):  # and so is its code, and how long it took
        own = [name for name in which(table, "!number", among=own) if not table.is_function(name, alone[0])]
    is_agreed = is_agreed and all(table.is_function(name, *tasks) for name in own)  # else a line may be an example
    is_usual = len(_workers(table)) <= 1 and (plain_name(tasks[0]) in USUAL["task"] or is_agreed)
    is_clear = bool(given) or ((is_told or is_usual) and (len(votes) == 1 or len(named) == 1))
    if not (is_told or is_usual or given) and len(votes) == 1 and not table.repeats(worker):
        return  # no line is another's example again, and nobody answers twice
    if not is_clear:
        _ask_which_vote(table, tasks, worker, [*named, *(name for name in votes if name not in named)])
        return
    chosen = given or named[:1] or votes[:1]
    table.give_all([name for name in tasks if name not in table.explicit], "task", guessed=not is_told)
    table.give_all([name for name in [worker] if name not in table.explicit], "worker", guessed=not is_told)
    table.give_all([name for name in chosen if name not in given], "vote", guessed=not is_told)
    _leave_facts(table, tasks, worker, [name for name in votes if name not in chosen])


def _but_codes(table: Proposal, votes: Sequence[str]) -> list[str]:
    """Return columns that may be the answer, but for the numbers of what another one says in words."""
    numbers = which(table, "number", among=votes)
    words = [name for name in votes if name not in numbers]
    codes = {n for n in numbers for name in words if table.is_function(n, name) and table.is_function(name, n)}
    return [name for name in votes if name not in codes]


def _but_about_answers(table: Proposal, votes: Sequence[str], tasks: Sequence[str]) -> list[str]:
    """Return columns that may be the answer, but for those that count the lines of an example, or how sure one was.

    The latter where people agree on another one.
    """
    answers = [name for name in votes if not any(_counts_lines(table, task, name) for task in tasks)]
    others = which(table, "!how sure", among=answers)
    return others if any(_agrees(table, name, tasks[0]) for name in others) else answers


def _are_grades(table: Proposal, name: str) -> bool:
    """Whether answers are numbers: votes, perhaps, or measured."""
    return bool(which(table, "number", among=[name]))


def _is_about(name: str, worker: str) -> bool:
    """Whether a column is called as that of the people and more, and not as what they say.

    Examples
    --------
    >>> [
    ...     _is_about(name, "annotator_id")
    ...     for name in ("annotator_gender_men", "annotator_label", "gender", "annotator_id")
    ... ]
    [True, False, False, False]
    """
    who, words = [word for word in words_of(worker) if word != "id"], words_of(name)
    is_more = bool(who) and list(words[: len(who)]) == who and len(words) > len(who) and name != worker
    return is_more and not says("labels", name) and words[-1] not in USUAL["vote"]


def _are_beside(table: Proposal, others: Sequence[str]) -> bool:
    """Whether several columns have one vocabulary, as voters beside each other do: a row is an example then."""
    answers = [name for name in which(table, *_SHORT_ANSWERS) if name not in others]
    return any(len(group) >= LEAST_COLUMNS_BESIDE for group in of_one_vocabulary(table, answers))


LEAST_COLUMNS_BESIDE = 3
"""Columns of one vocabulary, at least, that are voters beside each other, whatever else stands in the table."""


def _two_keys(table: Proposal, keys: Sequence[str], worker: str) -> list[str]:
    """Return two columns that name the example together: a document and the number of a sentence, or a recording and
    the time in it.

    Lines of one example agree on an answer then; of several such pairs those count that agree most. Where the one
    follows from the other, as what is right, that is enough.
    """
    rows, found = len(table.raw[worker]), dict[tuple[str, str], float]()
    numbers = which(table, "repeats", "number", "!fractions", "!of the occasion")
    numbers = [name for name in numbers if not says("round", name)]  # in which a person answers again
    answers = [*table.having("vote"), *which(table, *_SHORT_ANSWERS), *_numbers(table)]
    named = which(table, "!of the occasion", among=keys)
    named = [name for name in named if len(present_cells(table.raw[name])) >= NEARLY_ALL * rows]
    for names in combinations(dict.fromkeys([*named, *(name for name in numbers if name != worker)]), 2):
        both = ["\0".join(cell or "" for cell in row) for row in zip(*(table.raw[n] for n in names), strict=True)]
        once = len(set(zip(both, table.raw[worker], strict=True)))
        if names[0] in named and once >= ONCE * rows >= SOME_ROWS and len({*both}) < ONCE * rows:
            stems = {*map(without_order, names)}  # `word1`, `word2`, of which neither is said of the other
            free = [name for name in answers if name not in names and without_order(name) not in stems]
            # and no name of a number, as `class_name` beside `class_id`
            said = [table.raw[n] for n in free if not any(follows(table.raw[n], table.raw[key]) for key in names)]
            found[names] = max((agreement(cells, both) for cells in said), default=0.0)
    best = max(found, key=found.__getitem__, default=None)
    if best is None or found[best] < FAR_SHARED:
        return []
    one, other = best
    alone = [name for name, of in ((other, one), (one, other)) if table.is_function(of, name)]
    return alone[:1] or [one, other]


def _leave_facts(table: Proposal, tasks: Sequence[str], worker: str, others: Sequence[str]) -> None:
    """Answers to other questions and facts about the person are carried along and never learnt from."""
    table.give_all([name for name in others if name in table.open()], "keep", why="an answer to another question")
    facts = [n for n in table.open() if table.is_function(n, worker) and not table.is_function(n, *tasks)]
    facts = [name for name in facts if not says_state(name)]  # all answers of one person may be rejected
    table.give_all(facts, "keep", why="a fact about the person")


def _votes(table: Proposal, tasks: Sequence[str], worker: str) -> list[str]:
    """Columns that may be the answer, the likelier first; texts only where there is nothing else."""
    if not tasks:
        return []
    task_repeats = len(set(table.raw[tasks[0]])) < len(table.raw[tasks[0]])

    def may_be(name: str) -> bool:
        is_item = task_repeats and table.is_function(name, *tasks) and not _are_choices(table.raw[name])
        return not is_item and not (table.repeats(worker) and table.is_function(name, worker))

    told = [name for name in table.open() if table.form is None or table.form.may_answer(name)]
    free = [name for name in told if name not in (*tasks, worker) and may_be(name)]
    if table.form is not None and len(free) == 1:  # whatever it is called
        return free
    named = [name for name in free if f"{name}_gold" in table.raw]  # be it the gender of somebody
    named += [name for name in table.usual("vote", free) if name not in named and present_cells(table.raw[name])]
    few = which(table, "answers", among=free)
    codes = [name for name in free if is_named_id(name) or name.rstrip().endswith(("?", "？", "؟"))]  # or a question
    codes = [name for name in codes if table.may_be_answers(name, facts=True, ids=True)]
    codes = [name for name in codes if name not in few and _agrees(table, name, tasks[0])]
    filled = {name: len(present_cells(table.raw[name])) for name in (*few, *codes)}
    seldom = [name for name in few if filled[name] <= (1 - NEARLY_ALL) * max(filled.values())]
    likely = [name for name in few if name not in (*named, *seldom)]
    likely.sort(key=lambda name: (not _agrees(table, name, tasks[0]), *_likelihood(table, name)))
    choices_first = sorted([*named, *likely], key=lambda name: _are_wrapped(table.raw[name]))
    others = which(table, "!object", "!measured", "!of a fact", "!named id", "!pictures", "!dates", among=free)
    apart = [name for name in choices_first if says("sure", name) or not _agrees(table, name, tasks[0])]
    if codes and len(apart) == len(choices_first):  # beside codes, how sure somebody was, and how long it took
        return [*codes, *apart]
    return choices_first or codes or others[:MOST_OFFERED]


def _agrees(table: Proposal, name: str, task: str) -> bool:
    """Whether lines of one example have the same cell in a column more often than by chance, and not all of them."""
    return not table.is_function(name, task) and agreement(table.raw[name], table.raw[task]) >= FAR_SHARED


def _are_agreed_on(table: Proposal, task: str, worker: str) -> bool:
    """Whether lines of one example agree on anything that may be the answer."""
    return any(_agrees(table, name, task) for name in which(table, "answers") if name not in (task, worker))


def _likelihood(table: Proposal, name: str) -> tuple[bool, bool, bool, bool, bool, int]:
    """A key: what has a truth beside it first, then names that say labels, then an overall judgment by its length.

    Of names that say labels, the one that another column begins with comes first: `hatespeech` for `hate_speech_score`.
    """
    is_overall, is_sure = "overall" in name.casefold(), says("sure", name)
    length, bare = len(name) if is_overall else 0, "".join(words_of(name))
    is_about = any("".join(words_of(other)).startswith(bare) for other in table.raw if other != name)
    return f"{name}_gold" not in table.raw, is_sure, not says("labels", name), not is_about, not is_overall, length


def _ask_which_vote(table: Proposal, tasks: Sequence[str], worker: str, votes: Sequence[str]) -> None:
    votes = votes[:MOST_OFFERED]
    about = [*tasks, worker, *votes]
    before = _as_examples(table, about)

    def of(vote: str) -> Mapping[str, str]:
        others = dict.fromkeys((name for name in votes if name != vote), "keep")
        return dict.fromkeys(tasks, "task") | {worker: "worker", vote: "vote"} | others

    text = f"A line is one answer to one {' and '.join(tasks)}, by one {worker}. Which column is the label?"
    if len(votes) == 1:
        text = (
            f"The same {' and '.join(tasks)} stands in several lines. Is every line one answer: {worker} says who gave "
            f"it, {votes[0]} what it is ({_said(table, votes[0])})?"
        )
    table.ask(
        text,
        *((f"{name} ({_said(table, name)})" if len(votes) > 1 else "one answer a line", of(name)) for name in votes),
        ("every line is an example", before),
    )


def _said(table: Proposal, name: str) -> str:
    """The first few different cells of a column, which would be classes."""
    return listing(list(dict.fromkeys(present_cells(table.raw[name])))[:3])


def _as_examples(table: Proposal, names: Iterable[str]) -> dict[str, str]:
    """Give columns without a role the one they have where every line is an example, and return those of all."""
    for name in names:
        if name not in table.roles:
            table.give(name, _if_example(table, name))
    return {name: table.roles[name].role for name in names}


def _if_example(table: Proposal, name: str) -> str:
    """The role of a column where every line is an example."""
    if table.usual("true_label", [name]) and not table.having("true_label"):
        return "true_label"
    form = table.form.again if table.form else ()
    is_kept = may_hold_labels(name) or table.usual("worker", [name]) or any(fits(name, pattern) for pattern in form)
    return "keep" if is_kept or which(table, "named id", among=[name]) else default_role(table.cells[name])


@dataclass(frozen=True)
class _Told:
    """The columns of a table of answers, told by its structure, and how likely that is: votes the likelier first."""

    likely: tuple[bool, bool, float]
    task: str
    worker: str
    turn: str
    votes: tuple[str, ...]
    state: str = ""


def _by_structure(table: Proposal) -> bool:
    """No name says that a line is an answer, and nobody answers an example twice: the user is asked whether that is so.

    Two columns repeat each, and their pairs do not, or only in turns of the same person; of a third the few words are
    no function of either, and lines of one example have the same one more often than by chance. So do the marks of
    columns of which nearly each line marks one.
    """
    counting = _counting(table)
    part = table if all(counting) else table.only(counting)
    sets = [name for name in which(part, "several") if part.holds_sets(name)]

    def said_in(names: Iterable[str]) -> dict[str, Cells]:
        words = {name: part.raw[name] for name in names}
        words = {name: some for name, some in words.items() if 2 * len(present_cells(part.cells[name])) >= len(some)}
        return {name: some for name, some in words.items() if not any(_is_within(part, name, one) for one in sets)}

    classes = _one_hot(part, part.open())
    numbers = {name: cells for name, cells in _numbers(part).items() if name not in classes}
    found = [*_told_where_answered(part), *_told(part, said_in(which(part, *_SHORT_ANSWERS)) | numbers)]
    found = found or _told(part, _marked_in(part, classes))
    facts = [] if found else which(part, "word", "repeats")  # or codes, so called, though people agree on them
    facts = [name for name in facts if part.may_be_answers(name, facts=True, ids=True)]
    told = _likeliest(part, found or _told(part, said_in(facts)))
    # What a site counts of an example stands in every line about it: these are no votes for classes.
    if told is None or not all(table.is_function(name, told.task) for name in counted(table)):
        return False
    if (people := table.having("worker")) and told.worker not in people:
        return False
    table.give_all([told.task] if told.task not in table.having("text", "image") else (), "keep")
    votes = [name for name in told.votes if name != _MARKED]
    marked = {} if votes else classes
    beside = {told.turn: "keep", told.state: "state"}
    beside = {name: role for name, role in beside.items() if name}
    before = _as_examples(table, (told.task, told.worker, *votes, *beside))
    for name, label in marked.items():
        table.give(name, "class", label)

    def of(vote: str, task: str, worker: str) -> tuple[str, Mapping[str, str]]:
        labels = listing([*marked.values()], limit=3) if vote == _MARKED else _said(table, vote)
        said = f"one answer a line: examples {_said(table, task)}; voters {_said(table, worker)}; labels {labels}"
        answer = dict.fromkeys(marked, "class") if vote == _MARKED else {vote: "vote"}
        return said, dict.fromkeys(votes, "keep") | beside | {task: "task", worker: "worker"} | answer

    turns = f" The same {told.worker} answers in several turns ({told.turn}): all that was said counts."
    turns = turns if told.turn else ""
    what = " or ".join(votes) or listing([*marked], limit=4)
    table.ask(
        f"The same {told.task} stands in several lines. Is every line one answer: {told.worker} says who gave it, "
        f"{what} what it is?{turns}",
        *(of(vote, told.task, told.worker) for vote in told.votes),
        ("every line is an example", before | dict.fromkeys(marked, "feature")),
        of(told.votes[0], told.worker, told.task),
    )
    return True


def _is_within(table: Proposal, name: str, sets: str) -> bool:
    """Whether a column says one of the several labels that another one names, in nearly all rows: the true one."""
    rows = zip(table.cells[name], table.cells[sets], strict=True)
    pairs = [(cell, some) for cell, some in rows if cell and some and name != sets]
    inside = [spelling(cell) in labels_among([some]) for cell, some in pairs]
    return bool(inside) and sum(inside) >= NEARLY_ALL * len(inside)


_MARKED = ""
"""Stands for columns of marks, which are one answer together."""


def _marked_in(table: Proposal, classes: Iterable[str]) -> dict[str, Cells]:
    """What each line marks, as one column; none where there are no columns of classes."""
    marks = [[name * (mark is True) for mark in read_marks(table.cells[name]) or ()] for name in classes]
    return {_MARKED: ["|".join(filter(None, row)) for row in zip(*marks, strict=True)]} if marks else {}


def _numbers(table: Proposal) -> dict[str, Cells]:
    """Columns of few whole numbers, or of codes as long as each other, of nearly every line."""
    numbers = {name: grades_in(table.raw[name], _codes(table, name)) for name in which(table, "answers")}
    return {name: table.raw[name] for name, some in numbers.items() if some.count(None) <= (1 - NEARLY_ALL) * len(some)}


def _codes(table: Proposal, name: str) -> set[str]:
    """The numbers of a column, if they have as many digits each, as those of a list of goods (`4202`); else none."""
    numbers = {cell.strip() for cell in present_cells(table.raw[name])}
    lengths = {*map(len, numbers)}
    are_codes = len(lengths) == 1 and min(lengths) >= DIGITS_OF_CODE and all(map(str.isdecimal, numbers))
    return numbers if are_codes else set()


DIGITS_OF_CODE = 3
"""Digits that numbers have at least, if they are codes by their length alone."""


def _told_where_answered(table: Proposal) -> list[_Told]:
    """What is told by the lines that have an answer alone, where others have none: what happened else, or is known."""
    answers = which(table, *_SHORT_ANSWERS)
    filled = grouped((tuple(not is_missing(cell) for cell in table.raw[name]), name) for name in answers)
    of_some = [(rows, names) for rows, names in filled.items() if SOME_ROWS <= sum(rows) < len(rows)]
    some = [(table.only(rows), names) for rows, names in of_some[:MOST_OFFERED]]
    return [told for part, names in some for told in _told(part, {name: part.raw[name] for name in names})]


def _likeliest(table: Proposal, found: Sequence[_Told]) -> _Told | None:
    """Of what is told the likeliest; of two names of examples the finer, where lines of one example agree as much."""
    if not found:
        return None
    best = max(found, key=lambda one: one.likely)
    finer = [one for one in found if one.worker == best.worker and one.votes[0] != _MARKED]
    finer = [n for n in finer if table.is_function(best.task, n.task) and not table.is_function(n.task, best.task)]
    by_best = {one.votes[0]: agreement(table.raw[one.votes[0]], table.raw[best.task]) for one in finer}
    finer = [one for one in finer if one.likely[-1] >= AS_MUCH * by_best[one.votes[0]]]
    return max(finer, key=lambda one: one.likely, default=best)


def _told(table: Proposal, answers: Mapping[str, Cells]) -> list[_Told]:
    """What all pairs of columns tell that may name an example and a person."""
    if len(next(iter(table.raw.values()), ())) < SOME_ROWS or not answers:
        return []
    free = [*table.open(), *table.having("id", "text", "image", "worker")]
    keys = which(table, "again", "!fractions", "!dates", "!decimal commas", among=free)
    facts = which(table, "of a fact", among=keys)  # the id of a comment is one, and the comment none
    keys = [name for name in keys if name not in facts] + which(table, "of a person", among=facts)
    others = which(table, "!of a person", among=facts)
    keys += which(table, "named id", among=others)
    keys += which(table, "of the occasion", "word", "repeats", "!named id", among=others)
    ids = [*which(table, "named id", among=keys), *which(table, "of one shape", "!texts", "!pictures", among=keys)]
    # what an id says of its example names none, and nobody
    coarse = {n for n in keys for one in ids if table.is_function(n, one) and not table.is_function(one, n)}
    keys = [name for name in keys if _may_be_key(table, name) and name not in coarse]
    if len(keys) > MOST_KEYS:
        return []
    people = which(table, "repeats", among=keys)  # of the examples the first rows may hold many once
    pairs = [pair for pair in combinations(keys, 2) if {*pair} & {*people} and _are_crossed(table, *pair)]
    return [told for one, other in pairs if (told := _told_by(table, one, other, keys, answers)) is not None]


def _are_crossed(table: Proposal, one: str, other: str) -> bool:
    """Whether neither of two columns is a function of the other; of marks it is not asked."""
    return _MARKED in (one, other) or not (table.is_function(one, other) or table.is_function(other, one))


def _told_by(table: Proposal, one: str, other: str, keys: Sequence[str], answers: Mapping[str, Cells]) -> _Told | None:
    """Return what is told by two columns; None where they are no examples and people."""
    rows, pairs = len(table.raw[one]), len({*zip(table.raw[one], table.raw[other], strict=True)})
    state = "" if pairs == rows else _state(table, one, other)
    turn = "" if pairs >= ONCE * rows or state else _turn(table, one, other, keys)
    if not state and _are_apart_by_chance([table.raw[name] for name in (one, other, turn) if name]):
        return None
    free = [n for n in answers if n == _MARKED or n not in (one, other, turn, state)]
    free = [n for n in free if _are_crossed(table, n, one) and _are_crossed(table, n, other)]
    if not free or (pairs < ONCE * rows and not (state or turn)):
        return None
    agree = {(name, key): agreement(answers[name], table.raw[key]) for name in free for key in (one, other)}
    best, task = max(agree, key=agree.__getitem__)
    worker = other if task == one else one
    is_item = all(table.raw[task]) and _are_short(table.raw[worker]) and not _has_another_truth(table, task)
    is_voter = share_among(table.words(task), labels_among(answers[best])) >= 1 / 2
    is_measurement = is_measured(table.raw[worker]) and pairs < rows and not (state or turn)
    are_measured = not which(table, "named id", among=[task, worker]) and is_measured(table.raw[task])
    is_measurement |= best == _MARKED and are_measured and is_measured(table.raw[worker])
    is_other = not is_item or is_voter or is_measurement or agree[best, task] < FAR_SHARED
    if is_other or _counts_lines(table, task, worker):
        return None
    free.sort(key=lambda name: (says("sure", name), -agree[name, task]))
    votes = [name for name in free if agree[name, task] >= FAR_SHARED]
    likely = (not is_measured(table.raw[worker]), not turn, agree[best, task])
    return _Told(likely, task, worker, turn, tuple(votes[:MOST_VOTES_OFFERED]), state)


def _counts_lines(table: Proposal, task: str, name: str) -> bool:
    """Whether a column numbers the lines of each example, from 0 or 1 on: a part of it, such as a page, and nobody."""
    before = Counter[str | None]()
    for key, cell in zip(table.raw[task], table.raw[name], strict=True):
        before[key] += 1
        if cell not in (str(before[key]), str(before[key] - 1)):
            return False
    return True


AS_MUCH = 0.95
"""Share of the agreement on examples from which finer ones agree as much."""


def _are_apart_by_chance(columns: Sequence[Cells]) -> bool:
    """Whether rows would be as seldom the same in all of some columns if these had nothing to do with each other."""
    pairs = math.comb(len(columns[0]), 2)
    alike = [sum(math.comb(times, 2) for times in Counter(cells).values()) for cells in columns]
    expected = pairs * math.prod(same / pairs for same in alike)
    seen = sum(math.comb(times, 2) for times in Counter(zip(*columns, strict=True)).values())
    least = expected - NO_CHANCE * math.sqrt(expected)
    return seen > least


NO_CHANCE = 2.0
"""Standard deviations by which rows are less often the same than by chance, from which that is none."""
MOST_KEYS, MOST_VOTES_OFFERED = 24, 3
"""Columns of which two may name an example and a person; columns that may be the answer, in a question."""
FAR_SHARED = 3.0
"""Standard deviations by which lines of one example agree more often than by chance."""


def _may_be_key(table: Proposal, name: str) -> bool:
    """Whether a column may name the examples, or the people: nearly always filled, no years, and no marks."""
    cells = present_cells(table.raw[name])
    are_codes = all(cell.strip().isdecimal() and 1900 <= int(cell) < 2100 for cell in cells) or are_binary(cells)
    return len(cells) >= NEARLY_ALL * len(table.raw[name]) and len({*cells}) > 1 and not are_codes


def _are_short(cells: Cells) -> bool:
    """Whether cells can be names of people: few words each."""
    return sum(len(cell.split()) for cell in cells if cell) <= MOST_IN_NAME * len(cells)


MOST_IN_NAME = 3


def _turn(table: Proposal, one: str, other: str, keys: Sequence[str]) -> str:
    """Return the column of the turns in which a person answers an example again; "" where there is none."""
    rows, few = len(table.raw[one]), [name for name in keys if len({*table.raw[name]}) <= MOST_TURNS]
    for name in few if len({*table.raw[one]}) > MOST_TURNS or len({*table.raw[other]}) > MOST_TURNS else ():
        if name in (one, other):
            continue
        triples = {*zip(table.raw[one], table.raw[other], table.raw[name], strict=True)}
        if len(triples) >= ONCE * rows:
            return name
    return ""


MOST_TURNS = 4


def agreement(cells: Cells, keys: Cells) -> float:
    """Return by how many standard deviations more often than by chance rows of one key have the same cell.

    Parameters
    ----------
    cells
        Of the rows.
    keys
        Of the rows, such as their examples.
    """
    filled = [(key, spelling(cell)) for cell, key in zip(cells, keys, strict=True) if key and cell and cell.strip()]
    sizes, times = Counter(key for key, _ in filled), Counter(filled)
    pairs = sum(size * (size - 1) for size in sizes.values()) / 2
    same = sum(count * (count - 1) for count in times.values()) / 2
    chance = sum((count / len(filled)) ** 2 for count in Counter(cell for _, cell in filled).values())
    return (same - chance * pairs) / math.sqrt(max(pairs * chance * (1 - chance), 1e-9)) if pairs else 0.0


def _state(table: Proposal, task: str, worker: str) -> str:
    """Return the column that says which of a person's answers to one example counts; "" where there is none."""
    key = list(zip(table.raw[task], table.raw[worker], strict=True))
    again = {one for one, times in Counter(key).items() if times > 1}
    for name in table.open() if again else ():
        marks = read_marks(table.raw[name])
        if marks and None not in marks:
            counted = Counter(one for one, mark in zip(key, marks, strict=True) if mark)
            if not all(marks) and all(counted[one] == 1 for one in again):
                return name
    return ""


def _has_another_truth(table: Proposal, task: str) -> bool:
    """Whether a column is called as the truth of every row is, and is not the same of an example."""
    named = [name for name in table.usual("true_label", table.open()) if plain_name(name) not in USUAL["vote"]]
    return any(not table.is_function(name, task) for name in named)


def _lines_of_nobody(table: Proposal, *, are_scored: bool = False) -> None:
    """An example stands in several lines with different labels, and no column may be who gave them: the user is asked.

    Whatever else most lines say is the same in all lines of an example, or says when they were written. A text that
    comes again in a few lines only is one that several examples happen to have. So may be codes of sites or of batches,
    unless a line is another label of a code, with its number.
    """
    by_chance = [name for name in table.having("text") if not table.comes_again(name)]
    keys = [*_keys(table), *which(table, "pictures")]
    coded = [name for name in which(table, "of one shape", "again", "!dates", "!addresses") if name not in keys]
    for task in dict.fromkeys([*keys, *coded]):
        if task in by_chance:
            continue
        words = [n for n in which(table, "labels", "answers") if n != task and not table.is_function(n, task)]
        votes = [*table.usual("vote", words), *table.usual("true_label", words), *words][:1]
        weights = _weights(table, task, votes[0]) if votes else {}
        others = [name for name in table.raw if name not in (task, *votes, *weights)]
        others = which(table, "!named id", "!of a fact", "!dates", among=others)
        others = [name for name in others if not (_says_how_sure(name) or _counts_lines(table, task, name))]
        others = [name for name in others if 2 * len(present_cells(table.raw[name])) > len(table.raw[name])]
        is_told = task not in coded or bool(weights and which(table, "measured", among=others))
        is_told = is_told and (not are_scored or any(map(_says_how_sure, weights)))
        if votes and is_told and all(table.is_function(name, task) for name in others):
            _ask_whether_lines(table, task, votes[0], weights)
            return


def _weights(table: Proposal, task: str, vote: str) -> dict[str, str]:
    """Columns of numbers that say how likely or how often the label of a line is, where a line is one label."""
    if len(set(zip(table.raw[task], table.raw[vote], strict=True))) < len(table.raw[task]):
        return {}
    found: dict[str, str] = {}
    sure = [name for name in table.having("keep") if _says_how_sure(name) and name not in table.explicit]
    for name in which(table, "measured", "!named id", among=[*table.open(), *sure]):
        sums: dict[str, float] = defaultdict(float)
        for key, cell in zip(table.raw[task], table.raw[name], strict=True):
            sums[key or ""] += amount(cell) or 0.0
        if sum(abs(one - 1) <= MOST_FROM_ONE for one in sums.values()) >= NEARLY_ALL * len(sums):
            found[name] = "probability"
        elif table.is_function(name, task) or _counts_lines(table, task, name):  # the year of an entry; its rank
            continue
        elif _says_how_sure(name) and max(amount(cell) or 0.0 for cell in table.raw[name]) <= 1:
            found[name] = "probability"
        elif not has_fractions(table.cells[name]):
            found[name] = "count"
    return found


def _says_how_sure(name: str) -> bool:
    return says("sure", name) or not {*words_of(name)}.isdisjoint(USUAL["score_field"])


MOST_FROM_ONE = 0.05
"""How far from 1 what the rounded probabilities of an example make together may be."""


def _ask_whether_lines(table: Proposal, task: str, vote: str, weights: Mapping[str, str]) -> None:
    before = _as_examples(table, (task, vote, *weights))
    said = {"probability": "how likely the label is", "count": "how often the label was given"}
    lines = {task: "task", vote: "vote"}
    table.ask(
        f"The same {task} stands in several lines, with different {vote} ({_said(table, vote)}). What is a line?",
        *(
            (f"one possible label of {task}; {name}: {said[role]}", lines | {name: role})
            for name, role in weights.items()
        ),
        (f"one answer to {task}, and nobody says whose", lines | dict.fromkeys(weights, "keep")),
        ("an example of its own", before),
    )


_SHORT_ANSWERS = ("short", "labels", "answers")
"""Traits of columns of words, short on average, that may be answers."""


def _one_hot(table: Proposal, free: Sequence[str]) -> dict[str, str]:
    """Columns of 0 and 1 with one stem, or written alike, of which nearly each line marks one, some several."""
    stems: dict[tuple[str, frozenset[str]], list[str]] = {}
    for name in free:
        stem, cells = max(_stems(name), default="", key=len), table.cells[name]
        if len({*cells}) > 1 and present_cells(cells) and read_marks(cells) is not None:  # what all have marks none
            alike = frozenset(cell.strip().casefold() for cell in present_cells(cells))
            for key in dict.fromkeys([(stem, frozenset[str]()), ("", alike)]):
                stems.setdefault(key, []).append(name)
    found: list[tuple[int, dict[str, str]]] = []
    for (stem, _), names in stems.items():
        rows = zip(*(read_marks(table.cells[name]) or () for name in names), strict=True)
        marked = Counter(sum(mark is True for mark in row) for row in rows)
        lines, one_each = marked.total(), marked[1]
        are_most = lines >= SOME_ROWS and lines - marked[0] >= NEARLY_ALL * lines <= 2 * one_each
        if len(names) > (1 if stem else 2) and (are_most or one_each == lines):
            stem = stem or max({*_stems(names[0])}.intersection(*map(_stems, names)), default="", key=len)
            found.append((one_each, {name: name.removeprefix(stem) for name in names}))
    return max(found, key=lambda one: one[0], default=(0, {}))[1]


def _stems(name: str) -> list[str]:
    """What a name begins with, up to each mark in it.

    >>> _stems("risk/power_cut")
    ['risk/', 'risk/power_']
    """
    return [name[: mark.end()] for mark in re.finditer(":::|[._:/ ]", name)]


def sides(table: Proposal) -> None:
    """Note two columns with the same things, `left` and `right`, which lines of one example have in both orders.

    The answers are sides, and not the things themselves. That is said, and called odd, since one answer has then two
    meanings.
    """
    tasks, said = table.having("task"), table.answers_given()
    if not tasks or not table.having("vote") or not said:
        return
    taken = {*tasks, *table.having("vote", "worker", "id")}
    names = which(table, "labels", "!marks", among=[name for name in table.raw if name not in taken])[:MOST_SWAPPED]
    for one, other in combinations(names, 2):
        things = table.words(one, other)
        if share_among(table.words(one), table.words(other)) < 1 / 2 or share_among(said, things) > 1 / 2:
            continue
        orders: dict[tuple[str | None, ...], set[tuple[str | None, ...]]] = {}
        for *key, first, second in zip(*(table.raw[name] for name in (*tasks, one, other)), strict=True):
            orders.setdefault(tuple(key), set()).add((first, second))
        both = [key for key, pairs in orders.items() if any(a != b and (b, a) in pairs for a, b in pairs)]
        if len(both) >= LEAST_SWAPPED:
            text = (
                f"{one} and {other} hold the same two things in both orders, in lines about one example: {both[0][0]}"
            )
            table.roles[one] = replace(table.roles[one], why=f"{SWAPPED}: {text}")
            return


LEAST_SWAPPED, MOST_SWAPPED = 2, 60
"""Examples with both orders, at least; columns that are compared, at most."""

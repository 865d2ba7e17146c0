"""What each column of a table is: one table of rules, by names and types alone, the same for every format.

The rules run in the order of `RULES`; each gives roles to columns that have none yet:

1. explicit roles, reserved names, our own marks (`annotator:ann`) and the usual names of `USUAL`;
2. the type of the cells: 0 and 1, numbers, lists, pictures, dates, texts, few words;
3. columns of words with one vocabulary are voters (`_vocabulary`).

Where two roles are possible, the user answers one question (`question`).

A column with a usual name for labels, or with the vocabulary of others, is a feature only if the user says so.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import wraps

from pll.errors import Note, UserError
from pll.formats.checks import listing, shorten
from pll.formats.class_groups import classes, classes_of, counts, probabilities
from pll.formats.forms import GUESSED, SHOWN, TRAITS, USUAL, Form, form_told_by, plain_name
from pll.formats.label_frame import NUMBERS, RESERVED_COLUMNS
from pll.formats.names import (
    CONSENSUS_COLUMNS,
    FIRST_CELLS,
    LABEL_COLUMNS,
    LIKE_A_MODEL,
    PAYLOAD_COLUMNS,
    ROLE_PREFIXES,
    UNNAMED,
    results_among,
    without_order,
)
from pll.formats.one_column import by_hand, settled
from pll.formats.plausible import unclear
from pll.formats.proposal import Codes, Proposal, labels_among, says, says_fact, share_among, which
from pll.formats.reading import LABELLED, LINES, MAJORITY, ROLES, SINGLE, SPREADSHEET_ERRORS, SWAPPED, Column, question
from pll.formats.row_forms import ask_which_list, by_signature, lines, persons, sides, states
from pll.formats.tabular.cells import (
    FEW,
    NEARLY_ALL,
    Cells,
    are_dates,
    elements,
    has_fractions,
    have_decimal_commas,
    is_number,
    listed_answers,
    names_shared,
    nearly_all,
    objects_in,
    present_cells,
    remembered,
    spelling,
)
from pll.formats.voters import (
    aggregates,
    annotators,
    answers,
    beside,
    coded,
    derived,
    graded,
    grades,
    of_one_vocabulary,
    remarks,
    rounds,
    scores,
    several_questions,
    talkers,
    vocabulary,
)

Given = Mapping[str, str]
"""By name of a column, the role that it was given."""


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
    explicit: Given | None = None,
    form: Form | None = None,
    codes: Codes | None = None,
    certain: Given | None = None,
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
    codes
        What a codebook of the file calls codes, by variable.
    certain
        By name, the roles that the reader knows: these answer no question.

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
    form = form or form_told_by(header)
    found = _roles_of(header, sample, explicit, form, codes or {}, certain or {})
    for role in SINGLE if question(found) is None else ():
        twice = [column.name for column in found if column.role == role]
        if len(twice) > 1:
            raise UserError(
                f"The columns {twice[0]} and {twice[1]} both are {role} ({ROLES[role]}); only one can be. "
                "Say what the other is, or remove it."
            )
    return [*found]


_LOOKED_AT: dict[bytes, tuple[Column, ...]] = {}
MOST_TABLES_REMEMBERED = 8
"""Tables whose columns are remembered: what is looked at is then read, and a page asks again and again."""


def _looked_at(look: Callable[..., tuple[Column, ...]]) -> Callable[..., tuple[Column, ...]]:
    """Return what looks at the same table once: a digest of it stays, and not the cells."""

    @wraps(look)
    def looked(header: Sequence[str], sample: Sequence[Cells], *more: object) -> tuple[Column, ...]:
        digest = hashlib.blake2b()
        for part in (header, *more, *sample):
            digest.update(repr(part).encode("utf-8", "surrogatepass"))
        key = digest.digest()
        if (found := _LOOKED_AT.get(key)) is None:
            found = look(header, sample, *more)
            for oldest in [*_LOOKED_AT][: len(_LOOKED_AT) + 1 - MOST_TABLES_REMEMBERED]:
                _LOOKED_AT.pop(oldest, None)
            _LOOKED_AT[key] = found
        return found

    return looked


@_looked_at
def _roles_of(
    header: Sequence[str],
    sample: Sequence[Cells],
    explicit: Given,
    form: Form | None,
    codes: Codes,
    certain: Given,
) -> tuple[Column, ...]:
    """The columns as the rules take them, with the answers to questions that follow from the roles that are given."""
    raw = dict(zip(header, sample, strict=True))
    read = {name: objects_in(name, some) for name, some in raw.items()}
    for name, role in {**certain, **explicit}.items():  # what was said to be scores of labels, whatever they add up to
        if role == "candidates" and read[name][0] == "others":
            read[name] = "shares", [names_shared(cell) for cell in raw[name]]
    objects, cells = {name: kind for name, (kind, _) in read.items()}, {name: some for name, (_, some) in read.items()}
    commas = dict(zip(header, have_decimal_commas(sample), strict=True))
    before = _roles_of(header, sample, {}, form, codes, certain) if explicit else ()
    called = {(one.name, one.role): one.display_name for one in before}  # what a column is of, in a role that it had

    @remembered()
    def by_rules(roles: Given) -> dict[str, Column]:
        given = {**certain, **roles}
        table = Proposal(raw, cells, objects, commas, frozenset(given), form, codes)
        shares = [classes_of([n for n, one in given.items() if one == role], role) for role in ("probability", "count")]
        for name, role in given.items():
            shown = called.get((name, role), (shares[0] | shares[1]).get(name))
            table.give(name, role, shown, guessed=False)
        for rule in RULES:
            rule(table)
        called.update({(one.name, one.role): one.display_name for one in table.roles.values()})
        return table.roles

    columns, answered = {one.name: one for one in before} or by_rules({}), dict[str, str]()
    while explicit and (open_question := question(columns.values())):
        said = {name: role for name, role in explicit.items() if columns[name].asks is open_question}
        fitting = (roles for _, roles in open_question.answers if _fits(roles, said, {**certain, **explicit}))
        answer = next(fitting, None)
        if answer is None:
            break
        answered |= answer
        columns = by_rules(answered)
    columns = columns if answered == explicit else by_rules(answered | dict(explicit))
    title = "" if form is None else form.title
    return tuple(
        replace(columns[name], at=at, first=tuple(raw[name][:FIRST_CELLS]), comma=commas[name], signature=title)
        for at, name in enumerate(header)
    )


def _fits(answer: Given, said: Given, explicit: Given) -> bool:
    """Whether an answer has a role that is given, and none that another one contradicts: what is given always wins."""
    is_other = any(explicit.get(name, role) != role for name, role in answer.items())
    added = {role for name, role in answer.items() if name not in explicit and role in LINES}
    return bool(answer.items() & said.items()) and not is_other and added.isdisjoint(explicit.values())


# ---- the rules, in the order of `RULES` ------------------------------------------------------------------------------


def _reserved(table: Proposal) -> None:
    """Reserved names, results of an earlier run, and columns marked as our own tables mark them: `annotator:ann`."""
    table.give_all(which(table, "errors"), "keep", why=SPREADSHEET_ERRORS)
    results = results_among(list(table.raw)).union(table.called(CONSENSUS_COLUMNS))
    table.give_all(sorted(results.intersection(table.open())), "ignore", guessed=False)
    reserved = table.called(RESERVED_COLUMNS)  # of the user: kept, but for people, texts, and words that are no share
    other = [name for name in which(table, "word", among=reserved) if plain_name(name) in NUMBERS]
    other += which(table, "described", among=reserved)
    reserved = [name for name in reserved if name not in other]
    table.give_all([name for name in reserved if plain_name(name) not in USUAL["worker"]], "keep")
    for role in (*LABEL_COLUMNS, *PAYLOAD_COLUMNS):
        named = table.called([role])
        # words that come again and again name no example: naturalists write ID for what it is identified as
        again = which(table, "rows", "word", "repeats", among=named) if role == "id" else []
        table.give_first([name for name in named if name not in again], role, guessed=False)
    for role, mark in ROLE_PREFIXES.items():
        marked = [name for name in table.open() if name.startswith(mark) and name != mark]
        table.give_all(marked if role != "class" or not table.having("candidates") else (), role, guessed=False)


def _shown(table: Proposal) -> None:
    """Of what a tool shows, a text and a picture; numbers, where there is neither; else it is carried along.

    A list of numbers is learnt from where it is called `features`.
    """
    shown = table.told(SHOWN)
    if not shown:
        return
    _payload(table)
    lists = which(table, "some list of numbers", among={*shown}.intersection(["features"]))
    table.give_all(lists, "vector", guessed=False)
    if not table.having("text", "image", "feature", "vector"):
        table.give_all(which(table, "number", "!empty"), "feature", guessed=False)
    table.give_all(table.open(), "keep", guessed=False)


def _by_traits(step: str) -> Callable[[Proposal], None]:
    """Return a rule that gives the roles of one step of `TRAITS`."""

    def give(table: Proposal) -> None:
        for traits, role, why in TRAITS[step]:
            table.give_all(which(table, *traits), role, why=why)

    return give


def _listed(table: Proposal) -> None:
    """All answers to an example in a cell: who said what, a list beside one of people, or one that repeats labels."""
    choices = [name for name in which(table, "voters") if _are_choices(table, name)]
    table.give_all(choices, "keep", why="what each answer stands for")
    found = which(table, "voters") or _lists_of_answers(table)
    table.give_all(found, "answers")
    if len(found) > 1:
        ask_which_list(table, found)


def _are_choices(table: Proposal, name: str) -> bool:
    """Whether the keys of objects are what another column answers, row by row: choices of a question, and nobody.

    Choices mostly differ, and people agree. No column says what stands at the keys, as the truth beside votes does.
    """
    objects = [listed_answers(cell) for cell in table.raw[name]]
    if 2 * sum(len({said for _, said, _ in some}) < len(some) for some in objects) > len(objects):
        return False
    keys = [{spelling(who or "") for who, *_ in some} for some in objects]
    every = Counter(key for some in keys for key in some)
    values = Counter(spelling(said) for some in objects for _, said, _ in some)
    others = which(table, "labels", "!voters", "!of a person", among=[one for one in table.raw if one != name])
    words = {other: table.words(other) for other in others if other not in table.usual("people", others)}
    answers = [other for other, said in words.items() if len(said) > 1 and share_among(said, every) >= NEARLY_ALL]
    said_in = [[{*labels_among([cell])} for cell in table.cells[other]] for other in answers]
    rows = [[pair for pair in zip(said, keys, strict=True) if pair[0]] for said in said_in]
    are_of_row = [some for some in rows if all(a <= b for a, b in some) and any(a < b for a, b in some)]
    return bool(are_of_row) and not any(share_among(w, values) >= NEARLY_ALL for w in words.values() if len(w) > 1)


def _lists_of_answers(table: Proposal) -> list[str]:
    lists = which(table, "!decimal commas", "!of an aggregate", "lists")
    counts = which(table, "of counts", "lists of numbers", among=lists)  # `[3, 0, 1]` are votes, but nobody's
    lists = [name for name in lists if name not in counts]
    repeated = which(table, "repeated labels", among=lists)
    repeated = [name for name in repeated if not any(_rates(table, name, one) for one in lists)]
    people = which(table, "people", among=lists if repeated else ())
    found: list[str] = []
    for name in dict.fromkeys([*table.usual("people", lists), *people]):
        found = found or _beside_people(table, name, lists)
    found = found or which(table, "!of a fact", among=repeated)
    usual = {*table.usual("answers", found), *which(table, "of some label", among=found)}
    return list(usual) if len(usual) == 1 else found


def _rates(table: Proposal, name: str, other: str) -> bool:
    """Whether lists hold a number for each word of the lists in another column: how sure it is, or how often."""
    pairs = [(elements(a), elements(b)) for a, b in zip(table.raw[name], table.raw[other], strict=True) if a or b]
    numbers, words = ([str(one) for pair in pairs for one in pair[at]] for at in (0, 1))
    as_long = sum(len(some) == len(others) for some, others in pairs) >= NEARLY_ALL * len(pairs)
    return as_long and nearly_all(is_number, numbers) and not any(map(is_number, words))


def _beside_people(table: Proposal, people: str, lists: Sequence[str]) -> list[str]:
    """Give the lists of people their role where lists of answers are beside them, and return these."""
    beside = [name for name in lists if name != people and _are_as_long(table.raw[name], table.raw[people])]
    found = [name for name in beside if _may_be_list_of_votes(table, name, people)]
    found = found or table.usual("answers", beside)[:1]
    if found:
        table.give(people, "people")
        table.give_all(sorted({*beside}.difference(found)), "keep", why="beside the answers")
    return found


def _may_be_list_of_votes(table: Proposal, name: str, people: str) -> bool:
    """Whether what stands in lists beside those of people may be answers: no fact about the person, nor the example."""
    rows = [(elements(a), elements(b)) for a, b in zip(table.raw[name], table.raw[people], strict=True) if a and b]
    said = [(str(who), str(one)) for some, whose in rows for one, who in zip(some, whose, strict=False) if one]
    cells, pairs = [one for _, one in said], {*said}
    is_fact = len(pairs) == len({who for who, _ in pairs}) < len(said)
    is_item = max((len({*map(str, some)}) for some, _ in rows), default=0) == 1
    few = 1 < len({*cells}) <= max(FEW, len(cells) // 4)
    return few and not (is_fact or is_item or says_fact(name) or are_dates(cells) or has_fractions(cells))


def _are_as_long(cells: Cells, others: Cells) -> bool:
    """Whether the lists in two columns are as long as each other, in nearly every row, and mostly of several."""
    lengths = [(len(elements(a)), len(elements(b))) for a, b in zip(cells, others, strict=True) if a and b]
    same = sum(a == b for a, b in lengths)
    return same >= NEARLY_ALL * len(lengths) and 2 * sum(a > 1 for a, _ in lengths) >= len(lengths) > 0


def _about_people(table: Proposal) -> None:
    """In a table of a row a person, what is no answer is a fact about the person: nothing is learnt from it."""
    table.give_all(table.open() if table.having("item") else (), "keep", why="about the person")


def _truth(table: Proposal) -> None:
    """`label` and the like: candidate sets where a cell holds several labels, else the true label."""
    for name in [name for name in table.usual("true_label", table.open()) if _may_be_truth(table, name)][:1]:
        several = which(table, "several, or doubt", among=[name]) and not table.having(*LABELLED)
        table.give(name, "candidates" if several else "true_label")


def _may_be_truth(table: Proposal, name: str) -> bool:
    """Whether a column with a usual name of labels may be the truth.

    One that is still empty, to be filled in, is none, nor are sentences of which nobody said one. In long form `label`
    may be another answer; `gold` is the truth where all lines of an example have the same. Of pupils, `class` is where
    they go to school, and a `target` what a text is about, beside columns that have other words in common.
    """
    if which(table, "rows", "empty", among=[name]):
        return False
    if task := table.having("task")[:1]:
        return plain_name(name) not in (*USUAL["vote"], *USUAL["generic"]) and table.is_function(name, *task)
    words, said = table.words(name), table.answers_given()
    if said and not share_among(words, said) and which(table, "described", among=[name]):
        return False  # sentences, as of a translation: the target
    is_vague = plain_name(name) in USUAL["school"]
    free = which(table, "answers") if is_vague and len(words) > 1 else []
    others = [*dict.fromkeys([*which(table, "labels", among=free), *filter(LIKE_A_MODEL.search, free)])]
    groups = of_one_vocabulary(table, [other for other in others if other != name])
    if is_vague:
        groups += [group for group in (*graded(table), table.having("annotator")) if name not in group]
    least = 2 if all(map(_SCHOOL_CLASS.fullmatch, words)) else 3
    is_school = any(len(group) >= least and words.keys().isdisjoint(table.words(*group)) for group in groups)
    return not is_school and bool(which(table, "!fractions", "!vectors", among=[name]))


_SCHOOL_CLASS = re.compile(r"\d{1,2}[\s./-]?[a-z]{1,3}")


def _sets(table: Proposal) -> None:
    """The candidates by name: several labels a cell (`options`), or one a cell (`option 1`, `option 2`)."""
    several = which(table, "!measured", "several")
    called = [name for name in several if says("candidate", name)]
    called = [name for name in called if 2 * len(table.words(name)) <= len(table.raw[name])]
    table.give_first([*table.usual("candidates", several), *called], "candidates")
    single = which(table, "an option", "word") or which(table, "own name", "!an id")
    table.give_all(single if len(single) > 1 and not table.having("candidates") else (), "candidate")


def _sets_by_type(table: Proposal) -> None:
    """The one column of shares of labels, or of several labels a cell that name the truth: the candidates.

    Shares of what no true label is called are of something else.
    """
    if truth := table.truth():
        shares = [name for name in which(table, "!measured") if table.objects[name] == "shares"]
        others = [name for name in shares if not share_among(truth, table.words(name))]
        table.give_all(others, "keep", why="shares of what is no true label")
    fitting = [name for name in which(table, "!measured") if _holds_sets(table, name)]
    table.give_all(fitting if len(fitting) == 1 else (), "candidates")


def _holds_sets(table: Proposal, name: str) -> bool:
    """Whether a column holds shares of labels, or several labels a cell: of a tool's own, or nearly all true labels."""
    cells, words = present_cells(table.cells[name]), table.words(name)
    is_said = bool(table.form and which(table, "lists", among=[name])) or table.objects[name] == "shares"
    is_true = bool(table.truth()) and share_among(table.truth(), words) >= NEARLY_ALL
    return is_said or (words.total() > len(cells) and is_true)


def _ids(table: Proposal) -> None:
    """A column with the name of an id and distinct cells, or one that counts the rows, or names them by a number."""
    distinct = which(table, "distinct")
    named = which(table, "named id", "!texts", "!pictures", among=distinct)
    usual = [name for name in named if plain_name(name) in USUAL["id"]]
    others = {*named, *which(table, "counts rows", among=distinct)}
    found = [*usual, *filter(others.__contains__, distinct), *which(table, "numbered names", among=distinct)]
    first = {*list(table.raw)[:FIRST_COLUMNS]}
    found += which(table, "dotted numbers", among=[name for name in distinct if name in first])
    found += which(table, "of one shape", "!pictures", "!dates", "!addresses", among=distinct)
    table.give_first(sorted(found, key=lambda name: name.startswith(UNNAMED)), "id")  # a number of the row at last


FIRST_COLUMNS = 2
"""Columns in which a number in parts names the row: further on it is measured, perhaps."""


def _payload(table: Proposal) -> None:
    """A column of pictures, one of texts, and what else there is to read."""
    pictures = which(table, "pictures", "!measured")
    table.give_first([*table.usual("image", pictures), *pictures], "image")
    texts = table.usual("text", which(table, "titles", "!measured"))
    texts += which(table, "texts", "!measured")
    texts = which(table, "!object", "!other objects", among=texts)
    if not texts and not table.having("text", "image"):  # short descriptions, where there is nothing else to read
        first = _before_labels(table) if table.form is None else [*table.raw]
        before = [name for name in table.open() if name in first or says("readable", name)]
        short = which(table, "phrases", "!measured", "!an id", "!varying", among=before)
        short = short if before == short[:1] else which(table, "!of a fact", among=short)  # remarks, if no more is told
        texts = [name for name in short if plain_name(name) not in USUAL["person"]]
    table.give_first(texts, "text")
    for name in _more_texts(table):
        if not any(_say_the_same(table.raw[name], table.raw[other]) for other in table.having("text")):
            table.give(name, "text")


def _more_texts(table: Proposal) -> list[str]:
    """Texts beside the one that was found, but for remarks: called as a part of what is read, or before the labels.

    Not what is called as a text and more, such as `sentence1_parse`: it was made of that text.
    """
    names, first = list(table.raw), table.having("text")
    before = _before_labels(table) if table.form is None else []
    prose = which(table, "titles", "!measured", "!an id", "!varying") if first else []
    found = [name for name in prose if without_order(name) in map(without_order, first)]
    prose = which(table, "!object", "!lists", among=prose)
    found += [name for name in prose if says("readable", name) and not says_fact(name)]
    found += which(table, "texts", "!of a fact", among=[name for name in prose if name in before])
    if table.form is not None and first:  # what is no field of the tool's own was shown, short as it may be
        shown = which(table, "phrases", "too many words", "!object", "!other objects", "!lists", "!of a fact")
        found += which(table, "!measured", "!an id", "!varying", among=shown)
    is_made = {name for name in found for other in (*first, *prose) if re.match(rf"{re.escape(other)}[\W_]", name)}
    return [name for name in names if name in found and name not in is_made]


def _before_labels(table: Proposal) -> list[str]:
    """The columns before the first of labels; all where there is none."""
    names = list(table.raw)
    labels = [at for at, name in enumerate(names) if table.roles.get(name, _NO_ROLE).role in _OF_LABELS]
    return names[: labels[0] if labels else None]


def _say_the_same(cells: Cells, others: Cells) -> bool:
    """Whether in nearly all rows one text is the other, a part of it, or hardly more, but for case and signs."""
    rows = [[re.sub(r"\W", "", cell.casefold()) for cell in row if cell] for row in zip(cells, others, strict=True)]
    pairs = [row for row in rows if len(row) == 2]
    same = [own in other or (other in own and len(own) <= MORE_THAN_THE_SAME * len(other)) for own, other in pairs]
    return sum(same) >= NEARLY_ALL * len(same)


MORE_THAN_THE_SAME = 1.25
"""Letters for each of another text from which one that quotes it whole says more."""


def _about_labels(table: Proposal) -> None:
    """Words that stand after the labels, where what is learnt from stands before them alone, are about the labelling.

    As its state, who has it, and remarks are, in any language.
    """
    names = list(table.raw)
    labels = [at for at, name in enumerate(names) if table.roles.get(name, _NO_ROLE).role in _OF_LABELS]
    if table.form is not None or not labels:
        return
    before, after = names[: labels[0]], names[labels[-1] + 1 :]
    shown = {name for name in names if table.roles.get(name, _NO_ROLE).role in ("text", "image")}
    numbers = which(table, "number", "!blank", among=[name for name in before if name in table.open()])
    if (numbers or shown.intersection(before)) and shown.isdisjoint(after):
        words = [name for name in which(table, "word") if name in after]
        table.give_all(words, "keep", why="after the labels, and about them")


_OF_LABELS = (*LABELLED, "vote", "true_label")
_NO_ROLE = Column(0, "", "", "")


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


def _aside(table: Proposal) -> None:
    """Columns behind an empty one without a name, which end long before the others do: another table, such as a key."""
    names = list(table.raw)
    for at, name in enumerate(names):
        if at == 0 or not name.startswith(UNNAMED) or any(table.raw[name]):
            continue
        filled = [any(row) for row in zip(*(table.raw[other] for other in names[at + 1 :]), strict=True)]
        if 0 < 2 * sum(filled) <= len(filled) and all(filled[: sum(filled)]):
            table.give_all([one for one in names[at + 1 :] if one in table.open()], "keep", why="another table beside")
            return


RULES: tuple[Rule, ...] = (
    Rule(by_signature),
    Rule(_aside),
    Rule(_reserved),
    Rule(_shown),
    Rule(_by_traits("objects")),
    Rule(_listed, (*LABELLED, *LINES)),
    Rule(persons, (*LABELLED, *LINES)),
    Rule(_about_people),
    Rule(lines, ("candidates", "answers")),
    Rule(states, ("state",)),
    Rule(_truth, ("true_label",)),
    Rule(_sets, LABELLED),
    Rule(annotators, ("vote", "class", "candidate", "probability", "count", "answers")),
    Rule(answers, ("vote",)),
    Rule(classes),
    Rule(probabilities, LABELLED),
    Rule(counts, LABELLED),
    Rule(aggregates),
    Rule(derived),
    Rule(remarks),
    Rule(scores),
    Rule(_sets_by_type, LABELLED, may_be_asked=False),
    Rule(vocabulary, ("vote", "answers"), may_be_asked=False),
    Rule(coded, (*LABELLED, "task"), may_be_asked=False),
    Rule(by_hand, (*LABELLED, *LINES), may_be_asked=False),
    Rule(scores),
    Rule(beside),
    Rule(remarks),
    Rule(talkers, ("vote", "answers")),
    Rule(aggregates),
    Rule(settled),
    Rule(rounds, may_be_asked=False),
    Rule(several_questions, may_be_asked=False),
    Rule(grades, (*LABELLED, "task"), may_be_asked=False),
    Rule(_ids, ("id", "task")),
    Rule(_payload),
    Rule(unclear, (*LABELLED, *LINES, "true_label"), may_be_asked=False),
    Rule(derived),
    Rule(_about_labels),
    Rule(_by_traits("rest")),
    Rule(sides),
)
"""The rules, in their order."""


def notes_on(columns: Sequence[Column]) -> list[str]:
    """Return sentences on the columns whose role was guessed."""
    names = {role: [column.name for column in columns if column.guessed and column.role == role] for role in GUESSED}
    notes = [_said_of(GUESSED[role], some) for role, some in names.items() if some]
    commas = [column.name for column in columns if column.comma and column.role == "feature"]
    if commas:
        notes.append(
            f"The numbers of {'column' if len(commas) == 1 else 'columns'} {listing(commas)} were read with a decimal "
            "comma: 1,5 is one and a half."
        )
    made = [one for one in columns if one.why.startswith(MAJORITY)]
    notes += [f"{one.name} is {one.why}: not taken for the truth, nor for a voter." for one in made]
    said = [Note(text, kind="columns") for text in notes]
    swapped = [one.why.partition(": ")[2] for one in columns if one.why.startswith(SWAPPED)]
    return [*said, *(Note(f"{text}.", kind=SWAPPED) for text in swapped)]


def _said_of(sentence: str, names: Sequence[str]) -> str:
    """Return a sentence on some columns; one that begins with them has a verb for one or for several."""
    verb, noun = ("was", "Column ") if len(names) == 1 else ("were", "Columns ")
    if sentence.startswith("{}"):
        sentence = noun + re.sub("was|were", verb, sentence, count=1)
    return sentence.format(listing(names))

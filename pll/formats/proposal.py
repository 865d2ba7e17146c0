"""The columns of a table while their roles are found: the first cells of each, what is known of them, what is asked.

Rules of roles ask for traits, each of which has a name: what a column is by its name, its cells and the table. A trait
is found out once for a column, whatever the number of rules that ask.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import compress

from pll.errors import UserError
from pll.formats.forms import (
    FIRST_WITHOUT_SPACES,
    NO_ANSWER,
    STEMS,
    USUAL,
    WORDS,
    WORDS_OF_FIELDS,
    Form,
    any_of,
    plain_name,
    words_of,
)
from pll.formats.grouping import grouped, summed
from pll.formats.names import OPTION_COLUMN, UNNAMED, is_named_id, may_hold_labels, shown_name
from pll.formats.reading import LABELLED, Column, Question, question
from pll.formats.tabular.answer_cells import read_by_hand
from pll.formats.tabular.cells import (
    FEW,
    MARKS,
    NEARLY_ALL,
    Cells,
    are_addresses,
    are_dates,
    are_lists,
    are_lists_of_numbers,
    are_mails,
    are_names,
    are_pictures,
    are_share_lists,
    are_texts,
    are_vectors,
    default_role,
    elements,
    guess_separator,
    has_fractions,
    holds_several,
    is_error,
    is_measured,
    is_missing,
    is_no_answer,
    is_number,
    label_named,
    listed_answers,
    mark_in,
    nearly_all,
    numbers_in,
    once,
    present_cells,
    read_marks,
    says_counts,
    spelling,
    split_cell,
)

MOST_OFFERED = 6
"""Columns, or groups of them, that a question offers."""


Codes = Mapping[str, Mapping[str, str]]
"""By variable, "" for any, what a codebook calls each code."""


@dataclass
class Proposal:
    """The first cells of a table by column, as they are and with the labels alone, and the roles so far."""

    raw: Mapping[str, Cells]
    cells: Mapping[str, Cells]
    objects: Mapping[str, str]
    commas: Mapping[str, bool]
    explicit: frozenset[str]
    form: Form | None = None
    codes: Codes = field(default_factory=dict)
    roles: dict[str, Column] = field(default_factory=dict)
    known: dict[tuple[str, str, bool], bool] = field(default_factory=dict)
    _with_role: dict[str, list[str]] = field(default_factory=dict)
    _functions: dict[tuple[str, ...], bool] = field(default_factory=dict)

    def give(
        self, name: str, role: str, display_name: str | None = None, *, guessed: bool = True, why: str = ""
    ) -> None:
        """Give a column a role.

        Parameters
        ----------
        name
            Of the column.
        role
            What it is.
        display_name
            What it is of; by default its name.
        guessed
            Whether its name does not say so.
        why
            Why, where that is to be said.
        """
        called = display_name or shown_name(name, role)
        called = self.meaning(name, called) if role == "class" else called
        self.roles[name] = Column(0, name, role, called, guessed, why=why)
        self._with_role.clear()

    def give_all(self, names: Iterable[str], role: str, *, guessed: bool = True, why: str = "") -> None:
        """Give several columns one role.

        Parameters
        ----------
        names
            Of the columns.
        role
            What they are.
        guessed
            Whether their names do not say so.
        why
            Why, where that is to be said.
        """
        for name in list(names):
            self.give(name, role, guessed=guessed, why=why)

    def give_first(self, names: Sequence[str], role: str, *, guessed: bool = True) -> None:
        """Give the first of some columns a role that only one can have, unless one has it.

        Parameters
        ----------
        names
            Of the columns, the likeliest first.
        role
            What it is.
        guessed
            Whether its name does not say so.
        """
        self.give_all(names[: not self.having(role)], role, guessed=guessed)

    def ask(self, text: str, *answers: tuple[str, Mapping[str, str]]) -> None:
        """Put a question about columns that have a role until it is answered."""
        asked = Question(text, answers)
        self.roles |= {name: replace(self.roles[name], asks=asked) for name in answers[0][1]}

    def is_asked(self) -> bool:
        """Whether there is a question."""
        return question(self.roles.values()) is not None

    def open(self) -> list[str]:
        """Columns without a role."""
        return [name for name in self.raw if name not in self.roles]

    def having(self, *roles: str) -> list[str]:
        """Columns with one of some roles."""
        if len(roles) != 1:
            return [name for name, column in self.roles.items() if column.role in roles]
        if not self._with_role:
            self._with_role = {"": []} | grouped((column.role, name) for name, column in self.roles.items())
        return list(self._with_role.get(roles[0], []))

    def usual(self, role: str, names: Sequence[str]) -> list[str]:
        """Those of some columns with a usual name of this role, the likeliest first.

        Parameters
        ----------
        role
            What they may be.
        names
            Of the columns.
        """
        plain = {plain_name(name): name for name in reversed(names)}
        return [plain[name] for name in USUAL[role] if name in plain]

    def called(self, names: Iterable[str]) -> list[str]:
        """Columns without a role that are called so, in whatever case."""
        wanted = frozenset(names)
        return [name for name in self.open() if name.casefold() in wanted]

    def told(self, role: str) -> list[str]:
        """Columns without a role that have this one by the signature."""
        return [name for name in self.open() if self.form is not None and self.form.role_of(name) == role]

    def one_each(self, name: str) -> Cells:
        """The cells of a column; in long form those of the first line of each example that is filled."""
        cells = self.raw[name]
        for task in self.having("task")[:1]:
            rows = {key: at for at, key in reversed(list(enumerate(self.raw[task])))}
            filled = {key: at for at, key in reversed(list(enumerate(self.raw[task]))) if (cells[at] or "").strip()}
            return [cells[filled.get(key, at)] for key, at in sorted(rows.items(), key=lambda one: one[1])]
        return cells

    def only(self, rows: Sequence[bool]) -> Proposal:
        """The same table with some of its rows."""
        raw, cells = ({n: [*compress(some, rows)] for n, some in of.items()} for of in (self.raw, self.cells))
        return replace(self, raw=raw, cells=cells, known={}, _functions={})

    # ---- labels ------------------------------------------------------------------------------------------------------

    def words(self, *names: str) -> Counter[str]:
        """The labels in some columns, in their common spelling, and how often each stands there."""
        said = [_labels_in(self.cells[name]) for name in names]
        return said[0] if len(said) == 1 else sum(said, Counter[str]())

    def truth(self) -> Counter[str]:
        """What the truth is called."""
        return self.words(*self.having("true_label"))

    def classes(self) -> Counter[str]:
        """What the truth and the candidates are called."""
        named = (spelling(self.roles[name].display_name) for name in self.having("class", "probability", "count"))
        return self.words(*self.having("true_label", "candidates", "candidate")) + Counter(named)

    def answers_given(self) -> Counter[str]:
        """What the votes are called: of voters, of lines, and of lists and objects in cells."""
        given = self.words(*self.having("annotator", "vote"))
        for name in self.having("answers"):
            given.update(_labels_listed_in(self.raw[name]))
        return given

    def numbers_named(self) -> set[str]:
        """The codes that a codebook has names for, of any variable."""
        return {code for names in self.codes.values() for code in names}

    def meaning(self, name: str, called: str) -> str:
        """Return what a codebook calls the class of a column of ticks, `ddx___2` in REDCap.

        Parameters
        ----------
        name
            Of the column.
        called
            What it is called, where no codebook says it.
        """
        variable, _, code = name.rpartition("___")
        return self.codes.get(variable, {}).get(code, called) if variable else called

    # ---- what a column is not ----------------------------------------------------------------------------------------

    def is_function(self, name: str, *keys: str) -> bool:
        """Whether rows with the same cells in some columns have the same one in this column, missing cells aside."""
        if (name, *keys) not in self._functions:
            first: dict[tuple[str | None, ...], str] = {}
            rows = zip(self.raw[name], zip(*(self.raw[key] for key in keys), strict=True), strict=True)
            filled = ((cell, key) for cell, key in rows if cell and cell.strip() and any(key))
            self._functions[name, *keys] = all(first.setdefault(key, cell) == cell for cell, key in filled)
        return self._functions[name, *keys]

    def keys_of_lines(self) -> list[tuple[str | None, ...]]:
        """What names the example of each row: the cells of the columns that say so; in other forms each row is one."""
        rows = len(next(iter(self.raw.values()), ()))
        tasks = [self.raw[name] for name in self.having("task")]
        return list(zip(*tasks, strict=True)) if tasks else [(str(at),) for at in range(rows)]

    def first_lines(self) -> list[int]:
        """The first row of each example."""
        first = dict[tuple[str | None, ...], int]()
        for at, key in enumerate(self.keys_of_lines()):
            first.setdefault(key, at)
        return list(first.values())

    def repeats(self, name: str) -> bool:
        """Whether a column has the same cell in several rows, mostly."""
        filled = present_cells(self.raw[name])
        return 0 < 2 * len(set(filled)) <= len(filled)

    def comes_again(self, name: str) -> bool:
        """Whether a column has the same cell in several rows, of one row in five at least."""
        filled = present_cells(self.raw[name])
        return 0 < 5 * len(set(filled)) <= 4 * len(filled)

    def is_one_a_row(self, name: str) -> bool:
        """Whether a column has another cell in every row, of several."""
        cells = self.raw[name]
        return len(cells) > 1 and len(set(cells)) == len(cells)

    def may_be_answers(self, name: str, *, facts: bool = False, ids: bool = False) -> bool:
        """Whether a column may hold answers: words or whole numbers that recur; no date, id, address, text or fact.

        Parameters
        ----------
        name
            Of the column.
        facts
            Whether one that is called as a fact or a remark is may hold answers too.
        ids
            Whether one that is called as an id is, such as a code, may.
        """
        filled = present_cells(self.cells[name])
        kinds = len(set(filled))
        few = kinds <= max(FEW, len(filled) // 4) and (kinds < len(filled) or len(filled) < 5)
        is_other = are_dates(filled) or are_pictures(filled) or are_addresses(filled) or are_texts(filled, 6)
        is_fact = says_fact(name) and not (facts or _is_grade(self, name))
        return kinds > 1 and few and not (is_other or (is_named_id(name) and not ids) or is_fact)

    def holds_sets(self, name: str) -> bool:
        """Whether the cells of a column name several labels more often than a voter who is not sure does."""
        cells = present_cells(self.cells[name])
        return bool(cells) and 2 * self.words(name).total() >= 3 * len(cells)

    def may_be_label(self, name: str) -> bool:
        """Whether a column of words may hold labels: neither numbers nor dates nor pictures."""
        filled = present_cells(self.cells[name])
        return bool(filled) and default_role(filled) != "feature" and not are_dates(filled) and not are_pictures(filled)


def one_of(
    groups: Sequence[tuple[str, Iterable[str]]], role: str, kept: Mapping[str, str] | None = None
) -> list[tuple[str, Mapping[str, str]]]:
    """Return the answers to which of several groups of columns has the labels: those of the others are carried along.

    Parameters
    ----------
    groups
        What an answer says, and the columns of its group.
    role
        What these are.
    kept
        What some columns are, whatever the group.

    Examples
    --------
    >>> one_of([("tone", ["a", "b"]), ("frame", ["c"])], "class")[0]
    ('tone', {'a': 'class', 'b': 'class', 'c': 'keep'})
    """
    every = dict.fromkeys((name for _, names in groups for name in names), "keep")
    return [(said, every | dict.fromkeys(names, role) | dict(kept or {})) for said, names in groups[:MOST_OFFERED]]


def follows(cells: Cells, keys: Sequence[object]) -> bool:
    """Whether a column is the same in all rows of one key, which by chance it would not be.

    Parameters
    ----------
    cells
        Of the column.
    keys
        Of the rows.
    """
    of_key: dict[object, str | None] = {}
    for cell, key in zip(cells, keys, strict=True):
        if of_key.setdefault(key, cell) != cell:
            return False
    share = {cell: times / len(cells) for cell, times in Counter(cells).items()}
    sizes = Counter(keys).values() if cells else ()
    chance = sum(math.log(sum(one**size for one in share.values())) for size in sizes)
    ways = math.lgamma(len(cells) + 1) - sum(math.lgamma(times + 1) for times in Counter(cells).values())
    return min(chance, len(of_key) * math.log(max(len(share), 1)) - ways) < math.log(CHANCE)


CHANCE = 1e-6
"""By which chance a column may seem to follow from something."""


def decides(table: Proposal, name: str, voters: Sequence[str] | None = None) -> bool:
    """Whether a column says what two voters say wherever they agree, and else what one of them says.

    A voter more would not, as often as the two and it agree elsewhere.

    Parameters
    ----------
    table
        The table.
    name
        Of the column.
    voters
        The columns of two voters, and perhaps this one; by default those that are known.
    """
    others = [other for other in (table.having("annotator") if voters is None else voters) if other != name]
    if len(others) != 2:
        return False
    columns = [[spelling(cell or "") for cell in table.cells[one]] for one in (name, *others)]
    rows = [row for row in zip(*columns, strict=True) if all(row)]
    agreed = [row[0] == row[1] for row in rows if row[1] == row[2]]
    split = [row[0] in row[1:] for row in rows if row[1] != row[2]]
    is_whole = len(split) >= LEAST_SPLIT and sum(split) >= NEARLY_ALL * len(split)
    usual = max(sum(row[0] == row[k] for row in rows) / max(len(rows), 1) for k in (1, 2))
    return is_whole and bool(agreed) and all(agreed) and len(agreed) * math.log(max(usual, 1e-9)) < math.log(ALWAYS)


ALWAYS = 1e-3
"""By which chance a voter may seem to be always right."""
LEAST_SPLIT = 10
"""Rows on which voters must differ, at least, where a column is compared with what they say."""


def says(kind: str, name: str) -> bool:
    """Whether a word of a column's name, or of a cell, is of a kind; of writings without spaces, whether it is in it.

    Parameters
    ----------
    kind
        One of `WORDS`.
    name
        Of the column, or the cell.

    Examples
    --------
    >>> says("labels", "airline_sentiment"), says("settled", "decyzja_kierownika"), says("machine", "predicted class")
    (True, True, True)
    >>> says("practice", "is_attention_check"), says("practice", "trial"), says("settled", "최종감정")
    (True, False, True)
    >>> says("settled", "Τελική υπηρεσία"), says("settled", "Diagnóstico confirmado"), says("settled", "decyzja_2")
    (True, True, True)
    """
    plain = name.casefold() if any(ord(letter) > FIRST_WITHOUT_SPACES for letter in name) else ""
    within = (ord(word[0]) > FIRST_WITHOUT_SPACES and word in plain for word in WORDS[kind] if plain)
    words = words_of(name)
    return not WORDS[kind].isdisjoint(words) or any(word.startswith(STEMS[kind]) for word in words) or any(within)


def says_what(kind: str, name: str) -> bool:
    """Whether a word of a column's name is of a kind, and not only one for a person, as the names of voters are.

    Parameters
    ----------
    kind
        One of `WORDS`.
    name
        Of the column.

    Examples
    --------
    >>> [says_what("settled", name) for name in ("human_gold", "dx_histo", "human", "Pathologist", "Ann")]
    [True, True, False, False, False]
    """
    return any(says(kind, word) and word not in WORDS["people"] | WORDS["deciders"] for word in words_of(name))


def split_in(names: Sequence[str]) -> list[str]:
    """Return which part of a split each name says; nothing where one says none, or all say the same.

    Parameters
    ----------
    names
        Of tables, or cells.

    Examples
    --------
    >>> (
    ...     split_in(["youtube-train", "valid", "test_v2"]),
    ...     split_in(["train", "ann"]),
    ...     split_in(["Training", "PublicTest"]),
    ... )
    (['train', 'valid', 'test'], [], ['training', 'test'])
    """
    said = [words_of(name) for name in names]
    of = [next((word for word in words if word in WORDS["train"] | WORDS["test"]), "") for words in said]
    return of if all(of) and len({*of}) > 1 else []


_MOST_CALLED = 9
"""Words of a name after the first, at most, whose last one says what the column is."""


def says_fact(name: str, kinds: Sequence[str] = ("facts", "context", "remark")) -> bool:
    """Whether a column is called as facts about a person or a moment are, or remarks: nobody's answer.

    Parameters
    ----------
    name
        Of the column.
    kinds
        Lists of words in `WORDS`; nothing is learnt from what is called as one of `context`, or a `remark`.

    Examples
    --------
    >>> says_fact("rater_gender"), says_fact("created_time"), says_fact("label")
    (True, True, False)
    >>> says_fact("Clinical note", ["remark"]), says_fact("cost_usd", ["context"]), says_fact("age", ["context"])
    (True, True, False)
    >>> says_fact("reading_time_s", ["context"]), says_fact("time", ["context"]), says_fact("total_cost_usd")
    (True, False, True)
    >>> says_fact("handle_time_s"), says_fact("length_s")
    (True, False)
    >>> says_fact("Which department are you in?"), says_fact("7. Do send the slides before we meet, it took me minutes")
    (False, False)
    """
    first, *others = [word for word in words_of(name) if word not in WORDS["units"]] or ("",)
    if len(others) > _MOST_CALLED:  # a whole text, such as a column of a form that shows it
        return False
    took = others and all(not WORDS[kind].isdisjoint([first, *others]) for kind in ("answering", "span"))
    return bool(took) or any(not WORDS[kind].isdisjoint([first, *others[-1:]]) for kind in kinds)


def says_state(name: str) -> bool:
    """Whether a column is called as how far the work on a row is, and nothing else.

    Examples
    --------
    >>> says_state("_validation_status"), says_state("Abgeschlossen"), says_state("marital status")
    (True, True, False)
    """
    words = {*words_of(name)}
    return says("state", name) and words <= WORDS["state"] | WORDS["answering"]


def practice_in(name: str, cells: Cells) -> list[bool]:
    """Return which cells mark answers for practice, or to see who reads: by a mark, or in a word of their own.

    Parameters
    ----------
    name
        Of the column.
    cells
        Of the column.

    Examples
    --------
    >>> practice_in("is_catch_trial", ["1", "0", None]), practice_in("block", ["practice 1", "main", None])
    ([True, False, False], [True, False, False])
    >>> practice_in("reason", ["No training budget for years and no next step.", "pay"])
    [False, False]
    """
    if says("practice", name):
        return [mark is True for mark in read_marks(cells) or [None] * len(cells)]
    return [len((cell or "").split()) <= _MOST_MARKED and says("practice", cell or "") for cell in cells]


_MOST_MARKED = 3
"""Words, at most, of a cell that says that a row is for practice; what is longer speaks of something else."""


def withdrawn_by(name: str, cells: Cells) -> list[bool] | None:
    """Return which cells of a column called as what was withdrawn say that it was, or when; None of another column.

    Parameters
    ----------
    name
        Of the column.
    cells
        Of the column.

    Examples
    --------
    >>> withdrawn_by("deleted_at", ["2023-04-14 19:16:56", "NULL", None]), withdrawn_by("is_deleted", ["0", "1"])
    ([True, False, False], [False, True])
    >>> withdrawn_by("created_at", ["2023-04-14"]), withdrawn_by("deleted", ["by mistake", ""])
    (None, None)
    >>> withdrawn_by("superseded_by", ["880046", "NULL"])
    [True, False]
    """
    if (WORDS["withdrawn"] - MARKS.keys()).isdisjoint(words_of(name)):
        return None
    said = [cell if cell and not is_no_answer(cell) else "" for cell in cells]
    says_whom = words_of(name)[-1:] == ("by",)  # who withdrew it, or what took its place
    dates = says_whom or are_dates([cell for cell in said if cell])
    marks = [bool(cell) and (dates or mark_in(cell)) for cell in said]
    return None if None in marks else [mark is True for mark in marks]


def says_aggregate(name: str) -> bool:
    """Whether a column is called as what others' votes were made into is.

    Examples
    --------
    >>> [says_aggregate(name) for name in ("majority_vote", "MACE", "tone__Label-Model", "多数结果", "label")]
    [True, True, True, True, False]
    """
    plain = plain_name(name)
    first, *others = words_of(name) or ("",)
    is_said = not (WORDS["majority"] | WORDS["agreed"]).isdisjoint([first, *others[-1:]])
    is_within = ord(max(name, default=" ")) > FIRST_WITHOUT_SPACES and (says("majority", name) or says("agreed", name))
    is_last = plain.endswith(tuple(f"_{words}" for words in WORDS["aggregate"] if "_" in words))
    return plain in WORDS["aggregate"] or is_last or is_said or is_within


def labels_among(cells: Cells) -> Counter[str]:
    """The labels in cells, in their common spelling, and how often each stands there."""
    filled = present_cells(cells)
    mark = guess_separator(filled)
    split = dict[str, tuple[int, Sequence[str]]]()
    for cell, count in Counter(filled).items():
        with suppress(UserError):  # reading says where a list cannot be read
            split[cell] = count, split_cell(cell, mark)
    read = read_by_hand(split)
    return summed((spelling(label), split[cell][0]) for cell, labels in read.items() for label in labels)


_labels_in = once(labels_among)


@once
def _labels_listed_in(cells: Cells) -> Counter[str]:
    """How often each label stands in the lists and objects of answers in cells."""
    return Counter(label for cell in present_cells(cells) for label in labels_listed(cell))


def labels_listed(cell: str | None) -> list[str]:
    """The labels of all answers in a cell, in their common spelling; none where reading says what is wrong with it."""
    try:
        return [spelling(label) for _, label, _ in listed_answers(cell)]
    except UserError:
        return []


def share_among(words: Counter[str], others: Counter[str]) -> float:
    """Which share of the labels of one column another one uses too.

    Parameters
    ----------
    words
        How often each label of the column stands there.
    others
        The same of the other column.
    """
    return sum(count for word, count in words.items() if word in others) / max(words.total(), 1)


def grades_in(cells: Cells, codes: Collection[str] = ()) -> list[int | None]:
    """Return the whole numbers from −10 to 10 in cells, None where there is none; all None where they are no grades.

    Of several, or one with a doubt, the first counts.

    Parameters
    ----------
    cells
        Of a column.
    codes
        Numbers that are grades, too.

    Examples
    --------
    >>> grades_in(["4", " 3", "2,0", "-"]), grades_in(["4", "2.5", "1", "1"]), grades_in(["2/3", "4?", "1 or 2"])
    ([4, 3, 2, None], [None, None, None, None], [2, 4, 1])
    """
    plain = [None if is_missing(cell) else (cell or "").strip().replace(",", ".") for cell in cells]
    plain = [match["first"] if one and (match := _HEDGED.fullmatch(one)) else one for one in plain]
    kept = {*_GRADES, *(float(code) for code in codes if code.isdecimal())}
    numbers = [int(float(one)) if one and is_number(one) and float(one) in kept else None for one in plain]
    if not any(one is not None for one in numbers):
        return numbers
    silent = NO_ANSWER["codes"]
    filled = [one for one in plain if one and not is_no_answer(one, among_votes=True) and one not in silent]
    filled = [one for one in filled if spelling(one) not in NO_ANSWER["rare"]]
    words = Counter(spelling(one) for one in filled if not is_number(one))
    if len(words) == 1 < words.total() <= len(filled) / 2:  # one word among numbers, that again and again stands there
        filled = [one for one in filled if is_number(one)]
    are_most = sum(one is not None for one in numbers) >= NEARLY_ALL * len(filled)
    return numbers if are_most and not has_fractions(filled) else [None] * len(cells)


_GRADES = range(-10, 11)
_HEDGED = re.compile(rf"(?P<first>-?\d{{1,2}})\s*(?:\?|(?:[/;–]|{any_of('or')})\s*\d{{1,2}})\s*\??", re.IGNORECASE)


# ---- traits ----------------------------------------------------------------------------------------------------------

LEAST_ROWS_A_WORD = 4
"""Rows for each word of a category, on average, from which it is learnt."""
LEAST_DIGITS = 8
"""Digits from which numbers that are all as long name something: measurements differ in their length."""

_CALLED_ID = re.compile(r"(?:.*(?:[\W_]|[a-z](?=I)))?[iI][dD]s?")
"""What is called an id and nothing else, be it of a few: of patients, or of a workflow."""


def which(table: Proposal, *traits: str, among: Iterable[str] | None = None) -> list[str]:
    """Return the columns without a role, or those of some columns, that have all of some traits.

    Parameters
    ----------
    table
        The columns.
    traits
        Names of `OF_NAME`, `OF_CELLS` and `OF_TABLE`; with "!" before it, that the column does not have it.
    among
        The columns in question.
    """
    names = list(table.open() if among is None else among)
    is_long = bool(table.having("task"))
    for trait in traits:
        wanted, bare = not trait.startswith("!"), trait.lstrip("!")
        names = [name for name in names if _has(table, name, bare, is_long=is_long) is wanted]
    return names


def _has(table: Proposal, name: str, trait: str, *, is_long: bool) -> bool:
    if trait in OF_TABLE:
        return OF_TABLE[trait](table, name)
    key = name, trait, is_long
    if key not in table.known:
        found = OF_NAME[trait](name) if trait in OF_NAME else OF_CELLS[trait](table.one_each(name))
        table.known[key] = bool(found)
    return table.known[key]


def are_distinct(cells: Cells) -> bool:
    """Whether all cells are filled, and different."""
    return bool(cells) and len({*map(_bare, cells)} - {""}) == len(cells)


def _bare(cell: str | None) -> str:
    return (cell or "").strip()


def _are_ids(cells: Cells) -> bool:
    """Whether cells under the name of an id are no measurements: many words, huge numbers, or nearly all different."""
    filled = present_cells(cells)
    if default_role(filled) == "category":
        return len(set(filled)) > FEW // 2
    huge = nearly_all(lambda cell: is_number(cell) and abs(float(cell)) >= 1e12, filled)
    return huge or len(set(filled)) >= NEARLY_ALL * max(len(filled), FEW)


def _have_digits_of_ids(cells: Cells) -> bool:
    """Whether cells are whole numbers as long as each other, of many digits, nearly all different."""
    filled = [cell.strip() for cell in present_cells(cells)]
    if not nearly_all(lambda cell: len(cell) >= LEAST_DIGITS and cell.isdecimal(), filled[:FEW]):
        return False
    least = 0 if len({*map(len, filled)}) == 1 and len(filled) >= FEW else 2**53
    long = nearly_all(lambda cell: cell.isdecimal() and int(cell) >= least, filled)
    return long and len({*filled}) >= NEARLY_ALL * len(filled)


_NUMBERED = re.compile(r"[^\W\d]+(?:[ _.-][^\W\d]+)*[ _.-]?(0\d+|[1-9]\d+)")


def are_numbered(cells: Cells) -> bool:
    """Whether cells are names with a number of as many digits, some of them filled up with 0: `GSLC-01`, `plot 007`."""
    filled = {cell.strip() for cell in present_cells(cells)}
    numbers = [match[1] for cell in filled if (match := _NUMBERED.fullmatch(cell))]
    is_one_length = len({*map(len, numbers)}) == 1 and any(one.startswith("0") for one in numbers)
    return is_one_length and 2 < len(numbers) == len(filled)


def _count_rows(cells: Cells) -> bool:
    """Whether cells are 0, 1, 2, … or go on in equal steps, five rows at least; in any order twenty, some left out."""
    numbers = [int(cell) if cell.isdecimal() else -2 for cell in map(_bare, cells)]
    if are_dense(numbers):
        return True
    numbers = sorted(numbers) if len(numbers) >= 2 * FEW else numbers
    step = max(1, numbers[1] - numbers[0]) if len(numbers) >= 5 else 0
    return step > 0 and numbers == list(range(numbers[0], numbers[0] + step * len(numbers), step))


def are_dense(numbers: Sequence[int]) -> bool:
    """Whether whole numbers, twenty at least, are different ones, and few between them are left out: what counts.

    Parameters
    ----------
    numbers
        Below 0 where a cell is none.

    Examples
    --------
    >>> are_dense([*range(100, 140), 150]), are_dense([3 * k for k in range(30)]), are_dense([0, 1])
    (True, False, False)
    """
    n = len(numbers)
    return n >= 2 * FEW and len({*numbers}) == n and min(numbers) >= 0 and 2 * (max(numbers) - min(numbers)) < 3 * n


_DOTTED = re.compile(r"(\d+)\.(\d+)")


def _are_dotted(cells: Cells) -> bool:
    """Whether numbers have two parts of which the second counts: clauses `1.1`, `1.2`, `2.1`, or posts and finds.

    It counts from 1 in every first part, or, twenty at least, in all of them (`51.001`, `32.002`), or those of one year
    (`1987.32`).
    """
    parts = [match and (int(match[1]), int(match[2])) for match in map(_DOTTED.fullmatch, {*map(_bare, cells)} - {""})]
    if len(parts) < FEW // 2 or None in parts:
        return False
    of_first = grouped(filter(None, parts))
    every = [second for some in of_first.values() for second in some]
    is_one_year = len(of_first) == 1 and min(of_first) >= LEAST_YEAR
    if (len(of_first) > 1 or is_one_year) and are_dense(every):
        return True
    return len(of_first) > 1 and all(sorted(some) == [*range(1, len(some) + 1)] for some in of_first.values())


LEAST_YEAR = 1000
"""The first part of a number of one year, at least."""


def _are_of_one_shape(cells: Cells) -> bool:
    """Whether words, half of them numbered, differ in their numbers alone, but for a last letter: `Reg. 1, c. 1r`."""
    filled = [cell.strip() for cell in present_cells(cells)]
    shape = _shape_of(filled[0]) if len(filled) >= FEW else ""
    numbered = sum("#" in word for word in shape.split())
    if not shape[:1].isalpha() or 2 * numbered < len(shape.split()):  # nearly always, and at once
        return False
    return all(_shape_of(cell) == shape for cell in filled)


def _shape_of(cell: str) -> str:
    return re.sub(r"\d+", "#", re.sub(r"(?<=\d)[a-z]$", "", cell))


def _are_too_many(cells: Cells) -> bool:
    kinds = len(set(present_cells(cells)))
    return 2 * kinds > FEW and LEAST_ROWS_A_WORD * kinds > len(cells)


def _have_small_words(cells: Cells) -> bool:
    """Whether half of the cells have a word after the first that begins with a small letter, as names do not."""
    filled = present_cells(cells)
    return 0 < len(filled) <= 2 * sum(any(word[:1].islower() for word in cell.split()[1:]) for cell in filled)


def _are_phrases(cells: Cells) -> bool:
    """Whether cells are too many phrases for categories: half have small words, or numbers (`Telekom Festnetz 281`)."""
    filled = present_cells(cells)
    words = [cell.split() for cell in filled]
    numbered = [some for some in words if some[0][:1].isalpha() and any(one.strip("#").isdecimal() for one in some)]
    are_long = sum(map(len, words)) >= LEAST_WORDS * len(filled) and len({*filled}) > FEW
    return (_have_small_words(cells) or 0 < len(filled) <= 2 * len(numbered)) and (_are_too_many(cells) or are_long)


LEAST_WORDS = 4
"""Words of a text, on average at least."""


def _are_people(cells: Cells) -> bool:
    """Whether lists may be people, whatever they are called: nobody twice in one, each in several."""
    lists = [list(map(str, elements(cell))) for cell in cells if cell]
    named = Counter(name for some in lists for name in {*some})
    return 2 < 2 * len(named) <= named.total() == sum(map(len, lists))


def _name_several(table: Proposal, name: str) -> bool:
    """Whether cells hold several labels, or a list of one, or say that a label is doubtful."""
    cells = [cell for cell in table.cells[name] if cell]
    return holds_several(cells) or any(cell[0] + cell[-1] == "[]" for cell in cells)


def _repeat_labels(cells: Cells) -> bool:
    """Whether lists say few labels, and some of them several times: each is somebody's answer.

    Where no brackets say that these are lists, people agree more than by chance: `A, C, G, C` is a motif.
    """
    lists = [[str(label_named(one)) for one in elements(cell)] for cell in cells if cell]
    words = Counter(one for some in lists for one in some)
    repeated = sum(len({*some}) < len(some) for some in lists)
    if len(words) > max(FEW, len(lists) // 4) or not FEW * repeated >= len(lists) > 0:
        return False
    return any(_bare(cell).startswith("[") for cell in cells if cell) or agree_within([Counter(some) for some in lists])


def agree_within(groups: Sequence[Counter[str]]) -> bool:
    """Whether two of one group say the same far more often than two of any, as people do of one example.

    Examples
    --------
    >>> agree_within([Counter("aab"), Counter("bb"), Counter("aa")]), agree_within([Counter("aba"), Counter("bab")])
    (True, False)
    """
    every = sum(groups, Counter[str]())
    chance = sum((times / every.total()) ** 2 for times in every.values())
    pairs = sum(some.total() * (some.total() - 1) for some in groups)
    same = sum(times * (times - 1) for some in groups for times in some.values())
    return same / max(pairs, 1) - chance > LEAST_BEYOND_CHANCE * (1 - chance)


LEAST_BEYOND_CHANCE = 0.1
"""Share of what chance leaves on which people agree, at least, where nothing says that a group is about one thing."""


def _are_states(cells: Cells) -> bool:
    """Whether cells say how far the work is: `done`, `in progress`."""
    filled = {*map(spelling, present_cells(cells))}
    return len(filled) > 1 and filled <= WORDS["progress"] | WORDS["withdrawn"] - MARKS.keys()


def _follows_occasion(table: Proposal, name: str) -> bool:
    """Whether a column is the same in all examples of a day, or all rows of one person: it is not of the thing."""
    named = table.having("task", "id")  # numbers of ten digits may be seconds, and ids
    dates = [cells for other, cells in table.raw.items() if other not in named and are_dates(cells)]
    days = [[re.split("[T ,]", cell or "")[0] for cell in cells] for cells in dates]
    people = [table.raw[who] for who in table.usual("worker", list(table.raw)) if who != name]
    first = table.first_lines()
    of_days = any(follows([table.raw[name][at] for at in first], [some[at] for at in first]) for some in days)
    return of_days or any(follows(table.raw[name], keys) for keys in people)


def _follows_round(table: Proposal, name: str) -> bool:
    """Whether a column of lines counts rounds (0, 0, 1, 1, 2 …), or is the same in each, as what was known by then."""
    examples = len({*zip(*(table.raw[task] for task in table.having("task")), strict=True)})
    rounds = [cells for cells in table.raw.values() if _count_up(cells) and 2 * len({*cells}) <= examples]
    return any(cells is table.raw[name] or follows(table.raw[name], cells) for cells in rounds)


def _count_up(cells: Cells) -> bool:
    """Whether cells count from 0 or 1 on, each number in several rows, and three at least."""
    last, first = -1, _bare(cells[0]) if cells else ""
    for cell in map(_bare, cells) if first in ("0", "1") else ():
        number = int(cell) if cell.isdecimal() else -2
        if last >= 0 and number not in (last, last + 1):  # nearly always, and soon
            return False
        last = number
    kinds = last + 1 - (first == "1")
    return kinds > 2 and 2 * kinds <= len(cells)


def _says_own_name(table: Proposal, name: str) -> bool:
    """Whether a column holds the end of its own name and nothing else, as forms write an option that was ticked."""
    kinds = {*map(_bare, table.raw[name])} - {""}
    if len(kinds) != 1:  # nearly always, and at once
        return False
    word, called = (spelling(one).rstrip("]) ") for one in (*kinds, name))
    is_name = len(word) > 1 and any(map(str.isalpha, word))
    return is_name and called.endswith(word) and not called.removesuffix(word)[-1:].isalnum()


def _varies(table: Proposal, name: str) -> bool:
    """Whether, in long form, a column differs between the lines of an example, or stands in few and not the first."""
    tasks = table.having("task")
    if not tasks:
        return False
    keys, is_filled = table.keys_of_lines(), [bool(cell and cell.strip()) for cell in table.raw[name]]
    begun, filled = {keys[at] for at in table.first_lines() if is_filled[at]}, {*compress(keys, is_filled)}
    are_few = 2 * sum(is_filled) <= sum(key in filled for key in keys)  # others are missing here and there
    return (are_few and not filled <= begun) or not table.is_function(name, *tasks)


def _is_of_occasion(table: Proposal, name: str) -> bool:
    """Whether a column is called as what is of a moment is, or a remark: a `note` that is a grade or a tone is none."""
    is_text = words_of(name)[-1:] == ("text",)  # `comment_text` is what is commented on, and read
    is_sung = says("grade", name) and is_measured(table.cells[name])  # `note_ms`, `notes_per_s`
    is_other = is_text or is_sung or _is_grade(table, name) or _is_item(table, name)
    return says_fact(name, ["context", "remark"]) and not is_other


def _is_grade(table: Proposal, name: str) -> bool:
    """Whether a column that may be called as a remark is, `Note`, holds grades."""
    return says("grade", name) and any(one is not None for one in grades_in(table.raw[name]))


def _is_item(table: Proposal, name: str) -> bool:
    """Whether a column holds phrases that all who answered an example had before them: as a `comment` may be.

    A remark that stands in every row is one where nothing else is there to read: what is noted of some examples only
    was seen afterwards.
    """
    if not which(table, "described", among=[name]):
        return False
    if not table.having("task"):
        is_told = says_fact(name, ["remark"]) and all(table.raw[name])
        others = [one for one in table.raw if one != name]
        return is_told and not {*which(table, "texts", among=others), *which(table, "phrases", among=others)}
    keys = list(zip(*(table.raw[task] for task in table.having("task")), strict=True))
    return follows(table.raw[name], keys)


def _says_who(name: str) -> bool:
    words = [word for word in words_of(name) if word not in WORDS["id"]]
    return plain_name(name) in USUAL["worker"] or not WORDS_OF_FIELDS["who"].isdisjoint(words[-1:])


def _says_whether_checked(name: str) -> bool:
    """Whether a column is called as one that says whether a row has a known answer, or is there to see who reads.

    Examples
    --------
    >>> _says_whether_checked("is_gold"), _says_whether_checked("is_catch_trial"), _says_whether_checked("is_new")
    (True, True, False)
    """
    first, *others = words_of(name) or ("",)
    return first in ("is", "was") and (says("practice", name) or not {"gold", "golden"}.isdisjoint(others))


OF_NAME: Mapping[str, Callable[[str], object]] = {
    "unnamed": lambda name: name.startswith(UNNAMED),
    "an option": OPTION_COLUMN.fullmatch,
    "named id": is_named_id,
    "an id": _CALLED_ID.fullmatch,
    "named no answer": lambda name: is_no_answer(name, among_votes=True),
    "usual label": lambda name: may_hold_labels(name) or not {"label", "labels"}.isdisjoint(words_of(name)),
    "of labels": may_hold_labels,
    "of some label": lambda name: says("labels", name),
    "of counts": says_counts,
    "of an aggregate": says_aggregate,
    "of a state": says_state,
    "of a check": _says_whether_checked,
    "how sure": lambda name: says("sure", name),
    "of a person": _says_who,
    "of a machine": lambda name: says("machine", name),
}
"""What a name says."""
OF_CELLS: Mapping[str, Callable[[Cells], bool]] = {
    "errors": lambda cells: nearly_all(is_error, cells),
    "blank": lambda cells: not any(map(_bare, cells)),
    "empty lists": lambda cells: not any(cells) and "" in cells,
    "empty": lambda cells: not present_cells(cells),
    "rows": lambda cells: len(cells) >= FEW,
    "one cell": lambda cells: len(cells) >= FEW and len({*cells}) == 1,
    "number": lambda cells: default_role(cells) == "feature",
    "word": lambda cells: default_role(cells) == "category",
    "words among numbers": lambda cells: not all(is_number(c) or is_no_answer(c) for c in present_cells(cells)),
    "marks": lambda cells: read_marks(cells) is not None,
    "measured": is_measured,
    "fractions": has_fractions,
    "dates": are_dates,
    "states": _are_states,
    "parts": lambda cells: bool(split_in([*{*present_cells(cells)}])),
    "addresses": are_addresses,
    "mails": are_mails,
    "pictures": are_pictures,
    "titles": lambda cells: are_texts(cells, 2),
    "described": _have_small_words,
    "phrases": _are_phrases,
    "texts": lambda cells: are_texts(cells, LEAST_WORDS),
    "lists": are_lists,
    "lists of numbers": are_lists_of_numbers,
    "some list of numbers": lambda cells: any(numbers_in(cell or "") for cell in cells),
    "lists of shares": are_share_lists,
    "vectors": are_vectors,
    "people": _are_people,
    "repeated labels": _repeat_labels,
    "distinct": are_distinct,
    "counts rows": _count_rows,
    "ids": _are_ids,
    "digits of ids": _have_digits_of_ids,
    "numbered names": are_numbered,
    "dotted numbers": _are_dotted,
    "of one shape": _are_of_one_shape,
    "too many words": _are_too_many,
}
"""What the cells of a column are; in long form those of the first line of each example."""
OF_TABLE: Mapping[str, Callable[[Proposal, str], bool]] = {
    "object": lambda table, name: table.objects[name] != "",
    "voters": lambda table, name: table.objects[name] == "voters",
    "other objects": lambda table, name: table.objects[name] == "others",
    "decimal commas": lambda table, name: table.commas[name],
    "labels": Proposal.may_be_label,
    "answers": Proposal.may_be_answers,
    "repeats": Proposal.repeats,
    "again": Proposal.comes_again,
    "short": lambda table, name: are_names(present_cells(table.cells[name])),
    "several": lambda table, name: holds_several(table.cells[name]),
    "several, or doubt": _name_several,
    "own name": _says_own_name,
    "of the occasion": _is_of_occasion,
    "of a fact": lambda table, name: says_fact(name) and not _is_item(table, name),
    "varying": _varies,
    "in lines": lambda table, name: bool(table.having("task")),
    "beside labels": lambda table, name: bool(table.having(*LABELLED, "vote")),
    "of a day or a person": _follows_occasion,
    "of a round": _follows_round,
}
"""What a column is in its table."""

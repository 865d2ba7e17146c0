"""The one long table of answers: who says what of which example, whatever the source looked like.

Columns of annotators, lines, columns of classes, probabilities and counts, lists and objects in cells, records of tools
and files of votes all fill it; `pll.formats.labels` alone turns it into candidate sets, votes, truth and prior.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from pll.errors import Note, RowError, UserError
from pll.formats.checks import listing, shorten
from pll.formats.forms import USUAL, WORDS, plain_name
from pll.formats.names import CLASS_COLUMN
from pll.formats.proposal import practice_in, says, says_aggregate, withdrawn_by
from pll.formats.reading import Column, form_of
from pll.formats.records import Chunks, Floats, Numbers, RowNumber, codes_of
from pll.formats.tabular.cells import (
    MINUS_ONE,
    counts_in,
    guess_separator,
    is_missing,
    is_no_answer,
    listed_answers,
    mark_in,
)

NOBODY = -1
"""Whose an answer is where nobody knows, or that is nobody's (the file's own candidates, say)."""
WHOLE_NAME = 4
"""Letters of a name from which its case and spaces tell nobody apart."""
ANSWER_KINDS = ("vote", "set", "share", "truth")
"""What an answer is: a voter's, a candidate set, how often or how likely a label is, the truth."""

Filled: TypeAlias = tuple[Column, Chunks]
"""A column that is about labels, and its cells as text."""
Marks: TypeAlias = npt.NDArray[np.bool_]
"""Of rows, or of answers, something that is so of some."""

BETWEEN_ANSWERS = " · "
"""Between what several columns call an example."""


@dataclass(frozen=True, eq=False)
class Chunk:
    """Answers of one kind that stand together, as one column of the source: a cell is read once, however often it is.

    Attributes
    ----------
    kind
        One of `ANSWER_KINDS`.
    example
        (m,) int64, the example of each answer.
    who
        (m,) int64, whose it is; `NOBODY` where nobody knows.
    codes
        (m,) int64, which of the different cells each answer is.
    cells
        The different cells, as they stand.
    row
        (m,) int64, positions in the source, for messages.
    row_of
        The number that a message gives to a position.
    column
        What a message calls the column.
    weight
        (m,) float64, confidence, count or probability; NaN where there is none; or None.
    separator
        Between several labels in a cell.
    values
        What each of the cells means, once it is read, of a column a class from the beginning: names, each with the
        confidence of a vote, or how often or how likely it is in a set; NaN where the cell does not say.
    are_weighed
        Whether a set says how often or how likely its labels are.
    are_numbers
        Whether the cells are the numbers of classes, and not their names.
    are_attempts
        Whether several answers of a voter to an example are several attempts at one, and not one answer of several
        labels.
    """

    kind: str
    example: Numbers
    who: Numbers
    codes: Numbers
    cells: list[str]
    row: Numbers
    row_of: RowNumber = int
    column: str = ""
    weight: Floats | None = None
    separator: str = "|"
    values: Sequence[Mapping[str, float]] = ()
    are_weighed: bool = False
    are_numbers: bool = False
    are_attempts: bool = False

    def times(self) -> list[int]:
        """How often each of the cells stands there."""
        times: list[int] = np.bincount(self.codes, minlength=len(self.cells)).tolist()
        return times

    def names(self) -> Iterator[tuple[int, str]]:
        """Yield (code, name) of every name that a cell means."""
        return ((code, name) for code, names in enumerate(self.values) for name in names)

    def place(self, code: int) -> str:
        """Return the first row with this cell, for a message."""
        return f"Row {self.row_of(int(self.row[np.argmax(self.codes == code)]))}, column {self.column}"

    def mapped(self, read_cell: Callable[[str], Any]) -> list[Any]:
        """Return what a function makes of each different cell.

        Raises
        ------
        UserError
            What the function raised, with the row, the column and the cell.
        """
        values = []
        for code, cell in enumerate(self.cells):
            try:
                values.append(read_cell(cell))
            except UserError as error:
                raise RowError(f"{self.place(code)} holds {shorten(cell)}: {error}.") from None
        return values

    def said(self) -> Iterator[tuple[int, str, int]]:
        """Yield (who, cell, how often) of each different answer."""
        pairs, times = np.unique(self.who * len(self.cells) + self.codes, return_counts=True)
        for pair, n in zip(pairs.tolist(), times.tolist(), strict=True):
            who, code = divmod(pair, len(self.cells))
            yield who, self.cells[code], n

    def spread(self) -> tuple[Numbers, Numbers]:
        """(k,) which answer, and (k,) which of `names`, of every name in every answer, one after the other."""
        sizes = np.array([len(names) for names in self.values], dtype=np.int64)
        counts = sizes[self.codes]
        within = np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)
        starts = np.repeat((np.cumsum(sizes) - sizes)[self.codes], counts)
        return np.repeat(np.arange(len(self.codes)), counts), starts + within

    def numbers(self, number: Mapping[str, int]) -> Numbers:
        """The class of each of `names`."""
        return np.array([number[name] for _, name in self.names()], dtype=np.int64)

    def weights(self) -> Floats:
        """The confidence, or how often or how likely it is, of each of `names`."""
        return np.array([weight for names in self.values for weight in names.values()], dtype=np.float64)

    def numbered(self) -> tuple[Numbers, Floats]:
        """(k,) the examples, and (k,) how often or how likely it is, of each name in every answer, as `spread`."""
        at, within = self.spread()
        return self.example[at], self.weights()[within] if self.weight is None else self.weight[at]

    def only(self, stays: Marks) -> Chunk:
        """Return some of the answers."""
        weight = None if self.weight is None else self.weight[stays]
        parts = {name: getattr(self, name)[stays] for name in ("example", "who", "codes", "row")}
        return replace(self, weight=weight, **parts)


@dataclass(frozen=True, eq=False)
class Answers:
    """All answers of a source.

    Attributes
    ----------
    chunks
        Its parts.
    n
        Number of examples.
    ids
        Names of the examples, where the answers themselves name them; else None.
    example
        (rows,) the example of each row of the source; None where each row is one.
    people
        The voters, by number.
    anonymous
        Whether nobody knows who the voters are: they are then the first, second, … answer on an example.
    are_rows
        Whether the names of the examples may be numbers of rows.
    are_free
        Whether the answers are what models wrote: where nobody lists the classes, they are proposed.
    failed
        Number of requests to a model that have no answer.
    notes
        What to say of the source.
    class_names
        All classes in order, where the source has them.
    """

    chunks: tuple[Chunk, ...]
    n: int
    ids: Sequence[str] | None = None
    example: Numbers | None = None
    people: tuple[str, ...] = ()
    anonymous: bool = False
    are_rows: bool = False
    are_free: bool = False
    failed: int = 0
    notes: tuple[str, ...] = ()
    class_names: tuple[str, ...] = ()

    def of(self, *kinds: str) -> list[Chunk]:
        """The parts of some kinds."""
        return [chunk for chunk in self.chunks if chunk.kind in kinds]

    def counted(self) -> Answers:
        """The same with votes of nobody knows whom, where sets and shares count them: whole numbers are in all of them.

        Where all make up 100, but for rounding, they are percents, and where all make up 1, marks.
        """
        weighed = self.of("set", "share")
        numbers = [chunk.numbered() for chunk in weighed if chunk.are_weighed or chunk.kind == "share"]
        are_whole = 0 < len(numbers) == len(weighed) and all((some == np.rint(some)).all() for _, some in numbers)
        if self.of("vote") or not are_whole:
            return self
        place = dict[str, int]()
        codes = [[place.setdefault(name, len(place)) for _, name in chunk.names()] for chunk in weighed]
        which = [np.array(some)[chunk.spread()[1]] for some, chunk in zip(codes, weighed, strict=True)]
        example, times = np.concatenate([at for at, _ in numbers]), np.concatenate([some for _, some in numbers])
        totals = np.bincount(example, times, minlength=self.n)
        are_percents = bool((np.abs(totals[totals > 0] - 100) <= ROUNDED_POINTS).all())
        if totals.max(initial=0) <= 1 or are_percents or totals.sum() > MOST_VOTES_COUNTED_SINGLY:
            return self
        example, code = (np.repeat(some, times.astype(np.int64)) for some in (example, np.concatenate(which)))
        values = [{name: math.nan} for name in place]
        one = weighed[0]
        votes = Chunk(
            "vote", example, times_before(example), code, [*place], example, one.row_of, one.column, values=values
        )
        people = answer_names(int(totals.max()))
        return replace(self, chunks=(*self.of("truth"), votes), people=people, anonymous=True)


MOST_VOTES_COUNTED_SINGLY = 2 * 10**6
"""Votes in counts, at most, for each to be an answer of its own: 200 bytes each."""
ROUNDED_POINTS = 2
"""How far a sum of rounded percents may be from 100."""


def whole_column(name: str, cells: Chunks, row_of: RowNumber) -> Chunk:
    """Return a column of which every cell is read; null is "".

    Parameters
    ----------
    name
        What a message calls the column.
    cells
        Its cells.
    row_of
        The number that a message gives to a row.
    """
    codes, distinct = codes_of(pc.fill_null(cells, ""))
    every = np.arange(len(codes))
    return Chunk("", every, np.full(len(codes), NOBODY, dtype=np.int64), codes, distinct, every, row_of, name)


def answers_in(columns: Sequence[Filled], rows: int, row_of: RowNumber, *, counts: Sequence[str] = ()) -> Answers:
    """Return the answers in the columns of a table, by their roles.

    Parameters
    ----------
    columns
        Those with a role that is about labels, with their cells.
    rows
        Number of rows of the table.
    row_of
        The number that a message gives to a row.
    counts
        States of an answer that counts, in small letters, or those that do not, as "!state"; by default those that
        are called as what was withdrawn do not.

    Raises
    ------
    UserError
        A line without an example or a person, scores of nobody, a cell that cannot be read: the row is named.
    """
    return _Filler(columns, rows, row_of, counts).answers()


class _Filler:
    """What fills the table of answers: each role of a column in its own way, and nothing else."""

    def __init__(self, columns: Sequence[Filled], rows: int, row_of: RowNumber, counts: Sequence[str]) -> None:
        self.columns, self.rows, self.row_of = columns, rows, row_of
        self.counts = counts or tuple(f"!{word}" for word in WORDS["withdrawn"])
        self.anonymous, self.notes = False, list[str]()
        self.form = form_of([column for column, _ in columns])
        self.example, self.ids = np.arange(rows), list[str]()
        self.nobody = self.who = np.full(rows, NOBODY, dtype=np.int64)
        self.people: dict[str, int] = {}
        self.chunks: list[Chunk] = []
        self.states = [cells for _, cells in self.having("state")][:1]
        self.counted = np.ones(rows, dtype=np.bool_)  # whether an answer counts, by its state
        self.practice = np.zeros(rows, dtype=np.bool_)  # whether its example is no example either
        for column, states in reversed(self.having("state")):  # of several the first says it
            codes, distinct = codes_of(pc.fill_null(states, ""))
            practice = np.array(practice_in(column.name, distinct), dtype=np.bool_)
            marked = withdrawn_by(column.name, distinct)
            counts_here = [counts_in(cell, self.counts) for cell in distinct] if marked is None else ~np.array(marked)
            does_count = ~practice & (np.array(counts_here, dtype=np.bool_) | says("practice", column.name))
            self.counted, self.practice = does_count[codes], practice[codes]
            times = np.bincount(codes, minlength=len(distinct))[~does_count]
            if times.sum() and not self.having("answers"):  # of a list, each answer has a state of its own
                out = [cell for cell, counts in zip(distinct, does_count, strict=True) if not counts]
                said = listing([f"{state} ({n:,})" for state, n in zip(out, times.tolist(), strict=True)])
                text = f"{times.sum():,} lines do not count, by {column.name}: {said}."
                self.notes.append(Note(text, kind="states"))

    def having(self, *roles: str) -> list[Filled]:
        return [one for one in self.columns if one[0].role in roles]

    def answers(self) -> Answers:
        if self.form == "person":
            self._persons()
        elif self.form == "answer":
            self._lines()
        if self.form != "person":
            self._cells()
            self._class_columns()
            self._shares()
            self._listed()
        if self.form == "answer" and {chunk.kind for chunk in self.chunks} <= {"vote", "truth"}:
            said = np.concatenate([chunk.row for chunk in self.chunks if chunk.kind == "vote"] or [self.example[:0]])
            is_line = self.counted & (self.example != NOBODY)
            if empty := int(is_line.sum() - is_line[np.unique(said)].sum()):
                self.notes.append(f"Lines without an answer: {empty:,}.")
        are_ours = len(self.people) > 1 and {*self.people} == {*answer_names(len(self.people))}  # written by us
        return Answers(
            tuple(self.chunks),
            self.rows if self.form == "example" else len(self.ids),
            None if self.form == "example" else self.ids,
            self.example if self.form == "answer" else None,
            tuple(self.people),
            self.anonymous or are_ours,
            notes=tuple(self.notes),
        )

    # ---- forms -------------------------------------------------------------------------------------------------------

    def _lines(self) -> None:
        """The example and the person of each line; lines that do not count are nobody's and have no example (−1)."""
        tasks, workers = self.having("task"), self.having("worker")
        votes = self.having("vote") or self.having("class")
        if not (tasks and votes):
            raise UserError(
                "In long form a table has a column of tasks, one of labels, and mostly one of annotators; say which is "
                "which (task, vote, worker)."
            )
        said = [codes_of(cells) for _, cells in votes]
        is_answer = np.logical_or.reduce([filled_rows(*one) for one in said]) & ~self.practice
        said = [(codes, ["" if is_no_answer(cell) else cell for cell in cells]) for codes, cells in said]
        is_about = is_answer & np.logical_or.reduce([filled_rows(*one) for one in said])  # no answer is about nothing
        self.example, self.ids = self._named("task", tasks, is_about, only=~self.practice)
        if workers:
            self._leave_aggregates(workers)
            self.who, people = self._named("annotator", workers, is_answer & self.counted)
        else:  # the first, second, … answer to each example
            self.anonymous, self.who = True, times_before(self.example)
            people = list(answer_names(int(self.who.max(initial=-1)) + 1))
        self.people = {name: k for k, name in enumerate(people)}

    def _leave_aggregates(self, workers: Sequence[Filled]) -> None:
        """Lines of nobody, that others' answers were made into, do not count: those of `consensus`."""
        codes, names = names_in([cells for _, cells in workers])
        made = [name for name in names if says_aggregate(name)]
        if 0 < len(made) < len(names) - 1:
            is_made = np.array([name in made for name in names] + [False])[codes] & self.counted
            text = f"{is_made.sum():,} lines of {listing(made)} do not count: others' answers were made into them."
            self.counted = self.counted & ~is_made
            self.notes.append(Note(text, kind="states"))

    def _named(
        self, what: str, columns: Sequence[Filled], is_needed: Marks, only: Marks | None = None
    ) -> tuple[Numbers, list[str]]:
        """Codes of the names in columns, and these; of whom nothing counts is no voter: where needed, or `only`."""
        codes, names = names_in([cells for _, cells in columns], is_needed if only is None else only)
        missing = np.flatnonzero((codes == NOBODY) & is_needed)
        if len(missing):
            row = self.row_of(int(missing[0]))
            raise RowError(f"Row {row}, column {what} is empty; every line needs its {what}.")
        return codes, names

    def _persons(self) -> None:
        """A row is a person: the columns are the examples."""
        who, people = self.example, [f"person {k + 1}" for k in range(self.rows)]
        if named := self.having("person"):
            who, people = self._named("person", named, self.counted)
        keys = {*USUAL["true_label"], *WORDS["adjudicated"]}
        bare = [plain_name(name.partition(" (")[0]) for name in people]  # `Key (genetics)`
        alike = Counter(re.sub(r"\d+", "", name) for name in people)  # `Lab 1`, `Lab 2` are people
        alone = [k for k, name in enumerate(people) if alike[re.sub(r"\d+", "", name)] == 1]
        known = [k for k in alone if says("settled", people[k]) or bare[k] in keys]
        is_truth = np.isin(who, known) if len(known) == 1 else np.zeros(self.rows, dtype=np.bool_)
        said = [filled_rows(*codes_of(cells)) for _, cells in self.having("item")]
        answered = np.logical_or.reduce(said) & ~is_truth  # who said nothing is no voter
        voters = np.unique(who[answered])
        self.people = {people[k]: at for at, k in enumerate(voters.tolist())}
        who = np.where(answered, np.searchsorted(voters, who), NOBODY)
        for at, (column, cells) in enumerate(self.having("item")):
            self.example, self.ids = np.full(self.rows, at, dtype=np.int64), [*self.ids, column.display_name]
            self._column("vote", column.name, pc.if_else(pa.array(is_truth), None, cells), who)
            if is_truth.any():
                self._column("truth", column.name, pc.if_else(pa.array(is_truth), cells, None), self.nobody)

    # ---- roles -------------------------------------------------------------------------------------------------------

    def _cells(self) -> None:
        """The columns whose cells are labels: of a voter, or of the voter of the line, of candidates, the truth."""
        scores = {column.display_name: self._scores(column, cells) for column, cells in self.having("score")}
        voters = {column.display_name for column, _ in self.having("annotator")}
        nobodys = next((name for name in scores if self.form == "example" and name not in voters), None)
        if nobodys is not None:
            raise UserError(
                f"There are scores of {shorten(nobodys)}, but no annotator of that name: the column of the scores of "
                "gpt is called gpt_score. Say what the column is, or leave it out."
            )
        for column, cells in self.columns:
            role, name = column.role, column.display_name
            if role == "annotator":  # of whoever is asked about beside the lines
                who = np.full(self.rows, self.people.setdefault(name, len(self.people)), dtype=np.int64)
                self._column("vote", f"{name} (an annotator)", cells, who, scores.get(name))
            elif role == "vote" and self._weights():
                self._weighed(cells)
            elif role == "vote":
                self._column("vote", "label", cells, self.who, next(iter(scores.values()), None))
            elif role in ("candidates", "candidate") and self.form == "example":
                self._column("set", column.name, cells, self.nobody)
            elif role == "true_label":
                self._column("truth", "true_label", cells, self.nobody)

    def _scores(self, column: Column, cells: Chunks) -> Floats:
        """(rows,) the confidences in a column, NaN where there is none."""
        chunk = whole_column(f"score of {shorten(column.display_name)}", cells, self.row_of)
        return np.array(chunk.mapped(_score), dtype=np.float64)[chunk.codes]

    def _column(self, kind: str, name: str, cells: Chunks, who: Numbers, weight: Floats | None = None) -> None:
        """Put the cells of a column that hold anything into the table, as far as they count."""
        codes, distinct = codes_of(cells)
        rows = filled_rows(codes, distinct) & (self.example != NOBODY)
        mark = guess_separator(distinct)
        if kind == "vote" and mark == "," and sum(mark in cell for cell in distinct) < 2:
            mark = "|"  # the name of one class
        mark = " " if kind == "set" and mark == "|" and _are_words_apart(distinct) else mark
        stays = rows & self.counted if kind == "vote" else rows
        used = {*np.unique(codes[stays]).tolist()}  # as `null` is not, where it stands beside no example alone
        distinct = [cell if k in used or not is_no_answer(cell) else "" for k, cell in enumerate(distinct)]
        chunk = Chunk(kind, self.example, who, codes, distinct, np.arange(self.rows), self.row_of, name, weight, mark)
        self.chunks.append(chunk.only(stays))

    def _class_columns(self) -> None:
        """A column a class: its name where it is marked; −1 is a doubt where others say 0, and else a no."""
        columns, doubts = self.having("class"), 0
        says_no = cache(lambda: any(mark_in(cell) is False for _, cells in columns for cell in codes_of(cells)[1]))
        for column, cells in columns:
            name, chunk = column.display_name, whole_column(column.display_name, cells, self.row_of)
            # people leave cells empty; where we name the columns, each is to say yes or no
            must_say = CLASS_COLUMN.fullmatch(column.name) and any(mark_in(cell) is False for cell in chunk.cells)
            minus = [code for code, cell in enumerate(chunk.cells) if cell.strip() in MINUS_ONE and not must_say]
            is_doubt = bool(minus) and says_no()
            doubts += int(np.isin(chunk.codes, minus).sum()) if is_doubt else 0
            mark = _mark if must_say else partial(_mark_or_nothing, is_doubt=is_doubt)
            marked = np.asarray(chunk.mapped(mark), dtype=np.bool_)[chunk.codes]
            is_vote = self.form == "answer"
            rows = np.flatnonzero(marked & self.counted if is_vote else marked)
            who = (self.who if is_vote else self.nobody)[rows]
            kind, means = "vote" if is_vote else "set", [{name: math.nan}]
            example, none = self.example[rows], np.zeros_like(rows)
            self.chunks.append(Chunk(kind, example, who, none, [name], rows, self.row_of, name, values=means))
        if doubts:
            text = f"−1 says in {doubts:,} cells that a class is not sure: it is a candidate there."
            self.notes.append(Note(text, kind="labels"))

    def _weights(self) -> list[Filled]:
        return self.having("probability") or self.having("count")

    def _weighed(self, cells: Chunks) -> None:
        """Lines that say how likely or how often a label is: a label in one column, a number in another one."""
        column, numbers = self._weights()[0]
        weights = shares_in([whole_column(column.name, numbers, self.row_of)])[:, 0]
        codes, distinct = codes_of(cells)
        for code, name in enumerate(distinct):
            rows = np.flatnonzero((codes == code) & (self.example != NOBODY) & self.counted)
            self.chunks += share_chunks([name.strip()], weights[rows, None], self.example[rows]) if name.strip() else []

    def _shares(self) -> None:
        """Columns of counts or of probabilities, one a class."""
        columns = self._weights() if self.form == "example" else []
        if columns:
            names = [column.display_name for column, _ in columns]
            shares = shares_in([whole_column(column.display_name, cells, self.row_of) for column, cells in columns])
            self.chunks += share_chunks(names, shares, self.example)

    def _listed(self) -> None:
        """All answers to an example in one cell: a list (with one of people beside it), or who answered what."""
        people = [cells for _, cells in self.having("people")][:1]
        nothing = [None] * self.rows
        beside = [some[0].to_pylist() if some else nothing for some in (people, self.states)]
        for column, cells in self.having("answers"):
            found: list[tuple[int, str | None, str, float]] = []
            memory: dict[tuple[str | None, ...], Any] = {}
            for row, key in enumerate(zip(cells.to_pylist(), *beside, strict=True)):
                if key not in memory:
                    memory[key] = _of_cell(key, self.counts, f"Row {self.row_of(row)}, column {column.name}")
                found += ((row, *one) for one in memory[key])
            rows = np.array([row for row, *_ in found], dtype=np.int64)
            names: Iterable[str | None] = (one[1] for one in found)
            if not people and not any(one[1] for one in found):  # the first, second, … answer on a row
                per_row = np.bincount(rows, minlength=self.rows)
                is_matrix = len(set(per_row.tolist())) == 1 and any(_abstains(one[2]) for one in found)
                self.anonymous = not is_matrix
                names = (f"{column.name if is_matrix else 'answer'} {k + 1}" for k in times_before(rows).tolist())
            place = dict[str, int]()
            codes = np.array([place.setdefault(one[2], len(place)) for one in found], dtype=np.int64)
            who = np.array([self.people.setdefault(name or "?", len(self.people)) for name in names], dtype=np.int64)
            weight = np.array([one[3] for one in found], dtype=np.float64)
            example, mark = self.example[rows], guess_separator(place)
            chunk = Chunk("vote", example, who, codes, [*place], rows, self.row_of, column.name, weight, mark)
            self.chunks.append(chunk)


def answer_names(n: int) -> tuple[str, ...]:
    """Return what the first, second, … answer to each example are called, where nobody says who gave them.

    >>> answer_names(2)
    ('answer 1', 'answer 2')
    """
    return tuple(f"answer {k + 1}" for k in range(n))


def times_before(codes: Numbers) -> Numbers:
    """(n,) how often each code stood before, from 0.

    >>> times_before(np.array([3, 5, 3, 3])).tolist()
    [0, 0, 1, 2]
    """
    order = np.argsort(codes, kind="stable")
    _, starts, counts = np.unique(codes[order], return_index=True, return_counts=True)
    times = np.empty_like(codes)
    times[order] = np.arange(len(codes)) - np.repeat(starts, counts)
    return times


def _of_cell(key: tuple[str | None, ...], counts: Sequence[str], where: str) -> list[tuple[str | None, str, float]]:
    try:
        return listed_answers(*key, counts=counts)
    except UserError as error:
        raise RowError(f"{where} holds {shorten(key[0] or '')}: {error}.") from None


def _are_words_apart(cells: Sequence[str]) -> bool:
    """Whether cells are words with a space between, each of which is a cell alone elsewhere: `cat dog` beside `cat`."""
    words = [cell.split() for cell in cells if cell.strip()]
    alone = {some[0] for some in words if len(some) == 1}
    several = [some for some in words if len(some) > 1]
    return len(several) > 1 and all(alone.issuperset(some) for some in several)


def _abstains(cell: str) -> bool:
    return cell.strip() in ("-1", "-1.0") or cell.strip().casefold() == "abstain"


def names_in(columns: Sequence[Chunks], only: Marks | None = None) -> tuple[Numbers, list[str]]:
    """Return (rows,) which name each row has, −1 where it has none, and the names in the order of first appearance.

    Parameters
    ----------
    columns
        Of which the cells of a row name something together: as many of the first as tell the rows apart.
    only
        (rows,) which rows have a name; None for all.

    Examples
    --------
    >>> ids, models = (pa.chunked_array([cells]) for cells in (["81", None, " 81"], ["gpt", None, "llama"]))
    >>> codes, names = names_in([ids, models])
    >>> codes.tolist(), names, names_in([ids, ids])[1]
    ([0, -1, 1], ['81 · gpt', '81 · llama'], ['81'])
    """
    cells = columns[0]
    if len(columns) > 1:
        given = zip(*(chunks.to_pylist() for chunks in columns), strict=True)
        rows = [tuple((cell or "").strip() for cell in row) for row in given]
        every = {row for row in rows if any(row)}
        named = [row for row in every if row[0]]
        least = next((k for k in range(1, len(columns)) if len({row[:k] for row in named}) == len(every)), None)
        together = [BETWEEN_ANSWERS.join(row[:least]) if any(row) else None for row in rows]
        cells = pa.chunked_array([pa.array(together, pa.string())])
    cells = cells if only is None else pc.if_else(pa.array(only), cells, None)
    codes, distinct = codes_of(pc.fill_null(cells, ""))
    place: dict[str, int] = {}
    code_of = [place.setdefault(name, len(place)) if name else NOBODY for name in _alike(distinct)]
    return np.array(code_of, dtype=np.int64)[codes], list(place)


_NUMBERED = re.compile(r"^([^\W\d_]+)[-_.](\d+)$")


def _alike(names: Sequence[str]) -> list[str]:
    """Names, trimmed, as they are first written: case and spaces are slips, but in short ones.

    >>> _alike(["C-013", "c - 013", "C013", "1-1", "11", "A", "a"])
    ['C-013', 'C-013', 'C-013', '1-1', '11', 'A', 'a']
    """
    first: dict[str, str] = {}
    bare = [*map(str.strip, names)]
    keys = {name: _NUMBERED.sub(r"\1\2", "".join(name.casefold().split())) for name in bare}
    return [first.setdefault(keys[name] if len(keys[name]) >= WHOLE_NAME else name, name) for name in bare]


def filled_rows(codes: Numbers, cells: Sequence[str]) -> Marks:
    """Return (rows,) whether a cell holds anything.

    Parameters
    ----------
    codes, cells
        As `codes_of` returns them: of each row which cell, −1 for null; and the different cells.
    """
    return np.array([bool(cell.strip()) for cell in cells] + [False])[codes]  # the last one: null


def _score(cell: str) -> float:
    try:
        return math.nan if is_missing(cell) else float(cell.replace(",", "."))  # a decimal comma
    except ValueError:
        raise UserError("write a number, or leave the cell empty") from None


_OR_FEATURES = "; or give the column another role (feature, keep)"


def _mark_or_nothing(cell: str, *, is_doubt: bool) -> bool:
    """Whether a cell marks its row; one of −1 does where it is a doubt."""
    return is_doubt if cell.strip() in MINUS_ONE else not is_missing(cell) and _mark(cell)


def _mark(cell: str) -> bool:
    mark = mark_in(cell)
    if mark is None:
        raise UserError(f"write 1 for a candidate and 0 for any other class{_OR_FEATURES}")
    return mark


def shares_in(columns: Sequence[Chunk]) -> Floats:
    """Return (n, columns) float64, how likely or how often each class is.

    Where the rows without a missing cell, at least half of all, have one sum, the missing cells of a row share what is
    left of it: .3 and .1 beside a missing one leave .6. Else a missing cell is 0, as in a list of the likeliest few;
    and so are all of a row that has none.

    Raises
    ------
    UserError
        A cell that is no such number; the row is named.
    """
    read = [np.array(column.mapped(_share), dtype=np.float64)[column.codes] for column in columns]
    shares = np.stack(read, axis=1)
    missing = np.isnan(shares)
    shares[missing] = 0.0
    totals, n_missing = shares.sum(axis=1), missing.sum(axis=1)
    whole = totals[n_missing == 0]
    if 0 < len(shares) <= 2 * len(whole) and np.allclose(whole, whole[0], rtol=0.02, atol=0.0):
        rest = np.maximum(whole[0] - totals, 0.0) / np.maximum(n_missing, 1)
        shares += np.where(missing & (totals > 0)[:, None], rest[:, None], 0.0)
    return shares


def share_chunks(names: Sequence[str], shares: Floats, example: Numbers) -> list[Chunk]:
    """Return (rows, names) shares of classes as answers, a column a class.

    Parameters
    ----------
    names
        Of the classes.
    shares
        (rows, names) at least 0.
    example
        (rows,) the example of each row.
    """
    nobody, none = np.full(len(example), NOBODY, dtype=np.int64), np.zeros(len(example), dtype=np.int64)
    every = np.arange(len(example))
    return [
        Chunk("share", example, nobody, none, [name], every, column=name, weight=weight, values=[{name: math.nan}])
        for name, weight in zip(names, shares.T, strict=True)
    ]


_COMMA = re.compile(r"(?<=^0),|(?<=^1),(?=0*$)|(?<=\d),(?=\d{1,2}\s*$)")
"""The decimal comma of a share, which is no comma between thousands."""


def _share(cell: str) -> float:
    """Return how likely a class is; NaN where the cell is missing."""
    if is_missing(cell):
        return math.nan
    try:
        share = float(_COMMA.sub(".", cell.strip().removesuffix("%")))
    except ValueError:
        share = math.nan
    if not 0 <= share < math.inf:
        raise UserError(f"write a probability from 0 to 1{_OR_FEATURES}")
    return share

"""Lines of answers to several questions, each the answer to one, which a column names: a column a question instead."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

import pyarrow as pa

from pll.formats.checks import listing
from pll.formats.forms import USUAL, WORDS_OF_FIELDS, plain_name, words_of
from pll.formats.records import Records, text_of
from pll.formats.results import free_name
from pll.formats.tabular.cells import FEW, NEARLY_ALL, Cells, are_dates, is_number

MOST_QUESTIONS = 12
"""More words of a column name examples."""
LEAST_ANSWERED = 0.8
"""Share of the lines with an answer; and of all questions that each person has of an example; at least."""
MOST_COLUMNS_OF_LINES = 40
"""A table of more columns has no line for each answer."""


def with_questions(table: Records, given: Mapping[str, str]) -> Records:
    """Return a table in which the lines of a person on an example, one a question, are one, with a column a question.

    The answers to each question are words of its own, or the column is called as a question is; each example of another
    column has nearly all questions, and a third one says who answered each of them once. What else differs between the
    lines is carried along.

    Parameters
    ----------
    table
        Without a signature.
    given
        Roles that a person gave: with one for the questions, or the answers, the lines stay as they are.

    Examples
    --------
    >>> lines = [(k, who, asked) for k in range(8) for who in "AB" for asked in ("tone", "topic")]
    >>> said = {"tone": ["calm", "loud"], "topic": ["art", "law"]}
    >>> which = [said[asked][(k % 5 + (who == "B")) % 2] for k, who, asked in lines]
    >>> cells = {"item": [str(k) for k, _, _ in lines], "coder": [who for _, who, _ in lines]}
    >>> cells |= {"asked": [asked for *_, asked in lines], "said": which}
    >>> table = with_questions(Records.of(cells, first=list(cells.values())), {})
    >>> table.names, table.rows, next(table.lines())
    (['item', 'coder', 'tone', 'topic'], 16, ('0', 'A', 'calm', 'art'))
    """
    if len(table.names) > MOST_COLUMNS_OF_LINES:
        return table
    cells = {name.strip(): some for name, some in zip(table.names, table.first, strict=True)}
    free = {name: some for name, some in cells.items() if name not in given and name not in table.roles}
    for asked in (name for name, some in free.items() if _may_ask(some)):
        for said in _answers(asked, free):
            others = {name: some for name, some in cells.items() if name not in (asked, said)}
            if keys := _keys(others, cells[asked], cells[said]):
                return _turned(table, asked, said, keys)
    return table


def _may_ask(cells: Cells) -> bool:
    """Whether a column may name the question of each line."""
    words = Counter(cells)
    few = 1 < len(words) <= MOST_QUESTIONS and min(words.values()) >= FEW // 2
    return few and all(words) and not any(map(is_number, filter(None, words))) and not are_dates(cells)


def _answers(asked: str, columns: Mapping[str, Cells]) -> list[str]:
    """Return what may be the answers: their words recur, and those of each question are its own, or names say so."""
    apart, again = [], []
    for name in (name for name, some in columns.items() if name != asked and 2 * len({*some}) <= len(some)):
        said: dict[str | None, Counter[str]] = {}
        for question, cell in zip(columns[asked], columns[name], strict=True):
            if cell:
                said.setdefault(question, Counter())[cell.strip().casefold()] += 1
        many = sum(words.total() for words in said.values()) >= LEAST_ANSWERED * len(columns[name])
        recur = said.keys() == {*columns[asked]} and all(2 * len(words) <= words.total() for words in said.values())
        if not (many and recur) or are_dates(columns[name]):
            continue
        again.append(name)
        kinds = [len(words) for words in said.values()]
        if sum(kinds) == len(set().union(*said.values())) and min(kinds) > 1:
            apart.append(name)
    is_called = not WORDS_OF_FIELDS["question"].isdisjoint(words_of(asked))
    called = [name for usual in CALLED for name in again if plain_name(name) == usual] if is_called else []
    return [*apart, *called]


CALLED = (*USUAL["vote"], "score", "grade")
"""What answers to questions on one scale are called, the likelier first."""


def _keys(columns: Mapping[str, Cells], questions: Cells, answers: Cells) -> tuple[str, str] | None:
    """Return the columns of the example, of which each has all questions, and of who answered each of them once.

    The answers to a question follow from neither: else they are what all had before them.
    """
    many, every, kinds = len(questions), len({*questions}), len({*filter(None, answers)})
    sizes = {name: len({*cells}) for name, cells in columns.items() if all(cells)}
    again = [name for name, size in sizes.items() if 2 * size <= many and not are_dates(columns[name])]
    asked = {name: len({*zip(columns[name], questions, strict=True)}) for name in again}
    said = {name: len({*zip(columns[name], questions, answers, strict=True)}) for name in again}
    may_be = [name for name in again if said[name] > asked[name]]
    whole = [name for name in may_be if asked[name] >= NEARLY_ALL * sizes[name] * every]
    for one, other in ((one, other) for one in whole for other in may_be if other != one):
        pairs = list(zip(columns[one], columns[other], strict=True))
        n, larger = len({*pairs}), max(sizes[one], sizes[other])
        is_of_people = asked[other] == sizes[other] < sizes[one]  # each answers one; else it is a fact about an example
        is_each = is_of_people or (other in whole and many >= LEAST_ANSWERED * n * every)
        are_examples = 2 * larger <= n and larger > max(every, kinds)  # else these are what is asked about
        if is_each and are_examples and len({*zip(pairs, questions, strict=True)}) >= NEARLY_ALL * many:
            return one, other
    return None


def _turned(table: Records, asked: str, said: str, keys: tuple[str, str]) -> Records:
    """Return the table with a line for each pair of keys, and a column for each question."""
    at = {name.strip(): k for k, name in enumerate(table.names)}
    whole = table.whole()
    texts = {name: text_of(whole.column(k)).to_pylist() for name, k in at.items()}
    questions = list(dict.fromkeys(texts[asked]))
    if len(questions) > MOST_QUESTIONS or not all(questions):
        return table
    times, lines = Counter[object](), dict[object, int]()
    again, first, places = [], list[int](), dict[str, list[int | None]]({question: [] for question in questions})
    for row, line in enumerate(zip(texts[keys[0]], texts[keys[1]], texts[asked], strict=True)):
        again.append(lines.setdefault((*line[:2], times[line]), len(lines)))
        times[line] += 1  # who answered a question twice answered once more
        if len(lines) > len(first):
            first.append(row)
            for some in places.values():
                some.append(None)
        places[line[2]][again[-1]] = row
    parts, roles, codes = dict[str, pa.ChunkedArray](), dict(table.roles), dict(table.codes)
    for name in (name for name in at if name != asked):
        if name != said and len({*zip(again, texts[name], strict=True)}) == len(lines):  # the same in all of a line
            parts[free_name(name, parts)] = whole.column(at[name]).take(pa.array(first))
            continue
        for question, rows in places.items():
            new = free_name(question if name == said else f"{name} ({question})", [*parts, *at])
            parts[new] = whole.column(at[name]).take(pa.array(rows, pa.int64()))
            codes |= {new: codes[name]} if name in codes and new not in codes else {}
            if name != said:
                roles[new] = "keep"
    made = Records.of(pa.table(list(parts.values()), names=list(parts)))
    return replace(
        table,
        names=made.names,
        batches=made.batches,
        rows=len(lines),
        row_of=lambda line: table.row_of(first[line]),
        roles=roles,
        codes=codes,
        notes=(*table.notes, f"A line answers one question, as {asked} says: {listing(questions)}; a column each."),
        first=made.sample(),
        again=[again[row] for row in table.again] or again,
    )

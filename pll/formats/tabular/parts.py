"""Several tables that are one: a sheet, or a file in a ZIP archive or a folder, a person.

Tables that are about the same examples are the answers of one person each, whatever their columns are called; the name
of the sheet or of the file is the person. Tables of items, truth or people are joined to the answers by the column that
names them. Others, as parts of one export, are one table, one after the other.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence, Set
from dataclasses import replace
from itertools import combinations, pairwise, permutations, takewhile
from pathlib import PurePosixPath

import numpy as np
import pyarrow as pa

from pll.errors import UserError
from pll.formats.checks import listing
from pll.formats.codebook import codes_in
from pll.formats.forms import USUAL, WORDS, plain_name, words_of
from pll.formats.names import is_named_id
from pll.formats.proposal import are_numbered, follows, says, says_fact, split_in
from pll.formats.records import Records, one_column, text_of
from pll.formats.tabular.cells import NEARLY_ALL, are_dates, has_fractions, is_number, spelling

Columns = Mapping[str, Sequence[str | None]]
"""The cells of a table as text, by column; None where one is empty."""
PERSON = ("annotator", "annotated in", "file or sheet")
"""Names of the column that says whose a row is; the first that no table has."""
SHARED = 0.5
"""Share of the columns that two tables have in common, and of the examples that two people both saw, at least."""


def stacked(names: Sequence[str], tables: Sequence[Records]) -> Records:
    """Return tables one after the other, with a column that says whose each row is where each is one person's.

    Parameters
    ----------
    names
        Of the sheets or files.
    tables
        At least one.

    Raises
    ------
    UserError
        Their columns have little in common.
    """
    if copies := _copies(names, tables):
        names = [name for k, name in enumerate(names) if k not in copies]
        first, *others = [one for k, one in enumerate(tables) if k not in copies]
        said = "Tables that say the same, cell by cell, were read once."
        tables = [replace(first, notes=(*first.notes, said)), *others]
    if len(tables) == 1:
        return tables[0]
    split = split_in(names)
    called = {} if split else people_among(tables)
    has_people = any("worker" in one.roles.values() for one in tables)
    is_one_a_person = len(called) == len(tables) and not has_people
    if is_one_a_person:
        _refuse_versions(names, tables)
        names = _with_truth(names, tables)
        tables = [replace(one, names=[called.get(k, {}).get(n, n) for n in one.names]) for k, one in enumerate(tables)]
    other = next((k for k, table in enumerate(tables) if in_common(tables[0].names, table.names) < SHARED), None)
    if other is not None and not is_one_a_person:
        raise UserError(
            f"{names[0]} has the columns {listing(list(tables[0].names), limit=5)}, {names[other]} has "
            f"{listing(list(tables[other].names), limit=5)}: these are different tables. Bring the one with the "
            "examples; files of votes can be brought beside it."
        )
    every = list(dict.fromkeys(name for table in tables for name in table.names))
    whole = [table.whole() for table in tables]
    of_each = [dict(zip(table.names, part.columns, strict=True)) for table, part in zip(tables, whole, strict=True)]
    pieces = {name: [own.get(name, len(part)) for own, part in zip(of_each, whole, strict=True)] for name in every}
    columns = {name: one_column(some) for name, some in pieces.items()}
    notes = dict.fromkeys(note for table in tables for note in table.notes)
    starts = [0]
    for part in whole:
        starts.append(starts[-1] + len(part))

    def row_of(at: int) -> int:
        part = next(k for k, end in enumerate(starts[1:]) if at < end)
        return tables[part].row_of(at - starts[part])

    roles = {name: role for table in tables for name, role in table.roles.items()}
    if is_one_a_person:
        column = next(name for name in PERSON if name not in every)
        who = [name for name, part in zip(names, whole, strict=True) for _ in range(len(part))]
        columns = {column: pa.array(who, pa.string()), **columns}
        roles |= {column: "worker"}
        about = f"{len(names)} tables about the same examples were taken for one person each: {listing(list(names))}."
    else:
        about = f"{len(names)} tables were read as one: {listing(list(names))}."
        free = [name for name in every if name not in roles]
        again = [name for name in free if (split or is_named_id(name)) and _counts_each(columns[name], starts)]
        roles |= dict.fromkeys(again, "keep")
        part_of = [name for name, part in zip(names, whole, strict=True) for _ in range(len(part))]
        for name in free if any(map(says_people, free)) and PERSON[-1] not in every else ():
            if is_named_id(name) and name not in again and _begins_again(columns, name, part_of):
                columns = {PERSON[-1]: pa.array(part_of, pa.string()), **columns}
                roles |= {PERSON[-1]: "task", name: "task"}
                break
        if split and SPLIT not in every:
            parts = [part for part, table in zip(split, whole, strict=True) for _ in range(len(table))]
            columns[SPLIT] = pa.array(parts, pa.string())
            roles |= {SPLIT: "split"}
    may_be_empty = all(table.may_be_empty for table in tables)
    notes_of_all = (about, *notes)
    codes = {variable: some for table in tables for variable, some in table.codes.items()}
    more = {"roles": roles, "notes": notes_of_all, "codes": codes, "may_be_empty": may_be_empty}
    table = Records.of(pa.table(columns), row_of=row_of, **more)
    return settled_apart(table, column) if is_one_a_person else table


def _copies(names: Sequence[str], tables: Sequence[Records]) -> set[int]:
    """Which tables are one before them under a longer name, `tiles_all` or `tiles (1)`: the same export twice."""
    found = set[int]()
    for k, j in combinations(range(len(tables)), 2):
        is_longer = names[j].startswith(names[k]) and tables[k].rows == tables[j].rows >= LEAST_ROWS_SAME
        if is_longer and {*tables[k].names} == {*tables[j].names}:
            same = (cells_of(tables[k], name) == cells_of(tables[j], name) for name in tables[k].names)
            found |= {j} if all(same) else set()
    return found


def _with_truth(names: Sequence[str], tables: Sequence[Records]) -> list[str]:
    """The names of tables, `true label` for the only one that has a label where all others have predictions."""
    others = [name for name, one in zip(names, tables, strict=True) if any(says("machine", n) for n in one.names)]
    usual = [name for name, one in zip(names, tables, strict=True) if _has_label(one)]
    is_clear = len(usual) == 1 and usual[0] not in others and len(others) == len(names) - 1 >= LEAST_FILES_BESIDE - 1
    return ["true label" if is_clear and name == usual[0] else name for name in names]


def _has_label(table: Records) -> bool:
    return any(plain_name(name) in USUAL["true_label"] for name in table.names)


SPLIT = "split"
"""Name of the column that says of which part a row is, where tables are called as the parts of a split."""


MOSTLY_SAME = 0.9
"""Share of the cells that two versions of one table have in common, at least."""


def _refuse_versions(names: Sequence[str], tables: Sequence[Records]) -> None:
    """Raise where tables that hold the answers of several people each are nearly the same: copies, versions.

    Raises
    ------
    UserError
        Two are.
    """
    first, *others = tables
    cells = {name: cells_of(first, name) for name in first.names}
    votes = {name: some for name, some in cells.items() if plain_name(name) not in USUAL["true_label"]}
    labels = [name for name, some in votes.items() if _repeats(Counter(filter(None, some)))]
    if first.form is not None or len(labels) < 2 or len(cells[labels[0]]) < LEAST_ROWS_SAME:
        return
    for name, other in zip(names[1:], others, strict=True):
        theirs = [cells_of(other, label) for label in labels if label in other.names]
        if len(theirs) < len(labels) or len(theirs[0]) != len(cells[labels[0]]):
            continue
        both = [zip(cells[label], some, strict=True) for label, some in zip(labels, theirs, strict=True)]
        pairs = [pair for rows in both for pair in rows]
        apart = [label for label, some in zip(labels, theirs, strict=True) if cells[label] != some]
        words = {label: Counter(filter(None, cells[label])) for label in labels}
        if len(apart) == 1 and not any(_are_alike(words[n], words[apart[0]]) for n in labels if n != apart[0]):
            continue  # what each of them said, beside what is so of the examples
        if sum(a == b for a, b in pairs) >= MOSTLY_SAME * len(pairs):
            raise UserError(
                f"{names[0]} and {name} are nearly the same table, with {listing(labels, limit=3)} in both: copies, or "
                "two versions. Bring one of them."
            )


LEAST_ROWS_SAME = 10
"""Rows of a table, at least, of which it is no chance that another has the same answers."""


def _counts_each(column: pa.ChunkedArray, starts: Sequence[int]) -> bool:
    """Whether a column names the rows of each table, and some rows of another table the same."""
    cells = text_of(column.combine_chunks()).to_pylist()
    parts = [cells[start:end] for start, end in pairwise(starts)]
    return all(len({*part}) == len(part) for part in parts) and len({*cells}) < len(cells)


def _begins_again(columns: Mapping[str, pa.ChunkedArray], name: str, part_of: Sequence[str]) -> bool:
    """Whether what an id means is told in its part alone: another column follows from both, and from neither."""
    cells = {one: text_of(columns[one].combine_chunks()).to_pylist() for one in columns if not says_fact(one)}
    ids = cells.pop(name, ())
    others = [some for one, some in cells.items() if not says_people(one)]
    both = list(zip(part_of, ids, strict=True)) if ids else []
    return any(follows(o, both) and not (follows(o, ids) or follows(o, part_of)) for o in others if both)


def settled_apart(table: Records, who: str) -> Records:
    """Return a table of answers in which those of the one person called as what somebody settled are a column apart.

    Parameters
    ----------
    table
        The table.
    who
        The column of people; without it nothing is changed.
    """
    people = cells_of(table, who) if who in table.names else []
    numbered = Counter(re.sub(r"\d+", "", one) for one in {*people} if one)  # `Lab 1`, `Lab 2` are people
    settled = {one for one in people if one and (says("settled", one) or _is_truth(table, one))}
    settled = {one for one in settled if numbered[re.sub(r"\d+", "", one)] == 1}
    form, free = table.form, [name for name in table.names if name not in table.roles]
    plain = [name for name in free if form is None or not form.role_of(name)]
    of_whom = {name: zip(people, cells_of(table, name), strict=True) for name in plain if settled}
    words = {name: Counter(cell for one, cell in some if cell and one in settled) for name, some in of_whom.items()}
    labels = [n for n, some in words.items() if _repeats(some) and not any(word[:1] in "[{" for word in some)]
    labels = [name for name in labels if not says_fact(name)]
    if len(settled) != 1 or len(labels) != 1 or len({*people}) < LEAST_FILES_BESIDE or settled <= {*table.names}:
        return table
    (name,), (label,) = settled, labels
    rows = list(zip(people, cells_of(table, label), strict=True))
    columns = {label: [None if one == name else cell for one, cell in rows]}
    columns |= {name: [cell if one == name else None for one, cell in rows]}
    return table.with_columns(columns, [list(table.names).index(label)])


def _is_truth(table: Records, name: str) -> bool:
    return table.form is not None and table.form.role_of(name) == "true_label"


def are_one_a_person(tables: Sequence[Records]) -> bool:
    """Whether tables are the answers of a person each: about the same examples, with columns that match.

    Examples
    --------
    >>> ann = Records.of(pa.table({"id": ["a", "b"], "label": ["x", "y"]}))
    >>> bob = Records.of(pa.table({"ID": ["b", "a"], "Code": ["x", "x"]}))
    >>> are_one_a_person([ann, bob]), are_one_a_person([ann, Records.of(pa.table({"id": ["c"], "label": ["x"]}))])
    (True, False)
    """
    return len(people_among(tables)) == len(tables) > 1


def several_people(tables: Mapping[str, Records]) -> list[str]:
    """Return the tables that are the answers of a person each, where others are not; none where there is but one.

    Parameters
    ----------
    tables
        By name.
    """
    people = people_among([*tables.values()]) if len(tables) > 2 else {}
    return [name for k, name in enumerate(tables) if k in people] if 1 < len(people) < len(tables) else []


def with_items(people: Mapping[str, Records], others: Mapping[str, Records]) -> tuple[dict[str, Records], list[str]]:
    """Return the answers of a person each as one table, with what others say of the examples; and as `joined`.

    Parameters
    ----------
    people
        The tables of a person each, by what the person is called; or one table.
    others
        The others, by name.
    """
    answers, first = stacked([*people], [*people.values()]), next(iter(people))
    if len(people) == 1:
        words = [some for name in answers.names if _repeats(some := _words_in(answers, name))]
        counts = {name: one for name, one in others.items() if _counts_answers(one, words)}
        left, notes = joined({first: answers} | {name: one for name, one in others.items() if name not in counts})
        return left | counts, notes
    once = [n for n in answers.names if all(n not in one.names or _names_rows(one, n) for one in people.values())]
    words = [_words_in(answers, name) for name in answers.names if name not in once]
    said = [some for some in words if _repeats(some)]
    items = {name: one for name, one in others.items() if not _says_again(name, one, said)}
    left, notes = joined({first: answers, **items}, once)
    return left | {name: one for name, one in others.items() if name not in items}, notes


def _says_again(name: str, table: Records, said: Sequence[Counter[str]]) -> bool:
    """Whether a table has the answers of several people again, or how often each of them was given.

    One that is called as what somebody settled, and has one column of their words, says what is right.
    """
    alike = sum(any(_are_alike(_words_in(table, one), words) for words in said) for one in table.names)
    return _counts_answers(table, said) or alike > says("settled", PurePosixPath(name).stem)


def _counts_answers(table: Records, said: Sequence[Counter[str]]) -> bool:
    """Whether columns of a table are called as what is said in another."""
    return any(sum(one in words for one in table.names) > 1 for words in said)


def _words_in(table: Records, name: str) -> Counter[str]:
    return Counter(filter(None, cells_of(table, name)))


def _names_rows(table: Records, name: str) -> bool:
    cells = cells_of(table, name)
    return len({*cells}) == len(cells)


def joined(tables: Mapping[str, Records], by: Collection[str] | None = None) -> tuple[dict[str, Records], list[str]]:
    """Add to the largest table what others say of what it names; return the tables that are left, and notes.

    Such a table has one row for each name in a column that is called the same in both, and its other columns are new.

    Parameters
    ----------
    tables
        By name.
    by
        Columns of the first, to which others are added then, that may name what these are about; by default any.

    Examples
    --------
    >>> import pyarrow as pa
    >>> answers = Records.of(pa.table({"item": ["q1", "q1", "q2"], "who": ["a", "b", "a"], "says": ["x", "y", "y"]}))
    >>> items = Records.of(pa.table({"item": ["q1", "q2", "q3"], "title": ["one", "two", "three"]}))
    >>> left, notes = joined({"answers.csv": answers, "items.csv": items})
    >>> list(left), left["answers.csv"].names
    (['answers.csv'], ['item', 'who', 'says', 'title'])
    >>> notes
    ['items.csv was added by item; of its 3 rows 1 has no line here.']
    """
    left, notes = dict(tables), list[str]()
    added_to = tables if by is None else [*tables][:1]
    for of, name in permutations(tables, 2):
        if of not in added_to or not LEAST_WITH_KEY <= tables[name].rows <= len(tables[of].names):
            continue  # which has no row for each of some columns
        if of in left and name in left and (right := _right_of_columns(tables[of], tables[name])):
            left[of] = _with_answer_key(left[of], right)
            notes.append(f"{name} says what is right of {len(right):,} columns: the row {ANSWER_KEY}.")
            del left[name]
    first, *others = [*tables] if by is not None else sorted(left, key=lambda name: -tables[name].rows) or [""]
    others = [name for name in others if name in left and _may_say_more(name, tables[name], tables[first])]
    if not others or are_one_a_person([*tables.values()]):
        return left, notes
    for name in others:
        about = tables[name]
        if (key := _key(name, left[first], about)) is None or (by is not None and key[0] not in by):
            continue
        mine, theirs = key
        codes, written = cells_of(about, theirs), cells_of(left[first], mine)
        row_of = {_folded(cell): row for row, cell in enumerate(codes) if cell}
        keys = [_folded(cell or "") for cell in written]
        others = [column for column in about.names if column != theirs]
        stem, taken = PurePosixPath(name).stem, left[first].names
        same = [column for column in others if column in taken]
        is_truth = _says_truth(stem) and _is_truth_of(left[first], about, others, same)
        called = {column: ANSWER_KEY if is_truth else f"{stem} {column}" for column in same}
        new = {called.get(column, column): cells_of(about, column) for column in others}
        added = {column: [cells[row_of[k]] if k in row_of else None for k in keys] for column, cells in new.items()}
        left[first] = left[first].with_columns(added, [])
        del left[name]
        there = {*keys}
        spare = [row for code, row in row_of.items() if code not in there]
        said = f"; {len(spare):,} of its {len(row_of):,} rows {'is' if len(spare) == 1 else 'are'} of nothing here"
        are_items = len(there) < len(keys) < len(row_of) ** 2 and not says_people(mine)  # people and kinds are few
        if are_items and 0 < len(spare) <= SHARED * len(row_of):  # which nobody came to yet
            more = {mine: codes} | new
            left[first] = _with_rows(left[first], {name: [cells[row] for row in spare] for name, cells in more.items()})
            said = f"; of its {len(row_of):,} rows {len(spare):,} {'has' if len(spare) == 1 else 'have'} no line here"
        notes.append(f"{name} was added by {mine}{said if spare else ''}.")
    return left, notes


ANSWER_KEY = "true_label"
"""Who says what is right, in the table of a test."""
LEAST_WITH_KEY = 5
"""Columns of a test, at least, of which another table says what is right."""


def _right_of_columns(table: Records, about: Records) -> dict[str, str]:
    """Return what a table with a row for each of some columns of another says of them, in the words of their cells."""
    columns = {name: cells_of(about, name) for name in about.names}
    each = [some for some in columns.values() if LEAST_WITH_KEY <= len({*some}) == len(some)]
    names = next((some for some in each if {*some} <= {*table.names}), [])
    words = {spelling(cell) for name in names if name for cell in cells_of(table, name) if cell}
    said = [some for some in columns.values() if names and all(cell and spelling(cell) in words for cell in some)]
    right = {name: cell for name, cell in zip(names, said[0], strict=True) if name and cell} if len(said) == 1 else {}
    return right if _is_key(table, right) else {}


def _is_key(table: Records, right: Mapping[str, str]) -> bool:
    """Whether columns say what is right of them more often than what is right of others: no fact about a voter each."""
    words, key = {name: spelling(cell) for name, cell in right.items()}, Counter(map(spelling, right.values()))
    own = every = filled = 0.0
    for name, word in words.items():
        said = Counter(spelling(cell) for cell in cells_of(table, name) if cell)
        own += said[word]
        every += sum(said[other] * times for other, times in key.items()) / len(words)
        filled += said.total()
    return own - every > LEAST_LIKE_KEY * (filled - every)


LEAST_LIKE_KEY = 0.1
"""Share of what chance leaves that is answered as the key of a test says, at least."""


def _with_answer_key(table: Records, right: Mapping[str, str]) -> Records:
    """Return the table of a test with one row more, who says what is right; who the others are is numbered."""
    usual = [name for name in table.names if plain_name(name) in {*USUAL["worker"], *USUAL["person"]}]
    who = next((name for name in usual if name not in right and _names_rows(table, name)), "participant")
    if who not in table.names:
        table = table.with_columns({who: [f"person {k + 1}" for k in range(table.rows)]}, [])
    return _with_rows(table, {name: [cell] for name, cell in {**right, who: ANSWER_KEY}.items()})


def _with_rows(table: Records, cells: Mapping[str, Sequence[str | None]]) -> Records:
    """Return a table with more rows, of the cells of some columns."""
    n = len(next(iter(cells.values())))
    longer = {name: [*cells_of(table, name), *cells.get(name, [None] * n)] for name in table.names}
    whole = table.with_columns(longer, range(len(table.names)))
    return replace(whole, rows=table.rows + n, row_of=lambda at: table.row_of(min(at, table.rows - 1)))


def once_each(tables: Sequence[Records]) -> Records:
    """Return tables of the same columns as one, of rows with the same first cell the first.

    Examples
    --------
    >>> first, second = (Records.of({"id": ids, "text": ids}) for ids in (["a", "b"], ["b", "c"]))
    >>> list(once_each([first, second]).texts(0))
    ['a', 'b', 'c']
    """
    names, found = tables[0].names, dict[str | None, tuple[str | None, ...]]()
    for table in tables:
        for row in zip(*(table.texts(at) for at in range(len(names))), strict=True):
            found.setdefault(row[0], row)
    return Records.of(dict(zip(names, zip(*found.values(), strict=True), strict=True)))


def _may_say_more(name: str, about: Records, table: Records) -> bool:
    """Whether a table has other columns and is no codebook, nor a part of the same but what somebody settled.

    One without a column of its own lists what may stand in those of the other.
    """
    stem, rows = PurePosixPath(name).stem, zip(*map(list, about.sample()), strict=True)
    has_others = in_common(table.names, about.names) < SHARED and not {*about.names} <= {*table.names}
    is_codebook = bool(codes_in(stem, [about.names, *rows])) and not says_of_items(about, table)
    return (has_others or _says_truth(stem)) and not is_codebook


def says_of_items(about: Records, table: Records) -> bool:
    """Whether a table has one line for each thing that a column of another names, in one line too, or measures it.

    Parameters
    ----------
    about
        What may be a codebook, since its things have numbers and names.
    table
        The other.

    Examples
    --------
    >>> answers = Records.of({"code": ["1", "2"], "ann": ["2", "2"]})
    >>> says_of_items(Records.of({"code": ["1", "2"], "name": ["mild", "sore"]}), answers)
    True
    >>> says_of_items(Records.of({"ann": ["1", "2"], "name": ["mild", "sore"]}), answers)
    False
    """
    keys = [name for name in about.names if name in table.names and _names_rows(about, name)]
    keys = [name for name in keys if {*cells_of(table, name)} <= {*cells_of(about, name)}]
    are_measured = any(has_fractions(cells_of(about, name)) for name in about.names)
    return any(are_measured or _names_rows(table, name) for name in keys)


def _is_truth_of(table: Records, about: Records, others: Sequence[str], same: Sequence[str]) -> bool:
    """Whether the only column that two tables share, but for what names the rows, is a label in the words of the first.

    Not where a column of either is called as the truth.
    """
    every = {plain_name(name) for name in (*table.names, *others)} - {"label"}
    if len(same) != 1 or not every.isdisjoint({*USUAL["true_label"], *WORDS["adjudicated"]}):
        return False
    words = {spelling(cell) for cell in cells_of(table, same[0]) if cell}
    said = [spelling(cell) for cell in cells_of(about, same[0]) if cell]
    is_label = plain_name(same[0]) in USUAL["vote"] or says("labels", same[0])
    return is_label and sum(one in words for one in said) >= NEARLY_ALL * len(said) > 0


def _says_truth(stem: str) -> bool:
    """Whether a file or sheet is called as what is true, or what somebody settled: `golden_labels`, `gt`."""
    return says("settled", stem) or plain_name(f"{stem} label") in USUAL["true_label"]


def _key(name: str, table: Records, about: Records) -> tuple[str, str] | None:
    """Return the columns of both tables that name the same: each once in the second; None where there are none.

    A column called as the other table (`Submission #` of the sheet Submissions, `user_id`, `_parent_index`) goes before
    one that is called the same in both, which may number the rows of each; codes of letters and digits are told by what
    they are, too, and so are numbers in columns that are both called as ids, in the only column that has them: what
    several have are labels.
    """
    found, seen, by_code = dict[int, tuple[str, str]](), dict[str, set[str]](), list[tuple[str, str, bool]]()
    for theirs in about.names:
        codes = [_folded(cell or "") for cell in cells_of(about, theirs)]
        if len({*codes}) < len(codes) or "" in codes:
            continue
        are_coded = all(not code.isdecimal() and any(map(str.isdecimal, code)) for code in codes)
        for mine in table.names:
            are_codes = are_coded or (is_named_id(mine) and is_named_id(theirs))
            is_same, is_called = plain_name(mine) == plain_name(theirs), _is_called(mine, theirs, name)
            is_called = is_called or (table.roles.get(mine) == "task" and is_named_id(theirs))
            if not (is_same or is_called or are_codes):
                continue
            if mine not in seen:
                seen[mine] = {_folded(cell) for cell in {*cells_of(table, mine)} if cell and cell.strip()}
            there = seen[mine]
            shared = len(there.intersection(codes))
            is_whole = shared >= NEARLY_ALL * len(there) and shared > 1
            is_half = shared >= SHARED * min(len(there), len(codes)) > 0
            if (is_called and is_whole) or (is_same and is_half):
                found.setdefault(0 if is_called else 1, (mine, theirs))
            elif are_codes and is_half:
                by_code.append((mine, theirs, is_whole))
    if len(by_code) == 1 and by_code[0][2]:
        found.setdefault(2, by_code[0][:2])
    return found[min(found)] if found else None


def _is_called(mine: str, theirs: str, table: str) -> bool:
    """Whether a column is called as another table, or as its parent, and as the column that numbers its rows.

    >>> _is_called("Submission #", "#", "Submissions"), _is_called("category_id", "id", "categories.csv")
    (True, True)
    >>> _is_called("_parent_index", "_index", "Houses"), _is_called("house", "No.", "Houses")
    (True, True)
    >>> _is_called("Numero del messaggio", "N.", "Messaggi"), _is_called("Nummer des Fotos", "Nr.", "Fotos")
    (True, True)
    >>> _is_called("Submission rating", "#", "Submissions"), _is_called("id", "id", "ids")
    (False, False)
    """
    named = words_of(PurePosixPath(table).stem)
    first, second = {*words_of(mine)}, {*words_of(theirs)}
    is_number = not second or second == {"n"} or (is_named_id(theirs) and len(second) == 1)
    words = [word for word in first - second if len(word) > LONGEST_ARTICLE and not is_named_id(word)]
    about = [word == "parent" or any(_is_one_word(word, other) for other in named) for word in words]
    return bool(about) and all(about) and (is_number or second <= first)


LONGEST_ARTICLE = 3
"""Letters of a word of a name that says nothing of what it numbers: of, del, des."""


def _is_one_word(one: str, other: str) -> bool:
    """Whether two words are the same but for their endings, as `category` and `categories`."""
    least = max(3, min(len(one), len(other)) - 2)
    return one[:least] == other[:least] and abs(len(one) - len(other)) < 4


def _folded(cell: str) -> str:
    """Return a code without what people leave out or write otherwise: `T-07`, `t07` and `T7` are one.

    >>> _folded("T-07") == _folded(" t7"), _folded("T70") == _folded("T7")
    (True, False)
    """
    plain = re.sub(r"(?<=\d)\.0+$", "", cell.strip().casefold())  # 37675.0, as programs write a number beside blanks
    return re.sub(r"(?<!\d)0+(?=\d)", "", "".join(filter(str.isalnum, plain)))


def facts_among(tables: Mapping[str, Records], sizes: Mapping[str, int]) -> list[str]:
    """Return the tables of one row, or of one column and few rows, with other columns than the largest.

    Such as a score or settings of what is in the others.

    Parameters
    ----------
    tables
        By name.
    sizes
        By name, how many rows each has.
    """
    largest = max(tables, key=sizes.__getitem__, default="")
    few = [name for name in tables if sizes[name] == 1 < sizes[largest]]
    few += [name for name in tables if len(tables[name].names) == 1 and 1 < sizes[name] < SHARED * sizes[largest]]
    return [name for name in few if in_common(tables[largest].names, tables[name].names) < SHARED]


def of_nobody(tables: Mapping[str, Records]) -> list[str]:
    """Return the tables that are as another one, and lack who answered alone: nothing says whose their labels are.

    Parameters
    ----------
    tables
        By name.

    Examples
    --------
    >>> answers = Records.of(pa.table({"id": ["1"], "x": ["2.5"], "class": ["a"], "annotator": ["ada"]}))
    >>> known = Records.of(pa.table({"id": ["7"], "x": ["1.5"], "class": ["b"]}))
    >>> of_nobody({"answers.csv": answers, "test.csv": known}), of_nobody({"answers.csv": answers})
    (['test.csv'], [])
    """
    lacking = {
        name: [{*other.names} - {*table.names} for other in tables.values() if {*table.names} < {*other.names}]
        for name, table in tables.items()
    }
    return [n for n, some in lacking.items() if any(len(one) == 1 and says_people(*one) for one in some)]


def says_people(name: str) -> bool:
    """Whether a column is called as that of who answered.

    >>> says_people("annotator"), says_people("Worker"), says_people("class")
    (True, True, False)
    """
    return plain_name(name) in WORDS["people"].union(USUAL["worker"])


def people_among(tables: Sequence[Records]) -> dict[int, Mapping[str, str]]:
    """Return which tables are the answers of a person each, and what the largest calls the columns of the others.

    They are about the examples of the table that most others are about; none where there are no two.
    """
    cells = [{name: cells_of(table, name) for name in table.names} for table in tables]
    sizes = [max(map(len, one.values()), default=0) for one in cells]
    best: dict[int, Mapping[str, str]] = {}
    for k in sorted(range(len(cells)), key=lambda k: -sizes[k])[:MOST_TRIED]:
        if any(plain_name(name.strip()) == "candidates" for name in cells[k]):  # sets, which are nobody's answers
            continue
        if any(says_people(name) and _repeats(Counter(filter(None, some))) for name, some in cells[k].items()):
            continue  # whose each line is
        called: dict[int, Mapping[str, str] | None] = {at: _called_as(cells[k], one) for at, one in enumerate(cells)}
        called[k] = {}
        found = {at: names for at, names in called.items() if names is not None}
        several = sum(sizes[at] > 1 for at in found) > 1  # somebody may have answered once
        best = found if several and len(found) > len(best) else best
        if len(best) == len(cells):
            break
    if len(best) < len(cells) and _see_the_same(cells):
        return {at: {} for at in range(len(cells))}
    labels = {name for at in best for name, some in cells[at].items() if _repeats(Counter(filter(None, some)))}
    if len(best) > 1:  # a file of what nobody has answered yet is about other examples
        none = [at for at, one in enumerate(cells) if at not in best and _are_empty(one, labels)]
        best |= {at: {} for at in none}
    return best


def _see_the_same(cells: Sequence[Columns]) -> bool:
    """Whether three tables or more of the same columns are about examples most of which several of them name.

    Two of them may have few in common: each was given some, and does not say the same of these.
    """
    first, *others = cells
    if len(others) < 2 or any(one.keys() != first.keys() or any(map(says_people, one)) for one in cells):
        return False
    for key in first:
        if not all(len({*one[key]}) == len(one[key]) for one in cells):
            continue
        said = Counter(cell for one in cells for cell in one[key] if cell)
        rows = [(cell, at, row) for at, one in enumerate(cells) for row, cell in enumerate(one[key])]
        pairs = [[(cell, cells[at][name][row]) for cell, at, row in rows] for name in first if name != key]
        of_each = [len({*some}) / max(len(said), 1) for some in pairs]
        if 2 * sum(times > 1 for times in said.values()) >= len(said) and min(of_each, default=0) == 1 < max(of_each):
            return True  # a column follows from what names them, and another does not
    return False


def _repeats(words: Counter[str]) -> bool:
    return 1 < len(words) <= words.total() / 2


def _are_empty(cells: Columns, labels: Set[str]) -> bool:
    """Whether a column that may hold labels in other tables holds none, nor lists of any, in this one."""
    return any(all(cell in (None, "[]", "{}") for cell in cells[name]) for name in labels & cells.keys())


LEAST_FILES_BESIDE = 3
"""Files, at least, of which one may be what somebody settled."""
MOST_TRIED = 3
"""Of the largest tables, how many the examples may be of."""


def _called_as(first: Columns, one: Columns) -> dict[str, str] | None:
    """Return what a table calls the columns of another one about the same examples; None where it is about others.

    Columns match by their names, else by what stands in them, else if they are the only ones left that repeat.
    """
    plain = {plain_name(name.strip()): name for name in first}
    called = {name: plain[same] for name in one if (same := plain_name(name.strip())) in plain}
    words = [{name: Counter(filter(None, some)) for name, some in cells.items()} for cells in (first, one)]
    for name in [name for name in one if name not in called]:
        shared = {other: len(words[0][other].keys() & words[1][name].keys()) for other in first}
        free = [other for other in first if other not in called.values() and shared[other]]
        likely = max(free, key=shared.__getitem__, default=None)
        if likely is not None and shared[likely] >= SHARED * min(len(words[0][likely]), len(words[1][name])):
            called[name] = likely
    left, right = ([n for n, count in some.items() if _repeats(count)] for some in words)
    left, right = [n for n in left if n not in called.values()], [n for n in right if n not in called]
    if len(left) == len(right) == 1:
        both = (words[0][left[0]], words[1][right[0]])
        numbers = [all(is_number(cell.replace(",", ".")) for cell in some) for some in both]
        called |= {right[0]: left[0]} if numbers[0] == numbers[1] else {}
    repeats = [words[0][to] for to in called.values() if words[0][to].total() >= 2 * len(words[0][to])]
    unmatched = [words[1][name] for name in one if name not in called]
    unmatched += [words[0][name] for name in first if name not in called.values()]
    if any(_are_alike(those, some) for those in unmatched for some in repeats):
        return None  # the answers of several people beside each other: all of them, once more
    pairs = {(to, name): (words[0][to], words[1][name]) for name, to in called.items()}
    # examples that are called otherwise are the same ones only where nearly all have a text of their own
    others = any(a.keys().isdisjoint(b) and are_numbered([*a]) and are_numbered([*b]) for a, b in pairs.values())
    least = NEARLY_ALL if others else SHARED
    rows, others_rows = (max(map(len, cells.values()), default=0) for cells in (first, one))
    names = {k: (a, b) for k, (a, b) in pairs.items() if len(a) >= max(2, least * rows)}
    names = {k: (a, b) for k, (a, b) in names.items() if len(b) >= max(1, least * others_rows)}
    met = [k for k, (a, b) in names.items() if len(a.keys() & b.keys()) >= SHARED * min(len(a), len(b))]
    are_same = any(not _are_of_others(first, one, called, keys) for keys in met)
    return called if are_same and in_common(list(first), [called.get(n, n) for n in one]) >= SHARED else None


def _are_of_others(first: Columns, one: Columns, called: Mapping[str, str], keys: tuple[str, str]) -> bool:
    """Whether what stands before any labels differs where the example is called the same: in numbers that begin again.

    Texts are others then, and measurements go each their own way; of the same examples they would go together, though
    each person took them anew.
    """
    # by a number, or a code
    row_of = {cell: row for row, cell in enumerate(one[keys[1]]) if cell and len(cell.split()) == 1}
    rows = [(row, row_of[cell]) for row, cell in enumerate(first[keys[0]]) if cell in row_of]
    before = list(takewhile(lambda name: not _repeats(Counter(filter(None, first[name]))), first))
    found = list[bool]()
    for name, to in called.items():
        both = [(a, b) for k, j in rows if (a := first[to][k]) and (b := one[name][j])]
        pairs = [(a.replace(",", "."), b.replace(",", ".")) for a, b in both]
        cells = [cell for pair in pairs for cell in pair]
        if to not in before or to == keys[0] or says_fact(to) or len(pairs) < LEAST_ROWS_SAME or are_dates(cells):
            continue
        if has_fractions(cells) and all(map(is_number, cells)):
            own, others = np.array(pairs, dtype=np.float64).T
            found.append(bool(abs(np.corrcoef(own, others)[0, 1]) < LEAST_CORRELATION))
        elif all(len(cell.split()) > 1 for cell in cells):
            found.append(sum(a == b for a, b in pairs) <= (1 - NEARLY_ALL) * len(pairs))
    return bool(found) and all(found)


LEAST_CORRELATION = 0.5
"""Correlation of measurements from which two tables are about the same examples."""


def _are_alike(words: Counter[str], others: Counter[str]) -> bool:
    """Whether few words, mostly those of another column, come again and again."""
    shared = sum(n for word, n in words.items() if word in others)
    return 1 < len(words) <= words.total() / 2 and shared > words.total() / 2


def people_of(paths: Sequence[str]) -> list[str]:
    """Return what the files of an archive are called: by their own names, else by the folder that tells them apart.

    Where only a date tells the files apart, a folder with a name of its own says more, unless it is a part of a split.

    Examples
    --------
    >>> people_of(["in/amy.csv", "in/ben.csv"]), people_of(["out/amy/all.jsonl", "out/ben/all.jsonl"])
    (['amy', 'ben'], ['amy', 'ben'])
    >>> people_of(["gpt/run_03-01.jsonl", "llama/run_04-02.jsonl"]), people_of(["in/rater1.csv", "in/rater2.csv"])
    (['gpt', 'llama'], ['rater1', 'rater2'])
    """
    of_parts = [[PurePosixPath(path).stem for path in paths]]
    of_parts += [[PurePosixPath(path).parts[part:][0] for path in paths] for part in (-2, -3)]
    apart = [names for names in of_parts if len({*names}) == len(names)]
    dated = bool(apart) and all(re.search(r"\d\d\D?\d\d", name) for name in apart[0])
    called = [names for names in apart if len({re.sub(r"\d", "", name) for name in names}) == len(names)]
    called = [names for names in called if dated and not split_in(names)]
    return next(iter([*called, *apart]), list(paths))


def in_common(one: Sequence[str], other: Sequence[str]) -> float:
    """Return which share of the columns of two tables both have.

    Parameters
    ----------
    one, other
        Their names.
    """
    return len({*one} & {*other}) / max(len({*one} | {*other}), 1)


def cells_of(table: Records, name: str) -> list[str | None]:
    """Return the cells of a column as text, None where one is empty.

    Parameters
    ----------
    table
        The table.
    name
        Of the column.
    """
    at = list(table.names).index(name)
    return [cell or None for cell in table.texts(at)]

"""Pairs of columns: who answered and what (`annotator_1`, `label_1`, …); a label and how likely it is."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from pll.formats.checks import listing
from pll.formats.class_groups import amount
from pll.formats.forms import USUAL, WORDS, WORDS_OF_FIELDS, plain_name, words_of
from pll.formats.names import LABEL_COLUMNS, SHARE_COLUMN, grids
from pll.formats.proposal import says
from pll.formats.records import Records
from pll.formats.tabular.cells import (
    FEW,
    NEARLY_ALL,
    Cells,
    are_dates,
    are_names,
    has_fractions,
    is_missing,
    is_no_answer,
    is_number,
    nearly_all,
    spelling,
)


def with_pairs(table: Records, given: Mapping[str, str]) -> Records:
    """Return a table in which pairs of columns, of a person and a label, are one column of answers.

    Their names have one number, or the same word before or after: `QC Reviewer`, `QC Coding`.

    Other columns that are filled as these are, such as the year, are of the answers, and carried along; so is how
    likely each of several labels is.

    Parameters
    ----------
    table
        Without a signature.
    given
        Roles that a person gave: where one is of such a column, it stays as it is.
    """
    numbered = _numbered(table.names)
    known = {tuple(names.values()) for names in numbered.values()}
    more = {kind: names for kind, names in _by_parts(table.names).items() if tuple(names.values()) not in known}
    numbered = more | numbered if _are_turns(table.names, more) else numbered
    at = {name: k for k, name in enumerate(table.names)}
    cells = {kind: [table.first[at[one]] for one in names.values()] for kind, names in numbered.items()}
    # labels may be codes, people are words
    named = [kind for kind, columns in cells.items() if _recur(columns, of_one_turn=_says_people(kind))]
    both = [(one, other) for one in named for other in numbered if numbered[one].keys() == numbered[other].keys()]
    scored = [(one, other) for one, other in both if one != other and _are_shares(cells[one], cells[other])]
    has_sets = any(name.strip().casefold() == LABEL_COLUMNS[1] for name in table.names)
    # not numbers beside other numbers: where a thing was, and how much of it
    sure = [kind for kind, names in numbered.items() if not has_sets and _says_how_sure(names.values())]
    scored = [(one, other) for one, other in scored if _are_words(cells[one]) or other in sure]
    ours = [one for one, _ in scored if {*numbered[one].values()}.isdisjoint(given)]
    codes = _codes_of({one: cells[one] for one in ours})
    beside = [name for kind in codes for name in numbered[kind].values()]
    table = replace(table, roles={**dict.fromkeys(beside, "keep"), **table.roles})
    scored = [(one, other) for one, other in scored if one not in codes]
    if len({one for one, _ in scored}) == 1:
        (one, other), *_ = scored
        columns = [*numbered[one].values(), *numbered[other].values()]
        if not {*columns} & {*given}:
            return _with_shares(table, [at[name] for name in columns], one.replace("*", "").strip(" _.-"))
    shares = [name for _, other in scored for name in numbered[other].values() if name not in given]
    table = replace(table, roles={**dict.fromkeys(shares, "keep"), **table.roles})
    both = [(who, what) for who, what in both if who != what and _are_words(cells[who]) and _are_called_so(who, what)]
    found = [(who, what) for who, what in both if _are_answers(cells[who], cells[what])]
    most = max((len(numbered[who]) for who, _ in found), default=0)  # 1L and 2L have a number, QC has none
    found = [(who, what) for who, what in found if len(numbered[who]) == most]
    who, what = found[0] if len(found) == 1 and "answers" not in at else ("", "")
    if not who or any(name in given for kind in (who, what) for name in numbered[kind].values()):
        return table
    pairs = [(at[numbered[who][k]], at[numbered[what][k]]) for k in numbered[what]]
    answers: list[dict[str, str | list[str]]] = [{} for _ in table.texts(pairs[0][0])]
    for person, label in pairs:
        for own, cell, said in zip(answers, table.texts(person), table.texts(label), strict=True):
            name = (cell or "").strip()
            if said and not is_missing(name) and not is_no_answer(name):  # who answers again says both
                own[name] = [*_listed(own[name]), said] if name in own else said
    alike = [kind for kind in numbered if numbered[kind].keys() == numbered[what].keys()]
    called = {*words_of(who), *words_of(what)}  # `det_year1`, beside `det1` and `det_by1`
    about = [k for k in alike if called.intersection(words_of(k)) or _are_about(cells[k], cells[who])]
    columns = [listing([*numbered[kind].values()]) for kind in (what, who)]
    note = f"Columns {columns[0]} were read as answers of whom {columns[1]} name."
    beside = [name for kind in about for name in numbered[kind].values()]
    roles = {**dict.fromkeys(beside, "keep"), "answers": "answers", **table.roles}
    read = replace(table, roles=roles, notes=(*table.notes, note))
    return read.with_columns({"answers": answers}, [one for pair in pairs for one in pair])


def _with_shares(table: Records, at: Sequence[int], called: str) -> Records:
    """The table with columns of labels, and then as many of how likely each is, as one column of labels and shares."""
    half = len(at) // 2
    labels, shares = at[:half], at[half:]
    pairs = [zip(table.texts(one), table.texts(other), strict=True) for one, other in zip(labels, shares, strict=True)]
    rows = [
        {name: share for name, cell in row if name and (share := amount(cell or "")) is not None}
        for row in zip(*pairs, strict=True)
    ]
    said, sure = (listing([table.names[k] for k in some]) for some in (labels, shares))
    name = called if called and called not in table.names else "candidates"
    note = f"Columns {said} were read as candidates, and {sure} as how likely each is."
    read = replace(table, roles={name: "candidates", **table.roles}, notes=(*table.notes, note))
    return read.with_columns({name: [row or None for row in rows]}, at)


def _codes_of(labels: Mapping[str, Sequence[Cells]]) -> list[str]:
    """Of groups of columns those that hold a code of each label in the longest words: `Q90`, where `Paris` is.

    >>> cells = {"qid": [["Q90", "Q60"] * 3], "name": [["Paris", "New York"] * 3]}
    >>> _codes_of(cells), _codes_of({**cells, "size": [["big", "big", "small"] * 2]})
    (['qid'], ['qid'])
    """
    said = {kind: [cell or "" for column in columns for cell in column] for kind, columns in labels.items()}
    longest = max(said, key=lambda kind: sum(map(len, said[kind])), default="")
    names = said.get(longest, [])
    codes = [kind for kind in said if kind != longest and len({*said[kind]}) == len({*names})]
    return [kind for kind in codes if len({*zip(said[kind], names, strict=True)}) == len({*names})]


def _listed(said: str | list[str]) -> list[str]:
    return [said] if isinstance(said, str) else said


def _are_about(columns: Sequence[Cells], people: Sequence[Cells]) -> bool:
    """Whether columns say something of each answer: nothing where nobody is named, which is so in some rows."""
    named = [[bool(cell) for cell in some] for some in people]
    return not all(map(all, named)) and [[bool(cell) for cell in some] for some in columns] == named


def _numbered(names: Sequence[str]) -> dict[str, dict[str, str]]:
    """The columns with one number in their name, two at least of each kind, by that, wherever they stand."""
    found = dict[str, dict[str, str]]()
    for name in names:
        kind, times = re.subn(r"\d+", "*", name)
        if times == 1:
            found.setdefault(kind, {})["".join(filter(str.isdecimal, name))] = name
    return {kind: dict(sorted(by.items(), key=lambda one: int(one[0]))) for kind, by in found.items() if len(by) > 1}


def _by_parts(names: Sequence[str]) -> dict[str, dict[str, str]]:
    """The columns called by one word each for what they hold and for whose turn it was.

    >>> _by_parts(["1L Reviewer", "1L Coding", "QC Reviewer", "QC Coding"])["Coding"]
    {'1L': '1L Coding', 'QC': 'QC Coding'}
    """
    return {kind: dict(sorted(by_turn.items())) for grid in reversed(grids(names)) for kind, by_turn in grid.items()}


def _are_turns(names: Sequence[str], kinds: Mapping[str, Mapping[str, str]]) -> bool:
    """Whether columns called by words are of turns of people: some are labels, none is true, and no other is a label.

    >>> names = ["first rater", "first label", "last rater", "last label"]
    >>> _are_turns(names, _by_parts(names)), _are_turns([*names, "gold"], _by_parts(names))
    (True, False)
    """
    used = {name for by_turn in kinds.values() for name in by_turn.values()}
    others = {plain_name(name) for name in names if name not in used}
    turns = [turn for kind, by_turn in kinds.items() if _says_label(kind) for turn in by_turn]
    are_labels = others & {*USUAL["vote"], *USUAL["true_label"], *WORDS["adjudicated"]}
    are_true = any(says(kind, turn) for turn in turns for kind in ("settled", "right", "tested"))
    return bool(turns) and not are_labels and not are_true


def _says_label(what: str) -> bool:
    return plain_name(what) in USUAL["vote"] or says("labels", what)


def _are_called_so(who: str, what: str) -> bool:
    """Whether the name of numbered columns says that they name people, or that those beside them are labels.

    >>> _are_called_so("det_by*", "det*"), _are_called_so("who*", "label_*"), _are_called_so("drug_*", "route_*")
    (True, True, False)
    """
    return _says_label(what.replace("*", "").strip(" _.-")) or ("*" in who and _says_people(who))


def _says_people(who: str) -> bool:
    return not {*WORDS_OF_FIELDS["who"], *USUAL["worker"], "by"}.isdisjoint(words_of(who))


def _says_how_sure(names: Collection[str]) -> bool:
    """Whether numbered columns are called as what says how sure a label is: `prob_1`, `conf1`.

    >>> _says_how_sure(["prob_1", "prob_2"]), _says_how_sure(["top1_score"]), _says_how_sure(["share_1"])
    (True, True, False)
    """
    words = [{*words_of(re.sub(r"\d+", " ", name))} for name in names]
    return all(map(SHARE_COLUMN.fullmatch, names)) or all(some & {"conf", *USUAL["score_field"]} for some in words)


def _are_words(columns: Sequence[Cells]) -> bool:
    """Whether columns hold neither numbers nor dates."""
    named = [*{cell for some in columns for cell in some if cell}]
    return not (nearly_all(is_number, named) or are_dates(named))


def _recur(columns: Sequence[Cells], *, of_one_turn: bool) -> bool:
    """Whether columns may name people, or labels: what recurs, not twice in a row.

    Mostly it does so under several numbers, but for people who may each have been there `of_one_turn`.
    """
    rows = [[cell for cell in row if cell] for row in zip(*columns, strict=True)]
    if sum(len({*row}) == len(row) for row in rows) < NEARLY_ALL * len(rows):
        return False
    named = Counter(name for row in rows for name in row)
    under = Counter(name for some in columns for name in {*some} if name)
    are_few = 1 < len(named) <= named.total() / 2 and not has_fractions([*named])
    return are_few and (of_one_turn or 2 * sum(times > 1 for times in under.values()) >= len(named))


def _are_answers(people: Sequence[Cells], columns: Sequence[Cells]) -> bool:
    """Whether columns hold few words of which some are the same in a row, each where somebody is named beside it."""
    rows = [[(name, spelling(cell or "")) for name, cell in row] for row in _pairs(people, columns)]
    both = [pair for row in rows for pair in row]
    said = [label for name, label in both if name and label]
    kinds, named = {*said}, {name for name, _ in both if name}
    if len(said) < NEARLY_ALL * sum(bool(name or label) for name, label in both):
        return False
    are_words = not (nearly_all(is_number, [*kinds]) or are_dates([*kinds]) or kinds & {*map(spelling, named)})
    are_few = 1 < len(kinds) <= max(FEW, len(said) // 4)
    are_texts = not are_names([*kinds])  # `model_a`, `response_a`
    again = (len({label for _, label in row if label}) < sum(bool(label) for _, label in row) for row in rows)
    return are_words and are_few and not are_texts and any(again)


def _are_shares(labels: Sequence[Cells], columns: Sequence[Cells]) -> bool:
    """Whether columns hold shares, from the largest on, each beside a label."""
    rows = [[(name, cell) for name, cell in row if name or cell] for row in _pairs(labels, columns)]
    both = [bool(name and cell) for row in rows for name, cell in row]
    if sum(both) < NEARLY_ALL * len(both) or not has_fractions([cell for row in rows for _, cell in row]):
        return False
    read = [[amount(cell) for name, cell in row if name and cell] for row in rows]
    shares = [[one for one in row if one is not None] for row in read]
    ranked = [some for row, some in zip(read, shares, strict=True) if row == sorted(some, reverse=True)]
    return len(ranked) >= NEARLY_ALL * len(read) and all(sum(some) <= 100 for some in ranked)


def _pairs(names: Sequence[Cells], columns: Sequence[Cells]) -> Iterator[list[tuple[str | None, str | None]]]:
    """The pairs of cells of two groups of columns, row by row."""
    for row in zip(*names, *columns, strict=True):
        yield [*zip(row[: len(names)], row[len(names) :], strict=True)]

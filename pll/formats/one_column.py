"""One column that may hold labels, which its name and its cells leave open: the user is asked what it is.

It is in the words of the votes and none of them (`settled`: nothing is learnt from it, whatever the answer), or the
only one, and some cells name several labels, or one with a doubt (`by_hand`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

from pll.errors import UserError
from pll.formats.checks import listing
from pll.formats.class_groups import MOST_COLUMNS_COMPARED, agree, apart, stranger_among
from pll.formats.forms import WORDS, plain_name, words_of
from pll.formats.names import LIKE_A_MODEL, NAMED
from pll.formats.proposal import Proposal, decides, says, says_aggregate, says_fact, says_what, share_among
from pll.formats.reading import LABELLED, LINES
from pll.formats.support import is_made_of_what_is_said, says_what_is_said, supported
from pll.formats.tabular.answer_cells import meant
from pll.formats.tabular.cells import (
    BINARY,
    FEW,
    FUNCTION,
    LEAST_SEVERAL,
    NEARLY_ALL,
    SEPARATORS,
    Cells,
    are_dates,
    are_texts,
    guess_separator,
    is_measured,
    is_no_answer,
    is_number,
    minus_one,
    present_cells,
    spelling,
    split_cell,
)
from pll.formats.tabular.cells import YES_OR_NO as MARKS

SELDOM_FILLED = 0.5
"""Share of the rows up to which a column is filled that is no voter's, where others answered nearly everywhere."""
SOME_FILLED = 10
"""Rows from which it counts how few are filled."""
FEWEST = 2
"""Voters beside it, at least."""


@dataclass(frozen=True)
class _Said:
    """What the voters of a table say, and the columns that say it too."""

    voters: list[str]
    votes: list[str]
    """Voters that the user has not named as such."""
    classes: set[str]
    silent: set[str]
    """Words for no vote."""
    free: list[str]
    """Open columns that say classes."""
    apt: list[str]
    """These, and the votes that do."""
    share: dict[str, float]
    """How much of each of all these is filled."""
    own: dict[str, str]
    """What each voter is called."""
    has_x: bool
    """Whether a column is called `x`: `y` is a place then."""


def settled(table: Proposal) -> None:
    """Ask whether the one column that has the words of the votes, and is no voter for sure, is the true label."""
    said = _said_in(table)
    if said is None:
        return
    sparse = [name for name in said.apt if said.share[name] < SELDOM_FILLED]
    named = _called_settled(said)
    beside = _beside_votes(table, said, {*named, *sparse})
    among = _among_votes(said, named, sparse)
    named += [name for name in _beside_programs(table, said.voters) if name in said.votes and name not in named]
    table.give_all(beside, "keep", why="it has the words of the votes")
    single = _most_settled(named, said.voters, sparse)
    found = single if len(single) == 1 and len(said.votes) != 2 else [*among, *beside]
    if len(found) == 1 and not table.having("true_label") and not table.is_asked():
        _ask_of(table, said, found[0], is_named=found[0] in named, is_only={*among, *beside} == {*found})


def _said_in(table: Proposal) -> _Said | None:
    """What is said in a table; None where there is nothing that a column could have settled."""
    voters = table.having("annotator")
    votes = [name for name in voters if name not in table.explicit]
    words = {word for word in table.classes() + table.answers_given() if not is_no_answer(word, among_votes=True)}
    silent = minus_one(words, votes) if votes else set()
    classes = words - silent
    if not table.having(*LABELLED) or len(classes) < FEWEST or (classes <= {*BINARY, *MARKS} and not silent):
        return None
    tasks = table.having("task")
    free = [name for name in table.open() if not says_fact(name, ["facts"])]
    free = [name for name in free if not tasks or table.is_function(name, *tasks)]
    are_words = not any(map(is_number, classes))
    free = [name for name in free if not (are_words and is_measured(table.cells[name]))]
    free = [name for name in free if _says(table.cells[name], classes)]
    apt = [*(name for name in votes if _says(table.cells[name], classes)), *free]
    each = {name: table.one_each(name) if tasks else table.cells[name] for name in (*voters, *apt)}
    share = {name: _filled(cells, silent) / max(len(cells), SOME_FILLED) for name, cells in each.items()}
    has_x = "x" in map(plain_name, table.raw)
    return _Said(voters, votes, classes, silent, free, apt, share, _own_names(voters), has_x)


def _own_names(voters: Sequence[str]) -> dict[str, str]:
    """What voters are called but for a word of all of them, or one that several begin with: it says nothing of one."""
    own = dict(zip(voters, apart(voters), strict=True))
    for first in {words_of(name)[:1] for name in voters}:
        alike = [name for name in voters if words_of(name)[:1] == first]
        own |= zip(alike, apart(alike), strict=True) if len(alike) > 1 else ()
    return own


def _called_settled(said: _Said) -> list[str]:
    """The columns that are called as what somebody settled, or as labels where no voter is."""
    named = [name for name in said.apt if says("settled", said.own.get(name, name)) or says_aggregate(name)]
    named = [name for name in named if not says("majority", name)]
    if said.voters and not any(says("labels", name) for name in said.voters):
        named += [name for name in said.free if name not in named and says("labels", name)]
    named += [name for name in said.free if plain_name(name) == "y" and not said.has_x]
    return [name for name in named if not FUNCTION.match(name)]


def _beside_votes(table: Proposal, said: _Said, likely: Collection[str]) -> list[str]:
    """The open columns that may have been settled: likely ones, labels, and those called otherwise than all voters."""
    strange = [name for name in said.free if stranger_among([*said.voters, name]) == [name]]
    strange = [n for n in strange if any(agree([table.cells[n], table.cells[one]]) for one in said.voters)]
    may_be = {*likely, *strange}
    return [name for name in said.free if name in may_be or table.may_be_label(name) or decides(table, name)]


def _among_votes(said: _Said, named: Collection[str], sparse: Collection[str]) -> set[str]:
    """The votes that may have been settled: called so, otherwise than all others, or sparse where others are full."""
    full = [name for name in said.voters if said.share[name] > NEARLY_ALL]
    among = {name for name in said.votes if name in named or (name in sparse and len(full) >= FEWEST)}
    return among | ({*stranger_among(said.voters)} & {*said.votes})


def _most_settled(named: list[str], voters: Sequence[str], sparse: Collection[str]) -> list[str]:
    """Those of several columns called as what was settled that are so most clearly."""
    single = [name for name in named if not says_aggregate(name)] or named
    if len(single) > 1 and voters:  # `issue_final`, where the votes are `issue_Ann`, `issue_Bob`
        question = set.intersection(*({*words_of(name)} for name in voters))
        single = [name for name in single if not question.isdisjoint(words_of(name))] or single
    if len(single) > 1:  # of several that settle something, who is asked of some is a voter
        single = [name for name in single if name not in sparse]
    return single


def _ask_of(table: Proposal, said: _Said, name: str, *, is_named: bool, is_only: bool) -> None:
    """Ask what a column is, unless it is the truth beyond doubt, or one of several verdicts.

    Parameters
    ----------
    table
        The columns and what they are so far.
    said
        What the voters say.
    name
        Of the column.
    is_named
        Whether it is called as what was settled.
    is_only
        Whether no other column may be it.
    """
    agrees_less = name in said.votes and _agrees_less(table, name, [one for one in said.voters if one != name])
    if agrees_less and all(says("settled", one) for one in said.voters):
        return  # verdicts of several, of which one is seldom given
    cells = [cell for cell in present_cells(table.cells[name]) if cell not in said.silent]
    table.give(name, "keep")
    labels = {spelling(cell) for cell in cells if not is_no_answer(cell, among_votes=True)}
    is_sure = is_named and labels <= said.classes  # as a test in a laboratory is
    # what somebody settled is what most voters say, and was not made of what they say
    is_voter = (agrees_less and not is_sure) or _is_one_more(table, said, name, is_named=is_named)
    ways = _ways(table, said, name, is_voter=is_voter)
    is_first = ways[0][1] == {name: "true_label"} and is_only and not says_aggregate(name)
    if is_first and _is_the_truth(table, said, name, is_sure=is_sure and not agrees_less):
        table.give(name, "true_label", why="called as what was found, and mostly what is said beside it")
        return
    times = sum(spelling(cell) in said.classes for cell in present_cells(table.cells[name]))
    some = listing(list(dict.fromkeys(cells)), limit=4)
    table.ask(f"{name} has labels in {times:,} of {len(table.cells[name]):,} rows ({some}). What is it?", *ways)


def _is_one_more(table: Proposal, said: _Said, name: str, *, is_named: bool) -> bool:
    """Whether a column is a voter more: what somebody settled of all stands beside, or its name is next in a series."""
    others = [one for one in table.raw if one not in said.voters and name in said.votes and not says("majority", one)]
    others = [one for one in others if _says(table.cells[one], said.classes)]
    last = [one for one in others if says("agreed", one) or not says_aggregate(one)]
    if any(_filled(table.cells[one], said.silent) > NEARLY_ALL * len(table.cells[one]) for one in last):
        return True
    series = {_NUMBER.sub("#", one) for one in (*said.voters, name)}  # `Coder 3 (Ann)` after 1 and 2, `Third reading`
    return len(series) == 1 < len(said.voters) and not is_named and "#" in min(series)


def _ways(table: Proposal, said: _Said, name: str, *, is_voter: bool) -> list[tuple[str, dict[str, str]]]:
    """What a column may be, the likeliest first."""
    lines = {line: table.roles[line].role for line in table.having(*LINES) if line not in table.explicit}
    ways = [("the true label of these", {name: "true_label"}), ("one voter more", {name: "annotator"} | lines)]
    if is_voter:
        ways.reverse()
    ways = ways if said.votes or table.having("task") else ways[:1]
    nobodys = ("only carried along", {name: "keep"})
    return [nobodys, *ways] if says("machine", name) else [*ways, nobodys]  # what a model guessed settles nothing


def _is_the_truth(table: Proposal, said: _Said, name: str, *, is_sure: bool) -> bool:
    """Whether a column is the truth beyond doubt: called as what was found or confirmed, and mostly what is said.

    Parameters
    ----------
    table
        The columns and what they are so far.
    said
        What the voters say.
    name
        Of the column.
    is_sure
        Whether it is the truth if it is called so.
    """
    called, examples = said.own.get(name, name), supported(table, name, said.classes)
    kinds = ("gold",) if any(map(is_number, said.classes)) else ("gold", "right", "tested", "confirmed")
    is_called_so = is_sure and any(says_what(kind, called) for kind in kinds) and not says("early", called)
    is_called_so = is_called_so and not (says("people", name) or says("machine", name) or LIKE_A_MODEL.search(name))
    of_voters = {word for one in said.voters if one != name for word in words_of(said.own[one])}
    is_called_so = is_called_so and of_voters.isdisjoint(words_of(called))
    is_called_so = is_called_so and words_of(called)[-1:] not in (("by",), ("via",), ("in",), ("at",))  # who, or how
    is_called_so = is_called_so and not _may_be_called(called, said.own.values())
    return is_called_so and not is_made_of_what_is_said(examples) and says_what_is_said(examples)


def _may_be_called(name: str, voters: Iterable[str]) -> bool:
    """Whether a name is one word as those of all voters are, and begins alike: it may be a surname, such as Gold.

    Examples
    --------
    >>> _may_be_called("Gold", ["Smith", "Jones"]), _may_be_called("gold", ["Smith", "Jones"])
    (True, False)
    >>> _may_be_called("Moderated grade", ["Smith", "Jones"]), _may_be_called("Histology", ["R1", "R2"])
    (False, False)
    """
    others = list(voters)
    are_words = all(one.isalpha() and one[0].isupper() == name[0].isupper() for one in (name, *others))
    return are_words and bool(others)


_NUMBER = re.compile(rf"(?:\d|\b(?:{'|'.join(WORDS['ordinals'])})).*", re.I)
"""From where on the name of a reading tells that it is the next."""


def _beside_programs(table: Proposal, voters: Sequence[str]) -> list[str]:
    """The only voter that says a label alone, where two others or more say how likely it is, as programs do."""
    others = [name for name in voters if not table.objects[name]]
    return others if len(others) == 1 and len(voters) > FEWEST else []


def set_apart(table: Proposal, names: Sequence[str], *, by_name: bool = True) -> list[str]:
    """Return the one of several columns, three at least, that is no voter as the others are: `settled` asks what it is.

    It is called without a word that all others share, or as what somebody settled, or is filled far more seldom.

    Parameters
    ----------
    table
        The columns.
    names
        Of those with one vocabulary.
    by_name
        Whether one without the word of all others is no voter, however often it is filled.
    """
    own = zip(names, apart(names), strict=True)
    filled = {name: _filled(table.cells[name], ()) for name in names}
    rows = max(filled.values(), default=0)
    sparse = [name for name in names if filled[name] < SELDOM_FILLED * rows]
    found = (stranger_among(names) if by_name else [], [name for name, part in own if says("settled", part)], sparse)
    return next((some for some in found if len(some) == 1 and len(names) > 2), [])


def _says(cells: Cells, classes: set[str]) -> bool:
    """Whether nearly all cells are classes but for one word that says there is none, and that several are there."""
    words = Counter(map(spelling, present_cells(cells)))
    known = {word for word in words if word in classes}
    others = sorted(words[word] for word in words.keys() - known)[:-1]
    said = sum(words[word] for word in known)
    return len(known) >= FEWEST and said >= NEARLY_ALL * (said + sum(others))


def _agrees_less(table: Proposal, name: str, voters: Sequence[str]) -> bool:
    """Whether a column says less often what a voter says than voters do of each other, in the rows that it fills."""
    columns = [table.cells[one] for one in (name, *voters[:MOST_COLUMNS_COMPARED])]
    words = [[spelling(c) if c and not is_no_answer(c, among_votes=True) else "" for c in cells] for cells in columns]
    said = [(own, list(filter(None, others))) for own, *others in zip(*words, strict=True) if own]
    ours = [one == own for own, others in said for one in others]
    theirs = [one == other for _, others in said for one, other in combinations(others, 2)]
    return bool(theirs) and sum(ours) * len(theirs) < sum(theirs) * len(ours)


def _filled(cells: Cells, silent: Collection[str]) -> int:
    return sum(cell not in silent and not is_no_answer(cell, among_votes=True) for cell in present_cells(cells))


# ---- the only column of labels ---------------------------------------------------------------------------------------


def by_hand(table: Proposal) -> None:
    """Ask whether the one column of such cells is the candidates, and one that is seldom filled the true label."""
    unsure = _unsure_columns(table)
    pair = beside_known(table)
    if not pair and len(unsure) != 1:
        return
    name = pair[0] if pair else next(iter(unsure))
    truth, alike = table.having("true_label"), _alike(table, name)
    full = [n for n in alike if not _is_known(table, name, n)]
    are_voters = len(alike) > 1 or (full and not table.holds_sets(name))
    if are_voters or (truth and share_among(table.truth(), table.words(name)) < NEARLY_ALL):
        return  # voters, one of whom was not sure; or a feature
    if unsure and not pair and says("possible", name) and not _may_be_others(table, name):
        table.give(name, "candidates", why="called as what is possible")
        return
    table.give_all([name, *alike], "keep")
    known = f", and {alike[0]} the true label" if alike else ""
    voters = ("each column is one voter's answers", dict.fromkeys([name, *alike], "annotator"))
    said = f"{name} has labels, and {listing(alike)} the same in some rows. What are they?"
    if some := unsure.get(name):
        cells = listing(some, limit=3)
        said = f"{name} names several labels, or one with a doubt, in some rows ({cells}). What is it?"
    table.ask(
        said,
        (f"the labels that each example may have{known}", {name: "candidates"} | dict.fromkeys(alike, "true_label")),
        *([voters] if pair and not table.holds_sets(name) else []),
        ("only carried along", dict.fromkeys([name, *alike], "keep")),
        ("nobody's labels: learn from it", {name: "category"} | dict.fromkeys(alike, "category")),
    )


def _may_be_others(table: Proposal, name: str) -> bool:
    """Whether what a column calls possible may be no labels: persons, dates, or another column is called as labels."""
    others = [one for one in table.raw if one != name and says("labels", one)]
    are_dated = are_dates([part for cell in present_cells(table.cells[name]) for part in re.split(r"[,;|/]", cell)])
    return bool(others) or are_dated or words_of(name)[-1:] == ("by",) or bool(table.having("true_label"))


def beside_known(table: Proposal) -> list[str]:
    """Return a column of labels, and the only other one of its words, seldom filled: what was found out in the end.

    The first names several labels, or one with a doubt, in some rows, or the second is called as what is settled, or as
    the first with a word more (`Category`, `QA category`): else they may as well be two voters. Empty where there is no
    such pair, or another column tells what these are.

    Parameters
    ----------
    table
        The columns and what they are so far.
    """
    if table.having(*LABELLED, *LINES, "true_label"):
        return []
    pairs = [(name, *_alike(table, name)) for name in _unsure_columns(table)]
    for known in [one for one in table.open() if _is_sparse(table, one)]:
        like = [n for n in table.open() if n != known and table.may_be_answers(n)]
        like = [name for name in like if says("settled", known) or _are_called_apart(known, name)]
        like = [name for name in like if _says_as(table, known, table.words(name))]
        pairs += [(name, *_alike(table, name)) for name in like if not {*table.words(name)} <= {*BINARY, *MARKS}]
    pairs = [pair for pair in dict.fromkeys(pairs) if len(pair) == 2 and _is_known(table, *pair)]
    return [*pairs[0]] if len(pairs) == 1 and not any(map(NAMED.fullmatch, pairs[0])) else []


def _are_called_apart(known: str, name: str) -> bool:
    """Whether one of two columns of something has more words of its own than the other: it is no second voter.

    Examples
    --------
    >>> _are_called_apart("QA category", "Category"), _are_called_apart("label 2", "label")
    (True, False)
    >>> _are_called_apart("type after the check", "type (clerk)"), _are_called_apart("Coder Bo", "Coder Ann")
    (True, False)
    """
    own, other = ({word for word in words_of(one) if len(word) > 1 and not word.isdecimal()} for one in (known, name))
    return len(own - other) > len(other - own) and not own.isdisjoint(other)


def _unsure_columns(table: Proposal) -> dict[str, list[str]]:
    """The columns of such cells; of several the one all or most of whose labels stand alone too, as of texts do not."""
    unsure = {name: some for name in table.open() if (some := _unsure(table, name))}
    words = {name: table.words(name).keys() for name in unsure}
    alone = {name: words[name] & {*map(spelling, present_cells(table.cells[name]))} for name in unsure}
    for found in (
        [n for n in unsure if alone[n] == words[n]],
        [n for n in unsure if 2 * len(alone[n]) > len(words[n])],
    ):
        if len(found) == 1:
            return {found[0]: unsure[found[0]]}
    return unsure


def _alike(table: Proposal, name: str) -> list[str]:
    """The open columns that have the words of another one."""
    words = table.words(name)
    return [other for other in table.open() if other != name and _says_as(table, other, words)]


def _is_sparse(table: Proposal, name: str) -> bool:
    return len(present_cells(table.cells[name])) < SELDOM_FILLED * len(table.cells[name])


def _is_known(table: Proposal, name: str, known: str) -> bool:
    """Whether what another column says of labels was found out: seldom, or it is always among what these name."""
    return _is_sparse(table, known) or _is_among(table.cells[name], table.cells[known])


def _is_among(cells: Cells, others: Cells) -> bool:
    """Whether cells name one of several labels that others name beside, or the same, in nearly every row.

    >>> _is_among(["cat or dog", "cat", "dog", "cat"] * 3, ["dog", "cat", "dog", None] * 3)
    True
    >>> _is_among(["cat or dog", "cat", "dog", "cat"] * 3, ["dog", "cat", "dog", "dog"] * 3)
    False
    """
    own, both = {*present_cells(cells)}, Counter(present_cells([*cells, *others]))
    mark, several = guess_separator(own), meant(both)
    named = {cell: {*map(spelling, several.get(cell) or split_cell(cell, mark))} for cell in own}
    pairs = [(cell, other) for cell, other in zip(cells, others, strict=True) if cell in own and other]
    rows = [(named[cell], spelling(other)) for cell, other in pairs]
    are_several = sum(len(some) > 1 for some, _ in rows) >= max(FEWEST, LEAST_SEVERAL * len(rows))
    return are_several and sum(label in some for some, label in rows) >= NEARLY_ALL * len(rows)


def _unsure(table: Proposal, name: str) -> list[str]:
    """Cells that name several labels, or one with a doubt, of a column of few names that recur, however long."""
    cells = Counter(present_cells(table.cells[name]))
    if len(cells) < 2 or not table.may_be_label(name) or says_fact(name) or says_aggregate(name):
        return []
    words, mark = table.words(name), guess_separator(cells)
    # commas stand in sentences too, whose parts recur less
    labels = words.total() if mark in SEPARATORS[:3] else cells.total()
    if len(words) > max(FEW, labels // 4) or 2 * len(words) > labels:
        return []
    # questions to read are no doubts
    doubted = set[str]() if are_texts([*cells], 4) else _doubted(cells)
    try:
        parts = {cell: {*map(spelling, split_cell(cell, mark))} for cell in cells}
    except UserError:  # reading says where a list cannot be read
        return []
    stands = Counter(part for some in parts.values() for part in some)  # in a sentence, parts never stand elsewhere
    several = {cell for cell, own in parts.items() if len(own) > 1 and any(stands[part] > 1 for part in own)}
    some = [cell for cell in cells if cell in doubted or cell in several]
    recur = sum(times for times in words.values() if times > 1)
    times = sum(cells[cell] for cell in some)
    return some if times >= max(2, LEAST_SEVERAL * cells.total()) and recur >= NEARLY_ALL * words.total() else []


def _doubted(cells: Counter[str]) -> set[str]:
    """Cells that say a label with a doubt: with a question mark, where one of them is said without it, too."""
    asked, plain = {cell for cell in cells if "?" in cell}, {*map(spelling, cells)}
    are_doubts = any(spelling(re.sub(r"[?()]", " ", cell)) in plain for cell in asked)
    return {*meant(cells), *(asked if are_doubts else ())}


def _says_as(table: Proposal, name: str, words: Counter[str]) -> bool:
    own = table.words(name)
    return bool(own) and table.may_be_label(name) and share_among(own, words) >= NEARLY_ALL

"""One column that may hold labels, which its name and its cells leave open: the user is asked what it is.

It is in the words of the votes and none of them (`settled`: nothing is learnt from it, whatever the answer), or the
only one, and some cells name several labels, or one with a doubt (`by_hand`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from itertools import combinations

from pll.errors import UserError
from pll.formats.checks import listing
from pll.formats.class_groups import MOST_COLUMNS_COMPARED, agree, apart, has_other_labels, stranger_among
from pll.formats.forms import WORDS, plain_name, words_of
from pll.formats.names import NAMED
from pll.formats.proposal import Proposal, decides, says, says_aggregate, says_fact, says_what, share_among
from pll.formats.reading import LABELLED, LINES
from pll.formats.support import Supported, is_made_of_what_is_said, is_one_of_several, says_what_is_said, supported
from pll.formats.tabular.answer_cells import meant
from pll.formats.tabular.cells import (
    BINARY,
    FEW,
    FUNCTION,
    LEAST_SEVERAL,
    NEARLY_ALL,
    SEPARATORS,
    Cells,
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


def settled(table: Proposal) -> None:
    """Ask whether the one column that has the words of the votes, and is no voter for sure, is the true label."""
    voters = table.having("annotator")
    votes = [name for name in voters if name not in table.explicit]
    words = {word for word in table.classes() + table.answers_given() if not is_no_answer(word, among_votes=True)}
    silent = minus_one(words, votes) if votes else set()
    classes = words - silent
    if not table.having(*LABELLED) or len(classes) < FEWEST or (classes <= {*BINARY, *MARKS} and not silent):
        return
    tasks = table.having("task")
    free = [name for name in table.open() if not says_fact(name, ["facts"])]
    free = [name for name in free if not tasks or table.is_function(name, *tasks)]
    are_words = not any(map(is_number, classes))
    free = [name for name in free if not (are_words and is_measured(table.cells[name]))]
    apt = [name for name in (*votes, *free) if _says(table.cells[name], classes)]
    each = {name: table.one_each(name) if tasks else table.cells[name] for name in (*voters, *apt)}
    share = {name: _filled(cells, silent) / max(len(cells), SOME_FILLED) for name, cells in each.items()}
    full = [name for name in voters if share[name] > NEARLY_ALL]
    sparse = [name for name in apt if share[name] < SELDOM_FILLED]
    own = dict(zip(voters, apart(voters), strict=True))  # a word of all voters says nothing of one
    for first in {words_of(name)[:1] for name in voters}:  # nor one that several begin with
        alike = [name for name in voters if words_of(name)[:1] == first]
        own |= zip(alike, apart(alike), strict=True) if len(alike) > 1 else ()
    named = [name for name in apt if says("settled", own.get(name, name)) or says_aggregate(name)]
    named = [name for name in named if not says("majority", name)]
    if voters and not any(says("labels", name) for name in voters):
        named += [name for name in free if name in apt and name not in named and says("labels", name)]
    named += [name for name in free if name in apt and plain_name(name) == "y"]
    named = [name for name in named if not FUNCTION.match(name)]
    called_apart = [name for name in apt if name not in voters and stranger_among([*voters, name]) == [name]]
    called_apart = [n for n in called_apart if any(agree([table.cells[n], table.cells[one]]) for one in voters)]
    may_be = {*named, *sparse, *called_apart}
    may_be |= {name for name in free if table.may_be_label(name) or decides(table, name)}
    beside = [name for name in free if name in apt and name in may_be]
    among = {name for name in votes if name in named or (name in sparse and len(full) >= FEWEST)}
    among |= {*stranger_among(voters)} & {*votes}
    named += [name for name in _beside_programs(table, voters) if name in votes and name not in named]
    table.give_all(beside, "keep", why="it has the words of the votes")
    single = [name for name in named if not says_aggregate(name)] or named
    if len(single) > 1 and voters:  # `issue_final`, where the votes are `issue_Ann`, `issue_Bob`
        question = set.intersection(*({*words_of(name)} for name in voters))
        single = [name for name in single if not question.isdisjoint(words_of(name))] or single
    if len(single) > 1:  # of several that settle something, who is asked of some is a voter
        single = [name for name in single if name not in sparse]
    found = single if len(single) == 1 and len(votes) != 2 else [*among, *beside]
    if len(found) != 1 or table.having("true_label") or table.is_asked():
        return
    name = found[0]
    agrees_less = name in votes and _agrees_less(table, name, [other for other in voters if other != name])
    if agrees_less and all(says("settled", one) for one in voters):
        return  # verdicts of several, of which one is seldom given
    said = [cell for cell in dict.fromkeys(present_cells(table.cells[name])) if cell not in silent]
    times = sum(spelling(cell) in classes for cell in present_cells(table.cells[name]))
    table.give(name, "keep")
    lines = {line: table.roles[line].role for line in table.having(*LINES) if line not in table.explicit}
    ways = [("the true label of these", {name: "true_label"}), ("one voter more", {name: "annotator"} | lines)]
    # what somebody settled of all of them stands beside: who was asked of some is a voter
    others = [one for one in table.raw if one not in voters and name in votes and not says("majority", one)]
    last = [n for n in others if _says(table.cells[n], classes) and (says("agreed", n) or not says_aggregate(n))]
    is_one_more = any(_filled(table.cells[one], silent) > NEARLY_ALL * len(table.cells[one]) for one in last)
    series = {_NUMBER.sub("#", one) for one in (*voters, name)}  # `Coder 3 (Ann)` after 1 and 2, `Third reading`
    is_next = len(series) == 1 < len(voters) and name not in named and "#" in min(series)
    labels = {spelling(cell) for cell in said if not is_no_answer(cell, among_votes=True)}
    is_sure = name in named and labels <= classes  # as a test in a laboratory is
    if (agrees_less and not is_sure) or is_one_more or is_next:
        ways.reverse()  # what somebody settled is what most voters say, and was not made of what they say
    ways = [*ways[: None if votes or tasks else 1], ("only carried along", {name: "keep"})]
    ways = [*ways[-1:], *ways[:-1]] if says("machine", name) else ways  # what a model guessed settles nothing
    is_first = ways[0][1] == {name: "true_label"} and {*among, *beside} == {name}
    if is_first and not says_aggregate(name):
        called = own.get(name, name)
        is_called_so = is_sure and not agrees_less and says_what("settled", called)
        is_called_so = is_called_so and not _may_be_called(called, own.values())
        examples = supported(table, name, classes)
        may_be_made = share.get(name, 0.0) > NEARLY_ALL or bool(table.having("probability", "count"))
        may_be_made = may_be_made and not any(says_what(kind, called) for kind in ("right", "tested"))
        why = _why_known(table, examples, is_called_so=is_called_so, may_be_made=may_be_made)
        if why and not says("early", called):
            table.give(name, "true_label", why=why)
            return
    table.ask(
        f"{name} has labels in {times:,} of {len(table.cells[name]):,} rows ({listing(said, limit=4)}). What is it?",
        *ways,
    )


def _why_known(table: Proposal, examples: Sequence[Supported], *, is_called_so: bool, may_be_made: bool) -> str:
    """Return why a column is the truth beyond doubt; "" where it may be something else.

    Parameters
    ----------
    table
        The columns and what they are so far.
    examples
        What the column says, and what is said beside it.
    is_called_so
        Whether it is called as what was settled.
    may_be_made
        Whether a program may have made it of what is said beside it, if it always says what is said most.
    """
    is_made = may_be_made and is_made_of_what_is_said(examples)
    if is_called_so and not is_made and says_what_is_said(examples):
        return "called as what was settled, and mostly what is said beside it"
    return "always among the labels beside it" * (not table.having(*_OF_ANSWERS) and is_one_of_several(examples))


_OF_ANSWERS = ("annotator", "answers", "vote", "probability", "count")
"""Roles of what is said, and not only possible."""


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
    is_settled = len(alike) == 1 and says_what("settled", alike[0]) and not says("machine", alike[0])
    if is_settled and not has_other_labels(table, [name, *alike]):
        table.give(name, "candidates", why=f"{alike[0]} is one of several labels that it names")
        if is_one_of_several(supported(table, alike[0], {*table.words(name)})):
            table.give(alike[0], "true_label", why=f"called as what was settled, and always among {name}")
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
    """The columns of such cells; of several the one whose labels stand alone too, as those of texts do not."""
    unsure = {name: some for name in table.open() if (some := _unsure(table, name))}
    alone = {name: {*map(spelling, present_cells(table.cells[name]))} for name in unsure}
    found = [name for name, cells in alone.items() if cells.issuperset(table.words(name))]
    return {name: unsure[name] for name in found} if len(found) == 1 else unsure


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

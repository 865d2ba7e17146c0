"""Columns that are a voter each, and what stands beside them: confidences, remarks, what their votes were made into."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import combinations, compress
from typing import Any, TypeVar

from pll.formats.checks import listing
from pll.formats.class_groups import (
    MADE_OF_SHARES,
    agree,
    agreed,
    amount,
    apart,
    are_amounts,
    parts_of_total,
    says_total,
    stranger_among,
)
from pll.formats.forms import USUAL, plain_name
from pll.formats.forms import WORDS as NAMES
from pll.formats.grouping import grouped
from pll.formats.names import LIKE_A_MODEL, NAMED, NUMBERED, grids, scored_by
from pll.formats.one_column import beside_known, set_apart
from pll.formats.proposal import (
    LEAST_SPLIT,
    Proposal,
    decides,
    follows,
    grades_in,
    labels_among,
    labels_listed,
    one_of,
    says,
    says_aggregate,
    says_fact,
    says_what,
    share_among,
    which,
)
from pll.formats.reading import LABELLED, MAJORITY, Column
from pll.formats.tabular.answer_cells import AnswerReader
from pll.formats.tabular.cells import (
    BINARY,
    MINUS_ONE,
    NEARLY_ALL,
    YES_OR_NO,
    Cells,
    are_binary,
    are_names,
    default_role,
    has_fractions,
    is_measured,
    is_no_answer,
    is_number,
    nearly_all,
    present_cells,
    read_marks,
    says_counts,
    shares_of,
    spelling,
)


def annotators(table: Proposal) -> None:
    """`annotator_1, annotator_2, …`: columns of labels, and no measurements; `gpt` where there is a `gpt_score`."""
    whole = [name for name in table.open() if not has_fractions(table.cells[name]) or table.repeats(name)]
    matches = {name: match for name in whole if (match := NUMBERED.fullmatch(name))}
    labels = [name for name, match in matches.items() if match["label"]]
    if all(are_binary(table.cells[name]) for name in labels):  # label_1, label_2 of 0 and 1 may be classes
        matches = {name: match for name, match in matches.items() if name not in labels}
    others = _of_another_kind(table, list(matches))
    table.give_all(others, "keep", why="other words than the voters")
    named = [name for name in matches if name not in others]
    people = [name for name in named if matches[name]["person"] and not is_measured(table.cells[name])]
    if len(named) > 1 and (not people or _have_columns_beside(table, named)) and are_ranked(table, named):
        _ask_whether_ranked(table, named, are_people=bool(people))
        return
    if len(named) > 1 or (people and not table.having("candidates", "true_label")):
        said = {name: {*present_cells(table.cells[name])} for name in whole}
        kinds = set[str]().union(*(said[name] for name in named))
        # where functions abstain with −1, so do those that are called otherwise
        same = [name for name in whole if not said[name].isdisjoint(MINUS_ONE) and said[name] <= kinds]
        same = [name for name in same if not (table.usual("true_label", [name]) or says("settled", name))]
        table.give_all(dict.fromkeys([*named, *same]), "annotator")
        return
    scored = {who.casefold() for name in table.open() if (who := scored_by(name)) and are_amounts(table.cells[name])}
    named = [name for name in whole if name.casefold() in scored and f"{name}_gold" not in table.open()]
    named = [name for name in named if not table.usual("true_label", [name])]
    words = [name for name in named if default_role(table.cells[name]) == "category" or table.may_be_answers(name)]
    table.give_all(words, "annotator")


def _have_columns_beside(table: Proposal, names: Sequence[str]) -> bool:
    """Whether another column ends as each of some does: `response_a`, `response_b` beside `model_a`, `model_b`."""
    ends = [re.split(r"[\W_]+", name)[-1] for name in names]
    others = [re.split(r"[\W_]+", name)[-1] for name in table.raw if name not in names]
    return {*ends} <= {*others}


LEAST_RANKED = 10
"""Examples with several answers from which it is no chance that two never say the same."""


def are_ranked(table: Proposal, names: Sequence[str]) -> bool:
    """Whether columns are filled from the left and never say the same: possible labels in order, and no voters.

    Parameters
    ----------
    table
        The columns.
    names
        Of those in question.
    """
    rows = list(zip(*(table.raw[name] for name in names), strict=True))
    filled = [[re.sub(r"[.,]0+$", "", spelling(cell)) for cell in row if cell] for row in rows]
    several = [one for one in filled if len(one) > 1]
    from_the_left = all(all(row[: len(one)]) for row, one in zip(rows, filled, strict=True))
    is_one_each = from_the_left and not which(table, "several", among=names)
    return is_one_each and len(several) >= LEAST_RANKED and all(len({*one}) == len(one) for one in several)


def _ask_whether_ranked(table: Proposal, names: Sequence[str], *, are_people: bool = False) -> None:
    ways = [
        ("its possible labels", dict.fromkeys(names, "candidate")),
        ("each column is one voter's answers", dict.fromkeys(names, "annotator")),
    ]
    if are_people:  # as of two models that are compared
        ways = [("names of who, or of what is compared: no labels", dict.fromkeys(names, "keep")), *reversed(ways)]
    table.give_all(names, next(iter(ways[0][1].values())))
    table.ask(f"{listing(names, limit=12)} never say the same of an example. What are they?", *ways)


def _ask_whether_second(table: Proposal, first: str, second: str) -> None:
    """A second label, always another one: it may be right as well, or right instead."""
    table.give_all([first, second], "candidate")
    answers = [
        ("either may be right", {first: "candidate", second: "candidate"}),
        (f"{second} is right where there is one", {first: "annotator", second: "true_label"}),
        (f"{first} is always right", {first: "true_label", second: "keep"}),
    ]
    if says("settled", second):  # a correction, more likely
        answers[:2] = answers[1::-1]
    table.ask(f"{second} never says the same as {first}. What are they?", *answers)


def _of_another_kind(table: Proposal, names: Sequence[str]) -> list[str]:
    """Return columns that share no word with those of the largest kind: `model_a`, `model_b` beside `judge_1` …."""
    kinds = grouped((re.split(r"[\W_\d]", name.casefold())[0], name) for name in names)
    words = table.words(*max(kinds.values(), key=len, default=[]))
    apart = (names for names in kinds.values() if not share_among(table.words(*names), words))
    return [name for names in apart for name in names if len(kinds) > 1]


def answers(table: Proposal) -> None:
    """A model's answers in JSON are an annotator's, and so are how likely it finds each class, of several models."""
    shares = [name for name in table.open() if table.objects[name] == "shares" and not says_aggregate(name)]
    shares = [name for name in shares if nearly_all(lambda cell: "." in cell, table.raw[name])]
    table.give_all(shares if len(shares) > 1 and not table.having(*LABELLED) else (), "annotator")
    role = "keep" if table.having("candidates", "candidate", "class") else "annotator"
    table.give_all([name for name in table.open() if table.objects[name] == "answers"], role)


def vocabulary(table: Proposal) -> None:
    """Columns of words with one vocabulary are voters.

    They are where they share it with the truth or the candidates, or where there are three or more; two of them, words
    like yes and no, or a truth of other words may also be features: the user is asked.
    `final`, `expert` and their like are the truth, where a voter or the candidates have their words.
    """
    voters = table.having("annotator")
    has_sets = bool(table.having("candidates", "candidate", "class", "probability", "count"))
    is_labelled = bool(voters or has_sets or table.truth())
    named = _may_vote(table)
    classes = table.classes() + table.words(*voters)
    # Most would not do: of mushrooms, ring-type has the letters of the classes, e and p, in 83 % of its cells.
    near = {name for name in named if is_labelled and share_among(table.words(name), classes) >= NEARLY_ALL}
    columns = [name for name in named if name in near or _has_words_of_voter(table, name)]
    groups = of_one_vocabulary(table, [*columns, *voters])
    shared = near.union(*(group for group in groups if len(group) > 1))
    if not table.having("true_label") and (truth := _adjudicated(columns, shared)):
        table.give(truth, "true_label")
        near.add(truth)
        is_labelled = True
    near = near.union(*(group for group in groups if near.intersection(group)))  # a truth may name but few of them
    near_open = [name for name in columns if name in near and name not in table.roles]
    is_alone = len(near_open) == 1 and has_sets and not (voters or table.having("true_label"))
    if is_alone or table.having("class", "probability", "count"):
        return  # `settled` asks what they are
    if not voters and _ask_of_order(table, near_open):
        return
    table.give_all([n for n in near_open if voters or not _says_yes_or_no(table.words(n))], "annotator")
    if not is_labelled and (asked := _in_a_grid(columns, groups)):
        _ask_of_grid(table, asked)
        return
    near_unclear = [name for name in near_open if name not in table.roles]
    questions, unclear = _questions_in(table, groups, near_unclear, is_labelled=is_labelled)
    table.give_all((name for names in questions for name in names), "annotator")
    table.give_all(_in_series(table), "annotator")
    if len(questions) > 1:
        _ask_which(table, questions)
    _ask_of_unclear(table, unclear, is_labelled=is_labelled)


def _may_vote(table: Proposal) -> list[str]:
    """The open columns that are called as voters are, or may be labels; not the only one of sets."""
    named = [n for n in table.open() if _is_called_voter(table, n) or (table.may_be_label(n) and not says_aggregate(n))]
    sets = [name for name in named if table.holds_sets(name)]
    if len(sets) == 1 and not any(_are_sets_alike(table, sets[0], name) for name in named):
        named = [name for name in named if name not in sets]  # `by_hand` asks what it is
    return named


def _is_called_voter(table: Proposal, name: str) -> bool:
    return bool(NAMED.fullmatch(name)) and not has_fractions(table.cells[name])


def _has_words_of_voter(table: Proposal, name: str) -> bool:
    return (_is_called_voter(table, name) or _are_words(table, name)) and not _are_signs(table.words(name))


def _adjudicated(columns: Sequence[str], shared: Collection[str]) -> str:
    """The first column of shared words called as a judge is; where none is, the only `Facit (in red)`; or ""."""
    called = [name for name in columns if plain_name(name) in NAMES["adjudicated"]]
    more = [name for name in columns if plain_name(name.partition(" (")[0]) in NAMES["adjudicated"]]
    likely = called or (more if len(more) == 1 else [])
    return next((name for name in likely if name in shared), "")


def _ask_of_order(table: Proposal, names: Sequence[str]) -> bool:
    """Ask of columns that never say the same as the truth or each other; return whether there are such."""
    truth = [name for name in table.having("true_label") if table.roles[name].guessed]
    if len(names) == len(truth) == 1 and are_ranked(table, [*truth, *names]):
        _ask_whether_second(table, truth[0], names[0])
        return True
    clear = [name for name in names if not _says_yes_or_no(table.words(name))]
    is_ranked = len(clear) > 1 and are_ranked(table, clear)
    if is_ranked:
        _ask_whether_ranked(table, clear)
    return is_ranked


def _ask_of_grid(table: Proposal, asked: Sequence[Sequence[str]]) -> None:
    """Ask on which question of a grid the labels are; columns of yes and no may be nobody's.

    How sure somebody was is no question where another one is left.
    """
    sure = [names for names in asked if all(says("sure", name) for name in names)]
    table.give_all((n for names in sure for n in names if len(sure) < len(asked)), "keep", why="how sure an answer is")
    asked = [names for names in asked if names not in sure] or asked
    table.give_all((name for names in asked for name in names), "annotator")
    if len(asked) < 2:
        return
    may_be_nobodys = any(_says_yes_or_no(table.words(*names)) for names in asked)
    _ask_which(table, asked, *[("nobody's: learn from them", "category")] * may_be_nobodys)


def _questions_in(
    table: Proposal, groups: Sequence[Sequence[str]], near_unclear: list[str], *, is_labelled: bool
) -> tuple[list[list[str]], list[list[str]]]:
    """The groups of voters on a question each, and those of voters or features; others are kept, or asked about.

    Parameters
    ----------
    table
        The columns and what they are so far.
    groups
        Columns of one vocabulary each.
    near_unclear
        Columns that have the words of the labels, which voters or features may have.
    is_labelled
        Whether there are labels besides.
    """
    questions, unclear = list[list[str]](), [near_unclear] if near_unclear else []
    for group in groups:
        names = [name for name in group if name not in table.roles and name not in near_unclear]
        is_yes_or_no = _says_yes_or_no(table.words(*names))
        is_clear = len(names) > 2 and not is_yes_or_no
        is_clear = is_clear or (len(names) == 2 and all(NAMED.fullmatch(name) for name in names))
        has_truth = share_among(table.truth(), table.words(*names)) >= 1 / 2
        if len(names) < 2 or (is_labelled and not is_clear and not has_truth):
            continue
        strange = {*stranger_among(names), *(name for name in names if says("settled", name))}
        ranked = [name for name in names if len(strange) != 1 or name not in strange]  # `settled` asks what that is
        if not (questions or unclear or is_yes_or_no) and are_ranked(table, ranked):
            _ask_whether_ranked(table, ranked)
        elif is_clear and not is_labelled:
            questions.append(names)
        elif questions:
            table.give_all(names, "keep")
        else:
            unclear.append(names)
    return questions, unclear


def _ask_of_unclear(table: Proposal, unclear: list[list[str]], *, is_labelled: bool) -> None:
    """Ask whether groups of columns are voters or features."""
    if len(unclear) == 1 and {*beside_known(table)} != {*unclear[0]}:  # `by_hand` asks what they are
        _ask_of_one_group(table, unclear[0], is_labelled=is_labelled)
    elif len(unclear) > 1:
        unclear.sort(key=lambda names: all(says("sure", name) for name in names))
        table.give_all((name for names in unclear for name in names), "category")
        _ask_which(table, unclear, ("nobody's: learn from them", "category"))


def _ask_of_one_group(table: Proposal, names: Sequence[str], *, is_labelled: bool) -> None:
    """Ask whether columns of one vocabulary are voters or features, or marks of a class each."""
    words, both = table.words(*names), listing(names, limit=12)
    marked = ("each column is a class, marked where it is a candidate", dict.fromkeys(names, "class"))
    may_be_classes = not is_labelled and _says_yes_or_no(words)
    if may_be_classes and len(words) == 1:  # who ticks boxes says one thing of each
        table.give_all(names, "category")
        nobodys = ("nobody's: learn from them", dict.fromkeys(names, "category"))
        table.ask(f"{both} are marked. What is one of these columns?", marked, nobodys)
        return
    both = both.replace(", ", " and ") if len(names) == 2 else both
    text = f"{both} use the same words" if len(names) > 1 else f"{both} uses the words of the labels"
    ask_whose(table, text, [names], "category", *[marked] * may_be_classes)


def _in_a_grid(names: Sequence[str], vocabularies: Sequence[Sequence[str]]) -> list[list[str]]:
    """The columns of each question that the same voters answered, in words of its own: `age (Mia)`, `tone (Mia)`.

    None where others have one vocabulary, too.
    """
    by_words = {name: k for k, some in enumerate(vocabularies) for name in some}
    for grid in grids(names):
        asked = [list(one.values()) for one in grid.values()]
        words = [{by_words.get(name) for name in some} for some in asked]
        others = {k for k, some in enumerate(vocabularies) if len(some) > 1} - set[int | None]().union(*words)
        if all(len(some) == 1 for some in words) and len(set[int | None]().union(*words)) == len(words) and not others:
            return asked
    return []


def _in_series(table: Proposal) -> list[str]:
    """Open columns of numbers that are called as voters but for the number, and say what these say: `4`, where `4A` is.

    Whoever seldom says a code with a letter seems to have measured.
    """
    voters = table.having("annotator")
    series = Counter(re.sub(r"\d+", "#", name) for name in voters)
    same = [name for name in which(table, "number") if series[re.sub(r"\d+", "#", name)] > 1]
    words = table.words(*voters) if same else Counter[str]()
    return [name for name in same if share_among(table.words(name), words) >= NEARLY_ALL]


def _are_sets_alike(table: Proposal, name: str, other: str) -> bool:
    """Whether another column has the words of one, and several in some cells too."""
    words, theirs = table.words(name), table.words(other)
    is_like = name != other and min(share_among(words, theirs), share_among(theirs, words)) >= 1 / 2
    return is_like and bool(which(table, "several", among=[other]))


def _ask_which(table: Proposal, questions: Sequence[Sequence[str]], *others: tuple[str, str]) -> None:
    """Columns of several vocabularies, each of several voters: what they were asked differs, or they are another role.

    The one that is called otherwise is asked about when that is answered.

    Parameters
    ----------
    others
        What else all of them may be, and the role.
    """
    questions = [[name for name in names if name not in set_apart(table, names)] for names in questions]
    questions.sort(key=lambda names: all(says("sure", name) for name in names))
    said = [{cell.strip() for cell in present_cells(table.cells[names[0]])} for names in questions]
    words = [listing(sorted(some), limit=4) for some in said]
    groups = [(f"{listing(names, limit=4)} ({said})", names) for names, said in zip(questions, words, strict=True)]
    table.ask(
        f"{listing([names[0] for names in questions])} answer different questions. Which are the labels?",
        *one_of(groups, "annotator"),
        *((said, {name: role for names in questions for name in names}) for said, role in others),
    )


def ask_whose(
    table: Proposal, text: str, groups: Sequence[Sequence[str]], role: str = "", *others: tuple[str, Mapping[str, str]]
) -> None:
    """Ask whether columns are a voter's answers each, of one of several questions, or nobody's.

    Parameters
    ----------
    table
        The columns and what they are so far.
    text
        What was found of them.
    groups
        Those of each question.
    role
        What they are where they are nobody's; by default what their cells say.
    others
        What else they may be, and the roles.
    """
    nobody = {name: role or default_role(table.cells[name]) for names in groups for name in names}
    for name in nobody:
        table.give(name, nobody[name])
    each = "each of {}" if len(groups) > 1 else "each column"
    of = [(f"{each.format(listing(names, limit=3))} is one voter's answers", names) for names in groups]
    nobodys = ("nobody's: learn from them", nobody)
    table.ask(f"{text}. Whose answers are these?", *one_of(of, "annotator"), nobodys, *others)


def _are_words(table: Proposal, name: str) -> bool:
    """Whether cells can be names of classes, of which there may be a thousand: no numbers, dates, pictures or texts."""
    filled = present_cells(table.cells[name])
    return table.may_be_label(name) and are_names(filled)


def _are_signs(words: Counter[str]) -> bool:
    """Whether words are −, +, ++ and no answer: what was found, by how much."""
    said = [word for word in words if not is_no_answer(word, among_votes=True)]
    return bool(said) and not any(char.isalnum() for word in said for char in word)


def _says_yes_or_no(words: Counter[str]) -> bool:
    return set(words) <= {*BINARY, *YES_OR_NO}


def of_one_vocabulary(table: Proposal, names: Sequence[str]) -> list[list[str]]:
    """Groups of columns of one vocabulary, the largest first.

    Two have one where most cells of each hold words of the other: annotators of the same examples use the same classes,
    even where they often disagree, and of a thousand classes in few rows at least those that they agree on. A column
    that uses only some words of a group belongs to it.

    Parameters
    ----------
    table
        The columns and what they are so far.
    names
        Of the columns that may be in a group.
    """
    groups: list[list[str]] = []
    users: dict[str, set[str]] = {}  # word → columns that use it: of thousands, only few are compared
    for name in names:
        words = table.words(name)
        others = {other for word in words for other in users.get(word, ())}

        def is_like(other: str, words: Counter[str] = words) -> bool:
            theirs = table.words(other)
            return min(share_among(words, theirs), share_among(theirs, words)) >= 1 / 2

        fitting = [group for group in groups if any(map(is_like, others.intersection(group)))]
        groups = [group for group in groups if group not in fitting]
        groups.append([*(one for group in fitting for one in group), name])
        for word in words:
            users.setdefault(word, set()).add(name)
    groups.sort(key=len, reverse=True)
    for group in [group for group in groups if len(group) > 1]:
        words = table.words(*group)
        for other in groups[groups.index(group) + 1 :]:
            if group and other and share_among(table.words(*other), words) >= NEARLY_ALL:
                group += other
                other.clear()
    return [group for group in groups if group]


def scores(table: Proposal) -> None:
    """`gpt_score` where there is an annotator `gpt`: the confidence of each answer, never a feature."""
    voters = [table.roles[name] for name in table.having("annotator")]
    people = {column.name.casefold(): column.display_name for column in voters}
    people |= {column.display_name.casefold(): column.display_name for column in voters}
    for name in [name for name in table.open() if scored_by(name).casefold() in people]:
        cells = [cell.replace(",", ".") for cell in table.raw[name] if cell and cell.strip()]
        if 2 * sum(map(is_number, cells)) >= len(cells) > 0:
            table.give(name, "score", people[scored_by(name).casefold()])
    ranked = {rank: stem for stem, rank in map(_rank_in, table.having("annotator", "candidate")) if rank}
    numbers = [(name, *_rank_in(name)) for name in which(table, "number")]
    numbers = [one for one in numbers if one[2] in ranked]
    beside = [name for name, bare, _ in numbers if says_counts(bare) or says("sure", bare)]
    table.give_all(beside, "keep", why="how sure an answer is")
    about = [name for name, bare, rank in numbers if ranked[rank] and bare.startswith(ranked[rank])]
    table.give_all(about, "keep", why="about an answer, as the year of a determination")
    there = {name.casefold() for name in table.raw}
    sure = [name for name in table.open() if says("sure", name) and scored_by(name).casefold() in there]
    table.give_all(sure, "keep", why="how sure an answer is")


def _rank_in(name: str) -> tuple[str, str]:
    """Return a name without the number at its end, and this number.

    >>> _rank_in("score_1"), _rank_in("conf2"), _rank_in("width")
    (('score', '1'), ('conf', '2'), ('width', ''))
    """
    bare = re.sub(r"[\W_]*\d+$", "", name)
    return bare, re.sub(r"\D", "", name[len(bare) :])


def beside(table: Proposal) -> None:
    """`age_Ann`, `Ann: time` beside the voters `frame_Ann`, `frame_Bob`: about the person, and carried along.

    On a grade beside them people may agree as on the label: then it is another question, and which has the labels is
    asked.
    """
    voters = table.having("annotator")
    people = [part.casefold() for part in apart(voters)] if len(voters) > 1 else []
    last = {name[len(re.sub(r"[\W_]+[^\W_]+\]?$", "", name)) :] for name in voters}
    people += [name.removesuffix(end).casefold() for end in last for name in voters if len(last) == 1 < len(voters)]
    people = [part for part in people if len(part) > 1 and not part.isdecimal() and part not in voters]
    asked = dict[str, list[str]]()
    for name in table.open() if people != [one.casefold() for one in voters] else ():
        plain = name.casefold()
        ends = [plain[len(one) :] for one in people if plain.startswith(one)]
        ends += [plain[: -len(one)][::-1] for one in people if plain.endswith(one)]
        if beside := [end for end in ends if not end[:1].isalnum()]:
            table.give(name, "keep", why="beside a voter")
            asked.setdefault(min(beside), []).append(name)
    alike = [names for names in asked.values() if len(names) == len(voters) and not any(says("sure", n) for n in names)]
    alike = [names for names in alike if all(table.may_be_answers(name) for name in names)]
    alike = [names for names in alike if agree([[cell or None for cell in table.cells[name]] for name in names])]
    if alike and table.explicit.isdisjoint(voters) and not table.is_asked():
        _ask_which(table, [voters, *alike])


def _are_no_less(cells: Cells, sums: Sequence[float]) -> bool:
    """Whether cells are numbers of which nearly none is below the sum of the row."""
    known = [(number, total) for cell, total in zip(cells, sums, strict=False) if (number := amount(cell)) and total]
    return not known or sum(number >= total - ROUNDED_TOTAL for number, total in known) >= NEARLY_ALL * len(known)


ROUNDED_TOTAL = 0.5
"""How far a total may be from the sum of its parts, written as whole numbers."""


# ---- beside the voters -----------------------------------------------------------------------------------------------


def talkers(table: Proposal) -> None:
    """Columns whose cells name the classes of the voters among other words are answers of models too.

    What stands before the voters is what they read, unless it is called as a model.
    """
    names, voters = list(table.raw), table.having("annotator")
    classes = [name for name, _ in table.words(*voters).most_common(MOST_NAMED_CLASSES)]
    read = names[: min(map(names.index, voters), default=0)]
    free = [name for name in table.open() if name not in read or LIKE_A_MODEL.search(name)]
    reader, worded = AnswerReader(classes), [name for name in free if table.may_be_label(name)]
    worded = [name for name in worded if not (says_fact(name) or says_aggregate(name))] if len(classes) > 1 else []
    table.give_all([n for n in worded if _is_answer_of_model(present_cells(table.raw[n]), reader)], "annotator")


MOST_NAMED_CLASSES, MOSTLY_NAMED = 20, 0.6


def _is_answer_of_model(cells: Sequence[str], reader: AnswerReader) -> bool:
    """Whether most cells name one class, and short ones are classes."""
    named = sum(len((reader.read(cell) or ((), 0.0))[0]) == 1 for cell in cells)
    return named >= MOSTLY_NAMED * len(cells) > 0


def remarks(table: Proposal) -> None:
    """`amy_comment`, `amy_time` beside the voter `amy`: carried along."""
    voters, there = {*table.having("annotator")}, table.raw.keys()
    for name in table.open():
        cuts = [name[:at] for at, letter in enumerate(name) if letter in "_ .:-" and not name[at + 1 :].isdecimal()]
        cuts = [one for one in cuts if one in there]
        who = next((c for c in cuts if c in voters or NAMED.fullmatch(c) or says_fact(name[len(c) + 1 :])), None)
        if who is not None and not scored_by(name):
            table.give(name, "keep", why=f"beside {who}")


def aggregates(table: Proposal) -> None:
    """What others' votes were made into is no vote, no truth and nothing to learn from.

    It is called so, beside columns of its words; or it is the majority of three others or more wherever there is one:
    then the user is asked, since a voter who is always right looks so, unless it is empty at ties.
    """
    voters = table.having("annotator")
    free = [name for name in (*voters, *table.having("true_label")) if name not in table.explicit]
    called = [n for n in (*table.open(), *free) if says_aggregate(n) and table.roles.get(n, _GUESSED).guessed]
    shares = [name for name, kind in table.objects.items() if kind == "shares"]
    for sets in [name for name in table.having("candidates") if name in shares]:
        best = [n for n in table.open() if not says("settled", n) and _are_likeliest(table.raw[n], table.raw[sets])]
        table.give_all(best, "keep", why=f"the likeliest of {sets}")
    if table.having(*_ANSWERS, "count", "probability") or shares:
        if not table.having(*_ANSWERS, "count", "probability"):  # the only shares are what the others are made of
            called = [name for name in called if [name] != shares]
        votes = table.having(*_ANSWERS)
        people = [name for name in called if votes and not says("majority", name)]
        people = [n for n in people if _is_of_people(n) or _settles_some(table, n) or _agreed_on(table, n)]
        made = [name for name in called if name not in people]  # `settled` asks what those are
        table.give_all(made, "keep", why="an aggregate of the voters")
    free = [name for name in free if table.roles[name].role != "keep" and table.roles[name].guessed]
    is_given = table.having("vote", "answers") or not table.explicit.isdisjoint(voters)
    words = table.answers_given() if is_given else Counter[str]()
    free += [n for n in table.open() if words and share_among(words, table.words(n)) >= 1 / 2]
    made = [name for name in free if _is_majority(table, name)]
    if len(made) > 1:  # who is asked where two differ is among most, too
        made = [name for name in made if 2 * len(present_cells(table.raw[name])) > len(table.raw[name])]
    made = made or [name for name in dict.fromkeys([*stranger_among(voters), *voters[-1:]]) if _settles(table, name)]
    made = made or [name for name in free if name not in table.explicit and decides(table, name)]
    if len(made) == 1 and not NUMBERED.fullmatch(made[0]):  # where several are, the others are right often
        _leave_majority(table, made[0])


MOST_MARKERS = 3
"""Voters up to which the last is asked where the others differ, perhaps: what most say is what was settled then."""


def _is_of_people(name: str) -> bool:
    """Whether a column is called as what somebody settled, or several agreed on, and not as a program calls it.

    >>> _is_of_people("Agreed at moderation"), _is_of_people("adjudicated consensus"), _is_of_people("consensus")
    (True, True, False)
    """
    return says("settled", name) or (says("agreed", name) and not re.search("[ck]onsens", name.casefold()))


def _settles_some(table: Proposal, name: str) -> bool:
    """Whether a column says something mostly where the voters say different things: nobody made it of their votes."""
    every = _beside_most(table, name)
    rows = [(is_no_answer(cell, among_votes=True), differ) for cell, (most, _, differ) in every if most or differ]
    silent = sum(none for none, _ in rows)
    decided = sum(differ and not none for none, differ in rows)
    return silent > (1 - NEARLY_ALL) * len(rows) and 2 * decided > len(rows) - silent > 0


def _agreed_on(table: Proposal, name: str) -> bool:
    """Whether a consensus has the voters' words and is in some rows another one than most of them gave."""
    rows = [(cell, most) for cell, (most, share, _) in _beside_most(table, name) if cell and share > 1 / 2]
    said = Counter(cell for cell, _ in rows)
    is_of_words = said.total() > 0 and share_among(said, table.answers_given()) >= NEARLY_ALL
    return says("agreed", name) and is_of_words and sum(cell != most for cell, most in rows) >= LEAST_OTHERWISE


LEAST_OTHERWISE = 2
"""Rows in which people agreed on something else than most of them had said, at least."""


def _leave_majority(table: Proposal, name: str) -> None:
    others = [other for other in table.having(*_ANSWERS) if other != name]
    was = table.roles[name].role if name in table.roles else "true_label"
    split = [cell for cell, (_, share, differ) in _beside_most(table, name) if differ and share <= 1 / 2]
    says_none = bool(split) and all(is_no_answer(cell, among_votes=True) for cell in split)
    made_of, is_all = listing(others, limit=6), _is_majority(table, name)
    table.give(name, "keep", why=f"{MAJORITY if is_all else 'mostly what most say of'} {made_of}")
    if not says_none and not table.is_asked():  # a voter who is always right would say something
        ways = [("the true label", {name: "true_label"}), ("one voter more", {name: "annotator"})]
        is_right, places = says("right", name) or says("tested", name), [*table.raw]
        is_inside = was == "annotator" and places.index(others[0]) < places.index(name) < places.index(others[-1])
        is_decided = is_right or _is_decided(table, name, split)
        ways = [way for way in ways if not (is_all or is_inside) or is_decided or way[1][name] == was]
        is_decided |= is_inside  # what is made of all voters stands beside them
        ways = [way for way in ways if "true_label" not in way[1].values() or not table.having("true_label")]
        made = ("made of their answers: carried along", {name: "keep"})
        # of a program's majority by its name; of two and a third who is asked where they differ, that is what counts
        is_voter = is_all and was == "annotator" and len(others) > MOST_MARKERS and not is_right
        is_voter = is_voter and says("settled", name)
        is_known = says_what("tested", name) or (says("gold", name) and _are_of_models(table, others))
        is_known = is_known and not is_all
        if is_known and is_decided and not is_voter and ways and ways[0][1] == {name: "true_label"}:
            table.give(name, "true_label", why="what was found otherwise, and nearly what most say")
            return
        table.ask(
            f"{name} says {'' if is_all else 'nearly '}everywhere what most of {made_of} say. What is it?",
            *([made, *ways] if is_voter or not is_decided else [*ways[:1], made, *ways[1:]]),
        )


def _are_of_models(table: Proposal, names: Sequence[str]) -> bool:
    """Whether columns of answers are called as models, or as what these put out: nobody calls it gold what most say."""
    lists = {*table.having("answers")}
    return all(
        says("machine", one) or (says("outputs", one) if one in lists else LIKE_A_MODEL.search(one)) for one in names
    )


def _is_decided(table: Proposal, name: str, split: Sequence[str]) -> bool:
    """Whether somebody decided what most say: of two, and a third who was asked, of some, of models; or so called, or
    beside another column that is called the majority.

    What is made of the votes by a program is made of all of them; called so counts where no more than half say one
    thing.

    Parameters
    ----------
    table, name
        The table and the column.
    split
        What the column says where no more than half say one thing.
    """
    others = {other: table.raw[other] for other in table.having("annotator") if other != name}
    asked = [other for other, own in others.items() if speaks_where_apart(own, _but(others, other))]
    blank = [not cell for cell, (most, _, _) in _beside_most(table, name) if most]
    is_of_some = sum(blank) >= LEAST_BLANK * len(blank)
    are_models = _are_of_models(table, [*others])
    is_known = are_models and not says("machine", name) and not _is_majority(table, name)
    is_so_called = says("standard", name) or (_is_of_people(name) and bool(split))
    said = table.answers_given()
    beside = [n for n in table.raw if n != name and says("majority", n) and share_among(table.words(n), said)]
    is_beside = bool(beside) and not says_aggregate(name)
    by = [*others, *table.having("answers")]
    is_gold = bool(by) and _are_of_models(table, by) and plain_name(name) in USUAL["true_label"]
    return is_gold or is_of_some or is_known or is_so_called or is_beside or len(others) - len(asked[:1]) == 2


LEAST_BLANK = 0.1
"""Share of the examples with a majority, at least, on which a column says nothing that no program made."""


_ANSWERS = ("annotator", "answers", "vote")
_GUESSED = Column(0, "", "keep", "", guessed=True)
ROUNDED_MEAN = 0.051
"""How far a mean may be from what it was before it was rounded."""
MOST_COLUMNS_OF_VOTERS = 60
"""Columns that are compared with the majority of the others."""


def _beside_most(table: Proposal, name: str) -> Iterator[tuple[str, tuple[str, float, bool]]]:
    """Yield of each example the cell of a column, and of the votes what most say, its share, and whether they differ.

    What most say is "" where there is no such thing.
    """
    for cell, said in zip(table.one_each(name), _votes_on(table, name), strict=True):
        (most, times), *rest = Counter(filter(None, said)).most_common(2) or [("", 0)]
        is_tied = bool(rest) and times == rest[0][1]
        yield spelling(cell or ""), ("" if is_tied else most, times / max(len(said), 1), bool(rest))


def _votes_on(table: Proposal, name: str) -> Iterator[list[str]]:
    """Yield the votes on each example but for those of one column: of voters, of a list, of the lines about it."""
    votes, lists, tasks = (table.having(role) for role in ("vote", "answers", "task"))
    if lists:
        yield from map(labels_listed, table.raw[lists[0]])
    elif votes and tasks:
        lines = zip(_rows(table, tasks[:1]), table.cells[votes[0]], strict=True)
        yield from grouped((key, spelling(cell or "")) for key, cell in lines).values()
    else:
        voters = [other for other in table.having("annotator") if other != name]
        rows = zip(*(table.cells[n] for n in voters), strict=True) if voters else ((),) * len(table.raw[name])
        for row in rows:
            yield [spelling(one) for one in row if one and one.strip()]


def _with_point(cell: str | None) -> str:
    return (cell or "").replace(",", ".")


def _is_majority(table: Proposal, name: str) -> bool:
    """Whether a column is what most of the voters say wherever they differ and most say one thing.

    Where that is not more than half of them, it may also say that there is none.
    """
    others = [other for other in table.having("annotator") if other != name]
    if len(others) == 2 and _is_what_both_say(list(_beside_most(table, name))):
        return True
    if not table.having("answers", "vote") and not 3 <= len(others) <= MOST_COLUMNS_OF_VOTERS:
        return False
    apart = 0
    for cell, (most, share, differ) in _beside_most(table, name):
        is_none = share <= 1 / 2 and is_no_answer(cell, among_votes=True)
        if most and differ and cell != most and not is_none:
            return False  # nearly always, and at once
        apart += bool(most and differ and not is_none)
    return apart >= LEAST_SPLIT


def _is_what_both_say(rows: Sequence[tuple[str, tuple[str, float, bool]]]) -> bool:
    """Whether a column says what two voters say wherever they agree, and nothing wherever they differ.

    >>> rows = [("cat", ("cat", 1.0, False)), ("", ("", 0.5, True))] * 12
    >>> _is_what_both_say(rows), _is_what_both_say([*rows, ("dog", ("", 0.5, True))])
    (True, False)
    """
    apart = [is_no_answer(cell, among_votes=True) for cell, (_, _, differ) in rows if differ]
    alike = [cell == most for cell, (most, _, differ) in rows if most and not differ]
    return len(apart) >= LEAST_BLANK_BOTH and all(apart) and sum(alike) >= max(NEARLY_ALL * len(alike), LEAST_SPLIT)


LEAST_BLANK_BOTH = 3
"""Rows in which two voters differ, at least, that are blank and no others, from which that is no chance."""


def _settles(table: Proposal, name: str) -> bool:
    """Whether a voter says what most say more often than any other does, who is called otherwise, or far more often."""
    others = [other for other in table.having("annotator") if other != name]
    if name in table.explicit or not 3 <= len(others) <= MOST_COLUMNS_OF_VOTERS:
        return False
    agreed, rows = _agreement(table, name)
    if rows < LEAST_SPLIT or agreed < NEARLY_ALL:
        return False
    best = max(_agreement(table, other)[0] for other in others)
    far = FAR_AHEAD * math.sqrt(best * (1 - best) / rows) * (not stranger_among([*others, name]))
    return agreed > best + far


FAR_AHEAD = 3.0
"""Standard deviations by which a voter agrees more with the majority than any other, from which that is no chance."""


def _agreement(table: Proposal, name: str) -> tuple[float, int]:
    """Return the share of the examples of which the others differ on which a voter says what most say, of how many."""
    said = [cell == most for cell, (most, _, differ) in _beside_most(table, name) if cell and most and differ]
    return sum(said) / max(len(said), 1), len(said)


def derived(table: Proposal) -> None:
    """What is the same wherever the votes are the same was made of them, and is nothing to learn from.

    As how many agree, how many said nothing, the label where enough agree, the shares of counts.
    """
    voters, counts = table.having("annotator"), table.having("count", "probability")
    why = "made of the votes: the same wherever they are"
    rows_of_votes = [[spelling(one or "") for one in row] for row in _rows(table, voters)] if len(voters) > 1 else []
    for name in table.having("answers")[:1]:
        rows_of_votes = [labels_listed(cell) for cell in table.raw[name]]
    if rows_of_votes:
        filled = [[cell for cell in row if not is_no_answer(cell, among_votes=True)] for row in rows_of_votes]
        keys: list[list[Any]] = [list(map(tuple, rows)) for rows in (map(sorted, rows_of_votes), rows_of_votes)]
        keys += [[len({*row}) > 1 for row in filled], list(map(len, filled)), list(map(len, rows_of_votes))]
        keys += [[(max(Counter(row).values(), default=0), len(row)) for row in filled]]
        for truth in table.having("true_label")[:1]:
            true = [spelling(cell or "") for cell in table.raw[truth]]
            keys += [[(row.count(label), len(row)) for row, label in zip(filled, true, strict=True)]]
        said = table.answers_given()  # `settled` asks what is called so and says them
        free = [name for name in table.open() if not (says("settled", name) and share_among(table.words(name), said))]
        following = [name for name in free if any(follows(table.raw[name], k) for k in keys)]
        numbers = [name for name in free if says_total(name) and _are_sizes(table.raw[name], [*map(len, filled)])]
        table.give_all(numbers, "keep", why=why)
        table.give_all([name for name in following if not _says_more(table, name, filled)], "keep", why=why)
    for truth in table.having("true_label")[:1]:
        known = [bool((cell or "").strip()) for cell in table.raw[truth]]
        told = [n for n in table.open() if _comes_with(table.raw[n], known) or _marks_known(table.raw[n], known)]
        table.give_all(told, "keep", why=f"known where {truth} is")
        table.give_all(_whether_right(table, truth), "keep", why=f"whether a label is that of {truth}")
    for sets in table.having("candidates")[:1]:
        size_of = {cell: labels_among([cell]).total() for cell in {*table.cells[sets]}}
        sizes = [size_of[cell] for cell in table.cells[sets]]
        counted = table.raw[sets] if table.objects[sets] == "shares" else ()
        sums = [int(sum((shares_of(cell or "") or {}).values())) for cell in counted]
        ways = (sizes, sums) if sums else (sizes,)
        told = [name for name in table.open() if any(_are_sizes(table.raw[name], some) for some in ways)]
        table.give_all(told, "keep", why=f"how many labels {sets} has")
    for label in table.having("candidates", "true_label")[:1] if not table.having("task") else ():
        is_there = {name: [str(bool((cell or "").strip())) for cell in table.raw[name]] for name in table.open()}
        told = [name for name, some in is_there.items() if len({*some}) > 1 and follows(some, table.raw[label])]
        table.give_all(told, "keep", why=f"filled where {label} says so")
    free = [name for name in (*table.open(), *table.having("true_label")) if name not in table.explicit]
    free = [name for name in free if not says("settled", name)]
    rows = [[amount(one) or 0.0 for one in row] for row in _rows(table, counts)] if len(counts) > 1 else []
    given = [math.fsum(row) for row in rows]
    totals = [name for name in table.open() if says_total(name) or says("ballots", name)]
    totals = [name for name in totals if _are_no_less(table.raw[name], given)]  # and not words of a text, or pores
    made = [n for n in free if rows and (n in totals or _is_made_of(table, n, counts, rows))]
    table.give_all(made, "keep", why=why)
    shares = [*counts, *(name for name, column in table.roles.items() if column.why == MADE_OF_SHARES)]
    marks = [name for name in table.open() if rows and are_binary(table.raw[name])]
    split = [name for name in marks if any(_splits(table, name, share) for share in shares)]
    beside = [name for name in marks if split and follows(table.raw[name], list(_rows(table, split)))]
    table.give_all([*split, *beside], "keep", why=why)


def _says_more(table: Proposal, name: str, votes: Sequence[Sequence[str]]) -> bool:
    """Whether a column says a label of the voters where these differ: it may be the truth, which they mostly say.

    Not a number, which may be the median of theirs, nor what stands only where so many agree.
    """
    is_filled = [str(bool((cell or "").strip())) for cell in table.raw[name]]
    if follows(is_filled, [(len(row), max(Counter(row).values(), default=0)) for row in votes]):
        return False
    differ, words = [len({*row}) > 1 for row in votes], table.words(name)
    is_label = share_among(words, table.answers_given()) >= NEARLY_ALL and not all(map(is_number, words))
    return is_label and any(compress(table.raw[name], differ))


def _are_likeliest(cells: Cells, shares: Cells) -> bool:
    """Whether a column has the label with the largest share in all rows that it fills, half of them at least.

    >>> _are_likeliest(["cat", "dog"], ['{"cat": 0.6, "dog": 0.4}', '{"cat": 0.1, "dog": 0.9}'])
    True
    """
    rows = [(spelling(cell), shares_of(own) or {}) for cell, own in zip(cells, shares, strict=True) if cell and own]
    best = [(cell, max(some, key=some.__getitem__)) for cell, some in rows if some]
    return 2 * len(best) >= len(cells) > 0 and all(cell == spelling(label) for cell, label in best)


def _are_sizes(cells: Cells, sizes: Sequence[int]) -> bool:
    """Whether a column is how many labels the sets of the rows have, which differ."""
    rows = zip(cells, sizes, strict=True)
    return len({*sizes}) > 1 and all(cell and is_number(cell) and float(cell) == size for cell, size in rows)


def _splits(table: Proposal, name: str, share: str) -> bool:
    """Whether marks say which rows have more than so much of a share, as `spiral` where 0.8 say so."""
    rows = zip(read_marks(table.raw[name]) or (), table.raw[share], strict=True)
    values = grouped((mark, amount(cell) or 0.0) for mark, cell in rows)
    yes, no = values.get(True, []), values.get(False, [])
    return min(len(yes), len(no)) >= LEAST_SPLIT and (min(yes) >= max(no) or max(yes) <= min(no))


def _comes_with(cells: Cells, known: Sequence[bool]) -> bool:
    """Whether a column is filled where the truth is known, and nowhere else, of several rows."""
    filled = [bool((cell or "").strip()) for cell in cells]
    is_only_there = all(there for one, there in zip(filled, known, strict=False) if one)
    return is_only_there and LEAST_SPLIT <= sum(known) <= 2 * sum(filled) and sum(known) < NEARLY_ALL * len(known)


def _whether_right(table: Proposal, truth: str) -> list[str]:
    """Marks that say of each row whether a label, or one of the first of several, is the true one: `correct@5`."""
    marks = {name: read_marks(table.raw[name]) for name in table.open() if are_binary(table.raw[name])}
    rows = list(_rows(table, table.having("annotator", "candidate"))) if marks else []
    true = [spelling(cell or "") for cell in table.raw[truth]]
    until, right = [False] * len(true), list[list[bool]]()  # of the labels up to this one
    for said in zip(*rows, strict=True):
        is_right = [spelling(cell or "") == one for cell, one in zip(said, true, strict=True)]
        until = [before or now for before, now in zip(until, is_right, strict=True)]
        right += [is_right, until]
    return [name for name, some in marks.items() if some in right]


def _marks_known(cells: Cells, known: Sequence[bool]) -> bool:
    """Whether marks say for which rows the truth is known, of several."""
    return LEAST_SPLIT <= sum(known) <= len(known) - LEAST_SPLIT and read_marks(cells) == [*known]


def _is_made_of(table: Proposal, name: str, counts: Sequence[str], rows: Sequence[Sequence[float]]) -> bool:
    """Whether a column is the class with most votes, by its name, number or in other words, or their sum or share."""
    if name in table.roles and plain_name(name) not in USUAL["generic"]:
        return False
    called = [spelling(table.roles[one].display_name) for one in counts]
    most = [[k for k, votes in enumerate(row) if votes == max(row)] for row in rows]
    every = zip(table.raw[name], rows, most, strict=True)
    filled = [(cell.strip(), row, best) for cell, row, best in every if cell and cell.strip()]
    is_split = sum(sum(votes > 0 for votes in row) > 1 for _, row, _ in filled) >= LEAST_SPLIT // 2
    cells, rows = [_with_point(cell) for cell, *_ in filled], [row for _, row, _ in filled]
    is_seldom = 2 * len(filled) < len(most)  # what is known of some may agree
    are_best = all(any(spelling(c) == called[k] or c in (str(k), f"{k}.0") for k in best) for c, _, best in filled)
    is_sum = all(is_number(cell) and float(cell) == sum(row) for cell, row in zip(cells, rows, strict=True))
    each = [*zip(*rows, strict=True), [max(row) for row in rows]]
    shares = (_is_share(cells, one, [sum(row) for row in rows]) for one in each)
    is_largest = follows(cells, [best[0] for *_, best in filled])
    return is_split and not (is_seldom and are_best) and (are_best or is_sum or is_largest or any(shares))


def _rows(table: Proposal, names: Sequence[str]) -> Iterator[tuple[str | None, ...]]:
    return zip(*(table.raw[name] for name in names), strict=True)


def _is_share(cells: Cells, counts: Sequence[float], totals: Sequence[float]) -> bool:
    """Whether a column is one of the counts over their sum, in every row."""
    shares = [(c or "", k / n) for c, k, n in zip(cells, counts, totals, strict=True) if n > 0]
    return len({share for _, share in shares}) > 2 and all(
        is_number(cell) and min(abs(float(cell) - share), abs(float(cell) / 100 - share)) < ROUNDED_MEAN / 10
        for cell, share in shares
    )


_Row = TypeVar("_Row")


def _but(columns: Mapping[str, _Row], name: str) -> list[_Row]:
    return [some for other, some in columns.items() if other != name]


def speaks_where_apart(own: Sequence[object], others: Sequence[Sequence[object]]) -> bool:
    """Whether a column is filled in fewer than half of the rows, and more often where the others differ.

    Parameters
    ----------
    own
        Its cells; None or "" where it says nothing.
    others
        Those of the other columns.

    Examples
    --------
    >>> ann, ben = [1, 2] * 20, [1, 1] * 20
    >>> (
    ...     speaks_where_apart([None, 2] * 10 + [None] * 20, [ann, ben]),
    ...     speaks_where_apart([1, 2] * 5 + [None] * 30, [ann, ben]),
    ... )
    (True, False)
    """
    rows = [({*row} - {None, ""}, cell not in (None, "")) for cell, *row in zip(own, *others, strict=True)]
    differ = [len(said) > 1 for said, speaks in rows if speaks]
    usual = sum(len(said) > 1 for said, _ in rows) / max(sum(bool(said) for said, _ in rows), 1)
    more = sum(differ) - usual * len(differ)
    return 2 * len(differ) < len(rows) and more > SELDOM * math.sqrt(len(differ) * usual * (1 - usual))


SELDOM = 2.33
"""Standard deviations beyond chance from which somebody is asked where others differ: 1 in 100 is by chance."""


_ORDINAL = r"[ºª.]|(?:st|nd|rd|th|er|e|ère|ème)(?![^\W\d_])"
_NUMBER = re.compile(
    rf"(?P<said>(?<![^\W\d_])(?:{'|'.join(sorted(NAMES['round'], key=len)[::-1])}))?[ _.-]?"
    rf"\d+(?:(?P<counted>回目?|차)|{_ORDINAL})?",
    re.IGNORECASE,
)
"""A number in a name, and the word for a round before it."""
MOST_ROUNDS_OF_VOTER = 4
FAR_ALIKE = 3.0
"""Standard deviations by which somebody agrees more with oneself than with others."""


def rounds(table: Proposal) -> None:
    """`amy_r1`, `amy_r2`, or `Amy 1`, `Amy 2` beside `Ben 1`, `Ben 2`: rounds of one voter.

    Where only a number tells them apart, those of one name must also agree with each other more than with others.
    """
    voters = table.having("annotator")
    for at in (-1, 0):  # the last number of a name, or the first
        found = {name: [*_NUMBER.finditer(name)] for name in voters}
        cut = {name: numbers[at] for name, numbers in found.items() if numbers}
        stems = {name: name[: one.start()] + name[one.end() :] for name, one in cut.items()}
        groups = grouped((stem, name) for name, stem in stems.items() if any(map(str.isalpha, stem)))
        groups = {stem: names for stem, names in groups.items() if 1 < len(names) <= MOST_ROUNDS_OF_VOTER}
        orders = ([int(re.sub(r"\D", "", cut[name][0])) for name in names] for names in groups.values())
        counted = [cut[name] for names in groups.values() for name in names]
        # R1, R2 and so on are readers where there is nobody else
        is_said = all(one["counted"] or one["said"] for one in counted)
        is_one = len(groups) == 1 and all(len(one["said"] or "") == 1 for one in counted)
        are_counted = all(sorted(order) == [*range(1, len(order) + 1)] for order in orders)
        if groups and not is_one and (is_said or (are_counted and _agree_within(table, list(groups.values())))):
            whose = [re.sub(r"[\W_]+", " ", one).strip() for one in (apart([*groups]) if len(groups) > 1 else groups)]
            for who, names in zip(whose, groups.values(), strict=True):
                for name in names:
                    table.give(name, "annotator", who, why=f"a round of {who}")
            return


def several_questions(table: Proposal) -> None:
    """`ann_tone`, `bob_tone` beside `ann_topic`, `bob_topic`: voters on several questions, if they agree on each alone.

    What they say of two questions is the same no more often than by chance, as it is not of one question asked twice.
    """
    known = {name: table.roles[name] for name in table.having("annotator")}
    voters = [name for name, column in known.items() if column.guessed and not column.why]  # no rounds of one voter
    for grid in grids(voters):
        groups = [list(group.values()) for group in grid.values()]
        is_whole = sum(map(len, groups)) == len(voters)
        if is_whole and _agree_within(table, groups) and not _agree_between(table, groups):
            _ask_which(table, groups)
            return


def _agree_within(table: Proposal, groups: Sequence[Sequence[str]]) -> bool:
    """Whether the columns of a group say the same far more often than columns of two groups do, in the same words.

    Not of marks and numbers, which several questions may have in common.
    """
    every = [name for group in groups for name in group]
    are_words = not any(is_measured(table.cells[name]) for name in every) and not _says_yes_or_no(table.words(*every))
    is_one_question = are_words and len(of_one_vocabulary(table, every)) == 1
    pairs = list(zip(groups, [*groups[1:], *groups[:1]], strict=True)) if is_one_question and len(groups) > 1 else []
    same, other = list[bool](), list[bool]()
    for group, beside in pairs[:MOST_COLUMNS_OF_VOTERS]:
        same += _same_words(table, group[0], group[1])
        other += _same_words(table, group[0], beside[1])
    if not same or not other:
        return False
    share = (sum(same) + sum(other)) / (len(same) + len(other))
    spread = math.sqrt(share * (1 - share) * (1 / len(same) + 1 / len(other)))
    return sum(same) / len(same) - sum(other) / len(other) > FAR_ALIKE * spread


def _agree_between(table: Proposal, groups: Sequence[Sequence[str]]) -> bool:
    """Whether columns of two groups say the same clearly more often than they would by chance."""
    same, by_chance = list[bool](), list[float]()
    for one, other in zip(groups, [*groups[1:], *groups[:1]], strict=True):
        said = _same_words(table, one[0], other[1])
        first, second = (Counter(map(spelling, present_cells(table.cells[name]))) for name in (one[0], other[1]))
        chance = sum(n * second[word] for word, n in first.items()) / max(first.total() * second.total(), 1)
        same += said
        by_chance += [chance] * len(said)
    expected = sum(by_chance)
    spread = math.sqrt(sum(one * (1 - one) for one in by_chance))
    return sum(same) - expected > FAR_ALIKE * spread


def _same_words(table: Proposal, one: str, other: str) -> list[bool]:
    rows = zip(table.cells[one], table.cells[other], strict=True)
    return [spelling(a) == spelling(b) for a, b in rows if a and b]


def graded(table: Proposal) -> list[list[str]]:
    """Return groups of open columns of few whole numbers on one scale, each perhaps a voter's; groups begin alike.

    Parameters
    ----------
    table
        The table.
    """
    numbers = {name: grades_in(table.raw[name], table.numbers_named()) for name in table.open()}
    free = [name for name in numbers if not says("settled", name) or 2 * numbers[name].count(-1) > len(numbers[name])]
    fitting = {name: numbers[name] for name in free if not says_aggregate(name)}
    fitting = {name: some for name, some in fitting.items() if len({*some} - {None}) > 1 and table.repeats(name)}
    fitting = {name: some for name, some in fitting.items() if {*some} - {None} != {0, 1}}
    asked = [name for name, own in fitting.items() if speaks_where_apart(own, _but(fitting, name))]
    is_settled = any(set(numbers[name]) - {None} for name in numbers if name not in free)  # by another column
    stranger = [] if is_settled else stranger_among(list(fitting))
    others = stranger or _called_labels(list(fitting)) or asked[: len(asked) == 1]
    for name in others:  # `settled` asks what it is
        del fitting[name]
    stems = grouped((re.split(r"[\W_\d]", name)[0], name) for name in fitting)
    several = [names for names in stems.values() if len(names) > 2]
    groups = _graded_in_grid(fitting) or (several if len(several) > 1 else [list(fitting)])
    if len(fitting) == 3:
        groups = [[name for name in fitting if not decides(table, name, [*fitting])]]
    groups = [_of_one_scale({name: fitting[name] for name in names}) for names in groups]
    groups = [[n for n in names if is_settled or n not in stranger_among(names)] for names in groups]
    return [names for names in groups if len(names) > 1]


def _graded_in_grid(columns: Mapping[str, Sequence[int | None]]) -> list[list[str]]:
    """The columns of each question that the same voters graded, where these agree on each, and one's grades do not.

    >>> pace, tone = [1, 2, 3, 4] * 5, [1, 1, 3, 3, 5] * 4
    >>> _graded_in_grid({"ann_pace": pace, "ann_tone": tone, "bob_pace": pace, "bob_tone": tone})
    [['ann_pace', 'bob_pace'], ['ann_tone', 'bob_tone']]
    """
    for grid in grids([*columns]):
        groups = [[*one.values()] for one in grid.values()]
        ways = [
            [agree([columns[name] for name in some]) for some in way] for way in (groups, zip(*groups, strict=True))
        ]
        if 2 * sum(map(len, groups)) > len(columns) and all(ways[0]) and not any(ways[1]):
            return groups
    return []


def _called_labels(names: Sequence[str]) -> list[str]:
    """Return the one of several names, three at least, that says labels.

    >>> _called_labels(["Ann", "Bob", "shop label"]), _called_labels(["label Ann", "label Bob", "age"])
    (['shop label'], [])
    """
    found = [name for name in names if says("labels", name)]
    return found if len(found) == 1 and len(names) > 2 else []


def coded(table: Proposal) -> None:
    """Columns of numbers that a codebook of the file has names for, and that agree, may be votes: the user is asked.

    Not where all are called as people are, as of words.
    """
    codes = {int(code) for code in table.numbers_named() if code.isdecimal()}
    groups = graded(table) if len(codes) > 1 else []
    numbers = {name: grades_in(table.raw[name], table.numbers_named()) for names in groups for name in names}
    groups = [[name for name in some if name not in set_apart(table, some, by_name=False)] for some in groups]
    if groups := [names for names in groups if all({*numbers[name]} <= {*codes, None} for name in names)]:
        every = [name for names in groups for name in names]
        if len(groups) == 1 and all(NAMED.fullmatch(name) or NUMBERED.fullmatch(name) for name in every):
            table.give_all(every, "annotator")
        else:
            ask_whose(table, f"{listing(every, limit=12)} hold codes of the codebook", groups, "feature")


def grades(table: Proposal) -> None:
    """Columns of few whole numbers, and nothing that is a label: they may be votes; the user is asked.

    Where their names begin alike in several groups, each is a question of its own (`tone_Ann`, `frame_Ann`). Beside
    the truth, those that say what it says more often than by chance.
    """
    truth = table.having("true_label")
    if parts_of_total(table):  # `unclear` asks what these are
        return
    if groups := [names for names in graded(table) if not truth or _say_the_truth(table, names, truth[0])]:
        every = listing([name for names in groups for name in names], limit=12)
        ask_whose(table, f"{every} hold whole numbers", groups, "feature")


def _say_the_truth(table: Proposal, names: Sequence[str], truth: str) -> bool:
    """Whether columns hold the numbers of the true labels, −1 and the like aside, and these far more than by chance."""
    known = grades_in(table.raw[truth])
    said = [pair for name in names for pair in zip(grades_in(table.raw[name]), known, strict=True)]
    pairs = [(own, true) for own, true in said if None not in (own, true) and (own != -1 or -1 in known)]
    if not {own for own, _ in pairs} <= {*known} - {None} or len(pairs) < LEAST_SPLIT:
        return False
    one, other = (Counter(some) for some in zip(*pairs, strict=True))
    chance = sum(times * other[own] for own, times in one.items()) / len(pairs) ** 2
    right = sum(own == true for own, true in pairs)
    return right - chance * len(pairs) > FAR_AHEAD * math.sqrt(len(pairs) * chance * (1 - chance))


def _of_one_scale(columns: Mapping[str, Sequence[int | None]]) -> list[str]:
    """The columns that have one scale and agree: all of them, or, of several, those that agree with another one."""
    if _are_mostly_silent(list(columns.values())):  # what no other says is said of something else
        said = {one for some in columns.values() if -1 in some for one in some}
        names = [name for name, some in columns.items() if said.issuperset(some)]
        return names if len(names) > 1 else []
    names = list(columns)
    if len(names) < 2 or _are_one_scale(list(columns.values())):
        return names if len(names) > 1 else []
    grades = {name: [None if one is None else float(one) for one in some] for name, some in columns.items()}
    compared = combinations(names[:MOST_COLUMNS_OF_VOTERS], 2)
    agreed = {name for pair in compared if agree([grades[name] for name in pair]) for name in pair}
    names = [name for name in names if name in agreed]
    return names if len(names) > 2 and _are_one_scale([columns[name] for name in names]) else []


def _are_mostly_silent(columns: Sequence[Sequence[int | None]]) -> bool:
    """Whether most cells are −1, and nothing is less: a matrix of votes, most of them of nobody."""
    numbers = [one for some in columns for one in some if one is not None]
    return 2 * numbers.count(-1) > sum(map(len, columns)) and min(numbers) == -1


def _are_one_scale(columns: Sequence[Sequence[int | None]]) -> bool:
    """Whether columns have the same few numbers each, and each agrees with the others more often than by chance."""
    words = [{*some} - {None} for some in columns]
    least = len(set().union(*words)) / 2
    first = range(min(len(columns), MOST_COLUMNS_OF_VOTERS))
    same, chance = [0] * len(first), [0.0] * len(first)
    for pair in combinations(first, 2):
        times, by_chance, _ = agreed([columns[at] for at in pair])
        for at in pair:
            same[at], chance[at] = same[at] + times, chance[at] + by_chance
    return all(len(some) >= least for some in words) and all(same[at] > 1.2 * chance[at] for at in first)

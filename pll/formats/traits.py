"""What a column is, by its name, its cells and the table: rules of roles ask for traits, each of which has a name.

A trait is found out once for a column, whatever the number of rules that ask.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping

from pll.formats.forms import FIELDS, USUAL, WORDS, plain_name, words_of
from pll.formats.names import OPTION_COLUMN, UNNAMED, is_named_id, may_hold_labels
from pll.formats.proposal import FEW, Proposal, follows, says, says_aggregate, says_fact, says_state
from pll.formats.tabular.answer_cells import are_doubted
from pll.formats.tabular.cells import (
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
    are_texts,
    are_vectors,
    default_role,
    elements,
    has_fractions,
    holds_several,
    is_error,
    is_measured,
    is_no_answer,
    is_number,
    nearly_all,
    numbers_in,
    present_cells,
    says_counts,
    spelling,
)

LEAST_ROWS = 4
"""Rows for each word of a category, on average, from which it is learnt."""
LEAST_DIGITS = 8
"""Digits from which numbers that are all as long name something: measurements differ in their length."""

_ID = re.compile(r"(?:.*(?:[\W_]|[a-z](?=I)))?[iI][dD]s?")
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


def _are_numbered(cells: Cells) -> bool:
    """Whether cells are names with a number of as many digits, some of them filled up with 0: `GSLC-01`, `plot 007`."""
    filled = {cell.strip() for cell in present_cells(cells)}
    numbers = [match[1] for cell in filled if (match := _NUMBERED.fullmatch(cell))]
    is_one_length = len({*map(len, numbers)}) == 1 and any(one.startswith("0") for one in numbers)
    return is_one_length and 2 < len(numbers) == len(filled)


def _count_rows(cells: Cells) -> bool:
    """Whether cells are 0, 1, 2, … or go on from another number; five rows at least."""
    numbers = [int(cell) if cell.isdecimal() else -2 for cell in map(_bare, cells)]
    return len(numbers) >= 5 and numbers == list(range(numbers[0], numbers[0] + len(numbers)))


def _are_too_many(cells: Cells) -> bool:
    kinds = len(set(present_cells(cells)))
    return 2 * kinds > FEW and LEAST_ROWS * kinds > len(cells)


def _are_people(cells: Cells) -> bool:
    """Whether lists may be people, whatever they are called: nobody twice in one, each in several."""
    lists = [list(map(str, elements(cell))) for cell in cells if cell]
    named = Counter(name for some in lists for name in {*some})
    return 2 < 2 * len(named) <= named.total() == sum(map(len, lists))


def _name_several(table: Proposal, name: str) -> bool:
    """Whether cells hold several labels, or a list of one, or say that a label is doubtful."""
    cells = [cell for cell in table.cells[name] if cell]
    return holds_several(cells) or are_doubted(cells) or any(cell[0] + cell[-1] == "[]" for cell in cells)


def _repeat_labels(cells: Cells) -> bool:
    """Whether lists say few labels, and some of them several times: each is somebody's answer."""
    lists = [list(map(str, elements(cell))) for cell in cells if _bare(cell).startswith("[")]
    words = Counter(one for some in lists for one in some)
    repeated = sum(len({*some}) < len(some) for some in lists)
    return len(words) <= max(FEW, len(lists) // 4) and FEW * repeated >= len(lists) > 0


def _are_states(cells: Cells) -> bool:
    """Whether cells say how far the work is: `done`, `in progress`."""
    filled = {*map(spelling, present_cells(cells))}
    return len(filled) > 1 and filled <= WORDS["progress"] | WORDS["withdrawn"] - MARKS.keys()


def _follows_occasion(table: Proposal, name: str) -> bool:
    """Whether a column is the same in all rows of a day, or of one of the people: it is not of the thing."""
    dates = [cells for cells in table.raw.values() if are_dates(cells)]
    days = [[re.split("[T ,]", cell or "")[0] for cell in cells] for cells in dates]
    people = [table.raw[who] for who in table.usual("worker", list(table.raw)) if who != name]
    return any(follows(table.raw[name], keys) for keys in (*days, *people))


def _varies(table: Proposal, name: str) -> bool:
    """Whether, in long form, a column differs between the lines of an example."""
    tasks = table.having("task")
    return bool(tasks) and not table.is_function(name, *tasks)


def _says_who(name: str) -> bool:
    return plain_name(name) in USUAL["worker"] or not FIELDS["who"].isdisjoint(words_of(name)[-1:])


OF_NAME: Mapping[str, Callable[[str], object]] = {
    "unnamed": lambda name: name.startswith(UNNAMED),
    "an option": OPTION_COLUMN.fullmatch,
    "named id": is_named_id,
    "an id": _ID.fullmatch,
    "named no answer": lambda name: is_no_answer(name, among_votes=True),
    "usual label": lambda name: may_hold_labels(name) or not {"label", "labels"}.isdisjoint(words_of(name)),
    "of labels": may_hold_labels,
    "of some label": lambda name: says("labels", name),
    "of counts": says_counts,
    "of an aggregate": says_aggregate,
    "of a fact": says_fact,
    "of the occasion": lambda name: says_fact(name, ["context"]),
    "of a state": says_state,
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
    "measured": is_measured,
    "fractions": has_fractions,
    "dates": are_dates,
    "states": _are_states,
    "addresses": are_addresses,
    "mails": are_mails,
    "pictures": are_pictures,
    "titles": lambda cells: are_texts(cells, 2),
    "texts": lambda cells: are_texts(cells, 4),
    "lists": are_lists,
    "lists of numbers": are_lists_of_numbers,
    "some list of numbers": lambda cells: any(numbers_in(cell or "") for cell in cells),
    "vectors": are_vectors,
    "people": _are_people,
    "repeated labels": _repeat_labels,
    "distinct": are_distinct,
    "counts rows": _count_rows,
    "ids": _are_ids,
    "digits of ids": _have_digits_of_ids,
    "numbered names": _are_numbered,
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
    "short": lambda table, name: are_names(present_cells(table.cells[name])),
    "several": lambda table, name: holds_several(table.cells[name]),
    "several, or doubt": _name_several,
    "varying": _varies,
    "of a day or a person": _follows_occasion,
}
"""What a column is in its table."""

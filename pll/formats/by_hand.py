"""The one column of labels that somebody wrote by hand, some cells of which name several, or one with a doubt."""

from __future__ import annotations

from collections import Counter

from pll.errors import UserError
from pll.formats.checks import listing
from pll.formats.proposal import FEW, Proposal, says_aggregate, says_fact, share_among
from pll.formats.settled import SPARSE
from pll.formats.tabular.answer_cells import meant
from pll.formats.tabular.cells import NEARLY_ALL, SEPARATORS, are_texts, guess_separator, present_cells, split_cell

LEAST = 0.02
"""Share of the cells that name several labels, or one with a doubt, from which these are no slips."""


def by_hand(table: Proposal) -> None:
    """Ask whether the one column of such cells is the candidates, and one that is seldom filled the true label."""
    fitting = {name: some for name in table.open() if (some := _unsure(table, name))}
    if len(fitting) != 1:
        return
    ((name, some),) = fitting.items()
    words, truth = table.words(name), table.having("true_label")
    alike = [n for n in table.open() if n != name and _says_as(table, n, words)]
    full = [n for n in alike if len(present_cells(table.cells[n])) >= SPARSE * len(table.cells[n])]
    are_voters = len(alike) > 1 or (full and not table.holds_sets(name))
    if are_voters or (truth and share_among(table.truth(), words) < NEARLY_ALL):
        return  # voters, one of whom was not sure; or a feature
    table.give_all([name, *alike], "keep")
    known = f", and {alike[0]} the true label" if alike else ""
    table.ask(
        f"{name} names several labels, or one with a doubt, in some rows ({listing(some, limit=3)}). What is it?",
        (f"the labels that each example may have{known}", {name: "candidates"} | dict.fromkeys(alike, "true_label")),
        ("only carried along", dict.fromkeys([name, *alike], "keep")),
        ("nobody's labels: learn from it", {name: "category"} | dict.fromkeys(alike, "category")),
    )


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
    doubted = set[str]() if are_texts([*cells], 4) else {*meant(cells), *(cell for cell in cells if "?" in cell)}
    try:
        some = [cell for cell in cells if cell in doubted or len(split_cell(cell, mark)) > 1]
    except UserError:  # reading says where a list cannot be read
        return []
    recur = sum(times for times in words.values() if times > 1)
    times = sum(cells[cell] for cell in some)
    return some if times >= max(2, LEAST * cells.total()) and recur >= NEARLY_ALL * words.total() else []


def _says_as(table: Proposal, name: str, words: Counter[str]) -> bool:
    own = table.words(name)
    return bool(own) and table.may_be_label(name) and share_among(own, words) >= NEARLY_ALL

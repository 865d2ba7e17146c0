"""Where no rule finds labels: columns that may hold them; the user is asked, never told.

The rules want names and cells that are sure; what is left is judged by what labels have in common in any file: few
different ones, which come again.
"""

from __future__ import annotations

import re

from pll.formats.checks import listing
from pll.formats.proposal import MOST_OFFERED, Proposal, one_of, says, which
from pll.formats.reading import TO_FILL_IN
from pll.formats.tabular.cells import (
    present_cells,
)


def unclear(table: Proposal) -> None:
    """Ask about columns of few words whose names say labels, or, beside texts or pictures, all that may be: which.

    Parameters
    ----------
    table
        The columns and what they are so far: none is taken for labels.
    """
    found = which(table, "of some label", "!of an aggregate", "answers", "labels")
    stems: dict[str, list[str]] = {}
    for name in which(table, "rows", "empty"):
        stems.setdefault(re.sub(r"\d+", "", name), []).append(name)
    to_fill_in = [name for names in stems.values() if len(names) > 1 for name in names]
    table.give_all(to_fill_in, "keep", why=TO_FILL_IN)
    if not (found or to_fill_in) and table.having("text", "image"):
        found = which(table, "rows", "word", "answers", "labels", "!of an aggregate", "!of the occasion", "!of a state")
        found = which(table, "!of a person", "!states", "!numbered names", "!too many words", among=found)
    found = sorted(found, key=lambda name: (not says("labels", name), len(table.words(name))))[:MOST_OFFERED]
    table.give_all(found, "keep")
    said = {name: listing(list(dict.fromkeys(present_cells(table.raw[name])))[:4]) for name in found}
    if len(found) == 1:
        name = found[0]
        table.ask(
            f"{name} may hold the labels ({said[name]}). May some be wrong?",
            ("one label each, which may be wrong", {name: "candidates"}),
            ("the true label", {name: "true_label"}),
            ("only carried along", {name: "keep"}),
        )
    elif found:
        table.ask(
            f"{listing(found)} may hold the labels. Which does?",
            *one_of([(f"{name} ({said[name]})", [name]) for name in found], "candidates"),
            ("none of them: only carried along", dict.fromkeys(found, "keep")),
        )

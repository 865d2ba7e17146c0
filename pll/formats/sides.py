"""Two things compared, in lines of which some have them in the other order: one side is then not one thing."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

from pll.formats.proposal import Proposal, share_among
from pll.formats.reading import SWAPPED

LEAST = 2
"""Examples with both orders, at least."""
MOST_COLUMNS = 60


def sides(table: Proposal) -> None:
    """Note two columns with the same things, `left` and `right`, which lines of one example have in both orders.

    The answers are sides, and not the things themselves. That is said, and called odd, since one answer has then two
    meanings.
    """
    tasks, said = table.having("task"), table.answers_given()
    if not tasks or not table.having("vote") or not said:
        return
    taken = {*tasks, *table.having("vote", "worker", "id")}
    names = [name for name in table.raw if name not in taken and table.may_be_label(name)][:MOST_COLUMNS]
    for one, other in combinations(names, 2):
        things = table.words(one, other)
        if share_among(table.words(one), table.words(other)) < 1 / 2 or share_among(said, things) > 1 / 2:
            continue
        orders: dict[tuple[str | None, ...], set[tuple[str | None, ...]]] = {}
        for *key, first, second in zip(*(table.raw[name] for name in (*tasks, one, other)), strict=True):
            orders.setdefault(tuple(key), set()).add((first, second))
        both = [key for key, pairs in orders.items() if any(a != b and (b, a) in pairs for a, b in pairs)]
        if len(both) >= LEAST:
            text = (
                f"{one} and {other} hold the same two things in both orders, in lines about one example: {both[0][0]}"
            )
            table.roles[one] = replace(table.roles[one], why=f"{SWAPPED}: {text}")
            return

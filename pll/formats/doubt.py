"""What people write by hand where they are not sure: several labels in one cell, or one with a doubt."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence

from pll.formats.forms import any_of
from pll.formats.tabular.cells import SEPARATORS, signs_of, spelling

MOST_COMPARED = 2000
"""Different cells up to which they are compared with each other."""
STEPS = 0.25
"""Share of the cells that say a doubt in words, from which these are steps of a scale: `probably true`."""


_BETWEEN = "|".join(re.escape(sign) for mark in SEPARATORS if not mark.strip().isalpha() for sign in signs_of(mark))
_OR = re.compile(rf"\s*(?:{_BETWEEN}|[()]|(?<=\?)\s|{any_of('or')})\s*", re.IGNORECASE)
_WORD = re.compile(rf"(?:{any_of('doubt')})\.?", re.IGNORECASE)
_DOUBT = re.compile(rf"{_WORD.pattern}|[?¿]+", re.IGNORECASE)


def meant(cells: Mapping[str, int], keep: Collection[str] = ()) -> dict[str, tuple[str, ...]]:
    """Return the cells that name several labels, or one with a doubt, and these labels.

    All of them are cells of their own too, and each more often.

    Parameters
    ----------
    cells
        How often each cell stands there.
    keep
        Cells that are labels, whatever they look like.

    Examples
    --------
    >>> meant({"fox": 5, "cat": 4, "cat? fox?": 2, "fox (maybe cat)": 1, "probably fox": 1, "fox/hen": 1})
    {'cat? fox?': ('cat', 'fox'), 'fox (maybe cat)': ('fox', 'cat'), 'probably fox': ('fox',)}
    >>> meant({"Mano A": 5, "Mano B": 4, "Mano A o B": 1}), meant({"A": 5, "B": 4, "A?": 5})
    ({'Mano A o B': ('Mano A', 'Mano B')}, {})
    """
    counts, spelled = Counter[str](), dict[str, str]()
    for cell, times in sorted(cells.items(), key=lambda one: -one[1]) if len(cells) <= MOST_COMPARED else ():
        counts[spelling(cell)] += times
        spelled.setdefault(spelling(cell), cell.strip())
    found, recur = {}, max(counts.values(), default=0) > 1  # among texts nothing does
    for plain, cell in spelled.items() if recur else ():
        parts = _parts(cell, counts)
        if cell not in keep and parts != [plain] and all(counts[part] > max(counts[plain], 1) for part in parts):
            found[plain] = tuple(dict.fromkeys(spelled[part] for part in parts))
    in_words = [plain for plain, names in found.items() if len(names) == 1 and _WORD.search(spelled[plain])]
    if sum(counts[plain] for plain in in_words) > STEPS * counts.total():
        found = {plain: names for plain, names in found.items() if plain not in in_words}
    return {cell: found[spelling(cell)] for cell in cells if found.get(spelling(cell))}


def read_by_hand(
    cells: Mapping[str, tuple[int, Sequence[str]]], keep: Collection[str] = ()
) -> dict[str, tuple[str, ...]]:
    """Return the labels that each cell names.

    Parameters
    ----------
    cells
        How often each cell stands there, and what stands between its separators.
    keep
        Cells that are labels, whatever they look like.

    Examples
    --------
    >>> read_by_hand({"a": (3, ["a"]), "b": (3, ["b"]), "a; b?": (1, ["a", "b?"])})["a; b?"]
    ('a', 'b')
    """
    counts = Counter({cell: times for cell, (times, _) in cells.items()})
    for times, parts in cells.values():
        for part in parts if len(parts) > 1 else ():
            counts[part] += times
    several = meant(counts, keep)
    return {
        cell: several.get(cell) or tuple(dict.fromkeys(name for part in parts for name in several.get(part, (part,))))
        for cell, (_, parts) in cells.items()
    }


def _parts(cell: str, counts: Mapping[str, int]) -> list[str]:
    """The labels that a cell may name, in their common spelling; of `Hand A or B` the second is `hand b`."""
    parts, start = list[str](), ""
    for piece in _OR.split(cell):
        part = spelling(_DOUBT.sub(" ", piece)) if _DOUBT.sub("", piece).strip() else ""
        part = max(part, f"{start} {part}", key=lambda one: counts.get(one, 0))
        start = part.rpartition(" ")[0] or start
        parts += [part] if part else []
    return parts


def are_doubted(cells: Iterable[str | None]) -> bool:
    """Whether some cells name several labels, or one with a doubt."""
    return bool(meant(Counter(cell for cell in cells if cell)))

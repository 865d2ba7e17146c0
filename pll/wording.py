"""How things are worded for people: shares in per cent, long times, and short names of classes.

Where there is little room for names, what all share is left out and long ones are shortened in the middle; the full
name stays in tooltips, tables and texts for screen readers.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from decimal import ROUND_HALF_UP, Decimal
from functools import lru_cache
from itertools import combinations, pairwise, takewhile

MOST_SHORT = 28
"""Characters of a name where nothing else is said."""
IN_TABLES = 60
"""Characters of a name in a table."""
FEWEST_SHARED = 4
"""Characters that must be shared to be left out."""


def short_by_name(names: Sequence[str]) -> dict[str, str]:
    """Return the short form of each of all names, for cells that have room for a line: without what all share.

    Examples
    --------
    >>> short_by_name(["Musculoskeletal disorder of the hip", "Musculoskeletal disorder of the knee"])
    {'Musculoskeletal disorder of the hip': 'hip', 'Musculoskeletal disorder of the knee': 'knee'}
    """
    return dict(zip(names, short_names(names, IN_TABLES), strict=True))


def short_names(names: Sequence[str], most: int = MOST_SHORT) -> list[str]:
    """Return a short form of each name; different names stay different.

    Parameters
    ----------
    names
        Different from each other.
    most
        Characters of a short form, at least 3; where two would become alike they are longer.

    Examples
    --------
    >>> short_names(["Musculoskeletal: shoulder", "Musculoskeletal: hip"])
    ['shoulder', 'hip']
    >>> short_names(["Dent", "Scratch on visible surface", "Burr / sharp edge"], most=14)
    ['Dent', 'Scratch…', 'Burr / sharp…']
    >>> short_names(["joints of the lower limb", "joints of the upper limb", "bones"], most=13)
    ['lower', 'upper', 'bones']
    >>> short_names(["Ring object (bright red)", "Ring object (pale blue)", "Disc object (bright red)"], most=14)
    ['Ring…bright', 'pale', 'Disc object…']
    >>> short_names(["Melanoma in situ of upper arm", "Melanoma in situ", "Naevus"], most=16)
    ['upper', 'Melanoma in situ', 'Naevus']
    >>> short_names(["talk.politics.guns", "talk.politics.mideast", "sci.electronics"], most=14)
    ['talk.po…s.guns', 'talk.po…ideast', 'sci.electroni.']
    """
    return list(_short_names(tuple(names), most))


@lru_cache(maxsize=64)  # pages ask for the same names at every refresh
def _short_names(names: tuple[str, ...], most: int) -> tuple[str, ...]:
    ends = _without_shared(names) if max(map(len, names), default=0) > most // 2 else list(names)
    short = [_in_the_middle(name, most) for name in _by_telling_words(ends, most)]
    for head in (most // 3, most // 5, 2 * most // 3):  # other parts of names that became alike, before longer ones
        often = Counter(short)
        if len(often) == len(short):
            break
        other = [
            _in_the_middle(end, most, head) if often[name] > 1 else name for end, name in zip(ends, short, strict=True)
        ]
        short = other if len(set(other)) > len(often) else short
    while len(set(short)) < len(short):
        most += 4
        often = Counter(short)
        short = [_in_the_middle(end, most) if often[name] > 1 else name for end, name in zip(ends, short, strict=True)]
    return tuple(short)


MOST_TELLING, MOST_WORDS_OF_NAME, LEAST_LETTERS = 3, 12, 4
"""Words of a short name, those of a long one that they are chosen from, and the letters that stay of each."""


def _beginning(name: str, shared: int, most: int) -> str:
    """As many first words of a name as fit, where they are more letters than another begins with; "" else."""
    heads = [name[: word.end()].rstrip(" .,:;/–-([{") for word in re.finditer(r"\S+", name)]
    telling = [head for head in heads if shared < len(head) < most]
    whole = [head for head in telling if len(head.split()[-1]) >= LEAST_LETTERS]  # not up to an "of"
    return f"{max(whole or telling, key=len)}…" if telling else ""


def _shared_beginnings(names: Sequence[str]) -> list[int]:
    """How many letters each name begins with as another does."""
    shared, order = [0] * len(names), sorted(range(len(names)), key=names.__getitem__)
    for i, j in pairwise(order):  # the most alike stand side by side
        same = len(_common_start([names[i], names[j]]))
        shared[i], shared[j] = max(shared[i], same), same
    return shared


def _by_telling_words(names: Sequence[str], most: int) -> list[str]:
    """The names, those longer than `most` by their first words, else by the fewest that no other name has all of."""
    words = [[word.strip(".,:;()[]{}") for word in name.split()[:MOST_WORDS_OF_NAME]] for name in names]
    having: dict[str, set[int]] = {}
    for i, own in enumerate(words):
        for word in own:
            having.setdefault(word, set()).add(i)
    shared = _shared_beginnings(names)
    short = [
        name if len(name) <= most else _beginning(name, shared[i], most) or _telling(i, words[i], having, most) or name
        for i, name in enumerate(names)
    ]
    often = Counter(short)
    return [text if often[text] == 1 else name for text, name in zip(short, names, strict=True)]


def _telling(i: int, words: Sequence[str], having: Mapping[str, set[int]], most: int) -> str:
    """The fewest words of name i that it alone has; if there is a choice long ones, the first and the last; or ""."""
    missing = [max(LEAST_LETTERS - len(word), 0) for word in words]  # an "of" tells little, and nothing alone
    for k in range(1, MOST_TELLING + 1):
        chosen = [
            places
            for places in combinations(range(len(words)), k)
            if set.intersection(*(having[words[place]] for place in places)) == {i}
        ]
        for places in sorted(chosen, key=lambda at: (sum(missing[place] for place in at), at[0], -at[-1])):
            told = [words[place] for place in places]
            if k == 1 and told[0].islower() and missing[places[0]] > 1:
                continue
            while (
                sum(map(len, told)) + k - 1 > most and (longest := max(told, key=len)) and len(longest) > LEAST_LETTERS
            ):
                told[told.index(longest)] = longest.removesuffix(".")[:-2].rstrip("-_/.") + "."
            gaps = ["" if not j else " " if at == places[j - 1] + 1 else "…" for j, at in enumerate(places)]
            text = "".join(gap + word for gap, word in zip(gaps, told, strict=True)).replace(".…", "…")
            alike = [
                having[words[place]] if words[place] == word else _beginning_with(word.removesuffix("."), having)
                for place, word in zip(places, told, strict=True)
            ]
            if len(text) <= most and set.intersection(*alike) == {i}:  # also as they were cut
                return text
    return ""


def _beginning_with(letters: str, having: Mapping[str, set[int]]) -> set[int]:
    """The names that have a word which begins with these letters."""
    return {i for word, names in having.items() if word.startswith(letters) for i in names}


def _without_shared(names: Sequence[str]) -> list[str]:
    """The names without the words that all of them begin or end with."""
    if len(names) < 2:
        return list(names)
    start = re.sub(r"[^\W]*$", "", _common_start(names))  # whole words only
    end = _common_start([name[::-1] for name in names])[::-1]
    end = re.sub(r"^[^\W]*", "", end)
    ends = [name[len(start) :] for name in names] if len(start) >= FEWEST_SHARED else list(names)
    if len(end) >= FEWEST_SHARED and all(len(name) > len(end) for name in ends):
        ends = [name[: -len(end)] for name in ends]
    ends = [name.strip() for name in ends]
    return ends if all(ends) and len(set(ends)) == len(names) else list(names)


def _in_the_middle(name: str, most: int, head: int | None = None) -> str:
    if len(name) <= most:
        return name
    head = most // 2 if head is None else max(head, 1)
    return f"{name[:head].rstrip()}…{name[len(name) - (most - 1 - head) :].lstrip()}"


def _common_start(names: Sequence[str]) -> str:
    """The letters that all names begin with."""
    first, last = min(names), max(names)  # what these two share, all share
    same = takewhile(lambda pair: pair[0] == pair[1], zip(first, last, strict=False))
    return "".join(letter for letter, _ in same)


def percent(share: float | None, digits: int | None = 1) -> str:
    """Return a fraction as a percentage, "–" where it is not known: on pages, in files and in the shell.

    Parameters
    ----------
    share
        1 is 100 %.
    digits
        Behind the point; None for as many as a declared share needs, 3 at most.

    Examples
    --------
    >>> percent(0.9437), percent(0.0625), percent(0.125, digits=0), percent(None)
    ('94.4 %', '6.3 %', '13 %', '–')
    >>> percent(0.05, digits=None), percent(0.075, digits=None)
    ('5 %', '7.5 %')
    """
    if share is None or not math.isfinite(share):
        return "–"
    if digits is None:
        return f"{round(share * 100, 3):g} %"
    # Halves go up, as in the scripts of pictures and replays (`toFixed`, `Math.round`); Python's own go to the even.
    return f"{Decimal(float(share) * 100).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP)} %"


def likely(share: float) -> str:
    """Return how likely labels are to be right, in whole per cent: rounding never makes them certain, or excludes them.

    Parameters
    ----------
    share
        1 is 100 %.

    Examples
    --------
    >>> likely(0.874), likely(0.997), likely(0.002)
    ('87 %', '> 99 %', '< 1 %')
    """
    if share >= 0.995:
        return "> 99 %"
    return "< 1 %" if share < 0.005 else percent(share, 0)


def count(number: int, one: str, many: str | None = None) -> str:
    """A number and its noun.

    Parameters
    ----------
    number
        How many.
    one
        The noun of one.
    many
        Of more; with an s where it is not given.

    Examples
    --------
    >>> count(1, "class", "classes"), count(1797, "example")
    ('1 class', '1,797 examples')
    """
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def ties(n: int) -> str:
    """Say how many labels are ties; "" for none.

    Examples
    --------
    >>> ties(1), ties(12)
    ('1 is a tie: nothing tells which is right.', '12 are ties: nothing tells which is right.')
    """
    return f"{n:,} {'is a tie' if n == 1 else 'are ties'}: nothing tells which is right." * bool(n)


def duration(seconds: float) -> str:
    """Return a time that work will take, no finer than it can be estimated.

    Examples
    --------
    >>> duration(0.2), duration(75), duration(1900), duration(9 * 3600), duration(40 * 86400)
    ('10 seconds', '75 seconds', '32 minutes', '9 hours', '40 days')
    """
    seconds = max(seconds, SHORTEST_WORK)
    unit, name = next(one for one in _UNITS if seconds >= 2 * one[0] or one[0] == 1)
    return f"{round(seconds / unit):,} {name}"


SHORTEST_WORK = 10.0
"""Seconds that any work takes with its start, as far as an estimate can tell."""
_UNITS = ((86400, "days"), (3600, "hours"), (60, "minutes"), (1, "seconds"))


EXCERPT = 160
"""Characters of a text on a card."""


def excerpt(text: object, most: int = EXCERPT) -> str:
    """The beginning of a text, on one line.

    Parameters
    ----------
    text
        The text.
    most
        Characters of what is returned.

    Examples
    --------
    >>> excerpt("a long   text of many words", most=15)
    'a long text of…'
    """
    line = " ".join(str(text).split())
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"

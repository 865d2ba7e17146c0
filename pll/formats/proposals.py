"""Classes proposed from answers in sentences, for a person to correct."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Sequence

LEAST, LEAST_SHARE = 2, 0.03
"""Answers, and their share, that a class is named in at least."""
_WORD = re.compile(r"[\w'’+#-]+")


def proposed_from_sentences(answers: Sequence[str]) -> tuple[str, ...]:
    """Return the words that stand in one place of many sentences, and of which most sentences have exactly one.

    A place is what comes after a word, or the beginning. Of all places that one is taken whose words tell most answers
    apart: the share of answers with exactly one of them, times the entropy of which it is (1 nat at most).

    Parameters
    ----------
    answers
        As they were given.

    Returns
    -------
    tuple of str
        In their most frequent spelling, sorted; empty where no place has two such words.

    Examples
    --------
    >>> proposed_from_sentences(
    ...     ["I think it is sports.", "It is politics, I think.", "This is sports", "politics it is"] * 2
    ... )
    ('politics', 'sports')
    """
    spelled: defaultdict[str, Counter[str]] = defaultdict(Counter)
    places: defaultdict[str, Counter[str]] = defaultdict(Counter)
    sentences = []
    for answer in answers:
        words = _WORD.findall(answer)
        for before, word in zip(["", *words], words, strict=False):
            places[before.casefold()][word.casefold()] += 1
            spelled[word.casefold()][word] += 1
        sentences.append({word.casefold() for word in words})
    least = max(LEAST, LEAST_SHARE * len(answers))
    best: tuple[float, list[str]] = (0.0, [])
    for followers in places.values():
        names = {word for word, count in followers.items() if count >= least and not word.isdecimal()}
        if len(names) < 2:
            continue
        single = Counter(next(iter(there)) for words in sentences if len(there := names & words) == 1)
        covered = single.total()
        if covered:
            entropy = -sum(count / covered * math.log(count / covered) for count in single.values())
            best = max(best, (covered / len(answers) * min(entropy, 1.0), sorted(names & single.keys())))
    return tuple(spelled[word].most_common(1)[0][0] for word in best[1])

"""Classes proposed from answers where nobody listed any, for a person to correct."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from pll.candidates import sort_names
from pll.formats.tabular.answers import MARKS, AnswerReader, labels_of, plain
from pll.formats.tabular.cells import no_answers

LEAST, LEAST_SHARE = 2, 0.03
"""Answers, and their share, that a class is named in at least."""
SHORT = 60
"""Characters of a sentence that may be a class where no classes are known."""
WORDS = 3
"""An answer of more words, or with other marks than those of names, is no class where it names one."""
_WORD = re.compile(r"[\w'’+#-]+")


def is_sentence(answer: str) -> bool:
    """Whether an answer is a sentence, and no name of a class.

    Examples
    --------
    >>> is_sentence("I think it is a cat."), is_sentence("Guinea pig."), is_sentence("Money transfer and services")
    (True, False, False)
    """
    text = answer.strip()
    return text.endswith((".", "!", "?")) and len(text.split()) > WORDS


def proposed_classes(
    answers: Mapping[tuple[str, str], int], by_hand: Mapping[str, str] | None = None
) -> tuple[str, ...]:
    """Return the short answers given at least twice, in their most frequent spelling, without sentences about others.

    Where several voters answer in words, at least two of them must have given it: refusals differ between voters. Where
    most answers are sentences, the words in which these differ.

    Parameters
    ----------
    answers
        How often each voter gave each answer, by (voter, answer).
    by_hand
        Of `AnswerReader`: such answers are left out.

    Examples
    --------
    >>> proposed_classes({("gpt", "cat"): 3, ("gpt", "Label: dog"): 1, ("claude", "dog"): 2, ("claude", "Cat."): 2})
    ('cat',)
    >>> proposed_classes({("gpt", "cat"): 3, ("gpt", "dog"): 2, ("claude", "I think it is a cat."): 5})
    ('cat', 'dog')
    """
    mapped = AnswerReader((), by_hand)
    answers = {one: count for one, count in answers.items() if one[1].strip() and not mapped.is_mapped(one[1])}
    texts = Counter[str]()
    for (_, text), count in answers.items():
        texts[text.strip()] += count
    if 2 * sum(count for text, count in texts.items() if is_sentence(text)) > texts.total():
        return _words_of(list(texts.elements()))
    voters: defaultdict[str, set[str]] = defaultdict(set)
    spellings: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for (voter, text), count in answers.items():
        for label in labels_of(text):
            if len(label) > SHORT and is_sentence(label):
                continue
            voters[plain(label)].add(voter)
            spellings[plain(label)][label] += count
    least = min(2, len({voter for voter, text in answers if not is_sentence(text)}))
    names = [
        form if form.isdecimal() else counts.most_common(1)[0][0].strip(MARKS)  # 1, though most write 1.0
        for form, counts in spellings.items()
        if form and len(voters[form]) >= least and counts.total() >= 2
    ]
    short = [name for name in names if len(name.split()) <= WORDS and re.fullmatch(r"[\w\s'’+#-]+", name)]
    of_short = AnswerReader(short)
    names = [name for name in names if name in short or not (short and of_short.read(name))]
    ignored = no_answers(names, among_votes=True)
    return sort_names(name for name in names if name not in ignored)


def _words_of(sentences: Sequence[str]) -> tuple[str, ...]:
    """Return the words that stand in one place of many sentences, and of which most sentences have exactly one.

    A place is what comes after a word, or the beginning. Of all places that one is taken whose words tell most answers
    apart: the share of answers with exactly one of them, times the entropy of which it is (1 nat at most). None where
    no place has two such words.

    >>> _words_of(["I think it is sports.", "It is politics, I think.", "This is sports", "politics it is"] * 2)
    ('politics', 'sports')
    """
    spelled: defaultdict[str, Counter[str]] = defaultdict(Counter)
    places: defaultdict[str, Counter[str]] = defaultdict(Counter)
    words_of = []
    for sentence in sentences:
        words = _WORD.findall(sentence)
        for before, word in zip(["", *words], words, strict=False):
            places[before.casefold()][word.casefold()] += 1
            spelled[word.casefold()][word] += 1
        words_of.append({word.casefold() for word in words})
    least = max(LEAST, LEAST_SHARE * len(sentences))
    best: tuple[float, list[str]] = (0.0, [])
    for followers in places.values():
        names = {word for word, count in followers.items() if count >= least and not word.isdecimal()}
        if len(names) < 2:
            continue
        single = Counter(next(iter(there)) for words in words_of if len(there := names & words) == 1)
        covered = single.total()
        if covered:
            entropy = -sum(count / covered * math.log(count / covered) for count in single.values())
            best = max(best, (covered / len(sentences) * min(entropy, 1.0), sorted(names & single.keys())))
    return tuple(spelled[word].most_common(1)[0][0] for word in best[1])

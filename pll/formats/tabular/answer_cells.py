"""What a cell of an annotator means: the one place where answers of people and of models become classes.

A cell is the class that it is, but for case, spaces and punctuation around it; else what the field of JSON in it is;
else the classes that it names as whole words, one or several: a set. A cell that names none is left out and counted;
it can be mapped by hand. Where nobody lists the classes, every label of a cell is one.

A model's answer in JSON is an object with a field for the label (`{"label": "cat", "confidence": 0.8}`), in a code
fence or among other words. Counts and shares are an object of numbers (`{"cat": 3, "dog": 1}`).
"""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from operator import itemgetter
from typing import Any

from pll.candidates import sort_names
from pll.errors import UserError
from pll.formats.forms import USUAL, plain_name
from pll.formats.tabular.cells import (
    Cells,
    are_lists_of_numbers,
    elements,
    nearly_all,
    no_answers,
    numbers_in,
    present_cells,
    spelling,
    split_cell,
    without_case,
)

ANSWER_FIELDS = ("label", "answer", "class", "category", "prediction", "choice")
"""Fields of a model's answer that hold the label."""
_SEVERAL = (*(f"{name}s" for name in ANSWER_FIELDS), "classes", "categories")
SCORE_FIELDS = ("confidence", "score", "probability", "prob", "certainty")
"""Fields with the confidence in it."""
_FENCE = re.compile(r"\s*```[a-z]*[ \t]*\n?(.*?)\n?```\s*", re.IGNORECASE | re.DOTALL)
COVERED = 0.99
"""Probability that the likeliest classes together have at least, where candidate sets are made of probabilities."""

_THOUGHT = re.compile(r"^.*</think(?:ing)?>|^\s*<think(?:ing)?>.*$", re.IGNORECASE | re.DOTALL)
"""What a reasoning model writes before it answers: it names classes that are not its answer.

Some templates leave the first tag out; where the last one is missing, the answer was cut off.
"""
_TAGGED = re.compile(rf"<({'|'.join(ANSWER_FIELDS)})>\s*([^<>]+?)\s*</\1>", re.IGNORECASE)
"""An answer in tags: `<label>cat</label>`."""
_WORD = re.compile(r"[^\s:;,|()\[\]{}\"!?*`=/<>]+")
MARKS = " .,:;!?\"'`*()[]"
_WHOLE = re.compile(r"(\d{1,9})\.0+", re.ASCII)
"""A whole number beside which cells are missing, so that a reader made fractions of them."""

Answer = tuple[tuple[str, ...], float]
"""Classes, and the confidence from 0 to 1, NaN where a cell has none."""


class AnswerReader:
    """Reader of annotators' cells.

    Parameters
    ----------
    classes
        All classes; () where every label of a cell is one.
    by_hand
        Cell → class, as a person mapped them; "" for no answer.
    silent
        Cells that say that there is no answer.

    Attributes
    ----------
    classes
        All classes, with those that only `by_hand` names.

    Examples
    --------
    >>> reader = AnswerReader(("cat", "dog"), {"kitty": "cat"})
    >>> cells = (" Dog.", '{"label": "cat"}', "I think it is a dog.", "a cat or a dog", "Kitty", "", "doggy")
    >>> [names and names[0] for names in map(reader.read, cells)]
    [('dog',), ('cat',), ('dog',), ('cat', 'dog'), ('cat',), (), None]
    >>> AnswerReader(("cat", "cat-like", "A")).read("a cat-like one, class A")[0], AnswerReader().read("cat|dog")[0]
    (('cat-like', 'A'), ('cat', 'dog'))
    >>> AnswerReader(("NA", "|")).read('["NA", "|"]')[0]
    ('NA', '|')
    """

    def __init__(
        self, classes: Iterable[str] = (), by_hand: Mapping[str, str] | None = None, silent: Collection[str] = ()
    ) -> None:
        listed, self._silent = tuple(classes), frozenset(silent)
        same = _unambiguous(listed)  # `fox` where the classes spell it FOX is no class of its own
        self._by_hand = {
            plain(cell): to if to in listed else same.get(plain(to), to) for cell, to in (by_hand or {}).items()
        }
        targets = dict.fromkeys(to for to in self._by_hand.values() if to and to not in listed)
        self.classes = (*listed, *targets) if listed else ()
        self._exact, self._same = frozenset(self.classes), _unambiguous(self.classes)
        self._longest = max((len(name.split()) for name in self._same), default=0)

    def is_mapped(self, cell: str) -> bool:
        """Whether a person mapped this cell."""
        return bool(self._by_hand) and plain(cell) in self._by_hand

    def read(self, cell: str, separator: str = "|") -> Answer | None:
        """Return the classes that a cell names, none where it is empty or says so, and its confidence.

        Parameters
        ----------
        cell
            As the file has it.
        separator
            Separator of several labels in one cell of its column.

        Returns
        -------
        tuple, or None
            None where the cell names no class.

        Raises
        ------
        UserError
            Every label is a class, and the cell looks like a list but is none.
        """
        if not cell.strip() or cell in self._silent:
            return (), math.nan
        if self.is_mapped(cell):
            target = self._by_hand[plain(cell)]
            return (target,) if target else (), math.nan
        if cell in self._exact:
            return (cell,), math.nan
        answer = _answer_in(cell)
        if not self.classes:
            return answer or (split_cell(cell, separator), math.nan)
        with suppress(UserError):  # no list after all
            listed = split_cell(cell, separator) if answer is None and cell.lstrip().startswith("[") else ()
            if listed and self._exact.issuperset(listed):
                return listed, math.nan
        bare = _THOUGHT.sub("", cell).strip()
        texts, confidence = answer or ((bare,), math.nan)
        names = self._whole(texts)
        if not names and answer is None:
            with suppress(UserError):  # in brackets stand words as well as lists
                names = self._whole(split_cell(bare, separator))
        names = names or self._named(texts)
        return (names, confidence) if names or not texts else None

    def class_of(self, cell: str) -> str | None:
        """Return the class whose name a cell is; None where it is anything else."""
        return cell if cell in self._exact else self._same.get(plain(cell))

    def _whole(self, texts: Sequence[str]) -> tuple[str, ...]:
        """The classes that some texts are; none where one of them is no class."""
        names = [name for name in map(self.class_of, texts) if name is not None]
        return tuple(dict.fromkeys(names)) if len(names) == len(texts) else ()

    def _named(self, texts: Sequence[str]) -> tuple[str, ...]:
        """The classes that stand in some texts as whole words.

        A class of one letter is one only as it is written, and a class within the name of another is that other.
        """
        names = set[str]()
        for words in map(_words, texts):
            at = 0
            while at < len(words):
                for count in range(min(self._longest, len(words) - at), 0, -1):
                    some = " ".join(words[at : at + count])
                    name = self._same.get(plain(some), "")
                    if name and (len(name) > 1 or name == some):
                        names.add(name)
                        at += count - 1
                        break
                at += 1
        return tuple(name for name in self.classes if name in names) if names else ()


def plain(text: str) -> str:
    """A class or an answer by its words: without differences of case, spaces and punctuation; 1.0 is 1.

    Examples
    --------
    >>> plain(" **Guinea_pig**."), plain("C#"), plain("credit/debit card"), plain("1.0"), plain("?")
    ('guinea pig', 'c#', 'credit debit card', '1', '?')
    """
    name = without_case(" ".join(_words(text))) or text.strip()
    number = _WHOLE.fullmatch(name)
    return name if number is None else number[1]


def _words(text: str) -> list[str]:
    words = (word.strip(MARKS) for word in _WORD.findall(unicodedata.normalize("NFKC", text).replace("_", " ")))
    return [word for word in words if word]


def labels_of(text: str) -> tuple[str, ...]:
    """Return what an answer says its labels are: the field of JSON in it, else itself.

    Examples
    --------
    >>> labels_of('Sure! {"label": "cat"}'), labels_of(" Dog."), labels_of('{"labels": ["cat", "dog"]}')
    (('cat',), ('Dog.',), ('cat', 'dog'))
    """
    answer = _answer_in(text)
    return (_THOUGHT.sub("", text).strip(),) if answer is None else answer[0]


def _answer_in(text: str) -> Answer | None:
    """The answer in JSON that a text is, or that is the only object in it."""
    if "}" not in text:
        tagged = _TAGGED.findall(_THOUGHT.sub("", text)) if "</" in text else []
        return (tuple(dict.fromkeys(label for _, label in tagged)), math.nan) if tagged else None
    bare = _THOUGHT.sub("", text)
    objects = re.findall(r"\{[^{}]*\}", bare)
    return answer_of(bare) or (answer_of(objects[0]) if len(objects) == 1 else None) or _likeliest(bare)


def _likeliest(text: str) -> Answer | None:
    """The label with the largest share in an object of them, several where they are equal, and that share."""
    shares = shares_of(text) or {}
    most = max(shares.values(), default=0.0)
    names = tuple(name for name, share in shares.items() if share == most)
    return (names, most / sum(shares.values())) if names else None


def _unambiguous(classes: Sequence[str]) -> dict[str, str]:
    """Plain form → class; forms that two classes share tell neither."""
    shared = Counter(map(plain, classes))
    return {plain(name): name for name in classes if shared[plain(name)] == 1}


# ---- classes that answers name, where nobody lists any ---------------------------------------------------------------

LEAST, LEAST_SHARE = 2, 0.03
"""Answers, and their share, that a class is named in at least."""
SHORT = 60
"""Characters of a sentence that may be a class where no classes are known."""
MOST_WORDS = 3
"""An answer of more words, or with other marks than those of names, is no class where it names one."""
_NAME = re.compile(r"[\w'’+#-]+")


def is_sentence(answer: str) -> bool:
    """Whether an answer is a sentence, and no name of a class.

    Examples
    --------
    >>> is_sentence("I think it is a cat."), is_sentence("Guinea pig."), is_sentence("Money transfer and services")
    (True, False, False)
    """
    text = answer.strip()
    return text.endswith((".", "!", "?")) and len(text.split()) > MOST_WORDS


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
    in_fields = {one: count for one, count in answers.items() if _answer_in(one[1]) is not None}
    if 2 * sum(in_fields.values()) > texts.total():
        answers = in_fields  # the others are refusals
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
    short = [name for name in names if len(name.split()) <= MOST_WORDS and re.fullmatch(r"[\w\s'’+#-]+", name)]
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
        words = _NAME.findall(sentence)
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


# ---- cells in JSON ---------------------------------------------------------------------------------------------------


def answer_of(cell: str) -> tuple[tuple[str, ...], float] | None:
    """Return the labels of a model's answer in JSON, and its confidence from 0 to 1 (NaN where it has none).

    None where the cell is no such answer.

    Examples
    --------
    >>> answer_of('{"label": "cat", "confidence": 0.8}'), answer_of('{"label": null, "why": "blurred"}')[0]
    ((('cat',), 0.8), ())
    >>> answer_of("cat"), answer_of('{"cat": 0.8, "dog": 0.2}')
    (None, None)
    """
    fields = _object(cell)
    if fields is None:
        return None
    plain = {name.strip().casefold(): value for name, value in fields.items()}
    field = next((name for name in (*ANSWER_FIELDS, *_SEVERAL) if name in plain), None)
    if field is None:
        field = _only_word(plain)
    if field is None:
        marked = [name.strip() for name, value in fields.items() if value is True or value == "true"]
        are_marks = all(isinstance(value, bool) or value in ("true", "false") for value in fields.values())
        return (tuple(marked), math.nan) if fields and are_marks else None
    values = plain[field] if isinstance(plain[field], list) else [plain[field]]
    names = [_name(one) for one in values if one is not None]
    if any(name is None for name in names):
        return None
    confidence = next((_share(plain[name]) for name in SCORE_FIELDS if name in plain), math.nan)
    return tuple(dict.fromkeys(name for name in names if name)), confidence


def _only_word(fields: Mapping[str, Any]) -> str | None:
    """Return the one field of words beside a confidence: `{"sentiment": "good", "confidence": 0.8}`."""
    if not any(name in fields for name in SCORE_FIELDS):
        return None
    words = [name for name, value in fields.items() if isinstance(value, str) and name not in SCORE_FIELDS]
    return words[0] if len(words) == 1 and len(fields[words[0]]) <= _MOST_LETTERS else None


_MOST_LETTERS = 60


def shares_of(cell: str) -> dict[str, float] | None:
    """Return how likely or how frequent each label is, of a JSON object of such numbers; None of any other cell.

    Of shares the likeliest labels that make up `COVERED` of their sum, of counts all above 0. Where a label has null,
    as in a struct of Arrow, nobody gave it.

    Examples
    --------
    >>> shares_of('{"cat": 3, "dog": 1, "fox": null}'), shares_of('{"cat": 0.6, "dog": 0.399, "fox": 0.001}')
    ({'cat': 3, 'dog': 1}, {'cat': 0.6, 'dog': 0.399})
    >>> shares_of('{"width": -1}'), shares_of("{cat, dog}")
    (None, None)
    """
    fields = _object(cell)
    if not fields:
        return None
    shares = {name.strip(): 0 if value is None else value for name, value in fields.items()}
    if not all(map(_is_share, shares.values())):
        return None
    positive = {name: value for name, value in shares.items() if value > 0 and name}
    whole = sum(positive.values())
    if not positive or all(value == round(value) for value in positive.values()):
        return positive
    ahead, least = 0.0, 0.0
    for value in sorted(positive.values(), reverse=True):
        if ahead >= COVERED * whole - 1e-9:
            break
        ahead, least = ahead + value, value
    return {name: value for name, value in positive.items() if value >= least}


def listed_answers(
    cell: str | None, people: str | None = None, states: str | None = None, *, counts: Sequence[str] = ()
) -> list[tuple[str | None, str, float]]:
    """Return (who, label, confidence) of every answer in a cell that holds all answers to an example.

    It is a list of labels, whose people stand in another cell; an object of people and labels; or a list of objects
    with a label and a person. Nobody is None, and so is no confidence NaN.

    Parameters
    ----------
    cell
        As JSON or Python write it, or with commas between the answers.
    people
        As `cell`, who gave them.
    states
        As `cell`, their states.
    counts
        The states that count; () where all do.

    Raises
    ------
    UserError
        As many people as answers there are not.

    Examples
    --------
    >>> [one[:2] for one in listed_answers('["cat", "dog"]', "ann,bob")], listed_answers('{"ann": "cat"}')[0][:2]
    ([('ann', 'cat'), ('bob', 'dog')], ('ann', 'cat'))
    >>> [one[:2] for one in listed_answers('[{"label": "cat", "user": 1}, {"label": "dog"}]')]
    [('1', 'cat'), (None, 'dog')]
    """
    if pairs := pairs_in(cell):
        return [(who, label, math.nan) for who, label in pairs if label]
    value = elements(cell)
    names = [None if one is None else _as_text(one) for one in elements(people)] if people else []
    if isinstance(value, dict):
        is_one = any(plain_name(name) in USUAL["vote"] for name in value) and not any(
            isinstance(one, dict | list) for one in value.values()
        )
        objects = [value] if is_one else [{"user": who, "label": label} for who, label in value.items()]
        return listed_answers(json.dumps(objects))
    if names and len(names) != len(value):
        raise UserError(f"there are {len(value)} answers and {len(names)} people; they must be as many")
    said = [str(one).casefold() for one in elements(states)] if states else []
    found: list[tuple[str | None, str, float]] = []
    for at, one in enumerate(value):
        if counts and said and (at >= len(said) or not counts_in(said[at], counts)):
            continue
        if isinstance(one, dict):
            found += _of_object(one)
        elif one is not None:
            found.append((names[at] if names else None, _as_text(one), math.nan))
    return found


def counts_in(state: str, counts: Sequence[str]) -> bool:
    """Whether an answer in this state counts.

    Examples
    --------
    >>> counts_in("Submitted", ["submitted"]), counts_in("draft", ["submitted"]), counts_in("Preview", ["!preview"])
    (True, False, False)
    """
    plain = state.strip().casefold()
    return plain in counts or (f"!{plain}" not in counts and all(one.startswith("!") for one in counts))


def _of_object(one: Mapping[str, Any]) -> list[tuple[str | None, str, float]]:
    """Return the answers that an object with a label, and perhaps people and a confidence, is."""
    fields = {plain_name(name): value for name, value in one.items()}
    label = next((fields[name] for name in USUAL["vote"] if fields.get(name) is not None), None)
    if label is None:
        return []
    who = next((fields[name] for name in (*USUAL["worker"], *USUAL["people"]) if fields.get(name) is not None), None)
    score = next((_share(fields[name]) for name in SCORE_FIELDS if name in fields), math.nan)
    whose = who if isinstance(who, list) else [who]
    return [(None if name is None else _as_text(_who(name)), _as_text(label), score) for name in whose]


def _who(value: Any) -> Any:
    """Return the name of a person who is an object of fields; a name as it is."""
    fields = {plain_name(name): one for name, one in value.items()} if isinstance(value, dict) else {}
    return next((fields[name] for name in USUAL["worker"] if fields.get(name) is not None), value)


def _as_text(value: Any) -> str:
    """Return a label or a person as a cell: text as it is, a list of labels as JSON."""
    if isinstance(value, list):
        return json.dumps([_as_text(one) for one in value], ensure_ascii=False)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _is_share(value: Any) -> bool:
    """Whether a value can be how likely or how frequent a label is."""
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e9


_COUNTED = re.compile(
    r"(?:.*[^a-z])?(?:count|vote|dist|distribution|proba?|probabilitie|score|softmax|logit|pred|prediction)(?:s|er|ers)?"
)


def says_counts(name: str) -> bool:
    """Whether a column or field is called as counts or shares of labels are.

    Examples
    --------
    >>> says_counts("label_counts"), says_counts("Probabilities"), says_counts("box")
    (True, True, False)
    """
    return _COUNTED.fullmatch(name.casefold()) is not None


def share_lists(name: str, cells: Cells) -> int:
    """Return how many classes there are, where the cells of a column are lists of their shares, or counts; else 0.

    Examples
    --------
    >>> share_lists("x", ["[0.25, 0.75]", "[1. 0.]"]), share_lists("votes", ["[3, 1]"]), share_lists("x", ["[3, 1]"])
    (2, 2, 0)
    """
    if not are_lists_of_numbers(cells):
        return 0
    lists = [numbers for cell in present_cells(cells) if (numbers := numbers_in(cell))]
    are_shares = all(min(one) >= 0 and abs(sum(one) - 1) <= ROUNDED * len(one) for one in lists)
    are_counts = says_counts(name) and all(x >= 0 and x.is_integer() for one in lists for x in one)
    return Counter(map(len, lists)).most_common(1)[0][0] if are_shares or are_counts else 0


ROUNDED = 0.0051
"""How far each of the shares of a list may be from what it was before it was rounded."""


def is_object(cell: str) -> bool:
    """Whether a cell is a JSON object."""
    return _object(cell) is not None


def objects_in(name: str, cells: Cells) -> tuple[str, Cells]:
    """Return what the objects in a column are, "" where hardly a cell is one, and its cells as if with labels alone.

    They are "answers" of a model; "voters" with their answers; "shares" of labels, whose sum is 1 unless the name of
    the column says that they are counts; or "others".

    Examples
    --------
    >>> objects_in("gpt", ['{"label": "cat", "score": 1}', None]), objects_in("votes", ['{"cat": 2, "dog": 1}'])
    (('answers', ['cat', None]), ('shares', ['["cat", "dog"]']))
    >>> objects_in("gpt", ["cat"])
    ('', ['cat'])
    """

    def says_shares(cell: str) -> bool:
        values = (shares_of(cell) if answer_of(cell) is None else None) or {}
        return len(values) > 0 and (says_counts(name) or abs(sum(values.values()) - 1) <= 1.02 - COVERED)

    if all(nearly_all(lambda cell: bool(pairs_in(cell)), some) for some in (cells[:_FEW], cells)):
        return ("voters" if _are_whose([pairs_in(cell) for cell in cells]) else ""), cells
    may_be = any(cell.rstrip().endswith(("}", "```", "}]")) for cell in cells if cell)  # rare, and cheap to check
    if may_be and nearly_all(_is_list_of_answers, cells):
        return "voters", cells
    if not may_be or not nearly_all(is_object, cells):
        return "", cells
    if nearly_all(lambda cell: answer_of(cell) is not None, cells):
        return "answers", [cell and (_joined(answer[0]) if (answer := answer_of(cell)) else cell) for cell in cells]
    if _say_who(name, cells):
        return "voters", cells
    if nearly_all(says_shares, cells):
        return "shares", [cell and (_joined(tuple(shares_of(cell) or ())) or cell) for cell in cells]
    return "others", cells


def _is_list_of_answers(cell: str) -> bool:
    """Whether a cell is a list of objects with a label, and mostly with a person."""
    value = elements(cell) if cell.lstrip().startswith("[") else []
    if not value or isinstance(value, dict) or not all(isinstance(one, dict) for one in value):
        return False
    fields = [{plain_name(str(name)) for name in one} for one in value]
    named = sum(not some.isdisjoint((*USUAL["worker"], *USUAL["people"])) for some in fields)
    return all(not some.isdisjoint(USUAL["vote"]) for some in fields) and 2 * named > len(fields)


def _say_who(name: str, cells: Cells) -> bool:
    """Whether objects say who answered what: words, in a column that is called as answers are, or of one vocabulary."""
    plain = plain_name(name)
    objects = [_object(cell) or {} for cell in cells if cell]
    pairs = [[(key, one) for key, one in some.items() if one is not None] for some in objects]
    values = [one for some in pairs for _, one in some]
    if not values or not all(isinstance(one, str | list) for one in values):
        return False
    return plain in (*USUAL["answers"], *USUAL["candidates"]) or _are_whose(pairs)


_FEW = 20
"""Cells that are looked at first."""


def _are_whose(rows: Sequence[Sequence[tuple[str, Any]]]) -> bool:
    """Whether pairs are people and their answers: names that come again, and few words that all of them use.

    >>> _are_whose([[("a", "x"), ("b", "y")], [("a", "y"), ("b", "x")]]), _are_whose([[("a", "x"), ("b", "y")]] * 9)
    (True, False)
    """
    words: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for who, what in (pair for row in rows for pair in row):
        words[who][spelling(str(what))] += 1
    said = sum(words.values(), Counter[str]())
    alike = [sum(n for word, n in one.items() if said[word] > one[word]) for one in words.values()]
    several = 2 * sum(len({*map(itemgetter(0), row)}) > 1 for row in rows) >= len(rows)
    few = 2 * len(words) <= max(4, said.total()) and 1 < len(said) <= max(20, said.total() // 4)
    return several and few and len(words) > 1 and 2 * sum(alike) >= said.total()


_PAIR = re.compile(r"\s*(?P<who>[^:=;|{}\[\]]{1,40}?)\s*[:=]\s*(?P<what>[^:=;|]*?)\s*")


def pairs_in(cell: str | None) -> list[tuple[str, str]]:
    """Return who said what in a cell such as `ann: cat; bob: dog`; nothing where a part of it is no such pair.

    Examples
    --------
    >>> pairs_in("ann: cat; bob = dog, or not;"), pairs_in("A.B.: cat, C: dog"), pairs_in("cat; bob: dog")
    ([('ann', 'cat'), ('bob', 'dog, or not')], [('A.B.', 'cat'), ('C', 'dog')], [])
    """
    if not cell or (":" not in cell and "=" not in cell):  # nearly always, and at once
        return []
    parts = [part for part in re.split(r"[;|\n]|,(?=[^,;|:=]+[:=])", cell or "") if part.strip()]
    pairs = [match for part in parts if (match := _PAIR.fullmatch(part))]
    return [(pair["who"], pair["what"]) for pair in pairs] if len(pairs) == len(parts) else []


def _joined(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else json.dumps(list(names), ensure_ascii=False) if names else ""


def _object(cell: str) -> dict[str, Any] | None:
    fenced = _FENCE.fullmatch(cell)
    text = (cell if fenced is None else fenced[1]).strip()
    if not (text.startswith("{") and text.endswith("}")):
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _name(value: Any) -> str | None:
    if isinstance(value, str):
        return value.strip()
    return json.dumps(value) if isinstance(value, int | float) else None


def _share(value: Any) -> float:
    try:
        share = float(str(value).strip().removesuffix("%"))
    except ValueError:
        return math.nan
    share = share / 100 if str(value).strip().endswith("%") or 1 < share <= 100 else share
    return share if 0 <= share <= 1 else math.nan

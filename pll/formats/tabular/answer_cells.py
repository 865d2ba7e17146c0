"""What a cell of an annotator means: the one place where answers of people and of models become classes.

A cell is the class that it is, but for case, spaces and punctuation around it; else what the field of JSON in it is;
else the classes that it names as whole words, one or several: a set. A cell that names none is left out and counted;
it can be mapped by hand. Where nobody lists the classes, every label of a cell is one.

A model's answer in JSON is an object with a field for the label (`{"label": "cat", "confidence": 0.8}`), in a code
fence or among other words. Counts and shares are an object of numbers (`{"cat": 3, "dog": 1}`).

People who are not sure name several labels in one cell, or one with a doubt: `cat? fox?`, `probably fox`.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress

from pll.candidates import sort_names
from pll.errors import Note, UserError
from pll.formats.base import ReadOptions
from pll.formats.checks import listing, shorten
from pll.formats.forms import NO_ANSWER, WORDS, any_of
from pll.formats.grouping import summed
from pll.formats.tabular.cells import (
    ANSWER_FIELDS,
    COVERED,
    FUNCTION,
    NEARLY_ALL,
    ROUNDED,
    SEPARATORS,
    WHOLE,
    answer_of,
    is_no_answer,
    minus_one,
    shares_of,
    signs_of,
    spelling,
    split_cell,
    without_case,
)

_THOUGHT = re.compile(r"^.*</think(?:ing)?>|^\s*<think(?:ing)?>.*$", re.IGNORECASE | re.DOTALL)
"""What a reasoning model writes before it answers: it names classes that are not its answer.

Some templates leave the first tag out; where the last one is missing, the answer was cut off.
"""
_TAGGED = re.compile(rf"<({'|'.join(ANSWER_FIELDS)})>\s*([^<>]+?)\s*</\1>", re.IGNORECASE)
"""An answer in tags: `<label>cat</label>`."""
_WORD = re.compile(r"[^\s:;,|()\[\]{}\"!?*`=/<>]+")
MARKS_AROUND = " .,:;!?\"'`*()[]"

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
    meant
        Cells whose classes are known otherwise; () for no answer.

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
        self,
        classes: Iterable[str] = (),
        by_hand: Mapping[str, str] | None = None,
        meant: Mapping[str, tuple[str, ...]] | None = None,
    ) -> None:
        listed, self._meant = tuple(classes), meant or {}
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
        if not cell.strip() or cell in self._meant:
            return self._meant.get(cell, ()), math.nan
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
    number = WHOLE.fullmatch(name)
    return name if number is None else number[1]


def _words(text: str) -> list[str]:
    words = (word.strip(MARKS_AROUND) for word in _WORD.findall(unicodedata.normalize("NFKC", text).replace("_", " ")))
    return [word for word in words if word]


def labels_of(text: str) -> tuple[str, ...]:
    """Return what an answer says its labels are: the field of JSON in it, else itself.

    Examples
    --------
    >>> labels_of('Sure! {"label": "cat"}'), labels_of(" Dog."), labels_of('{"labels": ["cat", "dog"]}')
    (('cat',), ('Dog.',), ('cat', 'dog'))
    >>> labels_of('{"cat": 0.3, "dog": 0.7}'), labels_of('{"cat": 3, "dog": 4}')
    (('dog',), ('{"cat": 3, "dog": 4}',))
    """
    answer = _answer_in(text)
    return (_THOUGHT.sub("", text).strip(),) if answer is None else answer[0]


def _answer_in(text: str) -> Answer | None:
    """The answer in JSON that a text is, or that is the only object in it; of shares that make 1, the likeliest."""
    if "}" not in text:
        tagged = _TAGGED.findall(_THOUGHT.sub("", text)) if "</" in text else []
        return (tuple(dict.fromkeys(label for _, label in tagged)), math.nan) if tagged else None
    bare = _THOUGHT.sub("", text)
    objects = re.findall(r"\{[^{}]*\}", bare)
    shares = (shares_of(bare) if objects == [bare.strip()] and answer_of(bare) is None else None) or {}
    if shares and abs(sum(shares.values()) - 1) <= 1 - COVERED + ROUNDED * len(shares):
        best = max(shares.values())
        return tuple(name for name, share in shares.items() if share == best), best
    return answer_of(bare) or (answer_of(objects[0]) if len(objects) == 1 else None)


def _unambiguous(classes: Sequence[str]) -> dict[str, str]:
    """Plain form → class; forms that two classes share tell neither."""
    shared = Counter(map(plain, classes))
    return {plain(name): name for name in classes if shared[plain(name)] == 1}


# ---- which cells are no answer, or several ---------------------------------------------------------------------------

FEW_SILENT = 0.1
"""Share of the votes up to which words such as `error` say that there is none."""
FREQUENT = 0.05
"""Share of the votes from which a class is no slip."""
MOST_CELLS_SHOWN = 5
"""Cells that a note shows."""

Said = Counter[tuple[str, str]]
"""How often each voter gave each answer, by (voter, answer)."""


def no_answers_in(
    said: Said, people: Sequence[str], classes: Collection[str], more: Collection[str], options: ReadOptions
) -> dict[str, int]:
    """Return the cells of votes that say that there is none, and how often each stands there.

    Besides the words of `forms.toml` that is −1 where all others are whole numbers from 0; ? beside * is an answer.
    What the user lists as a class, or keeps, or what the truth or the candidates are called, is a class.

    Parameters
    ----------
    said
        What the voters said.
    people
        The voters.
    classes
        What the truth and the candidates are called.
    more
        Cells that are no answer in this source, besides those of every table.
    options
        What the user lists, maps or keeps.
    """
    counts, stays = _cells_of(said), {*classes}
    if "*" in options.keep:
        return {}
    if all(map(FUNCTION.match, people)):  # where the truth is not known, it is −1 too
        stays -= minus_one({*counts, *stays}, people)
    stays |= {*options.class_names, *options.keep, *options.answers}
    found = {cell for cell in counts if is_no_answer(cell, among_votes=True) or cell.strip() in more}
    doubtful = {cell for cell in counts if spelling(cell) in NO_ANSWER["rare"]}
    are_few = sum(counts[cell] for cell in doubtful) <= FEW_SILENT * counts.total()
    is_other = len({spelling(cell) for cell in counts.keys() - found - doubtful}) == 1  # `refused` beside `accepted`
    found |= doubtful if are_few and not is_other else set()
    often = {cell for cell in found if spelling(cell) in NO_ANSWER["unless often"]}
    found -= often if sum(counts[cell] for cell in often) > FEW_SILENT * counts.total() else set()
    found -= graded_by_signs(counts)
    nones = {cell for cell in found if spelling(cell) == "none"}  # as of a stance
    if _is_class(counts, nones, found):
        found -= nones
    found |= minus_one(set(counts) - found, people)
    if len({spelling(cell) for cell in counts.keys() - found}) == 1:  # beside one class a code is the other: V and NV
        short = [cell for cell in found if cell.strip().isalpha() and len(cell.strip()) <= LONGEST_MARK]
        codes = summed((spelling(cell), counts[cell]) for cell in short)
        code, times = max(codes.items(), key=lambda one: one[1], default=("", 0))
        found = {cell for cell in found if not times or spelling(cell) != code}
    kept = {spelling(name) for name in stays}
    found = {cell for cell in found if cell.strip() not in stays and spelling(cell) not in kept}
    return {cell: counts[cell] for cell in sorted(found)} if len(found) < len(counts) else {}


LONGEST_MARK = 3
"""Letters of a mark that may be the code of a class instead."""


def graded_by_signs(cells: Collection[str]) -> set[str]:
    """Return those of some cells that linguists grade a sentence by and that else are no answer: ? beside *.

    >>> graded_by_signs({"*", "??", "ok"}), graded_by_signs({"?", "ok"})
    ({'??'}, set())
    """
    return {cell for cell in cells if {*cell.strip()} == {"?"}} if "*" in cells else set()


def _is_class(counts: Counter[str], nones: Collection[str], silent: Collection[str]) -> bool:
    """Whether `none` is no slip and written mostly small, or in capitals as all classes are.

    Programs that have no answer write None.
    """
    code = counts["NONE"] if all(map(str.isupper, counts.keys() - silent)) else 0
    every = sum(counts[cell] for cell in nones)
    return 2 * (counts["none"] + code) > every >= FREQUENT * counts.total()


def _cells_of(said: Said) -> Counter[str]:
    """How often each cell stands there that is no blank."""
    return summed((cell, n) for (_, cell), n in said.items() if cell.strip())


def note_silent(silent: Mapping[str, int]) -> list[str]:
    """Return a note on what was taken for no answer; none where nothing was."""
    if not silent:
        return []
    some = [f"{cell} ({count:,})" for cell, count in sorted(silent.items(), key=lambda one: -one[1])]
    hint = f"--keep-answer '{max(silent, key=silent.__getitem__)}'"
    return [Note(f"Read as no answer: {listing(some)}.", kind="no answer", hint=hint, cells=silent)]


def doubted_in(said: Said, silent: Collection[str], options: ReadOptions) -> dict[str, tuple[str, ...]]:
    """Return the answers that name several classes, or one with a doubt, and which: `cat or poss. dog`, `cat?`.

    Parameters
    ----------
    said
        What the voters said.
    silent
        Cells that are no answer.
    options
        What the user lists or keeps.
    """
    cells = Counter({cell: n for cell, n in _cells_of(said).items() if cell not in silent})
    return meant(cells, {*options.keep, *options.class_names})


def note_doubted(doubted: Mapping[str, Sequence[str]]) -> list[str]:
    """Return a note on answers that name several classes, or one with a doubt; none where there are none."""
    some = [f"{shorten(cell, 40)}: {', '.join(names)}" for cell, names in sorted(doubted.items())]
    text = f"Answers that name several classes, or one with a doubt, were read as these ({'; '.join(some[:3])})."
    hint = f"To have one as a class: --keep-answer '{next(iter(sorted(doubted)), '')}'"
    return [Note(text, kind="doubted", hint=hint)] if doubted else []


# ---- the classes of a source -----------------------------------------------------------------------------------------

FEW_CLASSES = "few classes"
"""Kind of the error where answers name no classes."""
LEAST_DRESSED, LEAST_NAMING, MOST_OTHER = 0.05, 0.8, 0.2
"""Share of the answers that name one class among other words, and of all that name any, from which they are read so;
and of one that names none, up to which they are."""
NUMBER = re.compile(r"\s*(\d{1,9})(?:[.,]0+)?\s*", re.ASCII)


def classes_in(
    said: Said, known: Sequence[str], options: ReadOptions, *, are_free: bool
) -> tuple[tuple[str, ...], list[str]]:
    """Return the classes that voters' cells name, () where each is one itself, and a note where they are proposed.

    They are for free text (what models wrote). Else, where nearly all answers are names of classes, each of them is a
    class. Sentences, and names in other dress (`**Cat**`, `Label: cat`), name the classes that the user lists, or those
    that are `known` from other columns, else those that are proposed.

    Parameters
    ----------
    said
        What the voters said, but for what is no answer, or several.
    known
        What the truth and the candidates are called.
    options
        What the user lists or maps.
    are_free
        Whether it is free text.

    Raises
    ------
    UserError
        Nobody lists classes, and free text names fewer than two.
    """
    listed, by_hand = options.class_names, options.answers
    if are_free or listed:
        about = list[str]()
        if not listed:
            listed = tuple(known) or proposed_classes(said, by_hand)
            about = [] if known else _note_proposed(listed)
        reader = AnswerReader(listed or tuple(dict.fromkeys(filter(None, by_hand.values()))), by_hand)
        if are_free and len(reader.classes) < 2:
            raise UserError(
                "Fewer than two classes were found in the answers; name them, bring data that names them, or map "
                "answers.",
                kind=FEW_CLASSES,
                shell="--classes a,b,c, or --answer FROM=CLASS",
            )
        return reader.classes, about
    counts = _cells_of(said)
    sentences = sum(n for cell, n in counts.items() if is_sentence(cell))
    are_sentences = sentences > (1 - NEARLY_ALL) * counts.total()
    if are_sentences or len(counts) <= MOST_CELLS_COMPARED:
        for classes, least in ((tuple(known), 0.5), (proposed_classes(said, by_hand), LEAST_NAMING)):
            classes = sort_names([*classes, *_beside(said, AnswerReader(classes, by_hand))])
            is_told = are_sentences or _are_dressed(counts, AnswerReader(classes, by_hand), least)
            # one cell each, some as they are: a dot at the end of others is a part of the name, as of an author's
            are_names = len(counts) == len(classes) and not counts.keys().isdisjoint(classes)
            if len(classes) > 1 and is_told and not are_names:
                return classes, [] if set(classes) == set(known) else _note_proposed(classes)
    return (), []


def _beside(said: Said, reader: AnswerReader) -> list[str]:
    """The answers of several voters that are classes beside one within their name: `somewhat relevant`.

    They are given often, and what stands around that class stands around no other, as `Label: cat` does.
    """
    times, voters = defaultdict[str, Counter[str]](Counter), defaultdict[str, set[str]](set)
    within = defaultdict[str, set[str]](set)
    for (who, cell), n in said.items():
        names = (reader.read(cell) or ((), 0.0))[0] if _may_be_class(cell) else ()
        if len(names) == 1 and reader.class_of(cell) is None and not reader.is_mapped(cell):
            times[plain(cell)][cell] += n
            voters[plain(cell)].add(who)
            within[_around(cell, names)].add(names[0])
    least, found = FREQUENT * said.total(), list[str]()
    for form, counts in times.items():
        names = (reader.read(form) or ((), 0.0))[0]
        if counts.total() >= least and len(voters[form]) > 1 and len(within[_around(form, names)]) == 1:
            found.append(counts.most_common(1)[0][0].strip())
    return found


def _are_dressed(counts: Counter[str], reader: AnswerReader, least: float) -> bool:
    """Whether answers name classes among other words: `**Cat**`, `The category is: cat`, beside `cat`.

    Not where one that names none is given often: it is a class, and so are perhaps those.
    """
    dressed = named = other = 0
    for cell, n in counts.items():
        names = (reader.read(cell) or ((), 0.0))[0]
        is_list = cell.strip()[:1] in "[{" or "|" in cell or ";" in cell
        is_dressed = len(names) == 1 and reader.class_of(cell) is None and not is_list
        named += n * bool(names)
        other = max(other, n * (not names and len(cell.split()) <= MOST_WORDS_OF_CLASS))
        dressed += n * (is_dressed and not NUMBER.fullmatch(cell))
    are_all = named >= least * counts.total() and other < MOST_OTHER * counts.total()
    return are_all and dressed >= LEAST_DRESSED * counts.total()


def _note_proposed(classes: Sequence[str]) -> list[str]:
    """Return a note on classes that were proposed; none where there are none."""
    text = f"Classes that the answers name: {listing(classes)}."
    return [Note(text, kind="proposed", hint="If these are not the classes: --classes a,b,c")] if classes else []


def note_dressed(cells: Mapping[str, Sequence[str]], reader: AnswerReader) -> list[str]:
    """Return a note on answers that are more than the name of a class; none where there are none.

    Parameters
    ----------
    cells
        What each cell means.
    reader
        What has read them.
    """
    dressed = [cell for cell, names in cells.items() if names and reader.class_of(cell) is None]
    dressed = [f"{shorten(cell, 40)}: {', '.join(cells[cell])}" for cell in dressed if not reader.is_mapped(cell)]
    examples = "; ".join(sorted({*dressed})[:3])
    text = f"{len({*dressed}):,} different answers are JSON or name classes among other words ({examples})."
    return [text] if dressed else []


def note_unmapped(unmapped: Counter[str]) -> list[str]:
    """Return a note on the answers that name no class; none where all do."""
    if not unmapped:
        return []
    total = unmapped.total()
    examples = ", ".join(f"{shorten(text, 40)} ({count:,})" for text, count in unmapped.most_common(MOST_CELLS_SHOWN))
    start = "1 answer is" if total == 1 else f"{total:,} answers are"
    text = f"{start} no class and left out: {examples}. They can be mapped by hand."
    return [Note(text, kind="unmapped", hint="--answer FROM=CLASS")]


# ---- classes that answers name, where nobody lists any ---------------------------------------------------------------

LEAST_TIMES_NAMED, LEAST_SHARE_NAMED = 2, 0.03
"""Answers, and their share, that a class is named in at least."""
MOST_WORDS_OF_CLASS = 3
"""An answer of more words, or with other marks than those of names, is no class where it names one."""
_NAME = re.compile(r"[\w'’+#-]+")


def _may_be_class(answer: str) -> bool:
    return len(answer.split()) <= MOST_WORDS_OF_CLASS and all(map(_NAME.fullmatch, answer.split()))


def is_sentence(answer: str) -> bool:
    """Whether an answer is a sentence, and no name of a class.

    Examples
    --------
    >>> is_sentence("I think it is a cat."), is_sentence("Guinea pig."), is_sentence("Money transfer and services")
    (True, False, False)
    >>> is_sentence("Hieracium bifidum Kit. ex Hornem."), is_sentence("Quercus petraea (Matt.) Liebl.")  # of names
    (False, False)
    """
    text = answer.strip()
    words = text.split()
    names = sum(word.lstrip("(\"'")[:1].isupper() for word in words[1:])
    return text.endswith((".", "!", "?")) and len(words) > MOST_WORDS_OF_CLASS and 2 * names < len(words) - 1


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
    texts = summed((text.strip(), count) for (_, text), count in answers.items())
    if 2 * sum(count for text, count in texts.items() if is_sentence(text)) > texts.total():
        return _words_of(list(texts.elements()))
    voters: defaultdict[str, set[str]] = defaultdict(set)
    spellings: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for (voter, text), count in answers.items():
        for label in labels_of(text):
            voters[plain(label)].add(voter)
            spellings[plain(label)][label] += count
    least = min(2, len({voter for voter, text in answers if not is_sentence(text)}))
    names = [
        form if form.isdecimal() else counts.most_common(1)[0][0].strip(MARKS_AROUND)  # 1, though most write 1.0
        for form, counts in spellings.items()
        if form and len(voters[form]) >= least and counts.total() >= 2
    ]
    short = [name for name in names if _may_be_class(name)]
    of_short = AnswerReader(short)
    inside = {name: (of_short.read(name) or ((), 0.0))[0] for name in names if short and name not in short}
    # what stands around a name stands around others too, `Label: cat`; `Computer science` is no other `science`
    around = Counter(_around(name, some) for name, some in inside.items() if some)
    several = {name for name in inside if len(voters[plain(name)]) > 1 and not is_sentence(name)}
    alone = {name for name in several if around[_around(name, inside[name])] == 1}
    names = [name for name in names if not inside.get(name) or name in alone]
    # what is silent is out
    return sort_names(name for name in names if name in texts or not is_no_answer(name, among_votes=True))


def _around(name: str, inside: Sequence[str]) -> str:
    """Return what stands around the names of classes in an answer."""
    return re.sub("|".join(map(re.escape, map(plain, inside))), "#", plain(name)) if inside else plain(name)


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
    least = max(LEAST_TIMES_NAMED, LEAST_SHARE_NAMED * len(sentences))
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


# ---- several labels in one cell, or one with a doubt -----------------------------------------------------------------

MOST_CELLS_COMPARED = 2000
"""Different cells up to which they are compared with each other."""


_BETWEEN = "|".join(re.escape(sign) for mark in SEPARATORS if not mark.strip().isalpha() for sign in signs_of(mark))
_OR = re.compile(rf"\s*(?:{_BETWEEN}|[()]|(?<=\?)\s|{any_of('or')})\s*", re.IGNORECASE)
_DOUBT = re.compile(rf"(?:{any_of('doubt')})\.?|[?¿]+", re.IGNORECASE)
_SIGNS_OF_MORE = frozenset("()?|;\n,/#-&+")
_WORDS_OF_MORE = {re.split(r"\W", word)[0] for word in (*WORDS["or"], *WORDS["doubt"])}
"""A sign or a first word without which plain letters name one label: looked for first, since expressions take long."""


def meant(cells: Mapping[str, int], keep: Collection[str] = ()) -> dict[str, tuple[str, ...]]:
    """Return the cells that name several labels, or one with a doubt, and these labels.

    All of them are cells of their own too, and each more often. What is often said with a word of doubt, and of some
    labels alone, is a label of a scale, as `probably benign` is.

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
    >>> meant({"benign": 50, "probably benign": 2, "bad": 30}), meant({"benign": 50, "probably benign": 20, "bad": 30})
    ({'probably benign': ('benign',)}, {})
    >>> meant({"cat": 50, "probably cat": 20, "dog": 30, "probably dog": 9})  # a habit
    {'probably cat': ('cat',), 'probably dog': ('dog',)}
    >>> meant({"A": 5, "B": 5, "C": 5, "D": 2, "cf. A": 2, "cf. B": 2, "cf. C": 1, "cf. D": 3})["cf. D"]
    ('D',)
    """
    most_first = sorted(cells, key=lambda cell: -cells[cell]) if len(cells) <= MOST_CELLS_COMPARED else []
    counts = summed((spelling(cell), cells[cell]) for cell in most_first)
    spelled = {spelling(cell): cell.strip() for cell in most_first[::-1]}
    found, alone = dict[str, tuple[str, ...]](), dict[str, str]()
    recur = max(counts.values(), default=0) > 1  # among texts nothing does
    every = {one: _named_in(cell, counts) if _may_name_more(cell) else [one] for one, cell in spelled.items() if recur}
    hedged = {one: parts[0] for one, parts in every.items() if len(parts) == 1 and counts[parts[0]] > 1}
    often_hedged = Counter(part for one, part in hedged.items() if part != one and counts[part] > counts[one])
    for plain, parts in every.items():
        cell, is_habit = spelled[plain], plain in hedged and len(often_hedged) >= OF_A_HABIT
        are_own = is_habit or all(counts[part] > max(counts[plain], 1) for part in parts)
        if cell not in keep and parts != [plain] and are_own:
            found[plain] = tuple(dict.fromkeys(spelled[part] for part in parts))
            if len(parts) == 1 and _SIGNS.isdisjoint(cell) and not plain.startswith(_HEDGES):
                alone[plain] = parts[0]
    doubted, often = {*alone.values()}, max(OFTEN, LEAST_OFTEN * counts.total())
    is_scale = 3 * len(doubted) <= 2 * len(counts.keys() - found.keys())  # who hedges does so with any label
    if is_scale and alone and all(counts[plain] >= often for plain in alone):
        found = {plain: names for plain, names in found.items() if plain not in alone}
    return {cell: found[spelling(cell)] for cell in cells if found.get(spelling(cell))}


_SIGNS, _HEDGES = frozenset("?¿？()[]"), ("cf", "aff", "maybe", "perhaps", "poss")
OF_A_HABIT = 3
"""Labels said with a doubt, from which others are that too, however often: `cf.`."""
OFTEN, LEAST_OFTEN = 5, 0.05
"""Times, and share of the cells, from which a label with a word more is one of its own."""


def read_by_hand(
    cells: Mapping[str, tuple[int, Sequence[str]]], keep: Collection[str] = (), known: Mapping[str, int] | None = None
) -> dict[str, tuple[str, ...]]:
    """Return the labels that each cell names.

    Parameters
    ----------
    cells
        How often each cell stands there, and what stands between its separators.
    keep
        Cells that are labels, whatever they look like.
    known
        How often each label stands elsewhere, as the true one.

    Examples
    --------
    >>> read_by_hand({"a": (3, ["a"]), "b": (3, ["b"]), "a; b?": (1, ["a", "b?"])})["a; b?"]
    ('a', 'b')
    """
    counts = Counter({cell: times for cell, (times, _) in cells.items()})
    counts += summed((part, times) for times, parts in cells.values() if len(parts) > 1 for part in parts)
    several = meant(counts + Counter(known), keep)
    return {
        cell: several.get(cell) or tuple(dict.fromkeys(name for part in parts for name in several.get(part, (part,))))
        for cell, (_, parts) in cells.items()
    }


def _may_name_more(cell: str) -> bool:
    """Whether a cell may name several labels, or one with a doubt.

    >>> _may_name_more("red fox"), _may_name_more("fox or hen"), _may_name_more("fox?"), _may_name_more("Füchsin")
    (False, True, True, True)
    """
    is_plain = cell != "" and cell.isascii() and _SIGNS_OF_MORE.isdisjoint(cell)
    return not is_plain or not _WORDS_OF_MORE.isdisjoint(re.findall(r"\w+", cell.lower()))


def _named_in(cell: str, counts: Mapping[str, int]) -> list[str]:
    """The labels that a cell may name, in their common spelling; of `Hand A or B` the second is `hand b`."""
    parts, start = list[str](), ""
    for piece in _OR.split(cell):
        certain = _DOUBT.sub(" ", piece)
        part = spelling(certain) if certain.strip() else ""
        part = max(part, f"{start} {part}", key=lambda one: counts.get(one, 0))
        start = part.rpartition(" ")[0] or start
        parts += [part] if part else []
    return parts

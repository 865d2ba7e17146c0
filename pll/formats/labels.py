"""Answers → candidate sets, votes, truth and prior: the one place where this is done, whatever the source was."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

import numpy as np
import numpy.typing as npt

from pll.annotations.data import Annotations
from pll.annotations.rules import Resolved, Rule, resolve
from pll.candidates import CandidateSets, sort_names
from pll.dataset import UNKNOWN
from pll.errors import Note, RowError, UserError
from pll.formats.answers import Answers, Chunk, Numbers
from pll.formats.base import ReadOptions
from pll.formats.checks import MAX_NAME, check_class_count, listing, shorten
from pll.formats.forms import NO_ANSWER, WORDS
from pll.formats.records import RowNumber
from pll.formats.tabular.answer_cells import (
    COVERED,
    AnswerReader,
    is_object,
    is_sentence,
    proposed_classes,
    shares_of,
)
from pll.formats.tabular.cells import (
    FUNCTION,
    NEARLY_ALL,
    SEPARATORS,
    is_no_answer,
    labels_in,
    minus_one,
    read_label,
    shares_written,
    spelling,
)
from pll.weights import Weights, checked_prior

FEW = 0.1
"""Share of the votes up to which words such as `error` say that there is none."""
REPEATED = 0.05
"""Share of the candidate sets in which a label is repeated, from which repetitions are counts and no slips."""
MOST_SHOWN = 5
"""Cells that a note shows."""
FEW_CLASSES = "few classes"
"""Kind of the error where answers name no classes."""
LEAST_SHARE = 0.02
"""Minimum share of a voter's answers that name a class; with fewer it is no voter but, say, a column of remarks."""


@dataclass(frozen=True, eq=False)
class Labels:
    """The labels of examples, as `PartialLabelDataset` has them, and what to say of them."""

    class_names: tuple[str, ...]
    candidates: CandidateSets | None = None
    y: Numbers | None = None
    annotations: Annotations | None = None
    prior: Weights | None = None
    notes: tuple[str, ...] = ()
    no_answer: Mapping[str, int] | None = None
    spellings: Mapping[str, str] | None = None


def labels_of(
    answers: Answers,
    options: ReadOptions,
    *,
    no_answer: Sequence[str] = (),
    may_be_empty: bool = False,
    only_votes: bool = False,
) -> Labels:
    """Return the labels that answers are.

    Where there are candidates, they are the sets; else what annotators named together; else the likeliest classes that
    make up `COVERED` of the probability, or all that somebody voted for.

    Parameters
    ----------
    answers
        Of `answers_in`.
    options
        Class names, what a person mapped or kept, how answers are combined.
    no_answer
        Cells that are no answer in this source, besides those of every table.
    may_be_empty
        Whether an example without a candidate is one without an answer, and no mistake.
    only_votes
        Whether sets are not made of votes: that is left to a rule.

    Raises
    ------
    UserError
        An empty set, an unknown label, a cell that cannot be read; the row is named.
    """
    votes, others = answers.of("vote"), answers.of("set", "truth", "share")
    notes: list[str] = []
    others = list(map(_read_others, others))
    known = {name for chunk in others for _, name in chunk.names()}
    silent = _no_answers(votes, answers.people, others, no_answer, options)
    doubted = {} if options.class_names or answers.are_free else _doubted(votes, silent, options)
    plain = {*silent, *doubted}  # what others are names of classes
    reader, about = _reader_of(votes, answers.people, plain, known, options, are_free=answers.are_free)
    notes += about
    votes, unmapped = _read_votes(votes, reader, silent, doubted)
    notes += _note_doubted(doubted)
    votes, people, about = _without_no_voters(votes, answers.people, silent)
    notes += [*_note_silent(silent), *about, *(_note_dressed(votes, reader) if answers.are_free else ())]
    if options.class_names or answers.are_free:
        options = replace(options, class_names=reader.classes or options.class_names)
    votes, others = _with_whole_numbers(votes, others, {*options.class_names, *_columns_of_classes(others)})
    others, about = _without_no_truth(others, votes, silent, options.keep)
    notes += about
    notes += _doubtful_names([chunk for chunk in others if chunk.kind == "set"])
    every, spellings = joined_spellings([*others, *votes], options, {*_columns_of_classes(others)})
    if spellings:
        pairs = [f"{name} → {target}" for name, target in spellings.items()]
        text = f"Spelled alike, and so one class: {listing(pairs)}."
        notes.append(Note(text, kind="spellings", hint="--no-merge", cells=spellings))
    votes = [chunk for chunk in every if chunk.kind == "vote"]
    names = _names_in(every, options.class_names, first=_columns_of_classes(every))
    number = {name: k for k, name in enumerate(names)}
    annotations = None
    if any(any(chunk.values) for chunk in votes):
        annotations = _annotations(votes, answers, people, names, number, unmapped)
        notes += _note_unmapped(unmapped)
    elif unmapped:
        raise UserError(f"No answer could be mapped to a class (first: {shorten(next(iter(unmapped)))}).")
    elif votes and answers.example is not None:
        raise UserError("Nobody gave a label: every cell of the column of labels is empty.")
    elif votes:
        notes.append("Nobody gave a label: the columns of the annotators are empty.")
    if only_votes and annotations is not None:
        return Labels(names, annotations=annotations, notes=tuple(notes), no_answer=silent)
    candidates, prior, about = _sets(every, answers, names, number, annotations, options, may_be_empty=may_be_empty)
    y = _truth([chunk for chunk in every if chunk.kind == "truth"], answers.n, number)
    return Labels(names, candidates, y, annotations, prior, (*notes, *about), silent, spellings)


# ---- what cells mean -------------------------------------------------------------------------------------------------


def _read_others(chunk: Chunk) -> Chunk:
    """A chunk that is no vote, with what its cells mean."""
    if chunk.values:
        return chunk
    if chunk.kind == "truth":
        names = chunk.read(_one_name)
        return replace(chunk, values=[() if name is None else (name,) for name in names])
    read = chunk.read(lambda cell: _weighed(cell, chunk.separator))
    is_weighed = np.array([bool(one) and set(one.values()) != {1} for one in read], dtype=np.bool_)
    shares = tuple(read) if len(chunk.codes) and is_weighed[chunk.codes].mean() >= REPEATED else ()
    return replace(chunk, values=[tuple(one) for one in read], shares=shares)


def _one_name(cell: str) -> str | None:
    if is_object(cell):
        raise UserError("the true label is one name and no object")
    return read_label(cell)


def _weighed(cell: str, separator: str) -> Mapping[str, float]:
    if not is_object(cell):
        return shares_written(cell, separator) or Counter(labels_in(cell, separator))
    shares = shares_of(cell)
    if shares is None:
        raise UserError("write a number from 0 for each label: how often or how likely it is")
    return shares


def _reader_of(
    votes: Sequence[Chunk],
    people: Sequence[str],
    silent: Collection[str],
    known: Collection[str],
    options: ReadOptions,
    *,
    are_free: bool,
) -> tuple[AnswerReader, list[str]]:
    """Return the reader of voters' cells, and a note where the classes are proposed.

    They are for free text (what models wrote). Else, where nearly all answers are names of classes, each of them is a
    class. Sentences, and names in other dress (`**Cat**`, `Label: cat`), name the classes that the user lists, or those
    that are `known` from other columns, else those that are proposed.

    Raises
    ------
    UserError
        Nobody lists classes, and free text names fewer than two.
    """
    listed, about = options.class_names, list[str]()
    if are_free and not listed:
        listed = tuple(known) or proposed_classes(_who_said(votes, people, silent), options.answers)
        about = [] if known else _note_proposed(listed)
    if are_free or listed:
        targets = tuple(dict.fromkeys(filter(None, options.answers.values())))
        reader = AnswerReader(listed or targets, options.answers)
        if are_free and len(reader.classes) < 2:
            raise UserError(
                "Fewer than two classes were found in the answers; name them, bring data that names them, or map "
                "answers.",
                kind=FEW_CLASSES,
                shell="--classes a,b,c, or --answer FROM=CLASS",
            )
        return reader, about
    counts = Counter[str]()
    for chunk in votes:
        counts.update(_cells_of(chunk, silent))
    sentences = sum(n for cell, n in counts.items() if is_sentence(cell))
    are_sentences = sentences > (1 - NEARLY_ALL) * counts.total()
    if are_sentences and len(known) > 1:
        return AnswerReader(sort_names(known), options.answers), []
    if not are_sentences and len(counts) > _MOST_COMPARED:
        return AnswerReader((), options.answers), []
    said = _who_said(votes, people, silent)
    for classes, least in ((sort_names(known), 0.5), (proposed_classes(said, options.answers), LEAST_NAMED)):
        if len(classes) > 1 and (are_sentences or _are_dressed(counts, AnswerReader(classes, options.answers), least)):
            about = [] if set(classes) == set(known) else _note_proposed(classes)
            return AnswerReader(classes, options.answers), about
    return AnswerReader((), options.answers), []


def _cells_of(chunk: Chunk, silent: Collection[str] = ()) -> dict[str, int]:
    """Return how often each cell stands there that is no blank and no mark of no answer."""
    cells = zip(chunk.cells, chunk.times(), strict=True)
    return {cell: n for cell, n in cells if n and cell.strip() and cell not in silent}


def _who_said(votes: Sequence[Chunk], people: Sequence[str], silent: Collection[str]) -> Counter[tuple[str, str]]:
    """Return how often each voter gave each answer, by (voter, answer), without marks of no answer."""
    said = Counter[tuple[str, str]]()
    for chunk in votes:
        pairs, times = np.unique(chunk.who * len(chunk.cells) + chunk.codes, return_counts=True)
        for pair, n in zip(pairs.tolist(), times.tolist(), strict=True):
            who, code = divmod(pair, len(chunk.cells))
            if chunk.cells[code] not in silent:
                said[people[who], chunk.cells[code]] += n
    return said


_MOST_COMPARED = 2000
LEAST_DRESSED, LEAST_NAMED = 0.05, 0.8
"""Share of the answers that name one class among other words, and of all that name any, from which they are read so."""


def _are_dressed(counts: Counter[str], reader: AnswerReader, least: float) -> bool:
    """Whether answers name classes among other words: `**Cat**`, `The category is: cat`, beside `cat`."""
    dressed = named = 0
    for cell, n in counts.items():
        names = (reader.read(cell) or ((), 0.0))[0]
        named += n * bool(names)
        is_dressed = len(names) == 1 and reader.class_of(cell) is None and not _is_plain_list(cell)
        dressed += n * (is_dressed and not _NUMBER.fullmatch(cell))
    return dressed >= LEAST_DRESSED * counts.total() and named >= least * counts.total()


def _is_plain_list(cell: str) -> bool:
    return cell.strip()[:1] in "[{" or "|" in cell or ";" in cell


def _note_proposed(classes: Sequence[str]) -> list[str]:
    """Return a note on classes that were proposed; none where there are none."""
    text = f"Classes that the answers name: {listing(classes)}."
    return [Note(text, kind="proposed", hint="If these are not the classes: --classes a,b,c")] if classes else []


def _note_dressed(votes: Sequence[Chunk], reader: AnswerReader) -> list[str]:
    """Return a note on answers that are more than the name of a class; none where there are none."""
    dressed = {
        f"{shorten(cell, 40)}: {', '.join(names)}"
        for chunk in votes
        for cell, names in zip(chunk.cells, chunk.values, strict=True)
        if names and reader.class_of(cell) is None and not reader.is_mapped(cell)
    }
    examples = "; ".join(sorted(dressed)[:3])
    text = f"{len(dressed):,} different answers are JSON or name classes among other words ({examples})."
    return [text] if dressed else []


def _note_unmapped(unmapped: Mapping[str, int]) -> list[str]:
    """Return a note on the answers that name no class; none where all do."""
    if not unmapped:
        return []
    total, few = sum(unmapped.values()), sorted(unmapped.items(), key=lambda one: -one[1])[:MOST_SHOWN]
    examples = ", ".join(f"{shorten(text, 40)} ({count:,})" for text, count in few)
    start = "1 answer is" if total == 1 else f"{total:,} answers are"
    text = f"{start} no class and left out: {examples}. They can be mapped by hand."
    return [Note(text, kind="unmapped", hint="--answer FROM=CLASS")]


def _read_votes(
    votes: Sequence[Chunk], reader: AnswerReader, silent: Mapping[str, int], doubted: Mapping[str, tuple[str, ...]]
) -> tuple[list[Chunk], Counter[str]]:
    """Return votes with what their cells mean, and how often each cell that names no class stands there."""
    read, unmapped, meaning = list[Chunk](), Counter[str](), cache(reader.read)
    known = dict.fromkeys(silent, ((), math.nan)) | {cell: (names, math.nan) for cell, names in doubted.items()}
    for chunk in votes:
        if chunk.values:
            read.append(chunk)
            continue
        if chunk.are_numbers:
            cells = [_class_of(cell, reader) for cell in chunk.cells]
            chunk = replace(chunk, cells=cells)
        values = chunk.read(partial(_meaning, meaning, known, chunk.separator))
        for cell, value, count in zip(chunk.cells, values, chunk.times(), strict=True):
            if value is None and count:
                unmapped[cell] += count
        pairs = [((), math.nan) if one is None else one for one in values]
        chunk = replace(chunk, values=[one[0] for one in pairs], confidence=tuple(float(one[1]) for one in pairs))
        read.append(_settled(chunk) if chunk.are_attempts else chunk)
    return read, unmapped


def _meaning(read: Callable[[str, str], Any], known: Mapping[str, Any], separator: str, cell: str) -> Any:
    return known.get(cell) or read(cell, separator)


def _class_of(number: str, reader: AnswerReader) -> str:
    """Return the class with this number; the number itself where there is none, or where it was mapped by hand."""
    is_one = number.isdecimal() and int(number) < len(reader.classes) and not reader.is_mapped(number)
    return reader.classes[int(number)] if is_one else number


def _settled(chunk: Chunk) -> Chunk:
    """Return votes in which a voter who was asked several times has one: what was meant most often, and how often."""
    attempts = defaultdict[tuple[int, int], list[int]](list)
    for at, key in enumerate(zip(chunk.example.tolist(), chunk.who.tolist(), strict=True)):
        attempts[key].append(at)
    weight = np.full(len(chunk.codes), math.nan) if chunk.weight is None else chunk.weight.copy()
    stays = np.ones(len(chunk.codes), dtype=np.bool_)
    for group in attempts.values() if len(attempts) < len(chunk.codes) else ():
        meant = {at: chunk.values[code] for at in group if chunk.values[code := chunk.codes[at]]}
        if len(group) > 1 and meant:
            (most, times), *_ = Counter(meant.values()).most_common(1)
            first = next(at for at in meant if meant[at] == most)
            weight[first] = times / len(group)
            stays[[at for at in meant if at != first]] = False
    return replace(chunk, weight=weight).only(stays)


def _without_no_voters(
    votes: Sequence[Chunk], people: Sequence[str], silent: Collection[str]
) -> tuple[list[Chunk], tuple[str, ...], list[str]]:
    """Return the votes and the voters without those of whose answers hardly one is a class, and a note about these."""
    said, named = np.zeros(len(people)), np.zeros(len(people))
    for chunk in votes:
        is_answer = np.array([cell not in silent for cell in chunk.cells], dtype=np.bool_)[chunk.codes]
        is_class = np.array([bool(names) for names in chunk.values], dtype=np.bool_)[chunk.codes]
        said += np.bincount(chunk.who, is_answer, minlength=len(people))
        named += np.bincount(chunk.who, is_class, minlength=len(people))
    out = named < LEAST_SHARE * said
    if not out.any():
        return list(votes), tuple(people), []
    number = np.cumsum(~out) - 1
    left = [chunk.only(~out[chunk.who]) for chunk in votes]
    note = f"Left out, since hardly an answer is a class: {listing([people[k] for k in np.flatnonzero(out).tolist()])}."
    stay = tuple(name for name, is_out in zip(people, out, strict=True) if not is_out)
    return [replace(chunk, who=number[chunk.who]) for chunk in left], stay, [note]


_OR = re.compile(rf"\s*(?:[|;,/]|\b(?:{'|'.join(sorted(WORDS['or']))})\b)\s*", re.IGNORECASE)
_DOUBT = re.compile(rf"\b(?:{'|'.join(sorted(WORDS['doubt']))})\b\.?|\(?\?+\)?", re.IGNORECASE)


def _doubted(votes: Sequence[Chunk], silent: Collection[str], options: ReadOptions) -> dict[str, tuple[str, ...]]:
    """Return the answers that name several classes, or one with a doubt, and which: `cat or poss. dog`, `cat?`.

    All parts are answers of their own too, and each more often.
    """
    counts, spelled = Counter[str](), dict[str, str]()
    for chunk in votes if len(votes) <= _MOST_COMPARED else ():
        for cell, n in _cells_of(chunk, silent).items() if not chunk.values else ():
            counts[spelling(cell)] += n
            spelled.setdefault(spelling(cell), cell.strip())
    found = {}
    for plain, cell in spelled.items() if len(spelled) <= _MOST_COMPARED else ():
        parts = [spelling(part) for one in _OR.split(cell) if (part := _DOUBT.sub(" ", one).strip())]
        is_class = cell in (*options.keep, *options.class_names) or parts == [plain]
        if parts and not is_class and all(counts[part] > max(counts[plain], 1) for part in parts):
            found[plain] = tuple(dict.fromkeys(spelled[part] for part in parts))
    every = {cell for chunk in votes for cell in chunk.cells if found}
    return {cell: names for cell in every if (names := found.get(spelling(cell)))}


def _note_doubted(doubted: Mapping[str, Sequence[str]]) -> list[str]:
    """Return a note on answers that name several classes, or one with a doubt; none where there are none."""
    some = [f"{shorten(cell, 40)}: {', '.join(names)}" for cell, names in sorted(doubted.items())]
    text = f"Answers that name several classes, or one with a doubt, were read as these ({'; '.join(some[:3])})."
    hint = f"To have one as a class: --keep-answer '{next(iter(sorted(doubted)), '')}'"
    return [Note(text, kind="doubted", hint=hint)] if doubted else []


def _doubtful_names(chunks: Sequence[Chunk]) -> list[str]:
    """Return a note on candidates that may be several, joined otherwise than in the other cells: `x;y` beside `x|y`."""
    names = {name for chunk in chunks for _, name in chunk.names()}
    doubtful = [
        name
        for name in sorted(names)
        if any(mark in name and {part.strip() for part in name.split(mark)} <= names for mark in SEPARATORS)
    ]
    were = "was" if len(doubtful) == 1 else "were each"
    text = f"{listing(doubtful)} {were} read as one label, though the parts are labels too"
    return [Note(f"{text}: join them as in the other cells if they are several.", kind="doubtful")] if doubtful else []


# ---- marks of no answer ----------------------------------------------------------------------------------------------


def _no_answers(
    votes: Sequence[Chunk],
    people: Sequence[str],
    others: Sequence[Chunk],
    no_answer: Sequence[str],
    options: ReadOptions,
) -> dict[str, int]:
    """Return the cells of votes that say that there is none, and how often each stands there.

    Besides the words of `forms.toml` that is −1 where all others are whole numbers from 0, and a minus where there is
    no plus. What the user lists as a class, or keeps, or what the truth or the candidates are called, is a class.
    """
    counts = Counter[str]()
    for chunk in votes if "*" not in options.keep else ():
        if not (chunk.values and chunk.cells == [chunk.column]):
            counts.update(_cells_of(chunk))
    stays = {name for chunk in others for _, name in chunk.names()}
    if all(map(FUNCTION.match, people)):  # where the truth is not known, it is −1 too
        stays -= minus_one({*counts, *stays}, people)
    stays |= {*options.class_names, *options.keep, *options.answers}
    found = {cell for cell in counts if is_no_answer(cell, among_votes=True) or cell.strip() in no_answer}
    doubtful = {cell for cell in counts if spelling(cell) in NO_ANSWER["rare"]}
    found |= doubtful if sum(counts[cell] for cell in doubtful) <= FEW * counts.total() else set()
    if any(cell.strip().strip("+") == "" for cell in counts):  # a plus
        found -= {cell for cell in found if cell.strip().strip("-–—") == ""}
    found -= _nones(counts, found)
    found |= minus_one(set(counts) - found, people)
    kept = {spelling(name) for name in stays}
    found = {cell for cell in found if cell.strip() not in stays and spelling(cell) not in kept}
    return {cell: counts[cell] for cell in sorted(found)} if len(found) < len(counts) else {}


def _nones(counts: Counter[str], found: Collection[str]) -> set[str]:
    """Return the cells `none`, as of a stance, where they are frequent, and others say that there is no answer."""
    nones = {cell for cell in found if spelling(cell) == "none"}
    is_class = len(nones) < len(found) and sum(counts[cell] for cell in nones) >= REPEATED * counts.total()
    return nones if is_class else set()


def _note_silent(silent: Mapping[str, int]) -> list[str]:
    """Return a note on what was taken for no answer; none where nothing was."""
    if not silent:
        return []
    some = [f"{cell} ({count:,})" for cell, count in sorted(silent.items(), key=lambda one: -one[1])]
    first = max(silent, key=silent.__getitem__)
    return [
        Note(f"Read as no answer: {listing(some)}.", kind="no answer", hint=f"--keep-answer '{first}'", cells=silent)
    ]


def _without_no_truth(
    others: Sequence[Chunk], votes: Sequence[Chunk], silent: Collection[str], keep: Collection[str]
) -> tuple[list[Chunk], list[str]]:
    """Make true labels unknown that only say that there is none, where no other label is called so.

    As "-" and "N/A" do, and so does one word on more than half of the rows that nobody ever answered: "open".
    """
    names = {name for chunk in (*others, *votes) if chunk.kind != "truth" for _, name in chunk.names()}
    read, notes = [], []
    for chunk in others:
        times, total = chunk.times(), max(len(chunk.codes), 2 * MOST_SHOWN)  # of few rows nothing is told
        said = [(n, times[k]) for k, n in chunk.names() if n not in {*names, *keep}] if chunk.kind == "truth" else []
        empty = {n for n, count in said if n in silent or is_no_answer(n) or (votes and 2 * count > total)}
        if names and empty:
            gone = np.array([bool(empty.intersection(value)) for value in chunk.values])
            notes.append(
                f"{int(gone[chunk.codes].sum()):,} true labels say that there is none ({listing(sorted(empty))}): they "
                "are not known."
            )
            chunk = replace(chunk, values=[() if empty.intersection(one) else one for one in chunk.values])
        read.append(chunk)
    return read, notes


# ---- names of classes ------------------------------------------------------------------------------------------------


def _columns_of_classes(chunks: Sequence[Chunk]) -> tuple[str, ...]:
    """The classes that have a column of their own."""
    own = (chunk for chunk in chunks if chunk.cells == [chunk.column] and chunk.values == [(chunk.column,)])
    return tuple(dict.fromkeys(chunk.column for chunk in own))


def joined_spellings(
    chunks: Sequence[Chunk], options: ReadOptions, named: Collection[str] = ()
) -> tuple[list[Chunk], dict[str, str]]:
    """Make labels that are spelled alike one class, by `spelling`: the one that is named, else the most frequent.

    Nothing is joined where `options.merge` is False.

    Parameters
    ----------
    chunks
        What was read.
    named
        Classes that have a column of their own; like `options.class_names` they are never merged.

    Returns
    -------
    The chunks, and what was joined: spelling → class.
    """
    counts: Counter[str] = Counter()
    for chunk in chunks:
        times = chunk.times()
        for code, name in chunk.names():
            counts[name] += times[code]
    apart = {*options.class_names, *named}
    groups: dict[str, list[str]] = {}
    for name in [*counts, *(name for name in apart if name not in counts)] if options.merge else ():
        groups.setdefault(spelling(name), []).append(name)
    becomes: dict[str, str] = {}
    for group in groups.values():
        named_apart = [name for name in group if name in apart]
        if len(named_apart) < 2 < len(group) + 1:
            target = named_apart[0] if named_apart else max(sorted(group), key=counts.__getitem__)
            becomes |= {name: target for name in group if name != target and name in counts}
    if not becomes:
        return list(chunks), {}
    return [_renamed(chunk, becomes) for chunk in chunks], becomes


def _renamed(chunk: Chunk, becomes: Mapping[str, str]) -> Chunk:
    values = [tuple(dict.fromkeys(becomes.get(name, name) for name in names)) for names in chunk.values]
    shares = []
    for one in chunk.shares:
        total: defaultdict[str, float] = defaultdict(float)
        for name, weight in one.items():
            total[becomes.get(name, name)] += weight
        shares.append(total)
    return replace(chunk, values=values, shares=tuple(shares))


_NUMBER = re.compile(r"\s*(\d{1,9})(?:[.,]0+)?\s*", re.ASCII)
_ANCHOR = re.compile(r"\s*(\d{1,2})\s*[-–—=:.)(]\s*[^\W\d].*", re.ASCII | re.DOTALL)
"""A step of a scale with its name, as the first and the last one have it: `1 - not at all`."""


def _with_whole_numbers(
    votes: list[Chunk], others: list[Chunk], apart: Collection[str]
) -> tuple[list[Chunk], list[Chunk]]:
    """Class numbers written as 1.0, because others in their column are missing, as 1; without votes where 1 is there.

    So are steps of a scale of which only some have a name. Names that stand `apart` stay.
    """
    names = {*apart, *(name for chunk in (*votes, *others) for _, name in chunk.names())}
    plain = {name: match[1] for name in names if (match := _NUMBER.fullmatch(name))}
    whole = plain | {name: match[1] for name in names - plain.keys() if plain and (match := _ANCHOR.fullmatch(name))}
    changed = {name: to for name, to in whole.items() if name != to and name not in apart}
    if not (len(whole) == len(names) and changed and (votes or names.intersection(changed.values()))):
        return votes, others
    return [_renamed(chunk, changed) for chunk in votes], [_renamed(chunk, changed) for chunk in others]


def _names_in(chunks: Sequence[Chunk], class_names: tuple[str, ...], *, first: Sequence[str]) -> tuple[str, ...]:
    """Return all classes: those given, else those that have columns, and those that occur, sorted.

    Raises
    ------
    UserError
        A label that is not among those given; the row is named.
    """
    used: dict[str, tuple[Chunk, int]] = {}
    for chunk in chunks:
        for code, name in chunk.names():
            used.setdefault(name, (chunk, code))
    check_class_count(len(used), "the columns of labels")
    for name, (chunk, code) in used.items():
        if len(name) > MAX_NAME:
            raise RowError(
                f"{chunk.place(code)} holds a label of {len(name):,} characters ({shorten(name)}); at most "
                f"{MAX_NAME:,} are supported. Is a quote left open?"
            )
    if not class_names:
        return tuple(dict.fromkeys((*first, *sort_names(used))))
    unknown = next((name for name in first if name not in class_names), None)
    if unknown is not None:
        raise UserError(
            f"The column of the class {shorten(unknown)} is unknown; the classes are {listing(class_names)}."
        )
    classes = set(class_names)
    for name, (chunk, code) in used.items():
        if name not in classes:
            raise RowError(
                f"{chunk.place(code)}: the label {shorten(name)} is unknown; the classes are "
                f"{listing(class_names)}. Correct it, or add it to the classes."
            )
    return class_names


# ---- arrays ----------------------------------------------------------------------------------------------------------


def _annotations(
    votes: Sequence[Chunk],
    answers: Answers,
    people: tuple[str, ...],
    names: tuple[str, ...],
    number: Mapping[str, int],
    unmapped: Counter[str],
) -> Annotations:
    """The votes: the confidence is that of a column of its own, else what the answer itself says."""
    rows, who, labels, scores = [], [], [], []
    for chunk in votes:
        at, label = chunk.labels(number)
        in_cells = np.array(chunk.confidence or [math.nan] * len(chunk.cells))[chunk.codes[at]]
        own = in_cells if chunk.weight is None else chunk.weight[at]
        rows.append(chunk.example[at])
        who.append(chunk.who[at])
        labels.append(label)
        scores.append(np.where(np.isfinite(own), own, in_cells))
    score = np.concatenate(scores)
    return Annotations(
        np.concatenate(rows),
        np.concatenate(who),
        np.concatenate(labels),
        answers.n,
        names,
        people,
        anonymous=answers.anonymous,
        scores=score if np.isfinite(score).any() else None,
        unmapped=tuple(unmapped.most_common()),
    )


def _sets(
    chunks: Sequence[Chunk],
    answers: Answers,
    names: tuple[str, ...],
    number: Mapping[str, int],
    annotations: Annotations | None,
    options: ReadOptions,
    *,
    may_be_empty: bool,
) -> tuple[CandidateSets | None, Weights | None, list[str]]:
    """The candidate sets, their prior, and notes about them."""
    own = [chunk for chunk in chunks if chunk.kind == "set"]
    shares = [chunk for chunk in chunks if chunk.kind == "share"]
    if own:
        return _own_sets(own, answers, names, number, may_be_empty=may_be_empty)
    if annotations is not None:
        sets, notes = sets_of(annotations, options.combine)
        are_votes = annotations.anonymous and len(annotations.answer_starts) == len(annotations.rows)  # and no sets
        return sets, _counted_prior(annotations, sets) if are_votes else None, notes
    if not shares:
        return None, None, []
    wide, places = np.zeros((answers.n, len(names))), [number[chunk.column] for chunk in shares]
    for place, chunk in zip(places, shares, strict=True):
        assert chunk.weight is not None
        np.add.at(wide[:, place], chunk.example, chunk.weight)
    sets, prior = sets_of_shares(wide, names, places)
    return sets, prior, []


def _own_sets(
    chunks: Sequence[Chunk], answers: Answers, names: tuple[str, ...], number: Mapping[str, int], *, may_be_empty: bool
) -> tuple[CandidateSets, Weights | None, list[str]]:
    """The sets that the source itself states, and how often or how likely each label is where it says so."""
    n, c = answers.n, len(names)
    cells, weights = list[Numbers](), list[npt.NDArray[np.float64]]()
    are_weighted = any(chunk.shares for chunk in chunks)
    for chunk in chunks:
        at, labels = chunk.labels(number)
        cells.append(chunk.example[at] * c + labels)
        if are_weighted:
            flat = [w for one in chunk.shares for w in one.values()]
            starts = np.cumsum([0, *map(len, chunk.values)])[chunk.codes[at]] if flat else None
            within = np.arange(len(at)) - np.searchsorted(at, at)
            weights.append(np.ones(len(at)) if starts is None else np.array(flat, dtype=np.float64)[starts + within])
        del at, labels  # there may be many
    together = cells.pop() if len(cells) == 1 else np.concatenate(cells)
    place, inverse = np.unique(together, return_inverse=True) if are_weighted else (np.unique(together), together)
    del together
    sizes = np.bincount(place // c, minlength=n)
    if not may_be_empty:
        where = "the columns of the classes" if len(chunks) > 1 else f"the column {chunks[0].column}"
        refuse_empty(sizes == 0, chunks[0].row_of, where)
    rows = np.flatnonzero(sizes)
    made = CandidateSets(np.append(0, np.cumsum(sizes[rows])), (place % c).astype(np.int32), c, names)
    sets, notes = filled(Resolved(made, rows, n - len(rows), np.empty(0, dtype=np.int64)))
    if not are_weighted:
        return sets, None, notes
    total = sets.uniform_weights().astype(np.float64)
    total[(sizes > 0)[sets.rows]] = np.bincount(inverse, weights=np.concatenate(weights), minlength=len(place))
    text = "Candidates come with how often or how likely each is: label weights start from that."
    return sets, checked_prior(total, sets), [*notes, text]


def _counted_prior(annotations: Annotations, sets: CandidateSets) -> Weights | None:
    """How often nobody-knows-who named each candidate: 2 against 1 stays 2 against 1."""
    counts = annotations.votes.tocsr()
    weights = np.asarray(counts[sets.rows, sets.indices], dtype=np.float64).ravel()
    silent = np.diff(counts.indptr)[sets.rows] == 0
    weights[silent] = 1.0
    return checked_prior(weights, sets)


def sets_of(annotations: Annotations, combine: str = "union") -> tuple[CandidateSets, list[str]]:
    """Return the candidate sets, and warnings about them.

    The set of an example without annotations holds every class.

    Parameters
    ----------
    combine
        `"union"` of all answers, or the `"largest"` answer (the first of several that are).

    Raises
    ------
    UserError
        Too many examples without an answer, for so many classes.

    Examples
    --------
    >>> annotations = Annotations([0, 0, 0], [0, 1, 1], [0, 1, 2], 2, ("a", "b", "c"), ("ann", "bob"))
    >>> [row.tolist() for row in sets_of(annotations)[0]], [row.tolist() for row in sets_of(annotations, "largest")[0]]
    ([[0, 1, 2], [0, 1, 2]], [[1, 2], [0, 1, 2]])
    """
    if combine == "largest":
        rows = annotations.rows[annotations.answer_starts]
        best = np.lexsort((np.arange(len(rows)), -annotations.answer_sizes, rows))  # by row, the largest first
        chosen = np.zeros(len(rows), dtype=np.bool_)
        chosen[best[np.diff(rows[best], prepend=-1) != 0]] = True
        is_largest = np.repeat(chosen, annotations.answer_sizes)
        triples = (annotations.rows[is_largest], annotations.annotators[is_largest], annotations.labels[is_largest])
        annotations = Annotations(*triples, annotations.n_rows, annotations.class_names, annotations.annotator_names)
    return filled(resolve(annotations, Rule("union")))


def filled(resolved: Resolved) -> tuple[CandidateSets, list[str]]:
    """Return the sets of all rows, with a note: a row without any gets every class.

    Raises
    ------
    UserError
        Too many rows without any, for so many classes.
    """
    n, c = resolved.unannotated + len(resolved.rows), resolved.candidates.n_classes
    if not resolved.unannotated:
        return resolved.candidates, []
    if not resolved.can_be_filled:
        raise UserError(
            f"{resolved.unannotated:,} of {n:,} examples have no annotation, and each may have any of {c:,} labels; "
            "that is too much to hold. Leave out the examples without an annotation."
        )
    note = f"{resolved.unannotated:,} of {n:,} examples have no annotation; any label is a candidate there."
    return resolved.filled(), [note]


def sets_of_shares(
    shares: npt.NDArray[np.float64], names: tuple[str, ...], columns: Sequence[int]
) -> tuple[CandidateSets, Weights]:
    """Return the sets of the likeliest classes that make up `COVERED`, of whole numbers all that have votes, and these
    shares as the prior.

    Parameters
    ----------
    shares
        (n, c) at least 0, changed in place; in a row without any, all classes of `columns` are equally likely.
    names
        c names.
    columns
        The classes of which there are shares.
    """
    are_counts = bool((shares == np.rint(shares)).all()) and bool((shares > 1).any())
    shares[np.ix_(shares.sum(axis=1) == 0, columns)] = 1.0
    shares /= shares.sum(axis=1, keepdims=True)
    sets = CandidateSets.from_mask(shares > 0 if are_counts else _likeliest(shares), names)
    return sets, checked_prior(shares[sets.rows, sets.indices], sets)


def _likeliest(shares: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
    """Return (n, c) bool: of each row the fewest classes that make up `COVERED`, with those as likely as the last."""
    order = np.argsort(-shares, axis=1, kind="stable")
    ahead = np.cumsum(np.take_along_axis(shares, order, axis=1), axis=1)
    last = (ahead < COVERED - 1e-9).sum(axis=1).clip(max=shares.shape[1] - 1)  # place of the class that reaches it
    least = np.take_along_axis(shares, np.take_along_axis(order, last[:, None], axis=1), axis=1)
    chosen: npt.NDArray[np.bool_] = (shares >= least) & (shares > 0)
    return chosen


def _truth(chunks: Sequence[Chunk], n: int, number: Mapping[str, int]) -> Numbers | None:
    """(n,) class indices, `UNKNOWN` where the truth is not known; of several lines of an example the first."""
    if not chunks:
        return None
    y = np.full(n, UNKNOWN, dtype=np.int64)
    for chunk in chunks:
        at, labels = chunk.labels(number)
        y[chunk.example[at][::-1]] = labels[::-1]
    return y


def refuse_empty(empty: npt.NDArray[np.bool_], row_of: RowNumber, where: str) -> None:
    """Raise UserError at the first row whose candidate set is empty."""
    if empty.any():
        rows = np.flatnonzero(empty)
        raise RowError(
            f"Row {row_of(int(rows[0]))} has an empty candidate set ({len(rows)} such row{'s' * (len(rows) != 1)}); "
            f"every example needs at least one possible label in {where}."
        )

"""Answers → candidate sets, votes, truth and prior: the one place where this is done, whatever the source was."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial

import numpy as np
import numpy.typing as npt

from pll.annotations.data import Annotations
from pll.annotations.rules import Resolved, counted_prior
from pll.candidates import CandidateSets, sort_names
from pll.dataset import UNKNOWN
from pll.errors import Note, RowError, UserError, notes_of
from pll.formats.answers import Answers, Chunk
from pll.formats.base import ReadOptions
from pll.formats.checks import MAX_NAME, check_class_count, listing, shorten
from pll.formats.grouping import grouped, summed
from pll.formats.records import Floats, Numbers
from pll.formats.tabular.answer_cells import (
    MOST_CELLS_SHOWN,
    NUMBER,
    AnswerReader,
    classes_in,
    doubted_in,
    no_answers_in,
    note_doubted,
    note_dressed,
    note_silent,
    note_unmapped,
    read_by_hand,
)
from pll.formats.tabular.cells import (
    COVERED,
    SEPARATORS,
    are_weights,
    is_no_answer,
    is_object,
    labels_in,
    object_in,
    read_label,
    shares_among,
    shares_of,
    spelling,
)
from pll.weights import Weights, checked_prior

LEAST_REPEATED = 0.05
"""Share of the candidate sets in which a label is repeated, from which repetitions are counts and no slips."""
CANDIDATES = "candidates"
"""Name of the column of sets that we write."""
LEAST_SHARE_OF_VOTER = 0.02
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
    if answers.n == 0:
        raise UserError("No example is left: all lines are for practice, or do not count.")
    said, known = [_read_other(chunk) for chunk in answers.of("set", "truth", "share")], Counter[str]()
    for chunk in said:
        for n, true in zip(chunk.times(), chunk.values, strict=True) if chunk.kind == "truth" else ():
            known.update(dict.fromkeys(true, n))
    read = [_by_hand(chunk, known, options) for chunk in said]
    others = [chunk for chunk, _ in read]
    own = _columns_of_classes([*others, *answers.of("vote")])
    counted = replace(answers, chunks=(*others, *answers.of("vote"))).counted()
    others, answers = [chunk for chunk in counted.chunks if chunk.kind != "vote"], counted
    votes = _read_votes(answers, {name for chunk in others for _, name in chunk.names()}, options, no_answer)
    notes, every = [*(note for _, about in read for note in about), *votes.notes], [*others, *votes.chunks]
    if options.class_names or answers.are_free:
        options = replace(options, class_names=votes.classes or options.class_names)
    becomes = _whole_numbers(every, {*options.class_names, *own})
    others, about = _without_no_truth(others, votes, becomes, options.keep)
    notes += about
    every = [*others, *votes.chunks]
    named = ((name, times[code]) for chunk in every for times in [chunk.times()] for code, name in chunk.names())
    counts = summed((becomes.get(name, name), times) for name, times in named)
    notes += _doubtful_names({becomes.get(n, n) for chunk in every if chunk.kind == "set" for _, n in chunk.names()})
    spellings = joined_spellings(counts, {*options.class_names, *own}) if options.merge else {}
    if spellings:
        pairs = [f"{name} → {target}" for name, target in spellings.items()]
        text = f"Spelled alike, and so one class: {listing(pairs)}."
        notes.append(Note(text, kind="spellings", hint="--no-merge", cells=spellings))
    becomes = {name: spellings.get(to, to) for name, to in becomes.items()} | spellings
    names = _class_names(every, becomes, options.class_names, own)
    number = {name: k for k, name in enumerate(names)}
    number |= {name: number[to] for name, to in becomes.items() if to in number}
    annotations = None
    if any(any(chunk.values) for chunk in votes.chunks):
        annotations = _annotations(votes, answers, names, number)
        lines = [chunk.row[chunk.spread()[0]] for chunk in votes.chunks] if answers.example is not None else []
        if lines and (more := len(np.unique(np.concatenate(lines))) - annotations.n_answers) > 0:
            notes.append(f"Lines that name one more label of the same person for the same example: {more:,}.")
        elif not notes_of(notes, "doubted"):
            notes += _note_several(annotations)
    elif votes.unmapped:
        raise UserError(f"No answer could be mapped to a class (first: {shorten(next(iter(votes.unmapped)))}).")
    elif votes.chunks and answers.example is not None:
        raise UserError("Nobody gave a label: every cell of the column of labels is empty.")
    elif votes.chunks:
        notes.append("Nobody gave a label: the columns of the annotators are empty.")
    if only_votes and annotations is not None:
        return Labels(names, annotations=annotations, notes=tuple(notes))
    stated, shares, truth = ([chunk for chunk in every if chunk.kind == kind] for kind in ("set", "share", "truth"))
    candidates: CandidateSets | None = None
    prior: Weights | None = None
    about = []
    if stated:
        candidates, prior, about = _own_sets(stated, answers, names, number, may_be_empty=may_be_empty)
    elif annotations is not None:
        candidates, about = sets_of(annotations, options.combine)
        prior = counted_prior(annotations, candidates)
    elif shares:
        wide, places = np.zeros((answers.n, len(names))), [number[chunk.column] for chunk in shares]
        for place, chunk in zip(places, shares, strict=True):
            assert chunk.weight is not None
            np.add.at(wide[:, place], chunk.example, chunk.weight)
        candidates, prior = sets_of_shares(wide, names, places)
    y = _truth(truth, answers.n, number)
    return Labels(names, candidates, y, annotations, prior, (*notes, *about))


def _note_several(annotations: Annotations) -> list[str]:
    """Return a note where many answers of people are several labels, all of which may be true; else none."""
    several = int((annotations.answer_sizes > 1).sum())
    if annotations.anonymous or several < MANY_SEVERAL * annotations.n_answers:
        return []
    text = f"{several:,} of {annotations.n_answers:,} answers name several labels, of which one is taken to be true"
    return [f"{text}; where all of them are, ask about one label at a time (yes or no)."]


MANY_SEVERAL = 0.1
"""Share of the answers from which those of several labels are pointed out."""


# ---- what cells mean -------------------------------------------------------------------------------------------------


def _read_other(chunk: Chunk) -> Chunk:
    """A chunk that is no vote, with what its cells mean."""
    if chunk.values:
        return chunk
    if chunk.kind == "truth":
        return replace(chunk, values=chunk.mapped(_true_label))
    are_pairs = are_weights(chunk.cells)
    values = chunk.mapped(lambda cell: _weighed(cell, chunk.separator, are_pairs=are_pairs))
    is_weighed = np.array([bool(one) and set(one.values()) != {1} for one in values], dtype=np.bool_)
    are_weighed = len(chunk.codes) > 0 and bool(is_weighed[chunk.codes].mean() >= LEAST_REPEATED)
    return replace(chunk, values=values, are_weighed=are_weighed)


def _by_hand(chunk: Chunk, known: Mapping[str, int], options: ReadOptions) -> tuple[Chunk, list[str]]:
    """Sets of a column that somebody wrote (`fox/cat`, `fox?`, `n/a`) as they are meant beside true labels, and notes.

    What we wrote ourselves (`candidates`) is read as it stands.
    """
    if chunk.kind != "set" or chunk.are_weighed or chunk.column.casefold() == CANDIDATES:
        return chunk, []
    split = {cell: (n, [*names]) for cell, n, names in zip(chunk.cells, chunk.times(), chunk.values, strict=True)}
    means = read_by_hand(split, {*options.keep, *options.class_names}, known)
    doubted = {cell: names for cell, names in means.items() if list(names) != split[cell][1]}
    said = Counter({(chunk.column, cell): n for cell, (n, _) in split.items()})
    together = {name for names in means.values() if len(names) > 1 for name in names}  # with others no mark stands
    silent = no_answers_in(said, [chunk.column], together, (), options) if together or doubted else {}
    values = [dict.fromkeys(() if cell in silent else means[cell], 1) for cell in chunk.cells]
    return replace(chunk, values=values), [*note_doubted(doubted), *note_silent(silent)]


def _true_label(cell: str) -> Mapping[str, float]:
    if is_object(cell):
        raise UserError("the true label is one name and no object")
    name = read_label(cell)
    return {} if name is None else {name: math.nan}


def _weighed(cell: str, separator: str, *, are_pairs: bool) -> Mapping[str, float]:
    fields = object_in(cell)
    if fields is None and not are_pairs:
        return Counter(labels_in(cell, separator))
    shares = shares_among(fields) if fields else shares_of(cell)
    if shares is None:
        raise UserError("write a number from 0 for each label: how often or how likely it is")
    return shares


@dataclass(frozen=True, eq=False)
class Votes:
    """Votes with what their cells mean.

    Attributes
    ----------
    chunks
        Of voters of whose answers some are classes.
    people
        These voters, by number.
    classes
        All classes, where the reader of their cells knows them.
    silent
        Cells that are no answer, and how often each stands there.
    unmapped
        How often each cell that names no class stands there.
    notes
        What to say of them.
    """

    chunks: list[Chunk]
    people: tuple[str, ...]
    classes: tuple[str, ...]
    silent: Mapping[str, int]
    unmapped: Counter[str]
    notes: list[str]


def _read_votes(answers: Answers, known: Collection[str], options: ReadOptions, no_answer: Sequence[str]) -> Votes:
    """Return the votes, read; `known` are the classes that the truth or the candidates name."""
    votes, people = answers.of("vote"), answers.people
    unread = (one for chunk in votes if not chunk.values for one in chunk.said())
    said = summed(((people[who], cell), n) for who, cell, n in unread)
    silent = no_answers_in(said, people, known, no_answer, options)
    doubted = {} if options.class_names or answers.are_free else doubted_in(said, silent, options)
    plain = Counter({one: n for one, n in said.items() if one[1] not in silent and one[1] not in doubted})
    classes, about = classes_in(plain, sort_names(known), options, are_free=answers.are_free)
    reader = AnswerReader(classes, options.answers, dict.fromkeys(silent, ()) | doubted)
    read, meaning, unmapped = list[Chunk](), cache(reader.read), Counter[str]()
    for chunk in votes:
        if not chunk.values:
            chunk = _numbered(chunk, reader) if chunk.are_numbers else chunk
            values = chunk.mapped(partial(meaning, separator=chunk.separator))
            for cell, value, count in zip(chunk.cells, values, chunk.times(), strict=True):
                if value is None and count:
                    unmapped[cell] += count
            pairs = [((), math.nan) if one is None else one for one in values]
            chunk = replace(chunk, values=[dict.fromkeys(names, confidence) for names, confidence in pairs])
            chunk = _settled(chunk) if chunk.are_attempts else chunk
        read.append(chunk)
    read, people, left_out = _without_no_voters(read, people, silent)
    cells = {cell: tuple(names) for chunk in read for cell, names in zip(chunk.cells, chunk.values, strict=True)}
    notes = [*about, *note_doubted(doubted), *note_silent(silent), *left_out]
    plain_cells = {cell: names for cell, names in cells.items() if cell not in doubted}
    notes += note_dressed(plain_cells, reader) if reader.classes else ()
    notes += note_unmapped(unmapped)
    return Votes(read, people, reader.classes, silent, unmapped, notes)


def _numbered(chunk: Chunk, reader: AnswerReader) -> Chunk:
    """Votes that are numbers of classes, with these; where there is none, or it was mapped by hand, the number."""

    def class_of(number: str) -> str:
        is_one = number.isdecimal() and int(number) < len(reader.classes) and not reader.is_mapped(number)
        return reader.classes[int(number)] if is_one else number

    return replace(chunk, cells=list(map(class_of, chunk.cells)))


def _settled(chunk: Chunk) -> Chunk:
    """Return votes in which a voter who was asked several times has one: what was meant most often, and how often."""
    attempts = defaultdict[tuple[int, int], list[int]](list)
    for at, key in enumerate(zip(chunk.example.tolist(), chunk.who.tolist(), strict=True)):
        attempts[key].append(at)
    weight = np.full(len(chunk.codes), math.nan) if chunk.weight is None else chunk.weight.copy()
    stays = np.ones(len(chunk.codes), dtype=np.bool_)
    for group in attempts.values() if len(attempts) < len(chunk.codes) else ():
        meant = {at: tuple(chunk.values[code]) for at in group if chunk.values[code := chunk.codes[at]]}
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
    out = named < LEAST_SHARE_OF_VOTER * said
    if not out.any():
        return list(votes), tuple(people), []
    number = np.cumsum(~out) - 1
    left = [chunk.only(~out[chunk.who]) for chunk in votes]
    note = f"Left out, since hardly an answer is a class: {listing([people[k] for k in np.flatnonzero(out).tolist()])}."
    stay = tuple(name for name, is_out in zip(people, out, strict=True) if not is_out)
    return [replace(chunk, who=number[chunk.who]) for chunk in left], stay, [note]


def _without_no_truth(
    others: Sequence[Chunk], votes: Votes, becomes: Mapping[str, str], keep: Collection[str]
) -> tuple[list[Chunk], list[str]]:
    """Make true labels unknown that say that there is none, or several, where no other label is called so.

    As "-" and "N/A" do, and so does one word on more than half of the rows that nobody ever answered: "open"; several
    are other labels with a mark between them (`x|y`).
    """
    if not any(chunk.kind == "truth" for chunk in others):
        return [*others], []
    every = [chunk for chunk in (*others, *votes.chunks) if chunk.kind != "truth"]
    names = {becomes.get(name, name) for chunk in every for _, name in chunk.names()}
    read, notes = [], []
    for chunk in others:
        times, total = chunk.times(), max(len(chunk.codes), 2 * MOST_CELLS_SHOWN)  # of few rows nothing is told
        said = [(becomes.get(n, n), times[k]) for k, n in chunk.names()] if names and chunk.kind == "truth" else []
        said = [(n, count) for n, count in said if n not in names and n not in keep]
        several = {n for n, _ in said if {part.strip() for part in _SEVERAL.split(n)} <= names}
        empty = {n for n, count in said if n in votes.silent or is_no_answer(n) or (votes.chunks and 2 * count > total)}
        for gone, what in ((empty - several, "that there is none"), (several, "several classes")):
            if not gone:
                continue
            is_gone = [any(becomes.get(n, n) in gone for n in value) for value in chunk.values]
            if any(is_gone):
                rows = int(np.array(is_gone)[chunk.codes].sum())
                notes.append(f"{rows:,} true labels say {what} ({listing(sorted(gone))}): they are not known.")
                values = [{} if is_one else one for is_one, one in zip(is_gone, chunk.values, strict=True)]
                chunk = replace(chunk, values=values)
        read.append(chunk)
    return read, notes


_SEVERAL = re.compile("[" + re.escape("".join(SEPARATORS[:3])) + "]")
"""What stands between the labels of a true label that are all accepted."""


# ---- names of classes ------------------------------------------------------------------------------------------------


def _doubtful_names(names: Collection[str]) -> list[str]:
    """Return a note on candidates that may be several, joined otherwise than in the other cells: `x;y` beside `x|y`."""
    every = [(name, mark) for name in sorted(names) for mark in SEPARATORS if mark in name]
    parted = (name for name, mark in every if {part.strip() for part in name.split(mark)} <= {*names})
    doubtful = list(dict.fromkeys(parted))
    were = "was" if len(doubtful) == 1 else "were each"
    text = f"{listing(doubtful)} {were} read as one label, though the parts are labels too"
    return [Note(f"{text}: join them as in the other cells if they are several.", kind="doubtful")] if doubtful else []


def _columns_of_classes(chunks: Sequence[Chunk]) -> tuple[str, ...]:
    """The classes that have a column of their own."""
    own = (chunk.column for chunk in chunks if [chunk.column] == chunk.cells == [name for _, name in chunk.names()])
    return tuple(dict.fromkeys(own))


def joined_spellings(counts: Mapping[str, int], apart: Collection[str]) -> dict[str, str]:
    """Return what becomes of labels that are spelled alike, by `spelling`: the one that is named, else the commonest.

    So are labels with and without a space before their number.

    Parameters
    ----------
    counts
        How often each label stands there.
    apart
        Classes that are listed, or have a column of their own: they are never merged.

    Examples
    --------
    >>> joined_spellings({"cat": 3, "Cat": 1, "dog": 1}, ()), joined_spellings({"cat": 3, "Cat": 1}, ("Cat", "cat"))
    ({'Cat': 'cat'}, {})
    >>> joined_spellings({"TR4": 3, "tr 4": 1, "TR 5": 1}, ())
    {'tr 4': 'TR4'}
    """
    every = dict.fromkeys((*counts, *apart))
    groups = grouped((re.sub(r"(?<=[^\W\d_]) (?=\d)", "", spelling(name)), name) for name in every)
    becomes: dict[str, str] = {}
    for group in groups.values():
        named = [name for name in group if name in apart]
        if len(group) > 1 and len(named) < 2:
            target = named[0] if named else max(sorted(group), key=counts.__getitem__)
            becomes |= {name: target for name in group if name != target and name in counts}
    return becomes


_ANCHOR = re.compile(r"\s*(\d{1,2})\s*[-–—=:.)(]\s*[^\W\d].*", re.ASCII | re.DOTALL)
"""A step of a scale with its name, as the first and the last one have it: `1 - not at all`."""
_CALLED = re.compile(r"\s*[^\W\d][^\d]*?[\s.:-]*([0-9]{1,2})\s*")
"""A number with what it is a number of: `BI-RADS 3`, `Stufe 2`."""


def _whole_numbers(chunks: Sequence[Chunk], apart: Collection[str]) -> dict[str, str]:
    """Class numbers written as 1.0, because others in their column are missing, become 1; without votes if 1 is there.

    So do steps of a scale of which only some have a name, and numbers with what they are numbers of, beside others
    alone (`Grade 2` beside 2). Names that stand `apart` stay.
    """
    names = {*apart, *(name for chunk in chunks for _, name in chunk.names())}
    plain = {name: match[1] for name in names if (match := NUMBER.fullmatch(name))}
    whole = plain | {name: match[1] for name in names - plain.keys() if plain and (match := _ANCHOR.fullmatch(name))}
    numbers = {*plain.values()}
    whole |= {n: match[1] for n in names - whole.keys() if (match := _CALLED.fullmatch(n)) and match[1] in numbers}
    changed = {name: to for name, to in whole.items() if name != to and name not in apart}
    is_meant = any(chunk.kind == "vote" for chunk in chunks) or not names.isdisjoint(changed.values())
    return changed if is_meant and len(whole) == len(names) else {}


def _class_names(
    chunks: Sequence[Chunk], becomes: Mapping[str, str], class_names: tuple[str, ...], first: Sequence[str]
) -> tuple[str, ...]:
    """Return all classes: those given, else those that have columns, and those that occur, sorted.

    Raises
    ------
    UserError
        A label that is not among those given; the row is named.
    """
    used: dict[str, tuple[Chunk, int]] = {}
    for chunk in chunks:
        for code, name in chunk.names():
            used.setdefault(becomes.get(name, name), (chunk, code))
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


def _annotations(votes: Votes, answers: Answers, names: tuple[str, ...], number: Mapping[str, int]) -> Annotations:
    """The votes: the confidence is that of a column of its own, else what the answer itself says."""
    rows, who, labels, scores = [], [], [], []
    for chunk in votes.chunks:
        at, place = chunk.spread()
        in_cells = chunk.weights()[place]
        own = in_cells if chunk.weight is None else chunk.weight[at]
        rows.append(chunk.example[at])
        who.append(chunk.who[at])
        labels.append(chunk.numbers(number)[place])
        scores.append(np.where(np.isfinite(own), own, in_cells))
    score = np.concatenate(scores)
    return Annotations(
        np.concatenate(rows),
        np.concatenate(who),
        np.concatenate(labels),
        answers.n,
        names,
        votes.people,
        anonymous=answers.anonymous,
        scores=score if np.isfinite(score).any() else None,
        unmapped=tuple(votes.unmapped.most_common()),
    )


def _own_sets(
    chunks: Sequence[Chunk], answers: Answers, names: tuple[str, ...], number: Mapping[str, int], *, may_be_empty: bool
) -> tuple[CandidateSets, Weights | None, list[str]]:
    """The sets that the source itself states, and how often or how likely each label is where it says so."""
    n, c = answers.n, len(names)
    cells, weights = list[Numbers](), list[Floats]()
    are_weighed = any(chunk.are_weighed for chunk in chunks)
    for chunk in chunks:
        at, within = chunk.spread()
        cells.append(chunk.example[at] * c + chunk.numbers(number)[within])
        if are_weighed:
            weights.append(chunk.weights()[within] if chunk.are_weighed else np.ones(len(at)))
        del at, within  # there may be many
    together = cells.pop() if len(cells) == 1 else np.concatenate(cells)
    if not may_be_empty:
        empty = np.flatnonzero(np.bincount(together // c, minlength=n) == 0)
        where = "the columns of the classes" if len(chunks) > 1 else f"the column {chunks[0].column}"
        if len(empty):
            raise RowError(
                f"Row {chunks[0].row_of(int(empty[0]))} has an empty candidate set ({len(empty)} such "
                f"row{'s' * (len(empty) != 1)}); every example needs at least one possible label in {where}."
            )
    sets, total, notes = sets_of_cells(together, n, names, np.concatenate(weights) if are_weighed else None)
    if total is None:
        return sets, None, notes
    text = "Candidates come with how often or how likely each is: label weights start from that."
    return sets, checked_prior(total, sets), [*notes, text]


def sets_of_cells(
    cells: Numbers, n: int, names: tuple[str, ...], weights: Floats | None = None
) -> tuple[CandidateSets, Floats | None, list[str]]:
    """Return the candidate sets of cells of the matrix of examples and classes, their weights, and a note.

    An example without a cell may have any class, all as likely.

    Parameters
    ----------
    cells
        (m,) example · c + class, in any order; one may stand there several times.
    n
        Number of examples.
    names
        c names.
    weights
        (m,) of the cells; those of one cell are added. None where there are none.

    Raises
    ------
    UserError
        Too many examples without a cell, for so many classes.

    Examples
    --------
    >>> sets, weights, _ = sets_of_cells(np.array([3, 0, 3]), 2, ("a", "b"), np.array([1.0, 2.0, 0.5]))
    >>> [row.tolist() for row in sets], weights.tolist()
    ([[0], [1]], [2.0, 1.5])
    """
    c = len(names)
    if weights is None:
        ordered = np.sort(cells)
        place = ordered[np.diff(ordered, prepend=-1) != 0]  # np.unique hashes, ten times as slowly
    else:
        place, inverse = np.unique(cells, return_inverse=True)
    sizes = np.bincount(place // c, minlength=n)
    rows = np.flatnonzero(sizes)
    own = CandidateSets(np.append(0, np.cumsum(sizes[rows])), (place % c).astype(np.int32), c, names)
    made, notes = Resolved(own, rows, n - len(rows), np.empty(0, dtype=np.int64)), list[str]()
    if made.unannotated:
        if not made.can_be_filled:
            raise UserError(
                f"{made.unannotated:,} of {n:,} examples have no annotation, and each may have any of {c:,} labels; "
                "that is too much to hold. Leave out the examples without an annotation."
            )
        text = "examples have no annotation; any label is a candidate there."
        notes.append(f"{made.unannotated:,} of {n:,} {text}")
    sets = made.filled() if made.unannotated else own
    if weights is None:
        return sets, None, notes
    total = sets.uniform_weights().astype(np.float64)
    total[(sizes > 0)[sets.rows]] = np.bincount(inverse, weights=weights, minlength=len(place))
    return sets, total, notes


def sets_of(annotations: Annotations, combine: str = "union") -> tuple[CandidateSets, list[str]]:
    """Return the candidate sets, and warnings about them.

    The set of an example without annotations holds every class.

    Parameters
    ----------
    annotations
        Who gave which label.
    combine
        `"union"` of all answers, or the `"largest"` answer (the first of several that are).

    Raises
    ------
    UserError
        Nobody answered, or too many examples are without an answer, for so many classes.

    Examples
    --------
    >>> annotations = Annotations([0, 0, 0], [0, 1, 1], [0, 1, 2], 2, ("a", "b", "c"), ("ann", "bob"))
    >>> [row.tolist() for row in sets_of(annotations)[0]], [row.tolist() for row in sets_of(annotations, "largest")[0]]
    ([[0, 1, 2], [0, 1, 2]], [[1, 2], [0, 1, 2]])
    """
    if not len(annotations.rows):
        raise UserError("Nobody annotated anything; there is nothing to make candidate sets of.")
    named = annotations.rows * annotations.n_classes + annotations.labels
    if combine == "largest":
        rows = annotations.rows[annotations.answer_starts]
        best = np.lexsort((np.arange(len(rows)), -annotations.answer_sizes, rows))  # by row, the largest first
        chosen = np.zeros(len(rows), dtype=np.bool_)
        chosen[best[np.diff(rows[best], prepend=-1) != 0]] = True
        named = named[np.repeat(chosen, annotations.answer_sizes)]
    sets, _, notes = sets_of_cells(named, annotations.n_rows, annotations.class_names)
    return sets, notes


def sets_of_shares(shares: Floats, names: tuple[str, ...], columns: Sequence[int]) -> tuple[CandidateSets, Weights]:
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


def _likeliest(shares: Floats) -> npt.NDArray[np.bool_]:
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
        at, place = chunk.spread()
        y[chunk.example[at][::-1]] = chunk.numbers(number)[place][::-1]
    return y

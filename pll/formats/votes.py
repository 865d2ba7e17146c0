"""Votes on examples from any number of files, joined on the id.

What a cell means, and which classes are proposed where nobody lists any, is as in every table
(`pll.formats.tabular.lines`).

Files without ids (arrays, tables without such a column, evaluation samples, which number their documents) are joined by
row number where their numbers are not the ids of the data.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from pll.annotations import Annotations, Rule, resolve
from pll.dataset import UNKNOWN, PartialLabelDataset
from pll.errors import Note, UserError
from pll.formats.checks import listing, shorten
from pll.formats.labels import is_no_answer, note_proposed, note_silent, note_unmapped, sets_of_shares
from pll.formats.proposals import proposed_classes
from pll.formats.tabular.answers import AnswerReader
from pll.formats.tabular.label_columns import LabelColumn, encode
from pll.formats.tabular.lines import Lines, annotations_of, read_answers
from pll.formats.vote_files import VoteFile, with_column

FEW_CLASSES = "few classes"
"""Kind of the error where answers name no classes."""
FAILED = "requests failed; they have no answer."
FOREIGN = "answers are of ids that the data does not have; they are left out."
"""How notes end on what the files lack, or have beyond the data."""
LEAST_SHARE = 0.02
"""Minimum share of a voter's answers that map to a class; with fewer it is no voter but, say, a column of words."""


_ALONE = (
    "There is one voter: one voter's answers alone cannot be settled, and labels taken from them have the confidence 1 "
    "whatever they are worth. "
)
ONE_VOTER = Note(
    f"{_ALONE}Make candidate sets of them out of fold, or bring another voter.", kind="one voter", hint="--noisy topk:2"
)
ONE_VOTER_ALONE = Note(f"{_ALONE}Bring another voter, or check a sample.", kind="one voter", hint="candid plan")
ONE_CLASSIFIER = "The probabilities of one classifier: sets of the likeliest classes, with the probabilities as prior."


def with_votes(
    data: PartialLabelDataset | None,
    files: Sequence[VoteFile],
    *,
    answers: Mapping[str, str] | None = None,
    classes: tuple[str, ...] = (),
    name: str = "",
) -> PartialLabelDataset:
    """Return examples with the votes of some files, joined on the id.

    The votes are its annotations, with answers that name no class in `Annotations.unmapped`; candidates are the union.

    Parameters
    ----------
    data
        The examples; None where the votes are all there is.
    files
        Of `read_votes`.
    answers
        Answer → class, mapped by hand; "" for no answer.
    classes
        All classes, where the data has none; by default they are proposed.
    name
        What to call the data where there is none.

    Raises
    ------
    UserError
        No id in common, no class, or no answer that could be mapped.
    """
    by_hand = answers or {}
    known = () if data is None else data.class_names
    one = files[0] if len(files) == 1 else None
    lines, notes = _of_one_question(files, known)
    silent = Counter(vote for vote in lines["vote"].to_pylist() if is_no_answer(vote, among_votes=True))
    silent = Counter({vote: n for vote, n in silent.items() if vote not in (*known, *classes, *by_hand)})
    notes += note_silent(silent)
    tasks, workers = lines["task"].to_pylist(), lines["worker"].to_pylist()
    listed = tuple(known) or classes or (one.classes if one else ())
    if not listed:
        listed = proposed_classes(Counter(zip(workers, lines["vote"].to_pylist(), strict=True)), by_hand)
        notes += note_proposed(listed)
        listed = listed or tuple(dict.fromkeys(filter(None, by_hand.values())))
    reader = AnswerReader(listed, by_hand, silent)
    if len(reader.classes) < 2:
        raise UserError(
            "Fewer than two classes were found in the answers; name them, bring data that names them, or map answers.",
            kind=FEW_CLASSES,
            shell="--classes a,b,c, or --answer FROM=CLASS",
        )
    ids = _ids_of(tasks, workers) if data is None else data.row_ids.tolist()
    rows, by_row = _rows_of(lines, ids)
    has_row = rows >= 0
    if not has_row.any():
        raise UserError(
            f"No id of the votes ({listing(list(dict.fromkeys(tasks))[:3])}) is among those of the data "
            f"({listing(ids[:3])}); they are joined on the id."
        )
    if by_row:
        notes.append(f"{by_row:,} votes have no id and are joined by row number.")
    joined = _settled(with_column(lines, "row", rows.tolist()).filter(has_row), reader)
    annotations = _annotations(joined, reader, ids, notes)
    notes += _notes_on_ids(annotations, dict.fromkeys(workers), alone=data is None)
    notes += [
        Note(f"{number:,} {end}", kind="lost")
        for number, end in ((sum(file.errors for file in files), FAILED), (int((~has_row).sum()), FOREIGN))
        if number
    ]
    base = data if data is not None else _bare(ids, name)
    people = None if base.annotations is None or base.annotations.anonymous else base.annotations
    if one is not None and one.shares is not None and people is None:
        return _with_shares(base, one, rows, reader, notes)
    annotations = annotations if people is None else _beside(people, annotations)
    if annotations.n_annotators == 1:
        notes.append(ONE_VOTER if base.contents else ONE_VOTER_ALONE)
    noted = replace(base, notes=(*base.notes, *notes))
    return noted.resolved_to(resolve(annotations, Rule("union")), annotations)


def _of_one_question(files: Iterable[VoteFile], class_names: Sequence[str]) -> tuple[pa.Table, list[str]]:
    """All lines; of answers to several questions those to the one that the classes fit, else the most answered."""
    reader, read, left = AnswerReader(class_names), set[str](), set[str]()
    parts = []
    for lines in (file.lines for file in files):
        questions, votes = lines["question"].to_pylist(), lines["vote"].to_pylist()
        counts = Counter(questions)
        if len(counts) > 1:
            fits = Counter(one for one, vote in zip(questions, votes, strict=True) if reader.class_of(vote))
            chosen = max(counts, key=lambda one: (fits[one], counts[one]))
            read.add(chosen)
            left |= counts.keys() - {chosen}
            lines = lines.filter(pc.equal(lines["question"], chosen))
        parts.append(lines)
    some, others = listing(sorted(read)), listing(sorted(left))
    note = f"There are votes on several questions; read were those on {some}, not on {others}."
    return pa.concat_tables(parts), [note] if left else []


def _settled(lines: pa.Table, reader: AnswerReader) -> pa.Table:
    """Lines in which a voter who was asked several times has one answer: what was meant most often, and how often.

    Answers that name no class stay, to be counted.
    """
    attempts: dict[tuple[int, str], list[int]] = {}
    rows, workers, votes = (lines[name].to_pylist() for name in ("row", "worker", "vote"))
    for at, attempt in enumerate(lines["attempt"].to_pylist()):
        if attempt is not None:
            attempts.setdefault((rows[at], workers[at]), []).append(at)
    scores, stays, meaning = lines["score"].to_pylist(), np.ones(len(lines), dtype=np.bool_), cache(reader.read)
    for group in attempts.values() if len(attempts) < len(lines) else ():
        meant = {at: answer[0] for at in group if (answer := meaning(votes[at])) and answer[0]}
        if len(group) > 1 and meant:
            (most, times), *_ = Counter(meant.values()).most_common(1)
            first = next(at for at in meant if meant[at] == most)
            scores[first] = times / len(group)
            stays[[at for at in meant if at != first]] = False
    return with_column(lines, "score", scores).filter(stays)


def _annotations(lines: pa.Table, reader: AnswerReader, ids: Sequence[str], notes: list[str]) -> Annotations:
    """The votes of lines whose column `row` says which example they are on; notes about answers are added.

    Voters of whose answers hardly one is a class are left out.
    """
    votes, numbers = lines["vote"].to_pylist(), lines["number"].to_pylist()
    for at, number in enumerate(numbers):
        if number is not None and 0 <= number < len(reader.classes) and not reader.is_mapped(votes[at]):
            votes[at] = reader.classes[number]
    who, voters = encode(lines["worker"])
    column = LabelColumn.of("label", pa.chunked_array([votes], pa.string()), int)
    scores, separators = lines["score"].to_numpy(), ["|"] * len(column.cells)
    every, unmapped = read_answers(Lines(lines["row"].to_numpy(), who, column, ids, voters, scores, separators), reader)
    column = every.votes
    if not any(column.values):
        raise UserError(f"No answer could be mapped to a class (first: {shorten(votes[0])}).")
    among_words = [
        f"{shorten(cell, 40)}: {', '.join(names)}"
        for cell, names in zip(column.cells, column.values, strict=True)
        if names and reader.class_of(cell) is None and not reader.is_mapped(cell)
    ]
    if among_words:
        examples = "; ".join(among_words[:3])
        notes.append(f"{len(among_words):,} different answers are JSON or name classes among other words ({examples}).")
    notes += note_unmapped(unmapped)
    is_class = np.array([bool(names) for names in column.values])[column.codes]
    silent = np.bincount(who, is_class) < LEAST_SHARE * np.bincount(who)
    if silent.any():
        notes.append(f"Left out, since hardly an answer is a class: {listing(np.array(voters)[silent].tolist())}.")
    stays = ~silent[who]
    others = replace(
        every,
        tasks=every.tasks[stays],
        workers=(np.cumsum(~silent) - 1)[who[stays]],
        votes=replace(column, codes=column.codes[stays]),
        people=[name for name, is_silent in zip(voters, silent, strict=True) if not is_silent],
        scores=scores[stays],
    )
    return annotations_of(others, reader.classes, unmapped)


def _beside(people: Annotations, models: Annotations) -> Annotations:
    """Votes of models in addition to those of people."""
    both, n_people = (people, models), people.n_annotators
    names = [name if name not in models.annotator_names else f"{name} (data)" for name in people.annotator_names]
    scores = [np.full(len(one.rows), math.nan) if one.scores is None else one.scores for one in both]
    has_scores = any(one.scores is not None for one in both)
    return replace(
        models,
        rows=np.concatenate([one.rows for one in both]),
        annotators=np.concatenate([people.annotators, models.annotators + n_people]),
        labels=np.concatenate([one.labels for one in both]),
        annotator_names=(*names, *models.annotator_names),
        scores=np.concatenate(scores) if has_scores else None,
    )


def _with_shares(
    data: PartialLabelDataset, file: VoteFile, rows: npt.NDArray[np.int64], reader: AnswerReader, notes: Sequence[str]
) -> PartialLabelDataset:
    """Examples with sets and prior of one classifier's probabilities, as `prob_CLASS` columns of a table give them.

    Parameters
    ----------
    rows
        (lines,) the example of each row of probabilities, −1 for none.
    """
    columns, classes = file.classes, reader.classes
    named = [reader.class_of(name) or "" for name in columns]
    if file.lines["number"].null_count == 0:  # an array, whose columns are numbers of classes
        named = list(classes[: len(columns)])
    wrong = [name for name, one in zip(columns, named, strict=False) if not one or named.count(one) > 1]
    if wrong:
        raise UserError(f"The probabilities are of {listing(wrong)}, but the classes are {listing(classes)}.")
    if len(columns) > len(classes):
        raise UserError(f"There are {len(columns)} probabilities for each example but {len(classes)} classes.")
    joined = np.flatnonzero(rows >= 0)
    matched, first = np.unique(rows[joined], return_index=True)
    if len(matched) < len(joined):
        raise UserError("An example has probabilities twice; give each id once.")
    assert file.shares is not None
    places = [classes.index(name) for name in named]
    wide = np.zeros((len(matched), len(classes)))
    wide[:, places] = file.shares[joined[first]]
    sets, prior = sets_of_shares(wide, classes, places)
    examples = data.take(matched)
    notes = (*examples.notes, *notes, ONE_CLASSIFIER)
    return replace(examples, candidates=sets, class_names=(), prior=prior, annotations=None, notes=notes)


# ---- ids -------------------------------------------------------------------------------------------------------------


def _id_key(name: str) -> str:
    """An id as it compares with others: `7.0` (what tables make of numbers beside an empty cell) and `007` are `7`."""
    return re.sub(r"^([+-]?)0*(\d+)(?:\.0+)?$", r"\1\2", name.strip())


def _rows_of(lines: pa.Table, ids: Sequence[str]) -> tuple[npt.NDArray[np.int64], int]:
    """The example of each line, −1 where it is none of them; and how many were found by row number alone.

    Every id is itself, and its key (`_id_key`) where no two ids have the same.
    """
    keys = [_id_key(one) for one in ids]
    counts = Counter(keys)
    place = {one: row for row, one in enumerate(keys) if counts[one] == 1} | {one: row for row, one in enumerate(ids)}
    rows = np.array([place.get(task, place.get(_id_key(task), UNKNOWN)) for task in lines["task"].to_pylist()])
    workers = lines["worker"].to_numpy()
    numbers = lines["row"].fill_null(UNKNOWN).to_numpy()
    is_joined = np.isin(workers, np.unique(workers[rows >= 0]))
    by_row = (rows < 0) & ~is_joined & (numbers >= 0) & (numbers < len(ids))
    return np.where(by_row, numbers, rows), int(by_row.sum())


def _ids_of(tasks: Sequence[str], workers: Sequence[str]) -> list[str]:
    """The examples that were answered, in order; ids of several files with the same key are one.

    Ids that one voter uses both (`7` and `007`) are several.
    """
    spelled: dict[tuple[str, str], str] = {}
    apart = set()
    for task, worker in zip(tasks, workers, strict=True):
        if spelled.setdefault((worker, _id_key(task)), task) != task:
            apart.add(_id_key(task))
    ids: dict[str, str] = {}
    for task in tasks:
        key = _id_key(task)
        ids.setdefault(task if key in apart else key, task)
    return list(ids.values())


def _notes_on_ids(votes: Annotations, voters: Iterable[str], *, alone: bool) -> list[str]:
    """Notes about which of the voters in the files answered which examples."""
    notes = []
    rows, who = votes.rows[votes.answer_starts], votes.annotators[votes.answer_starts]
    if twice := len(votes.rows) - len(rows):
        notes.append(f"{twice:,} times a voter gave an example a further label; together they are one answer.")
    if not alone:
        apart = [name for name in voters if name not in votes.annotator_names]
        end = "check the ids and the answers."
        return [*notes, f"Without a vote on these examples: {listing(apart)}; {end}"] if apart else notes
    in_common = np.bincount(who, votes.answers_per_row[rows] > 1, minlength=votes.n_annotators)
    if votes.n_annotators == 1:
        return notes
    if not in_common.any():
        return [*notes, "No example has two answers: check that the files have the same ids."]
    apart = [name for name, shared in zip(votes.annotator_names, in_common, strict=True) if not shared]
    return (
        [*notes, f"Answered nothing that another voter answered: {listing(apart)}; check the ids."] if apart else notes
    )


def _bare(ids: Sequence[str], name: str) -> PartialLabelDataset:
    X = np.zeros((len(ids), 0), dtype=np.float32)
    return PartialLabelDataset(X=X, ids=np.array(ids, dtype=np.str_), name=name or "votes")

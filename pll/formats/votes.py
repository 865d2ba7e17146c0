"""Files of votes: what a file is, its answers, and their join with the examples on the id.

A file's answers are those of the columns or lines of any table, of the people in the records of a tool, or of models;
all fill the one table of answers (`pll.formats.answers`), and mean what they mean everywhere (`pll.formats.labels`).

A table is joined on the column whose cells stand in the data: in its ids, else in another column that tells all of its
examples apart. Files without one (arrays, tables of votes alone) are joined by row number, where they have as many rows
and not all numbers are ids of the data; so are evaluation samples, which number their documents, where none of their
numbers is an id.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from pll.annotations import Annotations, SetRule, resolve
from pll.dataset import UNKNOWN, PartialLabelDataset
from pll.errors import Note, RowError, UserError, notes_of
from pll.formats import detect
from pll.formats.answers import Answers, Chunk, Filled, answer_names, answers_in, share_chunks, times_before
from pll.formats.base import ReadOptions
from pll.formats.checks import listing, parsing
from pll.formats.forms import Form, form_called, form_told_by
from pll.formats.json_objects import first_record, records
from pll.formats.labels import labels_of
from pll.formats.names import LABEL_COLUMNS, is_named_id, may_hold_labels
from pll.formats.reading import Column, form_of, question
from pll.formats.records import Floats, Numbers, Records, codes_of
from pll.formats.tabular.answer_cells import AnswerReader
from pll.formats.tabular.builder import TableFormat
from pll.formats.tabular.csv import Delimited, text_of_file
from pll.formats.tabular.jsonl import JsonLines
from pll.formats.tools.models import (
    Line,
    answer_field,
    asks_again,
    batch_answers,
    by_voters_in_ids,
    prompted_answers,
    sample_answers,
)
from pll.formats.tools.records import RecordFormat, models_answers
from pll.formats.unfold import unfolded

VOTES_FORMAT = "votes"
"""What a source calls the format of files that hold votes and nothing else."""
REQUESTS_FAILED = "requests failed; they have no answer."
FOREIGN = "answers are of ids that the data does not have; they are left out."
"""How notes end on what the files lack, or have beyond the data."""
_ALONE = (
    "There is one voter: one voter's answers alone cannot be settled, and labels taken from them have the confidence 1 "
    "whatever they are worth. "
)
ONE_VOTER = Note(
    f"{_ALONE}Make candidate sets of them out of fold, or bring another voter.", kind="one voter", hint="--noisy topk:2"
)
ONE_VOTER_ALONE = Note(f"{_ALONE}Bring another voter, or check a sample.", kind="one voter", hint="candid plan")
ONE_CLASSIFIER = "The probabilities of one classifier: sets of the likeliest classes, with the probabilities as prior."


# ---- file → answers --------------------------------------------------------------------------------------------------


def read_votes(
    paths: Sequence[Path | str], class_names: Sequence[str] = (), data: PartialLabelDataset | None = None
) -> list[Answers]:
    """Read the answers in some files; a voter has one name in all of them.

    Parameters
    ----------
    paths
        At least one.
    class_names
        The classes, where they are known: of answers to several questions those are read that they fit.
    data
        The examples, where there are any: their names tell which column of a table names them.

    Returns
    -------
    list of Answers
        Of each file, with votes; of class probabilities the likeliest is one, and there are shares beside.

    Raises
    ------
    UserError
        A file that is not there, damaged, or holds no votes; its name is given.
    """
    files, keys = list[Answers](), [] if data is None else _keys_of(data)
    for path in map(Path, paths):
        if not path.is_file():
            raise UserError(f"There is no file {path}; check the path.")
        try:
            answers = _read(path, class_names, keys)
        except UserError as error:
            raise error.within(path.name) from None
        if not any(len(chunk.codes) for chunk in answers.of("vote")):
            failed = f" ({answers.failed} requests failed)" if answers.failed else ""
            raise UserError(f"{path.name} holds no answers{failed}; give a file of votes.")
        files.append(_with_own_names(answers, path.stem, files))
    return [_of_attempts(files[0])] if len(files) == 1 else files


def _of_attempts(answers: Answers) -> Answers:
    """Return answers of voters without names, one an attempt, where a voter alone was mostly asked several times."""
    attempts = [times_before(chunk.example) if chunk.are_attempts else chunk.who for chunk in answers.chunks]
    again = sum(int((who == 1).sum()) for who in attempts)  # how many examples have a second
    if len(answers.people) > 1 or 2 * again <= answers.n:
        return answers
    most = max(int(who.max(initial=0)) for who in attempts)
    chunks = (replace(one, who=who, are_attempts=False) for one, who in zip(answers.chunks, attempts, strict=True))
    return replace(answers, chunks=(*chunks,), people=answer_names(most + 1), anonymous=True)


def _with_own_names(answers: Answers, stem: str, before: Sequence[Answers]) -> Answers:
    """Return answers whose voters are called as those of files before only where these answered other examples."""
    names = list(answers.people)
    for who, name in enumerate(answers.people):
        mine, others = _answered(answers, name), count(2)
        while any(not mine.isdisjoint(_answered(one, names[who])) for one in before if names[who] in one.people):
            names[who] = f"{name} ({stem})" if names[who] == name else f"{name} ({stem} {next(others)})"
    return replace(answers, people=tuple(names))


def _answered(answers: Answers, person: str) -> set[str]:
    """The names of the examples that a person answered."""
    who, ids = answers.people.index(person), _names_of(answers)
    rows = np.concatenate([chunk.example[chunk.who == who] for chunk in answers.of("vote")])
    return {ids[row] for row in np.unique(rows).tolist()}


def _names_of(answers: Answers) -> Sequence[str]:
    return list(map(str, range(answers.n))) if answers.ids is None else answers.ids


def _read(path: Path, class_names: Sequence[str], keys: Sequence[Key]) -> Answers:
    if path.suffix.lower() == ".npy" and (array := _array_in(path)).dtype.kind == "f":
        return _of_array(array, path.stem)
    form, options = detect(path), ReadOptions()
    if isinstance(form, RecordFormat) and form.form.models:
        said = models_answers(path, form.form)
        lines = [
            Line(task, str(one.who), str(label), _number(one.score), question=one.question)
            for task, one in said
            for label in one.labels or ()
        ]
        return _of_lines(lines, class_names)
    if isinstance(form, JsonLines) and answer_field(_first_record(path)):
        return _of_lines(prompted_answers(path))
    if not isinstance(form, TableFormat):
        return _of_annotations(form.read(path, options))
    table = form.table(path, options)
    if _is(table.form, "batch"):
        results, failed = batch_answers(table, path.stem)
        named, about = by_voters_in_ids(results)
        return replace(_of_lines(named), failed=failed, notes=tuple(about))
    if _is(table.form, "samples"):
        return _of_lines(sample_answers(table, path))
    return _of_table(unfolded(table), path.stem, keys)


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) else None


def _is(form: Form | None, *names: str) -> bool:
    return form is not None and form.name in names


def _of_annotations(data: PartialLabelDataset) -> Answers:
    """The answers in data of any format."""
    people = data.annotations
    if people is None:
        return Answers((), 0)
    return Answers((_chunk_of(people),), len(data), data.row_ids.tolist(), people=people.annotator_names)


def _chunk_of(people: Annotations) -> Chunk:
    rows, cells = np.arange(len(people.rows)), list(people.class_names)
    chunk = Chunk("vote", people.rows, people.annotators, people.labels, cells, rows, column="label")
    return replace(chunk, weight=people.scores)


def _of_lines(lines: Sequence[Line], class_names: Sequence[str] = ()) -> Answers:
    """The answers of models, a line each, as `pll.formats.tools.models` has them.

    Of answers to several questions it is those to the one that the classes fit, else the most answered.
    """
    notes, asked = list[str](), Counter(line.question for line in lines)
    if len(asked) > 1:
        reader = AnswerReader(class_names)
        fits = Counter(line.question for line in lines if reader.class_of(line.vote))
        chosen = max(asked, key=lambda one: (fits[one], asked[one]))
        lines = [line for line in lines if line.question == chosen]
        others = listing(sorted(asked.keys() - {chosen}))
        notes.append(f"There are votes on several questions; read were those on {chosen}, not on {others}.")
    named = [pa.chunked_array([[line[k] for line in lines]], pa.string()) for k in range(3)]
    (example, ids), (who, people), (codes, cells) = map(codes_of, named)
    score = np.array([math.nan if line.score is None else line.score for line in lines], dtype=np.float64)
    whole = Chunk("vote", example, who, codes, cells, np.arange(len(lines)), column="label", weight=score)
    whole = replace(whole, are_attempts=any(line.attempt is not None for line in lines))
    is_number = np.array([line.number is not None for line in lines], dtype=np.bool_)
    parts = [replace(whole.only(is_number == number), are_numbers=number) for number in (False, True)]
    are_rows = all(line.row is not None for line in lines)
    return Answers(
        tuple(parts), len(ids), ids, people=tuple(people), are_rows=are_rows, are_free=True, notes=tuple(notes)
    )


_OTHERS = ("id", "score", "true_label", "split", "candidates", "image", "ignore", "feature", "vector")
"""Roles of columns that are nobody's answers in a file of votes; columns of words without another role are."""


def _planned(table: Records) -> tuple[list[Column], bool]:
    """The roles of columns, as for every table, and whether the answers may be what models wrote.

    In a file of votes where not two voters are told, nor one by a signature, all words without another role are a
    voter's; where there are none, one column of labels is the answers of the person that the file is of. A question
    gets its first answer: nobody can be asked about a file that stands beside the data.
    """
    columns, roles = table.plan(ReadOptions()), dict[str, str]()
    while (asked := question(columns)) is not None and not roles.items() >= asked.answers[0][1].items():
        roles |= asked.answers[0][1]
        columns = table.plan(ReadOptions(columns=roles))
    are_told = form_of(columns) != "example" or {"probability", "count", "answers"} & {one.role for one in columns}
    if are_told or sum(one.role == "annotator" for one in columns) > (table.form is None):
        return columns, False
    free = [one.name for one in columns if one.role not in _OTHERS]
    voters = [name for name in free if name.casefold() != "text" and not is_named_id(name)]
    labels = [column.name for column in columns if column.role in ("true_label", "candidates")]
    if not voters and len(labels) == 1 and labels[0].casefold() not in LABEL_COLUMNS:
        voters = labels
    if not voters:
        raise UserError(f"No column is a model's answers (columns: {listing(table.names)}).")
    return table.plan(ReadOptions(columns=dict.fromkeys(voters, "annotator"))), True


def _of_table(table: Records, stem: str, keys: Sequence[Key]) -> Answers:
    """The answers in columns, one a voter, or in lines, or in cells; or class probabilities."""
    columns, are_free = _planned(table)
    filled = list(zip(columns, table.cells(columns), strict=True))
    rows, counts = len(filled[0][1]), table.form.counts if table.form else ()
    about = [(column, cells) for column, cells in filled if column.role not in ("true_label", "candidates", "ignore")]
    answers = answers_in(about, rows, table.row_of, counts=counts).counted()
    answers = replace(answers, class_names=table.class_names)
    if answers.ids is None and form_of(columns) == "example":
        answers = replace(_with_ids(answers, filled, keys), are_free=are_free)
    if len(answers.people) == 1 and may_hold_labels(answers.people[0]):
        answers = replace(answers, people=(stem,))
    shares = answers.of("share")
    if not shares:
        return answers
    wide = np.stack([chunk.weight for chunk in shares if chunk.weight is not None], axis=1)
    return _of_shares(wide, [chunk.column for chunk in shares], shares[0].example, answers, stem)


def _with_ids(answers: Answers, filled: Sequence[Filled], keys: Sequence[Key]) -> Answers:
    """Return answers whose examples are called as the cells of a column: that of which most cells stand in the data.

    Where none does, it is the ids, else what is named so, and of several what tells most rows apart.
    """
    coded = [(column, *codes_of(pc.utf8_trim_whitespace(pc.fill_null(cells, "")))) for column, cells in filled]
    apart = [one for one in coded if 2 * len(one[2]) > len(one[1])]  # a column of few words names no example
    known = [one for one in apart if any(2 * len(_found(one[2], key)) >= len(one[2]) for key in keys)]
    named = known or [one for one in coded if one[0].role == "id"]
    named = named or [one for one in coded if is_named_id(one[0].name)]
    if not named:
        return answers
    _, example, ids = max(named, key=lambda one: len(one[2]))
    chunks = [replace(chunk, example=example[chunk.example]) for chunk in answers.chunks]
    return replace(answers, chunks=tuple(chunks), n=len(ids), ids=ids)


def _of_shares(
    shares: Floats, names: Sequence[str], example: Numbers, answers: Answers, voter: str, *, are_numbers: bool = False
) -> Answers:
    """The shares of each row as such, and its likeliest class as a vote; rows without any are no answers."""
    rows = np.flatnonzero(shares.any(axis=1))
    shares, example = shares[rows], example[rows]
    best = shares.argmax(axis=1)
    weight = shares.max(axis=1) / np.where(shares.max(axis=1) > 1, shares.sum(axis=1), 1.0)  # counts become shares
    vote = Chunk("vote", example, np.zeros(len(rows), dtype=np.int64), best, list(names), rows, column="label")
    vote = replace(vote, weight=weight, are_numbers=are_numbers)
    return replace(answers, chunks=(vote, *share_chunks(names, shares, example)), people=(voter,))


def _array_in(path: Path) -> npt.NDArray[Any]:
    with parsing("the array"):
        array: npt.NDArray[Any] = np.load(path, allow_pickle=False)
        return array


def _of_array(array: npt.NDArray[Any], stem: str) -> Answers:
    """The answers in an array of class probabilities; others are data with votes."""
    if array.ndim != 2:
        raise UserError(f"The array has the shape {array.shape}; class probabilities are numbers (examples, classes).")
    wrong = np.flatnonzero((np.isinf(array) | (array < 0)).any(axis=1))
    if len(wrong):
        raise RowError(f"Row {wrong[0]}: a probability is negative or infinite; write numbers from 0 to 1.")
    names, rows = list(map(str, range(array.shape[1]))), np.arange(len(array))
    empty, shares = Answers((), len(array)), np.nan_to_num(array.astype(np.float64))
    return _of_shares(shares, names, rows, empty, stem, are_numbers=True)


# ---- answers beside data ---------------------------------------------------------------------------------------------


def with_votes(
    data: PartialLabelDataset | None,
    files: Sequence[Answers],
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
    base = _bare(_ids_of(files), name) if data is None else data
    asked = notes_of(base.notes, "labels")  # here they are
    base = replace(base, notes=tuple(note for note in base.notes if note not in asked))
    named = {file.class_names for file in files}
    known = tuple(base.class_names) or classes or (named.pop() if len(named) == 1 else ())
    options = ReadOptions(class_names=known, answers=answers or {})
    people = None if base.annotations is None or base.annotations.anonymous else base.annotations
    rows, notes = _rows_of(files, base)
    if len(files) == 1 and people is None and files[0].of("share"):
        return _with_shares(base, files[0], rows[0], options, notes)
    labels = labels_of(_together(files, rows, people, len(base)), options, only_votes=True)
    if labels.annotations is None:
        raise UserError("No answer could be mapped to a class; name the classes.", shell="--classes a,b,c")
    votes, voters = labels.annotations, dict.fromkeys(name for file in files for name in file.people)
    notes = [*labels.notes, *notes, *_notes_on_ids(votes, voters, alone=data is None)]
    if votes.n_annotators == 1:
        notes.append(ONE_VOTER if base.contents else ONE_VOTER_ALONE)
    noted = replace(base, notes=(*base.notes, *notes))
    return noted.resolved_to(resolve(votes, SetRule("union")), votes)


def _together(files: Sequence[Answers], rows: Sequence[Numbers], people: Annotations | None, n: int) -> Answers:
    """The votes of all files on n examples, after those of the people in the data."""
    place: dict[str, int] = {}
    chunks = list[Chunk]()
    for file, row in zip(files, rows, strict=True):
        who = np.array([place.setdefault(name, len(place)) for name in file.people], dtype=np.int64)
        for chunk in file.of("vote"):
            joined = replace(chunk, example=row[chunk.example], who=who[chunk.who])
            chunks.append(joined.only(joined.example >= 0))
    voters = np.unique(np.concatenate([chunk.who for chunk in chunks]))  # those who answered an example of the data
    names = [name for name, k in place.items() if k in set(voters.tolist())]
    chunks = [replace(chunk, who=np.searchsorted(voters, chunk.who)) for chunk in chunks]
    if people is not None:
        own = _chunk_of(people)
        values = [{name: math.nan} for name in people.class_names]
        others = [replace(chunk, who=chunk.who + people.n_annotators) for chunk in chunks]
        chunks = [replace(own, values=values), *others]
        names = [*(f"{name} (data)" if name in names else name for name in people.annotator_names), *names]
    are_free, anonymous = any(file.are_free for file in files), all(file.anonymous for file in files) and people is None
    return Answers(tuple(chunks), n, people=tuple(names), anonymous=anonymous, are_free=are_free)


def _with_shares(
    data: PartialLabelDataset, file: Answers, rows: Numbers, options: ReadOptions, notes: Sequence[str]
) -> PartialLabelDataset:
    """Examples with sets and prior of one classifier's probabilities, as `prob_CLASS` columns of a table give them.

    Parameters
    ----------
    rows
        The example of each of the file, −1 for none.
    """
    vote, shares = file.of("vote")[0], file.of("share")
    listed = options.class_names or tuple(chunk.column for chunk in shares)
    reader = AnswerReader(listed, options.answers)
    if len(shares) > len(listed):
        raise UserError(f"There are {len(shares)} probabilities for each example but {len(listed)} classes.")
    own = listed if vote.are_numbers else [reader.class_of(chunk.column) or "" for chunk in shares]
    names = own[: len(shares)]
    wrong = [chunk.column for chunk, one in zip(shares, names, strict=True) if not one or names.count(one) > 1]
    if wrong:
        raise UserError(f"The probabilities are of {listing(wrong)}, but the classes are {listing(listed)}.")
    joined = rows[vote.example]
    matched, first = np.unique(joined[joined >= 0], return_index=True)
    if len(matched) < (joined >= 0).sum():
        raise UserError("An example has probabilities twice; give each id once.")
    wide = np.stack([chunk.weight for chunk in shares if chunk.weight is not None], axis=1)[joined >= 0][first]
    answers = Answers(tuple(share_chunks(names, wide, np.arange(len(matched)))), len(matched))
    examples, labels = data.take(matched), labels_of(answers, replace(options, class_names=reader.classes))
    notes = (*examples.notes, *notes, *labels.notes, ONE_CLASSIFIER)
    sets, prior = labels.candidates, labels.prior
    return replace(examples, candidates=sets, class_names=(), prior=prior, annotations=None, notes=notes)


# ---- ids -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Key:
    """What names the examples of data.

    Attributes
    ----------
    title
        What a note calls it.
    row
        The row of each name, in every way to write it.
    """

    title: str
    row: Mapping[str, int]


def _id_key(name: str) -> str:
    """An id as it compares with others: `7.0` (what tables make of numbers beside an empty cell) and `007` are `7`."""
    return re.sub(r"^([+-]?)0*(\d+)(?:\.0+)?$", r"\1\2", name.strip())


def _file_key(name: str) -> str:
    """A file's name as it compares with others: without its folder and what kind of file it is.

    Examples
    --------
    >>> _file_key("train/a_1.jpg"), _file_key("a_1"), _file_key("7.5")
    ('a_1', 'a_1', '7.5')
    """
    return re.sub(r"\.[A-Za-z]\w{1,4}$", "", re.split(r"[/\\]", name.strip())[-1])


_WAYS: tuple[Callable[[str], str], ...] = (str, _id_key, _file_key)
"""How a name is written: as it is, else in another way where no two names have the same."""


def _key(title: str, names: Sequence[str]) -> Key:
    row: dict[str, int] = {}
    for way in reversed(_WAYS):
        written = list(map(way, names))
        times = Counter(written)
        row |= {one: at for at, one in enumerate(written) if times[one] == 1}
    return Key(title, row)


def _keys_of(data: PartialLabelDataset) -> list[Key]:
    """What names the examples of data: their ids, and every column of words that tells all of them apart."""
    columns = {**({} if data.texts is None else {"the text": data.texts}), **data.extras}
    words = {name: list(cells) for name, cells in columns.items() if all(isinstance(one, str) for one in cells)}
    apart = [_key(name, cells) for name, cells in words.items() if len({*cells}) == len(cells)]
    return apart if data.ids is None else [_key("the id", data.ids.tolist()), *apart]


def _found(names: Sequence[str], key: Key) -> dict[str, int]:
    """The row of the data of each name that is there, written as it is, or else in another way."""
    rows = {name: next((key.row[one] for way in _WAYS if (one := way(name)) in key.row), UNKNOWN) for name in names}
    return {name: row for name, row in rows.items() if row >= 0}


def _rows_of(files: Sequence[Answers], data: PartialLabelDataset) -> tuple[list[Numbers], list[str]]:
    """The row of the data of each example of each file, −1 for none, and notes on what is joined otherwise or not.

    Raises
    ------
    UserError
        No file has an example of the data; or one has no ids, and not as many rows.
    """
    ids = data.row_ids.tolist()
    keys = [*([_key("the id", ids)] if data.ids is None else []), *_keys_of(data)]
    rows, by_row, foreign, notes = list[Numbers](), 0, 0, [note for file in files for note in file.notes]
    for file in files:
        names = _names_of(file)
        of_name, key = max(((_found(names, one), one) for one in keys), key=lambda found: len(found[0]))
        answered = np.concatenate([chunk.example for chunk in file.of("vote")])
        if data.ids is None and {"1", str(len(ids))} <= {*names} <= {*map(str, range(1, len(ids) + 1))}:
            of_name = {name: int(name) - 1 for name in names}  # counted from 1
            by_row += len(answered)
        elif (file.ids is None and len(of_name) < len(names)) or (file.are_rows and not of_name):
            if file.n != len(ids) and not file.are_rows:
                raise UserError(
                    f"{listing(file.people)}: {file.n:,} rows of votes, and no column that names the examples of the "
                    f"data, which has {len(ids):,} rows; add its ids ({listing(ids[:3])}) to the votes."
                )
            of_name = {name: int(name) for name in names if int(name) < len(ids)}
            by_row += sum(names[one] in of_name for one in answered.tolist())
        elif key.title != "the id":
            notes.append(f"The votes are joined with the data on {key.title}.")
        found = np.array([of_name.get(one, UNKNOWN) for one in names], dtype=np.int64)
        foreign += int((found[answered] < 0).sum())
        rows.append(found)
    if not any((found >= 0).any() for found in rows):
        first = list(dict.fromkeys(name for file in files for name in _names_of(file)[:3]))
        raise UserError(
            f"No id of the votes ({listing(first[:3])}) is among those of the data ({listing(ids[:3])}); they are "
            "joined on the id."
        )
    notes += [f"{by_row:,} votes are joined by row number."] if by_row else []
    lost = ((sum(file.failed for file in files), REQUESTS_FAILED), (foreign, FOREIGN))
    return rows, notes + [Note(f"{number:,} {end}", kind="lost") for number, end in lost if number]


def _ids_of(files: Sequence[Answers]) -> list[str]:
    """The examples that were answered, in order; ids of several files with the same key are one.

    Ids that one file uses both (`7` and `007`) are several.
    """
    apart, ids = set[str](), dict[str, str]()
    for file in files:
        apart |= {key for key, times in Counter(map(_id_key, _names_of(file))).items() if times > 1}
    for file in files:
        answered = np.unique(np.concatenate([chunk.example for chunk in file.of("vote")]))
        for name in np.array(_names_of(file), dtype=object)[answered]:
            key = _id_key(name)
            ids.setdefault(name if key in apart else key, name)
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
    about = f"Answered nothing that another voter answered: {listing(apart)}; check the ids."
    return [*notes, about] if apart else notes


def _bare(ids: Sequence[str], name: str) -> PartialLabelDataset:
    X = np.zeros((len(ids), 0), dtype=np.float32)
    return PartialLabelDataset(X=X, ids=np.array(ids, dtype=np.str_), name=name or "votes")


# ---- what a file is --------------------------------------------------------------------------------------------------


def kind_of(path: Path) -> str:
    """What a file is, by its first record or its columns, before it is read.

    Returns
    -------
    str
        `"votes"`: votes and nothing else; `"both"`: examples of a tool with votes of models and none of people;
        `"beside"`: such examples with votes of models beside answers of people; `""`: data, or nothing that is known.
    """
    suffix = path.suffix.lower()
    try:
        if suffix == ".npy":
            return VOTES_FORMAT
        form = detect(path) if suffix in (".csv", ".tsv") else None
        first = _first_record(path)
        names = text_of_file(path, form.delimiters).header.names if isinstance(form, Delimited) else list(first)
        if _is(form_told_by(names), "batch", "samples"):
            return VOTES_FORMAT
        is_answered = answer_field(first) and not asks_again(path)
        return "both" if is_answered else _of_tool(path, first)
    except (OSError, UserError, ValueError):
        return ""  # the error comes when the file is read


def roles_beside_answers(path: Path) -> dict[str, str]:
    """Return the explicit roles for a file of prompts and answers: the answers are no features."""
    field = answer_field(_first_record(path))
    return {field: "keep"} if field else {}


def _first_record(path: Path) -> Mapping[str, Any]:
    """The first object of a file of JSON objects; of any other file an empty one."""
    if path.suffix.lower() not in (".json", ".jsonl", ".ndjson"):
        return {}
    with path.open("rb") as file:
        return first_record(path, file.read(2**16)) or {}


def _of_tool(path: Path, first: Mapping[str, Any]) -> str:
    """`kind_of` for the records of an annotation tool."""
    form = form_called("labelstudio" if isinstance(first.get("data"), dict) else "argilla")
    if not isinstance(first.get("data", first.get("fields")), dict):
        return ""
    answers = ("annotations", "completions", "responses")
    people = any(record.get(name) for _, record in records(path) for name in answers)
    models = next(models_answers(path, form), None) is not None
    return ("beside" if people else "both") if models else ""

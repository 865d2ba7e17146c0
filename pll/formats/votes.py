"""Votes on examples from any number of files: joined on the id, answers mapped to classes.

A file of votes is read as any other (`pll.formats`): votes are the columns or lines of its table that are an
annotator's, answers of models (`pll.formats.tools.models`), JSON lines of a prompt and an answer, suggestions of
Argilla, predictions of Label Studio, or `prob_CLASS` columns; class probabilities may also be an .npy array (n, c).

The answer is the class that it is, but for case, spaces and punctuation around it; else the field of JSON in it; else
the classes that it names as whole words, one or several: a set. Answers that name none are counted
and listed, and can be mapped by hand. Classes that nobody listed are proposed: the short answers given at least twice,
else words of sentences.

Files without ids (arrays, tables without such a column, evaluation samples, which number their documents) are joined by
row number where their numbers are not the ids of the data.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pll.annotations import Annotations, Rule, resolve
from pll.candidates import sort_names
from pll.dataset import UNKNOWN, PartialLabelDataset
from pll.errors import UserError
from pll.formats import detect
from pll.formats.base import ReadOptions
from pll.formats.checks import listing, parsing, shorten
from pll.formats.classes import no_answers
from pll.formats.json_objects import first_record, records
from pll.formats.proposals import proposed_from_sentences
from pll.formats.tabular.answers import answer_of
from pll.formats.tabular.columns import LINES, SCORE_ENDS, is_named_id
from pll.formats.tabular.csv import Delimited, text_of_file
from pll.formats.tabular.format import TableFormat
from pll.formats.tabular.jsonl import JsonLines
from pll.formats.tabular.labels import sets_of_shares
from pll.formats.tabular.table import ArrowTable
from pll.formats.tools.argilla import Argilla
from pll.formats.tools.labelstudio import LabelStudio
from pll.formats.tools.models import (
    VoterAnswer,
    answer_field,
    are_batch_results,
    are_samples,
    batch_answers,
    prompted_answers,
    sample_answers,
)

THOUGHT = re.compile(r"^\s*<think(?:ing)?>.*?</think(?:ing)?>", re.I | re.S)
"""What a reasoning model writes before it answers: it names classes that are not its answer."""
WORD = re.compile(r"[^\s:;,|()\[\]{}\"!?*`=/<>]+")
SHORT = 60
"""Characters of an answer that may be a class where no classes are known."""
MARKS = " .,:;!?\"'`*()[]"
WORDS = 3
"""An answer of more words, or with other marks than those of names, is no class where it names one."""


FEW_CLASSES = "Fewer than two classes were found in the answers"
"""Start of the error where answers name none."""
VOTES = "votes"
"""What a source calls the format of files that hold votes and nothing else."""
LEAST_SHARE = 0.02
"""Minimum share of a voter's answers that map to a class; with fewer it is no voter but, say, a column of words."""


_ALONE = (
    "There is one voter: one voter's answers alone cannot be settled, and labels taken from them have the confidence 1 "
    "whatever they are worth. "
)
ONE_VOTER = f"{_ALONE}Make candidate sets of them out of fold (in the shell: --noisy topk:2), or bring another voter."
ONE_VOTER_ALONE = f"{_ALONE}Bring another voter, or check a sample (candid plan)."
ONE_CLASSIFIER = "The probabilities of one classifier: sets of the likeliest classes, with the probabilities as prior."


@dataclass(frozen=True)
class VoteFiles:
    """What files of votes hold.

    Attributes
    ----------
    answers
        In the order of the files.
    errors
        Number of requests that failed and have no answer.
    columns
        Of one file of class probabilities, the names of the classes, or their numbers; () for any other files.
    """

    answers: tuple[VoterAnswer, ...]
    errors: int = 0
    columns: tuple[str, ...] = ()


@dataclass(frozen=True)
class Mapped:
    """Votes over classes.

    Attributes
    ----------
    dataset
        The examples with their votes as annotations; candidates are the union.
    unmapped
        Answers that are no class, with their counts, the most frequent first.
    answers
        Answer → class, as it was mapped (by hand, or where the text was not the class word for word).
    others
        Number of answers whose id is not among the examples.
    errors
        Number of requests that failed and have no answer.
    mapped
        Number of answers that are votes now.
    """

    dataset: PartialLabelDataset
    unmapped: tuple[tuple[str, int], ...]
    answers: dict[str, str]
    others: int
    errors: int = 0
    mapped: int = 0


def read_votes(paths: Sequence[Path | str]) -> VoteFiles:
    """Read the answers in some files.

    Parameters
    ----------
    paths
        At least one.

    Raises
    ------
    UserError
        a file that is not there, damaged, or holds no votes; its name is given.
    """
    answers: list[VoterAnswer] = []
    files: list[VoteFiles] = []
    answered: dict[str, set[str]] = {}
    for place, path in enumerate(map(Path, paths)):
        if not path.is_file():
            raise UserError(f"There is no file {path}; check the path.")
        try:
            votes = _read(path)
        except UserError as error:
            raise error if path.name in str(error) else UserError(f"{path.name}: {error}") from error
        if not votes.answers:
            failed = f" ({votes.errors} requests failed)" if votes.errors else ""
            raise UserError(f"{path.name} holds no answers{failed}; give a file of votes.")
        files.append(votes)
        mine: dict[str, set[str]] = {}
        for answer in votes.answers:
            mine.setdefault(answer.voter, set()).add(answer.id)
        names = {voter: _voter_name(voter, ids, path.stem, answered) for voter, ids in mine.items()}
        for voter, ids in mine.items():
            answered.setdefault(names[voter], set()).update(ids)
        several = len({answer.question for answer in votes.answers}) > 1
        for one in votes.answers:
            question = (place, one.question[1]) if several and one.question else None
            answers.append(replace(one, voter=names[one.voter], question=question))
    columns = files[0].columns if len(files) == 1 else ()
    return VoteFiles(tuple(answers), sum(votes.errors for votes in files), columns)


def _voter_name(voter: str, ids: set[str], stem: str, answered: Mapping[str, set[str]]) -> str:
    """The name of a voter of another file: the same for other examples, a new one for examples answered already."""
    name, number = voter, 1
    while not ids.isdisjoint(answered.get(name, ())):
        name = f"{voter} ({stem})" if number == 1 else f"{voter} ({stem} {number})"
        number += 1
    return name


def _read(path: Path) -> VoteFiles:
    if path.suffix.lower() == ".npy":
        return _probability_array(path)
    form, options = detect(path), ReadOptions()
    if isinstance(form, LabelStudio | Argilla):
        return VoteFiles(tuple(form.models_answers(path)))
    if isinstance(form, JsonLines) and answer_field(_first_record(path)):
        return VoteFiles(tuple(prompted_answers(path)))
    if not isinstance(form, TableFormat):
        return VoteFiles(tuple(_of_annotations(form.read(path, options))))
    table = form.table(path, options)
    if are_batch_results(table.names):
        answers, errors = batch_answers(table, path.stem)
        return VoteFiles(tuple(answers), errors)
    if are_samples(table.names):
        return VoteFiles(tuple(sample_answers(table, path)))
    return _of_table(table, path.stem)


def _of_annotations(data: PartialLabelDataset) -> list[VoterAnswer]:
    """Return the annotators' labels in data of any format."""
    annotations, ids = data.annotations, data.row_ids.tolist()
    if annotations is None:
        return []
    scores = np.full(len(annotations.rows), math.nan) if annotations.scores is None else annotations.scores
    triples = zip(
        annotations.rows.tolist(),
        annotations.annotators.tolist(),
        annotations.labels.tolist(),
        scores.tolist(),
        strict=True,
    )
    return [
        VoterAnswer(ids[row], annotations.annotator_names[who], (data.class_names[label],), score)
        for row, who, label, score in triples
    ]


_NO_ANSWERS = ("id", "score", "true_label", "split", "candidates", "image", "ignore", "feature", "vector")
"""Roles of columns that are nobody's answers in a file of votes; columns of words without another role are."""


def _of_table(table: ArrowTable, stem: str) -> VoteFiles:
    """Return the answers in columns, one a voter, or in lines; the roles of columns are guessed as for every table."""
    columns = table.plan(ReadOptions())
    lines = zip(*table.lines(), strict=True)
    cells = {column: [cell or "" for cell in line] for column, line in zip(columns, lines, strict=True)}
    by_role = {column.role: column for column in reversed(columns)}
    # A name like those of ids will do, though some stand twice under it.
    named = by_role.get("id") or next((column for column in columns if is_named_id(column.name)), None)
    ids = None if named is None else [cell.strip() for cell in cells[named]]
    if "probability" in by_role:
        likely = [column for column in columns if column.role == "probability"]
        with parsing("the columns of probabilities", "they must be numbers"):
            shares = np.array([[float(cell or "nan") for cell in cells[column]] for column in likely]).T
        return _of_shares(shares, ids, [column.display_name for column in likely], stem)
    if "vote" in by_role:
        votes = zip(*(cells[by_role[role]] for role in LINES), strict=True)
        return VoteFiles(tuple(VoterAnswer(x.strip(), who.strip(), (text,)) for x, who, text in votes if text.strip()))
    voters = [
        column
        for column in columns
        if column.role == "annotator"
        or not (column.role in _NO_ANSWERS or column.name.casefold() == "text" or is_named_id(column.name))
    ]
    if not voters:
        raise UserError(f"No column is a model's answers (columns: {listing(table.names)}).")
    by_name = {column.name: column for column in columns}
    answers = []
    for voter in voters:
        scores = next((by_name[voter.name + end] for end in SCORE_ENDS if voter.name + end in by_name), None)
        for at, text in enumerate(cells[voter]):
            if text.strip():
                name, row = (str(at), at) if ids is None else (ids[at], -1)
                score = math.nan if scores is None else _number(cells[scores][at], table.row_of(at))
                answers.append(VoterAnswer(name, voter.display_name, (text,), score, row))
    return VoteFiles(tuple(answers))


def _number(text: str, row: int) -> float:
    try:
        return float(text) if text.strip() else math.nan
    except ValueError:
        raise UserError(f"Row {row}: the score {shorten(text)} is not a number.") from None


def _of_shares(
    shares: npt.NDArray[np.float64], ids: Sequence[str] | None, names: Sequence[str] | None, voter: str
) -> VoteFiles:
    """The likeliest class of each row of probabilities; rows without any are no answers."""
    wrong = np.flatnonzero((np.isinf(shares) | (shares < 0)).any(axis=1))
    if len(wrong):
        raise UserError(f"Row {wrong[0]}: a probability is negative or infinite; write numbers from 0 to 1.")
    columns = tuple(map(str, range(shares.shape[1]))) if names is None else tuple(names)
    answers = []
    for row, values in enumerate(shares):
        if np.isfinite(values).any():
            best = int(np.nanargmax(values))
            name, at = (str(row), row) if ids is None else (ids[row], -1)
            number = best if names is None else -1
            likely = tuple(np.nan_to_num(values).tolist())
            answers.append(VoterAnswer(name, voter, (columns[best],), float(values[best]), at, number, shares=likely))
    return VoteFiles(tuple(answers), 0, columns)


def _probability_array(path: Path) -> VoteFiles:
    with parsing("the array"):
        array = np.load(path, allow_pickle=False)
    if array.ndim != 2 or array.dtype.kind != "f":
        raise UserError(f"The array has the shape {array.shape}; class probabilities are numbers (examples, classes).")
    return _of_shares(array.astype(np.float64), None, None, path.stem)


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
            return VOTES
        form = detect(path) if suffix in (".csv", ".tsv") else None
        first = _first_record(path)
        names = text_of_file(path, form.delimiters).header.names if isinstance(form, Delimited) else list(first)
        if are_batch_results(names) or are_samples(names):
            return VOTES
        return "both" if answer_field(first) else _of_tool(path, first)
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
    form = LabelStudio() if isinstance(first.get("data"), dict) else Argilla()
    if not isinstance(first.get("data", first.get("fields")), dict):
        return ""
    people = any(
        record.get(name) for _, record in records(path) for name in ("annotations", "completions", "responses")
    )
    models = next(iter(form.models_answers(path)), None) is not None
    return ("beside" if people else "both") if models else ""


# ---- answers and classes ---------------------------------------------------------------------------------------------


def classes_in(text: str, classes: tuple[str, ...]) -> tuple[str, ...]:
    """Return the classes that an answer names; none where it names none.

    A class of one letter is one only as it is written, and a class within the name of another is that other.

    Examples
    --------
    >>> answers = (" Dog.", '{"label": "cat"}', "I think it is a dog.", "a cat or a dog", "a bird", "doggy")
    >>> [classes_in(text, ("cat", "dog")) for text in answers]
    [('dog',), ('cat',), ('dog',), ('cat', 'dog'), (), ()]
    >>> classes_in("a cat-like one, class A", ("cat", "cat-like", "A"))
    ('cat-like', 'A')
    """
    if text in classes:
        return (text,)
    plain = _plain_classes(classes)
    stated = [_plain(one) for one in _stated(text)]
    if stated and all(one in plain for one in stated):
        return tuple(dict.fromkeys(plain[one] for one in stated))
    words = [word.strip(MARKS) for word in WORD.findall(unicodedata.normalize("NFKC", THOUGHT.sub("", text)))]
    longest = max((len(name.split()) for name in plain), default=0)
    names: set[str] = set()
    at = 0
    while at < len(words):
        for count in range(min(longest, len(words) - at), 0, -1):
            some = " ".join(words[at : at + count])
            name = some if some in classes else plain.get(_plain(some), "")
            if name and (len(name) > 1 or name == some):
                names.add(name)
                at += count - 1
                break
        at += 1
    return tuple(name for name in classes if name in names)


def _stated(text: str) -> tuple[str, ...]:
    """What an answer says its class is: the field of JSON in it, else itself.

    >>> _stated('Sure! {"label": "cat"}'), _stated(" Dog."), _stated('{"labels": ["cat", "dog"]}')
    (('cat',), ('Dog.',), ('cat', 'dog'))
    """
    bare = THOUGHT.sub("", text).strip()
    objects = re.findall(r"\{[^{}]*\}", bare)
    answer = answer_of(objects[0]) if len(objects) == 1 else None
    return (bare,) if answer is None or not answer[0] else answer[0]


@lru_cache(maxsize=8)
def _plain_classes(classes: tuple[str, ...]) -> dict[str, str]:
    """Plain form → class; forms that two classes share tell neither."""
    shared = Counter(_plain(name) for name in classes)
    return {_plain(name): name for name in classes if shared[_plain(name)] == 1}


def _plain(text: str) -> str:
    folded = unicodedata.normalize("NFKC", text).casefold().replace("_", " ")
    return " ".join(folded.split()).strip(MARKS)


def proposed_classes(answers: Sequence[VoterAnswer]) -> tuple[str, ...]:
    """The short answers given at least twice, each in its most frequent spelling, without sentences about others.

    Where several voters answered, at least two of them must have given it: refusals differ between voters. Where most
    answers are sentences, the words in which these differ (`pll.formats.proposals`).
    """
    texts = [text.strip() for answer in answers for text in answer.texts]
    if sum(len(text.split()) > WORDS and text[-1] in ".!?" for text in texts) > len(texts) / 2:
        return proposed_from_sentences(texts)
    voters: dict[str, set[str]] = {}
    spellings: dict[str, Counter[str]] = {}
    for answer in answers:
        for text in answer.texts:
            for one in _stated(text):
                voters.setdefault(_plain(one), set()).add(answer.voter)
                spellings.setdefault(_plain(one), Counter())[one] += 1
    least = min(2, len({answer.voter for answer in answers}))
    names = [
        counts.most_common(1)[0][0].strip(MARKS)
        for plain, counts in spellings.items()
        if 0 < len(plain) <= SHORT and len(voters[plain]) >= least and counts.total() >= 2
    ]
    short = tuple(name for name in names if len(name.split()) <= WORDS and re.fullmatch(r"[\w\s'’+#-]+", name))
    names = [name for name in names if name in short or not classes_in(name, short)]
    ignored = no_answers(names)
    return sort_names(name for name in names if name not in ignored)


def _of_one_question(answers: Sequence[VoterAnswer], class_names: Sequence[str]) -> tuple[list[VoterAnswer], list[str]]:
    """Of answers to several questions those to the one that the classes fit, else the most answered, with a note."""
    names = {_plain(name) for name in class_names}
    about = [(answer.question, answer.text) for answer in answers if answer.question is not None]
    counts = Counter(question for question, _ in about)
    fits = Counter(question for question, text in about if _plain(text) in names)
    chosen: dict[int, str] = {}
    for place, question in sorted(counts, key=lambda one: (fits[one], counts[one]), reverse=True):
        chosen.setdefault(place, question)
    left = {question for place, question in counts if chosen[place] != question}
    selected = [one for one in answers if one.question is None or chosen[one.question[0]] == one.question[1]]
    if not left:
        return selected, []
    read, others = listing(sorted(set(chosen.values()))), listing(sorted(left))
    return selected, [f"There are votes on several questions; read were those on {read}, not on {others}."]


def with_votes(
    data: PartialLabelDataset | None,
    votes: VoteFiles,
    *,
    answers: Mapping[str, str] | None = None,
    classes: tuple[str, ...] = (),
    name: str = "",
) -> Mapped:
    """Examples with the votes of some files, joined on the id.

    Parameters
    ----------
    data
        The examples; None where the votes are all there is.
    votes
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
    by_hand = {_plain(text): to for text, to in (answers or {}).items()}
    stated = () if data is None else data.class_names
    given, notes = _of_one_question(votes.answers, stated)
    classes = tuple(stated) or classes or votes.columns
    if not classes:
        classes = proposed_classes([answer for answer in given if _plain(answer.text) not in by_hand])
    same = _plain_classes(classes)  # `fox` where the answers spell it FOX is no class of its own
    by_hand = {text: to if to in classes else same.get(_plain(to), to) for text, to in by_hand.items()}
    classes += tuple(dict.fromkeys(to for to in by_hand.values() if to and to not in classes))
    if len(classes) < 2:
        raise UserError(
            f"{FEW_CLASSES}; name them (--classes a,b,c), bring data that names "
            "them, or map answers (--answer FROM=CLASS)."
        )
    ids = _ids_of(given) if data is None else data.row_ids.tolist()
    rows, by_row = _rows_of(given, ids)
    if not any(row >= 0 for row in rows):
        raise UserError(
            f"No id of the votes ({listing([a.id for a in given[:3]])}) is among those of the data "
            f"({listing(ids[:3])}); they are joined on the id."
        )
    if by_row:
        notes.append(f"{by_row:,} votes have no id and are joined by row number.")
    voters = list(dict.fromkeys(answer.voter for answer in given))
    meanings: dict[tuple[str, int], tuple[str, ...]] = {}
    unmapped: Counter[str] = Counter()
    mapped: list[tuple[int, str, tuple[str, ...], float]] = []
    for row, answer in zip(rows, given, strict=True):
        named: Counter[tuple[str, ...]] = Counter()
        for text in answer.texts if row >= 0 else ():
            key = (text, answer.number)
            if key not in meanings:
                meanings[key] = _meant(text, answer.number, by_hand, classes)
            if meanings[key]:
                named[meanings[key]] += 1
            elif text:
                unmapped[text] += 1
        if named:
            meant, times = named.most_common(1)[0]
            score = times / len(answer.texts) if len(answer.texts) > 1 else answer.score
            mapped.append((row, answer.voter, meant, score))
    if not mapped:
        raise UserError(f"No answer could be mapped to a class (first: {shorten(given[0].text)}).")
    whole = {*same, *by_hand}
    read = {text: meant for (text, _), meant in meanings.items() if meant and _plain(text) not in whole}
    if read:
        examples = "; ".join(f"{shorten(text, 40)}: {', '.join(names)}" for text, names in list(read.items())[:3])
        notes.append(f"{len(read):,} different answers are JSON or name classes among other words ({examples}).")
    annotations = _annotations(mapped, voters, ids, classes)
    notes += _notes_on_ids(annotations, alone=data is None)
    n_answers = Counter(answer.voter for answer in given)
    counts = Counter(voter for _, voter, _, _ in mapped)
    silent = [voter for voter in voters if counts[voter] < LEAST_SHARE * n_answers[voter]]
    if silent:
        notes.append(f"Left out, since hardly an answer is a class: {listing(silent)}.")
        voters = [voter for voter in voters if voter not in silent]
        annotations = _annotations([one for one in mapped if one[1] not in silent], voters, ids, classes)
    base = data if data is not None else _bare(ids, name)
    people = None if base.annotations is None or base.annotations.anonymous else base.annotations
    if votes.columns and len(voters) == 1 and people is None:
        dataset = _with_shares(base, given, rows, votes.columns, classes, notes)
    else:
        annotations = annotations if people is None else _beside(people, annotations)
        if annotations.n_annotators == 1:
            notes.append(ONE_VOTER if base.contents else ONE_VOTER_ALONE)
        noted = replace(base, notes=(*base.notes, *notes))
        dataset = noted.resolved_to(resolve(annotations, Rule("union")), annotations)
    kinds = {text: " | ".join(labels) for (text, _), labels in meanings.items() if labels and labels != (text,)}
    others = sum(row < 0 for row in rows)
    return Mapped(dataset, tuple(unmapped.most_common()), kinds, others, votes.errors, len(mapped))


def _annotations(
    mapped: Sequence[tuple[int, str, tuple[str, ...], float]],
    voters: Sequence[str],
    ids: Sequence[str],
    classes: tuple[str, ...],
) -> Annotations:
    """Annotations of (row, voter, classes, score) each."""
    number, column = {one: k for k, one in enumerate(classes)}, {one: k for k, one in enumerate(voters)}
    triples = [(row, column[voter], number[label]) for row, voter, meant, _ in mapped for label in meant]
    rows, who, labels = np.array(triples, dtype=np.int64).reshape(-1, 3).T
    scores = np.array([score for _, _, meant, score in mapped for _ in meant])
    given = scores if np.isfinite(scores).any() else None
    return Annotations(rows, who, labels, len(ids), classes, tuple(voters), np.array(ids, dtype=np.str_), scores=given)


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
    data: PartialLabelDataset,
    answers: Sequence[VoterAnswer],
    rows: Sequence[int],
    columns: tuple[str, ...],
    classes: tuple[str, ...],
    notes: Sequence[str],
) -> PartialLabelDataset:
    """Examples with sets and prior of one classifier's probabilities, as `prob_CLASS` columns of a table give them."""
    plain = _plain_classes(classes)
    named = [name if name in classes else plain.get(_plain(name), "") for name in columns]
    if answers[0].number >= 0:  # an array, whose columns are numbers of classes
        named = list(classes[: len(columns)])
    wrong = [name for name, one in zip(columns, named, strict=False) if not one or named.count(one) > 1]
    if wrong:
        raise UserError(f"The probabilities are of {listing(wrong)}, but the classes are {listing(classes)}.")
    if len(columns) > len(classes):
        raise UserError(f"There are {len(columns)} probabilities for each example but {len(classes)} classes.")
    shares = {
        row: answer.shares for row, answer in sorted(zip(rows, answers, strict=True), key=itemgetter(0)) if row >= 0
    }
    if len(shares) < sum(row >= 0 for row in rows):
        raise UserError("An example has probabilities twice; give each id once.")
    wide = np.zeros((len(shares), len(classes)))
    places = [classes.index(name) for name in named]
    wide[:, places] = list(shares.values())
    sets, prior = sets_of_shares(wide, classes, places)
    matched = data.take(np.array(list(shares), dtype=np.int64))
    notes = (*matched.notes, *notes, ONE_CLASSIFIER)
    return replace(matched, candidates=sets, class_names=(), prior=prior, annotations=None, notes=notes)


def _meant(text: str, number: int, by_hand: Mapping[str, str], classes: tuple[str, ...]) -> tuple[str, ...]:
    """The classes of an answer: as mapped by hand, by its number, or as it names them."""
    target = by_hand.get(_plain(text))
    if target is not None:
        return (target,) if target else ()
    return (classes[number],) if 0 <= number < len(classes) else classes_in(text, classes)


# ---- ids -------------------------------------------------------------------------------------------------------------


def _id_key(name: str) -> str:
    """An id as it compares with others: `7.0` (what tables make of numbers beside an empty cell) and `007` are `7`."""
    return re.sub(r"^([+-]?)0*(\d+)(?:\.0+)?$", r"\1\2", name.strip())


def _rows_of(answers: Sequence[VoterAnswer], ids: Sequence[str]) -> tuple[list[int], int]:
    """The example of each answer, −1 where it is none of them; and how many were found by row number alone.

    Every id is itself, and its key (`_id_key`) where no two ids have the same.
    """
    keys = [_id_key(one) for one in ids]
    counts = Counter(keys)
    place = {one: row for row, one in enumerate(keys) if counts[one] == 1} | {one: row for row, one in enumerate(ids)}
    rows = [place.get(answer.id, place.get(_id_key(answer.id), UNKNOWN)) for answer in answers]
    joined = {answer.voter for row, answer in zip(rows, answers, strict=True) if row >= 0}
    by_row = [
        at for at, one in enumerate(answers) if rows[at] < 0 and one.voter not in joined and 0 <= one.row < len(ids)
    ]
    for at in by_row:
        rows[at] = answers[at].row
    return rows, len(by_row)


def _ids_of(answers: Sequence[VoterAnswer]) -> list[str]:
    """The examples that were answered, in order; ids of several files with the same key are one.

    Ids that one voter uses both (`7` and `007`) are several.
    """
    spelled: dict[tuple[str, str], str] = {}
    apart = set()
    for answer in answers:
        key = _id_key(answer.id)
        if spelled.setdefault((answer.voter, key), answer.id) != answer.id:
            apart.add(key)
    ids: dict[str, str] = {}
    for answer in answers:
        key = _id_key(answer.id)
        ids.setdefault(answer.id if key in apart else key, answer.id)
    return list(ids.values())


def _notes_on_ids(votes: Annotations, *, alone: bool) -> list[str]:
    """Notes about which voters answered which examples."""
    notes = []
    rows, who = votes.rows[votes.answer_starts], votes.annotators[votes.answer_starts]
    if twice := len(votes.rows) - len(rows):
        notes.append(f"{twice:,} times a voter gave an example a further label; together they are one answer.")
    counts = np.bincount(who, minlength=votes.n_annotators)
    in_common = np.bincount(who, votes.answers_per_row[rows] > 1, minlength=votes.n_annotators)
    if alone and votes.n_annotators == 1:
        return notes
    if alone and not in_common.any():
        return [*notes, "No example has two answers: check that the files have the same ids."]
    apart = [
        name
        for k, name in enumerate(votes.annotator_names)
        if (counts[k] and not in_common[k] if alone else not counts[k])
    ]
    if apart and alone:
        notes.append(f"Answered nothing that another voter answered: {listing(apart)}; check the ids.")
    elif apart:
        notes.append(f"Without a vote on these examples: {listing(apart)}; check the ids and the answers.")
    return notes


def _bare(ids: Sequence[str], name: str) -> PartialLabelDataset:
    X = np.zeros((len(ids), 0), dtype=np.float32)
    return PartialLabelDataset(X=X, ids=np.array(ids, dtype=np.str_), name=name or "votes")

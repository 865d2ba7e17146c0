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
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pll.annotations import Annotations, Rule, resolve
from pll.candidates import sort_names
from pll.dataset import PartialLabelDataset
from pll.errors import UserError
from pll.formats import detect
from pll.formats.base import ReadOptions
from pll.formats.checks import listing, parsing, shorten
from pll.formats.classes import no_answers
from pll.formats.json_objects import first_record, records
from pll.formats.proposals import proposed_from_sentences
from pll.formats.tabular.answers import answer_of
from pll.formats.tabular.columns import LINES, SCORE_ENDS, Column, is_named_id
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


ONE_VOTER = (
    "There is one voter: one voter's answers alone cannot be settled, and labels taken from them have the confidence 1 "
    "whatever they are worth. Make candidate sets of them out of fold (in the shell: --noisy topk:2), or bring another "
    "voter."
)
ONE_VOTER_ALONE = (
    "There is one voter: one voter's answers alone cannot be settled, and labels taken from them have the confidence 1 "
    "whatever they are worth. Bring another voter, or check a sample (candid plan)."
)
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
    shares
        Of a file of class probabilities, those of each answer; () where the files hold anything else too.
    columns
        Names of their classes; None where they have none (arrays).
    """

    answers: tuple[VoterAnswer, ...]
    errors: int = 0
    shares: tuple[tuple[float, ...], ...] = ()
    columns: tuple[str, ...] | None = None


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
    errors = 0
    votes = VoteFiles(())
    answered: dict[str, set[str]] = {}
    for place, name in enumerate(paths):
        path = Path(name)
        if not path.is_file():
            raise UserError(f"There is no file {name}; check the path.")
        try:
            votes = _read(path)
        except UserError as error:
            raise error if path.name in str(error) else UserError(f"{path.name}: {error}") from error
        if not votes.answers:
            failed = f" ({votes.errors} requests failed)" if votes.errors else ""
            raise UserError(f"{path.name} holds no answers{failed}; give a file of votes.")
        mine: dict[str, set[str]] = {}
        for answer in votes.answers:
            mine.setdefault(answer.voter, set()).add(answer.id)
        names = {voter: _voter_name(voter, ids, path.stem, answered) for voter, ids in mine.items()}
        for voter, ids in mine.items():
            answered.setdefault(names[voter], set()).update(ids)
        several = len({answer.question for answer in votes.answers}) > 1
        answers += [
            replace(
                answer,
                voter=names[answer.voter],
                question=(place, answer.question[1]) if several and answer.question else None,
            )
            for answer in votes.answers
        ]
        errors += votes.errors
    alone = votes if len(paths) == 1 else VoteFiles(())
    return VoteFiles(tuple(answers), errors, alone.shares, alone.columns)


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
    if isinstance(form, JsonLines) and answer_field(next((record for _, record in records(path)), {})):
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


def _of_table(table: ArrowTable, stem: str) -> VoteFiles:
    """Return the answers in columns, one a voter, or in lines; the roles of columns are guessed as for every table.

    In a file of votes, columns of words without another role are answers.
    """
    columns = table.plan(ReadOptions())
    cells = [[cell or "" for cell in column] for column in zip(*table.lines(), strict=True)]
    by_role: dict[str, list[Column]] = {}
    for column in columns:
        by_role.setdefault(column.role, []).append(column)
    # A name like those of ids will do, though some stand twice under it.
    named = (*by_role.get("id", ()), *(column for column in columns if is_named_id(column.name)))
    ids = next(([cell.strip() for cell in cells[column.at]] for column in named), None)
    if shares := by_role.get("probability", []):
        with parsing("the columns of probabilities", "they must be numbers"):
            amounts = np.array([[float(cell or "nan") for cell in cells[column.at]] for column in shares]).T
        return _of_shares(amounts, ids, [column.display_name for column in shares], stem)
    if "vote" in by_role:
        task, worker, vote = (cells[by_role[role][0].at] for role in LINES)
        lines = zip(task, worker, vote, strict=True)
        return VoteFiles(tuple(VoterAnswer(x.strip(), who.strip(), (text,)) for x, who, text in lines if text.strip()))
    no_voters = ("id", "score", "true_label", "split", "candidates", "image", "ignore", "feature", "vector")
    voters = [column for column in columns if column.role not in no_voters and column.name.casefold() != "text"]
    voters = [column for column in voters if not is_named_id(column.name) or column.role == "annotator"]
    if not voters:
        raise UserError(f"No column is a model's answers (columns: {listing(table.names)}).")
    place = {column.name: column.at for column in columns}
    answers = []
    for voter in voters:
        scores = next((cells[place[name]] for end in SCORE_ENDS if (name := voter.name + end) in place), None)
        for at, text in enumerate(cells[voter.at]):
            if text.strip():
                name, row = (str(at), at) if ids is None else (ids[at], -1)
                score = math.nan if scores is None else _number(scores[at], table.row_of(at))
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
    if np.isinf(shares).any() or (shares < 0).any():
        row = int(np.flatnonzero((np.isinf(shares) | (shares < 0)).any(axis=1))[0])
        raise UserError(f"Row {row}: a probability is negative or infinite; write numbers from 0 to 1.")
    answers, rows = [], []
    for row, values in enumerate(shares):
        if np.isfinite(values).any():
            best = int(np.nanargmax(values))
            name, number = (str(row), row) if ids is None else (ids[row], -1)
            text, place = (str(best), best) if names is None else (names[best], -1)
            answers.append(VoterAnswer(name, voter, (text,), float(values[best]), number, place))
            rows.append(tuple(np.nan_to_num(values).tolist()))
    return VoteFiles(tuple(answers), 0, tuple(rows), None if names is None else tuple(names))


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
        if suffix in (".csv", ".tsv"):
            form = detect(path)
            return (
                VOTES
                if isinstance(form, Delimited) and _of_models(text_of_file(path, form.delimiters).header.names)
                else ""
            )
        if suffix not in (".json", ".jsonl", ".ndjson"):
            return ""
        with path.open("rb") as file:
            first = first_record(path, file.read(2**16))
        if first is None:
            return ""
        if _of_models(list(first)):
            return VOTES
        return "both" if answer_field(first) else _of_tool(path, first)
    except (OSError, UserError, ValueError):
        return ""  # the error comes when the file is read


def _of_models(names: Sequence[str]) -> bool:
    return are_batch_results(names) or are_samples(names)


def roles_beside_answers(path: Path) -> dict[str, str]:
    """Return the explicit roles for a file of prompts and answers: the answers are no features."""
    if path.suffix.lower() not in (".json", ".jsonl", ".ndjson"):
        return {}
    with path.open("rb") as file:
        first = first_record(path, file.read(2**16))
    field = "" if first is None else answer_field(first)
    return {field: "keep"} if field else {}


def _of_tool(path: Path, first: Mapping[str, Any]) -> str:
    """`kind_of` for the records of an annotation tool."""
    form = LabelStudio() if isinstance(first.get("data"), dict) else Argilla()
    if not isinstance(first.get("data", first.get("fields")), dict):
        return ""
    try:
        people = any(form.is_answered(record) for _, record in records(path))
        models = next(iter(form.models_answers(path)), None) is not None
    except UserError:
        return ""  # the error comes when the file is read
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
    """Of a file with answers to several questions, those to the one that the classes fit, else the most answered.

    Returns
    -------
    tuple[list[VoterAnswer], list[str]]
        The answers, and a note about the others.
    """
    names = {_plain(name) for name in class_names}
    counts: Counter[tuple[int, str]] = Counter()
    fits: Counter[tuple[int, str]] = Counter()
    for answer in answers:
        if answer.question is not None:
            counts[answer.question] += 1
            fits[answer.question] += _plain(answer.text) in names
    chosen: dict[int, str] = {}
    for place, question in sorted(counts, key=lambda one: (fits[one], counts[one]), reverse=True):
        chosen.setdefault(place, question)
    left = {question for place, question in counts if chosen[place] != question}
    selected = [one for one in answers if one.question is None or chosen[one.question[0]] == one.question[1]]
    if not left:
        return selected, []
    read = listing(sorted(set(chosen.values())))
    return selected, [
        f"There are votes on several questions; read were those on {read}, not on {listing(sorted(left))}."
    ]


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
    by_hand = {_plain(text): target for text, target in (answers or {}).items()}
    class_names = () if data is None else data.class_names
    of_one, about_questions = _of_one_question(votes.answers, class_names)
    votes = replace(votes, answers=tuple(of_one))
    columns_of_shares = votes.columns or ()  # all classes, also those that are never the likeliest
    if votes.shares and not columns_of_shares:
        columns_of_shares = tuple(map(str, range(len(votes.shares[0]))))
    classes = tuple(class_names) or classes or columns_of_shares
    if not classes:
        classes = proposed_classes([answer for answer in votes.answers if _plain(answer.text) not in by_hand])
    same = _plain_classes(classes)  # `fox` where the answers spell it FOX is no class of its own
    by_hand = {text: to if to in classes else same.get(_plain(to), to) for text, to in by_hand.items()}
    classes += tuple(dict.fromkeys(target for target in by_hand.values() if target and target not in classes))
    if len(classes) < 2:
        raise UserError(
            f"{FEW_CLASSES}; name them (--classes a,b,c), bring data that names "
            "them, or map answers (--answer FROM=CLASS)."
        )
    ids = _ids_of(votes.answers) if data is None else data.row_ids.tolist()
    place = _places(ids)
    joined = {a.voter for a in votes.answers if _id_key(a.id) in place}
    voters = list(dict.fromkeys(a.voter for a in votes.answers))
    number, column = {one: k for k, one in enumerate(classes)}, {one: k for k, one in enumerate(voters)}
    mapped: dict[tuple[str, int], tuple[str, ...]] = {}
    unmapped: Counter[str] = Counter()
    quads: list[tuple[int, int, int, float]] = []
    source: list[int] = []
    others = by_row = counted = 0
    for at, answer in enumerate(votes.answers):
        row = place.get(answer.id, place.get(_id_key(answer.id)))
        if row is None and answer.voter not in joined and 0 <= answer.row < len(ids):
            row = answer.row
            by_row += 1
        if row is None:
            others += 1
            continue
        named: Counter[tuple[str, ...]] = Counter()
        for text in answer.texts:
            key = (text, answer.number)
            if key not in mapped:
                mapped[key] = _meant(text, answer.number, by_hand, classes)
            named[mapped[key]] += 1
            if not mapped[key] and text:
                unmapped[text] += 1
        del named[()]
        if named:
            (meant, times), counted = named.most_common(1)[0], counted + 1
            score = times / len(answer.texts) if len(answer.texts) > 1 else answer.score
            quads += [(row, column[answer.voter], number[label], score) for label in meant]
            source.append(at)
    if others == len(votes.answers):
        raise UserError(
            f"No id of the votes ({listing([a.id for a in votes.answers[:3]])}) is among those of the data "
            f"({listing(ids[:3])}); they are joined on the id."
        )
    if not quads:
        raise UserError(f"No answer could be mapped to a class (first: {shorten(votes.answers[0].text)}).")
    rows, who, labels, scores = (np.array(part) for part in zip(*quads, strict=True))
    notes = [*about_questions, *([f"{by_row:,} votes have no id and are joined by row number."] if by_row else [])]
    whole = {*same, *by_hand}
    read = {text: meant for (text, _), meant in mapped.items() if meant and _plain(text) not in whole}
    if read:
        examples = "; ".join(f"{shorten(text, 40)}: {', '.join(names)}" for text, names in list(read.items())[:3])
        notes.append(f"{len(read):,} different answers are JSON or name classes among other words ({examples}).")
    notes += _notes_on_ids(rows, who, labels, voters, alone=data is None)
    counts = np.bincount(who, minlength=len(voters))
    n_answers = Counter(answer.voter for answer in votes.answers)
    silent = [name for name, count in zip(voters, counts, strict=True) if count < LEAST_SHARE * n_answers[name]]
    if silent:
        notes.append(f"Left out, since hardly an answer is a class: {listing(silent)}.")
    left = np.array([k for k, name in enumerate(voters) if name not in silent], dtype=np.int64)
    heard = np.isin(who, left)
    rows, labels, scores = rows[heard], labels[heard], scores[heard]
    who = np.searchsorted(left, who[heard])
    names = [voters[k] for k in left]
    people = None if data is None or data.annotations is None or data.annotations.anonymous else data.annotations
    if people is not None:  # votes of models in addition to those of people
        others_named = [name if name not in names else f"{name} (data)" for name in people.annotator_names]
        rows, labels = np.concatenate([people.rows, rows]), np.concatenate([people.labels, labels])
        who = np.concatenate([people.annotators, who + len(others_named)])
        theirs = np.full(len(people.rows), math.nan) if people.scores is None else people.scores
        names, scores = [*others_named, *names], np.concatenate([theirs, scores])
    annotations = Annotations(
        rows,
        who,
        labels,
        len(ids),
        classes,
        tuple(names),
        np.array(ids, dtype=np.str_),
        scores=scores if np.isfinite(scores).any() else None,
    )
    kinds = {text: " | ".join(labels) for (text, _), labels in mapped.items() if labels and labels != (text,)}
    base = data if data is not None else _bare(ids, name)
    if len(names) == 1 and votes.shares:
        at_rows = np.array([row for row, *_ in quads], dtype=np.int64)
        dataset = _with_shares(base, votes, np.array(source), at_rows, classes, notes)
        return Mapped(dataset, tuple(unmapped.most_common()), kinds, others, votes.errors, counted)
    if len(names) == 1 and not annotations.anonymous:
        notes.append(ONE_VOTER if base.contents else ONE_VOTER_ALONE)
    dataset = replace(base, notes=(*base.notes, *notes)).resolved_to(resolve(annotations, Rule("union")), annotations)
    return Mapped(dataset, tuple(unmapped.most_common()), kinds, others, votes.errors, counted)


def _with_shares(
    data: PartialLabelDataset,
    votes: VoteFiles,
    source: npt.NDArray[np.int64],
    rows: npt.NDArray[np.int64],
    classes: tuple[str, ...],
    notes: Sequence[str],
) -> PartialLabelDataset:
    """Examples with sets and prior of one classifier's probabilities, as `prob_CLASS` columns of a table give them.

    Raises
    ------
    UserError
        a column that is no class, an example that stands twice, or no probability above 0.
    """
    columns = votes.columns or classes
    plain = _plain_classes(classes)
    named = [name if name in classes else plain.get(_plain(name), "") for name in columns]
    wrong = [name for name, one in zip(columns, named, strict=True) if not one or named.count(one) > 1]
    if wrong:
        raise UserError(f"The probabilities are of {listing(wrong)}, but the classes are {listing(classes)}.")
    if len(columns) > len(classes):
        raise UserError(f"There are {len(columns)} probabilities for each example but {len(classes)} classes.")
    if len(np.unique(rows)) < len(rows):
        raise UserError("An example has probabilities twice; give each id once.")
    order = np.argsort(rows)
    shares = np.array(votes.shares, dtype=np.float64)[source[order]]
    wide = np.zeros((len(rows), len(classes)))
    places = [classes.index(name) for name in named]
    wide[:, places] = shares
    sets, prior = sets_of_shares(wide, classes, places)
    matched = data.take(rows[order])
    return replace(
        matched,
        candidates=sets,
        class_names=(),
        prior=prior,
        annotations=None,
        notes=(*matched.notes, *notes, ONE_CLASSIFIER),
    )


def _meant(text: str, number: int, by_hand: Mapping[str, str], classes: tuple[str, ...]) -> tuple[str, ...]:
    """The classes of an answer: as mapped by hand, by its number, or as it names them."""
    target = by_hand.get(_plain(text))
    if target is not None:
        return (target,) if target else ()
    return (classes[number],) if 0 <= number < len(classes) else classes_in(text, classes)


def _id_key(name: str) -> str:
    """An id as it compares with others: `7.0` (what tables make of numbers beside an empty cell) and `007` are `7`."""
    return re.sub(r"^([+-]?)0*(\d+)(?:\.0+)?$", r"\1\2", name.strip())


def _places(ids: Sequence[str]) -> dict[str, int]:
    """Id → row: every id as it is, and its key (`_id_key`) where no two ids have the same."""
    keys = [_id_key(one) for one in ids]
    counts = Counter(keys)
    unique = {one: row for row, one in enumerate(keys) if counts[one] == 1}
    return unique | {one: row for row, one in enumerate(ids)}


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


def _notes_on_ids(
    rows: npt.NDArray[np.int64],
    who: npt.NDArray[np.int64],
    labels: npt.NDArray[np.int64],
    voters: Sequence[str],
    *,
    alone: bool,
) -> list[str]:
    """Notes about which voters answered which examples."""
    notes = []
    answers = np.unique(np.stack([rows, who]), axis=1)
    twice = len(np.unique(np.stack([rows, who, labels]), axis=1)[0]) - len(answers[0])
    if twice:
        notes.append(f"{twice:,} times a voter gave an example a further label; together they are one answer.")
    shared = np.bincount(answers[0])[answers[0]] > 1
    counts = np.bincount(answers[1], minlength=len(voters))
    in_common = np.bincount(answers[1], shared, minlength=len(voters))
    if alone and len(voters) == 1:
        return notes
    if alone and not in_common.any():
        notes.append("No example has two answers: check that the files have the same ids.")
    elif alone:
        apart = [name for k, name in enumerate(voters) if counts[k] and not in_common[k]]
        if apart:
            notes.append(f"Answered nothing that another voter answered: {listing(apart)}; check the ids.")
    else:
        apart = [name for k, name in enumerate(voters) if not counts[k]]
        if apart:
            notes.append(f"Without a vote on these examples: {listing(apart)}; check the ids and the answers.")
    return notes


def _bare(ids: Sequence[str], name: str) -> PartialLabelDataset:
    X = np.zeros((len(ids), 0), dtype=np.float32)
    return PartialLabelDataset(X=X, ids=np.array(ids, dtype=np.str_), name=name or "votes")

"""Options of the command line, turned into what the library takes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from pll import formats
from pll.annotations import SetRule
from pll.catalog.sources import Source, joined_votes, source_of, with_own_votes
from pll.cli.declared import FileOptions, SetOptions, TrainingOptions
from pll.cli.output import note
from pll.dataset import PartialLabelDataset
from pll.errors import UserError, unknown
from pll.formats.classes import class_edits
from pll.formats.images import MISSING_PICTURES
from pll.formats.odd import KINDS
from pll.formats.reading import Reading
from pll.formats.votes import ONE_VOTER, kind_of
from pll.runs.config import AS_GIVEN
from pll.runs.data import weighs_voters
from pll.synthesis import Flip
from pll.synthesis.label_noise import Noisy
from pll.synthesis.transitions import read_matrix, transitions_from_confusion, truth_given_label


def prepared(options: SetOptions, data: Callable[[], PartialLabelDataset]) -> dict[str, Any]:
    """Return the fields of a `Preparation` that a command gives.

    Parameters
    ----------
    options
        Of the command.
    data
        Returns what it is about, whose classes a matrix is of. What the file of a matrix holds is taken over, so that a
        run does not depend on that file.

    Raises
    ------
    UserError
        Settings that do not fit each other, or no matrix of these classes.
    """
    if options.flip is not None and options.noisy is not None:
        raise UserError("--flip takes the labels for true, --noisy doubts them; give one of the two.")
    if options.q is not None and options.flip is None:
        raise UserError("--q needs --flip to say how wrong labels enter.")
    if options.confusion is not None and options.flip is None and options.noisy is None:
        raise UserError("--confusion needs --noisy confusion, or --flip matrix, to say what it is for.")
    if options.confusion is None and options.confusion_rows != "true":
        raise UserError("--confusion-rows says what the rows of --confusion FILE are; give that too.")
    given = {name: getattr(options, name) for name in AS_GIVEN if hasattr(options, name)}
    return given | {"flip": _flip(options, data), "noisy": _noisy(options, data)}


def _flip(options: SetOptions, data: Callable[[], PartialLabelDataset]) -> Flip | None:
    if options.flip is None:
        return None
    if options.confusion is None:
        flip = Flip.parse(options.flip, options.q)
        if flip.matrix is None:
            return flip
        matrix = flip.settings(data().n_classes, data().class_names)["matrix"]
    elif options.flip == "matrix":
        names = data().class_names
        confusion = read_matrix(options.confusion, names)
        confusion = confusion.T if options.confusion_rows == "given" else confusion
        matrix = transitions_from_confusion(confusion, names, highest=options.q)
    else:
        raise UserError("--confusion goes with --flip matrix (without a file there), or with --noisy confusion.")
    return Flip("matrix", matrix=matrix.tolist())


def _noisy(options: SetOptions, data: Callable[[], PartialLabelDataset]) -> Noisy | None:
    if options.noisy is None:
        return None
    noisy = Noisy.parse(options.noisy, confusion=options.confusion, rows=options.confusion_rows)
    if options.confusion is None:
        return noisy
    matrix = read_matrix(options.confusion, data().class_names)
    truth_given_label(matrix, data().class_names, rows=noisy.rows)  # raises with a message
    return replace(noisy, confusion=matrix.tolist())


def listed(text: str, option: str, example: str) -> list[str]:
    """Split a list with commas.

    Parameters
    ----------
    text
        The list.
    option
        Its name in messages.
    example
        A right one.

    Raises
    ------
    UserError
        It is empty, or names something twice.
    """
    result = [part.strip() for part in text.split(",") if part.strip()]
    if not result:
        raise UserError(f"{option} is empty; give some, separated by commas, such as {example}.")
    if len(set(result)) < len(result):
        twice = next(part for part in result if result.count(part) > 1)
        raise UserError(f"{option} names {twice} twice; name each once.")
    return result


def resolve_source(options: SetOptions) -> Source:
    """Return the source that DATA and `--votes` name, with all that is said of how it is read.

    Raises
    ------
    UserError
        No such data, or what is said of files is said of a dataset of the catalogue.
    """
    votes = [Source(Path(one).name, one) for one in _votes_of(options)]
    missing = next((one.path for one in votes if not Path(str(one.path)).is_file()), None)
    if missing is not None:
        raise UserError(f"There is no file {missing}; check the path.")
    if options.rule:
        SetRule.parse(options.rule)
    if votes and not options.data:
        return replace(read_as(joined_votes(votes), options), rule=options.rule)
    data = with_own_votes(read_as(source_of(options.data), options))
    return replace(joined_votes(votes, data), rule=options.rule)


def _votes_of(options: FileOptions) -> tuple[str, ...]:
    return options.votes if isinstance(options, TrainingOptions) else ()


def note_models_beside(source: Source) -> None:
    """Say on the terminal that a file of people's answers holds answers of models too, which are no votes."""
    if source.path is not None and source.path not in {one.path for one in source.votes}:
        path = Path(source.path)
        if path.is_file() and kind_of(path) == "beside":
            note([f"{source.name} also holds answers of models; add --votes {source.path} to count them as votes."])


def with_voters(source: Source, options: SetOptions) -> Source:
    """Return the source with the rule `voters` where a file holds several people's labels and no rule is given.

    Parameters
    ----------
    source
        The data.
    options
        Of the command.
    """
    if source.rule or options.flip is not None or options.noisy is not None:
        return source
    if source.path is None and not source.votes:  # a dataset of the catalogue is read later
        return source
    data = source.load()
    voters = 0 if data.annotations is None else data.annotations.n_annotators
    if not weighs_voters(source, data):
        note([ONE_VOTER] if voters == 1 and source.vote_files and data.X.size else [])
        return source
    note([f"The answers of {voters} voters are weighed (--rule union only joins them)."])
    return replace(source, rule="voters")


def source_like(source: Source, roles: Mapping[str, str]) -> Source:
    """Return the source with roles of columns from the training data, where it has such columns and none is given.

    Parameters
    ----------
    source
        Other data.
    roles
        By column.

    Raises
    ------
    UserError
        It cannot be read.
    """
    if not roles or source.path is None:
        return source
    known = formats.roles_there(roles, source.path, read_options(source), source.name).columns
    return replace(source, options=source.options | ({"columns": dict(known)} if known else {}))


def source_of_test(options: TrainingOptions) -> Source | None:
    """Return the source of `--test`, which is read as the training data is; None without one.

    Raises
    ------
    UserError
        No such data, or it cannot be read.
    """
    if options.test is None:
        return None
    source = source_of(options.test)
    if options.accept and source.path is not None:
        source = replace(source, options={"accept": list(options.accept)})
    return source_like(source, dict(options.column))


def said_of_reading(options: FileOptions) -> dict[str, Any]:
    """Return the fields of `ReadOptions` that options give."""
    given = {
        "columns": dict(options.column),
        "sheet": options.sheet,
        "merge": False if options.no_merge else None,
        "class_names": [one.strip() for one in options.classes.split(",") if one.strip()],
        "answers": dict(options.answer),
        "keep": list(options.keep_answer),
        "accept": list(options.accept),
    }
    return {name: value for name, value in given.items() if value or value is False}


def read_as(source: Source, options: FileOptions, *, whole: bool = True) -> Source:
    """Return the source with what is said of how its file is read; what is said by an option goes before `--reading`.

    Parameters
    ----------
    source
        The file.
    options
        Of the command.
    whole
        Whether the file must have every column of `--reading`.

    Raises
    ------
    UserError
        It is no file, there is no such reading, or it is of a file with other columns.
    """
    of_files: dict[str, Any] = {"--column": options.column, "--reading": options.reading, "--classes": options.classes}
    of_files |= {"--keep-answer": options.keep_answer, "--no-merge": options.no_merge}
    of_files |= {} if _votes_of(options) else {"--answer": options.answer}
    of_files |= {} if getattr(options, "test", None) else {"--accept": options.accept}
    kinds = (*KINDS, MISSING_PICTURES)
    strange = next((kind for kind in options.accept if kind not in kinds), None)
    if strange is not None:
        raise unknown("kind of odd reading", strange, kinds)
    given = next((option for option, value in of_files.items() if value), None)
    if given is not None and source.path is None:
        raise UserError(f"{given} is for files; what {source.name} of the catalogue holds is known.")
    if options.sheet is not None and (source.path is None or not formats.sheets(source.path, name=source.name)):
        raise UserError(f"--sheet is for workbooks; {source.name} is none.")
    if options.column and source.path is not None and not formats.columns(source.path, name=source.name):
        raise UserError(f"--column is for tables; {source.name} has no columns with names.")
    said, classes = said_of_reading(options), class_edits(options.merge, options.rename, options.drop)
    answers = said.pop("answers", {})
    if source.path is None:
        return replace(source, classes=classes, answers=answers)
    reading = Reading() if options.reading is None else Reading.in_file(options.reading)
    kept = {} if options.reading is None else formats.options_of(reading, source.path, source.name, whole=whole)
    answers = kept.pop("answers", {}) | answers
    columns = kept.pop("columns", {}) | said.pop("columns", {})
    fields = kept | said | ({"columns": columns} if columns else {})
    source = replace(source, options=fields, answers=answers)
    there = with_own_votes(source).read().class_names if reading.classes else ()  # this file may not have all of them
    before = {name: becomes for name, becomes in reading.classes.items() if name in there}
    return replace(source, classes=before | classes)


def read_options(source: Source, **more: Any) -> formats.ReadOptions:
    """Return how a source is read, for what reads a file itself."""
    return formats.ReadOptions(**source.options, answers=source.answers, **more)

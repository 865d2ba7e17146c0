"""Files of votes: what a file is, and the table of its answers, a line each (`pll.formats.tools.models.SCHEMA`).

Answers are those of the columns or lines of any table, of the people in the records of a tool, or of models.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from pll.dataset import PartialLabelDataset
from pll.errors import RowError, UserError
from pll.formats import detect
from pll.formats.answers import shares_in, whole_column
from pll.formats.base import ReadOptions
from pll.formats.checks import listing, parsing
from pll.formats.json_objects import first_record, records
from pll.formats.names import is_named_id
from pll.formats.reading import Column
from pll.formats.records import Records, text_of
from pll.formats.tabular.csv import Delimited, text_of_file
from pll.formats.tabular.format import TableFormat
from pll.formats.tabular.jsonl import JsonLines
from pll.formats.tabular.label_columns import Chunks
from pll.formats.tabular.lines import lines_in
from pll.formats.tools.argilla import Argilla
from pll.formats.tools.labelstudio import LabelStudio
from pll.formats.tools.models import (
    SCHEMA,
    answer_field,
    are_batch_results,
    are_samples,
    batch_answers,
    lines_of,
    prompted_answers,
    sample_answers,
)

VOTES = "votes"
"""What a source calls the format of files that hold votes and nothing else."""


@dataclass(frozen=True, eq=False)
class VoteFile:
    """What a file of votes holds.

    Attributes
    ----------
    lines
        The answers, with the columns of `SCHEMA`.
    errors
        Number of requests that failed and have no answer.
    classes
        Of class probabilities, the names of the classes, or their numbers; () for any other file.
    shares
        (lines, classes) of class probabilities, how likely each class is; None for any other file.
    """

    lines: pa.Table
    errors: int = 0
    classes: tuple[str, ...] = ()
    shares: npt.NDArray[np.float64] | None = None


# ---- file → lines ----------------------------------------------------------------------------------------------------


def read_votes(paths: Sequence[Path | str]) -> list[VoteFile]:
    """Read the answers in some files; a voter has one name in all of them.

    Parameters
    ----------
    paths
        At least one.

    Raises
    ------
    UserError
        A file that is not there, damaged, or holds no votes; its name is given.
    """
    files: list[VoteFile] = []
    answered: dict[str, set[str]] = {}
    for path in map(Path, paths):
        if not path.is_file():
            raise UserError(f"There is no file {path}; check the path.")
        try:
            votes = _read(path)
        except UserError as error:
            raise error.within(path.name) from None
        if not len(votes.lines):
            failed = f" ({votes.errors} requests failed)" if votes.errors else ""
            raise UserError(f"{path.name} holds no answers{failed}; give a file of votes.")
        files.append(replace(votes, lines=_with_own_names(votes.lines, path.stem, answered)))
    return files


def _with_own_names(lines: pa.Table, stem: str, answered: dict[str, set[str]]) -> pa.Table:
    """The lines of a file, whose voters are called as those of other files only where these answered other examples.

    Parameters
    ----------
    answered
        By voter, the ids that were answered in the files before; those of this one are added.
    """
    workers, ids, names = lines["worker"].to_pylist(), dict[str, set[str]](), dict[str, str]()
    for worker, task in zip(workers, lines["task"].to_pylist(), strict=True):
        ids.setdefault(worker, set()).add(task)
    for worker, mine in ids.items():
        others = count(2)
        names[worker] = worker
        while not mine.isdisjoint(answered.get(names[worker], ())):
            names[worker] = f"{worker} ({stem})" if names[worker] == worker else f"{worker} ({stem} {next(others)})"
    for worker, mine in ids.items():
        answered.setdefault(names[worker], set()).update(mine)
    return with_column(lines, "worker", [names[worker] for worker in workers])


def with_column(lines: pa.Table, name: str, values: Sequence[Any]) -> pa.Table:
    """Return lines with other values in a column of `SCHEMA`."""
    at = lines.column_names.index(name)
    return lines.set_column(at, SCHEMA.field(at), pa.array(values, SCHEMA.field(at).type))


def _read(path: Path) -> VoteFile:
    if path.suffix.lower() == ".npy":
        return _probability_array(path)
    form, options = detect(path), ReadOptions()
    if isinstance(form, LabelStudio | Argilla):
        return VoteFile(lines_of(form.models_answers(path)))
    if isinstance(form, JsonLines) and answer_field(_first_record(path)):
        return VoteFile(prompted_answers(path))
    if not isinstance(form, TableFormat):
        return VoteFile(_of_annotations(form.read(path, options)))
    table = form.table(path, options)
    if are_batch_results(table.names):
        return VoteFile(*batch_answers(table, path.stem))
    if are_samples(table.names):
        return VoteFile(sample_answers(table, path))
    return _of_table(table, path.stem)


def _of_annotations(data: PartialLabelDataset) -> pa.Table:
    """The answers in data of any format."""
    annotations = data.annotations
    if annotations is None:
        return lines_of([])
    people, classes = np.array(annotations.annotator_names), np.array(data.class_names)
    return _lines(
        task=data.row_ids[annotations.rows],
        worker=people[annotations.annotators],
        vote=classes[annotations.labels],
        score=annotations.scores,
    )


def _lines(**columns: Any) -> pa.Table:
    """A table of answers of some of its columns, without empty answers; None is no column."""
    lines = pa.table({name: values for name, values in columns.items() if values is not None})
    lines = lines.filter(pc.not_equal(pc.utf8_trim_whitespace(lines["vote"]), ""))
    return pa.concat_tables([SCHEMA.empty_table(), lines], promote_options="default")


_NO_ANSWERS = ("id", "score", "true_label", "split", "candidates", "image", "ignore", "feature", "vector")
"""Roles of columns that are nobody's answers in a file of votes; columns of words without another role are."""


def _planned(table: Records) -> list[Column]:
    """The roles of columns, as for every table; in a file of votes all words without another role are a voter's."""
    columns = table.plan(ReadOptions())
    if {"vote", "probability"} & {column.role for column in columns}:
        return columns
    voters = {
        column.name: "annotator"
        for column in columns
        if column.role == "annotator"
        or not (column.role in _NO_ANSWERS or column.name.casefold() == "text" or is_named_id(column.name))
    }
    if not voters:
        raise UserError(f"No column is a model's answers (columns: {listing(table.names)}).")
    return table.plan(ReadOptions(columns=voters))


def _of_table(table: Records, stem: str) -> VoteFile:
    """The answers in columns, one a voter, or in lines; or class probabilities."""
    columns = _planned(table)
    by_role: dict[str, dict[str, Chunks]] = {}
    for column, cells in zip(columns, _texts(table, columns), strict=True):
        by_role.setdefault(column.role, {})[column.display_name] = cells
        if is_named_id(column.name):  # will do, though some stand twice under it
            by_role.setdefault("named as an id", {})[column.name] = cells
    named = next(iter((by_role.get("id") or by_role.get("named as an id") or {}).values()), None)
    ids = None if named is None else pc.utf8_trim_whitespace(pc.fill_null(named, ""))
    if "probability" in by_role:
        return _of_shares(
            shares_in([whole_column(*one) for one in by_role["probability"].items()], table.row_of),
            ids,
            stem,
            list(by_role["probability"]),
        )
    lines = lines_in(by_role, table.row_of)
    assert lines is not None  # `_planned` refuses a table without a voter
    named = {"task": np.array(lines.ids)[lines.tasks]} if "vote" in by_role else _named_by(ids, lines.tasks)
    who = np.array(lines.people)[lines.workers]
    return VoteFile(_lines(**named, worker=who, vote=pa.array(lines.votes.texts(), pa.string()), score=lines.scores))


def _named_by(ids: Any, rows: npt.NDArray[np.int64]) -> dict[str, Any]:
    """The columns that say which examples some rows of a file are: their ids, else their numbers."""
    return {"task": rows.astype(np.str_), "row": rows} if ids is None else {"task": ids.take(rows)}


def _texts(table: Records, columns: Sequence[Column]) -> list[Chunks]:
    parts: list[list[pa.Array]] = [[] for _ in columns]
    for batch in table.batches(range(len(columns))):
        for some, column, cells in zip(parts, columns, batch.columns, strict=True):
            some.append(text_of(cells, column.role))
    return [pa.chunked_array(some, pa.string()) for some in parts]


def _of_shares(shares: npt.NDArray[np.float64], ids: Any, voter: str, names: Sequence[str] | None = None) -> VoteFile:
    """The likeliest class of each row of probabilities; rows without any are no answers."""
    rows = np.flatnonzero(shares.any(axis=1))
    best = shares[rows].argmax(axis=1)
    columns = tuple(map(str, range(shares.shape[1]))) if names is None else tuple(names)
    lines = _lines(
        **_named_by(ids, rows),
        worker=pa.repeat(voter, len(rows)),
        vote=np.array(columns)[best],
        score=shares[rows, best],
        number=best if names is None else None,
    )
    return VoteFile(lines, 0, columns, shares[rows])


def _probability_array(path: Path) -> VoteFile:
    with parsing("the array"):
        array = np.load(path, allow_pickle=False)
    if array.ndim != 2 or array.dtype.kind != "f":
        raise UserError(f"The array has the shape {array.shape}; class probabilities are numbers (examples, classes).")
    wrong = np.flatnonzero((np.isinf(array) | (array < 0)).any(axis=1))
    if len(wrong):
        raise RowError(f"Row {wrong[0]}: a probability is negative or infinite; write numbers from 0 to 1.")
    return _of_shares(np.nan_to_num(array.astype(np.float64)), None, path.stem)


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
    models = next(form.models_answers(path), None) is not None
    return ("beside" if people else "both") if models else ""

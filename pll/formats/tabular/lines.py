"""Answers of annotators in a table, a line each: columns of annotators and tables in long form both become that."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from pll.annotations.data import Annotations
from pll.errors import UserError
from pll.formats.checks import shorten
from pll.formats.reading import LINES
from pll.formats.records import RowNumber
from pll.formats.tabular.answers import AnswerReader
from pll.formats.tabular.cells import guess_separator
from pll.formats.tabular.label_columns import Chunks, LabelColumn, RoleColumns, read_column


@dataclass(frozen=True, eq=False)
class Lines:
    """Answers of annotators, a line each: what columns of annotators and tables in long form both become.

    Attributes
    ----------
    tasks
        (m,) int64, the example of each line.
    workers
        (m,) int64, whose it is.
    votes
        The column of the answers.
    ids
        The examples; in columns their numbers.
    people
        The annotators.
    scores
        (m,) float64, the confidence that a column of its own says, NaN where none does.
    separators
        Of each cell of `votes`, what separates several labels.
    """

    tasks: npt.NDArray[np.int64]
    workers: npt.NDArray[np.int64]
    votes: LabelColumn
    ids: Sequence[Any]
    people: Sequence[str]
    scores: npt.NDArray[np.float64]
    separators: Sequence[str]


def lines_in(columns_by_role: RoleColumns, row_of: RowNumber) -> Lines | None:
    """Return the answers of annotators in a table; None where it has none.

    Raises
    ------
    UserError
        Long form without tasks or annotators; scores of nobody, or that are no numbers: the row is named.
    """
    task, worker, vote = (next(iter(columns_by_role.get(role, {}).values()), None) for role in LINES)
    scores, annotators = columns_by_role.get("score", {}), columns_by_role.get("annotator", {})
    if vote is None:
        return _lines_of_columns(annotators, _numbers(scores, annotators, row_of), row_of) if annotators else None
    if task is None or worker is None:
        raise UserError(
            "In long form a table has a column of tasks, one of annotators and one of labels; say which is which "
            "(task, worker, vote)."
        )
    tasks, ids = _named("task", task, row_of)
    workers, people = _named("annotator", worker, row_of)
    votes = LabelColumn.of("label", vote, row_of)
    numbers = next(iter(_numbers(scores, scores, row_of).values()), np.full(len(tasks), math.nan))
    return Lines(tasks, workers, votes, ids, people, numbers, [guess_separator(votes.cells)] * len(votes.cells))


def _lines_of_columns(
    annotators: Mapping[str, Chunks], scores: Mapping[str, npt.NDArray[np.float64]], row_of: RowNumber
) -> Lines:
    """The cells of columns, an annotator each, as lines, without those that are empty."""
    columns = [LabelColumn.of(f"{name} (an annotator)", chunks, row_of) for name, chunks in annotators.items()]
    cells, separators = list[str](), list[str]()
    tasks, codes, numbers = list[Any](), list[Any](), list[Any]()
    for name, column in zip(annotators, columns, strict=True):
        is_filled = np.array([bool(cell.strip()) for cell in column.cells])
        rows = np.flatnonzero(is_filled[column.codes])
        tasks.append(rows)
        codes.append(column.codes[rows] + len(cells))
        numbers.append(scores[name][rows] if name in scores else np.full(len(rows), math.nan))
        cells += column.cells
        separators += [guess_separator(column.cells)] * len(column.cells)
    task, worker = np.concatenate(tasks), np.repeat(np.arange(len(columns)), list(map(len, tasks)))
    votes = LabelColumn(lambda at: columns[worker[at]].place_of(task[at]), np.concatenate(codes), cells, [])
    return Lines(task, worker, votes, range(len(columns[0].codes)), [*annotators], np.concatenate(numbers), separators)


def _named(name: str, chunks: Chunks, row_of: RowNumber) -> tuple[npt.NDArray[np.int64], list[str]]:
    """Codes of a column of names of tasks or annotators, and these, trimmed, in the order of first appearance."""
    column = LabelColumn.of(name, chunks, row_of)
    place: dict[str, int] = {}
    code_of = np.array([place.setdefault(cell.strip(), len(place)) for cell in column.cells], dtype=np.int64)
    codes = code_of[column.codes]
    if "" in place:
        where = column.place_of(int(np.argmax(codes == place[""])))
        raise UserError(f"{where} is empty; every line needs its {name}.")
    return codes, list(place)


def _numbers(
    scores: Mapping[str, Chunks], answers: Collection[str], row_of: RowNumber
) -> dict[str, npt.NDArray[np.float64]]:
    """Return the confidence of each annotator, (n,) each, NaN where there is none.

    Raises
    ------
    UserError
        Scores of somebody who is no annotator, or a cell that is no number; the row is named.
    """
    for name in scores:
        if name not in answers:
            raise UserError(
                f"There are scores of {shorten(name)}, but no annotator of that name: the column of the scores of gpt "
                "is called gpt_score. Say what the column is, or leave it out."
            )
    numbers = {}
    for name, chunks in scores.items():
        column = read_column(f"score of {shorten(name)}", chunks, row_of, _score)
        numbers[name] = np.array(column.values, dtype=np.float64)[column.codes]
    return numbers


def _score(cell: str) -> float:
    try:
        return float(cell.replace(",", ".")) if cell.strip() else math.nan  # a decimal comma
    except ValueError:
        raise UserError("write a number, or leave the cell empty") from None


def read_answers(lines: Lines, reader: AnswerReader) -> tuple[Lines, Counter[str]]:
    """Return lines whose answers are tuples of names, with the confidence in them, and cells that name no class.

    Raises
    ------
    UserError
        A cell that cannot be read; the row is named.
    """
    votes = lines.votes.read(reader.read, lines.separators)
    unmapped = Counter[str]()
    for cell, meaning, count in zip(votes.cells, votes.values, votes.times(), strict=True):
        if meaning is None:
            unmapped[cell] += count
    names, confidence = zip(*(((), math.nan) if one is None else one for one in votes.values), strict=True)
    return replace(lines, votes=replace(votes, values=list(names), confidence=confidence)), unmapped


def annotations_of(lines: Lines, names: tuple[str, ...], unmapped: Counter[str]) -> Annotations:
    """Return the annotations in lines that `read_answers` returned.

    The confidence is that of a column of its own, else what the answer itself says.

    Parameters
    ----------
    names
        All classes.
    unmapped
        Of `read_answers`.
    """
    votes = lines.votes
    at, labels = votes.pairs({name: k for k, name in enumerate(names)})
    own, in_cells = lines.scores[at], np.array(votes.confidence)[votes.codes[at]]
    scores = np.where(np.isfinite(own), own, in_cells)
    return Annotations(
        lines.tasks[at],
        lines.workers[at],
        labels,
        len(lines.ids),
        names,
        tuple(lines.people),
        scores=scores if np.isfinite(scores).any() else None,
        unmapped=tuple(unmapped.most_common()),
    )

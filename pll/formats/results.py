"""Identified labels on their way back into the file that their examples came from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TypeVar

from pll.errors import UserError
from pll.formats.checks import parsing
from pll.formats.label_frame import NUMBERS, RESULT_COLUMNS
from pll.formats.names import CONSENSUS_COLUMNS, results_among
from pll.formats.reading import Column

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Results:
    """The labels of some examples, from a run or a reviewer.

    Parameters
    ----------
    ids
        (m,) of the examples.
    columns
        By the names of `RESULT_COLUMNS`, (m,) text as in labels.csv; "" where there is none.
    model
        What made them, for tools that distinguish models.
    uncertain_first
        Whether files that people go through one by one shall begin with what is least certain.

    Examples
    --------
    >>> done = Results(["a"], {"identified_label": ["cat"], "confidence": ["0.75"]}, "proden")
    >>> done.label("a"), done.confidence("a"), done.label("b")
    ('cat', 0.75, None)
    """

    ids: Sequence[str]
    columns: Mapping[str, Sequence[str]]
    model: str = "candid"
    uncertain_first: bool = False

    @cached_property
    def _places(self) -> dict[str, int]:
        return {name: at for at, name in enumerate(self.ids)}

    def __contains__(self, example: str) -> bool:
        return example in self._places

    def cell(self, example: str, column: str) -> str:
        """One value of an example; "" where there is none."""
        at = self._places.get(example)
        return "" if at is None or column not in self.columns else self.columns[column][at]

    def label(self, example: str) -> str | None:
        """The identified label of an example; None where it has none: held out, say, or none of the candidates."""
        at = self._places.get(example)
        return None if at is None else self.columns["identified_label"][at] or None

    def confidence(self, example: str) -> float | None:
        """The confidence of the model in it, 0-1, or None."""
        cell = self.cell(example, "confidence")
        return float(cell) if cell else None

    def score(self, example: str) -> float | None:
        """The confidence in its label, 0-1: 1 for the decision of a person. None where there is no label."""
        return 1.0 if self.cell(example, "source") == "human" else self.confidence(example)

    def in_order(self, items: Iterable[tuple[str, T]]) -> Iterable[T]:
        """Things that belong to examples: as they come, or the least certain first where that is wanted.

        Examples
        --------
        >>> done = Results("ab", {"identified_label": "xy", "confidence": ["0.75", "0.5"]}, uncertain_first=True)
        >>> done.in_order([("a", 1), ("b", 2), ("c", 3)])  # what has no label comes last
        [2, 1, 3]
        """
        if not self.uncertain_first:
            return (thing for _, thing in items)

        def doubt(one: tuple[str, T]) -> tuple[bool, float]:
            score = self.score(one[0])
            return score is None, score or 0.0

        return [thing for _, thing in sorted(items, key=doubt)]

    def aligned(self, examples: Sequence[str]) -> dict[str, list[str]]:
        """The columns for these examples, in their order; "" where an example has no result."""
        return {column: [self.cell(example, column) for example in examples] for column in self.columns}

    def without(self, names: Sequence[str]) -> Results:
        """Return the results whose names do not collide with these columns.

        Results of an earlier run, and those of cleanlab, are replaced. A column of the user's own with the name of one
        of ours (`source`, say) stays, and ours is left out.
        """
        own = set(names) - results_among(names) - set(CONSENSUS_COLUMNS)
        return replace(self, columns={name: cells for name, cells in self.columns.items() if name not in own})

    def rounded(self, digits: int = 3) -> Results:
        """Return the results with numbers of at most so many decimals.

        Examples
        --------
        >>> Results(["a"], {"identified_label": ["cat"], "confidence": ["0.98765"]}).rounded().columns["confidence"]
        ['0.988']
        """
        return self._numbers(lambda cell: cell and str(round(float(cell), digits) + 0.0))  # never -0.0

    def with_decimal_commas(self) -> Results:
        """Return the results with numbers as a spreadsheet of many countries reads them: 0,5."""
        return self._numbers(lambda cell: cell.replace(".", ","))

    def _numbers(self, change: Callable[[str], str]) -> Results:
        new = {name: [change(cell) for cell in self.columns[name]] for name in NUMBERS if name in self.columns}
        return replace(self, columns={**self.columns, **new})

    def record(self, example: str) -> dict[str, str | float]:
        """The results of an example as JSON has them; empty where it has none."""
        cells = {column: self.cell(example, column) for column in self.columns}
        return {
            name: float(cell) if name in NUMBERS else cell
            for name, cell in cells.items()
            if cell or (name == "identified_label" and example in self)
        }


def example_rows(
    lines: Iterable[Sequence[T]], columns: Sequence[Column]
) -> tuple[list[int], Iterable[tuple[str, Sequence[T]]]]:
    """Bring the lines of a table to a row an example, where it has a line for every vote.

    Parameters
    ----------
    lines
        of the table, each a cell a column: text, or any other value.
    columns
        what all its columns are.

    Returns
    -------
    The places of the columns that stay, and each example's id and row, in the order of the table. Of a table with a
    line for every vote only those columns stay that are equal in all lines of an example.
    """
    place = {column.role: column.at for column in columns}
    if "task" not in place:
        name = place.get("id")
        return [column.at for column in columns], (
            (str(k) if name is None else _text(row[name]), row) for k, row in enumerate(lines)
        )
    constant = [column.at for column in columns if column.role not in ("worker", "vote", "score")]
    first: dict[str, Sequence[T]] = {}
    for row in lines:
        before = first.setdefault(_text(row[place["task"]]).strip(), row)
        if before is not row:
            constant = [at for at in constant if before[at] == row[at]]
    return constant, first.items()


def _text(value: object) -> str:
    return "" if value is None else str(value)


def omitted_columns(results: Results, written: Results) -> list[str]:
    """Return warnings where the user's own columns stay in place of results."""
    missing = [name for name in results.columns if name not in written.columns]
    return [f"The run's {', '.join(missing)}: the file has columns of these names, which stay."] if missing else []


def read_results(labels_csv: Path, model: str, more: Sequence[str] = ()) -> Results:
    """The results in a run's labels.csv.

    Parameters
    ----------
    more
        Other columns of it that are wanted.

    Raises
    ------
    UserError
        No such file, or not one that a run writes.
    """
    import pandas as pd  # late: the home page reads no results

    with parsing(f"the table {labels_csv.name}", "finish the run again"):
        # As text, and nothing taken for missing: a label may be called NA.
        frame = pd.read_csv(labels_csv, dtype=str, keep_default_na=False, encoding="utf-8")
    missing = [name for name in ("id", "identified_label", "confidence") if name not in frame]
    if missing:
        raise UserError(f"{labels_csv} has no column {missing[0]}; it is not a run's labels.csv.")
    columns = {name: frame[name].tolist() for name in (*RESULT_COLUMNS, *more) if name in frame}
    return Results(frame["id"].tolist(), columns, model)

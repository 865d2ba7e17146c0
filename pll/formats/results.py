"""Identified labels on their way back into the file that their examples came from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, count
from pathlib import Path
from typing import TypeVar

from pll.dataset import PartialLabelDataset
from pll.errors import UserError
from pll.formats.checks import parsing
from pll.formats.label_frame import LABELS_CSV, RESULT_COLUMNS, labels_csv_value

T = TypeVar("T")
Value = str | float | None
"""What is added to a record; None where there is nothing to add."""
OUR_NAME, REVIEWED = "Candid", "reviewed by"
IN_OWN_FILE = {"label": "identified_label", "confidence": "confidence", REVIEWED: "reviewer"}
"""What is added to the file that the examples came from, and which result it is; all others are in labels.csv."""


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
        """One value of an example; "" where there is none.

        Parameters
        ----------
        example
            Its id.
        column
            One of `columns`.
        """
        at = self._places.get(example)
        return "" if at is None or column not in self.columns else self.columns[column][at]

    def label(self, example: str) -> str | None:
        """The identified label of an example; None where it has none: held out, say, or none of the candidates."""
        at = self._places.get(example)
        return None if at is None else self.columns["identified_label"][at] or None

    def confidence(self, example: str) -> float | None:
        """The confidence in its label, 0-1: 1 for the decision of a person. None where there is no label."""
        cell = self.cell(example, "confidence")
        return float(cell) if cell else None

    def new_classes(self, dataset: PartialLabelDataset) -> dict[str, int]:
        """The labels that are no class of the data, since a person added them, and how many examples each has."""
        classes = {*(dataset.class_names or map(str, range(dataset.n_classes)))}
        labels = map(self.label, dataset.row_ids.tolist())
        return dict(Counter(label for label in labels if label is not None and label not in classes))

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
            return self.label(one[0]) is None, self.confidence(one[0]) or 0.0  # not known is the least certain

        return [thing for _, thing in sorted(items, key=doubt)]

    def aligned(self, examples: Sequence[str]) -> dict[str, list[str]]:
        """The columns for these examples, in their order; "" where an example has no result."""
        return {column: [self.cell(example, column) for example in examples] for column in self.columns}

    def in_own_file(self) -> Results:
        """Return what of the results is added to the file that its owner brought: `IN_OWN_FILE`.

        Examples
        --------
        >>> done = Results(["a"], {"identified_label": ["cat"], "confidence": ["0.75"], "margin": ["0.5"]})
        >>> done.in_own_file().columns
        {'label': ['cat'], 'confidence': ['0.75']}
        """
        there = {name: self.columns[column] for name, column in IN_OWN_FILE.items() if column in self.columns}
        return replace(self, columns={name: cells for name, cells in there.items() if name != REVIEWED or any(cells)})

    def added(self, examples: Sequence[str]) -> dict[str, list[Value]]:
        """The columns for records that are about these examples, with numbers as such; None where there is none."""
        return {
            name: [labels_csv_value(name, cell) if cell else None for cell in cells]
            for name, cells in self.aligned(examples).items()
        }

    def rounded(self, digits: int = 3) -> Results:
        """Return the results with numbers of at most so many decimals; what is below 1 stays so, it is not certain.

        Examples
        --------
        >>> results = Results(["a", "b"], {"identified_label": ["cat", "dog"], "confidence": ["0.98765", "0.99987"]})
        >>> results.rounded().columns["confidence"]
        ['0.988', '0.999']
        """
        below = 1 - 10.0**-digits

        def shorter(cell: str) -> str:
            share = float(cell)
            return str(round(min(share, below) if share < 1 else share, digits) + 0.0)  # never -0.0

        shares = [name for name in self.columns if name in LABELS_CSV and LABELS_CSV[name].kind == "share"]
        new = {name: [cell and shorter(cell) for cell in self.columns[name]] for name in shares}
        return replace(self, columns={**self.columns, **new})

    def record(self, example: str) -> dict[str, str | float]:
        """The results of an example as JSON has them; empty where it has none."""
        cells = {column: self.cell(example, column) for column in self.columns}
        return {
            name: labels_csv_value(name, cell) if cell else cell
            for name, cell in cells.items()
            if cell or (name == "identified_label" and example in self)
        }


def free_name(name: str, taken: Collection[str]) -> str:
    """Return a name for an added column that a file does not have.

    Parameters
    ----------
    name
        What the column should be called.
    taken
        The names that the file has.

    Examples
    --------
    >>> free_name("label", ["id", "text"]), free_name("label", ["id", "label"])
    ('label', 'label (Candid)')
    """
    others = (f"{name} ({OUR_NAME}{number})" for number in chain([""], map(" {}".format, count(2))))
    return next(one for one in chain([name], others) if one not in taken)


def read_results(labels_csv: Path, model: str, more: Sequence[str] = ()) -> Results:
    """The results in a run's labels.csv.

    Parameters
    ----------
    labels_csv
        The file.
    model
        What made the labels.
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

"""What the formats of tables share: a reader makes a table, its columns get roles, a dataset is built from it."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from pll.dataset import PartialLabelDataset
from pll.formats.base import Format, ReadOptions
from pll.formats.reading import Column
from pll.formats.records import Records
from pll.formats.results import Results, omitted_columns
from pll.formats.tabular.builder import build
from pll.formats.tabular.writer import table_limitations


class TableFormat(Format):
    """Base class of formats that are tables; a subclass says how a file becomes an `Records` and is written.

    Attributes
    ----------
    holds
        What it holds beyond a table of text: names of `table_limitations`.
    """

    adds = "Columns with the label and its confidence are added to your own."
    holds: ClassVar[frozenset[str]] = frozenset()

    @abstractmethod
    def table(self, path: Path, options: ReadOptions) -> Records:
        """Return the table in a file.

        Raises
        ------
        UserError
            What is wrong with the file: the row and the remedy.
        """

    def read(self, path: Path, options: ReadOptions) -> PartialLabelDataset:
        table = self.table(path, options)
        data = build(table, table.plan(options), options)
        return replace(data, notes=(*table.notes, *data.notes))

    def columns(self, path: Path, options: ReadOptions) -> list[Column]:
        return self.table(path, options).plan(options)

    def cannot_hold(self, dataset: PartialLabelDataset) -> list[str]:
        return table_limitations(dataset, self.holds)

    def cannot_give_back(self, source: Path, results: Results, options: ReadOptions) -> list[str]:
        return omitted_columns(results, results.without([column.name for column in self.columns(source, options)]))

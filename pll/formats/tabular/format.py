"""What the formats of tables share: a reader makes a table, its columns get roles, a dataset is built from it."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import ClassVar

from pll.dataset import PartialLabelDataset
from pll.formats.base import Format, ReadOptions
from pll.formats.reading import Column, form_of
from pll.formats.records import Records
from pll.formats.results import Results, Value
from pll.formats.tabular.builder import build, examples_of
from pll.formats.tabular.writer import table_limitations
from pll.formats.unfold import unfolded


class TableFormat(Format):
    """Base class of formats that are tables; a subclass says how a file becomes an `Records` and is written.

    Attributes
    ----------
    holds
        What it holds beyond a table of text: names of `table_limitations`.
    """

    holds: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    def table(self, path: Path, options: ReadOptions) -> Records:
        """Return the table in a file.

        Parameters
        ----------
        path
            The file.
        options
            How it is read.

        Raises
        ------
        UserError
            What is wrong with the file: the row and the remedy.
        """

    def read(self, path: Path, options: ReadOptions) -> PartialLabelDataset:
        return self.dataset(self.unfolded(path, options), path, options)

    def unfolded(self, path: Path, options: ReadOptions) -> Records:
        """Return the table in a file, with what lies inside of its cells as columns.

        Parameters
        ----------
        path
            The file.
        options
            Roles that a person gave: what has one stays as it is.

        Raises
        ------
        UserError
            As for `table`.
        """
        return unfolded(self.table(path, options), options.columns)

    def dataset(self, table: Records, path: Path, options: ReadOptions) -> PartialLabelDataset:
        """Return the dataset of a table that `table` has read from a file.

        Parameters
        ----------
        table
            The table, with what lies inside of its cells as columns.
        path
            The file.
        options
            How it is read.
        """
        return dataset_of(table, table.plan(options), options)

    def columns(self, path: Path, options: ReadOptions) -> list[Column]:
        return self.unfolded(path, options).plan(options)

    def no_place(self, source: Path, options: ReadOptions) -> str:
        is_by_person = form_of(self.columns(source, options)) == "person"
        return "The file that came in has a row a person, and no row for an example's label." if is_by_person else ""

    def cannot_hold(self, dataset: PartialLabelDataset) -> list[str]:
        return table_limitations(dataset, self.holds)

    @abstractmethod
    def add(self, source: Path, path: Path, added: Mapping[str, Sequence[Value]], options: ReadOptions) -> None:
        """Write a file again with columns added to it, and nothing else changed.

        Parameters
        ----------
        source
            A file that `table` has read.
        path
            Where to write.
        added
            By name, a value for each row of `table`, in their order. A name that the file has gets another
            (`free_name`).
        options
            What it was read with.
        """

    def give_back(self, source: Path, path: Path, results: Results, options: ReadOptions) -> None:
        table = self.unfolded(source, options)
        examples = examples_of(table, table.plan(options), options)
        self.add(source, path, self.labels_of(source, results, options).added(examples), options)

    def labels_of(self, source: Path, results: Results, options: ReadOptions) -> Results:
        """Return what of the results is added to a file.

        Parameters
        ----------
        source
            The file.
        results
            All that is known of its examples.
        options
            What it was read with.
        """
        return results.in_own_file()


def dataset_of(table: Records, columns: Sequence[Column], options: ReadOptions) -> PartialLabelDataset:
    """Return the dataset of a table whose columns have roles, with what was understood of it.

    Parameters
    ----------
    table
        What a reader made of the file.
    columns
        The role of each column.
    options
        How it is read.
    """
    data = build(table, columns, options)
    reading = asdict(options.reading(columns, data))
    return replace(data, notes=(*table.notes, *data.notes), reading=reading)

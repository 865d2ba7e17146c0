"""The base class of file formats: detect, read, write and label files; and the options of reading."""

from __future__ import annotations

import tomllib
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any, ClassVar

from pll.dataset import PartialLabelDataset
from pll.errors import UserError, notes_of
from pll.formats.checks import listing
from pll.formats.reading import Column, Reading, form_of, signature
from pll.formats.results import Results
from pll.io import Progress

HEAD_BYTES = 2**16
"""Number of bytes that `sniff` gets: a header of some thousand columns."""


@dataclass(frozen=True)
class ReadOptions:
    """Options of reading: what the user adds to what the file contains.

    Parameters
    ----------
    name
        What to call the dataset; by default the name of the file.
    class_names
        All classes, in order; by default those that occur, sorted. A label outside them is refused.
    answers
        Annotators' cells that name no class → class, as a person mapped them; "" for no answer.
    columns
        What a column (or field) is, by its name: one of `columns.ROLES`; the others are guessed.
    merge
        Whether labels that are spelled alike, but for case, spaces and a final mark, are one class.
    combine
        What becomes of several annotators' sets: `"union"`, or `"largest"`, the largest set of one of them.
    keep
        Cells that are classes, though they look like no answer (`n/a`, −1, `abstain`); `*` for all.
    accept
        Kinds of odd findings (`pll.formats.odd`) that a person saw and wants all the same.
    fold
        Which of the file's own folds is the test part, from 1; by default none is.
    sheet
        Which sheet of a workbook; by default the first that holds a table.
    max_bytes
        How large the arrays of a file may be once unpacked.
    progress
        Called as a file is read.

    Raises
    ------
    UserError
        a `combine` that does not exist, or a fold below 1.
    """

    name: str = ""
    class_names: tuple[str, ...] = ()
    answers: Mapping[str, str] = field(default_factory=dict)
    columns: Mapping[str, str] = field(default_factory=dict)
    merge: bool = True
    combine: str = "union"
    keep: tuple[str, ...] = ()
    accept: tuple[str, ...] = ()
    fold: int | None = None
    sheet: str | None = None
    max_bytes: int = 4 * 2**30
    progress: Progress | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        for name in ("class_names", "keep", "accept"):
            object.__setattr__(self, name, tuple(getattr(self, name)))  # JSON brings lists
        if self.combine not in ("union", "largest"):
            raise UserError(f"Annotators' sets cannot be combined by {self.combine!r}; use union or largest.")
        if self.fold is not None and self.fold < 1:
            raise UserError(f"The fold is {self.fold}; folds count from 1.")

    def reading(self, columns: Sequence[Column], data: PartialLabelDataset | None = None) -> Reading:
        """Return what is understood of a file that is read so.

        Parameters
        ----------
        columns
            Its columns with their roles.
        data
            What came of it, which says what was taken for no answer and which spellings were joined.
        """
        cells = {note.kind: dict(note.cells) for note in notes_of(() if data is None else data.notes)}
        return Reading(
            form=form_of(columns),
            roles={column.name: column.role for column in columns} or dict(self.columns),
            source=signature(columns),
            class_names=self.class_names,
            no_answer=cells.get("no answer", {}),
            spellings=cells.get("spellings", {}),
            answers=dict(self.answers),
            sheet=self.sheet or "",
            keep=self.keep,
            odd=self.accept,
            file=self.name,
        )

    def tick(self, what: str, done: int, total: int | None) -> None:
        """Report the progress of reading.

        Parameters
        ----------
        what
            What is counted, as in "rows".
        done
            How many are done.
        total
            Of how many, where that is known.
        """
        if self.progress is not None:
            self.progress(what, done, total)


TABLE: dict[str, Any] = tomllib.loads(files("pll.formats").joinpath("formats.toml").read_text("utf-8"))
"""What `formats.toml` says."""


class Format(ABC):
    """One file format. Readers name rows and fields; `pll.formats.read` puts the file's name in front.

    What its attributes are stands in `formats.toml`, under its name.

    Attributes
    ----------
    name
        What the command line calls it (`--to NAME`).
    label
        What a page calls it.
    suffixes
        How such files usually end, lower case, with the dot.
    content
        Kind of content of its files: "text", "json" or "binary"; `sniff` is called for that kind only.
    row_note
        How its messages count rows, as a sentence.
    tool
        Where such a file goes back to, as in "Back into …".
    adds
        What the labels of a run add to such a file, in a sentence.
    queue
        Where people go through such a file one by one, what puts the least certain first there; else "".
    new_classes
        What has no proper place for labels that are no class of the data, since a person added them, with `{}` for
        which these are; "" where they are written as any other.
    loses_new_classes
        Whether such labels are not in the file at all.
    loses
        What of a dataset it cannot hold: names of `pll.formats.limitations.LIMITATIONS`.
    """

    name: ClassVar[str]
    label: ClassVar[str]
    suffixes: ClassVar[tuple[str, ...]]
    content: ClassVar[str]
    row_note: ClassVar[str] = "Rows are counted from 0."
    tool: ClassVar[str]
    adds: ClassVar[str]
    queue: ClassVar[str] = ""
    new_classes: ClassVar[str] = ""
    loses_new_classes: ClassVar[bool] = False
    loses: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls) -> None:
        place = f"{cls.__module__.removeprefix('pll.formats.')}:{cls.__name__}"
        for name, about in TABLE["format"].items():
            if about["class"] == place:
                for fact, value in {**about, "name": name}.items():
                    setattr(cls, fact, tuple(value) if isinstance(value, list) else value)

    @abstractmethod
    def sniff(self, path: Path, head: bytes) -> bool:
        """Whether the content is of this format, whatever the file is called.

        Parameters
        ----------
        path
            The file.
        head
            The first bytes of the file (`HEAD_BYTES` at most); enough for most formats.
        """

    @abstractmethod
    def read(self, path: Path, options: ReadOptions) -> PartialLabelDataset:
        """The dataset in a file.

        Parameters
        ----------
        path
            The file.
        options
            How it is read.

        Raises
        ------
        UserError
            Anything wrong with the file: the place and the remedy.
        """

    @abstractmethod
    def write(self, dataset: PartialLabelDataset, path: Path, results: Results | None = None) -> None:
        """Write a dataset so that `read` gives back all but what `pll.formats.limitations.cannot_hold` names.

        Parameters
        ----------
        dataset
            What is written.
        path
            Where to.
        results
            Identified labels to write with it.

        Raises
        ------
        UserError
            The format has no way to write it at all.
        """

    def columns(self, path: Path, options: ReadOptions) -> list[Column]:
        """Return the role of each column of a table, before it is read; none where the format has no columns.

        Parameters
        ----------
        path
            The file.
        options
            How it is read.

        Raises
        ------
        UserError
            See `read`.
        """
        return []

    def sheets(self, path: Path, options: ReadOptions) -> list[str]:
        """Return what `options.sheet` may be, what is read by default first; none where the format has no sheets.

        Parameters
        ----------
        path
            The file.
        options
            How it is read.

        Raises
        ------
        UserError
            See `read`.
        """
        return []

    def give_back(self, source: Path, path: Path, results: Results, options: ReadOptions) -> None:
        """Write a file of this format again with results added to it, everything else as it was.

        Parameters
        ----------
        source
            a file that `read` has read.
        path
            Where to write.
        options
            What it was read with.
        results
            What is added.

        Raises
        ------
        UserError
            What `read` would say.
        """
        self.write(self.read(source, options), path, results)

    def no_place(self, source: Path, options: ReadOptions) -> str:
        """Why a file of this format has no place for labels, in a sentence, so that a new one is written; mostly "".

        Parameters
        ----------
        source
            A file that `read` has read.
        options
            What it was read with.
        """
        return ""

    def cannot_give_back(self, source: Path, results: Results, options: ReadOptions) -> list[str]:
        """What of a file `give_back` would not keep, in words for a person; mostly nothing.

        Parameters
        ----------
        source
            A file that `read` has read.
        results
            What is added.
        options
            What it was read with.
        """
        return []

    def cannot_label(self, dataset: PartialLabelDataset, results: Results) -> list[str]:
        """For which labels the file, or the tool, has no proper place, in words for a person; mostly for none.

        Parameters
        ----------
        dataset
            The examples.
        results
            Their labels, among which may be classes that a person added.
        """
        added = results.new_classes(dataset)
        if not added or not self.new_classes:
            return []
        count = sum(added.values())
        which = f"{count:,} {'example' if count == 1 else 'examples'}, whose label is no class of the data"
        return [self.new_classes.format(f"{which} ({listing(list(added))})")]

    def labels_lost(self, dataset: PartialLabelDataset, results: Results) -> int:
        """How many labels of `cannot_label` are not in the file at all; mostly none.

        Parameters
        ----------
        dataset, results
            As for `cannot_label`.
        """
        return sum(results.new_classes(dataset).values()) if self.loses_new_classes else 0

    def extra_files(self, dataset: PartialLabelDataset, results: Results | None = None) -> dict[str, str]:
        """Return text files that go with a written dataset, by the text that replaces the suffix; mostly none.

        Parameters
        ----------
        dataset
            What was written.
        results
            Identified labels that were written with it.
        """
        return {}

    def extra_files_given_back(self, source: Path, results: Results, options: ReadOptions) -> dict[str, str]:
        """As `extra_files`, for a file that was given back.

        Parameters
        ----------
        source
            The file that came in.
        results
            What was added.
        options
            What it was read with.
        """
        return {}

"""What the formats of tables share: a reader makes a table, its columns get roles, a dataset is built from it.

The table itself reads its features (`pll.formats.records`); labels are read of the text of the other columns
(`pll.formats.answers`, `pll.formats.labels`).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from pll.dataset import PartialLabelDataset
from pll.errors import DuplicateIds, Note, RowError, UserError
from pll.formats.answers import answers_in, filled_rows, names_in
from pll.formats.base import Format, ReadOptions
from pll.formats.checks import check_ids, listing, shorten
from pll.formats.codebook import says_no_answer, with_names
from pll.formats.forms import WORDS
from pll.formats.labels import CANDIDATES, Labels, labels_of
from pll.formats.names import CLASS_COLUMN, PAYLOAD_COLUMNS, is_named_id
from pll.formats.proposal import says
from pll.formats.reading import (
    LABELLED,
    LINES,
    OF_LABELS,
    PERSONS,
    SPREADSHEET_ERRORS,
    TO_FILL_IN,
    Column,
    form_of,
    option,
)
from pll.formats.records import Chunks, Records, RowNumber, cell_of, codes_of, value_of
from pll.formats.results import Results, Value
from pll.formats.roles import notes_on, refuse_questions
from pll.formats.tabular.cells import (
    Cells,
    are_pictures,
    are_texts,
    default_role,
    elements,
    picture_in,
)
from pll.formats.tools.models import with_answers
from pll.formats.unfold import unfolded
from pll.images import Pictures
from pll.io import Column as ObjectColumn
from pll.io import as_column

Lines = npt.NDArray[np.int64]
"""Of each line its example, or of each example a line."""


class TableFormat(Format):
    """Base class of formats that are tables; a subclass says how a file becomes an `Records` and is written."""

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
        table = self.table(path, options)
        if table.form is not None and table.form.name == "batch":
            table = with_answers(table)
        return unfolded(once(table, options.columns), options.columns)

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
        examples = examples_of(table, table.plan(options))
        examples = [examples[at] for at in table.again] or examples
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


def build(table: Records, columns: Sequence[Column], options: ReadOptions) -> PartialLabelDataset:
    """Return the dataset in a table.

    Parameters
    ----------
    table : Records
        What a reader made of the file.
    columns : sequence of Column
        The role of each column, as `Records.plan` says.
    options : ReadOptions
        Class names, name and the like.

    Raises
    ------
    UserError
        A column may have two roles and the user has not chosen one; no rows; a feature that is no finite number;
        labels, ids or split marks that do not hold what they must: row and column are named.
    """
    refuse_questions(columns)
    form = table.form
    pairs = [pair for codes in table.codes.values() for pair in codes.items()]
    # classes, as the codebook says, be they called −1, – or "probably benign"; NV for "not viewed" is none
    meant = [one for pair in pairs if not says_no_answer(*pair) for one in pair]
    kept = (*options.keep, *(form.keep if form else ()), *meant)
    options = replace(options, class_names=options.class_names or table.class_names, keep=kept)
    cells, X, names_of_features = table.collected(columns, options)
    row_of = table.row_of

    asked = [(column, cells[column.at]) for column in columns if column.role in OF_LABELS]
    counts = form.counts if form else ()
    answers = answers_in(asked, len(X), row_of, counts=counts)
    # in columns of their own people leave cells empty: that is nobody's answer, and no mistake
    ours = [one for one in columns if one.role == "candidates" and one.name.casefold() == CANDIDATES]
    ours += [one for one in columns if one.role == "class" and CLASS_COLUMN.fullmatch(one.name)]
    may_be_empty = table.may_be_empty or not ours
    labels = labels_of(answers, options, no_answer=form.no_answer if form else (), may_be_empty=may_be_empty)
    ids, rows, texts, about_columns = answers.ids, np.arange(answers.n), None, list[str]()
    named = next((column for column in columns if column.role == "id"), None)
    if form_of(columns) == "person":  # a column of answers is an example, its title the text
        titles = [table.titles.get(column.name, "") for column in columns if column.role == "item"]
        texts = as_column(titles) if any(titles) else None
        X, names_of_features, columns, row_of = np.zeros((answers.n, 0), dtype=np.float32), [], [], int
        about_columns = [Note("A row was taken for a person, and a column for an example.", kind=PERSONS)]
    elif answers.example is not None:
        features = [column for column in columns if column.role == "feature"]
        left_out = _varying(X, cells, columns, answers.example)
        rows = _first_lines(answers.example)
        constant = [k for k in range(X.shape[1]) if k >= len(features) or features[k] not in left_out]
        X, names_of_features = _of_examples(X, constant, answers.example), [names_of_features[k] for k in constant]
        columns = [column for column in columns if column not in left_out]
        about_columns = _unused(left_out)
    elif named is not None:
        ids = _texts_of(cells[named.at])
    checked = None if ids is None else _ids(ids, lambda at: row_of(int(rows[at])), named)

    def many(role: str) -> dict[str, Chunks]:
        return {column.display_name: cells[column.at] for column in columns if column.role == role}

    def one(role: str) -> Chunks | None:
        return next(iter(many(role).values()), None)

    def lines(chunks: Chunks) -> Lines:
        return rows if answers.example is None else _first_lines(answers.example, filled_rows(*codes_of(chunks)))

    split, image = one("split"), one("image")
    read = {column.name: cells[column.at] for column in columns if column.role == "text"}
    task = one("task")
    if not read:  # what is asked about may name the example
        tasks = {name: _objects(chunks, lines(chunks), missing="", named=True) for name, chunks in many("task").items()}
        read = {name: many("task")[name] for name, of_examples in tasks.items() if are_texts(of_examples.tolist(), 4)}
    if image is None and task is not None and are_pictures(list(answers.ids or ())):
        image = task

    if read:
        parts = {name: _objects(chunks, lines(chunks), missing="") for name, chunks in read.items()}
        texts = _read_together({name: _without_brackets(name, part) for name, part in parts.items()})
    pictures, notes = None, [*_notes(X, columns), *about_columns]
    if image is not None:
        pictures = Pictures(as_column([*map(picture_in, _objects(image, lines(image), missing=""))]))
    data = PartialLabelDataset(
        X=X,
        candidates=labels.candidates,
        y=labels.y,
        prior=labels.prior,
        class_names=labels.class_names,
        ids=checked,
        feature_names=tuple(names_of_features),
        texts=texts,
        pictures=pictures,
        categories={name: _objects(chunks, lines(chunks), named=True) for name, chunks in many("category").items()},
        extras={name: _objects(chunks, rows) for name, chunks in many("keep").items()},
        annotations=labels.annotations,
        is_test=None if split is None else _split_marks(split, row_of)[rows],
        name=options.name or "table",
        kind="table",
        notes=(*notes, *answers.notes, *labels.notes, *_without_labels(columns, labels)),
    )
    coded = [column.name for column, _ in asked if column.role in (*LABELLED, "item", "true_label")]
    return with_names(data, table.codes, coded, table.names)


def _read_together(parts: Mapping[str, ObjectColumn]) -> ObjectColumn:
    """Return what stands in columns of texts, one after the other below their names; of one column as it stands."""
    if len(parts) == 1:
        return next(iter(parts.values()))
    rows = zip(*(part.tolist() for part in parts.values()), strict=True)
    named = [[f"{name}: {cell}" for name, cell in zip(parts, row, strict=True) if cell] for row in rows]
    return as_column(["\n".join(row) for row in named])


def _without_brackets(name: str, cells: ObjectColumn) -> ObjectColumn:
    """Return texts; those that are lists of their words (`["so", "it", "is"]`) with spaces between these."""
    given = cells.tolist() if name.casefold() not in PAYLOAD_COLUMNS else []
    if len(given) < 2 or not all(cell[:1] + cell[-1:] == "[]" for cell in given):
        return cells
    words = [elements(cell) for cell in given]
    are_words = all(isinstance(some, list) and all(isinstance(word, str) for word in some) for some in words)
    return as_column([" ".join(some) for some in words]) if are_words else cells


def examples_of(table: Records, columns: Sequence[Column]) -> list[str]:
    """Return for every row of a table the id of its example, as `build` gives it.

    Parameters
    ----------
    table
        What a reader made of the file.
    columns
        The role of each column.
    """
    tasks = [column for column in columns if column.role == "task"]
    if tasks:
        codes, names = names_in(table.cells(tasks))
        return [*map([*names, ""].__getitem__, codes.tolist())]
    named = next((column for column in columns if column.role == "id"), None)
    if named is not None:
        return _texts_of(table.cells([named])[0])
    return list(map(str, range(sum(map(len, table.batches([0]))))))


def _texts_of(cells: Chunks) -> list[str]:
    return [cell or "" for cell in cells.to_pylist()]


def _ids(cells: Sequence[str], row_of: RowNumber, column: Column | None) -> npt.NDArray[np.str_]:
    try:
        return check_ids(cells, row_of)
    except DuplicateIds as error:
        if column is None:
            raise
        text = f"{error} Correct them; or keep the column and number the rows."
        raise DuplicateIds(text, kind="ids", shell=option(column.name, "keep")) from None


def _first_lines(example: Lines, filled: npt.NDArray[np.bool_] | None = None) -> Lines:
    """Return of each example its first line, if possible a filled one. A line may be of no example (−1)."""
    order = np.arange(len(example)) if filled is None or filled.all() else np.argsort(~filled, kind="stable")
    examples, at = np.unique(example[order], return_index=True)
    return order[at][examples >= 0]


def _of_examples(X: npt.NDArray[np.float32], at: Sequence[int], example: Lines) -> npt.NDArray[np.float32]:
    """Return some columns of (lines, d) X as each example has them: one line may have what others leave empty."""
    found = X[_first_lines(example)][:, at]
    for k, column in enumerate(at):
        filled = ~np.isnan(X[:, column])
        if not filled.all():
            found[:, k] = X[_first_lines(example, filled), column]
    return found


def _varying(
    X: npt.NDArray[np.float32], cells: Mapping[int, Chunks], columns: Sequence[Column], example: Lines
) -> list[Column]:
    """Return the features, (lines, d) X and categories, that differ between the filled lines of one example."""
    different, k = [], 0
    values: npt.NDArray[np.float32] | Lines
    for column in columns:
        if column.role == "feature":
            values, k = X[:, k], k + 1
            filled = ~np.isnan(values)
        elif column.role == "category":
            values, words = codes_of(cells[column.at])
            filled = filled_rows(values, words)
        else:
            continue
        filled &= example >= 0
        first = _first_lines(example, filled)
        if (values[filled] != values[first[example[filled]]]).any():
            different.append(column)
    return different


def _unused(columns: Sequence[Column]) -> list[str]:
    if not columns:
        return []
    names = listing([column.name for column in columns])
    return [f"Not used, because it differs between the answers to one example and so is none of its features: {names}."]


def _notes(X: npt.NDArray[np.float32], columns: Sequence[Column]) -> list[str]:
    """Return notes about the columns for the user."""
    notes = []
    features = [column.name for column in columns if column.role == "feature"]
    ignored = [column.name for column in columns if column.role == "ignore"]
    if ignored:
        notes.append(f"Columns not used, because they hold results or you left them out: {listing(ignored)}.")
    if any("." in name and name.replace(".", "", 1).isdigit() for name in features):
        notes.append(f"The first row was taken for the names of the columns: {listing(features)}.")
    suspects = np.flatnonzero(np.isnan(X[0, : len(features)]))  # cheap: nearly always none
    empty = [features[at] for at in suspects if np.isnan(X[:, at]).all()]
    if empty:
        notes.append(f"Columns without a single value: {listing(empty)}.")
    return notes + notes_on(columns)


def _without_labels(columns: Sequence[Column], labels: Labels) -> list[str]:
    """What to say where nothing was taken for labels: which columns may be, those that are called so first.

    Raises
    ------
    UserError
        Perhaps they were in columns of formulas that have no result.
    """
    broken = [column for column in columns if column.why == SPREADSHEET_ERRORS]
    if labels.candidates is not None or labels.annotations is not None or labels.y is not None:
        names = listing([column.name for column in broken])
        return [f"Left out, since they hold nothing but a spreadsheet's errors: {names}."] if broken else []
    if broken:
        what = next(cell for cell in broken[0].first if cell and cell.strip())
        raise UserError(
            f"{listing([column.name for column in broken])} hold nothing but {what}: the formulas have no result, as "
            "where the workbook that they link to is missing. Open this file where that one is too, copy these "
            "columns and paste them as values, save it and bring it again; or bring the files with the labels."
        )
    empty = [column.name for column in columns if column.why in ("empty", TO_FILL_IN)]
    may_be = [one.name for one in columns if one.role == "category" or says("labels", one.name)]
    likely = [name for name in may_be if name not in empty] or ["NAME"]
    lines = "where a row is one answer, NAME=task, NAME=worker and NAME=vote"
    perhaps = f" Perhaps {listing(likely, limit=4)}." if likely != ["NAME"] else ""
    if (not perhaps and empty) or any(column.why == TO_FILL_IN for column in columns):
        perhaps = f" None seems to: nobody has filled in {listing(empty, limit=4)} yet."
    hint = f"{option(likely[0], 'annotator')} for the labels of one voter; {lines}"
    return [Note(f"No column was taken for labels: say which hold them.{perhaps}", kind="labels", hint=hint)]


def _objects(
    chunks: Chunks, rows: npt.NDArray[np.int64], *, missing: str | None = None, named: bool = False
) -> ObjectColumn:
    """Return the cells of some rows, values of JSON as they are; equal ones share one object.

    Parameters
    ----------
    missing
        What stands for a cell that is missing.
    named
        Values of JSON become text.
    """
    is_json = isinstance(chunks.type, pa.JsonType)
    codes, values = codes_of(chunks)
    objects = [value_of(value) for value in values] if is_json else list(values)
    different = np.empty(len(values) + 1, dtype=object)
    for at, value in enumerate(objects):  # one by one: a list is no row of an array
        different[at] = cell_of(value) if named else value
    different[-1] = missing
    return different[codes[rows]]


def _split_marks(chunks: Chunks, row_of: RowNumber) -> npt.NDArray[np.bool_]:
    """Return (n,) bool, True where the column `split` is "test"; a part to validate on is no test."""
    codes, cells = codes_of(pc.fill_null(chunks, ""))
    parts = [cell.strip().casefold() for cell in cells]
    for code, part in enumerate(parts):
        if part not in WORDS["train"] | WORDS["test"]:
            row = row_of(int(np.argmax(codes == code)))
            raise RowError(
                f"Row {row}, column split holds {shorten(cells[code])}: write train or test, or only carry it along.",
                shell=option("split", "keep"),
            )
    return np.array([part in WORDS["test"] for part in parts], dtype=np.bool_)[codes]


# ---- rows that stand twice -------------------------------------------------------------------------------------------

FEW_AGAIN = 0.05
"""Share of the rows whose id stands in another row too, up to which that is a slip, and no other form of a table."""


def once(table: Records, given: Mapping[str, str]) -> Records:
    """Return a table without rows that stand there a second time, every cell the same; any other as it is.

    Another column than a text must name the rest of the rows, none twice: without one, things may well be alike.

    Parameters
    ----------
    table
        The table.
    given
        Roles that a person gave: with one of long form the table stays.

    Examples
    --------
    >>> cells = {"ref": [f"a{k}" for k in range(30)], "cover": ["ab"[k % 2] for k in range(30)]}
    >>> twice = {name: [*some, some[3]] for name, some in cells.items()}
    >>> once(Records.of(twice), {}).notes
    ('Rows that stand there twice, every cell the same, count once: 1, the first of them row 30.',)
    >>> once(Records.of(twice | {"who": [*"x" * 30, "y"]}), {}).notes
    ()
    """
    sample = list(zip(*table.sample(), strict=True))
    kinds = len({*sample})  # a large table is read as a whole only where a row is seen to stand there twice
    named = enumerate(table.sample()) if 0 < len(sample) - kinds <= FEW_AGAIN * len(sample) else ()
    keys = [at for at, some in named if len({*some}) == kinds and _may_name(table.names[at].strip(), some)]
    if not keys or not {*LINES}.isdisjoint({**table.roles, **given}.values()):
        return table
    lines, number = list(table.lines()), dict[tuple[str | None, ...], int]()
    again = [number.setdefault(line, len(number)) for line in lines]
    if len(number) == len(lines) or not any(len({line[at] for line in number}) == len(number) for at in keys):
        return table
    rows = np.unique(again, return_index=True)[1]
    second = np.setdiff1d(np.arange(len(lines)), rows)
    note = f"Rows that stand there twice, every cell the same, count once: {len(second):,}, the first of them row"
    return replace(
        table,
        batches=Records.of(table.whole().take(rows)).batches,
        rows=len(rows),
        row_of=lambda at: table.row_of(int(rows[at])),
        notes=(*table.notes, f"{note} {table.row_of(int(second[0]))}."),
        first=[[cells[row] for row in rows if row < len(cells)] for cells in table.sample()],
        again=again,
    )


def _may_name(name: str, cells: Cells) -> bool:
    """Whether a column may name rows: an id, or a word in each."""
    return all(cells) and (is_named_id(name) or default_role(cells) != "feature") and not are_texts(cells, 4)

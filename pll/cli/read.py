"""`read`: what is understood of a file, as a table that a person can correct, before anything is trained."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from math import prod
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd

from pll import formats
from pll.annotations.agreement import answers_of, rows_of_disagreement, sentence_of_two
from pll.annotations.independence import worth_of_votes
from pll.candidates import CandidateSets
from pll.catalog.sources import source_of, with_own_votes
from pll.cli.declared import ReadFileOptions
from pll.cli.options import listed, read_as, read_options
from pll.cli.output import load, note, print_result
from pll.dataset import PartialLabelDataset
from pll.errors import UserError, notes_of
from pll.formats.checks import listing
from pll.formats.label_frame import candidate_cells
from pll.formats.reading import ROLES, Column, Reading, form_of, question, signature
from pll.io import write_csv, write_text
from pll.runs.data import about_copies
from pll.wording import count, excerpt, short_names

ROW_IS = {"example": "an example", "answer": "an answer of one person", "person": "a person"}
"""What a row is, in words."""
WIDTH = 22
"""Letters of a cell that are shown."""
_short = partial(excerpt, most=WIDTH)


def read(options: ReadFileOptions) -> int:
    """Print what is understood of a file. Returns 2 where a question is open or the file cannot be read so."""
    source = source_of(options.data)
    if source.path is None:
        raise UserError(f"{options.data} is a dataset of the catalogue; read is for files.")
    path, source = Path(source.path), read_as(source, options)
    given = read_options(source)
    columns = formats.columns(path, name=source.name, options=given)
    if columns:
        told = signature(columns)
        print(f"{source.name}: {f'read as {told}; ' if told else ''}a row is {ROW_IS[form_of(columns)]}.\n")
        print(table_of(columns))
    asked = question(columns)
    if asked is not None:
        print(f"\n{asked.text}")
        print("\n".join(f"  {options_for}" for options_for in asked.options()))
        print_result(form=form_of(columns), asks=asked.text)
        return 2
    data = load(with_own_votes(source))
    is_labelled = not (data.candidates is None and data.annotations is None and data.y is None)
    note([one for one in data.notes if is_labelled or one not in notes_of(data.notes, "labels")] + about_copies(data))
    if not is_labelled:
        data.sets()  # says what to do
    print(f"\n{summary(data)}")
    worth = None if data.annotations is None else worth_of_votes(data.annotations, data.y)
    if worth is not None:
        print(worth.sentence)
    if options.save is not None:
        of_others = replace(given.reading(columns, data), classes=source.classes)
        kept = Reading(**data.reading) if data.reading else of_others
        write_text(Path(options.save), kept.to_json() + "\n")
        print(options.save)
    annotations = data.annotations
    if options.disagree is not None and options.out is not None:
        print(write_disagreement(data, options.disagree, Path(options.out)))
    print_result(
        form=form_of(columns),
        examples=len(data),
        classes=list(data.class_names),
        voters=[] if annotations is None else list(annotations.annotator_names),
        answers=0 if annotations is None else annotations.n_answers,
        notes=[str(one) for one in data.notes],
        saved=options.save,
    )
    return 0


def table_of(columns: Sequence[Column]) -> str:
    """The columns, what each is taken for, and its first cells, as lines of text."""
    room = max(shutil.get_terminal_size((120, 24)).columns, 80)
    name = min(max(len(_short(column.name)) for column in columns), WIDTH)
    words = {column.at: f"{column.role}{'' if not column.guessed else ' ?'}" for column in columns}
    role = max(map(len, words.values()))
    lines = []
    for column in columns:
        cells = " · ".join(_short(cell or "") for cell in column.first)
        why = f" ({column.why})" if column.why else ""
        lines.append(f"{_short(column.name):{name}}  {words[column.at]:{role}}  {cells}{why}"[:room].rstrip())
    there = list(dict.fromkeys(column.role for column in columns))
    about = [f"  {one}: {ROLES[one]}" for one in there]
    ends = ["", *about, "", "? is proposed; another role: --column NAME=ROLE"]
    return "\n".join([*lines, *ends])


def summary(data: PartialLabelDataset) -> str:
    """What came of the file, in a line."""
    annotations, sets = data.annotations, data.candidates
    named = listing(short_names(data.class_names))
    words = [count(len(data), "example"), f"{count(data.n_classes, 'class', 'classes')} ({named})"]
    if annotations is not None:
        who = "voters without names" if annotations.anonymous else count(annotations.n_annotators, "voter")
        words.append(f"{count(annotations.n_answers, 'answer')} of {who}")
    if sets is not None:
        words.append(f"{sets.nnz / max(len(sets), 1):.2f} possible labels each")
    if data.y is not None:
        words.append(count(data.n_labelled, "true label"))
    words.append(f"learnt from: {listing(_learnt_from(data)) or 'nothing'}")
    return "; ".join(words) + "."


def _learnt_from(data: PartialLabelDataset) -> list[str]:
    """Names of all that features can be made of, texts and pictures first: they tell the most."""
    named = {
        "texts": ["the text"],
        "pictures": ["the pictures"],
        "words": [*data.categories],
        "numbers": [*data.feature_names] or [f"{prod(data.X.shape[1:]):,} numbers"],
    }
    return [name for content in named if content in data.contents for name in named[content]]


# ---- two who disagree ------------------------------------------------------------------------------------------------


def write_disagreement(data: PartialLabelDataset, voters: str, out: Path) -> str:
    """Write the rows on which two voters differ, with text and true label where there are any; return a summary.

    Parameters
    ----------
    data
        With the answers.
    voters
        Both names, with a comma.
    out
        The CSV file; columns id, text, annotator:A, annotator:B, true_label, which Candid reads again.

    Raises
    ------
    UserError
        No answers, no such voter, or not two.
    """
    annotations = data.annotations
    if annotations is None or annotations.anonymous or annotations.n_annotators < 2:
        raise UserError(f"{data.name} has no answers of two voters by name; --disagree needs them.")
    names = listed(voters, "--disagree", ",".join(annotations.annotator_names[:2]))
    unknown = [name for name in names if name not in annotations.annotator_names]
    if len(names) != 2 or unknown:
        what = f"names {unknown[0]!r}, who is no voter" if unknown else f"names {len(names)} voters"
        who = ", ".join(annotations.annotator_names[:12])
        raise UserError(f"--disagree {what}; give two of {who}.")
    first, second = (annotations.annotator_names.index(name) for name in names)
    rows = rows_of_disagreement(annotations, first, second)
    table: dict[str, npt.NDArray[np.str_ | np.object_]] = {"id": data.row_ids[rows]}
    if data.texts is not None:
        table["text"] = data.texts[rows]
    for name, at in zip(names, (first, second), strict=True):
        given = answers_of(annotations, at)[rows]
        sets = CandidateSets(given.indptr, given.indices, annotations.n_classes, annotations.class_names)
        table[f"annotator:{name}"] = candidate_cells(sets)
    if data.y is not None:
        table["true_label"] = np.array([*data.class_names, ""], dtype=object)[data.y[rows]]
    write_csv(out, pd.DataFrame(table, dtype=str))
    return f"{sentence_of_two(annotations, first, second)}\n{out}"

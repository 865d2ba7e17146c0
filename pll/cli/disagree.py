"""`read --disagree A,B --out FILE`: the rows on which two voters differ."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd

from pll.annotations.agreement import answers_of, rows_of_disagreement, sentence_of_two
from pll.candidates import CandidateSets
from pll.cli.options import listed
from pll.dataset import PartialLabelDataset
from pll.errors import UserError
from pll.formats.label_frame import candidate_cells
from pll.io import write_csv


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

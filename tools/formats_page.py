"""Writes docs/formats.md: `python -m tools.pages`.

The text is templates/formats.md.jinja. What a format holds is found out by asking it; the examples are the beginnings
of the files in assets/samples.
"""

from __future__ import annotations

import json
import zipfile
from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np
import openpyxl
import pyarrow.parquet
import scipy.io

from benchmarks.marked import table
from pll.annotations.data import Annotations
from pll.candidates import CandidateSets
from pll.dataset import PartialLabelDataset
from pll.formats import ENTRIES, FIELDS, FORMATS, Format, ReadOptions, json_objects
from pll.formats.forms import FORMS
from pll.formats.limitations import cannot_hold
from pll.formats.reading import ROLES
from pll.formats.tabular.builder import TableFormat
from pll.images import Pictures
from tools.templates import rendered

ROOT = Path(__file__).parents[1]
PATH = ROOT / "docs" / "formats.md"
SAMPLES = ROOT / "assets" / "samples"
_SHOWN = 4
"""Lines of an example."""


def markdown() -> str:
    """The whole page."""
    forms = FORMATS.values()
    overview = [
        [f"[`{form.name}`](#{form.name})", form.label, ", ".join(form.suffixes), form.adds, form.queue or "–"]
        for form in forms
    ]
    held = [[what, *("–" if _lost(form, data) else "✓" for form in forms)] for what, data in _with_one().items()]
    header = ["`--to`", "what it is", "endings", "what a run's labels add", "the least certain first"]
    return rendered(
        "formats",
        overview=table(header, overview),
        held=table(["", *(f"`{name}`" for name in FORMATS)], held),
        roles=table(["role", "what it is"], [[f"`{role}`", words] for role, words in ROLES.items()]),
        signatures=table(
            ["what it is", "told by", "a row is"],
            [[_cell(form.title), _cell(", ".join(form.told_by)), form.form] for form in FORMS],
        ),
        sections=[(form, _fields(form), _example(form)) for form in forms],
    )


def _fields(form: Format) -> str:
    rows = [row for one in ENTRIES[form.name]["fields"] for row in (FIELDS[one] if isinstance(one, str) else [one])]
    return table(["field", "what it means"], [[_cell(name), _cell(words)] for name, words in rows])


def _lost(form: Format, data: PartialLabelDataset) -> bool:
    """Whether writing this says that something is lost which writing the plainest data does not say."""
    return bool(set(cannot_hold(data, form)) - set(cannot_hold(_plain(), form)))


def _plain() -> PartialLabelDataset:
    sets = CandidateSets.from_lists([[0, 1], [1]], 2, ("0", "1"))
    return PartialLabelDataset(np.empty((2, 0), dtype=np.float32), sets)


def _with_one() -> dict[str, PartialLabelDataset]:
    plain = _plain()
    numbers = np.array([[0.5, 2], [1, 3]], dtype=np.float32)
    column = np.array(["one", None], dtype=object)
    names = np.array(["a.png", "b.png"], dtype=object)
    answers = Annotations(np.array([0, 0, 1]), np.array([0, 1, 0]), np.array([0, 1, 1]), 2, ("0", "1"), ("ann", "bob"))
    named = CandidateSets.from_lists([[0, 1], [1]], 2, ("a|b", "日本語"))
    missing = replace(plain, X=np.array([[np.nan], [1]], dtype=np.float32), feature_names=("w",), kind="table")
    return {
        "numbers as features": replace(plain, X=numbers),
        "names of features": replace(plain, X=numbers, feature_names=("width", "height")),
        "missing cells": missing,
        "images as arrays": replace(plain, X=np.zeros((2, 1, 2, 2), dtype=np.float32), kind="image"),
        "texts": replace(plain, texts=np.array(["one", "two\nlines"], dtype=object)),
        "names of pictures": replace(plain, pictures=Pictures(names)),
        "columns of words": replace(plain, categories={"colour": column}),
        "columns carried along": replace(plain, extras={"note": column}),
        "lists and numbers carried along": replace(plain, extras={"note": np.array([[1, 2], {"a": 1}], dtype=object)}),
        "who said what": replace(plain, annotations=answers),
        "true labels": replace(plain, y=np.array([0, -1])),
        "any class names": replace(plain, candidates=named, class_names=()),
        "ids": replace(plain, ids=np.array(["x", "y"])),
        "training and test part": replace(plain, is_test=np.array([False, True])),
    }


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _example(form: Format) -> str:
    """The beginning of the sample file, as far as eyes can read it."""
    path = SAMPLES / ENTRIES[form.name]["sample"]
    kind, text = "text", ""
    if form.name == "npz":
        with np.load(path) as arrays:
            text = "\n".join(f"{name:14} {arrays[name].shape} {arrays[name].dtype}" for name in arrays.files)
    elif form.name == "mat":
        text = "\n".join(
            f"{name:14} {' × '.join(map(str, shape))} {kind}" for name, shape, kind in scipy.io.whosmat(path)
        )
    elif path.suffix == ".parquet":
        schema = pyarrow.parquet.read_schema(path)
        text = "\n".join(f"{field.name:14} {field.type}" for field in schema)
    elif path.suffix == ".xlsx":
        book = openpyxl.load_workbook(path, read_only=True)
        text = "\n".join(" | ".join(map(str, row)) for row in islice(book.active.iter_rows(values_only=True), _SHOWN))
        book.close()
    elif path.suffix == ".zip":
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
            table = archive.read("table.csv").decode().splitlines()[:3]
        text = "\n".join([*names[:3], "…", names[-1] + ":", *(f"    {line}" for line in table)])
    elif path.suffix == ".json" and form.name != "plcifar":
        first = next(record for _, record in json_objects.records(path))
        kind, text = "json", f"[{json.dumps(first, ensure_ascii=False, indent=1)},\n …]"
    elif form.name == "plcifar":
        entries = json.loads(path.read_text(encoding="utf-8"))
        lines = [f" {json.dumps(key)}: {json.dumps(entries[key], ensure_ascii=False)}" for key in islice(entries, 3)]
        kind, text = "json", "{\n" + ",\n".join(lines) + ",\n …}"
    elif isinstance(form, TableFormat) and form.content == "binary":
        text = "\n".join(form.table(path, ReadOptions()).names)
    else:
        with path.open(encoding="utf-8") as file:
            text = "".join(islice(file, _SHOWN)).rstrip("\n")
    return f"`assets/samples/{path.name}`:\n\n```{kind}\n{text}\n```"

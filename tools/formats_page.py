"""Writes docs/formats.md: `python -m tools.pages`.

What a format holds is found out by asking it; the examples are the beginnings of the files in assets/samples.
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

from pll.annotations.data import Annotations
from pll.candidates import CandidateSets
from pll.dataset import PartialLabelDataset
from pll.formats import ENTRIES, FIELDS, FORMATS, Format, ReadOptions, json_objects
from pll.formats.forms import FORMS
from pll.formats.reading import ROLES
from pll.formats.tabular.format import TableFormat
from pll.images import Pictures

ROOT = Path(__file__).parents[1]
PATH = ROOT / "docs" / "formats.md"
SAMPLES = ROOT / "assets" / "samples"
_SHOWN = 4
"""Lines of an example."""

_HEAD = """\
# File formats

<!-- Written by `python -m tools.pages` from pll/formats. Change it there. -->

For whoever brings a file, or reads one that Candid wrote.

A file is recognised by its content, whatever its name. The same readers serve the Data page, the shell and Python:

```sh
python -m pll convert reviews.json --to csv --out reviews.csv      # from one format to another
python -m pll convert RUN_DIR --to labelstudio --out labelled.json # a run's labels, back into the format they came from
```

```py
from pll import formats

data = formats.read("reviews.json", options=formats.ReadOptions(columns={"comment": "text"}))
print(formats.FORMATS["csv"].cannot_hold(data))  # what the format would lose
formats.write(data, "reviews.csv")
```

**Back where it came from.** A run keeps a copy of its source (above 100 MB: its path and checksum). Written into the
format it came from, that file is written again with the labels added: ids, fields, other people's answers and columns
that Candid does not read stay as they are. Where something would not stay, or a label is a class that a reviewer added
and the format has no place for it, the export page and the shell say it, with how many, before anything is written.
Tools whose files people go through one by one can have the least certain first (the switch on the page,
`--uncertain-first` in the shell).

**Bad files.** Readers trust nothing: sizes are checked before memory is asked for, nothing is ever unpickled, paths
never lead out of an archive, no address in a file is followed. Whatever is wrong is said with the file, the row (or
field, variable, array) and what to do about it.
"""

_SPRITES = """\
## Anything else: a few lines of Python

Arrays that you can make in Python are two lines away from Candid, as `.npz`. As an example, images that are packed
into one large picture of 100 × 100 tiles, with the votes of about 51 people each (CIFAR-10H); a label that at least two
people gave is a candidate:

```python
import numpy as np
from PIL import Image

sheet = np.asarray(Image.open("cifar10/test_batch.webp").convert("RGB"))  # (3200, 3200, 3)
tiles = sheet.reshape(100, 32, 100, 32, 3).swapaxes(1, 2)  # image i at [i // 100, i % 100]
X = tiles.reshape(-1, 32, 32, 3).transpose(0, 3, 1, 2).astype(np.float32) / 255  # (10000, 3, 32, 32)

names = np.load("cifar10/labels.npz", allow_pickle=False)
votes = np.load("cifar10/human_labels.npz", allow_pickle=False)["cifar10h_counts"]  # (10000, 10)
y = names["test"].astype(np.int64)
np.savez("cifar10h.npz", X=X, candidates=votes >= 2, y=y, class_names=names["names"])
```

The result has 10,000 images with 1.35 candidates on average; the true label is among them for 99.96 %.
"""


def markdown() -> str:
    """The whole page."""
    parts = [_HEAD, _overview(), _held(), _parts_of_columns(), _signatures()]
    return "\n".join([*parts, *(_section(form) for form in FORMATS.values()), _SPRITES])


def _overview() -> str:
    rows = [
        f"| [`{form.name}`](#{form.name}) | {form.label} | {', '.join(form.suffixes)} | {form.adds} | "
        f"{form.queue or '–'} |"
        for form in FORMATS.values()
    ]
    head = (
        "| `--to` | what it is | endings | what a run's labels add | the least certain first |\n|---|---|---|---|---|"
    )
    return "## All of them\n\n" + "\n".join([head, *rows]) + "\n"


def _held() -> str:
    """A table found out by asking every format about a dataset that has one thing more than the plainest."""
    marks = {
        what: ["–" if _lost(form, data) else "✓" for form in FORMATS.values()] for what, data in _with_one().items()
    }
    rows = [f"| {what} | {' | '.join(cells)} |" for what, cells in marks.items()]
    head = f"| | {' | '.join(f'`{name}`' for name in FORMATS)} |\n|---|{'---|' * len(FORMATS)}"
    text = "What comes back exactly when a dataset is written and read again. A dash: it is lost, and said so before.\n"
    return "\n".join(["## What each holds\n", text, head, *rows]) + "\n"


def _lost(form: Format, data: PartialLabelDataset) -> bool:
    """Whether writing this says that something is lost which writing the plainest data does not say."""
    return bool(set(form.cannot_hold(data)) - set(form.cannot_hold(_plain())))


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


def _parts_of_columns() -> str:
    roles = "\n".join(f"| `{role}` | {words} |" for role, words in ROLES.items())
    return f"""## What a column can be

One table of rules says it, the same for every format (`pll/formats/roles.py`):

1. what you say: on the data page, `--column NAME=ROLE` in the shell, `read(path, columns=…)` in Python;
2. reserved and usual names (`gold`, `worker_id`, `Fall-Nr.`);
3. the type of the cells: 0 and 1, numbers, lists, pictures, dates, texts, few words;
4. columns of words with one vocabulary are voters, however bad one of them is: where it is that of the truth or the
   candidates, or where there are three or more.

Where two roles are possible, one question is asked: two such columns, words like yes and no, three or more with
another vocabulary than the truth, one answer a line under other names. The shell stops and prints the `--column`
options for each answer. A column with a usual name for labels, or in such a vocabulary, is never learnt from unless
you say so.

Labels that differ by case, spaces or a final full stop, comma or exclamation mark are one class; that is said, and
undone with a click or `--no-merge`.

| role | what it is |
|---|---|
{roles}
"""


def _signatures() -> str:
    told = "\n".join(f"| {_cell(form.title)} | {_cell(', '.join(form.told_by))} | {form.form} |" for form in FORMS)
    return f"""## Tables that are known

What their columns are is certain; `pll/formats/forms.toml` says it. One more is ten lines there and a sample.

| what it is | told by | a row is |
|---|---|---|
{told}
"""


def _section(form: Format) -> str:
    rows = [row for one in ENTRIES[form.name]["fields"] for row in (FIELDS[one] if isinstance(one, str) else [one])]
    fields = "\n".join(f"| {_cell(name)} | {_cell(words)} |" for name, words in rows)
    return f"""## {form.name}

{form.label}, {" or ".join(f"`{suffix}`" for suffix in form.suffixes)}. {form.row_note}

| field | what it means |
|---|---|
{fields}

{_example(form)}
"""


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

"""What the README of an export says of the files that hold labels."""

from __future__ import annotations

from collections.abc import Callable

from pll.export.markdown import code
from pll.export.source import ExportSource


def labels_section(source: ExportSource) -> str:
    return """## labels.csv: one row an example, in the order of the data

| column | what it is |
|---|---|
| id | of the example, as in the data |
| identified_label | the label to use: the candidate of the highest weight, or what a person decided |
| confidence | the highest weight: 1 is certain (a weight, not a promise of that accuracy) |
| margin | the highest weight minus the second; 1 where there is one candidate |
| entropy | 0 is decided, 1 is undecided between all candidates |
| candidates | the labels it might have had, joined by `|` (a JSON list where a name would not survive that) |
| source | `model` or `human`; confidence, margin and entropy are the model's in either case |
| reviewer, decided_at | who decided and when, where a person did |
| true_label | where it was known |

""" + code("""
import pandas as pd

# Without these two options pandas would take labels such as NA or None for missing ones.
labels = pd.read_csv("labels.csv", dtype=str, keep_default_na=False)
labels = labels.astype({"confidence": float, "margin": float, "entropy": float})
print(labels.sort_values("confidence").head(10))  # the least certain first
""")


def _parquet(source: ExportSource) -> str:
    return (
        "## labels.parquet: the same, with types\n\n`candidates` is a list of names; missing values are null.\n\n"
    ) + code("""
import pandas as pd

table = pd.read_parquet("labels.parquet")
print(table["identified_label"].value_counts())
""")


def _jsonl(source: ExportSource) -> str:
    return "## labels.jsonl: the same, a JSON object a line\n\n" + code("""
import json

with open("labels.jsonl", encoding="utf-8") as lines:
    records = [json.loads(line) for line in lines]
print(records[0]["id"], records[0]["identified_label"], records[0]["candidates"])
""")


def _audit(source: ExportSource) -> str:
    return """## audit.csv, audit.jsonl: how the decisions came about

Every decision and every undo, in their order, each with `at` (UTC), `reviewer` (`verified` where somebody vouched for
the name), `kind`, the example's `id`, its label `before` and `after`, the `seconds` spent, the candidates and weights
that were `shown`, and the `queue` it came up in. `undone` ones no longer count. `control` marks random controls.
A row of kind `round` is no decision: from there on other labels were under review. Its `note` says how they came about
(`first`, `taught`, `taken over`, `new promise`, `run went on`) and what was promised of them, `reviewer` by whom.

""" + code("""
import pandas as pd

audit = pd.read_csv("audit.csv", dtype=str, keep_default_na=False)
standing = audit[(audit["undone"] == "false") & ~audit["kind"].isin(["undo", "round"])]
print(standing.groupby("reviewer")["kind"].value_counts())
""")


def _confidence(source: ExportSource) -> str:
    found = source.calibration
    assert found is not None  # there is a file of it
    return (
        "## confidence.csv: confidence, put right by review\n\n"
        "`calibrated_confidence` is the chance that the model's own label is right, as fitted on "
        f"{found.decisions:,} random controls. The expected calibration error on these was {found.before.error:.3f} "
        f"before, and is {found.after.error:.3f} after (each control judged by a fit without it).\n\n"
    ) + code("""
import pandas as pd

confidence = pd.read_csv("confidence.csv", dtype={"id": str}, keep_default_na=False)
print(confidence.describe())
""")


def _label_weights(source: ExportSource) -> str:
    return (
        "## label_weights.npz: the weight of every candidate\n\n"
        "A sparse matrix, examples × classes. Every candidate is stored, and nothing else; a row sums to 1.\n\n"
    ) + code("""
import numpy as np
import scipy.sparse

weights = scipy.sparse.load_npz("label_weights.npz")
with np.load("label_weights.npz") as arrays:  # the names are in the same file
    ids, class_names = arrays["ids"], arrays["class_names"]
start, end = weights.indptr[:2]  # the first example
print(ids[0], dict(zip(class_names[weights.indices[start:end]], weights.data[start:end])))
""")


SECTIONS: dict[str, Callable[[ExportSource], str]] = {
    "labels.parquet": _parquet,
    "labels.jsonl": _jsonl,
    "confidence.csv": _confidence,
    "audit.csv": _audit,
    "label_weights.npz": _label_weights,
}
"""By file, in the order of reading; labels.csv is always there."""

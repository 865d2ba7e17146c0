"""The README of an export: what each file is and how to use it, with code that runs as it stands."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Sequence

import pll
from pll.export.programs import BATCH, CLASS_NAMES, INPUT, OUTPUT
from pll.export.source import ExportSource
from pll.features.store import ARRAYS_FILE as FEATURES_ARRAYS
from pll.features.store import CARD_FILE as FEATURES_CARD
from pll.persistence import CARD_FILE, WEIGHTS_FILE, custom_parameters

_NAMES_SHOWN = 30
"""Names listed in full; of more classes or features, these many and a hint where the others stand."""


def readme(source: ExportSource, files: Collection[str], notes: Sequence[str]) -> str:
    """The Markdown text.

    Args:
        files: names of the files that are there; only these are described.
        notes: what is not there, and why.
    """
    parts = [_head(source), _labels(source)]
    parts += [section(source) for name, section in _SECTIONS.items() if name in files]
    if notes:
        parts.append("## Not in this export\n\n" + "\n".join(f"- {note}" for note in notes))
    parts.append(_how_it_was_made(source))
    return "\n\n".join(parts) + "\n"


def _head(source: ExportSource) -> str:
    estimator, sets = source.estimator, source.candidates
    decided = len(source.decisions or {})
    by_hand = f"; people decided {decided:,} of them" if decided else ""
    return f"""# Labels of {" ".join(source.name.split())}

{len(sets):,} examples, {sets.n_classes} classes, {sets.nnz / max(len(sets), 1):.2f} candidates an example on average.
{estimator.title} identified one label for each{by_hand}. Written by Candid {pll.__version__}.

{_taken_over(source)}Classes, in the order of every model output: {_listed(sets.class_names)}.

Run the code below in this folder, with Python."""


def _taken_over(source: ExportSource) -> str:
    if not source.taken_over:
        return ""
    return (
        "Where nobody decided, labels, confidence, margin, entropy and label weights are those that Candid proposed "
        "from people's decisions, and that were taken over in the review. The model files and the figures at the "
        "end are of the run before that.\n\n"
    )


def _labels(source: ExportSource) -> str:
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

""" + _code("""
import pandas as pd

# Without these two options pandas would take labels such as NA or None for missing ones.
labels = pd.read_csv("labels.csv", dtype=str, keep_default_na=False)
labels = labels.astype({"confidence": float, "margin": float, "entropy": float})
print(labels.sort_values("confidence").head(10))  # the least certain first
""")


def _parquet(source: ExportSource) -> str:
    return (
        "## labels.parquet: the same, with types\n\n`candidates` is a list of names; missing values are null.\n\n"
    ) + _code("""
import pandas as pd

table = pd.read_parquet("labels.parquet")
print(table["identified_label"].value_counts())
""")


def _jsonl(source: ExportSource) -> str:
    return "## labels.jsonl: the same, a JSON object a line\n\n" + _code("""
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

""" + _code("""
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
    ) + _code("""
import pandas as pd

confidence = pd.read_csv("confidence.csv", dtype={"id": str}, keep_default_na=False)
print(confidence.describe())
""")


def _label_weights(source: ExportSource) -> str:
    return (
        "## label_weights.npz: the weight of every candidate\n\n"
        "A sparse matrix, examples × classes. Every candidate is stored, and nothing else; a row sums to 1.\n\n"
    ) + _code("""
import numpy as np
import scipy.sparse

weights = scipy.sparse.load_npz("label_weights.npz")
with np.load("label_weights.npz") as arrays:  # the names are in the same file
    ids, class_names = arrays["ids"], arrays["class_names"]
start, end = weights.indptr[:2]  # the first example
print(ids[0], dict(zip(class_names[weights.indices[start:end]], weights.data[start:end])))
""")


def _model(source: ExportSource) -> str:
    text = f"""## {WEIGHTS_FILE} + {CARD_FILE}: the model, for Candid

Keep the two together. They need Candid (the package `pll`) to load; neither file can run code.

{_takes(source)}

"""
    custom = custom_parameters(source.estimator)
    if custom:
        given = ", ".join(f"{name}=…" for name in custom)
        return text + (
            f"It was fitted with objects of your own ({', '.join(custom)}), which a file cannot hold. Pass the same "
            f'ones again: `pll.persistence.load_model(".", {given})`; {CARD_FILE} says which they were.'
        )
    return text + _code(f"""
import numpy as np
from pll.persistence import load_model

model = load_model(".")
{_features(source)}
predicted = model.predict(features)
print([model.class_names_[j] for j in predicted])
""")


def _features_made(source: ExportSource) -> str:
    made = source.features
    assert made is not None  # there is a file of it
    arrays = f" + {FEATURES_ARRAYS}" if made.state()[1] else ""
    return f"""## {FEATURES_CARD}{arrays}: how the model's features are made

The model does not see {_and(made.reads)} themselves, but {_many(source)} that were made of them: {made.title}.
Candid makes them of new data, and predicts, in this folder. It keeps no code in these files, and they run none:

```sh
python -m pll predict . NEW_DATA --out predictions.csv
```

{CARD_FILE}, model.pt2 and model.onnx take these features, not {_and(made.reads)}; for any of them make the features so:

```py
from pll import formats
from pll.features import featurised, load_features

features = featurised(formats.read("NEW_DATA"), load_features(".")).X
```"""


def _many(source: ExportSource) -> str:
    return f"{source.input_shape[0]:,} numbers" if len(source.input_shape) == 1 else "pixels"


def _and(words: Sequence[str]) -> str:
    return " and ".join(words)


def _torch_program(source: ExportSource) -> str:
    return f"""## model.pt2: the model as a PyTorch program

Needs PyTorch alone.

{_takes(source)}
{_gives(source)}

""" + _code(f"""
import json

import numpy as np
import torch

extra = {{"{CLASS_NAMES}.json": ""}}
program = torch.export.load("model.pt2", extra_files=extra).module()
class_names = json.loads(extra["{CLASS_NAMES}.json"])
{_features(source)}
with torch.no_grad():
    {OUTPUT} = program(torch.from_numpy({INPUT})).numpy()
print([class_names[j] for j in {OUTPUT}.argmax(axis=1)])
""")


def _onnx(source: ExportSource) -> str:
    return f"""## model.onnx: the model as ONNX

Runs in any language that has an ONNX runtime.

{_takes(source)}
{_gives(source)}

""" + _code(f"""
import json

import numpy as np
import onnxruntime

session = onnxruntime.InferenceSession("model.onnx")
class_names = json.loads(session.get_modelmeta().custom_metadata_map["{CLASS_NAMES}"])
{_features(source)}
({OUTPUT},) = session.run(["{OUTPUT}"], {{"{INPUT}": {INPUT}}})
print([class_names[j] for j in {OUTPUT}.argmax(axis=1)])
""")


def _how_it_was_made(source: ExportSource) -> str:
    made = {"method": source.method, **source.config}
    text = "## How it was made\n\n" + _json_block(made)
    if source.metrics:
        text += "\n\nHow good it is (shares are fractions, 0 to 1):\n\n" + _json_block(dict(source.metrics))
    return text


def _replay(source: ExportSource) -> str:
    return """## replay.html: the run, to scrub through

Open it in any browser; it loads nothing from anywhere. On a web page of your own:
`<iframe src="replay.html#epoch=10" style="width: 100%; height: 900px; border: 0"></iframe>`.
It holds up to 2,000 examples with their ids, pictures or texts, and true labels: think before you publish it."""


_SECTIONS: dict[str, Callable[[ExportSource], str]] = {
    "labels.parquet": _parquet,
    "labels.jsonl": _jsonl,
    "confidence.csv": _confidence,
    "audit.csv": _audit,
    "label_weights.npz": _label_weights,
    CARD_FILE: _model,
    FEATURES_CARD: _features_made,
    "model.pt2": _torch_program,
    "model.onnx": _onnx,
    "replay.html": _replay,
}


def _takes(source: ExportSource) -> str:
    kind = "raw features" if len(source.input_shape) == 1 else "raw images, channels × height × width"
    if source.features is not None:
        kind = f"features as {FEATURES_CARD} makes them of {_and(source.features.reads)} (see there)"
    shape = ", ".join(str(size) for size in source.input_shape)
    text = f"- Input `{INPUT}`: ({BATCH}, {shape}) float32, {kind}; scaling happens inside."
    if source.feature_names:
        text += f"\n- Columns, in this order: {_listed(source.feature_names)}."
    return text


def _gives(source: ExportSource) -> str:
    return (
        f"- NaN in it stands for a missing value, and any number of examples goes in at once.\n"
        f"- Output `{OUTPUT}`: ({BATCH}, {source.candidates.n_classes}) float32, rows sum to 1."
    )


def _features(source: ExportSource) -> str:
    return f"features = np.zeros({(2, *source.input_shape)}, dtype=np.float32)  # your examples, in place of these two"


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(_quoted(name) for name in names[:_NAMES_SHOWN])
    more = len(names) - _NAMES_SHOWN
    return shown + (f" and {more:,} more (all of them are in {CARD_FILE})" if more > 0 else "")


def _quoted(name: str) -> str:
    """A name as Markdown code on one line, whatever it holds."""
    plain = name if name and name.isprintable() and name == name.strip() else json.dumps(name, ensure_ascii=False)
    return f"`` {plain} ``" if "`" in plain else f"`{plain}`"


def _code(text: str) -> str:
    return f"```python\n{text.strip()}\n```"


def _json_block(values: dict[str, object]) -> str:
    return f"```json\n{json.dumps(values, indent=2, ensure_ascii=False, default=str)}\n```"

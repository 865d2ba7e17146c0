"""What the README of an export says of the files that hold the model, with code that runs each as it stands."""

from __future__ import annotations

from collections.abc import Callable

from pll.export.markdown import code, listed
from pll.export.programs import BATCH, CLASS_NAMES, INPUT, OUTPUT
from pll.export.source import ExportSource
from pll.features.store import ARRAYS_FILE as FEATURES_ARRAYS
from pll.features.store import CARD_FILE as FEATURES_CARD
from pll.methods.persistence import CARD_FILE, WEIGHTS_FILE, custom_parameters


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
            f'ones again: `pll.methods.persistence.load_model(".", {given})`; {CARD_FILE} says which they were.'
        )
    return text + code(f"""
import numpy as np
from pll.methods.persistence import load_model

model = load_model(".")
{_features(source)}
predicted = model.predict(features)
print([model.class_names_[j] for j in predicted])
""")


def _features_made(source: ExportSource) -> str:
    made = source.features
    assert made is not None  # there is a file of it
    arrays = f" + {FEATURES_ARRAYS}" if made.state()[1] else ""
    read = " and ".join(made.reads)
    return f"""## {FEATURES_CARD}{arrays}: how the model's features are made

The model does not see {read} themselves, but {_many(source)} that were made of them: {made.title}.
Candid makes them of new data, and predicts, in this folder. It keeps no code in these files, and they run none:

```sh
python -m pll predict . NEW_DATA --out predictions.csv
```

{CARD_FILE}, model.pt2 and model.onnx take these features, not {read}; for any of them make the features so:

```py
from pll import formats
from pll.features import featurised, load_features

features = featurised(formats.read("NEW_DATA"), load_features(".")).X
```"""


def _torch_program(source: ExportSource) -> str:
    return f"""## model.pt2: the model as a PyTorch program

Needs PyTorch alone.

{_takes(source)}
{_gives(source)}

""" + code(f"""
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

""" + code(f"""
import json

import numpy as np
import onnxruntime

session = onnxruntime.InferenceSession("model.onnx")
class_names = json.loads(session.get_modelmeta().custom_metadata_map["{CLASS_NAMES}"])
{_features(source)}
({OUTPUT},) = session.run(["{OUTPUT}"], {{"{INPUT}": {INPUT}}})
print([class_names[j] for j in {OUTPUT}.argmax(axis=1)])
""")


def _takes(source: ExportSource) -> str:
    kind = "raw features" if len(source.input_shape) == 1 else "raw images, channels × height × width"
    if source.features is not None:
        kind = f"features as {FEATURES_CARD} makes them of {' and '.join(source.features.reads)} (see there)"
    shape = ", ".join(str(size) for size in source.input_shape)
    text = f"- Input `{INPUT}`: ({BATCH}, {shape}) float32, {kind}; scaling happens inside."
    if source.feature_names:
        text += f"\n- Columns, in this order: {listed(source.feature_names, CARD_FILE)}."
    return text


def _gives(source: ExportSource) -> str:
    return (
        f"- NaN in it stands for a missing value, and any number of examples goes in at once.\n"
        f"- Output `{OUTPUT}`: ({BATCH}, {source.candidates.n_classes}) float32, rows sum to 1."
    )


def _features(source: ExportSource) -> str:
    return f"features = np.zeros({(2, *source.input_shape)}, dtype=np.float32)  # your examples, in place of these two"


def _many(source: ExportSource) -> str:
    return f"{source.input_shape[0]:,} numbers" if len(source.input_shape) == 1 else "pixels"


SECTIONS: dict[str, Callable[[ExportSource], str]] = {
    CARD_FILE: _model,
    FEATURES_CARD: _features_made,
    "model.pt2": _torch_program,
    "model.onnx": _onnx,
}
"""By file, in the order of reading."""

"""The README of an export: what each file is and how to use it, with code that runs unchanged.

The text is in `templates/README.md.jinja`; the values it needs are collected here.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import pll
from pll.export.programs import BATCH_AXIS, CLASS_NAMES_KEY, INPUT, OUTPUT
from pll.export.rendered import rendered
from pll.export.source import ExportSource
from pll.features.serialization import ARRAYS_FILE, FEATURES_FILE
from pll.methods.persistence import MODEL_CARD_FILE, WEIGHTS_FILE, parameters_of

_SHOWN = 30
"""Names listed in full; of more, these many and a hint where the others are."""


def readme(source: ExportSource, files: Collection[str], notes: Sequence[str]) -> str:
    """Return the Markdown text.

    Parameters
    ----------
    source
        What is exported.
    files
        Names of the files that are there; only these are described.
    notes
        What is not there, and why.
    """
    sets, train = source.train.given_sets, source.train
    return rendered(
        "README.md.jinja",
        source=source,
        train=train,
        features=source.splits.featuriser,
        files=files,
        notes=notes,
        sets=sets,
        mean_candidates=sets.nnz / max(len(sets), 1),
        custom=list(parameters_of(source.estimator)[1]),
        made={"method": source.method, **source.config},
        version=pll.__version__,
        model_card=MODEL_CARD_FILE,
        model_weights=WEIGHTS_FILE,
        features_card=FEATURES_FILE,
        features_arrays=ARRAYS_FILE,
        class_names=CLASS_NAMES_KEY,
        input=INPUT,
        output=OUTPUT,
        batch=BATCH_AXIS,
        shown=_SHOWN,
    )

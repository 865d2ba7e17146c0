"""The README of an export: what each file is and how to use it, with code that runs unchanged.

The text is in `templates/README.md.jinja`; the values it needs are collected here.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence

from jinja2 import Environment, PackageLoader, StrictUndefined

import pll
from pll.export.programs import BATCH_AXIS, CLASS_NAMES_KEY, INPUT, OUTPUT
from pll.export.source import ExportSource
from pll.features.serialization import ARRAYS_FILE
from pll.features.serialization import CARD_FILE as FEATURES_CARD
from pll.methods.persistence import CARD_FILE, WEIGHTS_FILE, custom_parameters

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
    sets = source.given_sets or source.candidates
    return (
        _environment()
        .get_template("README.md.jinja")
        .render(
            source=source,
            files=files,
            notes=notes,
            sets=sets,
            mean_candidates=sets.nnz / max(len(sets), 1),
            custom=list(custom_parameters(source.estimator)),
            made={"method": source.method, **source.config},
            version=pll.__version__,
            model_card=CARD_FILE,
            model_weights=WEIGHTS_FILE,
            features_card=FEATURES_CARD,
            features_arrays=ARRAYS_FILE,
            class_names=CLASS_NAMES_KEY,
            input=INPUT,
            output=OUTPUT,
            batch=BATCH_AXIS,
        )
    )


def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("pll.export"),
        undefined=StrictUndefined,
        autoescape=False,  # Markdown; names are quoted by `listed`
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {"listed": _listed, "quoted": _quoted, "json_block": _json_block}
    return environment


def _listed(names: Sequence[str]) -> str:
    """Return names as Markdown code; of many, the first ones and where the others are."""
    listed = ", ".join(map(_quoted, names[:_SHOWN]))
    more = len(names) - _SHOWN
    return listed + (f" and {more:,} more (all of them are in {CARD_FILE})" if more > 0 else "")


def _quoted(name: str) -> str:
    """Return a name as Markdown code on one line, whatever it holds."""
    plain = name if name and name.isprintable() and name == name.strip() else json.dumps(name, ensure_ascii=False)
    return f"`` {plain} ``" if "`" in plain else f"`{plain}`"


def _json_block(values: Mapping[str, object]) -> str:
    """Return a Markdown block of JSON; other types as text."""
    return f"```json\n{json.dumps(values, indent=2, ensure_ascii=False, default=str)}\n```"

"""Tables of runs: one row a run with its results and health, and the settings in which runs differ."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import pandas as pd

from pll.analysis.health import Health
from pll.errors import UserError
from pll.methods import METHODS, get_method, method_title
from pll.runs.run import Run

COLUMNS = (
    *("id", "name", "data", "candidates", "method", "model", "state", "created", "epochs", "seed"),
    *("transductive_accuracy", "known_labels", "test_accuracy", "known_test_labels", "mean_confidence", "health"),
)


def runs_frame(runs: Sequence[Run]) -> pd.DataFrame:
    """Return one row a run, in the given order; runs whose files cannot be read are left out.

    Columns:
        id, name, data, candidates, method, model, state, seed: what was run; `candidates` as `RunConfig.candidates`.
        created: time of creation.
        epochs: complete.
        transductive_accuracy, test_accuracy, mean_confidence: shares, of the latest epoch; missing where not known.
        known_labels, known_test_labels: how many true labels those shares are of; missing before the end of the run.
        health: see `health_words`; "" of a run that has not ended.
    """
    rows = []
    for run in runs:
        with suppress(UserError, OSError):  # damaged, or deleted meanwhile
            rows.append(_row(run))
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _row(run: Run) -> dict[str, Any]:
    config, snapshot = run.config, run.snapshot()
    latest = (snapshot.rows[-1] if snapshot.rows else {}) | (snapshot.metrics or {})
    shares = {name: latest.get(name) for name in COLUMNS if name.startswith(("transductive", "test", "mean", "known"))}
    method = method_title(config.method)
    return {
        "id": run.id,
        "name": snapshot.name,
        "data": config.source.name,
        "candidates": config.candidates,
        "method": method,
        "model": str(run_settings(run).get("model", "")),
        "state": snapshot.state,
        "created": pd.Timestamp(run.folder.created()),
        "epochs": snapshot.epoch,
        "seed": config.seed,
        "health": health_words(snapshot.health),
        **shares,
    }


def health_words(health: Health | None) -> str:
    """Return the health of a run in a few words.

    Examples
    --------
    >>> health_words(None), health_words(Health("unchecked"))
    ('', 'not checked')
    """
    if health is None:
        return ""
    if health.verdict == "unhealthy":
        return ", ".join(finding.name for finding in health.findings)
    return "not checked" if health.verdict == "unchecked" else health.verdict


def run_settings(run: Run) -> dict[str, Any]:
    """Return everything that a run was made with, by name: data, candidate sets, split, method and its settings.

    Settings that a recipe has chosen are those that it chose.
    """
    config = run.config
    facts: dict[str, Any] = {
        "data": config.source.name,
        "candidates": config.candidates,
        "features": config.features,
        "held out": config.holdout,
        "method": config.method,
        "seed": config.seed,
    }
    about = run.folder.about()
    classes = {"classes": config.source.classes} if config.source.classes else {}
    examples = {"examples": about["data"]["examples"]} if "examples" in about.get("data", {}) else {}
    chosen = {name: value for name, value in about.get("parameters", {}).items() if name not in ("seed", "threads")}
    given = {name: value for name, value in config.params.items() if name not in ("seed", "threads")}
    usual = get_method(config.method)().get_params() if config.method in METHODS else {}
    usual = {name: value for name, value in usual.items() if name not in ("seed", "threads")}
    return facts | classes | examples | usual | given | chosen


def differences(runs: Sequence[Run]) -> pd.DataFrame:
    """Return the settings in which runs differ: a row a setting, a column a run (its id), values as text.

    A setting that a run does not have is "–".
    """
    settings = {run.id: run_settings(run) for run in runs}
    names = dict.fromkeys(name for known in settings.values() for name in known)
    rows = {}
    for name in names:
        values = [_text(known[name]) if name in known else "–" for known in settings.values()]
        if len(set(values)) > 1:
            rows[name] = values
    return pd.DataFrame.from_dict(rows, orient="index", columns=list(settings)).rename_axis("setting").reset_index()


def _text(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else "–" if value is None else str(value)

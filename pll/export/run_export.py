"""From a run's folder to its exports."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from pll.export.bundle import ExportResult, FilesDone, export_all
from pll.export.replay.page import replay_html
from pll.export.source import ExportSource
from pll.methods.persistence import load_model
from pll.review.follow import labels_now
from pll.review.label_snapshot import snapshot_of
from pll.review.record import record_of
from pll.review.signals import ReviewSignals
from pll.review.status import status_of
from pll.runs import run_data
from pll.runs.data import Splits
from pll.runs.folder import RunFolder, check_has_result


def export_source(folder: RunFolder, splits: Splits | None = None) -> ExportSource:
    """What the exporters need, from a run that has ended.

    Parameters
    ----------
    folder
        Of the run.
    splits
        Its data, where that is read already.

    Raises
    ------
    UserError
        The run has no result yet, or its data is gone.
    """
    check_has_result(folder)
    splits, state = splits or run_data.splits_of(folder), folder.state()
    train = splits.train
    own = labels = snapshot_of(folder, train)
    record = record_of(folder, own)
    if record is not None:
        own.check_rows(record.state.all_events)
        labels = labels_now(ReviewSignals.of_run(folder, train, record.first), folder.config(), train, record.state)[2]
    begun = None if record is None else record.certification
    name = folder.config().name or train.name
    return ExportSource(
        load_model(folder.path),
        folder.config().method,
        labels,
        splits,
        name,
        own,
        record,
        None if record is None else record.state.decisions(),
        certificate=None if record is None else partial(record.certified, name),
        status=status_of(
            labels.certainty,
            None if record is None else record.state,
            health=state["health"],
            certificate="" if record is None or begun is None else begun.claim(labels.labels, record.state),
        ),
        health=state["health"],
        config=_how_it_was_made(folder),
        metrics=state.get("metrics") or {},
        warnings=tuple(folder.about().get("data", {}).get("warnings", ())),
        replay=partial(replay_html, folder, train),
    )


def _how_it_was_made(folder: RunFolder) -> dict[str, Any]:
    """Return the settings that explain the labels, without anything about this machine."""
    about, config = folder.about(), folder.config()
    return {
        "data": config.source.name,
        "sha256": config.source.sha256,
        "candidates": config.candidates,
        "held_out": config.holdout,
        "seed": config.seed,
        "method": config.method,
        "recipe": config.params.get("recipe", "default"),
        "parameters": about.get("parameters", {}),
        "created": about.get("created"),
        "versions": about.get("versions", {}),
    }


def export_run(
    folder: RunFolder, out: Path, *, spreadsheet_safe: bool = False, progress: FilesDone | None = None
) -> ExportResult:
    """Write all files of a run and one ZIP of them into `out`.

    Parameters
    ----------
    folder
        Of the run.
    out
        Folder to write into.
    spreadsheet_safe
        Neutralise cells of CSV files that spreadsheets would execute.
    progress
        Called before each file.
    """
    return export_all(replace(export_source(folder), spreadsheet_safe=spreadsheet_safe), out, progress=progress)

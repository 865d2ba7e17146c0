"""The commands of the command line but `fit`. Progress goes to stderr, results to stdout."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from pll import catalog, formats
from pll.catalog.sources import source_of
from pll.cli import declared
from pll.cli.options import prepared, read_as, resolve_source, said_of_reading, source_like
from pll.cli.output import Bars, load, note, print_result
from pll.errors import UserError, notes_of
from pll.export.convert import convert as convert_to
from pll.export.predictions import Predictor, learnt_roles
from pll.export.spreadsheet import formula_messages
from pll.formats.classes import class_edits
from pll.io import write_csv
from pll.review.record import missing_review
from pll.runs.config import Preparation
from pll.runs.data import Making, warnings_about
from pll.runs.files import MANIFEST_FILE
from pll.runs.folder import RunFolder, check_has_result
from pll.runs.manifest import damages, is_verifiable, read_manifest
from pll.synthesis.ambiguity import ambiguity_degree


def datasets(_: declared.DatasetsOptions) -> None:
    """List the catalogue."""
    for entry in catalog.CATALOG.values():
        shape = "×".join(str(size) for size in entry.shape)
        where = "embedded" if entry.embedded else "on this machine" if _is_here(entry) else entry.page
        print(f"{entry.name:18} {entry.n:>7,} × {shape:<10} {entry.c:>4} classes  {entry.title}: {where}")
    print_result(datasets=len(catalog.CATALOG))


def convert(options: declared.ConvertOptions) -> None:
    """Write data, or a run's labels, in another format; a note says first what the format cannot hold."""
    folder = RunFolder(Path(options.origin))
    source = None if folder.exists() else read_as(source_of(options.origin), options)
    said = said_of_reading(options) or options.reading or options.source_format or options.combine != "union"
    if said and (source is None or source.path is None):
        raise UserError(
            f"--column, --classes, --combine and the like are for files; how {options.origin} is read is known."
        )
    if source is None and class_edits(options.merge, options.rename, options.drop):
        raise UserError(f"--merge, --rename and --drop are for data; {options.origin} is a run, whose classes stay.")
    if source is not None and (options.uncertain_first or options.by_example):
        raise UserError(f"--uncertain-first and --by-example are for the labels of a run; {options.origin} is none.")
    if source is None:
        note(missing_review(folder))
    elif source.path is not None:
        more = {"combine": options.combine}
        source = replace(source, format=options.source_format, options=source.options | more)
    done = convert_to(
        source or folder,
        options.to,
        Path(options.out),
        uncertain_first=options.uncertain_first,
        by_example=options.by_example,
        tell=note,
    )
    note(formula_messages(done.files, safe=options.spreadsheet_safe))
    for file in done.files:
        print(file)
    labelled = f", {done.labelled:,} with an identified label" if done.labelled else ""
    print(f"{done.examples:,} examples{labelled}")
    print_result(files=[str(file) for file in done.files], examples=done.examples, labelled=done.labelled)


def _is_here(entry: catalog.Entry) -> bool:
    try:
        return bool(catalog.available(entry))
    except UserError:  # the file exists but is not a model; loading reports that
        return False


def synthesize(options: declared.SynthesizeOptions) -> None:
    """Make candidate sets from true labels, from labels that may be wrong, or from several annotators; write them."""
    data = load(resolve_source(options))
    how = Preparation(**prepared(options, lambda: data))
    is_given = how.flip is None and how.noisy is None
    if is_given and not options.rule:
        raise UserError(
            "Say how candidates are made: --flip binomial --q 0.7, --noisy topk:2 of labels you doubt, or "
            "--rule votes:2 of what several people said."
        )
    if data.unanswered is not None:
        note([f"{int(data.unanswered.sum()):,} examples have no annotation; they are left out."])
        data = data.answered()
    if options.rule:  # the sets are the result; with the answers beside them, a reader would make its own
        data = replace(data, annotations=None)
    judges = how.noisy is not None or (how.flip is not None and how.flip.how == "instance")
    if judges and not data.X.size:  # a classifier reads the texts or pictures; the result has them as they came
        made = Making(how).splits(data, None).train
        made = replace(made, X=np.empty((len(made), 0), dtype=np.float32), feature_names=())
    else:
        made = data if is_given else Making(how).with_sets(data)
    formats.write(made, Path(options.out))
    sets = made.sets()
    gamma = None if made.y is None or sets.n_classes < 2 else ambiguity_degree(sets, made.y)
    shown = "" if gamma is None else f", γ = {gamma:.3f}"
    print(f"{options.out}: {len(made)} examples, {sets.nnz / len(sets):.2f} candidates on average{shown}")
    warnings = warnings_about(made)
    later = notes_of(warnings, "features")  # the result has the texts or pictures as they came: fit makes features
    note([warning for warning in warnings if warning not in later])
    print_result(out=options.out, examples=len(made), mean_candidates=sets.nnz / len(sets), gamma=gamma)


def predict(options: declared.PredictOptions) -> None:
    """Predict with a run's model; write id,predicted_label,confidence."""
    if Path(options.out).suffix.lower() not in ("", ".csv"):
        raise UserError(f"{options.out}: predictions are written as CSV; call the file NAME.csv.")
    folder = RunFolder(Path(options.run))
    if folder.exists():  # otherwise possibly an exported model
        check_has_result(folder)
        note(_unverified(folder))
    learnt = folder.config().source if folder.exists() else None
    explicit = learnt_roles(folder.path)
    explicit |= {} if learnt is None else learnt.options.get("columns", {})
    source = source_like(read_as(source_of(options.data), options, whole=False), explicit)
    result = Predictor(folder.path).predict(load(source))
    note(result.warnings)
    if learnt is not None and (source.hashed().sha256 or source.name) == (learnt.sha256 or learnt.name):
        note(["The run learnt from this file: how sure it is of what it was told is in its labels.csv, not here."])
    if pd.isna(result.confidence).any():
        note(["How sure the predictions are is not known: the run was stopped before, or did not find out."])
    frame = pd.DataFrame({"id": result.ids, "predicted_label": result.labels, "confidence": result.confidence})
    write_csv(Path(options.out), frame)
    note(formula_messages([Path(options.out)], safe=options.spreadsheet_safe))
    print(f"{options.out}: {len(frame)} predictions")
    print_result(out=options.out, predictions=len(frame))


def export(options: declared.ExportOptions) -> None:
    """Write every export of a run, as files and as one ZIP."""
    from pll.export.run_export import export_run  # onnx is slow to import, and needed here alone

    folder = RunFolder(Path(options.run))
    check_has_result(folder)
    note([*_unverified(folder), *missing_review(folder)])
    with Bars() as bars:
        show = partial(bars.show, "files")
        result = export_run(folder, Path(options.out), spreadsheet_safe=options.spreadsheet_safe, progress=show)
    for file in (*result.files, result.zip_path):
        print(file)
    note([*result.notes, *formula_messages(result.files, safe=options.spreadsheet_safe)])
    print_result(out=options.out, files=len(result.files), zip=str(result.zip_path), notes=len(result.notes))


def check(options: declared.CheckOptions) -> int:
    """Compare the files of a run with its manifest. Returns 2 where some are damaged."""
    folder = RunFolder(Path(options.run))
    if not folder.exists():
        raise UserError(f"There is no run in {folder.path}; check the path.")
    if folder.is_locked():
        raise UserError(f"The run in {folder.path} is at work; stop it, or wait until it has ended.")
    damaged = damages(folder.path)
    listing = None if any(damage.name == MANIFEST_FILE for damage in damaged) else read_manifest(folder.path)
    if listing is None and not damaged:
        raise UserError(f"{folder.path} has no manifest.json: it is gone, or this is no run.")
    files = 0 if listing is None else len(listing.files)
    for damage in damaged:
        print(damage.words)
    if not damaged:
        open_ = "" if is_verifiable(folder.path) else "; it has not ended, so its last files are not listed yet"
        print(f"{options.run}: {files} files are as they were written{open_}")
    print_result(files=files, damaged=[damage.name for damage in damaged])
    return 2 if damaged else 0


def _unverified(folder: RunFolder) -> list[str]:
    """Return a note on a run whose files cannot all be compared with what was written; [] where they can."""
    if is_verifiable(folder.path):
        return []
    return [f"The run {folder.path.name} has no complete checksums; damage would go unnoticed."]

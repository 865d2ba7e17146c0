"""`plan`, `certify` and `verify`: the certificate of all labels of a table, outside the app."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from pll.cli.declared import CertifyOptions, PlanOptions, VerifyOptions
from pll.cli.output import note, print_result
from pll.errors import UserError
from pll.export.audit import altered_events
from pll.export.rendered import certificate_html
from pll.formats import FORMATS, ReadOptions, detect
from pll.formats.checks import check_ids, listing
from pll.formats.tabular.builder import TableFormat
from pll.formats.tabular.cells import spelling, split_cell
from pll.io import write_csv, write_json, write_text
from pll.review.certificate import (
    INFORMATION,
    CheckedLabel,
    DrawnPlan,
    LabelTable,
    draws_note,
    verify_document,
)
from pll.review.certification import Certification, draw_plan, earlier_draws, labels_key, remember_draw
from pll.runs.files import LABELS_FILE
from pll.runs.manifest import check

READ_COLUMNS = ("id", "identified_label", "confidence")
UNSURE_MARK = "?"
"""Mark for "cannot tell" in checked.csv, unless it is the name of a class."""


# ---- tables ----------------------------------------------------------------------------------------------------------


def _check_is_file(path: Path) -> None:
    if not path.is_file():
        raise UserError(f"There is no file {path}; check the path.")


def read_cells(path: Path, needed: Sequence[str]) -> pd.DataFrame:
    """Return a table as text, in any format that is a table; its index has the rows as messages count them.

    Empty cells are "".

    Parameters
    ----------
    path
        The file.
    needed
        Names of columns.

    Raises
    ------
    UserError
        No such file, it cannot be read, or a column is missing.
    """
    _check_is_file(path)
    try:
        form = FORMATS["jsonl"] if path.suffix in (".jsonl", ".ndjson") else detect(path)
        if not isinstance(form, TableFormat):
            raise UserError("This is no table; save it as CSV, TSV, Excel, JSON lines or Parquet.")
        table = form.table(path, ReadOptions())
        frame = pd.DataFrame(table.lines(), columns=list(table.names), dtype=object).fillna("")
        frame.index = pd.Index([table.row_of(position) for position in range(len(frame))])
        missing = [name for name in needed if name not in frame.columns]
        if missing:
            raise UserError(
                f"It has no column {' and no column '.join(map(repr, missing))}; it needs {', '.join(needed)}, and has "
                f"{listing(list(table.names), 20)}. Rename the columns that hold these."
            )
    except UserError as error:
        raise UserError(f"{path}: {error}") from error
    return frame


def read_labels(argument: str) -> tuple[LabelTable, Path, pd.DataFrame]:
    """Return the labels of a table or run, the file they are in, and all its cells.

    Raises
    ------
    UserError
        Columns that are missing, a row without id, label or confidence, an id that occurs twice.
    """
    path = Path(argument)
    path = path / LABELS_FILE if path.is_dir() else path
    if path.is_file():
        check(path.parent, path.name)  # a run has the checksum
    frame = read_cells(path, READ_COLUMNS)
    for name in READ_COLUMNS:
        empty = frame.index[frame[name].str.strip() == ""]
        if len(empty):
            raise UserError(f"{path}, row {empty[0]} has no {name}; fill it in, or leave the row out.")
    _check_ids(frame, path)
    confidence = pd.to_numeric(frame["confidence"], errors="coerce").to_numpy(dtype=np.float64)
    bad = np.flatnonzero(~np.isfinite(confidence))
    if len(bad):
        cell = frame["confidence"].iloc[bad[0]]
        raise UserError(f"{path}, row {frame.index[bad[0]]}: the confidence {cell!r} is not a number.")
    return LabelTable(frame["id"].tolist(), frame["identified_label"].tolist(), confidence), path, frame


def _check_ids(frame: pd.DataFrame, path: Path) -> None:
    try:
        check_ids(frame["id"].tolist(), frame.index.__getitem__)
    except UserError as error:
        raise UserError(f"{path}: {error}") from error


def classes_of(frame: pd.DataFrame) -> list[str]:
    """Return the classes of a table of labels: those identified, candidates, and true labels."""
    result = dict.fromkeys(frame["identified_label"])
    for name, read in (("candidates", split_cell), ("true_label", lambda cell: (cell,))):
        if name in frame.columns:
            result |= dict.fromkeys(label for cell in frame[name].unique() if cell for label in read(cell))
    return list(result)


def read_decisions(path: Path, table: LabelTable, classes: Sequence[str]) -> list[CheckedLabel]:
    """Return the answers by row; rows without a label are unanswered. A class that no label has is noted.

    Labels are read as in every other file: case and spaces do not matter where one class alone is meant.

    Parameters
    ----------
    path
        The file.
    table
        The labels.
    classes
        Of the labels.

    Raises
    ------
    UserError
        Columns that are missing, ids that are not in the labels or occur twice, or no answer is a class of the labels.
    """
    frame = read_cells(path, ("id", "label"))
    strangers = frame.index[~frame["id"].isin(table.ids)]
    if len(strangers):
        row = strangers[0]
        raise UserError(f"{path}, row {row}: the id {frame['id'][row]!r} is not in the labels.")
    frame = frame[frame["label"].str.strip() != ""]
    _check_ids(frame, path)
    class_of, result = _by_spelling(classes), []
    strange: dict[str, tuple[str, object]] = {}
    for row, answer in zip(frame.index, frame.to_dict("records"), strict=True):
        cell = answer["label"].strip()
        label = class_of.get(answer["label"], class_of.get(spelling(cell)))
        if label is None and cell != UNSURE_MARK:
            label = strange.setdefault(spelling(cell), (cell, row))[0]
        result.append(CheckedLabel(answer["id"], label, answer.get("reviewer", ""), answer.get("decided_at", "")))
    if strange:
        cells = listing([f"{cell!r} in row {row}" for cell, row in strange.values()])
        if len(strange) == len({spelling(one.label) for one in result if one.label is not None}):
            raise UserError(f"{path}: no decision names a class of the labels ({listing(classes)}), but {cells}.")
        note([f"{path}: {cells}: no label has such a class. It is counted as a class; correct it if it is a slip."])
    return result


def _by_spelling(classes: Sequence[str]) -> dict[str, str]:
    """Return the class by its name, and by its spelling where that is of one class alone."""
    spellings: dict[str, set[str]] = {}
    for name in classes:
        spellings.setdefault(spelling(name), set()).add(name)
    clear = {plain: next(iter(names)) for plain, names in spellings.items() if len(names) == 1}
    return clear | {name: name for name in classes}


# ---- plan ------------------------------------------------------------------------------------------------------------


def plan(options: PlanOptions) -> None:
    """Write plan.csv (the controls, then the others) and plan.json."""
    table, path, frame = read_labels(options.labels)
    out, keys = Path(options.out), _draw_keys(table, frame)
    settings_file = _beside(out, ".json")
    made = draw_plan(
        table,
        options.error,
        options.confidence,
        drawn=earlier_draws(keys),
        share=options.controls,
        seed=options.seed,
    )
    if settings_file.exists():
        _check_same_draw(settings_file, made)
    elif made.draw_number > 1:
        note([f"{draws_note(made)} Draws at the desk count too."])
    certification = Certification(made, table)
    controls, order = certification.controls, certification.order
    others = order[::-1][~np.isin(order[::-1], controls)]
    planned = pd.DataFrame(
        {
            "id": table.ids[np.concatenate([controls, others])],
            "purpose": ["control"] * len(controls) + ["review"] * len(others),
        }
    )
    settings = made.to_json() | {"made_at": made.made_at, "labels": str(path)}
    write_csv(out, planned)
    write_json(settings_file, settings)
    remember_draw(keys, made.draw_hash)
    expected = None  # where the confidences are no probabilities
    if ((table.confidence >= 0) & (table.confidence <= 1)).all():
        expected = certification.expected(certification.judge([])).likely
    about = "" if expected is None else f"; about {expected:,} labels to look at in all, by the confidences"
    print(f"{out}: {len(controls):,} of {len(table):,} labels are controls; people look at these first.")
    print(f"At most {made.allowed:,} labels may stay wrong{about}.")
    fields = ("n", "controls", "tolerated", "allowed", "error", "confidence", "attained_alpha")
    draw = ("seed", "fingerprint", "draw_hash", "draw_number")
    print_result(
        out=str(out),
        **{name: settings[name] for name in fields},
        expected_decisions=expected,
        **{name: settings[name] for name in draw},
    )


def _draw_keys(table: LabelTable, frame: pd.DataFrame) -> set[str]:
    """Return the keys of the draws of these labels; those of a review leave out the rows that were held out."""
    keys = {labels_key(table.ids, table.labels)}
    if "source" in frame.columns:
        own = (frame["source"] != "predicted").to_numpy()
        if own.any():
            keys.add(labels_key(table.ids[own], table.labels[own]))
    return keys


def _check_same_draw(settings_file: Path, made: DrawnPlan) -> None:
    if made.seed_given and _read_json(settings_file).get("draw_hash") == made.draw_hash:
        return
    raise UserError(
        f"{settings_file} holds a plan already, and its controls are drawn. A second draw for the same labels would "
        "make the certificate invalid if it were chosen by its result: go on with that plan, or give another --out "
        "for another certificate."
    )


def _certification(path: Path, table: LabelTable) -> Certification:
    """Return that of plan.csv and plan.json, which must hold the controls of its draw from these labels."""
    frame = read_cells(path, ("id", "purpose"))
    settings_file = _beside(path, ".json")
    document = _read_json(settings_file)
    try:
        certification = Certification(DrawnPlan.from_json(document), table)
    except UserError as error:
        raise UserError(f"{settings_file}: {error}") from error
    drawn, named = set(table.ids[certification.controls].tolist()), set(frame["id"][frame["purpose"] == "control"])
    if drawn != named:
        strangers = named - drawn
        one = sorted(strangers or drawn - named)[0]
        what = "names as control, but the draw did not choose it" if strangers else "does not name, though it was drawn"
        raise UserError(
            f"{path} does not hold the controls of its draw: {one!r} it {what} ({len(named ^ drawn):,} in all). "
            "Controls chosen by hand prove nothing; take plan.csv as it was."
        )
    return certification


def _read_json(path: Path) -> dict[str, Any]:
    _check_is_file(path)
    try:
        result = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise UserError(f"{path} is not JSON: {error}.") from error
    if not isinstance(result, dict):
        raise UserError(f"{path} holds no JSON object.")
    return result


def _beside(path: Path, suffix: str) -> Path:
    """Return the file of the same name with another end.

    Raises
    ------
    UserError
        The path names no file.
    """
    if not path.name:
        raise UserError(f"{str(path)!r} is no name of a file; give one, such as plan.csv.")
    return path.with_suffix(suffix)


# ---- certify ---------------------------------------------------------------------------------------------------------


def certify(options: CertifyOptions) -> None:
    """Apply the rule to the decisions; write the certificate as JSON and HTML, and final.csv."""
    out = Path(options.out)
    page = _beside(out, ".html")
    table, path, frame = read_labels(options.labels)
    certification = _certification(Path(options.plan), table)
    decisions = read_decisions(Path(options.decisions), table, classes_of(frame))
    name = path.parent.name if Path(options.labels).is_dir() else path.stem
    drawn = earlier_draws(_draw_keys(table, frame))
    certified = certification.certified(decisions, drawn=drawn, name=name)
    document = certified.document
    write_text(out, json.dumps(document, ensure_ascii=False, allow_nan=False) + "\n")
    write_text(page, certificate_html(document))
    if options.labels_out is not None:
        write_csv(Path(options.labels_out), certified.final)
    result, notes = document["result"], document["notes"]
    print(result["statement"])
    note(notes)
    figures = {name: value for name, value in result.items() if name != "statement"}
    plan = certification.plan
    print_result(out=str(out), **figures, n=plan.n, error=plan.error, confidence=plan.level, notes=notes)


# ---- verify ----------------------------------------------------------------------------------------------------------


def verify(options: VerifyOptions) -> int:
    """Recompute a certificate from its own data; the exit status is 2 where something does not fit."""
    path = options.certificate
    if Path(path).suffix == ".jsonl":
        problems, events = _problems_of_audit(Path(path))
        return _verified(path, problems, events=events)
    document = _read_json(Path(path))
    if problems := verify_document(document):
        return _verified(path, problems)
    print(f"{path} is valid. {document['result']['statement']}")
    note(document["notes"])
    information = document[INFORMATION]
    details = ", ".join(f"{name} {value}" for name, value in information.items() if isinstance(value, str) and value)
    drawn, whole = document["plan"]["draw_hash"], document["hash"]
    print(f"Hash of the draw {drawn}, of the certificate {whole}: compare them with those that were published.")
    print(f"Not part of the proof: {details}.")
    return _verified(path, [], decisions=len(document["decisions"]), **document["result"])


def _verified(file: str, problems: Sequence[str], **facts: Any) -> int:
    """Print what does not fit, and the JSON line; return the exit status."""
    for problem in problems:
        print(f"candid: {file}: {problem}", file=sys.stderr)
    print_result(valid=not problems, file=file, problems=problems, **facts)
    return 2 if problems else 0


def _problems_of_audit(path: Path) -> tuple[list[str], int]:
    """Follow the hash chain of audit.jsonl; return what does not fit, and how many events there are."""
    _check_is_file(path)
    try:
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
        altered = altered_events(rows)
    except (ValueError, TypeError, AttributeError) as error:
        raise UserError(f"{path} is no audit trail of Candid: {error}.") from error
    words = "Event {event}, on {id!r}, was altered, or one before it was removed."
    return [words.format(event=row.get("event"), id=row.get("id")) for row in altered], len(rows)

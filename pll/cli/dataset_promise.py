"""`plan`, `certify` and `verify`: a promise about all labels of a table, outside the app."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from pll.cli.declared import CertifyOptions, PlanOptions, VerifyOptions
from pll.cli.options import note, print_result
from pll.errors import UserError
from pll.export.audit import altered_events
from pll.export.certificate_page import certificate_html
from pll.formats.checks import listing
from pll.formats.tabular.cells import spelling, split_cell
from pll.io import write_atomically, write_text
from pll.review import dataset_certificate as dc
from pll.review.draws import earlier_draws, labels_key, remember_draw
from pll.review.expected_checks import expected_checks
from pll.review.promise import UNANSWERED, DatasetPlan
from pll.runs.manifest import check

LABELS_FILE = "labels.csv"
COLUMNS = ("id", "identified_label", "confidence")
ALSO_CALLED = {
    "id": ("rowid", "exampleid", "itemid", "uid", "uuid", "key", "index", "name", "filename", "unnamed0"),
    "identified_label": ("label", "predictedlabel", "prediction", "predicted", "pred", "class", "yhat", "answer"),
    "confidence": ("score", "probability", "prob", "conf", "certainty", "p", "softmax", "weight"),
    "label": ("truelabel", "truth", "answer", "decision", "correctlabel", "class", "identifiedlabel", "gold"),
}
"""Usual names of columns, without punctuation; suggested in messages, not used."""
UNSURE = "?"
"""Mark for "cannot tell" in checked.csv, unless it is the name of a class."""


# ---- tables ----------------------------------------------------------------------------------------------------------


def read_cells(path: Path) -> pd.DataFrame:
    """A table as text, whatever it is written in; empty cells are "".

    Raises
    ------
    UserError
        No such file, or it cannot be read.
    """
    if not path.is_file():
        raise UserError(f"There is no file {path}.")
    try:
        if path.suffix == ".parquet":
            return pd.read_parquet(path).astype(object).map(_as_text)
        if path.suffix in (".jsonl", ".ndjson"):
            rows = [json.loads(line) for line in path.read_text(encoding="utf-8-sig").splitlines() if line.strip()]
            return pd.DataFrame(rows).astype(object).map(_as_text)
        with path.open(encoding="utf-8-sig") as file:
            header = file.readline()
        separator = max(",;\t", key=header.count)
        return pd.read_csv(path, sep=separator, dtype=str, keep_default_na=False, encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise UserError(f"{path} is not text in UTF-8; save it as CSV (UTF-8), TSV, JSONL or Parquet.") from error
    except (ValueError, TypeError, OSError, pd.errors.ParserError) as error:
        raise UserError(f"{path} cannot be read as a table: {str(error).strip()}.") from error


def _as_text(cell: object) -> str:
    if cell is None or (isinstance(cell, float) and np.isnan(cell)):
        return ""
    return repr(float(cell)) if isinstance(cell, float | np.floating) else str(cell)


def read_labels(argument: str) -> tuple[dc.LabelTable, Path, pd.DataFrame]:
    """The labels of a table or run, the file they are in, and all its cells.

    Raises
    ------
    UserError
        Columns that are missing, a row without id, label or confidence, an id that occurs twice.
    """
    path = Path(argument)
    path = path / LABELS_FILE if path.is_dir() else path
    if path.is_file():
        check(path.parent, path.name)  # a run has the checksum
    frame = read_cells(path)
    _check_columns(frame, path, COLUMNS)
    if frame.empty:
        raise UserError(f"{path} has no rows.")
    for name in COLUMNS:
        empty = np.flatnonzero(frame[name].str.strip() == "")
        if len(empty):
            raise UserError(f"{path}, row {_row(int(empty[0]))} has no {name}; fill it in, or leave the row out.")
    ids = frame["id"].to_numpy(dtype=np.str_)
    _check_once(ids, path)
    confidence = pd.to_numeric(frame["confidence"], errors="coerce").to_numpy(dtype=np.float64)
    bad = np.flatnonzero(~np.isfinite(confidence))
    if len(bad):
        raise UserError(
            f"{path}, row {_row(int(bad[0]))}: the confidence {frame['confidence'].iloc[bad[0]]!r} is not a number."
        )
    return dc.LabelTable(ids, frame["identified_label"].to_numpy(dtype=np.str_), confidence), path, frame


def _check_columns(frame: pd.DataFrame, path: Path, needed: Sequence[str]) -> None:
    """Raises UserError where a column is missing; the message suggests one."""
    missing = [name for name in needed if name not in frame.columns]
    if not missing:
        return
    there = [str(name) for name in frame.columns]
    renamed = {name: _meant(name, there) for name in missing}
    hint = "; ".join(f"rename {there!r} to {name!r} if that is it" for name, there in renamed.items() if there)
    raise UserError(
        f"{path} has no column {' and no column '.join(map(repr, missing))}; it needs {', '.join(needed)}, and has "
        f"{', '.join(there[:20])}{' …' if len(there) > 20 else ''}{'. ' + hint[0].upper() + hint[1:] if hint else ''}."
    )


def _meant(name: str, there: Sequence[str]) -> str | None:
    """The column that is likely the one called `name` here."""
    plain = {"".join(letter for letter in one.lower() if letter.isalnum()): one for one in there}
    for other in (name.replace("_", ""), *ALSO_CALLED.get(name, ())):
        if other in plain and plain[other] not in COLUMNS:
            return plain[other]
    return None


def _row(position: int) -> int:
    """As a spreadsheet counts: the header is row 1."""
    return position + 2


def _check_once(ids: npt.NDArray[np.str_], path: Path) -> None:
    place: dict[str, int] = {}
    for position, one in enumerate(ids.tolist()):
        if one in place:
            raise UserError(
                f"{path}, rows {_row(place[one])} and {_row(position)} have the same id {one!r}; ids must be unique."
            )
        place[one] = position


def classes_of(frame: pd.DataFrame, more: Sequence[str]) -> list[str]:
    """Return the classes of a table of labels: those identified, candidates, true labels, and `more`."""
    result = dict.fromkeys([*more, *frame["identified_label"]])
    for name, read in (("candidates", split_cell), ("true_label", lambda cell: (cell,))):
        if name in frame.columns:
            result |= dict.fromkeys(label for cell in frame[name].unique() if cell for label in read(cell))
    return list(result)


def read_decisions(name: str, table: dc.LabelTable, classes: Sequence[str]) -> list[dc.CheckedLabel]:
    """Return the answers by row; rows without a label are unanswered.

    Labels are read as in every other file: case and spaces do not matter where one class alone is meant.

    Parameters
    ----------
    classes
        Those a decision may name.

    Raises
    ------
    UserError
        Columns that are missing, ids that are not in the labels or occur twice, labels that are no class.
    """
    path = Path(name)
    frame = read_cells(path)
    _check_columns(frame, path, ("id", "label"))
    ids, meant = set(table.ids.tolist()), _by_spelling(classes)
    result: dict[str, tuple[int, dc.CheckedLabel]] = {}
    for position, row in enumerate(frame.to_dict("records")):
        one, label = str(row["id"]), str(row["label"])
        if one not in ids:
            raise UserError(f"{path}, row {_row(position)}: the id {one!r} is not in the labels.")
        if not label.strip():
            continue
        decision = (
            None if label.strip() == UNSURE and UNSURE not in classes else meant.get(label, meant.get(spelling(label)))
        )
        if decision is None and label.strip() != UNSURE:
            raise UserError(
                f"{path}, row {_row(position)}: {label!r} is no class of the labels ({listing(classes)}). Write it as "
                f"there; if it is a class that no label has, add --class {shlex.quote(label.strip())}."
            )
        if one in result:
            raise UserError(
                f"{path}, rows {_row(result[one][0])} and {_row(position)} decide on the same id {one!r}; keep one."
            )
        by, at = str(row.get("reviewer", "")), str(row.get("decided_at", ""))
        result[one] = (position, dc.CheckedLabel(one, decision, by, at))
    return [decision for _, decision in result.values()]


def _by_spelling(classes: Sequence[str]) -> dict[str, str]:
    """Return the class by its name, and by its spelling where that is of one class alone."""
    spellings: dict[str, set[str]] = {}
    for name in classes:
        spellings.setdefault(spelling(name), set()).add(name)
    clear = {plain: next(iter(names)) for plain, names in spellings.items() if len(names) == 1}
    return clear | {name: name for name in classes}


# ---- plan ------------------------------------------------------------------------------------------------------------


def plan(options: PlanOptions) -> None:
    """Write plan.csv (the controls, then the others) and plan.json (the target)."""
    table, path, frame = read_labels(options.labels)
    out = Path(options.out)
    settings_file = _settings_file(out)
    keys = _draw_keys(table, frame)
    before = earlier_draws(keys)
    promise = dc.make_promise(
        table,
        options.error,
        options.confidence,
        share=options.controls,
        seed=options.seed,
        reranked=options.rerank,
    )
    before = [one for one in before if one != promise.draw_hash]  # with an explicit seed: the same draw again
    promise = replace(promise, draw_number=1 + len(before))
    if settings_file.exists():
        _check_same_draw(settings_file, promise, seeded=options.seed is not None)
    elif before:
        note([f"{dc.draw_words(promise)} Draws at the desk count too."])
    drawn = dc.controls_of(promise, table)
    least_sure = dc.order_of(promise, table)[::-1]
    others = least_sure[~np.isin(least_sure, drawn)]
    planned = pd.DataFrame(
        {
            "id": np.concatenate([table.ids[drawn], table.ids[others]]),
            "purpose": ["control"] * len(drawn) + ["review"] * len(others),
        }
    )
    settings = promise_settings(promise, str(path))
    write_atomically(out, partial(planned.to_csv, index=False, lineterminator="\n"))
    write_text(settings_file, json.dumps(settings, ensure_ascii=False, indent=2) + "\n")
    remember_draw(keys, promise.draw_hash, "plan")
    guess = expected_decisions(promise, table)
    print(f"{out}: {len(drawn):,} of {len(table):,} labels are controls; people look at these first.")
    about = f"; about {guess:,} labels to look at in all, by the confidences" if guess is not None else ""
    print(f"At most {promise.plan.allowed:,} labels may stay wrong{about}.")
    print_result(
        out=str(out),
        n=len(table),
        controls=len(drawn),
        tolerated=promise.plan.tolerated,
        allowed=promise.plan.allowed,
        error=promise.error,
        confidence=promise.level,
        attained_alpha=promise.plan.attained,
        expected_decisions=guess,
        seed=promise.seed,
        fingerprint=promise.fingerprint,
        draw_hash=promise.draw_hash,
        draw_number=promise.draw_number,
    )


def _draw_keys(table: dc.LabelTable, frame: pd.DataFrame) -> set[str]:
    """Return the keys of the draws of these labels; those of a review leave out the rows that were held out."""
    keys = {labels_key(table.ids, table.labels)}
    if "source" in frame.columns:
        own = (frame["source"] != "predicted").to_numpy()
        if own.any():
            keys.add(labels_key(table.ids[own], table.labels[own]))
    return keys


def promise_settings(promise: dc.Promise, labels: str) -> dict[str, Any]:
    """plan.json."""
    plan = promise.plan
    return {
        "error": promise.error,
        "confidence": promise.level,
        "n": plan.n,
        "allowed": plan.allowed,
        "controls": plan.controls,
        "tolerated": plan.tolerated,
        "attained_alpha": plan.attained,
        "seed": promise.seed,
        "seed_given": promise.seed_given,
        "fingerprint": promise.fingerprint,
        "draw_hash": promise.draw_hash,
        "draw_number": promise.draw_number,
        "reranked": promise.reranked,
        "made_at": promise.made_at,
        "labels": labels,
    }


@dataclass(frozen=True)
class ReadPlan:
    """Contents of plan.csv and plan.json.

    Attributes
    ----------
    promise
        With its draw.
    named
        Ids that plan.csv names as controls.
    """

    promise: dc.Promise
    named: list[str]


def read_promise(plan_csv: str) -> ReadPlan:
    """Target of a plan.

    Raises
    ------
    UserError
        a file is missing or damaged.
    """
    path = Path(plan_csv)
    settings_file = _settings_file(path)
    frame = read_cells(path)
    if not {"id", "purpose"} <= set(frame.columns):
        raise UserError(f"{path} is no plan: it needs the columns id and purpose.")
    document = _read_json(settings_file)
    try:
        promise = dc.Promise(
            error=float(document["error"]),
            level=float(document["confidence"]),
            seed=int(document["seed"]),
            fingerprint=str(document["fingerprint"]),
            plan=DatasetPlan(
                document["n"], document["error"], document["confidence"], document["controls"], document["tolerated"]
            ),
            reranked=bool(document["reranked"]),
            draw_number=int(document["draw_number"]),
            seed_given=bool(document["seed_given"]),
            made_at=str(document["made_at"]),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise UserError(
            f"{settings_file} is no plan of Candid, or damaged ({type(error).__name__}: {error})."
        ) from error
    if promise.draw_hash != document.get("draw_hash"):
        raise UserError(
            f"{settings_file} was altered after the controls were drawn: its figures do not have its draw_hash."
        )
    named = frame.loc[frame["purpose"] == "control", "id"].astype(str).tolist()
    return ReadPlan(promise, named)


def _read_json(path: Path) -> dict[str, Any]:
    if not path.is_file():
        raise UserError(f"There is no file {path}.")
    try:
        result = json.loads(path.read_text(encoding="utf-8"), parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise UserError(f"{path} is not JSON: {error}.") from error
    if not isinstance(result, dict):
        raise UserError(f"{path} holds no JSON object.")
    return result


def _no_number(name: str) -> None:
    raise ValueError(f"{name} is no number")


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


def _settings_file(plan_csv: Path) -> Path:
    return _beside(plan_csv, ".json")


def _check_same_draw(settings_file: Path, promise: dc.Promise, *, seeded: bool) -> None:
    written = _read_json(settings_file)
    if seeded and written.get("draw_hash") == promise.draw_hash:
        return
    raise UserError(
        f"{settings_file} holds a plan already, and its controls are drawn. A second draw for the same labels would "
        "break the promise if it were chosen by its result: go on with that plan, or give another --out for another "
        "promise."
    )


def expected_decisions(promise: dc.Promise, table: dc.LabelTable) -> int | None:
    """Labels to look at in all, expected from the confidences; None where these are no probabilities."""
    if not ((table.confidence >= 0) & (table.confidence <= 1)).all():
        return None
    nothing = np.full(len(table), UNANSWERED, dtype=np.int8)
    order, controls = dc.order_of(promise, table), dc.controls_of(promise, table)
    return expected_checks(order, table.confidence, controls, nothing, promise.plan.tolerated).likely


# ---- certify ---------------------------------------------------------------------------------------------------------


def certify(options: CertifyOptions) -> None:
    """Apply the rule to the decisions; write the certificate as JSON and HTML, and final.csv."""
    out = Path(options.out)
    page = _beside(out, ".html")
    planned = read_promise(options.plan)
    table, path, frame = read_labels(options.labels)
    promise = dc.with_draws(planned.promise, earlier_draws(_draw_keys(table, frame)))
    controls = dc.controls_of(promise, table)
    check_drawn(table.ids[controls].tolist(), planned.named, options.plan)
    decisions = read_decisions(options.decisions, table, classes_of(frame, options.classes))
    judgement = dc.judge(promise, table, decisions)
    if options.next_out is not None:
        _write_next(Path(options.next_out), table, judgement)
    extras = dc.Extras(
        name=path.parent.name if Path(options.labels).is_dir() else path.stem,
    )
    document = dc.certificate_document(promise, table, decisions, judgement, extras)
    write_text(out, json.dumps(document, ensure_ascii=False, allow_nan=False) + "\n")
    write_text(page, certificate_html(document))
    if options.labels_out is not None:
        final = dc.final_frame(table, decisions, judgement)
        write_atomically(Path(options.labels_out), partial(final.to_csv, index=False, lineterminator="\n"))
    result = document["result"]
    print(result["statement"])
    note(document["notes"])
    print_result(
        out=str(out),
        **{name: value for name, value in result.items() if name != "statement"},
        n=len(table),
        error=promise.error,
        confidence=promise.level,
        notes=document["notes"],
    )


def check_drawn(drawn: Sequence[str], named: Sequence[str], plan_csv: str) -> None:
    """Raises UserError where plan.csv names other controls than the draw: changed, or lost."""
    strangers, missing = set(named) - set(drawn), set(drawn) - set(named)
    if strangers or missing:
        one = sorted(strangers or missing)[0]
        what = "names as control, but the draw did not choose it" if strangers else "does not name, though it was drawn"
        raise UserError(
            f"{plan_csv} does not hold the controls of its draw: {one!r} it {what} "
            f"({len(strangers | missing):,} in all). Controls chosen by hand prove nothing; take plan.csv as it was."
        )


def _write_next(path: Path, table: dc.LabelTable, judgement: dc.Judgement) -> None:
    """Rows to look at next: the controls that are open, then the others in their order."""
    rows = np.concatenate([judgement.waiting, judgement.remaining])
    rows = rows[np.sort(np.unique(rows, return_index=True)[1])]
    frame = pd.DataFrame({"id": table.ids[rows]})
    write_atomically(path, partial(frame.to_csv, index=False, lineterminator="\n"))


# ---- verify ----------------------------------------------------------------------------------------------------------


def verify(options: VerifyOptions) -> int:
    """Recompute a certificate from its own data; the exit status is 2 where something does not fit."""
    path = options.certificate
    if Path(path).suffix == ".jsonl":
        return _verify_audit(Path(path))
    document = _read_json(Path(path))
    problems = dc.verify_document(document)
    for problem in problems:
        print(f"candid: {path}: {problem}", file=sys.stderr)
    if problems:
        print_result(valid=False, file=path, problems=problems)
        return 2
    print(f"{path} is valid. {document['result']['statement']}")
    note(document["notes"])
    information = document[dc.INFORMATION]
    details = ", ".join(f"{name} {value}" for name, value in information.items() if isinstance(value, str) and value)
    print(f"Hash {document['hash']}. Not part of the proof: {details}.")
    print_result(valid=True, file=path, decisions=len(document["decisions"]), **document["result"])
    return 0


def _verify_audit(path: Path) -> int:
    """Follow the hash chain of audit.jsonl."""
    if not path.is_file():
        raise UserError(f"There is no file {path}.")
    try:
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
        altered = altered_events(rows)
    except (ValueError, TypeError, AttributeError) as error:
        raise UserError(f"{path} is no audit trail of Candid: {error}.") from error
    problems = [
        f"Event {row.get('event')}, on {row.get('id')!r}, was altered, or one before it was removed." for row in altered
    ]
    for problem in problems:
        print(f"candid: {path}: {problem}", file=sys.stderr)
    print_result(valid=not problems, file=str(path), events=len(rows), problems=problems)
    return 2 if problems else 0

"""The audit trail: every decision and every undo of a review, in the order in which they were made; and, between them,
when other labels came under review, how and by whom.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from pll.io import write_csv, write_json_lines
from pll.review.events import Event, LabelVersion, broken_links
from pll.review.record import Record

VERSION_KIND = "version"
"""The kind of a row that is no decision: from here on these labels are under review."""

AUDIT = (
    *("event", "at", "reviewer", "verified", "kind", "id", "label", "before", "after", "seconds", "undone"),
    *("undoes", "batch", "control", "blind", "queue", "position", "weights", "note", "run", "version", "hash"),
)
"""The columns. `event` numbers them; `id` is the example's; times are UTC; `weights` are those of the candidates;
`hash` binds all columns but `event` and `undone`, and the events before (`pll.review.schema`)."""


def audit_rows(events: Sequence[Event], versions: Sequence[LabelVersion] = ()) -> list[dict[str, Any]]:
    """An object an event, with the fields of `AUDIT`; missing values are None.

    A version of the labels precedes the first event of it or of a later one; its `note` says how it came under review.

    Parameters
    ----------
    events
        Of a review, in their order.
    versions
        Of the labels that were under review.
    """
    undone = {event.undoes for event in events}
    result, coming = [], list(versions)
    for event in events:
        while coming and coming[0].number <= event.version:
            result.append(_version_row(coming.pop(0)))
        result.append(_row(event, undone=event.id in undone))
    return result + [_version_row(record) for record in coming]


def write_audit_csv(record: Record, path: Path) -> None:
    """audit.csv: UTF-8, missing values empty, `weights` as JSON. Atomically.

    Parameters
    ----------
    record
        The review.
    path
        Where to write.
    """
    cells = [
        {name: _cell(value) for name, value in row.items()}
        for row in audit_rows(record.state.all_events, record.versions)
    ]
    write_csv(path, pd.DataFrame(cells, columns=AUDIT, dtype=object))


def write_audit_jsonl(record: Record, path: Path) -> None:
    """audit.jsonl: an object a line. Atomically.

    Parameters
    ----------
    record
        The review.
    path
        Where to write.
    """
    write_json_lines(path, audit_rows(record.state.all_events, record.versions))


def altered_events(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows of audit.jsonl that do not fit their hash: they were altered, or a row before them was removed."""
    events = [row for row in rows if row.get("kind") != VERSION_KIND]
    entries = [{name: value for name, value in row.items() if name not in ("event", "undone")} for row in events]
    return [events[position] for position in broken_links(entries)]


def _row(event: Event, *, undone: bool) -> dict[str, Any]:
    result = event.content() | {"event": event.id, "undone": undone, "hash": event.hash}
    return {name: result[name] for name in AUDIT}


def _version_row(record: LabelVersion) -> dict[str, Any]:
    made = {
        "at": record.opened_at.isoformat(),
        "reviewer": record.opened_by,
        "verified": record.verified,
        "kind": VERSION_KIND,
        "undone": False,
        "note": record.how,
        "run": record.run,
        "version": record.number,
    }
    return dict.fromkeys(AUDIT) | made


def _cell(value: Any) -> Any:
    if isinstance(value, bool):
        return str(value).lower()
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list) else value

"""The audit trail: every decision and every undo of a review, in the order in which they were made."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pll.files import write_atomically

if TYPE_CHECKING:  # who trains needs no database
    from pll.store.records import Event

AUDIT = (
    *("event", "at", "reviewer", "verified", "kind", "id", "label", "before", "after", "seconds", "undone"),
    *("undoes", "batch", "control", "blind", "queue", "position", "shown", "note", "run", "round"),
)
"""The columns. `event` numbers them; `id` is the example's; times are UTC; `shown` are candidates and their weights."""


def audit_rows(events: Sequence[Event]) -> list[dict[str, Any]]:
    """An object an event, with the fields of `AUDIT`; missing values are None."""
    undone = {event.undoes for event in events}
    return [_row(event, undone=event.id in undone) for event in events]


def write_audit_csv(events: Sequence[Event], path: Path) -> None:
    """audit.csv: UTF-8, missing values empty, `shown` as JSON. Atomically."""

    def write(temporary: Path) -> None:
        with temporary.open("w", encoding="utf-8", newline="") as stream:
            table = csv.writer(stream, lineterminator="\n")
            table.writerow(AUDIT)
            table.writerows([_cell(row[name]) for name in AUDIT] for row in audit_rows(events))

    write_atomically(path, write)


def write_audit_jsonl(events: Sequence[Event], path: Path) -> None:
    """audit.jsonl: an object a line. Atomically."""
    encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode

    def write(temporary: Path) -> None:
        with temporary.open("w", encoding="utf-8", newline="\n") as stream:
            stream.writelines(encode(row) + "\n" for row in audit_rows(events))

    write_atomically(path, write)


def _row(event: Event, *, undone: bool) -> dict[str, Any]:
    plain = {name: getattr(event, name) for name in AUDIT if hasattr(event, name)}
    made = {
        "event": event.id,
        "at": event.at.isoformat(),
        "id": event.example,
        "undone": undone,
        "shown": [list(pair) for pair in event.shown],
    }
    found = plain | made
    return {name: found[name] for name in AUDIT}


def _cell(value: Any) -> Any:
    if isinstance(value, bool):
        return str(value).lower()
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list) else value

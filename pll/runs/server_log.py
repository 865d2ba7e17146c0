"""The log of the server: who started, stopped, shared and deleted what, as lines of text or of JSON.

Every event is one line of the logger `candid`; `PLL_LOG=json` makes each line a JSON object, as collectors of logs
read them.
"""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime

from pll.errors import UserError

LOG = logging.getLogger("candid")
OF_DOWNLOADS = "streamlit.runtime.backend_operation_handler"
"""The logger that tells of files which could not be made when their button was pressed."""


def log_event(event: str, *, by: str = "", **facts: object) -> None:
    """Log that something was done.

    Parameters
    ----------
    event
        What, as in "run started".
    by
        Id of the person; "" without a login.
    facts
        Ids and figures, as in `run="…"`.
    """
    LOG.info(event, extra={"facts": {**facts, **({"by": by} if by else {})}})


class _TextFormatter(logging.Formatter):
    """One line a record, then the trace of an error; text for people."""

    def formatMessage(self, record: logging.LogRecord) -> str:
        facts = " ".join(f"{name}={json.dumps(value, default=str)}" for name, value in _facts(record).items())
        return f"{_moment(record)} {record.levelname} {record.message} {facts}".rstrip()


class _JsonFormatter(logging.Formatter):
    """One JSON object a record."""

    def format(self, record: logging.LogRecord) -> str:
        entry = {"time": _moment(record), "level": record.levelname.lower(), "event": record.getMessage()}
        trace = {"trace": self.formatException(record.exc_info)} if record.exc_info else {}
        more = {"logger": record.name} | _facts(record) | trace
        return json.dumps(entry | {name: value for name, value in more.items() if name not in entry}, default=str)


def set_up_log(form: str) -> None:
    """Write what Candid logs to stderr, as `text` or as `json`. Called once, when a server starts."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_JsonFormatter() if form == "json" else _TextFormatter())
    for name in ("candid", "pll"):
        logger = logging.getLogger(name)
        logger.handlers = [handler]
        logger.propagate = False
    LOG.setLevel(logging.INFO)
    logging.getLogger(OF_DOWNLOADS).addFilter(in_short)


def in_short(record: logging.LogRecord) -> bool:
    """Leave out the trace of a download that cannot be made for a reason that users read, as of a deleted run."""
    error = record.exc_info[1] if record.exc_info else None
    if error is not None and isinstance(error.__cause__, UserError):
        record.msg, record.args = "A download was not made: %s", (error.__cause__,)
        record.exc_info = None
    return True


def _facts(record: logging.LogRecord) -> dict[str, object]:
    return dict(getattr(record, "facts", {}))


def _moment(record: logging.LogRecord) -> str:
    return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
